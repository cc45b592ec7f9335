"""One command a lab, made from what it declares."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import click
from pydantic import ValidationError

from .. import entry, journal
from ..labs.base.lab import Lab, ToolContext
from ..labs.base.spec import BadInput, Spec
from ..runs.engine import Going, new_id
from ..studies import tables
from ..studies.plan import Planned, Study, run_id
from .options import parameters, spec_of
from .run_output import DONE, event_option, journals_option, run
from .study_run import as_text


def add(commands: click.Group) -> None:
    """A command for each lab, and the lab's tools in a group of their own."""
    groups: dict[str, click.Group] = {}
    for lab in entry.labs().values():
        if (tools := lab.command.tools) is not None:
            context = {"obj": ToolContext(lab, entry.catalog)}
            groups[tools.name] = click.Group(tools.name, tools.commands, help=tools.help, context_settings=context)
            commands.add_command(groups[tools.name])
    for lab in entry.labs().values():
        (groups[lab.command.group] if lab.command.group else commands).add_command(command(lab))


def _in_shards(lab: Lab, shards: Sequence[Spec], journals: Path, as_json: bool) -> int:
    """Make the runs of a data set that is too large for one, then print the figures of all of them; the exit code. Each
    run is named by its content, as a study's are: the same command again goes on where this one ends.
    """
    runs = tuple(Planned(run_id(lab, shard), lab, shard) for shard in shards)
    for number, planned in enumerate(runs, start=1):
        if not as_json:
            print(f"\nRun {number} of {len(runs)}", flush=True)
        going_on = journal.at(journals, planned.id).exists()
        code = run(Going(lab, planned.spec, planned.id), journals, as_json, going_on=going_on)
        if code != DONE:
            if not as_json:
                print(f"{number - 1} of {len(runs)} runs have completed. Repeat the command for the rest.")
            return code
    if not as_json:
        study = Study(name="", title="", about="", controls=(), runs=runs, tables=())
        print(*as_text(tables.rows(study, entry.labs(), tables.measured(study, entry.labs(), journals))), sep="\n")
    return DONE


def command(lab: Lab) -> click.Command:
    """The command that makes a run of `lab`."""

    @journals_option
    @event_option
    def go(journals: Path, as_json: bool, **given: Any) -> int:
        try:
            spec = spec_of(lab, given, journals)
            if lab.check is not None:
                lab.check(spec)
        except ValidationError:
            raise
        except ValueError as error:
            raise BadInput(str(error)) from None
        shards = spec.shards()
        if len(shards) > 1:
            return _in_shards(lab, shards, journals, as_json)
        return run(Going(lab, spec, new_id(lab.name)), journals, as_json)

    return click.command(lab.path, params=parameters(lab), help=lab.question)(go)
