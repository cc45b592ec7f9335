"""What a study costs as it grows, besides its calls: journals, index, planning, resuming, packing.

    python benchmarks/scale.py [RUNS ...]

A few runs are made on a stub server. The others are those again, under other seeds: the same lines with names of their
own and checksums that fit. docs/scale.md shows the table.
"""

import asyncio
import os
import resource
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any
from zlib import crc32

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from core import entry, home
from core.store.index import Index, rebuild
from core.store.store import Store
from core.studies import estimate, plan, run_status, study_files, tables
from core.studies.execute import Making
from core.studies.run_status import StudyState, progress, standings
from tests.core.studies.killing import steady
from tests.support.stub_server import StubServer

MADE = 10
"""Runs that are made; the others are written after them."""
STUDY = """
name = "scale"
at_once = 8
lab = "check"
spec = {{ limit = 1, controls = 0, model = "openai/stub-model" }}
grid = {{ seed = {seeds} }}
"""


def study_of(folder: Path, runs: int) -> plan.Study:
    """A study of so many runs that differ in their seeds; its controls, which are as many in every study, left out."""
    file = folder / "scale.toml"
    file.write_text(STUDY.format(seeds=list(range(runs))))
    return replace(plan.read(file, entry.labs()), controls=())


def seconds(work: Callable[[], Any]) -> float:
    """How much of a processor's time it takes: the same on a machine that is busy with others."""
    began = time.process_time()
    work()
    return time.process_time() - began


def again(journal: bytes, old: plan.Planned, new: plan.Planned) -> bytes:
    """The journal of the run `old` as one of `new`, which differs from it in its seed."""
    seeds = [b'"seed":%d' % run.spec.seed for run in (old, new)]
    lines = []
    for line in journal.replace(old.id.encode(), new.id.encode()).splitlines():
        body = line[: line.rindex(b',"sum":')].replace(*seeds)
        lines.append(body + b',"sum":"%08x"}\n' % crc32(body))
    return b"".join(lines)


def fill(folder: Path, study: plan.Study) -> None:
    """Make some runs of the study, and write the others after them."""
    made = study.runs[:MADE]
    making = Making(study, entry.labs(), entry.catalog().get, folder)
    asyncio.run(making.run_all(made))
    models = [(folder / f"{run.id}.jsonl").read_bytes() for run in made]
    for number, run in enumerate(study.runs[MADE:]):
        old = number % MADE
        (folder / f"{run.id}.jsonl").write_bytes(again(models[old], made[old], run))


class Found(dict[str, str]):
    """What was measured, told as it comes: the last columns take minutes."""

    def __setitem__(self, name: str, words: str) -> None:
        super().__setitem__(name, words)
        print(f"{name}: {words}", file=sys.stderr, flush=True)


def size(folder: Path) -> int:
    """Bytes of the files in a folder."""
    return sum(path.stat().st_size for path in folder.iterdir() if path.is_file())


def measured(runs: int) -> dict[str, str]:
    """One column of the table."""
    labs, found = entry.labs(), Found()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name) / "journals"
        folder.mkdir()
        study = study_of(Path(name), runs)
        fill(folder, study)
        calls = sum(one.answered.total() for one in standings(study.runs, folder).values())
        found["calls"] = f"{calls:,}"
        found["journals"] = f"{size(folder) / 1e6:,.1f} MB"
        found["read the study's file"] = f"{seconds(lambda: study_of(Path(name), runs)):.2f} s"
        found["plan"] = (
            f"{seconds(lambda: estimate.estimate(study, labs, entry.catalog().get, folder, home.recordings())):.2f} s"
        )
        run_status._read.cache_clear()
        found["status"] = f"{seconds(lambda: standings(study.all, folder)):.2f} s"
        found["status, looked at again"] = f"{seconds(lambda: progress(StudyState(study, folder))):.2f} s"
        making = Making(study, labs, entry.catalog().get, folder)
        found["resume where all has completed"] = f"{seconds(lambda: asyncio.run(making.run_all(study.all))):.2f} s"
        found["tables"] = f"{seconds(lambda: tables.rows(study, labs, tables.measured(study, labs, folder))):.1f} s"
        with Store(Path(name) / "store.duckdb", labs) as store:
            found["index all journals"] = f"{seconds(lambda: rebuild(store, folder)):.1f} s"
            looking = Index(store, folder)
            looking.update()
            found["look at a folder without news"] = f"{min(seconds(looking.update) for _ in range(5)) * 1000:.1f} ms"
            packed = []
            found["pack"] = f"{seconds(lambda: packed.append(study_files.pack(study, folder))):.1f} s"
            found["pack's size"] = f"{packed[0].bytes / 1e6:,.1f} MB"
        found["index's size"] = f"{(Path(name) / 'store.duckdb').stat().st_size / 1e6:,.1f} MB"
    found["memory at most"] = f"{resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1000:,.0f} MB"
    return found


def main() -> None:
    """Print the table, in Markdown."""
    with tempfile.TemporaryDirectory() as home, StubServer(steady) as server:
        os.environ |= {"EXPLAIN_HOME": home, "OPENAI_BASE_URL": server.base_url, "OPENAI_API_KEY": "none"}
        columns = {int(runs): measured(int(runs)) for runs in sys.argv[1:] or (100, 1_000)}
    print("| runs |", " | ".join(f"{runs:,}" for runs in columns), "|")
    print("|---|" + "---|" * len(columns))
    for row in next(iter(columns.values())):
        print(f"| {row} |", " | ".join(found[row] for found in columns.values()), "|")


if __name__ == "__main__":
    main()
