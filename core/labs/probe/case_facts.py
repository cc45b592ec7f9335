"""The numbers behind the sentences about a case, each counted from the journal."""

from functools import cached_property
from itertools import groupby
from math import isfinite
from typing import NamedTuple

from ...sandbox.rewriting import cause, not_runnable
from ...score import Score
from ...statistics.comparisons import LEVEL, NotWorse, not_worse
from ...statistics.intervals import mcnemar, wilson
from .claim_extraction import Components, NoiseTold, gaps, intervals_called_odd, noise_told, speaks_of
from .evaluate import AS_GOOD, SUCCESS, PointAgreement, absolute_bound, agreement, agrees, overlap_of
from .functions.base import as_number
from .functions.entities import concepts
from .functions.numeric import PROBED, with_infinite
from .functions.relations import relations
from .records import TELL_NOTHING, Ends, Number, Prediction
from .view import ProbeView

NOISY = 3
"""With noise, code agrees with the function if it differs by at most this many standard deviations of the noise."""

CHANCE = 1 / 3
"""What guessing among three examples gives."""


def _distinct(score: Score) -> int:
    return int(score.detail.get("distinct", score.n))


def _reach(score: Score | None) -> tuple[float, float]:
    """Return the 95 % interval of a share (Wilson), with the number of different tests as n; (0, 1) if nothing counts,
    or if a journal holds no share under that name.
    """
    if score is None or score.value is None or not 0 <= score.value <= 1 or score.n < 1 or _distinct(score) < 1:
        return 0.0, 1.0
    return wilson(score.value, _distinct(score))


def _finite(end: float) -> float | None:
    return end if isfinite(end) else None


class ComparedPoint(NamedTuple):
    """A test point where the function has a value: that value without noise, the code's, and whether they agree."""

    x: float
    truth: float
    given: float | None
    holds: bool


class UntestedInput(NamedTuple):
    """An input outside the tests: whether the interpreter probed it, the function's value without noise, the code's
    value, and whether these agree, within the noise if there is any.
    """

    input: str
    probed: bool
    truth: float | str
    given: float | str | None
    holds: bool


class CaseFacts(ProbeView):
    """The facts about one case, by the parser of its view. Nothing here is worded."""

    # Who

    @property
    def is_you(self) -> bool:
        """Whether a person interpreted: a person is not blamed for what the words leave out."""
        return self.spec is not None and self.spec.interpreter == "you"

    @property
    def who(self) -> str:
        """The word "You" if the reader interpreted, else "It"."""
        return "You" if self.is_you else "It"

    @property
    def whose(self) -> str:
        """The word "Your" if the reader interpreted, else "Its"."""
        return "Your" if self.is_you else "Its"

    @property
    def is_numeric(self) -> bool:
        """Whether the function is one of numbers."""
        return self.category == "numeric"

    # Code

    @property
    def not_run(self) -> tuple[int, int]:
        """At how many test points, or on how many test texts, the code could not be run here; and the total."""
        score = self.score("not_runnable")
        if score is None or not score.value:
            return 0, self.test_points or len(self.tests)
        if self.is_numeric:
            points = int(score.detail.get("points") or 0)
            return points, self.test_points or points
        return round(score.value * score.n), score.n

    @property
    def lacking(self) -> str:
        """What the sandbox lacks, if the code could not be judged for that reason; else empty."""
        reason = self.reason(self.headline)
        return cause(reason) if not self.is_scored and not_runnable(reason) else ""

    # Words

    @property
    def described(self) -> str:
        """The description; empty if there is only code."""
        return self.interpretation.description.repaired if self.interpretation else ""

    @property
    def parts(self) -> Components:
        """Which of the function's parts the description names; none if that is not known."""
        score = self.score("components_identified")
        if score is None or score.value is None:
            return Components((), ())
        named, left_out, wrong = (score.detail.get(which) or () for which in ("named", "left_out", "wrong"))
        return Components(tuple(map(str, named)), tuple(map(str, left_out)), tuple(map(str, wrong)))

    @property
    def all_words(self) -> str:
        """All that it said in words: description and domain."""
        said = self.interpretation
        return f"{said.description.repaired}\n{said.domain.repaired}" if said else ""

    @cached_property
    def called_odd(self) -> tuple[Ends, ...]:
        """The intervals whose values it calls replaced, random or otherwise odd; a person's two numbers are one."""
        said = self.interpretation
        if said is not None and said.interval is not None:
            return (said.interval,)
        return tuple((_finite(low), _finite(high)) for low, high in intervals_called_odd(self.all_words))

    @property
    def speaks_of_corrupted(self) -> bool:
        """Whether its words, or its two numbers, say anything at all about the interval in which values are
        replaced.
        """
        said = self.interpretation
        given = said is not None and said.interval is not None
        return self.corrupted is not None and (given or speaks_of(self.all_words, *self.corrupted))

    @property
    def overlap(self) -> float:
        """How much the intervals it calls odd overlap the interval in which values are replaced, as in
        `interval_iou`.
        """
        if self.corrupted is None:
            return 0.0
        return overlap_of([with_infinite(*self.corrupted)], [with_infinite(*one) for one in self.called_odd])

    @cached_property
    def noise_told(self) -> NoiseTold:
        """What it says about noise."""
        return noise_told(self.all_words)

    @property
    def noise_kind(self) -> str:
        """The kind of the function's noise; empty if it has none."""
        noise = self.truth.parameters.get("noise") if self.truth else None
        return str(noise.get("kind") or "") if isinstance(noise, dict) else ""

    # Shares: exact match of texts, unit tests of words and facts

    @property
    def is_scored(self) -> bool:
        """Whether the headline figure has a value."""
        return self.value(self.headline) is not None

    @property
    def headline_n(self) -> int:
        """How many tests the headline figure counts."""
        score = self.score(self.headline)
        return score.n if score else 0

    @property
    def passed(self) -> float:
        """The share of tests that came out right; 0 if there are none."""
        return self.value(self.headline) or 0.0

    @property
    def hits(self) -> int:
        """How many of the counted tests came out right."""
        return round(self.passed * self.headline_n)

    @property
    def distinct(self) -> int:
        """How many different tests the headline figure counts: a word may be tested more than once."""
        score = self.score(self.headline)
        return _distinct(score) if score else 0

    @property
    def reach(self) -> tuple[float, float]:
        """The 95 % interval of the share."""
        return _reach(self.score(self.headline))

    @property
    def may_be_guessed(self) -> bool:
        """Whether the share is compatible with guessing among three."""
        low, high = self.reach
        return low <= CHANCE <= high

    @property
    def truth_may_be_guessed(self) -> bool:
        """Whether the true description's share is compatible with guessing."""
        low, high = _reach(self.score(f"{self.headline}_ceiling"))
        return self.ceiling is not None and low <= CHANCE <= high

    @cached_property
    def not_worse(self) -> NotWorse:
        """The description compared with the true one on the same tests, if the evaluator settled on an example for
        both.

        Tests of one true example are a cluster. If every example of the function was tested, the examples are not a
        sample; only the distractors are sampled, so each test counts for itself (docs/measuring.md §4.9).
        """
        tests = self.units
        own = {item: test for item, test in tests.items() if test.about == "interpretation"}
        if self.rules == "paper":
            own |= {item.replace("paper-", "unit-", 1): test for item, test in tests.items() if test.about == "paper"}
        first, second, examples = [], [], []
        for item, test in own.items():
            of_truth = tests.get(item.replace("unit-", "ceiling-", 1))
            pair = test[self.rules], of_truth[self.rules] if of_truth else None
            if None not in pair and test.options[test.correct - 1 : test.correct]:
                first.append(bool(pair[0]))
                second.append(bool(pair[1]))
                examples.append(test.options[test.correct - 1])
        return not_worse(first, second, None if self._are_all(set(examples)) else examples)

    def _are_all(self, examples: set[str]) -> bool:
        """Whether these are all the examples that the function has in our lists."""
        truth = self.truth
        if truth is None or self.spec is None or self.spec.is_published:
            return False
        first, second = (str(truth.parameters.get(name) or "") for name in ("concept1", "concept2"))
        if self.category == "entities":
            names = [name for name in (first, second) if name]
            return all(name in concepts() and set(concepts()[name].words) <= examples for name in names)
        relation = relations().get((first, second))
        return relation is not None and len(examples) >= len(relation.facts)

    @property
    def control(self) -> float | None:
        """The share of the best description that tells nothing, by the updated rules; None if none was tested."""
        return self.by("repaired").value("unit_test_control")

    def unbeaten(self, about: str = "interpretation") -> list[str]:
        """Return the descriptions that tell nothing which the description does not beat."""
        return [] if self.control is None else [other for other in TELL_NOTHING if not self.beats(other, about)]

    def tests_of(self, about: str) -> tuple[int, int]:
        """Return how many tests a description passes, and in how many the evaluator settled on an example."""
        read = [test.repaired for test in self.units.values() if test.about == about and test.repaired is not None]
        return sum(read), len(read)

    def beats(self, other: str, about: str = "interpretation") -> bool:
        """Whether a description is right when the `other` is wrong more often than the reverse, by more than chance
        (exact, one-sided 5 %). True if the other was not tested.
        """

        def of(about: str) -> dict[str, bool | None]:
            tests = self.units.items()
            return {item.rpartition("-")[2]: test.repaired for item, test in tests if test.about == about}

        own, its = of(about), of(other)
        won = sum(own.get(place) is True and right is False for place, right in its.items())
        lost = sum(own.get(place) is False and right is True for place, right in its.items())
        # Two-sided 10 % is one-sided 5 %.
        return not its or (won > lost and mcnemar(won, lost) <= 2 * LEVEL)

    @property
    def tells_as_much_as_the_truth(self) -> bool:
        """Whether the description is shown to tell as much as the true one, except for a tenth of the tests."""
        return self.ceiling is not None and self.not_worse.is_shown

    @property
    def ceiling(self) -> float | None:
        """What the true description gets."""
        return self.value(f"{self.headline}_ceiling")

    # Numbers

    @property
    def error(self) -> float | None:
        """The normalized error (NMSE)."""
        return self.value("nmse")

    @property
    def floor(self) -> float | None:
        """The error that the function itself would get against noisy observations."""
        return self.value("noise_floor")

    @property
    def excess(self) -> float | None:
        """What the code's error adds to the floor; None without noise, or if it is not known."""
        return self.value("excess") if self.floor else None

    @property
    def as_good_as_the_noise_allows(self) -> bool:
        """Whether the code's own error is small compared with what the noise alone makes."""
        return self.excess is not None and self.floor is not None and self.excess <= AS_GOOD * self.floor

    @property
    def is_drowned(self) -> bool:
        """Whether zero everywhere would be as good as the noise allows, because the function's values are so small."""
        return self.excess is not None and self.floor is not None and 1 - self.floor <= AS_GOOD * self.floor

    @property
    def error_of_code(self) -> float:
        """The error of the code itself: without the noise, if that is known. 0 if there is no error."""
        own = self.error if self.excess is None else self.excess
        return own or 0.0

    @property
    def test_points(self) -> int:
        """How many points the function was tested on, with a value or without."""
        return len(self.truth.x) if self.truth else 0

    @cached_property
    def points(self) -> list[ComparedPoint]:
        """The test points where the function has a value, in the order of the truth."""
        if (truth := self.truth) is None:
            return []
        bound, given = absolute_bound(truth.y), self.given or (None,) * len(truth.x)
        rows = zip(truth.x, truth.y, given, strict=False)
        return [ComparedPoint(x, y, code, agrees(y, code, bound)) for x, y, code in rows if y is not None]

    @property
    def gives_numbers(self) -> bool:
        """Whether the code gives a number at any of the points."""
        return any(point.given is not None for point in self.points)

    @property
    def given(self) -> tuple[float | None, ...]:
        """What the code gives at the test points; empty if it was not run."""
        return self.estimate[self.rules] if self.estimate else ()

    @cached_property
    def agreement(self) -> PointAgreement:
        """At how many of the points code and function agree."""
        return agreement([point.truth for point in self.points], [point.given for point in self.points])

    @cached_property
    def elsewhere(self) -> list[UntestedInput]:
        """What the code gives outside the tests, for inputs with a function value; empty if it failed the tests."""
        checked = self.checked
        if checked is None or not checked[self.rules]:
            return []
        columns = (checked.inputs, checked.probed, checked.truth, checked.seen, checked.spread, checked[self.rules])
        return [
            UntestedInput(text, probed, truth, given if isinstance(given, float | str) else None, holds)
            for text, probed, truth, seen, spread, given in zip(*columns, strict=False)
            if isinstance(truth, float | str)
            for holds in [self._holds(truth, seen, spread, given)]
        ]

    def _holds(self, truth: float | str, seen: Number | str, spread: float, given: Number | str) -> bool:
        if isinstance(truth, str) or not isinstance(given, float):
            return truth == given
        near = (truth, seen) if isinstance(seen, float) else (truth,)
        within = spread > 0 and min(abs(given - one) for one in near) <= NOISY * spread
        return within or agrees(truth, given, self.agreement.absolute)

    @property
    def contradicted(self) -> list[UntestedInput]:
        """The inputs that the interpreter probed itself and for which its code gives something else."""
        return [one for one in self.elsewhere if one.probed and not one.holds]

    @property
    def wrong_where_nobody_looked(self) -> list[UntestedInput]:
        """The points that nobody probed at which the code is wrong; for texts see `tests`."""
        return [one for one in self.elsewhere if not one.probed and not one.holds]

    @property
    def holds_where_nobody_looked(self) -> bool:
        """Whether the code is right at every input that nobody probed; with noise, whether it does not fail there. True
        if there are no such inputs.
        """
        if not self.is_numeric:
            return self.value("held_out_match") in (None, 1.0)
        if not self.elsewhere or self.floor:
            return not self.fails_where_nobody_looked
        return not self.wrong_where_nobody_looked

    @property
    def held_out(self) -> tuple[int, int, int]:
        """On how many of the texts that nobody probed the code is right; how many of them the function leaves
        unchanged; and their number.
        """
        texts = [one for one in self.predictions.values() if one.kind == "held out"]
        right = sum(one[self.rules] == one.truth for one in texts)
        return right, sum(one.input == one.truth for one in texts), len(texts)

    @property
    def fails_where_nobody_looked(self) -> bool:
        """Whether the code does badly at inputs that nobody probed: no success there, and far worse than at the test
        points. For texts: no better than returning the input.
        """
        if self.is_numeric:
            score = self.score("held_out_nmse")
            if score is None or not score.n:
                return False
            return score.value is None or score.value >= max(SUCCESS, 3 * (self.floor or 0.0), 3 * (self.error or 0.0))
        right, unchanged, _ = self.held_out
        return right <= unchanged

    @cached_property
    def apart(self) -> list[tuple[float, float]]:
        """The first and last point of each run of neighbouring test points at which code and function differ."""
        held = {point.x: point.holds for point in self.points}
        runs = groupby(sorted(self.truth.x) if self.truth else (), key=held.get)
        return [(xs[0], xs[-1]) for holds, run in runs if holds is False for xs in [list(run)]]

    @property
    def corrupted(self) -> Ends | None:
        """The interval in which the function's values are replaced."""
        return self.truth.corrupted if self.truth else None

    @property
    def is_right_elsewhere(self) -> bool:
        """Whether code and function agree wherever the function is not corrupted, at one point at least."""
        if self.corrupted is None:
            return False
        low, high = with_infinite(*self.corrupted)
        outside = [point.holds for point in self.points if not low <= point.x <= high]
        return bool(outside) and all(outside)

    @property
    def without_number(self) -> int:
        """The number of test points at which the function has a value but the code does not."""
        return sum(point.given is None for point in self.points)

    @cached_property
    def worst(self) -> ComparedPoint | None:
        """The test point at which the code is farthest off; None if it agrees wherever it gives a number."""
        given = [(abs(one.truth - one.given), one) for one in self.points if one.given is not None]
        return None if all(one.holds for _, one in given) else max(given, key=lambda pair: pair[0])[1]

    @property
    def unseen(self) -> list[tuple[float, float]]:
        """Stretches without a probe that are longer than a quarter of the range, limited to where the function has
        values.
        """
        inputs = [number for probe in self.probes if (number := as_number(probe.input)) is not None]
        stretches = []
        for low, high in gaps(inputs):
            inside = [point.x for point in self.points if low < point.x < high]
            # The test points are half a step away from the ends.
            reached = (max(low, min(inside) - 0.5), min(high, max(inside) + 0.5)) if inside else (low, low)
            if reached[1] - reached[0] > (PROBED[1] - PROBED[0]) / 4:
                stretches.append(reached)
        return stretches

    # Texts

    @cached_property
    def tests(self) -> list[Prediction]:
        """The test texts; under the updated rules without those whose recorded output is not the function's."""
        tests = (text for text in self.predictions.values() if text.kind == "test")
        return [text for text in tests if self.rules == "paper" or not text.misrecorded]

    @property
    def unchanged(self) -> int:
        """How many of the counted test texts the function returns unchanged."""
        ran = [text for text in self.tests if not not_runnable(text.failure(self.rules))]
        return sum(text.input == text.truth for text in ran[: self.headline_n])
