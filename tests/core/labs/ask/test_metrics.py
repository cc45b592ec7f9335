"""Precision, generality and comparisons: golden cases, properties, and naive references."""

import itertools
import math
import random
import time

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from core.labs.ask.metrics import generality, kappa, majority, precision, simulatable
from core.statistics import intervals
from core.statistics.comparisons import compare
from core.text import embed
from tests.support.chance import tenth

# Precision


def test_precision_counts_guesses_only():
    score = precision(["yes", "no", "unknown", "neither"], ["yes", "yes", "no", "yes"], rules="paper")
    assert (score.value, score.n, score.of, score.hits) == (0.5, 2, 4, 1)
    assert float(score) == 0.5


def test_an_unread_answer_is_a_mismatch_in_the_paper_and_no_answer_in_ours():
    paper = precision(["yes", "no"], ["yes", "neither"], rules="paper")
    assert (paper.value, paper.n) == (0.5, 2)
    repaired = precision(["yes", "no"], ["yes", "neither"], rules="repaired")
    assert (repaired.value, repaired.n, repaired.of) == (1.0, 1, 2)
    assert repaired.detail["unread_answers"] == 1
    assert precision(["yes", "no"], ["yes", None], rules="repaired").value == 1.0


@pytest.mark.parametrize("rules", ["paper", "repaired"])
@pytest.mark.parametrize(("simulations", "answers"), [([], []), (["unknown"], ["yes"]), (["neither"], ["yes"])])
def test_precision_of_nothing_is_undefined(simulations, answers, rules):
    score = precision(simulations, answers, rules=rules)
    assert (score.value, score.low, score.high, score.n, score.of) == (None, None, None, 0, len(answers))
    assert score.detail["reason"]
    assert math.isnan(float(score))


def test_no_read_answer_leaves_precision_undefined_under_repaired_rules():
    assert precision(["yes"], ["neither"], rules="repaired").value is None
    assert precision(["yes"], ["neither"], rules="paper").value == 0.0


def test_precision_of_choices():
    score = precision(["1", "2", "unknown"], ["1", "1", "2"], rules="repaired")
    assert (score.value, score.n) == (0.5, 2)


def test_lists_that_do_not_go_together_are_refused():
    with pytest.raises(ValueError, match="argument 2 is shorter"):
        precision(["yes", "no"], ["yes"])


GUESS = st.sampled_from(["yes", "no", "unknown", "neither"])
ANSWER = st.sampled_from(["yes", "no", "neither"])


@given(st.lists(st.tuples(GUESS, ANSWER), max_size=30), st.sampled_from(["paper", "repaired"]))
def test_precision_is_the_naive_count(pairs, rules):
    simulations, answers = [x for x, _ in pairs], [y for _, y in pairs]
    score = precision(simulations, answers, rules=rules)
    used = 0
    right = 0
    for simulation, answer in pairs:
        if simulation not in ("yes", "no") or (rules == "repaired" and answer == "neither"):
            continue
        used += 1
        right += simulation == answer
    assert (score.n, score.of, score.hits) == (used, len(pairs), right)
    assert score.value == (right / used if used else None)
    if used:
        assert 0 <= score.low <= score.value <= score.high <= 1


def test_which_counterfactuals_count():
    simulations = ["1", "neither", "unknown"]
    assert simulatable(simulations, "paper", "generality") == [True, True, False]
    assert simulatable(simulations, "paper", "precision") == [True, False, False]
    assert simulatable(simulations, "repaired", "generality") == [True, False, False]
    assert simulatable(simulations, "repaired", "precision") == [True, False, False]


# Majority


def test_majority_is_the_mode():
    assert majority(["yes", "no", "yes"], seed=0) == "yes"
    assert majority(["unknown", "unknown", "yes"], seed=0) == "unknown"
    with pytest.raises(ValueError, match="empty"):
        majority([], seed=0)


def test_ties_are_drawn_by_the_seed_alone():
    drawn = {seed: majority(["yes", "no"], seed=seed) for seed in range(50)}
    assert set(drawn.values()) == {"yes", "no"}
    assert drawn == {seed: majority(["no", "yes"], seed=seed) for seed in range(50)}


@given(st.lists(GUESS, min_size=1, max_size=12), st.integers())
def test_no_vote_is_more_frequent_than_the_majority(votes, seed):
    assert votes.count(majority(votes, seed)) == max(votes.count(vote) for vote in votes)


# Generality

TEXTS = [
    "Can eagles fly over the sea?",
    "Can penguins fly over the sea at night?",
    "Is a trout a fish?",
    "Does the moon shine by day?",
]


def test_the_papers_jaccard_does_not_lower_case():
    texts = ["Is the sky blue?", "Is a dog brown?"]
    assert generality(texts, similarity="jaccard", rules="paper").value == pytest.approx(1 - 1 / 5)
    assert generality(texts, similarity="jaccard", rules="repaired").value == 1.0


def test_the_papers_jaccard_removes_ascii_punctuation_and_splits_on_spaces_only():
    def alike(a, b):
        return 1 - generality([a, b], similarity="jaccard", rules="paper").value

    assert alike("dogs, cats", "dogs cats!") == 1.0
    assert alike("well-known", "wellknown") == 1.0
    assert alike("dogs\ncats", "dogs cats") == 0.0
    assert alike("“dogs”", "dogs") == 0.0
    assert alike("isn't", "isnt") == 1.0
    assert alike("?", "!") == 1.0


def test_only_stopwords_are_undefined_in_the_paper_and_compared_as_they_are_in_ours():
    paper = generality(["is it", "was he"], similarity="jaccard", rules="paper")
    assert paper.value is None
    assert "division by zero" in paper.detail["reason"]
    assert generality(["is it", "was he"], similarity="jaccard", rules="repaired").value == 1.0
    assert generality(["Is it?", "is it"], similarity="jaccard", rules="repaired").value == 0.0


def test_bleu_is_the_mean_over_ordered_pairs():
    from sacrebleu.metrics.bleu import BLEU

    bleu = BLEU(effective_order=True)
    pairs = [(a, b) for i, a in enumerate(TEXTS) for j, b in enumerate(TEXTS) if i != j]
    assert len(pairs) == 12
    expected = 1 - sum(bleu.sentence_score(a, [b]).score / 100 for a, b in pairs) / 12
    score = generality(TEXTS, similarity="bleu", rules="paper")
    assert score.value == pytest.approx(expected, abs=1e-12)
    assert score.detail["signature"].startswith("nrefs:1|case:mixed|eff:yes|tok:13a|smooth:exp|version:")
    assert bleu.sentence_score(TEXTS[0], [TEXTS[1]]).score != bleu.sentence_score(TEXTS[1], [TEXTS[0]]).score


def test_cosine_is_the_mean_off_the_diagonal_and_names_its_encoder():
    from core.text.embed import encoder

    vectors = encoder().encode(TEXTS)
    expected = 1 - np.mean([vectors[i] @ vectors[j] for i, j in itertools.permutations(range(4), 2)])
    score = generality(TEXTS, similarity="cosine")
    assert score.value == pytest.approx(float(expected), abs=1e-6)
    assert score.detail["encoder"] == encoder().name
    unlike = ["Would a tax cut help banks?", "Do penguins have knees?"]
    assert generality(unlike, similarity="cosine").value > 1, "vectors may point apart"


def test_without_an_encoder_cosine_is_undefined_with_the_reason(monkeypatch):
    from core.text import embed

    def missing(name):
        raise embed.NoEncoderError("No sentence encoder is installed: pip install it")

    monkeypatch.setattr(embed, "encoder", missing)
    score = generality(TEXTS, similarity="cosine")
    assert (score.value, score.n) == (None, 4)
    assert "pip install" in score.detail["reason"]


@pytest.mark.parametrize("similarity", ["bleu", "cosine", "jaccard"])
@pytest.mark.parametrize("texts", [[], ["Can eagles fly?"]])
def test_fewer_than_two_texts_have_no_generality(similarity, texts):
    score = generality(texts, similarity=similarity, rules="paper")
    assert (score.value, score.n, score.low, score.high) == (None, len(texts), None, None)
    assert score.detail["reason"]


@pytest.mark.parametrize("similarity", ["bleu", "cosine", "jaccard"])
def test_equal_texts_have_no_generality_at_all(similarity):
    assert generality(["Can dogs swim?"] * 3, similarity=similarity).value == pytest.approx(0, abs=1e-6)


def test_two_texts_have_no_interval_and_three_have_one():
    assert generality(TEXTS[:2]).low is None
    score = generality(TEXTS[:3])
    assert 0 <= score.low < score.value < score.high <= 1
    assert score.detail["interval"] == "jackknife over texts"
    assert generality(["red", "green", "blue"], similarity="jaccard").low is None


def test_the_interval_is_the_jackknife_by_hand():
    from scipy.stats import t

    value = generality(TEXTS, similarity="jaccard").value
    without = [generality(TEXTS[:i] + TEXTS[i + 1 :], similarity="jaccard").value for i in range(4)]
    middle = sum(without) / 4
    reach = t.ppf(0.975, 3) * math.sqrt(3 / 4 * sum((one - middle) ** 2 for one in without))
    score = generality(TEXTS, similarity="jaccard")
    assert (score.low, score.high) == pytest.approx((max(0.0, value - reach), min(1.0, value + reach)))


def test_the_interval_covers_the_truth_about_as_often_as_it_says():
    """Texts on four topics, with similarity 0.6 within one and 0.1 across: the true generality is known."""
    chances = [0.4, 0.3, 0.2, 0.1]
    truth = 1 - (0.1 + 0.5 * sum(chance**2 for chance in chances))
    draw = np.random.default_rng(0)
    hits = tried = 0
    for _ in range(400):
        topics = draw.choice(4, size=10, p=chances)
        matrix = np.where(topics[:, None] == topics[None], 0.6, 0.1)
        np.fill_diagonal(matrix, 0)
        total = float(matrix.sum())
        low, high = intervals.jackknife_of_pairs(matrix, total, 1 - total / 90, 1.0)
        if low is not None:
            tried += 1
            hits += low <= truth <= high
    assert tried > 380
    assert 0.88 <= hits / tried <= 0.99


def pointing(monkeypatch, vectors):
    """Encode the text of a number as the vector at that index, normalised."""

    class Pointing:
        alive, name = True, "pointing"

        def encode(self, texts):
            chosen = np.array([vectors[int(text)] for text in texts], dtype=np.float64)
            return (chosen / np.linalg.norm(chosen, axis=1, keepdims=True)).astype(np.float32)

    monkeypatch.setattr(embed, "_started", {embed.AUTO: Pointing()})


def test_the_interval_of_generality_ends_where_it_can(monkeypatch):
    """By cosine too: texts with no common direction have a mean similarity of 0, which cannot be negative."""
    pointing(monkeypatch, np.random.default_rng(3).normal(size=(8, 384)))
    score = generality([str(number) for number in range(8)], similarity="cosine")
    assert 0.98 < score.value < 1 and score.low < score.value and score.high == 1
    # These few happen to point away from each other: their figure exceeds the possible values of what it estimates.
    pointing(monkeypatch, [(1, 0, 0), (-1, 1.6, 0), (-1, -1.6, 0.2)])
    score = generality(["0", "1", "2"], similarity="cosine")
    assert 1.4 < score.value <= 1.5 and 0 <= score.low < score.value == score.high


@pytest.mark.parametrize("similarity", ["bleu", "jaccard", "cosine"])
def test_the_order_of_sums_is_in_no_digit_of_generality(monkeypatch, similarity):
    draw = random.Random(1)
    pointing(monkeypatch, np.random.default_rng(4).normal(size=(20, 64)) + 0.2)
    texts = [str(number) for number in range(20)]
    if similarity != "cosine":
        words = ["can", "a", "dog", "or", "cat", "fly", "swim", "see", "the", "sea"]
        texts = [" ".join(draw.choices(words, k=7)) for _ in range(20)]
    scores = [generality(draw.sample(texts, 20), similarity=similarity) for _ in range(30)]
    assert len({score.value for score in scores}) == 1
    for end in ("low", "high"):
        assert [getattr(score, end) for score in scores] == pytest.approx([getattr(scores[0], end)] * 30, abs=1e-12)


WORDS = st.text(st.sampled_from("ab cd É?’'-\n😀isTheth"), max_size=12)


@given(st.lists(WORDS, min_size=2, max_size=5), st.sampled_from(["bleu", "jaccard"]))
@settings(deadline=None, max_examples=tenth(60))
def test_generality_is_a_share_and_ignores_order(texts, similarity):
    for rules in ("paper", "repaired"):
        score = generality(texts, similarity=similarity, rules=rules)
        if score.value is None:
            assert rules == "paper" and similarity == "jaccard"
            continue
        assert -1e-12 <= score.value <= 1 + 1e-12
        turned = generality(texts[::-1], similarity=similarity, rules=rules)
        assert turned.value == pytest.approx(score.value, abs=1e-9)
        if score.low is not None:
            assert score.low <= score.value + 1e-9 and score.value <= score.high + 1e-9


def test_forty_explanations_of_ten_counterfactuals_are_quick():
    draw = random.Random(0)
    vocabulary = [f"word{number}" for number in range(300)]
    runs = [[" ".join(draw.choices(vocabulary, k=9)) + "?" for _ in range(10)] for _ in range(40)]
    start = time.process_time()
    for texts in runs:
        generality(texts, similarity="bleu")
        generality(texts, similarity="jaccard", rules="paper")
    assert time.process_time() - start < 4


# Comparisons


def test_settings_are_compared_on_the_items_they_share():
    from scipy.stats import ttest_rel

    a = {"q1": 0.5, "q2": 1.0, "q3": 0.25, "q4": None, "q5": 0.9}
    b = {"q1": 0.25, "q2": 0.5, "q3": 0.5, "q4": 1.0, "q6": 0.1}
    result = compare(a, b)
    expected = ttest_rel([0.5, 1.0, 0.25], [0.25, 0.5, 0.5])
    assert (result.n, result.of) == (3, 6)
    assert (result.t, result.p) == pytest.approx((expected.statistic, expected.pvalue))
    assert result.difference == pytest.approx(result.mean_a - result.mean_b)
    assert result.low < result.difference < result.high


def test_a_comparison_without_a_test_says_why():
    assert compare({}, {"q": 1.0}).detail["reason"] == "no item is in both settings"
    one = compare({"q": 1.0}, {"q": 0.5})
    assert (one.p, one.difference, one.detail["reason"]) == (None, 0.5, "a paired test needs two items")
    same = compare({"q": 1.0, "r": 0.5}, {"q": 1.0, "r": 0.5})
    assert (same.p, same.difference, same.detail["reason"]) == (None, 0.0, "the difference is the same on every item")


def test_kappa_comes_with_what_stands_behind_it():
    score = kappa(["yes", "yes", "no", None], ["yes", "no", "no", "no"])
    assert (score.value, score.n, score.of) == (pytest.approx(0.4), 3, 4)
    assert score.detail == pytest.approx({"agreement": 2 / 3, "by_chance": 4 / 9})
    assert (
        kappa(["yes"], ["yes"]).detail["reason"] == "both always said the same, so chance alone would make them agree"
    )


def test_kappa_of_little():
    assert kappa(["yes", None], ["yes", "no"]).value is None
    assert kappa([], []).value is None
    assert kappa(["yes", "no", None], ["yes", "no", "yes"]).value == 1.0
    with pytest.raises(ValueError, match="argument 2 is shorter"):
        kappa(["yes"], [])


def test_why_there_is_no_precision() -> None:
    assert precision(["unknown", None], ["yes", "yes"]).reason == "no counterfactual was simulatable"
    assert precision(["yes", "unknown"], [None, "yes"]).reason == "no answer could be read"
