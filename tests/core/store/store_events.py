"""Events, journals and labs for the store's tests."""

from collections.abc import Iterable, Mapping
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, Literal

from core.events import (
    Answered,
    Asked,
    Dropped,
    Event,
    Failed,
    Finished,
    Frozen,
    Message,
    Recorded,
    Sampling,
    Scored,
    Started,
    Usage,
)
from core.journal import to_line
from core.labs.ask.lab import LAB as ASK
from core.labs.base.declared import Metric
from core.labs.base.lab import Lab
from core.labs.base.spec import Spec
from core.store.store import Store

NOON = datetime(2026, 5, 4, 12, 0, tzinfo=UTC)

CASE = "question"


class LongWalk(Frozen):
    """A record of an unknown lab, with a field of every kind."""

    place: str
    note: str | None = None
    pace: Literal["slow", "fast"] = "slow"
    steps: int | None = None
    hours: float | int = 0
    raining: bool | None = None
    begun: datetime | None = None
    companions: tuple[str, ...] = ()
    mood: str | int = ""
    case: str = ""
    Place: str = ""


class WalkSpec(Spec):
    model: str = "control/walker"


class WalkLab(Lab):
    """It measures nothing: the store needs none of that."""

    name = "walking"
    title = "Walk"
    question = "How far?"
    spec = WalkSpec
    records = ()
    metrics = (Metric("miles", "Miles", "", "positive", leads=True), Metric("blisters", "Blisters", "", "any"))


def walking(*records: type[Frozen]) -> Lab:
    """A small lab that records these types."""
    return WalkLab().with_changes(records=records)


WALK = walking(LongWalk)

LABS: Mapping[str, Lab] = {lab.name: lab for lab in (ASK, WALK)}


def at(second: float) -> datetime:
    return NOON + timedelta(seconds=second)


def started(run: str, second: float = 0, **spec: Any) -> Started:
    spec = {"question": "Can penguins fly?", "model": "control/fickle", "method": "cot", "task": "strategyqa"} | spec
    return Started(
        run=run,
        at=at(second),
        lab="simulatability",
        spec=spec,
        seed=7,
        prompts={"explain": "abc"},
        app="1.2",
        commit="0123abc",
    )


def asked(run: str, call: str, second: float = 1, item: str = "starter", case: str = CASE) -> Asked:
    return Asked(
        run=run,
        at=at(second),
        case=case,
        call=call,
        role="explainer",
        model="control/fickle",
        messages=(Message(role="user", content="Can penguins fly?"),),
        sampling=Sampling(max_tokens=50),
        item=item,
        prompt="explain",
    )


def answered(run: str, call: str, second: float = 2, text: str = "Yes.") -> Answered:
    usage = Usage(prompt_tokens=12, completion_tokens=3)
    return Answered(
        run=run,
        at=at(second),
        case=CASE,
        call=call,
        role="explainer",
        model="control/fickle",
        text=text,
        seconds=0.5,
        usage=usage,
    )


def failed(run: str, call: str | None, second: float = 2) -> Failed:
    return Failed(
        run=run, at=at(second), call=call, error="TimedOut", message="It took too long.", hint="Try a smaller model."
    )


def begun(run: str, case: str = CASE, number: int = 1, of: int = 1, second: float = 1) -> Recorded:
    data = {"title": "Can penguins fly?" if case == CASE else f"About {case}", "number": number, "of": of}
    return Recorded(run=run, at=at(second), case=case, record="begun", item="case", data=data)


def ended(run: str, case: str = CASE, second: float = 8, outcome: str = "misled") -> Recorded:
    data = {
        "title": "Can penguins fly?",
        "model": "control/fickle",
        "explanation": "Birds fly.",
        "outcome_paper": "kept",
        "outcome_repaired": outcome,
        "verdict": "It would have misled you.",
        "trials": 2,
        "counted": 1,
    }
    return Recorded(run=run, at=at(second), case=case, record="result", item="case", data=data)


def trial(run: str, item: str, second: float = 8, case: str = CASE, **repaired: Any) -> Recorded:
    paper = {"expected": "yes", "observed": "no", "outcome": "unread", "counts": False, "reason": "unparsed"}
    data = {
        "about": "Can an ostrich fly?",
        "paper": paper,
        "repaired": {**paper, "outcome": "otherwise", "counts": True, "reason": ""} | repaired,
        "calls": ["c0002", "c0004"],
    }
    return Recorded(run=run, at=at(second), case=case, trial=item, record="trial", item=item, data=data)


def whole_run(run: str, precision: float | None = 0.5, second: float = 0) -> list[Event]:
    """A small Ask run: one explanation, two counterfactuals of which one cannot be guessed, and scores."""

    def record(name: str, item: str, by: str = "", **data: Any) -> Recorded:
        trial = item if item != "starter" else ""
        return Recorded(run=run, at=at(second + 3), case=CASE, trial=trial, record=name, item=item, data=data, by=by)

    explained = {"answer_paper": "yes", "answer_repaired": "yes", "explanation_repaired": "Birds fly. <b>All</b>"}
    score = {"run": run, "at": at(second + 8), "n": 1, "of": 2, "rules": "repaired"}
    return [
        started(run, second),
        begun(run, second=second + 1),
        asked(run, "c0001", second + 1),
        answered(run, "c0001", second + 2),
        record("explanation", "starter", call="c0001", task="strategyqa", question="Can penguins fly?", **explained),
        record("counterfactual", "cf-01", call="c0002", text="Can an ostrich fly?", origin="generated", paper=True),
        record("counterfactual", "cf-02", call="c0003", text="Can a trout swim?", origin="generated", paper=True),
        record("simulation", "cf-01", simulator="control/fickle", votes=["yes"], paper="yes", repaired="yes"),
        record("simulation", "cf-01", by="reader", simulator="reader", paper="no", repaired="no"),
        record(
            "simulation", "cf-02", simulator="control/fickle", votes=["unknown"], paper="unknown", repaired="unknown"
        ),
        record("answer", "cf-01", call="c0004", paper="no", repaired="no"),
        record("answer", "cf-02", call="c0005", paper="yes", repaired="yes"),
        Dropped(
            run=run, at=at(second + 7), case=CASE, trial="cf-02", item="cf-02", reason="not simulatable",
            rules="repaired",
        ),
        trial(run, "cf-01", second + 8),
        trial(run, "cf-02", second + 8, outcome="unread", counts=False, reason="not simulatable"),
        ended(run, second=second + 8),
        Scored(metric="precision", value=precision, low=0.1, high=0.9, **score),
        Scored(metric="generality_cosine", value=0.7, **score),
        Finished(run=run, at=at(second + 9), status="completed"),
    ]  # fmt: skip


def lines(events: Iterable[Event], first: int = 1) -> bytes:
    """The events as a journal's lines; `first` is the number of the first line."""
    return b"".join(to_line(event, number) for number, event in enumerate(events, start=first))


def write(folder: Path, run: str, events: Iterable[Event]) -> Path:
    """Write the complete journal of `run`."""
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"{run}.jsonl"
    path.write_bytes(lines(events))
    return path


def content(store: Store) -> dict[str, list[tuple[object, ...]]]:
    """All rows of all indexed tables, without the files' times."""
    rows = {}
    for table in store.indexed:
        # A column that was added later comes last, wherever its field is.
        names = sorted(store.tables[table].columns, key=lambda name: (name != "run", name))
        columns = ", ".join(f'"{name}"' for name in names if name != "modified")
        with store.cursor() as cursor:
            rows[table] = sorted(cursor.execute(f"select {columns} from {table}").fetchall(), key=repr)
    return rows


def one(store: Store, sql: str) -> dict[str, Any]:
    with store.cursor() as cursor:
        rows = cursor.execute(sql).fetchall()
        assert len(rows) == 1, rows
        return dict(zip([column[0] for column in cursor.description], rows[0], strict=True))


def count(store: Store, table: str) -> int:
    return int(store.query(f"select count(*) as n from {table}").n[0])
