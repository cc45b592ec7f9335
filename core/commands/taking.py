"""`query`, `export` and `import`: what is taken out of the store and the journals, and what comes in."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterable
from pathlib import Path

import click

from core import entry, home
from core.commands.running import DONE, into_the_store
from core.runs import bundle
from core.runs.bundle import BundleRefused
from core.store import sql
from core.store.index import index
from core.store.sql import Found
from core.store.store import Store, StoreBusy

_WIDEST = 50
"""Letters of a cell, in a table that is printed."""


def add(commands: click.Group) -> None:
    """Add query, export and import to the group `commands`, which is changed in place."""
    for one in (_query, _export, _import):
        commands.add_command(one)


@click.command("query", help="Ask the index of the journals by SQL, which can read and do nothing else.")
@click.argument("query", metavar="SQL")
@click.option("--json", "as_json", is_flag=True, help="print one row a line, as a JSON object")
def _query(query: str, as_json: bool) -> int:
    found = _asked(query)
    if as_json:
        for row in found.rows():
            print(json.dumps(row, ensure_ascii=False))
    else:
        print("\n".join(_table(found)))
    if found.cut:
        print(found.cut, file=sys.stderr)
    return DONE


def _asked(query: str) -> Found:
    """What SQL finds, in an index that is up to date."""
    path = home.home() / "store.duckdb"
    try:
        store = Store(path, entry.labs())
    except StoreBusy:
        # The app holds it. This one is made of the same journals, and kept for the next time.
        path = home.home() / "store.commands.duckdb"
        print("The app has the index open: asking one of the command line's own.", file=sys.stderr)
        store = Store(path, entry.labs())
    with store:
        index(store, home.journals())
        index(store, home.recordings(), recordings=True)
    return sql.ask_file(path.resolve(), query)


def _table(found: Found) -> Iterable[str]:
    """The rows as a table of text, with its columns' names above."""
    names = found.table.column_names
    rows = [[_cell(value) for value in row.values()] for row in found.rows()]
    widths = [
        min(_WIDEST, max(map(len, column))) for column in zip([_cell(name) for name in names], *rows, strict=True)
    ]
    for row in ([_cell(name) for name in names], ["-" * width for width in widths], *rows):
        cut = (cell if len(cell) <= width else f"{cell[: width - 1]}…" for cell, width in zip(row, widths, strict=True))
        yield "  ".join(cell.ljust(width) for cell, width in zip(cut, widths, strict=True)).rstrip()


def _cell(value: object) -> str:
    """A value on one line; nothing in it moves the terminal's pen."""
    text = "" if value is None else value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    return "".join(letter if letter.isprintable() else " " for letter in text[: _WIDEST + 1])


@click.command("export", help="Write runs, and what people said of them, into one file: all, or some.")
@click.argument("file", type=click.Path(path_type=Path, dir_okay=False), metavar="FILE.zip")
@click.option("--run", "runs", multiple=True, metavar="RUN", help="this run; may be given several times")
@click.option("--where", help="""runs that meet a condition in SQL over the columns of runs: "model like 'local/%'" """)
@click.option("--sender", default="", help="whose they are, for those who import them")
@click.option("--json", "as_json", is_flag=True, help="print what was written as a JSON object")
def _export(file: Path, runs: tuple[str, ...], where: str | None, sender: str, as_json: bool) -> int:
    chosen = list(runs)
    if where is not None:
        # On a line of its own: a comment at its end must not swallow what follows.
        found = _asked(f"select run from runs where about = '' and (\n{where}\n)")  # noqa: S608  what a person writes can only read
        if found.cut:
            raise BundleRefused(f"More runs meet the condition than a query gives. {found.cut}")
        chosen += [str(row["run"]) for row in found.rows()]
    elif not runs:
        chosen = sorted(path.stem for path in home.journals().glob("*.jsonl") if "~" not in path.stem)
    if file.exists():
        raise BundleRefused(f"{file} is there already: name another file.")
    aside = file.with_name(f".{file.name}.part")
    try:
        with aside.open("xb") as target:
            written = bundle.write(target, chosen, (home.journals(), home.recordings()), sender)
        missing = [run for run in runs if run in written.left_out]
        if missing or not written.runs:
            reasons = [f"{run}: {written.left_out[run]}" for run in missing] or ["there is no run to write"]
            raise BundleRefused(f"{file} was not written. {'; '.join(reasons)}.")
        os.replace(aside, file)
    except OSError as error:
        raise BundleRefused(f"{file} cannot be written: {error.strerror or error}.") from None
    finally:
        aside.unlink(missing_ok=True)
    for run, why in written.left_out.items():
        print(f"{run} was left out: {why}.", file=sys.stderr)
    if as_json:
        print(json.dumps({"runs": len(written.runs), "file": str(file), "left_out": written.left_out}))
    else:
        print(f"{_runs(len(written.runs))} written to {file}")
    return DONE


@click.command("import", help="Keep the runs of a bundle, of a journal, or of a folder of journals, beside your own.")
@click.argument("path", type=click.Path(path_type=Path, exists=True), metavar="FILE.zip|DIR|FILE.jsonl")
@click.option("--sender", default="", help="whose they are (default: what the bundle says, or its name)")
@click.option("--json", "as_json", is_flag=True, help="print what was kept as a JSON object")
def _import(path: Path, sender: str, as_json: bool) -> int:
    taken = bundle.take(path, (home.journals(), home.recordings()), sender)
    into_the_store(home.journals())
    for name, why in taken.passed_over.items():
        print(f"{name} was passed over: {why}.", file=sys.stderr)
    if as_json:
        print(json.dumps({**taken._asdict(), "runs": len(taken.runs), "imported": taken.runs}))
    else:
        print(f"{_runs(len(taken.runs))} imported")
        if taken.same:
            print(f"{len(taken.same)} journals were here already, byte for byte.")
    return DONE


def _runs(number: int) -> str:
    return f"{number} {'run' if number == 1 else 'runs'}"
