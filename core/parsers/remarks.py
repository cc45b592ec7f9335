"""What chat models write around a paragraph they edited: introductions, remarks on the edit, suggestions, refusals.

They are distinguished from the paragraph line by line. A line is a remark only if it is about editing, because a story
may well say "I changed my mind" or "Note: the key is under the mat".
"""

from __future__ import annotations

import re

from ..text.patterns import anycase

_MARKS = r"[*_#(\[>\s\"“]{0,20}"
_EDITING = (
    r"(?:edit|chang|replac|remov|redact|rewrit|rewrote|revis|modif|alter|adjust|mask|reword|rephras|swap|correct"
    r"|substitut)\w{0,5}"
)
_TALK = anycase(
    rf"\b(?:{_EDITING}|example|follows?|following|paragraphs?|sentiment|version|write|result|here (?:it is"
    rf"|you (?:go|are))"
    r"|here(?:['’]s| is| are|:)(?:(?! (?:that|which|who|why|how|what|when)\b)[^\n]){0,80}\b(?:text|passage"
    r"|review|story|premise|output|answer|edit|one|option|attempt|try|take|new|final|possible|alternative))\b"
)
_SURELY_TALK = anycase(
    rf"\b(?:{_EDITING}(?! my (?:mind|opinion|view))|paragraphs?|sentiment|version(?! of (?:events|this|that)))\b"
)
_TELLS = anycase(
    r"\bhere(?:['’]s| is| are) (?:(?:my|the|some|a|few|own|main|best) ){0,3}(?:advice|tips?|reasons?|why|how"
    r"|what|thing|deal|catch|problem|story|list|plan|recipe|rules?|steps?|truth|verdict|review|summary)\b"
)
"""Openings of text that belongs to the paragraph itself."""
_TITLE = anycase(r"(?!dear\b)(?:[\w'’-]{1,20} ){0,2}[\w'’-]{1,20}:")
"""A line of up to three words above the paragraph, such as "As requested:"."""
_AGREES = anycase(
    r"(?:sure|of course|certainly|absolutely|okay|ok|no problem)(?: thing)?[,!.] (?:i can|i'd|i’d|i would"
    r"|i'll|i’ll|i will|happy to|glad to|let me)[^\n:]{0,80}[.!]"
)
_ABOUT_WORDS = anycase(
    r"\b(?:words?|phras\w{1,4}|phrases?|sentiment|paragraph|sentences?|versions?|original|tone|redact\w*|mask\w*"
    r"|adjectives?|adverbs?|verbs?|nouns?|answer|statement|question|entail\w*|meaning|wording)\b"
    r"|→|->|[\"”'’*] (?:to|with|by|for|became|into|instead of) [\"“'‘*]|\b(?:changed|replaced) [\"“'‘*]"
)

# Introductions.

COURTESY = anycase(
    r"^\W{0,40}(?:sure|certainly|of course|okay|ok|absolutely)(?: thing)?(?:[!.]{1,3}[ \t]*(?=\S)|[!.:]{0,3}\n\s{0,9})"
)
"""Polite words before the answer itself."""

_OPENS = anycase(
    rf"{_MARKS}(?:sure|certainly|of course|okay|ok|absolutely|here|below|the following|this is (?:the|an?) {_EDITING}"
    r"|i suggest|i(?:'d| would| will|'ll|’d|’ll| have|'ve|’ve) |to make\b|one way|let(?:['’]s| us| me)"
    r"|we (?:can|could)|my apologies|apologies|sorry for|you (?:can|could))"
)
_PRESENTS = anycase(rf"{_MARKS}(?:\w+[!.,] )?(?:here|below|let(?:['’]s| us| me) {_EDITING})\b")
_MOST_LINES = 4
_LONGEST_LINE = 200
"""In characters. A longer line that does not open like an introduction belongs to the paragraph."""


def introduction_end(text: str) -> int:
    """Return where the lines that introduce a paragraph end; 0 if there are none.

    A line introduces if it is about editing and ends with a colon, or if it says that here is the result. One that only
    opens like an introduction ("I suggest ..") counts if such a line follows.
    """
    at = end = 0
    for _ in range(_MOST_LINES):
        blank = re.compile(r"\s*").match(text, at)
        start = blank.end() if blank else at
        stop = text.find("\n", start)
        line = text[start : stop if stop >= 0 else len(text)]
        bare = line.rstrip(" \t*_")
        ends = stop + 1 if stop >= 0 else len(text)
        announces = bare.endswith((":", "：")) and (len(bare) <= _LONGEST_LINE or _OPENS.match(bare))
        opening = bare[: 3 * _LONGEST_LINE]
        opens = _OPENS.match(bare) and _TALK.search(opening) and not _TELLS.search(opening)
        talks = opens or _SURELY_TALK.search(opening)
        above = text[ends : ends + 1] == "\n" and not _LIST_LINE.match(text, ends + 1)
        title = above and _TITLE.fullmatch(bare)
        agrees = _AGREES.fullmatch(bare) and text[ends:].strip()
        if (announces and (talks or title)) or agrees or (end and re.fullmatch(r"[-*_=]{3,}[ \t]*", line)):
            end = ends
        elif opens and stop >= 0 and text[ends:].strip():
            if _PRESENTS.match(bare):
                end = ends
        else:
            break
        at = ends
    return end


# Remarks after the paragraph.

_HEADS = (
    r"(?:(?:the |my )?(?:notes?|explanations?|(?:key |main )?changes?(?: made)?|what (?:i |was |has )?changed"
    r"|edits?(?: made)?|summary|summary of (?:the )?(?:changes|edits)|reasoning|rationale|justification|(?:redacted"
    r"|masked|changed|removed) words?|words? (?:redacted|masked|changed|removed)))"
)
_REASONS = anycase(rf"{_MARKS}(?:explanation|reasoning|rationale|justification)[*_]{{0,3}}: ?\S")
_REMARK = anycase(
    rf"{_MARKS}(?:{_HEADS}\b[^\n:]{{0,40}}:|note that\b"
    rf"|(?:i|i've|i’ve|we|i have)(?: only| simply| just| also| have)? ?{_EDITING}\b"
    r"|(?:all|everything|nothing|no) (?:of )?(?:the )?(?:other|else|remaining|rest)\b"
    r"|the (?:only )?(?:edits?|changes?)\b|by (?:replacing|changing|removing|redacting|masking|swapping)"
    r"|(?:changed|replaced|redacted|masked)\b|these (?:edits?|changes?)\b|(?:only|just) one)"
)
_PERHAPS_REMARK = anycase(
    rf"{_MARKS}(?:(?:in )?this (?:version|edit|redaction|change|revision)\b"
    r"|(?:i|i've|i’ve|we|i have)(?: only| simply| just| also| have)? ?(?:kept|made|moved|turned|took|used|flipped"
    r"|switched|shifted|left|tried|aimed|chose|exchanged|reversed|added|inserted|deleted|dropped|negated)\b"
    r"|(?:(?:with|without|after|since|because|now that) )?(?:the|these|those) (?:\w{1,15} )?(?:words?|terms?|phrases?"
    r"|sentiment|rest)\b)"
)
"""A line of a story or a review may also begin like this."""

_SURELY_ABOUT_WORDS = anycase(
    r"\b(?:sentiment|paragraph|adjectives?|adverbs?|redact\w*|mask\w*|wording|entail\w*|statement|the answer"
    r"|one word)\b|→|->|[\"”'’*] (?:to|with|by|for|became|into|instead of) [\"“'‘*]"
)
_OFFER = anycase(
    rf"{_MARKS}(?:please )?(?:let me know (?:if|whether|what)\b[^\n]{{0,80}}"
    r"\b(?:need|like|want|help|change|adjust|version|edit|anything|else|further|more|works?)\b|would you like (?:me"
    r"|another|a)\b|(?:i )?hope (?:this|that) helps|(?:the )?(?:redacted|masked|changed|removed"
    r"|replaced) words?(?: (?:is|are|were)\b|[*_ ]{0,4}:)|without these words|in the (?:above|edited|redacted"
    r"|revised) (?:paragraph|text|version)\b|\(?\d{1,3} (?:words?|edits?|changes?)\b[^\n]{0,30}\Z|(?:total"
    r"|number of) (?:edits|changes|words)\b|word count\b|i hope (?:this|that|it)\b"
    r"|(?:now,? )?(?:the|this) (?:(?:new|edited|overall|resulting) )?(?:sentiment|paragraph|tone|version|text"
    r"|statement|answer|label)\b[^\n]{0,30}\b(?:is|becomes|reads|conveys|expresses|shifts"
    r"|flips)\b[^\n]{0,30}\b(?:now\b[^\n]{0,40})?(?:positive|negative|neutral|unknown|entailed)\b"
    r"|[^\n]{0,120}\b(?:sentiment|the answer)\b[^\n]{0,20}\b(?:cannot|can't|can’t|can no|no longer|impossible)\b"
    r"|this (?:should |will |would )?(?:makes?"
    r"|changes?|turns?|flips?|shifts?) the (?:sentiment|answer|tone|label)\b|[-*•] [\"“'‘*][^\n]{1,200}[\"”'’*] (?:→|->"
    r"|=>|to|became) [\"“'‘*][^\n]{1,200}\Z|words? (?:redacted|masked|changed|removed|replaced)[*_ ]{0,4}:"
    r"|[^\n]{0,120}\b(?:so|therefore|now|thus) the (?:correct |right )?answer (?:to the question )?(?:is|becomes"
    r"|would be)\b|feel free to\b|is there anything else|do you want me to\b"
    r"|(?:if you(?:'d|’d| would) like|if you (?:want|need)), i)"
)
_ON_WORDS = anycase(
    rf"{_MARKS}(?:(?:i|i['’]ve|we|i have)(?: only| simply| just| also)? {_EDITING} (?:the words? )?[\"“'‘*]"
    rf"|the words? [\"“'‘*][^\n]{{1,120}} (?:was|were|has been|have been|is|are) {_EDITING})"
)
_SECTION = anycase(rf"(?:{_MARKS}|#{{1,6}} ){_HEADS}[*_ \t]{{0,6}}(?P<colon>:?)[*_ \t)]*")
"""A heading below which everything is remarks, whatever its wording."""
_RESULT = anycase(
    r"[*_#\s]{0,6}(?:(?:new|final|resulting) )?(?:sentiment|answer|label|classification|entailment)"
    r"[*_ ]{0,4}:[^\n]{0,40}"
)
_LIST_LINE = re.compile(r"[ \t]*(?:[-*•–+]|\d{1,2}[.)])[ \t]+")
ASIDE = anycase(
    rf"[(\[](?:note|{_EDITING}|(?:i|we)(?:'ve|’ve| have)? (?:only |just |simply )?"
    rf"(?:{_EDITING}|kept|made|used|added|turned))\b[^()\[\]\n]*[)\]]"
)


def without_remarks(text: str) -> str:
    """Return `text` up to the line from which only remarks on the edit follow."""
    lines = text.splitlines(keepends=True)
    lines = lines[: next((at for at in range(1, len(lines)) if _heads_remarks(lines, at)), len(lines))]
    cut = len(lines)
    for at in range(len(lines) - 1, 0, -1):
        line = lines[at].strip()
        if not line:
            continue
        if begins_remarks(line):
            cut = at
        elif not (_LIST_LINE.match(line) or _ABOUT_WORDS.search(line)):
            break
    kept = ("".join(lines[:cut]) if "".join(lines[:cut]).strip() else text).rstrip()
    bracket = max(kept.rfind("("), kept.rfind("["))
    return kept[:bracket].rstrip() if bracket > 0 and ASIDE.fullmatch(kept, bracket) else kept


def _heads_remarks(lines: list[str], at: int) -> bool:
    return _is_heading(lines[at].strip()) and not lines[at - 1].strip() and any(line.strip() for line in lines[:at])


def _is_heading(line: str) -> bool:
    found = _SECTION.fullmatch(line)
    return found is not None and bool(found["colon"] or line[0] in "#*_")


_PICTURES = re.compile(r"\A[^\w\s\x00-\x7f“”„«»‘’「『]{1,4} ")


def begins_remarks(line: str) -> bool:
    """Whether a line below an edited paragraph is a remark on the edit."""
    line = _PICTURES.sub("", line)
    if any(begins.match(line) for begins in (_REASONS, _ON_WORDS, _OFFER)):
        return True
    if _is_heading(line) or _RESULT.fullmatch(line):
        return True
    remark, perhaps = _REMARK.match(line), _PERHAPS_REMARK.match(line)
    return bool(
        (remark and _ABOUT_WORDS.search(line, remark.end()))
        or (perhaps and _SURELY_ABOUT_WORDS.search(line, perhaps.end()))
    )


# No paragraph at all.

_NOTHING_GIVEN = anycase(
    r"^\W{0,20}(?:it (?:seems|looks|appears)\b|i (?:do not|don['’]t) see\b"
    r"|you (?:have not|haven['’]t|did not|didn['’]t)\b|(?:the|your) (?:paragraph|text|message)\b|there is no\b|no\b)"
    r"[^\n.]{0,60}\b(?:paragraph|text|passage|message|review)\b"
    r"[^\n.]{0,40}\b(?:provided|included|given|attached|missing|empty|in your message|to (?:edit|redact|work with))\b"
)
_ASKS = anycase(
    r"^\W{0,20}(?:(?:sure|of course|certainly|okay|sorry)[!.,]{1,2} )?"
    r"(?:(?:could|can|would) you (?:please )?|please |i(?: would|'d|’d)? need )"
    r"(?:provide|share|paste|send|give|clarify|specify)\b[^\n]{0,80}\b(?:paragraph|text|passage|review|story)\b"
    r"|^\W{0,9}(?:(?:what|which) (?:paragraph|text|review)\b[^\n]{0,40}\?|(?:there is )?no (?:paragraph|text"
    r"|review)\b[^\n]{0,20})\W{0,9}\Z"
)
_NOTHING_TO_DO = anycase(
    r"^\W{0,20}(?:(?:the|this|your) (?:given |original )?(?:paragraph|text|passage|review|sentiment)\b|no\b)"
    r"[^\n]{0,160}?(?:\b(?:edits?|changes?|words?|editing|redaction) (?:\w+ ){0,3}"
    rf"(?:needed|necessary|required|made|redacted|possible)|\bcan(?:not|['’]t| not) be (?:\w+ly )?{_EDITING}"
    r"|n[o']t need(?: to be)? (?:edit|chang|redact)\w*)\b[^\n]*$"
)


def asks_back(text: str) -> bool:
    """Whether the answer asks for the paragraph, or says in one line that no edit is needed."""
    return bool(_ASKS.match(text) or _NOTHING_GIVEN.match(text) or _NOTHING_TO_DO.fullmatch(text))


_SUGGESTS = anycase(
    r"[^\n]{0,160}\b(?:suggestions?|ideas|ways|tips|some (?:options|changes|edits|examples))\b[^\n]{0,80}:[*_ \t]*$"
)
_ADVICE = anycase(
    r"(?:[-*•–+]|\d{1,2}[.)]|<li>)[ \t]*[*_\"“]{0,3}(?:you (?:can|could) )?"
    r"(?:change|replace|remove|delete|drop|use|add|swap|redact|rephrase|consider|try|substitute|omit|cut|make"
    r"|rewrite|mask)\b"
)


_A_WORD = r"[\"“'‘](?:[^\n\"“”‘’']|(?<=\w)['’](?=\w)){1,60}[\"”'’](?!\w)"
_ADVISES = anycase(
    r"the words? to \w+ (?:is|are)\b[^\n]{1,200}"
    r"|(?:you (?:can|could|might|may|should) (?:simply |just )?|i(?:['’]d| would) (?:suggest|recommend) )"
    rf"{_EDITING}\b[^:\n]*"
    rf"|(?:(?:to|you|i(?:['’]d)?|one|we|by|just|simply|try)\b[^\n\"“'‘]{{0,80}} )?{_EDITING} [^\n\"“'‘]{{0,60}}"
    rf"(?:{_A_WORD} (?:to|with|by|for|into) {_A_WORD}[^\n\"“”'‘’.]{{0,60}}){{1,20}}\.?"
)


def is_suggestions(text: str) -> bool:
    """Whether the answer consists of several suggestions, or of one line of advice, without a paragraph."""
    lines = [line.strip() for line in text.splitlines() if line.strip() and not re.match(r"\s*</?[uo]l>", line)]
    if len(lines) == 1 and _ADVISES.fullmatch(lines[0]):
        return True
    offered = bool(lines) and _SUGGESTS.fullmatch(lines[0]) is not None
    if offered or introduction_end(text) > text.find("\n"):
        lines = lines[1:]
    items = [line for line in lines if _LIST_LINE.match(line) or line.lower().startswith("<li>")]
    advice = sum(_ADVICE.match(line) is not None for line in items)
    return len(items) >= 2 and len(items) == len(lines) and (offered or advice == len(items))
