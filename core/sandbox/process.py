"""The process beside the app that runs model-written code, one program after the other.

`core.sandbox.sandbox` runs it as a script. The code itself runs in a worker process of monty's; the functions lent to
it (`modules`) are called here, so that nothing a program asks of numpy can block the app. Each line of JSON on standard
input is a program, each line on standard output its outcomes. When standard input ends, this process ends with
everything it started: at the latest when the app does, whatever the reason.
"""

from __future__ import annotations

import ctypes
import json
import math
import os
import queue
import re
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from functools import lru_cache, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from ..duckdb_worker import MB, give_up_new_rights
from ..package_data import CODE
from .modules import lent_modules, of_array
from .prelude import NUMBERS, TEXTS
from .rewriting import names_numbers, rewritten

if TYPE_CHECKING:
    from pydantic_monty import Monty, ResourceLimits


# The operating system's protection around programs, in case one ever escapes from its interpreter.
#
# On Linux, the process beside the app and its workers give up what they never need: gaining privileges, writing
# files, and, if the kernel has Landlock, opening any file but the code's own (from 5.13 on) and connecting by TCP
# (from 6.7 on). If the system allows it an empty network namespace, the process reaches no network at all. A worker
# that waits for programs may open nothing, neither files nor sockets. On other systems there is only the
# interpreter. `OSLimits` says which protections are active.


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


LONGEST_TEXT = 10_000
LONGEST_MESSAGE = 300
PRINTED_BYTES = 256 * 1024
DEPTH = 200

Outcome = tuple[Any, str | None]
"""The result for one input: a number or a text, or None and the reason."""

_SEEDING = """
def __seed(number):
    import random
    random.seed(number)
"""
"""The import is inside a function so that it does not help a program that forgets to import random itself."""

_DRIVER = """
__outcomes = []
for __x in __inputs:
    try:
        __outcomes.append((__tested(__x), None))
    except BaseException as __error:
        __outcomes.append((None, type(__error).__name__ + ": " + str(__error)[:300]))
__outcomes
"""


def run(
    pool: Monty,
    code: str,
    name: str,
    inputs: Sequence[Any],
    *,
    seconds: float,
    memory: int,
    calls: int,
    seed: int,
    lists: bool = True,
    ready: Callable[[], None] = lambda: None,
) -> list[Outcome] | str:
    """Return the outcomes of function `name` in `code`, one per input, or the reason why there are none. Never raises.

    `seconds` limits the program's computing time, `memory` (bytes) its heap, `calls` how often it calls lent functions.
    With `lists`, a list of one element stands for that element, as an array of one always does. `ready` is called once
    there is a worker, before anything of the program runs.
    """
    import pydantic_monty

    printed = pydantic_monty.CollectString(max_bytes=PRINTED_BYTES)
    try:
        program = rewritten(code)
        # The sandbox's own clock stops while a lent function runs. What we run before the program does not count as its
        # time: on a busy machine, that alone would make it fail.
        ends = math.inf
        begun = _begun(pool, names_numbers(code), seconds, memory, calls)
        modules = lent_modules(lambda: time.monotonic() > ends, seed)
        with pool.checkout(limits=_limits(seconds, memory, calls), external_modules=modules) as session:
            ready()
            session.load_session(begun)
            session.feed_run(f"__seed({seed})")
            ends = time.monotonic() + seconds
            session.feed_run(program, print_callback=printed)
            session.feed_run(f"__tested = {name}", print_callback=printed)
            outcomes = session.feed_run(_DRIVER, inputs={"__inputs": list(inputs)}, print_callback=printed)
    except pydantic_monty.MontyCrashedError:
        return "the program crashed its worker or would not stop"
    except Exception as error:  # whatever a hostile program provokes becomes a sentence
        return _words_for(error)
    if not isinstance(outcomes, list) or len(outcomes) != len(inputs):
        return "the program gave no values"
    return [_checked(outcome, lists) for outcome in outcomes]


def _limits(seconds: float, memory: int, calls: int) -> ResourceLimits:
    return {
        "max_feed_duration_secs": seconds,
        "max_memory": memory,
        "max_recursion_depth": DEPTH,
        "max_suspensions": calls,
        "max_total_sleep_secs": 0.0,
    }


@lru_cache(maxsize=32)
def _begun(pool: Monty, numbers: bool, seconds: float, memory: int, calls: int) -> bytes:
    """Return a session with everything that a program finds at its start. Loading it takes less time than running the
    prelude, which takes longer than most programs. A session made from it has the limits that it was saved under.
    """
    with pool.checkout(
        limits=_limits(seconds, memory, calls), external_modules=lent_modules(lambda: False, 0)
    ) as session:
        session.feed_run(_SEEDING + TEXTS)
        if numbers:
            session.feed_run(NUMBERS)
        return session.dump()


def _checked(outcome: Any, lists: bool) -> Outcome:
    """Return a valid value, or the reason why the program's is not one. The program may have tampered with the
    driver.
    """
    if not (isinstance(outcome, tuple) and len(outcome) == 2):
        return None, "the program gave no value"
    value, error = outcome
    if type(value) is float and error is None:  # the usual case, hundreds of times per program
        return value, None
    row = of_array(value)
    if row is not value:
        value = row[0] if isinstance(row, list) and len(row) == 1 else row
    if error is not None:
        return None, _plainly(error) if isinstance(error, str) else "the program gave no value"
    if isinstance(value, str):
        return (value, None) if len(value) <= LONGEST_TEXT else (None, "the text returned is too long")
    if isinstance(value, complex):
        return value, None
    if isinstance(value, int | float):
        try:
            return float(value), None
        except OverflowError:
            return None, "OverflowError: the number returned is too large"
    if lists and isinstance(value, list | tuple) and len(value) == 1:
        return _checked((value[0], None), lists)
    return None, "the function returned nothing" if value is None else f"the function returned a {type(value).__name__}"


def _words_for(error: Exception) -> str:
    """Return the last line of the sandbox's error, shortened: "ZeroDivisionError: division by zero"."""
    lines = str(error).strip().splitlines()
    text = lines[-1] if lines else ""
    return _plainly(text if ":" in text else f"{type(error).__name__.removeprefix('Monty')}: {text}")


def _plainly(error: str) -> str:
    """Return the error, shortened, with lent modules under their real names."""
    names = re.compile(r"'lent_(\w+)' object")
    return names.sub(lambda match: f"module '{match[1].replace('_', '.')}'", error[:LONGEST_MESSAGE])


def to_line(outcomes: list[Outcome] | str) -> bytes:
    """Return `outcomes` as a line of JSON, all values before all errors; a complex number is a list of its two
    parts.
    """
    if isinstance(outcomes, str):
        return json.dumps(outcomes).encode() + b"\n"
    values = [[value.real, value.imag] if isinstance(value, complex) else value for value, _ in outcomes]
    return json.dumps([values, [error for _, error in outcomes]]).encode() + b"\n"


def from_line(line: bytes) -> list[Outcome] | str:
    """Parse a line made by `to_line`. Raises ValueError for any other line."""
    outcomes = json.loads(line)
    if isinstance(outcomes, str):
        return outcomes
    values, errors = outcomes
    whole = (complex(*value) if isinstance(value, list) else value for value in values)
    return list(zip(whole, errors, strict=True))


def end_all() -> None:
    """End this process and the workers that it started, whatever they are doing."""
    if hasattr(os, "killpg"):
        os.killpg(0, signal.SIGKILL)
    os._exit(0)


def main() -> None:
    """Run programs until standard input ends."""
    import pydantic_monty

    # Ctrl-C reaches every process of the terminal; the parent decides when this one ends.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    # monty tries to import it at every step. If it is not installed, that takes longer than many steps.
    sys.modules["opentelemetry"] = None  # type: ignore[assignment]
    answers = os.fdopen(os.dup(sys.stdout.fileno()), "wb")
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())
    programs: queue.SimpleQueue[str] = queue.SimpleQueue()
    walls = raise_walls()
    bounded: set[int] = set()
    bound = partial(bound_workers, bounded)

    def listen() -> None:
        # In its own thread, so that the end of input is noticed while a program runs.
        for line in sys.stdin:
            programs.put(line)
        end_all()

    with pydantic_monty.Monty(checkout_timeout=60, max_checkouts_per_worker=500) as pool:
        run(pool, "def f(x):\n    return x", "f", [1.0], seconds=5.0, memory=2**26, calls=10, seed=0, ready=bound)
        answers.write(json.dumps(walls._replace(workers=bool(bounded))._asdict()).encode() + b"\n")
        answers.flush()
        threading.Thread(target=listen, name="listen", daemon=True).start()
        while True:
            answers.write(to_line(run(pool, **json.loads(programs.get()), ready=bound)))
            answers.flush()


if __name__ == "__main__":
    main()
