"""Each limit of the sandbox by itself: a program just inside it is scored, one just beyond it is not."""

import asyncio
import subprocess
import sys
import time
from functools import partial
from pathlib import Path
from typing import Any

import psutil
import pydantic_monty
import pytest

from core.runs.fairness import WHOSE, run_in_thread
from core.sandbox import modules, process, sandbox
from core.sandbox.sandbox import ProgramResult, evaluate
from tests.support.waiting import until, until_true


def error_of(result: ProgramResult) -> str:
    assert result.values == (None,) and result.errors[0]
    return result.errors[0]


def fills(millions: int) -> str:
    return f"def f(x):\n    return len('x' * {millions}000000)"


def test_memory_ends_at_64_megabytes_and_where_the_caller_says() -> None:
    assert evaluate(fills(50), [1.0]).values == (50e6,)
    assert error_of(evaluate(fills(80), [1.0])).startswith("MemoryError")
    assert error_of(evaluate(fills(50), [1.0], memory=32 * 1024 * 1024)).startswith("MemoryError")


ROWS, DRAWS = "arrays may have 1,000 numbers", "draws come one by one, or up to 1,000 in a row"
LENT = [
    ("len(np.arange(1000))", 1000, "np.arange(1001)", ROWS),
    ("len(np.arange(5, 1005))", 1000, "np.arange(5, 1006)", ROWS),
    ("len(np.arange(9, -2991, -3))", 1000, "np.arange(9, -2994, -3)", ROWS),
    ("np.arange(1, 2, 0.5)[1]", 1.5, "np.arange(1, 2, 3, 4)", "one to three numbers"),
    ("len(np.zeros([1000]))", 1000, "np.zeros([1001])", ROWS),
    ("len(np.empty(1000))", 1000, "np.empty(1001)", ROWS),
    ("len(np.full(1000, 2))", 1000, "np.ones(shape=1001)", ROWS),
    ("len(np.linspace(0, 1, 1000))", 1000, "np.linspace(0, 1, num=1001)", ROWS),
    ("len(np.logspace(0, 1))", 50, "np.logspace(0, 1, 50.0)", "rows of a whole number"),
    ("len(np.sort([0] * 1000))", 1000, "np.sort([0] * 1001)", "lists may have 1,000 numbers"),
    ("len(np.random.normal(size=1000))", 1000, "np.random.normal(size=1001)", DRAWS),
    ("len(np.random.normal(size=0))", 0, "np.random.normal(size=-1)", DRAWS),
    ("len(np.random.normal(size=(1000,)))", 1000, "np.random.normal(size=(2, 2))", DRAWS),
    ("np.round(1.5, 400) != 0", 1, "np.round(1.5, 401)", "400 decimals at most"),
    ("np.round(1.5, decimals=-400) != 0", 1, "np.round(1.5, decimals=-401)", "400 decimals at most"),
    ("len(np.polyfit([1, 2, 3], [1, 2, 3], 30))", 31, "np.polyfit([1, 2, 3], [1, 2, 3], 31)", "a degree of 30 at most"),
    ("np.random.seed(0) or 1", 1, "np.random.seed(-1)", "a seed is a whole number from 0"),
    ("np.random.seed(2**64 - 1) or 1", 1, "np.random.seed(2**64)", "a seed is a whole number from 0"),
]
"""What is lent: just inside its limit with its value, just beyond with its words."""


def test_what_is_lent_ends_at_its_limits() -> None:
    for inside, value, beyond, words in LENT:
        assert evaluate(f"import numpy as np\ndef f(x):\n    return {inside}", [1.0]).values == (value,), inside
        assert words in error_of(evaluate(f"import numpy as np\ndef f(x):\n    return {beyond}", [1.0])), beyond


def test_whole_numbers_that_numpy_would_count_without_bound_are_floats() -> None:
    for number, kind in ((2**53 - 1, int), (1 - 2**53, int), (2**53, float), (-(2**53), float), (10**30, float)):
        assert type(modules.safe_argument(number)) is kind


def deep(calls: int) -> str:
    return f"def g(n):\n    return 0 if n == 0 else 1 + g(n - 1)\ndef f(x):\n    return g({calls})"


def test_recursion_ends_at_its_depth() -> None:
    assert evaluate(deep(process.DEPTH - 20), [1.0]).values == (180.0,)
    assert error_of(evaluate(deep(process.DEPTH + 1), [1.0])).startswith("RecursionError")


def calling(times: int) -> str:
    return f"def f(x):\n    for k in range({times}):\n        np.sin(1.0)\n    return k + 1"


def test_calls_of_lent_functions_are_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    assert evaluate(calling(1500), [1.0], seconds=20).values == (1500.0,), "more than monty would allow by itself"
    assert sandbox.CALLS >= 70 * 256, "each of the inputs that a description is scored on may call some 70 times"
    monkeypatch.setattr(sandbox, "CALLS", 40)
    assert evaluate(calling(30), [1.0]).values == (30.0,)
    assert "suspension limit 40" in error_of(evaluate(calling(41), [1.0]))


def prints(thousands: int) -> str:
    return f"def f(x):\n    for k in range({thousands}):\n        print('x' * 1000)\n    return 1"


def test_printed_output_ends_at_its_bytes() -> None:
    assert evaluate(prints(261), [1.0]).values == (1.0,)
    assert error_of(evaluate(prints(262), [1.0])).startswith("MemoryError")


@pytest.mark.parametrize("where", ["at the top", "in the function"])
def test_printing_counts_wherever_it_is_done(where: str) -> None:
    flood = "for k in range(300):\n    print('x' * 1000)\n"
    inside = "def f(x):\n" + "".join(f"    {line}\n" for line in flood.splitlines()) + "    return x"
    code = f"{flood}def f(x):\n    return x" if where == "at the top" else inside
    assert error_of(evaluate(code, [1.0])).startswith("MemoryError")


def test_a_program_may_not_sleep_at_all() -> None:
    code = "import time\ndef f(x):\n    time.sleep(0.001)\n    return x"
    assert "sleep limit" in error_of(evaluate(code, [1.0]))


def carried_out(code: str, seconds: float) -> object:
    """By itself: without the app's deadline, which ends whatever a limit here let through."""
    with pydantic_monty.Monty() as pool:
        limits = {"seconds": seconds, "memory": sandbox.MEMORY, "calls": sandbox.CALLS, "seed": 0}
        return process.run(pool, code, "f", [1.0], **limits)


def test_a_program_that_computes_is_stopped_after_its_seconds() -> None:
    began = time.monotonic()
    assert str(carried_out("def f(x):\n    while True:\n        pass", 0.2)).startswith("TimeoutError")
    assert time.monotonic() - began < 5


def test_time_spent_in_lent_functions_is_bounded_too(monkeypatch: pytest.MonkeyPatch) -> None:
    """The sandbox's own clock stops while a provided function works."""
    calls = []

    def slow(rng: object) -> float:
        calls.append(time.monotonic())
        time.sleep(0.05)  # Half of what the program has.
        return 0.5

    monkeypatch.setitem(modules.DRAWS, "rand", slow)
    code = "import numpy as np\ndef f(x):\n    for k in range(60):\n        np.random.rand()\n    return 1"
    assert carried_out(code, 0.1) == [(None, "TimeoutError: time limit exceeded")]
    assert 1 <= len(calls) < 10
    assert carried_out(code.replace("60", "2"), 0.5) == [(1.0, None)], "within its time it may call"


@pytest.mark.parametrize(
    "call", ["np.round(x, 2**31 - 1)", "np.around(x, decimals=2**31 - 1)", "np.round(x, -(10**9))"]
)
def test_no_more_decimals_than_a_number_can_have(call: str) -> None:
    began = time.monotonic()
    assert "400 decimals at most" in error_of(evaluate(f"def f(x):\n    return {call}", [1.5]))
    assert time.monotonic() - began < 2
    assert evaluate("def f(x):\n    return np.round(x, 2) + np.around(x, decimals=-1)", [12.25]).values == (22.25,)


SLOW = """
import time
from core.sandbox import modules
from core.sandbox import process
modules._functions()["round"] = lambda *args: time.sleep(60)
process.main()
"""


def test_one_deadline_holds_over_whatever_a_program_does(monkeypatch: pytest.MonkeyPatch) -> None:
    """During a call of a lent function as well: here numpy computes for longer than anyone waits."""
    assert evaluate("def f(x):\n    return x", [1.0]).values == (1.0,)
    process = sandbox._free[-1]
    monkeypatch.setattr(sandbox, "COMMAND", [sys.executable, "-c", SLOW])
    monkeypatch.setattr(sandbox, "_free", [])
    began = time.monotonic()
    assert error_of(evaluate("def f(x):\n    return np.round(x, 2)", [1.5], seconds=0.2)) == (
        "TimeoutError: time limit exceeded"
    )
    assert time.monotonic() - began < 10
    assert sandbox._free == [] and process.alive
    began = time.monotonic()
    assert set(evaluate("def f(x):\n    return np.round(x, 2)", [1.5] * 16, seconds=0.2).errors) == {sandbox.TIMED_OUT}
    assert time.monotonic() - began < 2 * (0.2 + sandbox.GRACE) + 5, "not sixteen times that"


def test_a_process_that_died_while_it_waited_fails_no_program() -> None:
    assert evaluate("def f(x):\n    return x", [1.0]).values == (1.0,)
    for waiting in sandbox._free:
        waiting._process.kill()
        waiting._process.wait()
    assert evaluate("def f(x):\n    return x", [1.0]).values == (1.0,)


def test_a_sandbox_that_cannot_be_started_is_no_score(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sandbox, "COMMAND", [sys.executable, "-c", "print('not ready')"])
    monkeypatch.setattr(sandbox, "_free", [])
    for _ in range(3):  # and its turn is given back
        with pytest.raises(RuntimeError, match="could not be started"):
            evaluate("def f(x):\n    return x", [1.0])


def test_a_process_that_says_more_than_any_program_may_is_ended(monkeypatch: pytest.MonkeyPatch) -> None:
    told = "print('{}', flush=True); sys.stdin.readline(); sys.stdout.write('[' * 2**26)"
    monkeypatch.setattr(sandbox, "COMMAND", [sys.executable, "-c", f"import sys; {told}; sys.stdin.read()"])
    monkeypatch.setattr(sandbox, "_free", [])
    result = evaluate("def f(x):\n    return x", [1.0], seconds=60)
    assert "crashed its worker" in error_of(result) and result.seconds < 30


def test_a_program_has_no_more_than_its_seconds_and_a_little() -> None:
    for program in ("def f(x):\n    while True:\n        np.sin(1.0)", "def f(x):\n    return sorted([x] * 10**7)[0]"):
        began = time.monotonic()
        evaluate(program, [1.0], seconds=0.5)
        assert time.monotonic() - began < 0.5 + sandbox.GRACE + 0.5, program


@pytest.mark.parametrize(
    "meddling",
    [
        "    __outcomes.append((2.0, None))",
        "    global __outcomes\n    __outcomes = []",
        "    global __outcomes\n    __outcomes = [(7.0, None)] * 3",
    ],
)
def test_a_program_that_gives_itself_outcomes_gets_none(meddling: str) -> None:
    result = evaluate(f"__outcomes = []\ndef f(x):\n{meddling}\n    return 1.0", [1.0, 2.0], rules="paper")
    assert result.values == (None, None)
    assert result.errors == ("the program gave no values",) * 2


def test_what_is_longer_than_allowed_is_not_given_back() -> None:
    assert evaluate("def f(x):\n    return 'x' * 10000", [1.0]).values == ("x" * 10_000,)
    assert error_of(evaluate("def f(x):\n    return 'x' * 10001", [1.0])) == "the text returned is too long"
    assert len(error_of(evaluate("def f(x):\n    raise ValueError('x' * 2000)", [1.0]))) == process.LONGEST_MESSAGE


def test_a_whole_number_beyond_all_floats_is_no_value() -> None:
    assert evaluate("def f(x):\n    return 10**308", [1.0]).values == (1e308,)
    assert "number returned is too large" in error_of(evaluate("def f(x):\n    return 10**309", [1.0]))


def test_many_long_texts_come_back_whole() -> None:
    assert evaluate("def f(x):\n    return 'é' * 10000", [1.0] * 30).values == ("é" * 10_000,) * 30


def test_code_may_be_as_long_as_is_said() -> None:
    code = "def f(x):\n    return x\n"
    assert evaluate(code + "#" * (sandbox.LONGEST_CODE - len(code)), [1.0]).values == (1.0,)
    assert "longer than 20,000" in error_of(evaluate(code + "#" * (sandbox.LONGEST_CODE - len(code) + 1), [1.0]))


def test_inputs_that_are_tried_one_by_one_draw_by_the_seed_too() -> None:
    code = "import random\ndef f(x):\n    while x == 2:\n        pass\n    return random.random()"
    first, again, other = (evaluate(code, [1.0, 2.0, 1.0], seconds=0.3, seed=seed).values for seed in (3, 3, 4))
    assert first == again and first[0] != other[0] and first[1] is None and first[0] != first[2]


def test_up_to_sixteen_inputs_are_tried_one_by_one() -> None:
    code = "def f(x):\n    while x == 2:\n        pass\n    return x"
    assert any(value is not None for value in evaluate(code, [1.0] * 15 + [2.0], seconds=0.5).values)
    assert set(evaluate(code, [1.0] * 16 + [2.0], seconds=0.5).values) == {None}


def test_lists_go_in_and_out_of_numpy_up_to_a_thousand_numbers() -> None:
    assert evaluate("def f(x):\n    return np.sum([1] * 1000)", [1.0]).values == (1000.0,)
    assert "1,000 numbers at most" in error_of(evaluate("def f(x):\n    return np.sum([1] * 1001)", [1.0]))
    nested = "def f(x):\n    return np.sum([[1, 2], [3, 4]])"
    assert "may not hold lists" in error_of(evaluate(nested, [1.0]))


@pytest.mark.parametrize("code", ["this is no Python", "def f(x):\n    return x", ""])
def test_a_program_that_works_or_not_says_how_long_it_took(code: str) -> None:
    began = time.monotonic()
    result = sandbox.evaluate(code, [1.0, 2.0])
    assert 0 <= result.seconds <= time.monotonic() - began


ENDLESS = """
from core.sandbox import sandbox
sandbox.evaluate("def f(x):\\n    return x", [1.0])
print("ready", flush=True)
sandbox.evaluate("def f(x):\\n    while True:\\n        pass", [1.0], seconds=60)
"""


def test_what_runs_a_program_dies_with_the_app() -> None:
    """However that dies: nothing of it is left to tell anyone."""
    root = Path(sandbox.__file__).parents[2]
    app = subprocess.Popen([sys.executable, "-c", ENDLESS], cwd=root, stdout=subprocess.PIPE)
    assert app.stdout is not None and app.stdout.readline() == b"ready\n"
    started = psutil.Process(app.pid).children(recursive=True)
    [worker] = [one for one in started if "monty" in one.cmdline()[0]]
    try:
        until(lambda: worker.cpu_times().user >= 0.2)
    finally:
        app.kill()
        app.wait()
    _, left = psutil.wait_procs(started, timeout=3)
    assert left == []


def test_a_program_of_one_person_does_not_wait_behind_all_those_of_another() -> None:
    """12 that never end, then one that does: it is not scored as failing for having waited."""

    async def run() -> tuple[ProgramResult, float]:
        async def of(whose: str, code: str) -> ProgramResult:
            WHOSE.set(whose)
            return await run_in_thread(partial(evaluate, code, [1.0], seconds=0.5))

        endless = [asyncio.create_task(of("many", "def f(x):\n    while True:\n        pass")) for _ in range(12)]
        await until_true(lambda: sandbox._turns.all_taken and sandbox._turns.people_ahead("many") == 0)
        began = time.monotonic()
        result = await asyncio.create_task(of("one", "def f(x):\n    return x + 1"))
        took = time.monotonic() - began
        assert not all(task.done() for task in endless)
        assert all("TimeoutError" in one.errors[0] for one in await asyncio.gather(*endless))
        return result, took

    result, took = asyncio.run(run())
    assert result.values == (2.0,)
    assert took < 2 * (0.5 + sandbox.GRACE)


def test_what_we_put_before_a_program_is_not_its_time(monkeypatch: pytest.MonkeyPatch) -> None:
    """On a busy machine to get ready may take longer than a program may."""
    lent = process.lent_modules  # type: ignore[attr-defined]

    def slowly(*args: Any) -> Any:
        modules = lent(*args)
        time.sleep(0.6)  # More than the program has.
        return modules

    monkeypatch.setattr(process, "lent_modules", slowly)
    code = "import numpy as np\ndef f(x):\n    return float(np.sin(x) * 0 + 1)"
    assert carried_out(code, 0.5) == [(1.0, None)]
