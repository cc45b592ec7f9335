"""What answers for an entity or relation function: a language model, an embedding, or our own tables.

The benchmark's modules are one instructed language model (paper §2.3, appendix G; docs/measuring.md §4.3). All three
here are called through one function, `outputs_of`, and say for each output where it comes from.
"""

from __future__ import annotations

import asyncio
import math
from collections.abc import Awaitable, Callable, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from ....events import Answered, CallError, Frozen, ModelAnswer, Prompt, Sampling
from ....parsers.fields import readable
from ....text import templates
from ....text.embed import SMALL, encoder, likeness
from ....text.reply import without_thinking
from ....text.templates import Template
from .base import Backbone, UndefinedInputError
from .entities import EntityFunction, concepts
from .relations import NOT_LISTED, UNDEFINED, RelationFunction, normal

if TYPE_CHECKING:
    from numpy.typing import NDArray

REPOSITORY = "https://github.com/multimodal-interpretability/FIND"
"""Where the paper's authors keep their prompts."""

How = Literal["logprobs", "answer", "embedding", "table"]

ModuleFunction = EntityFunction | RelationFunction

Ask = Callable[[Prompt, Sampling, str], Awaitable[ModelAnswer | Answered]]
"""Puts a rendered prompt to the module's model: prompt, sampling, item. Raises CallError."""

DIGIT = Sampling(temperature=0.0, max_tokens=2, top_logprobs=20)
"""How an entity function is asked: only the first token and its alternatives count."""

FACT = Sampling(temperature=0.0, max_tokens=40)

LEAST = 0.5
"""The least probability that the two digits must have together for their shares to count."""

DECIMALS = 4
"""Entity values are rounded as the benchmark prints them."""

MIDPOINT, WIDTH = 0.40, 0.03
"""The cosine similarity at which an entity function by embedding gives 0.5, and how steep it is there (`related`)."""

MIDPOINT_OF_NAME = 0.29
"""The midpoint for a concept of which only the name is known."""

NAME_WEIGHT = 0.3
"""How much a concept's name counts compared with the mean of its words."""

SAME_INPUT = 0.85
"""The cosine similarity from which an input counts as a rewording of a fact's input. Measured: 2 % of our inputs are
this close to another of their relation (Sudan and South Sudan; the closest counts), 0.81 of rewordings ("the river
Rhine", "Rhine (river)") are as close to what they reword, and one word of another kind in 290 is.
"""


class Output(Frozen):
    """What the function gave for `input`. `value` is None if there was no usable output; `problem` then says why."""

    input: str
    value: float | str | None
    how: How
    problem: str = ""
    cut: bool = False
    """Whether it has no value because the model's answer was cut."""

    @property
    def text(self) -> str:
        """The output as an interpreter reads it: four decimals, or the word."""
        if self.value is None:
            return f"error: {self.problem}"
        return self.value if isinstance(self.value, str) else f"{self.value:.{DECIMALS}f}"


async def outputs_of(
    function: ModuleFunction,
    backbone: Backbone,
    inputs: Sequence[str],
    ask: Ask | None = None,
    source: str | None = None,
) -> list[Output]:
    """Return what `function` on `backbone` gives for each input, in order. Entity values are in 0…1; relation values
    are words, including "undefined". A call of a language model that fails is an output without a value. `source` is
    the setting `prompts`: ours, or the paper's.

    Raises ValueError for a language model if `ask` is None, and core.text.embed.NoEncoderError if there is no encoder.
    """
    if backbone == "table":
        return [_from_table(function, text) for text in inputs]
    if backbone == "embedding":
        return await asyncio.to_thread(_by_embedding, function, inputs) if inputs else []
    if ask is None:
        raise ValueError("A function that a language model carries out needs a model; choose one, or another backbone.")
    return list(await asyncio.gather(*(_asked(function, text, ask, source) for text in inputs)))


def _from_table(function: ModuleFunction, text: str) -> Output:
    """Return the output from our word lists and facts: exact except for case, accents and articles. A word that is not
    listed gives 0; for an input that no list of facts has, the function's output is unknown, so there is no value.
    """
    rng = np.random.default_rng(0)  # every function accepts one; these two do not use it
    try:
        return Output(input=text, value=function(text, rng), how="table")
    except UndefinedInputError as unknown:
        return Output(input=text, value=None, how="table", problem=str(unknown))


async def _asked(function: ModuleFunction, text: str, ask: Ask, source: str | None) -> Output:
    """Return the output of a language model that reads the function's description."""
    entity = isinstance(function, EntityFunction)
    try:
        answer = await ask(prompt(function, text, source), DIGIT if entity else FACT, text)
    except CallError as failure:
        return Output(input=text, value=None, how="answer", problem=failure.message)
    return read_score(text, answer) if entity else read_fact(text, answer)


_TEMPLATES = {"single": "entity", "or": "entity-or", "plain": "relation", "corrupted": "relation-corrupted"}
"""Prompts by the function's kind."""


def prompt(function: ModuleFunction, text: str, source: str | None = None) -> Prompt:
    """Return what the model is asked about the input `text`. Raises PaperPromptError."""
    slots = {name: value for name, value in function.parameters.items() if value is not None}
    return template(_TEMPLATES[function.kind], source).render(input=text, **slots)


def template(name: str, source: str | None = None) -> Template:
    """Return a template of this lab: ours or, with the setting `prompts`, the paper's. Raises PaperPromptError."""
    if source is None:
        return templates.load(f"find/{name}")
    return templates.load_paper(source, f"find/{name}", REPOSITORY)


def read_score(text: str, answer: ModelAnswer | Answered) -> Output:
    """Return p("1") / (p("0") + p("1")) at the first token that is not white space, to four decimals (paper §2.3).

    A digit that is not among the listed alternatives counts as probability 0. If the endpoint sends no
    log-probabilities, the model thought first, or the digits together are less likely than not, the written digit
    counts as 1.0 or 0.0 and `how` says "answer": a share of next to nothing would look like certainty. The call asks
    for so few tokens that an answer which used them all is complete.
    """
    unlikely = ""
    spoken = without_thinking(answer.text)
    # The first token of a thought says nothing about the answer, even if its alternatives include both digits.
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
    cut = f", and was {answer.cut_note}" if answer.cut_note else ""
    problem = f"the module wrote {answer.text[:60]!r}, neither 0 nor 1{unlikely}{cut}"
    return Output(input=text, value=None, how="answer", problem=problem, cut=bool(cut))


def _probability(listed: list[dict[str, Any]], digit: str) -> float:
    """Return the probability summed over the tokens that are `digit`, with or without a space."""
    likely = (token.get("logprob") for token in listed if str(token.get("token")).strip() == digit)
    return sum(math.exp(logprob) for logprob in likely if isinstance(logprob, int | float))


def read_fact(text: str, answer: ModelAnswer | Answered) -> Output:
    """Return the first line that says something, without quotes, markdown and full stop; any form of "undefined"
    becomes that word.

    Thinking is left out, and so is a line that was cut.
    """
    whole = readable(answer, "repaired", lines=True)
    if whole is None:
        return Output(input=text, value=None, how="answer", problem=f"the answer was {answer.cut_note}", cut=True)
    line = next((line.strip() for line in without_thinking(whole).splitlines() if line.strip()), "")
    fact = line.removeprefix("Output:").removeprefix("Answer:").strip(" \"'`*").removesuffix(".").strip(" \"'`*")
    if not fact:
        wrote = f"{answer.text[:60]!r}, no fact" if answer.text.strip() else "nothing"
        return Output(input=text, value=None, how="answer", problem=f"the module wrote {wrote}")
    return Output(input=text, value=UNDEFINED if normal(fact) == UNDEFINED else fact, how="answer")


def _by_embedding(function: ModuleFunction, inputs: Sequence[str]) -> list[Output]:
    """Return the outputs by sentence embeddings. Relations know only our facts, but accept other wordings of an
    input.
    """
    vectors = np.asarray(encoder(SMALL).encode(list(inputs)))
    values: Sequence[float | str | None]
    if isinstance(function, EntityFunction):
        scores = np.max([related(name, vectors) for name in function.names], axis=0)
        values = [round(float(score), DECIMALS) for score in scores]
    else:
        values = _nearest_facts(function, inputs, vectors)
    return [
        Output(input=text, value=value, how="embedding", problem=NOT_LISTED if value is None else "")
        for text, value in zip(inputs, values, strict=True)
    ]


def related(name: str, vectors: NDArray[Any]) -> NDArray[Any]:
    """Return how related each row of `vectors` (n × dimensions, normalised) is to the concept, 0…1, shape n.

    A logistic curve over the cosine to the concept's direction: the mean of its words plus 0.3 of its name. Its two
    constants were set on our words with MiniLM: 0.89 on average for a concept's own words (0.83 if each word is left
    out of its concept's mean), 0.07 for the words of other concepts.
    """
    concept = concepts().get(name)
    midpoint = MIDPOINT if concept else MIDPOINT_OF_NAME
    cosines = likeness(vectors, direction(name, concept.words if concept else ())[None])[:, 0]
    return np.asarray(1 / (1 + np.exp(-(cosines - midpoint) / WIDTH)))


@lru_cache(maxsize=512)
def direction(name: str, words: tuple[str, ...]) -> NDArray[Any]:
    """Return the direction of a concept with these words: a unit vector, shape (dimensions,)."""
    encoded = np.asarray(encoder(SMALL).encode([name, *words]))
    summed = encoded[0] if not len(words) else encoded[1:].mean(axis=0) + NAME_WEIGHT * encoded[0]
    return np.asarray(summed / np.linalg.norm(summed))


def _nearest_facts(function: RelationFunction, inputs: Sequence[str], vectors: NDArray[Any]) -> list[str | None]:
    """Return the outputs; None for an input that is not close to a fact and not known as another kind of thing."""
    if function.relation is None:
        return [None] * len(vectors)
    named = [(name, fact) for fact in function.relation.facts for name in fact.inputs]
    cosines = likeness(vectors, encoder(SMALL).encode([name for name, _ in named]))
    best = cosines.argmax(axis=1)
    return [
        UNDEFINED
        if function.is_of_other_kind(text)
        else function.output(named[place][1])
        if row[place] >= SAME_INPUT
        else None
        for text, row, place in zip(inputs, cosines, best, strict=True)
    ]
