"""A file becomes runs whose names come from their content; what is wrong with it is named with its line."""

from __future__ import annotations

from pathlib import Path

import pytest

from core import entry
from core.study.plan import BadStudy, Study, read

GRID = """title = "Two labs"
budget_calls = 100

[[part]]
lab = "check"
spec = { controls = 0 }
[part.grid]
data = [{ task = "sentiment" }, { task = "entailment", limit = 3 }]
model = ["control/honest-lexicon", "control/decoy-lexicon"]
[[part.exclude]]
task = "entailment"
model = ["control/decoy-lexicon"]

[[part]]
lab = "ask"
[part.spec]
dataset = "world"
model = "control/fickle"
"""


def study_of(folder: Path, text: str) -> Study:
    file = folder / "two.toml"
    file.write_text(text, encoding="utf-8")
    return read(file, entry.labs())


def test_a_grid_is_every_combination_but_those_left_out(tmp_path: Path) -> None:
    study = study_of(tmp_path, GRID)
    told = [(one.lab.path, getattr(one.spec, "task", ""), getattr(one.spec, "model", "")) for one in study.runs]
    assert told == [
        ("check", "sentiment", "control/honest-lexicon"),
        ("check", "sentiment", "control/decoy-lexicon"),
        ("check", "entailment", "control/honest-lexicon"),
        ("ask", "strategyqa", "control/fickle"),
    ]
    assert study.name == "two" and study.budget_calls == 100
    # Robots of each lab, on what each task asks, and never twice.
    assert {getattr(one.spec, "model", "") for one in study.controls} == {
        *("control/honest-lexicon", "control/decoy-lexicon", "control/steadfast", "control/fickle")
    }
    assert len({one.id for one in study.all}) == len(study.all) == 4 + 6


def test_a_run_s_name_is_its_content(tmp_path: Path) -> None:
    first, again = study_of(tmp_path, GRID), study_of(tmp_path, f"# a remark\n{GRID}")
    other = study_of(tmp_path, GRID.replace("limit = 3", "limit = 4"))
    assert [one.id for one in first.all] == [one.id for one in again.all]
    assert len({one.id for one in first.runs} - {one.id for one in other.runs}) == 1


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ('lab = "ask"', 'lab = "aks"', "two.toml, line 15, part.2.lab: there is no lab 'aks'. Did you mean ask?"),
        ("dataset =", "datasat =", "line 17, part.2.spec.datasat: Ask has no setting 'datasat'. Did you mean dataset?"),
        ("limit = 3", "limit = 0", "line 8, part.1.grid.data: limit: Input should be greater than or equal to 1"),
        ('task = "entailment"\nmodel', 'task = "none"\nmodel', "line 10, part.1.exclude.1: it leaves nothing out"),
        ('task = "entailment"\nmodel', "seed = 1\nmodel", "line 11, part.1.exclude.1.seed: 'seed' is no setting of"),
        ("budget_calls = 100", "budget = 100", "line 2, budget: a study has no such setting"),
        ("[[part]]", "[[part]", "this is not TOML"),
    ],
)
def test_what_is_wrong_is_named_with_its_line(tmp_path: Path, old: str, new: str, said: str) -> None:
    assert old in GRID
    with pytest.raises(BadStudy) as fault:
        study_of(tmp_path, GRID.replace(old, new, 1))
    assert said in str(fault.value)


@pytest.mark.parametrize("file", sorted(Path("studies").glob("*.toml")), ids=lambda file: file.stem)
def test_the_studies_that_ship_can_be_planned(file: Path) -> None:
    study = read(file, entry.labs())
    assert study.runs and study.tables
