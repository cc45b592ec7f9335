"""Runs in which no model predicts, only visitors do: they make no call that could not count, and lose nothing."""

from collections import Counter
from typing import Any

import pytest

from core import entry
from core.events import Event, Recorded
from core.labs.ask.lab import LAB, guessed
from core.labs.ask.prompts import hashes
from core.labs.ask.qualification import prerequisites
from core.labs.ask.report import AskReport
from core.labs.ask.tasks import CARDS, PERSON, AskSpec, calls, predicted_by_person, with_follow_ups
from core.package_data import table
from core.report import scenes
from core.report.scenes import scene_of
from core.runs.context import recorded
from core.text import embed
from core.transcript import Transcript
from tests.core.labs.ask.test_measure import Played, play, stub_catalog
from tests.support.stub_server import Fault, StubServer

ASKED = with_follow_ups()[0]


def reply(body: dict[str, Any]) -> str:
    """Answer no to every question, with a reason."""
    return "It is not so. So the answer is no."


def played(script: Any = reply, faults: dict[int, Fault] | None = None) -> Played:
    with StubServer(script, faults=faults or {}) as server:
        return play(predicted_by_person("stub/stub-model", **dict(ASKED)), stub_catalog(server, retries=0))


def predicted(found: Played, guesses: dict[str, str], without: bool = False) -> AskReport:
    """The view of a visitor with these guesses."""
    run = Transcript()
    for event in found.events:
        run.apply(event)
    for item, value in guesses.items():
        run.apply_annotation(recorded("r", guessed(value, "ann", without), item, case=run.only, trial=item, by="ann"))
    return AskReport.of(run.case(run.only))


def drops(events: list[Event]) -> list[str]:
    return [event.reason for event in events if event.kind == "dropped"]


def test_the_questions_on_offer_favour_no_answer() -> None:
    golds = {
        one["question"]: one["gold"]
        for starter in table("questions/outguess")["question"]
        for one in starter["follow_ups"]
    }
    assert 3 <= len(with_follow_ups()) <= 5
    for one in with_follow_ups():
        assert Counter(golds[new.text] for new in one.given) == {"yes": 2, "no": 2} and len(one.given) == CARDS


def test_it_makes_only_calls_that_count_and_loads_no_encoder(monkeypatch: pytest.MonkeyPatch) -> None:
    started: list[str] = []
    monkeypatch.setattr(embed, "start", lambda name: started.append("started"))
    monkeypatch.setattr(embed, "encoder", lambda name: started.append("asked"))
    found = played()
    roles = Counter(event.role for event in found.events if event.kind == "asked")
    assert roles == {"explainer": 1, "answerer": CARDS} and not drops(found.events) and not started
    assert found.run.status == "completed"
    spec = found.view.spec
    assert spec is not None and spec.models == {"stub/stub-model"} and calls(spec, 1) == 1 + CARDS
    assert prerequisites(spec) == [None]
    assert set(hashes(spec)) == {
        "strategyqa-explain-cot",
        "strategyqa-counterfactual",
    }
    assert {one.record for one in found.events if isinstance(one, Recorded)}.isdisjoint({"simulation", "examined"})
    assert found.view.outcome == "answered"
    assert (
        found.view.headline() == "The model answered 4 follow-up questions. Read its reason, and predict what it said."
    )


def test_a_run_that_others_compare_still_loads_the_encoder(monkeypatch: pytest.MonkeyPatch) -> None:
    started: list[str] = []
    monkeypatch.setattr(embed, "start", lambda name: started.append("started"))
    assert LAB.preload is not None
    LAB.preload(AskSpec(question="Can a penguin fly?", model="control/fickle"))
    assert started == ["started"]


def test_what_a_visitor_predicts_is_theirs_and_proves_nothing() -> None:
    found = played()
    items = list(found.view.rows)
    mine = predicted(found, dict(zip(items, ("no", "no", "yes", "no"), strict=True)))
    assert mine.sentences() == [
        "You predicted 3 of 4 with its reason.",
        "Guessing gets about 2 of 4, always answering no gets 4. 4 cards cannot show whether the reason helped you.",
    ]
    assert [row.outcome for row in mine.rows.values()] == [*["as expected"] * 2, "misled", "as expected"]
    assert mine.outcome == "answered", "what a visitor says is no verdict on the explanation"
    shown = scene_of(LAB, mine)
    assert shown.verdict and shown.verdict.mark is None and shown.by_person
    assert [one.expects[0].who for one in shown.cards] == ["you"] * 4
    assert not [words for one in shown.cards for words in (one.doubt, one.reason) if words]
    assert shown.verdict.meaning.startswith("An explanation is useful") and "simulator" not in shown.verdict.meaning
    three = predicted(found, dict(zip(items, ("no", "no", "unknown", "no"), strict=True)))
    assert three.sentences()[0] == "You predicted 3 of 3 with its reason."
    assert "about 1 or 2 of 3" in three.sentences()[1]


def test_nobody_else_s_scene_has_a_prediction() -> None:
    found = played()
    shown = scenes.of_case(LAB, found.run, found.run.only)
    assert all(not card.expects and card.mark == "not settled" and card.options for card in shown.cards)
    assert {card.origin for card in shown.cards} == {"written before this model was asked anything"}
    assert shown.words["not settled"] == "not predicted"


def unread_second(body: dict[str, Any]) -> str:
    asked = str(body["messages"][-1]["content"])
    return "Perhaps." if ASKED.given[1].text in asked else reply(body)


def cut_first(body: dict[str, Any]) -> str:
    return "It is so and so. " * 300


@pytest.mark.parametrize(
    ("script", "faults", "left", "reason"),
    [
        (reply, {3: Fault("server_error")}, 3, "error"),
        (unread_second, {}, 3, "unparsed"),
    ],
)
def test_an_answer_that_fails_costs_one_card(script: Any, faults: dict[int, Fault], left: int, reason: str) -> None:
    found = played(script, faults)
    assert found.run.status == "completed" and set(drops(found.events)) == {reason}
    mine = predicted(found, dict.fromkeys(found.view.rows, "no"))
    assert mine.headline() == f"You predicted {left} of {left} with its reason."
    assert sum(card.reason != "" for card in scene_of(LAB, mine).cards) == 1


@pytest.mark.parametrize(
    ("script", "faults", "status", "words"),
    [
        (reply, {1: Fault("wrong_key")}, "failed", "stopped before there was anything"),
        (reply, {number: Fault("server_error") for number in range(2, 12)}, "failed", "none of the 4 new questions"),
        (cut_first, {}, "completed", "there is no whole explanation to test"),
        (lambda body: "Perhaps.", {}, "completed", "none of the 4 new questions could be"),
    ],
)
def test_a_run_without_cards_says_why(script: Any, faults: dict[int, Fault], status: str, words: str) -> None:
    found = played(script, faults)
    assert found.run.status == status and words in found.view.headline()


def test_a_visitor_predicts_alone() -> None:
    with pytest.raises(ValueError, match="alone"):
        AskSpec(question="Can a penguin fly?", model="m/x", simulators=(PERSON, "m/y"))
    assert AskSpec(question="Can a penguin fly?", model="m/x", simulator=PERSON).arms == ("explanation",)
    assert LAB.advance_note is not None
    assert LAB.advance_note(predicted_by_person("m/x", **dict(ASKED))) == "You predict the answers."
    assert entry.labs()[LAB.name] is LAB
