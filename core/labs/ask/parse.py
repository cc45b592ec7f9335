"""Parse raw answers with either parser. Pure functions that accept any text and never raise.

`paper`, the original parser, reads exactly as the authors' scripts did (Chen et al. 2023; their quirks are listed in
`parse_answers/paper.py`). `repaired`, the updated parser, reads what today's chat models write (`core/parsers`; the
parts that only this lab needs are in `parse_answers/parts.py`).
"""

from __future__ import annotations

from typing import Literal, overload

from ...events import Rules
from ...parsers import choice, yes_no
from ...parsers.statements import FIRM, Statement
from ...text.reply import own_turn, spoken
from .parse_answers import paper, parts
from .parse_answers.values import GUESSES, NEITHER, UNKNOWN
from .parse_answers.values import CounterfactualPair as Pair
from .tasks import Method, Task

__all__ = [
    "GUESSES",
    "NEITHER",
    "UNKNOWN",
    "Pair",
    "answer",
    "counterfactual",
    "explanation",
    "simulation",
    "text_of",
]


def answer(text: str, method: Method = "cot", task: Task = "strategyqa", rules: Rules = "repaired") -> str:
    """Parse the answer in an explainer's reply: "yes" | "no" (shp: "1" | "2"), or "neither" if it cannot be parsed.

    A forced reply is parsed like a post-hoc one. The original parser requires it to repeat the given answer in its
    first line; the updated parser also accepts the answer in the last sentence of the justification.
    """
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


def explanation(text: str, method: Method = "cot", task: Task = "strategyqa", rules: Rules = "repaired") -> str | None:
    """Return the part of an explainer's reply that generator and simulator see; None if there is none.

    cot: the whole reply, including the answer sentence. posthoc and forced: the justification. shp: the whole reply.
    """
    if rules == "repaired":
        return parts.explanation(text, method, task)
    return paper.explanation(text, method, task)


def simulation(text: str, task: Task = "strategyqa", rules: Rules = "repaired") -> str:
    """Parse a simulator's guess: "yes" | "no" (shp: "1" | "2"), "unknown" if it says it cannot guess, else
    "neither".
    """
    if task == "shp":
        return (choice.simulated_response(text) or NEITHER) if rules == "repaired" else paper.simulated_choice(text)
    return (yes_no.simulation(text) or NEITHER) if rules == "repaired" else paper.simulated_yes_no(text)


@overload
def counterfactual(text: str, task: Literal["strategyqa"] = ..., rules: Rules = ...) -> str | None: ...
@overload
def counterfactual(text: str, task: Literal["shp"], rules: Rules = ...) -> Pair | None: ...
@overload
def counterfactual(text: str, task: Task, rules: Rules = ...) -> str | Pair | None: ...
def counterfactual(text: str, task: Task = "strategyqa", rules: Rules = "repaired") -> str | Pair | None:
    """Parse the counterfactual in a generator's reply: a question (shp: a Pair), or None if there is none."""
    if task == "shp":
        return parts.pair(text) if rules == "repaired" else paper.pair(text)
    return parts.question(text) if rules == "repaired" else paper.question(text)


def text_of(pair: Pair) -> str:
    """Return the pair as one text, in the form that generality compares (shp/calculate_generality.py:31-36: no space
    after Context).
    """
    return (
        f"Context:{pair.context}\n\nCandidate Response 1: {pair.response_1}\n\nCandidate Response 2: {pair.response_2}"
    )
