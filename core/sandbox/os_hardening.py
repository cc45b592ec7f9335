"""The operating system's protection around programs, in case one ever escapes from its interpreter.

On Linux, the process beside the app and its workers give up what they never need: gaining privileges, writing files,
and, if the kernel has Landlock, opening any file but the code's own (from 5.13 on) and connecting by TCP (from 6.7 on).
If the system allows it an empty network namespace, the process reaches no network at all. A worker that waits for
programs may open nothing, neither files nor sockets. On other systems there is only the interpreter. `OSLimits` says
which protections are active.
"""

import ctypes
import os
import sys
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

from ..duckdb_worker import MB, give_up_new_rights
from ..package_data import CODE

WORKER_MB = 1024
"""Megabytes of address space that a worker may have; it begins with some 180, and a program may fill 64."""

WORKER_SECONDS = 3600
"""Seconds of processor time that a worker may use for all its programs, of which there are at most 500."""

_CREATE_RULESET, _ADD_RULE, _RESTRICT_SELF = 444, 445, 446
"""Numbers of Landlock's system calls, the same on every architecture."""

_EXECUTE, _WRITE, _READ, _LIST = 1 << 0, 1 << 1, 1 << 2, 1 << 3

_RIGHTS = {1: 13, 2: 14, 3: 15, 5: 16}
"""How many file rights Landlock knows, by the version that introduced them."""

_TCP, _SIGNALS = 0b11, 0b11
"""Landlock flags: bind and connect, from version 4 on; abstract sockets and signals to other processes, from version 6
on.
"""

_NEW_USER, _NEW_NET = 0x10000000, 0x40000000
"""Flags of unshare: a new user namespace, which every user but root needs first, and a new network namespace."""

_CAPABILITIES = 0x20080522
"""The version of capset's structures: two numbers, and two times three words of capabilities."""

_HAS_NO_NEW_PRIVS = 39


class OSLimits(NamedTuple):
    """Which protections are active, as the process beside the app found when it had started its first worker."""

    rights: bool = False
    writing: bool = False
    files: bool = False
    tcp: bool = False
    network: bool = False
    workers: bool = False

    @property
    def described(self) -> list[tuple[bool, str]]:
        """Each protection in words, with whether it is active."""
        return [
            (True, "The interpreter that runs programs has no access to files or the network."),
            (self.workers, "Its worker cannot open files or sockets, or start processes (rlimits)."),
            (
                self.writing,
                "The helper process, which serves calls from programs, cannot write files (rlimits).",
            ),
            (self.rights, "Neither can gain rights through what it executes (no_new_privs)."),
            (self.files, "Neither can open files other than those of the code itself (Landlock)."),
            (self.network or self.tcp, "Neither can connect by TCP (Landlock, or an empty network)."),
            (self.network, "Neither can reach any network (an empty network namespace)."),
        ]


class _Ruleset(ctypes.Structure):
    _fields_ = [("files", ctypes.c_uint64), ("net", ctypes.c_uint64), ("scope", ctypes.c_uint64)]


class _Beneath(ctypes.Structure):
    _pack_ = 1
    _fields_ = [("allowed", ctypes.c_uint64), ("parent", ctypes.c_int32)]


def raise_walls() -> OSLimits:
    """Confine this process, and everything it starts from now on in this thread. Must be called while it has no other
    thread.
    """
    if sys.platform != "linux":
        return OSLimits()
    import resource

    give_up_new_rights()
    network = _left_the_network()
    for limit in (resource.RLIMIT_FSIZE, resource.RLIMIT_CORE):
        resource.setrlimit(limit, (0, 0))
    code = CODE
    places = {Path(place).resolve() for place in (sys.prefix, sys.base_prefix, *sys.path) if place}
    # The folder above the code's contains the home, unless that is elsewhere.
    readable = [code, *(place for place in places if place not in code.parents)]
    readable += map(Path, ("/usr", "/lib", "/lib64", "/etc/ld.so.cache", "/etc/localtime", "/dev/urandom"))
    landlock = _landlocked([*readable, Path("/proc/self/task")], [Path("/dev/null")])
    return OSLimits(
        rights=ctypes.CDLL(None).prctl(_HAS_NO_NEW_PRIVS, 0, 0, 0, 0) == 1,
        writing=resource.getrlimit(resource.RLIMIT_FSIZE) == (0, 0),
        files=landlock >= 1,
        tcp=landlock >= 4,
        network=network,
    )


def bound_workers(bounded: set[int]) -> None:
    """Take from this process's children what only their start needed, except for those in `bounded`, which is updated
    in place. If the kernel does not tell which processes are children, none is limited.
    """
    if sys.platform != "linux":
        return
    import resource

    children = set(_children())
    for worker in children - bounded:
        # The worker may have ended in the meantime.
        with suppress(ProcessLookupError):
            resource.prlimit(worker, resource.RLIMIT_NOFILE, (0, 0))
            resource.prlimit(worker, resource.RLIMIT_NPROC, (0, 0))
            resource.prlimit(worker, resource.RLIMIT_AS, (WORKER_MB * MB, WORKER_MB * MB))
            resource.prlimit(worker, resource.RLIMIT_CPU, (WORKER_SECONDS, WORKER_SECONDS))
    bounded.clear()
    bounded.update(children)


def _children() -> Iterable[int]:
    """Return the processes that this one started; none if the kernel does not tell."""
    for thread in os.listdir("/proc/self/task"):
        # The thread may have ended in the meantime.
        with suppress(OSError):
            yield from map(int, Path(f"/proc/self/task/{thread}/children").read_text().split())


def _left_the_network() -> bool:
    """Give this process an empty network, and return whether the kernel allowed it: many containers do not. Root stays
    root, because another user might not be able to read the code; other users get a namespace without capabilities.
    """
    libc = ctypes.CDLL(None)
    is_root = os.geteuid() == 0
    if libc.unshare(_NEW_NET if is_root else _NEW_USER | _NEW_NET) != 0:
        return False
    if not is_root:
        libc.capset((ctypes.c_uint32 * 2)(_CAPABILITIES, 0), (ctypes.c_uint32 * 6)())
    return True


def _landlocked(readable: Iterable[Path], writable: Iterable[Path]) -> int:
    """Restrict this thread to these files and folders, with their content. Returns the kernel's version of Landlock; 0
    if it has none.
    """
    libc = ctypes.CDLL(None, use_errno=True)
    version = libc.syscall(_CREATE_RULESET, None, 0, 1)
    if version < 1:
        return 0
    known = (1 << max(bits for since, bits in _RIGHTS.items() if since <= version)) - 1
    ruleset = _Ruleset(known, _TCP if version >= 4 else 0, _SIGNALS if version >= 6 else 0)
    size = 8 if version < 4 else 16 if version < 6 else 24
    rules = libc.syscall(_CREATE_RULESET, ctypes.byref(ruleset), size, 0)
    if rules < 0:
        return 0
    try:
        for places, rights in ((readable, _READ | _EXECUTE), (writable, _READ | _WRITE)):
            for place in places:
                with suppress(FileNotFoundError):
                    _allow(libc, rules, place, rights)
        return int(version) if libc.syscall(_RESTRICT_SELF, rules, 0) == 0 else 0
    finally:
        os.close(rules)


def _allow(libc: ctypes.CDLL, rules: int, place: Path, rights: int) -> None:
    at = os.open(place, os.O_PATH | os.O_CLOEXEC)
    try:
        allowed = rights | (_LIST if place.is_dir() else 0)
        libc.syscall(_ADD_RULE, rules, 1, ctypes.byref(_Beneath(allowed, at)), 0)
    finally:
        os.close(at)
