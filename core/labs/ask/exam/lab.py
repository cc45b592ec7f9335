"""A model takes the qualification test of a predictor in a run of its own, so that each mark links to the raw
answer.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar, Self

from pydantic import model_validator

from ....events import Frozen
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
"""Right guesses of 40 needed with stepwise prediction: 33 are possible with a perfect reading of claims and a useless
third step.
"""


class AskExamSpec(exams.ExamSpec):
    """The specification of the test: the model that takes it, and its prompt, that of a simulator of yes-or-no
    questions, at temperature 0.
    """

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
        """The questions of the test."""
        return exam.questions(self.long)


def prompted(spec: AskExamSpec, question: str) -> AskSpec:
    """Return a run whose simulator would get the same prompt."""
    asked = spec.model_dump(include={"model", "reasoning", "answers", "prompts"})
    return AskSpec(question=question, **asked)


async def measure(spec: AskExamSpec, case: Case, run: CaseContext) -> None:
    """Have the model answer every question."""

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
    await run.map_items({one.id: one for one in case.about}, step if in_steps else ask)


@dataclass
class AskExamView(exams.ExamView):
    """A test in progress or finished, with a guess for each answered question."""

    spec: AskExamSpec | None
    marks: dict[str, ExamGuess]

    @property
    def score(self) -> Score:
        marks = [(one[self.rules], one.right) for one in self.marks.values()]
        in_steps = self.spec is not None and self.spec.reads == "steps" and self.spec.long
        lost = len(self.cut) if self.rules == "repaired" else 0
        return exam.judge(marks, self.total, LEAST_IN_STEPS if in_steps else 0, lost)

    @cached_property
    def cut(self) -> set[str]:
        """The questions whose guess was cut off by a token limit: the updated parser reads none there."""
        return {drop.item for drop in self.log.drops if drop.reason == cut.REASON}

    @cached_property
    def _items(self) -> dict[str, str]:
        return {mark.call: item for item, mark in self.marks.items()}

    def about(self, mark: ExamGuess) -> str:
        return f"{mark.question} “{mark.explanation} So the answer is {mark.answer}.” {mark.counterfactual}"

    def reading(self, mark: ExamGuess) -> Reading:
        guess = mark[self.rules]
        if self.rules == "repaired" and self._items.get(mark.call) in self.cut:
            return Reading(expected=mark.right, observed=guess, outcome="unread", counts=False, reason=cut.REASON)
        outcome = "right" if guess == mark.right else "unread" if guess == parse.NEITHER else "wrong"
        return Reading(expected=mark.right, observed=guess, outcome=outcome, counts=True)


def view(log: CaseLog) -> AskExamView:
    """Build the view of a test from its log. Never raises: whatever is missing or damaged in the journal is missing in
    the view.
    """
    return exams.view_as(AskExamView, AskExamSpec, ExamGuess, log)


@fields.none_by_paper
def scores(views: Sequence[AskExamView]) -> Iterator[Figure]:
    """Yield the share of right guesses, by each parser."""
    for one in views:
        for rules in RULES:
            yield Figure("exam", rules, one.by(rules).score)


def sentences(view: AskExamView) -> list[str]:
    """Say whether the model passed, what passing takes, and what guessing without thought would score."""
    score = view.score
    if score.value is None:
        return view.without_result()
    detail = score.detail
    done = "It passed the qualification test" if detail["passed"] else "It failed the qualification test"
    lines = [
        f"{done}: {detail['right']} of {score.of} guesses are right, and {detail['needed']} are needed.",
        f"Guessing blindly gets {score.of / 3:.1f} on average, always the same guess {detail['best_habit']} at most.",
    ]
    if unread := detail["unread"] - (lost := detail.get("cut", 0)):
        lines.append(f"{unread} replies contain no readable guess: they score nothing.")
    if lost:
        lines.append(f"{lost} replies were cut at their token limit. They would not have changed the result.")
    return lines


# What an Ask run requires of its predictor


def examined(state: Transcript) -> Examined | None:
    """Return the result of a qualification test run; None if it has none."""
    paper = state.score("exam", "paper")
    if paper is None:
        return None
    # The original parser cannot read JSON answers, so it has no result if answers were requested in that form.
    return exams.result(state, "exam", Examined, "simulator", right_paper=paper.detail.get("right", 0))


def by_its_rules(robot: str) -> Examined:
    """Return the score of a control of this lab, computed without asking it: it reads claims as `world_claims.guess`
    does.
    """
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
    """Return the qualification test that each simulator of an Ask run should have taken, in order; for a control, its
    known result. None if there is no test: for preferences, for answers replayed from another run, and for people.
    """
    return [_prior_of(spec, simulator) for simulator in spec.roles["simulator"]]


def prior(spec: AskSpec) -> Prerequisite | Frozen | None:
    """Return the entry of the first simulator, whose test decides whether there is a verdict."""
    return priors(spec)[0]


def _prior_of(spec: AskSpec, simulator: str) -> Prerequisite | Frozen | None:
    if spec.task != "strategyqa" or simulator.startswith(("replay/", "reader/")):
        return None
    if is_control(simulator):
        return by_its_rules(simulator) if simulator in controls() else None
    return Prerequisite(LAB, sitting_of(spec, simulator), examined, wanted=spec.exam)


def settled(spec: AskSpec, named: Collection[str], at_hand: Callable[[str], bool], made: Made) -> AskSpec:
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
        for sat, one in _passed(at_hand, made)
        if sat.reads in ways and sat == sitting_of(spec.model_copy(update={"reads": sat.reads}), one.simulator)
    ]
    best = max(found, default=None)
    return spec.model_copy(update={"simulator": best[3], "reads": "prose" if best[2] else "steps"}) if best else spec


def sitting_of(spec: AskSpec, model: str) -> AskExamSpec:
    """Return the test that `model` must take to predict in that run. For stepwise prediction it is the long form: the
    steps were developed on the short one, so only the further questions measure their quality.
    """
    asked: dict[str, Any] = {"long": True}
    if spec.reads == "prose":
        asked = spec.model_dump(include={"reasoning", "prompts", "answers"})
    return AskExamSpec(model=model, reads=spec.reads, **asked)


def _passed(at_hand: Callable[[str], bool], made: Made) -> Iterator[tuple[AskExamSpec, Examined]]:
    """Yield the available models that passed. Robots are left out, because they know only their small world."""
    for sat, one in made(LAB, examined):
        if not isinstance(sat, AskExamSpec) or not isinstance(one, Examined) or is_control(one.simulator):
            continue
        if one.passed and at_hand(one.simulator):
            yield sat, one


def summed(at_hand: Callable[[str], bool], made: Made) -> str:
    """Say which of the available models passed with the prompts that runs use, with their results, or what follows if
    none did.
    """
    results = [
        f"`{one.simulator}` ({one.right} of {one.of}{', in three small steps' if sat.reads == 'steps' else ''})"
        for sat, one in _passed(at_hand, made)
        if sat == AskExamSpec(model=one.simulator, reads=sat.reads, long=sat.reads == "steps")
    ]
    if results:
        return f"These passed, and predict where nobody is named: {', '.join(results)}."
    return (
        "No available model passed the qualification test, except robots, which know only their small world. So none "
        "may judge here: connect a larger one and let it take the test, or predict the answers yourself, with "
        "*Let me guess first* on the page of Ask."
    )


def of_model(model: str) -> AskExamSpec | None:
    """Return the test for a model; None for a control that cannot predict."""
    return None if is_control(model) and model not in controls() else AskExamSpec(model=model)


def hashes(spec: AskExamSpec) -> dict[str, str]:
    """Return the hashes of the prompt's template and of the questions."""
    template = prompts.simulating(prompted(spec, "x"))
    asked = stepwise_simulation.hashes() if spec.reads == "steps" else {template.id: template.hash}
    asked |= fields.hashes() if spec.answers == "schema" else {}
    return {**asked, "exam": exams.hash_of(spec.questions)}


def check(spec: AskExamSpec) -> None:
    """Raises PromptPackError if the prompt pack cannot be read."""
    if spec.prompts:
        prompts.read_pack(spec.prompts)


def cards(view: AskExamView, scene: Scene, seed: int) -> Iterator[Playable]:
    """Yield the questions of the test as cards, so that people can take it; the right guess takes the place of the
    actual answer. `seed` has no effect.
    """
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
    "can nobody tell?** Anyone predicting from explanations should pass this first.",
    icon=":material/school:",
    spec=AskExamSpec,
    measure=measure,
    view=view,
    cards=cards,
    verdict=sentences,
    scores=scores,
    records=(ExamGuess,),
    metrics=(
        Metric("exam", "Qualification test", "The share of guesses that are right. 9 of 11 pass.", "share", leads=True),
    ),
    prompts=hashes,
    count_calls=lambda spec, cases: {
        "simulator": len(spec.questions) * (stepwise_simulation.CALLS if spec.reads == "steps" else 1)
    },
    check=check,
    spec_for_model=of_model,
    describe_test_results=summed,
    **exams.DECLARED,
)
