"""The columns are a contract: whoever changes one has to change this table too."""

from __future__ import annotations

from types import ModuleType

import duckdb
import pytest

from core.events import Frozen
from core.labs.consistency import records as check_records
from core.labs.find import records as probe_records
from core.labs.simulatability import records as ask_records
from core.store import schema

COLUMNS = {
    "migrations": "number applied",
    "runs": "run lab status at last_at finished_at seconds seed spec versions prompts title model answered failed "
    "error message hint journal bytes lines modified head",
    "calls": "run call item role model prompt messages sampling repeat text seconds first_token_seconds cached "
    "prompt_tokens completion_tokens finish_reason error message hint at tools tool_calls",
    "scores": "run metric rules item value n of low high detail at",
    "drops": "run item reason rules detail at",
    "records": "run record item data at",
    "faults": "run line reason",
    "explanations": "run item call task method question context response_1 response_2 answer_paper answer_repaired "
    "explanation_paper explanation_repaired gold extra at",
    "counterfactuals": "run item call generator operation text context response_1 response_2 origin paper "
    "repaired extra at",
    "simulations": "run item simulator calls votes paper repaired extra at",
    "answers": "run item call paper repaired explanation extra at",
    "paragraphs": "run item task text question choices hypothesis label reference_edit extra at",
    "classifications": "run item call persona paper repaired correct_paper correct_repaired extra at",
    "abilities": "run item call persona paper repaired extra at",
    "self_explanations": "run item call words_paper words_repaired edited_paper edited_repaired wanted basis extra at",
    "rechecks": "run item call_paper call_repaired paper repaired extra at",
    "mask_controls": "run item texts calls paper repaired all_text all_call all_paper all_repaired extra at",
    "checks": "run item paragraph explanation wording label before_paper before_repaired after_paper after_repaired "
    "faithful_paper faithful_repaired reason_paper reason_repaired control_paper control_repaired distance kept masked "
    "over_redacted extra at",
    "probes": "run item number round input output value problem how extra at",
    "exchanges": "run item round call inputs told trouble invented extra at tools",
    "interpretations": "run item interpreter call description_paper description_repaired domain_paper "
    "domain_repaired code_paper code_repaired told_paper told_repaired extra at",
    "estimates": "run item paper repaired trouble_paper trouble_repaired extra at",
    "predictions": "run item kind input truth paper repaired error extra at",
    "unit_tests": "run item about evaluator call options correct picked paper repaired extra at",
    "audits": "run item supported contradicted unseen invented_rounds coverage longest_gap in_corruption claimed "
    "extra at",
    "truths": "run item id category kind description parameters note noise corrupted x y extra at",
}
KEYS = {
    "migrations": "number",
    "runs": "run",
    "calls": "run call",
    "scores": "run metric rules item",
    "drops": "run item reason rules",
    "records": "run record item",
    "faults": "run line",
    "explanations": "run item",
    "counterfactuals": "run item",
    "simulations": "run item simulator",
    "answers": "run item",
    "paragraphs": "run item",
    "classifications": "run item",
    "abilities": "run item",
    "self_explanations": "run item",
    "rechecks": "run item",
    "mask_controls": "run item",
    "checks": "run item",
    **dict.fromkeys(
        ("probes", "exchanges", "interpretations", "estimates", "predictions", "unit_tests", "audits", "truths"),
        "run item",
    ),
}


def test_columns_and_keys_after_all_migrations() -> None:
    connection = duckdb.connect()
    schema.migrate(connection)
    found = schema.tables(connection)
    assert {name: " ".join(table.columns) for name, table in found.items()} == COLUMNS
    assert {name: " ".join(table.key) for name, table in found.items()} == KEYS
    assert connection.execute("select count(*) from duckdb_indexes()").fetchone() == (0,)


def recorded_by(module: ModuleType) -> list[type[Frozen]]:
    return [one for one in vars(module).values() if isinstance(one, type) and one.__module__ == module.__name__]


@pytest.mark.parametrize("record", [*recorded_by(ask_records), *recorded_by(check_records)])
def test_every_field_that_a_lab_records_has_a_column(record: type[Frozen]) -> None:
    table = schema.TABLE_OF_RECORD[record.__name__.lower()]
    assert set(record.model_fields) <= set(COLUMNS[table].split())


@pytest.mark.parametrize(
    "record",
    [
        probe_records.Probe,
        probe_records.Exchange,
        probe_records.Interpretation,
        probe_records.Estimate,
        probe_records.Prediction,
        probe_records.UnitTest,
        probe_records.Audit,
        probe_records.Truth,
    ],
)
def test_every_field_that_the_probe_lab_records_has_a_column(record: type[Frozen]) -> None:
    table = schema.TABLE_OF_RECORD[record.__name__.lower()]
    assert set(record.model_fields) <= set(COLUMNS[table].split())


def test_every_record_has_a_table_with_room_for_unknown_fields() -> None:
    for table in schema.TABLE_OF_RECORD.values():
        assert {"run", "item", "extra", "at"} <= set(COLUMNS[table].split())


def test_migrating_twice_changes_nothing() -> None:
    connection = duckdb.connect()
    schema.migrate(connection)
    before = connection.execute("select * from migrations").fetchall()
    schema.migrate(connection)
    assert connection.execute("select * from migrations").fetchall() == before
    assert [number for number, _ in before] == list(range(1, len(schema.MIGRATIONS) + 1))


def test_a_broken_migration_leaves_the_tables_as_they_were(monkeypatch: pytest.MonkeyPatch) -> None:
    connection = duckdb.connect()
    schema.migrate(connection)
    monkeypatch.setattr(
        schema, "MIGRATIONS", [*schema.MIGRATIONS, "create table more (a int); create table runs (a int)"]
    )
    with pytest.raises(duckdb.Error):
        schema.migrate(connection)
    connection.execute("rollback")
    assert "more" not in schema.tables(connection)
