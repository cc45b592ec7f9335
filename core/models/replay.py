"""Gives a journal's answers again: no model, no network, no cost."""

import hashlib
import json
from collections.abc import Iterable

from ..events import Asked, CallError, Event, Failed, ModelAnswer, OnText, Request
from ..transcript import Call, transcript
from . import errors
from .ids import GIVEN

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
            raise _again(call.failed)
        on_text(call.text)
        return call.answered.again(edited=False, at_once=None)


def _key(asked: Asked | Request) -> str:
    turns, sampling = [turn.model_dump() for turn in asked.messages], asked.sampling.model_dump(mode="json")
    content = [asked.role, turns, sampling, asked.repeat]
    return hashlib.sha256(json.dumps(content, ensure_ascii=False, sort_keys=True).encode()).hexdigest()


def _same(asked: Asked, request: Request) -> bool:
    """Whether `request`, sent to the model that was asked then, is exactly that request (including its JSON schema)."""
    return request.model_copy(update={"model": asked.model}).fingerprint() == asked.fingerprint


def _again(failed: Failed | None) -> CallError:
    assert failed is not None
    return errors.error_of_journal(failed.error)(failed.message, failed.hint)
