"""What came of a case, in words for someone who has never heard of the method: the verdict, and what was missed."""

from __future__ import annotations

from typing import Literal, NamedTuple

from core.events import Rules
from core.labs.find.audit import gaps
from core.labs.find.evaluate import SUCCESS, ZERO
from core.labs.find.findings import Findings
from core.labs.find.functions.base import as_number
from core.labs.find.functions.numeric import PROBED
from core.labs.find.functions.relations import UNDEFINED
from core.labs.find.records import Audit, Truth

Outcome = Literal["found", "close", "missed", "not answered", "not tested", "failed", "waiting"]
"""found: as good as can be had; close: right in part; not answered: there is no conclusion; not tested: it could not be
held against the truth.
"""


class Judgement(NamedTuple):
    """What came of a case: one word, and a sentence or two for someone who has never heard of the method."""

    outcome: Outcome
    sentence: str


def judge(case: Findings, rules: Rules = "repaired") -> Judgement:
    """Word and sentence rest on the same conditions, so that a list and the case itself never disagree."""
    spec = case.spec
    if spec is None or case.interpretation is None or case.score(case.headline, rules) is None:
        return _unfinished(case)
    who = "You" if spec.interpreter == "you" else "It"
    if not case.interpretation.description_repaired and not case.interpretation.code_repaired:
        return Judgement("not answered", _no_conclusion(case, who))
    return {"numeric": _numeric, "strings": _strings}.get(spec.category, _module)(case, rules, who)


def verdict(case: Findings, rules: Rules = "repaired") -> str:
    """What came out, in a sentence or two for someone who has never heard of the method."""
    return judge(case, rules).sentence


def _unfinished(case: Findings) -> Judgement:
    lost = next((drop for drop in case.log.drops if drop.reason == "error" and not drop.item), None)
    if case.log.status == "failed":
        return Judgement("failed", "The run stopped before there was anything to judge.")
    if lost is not None:
        return Judgement("failed", f"There is nothing to judge: {lost.detail}")
    if case.log.status == "cancelled":
        return Judgement("waiting", "The run was stopped before there was anything to judge.")
    return Judgement("waiting", "Not judged yet.")


def _no_conclusion(case: Findings, who: str) -> str:
    sentence = (
        f"{who} gave no conclusion in the form that was asked for, so there is nothing to hold against the truth."
    )
    last = case.log.calls.get(case.interpretation.call or "") if case.interpretation else None
    cut = last is not None and last.answered is not None and last.answered.finish_reason == "length"
    return f"{sentence} Its last message was cut off: it had used up its tokens." if cut else sentence


def solved(case: Findings) -> bool:
    """Whether the leading figure is all that can be had: then what the checks do not find may well not be there."""
    if case.spec is None:
        return False
    if case.spec.category == "numeric":
        return case.value("nmse_success") == 1
    if case.spec.category == "strings":
        return (case.value("exact_match") or 0) >= (case.value("exact_match_ceiling") or 1)
    passed, ceiling = case.value("unit_test"), case.value("unit_test_ceiling")
    return passed is not None and ceiling is not None and passed >= max(ceiling, 0.5)


def _numeric(case: Findings, rules: Rules, who: str) -> Judgement:
    error, floor = case.value("nmse", rules), case.value("noise_floor", rules)
    if error is None:
        return _without_error(case, rules, who)
    if error < 1e-6:
        score = case.score("nmse", rules)
        points = f"all {score.n} test points where it has any" if score and score.n < score.of else "all test points"
        return Judgement("found", f"{who} found the function: the code gives its values on {points}.")
    if error < SUCCESS and (where := _right_but_where_corrupted(case, rules)):
        were = "were" if who == "You" else "was"
        return Judgement("close", f"{who} {were} right everywhere but {where}, where the values are replaced.")
    size = f"the code's error is {_share(error)} of the function's size."
    if error < SUCCESS:
        return Judgement("close", f"{who} came close: {size}")
    beyond = floor is not None and floor >= SUCCESS
    more = " Nobody could have: the noise alone is larger than the limit." if beyond else ""
    return Judgement("missed", f"{who} did not find the function: {size}{more}")


def _without_error(case: Findings, rules: Rules, who: str) -> Judgement:
    """Where the error is undefined: for the function's sake, or for the code's."""
    reason = case.reason("nmse", rules)
    if case.value("nmse_success", rules) is None or (rules == "paper" and reason.startswith("the function is")):
        return Judgement("not tested", f"This function cannot be scored by a relative error: {reason}.")
    missed = f"{who} did not find the function:"
    if reason.startswith(ZERO):
        return Judgement("missed", f"{missed} it is zero on all test points, and the code gives something else.")
    given: list[bool] = []
    if case.truth is not None and case.estimate is not None:
        both = zip(case.truth.y, getattr(case.estimate, rules), strict=False)
        given = [g is not None for y, g in both if y is not None]
    if any(given) and not all(given):
        missing = given.count(False)
        return Judgement("missed", f"{missed} the code gives no number on {missing} of {len(given)} test points.")
    if given and all(given):
        return Judgement("missed", f"{missed} the code's error is too large to be computed.")
    return Judgement(
        "not tested",
        f"{who} gave no code that can be run on the test points, so the description could not be tested by it.",
    )


def _right_but_where_corrupted(case: Findings, rules: Rules) -> str:
    """The corrupted interval in words, where the code gives the function's values at all other test points."""
    truth, estimate = case.truth, case.estimate
    if truth is None or truth.corrupted is None or estimate is None:
        return ""
    low, high = truth.corrupted
    outside = [
        (y, g)
        for x, y, g in zip(truth.x, truth.y, getattr(estimate, rules), strict=False)
        if not ((low is None or x >= low) and (high is None or x <= high)) and y is not None
    ]
    right = all(g is not None and _same(y, g) for y, g in outside)
    return _interval(low, high) if outside and right else ""


def _same(y: float, g: float) -> bool:
    return abs(y - g) <= 1e-6 * max(1.0, abs(y))


def _share(error: float) -> str:
    """A squared relative error as the relative error itself, in words."""
    share = error**0.5
    return f"{share:.0%}" if share < 10 else f"{share:.0f} times the size"


def _strings(case: Findings, rules: Rules, who: str) -> Judgement:
    score = case.score("exact_match", rules)
    if score is None or score.value is None:
        return Judgement("not tested", f"There was nothing to test the code on: {case.reason('exact_match', rules)}.")
    matched, hits = score.value, round(score.value * score.n)
    if matched == 1:
        return Judgement("found", f"{who} found the function: the code gives its output on all {score.n} test texts.")
    ceiling = case.value("exact_match_ceiling", rules)
    unchanged = sum(one.kind == "test" and one.input == one.truth for one in case.predictions.values())
    if ceiling is not None and ceiling < 1:
        outcome: Outcome = "found" if matched >= ceiling else "close" if hits > unchanged else "missed"
        return Judgement(
            outcome if hits else "missed",
            f"The function draws at random: drawn again, it agrees with itself on {ceiling:.0%} of the test texts. "
            f"{'Your' if who == 'You' else 'Its'} code is right on {matched:.0%}.",
        )
    if hits == 0:
        return Judgement("missed", f"{who} did not find the function: the code is wrong on all {score.n} test texts.")
    if hits <= unchanged:
        return Judgement(
            "missed",
            f"{who} did not find the function: the code is right on {hits} of {score.n} test texts, and giving every "
            f"text back unchanged is right on {unchanged}.",
        )
    control = f" (giving every text back unchanged: on {unchanged})" if unchanged else ""
    return Judgement("close", f"{who} found part of it: the code is right on {hits} of {score.n} test texts{control}.")


def _module(case: Findings, rules: Rules, who: str) -> Judgement:
    score, ceiling = case.score("unit_test", rules), case.value("unit_test_ceiling", rules)
    if score is None or score.value is None:
        return Judgement("not tested", f"The description was not tested: {case.reason('unit_test', rules)}.")
    passed, hits = score.value, round(score.value * score.n)
    picked = f"From the description, the evaluator picked the function's own example in {hits} of {score.n} tests"
    if ceiling is not None:
        picked += f" (from the true description in {ceiling:.0%})"
    if ceiling is not None and ceiling > 1 / 3 and passed >= ceiling:
        return Judgement("found", f"{picked}. It tells as much as the truth.")
    if passed <= 0.5:
        return Judgement("missed", f"{picked}. Guessing gives one third.")
    return Judgement("close", f"{picked}.")


def missed(case: Findings) -> list[str]:
    """What the interpretation leaves out or gets wrong, one sentence each; empty where there is nothing."""
    truth, audit = case.truth, case.audit
    if truth is None or audit is None or case.interpretation is None:
        return []
    sentences: list[str] = []
    if _knew_beforehand(case):
        sentences.append("Had this description before it saw a single output, and never changed it.")
    if rounds := case.invented():
        several = "s" if len(rounds) > 1 else ""
        sentences.append(f"Made up outputs before it had them, in round{several} {', '.join(map(str, rounds))}.")
    for asked, quoted in audit.contradicted[:3]:
        sentences.append(f"Quotes f({asked}) = {quoted}, which is not what it was shown.")
    for asked, quoted in audit.unseen[:3]:
        sentences.append(f"Quotes f({asked}) = {quoted}, which it never tried.")
    if not case.probes and case.spec and case.spec.interpreter != "given":
        sentences.append("Never called the function at all.")
    if truth.category == "numeric":
        sentences += _missed_of_numbers(case, truth, audit)
    parts = case.score("components_identified", "repaired")
    if parts is not None and parts.value is not None and parts.value < 1:
        named = round(parts.value * parts.n)
        sentences.append(f"Names {named} of the {parts.n} parts of the function." if named else "Names no part of it.")
    if case.spec and case.spec.category == "strings":
        wrong = next((one for one in case.predictions.values() if one.repaired != one.truth), None)
        if wrong is not None:
            gave = f"fails ({wrong.error})" if wrong.repaired is None else f"gives {wrong.repaired!r}"
            sentences.append(f"For {wrong.input!r} the function gives {wrong.truth!r}; the code {gave}.")
    if truth.category == "entities":
        sentences += _missed_subjects(case)
    exception = truth.parameters.get("exception")
    undefined = [probe for probe in case.probes if probe.output == UNDEFINED]
    if truth.category == "relations" and case.probes and len(undefined) == len(case.probes):
        sentences.append("Every input that was tried gave undefined.")
    if exception and "undefined" not in case.interpretation.told_repaired.lower():
        seen = "although it saw" if undefined else "and never saw one of"
        sentences.append(f"Does not mention the exception (where {exception}), {seen} inputs that give undefined.")
    return sentences


def _knew_beforehand(case: Findings) -> bool:
    """Whether the message with its first call held the description that it concluded with."""
    assert case.interpretation is not None
    first = case.exchanges.get(case.probes[0].round) if case.probes else None
    early = first.description if first else ""
    return bool(early) and early == case.interpretation.description_repaired


def _missed_of_numbers(case: Findings, truth: Truth, audit: Audit) -> list[str]:
    sentences: list[str] = []
    if truth.corrupted is not None:
        where = _interval(*truth.corrupted)
        if audit.in_corruption == 0 and case.probes:
            sentences.append(f"Never probed {where}, where the values are replaced.")
        elif not audit.claimed and case.probes:
            often = "once" if audit.in_corruption == 1 else f"{audit.in_corruption} times"
            sentences.append(f"Looked {where} {often} and still does not say that values differ there.")
        elif audit.claimed and (case.value("interval_iou") or 0) < 0.5:
            sentences.append(f"Claims {_interval(*audit.claimed[0])} for the corrupted part, which is {where}.")
    elif audit.claimed:
        sentences.append(f"Claims that something happens {_interval(*audit.claimed[0])}; nothing does.")
    if truth.noise and case.value("noise_identified") == 0:
        sentences.append(f"Does not name the noise: {truth.noise}.")
    if case.probes and case.value("nmse_success") != 1 and (unseen := _unseen(case)):
        sentences.append(f"Never looked {' nor '.join(f'between {low:g} and {high:g}' for low, high in unseen)}.")
    worst = _worst(case, truth)
    if worst is not None:
        sentences.append(
            f"Farthest off at x = {worst[0]:g}: the function gives {worst[1]:.4g}, the code {worst[2]:.4g}."
        )
    return sentences


def _unseen(case: Findings) -> list[tuple[float, float]]:
    """Stretches of more than a quarter of the range without a probe in them."""
    inputs = [number for probe in case.probes if (number := as_number(probe.input)) is not None]
    return [(low, high) for low, high in gaps(inputs) if high - low > (PROBED[1] - PROBED[0]) / 4]


def _interval(low: float | None, high: float | None) -> str:
    if low is None:
        return f"below {high:g}" if high is not None else "everywhere"
    return f"above {low:g}" if high is None else f"between {low:g} and {high:g}"


def _worst(case: Findings, truth: Truth) -> tuple[float, float, float] | None:
    """The test point with the largest error, unless the estimate succeeds."""
    if case.estimate is None or case.value("nmse_success") == 1:
        return None
    both = [
        (x, y, g)
        for x, y, g in zip(truth.x, truth.y, case.estimate.repaired, strict=False)
        if y is not None and g is not None and not _same(y, g)
    ]
    return max(both, key=lambda point: abs(point[1] - point[2])) if both else None


def _missed_subjects(case: Findings) -> list[str]:
    """Whether any probe hit a subject at all."""
    if not case.probes:
        return []
    values = [probe.value for probe in case.probes if probe.value is not None]
    if not values:
        return ["No call gave a value."]
    return [] if max(values) >= 0.5 else ["No word that was tried gave a value above 0.5."]
