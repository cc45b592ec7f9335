"""A journal's answers given again: no model, no network, no cost."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable
from typing import NamedTuple

from core.events import Answer, Answered, Asked, CallFailed, Event, Failed, Message, OnText, Request, Sampling
from core.models import errors

_FIRST_WORDS = 12


class _Call(NamedTuple):
    asked: Asked
    outcome: Answered | Failed


class Replay:
    """`replay/<run>`: answers each request as the journal of `run` says it was answered; fails where it failed.

    A request is known by role, messages, sampling and repeat number; its model is ignored, for a replay has
    its own id. Where several calls are the same in all of these (two models asked one question, or one question with
    two schemas), the one whose fingerprint fits comes first, and then they are given by turns in the journal's order.

    Raises NotInReplay for anything else.
    """

    def __init__(self, run_id: str, events: Iterable[Event]) -> None:
        self.id = f"replay/{run_id}"
        self._run = run_id
        self._given: dict[str, int] = {}
        asked: dict[str, Asked] = {}
        outcomes: dict[str, Answered | Failed] = {}
        for event in events:
            if isinstance(event, Asked):
                asked[event.call] = event
            elif isinstance(event, Answered):
                outcomes[event.call] = event
            elif isinstance(event, Failed) and event.call is not None:
                outcomes.setdefault(event.call, event)
        # A call that failed, and was asked again when the run was resumed, counts as the second time.
        mended = {asked[call].fingerprint for call, end in outcomes.items() if call in asked and end.kind == "answered"}
        self._calls: dict[str, list[_Call]] = {}
        for call, question in asked.items():
            outcome = outcomes.get(call)
            if outcome is None or (isinstance(outcome, Failed) and question.fingerprint in mended):
                continue
            key = _key(question.role, question.messages, question.sampling, question.repeat)
            self._calls.setdefault(key, []).append(_Call(question, outcome))

    async def answer(self, request: Request, on_text: OnText) -> Answer:
        """What the same request got in the replayed run. Raises NotInReplay, or the failure that the run got."""
        key = _key(request.role, request.messages, request.sampling, request.repeat)
        calls = self._calls.get(key)
        if not calls:
            words = request.messages[-1].content.split() if request.messages else []
            begun = " ".join(words[:_FIRST_WORDS]) + ("…" if len(words) > _FIRST_WORDS else "")
            raise errors.failure("not_in_replay", run=self._run, role=request.role, words=begun)
        fitting = [call for call in calls if _same(call.asked, request)] or calls
        turn = self._given.get(key, 0)
        self._given[key] = turn + 1
        outcome = fitting[turn % len(fitting)].outcome
        if isinstance(outcome, Failed):
            raise _again(outcome)
        on_text(outcome.text)
        return outcome.again(edited=False, at_once=None)


def _key(role: str, messages: tuple[Message, ...], sampling: Sampling, repeat: int) -> str:
    content = [role, [turn.model_dump() for turn in messages], sampling.model_dump(mode="json"), repeat]
    return hashlib.sha256(json.dumps(content, ensure_ascii=False, sort_keys=True).encode()).hexdigest()


def _same(asked: Asked, request: Request) -> bool:
    """Whether `request`, put to the model that was asked then, is that very request (its JSON schema too)."""
    return request.model_copy(update={"model": asked.model}).fingerprint() == asked.fingerprint


def _again(failed: Failed) -> CallFailed:
    kind = getattr(errors, failed.error, CallFailed)
    if not (isinstance(kind, type) and issubclass(kind, CallFailed)):
        kind = CallFailed
    failure: CallFailed = kind(failed.message, failed.hint)
    return failure
