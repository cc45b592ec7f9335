"""`data` lists the data sets that can be downloaded; `data get` downloads one."""

import sys
import threading

import click

from ..datasets import get
from ..datasets.sources import sources
from .run_output import DONE, aligned


def add(commands: click.Group) -> None:
    """Add data to the group `commands`, in place."""
    commands.add_command(_data)


@click.group("data", invoke_without_command=True, help="List the data sets that can be downloaded, or download one.")
@click.pass_context
def _data(context: click.Context) -> int:
    if context.invoked_subcommand is None:
        rows = [(one.name, "here" if one.is_here else "not here", f"{one.title} ({one.licence})") for one in sources()]
        print(*aligned(rows), sep="\n")
    return DONE


@_data.command("get", help="Print where a data set comes from, its size and its licence, then download it.")
@click.argument("name", type=click.Choice([one.name for one in sources()]))
@click.option("--yes", "is_agreed", is_flag=True, help="download without asking")
def _get(name: str, is_agreed: bool) -> int:
    source = next(one for one in sources() if one.name == name)
    if source.is_here:
        print(f"{source.title} is here already: {source.folder}. To download it again, delete that folder first.")
        return DONE
    expected = get.list_files(source)
    print(*get.about(source, expected), *(f"  {line}" for line in get.about_files(expected)), sep="\n", flush=True)
    if not is_agreed:
        click.confirm("Download it?", abort=True)
    line = _Line()
    try:
        folder = get.get(source, line, threading.Event(), expected)
    finally:
        line.end()
    print(f"{source.title} is in {folder}")
    return DONE


class _Line:
    """Shows progress on one line of the terminal or, if standard error is not a terminal, a line for each tenth."""

    def __init__(self) -> None:
        self._shown = -1
        self._is_terminal = sys.stderr.isatty()

    def __call__(self, done: int, size: int) -> None:
        """Show that `done` of `size` bytes have arrived; `size` is 0 if it is not known."""
        share = int(100 * done / size) if size else done // 10**6
        step = share if self._is_terminal else share - share % 10
        if step == self._shown:
            return
        self._shown = step
        words = f"{get.mb(done)} of {get.mb(size)}" if size else get.mb(done)
        if done == size:
            words += "; checking and unpacking …"
        print(f"\r{words}" if self._is_terminal else words, end="" if self._is_terminal else "\n", file=sys.stderr)
        sys.stderr.flush()

    def end(self) -> None:
        """End the progress line."""
        if self._is_terminal and self._shown >= 0:
            print(file=sys.stderr)
