"""`measure`: test explanations from a file, and compare the figures with labels that somebody else gave them."""

import contextlib
import json
import sys
from pathlib import Path
from typing import Any

import click

from .. import entry, journal
from ..datasets.items import DatasetError
from ..datasets.on_data import OnData
from ..labs.base.lab import Lab
from ..labs.base.spec import BadInputError
from ..report import ground_truth
from ..runs.engine import RunRequest
from ..studies.plan import run_id
from ..transcript import transcript
from . import labs
from .run_output import DONE, journals_option, json_option, open_run, run

_OWN = ("dataset", "path", "split", "columns", "keep", "title")
_COLUMNS = {"explanation": "explanation", "answer": "answer"}


def add(commands: click.Group) -> None:
    """Add measure to the group `commands`, in place, with the options of the lab that tests given explanations."""
    lab = next((lab for lab in entry.labs().values() if lab.listing.takes_explanations), None)
    if lab is not None:
        commands.add_command(_command(lab))


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
        try:
            spec = labs.spec_of(lab, {**given, "dataset": name, "columns": columns}, journals)
            assert isinstance(spec, OnData)
            # All labels are read before anything is asked.
            items = {one: one.chosen_items()[0] for one in spec.shards()}
            labels = ground_truth.labels_of((item for part in items.values() for item in part), label, faithful)
            lab.check(spec)
        except (DatasetError, ground_truth.LabelError) as error:
            raise BadInputError(str(error)) from None
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
