"""Text that a model or a person wrote, made safe to stand inside Streamlit's Markdown: it is shown, never obeyed."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable

from core.scene import Part

_PUNCTUATION = re.compile(r"([!-/:-@\[-`{-~])")
# Emoji codes, bare links and e-mail addresses are found in the text after Markdown's escapes are undone. A word joiner,
# which has no width, keeps them from being recognised; the exact text stands in the raw answer.
_FOUND_LATE = re.compile(r"(?i)(:(?=[\w+-])|\bwww(?=\.)|\bhttps?(?=:)|@)")
# Four spaces would begin a block of code.
_INDENT = re.compile(r"(?<=\n)[ \t]+|^[ \t]{4,}")
_JOINER = "\u2060"


def plain(text: str) -> str:
    """`text` as Markdown that shows exactly its characters, line breaks included."""
    joined = _FOUND_LATE.sub(rf"\1{_JOINER}", text)
    escaped = _PUNCTUATION.sub(r"\\\1", joined)
    return _INDENT.sub(lambda found: "\u00a0" * len(found[0]), escaped).replace("\n", "  \n")


def marked(pieces: Iterable[tuple[str, bool]]) -> str:
    """Markdown of (text, marked?) pieces; marked ones stand out."""
    return "".join(f":primary-background[{plain(text)}]" if mark else plain(text) for text, mark in pieces)


def tinted(text: str, colour: str, struck: bool = False) -> str:
    """Markdown of `text` on a coloured ground, line by line: a colour cannot reach across paragraphs."""
    lines = []
    for line in text.split("\n"):
        inner = line.strip()
        start = line[: len(line) - len(line.lstrip())]
        shown = f"~~{plain(inner)}~~" if struck else plain(inner)
        lines.append(f"{start}:{colour}-background[{shown}]{line[len(start) + len(inner) :]}" if inner else line)
    return "  \n".join(lines)


def difference(pieces: Iterable[tuple[str, str]]) -> str:
    """Markdown of (same | removed | added, text) pieces: what went is struck out on red, what came is on green."""
    drawn: dict[str, Callable[[str], str]] = {
        "same": plain,
        "removed": lambda text: tinted(text, "red", struck=True),
        "added": lambda text: tinted(text, "green"),
    }
    return "".join(drawn[op](text) for op, text in pieces)


_UNSEEN = re.compile(r"^ +| +$| {2,}| (?=\n)|[\t\n\r\f\v\u00a0]+")
_SIGNS = str.maketrans({" ": "␠", "\u00a0": "⍽", "\t": "⇥", "\n": "↵", "\r": "␍", "\f": "␌", "\v": "␋"})


def visible(text: str, every: bool = False) -> str:
    """`text` with signs for the white space that nobody would see: at its ends, in a row, tabs, the ends of lines; or
    for `every` space of it. For texts that are compared letter by letter.
    """
    if every:
        return text.translate(_SIGNS)
    return _UNSEEN.sub(lambda found: found[0].translate(_SIGNS), text)


def masked(text: str, mask: str) -> str:
    """Markdown of `text` with its masks on orange."""
    parts = re.split(f"({re.escape(mask)})", text, flags=re.IGNORECASE)
    return "".join(tinted(part, "orange") if place % 2 else plain(part) for place, part in enumerate(parts))


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


LONG = 600
"""Characters. A longer text is not set large."""


def large(text: str) -> str:
    """Markdown of `text` in large letters: as headings, line by line, for Markdown knows no others."""
    if len(text) > LONG:
        return plain(text)
    return "\n".join(f"#### {plain(line.strip())}" for line in text.split("\n") if line.strip())
