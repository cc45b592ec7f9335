import json
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest

from core.labs.probe.functions.base import Triplet, UndefinedInputError
from core.labs.probe.functions.source import generate
from core.labs.probe.functions.strings import StringAtom, StringFunction
from core.labs.probe.functions.synthesis import StringTask, hints, load_strings, string_function, synthesize
from core.labs.probe.tasks import ProbeSpec
from core.labs.probe.verdict import list_remarks
from tests.core.labs.probe.playing import play

TEXTS = ("The quick brown fox", "room 101", "Banana", "education", "  two  WORDS ", "abcdefgh", "Zigzag", "rhythm 8")


def pairs_of(function: StringFunction) -> list[tuple[str, str]]:
    rng, pairs = np.random.default_rng(0), []
    for text in TEXTS:
        try:
            pairs.append((text, function(text, rng)))
        except UndefinedInputError:
            continue
    return pairs


def reproduced(pairs: Sequence[tuple[str, str]], function: StringFunction) -> int:
    """How many of `pairs` a function without randomness gives."""
    outputs = function.outputs([text for text, _ in pairs], np.random.default_rng(0))
    return sum(output == recorded for output, (_, recorded) in zip(outputs, pairs, strict=True))


@pytest.mark.thorough
def test_generated_functions_are_explained_by_something_that_agrees():
    unexplained = []
    for seed in range(60):
        f = generate("strings", seed)
        pairs = pairs_of(f)
        function = synthesize(pairs)
        if function is None or (not function.is_stochastic and reproduced(pairs, function) < len(pairs)):
            unexplained.append(f.kind)
    assert unexplained == []


@pytest.mark.parametrize(
    ("outer", "hints", "is_explained"),
    [
        ("reverse_string_first_half", [], True),
        ("reverse_string", [], True),
        ("map_string", [], False),
        ("map_string", ["vW"], True),
    ],
)
def test_an_appended_text_is_a_piece_of_the_outputs_or_a_hint(outer, hints, is_explained):
    parameters = {"mapping": "qwertyuiopasdfghjklzxcvbnm"} if outer == "map_string" else {}
    text = StringAtom(name="string_concatenate", parameters={"text": "vW"})
    f = StringFunction(id="x", outer=StringAtom(name=outer, parameters=parameters), inner=text)
    pairs = [(x, str(f(x, np.random.default_rng(0)))) for x in ("education", "level 12", "cats", "Zig")]
    function = synthesize(pairs, hints)
    assert (function is not None) == is_explained
    assert function is None or reproduced(pairs, function) == 4


def test_pairs_of_no_function_are_not_explained():
    assert synthesize([("a", "the"), ("b", "moon"), ("cat", "is a"), ("dog", "cheese")]) is None


def triplets_of(pairs: Sequence[tuple[str, str]]) -> tuple[Triplet, ...]:
    return tuple(Triplet(options=(pair,), correct=0) for pair in pairs)


def test_recorded_functions_are_explained_also_where_one_pair_is_wrong(find_dir):
    tasks = load_strings(find_dir)
    assert sorted(tasks) == ["f00000", "f00003", "f00200", "f00201"]
    for task in tasks.values():
        assert _agrees(task.pairs, string_function(task)) and string_function(task).id == task.id
        wrong = ((task.pairs[0][0], "nothing of the kind"), *task.pairs[1:])
        function = string_function(task.model_copy(update={"triplets": triplets_of(wrong)}))
        assert function is not None and reproduced(wrong, function) == 9 and "contradicts" in function.note


@pytest.mark.thorough
@pytest.mark.outside_data
def test_the_published_functions_are_explained(outside):
    """Every fifth of them; benchmarks/find_strings.py takes all. Two have one wrong pair each, and are explained by the
    nine that are left.
    """
    tasks = load_strings(outside / "find")
    assert len(tasks) == 1000
    some = list(tasks.values())[::5]
    functions = {task.id: synthesize(task.pairs, hints(task)) for task in some}
    assert {name for name, function in functions.items() if not _agrees(tasks[name].pairs, function)} == {"f00200"}
    for name in ("f00200", "f00609"):
        function = string_function(tasks[name])
        assert function is not None and function.id == name
        assert reproduced(tasks[name].pairs, function) == 9
        assert "a piece of what belongs to" in function.note


def _agrees(pairs, function) -> bool:
    return function is not None and (function.is_stochastic or reproduced(pairs, function) == len(pairs))


CUT_APART = {
    # Both functions of the published set in which one recorded pair is a piece of another text's.
    "hello": (
        "reverse_string",
        ("advance_by_character_order", {"index": 2}),
        ("hello world", "Caesar Cipher", "Input Strings", "123ABCdef", "ABCExample", "Functionality", "Representation"),
        "fccvy",
        "hello world",
    ),
    "my name": (
        "reverse_words",
        ("add_letter_if_needed", {"letter": "E"}),
        ("is Earl", "hello world", "testing this function", "do not panic", "adding an E", "leave the last E"),
        "ym eman",
        "my name is Earl",
    ),
}


@pytest.mark.parametrize("text", list(CUT_APART))
def test_a_recorded_output_that_is_a_piece_of_another_is_told_and_left_out(text: str) -> None:
    inner, (outer, parameters), others, recorded, whole = CUT_APART[text]
    true = StringFunction(
        id="x", outer=StringAtom(name=outer, parameters=parameters), inner=StringAtom(name=inner, parameters={})
    )
    pairs = tuple((one, str(true(one, np.random.default_rng(0)))) for one in others)
    task = StringTask(id="f", description="", triplets=triplets_of(((text, recorded), *pairs)))
    function = string_function(task)
    assert function is not None and function.misrecorded == (text,)
    assert f"a piece of what belongs to {whole!r}" in function.note
    assert all(function(one, np.random.default_rng(0)) == output for one, output in pairs)


def test_a_pair_that_is_recorded_wrongly_counts_by_paper_rules_alone(tmp_path: Path) -> None:
    inner, (outer, parameters), others, recorded, _ = CUT_APART["my name"]
    true = StringFunction(
        id="x", outer=StringAtom(name=outer, parameters=parameters), inner=StringAtom(name=inner, parameters={})
    )
    pairs = [(one, str(true(one, np.random.default_rng(0)))) for one in others]
    pairs = [("my name", recorded), *pairs]
    folder = tmp_path / "strings"
    folder.mkdir()
    entry = {
        "name": "f00609",
        "test_vec": [[[one, "x", "y"], [output, "x", "y"]] for one, output in pairs],
        "correct_inx": [1] * len(pairs),
    }
    (folder / "unit_test_data.json").write_text(json.dumps([entry]))
    (folder / "test_data.json").write_text("[]")
    code = (
        "def f(x):\n    y = ' '.join([word[::-1] for word in x.split()])\n    return y if y.endswith('E') else y + 'E'"
    )
    said = {"description": "It writes each word backwards and appends E.", "code": code}
    spec = {"category": "strings", "function": "f00609", "find_dir": str(tmp_path), "interpreter": "given"}
    view, _ = play(ProbeSpec.model_validate({**spec, "given": said}))
    for rules, n, hits in (("paper", len(pairs), len(pairs) - 1), ("repaired", len(pairs) - 1, len(pairs) - 1)):
        score = view.by(rules).score("exact_match")  # type: ignore[arg-type]
        assert score is not None and (score.n, score.of, round((score.value or 0) * n)) == (n, len(pairs), hits)
    assert view.outcome == "found" and view.by("paper").outcome == "close"
    [odd] = [one for one in view.trials.values() if one.about == "my name"]
    assert (odd.repaired.outcome, odd.repaired.counts, odd.paper.outcome) == ("not tested", False, "wrong")
    assert not [one for one in list_remarks(view) if "my name" in one]
