"""One driver makes all runs: a prerequisite is made once, and forks and reparsed runs need no new one."""

import asyncio
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from core import journal
from core.events import Event, Fork, ModelAnswer, OnText, Recorded, Request, Started, ignore_text
from core.journal import Journal
from core.labs.base.lab import Prerequisite
from core.runs.driver import Driver
from core.runs.engine import PRIOR, RunRequest
from core.transcript import Transcript, transcript
from tests.support.small_lab import LAB, Echoing, EchoSpec, Promise

FIRST = LAB.with_changes(name="first")
SPEC = EchoSpec(words=("yes", "no"), times=1)
KNOWN = Promise(call="", text="it was made")


def read(state: Transcript) -> Promise | None:
    return KNOWN if state.status == "completed" else None


STANDS = LAB.with_changes(
    prerequisites=lambda spec: [Prerequisite(FIRST, EchoSpec(words=("a",), times=1), read, wanted=True)]
)


@pytest.fixture
def driver(tmp_path: Path) -> Driver:
    return Driver({"echo": STANDS, "first": FIRST}, lambda id: Echoing(wait=0.01), tmp_path, owner="ann")


def drive(driver: Driver, *runs: RunRequest, **ports: Any) -> list[Transcript]:
    async def go(going: RunRequest) -> Transcript:
        with Journal(driver.folder / f"{going.id}.jsonl") as written:
            return await driver.execute(going, written, **ports)

    async def all_of() -> list[Transcript]:
        return await asyncio.gather(*map(go, runs))

    return asyncio.run(all_of())


def events_of(driver: Driver, run: str) -> Sequence[Event]:
    return journal.read(driver.folder / f"{run}.jsonl").events


def stood_on(driver: Driver, run: str) -> list[str]:
    return [one.item for one in events_of(driver, run) if isinstance(one, Recorded) and one.item.startswith(PRIOR)]


def firsts(driver: Driver) -> list[Path]:
    return list(driver.folder.glob("*-first-*.jsonl"))


def test_what_several_runs_stand_on_is_made_once_and_for_the_same_owner(driver: Driver) -> None:
    drive(driver, *(RunRequest(STANDS, SPEC.model_copy(update={"seed": n}), f"r{n}") for n in range(3)))
    (first,) = firsts(driver)
    begun = journal.first_event(first)
    assert begun is not None and (begun.lab, begun.owner) == ("first", "ann")
    assert [stood_on(driver, f"r{n}") for n in range(3)] == [[PRIOR]] * 3


def test_who_begins_a_run_may_make_what_it_stands_on_in_another_way(driver: Driver) -> None:
    told: list[str] = []

    async def make(first: RunRequest) -> None:
        told.append(first.lab.name)
        await driver.execute_new(first)

    drive(driver, RunRequest(STANDS, SPEC, "r"), make=make)
    assert told == ["first"] and len(firsts(driver)) == 1 and stood_on(driver, "r") == [PRIOR]


@pytest.mark.parametrize(
    "how", [{"reread_from": "r0"}, {"forked_from": Fork(run="r0", case="all/1-yes", call="c1", text="")}]
)
def test_a_fork_and_a_new_reading_make_nothing_first(driver: Driver, how: dict[str, Any]) -> None:
    (state,) = drive(driver, RunRequest(STANDS, SPEC, "r", **how))
    assert state.status == "completed" and not firsts(driver) and not stood_on(driver, "r")
    begun = events_of(driver, "r")[0]
    assert isinstance(begun, Started) and all(getattr(begun, name) == value for name, value in how.items())


def test_a_fork_that_goes_on_keeps_to_its_cases_and_makes_nothing_first(driver: Driver) -> None:
    fork = Fork(run="r0", case="all/1-yes", call="c1", text="")
    (state,) = drive(driver, RunRequest(STANDS, SPEC, "r", forked_from=fork), enough=lambda state: True)
    assert state.status == "cancelled" and not state.cases
    history, mend = driver.resume_point("r")
    (state,) = drive(driver, RunRequest(STANDS, SPEC, "r", history, mend=mend))
    assert state.status == "completed" and list(state.cases) == ["all/1-yes"] and not firsts(driver)


def test_pieces_of_answers_are_for_who_listens_and_not_for_the_journal(driver: Driver) -> None:
    is_heard: set[bool] = set()

    class Listening(Echoing):
        async def answer(self, request: Request, on_text: OnText) -> ModelAnswer:
            is_heard.add(on_text is not ignore_text)
            return await super().answer(request, on_text)

    heard: list[str] = []
    listening = replace(driver, resolve=lambda id: Listening())
    going = RunRequest(LAB, EchoSpec(words=("yes",), times=1), "r")
    drive(listening, going, publish=lambda event: heard.append(event.kind))
    assert "token" in heard and is_heard == {True} and not events_of(driver, "r")
    is_heard.clear()
    drive(listening, going)
    assert is_heard == {False}, "who hears nothing is not told"
    assert [event.kind for event in events_of(driver, "r")] == [kind for kind in heard if kind != "token"]


def test_what_a_journal_lost_and_what_failed_is_to_be_mended(driver: Driver) -> None:
    drive(driver, RunRequest(LAB, SPEC, "r"))
    assert driver.resume_point("r") == (list(events_of(driver, "r")), False)
    path = driver.folder / "r.jsonl"
    lines = path.read_bytes().splitlines(keepends=True)
    path.write_bytes(b"".join(lines[:4] + lines[5:]))
    history, mend = driver.resume_point("r")
    assert mend and len(history) == len(lines) - 1
    assert transcript(history).status == "completed"
    fails = replace(driver, resolve=lambda id: Echoing(refuses=frozenset({"no"})))
    drive(fails, RunRequest(LAB, SPEC, "failed"))
    assert [driver.resume_point("failed", failed_too)[1] for failed_too in (False, True)] == [False, True]
