"""The lab on the command line."""

from __future__ import annotations

from collections.abc import Iterator

import click

from core.labs.plant.tasks import TASKS, PlantSpec, cases
from core.labs.plant.verdict import verdict
from core.labs.plant.view import PlantView

PARAMETERS: tuple[click.Parameter, ...] = (click.Argument(["task"], type=click.Choice(TASKS)),)


def check(spec: PlantSpec) -> None:
    """Raises DatasetError where a data set cannot be read."""
    for _ in cases(spec):
        break


def narrate(view: PlantView) -> Iterator[tuple[str, str]]:
    """The item, once its arms are in."""
    if view.outcome() == "waiting" or (view.log.status is None and len(view.replies) < _arms(view)):
        return
    answers = ", ".join(f"{arm} {reply.answer or '?'}" for arm, reply in view.replies.items())
    yield view.log.case, "\n".join([view.title, f"  {answers}", *(f"  {line}" for line in verdict(view)[:1])])


def _arms(view: PlantView) -> int:
    spec = view.spec
    return 0 if spec is None else spec.plain_draws + 3 + spec.is_aimed
