"""The tests of an interpretation as cards: a point, a text, or three examples of which one is the function's own."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from ...scene import Card, Expect, Mark, Part
from ...text.display import first_sentence, visible
from ..base.cases import Trial
from .agreement import absolute_bound, agrees
from .case_facts import CaseFacts
from .ending import cut
from .records import UnitTest
from .remarks import told_apart
from .trials import GRID, JUDGED, MARKS
from .verdict import judge
from .view import ProbeView

POINTS = 4
"""How many evenly spread test points of a function of numbers become cards; the point where the code is farthest off is
added.
"""

ALIKE = {"yes": "The same", "no": "Something else"}
"""The guesses on a test of code: does the function give what the code gives?"""


class _Given(NamedTuple):
    """What the code gives for an input, or why it gives nothing, and what the function gives."""

    about: Part
    code: str | None
    why: str
    function: str
    is_right: bool


def cards(view: ProbeView) -> tuple[Card, ...]:
    """Return the cards of the tests that have run so far. For texts and examples a card has its trial's id; for a
    function of numbers, whose one trial is all test points, a few points are shown.
    """
    points = tuple(_points(view))
    return (*points, *_trials(view, len(points)))


def _front(view: ProbeView, given: _Given) -> dict[str, object]:
    """Return the fields of a card that compares code with the function."""
    whose = CaseFacts(view).whose
    gives = given.code if given.code is not None else f"(nothing: {given.why or 'no value'})"
    expects = (Expect(who=f"{whose.lower()} code", value="yes", quote=given.code),) if given.code is not None else ()
    return {
        "parts": (given.about, Part(label=f"{whose} code gives", text=gives)),
        "options": ALIKE if given.code is not None else {},
        "expects": expects,
        "columns": (Part(label=f"{whose} code", text=gives), Part(label="The function", text=given.function)),
        "said": "yes" if given.is_right else "no",
        "text": given.function,
        "came": f"the function gives {cut(given.function)}",
    }


def _points(view: ProbeView) -> Iterator[Card]:
    facts = CaseFacts(view)
    points = sorted(facts.points, key=lambda point: point[0])
    if view.truth is None or not any(given is not None for _, _, given in points):
        return
    bound = absolute_bound(view.truth.y)
    chosen = {points[len(points) * (2 * place + 1) // (2 * POINTS)] for place in range(POINTS)}
    is_noise = judge(view).outcome == "within the noise"
    cannot_run = bool(facts.not_run[0])
    chosen |= {facts.worst} if facts.worst is not None else set()
    for number, (x, y, code) in enumerate(sorted(chosen, key=lambda point: point[0]), start=1):
        holds = agrees(y, code, bound)
        mark: Mark = "kept" if holds else "not settled" if is_noise else "broken"
        outcome = "right" if holds else "within the noise" if is_noise else "wrong"
        if code is None and cannot_run:
            mark, outcome = "set aside", "not tested"
        true, shown = (f"{y:.4g}", None) if code is None else told_apart(y, code)
        given = _Given(Part(label="For", text=f"x = {x:g}"), shown, "no number", true, holds)
        yield Card.model_validate(
            {"id": f"point-{number}", "number": number, "mark": mark, "outcome": outcome, **_front(view, given)}
        )


def _trials(view: ProbeView, before: int) -> Iterator[Card]:
    """Yield the cards of texts and examples; their numbers follow the `before` cards."""
    arms = _arms(view)
    trials = {name: trial for name, trial in view.trials.items() if name != GRID}
    for number, (name, trial) in enumerate(trials.items(), start=before + 1):
        reading, paper = trial.repaired, trial.paper
        fields: dict[str, object] = {
            "id": name,
            "number": number,
            "mark": MARKS.get(reading.outcome, "set aside"),
            "outcome": reading.outcome,
            "reason": reading.reason,
            "doubt": reading.doubt,
            "by_paper": paper.outcome if paper.outcome != reading.outcome else "",
            "calls": trial.calls,
        }
        if name in view.predictions:
            fields |= _text(view, name)
        elif name in view.units:
            fields |= _unit(view, view.units[name], trial, arms.get(_place(name), ()))
        else:
            fields["parts"] = (Part(text=trial.about),) if trial.about else ()
        yield Card.model_validate(fields)


def _text(view: ProbeView, name: str) -> dict[str, object]:
    one = view.predictions[name]
    why = one.failure("repaired")
    code = None if one.repaired is None else _shown(one.repaired)
    given = _Given(Part(label="For", text=_shown(one.input)), code, why, _shown(one.truth), one.repaired == one.truth)
    origin = "not probed before" if one.kind == "held out" else ""
    return {**_front(view, given), "origin": origin}


def _shown(text: str) -> str:
    return visible(text) or "(empty)"


def _unit(view: ProbeView, one: UnitTest, trial: Trial, others: tuple[UnitTest, ...]) -> dict[str, object]:
    """Return the fields of a unit test's card: which of three examples does the description fit? With what evaluators
    picked from other descriptions.
    """
    return {
        "parts": tuple(Part(label=f"Example {n}", text=text) for n, text in enumerate(one.options, start=1)),
        "options": {str(place): f"Example {place}" for place in range(1, len(one.options) + 1)},
        "expects": tuple(_expect(view, test) for test in (one, *others)),
        "said": str(one.correct),
        "text": trial.repaired.observed or "",
        "came": f"the function's own is example {one.correct}",
    }


def _expect(view: ProbeView, test: UnitTest) -> Expect:
    """Return what an evaluator picked and, if it is a model, its words."""
    call = view.log.calls.get(test.call or "")
    return Expect(
        who=test.evaluator,
        arm="" if test.about == "interpretation" else JUDGED[test.about],
        value=str(test.picked) if test.picked and test.repaired is not None else "",
        quote=first_sentence(call.text) if call else "",
        call=test.call or "",
    )


def _arms(view: ProbeView) -> dict[str, tuple[UnitTest, ...]]:
    """Return the unit tests of other descriptions by test number, in the order of JUDGED."""
    found: dict[str, tuple[UnitTest, ...]] = {}
    for about in JUDGED:
        for item, test in view.units.items():
            if test.about == about != "interpretation":
                found[_place(item)] = (*found.get(_place(item), ()), test)
    return found


def _place(item: str) -> str:
    return item.rpartition("-")[2]
