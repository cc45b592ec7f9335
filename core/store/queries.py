"""What lists of runs show."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from ..runs.bundle import IMPORTED
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
) -> DataFrame:
    """One row for each run, the newest first: all runs, or `only` these; with `viewer`, those that this person may see.
    Either the `recordings` that came with the app, or all other runs; never the journals in which people comment on
    a run. The figures are those of the whole run (their `case` and `item` are ''), by the updated parser.

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
            where "case" = '' and item = '' and rules = 'repaired' group by run
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
