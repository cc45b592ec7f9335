"""Extract what a description claims: intervals where a function behaves differently, and outputs that it quotes.

Both are recognized by the words around numbers, because what people and models write has no fixed form. Missing a claim
does less harm than reading one that nobody made: the audit holds claims against the interpreter.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import islice

from ...events import Rules
from ...package_data import sibling_toml
from ...text.patterns import Patterns
from .functions.base import as_number

RE = Patterns(sibling_toml(__file__, "claims.toml"))
_INTERVALS = (RE.between, RE.bracketed, RE.within_x)
_FOR_X = (RE.clause_between, RE.for_x, RE.in_brackets, RE.within_x)


def without_denials(text: str, matter: re.Pattern[str], rules: Rules = "repaired") -> str:
    """Return `text` without what it denies about `matter`: from each "no" or "not" to the end of its clause, if the
    clause names the matter there. The updated rules treat "rather than" and the like as denials too.
    """
    denies = RE.denial if rules == "paper" else RE.instead
    if not denies.search(text):
        return text
    kept = []
    for clause in RE.clause_end.split(text):
        denial = denies.search(clause)
        kept.append(clause[: denial.start()] if denial and matter.search(clause, denial.start()) else clause)
    return "".join(kept)


def without_steady(text: str) -> str:
    """Return `text` without phrases in which "constant" is not about values: "a constant slope" is a line's."""
    return RE.steady.sub(" ", text)


def intervals_called_odd(text: str) -> tuple[tuple[float, float], ...]:
    """Return the intervals whose values a text calls replaced or random. "Constant above 3" and "different below 0" are
    left out, because they may well be pieces of the function.
    """
    return claimed_intervals(_spaced(text), odd=RE.strange)


def claimed_intervals(
    text: str, rules: Rules = "repaired", odd: re.Pattern[str] = RE.odd
) -> tuple[tuple[float, float], ...]:
    """Return the intervals that a text says behave differently; open ends are infinite. Under the paper rules the text
    is the domain alone.

    Only sentences that mention something odd count, so "defined between -100 and 100" claims nothing. Denied claims,
    the range that was examined, and an interval over the whole range do not count either.
    """
    claimed: list[tuple[float, float]] = []
    text = text if rules == "paper" else without_steady(text)
    for sentence in RE.sentence_end.split(text):
        said = without_denials(sentence, RE.odd_or_noise, rules)
        if not odd.search(said):
            continue
        clauses = list(_of_claims(said))
        intervals = [
            pair for span in clauses for pattern in _INTERVALS for pair in _matched(pattern, said, *span, rules=rules)
        ]
        if not intervals:
            intervals = [pair for span in clauses for pair in _half_open(said, *span)]
        claimed += [(min(pair), max(pair)) for pair in intervals]
    return tuple(dict.fromkeys(claimed))


_LONGEST = 8_000
"""How many characters of a text are searched for intervals; a longer text describes nothing."""


def _spaced(text: str) -> str:
    """Return a text as it is searched: without runs of spaces, and cut to the limit."""
    return RE.spaces.sub(" ", text[:_LONGEST])


def pieces(text: str) -> tuple[tuple[float, float], ...]:
    """Return the bounded stretches of x about which a text says something particular ("for x between 4.1 and 18.96 …").

    Denied stretches, ranges of outputs, the range that was examined, and the whole range are left out.
    """
    stretches: list[tuple[float, float]] = []
    for sentence in RE.sentence_end.split(_spaced(text)):
        said = without_denials(sentence, RE.stretch)
        for start, end in _of_claims(said):
            for match in (match for pattern in _FOR_X for match in pattern.finditer(said, start, end)):
                before = said[max(start, match.start() - _NEAR) : match.start()]
                if not RE.of_values.search(before):
                    stretches += _matched(match.re, said, match.start(), match.end())
    return tuple(dict.fromkeys(stretches))


def intervals_told(description: str, domain: str) -> tuple[tuple[float, float], ...]:
    """Return the intervals that an interpretation says behave differently, in any of its parts (updated rules): what it
    calls odd or, if it calls nothing odd, the bounded stretches of x that it describes separately.
    """
    text = _spaced(f"{description}\n{domain}")
    return claimed_intervals(text) or pieces(text)


def speaks_of(text: str, low: float | None, high: float | None) -> bool:
    """Whether a text says anything, other than a denial, about the stretch from `low` to `high` (None is an open end):
    it names an overlapping interval that is not the whole range, or all ends by their numbers. It accepts too much
    rather than too little, because someone may be told that they did not mention it.
    """
    first, last = float("-inf") if low is None else low, float("inf") if high is None else high
    ends = [end for end in (low, high) if end is not None]
    sentences = RE.sentence_end.split(_spaced(text))
    said = "\n".join(without_denials(sentence, RE.stretch) for sentence in sentences)
    named = [pair for pattern in _INTERVALS for pair in _matched(pattern, said, 0, len(said))]
    named += _half_open(said, 0, len(said))
    if any(max(begin, first) < min(end, last) for begin, end in named):
        return True
    numbers = [_number(m[0]) for m in islice(RE.number.finditer(said), _MOST_PAIRS)]
    return all(any(abs(number - end) <= 1 for number in numbers) for end in ends)


def _half_open(said: str, start: int, end: int) -> Iterator[tuple[float, float]]:
    """Yield the half-open intervals: what is above a number, and what is below one."""
    yield from ((_number(m[1]), float("inf")) for m in RE.above.finditer(said, start, end))
    yield from ((float("-inf"), _number(m[1])) for m in RE.below.finditer(said, start, end))


def _of_claims(said: str) -> Iterator[tuple[int, int]]:
    """Yield start and end of the clauses, without those that only say where someone looked and do not continue with
    "where …".
    """
    ends = [*((stop.start(), stop.end()) for stop in RE.clause_end.finditer(said)), (len(said), len(said))]
    start = 0
    for end, following in ends:
        clause = said[start:end]
        goes_on = re.match(r"\s*(?:where|there|in which)\b", said[following:], re.I)
        if goes_on or not RE.scope.search(clause) or RE.odd.search(clause):
            yield start, end
        start = following


def _matched(
    pattern: re.Pattern[str], said: str, start: int, end: int, rules: Rules = "repaired"
) -> Iterator[tuple[float, float]]:
    """Yield the intervals in a clause, without pairs of input and output and without those over the whole range. Under
    the updated rules the size of a noise ("noise between -1 and 1") is no interval either.
    """
    for match in islice(pattern.finditer(said, start, end), _MOST_PAIRS):
        low, high = sorted((_number(match[1]), _number(match[2])))
        observed = match[0].startswith("(") and _speaks_of(said, match.start(), match.end()) == "observations"
        # A corrupted part with two ends is at most 25 long, and none begins beyond ±100 (docs/measuring.md §4.1).
        whole = (low <= -100 and high >= 100) or (high - low >= 99 and RE.everywhere.search(said, start, end))
        of_size = rules == "repaired" and RE.of_size.search(said[max(start, match.start() - _NEAR) : match.start()])
        if not observed and not whole and not of_size:
            yield low, high


def _number(text: str) -> float:
    return float(text.replace("−", "-").replace("–", "-").replace(" ", ""))


_NEAR = 500
"""How many characters before and after a place are searched for what it is about."""

_MOST_PAIRS = 200
"""The most pairs of numbers or texts that are read in one text, or in one clause."""


def _around(text: str, start: int, end: int) -> tuple[str, str]:
    """Return what is before and after a place in its sentence; the line that introduces a list belongs to each of its
    items.
    """
    first = max(0, start - _NEAR)
    begin = max((stop.end() for stop in RE.clause_break.finditer(text, first, start)), default=first)
    head = RE.list_head.search(text[max(0, begin - _NEAR) : begin])
    return (head[1] if head else "") + text[begin:start], RE.clause_break.split(text[end : end + _NEAR], maxsplit=1)[0]


def _speaks_of(text: str, start: int, end: int) -> str | None:
    """Return whether the words around "(a, b)" make it an "interval" or one of "observations"; None if they do not show
    it.
    """
    before, after = _around(text, start, end)
    if RE.ends_in.search(before):
        return "interval"
    if RE.near_interval.match(after):
        return "interval"
    cues = list(RE.about.finditer(before))
    return cues[-1].lastgroup if cues else None


def _is_rule(text: str, match: re.Match[str]) -> bool:
    """Whether an arrow between quoted texts says how letters change, and not what a call gave."""
    sentence = " ".join(_around(text, match.start(), match.end()))
    if not match[0].startswith(("'", '"')) or RE.of_calls.search(sentence):
        return False
    short = len(match[1].strip("\"'")) <= 2
    return bool(RE.replacing.search(sentence) or (short and RE.of_letters.search(sentence)))


def quoted_pairs(text: str) -> tuple[tuple[str, str], ...]:
    """Return the (input, output) pairs that an interpreter quotes: "f(3) = 7", "f("cat") -> "tac"", "3 -> 7", "(3,
    7.0)".

    Intervals, and arrows that say which letters become which, are not such pairs.
    """
    pairs = [(m[1], m[2]) for m in islice(RE.call.finditer(text), _MOST_PAIRS)]
    claimed = claimed_intervals(text)
    for m in islice(RE.pair.finditer(text), _MOST_PAIRS):
        numbers = as_number(m[1]) is not None and as_number(m[2]) is not None
        if numbers and (
            _speaks_of(text, m.start(), m.end()) == "interval"
            or tuple(sorted((_number(m[1]), _number(m[2])))) in claimed
        ):
            continue
        pairs.append((m[1], m[2]))
    arrows = islice(RE.arrow.finditer(text), _MOST_PAIRS)
    pairs += [(m[1], m[2]) for m in arrows if not _is_rule(text, m)]
    return tuple(dict.fromkeys((a.strip("\"'"), b.strip("\"'")) for a, b in pairs))
