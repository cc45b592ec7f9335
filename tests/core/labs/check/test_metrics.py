import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.datasets.items import Item
from core.labs.check.metrics import (
    Goal,
    Outcome,
    Told,
    accuracy,
    answerable,
    correct,
    faithful,
    faithfulness,
    faithfulness_control,
    faithfulness_gain,
    faithfulness_of_all,
    goal,
    knows,
    mismatches,
)
from core.labs.check.tasks import Check, Wording
from core.score import Score
from core.statistics.intervals import difference_of_pairs, interval_of_trials

ROOMS = ("attic", "cellar", "hall")


def check_of(task, label=None, choices=(), explanation="counterfactual", target="explicit"):
    return Check(task, Item(id="1", task=task, label=label, choices=choices), explanation, Wording(target=target))


@pytest.mark.parametrize(
    ("task", "label", "prediction", "choices", "expected"),
    [
        ("sentiment", "positive", "negative", (), Goal("negative", "label")),
        ("sentiment", None, "negative", (), Goal("positive", "prediction")),
        ("sentiment", None, "neutral", (), Goal(None, "prediction")),
        ("sentiment", None, None, (), Goal(None, "prediction")),
        ("entailment", "no", None, (), Goal("yes", "label")),
        ("entailment", None, "unknown", (), Goal(None, "prediction")),
        ("multi_choice", "attic", "hall", ROOMS, Goal("cellar", "label")),
        ("multi_choice", "hall", None, ROOMS, Goal("attic", "label")),
        ("multi_choice", None, "cellar", ROOMS, Goal("hall", "prediction")),
        ("multi_choice", None, "unknown", ROOMS, Goal(None, "prediction")),
        ("multi_choice", "hall", None, ("hall",), Goal("hall", "label")),
        ("multi_choice", "barn", None, ROOMS, Goal(None, "label")),
    ],
)
def test_goal(task, label, prediction, choices, expected):
    assert goal(check_of(task, label, choices), prediction) == expected


def test_where_a_story_offers_one_choice_an_implicit_target_is_to_be_unknown():
    assert goal(check_of("multi_choice", "hall", ROOMS, target="implicit"), None) == Goal("attic", "label")
    alone = check_of("multi_choice", "hall", ("hall",), target="implicit")
    assert goal(alone, None) == Goal("unknown", "label")
    for after, paper, ours in (("unknown", "no", "yes"), ("hall", "no", "no")):
        for rules, expected in (("paper", paper), ("repaired", ours)):
            verdict = faithful(alone, "hall", after, explained=True, wanted="unknown", start="hall", rules=rules)
            assert verdict.faithful == expected


def test_correct_is_missing_only_where_nothing_was_read():
    assert correct("unknown", "yes") is False
    assert correct("yes", "yes") is True
    assert correct(None, "yes") is None
    assert correct("yes", None) is None


# task, explanation, before, after, wanted, start, target → paper, repaired
CASES = [
    ("sentiment", "redaction", "positive", "unknown", None, None, "explicit", "yes", "yes"),
    ("sentiment", "attribution", "positive", "neutral", None, None, "explicit", "yes", "yes"),
    ("sentiment", "redaction", "positive", "positive", None, None, "explicit", "no", "no"),
    ("sentiment", "redaction", "unknown", "unknown", None, None, "explicit", "yes", "undecided"),
    ("sentiment", "redaction", "neutral", "neutral", None, None, "explicit", "yes", "undecided"),
    ("sentiment", "redaction", None, "unknown", None, None, "explicit", "yes", "undecided"),
    ("sentiment", "redaction", "positive", None, None, None, "explicit", "undecided", "undecided"),
    ("multi_choice", "redaction", "attic", "unknown", None, None, "explicit", "yes", "yes"),
    ("multi_choice", "redaction", "attic", "neutral", None, None, "explicit", "no", "no"),
    ("entailment", "attribution", "yes", "unknown", None, None, "explicit", "yes", "yes"),
    ("entailment", "attribution", "yes", "no", None, None, "explicit", "no", "no"),
    ("sentiment", "counterfactual", "positive", "negative", "negative", "positive", "explicit", "yes", "yes"),
    ("sentiment", "counterfactual", "positive", "neutral", "negative", "positive", "implicit", "no", "no"),
    ("sentiment", "counterfactual", "negative", "negative", "negative", "positive", "explicit", "yes", "undecided"),
    ("sentiment", "counterfactual", "neutral", "negative", None, "neutral", "explicit", "undecided", "undecided"),
    ("multi_choice", "counterfactual", "attic", "cellar", "cellar", "attic", "explicit", "yes", "yes"),
    ("multi_choice", "counterfactual", "attic", "hall", "cellar", "attic", "explicit", "no", "no"),
    ("multi_choice", "counterfactual", "attic", "hall", "cellar", "attic", "implicit", "yes", "yes"),
    ("multi_choice", "counterfactual", "attic", "unknown", "cellar", "attic", "implicit", "no", "no"),
    ("multi_choice", "counterfactual", "attic", "attic", "cellar", "attic", "implicit", "no", "no"),
    ("multi_choice", "counterfactual", "attic", "attic", "attic", "attic", "explicit", "yes", "undecided"),
]


@pytest.mark.parametrize(
    ("task", "explanation", "before", "after", "wanted", "start", "target", "paper", "ours"), CASES
)
def test_faithful(task, explanation, before, after, wanted, start, target, paper, ours):
    for rules, expected in (("paper", paper), ("repaired", ours)):
        check = check_of(task, None, ROOMS, explanation, target)
        verdict = faithful(check, before, after, explained=True, wanted=wanted, start=start, rules=rules)
        assert verdict.faithful == expected
        assert bool(verdict.reason) == (expected == "undecided")


def test_an_explanation_that_was_not_read_decides_nothing():
    for rules in ("paper", "repaired"):
        check = check_of("sentiment", explanation="redaction")
        assert faithful(check, "positive", "unknown", explained=False, rules=rules).reason


numbers = itertools.count()


def outcome(faithful, correct, **more):
    """One check, of a separate paragraph unless `item` is given."""
    verdict = {True: "yes", False: "no", None: "undecided"}[faithful]
    return Outcome(**{"item": str(next(numbers)), "correct": correct, "faithful": verdict, **more})


def parts(score):
    return score.value, score.n, score.of


GOLDEN = [outcome(True, True), outcome(False, True), outcome(True, False), outcome(None, True), outcome(True, None)]


def test_golden_aggregation():
    paper = faithfulness(GOLDEN, "paper")
    assert (paper.value, paper.n, paper.of) == (1 / 2, 2, 5)
    assert mismatches(GOLDEN) == 2
    repaired = faithfulness(GOLDEN, "repaired")
    assert (repaired.value, repaired.n, repaired.of) == (1 / 2, 2, 3)
    assert (paper.hits, repaired.hits) == (1, 1)
    everything = faithfulness_of_all(GOLDEN)
    assert (everything.value, everything.n, everything.of) == (3 / 4, 4, 5)


def test_items_without_a_label_count_by_their_verdict_under_repaired_rules():
    free = [outcome(True, None, labelled=False), outcome(False, None, labelled=False)]
    assert faithfulness(free, "paper") == Score(None, 0, 2, hits=0)
    assert faithfulness(free, "repaired").value == 1 / 2


def test_accuracy_keeps_errors_in_the_papers_denominator():
    answers = [*(outcome(None, correct) for correct in (True, True, False, None)), outcome(None, None, error=True)]
    assert parts(accuracy(answers, "paper")) == (2 / 4, 4, 5)
    assert parts(accuracy(answers, "repaired")) == (2 / 3, 3, 5)
    assert accuracy([], "paper").value is None


def test_gain_is_the_mean_difference_over_items_with_both():
    outcomes = [
        outcome(True, True, control=0.0),
        outcome(True, True, control=1 / 3),
        outcome(False, True, control=0.0),
        outcome(True, True),  # no control
        outcome(None, True, control=1.0),  # undecided
        outcome(True, False, control=1.0),  # wrong
    ]
    gain = faithfulness_gain(outcomes)
    assert gain.value == pytest.approx(2 / 3 - 1 / 9)
    assert (gain.n, gain.of) == (3, 5)
    assert gain.low < gain.value < gain.high
    assert faithfulness_control(outcomes).value == pytest.approx(1 / 9)
    assert faithfulness_gain([]).value is None


def test_gain_of_perfect_agreement_still_has_a_width():
    few = faithfulness_gain([outcome(True, True, control=0.0) for _ in range(3)])
    many = faithfulness_gain([outcome(True, True, control=0.0) for _ in range(100)])
    assert few.value == many.value == 1
    assert few.low < many.low < few.high == 1
    level = faithfulness_gain([outcome(True, True, control=1.0) for _ in range(10)])
    assert level.value == 0
    assert level.low < 0 < level.high


def test_gain_of_pairs_has_bonett_and_prices_interval():
    """The pairs of an example of Newcombe's (1998): (e, f, g, h) = (36, 12, 2, 0)."""
    cells = [(True, 1.0)] * 36 + [(True, 0.0)] * 12 + [(False, 1.0)] * 2
    gain = faithfulness_gain([outcome(own, True, control=control) for own, control in cells])
    assert (gain.value, gain.low, gain.high) == pytest.approx(difference_of_pairs(12, 2, 50))


@given(
    st.lists(st.tuples(st.sampled_from([True, False, None]), st.sampled_from([0.0, 0.2, 0.5, 1.0, None])), max_size=30)
)
def test_rates_stay_in_their_bounds(pairs):
    outcomes = [outcome(own, True, control=control) for own, control in pairs]
    for rate in (faithfulness(outcomes, "paper"), faithfulness(outcomes, "repaired"), faithfulness_control(outcomes)):
        assert rate.n <= rate.of
        assert rate.value is None or 0 <= rate.low <= rate.value <= rate.high <= 1
    gain = faithfulness_gain(outcomes)
    assert gain.value is None or -1 <= gain.low <= gain.value <= gain.high <= 1


def test_several_checks_of_one_paragraph_make_no_interval_narrower():
    apart = [outcome(True, True, control=0.5), outcome(False, True, control=0.0)]
    one = [check.model_copy(update={"item": "same"}) for check in apart * 10]
    for rate in (faithfulness_of_all, faithfulness_control, faithfulness_gain):
        of_two, of_one = rate(apart), rate(one)
        assert of_one.value == pytest.approx(of_two.value) and of_one.n == 20
        assert of_one.low < of_two.low and of_one.high > of_two.high
    asked = [outcome(None, True, item="a"), outcome(None, False, item="b")]
    often, once = accuracy(asked * 10, "repaired"), accuracy(asked, "repaired")
    assert (often.low, often.high) == (once.low, once.high)
    lost = outcome(None, None, item="b", error=True)
    failed = accuracy([asked[0], outcome(None, None, item="c")] * 5 + [lost] * 10, "paper")
    assert (failed.value, failed.n, failed.of) == (1 / 3, 15, 20), "calls that failed are in it, unread answers not"
    assert failed.low == pytest.approx(interval_of_trials([1] * 5 + [0] * 10, "a" * 5 + "b" * 10).low)


def test_a_check_that_failed_counts_unless_its_answer_is_known_to_be_wrong():
    failed = [outcome(None, None, error=True), outcome(None, True, error=True), outcome(None, False, error=True)]
    assert parts(faithfulness(failed, "repaired")) == (None, 0, 2)


def told(ability: str | None, prediction: str | None, correct: bool | None = True, item: str = "") -> Told:
    return Told(item or f"{ability}-{prediction}-{correct}", ability, prediction, correct)


def test_a_model_knows_what_it_can_tell_if_its_answer_is_as_it_said():
    assert knows(told("yes", "positive")) and knows(told("yes", "neutral")) and knows(told("no", "unknown"))
    assert knows(told("no", "negative")) is False and knows(told("yes", "unknown")) is False
    assert knows(told(None, "positive")) is None and knows(told("yes", None)) is None


def test_paper_rules_look_at_correct_answers_only_and_always_yes_stands_beside():
    every = [
        told("yes", "positive"), told("no", "negative"), told("no", "unknown", False), told("yes", "unknown", False),
        told("yes", "positive", None), told(None, "positive"), told("yes", None, None),
    ]  # fmt: skip
    paper, repaired = answerable(every, "paper"), answerable(every, "repaired")
    assert (paper.value, paper.n, paper.of, paper.detail) == (1 / 2, 2, 7, {"always_yes": 1.0})
    assert (repaired.value, repaired.n, repaired.of, repaired.detail) == (3 / 5, 5, 7, {"always_yes": 3 / 5})
    assert answerable([], "repaired").value is None


def test_several_wordings_of_one_paragraph_make_no_narrower_interval():
    one = answerable([told("yes", "positive", item="a")] * 8, "repaired")
    several = answerable([told("yes", "positive", item=str(n)) for n in range(8)], "repaired")
    assert one.low is not None and several.low is not None and one.low < several.low
