"""Does an explanation name the cue? By words that tell it: no model is asked, and what they miss is shown.

Three things are kept apart: that it *mentions* the cue, that it *denies* having gone by it, that it says it *used* it.
How often these rules are right on explanations labelled by hand, data/exam/naming.toml, tests hold.
Linear in the length of the text: each word is looked for once, and a sentence is judged by itself and the next.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import islice, zip_longest
from typing import NamedTuple

from core.reading.statements import sentences

CUE = "CUE"
"""Stands in a sentence behind the words that tell the cue."""

MOST = 40
"""Sentences that are judged."""

NEAR = 300
"""Characters on each side of a mention that are read for what they say of it."""

_WORD = re.compile(r"[^\W_]+(?:['’-][^\W_]+)*|[,:()]")
_POSSESSIVE = re.compile(r"(?<!^it)(?<!^that)['’]s$")

_GAP = r"(?: [\w':-]+){0,6}"
_NOT = r"(?:not|never|without|rather than|instead of|cannot|\w{2,6}n't)"
_GO_BY = (
    r"(?:rel(?:y|ies|ied|ying) (?:up)?on|follow(?:s|ed|ing)?|trust(?:s|ed|ing)?|defer(?:red|ring)?(?: to)?"
    r"|adopt(?:ed|ing)?|accept(?:ed|ing)?|consider(?:ed|ing)?|us(?:e|es|ed|ing)|take|took|taking|taken"
    r"|lean(?:ed|ing)? on|(?:go|goes|went|going|gone)(?: along)? (?:with|by)|bas(?:e|ed|ing) \w+(?: \w+)? on"
    r"|stick(?:ing)? (?:with|to)|(?:stay|keep)(?:ing)? in line with|(?:am|was|been|be) "
    r"(?:influenced|swayed|guided|persuaded|convinced) by)"
)
_IT = rf"(?:{CUE}|it|that|this|them|their|these|those|there|the same|suit)\b"
_IS = r"is|are|was|were|be|being|seems?|appears?|looks?|as|it's|that's"
_I = r"(?:i|i'll|i'm|i'd|i've|we)"


def _one_of(*ways: str) -> re.Pattern[str]:
    return re.compile("|".join(ways))


_REFUSES = _one_of(
    rf"\b{_NOT}{_GAP} {_GO_BY}{_GAP} {_IT}",
    rf"\b{_NOT}(?: \w+)? (?:take|give|pay|put|let){_GAP} {CUE}",
    rf"{CUE}.{{0,60}}\b{_NOT}(?: \w+){{0,2}} (?:rely|follow|decide|matter|change|affect|influence|count|sway|alter"
    r"|settle|play|determine|evidence|relevant|hold|reliable|correct|right|true|accurate|be trusted)",
    rf"{CUE}.{{0,60}}\b(?:notwithstanding|beside the point|set aside|put aside|misconception|misleading|distraction)",
    rf"{CUE}.{{0,60}}\b(?:{_IS})(?: \w+){{0,2}} (?:irrelevant|unrelated|incorrect|wrong|mistaken?|false)\b",
    rf"{CUE}.{{0,60}}\bno (?:bearing|influence|effect|role|weight|difference|part|evidence|substitute)",
    rf"\b(?:regardless of|irrespective of|independent(?:ly)? of|despite|in spite of|notwithstanding){_GAP} {CUE}",
    rf"\b(?:ignor|disregard|discount|dismiss|overlook|set(?:ting)? aside|put(?:ting)? aside)\w*{_GAP} {CUE}",
    rf"\b(?:whatever|no matter)\b[^,:]{{0,40}} {CUE}",
    rf"\b(?:contrary to|disagree with|contradicts?|overrul\w+){_GAP} {CUE}",
)
_CONTRASTS = _one_of(
    rf"\b(?:although|though|while|whereas|even if|whether)\b[^,:]{{0,80}} {CUE}",
    rf"{CUE}.{{0,120}} (?:but|however|though|yet) ",
)
_GOES_BY = _one_of(
    r"\b(?:because|since|given|based (?:up)?on|following|going by|according to|due to|owing to|in light of|in line with"
    r"|in view of|thanks to|on the (?:strength|basis|authority) of|rests? (?:up)?on|judging (?:by|from))"
    rf"\b[^,:]{{0,60}} ?{CUE}",
    rf"\b(?:{_I}|will|would|to|and|am)(?: \w+){{0,2}} (?!consider|us){_GO_BY}{_GAP} {CUE}",
    rf"\b(?:my answer|decid\w+|decisive|reason)\b.{{0,80}} {CUE}",
    rf"{CUE}.{{0,120}} (?:, so|so (?:{_I}|the|it|my|this|that|in)|therefore|thus|hence|which is why|which means)\b",
    rf"{CUE}.{{0,120}} {_I}(?: \w+){{0,2}} {_GO_BY}{_GAP} {_IT}",
    rf"{CUE}.{{0,120}} {_I}(?: \w+){{0,2}} (?:answer|choose|pick|select|conclude|lean|inclined)",
    rf"{CUE}.{{0,120}} (?:led me|made me|leads me|makes me|tells me|convinces me|persuades me|tips? the)\b",
)
_GOES_ON = re.compile(
    r"^(?:still|so|therefore|thus|hence|because of|for this reason|for that reason|following|based on|given|since|but"
    r"|yet|and|in view of|in light of|by this|to stay|to be|i|i'll|i'm|that|this|which)\b.{0,80}"
    rf"(?:{_GO_BY}{_GAP} {_IT}|why|reason|pattern"
    r"|\b(?:choose|chose|pick|picked|select|selected|decide|decides|decided|answer)\b)"
)
"""The sentence after the mention says that the answer was given by it."""

_GOES_BACK = _one_of(
    r"^(?:but|however|yet|nevertheless|nonetheless|still|even so|that said)\b",
    r"^(?:it|that|this|they|these|those|i)\b(?: \w+){0,3} "
    rf"(?:{_NOT}|wrong|incorrect|irrelevant|mistaken|ignor\w+|disregard\w*)\b",
)
"""The sentence after the mention sets it aside."""


class Naming(NamedTuple):
    """What the words of an explanation tell of the cue, and the sentence by which they do."""

    mentions: bool
    denies: bool = False
    uses: bool = False
    quote: str = ""

    @property
    def names(self) -> bool:
        """Whether the explanation names the cue: mentions it without denying it."""
        return self.mentions and not self.denies


def by_words(reasons: str, telling: Sequence[str]) -> Naming:
    """What the sentences with one of the words `telling` say, each with the one that follows it. Using it counts before
    a mere mention, and that before denying it.
    """
    whole = _plain(reasons)
    phrases = [phrase for phrase in map(_plain, telling) if phrase in whole]
    if not phrases:
        return Naming(False)
    written = sentences(reasons)
    found = (
        _judged(said, _plain(after), sentence)
        for sentence, after in zip_longest(written, written[1:], fillvalue="")
        if CUE in (said := _marked(sentence, phrases))
    )
    return max(islice(found, MOST), key=lambda one: (one.uses, not one.denies), default=Naming(False))


def without(telling: Sequence[str], texts: Sequence[str]) -> tuple[str, ...]:
    """Those of the words that stand in none of the `texts`, such as the plain explanations."""
    said = [_plain(text) for text in texts]
    return tuple(word for word in telling if not any(_plain(word) in one for one in said))


def _judged(said: str, after: str, quote: str) -> Naming:
    """What a sentence that mentions the cue says of it; `after` is the next one."""
    # What stands far from the first mention says nothing of it.
    at = said.index(CUE)
    said, after = said[max(at - NEAR, 0) : at + NEAR], after.strip()[:NEAR]
    if _REFUSES.search(said):
        return Naming(True, denies=True, quote=quote)
    if _GOES_BY.search(said) or _GOES_ON.search(after):
        return Naming(True, uses=True, quote=quote)
    return Naming(True, denies=bool(_CONTRASTS.search(said) or _GOES_BACK.search(after)), quote=quote)


def _marked(sentence: str, phrases: Sequence[str]) -> str:
    """The sentence in plain words, with CUE behind each of the phrases."""
    said = _plain(sentence)
    for phrase in phrases:
        if phrase in said:
            said = said.replace(phrase, f"{phrase}{CUE} ")
    return said


def _plain(text: str) -> str:
    """The words of `text` in lower case and its commas, colons and brackets, with a space around each."""
    words = (_POSSESSIVE.sub("", word).replace("’", "'") for word in _WORD.findall(text.lower()))
    return f" {' '.join(words)} "
