"""How each set of rules read an answer, in words."""

from __future__ import annotations

from collections.abc import Mapping

from ...events import Rules
from ...rulesets import RULES
from .records import Interpretation
from .view import ProbeView

PICKED = {True: "right", False: "wrong", None: "neither: it picks no example"}
"""What a reading of an evaluator's reply comes to."""


def readings(view: ProbeView) -> Mapping[str, Mapping[str, str]]:
    """How each set of rules read a call's answer: a message, the conclusion, an evaluator's pick."""
    found: dict[str, dict[str, str]] = {}
    for exchange in view.exchanges.values():
        found[exchange.call] = {rules: words for rules, words in exchange.read if words}
    if (said := view.interpretation) is not None and said.call:
        found[said.call] = {rules: parts_read(said, rules) for rules in RULES}
    for test in view.units.values():
        if test.call:
            found[test.call] = {rules: PICKED[test[rules]] for rules in RULES}
    return found


def parts_read(said: Interpretation, rules: Rules) -> str:
    """Which parts of a conclusion one set of rules found, and how long they are."""
    named = {"description": said.description[rules], "domain": said.domain[rules], "code": said.code[rules]}
    there = [f"{name} of {len(text)} characters" for name, text in named.items() if text]
    return " and ".join(there) or "nothing"
