"""What is deleted is gone: from the journals, the index, the index's copy and the answers kept, to the last byte."""

import asyncio
import time
from pathlib import Path

import pytest

from core import home, journal, policy
from core.events import Message, Request, Started
from core.models.cache import Cached, ResponseCache
from core.runs.fairness import WHOSE
from core.runs.library import RunNotFoundError
from core.server.jobs import JobRunner
from core.server.quotas import stored_bytes
from core.store import sql
from core.store.index import Index
from core.store.store import Store
from tests.support.small_lab import LAB, Echoing, EchoSpec, Promise

SECRET = "whether my neighbour's dog may be poisoned"
KEPT = "why the sky is blue"


def holding(words: str) -> list[str]:
    """The files of the home that contain the words."""
    files = [path for path in home.home().rglob("*") if path.is_file()]
    return sorted(path.name for path in files if words.encode() in path.read_bytes())


def test_what_is_deleted_stands_nowhere_in_the_home() -> None:
    answers = ResponseCache(home.answers())
    model = Cached(Echoing(), answers, "here")
    folder = home.journals()
    jobs = JobRunner(folder, {"echo": LAB}, lambda id: model, forget=answers.forget)
    runs = [jobs.start("echo", EchoSpec(words=(text,), times=2)) for text in (SECRET, KEPT)]
    assert all(jobs.wait(run, 120) for run in runs)
    deleted, other = runs
    jobs.keeping.add(deleted, "reader", "all/1", Promise(call="", text=f"I asked {SECRET}"), "1")
    with Store(home.home() / "store.duckdb", {"echo": LAB}) as store:
        index = Index(store, folder)
        index.update()
        found = "select count(*) from calls where contains(messages::varchar, ?)"
        assert store.rows(found, [SECRET]) == [(2,)] and sql.ask(store, "select run from runs").table.num_rows == 3
        # Another process, such as the command line beside the app, left an index of its own.
        with Store(home.home() / "store.commands.duckdb", {"echo": LAB}) as left:
            Index(left, folder).update()
        everywhere = {
            "store.commands.duckdb",
            "answers.sqlite-wal",
            "store.duckdb",
            "store.copy.duckdb",
            f"{deleted}.jsonl",
        }
        assert everywhere <= set(holding(SECRET))
        before = {path.name: path.read_bytes() for path in folder.glob(f"{deleted}*.jsonl")}

        jobs.keeping.delete(deleted)
        index.update()
        assert holding(SECRET) == [] and holding(deleted) == []
        # Nothing else was deleted.
        assert store.rows(found, [KEPT]) == [(2,)] and store.rows("select run from runs") == [(other,)]
        assert sql.ask(store, "select run from runs").table.num_rows == 1
        again = jobs.start("echo", EchoSpec(words=(KEPT,), times=2))
        assert jobs.wait(again, 120)
        # The question about its promise was asked in both.
        assert [event.cached for event in jobs.events(again) if event.kind == "answered"].count(True) == 2

        jobs.keeping.undo(deleted)
        assert {path.name: path.read_bytes() for path in folder.glob(f"{deleted}*.jsonl")} == before
        assert deleted in index.update() and store.rows(found, [SECRET]) == [(2,)]
    answers.close()


def test_a_hundred_deleted_runs_can_be_brought_back_and_no_more(tmp_path: Path) -> None:
    jobs = JobRunner(tmp_path, {"echo": LAB}, lambda id: Echoing())
    run = jobs.start("echo", EchoSpec(words=("yes",), times=1))
    assert jobs.wait(run, 120)
    whole = (tmp_path / f"{run}.jsonl").read_bytes()
    for number in range(101):
        (tmp_path / f"r{number}.jsonl").write_bytes(whole)
        jobs.keeping.delete(f"r{number}")
    assert len(jobs.keeping.deleted()) == 100
    with pytest.raises(RunNotFoundError):
        jobs.keeping.undo("r0")
    jobs.keeping.undo("r1")
    assert journal.read(tmp_path / "r1.jsonl").events


def test_what_a_later_version_wrote_is_deleted_too(tmp_path: Path) -> None:
    jobs = JobRunner(tmp_path, {"echo": LAB}, lambda id: Echoing())
    begun = Started(run="later", lab="echo", spec={}, seed=0).model_copy(update={"version": 99})
    (tmp_path / "later.jsonl").write_bytes(journal.to_line(begun, 1))
    jobs.keeping.delete("later")
    assert list(tmp_path.glob("*.jsonl")) == [] and jobs.keeping.deleted() == ["later"]


def test_answers_are_kept_no_longer_than_runs_and_take_room_like_them(tmp_path: Path) -> None:
    answers = ResponseCache(home.answers())
    model = Echoing()
    asked = Request(role="answerer", model=model.id, messages=(Message(role="user", content=SECRET),))
    empty = stored_bytes(tmp_path)
    asyncio.run(Cached(model, answers, "here").answer(asked, lambda text: None))
    tmp_path.joinpath("another").mkdir()
    assert empty == 0 < stored_bytes(tmp_path / "another")
    answers.forget_before(time.time() - 3600)
    assert holding(SECRET)
    answers.forget_before(time.time() + 1)
    assert not holding(SECRET) and answers.is_empty
    answers.close()


def test_where_people_are_hosted_nobody_is_told_that_another_asked_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    answers = ResponseCache(home.answers())
    model = Echoing()
    asked = Request(role="answerer", model=model.id, messages=(Message(role="user", content=SECRET),))

    async def by(who: str) -> bool:
        WHOSE.set(who)
        return (await Cached(model, answers, "here").answer(asked, lambda text: None)).cached

    monkeypatch.setattr(policy, "is_hosted", lambda: True)
    assert [asyncio.run(by(who)) for who in ("ann", "bob", "ann", "bob")] == [False, False, True, True]
    monkeypatch.setattr(policy, "is_hosted", lambda: False)
    assert [asyncio.run(by(who)) for who in ("carl", "dora")] == [False, True]
    answers.close()
