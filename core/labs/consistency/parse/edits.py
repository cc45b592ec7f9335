"""Lists of words and edited paragraphs as today's chat models write them."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any

from core.labs.consistency.parse.unwrap import fenced, json_in, spoken

# Lists of words

_LONGEST_PHRASE = 12
"""In words. What is longer is a sentence about the words, not one of them."""

_BULLET = re.compile(
    r"^[ \t]*(?:[-*•–—‣◦▪●·+](?=[ \t]|[\"“'‘*`\w])|\(?\d+[.):](?!\d)|\(?[a-zA-Z][.)](?=[ \t]))[ \t]*(.+)$"
)
_ROW = re.compile(r"^[ \t]*\|[ \t]*([^|]+?)[ \t]*\|")
_QUOTED = re.compile(
    r"\"([^\"\n]+)\"|“([^“”\n]+)”|«([^«»\n]+)»|`([^`\n]+)`|(?<!\w)['‘]([^'‘’\n]+(?:['’]\w+)*)['’](?!\w)"
)
_BOLD = re.compile(r"\*\*([^*\n]+)\*\*|__([^_\n]+)__|(?<![\w*])\*([^*\s][^*\n]*)\*(?![\w*])")
_NOTE = re.compile(r"\s+[(\[](?!REDACTED|REMOVED).*$|\s*(?:[–—]|(?<=\s)-(?=\s)|->|→|=>)\s.*$|:\s+\S.*$|:\s*$")
_CATEGORIES = (
    r"[^:]*\b(?:words?|terms?|phrases?|sentiments?|adjectives|verbs|nouns|adverbs|positive|negative|neutral|keywords?"
    r"|names?|objects|places|locations|list|answer)"
)
_CATEGORY = re.compile(rf"^{_CATEGORIES}\W*:\s*(?=\S)", re.IGNORECASE)
_HEADING = re.compile(rf"(?:{_CATEGORIES}|[^*\"“`]*)[*_]*:[*_ \t]*$", re.IGNORECASE)
_NONE = re.compile(r"^\W*(?:none|n/?a|nothing|there are no\b.*|no (?:important )?words\b.*)\W*$", re.IGNORECASE)
_ARE = re.compile(
    r"\b(?:words?|terms?|phrases?)\b[^.:\n]{0,200}?\b(?:is|are|include|would be)\b\s*:?\s*(.+)$", re.IGNORECASE
)


def word_list(text: str) -> list[str] | None:
    """JSON, bulleted or numbered lines, a table's first column, quoted or bold words, between commas or one per line.

    Notes in brackets or after a dash or colon are left out, and so are repetitions.
    """
    text = spoken(text)
    parsed = json_in(text)
    if parsed is not None:
        return _tidy(_strings(parsed))
    lines = [line for line in text.splitlines() if line.strip() and not re.match(r"\s*(?:```|~~~)", line)]
    words = _listed(lines) or _tabled(lines) or _running("\n".join(lines)) or _one_a_line(lines)
    return _tidy(words)


def _strings(parsed: Any) -> list[str]:
    """The strings in JSON: array items, the "word" field of objects, else every array in an object."""
    if isinstance(parsed, str):
        return [parsed]
    if isinstance(parsed, list):
        return [string for entry in parsed for string in _strings(entry)]
    if isinstance(parsed, dict):
        for name in ("word", "phrase", "token", "term", "text"):
            if isinstance(parsed.get(name), str):
                return [parsed[name]]
        inner = [value for value in parsed.values() if isinstance(value, list | dict)]
        if inner:
            return [string for value in inner for string in _strings(value)]
        texts = [value for value in parsed.values() if isinstance(value, str)]
        if len(texts) == 1 and "," in texts[0]:
            return texts[0].split(",")
        return texts[:1] if len(parsed) == 1 else [str(name) for name in parsed]
    return []


def _listed(lines: Iterable[str]) -> list[str]:
    """What stands on list lines. Deeper ones count only below a heading ("- Praise:"): below a word they explain it."""
    bullets = [(len(line) - len(line.lstrip()), bullet[1]) for line in lines if (bullet := _BULLET.match(line))]
    outermost = min((indent for indent, _ in bullets), default=0)
    below_heading = True
    words: list[str] = []
    for indent, content in bullets:
        if indent <= outermost:
            below_heading = bool(_HEADING.match(content))
        if not _HEADING.match(content) and (indent <= outermost or below_heading):
            words += _entries(content)
    return words


def _entries(content: str) -> list[str]:
    """The words of one list line: what stands in front of its note; several where they are quoted or after commas."""
    content = " ".join(content.split())
    category = _CATEGORY.match(content)
    if category:
        content = content[category.end() :]
    quoted = [_first_group(match) for match in _QUOTED.finditer(_before_note(content))]
    if quoted and re.match(r"\W*[\"“«`'‘]", content):
        return quoted
    bold = _BOLD.match(content)
    if bold:
        return _split(_first_group(bold).rstrip(": "))
    return _split(_before_note(content))


def _before_note(content: str) -> str:
    return _NOTE.sub("", content)


def _tabled(lines: Iterable[str]) -> list[str]:
    cells = [row[1] for row in map(_ROW.match, lines) if row]
    return [cell for cell in cells[1:] if not re.fullmatch(r":?-+:?", cell)]


def _running(text: str) -> list[str]:
    """Quoted, else bold, else between commas after the colon of an introduction."""
    for marks in (_QUOTED, _BOLD):
        words = [_first_group(match) for match in marks.finditer(_without_introduction(text, marks))]
        if words:
            return words
    words = []
    for line in text.splitlines():
        _, colon, after = line.rpartition(":")
        said = after if colon else line
        are = _ARE.search(line)
        if not colon and are:
            said = are[1]
        if colon and not after.strip():
            continue
        if re.search("[,;]", said) or colon or are:
            words += _split(said)
    return words


def _without_introduction(text: str, marks: re.Pattern[str]) -> str:
    """`text` from its first colon on, where words are marked there."""
    _, _, after = text.partition(":")
    return after if marks.search(after) else text


def _one_a_line(lines: list[str]) -> list[str]:
    below = [line for line in lines if not line.rstrip(" *_").endswith(":")]
    return below if all(len(line.split()) <= 4 for line in below) else []


def _split(text: str) -> list[str]:
    """At commas, semicolons and spaced slashes; in such a list "and" or "or" parts the last two words."""
    parts = re.split(r"\s*[,;]\s*|\s+/\s+", re.sub(r"\s+", " ", text))
    if len(parts) == 1:
        return parts
    *rest, last = parts
    return [*rest, *re.split(r"^(?:and|or|&)\s+|\s+(?:and|or|&)\s+", last, flags=re.IGNORECASE)]


def _first_group(match: re.Match[str]) -> str:
    return next(group for group in match.groups() if group is not None)


def _tidy(words: Iterable[str]) -> list[str] | None:
    tidy: dict[str, str] = {}
    for word in words:
        word = " ".join(word.split()).strip(" *_`\"“”«»'‘’.,;:")
        if word and len(word.split()) <= _LONGEST_PHRASE and not _NONE.match(word):
            tidy.setdefault(word.casefold(), word)
    return list(tidy.values()) or None


# Paragraphs

_FIELDS = (
    "paragraph", "edited_paragraph", "redacted_paragraph", "revised_paragraph", "edited_text", "redacted_text",
    "edited", "redacted", "revised", "counterfactual", "redaction", "text", "output", "answer", "result",
)  # fmt: skip
_TAG = re.compile(
    r"<(/?)((?:edited|redacted|revised)?[_-]?(?:paragraph|text)|edited|redacted|answer|output)>", re.IGNORECASE
)
_KIND = r"(?:edited|revised|redacted|modified|updated|new|counterfactual|final|rewritten|changed|resulting|alternative)"
_THING = r"(?:paragraph|text|version|passage|review|story|premise|output|answer|redaction|edit)"
# Bounded, and what may start at any line ends with it: otherwise blank lines cost their square, or forty times as much.
_MARKUP = r"[*_#>\s]{0,40}"
_MARKED = r"[*_#>\t ]{0,40}"
_NUMBERED = r"(?:option|candidate|version|alternative|paragraph|edit)\s*(?:\d+|[A-C]\b)"
_LABEL = re.compile(
    rf"(?:^{_MARKED}(?:(?:the|an?)\s+)?"
    rf"(?:(?:{_KIND}\s+){{1,4}}{_THING}(?:\s+(?:is|reads|would be|could be))?"
    rf"|paragraph|{_NUMBERED}|edited|redacted|revised)"
    rf"|\A{_MARKUP}(?:the\s+)?{_THING})(?:[ \t]*\([^()\n]*\))?{_MARKED}[:：]{_MARKUP}"
    r"|^[^\w\n]{0,40}(?:here(?:'s|’s|\s+is)|alternatively|another)\b[^\n]{0,120}"
    rf"\b(?:{_THING}|option|alternative)\b[^\n]{{0,80}}:[*_ \t]*$"
    r"|^[^\S\n]*or:?\s*$",
    re.IGNORECASE | re.MULTILINE,
)
_ORIGINAL = re.compile(rf"^{_MARKED}(?:the\s+)?original\b[^\n:]*:{_MARKUP}", re.IGNORECASE | re.MULTILINE)
_INTRODUCTION = re.compile(
    r"^\W*(?:sure|certainly|of course|okay|ok|absolutely|here|below|the following|this is|i have|i've|to make|"
    rf"(?:the\s+)?(?:{_KIND})\b)[^\n]{{0,200}}?[:：][*_]*[ \t]*(?=\n|\"|“|$)",
    re.IGNORECASE,
)
_COURTESY = re.compile(
    r"^\W*(?:sure|certainly|of course|okay|ok|absolutely)(?: thing)?[!.,]+[ \t]*(?=\S)", re.IGNORECASE
)
_HERE = re.compile(
    rf"^\W*here(?:'s|’s| is| are)\b[^\n:.]{{0,160}}\b{_THING}\b[^\n:.]{{0,120}}(?::[*_]*[ \t]*|\.?[ \t]*\n+)", re.I
)
_AFTERWORD = re.compile(
    r"(?<!\s)(?=[^\S\n]*\n)\s++(?:[-*_]{3,}\s*(?:\n|$)|[*_#(\[]*(?:note|notes|explanation|changes|change|reasoning|rationale|justification|"
    r"edits?|words? redacted|redacted words?|masked words?|key changes|summary)\b[^\n]{0,40}?:|"
    r"\(?(?:in this (?:version|edit|revision)|this (?:edit|version|redaction|change|revision)|"
    r"i (?:changed|replaced|removed|redacted|edited|made|have|only|simply|kept|swapped|masked)|"
    r"the (?:edit|change|changes|edits|redacted words|words? (?:redacted|masked|changed))\b|"
    r"let me know|without these words|by (?:replacing|changing|removing|redacting)|hope this)\b)",
    re.IGNORECASE,
)
_ASIDE = re.compile(
    r"(?<!\s)\s*\((?:note|changed?|edit(?:ed)?|replaced|redacted|i (?:changed|replaced))\b[^()\n]*\)\s*$", re.IGNORECASE
)
_REFUSAL = re.compile(
    r"^\W*(?:(?:i['’]?m (?:very |so )?sorry|i am sorry|sorry|i apologi[sz]e|unfortunately)\b"
    r"[^.\n]{0,60}?\b(?:i|as an)\b[^.\n]{0,60}?(?:can['’]?t|can ?not|unable|won['’]?t|not able|don['’]t)"
    r"|as an? (?:ai|large|language)\b"
    r"|i (?:can['’]?t|can ?not|won['’]?t|am unable to|am not able to|['’]m unable to|['’]m not able to)"
    r" (?:assist|help(?! but)|edit|redact|provide|fulfil|comply|do|complete|make|determine|create|generate)\b"
    r"|i['’]m (?:unable|not able) to\b)",
    re.IGNORECASE,
)


def paragraph(text: str) -> str | None:
    """The last paragraph offered, without introduction, label, quotes and closing remarks; None for a refusal.

    Read from, in this order: a JSON field, <paragraph> tags, a code fence, a label ("Edited paragraph:"), the text.
    """
    text = spoken(text)
    parsed = json_in(text) if text.startswith(("{", "`")) else None
    if isinstance(parsed, dict):
        return _clean(_longest_text(parsed))
    tagged = _last_tagged(text)
    if tagged is not None:
        return _clean(tagged)
    blocks = [block for block in fenced(text) if block.strip()]
    if blocks:
        return _clean(_after_label(blocks[-1]))
    if _REFUSAL.match(text):
        return None
    return _clean(_without_afterword(_after_label(text)))


def _last_tagged(text: str) -> str | None:
    """What stands between the last pair of tags of one name; of nested pairs the outer one counts."""
    tags = list(_TAG.finditer(text))
    # From the end, so that each opening tag knows the nearest closing one of its name at once.
    closing: dict[str, re.Match[str]] = {}
    pairs: list[tuple[re.Match[str], re.Match[str]]] = []
    for tag in reversed(tags):
        name = tag[2].lower()
        if tag[1]:
            closing[name] = tag
        elif name in closing:
            pairs.append((tag, closing[name]))
    last, end = None, 0
    for opening, closed in reversed(pairs):
        if opening.start() >= end:
            last, end = text[opening.end() : closed.start()], closed.end()
    return last


def _longest_text(parsed: dict[str, Any]) -> str:
    for name in _FIELDS:
        for key, value in parsed.items():
            if isinstance(value, str) and str(key).lower().replace(" ", "_") == name:
                return value
    return max((value for value in parsed.values() if isinstance(value, str)), key=len, default="")


def _after_label(text: str) -> str:
    """What follows the last label with something after it; without one, what follows the introduction."""
    end = len(text)
    for label in reversed(list(_LABEL.finditer(text))):
        after = text[label.end() : end]
        if _without_afterword("\n" + after).strip(' \n*_"“”'):
            original = _ORIGINAL.search(after)
            return after[: original.start()] if original else after
        end = label.start()
    text = text[:end] if text[:end].strip() else text
    for opening in (_INTRODUCTION, _COURTESY, _HERE):
        match = opening.match(text)
        if match:
            text = text[match.end() :]
    return text


def _without_afterword(text: str) -> str:
    match = _AFTERWORD.search(text)
    while match and not text[: match.start()].strip():
        match = _AFTERWORD.search(text, match.end())
    return _ASIDE.sub("", text[: match.start()] if match else text)


_PAIRS = (('"', '"'), ("“", "”"), ("«", "»"), ("**", "**"), ("`", "`"), ("<p>", "</p>"))


def _clean(text: str) -> str | None:
    """Without the marks that enclose the whole: quotes, bold, block quotes."""
    text = text.strip()
    lines = text.splitlines()
    if lines and all(line.startswith(">") or not line.strip() for line in lines):
        text = "\n".join(re.sub(r"^>\s?", "", line) for line in lines).strip()
    for opening, closing in _PAIRS * 2:
        inner = text[len(opening) : -len(closing)]
        if text.startswith(opening) and text.endswith(closing) and inner and closing not in inner:
            text = inner.strip()
    return text if re.search(r"\w", text) else None
