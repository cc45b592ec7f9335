"""What the figures of controls must read: by construction, or the instrument is off."""

from __future__ import annotations

from collections.abc import Iterator
from statistics import fmean

from .dial import Dial, Noisy, dials, noisy
from .null_controls import Mute, worthless
from .tasks import ProbeSpec
from .units import SHOWN
from .view import ProbeView

HALF = "control/dial-probe-0.5"
WHOLE = "control/dial-probe-1.0"

PROBES, TESTS = 300, 60
"""Calls of a function, enough for all test points; unit tests, enough to show that who knows it tells as much."""

FUNCTIONS = {
    "numeric": ("numeric-1-easy", "numeric-4-easy", "numeric-11-easy"),
    "strings": ("strings-1-easy", "strings-7-easy", "strings-8-easy"),
    "entities": ("entities-1-single", "entities-2-single", "entities-3-single"),
    "relations": ("relations-1-plain", "relations-2-plain", "relations-3-plain"),
}
"""What the controls are held to: functions without noise and chance, which the robots can find."""


def truth(view: ProbeView) -> float | None:
    """What the figure that decides must come to where a control interpreted the function. None for other models, and
    where it is not known.

    - Of numbers the error (NMSE) of a dial: the size of the function on the points that it does not keep, as a share of
      its size on all. None of functions with noise, and where it saw too little.
    - Of texts the share of test texts that a dial keeps, where its steps were found.
    - Of subjects and facts the share of tests whose true example a dial keeps, where it is the evaluator itself. Of a
      noisy one it is what is to be expected, and no single case need come to it.
    - Of who describes nothing what is to be had for nothing: an error of 1, or the texts that are left alone. Of
      subjects and facts a dial declines to pick by that, and nothing is defined.
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
    if not isinstance(robot, Dial) or not size or any(x not in seen for x, _ in points):
        return None
    return sum(y * y for x, y in points if not robot.keeps(x, seen[x])) / size


def _of_texts(view: ProbeView, robot: object) -> float | None:
    if isinstance(robot, Mute):
        return view.value("exact_match_unchanged")
    code = view.interpretation.code.repaired if view.interpretation else ""
    tests = [one for one in view.predictions.values() if one.kind == "test"]
    if not isinstance(robot, Dial) or not robot.is_found(code) or not tests:
        return None
    return fmean(robot.keeps_text(one.input) for one in tests)


def _of_guesses(view: ProbeView, robot: object) -> float | None:
    said = view.interpretation.description.repaired if view.interpretation else ""
    tests = [one for one in view.units.values() if one.about == "interpretation"]
    if view.spec is None or not tests:
        return None
    if not isinstance(robot, Dial) or view.spec.evaluator != robot.id or not robot.is_found(said):
        return None
    if isinstance(robot, Noisy):
        return robot.must_read
    return fmean(robot.keeps(*one.options[one.correct - 1].split(SHOWN)) for one in tests)


def calibration(spec: ProbeSpec) -> Iterator[ProbeSpec]:
    """Who knows the function, who is right on half of its domain, and who describes nothing, on functions of the same
    category. No model is asked: a dial takes the unit tests. The rules of the dialogue are the repaired ones, for the
    robots name many inputs at once.
    """
    ways = {"category": spec.category, "functions": FUNCTIONS[spec.category], "probes": PROBES, "triplets": TESTS}
    for robot in (WHOLE, HALF, Mute.id):
        judge = HALF if robot == Mute.id else robot
        evaluator = judge if spec.category in ("entities", "relations") else ""
        yield ProbeSpec.model_validate({**ways, "model": robot, "evaluator": evaluator})
