"""Can a backbone be trusted with the entity functions? The paper's table A1 and figure A4, for any backbone, as
a run of its own: each mean leads to the words, and each word of a language model to the raw answer.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Self

import numpy as np
from pydantic import Field, model_validator

from core.events import CallFailed, Frozen
from core.labs.find.functions.entities import EntityFunction, concepts
from core.labs.find.functions.modules import Backbone, module
from core.labs.find.module_calls import ModuleCalls, item
from core.labs.find.prompts import MODULES
from core.runs.run import Lab, Run, Spec
from core.runs.transcript import Reader, Transcript
from core.text.embed import NoEncoder
from core.text.templates import load

PAPER = {"same": 0.846, "random": 0.079}
"""Means of the paper's module, Vicuna-13b, over its 140 concepts (table A1)."""


class ReliabilitySpec(Spec):
    """What is tested, and how widely.

    `concepts` of the 140 are taken, evenly from the list (sensitive ones only where all are), with `words` of each.
    `across` asks every function about all their words, which makes figure A4; without it each is asked about its own
    words and as many of other concepts, drawn by `seed`, as in table A1.
    """

    seed: Annotated[int, Field(ge=0)] = 0
    title: str = ""
    backbone: Backbone = "table"
    model: str = ""
    concepts: Annotated[int, Field(ge=2, le=140)] = 16
    words: Annotated[int, Field(ge=1, le=10)] = 5
    across: bool = True

    @model_validator(mode="before")
    @classmethod
    def _filled(cls, told: object) -> object:
        if isinstance(told, dict) and not told.get("title"):
            return {**told, "title": "Can the entity functions be trusted?"}
        return told

    @model_validator(mode="after")
    def _whole(self) -> Self:
        if (self.backbone == "model") != bool(self.model):
            raise ValueError("A language model carries functions out by --backbone model, and by that alone.")
        return self

    @property
    def models(self) -> set[str]:
        return {self.model} - {""}

    @property
    def outputs(self) -> int:
        """How many outputs are asked for; of a language model, calls."""
        return self.concepts * self.words * (self.concepts if self.across else 2)


class Reliability(Frozen):
    """What one concept's function gave. For each word: the concept it belongs to, the value in 0…1, and why there is
    none where it is None. `how` is what the values are come by: a table, an embedding, probabilities, plain answers.
    """

    concept: str
    words: tuple[str, ...]
    of: tuple[str, ...]
    values: tuple[float | None, ...]
    how: tuple[str, ...]
    problems: tuple[str, ...]

    def of_concept(self, name: str) -> list[float]:
        """The values there are for the words of `name`."""
        pairs = zip(self.of, self.values, strict=True)
        return [value for of, value in pairs if of == name and value is not None]

    @property
    def same(self) -> list[float]:
        return self.of_concept(self.concept)

    @property
    def random(self) -> list[float]:
        pairs = zip(self.of, self.values, strict=True)
        return [value for of, value in pairs if of != self.concept and value is not None]


def sample(spec: ReliabilitySpec) -> list[str]:
    """The names of the concepts under test."""
    names = [name for name, concept in concepts().items() if not concept.sensitive]
    if spec.concepts > len(names):
        names = list(concepts())
    places = np.linspace(0, len(names), spec.concepts, endpoint=False).astype(int)
    return [names[place] for place in places]


def _asked(spec: ReliabilitySpec, name: str, names: Sequence[str]) -> list[tuple[str, str]]:
    """The words put to the function of `name`, each with the concept it belongs to."""
    if spec.across:
        return [(word, of) for of in names for word in concepts()[of].words[: spec.words]]
    others = [(word, other.name) for other in concepts().values() if other.name != name for word in other.words]
    rng = np.random.default_rng([spec.seed, list(concepts()).index(name)])
    drawn = rng.choice(len(others), spec.words, replace=False)
    return [(word, name) for word in concepts()[name].words[: spec.words]] + [others[place] for place in drawn]


async def measure(spec: ReliabilitySpec, run: Run) -> None:
    """Ask function by function. Raises CallFailed where the backbone gives nothing at all."""
    names = sample(spec)
    found: list[Reliability] = []
    for name in names:
        asked = _asked(spec, name, names)
        calls = ModuleCalls(run, spec.model, about=f"{name}:")
        function = EntityFunction(id=f"concept-{name}", concept1=name)
        try:
            outputs = await module(function, spec.backbone, calls.ask).value([word for word, _ in asked])
        except NoEncoder as missing:
            raise CallFailed(str(missing), "Or choose another backbone.") from missing
        if calls.failure is not None and all(output.value is None for output in outputs):
            raise calls.failure
        if calls.failure is not None:
            run.drop(name, "error", calls.failure.message)
        for (word, _), output in zip(asked, outputs, strict=True):
            if output.value is None and not (calls.failure and output.problem == calls.failure.message):
                run.drop(item(f"{name}:", word), "unparsed", output.problem)
        record = Reliability(
            concept=name,
            words=tuple(word for word, _ in asked),
            of=tuple(of for _, of in asked),
            values=tuple(output.value if isinstance(output.value, float) else None for output in outputs),
            how=tuple(output.how for output in outputs),
            problems=tuple(output.problem for output in outputs),
        )
        run.record(record, name)
        found.append(record)
    for kind in ("same", "random"):
        values = [value for one in found for value in getattr(one, kind)]
        of = sum((place == one.concept) == (kind == "same") for one in found for place in one.of)
        mean = float(np.mean(values)) if values else None
        run.score(f"{kind}_mean", mean, n=len(values), of=of, rules="repaired")


class Report:
    """A run of this kind as far as it has come. `unread` entries could not be read and are left out."""

    def __init__(self, told: Transcript) -> None:
        reader = Reader()
        self.told = told
        self.spec = reader.read(ReliabilitySpec, told.started.spec) if told.started else None
        read = [reader.read(Reliability, data) for data in told.of("reliability").values()]
        self.concepts = [one for one in read if one is not None]
        self.unread = reader.unread

    def mean(self, kind: str) -> float | None:
        """The mean over all outputs with a value so far: "same" for own words, "random" for others."""
        values = [value for one in self.concepts for value in getattr(one, kind)]
        return float(np.mean(values)) if values else None

    def matrix(self) -> tuple[list[str], list[list[float | None]]]:
        """Figure A4: names, and the mean of each row's function for the words of each column's concept; None where
        no output had a value.
        """
        names = [one.concept for one in self.concepts]
        means = [[_mean(one.of_concept(name)) for name in names] for one in self.concepts]
        return names, means


def _mean(values: Sequence[float]) -> float | None:
    return float(np.mean(values)) if values else None


def softmax(row: Sequence[float | None]) -> list[float | None]:
    """A row as the paper's figure has it: it adds to 1. What is None stays so."""
    raised = [None if value is None else float(np.exp(value)) for value in row]
    total = sum(value for value in raised if value is not None)
    return [None if value is None else value / total for value in raised]


def verdict(report: Report) -> str:
    """Whether the backbone can be trusted, in a sentence for anyone."""
    same, random = report.mean("same"), report.mean("random")
    asked = sum(len(one.values) for one in report.concepts)
    counted = sum(value is not None for one in report.concepts for value in one.values)
    if not counted:
        return "It gave no values: this backbone cannot carry the functions out."
    if counted < asked / 2 or same is None or random is None:
        return f"Only {counted} of {asked} answers could be read: too few to tell."
    if report.spec and report.spec.backbone == "table":
        return (
            f"Own words get {same:.2f}, words of other subjects {random:.2f}, by construction: the lists know their "
            "own words, and give 0 for any other, however fitting."
        )
    told = f"Own words get {same:.2f} on average, words of other subjects {random:.2f}"
    compared = f"(the paper's module: {PAPER['same']:.2f} and {PAPER['random']:.2f})"
    if same - random >= 0.5:
        return f"{told} {compared}. It can tell what belongs to a subject."
    if same - random >= 0.2:
        return f"{told} {compared}. It tells a little: an interpreter will meet many wrong outputs."
    return f"{told} {compared}. It cannot tell: nobody could find these functions by calling them."


def _prompts(spec: ReliabilitySpec) -> dict[str, str]:
    if spec.backbone != "model":
        return {}
    template = load(f"find/{MODULES['entities'][0]}")
    return {template.id: template.hash}


LAB = Lab("reliability", ReliabilitySpec, measure, _prompts)
