"""Where code that a model wrote runs: in pydantic-monty's worker processes and nowhere else.

The worker knows no files, no network and no modules but monty's own and the two lent here: `numpy`, an allow-list of
functions on numbers and short lists, and `string`, its constants. Time, memory, depth of recursion, printed output and
calls back to us are bounded. Nothing that such a program does raises here: what went wrong is part of the result.
"""

from __future__ import annotations

import atexit
import os
import re
import threading
import time
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from core.events import Rules
from core.labs.find.functions.base import Value
from core.labs.find.sandbox_modules import RANDOM, lent_modules

if TYPE_CHECKING:
    from pydantic_monty import Monty

SECONDS = 2.0
MEMORY = 64 * 1024 * 1024
LONGEST_CODE = 20_000
LONGEST_TEXT = 10_000
LONGEST_MESSAGE = 300
PRINTED_BYTES = 256 * 1024
CALLS = 20_000
"""How often one program may call a lent function: some 70 times for each of 256 inputs."""
DEPTH = 200

_PRELUDE = "import math\nimport random\nimport re\nimport string\nimport numpy\nimport numpy as np\n"
"""What models forget to import."""

_SEEDING = """
def __seed(number):
    import random
    random.seed(number)
"""
"""Inside a function, so that a program that forgets to import random still does."""

_DRIVER = """
__outcomes = []
for __x in __inputs:
    try:
        __outcomes.append((__tested(__x), None))
    except BaseException as __error:
        __outcomes.append((None, type(__error).__name__ + ": " + str(__error)[:300]))
__outcomes
"""


_PROCESSORS = threading.BoundedSemaphore(os.cpu_count() or 1)
"""No more programs run at once: a clock bounds each, and cases that run side by side must not use up each other's time.
"""


class Result(NamedTuple):
    """What a program gave, input by input. `values[k]` is None exactly where `errors[k]` is not.

    `error` says why nothing could be evaluated at all, None otherwise; `function` is the name of the tested function.
    """

    values: tuple[Value | None, ...]
    errors: tuple[str | None, ...]
    error: str | None
    function: str | None
    seconds: float


def tested_function(code: str, rules: Rules) -> str | None:
    """The name of the function that is tested; None where `code` defines none.

    Paper rules take the last `def` anywhere, an inner one too (docs/measuring.md §4.6, mse_indicator.py:40-46);
    repaired rules the last one at top level, or the last lambda given a name there.
    """
    if rules == "paper":
        names = re.findall(r"^[ \t]*def[ \t]+(\w+)", code, re.MULTILINE)
    else:
        names = re.findall(r"^(?:def[ \t]+(?=\w+[ \t]*\()|(?=\w+[ \t]*=[ \t]*lambda\b))(\w+)", code, re.MULTILINE)
    return names[-1] if names else None


def evaluate(
    code: str,
    inputs: Sequence[float | str],
    *,
    seconds: float = SECONDS,
    memory: int = MEMORY,
    rules: Rules = "repaired",
    seed: int = 0,
) -> Result:
    """Run `code`, then its tested function on each of `inputs`. Never raises for anything that `code` does.

    `seconds` bounds the whole of it, `memory` (bytes) the worker's heap. Repaired rules import numpy and a few modules
    before the code, and where the inputs together run out of time or memory, few of them are tried one by one. What the
    program draws at random follows from `seed`, so that a score can be repeated.
    """
    start = time.monotonic()
    name = tested_function(code, rules) if len(code) <= LONGEST_CODE else None
    if name is None:
        why = (
            "there is no code"
            if not code.strip()
            else "the code defines no function: it needs a line such as def f(x):"
        )
        if len(code) > LONGEST_CODE:
            why = f"the code is longer than {LONGEST_CODE:,} characters"
        return _failed(why, inputs, None, start)
    whole = re.sub(r"\b(np|numpy)\.random\b", rf"\1.{RANDOM}", code)
    whole = _PRELUDE + whole if rules == "repaired" else whole
    outcomes = _run(whole, name, inputs, seconds, memory, seed)
    if isinstance(outcomes, str) and rules == "repaired" and 1 < len(inputs) <= 16 and _ran_out(outcomes):
        share = seconds / len(inputs)
        alone = [_run(whole, name, [x], share, memory, seed + k) for k, x in enumerate(inputs)]
        outcomes = [(None, one) if isinstance(one, str) else one[0] for one in alone]
    if isinstance(outcomes, str):
        return _failed(outcomes, inputs, name, start)
    values, errors = zip(*(_checked(outcome) for outcome in outcomes), strict=True) if outcomes else ((), ())
    return Result(values, errors, None, name, time.monotonic() - start)


def _ran_out(error: str) -> bool:
    return error.startswith(("TimeoutError", "MemoryError", "the program crashed"))


def _failed(error: str, inputs: Sequence[Any], name: str | None, start: float) -> Result:
    return Result((None,) * len(inputs), (error,) * len(inputs), error, name, time.monotonic() - start)


def _checked(outcome: Any) -> tuple[Value | None, str | None]:
    """A value of ours, or the reason why the program's is none. The program may have meddled with the driver."""
    if not (isinstance(outcome, tuple) and len(outcome) == 2):
        return None, "the program gave no value"
    value, error = outcome
    if error is not None:
        return None, str(error)[:LONGEST_MESSAGE] if isinstance(error, str) else "the program gave no value"
    if isinstance(value, str):
        return (value, None) if len(value) <= LONGEST_TEXT else (None, "the text returned is too long")
    if isinstance(value, complex):
        return value, None
    if isinstance(value, int | float):
        try:
            return float(value), None
        except OverflowError:
            return None, "OverflowError: the number returned is too large"
    if isinstance(value, list | tuple) and len(value) == 1:
        return _checked((value[0], None))
    return None, "the function returned nothing" if value is None else f"the function returned a {type(value).__name__}"


def _run(code: str, name: str, inputs: Sequence[Any], seconds: float, memory: int, seed: int) -> list[Any] | str:
    """The driver's list of outcomes, one an input, or the reason why there is none."""
    import pydantic_monty

    limits: pydantic_monty.ResourceLimits = {
        "max_feed_duration_secs": seconds,
        "max_memory": memory,
        "max_recursion_depth": DEPTH,
        "max_suspensions": CALLS,
        "max_total_sleep_secs": 0.0,
    }
    printed = pydantic_monty.CollectString(max_bytes=PRINTED_BYTES)
    try:
        with _PROCESSORS:
            modules = lent_modules(time.monotonic() + 2 * seconds, seed)
            with _pool().checkout(limits=limits, external_modules=modules) as session:
                session.feed_run(f"{_SEEDING}__seed({seed})")
                session.feed_run(code, print_callback=printed)
                session.feed_run(f"__tested = {name}", print_callback=printed)
                outcomes = session.feed_run(_DRIVER, inputs={"__inputs": list(inputs)}, print_callback=printed)
    except pydantic_monty.MontyCrashedError:
        return "the program crashed its worker or would not stop"
    except Exception as error:  # whatever a hostile program provokes ends here, as a sentence
        return _words_for(error)
    if not isinstance(outcomes, list) or len(outcomes) != len(inputs):
        return "the program gave no values"
    return outcomes


def _words_for(error: Exception) -> str:
    """ "ZeroDivisionError: division by zero": the last line of what the sandbox says, shortened."""
    lines = str(error).strip().splitlines()
    text = lines[-1] if lines else ""
    return (text if ":" in text else f"{type(error).__name__.removeprefix('Monty')}: {text}")[:LONGEST_MESSAGE]


_lock = threading.Lock()
_started: list[Monty] = []


def _pool() -> Monty:
    """The workers, started at the first call and stopped when the process ends."""
    import pydantic_monty

    with _lock:
        if not _started:
            pool = pydantic_monty.Monty(checkout_timeout=60, max_checkouts_per_worker=500)
            pool.__enter__()
            atexit.register(pool.__exit__, None, None, None)
            _started.append(pool)
        return _started[0]
