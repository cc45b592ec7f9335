"""Runs whose answers were parsed again: each new parse is a version of the run, and the newest version counts.

A person may parse a run again without sharing the result with the run's owner, so which version counts depends on the
visitor.
"""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from .queries import SEEN
from .store import Store

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
