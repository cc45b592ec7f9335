"""Text that a model or a person wrote, made safe to stand inside Streamlit's Markdown: it is shown, never obeyed."""

from __future__ import annotations

import re

from core.scene import Part
from core.text.whitespace_marks import directed

_PUNCTUATION = re.compile(r"([!-/:-@\[-`{-~])")
# Emoji codes, bare links and e-mail addresses are found in the text after Markdown's escapes are undone. A word joiner,
# which has no width, keeps them from being recognised; the exact text stands in the raw answer.
_FOUND_LATE = re.compile(r"(?i)(:(?=[\w+-])|\bwww(?=\.)|\bhttps?(?=:)|@)")
# Four spaces would begin a block of code.
_INDENT = re.compile(r"(?<=\n)[ \t]+|^[ \t]{4,}")
_JOINER = "\u2060"


def plain(text: str) -> str:
    """`text` as Markdown that shows exactly its characters, line breaks included."""
    joined = _FOUND_LATE.sub(rf"\1{_JOINER}", directed(text))
    escaped = _PUNCTUATION.sub(r"\\\1", joined)
    return _INDENT.sub(lambda found: "\u00a0" * len(found[0]), escaped).replace("\n", "  \n")


def emphasised(text: str) -> str:
    """Markdown of `text`, in which only *words between asterisks* are obeyed: they are set in bold."""
    parts = re.split(r"\*([^*\n]+)\*", text)
    return "".join(f"**{plain(part.strip())}**" if place % 2 else plain(part) for place, part in enumerate(parts))


def told(part: Part) -> str:
    """Markdown of a text of a scene, of which what has a mark is set in bold."""
    said, at = "", 0
    for span in part.spans:
        said += f"{plain(part.text[at : span.start])}**{plain(part.text[span.start : span.end].strip())}**"
        at = span.end
    return said + plain(part.text[at:])


def shortened(text: str, most: int = 100) -> str:
    """`text` in one line of at most `most` characters."""
    line = " ".join(text[: 4 * most].split())
    return line if len(line) <= most and len(text) <= 4 * most else f"{line[: most - 1].rstrip()}…"
