"""`resume`, `reread`, `models` and `store`."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import click

from core import entry, home
from core.commands.running import BAD_INPUT, DONE, Output, output_options, run
from core.events import Started
from core.journal import FromTheFuture, found, read
from core.models.replay import Replay
from core.runs.driver import new_reading
from core.runs.engine import Going
from core.runs.fork import forked
from core.runs.upgrade import upgraded
from core.store.index import index, rebuild
from core.store.store import Store, StoreBusy, StoreUnusable


def add(commands: click.Group) -> None:
    """Add resume, reread, models and store to the group `commands`, which is changed in place."""
    name = click.Argument(["run_id"], metavar="RUN")
    failed = click.Option(["--failed", "failed_too"], is_flag=True, help="ask again what failed in one that completed")
    commands.add_command(output_options(click.Command("resume", callback=_resume, params=[name, failed], help=_RESUME)))
    commands.add_command(output_options(click.Command("reread", callback=_reread, params=[name], help=_REREAD)))
    commands.add_command(_models)
    commands.add_command(_store)


_RESUME = "Go on with a run that stopped; nothing is asked twice."
_REREAD = "Read a run's raw answers again, by the rules of now: a new run, which asks no model."


def _resume(run_id: str, failed_too: bool, journals: Path | None, as_json: bool) -> int:
    output = Output(journals, as_json)
    began = _begun(run_id, output.folder)
    if began is None:
        return BAD_INPUT
    _, started = began
    lab = entry.labs()[started.lab]
    resolve = None
    if (fork := started.forked_from) is not None:
        before = _begun(fork.run, output.folder, home.recordings())
        if before is None:
            return BAD_INPUT
        resolve = forked(upgraded(read(before[0]).events, entry.labs()), fork, entry.catalog().get)
    going = Going(lab, lab.spec.model_validate(started.spec), run_id)
    return run(going, output, going_on=True, failed_too=failed_too, resolve=resolve)


def _reread(run_id: str, journals: Path | None, as_json: bool) -> int:
    output = Output(journals, as_json)
    began = _begun(run_id, output.folder, home.recordings())
    if began is None:
        return BAD_INPUT
    path, started = began
    lab = entry.labs()[started.lab]
    history = upgraded(read(path).events, entry.labs())
    model = Replay(run_id, history)
    going = new_reading(lab, lab.spec.model_validate(started.spec), run_id, history)
    return run(going, output, resolve=lambda id: model)


def _begun(run_id: str, *folders: Path) -> tuple[Path, Started] | None:
    """The run's journal and how it began; None, and reported, where there is no such run or none that can go on."""
    path = found(run_id, *folders)
    if path is None:
        print(f"There is no run named {run_id!r} in {folders[0]}.", file=sys.stderr)
        return None
    try:
        events = read(path).events
    except FromTheFuture as error:
        print(error, file=sys.stderr)
        return None
    started = next((event for event in events if isinstance(event, Started)), None)
    if started is None or started.about or started.lab not in entry.labs():
        print(f"{path} holds no run that can go on.", file=sys.stderr)
        return None
    return path, started


@click.command("models", help="List the models that can be asked.")
@click.option("--json", "as_json", is_flag=True, help="print one model a line")
def _models(as_json: bool) -> int:
    for info in entry.catalog().describe():
        if as_json:
            print(json.dumps(info.model_dump(mode="json")))
        else:
            print(f"{info.id:<28} {info.about}{f' ({info.needs})' if info.needs else ''}")
    return DONE


@click.command("store", help="The index of the journals. rebuild: make it again from them.")
@click.argument("action", type=click.Choice(["rebuild"]))
def _store(action: Any) -> int:
    path = home.home() / "store.duckdb"
    try:
        store = Store(path, entry.labs())
    except StoreBusy:
        raise
    except StoreUnusable:
        # It is only an index: what cannot be read is put aside and made anew.
        path.replace(path.with_suffix(".broken"))
        store = Store(path, entry.labs())
    with store:
        runs = rebuild(store, home.journals())
        index(store, home.recordings(), recordings=True)
    print(f"{len(runs)} {'run' if len(runs) == 1 else 'runs'} indexed from {home.journals()}")
    return DONE
