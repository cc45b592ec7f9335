"""`study run --engine dask` and `--engine slurm`: the cluster that makes the runs, and what its workers do."""

from __future__ import annotations

import asyncio
import shlex
import shutil
import signal
import sys
import tomllib
from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from pydantic import ValidationError

from .. import entry, home
from ..package_data import ROOT
from ..runs.context import complaints
from ..studies.cluster import Cluster, Made, Task, while_wanted
from ..studies.plan import ClusterOf, Planned, Study
from ..transcript import Transcript

if TYPE_CHECKING:
    from dask_jobqueue.slurm import SLURMCluster
    from distributed import Client

engine_option = click.option(
    "--engine",
    type=click.Choice(["local", "dask", "slurm"]),
    default="local",
    show_default=True,
    help="where to make the runs: here, on a running Dask cluster, or on SLURM jobs",
)
scheduler_option = click.option(
    "--scheduler", metavar="ADDRESS", help="address of the Dask scheduler, such as tcp://10.0.0.1:8786"
)


def on_worker(task: Task) -> Made:
    """Make one run on a worker, with the worker's own labs, models and keys."""
    return asyncio.run(while_wanted(task, entry.labs(), entry.catalog().get))


def making(
    engine: str, scheduler: str | None, study: Study, folder: Path, ended: Callable[[Planned, Transcript], None]
) -> Cluster:
    """Return the object that makes the study's runs on that cluster. Raises click.UsageError if the cluster is not
    available.
    """
    for needed in ("distributed", "dask_jobqueue"):
        if find_spec(needed) is None:
            raise click.UsageError(
                f"{needed} is not installed. Clusters need: "
                "python -m pip install --no-deps --require-hashes -r requirements-cluster.lock"
            )
    if (engine == "dask") != (scheduler is not None):
        raise click.UsageError("--engine dask needs --scheduler, and no other engine accepts it.")
    if engine == "slurm" and shutil.which("sbatch") is None:
        raise click.UsageError("SLURM is not installed here: there is no command sbatch.")
    asked = cluster_settings(study)

    @asynccontextmanager
    async def connected() -> AsyncIterator[Client]:
        from distributed import Client

        async with AsyncExitStack() as stack:
            if scheduler is None:
                cluster = await stack.enter_async_context(slurm(asked))
                cluster.scale(jobs=asked.jobs)
            try:
                client = await stack.enter_async_context(Client(scheduler or cluster, asynchronous=True))  # type: ignore[no-untyped-call]
            except OSError as error:
                raise ConnectionError(f"The Dask scheduler does not answer ({error}).") from None
            yield client

    return Cluster(replace(study, cluster=asked), entry.labs(), folder, connected, on_worker, ended)


def cluster_settings(study: Study) -> ClusterOf:
    """Return the table `[cluster]` of the study, or else the content of $EXPLAIN_HOME/cluster.toml. Raises
    click.UsageError.
    """
    path = home.home() / "cluster.toml"
    if study.cluster is not None or not path.exists():
        return study.cluster or ClusterOf()
    try:
        return ClusterOf.model_validate(tomllib.loads(path.read_text(encoding="utf-8")))
    except ValidationError as error:
        raise click.UsageError(f"{path}: {complaints(error)[0]}") from None
    except (OSError, ValueError) as error:
        raise click.UsageError(f"{path} cannot be read: {error}") from None


def slurm(asked: ClusterOf) -> SLURMCluster:
    """Return a cluster whose workers are SLURM jobs, none submitted yet; use it with `async with`. The traffic between
    its machines is encrypted, because anyone who can reach a scheduler can make its workers do anything.
    """
    # Importing it makes Ctrl-C end the process immediately, so the old handler is restored.
    heeded = signal.getsignal(signal.SIGINT)
    from dask_jobqueue.slurm import SLURMCluster

    signal.signal(signal.SIGINT, heeded)
    logs = home.home() / "cluster"
    logs.mkdir(mode=0o700, exist_ok=True)
    options: dict[str, Any] = {name: getattr(asked, name) for name in ("memory", "walltime", "queue", "account")}
    return SLURMCluster(
        **options,
        # One run at a time in each process.
        cores=asked.at_once,
        processes=asked.at_once,
        job_cpu=asked.cpus,
        job_name="explain",
        python=shlex.quote(asked.python or sys.executable),
        job_script_prologue=[
            *asked.setup,
            f"export EXPLAIN_HOME={shlex.quote(str(home.home().resolve()))}",
            f"cd {shlex.quote(str(ROOT))}",
        ],
        job_extra_directives=list(asked.directives),
        interface=asked.interface,
        log_directory=str(logs),
        security=True,
        shared_temp_directory=str(logs),
        scheduler_options={"dashboard": False, "dashboard_address": "127.0.0.1:0"},
        asynchronous=True,
    )
