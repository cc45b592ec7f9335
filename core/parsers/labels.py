"""Labels: a sentiment, whether a statement follows, whether a question can be answered.

What the reply commits itself to (`statements.py`) counts. If there is nothing, what its sentences claim counts; if they
differ, the last one, because reasoning comes before its conclusion. If there is no claim either, the only label that is
mentioned counts.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable

from ..text.patterns import anycase
from .cannot_tell import UNKNOWN, cannot_tell, declines, is_silent, without_open_question
from .statements import (
    BOTH,
    FIRM,
    LOOSE,
    Begins,
    First,
    Statement,
    begins_with,
    beyond_question,
    only,
    reply,
    sentences,
    settle,
    statements_in,
    without_open,
)
from .yes_no import ALONE, TRUE_FALSE, YES_NO, plain
from .yes_no import first as yes_or_no


def committed(words: str, first: First) -> list[Statement]:
    """Return what plain words commit themselves to, including the first words."""
    begins = first(words) or first(beyond_question(words))
    return [*([Statement(begins.value, 0, FIRM)] if begins else []), *statements_in(words, first)]


def all_named(text: str, labels: Iterable[str]) -> bool:
    """Whether one sentence names every label, or each label has its own line: a repetition of the options, not an
    answer.
    """
    labels = list(labels)
    lines = {_ITEM.sub("", line) for line in re.split(r"[\n|]", text.casefold())}
    return lines.issuperset(labels) or any(
        all(re.search(rf"(?<!\w){re.escape(label)}(?!\w)", sentence) for label in labels)
        for sentence in sentences(text.casefold())
    )


_ITEM = re.compile(r"\A\W{0,6}(?:\w[).:])?\W{0,6}|\W{1,6}\Z")


_MOST_SENTENCES = 500
"""Only this many sentences are read, from the end, where the conclusion is."""


def stated(text: str) -> list[str]:
    """Return the last sentences of a text without its questions, unless it consists of questions only."""
    parts = sentences(text)[-_MOST_SENTENCES:]
    return [part for part in parts if not part.endswith("?")] or parts


def _label(text: str, first: First, options: Iterable[str], claims: Callable[[str], str | None]) -> str | None:
    statements = committed(text, first)
    if any(statement.weight > LOOSE for statement in statements):
        return settle(statements)
    if all_named(text, options):
        return None
    value = claims(_undeclined(text)) or settle(statements)
    return None if value == UNKNOWN and declines(text) else value


def _undeclined(text: str) -> str:
    """Remove the sentences that refuse something; the claims of other sentences still count."""
    return "\n".join(part for part in sentences(text) if not declines(part)) if declines(text) else text


# Sentiment.

_TONES = {"mixed": "neutral", "ambivalent": "neutral", "unclear": UNKNOWN, "undetermined": UNKNOWN}
_TONES |= {name: name for name in ("positive", "negative", "neutral", UNKNOWN)}
_NAMES = "|".join(_TONES)
_DEGREE = r"(?:(?:very|quite|rather|somewhat|overall|[a-z]{2,15}ly)\W+){0,4}"
_OPTIONS_FOLLOW = rf"(?!\s*(?:,|/|\||;)\s*(?:or\s+|and\s+)?(?:{_NAMES})\b|[ \t]+(?:(?:or|and)[ \t]+)?(?:{_NAMES})\b)"
_first_tone = begins_with(
    _TONES,
    {"neg": "negative", "pos": "positive", "neu": "neutral", "👍": "positive", "👎": "negative"},
    after=_OPTIONS_FOLLOW
    + r"(?!\?|-| ?(?:→|[-=]>|:) ?(?:yes|no)\b| (?:words?|aspects?|points?|phrases?|remarks?|terms?|elements?)\b"
    + r"| at (?:most|best|first)\b)",
)
_TONE_CLAIM = anycase(
    r"(?:'s|\b(?:is|are|as|be|has|have|seems?|appears?|remains?|leans?|sounds?|feels?|reads?|label|call|rate|classify"
    r"|consider|deem|judge|mak(?:es?|ing)|express(?:es|ing)|convey(?:s|ing)|overall|therefore|thus))\W+(?:(?:a|an|the"
    r"|to|be|of|as|towards?|sentiment|tone|it|this|that|paragraph|review|text|passage|one)\s+){0,6}"
    rf"{_DEGREE}({_NAMES})\b{_OPTIONS_FOLLOW}"
)
_TONE_WORD = anycase(
    rf"(?P<not>\b(?:not|neither|nor|than|hardly|scarcely|barely|without|no|less|rather than|instead of|never"
    rf"|nothing)\W+(?:a\W+)?|n't\W+(?:a\W+)?|\bnon-)?\b(?P<tone>{_NAMES})\b"
)
_POLAR = anycase(r"\b(?:positive|negative)\b")
_BOTH_TONES = anycase(r"\b(?:both|neither) (?:positive (?:and|nor) negative|negative (?:and|nor) positive)\b")
_CONCEDED = anycase(
    r"\A\W{0,3}(?:although|though|while|whereas|even though|even if|despite|in spite of)\b[^,.;\n]{1,160},(?=[^\n]{8})"
)
_LISTED = anycase(rf"\((?:[^()\n]{{0,60}}\b(?:{_NAMES})\b){{2,4}}[^()\n]{{0,60}}\)")
"""The options repeated in brackets."""
_OPPOSITE = anycase(
    r"(?:\b(?:is |was )?not|n't) (?:at all|in the least|remotely|in any way) (?P<a>positive|negative)\b|"
    r"(?:\b(?:is |was )?not|n't) (?:a )?(?P<b>positive|negative)(?: \w+)? (?:at all|in the least|in any way|one bit)\b|"
    r"\b(?:(?:is |are )?(?:anything but|far from(?: being)?|(?:quite "
    r"|very )?(?:the )?opposite of))\W+(?:an? )?(?P<c>positive|negative)\b"
)


_LEANS = anycase(
    r"\b(?:mixed|neutral|ambivalent|balanced)\b[^.;\n]{0,40}?\b(?:lean(?:s|ing)?|tend(?:s|ing)?|ti(?:p|lt)(?:s|ed"
    r"|ing|ped)?"
    r"|skew(?:s|ed|ing)?|predominantly|mostly|mainly|on balance|overall)\b[^.;\n]{0,20}?\b(?P<tone>positive|negative)\b"
)
"""A mixed tone that is said to be closer to one of the two."""
_NO_OTHER = anycase(
    r"\b(?:not|n't|cannot|no|nothing|hard|difficult|impossible|never|hardly)\b[^.;\n]{0,60}?\b(?:other than|else than"
    r"|(?:anything|else|nothing|way) but|except(?: as)?)\W{1,3}(?:as )?(?:an? )?(?P<tone>positive|negative|neutral)\b"
    r"|\b(?:nothing|none) (?:but|other than) (?P<only>positive|negative|neutral)\b"
)
"""Says that nothing but this tone is possible."""


def sentiment(text: str) -> str | None:
    """Return "positive", "negative", "neutral" (also for "mixed") or "unknown"; None if it is not clear."""
    words = _LISTED.sub("", without_open(reply(text), _POLAR))
    words = _LEANS.sub(lambda tone: f" is {tone['tone']}" if tone.start() else tone["tone"], words)
    words = _NO_OTHER.sub(lambda tone: f" is {tone['tone'] or tone['only']}", words)
    words = _OPPOSITE.sub(
        lambda tone: f" is {'negative' if tone[tone.lastgroup or ''].lower() == 'positive' else 'positive'}", words
    )
    value = _label(words, _first_tone, ("positive", "negative", "neutral", UNKNOWN), _tone_claimed)
    return None if value == UNKNOWN and BOTH in words else value


def _tone_claimed(text: str) -> str | None:
    claims, mentions = [], []
    for sentence in (without_open_question(_CONCEDED.sub("", part)) for part in stated(text)):
        claim, unknown_at = _tone_of(sentence), cannot_tell(sentence)
        if claim and (unknown_at is None or claim.at < unknown_at or " but " in sentence[unknown_at : claim.at]):
            claims.append(claim.value)
        elif unknown_at is not None or ("sentiment" in sentence and is_silent(sentence)):
            claims.append(UNKNOWN)
        elif _BOTH_TONES.search(sentence):
            mentions.append("neutral")
        else:
            mentions += [_TONES[word["tone"].lower()] for word in _TONE_WORD.finditer(sentence) if not word["not"]]
    return claims[-1] if claims else only(mentions)


def _tone_of(sentence: str) -> Statement | None:
    """Return what the sentence calls the sentiment, the tone or the answer, or else what it says about anything; None
    if it names no tone.
    """
    named = [claim for claim in statements_in(sentence, _first_tone) if claim.at < len(sentence)]
    if named:
        return named[-1]
    if begins := _first_tone(sentence):
        return Statement(begins.value, 0, LOOSE)
    claims = list(_TONE_CLAIM.finditer(sentence))
    claim = next(
        (one for one in claims if not _MAY.search(sentence, max(0, one.start() - 40), one.start())),
        claims[0] if claims else None,
    )
    return Statement(_TONES[claim[1].lower()], claim.start(), LOOSE) if claim else None


_MAY = anycase(r"\b(?:may|might|could|can)(?: \w+)? \Z")

# Entailment.

_VERDICTS = YES_NO | TRUE_FALSE | {
    "entailment": "yes", "entailed": "yes", "entails": "yes", "correct": "yes", "supported": "yes",
    "contradiction": "no", "contradicted": "no", "contradicts": "no", "not entailment": "no", "no entailment": "no",
    "not entailed": "no", "not_entailment": "no", "non-entailment": "no", "non_entailment": "no", "not_entailed": "no",
    "incorrect": "no", "not true": "no", "not supported": "no", "unsupported": "no",
    "unknown": UNKNOWN, "neutral": UNKNOWN, "undetermined": UNKNOWN, "unclear": UNKNOWN,
}  # fmt: skip
_word = begins_with(_VERDICTS, ALONE | {"right": "yes", "wrong": "no"})
_OPTIONS = {"1": "yes", "2": "no", "3": UNKNOWN}
_NUMBER = anycase(
    r"[\W_]{0,6}(?:(?P<named>option|choice|answer|number|#)\W{0,3})?(?P<v>[1-3])(?!\d"
    r"|\.\d)(?P<mark>\s?[().:\]–—-]{1,3})?(?P<alone>\W*(?:\n|\Z)|,\s{0,3}(?!or\b|and\b)(?=[a-z]))?\s{0,3}"
)
_LIST = re.compile(r"(?:\n\W{0,4}|[.!?;] )[23][.):]")
_OPTIONS_LIST = anycase(r"\n\W{0,4}[23][.):]\W{0,6}(?:yes|no|unknown)\b")
_OPTIONS_AGAIN = anycase(
    r"[^\n]{0,200}[2-3]\)\s{0,3}[\"']?(?:no|unknown)\b"
    r"|\W{0,3}(?:,|/|\||\bor\b) ?(?:or )?[\"']?(?:no|unknown)\b(?! (?:doubt|question|problem|need|way|reason"
    r"|information)\b)"
)
_SURELY_UNKNOWN = anycase(
    r"\bunknown\b|not enough (?:information|context)|insufficient|no information|can ?not be (?:determined"
    r"|known|answered)"
)


def _first_verdict(text: str) -> Begins | None:
    """Return the verdict at the beginning of a text: a word, or the number of an option. If they disagree ("2) yes"),
    the word counts. None if there is no verdict, or if the options are only repeated.
    """
    text = re.sub(r"\A\W{0,3}[a-c]\) ", "", text)
    number = _NUMBER.match(text)
    behind_number = number.end() if number else 0
    word = _word(text[behind_number:])
    end = behind_number + word.end if word else behind_number
    if _OPTIONS_AGAIN.match(text, end) or (number and _OPTIONS_LIST.search(text)):
        return None
    if word:
        is_unknown = word.value == "no" and _SURELY_UNKNOWN.search(sentences(text)[0])
        return Begins(UNKNOWN if is_unknown else word.value, end)
    if number and _names_option(number) and not _LIST.search(text):
        return Begins(_OPTIONS[number["v"]], number.end("v"))
    return None


def _names_option(number: re.Match[str]) -> bool:
    """Whether a number stands for an option ("2)", "option 2", "2" alone) and not for an amount ("2 men")."""
    return bool(number["mark"] or number["named"]) or number["alone"] is not None


_DOES_NOT = anycase(
    r"(?:\b(?:not|cannot|never|no)|n't)\W+(?:\w+\W+){0,3}?(?:entail|follow|support|infer|impl|conclude|contain"
    r"|drawn|deduc|deriv|justif|hold\b)\w*"
)
_DOES = anycase(
    r"(?:\b|(?='s))(?:entails|(?:is|be|'s) (?:\w+ly )?(?:entailed|supported|implied|inferred|concluded|confirmed|backed"
    r"|stated)|follows|(?:accept|take|read|count|treat)\b[^.;\n]{1,60}\bas (?:follow|true|entail|given|support"
    r"|correct)\w*"
    r"|(?:bears?|backs?) (?:it|this|that) (?:out|up)|(?:claim|hypothesis) holds|does (?:\w+ly )?(?:entail|follow"
    r"|support)|supports|implies|confirms|backs|statement holds"
    r"|(?:is|be|as|'s) (?:\w+ly )?(?:true|correct|accurate))\b"
)
_FALSE = anycase(
    r"(?:\bis|\bbe|\bas|\bwas|'s) (?:\w+ly )?(?:false|incorrect|wrong|untrue|inaccurate|contradicted|inconsistent"
    r"|refuted|unsupported)\b"
    r"|(?<!not )(?<!n't )\b(?:contradicts?|contradicting|refutes|disproves)\b|\bthe opposite\b|\bimpossible for\b"
    r"|\b(?:rul(?:es?|ing)|is) (?:(?:it|this|that) )?(?:ruled )?out\b(?! that)"
    r"|(?:\bnot|n't|\bcannot) (?:\w+ ){0,2}?(?:true|correct|accurate|the case|consistent|entailed|supported)\b"
)
_NEITHER = anycase(
    r"\b(?:is|are|remains) (?:neutral|undetermined)\b|\bneither\b[^.;\n]{0,80}\bnor\b|\b(?:not"
    r"|n't) (?:\w+ ){0,2}(?:entail|support|confirm|imply)\w*[^.;\n]{0,30}\b(?:or|nor) (?:contradict|refute|den)"
)
_STATEMENT = anycase(r"[\"“«„「](?!\W{0,4}(?:yes|no|unknown|true|false|[1-3])\b)[^\"“”«»„「」\n]{12,400}[\"”“»」]")
"""A quoted statement: its words do not say whether it follows."""


_IT_DOES = anycase(
    r"\W{0,4}(?:it|this|that|they) (?:\w{1,10}ly )?(?:does|do|is|are|did|was|were|can|could|would|has|have)"
    r"(?P<not> not|n't)?\W{0,4}"
)
"""A complete sentence such as "It does not"."""


_PLACE = anycase(
    r"\bthe (?P<nth>first|second|third|last|final|1st|2nd|3rd) (?:option|choice|one of the (?:three|options))\b"
)


def _numbered(place: re.Match[str]) -> str:
    """Name an option by its number: "the third option" is "option 3"."""
    told = place["nth"].lower()
    return f"option {1 if told in ('first', '1st') else 2 if told in ('second', '2nd') else 3}"


def entailment(text: str) -> str | None:
    """Return "yes", "no" or "unknown"; None if it is not clear. If a number and a word disagree ("2) yes"), the word
    counts.
    """
    words = _PLACE.sub(_numbered, plain(text if "{" in text else _STATEMENT.sub("it", text)))
    return _label(words, _first_verdict, ("yes", "no", UNKNOWN), _verdict_claimed)


def _verdict_claimed(text: str) -> str | None:
    if text.startswith("(both)"):
        return None
    verdicts = []
    for sentence in map(without_open_question, stated(text)):
        if cannot_tell(sentence) is not None or is_silent(sentence) or _NEITHER.search(sentence):
            verdicts.append(UNKNOWN)
        elif _DOES_NOT.search(sentence) or _FALSE.search(sentence):
            verdicts.append("no")
        elif _DOES.search(sentence):
            verdicts.append("yes")
        elif short := _IT_DOES.fullmatch(sentence):
            verdicts.append("no" if short["not"] else "yes")
    return verdicts[-1] if verdicts else None


# Ability.

_CANNOT = anycase(r"\b(?:not (?:possible|able)|impossible|unable|can ?not|can't|isn't possible)\b")
_CAN = anycase(r"\b(?:possible|able|can)\b")


def ability(text: str) -> str | None:
    """Return "yes" or "no", for whether a question can be answered; None if it is not clear."""
    return _label(plain(text), yes_or_no, ("yes", "no"), _able)


def _able(text: str) -> str | None:
    for sentence in sentences(text):
        if _CANNOT.search(sentence):
            return "no"
        if _CAN.search(sentence):
            return "yes"
    return None
