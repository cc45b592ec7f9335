"""`probe`: let an interpreter loose on a black box whose truth is known."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterable
from typing import Any

from core import entry
from core.commands.running import BAD_INPUT, figure, output_options, run
from core.labs.find.case import WORDS, case
from core.labs.find.functions.source import CATEGORIES, OwnKind
from core.labs.find.tasks import FIRST_BACKBONE, PROBES, ROUNDS, ProbeSpec
from core.labs.find.verdict import missed, verdict
from core.models.local import SHIPPED
from core.runs.run import new_id
from core.runs.transcript import Transcript

INTERPRETERS = ("aia", "milan", "aia+milan", "fit", "nearest")
_LONGEST = 160


def function_options(parser: argparse.ArgumentParser) -> None:
    """Which black box: the options that `probe` and `find show` share."""
    parser.add_argument("--category", choices=CATEGORIES, default="numeric")
    parser.add_argument("--function", metavar="ID", default="", help="a published id such as f00012, or numeric-7-hard")
    parser.add_argument("--seed", metavar="N", type=int, default=0, help="which drawn function (default: 0)")
    parser.add_argument("--difficulty", choices=("easy", "medium", "hard"))
    parser.add_argument("--find-dir", metavar="DIR", help="the published set: the folder that holds numeric/, strings/")
    parser.add_argument("--rules", choices=("paper", "repaired"), default="repaired")


def add(commands: Any) -> None:
    probe = commands.add_parser("probe", help="let an interpreter loose on a black box whose truth is known")
    function_options(probe)
    probe.add_argument(
        "--own",
        metavar="TEXT",
        default="",
        help="a formula of x, Python with a def, pairs (a -> b, one a line), or for entities a subject",
    )
    probe.add_argument("--interpreter", choices=INTERPRETERS, default="aia")
    probe.add_argument("--model", metavar="ID", default=f"local/{SHIPPED}", help="the interpreter's (%(default)s)")
    probe.add_argument("--evaluator", metavar="ID", default="", help="the model that takes the unit tests")
    probe.add_argument(
        "--backbone",
        choices=("table", "embedding", "model"),
        help="default: embedding for entities, table for relations",
    )
    probe.add_argument("--module", metavar="ID", default="", help="the model of --backbone model")
    probe.add_argument("--rounds", metavar="N", type=int, default=ROUNDS)
    probe.add_argument("--probes", metavar="N", type=int, default=PROBES, help="calls of the function (%(default)s)")
    probe.add_argument("--tools", action="store_true", help="ask by native tool calls, where the model has them")
    output_options(probe)
    probe.set_defaults(command=_probe)


def _probe(given: argparse.Namespace) -> int:
    by_model = given.interpreter in ("aia", "milan", "aia+milan")
    spec = ProbeSpec(
        seed=given.seed,
        category=given.category,
        function=given.function,
        find_dir=given.find_dir,
        difficulty=given.difficulty,
        own=given.own,
        own_kind=_kind_of(given.category, given.own),
        interpreter=given.interpreter,
        model=given.model if by_model else "",
        evaluator=given.evaluator,
        backbone=given.backbone or FIRST_BACKBONE.get(given.category, "table"),
        module=given.module or (given.model if given.backbone == "model" else ""),
        rounds=given.rounds,
        probes=given.probes,
        rules=given.rules,
        tools=given.tools,
    )
    try:
        spec.load()
    except ValueError as error:
        print(error, file=sys.stderr)
        return BAD_INPUT
    lab = entry.labs()["find"]
    return run(lab, spec, new_id(lab.name), given, narrate)


def _kind_of(category: str, own: str) -> OwnKind:
    """What a function of one's own is written as."""
    if category == "entities":
        return "concept"
    return "pairs" if category == "relations" or ("->" in own and "def " not in own) else "code"


def narrate(told: Transcript) -> Iterable[tuple[str, str]]:
    """The run in words: each round with its calls, the conclusion, the truth, the verdict and the figures."""
    now = case(told)
    if now.spec is None:
        return
    rounds = sorted({*now.exchanges, *(probe.round for probe in now.probes)})
    for number in rounds:
        exchange = now.exchanges.get(number)
        made = now.of_round(number)
        calls = "  ".join(f"f({probe.input}) = {probe.output}" for probe in made)
        if exchange is None and (now.spec.interpreter in ("aia", "aia+milan") or not now.interpretation) and number > 0:
            continue
        told_of = calls or (exchange.trouble if exchange and exchange.trouble else "concludes")
        count = f"{len(made)} calls: " if len(made) > 10 else ""
        yield f"round {number}", f"  {number:>2}  {_short(count + told_of)}"
        if exchange and exchange.invented:
            yield f"invented {number}", "      (it made up outputs of its own in this message)"
    if now.interpretation:
        description = now.interpretation.description_repaired or "(no description)"
        yield "interpretation", f"\nIt says: {description}"
        if now.interpretation.domain_repaired:
            yield "domain", f"Domain:  {now.interpretation.domain_repaired}"
    if now.truth:
        yield "truth", f"Truth:   {now.truth.description}"
        if now.truth.note:
            yield "note", f"         {now.truth.note}"
    if told.status is not None:
        yield "verdict", f"\n{verdict(now)}"
        for sentence in missed(now):
            yield sentence, f"  - {sentence}"
        yield from figures(told)


def _short(text: str) -> str:
    line = text.replace("\n", " ")
    return line if len(line) <= _LONGEST else f"{line[: _LONGEST - 1]}…"


def figures(told: Transcript) -> Iterable[tuple[str, str]]:
    """Scores under the repaired rules, with the reason of those that are undefined."""
    for score in told.scores.values():
        if score.rules == "repaired" and score.metric in WORDS:
            line = figure(score.metric, score.value, score.n, score.of, score.low, score.high)
            reason = score.detail.get("reason")
            yield f"score {score.metric}", f"{line}: {reason}" if reason else line
