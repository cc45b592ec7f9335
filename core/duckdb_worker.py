"""Both ends of a process in which DuckDB handles what a person supplied: their query, or their table.

The process receives its task as JSON on standard input and gets no keys. DuckDB loads no extensions in it, and the
operating system limits its memory and lets it write no files. It stops itself when its time is up; if it does not, the
caller ends it.
"""

from __future__ import annotations

import ctypes
import json
import os
import subprocess
import sys
import threading
from collections.abc import Callable
from contextlib import suppress
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

from . import policy
from .package_data import ROOT

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

MB = 1024 * 1024

CONFIG = {
    "autoinstall_known_extensions": "false",
    "autoload_known_extensions": "false",
    "python_enable_replacements": "false",
    "temp_directory": "",
    "threads": "1",
}
"""DuckDB's initial settings."""

LOCKED = {"enable_external_access": "false", "lock_configuration": "true"}
"""Settings after which DuckDB opens no further file and allows no setting to be changed."""

STARTING = 15.0
"""Seconds that the process may take in addition to the task's own: to start, and to open its data."""

_LATE = 7
"""The exit code of a process that ran out of time."""

_REFUSED, _FOUND = b"!", b"="
"""First byte of an answer. The reason for the refusal, or the result, follows it."""

_NO_NEW_PRIVS = 38
"""The number of the prctl option."""

_FULL = "Out of Memory Error: the process may take no more."


class _Bounds(Protocol):
    """The limits that every task states for its process: megabytes of memory and of result, and seconds."""

    @property
    def memory_mb(self) -> int: ...
    @property
    def result_mb(self) -> int: ...
    @property
    def seconds(self) -> int: ...
    def _asdict(self) -> dict[str, Any]: ...


class WorkerRefusedError(Exception):
    """The process refused the task; the message is its own or DuckDB's."""


class WorkerTimeoutError(Exception):
    """The process ran out of time."""


class WorkerMemoryError(Exception):
    """The operating system ended the process because it took more memory than it may."""


Task = TypeVar("Task", bound=_Bounds)


def run_worker(module: str, task: _Bounds) -> bytes:
    """Run `module` in a new process and return its result for `task`. Raises WorkerRefusedError, WorkerTimeoutError,
    WorkerMemoryError, and OSError if no process can be started.
    """
    try:
        done = subprocess.run(  # noqa: S603  our own module
            [sys.executable, "-m", module],
            cwd=ROOT,
            # Without keys, and without anything that could reveal details of this machine.
            env={**policy.child_environment(), "HOME": "/"},
            input=json.dumps(task._asdict()).encode(),
            capture_output=True,
            timeout=task.seconds + STARTING,
            check=False,
        )
    except subprocess.TimeoutExpired:
        raise WorkerTimeoutError from None
    if done.stdout.startswith(_FOUND):
        return done.stdout[1:]
    if done.stdout.startswith(_REFUSED):
        raise WorkerRefusedError(done.stdout[1:].decode("utf-8", "replace"))
    raise WorkerTimeoutError if done.returncode == _LATE else WorkerMemoryError


def serve(
    task: type[Task],
    connected: Callable[[Task], DuckDBPyConnection],
    found: Callable[[DuckDBPyConnection, Task], bytes],
) -> None:
    """The worker's side: read a task, write what `found` returns or the reason why it failed (DuckDB's errors,
    ValueError), and exit. The limits apply as soon as `connected` has returned.
    """
    import duckdb

    given = task(**json.load(sys.stdin))
    try:
        connection = connected(given)
        _bound(given)
        late = threading.Timer(given.seconds, os._exit, [_LATE])
        late.daemon = True
        late.start()
        said = _FOUND + found(connection, given)
    except MemoryError:
        said = _REFUSED + _FULL.encode()
    except (duckdb.Error, ValueError) as error:
        said = _REFUSED + str(error).encode("utf-8", "replace")
    sys.stdout.buffer.write(said)
    sys.stdout.flush()
    # Skips DuckDB's cleanup, which takes long after a large result.
    os._exit(0)


def give_up_new_rights() -> None:
    """Keep this thread, and all processes it starts, from ever gaining privileges by executing a file (Linux:
    no_new_privs).
    """
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_NO_NEW_PRIVS, 1, 0, 0, 0)


def _bound(bounds: _Bounds) -> None:
    """Make the operating system enforce the limits of this process."""
    give_up_new_rights()
    with suppress(ImportError):
        # Not available on Windows.
        import resource

        resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))
        # DuckDB's own memory, the result twice, and what is already loaded.
        most = 2 * (bounds.memory_mb + bounds.result_mb) * MB + 256 * MB
        resource.setrlimit(resource.RLIMIT_DATA, (most, most))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
