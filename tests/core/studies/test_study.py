"""Studies from the command line: planned, run, stopped, continued, and shown as tables."""

import json
from pathlib import Path
from typing import Any

import pytest

from core import entry, home
from core.__main__ import main
from core.journal import read
from core.labs.check.controls import Decoy
from core.store.filters import Filter
from core.store.listing import Selection
from core.store.store import Store
from core.studies import estimate, tables
from core.studies.execute import TRIES
from core.studies.plan import read as study_of
from core.studies.run_status import standing
from tests.core.studies.killing import steady
from tests.support.stub_server import StubServer

DIAL = """
[[part]]
lab = "ask"
spec = { dataset = "world", limit = 12, counterfactuals = 2 }
grid = { model = ["control/dial-0.0", "control/dial-0.5", "control/dial-1.0"] }
[[part]]
lab = "check"
spec = { controls = 0, task = "sentiment", explanations = ["attribution"] }
grid = { model = ["control/dial-lexicon-0.0", "control/dial-lexicon-0.3", "control/dial-lexicon-1.0"] }
"""

REAL = """
at_once = 2
budget_calls = {budget}
lab = "check"
spec = {{ limit = 4, controls = 0, model = "openai/stub-model" }}
grid = {{ task = ["sentiment", "entailment"], explanations = [["attribution"], ["redaction"]] }}
"""


def written(folder: Path, text: str) -> str:
    file = folder / "study.toml"
    file.write_text(text, encoding="utf-8")
    return str(file)


def printed(capsys: pytest.CaptureFixture[str], *arguments: str) -> list[dict[str, Any]]:
    capsys.readouterr()
    assert main(["study", *arguments, "--json"]) == 0
    return [json.loads(line) for line in capsys.readouterr().out.splitlines()]


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Any:
    with StubServer(steady) as server:
        monkeypatch.setenv("OPENAI_BASE_URL", server.base_url)
        monkeypatch.setenv("OPENAI_API_KEY", "none")
        entry.answers.cache_clear()
        yield server
    entry.answers.cache_clear()


@pytest.mark.thorough
def test_the_dial_reads_what_is_so(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = written(tmp_path, DIAL)
    [plan] = printed(capsys, "plan", file)
    assert plan["runs"] == 10 and plan["completed"] == 0 and plan["calls"]["answerer"] > 0
    assert plan["free"] == sum(plan["calls"].values()) and plan["price"] == 0
    assert main(["study", "run", file]) == 0
    cells = printed(capsys, "table", file)
    assert cells[0]["table"] == "Controls"
    known = [cell for cell in cells if cell["truth"] is not None]
    assert all(cell["value"] == pytest.approx(cell["truth"]) for cell in known)
    assert all(cell["low"] <= cell["value"] <= cell["high"] for cell in known)
    precision = [cell["value"] for cell in cells if cell["table"] == "Ask: Precision"]
    assert precision[0] == 0 < precision[1] < 1 == precision[2]
    faithful = {cell["row"]: (cell["value"], cell["n"]) for cell in cells if cell["table"] == "Check: Faithfulness"}
    assert faithful["control/dial-lexicon-0.3"] == (0.35, 20)
    assert {"table", "row", "column", "value", "n", "low", "high"} <= cells[-1].keys()
    # Completed runs are neither made nor counted again.
    assert main(["study", "run", file]) == 0 and capsys.readouterr().out == ""
    [plan] = printed(capsys, "plan", file)
    assert plan["completed"] == 10 and plan["calls"] == {}
    started = read(next(home.journals().glob("study-*.jsonl"))).events[0]
    assert started.kind == "started" and started.study == "study"
    with Store(home.home() / "store.duckdb", entry.labs()) as store:
        of_study = Selection(store).facet("study")
        assert of_study == {"study": Selection(store, Filter(chosen={"study": ("study",)})).count()}
        assert Selection(store, Filter(chosen={"study": ("another",)})).count() == 0


def test_a_run_is_told_of_by_the_figure_that_its_items_have(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    functions = (
        'lab = "probe"\nspec = { interpreter = "fit", count = 1 }\ngrid = { category = ["numeric", "strings"] }\n'
    )
    assert main(["study", "run", written(tmp_path, functions)]) == 0
    told = sorted(line for line in capsys.readouterr().out.splitlines() if "control/" not in line)
    assert ["normalized error" in line for line in told] == [True, False]
    assert ["exact match" in line for line in told] == [False, True]


def test_where_the_instrument_is_off_nothing_else_is_asked(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, server: StubServer
) -> None:
    monkeypatch.setattr(Decoy, "words", lambda self, classifier, asked: classifier.deciding(asked))
    assert main(["study", "run", written(tmp_path, REAL.format(budget=500))]) == 5
    said = capsys.readouterr().err
    assert "did not get its known value" in said and "control/decoy-lexicon must have a faithfulness of 0.00" in said
    assert server.count == 0


def test_a_budget_stops_cleanly_and_is_gone_on_from(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], server: StubServer
) -> None:
    file = written(tmp_path, REAL.format(budget=10))
    assert main(["study", "run", file]) == 4
    assert "The budget of 10 calls is spent" in capsys.readouterr().err
    [status] = printed(capsys, "status", file)
    # Not one call beyond the budget, and none that was paid for and lost.
    assert server.count == status["paid"] == 10
    [plan] = printed(capsys, "plan", file)
    file = written(tmp_path, REAL.format(budget=500))
    assert main(["study", "run", file]) == 0
    bodies = [json.dumps(one.body, sort_keys=True) for one in server.seen]
    # Concurrent runs may ask the same at the same moment; what was answered before is never asked again.
    assert not set(bodies[:10]) & set(bodies[10:])
    # The planned calls were a maximum: an explanation that cannot be parsed is not tested.
    assert server.count <= 10 + sum(plan["calls"].values())


def test_the_plan_counts_what_the_cache_holds(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], server: StubServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = written(tmp_path, REAL.format(budget=500))
    [before] = printed(capsys, "plan", file)
    assert main(["study", "run", file]) == 0
    for journal in home.journals().glob("study-*.jsonl"):
        journal.unlink()
    [after] = printed(capsys, "plan", file)
    assert before["cached"] == 0 and after["cached"] > 0 and after["unlooked"] == 0
    assert after["cached"] + sum(after["calls"].values()) == sum(before["calls"].values())
    # The price of this model is unknown.
    assert before["price"] is None and any("openai/stub-model" in why for why in before["unknown"])
    # If there is no time to look, the plan says so and subtracts nothing.
    monkeypatch.setattr(estimate, "LONGEST", 0)
    [hasty] = printed(capsys, "plan", file)
    assert hasty["unlooked"] > 0 == hasty["cached"] and hasty["calls"] == before["calls"]
    asked = server.count
    assert main(["study", "run", file]) == 0 and server.count == asked


def test_data_that_are_not_here_are_said_to_be_missing(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = written(tmp_path, 'lab = "ask"\nspec = { dataset = "strategyqa", model = "openai/gpt-4o-mini" }\n')
    [plan] = printed(capsys, "plan", file)
    assert plan["price"] is None and plan["tokens"] is None
    assert "https://allenai.org/data/strategyqa" in next(iter(plan["missing"].values()))


def test_one_poisonous_run_fails_alone(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, server: StubServer
) -> None:
    lab = entry.labs()["consistency"]

    async def measure(spec: Any, case: Any, run: Any) -> None:
        if spec.task == "entailment" and not spec.model.startswith("control/"):
            raise RuntimeError("poison")
        await lab.measure(spec, case, run)

    labs = {**entry.labs(), "consistency": lab.with_changes(measure=measure)}
    monkeypatch.setattr(entry, "labs", lambda: labs)
    file = written(tmp_path, REAL.format(budget=500))
    assert main(["study", "run", file]) == 3
    assert "poison" in capsys.readouterr().err
    [status] = printed(capsys, "status", file)
    assert status["status"] == {"completed": 10, "failed": 2} and len(status["stopped"]) == 2
    for run in status["stopped"]:
        kinds = [event.kind for event in read(home.journals() / f"{run}.jsonl").events]
        assert kinds.count("started") + kinds.count("resumed") == TRIES
    # The table says that its cells are not complete.
    study = study_of(Path(file), entry.labs())
    cells = tables.rows(study, entry.labs(), tables.measured(study, entry.labs(), home.journals()))
    assert {cell["complete"] for cell in cells if cell["table"] != "Controls"} == {False}


def test_what_was_begun_in_vain_is_seen(tmp_path: Path) -> None:
    journal = tmp_path / "run.jsonl"
    journal.write_text('{"kind":"started"}\n{"kind":"resumed"}\n{"kind":"resumed"}\n')
    assert standing(journal).vain == 3 and standing(journal).status == "interrupted"
    journal.write_text('{"kind":"started"}\n{"kind":"resumed"}\n{"kind":"answered","role":"explainer"}\n')
    assert standing(journal).vain == 0
