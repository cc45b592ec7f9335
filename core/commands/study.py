"""`study`: plan and make many runs from one file, here or on a cluster, follow them, and read them as tables."""

from __future__ import annotations

import asyncio
import json
import shlex
import shutil
import signal
import sys
import tempfile
import tomllib
from collections import Counter
from collections.abc import AsyncIterator, Callable, Iterable, Iterator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import asdict, replace
from functools import partial
from importlib.util import find_spec
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from pydantic import ValidationError

from .. import entry, home, journal
from ..journal import JournalFullError
from ..models.ids import is_free
from ..package_data import COMMAND, ROOT
from ..report import export, methods, standalone_html, study_html
from ..runs.context import complaints
from ..runs.library import refusing_newer_journals
from ..store.index import index
from ..store.store import Store
from ..studies import estimate, plan, study_files, table_cells, tables
from ..studies.cluster import Cluster, Task, TaskResult, while_wanted
from ..studies.execute import Making, StudyOutcome
from ..studies.plan import ClusterOf, Planned, Study, want
from ..studies.run_status import StudyState, progress, stopped_early
from ..studies.study_files import list_study, refuse_packed
from ..studies.table_cells import Row, pivot
from ..text.display import count_noun
from ..transcript import Transcript
from . import run_output
from .run_output import BAD_INPUT, DONE, FILE, INTERRUPTED, UNREACHABLE, WRONG, journals_option, json_option

if TYPE_CHECKING:
    from dask_jobqueue.slurm import SLURMCluster
    from distributed import Client
    from pandas import DataFrame


# `study pack`, `unpack`, `verify` and `report`: journals into one file and back, figures recomputed from raw
# answers, and the whole study as one HTML file.


# `study pause` and `study status`: pause a running study, and show its progress.


study_argument = click.argument("file", type=FILE, metavar="STUDY.toml")
"""The study file, as the parameter `file`."""


@click.command("pause", help="Pause a running study, here or in another process.")
@study_argument
def pause(file: Path) -> int:
    """Stop further calls of the study. The process that makes it stops when the open calls are answered."""
    study = plan.read(file, entry.labs())
    plan.want(home.home(), study.name, paused=True)
    print(f"{study.title}: the process that runs it will stop in a second or two, once its open calls are answered.")
    print(f"To continue: {COMMAND} study run {file}")
    return DONE


@click.command("status", help="Print the status of a study's runs.")
@study_argument
@journals_option
@json_option("a JSON object")
def status(file: Path, journals: Path, as_json: bool) -> int:
    """Print the progress of the study."""
    study = plan.read(file, entry.labs())
    refuse_packed(study, journals)
    found = progress(StudyState(study, journals))
    broken = estimate.broken(estimate.loaded_records(study, journals))
    if as_json:
        print(json.dumps({**asdict(found), "broken": broken}, ensure_ascii=False))
    else:
        print(study.title, *study_html.of_progress(found), *broken, sep="\n")
    return DONE


@click.command("pack", help="Pack the journals of completed runs into one file. `unpack` restores them.")
@study_argument
@journals_option
@json_option("a JSON object")
def pack(file: Path, journals: Path, as_json: bool) -> int:
    """Pack the completed runs of the study and return the exit code."""
    study = plan.read(file, entry.labs())
    made = study_files.pack(study, journals)
    run_output.index_run(journals)
    if as_json:
        print(json.dumps({**made._asdict(), "file": str(made.file)}))
        return DONE
    for why, runs in Counter(made.left_out.values()).items():
        print(f"Left out: {runs} of {len(study.all)} runs: {why}.", file=sys.stderr)
    if not made.runs:
        print("There is nothing to pack.")
        return BAD_INPUT
    print(f"{made.runs:,} runs in {made.file}: {_kb(made.bytes)} instead of {_kb(made.unpacked)}.")
    return DONE


@click.command("unpack", help="Restore the journals of a packed study, one file per run.")
@study_argument
@journals_option
@json_option("a JSON object")
def unpack(file: Path, journals: Path, as_json: bool) -> int:
    """Restore the journals from the study's pack, one file per run, and return the exit code."""
    runs = study_files.unpack(plan.read(file, entry.labs()), journals)
    run_output.index_run(journals)
    print(json.dumps({"runs": runs}) if as_json else f"{runs:,} runs unpacked into {journals}")
    return DONE


@click.command("verify", help="Score a study's runs again from their raw answers. Exit code 1 if a figure differs.")
@study_argument
@journals_option
@json_option("one run per line, as a JSON object")
def verify(file: Path, journals: Path, as_json: bool) -> int:
    """Report the runs whose figures differ from what their answers give, and return the exit code."""
    study = plan.read(file, entry.labs())
    study_files.refuse_packed(study, journals)
    paths = [path for run in study.all if (path := journal.find(run.id, journals)) is not None]
    wrong, untold = 0, 0
    for path in paths:
        with refusing_newer_journals():
            found, faults = entry.verify(path), journal.faults(path)
        wrong += bool(found.differ or faults)
        untold += bool(found.why)
        if as_json:
            faulty = [fault._asdict() for fault in faults]
            print(json.dumps({"run": path.stem, **found.model_dump(), "faults": faulty}), flush=True)
        elif found.why or found.differ or faults:
            damaged = f" {len(faults):,} lines of its journal are damaged." if faults else ""
            print(f"{path.stem}: {found.sentence}{damaged}", *(f"  {line}" for line in found.differ), sep="\n")
    if not as_json:
        good = len(paths) - wrong - untold
        print(f"{good:,} of {count_noun(len(paths), 'run')}: the figures follow from the raw answers.")
    return WRONG if wrong else BAD_INPUT if untold else DONE


def _kb(size: int) -> str:
    return f"{size / 1000:,.0f} kB"


@click.command("report", help="Write a study's report as one HTML file that needs no network.")
@study_argument
@click.option("-o", "out", required=True, type=FILE, metavar="FILE.html")
@journals_option
def report(file: Path, out: Path, journals: Path) -> int:
    """Write the report and return the exit code."""
    study = plan.read(file, entry.labs())
    study_files.refuse_packed(study, journals)
    out.write_bytes(study_html.html(study, entry.labs(), journals, _methods([run.id for run in study.all], journals)))
    print(f"Written: {out}")
    return DONE


def _methods(runs: list[str], folder: Path) -> list[str]:
    """Return sentences on how the runs were made, from an index of the folder; a temporary one unless the folder is the
    home's.
    """
    if folder == home.journals():
        with run_output.open_fresh_index() as store:
            return methods.sentences(store, runs, figures=False)
    with tempfile.TemporaryDirectory() as place, Store(Path(place) / "store.duckdb", entry.labs()) as store:
        index(store, folder)
        return methods.sentences(store, runs, figures=False)


# `study run --engine dask` and `--engine slurm`: the cluster that makes the runs, and what its workers do.


def on_worker(task: Task) -> TaskResult:
    """Make one run on a worker, with the worker's own labs, models and keys."""
    return asyncio.run(while_wanted(task, entry.labs(), entry.catalog().get))


def making_on_cluster(
    engine: str, scheduler: str | None, study: Study, folder: Path, ended: Callable[[Planned, Transcript], None]
) -> Cluster:
    """Return the object that makes the study's runs on that cluster. Raises click.UsageError if the cluster is not
    available.
    """
    for needed in ("distributed", "dask_jobqueue"):
        if find_spec(needed) is None:
            raise click.UsageError(
                f"{needed} is not installed. Clusters need: "
                "python -m pip install --no-deps --require-hashes -r requirements-cluster.lock"
            )
    if (engine == "dask") != (scheduler is not None):
        raise click.UsageError("--engine dask needs --scheduler, and no other engine accepts it.")
    if engine == "slurm" and shutil.which("sbatch") is None:
        raise click.UsageError("SLURM is not installed here: there is no command sbatch.")
    asked = cluster_settings(study)

    @asynccontextmanager
    async def connected() -> AsyncIterator[Client]:
        from distributed import Client

        async with AsyncExitStack() as stack:
            if scheduler is None:
                cluster = await stack.enter_async_context(slurm(asked))
                cluster.scale(jobs=asked.jobs)
            try:
                client = await stack.enter_async_context(Client(scheduler or cluster, asynchronous=True))  # type: ignore[no-untyped-call]
            except OSError as error:
                raise ConnectionError(f"The Dask scheduler does not answer ({error}).") from None
            yield client

    return Cluster(replace(study, cluster=asked), entry.labs(), folder, connected, on_worker, ended)


def cluster_settings(study: Study) -> ClusterOf:
    """Return the table `[cluster]` of the study, or else the content of $EXPLAIN_HOME/cluster.toml. Raises
    click.UsageError.
    """
    path = home.home() / "cluster.toml"
    if study.cluster is not None or not path.exists():
        return study.cluster or ClusterOf()
    try:
        return ClusterOf.model_validate(tomllib.loads(path.read_text(encoding="utf-8")))
    except ValidationError as error:
        raise click.UsageError(f"{path}: {complaints(error)[0]}") from None
    except (OSError, ValueError) as error:
        raise click.UsageError(f"{path} cannot be read: {error}") from None


def slurm(asked: ClusterOf) -> SLURMCluster:
    """Return a cluster whose workers are SLURM jobs, none submitted yet; use it with `async with`. The traffic between
    its machines is encrypted, because anyone who can reach a scheduler can make its workers do anything.
    """
    # Importing it makes Ctrl-C end the process immediately, so the old handler is restored.
    heeded = signal.getsignal(signal.SIGINT)
    from dask_jobqueue.slurm import SLURMCluster

    signal.signal(signal.SIGINT, heeded)
    logs = home.home() / "cluster"
    logs.mkdir(mode=0o700, exist_ok=True)
    options: dict[str, Any] = {name: getattr(asked, name) for name in ("memory", "walltime", "queue", "account")}
    return SLURMCluster(
        **options,
        # One run at a time in each process.
        cores=asked.at_once,
        processes=asked.at_once,
        job_cpu=asked.cpus,
        job_name="explain",
        python=shlex.quote(asked.python or sys.executable),
        job_script_prologue=[
            *asked.setup,
            f"export EXPLAIN_HOME={shlex.quote(str(home.home().resolve()))}",
            f"cd {shlex.quote(str(ROOT))}",
        ],
        job_extra_directives=list(asked.directives),
        interface=asked.interface,
        log_directory=str(logs),
        security=True,
        shared_temp_directory=str(logs),
        scheduler_options={"dashboard": False, "dashboard_address": "127.0.0.1:0"},
        asynchronous=True,
    )


OFF = 5
"""The exit code if a control does not have the value that it must have."""


@click.command("plan", help="Print what a study will cost, without calling a model.")
@study_argument
@journals_option
@json_option("a JSON object")
def _plan(file: Path, journals: Path, as_json: bool) -> int:
    study = plan.read(file, entry.labs())
    found = estimate.estimate(study, entry.labs(), entry.catalog().get, journals, home.recordings())
    if as_json:
        print(json.dumps(asdict(found), ensure_ascii=False, default=str))
    else:
        print(study.title, *study_html.of_estimate(found), sep="\n")
    return DONE


@click.command("run", help="Make the runs of a study that are not complete, controls first.")
@study_argument
@journals_option
@json_option("one run per line, as a JSON object")
@click.option(
    "--engine",
    type=click.Choice(["local", "dask", "slurm"]),
    default="local",
    show_default=True,
    help="where to make the runs: here, on a running Dask cluster, or on SLURM jobs",
)
@click.option("--scheduler", metavar="ADDRESS", help="address of the Dask scheduler, such as tcp://10.0.0.1:8786")
def _run(file: Path, journals: Path, as_json: bool, engine: str, scheduler: str | None) -> int:
    return asyncio.run(make_runs(file, journals, as_json, engine, scheduler))


async def make_runs(
    file: Path, journals: Path, as_json: bool = False, engine: str = "local", scheduler: str | None = None
) -> int:
    """Make the runs of a study that are not complete, controls first, print what comes of each, and return the exit
    code. If the task is cancelled, the runs that have begun can be resumed. Raises StudyError and ModelNotFoundError.
    """
    run_output.cancel_on_sigint()
    labs, catalog = entry.labs(), entry.catalog()
    study = plan.read(file, labs)
    want(home.home(), study.name, paused=False)
    if journals == home.journals():
        list_study(home.home(), file, study.title)
    tell = partial(_tell, study, journals, as_json)
    making: Making | Cluster
    if engine == "local":
        for model in sorted({model for run in study.all for model in run.spec.models}):
            catalog.get(model)
        making = Making(study, labs, catalog.get, journals, tell)
    else:
        making = making_on_cluster(engine, scheduler, study, journals, tell)
    # Only for robots is it known which value a run must have.
    known = tuple(run for run in study.all if any(map(is_free, run.spec.models)))
    of_robots, kept = replace(study, runs=known, controls=()), dict[str, "DataFrame"]()
    try:
        # The controls come first: if their values are wrong, nothing else is asked.
        for runs in (study.controls, study.runs):
            code = _end(study, await making.run_all(runs), len(runs))
            if code != DONE:
                break
            if wrong := tables.instrument_faults(labs, tables.measured(of_robots, labs, journals, kept)):
                why = "A control did not get its known value, so no figure of this study can be relied on."
                _complain([why, *wrong])
                code = OFF
                break
    except asyncio.CancelledError:
        code = INTERRUPTED
    except (JournalFullError, ConnectionError) as error:
        _complain([error])
        code = INTERRUPTED
    run_output.index_run(journals)
    _complain(estimate.broken(estimate.loaded_records(study, journals)))
    if code == INTERRUPTED and not as_json:
        print(f"To continue: {COMMAND} study run {file}")
    return code


def _complain(lines: Iterable[object]) -> None:
    """Print lines to standard error, because programs may read standard output."""
    for line in lines:
        print(line, file=sys.stderr)


def _tell(study: Study, journals: Path, as_json: bool, run: Planned, state: Transcript) -> None:
    """Print a line on a run that has ended."""
    metric, value, items = run.lab.metric(run.lab.headline), None, ""
    # Not all leading figures of a lab exist for every kind of item.
    for leader in (metric for metric in run.lab.metrics if metric.leads and metric.better):
        score = state.score(leader.name, study.rules)
        if score is not None and score.value is not None:
            metric, value, items = leader, score.value, f"{score.n} of {score.of}"
            break
    status: str | None = state.status
    if status == "cancelled" and (early := stopped_early(study, journals).get(run.id)):
        metric = run.lab.metric(run.lab.headline)
        status, value, items = "stopped early", early.interval.value, f"{early.interval.n} items"
    if as_json:
        line = {"run": run.id, "status": status, "metric": metric.name, "value": value}
        print(json.dumps(line), flush=True)
        return
    title = metric.title.lower()
    figure = f"no {title}" if value is None else f"{title} {value:.2f} ({items})"
    model = getattr(run.spec, "model", "")
    print(f"{run.lab.title}  {model}  {getattr(run.spec, 'title', '')}: {status}, {figure}", flush=True)


def _end(study: Study, outcome: StudyOutcome, of: int) -> int:
    """Report problems of the runs in sentences, and return the exit code."""
    _complain(f"{run} failed: {why}" for run, why in outcome.failed.items())
    if outcome.elsewhere:
        _complain([f"{count_noun(len(outcome.elsewhere), 'run')} of this study are in progress in another process."])
    if outcome.spent or outcome.paused:
        why = "Paused" if outcome.paused else f"The budget of {_budget(study)}"
        done = f"{len(outcome.completed) + len(outcome.early)} of {count_noun(of, 'run')} have completed"
        raising = "" if outcome.paused else " Raise the budget to go on."
        _complain([f"{why}: {done}, and all answers are kept.{raising}"])
        return INTERRUPTED
    if outcome.failed:
        return BAD_INPUT if outcome.bad_input else UNREACHABLE
    return INTERRUPTED if outcome.elsewhere else DONE


def _budget(study: Study) -> str:
    """Return the budgets as the start of a sentence that they are used up. A budget of money always keeps what one more
    call may cost.
    """
    calls, money = study.budget_calls, study.budget_money
    if money is None:
        return f"{calls:,} calls is spent"
    both = f"{money:.2f} US dollars" + (f" and {calls:,} calls" if calls else "")
    return f"{both} leaves no room for one more call"


@click.command("table", help="Print what a study has found so far.")
@study_argument
@journals_option
@json_option("one row per line, as a JSON object")
@click.option("--csv", "form", flag_value="csv", help="all cells, one per line, for a program")
@click.option("--markdown", "form", flag_value="github", help="the tables in Markdown")
@click.option("--latex", "form", flag_value="latex_booktabs", help="the tables in LaTeX; needs the package booktabs")
@click.option("--picture", type=FILE, metavar="FILE.html", help="also plot measured figures against known true ones")
def _table(file: Path, journals: Path, as_json: bool, form: str | None, picture: Path | None) -> int:
    labs = entry.labs()
    study = plan.read(file, labs)
    refuse_packed(study, journals)
    rows = tables.rows(study, labs, tables.measured(study, labs, journals))
    if picture is not None:
        from ..charts import scatter

        picture.write_bytes(standalone_html.with_policy(scatter.draw(rows).to_html(include_plotlyjs=True)))
    _complain(estimate.broken(estimate.loaded_records(study, journals)))
    if form == "csv" and rows:
        import pandas as pd

        print(export.table(pd.DataFrame(rows), "csv").decode("utf-8-sig"), end="")
        return DONE
    lines = [json.dumps(row, ensure_ascii=False) for row in rows] if as_json else list(as_text(rows, form))
    if lines:
        print("\n".join(lines))
    elif not as_json:
        print(f"No run has been made yet: {COMMAND} study run {file}")
    return DONE


def as_text(rows: list[Row], form: str | None = None) -> Iterable[str]:
    """Yield the tables of a study as lines, or in a `form` of tabulate ("github", "latex_booktabs"). In a terminal a
    table that is too wide has a line for each cell.
    """
    width = shutil.get_terminal_size().columns if sys.stdout.isatty() else None
    for title, cells in groupby(rows, lambda row: row["table"]):
        of_table, still = table_cells.moved(list(cells))
        comment = "% " if form == "latex_booktabs" else ""
        yield f"\n{'### ' if form == 'github' else comment}{title}"
        if still:
            yield f"{comment}  {still}"
        if not of_table:
            continue
        # Tables of choices have lists of items, which would make them too wide, so these are printed below.
        is_wide = title.startswith(table_cells.MULTIVERSE)
        columns, by_row = pivot([cell | {"note": ""} for cell in of_table] if is_wide and form is None else of_table)
        texts = ([name, *(_cell(row[one]) if one in row else "" for one in columns)] for name, row in by_row.items())
        lines = [["", *columns], *texts]
        if form is not None:
            yield ""
            yield _marked_up(lines, form)
            yield from (f"\n{comment}{line}" for line in _about_printed(of_table))
            continue
        printed = [f"  {line}" for line in run_output.aligned(lines)]
        if width and max(map(len, printed)) > width:
            printed = []
            for name, *row in lines[1:]:
                named = zip(columns, row, strict=True)
                printed += [f"  {name}", *(f"    {column}: {cell}" for column, cell in named if cell)]
        yield from printed
        yield from (f"  {line}" for line in _about_printed(of_table))
        if is_wide:
            yield from (f"    {cell['row']}, {cell['column']}: {cell['note']}" for cell in of_table)


def _marked_up(lines: list[list[str]], form: str) -> str:
    from tabulate import tabulate

    if form == "github":
        lines = [[cell.replace("|", "\\|") for cell in line] for line in lines]
    return str(tabulate(lines[1:], lines[0], tablefmt=form, disable_numparse=True))


def _cell(cell: Row) -> str:
    if cell["source"] and not cell["of"]:
        return "; ".join(filter(None, (_printed(cell), cell["note"])))
    parts = ["undefined" if cell["value"] is None else f"{cell['value']:.2f}"]
    parts += [] if cell["low"] is None else [f" ({cell['low']:.2f} to {cell['high']:.2f})"]
    # Power is not based on items; its column names their number.
    parts += [f", {cell['n']} of {cell['of']}"] if cell["table"] != "Power" else []
    if cell["other_parser"]:
        other = "undefined" if cell["other"] is None else f"{cell['other']:.2f}"
        parts.append(f"; {cell['other_parser']} {other}, {cell['other_n']}")
    parts += [] if cell["truth"] is None else [f", known value {cell['truth']:.2f}"]
    parts += [] if cell["p"] is None else [f", p = {cell['p']:.2g} (Holm {cell['p_holm']:.2g})"]
    parts += [] if cell["complete"] else [", not complete"]
    parts += [", stopped early"] if cell["stopped_early"] else []
    parts += [", too few count"] if cell["thin"] else []
    parts += [f"; {cell['note']}"] if cell["note"] else []
    parts += [f" [{_printed(cell)}]"] if cell["source"] else []
    return "".join(parts)


def _printed(cell: Row) -> str:
    """Return the figure that a paper printed there, marked as not ours."""
    n = f", n = {cell['published_n']:,}" if cell["published_n"] else ", n not printed"
    apart = "" if cell["difference"] is None else f", ours {cell['difference']:+.2f}"
    return f"printed {cell['published']:.3g}{n}{apart}"


def _about_printed(cells: Iterable[Row]) -> Iterator[str]:
    """Yield where the printed figures of a table are, and why ours may differ."""
    cells = list(cells)
    yield from dict.fromkeys(f"Printed: {cell['source']}, {cell['reading']}" for cell in cells if cell["reading"])
    yield from dict.fromkeys(cell["why"] for cell in cells if cell["why"])


_HELP = "Make many runs from one file: plan, run, pause, status, table, report, verify, pack."
COMMANDS = (click.Group("study", (_plan, _run, pause, status, _table, pack, unpack, verify, report), help=_HELP),)
