"""A case of Ask as it is told: the question, the answer and why, each new question as a card, and the verdict."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from ...models.ids import is_control
from ...parsers import cut
from ...scene import Bar, Card, Claim, Expect, FigureLine, Panel, Part, Scene, Verdict, marked, told
from ...text.quote import first_sentence
from ...text.shared_words import content_words, mark
from ...transcript import Call
from . import json_answers, words
from .parse_answers.values import GUESSES, NEITHER, UNKNOWN
from .records import Counterfactual, Examined, Simulation
from .stepwise_simulation import reasons
from .verdict import BASELINE, against_reader, by_reader, headline, lost, name_of, notes, short
from .view import COUNTED, AskView, CounterfactualRow, Outcome, is_reader
from .words import said

QUOTED = 240
"""Characters of a raw answer that are quoted."""

_BRIEF = 80
"""Characters of a new question that is named in a sentence."""

_MOST_NAMED = 3
"""New questions that are named in a sentence."""

_READ = 1_000
"""Characters of an explanation from which such a sentence is made."""


def call_of(simulation: Simulation) -> str:
    """Of several votes the first that the majority holds with."""
    votes = zip(simulation.calls, simulation.votes, strict=False)
    agreeing = [call for call, vote in votes if vote == simulation.repaired]
    return next(iter([*agreeing, *simulation.calls]), "")


def differs(view: AskView) -> str:
    """What of the case depends on whose rules read the answers; empty before that is known."""
    paper = view.log.score("precision", "paper")
    if paper is None:
        return ""
    differing = {row.item for row in view.differing()}
    value = "undefined" if paper.value is None else f"{paper.value:.2f} ({paper.n} of {paper.of})"
    numbers = [str(number) for number, item in enumerate(view.rows, start=1) if item in differing]
    which = f": {'number' if len(numbers) == 1 else 'numbers'} {', '.join(numbers)}." if differing else "."
    own = (
        "This run follows the paper's own pipeline: its prompts hold what the paper's rules read. The figures "
        "read the same raw answers by repaired rules, which would have asked other questions. "
    )
    return (
        f"{own if view.rules == 'paper' else ''}Read by the paper's own rules: precision {value}. "
        f"{len(differing)} of {len(view.rows)} outcomes depend on which rules read the answers{which}"
    )


def scene(view: AskView) -> Scene:
    """The case as far as it has come, by repaired rules; what the explanation is, by those of the run."""
    telling = _Telling(view)
    return Scene(
        lab=words.NAME,
        title=telling.title,
        question=words.QUESTION,
        method=_method(view),
        one="question",
        words=words.MARK_WORDS,
        parts=telling.asked,
        claim=telling.claim(),
        cards=tuple(telling.card(row, number) for number, row in enumerate(view.rows.values(), start=1)),
        verdict=telling.verdict(),
        grid=tuple(telling.exams()),
        figures=tuple(telling.figures()),
        differs=differs(view),
    )


def _method(view: AskView) -> str:
    """How it explains, and that its thinking is what was read, where that is so."""
    if view.spec is None:
        return ""
    how = words.METHODS[view.spec.method]
    return how if view.spec.explained_by == "answer" else f"{how}; its thinking is read as the explanation"


@dataclass(frozen=True)
class _Telling:
    """A case with what several of its parts are made of."""

    view: AskView

    @cached_property
    def calls(self) -> Mapping[str, Call]:
        return self.view.log.calls

    @cached_property
    def numbers(self) -> Mapping[str, int]:
        return {item: number for number, item in enumerate(self.view.rows, start=1)}

    @cached_property
    def known(self) -> set[str]:
        """The words of the explanation that mean something."""
        return content_words(self.view.explanation or "")

    @cached_property
    def lost_places(self) -> set[str]:
        return {drop.item for drop in self.view.log.drops}

    @cached_property
    def due(self) -> Sequence[tuple[int, str]]:
        """Who else predicts each new question, and judges, with their numbers; none of a run that is over."""
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

    @cached_property
    def is_measured(self) -> bool:
        return bool(self.view.log.of("result"))

    @property
    def title(self) -> str:
        """The question; of a preference how the post begins."""
        asked = self.view.starter or self.view.spec
        is_pair = asked is not None and bool(asked.response_1)
        return first_sentence(self.view.title, QUOTED) if is_pair else self.view.title

    @property
    def asked(self) -> tuple[Part, ...]:
        # Of a data set the specification does not hold what is asked; the first record of the case does.
        asked = self.view.starter or self.view.spec
        if asked is not None and asked.response_1:
            return _parts(asked.context, asked.response_1, asked.response_2, set())
        return (Part(text=self.view.title),) if self.view.title else ()

    def claim(self) -> Claim | None:
        starter, explanation = self.view.starter, self.view.explanation
        if starter is None:
            return None
        answer = starter.answer[self.view.rules]
        remarks = [
            words.DEFENDED if starter.method == "forced" else "",
            "Its answer could not be read." if answer == NEITHER else "",
        ]
        behind = [name for name, call in self.calls.items() if call.asked.item in ("starter", "natural")]
        return Claim(
            answer="" if answer == NEITHER else said(answer),
            gold=said(starter.gold or ""),
            parts=(Part(text=explanation),) if explanation else (),
            note=" ".join(filter(None, remarks)),
            calls=tuple(behind),
        )

    def card(self, row: CounterfactualRow, number: int) -> Card:
        """One new question, what was expected of it by whom, and what came. While another predictor has still to say
        what it expects, nothing is said of what came: it may put the prediction in doubt.
        """
        awaited = self.is_awaited(row)
        outcome: Outcome = "waiting" if awaited else row.outcome("repaired")
        paper, doubt = row.outcome("paper"), self.doubt(row, outcome)
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
        """Why a prediction is no verdict, of one of a person's own question too."""
        return (row.unjudged or row.doubt("repaired")) if outcome in COUNTED else ""

    def new_question(self, row: CounterfactualRow) -> tuple[Part, ...]:
        """Its text, with the words that the explanation has too; of what is no question of its own what was written."""
        if one := row.counterfactual:
            if one.response_1:
                return _parts(one.context, one.response_1, one.response_2, self.known)
            return (_shared(one.text, self.known),)
        drop = row.dropped("repaired")
        reason, text = (drop.reason, drop.detail) if drop else ("", "")
        if reason in ("duplicate", "not drawn"):
            text = self.calls[row.calls[0]].text.partition("\n")[0] if row.calls else ""
        elif reason != "copy of the starter":
            text = ""
        return (Part(text=text),) if text else ()

    def reason(self, row: CounterfactualRow, outcome: Outcome) -> str:
        """Why it does not count; empty where it does, and before anything came of it."""
        drop = row.dropped("repaired")
        if outcome == "dropped" and drop is not None:
            why = words.REASONS.get(drop.reason, drop.reason)
            if drop.reason in ("duplicate", "reworded"):
                named = (self.numbers[word] for word in re.findall(r"[\w-]+", drop.detail) if word in self.numbers)
                number = next(named, None)
                return why if number is None else why.replace("an earlier question", f"question {number}")
            if drop.reason == cut.REASON and drop.detail:
                return drop.detail
            is_told = drop.reason in ("error", "unparsed") and drop.detail
            return f"{why}: {first_sentence(drop.detail, QUOTED)}" if is_told else why
        if outcome == "dropped":
            return words.REASONS["unparsed"]
        return words.UNCOUNTED.get(outcome, "added by hand" if row.by_hand and outcome != "waiting" else "")

    def origin(self, one: Counterfactual | None) -> str:
        """Where a new question comes from."""
        if one is None:
            return ""
        if one.origin == "generated":
            blind = "varied from the first question without looking at the explanation"
            return blind if one.operation else "written from the explanation"
        return "added by hand" if one.origin == "hand" else "written from the explanation in another run"

    def expects(self, row: CounterfactualRow) -> Iterator[Expect]:
        """What was expected: by who predicts, by others who read the explanation too, by who wrote the question, and
        without the explanation.
        """
        if row.simulation is None:
            # What is expected is the predictor's alone: nobody else's guess stands in its place.
            return
        for one in (row.simulation, *row.further):
            yield self.expect(one)
        if (written := row.counterfactual) and written.foretold in GUESSES:
            yield Expect(who="who wrote the question", value=written.foretold, call=written.call or "")
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
        """Who predicts, in words; a robot's name would give away how the story ends."""
        if is_reader(model):
            return model.replace("/", " ")
        if self.view.spec is not None and model == self.view.spec.model:
            return "the robot itself" if is_control(model) else "the model itself"
        return "a robot" if is_control(model) else short(model)

    def exams(self) -> Iterator[Panel]:
        """What each predictor had got in the exam, and the run of that exam."""
        for exam in self.view.exams.values():
            yield Panel(
                title=f"Who predicts: {self.who(exam.simulator)}",
                answer=f"{exam.right} of {exam.of}",
                note=_of_exam(exam),
                run=exam.run,
            )

    def figures(self) -> Iterator[FigureLine]:
        """The precision of who guessed, beside the predictor's; and why one of the figures is missing."""
        if self.is_over and self.view.spec is not None and self.view.spec.given:
            why = "Not measured: the questions were written from the explanation in another run."
            yield FigureLine(title="Generality", value="–", help=why)
        guesses = sum(row.read is not None for row in self.view.counted())
        if guesses and self.is_over:
            mine = self.view.reader_precision()
            value = "undefined" if mine.value is None else f"{mine.value:.2f}"
            chose = " or ".join(self.options[value].lower() for value in self.options if value != UNKNOWN)
            help = f"How often what you said came true, of your guesses that were {chose}."
            yield FigureLine(title="Your precision", value=value, help=help, n=mine.n, of=guesses)

    def verdict(self) -> Verdict | None:
        """The verdict of a case that is measured, or that does not go on."""
        outcome = self.view.outcome("repaired")
        if not self.is_over and (outcome == "waiting" or not self.is_measured):
            return None
        more = [*notes(self.view), lost(self.view), by_reader(self.view), against_reader(self.view)]
        return Verdict(
            headline=told(headline(self.view)),
            more=tuple(told(sentence) for sentence in more if sentence),
            words=self.in_words(outcome),
            mark=words.MEANT.get(outcome, "set aside"),
            bars=tuple(self.bars(outcome)),
            doubt=self.doubts(outcome),
            meaning="\n".join((*words.MEANS, *words.MEANS_NOT)),
        )

    def doubts(self, outcome: str) -> str:
        """Why what was predicted is no verdict on the explanation; empty where it is one, and where nothing was."""
        if outcome in ("not judged", "not settled"):
            return self.view.unjudged
        rows = [row for row in self.view.counted() if row.counts("repaired")] if outcome == "in doubt" else []
        return "; ".join(filter(None, dict.fromkeys(row.doubt("repaired") for row in rows)))

    def bars(self, outcome: str) -> Iterator[Bar]:
        """What came true with the explanation, and by each baseline over the same questions; none where no prediction
        is a verdict.
        """
        rows = [row for row in self.view.counted() if row.counts("repaired")]
        if not rows or self.view.unjudged or outcome in ("waiting", "failed"):
            return
        hits = sum(row.outcome("repaired") == "as expected" for row in rows)
        yield Bar(label="with its reason", hits=hits, n=len(rows), own=True)
        for one in self.view.against("repaired"):
            label = _without(told(name_of(self.view, one)).text)
            yield Bar(label=label, hits=one.hits, n=one.n, wins=one.gain <= 0)

    def in_words(self, outcome: str) -> str:
        """What it said, and then said to new questions: to those on which it surely misled, or where the explanation
        helped to those that surely came true.
        """
        means = words.OUTCOMES.get(outcome)
        if means not in ("kept", "broken"):
            return ""
        tested = [
            (row.counterfactual, row.answer)
            for row in self.view.counted()
            if words.OUTCOMES.get(row.outcome("repaired")) == means and not row.reading("repaired").doubt
        ]
        begun, task = (self.view.explanation or "")[:_READ], self.view.spec.task if self.view.spec else "strategyqa"
        line = " ".join((reasons(begun, task) or begun).split())
        it_said = line if len(line) <= QUOTED else first_sentence(line, QUOTED)
        answers: dict[str, list[str]] = {}
        named = [(one, answer) for one, answer in tested if one and answer]
        for one, answer in named[:_MOST_NAMED]:
            question = first_sentence(one.context or one.text, _BRIEF)
            answers.setdefault(said(answer.repaired), []).append(f"“{question}”")
        to = [f"{answer} to {_and(questions)}" for answer, questions in answers.items()]
        as_expected = ", as one would expect from that" if means == "kept" else ""
        return f"It said: “{it_said}” Then it said {_and(to)}{as_expected}." if it_said and to else ""


def _of_exam(exam: Examined) -> str:
    how = "right in the exam" + ("" if exam.run else ", by its rules")
    return how if exam.passed else f"{how}: failed"


def _parts(post: str, response_1: str, response_2: str, known: set[str]) -> tuple[Part, ...]:
    """A post and its two responses."""
    labels = {"The post": post, "Response 1": response_1, "Response 2": response_2}
    return tuple(_shared(text, known, label) for label, text in labels.items())


def _shared(text: str, known: set[str], label: str = "") -> Part:
    """A text with those of its words that are `known` from the explanation."""
    return marked(((piece, "shared" if is_shared else None) for piece, is_shared in mark(text, known)), label)


def _value(read: str) -> str:
    """What was read as the scene has it: one of the options, or that nothing could be read."""
    return words.WORDS[NEITHER] if read == NEITHER else read


def _quote(call: Call | None, explanation: str = "") -> str:
    """The first sentence of a raw answer; of one that was asked for by its fields, of the reasons in it."""
    if call is None:
        return ""
    schema = call.asked.json_schema
    text = call.text if schema is None else explanation or json_answers.reason(call.text, schema)
    return first_sentence(text, QUOTED)


def _without(name: str) -> str:
    return name.removeprefix("the ")


def _and(parts: Sequence[str]) -> str:
    return " and ".join(filter(None, (", ".join(parts[:-1]), *parts[-1:])))
