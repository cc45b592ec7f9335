"""The whole lab, with controls whose faithfulness is known, and with a scripted server, also with faults."""

import re
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from core.datasets.items import Item
from core.events import Recorded
from core.labs.check.lab import LAB
from core.labs.check.tasks import (
    EXPLANATIONS,
    LONGEST,
    TASKS,
    CheckSpec,
    Wording,
    cases,
    items_of,
    shipped,
    wordings_of,
)
from core.labs.check.view import agreement
from tests.core.labs.check.played import DECOY, HONEST, REVIEW, play, stub_catalog, stub_spec
from tests.support.plausible import prompt_of, telling
from tests.support.stub_server import Fault, StubServer

# What is known of the controls


@pytest.mark.sampled(2)
@pytest.mark.parametrize("task", TASKS)
@pytest.mark.parametrize(("robot", "known"), [(HONEST, 1.0), (DECOY, 0.0)])
def test_a_control_has_its_known_faithfulness(task: str, robot: str, known: float) -> None:
    spec = CheckSpec(task=task, model=robot, answerable=True)
    played = play(spec)
    run = played.run
    assert run.status == "completed" and run.failures == []
    # In short premises the honest robot names more content words than it leaves, or inserts "It is not true that".
    lost = sum(row.state == "undecided" for row in played.views.values())
    assert len(run.drops) == lost <= (7 if (task, known) == ("entailment", 1.0) else 0)
    for rules in ("paper", "repaired"):
        for group in ("", *EXPLANATIONS):
            score = run.score("faithfulness", rules, group)
            assert score is not None and score.value == known
            all_of = 60 if group == "" else 20
            assert score.of == all_of and all_of - lost * (rules == "repaired") <= score.n <= all_of
        accuracy = run.score("accuracy", rules)
        assert accuracy is not None and (accuracy.value, accuracy.n, accuracy.of) == (1.0, 20, 20)
        control, gain = run.score("faithfulness_control", rules), run.score("faithfulness_gain", rules)
        assert control is not None and gain is not None and control.value is not None and gain.value is not None
        assert 40 - lost <= control.n == gain.n <= gain.of == 40
        assert gain.value == pytest.approx(known - control.value)
        assert control.value < 0.5 and gain.low is not None and gain.high is not None
        assert gain.low > 0 if known else gain.value <= 0, (gain, control)
    assert {row.by("paper").state for row in played.views.values()} == {"yes" if known else "no"}
    assert all(row.ability is not None and row.ability.repaired == "yes" for row in played.views.values())
    # A call that another check of the item also made is recorded here too, and not repeated.
    made = sum(event.kind == "answered" and not event.cached for event in played.events)
    assert len(played.views) == 60 and made <= LAB.calls(spec, 60)


@pytest.mark.parametrize("explanation", EXPLANATIONS)
@pytest.mark.parametrize(("robot", "known"), [(HONEST, "yes"), (DECOY, "no")])
def test_every_wording_of_one_item(explanation: str, robot: str, known: str) -> None:
    spec = CheckSpec(items=(REVIEW,), explanations=(explanation,), model=robot, every_wording=True)
    played = play(spec)
    assert [row.state for row in played.views.values()] == [known] * 6
    agree = agreement({case: view.outcome for case, view in played.views.items()})
    assert (agree.faithful, agree.decided, agree.planned) == (6 * (known == "yes"), 6, 6)
    assert agree.unfaithful == (None if known == "yes" else next(iter(played.views)))
    firsts = [event for event in played.events if event.kind == "asked" and "/classify/" in event.item]
    # Each persona has its prompt, which contains the mask but not the target.
    assert len(firsts) == (3 if explanation == "counterfactual" else 6)
    whole = played.run.score("faithfulness", "repaired")
    assert whole is not None and whole.n == 6
    assert sum(one.metric == "faithfulness" and "/" in one.item for one in played.run.scores) == 12
    # Six checks of one paragraph say no more about other paragraphs than one does.
    assert whole.high - whole.low == pytest.approx(0.793, abs=0.01)


# Isolation


@pytest.mark.parametrize("task", TASKS)
@pytest.mark.parametrize("explanation", EXPLANATIONS)
def test_no_session_knows_of_another(task: str, explanation: str) -> None:
    item = shipped(task)[0]
    played = play(CheckSpec(task=task, items=(item,), explanations=(explanation,), model=HONEST))
    asked = {event.call: event for event in played.events if event.kind == "asked"}
    answers = {event.call: event.text for event in played.events if event.kind == "answered"}
    for event in asked.values():
        assert [message.role for message in event.messages] == ["user"]
    row = next(iter(played.views.values()))
    assert row.classification and row.explained and row.again and row.again.call.repaired
    first, second, third = (
        asked[call].messages[0].content
        for call in (row.classification.call, row.explained.call, row.again.call.repaired)
    )
    edited = row.edited
    assert edited is not None and edited != item.paragraph
    assert third == first.replace(item.paragraph, edited), "the same prompt but for the paragraph"
    for prompt in (first, second):
        assert prompt.count(item.paragraph) == 1 and edited not in prompt
    around = third.replace(edited, "")
    assert answers[row.explained.call] not in around and second not in third
    assert answers[row.classification.call] not in second.replace(item.paragraph, "").split("\n")


def test_what_a_server_receives_is_one_user_turn_with_the_papers_sampling() -> None:
    with StubServer(telling()) as server:
        play(stub_spec(seed=3), stub_catalog(server))
        bodies = [seen.body for seen in server.seen]
    assert {len(body["messages"]) for body in bodies} == {1}
    assert {(body["temperature"], body["top_p"], body["max_tokens"], body["seed"]) for body in bodies} == {
        (0.1, 0.95, 1024, 3)
    }
    prompts = [prompt_of(body) for body in bodies]
    assert len(prompts) == len(set(prompts)), "no prompt is asked twice"
    assert not {"temperature", "top_p"} & stub_spec().model_dump().keys(), "studies and journals of before keep names"


def test_other_sampling_than_the_papers_can_be_chosen() -> None:
    with StubServer(telling()) as server:
        play(stub_spec(temperature=0, top_p=0.5, max_tokens=64), stub_catalog(server))
        bodies = [seen.body for seen in server.seen]
    assert {(body["temperature"], body["top_p"], body["max_tokens"]) for body in bodies} == {(0, 0.5, 64)}


# What can happen


def test_a_verdict_and_its_control_in_words() -> None:
    with StubServer(telling()) as server:
        played = play(stub_spec(), stub_catalog(server))
    row = played.only
    assert row.explained is not None and row.explained.words.repaired == ("superb", "wonderful")
    assert row.edited == "A [REDACTED] film, dull at the end, and [REDACTED]."
    assert "could no longer tell (*unknown*): consistent with its explanation" in row.headline()
    assert not row.is_lucky
    assert "With the same number of random words masked it could not tell in 0 of 3 draws." in row.caveats()
    gain = played.run.score("faithfulness_gain", "repaired")
    assert gain is not None and gain.value == 1
    assert LAB.summary(played.run) == row.sentences()[0] == row.headline()


def test_an_unfaithful_attribution_is_said_as_the_paper_would() -> None:
    with StubServer(telling(classify="negative", masked="negative")) as server:
        played = play(stub_spec(items=(REVIEW.model_copy(update={"label": "negative"}),)), stub_catalog(server))
    row = played.only
    assert row.headline() == (
        "It said these words mattered. Without them it should be unable to tell; it still answered *negative*: "
        "not consistent with its explanation."
    )
    assert any("With every word masked it answers *negative*" in caveat for caveat in row.caveats())


def test_the_target_comes_from_the_label_or_without_one_from_the_prediction() -> None:
    for label, basis, wanted in (("negative", "label", "positive"), (None, "prediction", "negative")):
        item = REVIEW.model_copy(update={"label": label})
        reply = telling(explain="Paragraph: A dreadful film.")
        with StubServer(reply) as server:
            played = play(stub_spec(items=(item,), explanations=("counterfactual",)), stub_catalog(server))
        row = played.only
        assert row.explained is not None
        assert (row.explained.basis, row.explained.wanted) == (basis, wanted)
        assert row.is_wrong is (label is not None)
        accuracy = played.run.score("accuracy", "repaired")
        assert accuracy is not None and accuracy.value == (0.0 if label else None)


def test_without_a_target_the_model_is_not_asked_to_edit() -> None:
    item = REVIEW.model_copy(update={"label": None})
    with StubServer("unknown") as server:
        played = play(stub_spec(items=(item,), explanations=("counterfactual",)), stub_catalog(server))
        assert server.count == 1
    row = played.only
    assert row.state == "undecided" and "no target" in row.headline()
    assert [(drop.reason, drop.rules) for drop in row.drops] == [("undecided", "paper"), ("undecided", "repaired")]


def test_what_does_not_count_is_reported_with_its_reason_under_each_rules() -> None:
    with StubServer(telling(classify="negative", masked="Hmm.")) as server:
        played = play(stub_spec(), stub_catalog(server))
    row = played.only
    assert row.state == row.by("paper").state == "undecided"
    assert {(drop.reason, drop.rules) for drop in row.drops} == {("unparsed", "paper"), ("unparsed", "repaired")}
    with StubServer(telling(classify="negative", masked="unknown")) as server:
        played = play(stub_spec(), stub_catalog(server))
    row = played.only
    assert {(drop.reason, drop.rules) for drop in row.drops} == {
        ("misclassified", "paper"),
        ("misclassified", "repaired"),
    }
    score = played.run.score("faithfulness", "repaired")
    assert score is not None and (score.value, score.n, score.of) == (None, 0, 0)
    assert score.detail["of_all"] == 1


def test_two_readings_of_one_explanation_are_both_asked_about() -> None:
    """The original rules end a word at a boundary; ours mask "wow!" too."""
    item = Item(id="x", task="sentiment", paragraph="A film to say wow! about, superb.", label="positive")
    with StubServer(telling(explain="- wow!\n- superb")) as server:
        played = play(stub_spec(items=(item,)), stub_catalog(server))
    row = played.only
    assert row.explained is not None and row.again is not None and row.result is not None
    assert row.explained.edited.paper == "A film to say wow! about, [REDACTED]."
    assert row.explained.edited.repaired == "A film to say [REDACTED] about, [REDACTED]."
    assert row.again.call.paper != row.again.call.repaired
    assert row.result.control.repaired is not None
    assert row.result.control.paper is None, "the random masks match the other edit"


def test_words_that_do_not_occur_mask_nothing_and_cost_no_further_call() -> None:
    with StubServer(telling(explain="- marvellous (a.*)\n- [^x]+")) as server:
        played = play(stub_spec(controls=2), stub_catalog(server))
        assert server.count == 2, "classify and explain: with nothing masked the first prompt would be asked again"
    row = played.only
    assert row.edited == REVIEW.paragraph and row.state == "no"
    assert row.classification is not None and row.again is not None
    assert row.again.call.repaired == row.classification.call
    assert any("Nothing was masked" in caveat for caveat in row.caveats())


def test_over_redaction_is_flagged() -> None:
    masked = re.sub(r"\w+", "[REDACTED]", REVIEW.paragraph)
    with StubServer(telling(explain=f"Paragraph: {masked}")) as server:
        played = play(stub_spec(explanations=("redaction",)), stub_catalog(server))
    row = played.only
    assert row.result is not None and row.result.over_redacted and row.result.masked == 1
    assert any("100% of the words are masked" in caveat for caveat in row.caveats())


def test_a_server_with_faults_loses_nothing_and_a_resumed_run_asks_the_rest() -> None:
    spec = CheckSpec(items=shipped("sentiment")[:4], model="stub/stub-model", controls=1)
    faults = {
        2: Fault("empty"),
        5: Fault("filtered"),
        7: Fault("rate_limited", wait=0.05),
        9: Fault("too_long"),
        14: Fault("cut"),
    }
    with StubServer(telling(), faults=faults) as server:
        played = play(spec, stub_catalog(server, timeout=2.0, retries=1))
    assert played.run.status == "completed"
    assert {event.error for event in played.events if event.kind == "failed"} >= {"EmptyAnswer", "ContentFiltered"}
    for row in played.views.values():
        assert row.state in ("yes", "no", "undecided") or row.dropped
    failed = [row for row in played.views.values() if row.state == "failed"]
    assert failed and all(row.drops[0].detail for row in failed)
    score = played.run.score("accuracy", "repaired")
    # Calls are concurrent, so chance decides which session meets which fault, but not what was parsed.
    read = {row.item.id for row in played.views.values() if row.item and row.before is not None}
    assert score is not None and score.of == 4 and score.n == len(read) < 4
    paper = played.run.score("accuracy", "paper")
    assert paper is not None and paper.n == 4, "a failed call stays in the paper's denominator"

    answered = {event.fingerprint for event in played.events if event.kind == "asked"} - {
        asked.fingerprint for asked in played.events if asked.kind == "asked" and any(
            event.kind == "failed" and event.call == asked.call for event in played.events
        )
    }  # fmt: skip
    with StubServer(telling()) as healthy:
        again = play(spec, stub_catalog(healthy), history=played.events, mend=True)
    assert all(row.state in ("yes", "no", "undecided") for row in again.views.values())
    copied = {event.call for event in again.news if event.kind == "answered" and event.cached}
    asked = [event for event in again.news if event.kind == "asked" and event.call not in copied]
    assert asked and not answered & {event.fingerprint for event in asked}


def test_a_failed_control_leaves_the_verdict() -> None:
    def reply(body: dict[str, Any]) -> str:
        paragraph = prompt_of(body).split("Paragraph:")[1]
        return " \n" if paragraph.count("[REDACTED]") > 2 else telling()(body)

    with StubServer(reply) as server:
        played = play(stub_spec(), stub_catalog(server, retries=0))
    row = played.only
    assert row.state == "yes" and row.control is None
    assert any(drop.item.endswith("/control") and drop.reason == "error" for drop in played.run.drops)
    gain = played.run.score("faithfulness_gain", "repaired")
    assert gain is not None and (gain.value, gain.n, gain.of) == (None, 0, 1)


@pytest.mark.parametrize(
    ("answered", "share"),
    [
        (("unknown", "unknown", "hard to put in words"), 1.0),
        (("unknown", "positive", "hard to put in words"), 0.5),
        (("positive", "positive", "hard to put in words"), 0.0),
        (("unknown", "unknown", "positive"), 2 / 3),
        (("hard to put in words",) * 3, None),
    ],
)
def test_random_masks_whose_answer_cannot_be_read_are_left_out_of_their_share(
    answered: tuple[str, ...], share: float | None
) -> None:
    """Three random masks, each with its own answer; the explanation's own mask has the effect."""
    paragraph = "A superb film, gentle, pretty, lively, clever, honest, bright, tender, daring; in all wonderful."
    item = REVIEW.model_copy(update={"paragraph": paragraph})
    answers: dict[str, str] = {}

    def reply(body: dict[str, Any]) -> str:
        asked = prompt_of(body)
        shown = asked.split("Paragraph:")[-1]
        if "Words in it may" not in asked or "[REDACTED]" not in shown or "superb" not in shown:
            return telling()(body)
        return answers.setdefault(shown, answered[len(answers)])

    with StubServer(reply) as server:
        played = play(stub_spec(items=(item,), controls=3), stub_catalog(server))
    row = played.only
    assert row.state == ("undecided" if share and share > 0.5 else "yes") and row.by("paper").state == "yes"
    assert row.control is not None and len(row.control.texts) == 3
    assert set(answers.values()) == set(answered)
    score = played.run.score("faithfulness_control", "repaired")
    gain = played.run.score("faithfulness_gain", "repaired")
    assert score is not None and gain is not None
    if share is None:
        assert score.value is None and score.n == 0 and gain.value is None
    else:
        assert score.value == pytest.approx(share) and gain.value == pytest.approx(1 - share)


def test_the_same_seed_makes_the_same_run() -> None:
    def masks(seed: int) -> list[tuple[str, ...]]:
        spec = CheckSpec(items=shipped("sentiment")[:3], model=DECOY, explanations=("redaction",), seed=seed)
        played = play(spec)
        return [row.control.texts for row in played.views.values() if row.control]

    assert masks(1) == masks(1) and len(masks(1)) == 3
    assert masks(1) != masks(100)


def test_what_is_recorded_names_the_calls_that_made_it() -> None:
    played = play(CheckSpec(items=(REVIEW,), model=DECOY, answerable=True))
    answered = {event.call for event in played.events if event.kind == "answered"}
    seen = set()
    for event in played.events:
        if isinstance(event, Recorded):
            seen.add(event.record)
            named = {value for name, value in event.data.items() if "call" in name and isinstance(value, str)}
            assert named | set(event.data.get("calls", ())) <= answered
    assert seen == {
        *("paragraph", "classification", "ability", "selfexplanation", "recheck", "maskcontrol", "consistency"),
        *("begun", "trial", "result"),
    }


def test_a_human_edit_and_a_dataset_reach_the_case(datasets: Path) -> None:
    played = play(
        CheckSpec(dataset="imdb", path=str(datasets / "imdb"), limit=2, explanations=("attribution",), model=HONEST)
    )
    items = [view.item for view in played.views.values()]
    assert len(items) == 2 and all(item is not None and item.reference_edit for item in items)
    started = played.events[0]
    assert started.kind == "started" and started.spec["title"] == "imdb: 2 items, sentiment"


def test_a_dataset_that_is_not_there_stops_the_run_in_words(tmp_path: Path) -> None:
    played = play(CheckSpec(task="entailment", dataset="rte", path=str(tmp_path / "none"), model=HONEST))
    assert played.run.status == "failed"
    assert "there is nothing at" in played.run.failures[0].message and played.run.failures[0].bad_input


# Specifications


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"items": (REVIEW.model_copy(update={"paragraph": " \n"}),)}, "There is no paragraph"),
        ({"items": (REVIEW.model_copy(update={"paragraph": "x" * (LONGEST + 1)}),)}, "20,001 characters"),
        ({"items": (REVIEW.model_copy(update={"label": "great"}),)}, "one of positive, negative"),
        ({"items": (REVIEW, REVIEW)}, "same id"),
        ({"task": "entailment", "items": (REVIEW,)}, "not for entailment"),
        ({"task": "entailment", "items": (Item(id="e", task="entailment", paragraph="p"),)}, "no statement"),
        ({"task": "multi_choice", "items": (Item(id="m", task="multi_choice", paragraph="p"),)}, "no question"),
        (
            {"task": "multi_choice", "items": (Item(id="m", task="multi_choice", paragraph="p", question="q"),)},
            "no choices",
        ),
        ({"dataset": "rte"}, "no items for sentiment"),
        ({"dataset": "imbd"}, "Did you mean imdb"),
        ({"explanations": ()}, "at least 1"),
        ({"controls": 21}, "20"),
        ({"limit": 1_000_001}, "1000000"),
        ({"seed": -1}, "greater than or equal to 0"),
        ({"max_tokens": 15}, "16"),
        ({"items": (REVIEW.model_copy(update={"id": ""}),)}, "no id"),
    ],
)
def test_a_specification_that_cannot_run_says_why(changes: dict[str, object], words: str) -> None:
    with pytest.raises(ValueError, match=words):
        stub_spec(**changes)


def test_wordings_that_make_no_difference_are_checked_once() -> None:
    both = (Wording(), Wording(target="implicit"))
    assert len(wordings_of(stub_spec(wordings=both), "attribution")) == 1
    assert len(wordings_of(stub_spec(wordings=both), "counterfactual")) == 2
    short = stub_spec(wordings=(Wording(short=True, mask_sentence=False),), every_wording=True)
    assert next(iter(wordings_of(short, "redaction"))) == "objective-redacted-short-unmentioned"


TEXT = st.text(min_size=1, max_size=60).filter(str.strip)


@settings(max_examples=25, deadline=None)
@given(TEXT, st.sampled_from([None, "positive", "negative"]), st.lists(TEXT, max_size=4), st.booleans())
def test_any_paragraph_and_any_answer_end_in_a_verdict_or_a_reason(
    paragraph: str, label: str | None, words: list[str], every: bool
) -> None:
    """The model answers anything: the words as a list, as the edited paragraph, or as the class."""

    class Anything:
        id = "any/model"

        async def answer(self, request: Any, on_text: Any) -> Any:
            from core.events import ModelAnswer

            if request.role == "classifier":
                return ModelAnswer(text=words[0] if words else "positive")
            return ModelAnswer(text="\n".join(f"- {word}" for word in words))

    item = Item(id="x", task="sentiment", paragraph=paragraph, label=label)
    spec = CheckSpec(items=(item,), model="any/model", every_wording=every)
    played = play(spec, resolve=lambda id: Anything())
    assert played.run.status == "completed"
    for row in played.views.values():
        assert row.result is not None and row.headline() and all(row.caveats())
        for rules in ("paper", "repaired"):
            counts = (
                row.by(rules).state in ("yes", "no") and not row.by(rules).is_wrong and (label or rules == "repaired")
            )
            assert bool(counts) is (row.by(rules).dropped is None)
            assert bool(counts) is (row.by(rules).outcome in ("faithful", "unfaithful"))
    for rules in ("paper", "repaired"):
        score = played.run.score("faithfulness", rules)
        assert score is not None and score.n <= score.of
        assert score.n == sum(row.by(rules).dropped is None for row in played.views.values())
        hits = sum(row.by(rules).outcome == "faithful" for row in played.views.values())
        assert score.value is None or round(score.value * score.n) == hits


def test_the_cases_are_every_explanation_of_every_item() -> None:
    spec = CheckSpec(model=HONEST, limit=3)
    assert len(items_of(spec)) == 3
    ids = [case.id for case in cases(spec)]
    assert len(set(ids)) == len(ids) == 9
    assert ids[0] == "lighthouse-film/counterfactual/objective-explicit"
