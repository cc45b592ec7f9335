"""How long does rating 1,000 interpretations take, and how much of that is the sandbox running their code?

python benchmarks/find_score.py [NUMBER]

Each is a drawn function with code of its own, rated by the lab's run as `find score` does it. The share that the
sandbox takes is the result; seconds are only for orientation.
"""

from __future__ import annotations

import asyncio
import logging
import sys
import time
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from core.events import Event
from core.labs.find import sandbox
from core.labs.find.functions.base import Category
from core.labs.find.lab import LAB
from core.labs.find.tasks import Given, ProbeSpec
from core.models.catalog import Catalog
from core.runs.engine import execute
from core.runs.transcript import transcript

CODE: dict[Category, str] = {
    "numeric": "import math\n\ndef f(x):\n    return 3 * math.sin(x) + 0.5 * x if x > 0 else 7.0",
    "strings": "def f(x):\n    return ''.join(c.upper() if c.islower() else c for c in reversed(x))",
}


async def rate(category: Category, seed: int, catalog: Catalog) -> float | None:
    spec = ProbeSpec(category=category, seed=seed, interpreter="given", given=Given(code=CODE[category]))
    events: list[Event] = []
    await execute(LAB, spec, "bench", resolve=catalog.get, publish=events.append)
    state = transcript(events)
    assert state.status == "completed", state.failures
    score = state.score("nmse_success" if category == "numeric" else "exact_match", "repaired")
    return score.value if score else None


def main() -> None:
    logging.disable(logging.CRITICAL)
    number = int(sys.argv[1]) if len(sys.argv) > 1 else 1000
    catalog = Catalog(home=Path("unused"), journals=Path("unused"), read=lambda path: [])
    inside = 0.0
    run_code = sandbox.evaluate

    def timed(*arguments: Any, **named: Any) -> sandbox.Result:
        nonlocal inside
        began = time.perf_counter()
        try:
            return run_code(*arguments, **named)
        finally:
            inside += time.perf_counter() - began

    sandbox.evaluate = timed
    for category in CODE:
        count = number // len(CODE)
        asyncio.run(rate(category, 10**6, catalog))  # what is loaded on first use is not what is measured
        inside, began = 0.0, time.perf_counter()
        values = [asyncio.run(rate(category, seed, catalog)) for seed in range(count)]
        whole = time.perf_counter() - began
        scored = sum(value is not None for value in values)
        print(
            f"{category}: {count} rated in {whole:.1f} s ({count / whole:.0f} a second), {scored} with a figure; "
            f"{whole / inside:.2f} x what the sandbox took ({inside:.1f} s)"
        )


if __name__ == "__main__":
    main()
