"""The lab on the command line: the options that are not fields of the specification, a case in lines, and `find`: the
black boxes themselves, and rating descriptions from elsewhere.
"""

import asyncio
import json
import sys
from collections.abc import Callable, Iterable, Sequence
from functools import wraps
from pathlib import Path
from typing import Any, ParamSpec

import click

from ...events import Event, Token
from ...models.local import SHIPPED
from ...runs.engine import RunIO, RunRequest, execute
from ...sandbox.unsupported import NOT_RUNNABLE, not_runnable
from ...transcript import Transcript, transcript
from ..base.lab import ToolContext, Tools
from . import external_interpretations, fidelity, fine_tuning, prompts
from .functions import source
from .functions.base import CATEGORIES, Category, FindFunction, OwnKind
from .functions.entities import concepts
from .functions.numeric import ATOMS
from .functions.relations import RelationFunction, relations
from .functions.strings import STRING_ATOMS
from .report import ProbeReport
from .tasks import BY_MODEL, FIRST_BACKBONE, ProbeSpec

P = ParamSpec("P")
Rated = tuple[ProbeSpec, Transcript]

DONE, BAD_INPUT, UNREACHABLE = 0, 2, 3
"""Exit codes, the same for every command."""

INTERPRETERS = ("aia", "milan", "aia+milan", "fit", "nearest")
_LONGEST = 160


# `probe`


PARAMETERS: tuple[click.Parameter, ...] = (
    click.Option(
        ["--function"],
        metavar="ID",
        multiple=True,
        help="a published id such as f00012, or numeric-7-hard; may be repeated",
    ),
    click.Option(["--interpreter"], type=click.Choice(INTERPRETERS), help="what explains it (default: aia)"),
    click.Option(
        ["--backbone"],
        type=click.Choice(("table", "embedding", "model")),
        help="what carries entities and relations out (default: embedding for entities, table for relations)",
    ),
    click.Option(["--tools"], is_flag=True, default=None, help="ask by native tool calls, where the model has them"),
)


def fields(given: dict[str, Any]) -> dict[str, Any]:
    """Return the specification's fields from the command line's options."""
    given = dict(given)
    category = given.get("category", "numeric")
    interpreter = given.get("interpreter", "aia")
    model = given.pop("model", "") or f"local/{SHIPPED}"
    if len(functions := given.pop("function", ())) == 1:
        given["function"] = functions[0]
    elif functions:
        given["functions"] = functions
    if given.get("own"):
        given["own_kind"] = _kind_of(category, given["own"])
    backbone = given.get("backbone")
    given["backbone"] = backbone or FIRST_BACKBONE.get(category, "table")
    given["module"] = given.get("module") or (model if backbone == "model" else "")
    return given | {"model": model if interpreter in BY_MODEL else ""}


def _kind_of(category: str, own: str) -> OwnKind:
    """Return in which form the user's own function is written."""
    if category == "entities":
        return "concept"
    return "pairs" if category == "relations" or ("->" in own and "def " not in own) else "code"


def check(spec: ProbeSpec) -> None:
    """Load the prompts and the function, of several only the first. Raises ValueError if these cannot be loaded."""
    prompts.hashes(spec)
    for case in source.cases(spec):
        source.load(case.about)
        break


# `find`


_CATEGORIES = click.Choice(CATEGORIES)
_CATEGORY = click.option("--category", type=_CATEGORIES, default="numeric")
_FOLDER = click.option("--find-dir", metavar="DIR", help="the published set: the folder that holds numeric/, strings/")
_DIFFICULTY = click.option("--difficulty", type=click.Choice(("easy", "medium", "hard")))
_RULES = click.option("--rules", type=click.Choice(("paper", "repaired")), default="repaired")


def _in_words(command: Callable[P, int]) -> Callable[P, int]:
    """Wrap `command` so that it prints what is wrong with its input and returns an exit code for that."""

    @wraps(command)
    def said(*args: P.args, **given: P.kwargs) -> int:
        try:
            return command(*args, **given)
        except ValueError as error:
            print(error, file=sys.stderr)
            return BAD_INPUT

    return said


@click.command("list", help="What functions are made of; with --find-dir the published ones.")
@click.option("--category", type=_CATEGORIES)
@_FOLDER
@_in_words
def _list(category: Category | None, find_dir: str | None) -> int:
    for one in [category] if category else CATEGORIES:
        lines = list(_published(one, find_dir) if find_dir else _shipped(one))
        print(f"{one}:")
        for name, about in lines:
            print(f"  {name:<32} {about}".rstrip())
    return DONE


def _shipped(category: str) -> Iterable[tuple[str, str]]:
    if category == "numeric":
        return [(name, "also inside compositions" if atom.composable else "") for name, atom in ATOMS.items()]
    if category == "strings":
        return [(name, kind.description) for name, kind in STRING_ATOMS.items()]
    if category == "entities":
        return [(name, "sensitive" if concept.sensitive else "") for name, concept in concepts().items()]
    return [(f"{first} → {second}", f"{len(one.facts)} facts") for (first, second), one in relations().items()]


def _published(category: Category, find_dir: str) -> Iterable[tuple[str, str]]:
    if category == "strings":
        return [(id, "") for id in source.published_strings(find_dir)]
    functions = source.published(category, find_dir)
    if category != "relations":
        return [(id, function.kind) for id, function in functions.items()]
    return [(id, f"{function.kind:<10} {_known(id, function, find_dir)}") for id, function in functions.items()]


def _known(id: str, function: FindFunction, find_dir: str) -> str:
    """Return how many of a relation's published examples our facts answer."""
    assert isinstance(function, RelationFunction)
    spec = ProbeSpec(category="relations", function=id, find_dir=find_dir, backbone="table", interpreter="you")
    found = asyncio.run(fidelity.measure(spec, function))
    right, wrong = (found.count(reading, inside=True) for reading in ("right", "wrong"))
    return f"our facts: {right} of {found.total(inside=True)} right, {wrong} wrong" if found.published else ""


@click.command("show", help="One function with its truth.")
@_CATEGORY
@click.option("--function", metavar="ID", default="", help="a published id, or numeric-7-hard")
@click.option("--seed", type=int, default=0, help="which drawn function (default: 0)")
@_DIFFICULTY
@_FOLDER
@_RULES
@click.option("--json", "as_json", is_flag=True, help="print it as data")
@_in_words
def _show(as_json: bool, **asked: Any) -> int:
    if asked["find_dir"] and not asked["function"]:
        raise ValueError("Name a function of the published set (--function), such as f00012.")
    spec = ProbeSpec.model_validate({**asked, "interpreter": "you"})
    shown = source.load(spec)
    if as_json:
        print(json.dumps(_as_data(shown)))
    else:
        print(f"{shown.id}: {shown.kind}\n{shown.describe()}")
        if shown.note:
            print(f"Note: {shown.note}")
        if isinstance(shown, RelationFunction):
            sentences = fidelity.sentences(asyncio.run(fidelity.measure(spec, shown)))
            print(f"Carried out by our facts: {' '.join(sentences)}")
    return DONE


def _as_data(function: FindFunction) -> dict[str, Any]:
    return {"kind": function.kind, "description": function.describe(), **function.model_dump(mode="json")}


@click.command("generate", help="Draw functions, one a line, as data that can be read back.")
@_CATEGORY
@click.option("--seed", type=click.IntRange(min=0), default=0, help="the first seed")
@click.option("--count", type=click.IntRange(1, 10_000), default=1, help="how many")
@_DIFFICULTY
@_RULES
@_in_words
def _generate(category: Category, seed: int, count: int, difficulty: Any, rules: Any) -> int:
    for one in range(seed, seed + count):
        print(json.dumps(_as_data(source.generated(category, one, difficulty, rules))))
    return DONE


@click.command("score", help="Rate descriptions and code in the published set's result layout.")
@click.argument("path", type=click.Path(path_type=Path))
@click.option("--category", type=_CATEGORIES, help="default: by the folder's name")
@_FOLDER
@click.option("--evaluator", metavar="ID", default="", help="the model that takes the unit tests")
@click.option("--json", "as_json", is_flag=True, help="print one function a line")
@click.pass_obj
@_in_words
def _score(
    context: ToolContext, path: Path, category: Category | None, find_dir: str | None, evaluator: str, as_json: bool
) -> int:
    """Rate interpretations. Exit code 2 if nothing can be rated, 3 if an evaluator could not be reached for all."""
    wanted = {"find_dir": find_dir, "interpreter": "given", "evaluator": evaluator}
    specs = [
        ProbeSpec.model_validate({**wanted, "category": one.category, "function": one.name, "given": one.given})
        for one in external_interpretations.read(path, category)
    ]
    for spec in specs:
        source.load(spec)
    for model in {evaluator} - {""}:
        context.catalog().get(model)
    rated: list[Rated] = []
    for spec in specs:
        rated.append((spec, asyncio.run(_rate(spec, context))))
        _print_one(*rated[-1], as_json)
    if not as_json:
        _print_means(rated)
    failed = any(state.status != "completed" for _, state in rated)
    return UNREACHABLE if failed else DONE


async def _rate(spec: ProbeSpec, context: ToolContext) -> Transcript:
    """Rate one interpretation by a run of the lab in memory; nothing is journaled."""
    events: list[Event] = []

    def publish(event: Event) -> None:
        if not isinstance(event, Token):
            events.append(event)

    await execute(RunRequest(context.lab, spec, "score"), RunIO(context.catalog().get, publish))
    return transcript(events)


def _scores(state: Transcript, rules: str = "repaired") -> dict[str, float | None]:
    return {score.metric: score.value for score in state.scores if score.rules == rules}


def _print_one(spec: ProbeSpec, state: Transcript, as_json: bool) -> None:
    now = ProbeReport.of(state.case(state.only))
    if as_json:
        read = [score for score in state.scores if score.rules == "repaired"]
        line = {
            "name": spec.function,
            "category": spec.category,
            "scores": _scores(state),
            "paper": _scores(state, "paper"),
            "outcome": now.outcome,
            "reasons": {score.metric: score.detail["reason"] for score in read if "reason" in score.detail},
            "status": state.status,
        }
        print(json.dumps(line), flush=True)
        return
    value, why = now.value(now.headline), now.reason(now.headline)
    reason = f" ({why})" if value is None else ""
    shown = "undefined" if value is None else f"{value:.4g}"
    number, of = now.not_run
    if number and not not_runnable(why):
        reason += f", {number} of {of} tests {NOT_RUNNABLE}"
    print(f"  {spec.function:<16} {now.headline} {shown}{reason}", flush=True)
    for failure in state.failures:
        print(f"  {failure.message} {failure.hint}".rstrip(), file=sys.stderr)


def _print_means(rated: Sequence[Rated]) -> None:
    """Print the means over the functions, each with the number of values behind it."""
    for category in CATEGORIES:
        scores = [_scores(state) for spec, state in rated if spec.category == category]
        if not scores:
            continue
        print(f"{category}, {len(scores)} {'interpretation' if len(scores) == 1 else 'interpretations'}:")
        for metric in dict.fromkeys(metric for one in scores for metric in one):
            values = [value for one in scores if (value := one.get(metric)) is not None]
            mean = f"{sum(values) / len(values):.3f}" if values else "undefined"
            print(f"  mean {metric} {mean}  ({len(values)} of {len(scores)})")
        if lacking := sum(bool(one.get("not_runnable")) for one in scores):
            print(f"  {lacking} of {len(scores)} could not be run here, in whole or in part")


@click.command("triplets", help="Write unit tests with their answers, to fine-tune an evaluator on (chat JSONL).")
@click.option(
    "--train",
    type=click.IntRange(fine_tuning.LEAST, fine_tuning.MOST),
    default=30_000,
    help="how many, a third of each category (default: the paper's 30000)",
)
@click.option("--seed", type=click.IntRange(0, 10**6), default=0, help="another seed gives other tests (default: 0)")
@_FOLDER
@click.option("--evaluator-prompt", "asked", help="paper, or a folder: in the paper's own form (default: our prompts)")
@click.option("-o", "--output", type=click.Path(path_type=Path, dir_okay=False), help="a new file (default: print)")
@_in_words
def _triplets(train: int, seed: int, find_dir: str | None, asked: str | None, output: Path | None) -> int:
    left_out: list[str] = []
    lines = fine_tuning.examples(train, seed, find_dir, left_out.append, asked)
    if output is None:
        for line in lines:
            print(line)
    else:
        try:
            with output.open("x", encoding="utf-8") as file:
                file.writelines(f"{line}\n" for line in lines)
        except OSError as error:
            exists = isinstance(error, FileExistsError)
            why = "already exists: choose another name" if exists else f"cannot be written: {error.strerror or error}"
            raise ValueError(f"{output} {why}.") from None
        each = ", ".join(fine_tuning.CATEGORIES)
        print(f"{train:,} tests in {output}, a third each of {each}")
    for why in left_out[:_MOST_LEFT_OUT]:
        print(f"Left out: {why}", file=sys.stderr)
    if len(left_out) > _MOST_LEFT_OUT:
        print(f"and {len(left_out) - _MOST_LEFT_OUT:,} more published functions", file=sys.stderr)
    return DONE


_MOST_LEFT_OUT = 10
"""How many functions that were left out are named."""


TOOLS = Tools(
    "find",
    "List, show and draw black boxes; rate descriptions made elsewhere.",
    (_list, _show, _generate, _score, _triplets),
)
