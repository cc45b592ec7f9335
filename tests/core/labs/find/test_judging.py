"""What an interpretation is worth, and what the verdict says."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from core.labs.find.functions.source import by_id, drawn
from core.labs.find.tasks import ProbeSpec
from core.labs.find.verdict import missed, verdict
from core.labs.find.view import ProbeView
from tests.core.labs.find.playing import BOTH, play, stub_catalog, stub_spec
from tests.stub_server import Fault, StubServer


def test_a_random_text_function_is_held_against_itself_and_scores_are_repeated() -> None:
    spec = ProbeSpec(category="strings", seed=6, interpreter="fit")
    first, second = (play(spec)[0] for _ in range(2))
    figures = [{score.metric: score.value for score in one.log.scores} for one in (first, second)]
    assert figures[0] == figures[1]
    ceiling = first.value("exact_match_ceiling")
    assert ceiling is not None and ceiling < 1
    assert "The function draws at random: drawn again, it agrees with itself on" in verdict(first)


def test_a_text_function_may_count() -> None:
    spec = {"category": "strings", "own": "len(x)", "interpreter": "given"}
    view, _ = play(
        ProbeSpec.model_validate({**spec, "given": {"description": "d", "code": "def f(x):\n    return len(x)"}})
    )
    assert view.value("exact_match") == 1 and next(iter(view.predictions.values())).truth.isdigit()


def test_a_description_that_is_not_there_is_not_judged() -> None:
    spec = stub_spec(category="entities", own="", seed=4, rounds=1)
    with StubServer("I like words.") as server:
        view, _ = play(spec, stub_catalog(server))
    assert view.value("unit_test") is None and "no description" in view.reason("unit_test")
    assert "gave no conclusion" in verdict(view)


def test_a_description_that_paper_rules_read_otherwise_is_judged_apart() -> None:
    """Without a space after the tag, paper rules keep the whole message."""
    spec = {"category": "entities", "own": "", "seed": 1, "evaluator": "stub/stub-model", "interpreter": "milan"}
    for text, apart in (("I think.\n[DESCRIPTION]:about fish", 10), ("[DESCRIPTION]: about fish", 0)):
        with StubServer(lambda body, text=text: text if "calls were made" in str(body) else "[ANSWER]: 1") as server:
            view, _ = play(stub_spec(**spec), stub_catalog(server))
            judged = [str(seen.body) for seen in server.seen if "I think." in str(seen.body)]
        assert len(judged) == apart
        assert [test.about for test in view.units.values()].count("paper") == apart
        score = view.score("unit_test", "paper")
        assert score is not None and score.n == 10


def test_an_evaluator_that_fails_drops_its_tests_and_the_rest_counts() -> None:
    def reply(body: dict[str, Any]) -> str:
        if "Which one" in body["messages"][-1]["content"]:
            return "[ANSWER]: 1"
        return "[DESCRIPTION]: birds"

    spec = stub_spec(category="entities", own="", seed=4, evaluator="stub/stub-model")
    with StubServer(reply, faults={3: Fault("filtered"), 7: Fault("empty")}) as server:
        view, _ = play(spec, stub_catalog(server, retries=0))
    assert view.log.status == "completed"
    scores = [view.score(metric, "repaired") for metric in ("unit_test", "unit_test_ceiling")]
    assert sum(score.n for score in scores if score) == 18 and all(score and score.of == 10 for score in scores)
    assert sum(drop.reason == "error" for drop in view.log.drops) == 2


def test_typed_pairs_are_their_own_test() -> None:
    pairs = "\n".join(f"{x} -> {x * x}" for x in range(-3, 4))
    good = {"description": "x squared", "domain": "", "code": "def f(x):\n    return x * x"}
    view, _ = play(ProbeSpec.model_validate({"own": pairs, "own_kind": "pairs", "interpreter": "given", "given": good}))
    score = view.score("nmse", "repaired")
    assert score is not None and (score.value, score.n, score.of) == (0, 7, 7)


def given(own: str, formula: str) -> ProbeView:
    """The run on a function of one's own whose interpreter concluded with `formula`."""
    said = {"description": "It is told in code.", "code": f"def f(x):\n    return {formula}"}
    return play(ProbeSpec.model_validate({"own": own, "interpreter": "given", "given": said}))[0]


NOWHERE = "def f(x):\n    if abs(x) > 99 and x == int(x):\n        return 1.0\n    raise ValueError('no')"


@pytest.mark.parametrize("own", [NOWHERE, "def f(x):\n    return 'a'"])
def test_what_cannot_be_scored_is_undefined_with_its_reason(own: str) -> None:
    view = given(own, "x")
    assert view.log.status == "completed"
    assert view.value("nmse") is None and "at none of the points" in view.reason("nmse")
    assert view.value("nmse_success") is None and view.value("noise_floor") is None
    assert view.value("nmse_success", "paper") == 0, "its authors count whatever they cannot compute as a failure"
    assert all("cannot be scored" in verdict(view, rules) for rules in BOTH)


def test_an_error_without_bounds_is_distinguished_from_code_that_cannot_be_run() -> None:
    assert verdict(given("2*x", "1e300 * x")).endswith("the code's error is too large to be computed.")
    assert "found the function" in verdict(given("10**300*x", "1e300 * x"))


def test_points_where_the_function_gives_a_text_are_not_scored() -> None:
    view = given("def f(x):\n    return x if x > 0 else 'neg'", "abs(x)")
    score = view.score("nmse", "repaired")
    assert score is not None and (score.value, score.n, score.of) == (0, 128, 256)
    assert "found the function" in verdict(view)


def test_zero_everywhere_is_right_or_wrong_by_repaired_rules_and_failed_by_the_papers() -> None:
    right, wrong = given("0*x", "0"), given("0*x", "x")
    assert (right.value("nmse"), right.value("nmse_success"), right.value("noise_floor")) == (0, 1, 0)
    assert wrong.value("nmse") is None and "zero at every point" in wrong.reason("nmse")
    assert wrong.value("nmse_success") == 0
    assert "found the function" in verdict(right) and "It did not find the function: it is zero" in verdict(wrong)
    for view in (right, wrong):
        assert view.value("nmse", "paper") is None and view.value("nmse_success", "paper") == 0
        assert "cannot be scored" in verdict(view, "paper")


@pytest.mark.parametrize("formula", ["x ** 0.5", "math.sqrt(x)", "math.sqrt(x) if x >= 0 else 77", "abs(x) ** 0.5"])
def test_a_root_is_won_where_it_is_real(formula: str) -> None:
    view = given("x^0.5", formula)
    assert view.value("nmse") == pytest.approx(0, abs=1e-12) and view.value("nmse_success") == 1
    assert view.value("noise_floor") == 0
    assert verdict(view) == "It found the function: the code gives its values on all 128 test points where it has any."
    assert not any("Farthest" in line for line in missed(view))
    assert view.estimate is not None and not view.estimate.trouble_repaired, "what fails where nothing is asked for"


def test_code_without_a_number_on_some_points_is_distinguished_from_code_that_cannot_be_run() -> None:
    view = given("2*x", "2 * x if x > 0 else None")
    assert view.value("nmse_success") == 0
    assert verdict(view) == "It did not find the function: the code gives no number on 128 of 256 test points."
    assert not any("Farthest" in line for line in missed(view))


def test_a_published_root_can_be_won(find_dir: Path) -> None:
    spec = {"function": "f00274", "find_dir": str(find_dir)}
    function = by_id("numeric", "f00274", find_dir)
    scale, bias = (function.atoms[0].parameters[name] for name in ("scale", "bias"))
    code = f"def f(x):\n    return {scale} * x ** (1 / 2) + {bias}"
    right, _ = play(ProbeSpec.model_validate({**spec, "interpreter": "given", "given": {"code": code}}))
    fitted, _ = play(ProbeSpec.model_validate({**spec, "interpreter": "fit"}))
    assert right.value("nmse", "paper") == pytest.approx(0, abs=1e-9), "complex numbers count there"
    for view in (right, fitted):
        assert view.value("nmse") == pytest.approx(0, abs=1e-9) and view.value("nmse_success") == 1
        assert view.value("noise_floor") == view.value("noise_floor", "paper") == 0


def test_the_parts_of_a_formula_that_a_network_missed_are_not_asked_for() -> None:
    networks = [(seed, f) for seed in range(120) if (f := drawn("numeric", seed, "hard", "repaired")).mlp is not None]
    for differs, seed in (
        (differs, next(seed for seed, f in networks if f.differs == differs)) for differs in (True, False)
    ):
        said = {"description": "A sine wave.", "code": "def f(x):\n    return 0"}
        spec = {"seed": seed, "difficulty": "hard", "interpreter": "given", "given": said}
        view, _ = play(ProbeSpec.model_validate(spec))
        for rules in BOTH:
            assert (view.value("components_identified", rules) is None) == differs
            assert ("too far from the formula" in view.reason("components_identified", rules)) == differs
        assert any("part" in line and "Names" in line for line in missed(view)) != differs


def test_noise_that_nobody_can_beat_is_said(find_dir: Path) -> None:
    noisy = by_id("numeric", "f00300", find_dir)
    assert noisy.noise is not None and noisy.kind == "gaussian"
    given = {"code": "def f(x):\n    return 0.0"}
    spec = {"function": noisy.id, "find_dir": str(find_dir), "interpreter": "given", "given": given}
    view, _ = play(ProbeSpec.model_validate(spec))
    floor = view.value("noise_floor")
    assert floor is not None and floor > 0.1
    assert "Nobody could have" in verdict(view)


def test_corruption_that_was_never_looked_at_is_said() -> None:
    view, _ = play(ProbeSpec(seed=1753, difficulty="medium", model="control/straight"))
    assert any("Never probed between 57.9" in sentence for sentence in missed(view))
    assert view.value("interval_iou") == 0
    claimed = {"domain": "Corrupted between 57.9 and 75.757.", "description": "linear"}
    spec = {"seed": 1753, "difficulty": "medium", "interpreter": "given", "given": claimed}
    view, _ = play(ProbeSpec.model_validate(spec))
    assert view.value("interval_iou") == pytest.approx(1, abs=1e-4)
