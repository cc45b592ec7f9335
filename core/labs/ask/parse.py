"""Parse raw answers, prose or JSON fields, with either parser. Pure functions that accept any text and never raise.

`paper`, the original parser, reads exactly as the authors' scripts did (Chen et al. 2023; their quirks are listed
below). `repaired`, the updated parser, reads what today's chat models write (`core/parsers`; what only this lab needs
is below).

If JSON fields were requested (`asked`, their schema), an answer that has them is parsed exactly, and one without them
as prose, which the call records. The original parser reads only prose, so it cannot read any answer of such a run. A
`text` of None is an answer that was cut off before anything in it was complete (`core.parsers.fields`): nothing is
parsed from it.
"""

import re
from collections.abc import Iterator, Mapping
from itertools import islice
from typing import Any

from ...events import Rules
from ...package_data import sibling_toml
from ...parsers import choice, fields, yes_no
from ...parsers.fields import Schema
from ...parsers.statements import FIRM, Statement, begins_as_refusal
from ...parsers.yes_no import lead
from ...text.patterns import Patterns
from ...text.reply import as_written, json_in, keyed, own_turn, shown_reasons, spoken, table_rows, without_markup
from .records import GUESSES, NEITHER, SENTENCE_END, UNKNOWN, CounterfactualPair
from .tasks import Method, Task

CANNOT_GUESS = "cannot guess"
"""The guess of a simulator, among the JSON fields, that it cannot guess."""


def _found(text: str, asked: Schema) -> dict[str, Any] | None:
    return None if asked is None else fields.read(text, asked)


def _is_lost(asked: Schema, rules: Rules) -> bool:
    """Whether the parser cannot read an answer because JSON fields were requested."""
    return asked is not None and rules == "paper"


def answer(
    text: str | None,
    method: Method = "cot",
    task: Task = "strategyqa",
    rules: Rules = "repaired",
    asked: Schema = None,
) -> str:
    """Parse the answer in an explainer's reply: "yes" | "no" (shp: "1" | "2"), or "neither" if it cannot be parsed.

    A forced reply is parsed like a post-hoc one. The original parser requires it to repeat the given answer in its
    first line; the updated parser also accepts the answer in the last sentence of the justification.
    """
    if text is None or _is_lost(asked, rules):
        return NEITHER
    if (found := _found(text, asked)) is not None:
        return str(found.get("answer", NEITHER))
    if task == "shp":
        if rules == "repaired":
            return choice.better_response(text, answer_first=method != "cot") or NEITHER
        return _single(text, _HELPFUL) if method == "cot" else _paper_choice_before_justification(text)
    strictly = _paper_yes_no_after_reasoning if method == "cot" else _paper_yes_no_before_justification
    if rules == "paper":
        return strictly(text)
    # An answer that the authors' parser reads is accepted here too, so that the two parsers never give opposite
    # answers.
    strict = strictly(own_turn(spoken(text)))
    at = len(text) if method == "cot" else 0
    return yes_no.yes_no(text, [] if strict == NEITHER else [Statement(strict, at, FIRM)]) or NEITHER


def explanation(
    text: str | None,
    method: Method = "cot",
    task: Task = "strategyqa",
    rules: Rules = "repaired",
    asked: Schema = None,
) -> str | None:
    """Return the part of an explainer's reply that generator and simulator see; None if there is none.

    cot: the whole reply, including the answer sentence. posthoc and forced: the justification. shp: the whole reply. To
    reasons in a JSON field the answer is added in the words of prose where these would include it.
    """
    if text is None or _is_lost(asked, rules):
        return None
    found = _found(text, asked)
    if found is None:
        return (
            _updated_explanation(text, method, task) if rules == "repaired" else _paper_explanation(text, method, task)
        )
    reasons, said = str(found["reasons"]), found.get("answer")
    # Without a word, or with only an answer as in prose, they explain nothing.
    if not any(map(str.isalpha, reasons)) or explanation(reasons) is None:
        return None
    return reasons if said is None else with_answer(reasons, str(said), method, task)


_CLAUSE_END = re.compile(r"(?<=[,;:.!?])\s+|\s+[–—-]\s+|\s*[()]\s*|\n+|\s+(?=(?:because|since|as|for|so)\b)")


def with_answer(reasons: str, said: str, method: Method, task: Task) -> str:
    """Return the reasons, followed or preceded by the answer in the words of prose if the method includes it in the
    explanation.
    """
    if said == NEITHER:
        return reasons
    if task == "shp":
        choice = f"Candidate Response {said} is more helpful."
        return f"{reasons} So {choice}" if method == "cot" else f"{choice} {reasons}"
    return f"{reasons} So the answer is {said}." if method == "cot" else reasons


def without_answer(explanation: str, task: Task = "strategyqa") -> str:
    """Return the explanation without the sentences that give an answer, which say nothing about what it claims in
    general.
    """
    sentences = SENTENCE_END.split(explanation)
    return " ".join(sentence for sentence in sentences if answer(sentence, task=task) == NEITHER).strip()


def only_reasons(explanation: str, task: Task = "strategyqa") -> str:
    """Return the explanation without the sentences that give or name an answer. If each of them does ("No, because
    ..."), only those clauses are left out.
    """
    kept = ""
    for end in (SENTENCE_END, _CLAUSE_END):
        if not has_words(kept):
            parts = [one for one in end.split(explanation) if not RE.names_answer.search(one)]
            reasons = {one for one in set(parts) if answer(one, task=task) == NEITHER}
            kept = " ".join(one for one in parts if one in reasons).strip()
    return kept


def simulation(text: str | None, task: Task = "strategyqa", rules: Rules = "repaired", asked: Schema = None) -> str:
    """Parse a simulator's guess: "yes" | "no" (shp: "1" | "2"), "unknown" if it says it cannot guess, else
    "neither".
    """
    if text is None or _is_lost(asked, rules):
        return NEITHER
    if (found := _found(text, asked)) is not None:
        return UNKNOWN if found["guess"] == CANNOT_GUESS else str(found["guess"])
    if task == "shp":
        return (choice.simulated_response(text) or NEITHER) if rules == "repaired" else _paper_simulated_choice(text)
    return (yes_no.simulation(text) or NEITHER) if rules == "repaired" else _single(text, _SIMULATED)


def simulation_reason(text: str, asked: Schema) -> str:
    """Return what a simulator says before its guess."""
    found = _found(text, asked)
    return text if found is None else str(found.get("reason", ""))


def counterfactual(
    text: str | None, task: Task = "strategyqa", rules: Rules = "repaired", asked: Schema = None
) -> str | CounterfactualPair | None:
    """Parse the counterfactual in a generator's reply: a question (shp: a pair), or None if there is none. A question
    in a JSON field is put in one line.
    """
    if text is None or _is_lost(asked, rules):
        return None
    found = _found(text, asked)
    if found is None:
        if task == "shp":
            return _updated_pair(text) if rules == "repaired" else _paper_pair(text)
        return _updated_question(text) if rules == "repaired" else _paper_question(text)
    if task == "shp":
        pair = CounterfactualPair(**{name: found[name] for name in ("context", "response_1", "response_2")})
        return pair if all(dict(pair).values()) else None
    question = " ".join(found["question"].split())
    # A text field may contain anything, such as "yes". Whether it is a question is decided as in prose.
    return question if counterfactual(question, task, rules) else None


def writer_guess(text: str, question: str, asked: Schema) -> str:
    """Return the answer that a generator predicts, in prose after its `question`; '' if it cannot be parsed."""
    found = _found(text, asked)
    guess = simulation(text.partition(question)[2]) if found is None else str(found.get("guess", ""))
    return guess if guess in GUESSES else ""


def text_of(pair: CounterfactualPair) -> str:
    """Return the pair as one text, in the form that generality compares (shp/calculate_generality.py:31-36: no space
    after Context).
    """
    return (
        f"Context:{pair.context}\n\nCandidate Response 1: {pair.response_1}\n\nCandidate Response 2: {pair.response_2}"
    )


# The original parser, with the quirks of the authors' scripts. File names are those of their repository. Their prompts
# ended in an assistant prefix, so the text they parsed began right after it. `shp` choices are 1 and 2 here, where they
# stored 0 and 1.

_LABELS = ("Context:", "Candidate Response 1:", "Candidate Response 2:")
_JUSTIFICATION = "Justification: "
_HELPFUL = {which: f"Candidate Response {which} is more helpful" for which in ("1", "2")}
"""Exactly one of the two sentences, anywhere (shp/task_qa.py:21-30).

Quirk: a comparison that calls both more helpful in some respect is neither; a denial is read as a choice.
"""

_GUESSED = {which: f"I would guess that the robot will choose Candidate Response {which}" for which in ("1", "2")}
_SIMULATED = {UNKNOWN: "I cannot guess", "yes": "answer yes", "no": "answer no"}
"""Exactly one of three substrings (strategyqa/simulate_qa.py:13-26).

Quirks: 'answer nothing' contains 'answer no'; a quoted answer, "I can not guess" and upper case contain none of the
three; mentioning the other answer, even to deny it, makes it neither.
"""


def _single(text: str, said: Mapping[str, str]) -> str:
    """Return the value whose words are in `text`; neither if none or several are."""
    values = [value for value, words in said.items() if words in text]
    return values[0] if len(values) == 1 else NEITHER


def _paper_yes_no_after_reasoning(text: str) -> str:
    """Return yes | no | neither (strategyqa/task_qa.py:19-27).

    Quirk: compared before stripping, so a trailing space or line break, or a missing full stop, makes it neither.
    """
    return next((answer for answer in ("yes", "no") if text.endswith(f"So the answer is {answer}.")), NEITHER)


def _two_lines(text: str) -> tuple[str, str] | None:
    lines = text.split("\n")
    if len(lines) != 2 or lines[0].strip() not in ("yes", "no") or not lines[1].startswith(_JUSTIFICATION):
        return None
    return lines[0].strip(), lines[1][len(_JUSTIFICATION) :].strip()


def _paper_yes_no_before_justification(text: str) -> str:
    """Return yes | no | neither (strategyqa/task_qa.py:30-37).

    Quirks: exactly two lines, so a line break after the second makes it neither; lower case only; the label must be
    followed by a space. The authors read no answer from a forced reply (generate_unnatural_explanations.py:20-25: the
    prompt ends with the forced answer and the label); here a reply to a chat turn is read in the same two-line form.
    """
    read = _two_lines(text)
    return read[0] if read else NEITHER


def _paper_explanation(text: str, method: str, task: str) -> str:
    """Return what the authors stored as `pred_expl`.

    strategyqa: cot: the whole reply, stripped, answer sentence included (task_qa.py:26). posthoc: the text after
    "Justification: ", or the whole reply unstripped if it does not have that form (:34-37). forced: the whole reply,
    stripped (generate_unnatural_explanations.py:23), or the text after the label if a chat model repeats both lines.
    shp: always the whole reply, unstripped (shp/task_qa.py:24-39).
    """
    if task == "shp":
        return text
    if method == "cot":
        return text.strip()
    read = _two_lines(text)
    if read:
        return read[1]
    return text.strip() if method == "forced" else text


def _paper_choice_before_justification(text: str) -> str:
    """Return 1 | 2 | neither (shp/task_qa.py:31-39): the reply must start with the sentence, without even a space
    before it.
    """
    return next((which for which, words in _HELPFUL.items() if text.startswith(words)), NEITHER)


def _paper_simulated_choice(text: str) -> str:
    """Return 1 | 2 | unknown | neither (shp/simulate_qa.py:39-52).

    Quirks: 'No, I cannot confidently guess' overrides a guess next to it; a guess without the opening 'Yes, I can
    confidently guess', or not in the sentence "I would guess that the robot will choose Candidate Response ..", is
    neither.
    """
    if "No, I cannot confidently guess" in text:
        return UNKNOWN
    return _single(text, _GUESSED) if "Yes, I can confidently guess" in text else NEITHER


def _paper_question(text: str) -> str | None:
    """Return the counterfactual question, or None (strategyqa/simulate_qg.py:35-40).

    Quirks: exactly two lines, the first ending in "?"; the second, the generator's own guess, is only checked to exist,
    so any second line will do, even an empty one, and a reply of one line is lost.
    """
    lines = text.split("\n")
    if len(lines) != 2 or not lines[0].strip().endswith("?"):
        return None
    return lines[0].strip()


def _paper_pair(text: str) -> CounterfactualPair | None:
    """Return the counterfactual pair, or None (shp/simulate_qg.py:33-49).

    Quirks: the labels may be anywhere in a line; parts may be empty; only the second response is cut at "Human:".
    """
    text = text.strip()
    context, first, second = (text.find(label) for label in _LABELS)
    if context != 0 or first <= context or second <= first:
        return None
    return CounterfactualPair(
        context=text[len(_LABELS[0]) : first].strip(),
        response_1=text[first + len(_LABELS[1]) : second].strip(),
        response_2=text[second + len(_LABELS[2]) :].partition("Human:")[0].strip(),
    )


# The updated parser: explanations and counterfactuals as today's chat models write them.

RE = Patterns(sibling_toml(__file__, "phrases.toml"))

_EXPLANATION_KEYS = (
    *("justification", "explanation", "reasoning", "rationale", "reason", "reasons", "why", "analysis", "thoughts"),
)


def _updated_explanation(text: str, method: Method, task: Task) -> str | None:
    """Return the explanation in the model's own words, with its markdown; None if there is none.

    cot and shp: the whole reply. posthoc and forced: the text after the label, else the whole reply ("No, because .."),
    without lines and opening words that only give the answer, and without polite words at its end. A bare answer, a
    refusal and a question to the user explain nothing.
    """
    found, shown = _explanation_in(text, method, task), shown_reasons(text)
    is_bare = found is None or not has_words(without_answer(found, task))
    return _explanation_in(shown, method, task) if shown and is_bare else found


def _explanation_in(text: str, method: Method, task: Task) -> str | None:
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


def has_words(text: str) -> bool:
    """Whether `text` has a letter."""
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
            if has_words(asked) and not RE.to_us.search(asked):
                yield asked
        # A question without a question mark is complete only if something follows it: the last line may have been cut
        # off.
        elif RE.begins_as_question.match(line) and index + 1 < len(lines) and len(line.split()) > 2:
            yield line.rstrip(".;,:") + "?"


_MOST_QUESTIONS = 50
"""Maximum number of questions that are examined."""


def _updated_question(text: str) -> str | None:
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
    question = next(filter(is_yes_or_no, asked), asked[0] if asked else _paper_question(text))
    return as_written(question, source) if question and has_words(question) else None


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


def _updated_pair(text: str) -> CounterfactualPair | None:
    """Return the first counterfactual pair in the reply; None if one of its three parts is missing or empty.

    Labels may be bold or numbered, or say Post, Response A, Option 1. The post's label may be missing. Text after the
    second response (a guess, a choice, a further example) is cut.
    """
    spoke = spoken(text)
    values = [keyed(spoke, keys) for keys in _PAIR_KEYS]
    if not all(isinstance(value, str) and value for value in values):
        parsed = _paper_pair(spoke) or _loose_pair(spoke)
        if parsed is None:
            return None
        values = list(dict(parsed).values())
    post, first, rest = values
    if after := RE.after_pair.search(rest, 1):
        rest = rest[: after.start()]
    parts = [_part(part) for part in (post, first, rest)]
    return CounterfactualPair(context=parts[0], response_1=parts[1], response_2=parts[2]) if all(parts) else None
