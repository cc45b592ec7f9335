"""What Ask's values are called on the screen."""

from __future__ import annotations

from core.labs.ask.words import METHODS

WORDS = {**METHODS, "strategyqa": "StrategyQA", "shp": "SHP"}
"""The ways to explain, and the tasks."""
