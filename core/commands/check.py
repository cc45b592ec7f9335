"""`check`: a model explains its answer by an edit or by words; does it keep to that in a fresh session?"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterable
from typing import Any, get_args

from core import entry
from core.commands.running import BAD_INPUT, figures, output_options, run
from core.datasets.items import Item
from core.labs.consistency.case import Case, Row, agreement, case
from core.labs.consistency.tasks import (
    EXPLANATIONS,
    PAPER_SAMPLING,
    TASKS,
    CheckSpec,
    Mask,
    Persona,
    Target,
    Wording,
    items_of,
)
from core.labs.consistency.words import caveats, row_verdict, verdict
from core.models.local import SHIPPED
from core.runs.run import new_id
from core.runs.transcript import Transcript

MASKS: dict[str, Mask] = {"redacted": "[REDACTED]", "removed": "[REMOVED]"}


def add(commands: Any) -> None:
    check = commands.add_parser("check", help="hold a model to its own explanation in a fresh session")
    check.add_argument("task", metavar="TASK", choices=TASKS, help=", ".join(TASKS))
    check.add_argument(
        "--explanation", choices=EXPLANATIONS, action="append", default=[], help="may be repeated (default: all three)"
    )
    what = check.add_argument_group("what is classified (default: the items that ship)")
    what.add_argument("--text", metavar="TEXT", help="a paragraph of your own; for entailment the premise")
    what.add_argument("--question", default="", metavar="TEXT", help="multi_choice: the question about the paragraph")
    what.add_argument(
        "--choice", default=[], metavar="TEXT", action="append", help="multi_choice: a possible answer; repeat it"
    )
    what.add_argument("--hypothesis", default="", metavar="TEXT", help="entailment: does this follow?")
    what.add_argument("--label", metavar="LABEL", help="the correct answer to --text, if there is one")
    what.add_argument("--dataset", default="", metavar="NAME", help="imdb, sst-2, babi-1 to babi-3, mctest, rte")
    what.add_argument("--path", metavar="P", help="its file or folder (default: $EXPLAIN_HOME/datasets/NAME)")
    what.add_argument("--split", choices=("train", "valid", "test"))
    what.add_argument("--limit", metavar="N", type=int, help="at most so many items")
    how = check.add_argument_group("how it is asked")
    how.add_argument("--persona", choices=get_args(Persona), default="objective")
    how.add_argument("--target", choices=get_args(Target), default="explicit", help="of counterfactuals")
    how.add_argument("--mask", choices=tuple(MASKS), default="redacted")
    how.add_argument(
        "--no-mask-sentence", dest="mask_sentence", action="store_false", help="classify without a word on masks"
    )
    how.add_argument("--short", action="store_true", help="the short form of the redaction prompt")
    how.add_argument("--every-wording", action="store_true", help="all wordings of the paper, not just one")
    how.add_argument("--answerable", action="store_true", help="also ask whether it can tell at all")
    how.add_argument("--controls", metavar="K", type=int, default=3, help="random masks a check (default: 3)")
    how.add_argument(
        "--max-tokens",
        metavar="N",
        type=int,
        default=PAPER_SAMPLING.max_tokens,
        help="an answer (default: the paper's %(default)s)",
    )
    check.add_argument(
        "--model", metavar="ID", default=f"local/{SHIPPED}", help="who is checked (default: %(default)s)"
    )
    check.add_argument("--seed", metavar="N", type=int, default=0)
    output_options(check)
    check.set_defaults(command=_check)


def _check(given: argparse.Namespace) -> int:
    items: tuple[Item, ...] = ()
    if given.text is not None:
        if given.dataset:
            print("Give --text or --dataset, not both.", file=sys.stderr)
            return BAD_INPUT
        item = Item(
            id="text",
            task=given.task,
            paragraph=given.text,
            question=given.question,
            choices=tuple(given.choice),
            hypothesis=given.hypothesis,
            label=given.label,
        )
        items = (item,)
    spec = CheckSpec(
        task=given.task,
        items=items,
        dataset=given.dataset,
        path=given.path,
        split=given.split,
        limit=given.limit,
        explanations=tuple(dict.fromkeys(given.explanation)) or EXPLANATIONS,
        wordings=(
            Wording(
                persona=given.persona,
                target=given.target,
                mask=MASKS[given.mask],
                mask_sentence=given.mask_sentence,
                short=given.short,
            ),
        ),
        every_wording=given.every_wording,
        answerable=given.answerable,
        controls=given.controls,
        max_tokens=given.max_tokens,
        model=given.model,
        seed=given.seed,
    )
    # A dataset that cannot be read is said before the run begins.
    items_of(spec)
    lab = entry.labs()["consistency"]
    return run(lab, spec, new_id(lab.name), given, narrate)


def narrate(told: Transcript) -> Iterable[tuple[str, str]]:
    """The run in words: each check as its verdict is known, the verdict on all, the figures."""
    now = case(told)
    several = len(now.rows) > 1
    for row in now.rows.values():
        # The control comes after the verdict, and is told with it.
        if row.state() != "waiting" and (_whole(now, row) or told.status is not None):
            yield row.key, _row(row)
    if told.status is not None:
        if several or not now.rows:
            yield "verdict", f"\n{verdict(now)}"
        if several and len(now.items) == 1:
            yield from _wordings(now)
        yield from figures(told)
        yield from _by_explanation(told)


def _whole(now: Case, row: Row) -> bool:
    masks = row.check.explanation != "counterfactual" and row.edited() is not None
    wanted = masks and now.spec is not None and now.spec.controls > 0
    return row.state() == "failed" or not wanted or row.control is not None


def _row(row: Row) -> str:
    lines = [f"{row.check.item.id} · {row.name}", f"  {row_verdict(row)}"]
    words = row.explained and row.explained.words_repaired
    if words:
        lines.insert(1, f"  words: {', '.join(words[:20])}{' …' if len(words) > 20 else ''}")
    elif (edited := row.edited()) is not None and row.check.explanation != "attribution":
        lines.insert(1, f"  edited: {_shortened(edited)}")
    if row.state() in ("yes", "no"):
        lines.insert(1, f"  answers: {row.reading('before')}, then {row.reading('after')}")
    return "\n".join([*lines, *(f"  ({caveat})" for caveat in caveats(row))])


def _shortened(text: str, most: int = 160) -> str:
    flat = " ".join(text.split())
    return flat if len(flat) <= most else f"{flat[:most]} …"


def _wordings(now: Case) -> Iterable[tuple[str, str]]:
    agree = agreement(list(now.rows.values()))
    if agree.unfaithful is not None and agree.faithful:
        yield "unfaithful", f"  {agree.unfaithful.name} is unfaithful; the paper holds one such wording to be enough."


def _by_explanation(told: Transcript) -> Iterable[tuple[str, str]]:
    """Faithfulness of each explanation, where there are several."""
    for score in told.scores.values():
        if score.metric == "faithfulness" and score.rules == "repaired" and score.item in EXPLANATIONS:
            value = "undefined" if score.value is None else f"{score.value:.2f}"
            yield f"by {score.item}", f"    {score.item:<15}{value}  ({score.n} of {score.of})"
