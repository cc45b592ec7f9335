"""The specification of a run: which black box, who explains it, with what budget, and who judges. FIND, sections 2 to
4.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar, Literal, Self

from pydantic import Field, model_validator

from ...events import Frozen, Rules, Sampling
from ...parsers.fields import Answers
from ...text.templates import PROSE_ONLY
from ..base.declared import words_of
from ..base.spec import MOST_CASES, Sampled
from .functions import base
from .functions.base import Backbone, Category, Difficulty, OwnKind

Interpreter = Literal["aia", "milan", "aia+milan", "fit", "nearest", "you", "given"]

ROUNDS = 20
"""The paper's agents have as many (docs/measuring.md §4.4)."""

SINGLE_ROUND = 2
"""With the paper's prompts MILAN is the agent that is stopped after its second message (collect_interpretations.py)."""

PROBES = 200
MENDS = 2
"""How often an agent whose code cannot be run may write its conclusion again."""

TRIPLETS = 20
"""Unit tests of one function: with ten, six right are compatible with guessing."""

FREE_TRIPLETS = 80
"""The same if sentence vectors take the tests, which costs no call: twenty are too few to show that a description tells
as much as the truth (docs/measuring.md §4.9), and eighty are four rounds of a subject's twenty words.
"""

PAPER_TRIPLETS = 10
"""The paper's number (paper §3)."""

MODULE_CHECKS = 10
"""How many inputs inside, and how many outside, a language model is asked about before it carries a function out."""

OWN = "own"
"""The case's id if the function is the person's own."""

BY_MODEL = ("aia", "milan", "aia+milan")
"""Interpreters that are language models."""

NAMES: dict[Interpreter, str] = words_of(__file__, "interpreters")

FIRST_BACKBONE: dict[str, Backbone] = {"entities": "embedding", "relations": "table"}
"""What carries a function out by default: twenty listed words are too few to find a subject by, and sentence embeddings
know no facts.
"""

CAN: dict[Interpreter, tuple[Category, ...]] = {
    **dict.fromkeys(("aia", "milan", "aia+milan", "you", "given"), base.CATEGORIES),
    "fit": ("numeric", "strings"),
    "nearest": ("entities",),
}
"""The categories that each interpreter can handle."""


class Given(Frozen):
    """An interpretation from elsewhere."""

    description: str = ""
    domain: str = ""
    code: str = ""


class ProbeSpec(Sampled):
    """Black boxes and who interprets them: one case per function.

    The function is the person's `own`, else the one named `function` or those named `functions` (published ids with
    `find_dir`, or names of generated ones), else those of the published category, else the `count` functions that the
    seeds from `seed` on and `difficulty` stand for. `model` is the interpreter's, `evaluator` the one that takes the
    unit tests; `backbone` carries out entities and relations, with `module` if it is a model. `rounds` and `probes` are
    the interpreter's budget for each function. With `tools` an agent asks by native tool calls if its model has them,
    else by the paper's text protocol. `answers` says how conclusions and unit tests are requested. `rules` parse the
    agent's commands while it works and decide how a generated function behaves; the final answer is always read by both
    parsers. With `evaluator_prompt` ("paper" or a folder) the evaluator gets the paper's prompts, whatever the
    interpreter gets. The `evaluators` are further ones, which take the same tests. The `judge` compares the description
    with the true one (`second_opinions`). Fields without a title are set by hand.
    """

    LENGTH_FIELDS: ClassVar[Mapping[str, str]] = {"interpreter": "tokens"}

    seed: int = Field(default=0, ge=0, lt=10**12)
    title: str = ""
    category: Category = "numeric"
    function: str = ""
    functions: tuple[str, ...] = Field(default=(), max_length=MOST_CASES)
    count: int = Field(default=1, ge=1, le=MOST_CASES)
    find_dir: str | None = None
    limit: int | None = Field(default=None, ge=1, le=MOST_CASES)
    difficulty: Difficulty | None = None
    own: str = Field(default="", max_length=8_000)
    own_kind: OwnKind = "code"
    interpreter: Interpreter = "aia"
    model: str = ""
    evaluator: str = ""
    backbone: Backbone = "table"
    module: str = ""
    rounds: int = Field(default=ROUNDS, ge=1, le=50)
    probes: int = Field(default=PROBES, ge=1, le=2_000)
    temperature: float = Field(default=0.0, ge=0, le=2)
    tokens: int = Field(default=700, ge=16, le=16_384)
    rules: Rules = "repaired"
    tools: bool = False
    answers: Answers = "prose"
    triplets: int | None = Field(default=None, ge=1, le=200)
    evaluator_prompt: str | None = Field(default=None, max_length=1_000, exclude_if=lambda setting: setting is None)
    evaluators: tuple[str, ...] = Field(default=(), max_length=4, exclude_if=lambda several: not several)
    judge: str = Field(default="", exclude_if=lambda model: not model)
    given: Given | None = None
    beside: str = ""

    @model_validator(mode="before")
    @classmethod
    def _filled(cls, given: object) -> object:
        if not isinstance(given, dict):
            return given
        filled = {key: value.strip() if isinstance(value, str) else value for key, value in given.items()}
        named = filled.get("functions")
        if isinstance(named, list | tuple):
            several = tuple(dict.fromkeys(one.strip() for one in named if isinstance(one, str) and one.strip()))
            if len(several) == 1 and not filled.get("function"):
                filled["function"], several = several[0], ()
            filled["functions"] = several
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
        if self.tools and self.rules == "paper":
            raise ValueError(
                "With the original parser an agent asks in text: turn tool calls off, or choose the updated parser."
            )
        if self.answers == "schema" and self.evaluator_prompt:
            raise ValueError(PROSE_ONLY)
        if self.answers == "schema" and self.rules == "paper":
            raise ValueError("The original parser reads only prose. Choose prose, or the updated parser.")
        if self.prompts and self.rules != "paper":
            raise ValueError(
                "The paper's prompts go with the paper's dialogue: choose the original parser, or our prompts."
            )
        if self.evaluators and not self.evaluator:
            raise ValueError("Name the first evaluator before further ones.")
        if len({self.evaluator, *self.evaluators}) <= len(self.evaluators):
            raise ValueError("An evaluator is named twice.")
        if self.interpreter == "given" and self.given is None:
            raise ValueError("There is no description to rate.")
        if self.is_module and self.backbone == "model" and not self.module:
            raise ValueError("A function that a language model carries out needs a model; choose one.")
        if self.difficulty and self.difficulty not in base.difficulties(self.category):
            known = " or ".join(base.difficulties(self.category))
            raise ValueError(f"{self.category} functions are {known}, not {self.difficulty}.")
        self._one_source()
        return self

    def _one_source(self) -> None:
        """Raise ValueError if it is not clear which functions are meant."""
        named = [bool(self.own), bool(self.function), bool(self.functions), self.count > 1]
        if sum(named) > 1:
            raise ValueError(
                "Choose one: a function of your own, one by its name, several by their names, or several drawn ones."
            )
        if self.count > 1 and self.find_dir:
            raise ValueError("A count draws new functions. For functions of the published set give a limit instead.")
        if self.limit is not None and not self.is_category:
            raise ValueError("A limit is for the published set: name the set's folder, and no single function.")
        if self.interpreter == "given" and self.is_several:
            raise ValueError("A description made elsewhere is about one function: name that function.")

    @property
    def is_category(self) -> bool:
        """Whether the functions are those of a published category."""
        return bool(self.find_dir) and not (self.own or self.function or self.functions)

    @property
    def is_several(self) -> bool:
        """Whether it is about functions of which only the names are known, and not about a single one."""
        return bool(self.functions) or self.count > 1 or self.is_category

    @property
    def is_published(self) -> bool:
        """Whether it is a function of the published set, with that set's own tests."""
        return bool(self.find_dir and self.function and not self.own and not base.is_drawn(self.function))

    @property
    def is_module(self) -> bool:
        """Whether a backbone carries the function out."""
        return self.category in ("entities", "relations") and not (self.own and self.own_kind == "pairs")

    @property
    def unit_tests(self) -> int:
        """Triplets per function. A published function has its own ten."""
        if self.rules == "paper":
            return self.triplets or PAPER_TRIPLETS
        return self.triplets or (FREE_TRIPLETS if self.is_module and not self.evaluator else TRIPLETS)

    @property
    def evaluating(self) -> str | None:
        """Whose prompts the evaluator gets: the setting of its own, else that of the run."""
        return self.evaluator_prompt or self.prompts

    @property
    def exploring(self) -> Sampling:
        """How the interpreter's messages are sampled."""
        return self.sampled(Sampling(max_tokens=self.tokens))

    @property
    def roles(self) -> dict[str, tuple[str, ...]]:
        asked = {
            "interpreter": self.model if self.interpreter in BY_MODEL else "",
            "evaluator": self.evaluator,
            "module": self.module if self.is_module and self.backbone == "model" else "",
            "judge": self.judge,
        }
        roles = {role: (model,) for role, model in asked.items() if model}
        return roles | ({"evaluator": (self.evaluator, *self.evaluators)} if self.evaluators else {})

    def alone(self, name: str) -> ProbeSpec:
        """Return the specification of one of its functions: a run of several measures each one as its own run would."""
        if not self.is_several:
            return self
        fields: dict[str, object] = {"functions": (), "count": 1, "limit": None}
        fields |= {"seed": base.seed_of(name)} if self.count > 1 else {"function": name}
        one = self.model_copy(update=fields)
        return one.model_copy(update={"title": _title(one.model_dump())})


def asks(spec: ProbeSpec, cases: int) -> dict[str, int]:
    """Return the most calls to language models, by role, that a run over `cases` functions makes."""
    longest = spec.rounds + 1 + (MENDS if spec.category in ("numeric", "strings") else 0)
    longest += spec.answers == "schema"
    dialogue = {"aia": longest, "aia+milan": longest, "milan": SINGLE_ROUND if spec.prompts else 1}.get(
        spec.interpreter, 0
    )
    # The description, the original parser's reading if it differs, the true one, and for facts the list of outputs
    # seen.
    descriptions = 4 if spec.category == "relations" else 3
    each_reads = descriptions + 2 * len(spec.evaluators)
    tests = each_reads * spec.unit_tests if spec.evaluator and spec.category != "numeric" else 0
    compared = 4 if spec.judge and spec.category != "numeric" else 0
    checked = 0 if spec.interpreter == "given" else 2 * MODULE_CHECKS
    modules = spec.probes + checked if spec.is_module and spec.backbone == "model" else 0
    each = {"interpreter": dialogue, "evaluator": tests, "module": modules, "judge": compared}
    return {role: cases * calls for role, calls in each.items() if calls}


_KINDS = {"numeric": "numeric", "strings": "string", "entities": "entity", "relations": "relation"}
_YOURS = "Your own {} function"

NAMELESS = tuple(_YOURS.format(kind) for kind in _KINDS.values())
"""Titles of functions that a person wrote: they do not distinguish any two of them."""


def _title(fields: dict[str, Any]) -> str:
    """Return the title in lists of runs; it must not give the function away."""
    category = str(fields.get("category") or "numeric")
    kind = _KINDS.get(category, category)
    if fields.get("own"):
        return _YOURS.format(kind)
    if fields.get("function"):
        return f"The {kind} function {fields['function']}"
    if fields.get("functions"):
        return f"{len(fields['functions'])} {kind} functions"
    if fields.get("find_dir"):
        several = f"{fields['limit']} published" if fields.get("limit") else "The published"
        return f"{several} {kind} functions"
    difficulty = f", {fields['difficulty']}" if fields.get("difficulty") else ""
    seed, count = fields.get("seed") or 0, fields.get("count") or 1
    if isinstance(seed, int) and isinstance(count, int) and count > 1:
        return f"{count} {kind} functions (seeds {seed} to {seed + count - 1}{difficulty})"
    return f"{'An' if kind == 'entity' else 'A'} {kind} function (seed {seed}{difficulty})"


JUDGING = Sampling(temperature=0, max_tokens=60)
"""How an evaluator answers (docs/measuring.md §4.9)."""
