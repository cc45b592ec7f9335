"""Journals read by worker processes give the same rows as those read by the app's own process."""

import subprocess
import sys
from pathlib import Path

import pytest
from store_events import LABS, asked, content, count, failed, lines, started, whole_run, write

from core.events import Dropped, Resumed
from core.store import index as indexing
from core.store import index_workers
from core.store.index import Index, index
from core.store.store import Store
from tests.attacks.journals import damaged


@pytest.fixture(autouse=True)
def always(monkeypatch: pytest.MonkeyPatch) -> None:
    """Two workers read any number of journals."""
    monkeypatch.setattr(index_workers, "WORKERS", 2)
    monkeypatch.setattr(index_workers, "ENOUGH", 0)


def started_workers(monkeypatch: pytest.MonkeyPatch, code: str = "") -> list[subprocess.Popen[bytes]]:
    """The workers that are started from now on; with `code`, they run that instead of their own."""
    workers: list[subprocess.Popen[bytes]] = []
    start = index_workers._start

    def kept() -> subprocess.Popen[bytes]:
        pipe = subprocess.PIPE
        workers.append(subprocess.Popen([sys.executable, "-c", code], stdin=pipe, stdout=pipe) if code else start())
        return workers[-1]

    monkeypatch.setattr(index_workers, "_start", kept)
    return workers


def test_workers_make_the_rows_that_the_app_makes(
    store: Store, folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With torn, altered, doubled and lost lines, a failed call that was asked again, and an empty journal."""
    drop = Dropped(run="again", case="q", item="x", reason="error")
    write(folder, "again", [started("again"), asked("again", "c1"), failed("again", "c1"), drop, Resumed(run="again")])
    for number, (_, data) in enumerate(damaged(lines(whole_run("r")))):
        (folder / f"r{number:03}.jsonl").write_bytes(data)
    workers = started_workers(monkeypatch)
    monkeypatch.setattr(index_workers, "LINES", 100)
    monkeypatch.setattr(indexing, "LARGE", 500)
    kept = Index(store, folder)
    with monkeypatch.context() as forbidden:
        forbidden.setattr(indexing, "_read", lambda *_: pytest.fail("the app's process read a journal"))
        changed = kept.update()
    assert (len(changed), kept.progress) == (116, (118, 118)), "all but two without any line"
    assert (kept.update(), index(store, folder), len(workers)) == ([], [], 2)
    assert all(worker.poll() is not None for worker in workers)
    monkeypatch.undo()
    with Store(tmp_path / "own.duckdb", LABS) as own:
        assert index(own, folder) == changed
        assert content(own) == content(store)
        assert count(own, "faults") > 40


@pytest.mark.parametrize(
    "code",
    [
        "raise SystemExit(1)",
        "import pickle, sys; sys.stdout.buffer.write(pickle.dumps(({}, 9, ['a' * 1000], {}))[:900])",
        "print('no answer at all')",
    ],
)
def test_if_workers_die_the_app_reads_what_they_did_not(
    store: Store, folder: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture, code: str
) -> None:
    for name in "abc":
        write(folder, name, whole_run(name))
    workers = started_workers(monkeypatch, code)
    assert index(store, folder) == ["a", "b", "c"]
    assert count(store, "calls") == 3 and len(workers) == 2
    assert "3 of 3 journals are read by the app's own process" in caplog.text


def test_without_processes_the_app_reads_all(
    store: Store, folder: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    for name in "abc":
        write(folder, name, whole_run(name))
    monkeypatch.setattr(sys, "executable", "/nowhere/python")
    assert index(store, folder) == ["a", "b", "c"]
    assert "no process could be started" in caplog.text


def test_workers_end_when_nobody_wants_more(store: Store, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    journals = [("gone", str(folder / "gone.jsonl"), 1)]
    journals += [(f"r{n}", str(write(folder, f"r{n}", whole_run(f"r{n}"))), 1) for n in range(40)]
    workers = started_workers(monkeypatch)
    monkeypatch.setattr(index_workers, "LINES", 1)
    read = index_workers.read_all(store, journals, False)
    first = next(read)
    while "gone" not in first.runs:
        first = next(read)
    assert "No such file" in first.unreadable["gone"]
    read.close()
    assert all(worker.poll() is not None for worker in workers)


def test_workers_end_when_somebody_stops_the_reading(
    store: Store, folder: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    for number in range(40):
        write(folder, f"r{number}", whole_run(f"r{number}"))
    workers = started_workers(monkeypatch)
    monkeypatch.setattr(index_workers, "LINES", 1)
    kept, add = Index(store, folder), indexing._Batch.add_tables
    monkeypatch.setattr(indexing._Batch, "add_tables", lambda *given: kept.stop() or add(*given))
    changed = kept.update()
    assert len(changed) == count(store, "runs") > 0 and len(changed) + kept.postponed == 40
    assert all(worker.poll() is not None for worker in workers) and not caplog.text
    kept.resume()
    monkeypatch.undo()
    assert len(kept.update()) == 40 - len(changed) and count(store, "runs") == 40


def test_few_journals_and_one_processor_need_no_workers(monkeypatch: pytest.MonkeyPatch) -> None:
    assert index_workers.are_worth([1, 1, 1]) and not index_workers.are_worth([1, 1])
    monkeypatch.setattr(index_workers, "ENOUGH", 10)
    assert index_workers.are_worth([4, 4, 4]) and not index_workers.are_worth([3, 3, 3])
    monkeypatch.setattr(index_workers, "WORKERS", 1)
    assert not index_workers.are_worth([4, 4, 4])
