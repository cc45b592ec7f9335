"""The code that is offered to copy draws the picture it stands below, from the file that can be downloaded."""

import asyncio
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import plotly.graph_objects as go
import pytest

from core import entry, home
from core.charts.printed import script
from core.journal import Journal
from core.labs.ask.tasks import AskSpec
from core.labs.check.tasks import CheckSpec, shipped
from core.labs.plant.tasks import PlantSpec
from core.labs.probe.tasks import ProbeSpec
from core.report import export
from core.runs.engine import RunIO, RunRequest, execute
from core.store.index import index
from core.store.listing import Selection
from core.store.store import Store

SPECS: Mapping[str, list[Any]] = {
    "simulatability": [AskSpec(model=f"control/{robot}", question="Can a penguin fly?", exam=False)
                       for robot in ("fickle", "steadfast")],
    "consistency": [CheckSpec(task="sentiment", items=shipped("sentiment")[:6], model="control/honest-lexicon")],
    "plant": [PlantSpec(model="control/names-all", cue="key", repeats=1, limit=12)],
    "find": [ProbeSpec(count=3, interpreter="fit", difficulty="easy")],
}  # fmt: skip


def marks(figure: go.Figure) -> list[Any]:
    """What a figure draws: x and y of the places with a mark, with the lengths of the error bars; the points of each
    line; and the bars that are not empty. Words beside marks are left out.
    """
    lines: list[Any] = []
    found: set[Any] = set()
    for trace in (trace.to_plotly_json() for trace in figure.data):
        if trace.get("mode") == "text" or trace.get("marker", {}).get("symbol") == "line-ns":
            continue
        errors = [
            trace.get(error, {}).get(side) for error in ("error_x", "error_y") for side in ("array", "arrayminus")
        ]
        points = [
            (rounded(x), rounded(y), *(0.0 if error is None else rounded(list(error)[place]) for error in errors))
            for place, (x, y) in enumerate(zip(trace["x"], trace["y"], strict=True))
        ]
        if trace.get("mode") == "lines":
            lines.append(points)
        else:
            found.update(point for point in points if trace["type"] != "bar" or point[0])
    return [*sorted(lines, key=str), *sorted(found, key=str)]


def rounded(value: Any) -> Any:
    return value if isinstance(value, str) or value is None else round(float(value), 9)


def drawn_by(code: str) -> go.Figure:
    named: dict[str, Any] = {}
    exec(compile(code, "code.py", "exec"), named)
    figure: go.Figure = named["figure"]
    return figure


@pytest.fixture(autouse=True)
def in_its_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(go.Figure, "show", lambda self: None)  # it would open a browser


@pytest.mark.thorough
@pytest.mark.parametrize("lab", SPECS)
def test_the_code_draws_the_picture_from_the_exported_table(lab: str, tmp_path: Path) -> None:
    with Store(tmp_path / "store.duckdb", entry.labs()) as store:
        for number, spec in enumerate(SPECS[lab]):
            with Journal(home.journals() / f"run{number}.jsonl", new=True) as written:
                request = RunRequest(entry.labs()[lab], spec, f"run{number}")
                asyncio.run(execute(request, RunIO(entry.catalog().get, written.append, live=False)))
        index(store, home.journals())
        drawn = 0
        for one in entry.labs()[lab].listing.pictures:
            rows = Selection(store).of_cases(lab, one.of)
            for choice in one.choices:
                table = one.table(rows, choice)
                if not len(table):
                    continue
                exported = table.drop(columns=["link", "chosen"], errors="ignore")
                Path("table.csv").write_bytes(export.table(exported, "csv"))
                ours = marks(one.draw(table, choice, ()))
                assert ours and marks(drawn_by(one.code(table, choice, "table.csv"))) == ours, (one.name, choice)
                drawn += 1
        assert drawn >= 2


def test_names_in_code_are_texts_and_never_code() -> None:
    hostile = 'x.csv\'\nraise SystemExit  # """'
    compile(code := script("forest", FILE=hostile, AXIS="a"), "code.py", "exec")
    assert f"FILE = {hostile!r}\n" in code and "\nraise" not in code
