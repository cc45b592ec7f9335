"""Parse explanations and counterfactuals as today's chat models write them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import islice
from typing import TYPE_CHECKING, Any

from ....package_data import sibling_toml
from ....parsers.statements import begins_as_refusal
from ....parsers.yes_no import lead
from ....text.patterns import Patterns
from ....text.reply import as_written, json_in, keyed, own_turn, spoken, table_rows, without_markup
from ..records import CounterfactualPair
from . import paper

if TYPE_CHECKING:
    from ..tasks import Method, Task

RE = Patterns(sibling_toml(__file__, "phrases.toml"))

# The explanation

_EXPLANATION_KEYS = (
    *("justification", "explanation", "reasoning", "rationale", "reason", "reasons", "why", "analysis", "thoughts"),
)


def explanation(text: str, method: Method, task: Task) -> str | None:
    """Return the explanation in the model's own words, with its markdown; None if there is none.

    cot and shp: the whole reply. posthoc and forced: the text after the label, else the whole reply ("No, because .."),
    without lines and opening words that only give the answer, and without polite words at its end. A bare answer, a
    refusal and a question to the user explain nothing.
    """
    own = RE.wrapped.sub(r"\1\3", own_turn(spoken(text))).strip()
    if value := keyed(own, _EXPLANATION_KEYS):
        return str(value).strip() or None
    if task == "shp":
        return own or None
    if method == "cot":
        begins = lead(without_markup(own))
        bare = RE.bare_answer.fullmatch(own) or (begins and not begins[1] and "\n" not in own and len(own.split()) < 3)
        return None if bare else own or None
    if tagged := RE.justification_tag.search(own):
        return tagged[2].strip() or None
    rows = table_rows(own)
    if rows and all(len(row) == 2 for row in rows):
        own = "\n".join(": ".join(row) for row in rows)
    label = RE.heading.search(own) or RE.justification.search(own)
    if not label and (begins_as_refusal(own) or RE.asks_user.fullmatch(own)):
        return None
    return _without_answer(own[label.end() :] if label else own)


def _without_answer(text: str) -> str | None:
    """Remove the lines at both ends that only give the answer, and polite words at the end; None if nothing is left."""
    lines = text.strip().split("\n")
    beside = [RE.answer_or_parting.fullmatch(without_markup(RE.tag.sub("", line))) is not None for line in lines]
    first = next((at for at, is_beside in enumerate(beside) if not is_beside), len(lines))
    last = next((at for at in range(len(lines), first, -1) if not beside[at - 1]), first)
    rest = RE.parting_behind.sub("", "\n".join(lines[first:last]).strip())
    return (RE.one_word_label if first else RE.answer_sentence).sub("", rest) or None


# The counterfactual question

_QUESTION_KEYS = (
    *("follow_up_question", "followup_question", "counterfactual_question", "new_question", "question", "q"),
    "counterfactual",
    *("follow_up", "questions", "follow_up_questions", "counterfactuals"),
)


def _only(value: Any) -> str:
    """Return the first text in a JSON value: the first item of a list, the question of an object."""
    while isinstance(value, list | dict) and value:
        value = value[0] if isinstance(value, list) else next(iter(value.values()))
    return value if isinstance(value, str) else ""


def _unquoted(question: str) -> str:
    question = question.strip(" \t")
    while len(question) > 1 and question[0] in "\"'([" and question[-1] in "\"')]":
        question = question[1:-1].strip()
    if question[:1] in ('"', "'") and question.count(question[0]) == 1:
        question = question[1:].lstrip()
    return question


def _has_words(text: str) -> bool:
    return any(char.isalpha() for char in text)


def _questions(lines: list[str]) -> Iterator[str]:
    for index, line in enumerate(lines):
        line = RE.leads_up.sub("", RE.picture.sub("", line))
        line = RE.item_number.sub("", line)
        if RE.other_line.match(line):
            continue
        line = RE.question_label.sub("", RE.introduction.sub("", RE.introduction.sub("", line)))
        line = _unquoted(RE.item_number.sub("", line))
        quoted = RE.quoted_question.fullmatch(line)
        line = quoted[1] or quoted[2] if quoted else line
        if end := RE.question_end.search(line):
            asked = re.sub(r" ?\?{1,9}\Z", "?", _unquoted(line[: end.end()]))
            if _has_words(asked) and not RE.to_us.search(asked):
                yield asked
        # A question without a question mark is complete only if something follows it: the last line may have been cut
        # off.
        elif RE.begins_as_question.match(line) and index + 1 < len(lines) and len(line.split()) > 2:
            yield line.rstrip(".;,:") + "?"


_MOST_QUESTIONS = 50
"""Maximum number of questions that are examined."""


def question(text: str) -> str | None:
    """Return the first counterfactual question in the reply that yes or no could answer, else the first question, else
    None.

    Bullets, numbers, quotes, labels and introductions are removed. A single line is enough. The generator's guess, the
    starter question and questions addressed to the user are skipped. A text in the authors' exact form is never lost.
    """
    spoke = RE.tag.sub("\n", spoken(text))
    listed = json_in(spoke) if spoke.startswith(("[", "`")) else None
    source = _only(keyed(spoke, _QUESTION_KEYS) or listed) or spoke
    rows = table_rows(source)
    if rows:
        source = "\n".join(cell for row in rows[1:] for cell in row if "?" in cell)
    lines = without_markup(source).split("\n")
    labelled = [
        index for index, line in enumerate(lines) if RE.question_label.match(line) and re.match(r"(?i)\W*follow", line)
    ]
    asked = list(islice(_questions(lines[labelled[0] :] if labelled else lines), _MOST_QUESTIONS))
    question = next(filter(is_yes_or_no, asked), asked[0] if asked else paper.question(text))
    return as_written(question, source) if question and _has_words(question) else None


def is_yes_or_no(question: str) -> bool:
    """Whether yes or no could be the answer: not to "Why can't a dog fly?", but to "When it rains, do dogs get
    wet?".
    """
    return not RE.open_question.match(question) or bool(RE.inverted.search(question))


# The counterfactual pair

_PAIR_KEYS = (
    ("context", "post"),
    ("candidate_response_1", "response_1", "response1", "candidate_response_a", "response_a"),
    ("candidate_response_2", "response_2", "response2", "candidate_response_b", "response_b"),
)


def _part(text: str) -> str:
    """Return one part without fences, rules and emphasis around it."""
    text = re.sub(r"\A(?:```\w*\s*)|\s*(?:```|-{3,}|\*{3,})\s*\Z", "", text.strip()).strip()
    wrapped = re.fullmatch(r"(\*\*|__|[\"“])(.*?)(\*\*|__|[\"”])", text, re.DOTALL)
    return wrapped[2].strip() if wrapped else text.strip("*_ \n")


def _loose_pair(text: str) -> CounterfactualPair | None:
    context = RE.context.search(text)
    begins = context.end() if context else 0
    first = RE.first_response.search(text, begins)
    second = RE.second_response.search(text, first.end()) if first else None
    if not first or not second:
        return None
    return CounterfactualPair(
        context=text[begins : first.start()],
        response_1=text[first.end() : second.start()],
        response_2=text[second.end() :],
    )


def pair(text: str) -> CounterfactualPair | None:
    """Return the first counterfactual pair in the reply; None if one of its three parts is missing or empty.

    Labels may be bold or numbered, or say Post, Response A, Option 1. The post's label may be missing. Text after the
    second response (a guess, a choice, a further example) is cut.
    """
    spoke = spoken(text)
    values = [keyed(spoke, keys) for keys in _PAIR_KEYS]
    if not all(isinstance(value, str) and value for value in values):
        parsed = paper.pair(spoke) or _loose_pair(spoke)
        if parsed is None:
            return None
        values = list(dict(parsed).values())
    post, first, rest = values
    if after := RE.after_pair.search(rest, 1):
        rest = rest[: after.start()]
    parts = [_part(part) for part in (post, first, rest)]
    return CounterfactualPair(context=parts[0], response_1=parts[1], response_2=parts[2]) if all(parts) else None
