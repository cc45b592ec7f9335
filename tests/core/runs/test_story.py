"""A run as a story: one thing after another, each expectation before its result, and nothing left out."""

import asyncio
import random
from pathlib import Path

import pytest

from core import entry
from core.events import Dropped, Event, Recorded
from core.labs.ask.lab import LAB as ASK
from core.labs.check.lab import LAB as CHECK
from core.labs.probe.lab import LAB as PROBE
from core.models.catalog import Catalog
from core.report.scenes import story
from core.runs.engine import RunIO, RunRequest, execute
from core.transcript import name_of, transcript

FIRST = {lab.name: lab.robots.demo_run for lab in (ASK, CHECK, PROBE)}
ORDER = [name_of(record) for record in ASK.records]


def events_of(lab: str) -> list[Event]:
    events: list[Event] = []
    catalog = Catalog(
        home=Path("/dev/null/unused"),
        journals=Path("/dev/null/unused"),
        read=lambda path: [],
        controls=entry.controls(),
    )
    asyncio.run(
        execute(RunRequest(entry.labs()[lab], FIRST[lab]().spec, "r"), RunIO(catalog.get, events.append))
    )  # fmt: skip
    return [event for event in events if event.kind != "token"]


@pytest.mark.parametrize("lab", FIRST)
def test_nothing_is_left_out_and_the_end_is_the_run_s(lab: str) -> None:
    events = events_of(lab)
    steps = story(events, [name_of(record) for record in entry.labs()[lab].records])
    told = [event for step in steps for event in step]
    assert sorted(map(id, told)) == sorted(map(id, events)) and all(steps)
    assert told[0].kind == "started" and told[-1].kind == "finished"
    whole, again = transcript(events), transcript(told)
    assert (again.status, again.score(entry.labs()[lab].headline, "repaired")) == (
        whole.status, whole.score(entry.labs()[lab].headline, "repaired")
    )  # fmt: skip
    view = entry.labs()[lab].view
    assert view(again.case(again.only)).sentences() == view(whole.case(whole.only)).sentences()


def test_of_a_question_the_expectation_comes_before_the_answer_and_one_after_the_other() -> None:
    steps = story(events_of("simulatability"), ORDER)
    findings = [
        (event.trial, event.record)
        for step in steps
        for event in step
        if isinstance(event, Recorded) and event.trial and event.record in ORDER
    ]
    trials = list(dict.fromkeys(trial for trial, _ in findings))
    assert len(trials) >= 8 and findings == sorted(findings, key=lambda one: trials.index(one[0]))
    for trial in trials:
        records = [record for where, record in findings if where == trial]
        assert records == ["counterfactual", "simulation", "answer", *["armsimulation"] * 3]
    for step in steps:
        told = [one for one in step if isinstance(one, Dropped) or (isinstance(one, Recorded) and one.record in ORDER)]
        assert len(told) <= 1, "one thing a step"


def test_a_call_comes_with_what_it_led_to() -> None:
    steps = story(events_of("simulatability"), ORDER)
    known: set[str] = set()
    for step in steps:
        asked = {event.call for event in step if event.kind == "asked"}
        known |= asked
        for event in step:
            if isinstance(event, Recorded) and event.record in ("simulation", "answer"):
                assert asked == {event.data["call"]} if "call" in event.data else asked == set(event.data["calls"])
            elif isinstance(event, Recorded) and event.record == "armsimulation":
                assert set(event.data["calls"]) <= known, "with the first of the arms the calls of all come"


@pytest.mark.sampled(4)
@pytest.mark.parametrize("seed", range(20))
def test_whatever_the_order_in_which_things_came(seed: int) -> None:
    """Models answer at any time; the story of each question stays the same."""
    events = events_of("simulatability")
    first = next(number for number, event in enumerate(events) if getattr(event, "trial", ""))
    last = max(number for number, event in enumerate(events) if getattr(event, "trial", ""))
    middle = events[first : last + 1]
    random.Random(seed).shuffle(middle)
    for step in story([*events[:first], *middle, *events[last + 1 :]], ORDER):
        for event in step:
            if isinstance(event, Recorded) and event.record == "answer":
                shown = {one.record for one in transcript_until(events, middle, event)}
                assert "simulation" in shown


def transcript_until(events: list[Event], middle: list[Event], answer: Recorded) -> list[Recorded]:
    """What the story said about the answer's question before the answer."""
    told = [event for step in story(middle, ORDER) for event in step]
    before = told[: told.index(answer)]
    return [event for event in before if isinstance(event, Recorded) and event.trial == answer.trial]


def test_a_journal_of_nothing_is_no_story() -> None:
    assert story([], ORDER) == []
