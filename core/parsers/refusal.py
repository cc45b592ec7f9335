"""How a model says that it will not do what it was asked, which is another thing than that it cannot be known."""

from __future__ import annotations

from ..text.patterns import anycase

_UNABLE = (
    r"(?:can ?not|can['’]?t|can not|could ?n['’]t|(?:am |['’]m )?(?:unable|not able|not allowed|not permitted) to"
    r"|wo['’]?n['’]?t|will not|will be unable to|do(?:n['’]t| not) (?:feel comfortable|think (?:i|it)|want)|(?:must"
    r"|have to|need to|would like to) (?:respectfully )?(?:decline|refuse)|decline|refuse|(?:am "
    r"|['’]m )?not (?:comfortable|going to|willing))"
)
_GROUNDS = (
    r"(?:\bpolic(?:y|ies)\b|guidelines?\b|\bviolat\w{1,4}\b|\bin?appropriate|ethic\w{0,6}\b|harmful\b|\bunsafe\b"
    r"|\bsafety\b|comfortable\b|offensive\b|\bagainst my\b|my (?:programming|principles)\b|\bsensitive (?:topic"
    r"|content|nature)|terms of (?:use|service)|copyright|explicit content)"
)
_SORRY = r"(?:i['’]?m (?:very |so )?sorry|i am sorry|sorry|i apologi[sz]e)"
_CANNOT = r"(?:can['’]?t|can ?not|unable|won['’]?t|not able|do(?:n['’]t| not))"
_DECLINES = anycase(
    rf"\b(?:i|we)(?: (?:really|simply|just|am afraid i|'m afraid i))? ?{_UNABLE}\b[^.\n]{{0,160}}{_GROUNDS}"
    rf"|{_GROUNDS}[^.\n]{{0,120}}\b(?:i|we) ?{_UNABLE}\b|\b(?:i|we) ?{_UNABLE} (?:(?:really|directly"
    rf"|be able to) )?(?:assist|help(?! but)|comply|engage|fulfil|participate|do that|"
    r"continue|respond to (?:this|that)|answer (?:this|that)|process|discuss"
    r"|\w+ (?:to )?(?:\w+ )?(?:questions|requests|topics|matters|opinions|advice|judge?ments) (?:about|on|regarding"
    r"|concerning|involving|of (?:this|that)|like (?:this|that)))\b|"
    rf"\bas an? (?:ai|large|language)\b[^.\n]{{0,80}}?\bi ?{_UNABLE} (?:\w+ ){{0,2}}?(?:answer|determine"
    rf"|provide|judge|classify|give|"
    r"offer|form|express|make|do|tell|say|assess|evaluate)\b|\b(?:this|that|the|your|such) (?:request|content|prompt"
    r"|question|material|text|paragraph)\b[^.\n]{0,60}\b(?:violates|goes against|is against|is not something i"
    r"|breaches)\b|\bi (?:must|have to|need to|would have to) (?:respectfully )?(?:decline|refuse)\b|"
    rf"\A\W{{0,20}}{_SORRY}[.!]?\W{{0,20}}\Z"
)


def declines(text: str) -> bool:
    """Whether the reply refuses: "I can't determine that because it violates policy", not "I can't determine that"."""
    return _DECLINES.search(text) is not None


_REFUSAL = anycase(
    rf"^\W{{0,20}}(?:(?:{_SORRY}|unfortunately)\b[^.\n]{{0,60}}?\b(?:i|as an)\b[^.\n]{{0,60}}?{_CANNOT}"
    rf"|as an? (?:ai|large|language)\b[^\n]{{0,120}}?\b(?:{_CANNOT}|have no|decline)\b|sorry\W{{0,4}}\Z"
    r"|(?:unfortunately, )?i (?:can['’]?t|can ?not|won['’]?t|am unable to|am not able to)"
    r" (?:assist|help(?! but)|edit|redact|provide|fulfil|comply|do|complete|make|determine|create|generate|rewrite"
    r"|modify)\b|i['’]m (?:unable|not able) to\b|i (?:won['’]t|will not) be able to\b"
    r"|i (?:must|have to|need to) (?:respectfully )?(?:decline|refuse)\b)"
)
_NO_LIST = anycase(
    rf"\W{{0,20}}(?:{_SORRY}[,.]? (?:but )?(?:the|your|there|no)\b|(?:unfortunately, )?i (?:am )?{_CANNOT} (?:to )?"
    r"(?:list|identify|name|pick|select|find|extract|highlight|see|have|know)\b)"
)


def begins_as_refusal(text: str) -> bool:
    """Whether an answer that should hold a text or a list of words begins as a refusal."""
    return _REFUSAL.match(text) is not None


def names_nothing(text: str) -> bool:
    """Whether an answer that should list words begins by saying that it cannot."""
    return begins_as_refusal(text) or _NO_LIST.match(text) is not None
