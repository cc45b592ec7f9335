"""Plays a run of the Probe lab from start to finish, without a page, for the tests of the lab's parts."""

import asyncio
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from core.events import Event
from core.labs.probe.controls import controls, worthless
from core.labs.probe.lab import LAB
from core.labs.probe.report import ProbeReport
from core.labs.probe.tasks import ProbeSpec
from core.models.catalog import Catalog
from core.runs.engine import RunIO, RunRequest, UserInput, execute
from core.transcript import Transcript, transcript
from tests.support.stub_server import Calls, StubServer

BOTH = ("paper", "repaired")

CONCLUSION = "[DESCRIPTION]: It doubles x.\n[DOMAIN]: all numbers\n[CODE]:\n```python\ndef f(x):\n    return 2 * x\n```"


def with_controls(**changes: Any) -> Catalog:
    """The models of the tests: the lab's controls, and what `changes` add."""
    unused = Path("/dev/null/unused")
    return Catalog(home=unused, journals=unused, read=lambda path: [], controls=controls() | worthless(), **changes)


def stub_catalog(server: StubServer, **changes: object) -> Catalog:
    return with_controls(endpoints=[server.config(**changes)])


def run(
    spec: ProbeSpec,
    catalog: Catalog | None = None,
    history: Sequence[Event] = (),
    additions: Sequence[UserInput] = (),
) -> tuple[Transcript, list[Event]]:
    """The run after its end, and all its events but the tokens."""
    events: list[Event] = list(history)
    resolve = (catalog or with_controls()).get
    going = execute(RunRequest(LAB, spec, "r", history=history, additions=additions), RunIO(resolve, events.append))
    asyncio.run(going)
    kept = [event for event in events if event.kind != "token"]
    return transcript(kept), kept


def play(
    spec: ProbeSpec,
    catalog: Catalog | None = None,
    history: Sequence[Event] = (),
    additions: Sequence[UserInput] = (),
) -> tuple[ProbeReport, list[Event]]:
    """The only case of a run, and its events."""
    state, events = run(spec, catalog, history, additions)
    return LAB.view(state.case(state.only)), events


def failures(events: Sequence[Event]) -> list[str]:
    """What stopped the run, in words."""
    return [event.message for event in events if event.kind == "failed" and event.call is None]


def stub_spec(**changes: object) -> ProbeSpec:
    return ProbeSpec.model_validate({"own": "2*x", "model": "stub/stub-model", "rounds": 4, **changes})


def scripted(*messages: str | Calls) -> Any:
    """A model that says one thing after another, the last for ever; which one, the turns so far tell."""

    def reply(body: dict[str, Any]) -> str | Calls:
        said = sum(message["role"] == "assistant" for message in body["messages"])
        return messages[min(said, len(messages) - 1)]

    return reply
