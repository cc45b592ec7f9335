"""How statements are combined, and how much of a reply is read for them."""

import re

import pytest

from core.parsers.statements import FINAL, FIRM, LOOSE, Statement, reply, settle, stands, statements_in
from core.parsers.yes_no import first, yes_no

READ = 4_096 + 12_288


def test_firm_statements_outweigh_loose_ones_but_for_one_that_comes_after() -> None:
    yes, no = Statement("yes", 5, FIRM), Statement("no", 5, LOOSE)
    assert settle([yes]) == "yes" and settle([no]) == "no"
    assert settle([yes, no]) == settle([no, yes]) == "yes", "where both begin, the firm one counts"
    assert settle([yes, no._replace(at=6)]) is None
    assert settle([yes, no._replace(at=4)]) == "yes"
    assert settle([yes, Statement("yes", 9, FIRM), no._replace(at=8)]) == "yes"


def test_a_final_answer_outweighs_what_came_before_it() -> None:
    assert settle([Statement("yes", 0, FIRM), Statement("no", 9, FINAL)]) == "no"
    assert settle([Statement("no", 0, FINAL), Statement("yes", 9, FIRM)]) is None
    assert settle([Statement("no", 0, FINAL), Statement("yes", 9, FINAL)]) is None


def test_statements_that_do_not_agree_come_to_nothing() -> None:
    assert settle([]) is None
    assert settle([Statement("yes", 0, LOOSE)]) == "yes", "the first character is a place too"
    assert settle([Statement("yes", 0, LOOSE), Statement("no", 1, LOOSE)]) is None
    assert settle([Statement("yes", 0, FIRM), Statement("no", 90, FIRM)]) is None


def test_a_long_reply_is_read_at_its_beginning_and_its_end() -> None:
    """Models answer in their first words or their last."""
    whole = ("ab" * READ)[:READ]
    assert reply(whole) == whole
    longer = f"{whole[:4_096]}?{whole[4_096:]}"
    assert reply(longer) == f"{whole[:4_096]}\n{whole[4_096:]}"
    assert yes_no("Answer: yes.\n" + "a b c. " * 9_000) == "yes"
    assert yes_no("a b c. " * 9_000 + "\nAnswer: yes.") == "yes"
    assert yes_no("a b c. " * 4_000 + "\nAnswer: yes.\n" + "a b c. " * 4_000) is None


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
        # A denial is close before it, in its clause.
        (f"not {'very ' * 2}the answer is", False),
        (f"not {'very ' * 3}the answer is", True),
        (f"whether {'x' * 191} the answer is", False),
        (f"whether {'x' * 192} the answer is", True),
    ],
)
def test_what_is_denied_or_left_open_is_no_statement(before: str, kept: bool) -> None:
    text = f"{before} yes."
    found = statements_in(text, first, [re.compile(r"the answer is", re.IGNORECASE)], doubts=False)
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
    at, until = text.index("I say"), text.index("yes")
    assert stands(text, at, until, doubts=True) == ((FIRM if firm else LOOSE) if kept else 0)
    assert stands(text, at, until, doubts=False) == (FIRM if firm else LOOSE)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ('{"answer": true}', "Answer: yes"),
        ('{"answer": false}', "Answer: no"),
        ('{"answer": null}', "Answer: none"),
        ('{"answer": "**No**", "final_answer": "yes"}', "Answer: yes"),
        ('{"reasoning": "yes"}', '{"reasoning": "yes"}'),
        ('{"answer": ""}', '{"answer": ""}'),
        ('{"Final Label": "no", "why": "yes"}', "Answer: no"),
        ('{"yes": 0.2, "no": 0.7}', "Answer: no"),
        ('[{"label": "no"}]', "Answer: no"),
        ("{'answer': 'no'}", "Answer: no"),
        ('{"answer": "no"', "Answer: no"),
        ("So: \\boxed{\\text{no}}.", "So:\nFinal answer: no\n."),
        ("<verdict>no</verdict>", "Final answer: no"),
        ("| # | Answer | Why |\n|---|---|---|\n| 1 | No | so |", "Answer: No\nWhy: so"),
        ("| Label | |\n|---|---|\n| Yes | ✗ |\n| No | ✓ |\n| Unknown | ✗ |", "Final answer: No"),
        ("yes ❌\nno ✅", "Final answer: no"),
        ("<think>no</think>Yes.\nQuestion: another?\nNo.", "Yes."),
    ],
)
def test_the_answer_of_a_json_reply_is_a_line(text: str, words: str) -> None:
    assert reply(text) == words
