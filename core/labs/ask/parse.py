"""Parse raw answers, prose or JSON fields, with either parser. Pure functions that accept any text and never raise.

`paper`, the original parser, reads exactly as the authors' scripts did (Chen et al. 2023; their quirks are listed in
`parse_answers/paper.py`). `repaired`, the updated parser, reads what today's chat models write (`core/parsers`; the
parts that only this lab needs are in `parse_answers/parts.py`).

If JSON fields were requested (`asked`, their schema), an answer that has them is parsed exactly, and one without them
as prose, which the call records. The original parser reads only prose, so it cannot read any answer of such a run. A
`text` of None is an answer that was cut off before anything in it was complete (`core.parsers.fields`): nothing is
parsed from it.
"""

from typing import Any

from ...events import Rules
from ...parsers import choice, fields, yes_no
from ...parsers.statements import FIRM, Statement
from ...text.reply import own_turn, spoken
from .parse_answers import paper, parts
from .records import NEITHER, SENTENCE_END, UNKNOWN, CounterfactualPair
from .tasks import Method, Task

Schema = dict[str, Any] | None
"""None if the answer was requested in prose."""

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
        return paper.choice_after_reasoning(text) if method == "cot" else paper.choice_before_justification(text)
    strictly = paper.yes_no_after_reasoning if method == "cot" else paper.yes_no_before_justification
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
        return parts.explanation(text, method, task) if rules == "repaired" else paper.explanation(text, method, task)
    reasons, said = str(found["reasons"]), found.get("answer")
    # Without a word, or with only an answer as in prose, they explain nothing.
    if not any(map(str.isalpha, reasons)) or explanation(reasons) is None:
        return None
    return reasons if said is None else with_answer(reasons, str(said), method, task)


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


def simulation(text: str | None, task: Task = "strategyqa", rules: Rules = "repaired", asked: Schema = None) -> str:
    """Parse a simulator's guess: "yes" | "no" (shp: "1" | "2"), "unknown" if it says it cannot guess, else
    "neither".
    """
    if text is None or _is_lost(asked, rules):
        return NEITHER
    if (found := _found(text, asked)) is not None:
        return UNKNOWN if found["guess"] == CANNOT_GUESS else str(found["guess"])
    if task == "shp":
        return (choice.simulated_response(text) or NEITHER) if rules == "repaired" else paper.simulated_choice(text)
    return (yes_no.simulation(text) or NEITHER) if rules == "repaired" else paper.simulated_yes_no(text)


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
            return parts.pair(text) if rules == "repaired" else paper.pair(text)
        return parts.question(text) if rules == "repaired" else paper.question(text)
    if task == "shp":
        pair = CounterfactualPair(**{name: found[name] for name in ("context", "response_1", "response_2")})
        return pair if all(dict(pair).values()) else None
    question = " ".join(found["question"].split())
    # A text field may contain anything, such as "yes". Whether it is a question is decided as in prose.
    return question if counterfactual(question, task, rules) else None


def writer_guess(text: str, asked: Schema) -> str | None:
    """Return the answer that a generator predicts; None if it was requested or answered in prose."""
    found = _found(text, asked)
    return None if found is None else str(found.get("guess", ""))


def text_of(pair: CounterfactualPair) -> str:
    """Return the pair as one text, in the form that generality compares (shp/calculate_generality.py:31-36: no space
    after Context).
    """
    return (
        f"Context:{pair.context}\n\nCandidate Response 1: {pair.response_1}\n\nCandidate Response 2: {pair.response_2}"
    )
