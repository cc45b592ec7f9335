"""Runs model-written code in pydantic-monty's worker processes, and nowhere else.

The worker has no files, no network and no modules but monty's own and those lent to it: parts of `numpy`, `scipy`,
`cmath` and `string`, as allow-lists of functions on numbers and short lists. These functions run in a process beside
the app (`process`), which also rewrites code that monty does not know (`rewriting`). Time, memory, recursion depth,
printed output and calls of lent functions are limited, and one deadline covers everything. Nothing that such a program
does raises here: errors are part of the result.
"""

from __future__ import annotations

import atexit
import json
import keyword
import os
import queue
import re
import signal
import sys
import threading
import time
from collections.abc import Sequence
from contextlib import suppress
from typing import Any, NamedTuple

from ..events import Rules
from ..policy import start_process
from ..runs.fairness import FairSemaphore
from . import Value, process
from .process import OSLimits, Outcome
from .rewriting import mark_unsupported, names_numbers

SECONDS = 2.0
MEMORY = 64 * 1024 * 1024
GRACE = 1.0
"""Seconds beyond the program's computing time, for everything around it. After that it is ended, whatever it is doing,
even if its inputs are being tried one by one.
"""
LONGEST_CODE = 20_000
CALLS = 20_000
"""How often one program may call lent functions: some 70 times for each of 256 inputs."""

_PRELUDE = "import math\nimport random\nimport re\nimport string\n"
_NUMBERS = "import numpy\nimport numpy as np\n"
"""Imports that models forget."""

_AS_SCRIPT = re.compile(r"^if[ \t]*\(?[ \t]*__name__[ \t]*==[ \t]*([\"'])__main__\1[ \t]*\)?[ \t]*:", re.MULTILINE)
"""Begins a part that is not run when a program is imported: examples, questions to a user."""

TIMED_OUT = "TimeoutError: time limit exceeded"

COMMAND = [sys.executable, "-m", process.__name__]

_LONGEST_LINE = 64 * 1024 * 1024
"""Longest line of outcomes in bytes: 256 texts of the greatest length, with each character escaped, are 16 MB."""

_STARTING = 30.0
"""Seconds that a process may take to start."""


class ProgramResult(NamedTuple):
    """The results of a program, input by input. `values[k]` is None exactly if `errors[k]` is not.

    `error` says why nothing could be evaluated at all, None otherwise; `function` is the name of the tested function.
    Errors caused by something that Python has and the sandbox lacks are marked (`unsupported.not_runnable`).
    """

    values: tuple[Value | None, ...]
    errors: tuple[str | None, ...]
    error: str | None
    function: str | None
    seconds: float


def tested_function(code: str, rules: Rules) -> str | None:
    """Return the name of the function to test; None if `code` defines none.

    The original parser takes the text between the last "def " anywhere, even in a comment or an inner function, and the
    next parenthesis (docs/measuring.md §4.6, mse_indicator.py:40-46): None if that is not a name. The updated parser
    takes the last function at top level, or the last lambda that is given a name there; one without parameters, such as
    `main()`, only if there is no other.
    """
    if rules == "paper":
        name = code.rsplit("def ", 1)[-1].split("(", 1)[0].strip()
        return name if name.isidentifier() and not keyword.iskeyword(name) else None
    defined = r"^(?:def[ \t]+(?=\w+[ \t]*\()|(?=\w+[ \t]*=[ \t]*lambda\b))(\w+)[ \t]*(\([ \t]*\))?"
    found: list[tuple[str, str]] = re.findall(defined, code, re.MULTILINE)
    names = [name for name, bare in found if not bare] or [name for name, _ in found]
    return names[-1] if names else None


def evaluate(
    code: str,
    inputs: Sequence[float | str],
    *,
    seconds: float = SECONDS,
    memory: int = MEMORY,
    rules: Rules = "repaired",
    seed: int = 0,
) -> ProgramResult:
    """Run `code`, then its tested function on each of `inputs`. Never raises for anything that `code` does; raises
    RuntimeError if the sandbox itself cannot be started.

    `seconds` limits all of it, `memory` (bytes) the worker's heap. The updated rules import numpy and a few modules
    before the code, leave out what is run only as a script, and accept a list of one element for that element; if the
    inputs together run out of time or memory and are few, they are tried one by one. The program's random numbers are
    determined by `seed`, so that a score can be repeated.
    """
    start = time.monotonic()
    name = tested_function(code, rules) if len(code) <= LONGEST_CODE else None
    if name is None:
        why = "the code defines no function: it needs a line such as def f(x):"
        if not code.strip():
            why = "there is no code"
        if rules == "paper" and "def " in code:
            why = "behind the last 'def ' of the code stands no name; the original parser looks for the function there"
        if len(code) > LONGEST_CODE:
            why = f"the code is longer than {LONGEST_CODE:,} characters"
        return _failed(why, inputs, None, start)
    whole = code
    if rules == "repaired":
        whole = _PRELUDE + (_NUMBERS if names_numbers(code) else "") + _AS_SCRIPT.sub("if False:", code)
    program = {"code": whole, "name": name, "memory": memory, "calls": CALLS, "lists": rules == "repaired"}
    with _turns.acquire():
        end = time.monotonic() + seconds + GRACE
        outcomes = _run(program | {"inputs": list(inputs), "seconds": seconds, "seed": seed}, end)
        if isinstance(outcomes, str) and rules == "repaired" and 1 < len(inputs) <= 16 and _ran_out(outcomes):
            end = time.monotonic() + seconds + GRACE
            share = seconds / len(inputs)
            alone = [
                _run(program | {"inputs": [x], "seconds": share, "seed": seed + k}, end) for k, x in enumerate(inputs)
            ]
            outcomes = [(None, one) if isinstance(one, str) else one[0] for one in alone]
    if isinstance(outcomes, str):
        return _failed(mark_unsupported(outcomes, code), inputs, name, start)
    values, given = zip(*outcomes, strict=True) if outcomes else ((), ())
    errors = tuple(error and mark_unsupported(error, code) for error in given)
    return ProgramResult(values, errors, None, name, time.monotonic() - start)


def _ran_out(error: str) -> bool:
    return error.startswith(("TimeoutError", "MemoryError", "the program crashed"))


def _failed(error: str, inputs: Sequence[Any], name: str | None, start: float) -> ProgramResult:
    return ProgramResult((None,) * len(inputs), (error,) * len(inputs), error, name, time.monotonic() - start)


def _run(program: dict[str, Any], end: float) -> list[Outcome] | str:
    """Return one outcome per input, or the reason why there are none. Nothing continues after `end`
    (time.monotonic).
    """
    if (left := end - time.monotonic()) <= 0:
        return TIMED_OUT
    process = _idle() or _Process()
    outcomes = process.carry_out(program, left)
    if process.alive:
        _free.append(process)
    return outcomes


def walls() -> OSLimits:
    """Return which of the operating system's protections are active here. Raises RuntimeError if there is no
    sandbox.
    """
    process = _idle() or _Process()
    _free.append(process)
    return process.walls


def _idle() -> _Process | None:
    """Return a process that waits for a program; None if there is none. Processes that ended while waiting are
    discarded.
    """
    with suppress(IndexError):
        while True:
            process = _free.pop()
            if process.alive:
                return process
    return None


class _Process:
    """A `process`, for one program at a time."""

    def __init__(self) -> None:
        self._process = start_process(COMMAND)
        atexit.register(self.end)
        self._lines: queue.SimpleQueue[bytes] = queue.SimpleQueue()
        # In a thread, because reading from a pipe has no timeout.
        threading.Thread(target=self._listen, name="listen to the sandbox", daemon=True).start()
        try:
            self.walls = OSLimits(**json.loads(self._line(_STARTING)))
        except ValueError:
            self.end()
            # Our fault, or that of a busy machine, never that of the waiting program: it must not affect a score.
            raise RuntimeError("the sandbox could not be started") from None

    @property
    def alive(self) -> bool:
        return self._process.poll() is None

    def carry_out(self, program: dict[str, Any], seconds: float) -> list[Outcome] | str:
        """Return the program's outcomes, or the reason why there are none. After `seconds` the process is ended."""
        assert self._process.stdin is not None
        began = time.monotonic()
        try:
            self._process.stdin.write(json.dumps(program).encode() + b"\n")
            self._process.stdin.flush()
            line = self._line(seconds)
            return process.from_line(line)
        except (OSError, ValueError, RecursionError):
            self.end()
            late = time.monotonic() - began >= seconds
            return TIMED_OUT if late else "the program crashed its worker or would not stop"

    def _line(self, seconds: float) -> bytes:
        """Return the next line that the process writes; empty if it has ended. If none arrives in time, the process is
        ended.
        """
        with suppress(queue.Empty):
            return self._lines.get(timeout=seconds)
        self.end()
        return b""

    def _listen(self) -> None:
        assert self._process.stdout is not None
        while line := self._process.stdout.readline(_LONGEST_LINE):
            self._lines.put(line)
        self._lines.put(b"")

    def end(self) -> None:
        """End the process and everything it started."""
        atexit.unregister(self.end)
        with suppress(ProcessLookupError):
            if hasattr(os, "killpg"):
                os.killpg(self._process.pid, signal.SIGKILL)
            else:
                self._process.kill()
        self._process.wait()


_free: list[_Process] = []
_turns = FairSemaphore(os.cpu_count() or 1)
"""Limits how many programs run at the same time: each has a deadline, and concurrent cases must not use up each other's
time.
"""
