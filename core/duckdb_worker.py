"""Both ends of a process that reads with DuckDB what a person gave: a query of theirs, a table of theirs.

The process gets its task as JSON by standard input and no key; DuckDB in it loads no extension, and the system bounds
its memory and lets it write no file. It ends when its time is up, by its own clock and, at the latest, by the caller's.
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
"""DuckDB's settings to begin with."""

LOCKED = {"enable_external_access": "false", "lock_configuration": "true"}
"""Settings after which it opens no other file, and no setting changes."""

STARTING = 15.0
"""Seconds that the process may take beside its own: to start, and to open what it reads."""

_LATE = 7
"""The exit code of a process whose time was up."""

_REFUSED, _FOUND = b"!", b"="
"""What an answer begins with: then follows why, or what was found."""

_NO_NEW_PRIVS = 38
"""The number of the option of prctl."""

_FULL = "Out of Memory Error: the process may take no more."


class _Bounds(Protocol):
    """What a task says of what its process may take: megabytes, and seconds."""

    @property
    def memory_mb(self) -> int: ...
    @property
    def result_mb(self) -> int: ...
    @property
    def seconds(self) -> int: ...
    def _asdict(self) -> dict[str, Any]: ...


class WorkerRefused(Exception):
    """What the process could not do, in its own or DuckDB's words."""


class WorkerTimeout(Exception):
    """Its time was up."""


class WorkerOutOfMemory(Exception):
    """The system ended it, for it took more memory than it may."""


Task = TypeVar("Task", bound=_Bounds)


def asked(module: str, task: _Bounds) -> bytes:
    """What the process, which runs `module`, found for `task`. Raises WorkerRefused, WorkerTimeout, WorkerOutOfMemory,
    and OSError where no process can be started.
    """
    try:
        done = subprocess.run(  # noqa: S603  our own module
            [sys.executable, "-m", module],
            cwd=ROOT,
            # No key, and nothing that it might tell of this machine.
            env={**policy.child_environment(), "HOME": "/"},
            input=json.dumps(task._asdict()).encode(),
            capture_output=True,
            timeout=task.seconds + STARTING,
            check=False,
        )
    except subprocess.TimeoutExpired:
        raise WorkerTimeout from None
    if done.stdout.startswith(_FOUND):
        return done.stdout[1:]
    if done.stdout.startswith(_REFUSED):
        raise WorkerRefused(done.stdout[1:].decode("utf-8", "replace"))
    raise WorkerTimeout if done.returncode == _LATE else WorkerOutOfMemory


def serve(
    task: type[Task],
    connected: Callable[[Task], DuckDBPyConnection],
    found: Callable[[DuckDBPyConnection, Task], bytes],
) -> None:
    """The process's own end: reads a task, says what was `found`, or why not (DuckDB's errors, ValueError); and exits.
    What the task may take is bounded once it is `connected`.
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
    # Without DuckDB's tidying up, which a large result would keep busy.
    os._exit(0)


def give_up_new_rights() -> None:
    """Let neither this thread nor what it starts ever gain rights by what it executes (Linux: no_new_privs)."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_NO_NEW_PRIVS, 1, 0, 0, 0)


def _bound(bounds: _Bounds) -> None:
    """Let the system hold this process to what it may take."""
    give_up_new_rights()
    with suppress(ImportError):
        # Not on Windows.
        import resource

        resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))
        # DuckDB's own, the result twice, and what is loaded already.
        most = 2 * (bounds.memory_mb + bounds.result_mb) * MB + 256 * MB
        resource.setrlimit(resource.RLIMIT_DATA, (most, most))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
