"""Shared words and where they stand; the stopword list."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.text import compare
from core.text.compare import content_words, mark, stem, words


def test_content_words_are_in_lower_case():
    assert content_words("Can BIRDS fly over the sea?") == {"birds", "fly", "sea"}
    assert content_words("It is.") == set() == content_words("")


def test_words_keep_their_marks_and_joiners():
    assert [*words("Don’t re-do the café's 2 plans - now!")] == ["don't", "re-do", "the", "café's", "2", "plans", "now"]
    assert words("cafe\u0301") == ("café",)
    assert words("'tis an owl'") == ("tis", "an", "owl") and words("x-") == ("x",)
    assert words("हिन्दी 😀 ok") == ("हिन्दी", "ok")


def test_forms_of_a_word_have_one_stem():
    assert {stem(word) for word in ("swim", "swims", "swimming", "swim's")} == {"swim"}
    assert stem("lying") == stem("lies") == "lie" and stem("birds") != stem("birch")
    assert stem("ay" * 100) == "ay" * 100, "no word: the stemmer would take its time"


def test_marking():
    assert mark("Can birds fly, or Birds?", {"birds", "fly"}) == [
        ("Can ", False),
        ("birds", True),
        (" ", False),
        ("fly", True),
        (", or ", False),
        ("Birds", True),
        ("?", False),
    ]
    assert mark("birdsong", {"birds"}) == [("birdsong", False)]
    assert mark("", {"birds"}) == []


def test_a_word_in_two_spellings_of_the_same_letters_is_shared():
    composed, apart = "café", "cafe\u0301"
    assert content_words(composed) == content_words(apart) == {"café"}
    assert mark(apart, {"café"}) == [(apart, True)]


@given(st.text(), st.text())
def test_the_pieces_are_the_text(a, b):
    shared = content_words(a) & content_words(b)
    pieces = mark(a, shared)
    assert "".join(piece for piece, _ in pieces) == a
    assert all(piece for piece, _ in pieces)
    marked = [piece for piece, chosen in pieces if chosen]
    assert {word for piece in marked for word in words(piece)} == shared


def test_a_list_has_comments_and_several_words_a_line():
    assert compare.words_of("# a heading\nthe a\n\nisn't # and more\n") == {"the", "a", "isn't"}


def test_the_list_is_lower_case():
    assert {"the", "is", "not", "don't"} <= compare.english()
    assert all(word == word.lower() for word in compare.english())


@pytest.mark.outside_data
def test_the_list_has_nltks_words(outside):
    path = outside / "nltk" / "stopwords_english.txt"
    assert compare.english() == compare.words_of(path.read_text(encoding="utf-8"))
