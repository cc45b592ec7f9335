"""`demo-home`: fills a home with finished runs of robots, to try how lists, pictures and exports behave at size."""

import asyncio
import json
from collections.abc import Iterator
from itertools import count, cycle
from pathlib import Path
from typing import NamedTuple
from zlib import crc32

import click

from .. import entry, home
from ..labs.base.lab import Lab
from ..labs.base.spec import Spec
from ..runs.driver import Driver
from ..runs.engine import RunRequest, new_id
from ..store.event_rows import TRIAL
from ..studies import plan
from .run_output import DONE

DEMO = "demo-"
"""What the names of these runs begin with."""


STUDY = b"""
[[part]]
lab = "ask"
spec = { dataset = "world", limit = 40, counterfactuals = 8 }
grid = { model = ["control/steadfast", "control/fickle", "control/vague", "control/dial-0.5"] }

[[part]]
lab = "check"
spec = { task = "sentiment", limit = 12 }
grid = { model = ["control/honest-lexicon", "control/decoy-lexicon"] }

[[part]]
lab = "plant"
spec = { task = "strategyqa", limit = 40, temperature = 0.0 }
grid = { model = ["control/admits", "control/names-all", "control/echo"], cue = ["key", "crowd"] }
"""
"""The runs that the others are copies of: robots, which ask no model."""


class _Made(NamedTuple):
    """A finished run: the lines of its journal, its seed as the first line writes it, and its number of trials."""

    run: str
    lines: list[bytes]
    seed: int
    trials: int


def add(commands: click.Group) -> None:
    """Add demo-home to the group `commands`, in place."""
    commands.add_command(_demo_home)


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
    driver = Driver(entry.labs(), entry.catalog().get, folder)
    return [await _make(driver, run.lab, run.spec) for run in plan.parse("demo.toml", STUDY, entry.labs()).all]


async def _make(driver: Driver, lab: Lab, spec: Spec) -> _Made:
    going = RunRequest(lab, spec, new_id(lab.name))
    await driver.execute_new(going)
    lines = (driver.folder / f"{going.id}.jsonl").read_bytes().splitlines()
    record = json.dumps(TRIAL).encode()
    return _Made(going.id, lines, spec.seed, sum(b'"record":' + record in line for line in lines))


def _again(one: _Made, name: str, number: int) -> Iterator[bytes]:
    """The lines of the run under another name, with its seed moved by `number` and that number in the items' titles."""
    changes = {one.run: name, f'"seed":{one.seed}': f'"seed":{one.seed + number}', '"title":"': f'"title":"{number}. '}
    for line in one.lines:
        body = line[: line.rindex(b',"sum":')]
        for old, new in changes.items():
            body = body.replace(old.encode(), new.encode())
        yield body + b',"sum":"%08x"}\n' % crc32(body)
