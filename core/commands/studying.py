"""`study`: many runs from one file. Planned, made, looked at, and read as tables."""

from __future__ import annotations

import asyncio
import json
import sys
from collections.abc import Iterable
from dataclasses import asdict
from itertools import groupby
from pathlib import Path

import click

from core import entry, home
from core.commands import study_cluster, study_control, study_pack, study_report
from core.commands.running import BAD_INPUT, DONE, INTERRUPTED, UNREACHABLE, Output, heed_ctrl_c, into_the_store
from core.journal import JournalFull
from core.study import data, estimate, multiverse, plan, tables
from core.study.cells import Row
from core.study.cluster import Cluster
from core.study.control import MOST_AT_ONCE, want
from core.study.early import Early
from core.study.execute import Making, Outcome
from core.study.plan import Planned, Study
from core.transcript import Transcript

OFF = 5
"""The exit code where a control does not read what it must."""


def add(commands: click.Group) -> None:
    """Add the group study to the group `commands`, which is changed in place."""
    group = click.Group("study", help="Many runs from one file: plan, run, pause, status, table, report, pack.")
    for name, does, help in (
        ("plan", _plan, "What a study will take, before anything is asked."),
        ("run", _run, "Make the runs of a study that have not completed, those of the controls first."),
        ("pause", study_control.pause, "Stop a study that runs, here or in another process, to go on with later."),
        ("at-once", study_control.at_once, "How many runs of a study go on at a time, while it runs."),
        ("status", study_control.status, "How the runs of a study stand."),
        ("table", _table, "What a study found so far."),
        ("pack", study_pack.pack, "Put the journals of completed runs into one file, from which they are still read."),
        ("unpack", study_pack.unpack, "Put the journals of a packed study back, one file a run."),
    ):
        group.add_command(click.Command(name, callback=does, help=help, params=_options(name)))
    study_report.add(group)
    commands.add_command(group)


def _options(name: str) -> list[click.Parameter]:
    path = click.Path(path_type=Path, dir_okay=False)
    file: list[click.Parameter] = [click.Argument(["file"], type=path, metavar="STUDY.toml")]
    if name == "pause":
        return file
    if name == "at-once":
        most = click.IntRange(0, MOST_AT_ONCE)
        return [*file, click.Argument(["number"], type=most, metavar="N (0: as in the file)")]
    rows = {"table": "one row a line, as a JSON object", "run": "one line a run, as a JSON object"}
    options: list[click.Parameter] = [
        *file,
        click.Option(["--journals"], type=click.Path(path_type=Path, file_okay=False), metavar="DIR",
                     help="default: $EXPLAIN_HOME/journals"),
        click.Option(["--json", "as_json"], is_flag=True, help=f"print {rows.get(name, 'a JSON object')}"),
    ]  # fmt: skip
    if name == "table":
        help = "also draw the figures measured against the true ones, where these are known"
        options.append(click.Option(["--picture"], type=path, metavar="FILE.html", help=help))
    if name == "run":
        options += study_cluster.OPTIONS
    return options


def _plan(file: Path, journals: Path | None, as_json: bool) -> int:
    study = plan.read(file, entry.labs())
    folder = Output(journals).folder
    found = estimate.estimate(study, entry.labs(), entry.catalog().get, folder, home.recordings())
    if as_json:
        print(json.dumps(asdict(found), ensure_ascii=False, default=str))
    else:
        print(study.title)
        for line in estimate.lines(found):
            print(line)
    return DONE


def _run(file: Path, journals: Path | None, as_json: bool, engine: str, scheduler: str | None) -> int:
    labs, catalog = entry.labs(), entry.catalog()
    study = plan.read(file, labs)
    folder = Output(journals).folder
    want(home.home(), study.name, paused=False)
    printed = _Progress(study, as_json)
    making: Making | Cluster
    if engine == "local":
        for model in sorted({model for run in study.all for model in run.spec.models}):
            catalog.get(model)
        making = Making(study, labs, catalog.get, folder, printed.tell)
    else:
        making = study_cluster.making(engine, scheduler, study, folder, printed.tell)
    kept: dict[str, list[Row]] = {}
    try:
        # The controls first: where they do not read what they must, nothing else is asked.
        for runs in (study.controls, study.runs):
            code = printed.end(_made(making, runs), len(runs))
            wrong = tables.off(labs, tables.measured(study, labs, folder, kept)) if code == DONE else []
            if wrong:
                print(
                    "The instrument is off: no figure of this study can be relied on.",
                    *wrong,
                    sep="\n",
                    file=sys.stderr,
                )
                code = OFF
            if code != DONE:
                break
    except (asyncio.CancelledError, KeyboardInterrupt):
        code = INTERRUPTED
    except (JournalFull, ConnectionError) as error:
        print(error, file=sys.stderr)
        code = INTERRUPTED
    into_the_store(folder)
    _tell_broken(study, folder)
    if code == INTERRUPTED and not as_json:
        print(f"To go on from here: python -m core study run {file}")
    return code


def _tell_broken(study: Study, folder: Path) -> None:
    """Beside what is printed: tables are read by programs too."""
    for line in data.broken(data.held(study, folder)):
        print(line, file=sys.stderr)


def _made(making: Making | Cluster, runs: Iterable[Planned]) -> Outcome:
    async def go() -> Outcome:
        heed_ctrl_c()
        return await making.make(list(runs))

    return asyncio.run(go())


class _Progress:
    """Tells of each run as it ends."""

    def __init__(self, study: Study, as_json: bool) -> None:
        self._study = study
        self._json = as_json

    def tell(self, run: Planned, state: Transcript) -> None:
        rules = self._study.rules
        # Of a lab's leading figures not every one exists for every kind of item.
        leading = [metric for metric in run.lab.metrics if metric.leads and metric.better]
        scores = ((metric, state.score(metric.name, rules)) for metric in leading)
        found = next(((metric, score) for metric, score in scores if score and score.value is not None), None)
        metric = found[0] if found else run.lab.metric(run.lab.headline)
        value, items = (found[1].value, f"{found[1].n} of {found[1].of}") if found else (None, "")
        status = state.status
        if status == "cancelled" and (width := self._study.stop_width_of(run)):
            early = Early(run.lab, rules, width)
            early(state)
            metric = run.lab.metric(run.lab.headline)
            status, value, items = "stopped early", early.interval.value, f"{early.interval.n} items"
        if self._json:
            line = {"run": run.id, "status": status, "metric": metric.name, "value": value}
            print(json.dumps(line), flush=True)
            return
        title = metric.title.lower()
        figure = f"no {title}" if value is None else f"{title} {value:.2f} ({items})"
        model = getattr(run.spec, "model", "")
        print(f"{run.lab.title}  {model}  {getattr(run.spec, 'title', '')}: {status}, {figure}", flush=True)

    def end(self, outcome: Outcome, of: int) -> int:
        """What came of the runs, in a sentence for each kind; the exit code."""
        for run, why in outcome.failed.items():
            print(f"{run} failed: {why}", file=sys.stderr)
        if outcome.elsewhere:
            print(f"{_runs(len(outcome.elsewhere))} of this study are being made by another process.", file=sys.stderr)
        if outcome.spent or outcome.paused:
            why = "Paused" if outcome.paused else f"The budget of {self._budget()}"
            done = f"{len(outcome.completed) + len(outcome.early)} of {_runs(of)} have completed"
            raising = "" if outcome.paused else " Raise the budget to go on."
            print(f"{why}: {done}, and what was answered is kept.{raising}", file=sys.stderr)
            return INTERRUPTED
        if outcome.failed:
            return BAD_INPUT if outcome.bad_input else UNREACHABLE
        return INTERRUPTED if outcome.elsewhere else DONE

    def _budget(self) -> str:
        """The budgets, and that they are over: of money so much stays as a call may cost at most."""
        calls, money = self._study.budget_calls, self._study.budget_money
        if money is None:
            return f"{calls:,} calls is spent"
        both = f"{money:.2f} US dollars" + (f" and {calls:,} calls" if calls else "")
        return f"{both} leaves no room for one more call"


def _table(file: Path, journals: Path | None, as_json: bool, picture: Path | None) -> int:
    labs = entry.labs()
    study = plan.read(file, labs)
    folder = Output(journals).folder
    rows = tables.rows(study, labs, tables.measured(study, labs, folder))
    if picture is not None:
        from core.charts import dial

        picture.write_text(dial.draw(rows).to_html(include_plotlyjs=True), encoding="utf-8")
    _tell_broken(study, folder)
    if as_json:
        for row in rows:
            print(json.dumps(row, ensure_ascii=False))
    else:
        print("\n".join(_as_text(rows)) if rows else f"Nothing has been run yet: python -m core study run {file}")
    return DONE


def _as_text(rows: list[Row]) -> Iterable[str]:
    for title, cells in groupby(rows, lambda row: row["table"]):
        of_table, still = multiverse.moved(list(cells))
        columns = list(dict.fromkeys(cell["column"] for cell in of_table))
        by_row: dict[str, dict[str, str]] = {}
        for cell in of_table:
            # What hangs on choices has lists of items, which would make a table too wide.
            is_wide = title.startswith(multiverse.TITLE)
            by_row.setdefault(cell["row"], {})[cell["column"]] = _cell(cell | {"note": ""} if is_wide else cell)
        yield f"\n{title}"
        if still:
            yield f"  {still}"
        if not of_table:
            continue
        width = max(map(len, by_row))
        widths = [max(len(name), *(len(row.get(name, "")) for row in by_row.values())) for name in columns]
        names = (name.ljust(w) for name, w in zip(columns, widths, strict=True))
        yield f"  {'':{width}}  {'  '.join(names)}".rstrip()
        for name, row in by_row.items():
            shown = (row.get(column, "").ljust(w) for column, w in zip(columns, widths, strict=True))
            yield f"  {name:{width}}  {'  '.join(shown)}".rstrip()
        if title.startswith(multiverse.TITLE):
            yield from (f"    {cell['row']}, {cell['column']}: {cell['note']}" for cell in of_table)


def _cell(cell: Row) -> str:
    if cell["source"] and not cell["of"]:
        return _printed(cell)
    value = "undefined" if cell["value"] is None else f"{cell['value']:.2f}"
    interval = "" if cell["low"] is None else f" ({cell['low']:.2f} to {cell['high']:.2f})"
    # The power of so many items rests on no item: its column says how many.
    items = f", {cell['n']} of {cell['of']}" if cell["table"] != "Power" else ""
    truth = "" if cell["truth"] is None else f", must read {cell['truth']:.2f}"
    marks = (
        ("" if cell["complete"] else ", not complete")
        + (", stopped early" if cell["stopped_early"] else "")
        + (", too few count" if cell["thin"] else "")
    )
    test = "" if cell["p"] is None else f", p = {cell['p']:.2g} (Holm {cell['p_holm']:.2g})"
    note = f"; {cell['note']}" if cell["note"] else ""
    return f"{value}{interval}{items}{truth}{test}{marks}{note}{f' [{_printed(cell)}]' if cell['source'] else ''}"


def _printed(cell: Row) -> str:
    """What a paper printed there, which is none of ours."""
    n = f", n = {cell['published_n']:,}" if cell["published_n"] else ", n not printed"
    return f"printed {cell['published']:.3g}{n}"


def _runs(number: int) -> str:
    return f"{number} {'run' if number == 1 else 'runs'}"
