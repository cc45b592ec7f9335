"""A person's own SQL: what it finds, for whom, and what the page says about omitted rows."""

from pathlib import Path

import pytest
from store_events import LABS, whole_run, write

from core import entry, home
from core.events import Shared, Started
from core.journal import to_line
from core.runs.library import about_path
from core.store import sql
from core.store.index import index
from core.store.store import QueryRefusedError, Store


def ns(store: Store, query: str, viewer: str | None = None) -> list[dict[str, object]]:
    return list(sql.ask(store, query, viewer).rows())


def test_a_query_finds_what_is_new_and_is_cut_in_words(
    store: Store, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(folder, "a", whole_run("a"))
    index(store, folder)
    assert ns(store, "select run from runs") == [{"run": "a"}]
    write(folder, "b", whole_run("b"))
    index(store, folder)
    assert ns(store, "select run from runs order by run") == [{"run": "a"}, {"run": "b"}]
    monkeypatch.setenv("EXPLAIN_QUERY_ROWS", "3")
    found = sql.ask(store, "select * from range(3)")
    assert (found.table.num_rows, found.cut) == (3, "")
    found = sql.ask(store, "select * from range(1000000000000)")
    assert found.table.num_rows == 3 and "first 3 rows" in found.cut
    found = sql.ask(store, "select repeat('x', 20000000) as x from range(3)")
    assert found.table.num_rows == 1 and "32 MB" in found.cut


def test_the_store_can_be_written_while_others_read_their_copy(store: Store, folder: Path) -> None:
    with store.cursor() as reading:
        reading.execute("select * from range(100000)")
        write(folder, "a", whole_run("a"))
        index(store, folder)
        assert ns(store, "select count(*) as n from calls") == [{"n": 1}]
        assert len(reading.fetchall()) == 100_000
    with pytest.raises(QueryRefusedError, match="may only read the store"):
        sql.ask(store, "select * from read_text('x')")
    with Store(store.path, LABS) as again:
        assert len(again.query("select * from runs")) == 1, "the lock is still ours"


def test_a_visitor_finds_only_what_they_may_see(store: Store, folder: Path) -> None:
    for run, owner in (("mine", "ann"), ("theirs", "bob"), ("shared", "bob"), ("hosts", "")):
        first, *rest = whole_run(run)
        write(folder, run, [first.model_copy(update={"owner": owner}), *rest])
    begun, said = _said("shared")
    about_path(folder / "shared.jsonl", "shared").write_bytes(to_line(begun, 1) + to_line(said, 2))
    index(store, folder)
    tables = ("runs", "calls", "scores", "drops", "cases", "trials", "answer")
    runs = " union ".join(f"select run from {table}" for table in tables)
    assert [row["run"] for row in ns(store, f"{runs} order by run", "ann")] == ["mine", "shared"]
    assert len(ns(store, runs)) == 5
    [about_two] = ns(store, "select list(runs) as told from runs", "ann")
    assert "mine" in str(about_two) and "bob" not in str(about_two) and str(folder) not in str(about_two)
    assert ns(store, "select count(*) as n from runs", "nobody' or true --") == [{"n": 1}]


def _said(run: str) -> tuple[Started, Shared]:
    name = f"{run}~~shared"
    return Started(run=name, lab="", spec={}, seed=0, about=run), Shared(run=name, shared=True)


def test_values_of_every_kind_come_through(store: Store) -> None:
    [row] = ns(
        store,
        "select 1 as a, 2 as a, 3::hugeint as h, 1.5::decimal(4, 2) as d, 'nan'::double as nan, [1, null] as l, "
        "{'b': date '2020-01-02'} as s, timestamp '2020-01-02 03:04:05' as t, null as nothing, '\\xAA'::blob as bytes",
    )
    assert row == {
        "a": 1, "a_1": 2, "h": 3, "d": 1.5, "nan": None, "l": [1, None], "s": {"b": "2020-01-02"},
        "t": "2020-01-02 03:04:05", "nothing": None, "bytes": "aa",
    }  # fmt: skip
    frame = sql.ask(store, "select unnest([1, null]) as n, [1] as l, sum(1) over () as s").frame()
    assert str(frame["n"].dtype) == "Int32" and list(frame["l"]) == ["[1]", "[1]"] and list(frame["s"]) == [1, 1]


def test_a_date_beyond_those_of_python_is_text(store: Store) -> None:
    query = (
        "select date '10000-01-01' as d, timestamp 'infinity' as t, [date '0044-03-15 (BC)'] as l, "
        "{'a': date '20000-02-03'} as s, date '2020-01-02' as plain"
    )
    [row] = ns(store, query)
    assert (row["d"], row["l"], row["s"]) == ("10000-01-01", ["-0043-03-15"], {"a": "20000-02-03"})
    assert "out of range" in row["t"] and row["plain"] == "2020-01-02"
    assert list(sql.ask(store, query).frame()["d"]) == ["10000-01-01"]


def test_every_table_is_told_of_and_every_example_can_be_asked(tmp_path: Path) -> None:
    with Store(tmp_path / "all.duckdb", entry.labs()) as store:
        index(store, home.recordings(), recordings=True)
        told = sql.schema(store)
        assert set(told) == set(store.indexed) and all(words for words, _ in told.values())
        notes = sql._described()["table"]
        assert all(set(columns) <= {"holds", *store.tables[table].columns} for table, columns in notes.items())
        assert len(sql.examples()) == 10
        found = {one.title: sql.ask(store, one.sql).table for one in sql.examples()}
        assert sum(table.num_rows > 0 for table in found.values()) >= 5
