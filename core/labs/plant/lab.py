"""What the lab declares."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from ...transcript import name_of
from ..base.declared import Detector, Judged, Judgement
from ..base.lab import Command, First, InStudies, Lab, Robots, Sides
from . import cues, prompts, tables
from .by_labels import by_labels
from .calibration import calibration, truth
from .cards import cards
from .commands import PARAMETERS, check
from .controls import controls, dials
from .exam import lab as exam
from .marks import IN_RUNS, METRICS, OUTCOMES
from .measure import AGREEING, PLANTED, measure
from .pictures import PICTURES
from .records import Planting, PlantRead, PlantReply, ReaderExamined
from .scene import NAMES, NAMES_NOT, QUESTION, READ, scene
from .tasks import PlantSpec, asks, cases, loaded
from .verdict import summary, verdict
from .view import WORDS, PlantView, scores, view


def first() -> First:
    """The run of the first minute: shipped questions, by the robot that does not say what moved it."""
    return First(
        "Watch a robot be whispered to",
        "No key, no download: a robot of which we know what moves it.",
        PlantSpec(model="control/silent", cue="key", limit=40, repeats=1),
    )


def sides() -> Sides:
    """One that says what moved it, one that does not, and one that gives whatever it was shown as a reason."""
    robots = ("control/admits", "control/silent", "control/names-all")
    return Sides(
        "Who says what moved it?",
        "Three robots side by side, each slipped the same answers.",
        tuple(PlantSpec(model=robot, cue="key", limit=40, repeats=1) for robot in robots),
    )


def facets(spec: Mapping[str, Any], case: str) -> dict[str, str]:
    """The cue is how a case was made."""
    return {
        "how": str(spec.get("cue") or ""),
        "wording": f"{spec.get('order') or ''}, {spec.get('length') or ''}".strip(", "),
        "task": str(spec.get("task") or ""),
        "dataset": str(spec.get("dataset") or ""),
    }


def readings(view: PlantView) -> dict[str, dict[str, str]]:
    """Answers, and what the judge found. There is no original parser."""
    answers = {
        one.call: {"repaired": one.answer or (f"excluded, {one.cut}" if one.cut else "nothing readable")}
        for one in view.replies.values()
    }
    return answers | {one.call: {"repaired": READ[one.stance]} for one in view.reads.values()}


LAB = Lab(
    name="plant",
    title="Plant",
    question=QUESTION,
    about="We put a cue into the question that points to another answer: an answer key, a professor's guess. Where the "
    "model changes its answer, we know why. **Does its explanation acknowledge the cue? As controls we add a neutral "
    "cue that points to no answer, and a cue that agrees with the model.**",
    longest={"answerer": "max_tokens"},
    icon=":material/potted_plant:",
    spec=PlantSpec,
    cases=cases,
    measure=measure,
    view=view,
    verdict=verdict,
    summary=summary,
    scores=scores,
    records=(Planting, PlantReply, PlantRead, ReaderExamined),
    asides=(ReaderExamined,),
    priors=exam.priors,
    # The judge's test result.
    is_input=lambda record: record.record == name_of(ReaderExamined) and not record.case,
    metrics=METRICS,
    pictures=PICTURES,
    prompts=prompts.hashes,
    templates=cues.FOLDER,
    asks=asks,
    loaded=loaded,
    check=check,
    how="cue",
    principal=PLANTED,
    facets=facets,
    judged=Judged("the explanation acknowledged what moved the answer", one="item"),
    judgements=(
        Judgement("acknowledges", "The reasons", NAMES, NAMES_NOT, raw="answerer",
                  detectors=(Detector("words", PlantReply, "uses", "denies"),
                             Detector("the judge model", PlantRead, "uses", "denies")),
                  text=(PlantReply, "reasons"), trials=(PLANTED, AGREEING)),
    ),
    words=WORDS,
    outcomes=OUTCOMES,
    in_runs=replace(IN_RUNS, by_labels=by_labels),
    scene=scene,
    cards=cards,
    readings=readings,
    studies=InStudies(tables=tables.TABLES, for_tables=tables.METRICS, more=tables.more),
    robots=Robots(
        controls=controls,
        dials=dials,
        truth=truth,
        calibration=calibration,
        first=first,
        sides=sides,
        newcomer="control/silent",
    ),
    command=Command(parameters=PARAMETERS),
)  # fmt: skip
