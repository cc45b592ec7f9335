"""Cases of the Probe lab: several functions in one run, and what they come to together."""

from pathlib import Path
from typing import Any

import pytest

from core.events import Event
from core.labs.probe.functions.source import cases, load, names_of
from core.labs.probe.lab import LAB
from core.labs.probe.records import Submission, Wish
from core.labs.probe.tasks import MODULE_CHECKS, ProbeSpec
from core.labs.probe.verdict import list_remarks, of_words
from core.labs.probe.view import scores
from core.runs.engine import UserInput
from tests.core.labs.probe.playing import BOTH, CONCLUSION, play, run, scripted, stub_catalog, stub_spec
from tests.support.stub_server import Fault, StubServer


def news(spec: ProbeSpec, history: list[Event], additions: list[UserInput] | None = None) -> list[Event]:
    """What a run publishes that goes on from `history`."""
    return run(spec, None, history, additions or [])[1][len(history) :]


def fit(**changes: object) -> ProbeSpec:
    return ProbeSpec.model_validate({"interpreter": "fit", "category": "strings", "probes": 20, **changes})


# Which functions


@pytest.mark.parametrize(
    ("fields", "names"),
    [
        ({"seed": 1753, "difficulty": "medium"}, ["numeric-1753-medium"]),
        ({"seed": 2, "rules": "paper"}, ["numeric-2-paper"]),
        ({"category": "entities", "seed": 4, "difficulty": "hard", "count": 2}, ["entities-4-or", "entities-5-or"]),
        ({"own": "2*x"}, ["own"]),
        ({"function": "f00012", "find_dir": "anywhere"}, ["f00012"]),
        ({"functions": ("numeric-7-hard", " numeric-8 ", "numeric-8")}, ["numeric-7-hard", "numeric-8"]),
        ({"functions": ("numeric-7-hard",)}, ["numeric-7-hard"]),
        ({"count": 3, "seed": 9}, ["numeric-9", "numeric-10", "numeric-11"]),
    ],
)
def test_a_case_is_named_without_loading_its_function(fields: dict[str, Any], names: list[str]) -> None:
    spec = ProbeSpec.model_validate({"interpreter": "you", **fields})
    planned = list(cases(spec))
    assert [case.id for case in planned] == names
    for case in planned:
        assert list(names_of(case.about)) == [case.id], "alone it has the same name"
        assert case.about.title == case.title
    assert spec.is_several == (len(names) > 1)


def test_a_case_of_several_is_about_what_a_run_of_it_alone_is() -> None:
    several = fit(count=3, seed=5)
    for seed, case in enumerate(cases(several), start=5):
        assert case.about == fit(seed=seed)
        assert load(case.about) == load(fit(seed=seed))


def test_titles_do_not_give_a_function_away() -> None:
    spec = ProbeSpec(interpreter="you", count=2, seed=3, difficulty="easy")
    assert spec.title == "2 numeric functions (seeds 3 to 4, easy)"
    assert [case.title for case in cases(spec)] == [f"A numeric function (seed {seed}, easy)" for seed in (3, 4)]


@pytest.mark.parametrize(("category", "size"), [("numeric", 14), ("strings", 4)])
def test_published_functions_come_in_an_order_of_the_seed(find_dir: Path, category: str, size: int) -> None:
    def names(**changes: object) -> list[str]:
        fields = {"category": category, "find_dir": str(find_dir), "interpreter": "you", **changes}
        return [case.id for case in cases(ProbeSpec.model_validate(fields))]

    assert len(set(names())) == size and names() == names()
    assert names(limit=3) == names()[:3]
    assert len({tuple(names(seed=seed)) for seed in range(5)}) > 1
    assert sorted(names(seed=4)) == sorted(names())


def test_a_published_category_is_measured_function_by_function(find_dir: Path) -> None:
    fields = {"category": "relations", "find_dir": str(find_dir), "model": "control/straight", "limit": 2}
    spec = ProbeSpec.model_validate({**fields, "evaluator": "control/straight"})
    state, _ = run(spec)
    assert state.status == "completed" and list(state.cases) == [case.id for case in cases(spec)]
    for id in state.cases:
        view = LAB.view(state.case(id))
        assert view.truth is not None and view.truth.id == id and view.spec is not None and view.spec.is_published


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"own": "x", "count": 2}, "Choose one"),
        ({"function": "numeric-1", "functions": ("numeric-2", "numeric-3")}, "Choose one"),
        ({"count": 2, "find_dir": "x"}, "A count draws new functions"),
        ({"limit": 2}, "name the set.s folder"),
        ({"count": 2, "interpreter": "given", "given": {"description": "d"}}, "about one function"),
        ({"count": 1001}, "less than or equal"),
    ],
)
def test_which_functions_are_meant_must_be_clear(changes: dict[str, object], words: str) -> None:
    with pytest.raises(ValueError, match=words):
        ProbeSpec.model_validate({"interpreter": "you", **changes})


def test_of_several_none_is_the_one_to_load() -> None:
    with pytest.raises(ValueError, match="Several functions"):
        load(fit(count=2))


def test_calls_are_counted_for_all_cases() -> None:
    spec = stub_spec(own="", category="entities", evaluator="stub/stub-model")
    assert LAB.calls(spec, 1) == 4 + 1 + 60 and LAB.calls(spec, 7) == 7 * LAB.calls(spec, 1)
    by_model = spec.model_copy(update={"backbone": "model", "module": "m"})
    assert LAB.calls(by_model, 1) == LAB.calls(spec, 1) + spec.probes + 2 * MODULE_CHECKS
    assert LAB.calls(fit(), 5) == 0


# A run of several


def test_each_case_of_several_comes_to_what_it_comes_to_alone() -> None:
    state, events = run(fit(count=3, seed=3))
    assert state.status == "completed" and list(state.cases) == ["strings-3", "strings-4", "strings-5"]
    for seed in (3, 4, 5):
        view, alone = LAB.view(state.case(f"strings-{seed}")), play(fit(seed=seed))[0]
        assert view.probes == alone.probes and view.truth == alone.truth and view.trials == alone.trials
        assert view.judgement.sentence == alone.judgement.sentence and list_remarks(view) == list_remarks(alone)
        for rules in BOTH:
            assert view.by(rules).value("exact_match") == alone.by(rules).value("exact_match")
    matched = [LAB.view(state.case(case)).value("exact_match") for case in state.cases]
    mean = state.score("exact_match", "repaired")
    assert mean is not None and mean.value == pytest.approx(sum(value or 0 for value in matched) / 3)
    assert (mean.n, mean.of, mean.detail["mean_of"]) == (3, 3, "cases")
    assert news(fit(count=3, seed=3), events) == [], "a completed run has nothing to say"


def test_of_errors_the_median_is_given_and_what_is_undefined_is_kept_out() -> None:
    outlier = "def f(x):\n    return 1e9 if x > 0 else 0"
    codes = ("def f(x):\n    return 2 * x + 0.0001", outlier, "no code")
    views = []
    for code in codes:
        given = {"description": "d", "code": code}
        views.append(play(ProbeSpec.model_validate({"own": "2*x", "interpreter": "given", "given": given}))[0])
    figures = {(one.metric, one.rules): one.score for one in scores(views)}
    error = figures["nmse", "repaired"]
    values = [value for view in views if (value := view.value("nmse")) is not None]
    assert len(values) == 2 and error.value == pytest.approx(sum(values) / 2)
    assert (error.n, error.of, error.detail["median_of"], error.low) == (2, 3, "cases", None)
    success = figures["nmse_success", "repaired"]
    assert (success.value, success.n, success.of) == (pytest.approx(1 / 3), 3, 3)
    assert success.low is not None and success.low < 1 / 3 < (success.high or 0)


def test_a_function_that_cannot_be_had_stops_only_its_own_case() -> None:
    state, events = run(ProbeSpec(category="strings", functions=("strings-3", "f00001"), interpreter="fit"))
    assert state.status == "completed"
    good, bad = (LAB.view(state.case(case)) for case in ("strings-3", "f00001"))
    assert good.outcome == "found"
    assert bad.outcome == "failed" and "name the folder" in bad.judgement.sentence
    assert list(scores([bad])) == []
    matched = state.score("exact_match", "repaired")
    assert matched is not None and (matched.n, matched.of) == (1, 2), "it stays in view that one is missing"
    assert state.cases["f00001"].result == {**(state.cases["f00001"].result or {}), "outcome_repaired": "failed"}
    assert len(events) > 10


def test_a_reader_takes_several_functions_one_by_one() -> None:
    spec = ProbeSpec(interpreter="you", functions=("numeric-3-easy", "numeric-4-easy"), probes=5)
    _, events = run(spec)
    said = Submission(description="a line", code="def f(x):\n    return x")
    additions = [
        UserInput("numeric-4-easy", Wish(inputs=("1", "2")), "wish-{n}"),
        UserInput("numeric-4-easy", said, "submission"),
        UserInput("numeric-3-easy", Wish(inputs=("5",)), "wish-{n}"),
    ]
    state, events = run(spec, None, events, additions)
    first, second = (LAB.view(state.case(case)) for case in state.cases)
    assert (
        [probe.input for probe in first.probes] == ["5"] and first.truth is None and list(first.wishes) == ["wish-01"]
    )
    assert [probe.input for probe in second.probes] == ["1", "2"] and second.truth is not None
    assert first.outcome == "waiting" and second.outcome != "waiting"
    assert news(spec, events) == []


# Trials


def test_each_text_is_a_trial_by_both_sets_of_rules() -> None:
    given = {"description": "d", "code": "def f(x):\n    return len(x)"}
    view, _ = play(
        ProbeSpec.model_validate({"category": "strings", "own": "len(x)", "interpreter": "given", "given": given})
    )
    assert [id for id in view.trials if id.startswith("test-")] == [f"test-{k:02}" for k in range(1, 11)]
    assert sum(id.startswith("held-out-") for id in view.trials) == 10
    first = view.trials["test-01"]
    assert first.about == view.predictions["test-01"].input
    assert first.repaired.outcome == "right" and first.repaired.expected == first.repaired.observed
    assert first.paper.outcome == "wrong", "to the paper's test the number is not the text"
    for rules in BOTH:
        tests = [trial[rules] for id, trial in view.trials.items() if id.startswith("test-")]
        score = view.by(rules).score("exact_match")
        assert score is not None and sum(one.counts for one in tests) == score.n
        assert sum(one.outcome == "right" for one in tests) == round((score.value or 0) * score.n)


def test_where_the_papers_test_gives_up_its_trials_end() -> None:
    code = "def f(x):\n    return x.upper() if len(x) > 4 else None"
    given = {"description": "d", "code": code}
    view, _ = play(
        ProbeSpec.model_validate({"category": "strings", "own": "x.upper()", "interpreter": "given", "given": given})
    )
    score = view.by("paper").score("exact_match")
    assert score is not None and score.n < 10
    tests = [trial for id, trial in view.trials.items() if id.startswith("test-")]
    assert [trial.paper.counts for trial in tests] == [place < score.n for place in range(10)]
    assert sum(trial.paper.outcome == "right" for trial in tests) == round((score.value or 0) * score.n)
    assert all(trial.repaired.counts for trial in tests)


def test_a_numeric_function_is_one_trial() -> None:
    view, events = play(ProbeSpec(own="2*x", model="control/inventor"))
    assert list(view.trials) == ["grid"]
    trial = view.trials["grid"]
    assert (trial.about, trial.repaired.outcome, trial.repaired.counts) == ("256 test points", "wrong", True)
    assert trial.repaired.expected == "256 values from -375.5 to 389.5"
    assert trial.repaired.observed == "256 values from -255 to 255"
    assert sum(event.kind == "recorded" and event.record == "trial" for event in events) == 1


def test_each_triplet_is_a_trial_that_leads_to_its_call() -> None:
    spec = stub_spec(category="entities", own="", seed=4, evaluator="stub/stub-model", interpreter="milan")

    def reply(body: dict[str, Any]) -> str:
        asked = body["messages"][-1]["content"]
        return "[DESCRIPTION]: birds" if "Which one" not in asked else "[ANSWER]: 1" if "birds" in asked else "no idea"

    with StubServer(reply, faults={4: Fault("filtered")}) as server:
        view, events = play(spec, stub_catalog(server, retries=0))
    assert len(view.trials) == 20 and set(view.trials) == {f"unit-{k:02}" for k in range(1, 21)}
    lost = [trial for trial in view.trials.values() if trial.repaired.outcome == "dropped"]
    assert len(lost) == 1 and not lost[0].repaired.counts and lost[0].repaired.reason
    score = view.score("unit_test")
    assert score is not None and score.n == sum(trial.repaired.counts for trial in view.trials.values()) == 19
    asked = {event.call: event.trial for event in events if event.kind == "asked"}
    for id, trial in view.trials.items():
        assert all(asked[call] == id for call in trial.calls)


# Outcomes


@pytest.mark.parametrize(
    ("formula", "outcome"),
    [
        ("2*x", "found"),
        ("1.9*x", "close"),
        ("-x", "missed"),
        ("", "not tested"),
        ("2 * x if x > 0 else None", "missed"),
    ],
)
def test_the_outcome_is_what_the_sentence_says(formula: str, outcome: str) -> None:
    code = f"def f(x):\n    return {formula}" if formula else ""
    given = {"description": "It doubles.", "code": code}
    view, events = play(ProbeSpec.model_validate({"own": "2*x", "interpreter": "given", "given": given}))
    words = {
        "found": "found the function",
        "close": "came close",
        "missed": "did not find",
        "not tested": "could not be tested",
    }
    assert view.outcome == outcome and words[outcome] in view.judgement.sentence
    [result] = [event.data for event in events if event.kind == "recorded" and event.record == "result"]
    assert (result["outcome_repaired"], result["verdict"]) == (outcome, view.judgement.sentence)
    assert view.sentences() == [view.judgement.sentence, of_words(view), *list_remarks(view)]


def test_a_message_is_journaled_as_both_sets_of_rules_read_it() -> None:
    with StubServer(scripted("Hm.", "PYTHON(function.py 1 2, 3)", CONCLUSION)) as server:
        view, _ = play(stub_spec(), stub_catalog(server))
    readings = [(one.read.paper, one.read.repaired) for one in view.exchanges.values()]
    assert readings == [
        ("no command", "no command"),
        ("2 inputs: 1, 2", "3 inputs: 1, 2, 3"),
        ("a conclusion", "a conclusion"),
    ]
    assert [one.description for one in view.exchanges.values()] == ["", "", "It doubles x."]
