"""A study on a Dask cluster of two processes: workers are lost, one run kills its workers, homes are not shared."""

import asyncio
import contextlib
import os
import re
import shlex
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from click import UsageError
from distributed import Client, LocalCluster
from distributed.protocol.pickle import dumps

from core import entry, home, journal
from core.__main__ import main
from core.commands.study import cluster_settings, on_worker, slurm
from core.journal import JournalInUseError, exclusive, read
from core.models import settings
from core.studies import cluster, plan
from core.studies.execute import StudyOutcome
from core.studies.plan import want
from core.studies.run_status import standings
from tests.conftest import WITHOUT_ENCODER
from tests.core.studies.killing import answered, key, steady
from tests.support.stub_server import StubServer
from tests.support.waiting import until

KEY = "sk-nobody-may-read-this"

STUDY = """
name = "far"
{more}
lab = "check"
spec = {{ limit = 2, controls = 1, model = "openai/stub-model" }}
[grid]
task = ["sentiment", "multi_choice", "entailment"]
explanations = [["attribution"], ["redaction"]]
seed = {seeds}
"""


def study(folder: Path, seeds: list[int], more: str = "") -> plan.Study:
    file = folder / "far.toml"
    file.write_text(STUDY.format(seeds=seeds, more=more))
    return plan.read(file, entry.labs())


@pytest.fixture(scope="module")
def server() -> Iterator[StubServer]:
    with StubServer(steady, delay=0.02, key=KEY) as server:
        yield server


@pytest.fixture(scope="module")
def workers(server: StubServer, tmp_path_factory: pytest.TempPathFactory) -> Iterator[LocalCluster]:
    """Two processes with a home of their own, and the key in their environment only."""
    own = {
        "EXPLAIN_HOME": str(tmp_path_factory.mktemp("workers")),
        "OPENAI_BASE_URL": server.base_url,
        "OPENAI_API_KEY": KEY,
        "PYTHONPATH": WITHOUT_ENCODER,
    }
    started = LocalCluster(n_workers=2, threads_per_worker=1, processes=True, dashboard_address=None, env=own)
    with started as up:
        yield up


@pytest.mark.thorough
def test_a_lost_worker_costs_what_it_was_asking(
    tmp_path: Path, workers: LocalCluster, server: StubServer, capsys: pytest.CaptureFixture[str]
) -> None:
    made = study(tmp_path, [0, 1])
    assert len(made.runs) == 12
    folder = home.journals()
    going: set[str] = set()
    known: set[str] = set()
    before: list[int] = []

    def running() -> set[str]:
        return {run for run, one in standings(made.runs, folder).items() if one.status == "running"}

    def kill() -> None:
        until(lambda: sum(one.paid for one in standings(made.runs, folder).values()) >= 12)
        pid = next(iter(workers.workers.values())).process.pid
        os.kill(pid, signal.SIGSTOP)
        # The other worker makes one run at a time, so if two are in progress, one belongs to the worker that is
        # stopped.
        while len(running()) < 2:
            os.kill(pid, signal.SIGCONT)
            time.sleep(0.1)  # For so long it may go on.
            os.kill(pid, signal.SIGSTOP)
        going.update(running())
        os.kill(pid, signal.SIGKILL)
        known.update(one.partition(" ")[2] for one in answered(home.home()))
        before.append(server.count)

    killer = threading.Thread(target=kill, daemon=True)
    killer.start()
    arguments = ["study", "run", str(tmp_path / "far.toml"), "--engine", "dask", "--scheduler"]
    assert main([*arguments, workers.scheduler_address]) == 0
    killer.join(5)
    stand = standings(made.all, folder)
    assert {one.status for one in stand.values()} == {"completed"}
    kinds = {run: [event.kind for event in read(folder / f"{run}.jsonl").events] for run in stand}
    resumed = {run for run, of_run in kinds.items() if "resumed" in of_run}
    assert len(resumed) == 1 and resumed <= going
    # Each answer is once in its run, and what was on disk was not asked again.
    assert set(answered(home.home()).values()) == {1}
    again = [one.body for one in server.seen[before[0] :] if key(one.body["messages"], one.body.get("seed")) in known]
    assert again == []
    # Completed runs are not made again, and this needs no scheduler.
    capsys.readouterr()
    assert main([*arguments, "tcp://127.0.0.1:1"]) == 0 and capsys.readouterr().out == ""


DOC = Path(__file__).resolve().parents[3] / "docs" / "scale.md"


def printed(said: str, port: int, file: Path) -> list[str]:
    """The commands for a Dask cluster as printed, but with this machine's address and folder."""
    block = said.partition("## On a Dask cluster")[2].split("```")[1]
    of_ours = {"explain-yourself": DOC.parents[1], "STUDY.toml": file}
    for words, here in {"10.0.0.1": "127.0.0.1", "8786": port, **of_ours}.items():
        assert words in block
        block = block.replace(words, str(here))
    return block.strip().splitlines()


@contextmanager
def started(line: str, env: dict[str, str], cwd: Path) -> Iterator[subprocess.Popen[bytes]]:
    """Start a shell command in that folder; it and its children are killed at the end."""
    process = subprocess.Popen(["/bin/sh", "-c", line], env=env, cwd=cwd, start_new_session=True)
    try:
        yield process
    finally:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()


@pytest.mark.thorough
def test_the_printed_commands_make_the_same_table_though_a_worker_is_killed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "robots.toml"
    file.write_text(
        'name = "robots"\nlab = "check"\n'
        'spec = { limit = 8, controls = 0, model = "control/dial-lexicon-1.0" }\ngrid.seed = [0, 1, 2]\n'
    )
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    scheduler, worker, run = printed(DOC.read_text(), port, file)
    made, folder = plan.read(file, entry.labs()), home.journals()
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    env = {name: value for name, value in os.environ.items() if not name.startswith(("DASK_", "PYTHONPATH"))}
    env |= {"PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}", "EXPLAIN_HOME": str(home.home())}

    def table() -> str:
        capsys.readouterr()
        assert main(["study", "table", str(file)]) == 0
        return capsys.readouterr().out

    with ExitStack() as stack:
        stack.enter_context(started(scheduler, env, elsewhere))
        workers = [stack.enter_context(started(worker, env, elsewhere)) for _ in range(2)]
        making = stack.enter_context(started(run, env, elsewhere))
        lost = None
        while lost is None:
            assert making.poll() is None, "it is over before a worker could be killed"
            time.sleep(0.02)
            for process in workers:
                os.killpg(process.pid, signal.SIGSTOP)
            lost = next(
                (run for run, one in standings(made.all, folder).items() if one.answered and one.status == "running"),
                None,
            )
            try:
                with exclusive(journal.path_for(folder, lost or "none")):
                    # It ended before it was stopped.
                    lost = None
            except JournalInUseError as who:
                writer = int(re.findall(r"process (\d+)", str(who))[0])
                os.killpg(os.getpgid(writer), signal.SIGKILL)
            for process in workers:
                os.killpg(process.pid, signal.SIGCONT)
        assert making.wait(60) == 0
        assert sorted(process.poll() for process in workers if process.poll() is not None) == [-signal.SIGKILL]
    assert "resumed" in [event.kind for event in read(journal.path_for(folder, lost)).events]
    far = table()
    monkeypatch.setenv("EXPLAIN_HOME", str(tmp_path / "alone"))
    assert main(["study", "run", str(file)]) == 0
    assert table() == far and far.count("\n") > 3


POISON = ("sentiment", ["redaction"])


def far_away(task: cluster.Task) -> cluster.TaskResult:
    """A worker that does not see the study's folder; one run kills it."""
    if (task.spec["task"], task.spec["explanations"]) == POISON:
        os.kill(os.getpid(), signal.SIGKILL)
    return on_worker(task._replace(folder="/nowhere"))


PRICE = {"model": "openai/stub-model", "prompt": 50.0, "completion": 0.5, "date": "2026-01-01"}


def elsewhere(task: cluster.Task) -> cluster.TaskResult:
    """A worker that does not see the study's folder, and knows the model's price."""
    settings.prices()[PRICE["model"]] = settings.Price.model_validate(PRICE)
    settings.price_of.cache_clear()
    return on_worker(task._replace(folder="/nowhere"))


@pytest.mark.thorough
def test_it_is_slowed_paused_and_stopped_at_its_budget_of_money(
    tmp_path: Path, workers: LocalCluster, server: StubServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = study(tmp_path, [21])
    far = Path(workers.worker_spec[0]["options"]["env"]["EXPLAIN_HOME"]) / "journals"
    running: list[int] = []
    before = server.count

    connected = partial(Client, workers.scheduler_address, asynchronous=True)

    def outcome_of(of: plan.Study) -> StudyOutcome:
        return asyncio.run(cluster.Cluster(of, entry.labs(), home.journals(), connected, elsewhere).run_all(of.runs))

    def pause() -> None:
        while server.count < before + 8:
            running.append(sum(one.status == "running" for one in standings(made.runs, far).values()))
            time.sleep(0.05)
        want(home.home(), made.name, paused=True)

    made = replace(made, cluster=plan.ClusterOf(in_hand=1))
    # Slow enough to be paused before everything is answered.
    monkeypatch.setattr(server, "delay", 0.5)
    pausing = threading.Thread(target=pause, daemon=True)
    pausing.start()
    outcome = outcome_of(made)
    pausing.join(5)
    monkeypatch.setattr(server, "delay", 0.02)
    # One at a time, although there are two workers; calls already sent were answered, and the answers came back.
    assert outcome.paused and not outcome.failed and max(running) == 1
    stand = standings(made.runs, home.journals()).values()
    assert 8 <= sum(one.paid for one in stand) == server.count - before
    assert not any(one.failures for one in stand)
    assert 0 < len(outcome.completed) < len(made.runs)
    want(home.home(), made.name, paused=False)
    monkeypatch.setattr(settings, "prices", lambda: {PRICE["model"]: settings.Price.model_validate(PRICE)})
    settings.price_of.cache_clear()
    dear = replace(study(tmp_path, [22], "budget_money = 0.05"), cluster=plan.ClusterOf(in_hand=1))
    outcome = outcome_of(dear)
    spent = sum(one.money for one in standings(dear.runs, home.journals()).values())
    settings.price_of.cache_clear()
    assert outcome.spent and not outcome.failed and 0.03 < spent <= 0.05


@pytest.mark.thorough
def test_one_poisonous_run_fails_alone_and_journals_travel_back(
    tmp_path: Path, workers: LocalCluster, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = study(tmp_path, [7])
    # Every run on a lost worker is blamed immediately, and then tried alone.
    monkeypatch.setattr(workers.scheduler, "allowed_failures", 0)

    connected = partial(Client, workers.scheduler_address, asynchronous=True)

    making = cluster.Cluster(made, entry.labs(), home.journals(), connected, far_away)
    outcome = asyncio.run(making.run_all(made.runs))
    [poison] = [run.id for run in made.runs if (run.spec.task, list(run.spec.explanations)) == POISON]  # type: ignore[attr-defined]
    assert outcome.failed.keys() == {poison} and "was lost" in outcome.failed[poison] and not outcome.bad_input
    others = {run.id for run in made.runs} - {poison}
    assert set(outcome.completed) == others
    assert {run for run, one in standings(made.runs, home.journals()).items() if one.status == "completed"} == others
    assert not list(home.journals().glob(".*"))[1:], "only the leases are left"


def test_no_key_goes_with_a_task(
    tmp_path: Path, workers: LocalCluster, server: StubServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    made = study(tmp_path, [3], "budget_calls = 11")
    sent: list[bytes] = []

    class Watched(Client):
        def _graph_to_futures(self, dsk: Any, *arguments: Any, **named: Any) -> Any:
            sent.append(dumps(getattr(dsk, "dsk", dsk)))
            return super()._graph_to_futures(dsk, *arguments, **named)

    connected = partial(Watched, workers.scheduler_address, asynchronous=True)

    before = server.count
    outcome = asyncio.run(cluster.Cluster(made, entry.labs(), home.journals(), connected, on_worker).run_all(made.runs))
    assert any(b"stub-model" in one for one in sent) and not any(KEY.encode() in one for one in sent)
    assert KEY not in str(workers.get_logs())
    # The budget applies to all workers together, to the call.
    assert outcome.spent and server.count - before == 11
    assert sum(one.paid for one in standings(made.runs, home.journals()).values()) == 11


def test_the_job_that_slurm_is_given(tmp_path: Path) -> None:
    made = study(
        tmp_path, [0], 'cluster = { jobs = 3, at_once = 2, cpus = 8, memory = "16GB", queue = "short", '
        'walltime = "01:00:00", directives = ["--gres=gpu:1"], setup = ["module load python"] }'
    )  # fmt: skip

    async def script() -> str:
        async with slurm(cluster_settings(made)) as up:
            return str(up.job_script())

    lines = asyncio.run(script()).splitlines()
    for line in ("-p short", "--cpus-per-task=8", "--mem=15G", "-t 01:00:00", "--gres=gpu:1"):
        assert f"#SBATCH {line}" in lines
    assert lines.index("module load python") < lines.index(f"export EXPLAIN_HOME={shlex.quote(str(home.home()))}")
    [started] = [line for line in lines if "dask_worker" in line]
    assert "tls://" in started and "--nthreads 1 " in started and "--nworkers 2" in started
    # If the study says nothing, the home's own table applies.
    (home.home() / "cluster.toml").write_text('jobs = 2\nmemory = "lots"')
    with pytest.raises(UsageError, match="memory: "):
        cluster_settings(study(tmp_path, [0]))


@pytest.mark.thorough
def test_a_study_on_slurm_jobs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """With commands named like SLURM's that run a job's script on this machine, and end it."""
    for name, does in (
        # The job's file is deleted once it is submitted.
        (
            "sbatch",
            'cp "$1" "$0.job"; setsid sh "$0.job" >"$0.log" 2>&1 & echo $! > "$0.pid"; echo Submitted batch job $!',
        ),
        ("scancel", "kill -- -$1"),
    ):
        (tmp_path / name).write_text(f"#!/bin/sh\n{does}\n")
        (tmp_path / name).chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path), prepend=os.pathsep)
    file = tmp_path / "robots.toml"
    file.write_text(
        'lab = "check"\nspec = { limit = 1, controls = 0, model = "control/dial-lexicon-1.0" }\ngrid.seed = [0, 1]\n'
        '[cluster]\nmemory = "1GB"\ninterface = "lo"\n'
    )
    try:
        assert main(["study", "run", str(file), "--engine", "slurm"]) == 0
    finally:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(int((tmp_path / "sbatch.pid").read_text()), signal.SIGKILL)
    made = plan.read(file, entry.labs())
    assert {one.status for one in standings(made.all, home.journals()).values()} == {"completed"}
