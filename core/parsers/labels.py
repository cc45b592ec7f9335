"""Labels: a sentiment, whether a statement follows, whether a question can be answered.

What the reply commits itself to (`statements.py`) counts. If there is nothing, what its sentences claim counts; if they
differ, the last one, because reasoning comes before its conclusion. If there is no claim either, the only label that is
mentioned counts.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence

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
    values,
    without_open,
)
from .yes_no import ALONE, TRUE_FALSE, YES_NO, agreed, plain
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


def _claimed(parts: Iterable[str], claims: Sequence[tuple[str, re.Pattern[str]]]) -> list[str]:
    """Return what each of the sentences claims: the first value whose pattern it contains, if there is one."""
    values = (next((value for value, says in claims if says.search(part)), None) for part in parts)
    return [value for value in values if value]


# Sentiment.

_TONES = values(positive="positive", negative="negative", neutral="neutral|mixed|ambivalent")
_TONES |= values(unknown="unknown|unclear|undetermined")
_first_tone = begins_with(_TONES, values(positive="pos|👍", negative="neg|👎", neutral="neu"), form="first_tone")


def sentiment(text: str) -> str | None:
    """Return "positive", "negative", "neutral" (also for "mixed") or "unknown"; None if it is not clear."""
    words = RE.listed.sub("", without_open(reply(text), RE.polar))
    words = RE.leans.sub(lambda tone: f" is {tone['tone']}" if tone.start() else tone["tone"], words)
    words = RE.label_no_other.sub(r" is \g<tone>\g<only>", words)
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

_VERDICTS = (
    YES_NO
    | TRUE_FALSE
    | values(
        yes="entailment|entailed|entails|correct|supported",
        no="contradiction|contradicted|contradicts|not entailment|no entailment|not entailed|not_entailment"
        "|non-entailment|non_entailment|not_entailed|incorrect|not true|not supported|unsupported",
        unknown="unknown|neutral|undetermined|unclear",
    )
)
_word = begins_with(_VERDICTS, ALONE | {"right": "yes", "wrong": "no"})
_VERDICT_CLAIMS = ((UNKNOWN, RE.claims_unknown), ("no", RE.claims_no), ("yes", RE.claims_yes))
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
    # A number stands for an option in "2)", "option 2" and "2" alone, and for an amount in "2 men".
    names_option = number and (number["mark"] or number["named"] or number["alone"] is not None)
    if number and names_option and not RE.numbers_follow.search(text):
        return Begins(_OPTIONS[number["v"]], number.end("v"))
    return None


def _numbered(place: re.Match[str]) -> str:
    """Name an option by its number: "the third option" is "option 3"."""
    told = place["nth"].lower()
    return f"option {1 if told in ('first', '1st') else 2 if told in ('second', '2nd') else 3}"


def entailment(text: str) -> str | None:
    """Return "yes", "no" or "unknown"; None if it is not clear. If a number and a word disagree ("2) yes"), the word
    counts.
    """
    words = RE.label_place.sub(_numbered, plain(text if "{" in text else RE.statement.sub("it", text)))
    return _label(words, _first_verdict, ("yes", "no", UNKNOWN), _verdict_claimed) or agreed(words)


def _verdict_claimed(text: str) -> str | None:
    verdicts = [] if text.startswith(BOTH) else _claimed(map(without_open_question, stated(text)), _VERDICT_CLAIMS)
    return verdicts[-1] if verdicts else None


# Ability.

_ABILITY_CLAIMS = (("no", RE.unable_to_answer), ("yes", RE.able_to_answer))


def ability(text: str) -> str | None:
    """Return "yes" or "no", for whether a question can be answered; None if it is not clear."""
    return _label(plain(text), yes_or_no, ("yes", "no"), _able)


def _able(text: str) -> str | None:
    return next(iter(_claimed(sentences(text), _ABILITY_CLAIMS)), None)
