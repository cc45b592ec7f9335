"""What is asked: which black box, who is to explain it, with what budget, and who judges. FIND, sections 2 to 4."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal, Self

from pydantic import Field, model_validator

from core.events import Frozen, Rules, Sampling
from core.labs.find.functions import source
from core.labs.find.functions.base import Category, FindFunction
from core.labs.find.functions.generate import Difficulty
from core.labs.find.functions.modules import Backbone
from core.labs.find.functions.source import OwnKind
from core.runs.run import Spec

Interpreter = Literal["aia", "milan", "aia+milan", "fit", "nearest", "you", "given"]

ROUNDS = 20
"""The paper's agents have as many (protocol §4)."""

PROBES = 200
MENDS = 2
"""How often an agent is told that its code cannot be run, and may write its conclusion again."""

TRIPLETS = 10
"""Unit tests of one function (paper §3)."""

BY_MODEL = ("aia", "milan", "aia+milan")
"""Interpreters that are language models."""

NAMES: dict[Interpreter, str] = {
    "aia": "an agent that chooses its own inputs (AIA)",
    "milan": "a model that is shown exemplars (MILAN)",
    "aia+milan": "an agent that begins with exemplars (AIA + MILAN)",
    "fit": "the fit baseline, no language model",
    "nearest": "the nearest baseline, no language model",
    "you": "you",
    "given": "a description made elsewhere",
}

FIRST_BACKBONE: dict[str, Backbone] = {"entities": "embedding", "relations": "table"}
"""What carries a function out unless someone chooses: ten listed words are too few for a subject to be found by, and
sentence embeddings know no facts."""

CAN: dict[Interpreter, tuple[Category, ...]] = {
    **dict.fromkeys(("aia", "milan", "aia+milan", "you", "given"), source.CATEGORIES),
    "fit": ("numeric", "strings"),
    "nearest": ("entities",),
}
"""Which categories each interpreter takes on."""


class Given(Frozen):
    """An interpretation made elsewhere."""

    description: str = ""
    domain: str = ""
    code: str = ""


class ProbeSpec(Spec):
    """One black box and who interprets it.

    The function is the person's `own`, else the one named `function` (a published id with `find_dir`, or the name of a
    drawn one), else the one that `seed` and `difficulty` stand for. `model` is the interpreter's, `evaluator` the one
    that takes the unit tests; `backbone` answers for entities and relations, with `module` where it is a model.
    `rounds` and `probes` are the interpreter's budget. With `tools` an agent asks by native tool calls where its model
    has them, and by the paper's text protocol where not. `rules` read the agent's commands while it works and say how a
    drawn function behaves; the final answer is always read by both.
    """

    seed: Annotated[int, Field(ge=0, lt=10**12)] = 0
    title: str = ""
    category: Category = "numeric"
    function: str = ""
    find_dir: str | None = None
    difficulty: Difficulty | None = None
    own: Annotated[str, Field(max_length=8_000)] = ""
    own_kind: OwnKind = "code"
    interpreter: Interpreter = "aia"
    model: str = ""
    evaluator: str = ""
    backbone: Backbone = "table"
    module: str = ""
    rounds: Annotated[int, Field(ge=1, le=50)] = ROUNDS
    probes: Annotated[int, Field(ge=1, le=2_000)] = PROBES
    rules: Rules = "repaired"
    tools: bool = False
    given: Given | None = None
    beside: str = ""
    """The run of another interpreter on the same function that this one is shown beside."""

    @model_validator(mode="before")
    @classmethod
    def _filled(cls, told: object) -> object:
        if not isinstance(told, dict):
            return told
        filled = {key: value.strip() if isinstance(value, str) else value for key, value in told.items()}
        filled["title"] = filled.get("title") or _title(filled)
        return filled

    @model_validator(mode="after")
    def _whole(self) -> Self:
        if self.interpreter in BY_MODEL and not self.model:
            raise ValueError("Choose the model that is to interpret the function.")
        if self.category not in CAN[self.interpreter]:
            raise ValueError(
                f"The {self.interpreter} baseline knows {' and '.join(CAN[self.interpreter])} functions only."
            )
        if self.find_dir and not (self.function or self.own):
            raise ValueError("Name a function of the published set (--function), such as f00012.")
        if self.tools and self.rules == "paper":
            raise ValueError("By paper rules an agent asks in text: turn tool calls off, or choose repaired rules.")
        if self.interpreter == "given" and self.given is None:
            raise ValueError("There is no description to rate.")
        if self.is_module and self.backbone == "model" and not self.module:
            raise ValueError("A function that a language model carries out needs a model; choose one.")
        if self.difficulty and self.difficulty not in source.difficulties(self.category):
            known = " or ".join(source.difficulties(self.category))
            raise ValueError(f"{self.category} functions are {known}, not {self.difficulty}.")
        return self

    @property
    def is_published(self) -> bool:
        """Whether it is a function of the published set, with that set's own tests."""
        return bool(self.find_dir and self.function and not self.own and not source.is_drawn(self.function))

    @property
    def is_module(self) -> bool:
        """Whether a backbone stands behind the function."""
        return self.category in ("entities", "relations") and not (self.own and self.own_kind == "pairs")

    @property
    def models(self) -> set[str]:
        asked = {self.evaluator}
        if self.interpreter in BY_MODEL:
            asked.add(self.model)
        if self.is_module and self.backbone == "model":
            asked.add(self.module)
        return asked - {""}

    @property
    def calls(self) -> int:
        """How many calls to language models the run may make at most, those of a module aside."""
        longest = self.rounds + 1 + (MENDS if self.category in ("numeric", "strings") else 0)
        dialogue = {"aia": longest, "aia+milan": longest, "milan": 1}.get(self.interpreter, 0)
        return dialogue + (3 * TRIPLETS if self.evaluator and self.category != "numeric" else 0)

    def load(self) -> FindFunction:
        """The black box. Raises ValueError (BenchmarkError among them) in words for the person."""
        if self.own:
            return source.brought(self.category, self.own_kind, self.own)
        if self.function:
            return source.by_id(self.category, self.function, Path(self.find_dir) if self.find_dir else None)
        return source.drawn(self.category, self.seed, self.difficulty, self.rules)


def _title(told: dict[str, object]) -> str:
    """What a list of runs calls it; it must not give the function away."""
    category = str(told.get("category") or "numeric")
    kind = {"numeric": "numeric", "strings": "string", "entities": "entity", "relations": "relation"}.get(
        category, category
    )
    if told.get("own"):
        return f"Your own {kind} function"
    if told.get("function"):
        return f"The {kind} function {told['function']}"
    difficulty = f", {told['difficulty']}" if told.get("difficulty") else ""
    return f"{'An' if kind == 'entity' else 'A'} {kind} function (seed {told.get('seed') or 0}{difficulty})"


# Sampling. The paper's own interpreters ran at their endpoints' default temperature, Vicuna at 0 (protocol §4).

EXPLORING = Sampling(temperature=0, max_tokens=700)
JUDGING = Sampling(temperature=0, max_tokens=60)
