"""`study`: many runs from one file. Planned, made, looked at, and read as tables."""

from __future__ import annotations

import asyncio
import json
import sys
from collections import Counter
from collections.abc import Iterable
from dataclasses import asdict
from itertools import groupby
from pathlib import Path

import click

from core import entry, home
from core.commands.running import BAD_INPUT, DONE, INTERRUPTED, UNREACHABLE, Output, heed_ctrl_c, into_the_store
from core.journal import JournalFull
from core.runs.transcript import Transcript
from core.study import estimate, plan, tables
from core.study.execute import Making, Outcome
from core.study.plan import Planned, Study
from core.study.standing import standings

OFF = 5
"""The exit code where a control does not read what it must."""


def add(commands: click.Group) -> None:
    """Add the group study to the group `commands`, which is changed in place."""
    group = click.Group("study", help="Many runs from one file: plan, run, status, table.")
    for name, does, help in (
        ("plan", _plan, "What a study will take, before anything is asked."),
        ("run", _run, "Make the runs of a study that have not completed, those of the controls first."),
        ("status", _status, "How the runs of a study stand."),
        ("table", _table, "What a study found so far."),
    ):
        group.add_command(click.Command(name, callback=does, help=help, params=_options(name)))
    commands.add_command(group)


def _options(name: str) -> list[click.Parameter]:
    path = click.Path(path_type=Path, dir_okay=False)
    rows = {"table": "one row a line, as a JSON object", "run": "one line a run, as a JSON object"}
    options: list[click.Parameter] = [
        click.Argument(["file"], type=path, metavar="STUDY.toml"),
        click.Option(["--journals"], type=click.Path(path_type=Path, file_okay=False), metavar="DIR",
                     help="default: $EXPLAIN_HOME/journals"),
        click.Option(["--json", "as_json"], is_flag=True, help=f"print {rows.get(name, 'a JSON object')}"),
    ]  # fmt: skip
    if name == "table":
        help = "also draw what was measured against what is so, where that is known"
        options.append(click.Option(["--picture"], type=path, metavar="FILE.html", help=help))
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


def _run(file: Path, journals: Path | None, as_json: bool) -> int:
    labs, catalog = entry.labs(), entry.catalog()
    study = plan.read(file, labs)
    folder = Output(journals).folder
    for model in sorted({model for run in study.all for model in run.spec.models}):
        catalog.get(model)
    printed = _Progress(study, as_json)
    making = Making(study, labs, catalog.get, folder, printed.tell)
    try:
        # The controls first: where they do not read what they must, nothing else is asked.
        for runs in (study.controls, study.runs):
            code = printed.end(_made(making, runs), len(runs))
            wrong = tables.off(labs, tables.measured(study, labs, folder)) if code == DONE else []
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
    except JournalFull as error:
        print(error, file=sys.stderr)
        code = INTERRUPTED
    into_the_store(folder)
    if code == INTERRUPTED and not as_json:
        print(f"To go on from here: python -m core study run {file}")
    return code


def _made(making: Making, runs: Iterable[Planned]) -> Outcome:
    async def go() -> Outcome:
        heed_ctrl_c()
        return await making.make(list(runs))

    return asyncio.run(go())


class _Progress:
    """Tells of each run as it ends."""

    def __init__(self, study: Study, as_json: bool) -> None:
        self._study = study
        self._json = as_json
        self._ended = 0

    def tell(self, run: Planned, state: Transcript) -> None:
        score = state.score(run.lab.headline, self._study.rules)
        value = score.value if score else None
        if self._json:
            told = {"run": run.id, "status": state.status, "metric": run.lab.headline, "value": value}
            print(json.dumps(told), flush=True)
            return
        self._ended += 1
        title = run.lab.metric(run.lab.headline).title.lower()
        figure = f"{title} {value:.2f} ({score.n} of {score.of})" if score and value is not None else f"no {title}"
        model = getattr(run.spec, "model", "")
        print(f"{run.lab.title}  {model}  {getattr(run.spec, 'title', '')}: {state.status}, {figure}", flush=True)

    def end(self, outcome: Outcome, of: int) -> int:
        """What came of the runs, in a sentence for each kind; the exit code."""
        for run, why in outcome.failed.items():
            print(f"{run} failed: {why}", file=sys.stderr)
        if outcome.elsewhere:
            print(f"{_runs(len(outcome.elsewhere))} of this study are being made by another process.", file=sys.stderr)
        if outcome.spent:
            print(
                f"The budget of {self._study.budget_calls:,} calls is spent: {len(outcome.completed)} of {_runs(of)} "
                "have completed, and what was answered is kept. Raise budget_calls to go on.",
                file=sys.stderr,
            )
            return INTERRUPTED
        if outcome.failed:
            return BAD_INPUT if outcome.bad_input else UNREACHABLE
        return INTERRUPTED if outcome.elsewhere else DONE


def _status(file: Path, journals: Path | None, as_json: bool) -> int:
    study = plan.read(file, entry.labs())
    stand = standings(study.all, Output(journals).folder)
    counts = Counter(one.status for one in stand.values())
    failures = sum((one.failures for one in stand.values()), Counter[str]())
    found = {
        **{"study": study.name, "runs": len(stand), "status": dict(counts)},
        **{"answered": sum(one.answered.total() for one in stand.values())},
        **{"paid": sum(one.paid for one in stand.values()), "budget_calls": study.budget_calls},
        **{"failures": dict(failures)},
        **{"stopped": {run: one.message for run, one in stand.items() if one.status == "failed"}},
    }
    if as_json:
        print(json.dumps(found, ensure_ascii=False))
        return DONE
    print(f"{study.title}\n{_runs(len(stand))}: " + ", ".join(f"{n} {status}" for status, n in counts.items()))
    budget = f" of {study.budget_calls:,}" if study.budget_calls else ""
    print(f"{found['answered']:,} calls answered; {found['paid']:,}{budget} asked of models that are no robots")
    for error, n in failures.most_common():
        print(f"  {n:,} {error}")
    for run, one in stand.items():
        if one.status == "failed":
            print(f"  {run}: {one.message}")
    return DONE


def _table(file: Path, journals: Path | None, as_json: bool, picture: Path | None) -> int:
    labs = entry.labs()
    study = plan.read(file, labs)
    rows = tables.rows(study, labs, tables.measured(study, labs, Output(journals).folder))
    if picture is not None:
        from core.charts import dial

        picture.write_text(dial.draw(rows).to_html(include_plotlyjs=True), encoding="utf-8")
    if as_json:
        for row in rows:
            print(json.dumps(row, ensure_ascii=False))
    else:
        print("\n".join(_as_text(rows)) if rows else f"Nothing has been run yet: python -m core study run {file}")
    return DONE


def _as_text(rows: list[tables.Row]) -> Iterable[str]:
    for title, cells in groupby(rows, lambda row: row["table"]):
        of_table = list(cells)
        columns = list(dict.fromkeys(cell["column"] for cell in of_table))
        by_row: dict[str, dict[str, str]] = {}
        for cell in of_table:
            by_row.setdefault(cell["row"], {})[cell["column"]] = _cell(cell)
        yield f"\n{title}"
        width = max(map(len, by_row))
        widths = [max(len(name), *(len(row.get(name, "")) for row in by_row.values())) for name in columns]
        names = (name.ljust(w) for name, w in zip(columns, widths, strict=True))
        yield f"  {'':{width}}  {'  '.join(names)}".rstrip()
        for name, row in by_row.items():
            shown = (row.get(column, "").ljust(w) for column, w in zip(columns, widths, strict=True))
            yield f"  {name:{width}}  {'  '.join(shown)}".rstrip()


def _cell(cell: tables.Row) -> str:
    value = "undefined" if cell["value"] is None else f"{cell['value']:.2f}"
    interval = "" if cell["low"] is None else f" ({cell['low']:.2f} to {cell['high']:.2f})"
    # The power of so many items rests on no item: its column says how many.
    items = f", {cell['n']} of {cell['of']}" if cell["table"] != "Power" else ""
    truth = "" if cell["truth"] is None else f", must read {cell['truth']:.2f}"
    marks = ("" if cell["complete"] else ", not complete") + (", too few count" if cell["thin"] else "")
    return f"{value}{interval}{items}{truth}{marks}"


def _runs(number: int) -> str:
    return f"{number} {'run' if number == 1 else 'runs'}"
