"""The queries of pages and the command line. Every function returns a DataFrame with the columns it names.

"The figures of a run" are those of the whole run: `case` and `item` are ''. What people say about a run has a separate
journal (`runs.about`), which no list of runs shows.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from core.events import Rules
from core.runs.bundle import IMPORTED
from core.store.schema import named
from core.store.store import Store
from core.transcript import ancestors

if TYPE_CHECKING:
    from pandas import DataFrame

Alive = Callable[[str], bool]
"""Whether the run of that id is running now, in this process or another."""

SEEN = "(?::varchar is null or owner = ? or recording or run in (select about from runs where shared))"
"""The runs that a viewer may see. Both parameters are the viewer; null sees all."""

_JSON_OF_A_RUN = ("spec", "versions", "prompts")


def runs(
    store: Store,
    lab: str | None = None,
    limit: int = 200,
    alive: Alive | None = None,
    rules: Rules = "repaired",
    viewer: str | None = None,
    recordings: bool = False,
    only: Sequence[str] | None = None,
) -> DataFrame:
    """One row for each run, the newest first: of one lab or all, or `only` these; with `viewer`, those that this person
    may see. Either the `recordings` that came with the app, or all other runs.

    run, lab, title, model, status, at, finished_at, seconds, cases (planned), done (cases), answered and failed
    (calls), dropped (items), faults (lines of the journal that could not be read), error, message, hint, reread_from;
    how: the specification's field that the lab declares as `how`, in words; n and of: of its first leading figure; then
    a column for each leading figure of the labs, by its metric, null where undefined or without one.
    A run that has not finished is `running`; with `alive`, `interrupted` where its process is gone.
    """
    leading = [
        (each.name, metric.name, place)
        for each in store.labs.values()
        for place, metric in enumerate(each.metrics)
        if metric.leads
    ]
    metrics = list(dict.fromkeys(metric for _, metric, _ in leading))
    labs, names, places = ([row[column] for row in leading] for column in range(3))
    frame = store.query(
        f"""
        with listed as (
            select run, lab, coalesce(renamed.value, title) as title, model, status, runs."at", finished_at, seconds,
                   cases, answered, failed, error, message, hint, reread_from,
                   json_extract(spec, '$."' || nullif(how, '') || '"') as how
            from runs left join (select unnest(?::varchar[]) as lab, unnest(?::varchar[]) as how) using (lab)
                 left join (select about as run, value from labels where kind = 'title') renamed using (run)
            where about = '' and recording = ? and (? is null or lab = ?) and (?::varchar[] is null or run = any(?))
                  and {SEEN}
            order by runs."at" desc nulls first, run desc limit ?
        ), leads as (
            select unnest(?::varchar[]) as lab, unnest(?::varchar[]) as metric, unnest(?::bigint[]) as place
        ), figures as (
            select run, arg_min(n, place) as n, arg_min("of", place) as "of"{pivot(metrics)}
            from scores join listed using (run) join leads using (lab, metric)
            where "case" = '' and item = '' and rules = ? group by run
        )
        select listed.* exclude (error, message, hint, reread_from),
               (select count(*) from cases c where c.run = listed.run and c.status = 'done') as done,
               (select count(distinct ("case", item)) from drops where drops.run = listed.run) as dropped,
               (select count(*) from faults where faults.run = listed.run) as faults,
               error, message, hint, reread_from, figures.* exclude (run)
        from listed left join figures using (run) order by "at" desc nulls first, run desc
        """,  # noqa: S608  our own names
        [
            list(store.labs),
            [each.how for each in store.labs.values()],
            recordings,
            lab,
            lab,
            only,
            only,
            viewer,
            viewer,
            limit,
            labs,
            names,
            places,
            *metrics,
            rules,
        ],
        rows=None,
    )
    frame["how"] = [_in_words(how) for how in frame["how"]]
    if alive is not None:
        stopped = [status == "running" and not alive(run) for run, status in zip(frame.run, frame.status, strict=True)]
        frame.loc[stopped, "status"] = "interrupted"
    return frame


def _in_words(how: object) -> str:
    """The value of a specification's field; several joined by commas."""
    value = json.loads(how) if isinstance(how, str) else None
    return ", ".join(map(str, value)) if isinstance(value, list) else "" if value is None else str(value)


def run(store: Store, run_id: str, alive: Alive | None = None) -> dict[str, Any] | None:
    """Everything in the run's row, JSON columns as Python values; None where there is no such run."""
    with store.cursor() as cursor:
        cursor.execute("select * from runs where run = ?", [run_id])
        names = [column[0] for column in cursor.description or ()]
        values = cursor.fetchone()
    if values is None:
        return None
    row = dict(zip(names, values, strict=True))
    for name in _JSON_OF_A_RUN:
        row[name] = json.loads(row[name] or "{}")
    if row["status"] == "running" and alive is not None and not alive(run_id):
        row["status"] = "interrupted"
    return row


def cases(store: Store, run_id: str | None = None, lab: str | None = None, limit: int = 1_000) -> DataFrame:
    """Cases, one row each, of one run or of all, of one lab or of all; the newest run first, its cases in order.

    The columns of the table `cases`. A case that is not completed is `running`, even where its run stopped.
    """
    return store.query(
        """
        select cases.* from cases left join runs using (run)
        where (? is null or run = ?) and (? is null or cases.lab = ?)
        order by runs."at" desc, run, number, "case" limit ?
        """,
        [run_id, run_id, lab, lab, limit],
        rows=None,
    )


def trials(store: Store, run_id: str, case: str | None = None) -> DataFrame:
    """The trials of a run, or of one case in it, in order: the columns of the table `trials`, `calls` a list."""
    frame = store.query(
        """
        select trials.* from trials left join cases using (run, "case")
        where run = ? and (? is null or "case" = ?) order by cases.number, "case", trial
        """,
        [run_id, case, case],
        rows=None,
    )
    return decoded(frame, {"calls": "[]"})


def calls(store: Store, run_id: str, case: str | None = None, item: str | None = None) -> DataFrame:
    """Every call of a run, or of one case with what it shares with its item, or of one item, in the order they were
    asked: the columns of the table `calls`.

    `messages` is a list of {role, content} and `sampling` a dict, both empty for a call whose `asked` line is lost;
    `tools` and `tool_calls` are lists.
    """
    places = None if case is None else [*ancestors(case), case]
    frame = store.query(
        """
        select * from calls where run = ? and (?::varchar[] is null or "case" = any(?)) and (? is null or item = ?)
        order by "at", call
        """,
        [run_id, places, places or [], item, item],
        rows=None,
    )
    return decoded(frame, {"messages": "[]", "sampling": "{}", "tools": "[]", "tool_calls": "[]"})


def scores(store: Store, run_id: str | None = None, rules: Rules | None = None) -> DataFrame:
    """Scores with the run's lab, title and model beside them; `case` and `item` are '' for a score of the whole run.

    run, lab, title, model, case, metric, rules, item, value, n, of, low, high, detail, at.
    """
    return store.query(
        """
        select scores.run, lab, title, model, "case", metric, rules, item, value, n, "of", low, high, detail, scores.at
        from scores left join runs on runs.run = scores.run
        where (? is null or scores.run = ?) and (? is null or rules = ?)
        order by runs.at desc, scores.run, "case", item, metric, rules
        """,
        [run_id, run_id, rules, rules],
        rows=None,
    )


def drops(store: Store, run_id: str, rules: Rules | None = None) -> DataFrame:
    """Items that do not count, and why: case, item ('' for the whole case), reason, rules ('' under either), detail,
    at. With `rules`, those only.
    """
    return store.query(
        """
        select "case", item, reason, rules, detail, "at" from drops
        where run = ? and (? is null or rules in (?, '')) order by "at", "case", item
        """,
        [run_id, rules, rules],
        rows=None,
    )


def faults(store: Store, run_id: str) -> DataFrame:
    """Lines of the run's journal that hold no event: line (from 1), reason."""
    return store.query("select line, reason from faults where run = ? order by line", [run_id], rows=None)


def records(store: Store, run_id: str, record: str, people: bool = False) -> DataFrame:
    """The records of one type (its name in the journal) in a run, or with `people` in what people said about it.

    run (the journal), case, item, trial, by, at, and a column for each of the type's fields, where a lab declares it;
    JSON columns as Python values. A type that no lab declares has one column `data`, a dict.
    """
    whose = "run in (select run from runs where about = ?)" if people else "run = ?"
    table = store.records.get(record)
    if table is None:
        frame = store.query(
            f'select * exclude (record) from records where {whose} and record = ? order by "at", "case", item, "by"',  # noqa: S608  our own names
            [run_id, record],
            rows=None,
        )
    else:
        frame = store.query(
            f'select * from "{table}" where {whose} order by "at", "case", item, "by"',  # noqa: S608  our own names
            [run_id],
            rows=None,
        )
    kinds = store.tables[table or "records"].columns
    return decoded(frame, {name: "null" for name in frame.columns if kinds[name] == "JSON"})


def senders(store: Store) -> dict[str, str]:
    """Who made the runs that were imported: run -> a name, untrusted."""
    with store.cursor() as cursor:
        cursor.execute(
            "select about, json_extract_string(data, '$.sender') from records join runs using (run) where record = ?",
            [IMPORTED],
        )
        return dict(cursor.fetchall())


def pivot(metrics: Sequence[str]) -> str:
    """A column for the value of each metric; each `?` in it is a metric's name."""
    return "".join(f", max(value) filter (metric = ?) as {named([metric])}" for metric in metrics)


def decoded(frame: DataFrame, columns: dict[str, str]) -> DataFrame:
    """JSON columns as Python values; `columns` gives the JSON that stands for null in each."""
    import pandas as pd

    for name, nothing in columns.items():
        values = [json.loads(text if isinstance(text, str) else nothing) for text in frame[name]]
        frame[name] = pd.Series(values, index=frame.index, dtype=object)
    return frame
