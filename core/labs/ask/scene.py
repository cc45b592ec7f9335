"""Tell a case of Ask as a story: the question, the answer and why, each new question as a card, and the verdict."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from ...models.ids import is_control
from ...parsers import fields
from ...scene import Bar, Card, Claim, Expect, FigureLine, Panel, Part, Scene, Verdict, from_emphasis, with_spans
from ...text.display import first_sentence
from ...text.shared_words import content_words, mark
from ...transcript import Call
from . import json_answers, words
from .parse_answers.values import GUESSES, NEITHER, UNKNOWN
from .records import Counterfactual, Examined, Simulation
from .stepwise_simulation import reasons
from .verdict import BASELINE, against_reader, by_reader, headline, lost, name_of, notes, short
from .view import COUNTED, AskView, CounterfactualRow, Outcome, is_reader
from .words import value_words

QUOTED = 240
"""Maximum number of characters quoted from a raw answer."""

_BRIEF = 80
"""Maximum number of characters of a new question named in a sentence."""

_MOST_NAMED = 3
"""Maximum number of new questions named in a sentence."""

WRITTEN_BEFORE = "written before this model was asked anything"
"""Where new questions come from that were not written from an explanation in another run."""

_READ = 1_000
"""How many characters of an explanation are used for that sentence."""


def call_of(simulation: Simulation) -> str:
    """Return the call to quote: the first vote that agrees with the majority."""
    votes = zip(simulation.calls, simulation.votes, strict=False)
    agreeing = [call for call, vote in votes if vote == simulation.repaired]
    return next(iter([*agreeing, *simulation.calls]), "")


def differs(view: AskView) -> str:
    """Say what in the case depends on which parser reads the answers; an empty string while that is not known."""
    paper = view.log.score("precision", "paper")
    if paper is None:
        return ""
    differing = {row.item for row in view.differing()}
    value = "undefined" if paper.value is None else f"{paper.value:.2f} ({paper.n} of {paper.of})"
    numbers = [str(number) for number, item in enumerate(view.rows, start=1) if item in differing]
    which = f": {'number' if len(numbers) == 1 else 'numbers'} {', '.join(numbers)}." if differing else "."
    own = (
        "This run follows the paper's own pipeline: its prompts contain what the original parser reads. The figures "
        "use the updated parser on the same raw answers, although it would have asked other questions. "
    )
    return (
        f"{own if view.run_rules == 'paper' else ''}With the original parser: precision {value}. "
        f"{len(differing)} of {len(view.rows)} outcomes depend on the parser{which}"
    )


def scene(view: AskView) -> Scene:
    """Build the scene of a case as far as it has been measured, by the updated parser; the explanation is by the run's
    parser.
    """
    telling = _Telling(view)
    return Scene(
        lab=words.NAME,
        title=telling.title,
        question=words.QUESTION,
        method=_method(view),
        one="question",
        words=words.OF_PERSON if view.is_by_person else words.MARK_WORDS,
        by_person=view.is_by_person,
        parts=telling.asked,
        claim=telling.claim(),
        cards=tuple(telling.card(row, number) for number, row in enumerate(view.rows.values(), start=1)),
        verdict=telling.verdict(),
        grid=tuple(telling.exams()),
        figures=tuple(telling.figures()),
        differs=differs(view),
    )


def _method(view: AskView) -> str:
    """Return how the model explains, and whether its thinking is used as the explanation."""
    if view.spec is None:
        return ""
    how = words.METHODS[view.spec.method]
    if view.is_given:
        return "an explanation that was given"
    return how if view.spec.explained_by == "answer" else f"{how}; its thinking counts as the explanation"


@dataclass(frozen=True)
class _Telling:
    """A case, with the values that several parts of its scene need."""

    view: AskView

    @cached_property
    def calls(self) -> Mapping[str, Call]:
        return self.view.log.calls

    @cached_property
    def numbers(self) -> Mapping[str, int]:
        return {item: number for number, item in enumerate(self.view.rows, start=1)}

    @cached_property
    def known(self) -> set[str]:
        """The content words of the explanation."""
        return content_words(self.view.explanation or "")

    @cached_property
    def lost_places(self) -> set[str]:
        return {drop.item for drop in self.view.log.drops}

    @cached_property
    def due(self) -> Sequence[tuple[int, str]]:
        """The further predictors whose predictions count, with their numbers; none if the run is over."""
        if self.is_over or self.view.spec is None:
            return ()
        unfit = self.view.unfit_further()
        return [(n, who) for n, who in enumerate(self.view.spec.further_simulators, start=2) if who not in unfit]

    @cached_property
    def options(self) -> Mapping[str, str]:
        is_pair = self.view.spec is not None and self.view.spec.task == "shp"
        return words.OF_TWO if is_pair else words.YES_OR_NO

    @property
    def is_over(self) -> bool:
        return self.view.log.status is not None

    @property
    def is_from_run(self) -> bool:
        """Whether the new questions come from another run."""
        return self.view.spec is not None and bool(self.view.spec.given_from)

    @cached_property
    def is_measured(self) -> bool:
        return bool(self.view.log.of_type("result"))

    @property
    def title(self) -> str:
        """The question; for a preference the first sentence of the post."""
        asked = self.view.starter or self.view.spec
        is_pair = asked is not None and bool(asked.response_1)
        return first_sentence(self.view.title, QUOTED) if is_pair else self.view.title

    @property
    def asked(self) -> tuple[Part, ...]:
        # For a data set the specification does not contain the question, but the first record of the case does.
        asked = self.view.starter or self.view.spec
        if asked is not None and asked.response_1:
            return _parts(asked.context, asked.response_1, asked.response_2, set())
        return (Part(text=self.view.title),) if self.view.title else ()

    def claim(self) -> Claim | None:
        starter, explanation = self.view.starter, self.view.explanation
        if starter is None:
            return None
        answer = starter.answer[self.view.run_rules]
        remarks = [
            words.DEFENDED if starter.method == "forced" else "",
            words.GIVEN if self.view.is_given else "",
            "Its answer could not be read." if answer == NEITHER else "",
        ]
        behind = [name for name, call in self.calls.items() if call.asked.item in ("starter", "natural")]
        return Claim(
            answer="" if answer == NEITHER else value_words(answer),
            gold=value_words(starter.gold or ""),
            parts=(Part(text=explanation),) if explanation else (),
            note=" ".join(filter(None, remarks)),
            calls=tuple(behind),
        )

    def card(self, row: CounterfactualRow, number: int) -> Card:
        """Build the card of one new question: who expected what, and the actual answer. While a further prediction is
        missing the outcome is withheld, because that prediction may put the first one in doubt.
        """
        awaited = self.is_awaited(row)
        outcome: Outcome = "waiting" if awaited else row.outcome
        paper, doubt = row.by("paper").outcome, self.doubt(row, outcome)
        one, answer = row.counterfactual, row.answer
        call = self.calls.get(answer.call) if answer else None
        is_other = not awaited and paper not in ("waiting", outcome)
        return Card(
            id=row.item,
            number=number,
            mark="in doubt" if doubt else words.MARKS[outcome],
            parts=self.new_question(row),
            options={} if one is None and row.simulation is None else self.options,
            expects=tuple(self.expects(row)),
            said=_value(answer.repaired) if answer else "",
            text=_quote(call, (answer.explanation or "") if answer else ""),
            outcome=words.WORDS.get(outcome, outcome),
            reason=self.reason(row, outcome),
            doubt=doubt,
            origin=self.origin(one),
            by_hand=row.by_hand,
            by_paper=words.WORDS.get(paper, paper) if is_other else "",
            guess=_value(row.guess.repaired) if row.guess else "",
            calls=tuple(row.calls),
        )

    def is_awaited(self, row: CounterfactualRow) -> bool:
        if self.is_measured and not row.by_hand:
            return False
        came = {one.simulator for one in row.further}
        return any(who not in came and f"{row.item}/simulator-{n}" not in self.lost_places for n, who in self.due)

    def doubt(self, row: CounterfactualRow, outcome: Outcome) -> str:
        """Return why a prediction is no verdict, also for a question that a person added."""
        return (row.unjudged or row.doubt) if outcome in COUNTED else ""

    def new_question(self, row: CounterfactualRow) -> tuple[Part, ...]:
        """Return the new question, with the words it shares with the explanation marked. If there is no usable
        question, return what was written instead.
        """
        if one := row.counterfactual:
            if one.response_1:
                return _parts(one.context, one.response_1, one.response_2, self.known)
            return (_shared(one.text, self.known),)
        drop = row.dropped
        reason, text = (drop.reason, drop.detail) if drop else ("", "")
        if reason in ("duplicate", "not drawn"):
            text = self.calls[row.calls[0]].text.partition("\n")[0] if row.calls else ""
        elif reason != "copy of the starter":
            text = ""
        return (Part(text=text),) if text else ()

    def reason(self, row: CounterfactualRow, outcome: Outcome) -> str:
        """Return why the question does not count; an empty string if it counts or has no outcome yet."""
        drop = row.dropped
        if outcome == "dropped" and drop is not None:
            why = words.REASONS.get(drop.reason, drop.reason)
            if drop.reason in ("duplicate", "reworded"):
                named = (self.numbers[word] for word in re.findall(r"[\w-]+", drop.detail) if word in self.numbers)
                number = next(named, None)
                return why if number is None else why.replace("an earlier question", f"question {number}")
            if drop.reason == fields.REASON and drop.detail:
                return drop.detail
            is_told = drop.reason in ("error", "unparsed") and drop.detail
            return f"{why}: {first_sentence(drop.detail, QUOTED)}" if is_told else why
        if outcome == "dropped":
            return words.REASONS["unparsed"]
        return words.UNCOUNTED.get(outcome, "added by hand" if row.by_hand and outcome != "waiting" else "")

    def origin(self, one: Counterfactual | None) -> str:
        """Return how a new question came about."""
        if one is None:
            return ""
        if one.origin == "generated":
            blind = "varied from the first question without looking at the explanation"
            return blind if one.operation else "written from the explanation"
        if one.origin == "given":
            return "written from the explanation in another run" if self.is_from_run else WRITTEN_BEFORE
        return "added by hand"

    def expects(self, row: CounterfactualRow) -> Iterator[Expect]:
        """Yield what was expected: by the predictors from the explanation, by the writer of the question, and without
        the explanation.
        """
        if row.simulation is None:
            # Without the predictor's own expectation nobody else's guess is shown in its place.
            return
        for one in (row.simulation, *row.further):
            yield self.expect(one)
        if (written := row.counterfactual) and written.foretold in GUESSES:
            yield Expect(who="the question's author", value=written.foretold, call=written.call or "")
        for arm, name in BASELINE.items():
            if arm in row.controls:
                yield self.expect(row.controls[arm], _without(name))

    def expect(self, one: Simulation, arm: str = "") -> Expect:
        name = call_of(one)
        votes = tuple(map(_value, one.votes)) if len(one.votes) > 1 else ()
        quote = _quote(self.calls.get(name))
        who, value = self.who(one.simulator), _value(one.repaired)
        return Expect(who=who, value=value, arm=arm, quote=quote, votes=votes, call=name)

    def who(self, model: str) -> str:
        """Return the name of a predictor. A robot's id is hidden, because it would give away the ending."""
        if self.view.is_by_person:
            return "you"
        if is_reader(model):
            return model.replace("/", " ")
        if self.view.spec is not None and model == self.view.spec.model:
            return "the robot itself" if is_control(model) else "the model itself"
        return "a robot" if is_control(model) else short(model)

    def exams(self) -> Iterator[Panel]:
        """Yield each predictor's qualification test result, with the run of the test."""
        for exam in self.view.exams.values():
            yield Panel(
                title=f"Predictor: {self.who(exam.simulator)}",
                answer=f"{exam.right} of {exam.of}",
                note=_of_exam(exam),
                run=exam.run,
            )

    def figures(self) -> Iterator[FigureLine]:
        """Yield the precision of the reader's guesses, and why generality is missing."""
        if self.is_over and self.view.spec is not None and self.view.spec.given:
            written = "written from the explanation in another run" if self.is_from_run else WRITTEN_BEFORE
            yield FigureLine(title="Generality", value="–", help=f"Not measured: the questions were {written}.")
        guesses = sum(row.read is not None for row in self.view.counted_rows())
        if guesses and self.is_over:
            mine = self.view.reader_precision()
            value = "undefined" if mine.value is None else f"{mine.value:.2f}"
            chose = " or ".join(self.options[value].lower() for value in self.options if value != UNKNOWN)
            help = f"How often your guesses came true, of those that were {chose}."
            yield FigureLine(title="Your precision", value=value, help=help, n=mine.n, of=guesses)

    def verdict(self) -> Verdict | None:
        """Return the verdict if the case is measured or the run is over, else None."""
        outcome = self.view.outcome
        if not self.is_over and (outcome == "waiting" or not self.is_measured):
            return None
        more = [*notes(self.view), lost(self.view), by_reader(self.view), against_reader(self.view)]
        return Verdict(
            headline=from_emphasis(headline(self.view)),
            more=tuple(from_emphasis(sentence) for sentence in more if sentence),
            words=self.in_words(outcome),
            mark=None if outcome == "answered" else words.MEANT.get(outcome, "set aside"),
            bars=tuple(self.bars(outcome)),
            doubt=self.doubts(outcome),
            meaning="\n".join(words.MEANS_PERSON if self.view.is_by_person else (*words.MEANS, *words.MEANS_NOT)),
        )

    def doubts(self, outcome: str) -> str:
        """Return why the predictions are no verdict on the explanation; an empty string if they are, or if there are
        none.
        """
        if outcome in ("not judged", "not settled"):
            return self.view.no_verdict_reason
        rows = [row for row in self.view.counted_rows() if row.counts] if outcome == "in doubt" else []
        return "; ".join(filter(None, dict.fromkeys(row.doubt for row in rows)))

    def bars(self, outcome: str) -> Iterator[Bar]:
        """Yield what came true with the explanation, and with each baseline over the same questions; nothing if the
        predictions are no verdict.
        """
        rows = [row for row in self.view.counted_rows() if row.counts]
        if not rows or self.view.no_verdict_reason or outcome in ("waiting", "failed"):
            return
        hits = sum(row.outcome == "as expected" for row in rows)
        yield Bar(label="with its reason", hits=hits, n=len(rows), own=True)
        for one in self.view.compared_with_baselines():
            label = _without(from_emphasis(name_of(self.view, one)).text)
            yield Bar(label=label, hits=one.hits, n=one.n, wins=one.gain <= 0)

    def in_words(self, outcome: str) -> str:
        """Return what the model said first, and what it then answered: to questions on which its explanation clearly
        misled or, if it helped, to those whose predictions clearly came true.
        """
        means = words.OUTCOMES.get(outcome)
        if means not in ("kept", "broken"):
            return ""
        tested = [
            (row.counterfactual, row.answer)
            for row in self.view.counted_rows()
            if words.OUTCOMES.get(row.outcome) == means and not row.reading.doubt
        ]
        begun, task = (self.view.explanation or "")[:_READ], self.view.spec.task if self.view.spec else "strategyqa"
        line = " ".join((reasons(begun, task) or begun).split())
        it_said = line if len(line) <= QUOTED else first_sentence(line, QUOTED)
        answers: dict[str, list[str]] = {}
        named = [(one, answer) for one, answer in tested if one and answer]
        for one, answer in named[:_MOST_NAMED]:
            question = first_sentence(one.context or one.text, _BRIEF)
            answers.setdefault(value_words(answer.repaired), []).append(f"“{question}”")
        to = [f"{answer} to {_and(questions)}" for answer, questions in answers.items()]
        as_expected = ", as one would expect from that" if means == "kept" else ""
        return f"It said: “{it_said}” Then it said {_and(to)}{as_expected}." if it_said and to else ""


def _of_exam(exam: Examined) -> str:
    how = "correct in the qualification test" + ("" if exam.run else ", by its rules")
    return how if exam.passed else f"{how}: failed"


def _parts(post: str, response_1: str, response_2: str, known: set[str]) -> tuple[Part, ...]:
    """Return a post and its two responses."""
    labels = {"The post": post, "Response 1": response_1, "Response 2": response_2}
    return tuple(_shared(text, known, label) for label, text in labels.items())


def _shared(text: str, known: set[str], label: str = "") -> Part:
    """Return a text in which the words `known` from the explanation are marked."""
    return with_spans(((piece, "shared" if is_shared else None) for piece, is_shared in mark(text, known)), label)


def _value(read: str) -> str:
    """Return a parsed value as screens show it: one of the options, or that it could not be parsed."""
    return words.WORDS[NEITHER] if read == NEITHER else read


def _quote(call: Call | None, explanation: str = "") -> str:
    """Return the first sentence of a raw answer; for a JSON answer, of the reasons in it."""
    if call is None:
        return ""
    schema = call.asked.json_schema
    text = call.text if schema is None else explanation or json_answers.reason(call.text, schema)
    return first_sentence(text, QUOTED)


def _without(name: str) -> str:
    return name.removeprefix("the ")


def _and(parts: Sequence[str]) -> str:
    return " and ".join(filter(None, (", ".join(parts[:-1]), *parts[-1:])))
