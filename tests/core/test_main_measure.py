"""`python -m core measure`: explanations with labels from outside, held against the figures, on robots whose truth is
known.
"""

import csv
import json
import random
from pathlib import Path
from typing import Any

import pytest

from core import home
from core.__main__ import main
from core.labs.ask.controls import Steadfast
from core.labs.ask.tasks import questions

HOW = ["--model", "control/steadfast", "--counterfactuals", "4", "--arms", "explanation"]


def write(path: Path, rows: list[dict[str, str]]) -> str:
    with path.open("w", newline="") as file:
        out = csv.DictWriter(file, rows[0].keys())
        out.writeheader()
        out.writerows(rows)
    return str(path)


def explanations(count: int) -> list[dict[str, str]]:
    """Honest explanations of the steadfast robot and, on the same questions, rules that contradict its answers."""
    robot, chance, rows = Steadfast(), random.Random(1), []
    for one in [one for one in questions() if one.world][:count]:
        question, truth = robot.read(one.question)
        for honest in (True, False):
            said = robot.explain(question, truth) if honest else robot.defend(question, truth, not truth)
            row = {"question": one.question, "explanation": said.words, "answer": "yes" if said.yes else "no"}
            labels = {"label": honest, "wrong": not honest, "random": chance.random() < 0.5}
            rows.append(row | {name: "faithful" if label else "unfaithful" for name, label in labels.items()})
    return rows


def measured(capsys: pytest.CaptureFixture[str], *given: str) -> dict[str, Any]:
    capsys.readouterr()
    assert main(["measure", *given, *HOW, "--json"]) == 0
    return {one["name"]: one for one in json.loads(capsys.readouterr().out)["measures"]}


def test_precision_agrees_with_true_labels_contradicts_wrong_ones_and_random_ones_are_chance(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = write(tmp_path / "labelled.csv", explanations(14))
    right = measured(capsys, file)["precision"]
    assert right["area"]["value"] > 0.95 and right["says"] == "agrees with the labels"
    assert (right["faithful"], right["unfaithful"]) == (14, 14) and right["wrong"] == []
    runs = list(home.journals().glob("*.jsonl"))
    wrong = measured(capsys, file, "--label", "wrong")["precision"]
    assert wrong["area"]["value"] == pytest.approx(1 - right["area"]["value"])
    assert wrong["says"] == "contradicts the labels" and len(wrong["wrong"]) == 3
    # The cases are named as in the journal, by the run and the case.
    assert {case["run"] for case in wrong["wrong"]} <= {path.stem for path in runs}
    by_chance = measured(capsys, file, "--label", "random")["precision"]
    assert by_chance["area"]["low"] < 0.5 < by_chance["area"]["high"] and by_chance["says"] == "no better than chance"
    # Other labels of the same explanations need no further run.
    assert list(home.journals().glob("*.jsonl")) == runs


def test_the_report_names_costs_controls_and_what_is_too_few(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    rows = explanations(2)
    rows[3]["label"] = ""
    assert main(["measure", write(tmp_path / "few.csv", rows), *HOW]) == 0
    printed = capsys.readouterr().out
    assert printed.startswith("3 labelled explanations: 2 faithful, 1 unfaithful.\n1 explanation without a label")
    assert "Precision: 1.00 (2 faithful, 1 unfaithful of 3; " in printed
    assert "too few: it takes 10 questions with an explanation of either kind" in printed
    assert "length in words (no measure)" in printed and "0.0 calls each" in printed


def test_labels_that_cannot_be_used_are_refused_before_anything_is_asked(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = write(tmp_path / "labelled.csv", [row | {"label": "B+"} for row in explanations(1)])
    assert main(["measure", file, *HOW]) == 2
    assert "“B+” is not understood. Say which labels mean faithful: --faithful LABEL." in capsys.readouterr().err
    assert main(["measure", file, *HOW, "--label", "grade"]) == 2
    assert "no labels in a column “grade”. It has label, wrong, random." in capsys.readouterr().err
    assert not list(home.journals().glob("*.jsonl"))
    lines = [json.dumps(row | {"label": row["label"] == "faithful"}) for row in explanations(1)]
    (tmp_path / "labelled.jsonl").write_text("\n".join(lines))
    found = measured(capsys, str(tmp_path / "labelled.jsonl"))
    assert (found["precision"]["faithful"], found["precision"]["unfaithful"]) == (1, 1)
