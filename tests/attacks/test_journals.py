"""Whatever happened to a journal, the run gets the same figures, or the app says what is wrong."""

import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from core import entry, home
from core.__main__ import main
from core.journal import MOST_MISSING, NewerSchemaError, faults, read, to_line
from core.labs.ask.tasks import AskSpec
from core.models.cache import Replay
from core.runs.library import RunNotFoundError
from core.server.jobs import JobRunner
from core.store import index as indexing
from core.store.store import Store
from core.transcript import transcript
from tests.attacks.journals import damaged, unsealed
from tests.conftest import WITHOUT_ENCODER

ROOT = Path(__file__).resolve().parents[2]
SPEC = AskSpec(question="Can a penguin fly?", model="control/fickle", counterfactuals=3, seed=0)


@pytest.fixture
def jobs(tmp_path: Path) -> JobRunner:
    return JobRunner(tmp_path / "journals", entry.labs(), entry.catalog().get)


def completed(jobs: JobRunner) -> Path:
    run = jobs.start("simulatability", SPEC)
    assert jobs.wait(run, 120)
    return jobs.folder / f"{run}.jsonl"


def figures(jobs: JobRunner, run: str) -> dict[tuple[str, str], object]:
    return {(score.metric, score.rules): score.value for score in transcript(jobs.events(run)).scores}


def test_117_damaged_journals_go_on_to_the_same_figures_or_say_what_is_wrong(jobs: JobRunner, tmp_path: Path) -> None:
    whole = completed(jobs)
    expected = figures(jobs, whole.stem)
    assert len(expected) == 24 and read(whole).faults == []
    variants = list(damaged(whole.read_bytes()))
    assert len({name for name, _ in variants}) == 117
    for name, data in variants:
        run = f"20260101-000000-simulatability-{abs(hash(name)):016x}"[:50]
        (jobs.folder / f"{run}.jsonl").write_bytes(data)
        try:
            told = jobs.faults(run)
            jobs.resume(run)
        except RunNotFoundError as error:
            assert str(error) and name in [variant for variant, _ in variants[-7:]], name
            continue
        assert jobs.wait(run, 120)
        assert figures(jobs, run) == expected, name
        # A killed writer leaves half a last line, and a lost end cannot be noticed.
        assert told or name.startswith("torn"), name
    with Store(tmp_path / "store.duckdb", entry.labs()) as store:
        indexing.index(store, jobs.folder)
        assert len(store.query("select run from runs")) >= 110


def test_every_flipped_bit_of_a_line_is_seen(jobs: JobRunner) -> None:
    whole = completed(jobs)
    lines = whole.read_bytes().splitlines(keepends=True)
    line = lines[3]
    for at in range(len(line) - 1):
        for bit in (1, 32):
            altered = line[:at] + bytes([line[at] ^ bit]) + line[at + 1 :]
            whole.write_bytes(b"".join([*lines[:3], altered, lines[4]]))
            assert read(whole).faults, (at, bit)


def test_what_is_wrong_is_said_line_by_line(jobs: JobRunner) -> None:
    whole = completed(jobs)
    lines = whole.read_bytes().splitlines(keepends=True)
    altered = lines[4].replace(b'"at":"2', b'"at":"3')
    whole.write_bytes(b"".join([*lines[:4], altered, unsealed(lines[5]), lines[7], lines[7], *lines[8:]]))
    assert [tuple(fault) for fault in read(whole).faults] == [
        (5, "it was altered: its checksum does not fit"),
        (6, "it was altered: its checksum is gone"),
        (7, "it is missing"),
        (8, "it stands there twice"),
    ]


def test_a_line_may_have_any_number(jobs: JobRunner) -> None:
    whole = completed(jobs)
    last = read(whole).events[-1]
    with whole.open("ab") as file:
        file.write(to_line(last, 999_999_999))
    began = time.process_time()
    assert len(read(whole).faults) == len(faults(whole)) == MOST_MISSING
    assert time.process_time() - began < 2


def test_a_journal_of_a_newer_version_is_refused_in_words(jobs: JobRunner, capfd: pytest.CaptureFixture[str]) -> None:
    whole = completed(jobs)
    first = read(whole).events[0].model_copy(update={"version": 99})
    (home.journals() / "new.jsonl").write_bytes(to_line(first, 1))
    with pytest.raises(NewerSchemaError, match="newer version of this app"):
        read(home.journals() / "new.jsonl")
    assert main(["resume", "new"]) == 2
    assert "Update the app" in capfd.readouterr().err


def test_times_without_a_zone_are_in_utc(jobs: JobRunner) -> None:
    whole = completed(jobs)
    zoneless = [event.model_copy(update={"at": event.at.replace(tzinfo=None)}) for event in read(whole).events]
    whole.write_bytes(b"".join(to_line(event, n) for n, event in enumerate(zoneless, start=1)))
    assert b'Z"' not in whole.read_bytes().splitlines()[1]
    expected = figures(jobs, whole.stem)
    jobs.resume(whole.stem)
    assert jobs.wait(whole.stem, 120) and figures(jobs, whole.stem) == expected
    assert transcript(jobs.events(whole.stem)).seconds >= 0


def test_settings_that_are_understood_no_longer_are_said(jobs: JobRunner) -> None:
    whole = completed(jobs)
    first, *rest = read(whole).events
    odd = first.model_copy(update={"spec": {**first.spec, "counterfactuals": "many"}})
    whole.write_bytes(b"".join(to_line(event, n) for n, event in enumerate([odd, *rest], start=1)))
    with pytest.raises(RunNotFoundError, match="cannot be read by this version"):
        jobs.resume(whole.stem)
    with pytest.raises(RunNotFoundError, match="cannot be read by this version"):
        jobs.reread(whole.stem, Replay)


FULL = """
import resource, signal, sys
from core.__main__ import main
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (20_000, 20_000))
sys.exit(main(["ask", "Can a penguin fly?", "--model", "control/fickle"]))
"""


def test_a_full_disk_is_a_sentence_and_the_run_goes_on_when_there_is_room(capfd: pytest.CaptureFixture[str]) -> None:
    environment = {**os.environ, "PYTHONPATH": WITHOUT_ENCODER}
    done = subprocess.run([sys.executable, "-c", FULL], cwd=ROOT, env=environment, capture_output=True, text=True)
    assert done.returncode == 4 and "Traceback" not in done.stderr, done.stderr
    assert "could not be written" in done.stderr and "Free some room" in done.stderr
    [kept] = home.journals().glob("*.jsonl")
    assert kept.stat().st_size <= 20_000 and read(kept).faults == []
    assert main(["resume", kept.stem]) == 0
    assert "precision" in capfd.readouterr().out


def test_a_home_of_nobody_is_said() -> None:
    command = [sys.executable, "-m", "core", "models"]
    environment = {"PATH": "/usr/bin:/bin", "EXPLAIN_HOME": "~nobody-of-that-name/x"}
    done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True)
    assert done.returncode == 2 and "EXPLAIN_HOME" in done.stderr and "Traceback" not in done.stderr
