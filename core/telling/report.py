"""A study as one HTML file that needs nothing else: what was asked, what was found, and the cases behind it.

No script is in it and nothing loads: what models wrote is text, and the file's own policy allows its one style alone.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime
from itertools import count, groupby, zip_longest
from pathlib import Path
from typing import Any

from core import journal
from core.lab.lab import Lab
from core.lab.spec import knobs
from core.runs.upgrade import upgraded
from core.statistics import FEW
from core.study import multiverse, tables
from core.study.cells import Row
from core.study.early import SHIFT
from core.study.plan import Planned, Study
from core.study.standing import Standing, Tokens, standings
from core.telling import document, forest
from core.telling.document import Chosen
from core.transcript import Transcript, shares

PER_CELL = 3
"""Cases that are shown of one cell."""

Place = tuple[str, str]
"""A run and one of its cases."""


def html(study: Study, labs: Mapping[str, Lab], folder: Path, methods: Sequence[str]) -> bytes:
    """The report of what the journals in `folder` hold of the study. `methods` are the paragraphs on how its runs were
    made (`core.telling.methods`).
    """
    stand = standings(study.all, folder)
    frame = tables.measured(study, labs, folder)
    rows = tables.drawn(study, labs, frame)
    early = set(frame.loc[frame["early"].astype(bool), "run"])
    open_runs: Counter[str] = Counter(
        one.status for run, one in stand.items() if one.status != "completed" and run not in early
    )
    places = _chosen(rows)
    cases = _cases(study, folder, places)
    numbers = {place: (number, case["title"]) for number, (place, case) in enumerate(cases.items(), start=1)}
    # What labs' controls read has nothing in common: a table each.
    apart = groupby(rows, lambda row: (str(row["table"]), row["column"] if row["table"] == tables.CONTROLS else ""))
    made = [_table(title, list(cells), numbers) for (title, _), cells in apart]
    behind = {place for row in rows for place in row["behind"]}
    style = document.part("page.css") + document.part("report.css")
    page = document.template("report.html").render(
        **{"title": " ".join(study.title.split()), "about": study.about, "style": style},
        **{"hash": document.digest(style), "written": f"Written {datetime.now(UTC):%d %B %Y, %H:%M} UTC"},
        warnings=[*_unfinished(open_runs, len(stand)), *_off(labs, frame)],
        plan=list(_plan(study, stand)),
        controls=[one for one in made if one["title"] == tables.CONTROLS],
        tables=[one for one in made if one["title"] != tables.CONTROLS],
        methods=methods,
        limits=list(_limits(study, rows, stand, len(early), bool(open_runs))),
        left=f"{len(cases)} of the {len(behind):,} cases on which the figures rest: the first of every cell, then the "
        f"second and the third, up to {document.MOST}. All others, and every prompt, are in the journals: "
        "python -m core page RUN -o FILE.",
        cases=list(cases.values()),
    )
    return page.encode("utf-8", "xmlcharrefreplace")


def _unfinished(open_runs: Counter[str], of: int) -> Iterator[str]:
    if open_runs:
        others = ", ".join(f"{n} {_STATUS[status]}" for status, n in open_runs.items())
        yield (
            f"This study is not finished: {of - open_runs.total()} of {of} runs have come to their end ({others}). "
            "The figures are of what there is so far."
        )


_STATUS = {
    **{"absent": "not begun", "running": "going on", "interrupted": "interrupted"},
    **{"cancelled": "cancelled", "failed": "failed"},
}


def _off(labs: Mapping[str, Lab], frame: Any) -> Iterator[str]:
    if wrong := tables.off(labs, frame):
        yield " ".join(("The instrument is off: no figure of this study can be relied on.", *wrong))


def _plan(study: Study, stand: Mapping[str, Standing]) -> Iterator[tuple[str, list[tuple[str, str]]]]:
    """A heading and its facts for each lab, and for the whole."""
    for lab in dict.fromkeys(run.lab.name for run in study.runs):
        yield _of_lab([run for run in study.runs if run.lab.name == lab], stand)
    answered = sum((one.answered for one in stand.values()), Counter[str]())
    taken = Tokens()
    for one in stand.values():
        for tokens in one.tokens.values():
            taken.add(tokens)
    paid = sum(one.paid for one in stand.values())
    failures = sum((one.failures for one in stand.values()), Counter[str]())
    budget = [f"{study.budget_calls:,} calls of models that are no robots"] if study.budget_calls else []
    budget += [f"{study.budget_money:.2f} US dollars"] if study.budget_money else []
    yield (
        "All together",
        [
            ("Runs", f"{len(study.runs)}, and {len(study.controls)} of controls before them"),
            ("Calls answered", _counted(answered) or "none yet"),
            ("Asked of models", f"{paid:,} calls of models that are no robots, tries that failed among them"),
            (
                "Tokens",
                f"{taken.prompt:,.0f} read and {taken.completion:,.0f} written; where an endpoint does not count them, "
                "a quarter of the characters; robots' among them",
            ),
            ("Failed", _counted(failures) or "nothing"),
            ("Budget", " or ".join(budget) or "none set"),
            ("Read by", f"{study.rules} rules"),
        ],
    )


def _counted(counts: Counter[str]) -> str:
    return ", ".join(f"{n:,} {name}" for name, n in counts.most_common())


def _of_lab(runs: Sequence[Planned], stand: Mapping[str, Standing]) -> tuple[str, list[tuple[str, str]]]:
    lab = runs[0].lab
    done = sum(stand[run.id].status == "completed" for run in runs)
    facts = [("Question", lab.question), ("Runs", f"{done} of {len(runs)} completed")]
    roles: dict[str, set[str]] = {}
    for run in runs:
        for role, models in run.spec.roles.items():
            roles.setdefault(role, set()).update(models)
    alike: dict[str, list[str]] = {}
    for role, asked in roles.items():
        alike.setdefault(", ".join(sorted(asked)), []).append(role)
    facts += [(f"Asked as {', '.join(several)}", models) for models, several in alike.items()]
    for name, knob in knobs(lab.spec).items():
        # Who is asked stands above, role by role.
        values = list(dict.fromkeys(tables.text(run.spec.model_dump(mode="json").get(name)) for run in runs))
        plain = tables.text(list(knob.default) if isinstance(knob.default, tuple) else knob.default)
        if any(values) and values != [plain] and not set(values) <= set().union(*roles.values()):
            facts.append((knob.title, " / ".join(value or "–" for value in values)))
    return lab.title, facts


# Tables


def _table(title: str, cells: list[Row], numbers: Mapping[Place, tuple[int, str]]) -> dict[str, Any]:
    cells, still = multiverse.moved(cells)
    if cells and not any(cell["of"] or cell["published"] is not None for cell in cells):
        # Nothing to count: only a note that says why.
        remark = " ".join(filter(None, [*(cell["note"] for cell in cells), still]))
        return {"title": title, "columns": [], "rows": [], "picture": None, "remark": remark, "sources": []}
    columns = list(dict.fromkeys(cell["column"] for cell in cells))
    rows = []
    for name in dict.fromkeys(cell["row"] for cell in cells):
        of_row = {cell["column"]: _cell(cell, numbers) for cell in cells if cell["row"] == name}
        theirs = not any(cell["is_ours"] for cell in of_row.values())
        rows.append({"name": name, "is_theirs": theirs, "cells": [of_row.get(column) for column in columns]})
    is_range = title.startswith(multiverse.TITLE)
    return {
        **{"title": title, "columns": columns, "rows": rows},
        "picture": None if is_range else forest.lines(cells),
        "remark": f"{_RANGE} {still}".strip() if is_range else "",
        "sources": list(dict.fromkeys(cell["source"] for cell in cells if cell["source"])),
    }


_RANGE = (
    "What the figure would be under every combination of choices that the stored answers allow, without a new call: "
    "the middle of them, the smallest and the largest, and how far each choice alone moves it on average. A range over "
    "choices is no confidence interval."
)


def _cell(cell: Row, numbers: Mapping[Place, tuple[int, str]]) -> dict[str, Any]:
    is_ours = cell["source"] is None or bool(cell["of"])
    n = f"n = {cell['published_n']:,}" if cell["published_n"] else "n not printed"
    return {
        **cell,
        "is_ours": is_ours,
        "shown": "undefined" if cell["value"] is None else f"{cell['value']:.2f}",
        "span": "" if cell["low"] is None else f"{cell['low']:.2f} to {cell['high']:.2f}",
        "rests": f"{cell['n']:,} of {cell['of']:,} items",
        "must": "" if cell["truth"] is None else f"{cell['truth']:.2f}",
        "remarks": list(_remarks(cell)),
        "faint": bool(cell["behind"]) and (cell["thin"] or cell["n"] < FEW),
        "printed": "" if cell["published"] is None else f"printed: {cell['published']:.3g} ({n})",
        "cases": [numbers[place] for place in cell["behind"] if place in numbers],
    }


def _remarks(cell: Row) -> Iterator[str]:
    if cell["p"] is not None:
        yield f"p = {cell['p']:.2g}; {cell['p_holm']:.2g} by Holm"
    if cell["note"]:
        yield cell["note"]
    if cell["thin"]:
        yield "less than 70 % counts"
    if not cell["complete"]:
        yield "not complete"
    if cell["stopped_early"]:
        yield "stopped early"


def _limits(
    study: Study, rows: Sequence[Row], stand: Mapping[str, Standing], early: int, is_open: bool
) -> Iterator[str]:
    """What a reader has to know before believing the rest; each only where it is so."""
    ours = [row for row in rows if row["behind"]]
    few, thin = sum(row["n"] < FEW for row in ours), sum(row["thin"] for row in ours)
    if is_open:
        yield "Not all runs have come to their end, so every figure may still change."
    if early:
        yield (
            f"{early} of {len(stand)} runs stopped early, once the always-valid interval of their headline figure was "
            f"at most {study.stop_width} wide. The intervals given here are plain ones: where one stops so, "
            f"they hold the truth less often. {SHIFT}"
        )
    if few:
        yield f"{few} of {len(ours)} cells rest on fewer than {FEW} items, and stand faint."
    if thin:
        yield f"In {thin} of {len(ours)} cells less than 70 % of what should count does."
    if any(row["low"] is not None for row in ours):
        yield (
            "Intervals are 95 % and come from which items were drawn. How other answers of the same model, other "
            "wordings or a later version of it would differ is not in them."
        )
    if any(row["p"] is not None for row in rows):
        yield (
            "Each p is of a paired test on shared items, named beside it (in a paper's tables a t test, as there); "
            "Holm's corrects for all tests of its table, for no others. How the intervals of two cells lie is no test."
        )
    if any(row["source"] for row in rows):
        yield (
            "What stands in italics beside a dotted line was printed by a paper: of other models, at another time, on "
            "its own items and prompts. It is none of this study's figures, and no test compares the two."
        )
    if sum((one.failures for one in stand.values()), Counter[str]()):
        yield "Some calls failed; a case that was lost to one has no figure, and stands in the numbers that n is of."


# Cases


def _chosen(rows: Sequence[Row]) -> list[Place]:
    """The first case of every cell, then the second, and so on, as many as fit."""
    behind = [row["behind"][:PER_CELL] for row in rows]
    return list(dict.fromkeys(place for several in zip_longest(*behind) for place in several if place))[: document.MOST]


def _cases(study: Study, folder: Path, places: Sequence[Place]) -> dict[Place, dict[str, Any]]:
    """What the template needs of each case, in order; one run is in memory at a time. Prompts are left out."""
    runs = {run.id: run for run in study.all}
    steps, found = count(), {}
    for id in dict.fromkeys(run for run, _ in places):
        cases = [case for run, case in places if run == id]
        state = Transcript(keep=lambda place, cases=cases: any(shares(case, place) for case in cases))  # type: ignore[misc]
        for event in upgraded(
            journal.read(journal.at(folder, id)).events, {run.lab.name: run.lab for run in study.all}
        ):
            state.apply(event)
        for case in cases:
            shown = document.of_case(Chosen(runs[id].lab, state, case), steps)
            for calls in (shown["calls"], *(trial["calls"] for trial in shown["trials"])):
                for call in calls:
                    call["turns"], call["tools"] = [], []
            found[id, case] = shown | {"way": runs[id].lab.facets(state.case(case).spec, case).get("how", "")}
    return {place: found[place] for place in places}
