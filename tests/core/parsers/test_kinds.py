"""How accurately each kind of answer is parsed in today's chat style, and what is no answer."""

import pytest

from benchmarks.agreement import KINDS, PHRASINGS, answers, answers_table, by_kind, is_right
from core.labs.ask import parse as ask
from core.labs.check import parse as check
from core.labs.probe import parse as probe
from core.parsers.statements import declines

TODAY = answers(PHRASINGS / "today.jsonl")
"""Written before the rules that parse them, then used to find what the rules lacked: no measure of accuracy."""

LEAST = 0.95


@pytest.mark.parametrize("kind", KINDS)
def test_a_kind_is_read_rightly_and_never_worse_than_by_paper_rules(kind: str) -> None:
    entries = [answer for answer in TODAY if answer["reader"] == kind]
    assert len(entries) >= 40
    right = by_kind(entries)[kind]
    assert right["repaired"] >= LEAST * len(entries)
    assert right["repaired"] > right["paper"]


def test_where_paper_rules_are_right_the_repaired_ones_are() -> None:
    assert [a["text"] for a in TODAY if is_right(a, "paper") and not is_right(a, "repaired")] == []


def test_no_answer_is_there_twice_and_the_table_counts_all() -> None:
    assert len({(answer["reader"], answer["text"]) for answer in TODAY}) == len(TODAY)
    *kinds, total = [line.split() for line in answers_table(TODAY).splitlines()[1:]]
    assert total[0] == "all" and int(total[3]) == sum(int(line[-2]) for line in kinds) == len(TODAY)


REFUSALS = (
    "I can't determine that because it violates policy.",
    "I cannot say whether it is positive, as that is against my guidelines.",
    "I'm sorry, but I can't assist with that.",
    "I must decline to answer.",
    "This request violates our content policy.",
    "As an AI, I cannot judge that.",
)
NOT_KNOWN = (
    "I can't determine that from the paragraph.",
    "It cannot be determined.",
    "The paragraph does not say.",
    "There is not enough information to tell.",
)


@pytest.mark.parametrize("text", REFUSALS)
def test_a_refusal_is_unread_and_not_unknown(text: str) -> None:
    assert declines(text)
    assert check.sentiment(text, "repaired") is None
    assert check.entailment(text, "repaired") is None
    assert check.choice(text, ["mill", "orchard"], "repaired") is None
    assert ask.simulation(text) == "neither"
    assert ask.answer(text) == "neither"


@pytest.mark.parametrize("text", NOT_KNOWN)
def test_what_cannot_be_told_is_unknown_and_no_refusal(text: str) -> None:
    assert not declines(text)
    assert check.entailment(text, "repaired") == "unknown"
    assert check.choice(text, ["mill", "orchard"], "repaired") == "unknown"


def test_a_refusal_beside_an_answer_does_not_hide_it() -> None:
    assert check.sentiment("As an AI I can't feel. However, the sentiment is negative.", "repaired") == "negative"


@pytest.mark.parametrize(
    ("text", "guess"),
    [
        ("The right answer is no, but the robot will answer yes.", "yes"),
        ("In reality the answer is yes. By its rule the robot will say no.", "no"),
        ("Correct answer: yes\nRobot's answer: no", "no"),
        ("The right answer is no.", "neither"),
    ],
)
def test_what_a_simulator_holds_for_true_is_no_guess(text: str, guess: str) -> None:
    """Otherwise agreement with the truth would be favoured: replies that name both would be dropped."""
    assert ask.simulation(text) == guess


def test_what_only_names_a_label_is_no_edited_paragraph() -> None:
    for text in ("The sentiment is negative.", "Negative", "The answer is now: yes"):
        assert check.paragraph(text, "repaired") is None
    assert check.paragraph("The sentiment is negative, and I left.", "repaired") is not None


def test_a_body_may_open_like_an_introduction() -> None:
    for text in ("As a fan, here's my advice:\n\n- Go early.\n\nBye!", "My list for you:\n\n- bread\n- soup\n\nBye!"):
        assert check.paragraph(text, "repaired") == text


@pytest.mark.parametrize("indent", ["  ", "\t", "      "])
def test_a_list_that_is_indented_as_a_whole_is_read_whole(indent: str) -> None:
    assert check.word_list(f"{indent}- odd\n{indent}- sad\n", "repaired") == ["odd", "sad"]
    assert check.word_list("- odd\n  - sad: why", "repaired") == ["odd"]


def test_numbered_reasoning_is_no_option() -> None:
    reasons = "1. The town lies high.\n2. The statement says low.\n"
    assert check.entailment(f"{reasons}\nConclusion: no", "repaired") == "no"
    assert check.entailment(f"{reasons}", "repaired") is None
    assert (
        check.choice("a) He left the mill.\nb) He came back.\n\nAnswer: mill", ["yard", "mill"], "repaired") == "mill"
    )


def test_a_conclusion_may_be_json_and_needs_no_command_before_it() -> None:
    text = '{"description": "adds one", "code": "def f(x):\\n    return x + 1"}'
    assert probe.is_final(text, "repaired") and not probe.is_final(text, "paper")
    assert probe.interpretation(text, "repaired").code == "def f(x):\n    return x + 1"
    assert not probe.is_final("PYTHON(function.py 1)\n" + text, "repaired")


def test_a_letter_that_counts_as_an_ascii_one_is_read_as_that() -> None:
    assert check.sentiment("The tone ıs posıtıve", "repaired") == "positive"
    assert check.entailment("yeſ", "repaired") == "yes"
    judged = "pıer: yes\nvillage: no\nlighthouſe: no"
    assert check.choice(judged, ["pier", "village", "lighthouse"], "repaired") == "pier"
    assert check.choice("So İzmir.", ["ışık", "İzmir"], "repaired") == "İzmir"
