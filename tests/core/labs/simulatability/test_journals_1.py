"""Journals of schema 1 open with the verdicts, outcomes and figures that they had."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from core import journal
from core.labs.simulatability.lab import LAB, READER
from core.labs.simulatability.verdict import headline
from core.labs.simulatability.view import scores, view
from core.runs.upgrade import upgraded
from core.transcript import transcript

KEPT = Path(__file__).resolve().parents[3] / "data" / "journals_1"
EXPECTED: dict[str, dict[str, Any]] = {
    name: one
    for name, one in json.loads((KEPT / "expected.json").read_text(encoding="utf-8")).items()
    if one["lab"] == LAB.name
}


@pytest.mark.parametrize("name", EXPECTED)
def test_a_kept_journal_opens_as_it_was(name: str) -> None:
    expected = EXPECTED[name]
    state = transcript(upgraded(journal.read(KEPT / f"{expected['run']}.jsonl").events, {LAB.name: LAB}))
    one = view(state.case(state.only))
    assert state.status == expected["status"] and len(state.calls) == expected["calls"]
    assert [headline(one, rules) for rules in ("paper", "repaired")] == expected["verdict"]
    outcomes = {item: [row.outcome("paper"), row.outcome("repaired")] for item, row in one.rows.items()}
    assert outcomes == expected["outcomes"]
    assert {item: row.guess.repaired for item, row in one.rows.items() if row.guess} == expected["guesses"]
    assert all(by == READER for by, _ in one.log.said("simulation"))
    assert one.reader_precision().value == expected["reader_precision"]
    assert sorted([drop.item, drop.reason, drop.rules or ""] for drop in state.drops) == expected["drops"]
    known = {(score.metric, score.rules): score for score in state.scores}
    again = {(figure.metric, figure.rules): figure.score for figure in scores([one])}
    for score in expected["scores"]:
        key = (score["metric"], score["rules"])
        cut = {**score}
        if score["metric"] == "generality_cosine" and score["high"] is not None:
            # Its interval ends by now where what it estimates does.
            cut["high"] = min(score["high"], max(1.0, score["value"]))
        for made, was in ((known[key], score), (again[key], cut)):
            assert (made.n, made.of) == (was["n"], was["of"])
            for part in ("value", "low", "high"):
                assert getattr(made, part) == pytest.approx(was[part], abs=1e-5)


@pytest.mark.parametrize("name", EXPECTED)
def test_trials_and_results_stand_in_it(name: str) -> None:
    expected = EXPECTED[name]
    state = transcript(upgraded(journal.read(KEPT / f"{expected['run']}.jsonl").events, {LAB.name: LAB}))
    result = state.cases[state.only].result
    assert result is not None and result["verdict"] == expected["verdict"][1]
    trials = state.case(state.only).of("trial")
    assert {item: trial["repaired"]["outcome"] for item, trial in trials.items()} == {
        item: outcomes[1] for item, outcomes in expected["outcomes"].items()
    }
