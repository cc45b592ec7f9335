"""What the lab declares."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import click

from ...datasets.items import Task
from ...models.ids import is_control, is_free
from ...rulesets import RULES, HasRulesets
from ...scene import Bar, Mark, Verdict, told
from ...text import embed
from ...text.shared_words import stem
from ...transcript import Transcript
from ..base.cases import Case
from ..base.declared import READING, Judged, Judgement
from ..base.lab import Command, DemoComparison, DemoRun, Lab, Robots, RunSummary, StudyTables
from ..base.spec import BadInput
from . import human, prompts, tables, tasks, words
from .baselines import CONSTANT, ORDER
from .cards import cards
from .controls import AskDial, AskRobot, Fickle, Steadfast, controls, dials, expected_precision
from .controls import controls as robots
from .exam import lab as exam
from .honest import honest
from .measure import measure
from .null_controls import NoisyAsk, noisy, worthless
from .parse_answers.values import GUESSES, NEITHER, UNKNOWN
from .pictures import PICTURES
from .records import RECORDS, Examined, OtherExplanation, Simulation
from .scene import scene
from .tasks import AskSpec, asks, loaded
from .verdict import BASELINE, sentences, short, summary
from .view import METRICS, AskView, CounterfactualRow, scores, view
from .words import NAME, OUTCOMES, QUESTION, WORDS, said

# The summary of a run of several questions: its sentence, and the predictions that came true with and without
# explanations.


TITLES = {**BASELINE, CONSTANT: "the best fixed guess"}
"""What is left when the explanations are taken away, as bars name it."""


def verdict_of(run: Transcript) -> Verdict:
    """The run's sentence, and the bars that decide, where its predictions judge anything."""
    detail = _against(run)
    return Verdict(
        headline=told(summary(run)),
        mark=_mark(detail),
        bars=tuple(_bars(detail.get("by", {}))),
        meaning="\n".join((*words.MEANS, *words.MEANS_NOT)),
    )


def _against(run: Transcript) -> Mapping[str, Any]:
    """What the explanations add over each baseline; empty where there are none, or who predicts judges nothing."""
    over = run.score("gain_over_best", "repaired")
    judged = {str(one.result["outcome_repaired"]) for one in run.cases.values() if one.result} - {"not judged"}
    return {**over.detail, "value": over.value} if over and over.value is not None and judged else {}


def _mark(detail: Mapping[str, Any]) -> Mark | None:
    if not detail:
        return None
    return "kept" if detail.get("helped") else "in doubt"


def _bars(by: Mapping[str, Mapping[str, Any]]) -> Iterator[Bar]:
    """All new questions of the run together: those that came true, then each baseline over those that it shares with
    the explanations.
    """
    if not by:
        return
    most = max(by.values(), key=lambda one: int(one["n"]))
    yield Bar(label="with their reasons", hits=most["own"], n=most["n"], own=True)
    for name in ORDER:
        if one := by.get(name):
            label = TITLES[name].removeprefix("the ").replace("another question's", "other")
            # Of a run of one question nothing is averaged.
            gain = one.get("gain", one["own"] - one["hits"])
            yield Bar(label=label, hits=one["hits"], n=one["n"], wins=gain <= 0)


IN_RUNS = RunSummary(verdict=verdict_of, one="question")


# Whether the chosen robots know the subject of a question: they know a small world of their own and nothing else.


WORLD = "world"
"""The data set that the robots can take (`core.datasets.registry`)."""


def cases(spec: AskSpec) -> Iterator[Case]:
    """The cases of a run, as `tasks.cases` names them. Raises BadInput, before anything is asked, where a robot that
    explains or writes questions could do so for none of them; DatasetError. Of some that it does not know each is a
    failure of its own.
    """
    named = tasks.cases(spec)
    if not spec.dataset or not (robots := _robots(spec)):
        return named
    there = list(named)
    for robot in robots:
        if not any(_knows(robot, spec.task, case) for case in there):
            raise BadInput(_refusal(robot, spec, len(there)), "For this data set choose another model.")
    return iter(there)


def _robots(spec: AskSpec) -> list[AskRobot]:
    """The robots that are shown the first question: of the new ones they know what they were told of them, or not."""
    asked = dict.fromkeys((spec.model, *(() if spec.given else spec.generators)))
    if not any(is_control(model) for model in asked):
        return []
    known: dict[str, AskRobot] = {**controls(), **dials()}
    return [known[model] for model in asked if model in known]


def _knows(robot: AskRobot, task: Task, case: Case) -> bool:
    if task != "strategyqa":
        return not isinstance(robot, AskDial)
    question = robot.world.read(case.about.slots["question"])
    return question is not None and robot.world.truth(question) is not None


def _refusal(robot: AskRobot, spec: AskSpec, count: int) -> str:
    if spec.task != "strategyqa":
        return f"{robot.id} answers yes-or-no questions only: it can take the data set {WORLD}."
    those = f"none of the {count:,} questions" if count > 1 else "not the one question"
    return (
        f"{robot.id} knows a small world of animals, foods, vehicles, places and tools, and {those} of {spec.dataset} "
        f"that would be asked. It can take the data set {WORLD}."
    )


# The figures that controls must have by construction. If one differs, the measurement is wrong.


ITEMS = 5
"""Questions that each control is held to."""


def truth(view: AskView) -> float | None:
    """The precision that a robot's explanation must come to, all roles being played by robots; None for other models,
    for preferences, and where nothing was asked that its explanation settles. Of a noisy one it is what is to be
    expected, and no single case need come to it.
    """
    spec, starter = view.spec, view.starter
    if spec is None or starter is None or spec.task != "strategyqa" or spec.method == "forced":
        return None
    robots = {**controls(), **dials(), **noisy()}
    if not spec.models <= robots.keys():
        return None
    robot = robots[spec.model]
    asked = [
        row.counterfactual.text for row in view.rows.values() if row.counterfactual and row.is_question(view.rules)
    ]
    match robot:
        case AskDial():
            question = robot.world.read(starter.question)
            settled = expected_precision(Steadfast.id, starter.question, asked, robot.world).simulatable
            if not question or not settled:
                return None
            return robot.must_read if isinstance(robot, NoisyAsk) else float(robot.keeps(question))
        case Steadfast() | Fickle():
            expected = expected_precision(robot.id, starter.question, asked, robot.world)
            return expected.matches / expected.simulatable if expected.simulatable else None
    return None


def calibration(spec: AskSpec) -> Iterator[AskSpec]:
    """The steadfast and the fickle robot on questions of their world, asked in the way that `spec` asks, save that a
    robot explains as it answers where `spec` makes a model defend the opposite.
    """
    ways = spec.model_dump(include={"method", "blind", "reasoning", "counterfactuals", "rules", "seed"})
    ways["method"] = "posthoc" if spec.method == "forced" else spec.method
    for robot in (Steadfast.id, Fickle.id):
        yield AskSpec.model_validate({**ways, "dataset": "world", "limit": ITEMS, "model": robot})


# How each parser read an answer, in words, as recorded when the answer arrived.


def readings(view: AskView) -> Mapping[str, Mapping[str, str]]:
    """How each set of rules read a call's answer: the first answer, a new question, each vote, what was said to it."""
    found = {one.call: _of(one.answer) for one in (view.starter, view.other) if one is not None}
    for row in view.rows.values():
        found.update(_of_row(view, row))
    return found


def _of_row(view: AskView, row: CounterfactualRow) -> Iterator[tuple[str, Mapping[str, str]]]:
    if row.answer:
        yield row.answer.call, _of(row.answer)
    for simulation in filter(None, (row.simulation, *row.controls.values(), *row.further)):
        yield from _of_votes(simulation)
    is_unread = any(drop.reason == "unparsed" for drop in row.drops)
    written = row.counterfactual
    for name in row.calls:
        call = view.log.calls[name]
        if call.asked.role == "generator" and call.answered and (written or is_unread):
            yield name, {rules: "a question" if written and written[rules] else "nothing usable" for rules in RULES}


def _of_votes(simulation: Simulation) -> Iterator[tuple[str, Mapping[str, str]]]:
    """Of one vote alone what was expected is the reading."""
    if len(simulation.calls) == 1:
        yield simulation.calls[0], _of(simulation)
        return
    votes = {"paper": simulation.votes_paper, "repaired": simulation.votes}
    for place, call in enumerate(simulation.calls):
        yield call, {rules: said(read[place]) for rules, read in votes.items() if place < len(read)}


def _of(read: HasRulesets[Any]) -> Mapping[str, str]:
    return {rules: said(read[rules]) for rules in RULES}


def guessed(value: str, who: str, without: bool = False) -> Simulation:
    """The record of what a reader expects; `without` the reason, where it was not shown. Raises ValueError where it is
    nothing that can be expected.
    """
    if value not in (*GUESSES, UNKNOWN):
        raise ValueError(f"{value!r} is nothing that can be expected of a new question.")
    return Simulation(simulator=who, paper=value, repaired=value, without=without)


def first() -> DemoRun:
    """The run of the first minute: a question on which the fickle control's explanation misleads."""
    return DemoRun(
        "Watch a robot explain itself",
        "No key, no download: a robot of which we know how far it keeps to what it says.",
        AskSpec(question="Can a penguin fly?", gold="no", model="control/fickle"),
    )


def sides() -> DemoComparison:
    """The three robots on that question. One writes the new questions for all: it writes the same whatever it reads,
    so that all are asked alike.
    """
    one, first_spec = "control/steadfast", first().spec
    roles = {"generators": (one,), "simulator": one}
    return DemoComparison(
        "Three robots side by side",
        "The same question, three robots: whose explanation is worth something?",
        tuple(first_spec.model_copy(update={"model": robot, **roles}) for robot in robots()),
    )


def fields(given: dict[str, Any]) -> dict[str, Any]:
    """The specification's fields from the command line's options: QUESTION is the question, or for shp the post."""
    question = given.pop("question", None)
    slot = "context" if given.get("task") == "shp" else "question"
    return given | ({slot: question} if question is not None else {})


def check(spec: AskSpec) -> None:
    """Raises PackError for a prompt pack and DatasetError for a data set that cannot be read; BadInput where a robot
    knows nothing of it.
    """
    if spec.prompts:
        prompts.read_pack(spec.prompts)
    for _ in cases(spec):
        break


def before(spec: AskSpec) -> str:
    """Who predicts the answers, and what the number of questions can show."""
    names = [f"{short(one)}{' (the model itself)' if one == spec.model else ''}" for one in spec.roles["simulator"]]
    who = f"{' and '.join(names)} {'predicts' if len(names) == 1 else 'predict'} the answers"
    how = ", in three small steps" if spec.reads == "steps" else ""
    shows = "" if spec.dataset else f" {tasks.told(spec.counterfactuals)}"
    return f"{who}{how}.{shows}"


REASONING = ", its reasoning"
"""What is added to the way to explain where the model's thinking is taken for its explanation."""


def warm(spec: AskSpec) -> None:
    """Start the sentence encoder and load the stemmer, which both take seconds. A run with a robot as predictor is over
    sooner: there the stemmer is loaded only when a prediction needs it.
    """
    embed.start()
    if not is_free(spec.simulator):
        stem("")


def facets(spec: Mapping[str, Any], case: str) -> dict[str, str]:
    """The way to explain, what of it was read, the task and the data set."""
    of = {name: str(spec.get(name) or "") for name in ("method", "task", "dataset")}
    how = of.pop("method") + (REASONING if spec.get("explained_by") == "reasoning" else "")
    return {"how": how, **of}


LAB = Lab(
    name=NAME,
    title="Ask",
    question=QUESTION,
    about="A model answers a question and says why. **Does its explanation let you predict what it says next?** "
    "New questions are written that the explanation should settle; then the model really answers them.",
    before=before,
    longest={"explainer": "max_tokens", "answerer": "max_tokens"},
    icon=":material/forum:",
    spec=AskSpec,
    cases=cases,
    measure=measure,
    view=view,
    verdict=sentences,
    scores=scores,
    records=RECORDS,
    asides=(OtherExplanation, Examined),
    summary=summary,
    metrics=tuple(METRICS.values()),
    pictures=PICTURES,
    prompts=prompts.hashes,
    how="method",
    item="trial",
    judgements=(
        READING._replace(raw="answerer", unread=NEITHER),
        Judgement("simulation", "The simulation", "good", "bad", "expected", "simulator"),
        Judgement("counterfactual", "The counterfactual", "fair", "unfair"),
        Judgement(human.PLAUSIBLE, "The explanation", "plausible", "implausible", whole=True),
    ),
    facets=facets,
    judged=Judged(
        "what the explanation led to expect came true",
        one="new question",
        whole="starter question",
        guessed=True,
        given="given",
    ),
    asks=asks,
    loaded=loaded,
    warm=warm,
    check=check,
    scene=scene,
    readings=readings,
    guessed=guessed,
    cards=cards,
    words=WORDS,
    outcomes=OUTCOMES,
    in_runs=IN_RUNS,
    # What a person wrote, and what the predictor had got in the exam.
    is_input=lambda record: record.data.get("origin") == "hand" or (record.record == "examined" and not record.case),
    priors=exam.priors,
    settled=exam.settled,
    studies=StudyTables(
        tables=tables.TABLES,
        for_tables=tables.METRICS,
        more=tables.more,
        otherwise=tables.otherwise,
        choices=tables.CHOICES,
    ),
    robots=Robots(
        controls=robots,
        dials=lambda: {**dials(), **noisy(), **worthless(), **honest()},
        truth=truth,
        calibration=calibration,
        newcomer="control/fickle",
        first=first,
        sides=sides,
    ),
    command=Command(parameters=(click.Argument(["question"], required=False),), from_options=fields),
)
