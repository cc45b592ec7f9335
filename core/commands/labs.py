"""One command per lab, generated from the lab's declaration."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import click
from pydantic import ValidationError

from .. import entry, journal
from ..labs.base.lab import Lab, ToolContext
from ..labs.base.spec import BadInputError, Knob, Spec, knobs
from ..models.local import SHIPPED
from ..runs import driver
from ..runs.engine import RunRequest, new_id
from ..studies import tables
from ..studies.plan import Planned, Study, run_id
from .run_output import DONE, event_option, journals_option, run
from .study import as_text

# Options of the command line, generated from a specification's fields with their title, help, bounds and choices.


SHIPPED_MODEL = f"local/{SHIPPED}"
"""The model that is asked if you name none."""


def parameters(lab: Lab) -> list[click.Parameter]:
    """Return the options of the lab's command: those it declares itself, then one for each other field of its
    specification.
    """
    own = list(lab.command.parameters)
    taken = {name for parameter in own for name in (parameter.name, *parameter.opts)}
    offered = [knob for knob in knobs(lab.spec).values() if knob.name not in taken and knob.option not in taken]
    return [*own, *map(_option, offered)]


def spec_of(lab: Lab, given: dict[str, Any], folder: Path) -> Spec:
    """Build the specification from the options. Open choices are filled in from the available models and the runs in
    `folder`. Raises ValueError, including pydantic.ValidationError.
    """
    if _must_be_named(knobs(lab.spec).get("model")):
        given = {**given, "model": given.get("model") or SHIPPED_MODEL}
    # Options that were not given get the specification's own defaults.
    fields = {name: value for name, value in given.items() if value is not None and value != ()}
    spec = lab.spec.model_validate(lab.command.from_options(fields))
    settled: Spec = lab.choose_models(
        spec, fields, entry.catalog().is_at_hand, lambda of, read: driver.records(of, read, folder, lambda run: True)
    )
    return settled


def _must_be_named(knob: Knob | None) -> bool:
    """Whether the field names the model to ask and has no default, so that the shipped model is its default here."""
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
        # "--arms none,swapped" is the same as giving the option twice.
        def parts(context: click.Context, option: click.Parameter, given: tuple[str, ...]) -> tuple[str, ...]:
            return tuple(type_.convert(part, option, context) for one in given for part in one.split(","))

        shown = f"[{'|'.join(type_.choices)}]"
        return click.Option(names, multiple=True, callback=parts, metavar=shown, help=help)
    default = SHIPPED_MODEL if _must_be_named(knob) else knob.default
    if isinstance(default, int | float | str) and default != "":
        help += f" (default: {default})"
    return click.Option(names, type=type_, multiple=knob.several, help=help)


def _pairs(context: click.Context, option: click.Parameter, given: tuple[str, ...]) -> dict[str, str] | None:
    """Parse WHAT=COLUMN, which may be given any number of times."""
    pairs = [one.partition("=") for one in given]
    for what, equals, column in pairs:
        if not (what.strip() and equals and column.strip()):
            raise click.BadParameter(f"{what}{equals}{column} is not of the form {option.metavar}.", context, option)
    return {what.strip(): column.strip() for what, _, column in pairs} or None


def commands() -> Iterator[click.Command]:
    """Yield a group for each lab's tools, and a command for each lab that is in no such group."""
    groups: dict[str, click.Group] = {}
    for lab in entry.labs().values():
        if (tools := lab.command.tools) is not None:
            context = {"obj": ToolContext(lab, entry.catalog)}
            groups[tools.name] = click.Group(tools.name, tools.commands, help=tools.help, context_settings=context)
    yield from groups.values()
    for lab in entry.labs().values():
        if lab.command.group:
            groups[lab.command.group].add_command(command(lab))
        else:
            yield command(lab)


def _in_shards(lab: Lab, shards: Sequence[Spec], journals: Path, as_json: bool) -> int:
    """Make the runs of a data set that is too large for one, print the figures of all of them, and return the exit
    code. Each run is named by its content, as in a study, so that repeating the command continues where this one
    ended.
    """
    runs = tuple(Planned(run_id(lab, shard), lab, shard) for shard in shards)
    for number, planned in enumerate(runs, start=1):
        if not as_json:
            print(f"\nRun {number} of {len(runs)}", flush=True)
        going_on = journal.path_for(journals, planned.id).exists()
        code = run(RunRequest(lab, planned.spec, planned.id), journals, as_json, going_on=going_on)
        if code != DONE:
            if not as_json:
                print(f"{number - 1} of {len(runs)} runs have completed. Repeat the command for the rest.")
            return code
    if not as_json:
        study = Study(name="", title="", about="", controls=(), runs=runs, tables=())
        print(*as_text(tables.rows(study, entry.labs(), tables.measured(study, entry.labs(), journals))), sep="\n")
    return DONE


def command(lab: Lab) -> click.Command:
    """Return the command that makes a run of `lab`."""

    @journals_option
    @event_option
    def go(journals: Path, as_json: bool, **given: Any) -> int:
        try:
            spec = spec_of(lab, given, journals)
            lab.check(spec)
        except ValidationError:
            raise
        except ValueError as error:
            raise BadInputError(str(error)) from None
        shards = spec.shards()
        if len(shards) > 1:
            return _in_shards(lab, shards, journals, as_json)
        return run(RunRequest(lab, spec, new_id(lab.name)), journals, as_json)

    return click.command(lab.path, params=parameters(lab), help=lab.question)(go)
