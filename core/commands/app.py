"""`app`, `open`, `setup` and `demo-home`: the app itself, the parts of it that are installed on request, and a home
full of robots' runs.
"""

import asyncio
import contextlib
import json
import os
import signal
import socket
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from itertools import count, cycle
from pathlib import Path
from typing import NamedTuple
from urllib.parse import urlencode
from zlib import crc32

import click

from .. import entry, home, optional
from ..package_data import DATA, ROOT
from ..runs import bundle
from ..runs.driver import Driver
from ..runs.engine import RunRequest, new_id
from ..store.event_rows import TRIAL
from ..studies import plan
from .run_output import BAD_INPUT, DONE, ProgressLine

_FIRST_PORT = 8501
_PORTS = 100


@click.command("app", help="Open the app in a browser.")
@click.option("--page", default="", metavar="PAGE", help="the page to open, such as lessons")
@click.option("--port", type=click.IntRange(1, 65535), help=f"default: the first free one from {_FIRST_PORT}")
def _app(page: str, port: int | None) -> int:
    return serve(page, port)


@click.command(
    "open", help="Show the runs of a bundle, a journal or a folder of journals in the app. Nothing is stored."
)
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
    with contextlib.closing(ProgressLine()) as line:
        # pip prints its own progress.
        where = entry.install_part(wanted, print, line if wanted.files else lambda done, size: None)
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


# `demo-home`: fills a home with finished runs of robots, to try how lists, pictures and exports behave at size.


DEMO = "demo-"
"""What the names of these runs begin with."""


STUDY = (DATA / "demo.toml").read_bytes()
"""The runs that the others are copies of: robots, which ask no model."""


class _Made(NamedTuple):
    """A finished run: the lines of its journal, its seed as the first line writes it, and its number of trials."""

    run: str
    lines: list[bytes]
    seed: int
    trials: int


@click.command("demo-home", help="Fill an empty home with finished runs of robots, with at least this many trials.")
@click.argument("trials", type=click.IntRange(1, 10_000_000))
def _demo_home(trials: int) -> int:
    folder = home.journals()
    if any(folder.glob("*.jsonl")):
        raise click.UsageError(f"{folder} has runs already. Set EXPLAIN_HOME to a new folder.")
    runs, written = fill(folder, trials)
    print(f"{written:,} trials in {runs:,} runs, in {folder}")
    return DONE


def fill(folder: Path, trials: int) -> tuple[int, int]:
    """Make the runs of STUDY in `folder`, then write them again under other names and seeds until there are
    at least so many `trials`. Returns the numbers of runs and trials.

    A copy has the answers and figures of its original, items of its own (their titles begin with the copy's number),
    and a journal with checksums that fit. It is for trying the app at size: since its seed would choose other items,
    `verify` finds that its figures differ.
    """
    folder.mkdir(parents=True, exist_ok=True)
    made = asyncio.run(_originals(folder))
    runs, written = len(made), sum(one.trials for one in made)
    for number, one in zip(count(1), cycle(made), strict=False):
        if written >= trials:
            return runs, written
        name = f"{DEMO}{number:06}"
        (folder / f"{name}.jsonl").write_bytes(b"".join(_again(one, name, number)))
        runs, written = runs + 1, written + one.trials
    return runs, written


async def _originals(folder: Path) -> list[_Made]:
    driver, record, made = Driver(entry.labs(), entry.catalog().get, folder), json.dumps(TRIAL).encode(), []
    for run in plan.parse("demo.toml", STUDY, entry.labs()).all:
        going = RunRequest(run.lab, run.spec, new_id(run.lab.name))
        await driver.execute_new(going)
        lines = (folder / f"{going.id}.jsonl").read_bytes().splitlines()
        trials = sum(b'"record":' + record in line for line in lines)
        made.append(_Made(going.id, lines, run.spec.seed, trials))
    return made


def _again(one: _Made, name: str, number: int) -> Iterator[bytes]:
    """The lines of the run under another name, with its seed moved by `number` and that number in the items' titles."""
    changes = {one.run: name, f'"seed":{one.seed}': f'"seed":{one.seed + number}', '"title":"': f'"title":"{number}. '}
    for line in one.lines:
        body = line[: line.rindex(b',"sum":')]
        for old, new in changes.items():
            body = body.replace(old.encode(), new.encode())
        yield body + b',"sum":"%08x"}\n' % crc32(body)


COMMANDS = _app, _open, _setup, _demo_home
