"""Text that a model or a person wrote, made safe to stand inside Streamlit's Markdown: it is shown, never obeyed."""

from __future__ import annotations

import re
from collections.abc import Iterable

_PUNCTUATION = re.compile(r"([!-/:-@\[-`{-~])")
# Emoji codes, bare links and e-mail addresses are found in the text after Markdown's escapes are undone. A word joiner,
# which has no width, keeps them from being recognised; the exact text stands in the raw answer.
_FOUND_LATE = re.compile(r"(?i)(:(?=[\w+-])|\bwww(?=\.)|\bhttps?(?=:)|@)")
_JOINER = "\u2060"


def plain(text: str) -> str:
    """`text` as Markdown that shows exactly its characters, line breaks included."""
    joined = _FOUND_LATE.sub(rf"\1{_JOINER}", text)
    escaped = _PUNCTUATION.sub(r"\\\1", joined)
    return escaped.replace("\n", "  \n")


def marked(pieces: Iterable[tuple[str, bool]]) -> str:
    """Markdown of (text, marked?) pieces; marked ones stand out."""
    return "".join(f":primary-background[{plain(text)}]" if mark else plain(text) for text, mark in pieces)
