"""Tables for download: a table as a file, and the rows that a filter selects."""

from __future__ import annotations

import io
from pathlib import Path
from typing import TYPE_CHECKING, Literal, NamedTuple

from ..labs.base.declared import FACETS
from ..store import label_agreement
from ..store.filters import OWN_LABELS, STATUS
from ..store.listing import Selection
from ..store.schema import quoted_names, table_of
from ..text.display import csv

if TYPE_CHECKING:
    from pandas import DataFrame

Kind = Literal["csv", "parquet", "jsonl"]


class Format(NamedTuple):
    """The name of a file format, and its media type."""

    title: str
    mime: str


FORMATS: dict[Kind, Format] = {
    "csv": Format("CSV", "text/csv"),
    "parquet": Format("Parquet", "application/vnd.apache.parquet"),
    "jsonl": Format("JSON lines", "application/x-ndjson"),
}


def table(frame: DataFrame, kind: Kind) -> bytes:
    """A file of that kind with the rows of `frame`, without its index. In CSV no cell can act as a formula
    (`core.text.display`); the other kinds leave texts unchanged.
    """
    if kind == "csv":
        return csv(frame)
    if kind == "jsonl":
        lines = frame.to_json(orient="records", lines=True, date_format="iso", date_unit="us", force_ascii=False)
        return str(lines).encode("utf-8", "surrogatepass")
    written = io.BytesIO()
    frame.to_parquet(written, index=False)
    return written.getvalue()


def rows(selected: Selection) -> DataFrame:
    """The selected items as a table: for each row of Browse one row for each of the two parsers (`rules`), in the order
    of their runs.

    run, case, trial (the ids in the journal), lab, rules, seed, status, at, model, how, task, dataset, category,
    difficulty, wording, title (the question), about (the trial's), explanation, gold (the correct answer to the
    question), expected, observed, outcome, counts, reason, doubt (why a trial that counts has no verdict, by the
    updated parser), calls (JSON: the ids of the trial's calls), answers (JSON: their raw texts); then the lab's first
    figure for the case, or for its run if the case has none of its own: metric, value, low, high (95 % interval), n,
    of, figure_of; then the columns of people's own files, such as extra.domain, and own labels of cases:
    label.<scheme>.<labeller>, of a judge model judge.<scheme>.<its run>, with a warning if it did not pass its test. A
    missing value is null.
    """
    facets = ", ".join(f"nullif({name}, '') as {name}" for name in FACETS)
    by = " union all ".join(
        f"""
        select items.run, items."case", items.trial, items.lab, '{rules}' as rules, seed, {STATUS} as status,
               items."at", items.model, {facets}, items.title, nullif(items.about, '') as about,
               cases.explanation, golds.gold, trials.expected_{rules} as expected, trials.observed_{rules} as observed,
               nullif({outcome}, '') as outcome, trials.counts_{rules} as counts,
               nullif(trials.reason_{rules}, '') as reason, {doubt} as doubt,
               trials.calls::varchar as calls, raw.answers,
               declared.metric, coalesce(own.value, whole.value) as value, coalesce(own.low, whole.low) as low,
               coalesce(own.high, whole.high) as high, coalesce(own.n, whole.n) as n,
               coalesce(own."of", whole."of") as "of",
               if(own.run is not null, 'case', if(whole.run is not null, 'run', null)) as figure_of, items.number
        from chosen items join runs using (run) left join declared on declared.lab = items.lab
             left join trials on (trials.run, trials."case") = (items.run, items."case")
                  and trials.trial = coalesce(nullif(items.trial, ''), principal)
             left join cases on (cases.run, cases."case") = (items.run, items."case")
             left join golds on (golds.run, golds."case") = (items.run, items."case")
             left join raw on (raw.run, raw."case", raw.trial) = (trials.run, trials."case", trials.trial)
             left join figures own on (own.run, own.metric, own.rules) = (items.run, declared.metric, '{rules}')
                  and own."case" = items."case" and own."case" <> ''
             left join figures whole on (whole.run, whole.metric, whole.rules) = (items.run, declared.metric, '{rules}')
                  and whole."case" = ''
        """  # noqa: S608  our own names
        for rules, outcome, doubt in (
            ("paper", "items.outcome_paper", "null::varchar"),
            ("repaired", "items.outcome", "nullif(trials.doubt_repaired, '')"),
        )
    )
    labs = list(selected.store.labs.values())
    golds = " union all ".join(
        f'select run, "case", {quoted_names([field])} as gold from {quoted_names([table_of(record)])}'  # noqa: S608  our own names
        for record, field in (lab.listing.gold for lab in labs if lab.listing.gold)
    )
    golds = golds or "select '' as run, '' as \"case\", '' as gold where false"
    frame = selected.frame(
        f"""
        , chosen as (select * from wanted), figures as (select * from scores where item = ''), asked as (
            select run, "case", trial, unnest(from_json(calls, '["varchar"]')) as call from trials
            where run in (select run from wanted)
        ), raw as (
            select asked.run, asked."case", asked.trial,
                   to_json(list(text order by calls."at", call))::varchar as answers
            from asked join calls using (run, call) where text is not null group by all
        ), golds as (
            select c.run, c."case", max(g.gold) as gold from (select distinct run, "case" from wanted) c
            join ({golds}) g on g.run = c.run and g."case" in (c."case", split_part(c."case", '/', 1)) group by all
        ), declared as (
            select unnest($labs::varchar[]) as lab, unnest($metrics::varchar[]) as metric,
                   unnest($main::varchar[]) as principal
        )
        select * exclude (number) from ({by}) order by "at", run, number, "case", trial, rules
        """,  # noqa: S608  our own names
        seconds=60,
        labs=[lab.name for lab in labs],
        metrics=[lab.headline for lab in labs],
        main=[lab.listing.main_trial for lab in labs],
    )
    extra = selected.frame(
        """
        select run, "case", name, value from extra_columns where (run, "case") in (select (run, "case") from wanted)
        """
    )
    wide = extra.pivot(index=["run", "case"], columns="name", values="value").add_prefix("extra.")
    labels = selected.frame(
        f"""
        select run, "case", if(kind = 'judge', 'judge.', 'label.') || scheme || '.' || who as name, labels as value
        from ({OWN_LABELS}) where (run, "case") in (select (run, "case") from wanted)
        """  # noqa: S608  our own names
    )
    labelled = labels.pivot(index=["run", "case"], columns="name", values="value")
    unfit = {one.run: one.warning for one in label_agreement.judges(selected.store, selected.viewer) if one.warning}
    labelled = labelled.rename(
        columns=lambda name: f"{name} ({unfit[run]})" if (run := name.rpartition(".")[2]) in unfit else name
    )
    for columns in (wide, labelled):
        frame = frame.merge(columns, how="left", left_on=["run", "case"], right_index=True)
    return frame


def kind_of(file: Path) -> Kind:
    """The kind of a file by the end of its name. Raises ValueError if it is none that we write."""
    kind = file.suffix.removeprefix(".").lower()
    if kind not in FORMATS:
        raise ValueError(f"{file.name} should end in .{', .'.join(FORMATS)}.")
    return kind
