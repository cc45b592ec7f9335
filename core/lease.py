"""A lease beside a file says who is writing it; its holder renews it as long as it lives.

Locks of the operating system do not work across machines on every network storage, and say nothing about a machine that
is gone. A lease is a small file, created exclusively (atomic on local disks and on NFS since version 3) and renewed by
its holder every few seconds. A lease that was not renewed for TTL seconds may be taken over. Times are those of the
storage itself, so the machines' clocks may differ. On the holder's own machine, a lease is free as soon as its process
is dead.
"""

import json
import math
import os
import platform
import secrets
import sys
import threading
import time
import weakref
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import NamedTuple

from .errors import ExplainError

TTL = 20.0
"""Seconds after which a lease that was not renewed is void."""

_RENEW = 4.0
"""Seconds between two renewals; several may fail before the lease is lost."""

_PAUSE = 0.01
"""Seconds to wait while another process takes over a void lease."""

_LONGEST = 4096
"""Longest lease in characters; the rest of a longer file is not read."""


class LeaseHeldError(ExplainError):
    """Someone else holds the lease. `who` names the process and the machine."""

    def __init__(self, who: str) -> None:
        super().__init__(who)
        self.who = who


class _Holder(NamedTuple):
    token: str
    machine: str
    pid: int
    begun: float

    @property
    def words(self) -> str:
        return f"process {self.pid} on {self.machine.partition(' ')[0]}"


_NOBODY = _Holder("", "?", 0, 0)


class Lease:
    """The right to write one file, held until `release`. Raises LeaseHeldError if someone else has it.

    `lost` becomes true once someone has taken the lease over because this process slept longer than TTL. The process
    must then write nothing more to the file.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self.lost = False
        self._token = secrets.token_hex(8)
        path.parent.mkdir(parents=True, exist_ok=True)
        for _ in range(10):
            if self._create(path):
                break
            if (found := _look(path)) is None:
                continue
            if found.is_live:
                raise LeaseHeldError(found.holder.words)
            if self._take_over():
                break
        else:
            raise LeaseHeldError("another process")
        self._turn = threading.Lock()
        with _registry:
            _leases.add(self)
        _start_renewing()

    def _create(self, path: Path) -> bool:
        """Create the file if it does not exist, and return whether this succeeded. The file appears with its
        content.
        """
        ready = path.with_name(f".{path.name}.{self._token}")
        ready.write_text(json.dumps(_Holder(self._token, _machine(), os.getpid(), _begun(os.getpid()))))
        try:
            os.link(ready, path)
        except FileExistsError:
            return False
        except OSError:
            # A file system without links: the content appears a moment after the file.
            try:
                with path.open("x") as file:
                    file.write(ready.read_text())
            except FileExistsError:
                return False
        finally:
            ready.unlink(missing_ok=True)
        return True

    def _take_over(self) -> bool:
        """Try to replace a void lease by this one, and return whether this succeeded. A second file, the guard, lets
        only one process try at a time. Without it, a process that wants to remove a lease that was void a moment ago
        could remove the one that another process has just created.
        """
        guard = self.path.with_name(f".{self.path.name}.taken")
        if not self._create(guard):
            found = _look(guard)
            if found is not None and not found.is_live:
                _take_away(guard)
            else:
                time.sleep(_PAUSE)
            return False
        try:
            if is_held(self.path):
                return False
            self.path.unlink(missing_ok=True)
            return self._create(self.path)
        finally:
            guard.unlink(missing_ok=True)

    def _is_ours(self) -> bool:
        return (found := _look(self.path)) is not None and found.holder.token == self._token

    def renew(self) -> None:
        """Mark the holder as alive, or note that the lease is lost."""
        with self._turn:
            if self._token == "" or self.lost:
                return
            if not self._is_ours():
                self.lost = True
                return
            with suppress(OSError):
                os.utime(self.path)

    def release(self) -> None:
        """Release the lease; others may take it immediately."""
        with self._turn:
            if self._token and self._is_ours():
                self.path.unlink(missing_ok=True)
            self._token = ""
        with _registry:
            _leases.discard(self)


class _Found(NamedTuple):
    """A lease found on disk: its holder, and whether the holder still holds it."""

    holder: _Holder
    is_live: bool


def _look(path: Path) -> _Found | None:
    """Return the lease at `path`; None if there is none. A lease that cannot be parsed is just being created, or was
    torn when the machine crashed; like one from another machine, it counts as live until TTL seconds after its last
    renewal.
    """
    try:
        with open(path, errors="replace") as file:
            renewed, holder = os.fstat(file.fileno()).st_mtime, _parsed(file.read(_LONGEST))
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError:
        return _Found(_NOBODY, True)
    if holder.machine == _machine():
        return _Found(holder, _begun(holder.pid) == holder.begun)
    age = _storage_time(path) - renewed
    if age < -TTL:
        # The storage's clock was set back. A living holder renews the lease within seconds; the lease of a dead one
        # would stay live until that time comes again.
        with suppress(OSError):
            os.utime(path)
    return _Found(holder, age < TTL)


def is_held(path: Path) -> bool:
    """Whether anyone holds the lease at `path` now, in any process on any machine."""
    return (found := _look(path)) is not None and found.is_live


def clean(folder: Path) -> None:
    """Remove the temporary files beside the folder's leases that a killed process has left behind. Raises nothing: what
    cannot be removed stays.
    """
    for path in folder.glob(f".*.{'[0-9a-f]' * 16}"):
        with suppress(OSError):
            if _storage_time(path) - path.stat().st_mtime > TTL:
                path.unlink()


def _take_away(path: Path) -> None:
    """Remove the lease of a dead process. If two processes try, only one rename succeeds; a live lease is put back."""
    aside = path.with_name(f".{path.name}.{secrets.token_hex(8)}")
    try:
        path.rename(aside)
    except OSError:
        return
    if is_held(aside):
        with suppress(OSError):
            os.link(aside, path)
    aside.unlink(missing_ok=True)


def _parsed(text: str) -> _Holder:
    try:
        token, machine, pid, begun = json.loads(text)
        return _Holder(str(token), str(machine), int(pid), float(begun))
    except (ValueError, TypeError, RecursionError):
        return _NOBODY


def _storage_time(path: Path) -> float:
    """Return the current time by the clock of the storage that holds `path`."""
    probe = path.with_name(f".now.{secrets.token_hex(8)}")
    try:
        probe.touch()
        return probe.stat().st_mtime
    except OSError:
        return time.time()
    finally:
        with suppress(OSError):
            probe.unlink()


@cache
def _machine() -> str:
    """Identify this machine since its last boot and, if processes are numbered per container, the container."""
    parts = [platform.node()]
    for name in ("/proc/sys/kernel/random/boot_id", "/proc/self/ns/pid"):
        with suppress(OSError):
            parts.append(os.readlink(name) if name.endswith("pid") else Path(name).read_text().strip())
    return " ".join(parts)


def _begun(pid: int) -> float:
    """Return when the process started; nan, which equals nothing, if it does not exist. This distinguishes a process
    from a later one with the same number. On Linux in ticks since boot: the wall-clock start time of a live process
    would change whenever the clock is set.
    """
    import psutil

    try:
        process = psutil.Process(pid)
        if process.status() == psutil.STATUS_ZOMBIE:
            return math.nan
        if sys.platform == "linux":
            return float(Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[19])
        return process.create_time()
    except (psutil.Error, ValueError, OSError):
        return math.nan


_leases: weakref.WeakSet[Lease] = weakref.WeakSet()
_registry = threading.Lock()


@cache
def _start_renewing() -> None:
    """Renew all leases of this process from now on, in one thread."""

    def renew() -> None:
        while True:
            time.sleep(_RENEW)
            with _registry:
                leases = list(_leases)
            for lease in leases:
                lease.renew()

    threading.Thread(target=renew, name="leases", daemon=True).start()
