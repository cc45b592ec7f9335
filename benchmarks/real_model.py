"""Seconds until the first card of *Ask a real model*, with the model that ships or another one.

python benchmarks/real_model.py [MODEL]

Each question on offer is asked as its button does, with a home of its own: the first with the model not yet loaded, the
others with it loaded. The first card is there once the model's answer and reason are recorded. The ratios are the
result: what loading adds, and what the whole run takes, both beside a first card with the model loaded. On idle
processors the seconds by the clock are about those of the processor, which other work on the machine does not change:
the app waits for the model, and the model has one thread for each processor but one.
"""

import os
import sys
import tempfile
import time
from pathlib import Path
from statistics import median
from typing import NamedTuple

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))


class Timed(NamedTuple):
    """Seconds until the first card, by the clock and of the processor, until the end by the clock, and the calls."""

    first: float
    processor: float
    ended: float
    calls: int


def timed(model: str, number: int) -> Timed:
    """Run one question on offer."""
    from core import entry
    from core.labs.ask.lab import LAB
    from core.labs.ask.tasks import predicted_by_person, with_follow_ups

    asked = dict(with_follow_ups()[number])
    began, used, first, processor = time.monotonic(), spent(), 0.0, 0.0
    run = entry.jobs().start(LAB.name, predicted_by_person(model, **asked), entry.catalog().get)
    while not entry.jobs().wait(run, 0.02):
        events = [] if first else entry.jobs().events(run)
        if any(event.kind == "recorded" and event.record == "explanation" for event in events):
            first, processor = time.monotonic() - began, spent() - used
    ended = time.monotonic() - began
    events = entry.jobs().events(run)
    assert events[-1].kind == "finished" and events[-1].status == "completed", events[-1]
    assert first, "the run ended before its first card was seen"
    return Timed(first, processor, ended, sum(event.kind == "asked" for event in events))


def of_models(file: str) -> list[str]:
    """What the system says of each process of a local model in `/proc/…/<file>`."""
    from core.models import local

    return [Path(f"/proc/{server._process.pid}/{file}").read_text() for server in local._servers.values()]


def spent() -> float:
    """Processor seconds so far, of this process and of local models."""
    ticks = [int(field) for text in of_models("stat") for field in text.rpartition(")")[2].split()[11:13]]
    return time.process_time() + sum(ticks) / os.sysconf("SC_CLK_TCK")


def memory() -> float:
    """The most megabytes that the processes of local models held."""
    lines = [line for text in of_models("status") for line in text.splitlines()]
    return sum(int(line.split()[1]) for line in lines if line.startswith("VmHWM")) / 1024


def main(model: str) -> None:
    from core import entry
    from core.labs.ask.tasks import with_follow_ups

    cold, *warm = [timed(model, number) for number in range(len(with_follow_ups()))]
    usual, processor, whole = (median(getattr(one, name) for one in warm) for name in ("first", "processor", "ended"))
    print(f"{model}: {cold.calls} calls a run, {memory():.0f} MB for the model's process")
    ratio = cold.processor / processor
    print(
        f"first card, model not loaded: {cold.first:.1f} s, processor {cold.processor:.1f} s ({ratio:.1f} x as below)"
    )
    print(f"first card, model loaded:     {usual:.1f} s, processor {processor:.1f} s (medians of {len(warm)})")
    print(f"all four answers:             {whole:.1f} s ({whole / usual:.1f} x the first card)")
    entry.close()


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as home:
        os.environ["EXPLAIN_HOME"] = home
        main(sys.argv[1] if len(sys.argv) > 1 else "local/smollm2-135m")
