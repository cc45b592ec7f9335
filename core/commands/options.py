"""A specification's fields as options of the command line: title, help, bounds and choices stand with the field."""

from __future__ import annotations

from pathlib import Path
from types import UnionType
from typing import Any, Literal, Union, get_args, get_origin

import click
from pydantic.fields import FieldInfo

from core import entry
from core.lab.lab import Lab
from core.lab.spec import Spec, bounds, is_offered
from core.models.local import SHIPPED
from core.runs import prior

SHIPPED_MODEL = f"local/{SHIPPED}"
"""Who is asked where nobody is named."""


def parameters(lab: Lab) -> list[click.Parameter]:
    """The options of the lab's command: those it declares by hand, then one for each field of its specification."""
    own = list(lab.command.parameters)
    taken = {name for parameter in own for name in (parameter.name, *parameter.opts)}
    fields = [
        _option(name, field)
        for name, field in lab.spec.model_fields.items()
        if is_offered(name, field) and name not in taken and _flag(name, field) not in taken
    ]
    return [*own, *fields]


def spec_of(lab: Lab, given: dict[str, Any], folder: Path) -> Spec:
    """The specification that the options come to; what they leave open is settled by what is at hand, and by the runs
    in `folder`. Raises ValueError, pydantic.ValidationError among them."""
    fields = dict(given)
    if (model := lab.spec.model_fields.get("model")) and _is_model("model", model):
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
        spec, fields, entry.catalog().is_at_hand, lambda of, read: prior.records(of, read, folder, _sees)
    )
    return settled


def _sees(run: str) -> bool:
    return True


def _flag(name: str, field: FieldInfo) -> str:
    extra = field.json_schema_extra
    if isinstance(extra, dict) and "option" in extra:
        return str(extra["option"])
    return f"--{name.replace('_', '-')}"


def _option(name: str, field: FieldInfo) -> click.Option:
    flag = _flag(name, field)
    kind, several = _kind(field.annotation)
    help = field.description or field.title or ""
    if kind is bool:
        if field.default is True:
            return click.Option([f"{flag}/--no-{flag.removeprefix('--')}", name], default=None, help=help)
        return click.Option([flag, name], is_flag=True, default=False, help=help)
    type_: Any = kind
    if get_origin(kind) is Literal:
        type_ = click.Choice([str(choice) for choice in get_args(kind)])
    elif kind is int and (whole := bounds(field, int)) != (None, None):
        type_ = click.IntRange(*whole)
    elif kind is float and (wide := bounds(field, float)) != (None, None):
        type_ = click.FloatRange(*wide)
    choice = type_
    if isinstance(extra := field.json_schema_extra, dict) and "pairs" in extra:
        pairs = str(extra["pairs"])
        return click.Option([flag, name], multiple=True, callback=_pairs, metavar=pairs, help=help)
    if several and isinstance(choice, click.Choice):
        # "--arms none,swapped" is as good as giving the option twice.
        def parts(context: click.Context, option: click.Parameter, given: tuple[str, ...]) -> tuple[str, ...]:
            return tuple(choice.convert(part, option, context) for one in given for part in one.split(","))

        shown = f"[{'|'.join(choice.choices)}]"
        return click.Option([flag, name], multiple=True, callback=parts, metavar=shown, help=help)
    default = SHIPPED_MODEL if _is_model(name, field) else field.default
    if isinstance(default, int | float | str) and default != "":
        help += f" (default: {default})"
    return click.Option([flag, name], type=type_, multiple=several, help=help)


def _pairs(context: click.Context, option: click.Parameter, given: tuple[str, ...]) -> dict[str, str] | None:
    """WHAT=COLUMN, given any number of times."""
    pairs = [one.partition("=") for one in given]
    for what, equals, column in pairs:
        if not (what.strip() and equals and column.strip()):
            raise click.BadParameter(f"{what}{equals}{column} is not of the form {option.metavar}.", context, option)
    return {what.strip(): column.strip() for what, _, column in pairs} or None


def _is_model(name: str, field: FieldInfo) -> bool:
    return name == "model" and field.is_required()


def _kind(annotation: Any) -> tuple[Any, bool]:
    """The type of one value, and whether the option may be given several times."""
    origin = get_origin(annotation)
    if origin in (Union, UnionType):
        inner = [one for one in get_args(annotation) if one is not type(None)]
        return _kind(inner[0])
    if origin is tuple:
        return _kind(get_args(annotation)[0])[0], True
    return (annotation if annotation in (int, float, bool) or origin is Literal else str), False
