"""A case of Ask as it is told: the question, the answer and why, each new question as a card, and the verdict."""

import re
from collections.abc import Iterator, Mapping
from functools import cached_property
from typing import Any, ClassVar

from ...models.ids import is_control
from ...parsers import fields
from ...rulesets import RULES, HasRulesets
from ...scene import Bar, Card, Claim, Expect, FigureLine, Mark, Panel, Part, Scene, Verdict, from_emphasis, with_spans
from ...text.compare import content_words, mark
from ...text.display import first_sentence, joined
from ...transcript import Call
from ..base.declared import Means, words_of
from ..base.report import DIFFERED, Playable
from . import parse, view
from .records import GUESSES, NEITHER, UNKNOWN, Simulation
from .verdict import BASELINE, AskVerdict, short

QUOTED = 240
"""Maximum number of characters quoted from a raw answer."""

_BRIEF = 80
"""Maximum number of characters of a new question named in a sentence."""

_MOST_NAMED = 3
"""Maximum number of new questions named in a sentence."""

_READ = 1_000
"""How many characters of an explanation are used for that sentence."""

IN_ITS_WORDS = 400
"""Maximum number of characters of an answer on a card of the game."""

_READ_FOR_CARD = 4_000
"""How many characters of an answer are searched for them."""

MARK_WORDS: Mapping[Mark, str] = words_of(__file__, "marks")
"""Names of the marks."""

OUTCOME_WORDS = {
    **view.WORDS,
    "as expected": MARK_WORDS["kept"],
    "cannot guess": MARK_WORDS["not settled"],
    "dropped": MARK_WORDS["set aside"],
}
"""Names of values and outcomes; a question that came true is called the same in a list as on its card."""

REASONS: Mapping[str, str] = words_of(__file__, "set_aside")
"""Why a new question was excluded."""

UNCOUNTED: Mapping[view.Outcome, str] = words_of(__file__, "uncounted")
"""Why a question that was asked does not count."""

ORIGINS: Mapping[str, str] = words_of(__file__, "origins")
"""How a new question came about."""

NOTES: Mapping[str, str] = words_of(__file__, "notes")
"""What to know about an answer or a parser."""

_MEANS = words_of(__file__, "means")
_MEANS_PERSON = words_of(__file__, "means_person")
_MEANS_NOT = words_of(__file__, "means_not")

MEANING = "\n".join((*_MEANS, *_MEANS_NOT))
MEANING_FOR_PERSON = "\n".join((*_MEANS_PERSON, *_MEANS_NOT[:2]))
"""What a verdict means and what it does not mean; the second, where visitors predict."""


class AskReport(AskVerdict):
    """A case as it is told, as far as it has been measured; the explanation is by the run's parser."""

    one = "question"
    words: ClassVar[Mapping[str, str]] = OUTCOME_WORDS
    mark_words = MARK_WORDS
    outcomes: ClassVar[Mapping[str, Means]] = {
        **dict.fromkeys(("as expected", "helped"), "kept"),
        **dict.fromkeys(("misled", "misled all"), "broken"),
        **dict.fromkeys(("not judged", "in doubt", "told nothing", "not shown", "slips", "too few"), "in doubt"),
        **dict.fromkeys(("not settled", "cannot guess", "answered"), "not settled"),
        **dict.fromkeys(("no explanation", "cut", "thinking not shown"), "set aside"),
    }

    def names_of_marks(self) -> Mapping[Mark, str]:
        """Return what the marks are called."""
        return {**MARK_WORDS, "not settled": "not predicted"} if self.is_by_person else MARK_WORDS

    # The question and the claim

    def heading(self) -> str:
        """Return the question; for a preference the first sentence of the post."""
        asked = self.starter or self.spec
        return first_sentence(self.title, QUOTED) if asked is not None and asked.response_1 else self.title

    def method(self) -> str:
        """Return how the model explains, and whether its thinking is used as the explanation."""
        if self.spec is None:
            return ""
        if self.is_given:
            return "an explanation that was given"
        how = view.METHODS[self.spec.method]
        return how if self.spec.explained_by == "answer" else f"{how}; its thinking counts as the explanation"

    def asked(self) -> Iterator[Part]:
        """Yield the question, or the post and its two responses."""
        # For a data set the specification does not contain the question, but the first record of the case does.
        asked = self.starter or self.spec
        if asked is not None and asked.response_1:
            yield from _parts(asked.context, asked.response_1, asked.response_2, set())
        elif self.title:
            yield Part(text=self.title)

    def claim(self) -> Claim | None:
        """Return the answer and its explanation."""
        starter, explanation = self.starter, self.explanation
        if starter is None:
            return None
        answer = starter.answer[self.run_rules]
        remarks = {"defended": starter.method == "forced", "given": self.is_given, "unread": answer == NEITHER}
        return Claim(
            answer="" if answer == NEITHER else view.value_words(answer),
            gold=view.value_words(starter.gold or ""),
            parts=(Part(text=explanation),) if explanation else (),
            note=" ".join(NOTES[remark] for remark, is_so in remarks.items() if is_so),
            calls=tuple(name for name, call in self.calls.items() if call.asked.item in ("starter", "natural")),
        )

    # The cards

    @cached_property
    def calls(self) -> Mapping[str, Call]:
        """The calls of the case, by id."""
        return self.log.calls

    @cached_property
    def known(self) -> set[str]:
        """The content words of the explanation."""
        return content_words(self.explanation or "")

    @cached_property
    def numbers(self) -> Mapping[str, int]:
        """The numbers of the new questions, by item."""
        return {item: number for number, item in enumerate(self.rows, start=1)}

    @cached_property
    def awaited(self) -> set[str]:
        """The items for which a further prediction that counts is still to come; none if the run is over."""
        if self.is_over or self.spec is None:
            return set()
        unfit, lost = self.unfit_further(), {drop.item for drop in self.log.drops}
        further = [(n, who) for n, who in enumerate(self.spec.further_simulators, start=2) if who not in unfit]
        return {
            item
            for item, row in self.rows.items()
            for n, who in further
            if f"{item}/simulator-{n}" not in lost and all(who != one.simulator for one in row.further)
        }

    @property
    def options(self) -> Mapping[str, str]:
        """The values that can be expected of a new question."""
        return view.OF_TWO if self.spec is not None and self.spec.task == "shp" else view.YES_OR_NO

    @property
    def is_over(self) -> bool:
        """Whether the run has ended."""
        return self.log.status is not None

    @property
    def source(self) -> str:
        """Where new questions come from that were not written in this run."""
        return ORIGINS["another run" if self.spec is not None and self.spec.given_from else "given"]

    @cached_property
    def is_measured(self) -> bool:
        """Whether the case has its result."""
        return bool(self.log.of_type("result"))

    def cards(self) -> Iterator[Card]:
        """Yield the new questions: who expected what, and the actual answer."""
        return (self._card(row, number) for number, row in enumerate(self.rows.values(), start=1))

    def _card(self, row: view.CounterfactualRow, number: int) -> Card:
        """Return the card of one new question. While a further prediction is missing the outcome is withheld, because
        that prediction may put the first one in doubt.
        """
        is_awaited = row.item in self.awaited and (row.by_hand or not self.is_measured)
        outcome: view.Outcome = "waiting" if is_awaited else row.outcome
        paper = row.by("paper").outcome
        doubt = (row.unjudged or row.doubt) if outcome in view.COUNTED else ""
        one, answer = row.counterfactual, row.answer
        return Card(
            id=row.item,
            number=number,
            mark="in doubt" if doubt else self.means(outcome),
            parts=self._new_question(row),
            options={} if one is None and row.simulation is None else self.options,
            expects=tuple(self._expects(row)),
            said=_value(answer.repaired) if answer else "",
            text=_quote(self.calls.get(answer.call), answer.explanation or "") if answer else "",
            outcome=view.WORDS.get(outcome, outcome),
            reason=self._reason(row, outcome),
            doubt=doubt,
            origin=self._origin(row),
            by_hand=row.by_hand,
            by_paper=view.WORDS.get(paper, paper) if not is_awaited and paper not in ("waiting", outcome) else "",
            guess=_value(row.guess.repaired) if row.guess else "",
            calls=tuple(row.calls),
        )

    def _new_question(self, row: view.CounterfactualRow) -> tuple[Part, ...]:
        """Return the new question, with the words it shares with the explanation marked. If there is no usable
        question, return what was written instead.
        """
        if one := row.counterfactual:
            if one.response_1:
                return _parts(one.context, one.response_1, one.response_2, self.known)
            return (_shared(one.text, self.known),)
        reason, text = (row.dropped.reason, row.dropped.detail) if row.dropped else ("", "")
        if reason in ("duplicate", "not drawn"):
            text = self.calls[row.calls[0]].text.partition("\n")[0] if row.calls else ""
        elif reason != "copy of the starter":
            text = ""
        return (Part(text=text),) if text else ()

    def _reason(self, row: view.CounterfactualRow, outcome: view.Outcome) -> str:
        """Return why the question does not count; an empty string if it counts or has no outcome yet."""
        if outcome != "dropped":
            return UNCOUNTED.get(outcome, "added by hand" if row.by_hand and outcome != "waiting" else "")
        if (drop := row.dropped) is None:
            return REASONS["unparsed"]
        why = REASONS.get(drop.reason, drop.reason)
        if drop.reason in ("duplicate", "reworded"):
            named = (self.numbers[word] for word in re.findall(r"[\w-]+", drop.detail) if word in self.numbers)
            number = next(named, None)
            return why if number is None else why.replace("an earlier question", f"question {number}")
        if drop.reason == fields.REASON and drop.detail:
            return drop.detail
        is_told = drop.reason in ("error", "unparsed") and drop.detail
        return f"{why}: {first_sentence(drop.detail, QUOTED)}" if is_told else why

    def _origin(self, row: view.CounterfactualRow) -> str:
        """Return how a new question came about."""
        if (one := row.counterfactual) is None:
            return ""
        if one.origin == "given":
            return self.source
        return ORIGINS["blind" if one.origin == "generated" and one.operation else one.origin]

    def _expects(self, row: view.CounterfactualRow) -> Iterator[Expect]:
        """Yield what was expected: by the predictors from the explanation, by the writer of the question, and without
        the explanation.
        """
        if row.simulation is None:
            # Without the predictor's own expectation nobody else's guess is shown in its place.
            return
        for one in row.predictions:
            yield self._expect(one)
        if (written := row.counterfactual) and written.foretold in GUESSES:
            yield Expect(who="the question's author", value=written.foretold, call=written.call or "")
        for arm, name in BASELINE.items():
            if arm in row.controls:
                yield self._expect(row.controls[arm], name.removeprefix("the "))

    def _expect(self, one: Simulation, arm: str = "") -> Expect:
        # The call to quote is the first vote that agrees with the majority.
        votes = zip(one.calls, one.votes, strict=False)
        call = next(iter([*(call for call, vote in votes if vote == one.repaired), *one.calls]), "")
        return Expect(
            who=self.who(one.simulator),
            value=_value(one.repaired),
            arm=arm,
            quote=_quote(self.calls.get(call)),
            votes=tuple(map(_value, one.votes)) if len(one.votes) > 1 else (),
            call=call,
        )

    def who(self, model: str) -> str:
        """Return the name of a predictor. A robot's id is hidden, because it would give away the ending."""
        if self.is_by_person:
            return "you"
        if view.is_reader(model):
            return model.replace("/", " ")
        if self.spec is not None and model == self.spec.model:
            return "the robot itself" if is_control(model) else "the model itself"
        return "a robot" if is_control(model) else short(model)

    # Verdict and figures

    def verdict(self) -> Verdict | None:
        """Return the verdict if the case is measured or the run is over, else None."""
        if not self.is_over and (self.outcome == "waiting" or not self.is_measured):
            return None
        more = [*self.caveats(), self.lost(), self.by_reader()]
        return Verdict(
            headline=from_emphasis(self.headline()),
            more=tuple(from_emphasis(sentence) for sentence in more if sentence),
            words=self._in_words(),
            mark=None if self.outcome == "answered" else self.mark(),
            bars=tuple(self._bars()),
            doubt=self._doubt(),
            meaning=MEANING_FOR_PERSON if self.is_by_person else MEANING,
        )

    def _doubt(self) -> str:
        """Return why the predictions are no verdict on the explanation; an empty string if they are, or if there are
        none.
        """
        if self.outcome in ("not judged", "not settled"):
            return self.no_verdict_reason
        rows = self.judged if self.outcome == "in doubt" else []
        return "; ".join(filter(None, dict.fromkeys(row.doubt for row in rows)))

    def _bars(self) -> Iterator[Bar]:
        """Yield what came true with the explanation, and with each baseline over the same questions; nothing if the
        predictions are no verdict.
        """
        if not self.judged or self.no_verdict_reason or self.outcome in ("waiting", "failed"):
            return
        yield Bar(label="with its reason", hits=self.hits, n=self.n, own=True)
        for one in self.comparisons:
            label = from_emphasis(self.name_of(one)).text.removeprefix("the ")
            yield Bar(label=label, hits=one.hits, n=one.n, wins=one.gain <= 0)

    def _in_words(self) -> str:
        """Return what the model said first, and what it then answered: to questions on which its explanation clearly
        misled or, if it helped, to those whose predictions clearly came true.
        """
        means = self.mark()
        if means not in ("kept", "broken"):
            return ""
        begun = (self.explanation or "")[:_READ]
        it_said = _in_one_line(self._without_answer(begun), QUOTED)
        answers: dict[str, list[str]] = {}
        tested = [row for row in self.counted_rows() if self.means(row.outcome) == means and not row.reading.doubt]
        named = [(row.counterfactual, row.answer) for row in tested if row.counterfactual and row.answer]
        for one, answer in named[:_MOST_NAMED]:
            question = first_sentence(one.context or one.text, _BRIEF)
            answers.setdefault(view.value_words(answer.repaired), []).append(f"“{question}”")
        to = [f"{answer} to {joined(questions)}" for answer, questions in answers.items()]
        as_expected = ", as one would expect from that" if means == "kept" else ""
        return f"It said: “{it_said}” Then it said {joined(to)}{as_expected}." if it_said and to else ""

    def _without_answer(self, text: str) -> str:
        """Return a reply without the sentences that only state its answer."""
        return parse.without_answer(text, self.spec.task if self.spec else "strategyqa") or text

    def grid(self) -> Iterator[Panel]:
        """Yield each predictor's qualification test result, with the run of the test."""
        for exam in self.exams.values():
            by_rules = "" if exam.run else " (computed from the robot's rules)"
            failed = "" if exam.passed else ": failed"
            yield Panel(
                title=f"Predictor: {self.who(exam.simulator)}",
                answer=f"{exam.right} of {exam.of}",
                note=f"correct in the qualification test{by_rules}{failed}",
                run=exam.run,
            )

    def figures(self) -> Iterator[FigureLine]:
        """Yield the precision of the reader's guesses, and why generality is missing."""
        if not self.is_over:
            return
        if self.spec is not None and self.spec.given:
            help = f"Not measured: the questions were {self.source}."
            yield FigureLine(title="Generality", value="–", help=help)
        if guesses := sum(row.read is not None for row in self.counted_rows()):
            value = "undefined" if self.mine.value is None else f"{self.mine.value:.2f}"
            chose = " or ".join(self.options[value].lower() for value in self.options if value != UNKNOWN)
            help = f"How often your guesses came true, of those that were {chose}."
            yield FigureLine(title="Your precision", value=value, help=help, n=self.mine.n, of=guesses)

    def differs(self) -> str:
        """Say what in the case depends on which parser reads the answers; an empty string while that is not known."""
        if (paper := self.log.score("precision", "paper")) is None:
            return ""
        rows = self.rows.values()
        differing = [str(self.numbers[row.item]) for row in rows if row.by("paper").outcome != row.outcome]
        value = "undefined" if paper.value is None else f"{paper.value:.2f} ({paper.n} of {paper.of})"
        which = f": {'number' if len(differing) == 1 else 'numbers'} {', '.join(differing)}." if differing else "."
        return (
            f"{NOTES['pipeline'] if self.run_rules == 'paper' else ''}With the original parser: precision {value}. "
            f"{len(differing)} of {len(self.rows)} outcomes depend on the parser{which}"
        )

    def readings(self) -> Mapping[str, Mapping[str, str]]:
        """Return how each parser read the answer of a call: the first answer, a new question, each vote, and the answer
        to it.
        """
        found = {one.call: _read(one.answer) for one in (self.starter, self.other) if one is not None}
        for row in self.rows.values():
            if row.answer:
                found[row.answer.call] = _read(row.answer)
            for one in filter(None, (row.simulation, *row.controls.values(), *row.further)):
                found.update(votes_read(one))
            written, is_unread = row.counterfactual, any(drop.reason == "unparsed" for drop in row.drops)
            for name in row.calls:
                call = self.calls[name]
                if call.asked.role == "generator" and call.answered and (written or is_unread):
                    usable = "a question", "nothing usable"
                    found[name] = {rules: usable[not (written and written[rules])] for rules in RULES}
        return found

    # The game

    def playable(self, scene: Scene, seed: int) -> Iterator[Playable]:
        """Yield a card for each new question that was asked, unless it was added by hand; `seed` has no effect. The
        first of a card's `expects` is the first predictor's, from the explanation alone.
        """
        tested = (*view.COUNTED, "cannot guess", "unread")
        for row, card in zip(self.rows.values(), scene.cards, strict=True):
            if row.by_hand or row.counterfactual is None or row.answer is None or row.outcome not in tested:
                continue
            is_open = row.answer.repaired not in GUESSES
            call = self.calls.get(row.answer.call)
            text = (row.answer.explanation or (call.text if call else ""))[:_READ_FOR_CARD]
            shown = card.model_copy(
                update={
                    "options": {**card.options, UNKNOWN: view.SAYS_NOT},
                    "expects": card.expects[: len(row.predictions)],
                    "text": _in_one_line(self._without_answer(text), IN_ITS_WORDS),
                    "reason": "",
                }
            )
            yield Playable(
                card=shown,
                claim=scene.claim,
                asked=row.text,
                annotated=bool(row.predictions),
                why="its answer could not be read" if is_open else _why(row),
                is_open=is_open,
            )


def votes_read(simulation: Simulation) -> dict[str, Mapping[str, str]]:
    """Return how each parser read each vote, by call; a single vote is the simulation itself."""
    if len(simulation.calls) == 1:
        return {simulation.calls[0]: _read(simulation)}
    votes = {"paper": simulation.votes_paper, "repaired": simulation.votes}
    return {
        call: {rules: view.value_words(read[place]) for rules, read in votes.items() if place < len(read)}
        for place, call in enumerate(simulation.calls)
    }


def _read(read: HasRulesets[Any]) -> Mapping[str, str]:
    return {rules: view.value_words(read[rules]) for rules in RULES}


def _why(row: view.CounterfactualRow) -> str:
    """Return why it is not certain what the explanation implies."""
    read = {one.repaired for one in row.predictions}
    if not read:
        return "nobody read what its explanation implies"
    return DIFFERED if len(read) > 1 or NEITHER in read else row.unjudged or row.doubt


def _parts(post: str, response_1: str, response_2: str, known: set[str]) -> tuple[Part, ...]:
    """Return a post and its two responses."""
    labels = {"The post": post, "Response 1": response_1, "Response 2": response_2}
    return tuple(_shared(text, known, label) for label, text in labels.items())


def _shared(text: str, known: set[str], label: str = "") -> Part:
    """Return a text in which the words `known` from the explanation are marked."""
    return with_spans(((piece, "shared" if is_shared else None) for piece, is_shared in mark(text, known)), label)


def _value(read: str) -> str:
    """Return a parsed value as screens show it: one of the options, or that it could not be parsed."""
    return view.WORDS[NEITHER] if read == NEITHER else read


def _quote(call: Call | None, explanation: str = "") -> str:
    """Return the first sentence of a raw answer; for a JSON answer, of the reasons in it."""
    if call is None:
        return ""
    schema = call.asked.json_schema
    text = call.text if schema is None else explanation or parse.simulation_reason(call.text, schema)
    return first_sentence(text, QUOTED)


def _in_one_line(text: str, most: int) -> str:
    """Return a text in one line; only its first sentence if it has more than `most` characters."""
    line = " ".join(text.split())
    return line if len(line) <= most else first_sentence(line, most)
