"""`ask`: test whether an explanation predicts what the model says next."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterable
from typing import Any

from core import entry
from core.commands.running import BAD_INPUT, figures, output_options, run
from core.labs.simulatability.case import case, verdict
from core.labs.simulatability.prompts import read_pack
from core.labs.simulatability.tasks import AskSpec
from core.models.local import SHIPPED
from core.runs.run import new_id
from core.runs.transcript import Transcript


def add(commands: Any) -> None:
    ask = commands.add_parser("ask", help="test whether an explanation predicts what the model says next")
    ask.add_argument("question", metavar="QUESTION", help="a yes-or-no question; for shp the post")
    ask.add_argument("--task", choices=("strategyqa", "shp"), default="strategyqa")
    ask.add_argument("--response-1", default="", metavar="TEXT", help="shp: the first response")
    ask.add_argument("--response-2", default="", metavar="TEXT", help="shp: the second response")
    ask.add_argument("--method", choices=("cot", "posthoc", "forced"), default="cot")
    ask.add_argument(
        "--model", metavar="ID", default=f"local/{SHIPPED}", help="whose explanation is tested (default: %(default)s)"
    )
    ask.add_argument(
        "--generator", metavar="ID", action="append", default=[], help="who writes counterfactuals, up to two"
    )
    ask.add_argument("--blind", action="store_true", help="write counterfactuals without looking at the explanation")
    ask.add_argument("--simulator", metavar="ID", default="", help="who predicts the answers (default: the model)")
    ask.add_argument("--no-reasoning", dest="reasoning", action="store_false", help="the simulator gives no reasons")
    ask.add_argument("--counterfactuals", metavar="N", type=int, help="1 to 20 (default: 10, shp 6)")
    ask.add_argument("--votes", metavar="K", type=int, default=1, help="predictions each; the majority holds")
    ask.add_argument("--extra", metavar="QUESTION", action="append", default=[], help="a counterfactual of your own")
    ask.add_argument("--prompts", metavar="FILE", help="a prompt pack in the form of the paper's prompts.json")
    ask.add_argument("--seed", metavar="N", type=int, default=0)
    output_options(ask)
    ask.set_defaults(command=_ask)


def _ask(given: argparse.Namespace) -> int:
    if given.counterfactuals is not None and not 1 <= given.counterfactuals <= 20:
        print("--counterfactuals takes a number from 1 to 20.", file=sys.stderr)
        return BAD_INPUT
    if given.prompts:
        read_pack(given.prompts)
    question = {"question": given.question} if given.task == "strategyqa" else {"context": given.question}
    spec = AskSpec(
        task=given.task,
        method=given.method,
        response_1=given.response_1,
        response_2=given.response_2,
        model=given.model,
        generators=tuple(given.generator),
        simulator=given.simulator,
        blind=given.blind,
        reasoning=given.reasoning,
        counterfactuals=given.counterfactuals or 0,
        votes=given.votes,
        extra=tuple(given.extra),
        prompts=given.prompts,
        seed=given.seed,
        **question,
    )
    lab = entry.labs()["simulatability"]
    return run(lab, spec, new_id(lab.name), given, narrate)


def narrate(told: Transcript) -> Iterable[tuple[str, str]]:
    """The run in words: the explanation, each counterfactual as its outcome is known, the verdict, the figures."""
    now = case(told)
    if now.starter:
        yield "starter", f"It answers {now.starter.answer_repaired}: {now.starter.explanation_repaired}\n"
    for row in now.rows.values():
        outcome = row.outcome("repaired")
        if outcome == "waiting":
            continue
        drop = row.dropped("repaired")
        text = row.counterfactual.text.replace("\n", " ") if row.counterfactual else drop.detail if drop else ""
        if row.simulation and row.answer:
            said = f"expect {row.simulation.repaired}, said {row.answer.repaired}: {outcome}"
            yield row.item, f"  {row.item}  {text}\n         {said}"
        else:
            yield row.item, f"  {row.item}  set aside, {drop.reason if drop else outcome}: {text}"
    if told.status is not None:
        yield "verdict", f"\n{verdict(now)}"
    yield from figures(told)
