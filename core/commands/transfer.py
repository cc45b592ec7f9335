"""Get data out of the store and the journals, and import runs: `query`, `rows`, `export`, `import`, `page`, `scene`,
`methods`.
"""

from __future__ import annotations

import json
import shlex
import sys
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any, get_args

import click

from .. import entry, home, journal
from ..datasets import logs, own
from ..labs.base.lab import Lab
from ..package_data import COMMAND
from ..report import evidence, export, methods, scenes, standalone_html
from ..runs import bundle
from ..runs.bundle import BundleError
from ..runs.signatures import NotSignedError
from ..scene import as_json
from ..store import sql
from ..store.filters import Filter
from ..store.kinds import KEPT
from ..store.listing import Selection
from ..store.sql import QueryResult
from ..store.store import QueryRefusedError
from ..text.display import count_noun
from ..transcript import Transcript, transcript
from .run_output import BAD_INPUT, DONE, FILE, aligned, index_run, json_option, new_file, open_fresh_index, open_run

if TYPE_CHECKING:
    from pandas import DataFrame

_WIDEST = 50
"""Maximum number of characters of a cell in a printed table."""


_output = click.option("-o", "file", type=FILE, metavar="FILE", help="a .csv, .parquet or .jsonl file")

_WHERE = (
    """an SQL condition on the columns of items: "outcome like 'misled%' and model like 'local/%'". """
    """The command query "describe items" lists these columns"""
)


@click.command("query", help="Query the index of the journals with SQL. Queries can only read.")
@click.argument("query", metavar="SQL")
@json_option("one row per line, as a JSON object")
@_output
def _query(query: str, as_json: bool, file: Path | None) -> int:
    if file is not None:
        return _write(file, lambda: _asked(query, whole=True).frame())
    found = _asked(query)
    if as_json:
        for row in found.rows():
            print(json.dumps(row, ensure_ascii=False))
    else:
        print("\n".join(_table(found)))
    if found.cut:
        print(found.cut, file=sys.stderr)
    return DONE


@click.command("rows", help="Write the rows of Browse into a table: one for each case or trial and each parser.")
@click.option("--where", default="true", help=f"only those with {_WHERE}")
@click.option(
    "--kinds",
    default="",
    metavar="ID",
    help="only the rows of this grouping by meaning, with their kinds; the ID follows kind: in the address of Browse",
)
@_output
def _rows(where: str, kinds: str, file: Path | None) -> int:
    if file is None:
        raise click.UsageError("Name the file: -o FILE.csv, FILE.parquet or FILE.jsonl.")

    def frame() -> DataFrame:
        import pandas as pd

        places = _asked(f'select run, "case", trial from items where (\n{where}\n)', whole=True).frame()  # noqa: S608  what a person writes can only read
        with open_fresh_index() as store:
            runs = tuple(dict.fromkeys(places["run"]))
            selections = [Selection(store, Filter(runs=runs, recordings=which)) for which in (False, True)]
            tables = [export.rows(one, kinds) for one in selections]
        found = pd.concat([one for one in tables if len(one)] or tables[:1]).merge(places, on=["run", "case", "trial"])
        if kinds and found.empty:
            raise ValueError(
                f"No row is in the grouping {kinds}. The index keeps the newest {KEPT} groupings, and none after an "
                "update that changes it. Group the rows again in Browse, and take the ID from the address."
            )
        if of_recordings := int(found["recording"].sum()):
            print(f"{count_noun(of_recordings, 'row')} of runs that came with the app: there `recording` is true.")
        return found

    return _write(file, frame)


def _write(file: Path, frame: Callable[[], DataFrame]) -> int:
    """Write the table that `frame` returns into the file, and say how many rows it has."""
    try:
        kind = export.kind_of(file)
        with new_file(file) as target:
            found = frame()
            target.write(export.table(found, kind))
    except ValueError as error:
        raise click.UsageError(str(error)) from None
    print(f"{count_noun(len(found), 'row')} written to {file}")
    return DONE


def _asked(query: str, whole: bool = False) -> QueryResult:
    """Return the result of a query on an up-to-date index."""
    with open_fresh_index() as store:
        # The query runs in its own process, which must open the file itself.
        store.close()
        return sql.ask_file(store.path, query, whole=whole)


def _all_of(query: str) -> list[dict[str, Any]]:
    """Return all rows of a query. Raises QueryRefusedError if there are more than a query may return."""
    found = _asked(query)
    if found.cut:
        raise QueryRefusedError(f"More match the condition than a query returns. {found.cut}")
    return list(found.rows())


def _table(found: QueryResult) -> Iterable[str]:
    """Return the lines of a text table with the column names on top."""
    names = [_cell(name) for name in found.table.column_names]
    rows = [[_cell(value) for value in row.values()] for row in found.rows()]
    rule = ["-" * max(map(len, column)) for column in zip(names, *rows, strict=True)]
    return aligned([names, rule, *rows])


def _cell(value: object) -> str:
    """Return a value on one line, shortened and without control characters, which could move the terminal's cursor."""
    text = "" if value is None else value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    shown = text if len(text) <= _WIDEST else f"{text[: _WIDEST - 1]}…"
    return _printable(shown)


def _printable(text: str) -> str:
    """Return a text without control characters, which could move the terminal's cursor."""
    return "".join(letter if letter.isprintable() else " " for letter in text)


@click.command("export", help="Write runs and their annotations into one file: all runs, or some.")
@click.argument("file", type=FILE, metavar="FILE.zip|FILE.eval")
@click.option("--to", "tool", type=click.Choice(["inspect"]), help="write a log of this tool: a case is a sample")
@click.option("--run", "runs", multiple=True, metavar="RUN", help="this run; can be given several times")
@click.option("--where", help="""runs that match an SQL condition on the columns of runs: "model like 'local/%'" """)
@click.option("--sender", default="", help="name of the sender, shown to people who import them")
@click.option(
    "--sign",
    "key",
    type=click.Path(path_type=Path, exists=True, dir_okay=False),
    metavar="KEY",
    help="an OpenSSH key to sign it with, such as ~/.ssh/id_ed25519 (needs ssh-keygen)",
)
@json_option("the result as a JSON object")
def _export(
    file: Path, tool: str | None, runs: tuple[str, ...], where: str | None, sender: str, key: Path | None, as_json: bool
) -> int:
    if tool is not None and (sender or key):
        raise click.UsageError("A log has no sender and no signature: leave out --sender and --sign, or --to.")
    chosen = list(runs)
    if where is not None:
        # On a line of its own, so that a comment at its end does not hide the rest.
        found = _all_of(f"select run from runs where about = '' and (\n{where}\n)")  # noqa: S608  what a person writes can only read
        chosen += [str(row["run"]) for row in found]
    elif not runs:
        listed = (path for path in journal.list_journals(home.journals()) if not journal.is_blank(path))
        chosen = [path.stem for path in listed if "~" not in path.stem]
    if tool is not None:
        return _export_log(file, list(dict.fromkeys(chosen)), as_json)
    with new_file(file) as target:
        try:
            written = bundle.write(target, chosen, (home.journals(), home.recordings()), sender, key=key)
        except NotSignedError as error:
            raise BundleError(f"{file} was not written. {error}") from None
        missing = [run for run in runs if run in written.left_out]
        if missing or not written.runs:
            reasons = [f"{run}: {written.left_out[run]}" for run in missing] or ["there is no run to write"]
            raise BundleError(f"{file} was not written. {'; '.join(reasons)}.")
    for run, why in written.left_out.items():
        print(f"{run} was left out: {why}.", file=sys.stderr)
    if as_json:
        print(json.dumps({"runs": len(written.runs), "file": str(file), "left_out": written.left_out}))
    else:
        print(f"{count_noun(len(written.runs), 'run')} written to {file}")
    return DONE


def _export_log(file: Path, runs: list[str], as_json: bool) -> int:
    """Write the runs into a log of Inspect. Raises RunNotFoundError, BundleError."""
    if not runs:
        raise BundleError(f"{file} was not written. There is no run to write.")
    with new_file(file) as target:
        samples = export.write(target, (_state_of(run)[:2] for run in runs))
    if as_json:
        print(json.dumps({"runs": len(runs), "samples": samples, "file": str(file)}))
    else:
        print(f"{count_noun(samples, 'case')} of {count_noun(len(runs), 'run')} written to {file}")
    return DONE


@click.command("import", help="Import runs (a bundle, a journal, a folder of journals), or answers from another tool.")
@click.argument("path", type=click.Path(path_type=Path, exists=True), metavar="FILE.zip|DIR|FILE.jsonl|FILE.eval")
@click.option(
    "--from",
    "tool",
    type=click.Choice(get_args(logs.Tool)),
    help="read answers with explanations from a log of this tool, and make a data set of them",
)
@click.option("--sender", default="", help="name of the sender (default: the one in the bundle, or its file name)")
@json_option("the result as a JSON object")
def _import(path: Path, tool: logs.Tool | None, sender: str, as_json: bool) -> int:
    if tool is not None:
        return _import_answers(path, tool, as_json)
    taken = bundle.import_path(path, (home.journals(), home.recordings()), sender)
    scored = entry.score_again(taken)
    index_run(home.journals())
    for name, why in taken.passed_over.items():
        print(f"{name} was skipped: {why}.", file=sys.stderr)
    for run, found in scored.items():
        if found.why or found.differ:
            print(f"{run}: {found.sentence}", file=sys.stderr)
    if unscored := [run for run in taken.runs if run not in scored]:
        print(f"There was not enough time to score {len(unscored):,} runs again.", file=sys.stderr)
    if as_json:
        differ = [run for run, found in scored.items() if found.differ]
        told = {"runs": len(taken.runs), "imported": taken.runs, "differ": differ, "signed": taken.signed.words}
        print(json.dumps({**taken._asdict(), **told}))
    else:
        print(f"{count_noun(len(taken.runs), 'run')} imported, {taken.signed.words}")
        if taken.same:
            print(f"{len(taken.same)} journals are already here, byte for byte.")
    return DONE


def _import_answers(path: Path, tool: logs.Tool, as_json: bool) -> int:
    """Write the answers of a log into a data set, and print the command that tests them."""
    found = logs.read(path, tool)
    dataset = own.save_file(f"{path.stem}.jsonl", found.content()).dataset if found.rows else ""
    named = " ".join(f"--column {name}={name}" for name in found.columns())
    command = f"{COMMAND} ask --dataset {shlex.quote(dataset)} {named} --model MODEL" if found.for_ask else ""
    if as_json:
        unread = [one._asdict() for one in found.unread]
        told = {"samples": found.samples, "rows": len(found.rows), "dataset": dataset, "command": command}
        print(json.dumps({**told, "unread": unread}, ensure_ascii=False))
        return DONE if found.rows else BAD_INPUT
    for one in found.unread:
        print(_printable(f"{one.sample}: {one.field}: {one.why}."), file=sys.stderr)
    print(f"{len(found.rows):,} of {count_noun(found.samples, 'sample')} became rows.")
    if dataset:
        print(f"They are in {dataset}. Ask tests {found.for_ask:,} of them: those with an answer yes or no.")
    if command:
        print(f"To test their explanations:\n{command}")
    return DONE if found.rows else BAD_INPUT


@click.command("page", help="Write a run, one of its cases, or cases that match a condition, as one HTML file.")
@click.argument("run", required=False, metavar="RUN")
@click.option("--case", help="only this case of the run")
@click.option("--where", help=f"cases of all runs with {_WHERE}")
@click.option("-o", "--output", "file", required=True, type=FILE, help="the file")
def _page(run: str | None, case: str | None, where: str | None, file: Path) -> int:
    if (run is None) == (where is None) or (case and not run):
        raise click.BadParameter("Name a run, or a run and one of its cases, or give a condition.")
    of = None
    if run is not None:
        lab, state, damaged = _state_of(run)
        _has(state, run, case)
        chosen = standalone_html.of_run(lab, state, damaged)
        chosen = [one for one in chosen if one.case == case or not case]
        title = " ".join(filter(None, (lab.title, case or run)))
    else:
        places = [(row["run"], row["case"]) for row in _all_of(_CASES.format(where=where))]
        if not places:
            raise click.BadParameter("No case matches the condition.")
        runs = {name: _state_of(name) for name, _ in places[: standalone_html.MOST]}
        shown = ((*runs[name], one) for name, one in places[: standalone_html.MOST])
        chosen = [standalone_html.Chosen(lab, state, one, damaged) for lab, state, damaged, one in shown]
        title, of = f"Cases where {where}", len(places)
    with new_file(file) as target:
        target.write(standalone_html.case_html(title, chosen, of))
    many = min(len(chosen), standalone_html.MOST)
    of = of or len(chosen)
    print(f"{many} of {of:,} cases written to {file}" if many < of else f"{count_noun(many, 'case')} written to {file}")
    return DONE


def _has(state: Transcript, run: str, case: str | None) -> None:
    """Raises BadParameter if the run has no case of that name."""
    if case and case not in state.cases:
        raise click.BadParameter(f"{run} has no case {case!r}. Its cases: {', '.join(list(state.cases)[:5])} …")


@click.command("scene", help="Print a case's scene as JSON: what pages, presentations and exported files draw.")
@click.argument("run", metavar="RUN")
@click.option("--case", help="this case of the run (default: its first)")
@click.option(
    "--evidence", "as_evidence", is_flag=True, help="print its data instead: calls, parsed values, all figures"
)
def _scene(run: str, case: str | None, as_evidence: bool) -> int:
    lab, state, _ = _state_of(run)
    _has(state, run, case)
    of_case = evidence.of_case if as_evidence else scenes.of_case
    print(as_json(of_case(lab, state, case or state.only)))
    return DONE


# On a line of its own, so that a comment at its end does not hide the rest.
_CASES = """
select run, "case" from items where "case" <> '' and (
{where}
) group by run, "case" order by max("at") desc, run desc, min(number), "case" """


def _state_of(run: str) -> tuple[Lab, Transcript, int]:
    """Return a run's lab, its transcript, and the number of damaged lines in its journal. Raises RunNotFoundError."""
    folders = home.journals(), home.recordings(), home.priors()
    lab, _, events = open_run(run, *folders)
    path = journal.find(run, *folders)
    return lab, transcript(events), len(journal.faults(path)) if path else 0


@click.command("methods", help="Print the methods text for a paper: all runs, or some.")
@click.argument("runs", nargs=-1, metavar="[RUN]...")
@click.option("--where", help=f"runs that have a case or trial with {_WHERE}")
@click.option(
    "--bibtex", "as_bibtex", is_flag=True, help="print BibTeX for the app and the papers of these labs instead"
)
def _methods(runs: tuple[str, ...], where: str | None, as_bibtex: bool) -> int:
    wanted = list(runs)
    for run in wanted:
        _state_of(run)
    if where is not None:
        wanted += [str(row["run"]) for row in _all_of(f"select distinct run from items where (\n{where}\n)")]  # noqa: S608  what a person writes can only read
    with open_fresh_index() as store:
        if not wanted and where is None:
            wanted = Selection(store).run_ids()
        if as_bibtex:
            began = (_state_of(run)[1].started for run in wanted)
            print(methods.bibtex(started for started in began if started))
            return DONE
        sentences = methods.sentences(store, wanted)
    print("\n\n".join(sentences) if sentences else "No run matches.")
    return DONE


COMMANDS = _query, _rows, _export, _import, _page, _scene, _methods
