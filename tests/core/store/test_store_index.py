from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from store_events import NOON, answered, asked, at, failed, lines, started, whole_run, write

from core import journal
from core.events import Answered, Asked, Dropped, Event, Failed, Finished, Recorded, Resumed, Sampling, Scored
from core.store import index as indexing
from core.store import schema
from core.store.index import index, rebuild
from core.store.store import Store

ROOT = Path(__file__).resolve().parents[3]


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with Store(tmp_path / "store.duckdb") as store:
        yield store


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    path = tmp_path / "journals"
    path.mkdir()
    return path


def content(store: Store) -> dict[str, list[tuple[object, ...]]]:
    """All rows of all indexed tables, without the files' times."""
    found = {}
    for table in store.indexed:
        columns = ", ".join(f'"{name}"' for name in store.tables[table].columns if name != "modified")
        with store.cursor() as cursor:
            found[table] = sorted(cursor.execute(f"select {columns} from {table}").fetchall(), key=repr)
    return found


def one(store: Store, sql: str) -> dict[str, Any]:
    with store.cursor() as cursor:
        rows = cursor.execute(sql).fetchall()
        assert len(rows) == 1, rows
        return dict(zip([column[0] for column in cursor.description], rows[0], strict=True))


def count(store: Store, table: str) -> int:
    return int(store.query(f"select count(*) as n from {table}").n[0])


# What a journal becomes


def test_a_whole_run(store: Store, folder: Path) -> None:
    path = write(folder, "r1", whole_run("r1"))
    assert index(store, folder) == ["r1"]
    run = one(store, "from runs")
    assert (run["run"], run["lab"], run["status"], run["seed"]) == ("r1", "simulatability", "completed", 7)
    assert (run["title"], run["model"]) == ("Can penguins fly?", "control/fickle")
    assert run["at"] == NOON.replace(tzinfo=None)
    assert (run["seconds"], run["finished_at"]) == (9.0, at(9).replace(tzinfo=None))
    assert (run["answered"], run["failed"], run["error"]) == (1, 0, None)
    assert (run["journal"], run["bytes"], run["lines"]) == (str(path), path.stat().st_size, 15)
    assert json.loads(run["spec"])["method"] == "cot"
    assert json.loads(run["prompts"]) == {"explain": "abc"}
    call = one(store, "from calls")
    assert (call["call"], call["item"], call["text"], call["seconds"]) == ("c0001", "starter", "Yes.", 0.5)
    assert (call["prompt_tokens"], call["completion_tokens"], call["cached"]) == (12, 3, False)
    assert json.loads(call["messages"]) == [{"role": "user", "content": "Can penguins fly?"}]
    assert json.loads(call["sampling"])["max_tokens"] == 50
    explanation = one(store, "from explanations")
    assert (explanation["item"], explanation["question"]) == ("starter", "Can penguins fly?")
    assert (explanation["explanation_repaired"], explanation["gold"]) == ("Birds fly. <b>All</b>", None)
    simulation = one(store, "from simulations where simulator = 'control/fickle' and item = 'cf-01'")
    assert (json.loads(simulation["votes"]), simulation["repaired"]) == (["yes"], "yes")
    counts = {"counterfactuals": 2, "simulations": 3, "answers": 2, "scores": 2, "drops": 1, "records": 0, "faults": 0}
    assert {table: count(store, table) for table in counts} == counts


def test_nothing_new_changes_nothing(store: Store, folder: Path) -> None:
    write(folder, "r1", whole_run("r1"))
    index(store, folder)
    before = content(store)
    assert index(store, folder) == []
    assert content(store) == before


def test_the_journal_s_own_writer(store: Store, folder: Path) -> None:
    events = whole_run("r1")
    with journal.Journal(folder / "r1.jsonl") as written:
        for event in events[:6]:
            written.append(event)
        assert index(store, folder) == ["r1"]
        assert one(store, "from runs")["status"] == "running"
        for event in events[6:]:
            written.append(event)
    assert index(store, folder) == ["r1"]
    assert one(store, "from runs")["status"] == "completed"
    with Store(folder.parent / "other.duckdb") as other:
        rebuild(other, folder)
        assert content(other) == content(store)


def test_an_answer_completes_a_row_indexed_before(store: Store, folder: Path) -> None:
    events: list[Event] = [started("r"), asked("r", "c1"), asked("r", "c2")]
    write(folder, "r", events)
    index(store, folder)
    assert one(store, "from calls where call = 'c1'")["text"] is None
    write(folder, "r", [*events, answered("r", "c1"), failed("r", "c2")])
    index(store, folder)
    assert one(store, "from calls where call = 'c1'")["text"] == "Yes."
    call = one(store, "from calls where call = 'c2'")
    assert (call["error"], call["hint"], call["text"]) == ("TimedOut", "Try a smaller model.", None)
    assert (call["item"], call["at"]) == ("starter", at(1).replace(tzinfo=None))
    run = one(store, "from runs")
    assert (run["answered"], run["failed"], run["error"]) == (1, 1, None)


def test_an_answer_after_a_failure_and_a_failure_after_an_answer(store: Store, folder: Path) -> None:
    first: list[Event] = [started("r"), asked("r", "c1"), failed("r", "c1"), asked("r", "c2"), answered("r", "c2")]
    write(folder, "r", [*first, answered("r", "c1"), failed("r", "c2")])
    index(store, folder)
    told = store.query("select call, text, error from calls order by call").to_dict("records")
    assert [(row["call"], row["text"] == "Yes.", row["error"] == "TimedOut") for row in told] == [
        ("c1", True, False),
        ("c2", False, True),
    ]


def test_a_failed_run_that_is_resumed(store: Store, folder: Path) -> None:
    drop = Dropped(run="r", at=at(3), item="cf-01", reason="error")
    other = Dropped(run="r", at=at(3), item="cf-02", reason="unparsed")
    events: list[Event] = [
        started("r"),
        drop,
        other,
        failed("r", None, 4),
        Finished(run="r", at=at(5), status="failed"),
    ]
    write(folder, "r", events)
    index(store, folder)
    run = one(store, "from runs")
    assert (run["status"], run["error"], run["seconds"]) == ("failed", "TimedOut", 5.0)
    assert count(store, "drops") == 2
    events += [Resumed(run="r", at=at(1000)), Finished(run="r", at=at(1002), status="completed")]
    write(folder, "r", events)
    index(store, folder)
    run = one(store, "from runs")
    assert (run["status"], run["error"], run["message"], run["seconds"]) == ("completed", None, None, 7.0)
    assert one(store, "from drops")["item"] == "cf-02"


def test_a_note_long_after_the_end_is_no_running_time(store: Store, folder: Path) -> None:
    guess = {"simulator": "reader", "paper": "no", "repaired": "no"}
    note = Recorded(run="r", at=at(5000), record="simulation", item="cf-02", data=guess)
    write(folder, "r", [*whole_run("r"), note])
    index(store, folder)
    run = one(store, "from runs")
    assert (run["status"], run["seconds"], run["last_at"]) == ("completed", 9.0, at(5000).replace(tzinfo=None))


def test_times_are_kept_in_utc(store: Store, folder: Path) -> None:
    line = '{"kind":"started","run":"r","at":"2026-05-04T14:00:00+02:00","schema":1,"lab":"x","spec":{},"seed":0}\n'
    (folder / "r.jsonl").write_text(line)
    index(store, folder)
    assert one(store, "from runs")["at"] == datetime(2026, 5, 4, 12)


def test_the_latest_event_wins_within_and_across_passes(store: Store, folder: Path) -> None:
    def scored(value: float) -> Scored:
        return Scored(run="r", at=at(value), metric="precision", value=value, n=1, of=1, rules="paper")

    write(folder, "r", [started("r"), scored(1), scored(2)])
    index(store, folder)
    assert one(store, "from scores")["value"] == 2
    write(folder, "r", [started("r"), scored(1), scored(2), scored(3)])
    index(store, folder)
    assert one(store, "from scores")["value"] == 3


def test_records_without_a_table_and_fields_without_a_column(store: Store, folder: Path) -> None:
    odd = {"call": 7, "paper": "yes", "repaired": None, "mood": [1, {"a": "ü"}], "extra": "mine", "run": "x", "at": 0}
    events: list[Event] = [
        started("r"),
        Recorded(run="r", at=at(1), record="session", item="s1", data={"a": [1, None]}),
        Recorded(run="r", at=at(1), record="answer", item="cf-01", data=odd),
    ]
    write(folder, "r", events)
    index(store, folder)
    assert json.loads(one(store, "from records")["data"]) == {"a": [1, None]}
    answer = one(store, "from answers")
    assert (answer["run"], answer["item"], answer["paper"], answer["repaired"]) == ("r", "cf-01", "yes", None)
    assert answer["call"] is None
    assert json.loads(answer["extra"]) == {"call": 7, "mood": [1, {"a": "ü"}], "extra": "mine"}


def test_the_title_of_a_run_without_a_question_in_its_spec(store: Store, folder: Path) -> None:
    recorded = Recorded(run="r", at=at(1), record="session", item="s1", data={"text": "A fine film."})
    write(folder, "r", [started("r", question="", model=None), asked("r", "c1"), recorded])
    index(store, folder)
    run = one(store, "from runs")
    assert (run["title"], run["model"]) == ("A fine film.", "control/fickle")


# What can be wrong with a journal


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


@pytest.mark.parametrize(
    "line",
    [
        b"not json",
        b'{"kind":"dreamt","run":"r"}',
        b'{"kind":"answered","run":"r"}',
        b"[]",
        b"\xff\xfe",
        b'"\\ud800"',
        b"[" * 5000,
        b'{"kind":"started","run":"r","lab":"x","spec":{},"seed":%d}' % 10**30,
        b'{"kind":"finished","run":"r","at":"yesterday","status":"completed"}',
    ],
)
def test_a_broken_line_is_noted_and_passed_over(store: Store, folder: Path, line: bytes) -> None:
    events = whole_run("r")
    (folder / "r.jsonl").write_bytes(lines(events[:2]) + b"\n" + line + b"\n" + lines(events[2:]))
    index(store, folder)
    fault = one(store, "from faults")
    assert (fault["run"], fault["line"]) == ("r", 4)
    assert 0 < len(fault["reason"]) < 200
    assert one(store, "from runs")["status"] == "completed"
    assert one(store, "from calls")["text"] == "Yes."


def test_a_broken_first_line(store: Store, folder: Path) -> None:
    (folder / "r.jsonl").write_bytes(b"broken\n" + lines([asked("r", "c1")]))
    index(store, folder)
    run = one(store, "from runs")
    assert (run["lab"], run["status"], run["model"]) == (None, "running", "control/fickle")


def test_words_of_every_kind_survive(store: Store, folder: Path) -> None:
    text = 'NUL \0 quote \' " \\ newline \n emoji 🐧 rtl \u202eabc <script> {"a":1} \ufeff'
    write(folder, "r", [started("r", question=text), asked("r", "c1"), answered("r", "c1", text=text)])
    index(store, folder)
    assert one(store, "from calls")["text"] == text
    assert one(store, "from runs")["title"] == text
    assert json.loads(one(store, "from runs")["spec"])["question"] == text


def test_numbers_that_json_has_not(store: Store, folder: Path) -> None:
    line = b'{"kind":"recorded","run":"r","record":"x","item":"i","data":{"a":NaN,"b":%d}}\n' % 10**40
    score = b'{"kind":"scored","run":"r","metric":"m","value":Infinity,"n":1,"of":1,"rules":"paper"}\n'
    (folder / "r.jsonl").write_bytes(lines([started("r")]) + line + score)
    index(store, folder)
    assert json.loads(one(store, "from records")["data"]) == {"a": None, "b": 10**40}
    assert one(store, "from scores")["value"] is None


def test_a_journal_that_shrank(store: Store, folder: Path) -> None:
    write(folder, "r", whole_run("r"))
    index(store, folder)
    write(folder, "r", whole_run("r")[:3])
    assert index(store, folder) == ["r"]
    assert (one(store, "from runs")["status"], count(store, "counterfactuals")) == ("running", 0)


def test_a_journal_that_was_replaced_by_a_longer_one(store: Store, folder: Path) -> None:
    write(folder, "r", whole_run("r"))
    index(store, folder)
    write(folder, "r", [started("r", question="Do ducks quack?"), *[asked("r", f"c{n}") for n in range(30)]])
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


# How it is written


def test_large_journals_are_written_in_blocks(store: Store, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for run in ("a", "b", "c"):
        write(folder, run, [*whole_run(run)[:-1], *[asked(run, f"d{n}") for n in range(5)], *whole_run(run)[-1:]])
    rebuild(store, folder)
    whole = content(store)
    monkeypatch.setattr(indexing, "BLOCK", 3)
    rebuild(store, folder)
    assert content(store) == whole


def test_a_migration_reads_all_journals_again(folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "store.duckdb"
    write(folder, "a", whole_run("a"))
    with monkeypatch.context() as older:
        older.setattr(schema, "MIGRATIONS", schema.MIGRATIONS[:1])
        for record in list(schema.TABLE_OF_RECORD):
            older.delitem(schema.TABLE_OF_RECORD, record)
        with Store(path) as store:
            index(store, folder)
            assert count(store, "records") == 7
    with Store(path) as store:
        assert index(store, folder) == ["a"]
        assert (count(store, "explanations"), count(store, "records")) == (1, 0)


def test_the_store_heals_from_rows_written_by_hand(store: Store, folder: Path) -> None:
    write(folder, "a", whole_run("a"))
    index(store, folder)
    before = content(store)
    with store.write() as cursor:
        cursor.execute("delete from calls")
        cursor.execute("insert into faults values ('a', 1, 'made up')")
    assert rebuild(store, folder) == ["a"]
    assert content(store) == before


CALLS = st.sampled_from(["c1", "c2", "c3"])
ITEMS = st.sampled_from(["starter", "cf-01", "cf-02"])
TEXTS = st.text(st.characters(codec="utf-8"), max_size=20)
TIMES = st.integers(-5, 500).map(lambda tenths: at(tenths / 10))
RULES = st.sampled_from(["paper", "repaired"])
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | TEXTS,
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(TEXTS, inner, max_size=2),
    max_leaves=3,
)
DATA = st.dictionaries(
    st.sampled_from(["call", "simulator", "votes", "paper", "text", "item", "question", "extra", "mood"]), VALUES
)
NAMES = st.fixed_dictionaries({"run": st.just("r"), "at": TIMES})
EVENTS: st.SearchStrategy[Event] = st.one_of(
    NAMES.map(lambda names: started("r").model_copy(update=names)),
    NAMES.map(lambda names: Resumed(**names)),
    st.builds(
        lambda names, call, item, n: Asked(
            **names, call=call, item=item, role="x", model="m", messages=(), sampling=Sampling(), repeat=n
        ),
        NAMES,
        CALLS,
        ITEMS,
        st.integers(-(2**65), 2**65),
    ),
    st.builds(
        lambda names, call, text: Answered(**names, call=call, role="x", model="m", text=text, seconds=1),
        NAMES,
        CALLS,
        TEXTS,
    ),
    st.builds(lambda names, call: Failed(**names, call=call, error="E", message="m"), NAMES, st.none() | CALLS),
    st.builds(
        lambda names, record, item, data: Recorded(**names, record=record, item=item, data=data),
        NAMES,
        st.sampled_from([*schema.TABLE_OF_RECORD, "session"]),
        ITEMS,
        DATA,
    ),
    st.builds(
        lambda names, item, reason, rules: Dropped(**names, item=item, reason=reason, rules=rules),
        NAMES,
        ITEMS,
        st.sampled_from(["error", "unparsed"]),
        st.none() | RULES,
    ),
    st.builds(
        lambda names, item, value, rules: Scored(
            **names, metric="m", item=item, value=value, n=1, of=1, rules=rules, detail={"a": value}
        ),
        NAMES,
        st.sampled_from(["", "cf-01"]),
        st.none() | st.floats(0, 1),
        RULES,
    ),
    st.builds(lambda names, status: Finished(**names, status=status), NAMES, st.sampled_from(["completed", "failed"])),
)


@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.lists(EVENTS, max_size=25), st.lists(st.floats(0, 1), max_size=4), st.booleans())
def test_indexed_in_pieces_or_at_once_is_the_same(events: list[Event], cuts: list[float], broken: bool) -> None:
    """Whatever happens in a run, and wherever the file ends when it is looked at, torn characters included."""
    data = lines(events)
    if broken:
        data = data.replace(b'"kind":"scored"', b'"kind":"score\xff"')
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name) / "journals"
        folder.mkdir()
        with Store(Path(name) / "store.duckdb") as store:
            for cut in [*sorted(int(cut * len(data)) for cut in cuts), len(data)]:
                (folder / "r.jsonl").write_bytes(data[:cut])
                index(store, folder)
            pieces = content(store)
            rebuild(store, folder)
            assert content(store) == pieces


DYING = """
import os, pathlib, signal, sys
import duckdb, pandas, pyarrow.dataset  # once for all children
from core.store import index as indexing
from core.store.store import Store

folder, journals, deaths = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2]), int(sys.argv[3])
indexing.BLOCK = 40
insert, left = indexing._Batch._insert, 0

def insert_or_die(*args):
    global left
    if left == 0:
        os.kill(os.getpid(), signal.SIGKILL)
    left -= 1
    insert(*args)

indexing._Batch._insert = insert_or_die
for left in range(deaths):
    child = os.fork()
    if child == 0:
        indexing.index(Store(folder / f"{left}.duckdb"), journals)
        os._exit(0)
    _, status = os.waitpid(child, 0)
    assert os.WIFSIGNALED(status), left
"""


def test_killed_between_any_two_inserts_rows_and_bytes_agree(folder: Path, tmp_path: Path) -> None:
    deaths = 12
    runs = {name: [*whole_run(name)[:-1], *[asked(name, f"d{n}") for n in range(40)]] for name in ("a", "b", "c")}
    for name, events in runs.items():
        write(folder, name, events)
    subprocess.run([sys.executable, "-c", DYING, str(tmp_path), str(folder), str(deaths)], cwd=ROOT, check=True)
    with Store(tmp_path / "whole.duckdb") as whole:
        index(whole, folder)
        expected = content(whole)
    told = []
    for death in range(deaths):
        with Store(tmp_path / f"{death}.duckdb") as store:
            indexed = store.query("select run, bytes, lines from runs").set_index("run")
            for run, events in runs.items():
                size, count = indexed.loc[run] if run in indexed.index else (0, 0)
                assert size == len(lines(events[:count]))
                calls = sum(event.kind == "asked" for event in events[:count])
                assert len(store.query("select call from calls where run = ?", [run])) == calls
            told.append(int(indexed.lines.sum()))
            index(store, folder)
            assert content(store) == expected
    assert told == sorted(told)
    assert len(set(told)) > 1
