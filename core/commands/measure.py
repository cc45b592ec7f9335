"""`measure` and `compare`: test explanations from a file against labels that somebody else gave them, and compare
models, methods, runs or parsers.
"""

import contextlib
import json
import sys
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path
from typing import Any, get_args
from urllib.parse import parse_qs

import click

from .. import entry, journal
from ..charts.marks import EXTRA
from ..datasets.registry import OnData
from ..labs.base.lab import Lab
from ..report import comparison_text, ground_truth
from ..runs.engine import RunRequest
from ..store import comparing
from ..store.comparing import By, Match
from ..studies.plan import run_id
from ..transcript import transcript
from . import labs
from .run_output import DONE, journals_option, json_option, open_fresh_index, open_run, run

_OWN = ("dataset", "path", "split", "columns", "keep", "title")
_COLUMNS = {"explanation": "explanation", "answer": "answer"}


def commands() -> Iterator[click.Command]:
    """Yield compare and, with the options of the lab that tests given explanations, measure."""
    yield _compare
    if lab := next((lab for lab in entry.labs().values() if lab.listing.takes_explanations), None):
        yield _command(lab)


def _command(lab: Lab) -> click.Command:
    own = {parameter.name for parameter in lab.command.parameters}
    offered = labs.parameters(lab)
    options = [one for one in offered if one.name not in own and one.name not in _OWN]
    column = next(one for one in offered if one.name == "columns")

    @click.argument("file", metavar="FILE")
    @click.option("--label", default="label", show_default=True, help="the column with the labels")
    @click.option("--faithful", multiple=True, metavar="LABEL", help="a label that means faithful; all others do not")
    @click.option("--worst", default=3, show_default=True, type=click.IntRange(0, 100), help="cases shown per measure")
    @journals_option
    @json_option("the result as a JSON object")
    def go(
        file: str, label: str, faithful: tuple[str, ...], worst: int, journals: Path, as_json: bool, **given: Any
    ) -> int:
        name = file if file.startswith(("file:", "hf://")) else f"file:{file}"
        columns = {**_COLUMNS, **(given.pop("columns") or {})}
        spec = labs.spec_of(lab, {**given, "dataset": name, "columns": columns}, journals)
        assert isinstance(spec, OnData)
        # All labels are read before anything is asked.
        items = {one: one.chosen_items()[0] for one in spec.shards()}
        labels = ground_truth.labels_of((item for part in items.values() for item in part), label, faithful)
        lab.check(spec)
        rows = []
        for shard, part in items.items():
            id = run_id(lab, shard)
            with contextlib.redirect_stdout(sys.stderr):
                going_on = journal.path_for(journals, id).exists()
                code = run(RunRequest(lab, shard, id), journals, False, going_on=going_on)
            if code != DONE:
                return code
            of = {case.id: item for case, item in zip(lab.cases(shard), part, strict=True)}
            rows += ground_truth.labelled(lab, id, transcript(open_run(id, journals)[2]), of, labels)
        found = ground_truth.ranked(lab, rows, worst)
        unlabelled = sum(map(len, items.values())) - len(labels)
        model = str(given.get("model") or labs.SHIPPED_MODEL)
        if as_json:
            print(json.dumps({"unlabelled": unlabelled, "measures": [_plain(one) for one in found]}))
        else:
            print(*ground_truth.lines(rows, found, unlabelled, model), sep="\n")
        return DONE

    help = "Test labelled explanations from a file, and say how well each measure agrees with the labels."
    made = click.command("measure", help=help)(go)
    made.params += [*options, column]
    return made


def _plain(one: ground_truth.RankedMeasure) -> dict[str, Any]:
    wrong = [case._asdict() for case in one.wrong]
    return {**one._asdict(), "area": one.area._asdict(), "says": one.says, "wrong": wrong}


# `compare`: compare two to five models, methods, runs or parsers on the items that they share.


@click.command("compare", help="Compare two to five models, methods, runs or rules on the items that they share.")
@click.argument("of", nargs=-1, metavar="[NAME]...")
@click.option(
    "--by",
    default="model",
    show_default=True,
    help=f"what the names refer to: {', '.join(get_args(By))}, or {EXTRA}NAME for a column of your own file",
)
@click.option(
    "--within",
    default="",
    metavar="FILTER",
    help="only these results, filtered as in Browse's address: lab=find&how=aia",
)
@click.option(
    "--match",
    type=click.Choice(get_args(Match)),
    help="what rows must share: the starter question (whole), or the new one too (exact, default if available)",
)
@click.option(
    "--doubtful",
    is_flag=True,
    help="count results without a verdict, for example because the predictor failed its test",
)
@json_option("the comparison as a JSON object")
def _compare(of: tuple[str, ...], by: str, within: str, match: str | None, doubtful: bool, as_json: bool) -> int:
    query = {
        **parse_qs(within),
        "by": [by],
        "of": list(of),
        "match": [match or ""],
        "doubtful": ["1"] if doubtful else [],
    }
    with open_fresh_index() as store:
        found = comparing.compare_query(store, query)
        names = [one.name for one in found.asked.subjects]
        sentences = comparison_text.sentences(found, comparing.comparability_of(store, found.asked.lab), names)
    if as_json:
        figures = {name: value for name, value in asdict(found).items() if name not in ("asked", "keys")}
        print(
            json.dumps(
                {"of": names, "lab": found.asked.lab, "match": found.asked.match, **sentences._asdict(), **figures}
            )
        )
    else:
        print("\n".join([sentences.headline, *sentences.chance, *sentences.left_out]))
    return DONE
