"""The command line: `python -m core`, followed by a lab's command or by labels, judge, resume, reread, verify, models,
data, prompts, store, query, compare, measure, export, import, page, methods, pack or game.
"""

import os
import sys

import click
from pydantic import ValidationError

from . import extensions, policy
from .commands import annotating, app, data, labs, measure, misc, models, packs, study, transfer
from .commands.run_output import BAD_INPUT, DONE
from .errors import ExplainError
from .package_data import COMMAND
from .runs.context import complaints
from .runs.engine import app_version


def main(arguments: list[str] | None = None) -> int:
    """Run one command and return its exit code. Raises SystemExit if the command line cannot be understood."""
    # Stored questions and answers are private: only the user who runs the app may read the files.
    os.umask(0o077)
    if faults := policy.faults():
        print("\n".join(faults), file=sys.stderr)
        return BAD_INPUT
    try:
        group = commands()
        for fault in extensions.faults():
            print(fault, file=sys.stderr)
        with group.make_context(COMMAND, list(sys.argv[1:] if arguments is None else arguments)) as context:
            code = group.invoke(context)
        sys.stdout.flush()
    except click.exceptions.Exit as ended:
        return ended.exit_code
    except BrokenPipeError:
        # The reader has closed the pipe (`| head`). Output that is flushed at exit still needs somewhere to go.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return DONE
    except click.BadParameter as error:
        error.show()
        return BAD_INPUT
    except click.ClickException as error:
        error.show()
        raise SystemExit(error.exit_code) from None
    except click.Abort:
        return BAD_INPUT
    except (ValidationError, ExplainError) as error:
        lines = complaints(error) if isinstance(error, ValidationError) else filter(None, (str(error), error.hint))
        print(*lines, sep="\n", file=sys.stderr)
        return BAD_INPUT
    return code if isinstance(code, int) else DONE


def commands() -> click.Group:
    """Return the group of all commands: one for each lab, then those for all labs. A later one of the same name
    replaces an earlier one.
    """
    group = click.Group(help="Hold language models to their explanations.")
    click.version_option(app_version(), prog_name="Explain Yourself")(group)
    shared = (app, misc, models, data, transfer, study, packs)
    made = (*labs.commands(), *annotating.commands(), *measure.commands())
    for command in (*made, *(command for module in shared for command in module.COMMANDS)):
        group.add_command(command)
    return group


if __name__ == "__main__":
    sys.exit(main())
