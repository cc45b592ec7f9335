"""Second opinions on a description: further evaluators that take the same unit tests, and a judge that compares two
descriptions (Schwettmann et al. 2023, appendices F1 and F4).

The judge reads examples of the function and compares the interpreter's description with the true one, and the true one
with that of another function, which is the control. It is asked in both orders: a judge that goes by position answers
differently, which counts for neither description, so in the control it is never right.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations, count
from typing import TYPE_CHECKING, Literal

from ...parsers import fields
from ...runs.context import CaseContext
from ...score import Figure, Score, undefined
from ...statistics import kappa
from . import parse, prompts
from .functions import source
from .functions.base import FindFunction
from .functions.triplets import Triplet
from .records import Comparison
from .tasks import JUDGING, ProbeSpec

if TYPE_CHECKING:
    from .view import ProbeView

Pair = Literal["control", "interpretation"]
"""What the judge compares (`records.Comparison.about`)."""

PARTS = {"truth": "ceiling", "interpretation": "unit"}
"""The descriptions that further evaluators read, with the item prefix of their tests by the first."""

EXAMPLES = 10
"""The most examples of the function that the judge sees."""

ORDERS = (False, True)


async def compare(
    spec: ProbeSpec, run: CaseContext, function: FindFunction, tests: Sequence[Triplet], description: str
) -> None:
    """Ask the judge about each pair of descriptions in both orders. A call that fails is dropped with the reason."""
    examples = list(dict.fromkeys(prompts.SHOWN.join(test.options[test.correct]) for test in tests))[:EXAMPLES]
    truth = function.describe()
    pairs: dict[Pair, tuple[str, str]] = {"control": (truth, another(spec, truth))}
    if description.strip() and description.strip() != truth.strip():
        pairs["interpretation"] = (description, truth)

    async def judge(item: str, work: tuple[Pair, bool]) -> None:
        about, swapped = work
        two = pairs[about][::-1] if swapped else pairs[about]
        prompt = prompts.compare(spec, two, examples)
        sampling = fields.sampling(JUDGING, prompt)
        answered = await run.ask("judge", prompt, spec.judge, sampling=sampling, item=item)
        chosen = parse.choice_in_fields(answered, prompt.json_schema)
        better = None if chosen not in (1, 2) else (chosen == 1) != swapped
        if better is None:
            run.drop(item, "unparsed", "the judge's reply settles on neither description", "repaired")
        run.record(
            Comparison(about=about, judge=spec.judge, call=answered.call, swapped=swapped, first_is_better=better), item
        )

    wanted = {f"compare-{about}-{1 + swapped}": (about, swapped) for about in pairs for swapped in ORDERS}
    await run.map_items(wanted, judge)


def another(spec: ProbeSpec, truth: str) -> str:
    """Return the description of the next generated function of the category that has another description."""
    described = (source.generated(spec.category, seed, None, "repaired").describe() for seed in count(spec.seed + 1))
    return next(text for text in described if text != truth)


# Figures


def figures(view: ProbeView) -> Iterator[Figure]:
    """Yield how far the evaluators of a case agree, and what its judge says; nothing without these."""
    if view.further:
        yield from _agreement(view)
    if view.comparisons:
        yield from _judged(view)


def by_evaluator(view: ProbeView) -> Iterator[tuple[Mapping[str, str], Figure]]:
    """Yield what each further evaluator picks from the true description, with its name."""
    for who in dict.fromkeys(test.evaluator for test in view.further.values()):
        tests = [one for one in view.further.values() if one.evaluator == who and one.about == "truth"]
        marks = [mark for test in tests if (mark := test[view.rules]) is not None]
        score = Score(sum(marks) / len(marks), len(marks), len(tests)) if marks else undefined(len(tests), "unread")
        yield {"evaluator": who}, Figure("further_ceiling", view.rules, score)


def _agreement(view: ProbeView) -> Iterator[Figure]:
    """Yield the mean over pairs of evaluators of the share of tests in which both pick the same example, and of Cohen's
    kappa; undefined if a pair has none.
    """
    by: dict[str, dict[str, int | None]] = {}
    for item, test in view.units.items():
        if test.about in PARTS:
            by.setdefault(test.evaluator, {})[item] = test.picked
    for item, test in view.further.items():
        by.setdefault(test.evaluator, {})[item.partition("/")[2]] = test.picked
    tests = list(dict.fromkeys(item for picks in by.values() for item in picks))
    pairs = [
        kappa([picks.get(item) for item in tests], [others.get(item) for item in tests])
        for picks, others in combinations(by.values(), 2)
    ]
    for name, values in (
        ("evaluators_agree", [pair.agreed for pair in pairs]),
        ("evaluators_kappa", [pair.value for pair in pairs]),
    ):
        known = [value for value in values if value is not None]
        whole = bool(known) and len(known) == len(values)
        why = "a pair of evaluators shares no test, or both always picked the same place"
        score = Score(sum(known) / len(known), min(pair.n for pair in pairs), len(tests)) if whole else None
        yield Figure(name, view.rules, score or undefined(len(tests), why))


def _judged(view: ProbeView) -> Iterator[Figure]:
    """Yield for each pair of descriptions what the judge prefers in both orders, and for both pairs together how often
    its choice depends on the order.
    """
    said: dict[str, dict[bool, bool | None]] = {}
    for one in view.comparisons.values():
        said.setdefault(one.about, {})[one.swapped] = one.first_is_better
    whole = {about: [two[swapped] for swapped in ORDERS] for about, two in said.items() if len(two) == len(ORDERS)}
    read = {about: two for about, two in whole.items() if None not in two}
    by_order = {about: first != second for about, (first, second) in read.items()}
    for name, about in (("judge_control", "control"), ("judge_prefers", "interpretation")):
        if about not in said:
            continue
        if about not in read:
            yield Figure(name, view.rules, undefined(1, "the judge did not answer in both orders"))
        elif about == "control" or not by_order[about]:
            prefers = float(not by_order[about] and bool(read[about][0]))
            yield Figure(name, view.rules, Score(prefers, 1, 1, hits=int(prefers)))
        else:
            yield Figure(name, view.rules, undefined(1, "what the judge prefers depends on the order"))
    hits, of = sum(by_order.values()), len(said)
    score = Score(hits / len(by_order), len(by_order), of, hits=hits) if by_order else undefined(of, "no pair was read")
    yield Figure("judge_by_order", view.rules, score)
