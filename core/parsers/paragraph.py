"""Edited paragraphs as today's chat models write them.

The parsed paragraph is one contiguous piece of the answer: what comes before it (an introduction, a label) and after it
(remarks on the edit) is left out, and marks that enclose the whole are removed. Nothing is removed from the middle,
except for three matters of form: escapes in a JSON text are resolved, each line of a block quote loses its ">", and the
tags of HTML paragraphs become blank lines, those of line breaks within them line ends.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import pairwise
from typing import Any

from ..text.patterns import anycase
from ..text.reply import cells_of, fenced, json_in, spoken, without_block_quote, without_echo
from .alignment import ARROW, aligned_part, aligned_with_marks, without_marks
from .cannot_tell import begins_as_refusal
from .remarks import COURTESY, asks_back, introduction_end, is_suggestions, without_remarks

_FIELDS = (
    "paragraph", "edited_paragraph", "redacted_paragraph", "revised_paragraph", "edited_text", "redacted_text",
    "edited", "redacted", "revised", "counterfactual", "redaction", "text", "output", "answer", "result",
)  # fmt: skip
_FIELD = anycase(r"paragraph|text|edited|redacted|revised|counterfactual")
_OTHER_FIELD = anycase(r"original|before|explan|note|change|reason|why")
_TAG = anycase(
    r"<(/?)((?:\w{1,20}[_-])?(?:paragraph|text|version)|edited(?:paragraph|text)?|redacted|revised|answer"
    r"|output|result|final)>"
)
_KIND = (
    r"(?:edited|revised|redacted|modified|updated|new|counterfactual|final|rewritten|changed|resulting|alternative"
    r"|corrected|altered|adapted|masked|reworded|rephrased)"
)
_THING = r"(?:paragraph|text|version|passage|review|story|premise|output|answer|redaction|edit)"
# Repetitions are bounded, and what may start on any line also ends on it. Otherwise blank lines would take quadratic
# time.
_MARKUP = r"[*_#>\s]{0,40}"
_MARKED = r"[*_#>\[\]\t ]{0,40}"
_NUMBERED = r"(?:option|candidate|version|alternative|paragraph|edit)\s*(?:\d+|[A-C]\b)"
_LABEL = re.compile(
    rf"(?:^{_MARKED}(?:(?:\d[.)]|[-•]) )?(?:(?:the|an?|my)\s+)?(?:(?:{_KIND}\s+){{1,4}}{_THING}(?:\s+(?:is"
    rf"|reads|would be"
    rf"|could be))?|paragraph(?:\s+(?:is|reads|would (?:be|read)|could be))?|p[aá]rrafo \w+|paragraphe \w+|absatz"
    rf"|{_NUMBERED}|edited|redacted|revised|updated|rewritten|modified|new|output|(?:final )?(?:answer|edit)"
    rf"|with the words \w+|after(?=[*_]{{0,3}}:))"
    rf"|\A{_MARKUP}(?:the\s+)?{_THING})(?:[ \t]*\([^()\n]*\))?{_MARKED}(?:[:：→]|[-=]>){_MARKUP}"
    rf"|^(?:#{{1,6}}[ \t]{{1,4}}\**|\*\*|__)(?:(?:{_KIND}[ \t]+){{1,4}}{_THING}|result|answer"
    rf"|output)[*_]{{0,3}}[ \t]*$|^\[(?:{_KIND}[ \t]+){{1,4}}{_THING}\][ \t]*$"
    rf"|^(?:{_KIND}[ \t]+){{1,4}}{_THING}[ \t]*\n[-=]{{3,40}}[ \t]*$|\A{_MARKUP}(?:result|response|a"
    rf"|q)[*_]{{0,3}}:(?=[ \t]*\n)|\A(?:a(?![^\n]{{0,400}} B:)|assistant):[ \t]"
    r"|^[^\w\n]{0,40}(?:here(?:'s|’s|\s+is)|alternatively|another)\b[^\n]{0,120}"
    rf"\b(?:{_THING}|option|alternative)\b[^\n]{{0,80}}:[*_ \t]*$|^[^\S\n]*or:?\s*$",
    re.IGNORECASE | re.MULTILINE,
)
_ORIGINAL = re.compile(
    rf"^{_MARKED}(?:(?:\d[.)]|[-•]) )?(?:the\s+)?original\b[^\n:]*:{_MARKUP}",
    re.IGNORECASE | re.MULTILINE,
)
_IN_LINE = anycase(
    rf"^\W{{0,40}}(?:here(?:'s|’s| is| are)\b[^\n:.]{{0,160}}\b{_THING}\b|(?:i|we)(?:'d| would|'ve"
    rf"| have)? (?:changed?|edit(?:ed)?|"
    r"rewrite|rewrote|redact(?:ed)?|revised?) (?:it|this|the \w+)\b)[^\n:.]{0,120}:[*_]{0,3}[ \t]*"
)
_BEFORE_QUOTE = anycase(
    r"^\W{0,40}(?:sure|certainly|of course|okay|ok|absolutely|here|below|the following|this is|i have|i've|to make|"
    rf"(?:the\s+)?{_KIND}\b)[^\n]{{0,200}}?[:：][*_]{{0,3}}[ \t]*(?=\"|“)"
)


_LABEL_ONLY = anycase(
    r"\W{0,9}(?:(?:the|its|my|this|new|overall|paragraph's) ){0,3}(?:(?:sentiment|answer|label|tone|paragraph"
    r"|text|review|statement)"
    r"(?: of (?:the|this) \w{1,12})?(?: is| would be| becomes|:)(?: now:?)? )?(?:positive|negative|neutral"
    r"|mixed|unknown|yes|no|none|n/a)\W{0,9}"
)
"""A reply that is only a label or an answer, instead of a paragraph."""


def paragraph(text: str, original: str = "") -> str | None:
    """Return the last paragraph offered, without introduction, label, quotes and closing remarks; `original` is the
    paragraph to be edited, if it is known.

    None for a refusal, a counter-question, and suggestions of how one might edit. The sources, in this order: a JSON
    field, <paragraph> tags, a code fence, the column of a table, HTML paragraphs, a label ("Edited paragraph:"), the
    text.
    """
    text = without_echo(spoken(text))
    if original:
        if edit := aligned_with_marks(text, original):
            return _clean(without_marks(edit, original), original)
        text = without_marks(text, original)
        if "|" in text and "|" not in original and (cell := _tabled(text.splitlines())):
            return _clean(cell, original)
    parsed = json_in(text) if "{" in text or text.startswith(('["', "`")) else None
    for _ in range(4):
        if isinstance(parsed, list) and len(parsed) == 1:
            parsed = parsed[0]
        elif isinstance(parsed, dict) and len(parsed) == 1 and isinstance(next(iter(parsed.values())), dict):
            parsed = next(iter(parsed.values()))
    if isinstance(parsed, str) and text.startswith(("[", "`")):
        return _clean(parsed)
    if isinstance(parsed, dict):
        value = _of_field(parsed, whole=text.startswith(("{", "[", "`")))
        if value is not None:
            return _clean(value)
    tagged = _last_tagged(text)
    if tagged is not None:
        return _clean(tagged)
    blocks = [block for block in fenced(text) if block.strip()]
    if blocks:
        edit = aligned_part(blocks[-1], original) if original else None
        return _clean(_after_label(blocks[-1])) if edit is None else _clean(edit, original)
    edit = aligned_part(text, original) if original else None
    is_whole = edit is not None and edit == text.strip()
    is_none = begins_as_refusal(text) or asks_back(text) or is_suggestions(text)
    if _LABEL_ONLY.fullmatch(text) or (is_none and not is_whole):
        return None
    if edit is not None:
        # A remaining arrow is between an old wording and a new one, and it is unknown where these begin and end.
        return None if ARROW.search(edit) and not ARROW.search(original) else _clean(edit, original)
    rest = _after_label(text)
    if original and rest == text:
        return None
    found = _tabled(text.splitlines()) or _html(text) or without_remarks(rest)
    return _clean(found)


def _last_tagged(text: str) -> str | None:
    """Return the text in the last pair of tags of one name; of nested pairs, the outer one counts. None if there is no
    pair.
    """
    tags = list(_TAG.finditer(text))
    # From the end, so that the nearest closing tag of each name is known when an opening one is found.
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


def _of_field(parsed: dict[str, Any], whole: bool) -> str | None:
    """Return the text in a field with a fitting name. Without one, return its longest text if the JSON is the `whole`
    reply, else None.
    """
    texts = {str(key).lower().replace(" ", "_"): value for key, value in parsed.items() if isinstance(value, str)}
    named = [texts[name] for name in _FIELDS if name in texts]
    named += [text for key, text in texts.items() if _FIELD.search(key) and not _OTHER_FIELD.search(key)]
    return named[0] if named else max(texts.values(), key=len, default="") if whole else None


_EDITED_COLUMN = anycase(rf"\W*(?:{_KIND}|after)\b")


def _tabled(lines: Sequence[str]) -> str | None:
    """Return the cell below a heading such as "Edited" in a table with one row, or beside it; None if there is none."""
    rows = cells_of(lines)
    named = [row[-1] for row in rows if len(row) == 2 and _EDITED_COLUMN.match(row[0]) and len(row[1].split()) > 2]
    if len(rows) > 3 and len(named) == 1:
        return named[0]
    if len(rows) != 3 or any(set(cell) - set(":- ") for cell in rows[1]):
        return None
    for column, heading in enumerate(rows[0][: len(rows[2])]):
        if _EDITED_COLUMN.match(heading):
            return rows[2][column]
    return None


_BLOCK_START = re.compile(r"^[ \t]*<(?:p|div|blockquote|section|article)\b[^<>\n]{0,200}>", re.I | re.MULTILINE)
_BLOCK_TAG = anycase(r"[ \t]*</?(?:p|div|blockquote|section|article)\b[^<>\n]{0,200}>[ \t]*")
_LINE_TAG = anycase(r"[ \t]*<br[ \t]{0,4}/?>[ \t]*\n?")


def _html(text: str) -> str | None:
    """Return the text from the first HTML paragraph that begins a line to the end of the last, with blank lines in
    between; None if there are no such paragraphs.
    """
    start = _BLOCK_START.search(text)
    tags = list(_BLOCK_TAG.finditer(text, start.start())) if start else []
    if len(tags) < 2 or "/" not in tags[-1][0][:4]:
        return None
    pieces = [text[before.end() : after.start()].strip() for before, after in pairwise(tags)]
    return "\n\n".join(_LINE_TAG.sub("\n", piece) for piece in pieces if piece)


_FOREIGN_LABEL = re.compile(r"\A[^\x00-\x7f:：]{2,20}[:：]\s{0,9}(?=[A-Za-z\"“])")
_CHANGE = re.compile(r"[^\n]{1,80} (?:→|->) [^\n]{1,80}")


def _after_label(text: str) -> str:
    """Return what follows the last label that has something after it; without a label, what follows the
    introduction.
    """
    end = len(text)
    for label in reversed(list(_LABEL.finditer(text))):
        after = text[label.end() : end]
        bare = after.strip()
        if not (_CHANGE.fullmatch(bare) or _LABEL_ONLY.fullmatch(bare)) and without_remarks("\n" + after).strip(
            ' \n*_"“”'
        ):
            original = _ORIGINAL.search(after)
            return after[: original.start()] if original else after
        end = label.start()
    text = text[:end] if text[:end].strip() else text
    text = re.sub(r"\A(?:~~[^\n]{1,4000}~~\s{0,9}){1,9}", "", text[introduction_end(text) :])
    text = _FOREIGN_LABEL.sub("", text)
    for opening in (_BEFORE_QUOTE, COURTESY, _IN_LINE):
        match = opening.match(text)
        if match:
            text = text[match.end() :]
    return text


_RULE = re.compile(r"\A(?:[-*_=]{3,}[ \t]*(?:\n|\Z))|(?:\n[-*_=]{3,}[ \t]*)\Z")
_ITEM = re.compile(r"(?:[-*•–][ \t]+|1[.)][ \t]+)(?=\S)")
_LETTER_BETWEEN = re.compile(r"(?<=\w)[’‘'](?=\w)")
_QUOTES = (("“", "”"), ("„", "“”"), ("«", "»"), ("»", "«"), ("「", "」"), ("『", "』"), ("‘", "’"))
_EMPHASIS = ("**", "__", "*", "_", "``", "`")


_ONE_TAG = anycase(r"\A<([a-z][a-z_-]{0,30})>\s*([^<]*)</\1>\Z")


def _clean(text: str, original: str = "") -> str | None:
    """Remove the marks that enclose the whole: rules, quotes, bold, block quotes, a single bullet; none of them if the
    original is enclosed in such marks. None if nothing is left.
    """
    if original and _clean(original) != original.strip():
        return text.strip() or None
    text = re.sub(r"\A\\(?:boxed|text)\{(.*)\}\Z", r"\1", text.strip(), flags=re.DOTALL)
    for _ in range(4):
        before = text
        text = _RULE.sub("", text).strip()
        text = without_block_quote(text).strip()
        if len(text.splitlines()) == 1:
            text = _ITEM.sub("", text, count=1) if _ITEM.match(text) else text
        text = _ONE_TAG.sub(r"\2", _unquoted(_unmarked(text)))
        if text == before:
            break
    return text if re.search(r"\w", text) else None


def _unmarked(text: str) -> str:
    for mark in _EMPHASIS:
        inner = text[len(mark) : -len(mark)]
        if text.startswith(mark) and text.endswith(mark) and inner.strip(mark) and mark not in inner:
            return inner.strip()
    return text


def _unquoted(text: str) -> str:
    """Remove quotes around the whole. "Run," she said, "now." begins and ends with a quote, but they do not
    enclose it.
    """
    if len(text) < 3:
        return text
    inner = text[1:-1]
    if text[0] == text[-1] == '"':
        first = inner.find('"')
        opens = first == 0 or re.fullmatch(r"[^\w.!?][\"][\w(\[‘'$]", inner[first - 1 : first + 2])
        return inner.strip() if first < 0 or (opens and inner.count('"') % 2 == 0) else text
    for opening, closing in _QUOTES:
        if text[0] == opening and text[-1] in closing:
            depth = 0
            for mark in _LETTER_BETWEEN.sub("", inner):
                depth += (mark == opening) - (mark in closing)
                if depth < 0:
                    return text
            return inner.strip()
    if text[0] == text[-1] == "'" and "'" not in _LETTER_BETWEEN.sub("", inner):
        return inner.strip()
    return text
