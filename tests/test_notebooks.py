"""The notebooks in docs/notebooks run from their first cell to their last."""

import ast
import json
from pathlib import Path
from typing import Any

import pytest

FOLDER = Path(__file__).resolve().parents[1] / "docs" / "notebooks"


def run_cells(name: str) -> list[Any]:
    """Run the notebook's code cells in order, and return what those end with that show something."""
    shown: list[Any] = []
    names: dict[str, Any] = {}
    for cell in json.loads((FOLDER / name).read_text(encoding="utf-8"))["cells"]:
        if cell["cell_type"] != "code":
            continue
        body = ast.parse("".join(cell["source"])).body
        last = body.pop() if isinstance(body[-1], ast.Expr) else None
        exec(compile(ast.Module(body, []), name, "exec"), names)
        if isinstance(last, ast.Expr):
            shown.append(eval(compile(ast.Expression(last.value), name, "eval"), names))
    return shown


@pytest.mark.thorough
def test_the_teacher_s_shows_that_one_explanation_misleads_and_the_other_does_not() -> None:
    run, fickle, steadfast = run_cells("teacher.ipynb")
    assert "<iframe" in run._repr_mimebundle_()["text/html"]
    assert fickle.loc["precision", "value"] < 1 == steadfast.loc["precision", "value"]


def test_the_researcher_s_counts_its_rows_as_the_app_does(capsys: pytest.CaptureFixture[str]) -> None:
    figures, rows, uncounted, by_genre, *_ = run_cells("researcher.ipynb")
    said = figures[(figures["metric"] == "faithfulness") & (figures["rules"] == "repaired")].iloc[0]
    assert said["value"] == by_genre["faithful"].sum() / by_genre["of"].sum() and said["n"] == len(rows)
    assert len(rows) + len(uncounted) == 4 and all(uncounted["reason"])
    assert "attributions were faithful" in capsys.readouterr().out
