"""What is said of the words: which parts of the function they name, what they leave out or get wrong, and what the
function did then. Each sentence is next to its condition.
"""

from collections.abc import Callable, Iterator, Sequence

from ...sandbox.unsupported import not_runnable
from ...text.display import count_noun, first_sentence
from .case_facts import Interval, UntestedInput
from .functions.numeric import interval
from .functions.relations import UNDEFINED
from .verdict import CaseVerdict

KNOWN_BEFOREHAND = "It had this description before it saw a single output, and never changed it."

_QUOTES = 3
"""The most quotations of a kind that are named."""

_RUNS = 2
"""The most places that are named at which code and function differ."""

_LONGEST = 80
"""The longest text, in characters, that is quoted in full."""


def list_remarks(f: CaseVerdict) -> list[str]:
    """Return what the interpretation leaves out or gets wrong, one sentence each; empty if there is nothing."""
    if f.truth is None or f.audit is None or f.interpretation is None:
        return []
    return [sentence for remark in REMARKS for sentence in remark(f)]


# What its words rest on


def is_known_beforehand(f: CaseVerdict) -> bool:
    """Whether the message with its first call already had the description that it concluded with."""
    first = f.exchanges.get(f.probes[0].round) if f.probes else None
    return bool(first and first.description and first.description == f.described)


def _knew_beforehand(f: CaseVerdict) -> Iterator[str]:
    if is_known_beforehand(f):
        yield KNOWN_BEFOREHAND


def _invented(f: CaseVerdict) -> Iterator[str]:
    if rounds := f.invented():
        numbers = ", ".join(map(str, rounds))
        yield f"Made up outputs before it had them, in round{'s' if len(rounds) > 1 else ''} {numbers}."


def _misquoted(f: CaseVerdict) -> Iterator[str]:
    for text, output in f.audit.contradicted[:_QUOTES] if f.audit else ():
        yield f"Quotes f({text}) = {output}, which is not what it was shown."


def _quoted_untried(f: CaseVerdict) -> Iterator[str]:
    for text, output in f.audit.unseen[:_QUOTES] if f.audit else ():
        yield f"Quotes f({text}) = {output}, which it never tried."


def _never_called(f: CaseVerdict) -> Iterator[str]:
    if not f.probes and f.spec is not None and f.spec.interpreter != "given":
        yield "Never called the function at all."


# Numbers


def _looked(f: CaseVerdict) -> int | None:
    """Return the number of calls in the corrupted interval; None if there is no such interval, or no calls are
    known.
    """
    if f.corrupted is None or not f.probes or f.audit is None:
        return None
    return f.audit.in_corruption or 0


def _never_probed(f: CaseVerdict) -> Iterator[str]:
    if f.corrupted and _looked(f) == 0:
        yield f"Never probed {interval(*f.corrupted)}, where we altered the function."


def _did_not_say(f: CaseVerdict) -> Iterator[str]:
    looked = _looked(f)
    if f.corrupted and looked and f.concluded and not f.is_you and not f.speaks_of_corrupted:
        often = "once" if looked == 1 else f"{looked} times"
        yield f"Looked {interval(*f.corrupted)} {often} and still does not say that values differ there."


def _elsewhere(f: CaseVerdict) -> Iterator[str]:
    """Yield a sentence on a claimed interval that overlaps the real one by less than a half, if the interpreter looked
    there.
    """
    if f.corrupted and f.called_odd and _looked(f) != 0 and f.overlap < 0.5:
        yield f"Claims {_and_more(f.called_odd)} for the corrupted part, which is {interval(*f.corrupted)}."


def _nothing_there(f: CaseVerdict) -> Iterator[str]:
    """Yield a sentence on what is called odd, if the function is known to have no such interval and no noise."""
    if f.called_odd and f.is_numeric and f.corrupted is None and not f.noise_kind and _has_known_atoms(f):
        yield f"Claims replaced or random values {_and_more(f.called_odd)}; there are none."


def _has_known_atoms(f: CaseVerdict) -> bool:
    return f.truth is not None and "atoms" in f.truth.parameters


def _and_more(claimed: Sequence[Interval]) -> str:
    more = len(claimed) - 1
    return interval(*claimed[0]) + (f" and in {more} further interval{'s' if more > 1 else ''}" if more else "")


def _noise(f: CaseVerdict) -> str:
    """Return the noise that a description should name; an empty string if there is none."""
    return f.truth.noise if f.truth and f.described and f.noise_kind else ""


def _no_word_of_noise(f: CaseVerdict) -> Iterator[str]:
    if (noise := _noise(f)) and not f.noise_told.any and not f.is_you:
        yield f"Does not name the noise: {noise}."


def _some_noise(f: CaseVerdict) -> Iterator[str]:
    if (noise := _noise(f)) and f.noise_told.any and not f.noise_told.kinds and not f.is_you:
        yield f"Says that there is noise, but not which kind: {noise}."


def _other_noise(f: CaseVerdict) -> Iterator[str]:
    """Yield a sentence on the named kinds of noise if at least one of them is wrong."""
    if (noise := _noise(f)) and not set(f.noise_told.kinds) <= {f.noise_kind}:
        yield f"Names {' and '.join(f.noise_told.kinds)} noise; it is {noise}."


def _noise_of_none(f: CaseVerdict) -> Iterator[str]:
    """Yield a sentence on the named kinds if there is no noise; the random values of a corrupted interval are
    normal.
    """
    kinds = [kind for kind in f.noise_told.kinds if f.corrupted is None or kind != "normal"]
    if kinds and not f.noise_kind and _has_known_atoms(f):
        yield f"Names {' and '.join(kinds)} noise; the function has none."


def _never_looked(f: CaseVerdict) -> Iterator[str]:
    if f.is_numeric and f.probes and f.unseen and not f.is_right_elsewhere and not f.is_solved:
        stretches = " nor ".join(interval(low, high) for low, high in f.unseen)
        yield f"Never looked {stretches}."


def _farthest(f: CaseVerdict) -> Iterator[str]:
    """Yield a sentence on the test point where the code is farthest off, unless that is said already."""
    if f.worst is not None and not f.is_right_elsewhere and not f.is_solved:
        x, y, given, _ = f.worst
        true, code = told_apart(y, given or 0.0)
        yield f"Farthest off at x = {x:g}: the function gives {true}, the code {code}."


def _contradicts(f: CaseVerdict) -> Iterator[str]:
    """Yield a sentence on the first input that the interpreter probed itself and for which its code gives something
    else.
    """
    if f.contradicted:
        yield f"Saw {_gives(f.contradicted[0], 'f({})')}."


def _wrong_elsewhere(f: CaseVerdict) -> Iterator[str]:
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


def _wrong_text(f: CaseVerdict) -> Iterator[str]:
    """Yield a sentence on the first text on which the code is wrong."""
    for text in f.predictions.values() if f.concluded else ():
        if text.repaired != text.truth and not text.misrecorded and not not_runnable(text.failure("repaired")):
            gave = f"fails ({text.error})" if text.repaired is None else f"gives {text.repaired!r}"
            yield f"For {text.input!r} the function gives {text.truth!r}; the code {gave}."
            return


def _no_subject(f: CaseVerdict) -> Iterator[str]:
    values = [probe.value for probe in f.probes if probe.value is not None]
    if not f.probes:
        return
    if f.category == "relations" and all(probe.problem for probe in f.probes):
        yield "No call gave a value."
    if f.category == "entities" and max(values, default=0) < 0.5:
        yield "No word that was tried gave a value above 0.5." if values else "No call gave a value."


def _undefined(f: CaseVerdict) -> int:
    return sum(probe.output == UNDEFINED for probe in f.probes)


def _all_undefined(f: CaseVerdict) -> Iterator[str]:
    if f.category == "relations" and 0 < len(f.probes) == _undefined(f):
        yield "Every input that was tried gave undefined."


def _exception(f: CaseVerdict) -> Iterator[str]:
    exception = f.truth.parameters.get("exception") if f.truth else None
    description = f.interpretation.told.repaired if f.interpretation else ""
    if exception and f.concluded and not f.is_you and UNDEFINED not in description.lower():
        seen = "although it saw" if _undefined(f) else "and never saw one of"
        yield f"Does not mention the exception (where {exception}), {seen} inputs that give undefined."


REMARKS: tuple[Callable[[CaseVerdict], Iterator[str]], ...] = (
    *(_knew_beforehand, _invented, _misquoted, _quoted_untried, _never_called),
    *(_never_probed, _did_not_say, _elsewhere, _nothing_there),
    *(_no_word_of_noise, _some_noise, _other_noise, _noise_of_none),
    *(_never_looked, _farthest, _contradicts, _wrong_elsewhere),
    *(_wrong_text, _no_subject, _all_undefined, _exception),
)
"""In the order in which they are shown."""


# Which parts of a function of numbers or texts they name


def of_words(f: CaseVerdict) -> str:
    """Return the verdict on the description, by the parts it names; an empty string if the first sentence is about the
    description, or there is nothing yet.
    """
    if f.truth is None or not f.concluded or f.category not in ("numeric", "strings"):
        return ""
    words, named, of = f"{f.whose} description", f.parts.named, f.parts.of
    if not f.described:
        return f"{words}: none, only code."
    if of == 0:
        return f"{words}: our checks cannot judge it. Compare it with the function."
    present, left_out = _listed(f.parts.present), f"Left out{_listed(f.parts.absent)}."
    wrong = f" Named but not there{_listed(f.parts.wrong)}." if f.parts.wrong else ""
    if named == of:
        return (
            f"{words} names {'all ' if of > 1 else ''}{of} part{'s' if of > 1 else ''} of the function{present}.{wrong}"
        )
    if f.is_you:
        ours = f"our checks find {named} of the {of} parts of the function in it{present}."
        return f"{words}: {ours} They may have missed some: compare it with the function.{wrong}"
    if named == 0:
        return f"{words} names no part of the function. {left_out}{wrong}"
    return f"{words} names {named} of the {of} parts of the function{present}. {left_out}{wrong}"


def _listed(parts: tuple[str, ...]) -> str:
    return f": {'; '.join(parts)}" if parts else ""


# The verdict in words: what the interpreter said, and what the function did then


def in_its_words(f: CaseVerdict) -> str:
    """Return what the interpreter said, and what the function did then; an empty string if no short and true sentence
    says it.
    """
    if not f.described or f.outcome in ("failed", "waiting", "within the noise") or f.truth is None:
        return ""
    happened = {"numeric": _points, "strings": _texts}.get(f.category, _examples)(f)
    early = f"{f.who} said so before it saw a single output." if is_known_beforehand(f) else ""
    if not (happened or early):
        return ""
    said = first_sentence(f.described)
    ended = said if said.endswith((".", "!", "?", "…")) else f"{said}."
    return " ".join(filter(None, (f"{f.who} said: {ended}", early, happened)))


def _points(f: CaseVerdict) -> str:
    """Return in which stretches of test points code and function differ; an empty string if noise hides that."""
    if f.floor or not f.gives_numbers or f.not_run[0]:
        return ""
    agreed, of, _ = f.agreement
    if agreed == of:
        return f"{f.whose} code gives the function's value at all {of} test points." if f.outcome == "found" else ""
    if not agreed:
        return f"The function gives something else at each of {count_noun(of, 'test point')}."
    places = " and ".join(f"at {low:g}" if low == high else f"from {low:g} to {high:g}" for low, high in f.apart)
    if len(f.apart) > _RUNS:
        places = f"at {of - agreed} of {of} test points"
    return f"{places[0].upper()}{places[1:]} {f.whose.lower()} code differs from the function."


def _texts(f: CaseVerdict) -> str:
    if f.not_run[0] or not f.is_scored:
        return ""
    wrong = next((one for one in f.tests if one.repaired is not None and one.repaired != one.truth), None)
    if wrong is None:
        same = f"{f.whose} code gives what the function gives, on all {count_noun(f.headline_n, 'test text')}."
        return same if f.outcome == "found" and f.hits == f.headline_n else ""
    given, code, true = (shortened(text) for text in (wrong.input, wrong.repaired or "", wrong.truth))
    return f"For “{given}” {f.whose.lower()} code gives “{code}”; the function gives “{true}”."


def shortened(text: str) -> str:
    """Shorten a text for quoting in a sentence."""
    return text if len(text) <= _LONGEST else f"{text[: _LONGEST - 1]}…"


def _examples(f: CaseVerdict) -> str:
    if not f.is_scored or not f.headline_n:
        return ""
    given = f"Given {f.whose.lower()} description"
    right = f"the function's own example in {f.hits} of {count_noun(f.headline_n, 'test')}"
    return f"{given}, the evaluator picked {right}; guessing gets one in three."
