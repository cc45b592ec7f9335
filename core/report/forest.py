"""A table's cells as a picture: a line each with its interval, what it must read, and what a paper printed."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..studies.table_cells import Row

MOST = 60
"""Lines in one picture."""

LEFT, LETTER, AXIS, HEIGHT, MARGIN = 330, 7, 360, 20, 20
"""In pixels: where the axis begins at the latest, a letter, the axis, a line, and what is free at the right."""


def lines(cells: Sequence[Row]) -> dict[str, Any] | None:
    """Where everything stands in the picture, for data/page/report.html; None where there is nothing to draw."""
    drawn = [cell for cell in cells if cell["value"] is not None or cell["published"] is not None]
    if not drawn:
        return None
    shown = drawn[:MOST]
    names = ("value", "low", "high", "truth", "published")
    values = [cell[name] for cell in shown for name in names if cell[name] is not None]
    low, high = min(0.0, *values), max(*values, 0.0)
    # Shares have the whole axis from 0 to 1, and differences that from -1, so that pictures can be compared.
    low, high = -1.0 if -1 <= low < 0 else low, 1.0 if high <= 1 else high
    several = len({cell["column"] for cell in cells}) > 1

    called = [f"{cell['row']} · {cell['column']}" if several else str(cell["row"]) for cell in shown]
    # No wider than the names need, for on a phone the marks would else be out of sight.
    begin = min(LEFT, 24 + LETTER * max(map(len, called)))

    def x(value: float | None) -> float | None:
        return None if value is None else round(begin + (value - low) / (high - low) * AXIS, 1)

    left = f" The first {MOST} of {len(drawn)} are drawn." if len(drawn) > MOST else ""
    paper = " Square: printed by the paper." if any(cell["published"] is not None for cell in shown) else ""
    must = " Upright stroke: what it must read." if any(cell["truth"] is not None for cell in shown) else ""
    marks = "Dot: value" if all(cell["low"] is None for cell in shown) else "Dot and line: value and 95 % interval"
    ticks = [low + (high - low) * part / 4 for part in range(5)]
    return {
        **{
            "left": begin,
            "width": begin + AXIS + MARGIN,
            "foot": HEIGHT * len(shown) + 6,
            "height": HEIGHT * len(shown) + 26,
        },
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
