"""Does a study take more memory the longer it goes on? 25 runs of 1,000 items each, of a small lab and a robot.

`python benchmarks/memory.py 5 200` for 5 runs of 200.
"""

import asyncio
import json
import os
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from core.studies import plan
from core.studies.execute import Making, StudyOutcome
from core.studies.plan import Planned
from core.transcript import Transcript
from tests.support.small_lab import LAB


def make(folder: Path, runs: int, items: int, ended: Callable[[Planned, Transcript], None]) -> StudyOutcome:
    """A study of so many runs of so many items, two at a time; `ended` hears of each run's end."""
    words = json.dumps([f"word {n}" for n in range(items)])
    file = folder / "memory.toml"
    file.write_text(
        f'at_once = 2\nlab = "echo"\nspec = {{ words = {words}, times = 1 }}\ngrid = {{ seed = {list(range(runs))} }}\n'
    )
    labs = {"echo": LAB}
    study = plan.read(file, labs)
    return asyncio.run(
        Making(study, labs, LAB.robots.controls().__getitem__, folder / "journals", ended).run_all(study.runs)
    )


def megabytes() -> float:
    """What this process has in memory now."""
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE") / 1e6


if __name__ == "__main__":
    runs, items = (int(one) for one in sys.argv[1:3]) if len(sys.argv) > 2 else (25, 1000)
    taken: list[float] = []
    began = time.monotonic()
    with tempfile.TemporaryDirectory() as folder:
        os.environ["EXPLAIN_HOME"] = folder
        outcome = make(Path(folder), runs, items, lambda run, state: taken.append(megabytes()))
    assert len(outcome.completed) == runs
    print(
        f"{runs * items:,} items in {time.monotonic() - began:.0f} s; MB after each run: {[round(mb) for mb in taken]}"
    )
    early, late = max(taken[: max(2, runs // 5)]), max(taken)
    print(f"most after the first fifth {early:.0f} MB, most at all {late:.0f} MB")
    assert late < early * 1.1, "it grows"
