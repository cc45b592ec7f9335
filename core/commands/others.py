"""`resume`, `models` and `store`."""

from __future__ import annotations

import argparse
import json
import sys
from typing import Any

from core import entry, home, journal
from core.commands import ask, check, find, probe
from core.commands.running import BAD_INPUT, DONE, Narrator, folder, output_options, run
from core.events import Started
from core.store.index import rebuild
from core.store.store import Store, StoreBusy, StoreUnusable

NARRATORS: dict[str, Narrator] = {
    "simulatability": ask.narrate,
    "consistency": check.narrate,
    "find": probe.narrate,
    "reliability": find.narrate,
}
"""Who tells a run, by its lab."""


def add(commands: Any) -> None:
    resume = commands.add_parser("resume", help="go on with a run that stopped; nothing is asked twice")
    resume.add_argument("run", metavar="RUN")
    output_options(resume)
    resume.set_defaults(command=_resume)

    models = commands.add_parser("models", help="list the models that can be asked")
    models.add_argument("--json", action="store_true", help="print one model a line")
    models.set_defaults(command=_models)

    store = commands.add_parser("store", help="the index of the journals")
    store.add_argument("action", choices=("rebuild",), help="rebuild: make it again from the journals")
    store.set_defaults(command=_store)


def _resume(given: argparse.Namespace) -> int:
    path = folder(given) / f"{given.run}.jsonl"
    try:
        events = journal.read(path).events
    except FileNotFoundError:
        print(f"There is no run named {given.run!r} in {path.parent}.", file=sys.stderr)
        return BAD_INPUT
    started = next((event for event in events if isinstance(event, Started)), None)
    lab = entry.labs().get(started.lab) if started else None
    if started is None or lab is None:
        print(f"{path} holds no run that can go on.", file=sys.stderr)
        return BAD_INPUT
    return run(lab, lab.spec.model_validate(started.spec), given.run, given, NARRATORS[lab.name], events)


def _models(given: argparse.Namespace) -> int:
    for info in entry.catalog().describe():
        if given.json:
            print(json.dumps(info.model_dump(mode="json")))
        else:
            print(f"{info.id:<28} {info.about}{f' ({info.needs})' if info.needs else ''}")
    return DONE


def _store(given: argparse.Namespace) -> int:
    path = home.home() / "store.duckdb"
    try:
        store = Store(path)
    except StoreBusy:
        raise
    except StoreUnusable:
        # It is only an index: what cannot be read is put aside and made anew.
        path.replace(path.with_suffix(".broken"))
        store = Store(path)
    with store:
        runs = rebuild(store, home.journals())
    print(f"{len(runs)} {'run' if len(runs) == 1 else 'runs'} indexed from {home.journals()}")
    return DONE
