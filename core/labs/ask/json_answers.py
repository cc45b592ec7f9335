"""Answers asked for by their fields (`answers = "schema"`): which fields each role has, and what they come to.

An answer that has them is read without a guess. One that has not is prose, and read as such; the call says so. Paper
rules read prose alone: by them no answer of such a run can be read. A `text` of None is an answer that was cut before
anything in it was complete (`core.parsers.cut`): nothing is read of it.
"""

from __future__ import annotations

from typing import Any

from ...events import Rules
from ...parsers import fields
from . import parse
from .parse_answers.values import NEITHER, UNKNOWN
from .tasks import AskSpec, Method, Task

Schema = dict[str, Any] | None
"""None: asked for in prose."""

CANNOT_GUESS = "cannot guess"
_ANSWERS: dict[Task, tuple[str, ...]] = {"strategyqa": ("yes", "no"), "shp": ("1", "2")}


def of_explainer(spec: AskSpec, method: Method) -> Schema:
    """In the order in which the method has them; of who defends a given answer the reasons alone."""
    if spec.answers == "prose":
        return None
    answer = _ANSWERS[spec.task]
    match method:
        case "cot":
            return fields.schema(reasons="text", answer=answer)
        case "posthoc":
            return fields.schema(answer=answer, reasons="text")
        case "forced":
            return fields.schema(reasons="text")


def of_generator(spec: AskSpec, blind: bool) -> Schema:
    """The new question, or the post with its two responses; and what it predicts, unless it saw no explanation."""
    if spec.answers == "prose":
        return None
    if spec.task == "shp":
        return fields.schema(context="text", response_1="text", response_2="text")
    return fields.schema(question="text") if blind else fields.schema(question="text", guess=_ANSWERS["strategyqa"])


def of_simulator(spec: AskSpec) -> Schema:
    """The reason, where it gives one first, and the guess."""
    if spec.answers == "prose":
        return None
    guess = (*_ANSWERS[spec.task], CANNOT_GUESS)
    return fields.schema(reason="text", guess=guess) if spec.reasoning else fields.schema(guess=guess)


def _found(text: str, asked: Schema) -> dict[str, Any] | None:
    return None if asked is None else fields.read(text, asked)


def answer(text: str | None, asked: Schema, method: Method, task: Task, rules: Rules) -> str:
    """As `parse.answer` has it."""
    if text is None or (asked is not None and rules == "paper"):
        return NEITHER
    found = _found(text, asked)
    return parse.answer(text, method, task, rules) if found is None else found.get("answer", NEITHER)


def explanation(text: str | None, asked: Schema, method: Method, task: Task, rules: Rules) -> str | None:
    """As `parse.explanation` has it. Who reasons first, and who compares two responses, says what they come to in the
    same words as in prose, for that is what simulators are shown.
    """
    if text is None or (asked is not None and rules == "paper"):
        return None
    found = _found(text, asked)
    if found is None:
        return parse.explanation(text, method, task, rules)
    reasons, said = str(found["reasons"]), found.get("answer")
    if _is_bare(reasons):
        return None
    return reasons if said is None else with_answer(reasons, str(said), method, task)


def with_answer(reasons: str, said: str, method: Method, task: Task) -> str:
    """The reasons with what they come to, in the words of prose, where the method has it among them."""
    if said == NEITHER:
        return reasons
    if task == "shp":
        choice = f"Candidate Response {said} is more helpful."
        return f"{reasons} So {choice}" if method == "cot" else f"{choice} {reasons}"
    return f"{reasons} So the answer is {said}." if method == "cot" else reasons


def _is_bare(reasons: str) -> bool:
    """Whether they explain nothing: no word, or an answer alone, as in prose."""
    is_word = any(char.isalpha() for char in reasons)
    return not is_word or parse.explanation(reasons, "cot", "strategyqa", "repaired") is None


def simulation(text: str | None, asked: Schema, task: Task, rules: Rules) -> str:
    """As `parse.simulation` has it."""
    if text is None or (asked is not None and rules == "paper"):
        return NEITHER
    found = _found(text, asked)
    if found is None:
        return parse.simulation(text, task, rules)
    return UNKNOWN if found["guess"] == CANNOT_GUESS else str(found["guess"])


def reason(text: str, asked: Schema) -> str:
    """What a simulator says before its guess."""
    found = _found(text, asked)
    return text if found is None else str(found.get("reason", ""))


def counterfactual(text: str | None, asked: Schema, task: Task, rules: Rules) -> str | parse.Pair | None:
    """As `parse.counterfactual` has it; a question is one line."""
    if text is None or (asked is not None and rules == "paper"):
        return None
    found = _found(text, asked)
    if found is None:
        return parse.counterfactual(text, task, rules)
    if task == "shp":
        pair = parse.Pair(**{name: found[name] for name in ("context", "response_1", "response_2")})
        return pair if all(dict(pair).values()) else None
    question = " ".join(found["question"].split())
    # A field of text may hold anything, such as "yes": what is a question is told as in prose.
    return question if parse.counterfactual(question, task, rules) else None


def foretold(text: str, asked: Schema) -> str | None:
    """The answer that a generator predicts; None where it was asked for in prose, or answered so."""
    found = _found(text, asked)
    return None if found is None else str(found.get("guess", ""))
