"""Each headline figure as it would be under other analysis choices, from the same answers."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from ..labs.base.cases import View
from ..labs.base.declared import Otherwise
from ..labs.base.lab import Lab
from ..rulesets import RULES
from ..statistics import multiverse
from .table_cells import BLANK, Row, label, origins, with_origins

if TYPE_CHECKING:
    from pandas import DataFrame

NAMED = "otherwise: "
"""The prefix of the metric in these rows of `tables.measured`."""

TITLE = "Multiverse: "
"""The prefix of the title of these tables."""

RANGE = "range"
"""The column with the range."""

MOVED = "moved by "
"""The prefix of a column that says how far a choice moves the figure, and how many items (`n` of `of`)."""

ITEMS = 5
"""How many of the items that a choice moves are named."""


def otherwise(lab: Lab, view: View) -> Iterable[Otherwise]:
    """A case's headline figure by either parser, or the lab's own list with further choices."""
    if (own := lab.studies.alternative_readings(view)) is not None:
        return own
    scores = {rules: view.log.score(lab.headline, rules) for rules in RULES}
    return [
        Otherwise(lab.headline, {"rules": rules}, score.value if score else None) for rules, score in scores.items()
    ]


def rows(lab: Lab, frame: DataFrame) -> list[Row]:
    """For each headline figure, model and way of explaining: the range of values under all combinations of choices that
    were made somewhere in the study or can be made from its answers, how far each choice alone moves the figure, and
    for which items. `low` and `high` are a range, not a confidence interval; `value` is the mean over all
    combinations. `frame` is the lab's part of `tables.measured`.
    """
    table_rows: list[Row] = []
    for metric in dict.fromkeys(frame["metric"]):
        if not metric.startswith(NAMED):
            continue
        by = [name for name in ("model", "how") if name in frame]
        chosen = frame[frame["metric"] == metric].fillna(dict.fromkeys(by, ""))
        title = f"{TITLE}{lab.title}: {lab.metric(metric.removeprefix(NAMED)).title}"
        for key, group in chosen.groupby(by, sort=False):
            row = label(dict(zip(by, key, strict=True)), by)
            sent = origins(group)
            made = ({**BLANK, "table": title, "row": row, **cell} for cell in _of_group(lab, group))
            table_rows += [with_origins(cell, sent) for cell in made]
    return table_rows


def moved(cells: Sequence[Row]) -> tuple[list[Row], str]:
    """The cells of one table in whose row a choice moves the figure or an item, and a sentence on how many rows stay
    the same. For any other table, all cells.
    """
    if not cells[0]["table"].startswith(TITLE):
        return list(cells), ""
    all_rows = dict.fromkeys(cell["row"] for cell in cells)
    moving = {
        cell["row"]
        for cell in cells
        if (cell["low"] is None or cell["low"] < cell["high"] if cell["column"] == RANGE else cell["n"])
    }
    still = len(all_rows) - len(moving)
    sentence = f"{still} of {len(all_rows)} are the same under every choice, item by item." if still else ""
    return [cell for cell in cells if cell["row"] in moving], sentence


def _of_group(lab: Lab, frame: DataFrame) -> Iterable[Row]:
    choices = ["rules", *(name for name in lab.studies.choices if name in frame and frame[name].nunique() > 1)]
    settings = frame.fillna(dict.fromkeys(choices, ""))
    ways = multiverse(settings, choices, outcome="value")
    values = ways.universes["value"].dropna()
    complete = bool(frame["complete"].all())
    counted, items = int(ways.universes["n"].max()), int(frame["item"].nunique())
    gaps = f"; {ways.missing} more were not made" if ways.missing else ""
    yield {
        **{"column": RANGE, "value": float(values.mean()) if len(values) else None, "low": ways.low, "high": ways.high},
        **{"n": counted, "of": items, "complete": complete, "note": f"{len(ways.universes)} ways{gaps}"},
    }
    for choice in ways.choices:
        moved = ways.items[ways.items["choice"] == choice.name]
        more = f" and {len(moved) - ITEMS} more" if len(moved) > ITEMS else ""
        yield {
            "column": f"{MOVED}{choice.name} ({', '.join(map(str, choice.tried))})",
            **{"value": choice.moves, "n": len(moved), "of": items, "complete": complete},
            "note": f"items: {', '.join(map(str, moved['item'].head(ITEMS)))}{more}" if len(moved) else "no item",
        }
