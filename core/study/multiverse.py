"""Beside each headline, what it would have been under other choices, from the answers that there are."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from core.by_rules import RULES
from core.lab.cases import View
from core.lab.lab import Lab
from core.lab.shown import Otherwise
from core.statistics import multiverse
from core.study.cells import BLANK, Row, label

if TYPE_CHECKING:
    from pandas import DataFrame

NAMED = "otherwise: "
"""What the metric of such a row of `tables.measured` begins with."""

TITLE = "Multiverse: "
"""What the title of such a table begins with."""

RANGE = "range"
"""The column in which the range stands."""

MOVED = "moved by "
"""What a column begins with that says how far a choice moves the figure, and `n` items of `of`."""

ITEMS = 5
"""Items that are named among those that a choice moves."""


def otherwise(lab: Lab, view: View) -> Iterable[Otherwise]:
    """The headline figure of a case by either rules, or what the lab has under further choices."""
    if lab.studies.otherwise is not None:
        return lab.studies.otherwise(view)
    scores = {rules: view.log.score(lab.headline, rules) for rules in RULES}
    return [
        Otherwise(lab.headline, {"rules": rules}, score.value if score else None) for rules, score in scores.items()
    ]


def rows(lab: Lab, frame: DataFrame) -> list[Row]:
    """For each headline figure and model and way of explaining: between which values it lies under all combinations of
    choices that were made somewhere in the study or can be made from its answers, how far each choice alone moves it,
    and which items it does that to. `low` and `high` are a range, no confidence interval; `value` is the middle of all
    combinations. `frame` is what `tables.measured` has of the lab.
    """
    found: list[Row] = []
    for metric in dict.fromkeys(frame["metric"]):
        if not metric.startswith(NAMED):
            continue
        by = [name for name in ("model", "how") if name in frame]
        chosen = frame[frame["metric"] == metric].fillna(dict.fromkeys(by, ""))
        title = f"{TITLE}{lab.title}: {lab.metric(metric.removeprefix(NAMED)).title}"
        for key, group in chosen.groupby(by, sort=False):
            row = label(dict(zip(by, key, strict=True)), by)
            found += [{**BLANK, "table": title, "row": row, **cell} for cell in _of_group(lab, group)]
    return found


def moved(cells: Sequence[Row]) -> tuple[list[Row], str]:
    """Those cells of one table that stand in a row in which a choice moves the figure or an item, and in words how many
    rows do not; of any other table all.
    """
    if not cells[0]["table"].startswith(TITLE):
        return list(cells), ""
    every = dict.fromkeys(cell["row"] for cell in cells)
    moving = {
        cell["row"] for cell in cells
        if (cell["low"] is None or cell["low"] < cell["high"] if cell["column"] == RANGE else cell["n"])
    }  # fmt: skip
    still = len(every) - len(moving)
    sentence = f"{still} of {len(every)} are the same under every choice, item by item." if still else ""
    return [cell for cell in cells if cell["row"] in moving], sentence


def _of_group(lab: Lab, frame: DataFrame) -> Iterable[Row]:
    choices = ["rules", *(name for name in lab.studies.choices if name in frame and frame[name].nunique() > 1)]
    settings = frame.fillna(dict.fromkeys(choices, ""))
    one = multiverse(settings, choices, outcome="value")
    values = one.universes["value"].dropna()
    complete = bool(frame["complete"].all())
    counted, items = int(one.universes["n"].max()), int(frame["item"].nunique())
    gaps = f"; {one.missing} more were not made" if one.missing else ""
    yield {
        **{"column": RANGE, "value": float(values.mean()) if len(values) else None, "low": one.low, "high": one.high},
        **{"n": counted, "of": items, "complete": complete, "note": f"{len(one.universes)} ways{gaps}"},
    }
    for choice in one.choices:
        moved = one.items[one.items["choice"] == choice.name]
        more = f" and {len(moved) - ITEMS} more" if len(moved) > ITEMS else ""
        yield {
            "column": f"{MOVED}{choice.name} ({', '.join(map(str, choice.tried))})",
            **{"value": choice.moves, "n": len(moved), "of": items, "complete": complete},
            "note": f"items: {', '.join(map(str, moved['item'].head(ITEMS)))}{more}" if len(moved) else "no item",
        }
