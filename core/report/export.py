"""Files for download: tables, the rows that a filter selects, and runs as a log of Inspect."""

from __future__ import annotations

import io
import json
import math
import zipfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO, Literal, NamedTuple

from pydantic_core import PydanticSerializationError, to_json

from ..labs.base.declared import FACETS
from ..labs.base.lab import Lab
from ..labs.base.report import View
from ..rulesets import RULES
from ..scene import Claim, Part
from ..store import audits, kinds
from ..store.filters import KIND, OWN_LABELS, STATUS
from ..store.listing import Selection
from ..store.schema import quoted_names, table_of
from ..text.display import csv
from ..transcript import Call, CaseLog, Transcript

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
        lines = frame.to_json(
            orient="records", lines=True, date_format="iso", date_unit="us", force_ascii=False, double_precision=15
        )
        return str(lines).encode("utf-8", "surrogatepass")
    written = io.BytesIO()
    frame.to_parquet(written, index=False)
    return written.getvalue()


def rows(selected: Selection, grouping: str = "") -> DataFrame:
    """The selected items as a table: for each row of Browse one row for each of the two parsers (`rules`), in the order
    of their runs.

    run, case, trial (the ids in the journal), lab, rules, seed, status, at, study (the file's name, null if the run
    belongs to none), recording (whether the run came with the app), model, how, task, dataset, category,
    difficulty, wording, title (the question), about (the trial's), explanation, gold (the correct answer to the
    question), expected, observed, outcome, counts, reason, doubt (why a trial that counts has no verdict, by the
    updated parser), calls (JSON: the ids of the trial's calls), answers (JSON: their raw texts); then the lab's first
    figure for the case, or for its run if the case has none of its own: metric, value, low, high (95 % interval), n,
    of, figure_of; then the columns of people's own files, such as extra.domain, and own labels of cases:
    label.<scheme>.<labeller>, of a judge model judge.<scheme>.<its run>, with a warning if it did not pass its test. A
    missing value is null.

    With a `grouping` by meaning, or if one is part of the filter, only the rows that were grouped, and last the
    `kinds.columns` kind, kind_name and grouping.
    """
    grouping = grouping or next((name for name in selected.filter.chosen if name.startswith(KIND)), "")
    facets = ", ".join(f"nullif({name}, '') as {name}" for name in FACETS)
    by = " union all ".join(
        f"""
        select items.run, items."case", items.trial, items.lab, '{rules}' as rules, seed, {STATUS} as status,
               items."at", nullif(runs.study, '') as study, coalesce(runs.recording, false) as recording, items.model,
               {facets}, items.title, nullif(items.about, '') as about,
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
    for columns in _own_columns(selected):
        frame = frame.merge(columns, how="left", left_on=["run", "case"], right_index=True)
    if grouping:
        frame = frame.merge(kinds.columns(selected, grouping.removeprefix(KIND)), on=["run", "case", "trial"])
    return frame


def _own_columns(selected: Selection) -> tuple[DataFrame, DataFrame]:
    """The columns of people's own files, and own labels, with run and case as their index."""
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
    unfit = {one.run: one.warning for one in audits.judges(selected.store, selected.viewer) if one.warning}
    labelled = labelled.rename(
        columns=lambda name: f"{name} ({unfit[run]})" if (run := name.rpartition(".")[2]) in unfit else name
    )
    return wide, labelled


def kind_of(file: Path) -> Kind:
    """The kind of a file by the end of its name. Raises ValueError if it is none that we write."""
    kind = file.suffix.removeprefix(".").lower()
    if kind not in FORMATS:
        raise ValueError(f"{file.name} should end in .{', .'.join(FORMATS)}.")
    return kind


# Runs as a log of Inspect (`.eval`, version 2 of its format), written without inspect_ai. A case is a sample with
# the id RUN/CASE.


_LEVEL = 1
"""Compression level of the zip: higher ones take three times as long for little."""


def write(target: BinaryIO, runs: Iterable[tuple[Lab, Transcript]]) -> int:
    """Write the cases of the runs into a log, and return their number. The model of the log is `none/none` if the runs
    have different ones; each sample names its own.
    """
    summaries: list[dict[str, Any]] = []
    written: list[Transcript] = []
    with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED, compresslevel=_LEVEL) as log:
        for lab, run in runs:
            written.append(run)
            for case in run.cases:
                one = _sample(lab, run, case)
                log.writestr(f"samples/{one['id']}_epoch_1.json", _json(one))
                kept = {name: one[name] for name in ("id", "epoch", "input", "target", "scores", "metadata")}
                summaries.append({**kept, "completed": True, "error": one.get("error", {}).get("message")})
        header = _header(written, summaries)
        log.writestr("_journal/start.json", _json({name: header[name] for name in ("version", "eval", "plan")}))
        log.writestr("summaries.json", _json(summaries))
        log.writestr("header.json", _json(header))
    return len(summaries)


def _json(value: object) -> bytes:
    try:
        return to_json(value, inf_nan_mode="constants", fallback=str)
    except PydanticSerializationError:  # half of a surrogate pair, as a model may write it
        return json.dumps(value, ensure_ascii=False, default=str).encode("utf-8", "replace")


def _header(runs: list[Transcript], samples: list[dict[str, Any]]) -> dict[str, Any]:
    begun = [run.started for run in runs if run.started]
    models = {str(one.spec.get("model") or "none/none") for one in begun}
    labs = {one.lab for one in begun}
    created = min(one.at for one in begun).isoformat(timespec="seconds") if begun else "1970-01-01T00:00:00+00:00"
    name = next(iter(labs)) if len(labs) == 1 else "explanations"
    is_done = all(run.status == "completed" for run in runs)
    about = {
        "eval_id": begun[0].run if begun else name,
        "run_id": begun[0].run if begun else name,
        "created": created,
        "task": name,
        "task_id": name,
        "dataset": {"name": name, "samples": len(samples), "sample_ids": [one["id"] for one in samples]},
        "model": next(iter(models)) if len(models) == 1 else "none/none",
        "config": {"epochs": 1},
        "packages": {"explain-yourself": begun[0].app} if begun else {},
        "metadata": {
            one.run: {"lab": one.lab, "spec": one.spec, "seed": one.seed, "figures": _run_figures(run)}
            for run in runs
            if (one := run.started)
        },
    }
    completed = sum(one["error"] is None for one in samples)
    return {
        "version": 2,
        "status": "success" if is_done else "cancelled",
        "eval": about,
        "plan": {"name": "plan", "steps": [], "config": {}},
        "results": {"total_samples": len(samples), "completed_samples": completed, "scores": []},
        "stats": {"started_at": created, "completed_at": created},
    }


def _run_figures(run: Transcript) -> list[dict[str, Any]]:
    """The figures of a whole run, as in its journal."""
    scores = run.places[""].scores.values() if "" in run.places else ()
    return [one.model_dump(mode="json", include={"metric", "rules", *_FIGURE}) for one in scores if not one.item]


_FIGURE = ("value", "low", "high", "n", "of", "detail")


def _sample(lab: Lab, run: Transcript, case: str) -> dict[str, Any]:
    log = run.case(case)
    view = lab.view(log)
    # The whole scene is not made: cards and verdict take most of the time, and a log has none.
    heading, parts, claim = view.heading(), tuple(view.asked()), view.claim() or Claim()
    begun = run.cases[case]
    model = str(log.spec.get("model") or "none/none")
    failed = [drop.detail for drop in log.drops if not drop.item and drop.reason == "error"]
    turn = {"role": "assistant", "content": said(claim), "source": "generate", "model": model}
    choices = [{"message": turn, "stop_reason": "stop"}] if turn["content"] else []
    sample = {
        "id": f"{log.started.run if log.started else ''}/{case}",
        "epoch": 1,
        "input": _asked(heading, parts) or begun.title or case,
        "target": claim.gold,
        "messages": list(_messages(log, claim, view)),
        "output": {"model": model, "choices": choices, "completion": turn["content"]},
        "scores": dict(_scores(lab, view, log, begun.result or {})),
        "metadata": {
            **begun.columns,
            "run": log.started.run if log.started else "",
            "case": case,
            "lab": lab.title,
            "model": model,
            "answer": claim.answer,
            "explanation": "\n\n".join(part.text for part in claim.parts),
        },
        "store": {},
        "events": [],
        "attachments": {},
    }
    if failed:
        sample["error"] = {"message": failed[0], "traceback": "", "traceback_ansi": ""}
    return sample


def _asked(heading: str, parts: Sequence[Part]) -> str:
    """What the model was asked: the title, and below it the texts that are not the title."""
    title = [heading] if heading and all(part.text != heading for part in parts) else []
    return "\n\n".join([*title, *(part.text for part in parts)])


def said(claim: Claim) -> str:
    """Return the explanation, which ends with the answer, as a reader of such logs expects."""
    text = "\n\n".join(part.text for part in claim.parts)
    answer = f"So the answer is {claim.answer}." if claim.answer else ""
    return text if text.endswith(answer) else f"{text} {answer}".strip()


def _messages(log: CaseLog, claim: Claim, view: View) -> Iterator[dict[str, Any]]:
    """Yield question and raw answer of each call behind the explanation, then of each trial. The demonstrations before
    a question, equal for all, are left out.
    """
    calls, trials = log.calls, {"": claim.calls} | {id: trial.calls for id, trial in view.trials.items()}
    placed = {name: trial for trial, names in reversed(trials.items()) for name in names if name in calls}
    for name in dict.fromkeys(name for names in trials.values() for name in names if name in calls):
        yield from _turns(calls[name], {"call": name, "trial": placed[name], "role": calls[name].asked.role})


def _turns(call: Call, about: Mapping[str, str]) -> Iterator[dict[str, Any]]:
    last = next((one for one in reversed(call.asked.messages) if one.role == "user"), None)
    if last is not None:
        yield {"role": "user", "content": last.content, "source": "input", "metadata": about}
    if call.answered is not None:
        said = {"content": call.text, "source": "generate", "model": call.asked.model}
        yield {"role": "assistant", **said, "metadata": about}


def _scores(lab: Lab, view: View, log: CaseLog, result: Mapping[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield the outcome (that of the journaled `result`, if there is one) and each declared figure of the case by each
    parser. An undefined figure is NaN, which Inspect counts as unscored; so is an outcome that the case does not have
    yet.
    """
    for rules in RULES:
        outcome = str(result.get(f"outcome_{rules}") or view.by(rules).outcome)
        yield f"outcome.{rules}", {"value": outcome, "metadata": {"means": lab.means(outcome)}, "history": []}
        for metric in lab.metrics:
            if (score := log.score(metric.name, rules)) is not None:
                value = math.nan if score.value is None else score.value
                about = {name: getattr(score, name) for name in _FIGURE[1:]}
                shown = {"value": value, "explanation": metric.title, "metadata": about, "history": []}
                yield f"{metric.name}.{rules}", shown
