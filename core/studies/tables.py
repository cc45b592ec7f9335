"""A study's results as rows of tables, each with its n and its interval; the controls' come first."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, MutableMapping, Sequence
from contextlib import suppress
from functools import lru_cache
from itertools import combinations
from pathlib import Path
from typing import TYPE_CHECKING

from .. import journal
from ..events import Scored
from ..labs.base.declared import FACETS, CaseAnswers
from ..labs.base.lab import Lab
from ..labs.base.spec import knobs
from ..rulesets import RULES, other_parser
from ..runs import verify
from ..runs.engine import PRIOR
from ..score import Score
from ..statistics.comparisons import Pair, compare_where_equal, power_of_pairs
from ..statistics.intervals import FEW, Kind, of_items
from ..store.comparing import ITSELF
from ..text import templates
from ..transcript import transcript
from . import paper_tables, table_cells
from .plan import EXTRA, LABEL_PREFIX, Planned, Study, TableOf
from .run_status import Early, stopped_early
from .table_cells import BLANK, SINGLE, Row, cells, label, origins, other_encoders, with_origins

if TYPE_CHECKING:
    from pandas import DataFrame

# Paired differences between the cells of a study's table, over the items that both cells have.


DIFFERENCES = ", differences"
"""The suffix of the title of these tables."""

MOST = 300
"""The most pairs of a table; corrected for more tests, hardly any difference would be left, so none are computed."""


def differences(
    lab: Lab, frame: DataFrame, rows: Sequence[str], columns: Sequence[str], otherwise: str, kind: Kind = "share"
) -> list[Row]:
    """Compare rows in each column, and columns in each row, two by two. The cells' `value` is the first minus the
    second, over the `n` items that both have, of the `of` items that either has. `frame` has the cases of one figure
    (`tables.measured`) of this `kind`; `otherwise` is the name of a row or column without a value.

    An item is compared with itself where every other setting that varies within a cell is equal
    (`compare_where_equal`).
    """
    named = frame.astype(object).fillna("").to_dict("records")
    places = [(label(case, rows) or otherwise, label(case, columns) or otherwise) for case in named]
    names, across = (list(dict.fromkeys(place[side] for place in places)) for side in (0, 1))
    wanted = [((name, a), (name, b)) for name in names for a, b in combinations(across, 2)]
    wanted += [((a, column), (b, column)) for a, b in combinations(names, 2) for column in across]
    if len(wanted) > MOST:
        note = f"{len(wanted):,} pairs are too many to be compared at once: take fewer rows or columns."
        return [{**BLANK, "row": "–", "column": "–", "note": note}]
    number = {place: number for number, place in enumerate(dict.fromkeys(places))}
    cases = frame.assign(subject=[number[place] for place in places])
    of_cell = dict(list(cases.groupby("subject")))
    wanted = [(a, b) for a, b in wanted if a in number and b in number]
    pairs = compare_where_equal(
        cases, _settings(lab, frame, named, (*rows, *columns)), [(number[a], number[b]) for a, b in wanted], kind
    )
    return [
        {
            **BLANK,
            "row": _over(a[0], b[0]),
            "column": _over(a[1], b[1]),
            **_cell(pair, of_cell[number[a]], of_cell[number[b]]),
        }
        for (a, b), pair in zip(wanted, pairs.values(), strict=True)
    ]


def _over(first: str, second: str) -> str:
    return first if first == second else f"{first} over {second}"


def _settings(lab: Lab, frame: DataFrame, named: Sequence[Row], given: Sequence[str]) -> DataFrame:
    """The known settings of each case, without those `given` by its row and column."""
    import pandas as pd

    names = [name for name in dict.fromkeys([*knobs(lab.spec), *FACETS]) if name != "title" and name in frame]
    # If two models both take this role themselves, they have the same setting.
    settings = {
        name: [ITSELF if name != "model" and case[name] == case["model"] else str(case[name]) for case in named]
        for name in names
        if name not in given
    }
    return pd.DataFrame(settings, index=frame.index)


def _cell(pair: Pair, a: DataFrame, b: DataFrame) -> Row:
    note = pair.test.name + (f"; fewer than {FEW} items" if pair.faint else "") if pair.test else ""
    if not pair.n:
        note = "no item is shared with all else equal, so no difference is given"
    places = dict.fromkeys((*zip(a["run"], a["case"], strict=True), *zip(b["run"], b["case"], strict=True)))
    return {
        **{"value": pair.difference.value, "low": pair.difference.low, "high": pair.difference.high, "n": pair.n},
        "of": pair.n + pair.undefined + pair.only_first + pair.only_second,
        **{"p": pair.test.p if pair.test else None, "p_holm": pair.p_holm},
        "note": note,
        **{"complete": bool(a["complete"].all() and b["complete"].all()), "behind": tuple(places)},
        "stopped_early": bool(a["early"].any() or b["early"].any()),
    }


CONTROLS = "Controls"
POWER_ITEMS = (20, 50, 100, 200, 500)
HALF = 0.5
SAME = 1e-9

ANSWERED = "answered"
"""The metric of rows that hold what a case was asked and answered."""


def measured(
    study: Study,
    labs: Mapping[str, Lab],
    folder: Path,
    kept: MutableMapping[str, DataFrame] | None = None,
    said: Path | None = None,
) -> DataFrame:
    """A row for each case of each run that has begun and each figure of the case, by the study's parser.

    run, case, lab, item, control (whether the run is one of the study's controls), complete, early (whether its cell
    stopped at the study's `stop_width`), imported (from whom, in words; empty if it was made here), damaged (number
    of damaged lines of its journal), metric, value (NaN if undefined), n, of, truth (of the figure that decides; NaN
    if it is not known), other (the value by the other parser), and a column for each setting, facet and trait, as
    text. A case without the figure, such as a failed one, has a row too. Rows of the metrics `multiverse.NAMED` hold
    what a figure would have been under other choices, also with another predictor of the same answers
    (`predicted_again`); those of `human` what people said, if a table of the study needs it. `kept` holds what an
    earlier call read of completed runs, by name; this call adds to it. `said` is the folder of what people said, if
    it is a different one.
    """
    import pandas as pd

    controls = {run.id for run in study.controls}
    from_people = table_cells.journals(study, labs, said or folder)
    stopped = stopped_early(study, folder)
    again = predicted_again(study, folder)
    controls |= {other.id for first, several in again.items() if first in controls for other in several}
    frames: list[DataFrame] = []
    for run in study.all:
        # A frame for each run: the rows of all runs as dictionaries would take ten times the memory.
        of_run = (kept or {}).get(run.id)
        if of_run is None:
            rows_of_run = _of_run(run, folder, study, stopped.get(run.id), bool(_across(study, run.lab)))
            of_run = pd.DataFrame(rows_of_run, dtype=object)
        if not len(of_run):
            continue
        if kept is not None and of_run["complete"].iloc[0]:
            kept[run.id] = of_run
        frames.append(of_run)
        for other in again.get(run.id, ()):
            every = _of_run(other, folder, study, stopped.get(run.id))
            made = [row for row in every if str(row["metric"]).startswith(table_cells.NAMED)]
            frames.append(pd.DataFrame(made, dtype=object))
        if run.id in from_people:
            measured_rows: list[Row] = of_run.to_dict("records")
            said_rows = table_cells.human_rows(run, folder, from_people[run.id], measured_rows, study.rules)
            frames.append(pd.DataFrame(said_rows, dtype=object))
    empty = pd.DataFrame(columns=[*_OWN, "model"])
    frame = _with_figures_across(study, pd.concat(frames, ignore_index=True)) if frames else empty
    frames.clear()
    for name in frame:
        inferred = frame[name].infer_objects()
        # Texts stay objects: each row then points to a text that many rows share, instead of holding a copy.
        if not isinstance(inferred.dtype, pd.StringDtype):
            frame[name] = inferred
    frame["control"] = frame["run"].isin(controls)
    of_stopped = [cell for cell in study.cells if any(run.id in stopped for run in cell)] if stopped else []
    frame["early"] = frame["run"].isin({run.id for cell in of_stopped for run in cell})
    for scheme, labels in table_cells.own_labels(study, said or folder).items():
        places = zip(frame["run"], frame["case"], strict=True)
        frame[f"{LABEL_PREFIX}{scheme}"] = [labels.get(place, table_cells.NOT_LABELLED) for place in places]
    frame["imported"] = frame["run"].map(imported(study, folder)).astype(object).fillna("")
    for name in ("value", "truth", "other"):
        frame[name] = pd.to_numeric(frame[name])
    return frame


def _across(study: Study, lab: Lab) -> set[str]:
    """The figures comparing the study's cases with each other that its tables ask for."""
    kinds = {table.kind for table in study.tables}
    asked = {name for table in study.tables for name in table.metrics}
    asked |= {name for table in lab.studies.tables if table.kind in kinds for name in table.metrics}
    return asked & set(lab.studies.across)


def _with_figures_across(study: Study, frame: DataFrame) -> DataFrame:
    """The frame with the figures that compare the study's cases with each other, in place of the rows ANSWERED, which
    hold what these need. Controls have none.
    """
    import pandas as pd

    if "answered" not in frame:
        return frame
    cells = {run.id: number for number, cell in enumerate(study.cells) for run in cell}
    labs = {run.lab.name: run.lab for run in study.runs}
    held = frame[(frame["metric"] == ANSWERED) & frame["run"].isin(cells)].to_dict("records")
    made: dict[tuple[int, str, str], Row] = {}
    for name, lab in labs.items():
        of_lab = [case for case in held if case["lab"] == name]
        wanted = _across(study, lab)
        for rules, column in ((study.rules, "value"), (other_parser(study.rules), "other")):
            cases = [
                CaseAnswers(str(case["model"]), cells[case["run"]], bool(case["complete"]), case["answered"][rules])
                for case in of_lab
            ]
            for number, settings, figure in lab.studies.figures_across(cases, rules):
                if figure.metric not in wanted:
                    continue
                row = made.setdefault((number, figure.metric, repr(settings)), {**of_lab[number], **settings})
                row |= {"metric": figure.metric, column: figure.score.value}
                if column == "value":
                    row |= {"n": figure.score.n, "of": max(1, figure.score.of)}
    # A lab may publish the same figure for a whole run; its cases have none then.
    across = {name for lab in labs.values() for name in _across(study, lab)}
    rest = frame[~frame["metric"].isin({ANSWERED, *across})]
    rows = pd.DataFrame(list(made.values()), dtype=object)
    return pd.concat([rest, rows], ignore_index=True).drop(columns="answered")


def predicted_again(study: Study, folder: Path) -> dict[str, list[Planned]]:
    """The completed runs in which another predictor predicted from the answers of a run of the study, by that run. A
    predictor that failed its qualification test is left out.
    """
    found: dict[str, list[Planned]] = {}
    labs = {run.id: run.lab for run in study.all}
    for path in journal.list_journals(folder):
        first = ""
        with suppress(OSError, ValueError, LookupError):
            first = _predicted_from(path)
        if (lab := labs.get(first)) is None:
            continue
        state = transcript(journal.read(path).events)
        records = state.places[""].records.values() if "" in state.places else ()
        failed = any(one.item.startswith(PRIOR) and one.data.get("passed") is False for one in records)
        if state.status == "completed" and state.started is not None and not failed:
            spec = lab.spec.model_validate(state.started.spec)
            found.setdefault(first, []).append(Planned(path.stem, lab, spec))
    return found


@lru_cache(maxsize=100_000)
def _predicted_from(path: Path) -> str:
    """The run whose answers a run uses, by the first line of its journal, which does not change; '' if it is none.
    Raises OSError, ValueError, and LookupError if there is no such line yet.
    """
    begun = journal.first_event(path)
    if begun is None:
        raise LookupError
    return begun.predicted_from


def imported(study: Study, folder: Path) -> dict[str, str]:
    """The study's imported runs: from whom, and whether their figures follow from their answers, in words."""
    origins = {run.id: verify.origin(folder, run.id) for run in study.all}
    return {run: one.words for run, one in origins.items() if one is not None}


_OWN = ("run", "case", "lab", "item", "complete", "applies", "metric", "value", "n", "of", "truth", "other")


def _of_run(run: Planned, folder: Path, study: Study, early: Early | None, answered: bool = False) -> Iterator[Row]:
    """The rows of one run; `answered`: with a row ANSWERED for each case."""
    path = journal.path_for(folder, run.id)
    if not path.exists():
        return
    found = journal.read(path)
    state = transcript(found.events)
    rules = study.rules
    other_rules = other_parser(rules)
    # A field that is left out of the JSON because it has its default is a setting too.
    settings = {name: value for name, value in run.spec if isinstance(value, str)}
    settings |= {name: setting_text(value) for name, value in run.spec.model_dump(mode="json").items()}
    if "prompts" in type(run.spec).model_fields:
        settings["prompts"] = templates.in_words(settings.get("prompts") or None)
    for case, progress in state.cases.items():
        # Cases that ended after the early stop do not count: which ones did may depend on their results.
        if early is not None and case not in early.cases:
            continue
        log = state.case(case)
        view = run.lab.view(log)
        truth = run.lab.robots.truth(view)
        decides = run.lab.robots.deciding_metric(view) or run.lab.headline
        facets = run.lab.facets(run.spec.model_dump(mode="json"), case)
        # The cases of one item are grouped by its id; if a run has only one case, that id may be the same in every run.
        parts = [facets.get("task"), facets.get("dataset"), case.partition("/")[0]]
        item = "/".join(filter(None, [*parts, "" if state.planned > 1 else progress.title]))
        about: Row = {
            **{name: value for name, value in facets.items() if value},
            **{f"{EXTRA}{name}": value for name, value in progress.columns.items()},
            **settings,
            **run.lab.studies.traits(view),
            **{"run": run.id, "case": case, "lab": run.lab.name, "item": item},
            **{"complete": state.status == "completed" or early is not None},
            **{"damaged": len(found.faults)},
        }
        scores: dict[str, Scored | Score | None] = {m.name: log.score(m.name, rules) for m in run.lab.metrics}
        scores |= {figure.metric: figure.score for figure in run.lab.studies.extra_figures(view.by(rules))}
        others: dict[str, Scored | Score | None] = {m.name: log.score(m.name, other_rules) for m in run.lab.metrics}
        others |= {figure.metric: figure.score for figure in run.lab.studies.extra_figures(view.by(other_rules))}
        begun = any(scores.values())
        for metric, score in scores.items():
            encoder = str(score.detail.get("encoder", "")) if score else ""
            yield {
                **about,
                **({"encoder": encoder, "by_encoder": encoder} if encoder else {}),
                **{"applies": score is not None or not begun},
                **{"metric": metric, "value": score.value if score else None},
                **{"n": score.n if score else 0, "of": max(1, score.of) if score else 1},
                "truth": truth if metric == decides else None,
                "other": other.value if (other := others.get(metric)) else None,
            }
        for made, figure in run.lab.studies.further_figures(view.by(rules)):
            score = figure.score
            counted = {"metric": figure.metric, "value": score.value, "n": score.n, "of": max(1, score.of)}
            yield {**about, **made, **SINGLE, **counted}
        if answered:
            said = {rules: run.lab.studies.asked(view.by(rules)) for rules in RULES}
            yield {**about, **SINGLE, "n": 0, "metric": ANSWERED, "answered": said}
        for choice in table_cells.otherwise(run.lab, view):
            named = {"metric": f"{table_cells.NAMED}{choice.metric}", "value": choice.value}
            yield {**about, **choice.choices, **SINGLE, **named}


def setting_text(value: object) -> str:
    """A setting's value as the name of a row or column."""
    if isinstance(value, list):
        return ", ".join(map(setting_text, value))
    if isinstance(value, dict):
        return ", ".join(f"{name}: {setting_text(of)}" for name, of in value.items())
    return "" if value is None else str(value)


def rows(study: Study, labs: Mapping[str, Lab], frame: DataFrame) -> list[Row]:
    """The tables of `all_cells` as they are printed."""
    return [{name: value for name, value in row.items() if name != "behind"} for row in all_cells(study, labs, frame)]


def all_cells(study: Study, labs: Mapping[str, Lab], frame: DataFrame) -> list[Row]:
    """All tables, cell by cell: the controls', then those that the study asks for, each with the differences between
    its cells unless it is a paper's, then how much depends on analysis choices and, if the truth of several models
    is known, how many items distinguish them. Empty if nothing has been run.
    """
    made = controls(labs, frame)
    own = frame[~frame["control"]]
    for table in study.tables or (TableOf(),):
        for lab in dict.fromkeys(own["lab"]):
            if table.lab and table.lab not in (lab, labs[lab].path):
                continue
            of_lab = own[own["lab"] == lab]
            if not table.kind:
                made += _table(table, labs[lab], of_lab)
            for declared in labs[lab].studies.tables:
                if declared.kind == table.kind:
                    made += paper_tables.table_cells(declared, labs[lab], of_lab, table.title, study.rules)
    surely = power(made)
    for lab in dict.fromkeys(own["lab"]):
        made += table_cells.rows(labs[lab], own[own["lab"] == lab])
    sent = origins(frame)
    return [with_origins(cell, {run: sent.get(run, "") for run, _ in cell["behind"]}) for cell in made + surely]


def controls(labs: Mapping[str, Lab], frame: DataFrame) -> list[Row]:
    """The controls' values of the figures that decide; `truth` is what they must be."""
    of_controls = frame[frame["control"] & frame["truth"].notna()]
    rows = []
    for (name, metric), chosen in of_controls.groupby(["lab", "metric"], sort=False):
        figure = labs[name].metric(metric)
        made = cells(chosen, ["model"], [], f"{labs[name].title}: {figure.title_of_several}", figure)
        rows += [{"table": CONTROLS, **cell} for cell in made]
    return rows


def instrument_faults(labs: Mapping[str, Lab], frame: DataFrame) -> list[str]:
    """What is wrong with the instrument: a sentence for each control whose figure is not what it must be; empty if all
    are right. A case without a value where it must have one is wrong too. Runs in progress or stopped are ignored,
    and so are robots of a dial that err at random: no single case of theirs needs the expected value, and their
    interval tells.
    """
    sentences = []
    known = frame[frame["truth"].notna() & frame["complete"]]
    for (lab, model, metric), cases in known.groupby(["lab", "model", "metric"]):
        if getattr(labs[lab].robots.by_id.get(model), "error", 0):
            continue
        wrong = cases[~((cases["value"] - cases["truth"]).abs() < SAME)]
        if len(wrong):
            figure = labs[lab].metric(metric)
            title = figure.title_of_several.lower()
            lost = int(wrong["value"].isna().sum())
            must, reads = (
                of_items(cases.groupby("item")[name].mean().dropna().tolist() or [math.nan], figure.kind)
                for name in ("truth", "value")
            )
            sentences.append(
                f"{model} must have a {title} of {must:.2f} in {labs[lab].title} and has "
                f"{reads:.2f}: {len(wrong)} of {len(cases)} cases differ from their known value"
                f"{f', {lost} of them without a figure' if lost else ''}."
            )
    return sentences


def _table(table: TableOf, lab: Lab, frame: DataFrame) -> list[Row]:
    names = table.metrics or tuple(metric.name for metric in lab.metrics if metric.leads)
    by = [name for name in (*table.rows, *table.columns) if name in frame]
    rows = []
    for name in names:
        chosen = frame[frame["metric"] == name]
        # A figure that a lab gives for no case at all is not in its tables.
        if len(chosen) and (chosen["of"] > 1).any() | chosen["value"].notna().any():
            metric = lab.metric(name)
            title = metric.title_of_several
            row_of = [axis for axis in by if axis in table.rows]
            column_of = [axis for axis in by if axis in table.columns]
            made = cells(chosen, row_of, column_of, title, metric)
            called = ", ".join(filter(None, (f"{table.title or lab.title}: {title}", other_encoders(chosen))))
            rows += [{**cell, "table": called} for cell in made]
            if len(made) > 1:
                beside = differences(lab, chosen[chosen["applies"]], row_of, column_of, title, metric.kind)
                rows += [{**cell, "table": f"{called}{DIFFERENCES}"} for cell in beside]
    return rows


def power(cells: Iterable[Row]) -> list[Row]:
    """The probability that this many shared items distinguish a model of each known truth from one that is consistent
    with half of its explanations, if the two are independent (exact McNemar test, 5 %). Only truths from a half up
    are listed, for those below mirror them. Empty if fewer than three truths are known outside the controls' table.
    """
    apart = (cell for cell in cells if cell["table"] != CONTROLS and not cell["mixed"])
    known = [cell["truth"] for cell in apart if cell["truth"] is not None]
    truths = sorted({round(truth, 1) for truth in known if truth >= HALF})
    if len(truths) < 3:
        return []
    return [
        {
            **BLANK,
            **{"table": "Power", "row": f"{truth:.1f} against {HALF}", "column": f"{items} items"},
            **{"value": power_of_pairs(truth * HALF, (1 - truth) * HALF, items, draws=2_000), "n": items, "of": items},
        }
        for truth in truths
        for items in POWER_ITEMS
    ]
