"""Whether who is asked can be asked that: robots know a small world of their own, and nothing else."""

from __future__ import annotations

from collections.abc import Iterator

from ...datasets.items import Task
from ...models.ids import is_control
from ..base.cases import Case
from ..base.spec import BadInput
from . import tasks
from .controls import Control, Dial, controls, dials
from .tasks import AskSpec

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


def _robots(spec: AskSpec) -> list[Control]:
    """The robots that are shown the first question: of the new ones they know what they were told of them, or not."""
    asked = dict.fromkeys((spec.model, *(() if spec.given else spec.generators)))
    if not any(is_control(model) for model in asked):
        return []
    known: dict[str, Control] = {**controls(), **dials()}
    return [known[model] for model in asked if model in known]


def _knows(robot: Control, task: Task, case: Case) -> bool:
    if task != "strategyqa":
        return not isinstance(robot, Dial)
    question = robot.world.read(case.about.slots["question"])
    return question is not None and robot.world.truth(question) is not None


def _refusal(robot: Control, spec: AskSpec, count: int) -> str:
    if spec.task != "strategyqa":
        return f"{robot.id} answers yes-or-no questions only: it can take the data set {WORLD}."
    those = f"none of the {count:,} questions" if count > 1 else "not the one question"
    return (
        f"{robot.id} knows a small world of animals, foods, vehicles, places and tools, and {those} of {spec.dataset} "
        f"that would be asked. It can take the data set {WORLD}."
    )
