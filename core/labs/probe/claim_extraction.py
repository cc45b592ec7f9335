"""Extract what a description claims: intervals where a function behaves differently, outputs that it quotes, kinds of
noise, and parts of the function.

The first two are recognized by the words around numbers, because what people and models write has no fixed form.
Missing a claim does less harm than reading one that nobody made: the audit holds claims against the interpreter.
"""

import itertools
import re
from collections.abc import Iterator, Sequence
from functools import lru_cache
from itertools import islice
from typing import NamedTuple

import numpy as np

from ...events import Frozen, Rules
from ...package_data import sibling_toml, table
from ...text.patterns import Patterns
from .functions.base import as_number
from .functions.numeric import PROBED, Corruption, NoiseKind, NumericFunction, with_infinite
from .functions.strings import STRING_ATOMS, StringFunction

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
    first, last = with_infinite(low, high)
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


# What the words of an interpretation name: kinds of noise, and parts of the function (docs/measuring.md §4.10).
#
# Both are recognized by keywords. The paper rules count every keyword; the updated rules ignore denials, and count
# parts that are named but not in the function against the description, so listing everything gains nothing.


class _Part(Frozen):
    """The words by which a part of a numeric function is recognized (data/find/part_words.toml)."""

    called: str
    words: str
    repaired: str = ""
    akin: tuple[str, ...] = ()


_TABLES = table("find/part_words")
_NOISE_WORDS: dict[NoiseKind, str] = _TABLES["noise"]
_PARTS = {
    name: _Part.model_validate({"called": name.replace("_", " "), **entry}) for name, entry in _TABLES["part"].items()
}
_ANY_NOISE = re.compile("noise|random|error|normal|gaussian|uniform|poisson", re.I)


def claimed_noise(description: str) -> NoiseKind | None:
    """Return the first kind of noise that a description names without denying it; None if it names no kind (paper
    rules).
    """
    said = without_denials(description, _ANY_NOISE, "paper")
    places = {kind: re.search(words, said, re.I) for kind, words in _NOISE_WORDS.items()}
    ends = {kind: match.end() for kind, match in places.items() if match is not None}
    return min((place, kind) for kind, place in ends.items())[1] if ends else None


_SOME_NOISE = re.compile(r"\bnois(?:e(?![ -]?(?:free|less))|y)\b", re.I)


class NoiseTold(NamedTuple):
    """What a text says about noise without denying it: whether there is any, and the kinds that it names."""

    any: bool
    kinds: tuple[NoiseKind, ...]


def noise_told(text: str) -> NoiseTold:
    """Return what a text says about noise (updated rules). All kinds are read, because a text that names every kind
    identifies none.
    """
    said = without_denials(text, _ANY_NOISE)
    kinds = tuple(kind for kind, words in _NOISE_WORDS.items() if re.search(words, said, re.I))
    return NoiseTold(bool(kinds or _SOME_NOISE.search(said)), kinds)


def noise_identified(function: NumericFunction, description: str, rules: Rules = "repaired") -> bool | None:
    """Whether the noise's kind is named; under the updated rules, no other kind may be named. None for a function
    without noise whose description claims none.
    """
    if rules == "paper":
        claimed = claimed_noise(description)
        kinds: tuple[NoiseKind, ...] = (claimed,) if claimed else ()
    else:
        kinds = noise_told(description).kinds
    if function.noise is None:
        # The random values that replace a corrupted stretch are normal.
        expected = rules == "repaired" and function.corruption is not None and kinds == ("normal",)
        return None if not kinds or expected else False
    return kinds == (function.noise.kind,)


class Components(NamedTuple):
    """The parts of a function that a description names, those that it leaves out, and those that it names but the
    function does not have, in words; `kinds` is how many parts could be named.
    """

    present: tuple[str, ...]
    absent: tuple[str, ...]
    wrong: tuple[str, ...] = ()
    kinds: int = 0

    @property
    def score(self) -> float:
        """The correctly named parts as a share of the function's parts and the wrongly named ones, rescaled so that
        naming all `kinds` gives 0. Never below 0; 1 if all are named and nothing else.
        """
        named, of, wrong = len(self.present), len(self.present) + len(self.absent), len(self.wrong)
        if not wrong:
            return named / of
        return max(0.0, (named / (of + wrong) - of / self.kinds) / (1 - of / self.kinds))


def components_identified(
    function: NumericFunction | StringFunction, description: str, rules: Rules = "repaired"
) -> Components:
    """Return which of the function's atoms the description names, by keywords for each.

    A string atom counts if at least half of the content words of its own description occur. Under the updated rules a
    denied atom ("it is no logarithm") is not named, and atoms that the function does not have are looked for too.
    """
    if isinstance(function, StringFunction):
        return _of_strings(function, description, rules)
    text = description if rules == "paper" else without_steady(_SPACES.sub(" ", description))
    named = {name for name, part in _PARTS.items() if _is_named(part, text, rules)}
    present, absent = (
        tuple(_PARTS[name].called for name in function.components if (name in named) is which)
        for which in (True, False)
    )
    if rules == "paper":
        return Components(present, absent)
    others = [name for name in _PARTS if name not in _may_be_told_by(function)]
    wrong = tuple(_PARTS[name].called for name in others if name in named)
    return Components(present, absent, wrong, len(function.components) + len(others))


def _may_be_told_by(function: NumericFunction) -> set[str]:
    """Return the function's parts, and the parts whose words may be needed to describe them."""
    known = set(function.components).union(*(_PARTS[name].akin for name in function.components))
    if function.is_stochastic:
        # Replaced values jump, and are around a constant; Poisson noise comes in steps.
        known |= {"step", "sign", "constant"}
    return known | ({"relu"} if function.mlp is not None or function.stands_in else set())


_SPACES = re.compile(r"\s+")


def _is_named(part: _Part, text: str, rules: Rules) -> bool:
    if rules == "paper":
        return bool(re.search(part.words, text, re.I))
    words = re.compile(part.repaired or part.words, re.I)
    return bool(words.search(without_denials(text, words)))


def _of_strings(function: StringFunction, description: str, rules: Rules) -> Components:
    parts = function.atoms
    held = [(part.describe(), *_counted(part.describe(), description, rules)) for part in parts]
    present, absent = (
        tuple(words for words, wanted, said in held if (2 * len(wanted & said) >= len(wanted)) is which)
        for which in (True, False)
    )
    if rules == "paper":
        return Components(present, absent)
    own = set().union(*(wanted for _, wanted, _ in held))
    # A kind whose words all belong to a part of the function is not a wrong one.
    others = [kind for kind in _described_atoms() if set(_stems(kind)) - own]
    wrong = [kind for kind in others if _is_all_said(kind, description)]
    return Components(present, absent, tuple(wrong), len(parts) + len(others))


def _is_all_said(kind: str, description: str) -> bool:
    wanted, said = _counted(kind, _IN_ORDER.sub(" ", description), "repaired")
    return wanted <= said


_IN_ORDER = re.compile(r"\bfirst(?:,|\s(?:it\b|the function\b|[a-z]+s\b))", re.I)
""""first" as a step of a procedure, not as in "first character"."""


@lru_cache(maxsize=1)
def _described_atoms() -> tuple[str, ...]:
    """Return what each string atom does, in words without its parameters; atoms with the same words only once."""
    described = (re.sub(r"[\"']?\{\w+\}[\"']?", "…", kind.description) for kind in STRING_ATOMS.values())
    different = {frozenset(_stems(words)): words for words in described}.values()
    return tuple(words for words in different if _is_all_said(words, words))


def _counted(part: str, description: str, rules: Rules) -> tuple[set[str], set[str]]:
    """Return the word stems of a part's own description, and those of the interpretation's description."""
    wanted = set(_stems(part))
    if rules == "repaired" and wanted:
        matter = re.compile("|".join(rf"\b{stem}" for stem in sorted(wanted)), re.I)
        description = without_denials(description, matter)
    return wanted, set(_stems(description))


def _stems(text: str) -> list[str]:
    """Return the words of four letters or more, by their first five letters."""
    return [word[:5] for word in re.findall(r"[a-z]{4,}", text.lower())]


# Whether an interpreter's words rest on calls that it really made.


BINS = 32
"""Into how many equal bins the probed range is divided to measure how much of it was probed."""


class QuotedPairs(NamedTuple):
    """Pairs that the text quotes, each in exactly one list: seen as quoted, seen with another output, never asked."""

    supported: tuple[tuple[str, str], ...]
    contradicted: tuple[tuple[str, str], ...]
    unseen: tuple[tuple[str, str], ...]


def evidence(text: str, made: Sequence[tuple[str, str]]) -> QuotedPairs:
    """Compare every "f(3) = 7", "3 -> 7" or "(3, 7)" in `text` with the calls that were `made`: the input as asked for,
    and the output as shown.

    Outputs agree if they do to the quoted digits; for a noisy function every observation counts. An input with decimals
    may be rounded if its output agrees; a call with another input never makes a pair contradicted.
    """
    lists: tuple[list[tuple[str, str]], ...] = ([], [], [])
    for asked, quoted in quoted_pairs(text):
        seen = [output for text, output in made if _is(asked, text)]
        rounded = [output for text, output in made if "." in asked and _same(asked, text)]
        place = 0 if any(_same(quoted, output) for output in [*seen, *rounded]) else 1 if seen else 2
        lists[place].append((asked, quoted))
    return QuotedPairs(*map(tuple, lists))


def _is(quoted: str, real: str) -> bool:
    """Whether both are equal as texts or as numbers."""
    number = as_number(quoted)
    return quoted == real or (number is not None and number == as_number(real))


def _same(quoted: str, real: str) -> bool:
    """Whether both are equal as texts, or as numbers to half a unit of the last digit quoted."""
    if quoted == real:
        return True
    a, b = as_number(quoted), as_number(real)
    if a is None or b is None:
        return False
    digits = len(quoted.partition(".")[2]) if "e" not in quoted.lower() else 12
    return bool(abs(a - b) <= 0.5 * 10.0**-digits + 1e-9 * abs(b))


def coverage(probed: Sequence[float]) -> float:
    """Return the share of 32 equal bins of the range that have a probe in them."""
    low, high = PROBED
    inside = [x for x in probed if low <= x <= high]
    bins = {min(int((x - low) / (high - low) * BINS), BINS - 1) for x in inside}
    return len(bins) / BINS


def gaps(probed: Sequence[float]) -> list[tuple[float, float]]:
    """Return the stretches of the range between probes, in order."""
    low, high = PROBED
    return list(itertools.pairwise([low, *sorted({x for x in probed if low < x < high}), high]))


def longest_gap(probed: Sequence[float]) -> tuple[float, float]:
    """Return the widest stretch of the range without a probe inside."""
    return max(gaps(probed), key=lambda gap: gap[1] - gap[0])


def probed_corruption(corruption: Corruption | None, probed: Sequence[float], rules: Rules = "repaired") -> int | None:
    """Count the probes in the corrupted part; with 0 the interpreter could not know it. None if there is no
    corruption.
    """
    if corruption is None:
        return None
    return int(np.count_nonzero(corruption.covers(np.asarray(probed, float), rules)))
