"""The two tasks of the paper, the three ways to explain, and the specification of a run."""

import random
from collections.abc import Iterator, Mapping, Sequence
from functools import cache, lru_cache
from typing import Annotated, Any, ClassVar, Literal, NamedTuple, Self

from pydantic import Field, StringConstraints, model_validator

from ...datasets.registry import OnData
from ...events import Frozen, Rules, Sampling
from ...models.ids import is_control
from ...package_data import rows, table
from ...parsers.fields import Answers
from ...text.compare import content_words
from ...text.embed import AUTO, Choice
from ...text.templates import PAPER, PROSE_ONLY
from ..base.report import Case
from ..base.spec import Sampled
from . import baselines
from .records import OPERATIONS, PAIR, CounterfactualPair

Task = Literal["strategyqa", "shp"]
Arm = Literal["explanation", "none", "swapped", "question_only"]
"""What the simulator sees of the model: its explanation, its answer alone, its answer with its reasons for another
question, or only the new question. All except the first are controls.
"""
CONTROL_ARMS: tuple[Arm, ...] = ("none", "swapped", "question_only")
Method = Literal["cot", "posthoc", "forced"]
Reads = Annotated[
    Literal["prose", "steps"],
    Field(
        description="prose: one answer in its own words; steps: three small questions, for small models",
        exclude_if=lambda reads: reads == "prose",
    ),
]
"""How a simulator is asked: for one answer in its own words, or in small steps (`prompts.py`)."""

COUNTERFACTUALS = {"strategyqa": 10, "shp": 6}
"""How many counterfactuals the paper uses per explanation (section 4.3), when it judges many explanations together."""

SINGLE = 24
"""How many are used for a single explanation, so that a perfect one is recognised at least four times in five
(`benchmarks/ask_power.py`, docs/measuring.md §2.10).
"""

MOST = 60

PERSON = "reader/you"
"""The predictor of a run in which no model predicts: its visitors do, on its page, and their guesses have journals of
their own. It is no model and is never asked.
"""


def usual(task: str, single: bool, model: str) -> int:
    """Return the default number of new questions per explanation. Models that run in this process are too slow for the
    number that a verdict on a single explanation needs, and most kinds in the robots' world have no more than a
    dozen things.
    """
    few = COUNTERFACTUALS.get(task, 10)
    return SINGLE if single and not model.startswith(("local/", "control/")) else few


LONGEST = 8_000
"""Maximum number of characters in a question, a post or a response. With the demonstrations, longer ones fit few
models' contexts.
"""


class WrittenQuestion(Frozen):
    """A new question that is asked unchanged: its `text` and, for a preference, its parts."""

    text: str
    context: str = ""
    response_1: str = ""
    response_2: str = ""


class AskSpec(Sampled, OnData):
    """Whose explanations are tested, and how.

    Without a `dataset` there is one question: `question` for strategyqa; `context`, `response_1`, `response_2` for shp.
    `generators` and `simulator` are model ids, by default the explained model's own. `given` holds new questions that
    were written from the explanation of the run `given_from`; then no others are written, so that explanations of one
    question are compared on the same new questions. `explanation`, for `answer`, is one that is given for the one
    question; then the model is not asked for its own.
    """

    LENGTH_FIELDS: ClassVar[Mapping[str, str]] = {"explainer": "max_tokens", "answerer": "max_tokens"}

    counted = "questions"

    task: Task = "strategyqa"
    method: Method = "cot"
    explained_by: Literal["answer", "reasoning"] = Field(
        default="answer",
        description="answer: the reasons in its answer; reasoning: what it thought before, where that is shown whole",
        exclude_if=lambda by: by == "answer",
    )
    """Which text is used as the explanation."""
    question: str = Field(default="", max_length=LONGEST)
    context: str = Field(default="", max_length=LONGEST)
    response_1: str = Field(default="", max_length=LONGEST)
    response_2: str = Field(default="", max_length=LONGEST)
    gold: str | None = None
    explanation: str = Field(default="", max_length=LONGEST, exclude_if=lambda text: not text)
    answer: str = Field(default="", exclude_if=lambda text: not text)
    model: str
    generators: tuple[str, ...] = ()
    simulator: str = ""
    simulators: tuple[str, ...] = Field(default=(), max_length=5, exclude_if=lambda several: not several)
    blind: bool = False
    reasoning: bool = True
    reads: Reads = "prose"
    max_tokens: int | None = Field(default=None, ge=16, le=8192, exclude_if=lambda most: most is None)
    counterfactuals: int = Field(default=0, ge=0, le=MOST)
    answers: Answers = "prose"
    arms: tuple[Arm, ...] = ("explanation", "none", "swapped", "question_only")
    exam: bool = True
    votes: int = Field(default=1, ge=1, le=15)
    rules: Rules = "repaired"
    extra: tuple[str, ...] = ()
    given: tuple[WrittenQuestion, ...] = Field(default=(), max_length=MOST, exclude_if=lambda given: not given)
    given_from: str = Field(default="", exclude_if=lambda run: not run)
    prompts: str | None = None
    encoder: Choice = Field(default="auto", exclude_if=lambda name: name == AUTO)

    @model_validator(mode="before")
    @classmethod
    def _defaults(cls, given: object) -> object:
        if not isinstance(given, dict):
            return given
        filled = {key: value.strip() if isinstance(value, str) else value for key, value in given.items()}
        if "arms" in filled:
            filled["arms"] = tuple(dict.fromkeys(("explanation", *filled["arms"])))
        model = filled.get("model")
        filled["generators"] = tuple(filled.get("generators") or (model,))
        several = tuple(dict.fromkeys(filled.get("simulators") or ()))
        filled["simulator"] = filled.get("simulator") or next(iter(several), model)
        several = tuple(dict.fromkeys((filled["simulator"], *several)))
        filled["simulators"] = several if len(several) > 1 else ()
        if several == (PERSON,):
            # Nobody predicts without the explanation.
            filled["arms"] = ("explanation",)
        filled["counterfactuals"] = (
            len(filled.get("given") or ())
            or filled.get("counterfactuals")
            or usual(
                str(filled.get("task", "strategyqa")),
                not filled.get("dataset") and filled.get("rules") != "paper",
                str(model),
            )
        )
        return filled

    @model_validator(mode="after")
    def _whole(self) -> Self:
        if self.task == "strategyqa" and not (self.question or self.dataset):
            raise ValueError("There is no question. Write one that can be answered with yes or no.")
        if self.task == "shp" and not (self.dataset or (self.context and self.response_1 and self.response_2)):
            raise ValueError("A preference needs a post and two responses; at least one of the three is empty.")
        if self.reads == "steps" and (self.task != "strategyqa" or self.rules == "paper" or self.votes > 1):
            raise ValueError("Prediction in steps is for yes-or-no questions, with the updated parser and one vote.")
        if self.answers == "schema" and self.rules == "paper":
            raise ValueError("The original parser reads only prose. Choose prose, or the updated parser.")
        if self.answers == "schema" and self.prompts == PAPER:
            raise ValueError(PROSE_ONLY)
        if self.answers == "schema" and self.reads == "steps":
            raise ValueError("Prediction in steps works in prose only. Choose prose for the answers, or no steps.")
        if self.given and self.dataset:
            raise ValueError("Questions that are given belong to one starter question: do not name a data set as well.")
        if self.explanation and self.dataset:
            raise ValueError("An explanation that is given belongs to one question: do not name a data set as well.")
        if self.answer and not self.explanation:
            raise ValueError("There is an answer that is given, but no explanation for it.")
        if self.explanation and self.answer not in (("yes", "no") if self.task == "strategyqa" else ("1", "2")):
            raise ValueError("Say which answer the explanation is for: yes or no, or for a preference 1 or 2.")
        if PERSON in self.further_simulators or (self.simulators and self.simulator == PERSON):
            raise ValueError("Visitors predict alone: do not name a model as a predictor as well.")
        if self.is_given and (self.method == "forced" or self.explained_by == "reasoning"):
            raise ValueError("The explanations are given: the model cannot be made to defend an answer, or to think.")
        if len(self.generators) > 2:
            raise ValueError("At most two generators can take turns.")
        return self

    @property
    def roles(self) -> dict[str, tuple[str, ...]]:
        own = (self.model,)
        predict = self.simulators or (self.simulator,)
        return {"explainer": own, "generator": self.generators, "simulator": predict, "answerer": own}

    @property
    def models(self) -> set[str]:
        """The ids of all models that the run asks."""
        return super().models - {PERSON}

    @property
    def is_by_person(self) -> bool:
        """Whether no model predicts, only visitors do."""
        return self.simulator == PERSON

    @property
    def is_given(self) -> bool:
        """Whether the explanations are given, so that the model is not asked for its own."""
        return "explanation" in self.columns or bool(self.explanation)

    @property
    def further_simulators(self) -> tuple[str, ...]:
        """The predictors other than the first."""
        return self.simulators[1:]

    @property
    def control_arms(self) -> tuple[Arm, ...]:
        """The arms without the explanation."""
        return tuple(arm for arm in self.arms if arm != "explanation")


class Starter(NamedTuple):
    """The question to be explained: the slots of its prompt, and the correct answer if it is known. With `given`, an
    explanation and the answer that it is for, the model is not asked for its own.
    """

    slots: dict[str, str]
    gold: str | None
    given: tuple[str, str] | None = None


ONE = "question"
"""The id of the case if there is only one question."""


def cases(spec: AskSpec) -> Iterator[Case]:
    """Yield one case per question. Raises DatasetError."""
    if not spec.dataset:
        slots = {"question": spec.question} if spec.task == "strategyqa" else spec.model_dump(include=PAIR)
        own = (spec.explanation, spec.answer) if spec.explanation else None
        yield Case(ONE, Starter(slots, spec.gold, own), spec.question or spec.context)
        return
    for item in spec.chosen_items()[0]:
        if spec.task == "strategyqa":
            slots = {"question": item.question}
        else:
            slots = {"context": item.paragraph, "response_1": item.choices[0], "response_2": item.choices[1]}
        given = (item.explanation, item.said) if item.explanation else None
        about = Starter(slots, item.label, given)
        yield Case(item.id.replace("/", "-"), about, item.question or item.paragraph, item.extra)


class Draw(NamedTuple):
    """One counterfactual to write: the model that writes it, the blind operation if any, and the number of that model's
    draw.
    """

    generator: str
    operation: str | None
    repeat: int


def draws_of(spec: AskSpec) -> dict[str, Draw]:
    """Return the counterfactuals that may be written, in order.

    With one generator there are as many draws as are wanted. With two, they take turns and each makes that many draws,
    so that for the updated parser repeats can be replaced, and for the original one there are two pools to sample from.
    """
    draws = [
        Draw(generator, OPERATIONS[repeat % len(OPERATIONS)] if spec.blind else None, repeat)
        for repeat in range(spec.counterfactuals)
        for generator in spec.generators
    ]
    return {f"cf-{number:02}": draw for number, draw in enumerate(draws, start=1)}


def asks(spec: AskSpec, cases: int) -> dict[str, int]:
    """Return the number of calls of a run over `cases` questions if nothing is dropped, by role."""
    explain = 0 if spec.is_given else (2 if spec.method == "forced" else 1) + ("swapped" in spec.arms)
    # As in the paper, all draws of all generators are made before any is chosen.
    draws = 0 if spec.given else spec.counterfactuals * (len(spec.generators) if spec.rules == "paper" else 1)
    trials = spec.counterfactuals + len(spec.extra)
    shown = sum(arm in ("explanation", "swapped") for arm in spec.arms) + len(spec.further_simulators)
    steps = 2 * shown if spec.reads == "steps" else 0
    simulations = trials * spec.votes * (len(spec.arms) + len(spec.further_simulators) + steps)
    simulations = 0 if spec.is_by_person else simulations
    each = {"explainer": explain, "generator": draws, "simulator": simulations, "answerer": trials}
    return {role: cases * calls for role, calls in each.items()}


def calls(spec: AskSpec, cases: int) -> int:
    """Return the number of calls of a run over `cases` questions if nothing is dropped."""
    return sum(asks(spec, cases).values())


# Sampling as in the authors' code (docs/measuring.md §2.3): temperature, tokens and stop of each stage.


def explaining(spec: AskSpec) -> Sampling:
    """Return the sampling of the explained model, the same for every question: the authors' settings (Chen et al. 2023)
    unless the specification changes them. If it sets a maximum length, answers do not stop at a blank line; if it
    sets a temperature, the seed is used.
    """
    stop = ("\n\n",) if spec.max_tokens is None else ()
    seed = spec.seed if spec.temperature else None
    return spec.sampled(Sampling(temperature=0, max_tokens=spec.max_tokens or 200, stop=stop, seed=seed))


def generating(task: Task, seed: int) -> Sampling:
    """Return the authors' settings for generating counterfactuals of `task` (Chen et al. 2023), with `seed`."""
    if task == "strategyqa":
        return Sampling(temperature=1, top_p=1, max_tokens=50, stop=("\n\n",), seed=seed)
    return Sampling(temperature=1, top_p=1, max_tokens=512, seed=seed)


def simulating(task: Task, votes: int, seed: int) -> Sampling:
    """Return the sampling of a simulation: temperature 0 for a single vote, 1 for each of several."""
    tokens, stop = (200, "\n") if task == "strategyqa" else (100, "\n\n")
    if votes == 1:
        return Sampling(temperature=0, max_tokens=tokens, stop=(stop,))
    return Sampling(temperature=1, max_tokens=tokens, stop=(stop,), seed=seed)


# What a given number of new questions can show about one explanation, computed before any is asked.


TRIES = 1000


@cache
def recognised(n: int, precision: float = 1.0, baseline: float = 0.5, tries: int = TRIES) -> float:
    """Return how often an explanation is found to have helped, in [0, 1], if a share `precision` of its `n` predictions
    come true and each arm and a fixed answer are right on a share `baseline`. Simulated with a fixed seed.
    """
    chance = random.Random(f"{n}|{precision}|{baseline}")
    found = 0
    for _ in range(tries):
        own = [chance.random() < precision for _ in range(n)]
        said = [chance.random() < baseline for _ in range(n)]
        most = sum(said) * 2 >= n
        hits: dict[str, list[bool]] = {arm: [chance.random() < baseline for _ in range(n)] for arm in CONTROL_ARMS}
        hits[baselines.CONSTANT] = [one == most for one in said]
        against = [baselines.against(name, own, guessed) for name, guessed in hits.items()]
        found += baselines.helped([one for one in against if one is not None])
    return found / tries


def fewest(baseline: float = 0.5, wanted: float = 0.8, most: int = 60) -> int:
    """Return the smallest number of questions at which a perfect explanation is recognised with a probability of
    `wanted`; `most` if there is none.
    """
    return next((n for n in range(1, most + 1) if recognised(n, 1.0, baseline) >= wanted), most)


def sample_size_note(n: int) -> str:
    """Say in a sentence or two what `n` questions about a single explanation can show."""
    share = recognised(n)
    if share < 0.2:
        few = "1 question is" if n == 1 else f"{n} questions are"
        return f"{few} too few to show that an explanation helps: it takes {fewest()} to tell a good one from chance."
    return (
        f"With {n} questions a perfect explanation is recognised {share:.0%} of the time where guessing gets half of "
        f"them right, and {recognised(n, 1.0, 0.6):.0%} where it gets 60 %."
    )


# The starter questions and preference pairs shipped with the lab, stored under `data/questions/`.


_Slug = Annotated[str, StringConstraints(pattern=r"^[a-z0-9]+(-[a-z0-9]+)*$")]


class StarterQuestion(Frozen):
    """A yes/no question and its correct answer. `world`: the control robots can answer it too."""

    id: _Slug
    question: str
    answer: Literal["yes", "no"]
    topic: str
    why: str
    world: bool = False


class StarterPair(CounterfactualPair):
    """A post with two responses. `preferred` is the number of the more helpful one, "1" or "2"."""

    id: _Slug
    preferred: Literal["1", "2"]
    topic: str
    why: str


@cache
def questions() -> tuple[StarterQuestion, ...]:
    """Return every shipped yes/no question, in the order of the file."""
    return rows("questions/yes_no", "question", StarterQuestion)


class FollowUps(Frozen):
    """A yes-or-no question with its correct answer, and new questions that were written in advance to follow it."""

    question: str
    gold: Literal["yes", "no"]
    given: tuple[WrittenQuestion, ...]


CARDS = 4
"""How many follow-up questions a visitor predicts."""


@cache
def with_follow_ups() -> tuple[FollowUps, ...]:
    """Return the questions offered to a visitor who predicts a real model, in the order of the file. Each has the first
    follow-ups in the file of which two are correctly answered yes and two no, so that the facts favour no answer.
    """
    return tuple(
        FollowUps(question=one["question"], gold=one["gold"], given=_balanced(one["follow_ups"]))
        for one in table("questions/outguess")["question"]
        if one.get("offered")
    )


def predicted_by_person(model: str, **asked: Any) -> AskSpec:
    """Return a run in which `model` answers a question and its follow-ups, and visitors predict; `asked` holds the
    fields of `FollowUps`, and the run `given_from` which the follow-ups come, if any. No other calls are made: no
    question is written, no model predicts, and nothing is compared.
    """
    return AskSpec.model_validate({"model": model, "simulator": PERSON, **asked})


def _balanced(follow_ups: Sequence[Mapping[str, str]]) -> tuple[WrittenQuestion, ...]:
    """Return the first CARDS follow-ups, in their order, of which half have each answer."""
    chosen: dict[str, list[str]] = {"yes": [], "no": []}
    for one in follow_ups:
        chosen[one["gold"]].append(one["question"])
    kept = {question for questions in chosen.values() for question in questions[: CARDS // 2]}
    return tuple(WrittenQuestion(text=one["question"]) for one in follow_ups if one["question"] in kept)


@cache
def pairs() -> tuple[StarterPair, ...]:
    """Return every shipped preference pair, in the order of the file."""
    return rows("questions/preferences", "pair", StarterPair)


def another(spec: AskSpec, starter: Starter, seed: str) -> Starter | None:
    """Return a shipped question on another subject than `starter`, always the same for one seed; None if there is none.
    A control gets a question from its own world.
    """
    if spec.task == "strategyqa":
        of_world = is_control(spec.model)
        shipped = [Starter({"question": one.question}, one.answer) for one in questions() if one.world or not of_world]
    else:
        shipped = [Starter(one.model_dump(include=PAIR), one.preferred) for one in pairs()]
    others = [one for one in shipped if differs(one, starter)]
    return random.Random(seed).choice(others) if others else None


def another_case(spec: AskSpec, case: Case, run: str) -> Starter | None:
    """Return the next question of the same run that is on another subject than `case`, continuing with the first after
    the last; None if there is none.
    """
    asked = _of_run(spec, run)
    place = next((number for number, (id, _) in enumerate(asked) if id == case.id), 0)
    following = (about for _, about in (*asked[place + 1 :], *asked[:place]))
    return next((about for about in following if differs(about, case.about)), None)


@lru_cache(maxsize=8)
def _of_run(spec: AskSpec, run: str) -> tuple[tuple[str, Starter], ...]:
    """Return the run's cases by id, read only once per run because the file may change between runs."""
    return tuple((case.id, case.about) for case in cases(spec))


def differs(one: Starter, other: Starter) -> bool:
    """Whether two questions are on different subjects: they share no content word."""
    first, second = (content_words(" ".join(starter.slots.values())) for starter in (one, other))
    return first.isdisjoint(second)
