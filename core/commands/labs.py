"""One command a lab, made from what it declares."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click
from pydantic import ValidationError

from core import entry
from core.commands.options import parameters, spec_of
from core.commands.running import Output, output_options, run
from core.lab.lab import Lab, ToolContext
from core.lab.spec import BadInput
from core.runs.engine import new_id


def add(commands: click.Group) -> None:
    """A command for each lab, and the lab's tools in a group of their own."""
    groups: dict[str, click.Group] = {}
    for lab in entry.labs().values():
        if lab.command.tools is not None:
            context = ToolContext(lab, entry.catalog)
            group = groups[lab.command.tools.name] = click.Group(
                lab.command.tools.name, help=lab.command.tools.help, context_settings={"obj": context}
            )
            for tool in lab.command.tools.commands:
                group.add_command(tool)
            commands.add_command(group)
    for lab in entry.labs().values():
        (groups[lab.command.group] if lab.command.group else commands).add_command(command(lab))


def command(lab: Lab) -> click.Command:
    """The command that makes a run of `lab`."""

    def go(journals: Path | None, as_json: bool, **given: Any) -> int:
        output = Output(journals, as_json)
        try:
            spec = spec_of(lab, given, output.folder)
            if lab.check is not None:
                lab.check(spec)
        except ValidationError:
            raise
        except ValueError as error:
            raise BadInput(str(error)) from None
        return run(lab, spec, new_id(lab.name), output)

    return output_options(click.Command(lab.path, params=parameters(lab), callback=go, help=lab.question))
