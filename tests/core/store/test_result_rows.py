"""The three kinds of rows of the table `items`, each by itself, made from tables that are written here."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from duckdb import DuckDBPyConnection

from core.store.event_rows import CASE_ROWS, RUNS, TRIAL_ROWS
from core.store.store import Store

ROWS = {
    "runs": [
        {"run": "r", "lab": "ask", "at": "2026-01-01", "model": "m", "about": ""},
        {"run": "empty", "lab": "ask", "title": "Broke off", "error": "Timeout", "about": ""},
        {"run": "r~ann", "lab": "ask", "about": "r"},
        {"run": "other", "lab": "ask", "about": ""},
    ],
    "trials": [
        {
            **{"run": "r", "case": "a", "trial": "1", "about": "Can owls fly?", "expected_repaired": "yes"},
            **{"observed_repaired": "no", "observed_paper": "yes", "outcome_repaired": "misled", "doubt_repaired": "?"},
            **{"outcome_paper": "as expected", "counts_repaired": True, "reason_repaired": "passed over"},
        },
        {"run": "r", "case": "a", "trial": "2", "counts_repaired": False, "reason_repaired": "unread"},
    ],
    "calls": [
        {"run": "r", "call": "1", "case": "a", "trial": "2", "error": "Timeout"},
        {"run": "r", "call": "2", "case": "a", "trial": "2", "error": "Refused"},
        {"run": "r", "call": "3", "case": "a", "trial": "1"},
    ],
    "drops": [
        {"run": "r", "case": "a", "item": "y", "trial": "2", "reason": "late", "rules": "repaired", "at": "2026-01-01"},
        {"run": "r", "case": "a", "item": "x", "trial": "1", "reason": "first", "rules": "", "at": "2026-01-03"},
        {"run": "r", "case": "a", "item": "z", "trial": "1", "reason": "paper's", "rules": "paper", "at": "2026-01-01"},
    ],
}


@pytest.fixture
def rows(tmp_path: Path) -> Iterator[Any]:
    """A function that returns the rows which one of the queries makes of the runs `r`, `empty` and `r~ann`, given
    `item`, a row of the lab of the cases `a` and `b`; as dicts without null values.
    """
    with Store(tmp_path / "store.duckdb", {}) as store, store.cursor() as cursor:
        for table, kept in ROWS.items():
            for row in kept:  # type: ignore[attr-defined]
                columns = ", ".join(f'"{name}"' for name in row)
                marks = ", ".join("?" * len(row))
                cursor.execute(f"insert into {table} ({columns}) values ({marks})", list(row.values()))

        def made(sql: str, item: str) -> list[dict[str, Any]]:
            cursor.execute(
                """
                create or replace temp table begun as
                select 'r' as run, unnest(['a', 'b']) as "case", 'ask' as lab, unnest([1, 2]) as number,
                       'kept' as outcome_repaired, 'kept' as outcome_paper, ? as item, '1' as principal
                """,
                [item],
            )
            return found(cursor, f'{sql} order by "case", trial', ["r", "empty", "r~ann"])

        yield made


def found(cursor: DuckDBPyConnection, sql: str, runs: list[str]) -> list[dict[str, Any]]:
    cursor.execute(f"from ({sql})", {"runs": runs})
    names = [column[0] for column in cursor.description or ()]
    return [
        {name: value for name, value in zip(names, values, strict=True) if value not in (None, "")}
        for values in cursor.fetchall()
    ]


def test_a_trial_has_its_readings_why_it_does_not_count_and_what_failed(rows: Any) -> None:
    about = {"run": "r", "case": "a", "lab": "ask", "number": 1}
    assert rows(TRIAL_ROWS, "trial") == [
        {
            **about,
            **{"trial": "1", "about": "Can owls fly?", "expected": "yes", "observed": "no", "observed_paper": "yes"},
            **{"outcome": "misled", "outcome_paper": "as expected", "differ": True, "doubt": "?"},
            **{"counts": True, "counts_paper": False},
        },
        {
            **about,
            **{"trial": "2", "differ": False, "counts": False, "counts_paper": False, "reason": "unread"},
            "error": "Refused",
        },
    ]
    assert rows(TRIAL_ROWS, "case") == []


def test_a_case_has_the_trial_that_stands_for_it_and_what_failed_and_was_set_aside_in_it(rows: Any) -> None:
    alike = {"run": "r", "lab": "ask", "outcome": "kept", "outcome_paper": "kept", "differ": False}
    alike |= {"counts": True, "counts_paper": True}
    first, second = rows(CASE_ROWS, "case")
    assert first == {
        **alike,
        **{"case": "a", "number": 1, "about": "Can owls fly?", "expected": "yes", "observed": "no"},
        **{"observed_paper": "yes", "doubt": "?", "reason": "first", "error": "Refused"},
    }
    assert second == {**alike, "case": "b", "number": 2}
    assert rows(CASE_ROWS, "trial") == [second], "where a row is a trial, a case without one has a row all the same"


def test_a_run_that_came_to_no_case_has_a_row(rows: Any) -> None:
    assert rows(RUNS, "case") == [
        {"run": "empty", "lab": "ask", "number": 0, "title": "Broke off", "error": "Timeout", "differ": False}
        | {"at": rows(RUNS, "case")[0]["at"]}
    ]
