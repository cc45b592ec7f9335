"""What the lab declares."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import click

from ...text import embed
from ..base.declared import READING, Judged, Judgement
from ..base.lab import Command, First, InStudies, Lab, Robots, Sides
from . import human, power, prompts, tables
from .calibration import calibration, truth
from .cards import cards
from .control_support import cases
from .controls import controls as robots
from .controls import dials
from .exam import lab as exam
from .honest import honest
from .measure import measure
from .noisy import noisy
from .null_controls import worthless
from .parse_answers.values import GUESSES, NEITHER, UNKNOWN
from .pictures import PICTURES
from .readings import readings
from .records import RECORDS, Examined, OtherExplanation, Simulation
from .runs import IN_RUNS
from .scene import scene
from .tasks import AskSpec, asks, loaded
from .verdict import sentences, short, summary
from .view import METRICS, scores, view
from .words import NAME, OUTCOMES, QUESTION, WORDS


def guessed(value: str, who: str, without: bool = False) -> Simulation:
    """The record of what a reader expects; `without` the reason, where it was not shown. Raises ValueError where it is
    nothing that can be expected.
    """
    if value not in (*GUESSES, UNKNOWN):
        raise ValueError(f"{value!r} is nothing that can be expected of a new question.")
    return Simulation(simulator=who, paper=value, repaired=value, without=without)


def first() -> First:
    """The run of the first minute: a question on which the fickle control's explanation misleads."""
    return First(
        "Watch a robot explain itself",
        "No key, no download: a robot of which we know how far it keeps to what it says.",
        AskSpec(question="Can a penguin fly?", gold="no", model="control/fickle"),
    )


def sides() -> Sides:
    """The three robots on that question. One writes the new questions for all: it writes the same whatever it reads,
    so that all are asked alike.
    """
    one, first_spec = "control/steadfast", first().spec
    roles = {"generators": (one,), "simulator": one}
    return Sides(
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
    shows = "" if spec.dataset else f" {power.told(spec.counterfactuals)}"
    return f"{who}{how}.{shows}"


REASONING = ", its reasoning"
"""What is added to the way to explain where the model's thinking is taken for its explanation."""


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
    # The encoder takes seconds to start, so it starts beside the run; without one, the cosine says so.
    warm=lambda spec: embed.start(),
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
    studies=InStudies(
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
