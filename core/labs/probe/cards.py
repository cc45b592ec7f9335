"""The tests of an interpretation as cards: a point, a text, or three examples of which one is the function's own."""

from collections.abc import Iterator, Mapping
from functools import cached_property
from typing import Any

from ...scene import Card, Expect, Mark, Part
from ...text.display import first_sentence, visible
from ..base.cases import Trial
from ..base.declared import words_of
from ..base.report import Report
from .records import UnitTest
from .remarks import shortened, told_apart
from .verdict import CaseVerdict
from .view import GRID

POINTS = 4
"""How many evenly spread test points of a function of numbers become cards; the point where the code is farthest off is
added.
"""

ALIKE = {"yes": "The same", "no": "Something else"}
"""The guesses on a test of code: does the function give what the code gives?"""

JUDGED: Mapping[str, str] = words_of(__file__, "judged")
"""What is put to an evaluator, by what a unit test is about."""


class CaseInCards(CaseVerdict, Report):
    """A case with its tests as cards. For texts and examples a card has its trial's id; for a function of numbers,
    whose one trial is all test points, a few points are shown.
    """

    def cards(self) -> Iterator[Card]:
        """Yield the cards of the tests that have run so far."""
        points = tuple(self._points())
        yield from points
        trials = {name: trial for name, trial in self.trials.items() if name != GRID}
        for number, (name, trial) in enumerate(trials.items(), start=len(points) + 1):
            card = self.card_of(name, trial, number)
            if name in self.predictions:
                card = card.model_copy(update=self._text(name))
            elif name in self.units:
                card = card.model_copy(update=self._unit(name, trial))
            yield card

    def _compared(self, about: str, code: str | None, why: str, function: str, is_right: bool) -> dict[str, Any]:
        """Return the fields of a card that compares code with the function: what the code gives for an input, or why it
        gives nothing, and what the function gives.
        """
        gives = code if code is not None else f"(nothing: {why or 'no value'})"
        own = f"{self.whose} code"
        return {
            "parts": (Part(label="For", text=about), Part(label=f"{own} gives", text=gives)),
            "options": ALIKE if code is not None else {},
            "expects": (Expect(who=own.lower(), value="yes", quote=code),) if code is not None else (),
            "columns": (Part(label=own, text=gives), Part(label="The function", text=function)),
            "said": "yes" if is_right else "no",
            "text": function,
            "came": f"the function gives {shortened(function)}",
        }

    def _points(self) -> Iterator[Card]:
        points = sorted(self.points, key=lambda point: point.x)
        if not self.gives_numbers:
            return
        chosen = {points[len(points) * (2 * place + 1) // (2 * POINTS)] for place in range(POINTS)}
        chosen |= {self.worst} if self.worst is not None else set()
        is_noise = self.outcome == "within the noise"
        for number, (x, y, code, holds) in enumerate(sorted(chosen, key=lambda point: point.x), start=1):
            mark: Mark = "kept" if holds else "not settled" if is_noise else "broken"
            outcome = "right" if holds else "within the noise" if is_noise else "wrong"
            if code is None and self.not_run[0]:
                mark, outcome = "set aside", "not tested"
            true, shown = (f"{y:.4g}", None) if code is None else told_apart(y, code)
            fields = self._compared(f"x = {x:g}", shown, "no number", true, holds)
            yield Card(id=f"point-{number}", number=number, mark=mark, outcome=outcome, **fields)

    def _text(self, name: str) -> dict[str, Any]:
        one = self.predictions[name]
        code = None if one.repaired is None else _shown(one.repaired)
        right, why = one.repaired == one.truth, one.failure("repaired")
        fields = self._compared(_shown(one.input), code, why, _shown(one.truth), right)
        return {**fields, "origin": "not probed before" if one.kind == "held out" else ""}

    def _unit(self, name: str, trial: Trial) -> dict[str, Any]:
        """Return the fields of a unit test's card: which of three examples does the description fit? With what
        evaluators picked from other descriptions.
        """
        one = self.units[name]
        return {
            "parts": tuple(Part(label=f"Example {n}", text=text) for n, text in enumerate(one.options, start=1)),
            "options": {str(place): f"Example {place}" for place in range(1, len(one.options) + 1)},
            "expects": tuple(map(self._expect, (one, *self._others.get(_place(name), ())))),
            "said": str(one.correct),
            "text": trial.repaired.observed or "",
            "came": f"the function's own is example {one.correct}",
        }

    @cached_property
    def _others(self) -> dict[str, list[UnitTest]]:
        """The unit tests of other descriptions by test number, in the order of JUDGED."""
        found: dict[str, list[UnitTest]] = {}
        for about in JUDGED:
            for item, test in self.units.items():
                if test.about == about != "interpretation":
                    found.setdefault(_place(item), []).append(test)
        return found

    def _expect(self, test: UnitTest) -> Expect:
        """Return what an evaluator picked and, if it is a model, its words."""
        call = self.log.calls.get(test.call or "")
        return Expect(
            who=test.evaluator,
            arm="" if test.about == "interpretation" else JUDGED[test.about],
            value=str(test.picked) if test.picked and test.repaired is not None else "",
            quote=first_sentence(call.text) if call else "",
            call=test.call or "",
        )


def _shown(text: str) -> str:
    return visible(text) or "(empty)"


def _place(item: str) -> str:
    return item.rpartition("-")[2]
