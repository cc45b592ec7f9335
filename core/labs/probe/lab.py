"""The Probe lab: what it is, and what holds of its robots."""

from collections.abc import Iterator, Mapping
from statistics import fmean
from typing import Any

from ...events import Model, Recorded
from ...runs.context import CaseContext
from ...text import embed
from ..base.declared import READING, Comparability, Judgement
from ..base.lab import Command, DemoRun, DrawnCurves, Lab, Listing, Robots, RunSummary, StudyTables
from ..base.report import Case
from . import by_hand, commands, prompts, tables, units
from .controls import Mute, NoisyProbe, ProbeDial, controls, dials, noisy, worthless
from .functions.base import shape_of
from .functions.source import cases
from .pictures import PICTURES
from .prompts import PAPER_PROMPTS, SHOWN
from .records import METRICS, RECORDS
from .report import ProbeReport
from .tasks import NAMELESS, ProbeSpec, asks
from .view import ProbeView, scores

# The figures that controls must have by construction. If one differs, the measurement is wrong.


HALF = "control/dial-probe-0.5"
WHOLE = "control/dial-probe-1.0"

PROBES, TESTS = 300, 60
"""Calls per function, enough for all test points; unit tests, enough to show that a robot that knows the function tells
as much as the truth.
"""

FUNCTIONS = {
    "numeric": ("numeric-1-easy", "numeric-4-easy", "numeric-11-easy"),
    "strings": ("strings-1-easy", "strings-7-easy", "strings-8-easy"),
    "entities": ("entities-1-single", "entities-2-single", "entities-3-single"),
    "relations": ("relations-1-plain", "relations-2-plain", "relations-3-plain"),
}
"""The functions that the controls are tested on: without noise and chance, so that the robots can find them."""


def truth(view: ProbeView) -> float | None:
    """Return the value that the deciding figure must have if a control interpreted the function. None for other models,
    and if it is not known.

    - For numbers the error (NMSE) of a dial: the function's power on the points that the dial gets wrong, as a share of
      its power on all. None for functions with noise, and if the dial saw too little.
    - For texts the share of test texts that a dial gets right, if it found the function's steps.
    - For subjects and facts the share of tests whose true example a dial gets right, if the dial itself is the
      evaluator. For a noisy dial it is the expected value, which no single case need match.
    - For a robot that describes nothing the result of doing nothing: an error of 1, or the texts that the function
      leaves unchanged. For subjects and facts a dial does not pick by such a description, so nothing is defined.
    """
    spec = view.spec
    robot = {**dials(), **noisy(), **worthless()}.get(spec.model) if spec else None
    if spec is None or robot is None or view.truth is None:
        return None
    if spec.category == "numeric":
        return _of_numbers(view, robot)
    if spec.category == "strings":
        return _of_texts(view, robot)
    return _of_guesses(view, robot)


def _of_numbers(view: ProbeView, robot: object) -> float | None:
    true, seen = view.truth, {probe.input: probe.output for probe in view.probes}
    if true is None or true.noise or true.corrupted:
        return None
    points = [(f"{x:g}", y) for x, y in zip(true.x, true.y, strict=True) if y is not None]
    size = sum(y * y for _, y in points)
    if isinstance(robot, Mute):
        return 1.0 if size else None
    if not isinstance(robot, ProbeDial) or not size or any(x not in seen for x, _ in points):
        return None
    return sum(y * y for x, y in points if not robot.keeps(x, seen[x])) / size


def _of_texts(view: ProbeView, robot: object) -> float | None:
    if isinstance(robot, Mute):
        return view.value("exact_match_unchanged")
    code = view.interpretation.code.repaired if view.interpretation else ""
    tests = [one for one in view.predictions.values() if one.kind == "test"]
    if not isinstance(robot, ProbeDial) or not robot.is_found(code) or not tests:
        return None
    return fmean(robot.keeps_text(one.input) for one in tests)


def _of_guesses(view: ProbeView, robot: object) -> float | None:
    said = view.interpretation.description.repaired if view.interpretation else ""
    tests = [one for one in view.units.values() if one.about == "interpretation"]
    if view.spec is None or not tests:
        return None
    if not isinstance(robot, ProbeDial) or view.spec.evaluator != robot.id or not robot.is_found(said):
        return None
    if isinstance(robot, NoisyProbe):
        return robot.must_read
    return fmean(robot.keeps(*one.options[one.correct - 1].split(SHOWN)) for one in tests)


def calibration(spec: ProbeSpec) -> Iterator[ProbeSpec]:
    """Yield runs of the dial that knows the function, the dial that is right on half of its domain, and the robot that
    describes nothing, on functions of the same category. No model is called: a dial takes the unit tests. The
    dialogue follows the updated rules, because the robots name many inputs at once.
    """
    ways = {"category": spec.category, "functions": FUNCTIONS[spec.category], "probes": PROBES, "triplets": TESTS}
    for robot in (WHOLE, HALF, Mute.id):
        judge = HALF if robot == Mute.id else robot
        evaluator = judge if spec.category in ("entities", "relations") else ""
        yield ProbeSpec.model_validate({**ways, "model": robot, "evaluator": evaluator})


class ProbeRobots(Robots):
    """The robots of Probe."""

    def controls(self) -> Mapping[str, Model]:
        """Return the robots that interpret, and those that describe nothing."""
        return controls() | worthless()

    def dials(self) -> Mapping[str, Model]:
        """Return the dials and the noisy ones."""
        return dials() | noisy()

    def deciding_metric(self, view: ProbeView) -> str:
        """It depends on the category."""
        return view.headline

    def demo_run(self) -> DemoRun:
        """A line, probed by the control that invents outputs."""
        return DemoRun(
            "See a demo",
            "No key, no download: a robot, and we know how it works.",
            ProbeSpec(own="2 * x + 7", title="A first black box", model="control/inventor"),
        )


class ProbeLab(Lab):
    """Can a model explain a black box whose truth is known?"""

    name = "find"
    title = "Probe"
    question = "Can it explain a black box whose truth we know?"
    about = (
        "Here is a black box, and we know what is in it. **Can a model find out by experiment what it does, "
        "and say so?** It may only call the function; then we compare its description and code with the real function."
    )
    icon = ":material/experiment:"
    spec = ProbeSpec
    records = RECORDS
    metrics = METRICS
    report = ProbeReport
    listing = Listing(
        method_field="interpreter",
        comparability=Comparability("the function was found", one="function", nameless=NAMELESS),
        judgements=(READING, Judgement("interpretation", "The interpretation", "good", "bad")),
        annotations=units.TASKS,
        pictures=PICTURES,
    )
    run_summary = RunSummary(case_noun="function")
    robots = ProbeRobots(default_model="control/straight", truth=truth, calibration=calibration)
    studies = StudyTables(
        tables=tables.TABLES,
        for_tables=tables.METRICS,
        choices=tables.CHOICES,
        extra_figures=tables.more,
        further_figures=units.by_evaluator,
        traits=tables.traits,
        alternative_readings=tables.otherwise,
    )
    command = Command(parameters=commands.PARAMETERS, tools=commands.TOOLS, from_options=commands.fields)
    drawn_curves = DrawnCurves(by_hand.hits, by_hand.of_day)

    cases = staticmethod(cases)
    scores = staticmethod(scores)
    prompts = staticmethod(prompts.hashes)
    paper_prompts = PAPER_PROMPTS
    count_calls = staticmethod(asks)
    check = staticmethod(commands.check)

    async def measure(self, spec: ProbeSpec, case: Case, run: CaseContext) -> None:
        """Probe, conclude and score one function. What a run alone needs is imported here, the sandbox among it.

        Raises BadInputError and CallError as `core.labs.probe.measure` does.
        """
        from .measure import measure

        await measure(spec, case, run)

    def preload(self, spec: ProbeSpec) -> None:
        """Start the encoder that will judge, because starting it takes seconds while the run can already begin."""
        if spec.category in ("entities", "relations") and not spec.evaluator:
            embed.start(embed.SMALL)

    def facets(self, spec: Mapping[str, Any], case: str) -> dict[str, str]:
        """Return the facets of a case. If no difficulty was chosen, a generated function has it in its name."""
        difficulty = str(spec.get("difficulty") or shape_of(case))
        how, category = (str(spec.get(field) or "") for field in ("interpreter", "category"))
        return {"difficulty": difficulty, "how": how, "category": category}

    def is_input(self, record: Recorded) -> bool:
        """Whether it is from a person who interprets."""
        return record.record in ("wish", "submission")


LAB = ProbeLab()
