"""The lab's metrics: their names, which direction is better, and which one decides."""

from __future__ import annotations

from ..base.declared import Metric, declared

HEADLINE: dict[str, str] = {
    "numeric": "nmse",
    "strings": "exact_match",
    "entities": "unit_test",
    "relations": "unit_test",
}
"""The figure that decides, by category."""

METRICS = declared(__file__, "metric", Metric)
"""In the file's order, which lists use."""
