"""Events and journals for the store's tests."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from core.events import (
    Answered,
    Asked,
    Dropped,
    Event,
    Failed,
    Finished,
    Message,
    Recorded,
    Sampling,
    Scored,
    Started,
    Usage,
    to_json,
)

NOON = datetime(2026, 5, 4, 12, 0, tzinfo=UTC)


def at(second: float) -> datetime:
    return NOON + timedelta(seconds=second)


def started(run: str, second: float = 0, **spec: Any) -> Started:
    spec = {"question": "Can penguins fly?", "model": "control/fickle", "method": "cot", "task": "strategyqa"} | spec
    return Started(run=run, at=at(second), lab="simulatability", spec=spec, seed=7, prompts={"explain": "abc"})


def asked(run: str, call: str, second: float = 1, item: str = "starter") -> Asked:
    return Asked(
        run=run,
        at=at(second),
        call=call,
        role="explainer",
        model="control/fickle",
        messages=(Message(role="user", content="Can penguins fly?"),),
        sampling=Sampling(max_tokens=50),
        item=item,
        prompt="explain",
    )


def answered(run: str, call: str, second: float = 2, text: str = "Yes.") -> Answered:
    usage = Usage(prompt_tokens=12, completion_tokens=3)
    return Answered(
        run=run, at=at(second), call=call, role="explainer", model="control/fickle", text=text, seconds=0.5, usage=usage
    )


def failed(run: str, call: str | None, second: float = 2) -> Failed:
    return Failed(
        run=run, at=at(second), call=call, error="TimedOut", message="It took too long.", hint="Try a smaller model."
    )


def whole_run(run: str, precision: float | None = 0.5, second: float = 0) -> list[Event]:
    """A small Ask run: one explanation, two counterfactuals of which one cannot be guessed, and scores."""

    def record(name: str, item: str, **data: Any) -> Recorded:
        return Recorded(run=run, at=at(second + 3), record=name, item=item, data=data)

    explained = {"answer_paper": "yes", "answer_repaired": "yes", "explanation_repaired": "Birds fly. <b>All</b>"}
    score = {"run": run, "at": at(second + 8), "n": 1, "of": 2, "rules": "repaired"}
    return [
        started(run, second),
        asked(run, "c0001", second + 1),
        answered(run, "c0001", second + 2),
        record("explanation", "starter", call="c0001", task="strategyqa", question="Can penguins fly?", **explained),
        record("counterfactual", "cf-01", call="c0002", text="Can an ostrich fly?", origin="generated", paper=True),
        record("counterfactual", "cf-02", call="c0003", text="Can a trout swim?", origin="generated", paper=True),
        record("simulation", "cf-01", simulator="control/fickle", votes=["yes"], paper="yes", repaired="yes"),
        record("simulation", "cf-01", simulator="reader", paper="no", repaired="no"),
        record(
            "simulation", "cf-02", simulator="control/fickle", votes=["unknown"], paper="unknown", repaired="unknown"
        ),
        record("answer", "cf-01", call="c0004", paper="no", repaired="no"),
        record("answer", "cf-02", call="c0005", paper="yes", repaired="yes"),
        Dropped(run=run, at=at(second + 7), item="cf-02", reason="not simulatable", rules="repaired"),
        Scored(metric="precision", value=precision, low=0.1, high=0.9, **score),
        Scored(metric="generality_cosine", value=0.7, **score),
        Finished(run=run, at=at(second + 9), status="completed"),
    ]


def lines(events: Iterable[Event]) -> bytes:
    return b"".join(to_json(event).encode() + b"\n" for event in events)


def write(folder: Path, run: str, events: Iterable[Event]) -> Path:
    """The journal of `run`, whole."""
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"{run}.jsonl"
    path.write_bytes(lines(events))
    return path
