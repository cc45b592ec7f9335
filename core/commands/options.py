"""A specification's fields as options of the command line: title, help, bounds and choices stand with the field."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from .. import entry
from ..labs.base.lab import Lab
from ..labs.base.spec import Knob, Spec, knobs
from ..models.local import SHIPPED
from ..runs import prerequisites

SHIPPED_MODEL = f"local/{SHIPPED}"
"""Who is asked where nobody is named."""


def parameters(lab: Lab) -> list[click.Parameter]:
    """The options of the lab's command: those it declares by hand, then one for each field of its specification."""
    own = list(lab.command.parameters)
    taken = {name for parameter in own for name in (parameter.name, *parameter.opts)}
    offered = [knob for knob in knobs(lab.spec).values() if knob.name not in taken and knob.option not in taken]
    return [*own, *map(_option, offered)]


def spec_of(lab: Lab, given: dict[str, Any], folder: Path) -> Spec:
    """The specification that the options come to; what they leave open is settled by what is at hand, and by the runs
    in `folder`. Raises ValueError, pydantic.ValidationError among them."""
    fields = dict(given)
    if _must_be_named(knobs(lab.spec).get("model")):
        given = {**given, "model": given.get("model") or SHIPPED_MODEL}
        fields = dict(given)
    for name, value in given.items():
        # What was not given is left to the specification's own default.
        if value is None or value == ():
            del fields[name]
    spec = lab.spec.model_validate(lab.command.from_options(fields) if lab.command.from_options else fields)
    if lab.settled is None:
        return spec
    settled: Spec = lab.settled(
        spec, fields, entry.catalog().is_at_hand, lambda of, read: prerequisites.records(of, read, folder, _sees)
    )
    return settled


def _sees(run: str) -> bool:
    return True


def _must_be_named(knob: Knob | None) -> bool:
    """Whether it names the model that is asked, who is the one that ships unless another is named."""
    return knob is not None and knob.name == "model" and knob.default is None


def _option(knob: Knob) -> click.Option:
    names, help = [knob.option, knob.name], knob.help
    if knob.kind is bool:
        if knob.default is True:
            switch = f"{knob.option}/--no-{knob.option.removeprefix('--')}"
            return click.Option([switch, knob.name], default=None, help=help)
        return click.Option(names, is_flag=True, default=False, help=help)
    if knob.pairs:
        return click.Option(names, multiple=True, callback=_pairs, metavar=knob.pairs, help=help)
    type_: Any = knob.kind
    if knob.choices:
        type_ = click.Choice([str(choice) for choice in knob.choices])
    elif (knob.low, knob.high) != (None, None):
        type_ = (click.IntRange if knob.kind is int else click.FloatRange)(knob.low, knob.high)
    if knob.several and knob.choices:
        # "--arms none,swapped" is as good as giving the option twice.
        def parts(context: click.Context, option: click.Parameter, given: tuple[str, ...]) -> tuple[str, ...]:
            return tuple(type_.convert(part, option, context) for one in given for part in one.split(","))

        shown = f"[{'|'.join(type_.choices)}]"
        return click.Option(names, multiple=True, callback=parts, metavar=shown, help=help)
    default = SHIPPED_MODEL if _must_be_named(knob) else knob.default
    if isinstance(default, int | float | str) and default != "":
        help += f" (default: {default})"
    return click.Option(names, type=type_, multiple=knob.several, help=help)


def _pairs(context: click.Context, option: click.Parameter, given: tuple[str, ...]) -> dict[str, str] | None:
    """WHAT=COLUMN, given any number of times."""
    pairs = [one.partition("=") for one in given]
    for what, equals, column in pairs:
        if not (what.strip() and equals and column.strip()):
            raise click.BadParameter(f"{what}{equals}{column} is not of the form {option.metavar}.", context, option)
    return {what.strip(): column.strip() for what, _, column in pairs} or None
