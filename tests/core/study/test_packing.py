"""A study's journals in one file: read where they lie, found by everything that finds a run, and brought back."""

from __future__ import annotations

import asyncio
import io
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from core import entry, home, journal, packs
from core.__main__ import main
from core.journal import JournalInUse
from core.people import allowance
from core.people.running import Jobs
from core.runs import bundle, repack
from core.store import listing
from core.store.filters import Filter
from core.store.index import Index, rebuild
from core.store.store import Store
from core.study import packing, plan
from core.study.execute import Making
from tests.core.study.killing import ROOT

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
    return {path.name: path.read_bytes() for path in journal.listed(home.journals())}


def told(capsys: pytest.CaptureFixture[str], *arguments: str) -> list[str]:
    capsys.readouterr()
    assert main(["study", *arguments, "--json"]) == 0
    return capsys.readouterr().out.splitlines()


def test_a_packed_study_is_read_where_it_lies(file: str, capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    before = held()
    tables, status = told(capsys, "table", file), told(capsys, "status", file)
    jobs = Jobs(home.journals(), entry.labs(), lambda id: entry.catalog().get(id))
    run = sorted(before)[0].removesuffix(".jsonl")
    jobs.keeping.say(run, "anna", "", plan.ClusterOf(), "x")
    with Store(home.home() / "store.duckdb", entry.labs()) as store:
        looking = Index(store, home.journals())
        looking.look()
        rows = listing.count(store, Filter())
        made = packing.pack(plan.read(Path(file), entry.labs()), home.journals())
        assert made.runs == len(before) and made.left_out == {} and made.bytes < made.unpacked
        # Only what a person said is left as a file of its own.
        assert [path.stem for path in home.journals().glob("*.jsonl")] == [f"{run}~anna"]
        # The index is told where the journals are now, and reads none of them again.
        assert looking.look() == [] and looking.look() == [] and listing.count(store, Filter()) == rows > 0
        with store.cursor() as cursor:
            [(places,)] = cursor.execute("select list(journal) from runs where about is null or about = ''").fetchall()
        assert set(places) == {str(home.journals() / "packs" / "dial.zip" / name) for name in before}
        rebuild(store, home.journals())
        assert listing.count(store, Filter()) == rows
    assert told(capsys, "table", file) == tables and told(capsys, "status", file) == status
    # Nothing is made again, and nothing in a pack is written.
    assert main(["study", "run", file]) == 0 and capsys.readouterr().out == ""
    assert len(jobs.events(run)) == before[f"{run}.jsonl"].count(b"\n") and jobs.faults(run) == []
    assert jobs.watch(run).transcript.status == "completed" and not jobs.is_recording(run)
    assert len(jobs.keeping.said(run, "anna")) == 1
    with pytest.raises(JournalInUse, match="unpack the study"):
        jobs.keeping.delete(run)
    # A pack is a bundle: it goes to another home as it is.
    (tmp_path / "other").mkdir()
    assert len(bundle.take(made.file, (tmp_path / "other",)).runs) == len(before)
    exported = io.BytesIO()
    assert bundle.write(exported, [run], (home.journals(),)).runs == [run]
    assert [json.loads(line) for line in told(capsys, "unpack", file)] == [{"runs": len(before)}]
    assert {name: data for name, data in held().items() if "~" not in name} == before
    assert not packs.packs(home.journals())


def test_a_damaged_pack_stands_in_nobody_s_way(file: str) -> None:
    made = packing.pack(plan.read(Path(file), entry.labs()), home.journals())
    data = bytearray(made.file.read_bytes())
    data[100:200] = bytes(100)
    made.file.write_bytes(data)
    first, *others = packs.journals(made.file)
    with pytest.raises(OSError, match="is damaged"):
        journal.read(first)
    with Store(home.home() / "again.duckdb", entry.labs()) as store:
        assert rebuild(store, home.journals()) == sorted(one.stem for one in others)
    made.file.write_bytes(data[:1000])
    assert journal.found(first.stem, home.journals()) is None and journal.listed(home.journals()) == []


def test_old_runs_of_visitors_go_from_packs_too(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def no_room(*_: object) -> None:
        raise journal.JournalFull("no room")

    path = tmp_path / "dial.toml"
    path.write_text(STUDY)
    study = plan.read(path, entry.labs())
    making = Making(study, entry.labs(), entry.catalog().get, home.journals(), owner="ann")
    asyncio.run(making.make(study.all))
    jobs = Jobs(home.journals(), entry.labs(), lambda id: entry.catalog().get(id))
    stays, *go = [run.id for run in study.all]
    jobs.keeping.share(stays, True)
    for run in (stays, go[0]):
        jobs.keeping.say(run, "bob", "", plan.ClusterOf(), "x", "bob")
    packing.pack(study, home.journals())
    before = held()
    assert allowance.forget(home.journals(), 1) == []
    # As if a day had passed; but first there is no room for a smaller pack.
    with monkeypatch.context() as full:
        full.setattr(repack, "without", no_room)
        assert allowance.forget(home.journals(), -1) == [] and held() == before
    # What is said of a packed run that stays, stays.
    assert sorted(allowance.forget(home.journals(), -1)) == sorted(go)
    gone = {name for name in before if name.startswith(tuple(go))}
    assert len(gone) == len(go) + 1 and held() == {name: data for name, data in before.items() if name not in gone}
    jobs.keeping.share(stays, False)
    assert allowance.forget(home.journals(), -1) == [stays]
    assert not list((home.journals() / "packs").glob("*.zip"))


@pytest.mark.parametrize("moment", ["replace", "unlink"])
def test_killed_while_packing_it_loses_nothing(file: str, moment: str) -> None:
    before = held()
    # The second time: a pack is in its place, or some journals are gone already.
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
    assert held() == before
    assert main(["study", "pack", file]) == 0
    assert held() == before and not list(home.journals().glob("*.jsonl"))
    assert [path.name for path in (home.journals() / "packs").iterdir() if path.is_file()] == ["dial.zip"]
