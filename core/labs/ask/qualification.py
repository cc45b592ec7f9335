"""The qualification test of a predictor: explanations by robots, each with a new question whose right guess is known. A
model takes it as a run, the score of a control follows from its rules, and people may take it by hand.

After Chen et al. 2023, section 4.4: only people who got 9 of 11 right could annotate (docs/measuring.md §2.11).
"""

import math
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from functools import cache
from typing import Any, ClassVar, Literal, Self

from pydantic import model_validator

from ...events import Frozen, Model, Rules
from ...models.ids import is_control, is_free
from ...package_data import rows
from ...parsers import fields
from ...parsers.fields import Answers
from ...rulesets import RULES
from ...runs.context import CaseContext
from ...scene import Card, Claim, Expect, Part, Scene, Who
from ...score import Figure, Score, share, undefined
from ..base.declared import Metric
from ..base.lab import Game, Prerequisite, PriorResults
from ..base.qualification import QualificationSpec, QualificationTest, QualificationView, hash_of
from ..base.report import Playable
from . import parse, prompts, world
from .controls import controls
from .records import GUESSES, NEITHER, UNKNOWN, ExamGuess, Examined
from .tasks import AskSpec, Reads, simulating
from .view import SAYS_NOT, YES_OR_NO

LEAST_IN_STEPS = 34
"""Right guesses of 40 needed with stepwise prediction: 33 are possible with a perfect reading of claims and a useless
third step.
"""


class ExamQuestion(Frozen):
    """A robot's `answer` to `question` with its `explanation`, and the `right` guess about `counterfactual`: yes, no,
    or unknown for one that nobody can guess.
    """

    id: str
    kind: Literal["entailed yes", "entailed no", "not settled", "misleading words"]
    question: str
    answer: Literal["yes", "no"]
    explanation: str
    counterfactual: str
    right: Literal["yes", "no", "unknown"]

    @property
    def said(self) -> str:
        """The explanation of a robot that reasons first, with the answer at its end."""
        return f"{self.explanation} So the answer is {self.answer}."


@cache
def questions(long: bool = False) -> tuple[ExamQuestion, ...]:
    """Return the 11 questions of the test; in its `long` form 40, those 11 first."""
    short = rows("exam/short", "question", ExamQuestion)
    return short + rows("exam/further", "question", ExamQuestion) if long else short


def needed(of: int) -> int:
    """Return the number of right guesses needed to pass: 9 of 11, or at least that share of a longer test."""
    return math.ceil(9 * of / 11)


def best_habit(right: Iterable[str]) -> int:
    """Return the number of right guesses of the best fixed answer. Guessing blindly gets a third on average."""
    return max(Counter(right).values())


def judge(marks: Sequence[tuple[str, str]], of: int, least: int = 0, cut: int = 0) -> Score:
    """Return the share of right guesses, in [0, 1], with Wilson's interval. `marks`: each guess with the right one.

    An unreadable guess counts as wrong, because nobody could use it. `detail`: the number of `right` guesses, the
    number `needed`, whether the test is `passed`, how many guesses were `unread`, and the score of the `best_habit`. At
    least `least` right guesses are needed. Undefined if there are fewer guesses than `of`, or if the `cut` guesses,
    those cut off by a token limit, decide whether the model passes.
    """
    if len(marks) < of or not marks:
        return undefined(of, f"{of - len(marks)} of {of} questions have no answer")
    right = sum(guess == wanted for guess, wanted in marks)
    wanted = max(needed(of), least)
    if right < wanted <= right + cut:
        return undefined(of, f"{cut} of {of} answers were cut, and with these it could have passed: allow more tokens")
    return share(
        right,
        of,
        of,
        right=right,
        needed=wanted,
        passed=right >= wanted,
        unread=sum(guess == NEITHER for guess, _ in marks),
        **({"cut": cut} if cut else {}),
        best_habit=best_habit(answer for _, answer in marks),
    )


class AskExamSpec(QualificationSpec):
    """The specification of the test: the model that takes it, and its prompt, that of a simulator of yes-or-no
    questions, at temperature 0.
    """

    role: ClassVar[str] = "simulator"

    title: str = "Exam of a predictor"
    long: bool = False
    reasoning: bool = True
    reads: Reads = "prose"
    answers: Answers = "prose"
    prompts: str | None = None

    @model_validator(mode="after")
    def _one_way(self) -> Self:
        if self.answers == "schema" and self.reads == "steps":
            raise ValueError("Prediction in steps works in prose only. Choose prose for the answers, or no steps.")
        return self

    @property
    def questions(self) -> tuple[ExamQuestion, ...]:
        """The questions of the test."""
        return questions(self.long)


def prompted(spec: AskExamSpec, question: str) -> AskSpec:
    """Return a run whose simulator would get the same prompt."""
    asked = spec.model_dump(include={"model", "reasoning", "answers", "prompts"})
    return AskSpec(question=question, **asked)


def cards(view: QualificationView, scene: Scene, seed: int) -> Iterator[Playable]:
    """Yield the questions of the test as cards, so that people can take it; the right guess takes the place of the
    actual answer. `seed` has no effect.
    """
    known = {} if view.spec is None else {one.id: one for one in view.spec.questions}
    for number, (item, one) in enumerate(view.marks.items(), start=1):
        if item not in known:
            continue
        card = Card(
            id=item,
            number=number,
            mark="kept" if one.right in GUESSES else "not settled",
            parts=(Part(text=one.counterfactual),),
            options={**YES_OR_NO, UNKNOWN: SAYS_NOT},
            expects=(Expect(who="the author of the test", value=one.right),),
            said=one.right,
            outcome=one.kind,
            calls=(one.call,),
        )
        yield Playable(
            card=card,
            claim=Claim(answer=one.answer, parts=(Part(text=known[item].said),)),
            title=one.question,
            asked=one.counterfactual,
            who=Who(shown="a robot", is_robot=True),
        )


class PredictorTest(QualificationTest):
    """The qualification test of a predictor."""

    name = "exam"
    title = "Predictor's qualification test"
    question = "Can this model tell what follows from an explanation?"
    about = (
        "Explanations by robots, some wrong on purpose, each with a new question. **What will the robot answer, or "
        "can nobody tell?** Anyone predicting from explanations should pass this first."
    )
    icon = ":material/school:"
    spec = AskExamSpec
    records = (ExamGuess,)
    result = Examined
    metrics = (
        Metric("exam", "Qualification test", "The share of guesses that are right. 9 of 11 pass.", "share", leads=True),
    )
    game = Game(cards=cards)
    listed = "These passed, and predict if you choose nobody"
    none = (
        "No available model passed the qualification test, except robots, which know only their small world. So none "
        "can make predictions that count. Connect a larger model and let it take the test, or predict the answers "
        "yourself: choose *Let me guess first* on the Ask page."
    )

    async def ask(self, spec: AskExamSpec, run: CaseContext, item: str, question: ExamQuestion) -> None:
        asked = question.counterfactual
        if spec.reads == "steps" and not is_control(spec.model):
            found = await prompts.predict(run, spec.model, question.said, asked, item, item)
            call, cut_note, guesses = found.call, found.cut, dict(found.by_rules())
        else:
            starter = {"question": question.question}
            run_spec = prompted(spec, question.question)
            prompt = prompts.simulate(run_spec, starter, question.said, question.answer, {"question": asked})
            sampling = fields.sampling(simulating("strategyqa", 1, 0), prompt)
            answered = await run.ask("simulator", prompt, spec.model, sampling=sampling, item=item, trial=item)
            schema = prompt.json_schema
            texts = {rules: fields.readable(answered, rules, schema) for rules in RULES}
            guesses = {rules: parse.simulation(text, "strategyqa", rules, schema) for rules, text in texts.items()}
            call, cut_note = answered.call, answered.cut_note if texts["repaired"] is None else ""
        run.record(ExamGuess(call=call, **question.model_dump(exclude={"id"}), **guesses), item, item)
        if cut_note:
            run.drop(item, fields.REASON, f"the guess was {cut_note}", "repaired", trial=item)

    def calls_per_question(self, spec: AskExamSpec) -> int:
        return prompts.CALLS if spec.reads == "steps" else 1

    def judge(self, view: QualificationView) -> Score:
        marks = [(one[view.rules], one.right) for one in view.marks.values()]
        in_steps = view.spec is not None and view.spec.reads == "steps" and view.spec.long
        lost = len(view.cut) if view.rules == "repaired" else 0
        return judge(marks, view.total, LEAST_IN_STEPS if in_steps else 0, lost)

    def scores(self, views: Sequence[QualificationView]) -> Iterator[Figure]:
        return fields.none_by_paper(super().scores)(views)

    def question_of(self, mark: ExamGuess) -> str:
        return f"{mark.question} “{mark.explanation} So the answer is {mark.answer}.” {mark.counterfactual}"

    def answers(self, mark: ExamGuess, rules: Rules) -> tuple[str, str | None]:
        return mark.right, mark[rules]

    def describe(self, score: Score) -> list[str]:
        detail = score.detail
        done = "It passed the qualification test" if detail["passed"] else "It failed the qualification test"
        habit = detail["best_habit"]
        lines = [
            f"{done}: {detail['right']} of {score.of} guesses are right, and {detail['needed']} are needed.",
            f"Random guessing gets {score.of / 3:.1f} on average; always giving the same guess gets {habit} at most.",
        ]
        if unread := detail["unread"] - (lost := detail.get("cut", 0)):
            lines.append(f"{unread} replies contain no readable guess: they score nothing.")
        if lost:
            lines.append(f"{lost} replies were cut at their token limit. They would not have changed the result.")
        return lines

    def prompts(self, spec: AskExamSpec) -> dict[str, str]:
        template = prompts.simulating(prompted(spec, "x"))
        asked = prompts.step_hashes() if spec.reads == "steps" else {template.id: template.hash}
        asked |= fields.hashes() if spec.answers == "schema" else {}
        return {**asked, "exam": hash_of(spec.questions)}

    def testable_robots(self) -> Mapping[str, Model]:
        return controls()

    def score_robot(self, robot: str) -> Score:
        small_world = world.load()
        marks = []
        for one in questions():
            question = small_world.read(one.counterfactual)
            guess = world.guess(one.said, question, small_world) if question else None
            marks.append((UNKNOWN if guess is None else "yes" if guess.yes else "no", one.right))
        return judge(marks, len(marks))

    def note(self, spec: AskExamSpec) -> str | None:
        in_steps = spec.reads == "steps"
        if spec != AskExamSpec(model=spec.model, reads=spec.reads, long=in_steps):
            return None
        return ", in three small steps" if in_steps else ""


TEST = PredictorTest()


# What an Ask run requires of its predictor


def exam_spec(spec: AskSpec, model: str) -> AskExamSpec:
    """Return the test that `model` must take to predict in that run. For stepwise prediction it is the long form: the
    steps were developed on the short one, so only the further questions measure their quality.
    """
    asked: dict[str, Any] = {"long": True}
    if spec.reads == "prose":
        asked = spec.model_dump(include={"reasoning", "prompts", "answers"})
    return AskExamSpec(model=model, reads=spec.reads, **asked)


def prerequisites(spec: AskSpec) -> list[Prerequisite | Frozen | None]:
    """Return the qualification test that each simulator of an Ask run should have taken, in order: the first one's
    decides whether there is a verdict. There is none for preferences.
    """
    found = spec.roles["simulator"]
    tested = spec.task == "strategyqa"
    return [TEST.required(exam_spec(spec, model), spec.exam) if tested else None for model in found]


def choose_predictor(
    spec: AskSpec, named: Collection[str], at_hand: Callable[[str], bool], results: PriorResults
) -> AskSpec:
    """Return `spec` with the best predictor, unless the user `named` one, and with its way of reading. Of the available
    models that passed the test, it is the one with the most right guesses; the explained model only if no other
    passed. If none passed, `spec` stays unchanged. It also stays for robots and replays, for tasks without
    a test, and for the original parser.
    """
    alone = spec.task != "strategyqa" or spec.rules == "paper" or is_free(spec.model)
    if alone or "simulator" in named or "simulators" in named:
        return spec
    both = spec.reads == "prose" and spec.votes == 1 and spec.answers == "prose"
    ways: tuple[Reads, ...] = ("prose", "steps") if both else (spec.reads,)
    found = [
        (one.simulator != spec.model, one.right / one.of, sat.reads == "prose", one.simulator)
        for sat, one in TEST.passed(at_hand, results)
        if sat.reads in ways and sat == exam_spec(spec.model_copy(update={"reads": sat.reads}), one.simulator)
    ]
    best = max(found, default=None)
    return spec.model_copy(update={"simulator": best[3], "reads": "prose" if best[2] else "steps"}) if best else spec
