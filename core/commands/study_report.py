"""`study report`: a study as one HTML file."""

from __future__ import annotations

import tempfile
from pathlib import Path

import click

from core import entry, home
from core.commands.running import DONE, Output, index_of_all
from core.store.index import index
from core.store.store import Store
from core.study import plan
from core.telling import methods, report


def add(group: click.Group) -> None:
    """Add the command to the group `study`, which is changed in place."""
    group.add_command(_report)


@click.command("report", help="Write what a study asked and found as one HTML file that needs no network.")
@click.argument("file", type=click.Path(path_type=Path, dir_okay=False), metavar="STUDY.toml")
@click.option("-o", "out", required=True, type=click.Path(path_type=Path, dir_okay=False), metavar="FILE.html")
@click.option("--journals", type=click.Path(path_type=Path, file_okay=False), metavar="DIR",
              help="default: $EXPLAIN_HOME/journals")  # fmt: skip
def _report(file: Path, out: Path, journals: Path | None) -> int:
    study = plan.read(file, entry.labs())
    folder = Output(journals).folder
    out.write_bytes(report.html(study, entry.labs(), folder, _methods([run.id for run in study.all], folder)))
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
