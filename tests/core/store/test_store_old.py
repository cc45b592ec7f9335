from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest
from store_events import (
    CASE,
    LABS,
    OLD_JOURNALS,
    content,
    count,
    one,
    whole_run,
    write,
)

from core.store import index as indexing
from core.store.index import index, rebuild
from core.store.store import Store

ROOT = Path(__file__).resolve().parents[3]


def old(folder: Path, name: str = "*-simulatability-*") -> list[Path]:
    return [Path(shutil.copy2(path, folder)) for path in sorted(OLD_JOURNALS.glob(f"{name}.jsonl"))]


def test_an_old_journal_has_cases_and_trials(store: Store, folder: Path) -> None:
    expected = {
        run["run"]: run
        for run in json.loads((OLD_JOURNALS / "expected.json").read_text()).values()
        if run["lab"] == "simulatability"
    }
    paths = old(folder)
    assert index(store, folder) == sorted(expected) == [path.stem for path in paths]
    judged = 0
    for run, then in expected.items():
        case = store.query("from cases where run = ?", [run]).to_dict("records")
        assert [(one["case"], one["number"], one["of"], one["status"]) for one in case] == [("question", 1, 1, "done")]
        trials = store.query("select trial, outcome_paper, outcome_repaired from trials where run = ?", [run])
        outcomes = {one["trial"]: [one["outcome_paper"], one["outcome_repaired"]] for one in trials.to_dict("records")}
        assert outcomes == then["outcomes"]
        judged += len(outcomes)
        placed = store.query('select distinct "case" from calls where run = ?', [run])["case"].tolist()
        assert placed in ([CASE], [])
    assert judged > 20
    guesses = {(run, item) for run, then in expected.items() for item in then["guesses"]}
    said = store.query("select run, item from simulation where \"by\" = 'reader'").values.tolist()
    assert {(run, item) for run, item in said} == guesses != set()


def test_an_old_journal_that_grows_is_read_whole_again(store: Store, folder: Path) -> None:
    [path] = old(folder, "*-simulatability-3c14")
    data = path.read_bytes()
    cut = data.index(b'"record":"answer"')
    path.write_bytes(data[: data.rindex(b"\n", 0, cut) + 1])
    assert index(store, folder) == [path.stem]
    case = one(store, "from cases")
    assert (case["status"], count(store, "trials"), one(store, "from runs")["status"]) == ("running", 0, "running")
    path.write_bytes(data[: cut + 20])
    index(store, folder)
    path.write_bytes(data)
    assert index(store, folder) == [path.stem]
    assert (one(store, "from cases")["status"], count(store, "trials")) == ("done", 2)
    assert one(store, "from runs")["lines"] == data.count(b"\n")
    assert index(store, folder) == []
    pieces = content(store)
    rebuild(store, folder)
    assert content(store) == pieces


def test_a_broken_line_of_an_old_journal_keeps_its_number(store: Store, folder: Path) -> None:
    [path] = old(folder, "*-simulatability-3c14")
    first, *rest = path.read_bytes().splitlines(keepends=True)
    path.write_bytes(first + b"broken\n" + b"".join(rest))
    index(store, folder)
    assert (one(store, "from faults")["line"], count(store, "trials")) == (2, 2)


def test_an_old_journal_that_its_lab_trips_over_keeps_no_other_out(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    [path] = old(folder, "*-simulatability-3c14")
    write(folder, "new", whole_run("new"))

    def trip(*args: object) -> None:
        raise KeyError("a fault of ours")

    monkeypatch.setattr(indexing, "upgraded", trip)
    with Store(tmp_path / "store.duckdb", LABS) as store:
        assert index(store, folder) == [path.stem, "new"]
        assert store.query("select distinct run from calls order by 1").run.tolist() == [path.stem, "new"]
        assert store.query("select run from cases").run.tolist() == ["new"]


def test_old_journals_of_labs_that_are_not_here_are_taken_as_they_are(store: Store, folder: Path) -> None:
    paths = old(folder, "*-find-*")
    assert index(store, folder) == [path.stem for path in paths]
    assert (count(store, "cases"), count(store, "faults")) == (0, 0)
    assert count(store, "records") > 100
