"""What chat models put around an answer: hidden reasoning, code fences, JSON, markdown."""

from __future__ import annotations

import json
import re
from typing import Any

_THOUGHT_END = re.compile(r"</(?:think|thinking|thought|reasoning)>", re.IGNORECASE)
_THOUGHT_START = re.compile(r"<(?:think|thinking|thought|reasoning)>.*", re.DOTALL | re.IGNORECASE)
_FENCE = re.compile(r"^[ \t]*(```|~~~)[^\n]*\n(.*?)(?:^[ \t]*\1|\Z)", re.DOTALL | re.MULTILINE)
_TRIES = 20


def spoken(text: str) -> str:
    """`text` without the reasoning in <think> tags. An unclosed tag hides everything after it."""
    thoughts = 0
    for end in _THOUGHT_END.finditer(text):
        thoughts = end.end()
    return _THOUGHT_START.sub("", text[thoughts:]).strip()


def fenced(text: str) -> list[str]:
    """The contents of the code fences in `text`, in order; a fence may be left open at the end."""
    return [block[2].strip("\n") for block in _FENCE.finditer(text)]


def json_in(text: str) -> dict[str, Any] | list[Any] | None:
    """The first JSON object or non-empty array in `text`, else None."""
    decoder = json.JSONDecoder()
    for start in list(re.finditer(r"[{\[]", text))[:_TRIES]:
        try:
            value, _ = decoder.raw_decode(text, start.start())
        except (ValueError, RecursionError):
            continue
        if value:
            return value  # type: ignore[no-any-return]
    return None


def without_markup(text: str) -> str:
    r"""`text` without emphasis, quotes, headings and fences; \boxed{x} becomes "final answer: x"."""
    text = re.sub(r"\${0,2}\\boxed\s*\{(?:\\text\s*\{)?([^{}]*)\}+\${0,2}", r"final answer: \1", text)
    text = re.sub(r"^[ \t]*(?:```|~~~).*$", "", text, flags=re.MULTILINE)
    text = re.sub(r"^[ \t]*(?:#+|>+)[ \t]*", "", text, flags=re.MULTILINE)
    text = re.sub(r"</?\w+\s*/?>", "", text)
    text = re.sub(r"""[*_`"“”„«»]|(?<!\w)['‘’]|['‘’](?!\w)""", "", text)
    return text.replace("’", "'").replace("\u00a0", " ").strip()


def sentences(text: str) -> list[str]:
    """`text` cut at full stops, exclamation and question marks, semicolons and line ends."""
    return [part.strip() for part in re.split(r"(?<=[.!?;])\s+|\n+", text) if part.strip()]
