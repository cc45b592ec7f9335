"""`study pack`, `study unpack` and `study report`: journals in one file and back; the whole study as one HTML file."""

from __future__ import annotations

import json
import sys
import tempfile
from collections import Counter
from pathlib import Path

import click

from core import entry, home
from core.commands.running import BAD_INPUT, DONE, index_of_all, into_the_store, journals_option, json_option
from core.commands.study_control import study_argument
from core.store.index import index
from core.store.store import Store
from core.study import packing, plan
from core.telling import methods
from core.telling import report as of_study


@click.command("pack", help="Put the journals of completed runs into one file, from which they are still read.")
@study_argument
@journals_option
@json_option("a JSON object")
def pack(file: Path, journals: Path, as_json: bool) -> int:
    """Pack the completed runs of the study; the exit code."""
    study = plan.read(file, entry.labs())
    made = packing.pack(study, journals)
    into_the_store(journals)
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


@click.command("unpack", help="Put the journals of a packed study back, one file a run.")
@study_argument
@journals_option
@json_option("a JSON object")
def unpack(file: Path, journals: Path, as_json: bool) -> int:
    """Put the journals of the study's pack back, one file a run; the exit code."""
    runs = packing.unpack(plan.read(file, entry.labs()), journals)
    into_the_store(journals)
    print(json.dumps({"runs": runs}) if as_json else f"{runs:,} runs unpacked into {journals}")
    return DONE


def _kb(size: int) -> str:
    return f"{size / 1000:,.0f} kB"


@click.command("report", help="Write what a study asked and found as one HTML file that needs no network.")
@study_argument
@click.option("-o", "out", required=True, type=click.Path(path_type=Path, dir_okay=False), metavar="FILE.html")
@journals_option
def report(file: Path, out: Path, journals: Path) -> int:
    """Write the report; the exit code."""
    study = plan.read(file, entry.labs())
    out.write_bytes(of_study.html(study, entry.labs(), journals, _methods([run.id for run in study.all], journals)))
    print(f"Written: {out}")
    return DONE


def _methods(runs: list[str], folder: Path) -> list[str]:
    """How the runs were made, from an index of the folder; one of its own where that is not the home's."""
    if folder == home.journals():
        with index_of_all() as store:
            return methods.sentences(store, runs, figures=False)
    with tempfile.TemporaryDirectory() as place, Store(Path(place) / "store.duckdb", entry.labs()) as store:
        index(store, folder)
        return methods.sentences(store, runs, figures=False)
