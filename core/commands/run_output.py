"""What all labs' commands share: making a run in this process with its journal, printing it, and the exit code."""

import asyncio
import contextlib
import os
import shlex
import shutil
import signal
import sys
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, BinaryIO, TypeVar

import click

from .. import entry, home, journal
from ..datasets.get import mb
from ..datasets.items import Loaded
from ..events import Event, Failed, Recorded, Scored, Started, Token
from ..journal import Journal, JournalFullError, JournalInUseError
from ..labs.base.lab import Lab
from ..package_data import COMMAND
from ..report import run_scene
from ..report.scenes import of_case
from ..runs.context import Resolve
from ..runs.driver import Driver
from ..runs.engine import RunRequest
from ..runs.library import RunNotFoundError, refusing_newer_journals
from ..scene import steps
from ..server import instance
from ..store.index import index
from ..store.store import Store, StoreBusyError, StoreError
from ..transcript import RecordReader, Transcript, transcript

Decorated = TypeVar("Decorated", bound=Callable[..., Any] | click.Command)

DONE, WRONG, BAD_INPUT, UNREACHABLE, INTERRUPTED = 0, 1, 2, 3, 4
"""Exit codes. WRONG: a check found something that is not as it should be."""

NAMED = 10
"""Maximum number of broken rows of a data set that are printed; the journal has more."""


FILE = click.Path(path_type=Path, dir_okay=False)
"""The type of an option or argument that names a file."""

journals_option = click.option(
    "--journals",
    type=click.Path(path_type=Path, file_okay=False),
    metavar="DIR",
    callback=lambda context, option, given: given or home.journals(),
    help="default: $EXPLAIN_HOME/journals",
)
"""The folder of the journals, as the parameter `journals`; by default the home's."""


def json_option(printed: str) -> Callable[[Decorated], Decorated]:
    """Return the option --json, as the parameter `as_json`; `printed` describes the output for its help."""
    return click.option("--json", "as_json", is_flag=True, help=f"print {printed}")


event_option = json_option("one event per line, as in the journal")


@contextlib.contextmanager
def new_file(path: Path) -> Iterator[BinaryIO]:
    """Open a new file for writing, which gets its name when all of it is written. Raises click.BadParameter."""
    if path.exists():
        raise click.BadParameter(f"{path} already exists: choose another name.")
    aside = path.with_name(f".{path.name}.part")
    try:
        with aside.open("xb") as target:
            yield target
        os.replace(aside, path)
    except OSError as error:
        raise click.BadParameter(f"{path} cannot be written: {error.strerror or error}.") from None
    finally:
        aside.unlink(missing_ok=True)


def open_run(run_id: str, *folders: Path) -> tuple[Lab, Started, list[Event]]:
    """Return the lab of a run, its first event, and all its events. Raises RunNotFoundError."""
    path = journal.find(run_id, *folders)
    if path is None:
        raise RunNotFoundError(f"There is no run named {run_id!r} in {folders[0]}.")
    with refusing_newer_journals():
        found = journal.read(path)
    if found.faults:
        lines = "; ".join(f"line {fault.line}: {fault.reason}" for fault in found.faults[:NAMED])
        print(f"Damaged lines of the journal of {run_id}, {len(found.faults):,}: {lines}.", file=sys.stderr)
    started = next((event for event in found.events if isinstance(event, Started)), None)
    if started is None or started.about or started.lab not in entry.labs():
        raise RunNotFoundError(f"{path} contains no run of a lab that this app has.")
    return entry.labs()[started.lab], started, found.events


def aligned(rows: Sequence[Sequence[str]]) -> Iterator[str]:
    """Yield the rows of a table as lines, with each column as wide as its widest cell."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    for row in rows:
        yield "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip()


def run(
    request: RunRequest,
    folder: Path,
    as_json: bool,
    *,
    going_on: bool = False,
    failed_too: bool = False,
    resolve: Resolve | None = None,
) -> int:
    """Make the run in this process, with its journal in `folder`, print its progress, and return the exit code.
    `going_on` continues an existing journal; then a completed run is left alone unless its journal has lost lines or
    its failed calls are to be repeated (`failed_too`).

    Raises ModelNotFoundError before anything begins, and JournalInUseError if another process is making the run.
    """
    catalog = entry.catalog()
    for model in request.spec.models if resolve is None else ():
        catalog.get(model)
    driver = Driver(entry.labs(), resolve or catalog.get, folder)
    with Journal(folder / f"{request.id}.jsonl", new=not going_on) as written:
        history, mend = driver.resume_point(request.id, failed_too)
        state = transcript(history)
        printer = _Printer(as_json, state, request.lab)

        def publish(event: Event) -> None:
            line = written.append(event)
            if not isinstance(event, Token):
                state.apply(event)
                printer.show(event, line)

        async def make(first: RunRequest) -> None:
            if not as_json:
                print(f"First, as run {first.id}: {first.lab.question}", flush=True)
            await driver.execute_new(first)

        if not as_json and not going_on and (words := request.lab.advance_note(request.spec)):
            print(words, file=sys.stderr, flush=True)

        async def go() -> None:
            cancel_on_sigint()
            await driver.execute(replace(request, history=history, mend=mend), written, publish, make)

        try:
            asyncio.run(go())
        except (asyncio.CancelledError, KeyboardInterrupt):
            pass
        except (JournalFullError, JournalInUseError) as error:
            print(error, file=sys.stderr)
        printer.end()
    index_run(folder)
    code = exit_code(state)
    if not as_json:
        print(f"Run {request.id}")
        if code != DONE:
            elsewhere = f" --journals {shlex.quote(str(folder))}" if folder != home.journals() else ""
            failed = " --failed" if state.status == "completed" else ""
            print(f"To continue: {COMMAND} resume {request.id}{failed}{elsewhere}")
    return code


def exit_code(state: Transcript) -> int:
    """Return 0 for completed; 2 for failed by bad input; 3 for failed because a model could not be reached; 4 for
    stopped and resumable.

    A completed run that has no figure because its calls failed counts as a model that could not be reached.
    """
    if state.status == "completed":
        figures = [score for score in state.scores if not score.case]
        return UNREACHABLE if state.failed_items and all(score.value is None for score in figures) else DONE
    if state.status != "failed":
        return INTERRUPTED
    return BAD_INPUT if any(failure.bad_input for failure in state.failures) else UNREACHABLE


def index_run(journals: Path) -> None:
    """Index the run, unless the app has the store open and will index the journal itself.

    Errors of the store are only reported, because the run is safe in its journal.
    """
    if journals == home.journals():
        try:
            with Store(home.home() / "store.duckdb", entry.labs()) as store:
                index(store, journals)
        except StoreBusyError:
            pass
        except StoreError as error:
            print(error, file=sys.stderr)


def cancel_on_sigint() -> None:
    """Make Ctrl-C cancel the calling task in an orderly way, so that journals record how their runs ended. In a thread
    other than the main one, nothing is changed.
    """
    task = asyncio.current_task()
    assert task is not None
    with contextlib.suppress(NotImplementedError, RuntimeError, ValueError):
        asyncio.get_running_loop().add_signal_handler(signal.SIGINT, task.cancel)


@contextlib.contextmanager
def open_fresh_index() -> Iterator[Store]:
    """Open an up-to-date index; while the app is running, a copy of the app's. Raises StoreBusyError."""
    with contextlib.ExitStack() as stack:
        try:
            store = stack.enter_context(Store(home.index("store.duckdb"), entry.labs()))
        except StoreBusyError as busy:
            try:
                lent = instance.borrow()
                copy = Path(stack.enter_context(tempfile.TemporaryDirectory())) / "store.duckdb"
                shutil.copyfile(lent, copy)
            except (instance.IndexNotLentError, OSError) as error:
                raise StoreBusyError(f"{busy} {error}", busy.pid) from None
            store = stack.enter_context(Store(copy, entry.labs()))
        else:
            index(store, home.journals())
            index(store, home.recordings(), recordings=True)
        yield store


class ProgressLine:
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
        words = f"{mb(done)} of {mb(size)}" if size else mb(done)
        if done == size:
            words += "; checking and unpacking …"
        print(f"\r{words}" if self._is_terminal else words, end="" if self._is_terminal else "\n", file=sys.stderr)
        sys.stderr.flush()

    def close(self) -> None:
        """End the progress line."""
        if self._is_terminal and self._shown >= 0:
            print(file=sys.stderr)


BEFORE = {"panel": "  ", "remark": "  ", "note": "  ", "card": "  ", "more": "  - ", "doubt": "  - "}
"""The prefix of a step, by the first word of its key; its further lines are indented as far."""


def _laid_out(key: str, text: str) -> str:
    before = BEFORE.get(key.partition("-")[0], "")
    return before + text.replace("\n", "\n" + " " * len(before))


class _Printer:
    """Prints a run in progress: a single case line by line, several cases each when it has ended."""

    def __init__(self, as_json: bool, state: Transcript, lab: Lab) -> None:
        self._json = as_json
        self._state = state
        self._lab = lab
        self._printed: set[str] = set()
        self._complaint = ""
        self._rest_until = 0.0

    def show(self, event: Event, line: bytes) -> None:
        with self._reader():
            if self._json:
                print(line.decode(), end="", flush=True)
            elif isinstance(event, Failed):
                # A failure of the run is reported twice, by the failed call and by the run.
                if event.message != self._complaint:
                    print(f"  {event.message} {event.hint}".rstrip(), file=sys.stderr, flush=True)
                self._complaint = event.message
            elif isinstance(event, Recorded) and event.record == "loaded":
                held = RecordReader().read(Loaded, event.data)
                self._print((line, line) for line in ([held.summary(), *held.broken[:NAMED]] if held else []) if line)
            elif event.kind in ("recorded", "dropped"):
                self._tell(event.case, ended=isinstance(event, Recorded) and event.record == "result")

    def end(self) -> None:
        """Print the remaining lines, the summary, and the figures."""
        if self._json:
            return
        with self._reader():
            for case in self._state.cases:
                self._rest_until = 0.0
                self._tell(case, ended=True, active=False)
            if self._state.planned > 1:
                self._print([("summary", f"\n{self._lab.summary(self._state)}")])
            self._print(figures(self._lab, self._state))

    def _tell(self, case: str, ended: bool, active: bool = True) -> None:
        """Print what is known of a case; in a run of several, only once it has `ended`. `active`: the run is in
        progress.
        """
        # Building a long case takes a while. Until the next time, the run itself gets at least four times as long.
        began = time.monotonic()
        several = self._state.planned > 1
        if case not in self._state.cases or (not ended and (several or began < self._rest_until)):
            return
        scene = of_case(self._lab, self._state, case, active)
        self._print([(f"{case} title", ("\n" if several else "") + self._state.cases[case].title)])
        for key, text in steps(scene):
            # The title already says what is asked, and the meaning of a verdict is the same for all cases.
            if key != "question" and not (several and key == "meaning"):
                before = "\n" if key in ("headline", "meaning") and not several else ""
                self._print([(f"{case} {key}", before + _laid_out(key, text))])
        now = time.monotonic()
        self._rest_until = now + 4 * (now - began)

    def _print(self, lines: Iterable[tuple[str, str]]) -> None:
        for key, line in lines:
            if key not in self._printed:
                self._printed.add(key)
                print(line, flush=True)

    @contextlib.contextmanager
    def _reader(self) -> Iterator[None]:
        """If the output is closed (`| head`), let the run and its journal continue."""
        try:
            yield
        except BrokenPipeError:
            sys.stdout = open(os.devnull, "w")  # noqa: SIM115  for as long as the process lives


def figures(lab: Lab, state: Transcript) -> Iterable[tuple[str, str]]:
    """Yield the figures of the whole run, each once: the headline first, then the other leading ones, then the rest,
    and last the parts of the headline. If the original parser gives another figure, it has its own line. An
    undefined figure is left out unless it leads and has a reason.
    """
    leading = [metric.name for metric in lab.metrics if metric.leads]
    order = [*leading, *(metric.name for metric in lab.metrics if not metric.leads)]
    found = {(score.metric, score.item, score.rules): score for score in state.scores if not score.case}

    def place(score: Scored) -> tuple[bool, int, bool]:
        named = order.index(score.metric) if score.metric in order else len(order)
        return bool(score.item), named, score.rules == "paper"

    for score in sorted(found.values(), key=place):
        metric, item, is_paper = score.metric, score.item, score.rules == "paper"
        if item and (is_paper or not score.of or metric != lab.headline):
            continue
        if score.value is None and not (metric in leading and score.detail.get("reason")):
            continue
        if is_paper and (other := found.get((metric, item, "repaired"))) and _read(other) == _read(score):
            continue
        name = f"{metric}, original parser:" if is_paper else metric
        value = "undefined" if score.value is None else f"{score.value:.2f}"
        if score.value is not None and score.low is not None and score.high is not None:
            value += f", 95 % interval {score.low:.2f} to {score.high:.2f}"
        part = f"    {item:<28}" if item else ""
        reason = f": {score.detail['reason']}" if score.detail.get("reason") else ""
        yield f"score {metric} {score.rules} {item}", f"{part}  {name} {value}  ({score.n} of {score.of}){reason}"
    if state.status is not None:
        for line in run_scene.source_lines(lab, state):
            yield f"sources {line.title}", f"  {line.title}: {line.value}  ({line.n} of {line.of} questions)"


def _read(score: Scored) -> tuple[float | int | None, ...]:
    return score.value, score.n, score.of, score.low, score.high
