"""Parse explanations and counterfactuals as today's chat models write them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import islice
from typing import Any

from ....parsers.yes_no import lead
from ....text.reply import as_written, json_in, keyed, own_turn, spoken, table_rows, without_markup
from ..tasks import Method, Task
from . import paper
from .values import CounterfactualPair

# The explanation

_EXPLANATION_KEYS = ("justification", "explanation", "reasoning", "rationale", "reason", "analysis", "thoughts")
_JUSTIFICATION = re.compile(
    r"(?:^|(?<=[.!?]) )[\W_]{0,6}(?:my )?(?:justification|explanation|reasoning|rationale|reason)[*_ ]{0,4}"
    r"[:–—-][*_]{0,3}[ \n]?",
    re.IGNORECASE | re.MULTILINE,
)
_HEADING = re.compile(
    r"^#{1,6} (?:my )?(?:justification|explanation|reasoning|rationale|reason)[*_: ]{0,4}\n\s{0,4}",
    re.IGNORECASE | re.MULTILINE,
)
_WHOLE = re.compile(r"\A(?:```\w*\n(.*)\n```|<(answer|explanation|output)>(.*)</\2>)\Z", re.DOTALL)
_ANSWER_LINE = re.compile(r"[\W_]{0,6}(?:(?:final )?answer\W{1,6})?(?:yes|no)[\W_]{0,6}", re.IGNORECASE)


def explanation(text: str, method: Method, task: Task) -> str | None:
    """Return the explanation in the model's own words, with its markdown; None if there is none.

    cot and shp: the whole reply. posthoc and forced: the text after the label, else the text after an answer on a line
    of its own, else the whole reply ("No, because .."). A bare answer explains nothing.
    """
    own = _WHOLE.sub(r"\1\3", own_turn(spoken(text))).strip()
    if value := keyed(own, _EXPLANATION_KEYS):
        return str(value).strip() or None
    if task == "shp":
        return own or None
    if method != "cot":
        label = _HEADING.search(own) or _JUSTIFICATION.search(own)
        if label:
            return own[label.end() :].strip() or None
        first, _, rest = own.partition("\n")
        if _ANSWER_LINE.fullmatch(first):
            return rest.strip() or None
    begins = lead(without_markup(own))
    bare = _ANSWER_LINE.fullmatch(own) or (begins and not begins[1] and "\n" not in own and len(own.split()) < 3)
    return None if bare else own or None


# The counterfactual question

_QUESTION_KEYS = (
    *("follow_up_question", "followup_question", "counterfactual_question", "new_question", "question", "q"),
    "counterfactual",
    *("follow_up", "questions", "follow_up_questions", "counterfactuals"),
)
_NUMBER = re.compile(
    r"^\W{0,3}(?:(?:question|q)? ?#?\d{1,2} ?[.):]{1,2}|#\d{1,2} |\d{1,2}(?: [-–]|/) |\[[ x]\] |q\. "
    r"|[a-z]{1,3}\. (?=(?:is|are|was|were|can|could|do|does|did|will|would|should|has|have|had|may|might"
    r"|must)\b)|\([a-z\d]{1,2}\)|[a-z]\))\s*",
    re.IGNORECASE,
)
_OTHER_LINE = re.compile(
    r"^\W{0,3}(?:(?:your |my )?guess|answer|robot|the robot|explanation|reason|justification|starter|original|note|"
    r"expected|prediction)\b(?!['\w ]{0,30}\?$)[^:?]{0,60}:",
    re.IGNORECASE,
)
_QUESTION_LABEL = re.compile(
    r"^\W{0,3}(?:(?:a|an|the|my|your|new|possible|one|yes|no|or|/|-|follow[ -]?up|counterfactual|related)[ _]?){0,6}"
    r"(?:question|counterfactual|follow[- ]?up|q|yes or no|new(?=:)|(?:[a-z]{2,9} )?(?:(?:nach)?frage|pregunta|pergunta"
    r"|domanda|vraag|pytanie|fråga|spørgsmål|question|soru))(?: ?\([^)]{0,30}\))? ?#?\d{0,2}(?: (?:is|could be"
    r"|would be))?(?: ?[:–—\]]| - )[\s\"]{0,3}",
    re.IGNORECASE,
)
_INTRODUCTION = re.compile(
    r"^\W{0,3}(?:(?:sure|certainly|of course|okay|ok|absolutely|great|alright|hmm"
    r"|well)(?: thing)?[!.,]{1,2}\s?|(?:human|user|assistant|me): ?|(?:what|how) about (?:this|that)(?: one)?\? ?|"
    r"(?:here is|here's|here are|(?:a|the) (?:new |follow-?up)|one|another|my|possible|how about|what about"
    r"|i(?:'d|'ve| would| have| came| suggest))\b[^:?]{0,80}: ?)",
    re.IGNORECASE,
)
_QUESTION_END = re.compile(r"\?(?=[\"')\]]{0,3}(?:$| (?=[A-Z0-9\"'(\[–—-])| [^\w\s?]{1,6}$)| ?(?i:yes|no)\b)")
_TO_US = re.compile(
    r"(?:^|[.!] )(?:would you like|do you want|shall i|should i (?:try|continue|write|give)|can i help|may i"
    r"|how can i|"
    r"how may i|is there (?:any|some)thing else|does (?:that|this) help|what would you like|(?:can|could|would) you "
    r"(?:please|clarify|provide more|(?:provide|give|share|tell|send) (?:me|us)))\b",
    re.IGNORECASE,
)
_TAG = re.compile(r"</?[a-z_-]{1,20}>", re.IGNORECASE)
_ASKS = re.compile(
    r"^(?:is|are|was|were|am|can|could|do|does|did|will|would|should|shall|may|might|must|has|have|had)\b",
    re.IGNORECASE,
)


_LEADS_UP = re.compile(
    r"\A[^?\n]{0,600}?\b(?:(?:i would|i'd|i will|i'll|let me|let's|let us|we can|we could) (?:ask|try|propose"
    r"|write|use)\b|(?:new|follow-? ?up|counterfactual|good|possible|suitable) question\b)[^:?\n]{0,60}: ?"
    r"|\A[^?\n]{0,60}?\b(?:let me|let's|let us) (?!(?:say|suppose|assume|imagine|pretend|consider|take)\b)"
    r"[^:.?\n]{1,60}[:.] ",
    re.IGNORECASE,
)
"""Thoughts before the question, on the same line."""
_PICTURE = re.compile(r"\A(?:[^\w\s\x00-\x7f¿¡]{1,4} |[^\x00-\x7f]{2,20}:)")
_QUOTED_QUESTION = re.compile(
    r"""(?:[^"?]{0,200}"([^"?]{8,300}\?) ?"|(?:[^"?']|(?<=\w)'){0,200}(?<!\w)'([^"?]{8,300}\?) ?')[^"?]{0,200}"""
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
        line = _LEADS_UP.sub("", _PICTURE.sub("", line))
        line = _NUMBER.sub("", line)
        if _OTHER_LINE.match(line):
            continue
        line = _QUESTION_LABEL.sub("", _INTRODUCTION.sub("", _INTRODUCTION.sub("", line)))
        line = _unquoted(_NUMBER.sub("", line))
        quoted = _QUOTED_QUESTION.fullmatch(line)
        line = quoted[1] or quoted[2] if quoted else line
        if end := _QUESTION_END.search(line):
            asked = re.sub(r" ?\?{1,9}\Z", "?", _unquoted(line[: end.end()]))
            if _has_words(asked) and not _TO_US.search(asked):
                yield asked
        # A question without a question mark is complete only if something follows it: the last line may have been cut
        # off.
        elif _ASKS.match(line) and index + 1 < len(lines) and len(line.split()) > 2:
            yield line.rstrip(".;,:") + "?"


_MOST_QUESTIONS = 50
"""Maximum number of questions that are examined."""


def question(text: str) -> str | None:
    """Return the first counterfactual question in the reply that yes or no could answer, else the first question, else
    None.

    Bullets, numbers, quotes, labels and introductions are removed. A single line is enough. The generator's guess, the
    starter question and questions addressed to the user are skipped. A text in the authors' exact form is never lost.
    """
    spoke = _TAG.sub("\n", spoken(text))
    listed = json_in(spoke) if spoke.startswith(("[", "`")) else None
    source = _only(keyed(spoke, _QUESTION_KEYS) or listed) or spoke
    rows = table_rows(source)
    if rows:
        source = "\n".join(cell for row in rows[1:] for cell in row if "?" in cell)
    lines = without_markup(source).split("\n")
    labelled = [
        index for index, line in enumerate(lines) if _QUESTION_LABEL.match(line) and re.match(r"(?i)\W*follow", line)
    ]
    asked = list(islice(_questions(lines[labelled[0] :] if labelled else lines), _MOST_QUESTIONS))
    question = next(filter(is_yes_or_no, asked), asked[0] if asked else paper.question(text))
    return as_written(question, source) if question and _has_words(question) else None


_WH = re.compile(r"(?:and |but |so |then |well, )?(?:why|how|what|which|who|whose|whom|when|where)\b", re.IGNORECASE)
_INVERTED = re.compile(
    r", ?(?:is|are|was|were|can|could|does|do|did|will|would|has|have|had|should|must|may|might)(?:n['’]t)?\b",
    re.IGNORECASE,
)


def is_yes_or_no(question: str) -> bool:
    """Whether yes or no could be the answer: not to "Why can't a dog fly?", but to "When it rains, do dogs get
    wet?".
    """
    return not _WH.match(question) or bool(_INVERTED.search(question))


# The counterfactual pair

_LEFT = r"^[\W_]{0,6}(?:\d[.)] ?)?(?:follow-?up |new )?"
_RIGHT = r"[*_ ]{0,4}(?::[*_]{0,3}[ \t]?|$)"
_NOUN = r"(?:candidate[ _]?)?(?:response|option|reply|answer|candidate)[ _]?#?"
_MULTILINE = re.IGNORECASE | re.MULTILINE
_CONTEXT = re.compile(rf"{_LEFT}(?:context|post|context post|scenario){_RIGHT}", _MULTILINE)
_FIRST = re.compile(rf"{_LEFT}{_NOUN}(?:1|a|one){_RIGHT}", _MULTILINE)
_SECOND = re.compile(rf"{_LEFT}{_NOUN}(?:2|b|two){_RIGHT}", _MULTILINE)
_AFTER_PAIR = re.compile(
    r"^[\W_]{0,6}(?:human|user|assistant|(?:the )?robot's (?:likely )?(?:choice|explanation)|(?:your |my )?guess|"
    r"(?:your |expected )?choice|explanation|starter example|follow-up example(?: \d)?|note|(?:-{3,}|\*{3,}|_{3,})$)"
    r"[^\n]{0,60}?(?::|$)|^\W{0,4}(?:context|candidate response 1)\W{0,4}:",
    _MULTILINE,
)
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
    context = _CONTEXT.search(text)
    first = _FIRST.search(text, context.end() if context else 0)
    second = _SECOND.search(text, first.end()) if first else None
    if not first or not second:
        return None
    begins = context.end() if context else 0
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
    if all(isinstance(value, str) and value for value in values):
        parsed: CounterfactualPair | None = CounterfactualPair(
            context=values[0], response_1=values[1], response_2=values[2]
        )
    else:
        parsed = paper.pair(spoke) or _loose_pair(spoke)
    if parsed is None:
        return None
    rest = parsed.response_2
    if after := _AFTER_PAIR.search(rest, 1):
        rest = rest[: after.start()]
    parts = [_part(part) for part in (parsed.context, parsed.response_1, rest)]
    return CounterfactualPair(context=parts[0], response_1=parts[1], response_2=parts[2]) if all(parts) else None
