"""The response cache: between threads, between processes, and with a broken file."""

import asyncio
import logging
import sqlite3
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import pytest
from pydantic import SecretStr

from core.events import Message, ModelAnswer, OnText, Request, Sampling, Usage
from core.models.cache import Cached, ResponseCache, key_of
from core.models.catalog import Catalog
from tests.support.stub_server import StubServer

ROOT = Path(__file__).resolve().parents[3]


class Counting:
    """Answers with the number of times it was asked."""

    id = "endpoint/model"

    def __init__(self) -> None:
        self.asked = 0

    async def answer(self, request: Request, on_text: OnText) -> ModelAnswer:
        self.asked += 1
        on_text(f"answer {self.asked}")
        return ModelAnswer(text=f"answer {self.asked}", seconds=9.0, first_token_seconds=1.0, finish_reason="stop")


def request(text: str = "Can penguins fly?", **changes: Any) -> Request:
    sampling = Sampling(**changes.pop("sampling", {}))
    turns = (Message(role="system", content="Be brief."), Message(role="user", content=text))
    return Request(role="explainer", model="endpoint/model", messages=turns, sampling=sampling, **changes)


def test_a_second_time_is_a_hit_and_marked(tmp_path: Path) -> None:
    model = Counting()
    cached = Cached(model, ResponseCache(tmp_path / "deep" / "cache.sqlite"), "http://a/v1")
    pieces: list[str] = []
    first = asyncio.run(cached.answer(request(), pieces.append))
    second = asyncio.run(cached.answer(request(), pieces.append))
    assert cached.id == model.id
    assert not first.cached and second.cached
    assert second.text == first.text == "answer 1" and second.finish_reason == "stop"
    assert second.seconds < 1 and second.first_token_seconds is None
    assert pieces == ["answer 1", "answer 1"] and model.asked == 1


@pytest.mark.parametrize(
    "other",
    [
        request("Can owls fly?"),
        request(repeat=1),
        request(json_schema={"type": "object"}),
        *(
            request(sampling=change)
            for change in (
                {"top_p": 0.9},
                {"top_k": 5},
                {"repetition_penalty": 1.2},
                {"max_tokens": 7},
                {"stop": ("x",)},
                {"seed": 1},
                {"top_logprobs": 2},
                {"temperature": 0.5, "seed": 1},
            )
        ),
    ],
)
def test_whatever_can_change_an_answer_is_part_of_the_key(other: Request) -> None:
    assert key_of(other, "m", "u") != key_of(request(), "m", "u")


def test_model_and_address_are_part_of_the_key_and_the_role_is_not() -> None:
    assert len({key_of(request(), *at) for at in (("m", "u"), ("n", "u"), ("m", "v"))}) == 3
    simulator = request().model_copy(update={"role": "simulator", "slots": {"a": "b"}, "prompt": "p"})
    assert key_of(simulator, "m", "u") == key_of(request(), "m", "u")


def test_every_field_of_a_request_is_in_the_key_or_known_not_to_matter() -> None:
    in_key = {"messages", "sampling", "json_schema", "repeat", "tools", "model"}
    assert set(Request.model_fields) - in_key == {"role", "slots", "prompt"}


def test_drawn_answers_are_not_kept_unless_seeded(tmp_path: Path) -> None:
    model = Counting()
    cached = Cached(model, ResponseCache(tmp_path / "cache.sqlite"), "u")
    for sampling, asked in (({"temperature": 0.7}, 2), ({"temperature": 0.7, "seed": 1}, 3)):
        for _ in range(2):
            asyncio.run(cached.answer(request(sampling=sampling), lambda text: None))
        assert model.asked == asked


def test_everything_of_an_answer_is_kept(tmp_path: Path) -> None:
    answer = ModelAnswer(
        text="é\u2028\x00",
        usage=Usage(prompt_tokens=3, completion_tokens=4),
        finish_reason="length",
        logprobs=[{"token": "a", "logprob": -0.5, "top_logprobs": []}],
    )
    cache = ResponseCache(tmp_path / "cache.sqlite")
    cache.put("k", answer)
    cache.close()
    assert ResponseCache(tmp_path / "cache.sqlite").get("k") == answer
    assert cache.get("other") is None


_WORKER = """
import sys
from pathlib import Path
from core.events import ModelAnswer
from core.models.cache import ResponseCache
cache, me = ResponseCache(Path(sys.argv[1])), sys.argv[2]
print("ready", flush=True)
sys.stdin.readline()
for n in range(100):
    cache.put(f"{me}-{n}", ModelAnswer(text=f"{me} {n}"))
    cache.put("shared", ModelAnswer(text=me))
    assert cache.get(f"{me}-{n}").text == f"{me} {n}"
"""


def test_several_processes_and_threads_write_at_once(tmp_path: Path) -> None:
    path = tmp_path / "cache.sqlite"
    workers = [
        subprocess.Popen(
            [sys.executable, "-c", _WORKER, str(path), str(n)],
            cwd=ROOT,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        for n in range(3)
    ]
    for worker in workers:
        assert worker.stdout is not None and worker.stdout.readline() == "ready\n"
    cache = ResponseCache(path)
    threads = [
        threading.Thread(target=lambda me=me: [cache.put(f"t{me}-{n}", ModelAnswer(text="t")) for n in range(50)])  # type: ignore[misc]
        for me in range(4)
    ]
    for thread in threads:
        thread.start()
    for worker in workers:
        _, errors = worker.communicate("go\n", timeout=60)
        assert worker.returncode == 0 and "cannot be used" not in errors, errors
    for thread in threads:
        thread.join()
    for me in range(3):
        assert all(cache.get(f"{me}-{n}") == ModelAnswer(text=f"{me} {n}") for n in range(100))
    assert all(cache.get(f"t{me}-{n}") for me in range(4) for n in range(50))


@pytest.mark.parametrize("when", ["before", "while open"])
def test_a_broken_file_is_moved_aside_and_said_once(
    tmp_path: Path, when: str, caplog: pytest.LogCaptureFixture
) -> None:
    path = tmp_path / "cache.sqlite"
    cache = ResponseCache(path)
    if when == "while open":
        cache.put("old", ModelAnswer(text="old"))
        cache.close()
    path.write_bytes(b"this is no database, only some text that is long enough" * 100)
    model = Counting()
    cached = Cached(model, cache, "u")
    assert asyncio.run(cached.answer(request(), lambda text: None)).text == "answer 1"
    assert asyncio.run(cached.answer(request(), lambda text: None)).cached, "it was begun anew"
    assert (tmp_path / "cache.sqlite.broken").exists()
    assert [record.levelname for record in caplog.records if record.name == "core.models.cache"] == ["WARNING"]
    assert "cache.sqlite is broken, so a new one is started" in caplog.text


def test_not_even_the_answer_that_finds_the_file_broken_is_lost(tmp_path: Path) -> None:
    path = tmp_path / "cache.sqlite"
    path.write_bytes(b"no database" * 1000)
    cache = ResponseCache(path)
    cache.put("k", ModelAnswer(text="kept"))
    assert cache.get("k") == ModelAnswer(text="kept")


def test_a_broken_file_that_cannot_be_moved_aside_stands_in_nobody_s_way(tmp_path: Path) -> None:
    path = tmp_path / "cache.sqlite"
    path.write_bytes(b"no database" * 1000)
    (tmp_path / "cache.sqlite.broken").mkdir()
    cached = Cached(Counting(), ResponseCache(path), "u")
    for expected in ("answer 1", "answer 2"):
        assert asyncio.run(cached.answer(request(), lambda text: None)).text == expected
    assert path.read_bytes() == b"no database" * 1000, "and it is left as it is"


def test_what_another_process_mended_in_the_meantime_is_not_moved_aside(tmp_path: Path) -> None:
    """Two processes find a broken file. When the slower one moves it aside, the faster one has begun a new one."""
    path = tmp_path / "cache.sqlite"
    path.write_bytes(b"no database" * 1000)
    one, other = ResponseCache(path), ResponseCache(path)
    one.put("k", ModelAnswer(text="kept"))
    (tmp_path / "cache.sqlite.broken").unlink()
    assert other._begin_anew(), "it can be used"
    assert not (tmp_path / "cache.sqlite.broken").exists()
    assert other.get("k") == one.get("k") == ModelAnswer(text="kept")


def test_nothing_of_a_broken_file_is_left_in_the_new_one(tmp_path: Path) -> None:
    """Nor the content of its log, which a killed process leaves."""
    path = tmp_path / "cache.sqlite"
    log = path.with_name("cache.sqlite-wal")
    cache = ResponseCache(path)
    for key in ("old", "older"):
        cache.put(key, ModelAnswer(text=key))
        left = log.read_bytes()
        cache.close()
    log.write_bytes(left)
    path.write_bytes(b"no database" * 1000)
    cache.put("new", ModelAnswer(text="new"))
    assert cache.get("old") is cache.get("older") is None and cache.get("new") == ModelAnswer(text="new")
    cache.close()
    assert ResponseCache(path).get("new") == ModelAnswer(text="new")


def test_an_answer_that_cannot_be_read_any_more_is_asked_for_again(tmp_path: Path) -> None:
    cache = ResponseCache(tmp_path / "cache.sqlite")
    cache._run("insert into answers values (?, ?)", ("k", '{"seconds": "of another version"}'))
    assert cache.get("k") is None


def test_a_locked_or_unreachable_file_loses_no_answer(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("core.models.cache._PATIENCE", 0.05)
    path = tmp_path / "cache.sqlite"
    cache = ResponseCache(path)
    cache.put("k", ModelAnswer(text="before"))
    other = sqlite3.connect(path, isolation_level=None)
    other.execute("begin exclusive")
    cached = Cached(Counting(), cache, "u")
    with caplog.at_level(logging.WARNING):
        for expected in ("answer 1", "answer 2"):
            assert asyncio.run(cached.answer(request(), lambda text: None)).text == expected
    other.execute("rollback")
    other.close()
    assert len(caplog.records) == 1 and "cannot be used just now: database is locked" in caplog.text
    assert not path.with_name("cache.sqlite.broken").exists()
    assert cache.get("k") == ModelAnswer(text="before"), "once it is free it is used again, and nothing was thrown away"

    (tmp_path / "file").write_text("")
    unreachable = ResponseCache(tmp_path / "file" / "cache.sqlite")
    nowhere = Cached(Counting(), unreachable, "u")
    assert asyncio.run(nowhere.answer(request(), lambda text: None)).text == "answer 1"
    assert unreachable.get("k") is None
    (tmp_path / "file").unlink()
    unreachable.put("k", ModelAnswer(text="now it can"))
    assert unreachable.get("k") == ModelAnswer(text="now it can")


def test_a_locked_file_is_never_taken_for_a_broken_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("core.models.cache._PATIENCE", 0.05)
    path = tmp_path / "cache.sqlite"
    other = sqlite3.connect(path, isolation_level=None)
    other.execute("create table t (x)")
    other.execute("begin exclusive")
    assert not ResponseCache(path)._begin_anew(), "it cannot be used, and it is not moved aside"
    other.execute("rollback")
    other.close()
    assert [one.name for one in tmp_path.iterdir()] == ["cache.sqlite"] and ResponseCache(path)._begin_anew()


def test_a_cancelled_run_still_keeps_what_was_answered(tmp_path: Path) -> None:
    """An answer that has arrived is paid for, even if the run is cancelled before a thread is free to store it."""
    cache = ResponseCache(tmp_path / "cache.sqlite")
    free, answered = threading.Event(), asyncio.Event()

    class BusyAfterwards(Counting):
        """After it has answered, the cache's thread is busy until it is `free`."""

        async def answer(self, request: Request, on_text: OnText) -> ModelAnswer:
            cache.thread.submit(free.wait, 30)
            answered.set()
            return await super().answer(request, on_text)

    async def cancelled() -> None:
        call = asyncio.create_task(Cached(BusyAfterwards(), cache, "u").answer(request(), lambda text: None))
        await answered.wait()
        for _ in range(10):
            await asyncio.sleep(0)
        assert call.cancel()
        with pytest.raises(asyncio.CancelledError):
            await call
        free.set()
        await asyncio.wrap_future(cache.thread.submit(lambda: None))

    asyncio.run(cancelled())
    kept = cache.get(key_of(request(), "endpoint/model", "u"))
    assert kept is not None and kept.text == "answer 1"


def test_a_kept_answer_does_not_wait_behind_slow_work_of_others(tmp_path: Path) -> None:
    cached = Cached(Counting(), ResponseCache(tmp_path / "cache.sqlite"), "http://a/v1")
    asyncio.run(cached.answer(request(), lambda _: None))

    async def go() -> ModelAnswer:
        done = threading.Event()
        busy = [asyncio.ensure_future(asyncio.to_thread(done.wait)) for _ in range(64)]
        await asyncio.sleep(0)
        try:
            return await asyncio.wait_for(cached.answer(request(), lambda _: None), timeout=5)
        finally:
            done.set()
            await asyncio.gather(*busy)

    assert asyncio.run(go()).cached


def test_what_one_person_paid_for_is_not_another_s(tmp_path: Path) -> None:
    cache = ResponseCache(tmp_path / "answers.sqlite")

    def asked(server: StubServer, key: str) -> bool:
        config = server.config(name="endpoint", key=SecretStr(key))
        catalog = Catalog(home=tmp_path, journals=tmp_path, read=lambda path: [], endpoints=(config,), cache=cache)
        return asyncio.run(catalog.get("endpoint/stub-model").answer(request(), lambda text: None)).cached

    with StubServer("Yes.") as server:
        assert [asked(server, key) for key in ("key-of-ann", "key-of-bob", "key-of-ann", "")] == [
            False,
            False,
            True,
            False,
        ]
        assert server.count == 3
    cache.close()
    assert b"key-of-ann" not in b"".join(path.read_bytes() for path in tmp_path.iterdir() if path.is_file())
