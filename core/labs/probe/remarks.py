"""What an interpretation leaves out or gets wrong, one sentence each, next to its condition."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from ...sandbox.unsupported import not_runnable
from .case_data import Findings
from .case_facts import CaseFacts, Interval, UntestedInput
from .functions.numeric import interval
from .functions.relations import UNDEFINED
from .verdict import judge_facts, solved

_QUOTES = 3
"""The most quotations of a kind that are named."""


def list_remarks(case: Findings) -> list[str]:
    """Return what the interpretation leaves out or gets wrong, one sentence each; empty if there is nothing."""
    if case.truth is None or case.audit is None or case.interpretation is None:
        return []
    facts = CaseFacts(case)
    return [sentence for remark in REMARKS for sentence in remark(facts)]


def headline(case: Findings) -> str:
    """Return the verdict in a sentence or two. If the description was there before a single output was, that comes
    first, because it tells more than any figure.
    """
    facts = CaseFacts(case)
    first = _knew_beforehand(facts) if case.truth is not None else ()
    return " ".join([*first, judge_facts(facts).sentence])


# What its words rest on


def is_known_beforehand(f: CaseFacts) -> bool:
    """Whether the message with its first call already had the description that it concluded with."""
    first = f.case.exchanges.get(f.case.probes[0].round) if f.case.probes else None
    return bool(first and first.description and first.description == f.described)


def _knew_beforehand(f: CaseFacts) -> Iterator[str]:
    if is_known_beforehand(f):
        yield "It had this description before it saw a single output, and never changed it."


def _invented(f: CaseFacts) -> Iterator[str]:
    if rounds := f.case.invented():
        numbers = ", ".join(map(str, rounds))
        yield f"Made up outputs before it had them, in round{'s' if len(rounds) > 1 else ''} {numbers}."


def _misquoted(f: CaseFacts) -> Iterator[str]:
    for text, output in f.case.audit.contradicted[:_QUOTES] if f.case.audit else ():
        yield f"Quotes f({text}) = {output}, which is not what it was shown."


def _quoted_untried(f: CaseFacts) -> Iterator[str]:
    for text, output in f.case.audit.unseen[:_QUOTES] if f.case.audit else ():
        yield f"Quotes f({text}) = {output}, which it never tried."


def _never_called(f: CaseFacts) -> Iterator[str]:
    if not f.case.probes and f.case.spec is not None and f.case.spec.interpreter != "given":
        yield "Never called the function at all."


# Numbers


def _looked(f: CaseFacts) -> int | None:
    """Return the number of calls in the corrupted interval; None if there is no such interval, or no calls are
    known.
    """
    if f.corrupted is None or not f.case.probes or f.case.audit is None:
        return None
    return f.case.audit.in_corruption or 0


def _never_probed(f: CaseFacts) -> Iterator[str]:
    if f.corrupted and _looked(f) == 0:
        yield f"Never probed {interval(*f.corrupted)}, where we altered the function."


def _did_not_say(f: CaseFacts) -> Iterator[str]:
    looked = _looked(f)
    if f.corrupted and looked and f.concluded and not f.is_you and not f.speaks_of_corrupted:
        often = "once" if looked == 1 else f"{looked} times"
        yield f"Looked {interval(*f.corrupted)} {often} and still does not say that values differ there."


def _elsewhere(f: CaseFacts) -> Iterator[str]:
    """Yield a sentence on a claimed interval that overlaps the real one by less than a half, if the interpreter looked
    there.
    """
    if f.corrupted and f.called_odd and _looked(f) != 0 and f.overlap < 0.5:
        yield f"Claims {_and_more(f.called_odd)} for the corrupted part, which is {interval(*f.corrupted)}."


def _nothing_there(f: CaseFacts) -> Iterator[str]:
    """Yield a sentence on what is called odd, if the function is known to have no such interval and no noise."""
    if f.called_odd and f.is_numeric and f.corrupted is None and not f.noise_kind and _has_known_atoms(f):
        yield f"Claims replaced or random values {_and_more(f.called_odd)}; there are none."


def _has_known_atoms(f: CaseFacts) -> bool:
    return f.case.truth is not None and "atoms" in f.case.truth.parameters


def _and_more(claimed: Sequence[Interval]) -> str:
    more = len(claimed) - 1
    return interval(*claimed[0]) + (f" and in {more} further interval{'s' if more > 1 else ''}" if more else "")


def _noise(f: CaseFacts) -> str:
    """Return the noise that a description should name; an empty string if there is none."""
    return f.case.truth.noise if f.case.truth and f.described and f.noise_kind else ""


def _no_word_of_noise(f: CaseFacts) -> Iterator[str]:
    if (noise := _noise(f)) and not f.noise_told.any and not f.is_you:
        yield f"Does not name the noise: {noise}."


def _some_noise(f: CaseFacts) -> Iterator[str]:
    if (noise := _noise(f)) and f.noise_told.any and not f.noise_told.kinds and not f.is_you:
        yield f"Says that there is noise, but not which kind: {noise}."


def _other_noise(f: CaseFacts) -> Iterator[str]:
    """Yield a sentence on the named kinds of noise if at least one of them is wrong."""
    if (noise := _noise(f)) and not set(f.noise_told.kinds) <= {f.noise_kind}:
        yield f"Names {' and '.join(f.noise_told.kinds)} noise; it is {noise}."


def _noise_of_none(f: CaseFacts) -> Iterator[str]:
    """Yield a sentence on the named kinds if there is no noise; the random values of a corrupted interval are
    normal.
    """
    kinds = [kind for kind in f.noise_told.kinds if f.corrupted is None or kind != "normal"]
    if kinds and not f.noise_kind and _has_known_atoms(f):
        yield f"Names {' and '.join(kinds)} noise; the function has none."


def _never_looked(f: CaseFacts) -> Iterator[str]:
    if f.is_numeric and f.case.probes and f.unseen and not f.is_right_elsewhere and not solved(f):
        stretches = " nor ".join(interval(low, high) for low, high in f.unseen)
        yield f"Never looked {stretches}."


def _farthest(f: CaseFacts) -> Iterator[str]:
    """Yield a sentence on the test point where the code is farthest off, unless that is said already."""
    if f.worst is not None and not f.is_right_elsewhere and not solved(f):
        x, y, given = f.worst
        true, code = told_apart(y, given)
        yield f"Farthest off at x = {x:g}: the function gives {true}, the code {code}."


def _contradicts(f: CaseFacts) -> Iterator[str]:
    """Yield a sentence on the first input that the interpreter probed itself and for which its code gives something
    else.
    """
    if f.contradicted:
        yield f"Saw {_gives(f.contradicted[0], 'f({})')}."


def _wrong_elsewhere(f: CaseFacts) -> Iterator[str]:
    """Yield a sentence on the first point that nobody probed at which the code is wrong, but only if the code does not
    hold there.
    """
    if f.wrong_where_nobody_looked and not f.holds_where_nobody_looked:
        yield f"At {_gives(f.wrong_where_nobody_looked[0], 'x = {}')}: nobody had looked there."


def _gives(one: UntestedInput, about: str) -> str:
    given, truth = one.given, one.truth
    if isinstance(given, str) or isinstance(truth, str):
        said = "nothing" if given is None else repr(given)
        return f"{about.format(repr(one.input))} = {truth!r}, and the code gives {said}"
    true, said = (f"{truth:.4g}", "no number") if given is None else told_apart(truth, given)
    sign = "=" if one.probed else "the function gives"
    return f"{about.format(one.input)} {sign} {true}, and the code gives {said}"


def told_apart(first: float, second: float) -> tuple[str, str]:
    """Return two numbers with enough digits to see that they differ, at least four; four if they do not differ."""
    digits = next((n for n in range(4, 18) if f"{first:.{n}g}" != f"{second:.{n}g}"), 4)
    return f"{first:.{digits}g}", f"{second:.{digits}g}"


# Texts, words and facts


def _wrong_text(f: CaseFacts) -> Iterator[str]:
    """Yield a sentence on the first text on which the code is wrong."""
    for text in f.case.predictions.values() if f.concluded else ():
        if text.repaired != text.truth and not text.misrecorded and not not_runnable(text.failure("repaired")):
            gave = f"fails ({text.error})" if text.repaired is None else f"gives {text.repaired!r}"
            yield f"For {text.input!r} the function gives {text.truth!r}; the code {gave}."
            return


def _no_subject(f: CaseFacts) -> Iterator[str]:
    values = [probe.value for probe in f.case.probes if probe.value is not None]
    if not f.case.probes:
        return
    if f.category == "relations" and all(probe.problem for probe in f.case.probes):
        yield "No call gave a value."
    if f.category == "entities" and max(values, default=0) < 0.5:
        yield "No word that was tried gave a value above 0.5." if values else "No call gave a value."


def _undefined(f: CaseFacts) -> int:
    return sum(probe.output == UNDEFINED for probe in f.case.probes)


def _all_undefined(f: CaseFacts) -> Iterator[str]:
    if f.category == "relations" and 0 < len(f.case.probes) == _undefined(f):
        yield "Every input that was tried gave undefined."


def _exception(f: CaseFacts) -> Iterator[str]:
    exception = f.case.truth.parameters.get("exception") if f.case.truth else None
    description = f.case.interpretation.told.repaired if f.case.interpretation else ""
    if exception and f.concluded and not f.is_you and UNDEFINED not in description.lower():
        seen = "although it saw" if _undefined(f) else "and never saw one of"
        yield f"Does not mention the exception (where {exception}), {seen} inputs that give undefined."


REMARKS: tuple[Callable[[CaseFacts], Iterator[str]], ...] = (
    *(_knew_beforehand, _invented, _misquoted, _quoted_untried, _never_called),
    *(_never_probed, _did_not_say, _elsewhere, _nothing_there),
    *(_no_word_of_noise, _some_noise, _other_noise, _noise_of_none),
    *(_never_looked, _farthest, _contradicts, _wrong_elsewhere),
    *(_wrong_text, _no_subject, _all_undefined, _exception),
)
"""In the order in which they are shown."""
