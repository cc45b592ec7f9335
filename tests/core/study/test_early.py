"""When a run may end early, from the figures of its cases as they come."""

from __future__ import annotations

import random
from collections.abc import Iterable
from dataclasses import replace
from functools import cache
from pathlib import Path
from statistics import fmean, stdev
from typing import Any

import pytest

from core.events import Dropped, Event, Finished, Recorded, Scored, Started
from core.journal import Journal
from core.statistics import anytime
from core.study.early import SHIFT, Early, stopped_early
from core.study.plan import parse
from core.transcript import Transcript, transcript
from tests.small_lab import LAB

BEGUN = Started(run="r", lab="echo", spec={}, seed=0)


def begun(case: str, number: int, of: int = 9) -> Event:
    return Recorded(run="r", case=case, record="begun", item="", data={"title": case, "number": number, "of": of})


def scored(case: str, value: float | None, rules: Any = "repaired") -> Event:
    n = int(value is not None)
    return Scored(run="r", case=case, metric="repeated", rules=rules, value=value, n=n, of=1)


def state(*events: Event) -> Transcript:
    return transcript([BEGUN, *events])


def told(cases: Iterable[tuple[str, float | None]]) -> list[Event]:
    """Cases, begun and scored one after another."""
    return [
        event
        for number, (case, value) in enumerate(cases, start=1)
        for event in (begun(case, number), scored(case, value), scored(case, 0.0, "paper"))
    ]


def test_items_count_once_the_next_has_ended_each_by_the_mean_of_its_cases() -> None:
    early = Early(LAB, "repaired", 0.0)
    found = state(*told([("a/x", 1.0), ("a/y", 0.0), ("b/x", 1.0), ("c/x", None), ("c/y", 1.0)]))
    assert not early(found)
    # The last item may still have more.
    assert early.cases == ["a/x", "a/y", "b/x"] and early.interval == anytime(1.5, 2)
    for event in (begun("d/x", 6), scored("d/x", 0.0)):
        found.apply(event)
    assert not early(found) and early.interval == anytime(2.5, 3) and early.cases[-2:] == ["c/x", "c/y"]
    assert not early(found) and early.interval == anytime(2.5, 3), "nothing is counted twice"


def test_what_goes_on_is_waited_for_and_what_was_lost_or_undefined_is_passed_over() -> None:
    early = Early(LAB, "repaired", 0.0)
    found = state(begun("a/x", 1), begun("b/x", 2), scored("b/x", 1.0), begun("c/x", 3), scored("c/x", 1.0))
    early(found)
    assert early.cases == [] and early.interval.n == 0 and early.interval[:3] == (None, 0.0, 1.0)
    found.apply(Dropped(run="r", case="a/x", item="q", reason="error"))
    early(found)
    assert early.cases == [], "an item of it was lost, and it goes on"
    found.apply(Dropped(run="r", case="a/x", item="", reason="error"))
    early(found)
    assert early.cases == ["a/x", "b/x"] and early.interval == anytime(1.0, 1)


def test_it_is_enough_at_the_width_and_what_comes_later_is_passed_over() -> None:
    found = state(*told((f"q{n}/x", 1.0) for n in range(9)))
    _, low, high, *_ = anytime(5, 5)
    assert low is not None and high is not None
    early = Early(LAB, "repaired", high - low)
    assert early(found) and early.is_narrow and early.interval.n == 5 and len(early.cases) == 5
    assert Early(LAB, "paper", high - low)(found) is True, "always 0 is as narrow"
    assert Early(LAB, "paper", 0.1)(found) is False
    wide = Early(LAB, "repaired", 1.0)
    assert wide(found) and wide.cases == [], "before anything was seen it is 1 wide"


@pytest.mark.parametrize("status", ["cancelled", "completed"])
def test_only_a_run_that_did_not_complete_stopped_early(tmp_path: Path, status: Any) -> None:
    lab = replace(LAB, metrics=tuple(one._replace(is_mean=True) for one in LAB.metrics))
    of = parse("s.toml", b'stop_width = 0.9\nlab = "echo"\n', {"echo": lab})
    [run] = of.runs
    path = tmp_path / "r.jsonl"
    assert stopped_early(of, run, path) is None
    with Journal(path, new=True) as journal:
        for event in (BEGUN, *told((f"q{n}/x", 1.0) for n in range(4))):
            journal.append(event)
        early = stopped_early(of, run, path)
        assert early is not None and early.interval.n == 2
        assert stopped_early(replace(of, stop_width=0.1), run, path) is None, "not narrow enough"
        assert stopped_early(replace(of, stop_width=None), run, path) is None
        assert stopped_early(replace(of, controls=(run,), runs=()), run, path) is None, "controls never do"
        journal.append(Finished(run="r", status=status))
    assert (stopped_early(of, run, path) is None) is (status == "completed")


@pytest.mark.parametrize(("width", "share"), [(0.2, 0.9), (0.3, 0.5), (0.3, 0.9), (0.4, 0.8), (0.5, 0.1)])
def test_stopping_so_moves_the_mean_as_far_as_is_said_where_it_is_set(width: float, share: float) -> None:
    chance = random.Random(f"{width}|{share}")
    narrow = cache(lambda hits, n: (one := anytime(hits, n)).high - one.low <= width)
    means = []
    for _ in range(600):
        hits = n = 0
        while not n or not narrow(hits, n):
            hits, n = hits + (chance.random() < share), n + 1
        means.append(hits / n)
    outward = (fmean(means) - share) * (1 if share >= 0.5 else -1)
    spread = 3 * stdev(means) / len(means) ** 0.5
    assert "by up to a tenth of the width" in SHIFT and outward - spread <= width / 10
    assert abs(outward) <= spread if share == 0.5 else outward > spread, "it does move it, but at one half"
    if (width, share) == (0.3, 0.9):
        assert "at a width of 0.3 by 0.02 at 0.9" in SHIFT and abs(outward - 0.02) < 0.005 + spread
