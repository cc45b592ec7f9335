"""What does rating 1,000 interpretations take, beside what the sandbox takes to run their code, and beside the same
rating with plain `exec` in the sandbox's place?

python benchmarks/find_score.py [NUMBER]

Each is a drawn function with code of its own, rated by the lab's run as `find score` does it. Processor time of this
process and of those it starts is the measure; the ratios are the result.
"""

import asyncio
import logging
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import psutil

from core.events import Event
from core.labs.probe.functions.base import Category
from core.labs.probe.lab import LAB
from core.labs.probe.tasks import Given, ProbeSpec
from core.models.catalog import Catalog
from core.runs.engine import RunIO, RunRequest, execute
from core.sandbox import sandbox
from core.transcript import transcript

CODE: dict[Category, str] = {
    "numeric": "import math\n\ndef f(x):\n    return 3 * math.sin(x) + 0.5 * x if x > 0 else 7.0",
    "strings": "def f(x):\n    return ''.join(c.upper() if c.islower() else c for c in reversed(x))",
}


async def rate(category: Category, seed: int, catalog: Catalog) -> float | None:
    spec = ProbeSpec(category=category, seed=seed, interpreter="given", given=Given(code=CODE[category]))
    events: list[Event] = []
    await execute(RunRequest(LAB, spec, "bench"), RunIO(catalog.get, events.append))
    state = transcript(events)
    assert state.status == "completed", state.failures
    score = state.score("nmse_success" if category == "numeric" else "exact_match", "repaired")
    return score.value if score else None


async def rate_all(category: Category, number: int, catalog: Catalog) -> list[float | None]:
    return [await rate(category, seed, catalog) for seed in range(number)]


def unsandboxed(code: str, inputs: Sequence[Any], **named: Any) -> sandbox.ProgramResult:
    """The same as `sandbox.evaluate` for code that can be trusted."""
    known: dict[str, Any] = {}
    exec(code, known)
    values = tuple(known["f"](x) for x in inputs)
    return sandbox.ProgramResult(values, (None,) * len(values), None, "f", 0.0)


def processor() -> float:
    """Seconds of processor time so far, of this process and of those that it started."""
    return time.process_time() + sum(sum(child.cpu_times()[:2]) for child in psutil.Process().children(recursive=True))


def main() -> None:
    logging.disable(logging.CRITICAL)
    number = int(sys.argv[1]) if len(sys.argv) > 1 else 200
    catalog = Catalog(home=Path("unused"), journals=Path("unused"), read=lambda path: [])
    sandboxed = sandbox.evaluate
    inside = 0.0

    def timed(*arguments: Any, **named: Any) -> sandbox.ProgramResult:
        nonlocal inside
        began = time.thread_time()
        try:
            return sandboxed(*arguments, **named)
        finally:
            inside += time.thread_time() - began

    for category in CODE:
        count = number // len(CODE)
        sandbox.evaluate = timed
        asyncio.run(rate(category, 10**6, catalog))  # what is loaded on first use is not what is measured
        inside, began, own = 0.0, processor(), time.process_time()
        values = asyncio.run(rate_all(category, count, catalog))
        whole = processor() - began
        inside += whole - (time.process_time() - own)
        sandbox.evaluate = unsandboxed
        began = processor()
        plain = asyncio.run(rate_all(category, count, catalog))
        without = processor() - began
        assert plain == values, "both run the same code"
        scored = sum(value is not None for value in values)
        print(
            f"{category}: {count} rated, {scored} with a figure, {whole / count * 1000:.1f} ms of processor each; "
            f"{whole / inside:.2f} x what the sandbox took, {whole / without:.2f} x rating by plain exec"
        )


if __name__ == "__main__":
    main()
