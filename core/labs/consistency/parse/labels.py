"""Labels as today's chat models write them: "**Positive**", "Answer: 2) no", {"answer": "b"}, "Yes, it is.", …

In this order: a JSON field; "final answer: …"; how the answer starts; "answer: …"; what a sentence claims; the one
label that is mentioned. An answer that repeats the options, or says two things, stays unparsed.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence

from core.labs.consistency.parse.unwrap import json_in, sentences, spoken, without_markup

_FIELDS = (
    "final_answer", "answer", "label", "sentiment", "entailment", "choice", "classification", "prediction", "verdict",
    "option", "letter", "value", "result", "output", "response",
)  # fmt: skip
_DEEPEST = 5
_FINAL = re.compile(r"\bfinal answer\s*(?:is\b)?\s*[:=–—-]*\s*", re.IGNORECASE)
_ANSWER = re.compile(
    r"\b(?:answer|sentiment|label|classification|prediction|verdict|conclusion|entailment|choice|option|response|result)"
    r"(?: here| to [^.:;\n]{1,60}?| for [^.:;\n]{1,60}?)?"
    r"\s*(?:(?:is|would be|should be|must be|will be)\b|[:=–—→]|-)\s*[:=–—>]?\s*"
    r"|^(?:the )?(?:answer|label|classification|prediction|verdict|conclusion|response|result)[ \t]*\n\s*"
    r"|\b(?:i|we|a human|humans|most people|people)(?: would| will| must|'d|'ll)?"
    r"(?: have to| rather| most likely| probably| likely)?"
    r" (?:choose|pick|select|go with|say|answer|opt for|vote)(?: with| that| it is| it's| this is)*\s*:?\s*"
    r"|[,;–—]\s*(?:and )?(?:so|hence|thus|therefore)\b(?: it is| it's| the answer is)?\s*[:,]?\s*",
    re.IGNORECASE | re.MULTILINE,
)
_UNKNOWN = re.compile(
    r"""(?:\b|(?=n't))(?: unknown | undetermined | indeterminate | unclear | insufficient | n/a | none\ of\ the\ above
      | (?:not|n't|no)\ (?:\w+\ )?(?:enough|sufficient)\ (?:\w+\ )?(?:information|info|context|details?|evidence|data)
      | nobody\ knows | i\ (?:do\ not|don't)\ know | no\ idea
      | (?:lacks?|lacking|too\ little)\ (?:\w+\ )?(?:information|context|details?)
      | (?:can\ ?not|can't|could\ not|couldn't|unable\ to|not\ able\ to|impossible\ (?:for\ me\ )?to
         |(?:no\ way|not\ possible|hard|difficult)\ to)
        \ (?:be\ )?(?:\w+ly\ )?(?:be\ )?
        (?:determin|tell|know|say|said|answer|infer|establish|conclude|identif|ascertain|decide|classif|judge)\w*
      | no\ telling | may\ or\ may\ not | inconclusive | (?:not|n't)\ (?:sure|certain|clear|known)
      | no\ (?:clear\ |explicit\ |discernible\ )?(?:information|mention|indication|sentiment)
    )\b""",
    re.VERBOSE | re.IGNORECASE,
)
_SILENT = re.compile(
    r"\b(?:does not|doesn't|do not|is not|isn't|not) (?:\w+ly )?"
    r"(?:say|specif|mention|stat(?=e)|provide|indicat|reveal|tell|told|giv|disclos|clarif|named?\b|identif|address)\w*"
    r"|\bleaves? (?:\w+ ){1,3}open\b",
    re.IGNORECASE,
)
_SURELY_UNKNOWN = re.compile(
    r"\bunknown\b|not enough (?:information|context)|insufficient|no information"
    r"|can ?not be (?:determined|known|answered)",
    re.IGNORECASE,
)
_TICK = re.compile("[✅✔☑]|\\[x\\]", re.IGNORECASE)
_OPEN_CLAUSE = re.compile(r"\b(?:whether|if)\b[^.;\n]*", re.IGNORECASE)

_Read = Callable[[str], str | None]


def _read(text: str, at_start: _Read, in_sentences: _Read) -> str | None:
    """The order of this module's docstring. `at_start` reads a label that text begins with."""
    text = spoken(text)
    parsed = json_in(text)
    if isinstance(parsed, dict):
        value = _field(parsed)
        if value is None:
            return None
        value = without_markup(value)
        return at_start(value) or in_sentences(value)
    text = without_markup(_ticked(text))
    for cell in _last_row(text):
        label = at_start(cell)
        if label is not None:
            return label
    finals, answers = ([match.end() for match in marker.finditer(text)][::-1] for marker in (_FINAL, _ANSWER))
    for start in [*finals, 0, *answers][:20]:
        label = at_start(text[start:])
        if label is not None:
            return label
    return in_sentences(text)


def _ticked(text: str) -> str:
    """The one line with a tick, where there is one; else `text`."""
    ticked = [line for line in text.splitlines() if _TICK.search(line)]
    return _TICK.sub("", ticked[0]) if len(ticked) == 1 else text


def _last_row(text: str) -> list[str]:
    """The cells of a table with a single row below its heading, from the last."""
    rows = [line for line in text.splitlines() if line.lstrip().startswith("|")]
    if len(rows) != 3 or set(rows[1]) - set("|:- \t"):
        return []
    return [cell.strip() for cell in rows[2].strip("| \t").split("|")][::-1]


def _field(parsed: Mapping[str, object]) -> str | None:
    """The value of the field that holds the answer, as text: a known name, else the only field."""
    named = {str(name).lower().replace(" ", "_"): value for name, value in parsed.items()}
    name = next((name for name in _FIELDS if name in named), next(iter(named)) if len(named) == 1 else None)
    value = named.get(name) if name is not None else None
    for _ in range(_DEEPEST):
        if isinstance(value, list) and len(value) == 1:
            value = value[0]
        elif isinstance(value, Mapping):
            inner = {str(name).lower(): value for name, value in value.items()}
            value = next((inner[name] for name in _FIELDS if name in inner), None)
    if isinstance(value, bool):
        return "yes" if value else "no"
    return str(value) if isinstance(value, str | int) else None


def _all_named(text: str, labels: Iterable[str]) -> bool:
    """Whether one sentence names every label: the options once more, no answer."""
    return any(
        all(re.search(rf"(?<!\w){re.escape(label)}(?!\w)", sentence) for label in labels)
        for sentence in sentences(text.casefold())
    )


def _stated(text: str) -> list[str]:
    """Its sentences without questions, unless it has nothing else."""
    parts = sentences(text)
    return [part for part in parts if not part.endswith("?")] or parts


def _one(labels: Sequence[str]) -> str | None:
    return labels[0] if len(set(labels)) == 1 else None


# Sentiment

_TONE = {"mixed": "neutral", "ambivalent": "neutral", "unclear": "unknown", "undetermined": "unknown"}
_TONE |= {name: name for name in ("positive", "negative", "neutral", "unknown")}
_NAMES = "|".join(_TONE)
_DEGREE = (
    r"(?:(?:very|mostly|overall|strongly|somewhat|slightly|highly|predominantly|generally|clearly|extremely|primarily"
    r"|quite|rather|moderately|overwhelmingly|definitely|certainly|largely|likely|probably)\W+)*"
)
_OPTIONS_FOLLOW = rf"(?!\s*(?:,|/|\||;)\s*(?:or\s+|and\s+)?(?:{_NAMES})\b|\s+(?:or|and)\s+(?:{_NAMES})\b)"
_TONE_FIRST = re.compile(rf"\W*{_DEGREE}({_NAMES})\b{_OPTIONS_FOLLOW}", re.IGNORECASE)
_TONE_CLAIM = re.compile(
    r"\b(?:is|are|as|be|has|have|seems?|appears?|remains?|leans?|sounds?|feels?|reads?|label|call|rate|classify|consider"
    r"|deem|judge|mak(?:es?|ing)|express(?:es|ing)|convey(?:s|ing)|overall|therefore|thus)\W+"
    r"(?:(?:a|an|the|to|be|of|as|towards?|sentiment|tone|it|this|that|paragraph|review"
    rf"|text|passage|one)\s+)*{_DEGREE}({_NAMES})\b{_OPTIONS_FOLLOW}",
    re.IGNORECASE,
)
_TONE_WORD = re.compile(
    rf"(?<!not )(?<!n't )(?<!neither )(?<!nor )(?<!than )(?<!not a )(?<!non-)\b({_NAMES})\b", re.IGNORECASE
)
_BOTH = re.compile(
    r"\b(?:both|neither) (?:positive (?:and|nor) negative|negative (?:and|nor) positive)\b", re.IGNORECASE
)


def sentiment(text: str) -> str | None:
    """ "positive", "negative", "neutral" (also for "mixed") or "unknown"."""
    return _read(text, _tone_first, _tone_said)


def _tone_first(text: str) -> str | None:
    match = _TONE_FIRST.match(text)
    return _TONE[match[1].lower()] if match else None


def _tone_said(text: str) -> str | None:
    if _all_named(text, ("positive", "negative", "neutral", "unknown")):
        return None
    claims, mentions = [], []
    for sentence in _stated(text):
        settled = _OPEN_CLAUSE.sub("", sentence)
        claim = _TONE_CLAIM.search(settled)
        if _UNKNOWN.search(settled) and not (claim and claim.start() < _UNKNOWN.search(settled).start()):  # type: ignore[union-attr]
            claims.append("unknown")
        elif claim:
            claims.append(_TONE[claim[1].lower()])
        elif _BOTH.search(settled):
            mentions.append("neutral")
        else:
            mentions += [_TONE[word.lower()] for word in _TONE_WORD.findall(settled)]
    # Reasoning comes before its conclusion: where claims differ, the last one is the answer.
    return claims[-1] if claims else _one(mentions)


# Entailment

_VERDICT = {
    "yes": "yes", "true": "yes", "entailment": "yes", "entailed": "yes", "entails": "yes",
    "no": "no", "false": "no", "contradiction": "no", "contradicted": "no", "not entailment": "no",
    "no entailment": "no", "not entailed": "no", "not_entailment": "no", "non-entailment": "no",
    "nope": "no", "incorrect": "no", "not true": "no", "not supported": "no", "unsupported": "no", "correct": "yes",
    "unknown": "unknown", "neutral": "unknown", "undetermined": "unknown", "unclear": "unknown",
}  # fmt: skip
_VERDICT_NAMES = "|".join(re.escape(name) for name in sorted(_VERDICT, key=len, reverse=True))
_VERDICT_FIRST = re.compile(
    rf"\W*(?:(?:absolutely|definitely|certainly|indeed|clearly|well)\W+)?(?:(?:option|choice)\s+)?(?:([1-3])(?!\d|\.\d)(?:\s*[().:\[\]–—-]+)?\s*)?"
    rf"(?:({_VERDICT_NAMES})\b(?!\s+(?:problem|worries|doubt|need|idea|way|telling|information|mention|indication)\b))?",
    re.IGNORECASE,
)
_ALONE = re.compile(r"\W*(?:\n|$)|,\s*(?!or\b|and\b)[a-z]", re.IGNORECASE)
_OTHER_OPTION = re.compile(r"[^\n]*?[2-3]\)\s*(?:no|unknown)\b|\s*(?:,|/|\bor)\s*(?:no|unknown)\b", re.IGNORECASE)
_DOES_NOT = re.compile(
    r"\b(?:not|n't|cannot|never|no)\W+(?:\w+\W+){0,3}?(?:entail|follow|support|infer|impl|conclude|contain|drawn|deduc|deriv|justif)\w*",
    re.IGNORECASE,
)
_DOES = re.compile(
    r"(?:\b|(?='s))(?:entails|(?:is|be) (?:\w+ly )?(?:entailed|supported|implied|inferred|concluded|confirmed|backed"
    r"|stated)"
    r"|follows|does (?:\w+ly )?(?:entail|follow|support)|supports|implies|confirms|backs|statement holds"
    r"|(?:is|be|as|'s) (?:\w+ly )?(?:true|correct|accurate))\b",
    re.IGNORECASE,
)
_FALSE = re.compile(
    r"(?:\bis|\bbe|\bas|\bwas|'s) (?:\w+ly )?(?:false|incorrect|wrong|untrue|inaccurate|contradicted|inconsistent"
    r"|refuted|unsupported)\b"
    r"|(?<!not )(?<!n't )\b(?:contradicts?|contradicting|refutes|disproves)\b|\bthe opposite\b"
    r"|(?:\bnot|n't|\bcannot) (?:\w+ ){0,2}?(?:true|correct|accurate|the case|consistent|entailed|supported)\b",
    re.IGNORECASE,
)
_NEITHER = re.compile(
    r"\bneither\b[^.;\n]{0,80}\bnor\b|\b(?:not|n't) (?:\w+ ){0,2}(?:entail|support|confirm|imply)\w*[^.;\n]{0,30}"
    r"\b(?:or|nor) (?:contradict|refute|den)",
    re.IGNORECASE,
)
_STATEMENT = re.compile(
    r"[\"“«„「](?!\W{0,4}(?:yes|no|unknown|true|false|[1-3])\b)[^\"“”«»„「」\n]{12,400}[\"”“»」]",
    re.IGNORECASE,
)
"""A quoted statement: its words say nothing about whether it follows."""


def entailment(text: str) -> str | None:
    """ "yes", "no" or "unknown". Where a number and a word disagree ("2) yes") the word counts."""
    if "{" not in text:
        text = _STATEMENT.sub("it", text)
    return _read(text, _verdict_first, _verdict_said)


def _verdict_first(text: str) -> str | None:
    match = _VERDICT_FIRST.match(text)
    number, word = (match[1], match[2]) if match else (None, None)
    if match is None or not (number or word) or _OTHER_OPTION.match(text, match.end()):
        return None
    if word:
        verdict = _VERDICT[word.lower()]
        first = sentences(text)[0]
        return "unknown" if verdict == "no" and _SURELY_UNKNOWN.search(first) else verdict
    # A number starts an answer only where it is marked as an option or stands alone.
    if number and (re.search(r"[).:\]–—-]\s*$", match[0]) or _ALONE.match(text, match.end())):
        return {"1": "yes", "2": "no", "3": "unknown"}[number]
    return None


def _verdict_said(text: str) -> str | None:
    if _all_named(text, ("yes", "no", "unknown")):
        return None
    verdicts = []
    for sentence in _stated(text):
        settled = _OPEN_CLAUSE.sub("", sentence)
        if _UNKNOWN.search(settled) or _SILENT.search(settled) or _NEITHER.search(settled):
            verdicts.append("unknown")
        elif _DOES_NOT.search(settled) or _FALSE.search(settled):
            verdicts.append("no")
        elif _DOES.search(settled):
            verdicts.append("yes")
    return verdicts[-1] if verdicts else None


# Multi-choice


def choice(text: str, choices: Sequence[str]) -> str | None:
    """One of `choices` or "unknown". Where a letter and a choice's own words disagree, the words count."""
    options = [*choices, "unknown"]
    bare = {_bare(option): option for option in reversed(options)}

    def at_start(text: str) -> str | None:
        return _option_first(text, options, bare)

    def in_sentences(text: str) -> str | None:
        return _option_said(text, options)

    return _read(text, at_start, in_sentences)


_LETTER_FIRST = re.compile(
    r"\W*(?:(?:option|choice|answer|letter)\s*:?\s*)?\(?\b([a-z])\b(?![\w'])\s*([).:\]–—-]*)[ \t]*", re.I
)


def _bare(text: str) -> str:
    between = re.search(r"\w(?:.*\w)?", without_markup(text).casefold(), re.DOTALL)
    return between[0] if between else ""


def _option_first(text: str, options: Sequence[str], bare: Mapping[str, str]) -> str | None:
    line, _, below = text.strip().partition("\n")
    listed = [re.match(r"\W*([a-z])\)", other, re.IGNORECASE) for other in (line, below.lstrip())]
    if listed[0] and listed[1] and listed[0][1] != listed[1][1]:
        return None  # the options once more, one a line
    if _bare(line) in bare:
        return bare[_bare(line)]
    letter = _LETTER_FIRST.match(line)
    if letter is None:
        return None
    rest = line[letter.end() :]
    if not letter[2] and rest.strip(" .,"):
        return None  # the word "a", or "I"
    if _bare(rest) in bare:
        return bare[_bare(rest)]
    if re.search(r"(?:^|[\s,;(])[b-z]\)", rest):
        return None  # the options once more
    index = ord(letter[1].lower()[0]) - ord("a")
    return options[index] if index < len(options) else None


def _option_said(text: str, options: Sequence[str]) -> str | None:
    if _all_named(text, [_bare(option) for option in options]):
        return None
    parts = _stated(text)
    concluding = [part[found.end() :] for part in parts if (found := _CONCLUDES.search(part))]
    conclusions = [names[0] for names in _named(concluding, options[:-1]) if len(set(names)) == 1]
    if conclusions:
        return conclusions[-1]
    if any(_UNKNOWN.search(part) or _SILENT.search(part) for part in parts):
        return options[-1]
    said = [match[1] or match[2] for match in _LETTER_SAID.finditer(text)]
    letters = {ord(letter.lower()) - ord("a") for letter in said if letter.isascii()}
    if len(letters) == 1 and max(letters) < len(options):
        return options[max(letters)]
    return _one([name for names in _named(parts, options[:-1]) for name in names])


_CONCLUDES = re.compile(
    r"(?:^|[,;:–—] ?|\band )(?:so|therefore|thus|hence|overall|in conclusion|based on|which means|meaning)\b"
    r"|\b(?:(?:is|are) (?:still|now|currently|therefore|thus|finally)|remains?|must be|ended up)\b",
    re.IGNORECASE,
)
_DENIED = (
    r"(?:(?<!\w)(?:not|never|no longer|neither|nor|rather than|instead of)|n't) "
    r"(?:(?:in|at|on|to|by|with|for|of|inside|into|from|be|been|a|an|the) )*"
)
_LETTER_SAID = re.compile(
    r"(?<!not )(?<!could )(?<!might )(?<!may )\b(?:is|be|it's|option|choice|answer|letter|with|choose|pick|select)"
    r" \(?([a-z])(?!\)?\s*(?:,|/|or\b|and\b)\s*(?:or |and )?\(?[a-z](?![\w']))(?:\)|(?=[.,;:!]|$))"
    r"|(?<![\w(])\(?([a-z])\) (?:is|must be|would be|seems|fits|matches)\b",
    re.IGNORECASE,
)


def _named(sentences: Sequence[str], choices: Sequence[str]) -> list[list[str]]:
    """The choices that each sentence mentions as whole words, longest first where they overlap, none that is denied."""
    bare = {_bare(option): option for option in reversed(choices) if _bare(option)}
    if not bare:
        return [[] for _ in sentences]
    longest_first = "|".join(re.escape(name) for name in sorted(bare, key=len, reverse=True))
    mentioned = re.compile(rf"({_DENIED})?(?<!\w)({longest_first})(?!\w)")
    return [
        [bare[match[2]] for match in mentioned.finditer(sentence.casefold()) if not match[1]] for sentence in sentences
    ]


# Ability

_CANNOT = re.compile(r"\b(?:not (?:possible|able)|impossible|unable|can ?not|can't|isn't possible)\b", re.IGNORECASE)
_CAN = re.compile(r"\b(?:possible|able|can)\b", re.IGNORECASE)


def ability(text: str) -> str | None:
    """ "yes" or "no"."""
    return _read(text, _yes_or_no_first, _able)


def _yes_or_no_first(text: str) -> str | None:
    match = re.match(r"\W*(yes|no|true|false)\b(?!\s*(?:/|or\b))", text, re.IGNORECASE)
    return {"yes": "yes", "true": "yes", "no": "no", "false": "no"}[match[1].lower()] if match else None


def _able(text: str) -> str | None:
    for sentence in sentences(text):
        if _CANNOT.search(sentence):
            return "no"
        if _CAN.search(sentence):
            return "yes"
    return None
