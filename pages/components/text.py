"""Text written by a model or a person, made safe for Streamlit's Markdown: it is displayed, never interpreted."""

import re

from core.scene import Part
from core.text.display import directed

_PUNCTUATION = re.compile(r"([!-/:-@\[-`{-~])")
# Emoji codes, bare links and e-mail addresses are recognised after Markdown's escapes are undone. A word joiner, which
# has no width, prevents that; the exact text is in the raw answer.
_FOUND_LATE = re.compile(r"(?i)(:(?=[\w+-])|\bwww(?=\.)|\bhttps?(?=:)|@)")
# Four spaces would begin a code block.
_INDENT = re.compile(r"(?<=\n)[ \t]+|^[ \t]{4,}")
_JOINER = "\u2060"


def plain(text: str) -> str:
    """Return Markdown that shows exactly the characters of `text`, line breaks included."""
    joined = _FOUND_LATE.sub(rf"\1{_JOINER}", directed(text))
    escaped = _PUNCTUATION.sub(r"\\\1", joined)
    return _INDENT.sub(lambda found: "\u00a0" * len(found[0]), escaped).replace("\n", "  \n")


def emphasised(text: str) -> str:
    """Return Markdown of `text` in which only *words between asterisks* are interpreted: they are set in bold."""
    parts = re.split(r"\*([^*\n]+)\*", text)
    return "".join(f"**{plain(part.strip())}**" if place % 2 else plain(part) for place, part in enumerate(parts))


def part_markdown(part: Part) -> str:
    """Return Markdown of a scene's text, with marked spans in bold."""
    said, at = "", 0
    for span in part.spans:
        said += f"{plain(part.text[at : span.start])}**{plain(part.text[span.start : span.end].strip())}**"
        at = span.end
    return said + plain(part.text[at:])


def shortened(text: str, most: int = 100) -> str:
    """Return `text` as one line of at most `most` characters."""
    line = " ".join(text[: 4 * most].split())
    return line if len(line) <= most and len(text) <= 4 * most else f"{line[: most - 1].rstrip()}…"
