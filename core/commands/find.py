"""`find`: the black boxes themselves, and rating descriptions that were made elsewhere."""

from __future__ import annotations

import argparse
import asyncio
import json
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from core import entry
from core.commands.probe import function_options
from core.commands.running import BAD_INPUT, DONE, UNREACHABLE, figures, output_options, run
from core.events import Event, Token
from core.labs.find import reliability, results
from core.labs.find.case import HEADLINE, case
from core.labs.find.functions import source
from core.labs.find.functions.atoms import ATOMS
from core.labs.find.functions.base import Category, FindFunction
from core.labs.find.functions.entities import concepts
from core.labs.find.functions.relations import relations
from core.labs.find.functions.strings import STRING_ATOMS
from core.labs.find.reliability import ReliabilitySpec, Report
from core.labs.find.tasks import ProbeSpec
from core.runs.run import execute, new_id
from core.runs.transcript import Transcript, transcript

Rated = tuple[ProbeSpec, Transcript]


def add(commands: Any) -> None:
    find = commands.add_parser("find", help="list, show and draw black boxes; rate descriptions made elsewhere")
    actions = find.add_subparsers(required=True, metavar="ACTION")

    listing = actions.add_parser("list", help="what functions are made of; with --find-dir the published ones")
    listing.add_argument("--category", choices=source.CATEGORIES)
    listing.add_argument("--find-dir", metavar="DIR")
    listing.set_defaults(command=_list)

    show = actions.add_parser("show", help="one function with its truth")
    function_options(show)
    show.add_argument("--json", action="store_true", help="print it as data")
    show.set_defaults(command=_show)

    generate = actions.add_parser("generate", help="draw functions, one a line, as data that can be read back")
    generate.add_argument("--category", choices=source.CATEGORIES, default="numeric")
    generate.add_argument("--seed", metavar="N", type=int, default=0, help="the first seed")
    generate.add_argument("--count", metavar="N", type=int, default=1)
    generate.add_argument("--difficulty", choices=("easy", "medium", "hard"))
    generate.add_argument("--rules", choices=("paper", "repaired"), default="repaired")
    generate.set_defaults(command=_generate)

    score = actions.add_parser("score", help="rate descriptions and code in the published set's result layout")
    score.add_argument("path", metavar="PATH", type=Path, help="a folder of functions, one of them, or a .json(l) file")
    score.add_argument("--category", choices=source.CATEGORIES, help="default: told by the folder's name")
    score.add_argument("--find-dir", metavar="DIR", help="the published set the functions are of")
    score.add_argument("--evaluator", metavar="ID", default="", help="the model that takes the unit tests")
    score.add_argument("--json", action="store_true", help="print one function a line")
    score.set_defaults(command=_score)

    trust = actions.add_parser("reliability", help="whether a backbone can be trusted with the entity functions")
    trust.add_argument(
        "--backbone", choices=("table", "embedding", "model"), help="default: model where --model is given"
    )
    trust.add_argument("--model", metavar="ID", default="", help="the language model that carries the functions out")
    trust.add_argument("--concepts", metavar="N", type=int, default=16, help="of 140 (default: %(default)s)")
    trust.add_argument("--words", metavar="N", type=int, default=5, help="of each concept (default: %(default)s)")
    trust.add_argument(
        "--own-only",
        action="store_true",
        help="own words and as many of others (table A1), not all words to all functions (figure A4)",
    )
    trust.add_argument("--seed", metavar="N", type=int, default=0)
    output_options(trust)
    trust.set_defaults(command=_reliability)


def _list(given: argparse.Namespace) -> int:
    for category in [given.category] if given.category else source.CATEGORIES:
        try:
            lines = _published(category, given.find_dir) if given.find_dir else _shipped(category)
        except ValueError as error:
            print(error, file=sys.stderr)
            return BAD_INPUT
        print(f"{category}:")
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
    return [(id, function.kind) for id, function in source.published(category, find_dir).items()]


def _show(given: argparse.Namespace) -> int:
    spec = ProbeSpec(
        category=given.category,
        function=given.function,
        seed=given.seed,
        difficulty=given.difficulty,
        find_dir=given.find_dir,
        rules=given.rules,
        interpreter="you",
    )
    try:
        function = spec.load()
    except ValueError as error:
        print(error, file=sys.stderr)
        return BAD_INPUT
    if given.json:
        print(json.dumps(_told(function)))
    else:
        print(f"{function.id}: {function.kind}\n{function.describe()}")
        if function.note:
            print(f"Note: {function.note}")
    return DONE


def _told(function: FindFunction) -> dict[str, Any]:
    return {"kind": function.kind, "description": function.describe(), **function.model_dump(mode="json")}


def _generate(given: argparse.Namespace) -> int:
    if not 1 <= given.count <= 10_000 or given.seed < 0:
        print("--count takes a number from 1 to 10000, --seed one from 0.", file=sys.stderr)
        return BAD_INPUT
    try:
        for seed in range(given.seed, given.seed + given.count):
            print(json.dumps(_told(source.drawn(given.category, seed, given.difficulty, given.rules))))
    except ValueError as error:
        print(error, file=sys.stderr)
        return BAD_INPUT
    return DONE


def _reliability(given: argparse.Namespace) -> int:
    spec = ReliabilitySpec(
        backbone=given.backbone or ("model" if given.model else "table"),
        model=given.model,
        concepts=given.concepts,
        words=given.words,
        across=not given.own_only,
        seed=given.seed,
    )
    lab = entry.labs()["reliability"]
    return run(lab, spec, new_id(lab.name), given, narrate)


def narrate(told: Transcript) -> Iterable[tuple[str, str]]:
    """A test of a backbone in words: a line for each concept, then the means and what they come to."""
    report = Report(told)
    for one in report.concepts:
        same, random = (f"{np.mean(values):.3f}" if values else "none" for values in (one.same, one.random))
        missing = sum(value is None for value in one.values)
        without = (
            f"  ({missing} of {len(one.values)} without a value: {next(filter(None, one.problems))})" if missing else ""
        )
        yield one.concept, f"  {one.concept:<28} own words {same}  others {random}{without}"
    if told.status is not None:
        yield "verdict", f"\n{reliability.verdict(report)}"
        yield from figures(told)


def _score(given: argparse.Namespace) -> int:
    """Exit code 2 where nothing can be rated, 3 where an evaluator could not be reached for all."""
    try:
        specs = [
            ProbeSpec(
                category=one.category,
                function=one.name,
                find_dir=given.find_dir,
                interpreter="given",
                evaluator=given.evaluator,
                given=one.given,
            )
            for one in results.read(given.path, given.category)
        ]
        for spec in specs:
            spec.load()
    except ValueError as error:
        print(error, file=sys.stderr)
        return BAD_INPUT
    for model in {given.evaluator} - {""}:
        entry.catalog().get(model)
    rated: list[Rated] = []
    for spec in specs:
        rated.append((spec, asyncio.run(_rate(spec))))
        _print_one(*rated[-1], given.json)
    if not given.json:
        _print_means(rated)
    failed = any(told.status != "completed" for _, told in rated)
    return UNREACHABLE if failed else DONE


async def _rate(spec: ProbeSpec) -> Transcript:
    """One interpretation through the lab's own run, in memory: nothing is journaled."""
    events: list[Event] = []

    def publish(event: Event) -> None:
        if not isinstance(event, Token):
            events.append(event)

    await execute(entry.labs()["find"], spec, "score", resolve=entry.catalog().get, publish=publish)
    return transcript(events)


def _scores(told: Transcript) -> dict[str, float | None]:
    return {score.metric: score.value for score in told.scores.values() if score.rules == "repaired"}


def _print_one(spec: ProbeSpec, told: Transcript, as_json: bool) -> None:
    if as_json:
        paper = {score.metric: score.value for score in told.scores.values() if score.rules == "paper"}
        reasons = {
            score.metric: score.detail["reason"]
            for score in told.scores.values()
            if score.rules == "repaired" and "reason" in score.detail
        }
        line = {
            "name": spec.function,
            "category": spec.category,
            "scores": _scores(told),
            "paper": paper,
            "reasons": reasons,
            "status": told.status,
        }
        print(json.dumps(line), flush=True)
        return
    metric = HEADLINE[spec.category]
    now = case(told)
    value = now.value(metric)
    reason = f" ({now.reason(metric)})" if value is None else ""
    print(f"  {spec.function:<16} {metric} {'undefined' if value is None else f'{value:.4g}'}{reason}", flush=True)
    for failure in told.failures:
        print(f"  {failure.message} {failure.hint}".rstrip(), file=sys.stderr)


def _print_means(rated: Sequence[Rated]) -> None:
    """Means over the functions, each with the number it is a mean of."""
    for category in source.CATEGORIES:
        scores = [_scores(told) for spec, told in rated if spec.category == category]
        if not scores:
            continue
        print(f"{category}, {len(scores)} {'interpretation' if len(scores) == 1 else 'interpretations'}:")
        for metric in dict.fromkeys(metric for one in scores for metric in one):
            values = [value for one in scores if (value := one.get(metric)) is not None]
            mean = f"{sum(values) / len(values):.3f}" if values else "undefined"
            print(f"  mean {metric} {mean}  ({len(values)} of {len(scores)})")
