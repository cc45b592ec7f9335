"""The authors' own results, quirks included."""

import pytest

from core.labs.check import parse

ROOMS = ["bathroom", "garden", "kitchen"]


@pytest.mark.parametrize(
    ("text", "label"),
    [
        ("Positive.", "positive"),
        ('"Positive"', None),
        ("**Positive**", None),
        ("Answer: negative", None),
        ("Mixed", "neutral"),
        ("I cannot determine it", "unknown"),
        ("The sentiment is positive", "positive"),
        ('The sentiment is "positive".', "positive"),
        ('The sentiment is "positive"', None),  # a quote at the very end is not seen
        ("The tone seems negative, and is positive at the end", "positive"),  # positive is looked for first
        ("Sorry, I do not know", "unknown"),
        ("", None),
    ],
)
def test_paper_sentiment(text, label):
    assert parse.sentiment(text, "paper") == label


@pytest.mark.parametrize(
    ("text", "label"),
    [
        ('2) "no"', "no"),
        ("Not enough information", "no"),
        ("No, this is unknown", "unknown"),
        ("**Yes**", None),
        ('"yes"', None),
        ("Answer: 3", "unknown"),
        ("4) yes", None),
        ("Yes, on the whole", "yes"),
    ],
)
def test_paper_entailment(text, label):
    assert parse.entailment(text, "paper") == label


@pytest.mark.parametrize(
    ("text", "label"),
    [
        ("He has a, garden", "bathroom"),
        ('b) "garden"', "garden"),
        ("(c)", "kitchen"),
        ("d", "unknown"),
        ("The kitchen, not the garden", "kitchen"),
        ("z) garden", "garden"),
        ("I cannot determine that", "unknown"),
        ("It is elsewhere", None),
        ("İ", None),  # a letter whose lower case is two characters
    ],
)
def test_paper_choice(text, label):
    assert parse.choice(text, ROOMS, "paper") == label


def test_paper_choice_takes_the_alphabetically_first_at_one_place():
    assert parse.choice("in the bedroom", ["bedroom", "bed"], "paper") == "bed"


@pytest.mark.parametrize(
    ("text", "label"),
    [("Yes.", "yes"), ("NO", "no"), ("Yes, it is.", None), (" yes", "yes"), ("\nNo.\n", "no"), ("", None)],
)
def test_paper_ability(text, label):
    assert parse.ability(text, "paper") == label


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ('1. Awful\n2. "fun" (appears twice)', ["Awful", "fun"]),
        ('Important words: "great," "amazing,"', ["great", "amazing"]),
        ("Words: bad and ugly", ["bad and ugly"]),
        ("bad and ugly", ["ugly"]),
        ("IT. AND GOOD", ["IT", "GOOD"]),
        ("- great", ["great"]),
        ("good -.", ["good -"]),
        ("- front door", ["door"]),
        ("Words:\n**great**: praise", ["*great**: praise"]),
        ("", None),
        ("…", None),
    ],
)
def test_paper_word_list(text, words):
    assert parse.word_list(text, "paper") == words


@pytest.mark.parametrize(
    ("text", "paragraph"),
    [
        ("Sure, here is it", None),
        ("Here is the edited paragraph: It was bad.", "It was bad."),
        ("Paragraph: one\n\nParagraph: two", "two"),
        ("The train from Rome to: Milan was late", "Milan was late"),
        ("It was bad.", "It was bad."),
        ("Paragraph:", "Paragraph:"),  # a label at the very end is not seen
        ('"It was bad."', "It was bad."),
        ("Hi there, it was bad.", None),
        ("Sure! Here's the text\nIt was bad.", "It was bad."),
        ("x<p>It was bad.</p>", "It was bad."),
        ('"', None),
        ('"It" was bad.', '"It" was bad.'),
    ],
)
def test_paper_paragraph(text, paragraph):
    assert parse.paragraph(text, "paper") == paragraph


@pytest.mark.parametrize("rules", ["paper", "repaired"])
@pytest.mark.parametrize(
    ("read", "text", "expected"),
    [
        (parse.sentiment, "Positive", "positive"),
        (parse.entailment, "Yes, on the whole", "yes"),
        (parse.ability, "yes", "yes"),
        (parse.word_list, "- front\n- door", ["front", "door"]),
        (parse.paragraph, "It was bad.", "It was bad."),
        (lambda text, rules: parse.choice(text, ROOMS, rules), "b) garden", "garden"),
    ],
)
@pytest.mark.parametrize(("before", "after"), [(" ", ""), ("\n\n", "\n"), ("\t", " \n ")])
def test_white_space_around_an_answer_is_not_read(rules, read, text, expected, before, after):
    assert read(before + text + after, rules) == read(text, rules) == expected
