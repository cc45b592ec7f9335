"""Whatever SQL somebody writes is refused or harmless, and the app goes on."""

import os
import time
from collections.abc import Iterator
from pathlib import Path

import duckdb
import pyarrow as pa
import pytest

from core import entry, home
from core.store import query_process, sql
from core.store.index import index
from core.store.query_process import QueryRequest
from core.store.run_list import SEEN
from core.store.store import QueryRefusedError, Store
from tests.support import shipped

SECRET = "sk-of-a-file-0123456789"

READS = [
    "select * from read_text('{secret}')",
    "select * from read_csv('{secret}')",
    "select * from read_csv_auto('{secret}')",
    "select * from read_json('{secret}')",
    "select * from read_ndjson_objects('{secret}')",
    "select * from read_blob('{secret}')",
    "select * from read_parquet('{folder}/x.parquet')",
    "select * from parquet_metadata('{folder}/x.parquet')",
    "select * from sniff_csv('{secret}')",
    "select * from '{secret}'",
    'select * from "{secret}"',
    "select * from glob('{folder}/*')",
    "select * from query('select * from read_text(''{secret}'')')",
    "select * from query_table('{secret}')",
    "select * from read_text(['{secret}', '/etc/passwd'])",
    "SELECT * FROM ReAd_TeXt/**/('{secret}')",
    "select * from read_text('\u200b{secret}')",
    "with a as materialized (select * from read_text('{secret}')) select * from a",
    "select (select content from read_text('{secret}'))",
    "explain analyze select * from read_text('{secret}')",
    "describe select * from '{secret}'",
    "summarize select * from read_csv('{secret}')",
    "select * from read_text('http://127.0.0.1:{port}/x')",
    "select * from read_parquet('s3://bucket/x.parquet')",
    "select getenv('HOME')",
    "select current_setting('secret_directory')",
    "select * from duckdb_secrets()",
    "select * from duckdb_extensions()",
    "select * from duckdb_logs",
    "select * from duckdb_databases()",
    "select * from duckdb_settings()",
    "select * from pg_catalog.pg_database",
    "select * from information_schema.schemata",
    "select path from pragma_database_list",
    "select * from asked",
    "select * from connection",
    "select * from json_execute_serialized_sql(json_serialize_sql('select 1'))",
]
WRITES = [
    "insert into runs (run) values ('x')",
    "update runs set model = 'x'",
    "delete from runs",
    "explain analyze delete from runs",
    "drop table runs",
    "truncate runs",
    "create table t (a int)",
    "create temp table t (a int)",
    "create macro m() as 1",
    "create or replace view runs as select 1",
    "create secret s (type s3, key_id 'x', secret 'y')",
    "create function f() as 1",
    "alter table runs add column x int",
    "attach '{secret}' as other",
    "attach ':memory:' as other",
    "detach store",
    "use memory",
    "copy runs to '{folder}/out.csv'",
    "copy (select 1) to '{folder}/out.parquet'",
    "copy runs from '{secret}'",
    "export database '{folder}/out'",
    "import database '{folder}'",
    "install httpfs",
    "load httpfs",
    "load '{secret}'",
    "pragma database_list",
    "pragma enable_profiling",
    "set enable_external_access = true",
    "set memory_limit = '100GB'",
    "set lock_configuration = false",
    "reset enable_external_access",
    "set variable x = 1",
    "call pragma_version()",
    "call force_checkpoint()",
    "checkpoint",
    "vacuum",
    "begin transaction",
    "commit",
    "prepare p as delete from runs",
    "execute p",
    "select 1; delete from runs",
    "select 1; select 2",
    "/* */ ; delete from runs --",
    "select 1) ; delete from runs; --",
    "delete from runs returning *",
    "with d as (delete from runs returning *) select * from d",
    "merge into runs using (select 1) s on true when matched then delete",
    "pivot runs on lab using count(*)",
    "",
    ";",
    "--",
    "sel\u0435ct 1",
    "select '\ud800'",
]
BOMBS = [
    "select repeat('x', 3000000000)",
    "select range(1000000000)",
    "select count(*) from range(1000000000000) a, range(1000000000000) b",
    "with recursive t(n) as (select 1 union all select n + 1 from t) select max(n) from t",
    "select list(x) from range(1000000000000) t(x)",
    "select lpad('x', 2000000000, 'y') || lpad('x', 2000000000, 'z')",
    f"select {'(' * 5000}1{')' * 5000}",
    "select " + " + ".join(["1"] * 20_000),
]


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Store]:
    folder = tmp_path_factory.mktemp("store")
    with Store(folder / "store.duckdb", entry.labs()) as store:
        index(store, home.recordings(), recordings=True)
        yield store


@pytest.fixture
def limits(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("EXPLAIN_QUERY_SECONDS", "1")
    monkeypatch.setenv("EXPLAIN_QUERY_MB", "100")


def files(folder: Path) -> set[Path]:
    return {path for path in folder.rglob("*") if path.suffix != ".wal"}


@pytest.mark.parametrize("viewer", [None, "somebody"])
def test_what_reads_elsewhere_or_writes_is_refused_or_harmless(
    viewer: str | None, store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    secret = tmp_path / "secret.txt"
    secret.write_text(SECRET)
    copy = sql.copied(store)
    monkeypatch.chdir(tmp_path)
    there, before = files(tmp_path) | files(copy.parent), copy.read_bytes()
    assert len(READS) + len(WRITES) >= 50
    asked = QueryRequest(str(copy.parent), copy.name, "", 100, 1, 100, 5, viewer, SEEN)
    connection = query_process._connected(asked)
    for attack in (*READS, *WRITES):
        said = attack.replace("{secret}", str(secret)).replace("{folder}", str(tmp_path)).replace("{port}", "9")
        try:
            found = str(query_process._table(connection.cursor(), asked._replace(sql=said)).to_pylist())
        except (duckdb.Error, ValueError, pa.ArrowException) as error:
            found = str(error)
        else:
            assert attack in READS, attack
        assert SECRET not in found, attack
        # Only the person who runs the app may see paths.
        assert viewer is None or str(copy.parent) not in found, attack
    connection.close()
    assert files(tmp_path) | files(copy.parent) == there and copy.read_bytes() == before


@pytest.mark.usefixtures("limits")
def test_what_takes_all_there_is_ends_in_time_and_the_app_lives_on(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    for bomb in BOMBS:
        began = time.monotonic()
        try:
            found = sql.ask(store, bomb)
        except QueryRefusedError as refused:
            assert len(str(refused)) < 1_000 + len(bomb), bomb[:50]
        else:
            assert found.table.num_rows <= 1 and bomb in BOMBS[-2:], bomb[:50]
        assert time.monotonic() - began < 20, bomb[:50]
    # On a busy machine the process that answers takes more than a second to start.
    monkeypatch.setenv("EXPLAIN_QUERY_SECONDS", "60")
    assert next(sql.ask(store, "select count(*) as n from runs").rows()) == {"n": len(shipped.journals())}
    with pytest.raises(QueryRefusedError, match="longer than"):
        sql.ask(store, "x" * (sql.LONGEST + 1))
    assert os.getpid() and len(store.query("select run from runs")) == len(shipped.journals())


@pytest.mark.usefixtures("limits")
def test_a_refusal_says_which_limit_it_was(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(QueryRefusedError, match=r"^Stopped after 1 seconds \(EXPLAIN_QUERY_SECONDS\)"):
        sql.ask(store, "select count(*) from range(1000000000000)")
    # On a busy machine the memory is taken only after a while.
    monkeypatch.setenv("EXPLAIN_QUERY_SECONDS", "60")
    with pytest.raises(QueryRefusedError, match=r"more memory than it may use \(100 MB, EXPLAIN_QUERY_MB\)"):
        sql.ask(store, "select repeat('x', 3000000000)")
