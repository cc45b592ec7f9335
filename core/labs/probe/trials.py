"""The trials of a case: the interpretation's predictions, compared with the function or read by an evaluator."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from ...events import Rules
from ...parsers import fields
from ...parsers.fields import REASON as CUT
from ...sandbox.unsupported import NOT_RUNNABLE, not_runnable
from ..base.cases import Reading, Trial
from ..base.declared import Means, words_of
from . import evaluate
from .case_data import Findings
from .case_facts import CaseFacts
from .records import Prediction, UnitTest

GRID = "grid"
"""The one trial of a numeric function. Each of its 256 points alone says nothing and would be a line of the journal;
the points are in the records of estimate and truth, and what counts is their sum.
"""

MARKS: dict[str, Means] = {"right": "kept", "wrong": "broken", "unread": "unread", "dropped": "failed"}
"""The mark of each outcome of a trial; outcomes that are not listed were not tested."""

JUDGED: Mapping[str, str] = words_of(__file__, "judged")
"""What is put to an evaluator, by what a unit test is about."""


def trial_of(item: str) -> str:
    """Return the trial that the record, call or drop `item` belongs to; an empty string if it belongs to none.

    Both readings of one interpretation, "unit-03" and "paper-03", are one trial. The true description ("ceiling-03")
    has no trial.
    """
    if item in ("estimate", "observed", "checked"):
        return GRID
    if item.startswith("paper-"):
        return item.replace("paper-", "unit-", 1)
    return item if item.startswith(("test-", "held-out-", "unit-")) else ""


def trials(case: Findings) -> dict[str, Trial]:
    """Return the trials so far, by id."""
    by_id = {**dict(_grid(case)), **dict(_texts(case)), **dict(_units(case))}
    for drop in case.log.drops:
        # A call that failed left no record.
        if drop.reason == "error" and drop.item.startswith("unit-") and drop.item not in by_id:
            lost = Reading(outcome="dropped", counts=False, reason=drop.detail)
            by_id[drop.item] = Trial(about="", paper=lost, repaired=lost)
    if case.spec is None or case.spec.answers == "prose":
        return by_id
    unread = Reading(outcome="not tested", counts=False, reason=fields.NO_PAPER_FIGURE)
    return {item: trial.model_copy(update={"paper": unread}) for item, trial in by_id.items()}


def _grid(case: Findings) -> Iterator[tuple[str, Trial]]:
    estimate = case.estimate
    if estimate is None or case.truth is None:
        return
    truth = [y for y in case.truth.y if y is not None]

    def reading(rules: Rules) -> Reading:
        by = case.by(rules)
        score, success = by.score("nmse"), by.value("nmse_success")
        trouble = estimate.trouble[rules]
        outcome = "right" if success else "wrong"
        if success is None:
            outcome = NOT_RUNNABLE if not_runnable(trouble) else "not tested"
        return Reading(
            expected=_range(estimate[rules]),
            observed=_range(truth),
            outcome=outcome,
            counts=success is not None,
            reason=(score.reason if score else "") or trouble,
        )

    points = len(case.truth.x)
    yield GRID, Trial.from_reading(f"{points} test points", reading)


def _range(values: list[float] | tuple[float | None, ...]) -> str:
    known = [value for value in values if value is not None]
    if not known:
        return "no values"
    return f"{len(known)} values from {min(known):.4g} to {max(known):.4g}"


def _texts(case: Findings) -> Iterator[tuple[str, Trial]]:
    for kind in ("test", "held out"):
        some = {item: one for item, one in case.predictions.items() if one.kind == kind}
        ran = {item: one for item, one in some.items() if not not_runnable(one.failure("paper"))}
        stopped = evaluate.paper_stop([one.input for one in ran.values()], [one.paper for one in ran.values()])
        places = {item: place for place, item in enumerate(ran)}
        for item, one in some.items():
            paper = _text(one, "paper")
            place = places.get(item, -1)
            if stopped is not None and place >= stopped:
                # The text at which the paper's test gives up counts as wrong; the texts after it do not count.
                gone = {"outcome": "wrong", "reason": "the paper's test gives up here"}
                if place > stopped:
                    gone = {"outcome": "not tested", "reason": "the paper's test gave up before it"}
                paper = paper.model_copy(update={**gone, "counts": place == stopped})
            repaired = _text(one, "repaired")
            if not CaseFacts(case).concluded:
                repaired = repaired.model_copy(update={"outcome": "not tested", "counts": False, "reason": one.error})
            yield item, Trial(about=one.input, paper=paper, repaired=repaired)


def _text(one: Prediction, rules: Rules) -> Reading:
    guess = one[rules]
    error = one.failure(rules)
    if one.misrecorded and rules == "repaired":
        reason = "the recorded output is not the function's"
        return Reading(expected=guess, observed=one.truth, outcome="not tested", counts=False, reason=reason)
    if not_runnable(error):
        return Reading(observed=one.truth, outcome=NOT_RUNNABLE, counts=False, reason=error)
    right = guess == one.truth
    if rules == "paper" and one.right_paper is not None:
        right = one.right_paper
    return Reading(
        expected=guess,
        observed=one.truth,
        outcome="right" if right else "wrong",
        counts=True,
        reason=error,
    )


def _units(case: Findings) -> Iterator[tuple[str, Trial]]:
    """Yield the unit tests. If the original parser read another description, the paper rules have judged that one."""
    tests = {item: one for item, one in case.units.items() if one.about == "interpretation"}
    paper = {trial_of(item): one for item, one in case.units.items() if one.about == "paper"}
    cut = {drop.item: drop.detail for drop in case.log.drops if drop.reason == CUT}
    for item, test in paper.items() if not tests else ():
        # Only the original parser reads a description that was cut.
        unread = Reading(outcome=CUT, counts=False, reason=CaseFacts(case).cut)
        alone = Trial(about=" | ".join(test.options), paper=_unit(test, "paper"), repaired=unread)
        yield item, alone.model_copy(update={"calls": (test.call,)}) if test.call else alone
    for item, one in tests.items():
        other = paper.get(item, None if paper else one)
        calls = tuple(dict.fromkeys(test.call for test in (one, other) if test and test.call))
        about, repaired = " | ".join(one.options), _unit(one, "repaired", cut.get(item, ""))
        yield item, Trial(about=about, paper=_unit(other, "paper"), repaired=repaired, calls=calls)


def _unit(test: UnitTest | None, rules: Rules, cut: str = "") -> Reading:
    """Return the example that the evaluator picked, and the function's own. `cut`: where its reply was cut."""
    if test is None:
        return Reading(outcome="dropped", counts=False, reason="the evaluator's call failed")
    right = test[rules]
    true = test.options[test.correct - 1] if 0 < test.correct <= len(test.options) else None
    picked = test.options[test.picked - 1] if test.picked and test.picked <= len(test.options) else None
    return Reading(
        expected=true if rules == "paper" and right else picked,
        observed=true,
        outcome=CUT if cut else "unread" if right is None else "right" if right else "wrong",
        counts=right is not None,
        reason=cut or ("the evaluator's reply settles on no example" if right is None else ""),
    )
