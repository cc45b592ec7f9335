"""How each set of rules read an answer, in words, as it was written down when the answer came."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from ...rulesets import RULES, ReadBy
from .records import Simulation
from .view import AskView, Row
from .words import said


def readings(view: AskView) -> Mapping[str, Mapping[str, str]]:
    """How each set of rules read a call's answer: the first answer, a new question, each vote, what was said to it."""
    found = {one.call: _of(one.answer) for one in (view.starter, view.other) if one is not None}
    for row in view.rows.values():
        found.update(_of_row(view, row))
    return found


def _of_row(view: AskView, row: Row) -> Iterator[tuple[str, Mapping[str, str]]]:
    if row.answer:
        yield row.answer.call, _of(row.answer)
    for simulation in filter(None, (row.simulation, *row.controls.values(), *row.further)):
        yield from _of_votes(simulation)
    is_unread = any(drop.reason == "unparsed" for drop in row.drops)
    written = row.counterfactual
    for name in row.calls:
        call = view.log.calls[name]
        if call.asked.role == "generator" and call.answered and (written or is_unread):
            yield name, {rules: "a question" if written and written[rules] else "nothing usable" for rules in RULES}


def _of_votes(simulation: Simulation) -> Iterator[tuple[str, Mapping[str, str]]]:
    """Of one vote alone what was expected is the reading."""
    if len(simulation.calls) == 1:
        yield simulation.calls[0], _of(simulation)
        return
    votes = {"paper": simulation.votes_paper, "repaired": simulation.votes}
    for place, call in enumerate(simulation.calls):
        yield call, {rules: said(read[place]) for rules, read in votes.items() if place < len(read)}


def _of(read: ReadBy[Any]) -> Mapping[str, str]:
    return {rules: said(read[rules]) for rules in RULES}
