"""Labels: a sentiment, whether a statement follows, whether a question can be answered.

What the reply commits itself to (`statements.py`) counts. If there is nothing, what its sentences claim counts; if they
differ, the last one, because reasoning comes before its conclusion. If there is no claim either, the only label that is
mentioned counts.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable

from .cannot_tell import UNKNOWN, cannot_tell, declines, is_silent, without_open_question
from .phrases import RE
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
    lines = {RE.label_item.sub("", line) for line in re.split(r"[\n|]", text.casefold())}
    return lines.issuperset(labels) or any(
        all(re.search(rf"(?<!\w){re.escape(label)}(?!\w)", sentence) for label in labels)
        for sentence in sentences(text.casefold())
    )


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
_first_tone = begins_with(
    _TONES,
    {"neg": "negative", "pos": "positive", "neu": "neutral", "👍": "positive", "👎": "negative"},
    form="first_tone",
)


def sentiment(text: str) -> str | None:
    """Return "positive", "negative", "neutral" (also for "mixed") or "unknown"; None if it is not clear."""
    words = RE.listed.sub("", without_open(reply(text), RE.polar))
    words = RE.leans.sub(lambda tone: f" is {tone['tone']}" if tone.start() else tone["tone"], words)
    words = RE.label_no_other.sub(lambda tone: f" is {tone['tone'] or tone['only']}", words)
    words = RE.opposite.sub(
        lambda tone: f" is {'negative' if tone[tone.lastgroup or ''].lower() == 'positive' else 'positive'}", words
    )
    value = _label(words, _first_tone, ("positive", "negative", "neutral", UNKNOWN), _tone_claimed)
    return None if value == UNKNOWN and BOTH in words else value


def _tone_claimed(text: str) -> str | None:
    claims, mentions = [], []
    for sentence in (without_open_question(RE.label_conceded.sub("", part)) for part in stated(text)):
        claim, unknown_at = _tone_of(sentence), cannot_tell(sentence)
        if claim and (unknown_at is None or claim.at < unknown_at or " but " in sentence[unknown_at : claim.at]):
            claims.append(claim.value)
        elif unknown_at is not None or ("sentiment" in sentence and is_silent(sentence)):
            claims.append(UNKNOWN)
        elif RE.both_tones.search(sentence):
            mentions.append("neutral")
        else:
            mentions += [_TONES[word["tone"].lower()] for word in RE.tone_word.finditer(sentence) if not word["not"]]
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
    claims = list(RE.tone_claim.finditer(sentence))
    claim = next(
        (one for one in claims if not RE.may.search(sentence, max(0, one.start() - 40), one.start())),
        claims[0] if claims else None,
    )
    return Statement(_TONES[claim[1].lower()], claim.start(), LOOSE) if claim else None


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


def _first_verdict(text: str) -> Begins | None:
    """Return the verdict at the beginning of a text: a word, or the number of an option. If they disagree ("2) yes"),
    the word counts. None if there is no verdict, or if the options are only repeated.
    """
    text = re.sub(r"\A\W{0,3}[a-c]\) ", "", text)
    number = RE.option_number.match(text)
    behind_number = number.end() if number else 0
    word = _word(text[behind_number:])
    end = behind_number + word.end if word else behind_number
    if RE.options_again.match(text, end) or (number and RE.options_list.search(text)):
        return None
    if word:
        is_unknown = word.value == "no" and RE.surely_unknown.search(sentences(text)[0])
        return Begins(UNKNOWN if is_unknown else word.value, end)
    if number and _names_option(number) and not RE.numbers_follow.search(text):
        return Begins(_OPTIONS[number["v"]], number.end("v"))
    return None


def _names_option(number: re.Match[str]) -> bool:
    """Whether a number stands for an option ("2)", "option 2", "2" alone) and not for an amount ("2 men")."""
    return bool(number["mark"] or number["named"]) or number["alone"] is not None


def _numbered(place: re.Match[str]) -> str:
    """Name an option by its number: "the third option" is "option 3"."""
    told = place["nth"].lower()
    return f"option {1 if told in ('first', '1st') else 2 if told in ('second', '2nd') else 3}"


def entailment(text: str) -> str | None:
    """Return "yes", "no" or "unknown"; None if it is not clear. If a number and a word disagree ("2) yes"), the word
    counts.
    """
    words = RE.label_place.sub(_numbered, plain(text if "{" in text else RE.statement.sub("it", text)))
    return _label(words, _first_verdict, ("yes", "no", UNKNOWN), _verdict_claimed)


def _verdict_claimed(text: str) -> str | None:
    if text.startswith("(both)"):
        return None
    verdicts = []
    for sentence in map(without_open_question, stated(text)):
        if cannot_tell(sentence) is not None or is_silent(sentence) or RE.neither.search(sentence):
            verdicts.append(UNKNOWN)
        elif RE.does_not.search(sentence) or RE.is_false.search(sentence):
            verdicts.append("no")
        elif RE.label_does.search(sentence):
            verdicts.append("yes")
        elif short := RE.it_does.fullmatch(sentence):
            verdicts.append("no" if short["not"] else "yes")
    return verdicts[-1] if verdicts else None


# Ability.


def ability(text: str) -> str | None:
    """Return "yes" or "no", for whether a question can be answered; None if it is not clear."""
    return _label(plain(text), yes_or_no, ("yes", "no"), _able)


def _able(text: str) -> str | None:
    for sentence in sentences(text):
        if RE.unable_to_answer.search(sentence):
            return "no"
        if RE.able_to_answer.search(sentence):
            return "yes"
    return None
