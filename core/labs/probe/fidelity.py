"""Whether the box that carries out an entity or relation function agrees with the function's own stated truth. It is
measured before the box is used, because an interpreter can be no better than what it is shown.

The truth of a published function is its ten published examples; of any other function, our own words or facts. The
inputs outside are one input of every other function of the category, the same for all.
"""

from collections.abc import Sequence
from typing import Literal, NamedTuple

import numpy as np

from ... import files
from ...text import embed
from .functions.base import BenchmarkError
from .functions.entities import INSIDE, LEAST, OUTSIDE, EntityFunction, concepts
from .functions.modules import Ask, ModuleFunction, Output, outputs_of
from .functions.relations import UNDEFINED, RelationFunction, relations, same_answer
from .functions.triplets import published_triplets
from .records import Fidelity, FidelityReading
from .tasks import MODULE_CHECKS, ProbeSpec

HALF = 0.5
"""From this value on an entity function says that a word is related."""


class Stated(NamedTuple):
    """One input with what the function's truth says about it. `inside`: whether it belongs to the function."""

    input: str
    expected: str
    inside: bool


def _published(spec: ProbeSpec) -> list[Stated]:
    """Return what the published tests state; empty if the function has none."""
    if not spec.is_published:
        return []
    category: Literal["entities", "relations"] = "entities" if spec.category == "entities" else "relations"
    try:
        tests = published_triplets(files.resolve_named(str(spec.find_dir)), category)[spec.function]
    except (BenchmarkError, KeyError):
        return []
    true = dict.fromkeys(test.options[test.correct] for test in tests)
    return [Stated(one[0], one[1] if len(one) > 1 else "1", True) for one in true]


def _ours(function: ModuleFunction) -> list[Stated]:
    if isinstance(function, EntityFunction):
        return [Stated(word, "1", True) for word in function.related_words()]
    facts = function.relation.facts if function.relation else ()
    return [Stated(fact.inputs[0], function.output(fact), True) for fact in facts]


def _other_words(function: EntityFunction) -> list[Stated]:
    """Return one word of each other subject that is not sensitive."""
    rng = np.random.default_rng(0)
    drawn = {name: str(rng.choice(concept.words)) for name, concept in concepts().items()}
    others = (name for name, one in concepts().items() if name not in function.names and not one.sensitive)
    return [Stated(drawn[name], "0", False) for name in others]


def _other_inputs(function: RelationFunction) -> list[Stated]:
    """Return one input of each relation about another kind of thing, unless this relation has a fact about it too."""
    rng = np.random.default_rng(0)
    drawn = [(other, str(rng.choice([fact.inputs[0] for fact in other.facts]))) for other in relations().values()]
    own = function.relation
    texts = (text for _, text in drawn if function.is_of_other_kind(text) and not (own and own.fact(text)))
    return [Stated(text, UNDEFINED, False) for text in dict.fromkeys(texts)]


async def measure(spec: ProbeSpec, function: ModuleFunction, ask: Ask | None = None) -> Fidelity:
    """Ask the box that `spec` names about the inputs of its truth. A language model gets only `MODULE_CHECKS` inputs
    inside and as many outside, evenly from the list, because each is a call.

    Raises core.text.embed.NoEncoderError if there is no encoder, and ValueError if a language model is needed and `ask`
    is None.
    """
    published = _published(spec)
    outside = _other_words(function) if isinstance(function, EntityFunction) else _other_inputs(function)
    inside = published or _ours(function)
    known = {one.input for one in inside}
    truths = inside + [one for one in outside if one.input not in known]
    if spec.backbone == "model":
        truths = [one for side in (True, False) for one in _evenly([t for t in truths if t.inside is side])]
    outputs = await outputs_of(function, spec.backbone, [one.input for one in truths], ask, spec.prompts)
    by = spec.module or (embed.encoder(embed.SMALL).name if spec.backbone == "embedding" else "")
    return Fidelity(
        category=function.category,
        backbone=spec.backbone,
        by=by,
        published=bool(published),
        inputs=tuple(one.input for one in truths),
        inside=tuple(one.inside for one in truths),
        expected=tuple(one.expected for one in truths),
        outputs=tuple(output.text for output in outputs),
        readings=tuple(_read(function, *pair) for pair in zip(truths, outputs, strict=True)),
    )


def is_about(found: Fidelity, spec: ProbeSpec, function: ModuleFunction) -> bool:
    """Whether all inputs that `found` lists as the function's own still belong to it."""
    own = {one.input for one in _published(spec) or _ours(function)}
    return own.issuperset(text for text, inside in zip(found.inputs, found.inside, strict=True) if inside)


def _evenly(truths: Sequence[Stated]) -> list[Stated]:
    places = np.linspace(0, len(truths), min(MODULE_CHECKS, len(truths)), endpoint=False).astype(int)
    return [truths[place] for place in places]


def _read(function: ModuleFunction, truth: Stated, output: Output) -> FidelityReading:
    if output.value is None:
        return "no value"
    if isinstance(output.value, float):
        return "right" if (output.value >= HALF) is truth.inside else "wrong"
    assert isinstance(function, RelationFunction)
    if output.value == truth.expected or _same(function, truth, output.value):
        return "right"
    return "undefined" if output.value == UNDEFINED else "wrong"


def _same(function: RelationFunction, truth: Stated, output: str) -> bool:
    """Whether `output` says the same as the truth, or both are answers that our facts accept."""
    if UNDEFINED in (output, truth.expected):
        return False
    tolerance = function.relation.tolerance if function.relation else 0.0
    accepted = bool(function.accepts(truth.input, output) and function.accepts(truth.input, truth.expected))
    return accepted or same_answer(output, truth.expected, tolerance)


def together(found: Sequence[Fidelity]) -> Fidelity:
    """Join several boxes of one category and backbone, input by input. Raises ValueError if there are none."""
    if not found:
        raise ValueError("no box was measured")
    fields = ("inputs", "inside", "expected", "outputs", "readings")
    joined = {name: tuple(value for one in found for value in getattr(one, name)) for name in fields}
    return found[0].model_copy(update=joined)


# In words


def sentences(found: Fidelity) -> list[str]:
    """Return how far the box can be trusted, with its counts, in plain sentences. Names neither the function nor an
    input.
    """
    counted = _of_words(found) if found.category == "entities" else _of_facts(found)
    lacking = found.count("no value")
    if lacking:
        counted += f" {lacking} of {len(found.inputs)} inputs got no value."
    return [counted, _trust(found)]


def _of_words(found: Fidelity) -> str:
    own, others = found.total(inside=True), found.total(inside=False)
    false = found.count("wrong", inside=False)
    outside = f"{false} of {others} words outside the subject come out at {HALF:g} or above"
    if not own:
        return f"Measured against its own truth, {outside}; no words inside it are known."
    words = "published words" if found.published else "words"
    right = found.count("right", inside=True)
    return f"Measured against its own truth, {right} of {own} {words} of the subject and {outside}."


def _of_facts(found: Fidelity) -> str:
    own, others = found.total(inside=True), found.total(inside=False)
    right, wrong, undefined = (found.count(reading, inside=True) for reading in ("right", "wrong", "undefined"))
    given = found.count("wrong", inside=False)
    outside = f"{given} of {others} inputs of other kinds get an answer"
    if not own:
        return f"Measured against its own truth, {outside}; no facts of it are known."
    facts = "published examples" if found.published else "facts"
    counts = f"of {own} {facts} {right} come out right, {wrong} wrong and {undefined} undefined"
    return f"Measured against its own truth, {counts}; {outside}."


def _trust(found: Fidelity) -> str:
    chance = found.all_right
    if chance is None:
        return "So it cannot be said how far the box can be trusted."
    kinds = f"{INSIDE} that belong to the function, {OUTSIDE} that do not"
    draws = f"Ten exemplars ({kinds}) would all come out right in {int(100 * chance)}% of draws"
    if found.contradicts:
        return (
            f"{draws}, less than {LEAST:.0%}: this box contradicts its truth, and even a true description may look "
            "wrong beside what it gives."
        )
    if found.backbone == "table" and not found.published:
        return f"{draws}, by construction: it answers from our lists alone, and says where they do not hold an input."
    return f"{draws}, {LEAST:.0%} or more: the box can be used."
