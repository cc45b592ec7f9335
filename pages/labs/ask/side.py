"""Ask's runs side by side: explanations of one question, held to the same new questions."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from typing import Any

from core.events import CallFailed
from core.labs.ask.tasks import AskSpec, Question
from core.labs.ask.view import AskView
from core.labs.ask.words import METHODS
from core.models.ids import is_control
from pages.components import session
from pages.components.side_by_side import Side
from pages.components.text import plain


def ways(spec: AskSpec) -> dict[str, dict[str, Any]]:
    """The other ways to explain, and what else of the same answer can be read as its explanation."""
    other = {words: {"method": method} for method, words in METHODS.items() if method != spec.method}
    if is_control(spec.model):
        return other
    if spec.explained_by == "answer":
        return {**other, "The same, by its thinking": {"explained_by": "reasoning"}}
    return {**other, "The same, by its answer": {"explained_by": "answer"}}


def other(spec: AskSpec, fields: dict[str, Any], run_id: str, view: AskView | None) -> AskSpec:
    """The same with another explanation: asked the same new questions, and read by the same predictor where that can
    be had. A robot predicts robots alone: it knows no other words than theirs.
    """
    model = fields.get("model", spec.model)
    roles: dict[str, Any] = {
        "simulator": _kept(spec.simulator, model),
        "generators": tuple(dict.fromkeys(_kept(one, model) for one in spec.generators)),
    }
    if view is not None:
        by_hand = [row.counterfactual.text for row in view.rows.values() if row.counterfactual and row.by_hand]
        roles |= _given(spec, run_id, view)
        roles["extra"] = tuple(by_hand) if spec.task == "strategyqa" else spec.extra
    return AskSpec.model_validate({**spec.model_dump(), **roles, **fields})


def same(spec: AskSpec, run_id: str, view: AskView) -> AskSpec:
    """The same with the new questions that were asked."""
    return AskSpec.model_validate({**spec.model_dump(), **_given(spec, run_id, view)})


def _given(spec: AskSpec, run_id: str, view: AskView) -> dict[str, Any]:
    """The new questions of a case, for another to be asked, and where they come from."""
    asked = [row.counterfactual for row in view.counted() if row.counterfactual and row.is_question(view.rules)]
    given = tuple(one.model_dump(include=set(Question.model_fields)) for one in asked)
    return {"given": given, "given_from": (spec.given_from or run_id) if asked else ""}


def _kept(role: str, model: str) -> str:
    """Who plays a role beside `model`: the one so far, if that can be asked."""
    if is_control(role) and not is_control(model):
        return model
    with suppress(CallFailed):
        session.catalog().get(role)
        return role
    return model


def note(specs: Mapping[str, AskSpec]) -> str:
    """Where the new questions come from, who read the explanations, and that predictors differ where they do."""
    sources = {spec.given_from for spec in specs.values() if spec.given}
    if sources:
        whose = "one of these explanations" if sources <= set(specs) else "the explanation in another run"
        sentences = [
            f"The new questions were written from {whose} and given to all. The paper's method writes new ones from "
            "each explanation, so over shared questions this is another measure than its precision."
        ]
    else:
        sentences = [
            "As in the paper, the new questions were written for each explanation by itself; rows meet where the "
            "same question came out."
        ]
    if len(predictors := list(dict.fromkeys(" and ".join(spec.roles["simulator"]) for spec in specs.values()))) > 1:
        sentences.append(f"Who predicts differs ({plain(', '.join(predictors))}): so a difference may be theirs.")
    else:
        sentences.append(f"What one could expect is as {plain(predictors[0])} read each explanation.")
    return " ".join(sentences)


SIDE = Side(answers=True, ways=ways, other=other, same=same, note=note)
