"""The whole lab, with controls whose scores are known, with published functions, and with the real local model."""

import json
from pathlib import Path

import pytest

from core.labs.probe.functions.source import generate
from core.labs.probe.lab import LAB
from core.labs.probe.tasks import ProbeSpec
from core.labs.probe.verdict import list_remarks
from core.models import local
from core.transcript import transcript
from tests.core.labs.probe.playing import BOTH, failures, play


@pytest.mark.parametrize("formula", ["3*x - 4", "-0.5*x", "x/7 + 12"])
def test_the_straight_control_solves_lines(formula: str) -> None:
    view, _ = play(ProbeSpec(own=formula, model="control/straight"))
    assert view.log.status == "completed"
    for rules in BOTH:
        assert view.by(rules).value("nmse") == pytest.approx(0, abs=1e-9)
        assert view.by(rules).value("nmse_success") == 1
        assert view.by(rules).value("noise_floor") == 0
        assert view.by(rules).value("evidence_supported") == 1
    assert "found the function" in view.judgement.sentence
    assert list_remarks(view) == []


def test_the_inventors_error_is_what_its_claim_makes_it() -> None:
    view, events = play(ProbeSpec(own="2*x", model="control/inventor"))
    xs = [k + 0.5 for k in range(-128, 128)]
    expected = sum((2 * x - (3 * x + 7)) ** 2 for x in xs) / sum((2 * x) ** 2 for x in xs)
    for rules in BOTH:
        assert view.by(rules).value("nmse") == pytest.approx(expected)
        assert view.by(rules).value("nmse_success") == 0
        assert view.by(rules).value("evidence_supported") == 0
    assert view.invented() == [1]
    assert view.audit is not None
    assert view.audit.contradicted == (("1", "10"),) and view.audit.unseen == (("2", "13"),)
    second = [event for event in events if event.kind == "asked"][1]
    assert "(1, 2)" in second.messages[-1].content, "it reads the real output"
    assert "did not come from the function" in second.messages[-1].content


@pytest.mark.parametrize("own", ["def f(x):\n    return x[::-1]", "def f(x):\n    return x.upper() + 'Q'"])
def test_the_straight_control_solves_short_texts(own: str) -> None:
    view, _ = play(ProbeSpec(category="strings", own=own, model="control/straight"))
    for rules in BOTH:
        assert view.by(rules).value("exact_match") == 1
    assert view.value("held_out_match") == 1
    assert view.value("unit_test") is None and "evaluator" in view.reason("unit_test")


@pytest.mark.parametrize(
    ("code", "words"),
    [
        ("def f(x):\n    return x", "returning every text unchanged is right on"),
        ("def f(x):\n    return x.upper() if len(x) % 2 else x", "It found part of it: the code is right on"),
    ],
)
def test_doing_nothing_is_the_control_of_texts(code: str, words: str) -> None:
    """Leaving all texts unchanged does not recover a function that leaves most of them unchanged."""
    own = "def f(x):\n    return x.upper() if len(x) % 2 else x + '!' if 'o' in x else x"
    spec = {"category": "strings", "own": own, "interpreter": "given", "given": {"description": "d", "code": code}}
    view, _ = play(ProbeSpec.model_validate(spec))
    sentence = view.judgement.sentence
    assert words in sentence and "unchanged" in sentence


@pytest.mark.parametrize("difficulty", ["easy", "hard"])
@pytest.mark.parametrize("category", ["entities", "relations"])
def test_the_straight_control_solves_what_our_tables_hold(category: str, difficulty: str) -> None:
    spec = {"category": category, "difficulty": difficulty, "seed": 6, "model": "control/straight"}
    view, _ = play(ProbeSpec.model_validate({**spec, "evaluator": "control/straight"}))
    for rules in BOTH:
        assert view.by(rules).value("unit_test") == 1
        assert view.by(rules).value("unit_test_ceiling") == 1
    assert view.truth is not None and view.interpretation is not None
    both = (view.truth.description, view.interpretation.description.repaired)
    assert len({frozenset(text.replace(",", "").split()) for text in both}) == 1, "the two subjects in any order"


def test_an_embedding_judges_where_no_model_does() -> None:
    spec = ProbeSpec(category="entities", seed=1, difficulty="easy", model="control/straight")
    view, events = play(spec)
    ceiling = view.value("unit_test_ceiling")
    assert ceiling is not None and ceiling > 0.6
    assert view.by("paper").value("unit_test") == view.by("paper").value("unit_test_ceiling"), (
        "its description is the true one"
    )
    # Repaired rules show the domain too, which tells nothing here.
    assert "as much as the true description" in view.judgement.sentence and view.outcome == "found"
    assert {event.role for event in events if event.kind == "asked"} == {"interpreter"}


def test_truth_is_recorded_last() -> None:
    """Only what the engine derives from it comes after it."""
    for spec in (ProbeSpec(own="2*x", model="control/straight"), ProbeSpec(seed=3, interpreter="fit")):
        _, events = play(spec)
        findings = [event for event in events if event.kind in ("recorded", "scored", "dropped")]
        truth = next(place for place, event in enumerate(findings) if getattr(event, "record", "") == "truth")
        after = [event for event in findings[truth + 1 :] if event.kind == "recorded"]
        assert {event.record for event in after} == {"trial", "result"}
        assert all(not event.case for event in findings[truth + 1 :] if event.kind == "scored")
        formula = generate("numeric", 3, None, "repaired").describe()
        assert all(formula not in event.model_dump_json() for event in findings[:truth])


def test_a_damaged_journal_is_read_as_far_as_it_goes() -> None:
    view, events = play(ProbeSpec(own="2*x", model="control/straight"))
    broken = [
        event.model_copy(update={"data": {"number": "?"}}) if event.kind == "recorded" and k % 3 == 0 else event
        for k, event in enumerate(events)
    ]
    state = transcript(broken)
    damaged = LAB.view(state.case(state.only))
    assert damaged.unread and len(damaged.probes) < len(view.probes)
    damaged.judgement.sentence, list_remarks(damaged)


@pytest.mark.parametrize(
    ("category", "id"), [("numeric", "f00700"), ("strings", "f00003"), ("entities", "f00010"), ("relations", "f00007")]
)
def test_published_functions_by_id(find_dir: Path, category: str, id: str) -> None:
    spec = {"category": category, "function": id, "find_dir": str(find_dir), "model": "control/straight"}
    view, _ = play(ProbeSpec.model_validate({**spec, "evaluator": "control/straight"}))
    assert view.log.status == "completed" and view.truth is not None and view.truth.id == id
    if category != "numeric":
        score = view.score("unit_test")
        assert score is not None and score.of == 10
    if category == "strings":
        tests = json.loads((find_dir / "strings" / "unit_test_data.json").read_text(encoding="utf-8"))
        texts = next(entry for entry in tests if entry["name"] == id)
        recorded_input = texts["test_vec"][0][0][texts["correct_inx"][0] - 1]
        assert next(iter(view.predictions.values())).input == recorded_input


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"function": "f00001"}, "name the folder"),
        ({"function": "f00001", "find_dir": "/nowhere"}, "missing"),
        ({"function": "strings-3"}, "not of numeric"),
        ({"own": "1 +"}, "gives no value"),
        ({"own": "no pair", "own_kind": "pairs"}, "Line 1 is not a pair"),
    ],
)
def test_a_function_that_cannot_be_had_says_why(changes: dict[str, object], words: str) -> None:
    view, events = play(ProbeSpec.model_validate({"model": "control/straight", **changes}))
    assert view.log.status == "failed" and view.outcome == "failed"
    assert next(event for event in events if event.kind == "failed").bad_input
    assert words in failures(events)[0]


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"model": ""}, "Choose the model"),
        ({"interpreter": "fit", "category": "entities"}, "numeric and strings"),
        ({"interpreter": "given"}, "no description"),
        ({"category": "entities", "backbone": "model"}, "needs a model"),
        ({"category": "entities", "difficulty": "medium"}, "easy or hard"),
        ({"seed": -1}, "greater than or equal"),
    ],
)
def test_a_specification_that_cannot_run_says_why(changes: dict[str, object], words: str) -> None:
    with pytest.raises(ValueError, match=words):
        ProbeSpec.model_validate({"model": "m", **changes})


@pytest.mark.thorough
@pytest.mark.local_model
def test_the_real_local_model_ends_properly_however_badly_it_plays() -> None:
    # It rambles to the limit, whatever that is.
    try:
        spec = ProbeSpec(seed=1, difficulty="easy", model="local/smollm2-135m", rounds=1, probes=40, tokens=24)
        view, _ = play(spec)
        assert view.log.status == "completed"
        assert view.truth is not None and view.interpretation is not None
        assert 1 <= len(view.exchanges) <= spec.rounds + 3
        assert all(score.value is not None or score.detail for score in view.log.scores)
        assert view.judgement.sentence
    finally:
        local.stop_all()
