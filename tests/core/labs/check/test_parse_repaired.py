"""What chat models write today."""

import json

import pytest

from core.labs.check import parse

ROOMS = ["bathroom", "garden", "kitchen"]
STORY = "John went to the garden. Then, Mary took the apple to the kitchen."


@pytest.mark.parametrize(
    ("text", "label"),
    [
        ("positive", "positive"),
        ("Positive.", "positive"),
        ('"Positive"', "positive"),
        ("“Negative”", "negative"),
        ("**Positive**", "positive"),
        ("Answer: negative", "negative"),
        ("**Answer:** Negative", "negative"),
        ("**Answer: Negative**", "negative"),
        ("### Sentiment\n**Negative**", "negative"),
        ("The sentiment of the paragraph is **negative**.", "negative"),
        ('The sentiment is "positive"', "positive"),
        ('{"answer": "positive"}', "positive"),
        ('{"answer": ["positive"], "not": ["negative"]}', "positive"),
        ('```json\n{"sentiment": "Negative", "reason": "it says positive things ironically"}\n```', "negative"),
        ("```\nneutral\n```", "neutral"),
        ("<think>It could be negative.</think>\n\npositive", "positive"),
        ("<think>The review is negative, so", None),
        ("Negative. The reviewer mentions some positive aspects, but they do not outweigh the rest.", "negative"),
        ("Negative — the word “dull” gives it away", "negative"),
        ("Mixed", "neutral"),
        ("The review is mixed.", "neutral"),
        ("Very positive!", "positive"),
        ("I would classify the sentiment of this paragraph as negative.", "negative"),
        ("While it has some positive moments, the overall sentiment is negative.", "negative"),
        ("The sentiment is not positive, it is negative.", "negative"),
        ("It contains both positive and negative remarks.", "neutral"),
        ("I cannot determine it", "unknown"),
        ("Unknown", "unknown"),
        ("It is impossible to tell whether the sentiment is positive or negative.", "unknown"),
        ("There is not enough information to say that it is positive.", "unknown"),
        ("The sentiment can't be determined because the key words are redacted.", "unknown"),
        ("$\\boxed{\\text{negative}}$", "negative"),
        ("Let me look: “awful” is a harsh word.\n\nFinal answer: negative", "negative"),
        ("positive, negative, neutral, or unknown", None),
        ("Either positive or negative", None),
        ("Answer: positive, as negative words are rare.\nAnswer: see above.", "positive"),
        ("Neutral/unknown", "unknown"),
        ("not positive", None),
        ("The paragraph has a negative tone. It does not say anything good.", "negative"),
        ("The overall tone is critical and the sentiment is therefore negative.", "negative"),
        ("I'm sorry, but I can't assist with that.", None),
        ("yes", None),
        ("", None),
    ],
)
def test_repaired_sentiment(text, label):
    assert parse.sentiment(text, "repaired") == label


@pytest.mark.parametrize(
    ("text", "label"),
    [
        ("yes", "yes"),
        ("**Yes**", "yes"),
        ('"yes"', "yes"),
        ("Yes, the paragraph says so. The date is unknown.", "yes"),
        ('1) "yes"', "yes"),
        ('2) "no"', "no"),
        ("2", "no"),
        ("**3)** unknown", "unknown"),
        ("Option 2", "no"),
        ("(1)", "yes"),
        ("2) yes", "yes"),
        ("[x] yes", "yes"),
        ("[ ] yes\n[x] no\n[ ] unknown", "no"),
        ("| # | Answer | Why |\n|---|---|---|\n| 1 | No | it says so |", "no"),
        ("Not enough information", "unknown"),
        ("No, this is unknown", "unknown"),
        ("No, the paragraph says the opposite.", "no"),
        ("No.\nThe paragraph only speaks of the mother.", "no"),
        ("Answer: **no**", "no"),
        ("The answer is yes.", "yes"),
        ('{"answer": 2}', "no"),
        ('{"entailment": false}', "no"),
        ('{"answer": "yes", "explanation": "No doubt."}', "yes"),
        ("Entailment", "yes"),
        ("No entailment", "no"),
        ("Not entailed", "no"),
        ("The statement does not follow from the paragraph.", "no"),
        ("The statement is entailed by the paragraph.", "yes"),
        ("The paragraph entails the statement.", "yes"),
        ("It cannot be determined from the paragraph whether this is so.", "unknown"),
        ("<think>1) yes?</think>no", "no"),
        ('1) "yes", 2) "no", or 3) "unknown"', None),
        ("yes, no or unknown", None),
        ("In 2 days he left", None),
        ("The correct answer is 3) unknown.", "unknown"),
        ('2) "no" for no entailment', "no"),
        ("It does not follow.", "no"),
        ("", None),
    ],
)
def test_repaired_entailment(text, label):
    assert parse.entailment(text, "repaired") == label


@pytest.mark.parametrize(
    ("text", "label"),
    [
        ("garden", "garden"),
        ("Garden.", "garden"),
        ('"garden"', "garden"),
        ("**b) garden**", "garden"),
        ('b) "garden"', "garden"),
        ("b", "garden"),
        ("(c)", "kitchen"),
        ("B.", "garden"),
        ("**Answer:** c) kitchen", "kitchen"),
        ("The answer is b.", "garden"),
        ("The answer is the kitchen.", "kitchen"),
        ('{"answer": "c"}', "kitchen"),
        ('{"answer": "garden"}', "garden"),
        ("d) unknown", "unknown"),
        ("d", "unknown"),
        ("Unknown", "unknown"),
        ("a) garden", "garden"),
        ("He has a, garden", "garden"),
        ("John is in the kitchen.", "kitchen"),
        ("John is not in the garden, he is in the kitchen.", "kitchen"),
        ("John was in the garden and then left for the kitchen. So he is in the kitchen.", "kitchen"),
        ("The paragraph does not say where John is.", "unknown"),
        ("It cannot be determined whether John is in the garden.", "unknown"),
        ("Not enough information", "unknown"),
        ('a) "bathroom", b) "garden", c) "kitchen", or d) "unknown"', None),
        ("In the garden or in the kitchen.", None),
        ("A man went out.", None),
        ("a) bathroom or b) garden", None),
        ("kitchen (c)", "kitchen"),
        ("b) because he left the kitchen", "garden"),
        ("c) [REDACTED]", "kitchen"),
        ("a", "bathroom"),
        ("e", None),
        ("b) garden\nc) kitchen", None),
        ("(b) [REDACTED]\nb) [REDACTED], once more", "garden"),
        ("b) garden\nHe went there.", "garden"),
        ("He was there.\nb) garden", "garden"),
        ("a) or b)", None),
        ("John moved to the garden, so the answer is b.", "garden"),
        ("İ", None),
        ("```\nkitchen\n```", "kitchen"),
        ("", None),
    ],
)
def test_repaired_choice(text, label):
    assert parse.choice(text, ROOMS, "repaired") == label


def test_repaired_choice_prefers_the_longer_of_two_that_overlap():
    assert parse.choice("In the living room.", ["living room", "room"], "repaired") == "living room"


def test_choices_with_marks_and_letters():
    choices = ["Go to the beach.", "Go to the park.", "a", "C++"]
    assert parse.choice("**Go to the park**", choices, "repaired") == "Go to the park."
    assert parse.choice("They wanted to go to the beach.", choices, "repaired") == "Go to the beach."
    assert parse.choice("d) C++", choices, "repaired") == "C++"


@pytest.mark.parametrize(
    ("text", "label"),
    [
        ("Yes.", "yes"),
        ("Yes, it is.", "yes"),
        ("**No**", "no"),
        ("(No), it is not.", "no"),
        ("Answer: no", "no"),
        ('{"answer": true}', "yes"),
        ("It is possible to determine the sentiment.", "yes"),
        ("It is not possible to answer the question.", "no"),
        ("yes or no", None),
        ("perhaps", None),
        ("", None),
    ],
)
def test_repaired_ability(text, label):
    assert parse.ability(text, "repaired") == label


@pytest.mark.parametrize(
    "text",
    [
        "1. great\n2. dull plot",
        "1) great\n2) dull plot",
        "- great\n- dull plot",
        "* **great**\n* **dull plot**",
        "- **great**: it praises the film\n- **dull plot**: it does not",
        "1. **Great** (appears twice)\n2. **dull plot** (used once)",
        '1. "great" (positive)\n2. "dull plot" - says what is wrong',
        "• great – praise\n• dull plot – blame",
        "Here are the most important words:\n\n1. great\n2. dull plot\n\nWithout these words the sentiment is open.",
        'The most important words are "great" and "dull plot".',
        "The most important words are “great,” and “dull plot.”",
        "Important words: great, dull plot",
        "Important words: great, and dull plot.",
        "great, dull plot",
        "great\ndull plot",
        "**great**, **dull plot**",
        '["great", "dull plot"]',
        '{"words": ["great", "dull plot"]}',
        '{"words": [{"word": "great", "why": "praise"}, {"word": "dull plot"}]}',
        '```json\n["great", "dull plot"]\n```',
        "```\ngreat\ndull plot\n```",
        "['great', 'dull plot']",
        "| Word | Why |\n|---|---|\n| great | praise |\n| dull plot | blame |",
        "- Positive words: great\n- Negative words: dull plot",
        "<think>\n- awful\n</think>\n- great\n- dull plot",
        "1. great\n2. dull plot\n3. great",
        "- Positive words:\n  - great\n- Negative words:\n  - dull plot",
        "1. great\n   - used for the acting\n2. dull plot\n   - used for the story",
        "great; dull plot",
        "* great / dull plot",
        "Here are the words:\ngreat\ndull plot",
        "- “great” → praise\n- “dull plot” → blame",
    ],
)
def test_repaired_word_list(text):
    assert [word.lower() for word in parse.word_list(text, "repaired")] == ["great", "dull plot"]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("- 10%\n- wow!\n- don't", ["10%", "wow!", "don't"]),
        ("1. well-made\n2. not bad", ["well-made", "not bad"]),
        ("great", ["great"]),
        ("- great", ["great"]),
        ("None", None),
        ("", None),
        ("There are no important words.", None),
        ("Great, fun and dull", ["Great", "fun", "dull"]),
        ("great - dull plot - very old film\nbad, worse", ["great", "dull plot", "very old film", "bad", "worse"]),
        ("The film is too long by an hour - bad - worse", None),
        ("The words: rise and fall", ["rise and fall"]),
        ("great. dull plot. bad", ["great", "dull plot", "bad"]),
        ("Great. A very dull plot. Bad.", None),
        ("It was a long evening with old friends, and then we all went home at last", None),
        ('For [REDACTED]: {"words": ["dull", "old"]}', ["dull", "old"]),
        ("| 1 | 2 |\n|---|---|\n| dull | it is |\n| old | it was |", ["dull", "old"]),
        ("| # | Praise |\n|---|---|\n| 1 | dull |\n| 2 | old |", ["dull", "old"]),
        ("- great\n          - fun", ["great"]),
        ("Here: the words: great, dull", ["great", "dull"]),
        ('{"answer": "great"}', ["great"]),
        ('like, "crushing bore," and bad:', ["like", "crushing bore", "bad"]),
        ('{"great": "praise", "dull": "blame"}', ["great", "dull"]),
        ("Please share the paragraph.", None),
        ("I don't see a paragraph in your message.", None),
        ("No changes are needed.", None),
    ],
)
def test_repaired_word_list_edges(text, words):
    assert parse.word_list(text, "repaired") == words


@pytest.mark.parametrize(
    "frame",
    [
        "{}",
        "Paragraph: {}",
        "**Paragraph:** {}",
        "**Edited paragraph:**\n\n{}",
        "Edited Paragraph:\n{}",
        "Here is the edited paragraph:\n\n{}",
        'Here\'s the edited paragraph: "{}"',
        "Sure! Here's the paragraph with as few edits as possible:\n\n> {}",
        "Sure, here is the edited version.\n\n{}",
        "Certainly! {}",
        "```\n{}\n```",
        "Here it is:\n\n```text\n{}\n```\n\nI changed one word.",
        '"{}"',
        "'{}'",
        "“{}”",
        "**{}**",
        '{{"paragraph": "{}"}}',
        '```json\n{{"edited_paragraph": "{}", "changes": "one word"}}\n```',
        "{}\n\n(Note: I changed one word.)",
        "{}\n\n**Changes made:**\n- one word",
        "{}\n\n**Changes made:**\n- dull became bright",
        "{}\n\nI replaced one word so that the answer changes.",
        "{}\n\n---\nExplanation: one word was changed.",
        "{}\n\nI replaced one word.\n\nLet me know if you need another version.",
        "Original paragraph: something else\n\nEdited paragraph: {}",
        "Paragraph: something else\n\nParagraph: {}",
        "Option 1:\nSomething else.\n\nOption 2:\n{}",
        "Here's a version with few edits:\n\nSomething else.\n\nHere's another version:\n\n{}",
        "Something else.\n\nor\n\n{}",
        "Edited paragraph (negative sentiment): {}",
        "The edited paragraph is: {}",
        '{} (Changed "good" to "bad".)',
        "<think>Let me edit: Paragraph: no.</think>\n{}",
        "<paragraph>{}</paragraph>",
    ],
)
@pytest.mark.parametrize(
    "paragraph",
    [
        STORY,
        "The train from Rome to: Milan was late.",
        "This paragraph is about [REDACTED]. Here is what I think: it was [REDACTED].",
        "Sorry, but this film is a mess.",
        "I cannot help but love this film.",
        "It is a good film (from 1990).",
    ],
)
def test_repaired_paragraph(frame, paragraph):
    assert parse.paragraph(frame.format(paragraph), "repaired") == paragraph


@pytest.mark.parametrize(
    "text",
    [
        "I'm sorry, but I can't help with that.",
        "I cannot edit this paragraph.",
        "As an AI language model, I have no opinion on films.",
        "Sure, here is the edited paragraph:",
        "Please share the paragraph.",
        "I don't see a paragraph in your message.",
        "No changes are needed.",
        "To edit the paragraph:\n- change good to bad\n- remove fine",
        "- change good to bad\n- remove fine",
        "You could simply change good to bad.",
        "Some ideas for the film:\n- bad in place of good\n- nothing in place of fine",
        "[]",
        "",
        "```\n```",
    ],
)
def test_no_paragraph(text):
    assert parse.paragraph(text, "repaired") is None


@pytest.mark.parametrize(
    "text", ["- change good to bad\n- He is a bad man.", "- change good to bad\nHe is a bad man.", "Change\nis good."]
)
def test_what_is_not_advice_throughout_is_a_paragraph(text):
    assert parse.paragraph(text, "repaired") == text


def test_a_paragraph_keeps_its_inner_line_breaks_and_marks():
    paragraph = (
        "First part: it began well.\nReview: 8 of 10\n\n1. A list\n2. inside\n\n*Emphasis* stays, <b>so does this</b>."
    )
    assert parse.paragraph(f"Edited paragraph:\n\n{paragraph}", "repaired") == paragraph


@pytest.mark.parametrize(
    ("text", "read"),
    [
        ("«He said «no» and left.»", "He said «no» and left."),
        ("«No», he said, and «never».", "«No», he said, and «never»."),
        ("- He ran - and fell.", "He ran - and fell."),
        ('"I"', "I"),
        ('"He said "no."', '"He said "no."'),
        ('{"why": "as asked", "new one": "A film that is bad."}', "A film that is bad."),
    ],
)
def test_marks_around_the_whole_are_taken_off_and_no_others(text, read):
    assert parse.paragraph(text, "repaired") == read


SHOP = "The shop opened in May. Its owner is kind."
OLD_AND_NEW = "The shop opened in June. Its owner is kind."
IN_THREE = "The shop opened in May.\n\nIts owner is kind.\n\nIt closed in June."


@pytest.mark.parametrize(
    ("text", "read"),
    [
        # Words before the original are a label only if a mark sets them off.
        ("It is not true that the shop opened in May.\n\n(One change.)", "It is not true that the shop opened in May."),
        (f"Original: {SHOP}\nEdited: {OLD_AND_NEW}", OLD_AND_NEW),
        # Each sentence on its own, and one more.
        (IN_THREE, IN_THREE),
        # An introduction without "here is".
        (f"With the smallest change I see, it would read as follows. {OLD_AND_NEW}", OLD_AND_NEW),
        ("The shop opened in [-May-]{+June+}. Its owner is kind.", OLD_AND_NEW),
        ("The shop opened in {--May--}{++June++}. Its owner is kind.", OLD_AND_NEW),
        # What is left of marks that are not known is no edit.
        ("The shop opened in [was: May] June. Its owner is kind.", None),
        ("The shop opened in {May|June}. Its owner is kind.", None),
    ],
)
def test_an_edit_is_told_from_the_original_and_from_marks(text: str, read: str | None) -> None:
    original = SHOP if "owner" in text else SHOP.partition(" Its")[0]
    assert parse.paragraph(text, "repaired", original) == read


def test_marks_of_other_scripts_end_a_word_and_an_answer() -> None:
    assert parse.word_list("关键词：wonderful、superb。", "repaired") == ["wonderful", "superb"]
    assert (parse.entailment("答案：yes。", "repaired"), parse.sentiment("positive。", "repaired")) == (
        "yes",
        "positive",
    )


def test_json_of_a_whole_answer_survives_being_written_out():
    assert (
        parse.paragraph(json.dumps({"paragraph": 'He said "no".\nThen left.'}), "repaired")
        == 'He said "no".\nThen left.'
    )


@pytest.mark.parametrize(
    ("text", "read"),
    [
        ("The first half is positive. The second half is negative.", "negative"),
        ("The second half is negative. The first half is positive.", "positive"),
        ("At first the tone is negative. Then it seems neutral. The review is positive.", "positive"),
        ("The acting is positive. Overall, the sentiment cannot be determined.", "unknown"),
    ],
)
def test_where_sentences_about_the_tone_differ_the_last_one_counts(text: str, read: str) -> None:
    assert parse.sentiment(text, "repaired") == read


@pytest.mark.parametrize(
    ("text", "read"),
    [
        ("The first sentence entails it. The second does not entail it.", "no"),
        ("The first sentence does not entail it. The second entails it.", "yes"),
        ("The first sentence supports it. Taken together, the paragraph does not say.", "unknown"),
    ],
)
def test_where_sentences_about_the_statement_differ_the_last_one_counts(text: str, read: str) -> None:
    assert parse.entailment(text, "repaired") == read
