"""The baselines, and a person who interprets by hand."""

import pytest

from core.labs.probe.lab import LAB
from core.labs.probe.records import Submission, Wish
from core.labs.probe.tasks import ProbeSpec
from core.runs.engine import UserInput
from tests.core.labs.probe.playing import play


def test_fit_goes_through_the_run() -> None:
    view, events = play(ProbeSpec(own="7*abs(x) - 3", interpreter="fit", probes=500))
    assert view.value("nmse_success") == 1 and 50 < len(view.probes) <= 500
    assert not any(event.kind == "asked" for event in events)
    view, _ = play(ProbeSpec(category="strings", function="strings-5", interpreter="fit"))
    assert view.value("exact_match") == 1


def test_fit_asks_for_typed_inputs_and_nothing_else() -> None:
    numbers = {"own": "1 -> 3\n2.0 -> 5\n4 -> 9\n-7 -> -13\n10 -> 21", "own_kind": "pairs", "interpreter": "fit"}
    view, _ = play(ProbeSpec.model_validate(numbers))
    assert view.value("nmse_success") == 1
    assert {probe.input for probe in view.probes} == {"-7.0", "1.0", "2.0", "4.0", "10.0"}
    texts = {**numbers, "category": "strings", "own": "cat -> CAT\nSome dog -> SOME DOG\nB2 -> B2"}
    view, _ = play(ProbeSpec.model_validate(texts))
    assert view.value("exact_match") == 1 and view.interpretation is not None
    assert view.interpretation.description.repaired.startswith("Seen for 3 texts only")


@pytest.mark.parametrize(("outputs", "words"), [(("yes", "no"), "It found nothing"), (("1", "0"), "chess")])
def test_nearest_on_typed_pairs(outputs: tuple[str, str], words: str) -> None:
    own = "\n".join(f"{word} -> {outputs[0]}" for word in ("rook", "checkmate", "bishop", "knight", "pawn"))
    own += f"\nbanana -> {outputs[1]}\nguitar -> {outputs[1]}"
    spec = {"category": "entities", "own": own, "own_kind": "pairs", "interpreter": "nearest"}
    view, _ = play(ProbeSpec.model_validate(spec))
    assert view.interpretation is not None and words in view.interpretation.description.repaired


def test_nearest_goes_through_the_run() -> None:
    view, _ = play(ProbeSpec(category="entities", seed=5, difficulty="easy", interpreter="nearest"))
    assert view.truth is not None and view.interpretation is not None
    assert view.interpretation.description.repaired == view.truth.description
    assert view.value("unit_test") == view.value("unit_test_ceiling")


def wish(*inputs: str) -> UserInput:
    return UserInput("own", Wish(inputs=inputs), "wish-{n}")


def test_the_reader_probes_by_hand_and_is_scored_alike() -> None:
    spec = ProbeSpec(own="3*x + 1", interpreter="you")
    view, events = play(spec)
    assert view.log.status == "completed" and view.truth is None and view.log.scores == []
    assert view.outcome == "waiting" and not view.trials
    view, events = play(spec, history=events, additions=[wish("0", "1", "dog")])
    assert [probe.output for probe in view.probes][:2] == ["1", "4"] and view.probes[2].problem
    assert view.truth is None, "it stays hidden until the reader concludes"
    submission = Submission(description="a line", code="def f(x):\n    return 3 * x + 1")
    concluded = [wish("2"), UserInput("own", submission, "submission")]
    view, events = play(spec, history=events, additions=concluded)
    [recorded] = view.log.of_type("submission").values()
    assert list(view.wishes) == ["wish-01", "wish-02"] and Submission.model_validate(recorded) == submission
    assert [probe.round for probe in view.probes] == [1, 1, 1, 2]
    assert view.value("nmse_success") == 1 and view.truth is not None
    assert view.judgement.sentence.startswith("You found") and view.outcome == "found"
    assert LAB.is_input(next(event for event in events if event.kind == "recorded" and event.record == "wish"))


def test_a_reader_may_conclude_anew() -> None:
    spec = ProbeSpec(own="3*x + 1", interpreter="you")

    def concluding(formula: str) -> list[UserInput]:
        return [UserInput("own", Submission(description="d", code=f"def f(x):\n    return {formula}"), "submission")]

    first, events = play(spec, additions=concluding("x"))
    second, _ = play(spec, history=events, additions=concluding("3 * x + 1"))
    assert (first.outcome, second.outcome) == ("missed", "found")
    assert [figure.score.value for figure in LAB.scores([second]) if figure.metric == "nmse_success"] == [1.0, 1.0]


def test_the_readers_budget_holds() -> None:
    spec = ProbeSpec(own="3*x + 1", interpreter="you", probes=2)
    assert len(play(spec, additions=[wish("0", "1", "2")])[0].probes) == 2
