"""The solvers and scorers for Inspect: in Inspect itself where that is thorough, else by a stand-in of its protocol."""

import asyncio
import importlib
import math
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest

import explain_yourself as ey
from tests.support.inspect_environment import inspect_python

ROOT = Path(__file__).parents[2]
FEW = {"model": "control/fickle", "counterfactuals": 2, "exam": False, "arms": ["explanation"]}
FILM = "We went on a Sunday. The film is long, and the actors are wonderful people by the sea."


def test_where_inspect_is_missing_one_is_told_what_to_install() -> None:
    with pytest.raises(ImportError, match="pip install inspect_ai"):
        importlib.import_module("explain_yourself.inspect")


class _Store(dict[str, Any]):
    def set(self, name: str, value: Any) -> None:
        self[name] = value


def _stand_in() -> dict[str, ModuleType]:
    """Return the parts of Inspect that are imported, as far as robots need them."""

    def module(name: str, **held: Any) -> ModuleType:
        made = ModuleType(name)
        vars(made).update(held)
        return made

    def output(model: str, text: str) -> SimpleNamespace:
        return SimpleNamespace(model=model, completion=text, message=SimpleNamespace(text=text))

    def declared(**about: Any) -> Any:
        return lambda make: make

    made = {"from_content": output}
    model = module("inspect_ai.model", get_model=lambda *name: "openai/x", ModelOutput=SimpleNamespace(**made))
    score = module("inspect_ai.scorer", SampleScore=object, Score=SimpleNamespace, Value=object)
    vars(score).update(metric=declared, scorer=declared)
    solve = module("inspect_ai.solver", TaskState=object, solver=declared)
    limit = module("inspect_ai.util", LimitExceededError=RuntimeError)
    return {one.__name__: one for one in (module("inspect_ai", model=model), model, score, solve, limit)}


@pytest.fixture
def measures(monkeypatch: pytest.MonkeyPatch) -> Iterator[ModuleType]:
    for name, one in _stand_in().items():
        monkeypatch.setitem(sys.modules, name, one)
    yield importlib.import_module("explain_yourself.inspect")
    for name in ("explain_yourself.inspect", "core.inspect_solvers"):
        sys.modules.pop(name)
    vars(ey).pop("inspect", None)


def _sample(input: str, target: str, output: str = "", **more: Any) -> SimpleNamespace:
    about = {"choices": (), "metadata": {}, "messages": [], "store": _Store(), "sample_id": 7, **more}
    said = SimpleNamespace(completion=output)
    return SimpleNamespace(input_text=input, target=SimpleNamespace(text=target), output=said, **about)


def _scored(measures: ModuleType, lab: str, state: Any, *, solve: bool, **fields: Any) -> Any:
    async def go() -> Any:
        if solve:
            await getattr(measures, f"{lab}_solver")(**fields)(state, None)
        return await getattr(measures, f"{lab}_scorer")(**fields)(state, state.target)

    return asyncio.run(go())


def test_a_sample_gains_the_figures_of_a_run(measures: ModuleType) -> None:
    state = _sample("Can a penguin fly?", "no")
    score = _scored(measures, "ask", state, solve=True, **FEW)
    run = ey.open(score.metadata["run"])
    figures = run.figures.query("rules == 'repaired' and item == ''").set_index("metric").value
    assert score.value["precision"] == figures["precision"] and math.isnan(score.value["precision_none"])
    assert state.output.completion == run.cases.explanation[0] and score.answer in ("yes", "no")
    pooled = measures.figures()([SimpleNamespace(score=score)])
    assert pooled["precision"] == figures["precision"] and "precision_none" not in pooled
    film = _sample(FILM, "positive")
    score = _scored(measures, "check", film, solve=False, model="control/honest-lexicon", explanations="attribution")
    assert score.value["faithfulness"] == 1 and score.metadata["outcomes"] == {
        "7/attribution/objective-redacted": "faithful"
    }


def test_the_explanation_in_an_output_is_tested_or_unscored(measures: ModuleType) -> None:
    output = "All birds can fly. A penguin is a bird. So the answer is yes."
    score = _scored(measures, "ask", _sample("Can a penguin fly?", "no", output), solve=False, **FEW)
    run = ey.open(score.metadata["run"])
    assert run.cases.explanation[0] == output and score.answer == "yes"
    assert run.spec["explanation"] == "All birds can fly. A penguin is a bird." and run.spec["gold"] == "no"
    score = _scored(measures, "ask", _sample("Can a penguin fly?", "no", "Hm."), solve=False, **FEW)
    assert math.isnan(score.value) and "neither yes nor no" in score.explanation


@pytest.mark.parametrize(
    ("sample", "fields", "why"),
    [
        (_sample("Can a penguin fly?", "perhaps"), {}, "sample 7 cannot be used: the answer “perhaps” is not one of"),
        (_sample("Which?", "1"), {"task": "shp"}, "it has no response_1; say where it is"),
        (_sample("Can a penguin fly?", "no"), {"colour": "red"}, "Ask has no field 'colour'"),
        (_sample("Can a penguin fly?", "no"), {"columns": {"colour": "red"}}, "have no 'colour'"),
    ],
)
def test_a_sample_that_cannot_be_used_says_why(
    measures: ModuleType, sample: Any, fields: dict[str, Any], why: str
) -> None:
    with pytest.raises(ey.RunError, match=why):
        _scored(measures, "ask", sample, solve=True, **{**FEW, **fields})


def test_roles_are_found_in_metadata_and_choices(measures: ModuleType) -> None:
    choices = [SimpleNamespace(value=text, original_position=at) for at, text in ((1, "hall"), (0, "attic"))]
    state = _sample("Where?", "B", choices=choices, metadata={"story": "Ann went to the hall.", "right": "attic"})
    item = measures.item_of("multi_choice", state, {"paragraph": "story"})
    assert (item.question, item.choices, item.label) == ("Where?", ("attic", "hall"), "hall")
    assert measures.item_of("multi_choice", state, {"paragraph": "story", "answer": "right"}).label == "attic"


@pytest.mark.thorough
def test_evaluations_by_inspect_have_equal_figures(tmp_path: Path) -> None:
    """`tests/support/inspect_evaluation.py` says what is compared. The example in docs/python.md runs there too."""
    python, home = inspect_python(), {**os.environ, "PYTHONPATH": str(ROOT), "EXPLAIN_HOME": str(tmp_path)}
    script = [python, "-m", "tests.support.inspect_evaluation", tmp_path / "logs"]
    done = subprocess.run(script, env=home, cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr[-3000:]
    block = (ROOT / "docs" / "python.md").read_text().partition("```py\n")[2].partition("```")[0]
    assert "ask_scorer" in block
    done = subprocess.run([python, "-c", block], env=home, cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr[-3000:]
