"""Journals that were written before there were cases: they come to what they came to then."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from core import journal
from core.events import Event
from core.labs.consistency.lab import LAB
from core.labs.consistency.tasks import CheckSpec
from core.labs.consistency.verdict import NO_RANDOM, caveats, row_verdict
from core.runs.upgrade import upgraded
from tests.core.labs.consistency.played import play, viewed

KEPT = Path(__file__).resolve().parents[3] / "data" / "journals_1"
EXPECTED: dict[str, dict[str, Any]] = {
    name: one
    for name, one in json.loads((KEPT / "expected.json").read_text(encoding="utf-8")).items()
    if one["lab"] == LAB.name
}


SAID_FALSELY = {
    ("check-smollm2", "corner-bistro/attribution/objective-redacted"): (
        "None of the words it said mattered was masked, so its first answer stands, *negative*: it did not keep to its "
        "explanation."
    ),
}
"""What was said of nothing asked again, as if it had been."""
NO_LIST = "Nothing was masked: the words it named do not stand in the paragraph."
"""Was said of an explanation that could not be read, too."""


def today(sentence: str, rules: str = "repaired") -> str:
    """How a sentence of then is put now: of what is kept, and with what was expected."""
    kept = re.sub(
        r"the explanation is (not )?faithful",
        lambda found: (
            f"that counts as {found[1] or ''}faithful"
            if rules == "paper"
            else f"it {'did not keep' if found[1] else 'kept'} to its explanation"
        ),
        sentence,
    )
    kept = kept.replace(" was kept: this is another text rather than an edit.", " was kept.")
    kept = kept.replace("Without them it still", "Without them it should be unable to tell; it still")
    kept = re.sub(r"^Its explanation was faithful in ", "It kept to its explanation in ", kept)
    kept = re.sub(
        r"^All (\d+) explanations that count were faithful: the model kept to what it said.$",
        r"It kept to all \1 explanations that count. As many random words masked had the effect less often.",
        kept,
    )
    return re.sub(r"^(\d+) of 1 explanations were faithful, but", r"It kept to \1 of 1 explanation, but", kept)


def events_of(name: str) -> list[Event]:
    return upgraded(journal.read(KEPT / f"{EXPECTED[name]['run']}.jsonl").events, {LAB.name: LAB})


def figures(scores: Any) -> list[dict[str, Any]]:
    names = ("value", "n", "of", "low", "high")
    return [
        {"metric": one.metric, "rules": one.rules, "item": one.item, **{name: getattr(score, name) for name in names}}
        for one in scores
        for score in [getattr(one, "score", one)]
    ]


def _without_interval(figure: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in figure.items() if name not in ("low", "high")}


def test_there_are_journals() -> None:
    assert len(EXPECTED) >= 6


@pytest.mark.parametrize("name", EXPECTED)
def test_every_check_comes_to_what_it_came_to(name: str) -> None:
    expected = EXPECTED[name]
    run, views = viewed(events_of(name))
    assert run.status == expected["status"] and run.planned == len(views)
    assert {case: [one.state("paper"), one.state("repaired")] for case, one in views.items()} == expected["outcomes"]
    assert list(views) == list(expected["outcomes"]), "in the order in which they were planned"
    assert {case: row_verdict(one) for case, one in views.items()} == {
        case: SAID_FALSELY.get((name, case), today(said)) for case, said in expected["row_verdicts"].items()
    }
    assert {case: caveats(one) for case, one in views.items()} == {
        case: [today(line) for line in said if line != NO_LIST or (explained := views[case].explained) is None
               or explained.words.repaired]
        for case, said in expected["caveats"].items()
    }  # fmt: skip
    assert LAB.summary is not None
    said = LAB.summary(run).removesuffix(f" {NO_RANDOM}")
    assert re.sub(r"Where words were masked it kept to \d of \d; a", "A", said) == today(expected["verdict"][1])
    if len(views) == 1:
        assert row_verdict(views[run.only], "paper") == today(expected["verdict"][0], "paper")
    assert {(drop.item, drop.reason, drop.rules) for drop in run.drops} == {tuple(drop) for drop in expected["drops"]}
    assert len(run.calls) == expected["calls"]
    assert all(progress.result is not None for progress in run.cases.values())


SINCE = {"answerable"}
"""Figures that there were none of when these journals were written."""


@pytest.mark.parametrize("name", EXPECTED)
def test_the_figures_are_the_same_as_they_were_published_and_as_they_are_computed_now(name: str) -> None:
    expected = EXPECTED[name]
    run, views = viewed(events_of(name))
    assert sorted(map(str, figures(run.scores))) == sorted(map(str, expected["scores"]))
    if expected["status"] == "completed":
        now = [figure for figure in LAB.scores(list(views.values())) if figure.metric not in SINCE]
        # The interval that is computed now is that of means over items; what was published keeps its own.
        assert list(map(_without_interval, figures(now))) == list(map(_without_interval, expected["scores"]))


@pytest.mark.parametrize("name", EXPECTED)
def test_every_answer_that_a_check_names_can_be_looked_at(name: str) -> None:
    """Calls were shared by checks then, and written down once."""
    _, views = viewed(events_of(name))
    for one in views.values():
        named = {call for trial in one.trials.values() for call in trial.calls}
        named |= {record.call for record in (one.classification, one.explained, one.ability) if record}
        assert named <= one.log.calls.keys()
        assert one.unread == 0


@pytest.mark.parametrize("name", [name for name, one in EXPECTED.items() if one["status"] == "completed"])
def test_to_go_on_with_one_that_is_complete_asks_and_records_nothing(name: str) -> None:
    events = events_of(name)
    run, _ = viewed(events)
    assert run.started is not None
    again = play(CheckSpec.model_validate(run.started.spec), history=events)
    assert again.news == [], "what is read otherwise by now is a reread's"


def test_a_journal_whose_specification_is_out_of_reach_keeps_its_cases() -> None:
    """As when its data set is gone."""
    name = "check-many"
    events = journal.read(KEPT / f"{EXPECTED[name]['run']}.jsonl").events
    gone = {**events[0].spec, "dataset": "imdb", "path": "/nowhere"}
    events[0] = events[0].model_copy(update={"spec": gone})
    _, views = viewed(upgraded(events, {LAB.name: LAB}))
    assert sorted(views) == sorted(EXPECTED[name]["outcomes"])
    assert {case: one.state() for case, one in views.items()} == {
        case: states[1] for case, states in EXPECTED[name]["outcomes"].items()
    }
