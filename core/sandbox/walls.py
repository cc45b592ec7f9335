"""Walls of the system's own around the programs, should one ever get past the interpreter that carries it out.

On Linux the process beside the app gives up what it never needs, and its workers with it: new rights, writing a file,
and, where the kernel has Landlock (5.13 and later), every file but the code's own, and TCP from 6.7 on. A worker, once
it waits for programs, may open nothing at all: no file, no socket. Elsewhere there is the interpreter alone.
"""

from __future__ import annotations

import ctypes
import os
import sys
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path

from core.confined import MB, give_up_new_rights

WORKER_MB = 1024
"""Megabytes of addresses that a worker may have; it begins with some 180, and a program may fill 64."""

WORKER_SECONDS = 3600
"""Seconds of the processor that a worker may take for all of its programs, of which there are 500 at most."""

_CREATE_RULESET, _ADD_RULE, _RESTRICT_SELF = 444, 445, 446
"""Numbers of Landlock's system calls, on every architecture the same."""

_EXECUTE, _WRITE, _READ, _LIST = 1 << 0, 1 << 1, 1 << 2, 1 << 3

_RIGHTS = {1: 13, 2: 14, 3: 15, 5: 16}
"""How many rights to files Landlock knows, from which of its versions on."""

_TCP, _SIGNALS = 0b11, 0b11
"""To bind and to connect, from version 4 on; abstract sockets and signals to others, from version 6 on."""


class _Ruleset(ctypes.Structure):
    _fields_ = [("files", ctypes.c_uint64), ("net", ctypes.c_uint64), ("scope", ctypes.c_uint64)]


class _Beneath(ctypes.Structure):
    _pack_ = 1
    _fields_ = [("allowed", ctypes.c_uint64), ("parent", ctypes.c_int32)]


def raise_walls() -> bool:
    """Shut this process in, with all it starts from now on in this thread. Whether Landlock holds too."""
    if sys.platform != "linux":
        return False
    import resource

    give_up_new_rights()
    for limit in (resource.RLIMIT_FSIZE, resource.RLIMIT_CORE):
        resource.setrlimit(limit, (0, 0))
    code = Path(__file__).resolve().parents[1]
    places = {Path(place).resolve() for place in (sys.prefix, sys.base_prefix, *sys.path) if place}
    # The folder above the code's holds the home, unless that lies elsewhere.
    readable = [code, *(place for place in places if place not in code.parents)]
    readable += map(Path, ("/usr", "/lib", "/lib64", "/etc/ld.so.cache", "/etc/localtime", "/dev/urandom"))
    return _landlocked([*readable, Path("/proc/self/task")], [Path("/dev/null")])


def bound_workers(bounded: set[int]) -> None:
    """Take from this process's children what only their start needed, but for those in `bounded`, which is changed in
    place.
    """
    if sys.platform != "linux":
        return
    import resource

    children = set(_children())
    for worker in children - bounded:
        # Gone meanwhile.
        with suppress(ProcessLookupError):
            resource.prlimit(worker, resource.RLIMIT_NOFILE, (0, 0))
            resource.prlimit(worker, resource.RLIMIT_NPROC, (0, 0))
            resource.prlimit(worker, resource.RLIMIT_AS, (WORKER_MB * MB, WORKER_MB * MB))
            resource.prlimit(worker, resource.RLIMIT_CPU, (WORKER_SECONDS, WORKER_SECONDS))
    bounded.clear()
    bounded.update(children)


def _children() -> Iterable[int]:
    """The processes that this one started; none where the kernel does not tell."""
    for thread in os.listdir("/proc/self/task"):
        # A thread that has ended meanwhile.
        with suppress(OSError):
            yield from map(int, Path(f"/proc/self/task/{thread}/children").read_text().split())


def _landlocked(readable: Iterable[Path], writable: Iterable[Path]) -> bool:
    """Leave this thread these files and folders, with what lies in them, and no others. Whether the kernel can."""
    libc = ctypes.CDLL(None, use_errno=True)
    version = libc.syscall(_CREATE_RULESET, None, 0, 1)
    if version < 1:
        return False
    known = (1 << max(bits for since, bits in _RIGHTS.items() if since <= version)) - 1
    ruleset = _Ruleset(known, _TCP if version >= 4 else 0, _SIGNALS if version >= 6 else 0)
    size = 8 if version < 4 else 16 if version < 6 else 24
    rules = libc.syscall(_CREATE_RULESET, ctypes.byref(ruleset), size, 0)
    if rules < 0:
        return False
    try:
        for places, rights in ((readable, _READ | _EXECUTE), (writable, _READ | _WRITE)):
            for place in places:
                with suppress(FileNotFoundError):
                    _allow(libc, rules, place, rights)
        return bool(libc.syscall(_RESTRICT_SELF, rules, 0) == 0)
    finally:
        os.close(rules)


def _allow(libc: ctypes.CDLL, rules: int, place: Path, rights: int) -> None:
    at = os.open(place, os.O_PATH | os.O_CLOEXEC)
    try:
        allowed = rights | (_LIST if place.is_dir() else 0)
        libc.syscall(_ADD_RULE, rules, 1, ctypes.byref(_Beneath(allowed, at)), 0)
    finally:
        os.close(at)
