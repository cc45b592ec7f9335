"""The verdict on an explanation, in sentences for someone who has never heard of the method. docs/measuring.md §2.13
says when each sentence is used; tests check the sentences against the records.
"""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence

from ...models.ids import is_control
from ...parsers import fields
from ..base.declared import words_of
from ..base.report import Report
from . import baselines
from .baselines import CONSTANT, FEWEST, Against
from .records import Examined
from .view import AskView, constant_guess, is_reader, made_predictable, value_words

BASELINE: Mapping[str, str] = words_of(__file__, "arms")
"""How sentences name the arms without the explanation."""

HEADLINES: Mapping[str, str] = words_of(__file__, "headlines")

LONG = 40
"""Number of questions in the longer qualification test."""

ALONE = "One model wrote the questions, answered them and predicted the answers."

MOST_LOST = 0.3
"""The share of new questions that may be lost without a warning."""


def short(model: str) -> str:
    """Return a model's name without its provider."""
    return model.rpartition("/")[2]


def too_few(said: Sequence[str]) -> str:
    """Say what guessing would get of the answers that a visitor predicted, and what so few cannot show."""
    n, (most, count) = len(said), Counter(said).most_common(1)[0]
    half = f"{n // 2}" if n % 2 == 0 else f"{n // 2} or {n // 2 + 1}"
    same = f", always answering {most} gets {count}" if count > n / 2 else ""
    cards = "1 card" if n == 1 else f"{n} cards"
    return f"Guessing gets about {half} of {n}{same}. {cards} cannot show whether the reason helped you."


class AskVerdict(AskView, Report):
    """The outcome of a case, with the caveats, in sentences."""

    def sentences(self) -> list[str]:
        """Return the headline, then the caveats."""
        return [self.headline(), *self.caveats()]

    # The headline: which sentence it is, and what it is filled with

    def headline(self) -> str:
        """Return the result in one or two sentences."""
        sentence = self._which()
        alone = f" {ALONE}" if sentence in ("helped", "misled") and self.is_alone else ""
        worded = self.worded(HEADLINES[sentence])
        return f"{worded[0].upper()}{worded[1:]}{alone}"

    def _which(self) -> str:
        """Return the name of the headline in words.toml."""
        state, ended = self.outcome, self.log.status
        if state in ("waiting", "failed"):
            return "failed" if "failed" in (state, ended) else "cancelled" if ended == "cancelled" else "waiting"
        if state == "answered":
            return "predicted" if self.mine.n else "answered"
        if not self.judged:
            return self._without_predictions()
        if self.no_verdict_reason:
            return "not judged"
        standing = self.outcome_word
        if standing == "slips":
            return "slips" if self.misses().missed else "shared slips"
        if standing == "told nothing":
            by_guessing = self.constant.gain <= self.best.gain or not self.arms()
            return "guessed as well" if by_guessing else "told nothing" if self.best.gain else "told the same"
        if standing == "not shown":
            return "no placebo" if baselines.beats_all(self.comparisons) else "not shown"
        if standing == "too few":
            return "one" if self.n == 1 else "too few" if self.arms() else "no baseline"
        return standing

    def _without_predictions(self) -> str:
        """Return the name of the headline if nothing was predicted."""
        if self.excluded is not None and self.excluded.rules in (None, self.rules):
            return "excluded"
        if self.explanation is None:
            return "no explanation"
        if not self.uncovered:
            return "unread"
        if self.no_verdict_reason:
            return "not judged"
        if self.lost_questions:
            return "not covered, and lost"
        return "explains nothing" if self.uncovered >= FEWEST else "not covered"

    @property
    def n(self) -> int:
        """How many predictions count."""
        return len(self.judged)

    @property
    def hits(self) -> int:
        """How many of these came true."""
        return self.n - len(self.misled())

    @property
    def firm(self) -> int:
        """How many did not come true and are not in doubt."""
        return sum(not row.doubt for row in self.misled())

    @property
    def came(self) -> str:
        """How many predictions came true, in words."""
        return f"{self.hits} of {self.n} predictions came true"

    @property
    def asked_and_answered(self) -> int:
        """How many new questions the model answered."""
        return sum(row.answer is not None for row in self.counted_rows())

    @property
    def uncovered(self) -> int:
        """How many new questions the explanation does not cover."""
        return sum(row.outcome == "cannot guess" for row in self.counted_rows())

    @property
    def lost_questions(self) -> int:
        """How many new questions could not be written, asked or read."""
        return sum(row.outcome == "unread" or row.failed for row in self.counted_rows())

    @property
    def covers(self) -> str:
        """That the explanation covers none of the new questions."""
        if self.uncovered == 1:
            return "does not cover the one new question asked"
        return f"covers none of the {self.uncovered} new questions asked"

    @property
    def predictor(self) -> str:
        """Who predicted, and why it does not count."""
        who = self.exam.simulator if self.exam else self.spec.simulator if self.spec else "the predictor"
        return f"{short(who)} made the predictions, and it {_result(self.exam)}"

    @property
    def best(self) -> Against:
        """The strongest baseline."""
        return baselines.strongest(self.comparisons)

    @property
    def hardest(self) -> Against:
        """The baseline that is hardest to distinguish from the explanation."""
        return baselines.decisive(self.comparisons)

    @property
    def constant(self) -> Against:
        """The best fixed guess."""
        return next(one for one in self.comparisons if one.name == CONSTANT)

    @property
    def best_name(self) -> str:
        """The strongest baseline's name."""
        return self.name_of(self.best)

    @property
    def hardest_name(self) -> str:
        """The name of the baseline that is hardest to distinguish from the explanation."""
        return self.name_of(self.hardest)

    @property
    def guessing(self) -> str:
        """What the best fixed guess would have scored."""
        return f"{self.name_of(self.constant)} would have scored {self._count(self.constant)}"

    @property
    def placebo(self) -> str:
        """The name of the placebo."""
        return BASELINE[baselines.PLACEBO]

    @property
    def whose(self) -> str:
        """Whose explanation it is."""
        return "this" if self.is_given else "its own"

    @property
    def where_misled(self) -> str:
        """Which predictions did not come true although nothing puts them in doubt."""
        firm = self.firm
        if firm == self.n:
            return f"None of {firm} predictions came true:" if firm > 1 else "The one prediction did not come true:"
        if firm < len(self.misled()):
            return f"{self.came}: on {firm} of the others"
        return f"{self.came}: on the other" + (f" {firm}" if firm > 1 else "")

    @property
    def errs(self) -> str:
        """How often the predictor may be wrong, by its qualification test."""
        if (exam := self.exam) is None:
            return ""
        right = f"it got {exam.right} of {exam.of} right, so it may be wrong on up to {self.misses().limit:.0%}"
        longer = " The test of 40 questions would allow us to say more." if exam.run and exam.of < LONG else ""
        return f" In its qualification test {right}.{longer}"

    def name_of(self, one: Against) -> str:
        """Return the name of a baseline."""
        if one.name != CONSTANT:
            return BASELINE[one.name]
        if not one.hits:
            return "always guessing the same"
        return f"always guessing *{value_words(str(constant_guess(self).detail['guess']))}*"

    def _count(self, one: Against) -> str:
        """Return a baseline's hits, with the number of questions left out if it predicted fewer than the
        explanation.
        """
        left_out = f" (the other {self.n - one.n} not asked or not read)" if one.n < self.n else ""
        return f"{one.hits} of {one.n}{left_out}"

    # The caveats

    @property
    def is_alone(self) -> bool:
        """Whether one model wrote the new questions, answered them and predicted the answers. Robots do not count,
        because the rules for their roles have nothing in common.
        """
        spec = self.spec
        return (
            spec is not None
            and not is_control(spec.model)
            and {spec.model, spec.simulator, *spec.generators} == {spec.model}
        )

    def caveats(self) -> list[str]:
        """Return the baselines' scores, what is in doubt, what only the explanation made predictable, who predicted,
        and how answers were requested if not in prose.
        """
        asked = fields.format_notes(self.spec.answers if self.spec else "prose", self.log.came_as_prose)
        if not self.judged or self.outcome in ("waiting", "failed"):
            return asked
        if self.is_by_person:
            return [too_few([row.said for row in self.judged]), *asked]
        return [*self._counts(), *self._without(), *self._in_doubt(), *self._who(), *asked]

    def _counts(self) -> Iterator[str]:
        """Yield how many predictions came true, if the headline does not say so, and how often all predictors were
        misled.
        """
        if self.no_verdict_reason:
            yield f"{self.came}, but they don't count. Try it yourself."
            return
        if self.outcome == "helped" and self.firm:
            yield f"On {self.firm} of the others {self.whose} explanation would have misled you."
        alike = sum(row.outcome == "misled all" for row in self.judged)
        if alike and self.spec:
            several = len(self.spec.simulators) - len(self.unfit_further())
            who = "both" if several == 2 else f"all {several}"
            yield f"On {alike} of {self.n} {who} predictors expected the same, and it did not come true."

    def _without(self) -> Iterator[str]:
        """Yield how often predictions without the explanation came true."""
        found = self.comparisons
        if any(one.name != CONSTANT for one in found):
            parts = [f"{self.name_of(one)} {self._count(one)}" for one in found]
            yield f"Without the explanation: {'; '.join(parts)}."
        only = made_predictable(self)
        if only.n:
            were = "1 question was" if only.n == 1 else f"{only.n} questions were"
            yield f"{were} predictable only with the explanation; {only.hits} of these came true."

    def _in_doubt(self) -> Iterator[str]:
        rows = [row for row in self.judged if row.doubt]
        if not rows:
            return
        sure = sum(row.outcome == "as expected" for row in self.judged if not row.doubt)
        one = "1 prediction is" if len(rows) == 1 else f"{len(rows)} predictions are"
        why = "; ".join(dict.fromkeys(row.doubt for row in rows))
        yield f"{one} in doubt: {why}. Counted either way, {sure} to {sure + len(rows)} of {self.n} came true."

    def _who(self) -> Iterator[str]:
        # A robot as predictor knows no facts: without an explanation it goes by the wording.
        if self.spec and self.spec.simulator == self.spec.model and not is_control(self.spec.model):
            yield "The model predicts itself: its own knowledge raises this figure, and that of the question alone."
        for who in self.unfit_further():
            # The headline says so about the first one.
            result = _result(self.exams.get(who))
            yield f"{short(who)} predicts here too, but it {result}: its predictions are left out."
        readers = [*filter(is_reader, self.spec.simulators or (self.spec.simulator,))] if self.spec else []
        if readers:
            who = f"{len(readers)} readers, each alone and" if len(readers) > 1 else "a reader"
            yield f"The predictions are by {who} without sight of the answers."
        if not self.is_examinable:
            yield "The predictor is not tested: there is no qualification test for which response is better."

    # Sentences of the scene alone

    def lost(self) -> str:
        """Warn if too many new questions were lost for the figures to be reliable; otherwise an empty string."""
        lost, of = self.lost_questions, len(self.counted_rows())
        if not lost or lost / of <= MOST_LOST:
            return ""
        return f"{lost} of {of} questions could not be written, asked or read. Don't rely on these figures."

    def by_reader(self) -> str:
        """Return the result of the reader's own predictions: by itself if the predictor's do not count, otherwise
        compared with the predictor's on the same questions. An empty string if nobody guessed with the reason visible.
        """
        if self.no_verdict_reason:
            n, hits = self.mine.n, self.mine.hits
            if not n or hits is None:
                return ""
            if hits == n:
                return f"You predicted {n}, and {'all' if n > 1 else 'it'} came true."
            return f"You predicted {n}: on {n - hits} its explanation misled you."
        guessed = sum(row.read is not None for row in self.to_guess(active=False))
        if not guessed or self.is_by_person:
            return ""
        mine, theirs = self.against_reader()
        if not mine.n:
            return "There is no question that you and the predictor both predicted."
        sentence = f"You {mine.hits} of {mine.n}, the predictor {theirs.hits} of {theirs.n}."
        if left := guessed - mine.n:
            one = "1 question is" if left == 1 else f"{left} questions are"
            sentence += f" Only questions that you both predicted and that could be read are compared: {one} left out."
        return sentence


def _result(exam: Examined | None) -> str:
    """Return why a predictor's predictions do not count."""
    if exam is None:
        return "has not taken the qualification test"
    return f"failed the qualification test ({exam.right} of {exam.of}; guessing gets {exam.of / 3:.0f})"
