"""Reads the whole journals of a first index in processes of its own, so that the app's process only inserts rows.

A worker gets the journals' names as JSON on its standard input. On its standard output it answers with batches: a line
of JSON, which says what the batch holds, and then each of its tables as an Arrow stream.
"""

from __future__ import annotations

import gc
import hashlib
import json
import logging
import os
import queue
import subprocess
import sys
import threading
from collections.abc import Generator, Iterator, Sequence
from typing import IO, TYPE_CHECKING, Any, NamedTuple

from .. import policy
from ..package_data import ROOT
from .event_rows import Rows, new_run
from .schema import StoreTable

if TYPE_CHECKING:
    import pyarrow as pa

    from .store import Store

log = logging.getLogger(__name__)

WORKERS = min(os.cpu_count() or 1, 2)
"""How many processes read journals. Two keep the one that inserts busy; a single processor gains nothing by them."""

ENOUGH = 32_000_000
"""Bytes of new journals that are worth starting the workers, which takes half a second."""

LONGEST = 16_000_000
"""Bytes of the longest journal that a worker reads: it holds all of its rows in memory."""

LINES = 5_000
"""How many lines a worker reads, at least, before it sends their rows."""

_WAITING = 2
"""How many batches of a worker wait until they are inserted."""


class ReadJournals(NamedTuple):
    """The rows of whole journals by table, how many `lines` those have, the names of their `runs`, and why any of these
    could not be read.
    """

    tables: dict[str, pa.Table]
    lines: int
    runs: list[str]
    unreadable: dict[str, str]


def are_worth(sizes: Sequence[int]) -> bool:
    """Whether workers read new journals of these sizes, in bytes, sooner than the app's process."""
    return WORKERS > 1 and len(sizes) > WORKERS and sum(sizes) >= ENOUGH


def read_all(store: Store, journals: Sequence[tuple[str, str, int]], recordings: bool) -> Generator[ReadJournals]:
    """Read new journals (run, path, bytes) in worker processes, which end with this iterator. If a worker ends early,
    its remaining journals are not among the results.
    """
    shares: list[list[tuple[str, str]]] = [[] for _ in range(WORKERS)]
    sizes = [0] * WORKERS
    for run, path, size in journals:
        least = sizes.index(min(sizes))
        shares[least].append((run, path))
        sizes[least] += size
    known = {"tables": store.tables, "records": store.records, "recordings": recordings}
    arrived: queue.Queue[ReadJournals | None] = queue.Queue(_WAITING * WORKERS)
    workers: list[subprocess.Popen[bytes]] = []
    ended = threading.Event()
    try:
        for share in shares:
            workers.append(_start())
            task = json.dumps({**known, "journals": share}).encode()
            threading.Thread(target=_receive, args=(workers[-1], task, arrived, ended), daemon=True).start()
        for _ in workers:
            while (batch := arrived.get()) is not None:
                yield batch
    except OSError as error:
        log.warning("no process could be started to read journals: %s", error)
    finally:
        ended.set()
        for worker in workers:
            worker.kill()
            worker.wait()


def _start() -> subprocess.Popen[bytes]:
    return subprocess.Popen(  # noqa: S603  our own module
        [sys.executable, "-m", __name__],
        cwd=ROOT,
        # Arrow's own allocator keeps what it freed, which takes a quarter of a worker's memory.
        env={**policy.child_environment(), "ARROW_DEFAULT_MEMORY_POOL": "system"},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        # Ctrl+C reaches the app's process, which ends this one.
        start_new_session=True,
    )


def _receive(
    worker: subprocess.Popen[bytes], task: bytes, arrived: queue.Queue[ReadJournals | None], ended: threading.Event
) -> None:
    """Give the worker its task and pass on its batches; at the end None."""
    assert worker.stdin is not None and worker.stdout is not None
    try:
        with worker.stdin, worker.stdout:
            worker.stdin.write(task)
            worker.stdin.close()
            while not ended.is_set() and (batch := _received(worker.stdout)) is not None:
                _put(arrived, batch, ended)
    except (OSError, ValueError) as error:
        if not ended.is_set():
            log.warning("a process that reads journals failed: %s", error)
    finally:
        _put(arrived, None, ended)


def _put(arrived: queue.Queue[ReadJournals | None], batch: ReadJournals | None, ended: threading.Event) -> None:
    while not ended.is_set():
        try:
            return arrived.put(batch, timeout=0.5)
        except queue.Full:
            continue


def _received(stream: IO[bytes]) -> ReadJournals | None:
    """The next batch; None at the end. Raises ValueError if the worker died while it sent one."""
    import pyarrow as pa

    line = stream.readline()
    if not line:
        return None
    said = json.loads(line)
    tables = {}
    for name, size in said["tables"].items():
        data = stream.read(size)
        if len(data) < size:
            raise ValueError("it ended in the middle of a batch")
        tables[name] = pa.ipc.open_stream(data).read_all()
    return ReadJournals(tables, said["lines"], said["runs"], said["unreadable"])


# The worker's side


def serve(given: IO[bytes], answer: IO[bytes]) -> None:
    """Read the journals of the task and send their rows."""
    # Rows have no cycles, and to look at all of them again and again takes a third of the time.
    gc.disable()
    task = json.load(given)
    tables = {name: StoreTable(columns, tuple(key)) for name, (columns, key) in task["tables"].items()}
    journals = task["journals"]
    rows, runs, unreadable, lines = Rows(tables, task["records"]), [], {}, 0
    for number, (run, path) in enumerate(journals, start=1):
        try:
            lines += _read_whole(rows, run, path, task["recordings"])
        except OSError as error:
            unreadable[run] = str(error)
        runs.append(run)
        if lines >= LINES or number == len(journals):
            _send(answer, rows, {"lines": lines, "runs": runs, "unreadable": unreadable})
            rows, runs, unreadable, lines = Rows(tables, task["records"]), [], {}, 0


def _read_whole(rows: Rows, run: str, path: str, recordings: bool) -> int:
    """Make the rows of the journal's complete lines. Returns how many there are. Raises OSError."""
    row, whole, number = new_run(run), 0, 0

    def lines(file: IO[bytes]) -> Iterator[bytes]:
        nonlocal whole, number
        for line in file:
            if not line.endswith(b"\n"):
                return
            if not number:
                row["head"] = hashlib.sha256(line).hexdigest()
            whole, number = whole + len(line), number + 1
            yield line

    with open(path, "rb") as file:
        row.update(journal=path, modified=os.fstat(file.fileno()).st_mtime_ns, recording=recordings)
        for event in rows.read(row, lines(file)):
            rows.add(row, event)
    if number:
        row.update(bytes=whole, lines=number)
        rows.put("runs", row)
    return number


def _send(answer: IO[bytes], rows: Rows, said: dict[str, Any]) -> None:
    import pyarrow as pa

    streams, made_of = {}, rows.to_arrow()
    while made_of:
        name, table = made_of.popitem()
        stream = pa.BufferOutputStream()
        with pa.ipc.new_stream(stream, table.schema) as made:
            made.write_table(table)
        streams[name] = stream.getvalue()
    answer.write(json.dumps({**said, "tables": {name: len(data) for name, data in streams.items()}}).encode() + b"\n")
    for data in streams.values():
        answer.write(data)
    answer.flush()


if __name__ == "__main__":
    serve(sys.stdin.buffer, sys.stdout.buffer)
