"""Seconds until the first card of *Ask a real model*, with the model that ships or another one.

python benchmarks/real_model.py [MODEL]

Each question on offer is asked as its button does, with a home of its own: the first with the model not yet loaded, the
others with it loaded. The first card is there once the model's answer and reason are recorded. The ratios are the
result: what loading adds, and what the whole run takes, both beside a first card with the model loaded.
"""

from __future__ import annotations

import os
import sys
import tempfile
import time
from pathlib import Path
from statistics import median

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))


def timed(model: str, number: int) -> tuple[float, float, int]:
    """Run one question on offer; return the seconds until its first card and until its end, and its calls."""
    from core import entry
    from core.labs.ask.lab import LAB
    from core.labs.ask.questions import predicted_by_person, with_follow_ups

    asked = dict(with_follow_ups()[number])
    began, first = time.monotonic(), 0.0
    run = entry.jobs().start(LAB.name, predicted_by_person(model, **asked), entry.catalog().get)
    while not entry.jobs().wait(run, 0.02):
        is_there = first or any(
            event.kind == "recorded" and event.record == "explanation" for event in entry.jobs().events(run)
        )
        first = first or (time.monotonic() - began if is_there else 0.0)
    ended = time.monotonic() - began
    events = entry.jobs().events(run)
    assert events[-1].kind == "finished" and events[-1].status == "completed", events[-1]
    return first or ended, ended, sum(event.kind == "asked" for event in events)


def memory() -> float:
    """The most megabytes that the processes of local models held."""
    from core.models import local

    lines = [
        line
        for server in local._servers.values()
        for line in Path(f"/proc/{server._process.pid}/status").read_text().splitlines()
    ]
    return sum(int(line.split()[1]) for line in lines if line.startswith("VmHWM")) / 1024


def main(model: str) -> None:
    from core import entry
    from core.labs.ask.questions import with_follow_ups

    cold, *warm = [timed(model, number) for number in range(len(with_follow_ups()))]
    usual, whole = median(first for first, _, _ in warm), median(end for _, end, _ in warm)
    print(f"{model}: {cold[2]} calls a run, {memory():.0f} MB for the model's process")
    print(f"first card, model not loaded: {cold[0]:.1f} s ({cold[0] / usual:.1f} x a first card with the model loaded)")
    print(f"first card, model loaded:     {usual:.1f} s (median of {len(warm)})")
    print(f"all four answers:             {whole:.1f} s ({whole / usual:.1f} x the first card)")
    entry.close()


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as home:
        os.environ["EXPLAIN_HOME"] = home
        main(sys.argv[1] if len(sys.argv) > 1 else "local/smollm2-135m")
