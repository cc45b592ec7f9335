"""What a list of results has a row for, made from the other tables: of each lab a case or a trial, as it declares; of a
run that came to no case, the run. So nothing that was run is missing from the list.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from pydantic import ValidationError

from core.lab.lab import Lab
from core.lab.shown import FACETS
from core.people.labels import Kept, Label, Sealing
from core.people.played import Played
from core.transcript import name_of

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

SAID: dict[str, type[Label | Kept | Sealing]] = {name_of(kind): kind for kind in (Label, Kept, Sealing)}
PLAYED = name_of(Played)

BEGUN = """
    select run, "case", cases.lab, coalesce(number, 0) as number, coalesce(runs."at", timestamp '1970-01-01') as "at",
           coalesce(cases.title, '') as title, coalesce(cases.model, runs.model, '') as model,
           cases.outcome_repaired, cases.outcome_paper, facets.* exclude (run, "case")
    from cases join runs using (run) join facets using (run, "case") where run = any($runs)
"""
"""The cases of the runs, with what `_facets` says of each."""

TRIALS = """
    with failing as (
        select run, "case", trial, min(error) as error from calls where run = any($runs) and error is not null
        group by all
    )
    select begun.* exclude (item, principal, outcome_repaired, outcome_paper), trial, coalesce(about, '') as about,
           expected_repaired as expected, observed_repaired as observed, observed_paper,
           coalesce(trials.outcome_repaired, '') as outcome, trials.outcome_paper,
           trials.outcome_repaired is distinct from trials.outcome_paper as differ,
           coalesce(counts_repaired, false) as counts, coalesce(counts_paper, false) as counts_paper,
           coalesce(doubt_repaired, '') as doubt,
           if(counts_repaired, '', coalesce(reason_repaired, '')) as reason, coalesce(error, '') as error
    from begun join trials using (run, "case") left join failing using (run, "case", trial)
    where item = 'trial'
"""
"""The rows of labs whose row is a trial."""

CASES = """
    with failing as (
        select run, "case", min(error) as error from calls where run = any($runs) and error is not null group by all
    ), aside as (
        select run, "case", arg_min(reason, (coalesce(trial, ''), "at")) as reason from drops
        where run = any($runs) and rules in ('', 'repaired') group by all
    )
    select begun.* exclude (item, principal, outcome_repaired, outcome_paper), '' as trial,
           coalesce(about, '') as about,
           expected_repaired as expected, observed_repaired as observed, observed_paper,
           coalesce(begun.outcome_repaired, '') as outcome, begun.outcome_paper,
           begun.outcome_repaired is distinct from begun.outcome_paper as differ,
           true as counts, true as counts_paper, coalesce(doubt_repaired, '') as doubt,
           coalesce(reason, '') as reason, coalesce(error, '') as error
    from begun left join trials on (trials.run, trials."case", trial) = (begun.run, begun."case", principal)
         left join failing on (failing.run, failing."case") = (begun.run, begun."case")
         left join aside on (aside.run, aside."case") = (begun.run, begun."case")
    where item = 'case' or (begun.run, begun."case") not in (select (run, "case") from trials where run = any($runs))
"""
"""The rows of labs whose row is a case, with the trial that stands for it; and of cases that came to no trial."""

RUNS = f"""
    select run, '' as "case", '' as trial, coalesce(lab, '') as lab, 0 as number,
           coalesce("at", timestamp '1970-01-01') as "at", coalesce(title, '') as title, coalesce(model, '') as model,
           '' as about, '' as outcome, '' as outcome_paper, false as differ, '' as doubt, '' as reason,
           coalesce(error, '') as error, {", ".join(f"'' as {name}" for name in FACETS)}
    from runs where run = any($runs) and about = '' and run not in (select run from begun)
"""  # noqa: S608  our own names
"""The rows of runs that came to no case."""


def refresh(cursor: DuckDBPyConnection, labs: Mapping[str, Lab], runs: Sequence[str]) -> None:
    """Make the rows of `runs` anew from the tables that the journals fill, within the transaction of `cursor`."""
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
    """What people say in the journals `runs`, a row for each word."""
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
                # It is about the run of its trial; the journal is about a pack.
                row = trial if name in labs and labs[name].item == "trial" else ""
                rows.append((run, played.run, case, row, who, PLAYED, played.pack, at))
                continue
            said = list(_words(SAID[record].model_validate_json(data)))
        except ValidationError:
            continue
        rows += [(run, about, case, item, who, kind, value, at) for kind, value in said]
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
    return ((kind, value) for kind, value in words if value)


def _facets(cursor: DuckDBPyConnection, labs: Mapping[str, Lab], runs: Sequence[str]) -> Any:
    """What the labs say of the cases, one row each, with what a row of their lab is."""
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
        unit = {"item": lab.item, "principal": lab.principal} if lab else {"item": "case", "principal": ""}
        rows.append({"run": run, "case": case, **unit, **{facet: said.get(facet, "") for facet in FACETS}})
    return pa.Table.from_pylist(
        rows, pa.schema([(n, pa.string()) for n in ("run", "case", "item", "principal", *FACETS)])
    )
