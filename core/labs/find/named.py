"""What the words of an interpretation name: kinds of noise, and parts of the function (docs/measuring.md §4.10).

Both are recognised by words that stand for them. By paper rules any such word counts; by repaired rules what is denied
does not, and what is named and not there counts against the description: who lists all there is gains nothing.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import NamedTuple

from core.events import Rules
from core.labs.find.claimed_and_quoted import without_denials, without_steady
from core.labs.find.functions.numeric import NoiseKind, NumericFunction
from core.labs.find.functions.strings import STRING_ATOMS, StringFunction

_NOISE_WORDS: dict[NoiseKind, str] = {
    "normal": r"(?:normal(?:ly)?|gaussian)(?: \w+){0,2} (?:noise|random|error)|noise[^.]{0,60}?(?:normal|gaussian)",
    "uniform": r"uniform(?:ly)?(?: \w+){0,2} (?:noise|random|error)|noise[^.]{0,60}?uniform",
    "poisson": r"poisson",
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


_COMPONENT_WORDS: dict[str, str] = {
    "linear": r"\blinear|\bline\b|\bslope\b",
    "polynomial": r"polynomial|quadratic|cubic|quartic|quintic|parabol|\bx\s*(?:\^|\*\*)\s*[2-9]",
    "absolute": r"absolute|\babs\b|\|x\||v-shaped",
    "root": r"\broot|\bsqrt|x\s*(?:\^|\*\*)\s*(?:0\.5|\(?1\s*/\s*\d)",
    "logarithm": r"logarithm|\blog\b|\blog\d*\(|\bln\b",
    "step": r"\bstep\b|heaviside|threshold|piecewise constant|jump",
    "relu": r"\brelu|rectified|max\(\s*0|piecewise linear",
    "tanh": r"\btanh|hyperbolic tangent|sigmoid",
    "constant": r"\bconstant",
    "sin": r"\bsin(?:e|us|usoid\w*)?\b|sinusoid|sine wave",
    "cos": r"\bcos(?:ine)?\b|sinusoid",
    "reciprocal": r"reciprocal|inverse(?:ly)?|1\s*/\s*\(?[-\d.]*\s*\*?\s*x|hyperbol",
    "gaussian": r"gaussian|bell|normal (?:distribution|density|curve)|density of",
    "rational": r"rational|ratio of|quotient",
    "rectangle": r"rectang|box\b|boxcar|pulse|indicator",
    "square_wave": r"square[ -]?wave|alternat|sign of",
    "sign": r"\bsign|\bstep\b|heaviside|threshold|jump|square[ -]?wave",
    "ceil": r"\bceil|round\w* up",
    "floor": r"\bfloor|round\w* down|integer part",
}

_SHARPER_WORDS: dict[str, str] = {
    "linear": r"(?<!piecewise )(?:\blinear|\bline\b|\bslope\b)",
    "step": r"\bstep\b(?! size)|heaviside|threshold|piecewise constant|\bjump",
    "reciprocal": r"reciprocal|\binverse(?:ly)?\b|1\s*/\s*\(?[-\d.]*\s*\*?\s*x|hyperbola|hyperbolic(?! tan)",
    "gaussian": r"gaussian(?! (?:noise|error|random|perturb|fluctuat))|\bbell\b|normal (?:density|curve)|density of",
    "rational": r"\brational|\bratio of|\bquotient",
    "rectangle": r"rectang|(?<!black )(?<!black-)\bbox\b|\bboxcar|\bpulse|\bindicator",
    "square_wave": r"square[ -]?wave|\balternates?\b|\balternating\b|\bsign of\b",
    "sign": r"\bsign\b|\bsignum\b|\bsgn\b|\bstep\b(?! size)|heaviside|threshold|\bjump|square[ -]?wave",
    "floor": r"(?<!noise )\bfloor|round\w* down|integer part",
}
"""By repaired rules: a black box is no box, a signal no sign, Gaussian noise no bell curve."""

_AKIN: dict[str, tuple[str, ...]] = {
    "linear": ("polynomial", "constant"),
    "polynomial": ("linear", "constant"),
    "absolute": ("linear", "relu", "constant"),
    "root": ("linear",),
    "step": ("sign", "constant"),
    "relu": ("linear", "constant", "step"),
    "tanh": ("step", "sign"),
    "constant": ("linear",),
    "sin": ("cos",),
    "cos": ("sin",),
    "reciprocal": ("rational",),
    "rational": ("polynomial", "reciprocal", "linear", "constant"),
    "rectangle": ("absolute", "step", "sign", "constant"),
    "square_wave": ("sign", "step", "sin", "cos", "rectangle", "constant"),
    "sign": ("step", "square_wave", "sin", "constant"),
    "ceil": ("step", "linear"),
    "floor": ("step", "linear"),
}
"""Other parts whose words tell of a part too: a quotient is one of polynomials, a cosine a shifted sine. To name them
is no mistake, and no merit either.
"""

_PART_NAMES = {"relu": "ReLU", "sin": "sine", "cos": "cosine", "sign": "sign of x", "absolute": "absolute value"}
"""Parts whose name is not the word for them."""


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
        """See `parts_score`."""
        return parts_score(len(self.present), len(self.absent), len(self.wrong), self.kinds)


def parts_score(present: int, absent: int, wrong: int, kinds: int) -> float:
    """The parts rightly named, as a share of those of the function and those wrongly named; on a scale on which naming
    every one of the `kinds` comes to 0, and never below. 1 where all are named and nothing else.
    """
    of = present + absent
    if not wrong:
        return present / of
    return max(0.0, (present / (of + wrong) - of / kinds) / (1 - of / kinds))


def components_identified(
    function: NumericFunction | StringFunction, description: str, rules: Rules = "repaired"
) -> Components:
    """Which of the atoms the description names, by words that stand for each.

    String atoms count by the content words of their own description; at least half of them must occur. By repaired
    rules what is denied ("it is no logarithm") is not named, and atoms that the function has not are looked for too.
    """
    if isinstance(function, StringFunction):
        return _of_strings(function, description, rules)
    if rules == "paper":
        return Components(
            *_divided(
                function, {name for name, words in _COMPONENT_WORDS.items() if re.search(words, description, re.I)}
            )
        )
    text = without_steady(_SPACES.sub(" ", description))
    named = {name for name in _COMPONENT_WORDS if _is_named(name, text)}
    others = [name for name in _COMPONENT_WORDS if name not in _may_be_told_by(function)]
    return Components(
        *_divided(function, named),
        tuple(_part_name(name) for name in others if name in named),
        len(function.components) + len(others),
    )


def _divided(function: NumericFunction, named: set[str]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The function's parts that are named, and those that are not, in words."""
    present, absent = (
        tuple(_part_name(name) for name in function.components if (name in named) is which) for which in (True, False)
    )
    return present, absent


def _may_be_told_by(function: NumericFunction) -> set[str]:
    """The function's parts, and those whose words one needs to tell of them."""
    known = set(function.components).union(*(_AKIN.get(name, ()) for name in function.components))
    if function.is_stochastic:
        # What is replaced jumps, and lies around a constant; Poisson noise comes in steps.
        known |= {"step", "sign", "constant"}
    return known | ({"relu"} if function.mlp is not None or function.stands_in else set())


_SPACES = re.compile(r"\s+")


def _part_name(name: str) -> str:
    return _PART_NAMES.get(name, name.replace("_", " "))


def _is_named(name: str, text: str) -> bool:
    words = re.compile(_SHARPER_WORDS.get(name, _COMPONENT_WORDS[name]), re.I)
    return bool(words.search(without_denials(text, words)))


def _of_strings(function: StringFunction, description: str, rules: Rules) -> Components:
    parts = [part for part in (function.inner, function.outer) if part is not None]
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
