"""Every function that ships is compared with its own stated truth, and so is what the app says about it."""

import asyncio
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.labs.probe.box import fidelity_sentences, measure_fidelity, pooled_fidelity
from core.labs.probe.exemplars import entity_triplets
from core.labs.probe.functions.base import Backbone
from core.labs.probe.functions.entities import (
    LEAST,
    EntityFunction,
    concepts,
    draw_entity,
    exemplars_all_correct,
    keeps,
)
from core.labs.probe.functions.relations import UNDEFINED, RelationFunction, normal, relations
from core.labs.probe.functions.source import published
from core.labs.probe.lab import LAB
from core.labs.probe.records import Fidelity, FidelityReading, UnitTest
from core.labs.probe.tasks import MODULE_CHECKS, ProbeSpec
from core.statistics.intervals import wilson
from core.text.embed import SMALL
from tests.core.labs.probe.playing import failures, play, stub_catalog, stub_spec
from tests.support.stub_server import Fault, StubServer

seeds = st.integers(0, 10**6)


def measured(box: EntityFunction | RelationFunction, backbone: Backbone, **fields: object) -> Fidelity:
    spec = ProbeSpec.model_validate({"category": box.category, "backbone": backbone, "interpreter": "you", **fields})
    return asyncio.run(measure_fidelity(spec, box))


def box(readings: list[FidelityReading], inside: list[bool], category: str = "entities") -> Fidelity:
    texts = tuple(map(str, range(len(readings))))
    return Fidelity(
        category=category,
        backbone="embedding",
        inputs=texts,
        inside=tuple(inside),
        expected=texts,
        outputs=texts,
        readings=tuple(readings),
    )


# Every shipped function


def test_every_subject_by_embeddings_is_as_it_is_written_down() -> None:
    """These figures decide which subjects are sampled. On failure it prints what must be in entities.toml."""
    found = {name: measured(EntityFunction(id="x", concept1=name), "embedding") for name in concepts()}
    now = {name: (one.count("right", True), one.count("wrong", False), one.total(False)) for name, one in found.items()}
    then = {name: one.measured for name, one in concepts().items()}
    print({name: figures for name, figures in now.items() if figures != then[name]})
    # The last digits of a cosine are the machine's.
    assert all(abs(a - b) <= 1 for name in now for a, b in zip(now[name], then[name], strict=True))
    assert sum(now[name] != then[name] for name in now) <= 7
    assert all(one.total(True) == 20 and one.total(False) >= 120 for one in found.values())
    for name, one in found.items():
        # The record's own judgement agrees with the one that decides which subjects are sampled.
        assert one.contradicts is (not keeps(concepts()[name])) or now[name] != then[name]
    agreeing = [name for name in concepts() if keeps(concepts()[name]) and not concepts()[name].sensitive]
    assert len(agreeing) >= 60


def test_every_subject_by_the_table_is_right_by_construction() -> None:
    for name in concepts():
        one = measured(EntityFunction(id="x", concept1=name), "table")
        assert one.readings.count("right") == len(one.readings) and one.all_right == 1.0
        assert "by construction" in fidelity_sentences(one)[1]


@pytest.mark.parametrize("backbone", ["table", "embedding"])
def test_every_relation_keeps_to_its_facts(backbone: Backbone) -> None:
    for relation, exception in ((one, some) for one in relations().values() for some in (None, one.a, one.b)):
        function = RelationFunction(id="x", concept1=relation.concept1, concept2=relation.concept2, exception=exception)
        one = measured(function, backbone)
        said = (relation.concept2, exception, fidelity_sentences(one))
        assert one.total(True) == len(relation.facts) and one.total(False) >= 12, said
        assert one.count("right", True) >= 0.99 * len(relation.facts), said
        assert not one.contradicts, said
        if backbone == "table":
            assert one.all_right == 1.0, said
        excepted = sum(expected == UNDEFINED for expected, here in zip(one.expected, one.inside, strict=True) if here)
        assert (excepted > 0) is (exception is not None), said


# The bound


def test_the_bound_is_that_ten_exemplars_come_out_right_in_half_of_the_draws() -> None:
    assert exemplars_all_correct(1.0, 0.0) == 1.0 and exemplars_all_correct(0.0, 0.0) == 0.0
    assert exemplars_all_correct(0.5, 0.0) == 0.25
    assert exemplars_all_correct(1.0, 0.5) == 0.5**8
    # Twenty of 124 words outside above 0.5, as was seen: contradicts. Ten: does not.
    seen = box(["right"] * 10 + ["wrong"] * 20 + ["right"] * 104, [True] * 10 + [False] * 124)
    assert seen.contradicts and seen.all_right == pytest.approx((104 / 124) ** 8)
    fewer = box(["right"] * 10 + ["wrong"] * 10 + ["right"] * 114, [True] * 10 + [False] * 124)
    assert not fewer.contradicts
    told = " ".join(fidelity_sentences(seen))
    assert "20 of 124 words outside the subject come out at 0.5 or above" in told
    assert "10 of 10 words of the subject" in told and "contradicts its truth" in told


@given(st.lists(st.tuples(st.sampled_from(["right", "wrong", "no value"]), st.booleans()), max_size=60))
def test_what_is_said_of_a_box_is_so(pairs: list[tuple[FidelityReading, bool]]) -> None:
    one = box([reading for reading, _ in pairs], [inside for _, inside in pairs])
    own = [reading for reading, inside in pairs if inside]
    others = [reading for reading, inside in pairs if not inside]
    valued = [[reading for reading in side if reading != "no value"] for side in (own, others)]
    counted, trust = fidelity_sentences(one)
    assert f"{others.count('wrong')} of {len(others)} words outside" in counted
    assert not own or f"{own.count('right')} of {len(own)} words of the subject" in counted
    assert ("got no value" in counted) is ("no value" in own + others)
    if not all(valued):
        assert one.all_right is None and not one.contradicts and "cannot be said" in trust
        return
    chance = (valued[0].count("right") / len(valued[0])) ** 2
    chance *= (valued[1].count("right") / len(valued[1])) ** 8
    assert one.all_right == pytest.approx(chance)
    if abs(chance - LEAST) > 1e-9:
        assert ("contradicts its truth" in trust) is (chance < LEAST)
        assert ("can be used" in trust) is (chance > LEAST)


def test_a_subject_of_ones_own_has_no_words_to_be_measured_by() -> None:
    one = measured(EntityFunction(id="own", concept1="umbrellas"), "table")
    assert one.total(True) == 0 and one.all_right is None and not one.contradicts
    assert "no words inside it are known" in fidelity_sentences(one)[0]


def test_several_boxes_are_told_together() -> None:
    two = [box(["right", "wrong"], [True, False]), box(["wrong", "right"], [True, False])]
    both = pooled_fidelity(two)
    assert (both.count("right", True), both.total(True), both.count("wrong", False)) == (1, 2, 1)
    with pytest.raises(ValueError, match="no box"):
        pooled_fidelity([])


# Which subjects are sampled


@given(seeds)
def test_no_box_that_contradicts_its_truth_is_drawn(seed: int) -> None:
    function = draw_entity(seed)
    assert keeps(*(concepts()[name] for name in function.names))


def test_of_what_is_drawn_by_embeddings_nothing_contradicts_its_truth() -> None:
    for seed in range(12):
        for kind in ("single", "or"):
            one = measured(draw_entity(seed, kind=kind), "embedding")  # type: ignore[arg-type]
            assert one.all_right is not None and one.all_right > LEAST - 0.08, fidelity_sentences(one)


# In a run


def test_a_run_measures_its_box_before_it_is_used_and_journals_it() -> None:
    view, events = play(ProbeSpec(category="entities", seed=3, interpreter="nearest", backbone="embedding"))
    records = [event.record for event in events if event.kind == "recorded"]
    assert records.index("fidelity") < records.index("probe")
    assert view.fidelity is not None and view.fidelity.total(True) == 20 and view.fidelity.by == SMALL
    again, resumed = play(view.spec or ProbeSpec(), history=events)
    assert sum(event.kind == "recorded" and event.record == "fidelity" for event in resumed) == 1
    assert again.fidelity == view.fidelity


def test_a_language_model_is_asked_for_a_few_and_its_calls_are_foretold() -> None:
    spec = stub_spec(
        category="entities", own="", seed=1, interpreter="milan", backbone="model", module="stub/stub-model", probes=10
    )
    with StubServer(lambda body: "1" if "[DESCRIPTION]" not in str(body) else "0") as server:
        view, events = play(spec, stub_catalog(server))
    one = view.fidelity
    assert one is not None and one.by == "stub/stub-model"
    assert (one.total(True), one.total(False)) == (MODULE_CHECKS, MODULE_CHECKS)
    # A model that says yes to everything is right on its own words, wrong on all others.
    assert (one.count("right", True), one.count("wrong", False)) == (MODULE_CHECKS, MODULE_CHECKS)
    assert one.contradicts
    asked = sum(event.kind == "asked" for event in events)
    assert 2 * MODULE_CHECKS < asked <= (LAB.calls(spec, 1) or 0)


def test_a_model_that_does_not_answer_at_all_stops_the_run_before_it_begins() -> None:
    spec = stub_spec(
        category="relations", own="", seed=1, interpreter="milan", backbone="model", module="stub/stub-model"
    )
    with StubServer(Fault("wrong_key")) as server:
        view, events = play(spec, stub_catalog(server))
    assert view.fidelity is None and failures(events) and not view.probes


def test_a_run_does_not_go_on_where_its_seed_now_stands_for_another_subject() -> None:
    spec = ProbeSpec(category="entities", seed=3, interpreter="nearest", backbone="table")
    _, events = play(spec)
    last = next(place for place, event in enumerate(events) if event.kind == "recorded" and event.record == "probe")
    begun = events[: last + 1]
    after, whole = play(spec, history=begun)
    assert after.log.status == "completed" and not failures(whole), "the same subject goes on"
    other = [
        event.model_copy(update={"data": {**event.data, "inputs": ["another", *event.data["inputs"][1:]]}})
        if event.kind == "recorded" and event.record == "fidelity"
        else event
        for event in begun
    ]
    after, whole = play(spec, history=other)
    assert "another function for this seed" in str(failures(whole) or [drop.detail for drop in after.log.drops])


def test_code_that_is_rated_uses_no_box() -> None:
    spec = ProbeSpec.model_validate(
        {"category": "relations", "seed": 1, "interpreter": "given", "given": {"description": "capitals"}}
    )
    assert play(spec)[0].fidelity is None


# Published functions


def test_of_a_published_function_its_own_examples_are_the_truth(find_dir: Path) -> None:
    for category in ("entities", "relations"):
        for id, function in published(category, str(find_dir)).items():  # type: ignore[arg-type]
            assert isinstance(function, EntityFunction | RelationFunction)
            one = measured(function, "table", function=id, find_dir=str(find_dir))
            assert one.published and one.total(True) == 10
            assert "10 published" in fidelity_sentences(one)[0]


@pytest.mark.outside_data
def test_our_facts_answer_the_published_examples(outside: Path) -> None:
    """Counted over all examples, and where they differ the published ones cannot be defended."""
    found = [
        measured(function, "table", function=id, find_dir=str(outside / "find"))
        for id, function in published("relations", str(outside / "find")).items()
        if isinstance(function, RelationFunction)
    ]
    whole = pooled_fidelity(found)
    right, wrong, undefined = (whole.count(reading, True) for reading in ("right", "wrong", "undefined"))
    print(f"{right} right, {wrong} wrong, {undefined} undefined of {whole.total(True)} published examples")
    assert right >= 0.9 * whole.total(True)
    assert wrong <= 0.05 * whole.total(True)


# How many independent tests there are


@given(seeds)
def test_twenty_unit_tests_of_a_subject_are_twenty_words(seed: int) -> None:
    function = draw_entity(seed)
    tests = entity_triplets(function, seed, 20)
    assert len({normal(test.options[test.correct][0]) for test in tests}) == 20


def test_a_word_that_is_tested_again_does_not_narrow_the_interval() -> None:
    spec = ProbeSpec(category="entities", seed=3, interpreter="nearest", backbone="table", triplets=50)
    view, _ = play(spec)
    tests = [one for one in view.units.values() if isinstance(one, UnitTest) and one.about == "interpretation"]
    words = {one.options[one.correct - 1] for one in tests}
    score = view.score("unit_test")
    assert score is not None and score.value is not None and len(tests) == score.n == 50 and len(words) < 50
    assert score.detail["distinct"] == len(words)
    assert (score.low, score.high) == pytest.approx(wilson(score.value, len(words)))
    assert f"for {len(words)} different examples" in view.judgement.sentence
