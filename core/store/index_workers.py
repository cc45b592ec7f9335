"""Reads the whole journals of a first index in processes of its own, so that the app's process only inserts rows.

A worker gets its task on its standard input, and answers with batches, the fields of `ReadJournals`, on its standard
output; both are pickled.
"""

from __future__ import annotations

import gc
import hashlib
import logging
import os
import pickle
import subprocess
import sys
from collections import deque
from collections.abc import Generator, Iterator, Sequence
from typing import IO, TYPE_CHECKING, Any, NamedTuple

from .. import policy
from .event_rows import Rows, new_run

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
    by_size = sorted(journals, key=lambda one: one[2])
    shares = [[one[:2] for one in by_size[number::WORKERS]] for number in range(WORKERS)]
    workers: list[subprocess.Popen[bytes]] = []
    try:
        for _ in shares:
            workers.append(_start())
        tasks = [(store.tables, store.records, recordings, share) for share in shares]
        # In turns: while the batch of one worker is inserted, the others make their next ones.
        reading = deque(map(_batches, workers, tasks))
        while reading:
            batches = reading.popleft()
            if (batch := next(batches, None)) is not None:
                reading.append(batches)
                yield batch
    except OSError as error:
        log.warning("no process could be started to read journals: %s", error)
    finally:
        for worker in workers:
            with worker:
                worker.kill()


def _start() -> subprocess.Popen[bytes]:
    # Arrow's own allocator keeps what it freed, which takes a quarter of a worker's memory.
    return policy.start_process([sys.executable, "-m", __name__], stderr=None, ARROW_DEFAULT_MEMORY_POOL="system")


def _batches(worker: subprocess.Popen[bytes], task: tuple[Any, ...]) -> Iterator[ReadJournals]:
    """Give the worker its task, and yield its batches until it ends."""
    assert worker.stdin is not None and worker.stdout is not None
    try:
        with worker.stdin:
            pickle.dump(task, worker.stdin)
        while True:
            yield ReadJournals(*pickle.load(worker.stdout))  # noqa: S301  our own process
    except EOFError:
        return
    except (OSError, pickle.UnpicklingError) as error:
        log.warning("a process that reads journals failed: %s", error)


# The worker's side


def serve(given: IO[bytes], answer: IO[bytes]) -> None:
    """Read the journals of the task and send their rows."""
    # Rows have no cycles, and to look at all of them again and again takes a third of the time.
    gc.disable()
    tables, records, recordings, journals = pickle.load(given)  # noqa: S301  from our own process
    rows, runs, unreadable, lines = Rows(tables, records), [], {}, 0
    for number, (run, path) in enumerate(journals, start=1):
        try:
            lines += _read_whole(rows, run, path, recordings)
        except OSError as error:
            unreadable[run] = str(error)
        runs.append(run)
        if lines >= LINES or number == len(journals):
            pickle.dump((rows.to_arrow(), lines, runs, unreadable), answer)
            answer.flush()
            runs, unreadable, lines = [], {}, 0


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


if __name__ == "__main__":
    serve(sys.stdin.buffer, sys.stdout.buffer)
