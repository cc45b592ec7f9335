"""Runs as a log of Inspect: read by the standard library, by our own import, and by Inspect itself."""

import json
import math
import subprocess
import time
import zipfile
from pathlib import Path
from typing import Any

import pytest

from core import entry, home, journal
from core.__main__ import main
from core.datasets import logs
from core.report import export
from core.transcript import Transcript, transcript
from tests.support.inspect_environment import inspect_python

WORLD = ["ask", "--dataset", "world", "--limit", "6", "--counterfactuals", "2", "--arms", "none"]


@pytest.fixture
def run() -> Transcript:
    assert main([*WORLD, "--model", "control/fickle"]) == 0
    [path] = home.journals().glob("*.jsonl")
    return transcript(journal.read(path).events)


def _members(path: Path) -> dict[str, Any]:
    with zipfile.ZipFile(path) as log:
        assert {one.compress_type for one in log.infolist()} == {zipfile.ZIP_DEFLATED}
        return {name: json.loads(log.read(name)) for name in log.namelist()}


def test_a_run_survives_the_way_to_a_log_and_back(run: Transcript, tmp_path: Path) -> None:
    path = tmp_path / "runs.eval"
    assert main(["export", str(path), "--to", "inspect"]) == 0
    members = _members(path)
    header, started = members["header.json"], run.started
    assert started is not None and header["version"] == 2 and header["status"] == "success"
    assert header["eval"]["model"] == "control/fickle" and header["eval"]["metadata"][started.run]["figures"]
    found = logs.read(path, "inspect")
    assert found.unread == [] and len(found.rows) == len(run.cases) == len(members["summaries.json"]) == 6
    for (case, progress), row in zip(run.cases.items(), found.rows, strict=True):
        log = run.case(case)
        [starter] = [call for call in log.calls.values() if call.asked.role == "explainer"]
        # The reader takes off the sentence with the answer, which Ask puts back.
        assert f"{row['explanation']} So the answer is {row['answer']}." == starter.text
        assert row["question"] == progress.title and row["source"] == "control/fickle"
        sample = members[f"samples/{started.run}/{case}_epoch_1.json"]
        assert row["sample"] == sample["id"] == f"{started.run}/{case}" and row["gold"] == sample["target"] != ""
        texts = [turn["content"] for turn in sample["messages"] if turn["role"] == "assistant"]
        assert texts[0] == starter.text and {turn["metadata"]["trial"] for turn in sample["messages"]} >= {"", "cf-01"}
        assert progress.result is not None
        for rules in ("paper", "repaired"):
            assert sample["scores"][f"outcome.{rules}"]["value"] == progress.result[f"outcome_{rules}"]
            known = log.score("precision", rules)
            value = sample["scores"][f"precision.{rules}"]["value"]
            assert known is not None and (value == known.value or (value != value and known.value is None))


def test_what_cannot_be_written_is_refused(run: Transcript, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "runs.eval"
    assert main(["export", str(path), "--to", "inspect", "--run", "nobody"]) == 2
    assert main(["export", str(path), "--to", "inspect", "--where", "model = 'nobody'"]) == 2
    with pytest.raises(SystemExit):
        main(["export", str(path), "--to", "inspect", "--sender", "Ann"])
    assert "There is no run to write" in capsys.readouterr().err and not list(tmp_path.glob("*eval*"))


@pytest.mark.thorough
def test_a_thousand_cases_are_written_in_a_second(run: Transcript, tmp_path: Path) -> None:
    assert run.started is not None
    lab, took = entry.labs()[run.started.lab], []
    for _ in range(3):
        begun = time.process_time()
        with (tmp_path / "log.eval").open("wb") as target:
            assert export.write(target, [(lab, run)] * 167) == 1_002
        took.append(time.process_time() - begun)
    assert min(took) < 1, "alone it takes about 0.5 s"


def test_half_of_a_surrogate_pair_is_written_as_a_question_mark() -> None:
    written = export._json({"said": "a\ud83d", "figure": float("inf")})
    assert json.loads(written) == {"said": "a?", "figure": math.inf}


_OPENED = """
import sys
from inspect_ai.analysis import samples_df
from inspect_ai.log import read_eval_log, read_eval_log_sample
log = read_eval_log(sys.argv[1])
first = log.samples[0]
assert log.status == "success" and len(log.samples) == 6 and len(first.messages) > 2
assert read_eval_log_sample(sys.argv[1], first.id, 1).output.completion == first.output.completion
frame = samples_df(sys.argv[1])
assert set(frame.id) == {one.id for one in log.samples} and "score_outcome.repaired" in frame.columns
"""


@pytest.mark.thorough
def test_inspect_opens_the_log(run: Transcript, tmp_path: Path) -> None:
    path = tmp_path / "runs.eval"
    assert main(["export", str(path), "--to", "inspect"]) == 0
    subprocess.run([inspect_python(), "-c", _OPENED, path], check=True, cwd=tmp_path)
