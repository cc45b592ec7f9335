"""The `nearest` baseline: what it finds, and with how many probes."""

import asyncio
from collections.abc import Sequence

import pytest

from core.labs.probe.functions.base import Backbone
from core.labs.probe.functions.entities import EntityFunction, concepts, concepts_of, draw_entity
from core.labs.probe.functions.modules import outputs_of
from core.labs.probe.interpreters.nearest import CallBox, NearestResult, nearest


def probing(function: EntityFunction, backbone: Backbone) -> CallBox:
    async def probe(words: Sequence[str]) -> list[float | None]:
        outputs = await outputs_of(function, backbone, words)
        return [output.value if isinstance(output.value, float) else None for output in outputs]

    return probe


def find(function: EntityFunction, budget: int = 40, backbone: Backbone = "embedding") -> NearestResult:
    return asyncio.run(nearest(probing(function, backbone), budget))


def test_it_finds_one_concept_and_two() -> None:
    one = find(EntityFunction(id="x", concept1="chess"))
    assert one.concepts == ("chess",)
    assert "chess" in one.description
    assert len(one.probes) <= 40
    two = find(EntityFunction(id="x", concept1="Buddhism", concept2="golf"))
    assert set(two.concepts) == {"Buddhism", "golf"}


def test_it_keeps_to_its_budget_and_probes_no_word_twice() -> None:
    finding = asyncio.run(nearest(probing(draw_entity(1), "table"), 25, exemplars=("rook", "rook", "tractor")))
    words = [word for word, _ in finding.probes]
    assert words[:2] == ["rook", "tractor"]
    assert len(words) == len(set(words)) == 25
    assert 0 < finding.certainty <= 1


def test_exemplars_lead_it_there() -> None:
    """With a table behind it only listed words count, so it needs a hint: two of ten exemplars are related."""
    drawn = [draw_entity(seed, kind="single") for seed in range(10)]
    hits = 0
    for function in drawn:
        finding = asyncio.run(nearest(probing(function, "table"), 20, exemplars=function.exemplars))
        hits += finding.concepts == function.names
    print(f"table with exemplars, 20 probes: {hits} of 10")
    assert hits >= 7


def test_sensitive_subjects_are_left_alone_on_request() -> None:
    function = EntityFunction(id="x", concept1="World War II")
    finding = asyncio.run(nearest(probing(function, "embedding"), 30, sensitive=False))
    assert not any(concepts()[name].sensitive for word, _ in finding.probes for name in concepts_of(word))
    assert not any(concepts()[name].sensitive for name in finding.concepts)


def test_no_answer_teaches_nothing() -> None:
    async def silent(words: Sequence[str]) -> list[None]:
        return [None] * len(words)

    finding = asyncio.run(nearest(silent, 5))
    assert len(finding.probes) == 5
    assert finding.certainty < 0.02


@pytest.mark.thorough
def test_hit_rate_on_functions_that_share_its_embedding() -> None:
    """An upper bound: black box and baseline use one encoder and the same words. With the published words, of which we
    have none, see benchmarks/find_nearest.py.
    """
    functions = [draw_entity(seed) for seed in range(6)]
    hits = sum(set(find(function).concepts) == set(function.names) for function in functions)
    print(f"own embedding, 40 probes: {hits} of 6")
    assert hits >= 5
