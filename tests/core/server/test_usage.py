"""What the app counts while it runs: a day's calls, runs and their queue, wrong codes and tabs."""

from pathlib import Path

import pytest

from core.server import usage
from core.server.usage import CallUsage, UsageLedger


class Clock:
    """Replaces the module `time`: it stands still until it is set."""

    now = 1_000_000.0

    def time(self) -> float:
        return self.now


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    clock = Clock()
    monkeypatch.setattr(usage, "time", clock)
    return clock


@pytest.fixture
def here() -> UsageLedger:
    return UsageLedger()


def test_five_wrong_codes_are_free_and_then_each_doubles_the_wait(here: UsageLedger, clock: Clock) -> None:
    assert [here.code_typed("10.0.0.1", False) for _ in range(6)] == [0, 0, 0, 0, 0, 1]
    assert here.code_typed("10.0.0.1", False) == here.code_typed("10.0.0.1", True) == 1, "it was not looked at"
    assert here.wait("10.0.0.2") == 0
    for expected in (*(2.0**n for n in range(1, 10)), 900, 900):
        clock.now += here.wait("10.0.0.1")
        assert here.code_typed("10.0.0.1", False) == 0 and here.wait("10.0.0.1") == expected
    clock.now += 900
    assert here.code_typed("10.0.0.1", True) == 0
    assert [here.code_typed("10.0.0.1", False) for _ in range(6)] == [0, 0, 0, 0, 0, 1]
    clock.now += 3600
    assert here.wait("10.0.0.1") == 0
    assert [here.code_typed("10.0.0.1", False) for _ in range(6)] == [0, 0, 0, 0, 0, 1], (
        "an hour later they are forgotten"
    )


def test_wrong_codes_of_all_addresses_count_together_whoever_types_a_right_one(here: UsageLedger, clock: Clock) -> None:
    looked = 0
    for number in range(1000):
        looked += here.code_typed(f"address-{number}", False) == 0
        here.code_typed("of a participant", True)
    assert looked == 100
    for expected in (2, 4, 8, 15, 15):
        clock.now += here.wait("somebody else")
        assert here.code_typed(f"address-{clock.now}", False) == 0 and here.wait("somebody else") == expected


@pytest.mark.parametrize("jump", [-1e9, -3600, 1e9])
def test_a_clock_that_is_set_keeps_nobody_waiting_longer(here: UsageLedger, clock: Clock, jump: float) -> None:
    for _ in range(8):
        here.code_typed("10.0.0.1", False)
        clock.now += 1
    before = here.wait("10.0.0.1")
    clock.now += jump
    assert here.wait("10.0.0.1") <= max(before, 8)
    clock.now += 8
    assert here.code_typed("10.0.0.1", True) == 0


def test_a_visitor_s_tabs_are_numbered_as_they_were_opened(here: UsageLedger) -> None:
    assert [here.tab_opened("ann", tab) for tab in "abcb"] == [1, 2, 3, 2]
    assert here.tab_opened("bob", "d") == 1
    here.tab_closed("ann", "a")
    here.tab_closed("ann", "unheard-of")
    assert here.tab_opened("ann", "c") == 2 == len(here._tabs["ann"]) and "cy" not in here._tabs


def test_a_home_has_one(own_home: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    first = usage.of_home()
    assert usage.of_home() is first
    monkeypatch.setenv("EXPLAIN_HOME", str(tmp_path / "another"))
    assert usage.of_home() is not first


def test_of_those_in_line_one_of_each_owner_comes_in_turn(here: UsageLedger) -> None:
    first, *waiting = [here.begin(run, run[0], 0) for run in ("x1", "a1", "a2", "a3", "b1", "b2", "c1")]
    assert here.allocate_slots(1) == set(waiting)
    assert [here.people_ahead(run) for run in ("x1", "a1", "a3", "b2", "c1", "z1")] == [None, 0, 0, 1, 2, None]
    numbers = dict(zip(waiting, ("a1", "a2", "a3", "b1", "b2", "c1"), strict=True))
    came, gone = [], first
    while waiting:
        here.over(gone)
        in_line = here.allocate_slots(1)
        [gone] = set(waiting) - in_line
        waiting.remove(gone)
        came.append(numbers[gone])
        if came == ["a1", "b1"]:
            waiting.append(here.begin("b3", "b", 0))
            numbers[waiting[-1]] = "b3"
    assert came == ["a1", "b1", "c1", "a2", "b2", "a3", "b3"]


def test_runs_without_an_owner_are_each_their_own(here: UsageLedger) -> None:
    for run in ("r1", "r2", "r3"):
        here.begin(run, "", 0)
    assert [here.people_ahead(run) for run in ("r1", "r2", "r3")] == [0, 1, 2]
    assert len(here.allocate_slots(2)) == 1 and not here.allocate_slots(None)


def test_where_fewer_places_became_allowed_nobody_loses_theirs(here: UsageLedger) -> None:
    numbers = [here.begin(run, run, 0) for run in "abcd"]
    assert here.allocate_slots(3) == here.allocate_slots(0) == {numbers[3]}
    for number in numbers[:2]:
        here.over(number)
        assert here.allocate_slots(1) == {numbers[3]}
    here.over(numbers[2])
    assert not here.allocate_slots(1)


def test_calls_that_are_made_are_no_longer_ahead(here: UsageLedger) -> None:
    first = here.begin("a", "ann", 2)
    here.begin("b", "bob", 5)
    assert here.going_on("ann") == (1, 2) and here.going_on(None) == (2, 7)
    for ahead in (1, 0, 0):
        here.count_call(first)
        assert here.going_on("ann") == (1, ahead)
    here.over(first)
    assert here.going_on("ann") == (0, 0) and here.going_on(None) == (1, 5)


def test_a_call_takes_the_most_it_may_until_its_answer_says_what_it_took() -> None:
    tally = usage.UsageTally()
    tally.add("ann", ("r", "c1"), CallUsage(1, 3.0), (10, 20))
    assert tally.usage_of("ann") == tally.usage_of(None) == (1, 3.0) and tally.usage_of("bob") == (0, 0)
    assert tally.under_way == {("r", "c1"): (10, 20)}
    tally.add("ann", ("r", "c1"), CallUsage(0, -1.5), None)
    assert tally.usage_of("ann") == (1, 1.5) and not tally.under_way
