"""The range of a figure over predictors of the same stored answers."""

from pathlib import Path

import pytest

from core.events import Finished, Scored
from core.store.index import index
from core.store.predictors import PredictorFigure, figures_by_predictor, predictor_range
from core.store.store import Store
from tests.core.store.store_events import LABS, asked, at, started, write


def test_runs_with_the_same_answers_are_found_from_any_of_them(tmp_path: Path) -> None:
    def run(name: str, second: int, of: str, value: float, owner: str = "") -> None:
        begun = started(name, second).model_copy(update={"predicted_from": of, "owner": owner})
        predictor = asked(name, "c1").model_copy(update={"role": "simulator", "model": f"m/{name}"})
        scored = Scored(run=name, metric="precision", rules="repaired", value=value, n=9, of=9, at=at(second))
        write(tmp_path, name, [begun, predictor, scored, Finished(run=name, status="completed", at=at(second + 1))])

    run("first", 0, "", 0.5)
    run("second", 10, "first", 0.7)
    run("third", 20, "second", 0.9, owner="bob")
    run("other", 30, "", 0.1)
    with Store(tmp_path / "store.duckdb", LABS) as store:
        index(store, tmp_path)
        for name in ("first", "second", "third"):
            found = figures_by_predictor(store, name, "precision", ["examined"])
            assert [(one.run, one.predictor, one.value) for one in found] == [
                ("first", "m/first", 0.5),
                ("second", "m/second", 0.7),
                ("third", "m/third", 0.9),
            ]
        assert [one.run for one in figures_by_predictor(store, "other", "precision", [])] == ["other"]
        assert [one.run for one in figures_by_predictor(store, "first", "precision", [], viewer="bob")] == ["third"]


def test_the_range_leaves_out_who_failed() -> None:
    def one(value: float | None, passed: bool | None) -> PredictorFigure:
        return PredictorFigure("r", "m", value, None, None, 5, 5, passed)

    assert predictor_range([one(0.5, True), one(0.9, None), one(0.1, False), one(None, True)]) == pytest.approx(
        (0.5, 0.9, 2)
    )
    assert predictor_range([one(0.5, True), one(0.1, False)]) is None and predictor_range([]) is None
