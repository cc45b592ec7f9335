"""What the figures of controls must read: by construction, or the instrument is off."""

from __future__ import annotations

from collections.abc import Iterator

from .controls import Dial, Fickle, Steadfast, controls, dials, expected_precision
from .noisy import Noisy, noisy
from .tasks import AskSpec
from .view import AskView

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
        case Dial():
            question = robot.world.read(starter.question)
            settled = expected_precision(Steadfast.id, starter.question, asked, robot.world).simulatable
            if not question or not settled:
                return None
            return robot.must_read if isinstance(robot, Noisy) else float(robot.keeps(question))
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
