"""A study's journals in one archive, and back."""

import asyncio
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from core import entry, home, journal
from core.__main__ import main
from core.runs import bundle
from core.server.jobs import JobRunner
from core.studies import plan, study_files
from core.studies.execute import Making
from tests.core.studies.killing import ROOT

STUDY = """
name = "dial"
lab = "check"
spec = { controls = 0, task = "sentiment", explanations = ["attribution"], limit = 2 }
grid = { model = ["control/dial-lexicon-0.0", "control/dial-lexicon-1.0"] }
"""


@pytest.fixture
def file(tmp_path: Path) -> str:
    path = tmp_path / "dial.toml"
    path.write_text(STUDY)
    assert main(["study", "run", str(path)]) == 0
    return str(path)


def held() -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in journal.list_journals(home.journals())}


def told(capsys: pytest.CaptureFixture[str], *arguments: str) -> list[str]:
    capsys.readouterr()
    assert main(["study", *arguments, "--json"]) == 0
    return capsys.readouterr().out.splitlines()


def test_a_packed_study_is_put_away_and_comes_back(
    file: str, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    before = held()
    tables, status = told(capsys, "table", file), told(capsys, "status", file)
    jobs = JobRunner(home.journals(), entry.labs(), lambda id: entry.catalog().get(id))
    run = sorted(before)[0].removesuffix(".jsonl")
    jobs.keeping.add(run, "anna", "", plan.ClusterOf(), "x")
    [packed] = [json.loads(line) for line in told(capsys, "pack", file)]
    assert packed["runs"] == len(before) and packed["left_out"] == {} and packed["bytes"] < packed["unpacked"]
    assert list(held()) == [f"{run}~anna.jsonl"], "what people said stays"
    for command in ("run", "status", "table", "verify"):
        assert main(["study", command, file]) == 2
        assert "Unpack them first" in capsys.readouterr().err
    assert [json.loads(line)["runs"] for line in told(capsys, "pack", file)] == [len(before)], (
        "and again changes nothing"
    )
    # An archive is a bundle: it can go to another home unchanged.
    (tmp_path / "other").mkdir()
    assert len(bundle.import_path(Path(packed["file"]), (tmp_path / "other",)).runs) == len(before)
    assert [json.loads(line) for line in told(capsys, "unpack", file)] == [{"runs": len(before)}]
    assert {name: data for name, data in held().items() if "~" not in name} == before
    assert not Path(packed["file"]).exists() and told(capsys, "unpack", file) == ['{"runs": 0}']
    assert (told(capsys, "table", file), told(capsys, "status", file)) == (tables, status)


def test_a_damaged_archive_is_kept(file: str, capsys: pytest.CaptureFixture[str]) -> None:
    made = study_files.pack(plan.read(Path(file), entry.labs()), home.journals())
    data = bytearray(made.file.read_bytes())
    data[100:200] = bytes(100)
    made.file.write_bytes(data)
    with pytest.raises(journal.JournalFullError, match="could not be unpacked"):
        study_files.unpack(plan.read(Path(file), entry.labs()), home.journals())
    assert made.file.exists()


def test_visitors_runs_are_not_packed_where_they_are_deleted_after_some_days(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "dial.toml"
    path.write_text(STUDY)
    study = plan.read(path, entry.labs())
    making = Making(study, entry.labs(), entry.catalog().get, home.journals(), owner="ann")
    asyncio.run(making.run_all(study.all))
    before = held()
    monkeypatch.setenv("EXPLAIN_DAYS_KEPT", "30")
    assert study_files.pack(study, home.journals()).runs == 0 and held() == before
    monkeypatch.delenv("EXPLAIN_DAYS_KEPT")
    assert study_files.pack(study, home.journals()).runs == len(before)


@pytest.mark.thorough
@pytest.mark.parametrize("moment", ["replace", "unlink"])
def test_killed_while_packing_it_loses_nothing(file: str, moment: str) -> None:
    before = held()
    # The second time there is a pack already, or some journals are gone.
    code = f"""
import os, signal, sys
from pathlib import Path
from core.__main__ import main
real, count = Path.{moment}, [0]
def struck(self, *arguments, **named):
    count[0] += self.suffix == ".jsonl" or self.suffix == ".part"
    if count[0] == {1 if moment == "replace" else 2}:
        os.kill(os.getpid(), signal.SIGKILL)
    return real(self, *arguments, **named)
Path.{moment} = struck
main(["study", "pack", sys.argv[1]])
"""
    done = subprocess.run([sys.executable, "-c", code, file], cwd=ROOT, env=dict(os.environ), timeout=60)
    assert done.returncode == -9
    archive = home.journals() / "archives" / "dial.zip"
    assert held() == before or archive.exists()
    assert main(["study", "pack", file]) == 0
    assert held() == {} and [path.name for path in archive.parent.iterdir() if path.is_file()] == ["dial.zip"]
    assert main(["study", "unpack", file]) == 0 and held() == before
