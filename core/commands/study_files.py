"""`study pack`, `unpack`, `verify` and `report`: journals into one file and back, figures recomputed from raw answers,
and the whole study as one HTML file.
"""

import json
import sys
import tempfile
from collections import Counter
from dataclasses import asdict
from pathlib import Path

import click

from .. import entry, home, journal
from ..package_data import COMMAND
from ..report import methods, study_text
from ..report import study_html as of_study
from ..runs.library import of_today
from ..store.index import index
from ..store.store import Store
from ..studies import packing, plan, required_data
from ..studies.packing import refuse_packed
from ..studies.progress import progress
from ..studies.run_status import StudyState
from ..text.display import count_noun
from .run_output import BAD_INPUT, DONE, WRONG, index_run, journals_option, json_option, open_fresh_index

# `study pause` and `study status`: pause a running study, and show its progress.


study_argument = click.argument("file", type=click.Path(path_type=Path, dir_okay=False), metavar="STUDY.toml")
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
    broken = required_data.broken(required_data.loaded_records(study, journals))
    if as_json:
        print(json.dumps({**asdict(found), "broken": broken}, ensure_ascii=False))
        return DONE
    print(study.title, *study_text.of_progress(found), *broken, sep="\n")
    return DONE


@click.command("pack", help="Pack the journals of completed runs into one file. `unpack` restores them.")
@study_argument
@journals_option
@json_option("a JSON object")
def pack(file: Path, journals: Path, as_json: bool) -> int:
    """Pack the completed runs of the study and return the exit code."""
    study = plan.read(file, entry.labs())
    made = packing.pack(study, journals)
    index_run(journals)
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
    runs = packing.unpack(plan.read(file, entry.labs()), journals)
    index_run(journals)
    print(json.dumps({"runs": runs}) if as_json else f"{runs:,} runs unpacked into {journals}")
    return DONE


@click.command("verify", help="Score a study's runs again from their raw answers. Exit code 1 if a figure differs.")
@study_argument
@journals_option
@json_option("one run per line, as a JSON object")
def verify(file: Path, journals: Path, as_json: bool) -> int:
    """Report the runs whose figures differ from what their answers give, and return the exit code."""
    study = plan.read(file, entry.labs())
    packing.refuse_packed(study, journals)
    paths = [path for run in study.all if (path := journal.find(run.id, journals)) is not None]
    wrong, untold = 0, 0
    for path in paths:
        with of_today():
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
@click.option("-o", "out", required=True, type=click.Path(path_type=Path, dir_okay=False), metavar="FILE.html")
@journals_option
def report(file: Path, out: Path, journals: Path) -> int:
    """Write the report and return the exit code."""
    study = plan.read(file, entry.labs())
    packing.refuse_packed(study, journals)
    out.write_bytes(of_study.html(study, entry.labs(), journals, _methods([run.id for run in study.all], journals)))
    print(f"Written: {out}")
    return DONE


def _methods(runs: list[str], folder: Path) -> list[str]:
    """Return sentences on how the runs were made, from an index of the folder; a temporary one unless the folder is the
    home's.
    """
    if folder == home.journals():
        with open_fresh_index() as store:
            return methods.sentences(store, runs, figures=False)
    with tempfile.TemporaryDirectory() as place, Store(Path(place) / "store.duckdb", entry.labs()) as store:
        index(store, folder)
        return methods.sentences(store, runs, figures=False)
