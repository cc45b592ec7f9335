"""A run that goes on, as those are told who watch it: the case, and how far its run is."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Iterator
from itertools import pairwise
from typing import Any

import pytest

from core import entry
from core.labs.consistency.tasks import CheckSpec
from core.labs.simulatability.tasks import AskSpec
from core.telling.how_far import OVER, how_far
from core.telling.sealed import Opened
from pages.stage.following import following
from tests.plausible import telling
from tests.stub_server import StubServer


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[StubServer]:
    with StubServer(telling(), delay=0.05) as started:
        monkeypatch.setenv("OPENAI_BASE_URL", started.base_url)
        monkeypatch.setenv("OPENAI_API_KEY", "key-for-the-stub")
        yield started


Events = list[tuple[str, dict[str, Any]]]


def told(run: str, opened: Callable[[Events], Opened] = lambda events: None) -> Events:
    """All that somebody is told of a run, to its end, who may see what `opened` gives after the events so far."""
    events: Events = []

    async def hear() -> None:
        async for event in following(run, "").told(lambda: opened(events)):
            name, data = event.strip().split("\n")
            events.append((name.removeprefix("event: "), json.loads(data.removeprefix("data: "))))

    asyncio.run(asyncio.wait_for(hear(), 120))
    return events


def test_who_watches_is_told_how_far_the_run_is(server: StubServer) -> None:
    spec = CheckSpec(limit=6, model="openai/stub-model", explanations=("attribution",), controls=1)
    run = entry.jobs().start("consistency", spec)
    events = told(run)
    far = [data for name, data in events if name == "far"]
    assert events[-1][0] == "over" and far[-1]["share"] == 1.0
    assert far[-1]["words"] == f"6 of 6 checks · {server.count} calls"
    assert all(one != other for one, other in pairwise(far)), "nothing is told twice"
    shares = [one["share"] for one in far]
    assert shares == sorted(shares)
    around = [one["around"] for one in far]
    assert len(set(around)) > 1, "the list of cases is another once one has ended"


def test_who_may_not_see_all_of_it_is_told_how_far_it_is_and_its_end_once_they_may(server: StubServer) -> None:
    run = entry.jobs().start("simulatability", AskSpec(question="Can a penguin fly?", model="openai/stub-model"))
    at_rest = ("far", OVER.model_dump())
    events = told(run, lambda events: None if at_rest in events else {})
    assert [name for name, _ in events[events.index(at_rest) :]] == ["far", "changed", "over"]
    shares = [data["share"] for name, data in events if name == "far"]
    assert len(shares) > 2 and shares == sorted(shares)


def test_of_one_case_only_the_case_changes_and_not_what_stands_around_it() -> None:
    run = entry.jobs().start("simulatability", AskSpec(question="Can a penguin fly?", model="control/fickle"))
    assert entry.jobs().wait(run, 120)
    state, lab = entry.jobs().watch(run).transcript, entry.labs()["simulatability"]
    whole = how_far(entry.jobs(), lab, run, state)
    assert whole.words == f"{state.ended} of about 51 calls answered" and 0 < whole.share <= 1
    state.cases[state.only].result = None
    assert how_far(entry.jobs(), lab, run, state).around == whole.around
    state.started = None
    unknown = how_far(entry.jobs(), None, run, state)
    assert unknown.words == f"{state.ended} calls answered" and unknown.around != whole.around
