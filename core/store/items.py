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
from core.runs.labels import Kept, Label
from core.transcript import name_of

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

LABEL, KEPT = name_of(Label), name_of(Kept)

_MADE = f"""
with failing as (
    select run, "case", trial, min(error) as error from calls where run = any($runs) and error is not null group by all
), aside as (
    select run, "case", trial, arg_min(reason, "at") as reason from drops
    where run = any($runs) and rules in ('', 'repaired') group by all
), begun as (
    select cases.run, cases."case", cases.lab, number, runs."at", cases.title,
           coalesce(cases.model, runs.model) as model, cases.outcome_repaired, cases.outcome_paper,
           cases.status, facets.* exclude (run, "case")
    from cases join runs using (run) join facets on facets.run = cases.run and facets."case" = cases."case"
    where cases.run = any($runs)
), own as (
    select begun.*, trial, about, trials.outcome_repaired as outcome, trials.outcome_paper as paper,
           expected_repaired as expected, observed_repaired as observed, observed_paper,
           coalesce(counts_repaired, false) as counts, coalesce(counts_paper, false) as counts_paper,
           coalesce(doubt_repaired, '') as doubt,
           if(counts_repaired, '', coalesce(reason_repaired, '')) as reason
    from begun join trials on trials.run = begun.run and trials."case" = begun."case" and item = 'trial'
)
insert into items by name
select * replace (coalesce(title, '') as title, coalesce(about, '') as about, coalesce(model, '') as model,
                  coalesce(outcome, '') as outcome, coalesce("at", timestamp '1970-01-01') as "at",
                  coalesce(number, 0) as number, coalesce(lab, '') as lab, coalesce(reason, '') as reason)
from (
select own.* exclude (outcome_repaired, outcome_paper, status, item, principal, paper), paper as outcome_paper,
       outcome is distinct from paper as differ, coalesce(failing.error, '') as error
from own left join failing on (failing.run, failing."case", failing.trial) = (own.run, own."case", own.trial)
union all by name
select begun.* exclude (outcome_repaired, outcome_paper, status, item, principal), '' as trial,
       coalesce(begun.outcome_repaired, '') as outcome, begun.outcome_paper,
       begun.outcome_repaired is distinct from begun.outcome_paper as differ, principals.about,
       expected_repaired as expected, observed_repaired as observed, observed_paper,
       true as counts, true as counts_paper, coalesce(doubt_repaired, '') as doubt,
       coalesce((select arg_min(reason, trial) from aside
                 where (aside.run, aside."case") = (begun.run, begun."case")), '') as reason,
       coalesce((select min(error) from failing
                 where (failing.run, failing."case") = (begun.run, begun."case")), '') as error
from begun left join trials principals
     on (principals.run, principals."case", principals.trial) = (begun.run, begun."case", principal)
where item = 'case' or not exists (select 1 from own where (own.run, own."case") = (begun.run, begun."case"))
union all by name
select run, '' as "case", '' as trial, lab, 0 as number, "at", coalesce(title, '') as title, model, '' as outcome,
       '' as outcome_paper, false as differ, '' as doubt, '' as reason, coalesce(error, '') as error,
       {", ".join(f"'' as {name}" for name in FACETS)}
from runs where run = any($runs) and about = '' and run not in (select run from begun)
)
"""  # noqa: S608  our own names


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
    _labels(cursor, runs)
    cursor.register("facets", _facets(cursor, labs, runs))
    cursor.execute(_MADE, {"runs": list(runs)})
    cursor.unregister("facets")


def _labels(cursor: DuckDBPyConnection, runs: Sequence[str]) -> None:
    """What people say in the journals `runs`, a row for each word."""
    found = cursor.execute(
        """
        select run, about, "case", item, "by", record, data, records."at" from records join runs using (run)
        where run = any(?) and record = any(?) and about <> ''
        """,
        [list(runs), [LABEL, KEPT]],
    ).fetchall()
    rows = []
    for run, about, case, trial, who, record, data, at in found:
        try:
            said = list(_words((Label if record == LABEL else Kept).model_validate_json(data)))
        except ValidationError:
            continue
        rows += [(run, about, case, trial, who, kind, value, at) for kind, value in said]
    if rows:
        cursor.executemany("insert into labels values (?, ?, ?, ?, ?, ?, ?, ?)", rows)


def _words(said: Label | Kept) -> Iterator[tuple[str, str]]:
    if isinstance(said, Kept):
        words = [("title", said.title), ("hidden", "yes" if said.hidden else "")]
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
