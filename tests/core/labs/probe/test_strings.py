import contextlib
import json
import string
from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from core.labs.probe.exemplars import pairs_for_testing
from core.labs.probe.functions import string_atoms
from core.labs.probe.functions.base import UndefinedInputError
from core.labs.probe.functions.source import from_code, generate
from core.labs.probe.functions.strings import (
    INNER,
    NEVER_INNER,
    OUTER,
    STRING_ATOMS,
    StringAtom,
    StringFunction,
    avoided,
    draw_atom,
)

RNG = np.random.default_rng(0)


def outcome(example: dict) -> tuple[str | None, str | None]:
    """(output, name of the error) of our atom for an executed example; a forced draw is made by its position."""
    parameters = dict(example["params"])
    position = parameters.pop("drawn_index", None)
    if "mapping" in parameters:
        parameters["mapping"] = "".join(parameters["mapping"][letter] for letter in string.ascii_lowercase)
    try:
        if position is not None:
            sign = 1 if example["atom"] == "add_order_to_inx" else -1
            return string_atoms.rotate_at(example["input"], position, sign), None
        return StringAtom(name=example["atom"], parameters=parameters).apply(example["input"], RNG), None
    except (IndexError, KeyError, ValueError, TypeError) as error:
        return None, type(error).__name__


@pytest.mark.outside_data
def test_all_executed_examples_are_reproduced(outside):
    examples = json.loads((outside / "find" / "strings" / "atom_examples.json").read_text())
    assert [e for e in examples if outcome(e) != (e["output"], e["error"])] == []
    assert len(examples) == 615 and {e["atom"] for e in examples} == set(OUTER)


@pytest.mark.parametrize(
    ("name", "parameters", "text", "expected"),
    [
        ("reverse_string_last_half", {}, "abcde", "abedc"),
        ("get_digit_indexes", {}, "room 101", "five"),
        ("get_alpha_indexes", {}, "banana", "zero one two one two one"),
        ("get_mid_character", {}, "abcd", "bc"),
        ("replace_vowels_with_ind_of_count", {}, "education", "adacataan"),
        ("reverse_vowels", {}, "HELLO you", "HuLLo yOE"),
        ("count_consonants", {}, "banana", "six"),
        ("count_consonants_released", {}, "banana", "three"),
        ("advance_by_character_order", {"index": 2}, "ab3def", "gh3jkl"),
        ("substract_by_character_order", {"index": 1}, "ABC DEF", "zab cde"),
        ("sub_order_of_inx1_to_inx2", {"index1": 4, "index2": 1}, "xyzxyz", "xczxyz"),
        ("shift_last_letter_rand", {"shift": 7}, "pay", "pa\x80"),
        ("shift_first_letter_predecessor_rand", {"shift": 7}, "apple", "zpple"),
        ("map_string", {"mapping": "qwertyuiopasdfghjklzxcvbnm"}, "Quick BROWN fox", "jxoea wkgvf ygb"),
        ("insert_number", {"number": 4}, "abc", "a4bc"),
        ("get_first_character_ordinality", {}, "Zebra", "twenty-six"),
    ],
)
def test_the_atoms_with_quirks(name, parameters, text, expected):
    assert StringAtom(name=name, parameters=parameters).apply(text, RNG) == expected


def test_67_atoms_63_of_them_inner_and_3865_pairs():
    assert len(OUTER) == 67
    assert len(set(INNER)) == 63 and len(INNER) == 64 and INNER.count("remove_digits") == 2
    assert sum(inner not in avoided(outer) for outer in OUTER for inner in set(INNER)) == 3865


def test_the_two_random_atoms_draw_at_every_call():
    f = StringFunction(id="x", outer=StringAtom(name="add_order_to_inx"))
    assert f.is_stochastic
    rng = np.random.default_rng(1)
    assert {f("abcd", rng) for _ in range(100)} == {"abcd", "accd", "abed", "abcg"}
    assert {name for name in OUTER if STRING_ATOMS[name].is_random} == {"add_order_to_inx", "sub_order_to_inx"}


def test_a_composition_applies_the_inner_atom_first():
    inner = StringAtom(name="string_concatenate", parameters={"text": "Qy"})
    f = StringFunction(id="x", outer=StringAtom(name="reverse_string"), inner=inner)
    assert f("abc", RNG) == "yQcba"
    assert f.kind == "reverse_string;string_concatenate;compose_1input_1input"
    assert f.describe() == 'The function first appends "Qy"; from the result it then writes the text backwards.'


@pytest.mark.parametrize(
    ("name", "text", "why"),
    [
        ("get_first_character", "", "needs a character"),
        ("count_lowercase", "b" * 31, "above thirty"),
        ("get_last_character_ordinality", "café", "outside the English alphabet"),
    ],
)
def test_an_input_without_a_value_is_reported_in_words(name, text, why):
    with pytest.raises(UndefinedInputError, match=why):
        StringFunction(id="x", outer=StringAtom(name=name))(text, RNG)


@settings(deadline=None)
@given(st.sampled_from(OUTER), st.integers(0, 2**32), st.text(max_size=40))
def test_any_text_gives_a_text_or_a_reason(name, seed, text):
    f = StringFunction(id="x", outer=draw_atom(name, np.random.default_rng(seed)))
    with contextlib.suppress(UndefinedInputError):
        assert isinstance(f(text, RNG), str)
    assert "{" not in f.describe()


def test_generated_functions_keep_the_proportions_and_the_avoid_lists():
    functions = [generate("strings", seed) for seed in range(1500)]
    singles = sum(f.inner is None for f in functions)  # type: ignore[attr-defined]
    assert 0.26 < singles / len(functions) < 0.34
    composed = [f for f in functions if f.inner is not None]  # type: ignore[attr-defined]
    assert not [f.kind for f in composed if f.inner.name in avoided(f.outer.name) or f.inner.name in NEVER_INNER]  # type: ignore[attr-defined]
    assert set(Counter(f.outer.name for f in functions)) == set(OUTER)  # type: ignore[attr-defined]
    assert generate("strings", 7) == generate("strings", 7) != generate("strings", 8)
    assert StringFunction.model_validate_json(functions[0].model_dump_json()) == functions[0]


@pytest.mark.parametrize("seed", range(12))
@pytest.mark.parametrize("outer", ["insert_number", "split_string", "remove_digits", "string_strip", "count_vowels"])
def test_a_function_changes_at_least_half_of_its_test_texts(outer: str, seed: int) -> None:
    function = StringFunction(id="f", outer=draw_atom(outer, np.random.default_rng(seed)))
    for n in (10, 20):
        pairs = pairs_for_testing(function, seed, n)
        assert len(pairs) == len(set(pairs)) == n and pairs == pairs_for_testing(function, seed, n)
        changed = sum(text != output for text, output in pairs)
        possible = outer != "string_strip"  # few of the texts begin or end with a space
        assert changed >= (n / 2 if possible else 1)


def test_a_function_that_changes_nothing_is_tested_on_what_there_is() -> None:
    pairs = pairs_for_testing(from_code("own", "strings", "x"), 3)
    assert len(pairs) == 10 and all(text == output for text, output in pairs)
