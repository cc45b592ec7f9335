"""The status of a run, from lines of its journal, each counted by hand."""

import json
import zlib
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from core import journal
from core.journal import Journal
from core.models import settings
from core.studies.run_status import Tokens, busy_rate, is_completed, standing


@pytest.fixture(autouse=True)
def priced(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """A million tokens sent to a/m cost 1,000 dollars, and a million written 10,000."""
    price = {"model": "a/m", "prompt": 1_000.0, "completion": 10_000.0, "date": "2026-01-01"}
    monkeypatch.setattr(settings, "prices", lambda: {"a/m": settings.Price.model_validate(price)})
    settings.price_of.cache_clear()
    yield
    settings.price_of.cache_clear()


def answered(second: int, model: str = "a/m", **more: Any) -> dict[str, Any]:
    at = f"2026-01-01T00:00:{second:02d}Z"
    return {"kind": "answered", "at": at, "call": "c", "role": "r", "model": model, "text": "y" * 40, **more}


def sealed(event: dict[str, Any], number: int = 1) -> str:
    """A line of a journal with its number and checksum."""
    line = json.dumps({**event, "line": number}, ensure_ascii=False, separators=(",", ":"))[:-1]
    return f'{line},"sum":"{zlib.crc32(line.encode()):08x}"}}\n'


STARTED = {"kind": "started"}
ASKED = {"kind": "asked", "call": "c", "messages": [{"content": "é" * 383}]}
"""Its messages have 400 characters in JSON."""


def wrote(path: Path, *events: dict[str, Any]) -> Path:
    path.write_text("".join(json.dumps(one, ensure_ascii=False, separators=(",", ":")) + "\n" for one in events))
    return path


def test_calls_and_tokens_and_money(tmp_path: Path) -> None:
    assert len(json.dumps(ASKED["messages"], ensure_ascii=False)) == 400
    found = standing(
        wrote(
            tmp_path / "run.jsonl",
            *(STARTED, ASKED, answered(1, usage={"prompt_tokens": 80, "completion_tokens": 20}, at_once=3)),
            *(ASKED, answered(1, at_once=4), ASKED, answered(5, cached=True, at_once=9)),
            *(ASKED, answered(6, "b/m", role="s"), ASKED, answered(7, "control/m", role="s")),
            *(ASKED, {"kind": "failed", "call": "c", "model": "a/m", "error": "TimedOut", "message": "late"}),
            *(ASKED, {"kind": "failed", "call": "c", "model": "control/m", "error": "Odd", "message": "odd"}),
        )
    )
    assert found.answered == {"r": 3, "s": 2} and found.vain == 0 and found.status == "interrupted"
    # Twice a/m, once b/m, and a failed attempt of a/m.
    assert (found.paid, found.unpriced, found.failures) == (4, 1, {"TimedOut": 1, "Odd": 1})
    # Tokens that nobody counted are a quarter of the characters: 100 sent and 10 written.
    assert found.tokens == {"r": Tokens(2, 180, 30), "s": Tokens(2, 200, 20)}
    assert found.money == pytest.approx((180 * 1_000 + 30 * 10_000) / 1e6)
    second = min(second for _, second in found.pace)
    assert found.pace == {("a", second): 2, ("b", second + 5): 1, ("control", second + 6): 1}
    assert found.limits == [(second, "a", 3), (second, "a", 4)] and second == 1767225601
    assert found.message == "", "a call that failed is not the end of the run"


def test_cases_and_how_many_there_are(tmp_path: Path) -> None:
    begun = {"kind": "recorded", "record": "begun", "case": "q1", "data": {"of": 7}}
    result = {"kind": "recorded", "record": "result", "case": "q1", "data": {"of": 9}}
    other = {"kind": "recorded", "record": "explanation", "case": "q2", "data": {"of": 8}}
    found = standing(wrote(tmp_path / "run.jsonl", STARTED, begun, other, result, result | {"case": "q2"}, result))
    assert (found.cases, found.of) == ({"q1", "q2"}, 7)


def test_going_on_clears_what_failed_and_the_end_has_its_word(tmp_path: Path) -> None:
    path = tmp_path / "run.jsonl"
    assert standing(path).status == "absent" and standing(path).vain == 0
    over = {"kind": "failed", "call": None, "model": "a/m", "error": "TimedOut", "message": "It is away."}
    ended = {"kind": "finished", "status": "failed"}
    found = standing(wrote(path, STARTED, over, ended))
    assert (found.status, found.message, found.failures, found.vain) == ("failed", "It is away.", {"TimedOut": 1}, 0)
    assert found.paid == 0, "no call was made"
    found = standing(wrote(path, STARTED, over, ended, {"kind": "resumed"}))
    assert (found.status, found.message, found.failures, found.vain) == ("interrupted", "", {}, 1)
    for status, read in (("cancelled", "cancelled"), ("completed", "completed"), ("odd", "interrupted")):
        assert standing(wrote(path, STARTED, {"kind": "finished", "status": status})).status == read
    # Half a line, and a line that is none, say nothing; an odd time is the epoch's.
    path.write_text('{"kind":"started"}\n{"kind":"answered",\n' + json.dumps(answered(1, at="soon")).replace(" ", ""))
    assert standing(path).answered == {} and standing(path).vain == 1
    found = standing(wrote(path, STARTED, answered(1, at="soon")))
    assert found.pace == {("a", 0): 1} and found.tokens["r"].prompt == 0


def test_a_run_completed_whose_last_whole_line_says_so(tmp_path: Path) -> None:
    path = tmp_path / "run.jsonl"
    assert not is_completed(path)
    finished = {"kind": "finished", "run": "run", "at": "2026-01-01T00:00:00Z", "status": "completed"}
    end, cancelled = sealed(finished), sealed({**finished, "status": "cancelled"})
    long, resumed = sealed({"kind": "recorded", "data": "x" * 5_000}), sealed({"kind": "resumed"})
    for content, completed in (
        *((end, True), (long + end, True), (long + end + '{"kind":"resu', True), (end + long, False)),
        *((cancelled, False), (end + resumed, False), ("", False)),
        *((end.removesuffix("\n"), False), (f"{long}nonsense\n", False)),
    ):
        path.write_text(content)
        assert is_completed(path) is completed, content[-90:]


def test_a_run_that_somebody_writes_is_running_until_it_completed(tmp_path: Path) -> None:
    path = tmp_path / "run.jsonl"
    with Journal(path, new=True):
        assert journal.is_written(path) and standing(path).status == "running"
        path.write_text('{"kind":"finished","run":"run","at":"2026-01-01T00:00:00Z","status":"completed"}\n')
        assert standing(path).status == "completed"
    assert standing(wrote(path, STARTED)).status == "interrupted"


def test_the_rate_leaves_pauses_out() -> None:
    assert busy_rate(Counter()) is None and busy_rate(Counter({5: 9})) is None
    assert busy_rate(Counter({5: 1, 15: 2, 25: 3})) == pytest.approx(60 * 6 / 20)
    # After second 25 there were no calls for a long time: 30 seconds of it count.
    assert busy_rate(Counter({5: 1, 15: 2, 25: 3, 1000: 4})) == pytest.approx(60 * 10 / 50)
