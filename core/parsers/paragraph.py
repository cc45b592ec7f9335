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

from ..text.reply import cells_of, fenced, json_in, spoken, without_block_quote, without_echo
from .alignment import aligned_part, aligned_with_marks, without_marks
from .cannot_tell import begins_as_refusal
from .phrases import RE
from .remarks import asks_back, introduction_end, is_suggestions, without_remarks

_FIELDS = (
    "paragraph", "edited_paragraph", "redacted_paragraph", "revised_paragraph", "edited_text", "redacted_text",
    "edited", "redacted", "revised", "counterfactual", "redaction", "text", "output", "answer", "result",
)  # fmt: skip
# Repetitions are bounded, and what may start on any line also ends on it. Otherwise blank lines would take quadratic
# time.


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
    if RE.is_label.fullmatch(text) or (is_none and not is_whole):
        return None
    if edit is not None:
        # A remaining arrow is between an old wording and a new one, and it is unknown where these begin and end.
        return None if RE.arrow.search(edit) and not RE.arrow.search(original) else _clean(edit, original)
    rest = _after_label(text)
    if original and rest == text:
        return None
    found = _tabled(text.splitlines()) or _html(text) or without_remarks(rest)
    return _clean(found)


def _last_tagged(text: str) -> str | None:
    """Return the text in the last pair of tags of one name; of nested pairs, the outer one counts. None if there is no
    pair.
    """
    tags = list(RE.paragraph_tag.finditer(text))
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
    named += [text for key, text in texts.items() if RE.paragraph_field.search(key) and not RE.other_field.search(key)]
    return named[0] if named else max(texts.values(), key=len, default="") if whole else None


def _tabled(lines: Sequence[str]) -> str | None:
    """Return the cell below a heading such as "Edited" in a table with one row, or beside it; None if there is none."""
    rows = cells_of(lines)
    named = [row[-1] for row in rows if len(row) == 2 and RE.edited_column.match(row[0]) and len(row[1].split()) > 2]
    if len(rows) > 3 and len(named) == 1:
        return named[0]
    if len(rows) != 3 or any(set(cell) - set(":- ") for cell in rows[1]):
        return None
    for column, heading in enumerate(rows[0][: len(rows[2])]):
        if RE.edited_column.match(heading):
            return rows[2][column]
    return None


def _html(text: str) -> str | None:
    """Return the text from the first HTML paragraph that begins a line to the end of the last, with blank lines in
    between; None if there are no such paragraphs.
    """
    start = RE.block_start.search(text)
    tags = list(RE.block.finditer(text, start.start())) if start else []
    if len(tags) < 2 or "/" not in tags[-1][0][:4]:
        return None
    pieces = [text[before.end() : after.start()].strip() for before, after in pairwise(tags)]
    return "\n\n".join(RE.line_tag.sub("\n", piece) for piece in pieces if piece)


def _after_label(text: str) -> str:
    """Return what follows the last label that has something after it; without a label, what follows the
    introduction.
    """
    end = len(text)
    for label in reversed(list(RE.paragraph_label.finditer(text))):
        after = text[label.end() : end]
        bare = after.strip()
        if not (RE.change.fullmatch(bare) or RE.is_label.fullmatch(bare)) and without_remarks("\n" + after).strip(
            ' \n*_"“”'
        ):
            original = RE.original.search(after)
            return after[: original.start()] if original else after
        end = label.start()
    text = text[:end] if text[:end].strip() else text
    text = re.sub(r"\A(?:~~[^\n]{1,4000}~~\s{0,9}){1,9}", "", text[introduction_end(text) :])
    text = RE.foreign_label.sub("", text)
    for opening in (RE.before_quote, RE.courtesy, RE.in_line):
        match = opening.match(text)
        if match:
            text = text[match.end() :]
    return text


_QUOTES = (("“", "”"), ("„", "“”"), ("«", "»"), ("»", "«"), ("「", "」"), ("『", "』"), ("‘", "’"))
_EMPHASIS = ("**", "__", "*", "_", "``", "`")


def _clean(text: str, original: str = "") -> str | None:
    """Remove the marks that enclose the whole: rules, quotes, bold, block quotes, a single bullet; none of them if the
    original is enclosed in such marks. None if nothing is left.
    """
    if original and _clean(original) != original.strip():
        return text.strip() or None
    text = re.sub(r"\A\\(?:boxed|text)\{(.*)\}\Z", r"\1", text.strip(), flags=re.DOTALL)
    for _ in range(4):
        before = text
        text = RE.rule.sub("", text).strip()
        text = without_block_quote(text).strip()
        if len(text.splitlines()) == 1:
            text = RE.paragraph_item.sub("", text, count=1) if RE.paragraph_item.match(text) else text
        text = RE.one_tag.sub(r"\2", _unquoted(_unmarked(text)))
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
            for mark in RE.letter_between.sub("", inner):
                depth += (mark == opening) - (mark in closing)
                if depth < 0:
                    return text
            return inner.strip()
    if text[0] == text[-1] == "'" and "'" not in RE.letter_between.sub("", inner):
        return inner.strip()
    return text
