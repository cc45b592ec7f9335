"""The process beside the app that runs model-written code, one program after the other.

`core.sandbox.sandbox` runs it as a script. The code itself runs in a worker process of monty's; the functions lent to
it (`modules`) are called here, so that nothing a program asks of numpy can block the app. Each line of JSON on standard
input is a program, each line on standard output its outcomes. When standard input ends, this process ends with
everything it started: at the latest when the app does, whatever the reason.
"""

from __future__ import annotations

import json
import math
import os
import queue
import re
import signal
import sys
import threading
import time
from collections.abc import Callable, Sequence
from functools import lru_cache, partial
from typing import TYPE_CHECKING, Any

from .modules import lent_modules, of_array
from .os_hardening import bound_workers, raise_walls
from .prelude import NUMBERS, TEXTS
from .rewriting import rewritten

if TYPE_CHECKING:
    from pydantic_monty import Monty, ResourceLimits

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
        begun = _begun(pool, program.numbers, seconds, memory, calls)
        modules = lent_modules(lambda: time.monotonic() > ends, seed)
        with pool.checkout(limits=_limits(seconds, memory, calls), external_modules=modules) as session:
            ready()
            session.load_session(begun)
            session.feed_run(f"__seed({seed})")
            ends = time.monotonic() + seconds
            session.feed_run(program.code, print_callback=printed)
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
