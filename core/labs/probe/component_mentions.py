"""What the words of an interpretation name: kinds of noise, and parts of the function (docs/measuring.md §4.10).

Both are recognised by words that stand for them. By paper rules any such word counts; by repaired rules what is denied
does not, and what is named and not there counts against the description: who lists all there is gains nothing.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import NamedTuple

from ...events import Frozen, Rules
from ...package_data import table
from .claim_extraction import without_denials, without_steady
from .functions.numeric import NoiseKind, NumericFunction
from .functions.strings import STRING_ATOMS, StringFunction


class _Part(Frozen):
    """By which words a part of a numeric function is known (data/find/part_words.toml)."""

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
    """The first kind of noise that a description names without denying it; None where there is none but "noise"
    (paper rules).
    """
    said = without_denials(description, _ANY_NOISE, "paper")
    places = {kind: re.search(words, said, re.I) for kind, words in _NOISE_WORDS.items()}
    ends = {kind: match.end() for kind, match in places.items() if match is not None}
    return min((place, kind) for kind, place in ends.items())[1] if ends else None


_SOME_NOISE = re.compile(r"\bnois(?:e(?![ -]?(?:free|less))|y)\b", re.I)


class NoiseTold(NamedTuple):
    """What a text says of noise without denying it: whether there is any at all, and the kinds that it names."""

    any: bool
    kinds: tuple[NoiseKind, ...]


def noise_told(text: str) -> NoiseTold:
    """What a text says of noise (repaired rules). All kinds are read: who names each of them has named none."""
    said = without_denials(text, _ANY_NOISE)
    kinds = tuple(kind for kind, words in _NOISE_WORDS.items() if re.search(words, said, re.I))
    return NoiseTold(bool(kinds or _SOME_NOISE.search(said)), kinds)


def noise_identified(function: NumericFunction, description: str, rules: Rules = "repaired") -> bool | None:
    """Whether the noise's kind is named, and by repaired rules no other. None for a function without noise whose
    description claims none.
    """
    if rules == "paper":
        claimed = claimed_noise(description)
        kinds: tuple[NoiseKind, ...] = (claimed,) if claimed else ()
    else:
        kinds = noise_told(description).kinds
    if function.noise is None:
        # What replaces the values of a corrupted stretch is normal.
        expected = rules == "repaired" and function.corruption is not None and kinds == ("normal",)
        return None if not kinds or expected else False
    return kinds == (function.noise.kind,)


class Components(NamedTuple):
    """The parts of a function that a description names, those that it leaves out, and those that it names and that
    are not there, in words; `kinds` is how many parts there are to be named.
    """

    present: tuple[str, ...]
    absent: tuple[str, ...]
    wrong: tuple[str, ...] = ()
    kinds: int = 0

    @property
    def score(self) -> float:
        """The parts rightly named, as a share of those of the function and those wrongly named; on a scale on which
        naming every one of the `kinds` comes to 0, and never below. 1 where all are named and nothing else.
        """
        named, of, wrong = len(self.present), len(self.present) + len(self.absent), len(self.wrong)
        if not wrong:
            return named / of
        return max(0.0, (named / (of + wrong) - of / self.kinds) / (1 - of / self.kinds))


def components_identified(
    function: NumericFunction | StringFunction, description: str, rules: Rules = "repaired"
) -> Components:
    """Which of the atoms the description names, by words that stand for each.

    String atoms count by the content words of their own description; at least half of them must occur. By repaired
    rules what is denied ("it is no logarithm") is not named, and atoms that the function has not are looked for too.
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
    """The function's parts, and those whose words one needs to tell of them."""
    known = set(function.components).union(*(_PARTS[name].akin for name in function.components))
    if function.is_stochastic:
        # What is replaced jumps, and lies around a constant; Poisson noise comes in steps.
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
    # Words that one shares with a part that is there name that.
    others = [kind for kind in _described_atoms() if set(_stems(kind)) - own]
    wrong = [kind for kind in others if _is_all_said(kind, description)]
    return Components(present, absent, tuple(wrong), len(parts) + len(others))


def _is_all_said(kind: str, description: str) -> bool:
    wanted, said = _counted(kind, _IN_ORDER.sub(" ", description), "repaired")
    return wanted <= said


_IN_ORDER = re.compile(r"\bfirst(?:,|\s(?:it\b|the function\b|[a-z]+s\b))", re.I)
"""The "first" of steps, which is no first character."""


@lru_cache(maxsize=1)
def _described_atoms() -> tuple[str, ...]:
    """What each string atom does, in words without its parameters; those that are told in the same words once."""
    described = (re.sub(r"[\"']?\{\w+\}[\"']?", "…", kind.description) for kind in STRING_ATOMS.values())
    different = {frozenset(_stems(words)): words for words in described}.values()
    return tuple(words for words in different if _is_all_said(words, words))


def _counted(part: str, description: str, rules: Rules) -> tuple[set[str], set[str]]:
    """The stems of a part's own words, and those of a description."""
    wanted = set(_stems(part))
    if rules == "repaired" and wanted:
        matter = re.compile("|".join(rf"\b{stem}" for stem in sorted(wanted)), re.I)
        description = without_denials(description, matter)
    return wanted, set(_stems(description))


def _stems(text: str) -> list[str]:
    """Words of four letters or more, by their first five letters."""
    return [word[:5] for word in re.findall(r"[a-z]{4,}", text.lower())]
