"""What lists of runs show, and runs whose answers were parsed again: which version counts."""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

from ..runs.library import IMPORTED
from .schema import quoted, quoted_names
from .store import Store

if TYPE_CHECKING:
    from pandas import DataFrame


Alive = Callable[[str], bool]
"""Whether the run of that id is running now, in this process or another."""

SEEN = (
    "($viewer::varchar is null or owner = $viewer or recording or (run in (select about from runs where shared) "
    "and run not in (select about from labels where kind = 'sealed')))"
)
"""The condition for runs that $viewer may see whole: of other people's runs, those that are shared and not sealed; null
sees all.
"""


def runs(
    store: Store,
    limit: int = 200,
    alive: Alive | None = None,
    viewer: str | None = None,
    recordings: bool = False,
    only: Sequence[str] | None = None,
    blind: Collection[str] = (),
) -> DataFrame:
    """One row for each run, the newest first: all runs, or `only` these; with `viewer`, those that this person may see.
    Either the `recordings` that came with the app, or all other runs; never the journals in which people comment on
    a run. The figures are those of the whole run (their `case` and `item` are ''), by the updated parser; those of the
    runs in `blind` are left out.

    run, lab, title, model, status, at, finished_at, seconds, cases (planned), done (cases), answered and failed
    (calls), dropped (items), faults (unreadable lines of the journal), error, message, hint, reread_from; how: the
    specification's field that the lab declares as `how`, in words; n and of: those of its first leading figure; then a
    column for each leading figure of the labs, by its metric, null if undefined or missing. A run that has not finished
    is `running`; with `alive`, it is `interrupted` if its process is gone.
    """
    leading = [
        (lab.name, metric.name, place)
        for lab in store.labs.values()
        for place, metric in enumerate(lab.metrics)
        if metric.leads
    ]
    labs, metrics, places = (list(column) for column in zip(*leading, strict=True)) if leading else ([], [], [])
    figures = "".join(
        f", max(value) filter (metric = {quoted(name)}) as {quoted_names([name])}" for name in dict.fromkeys(metrics)
    )
    frame = store.query(
        f"""
        with listed as (
            select run, lab, coalesce(renamed.value, title) as title, model, status, runs."at", finished_at, seconds,
                   cases, answered, failed, error, message, hint, reread_from,
                   json_extract(spec, '$."' || nullif(how, '') || '"') as how
            from runs left join (select unnest($every::varchar[]) as lab, unnest($fields::varchar[]) as how) using (lab)
                 left join (select about as run, value from labels where kind = 'title') renamed using (run)
            where about = '' and recording = $recordings and ($only::varchar[] is null or run = any($only)) and {SEEN}
            order by runs."at" desc nulls first, run desc limit $limit
        ), leads as (
            select unnest($labs::varchar[]) as lab, unnest($metrics::varchar[]) as metric,
                   unnest($places::bigint[]) as place
        ), figures as (
            select run, arg_min(n, place) as n, arg_min("of", place) as "of"{figures}
            from scores join listed using (run) join leads using (lab, metric)
            where "case" = '' and item = '' and rules = 'repaired' and not list_contains($blind::varchar[], run)
            group by run
        )
        select listed.*,
               (select count(*) from cases c where c.run = listed.run and c.status = 'done') as done,
               (select count(distinct ("case", item)) from drops where drops.run = listed.run) as dropped,
               (select count(*) from faults where faults.run = listed.run) as faults,
               figures.* exclude (run)
        from listed left join figures using (run) order by "at" desc nulls first, run desc
        """,  # noqa: S608  our own names
        {
            **{"every": list(store.labs), "fields": [lab.listing.method_field for lab in store.labs.values()]},
            **{"recordings": recordings, "only": only, "viewer": viewer, "limit": limit},
            "blind": list(blind),
            **{"labs": labs, "metrics": metrics, "places": places},
        },
    )
    frame["how"] = [_in_words(how) for how in frame["how"]]
    if alive is not None:
        stopped = [status == "running" and not alive(run) for run, status in zip(frame.run, frame.status, strict=True)]
        frame.loc[stopped, "status"] = "interrupted"
    return frame


def _in_words(how: object) -> str:
    """The value of a specification's field; several values are joined by commas."""
    value = json.loads(how) if isinstance(how, str) else None
    return ", ".join(map(str, value)) if isinstance(value, list) else "" if value is None else str(value)


def lab_of(store: Store, run: str) -> str | None:
    """The name of the run's lab; None if there is no such run."""
    return next((lab for (lab,) in store.rows("select lab from runs where run = ?", [run])), None)


def senders(store: Store) -> dict[str, str]:
    """Who sent the imported runs: run -> a name, which is not verified."""
    sql = "select about, json_extract_string(data, '$.sender') from records join runs using (run) where record = ?"
    return dict(store.rows(sql, [IMPORTED]))


# Runs whose answers were parsed again: each new parse is a version of the run, and the newest version counts.
#
# A person may parse a run again without sharing the result with the run's owner, so which version counts depends on
# the visitor.


_FAMILIES = """
    with recursive up as (
        select run, reread_from as earlier from runs where reread_from <> ''
        union
        select up.run, runs.reread_from from up join runs on runs.run = up.earlier where runs.reread_from <> ''
    ), again as (
        select up.run, coalesce(min(earlier) filter (earlier not in (select run from up)), min(earlier)) as first,
            max(runs."at") as after, count(*) as steps
        from up left join runs on runs.run = up.earlier group by up.run
    ), family as (
        select * from again union select first, first, null, 0 from again where first not in (select run from again)
    )
"""
"""For each run that was parsed again, and for each new version of it, the run that came `first`, the time `after` which
it was parsed, and the number of `steps` between them; a circle of references ends too.
"""

REPLACED = f"""
    {_FAMILIES}
    select run from (
        select run, row_number() over (
            partition by first, recording, run in (select about from labels where kind = 'hidden')
            order by status = 'completed' desc, greatest("at", after) desc, steps desc, "at" desc, run desc
        ) as place
        from runs join family using (run) where about = '' and {SEEN}
    ) where place > 1
"""  # noqa: S608  our own names
"""The runs that are replaced by another version, for $viewer. A version never counts as
older than the run that it parses, whatever the clock said.
"""


class Version(NamedTuple):
    """One version of a run: its id, the run that it parsed again ('' for the first version), and whether it counts."""

    run: str
    of: str
    counts: bool


class Changed(NamedTuple):
    """A row with a different outcome: where it is, what it is about, and the outcome before and now."""

    case: str
    trial: str
    about: str
    before: str
    now: str


def versions(store: Store, run: str, viewer: str | None = None) -> list[Version]:
    """All versions of the run that `viewer` may see, the oldest first; only the run itself if it was never parsed
    again.
    """
    rows = store.rows(
        f"""
        {_FAMILIES}, replaced as ({REPLACED})
        select run, reread_from, run not in (select run from replaced) from runs left join family using (run)
        where (run = $run or first in (select first from family where run = $run)) and about = '' and {SEEN}
        order by "at", run
        """,  # noqa: S608  our own names
        {"viewer": viewer, "run": run},
    )
    return [Version(*row) for row in rows]


def first_of() -> str:
    """SQL for run and `first`, for every run that has several versions."""
    return f"{_FAMILIES} select run, first from family"  # noqa: S608  our own names


def changed(store: Store, before: str, now: str) -> tuple[list[Changed], int]:
    """The rows whose outcome, by the updated parser, differs between the runs `before` and `now`, in order; and how
    many rows there are in either. A row that only one run has counts as changed too, from or to ''.
    """
    rows = '(select "case", trial, number, title, about, outcome from items where run = '
    both = f'{rows} $before) old full join {rows} $now) new using ("case", trial)'
    found = store.rows(
        f"""
        select "case", trial, coalesce(nullif(new.about, ''), nullif(old.about, ''), new.title, old.title, ''),
               coalesce(old.outcome, ''), coalesce(new.outcome, '')
        from {both} order by coalesce(new.number, old.number), "case", trial
        """,  # noqa: S608  our own names
        {"before": before, "now": now},
    )
    every = [Changed(*row) for row in found]
    return [one for one in every if one.before != one.now], len(every)


NAMED = 5
"""How many changed rows are named; the others are counted."""


def changes_sentence(changes: Sequence[Changed], of: int, words: Mapping[str, str]) -> str:
    """The changes in one sentence; `words` gives the names of outcomes."""
    if not changes:
        return f"No outcome changed ({of:,} compared)."

    def called(outcome: str) -> str:
        return words.get(outcome) or outcome or "not there"

    named = [f"“{one.about}”: {called(one.before)}, now {called(one.now)}" for one in changes[:NAMED]]
    more = [f"and {len(changes) - NAMED:,} more"] if len(changes) > NAMED else []
    return f"{len(changes):,} of {of:,} outcomes changed: {'; '.join([*named, *more])}."
