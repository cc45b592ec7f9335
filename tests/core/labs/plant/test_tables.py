"""The tables that studies request by name, with robots whose figures are known, and the papers' printed figures."""

import json
from pathlib import Path
from typing import Any

import pytest

from core import entry
from core.__main__ import main
from core.labs.plant.run_report import TABLES
from core.labs.plant.tasks import PlantSpec
from core.paper_figures import figures, published
from core.studies.plan import read
from tests.core.labs.plant.played import play

ROBOTS = """
title = "Robots"
[[part]]
lab = "plant"
spec = { limit = 30, repeats = 1 }
[part.grid]
model = ["control/admits", "control/admits-0.4", "control/silent", "control/immune"]
cue = ["key", "hint"]
[[table]]
kind = "chen_y"
[[table]]
kind = "turpin"
[[table]]
kind = "siegel"
[[table]]
kind = "guan"
"""


@pytest.mark.thorough
def test_the_tables_are_of_one_cue_each(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "robots.toml"
    file.write_text(ROBOTS, encoding="utf-8")
    assert main(["study", "run", str(file)]) == 0
    capsys.readouterr()
    assert main(["study", "table", str(file), "--json"]) == 0
    cells: dict[tuple[str, str, str], dict[str, Any]] = {}
    for line in capsys.readouterr().out.splitlines():
        row = json.loads(line)
        cells[row["table"].partition(" (")[0], row["row"], row["column"]] = row
    named = "Acknowledged when moved, by cue and model"
    for cue in ("key", "hint"):
        assert cells[named, cue, "control/admits"]["value"] == 1.0
        assert cells[named, cue, "control/silent"]["value"] == 0.0
        # It moved nothing, so it has no rate there, which is not 0.
        assert (named, cue, "control/immune") not in cells
        moved = cells[named, cue, "control/admits"]
        assert 0 < moved["n"] == moved["of"] < 30, "only moved items are asked about"
    accuracy = "Accuracy without and with a cue that points to a wrong answer"
    ours = {(row, column): cell for (table, row, column), cell in cells.items() if table == accuracy}
    for model in ("admits", "immune"):
        without, with_cue = (
            ours[f"control/{model} · hint", f"reasons first · Accuracy {how} the cue"]["value"]
            for how in ("without", "with")
        )
        # If the cue points to the wrong one of two answers, the plain answer is right.
        assert without == 1.0
        assert (with_cue == 1.0) == (model == "immune") and with_cue > 0.3
    theirs = ours["GPT-3.5 · hint (Turpin et al. 2023)", "reasons first · Accuracy with the cue"]
    assert (theirs["value"], theirs["published"]) == (None, pytest.approx(0.233))
    assert theirs["source"] == "Turpin et al. 2023, section 3.2"
    phi = "Does acknowledging go with being moved? Phi"
    assert cells[phi, "control/admits · key · reasons first", "Phi"]["value"] == pytest.approx(1.0)
    # The figure of the run itself, with its interval.
    run = play(PlantSpec(model="control/admits-0.4", limit=30, repeats=1)).score("phi")
    found = cells[phi, "control/admits-0.4 · key · reasons first", "Phi"]
    assert run.value is not None and 0.1 < run.value < 0.9
    assert [found[name] for name in ("value", "low", "high", "n")] == pytest.approx(
        [run.value, run.low, run.high, run.n]
    )
    guan = {row: cell for (table, row, column), cell in cells.items() if column == "g-mean²"}
    assert guan["control/admits · key · reasons first"]["value"] == 1.0
    assert guan["control/silent · key · reasons first"]["value"] == 0.0
    assert guan["control/immune · key · reasons first"]["value"] is None
    without = {row: cell for (table, row, column), cell in cells.items() if column == "reached without the cue"}
    assert without["control/admits · key · reasons first"]["value"] == 0.0, "it needs the cue"
    assert "control/immune · key · reasons first" not in without, "it never follows the cue"
    for robot in ("silent", "immune"):
        assert cells[phi, f"control/{robot} · key · reasons first", "Phi"]["value"] is None, robot
        assert cells[phi, f"control/{robot} · key · reasons first", "Phi"]["n"] == 30


def test_what_was_printed_adds_up() -> None:
    """The drops that the paper's section 3.2 prints beside the accuracies."""

    def printed(metric: str, model: str, cue: str) -> float:
        (one,) = published("plant", metric, model=model, cue=cue)
        return one.value

    for model, drop in (("GPT-3.5", 0.363), ("Claude 1.0", 0.306)):
        both = (printed(f"accuracy_{how}", model, "hint") for how in ("without", "with"))
        assert next(both) - next(both) == pytest.approx(drop)
    # No figure of the other two papers could be verified, so there is none.
    assert {one["metric"] for one in figures("plant")} == {"accuracy_without", "accuracy_with"}
    assert {one.kind for one in TABLES} == {"chen_y", "turpin", "siegel", "guan"}


def test_the_small_study_plans() -> None:
    file = Path(__file__).resolve().parents[4] / "studies" / "plant_small.toml"
    study = read(file, entry.labs())
    real = {run.spec for run in study.runs if not str(getattr(run.spec, "model", "")).startswith("control/")}
    told = {(spec.cue, spec.order) for spec in real}  # type: ignore[attr-defined]
    assert told == {(cue, order) for cue in ("key", "hint", "crowd") for order in ("reasons first", "answer first")}
    assert len({spec.model for spec in real}) == 1  # type: ignore[attr-defined]
    robots = {getattr(run.spec, "model", "") for run in study.all} - {spec.model for spec in real}  # type: ignore[attr-defined]
    assert robots == {f"control/{name}" for name in ("admits", "silent", "denies", "mentions", "names-all", "echo")}
    # The control runs that come first differ from those in its tables: one of each for every cue and order.
    assert len(study.controls) == 6 * 6
    assert {table.kind for table in study.tables} >= {"chen_y", "turpin", "siegel"}
