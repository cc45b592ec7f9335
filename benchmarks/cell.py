"""One cell of a paper's table, cut into runs: reviews in IMDB's layout, checked for one explanation each.

    python benchmarks/cell.py [ITEMS ITEMS-OF-A-RUN]

Without numbers it is the full cell: the 25,000 reviews of IMDB's test part in runs of 1,000, which takes an hour of two
busy cores; `2000 200` takes minutes. The reviews are nonsense. The server answers without latency and in one piece, in
a process of its own. The runs are planned, made, and read into a table. It fails where memory grows: at most a tenth
more after any run than after the first fifth of them.
"""

import asyncio
import multiprocessing
import os
import random
import resource
import sys
import tempfile
import time
from collections.abc import Callable
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from benchmarks.memory import megabytes
from core import entry, home
from core.datasets import registry
from core.studies import estimate, plan, tables
from core.studies.execute import Making
from core.studies.run_status import StudyState, progress
from core.transcript import Transcript
from tests.support.stub_server import StubServer

WORDS = 230
"""Of a review: about as many as IMDB's have."""

STUDY = """
name = "cell"
at_once = 2
lab = "check"
spec = { task = "sentiment", dataset = "imdb", explanations = ["redaction"], controls = 0, model = "openai/stub-model" }

[[table]]
rows = ["model"]
columns = ["dataset"]
"""


class Forgetful(list):  # type: ignore[type-arg]
    """What the server has seen, of which only the number counts."""

    def __init__(self) -> None:
        self.count = 0

    def append(self, seen: object) -> None:
        self.count += 1

    def __len__(self) -> int:
        return self.count


def reply(body: dict[str, Any]) -> str:
    """A redaction hides every “dull”; a review that shows one is negative, one that hides some is unknown."""
    asked = str(body["messages"][-1]["content"])
    paragraph = asked.split("Paragraph:")[-1]
    if "replace the words" in asked:
        return paragraph.replace("dull", "[REDACTED]")
    return "negative" if "dull" in paragraph else "unknown" if "[RE" in paragraph else "positive"


def serve(pipe: Connection, reply: Callable[[dict[str, Any]], str]) -> None:
    """Answer on loopback by `reply`. Say how often whenever the pipe's other end asks for that, until it says False."""
    with StubServer(reply, models=("stub-model", "stub-other"), streams=False) as server:
        server.seen = Forgetful()
        pipe.send(server.base_url)
        while pipe.recv():
            pipe.send(server.count)


def write(folder: Path, items: int) -> None:
    """So many reviews, half of them positive, as $EXPLAIN_HOME/datasets holds them."""
    draw = random.Random(0)
    words = ["the", "film", "was", "a", "dull", "story", "of", "people", "who", "move", "while", "music", "plays"]
    for number in range(items):
        part, stars = ("pos", 8) if number % 2 else ("neg", 2)
        reviews = folder / "imdb" / "aclImdb" / "test" / part
        reviews.mkdir(parents=True, exist_ok=True)
        text = f"Review {number}. {' '.join(draw.choices(words, k=WORDS))}."
        (reviews / f"{number}_{stars}.txt").write_text(text, encoding="utf-8")


def main(items: int, pipe: Connection) -> None:
    os.environ |= {"OPENAI_BASE_URL": pipe.recv(), "OPENAI_API_KEY": "none"}
    file = home.home() / "cell.toml"
    file.write_text(STUDY)
    write(home.home() / "datasets", items)
    folder, labs, catalog = home.journals(), entry.labs(), entry.catalog()

    began = time.monotonic()
    study = plan.read(file, labs)
    read = time.monotonic() - began
    found = estimate.estimate(study, labs, catalog.get, folder, home.recordings())
    planned = time.monotonic() - began
    calls = sum(found.calls.values()) - found.free
    print(f"{items:,} items in {len(study.runs)} runs, {calls:,} calls at most")
    print(f"read in {read:.1f} s, planned in {planned:.1f} s, {megabytes():.0f} MB")

    taken: list[float] = []
    began = time.monotonic()

    def answered() -> int:
        pipe.send(True)
        return int(pipe.recv())

    def ended(run: plan.Planned, state: Transcript) -> None:
        taken.append(megabytes())
        tenths = [10 * runs // len(study.runs) for runs in (len(taken) - 1, len(taken))]
        if tenths[0] < tenths[1]:
            took = (time.monotonic() - began) / 60
            print(f"{tenths[1]}0 %: {answered():,} calls, {took:.1f} minutes, {taken[-1]:.0f} MB", flush=True)

    outcome = asyncio.run(Making(study, labs, catalog.get, folder, ended).run_all(study.runs))
    made = time.monotonic() - began
    assert len(outcome.completed) == len(study.runs), outcome.failed
    calls = answered()
    pipe.send(False)
    size = sum(path.stat().st_size for path in folder.glob("study-*.jsonl"))
    print(f"{calls:,} calls in {made:.0f} s, {calls / made:.0f} a second; journals {size / 1e6:.0f} MB")

    began = time.monotonic()
    now = progress(StudyState(study, folder))
    assert now.cells[-1].cases == now.cells[-1].of == items
    print(f"status in {time.monotonic() - began:.1f} s, {megabytes():.0f} MB")
    began = time.monotonic()
    rows = tables.rows(study, labs, tables.measured(study, labs, folder))
    print(f"tables in {time.monotonic() - began:.1f} s, {megabytes():.0f} MB; {rows[0]['n']} of {rows[0]['of']} items")
    print(f"most memory at all: {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1000:.0f} MB")
    assert rows[0]["of"] == items

    first = max(taken[: max(2, len(taken) // 5)])
    print(f"MB after each run: {[round(mb) for mb in taken]}; {max(taken) / first:.2f} times that of the first fifth")
    assert max(taken) < first * 1.1, "it grows"


if __name__ == "__main__":
    ours, theirs = multiprocessing.Pipe()
    server = multiprocessing.get_context("spawn").Process(target=serve, args=(theirs, reply), daemon=True)
    with tempfile.TemporaryDirectory() as folder:
        os.environ["EXPLAIN_HOME"] = folder
        server.start()
        items, registry.MOST_CASES = map(int, sys.argv[1:3]) if len(sys.argv) > 2 else (25_000, 1_000)
        main(items, ours)
