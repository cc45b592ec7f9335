"""When a run may end early, from the figures of its cases as they arrive."""

import asyncio
import random
from collections.abc import Iterable
from dataclasses import replace
from functools import cache
from pathlib import Path
from statistics import fmean, stdev
from typing import Any

import pytest

from core import entry, home
from core.datasets import registry
from core.events import Dropped, Event, Finished, Recorded, Scored, Started
from core.journal import Journal, path_for
from core.statistics.intervals import anytime
from core.studies import estimate, tables
from core.studies.execute import Making, StudyOutcome, hand_out
from core.studies.plan import Planned, Study, parse
from core.studies.run_status import SHIFT, Early, StudyState, early_of, progress, stopped_early
from core.transcript import Transcript, transcript
from tests.support.small_lab import LAB

BEGUN = Started(run="r", lab="echo", spec={}, seed=0)


def begun(case: str, number: int, of: int = 9) -> Event:
    return Recorded(run="r", case=case, record="begun", item="", data={"title": case, "number": number, "of": of})


def scored(case: str, value: float | None, rules: Any = "repaired") -> Event:
    n = int(value is not None)
    return Scored(run="r", case=case, metric="repeated", rules=rules, value=value, n=n, of=1)


def state(*events: Event) -> Transcript:
    return transcript([BEGUN, *events])


def told(cases: Iterable[tuple[str, float | None]]) -> list[Event]:
    """The events of cases, begun and scored one after another."""
    return [
        event
        for number, (case, value) in enumerate(cases, start=1)
        for event in (begun(case, number), scored(case, value), scored(case, 0.0, "paper"))
    ]


def test_items_count_once_the_next_has_ended_each_by_the_mean_of_its_cases() -> None:
    early = Early(LAB, "repaired", 0.0)
    found = state(*told([("a/x", 1.0), ("a/y", 0.0), ("b/x", 1.0), ("c/x", None), ("c/y", 1.0)]))
    assert not early(found)
    # The last item may still get more values.
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
    pooled = Early(LAB, "repaired", high - low, (3.0, 3))
    assert pooled(found) and pooled.interval.n == 5 and len(pooled.cases) == 2, "with three items of shards before it"
    wide = Early(LAB, "repaired", 1.0)
    assert wide(found) and wide.cases == [], "before anything was seen it is 1 wide"


@pytest.mark.parametrize("status", ["cancelled", "completed"])
def test_only_a_run_that_did_not_complete_stopped_early(tmp_path: Path, status: Any) -> None:
    lab = LAB.with_changes(metrics=tuple(one._replace(is_mean=True) for one in LAB.metrics))
    of = parse("s.toml", b'stop_width = 0.9\nlab = "echo"\n', {"echo": lab})
    [run] = of.runs
    assert stopped_early(of, tmp_path) == {}
    with Journal(path_for(tmp_path, run.id), new=True) as journal:
        for event in (BEGUN, *told((f"q{n}/x", 1.0) for n in range(4))):
            journal.append(event)
        assert stopped_early(of, tmp_path)[run.id].interval.n == 2
        assert stopped_early(replace(of, stop_width=0.1), tmp_path) == {}, "not narrow enough"
        assert stopped_early(replace(of, stop_width=None), tmp_path) == {}
        assert stopped_early(replace(of, controls=(run,), runs=()), tmp_path) == {}, "controls never do"
        journal.append(Finished(run="r", status=status))
    assert (run.id in stopped_early(of, tmp_path)) is (status != "completed")


def sharded(text: str, folder: Path, reviews: int, monkeypatch: pytest.MonkeyPatch) -> Study:
    """A study of a robot that is consistent with all its explanations, on `reviews` reviews, in runs of four."""
    for part, stars, word in (("pos", 8, "superb"), ("neg", 2, "dull")):
        place = folder / "aclImdb" / "test" / part
        place.mkdir(parents=True)
        for number in range(reviews // 2):
            (place / f"{number}_{stars}.txt").write_text(f"Film {number} of them all was {word}.")
    monkeypatch.setattr(registry, "MOST_CASES", 4)
    spec = f'task = "sentiment", dataset = "imdb", path = "{folder}", explanations = ["redaction"], controls = 0'
    file = f'{text}\nlab = "check"\nspec = {{ {spec}, model = "control/dial-lexicon-1.0" }}\n'
    return replace(parse("s.toml", file.encode(), entry.labs()), controls=())


def made(study: Study) -> StudyOutcome:
    return asyncio.run(Making(study, entry.labs(), entry.catalog().get, home.journals()).run_all(study.runs))


def test_the_shards_of_a_cell_are_pooled(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    study = sharded("stop_width = 0.4", tmp_path, 24, monkeypatch)
    ids = [run.id for run in study.runs]
    assert len(ids) == 6 and [len(cell) for cell in study.cells] == [6]
    n = next(n for n in range(1, 24) if (one := anytime(n, n)).high - one.low <= 0.4)
    assert 8 < n < 15, "alone no shard is enough, and not all are needed"
    outcome = made(study)
    # The four items of a shard begin together, so the shard in which the interval becomes narrow enough is completed.
    whole = -(-n // 4)
    assert outcome.completed == ids[:whole] and outcome.early == ids[whole:] and not outcome.failed
    assert not any(path_for(home.journals(), id).exists() for id in ids[whole:]), "what is not needed is not begun"
    early = stopped_early(study, home.journals())
    assert list(early) == ids[whole:] and {one.interval for one in early.values()} == {anytime(4 * whole, 4 * whole)}
    assert not any(one.cases for one in early.values())
    frame = tables.measured(study, entry.labs(), home.journals())
    [cell] = [row for row in tables.rows(study, entry.labs(), frame) if row["table"] == "Check: Faithfulness"]
    assert (cell["n"], cell["stopped_early"], cell["complete"]) == (4 * whole, True, True)
    now = progress(StudyState(study, home.journals()))
    assert now.ended == now.runs == 6 and now.stopped_early == ids[whole:]
    found = estimate.estimate(study, entry.labs(), entry.catalog().get, home.journals(), home.recordings())
    assert (found.completed, found.cases) == (6, 0)
    # Nothing is asked again, and a study that wants more continues the same runs.
    before = {path: path.stat().st_mtime_ns for path in home.journals().glob("*.jsonl")}
    assert made(study).early == outcome.early
    assert {path: path.stat().st_mtime_ns for path in home.journals().glob("*.jsonl")} == before
    assert made(replace(study, stop_width=0.01)).completed == ids


def test_a_shard_counts_only_once_those_before_it_have_ended(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    study = sharded("stop_width = 0.4", tmp_path, 24, monkeypatch)
    first, second, *_ = study.runs
    later = replace(study, runs=study.runs[1:])
    assert early_of(study, second, home.journals()) is None
    assert len(made(replace(later, stop_width=None)).completed) == 5
    assert stopped_early(study, home.journals()) == {}, "the first has not begun, and the others count whole"
    assert early_of(study, first, home.journals()) is not None
    assert len(made(study).completed) == 6


def test_shards_are_made_one_after_another_and_cells_beside_each_other() -> None:
    runs = [Planned(id, LAB, LAB.spec()) for id in ("a1", "a2", "b1", "b2")]
    said: list[str] = []

    async def make(run: Planned) -> Planned | None:
        said.append(f"+{run.id}")
        await asyncio.sleep(0)
        again = run.id == "a1" and said.count("+a1") == 1
        said.append(f"-{run.id}")
        return run if again else None

    async def four() -> int:
        return 4

    assert asyncio.run(hand_out(runs, make, four, {"a2": "a1", "b2": "b1"}))
    assert set(said[:2]) == {"+a1", "+b1"}
    ends = {id: len(said) - said[::-1].index(f"-{id}") for id in ("a1", "b1")}
    assert said.index("+a2") >= ends["a1"] and said.index("+b2") >= ends["b1"] and said.count("+a1") == 2


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
