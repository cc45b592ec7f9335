"""A model sits the exam of a predictor: a run of its own, so that each mark leads to the raw answer."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar, Self

from pydantic import model_validator

from ....events import Frozen, Rules
from ....models.ids import is_control, is_free
from ....parsers import cut, fields
from ....parsers.fields import Answers
from ....rulesets import RULES
from ....runs.context import CaseContext
from ....scene import Card, Claim, Expect, Part, Scene, Who
from ....score import Figure, Score
from ....transcript import CaseLog, Transcript
from ...base import exam as exams
from ...base.cases import Case, Playable, Reading
from ...base.declared import Metric
from ...base.lab import Lab, Made, Prerequisite
from .. import json_answers, parse, prompts, stepwise_simulation, world, world_claims
from ..cards import SAYS_NOT
from ..controls import controls
from ..parse_answers.values import GUESSES, UNKNOWN
from ..records import ExamGuess, Examined
from ..tasks import AskSpec, Reads, simulating
from ..words import YES_OR_NO as OPTIONS
from . import exam
from .exam import ExamQuestion

LEAST_IN_STEPS = 34
"""Right guesses of 40 that steps need: a perfect reader of claims gets 33 whose third step is worth nothing."""


class AskExamSpec(exams.ExamSpec):
    """Who sits the exam, and by which prompt: that of a simulator of yes-or-no questions, at temperature 0."""

    case: ClassVar[str] = "exam"
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
        """What is asked."""
        return exam.questions(self.long)


def prompted(spec: AskExamSpec, question: str) -> AskSpec:
    """The run whose simulator would be sent the same prompt."""
    asked = spec.model_dump(include={"model", "reasoning", "answers", "prompts"})
    return AskSpec(question=question, **asked)


async def measure(spec: AskExamSpec, case: Case, run: CaseContext) -> None:
    """Ask every question."""

    async def step(item: str, one: ExamQuestion) -> None:
        found = await stepwise_simulation.predict(run, spec.model, one.said, one.counterfactual, item, item)
        run.record(ExamGuess(call=found.call, **one.model_dump(exclude={"id"}), **dict(found.by_rules())), item, item)
        exclude(item, found.cut)

    async def ask(item: str, one: ExamQuestion) -> None:
        prompt = prompts.simulate(
            prompted(spec, one.question),
            {"question": one.question},
            one.said,
            one.answer,
            {"question": one.counterfactual},
        )
        sampling = fields.sampling(simulating("strategyqa", 1, 0), prompt)
        answered = await run.ask("simulator", prompt, spec.model, sampling=sampling, item=item, trial=item)
        texts = {rules: cut.readable(answered, rules, prompt.json_schema) for rules in RULES}
        read = {
            rules: json_answers.simulation(texts[rules], prompt.json_schema, "strategyqa", rules) for rules in RULES
        }
        guess = ExamGuess(call=answered.call, **one.model_dump(exclude={"id"}), **read)
        run.record(guess, item, trial=item)
        if texts["repaired"] is None:
            exclude(item, answered.cut_note)

    def exclude(item: str, note: str) -> None:
        if note:
            run.drop(item, cut.REASON, f"the guess was {note}", "repaired", trial=item)

    in_steps = spec.reads == "steps" and not is_control(spec.model)
    await run.each({one.id: one for one in case.about}, step if in_steps else ask)


@dataclass
class AskExamView(exams.ExamView):
    """An exam as far as it has come: a guess to each question."""

    spec: AskExamSpec | None
    marks: dict[str, ExamGuess]

    def score(self, rules: Rules) -> Score:
        marks = [(one[rules], one.right) for one in self.marks.values()]
        in_steps = self.spec is not None and self.spec.reads == "steps" and self.spec.long
        lost = len(self.cut) if rules == "repaired" else 0
        return exam.judge(marks, self.of, LEAST_IN_STEPS if in_steps else 0, lost)

    @cached_property
    def cut(self) -> set[str]:
        """The questions whose guess a token limit cut short: the updated parser reads none there."""
        return {drop.item for drop in self.log.drops if drop.reason == cut.REASON}

    @cached_property
    def _items(self) -> dict[str, str]:
        return {mark.call: item for item, mark in self.marks.items()}

    def about(self, mark: ExamGuess) -> str:
        return f"{mark.question} “{mark.explanation} So the answer is {mark.answer}.” {mark.counterfactual}"

    def reading(self, mark: ExamGuess, rules: Rules) -> Reading:
        guess = mark[rules]
        if rules == "repaired" and self._items.get(mark.call) in self.cut:
            return Reading(expected=mark.right, observed=guess, outcome="unread", counts=False, reason=cut.REASON)
        outcome = "right" if guess == mark.right else "unread" if guess == parse.NEITHER else "wrong"
        return Reading(expected=mark.right, observed=guess, outcome=outcome, counts=True)


def view(log: CaseLog) -> AskExamView:
    """The exam that a log of this lab holds. Never raises: what a damaged journal lacks is missing from it."""
    return exams.view_as(AskExamView, AskExamSpec, ExamGuess, log)


@fields.none_by_paper
def scores(views: Sequence[AskExamView]) -> Iterator[Figure]:
    """The share of right guesses, as each set of rules reads them."""
    for one in views:
        for rules in RULES:
            yield Figure("exam", rules, one.score(rules))


def sentences(view: AskExamView) -> list[str]:
    """Passed or failed, what it takes, and the result of no thought at all."""
    score = view.score("repaired")
    if score.value is None:
        return view.without_result()
    detail = score.detail
    done = "It passed the exam" if detail["passed"] else "It failed the exam"
    lines = [
        f"{done}: {detail['right']} of {score.of} guesses are right, and {detail['needed']} are needed.",
        f"Guessing blindly gets {score.of / 3:.1f} on average, always the same guess {detail['best_habit']} at most.",
    ]
    if unread := detail["unread"] - (lost := detail.get("cut", 0)):
        lines.append(f"{unread} replies hold no guess that could be read: they earn nothing.")
    if lost:
        lines.append(f"{lost} replies were cut at their token limit. They would not have changed the result.")
    return lines


# What an Ask run stands on


def examined(state: Transcript) -> Examined | None:
    """What a run of this lab came to; None where it has no result."""
    paper = state.score("exam", "paper")
    if paper is None:
        return None
    # By paper rules there is no result where answers were asked for by their fields: none of them is read.
    return exams.result(state, "exam", Examined, "simulator", right_paper=paper.detail.get("right", 0))


def by_its_rules(robot: str) -> Examined:
    """What a control of this lab gets: it reads claims as `world_claims.guess` does, so there is no need to ask it."""
    small_world = world.load()
    marks = []
    for one in exam.questions():
        question = small_world.read(one.counterfactual)
        guess = world_claims.guess(one.said, question, small_world) if question else None
        marks.append((parse.UNKNOWN if guess is None else "yes" if guess.yes else "no", one.right))
    score = exam.judge(marks, len(marks))
    right = score.detail["right"]
    return Examined(simulator=robot, right=right, right_paper=right, of=score.of, passed=score.detail["passed"])


def priors(spec: AskSpec) -> list[Prerequisite | Frozen | None]:
    """The exam that each simulator of an Ask run should have sat, in their order: what it got where that is known
    without asking. None where there is no exam: for preferences, for the answers of another run, which hold no exam,
    and for people.
    """
    return [_prior_of(spec, simulator) for simulator in spec.roles["simulator"]]


def prior(spec: AskSpec) -> Prerequisite | Frozen | None:
    """That of the first simulator, whose exam decides whether there is a verdict."""
    return priors(spec)[0]


def _prior_of(spec: AskSpec, simulator: str) -> Prerequisite | Frozen | None:
    if spec.task != "strategyqa" or simulator.startswith(("replay/", "reader/")):
        return None
    if is_control(simulator):
        return by_its_rules(simulator) if simulator in controls() else None
    return Prerequisite(LAB, sitting_of(spec, simulator), examined, wanted=spec.exam)


def settled(spec: AskSpec, named: Collection[str], at_hand: Callable[[str], bool], made: Made) -> AskSpec:
    """`spec` with who predicts, where nobody was `named`, and how they read: of the models at hand that passed the exam
    the one that got most right, the explainer only where no other did; without any the explainer stays. So it does for
    robots, which are their own best predictors, for what has no exam, and under paper rules.
    """
    alone = spec.task != "strategyqa" or spec.rules == "paper" or is_free(spec.model)
    if alone or "simulator" in named or "simulators" in named:
        return spec
    both = spec.reads == "prose" and spec.votes == 1 and spec.answers == "prose"
    ways: tuple[Reads, ...] = ("prose", "steps") if both else (spec.reads,)
    found = [
        (one.simulator != spec.model, one.right / one.of, sat.reads == "prose", one.simulator)
        for sat, one in _passed(at_hand, made)
        if sat.reads in ways and sat == sitting_of(spec.model_copy(update={"reads": sat.reads}), one.simulator)
    ]
    best = max(found, default=None)
    return spec.model_copy(update={"simulator": best[3], "reads": "prose" if best[2] else "steps"}) if best else spec


def sitting_of(spec: AskSpec, model: str) -> AskExamSpec:
    """The exam that `model` sits to predict in that run. In steps it is the long form: these were written with the
    short one at hand, so that only the further questions tell what they are worth.
    """
    asked: dict[str, Any] = {"long": True}
    if spec.reads == "prose":
        asked = spec.model_dump(include={"reasoning", "prompts", "answers"})
    return AskExamSpec(model=model, reads=spec.reads, **asked)


def _passed(at_hand: Callable[[str], bool], made: Made) -> Iterator[tuple[AskExamSpec, Examined]]:
    """Who passed of the models that are at hand. Robots are left out: they know nothing but their small world."""
    for sat, one in made(LAB, examined):
        if not isinstance(sat, AskExamSpec) or not isinstance(one, Examined) or is_control(one.simulator):
            continue
        if one.passed and at_hand(one.simulator):
            yield sat, one


def summed(at_hand: Callable[[str], bool], made: Made) -> str:
    """Which models at hand passed as runs would ask them, with their results; and what holds where none did."""
    results = [
        f"`{one.simulator}` ({one.right} of {one.of}{', in three small steps' if sat.reads == 'steps' else ''})"
        for sat, one in _passed(at_hand, made)
        if sat == AskExamSpec(model=one.simulator, reads=sat.reads, long=sat.reads == "steps")
    ]
    if results:
        return f"These passed, and predict where nobody is named: {', '.join(results)}."
    return (
        "No model that is at hand passed the exam, robots aside, which know nothing but their small world. So no model "
        "may judge here: connect a larger one and let it take the exam, or predict the answers yourself, by "
        "*Let me guess first* on the page of Ask."
    )


def of_model(model: str) -> AskExamSpec | None:
    """The exam for a model; None for a control that plays no predictor."""
    return None if is_control(model) and model not in controls() else AskExamSpec(model=model)


def hashes(spec: AskExamSpec) -> dict[str, str]:
    """The hash of the prompt's template, and that of the questions."""
    template = prompts.simulating(prompted(spec, "x"))
    asked = stepwise_simulation.hashes() if spec.reads == "steps" else {template.id: template.hash}
    asked |= fields.hashes() if spec.answers == "schema" else {}
    return {**asked, "exam": exams.hash_of(spec.questions)}


def check(spec: AskExamSpec) -> None:
    """Raises PackError for a prompt pack that cannot be read."""
    if spec.prompts:
        prompts.read_pack(spec.prompts)


def cards(view: AskExamView, scene: Scene, seed: int) -> Iterator[Playable]:
    """The exam's questions as cards, for people to sit it: what came is the right guess. Nothing hangs on `seed`."""
    known = {} if view.spec is None else {one.id: one for one in view.spec.questions}
    for number, (item, one) in enumerate(view.marks.items(), start=1):
        if item not in known:
            continue
        right = Expect(who="who wrote the exam", value=one.right)
        card = Card(
            id=item,
            number=number,
            mark="kept" if one.right in GUESSES else "not settled",
            parts=(Part(text=one.counterfactual),),
            options={**OPTIONS, UNKNOWN: SAYS_NOT},
            expects=(right,),
            said=one.right,
            outcome=one.kind,
            calls=(one.call,),
        )
        claim = Claim(answer=one.answer, parts=(Part(text=known[item].said),))
        yield Playable(
            card=card,
            claim=claim,
            title=one.question,
            asked=one.counterfactual,
            who=Who(shown="a robot", is_robot=True),
        )


LAB = Lab(
    name="exam",
    title="Exam",
    question="Can this model tell what an explanation lets one expect?",
    about="Explanations by robots, some wrong on purpose, each with a new question. **What will the robot answer, or "
    "can nobody tell?** Who predicts from explanations should know.",
    icon=":material/school:",
    spec=AskExamSpec,
    measure=measure,
    view=view,
    cards=cards,
    verdict=sentences,
    scores=scores,
    records=(ExamGuess,),
    metrics=(Metric("exam", "Exam", "The share of guesses that are right. 9 of 11 pass.", "share", leads=True),),
    prompts=hashes,
    asks=lambda spec, cases: {
        "simulator": len(spec.questions) * (stepwise_simulation.CALLS if spec.reads == "steps" else 1)
    },
    check=check,
    of_model=of_model,
    summed=summed,
    **exams.DECLARED,
)
