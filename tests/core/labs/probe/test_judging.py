"""The score of an interpretation, and what the verdict says."""

from pathlib import Path
from typing import Any

import pytest

from core.labs.probe.functions.source import by_id, generate, load
from core.labs.probe.report import ProbeReport
from core.labs.probe.tasks import ProbeSpec
from core.labs.probe.units import shown, triplets
from core.labs.probe.verdict import list_remarks, of_words
from core.labs.probe.view import scores
from core.sandbox.rewriting import NOT_RUNNABLE
from core.statistics.intervals import wilson
from tests.core.labs.probe.playing import BOTH, CONCLUSION, failures, play, scripted, stub_catalog, stub_spec
from tests.support.stub_server import Fault, StubServer


@pytest.mark.thorough
def test_a_random_text_function_is_held_against_itself_and_scores_are_repeated() -> None:
    spec = ProbeSpec(category="strings", seed=6, interpreter="fit")
    first, second = (play(spec)[0] for _ in range(2))
    figures = [{score.metric: score.value for score in one.log.scores} for one in (first, second)]
    assert figures[0] == figures[1]
    ceiling = first.value("exact_match_ceiling")
    assert ceiling is not None and ceiling < 1
    assert "The function is random: run again, it agrees with itself on" in first.judgement.sentence


def test_a_text_function_may_count() -> None:
    spec = {"category": "strings", "own": "len(x)", "interpreter": "given"}
    view, _ = play(
        ProbeSpec.model_validate({**spec, "given": {"description": "d", "code": "def f(x):\n    return len(x)"}})
    )
    assert view.value("exact_match") == 1 and next(iter(view.predictions.values())).truth.isdigit()


def test_a_domain_names_no_part_of_a_text_function() -> None:
    part = "keeps only the upper-case letters"  # what the function of this seed does
    spec = {"category": "strings", "difficulty": "easy", "seed": 7, "interpreter": "given"}
    for said, named in (
        ({"description": "It does something.", "domain": f"any text; it {part}"}, 0),
        ({"description": part}, 1),
    ):
        view, _ = play(ProbeSpec.model_validate({**spec, "given": said}))
        assert view.truth is not None and part in view.truth.description
        assert view.value("components_identified") == named


def test_a_description_that_is_not_there_is_not_judged() -> None:
    spec = stub_spec(category="entities", own="", seed=4, rounds=1)
    with StubServer("I like words.") as server:
        view, _ = play(spec, stub_catalog(server))
    assert view.value("unit_test") is None and "no description" in view.reason("unit_test")
    assert "gave no conclusion" in view.judgement.sentence


SPECS = [
    {"own": "2*x"},
    {"own": "", "seed": 4, "difficulty": "medium"},
    {"own": "", "seed": 1753, "difficulty": "medium"},
    {"own": "", "category": "strings", "seed": 3},
    {"own": "", "category": "entities", "seed": 4},
    {"own": "", "category": "relations", "seed": 4, "difficulty": "hard"},
]


@pytest.mark.parametrize("fields", SPECS)
def test_where_nothing_was_concluded_nothing_is_scored(fields: dict[str, object]) -> None:
    """No zero, and no failure of code that does not exist."""
    with StubServer("I like functions.") as server:
        view, _ = play(stub_spec(**fields, rounds=1), stub_catalog(server))
    assert view.outcome == "not answered" and of_words(view) == ""
    of_the_function = {"noise_floor", "coverage", "exact_match_ceiling", "exact_match_unchanged"}
    scored = {one.metric: one.value for one in view.log.scores if one.rules == "repaired"}
    assert {metric for metric, value in scored.items() if value is not None} <= of_the_function
    assert list_remarks(view) == ["Never called the function at all."]
    assert not any(drop.reason == "code cannot be run" for drop in view.log.drops)
    assert not any(trial.repaired.counts for trial in view.trials.values())


def test_to_the_papers_evaluation_nothing_is_a_failure() -> None:
    with StubServer("I like functions.") as server:
        view, _ = play(stub_spec(rounds=1), stub_catalog(server))
    assert view.by("paper").value("nmse_success") == 0 and view.value("nmse_success") is None


def test_a_description_that_paper_rules_read_otherwise_is_judged_apart() -> None:
    """Without a space after the tag, paper rules keep the whole message."""
    spec = {"category": "entities", "own": "", "seed": 1, "evaluator": "stub/stub-model", "interpreter": "milan"}
    for text, apart in (("I think.\n[DESCRIPTION]:about fish", 20), ("[DESCRIPTION]: about fish", 0)):
        with StubServer(lambda body, text=text: text if "calls were made" in str(body) else "[ANSWER]: 1") as server:
            view, _ = play(stub_spec(**spec), stub_catalog(server))
            judged = [str(seen.body) for seen in server.seen if "I think." in str(seen.body)]
        assert len(judged) == apart
        assert [test.about for test in view.units.values()].count("paper") == apart
        score = view.by("paper").score("unit_test")
        assert score is not None and score.n == 20


def test_paper_rules_show_the_evaluator_no_domain_and_no_code() -> None:
    """Of what a model concludes as of what was made elsewhere: repaired rules show the domain too."""
    text = "[DESCRIPTION]: about fish\n[DOMAIN]: words of one syllable\n[CODE]: swims(x)"
    given = {"description": "about fish\n[CODE]:\nswims(x)", "domain": "words of one syllable"}
    for how in ({"interpreter": "milan"}, {"interpreter": "given", "given": given, "model": ""}):
        spec = stub_spec(category="entities", own="", seed=1, evaluator="stub/stub-model", **how)
        with StubServer(lambda body: text if "calls were made" in str(body) else "[ANSWER]: 1") as server:
            view, _ = play(spec, stub_catalog(server))
            asked = [seen.body["messages"][-1]["content"] for seen in server.seen]
        judged = [one for one in asked if "Which one" in one and "about fish" in one]
        apart = [one for one in judged if "one syllable" not in one]
        assert len(apart) == 20 and len(judged) == 40
        assert not any("swims" in one for one in apart)
        assert [test.about for test in view.units.values()].count("paper") == 20


def test_an_evaluator_that_fails_drops_its_tests_and_the_rest_counts() -> None:
    def reply(body: dict[str, Any]) -> str:
        if "Which one" in body["messages"][-1]["content"]:
            return "[ANSWER]: 1"
        return "[DESCRIPTION]: birds"

    spec = stub_spec(category="entities", own="", seed=4, evaluator="stub/stub-model")
    with StubServer(reply, faults={3: Fault("filtered"), 7: Fault("empty")}) as server:
        view, _ = play(spec, stub_catalog(server, retries=0))
    assert view.log.status == "completed"
    scores = [view.score(metric) for metric in ("unit_test", "unit_test_ceiling")]
    assert sum(score.n for score in scores if score) == 38 and all(score and score.of == 20 for score in scores)
    assert sum(drop.reason == "error" for drop in view.log.drops) == 2


@pytest.mark.sampled(3)
@pytest.mark.parametrize(
    ("right", "true", "of", "outcome", "words"),
    [
        (80, 80, 80, "found", "tells as much as the true description, to within 10%"),
        (79, 79, 80, "found", "tells as much as the true description, to within 10%"),
        (72, 80, 80, "close", "not shown to tell as much as the true description"),
        (20, 20, 20, "close", "not shown to tell as much as the true description"),
        (13, 16, 20, "close", "not shown to tell as much as the true description"),
        (15, 20, 20, "close", "more than guessing"),
        (10, 20, 20, "missed", "not distinguishable from guessing"),
        (7, 20, 20, "missed", "not distinguishable from guessing"),
        (0, 20, 20, "missed", "worse than guessing"),
    ],
)
def test_what_guessing_may_come_to_says_nothing(right: int, true: int, of: int, outcome: str, words: str) -> None:
    """The evaluator is right `right` times about the description, and `true` times about the truth."""
    more = {"triplets": of, "evaluator": "stub/stub-model", "interpreter": "milan"}
    spec = stub_spec(category="entities", own="", seed=4, **more)
    function = load(spec)
    correct = {shown(one): one.correct + 1 for one in triplets(spec, function)}
    places = {one: place for place, one in enumerate(correct)}

    def reply(body: dict[str, Any]) -> str:
        text = body["messages"][-1]["content"]
        if "Which one" not in text:
            return "[DESCRIPTION]: ships"
        options = next(one for one in correct if all(f"{option}\n" in f"{text}\n" for option in one))
        # The same tests are lost by both, so those that differ are as few as can be.
        limit = right if "ships" in text else true
        return f"[ANSWER]: {correct[options] if places[options] < limit else correct[options] % 3 + 1}"

    with StubServer(reply) as server:
        view, _ = play(spec, stub_catalog(server))
    score = view.score("unit_test")
    assert score is not None and (score.n, score.value) == (of, right / of)
    assert (score.low, score.high) == pytest.approx(wilson(right / of, 20))
    assert view.outcome == outcome and words in view.judgement.sentence


def test_where_the_truth_may_be_guessed_too_the_evaluator_cannot_tell() -> None:
    spec = stub_spec(category="entities", own="", seed=4, evaluator="stub/stub-model", interpreter="milan")

    def reply(body: dict[str, Any]) -> str:
        return "[ANSWER]: 1" if "Which one" in body["messages"][-1]["content"] else "[DESCRIPTION]: ships"

    with StubServer(reply) as server:
        view, _ = play(spec, stub_catalog(server))
    assert view.outcome == "not tested" and "this evaluator cannot tell" in view.judgement.sentence


def test_an_evaluator_that_never_answers_fails_the_run() -> None:
    spec = stub_spec(category="entities", own="", seed=4, evaluator="stub/stub-model", interpreter="milan")
    faults = {number: Fault("filtered") for number in range(2, 100)}
    with StubServer("[DESCRIPTION]: birds", faults=faults) as server:
        view, events = play(spec, stub_catalog(server, retries=0))
    assert view.log.status == "failed" and view.outcome == "failed"
    assert failures(events)[0].startswith("Every call of the evaluator failed: ")


def test_paper_rules_keep_ten_unit_tests() -> None:
    fields = {"category": "relations", "seed": 4, "interpreter": "you"}
    for more, number in (({}, 80), ({"evaluator": "a/b"}, 20), ({"rules": "paper"}, 10), ({"triplets": 5}, 5)):
        spec = ProbeSpec.model_validate({**fields, **more})
        assert len(triplets(spec, load(spec))) == spec.unit_tests == number


def test_what_doing_nothing_gets_stands_beside_the_score() -> None:
    own = "def f(x):\n    return x + '!' if x == 'Oslo' or len(x) > 12 else x"
    said = {"description": "d", "code": "def f(x):\n    return x"}
    spec = {"category": "strings", "own": own, "interpreter": "given", "given": said}
    view, _ = play(ProbeSpec.model_validate(spec))
    tests = [one for one in view.predictions.values() if one.kind == "test"]
    left = sum(one.input == one.truth for one in tests)
    assert left <= 5 and view.value("exact_match_unchanged") == view.value("exact_match") == left / 10
    score = view.score("exact_match")
    assert score is not None and (score.low, score.high) == pytest.approx(wilson(left / 10, 10))
    assert f"returning every text unchanged is right on {left}" in view.judgement.sentence
    identity = {**spec, "own": "x"}
    assert "so they show nothing" in play(ProbeSpec.model_validate(identity))[0].judgement.sentence


def test_typed_pairs_are_their_own_test() -> None:
    pairs = "\n".join(f"{x} -> {x * x}" for x in range(-3, 4))
    good = {"description": "x squared", "domain": "", "code": "def f(x):\n    return x * x"}
    view, _ = play(ProbeSpec.model_validate({"own": pairs, "own_kind": "pairs", "interpreter": "given", "given": good}))
    score = view.score("nmse")
    assert score is not None and (score.value, score.n, score.of) == (0, 7, 7)


def given(own: str, formula: str) -> ProbeReport:
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
    assert view.by("paper").value("nmse_success") == 0, "its authors count whatever they cannot compute as a failure"
    assert all("cannot be scored" in view.by(rules).judgement.sentence for rules in BOTH)


def test_an_error_without_bounds_is_distinguished_from_code_that_cannot_be_run() -> None:
    assert given("2*x", "1e300 * x").judgement.sentence.endswith("the code's error is too large to be computed.")
    assert "found the function" in given("10**300*x", "1e300 * x").judgement.sentence


def test_points_where_the_function_gives_a_text_are_not_scored() -> None:
    view = given("def f(x):\n    return x if x > 0 else 'neg'", "abs(x)")
    score = view.score("nmse")
    assert score is not None and (score.value, score.n, score.of) == (0, 128, 256)
    assert "found the function" in view.judgement.sentence


def test_zero_everywhere_is_right_or_wrong_by_repaired_rules_and_failed_by_the_papers() -> None:
    right, wrong = given("0*x", "0"), given("0*x", "x")
    assert (right.value("nmse"), right.value("nmse_success"), right.value("noise_floor")) == (0, 1, 0)
    assert wrong.value("nmse") is None and "zero at every point" in wrong.reason("nmse")
    assert wrong.value("nmse_success") == 0
    assert (
        "found the function" in right.judgement.sentence
        and "It did not find the function: it is zero" in wrong.judgement.sentence
    )
    for view in (right, wrong):
        assert view.by("paper").value("nmse") is None and view.by("paper").value("nmse_success") == 0
        assert "cannot be scored" in view.by("paper").judgement.sentence


@pytest.mark.parametrize("formula", ["x ** 0.5", "math.sqrt(x)", "math.sqrt(x) if x >= 0 else 77", "abs(x) ** 0.5"])
def test_a_root_is_won_where_it_is_real(formula: str) -> None:
    view = given("x^0.5", formula)
    assert view.value("nmse") == pytest.approx(0, abs=1e-12) and view.value("nmse_success") == 1
    assert view.value("noise_floor") == 0
    assert view.judgement.sentence == (
        "It found the function: the code gives its value at all 128 test points where it has any, to within 0.001% of "
        "its value, or 0.0001 near zero."
    )
    assert not any("Farthest" in line for line in list_remarks(view))
    assert view.estimate is not None and not view.estimate.trouble.repaired, "what fails where nothing is asked for"


def test_where_a_function_has_no_values_nobody_needs_to_look() -> None:
    said = stub_spec(own="x^0.5", rounds=4)
    wrong = CONCLUSION.replace("2 * x", "3 * abs(x)")
    for inputs, where in (("1 50 100", None), ("1 2", "Never looked between 2 and 128.")):
        with StubServer(scripted(f"PYTHON(function.py {inputs})", wrong)) as server:
            view, _ = play(said, stub_catalog(server))
        assert [line for line in list_remarks(view) if "Never looked" in line] == ([where] if where else [])


@pytest.mark.parametrize(
    ("formula", "words"),
    [
        ("34 * x", "the code's error is 16 times the function's size."),
        ("2.01 * x", "the code's error is 0.5% of the function's size"),
        ("2.0001 * x", "the code's error is less than 0.1% of the function's size"),
        ("3 * x", "the code's error is 50% of the function's size."),
    ],
)
def test_sizes_of_errors_in_words(formula: str, words: str) -> None:
    assert words in given("2*x", formula).judgement.sentence


def test_code_without_a_number_on_some_points_is_distinguished_from_code_that_cannot_be_run() -> None:
    view = given("2*x", "2 * x if x > 0 else None")
    assert view.value("nmse_success") == 0
    assert (
        view.judgement.sentence == "It did not find the function: the code gives no number on 128 of 256 test points."
    )
    assert not any("Farthest" in line for line in list_remarks(view))


def test_a_published_root_can_be_won(find_dir: Path) -> None:
    spec = {"function": "f00274", "find_dir": str(find_dir)}
    function = by_id("numeric", "f00274", find_dir)
    scale, bias = (function.atoms[0].parameters[name] for name in ("scale", "bias"))  # type: ignore[attr-defined]
    code = f"def f(x):\n    return {scale} * x ** (1 / 2) + {bias}"
    right, _ = play(ProbeSpec.model_validate({**spec, "interpreter": "given", "given": {"code": code}}))
    fitted, _ = play(ProbeSpec.model_validate({**spec, "interpreter": "fit"}))
    assert right.by("paper").value("nmse") == pytest.approx(0, abs=1e-9), "complex numbers count there"
    for view in (right, fitted):
        assert view.value("nmse") == pytest.approx(0, abs=1e-9) and view.value("nmse_success") == 1
        assert view.value("noise_floor") == view.by("paper").value("noise_floor") == 0


def test_the_parts_of_a_formula_that_a_network_missed_are_not_asked_for() -> None:
    networks = [
        (seed, f)
        for seed in range(120)
        if (f := generate("numeric", seed, "hard", "repaired")).mlp is not None  # type: ignore[attr-defined]
    ]
    for differs, seed in (
        (differs, next(seed for seed, f in networks if f.differs == differs))  # type: ignore[attr-defined]
        for differs in (True, False)
    ):
        said = {"description": "A sine wave.", "code": "def f(x):\n    return 0"}
        spec = {"seed": seed, "difficulty": "hard", "interpreter": "given", "given": said}
        view, _ = play(ProbeSpec.model_validate(spec))
        for rules in BOTH:
            assert (view.by(rules).value("components_identified") is None) == differs
            assert ("too far from the formula" in view.by(rules).reason("components_identified")) == differs
        assert of_words(view).startswith("Its description names") != differs


def test_noise_that_nobody_can_beat_is_said(find_dir: Path) -> None:
    noisy = by_id("numeric", "f00300", find_dir)
    assert noisy.noise is not None and noisy.kind == "gaussian"  # type: ignore[attr-defined]
    given = {"description": "zero", "code": "def f(x):\n    return 0.0"}
    spec = {"function": noisy.id, "find_dir": str(find_dir), "interpreter": "given", "given": given}
    view, _ = play(ProbeSpec.model_validate(spec))
    floor = view.value("noise_floor")
    assert floor is not None and floor > 0.1
    assert (
        "nobody could get below it" in view.judgement.sentence
        or "cannot be told apart from its noise" in view.judgement.sentence
    )


def test_corruption_that_was_never_looked_at_is_said() -> None:
    view, _ = play(ProbeSpec(seed=1753, difficulty="medium", model="control/straight"))
    assert any("Never probed between 57.9" in sentence for sentence in list_remarks(view))
    assert view.value("interval_iou") == 0
    claimed = {"domain": "Corrupted between 57.9 and 75.757.", "description": "linear"}
    spec = {"seed": 1753, "difficulty": "medium", "interpreter": "given", "given": claimed}
    view, _ = play(ProbeSpec.model_validate(spec))
    assert view.value("interval_iou") == pytest.approx(1, abs=1e-4)


@pytest.mark.parametrize(
    ("code", "reason"),
    [("import pandas\ndef f(x):\n    return x", "not runnable here"), ("def f(x):\n    (", "code cannot be run")],
)
def test_code_that_wants_what_is_not_lent_is_dropped_by_another_reason(code: str, reason: str) -> None:
    given = {"description": "a line", "code": code}
    with StubServer("unused") as server:
        view, _ = play(stub_spec(own="", seed=1, interpreter="given", given=given, model=""), stub_catalog(server))
    [dropped] = [one for one in view.log.drops if one.item == "estimate"]
    assert dropped.reason == reason


PANDAS = "import pandas\ndef f(x):\n    return x"


def _rated(code: str, **fields: object) -> ProbeReport:
    given = {"description": "a line", "code": code}
    return play(ProbeSpec.model_validate({"interpreter": "given", "given": given, **fields}))[0]


@pytest.mark.parametrize("fields", [{"seed": 1}, {"category": "strings", "seed": 3}])
def test_what_cannot_be_run_here_is_neither_right_nor_wrong(fields: dict[str, object]) -> None:
    view = _rated(PANDAS, **fields)
    for rules in BOTH:
        assert view.by(rules).outcome == NOT_RUNNABLE
        assert view.by(rules).value("not_runnable") == 1
        for metric in ("nmse", "nmse_success", "held_out_nmse", "exact_match", "held_out_match"):
            if score := view.by(rules).score(metric):
                assert score.value is None and score.of > 0 and "pandas" in score.reason, metric
        trials = [trial[rules] for trial in view.trials.values()]
        assert trials and all((one.outcome, one.counts) == (NOT_RUNNABLE, False) for one in trials)
    assert "could not be run here" in view.judgement.sentence and "pandas" in view.judgement.sentence
    assert not any("the code" in sentence for sentence in list_remarks(view))


@pytest.mark.parametrize("fields", [{"seed": 1}, {"category": "strings", "seed": 3}])
def test_a_module_that_exists_nowhere_is_the_codes_own_mistake(fields: dict[str, object]) -> None:
    view = _rated(PANDAS.replace("pandas", "pandaz"), **fields)
    assert view.value("not_runnable") == 0 and view.outcome != NOT_RUNNABLE
    headline = view.score("nmse_success") or view.score("exact_match")
    assert headline is not None and headline.value == 0


def test_an_error_of_its_own_is_wrong_whatever_the_sandbox_lacks_elsewhere() -> None:
    code = "def f(x):\n    return 1 / 0 if x == 0.5 else 2 * x if x > 0 else bytearray(1)[0]"
    view = _rated(code, own="2*x")
    assert view.value("nmse_success") == 0 and view.value("not_runnable") == 0
    assert view.by("paper").outcome == view.outcome == "missed"


@pytest.mark.parametrize("right", ["x.upper()", "x"])
def test_texts_on_which_it_cannot_be_run_count_neither_way(right: str) -> None:
    code = f"def f(x):\n    return {right} if len(x) > 1 else bytearray(1)"
    view = _rated(code, category="strings", own="x.upper()")
    tests = [one for one in view.predictions.values() if one.kind == "test"]
    ran = [one for one in tests if len(one.input) > 1]
    assert 0 < len(ran) < len(tests)
    score = view.score("exact_match")
    assert score is not None and (score.n, score.of) == (len(ran), len(tests))
    assert score.value == pytest.approx(sum(one.repaired == one.truth for one in ran) / len(ran))
    assert view.value("not_runnable") == pytest.approx(1 - len(ran) / len(tests))
    assert f"On {len(tests) - len(ran)} of {len(tests)} test texts it could not be run here" in view.judgement.sentence


def test_of_several_functions_those_that_cannot_be_run_stay_in_the_denominator() -> None:
    views = [_rated(PANDAS, seed=1), _rated("def f(x):\n    return 0", seed=1)]
    figures = {(one.metric, one.rules): one.score for one in scores(views)}
    assert (figures["nmse", "repaired"].n, figures["nmse", "repaired"].of) == (1, 2)
    assert figures["not_runnable", "paper"].value == 0.5
