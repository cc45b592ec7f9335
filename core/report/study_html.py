"""A study as one HTML file that needs nothing else: what was asked, what was found, and the cases behind it.

The file loads nothing: what models wrote is text, and the file's own policy allows only its one style and its one
script.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from itertools import groupby, zip_longest
from pathlib import Path
from typing import Any

from .. import journal
from ..datasets.own import without_folder
from ..labs.base.lab import Lab
from ..labs.base.spec import knobs
from ..statistics.groups import grouped
from ..statistics.intervals import FEW
from ..studies import table_cells, tables
from ..studies.estimate import StudyEstimate
from ..studies.plan import Planned, Study
from ..studies.run_status import SHIFT, RunStatus, StudyProgress, StudyState, Tokens
from ..studies.table_cells import Row, has_figures, pivot
from ..text.display import count_noun
from ..transcript import Transcript, shares
from . import standalone_html
from .standalone_html import Chosen, template
from .viewer_assets import in_one_scope

# A table's cells as a picture: a line for each with its interval, its required value, and the value that a paper
# printed.


MOST = 60
"""The most lines in one picture."""

LEFT, LETTER, AXIS, HEIGHT, MARGIN = 330, 7, 360, 20, 20
"""In pixels: the furthest start of the axis, the width of a letter, the length of the axis, the height of a line, and
the right margin.
"""


def lines(cells: Sequence[Row]) -> dict[str, Any] | None:
    """The positions of everything in the picture, for data/page/report.html; None if there is nothing to draw."""
    drawn = [cell for cell in cells if cell["value"] is not None or cell["published"] is not None]
    if not drawn:
        return None
    shown = drawn[:MOST]
    names = ("value", "low", "high", "truth", "published")
    values = [cell[name] for cell in shown for name in names if cell[name] is not None]
    low, high = min(0.0, *values), max(*values, 0.0)
    # Shares use the whole axis from 0 to 1, and differences that from -1, so that pictures can be compared.
    low, high = -1.0 if -1 <= low < 0 else low, 1.0 if high <= 1 else high
    several = len({cell["column"] for cell in cells}) > 1

    called = [f"{cell['row']} · {cell['column']}" if several else str(cell["row"]) for cell in shown]
    # No wider than the names need, since otherwise the marks would be out of sight on a phone.
    begin = min(LEFT, 24 + LETTER * max(map(len, called)))

    def x(value: float | None) -> float | None:
        return None if value is None else round(begin + (value - low) / (high - low) * AXIS, 1)

    left = f" The first {MOST} of {len(drawn)} are drawn." if len(drawn) > MOST else ""
    paper = " Square: printed by the paper." if any(cell["published"] is not None for cell in shown) else ""
    must = " Vertical line: the known true value." if any(cell["truth"] is not None for cell in shown) else ""
    marks = "Dot: value" if all(cell["low"] is None for cell in shown) else "Dot and line: value and 95 % interval"
    ticks = [low + (high - low) * part / 4 for part in range(5)]
    return {
        "left": begin,
        "width": begin + AXIS + MARGIN,
        "foot": HEIGHT * len(shown) + 6,
        "height": HEIGHT * len(shown) + 26,
        "ticks": [(x(tick), f"{tick:.3g}") for tick in ticks],
        "key": f"{marks}.{must}{paper}{left}",
        "lines": [
            {
                "name": name,
                "y": HEIGHT * number + HEIGHT // 2 + 4,
                **{"value": x(cell["value"]), "low": x(cell["low"]), "high": x(cell["high"])},
                **{"must": x(cell["truth"]), "paper": x(cell["published"])},
            }
            for number, (name, cell) in enumerate(zip(called, shown, strict=True))
        ],
    }


PER_CELL = 3
"""How many cases are shown for one cell."""

Place = tuple[str, str]
"""A run and one of its cases."""


def html(study: Study, labs: Mapping[str, Lab], folder: Path, methods: Sequence[str]) -> bytes:
    """The report of the study from the journals in `folder`. `methods` are the paragraphs on how its runs were made
    (`core.report.methods`).
    """
    state = StudyState(study, folder)
    frame = tables.measured(study, labs, folder)
    rows = tables.all_cells(study, labs, frame)
    places = _chosen(rows)
    cases = _cases(study, folder, places)
    # The tables of different labs' controls have nothing in common, so each is shown by itself.
    apart = groupby(rows, lambda row: (str(row["table"]), row["column"] if row["table"] == tables.CONTROLS else ""))
    made = [_table(title, list(cells)) for (title, _), cells in apart]
    labs_used = {run.lab.name: run.lab for run in study.runs}.values()
    return standalone_html.page(
        "report.html",
        standalone_html.part("page.css") + standalone_html.part("report.css"),
        f"{in_one_scope()}\n{standalone_html.part('page.js')}",
        **{"study": study, "rows": rows, "stand": state.runs, "methods": methods, "early": len(state.early)},
        **{"written": f"{datetime.now(UTC):%d %B %Y, %H:%M}"},
        **{"few": FEW, "shift": SHIFT, "most": standalone_html.MOST},
        unfinished=_unfinished(state, study.runs),
        without_controls=_unfinished(state, study.controls),
        wrong=tables.instrument_faults(labs, frame),
        plan=[(lab.title, _facts(lab, [run for run in study.runs if run.lab is lab], state.runs)) for lab in labs_used],
        taken=_taken(state.used),
        controls=[table for table in made if table["title"] == tables.CONTROLS],
        tables=[table for table in made if table["title"] != tables.CONTROLS],
        numbers={place: (number, case["scene"].title) for number, (place, case) in enumerate(cases.items(), start=1)},
        behind=len({place for row in rows for place in row["behind"]}),
        cases=list(cases.values()),
    )


STATUSES = {"absent": "not begun", "running": "in progress"}
"""How the report names the statuses of runs."""


def _unfinished(state: StudyState, runs: Sequence[Planned]) -> str:
    """How many of these runs are over, and the status of the others; '' if all are over."""
    rest = Counter(state.runs[run.id].status for run in runs if not state.is_over(run))
    if not rest:
        return ""
    statuses = ", ".join(f"{n} {STATUSES.get(status, status)}" for status, n in rest.items())
    done = len(runs) - rest.total()
    return f"{done or 'none'} of {len(runs)} ({statuses})"


def _taken(used: RunStatus) -> dict[str, Any]:
    """The total use of all runs: calls, money and tokens."""
    tokens = Tokens()
    for of_role in used.tokens.values():
        tokens.add(of_role)
    return {"answered": _listed(used.answered), "failed": _listed(used.failures), "paid": used.paid, "tokens": tokens}


def _listed(counts: Counter[str]) -> str:
    return ", ".join(f"{n:,} {name}" for name, n in counts.most_common())


FEW_VALUES = 12
"""Values of a setting that are listed, such as the first questions; the others are counted."""


def _facts(lab: Lab, runs: Sequence[Planned], stand: Mapping[str, RunStatus]) -> list[tuple[str, str]]:
    """What was asked in the runs of one lab, and which models."""
    done = sum(stand[run.id].status == "completed" for run in runs)
    facts = [("Question", lab.question), ("Runs", f"{done} of {len(runs)} completed")]
    roles: dict[str, set[str]] = {}
    for run in runs:
        for role, models in run.spec.roles.items():
            roles.setdefault(role, set()).update(models)
    alike = grouped((", ".join(sorted(asked)), role) for role, asked in roles.items())
    facts += [(f"Asked as {', '.join(several)}", models) for models, several in alike.items()]
    for name, knob in knobs(lab.spec).items():
        # The models are listed above, role by role.
        values = list(dict.fromkeys(tables.setting_text(run.spec.model_dump(mode="json").get(name)) for run in runs))
        plain = tables.setting_text(list(knob.default) if isinstance(knob.default, tuple) else knob.default)
        if any(values) and values != [plain] and not set(values) <= set().union(*roles.values()):
            if name in ("dataset", "path"):
                values = list(dict.fromkeys(map(without_folder, values)))
            listed = [{"": "–", "True": "yes", "False": "no"}.get(value, value) for value in values[:FEW_VALUES]]
            more = [f"{len(values) - FEW_VALUES} more"] if len(values) > FEW_VALUES else []
            facts.append((knob.title, " / ".join(listed + more)))
    return facts


def _table(title: str, cells: list[Row]) -> dict[str, Any]:
    """A table for data/page/table.html: its cells by row and column, or only a note that says why there are none."""
    cells, still = table_cells.moved(cells)
    if is_nothing := bool(cells) and not has_figures(cells):
        still, cells = " ".join(filter(None, [*(cell["note"] for cell in cells), still])), []
    columns, rows = pivot(cells)
    is_range = title.startswith(table_cells.MULTIVERSE) and not is_nothing
    return {
        **{"title": title, "columns": columns, "rows": rows, "remark": still},
        **{"is_range": is_range, "picture": None if is_range else lines(cells)},
        "sources": {cell["source"]: cell["reading"] for cell in cells if cell["source"]},
        "why": " ".join(dict.fromkeys(cell["why"] for cell in cells if cell["why"])),
    }


def _chosen(rows: Sequence[Row]) -> list[Place]:
    """The first case of every cell, then the second, and so on, as many as fit."""
    behind = [row["behind"][:PER_CELL] for row in rows]
    places = dict.fromkeys(place for several in zip_longest(*behind) for place in several if place)
    return list(places)[: standalone_html.MOST]


def _cases(study: Study, folder: Path, places: Sequence[Place]) -> dict[Place, dict[str, Any]]:
    """What the template needs for each case, in order. Only one run is in memory at a time, and prompts are left
    out.
    """
    runs = {run.id: run for run in study.all}
    found = {}
    for id in dict.fromkeys(run for run, _ in places):
        cases = [case for run, case in places if run == id]
        state = Transcript(keep=lambda place, cases=cases: any(shares(case, place) for case in cases))  # type: ignore[misc]
        for event in journal.read(journal.path_for(folder, id)).events:
            state.apply(event)
        for case in cases:
            shown = standalone_html.of_case(Chosen(runs[id].lab, state, case), prompts=False)
            found[id, case] = shown | {"way": runs[id].lab.facets(state.case(case).spec, case).get("how", "")}
    return {place: found[place] for place in places}


# A study's estimate and its progress, in lines for a person (`data/page/estimate.txt` and `progress.txt`).


def of_estimate(plan: StudyEstimate) -> list[str]:
    """The estimate of what the study will use, in lines."""
    missing = Counter(plan.missing.values())
    return template("estimate.txt").render(plan=plan, missing=missing, shift=SHIFT, few=FEW).splitlines()


def of_progress(now: StudyProgress) -> list[str]:
    """The progress of the study, in lines."""
    cells = {f"{cell.lab}  {cell.cell}".rstrip(): cell for cell in now.cells}
    return template("progress.txt").render(now=now, cells=cells, counted=count_noun).splitlines()
