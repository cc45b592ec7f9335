"""A sentence to be quoted is short, in one line, and the text's own."""

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.text.display import first_sentence


@pytest.mark.parametrize(
    ("text", "quoted"),
    [
        ("An emu cannot fly. So the answer is no.", "An emu cannot fly."),
        ("No. Whales are mammals, and they breathe air. They dive.", "No. Whales are mammals, and they breathe air."),
        ("yes", "yes"),
        ("It weighs 3.5 kg or so!\nMore.", "It weighs 3.5 kg or so!"),
        ('He said "all birds can fly." And then', 'He said "all birds can fly."'),
        ("All birds can fly\nSo the answer is yes", "All birds can fly"),
        ("Yes. No.", "Yes. No."),
        ("  \n ", ""),
        ("", ""),
    ],
)
def test_the_first_sentence_is_quoted(text: str, quoted: str) -> None:
    assert first_sentence(text) == quoted


def test_a_long_one_is_cut_and_says_so() -> None:
    assert first_sentence("word " * 100, most=20) == "word word word word…"
    assert len(first_sentence("x" * 1000)) == 160


@given(st.text(), st.integers(min_value=2, max_value=50))
def test_it_is_one_line_of_bounded_length_from_the_text(text: str, most: int) -> None:
    quoted = first_sentence(text, most)
    assert len(quoted) <= most and "\n" not in quoted
    assert " ".join(text.split()).startswith(quoted.removesuffix("…").rstrip())


def test_a_text_of_a_million_characters_takes_no_longer() -> None:
    began = time.process_time()
    for text in (". " * 500_000, "a" * 1_000_000, "\n" * 1_000_000):
        first_sentence(text)
    assert time.process_time() - began < 0.5
