"""The 140 concepts, the entity functions on them, and the published 200."""

import json
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.labs.probe.exemplars import entity_triplets
from core.labs.probe.functions.base import BenchmarkError, published_triplets
from core.labs.probe.functions.entities import (
    Concept,
    EntityFunction,
    concepts,
    concepts_of,
    draw_entity,
    keeps,
    published_entities,
)
from core.labs.probe.functions.relations import normal

RNG = np.random.default_rng(0)
seeds = st.integers(0, 10**6)


def test_140_concepts_with_twenty_words_each_and_no_word_under_two() -> None:
    assert len(concepts()) == 140
    assert all(len(concept.words) == 20 for concept in concepts().values())
    words = [normal(word) for concept in concepts().values() for word in concept.words]
    assert len(set(words)) == 2800
    assert all(words)


def test_the_subjects_the_paper_calls_sensitive_are_marked() -> None:
    sensitive = {name for name, concept in concepts().items() if concept.sensitive}
    assert {"the Holocaust", "World War II", "disasters"} <= sensitive
    assert "chess" not in sensitive
    assert len(sensitive) < 30


def test_values_from_the_word_lists() -> None:
    chess = EntityFunction(id="x", concept1="chess")
    assert chess("Grandmaster", RNG) == 1.0
    assert chess("  grandmaster. ", RNG) == 1.0
    assert chess("tractor", RNG) == 0.0
    either = EntityFunction(id="x", concept1="chess", concept2="agriculture")
    assert [either(word, RNG) for word in ("grandmaster", "tractor", "violin")] == [1.0, 1.0, 0.0]
    assert either.kind == "or"
    assert "chess" in either.describe() and "agriculture" in either.describe()


def test_a_word_is_matched_without_its_accents() -> None:
    assert concepts_of("nestle") == ("corporations",)
    assert concepts_of("nadia comaneci") == ("gymnastics",)


@given(seeds)
def test_drawing_is_repeatable_and_leaves_sensitive_subjects_out(seed: int) -> None:
    function = draw_entity(seed)
    assert function == draw_entity(seed)
    assert not function.is_sensitive
    assert len(set(function.exemplars)) == 10
    related = [word for word in function.exemplars if function(word, RNG) == 1.0]
    assert len(related) == 2
    assert {name for word in related for name in concepts_of(word)} == set(function.names)
    assert not any(concepts()[name].sensitive for word in function.exemplars for name in concepts_of(word))
    assert EntityFunction.model_validate(function.model_dump()) == function


def test_drawing_keeps_the_published_proportion() -> None:
    singles = sum(draw_entity(seed).kind == "single" for seed in range(400))
    assert 240 < singles < 320  # 280 expected, standard deviation 9
    assert draw_entity(1, kind="or").kind == "or"


def test_a_box_is_kept_that_more_often_than_not_begins_with_ten_right_exemplars() -> None:
    def concept(inside: int, outside: int) -> Concept:
        return Concept(name="x", words=("a", "b", "c", "d"), measured=(inside, outside, 100))

    # 0.75² = 0.5625; times 0.98⁸ = 0.479.
    assert keeps(concept(3, 0)) and keeps(concept(4, 8)) and not keeps(concept(3, 2)) and not keeps(concept(4, 9))
    # Of two subjects the means inside, and the sum outside.
    assert keeps(concept(4, 0), concept(3, 0)) and keeps(concept(4, 4), concept(4, 4))
    assert not keeps(concept(4, 5), concept(4, 4)) and not keeps(concept(4, 100), concept(4, 100))


def test_a_seed_stands_for_the_same_function_in_every_version() -> None:
    one, either = draw_entity(7), draw_entity(8, kind="or")
    assert (one.id, one.concept1, one.concept2) == ("entities-7", "awards, prizes and honours", None)
    assert one.exemplars[:3] == ("Navy Pier", "Pinocchio", "Sailor Moon")
    assert (either.id, either.concept1) == ("entities-8-or", "films")
    assert either.concept2 == "a quantity indicating a percentage" and either.exemplars[-1] == "percent sign"


@given(seeds)
def test_unit_tests_have_one_true_word_each(seed: int) -> None:
    function = draw_entity(seed)
    triplets = entity_triplets(function, seed)
    assert len(triplets) == 10
    for triplet in triplets:
        values = [function(word, RNG) for [word] in triplet.options]
        assert values[triplet.correct] == 1.0
        assert sum(values) == 1.0
    right = {concepts_of(triplet.options[triplet.correct][0]) for triplet in triplets}
    assert right == {(name,) for name in function.names}


def test_no_unit_tests_for_an_unknown_concept() -> None:
    with pytest.raises(ValueError, match="umbrellas"):
        entity_triplets(EntityFunction(id="x", concept1="umbrellas"), 0)


def test_a_set_in_the_published_layout_loads(find_dir: Path) -> None:
    functions = published_entities(find_dir)
    assert {id: (f.concept1, f.concept2, f.kind) for id, f in functions.items()} == {
        "f00000": ("chess", None, "single"),
        "f00010": ("golf", None, "single"),
        "f00140": ("geology", "horses", "or"),
    }
    triplets = published_triplets(find_dir, "entities")
    assert triplets.keys() == functions.keys()
    for id, function in functions.items():
        assert len(function.exemplars) == len(triplets[id]) == 10
        for test in triplets[id]:
            values = [function(option[0], np.random.default_rng(0)) for option in test.options]
            assert len(values) == 3 and values[test.correct] == 1.0 and sum(values) == 1.0


@pytest.mark.outside_data
def test_the_published_set_loads(outside: Path) -> None:
    published = published_entities(outside / "find")
    assert len(published) == 200
    assert sum(function.kind == "single" for function in published.values()) == 140
    assert [published[f"f{k:05d}"].concept1 for k in range(140)] == list(concepts())
    assert all(name in concepts() for function in published.values() for name in function.names)
    assert all(len(function.exemplars) == 10 for function in published.values())
    triplets = published_triplets(outside / "find", "entities")
    assert triplets.keys() == published.keys()
    assert all(len(tests) == 10 and {len(t.options) for t in tests} == {3} for tests in triplets.values())


@pytest.mark.outside_data
def test_our_words_are_not_the_benchmarks(outside: Path) -> None:
    triplets = published_triplets(outside / "find", "entities")
    shared = [
        word
        for place, concept in enumerate(concepts().values())
        for word in concept.words
        if normal(word) in {normal(t.options[t.correct][0]) for t in triplets[f"f{place:05d}"]}
    ]
    assert len(shared) <= 14, shared


@pytest.mark.parametrize("content", ["[{}]", '[{"dir": "f00000", "concept1": null}]', "no json"])
def test_a_broken_file_is_named(tmp_path: Path, content: str) -> None:
    (tmp_path / "neurons_entities").mkdir()
    (tmp_path / "neurons_entities" / "data.json").write_text(content)
    with pytest.raises(BenchmarkError, match=r"data\.json"):
        published_entities(tmp_path)


def test_a_path_before_the_id_is_ignored(tmp_path: Path) -> None:
    (tmp_path / "neurons_entities").mkdir()
    entry = {"dir": "/somewhere/f00007", "concept1": "physics", "concept2": None, "initial": ["tennis "]}
    (tmp_path / "neurons_entities" / "data.json").write_text(json.dumps([entry]))
    assert published_entities(tmp_path)["f00007"].exemplars == ("tennis",)
