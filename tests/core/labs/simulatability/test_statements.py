"""What statements come to, and how much of a reply is read for them."""

from __future__ import annotations

import re

import pytest

from core.labs.simulatability import parse
from core.labs.simulatability.reading.statements import Statement, reply, said, settle

READ = 4_096 + 12_288


def test_firm_statements_outweigh_loose_ones_but_for_one_that_comes_after() -> None:
    yes, no = Statement("yes", 5, True), Statement("no", 5, False)
    assert settle([yes]) == "yes" and settle([no]) == "no"
    assert settle([yes, no]) == settle([no, yes]) == "yes", "where both begin, the firm one counts"
    assert settle([yes, no._replace(at=6)]) == "neither"
    assert settle([yes, no._replace(at=4)]) == "yes"
    assert settle([yes, Statement("yes", 9, True), no._replace(at=8)]) == "yes"


def test_statements_that_do_not_agree_come_to_nothing() -> None:
    assert settle([]) == "neither"
    assert settle([Statement("yes", 0, False)]) == "yes", "the first character is a place too"
    assert settle([Statement("yes", 0, False), Statement("no", 1, False)]) == "neither"
    assert settle([Statement("yes", 0, True), Statement("no", 90, True)]) == "neither"


def test_a_long_reply_is_read_at_its_beginning_and_its_end() -> None:
    """Models answer in their first words or their last."""
    whole = ("ab" * READ)[:READ]
    assert reply(whole) == whole
    longer = f"{whole[:4_096]}?{whole[4_096:]}"
    assert reply(longer) == f"{whole[:4_096]}\n{whole[4_096:]}"
    assert parse.answer("Answer: yes.\n" + "a b c. " * 9_000) == "yes"
    assert parse.answer("a b c. " * 9_000 + "\nAnswer: yes.") == "yes"
    assert parse.answer("a b c. " * 4_000 + "\nAnswer: yes.\n" + "a b c. " * 4_000) == "neither"


@pytest.mark.parametrize(
    ("before", "kept"),
    [
        ("The answer is", True),
        ("It is not true that the answer is", False),
        ("Not: the answer is", True),
        ("Not so. The answer is", True),
        ("Whether the answer is", False),
        ("If the answer is", False),
        ("One asks if the answer is", False),
        # What denies it stands close before it, in its clause.
        (f"not {'very ' * 2}the answer is", False),
        (f"not {'very ' * 3}the answer is", True),
        (f"whether {'x' * 191} the answer is", False),
        (f"whether {'x' * 192} the answer is", True),
    ],
)
def test_what_is_denied_or_left_open_is_no_statement(before: str, kept: bool) -> None:
    text = f"{before} yes."
    matches = re.finditer(r"(?i)the answer is (?P<v>yes)", text)
    found = list(said(matches, text, {"yes": "yes"}, doubts=False))
    assert [statement.value for statement in found] == (["yes"] if kept else [])


@pytest.mark.parametrize(
    ("text", "kept", "firm"),
    [
        ("I say yes", True, False),
        ("Some think it, I say yes", True, False),
        ("Some I say yes", False, False),
        ("Unless it rains, I say yes", False, False),
        ("So unless it rains, I say yes", True, True),
        ("Therefore I say yes", True, True),
        ("It rains. Therefore it is wet. I say yes", True, False),
    ],
)
def test_what_is_doubted_or_hangs_on_a_condition_is_no_answer(text: str, kept: bool, firm: bool) -> None:
    def found(doubts: bool) -> list[Statement]:
        return list(said(re.finditer(r"I say (?P<v>yes)", text), text, {"yes": "yes"}, doubts))

    at = text.index("I say")
    assert found(True) == ([Statement("yes", at, firm)] if kept else [])
    assert found(False) == [Statement("yes", at, firm)]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ('{"answer": true}', "Answer: yes"),
        ('{"answer": false}', "Answer: no"),
        ('{"answer": null}', "Answer: unknown"),
        ('{"answer": "**No**", "final_answer": "yes"}', "Answer: yes"),
        ('{"reasoning": "yes"}', '{"reasoning": "yes"}'),
        ('{"answer": ""}', '{"answer": ""}'),
        ("<think>no</think>Yes.\nQuestion: another?\nNo.", "Yes."),
    ],
)
def test_the_answer_of_a_json_reply_is_a_line(text: str, words: str) -> None:
    assert reply(text) == words
