"""Who is writing a file: a lease beside it, renewed while its holder lives.

Locks of the operating system do not hold across machines on every network storage, and say nothing about a machine that
is gone. A lease is a small file, made by an exclusive create (atomic on local disks and on NFS since version 3) and
renewed by its holder every few seconds; who finds one that was not renewed for TTL seconds may take it over. Times are
those of the storage itself, so that clocks may disagree. On the holder's own machine a dead process frees it at once.
"""

from __future__ import annotations

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

TTL = 20.0
"""Seconds after which a lease that was not renewed is void."""

_RENEW = 4.0
"""Seconds between two renewals; several may fail before the lease is lost."""

_PAUSE = 0.01
"""Seconds to wait for another who takes a void lease over."""

_LONGEST = 4096
"""Characters of a lease; what is longer is none."""


class LeaseHeld(Exception):
    """Someone else holds the lease. `who` says which process on which machine."""

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
    """The right to write one file, held until `release`. Raises LeaseHeld where someone else has it.

    `lost` is true once someone took it over: this process slept longer than TTL. What it would write then must not be
    written.
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
                raise LeaseHeld(found.holder.words)
            if self._take_over():
                break
        else:
            raise LeaseHeld("another process")
        self._turn = threading.Lock()
        _renewer().add(self)

    def _create(self, path: Path) -> bool:
        """Whether the file could be made. Its content stands in it from the first moment it can be seen."""
        ready = path.with_name(f".{path.name}.{self._token}")
        ready.write_text(json.dumps(_Holder(self._token, _machine(), os.getpid(), _begun(os.getpid()))))
        try:
            os.link(ready, path)
        except FileExistsError:
            return False
        except OSError:
            # A file system without links: the content comes a moment after the file.
            try:
                with path.open("x") as file:
                    file.write(ready.read_text())
            except FileExistsError:
                return False
        finally:
            ready.unlink(missing_ok=True)
        return True

    def _take_over(self) -> bool:
        """Whether this lease now stands in place of a void one. One at a time may try, who holds a second file beside
        it: a process that removed a lease that was void a moment ago could remove the one that another has just made.
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

    def renew(self) -> None:
        """Say that the holder lives, or note that the lease is lost."""
        with self._turn:
            if self._token == "" or self.lost:
                return
            if _token_at(self.path) != self._token:
                self.lost = True
                return
            with suppress(OSError):
                os.utime(self.path)

    def release(self) -> None:
        """Give it back; others may have it at once."""
        with self._turn:
            if self._token and _token_at(self.path) == self._token:
                self.path.unlink(missing_ok=True)
            self._token = ""
        _renewer().discard(self)


class _Found(NamedTuple):
    """A lease as it lies there: who made it, and whether they still hold it."""

    holder: _Holder
    is_live: bool


def _look(path: Path) -> _Found | None:
    """The lease at `path`; None where there is none. What cannot be read is being made at this moment, or was torn by a
    crash of the machine.
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
        # The storage's clock was set back. Its holder renews it within seconds; of one who is gone it would be
        # live until that time comes again.
        with suppress(OSError):
            os.utime(path)
    return _Found(holder, age < TTL)


def is_held(path: Path) -> bool:
    """Whether someone, in this process or another, here or elsewhere, holds the lease at `path` now."""
    return (found := _look(path)) is not None and found.is_live


def clean(folder: Path) -> None:
    """Remove the files that stand beside the leases of the folder for a moment, where a process was killed just then.
    Raises nothing: what cannot be removed stays.
    """
    for path in folder.glob(f".*.{'[0-9a-f]' * 16}"):
        with suppress(OSError):
            if _storage_time(path) - path.stat().st_mtime > TTL:
                path.unlink()


def _take_away(path: Path) -> None:
    """Remove what one who died left. Of two who try only one rename succeeds, and a live one is put back."""
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


def _token_at(path: Path) -> str:
    try:
        with open(path, errors="replace") as file:
            return _parsed(file.read(_LONGEST)).token
    except OSError:
        return ""


def _storage_time(path: Path) -> float:
    """Now, by the clock of the storage that `path` lies on."""
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
    """This machine since it was started, and where processes have numbers of their own, the container."""
    parts = [platform.node()]
    for name in ("/proc/sys/kernel/random/boot_id", "/proc/self/ns/pid"):
        with suppress(OSError):
            parts.append(os.readlink(name) if name.endswith("pid") else Path(name).read_text().strip())
    return " ".join(parts)


def _begun(pid: int) -> float:
    """When the process began; nan, which equals nothing, where there is none. Tells a process from a later one of the
    same number. On Linux in ticks since the machine's start: by the clock, a live process would have begun at another
    time once that is set.
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


class _Renewer:
    """Renews all leases of this process, in one thread."""

    def __init__(self) -> None:
        self._leases: weakref.WeakSet[Lease] = weakref.WeakSet()
        self._turn = threading.Lock()
        threading.Thread(target=self._go, name="leases", daemon=True).start()

    def add(self, lease: Lease) -> None:
        with self._turn:
            self._leases.add(lease)

    def discard(self, lease: Lease) -> None:
        with self._turn:
            self._leases.discard(lease)

    def _go(self) -> None:
        while True:
            time.sleep(_RENEW)
            with self._turn:
                leases = list(self._leases)
            for lease in leases:
                lease.renew()


@cache
def _renewer() -> _Renewer:
    return _Renewer()
