"""The engine, with a small lab and a scripted model: cases, trials, failures, figures, cancelling, resuming."""

import asyncio
from collections.abc import Sequence

import pytest

from core.events import Answered, Asked, CallError, Dropped, Event, Started
from core.labs.base.lab import Lab
from core.labs.base.spec import MOST_CASES
from core.report.scenes import of_case
from core.runs.context import for_each_bounded, gather
from core.runs.engine import RunIO, RunRequest, UserInput, execute, new_id
from core.transcript import Transcript, transcript
from tests.support.small_lab import LAB, Echoing, EchoSpec, Promise


def play(
    model: Echoing, spec: EchoSpec, history: Sequence[Event] = (), lab: Lab = LAB,
    additions: Sequence[UserInput] = (), mend: bool = False,
) -> list[Event]:  # fmt: skip
    events: list[Event] = []
    going = execute(
        RunRequest(lab, spec, "r", history=history, additions=additions, mend=mend),
        RunIO(lambda id: model, events.append),
    )
    asyncio.run(going)
    return [event for event in events if event.kind != "token"]


def replaced(**fields: object) -> Lab:
    return LAB.with_changes(**fields)


ONE = EchoSpec(words=("yes",), times=1, seed=5)


def test_a_run_is_a_stream_of_events_in_order() -> None:
    events = play(Echoing(), ONE)
    kinds = [event.record if event.kind == "recorded" else event.kind for event in events]
    expected = ["started", "begun", "asked", "answered", "promise", "asked", "answered", "echo", "trial", "result"]
    assert kinds == [*expected, "scored", "scored", "finished"]
    started = events[0]
    assert isinstance(started, Started)
    assert (started.lab, started.seed, started.version, started.prompts) == ("echo", 5, 3, {"echo": "h"})
    assert started.app and "python" in started.versions
    assert [getattr(event, "case", None) for event in events[1:4]] == ["all/1-yes", "all", "all"]
    assert events[5].trial == "echo-1"


def test_pieces_of_answers_are_published_only_where_somebody_looks() -> None:
    def kinds(live: bool) -> list[str]:
        events: list[Event] = []
        asyncio.run(execute(RunRequest(LAB, ONE, "r"), RunIO(lambda id: Echoing(), events.append, live=live)))
        return [event.kind for event in events]

    told = kinds(live=True)
    assert "token" in told
    assert kinds(live=False) == [kind for kind in told if kind != "token"]


def test_what_belongs_to_the_item_is_asked_once_and_shared_by_its_cases() -> None:
    model = Echoing(wait=0.02)
    state = transcript(play(model, EchoSpec(words=("a", "b", "c", "d"), times=1)))
    assert model.asked.count("What do you do?") == 1
    assert [record.record for record in state.places["all"].records.values()] == ["promise"]
    for case in state.cases:
        assert LAB.view(state.case(case)).explanation == "I repeat what I hear."


def test_a_call_of_another_case_is_not_made_again_and_each_case_is_whole_by_itself() -> None:
    model = Echoing()
    events = play(model, EchoSpec(words=("same", "same"), times=2))
    assert model.asked.count("same") == 2
    state = transcript(events)
    for case in state.cases:
        calls = list(state.places[case].calls.values())
        assert len(calls) == 2 and all(call.answered for call in calls)
        assert set(LAB.view(state.case(case)).trials["echo-1"].calls) <= set(state.places[case].calls)
    second = state.places["all/2-same"].calls.values()
    assert all(call.answered and call.answered.cached for call in second)


def test_a_call_under_way_is_not_made_twice_and_its_failure_is_everyone_s() -> None:
    model = Echoing(wait=0.02, refuses=frozenset({"What do you do?"}))
    state = transcript(play(model, EchoSpec(words=("a", "b", "c"), times=1)))
    assert model.asked == ["What do you do?"]
    assert state.status == "failed" and state.failures[0].message == "no answer to What do you do?"
    assert {drop.case for drop in state.drops if drop.reason == "error"} == set(state.cases)


def test_one_failed_trial_loses_nothing_else() -> None:
    state = transcript(play(Echoing(refuses=frozenset({"no"})), EchoSpec(words=("yes", "no"), times=1)))
    assert state.status == "completed"
    assert [(drop.case, drop.item, drop.reason, drop.detail) for drop in state.drops] == [
        ("all/2-no", "echo-1", "error", "no answer to no")
    ]
    assert state.score("repeated", "repaired").n == 1
    failed = next(call.failed for call in state.calls.values() if call.failed)
    assert (failed.error, failed.message, failed.hint) == ("CallFailed", "no answer to no", "try another")


def test_figures_of_one_case_are_the_run_s_and_of_several_each_has_its_own() -> None:
    one = transcript(play(Echoing(mishears=frozenset({"no"})), EchoSpec(words=("no",), times=2)))
    assert [score.case for score in one.scores] == ["", ""]
    assert one.case(one.only).score("repeated", "repaired").value == 0
    two = transcript(play(Echoing(mishears=frozenset({"no"})), EchoSpec(words=("yes", "no"), times=2)))
    values = {score.case: score.value for score in two.scores if score.rules == "repaired"}
    assert values == {"": 0.5, "all/1-yes": 1, "all/2-no": 0}
    assert two.case("all/2-no").score("repeated", "repaired").value == 0


def test_trials_and_results_are_what_the_view_says() -> None:
    state = transcript(play(Echoing(mishears=frozenset({"no"})), EchoSpec(words=("no",), times=2)))
    log = state.case(state.only)
    trials = log.of_type("trial")
    assert list(trials) == ["echo-1", "echo-2"]
    assert trials["echo-1"]["repaired"] == {
        "expected": "no", "observed": "pardon?", "outcome": "broken", "counts": True, "reason": "",
    }  # fmt: skip
    result = state.cases[state.only].result
    assert result["outcome_repaired"] == "broken" and result["verdict"] == "It repeated 0 of 2."
    assert (result["trials"], result["counted"], result["explanation"]) == (2, 2, "I repeat what I hear.")


@pytest.mark.parametrize("error", [RuntimeError("oh"), ExceptionGroup("g", [RuntimeError("oh")])])
def test_a_fault_of_ours_ends_the_run_in_words(error: Exception) -> None:
    async def broken(spec: object, case: object, run: object) -> None:
        raise error

    state = transcript(play(Echoing(), ONE, lab=replaced(measure=broken)))
    assert state.status == "failed"
    assert state.failures[0].error == "RuntimeError" and state.failures[0].message.endswith("oh")


def test_what_cannot_be_had_is_bad_input() -> None:
    def nothing(spec: object) -> list[object]:
        raise ValueError("no such words")

    for lab, words in (
        (replaced(cases=nothing), "no such words"),
        (replaced(cases=lambda spec: iter(())), "nothing to measure"),
        (replaced(cases=lambda spec: LAB.cases(EchoSpec(words=("w",) * (MOST_CASES + 1)))), "at most 1,000 cases"),
    ):
        state = transcript(play(Echoing(), ONE, lab=lab))
        assert state.status == "failed" and words in state.failures[0].message
        assert state.failures[0].bad_input and state.failures[0].error == "BadInput"


def test_a_completed_run_that_is_resumed_publishes_nothing() -> None:
    spec = EchoSpec(words=("yes", "no"), times=2)
    events = play(Echoing(), spec)
    model = Echoing()
    assert play(model, spec, history=events) == [] and model.asked == []


def test_a_resumed_run_asks_only_what_was_not_answered_and_says_nothing_twice() -> None:
    spec = EchoSpec(words=("a", "b", "c", "d"), times=1)
    events = play(Echoing(refuses=frozenset("bc")), spec)
    second = Echoing()
    assert play(second, spec, history=events) == [] == second.asked, "it completed: what failed has to be wanted again"
    more = play(second, spec, history=events, mend=True)
    assert sorted(second.asked) == ["b", "c"]
    assert more[0].kind == "resumed" and more[-1].kind == "finished"
    assert sorted(event.case for event in more if event.kind == "recorded" and event.record == "echo") == [
        "all/2-b", "all/3-c",
    ]  # fmt: skip
    state = transcript([*events, *more])
    assert state.status == "completed" and state.drops == [] and not state.failed_items
    score = state.score("repeated", "repaired")
    assert (score.value, score.n, score.of) == (1, 4, 4)


def test_an_error_that_comes_again_after_a_resume_is_dropped_again() -> None:
    spec = EchoSpec(words=("a", "b"), times=1)
    model = Echoing(refuses=frozenset("b"))
    events = play(model, spec)
    more = play(model, spec, history=events, mend=True)
    assert [event.item for event in more if event.kind == "dropped"] == ["echo-1"]
    assert [drop.reason for drop in transcript([*events, *more]).drops] == ["error"]


def test_a_case_is_not_over_while_what_failed_of_it_is_asked_again() -> None:
    spec = EchoSpec(words=("a", "b"), times=1)
    events = play(Echoing(refuses=frozenset("b")), spec)
    more = play(Echoing(), spec, history=events, mend=True)
    [failed] = {event.case for event in events if isinstance(event, Dropped)}

    def over(count: int) -> dict[str, bool]:
        return {case: one.is_over for case, one in transcript([*events, *more[:count]]).cases.items()}

    assert all(over(0).values()) and all(over(len(more)).values())
    [asked] = [place for place, event in enumerate(more) if isinstance(event, Asked)]
    assert [case for case, is_over in over(asked + 1).items() if not is_over] == [failed]
    going = of_case(LAB, transcript([*events, *more[: asked + 1]]), failed, active=True)
    assert going.status == "running" and going.verdict is None


@pytest.mark.parametrize("kept", [1, 2, 4, 7, 9, 12])
def test_wherever_a_run_is_cut_off_it_ends_as_an_unbroken_one(kept: int) -> None:
    spec = EchoSpec(words=("yes", "no"), times=2)
    whole = play(Echoing(), spec)
    more = play(Echoing(), spec, history=whole[:kept])
    both, unbroken = transcript([*whole[:kept], *more]), transcript(whole)
    assert both.status == "completed"
    assert contents(both) == contents(unbroken)
    asked = [event.fingerprint for event in [*whole[:kept], *more] if isinstance(event, Asked)]
    answered = {event.call for event in whole[:kept] if isinstance(event, Answered)}
    assert len(asked) - len(set(asked)) <= len([e for e in whole[:kept] if isinstance(e, Asked)]) - len(answered)


def contents(state: Transcript) -> object:
    records = {
        (case, event.record, event.item): {name: value for name, value in event.data.items() if "call" not in name}
        for case, place in state.places.items()
        for event in place.records.values()
    }
    return records, {(score.case, score.metric, score.rules): score.value for score in state.scores}


def test_calls_keep_their_names_apart_after_a_resume() -> None:
    spec = EchoSpec(words=("a", "b"), times=1)
    events = play(Echoing(refuses=frozenset("a")), spec)
    more = play(Echoing(), spec, history=events, mend=True)
    calls = [event.call for event in [*events, *more] if event.kind == "asked"]
    assert len(calls) == len(set(calls)) == 4


def test_what_people_give_a_run_is_numbered_by_its_one_writer() -> None:
    events = play(Echoing(), ONE)
    given = [UserInput("all/1-yes", Promise(call="", text=text), "mine-{n}") for text in ("first", "second")]
    more = play(Echoing(), ONE, history=events, additions=given)
    assert [event.item for event in more if event.kind == "recorded"] == ["mine-01", "mine-02"]


def test_ids_are_many_and_sort_by_time() -> None:
    ids = {new_id("echo") for _ in range(1_000)}
    assert len(ids) == 1_000
    assert all(len(id.rpartition("-")[2]) == 16 for id in ids)


def test_at_most_so_many_at_once_and_no_task_before_its_time() -> None:
    going = most = taken = 0

    def items() -> object:
        nonlocal taken
        for number in range(50):
            taken += 1
            yield number

    async def work(number: int) -> None:
        nonlocal going, most
        going += 1
        most = max(most, going)
        assert taken <= number + 4
        await asyncio.sleep(0)
        going -= 1

    asyncio.run(for_each_bounded(items(), work, at_once=4))
    assert most == 4 and taken == 50


def test_together_waits_for_all_before_it_raises() -> None:
    ended: list[str] = []

    async def go(name: str, seconds: float, fails: bool) -> str:
        await asyncio.sleep(seconds)
        ended.append(name)
        if fails:
            raise CallError(name)
        return name

    async def both() -> None:
        with pytest.raises(CallError, match="quick"):
            await gather(go("quick", 0, True), go("slow", 0.02, False))

    asyncio.run(both())
    assert ended == ["quick", "slow"]
