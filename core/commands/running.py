"""What every lab's command shares: a run in this process, with its journal, what is printed, and the exit code."""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import os
import shlex
import signal
import sys
import time
from collections.abc import Callable, Iterable
from pathlib import Path

from core import entry, home
from core.events import Event, Failed, Token, to_json
from core.journal import Journal
from core.labs.find.measure import NoFunction
from core.models.errors import NoSuchModel, OutsideWorld
from core.runs.run import Lab, Spec, execute
from core.runs.transcript import Transcript, transcript
from core.store.index import index
from core.store.store import Store, StoreBusy, StoreError

DONE, BAD_INPUT, UNREACHABLE, INTERRUPTED = 0, 2, 3, 4
"""Exit codes."""

_BAD_INPUT = {kind.__name__ for kind in (NoSuchModel, OutsideWorld, NoFunction)}

Narrator = Callable[[Transcript], Iterable[tuple[str, str]]]
"""What there is to tell of a run so far, as (key, line); a line is printed when its key is new."""


def output_options(parser: argparse.ArgumentParser) -> None:
    """The options of every command that makes a run."""
    parser.add_argument("--journals", metavar="DIR", type=Path, help="default: $EXPLAIN_HOME/journals")
    parser.add_argument("--json", action="store_true", help="print one event a line, as in the journal")


def folder(given: argparse.Namespace) -> Path:
    return given.journals or home.journals()


def run(
    lab: Lab,
    spec: Spec,
    run_id: str,
    given: argparse.Namespace,
    narrate: Narrator,
    history: Iterable[Event] = (),
) -> int:
    """Execute the run in this process, telling it as it goes on; the exit code.

    Raises NoSuchModel before anything begins.
    """
    for model in spec.models:
        entry.catalog().get(model)
    events = list(history)
    printer = _Printer(given.json, events, narrate)
    with Journal(folder(given) / f"{run_id}.jsonl") as written:

        def publish(event: Event) -> None:
            written.append(event)
            if not isinstance(event, Token):
                events.append(event)
                printer.show(event)

        async def go() -> None:
            task = asyncio.current_task()
            assert task is not None
            # Ctrl-C cancels the run in good order, so that the journal says how it ended.
            with contextlib.suppress(NotImplementedError):
                asyncio.get_running_loop().add_signal_handler(signal.SIGINT, task.cancel)
            await execute(lab, spec, run_id, resolve=entry.catalog().get, publish=publish, history=history)

        with contextlib.suppress(asyncio.CancelledError, KeyboardInterrupt):
            asyncio.run(go())
    _into_the_store(folder(given))
    code = exit_code(events)
    if not given.json:
        print(f"Run {run_id}")
        if code != DONE:
            elsewhere = f" --journals {shlex.quote(str(given.journals))}" if given.journals else ""
            print(f"To go on from here: python -m core resume {run_id}{elsewhere}")
    return code


def exit_code(events: list[Event]) -> int:
    """0 completed; 2 and 3 failed, by bad input or because a model was out of reach; 4 stopped and resumable.

    A completed run without one figure, for its calls failed, counts as a model out of reach.
    """
    told = transcript(events)
    status = told.status
    if status == "completed":
        failed = any(drop.reason == "error" for drop in told.drops)
        return UNREACHABLE if failed and all(score.value is None for score in told.scores.values()) else DONE
    if status != "failed":
        return INTERRUPTED
    failure = next((event for event in reversed(events) if isinstance(event, Failed)), None)
    return BAD_INPUT if failure and failure.error in _BAD_INPUT else UNREACHABLE


def _into_the_store(journals: Path) -> None:
    """Index the run, unless the app has the store open: then the app takes the journal up itself.

    The run is in its journal, so a store that cannot be used takes nothing from it: that is only said.
    """
    if journals == home.journals():
        try:
            with Store(home.home() / "store.duckdb") as store:
                index(store, journals)
        except StoreBusy:
            pass
        except StoreError as error:
            print(error, file=sys.stderr)


class _Printer:
    def __init__(self, as_json: bool, events: list[Event], narrate: Narrator) -> None:
        self._json = as_json
        self._events = events
        self._narrate = narrate
        self._told: set[str] = set()
        self._complaint = ""
        self._rest_until = 0.0

    def show(self, event: Event) -> None:
        try:
            self._show(event)
        except BrokenPipeError:
            # Nobody reads on (`| head`); the run and its journal go on all the same.
            sys.stdout = open(os.devnull, "w")  # noqa: SIM115  for as long as the process lives

    def _show(self, event: Event) -> None:
        if self._json:
            print(to_json(event), flush=True)
        elif isinstance(event, Failed):
            # What failed the run is told by the call that failed and by the run.
            if event.message != self._complaint:
                print(f"  {event.message} {event.hint}".rstrip(), file=sys.stderr, flush=True)
            self._complaint = event.message
        elif event.kind in ("recorded", "dropped", "finished"):
            # Telling a long run takes a while; between two times at least four times as long goes to the run itself.
            began = time.monotonic()
            if event.kind != "finished" and began < self._rest_until:
                return
            for key, line in self._narrate(transcript(self._events)):
                if key not in self._told:
                    self._told.add(key)
                    print(line, flush=True)
            now = time.monotonic()
            self._rest_until = now + 4 * (now - began)


def figure(metric: str, value: float | None, n: int, of: int, low: float | None, high: float | None) -> str:
    """One score as a line."""
    if value is None:
        return f"  {metric} undefined  ({n} of {of})"
    interval = f", 95 % interval {low:.2f} to {high:.2f}" if low is not None and high is not None else ""
    return f"  {metric} {value:.2f}{interval}  ({n} of {of})"


def figures(told: Transcript) -> Iterable[tuple[str, str]]:
    """All scores of the run under the repaired rules, once it is over."""
    if told.status is not None:
        for score in told.scores.values():
            if score.rules == "repaired" and not score.item:
                line = figure(score.metric, score.value, score.n, score.of, score.low, score.high)
                yield f"score {score.metric}", line
