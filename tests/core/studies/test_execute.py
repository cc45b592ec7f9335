"""How runs are executed: retried, left to others, held back, and how many at a time; with a lab that takes no time."""

import asyncio
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

from core.events import CallError, Model, ModelAnswer, OnText, OutOfReachError, Request
from core.journal import Journal, read
from core.models import settings
from core.models.errors import UnknownQuestionError
from core.studies import execute
from core.studies.execute import TRIES, Making, StudyOutcome
from core.studies.plan import Planned, Study, StudyError, parse, want
from core.transcript import Transcript
from tests.support.small_lab import LAB, Echoing
from tests.support.waiting import until_true

LABS = {"echo": LAB}


@pytest.fixture(autouse=True)
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(execute, "LOOK", 0.01)


def study(text: str = "", runs: int = 3, words: str = '["a"]', model: str = "a/echo") -> Study:
    seeds = ", ".join(map(str, range(runs)))
    spec = f'spec = {{ words = {words}, times = 1, model = "{model}" }}\ngrid = {{ seed = [{seeds}] }}\n'
    return parse("s.toml", f'{text}lab = "echo"\n{spec}'.encode(), LABS)


class Counting(Echoing):
    """Repeats its input, and counts its simultaneous calls."""

    def __init__(self, **more: Any) -> None:
        super().__init__(id="a/echo", **more)
        self.now = self.most = 0

    async def answer(self, request: Request, on_text: OnText) -> ModelAnswer:
        self.now += 1
        self.most = max(self.most, self.now)
        try:
            await asyncio.sleep(0.02)
            return await super().answer(request, on_text)
        finally:
            self.now -= 1


def made(
    of: Study,
    folder: Path,
    resolve: Callable[[str], Model],
    runs: Sequence[Planned] | None = None,
    ended: Callable[[Planned, Transcript], None] = lambda run, state: None,
) -> StudyOutcome:
    return asyncio.run(Making(of, LABS, resolve, folder, ended, owner="ann").run_all(of.runs if runs is None else runs))


def begun(folder: Path, run: Planned) -> int:
    """How many times the run was begun."""
    events = read(folder / f"{run.id}.jsonl").events
    return sum(event.kind in ("started", "resumed") for event in events)


def test_what_completed_is_found_and_made_no_second_time(tmp_path: Path) -> None:
    of, model, heard = study(), Counting(), []
    outcome = made(of, tmp_path, lambda id: model, ended=lambda run, state: heard.append((run.id, state.status)))
    names = [run.id for run in of.runs]
    assert sorted(outcome.completed) == sorted(names) and not (outcome.failed or outcome.early or outcome.elsewhere)
    assert sorted(heard) == sorted((name, "completed") for name in names) and not (outcome.spent or outcome.paused)
    started = read(tmp_path / f"{names[0]}.jsonl").events[0]
    assert started.kind == "started" and (started.study, started.owner) == ("s", "ann")
    asked = len(model.asked)
    assert made(of, tmp_path, lambda id: model, ended=lambda run, state: heard.append(())).completed == names
    assert len(model.asked) == asked == 2 * 3 and len(heard) == 3


@pytest.mark.parametrize("at_once", [1, 2])
def test_so_many_runs_go_on_at_once(tmp_path: Path, at_once: int) -> None:
    model = Counting()
    of = study(f"at_once = {at_once}\n", runs=4)
    assert len(made(of, tmp_path, lambda id: model).completed) == 4
    # A run makes one call at a time here.
    assert model.most == at_once


class Poison(Counting):
    """Kills the runs of one seed, `times` times."""

    def __init__(self, failure: Exception, times: int = 99) -> None:
        super().__init__()
        self.failure = failure
        self.times = times

    async def answer(self, request: Request, on_text: OnText) -> ModelAnswer:
        if self.times > 0:
            self.times -= 1
            raise self.failure
        return await super().answer(request, on_text)


def resolver(model: Model, other: Model) -> Callable[[str], Model]:
    return lambda id: model if id == "a/echo" else other


def test_a_run_that_fails_is_tried_again_behind_all_others_and_given_up_with_its_reason(tmp_path: Path) -> None:
    of, poison, heard = study("at_once = 1\n", runs=1), Poison(OutOfReachError(CallError("It is away."))), []
    rest = study(runs=2, model="b/echo")
    both = (*of.runs, *rest.runs)
    outcome = made(
        of, tmp_path, resolver(poison, Counting()), both, lambda run, state: heard.append((run.id, state.status))
    )
    [bad] = of.runs
    assert outcome.failed == {bad.id: "It is away."} and len(outcome.completed) == 2 and not outcome.bad_input
    assert begun(tmp_path, bad) == TRIES == 3 and [begun(tmp_path, run) for run in rest.runs] == [1, 1]
    assert [run for run, _ in heard] == [rest.runs[0].id, rest.runs[1].id, bad.id] and heard[-1][1] == "failed"
    # Out of reach twice, and there the third time.
    other = study(runs=1, words='["b"]')
    once_more = made(other, tmp_path, resolver(Poison(OutOfReachError(CallError("It is away.")), 2), Counting()))
    assert once_more.completed == [other.runs[0].id] and not once_more.failed and once_more.bad_input


def test_a_bad_input_fails_the_same_way_each_time_so_once_will_do(tmp_path: Path) -> None:
    def nobody(id: str) -> Model:
        raise UnknownQuestionError("It knows no such thing.")

    of = study(runs=1)
    outcome = made(of, tmp_path, nobody)
    assert outcome.bad_input and list(outcome.failed.values()) == ["It knows no such thing."]
    assert begun(tmp_path, of.runs[0]) == 1


def test_a_run_that_somebody_else_makes_is_left_to_them(tmp_path: Path) -> None:
    of = study(runs=2)
    with Journal(tmp_path / f"{of.runs[0].id}.jsonl", new=True):
        outcome = made(of, tmp_path, lambda id: Counting())
    assert outcome.elsewhere == [of.runs[0].id] and outcome.completed == [of.runs[1].id] and not outcome.failed


def test_what_may_have_ended_the_process_goes_last_and_alone(tmp_path: Path) -> None:
    of = study("at_once = 3\n", runs=4)
    begins = '{"kind":"started"}\n' + '{"kind":"resumed"}\n'
    for run, vain in zip(of.runs, (3, 2, 3), strict=False):
        (tmp_path / f"{run.id}.jsonl").write_text(
            begins.replace('{"kind":"resumed"}\n', '{"kind":"resumed"}\n' * (vain - 1))
        )
    order: list[str] = []
    model = Counting()
    most: dict[str, int] = {}

    def ended(run: Planned, state: Transcript) -> None:
        order.append(run.id)
        most[run.id], model.most = model.most, 0

    outcome = made(of, tmp_path, lambda id: model, ended=ended)
    assert len(outcome.completed) == 4 and not outcome.failed
    one, two, three, four = (run.id for run in of.runs)
    assert set(order[:2]) == {two, four} and order[2:] == [one, three]
    assert most[one] == most[three] == 1 and max(most[two], most[four]) == 2
    # A suspect run gets one attempt.
    (tmp_path / "again").mkdir()
    path = tmp_path / "again" / f"{one}.jsonl"
    path.write_text(begins + '{"kind":"resumed"}\n' * 1)
    failed = made(of, tmp_path / "again", lambda id: Poison(OutOfReachError(CallError("Away."))), of.runs[:1])
    assert failed.failed == {one: "Away."}
    assert sum(event.kind == "finished" for event in read(path).events) == 1


def test_a_budget_counts_what_was_paid_before(tmp_path: Path) -> None:
    model = Counting()
    spent = made(study("budget_calls = 3\n"), tmp_path, lambda id: model)
    assert spent.spent and not spent.paused and len(model.asked) == 3
    # Two more calls are allowed: that of the run to be resumed, and one.
    assert made(study("budget_calls = 5\n"), tmp_path, lambda id: model).spent and len(model.asked) == 5
    assert made(study("budget_calls = 5\n"), tmp_path, lambda id: model).spent and len(model.asked) == 5
    assert made(study("budget_calls = 4\n"), tmp_path, lambda id: model).spent and len(model.asked) == 5
    last = made(study("budget_calls = 6\n"), tmp_path, lambda id: model)
    assert len(last.completed) == 3 and not last.spent and len(model.asked) == 6
    # Robots cost nothing.
    robots = study("budget_calls = 1\n", model="control/echo")
    assert len(made(robots, tmp_path, lambda id: Echoing(), robots.runs).completed) == 3


def test_a_budget_of_money_counts_what_was_paid_before(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(StudyError, match=r"budget_money = 0\.5 cannot be kept: what a/echo costs is not known"):
        made(study("budget_money = 0.5\n"), tmp_path, lambda id: Counting())
    price = {"model": "a/echo", "prompt": 0.0, "completion": 1_000.0, "date": "2026-01-01"}
    monkeypatch.setattr(settings, "prices", lambda: {"a/echo": settings.Price.model_validate(price)})
    settings.price_of.cache_clear()
    model = Counting()
    # 200 tokens are reserved for a call, which is 0.2; it took far fewer.
    assert made(study("budget_money = 0.19\n"), tmp_path, lambda id: model).spent and len(model.asked) == 0
    first = made(study("budget_money = 0.25\n", runs=1), tmp_path, lambda id: model)
    assert len(first.completed) == 1 and not first.spent and len(model.asked) == 2
    paid = sum(len(event.text) / 4 for event in read(next(tmp_path.glob("*.jsonl"))).events if event.kind == "answered")
    least = 0.2 + paid / 1_000
    assert made(study(f"budget_money = {least - 1e-6}\n"), tmp_path, lambda id: model).spent and len(model.asked) == 2
    assert (
        not made(study(f"budget_money = {least + 0.1}\n"), tmp_path, lambda id: model).spent and len(model.asked) == 6
    )
    settings.price_of.cache_clear()


def test_a_pause_ends_it_and_somebody_who_cancels_hears_so(tmp_path: Path, own_home: Path) -> None:
    want(own_home, "s", paused=True)
    model = Counting()
    outcome = made(study(), tmp_path, lambda id: model)
    assert outcome.paused and not outcome.spent and not outcome.completed and len(model.asked) == 0
    want(own_home, "s", paused=False)

    async def cancelled() -> None:
        of, model = study(), Echoing(id="a/echo", wait=30)
        task = asyncio.create_task(Making(of, LABS, lambda id: model, tmp_path).run_all(of.runs))
        await until_true(lambda: model.asked)
        task.cancel()
        await task

    with pytest.raises(asyncio.CancelledError):
        asyncio.run(cancelled())
    assert len(made(study(), tmp_path, lambda id: model).completed) == 3


def test_more_at_once_are_made_as_soon_as_it_is_wanted(tmp_path: Path, own_home: Path) -> None:
    want(own_home, "s", at_once=2)
    model = Counting()
    assert len(made(study("at_once = 1\n", runs=4), tmp_path, lambda id: model).completed) == 4 and model.most == 2
