"""`probe` and `find` on the command line: their output and their exit codes."""

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

from core import entry, home
from core.__main__ import main
from core.labs.probe.functions import source
from core.store import run_list
from core.store.store import Store
from tests.support.stub_server import Fault, StubServer

ROOT = Path(__file__).resolve().parents[2]
LINE = ["probe", "--own", "3*x + 1", "--model", "control/straight"]


def test_probe_tells_the_run(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(LINE) == 0
    printed = capsys.readouterr().out
    assert "  Round 1: 6 calls: f(-100) = -299, f(-1) = -2, f(0) = 1" in printed
    assert "Where it holds: Defined everywhere" in printed
    assert "It says: A linear function, f(x) = 3 * x + 1" in printed
    assert "  - The function: 3*x + 1" in printed
    assert "It found the function" in printed and "nmse_success 1.00  (1 of 1)" in printed
    assert printed.index("Round 2") < printed.index("It says") < printed.index("The function")


def test_json_has_the_metrics_by_name(capsys: pytest.CaptureFixture[str]) -> None:
    assert main([*LINE, "--json"]) == 0
    events = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    scores = {(event["metric"], event["rules"]): event for event in events if event["kind"] == "scored"}
    for rules in ("paper", "repaired"):
        assert {"nmse", "nmse_success", "noise_floor"} <= {metric for metric, its in scores if its == rules}
    assert all({"value", "n", "of", "low", "high"} <= set(event) for event in scores.values())
    assert main(["probe", "--seed", "1753", "--difficulty", "medium", "--model", "control/straight", "--json"]) == 0
    events = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    scores = {event["metric"]: event["value"] for event in events if event["kind"] == "scored"}
    assert scores["interval_iou"] == 0 and scores["noise_identified"] is None
    records = [event["record"] for event in events if event["kind"] == "recorded"]
    assert [one for one in records if one not in ("trial", "result")][-1] == "truth"
    assert events[-1]["status"] == "completed"


def test_a_run_reaches_the_store() -> None:
    assert main(LINE) == 0
    assert main(["probe", "--category", "strings", "--seed", "5", "--interpreter", "fit"]) == 0
    with Store(home.home() / "store.duckdb", entry.labs()) as store:
        runs = run_list.runs(store).set_index("title")
        numeric = runs.loc["Your own numeric function"]
        assert numeric["nmse"] == pytest.approx(0, abs=1e-9)
        assert runs.loc["A string function (seed 5)", "exact_match"] == 1
        probes = store.query('select input from probe where run = ? order by "at", item', [numeric["run"]])
        assert probes.input.tolist() == ["-100", "-1", "0", "1", "2", "100"]
        of_strings = [runs.loc["A string function (seed 5)", "run"]]
        trials = store.query("select outcome_repaired from trials where run = ? order by trial", of_strings)
        assert trials["outcome_repaired"].tolist()[:10] == ["right"] * 10
        assert run_list.runs(store).title.tolist()[-1] == "Your own numeric function"


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["probe", "--function", "f00001", "--model", "control/straight"], "--find-dir"),
        (["probe", "--own", "1 +", "--model", "control/straight"], "gives no value"),
        (["probe", "--model", "control/nobody"], "There is no model"),
        (["probe", "--category", "entities", "--interpreter", "fit"], "numeric and strings"),
        (["probe", "--rounds", "0", "--model", "control/straight"], "1<=x<=50"),
        (["find", "show", "--function", "numeric-x"], "is not the name of a drawn function"),
        (["find", "generate", "--count", "0"], "--count"),
        (["find", "generate", "--category", "entities", "--difficulty", "medium"], "easy or hard"),
        (["find", "list", "--find-dir", "/nowhere"], "missing"),
        (["find", "score", "/nowhere"], "neither a folder"),
    ],
)
def test_bad_input_is_2_and_says_what_to_do(
    arguments: list[str], words: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(arguments) == 2
    assert words in capsys.readouterr().err


def test_a_model_out_of_reach_is_3_and_the_run_goes_on(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    conclusion = "[DESCRIPTION]: a line\n[CODE]:\n```python\ndef f(x):\n    return 3 * x + 1\n```"
    arguments = ["probe", "--own", "3*x + 1", "--model", "openai/stub-model", "--rounds", "2"]
    monkeypatch.setenv("OPENAI_API_KEY", "key-for-the-stub")
    with StubServer(conclusion, always=Fault("wrong_key")) as server:
        monkeypatch.setenv("OPENAI_BASE_URL", server.base_url)
        assert main(arguments) == 3
    run = next(home.journals().glob("*.jsonl")).stem
    assert f"resume {run}" in capsys.readouterr().out
    with StubServer(conclusion) as server:
        monkeypatch.setenv("OPENAI_BASE_URL", server.base_url)
        assert main(["resume", run]) == 0
    assert "It found the function" in capsys.readouterr().out


def test_a_run_whose_function_has_gone_is_bad_input(
    tmp_path: Path, find_dir: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The folder of the published set was moved after the run stopped and before it was resumed."""
    moved = tmp_path / "find"
    moved.symlink_to(find_dir)
    arguments = ["probe", "--function", "f00000", "--find-dir", str(moved), "--model", "control/fickle"]
    assert main(arguments) == 3, "no robot of this lab"
    run = next(home.journals().glob("*.jsonl")).stem
    moved.unlink()
    source.published.cache_clear()  # as in a process of its own
    assert main(["resume", run]) == 2
    assert "missing" in capsys.readouterr().err


def test_list_show_and_generate(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["find", "list"]) == 0
    printed = capsys.readouterr().out
    assert "square_wave" in printed and "reverse_string" in printed and "birds and ornithology" in printed
    assert main(["find", "show", "--category", "strings", "--function", "strings-4"]) == 0
    assert "first appends a copy of the middle character" in capsys.readouterr().out
    assert main(["find", "generate", "--category", "relations", "--count", "3", "--seed", "5"]) == 0
    drawn = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert len(drawn) == 3
    assert main(["find", "show", "--category", "relations", "--function", drawn[2]["id"], "--json"]) == 0
    assert json.loads(capsys.readouterr().out) == drawn[2], "the id brings the function back"


def test_score_rates_a_result_folder(tmp_path: Path, capsys: pytest.CaptureFixture[str], find_dir: Path) -> None:
    assert main(["find", "show", "--function", "f00700", "--find-dir", str(find_dir), "--json"]) == 0
    capsys.readouterr()
    results = tmp_path / "gpt" / "numeric"
    codes = {
        "f00200": "import pandas\ndef f(x):\n    return x",
        "f00700": "def f(x):\n    return 0.0",
        "f00701": "this is not python",
        "f00702": "",
    }
    for name, code in codes.items():
        (results / name).mkdir(parents=True)
        (results / name / "description.txt").write_text("It is zero.")
        (results / name / "code.py").write_text(code)
    assert main(["find", "score", str(results), "--find-dir", str(find_dir), "--json"]) == 0
    lacking, *lines = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert [line["name"] for line in (lacking, *lines)] == list(codes)
    assert lines[0]["scores"]["nmse"] == pytest.approx(1) and lines[0]["scores"]["nmse_success"] == 0
    assert lines[1]["scores"]["nmse"] is None and lines[1]["scores"]["nmse_success"] == 0
    assert lacking["outcome"] == "not runnable here" and "pandas" in lacking["reasons"]["nmse"]
    for line in (lacking, *lines):
        assert line["scores"]["not_runnable"] == line["paper"]["not_runnable"] == (line is lacking)
    assert lacking["scores"]["nmse_success"] is None and lacking["paper"]["nmse_success"] is None
    assert "no code" in lines[2]["reasons"]["nmse"] or "no function" in lines[2]["reasons"]["nmse"]
    assert main(["find", "score", str(results), "--find-dir", str(find_dir)]) == 0
    printed = capsys.readouterr().out
    assert "numeric, 4 interpretations:" in printed and "mean nmse 1.000  (1 of 4)" in printed
    assert "mean nmse_success 0.000  (3 of 4)" in printed
    assert "f00200           nmse undefined (not runnable here: ModuleNotFoundError: No module named" in printed
    assert "1 of 4 could not be run here" in printed
    assert not list(home.journals().glob("*.jsonl")), "rating leaves no runs behind"


def test_a_backbone_is_tested(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["find", "reliability", "--concepts", "4", "--words", "2"]) == 0
    printed = capsys.readouterr().out
    assert "same_mean 1.00  (8 of 8)" in printed and "by construction" in printed
    assert "sport organizations\n  Own words: 1.00 on average\n  Words of others: 0.00 on average\n" in printed
    assert main(["find", "reliability", "--backbone", "model"]) == 2
    assert "--backbone model" in capsys.readouterr().err


def test_every_interpretation_of_a_file_is_rated_also_of_one_function(
    tmp_path: Path, find_dir: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    numeric = {"name": "f00200", "category": "numeric", "description": "f(3) = 6", "code": "def f(x):\n    return x"}
    lines = [numeric, {**numeric, "code": "def f(x):\n    return 2 * x"}, {**numeric, "category": "strings"}]
    path = tmp_path / "all.jsonl"
    path.write_text("\n".join(map(json.dumps, lines)), encoding="utf-8")
    assert main(["find", "score", str(path), "--find-dir", str(find_dir), "--json"]) == 0
    rated = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert [(one["name"], one["category"]) for one in rated] == [
        ("f00200", "numeric"), ("f00200", "numeric"), ("f00200", "strings"),
    ]  # fmt: skip
    assert rated[0]["scores"]["nmse"] != rated[1]["scores"]["nmse"]
    for metric in ("coverage", "evidence_supported"):
        assert rated[0]["scores"][metric] is None and "not known" in rated[0]["reasons"][metric]


def test_the_published_folder_needs_a_function_and_our_own_names_need_no_folder(
    find_dir: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["find", "show", "--find-dir", "/nonexistent"]) == 2
    assert "--function" in capsys.readouterr().err
    for category in ("strings", "entities"):
        line = ["probe", "--category", category, "--function", f"{category}-7", "--find-dir", str(find_dir)]
        assert main([*line, "--model", "control/straight"]) == 0
        assert "KeyError" not in capsys.readouterr().out


@pytest.mark.parametrize(
    ("category", "own", "words"),
    [
        ("numeric", "1 -> 2\n2 -> 4", "The function: 2 pairs that were typed in"),
        ("relations", "red -> stop", "The function: One pair that was typed in"),
        ("entities", "chess or poetry", "The function: It gives values near 1 to words related to chess"),
        ("strings", "def f(x: str) -> str:\n    return x + x", "The function: def f(x: str) -> str:"),
    ],
)
def test_functions_of_ones_own(category: str, own: str, words: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["probe", "--category", category, "--own", own, "--model", "control/straight"]) == 0
    assert words in capsys.readouterr().out


def test_a_reader_that_stops_reading_is_no_fault() -> None:
    lines = subprocess.run(
        [f"{sys.executable} -m core find list | head -n 1; echo ${{PIPESTATUS[0]}}"],
        shell=True, executable="/bin/bash", cwd=ROOT, capture_output=True, text=True, timeout=60,
    )  # fmt: skip
    assert lines.stdout.splitlines() == ["numeric:", "0"] and "Traceback" not in lines.stderr


def test_the_box_of_words_and_facts_is_told_before_its_calls(capsys: pytest.CaptureFixture[str]) -> None:
    line = ["probe", "--category", "relations", "--seed", "5", "--model", "control/straight"]
    assert main(line) == 0
    printed = capsys.readouterr().out
    assert "0 wrong and 0 undefined" in printed and "by construction" in printed
    assert printed.index("Measured against its own truth") < printed.index("  Round 1: ")


def test_coverage_of_published_relations_is_listed(find_dir: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = ["--category", "relations", "--find-dir", str(find_dir)]
    assert main(["find", "list", *folder]) == 0
    listed = capsys.readouterr().out.splitlines()[1:]
    assert listed and all(re.search(r"our facts: (10|\d) of 10 right, \d wrong", line) for line in listed)
    assert main(["find", "show", *folder, "--function", listed[0].split()[0]]) == 0
    assert "of 10 published examples" in capsys.readouterr().out
