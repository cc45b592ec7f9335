"""Answers in JSON fields (`answers = "schema"`): the fields of each role, and how they are parsed.

An answer that has the fields is parsed exactly. An answer without them is parsed as prose, and the call records that.
The original parser reads only prose, so it cannot read any answer of such a run. A `text` of None is an answer that was
cut off before anything in it was complete (`core.parsers.fields`): nothing is parsed from it.
"""

from __future__ import annotations

from typing import Any

from ...events import Rules
from ...parsers import fields
from . import parse
from .parse_answers.values import NEITHER, UNKNOWN
from .tasks import AskSpec, Method, Task

Schema = dict[str, Any] | None
"""None if the answer was requested in prose."""

CANNOT_GUESS = "cannot guess"
_ANSWERS: dict[Task, tuple[str, ...]] = {"strategyqa": ("yes", "no"), "shp": ("1", "2")}


def of_explainer(spec: AskSpec, method: Method) -> Schema:
    """Return the fields in the order of the method; only the reasons if the model defends a given answer."""
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
    """Return the fields for the new question, or for the post with its two responses, and for a prediction if the
    generator saw the explanation.
    """
    if spec.answers == "prose":
        return None
    if spec.task == "shp":
        return fields.schema(context="text", response_1="text", response_2="text")
    return fields.schema(question="text") if blind else fields.schema(question="text", guess=_ANSWERS["strategyqa"])


def of_simulator(spec: AskSpec) -> Schema:
    """Return the fields for the guess and, if the simulator gives a reason first, for the reason."""
    if spec.answers == "prose":
        return None
    guess = (*_ANSWERS[spec.task], CANNOT_GUESS)
    return fields.schema(reason="text", guess=guess) if spec.reasoning else fields.schema(guess=guess)


def _found(text: str, asked: Schema) -> dict[str, Any] | None:
    return None if asked is None else fields.read(text, asked)


def answer(text: str | None, asked: Schema, method: Method, task: Task, rules: Rules) -> str:
    """Parse the answer; see `parse.answer`."""
    if text is None or (asked is not None and rules == "paper"):
        return NEITHER
    found = _found(text, asked)
    return parse.answer(text, method, task, rules) if found is None else found.get("answer", NEITHER)


def explanation(text: str | None, asked: Schema, method: Method, task: Task, rules: Rules) -> str | None:
    """Parse the explanation; see `parse.explanation`. For the method cot, and for preferences, the answer is added in
    the words of prose, because simulators see this text.
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
    """Return the reasons, followed or preceded by the answer in the words of prose if the method includes it in the
    explanation.
    """
    if said == NEITHER:
        return reasons
    if task == "shp":
        choice = f"Candidate Response {said} is more helpful."
        return f"{reasons} So {choice}" if method == "cot" else f"{choice} {reasons}"
    return f"{reasons} So the answer is {said}." if method == "cot" else reasons


def _is_bare(reasons: str) -> bool:
    """Whether the reasons explain nothing: no word, or only an answer, as in prose."""
    is_word = any(char.isalpha() for char in reasons)
    return not is_word or parse.explanation(reasons, "cot", "strategyqa", "repaired") is None


def simulation(text: str | None, asked: Schema, task: Task, rules: Rules) -> str:
    """Parse the guess; see `parse.simulation`."""
    if text is None or (asked is not None and rules == "paper"):
        return NEITHER
    found = _found(text, asked)
    if found is None:
        return parse.simulation(text, task, rules)
    return UNKNOWN if found["guess"] == CANNOT_GUESS else str(found["guess"])


def reason(text: str, asked: Schema) -> str:
    """Return what a simulator says before its guess."""
    found = _found(text, asked)
    return text if found is None else str(found.get("reason", ""))


def counterfactual(text: str | None, asked: Schema, task: Task, rules: Rules) -> str | parse.Pair | None:
    """Parse the counterfactual; see `parse.counterfactual`. A question is put in one line."""
    if text is None or (asked is not None and rules == "paper"):
        return None
    found = _found(text, asked)
    if found is None:
        return parse.counterfactual(text, task, rules)
    if task == "shp":
        pair = parse.Pair(**{name: found[name] for name in ("context", "response_1", "response_2")})
        return pair if all(dict(pair).values()) else None
    question = " ".join(found["question"].split())
    # A text field may contain anything, such as "yes". Whether it is a question is decided as in prose.
    return question if parse.counterfactual(question, task, rules) else None


def foretold(text: str, asked: Schema) -> str | None:
    """Return the answer that a generator predicts; None if it was requested or answered in prose."""
    found = _found(text, asked)
    return None if found is None else str(found.get("guess", ""))
