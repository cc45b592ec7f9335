"""What a study found, as rows of tables, each with its n and its interval; what controls read comes before it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from core import journal
from core.lab import Lab
from core.runs.transcript import transcript
from core.runs.upgrade import upgraded
from core.statistics import group_statistics, power_of_pairs
from core.study.early import stopped_early
from core.study.plan import Planned, Study, TableOf

if TYPE_CHECKING:
    from pandas import DataFrame

Row = dict[str, Any]
"""One cell: `table`, `row`, `column`, `value`, `n` items that it rests on of `of`, `low` and `high` of its 95 %
interval (drawn over items), `trials`, `truth` where it is known what must be read, `thin` where less than 70 % counts,
`complete`, whether all of its runs are, and `stopped_early`, whether one of them ended at the study's `stop_width`.
"""

POWER_ITEMS = (20, 50, 100, 200, 500)
HALF = 0.5
SAME = 1e-9


def measured(study: Study, labs: Mapping[str, Lab], folder: Path) -> DataFrame:
    """A row for each case of each run that has begun and each figure of the case, by the study's rules.

    run, lab, item, control (whether the run is one of the study's controls), complete, early, metric, value (NaN where
    undefined), n, of, truth (of the headline figure; NaN where it is not known), and a column for each setting and
    facet, as text. A case without the figure, as one that failed, has a row all the same.
    """
    import pandas as pd

    controls = {one.id for one in study.controls}
    rows = [row for run in study.all for row in _of_run(run, labs, folder, study)]
    frame = pd.DataFrame(rows, columns=None if rows else [*_OWN, "model"])
    frame["control"] = frame["run"].isin(controls)
    for name in ("value", "truth"):
        frame[name] = pd.to_numeric(frame[name])
    return frame


_OWN = ("run", "lab", "item", "complete", "early", "metric", "value", "n", "of", "truth")


def _of_run(run: Planned, labs: Mapping[str, Lab], folder: Path, study: Study) -> Iterator[Row]:
    path = journal.at(folder, run.id)
    if not path.exists():
        return
    state = transcript(upgraded(journal.read(path).events, labs))
    early = stopped_early(study, run, path)
    settings = {name: _text(value) for name, value in run.spec.model_dump(mode="json").items()}
    for case, progress in state.cases.items():
        # What had begun when it was enough, and ended after it, does not count: its end may have to do with what it is.
        if early is not None and case not in early.cases:
            continue
        log = state.case(case)
        truth = run.lab.truth(run.lab.view(log))
        facets = run.lab.facets(run.spec.model_dump(mode="json"), case)
        # Cases of one item stand beneath it; where a run has one case only, its id may be every run's.
        parts = [facets.get("task"), facets.get("dataset"), case.partition("/")[0]]
        item = "/".join(filter(None, [*parts, "" if state.planned > 1 else progress.title]))
        for metric in run.lab.metrics:
            score = log.score(metric.name, study.rules)
            yield {
                **{name: value for name, value in facets.items() if value},
                **settings,
                **{"run": run.id, "lab": run.lab.name, "item": item},
                **{"complete": state.status == "completed" or early is not None, "early": early is not None},
                **{"metric": metric.name, "value": score.value if score else None},
                **{"n": score.n if score else 0, "of": max(1, score.of) if score else 1},
                "truth": truth if metric.name == run.lab.headline else None,
            }


def _text(value: object) -> str:
    if isinstance(value, list):
        return ", ".join(map(_text, value))
    return "" if value is None else str(value)


def rows(study: Study, labs: Mapping[str, Lab], frame: DataFrame) -> list[Row]:
    """All tables, cell by cell: what the controls read, then those that the study asks for, and where the truth of
    several models is known, how many items tell them apart. Empty where nothing has been run.
    """
    found = controls(labs, frame)
    own = frame[~frame["control"]]
    for table in study.tables or (TableOf(),):
        for lab in dict.fromkeys(own["lab"]):
            if not table.lab or labs[lab].path == table.lab or lab == table.lab:
                found += _table(table, labs[lab], own[own["lab"] == lab])
    return found + power(found)


def controls(labs: Mapping[str, Lab], frame: DataFrame) -> list[Row]:
    """What the controls read in their labs' headline figures; `truth` is what they must read."""
    of_controls = frame[frame["control"] & frame["truth"].notna()]
    found = []
    for name in dict.fromkeys(of_controls["lab"]):
        lab = labs[name]
        chosen = of_controls[(of_controls["lab"] == name) & (of_controls["metric"] == lab.headline)]
        title = lab.metric(lab.headline).title
        found += [{"table": "Controls", **cell} for cell in _cells(chosen, ["model"], [], f"{lab.title}: {title}")]
    return found


def off(labs: Mapping[str, Lab], frame: DataFrame) -> list[str]:
    """What is wrong with the instrument, a sentence for each control that does not read what it must; none where all
    do. A case that has no value where it must have one is wrong too.
    """
    sentences = []
    known = frame[frame["truth"].notna()]
    for (lab, model), cases in known.groupby(["lab", "model"]):
        wrong = cases[~((cases["value"] - cases["truth"]).abs() < SAME)]
        if len(wrong):
            title = labs[lab].metric(labs[lab].headline).title.lower()
            sentences.append(
                f"{model} must read a {title} of {cases['truth'].mean():.2f} in {labs[lab].title} and reads "
                f"{cases['value'].mean():.2f}: {len(wrong)} of {len(cases)} cases are not what they must be."
            )
    return sentences


def _table(table: TableOf, lab: Lab, frame: DataFrame) -> list[Row]:
    names = table.metrics or tuple(metric.name for metric in lab.metrics if metric.leads)
    by = [name for name in (*table.rows, *table.columns) if name in frame]
    found = []
    for name in names:
        chosen = frame[frame["metric"] == name]
        # A figure that a lab gives of no case at all is not in its tables.
        if len(chosen) and (chosen["of"] > 1).any() | chosen["value"].notna().any():
            title = lab.metric(name).title
            row_of = [one for one in by if one in table.rows]
            column_of = [one for one in by if one in table.columns]
            cells = _cells(chosen, row_of, column_of, title)
            found += [{"table": f"{table.title or lab.title}: {title}", **cell} for cell in cells]
    return found


def _cells(frame: DataFrame, row_of: Sequence[str], column_of: Sequence[str], otherwise: str) -> list[Row]:
    by = [*dict.fromkeys((*row_of, *column_of))]
    filled = frame.fillna(dict.fromkeys(by, ""))
    found = group_statistics(filled, by)
    extra = filled.groupby(by).agg(
        **{"truth": ("truth", "mean"), "known": ("truth", "count"), "complete": ("complete", "all")},
        early=("early", "any"),
    )
    cells = []
    for _, group in found.iterrows():
        key = tuple(group[name] for name in by)
        more = extra.loc[key if len(by) > 1 else key[0]]
        cells.append(
            {
                "row": _label(group, row_of) or otherwise,
                "column": _label(group, column_of) or otherwise,
                **{"value": _number(group["macro"]), "n": int(group["items"])},
                **{"low": _number(group["low"]), "high": _number(group["high"]), "of": int(group["items_of"])},
                **{"trials": int(group["trials"]), "thin": bool(group["thin"])},
                **{"truth": _number(more["truth"]) if more["known"] else None, "complete": bool(more["complete"])},
                "stopped_early": bool(more["early"]),
            }
        )
    return cells


def power(cells: Iterable[Row]) -> list[Row]:
    """How surely so many shared items tell a model of each known truth from one that keeps to half of its
    explanations, where each keeps to them on items of its own (exact McNemar test, 5 %): of the truths from a half up,
    for those below are their mirror image. Empty where fewer than three are known outside of the controls' table.
    """
    known = [cell["truth"] for cell in cells if cell["truth"] is not None and cell["table"] != "Controls"]
    truths = sorted({round(truth, 1) for truth in known if truth >= HALF})
    if len(truths) < 3:
        return []
    blank = {
        "low": None,
        "high": None,
        "trials": 0,
        "thin": False,
        "truth": None,
        "complete": True,
        "stopped_early": False,
    }
    return [
        {
            **{"table": "Power", "row": f"{truth:.1f} against {HALF}", "column": f"{items} items"},
            **{"value": power_of_pairs(truth * HALF, (1 - truth) * HALF, items, draws=2_000), "n": items, "of": items},
            **blank,
        }
        for truth in truths
        for items in POWER_ITEMS
    ]


def _label(group: Any, names: Sequence[str]) -> str:
    return " · ".join(str(group[name]) for name in names if str(group[name]))


def _number(value: Any) -> float | None:
    return None if value is None or value != value else float(value)
