"""What is taken off a chat model's reply before it is read."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.text.reply import concluded, fields, own_turn, spoken, table_rows, without_markup


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("Yes.", "Yes."),
        ("<think>a</think> Yes.", "Yes."),
        ("<Thinking>a</Thinking>Yes. <think>b</think>No.", "Yes. No."),
        ("a</think>Yes.", "Yes."),
        ("<think>a", ""),
        ("Yes. <think>a", "Yes."),
        ("<think><think>a</think>Yes.", "Yes."),
        ("<|channel|>analysis<|message|>a<|end|><|channel|>final<|message|>Yes.<|return|>", "Yes."),
        ("Yes.<|im_end|>", "Yes."),
        ("Assistant: here is my response. Yes.", "Yes."),
        ("a < b and b > c", "a < b and b > c"),
    ],
)
def test_spoken(text, said):
    assert spoken(text) == said


def test_own_turn_ends_where_the_model_asks_itself_the_next_question():
    assert own_turn("Yes.\n\nQ: Is it?\nA: No.") == "Yes."
    assert own_turn("Question: Is it?\nAnswer: Yes.") == "Question: Is it?\nAnswer: Yes."


@pytest.mark.parametrize(
    ("text", "bare"),
    [
        ("**Yes**, _really_.", "Yes, really."),
        ("# Answer\n\n> * `yes`", "Answer\nyes"),
        ("```\nyes\n```", "yes"),
        ("$\\boxed{\\text{yes}}$", "yes"),
        ("“Yes,” it’s", '"Yes," it\'s'),
        ("a  b\u00a0c\r\n\r\n\r\nd", "a b c\nd"),
        ("snake_case costs $5", "snake_case costs $5"),
    ],
)
def test_markup_and_typography_are_taken_off(text, bare):
    assert without_markup(text) == bare


@pytest.mark.parametrize(
    ("text", "entries"),
    [
        ('{"Answer": "yes"}', {"answer": "yes"}),
        ('```json\n{"final answer": 1}\n```', {"final_answer": 1}),
        ('So: {"a": {"b": 2}} and more}', {"a": {"b": 2}}),
        ("{not json}", {}),
        ("[1, 2]", {}),
        ("{" * 100_000, {}),
        ('{"a":' * 50_000, {}),
        ("", {}),
    ],
)
def test_fields(text, entries):
    assert fields(text) == entries


@pytest.mark.parametrize(
    ("text", "lines"),
    [
        ("So. <answer> yes </answer>", "So. \nFinal answer: yes\n"),
        ("So. <Answer>yes", "So. \nFinal answer: yes\n"),
        ("So. [ANSWER] no [/ANSWER]", "So. \nFinal answer: no\n"),
        ("So: $\\boxed{yes}$", "So: \nFinal answer: yes\n"),
        ("<other>yes</other>", "<other>yes</other>"),
    ],
)
def test_what_a_box_or_tags_hold_is_a_line_of_its_own(text, lines):
    assert concluded(text) == lines
    assert concluded(text, label="") == lines.replace("Final answer: ", "")


def test_a_table_is_its_cells_without_the_line_below_its_heading():
    table = "See:\n| item | answer |\n|:---|---:|\n| a-b | c: d |\n  |owl|yes|\n"
    assert table_rows(table) == [["item", "answer"], ["a-b", "c: d"], ["owl", "yes"]]
    assert table_rows("| one line |") == table_rows("none") == []


def test_what_breaks_off_is_read_up_to_a_length():
    end = "', 'b': 1}"
    longest = "{'a': '" + "x" * (20_000 - 7 - len(end)) + end
    assert fields(longest)["b"] == 1 and fields(longest.replace("x", "xx", 1)) == {}


@given(st.text())
def test_any_text_is_taken(text):
    assert isinstance(without_markup(own_turn(spoken(text))), str)
    assert isinstance(fields(text), dict)
