"""What an interpretation leaves out or gets wrong, a sentence each, beside what it is said of."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from core.labs.find.facts import Facts, Interval
from core.labs.find.findings import Findings
from core.labs.find.functions.relations import UNDEFINED
from core.labs.find.verdict import interval, judged, solved
from core.sandbox.lacking import not_runnable

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


def headline(case: Findings) -> str:
    """What came out, in a sentence or two; before it what tells more than any figure: that the description was there
    before a single output was.
    """
    facts = Facts(case)
    first = [TELLING.words(facts, one) for one in TELLING.of(facts)] if case.truth is not None else []
    return " ".join([*first, judged(facts).sentence])


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


def _corrupted(f: Facts) -> str:
    return interval(*f.corrupted) if f.corrupted else ""


def _never_probed(f: Facts) -> list[bool]:
    return _said_of(_looked(f) == 0)


def _did_not_say(f: Facts) -> list[str]:
    often = _looked(f)
    if not often or not f.concluded or f.is_you or f.speaks_of_corrupted:
        return []
    return ["once" if often == 1 else f"{often} times"]


def _elsewhere(f: Facts) -> list[str]:
    """The claimed interval, where it overlaps the real one by less than a half and someone looked."""
    if f.corrupted is None or not f.called_odd or _looked(f) == 0 or f.overlap >= 0.5:
        return []
    return [_and_more(f.called_odd)]


def _nothing_there(f: Facts) -> list[str]:
    """What is called odd, where the function is known to have no such interval and no noise either."""
    known = f.is_numeric and f.corrupted is None and not f.noise_kind and "atoms" in _parameters(f)
    return [_and_more(f.called_odd)] if known and f.called_odd else []


def _parameters(f: Facts) -> dict[str, Any]:
    return f.case.truth.parameters if f.case.truth else {}


def _and_more(claimed: Sequence[Interval]) -> str:
    more = len(claimed) - 1
    return interval(*claimed[0]) + (f" and in {more} further interval{'s' if more > 1 else ''}" if more else "")


def _has_noise(f: Facts) -> str:
    return f.case.truth.noise if f.case.truth and f.described and f.noise_kind else ""


def _noise(f: Facts) -> list[str]:
    noise = _has_noise(f)
    return [noise] if noise and not f.noise_told.any and not f.is_you else []


def _some_noise(f: Facts) -> list[str]:
    noise = _has_noise(f)
    return [noise] if noise and f.noise_told.any and not f.noise_told.kinds and not f.is_you else []


def _other_noise(f: Facts) -> list[tuple[str, str]]:
    """The kinds named, where one of them at least is not there, and the kind that is."""
    if not (noise := _has_noise(f)) or set(f.noise_told.kinds) <= {f.noise_kind}:
        return []
    return [(" and ".join(f.noise_told.kinds), noise)]


def _no_noise(f: Facts) -> list[str]:
    """The kinds named of a function without any; what replaces the values of a corrupted interval is normal."""
    kinds = [kind for kind in f.noise_told.kinds if f.corrupted is None or kind != "normal"]
    return [" and ".join(kinds)] if kinds and not f.noise_kind and "atoms" in _parameters(f) else []


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
        if one.repaired != one.truth and not one.misrecorded and not not_runnable(one.failure("repaired")):
            gave = f"fails ({one.error})" if one.repaired is None else f"gives {one.repaired!r}"
            return [(one.input, one.truth, gave)]
    return []


def _no_subject(f: Facts) -> list[str]:
    """What is to be said where no probe hit a subject."""
    values = [probe.value for probe in f.case.probes if probe.value is not None]
    if f.category == "relations" and f.case.probes and all(probe.problem for probe in f.case.probes):
        return ["No call gave a value."]
    if f.category != "entities" or not f.case.probes or max(values, default=0) >= 0.5:
        return []
    return ["No word that was tried gave a value above 0.5." if values else "No call gave a value."]


def _undefined(f: Facts) -> int:
    return sum(probe.output == UNDEFINED for probe in f.case.probes)


def _all_undefined(f: Facts) -> list[bool]:
    return _said_of(f.category == "relations" and 0 < len(f.case.probes) == _undefined(f))


def _exception(f: Facts) -> list[tuple[str, str]]:
    exception = f.case.truth.parameters.get("exception") if f.case.truth else None
    description = f.case.interpretation.told.repaired if f.case.interpretation else ""
    if not exception or not f.concluded or f.is_you or UNDEFINED in description.lower():
        return []
    return [(str(exception), "although it saw" if _undefined(f) else "and never saw one of")]


TELLING = Remark(
    _knew_beforehand, lambda f, _: "Had this description before it saw a single output, and never changed it."
)
"""Stands before the verdict."""

REMARKS = (
    TELLING,
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
    Remark(_nothing_there, lambda f, claimed: f"Claims replaced or random values {claimed}; there are none."),
    Remark(_noise, lambda f, noise: f"Does not name the noise: {noise}."),
    Remark(_some_noise, lambda f, noise: f"Says that there is noise, and not of which kind: {noise}."),
    Remark(_other_noise, lambda f, both: f"Names {both[0]} noise; it is {both[1]}."),
    Remark(_no_noise, lambda f, kinds: f"Names {kinds} noise; the function has none."),
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
