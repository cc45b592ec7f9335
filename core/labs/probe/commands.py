"""The lab on the command line: the options that are not fields of the specification, a case in lines, and `find`: the
black boxes themselves, and rating descriptions from elsewhere.
"""

import asyncio
import json
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cache
from itertools import count
from pathlib import Path
from typing import Any, NamedTuple

import click
import numpy as np

from ...errors import ExplainError
from ...models.local import SHIPPED
from ...runs.engine import RunIO, RunRequest, execute
from ...sandbox.rewriting import NOT_RUNNABLE, not_runnable
from ...transcript import Transcript
from ..base.lab import ExtraCommands, ToolContext
from . import box, prompts
from .exemplars import drawn_triplets
from .functions import source
from .functions.base import CATEGORIES, Category, FindFunction, FunctionError, OwnKind
from .functions.entities import concepts
from .functions.numeric import ATOMS
from .functions.relations import RelationFunction, relations
from .functions.strings import STRING_ATOMS
from .report import ProbeReport
from .tasks import BY_MODEL, FIRST_BACKBONE, Given, ProbeSpec

# The data to fine-tune an evaluator on: unit tests with true descriptions and their right answers (FIND, appendix
# F1).


TRAINED_CATEGORIES: tuple[Category, ...] = ("strings", "entities", "relations")

FIRST_SEED = 10**9
"""The functions of a training set have seeds from here on, so that no run meets them by its default seeds. Subjects and
relations are a fixed list: there, a test function is always among those of the training set, as in the paper.
"""

LEAST, MOST = 3, 1_000_000
"""The fewest and the most examples of a training set."""


def examples(
    n: int,
    seed: int = 0,
    find_dir: str | None = None,
    left_out: Callable[[str], None] = lambda why: None,
    asked: str | None = None,
) -> Iterator[str]:
    """Yield `n` examples for fine-tuning, each a line of JSON with the chat turns `messages`: the evaluator's prompt
    with a true description, then its right answer.

    The categories take turns, so each has a third. Distractors are examples of other functions of the category. With
    `find_dir` the functions are the published ones, but never their published tests; `left_out(why)` is called for each
    of them that cannot be tested. `asked` is whose prompts (`ProbeSpec.evaluator_prompt`). The same arguments give the
    same examples, and memory does not grow with `n`. Raises BenchmarkError if the published set cannot be read,
    PaperPromptError if a prompt of the paper's is missing, and FunctionError if a category has no function left.
    """
    sources = {category: _of_category(category, seed, find_dir, left_out, asked) for category in TRAINED_CATEGORIES}
    for number in range(n):
        yield next(sources[TRAINED_CATEGORIES[number % len(TRAINED_CATEGORIES)]])


def _of_category(
    category: Category, seed: int, find_dir: str | None, left_out: Callable[[str], None], asked: str | None
) -> Iterator[str]:
    spec = ProbeSpec(category=category, interpreter="you", evaluator_prompt=asked)
    if find_dir:
        functions = _fine_tuning_published(category, seed, find_dir, left_out)
    else:
        functions = (source.generate(category, FIRST_SEED + seed * MOST + one) for one in count())
    for number, function in enumerate(functions):
        for triplet in drawn_triplets(function, FIRST_SEED + seed * MOST + number):
            prompt = prompts.unit_test(spec, function.describe(), triplet.options)
            turns = [message.model_dump(include={"role", "content"}) for message in prompt.messages]
            turns.append({"role": "assistant", "content": f"[ANSWER]: {triplet.correct + 1}"})
            yield json.dumps({"messages": turns}, ensure_ascii=False)


def _fine_tuning_published(
    category: Category, seed: int, find_dir: str, left_out: Callable[[str], None]
) -> Iterator[FindFunction]:
    """Yield the published functions that can be tested, in random order, again and again. Raises BenchmarkError, and
    FunctionError if there are none.
    """
    ids = sorted(source.published_ids(category, find_dir))
    order = [ids[place] for place in np.random.default_rng([seed, len(category)]).permutation(len(ids))]
    load = cache(lambda id: _testable(category, id, find_dir, left_out))
    while any(load(id) is not None for id in order):
        yield from (function for id in order if (function := load(id)) is not None)
    raise FunctionError(f"No published function of the category {category} can be tested here.")


def _testable(category: Category, id: str, find_dir: str, left_out: Callable[[str], None]) -> FindFunction | None:
    """Return the published function, or None, after calling `left_out`, if it cannot be rebuilt or tested."""
    try:
        function = source.load(ProbeSpec(category=category, function=id, find_dir=find_dir, interpreter="you"))
        drawn_triplets(function, FIRST_SEED)
    except ValueError as error:
        left_out(f"{category} {id}: {error}")
        return None
    return function


# Read interpretations from elsewhere, in the published set's result layout or as JSON (collect_interpretations.py).
#
# `<category>/<function>/` holds description.txt and, if there are such parts, domain.txt and code.py. The authors'
# names of the categories (neurons_entities, neurons_relations, with or without _hints or _single_round) are
# understood.


class InterpretationsError(ExplainError, ValueError):
    """A file or folder that holds no interpretations; the message says what was expected."""


class NamedInterpretation(NamedTuple):
    """One interpretation of the function `name`."""

    name: str
    category: Category
    given: Given


def read(path: Path, category: Category | None = None) -> list[NamedInterpretation]:
    """Return all interpretations in `path`: a folder of functions, one function's folder, or a .json or .jsonl file.

    In JSON each has `name` (or `function`, `dir`), `description`, `domain`, `code`, and `category` unless the argument
    gives it. Raises InterpretationsError if there are none or they cannot be read.
    """
    if path.is_file():
        return _from_json(path, category)
    if not path.is_dir():
        raise InterpretationsError(f"{path} is neither a folder of interpretations nor a JSON file.")
    folders = [path] if (path / "description.txt").exists() or (path / "code.py").exists() else sorted(path.iterdir())
    interpretations = []
    for folder in folders:
        if any((folder / name).is_file() for name in ("description.txt", "code.py")):
            parts = {Path(name).stem: _text(folder / name) for name in ("description.txt", "domain.txt", "code.py")}
            chosen = category or _category_of(folder.parent)
            interpretations.append(NamedInterpretation(folder.name, chosen, Given(**parts)))
    if not interpretations:
        raise InterpretationsError(f"{path} holds no folder with a description.txt or a code.py in it.")
    return interpretations


def _text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8").strip() if path.is_file() else ""
    except (OSError, UnicodeDecodeError) as error:
        raise InterpretationsError(f"{path} cannot be read: {error}") from error


def _category_of(folder: Path) -> Category:
    name = folder.resolve().name.removesuffix("_hints").removesuffix("_single_round").removeprefix("neurons_")
    if name not in CATEGORIES:
        raise InterpretationsError(
            f"The name of the folder {folder.name!r} is not a category. Name one with --category."
        )
    return name


def _from_json(path: Path, category: Category | None) -> list[NamedInterpretation]:
    try:
        text = path.read_text(encoding="utf-8")
        if path.suffix == ".jsonl":
            entries: Any = [json.loads(line) for line in text.splitlines() if line.strip()]
        else:
            entries = json.loads(text)
    except (OSError, ValueError) as error:
        raise InterpretationsError(f"{path} cannot be read: {error}") from error
    if isinstance(entries, dict):
        named = all(isinstance(entry, dict) for entry in entries.values())
        entries = [{"name": name, **entry} for name, entry in entries.items()] if named else [entries]
    interpretations = []
    for number, entry in enumerate(entries, start=1):
        if not isinstance(entry, dict):
            raise InterpretationsError(
                f"{path}: entry {number} is not an object with name, description, domain and code."
            )
        name = entry.get("name") or entry.get("function") or entry.get("dir")
        own = str(entry.get("category") or "").removeprefix("neurons_")
        chosen = category or (own if own in CATEGORIES else None)
        if not isinstance(name, str) or chosen is None:
            raise InterpretationsError(f"{path}: entry {number} needs a name, and a category (or give --category).")
        parts = {part: str(entry.get(part) or "") for part in ("description", "domain", "code")}
        interpretations.append(NamedInterpretation(Path(name).name, chosen, Given(**parts)))
    if not interpretations:
        raise InterpretationsError(f"{path} holds no interpretation.")
    return interpretations


Rated = tuple[ProbeSpec, Transcript]

UNREACHABLE = 3
"""The exit code if a model could not be reached, the same for every command."""

INTERPRETERS = ("aia", "milan", "aia+milan", "fit", "nearest")


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
    given["functions"] = given.pop("function", ())
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
    if (case := next(source.cases(spec), None)) is not None:
        source.load(case.about)


# `find`


_CATEGORIES = click.Choice(CATEGORIES)
_CATEGORY = click.option("--category", type=_CATEGORIES, default="numeric")
_FOLDER = click.option("--find-dir", metavar="DIR", help="the published set: the folder that holds numeric/, strings/")
_DIFFICULTY = click.option("--difficulty", type=click.Choice(("easy", "medium", "hard")))
_RULES = click.option("--rules", type=click.Choice(("paper", "repaired")), default="repaired")


@click.command("list", help="What functions are made of; with --find-dir the published ones.")
@click.option("--category", type=_CATEGORIES)
@_FOLDER
def _list(category: Category | None, find_dir: str | None) -> None:
    for one in [category] if category else CATEGORIES:
        lines = list(_published(one, find_dir) if find_dir else _shipped(one))
        print(f"{one}:")
        for name, about in lines:
            print(f"  {name:<32} {about}".rstrip())


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
    found = asyncio.run(box.measure_fidelity(spec, function))
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
def _show(as_json: bool, **asked: Any) -> None:
    if asked["find_dir"] and not asked["function"]:
        raise FunctionError("Name a function of the published set (--function), such as f00012.")
    spec = ProbeSpec.model_validate({**asked, "interpreter": "you"})
    shown = source.load(spec)
    if as_json:
        print(json.dumps(_as_data(shown)))
    else:
        print(f"{shown.id}: {shown.kind}\n{shown.describe()}")
        if shown.note:
            print(f"Note: {shown.note}")
        if isinstance(shown, RelationFunction):
            sentences = box.fidelity_sentences(asyncio.run(box.measure_fidelity(spec, shown)))
            print(f"Carried out by our facts: {' '.join(sentences)}")


def _as_data(function: FindFunction) -> dict[str, Any]:
    return {"kind": function.kind, "description": function.describe(), **function.model_dump(mode="json")}


@click.command("generate", help="Draw functions, one a line, as data that can be read back.")
@_CATEGORY
@click.option("--seed", type=click.IntRange(min=0), default=0, help="the first seed")
@click.option("--count", type=click.IntRange(1, 10_000), default=1, help="how many")
@_DIFFICULTY
@_RULES
def _generate(category: Category, seed: int, count: int, difficulty: Any, rules: Any) -> None:
    for one in range(seed, seed + count):
        print(json.dumps(_as_data(source.generate(category, one, difficulty, rules))))


@click.command("score", help="Rate descriptions and code in the published set's result layout.")
@click.argument("path", type=click.Path(path_type=Path))
@click.option("--category", type=_CATEGORIES, help="default: by the folder's name")
@_FOLDER
@click.option("--evaluator", metavar="ID", default="", help="the model that takes the unit tests")
@click.option("--json", "as_json", is_flag=True, help="print one function a line")
@click.pass_obj
def _score(
    context: ToolContext, path: Path, category: Category | None, find_dir: str | None, evaluator: str, as_json: bool
) -> int | None:
    """Rate interpretations. The exit code is 3 if an evaluator could not be reached for all of them."""
    wanted = {"find_dir": find_dir, "interpreter": "given", "evaluator": evaluator}
    specs = [
        ProbeSpec.model_validate({**wanted, "category": one.category, "function": one.name, "given": one.given})
        for one in read(path, category)
    ]
    for spec in specs:
        source.load(spec)
    if evaluator:
        context.catalog().get(evaluator)
    rated: list[Rated] = []
    for spec in specs:
        rated.append((spec, asyncio.run(_rate(spec, context))))
        _print_one(*rated[-1], as_json)
    if not as_json:
        _print_means(rated)
    return UNREACHABLE if any(state.status != "completed" for _, state in rated) else None


async def _rate(spec: ProbeSpec, context: ToolContext) -> Transcript:
    """Rate one interpretation by a run of the lab in memory; nothing is journaled."""
    state = Transcript()
    await execute(RunRequest(context.lab, spec, "score"), RunIO(context.catalog().get, state.apply))
    return state


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
    type=click.IntRange(LEAST, MOST),
    default=30_000,
    help="how many, a third of each category (default: the paper's 30000)",
)
@click.option("--seed", type=click.IntRange(0, 10**6), default=0, help="another seed gives other tests (default: 0)")
@_FOLDER
@click.option("--evaluator-prompt", "asked", help="paper, or a folder: in the paper's own form (default: our prompts)")
@click.option("-o", "--output", type=click.Path(path_type=Path, dir_okay=False), help="a new file (default: print)")
def _triplets(train: int, seed: int, find_dir: str | None, asked: str | None, output: Path | None) -> None:
    left_out: list[str] = []
    lines = examples(train, seed, find_dir, left_out.append, asked)
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
            raise FunctionError(f"{output} {why}.") from None
        each = ", ".join(TRAINED_CATEGORIES)
        print(f"{train:,} tests in {output}, a third each of {each}")
    for why in left_out[:_MOST_LEFT_OUT]:
        print(f"Left out: {why}", file=sys.stderr)
    if len(left_out) > _MOST_LEFT_OUT:
        print(f"and {len(left_out) - _MOST_LEFT_OUT:,} more published functions", file=sys.stderr)


_MOST_LEFT_OUT = 10
"""How many functions that were left out are named."""


TOOLS = ExtraCommands(
    "find",
    "List, show and draw black boxes; rate descriptions made elsewhere.",
    (_list, _show, _generate, _score, _triplets),
)
