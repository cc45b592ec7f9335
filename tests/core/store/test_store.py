import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import duckdb
import pytest
from store_events import LABS, count

from core.store import store as storing
from core.store.store import QueryRefusedError, Store, StoreBusyError, StoreUnusableError
from tests.support.waiting import until

ROOT = Path(__file__).resolve().parents[3]


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with Store(tmp_path / "deep" / "store.duckdb", LABS) as store:
        yield store


def test_another_process_is_named(tmp_path: Path) -> None:
    path = tmp_path / "store.duckdb"
    holder = subprocess.Popen(
        [
            sys.executable,
            "-c",
            "import sys, pathlib; from core.store.store import Store\n"
            "store = Store(pathlib.Path(sys.argv[1]), {}); print('open', flush=True); sys.stdin.read()",
            str(path),
        ],
        cwd=ROOT,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    try:
        assert holder.stdout is not None
        assert holder.stdout.readline() == "open\n"
        with pytest.raises(StoreBusyError, match=f"is open in process {holder.pid}") as busy:
            Store(path, LABS)
        assert busy.value.pid == holder.pid
    finally:
        holder.kill()
        holder.communicate()
    Store(path, LABS).close()


def test_two_stores_of_one_process_share_the_writer(tmp_path: Path) -> None:
    path = tmp_path / "store.duckdb"
    with Store(path, LABS) as one, Store(path, LABS) as other:
        assert one.writer is other.writer
        with one.write() as cursor:
            cursor.execute("insert into faults values ('r', 1, 'why')")
        assert len(other.query("from faults")) == 1
        one.close()
        assert len(other.query("from faults")) == 1


def test_a_failed_write_is_undone_and_frees_the_lock(store: Store) -> None:
    with pytest.raises(RuntimeError), store.write() as cursor:
        cursor.execute("insert into faults values ('r', 1, 'why')")
        raise RuntimeError
    assert store.query("from faults").empty
    with store.write() as cursor:
        cursor.execute("insert into faults values ('r', 1, 'why')")
    assert len(store.query("from faults")) == 1


@pytest.mark.parametrize("content", [b"not a database at all", b"\0" * 20_000, b"DUCK" * 5_000])
def test_a_file_that_is_no_store(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "store.duckdb"
    path.write_bytes(content)
    with pytest.raises(StoreUnusableError, match="delete it, and it is built again"):
        Store(path, LABS)
    assert path.read_bytes() == content


def test_a_store_with_a_broken_middle(tmp_path: Path) -> None:
    path = tmp_path / "store.duckdb"
    with Store(path, LABS) as store, store.write() as cursor:
        cursor.execute("insert into faults select 'r', range, md5(range::varchar) from range(50000)")
    data = bytearray(path.read_bytes())
    data[len(data) // 4 : len(data) * 3 // 4] = b"\xff" * (len(data) * 3 // 4 - len(data) // 4)
    path.write_bytes(data)
    with Store(path, LABS) as store:
        with pytest.raises(StoreUnusableError, match="delete it"):
            store.query("select max(reason) from faults")
        with pytest.raises(StoreUnusableError, match="delete it"), store.write() as cursor:
            cursor.execute("update faults set reason = upper(reason)")


def test_the_index_of_another_version_is_emptied(tmp_path: Path) -> None:
    path = tmp_path / "store.duckdb"
    with Store(path, LABS) as store, store.write() as cursor:
        cursor.execute("insert into runs (run) values ('r')")
    with Store(path, LABS) as store, store.write() as cursor:
        assert len(store.query("from runs")) == 1
        cursor.execute("update version set hash = 'another'")
    with Store(path, LABS) as store:
        assert store.query("from runs").empty


def test_a_folder_in_the_way(tmp_path: Path) -> None:
    with pytest.raises(StoreUnusableError):
        Store(tmp_path, LABS)


@pytest.mark.parametrize(
    "sql",
    [
        "delete from runs",
        "insert into faults values ('r', 1, 'why')",
        "drop table runs",
        "create table more (a int)",
        "update runs set lab = 'x'",
        "copy runs to 'runs.csv'",
        "attach 'other.duckdb'",
        "set threads = 8",
        "explain analyze set threads = 8",
        "select 1; set threads = 8",
        "set enable_external_access = true",
        "install httpfs",
        "load httpfs",
        "call force_checkpoint()",
        "with gone as (delete from runs returning *) from gone",
        "select * from read_text('/etc/hostname')",
        "from '/etc/hostname'",
        "select * from glob('/*')",
        "from read_csv('/etc/passwd')",
        "selekt",
    ],
)
def test_a_query_neither_writes_nor_leaves_the_store(store: Store, sql: str) -> None:
    with store.write() as cursor:
        cursor.execute("insert into runs (run) values ('kept')")
    with pytest.raises(QueryRefusedError):
        store.query(sql)
    if "delete" in sql:
        with pytest.raises(QueryRefusedError, match="read-only"):
            store.rows(sql)
    assert store.query("select run from runs").run.tolist() == ["kept"]


@pytest.mark.parametrize("sql", ["describe runs", "show tables", "explain from runs", "values (1)"])
def test_a_query_reads(store: Store, sql: str) -> None:
    assert len(store.query(sql))


def test_parameters(store: Store) -> None:
    assert store.query("select ? + 1 as a, ? as b", [2, "x';--"]).to_dict("records") == [{"a": 3, "b": "x';--"}]


def test_a_query_returns_all_rows(store: Store) -> None:
    assert len(store.query("from range(30000)")) == 30000
    assert list(store.query("select range as a, 'x' as b from range(0)").columns) == ["a", "b"]


def test_an_endless_query_is_stopped_and_others_go_on(store: Store) -> None:
    endless = "select count(*) from range(100000000) a, range(1000000) b where a.range % 7 = b.range % 11"
    begun = time.monotonic()
    with pytest.raises(QueryRefusedError, match=r"after 0\.3 seconds"):
        store.query(endless, seconds=0.3)
    assert time.monotonic() - begun < 5
    assert len(store.query("select 1 as one")) == 1


LARGE = "select len(list(md5(range::varchar))) as number from range(2000000)"
"""Takes at least a hundred megabytes that cannot be moved to disk."""


def test_what_needs_more_memory_than_there_may_be_is_refused_and_others_go_on(
    store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert store.query(LARGE).number.tolist() == [2_000_000]
    monkeypatch.setattr(storing, "MEMORY", "60MB")
    with Store(tmp_path / "small.duckdb", LABS) as small:
        with pytest.raises(QueryRefusedError, match="Out of Memory"):
            small.query(LARGE)
        assert len(small.query("select 1 as one")) == 1


def test_what_a_search_read_is_freed_once_nobody_reads(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(storing, "CACHE", "1MB")
    path, long = tmp_path / "large.duckdb", "select sum(length(reason)) as n from faults"
    held = "select coalesce(sum(memory_usage_bytes), 0) as n from duckdb_memory() where tag = 'BASE_TABLE'"
    with Store(path, LABS) as large, large.write() as cursor:
        cursor.execute("insert into faults select 'a', range, repeat(md5(range::varchar), 10) from range(50000)")
    with Store(path, LABS) as large:
        with large.cursor() as other:
            assert other.execute(long).fetchall() == [(16_000_000,)]
            large.shrink()
            assert other.execute(held).fetchall()[0][0] > 2_000_000, "somebody reads"
        with large.cursor() as other:
            assert other.execute(held).fetchall()[0][0] < 1_000_000
        assert large.query("select current_setting('memory_limit') as most").most.tolist() == ["1.8 GiB"]
        assert large.query(long).n.tolist() == [16_000_000]


def test_no_query_takes_more_than_two_gigabytes(store: Store) -> None:
    assert store.query("select current_setting('memory_limit') as most").most.tolist() == ["1.8 GiB"]


def test_many_threads_get_their_own_rows(store: Store) -> None:
    wrong: list[object] = []

    def read(number: int) -> None:
        for _ in range(20):
            if store.query("select ? as number", [number]).number.tolist() != [number]:
                wrong.append(number)

    def write(number: int) -> None:
        for line in range(20):
            with store.write() as cursor:
                cursor.execute("insert into faults values (?, ?, '')", [str(number), line])

    threads = [threading.Thread(target=work, args=(number,)) for number in range(4) for work in (read, write)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong
    assert store.query("select count(*) as n from faults").n.tolist() == [80]


def test_importing_the_store_is_cheap() -> None:
    script = (
        "import sys, core.store.index, core.store.run_list\n"
        "assert not {'duckdb', 'pandas', 'pyarrow'} & set(sys.modules), 'heavy'"
    )
    subprocess.run([sys.executable, "-c", script], cwd=ROOT, check=True)


def test_it_closes_while_a_query_runs(tmp_path: Path) -> None:
    """As happens when the app ends while it is still indexing."""
    store, began = Store(tmp_path / "store.duckdb", LABS), threading.Event()
    ended: list[Exception] = []

    def asks() -> None:
        began.set()
        try:
            store._connection.execute("select count(*) from range(100000000000) a(i), range(10) b(j)").fetchall()
        except duckdb.Error as error:
            ended.append(error)

    thread = threading.Thread(target=asks)
    thread.start()
    began.wait()
    # DuckDB does not say that it has begun, but it uses processor time.
    spent = time.process_time()
    until(lambda: time.process_time() > spent + 0.1)
    store.close()
    thread.join(timeout=60)
    assert not thread.is_alive() and len(ended) == 1


def test_nothing_of_deleted_rows_is_left_in_the_file_once_it_is_rewritten(tmp_path: Path) -> None:
    path = tmp_path / "store.duckdb"
    with Store(path, LABS) as store:
        with store.write() as cursor:
            cursor.execute(
                "insert into faults select run, range, concat(run, md5(range::varchar)) "
                "from range(20000), (values ('a secret'), ('a reason')) as runs(run)"
            )
        store.erase_runs(["a secret"])
        with store.cursor() as reading:
            reading.execute("from faults")
            store.rewrite()
            assert store.stale, "not while somebody reads"
            assert len(reading.fetchall()) == 20_000
    assert b"a secret" in path.read_bytes()
    with Store(path, LABS) as store:
        assert store.stale
        store.rewrite()
        assert not store.stale
        assert b"a secret" not in path.read_bytes() and not path.with_suffix(".new").exists()
        assert store.rows("select distinct run, count(*) from faults group by run") == [("a reason", 20_000)]
        store.erase_runs(["a reason"])
        assert store.stale and store.query("from faults").empty


def test_what_is_read_is_kept_until_the_next_write_and_no_longer(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    read = []
    limited = store.limited
    monkeypatch.setattr(store, "limited", lambda *seconds: read.append(1) or limited(*seconds))

    def lines() -> tuple[list[tuple[int]], list[int]]:
        return store.rows("select line from faults where run = $run", {"run": "r"}), list(
            store.query("select line from faults where run = ?", ["r"])["line"]
        )

    with store.write() as cursor:
        cursor.execute("insert into faults values ('r', 1, 'why')")
    assert lines() == lines() == ([(1,)], [1]) and len(read) == 2
    # Another value, and what somebody did to the result.
    assert store.rows("select line from faults where run = $run", {"run": "s"}) == []
    store.rows("select line from faults where run = $run", {"run": "r"}).clear()
    frame = store.query("select line from faults where run = ?", ["r"])
    frame.loc[0, "line"] = 7
    frame["run"] = "s"
    assert lines() == ([(1,)], [1]) and len(read) == 3
    with store.write() as cursor:
        cursor.execute("insert into faults values ('r', 2, 'why')")
        # Nobody else sees a write that is going on, and its result is not kept as that of the write.
        assert lines() == ([(1,)], [1])
    assert lines() == ([(1,), (2,)], [1, 2])
    store.erase_runs(["r"])
    assert lines() == ([], [])


def test_of_what_is_read_only_so_much_is_kept(store: Store) -> None:
    for number in range(storing.KEPT + 10):
        store.rows("select ?", [number])
    assert len(store._kept) == storing.KEPT
    store.rows("select unnest(range(?))", [storing.LARGEST + 1])
    store.query("select repeat('a', ?) as text", [storing.LONGEST_KEPT + 1])
    assert len(store._kept) == storing.KEPT and store.rows("select ?", [storing.KEPT + 9]) == [(storing.KEPT + 9,)]


def test_an_index_is_rewritten_with_little_memory_or_if_that_is_not_enough_with_more(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tried: list[str] = []
    copy = Store._copy
    monkeypatch.setattr(Store, "_copy", lambda store, fresh, memory: tried.append(memory) or copy(store, fresh, memory))
    with Store(tmp_path / "store.duckdb", LABS) as store:
        with store.write() as cursor:
            cursor.execute("insert into faults select repeat('a', 20) || range, range, '' from range(200000)")
        for memory, expected in (("200MB", ["200MB"]), ("12MB", ["12MB", storing.MEMORY])):
            monkeypatch.setattr(storing, "SMALL", memory)
            tried.clear()
            store.rewrite()
            assert (tried, count(store, "faults")) == (expected, 200_000)
            limit = "select current_setting('memory_limit'), current_setting('checkpoint_threshold')"
            assert store.rows(limit) == [("1.8 GiB", "16.0 MiB")], "as before"
