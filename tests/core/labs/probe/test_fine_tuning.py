"""The training set of an evaluator: right answers, equal parts, and no published test."""

import json
import re
from itertools import islice
from pathlib import Path
from typing import Any

import pytest

from core.__main__ import main
from core.labs.probe import commands
from core.labs.probe.controls import fitting
from core.labs.probe.functions.base import published_triplets
from core.labs.probe.prompts import SHOWN
from core.labs.probe.units import shown


def read(line: str) -> tuple[str, str, list[tuple[str, ...]], int]:
    """Return a test's category, description, examples, and answer."""
    turns: list[dict[str, Any]] = json.loads(line)["messages"]
    assert [turn["role"] for turn in turns] == ["system", "user", "assistant"]
    asked = turns[1]["content"]
    options = [tuple(text.split(SHOWN)) for text in re.findall(r"^Example \d: (.*)$", asked, re.MULTILINE)]
    category = "entities" if "high value" in asked else "relations" if "undefined" in asked.lower() else "strings"
    return category, asked.split("\n")[1], options, int(turns[2]["content"].removeprefix("[ANSWER]: "))


def test_answers_are_those_that_fit_the_description_and_parts_are_equal() -> None:
    lines = [read(line) for line in commands.examples(240)]
    assert [category for category, *_ in lines[:3]] == ["strings", "entities", "relations"]
    assert all(len(options) == 3 and options[0] != options[1] for _, _, options, _ in lines)
    modules = lines[1::3] + lines[2::3]
    assert len(modules) == 160
    # The robot knows the rule from the description alone; a wrong answer in the set would differ from its pick.
    picks = [fitting(category, said, options) == right for category, said, options, right in modules]
    assert sum(picks) >= 155
    places = [right for *_, right in lines]
    assert all(55 <= places.count(place) <= 105 for place in (1, 2, 3))


def test_the_same_seed_gives_the_same_and_a_longer_set_goes_on() -> None:
    first = list(commands.examples(31, seed=4))
    assert first == list(islice(commands.examples(10**6, seed=4), 31))
    assert first != list(commands.examples(31, seed=5)) and len(set(first)) == 31


def test_the_published_functions_without_their_published_tests(
    find_dir: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "train.jsonl"
    asked = ["find", "triplets", "--train", "90", "--find-dir", str(find_dir), "-o", str(file)]
    assert main(asked) == 0
    lines = file.read_text(encoding="utf-8").splitlines()
    assert len(lines) == 90
    for category in ("entities", "relations"):
        known = {shown(one) for several in published_triplets(find_dir, category).values() for one in several}
        made = {tuple(SHOWN.join(option) for option in one[2]) for one in map(read, lines) if one[0] == category}
        assert len(made) > 5 and not made & known
    assert main(asked) == 2 and "already exists" in capsys.readouterr().err
