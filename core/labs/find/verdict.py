"""What came of a case, in words for someone who has never heard of the method: the verdict, and what was missed."""

from __future__ import annotations

from core.events import Rules
from core.labs.find import parse
from core.labs.find.audit import gaps
from core.labs.find.case import HEADLINE, Case
from core.labs.find.evaluate import SUCCESS, ZERO
from core.labs.find.functions.base import as_number
from core.labs.find.functions.numeric import PROBED
from core.labs.find.functions.relations import UNDEFINED
from core.labs.find.records import Audit, Truth


def verdict(case: Case, rules: Rules = "repaired") -> str:
    """What came out, in a sentence or two for someone who has never heard of the method."""
    spec = case.spec
    if spec is None or case.interpretation is None or case.told.score(HEADLINE[spec.category], rules) is None:
        return {
            "failed": "The run stopped before there was anything to judge.",
            "cancelled": "The run was stopped before there was anything to judge.",
        }.get(case.told.status or "", "Not judged yet.")
    who = "You" if spec.interpreter == "you" else "It"
    if not case.interpretation.description_repaired and not case.interpretation.code_repaired:
        return _no_conclusion(case, who)
    return {"numeric": _numeric, "strings": _strings}.get(spec.category, _module)(case, rules, who)


def _no_conclusion(case: Case, who: str) -> str:
    told = f"{who} gave no conclusion in the form that was asked for, so there is nothing to hold against the truth."
    last = case.told.calls.get(case.interpretation.call or "") if case.interpretation else None
    cut = last is not None and last.answered is not None and last.answered.finish_reason == "length"
    return f"{told} Its last message was cut off: it had used up its tokens." if cut else told


def solved(case: Case) -> bool:
    """Whether the leading figure is all that can be had: then what the checks do not find may well not be there."""
    if case.spec is None:
        return False
    if case.spec.category == "numeric":
        return case.value("nmse_success") == 1
    if case.spec.category == "strings":
        return (case.value("exact_match") or 0) >= (case.value("exact_match_ceiling") or 1)
    passed, ceiling = case.value("unit_test"), case.value("unit_test_ceiling")
    return passed is not None and ceiling is not None and passed >= max(ceiling, 0.5)


def _numeric(case: Case, rules: Rules, who: str) -> str:
    error, floor = case.value("nmse", rules), case.value("noise_floor", rules)
    unwinnable = floor is not None and floor >= SUCCESS
    if error is None:
        reason = case.reason("nmse", rules)
        zero = reason.startswith(ZERO)
        if case.value("nmse_success", rules) is None or (rules == "paper" and reason.startswith("the function is")):
            return f"This function cannot be scored by a relative error: {reason}."
        if zero:
            return f"{who} did not find the function: it is zero on all test points, and the code gives something else."
        return _without_numbers(case, rules, who)
    if error < 1e-6:
        score = case.told.score("nmse", rules)
        points = f"all {score.n} test points where it has any" if score and score.n < score.of else "all test points"
        told = f"{who} found the function: the code gives its values on {points}."
    elif error < SUCCESS and (where := _right_but_where_corrupted(case, rules)):
        were = "were" if who == "You" else "was"
        told = f"{who} {were} right everywhere but {where}, where the values are replaced."
    elif error < SUCCESS:
        told = f"{who} came close: the code's error is {_share(error)} of the function's size."
    else:
        told = f"{who} did not find the function: the code's error is {_share(error)} of the function's size."
    if unwinnable and error >= SUCCESS:
        told += " Nobody could have: the noise alone is larger than the limit."
    return told


def _without_numbers(case: Case, rules: Rules, who: str) -> str:
    """For code whose error is undefined though the function can be scored."""
    given: list[bool] = []
    if case.truth is not None and case.estimate is not None:
        both = zip(case.truth.y, getattr(case.estimate, rules), strict=False)
        given = [g is not None for y, g in both if y is not None]
    if any(given) and not all(given):
        missing = given.count(False)
        return f"{who} did not find the function: the code gives no number on {missing} of {len(given)} test points."
    if given and all(given):
        return f"{who} did not find the function: the code's error is too large to be computed."
    return f"{who} gave no code that can be run on the test points, so the description could not be tested by it."


def _right_but_where_corrupted(case: Case, rules: Rules) -> str:
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


def _strings(case: Case, rules: Rules, who: str) -> str:
    matched = case.value("exact_match", rules)
    if matched is None:
        return "There was nothing to test the code on: " + case.reason("exact_match", rules) + "."
    score = case.told.score("exact_match", rules)
    assert score is not None
    if matched == 1:
        return f"{who} found the function: the code gives its output on all {score.n} test texts."
    hits = round(matched * score.n)
    ceiling = case.value("exact_match_ceiling", rules)
    if ceiling is not None and ceiling < 1:
        return (
            f"The function draws at random: drawn again, it agrees with itself on {ceiling:.0%} of the test texts. "
            f"{'Your' if who == 'You' else 'Its'} code is right on {matched:.0%}."
        )
    if hits == 0:
        return f"{who} did not find the function: the code is wrong on all {score.n} test texts."
    unchanged = sum(one.kind == "test" and one.input == one.truth for one in case.predictions)
    if hits <= unchanged:
        return (
            f"{who} did not find the function: the code is right on {hits} of {score.n} test texts, and giving every "
            f"text back unchanged is right on {unchanged}."
        )
    control = f" (giving every text back unchanged: on {unchanged})" if unchanged else ""
    return f"{who} found part of it: the code is right on {hits} of {score.n} test texts{control}."


def _module(case: Case, rules: Rules, who: str) -> str:
    passed, ceiling = case.value("unit_test", rules), case.value("unit_test_ceiling", rules)
    if passed is None:
        return "The description was not tested: " + case.reason("unit_test", rules) + "."
    score = case.told.score("unit_test", rules)
    assert score is not None
    hits = round(passed * score.n)
    told = f"From the description, the evaluator picked the function's own example in {hits} of {score.n} tests"
    if ceiling is not None:
        told += f" (from the true description in {ceiling:.0%})"
    if ceiling is not None and ceiling > 1 / 3 and passed >= ceiling:
        return f"{told}. It tells as much as the truth."
    return f"{told}. Guessing gives one third." if passed <= 0.5 else f"{told}."


def missed(case: Case) -> list[str]:
    """What the interpretation leaves out or gets wrong, one sentence each; empty where nothing was found."""
    truth, audit = case.truth, case.audit
    if truth is None or audit is None or case.interpretation is None:
        return []
    found: list[str] = []
    if _knew_beforehand(case):
        found.append("Had this description before it saw a single output, and never changed it.")
    if rounds := case.invented():
        several = "s" if len(rounds) > 1 else ""
        found.append(f"Made up outputs before it had them, in round{several} {', '.join(map(str, rounds))}.")
    for asked, told in audit.contradicted[:3]:
        found.append(f"Quotes f({asked}) = {told}, which is not what it was shown.")
    for asked, told in audit.unseen[:3]:
        found.append(f"Quotes f({asked}) = {told}, which it never tried.")
    if not case.probes and case.spec and case.spec.interpreter != "given":
        found.append("Never called the function at all.")
    if truth.category == "numeric":
        found += _missed_of_numbers(case, truth, audit)
    parts = case.told.score("components_identified", "repaired")
    if parts is not None and parts.value is not None and parts.value < 1:
        named = round(parts.value * parts.n)
        found.append(f"Names {named} of the {parts.n} parts of the function." if named else "Names no part of it.")
    if case.spec and case.spec.category == "strings":
        wrong = next((one for one in case.predictions if one.repaired != one.truth), None)
        if wrong is not None:
            gave = f"fails ({wrong.error})" if wrong.repaired is None else f"gives {wrong.repaired!r}"
            found.append(f"For {wrong.input!r} the function gives {wrong.truth!r}; the code {gave}.")
    if truth.category == "entities":
        found += _missed_subjects(case)
    exception = truth.parameters.get("exception")
    undefined = [probe for probe in case.probes if probe.output == UNDEFINED]
    if truth.category == "relations" and case.probes and len(undefined) == len(case.probes):
        found.append("Every input that was tried gave undefined.")
    if exception and "undefined" not in case.interpretation.told_repaired.lower():
        seen = "although it saw" if undefined else "and never saw one of"
        found.append(f"Does not mention the exception (where {exception}), {seen} inputs that give undefined.")
    return found


def _knew_beforehand(case: Case) -> bool:
    """Whether the message with its first call held the description that it concluded with."""
    assert case.interpretation is not None
    first = case.probes[0].round if case.probes else 0
    call = case.told.calls.get(case.exchanges[first].call) if first in case.exchanges else None
    early = parse.interpretation(call.text, "repaired").description if call else ""
    return bool(early) and early == case.interpretation.description_repaired


def _missed_of_numbers(case: Case, truth: Truth, audit: Audit) -> list[str]:
    found: list[str] = []
    if truth.corrupted is not None:
        where = _interval(*truth.corrupted)
        if audit.in_corruption == 0 and case.probes:
            found.append(f"Never probed {where}, where the values are replaced.")
        elif not audit.claimed and case.probes:
            often = "once" if audit.in_corruption == 1 else f"{audit.in_corruption} times"
            found.append(f"Looked {where} {often} and still does not say that values differ there.")
        elif audit.claimed and (case.value("interval_iou") or 0) < 0.5:
            found.append(f"Claims {_interval(*audit.claimed[0])} for the corrupted part, which is {where}.")
    elif audit.claimed:
        found.append(f"Claims that something happens {_interval(*audit.claimed[0])}; nothing does.")
    if truth.noise and case.value("noise_identified") == 0:
        found.append(f"Does not name the noise: {truth.noise}.")
    if case.probes and case.value("nmse_success") != 1 and (unseen := _unseen(case)):
        found.append(f"Never looked {' nor '.join(f'between {low:g} and {high:g}' for low, high in unseen)}.")
    worst = _worst(case, truth)
    if worst is not None:
        found.append(f"Farthest off at x = {worst[0]:g}: the function gives {worst[1]:.4g}, the code {worst[2]:.4g}.")
    return found


def _unseen(case: Case) -> list[tuple[float, float]]:
    """Stretches of more than a quarter of the range without a probe in them."""
    inputs = [number for probe in case.probes if (number := as_number(probe.input)) is not None]
    return [(low, high) for low, high in gaps(inputs) if high - low > (PROBED[1] - PROBED[0]) / 4]


def _interval(low: float | None, high: float | None) -> str:
    if low is None:
        return f"below {high:g}" if high is not None else "everywhere"
    return f"above {low:g}" if high is None else f"between {low:g} and {high:g}"


def _worst(case: Case, truth: Truth) -> tuple[float, float, float] | None:
    """The test point with the largest error, unless the estimate succeeds."""
    if case.estimate is None or case.value("nmse_success") == 1:
        return None
    both = [
        (x, y, g)
        for x, y, g in zip(truth.x, truth.y, case.estimate.repaired, strict=False)
        if y is not None and g is not None and not _same(y, g)
    ]
    return max(both, key=lambda point: abs(point[1] - point[2])) if both else None


def _missed_subjects(case: Case) -> list[str]:
    """Whether any probe hit a subject at all."""
    if not case.probes:
        return []
    values = [probe.value for probe in case.probes if probe.value is not None]
    if not values:
        return ["No call gave a value."]
    return [] if max(values) >= 0.5 else ["No word that was tried gave a value above 0.5."]
