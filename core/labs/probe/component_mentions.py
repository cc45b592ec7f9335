"""What the words of an interpretation name: kinds of noise, and parts of the function (docs/measuring.md §4.10).

Both are recognized by keywords. The paper rules count every keyword; the updated rules ignore denials, and count parts
that are named but not in the function against the description, so listing everything gains nothing.
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
