"""What is asked: three tasks, three explanations, and the wordings of the paper; the items that ship with the lab."""

from __future__ import annotations

import tomllib
from functools import cache
from pathlib import Path
from typing import Literal, get_args

from core.datasets.items import Item
from core.events import Frozen, Sampling

Task = Literal["sentiment", "multi_choice", "entailment"]
Explanation = Literal["counterfactual", "attribution", "redaction"]
Persona = Literal["objective", "human", "you"]
Target = Literal["explicit", "implicit"]
Mask = Literal["[REDACTED]", "[REMOVED]"]

TASKS: tuple[Task, ...] = get_args(Task)
EXPLANATIONS: tuple[Explanation, ...] = get_args(Explanation)

PAPER_SAMPLING = Sampling(temperature=0.1, top_p=0.95, top_k=50, repetition_penalty=1.2, max_tokens=1024, seed=0)
"""As the authors drew every answer (llm-introspection, model/*.py). Few endpoints take top_k and the
repetition penalty."""

QUESTIONS = Path(__file__).resolve().parents[3] / "data" / "questions"


class Wording(Frozen):
    """One way to put the questions; the defaults are the paper's. Every session of one check has the same wording.

    `persona`: who is asked after (c-persona, e-persona, i-persona in the authors' code, which plots only results where
    they agree). `target`: whether a counterfactual's goal is named (e-implcit-target). `mask`: m-removed.
    `mask_sentence`: whether classification says that words can be masked (c-no-redacted). `short`: the short redaction
    form (e-short). `options`: whether the question of answerability lists the answers (i-options).
    """

    persona: Persona = "objective"
    target: Target = "explicit"
    mask: Mask = "[REDACTED]"
    mask_sentence: bool = True
    short: bool = False
    options: bool = False


def every_wording(explanation: Explanation) -> list[Wording]:
    """All wordings of the paper that make a difference to `explanation`: persona × target, or persona × mask."""
    personas: tuple[Persona, ...] = get_args(Persona)
    if explanation == "counterfactual":
        targets: tuple[Target, ...] = get_args(Target)
        return [Wording(persona=persona, target=target) for persona in personas for target in targets]
    masks: tuple[Mask, ...] = get_args(Mask)
    return [Wording(persona=persona, mask=mask) for persona in personas for mask in masks]


@cache
def shipped(task: Task) -> tuple[Item, ...]:
    """The items under `data/questions/`, in the file's order."""
    entries = tomllib.loads((QUESTIONS / f"{task}.toml").read_text(encoding="utf-8"))["item"]
    return tuple(Item.model_validate({"task": task, **entry}) for entry in entries)
