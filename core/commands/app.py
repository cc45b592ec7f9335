"""`app`, `open` and `setup`: the app itself, and the parts of it that are installed on request."""

import os
import signal
import socket
import subprocess
import sys
import tempfile
from pathlib import Path
from urllib.parse import urlencode

import click

from .. import entry, optional
from ..events import CallError
from ..package_data import ROOT
from ..runs import bundle
from .run_output import BAD_INPUT, DONE

_FIRST_PORT = 8501
_PORTS = 100


def add(commands: click.Group) -> None:
    """Add app, open and setup to the group `commands`, in place."""
    for command in (_app, _open, _setup):
        commands.add_command(command)


@click.command("app", help="Open the app in a browser.")
@click.option("--page", default="", metavar="PAGE", help="the page to open, such as lessons")
@click.option("--port", type=click.IntRange(1, 65535), help=f"default: the first free one from {_FIRST_PORT}")
def _app(page: str, port: int | None) -> int:
    return serve(page, port)


@click.command("open", help="Show the runs of a bundle, a journal or a folder of journals in the app. Nothing is kept.")
@click.argument("path", type=click.Path(path_type=Path, exists=True), metavar="FILE.zip|DIR|FILE.jsonl")
@click.option("--port", type=click.IntRange(1, 65535), help=f"default: the first free one from {_FIRST_PORT}")
def _open(path: Path, port: int | None) -> int:
    path = path.resolve()
    with tempfile.TemporaryDirectory(prefix="explain-", ignore_cleanup_errors=True) as folder:
        os.environ["EXPLAIN_HOME"] = folder
        journals = Path(folder) / "journals"
        journals.mkdir()
        taken = bundle.import_path(path, (journals, journals), "")
        entry.score_again(taken)
        for name, why in taken.passed_over.items():
            print(f"{name} was skipped: {why}.", file=sys.stderr)
        if not taken.runs:
            print(f"There is no run in {path}.", file=sys.stderr)
            return BAD_INPUT
        return serve("case?" + urlencode({"run": taken.runs[0]}) if len(taken.runs) == 1 else "browse", port)


@click.command("setup", help="Install an optional part of the app, and check its checksums.")
@click.argument("part", type=click.Choice(list(optional.PARTS)))
def _setup(part: str) -> int:
    wanted = optional.PARTS[part]
    tenths = 0

    def progress(done: int, size: int) -> None:
        nonlocal tenths
        if wanted.files and done * 10 >= (tenths + 1) * size > 0:
            tenths = done * 10 // size
            print(f"{done / 1e6:.0f} of {size / 1e6:.0f} MB")

    try:
        where = entry.install_part(wanted, print, progress)
    except CallError as error:
        print(error.message, error.hint, sep="\n" if error.hint else "", file=sys.stderr)
        return BAD_INPUT
    print(f"{wanted.title}: ready in {where}")
    return DONE


def serve(page: str = "", port: int | None = None) -> int:
    """Run the app until it is stopped, opened in a browser at `page`; return the exit code.

    In a process of its own: only there are `core` and `pages` top-level names.
    """
    # -P: a folder `core` where the command is called must not be taken for ours.
    run = [sys.executable, "-P", "-m", "streamlit", "run", str(ROOT / "app.py"), "--server.port", str(port or _free())]
    with subprocess.Popen([*run, "--", f"--open={page}"]) as app:  # noqa: S603  our own words
        signal.signal(signal.SIGTERM, lambda *_: app.terminate())
        while True:
            try:
                return app.wait()
            except KeyboardInterrupt:
                # The terminal has told the app as well, which ends by itself.
                continue


def _free() -> int:
    """The first free port from _FIRST_PORT, or _FIRST_PORT if all are taken, which the app then reports."""
    for port in range(_FIRST_PORT, _FIRST_PORT + _PORTS):
        with socket.socket() as probe:
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            try:
                probe.bind(("127.0.0.1", port))
            except OSError:
                continue
            return port
    return _FIRST_PORT
