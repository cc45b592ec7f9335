"""The rows for lists of results, made from the other tables: for each lab a row is a case or a trial, as the lab
declares; for a run without any case, the run. So nothing that was run is missing from the list.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pydantic import ValidationError

from ..labs.base.declared import FACETS
from ..labs.base.lab import Lab
from ..runs.guesses import Played
from ..runs.labels import JudgedCase, Kept, Label, Sealing
from ..transcript import name_of

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

SAID: dict[str, type[Label | Kept | Sealing]] = {name_of(kind): kind for kind in (Label, Kept, Sealing)}
PLAYED = name_of(Played)
OWN, JUDGE = "own", "judge"
"""The kinds of labels of a person's own scheme: by a person, and by a judge model."""


def _sql(name: str) -> str:
    return (Path(__file__).parent / "rows" / f"{name}.sql").read_text(encoding="utf-8")


BEGUN = _sql("begun")
"""The cases of the runs, with what `_facets` says about each."""

TRIALS = _sql("trials")
"""The rows of labs whose row is a trial."""

CASES = _sql("cases")
"""The rows of labs whose row is a case, with the trial that represents it; and of cases without any trial."""

RUNS = f"""
    select run, '' as "case", '' as trial, coalesce(lab, '') as lab, 0 as number,
           coalesce("at", timestamp '1970-01-01') as "at", coalesce(title, '') as title, coalesce(model, '') as model,
           '' as about, '' as outcome, '' as outcome_paper, false as differ, '' as doubt, '' as reason,
           coalesce(error, '') as error, {", ".join(f"'' as {name}" for name in FACETS)}
    from runs where run = any($runs) and about = '' and run not in (select run from begun)
"""  # noqa: S608  our own names
"""The rows of runs without any case."""


def refresh(cursor: DuckDBPyConnection, labs: Mapping[str, Lab], runs: Sequence[str]) -> None:
    """Replace the derived rows of `runs` from the tables that the journals fill, within the transaction of `cursor`."""
    for table in ("items", "roles", "labels"):
        cursor.execute(f"delete from {table} where run = any(?)", [list(runs)])  # noqa: S608  our own names
    cursor.execute(
        """
        insert into roles select distinct run, role, model from calls
        where run = any(?) and role is not null and model is not null
        """,
        [list(runs)],
    )
    _labels(cursor, labs, runs)
    cursor.register("facets", _facets(cursor, labs, runs))
    cursor.execute(f"create or replace temp table begun as {BEGUN}", {"runs": list(runs)})
    cursor.unregister("facets")
    for rows in (TRIALS, CASES, RUNS):
        cursor.execute(f"insert into items by name {rows}", {"runs": list(runs)})
    cursor.execute("drop table begun")


def _labels(cursor: DuckDBPyConnection, labs: Mapping[str, Lab], runs: Sequence[str]) -> None:
    """Insert what people say in the journals `runs`, one row for each word."""
    found = cursor.execute(
        """
        select run, about, lab, "case", item, trial, "by", record, data, records."at" from records join runs using (run)
        where run = any(?) and record = any(?) and about <> ''
        """,
        [list(runs), [*SAID, PLAYED]],
    ).fetchall()
    rows = []
    for run, about, name, case, item, trial, who, record, data, at in found:
        try:
            if record == PLAYED:
                played = Played.model_validate_json(data)
                # The guess is about the run of its trial; the journal is about a pack.
                row = trial if name in labs and labs[name].listing.row_unit == "trial" else ""
                rows.append((run, played.run, case, row, who, PLAYED, played.pack, at))
                continue
            said = list(_words(SAID[record].model_validate_json(data)))
        except ValidationError:
            continue
        rows += [(run, about, case, item, who, kind, value, at) for kind, value in said]
    if any(JudgedCase in lab.records for lab in labs.values()):
        judged = cursor.execute(
            f"""
            select run, target, target_case, '', run, '{JUDGE}', scheme || ': ' || label, "at" from judged_case
            where run = any(?) and label <> '' and not is_test
            """,  # noqa: S608  our own names
            [list(runs)],
        )
        rows += judged.fetchall()
    if rows:
        cursor.executemany("insert into labels values (?, ?, ?, ?, ?, ?, ?, ?)", rows)


def _words(said: Label | Kept | Sealing) -> Iterator[tuple[str, str]]:
    if isinstance(said, Kept):
        words = [("title", said.title), ("hidden", "yes" if said.hidden else "")]
    elif isinstance(said, Sealing):
        words = [("sealed", "yes" if said.sealed else "")]
    else:
        words = [("verdict", f"{name}: {word}") for name, word in said.verdicts.items()]
        words += [("should", f"{name}: {word}") for name, word in said.should.items()]
        words += [*(("tag", tag) for tag in said.tags), ("note", said.note)]
        words += [(OWN, f"{scheme}: {label}") for scheme, labels in said.own.items() for label in labels]
    return ((kind, value) for kind, value in words if value)


def _facets(cursor: DuckDBPyConnection, labs: Mapping[str, Lab], runs: Sequence[str]) -> Any:
    """What the labs say about the cases, one row each, and whether their lab's row is a case or a trial."""
    import pyarrow as pa

    found = cursor.execute(
        'select run, "case", cases.lab, spec from cases join runs using (run) where run = any(?)', [list(runs)]
    ).fetchall()
    specs: dict[str, dict[str, Any]] = {}
    rows: list[dict[str, str]] = []
    for run, case, name, spec in found:
        lab = labs.get(name)
        if run not in specs:
            specs[run] = json.loads(spec or "{}")
        said = lab.facets(specs[run], case) if lab else {}
        unit = (
            {"item": lab.listing.row_unit, "principal": lab.listing.main_trial}
            if lab
            else {"item": "case", "principal": ""}
        )
        rows.append({"run": run, "case": case, **unit, **{facet: said.get(facet, "") for facet in FACETS}})
    return pa.Table.from_pylist(
        rows, pa.schema([(n, pa.string()) for n in ("run", "case", "item", "principal", *FACETS)])
    )
