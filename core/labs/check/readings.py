"""How each set of rules read an answer, in words."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import get_args

from ...events import Rules
from ...rulesets import RULES
from .view import CheckView, Sessions

NOTHING = "nothing readable"


def readings(view: CheckView) -> Mapping[str, Mapping[str, str]]:
    """How each set of rules read a call's answer: an answer, the words of an explanation, or that it is a paragraph."""
    found: dict[str, dict[str, str]] = {}
    for call, read in _read(view):
        # Of an unchanged paragraph the third session is the first one.
        if call and read:
            found.setdefault(call, {rules: value or NOTHING for rules, value in read.items()})
    return found


def _read(view: CheckView) -> Iterator[tuple[str | None, Mapping[Rules, str | None]]]:
    """Each call that was read, with what each set of rules made of it; None where they could not read it."""
    session: Sessions
    for session in get_args(Sessions):
        if call := view.call(session):
            yield call.asked.call, view.read_as(session)
    if (again := view.again) is not None:
        # A call of its own, where the paper's rules read another edit.
        yield again.call.paper, {"paper": again.paper, "repaired": again.crossed.repaired}
    if (ability := view.ability) is not None:
        yield ability.call, {rules: ability[rules] for rules in RULES}
    if (control := view.control) is not None:
        for call, *read in zip(control.calls, *(control[rules] for rules in RULES), strict=False):
            yield call, dict(zip(RULES, read, strict=True))
        yield control.all_call, {rules: control.all[rules] for rules in RULES}
    if (halves := view.halves) is not None:
        for call, *read in zip(halves.calls, *(halves[rules] for rules in RULES), strict=False):
            yield call, dict(zip(RULES, read, strict=True))
    if (other := view.elsewhere) is not None:
        yield other.call_bare, {"repaired": other.bare}
        yield other.call, {"repaired": other.answer}
