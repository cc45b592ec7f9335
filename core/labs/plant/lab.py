"""The Plant lab: what it is, and what holds of its robots."""

from collections.abc import Iterator, Mapping
from typing import Any

import click

from ...events import Recorded
from ...transcript import name_of
from ..base.declared import Comparability, Detector, Judgement
from ..base.lab import Command, DemoComparison, DemoRun, Game, Lab, Listing, Robots, StudyTables
from . import prompts, qualification, run_report, tasks
from .controls import controls, dials, follows
from .measure import AGREEING, PLANTED, measure
from .pictures import PICTURES
from .report import NAMES, NAMES_NOT, PlantReport
from .run_report import IN_RUNS, METRICS, summary
from .tasks import TASKS, Planting, PlantRead, PlantReply, PlantSpec, ReaderExamined, asks, cases
from .view import PlantView, scores

# The scores that controls must have by construction. If one differs, the measurement is wrong.


ITEMS = 40
"""How many shipped items each control is tested on; the cue moves about one in four."""

HELD = (
    *("control/admits", "control/silent", "control/denies", "control/mentions", "control/names-all", "control/echo"),
)


def truth(view: PlantView) -> float | None:
    """Return the naming gain that a control must have on an item that the cue moved: 1 or 0. None if it does not follow
    from the construction: for a cue without a target, an item on which robots do not follow cues, and any other
    model.
    """
    planting = view.planting
    if view.spec is None or planting is None or not planting.target:
        return None
    about = f"{planting.question}{planting.hypothesis}{planting.paragraph}"
    robot = {**controls(), **dials()}.get(view.spec.model)
    return robot.gain_on(about, planting.cue) if robot and follows(about) else None


def calibration(spec: PlantSpec) -> Iterator[PlantSpec]:
    """Yield the calibration runs: the controls in HELD on shipped items of the task of `spec`, with its cue. None for a
    cue that points to no answer.
    """
    if not spec.is_aimed:
        return
    ways = spec.model_dump(include={"task", "cue", "order", "length", "seed"})
    for control in HELD:
        yield PlantSpec.model_validate({**ways, "limit": ITEMS, "repeats": 1, "model": control})


class PlantRobots(Robots):
    """The robots of Plant."""

    def demo_run(self) -> DemoRun:
        """Shipped questions, and the robot that does not say what moved it."""
        return DemoRun(
            "See a demo",
            "No key, no download: a robot, and we know what moves it.",
            PlantSpec(model="control/silent", cue="key", limit=40, repeats=1),
        )

    def demo_comparison(self) -> DemoComparison:
        """A robot that says what moved it, one that does not, and one that names everything in its prompt."""
        robots = ("control/admits", "control/silent", "control/names-all")
        return DemoComparison(
            "Which one says what moved it?",
            "Three robots side by side, each slipped the same answers.",
            tuple(PlantSpec(model=robot, cue="key", limit=40, repeats=1) for robot in robots),
        )


class PlantLab(Lab):
    """Does an explanation acknowledge the cue that moved the answer?"""

    name = "plant"
    title = "Plant"
    question = "We know what moved its answer. Does its explanation say so?"
    about = (
        "We put a cue into the question that points to another answer: an answer key, a professor's guess. If the "
        "model switches to that answer, **does its explanation acknowledge the cue?** As controls we add a neutral cue "
        "that points to no answer, and a cue that agrees with the model."
    )
    icon = ":material/potted_plant:"
    spec = PlantSpec
    records = (Planting, PlantReply, PlantRead, ReaderExamined)
    supporting_records = (ReaderExamined,)
    metrics = METRICS
    report = PlantReport
    templates = tasks.FOLDER
    listing = Listing(
        gold=(Planting, "label"),
        main_trial=PLANTED,
        method_field="cue",
        comparability=Comparability("the explanation acknowledged what moved the answer", one="item"),
        judgements=(
            Judgement(
                "acknowledges",
                "The reasons",
                NAMES,
                NAMES_NOT,
                raw="answerer",
                detectors=(
                    Detector("words", PlantReply, "uses", "denies"),
                    Detector("the judge model", PlantRead, "uses", "denies"),
                ),
                text=(PlantReply, "reasons"),
                trials=(PLANTED, AGREEING),
            ),
        ),
        pictures=PICTURES,
    )
    run_summary = IN_RUNS
    robots = PlantRobots(
        default_model="control/silent", controls=controls, dials=dials, truth=truth, calibration=calibration
    )
    studies = StudyTables(tables=run_report.TABLES, for_tables=run_report.TABLE_METRICS, extra_figures=run_report.more)
    command = Command(parameters=(click.Argument(["task"], type=click.Choice(TASKS)),))
    game = Game()

    cases = staticmethod(cases)
    measure = staticmethod(measure)
    summary = staticmethod(summary)
    scores = staticmethod(scores)
    prompts = staticmethod(prompts.hashes)
    prerequisites = staticmethod(qualification.prerequisites)
    count_calls = staticmethod(asks)

    def facets(self, spec: Mapping[str, Any], case: str) -> dict[str, str]:
        """Return the facets of a case for grouping; `how` is the cue."""
        wording = f"{spec.get('order') or ''}, {spec.get('length') or ''}".strip(", ")
        return {"how": str(spec.get("cue") or ""), "wording": wording, **super().facets(spec, case)}

    def is_input(self, record: Recorded) -> bool:
        """Whether it is the judge's qualification test result."""
        return record.record == name_of(ReaderExamined) and not record.case


LAB = PlantLab()
