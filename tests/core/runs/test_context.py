"""How a lab asks, records, drops and scores: what is asked once, what is published, and what is not."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from typing import Any

import pytest
from pydantic import BaseModel, ValidationError, field_validator, model_validator

from core.events import (
    LONGEST_ANSWER,
    Answered,
    CallError,
    Event,
    Finished,
    ModelAnswer,
    OnText,
    Request,
    Started,
    Token,
)
from core.labs.base.spec import BadInputError
from core.runs.context import CaseContext, RunIO, RunState, complaints, failed, for_each_bounded, gather
from core.score import Score
from tests.support.small_lab import Echo, Echoing, EchoSpec, Promise, prompt


class Gated:
    """A model that answers only when it is released; it counts its calls."""

    id = "control/echo"

    def __init__(self, text: str = "yes") -> None:
        self.text = text
        self.asked = 0
        self.gate = asyncio.Event()

    async def answer(self, request: Request, on_text: OnText) -> ModelAnswer:
        self.asked += 1
        await self.gate.wait()
        return ModelAnswer(text=self.text)


class Worded(BaseModel):
    """A specification with error messages of its own, about a field and about the whole."""

    the_word: str

    @field_validator("the_word")
    @classmethod
    def _one(cls, word: str) -> str:
        if word == "this":
            raise ValueError("Not this.")
        return word

    @model_validator(mode="after")
    def _all(self) -> Worded:
        if self.the_word == "these":
            raise ValueError("Not these.")
        return self


def session(model: Any, events: list[Event], history: list[Event] | None = None, **more: Any) -> RunState:
    return RunState("r", RunIO(lambda id: model, events.append, **more), history or [])


def play(
    work: Callable[[CaseContext], Coroutine[Any, Any, object]],
    model: Any = None,
    history: list[Event] | None = None,
    **more: Any,
) -> list[Event]:
    """The events that `work` publishes, without tokens."""
    events: list[Event] = []

    async def go() -> None:
        await work(CaseContext(session(model or Echoing(), events, history, **more), "all/1-a"))

    asyncio.run(go())
    return [event for event in events if event.kind != "token"]


def test_complaints_name_their_field_but_our_own_sentences() -> None:
    with pytest.raises(ValidationError) as caught:
        EchoSpec.model_validate({"words": ["a", 7], "times": 9})
    first, second = complaints(caught.value)
    assert first.startswith("words.1: Input should") and second.startswith("times: Input should")
    for word, complaint in (("this", "the word: Not this."), ("these", "Not these.")):
        with pytest.raises(ValidationError) as caught:
            Worded(the_word=word)
        assert complaints(caught.value) == [complaint]


def test_a_call_is_asked_once_and_stands_wherever_it_was_wanted() -> None:
    model = Echoing()

    async def work(run: CaseContext) -> None:
        first = await run.ask("r", prompt("a"), "m", item="i", trial="t")
        again = await run.ask("r", prompt("a"), "m")
        assert again is first and first.seconds == 0 and not first.cached
        other = await run.at("all/2-b").ask("r", prompt("a"), "m", trial="u")
        assert other.cached and other.seconds == 0
        assert (other.case, other.trial, other.call) == ("all/2-b", "u", "c0002")
        assert await run.at("all/2-b").ask("r", prompt("a"), "m") is other

    events = play(work, model)
    assert model.asked == ["a"]
    assert [(event.kind, event.call, event.case) for event in events] == [
        ("asked", "c0001", "all/1-a"), ("answered", "c0001", "all/1-a"),
        ("asked", "c0002", "all/2-b"), ("answered", "c0002", "all/2-b"),
    ]  # fmt: skip
    assert (events[0].item, events[0].trial, events[2].trial, events[0].repeat) == ("i", "t", "u", 0)


def test_what_is_shared_counts_for_every_case_below_it() -> None:
    async def work(run: CaseContext) -> None:
        shared = await run.at("all").ask("r", prompt("a"), "m")
        assert await run.ask("r", prompt("a"), "m") is shared
        assert await run.at("other/1-a").ask("r", prompt("a"), "m") is not shared

    assert [event.kind for event in play(work)] == ["asked", "answered"] * 2


def test_who_wants_what_is_being_asked_waits_for_it_and_shares_its_failure() -> None:
    async def work(run: CaseContext) -> None:
        both = await asyncio.gather(*(run.at(case).ask("r", prompt("a"), "m") for case in ("x", "y")))
        assert [answered.text for answered in both] == ["a", "a"] and not run.run_state.in_progress
        failures = await asyncio.gather(
            *(run.at(case).ask("r", prompt("no"), "m") for case in ("x", "y")), return_exceptions=True
        )
        assert [str(failure) for failure in failures] == ["no answer to no"] * 2
        with pytest.raises(CallError):
            await run.ask("r", prompt("no"), "m")

    model = Echoing(wait=0.01, refuses=frozenset({"no"}))
    events = play(work, model)
    assert model.asked == ["a", "no"]
    assert [event.kind for event in events] == ["asked", "answered", "asked", "answered", "asked", "failed"]


def test_a_call_that_is_stopped_leaves_nothing_behind_and_can_be_asked_again() -> None:
    async def work(run: CaseContext) -> None:
        model = run.run_state.io.resolve("m")
        stopped = asyncio.create_task(run.at("x").ask("r", prompt("a"), "m"))
        waiting = asyncio.create_task(run.at("y").ask("r", prompt("a"), "m"))
        await asyncio.sleep(0)
        await asyncio.sleep(0)
        assert model.asked == 1  # type: ignore[attr-defined]
        stopped.cancel()
        await asyncio.gather(stopped, waiting, return_exceptions=True)
        assert stopped.cancelled() and waiting.cancelled() and not run.run_state.in_progress
        model.gate.set()  # type: ignore[attr-defined]
        assert (await run.ask("r", prompt("a"), "m")).text == "yes" and model.asked == 2  # type: ignore[attr-defined]

    play(work, Gated())


def test_who_stops_waiting_does_not_stop_the_call_of_another() -> None:
    async def work(run: CaseContext) -> None:
        model = run.run_state.io.resolve("m")
        asking = asyncio.create_task(run.at("x").ask("r", prompt("a"), "m"))
        await asyncio.sleep(0)
        waiting = asyncio.create_task(run.at("y").ask("r", prompt("a"), "m"))
        await asyncio.sleep(0)
        waiting.cancel()
        await asyncio.gather(waiting, return_exceptions=True)
        model.gate.set()  # type: ignore[attr-defined]
        assert (await asking).text == "yes" and model.asked == 1  # type: ignore[attr-defined]

    play(work, Gated())


@pytest.mark.parametrize(("length", "cut"), [(LONGEST_ANSWER, False), (LONGEST_ANSWER + 1, True)])
def test_an_answer_is_kept_to_its_limit_and_says_where_it_was_cut(length: int, cut: bool) -> None:
    async def work(run: CaseContext) -> None:
        model = run.run_state.io.resolve("m")
        model.gate.set()  # type: ignore[attr-defined]
        answered = await run.ask("r", prompt("a"), "m")
        assert (len(answered.text), answered.ended) == (LONGEST_ANSWER, "cut" if cut else "complete")

    [_, answered] = play(work, Gated("x" * length))
    assert isinstance(answered, Answered) and len(answered.text) == LONGEST_ANSWER


def test_an_answer_is_safely_kept_before_anything_is_made_of_it() -> None:
    settled: list[int] = []

    async def work(run: CaseContext) -> None:
        await run.ask("r", prompt("a"), "m")
        assert settled == [1]
        await run.ask("r", prompt("a"), "m")
        await run.at("y").ask("r", prompt("a"), "m")
        assert settled == [1], "what was answered before waits for nothing"

    async def settle() -> None:
        settled.append(1)

    play(work, settle=settle)


def test_what_the_journal_says_already_is_not_said_again_and_what_differs_is() -> None:
    score = Score(0.5, 2, 2, 0.1, 0.9)

    async def say(run: CaseContext, text: str = "one", value: Score = score, detail: str = "d") -> None:
        run.record(Promise(call="", text=text), "i")
        run.drop("x", "reason", detail, rules="paper", trial="t")
        run.score("m", value, "paper", item="w")

    first = play(say)
    assert [event.kind for event in first] == ["recorded", "dropped", "scored"]
    assert play(say, history=first) == []
    assert (first[1].item, first[1].reason, first[1].detail, first[1].rules, first[1].trial) == (
        "x", "reason", "d", "paper", "t",
    )  # fmt: skip
    assert (first[2].metric, first[2].value, first[2].n, first[2].low, first[2].item) == ("m", 0.5, 2, 0.1, "w")
    for changes, kind in (
        ({"text": "two"}, "recorded"),
        ({"value": Score(0.5, 2, 3, 0.1, 0.9)}, "scored"),
        ({"value": Score(0.5, 2, 2, 0.2, 0.9)}, "scored"),
        ({"detail": "other"}, "dropped"),
    ):
        assert [event.kind for event in play(lambda run, c=changes: say(run, **c), history=first)] == [kind]

    async def elsewhere(run: CaseContext) -> None:
        await say(run.at("all/2-b"))

    assert len(play(elsewhere, history=first)) == 3


def test_records_of_one_type_are_the_run_s_own_and_the_latest_of_each() -> None:
    async def work(run: CaseContext) -> None:
        assert run.records == [] and run.recorded(Promise) == {}
        run.record(Promise(call="", text="one"), "i")
        run.record(Promise(call="", text="two"), "j")
        run.record(Promise(call="", text="three"), "i")
        run.record(Promise(call="", text="a reader's"), "k", by="ann")
        run.record(Echo(call="", said="a", heard="a"), "i")
        assert {item: one.text for item, one in run.recorded(Promise).items()} == {"i": "three", "j": "two"}
        assert list(run.recorded(Echo)) == ["i"] and len(run.records) == 4
        assert run.at("all/2-b").records == []

    play(work)


def test_an_item_whose_call_fails_is_dropped_and_the_others_go_on() -> None:
    async def work(run: CaseContext) -> None:
        async def say(item: str, word: str) -> str:
            return (await run.ask("r", prompt(word), "m")).text

        done = await run.map_items({"one": "a", "two": "no", "three": "b"}, say)
        assert done == {"one": "a", "three": "b"}

    events = play(work, Echoing(refuses=frozenset({"no"})))
    [drop] = [event for event in events if event.kind == "dropped"]
    assert (drop.item, drop.trial, drop.reason, drop.detail, drop.rules) == (
        "two", "two", "error", "no answer to no", None,
    )  # fmt: skip


@pytest.mark.parametrize("by_each", [True, False])
def test_sixteen_at_once_unless_it_is_said_otherwise(by_each: bool) -> None:
    others = () if by_each else (({"at_once": 1}, 1), ({"at_once": 3}, 3))
    for at_once, expected in (({}, 16), *others):
        going: set[int] = set()
        most = 0

        async def work(number: int, going: set[int] = going) -> None:
            nonlocal most
            going.add(number)
            most = max(most, len(going))
            await asyncio.sleep(0)
            going.discard(number)

        async def all_of(run: CaseContext, at_once: dict[str, int] = at_once) -> None:
            if by_each:
                await run.map_items({str(n): n for n in range(40)}, lambda item, n: work(n))
            else:
                await for_each_bounded(range(40), work, **at_once)

        play(all_of)
        assert most == expected


def test_all_end_before_the_first_failure_is_raised_and_results_keep_their_order() -> None:
    async def one(seconds: float, value: int) -> int:
        await asyncio.sleep(seconds)
        return value

    assert asyncio.run(gather(one(0.01, 1), one(0, 2))) == [1, 2]
    assert asyncio.run(gather()) == []


def test_a_run_that_goes_on_says_so_before_its_first_news_and_once() -> None:
    history: list[Event] = [Started(run="r", lab="echo", spec={}, seed=0), Finished(run="r", status="completed")]
    events: list[Event] = []
    one = session(Echoing(), events, history)
    assert one.is_complete
    one.publish(Token(run="r", call="c0001", text="t"))
    assert one.is_complete and [event.kind for event in events] == ["token"], "a piece of an answer is no news"
    for text in ("one", "two"):
        CaseContext(one).record(Promise(call="", text=text), "i")
    assert [event.kind for event in events] == ["token", "resumed", "recorded", "recorded"] and not one.is_complete
    assert not session(Echoing(), [], history[:1]).is_complete


def test_a_failure_says_all_that_is_known_of_it() -> None:
    event = failed("r", BadInputError("wrong", "try that"), case="c", call="c0001")
    assert (event.run, event.case, event.call, event.error) == ("r", "c", "c0001", "BadInput")
    assert (event.message, event.hint, event.bad_input) == ("wrong", "try that", True)
    assert failed("r", CallError("m")).bad_input is False
