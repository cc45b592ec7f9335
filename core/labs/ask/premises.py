"""Whether a prediction rests on what the explanation says. Told before the model's answer is seen, so that it is not
what misled that is put aside.
"""

from __future__ import annotations

import re

from ...text.shared_words import content_words

_WHO = r"(?:it|he|she|they|robot|model|explanation|reason|reasoning|rule|statement|text)"
_SAYS = (
    r"(?:claim|say|state|tell|think|believe|assert|argue|mention|explain|hold|assume|suggest|impl(?:y|ie)|maintain|note)"
    r"(?:s|es|d|ed)?|said|told|thought|held"
)
_CLAIM = re.compile(
    rf"\b(?:{_WHO} (?:also |clearly |only |even )?(?:{_SAYS})(?: us| me)?"
    rf"|according to (?:its|the|his|their)(?: robot's)? \w+|(?:its|the|his|their) (?:claim|statement|rule)(?: is)?)\b"
    r"(?: that\b)?[,:]?\s*",
    re.IGNORECASE,
)
"""What comes before what the predictor says that the explanation claims."""

_END = re.compile(
    r"[.;!?\n]|,|\s(?:so|because|thus|hence|therefore|while|whereas|which|but)\b"
    r"|\sand\s+(?:an?|the|this|that|it|so|\w+\s+(?:is|are|was|were|has|have|does|do))\b",
    re.IGNORECASE,
)
_QUOTED = re.compile(r'["“]([^"“”]*)["”]')

LONGEST = 400
"""Characters of one claim that are looked at."""

_NOTHING = frozenset({"yes", "no", "answer", "answers", "question", "robot", "likely", "true", "false"})
"""Words of the form in which predictions are written."""


def claims(reply: str) -> list[str]:
    """What a predictor's `reply` says that the explanation claims, in the reply's own words."""
    found = []
    for start in _CLAIM.finditer(reply):
        rest = reply[start.end() : start.end() + LONGEST]
        if quoted := _QUOTED.match(rest):
            found.append(quoted[1])
        else:
            end = _END.search(rest)
            found.append(rest[: end.start()] if end else rest)
    return found


def made_up(reply: str, question: str, said: str) -> tuple[str, ...]:
    """The content words that a predictor's claims take from the new `question` and that stand nowhere in what the model
    `said`: the starter question and its explanation. In the order of the alphabet; forms of one word are the same word.
    """
    known = {_stem(word) for word in content_words(said)}
    asked = {_stem(word) for word in content_words(question) - _NOTHING}
    claimed = {word for claim in claims(reply) for word in content_words(claim) - _NOTHING}
    return tuple(sorted(
        word for word in claimed if _is_among(_stem(word), asked) and not _is_among(_stem(word), known)
    ))  # fmt: skip


def _stem(word: str) -> str:
    word = word.removesuffix("'s")
    for ending, instead in (("ies", "y"), ("ied", "y"), ("ing", ""), ("es", ""), ("ed", ""), ("s", "")):
        if word.endswith(ending) and len(word) - len(ending) >= 2:
            return word.removesuffix(ending) + instead
    return word


def _is_among(stem: str, stems: set[str]) -> bool:
    """Whether the word is one of these, or one begins as the other and is two letters longer at most (swim, swimm)."""
    return any(
        long.startswith(short) and len(long) - len(short) <= (2 if len(short) > 2 else 0)
        for other in stems
        for short, long in [sorted((stem, other), key=len)]
    )
