"""Both parsers on any text."""

import time
import tracemalloc

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.events import LONGEST_ANSWER
from core.labs.check import parse
from core.text.reply import json_in

HOSTILE = st.one_of(
    st.text(max_size=300),
    st.lists(
        st.sampled_from(
            [
                "positive", "no", "a)", "1)", "Paragraph:", "to:", "- ", "\n", '"', "**", "```", "<think>", "</think>",
                "{", "[", "]", "}", '{"answer": ', "<p>", "Here is", ":", ", ", "İ", "unknown", "|", "(", "Note:",
                "\\boxed{", "'", "’", "1.", "\u2028",
            ]
        ),
        max_size=25,
    ).map("".join),
)  # fmt: skip


@given(HOSTILE, st.sampled_from(["paper", "repaired"]), st.lists(st.text(max_size=8), max_size=4))
def test_nothing_raises(text, rules, choices):
    assert parse.sentiment(text, rules) in {"positive", "negative", "neutral", "unknown", None}
    assert parse.entailment(text, rules) in {"yes", "no", "unknown", None}
    assert parse.ability(text, rules) in {"yes", "no", None}
    assert parse.choice(text, choices, rules) in {*choices, "unknown", None}
    words = parse.word_list(text, rules)
    assert words is None or (words and all(words))
    paragraph = parse.paragraph(text, rules)
    assert paragraph is None or paragraph


@pytest.mark.sampled(2)
@pytest.mark.parametrize(
    "text", ["[" * 100_000, '{"a":' * 20_000, "word " * 20_000, "**" * 50_000, '"' * 50_000, "<think>" * 9_000]
)
def test_the_longest_answers_are_read_in_reasonable_time(text):
    text, began = text[:LONGEST_ANSWER], time.process_time()
    for rules in ("paper", "repaired"):
        parse.sentiment(text, rules)
        parse.entailment(text, rules)
        parse.choice(text, ["garden", "kitchen"], rules)
        parse.word_list(text, rules)
        parse.paragraph(text, rules)
    assert time.process_time() - began < 4


@given(st.sampled_from(["positive", "negative", "neutral", "unknown"]))
def test_both_rules_read_the_bare_label(label):
    assert parse.sentiment(label, "paper") == parse.sentiment(label, "repaired") == label


@pytest.mark.parametrize("run", ["\n", " \n", "\n*", "\n# ", "\n_ ", "\n>", "new\n", "\nnote "])
def test_a_paragraph_in_many_blank_or_marked_lines_is_read_in_linear_time(run):
    start = time.process_time()
    assert parse.paragraph("A fine film." + run * (50_000 // len(run)) + "x", "repaired") is not None
    assert time.process_time() - start < 5


@pytest.mark.parametrize("run", [" ", "\t", ".", "*", "_", '"', "- ", " -", " ("])
def test_a_list_of_words_with_a_long_run_of_marks_is_read_in_linear_time(run):
    start = time.process_time()
    parse.word_list("A fine film." + run * (100_000 // len(run)) + "x", "repaired")
    assert time.process_time() - start < 5


def test_json_is_looked_for_at_the_first_twenty_brackets():
    assert json_in("[ " * 19 + '{"answer": "yes"}') == {"answer": "yes"}
    assert json_in("[ " * 20 + '{"answer": "yes"}') is None


def test_an_answer_announced_thousands_of_times_takes_little_memory():
    tracemalloc.start()
    try:
        assert parse.sentiment("the answer is " * 7_000, "repaired") is None
        assert tracemalloc.get_traced_memory()[1] < 50_000_000
    finally:
        tracemalloc.stop()
