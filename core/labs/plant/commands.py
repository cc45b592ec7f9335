"""The lab on the command line."""

from __future__ import annotations

import click

from .tasks import TASKS, PlantSpec, cases

PARAMETERS: tuple[click.Parameter, ...] = (click.Argument(["task"], type=click.Choice(TASKS)),)


def check(spec: PlantSpec) -> None:
    """Raises DatasetError where a data set cannot be read."""
    for _ in cases(spec):
        break
