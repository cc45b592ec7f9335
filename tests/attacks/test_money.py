"""Spending someone else's money: models that the host never listed, endless answers, endless runs."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from core import entry, policy
from core.entry import catalog
from core.events import Model, ModelAnswer, OnText, Request, Usage
from core.labs.base.lab import Prerequisite
from core.models import settings
from core.models.catalog import Catalog
from core.models.errors import ModelNotFoundError
from core.models.settings import EndpointConfig
from core.server import roles
from core.server.access import RunAccess, Visitor, name_of_visitor
from core.server.jobs import JobRunner
from core.server.quotas import QuotaExceededError, of_journals
from core.server.usage import CallUsage
from core.transcript import transcript
from tests.support.small_lab import LAB, Echoing, EchoSpec
from tests.support.waiting import until

PRICES = """
[[price]]
model = "paid/echo"
prompt = 100
completion = 100
date = 2026-11-23

[[price]]
model = "openai/gpt-4.1"
prompt = 1
completion = 2
date = 2026-11-23
"""
"""A hundred tokens of paid/echo cost one cent."""

PAID = EchoSpec(words=tuple(f"w{n}" for n in range(20)), times=1, model="paid/echo")


@pytest.fixture(autouse=True)
def hosted(own_home: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    own_home.mkdir()
    (own_home / "prices.toml").write_text(PRICES)
    monkeypatch.setattr(policy, "_served", {"0.0.0.0"})
    for made in (settings.prices, settings.price_of, entry.jobs, entry.answers):
        made.cache_clear()
    yield
    for made in (settings.prices, settings.price_of, entry.jobs, entry.answers):
        made.cache_clear()


@dataclass
class Paid(Echoing):
    """Repeats its input, and says how many tokens that took."""

    id: str = "paid/echo"
    usage: Usage = field(default_factory=lambda: Usage(prompt_tokens=0, completion_tokens=200))
    cached: bool = False

    async def answer(self, request: Request, on_text: OnText) -> ModelAnswer:
        said = await super().answer(request, on_text)
        return said.model_copy(update={"usage": self.usage, "cached": self.cached})


def jobs_of(folder: Path, model: Model) -> JobRunner:
    return JobRunner(folder, {"echo": LAB}, lambda id: model, charge=settings.charge)


def told_by_journals(folder: Path, owner: str = "ann") -> CallUsage:
    return of_journals(folder, f"{datetime.now(UTC):%Y-%m-%d}", settings.charge).of[owner]


def of(visitor: Visitor, *endpoints: EndpointConfig) -> Catalog:
    return catalog(endpoints, RunAccess(entry.jobs(), visitor))


ANN = Visitor("ann")


def test_a_visitor_names_only_models_that_the_host_lists(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-of-the-host")
    host = EndpointConfig(name="lab", base_url="http://127.0.0.1:9/v1", models=("small",))
    for id in ("openai/o1-pro-2025-03-19", "openai/gpt-4.1", "lab/large"):
        with pytest.raises(ModelNotFoundError, match="not among the models that the host of this app lists"):
            of(ANN, host).get(id)
        assert not of(ANN, host).is_at_hand(id)
        assert of(Visitor("host", is_host=True), host).get(id).id == catalog((host,)).get(id).id == id
    assert not [info.id for info in of(ANN, host).offered() if info.kind == "endpoint"]
    monkeypatch.setenv("EXPLAIN_MODELS", " openai/gpt-4.1, lab/unheard-of")
    assert of(ANN, host).get("openai/gpt-4.1").id == "openai/gpt-4.1"
    assert [info.id for info in of(ANN, host).offered() if info.kind == "endpoint"] == ["openai/gpt-4.1"]
    for id in ("lab/small", "lab/unheard-of"):
        with pytest.raises(ModelNotFoundError, match=f"The price of {id} is not known here"):
            of(ANN, host).get(id)
    own = host.model_copy(update={"of_visitor": True})
    assert of(ANN, own).get("lab/large").id == "lab/large", "their own server, their own money"


def test_robots_and_recordings_count_for_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("CALLS_A_DAY", "CALLS_OF_ALL_A_DAY", "CENTS_A_DAY", "CENTS_OF_ALL_A_DAY"):
        monkeypatch.setenv(f"EXPLAIN_{name}", "0")
    jobs = jobs_of(tmp_path, Echoing())
    for model in ("control/echo", "replay/some-run"):
        run = jobs.start("echo", PAID.model_copy(update={"model": model}), owner="ann")
        assert jobs.wait(run, 60) and transcript(jobs.events(run)).status == "completed"
        jobs.resume(run, owner="ann")
        assert jobs.wait(run, 60)
    again = jobs.reread(run, lambda run, events: Echoing(), owner="ann")
    assert jobs.wait(again, 60)
    with pytest.raises(KeyError):
        told_by_journals(tmp_path)
    assert jobs._allowance.usage_of(None) == (0, 0)
    with pytest.raises(QuotaExceededError, match="calls a day"):
        jobs.start("echo", PAID, owner="ann")


@pytest.mark.parametrize(
    ("limit", "most", "made"),
    # Each of the eight calls takes two hundred tokens, two cents: as much as its answer may be long.
    [("CENTS_A_DAY", 100, 8), ("CENTS_A_DAY", 9, 5), ("CENTS_OF_ALL_A_DAY", 9, 5)],
)
def test_a_day_s_money_ends_a_run_and_let_none_begin(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, limit: str, most: int, made: int
) -> None:
    for name in ("CENTS_A_DAY", "CENTS_OF_ALL_A_DAY"):
        monkeypatch.setenv(f"EXPLAIN_{name}", "1000000")
    monkeypatch.setenv(f"EXPLAIN_{limit}", str(most))
    model = Paid()
    jobs = jobs_of(tmp_path, model)
    run = jobs.start("echo", PAID.model_copy(update={"words": ("w",), "times": 7}), owner="ann")
    assert jobs.wait(run, 60)
    state = transcript(jobs.events(run))
    assert sum(event.kind == "asked" for event in jobs.events(run)) == made >= len(model.asked)
    counted = jobs._allowance
    assert counted.usage_of("ann") == pytest.approx(told_by_journals(tmp_path)), "journals tell the same"
    if made == 8:
        assert state.status == "completed" and counted.usage_of("ann") == (8, pytest.approx(16))
        return
    assert state.status == "failed" and "are used up" in state.failures[0].message
    before = len(model.asked)
    with pytest.raises(QuotaExceededError, match="are used up"):
        jobs.start("echo", PAID, owner="ann")
    with pytest.raises(QuotaExceededError, match="are used up"):
        jobs.resume(run, owner="ann")
    assert len(model.asked) == before
    if "OF_ALL" in limit:
        with pytest.raises(QuotaExceededError, match="all people together"):
            jobs.start("echo", PAID, owner="bob")
    else:
        jobs.cancel(jobs.start("echo", PAID, owner="bob"))
    robot = jobs.start("echo", PAID.model_copy(update={"model": "control/echo", "words": ("w",)}), owner="ann")
    assert jobs.wait(robot, 60) and transcript(jobs.events(robot)).status == "completed"


def test_what_the_endpoint_does_not_count_is_taken_for_the_most_it_may_be(tmp_path: Path) -> None:
    jobs = jobs_of(tmp_path, Paid(usage=Usage()))
    spec = PAID.model_copy(update={"words": ("w",)})
    run = jobs.start("echo", spec, owner="ann")
    assert jobs.wait(run, 60)
    asked = [event for event in jobs.events(run) if event.kind == "asked"]
    most = sum(one.sampling.max_tokens for one in asked)
    assert most <= 100 * jobs._allowance.usage_of("ann").cents <= most + 100
    assert told_by_journals(tmp_path) == pytest.approx(jobs._allowance.usage_of("ann"))


@pytest.mark.parametrize("said", [-(10**30), 10**30])
def test_an_endpoint_that_says_any_number_stops_nobody_else(tmp_path: Path, said: int) -> None:
    jobs = jobs_of(tmp_path, Paid(usage=Usage(prompt_tokens=said, completion_tokens=said)))
    jobs.wait(jobs.start("echo", PAID.model_copy(update={"words": ("w",)}), owner="ann"), 60)
    cents = jobs._allowance.usage_of("ann").cents
    assert cents == pytest.approx(told_by_journals(tmp_path).cents) and (cents > 10_000) == (said > 0)
    other = jobs_of(tmp_path, Paid())
    for owner in ("bob", "cy"):
        if said < 0:
            assert other.wait(other.start("echo", PAID, owner=owner), 60)
        else:
            with pytest.raises(QuotaExceededError, match="all people together may use 2,000 US cents a day"):
                other.start("echo", PAID, owner=owner)


def test_what_comes_from_the_cache_costs_nothing(tmp_path: Path) -> None:
    jobs = jobs_of(tmp_path, Paid(cached=True))
    run = jobs.start("echo", PAID, owner="ann")
    assert jobs.wait(run, 60)
    assert jobs._allowance.usage_of("ann").cents == pytest.approx(0)


def test_beyond_the_places_runs_wait_in_line_and_see_their_place(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("EXPLAIN_RUNS_OF_ALL", "1")
    monkeypatch.setenv("EXPLAIN_RUNS_IN_LINE", "3")
    monkeypatch.setenv("EXPLAIN_CENTS_OF_ALL_A_DAY", "1000000")
    slow, quick = Echoing(wait=600), Echoing()
    jobs = jobs_of(tmp_path, slow)
    first = jobs.start("echo", PAID, owner="ann")
    until(lambda: slow.asked)
    runs = {}
    for number, who in enumerate(("bob", "cy", "di")):
        runs[who] = jobs.start("echo", PAID, lambda id: quick, owner=who)
        until(lambda who=who, number=number: jobs.people_ahead_in_queue(runs[who]) == number)
    assert not quick.asked and jobs.people_ahead_in_queue(first) is None
    with pytest.raises(QuotaExceededError, match=r"already have 4 runs"):
        jobs.start("echo", PAID, owner="eve")
    # A run that is stopped before its first line is written leaves no journal.
    bobs = tmp_path / f"{runs['bob']}.jsonl"
    until(lambda: bobs.is_file() and bobs.stat().st_size > 0)
    jobs.cancel(runs["bob"])
    assert transcript(jobs.events(runs["bob"])).status == "cancelled" and jobs.people_ahead_in_queue(runs["cy"]) == 0
    jobs.resume(runs["bob"], lambda id: quick, owner="bob")
    until(lambda: jobs.people_ahead_in_queue(runs["bob"]) == 2)
    jobs.cancel(first)
    for run in runs.values():
        assert jobs.wait(run, 60) and transcript(jobs.events(run)).status == "completed"
        assert jobs.people_ahead_in_queue(run) is None


def test_what_a_run_stands_on_is_made_in_its_own_place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("EXPLAIN_RUNS_OF_ALL", "1")
    first = LAB.with_changes(name="first")
    lab = LAB.with_changes(
        prerequisites=lambda spec: [Prerequisite(first, EchoSpec(words=("a",)), lambda state: spec, wanted=True)]
    )
    jobs = JobRunner(tmp_path, {"echo": lab, "first": first}, lambda id: Echoing(), charge=settings.charge)
    run = jobs.start("echo", EchoSpec(words=("b",)), owner="ann")
    assert jobs.wait(run, 60) and transcript(jobs.events(run)).status == "completed"
    assert len(list(tmp_path.glob("*-first-*.jsonl"))) == 1


def test_of_a_hundred_visitors_at_once_everybody_gets_a_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("EXPLAIN_RUNS_OF_ALL", raising=False)
    model = Echoing(wait=0.05)
    jobs = JobRunner(tmp_path, {"echo": LAB}, lambda id: model, charge=settings.charge)
    assert policy.limit("runs_of_all") == 60
    spec = EchoSpec(words=("a",), times=1)
    runs = [jobs.start("echo", spec, owner=f"visitor-{number}") for number in range(100)]
    assert all(jobs.wait(run, 120) and transcript(jobs.events(run)).status == "completed" for run in runs)


NAMING = """
import streamlit as st
from core.events import CallError
from pages.components import session
try:
    st.text(session.catalog().get("openai/o1-pro-2025-03-19").id)
except CallError as refused:
    st.text(refused)
"""


def test_a_page_asks_no_model_that_was_typed_and_is_not_listed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-of-the-host")
    app = AppTest.from_string(NAMING, default_timeout=60).run()
    assert "not among the models that the host of this app lists" in app.text[0].value
    monkeypatch.setenv("EXPLAIN_HOST_CODE", "the code of whoever hosts")
    app.session_state["visitor"] = "carl"
    roles.sign_in(name_of_visitor("carl"), roles.HOST)
    assert app.run().text[0].value == "openai/o1-pro-2025-03-19"
