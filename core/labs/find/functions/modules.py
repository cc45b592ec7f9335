"""What answers for an entity or relation function: a language model, an embedding, or our own tables.

The benchmark's modules are one instructed language model (paper §2.3, appendix G; docs/measuring.md §4.3). All
three here stand behind one method, `value(inputs)`, and say for each output how it was come by.
"""

from __future__ import annotations

import asyncio
import math
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Literal, Protocol

import numpy as np

from core.events import Answer, Answered, CallFailed, Frozen, Prompt, Sampling
from core.labs.find.functions.base import UndefinedInput
from core.labs.find.functions.entities import EntityFunction, concepts
from core.labs.find.functions.relations import NOT_LISTED, UNDEFINED, RelationFunction
from core.labs.find.functions.same_text import normal
from core.text import templates
from core.text.embed import encoder, likeness
from core.text.reply import without_thinking

if TYPE_CHECKING:
    from numpy.typing import NDArray

Backbone = Literal["model", "embedding", "table"]
How = Literal["logprobs", "answer", "embedding", "table"]

ModuleFunction = EntityFunction | RelationFunction

Ask = Callable[[Prompt, Sampling, str], Awaitable[Answer | Answered]]
"""Puts a rendered prompt to the module's model: prompt, sampling, item. Raises CallFailed."""

DIGIT = Sampling(temperature=0.0, max_tokens=2, top_logprobs=20)
"""How an entity function is asked: the first token and its rivals are all that counts."""

FACT = Sampling(temperature=0.0, max_tokens=40)

LEAST = 0.5
"""Probability that the two digits must have together for their shares to count."""

DECIMALS = 4
"""Entity values are rounded as the benchmark prints them."""

MIDPOINT, WIDTH = 0.40, 0.03
"""Cosine similarity at which an entity function by embedding gives 0.5, and how fast it turns (`related`)."""

MIDPOINT_OF_NAME = 0.29
"""The same for a concept of which only the name is known."""

NAME_WEIGHT = 0.3
"""How much a concept's name counts beside the mean of its words."""

SAME_INPUT = 0.85
"""Cosine similarity from which an input counts as another way to say the input of a fact. Measured: of our inputs 2 %
come this near to another of their relation (Sudan and South Sudan; the nearest counts), 0.81 of rewordings ("the river
Rhine", "Rhine (river)") come as near to what they reword, and one word of another kind in 290."""


class Output(Frozen):
    """What the function gave for `input`. `value` is None where nothing usable came; `problem` then says why."""

    input: str
    value: float | str | None
    how: How
    problem: str = ""

    @property
    def text(self) -> str:
        """As an interpreter reads it: four decimals, or the word."""
        if self.value is None:
            return f"error: {self.problem}"
        return self.value if isinstance(self.value, str) else f"{self.value:.{DECIMALS}f}"


class Module(Protocol):
    """A function with a backbone. Entity values lie in 0…1; relation values are words, "undefined" among them."""

    @property
    def function(self) -> ModuleFunction:
        """What it answers for."""
        ...

    async def value(self, inputs: Sequence[str]) -> list[Output]:
        """One output per input, in order. A failed call is an output without a value, never an exception."""
        ...


def module(function: ModuleFunction, backbone: Backbone, ask: Ask | None = None) -> Module:
    """`function` on `backbone`. Raises ValueError for a language model without anything to ask."""
    if backbone == "table":
        return TableModule(function)
    if backbone == "embedding":
        return EmbeddingModule(function)
    if ask is None:
        raise ValueError("A function that a language model carries out needs a model; choose one, or another backbone.")
    return LanguageModule(function, ask)


@dataclass(frozen=True)
class TableModule:
    """Our word lists and facts: exact but for case, accents and articles. A word that is not listed is 0; of an input
    that no list of facts holds nobody knows here what the function gives, so there is no value.
    """

    function: ModuleFunction

    async def value(self, inputs: Sequence[str]) -> list[Output]:
        """One output per input, in order."""
        return [self._one(text) for text in inputs]

    def _one(self, text: str) -> Output:
        rng = np.random.default_rng(0)  # asked for by every function; these two draw nothing from it
        try:
            return Output(input=text, value=self.function(text, rng), how="table")
        except UndefinedInput as unknown:
            return Output(input=text, value=None, how="table", problem=str(unknown))


@dataclass(frozen=True)
class LanguageModule:
    """A language model that reads the function's description, one call per input."""

    function: ModuleFunction
    ask: Ask

    async def value(self, inputs: Sequence[str]) -> list[Output]:
        """One output per input, in order, all asked at once. A failed call is an output without a value."""
        return list(await asyncio.gather(*map(self._one, inputs)))

    async def _one(self, text: str) -> Output:
        entity = isinstance(self.function, EntityFunction)
        try:
            answer = await self.ask(prompt(self.function, text), DIGIT if entity else FACT, text)
        except CallFailed as failure:
            return Output(input=text, value=None, how="answer", problem=failure.message)
        return read_score(text, answer) if entity else read_fact(text, answer)


def prompt(function: ModuleFunction, text: str) -> Prompt:
    """What the model is asked about the input `text`."""
    slots = {name: value for name, value in function.parameters.items() if value is not None}
    if isinstance(function, EntityFunction):
        name = "entity" if function.kind == "single" else "entity-or"
    else:
        name = "relation" if function.kind == "plain" else "relation-corrupted"
    return templates.load(f"find/{name}").render(input=text, **slots)


def read_score(text: str, answer: Answer | Answered) -> Output:
    """p("1") / (p("0") + p("1")) at the first token that is not space, to four decimals (paper §2.3).

    A digit outside the listed rivals counts as probability 0. Where the endpoint sends no log-probabilities, where the
    model thought first, or where the digits together are less likely than not, the digit that was written counts as 1.0
    or 0.0, and `how` says "answer": a share of next to nothing would look like certainty.
    """
    unlikely = ""
    spoken = without_thinking(answer.text)
    # The first token of a thought says nothing of the answer, though its rivals may list both digits.
    for token in (answer.logprobs or []) if spoken == answer.text else []:
        if not str(token.get("token", "")).strip():
            continue
        listed = token.get("top_logprobs") or [token]
        odds = {digit: _probability(listed, digit) for digit in ("0", "1")}
        total = odds["0"] + odds["1"]
        if total >= LEAST:
            return Output(input=text, value=round(odds["1"] / total, DECIMALS), how="logprobs")
        unlikely = f"; 0 and 1 together have a probability of {total:.3f}"
        break
    written = spoken.strip().strip("\"'`*.").strip()
    if written[:1] in {"0", "1"} and not written[1:2].isdigit():
        return Output(input=text, value=float(written[0]), how="answer")
    problem = f"the module wrote {answer.text[:60]!r}, neither 0 nor 1{unlikely}"
    return Output(input=text, value=None, how="answer", problem=problem)


def _probability(listed: list[dict[str, Any]], digit: str) -> float:
    """Added over the tokens that are `digit` with or without a space."""
    likely = (one.get("logprob") for one in listed if str(one.get("token")).strip() == digit)
    return sum(math.exp(logprob) for logprob in likely if isinstance(logprob, int | float))


def read_fact(text: str, answer: Answer | Answered) -> Output:
    """The first line that says something, without quotes, markdown and full stop; any form of "undefined" is that.

    Thinking is left out.
    """
    line = next((line.strip() for line in without_thinking(answer.text).splitlines() if line.strip()), "")
    fact = line.removeprefix("Output:").removeprefix("Answer:").strip(" \"'`*").removesuffix(".").strip(" \"'`*")
    if not fact:
        problem = (
            f"the module wrote {answer.text[:60]!r}, no fact" if answer.text.strip() else "the module wrote nothing"
        )
        return Output(input=text, value=None, how="answer", problem=problem)
    return Output(input=text, value=UNDEFINED if normal(fact) == UNDEFINED else fact, how="answer")


@dataclass(frozen=True)
class EmbeddingModule:
    """Sentence embeddings, no language model. Relations know our facts only, but forgive how an input is put.

    `value` raises core.text.embed.NoEncoder where no encoder is installed.
    """

    function: ModuleFunction

    async def value(self, inputs: Sequence[str]) -> list[Output]:
        """One output per input, in order. Raises core.text.embed.NoEncoder."""
        if not inputs:
            return []
        values: Sequence[float | str | None] = await asyncio.to_thread(self._values, list(inputs))
        return [
            Output(input=text, value=value, how="embedding", problem=NOT_LISTED if value is None else "")
            for text, value in zip(inputs, values, strict=True)
        ]

    def _values(self, inputs: list[str]) -> list[float] | list[str | None]:
        vectors = np.asarray(encoder().encode(inputs))
        if isinstance(self.function, EntityFunction):
            scores = np.max([related(name, vectors) for name in self.function.names], axis=0)
            return [round(float(score), DECIMALS) for score in scores]
        return _nearest_facts(self.function, inputs, vectors)


def related(name: str, vectors: NDArray[Any]) -> NDArray[Any]:
    """How related each row of `vectors` (n × dimensions, normalised) is to the concept, 0…1, shape n.

    A logistic curve over the cosine to the concept's direction: the mean of its words plus 0.3 of its name. Its two
    constants were set on our words with MiniLM: 0.89 on average for a concept's own (0.83 where each word is left out
    of its concept's mean), 0.07 for the words of other concepts.
    """
    concept = concepts().get(name)
    midpoint = MIDPOINT if concept else MIDPOINT_OF_NAME
    cosines = likeness(vectors, direction(name, concept.words if concept else ())[None])[:, 0]
    return np.asarray(1 / (1 + np.exp(-(cosines - midpoint) / WIDTH)))


@lru_cache(maxsize=512)
def direction(name: str, words: tuple[str, ...]) -> NDArray[Any]:
    """Where a concept with these words lies: a unit vector, shape (dimensions,)."""
    encoded = np.asarray(encoder().encode([name, *words]))
    summed = encoded[0] if not len(words) else encoded[1:].mean(axis=0) + NAME_WEIGHT * encoded[0]
    return np.asarray(summed / np.linalg.norm(summed))


def _nearest_facts(function: RelationFunction, inputs: Sequence[str], vectors: NDArray[Any]) -> list[str | None]:
    """None for what neither comes near to a fact nor is known as another kind of thing."""
    if function.relation is None:
        return [None] * len(vectors)
    named = [(name, fact) for fact in function.relation.facts for name in fact.inputs]
    cosines = likeness(vectors, encoder().encode([name for name, _ in named]))
    best = cosines.argmax(axis=1)
    return [
        UNDEFINED
        if function.is_of_other_kind(text)
        else function.output(named[place][1])
        if row[place] >= SAME_INPUT
        else None
        for text, row, place in zip(inputs, cosines, best, strict=True)
    ]
