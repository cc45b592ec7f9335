import re
from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binomtest, chisquare

from core.labs.check.mask import mask_all, masked_share, named_by, over_redacted, redact, taken_by
from core.labs.check.mask import random_masks as drawn_masks

M = "[REDACTED]"


def random_masks(text, words, token, n, seed):
    return drawn_masks(text, named_by(text, words, token), token, n, seed)


def random_redactions(text, redacted, token, n, seed):
    return drawn_masks(text, taken_by(text, redacted, token), token, n, seed)


@pytest.mark.parametrize(
    ("text", "words", "masked"),
    [
        ("a great movie, great!", ["great", "great movie"], f"a {M} movie, {M}!"),
        ("a great movie, great!", ["great movie", "great"], f"a {M}, {M}!"),
        ("10% off! wow!", ["10%", "wow!"], "10% off! wow!"),
        ("nothing to see", ["great"], "nothing to see"),
        ("Great GREAT greater", ["great"], f"{M} {M} greater"),
        ("10%of", ["10%"], f"{M}of"),
        ("a (b) [c]", ["(b)", "c"], f"a (b) [{M}]"),
    ],
)
def test_paper(text, words, masked):
    assert redact(text, words, M, "paper") == masked


@pytest.mark.parametrize(
    ("text", "words", "masked"),
    [
        ("a great movie, great!", ["great", "great movie"], f"a {M}, {M}!"),
        ("10% off! wow!", ["10%", "wow!"], f"{M} off! {M}"),
        ("110% off", ["10%"], "110% off"),
        ("nothing to see", ["great"], "nothing to see"),
        ("nothing to see", [], "nothing to see"),
        ("nothing to see", ["", "  "], "nothing to see"),
        ("a.c abc", ["a.c"], f"{M} abc"),
        ("C++ and (b) [x] $5", ["C++", "(b)", "[x]", "$5"], f"{M} and {M} {M} {M}"),
        ("I didn’t like it", ["didn't"], f"I {M} like it"),
        ("I can't, but I can", ["can"], f"I can't, but I {M}"),
        ("the movie's end", ["movie"], f"the {M}'s end"),
        ("a front\ndoor", ["front door"], f"a {M}"),
        ("Café, cafe\u0301, cafes", ["café"], f"{M}, {M}, cafes"),
        ("cafe\u0301", ["cafe"], "cafe\u0301"),
        ("STRASSE Straße", ["straße"], f"STRASSE {M}"),
        ("这部电影很好看", ["好看"], f"这部电影很{M}"),
        ("فيلم رائع جدا", ["رائع"], f"فيلم {M} جدا"),
        ("a 👍 film", ["👍"], f"a {M} film"),
        (f"a {M} redacted film", ["redacted", M], f"a {M} {M} film"),
        ("a \\1 b", ["\\1"], f"a {M} b"),
    ],
)
def test_repaired(text, words, masked):
    assert redact(text, words, M, "repaired") == masked


WORDS = st.sampled_from(
    ["great", "greater", "movie", "10%", "wow!", "not", "can't", "über", "a.b", "(x)", "film", "it"]
)
TEXTS = st.lists(WORDS, max_size=12).map(" ".join)


@given(TEXTS, st.lists(WORDS, min_size=1, max_size=4))
def test_repaired_touches_the_listed_words_and_no_other(text, words):
    masked = redact(text, words, M, "repaired")
    expected = [M if word in words else word for word in text.split()]
    assert masked.split() == expected


@given(st.text(max_size=60), st.lists(st.text(max_size=6), max_size=4), st.sampled_from(["paper", "repaired"]))
def test_no_words_raise(text, words, rules):
    redact(text, words, M, rules)


@given(st.text(max_size=60), st.lists(st.text(max_size=6), max_size=4))
def test_masking_twice_is_masking_once(text, words):
    once = redact(text, words, "[REMOVED]", "repaired")
    kept = [part for part in once.split("[REMOVED]") if part]
    assert all(part in text for part in kept)


def test_all_masked():
    assert mask_all("Don't go, [REDACTED] friend: 10%!", M) == f"{M} {M}, {M} {M}: {M}%!"
    assert masked_share(mask_all("some words, here", M), M) == 1
    assert masked_share("one [REDACTED] three four", M) == 1 / 4
    assert masked_share("one [Redacted] REDACTED four redacted", M) == 2 / 5
    assert masked_share("", M) == masked_share("...", M) == 0


def test_over_redaction_begins_above_half():
    assert not over_redacted(f"one {M}", M)
    assert over_redacted(f"one {M} {M}", M)


TEXT = "The acting was wonderful but the story was dreadful and the music felt lifeless to everybody"


@given(st.integers(0, 50))
def test_random_masks_match_in_number_and_spare_the_listed(seed):
    drawn = random_masks(TEXT, ["wonderful", "dreadful"], M, 5, seed)
    assert len(set(drawn)) == 5
    for masked in drawn:
        assert masked.count(M) == 2
        assert "wonderful" in masked
        assert "dreadful" in masked


def test_every_choice_of_words_is_as_likely_as_any_other():
    text = "bad a film of great length about nobody ever since"  # two of the five other content words: 10 choices
    counts = Counter(one for seed in range(2_000) for one in random_masks(text, ["film", "length"], M, 1, seed))
    assert len(counts) == 10
    assert all(f"{M} a" not in one or " of " in one for one in counts)
    assert chisquare(list(counts.values())).pvalue > 0.001


def test_a_key_word_is_hidden_no_more_often_than_chance_has_it():
    # Five letters like the listed word: a draw of the nearest in length would hide it each time.
    hidden = sum(
        "great" not in random_masks("a great film about birds of prey", ["birds"], M, 1, s)[0] for s in range(600)
    )
    assert binomtest(hidden, 600, 1 / 3).pvalue > 0.001


def test_where_there_are_fewer_choices_each_is_drawn_once():
    drawn = random_masks("one two three", ["one"], M, 9, 4)
    assert len(drawn) == 2 and set(drawn) == {f"one two {M}", f"one {M} three"}


def test_random_masks_count_every_occurrence_and_each_word_of_a_phrase():
    assert random_masks("a b a c d e f", ["a"], M, 1, 1)[0].count(M) == 2
    assert random_masks("front door, back yard, side wall", ["front door"], M, 1, 1)[0].count(M) == 2
    assert random_masks("a a b", ["a"], M, 3, 1) == [], "one word cannot be held against two"
    assert random_masks("nothing here", ["absent"], M, 3, 1) == []
    assert random_masks("a a", ["a"], M, 3, 1) == []


def test_content_words_are_drawn_for_content_words_and_small_ones_for_small_ones():
    text = "the film is great but the music was of no interest to me and my friends"
    content = {"film", "great", "music", "interest", "friends"}
    for seed in range(40):
        (masked,) = random_masks(text, ["great", "but"], M, 1, seed)
        gone = [word for word, left in zip(text.split(), masked.split(), strict=True) if left == M]
        assert len(gone) == 2 and len(content.intersection(gone)) == 1, "one of either"


def test_where_there_are_too_few_of_a_class_the_rest_is_of_the_other():
    of_content = random_masks("great superb film of the day", ["great", "superb", "film"], M, 9, 1)
    assert of_content == [f"great superb film {M} {M} {M}"]
    of_small = random_masks("of the to great superb dull", ["of", "the", "to"], M, 9, 1)
    assert of_small == [f"of the to {M} {M} {M}"]


@given(TEXTS, st.lists(WORDS, min_size=1, max_size=6), st.integers(0, 9))
def test_a_control_masks_as_many_words_as_the_explanation_or_there_is_none(text, words, seed):
    parted = named_by(text, words, M)
    drawn = random_masks(text, words, M, 3, seed)
    assert bool(drawn) is (0 < len(parted.named) <= len(parted.others))
    for masked in drawn:
        assert masked.count(M) == len(parted.named)
        assert all(text[slice(*span)] in masked for span in parted.named)


def test_random_masks_depend_on_the_seed_alone():
    text = " ".join(f"w{i:02}" for i in range(40))
    assert random_masks(text, ["w00"], M, 3, 3) == random_masks(text, ["w00"], M, 3, 3)
    assert random_masks(text, ["w00"], M, 3, 3) != random_masks(text, ["w00"], M, 3, 4)


def test_random_masks_for_a_redaction_by_the_model():
    redacted = f"The acting was {M} but the story was {M} and the music felt lifeless to everybody"
    for masked in random_redactions(TEXT, redacted, M, 3, 4):
        assert masked.count(M) == 2
        assert re.search("wonderful.*dreadful", masked)
    # only one of two "the" was masked: one word to draw
    assert random_redactions("the cat saw the dog", f"{M} cat saw the dog", M, 1, 1)[0].count(M) == 1
