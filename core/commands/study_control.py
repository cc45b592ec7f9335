"""`study pause`, `study at-once` and `study status`: what is wanted of a study that runs, and how it stands."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path

import click

from core import entry, home
from core.commands.running import DONE, journals_option, json_option
from core.study import control, data, plan
from core.study.progress import Cell, Progress, progress
from core.text.counted import counted

study_argument = click.argument("file", type=click.Path(path_type=Path, dir_okay=False), metavar="STUDY.toml")
"""The study's file, as the parameter `file`."""

_BAR = 20


@click.command("pause", help="Stop a study that runs, here or in another process, to go on with later.")
@study_argument
def pause(file: Path) -> int:
    """Let no further call of the study leave; whoever makes it stops once those under way are answered."""
    study = plan.read(file, entry.labs())
    control.want(home.home(), study.name, paused=True)
    print(f"{study.title}: whoever makes it stops within a second or two, once what it asked is answered.")
    print(f"To go on from there: python -m core study run {file}")
    return DONE


@click.command("at-once", help="How many runs of a study go on at a time, while it runs.")
@study_argument
@click.argument("number", type=click.IntRange(0, control.MOST_AT_ONCE), metavar="N (0: as in the file)")
def at_once(file: Path, number: int) -> int:
    """Let so many runs of the study go on at a time, from now on; 0: as its file says."""
    study = plan.read(file, entry.labs())
    now = control.want(home.home(), study.name, at_once=number or None).at_once or study.at_once
    where = "" if number else ", as its file says; on a cluster as many as its workers take"
    print(f"{study.title}: {counted(now, 'run')} at a time from now on{where}. Those under way are made to their end.")
    return DONE


@click.command("status", help="How the runs of a study stand.")
@study_argument
@journals_option
@json_option("a JSON object")
def status(file: Path, journals: Path, as_json: bool) -> int:
    """How the study stands."""
    study = plan.read(file, entry.labs())
    found, broken = progress(study, journals), data.broken(data.held(study, journals))
    if as_json:
        print(json.dumps({**asdict(found), "broken": broken}, ensure_ascii=False))
        return DONE
    print(study.title)
    for line in (*lines(found), *broken):
        print(line)
    return DONE


def lines(found: Progress) -> Iterator[str]:
    """How a study stands, for a person."""
    counts = ", ".join(f"{n} {status}" for status, n in found.status.items())
    # Where more go on, they do so on a cluster.
    at_once = f"; {found.at_once} at a time" if found.status.get("running", 0) <= found.at_once else ""
    yield f"{counted(found.runs, 'run')}: {counts}{at_once}" + ("; paused" if found.paused else "")
    width = max(len(_name(cell)) for cell in found.cells)
    yield from (f"  {_name(cell):{width}}  {_bar(cell)}" for cell in found.cells)
    budget = f" of {found.budget_calls:,}" if found.budget_calls else ""
    yield f"{counted(found.answered, 'call')} answered; {found.paid:,}{budget} asked of models that are no robots"
    budget = f" of {found.budget_money:g}" if found.budget_money else ""
    unknown = f", and what {counted(found.unpriced, 'call')} cost, which is not known" if found.unpriced else ""
    yield f"Spent: about {found.money:.4f}{budget} US dollars{unknown}"
    if found.rate is not None:
        left = "" if found.minutes is None else f"; about {found.minutes:.0f} minutes left"
        yield f"{found.rate:.0f} calls answered a minute{left}"
    for endpoint, history in found.limits.items():
        yield f"{endpoint}: {', '.join(map(str, history))} calls at once"
    if found.stop_width:
        yield f"A run stops early once its always-valid interval is {found.stop_width:.2f} wide (stop_width)"
    for error, n in found.failures.items():
        yield f"  {n:,} {error}"
    for run, why in found.stopped.items():
        yield f"  {run}: {why}"


def _name(cell: Cell) -> str:
    return f"{cell.lab}  {cell.cell}".rstrip()


def _bar(cell: Cell) -> str:
    done = round(cell.share * _BAR)
    of = f"{cell.cases:,} of {cell.of:,} cases" if cell.of else f"{counted(cell.cases, 'case')} so far"
    runs = f", {cell.completed} of {cell.runs} runs" if cell.runs > 1 else ""
    runs += f", {cell.stopped_early} stopped early" if cell.stopped_early else ""
    failures = "".join(f", {n:,} {error}" for error, n in cell.failures.items())
    return f"{'█' * done}{'·' * (_BAR - done)} {of}{runs}, {counted(cell.answered, 'call')}{failures}"
