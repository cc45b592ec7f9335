"""What each figure is called, which way is better, and which one decides."""

from __future__ import annotations

import tomllib
from pathlib import Path

from core.lab.shown import Metric

HEADLINE: dict[str, str] = {
    "numeric": "nmse",
    "strings": "exact_match",
    "entities": "unit_test",
    "relations": "unit_test",
}
"""The figure that decides, by category."""

_WORDS = tomllib.loads(Path(__file__).with_suffix(".toml").read_text(encoding="utf-8"))
METRICS = tuple(Metric(name, **words) for name, words in _WORDS.items())
"""In the file's order, which is that of lists."""

ERRORS = ("nmse", "excess", "held_out_nmse")
"""Without an upper end: of several functions only the median means anything."""
