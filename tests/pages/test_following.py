"""The events that viewers of a run in progress receive: the case, and the progress of its run."""

import asyncio
import json
from collections.abc import Callable, Iterator
from itertools import pairwise
from typing import Any

import pytest

from core import entry
from core.labs.ask.tasks import AskSpec
from core.labs.check.tasks import CheckSpec
from core.report.evidence import Opened
from core.runs.library import RunNotFoundError
from core.scene import Card, Scene
from core.server.access import AccessDeniedError
from core.server.jobs import OVER, HowFar, how_far
from pages.viewer import routes as module
from pages.viewer.routes import Broadcast, Snapshot, broadcast_of, changed
from tests.support.plausible import telling
from tests.support.stub_server import StubServer


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[StubServer]:
    with StubServer(telling(), delay=0.05) as started:
        monkeypatch.setenv("OPENAI_BASE_URL", started.base_url)
        monkeypatch.setenv("OPENAI_API_KEY", "key-for-the-stub")
        yield started


Events = list[tuple[str, dict[str, Any]]]


def told(run: str, opened: Callable[[Events], Opened] = lambda events: None) -> Events:
    """All events of a run that a visitor receives who may see what `opened` gives after the events so far."""
    events: Events = []

    async def hear() -> None:
        async for event in broadcast_of(run, "").events(lambda: opened(events)):
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
    judged = how_far(entry.jobs(), lab, run, state)
    assert (judged.words, judged.share) == ("Measuring how varied the questions are …", 1)
    state.cases[state.only].result = None
    whole = how_far(entry.jobs(), lab, run, state)
    assert whole.words == f"{state.finished_calls} of about 62 calls answered" and 0 < whole.share <= 1
    assert whole.around != judged.around, "the next step can be offered once there is a verdict"
    state.places[state.only].records.clear()
    assert how_far(entry.jobs(), lab, run, state).around == whole.around
    state.started = None
    unknown = how_far(entry.jobs(), None, run, state)
    assert unknown.words == f"{state.finished_calls} calls answered" and unknown.around != whole.around


def looks(*seen: Snapshot | Exception) -> Callable[[], Snapshot]:
    """Return these snapshots, or raise these errors, one after the other; the last one repeatedly."""
    rest = list(seen)

    def look() -> Snapshot:
        now = rest.pop(0) if len(rest) > 1 else rest[0]
        if isinstance(now, Exception):
            raise now
        return now

    return look


def at(
    share: float, goes_on: bool = True, scene: Scene | None = None, is_sealed: bool = False, is_shared: bool = True
) -> Snapshot:
    return Snapshot(scene, HowFar(share=share, words=f"{share:.0%}", around="1"), goes_on, is_sealed, is_shared)


async def heard(one: Broadcast, opened: Callable[[], Opened] = lambda: None) -> Events:
    events: Events = []
    async for event in one.events(opened):
        name, data = event.strip().split("\n")
        events.append((name.removeprefix("event: "), json.loads(data.removeprefix("data: "))))
    return events


@pytest.fixture
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "PACE", 0.01)


CARDS = tuple(Card(id=id, number=number, mark="waiting") for number, id in enumerate("ab", start=1))
BEGUN = Scene(lab="Ask", run="r", case="q", title="Is it?", cards=CARDS)
CAME = BEGUN.model_copy(update={"cards": (CARDS[0], CARDS[1].model_copy(update={"mark": "kept"}))})


def test_of_a_scene_what_changed_is_told_and_of_its_cards_those_that_did() -> None:
    before, now = BEGUN.model_dump(), CAME.model_dump()
    assert changed(before, now) == {"cards": [now["cards"][1]]}
    assert changed(before, before) == {}
    assert changed({}, now)["cards"] == list(now["cards"]) and changed({}, now)["title"] == "Is it?"


def test_it_is_told_once_whole_then_what_changed_then_that_it_is_over(quick: None) -> None:
    one = Broadcast(looks(at(0.0), at(0.0, scene=BEGUN), at(0.5, scene=BEGUN), at(1.0, False, CAME)))

    async def two() -> list[Events]:
        return [*await asyncio.gather(heard(one), heard(one))]

    first, second = asyncio.run(asyncio.wait_for(two(), 60))
    assert [name for name, _ in first] == ["far", "scene", "far", "changed", "far", "over"] and first == second
    whole, news = (data for name, data in first if name in ("scene", "changed"))
    assert Scene.model_validate(whole) == BEGUN and [card["id"] for card in news["cards"]] == ["b"]
    assert [data["share"] for name, data in first if name == "far"] == [0.0, 0.5, 1.0]


def test_who_comes_later_is_told_the_whole_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "PACE", 3600.0)
    one = Broadcast(lambda: at(0.5, scene=BEGUN))

    async def later() -> list[str]:
        first, second = one.events(), one.events()
        return [await anext(told) for told in (first, first, second, second)]

    told = asyncio.run(asyncio.wait_for(later(), 60))
    assert told[:2] == told[2:] and [one.partition("\n")[0] for one in told[:2]] == ["event: scene", "event: far"]
    over = Broadcast(looks(at(1.0, False, BEGUN)))
    names = [name for name, _ in asyncio.run(asyncio.wait_for(heard(over), 60))]
    assert names == ["scene", "over"], "how far it is says nothing of one that is over"


def test_a_run_that_is_gone_and_a_folder_that_is_away_end_it(quick: None) -> None:
    for gone in (RunNotFoundError("gone"), OSError("away")):
        one = Broadcast(looks(at(0.0), gone))
        assert [name for name, _ in asyncio.run(asyncio.wait_for(heard(one), 60))] == ["far"]


def test_of_a_sealed_case_nothing_is_told_but_what_was_guessed(quick: None) -> None:
    opened: list[Opened] = [{}, {}, {"b": "yes"}, None]

    def part() -> Opened:
        return opened.pop(0) if len(opened) > 1 else opened[0]

    one = Broadcast(looks(at(1.0, False, CAME, is_sealed=True)))
    told = asyncio.run(asyncio.wait_for(heard(one, part), 60))
    assert [name for name, _ in told] == ["scene", "far", "changed", "changed", "over"] and told[1][1][
        "around"
    ] == "over"
    marks = [{card["id"]: card["mark"] for card in data["cards"]} for name, data in told if "cards" in data]
    assert marks[0]["b"] != "kept" and marks[1]["b"] == "kept"

    def no_longer() -> Opened:
        if len(opened) == 1:
            raise RunNotFoundError("no longer shared")
        return opened.pop(0)

    opened[:] = [{"b": "yes"}, {}]
    one = Broadcast(looks(at(0.0, scene=CAME), at(0.5, scene=CAME), OSError("so much for the test")))
    told = asyncio.run(asyncio.wait_for(heard(one, no_longer), 60))
    assert told == [], "who may see no more of it is told no more"


def test_who_falls_behind_is_cut_off_and_what_nobody_watches_is_forgotten(
    quick: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "_BEHIND", 2)
    shares = iter(range(1_000_000))

    async def slow() -> list[str]:
        loop, enough = asyncio.get_running_loop(), asyncio.Event()

        def look() -> Snapshot:
            share = next(shares)
            if share == 20:
                loop.call_soon_threadsafe(enough.set)
            return at(share / 1_000_000)

        behind = Broadcast(look)
        told = behind.events()
        found, beside = [await anext(told)], asyncio.create_task(heard(behind))
        await enough.wait()
        found += [event async for event in told]
        beside.cancel()
        return found

    one = Broadcast(lambda: at(0.0))
    assert len(asyncio.run(asyncio.wait_for(slow(), 60))) <= 1 + 2
    monkeypatch.setattr(module, "_FOLLOWED", {("r", "q"): one, ("old", ""): Broadcast(lambda: at(0.0))})
    one._watching.add(module._Watcher(lambda: None))
    assert broadcast_of("r", "q") is one and set(module._FOLLOWED) == {("r", "q")}
    one._watching.clear()
    assert broadcast_of("r", "q") is not one


def test_once_sharing_is_taken_back_only_its_owner_is_told_more(quick: None) -> None:
    asked = 0

    def others() -> Opened:
        nonlocal asked
        asked += 1
        if asked > 1:
            raise AccessDeniedError("not shared any more")
        return None

    shared, taken_back = at(0.0, scene=BEGUN), at(1.0, False, CAME, is_shared=False)
    one = Broadcast(looks(shared, shared, taken_back))

    async def both() -> list[Events]:
        return [*await asyncio.gather(heard(one), heard(one, others))]

    owner, other = asyncio.run(asyncio.wait_for(both(), 60))
    assert [name for name, _ in owner] == ["scene", "far", "changed", "far", "over"]
    assert [name for name, _ in other] == ["scene", "far"], "and then the stream ends"
