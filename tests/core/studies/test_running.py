"""A study while it runs: paused, made faster, out of money; its endpoint away, refusing, or failing on one item."""

import asyncio
import gc
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from pydantic import ValidationError

from benchmarks.memory import make
from core import entry, home
from core.__main__ import main
from core.events import Answered, Asked, Dropped, Message, Request
from core.journal import JournalFullError, read
from core.models import settings
from core.runs.fairness import WHOSE
from core.studies import tables
from core.studies.execute import Making, StudyOutcome
from core.studies.plan import MOST_AT_ONCE, DesiredState, Planned, Study, want, wanted
from core.studies.plan import read as study_of
from core.studies.run_status import StudyState, progress
from core.transcript import Call, Transcript
from tests.core.studies.killing import steady
from tests.core.studies.test_study import printed, written
from tests.support.stub_server import Fault, StubServer
from tests.support.waiting import until

CHECK = """
at_once = {at_once}
{more}
lab = "check"
spec = {{ limit = {limit}, controls = 0, model = "openai/stub-model", explanations = ["attribution"] }}
grid = {{ task = ["sentiment", "entailment"], seed = [1, 2] }}
"""


def text(more: str = "", at_once: int = 2, limit: int = 3) -> str:
    return CHECK.format(more=more, at_once=at_once, limit=limit)


@pytest.fixture
def serve(monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[..., StubServer]]:
    """Start a server for the endpoint "openai"."""
    begun: list[StubServer] = []

    def start(**settings: Any) -> StubServer:
        server = StubServer(settings.pop("reply", steady), **settings)
        begun.append(server.__enter__())
        monkeypatch.setenv("OPENAI_BASE_URL", server.base_url)
        monkeypatch.setenv("OPENAI_API_KEY", "none")
        entry.answers.cache_clear()
        return server

    yield start
    for server in begun:
        if server._thread.is_alive():
            server.__exit__(None, None, None)
    entry.answers.cache_clear()


def study(folder: Path, toml: str) -> Study:
    return study_of(Path(written(folder, toml)), entry.labs())


def making(of: Study, **more: Any) -> Making:
    return Making(of, entry.labs(), entry.catalog().get, home.journals(), **more)


def made(of: Study, *beside: Callable[[], Any]) -> StudyOutcome:
    """The outcome of the study, run on a loop, with the functions `beside` in threads."""

    async def go() -> StudyOutcome:
        others = [asyncio.create_task(asyncio.to_thread(one)) for one in beside]
        outcome = await making(of).run_all(of.runs)
        await asyncio.gather(*others)
        return outcome

    return asyncio.run(go())


def answered(of: Study) -> Counter[tuple[str, str]]:
    """The answers of the model in the journals, by run and call."""
    found: Counter[tuple[str, str]] = Counter()
    for path in home.journals().glob("study-*.jsonl"):
        for event in read(path).events:
            if isinstance(event, Answered) and not event.cached and path.stem in {run.id for run in of.runs}:
                found[path.stem, event.call] += 1
    return found


def unanswered(of: Study) -> int:
    """Calls that were asked and neither answered nor failed."""
    left: set[tuple[str, str]] = set()
    for run in of.runs:
        for event in read(home.journals() / f"{run.id}.jsonl").events:
            if isinstance(event, Asked):
                left.add((run.id, event.call))
            elif event.kind in ("answered", "failed"):
                left.discard((run.id, str(event.call)))
    return len(left)


def test_what_is_wanted_is_kept_field_by_field_and_nonsense_is_nothing(tmp_path: Path) -> None:
    assert wanted(tmp_path, "a") == DesiredState()
    want(tmp_path, "a", at_once=3)
    assert want(tmp_path, "a", paused=True) == wanted(tmp_path, "a") == DesiredState(paused=True, at_once=3)
    for at_once in (0, MOST_AT_ONCE + 1):
        with pytest.raises(ValidationError):
            want(tmp_path, "a", at_once=at_once)
    assert want(tmp_path, "b", at_once=MOST_AT_ONCE).at_once == 64
    (tmp_path / "studies" / "b.json").unlink()
    (tmp_path / "studies" / "a.json").write_text('{"at_once": 0}')
    assert wanted(tmp_path, "a") == DesiredState()
    assert [one.name for one in (tmp_path / "studies").iterdir()] == ["a.json"]


def test_a_pause_answers_what_is_under_way_and_lets_nothing_more_leave(
    tmp_path: Path, serve: Callable[..., StubServer], capsys: pytest.CaptureFixture[str]
) -> None:
    # More calls than the endpoint's concurrency limit: those that wait for their turn have not been sent.
    server = serve(delay=0.3)
    file = written(tmp_path, text(at_once=4, limit=6))
    of = study_of(Path(file), entry.labs())

    def pause() -> None:
        until(lambda: server.count >= 9)
        assert main(["study", "pause", file]) == 0

    outcome = made(of, pause)
    assert outcome.paused and not outcome.spent and not outcome.failed
    left = server.count
    assert sum(answered(of).values()) == left < 48 and unanswered(of) > 0
    [status] = printed(capsys, "status", file)
    assert status["paused"] and status["rate"] is None and status["paid"] == left
    # Continuing removes the pause, and asks only for the rest.
    assert main(["study", "run", file]) == 0
    assert set(answered(of).values()) == {1} and not wanted(home.home(), of.name).paused
    [status] = printed(capsys, "status", file)
    assert [cell["share"] for cell in status["cells"]] == [1] * len(status["cells"])
    assert {(one["cases"], one["of"], one["runs"]) for one in status["cells"] if one["cell"] != "Controls"} == {
        (12, 12, 2)
    }


def test_a_study_of_robots_is_paused_too_and_says_so(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("core.studies.execute.LOOK", 0.01)
    file = written(tmp_path, 'lab = "check"\nspec = { controls = 0, model = "control/honest-lexicon" }\n')
    monkeypatch.setattr("core.commands.study.want", lambda home, name, **changes: want(home, name, paused=True))
    assert main(["study", "run", file]) == 4
    assert "Paused: 0 of" in capsys.readouterr().err


def test_more_runs_go_on_at_once_without_a_restart(tmp_path: Path, serve: Callable[..., StubServer]) -> None:
    released: list[bool] = []
    server = serve(held=lambda body: not released)
    of = study(tmp_path, text(at_once=1))
    begun: list[int] = []

    def journals() -> int:
        return len(list(home.journals().glob("*.jsonl")))

    def more() -> None:
        # A server on this machine gets only one call at first.
        until(lambda: server.count >= 1)
        begun.append(journals())
        want(home.home(), of.name, at_once=3)
        until(lambda: journals() > 2)
        begun.append(journals())
        released.append(True)

    assert len(made(of, more).completed) == 4
    # Nothing was answered in between: no run had ended.
    assert begun == [1, 3]


def test_a_budget_of_money_is_not_overdrawn(
    tmp_path: Path,
    serve: Callable[..., StubServer],
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    server = serve()
    file = written(tmp_path, text("budget_money = 0.01"))
    assert main(["study", "run", file]) == 2 and server.count == 0
    assert "what openai/stub-model costs is not known" in capsys.readouterr().err
    price = {"model": "openai/stub-model", "prompt": 50.0, "completion": 0.5, "date": "2026-01-01"}
    monkeypatch.setattr(settings, "prices", lambda: {"openai/stub-model": settings.Price.model_validate(price)})
    settings.price_of.cache_clear()
    assert main(["study", "run", file]) == 4
    assert "The budget of 0.01 US dollars leaves no room" in capsys.readouterr().err
    [status] = printed(capsys, "status", file)
    assert 0.002 < status["money"] <= status["budget_money"] == 0.01 and status["unpriced"] == 0
    assert status["paid"] == server.count
    settings.price_of.cache_clear()


def test_an_endpoint_that_is_away_for_a_while_costs_no_item(
    tmp_path: Path,
    serve: Callable[..., StubServer],
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    server = serve(delay=0.05)
    of = study(tmp_path, text(limit=4))
    back: list[StubServer] = []

    def away() -> None:
        until(lambda: server.count >= 6)
        server.__exit__(None, None, None)
        until(lambda: "waiting: " in caplog.text)
        back.append(serve(delay=0.05, port=server.port))

    assert len(made(of, away).completed) == 4
    assert server.count >= 6 and back[0].count
    frame = tables.measured(of, entry.labs(), home.journals())
    broken = tables.rows(of, entry.labs(), frame)
    assert set(answered(of).values()) == {1}
    # The same as for an undisturbed study.
    monkeypatch.setenv("EXPLAIN_HOME", str(tmp_path / "another"))
    entry.answers.cache_clear()
    made(of)
    assert tables.rows(of, entry.labs(), tables.measured(of, entry.labs(), home.journals())) == broken


def test_an_endpoint_that_stays_away_fails_runs_and_drops_no_item(
    tmp_path: Path, serve: Callable[..., StubServer], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("core.studies.execute.PATIENCE", 0.5)
    server = serve(delay=0.02)
    of = study(tmp_path, text(limit=4))

    def away() -> None:
        until(lambda: server.count >= 5)
        server.__exit__(None, None, None)

    outcome = made(of, away)
    assert outcome.failed and "Nothing answers at" in next(iter(outcome.failed.values()))
    events = [event for run in outcome.failed for event in read(home.journals() / f"{run}.jsonl").events]
    reasons = {event.reason for event in events if isinstance(event, Dropped)}
    assert reasons <= {"misclassified", "undecided", "unparsed"}, "only for what was answered"
    # Once it is back, the rest is made.
    serve(port=server.port)
    assert len(made(of).completed) == 4 and set(answered(of).values()) == {1}


def test_a_storm_of_refusals_costs_no_item(tmp_path: Path, serve: Callable[..., StubServer]) -> None:
    storm = {n: Fault("rate_limited", wait=0.2) for n in range(6, 40)}
    server = serve(faults=storm)
    of = study(tmp_path, text(limit=4))
    assert len(made(of).completed) == 4
    assert sum(answered(of).values()) == server.count - len(storm)
    stand = progress(StudyState(of, home.journals()))
    assert not stand.failures and stand.limits["openai"][0] <= 8 and min(stand.limits["openai"]) < 8


def test_one_bad_item_costs_one_item(
    tmp_path: Path, serve: Callable[..., StubServer], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A server that always breaks on one text, and answers all others."""
    monkeypatch.setattr("core.studies.execute.ALONE", 0.5)
    spoilt: list[str] = []

    def reply(body: dict[str, Any]) -> str:
        words = str(body["messages"][0]["content"])
        spoilt.extend([words] if not spoilt and "Paragraph:" in words else [])
        if spoilt and words == spoilt[0]:
            raise RuntimeError("this text breaks the server")
        return steady(body)

    serve(reply=reply)
    of = study(tmp_path, text(limit=10))
    assert len(made(of).completed) == 4
    stand = progress(StudyState(of, home.journals()))
    assert set(stand.failures) == {"ServerFault"}
    frame = tables.measured(of, entry.labs(), home.journals())
    lost = frame[(frame["metric"] == "faithfulness") & frame["value"].isna()]
    assert sum(stand.failures.values()) <= 4 and len(lost)


def test_a_full_disk_stops_the_study_and_loses_nothing(
    tmp_path: Path, serve: Callable[..., StubServer], monkeypatch: pytest.MonkeyPatch
) -> None:
    from core.journal import Journal

    serve()
    of = study(tmp_path, text(limit=4))
    append, room = Journal.append, [60]

    def full(self: Journal, event: Any) -> bytes:
        if room[0] == 0:
            raise JournalFullError("no room")
        room[0] -= 1
        return append(self, event)

    monkeypatch.setattr(Journal, "append", full)
    with pytest.raises(JournalFullError):
        made(of)
    kept = set(answered(of))
    room[0] = -1
    assert len(made(of).completed) == 4
    assert kept and kept <= set(answered(of)) and set(answered(of).values()) == {1}


def test_somebody_else_in_the_app_is_not_kept_waiting_behind_a_study(
    tmp_path: Path, serve: Callable[..., StubServer]
) -> None:
    server = serve(delay=0.3)
    of = study(tmp_path, text(at_once=4, limit=10))
    catalog = entry.catalog()

    async def go() -> tuple[int, int]:
        whole = Making(of, entry.labs(), catalog.get, home.journals(), owner="ben")
        going = asyncio.create_task(whole.run_all(of.runs))
        await asyncio.to_thread(until, lambda: server.count >= 8)
        WHOSE.set("ann")
        asked = server.count
        own = Request(role="x", model="openai/stub-model", messages=(Message(role="user", content="Mine?"),))
        await catalog.get("openai/stub-model").answer(own, lambda piece: None)
        going.cancel()
        await asyncio.wait([going])
        return asked, next(one.number for one in server.seen if one.question == "Mine?")

    asked, hers = asyncio.run(go())
    # Eight calls are in progress, and some thirty of the study's wait for a turn; hers is the next but one.
    assert asked < 20 and hers - asked <= 10


def test_a_run_stops_early_where_its_interval_is_narrow_and_says_so(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    toml = """
    stop_width = {width}
    at_once = 1
    lab = "check"
    [spec]
    controls = 0
    explanations = ["attribution", "redaction"]
    model = "control/dial-lexicon-1.0"
    """
    file = written(tmp_path, toml.format(width=0.5))
    assert main(["study", "run", file]) == 0
    assert "stopped early, faithfulness 1.00 (8 items)" in capsys.readouterr().out
    [status] = printed(capsys, "status", file)
    assert len(status["stopped_early"]) == 1 and status["status"]["stopped early"] == 1
    [cell] = [cell for cell in printed(capsys, "table", file) if cell["table"] == "Check: Faithfulness"]
    assert cell["stopped_early"] and cell["complete"] and cell["n"] == 8
    assert main(["study", "run", file]) == 0 and capsys.readouterr().out == ""
    # No narrower interval was reached: a study that wants more continues that very run.
    file = written(tmp_path, toml.format(width=0.01))
    assert main(["study", "run", file]) == 0
    [cell] = [cell for cell in printed(capsys, "table", file) if cell["table"] == "Check: Faithfulness"]
    assert not cell["stopped_early"] and cell["complete"] and cell["n"] == 20


def test_the_plan_says_how_long_and_how_many(
    tmp_path: Path, serve: Callable[..., StubServer], capsys: pytest.CaptureFixture[str]
) -> None:
    # If everything came within one second there would be no rate.
    serve(delay=0.5)
    more = "power = 0.8\nrates = [0.7, 0.5]\nbudget_calls = 20"
    file = written(tmp_path, text(more))
    [plan] = printed(capsys, "plan", file)
    assert plan["minutes"] is None and plan["wanted_power"] == 0.8
    # McNemar's test with 0.35 and 0.15 of the items differing: about 93 by G*Power's method.
    assert 85 <= plan["power_items"]["rates of 0.7 and 0.5"] <= 110
    assert main(["study", "run", file]) == 4
    [plan] = printed(capsys, "plan", file)
    assert 0 < plan["minutes"] < 1


def test_what_a_run_held_is_let_go_when_it_has_ended(tmp_path: Path) -> None:
    """benchmarks/memory.py measures the megabytes of 25,000 items."""
    held: list[int] = []
    # tests/conftest.py exempts what survives a full collection from later ones; here new objects must be collected.
    gc.collect()
    freezing = gc.callbacks.copy()
    gc.callbacks.clear()

    def ended(run: Planned, state: Transcript) -> None:
        gc.collect()
        held.append(sum(isinstance(one, Call) for one in gc.get_objects()))

    try:
        assert len(make(tmp_path, runs=8, items=20, ended=ended).completed) == 8
    finally:
        gc.callbacks.extend(freezing)
    # Two runs at a time, and the one that is being reported; each has a call for each item and one for all.
    assert 0 < max(held) <= 3 * 21


def test_a_study_s_room_for_thinking_is_added_to_each_answer(serve: Callable[..., StubServer], tmp_path: Path) -> None:
    server = serve()
    path = written(tmp_path, text('thinking_room = { "openai/stub-model" = 1500 }', limit=1))
    assert main(["study", "run", str(path)]) == 0
    assert server.seen and all(seen.body["max_tokens"] > 1500 for seen in server.seen)


@pytest.mark.parametrize("room", ["-1", "1e9", '"much"'])
def test_a_room_for_thinking_that_cannot_be_is_refused(room: str, tmp_path: Path) -> None:
    path = written(tmp_path, text(f'thinking_room = {{ "openai/stub-model" = {room} }}'))
    assert main(["study", "plan", str(path)]) == 2
