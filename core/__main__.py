"""The command line: `python -m core ask|check|probe|find|resume|models|store`."""

from __future__ import annotations

import argparse
import os
import sys

from pydantic import ValidationError

from core.commands import ask, check, find, others, probe
from core.commands.running import BAD_INPUT, DONE
from core.datasets.items import DatasetError
from core.events import CallFailed
from core.home import HomeUnusable
from core.journal import JournalInUse
from core.labs.simulatability.prompts import PackError
from core.runs.run import complaints
from core.store.store import StoreError


def main(arguments: list[str] | None = None) -> int:
    """Run one command; the exit code."""
    parser = argparse.ArgumentParser(prog="python -m core", description="Hold language models to their explanations.")
    commands = parser.add_subparsers(required=True, metavar="COMMAND")
    for command in (ask, check, probe, find, others):
        command.add(commands)
    given = parser.parse_args(arguments)
    try:
        code: int = given.command(given)
        sys.stdout.flush()
    except BrokenPipeError:
        # Nobody reads on (`| head`). What is still to be written at the end must have somewhere to go.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return DONE
    except (ValidationError, DatasetError, PackError, StoreError, JournalInUse, CallFailed, HomeUnusable) as error:
        for line in _words(error):
            print(line, file=sys.stderr)
        return BAD_INPUT
    return code


def _words(error: Exception) -> list[str]:
    if isinstance(error, ValidationError):
        return complaints(error)
    return [str(error)] + ([error.hint] if isinstance(error, CallFailed) and error.hint else [])


if __name__ == "__main__":
    sys.exit(main())
