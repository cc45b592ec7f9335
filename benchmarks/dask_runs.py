"""What a Dask cluster adds to each run of a study: the same runs of a control model, which asks nobody, on a cluster of
one worker process and in this process, in one go.

    python benchmarks/dask_runs.py [RUNS]
"""

import asyncio
import os
import sys
import tempfile
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from distributed import Client, LocalCluster

from core import entry
from core.commands.study import on_worker
from core.studies import plan
from core.studies.cluster import Cluster
from core.studies.execute import Making, StudyOutcome

STUDY = """
at_once = 1
lab = "check"
spec = {{ limit = 5, controls = 0, task = "sentiment", model = "control/dial-lexicon-1.0" }}
grid = {{ seed = {seeds} }}
"""


def timed(making: Callable[[Path], Making | Cluster], study: plan.Study, folder: Path) -> float:
    """Seconds for each of the study's runs but the first, which warms everything up."""

    async def both() -> tuple[float, StudyOutcome]:
        await making(folder).run_all(study.runs[:1])
        began = time.perf_counter()
        outcome = await making(folder).run_all(study.runs[1:])
        return time.perf_counter() - began, outcome

    took, outcome = asyncio.run(both())
    assert len(outcome.completed) == len(study.runs) - 1, outcome.failed
    return took / len(outcome.completed)


def main() -> None:
    """Print seconds for each run, and their ratio."""
    runs = int(sys.argv[1]) if len(sys.argv) > 1 else 40
    with tempfile.TemporaryDirectory() as name:
        os.environ["EXPLAIN_HOME"] = name
        file = Path(name) / "bench.toml"
        file.write_text(STUDY.format(seeds=list(range(runs + 1))))
        study = plan.read(file, entry.labs())
        with LocalCluster(n_workers=1, threads_per_worker=1, dashboard_address=None) as up:
            connected = partial(Client, up.scheduler_address, asynchronous=True)

            def far(folder: Path) -> Cluster:
                return Cluster(study, entry.labs(), folder, connected, on_worker)

            def here(folder: Path) -> Making:
                return Making(study, entry.labs(), entry.catalog().get, folder)

            for turn in range(3):
                folders = [Path(name) / f"{where}{turn}" for where in ("here", "far")]
                for folder in folders:
                    folder.mkdir()
                local, dask = timed(here, study, folders[0]), timed(far, study, folders[1])
                print(f"{local * 1000:.0f} ms a run here, {dask * 1000:.0f} ms on Dask: {dask / local:.2f} times")


if __name__ == "__main__":
    main()
