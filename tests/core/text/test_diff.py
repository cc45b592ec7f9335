import time
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.text.compare import Piece, distance, kept_share, letters, pieces


def test_a_changed_word():
    assert pieces("It was good. Really.", "It was bad. Really.") == [
        Piece("same", "It was "),
        Piece("removed", "good"),
        Piece("added", "bad"),
        Piece("same", ". Really."),
    ]


def test_a_mask_is_one_word():
    assert pieces("a great film", "a [REDACTED] film")[1:3] == [
        Piece("removed", "great "),
        Piece("added", "[REDACTED] "),
    ]


@pytest.mark.parametrize(
    ("original", "edited", "far", "stayed"),
    [
        ("a b c d", "a b c d", 0, 1),
        ("a b c d", "a x c d", 1 / 4, 3 / 4),
        ("a b c d", "a b c d e", 1 / 5, 1),
        ("a b c d", "w x y z", 1, 0),
        ("a b c d", "", 1, 0),
        ("", "", 0, 1),
        ("", "a", 1, 1),
        ("one two three", "three one two", 2 / 3, 2 / 3),
        ("one  two", "one two\n", 0, 1),
        ("great film", "[REDACTED] film", 1 / 2, 1 / 2),
        ("a c b", "x b b", 2 / 3, 1 / 3),
    ],
)
def test_distance_and_kept(original, edited, far, stayed):
    assert distance(original, edited) == pytest.approx(far)
    assert kept_share(original, edited) == pytest.approx(stayed)


TEXTS = st.one_of(
    st.text(max_size=80), st.lists(st.sampled_from(["a", "b", "[REDACTED]", ".", "\n"]), max_size=20).map(" ".join)
)


@given(TEXTS, TEXTS)
def test_pieces_make_both_texts(original, edited):
    parts = pieces(original, edited)
    assert "".join(piece.text for piece in parts if piece.op != "added") == original
    assert "".join(piece.text for piece in parts if piece.op != "removed") == edited


@given(TEXTS, TEXTS, TEXTS)
def test_distance_is_one(a, b, c):
    assert 0 <= distance(a, b) <= 1
    assert distance(a, b) == distance(b, a)
    assert distance(a, a) == 0
    assert 0 <= kept_share(a, b) <= 1


@given(st.lists(st.sampled_from("abc"), max_size=7), st.lists(st.sampled_from("abc"), max_size=7))
def test_distance_equals_the_plain_recursion(before, after):
    def steps(i, j):
        if not i or not j:
            return i + j
        same = before[i - 1] == after[j - 1]
        return min(steps(i - 1, j) + 1, steps(i, j - 1) + 1, steps(i - 1, j - 1) + (not same))

    longest = max(len(before), len(after), 1)
    assert distance(" ".join(before), " ".join(after)) * longest == pytest.approx(steps(len(before), len(after)))


def test_a_hundred_thousand_characters():
    text = " ".join(f"word{i % 500} the" for i in range(9_000))
    start = time.monotonic()
    assert 0 < distance(text, text.replace("word7 ", "other ")) < 0.1
    pieces(text, text.replace("word7 ", "other "))
    pieces(text, text[::-1])
    assert time.monotonic() - start < 20


@given(st.text("abc ", max_size=40), st.text("abc ", max_size=40))
def test_letters_make_both_texts_what_goes_before_what_comes(original: str, edited: str) -> None:
    found = letters(original, edited)
    if not found:
        return
    assert "".join(piece.text for piece in found if piece.op != "added") == original
    assert "".join(piece.text for piece in found if piece.op != "removed") == edited
    assert ("added", "removed") not in [(one.op, other.op) for one, other in pairwise(found)]


def test_letters_of_texts_that_have_little_in_common_or_are_long_are_not_compared() -> None:
    assert letters("room101", "root101") == [
        Piece("same", "roo"), Piece("removed", "m"), Piece("added", "t"), Piece("same", "101"),
    ]  # fmt: skip
    assert letters("Oslo", "12345") == [] and letters("a" * 201, "a" * 201) == []
    assert letters("abc", "abc") == [Piece("same", "abc")]
