"""The columns are a contract: to change one, change this table too."""

from collections.abc import Iterator, Mapping
from datetime import date, datetime
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any, Literal

import duckdb
import pytest
from pydantic import Field
from store_events import LABS, WALK, LongWalk, at, walking, write

from core import entry
from core.events import Frozen, Recorded, Started
from core.labs.ask.lab import LAB as ASK
from core.labs.base.lab import Lab
from core.rulesets import columns_of
from core.store import schema
from core.store.index import index
from core.store.store import Store
from core.transcript import name_of

COLUMNS = {
    "version": "hash stale",
    "runs": "run lab status at last_at finished_at seconds seed spec versions prompts app commit about reread_from "
    "predicted_from title model cases answered failed error message hint journal bytes lines modified head owner "
    "shared recording study forked_from",
    "cases": "run case lab number of title model explanation outcome_paper outcome_repaired verdict trials counted "
    "status at ended_at",
    "trials": "run case trial about expected_paper observed_paper outcome_paper counts_paper reason_paper "
    "expected_repaired observed_repaired outcome_repaired counts_repaired reason_repaired calls at "
    "doubt_repaired",
    "calls": "run call case item trial role model prompt messages sampling repeat tools tool_calls text seconds "
    "first_token_seconds cached prompt_tokens completion_tokens finish_reason error message hint at "
    "ended thinking thinking_tokens sent served_model served_fingerprint",
    "scores": "run case metric rules item value n of low high detail at",
    "drops": "run case trial item reason rules detail at",
    "extra_columns": "run case name value",
    "records": "run record case item trial by data at",
    "faults": "run line reason",
    "items": "run case trial lab number at title about expected observed model outcome outcome_paper differ reason "
    "error how task dataset category difficulty wording counts counts_paper observed_paper doubt",
    "roles": "run role model",
    "labels": "run about case trial who kind value at",
    "vectors": "encoder digest vector",
    "kinds": "clustering run case trial kind title model at",
    "explanation": "run case item trial by call task method question context response_1 response_2 answer_paper "
    "answer_repaired explanation_paper explanation_repaired gold extra at",
    "counterfactual": "run case item trial by call generator operation text context response_1 response_2 origin "
    "paper repaired foretold extra at",
    "simulation": "run case item trial by simulator calls votes votes_paper paper repaired made_up without extra at",
    "answer": "run case item trial by call paper repaired explanation extra at",
    "examined": "run case item trial by simulator right right_paper of passed extra at",
    "arm_simulation": "run case item trial by simulator calls votes votes_paper paper repaired made_up "
    "without arm extra at",
    "further_simulation": "run case item trial by simulator calls votes votes_paper paper repaired made_up "
    "without extra at",
    "other_explanation": "run case item trial by call task method question context response_1 response_2 answer_paper "
    "answer_repaired explanation_paper explanation_repaired gold extra at",
    "long_walk": "run case item trial by place note pace steps hours raining begun companions mood extra at",
}
KEYS = {
    "version": "",
    "runs": "run",
    "cases": "run case",
    "trials": "run case trial",
    "calls": "run call",
    "scores": "run case metric rules item",
    "drops": "run case item reason rules",
    "extra_columns": "run case name",
    "records": "run record case item by",
    "faults": "run line",
    "items": "",
    "roles": "",
    "labels": "",
    "vectors": "encoder digest",
    "kinds": "",
    **dict.fromkeys(
        (
            "explanation",
            "other_explanation",
            "counterfactual",
            "simulation",
            "arm_simulation",
            "further_simulation",
            "examined",
            "answer",
            "long_walk",
        ),
        "run case item by",
    ),
}


@pytest.fixture
def connection() -> Iterator[duckdb.DuckDBPyConnection]:
    connection = duckdb.connect()
    schema.create(connection, schema.wanted_tables(LABS))
    yield connection
    connection.close()


def test_columns_and_keys(connection: duckdb.DuckDBPyConnection) -> None:
    tables = schema.tables(connection)
    assert {name: " ".join(table.columns) for name, table in tables.items()} == COLUMNS
    assert {name: " ".join(table.key) for name, table in tables.items()} == KEYS
    assert connection.execute("select count(*) from duckdb_indexes()").fetchone() == (0,)


def test_a_column_takes_what_its_field_takes(connection: duckdb.DuckDBPyConnection) -> None:
    columns = schema.tables(connection)["long_walk"].columns
    assert {name: columns[name] for name in LongWalk.model_fields if name not in ("case", "Place")} == {
        "place": "VARCHAR",
        "note": "VARCHAR",
        "pace": "VARCHAR",
        "steps": "BIGINT",
        "hours": "DOUBLE",
        "raining": "BOOLEAN",
        "begun": "TIMESTAMP",
        "companions": "JSON",
        "mood": "JSON",
    }


class Colour(StrEnum):
    RED = "red"


@pytest.mark.parametrize(
    ("annotation", "kind"),
    [
        (str, "VARCHAR"),
        (Colour, "VARCHAR"),
        (Literal["a", None], "VARCHAR"),
        (Literal[1, 2], "BIGINT"),
        (Literal["a", 1], "JSON"),
        (bool, "BOOLEAN"),
        (int | None, "BIGINT"),
        (float | None, "DOUBLE"),
        (bool | int, "JSON"),
        (datetime | None, "TIMESTAMP"),
        (date, "JSON"),
        (dict[str, int], "JSON"),
        (list[str] | None, "JSON"),
        (LongWalk, "JSON"),
        (None, "JSON"),
        (Any, "JSON"),
    ],
)
def test_types_of_columns(annotation: Any, kind: str) -> None:
    assert schema.sql_type(annotation) == kind


def test_a_field_with_bounds() -> None:
    class Bounded(Frozen):
        share: Annotated[float, Field(ge=0)] | None = None
        count: int = Field(0, ge=0)

    columns = schema.wanted_tables({"walking": walking(Bounded)})["bounded"].columns
    assert (columns["share"], columns["count"]) == ("DOUBLE", "BIGINT")


@pytest.mark.parametrize("record", [*ASK.records, *WALK.records])
def test_every_field_that_a_lab_records_has_a_column_or_is_kept_beside(record: type[Frozen]) -> None:
    columns = COLUMNS[schema.record_tables(LABS)[name_of(record)]].split()
    assert {name for name in columns_of(record) if name not in columns} <= {"Place"}
    assert {"run", "case", "item", "trial", "by", "extra", "at"} <= set(columns)


def test_names_of_tables() -> None:
    names = ("Answer", "SelfExplanation", "UnitTest", "NMSEOfFit", "Top5Words")
    made = [schema.table_of(type(name, (Frozen,), {})) for name in names]
    assert made == ["answer", "self_explanation", "unit_test", "nmse_of_fit", "top5_words"]


def test_a_record_cannot_take_a_table_that_every_lab_has(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="cannot be called trials"):
        Store(tmp_path / "store.duckdb", {"walking": walking(type("Trials", (Frozen,), {}))})


class Answer(Frozen):
    """A record of another lab than Ask whose record has the same name."""

    steps: int


class ARMSimulation(Frozen):
    """Has a different name in SQL from Ask's ArmSimulation, but the same in a journal."""


@pytest.mark.parametrize("record", [Answer, ARMSimulation])
def test_two_labs_whose_records_have_one_name_are_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, record: type[Frozen]
) -> None:
    said = f"record {record.__name__} of the lab Walk would share the name {name_of(record)} with one of the lab Ask"
    with pytest.raises(ValueError, match=said):
        Store(tmp_path / "store.duckdb", {ASK.name: ASK, "walking": walking(record)})
    monkeypatch.setattr(entry, "LABS", (*entry.LABS, walking(record)))
    entry.labs.cache_clear()
    with pytest.raises(ValueError, match=said):
        entry.labs()


def test_labs_that_record_the_same_type_share_its_table() -> None:
    other = WALK.with_changes(name="running")
    assert schema.record_tables({"walking": WALK, "running": other}) == {"longwalk": "long_walk"}


def test_making_the_tables_twice_changes_nothing(connection: duckdb.DuckDBPyConnection) -> None:
    before = connection.execute("from version").fetchall()
    connection.execute("insert into runs (run, head, modified) values ('r', 'h', 1)")
    schema.create(connection, schema.wanted_tables(LABS))
    assert connection.execute("from version").fetchall() == before
    assert connection.execute("select head, modified from runs").fetchall() == [("h", 1)]


def test_tables_that_cannot_be_made_leave_those_that_are_there(
    connection: duckdb.DuckDBPyConnection, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = schema.tables(connection)
    monkeypatch.setattr(schema, "TABLES", f"{schema.TABLES} create table runs (a int)")
    with pytest.raises(duckdb.Error):
        schema.create(connection, schema.wanted_tables(LABS))
    connection.execute("rollback")
    assert schema.tables(connection) == before


# Record types that change


def reopened(path: Path, labs: Mapping[str, Lab], journals: Path) -> tuple[list[str], dict[str, Any]]:
    """The runs that an update indexes, and the row of the only walk afterwards."""
    with Store(path, labs) as store:
        changed = index(store, journals)
        frame = store.query("from long_walk").astype(object)
        [walk] = frame.where(frame.notna(), None).to_dict("records")
        return changed, walk


def test_a_record_type_that_gains_or_changes_a_field_has_all_journals_read_again(tmp_path: Path) -> None:
    journals, path = tmp_path / "journals", tmp_path / "store.duckdb"
    start = Started(run="w", at=at(0), lab="walking", spec={}, seed=0)
    data = {"place": "moor", "steps": 7}
    write(journals, "w", [start, Recorded(run="w", at=at(1), record="longwalk", item="i", data=data)])
    other = Started(run="a", at=at(0), lab="other", spec={}, seed=0)
    write(journals, "a", [other])

    def walk(**fields: Any) -> dict[str, Lab]:
        record = type("LongWalk", (Frozen,), {"__annotations__": dict(fields.items())})
        return {"walking": walking(record)}

    with Store(path, {}) as store:
        index(store, journals)
        assert store.query("select record from records").record.tolist() == ["longwalk"]
    changed, row = reopened(path, walk(place=str), journals)
    assert (changed, row["place"], row["extra"]) == (["a", "w"], "moor", '{"steps":7}')
    assert reopened(path, walk(place=str), journals)[0] == []
    changed, row = reopened(path, walk(place=str, steps=int), journals)
    assert (changed, row["place"], row["steps"], row["extra"]) == (["a", "w"], "moor", 7, None)
    changed, row = reopened(path, walk(place=str, steps=str), journals)
    assert (changed, row["steps"], row["extra"]) == (["a", "w"], None, '{"steps":7}')
    with Store(path, {}) as store:
        assert index(store, journals) == ["a", "w"], "a lab that is gone"
