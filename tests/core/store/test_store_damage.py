import json
from pathlib import Path

import pytest
from store_events import (
    answered,
    asked,
    content,
    count,
    lines,
    one,
    started,
    whole_run,
    write,
)

from core import journal
from core.store.index import index
from core.store.store import Store
from tests.attacks.journals import sealed

ROOT = Path(__file__).resolve().parents[3]


def test_a_torn_last_line_waits_for_its_rest(store: Store, folder: Path) -> None:
    data = lines(whole_run("r"))
    first = data.index(b"\n") + 1
    path = folder / "r.jsonl"
    path.write_bytes(data[: first - 1])
    assert index(store, folder) == []
    assert count(store, "runs") == 0
    path.write_bytes(data[: first + 40])
    assert index(store, folder) == ["r"]
    assert (one(store, "from runs")["bytes"], count(store, "faults")) == (first, 0)
    assert index(store, folder) == []
    path.write_bytes(data)
    assert index(store, folder) == ["r"]
    assert one(store, "from runs")["status"] == "completed"
    assert count(store, "faults") == 0


def test_a_torn_last_line_that_was_cut_off_and_gone_on(store: Store, folder: Path) -> None:
    path = write(folder, "r", [started("r"), asked("r", "c1")])
    with path.open("ab") as file:
        file.write(b'{"kind":"answered","ru')
    index(store, folder)
    with journal.Journal(path) as written:
        written.append(answered("r", "c1"))
    index(store, folder)
    assert one(store, "from calls")["text"] == "Yes."
    assert count(store, "faults") == 0


@pytest.mark.sampled(3)
@pytest.mark.parametrize(
    "line",
    [
        b"not json",
        b'{"kind":"dreamt","run":"r"}',
        b'{"kind":"answered","run":"r"}',
        b"[]",
        b"\xff\xfe",
        b'"\\ud800"',
        b'{"kind":"scored","run":"r","metric":"m","value":1,"n":%d,"of":1,"rules":"paper"}' % 10**30,
        b"[" * 5000,
        b'{"kind":"started","run":"r","lab":"x","spec":{},"seed":%d}' % 10**30,
        b'{"kind":"finished","run":"r","at":"yesterday","status":"completed"}',
    ],
)
def test_a_broken_line_is_noted_and_passed_over(store: Store, folder: Path, line: bytes) -> None:
    events = whole_run("r")
    (folder / "r.jsonl").write_bytes(lines(events[:2]) + b"\n" + sealed(line, 3) + lines(events[2:], 4))
    index(store, folder)
    fault = one(store, "from faults")
    assert (fault["run"], fault["line"]) == ("r", 4)
    assert 0 < len(fault["reason"]) < 200
    assert one(store, "from runs")["status"] == "completed"
    assert one(store, "from calls")["text"] == "Yes."


def test_a_broken_first_line(store: Store, folder: Path) -> None:
    (folder / "r.jsonl").write_bytes(b"broken\n" + lines([asked("r", "c1")], 2))
    index(store, folder)
    run = one(store, "from runs")
    assert (run["lab"], run["status"], run["model"]) == (None, "running", "control/fickle")


def test_words_of_every_kind_survive(store: Store, folder: Path) -> None:
    text = 'NUL \0 quote \' " \\ newline \n emoji 🐧 rtl \u202eabc <script> {"a":1} \ufeff'
    write(folder, "r", [started("r", title=text, question=text), asked("r", "c1"), answered("r", "c1", text=text)])
    index(store, folder)
    assert one(store, "from calls")["text"] == text
    assert one(store, "from runs")["title"] == text
    assert json.loads(one(store, "from runs")["spec"])["question"] == text


def test_numbers_that_json_has_not(store: Store, folder: Path) -> None:
    line = b'{"kind":"recorded","run":"r","record":"x","item":"i","data":{"a":NaN,"b":%d}}' % 10**40
    score = b'{"kind":"scored","run":"r","metric":"m","value":Infinity,"n":1,"of":1,"rules":"paper"}'
    (folder / "r.jsonl").write_bytes(lines([started("r")]) + sealed(line, 2) + sealed(score, 3))
    index(store, folder)
    assert json.loads(one(store, "from records")["data"]) == {"a": None, "b": 10**40}
    assert one(store, "from scores")["value"] is None


def test_a_journal_that_shrank(store: Store, folder: Path) -> None:
    write(folder, "r", whole_run("r"))
    index(store, folder)
    write(folder, "r", whole_run("r")[:3])
    assert index(store, folder) == ["r"]
    assert (one(store, "from runs")["status"], count(store, "counterfactual")) == ("running", 0)


def test_a_journal_that_was_replaced_by_a_longer_one(store: Store, folder: Path) -> None:
    write(folder, "r", whole_run("r"))
    index(store, folder)
    write(folder, "r", [started("r", title="Do ducks quack?"), *[asked("r", f"c{n}") for n in range(30)]])
    assert index(store, folder) == ["r"]
    assert (one(store, "from runs")["title"], count(store, "scores")) == ("Do ducks quack?", 0)
    assert (count(store, "calls"), one(store, "from runs")["answered"]) == (30, 0)


def test_a_journal_that_was_deleted_or_emptied(store: Store, folder: Path) -> None:
    for run in ("a", "b", "c"):
        write(folder, run, whole_run(run))
    index(store, folder)
    (folder / "a.jsonl").unlink()
    (folder / "b.jsonl").write_bytes(b"")
    assert index(store, folder) == ["a", "b"]
    assert {row[0] for rows in content(store).values() for row in rows} == {"c"}


def test_two_folders_do_not_push_each_other_out(store: Store, folder: Path, tmp_path: Path) -> None:
    write(folder, "a", whole_run("a"))
    write(tmp_path / "elsewhere", "b", whole_run("b"))
    assert index(store, folder) == ["a"]
    assert index(store, tmp_path / "elsewhere") == ["b"]
    assert index(store, folder) == []
    assert count(store, "runs") == 2


def test_journals_that_moved(store: Store, folder: Path, tmp_path: Path) -> None:
    write(folder, "a", whole_run("a"))
    index(store, folder)
    folder.rename(tmp_path / "moved")
    assert index(store, tmp_path / "moved") == ["a"]
    assert one(store, "from runs")["journal"] == str(tmp_path / "moved" / "a.jsonl")


def test_a_copy_under_another_name_is_another_run(store: Store, folder: Path) -> None:
    write(folder, "a", whole_run("a"))
    write(folder, "a (1)", whole_run("a"))
    index(store, folder)
    assert store.query("select run from runs order by run").run.tolist() == ["a", "a (1)"]
    assert count(store, "calls") == 2


def test_no_folder_and_other_files(store: Store, folder: Path, tmp_path: Path) -> None:
    assert index(store, tmp_path / "nowhere") == []
    (folder / "notes.txt").write_text("x")
    (folder / "dir.jsonl").mkdir()
    (folder / "gone.jsonl").symlink_to(tmp_path / "not there")
    write(folder, "a", whole_run("a"))
    assert index(store, folder) == ["a"]
