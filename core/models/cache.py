"""The response cache, so that the same request to the same model is not paid for twice; and a journal's answers
given again by a model of their own.
"""

import asyncio
import hashlib
import json
import logging
import sqlite3
import threading
import time
from collections.abc import Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from .. import policy
from ..events import Asked, Event, Model, ModelAnswer, OnText, Request
from ..runs.fairness import WHOSE
from ..transcript import Call, transcript
from . import errors
from .endpoint import Endpoint
from .ids import GIVEN

log = logging.getLogger(__name__)

_PATIENCE = 2.0
"""Seconds to wait for another process that writes."""


class ResponseCache:
    """Answers in one SQLite file; safe between threads and processes (each process makes its own, after any fork).

    A cache never blocks a call: if the file cannot be used, nothing is read or stored, and the log says so once. A file
    that is no longer a database is moved aside (`<name>.broken`) and started again.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._database: sqlite3.Connection | None = None
        self._turn = threading.Lock()
        self._complained = False
        # Its own thread: the cache comes before every call, and must not wait behind fits and starting models. One is
        # enough, since several would take turns.
        self.thread = ThreadPoolExecutor(1, thread_name_prefix="response-cache")

    def get(self, key: str) -> ModelAnswer | None:
        """The answer stored under `key`; None if there is none, or none that can be read."""
        rows = self._run("select answer from answers where key = ?", (key,))
        try:
            return ModelAnswer.model_validate_json(rows[0][0]) if rows else None
        except ValidationError:
            return None

    def put(self, key: str, answer: ModelAnswer, content: str = "") -> None:
        """Store `answer` under `key`, replacing any other. `content` identifies what was asked (`content_of`)."""
        values = (key, answer.model_dump_json(), content, str(time.time()))
        self._run("insert or replace into answers values (?, ?, ?, cast(? as real))", values)

    def forget(self, events: Iterable[Event]) -> None:
        """Delete every answer to the requests in `events`, no matter who else asked them; nothing of them stays in the
        file.
        """
        asked = sorted({content_of(event) for event in events if isinstance(event, Asked)})
        self._forget("content in (select value from json_each(?))", json.dumps(asked))

    def forget_before(self, moment: float) -> None:
        """Delete every answer from before `moment`, in seconds of the epoch, and those dated more than a day in the
        future: their age was lost when the clock was set back.
        """
        self._forget("at < cast(? as real) or at > strftime('%s', 'now') + 86400", str(moment))

    def _forget(self, which: str, value: str) -> None:
        if self.path.exists():
            self._run(f"delete from answers where {which}", (value,))  # noqa: S608  our own words
            self._run("pragma wal_checkpoint(truncate)", ())
        self._broken.unlink(missing_ok=True)

    @property
    def _broken(self) -> Path:
        return self.path.with_name(f"{self.path.name}.broken")

    @property
    def is_empty(self) -> bool:
        """Whether no answer is stored."""
        return not self._run("select key from answers limit 1", ())

    def close(self) -> None:
        """Close the file; the next use opens it again."""
        with self._turn:
            self._close()

    def _run(self, statement: str, values: tuple[str, ...]) -> list[tuple[str, ...]]:
        """The rows of one statement, committed; empty if the file cannot be used."""
        with self._turn:
            for _ in range(2):
                try:
                    with self._open() as database:
                        return database.execute(statement, values).fetchall()
                except (sqlite3.Error, OSError) as error:
                    self._close()
                    broken = isinstance(error, sqlite3.DatabaseError) and not isinstance(
                        error, sqlite3.OperationalError
                    )
                    self._complain(error, broken)
                    if not broken or not self._begin_anew():
                        return []
        return []

    def _open(self) -> sqlite3.Connection:
        if self._database is None:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            self._database = sqlite3.connect(self.path, timeout=_PATIENCE, check_same_thread=False)
            self._database.execute("pragma journal_mode = wal")
            # A crash of the machine may lose the last answers, which only have to be asked for again.
            self._database.execute("pragma synchronous = normal")
            # Deleted data are overwritten with zeros.
            self._database.execute("pragma secure_delete = on")
            self._database.execute(
                "create table if not exists answers "
                "(key text primary key, answer text not null, content text not null, at real not null) strict"
            )
        return self._database

    def _close(self) -> None:
        if self._database is not None:
            self._database.close()
            self._database = None

    def _complain(self, error: Exception, broken: bool) -> None:
        if not self._complained:
            self._complained = True
            what = "is broken, so a new one is started" if broken else "cannot be used just now"
            log.warning("The response cache %s %s: %s", self.path, what, error)

    def _begin_anew(self) -> bool:
        """Whether the file can be used again: another process repaired it meanwhile, or it was moved aside now."""
        try:
            if self._open().execute("pragma quick_check(1)").fetchone() == ("ok",):
                return True
        except sqlite3.OperationalError:
            return False
        except sqlite3.DatabaseError:
            pass
        self._close()
        try:
            self.path.replace(self._broken)
            for suffix in ("-wal", "-shm"):
                self.path.with_name(self.path.name + suffix).unlink(missing_ok=True)
        except OSError:
            return False
        return True


_SENT = {"messages", "sampling", "json_schema", "repeat", "tools"}


def key_of(request: Request, model: str, account: str, sent: Mapping[str, Any] | None = None) -> str:
    """A hash (64 hexadecimal digits) of all that can change an answer and of who pays for it: model, account (address
    and a hash of the key), the request without its role, and the parameters as they are `sent`. Where the app is
    hosted it also covers the person who asks: a cached answer would reveal that somebody else asked the same.
    """
    content = request.model_dump(mode="json", include=_SENT) | {"model": model, "base_url": account}
    if sent:
        # Whether the server or the app stops at the request's stop sequences, the text is the same.
        content["sent"] = {name: value for name, value in sent.items() if name != "stop"}
    return _digest(content | ({"whose": WHOSE.get()} if policy.is_hosted() else {}))


def content_of(asked: Request | Asked) -> str:
    """Return a hash (64 hexadecimal digits) of what a request asks, from the request or from its journal event. It does
    not depend on who asks.
    """
    content = asked.model_dump(mode="json", include=_SENT)
    # A journal leaves out empty fields.
    return _digest({name: value for name, value in content.items() if value})


def _digest(content: object) -> str:
    return hashlib.sha256(json.dumps(content, sort_keys=True, ensure_ascii=False).encode()).hexdigest()


def repeatable(request: Request, sent: Mapping[str, Any] | None = None) -> bool:
    """Whether the same request should get the same answer: samples without a seed are meant to differ. A server that
    was not sent the temperature samples as it likes.
    """
    if sent:
        return sent.get("temperature") == 0 or "seed" in sent
    return request.sampling.temperature == 0 or request.sampling.seed is not None


class Cached:
    """`model` behind the cache. An answer from the cache is marked `cached`; its `seconds` are those of the look-up.

    `account` separates models of the same name at two addresses, and what different people paid for; it must not
    contain a key. Raises what `model` raises.
    """

    def __init__(self, model: Model, cache: ResponseCache, account: str) -> None:
        self.id = model.id
        self.model = model
        self.cache = cache
        self._account = account

    async def cached_answer(self, request: Request) -> ModelAnswer | None:
        """The cached answer to the request, or None."""
        sent = self.model.would_send(request) if isinstance(self.model, Endpoint) else {}
        if not repeatable(request, sent):
            return None
        key = key_of(request, self.id, self._account, sent)
        return await asyncio.get_running_loop().run_in_executor(self.cache.thread, self.cache.get, key)

    async def answer(self, request: Request, on_text: OnText) -> ModelAnswer:
        """The cached answer, or a new one, which is then cached if the request is `repeatable`."""
        began = time.monotonic()
        loop = asyncio.get_running_loop()
        kept = await self.cached_answer(request)
        if kept is not None:
            on_text(kept.text)
            news = {"cached": True, "seconds": time.monotonic() - began, "first_token_seconds": None, "at_once": None}
            return kept.model_copy(update=news)
        answer = await self.model.answer(request, on_text)
        # A parameter that was refused in this very call was not sent.
        sent = answer.sent if isinstance(self.model, Endpoint) else {}
        if not repeatable(request, sent):
            return answer
        key = key_of(request, self.id, self._account, sent)
        # Even if the run is cancelled, an answer that was paid for is stored.
        await asyncio.shield(loop.run_in_executor(self.cache.thread, self.cache.put, key, answer, content_of(request)))
        return answer


# Gives a journal's answers again: no model, no network, no cost.


_FIRST_WORDS = 12


class GivenWords:
    """The model GIVEN: it answers with the last turn of its request, which holds words that a person's file gave."""

    id = GIVEN

    async def answer(self, request: Request, on_text: OnText) -> ModelAnswer:
        """Those words, unchanged."""
        on_text(text := request.messages[-1].content)
        return ModelAnswer(text=text)


class Replay:
    """`replay/<run>`: answers each request as the journal of `run` says it was answered, and fails where it failed.

    A request is identified by role, messages, sampling and repeat number; its model is ignored, since a replay has its
    own id. If several calls agree in all of these (two models asked one question, or one question with two schemas),
    those with the request's fingerprint are used, or else all of them, in turn and in the journal's order.

    Raises NotInReplayError for anything else.
    """

    def __init__(self, run_id: str, events: Iterable[Event]) -> None:
        self.id = f"replay/{run_id}"
        self._run = run_id
        self._given: dict[str, int] = {}
        self._calls: dict[str, list[Call]] = {}
        calls = transcript(events).calls.values()
        # For a call that failed and was asked again when the run was resumed, the second result counts.
        mended = {call.asked.fingerprint for call in calls if call.answered}
        for call in calls:
            if call.answered or (call.failed and call.asked.fingerprint not in mended):
                self._calls.setdefault(_key(call.asked), []).append(call)

    async def answer(self, request: Request, on_text: OnText) -> ModelAnswer:
        """The answer to the same request in the replayed run. Raises NotInReplayError, or the failure of the run."""
        key = _key(request)
        calls = self._calls.get(key)
        if not calls:
            words = request.messages[-1].content.split() if request.messages else []
            begun = " ".join(words[:_FIRST_WORDS]) + ("…" if len(words) > _FIRST_WORDS else "")
            raise errors.failure("not_in_replay", run=self._run, role=request.role, words=begun)
        fitting = [call for call in calls if _same(call.asked, request)] or calls
        turn = self._given.get(key, 0)
        self._given[key] = turn + 1
        call = fitting[turn % len(fitting)]
        if call.answered is None:
            assert call.failed is not None
            raise errors.error_of_journal(call.failed.error)(call.failed.message, call.failed.hint)
        on_text(call.text)
        return call.answered.again(edited=False, at_once=None)


def _key(asked: Asked | Request) -> str:
    turns, sampling = [turn.model_dump() for turn in asked.messages], asked.sampling.model_dump(mode="json")
    return _digest([asked.role, turns, sampling, asked.repeat])


def _same(asked: Asked, request: Request) -> bool:
    """Whether `request`, sent to the model that was asked then, is exactly that request (including its JSON schema)."""
    return request.model_copy(update={"model": asked.model}).fingerprint() == asked.fingerprint
