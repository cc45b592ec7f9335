"""One command a lab, made from what it declares."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click
from pydantic import ValidationError

from core import entry
from core.commands.options import parameters, spec_of
from core.commands.running import event_option, journals_option, run
from core.lab.lab import Lab, ToolContext
from core.lab.spec import BadInput
from core.runs.engine import Going, new_id


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
        return run(Going(lab, spec, new_id(lab.name)), journals, as_json)

    return click.command(lab.path, params=parameters(lab), help=lab.question)(go)
