"""What an interpretation leaves out or gets wrong, a sentence each, beside what it is said of."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from core.labs.find.facts import Facts
from core.labs.find.findings import Findings
from core.labs.find.functions.relations import UNDEFINED
from core.labs.find.sandbox_lacking import not_runnable
from core.labs.find.verdict import interval, solved

_QUOTES = 3
"""So many quotations of a kind are named."""


class Remark(NamedTuple):
    """A sentence for each thing that `of` finds in the facts; for none it is not said."""

    of: Callable[[Facts], Sequence[Any]]
    words: Callable[[Facts, Any], str]


def missed(case: Findings) -> list[str]:
    """What the interpretation leaves out or gets wrong, one sentence each; empty where there is nothing."""
    if case.truth is None or case.audit is None or case.interpretation is None:
        return []
    facts = Facts(case)
    return [remark.words(facts, one) for remark in REMARKS for one in remark.of(facts)]


def _said_of(holds: bool) -> list[bool]:
    """Something to say once, where it `holds`."""
    return [True] if holds else []


# What its words rest on


def _knew_beforehand(f: Facts) -> list[bool]:
    """Whether the message with its first call held the description that it concluded with."""
    first = f.case.exchanges.get(f.case.probes[0].round) if f.case.probes else None
    early = first.description if first else ""
    return _said_of(bool(early) and f.case.interpretation is not None and early == f.described)


def _invented(f: Facts) -> list[str]:
    rounds = f.case.invented()
    return [f"{'s' if len(rounds) > 1 else ''} {', '.join(map(str, rounds))}"] if rounds else []


def _never_called(f: Facts) -> list[bool]:
    return _said_of(not f.case.probes and f.case.spec is not None and f.case.spec.interpreter != "given")


# Numbers


def _looked(f: Facts) -> int | None:
    """Calls in the corrupted interval; None where there is none, and where no calls are known."""
    if f.corrupted is None or not f.case.probes or f.case.audit is None:
        return None
    return f.case.audit.in_corruption or 0


def _claimed(f: Facts) -> tuple[tuple[float | None, float | None], ...]:
    return f.case.audit.claimed if f.case.audit and f.is_numeric else ()


def _corrupted(f: Facts) -> str:
    return interval(*f.corrupted) if f.corrupted else ""


def _never_probed(f: Facts) -> list[bool]:
    return _said_of(_looked(f) == 0)


def _did_not_say(f: Facts) -> list[str]:
    often = _looked(f)
    if not often or _claimed(f) or not f.concluded:
        return []
    return ["once" if often == 1 else f"{often} times"]


def _elsewhere(f: Facts) -> list[str]:
    """The claimed interval, where it overlaps the real one by less than a half and someone looked."""
    if f.corrupted is None or not _claimed(f) or _looked(f) == 0 or (f.case.value("interval_iou") or 0) >= 0.5:
        return []
    return [interval(*_claimed(f)[0])]


def _nothing_there(f: Facts) -> list[str]:
    return [interval(*_claimed(f)[0])] if f.corrupted is None and _claimed(f) else []


def _noise(f: Facts) -> list[str]:
    noise = f.case.truth.noise if f.case.truth else ""
    return [noise] if noise and f.described and f.case.value("noise_identified") == 0 else []


def _never_looked(f: Facts) -> list[str]:
    if not f.is_numeric or not f.case.probes or not f.unseen or f.is_right_elsewhere or solved(f):
        return []
    return [" nor ".join(f"between {low:g} and {high:g}" for low, high in f.unseen)]


def _farthest(f: Facts) -> list[tuple[float, str, str]]:
    """The test point where the code is farthest off, with both values, where that is not said already."""
    if f.worst is None or f.is_right_elsewhere or solved(f):
        return []
    x, y, g = f.worst
    return [(x, *_told_apart(y, g))]


def _told_apart(y: float, g: float) -> tuple[str, str]:
    """Both numbers, in as many digits as it takes to see that they differ; four at least."""
    for digits in range(4, 18):
        if f"{y:.{digits}g}" != f"{g:.{digits}g}":
            break
    return f"{y:.{digits}g}", f"{g:.{digits}g}"


# Texts, words and facts


def _wrong_text(f: Facts) -> list[tuple[str, str, str]]:
    """The first text on which the code is wrong: the text, what the function gives, what the code does."""
    for one in f.case.predictions.values() if f.concluded else ():
        if one.repaired != one.truth and not not_runnable(one.failure("repaired")):
            gave = f"fails ({one.error})" if one.repaired is None else f"gives {one.repaired!r}"
            return [(one.input, one.truth, gave)]
    return []


def _no_subject(f: Facts) -> list[str]:
    """What is to be said where no probe hit a subject."""
    values = [probe.value for probe in f.case.probes if probe.value is not None]
    if f.category != "entities" or not f.case.probes or max(values, default=0) >= 0.5:
        return []
    return ["No word that was tried gave a value above 0.5." if values else "No call gave a value."]


def _undefined(f: Facts) -> int:
    return sum(probe.output == UNDEFINED for probe in f.case.probes)


def _all_undefined(f: Facts) -> list[bool]:
    return _said_of(f.category == "relations" and 0 < len(f.case.probes) == _undefined(f))


def _exception(f: Facts) -> list[tuple[str, str]]:
    exception = f.case.truth.parameters.get("exception") if f.case.truth else None
    description = f.case.interpretation.told_repaired if f.case.interpretation else ""
    if not exception or not f.concluded or UNDEFINED in description.lower():
        return []
    return [(str(exception), "although it saw" if _undefined(f) else "and never saw one of")]


REMARKS = (
    Remark(
        _knew_beforehand,
        lambda f, _: "Had this description before it saw a single output, and never changed it.",
    ),
    Remark(_invented, lambda f, rounds: f"Made up outputs before it had them, in round{rounds}."),
    Remark(
        lambda f: f.contradicted[:_QUOTES],
        lambda f, pair: f"Quotes f({pair[0]}) = {pair[1]}, which is not what it was shown.",
    ),
    Remark(
        lambda f: f.never_asked[:_QUOTES], lambda f, pair: f"Quotes f({pair[0]}) = {pair[1]}, which it never tried."
    ),
    Remark(_never_called, lambda f, _: "Never called the function at all."),
    Remark(_never_probed, lambda f, _: f"Never probed {_corrupted(f)}, where the values are replaced."),
    Remark(
        _did_not_say,
        lambda f, often: f"Looked {_corrupted(f)} {often} and still does not say that values differ there.",
    ),
    Remark(
        _elsewhere,
        lambda f, claimed: f"Claims {claimed} for the corrupted part, which is {_corrupted(f)}.",
    ),
    Remark(_nothing_there, lambda f, claimed: f"Claims that something happens {claimed}; nothing does."),
    Remark(_noise, lambda f, noise: f"Does not name the noise: {noise}."),
    Remark(_never_looked, lambda f, where: f"Never looked {where}."),
    Remark(
        _farthest,
        lambda f, point: f"Farthest off at x = {point[0]:g}: the function gives {point[1]}, the code {point[2]}.",
    ),
    Remark(_wrong_text, lambda f, one: f"For {one[0]!r} the function gives {one[1]!r}; the code {one[2]}."),
    Remark(_no_subject, lambda f, sentence: sentence),
    Remark(_all_undefined, lambda f, _: "Every input that was tried gave undefined."),
    Remark(
        _exception,
        lambda f, seen: f"Does not mention the exception (where {seen[0]}), {seen[1]} inputs that give undefined.",
    ),
)
