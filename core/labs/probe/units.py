"""Unit tests: an evaluator reads the description and picks which of three examples is the function's (paper §3);
and second opinions.
"""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from itertools import combinations, count
from typing import Literal

import numpy as np

from ... import files
from ...events import CallError, Rules
from ...parsers import fields
from ...parsers.fields import REASON as CUT
from ...rulesets import RULES
from ...runs.context import CaseContext
from ...score import Figure, Score, undefined
from ...statistics.agreement import kappa
from ...statistics.intervals import wilson
from ...text.embed import SMALL, NoEncoderError, encoder, likeness
from ..base.declared import AnnotationQuestion, AnnotationTask, ReferenceAnswers
from . import parse, prompts
from .evaluate import picked
from .exemplars import TESTS, drawn_triplets
from .functions import source
from .functions.base import FindFunction, Triplet, published_triplets
from .functions.entities import EntityFunction, concepts
from .functions.relations import UNDEFINED, RelationFunction, relations
from .prompts import SHOWN
from .records import TELL_NOTHING, Comparison, FurtherUnitTest, Interpretation, Probe, UnitTest
from .tasks import JUDGING, ProbeSpec
from .view import ProbeView, trial_of

# Second opinions on a description: further evaluators that take the same unit tests, and a judge that compares two
# descriptions (Schwettmann et al. 2023, appendices F1 and F4).
#
# The judge reads examples of the function and compares the interpreter's description with the true one, and the true
# one with that of another function, which is the control. It is asked in both orders: a judge that goes by position
# answers differently, which counts for neither description, so in the control it is never right.


Pair = Literal["control", "interpretation"]
"""What the judge compares (`records.Comparison.about`)."""

EXAMPLES = 10
"""The most examples of the function that the judge sees."""

ORDERS = (False, True)


async def compare(
    spec: ProbeSpec, run: CaseContext, function: FindFunction, tests: Sequence[Triplet], description: str
) -> None:
    """Ask the judge about each pair of descriptions in both orders. A call that fails is dropped with the reason."""
    examples = list(dict.fromkeys(prompts.SHOWN.join(test.true) for test in tests))[:EXAMPLES]
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
    described = (source.generate(spec.category, seed).describe() for seed in count(spec.seed + 1))
    return next(text for text in described if text != truth)


# Figures


def by_evaluator(view: ProbeView) -> Iterator[tuple[Mapping[str, str], Figure]]:
    """Yield what each further evaluator picks from the true description, with its name."""
    for who in dict.fromkeys(test.evaluator for test in view.further.values()):
        tests = [one for one in view.further.values() if one.evaluator == who and one.about == "truth"]
        marks = [mark for test in tests if (mark := test[view.rules]) is not None]
        score = Score(sum(marks) / len(marks), len(marks), len(tests)) if marks else undefined(len(tests), "unread")
        yield {"evaluator": who}, Figure("further_ceiling", view.rules, score)


def agreement(view: ProbeView) -> Iterator[Figure]:
    """Yield the mean over pairs of evaluators of the share of tests in which both pick the same example, and of Cohen's
    kappa; undefined if a pair has none.
    """
    by: dict[str, dict[str, int | None]] = {}
    for item, test in view.units.items():
        if test.about in _ITEMS:
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


def judged(view: ProbeView) -> Iterator[Figure]:
    """Yield for each pair of descriptions what the judge prefers in both orders, and for both pairs together how often
    its choice depends on the order.
    """
    said: dict[str, dict[bool, bool | None]] = {}
    for one in view.comparisons.values():
        said.setdefault(one.about, {})[one.swapped] = one.first_is_better
    both = {about: [two.get(swapped) for swapped in ORDERS] for about, two in said.items()}
    read = {about: two for about, two in both.items() if None not in two}
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


# What people annotate in runs of Probe: the unit tests that an evaluator takes (FIND, appendix F2).


UNIT = "people: unit test"
"""The metric of people's answers to unit tests."""

ANNOTATED_PARTS = {"interpretation": "interpretation", "truth": "ground truth"}
"""The descriptions that people read, as in the paper's Table A4: the interpreter's, and the true one."""


class UnitTestTask(AnnotationTask):
    """Which of three examples fits a description? Of subjects and facts only, as in the paper: other functions may need
    tools.
    """

    name = "unit-test"
    metric = UNIT

    def questions(self, view: ProbeView) -> Iterator[AnnotationQuestion]:
        said = view.interpretation
        if view.spec is None or not view.spec.is_module or view.truth is None or said is None:
            return
        texts = {"interpretation": said.told.repaired, "truth": view.truth.description}
        taken = dict.fromkeys(ANNOTATED_PARTS, 0)
        for item, test in view.units.items():
            if test.about not in ANNOTATED_PARTS or taken[test.about] == TESTS or not texts[test.about].strip():
                continue
            taken[test.about] += 1
            what = "Example" if SHOWN in test.options[0] else "Input"
            options = ((f"{what} {number}", text) for number, text in enumerate(test.options, start=1))
            shown = (("Description of a function", texts[test.about]), *options)
            where = {"key": f"{view.log.case} {item}", "group": view.log.case, "arm": ANNOTATED_PARTS[test.about]}
            yield AnnotationQuestion(shown=shown, trial=item, **where)

    def compared(self, view: ProbeView, trial: str, rules: Rules) -> ReferenceAnswers | None:
        test = view.by(rules).units.get(trial)
        if test is None or test.about not in ANNOTATED_PARTS:
            return None
        picked = str(test.picked) if test.picked else None
        return ReferenceAnswers(picked, str(test.correct), test.evaluator, ANNOTATED_PARTS[test.about])

    def careful(self, view: ProbeView, trial: str) -> str:
        """A careful person picks what the evaluator picked; where it picked nothing, they see the right one."""
        test = view.units[trial]
        return str(test.picked or test.correct)


TASKS = (UnitTestTask(),)


EMBEDDING = "embedding"
"""The evaluator's name if no model takes the tests of entities and relations."""

About = Literal["interpretation", "paper", "truth", "nothing", "anything", "everything", "seen"]
_METRICS: dict[About, str] = {"interpretation": "unit_test", "truth": "unit_test_ceiling"}
_ITEMS: dict[About, str] = {"interpretation": "unit", "truth": "ceiling"}
"""The descriptions that further evaluators read too, with the item prefixes of their tests; other tests have as prefix
what they are about.
"""

CONTROL = "unit_test_control"
"""The figure of the descriptions that tell nothing: the best of them is used."""

NOTHING = "It gives an output for an input, as its rule has it.", "Its inputs."
ANYTHING = (
    "It may be any curve, any change of a text, any subject and any fact, with noise of any kind.",
    "Values may be replaced below 0, and they may be replaced above 0; any input may give undefined.",
)
"""Descriptions, with their domains, that are true of every function."""


CLEARLY = 0.1
"""How much closer to the description than the next example an example must be for sentence vectors to pick it. To a
text that tells nothing all examples are about equally close: without this margin, such texts beat all of CONTROL on
a tenth of the relations.
"""


def everything(category: str) -> tuple[str, str]:
    """Return a description, with its domain, that names all subjects or all facts, and so tells nothing."""
    if category == "entities":
        return f"It knows words related to {', '.join(concepts())}.", "Any input."
    return f"It answers, {'; '.join(f'of {first} {second}' for first, second in relations())}.", "Any input."


def outputs_seen(run: CaseContext) -> str:
    """Return a description that lists the outputs the interpreter saw, but says nothing about what leads to them; an
    empty string if it saw none.
    """
    made = sorted(run.recorded(Probe).values(), key=lambda probe: probe.number)
    seen = dict.fromkeys(probe.output for probe in made if not probe.problem and probe.output != UNDEFINED)
    return f"It gives outputs such as {', '.join(seen)}." if seen else ""


def telling_nothing(category: str) -> dict[About, str]:
    """Return the worthless descriptions as an evaluator reads them."""
    return {
        "nothing": "\n".join(NOTHING),
        "anything": "\n".join(ANYTHING),
        "everything": "\n".join(everything(category)),
    }


def triplets(spec: ProbeSpec, function: FindFunction) -> tuple[Triplet, ...]:
    """Return the published triplets of a published function, else generated ones. Raises ValueError if there can be
    none.
    """
    if spec.category != "strings" and not isinstance(function, EntityFunction | RelationFunction):
        raise ValueError("pairs that were typed in leave nothing to test with")
    if spec.is_published:
        return published_triplets(files.resolve_named(str(spec.find_dir)), spec.category)[spec.function]
    return drawn_triplets(function, spec.seed, spec.unit_tests)


async def run_tests(spec: ProbeSpec, run: CaseContext, function: FindFunction, read: Interpretation) -> None:
    """Publish `unit_test`, and `unit_test_ceiling`: the same evaluator's share with the true description.

    Raises CallError if every call of the evaluator failed and there is nothing else to judge by.
    """
    evaluator = spec.evaluator or ("" if spec.category == "strings" else EMBEDDING)
    why = "no evaluator was chosen" if not evaluator else ""
    tests: tuple[Triplet, ...] = ()
    if evaluator:
        try:
            tests = await asyncio.to_thread(triplets, spec, function)
        except (ValueError, KeyError) as error:
            why = str(error)
    texts: dict[About, str] = {"interpretation": read.told.repaired}
    if spec.answers == "prose" and read.told.paper and read.told.paper.split() != read.told.repaired.split():
        # The original parser's text is tested separately only if its words differ, because every call costs.
        texts["paper"] = read.told.paper
    texts["truth"] = function.describe()
    if spec.category == "relations" and (listed := outputs_seen(run)):
        texts["seen"] = listed
    if not texts["interpretation"].strip():
        del texts["interpretation"]
        if tests and not (_was_cut(run) and "paper" in texts):
            why = "there is no description to judge"
    if not tests or why:
        _without(spec, run, _METRICS.values(), undefined(len(tests), why or "there are no triplets"))
        return
    try:
        if evaluator == EMBEDDING:
            # An encoder prefers some examples whatever it reads; the descriptions that tell nothing show by how much.
            texts |= telling_nothing(spec.category)
            judged = await asyncio.to_thread(_by_embedding, tests, texts)
        else:
            judged = await _by_model(spec, run, _wanted(tests, texts), texts, spec.evaluator)
    except NoEncoderError as missing:
        _without(spec, run, ["unit_test"], undefined(len(tests), str(missing)))
        return
    except CallError as failure:
        if spec.category != "strings":
            raise
        # A function of texts is judged mainly by its code.
        _without(spec, run, _METRICS.values(), undefined(len(tests), failure.message))
        return
    for item, test in judged.items():
        run.record(test, item, trial=trial_of(item))
    _score(spec, run, judged, len(tests))
    await _second_opinions(spec, run, function, tests, texts)


async def _second_opinions(
    spec: ProbeSpec, run: CaseContext, function: FindFunction, tests: Sequence[Triplet], texts: dict[About, str]
) -> None:
    """Let further evaluators take the same tests, and the judge compare. Failed calls are dropped with the reason."""
    read = {about: text for about, text in texts.items() if about in _ITEMS}
    for number, evaluator in enumerate(spec.evaluators, start=2):
        wanted = {f"evaluator-{number}/{item}": work for item, work in _wanted(tests, read).items()}
        with suppress(CallError):
            for item, test in (await _by_model(spec, run, wanted, texts, evaluator)).items():
                run.record(FurtherUnitTest(**dict(test)), item)
    if spec.judge:
        await compare(spec, run, function, tests, read.get("interpretation", ""))


def _was_cut(run: CaseContext) -> bool:
    """Whether the conclusion was cut: then only the original parser reads a description in it."""
    place = run.run_state.transcript.places.get(run.case)
    return place is not None and any(drop.reason == CUT and not drop.item for drop in place.drops)


def _without(spec: ProbeSpec, run: CaseContext, metrics: Iterable[str], score: Score) -> None:
    """Publish `metrics` as undefined by both rulesets."""
    for rules in RULES:
        for metric in metrics:
            run.score(metric, parse.score_of(spec, score, rules), rules)


async def _by_model(
    spec: ProbeSpec,
    run: CaseContext,
    wanted: dict[str, tuple[About, Triplet]],
    texts: dict[About, str],
    evaluator: str,
) -> dict[str, UnitTest]:
    """Make one call per triplet and description. A call that fails drops its triplet. Raises CallError if all calls
    fail.
    """
    failures: list[CallError] = []
    cut: set[str] = set()

    async def test(item: str, work: tuple[About, Triplet]) -> UnitTest:
        about, triplet = work
        options = shown(triplet)
        prompt = prompts.unit_test(spec, texts[about], triplet.options)
        prompt = prompt.model_copy(update={"slots": {**prompt.slots, "options": json.dumps(triplet.options)}})
        try:
            answered = await run.ask(
                "evaluator",
                prompt,
                evaluator,
                sampling=fields.sampling(JUDGING, prompt),
                item=item,
                trial=trial_of(item),
            )
        except CallError as failure:
            failures.append(failure)
            raise
        correct, chosen = triplet.correct + 1, parse.choice_in_fields(answered, prompt.json_schema)
        if chosen is None and answered.ended == "cut":
            run.drop(item, CUT, answered.cut_note, "repaired", trial_of(item))
            cut.add(item)
        in_prose = spec.answers == "prose"
        return UnitTest(
            about=about,
            evaluator=evaluator,
            call=answered.call,
            options=options,
            correct=correct,
            picked=chosen,
            paper=parse.choice_is_correct(answered.text, correct, "paper") if in_prose else None,
            repaired=None if chosen is None else chosen == correct,
        )

    judged = await run.map_items(wanted, test)
    if not judged:
        raise CallError(f"Every call of the evaluator failed: {failures[-1].message}", failures[-1].hint)
    for item in judged:
        if judged[item].repaired is None and item not in cut:
            run.drop(item, "unparsed", "the evaluator's reply settles on no example", "repaired", trial_of(item))
    return {item: judged[item] for item in wanted if item in judged}


def _wanted(tests: Sequence[Triplet], texts: dict[About, str]) -> dict[str, tuple[About, Triplet]]:
    """Return what is put to the evaluator, by item: each triplet with each of the descriptions."""
    return {
        f"{_ITEMS.get(about, about)}-{number:02}": (about, triplet)
        for about in texts
        for number, triplet in enumerate(tests, start=1)
    }


def _by_embedding(tests: Sequence[Triplet], texts: dict[About, str]) -> dict[str, UnitTest]:
    """Pick the example whose vector is closest to the description's.

    For entities each clause is compared, because the vector of a whole description with "or" in it lies between its
    subjects. If no example is closer than the others by CLEARLY, none is picked, which counts as wrong. The encoder
    cannot distinguish texts, so strings need a model.
    """
    vectors = {triplet: np.asarray(encoder(SMALL).encode(list(shown(triplet)))) for triplet in tests}
    told = {}
    for about, text in texts.items():
        clauses = [text]
        if len(tests[0].options[0]) == 1:
            clauses = [part.strip() for part in re.split(r"[.,;:]|\bor\b|\band\b", text) if part.strip()] or [text]
        told[about] = np.asarray(encoder(SMALL).encode(clauses))
    judged = {}
    for item, (about, triplet) in _wanted(tests, texts).items():
        alike = likeness(vectors[triplet], told[about]).max(axis=1)
        nearest, clear = int(np.argmax(alike)) + 1, np.ptp(np.sort(alike)[-2:]) >= CLEARLY
        right = bool(clear and nearest == triplet.correct + 1)
        judged[item] = UnitTest(
            about=about,
            evaluator=EMBEDDING,
            options=shown(triplet),
            correct=triplet.correct + 1,
            picked=nearest if clear else None,
            paper=right,
            repaired=right,
        )
    return judged


def shown(triplet: Triplet) -> tuple[str, ...]:
    """Return the examples as an evaluator reads them: the input alone, or input and output."""
    return tuple(prompts.SHOWN.join(option) for option in triplet.options)


def _score(spec: ProbeSpec, run: CaseContext, judged: dict[str, UnitTest], of: int) -> None:
    for about, metric in _METRICS.items():
        for rules in RULES:
            read = "paper" if rules == "paper" and about == "interpretation" else about
            some = [test for test in judged.values() if test.about == read]
            some = some or [test for test in judged.values() if test.about == about]
            score = picked([test[rules] for test in some]).over(of)
            if not some:
                was_cut = rules == "repaired" and any(test.about == "paper" for test in judged.values())
                lost = "every call of the evaluator about it failed"
                score = undefined(of, "the description was cut" if was_cut else lost)
            if score.value is not None:
                # A repeated example adds little information: the interval counts each example once.
                counted = {test.options[test.correct - 1] for test in some if test[rules] is not None}
                low, high = wilson(score.value, len(counted))
                detail = {"evaluator": some[0].evaluator, "chance": round(1 / 3, 3), "distinct": len(counted)}
                score = replace(score, low=low, high=high, detail=detail)
            run.score(metric, parse.score_of(spec, score, rules), rules)
    controls = [
        picked([test.repaired for test in judged.values() if test.about == about]).over(of)
        for about in dict.fromkeys(test.about for test in judged.values() if test.about in TELL_NOTHING)
    ]
    if controls and all(score.value is not None for score in controls):
        run.score(CONTROL, max(controls, key=lambda score: score.value or 0.0), "repaired")
