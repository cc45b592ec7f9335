"""Removes what a chat model wraps around its answer: thinking, markdown, JSON, a second example it was not asked
for.
"""

import ast
import contextlib
import json
import re
from collections.abc import Iterable
from functools import lru_cache
from itertools import islice
from typing import Any, NamedTuple

# Separates a model's thinking from its answer, in every form in which thinking appears as text.


_TAG = re.compile(
    r"<(/?)(?:seed:)?(?:think|thinking|thought|reasoning)>|\[(/?)THINK\]|◁(/?)think▷|<\|(begin|end)_of_thought\|>",
    re.IGNORECASE,
)
_CHANNEL = re.compile(r"<\|channel\|>[ ]?(analysis|commentary|final)\b[^<\n]{0,200}<\|message\|>")
_BARE_CHANNEL = re.compile(r"assistant(analysis|commentary|final)")
_BARE_START = re.compile(r"\A\s*analysis(?=[A-Z\d\"'“(])")
"""Harmony channels whose marks a server has removed: "analysisWe need …assistantfinalYes."."""

OPENING = re.compile(
    r"\s*(?:<(?:seed:)?(?:think|thinking|thought|reasoning)>|\[THINK\]|◁think▷|<\|begin_of_thought\|>"
    r"|<\|channel\|>|analysis(?=[A-Z\d\"'“(]))",
    re.IGNORECASE,
)
"""Matches at the start of a text that begins with thinking."""

CLOSING = re.compile(
    r"</(?:seed:)?(?:think|thinking|thought|reasoning)>|\[/THINK\]|◁/think▷|<\|end_of_thought\|>"
    r"|<\|channel\|>[ ]?final\b[^<\n]{0,200}<\|message\|>|assistantfinal",
    re.IGNORECASE,
)
"""Matches where thinking ends and an answer begins."""

LONGEST_MARK = 240
"""Longest possible match of CLOSING, in characters."""


class Split(NamedTuple):
    """A text split into thinking and answer. `spans` are the positions of the answer's pieces in the text, as (start,
    end).
    """

    thinking: str
    spans: tuple[tuple[int, int], ...]
    text: str

    @property
    def answer(self) -> str:
        """The pieces of the answer, joined; "" if thinking never ended."""
        return "".join(self.text[start:end] for start, end in self.spans)


def split(text: str) -> Split:
    """Split `text` into thinking and answer, in time linear in its length.

    A closing mark without an opening one ends thinking that began in the prompt; a block that is never closed hides
    everything after it.
    """
    spans = _by_channels(text)
    if spans is None:
        spans = _by_tags(text)
    if spans == [(0, len(text))]:
        return Split("", tuple(spans), text)
    thinking, at = [], 0
    for start, end in [*spans, (len(text), len(text))]:
        thinking.append(text[at:start])
        at = end
    plain = _BARE_START.sub("", _BARE_CHANNEL.sub(" ", _CHANNEL.sub(" ", _TAG.sub(" ", " ".join(thinking)))))
    return Split(plain.strip(), tuple(spans), text)


def _by_channels(text: str) -> list[tuple[int, int]] | None:
    """Return the position of the last message of the channel "final" or, without such marks, of what follows the last
    "assistantfinal"; empty if there is none, None if the text has no channels.
    """
    marks = _CHANNEL if _CHANNEL.search(text) else _BARE_CHANNEL
    finals = [mark.end() for mark in marks.finditer(text) if mark[1] == "final"]
    if finals:
        return [(finals[-1], len(text))]
    return [] if marks is _CHANNEL or _BARE_START.match(text) else None


def _by_tags(text: str) -> list[tuple[int, int]]:
    spans: list[tuple[int, int]] = []
    at, thinks = 0, False
    for tag in _TAG.finditer(text):
        closes = "/" in tag[0] or tag[4] == "end"
        if closes and not thinks:
            spans.clear()
        elif not closes and not thinks and tag.start() > at:
            spans.append((at, tag.start()))
        at, thinks = tag.end(), not closes
    if not thinks and (at < len(text) or not spans):
        spans.append((at, len(text)))
    return spans


_TURN_END = re.compile(
    r"<\|(?:im_end|eot_id|end|return|endoftext|end_of_text|eom_id)\|>|<end_of_turn>|<eos>|</s>(?=\s*(?:\Z|<s>"
    r"|\[INST\]|\n))|\[INST\]"
)
_SPECIAL = re.compile(
    r"<\|(?:im_start|start_header_id)\|>\s*assistant\b|"
    r"<\|[^|<>\n]{1,40}\|>|\[/?INST\]|<</?SYS>>|<(?:bos|start_of_turn)>(?:model\b)?|\A\s*<s>|</s>\s*\Z"
)
_ECHO = re.compile(r"\A\s*(?:<s>\s*)?\[INST\][^\[]*\[/INST\]")
_DIALOGUE = re.compile(r"\A\s*(?:user|human)\s*:[^\n]{0,2000}\n\s*(?=(?:assistant|ai)\s*:)", re.IGNORECASE)
_OTHERS_TURN = re.compile(r"\n[ \t]*(?:user|human)\s*:", re.IGNORECASE)
_PREFIX = re.compile(
    r"\A\s*(?:assistant\s*:\s*)?(?:here is my response\s*[.:]\s*|#{1,4} ?response:?\s*\n)?", re.IGNORECASE
)
_NEXT_TURN = re.compile(
    r"\n[ \t]*(?:human|user|q|question|starter question|starter example|follow-up question|the robot was asked"
    r"|now it is asked)\s*:",
    re.IGNORECASE,
)
_REPEATS = re.compile(r"\s*(?:the robot was asked|the robot said|now it is asked)\s*:", re.IGNORECASE)
"""Matches a reply that begins by repeating its prompt: what follows is not a further turn."""
_FENCE = re.compile(r"^[ \t]*(?:```|~~~)[^\n`]*$", re.MULTILINE)
_FENCED = re.compile(r"^[ \t]*(```|~~~)[^\n]*\n(.*?)(?:^[ \t]*\1|\Z)", re.DOTALL | re.MULTILINE)
_LATEX = re.compile(r"\${0,2}\\(?:boxed|text[a-z]{0,8}|math[a-z]{0,8}) ?\{([^{}\n]{0,200})\}\${0,2}")
_MATH = re.compile(r"(?<![\w$])\${1,2}(?=[a-zA-Z(\\])([^$\n]{1,60})(?<=\S)\${1,2}(?![\w$])")
"""Does not match amounts of money, which begin with a digit."""
_LINE_START = re.compile(r"^[ \t]*(?:#{1,6}[ \t]+|>[ \t]?|[*•‣◦▪+–—-][ \t]+)", re.MULTILINE)
_EMPHASIS = re.compile(r"[*`]|(?<!\w)_{1,3}(?=\w)|(?<=\w)_{1,3}(?!\w)")
_SPACES = re.compile("[ \t\f\v\u00a0\u2000-\u200a\u202f]+")
_INVISIBLE = re.compile("[\u200b-\u200f\u2060\ufeff]")
_QUOTES = str.maketrans("’‘‚“”„«»「」『』", "'''" + '"' * 9)
_WIDE = str.maketrans("？：", "?:")
_STOPS = str.maketrans({"。": ". ", "，": ", ", "；": "; ", "！": "! "})
LETTERS = str.maketrans("İıſ\u212a", "IisK") | {wide: wide - 0xFEE0 for wide in range(0xFF01, 0xFF5F)}
"""Letters that a pattern without regard to case takes for an ASCII letter, although no table of words has them, and
full-width characters.
"""
_PLAIN = _QUOTES | _WIDE | LETTERS


@lru_cache(maxsize=64)
def spoken(text: str) -> str:
    """Remove thinking blocks, special tokens, further turns and the words that a prompt put in the model's mouth."""
    text = _ECHO.sub("", without_thinking(text))
    end = next((turn.start() for turn in _TURN_END.finditer(text) if text[: turn.start()].strip()), len(text))
    return _PREFIX.sub("", _SPECIAL.sub("", text[:end])).strip()


def without_thinking(text: str) -> str:
    """Return the answer in `text` without the model's thinking; `text` itself if it has none."""
    return split(text).answer


def shown_reasons(text: str) -> str:
    """Return `text` with what it has between <reasoning> and </reasoning> as part of the answer; empty if it has no
    such block. Models trained to write their reasons there give no others.
    """
    before, _, rest = text.partition("<reasoning>")
    reasons, closed, behind = rest.partition("</reasoning>")
    return f"{before}{reasons}\n{behind}" if closed else ""


def without_echo(text: str) -> str:
    """Remove a request that `text` repeats before its own turn ("User: ..") or makes up after it."""
    text = _PREFIX.sub("", _DIALOGUE.sub("", text))
    turn = _OTHERS_TURN.search(text)
    return text[: turn.start()].rstrip() if turn else text


def own_turn(text: str) -> str:
    """Cut `text` where the model began to write a further question itself, as small models do."""
    turn = None if _REPEATS.match(text) else _NEXT_TURN.search(text)
    return text[: turn.start()].rstrip() if turn else text


@lru_cache(maxsize=64)
def without_markup(text: str) -> str:
    """Remove markdown, fences, LaTeX boxes and typographic quotes from `text`; spaces and line ends become single."""
    text = _INVISIBLE.sub("", text).translate(_PLAIN).translate(_STOPS).replace("\r\n", "\n").replace("\r", "\n")
    text = _FENCE.sub("", text)
    for _ in range(2):
        text = _LATEX.sub(r"\1", text)
    text = _MATH.sub(r"\1", text)
    text = _EMPHASIS.sub("", _LINE_START.sub("", text))
    lines = (_SPACES.sub(" ", line).strip() for line in text.split("\n"))
    return "\n".join(line for line in lines if line)


STRUCK = re.compile(r"~~[^~\n]{1,2000}~~|<(del|s|strike)>[^<>]{0,2000}</\1>", re.IGNORECASE)
"""What the model struck out, which is not part of its answer."""


def as_written(piece: str, text: str) -> str:
    """Return `piece`, a part of `text` without markup, with the original quotes of `text`, if it occurs there in one
    piece; otherwise unchanged.
    """
    at = text.translate(_PLAIN).find(piece)
    return text[at : at + len(piece)].translate(_WIDE) if at >= 0 else piece


_CONCLUDED = re.compile(
    r"<(final_answer|final|answer|label|verdict|conclusion|prediction|guess|sentiment|output|result|response|choice)>"
    r"([^<]{0,400})(?:</\1>|(?=<)|\Z)|\[(ANSWER|FINAL)\]([^\[\n]{0,400})(?:\[/\3\]|$)",
    re.IGNORECASE | re.MULTILINE,
)
_BOX = re.compile(
    r"(?:\\\(|\\\[|\${1,2})?\s?\\f?boxed ?\{((?:[^{}\n]|\{[^{}\n]{0,200}\}){0,400})\}\s?(?:\\\)|\\\]|\${1,2})?"
)


def concluded(text: str, label: str = "Final answer: ") -> str:
    """Put the content of a box, or of tags such as <answer>, on its own line after `label`."""
    text = _CONCLUDED.sub(lambda tag: f"\n{label}{(tag[2] or tag[4] or '').strip()}\n", text)
    return _BOX.sub(lambda box: f"\n{label}{box[1].strip()}\n", text)


def fenced(text: str) -> list[str]:
    """Return the contents of the code fences in `text`, in order; the last fence may be left open."""
    return [block[2].strip("\n") for block in _FENCED.finditer(text)]


def table_rows(text: str) -> list[list[str]]:
    """Return the cells of the markdown table in `text`, including its heading but not the line below that; [] if there
    is none.
    """
    lines = [line.strip() for line in text.split("\n") if line.lstrip().startswith("|")]
    rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines]
    return [row for row in rows if set("".join(row)) - set(":- ")] if len(rows) > 1 else []


def cells_of(lines: Iterable[str]) -> list[list[str]]:
    """Return the cells of each of `lines` that is a row of a table, without the row's outer bars and empty outer
    cells.
    """
    rows = (line.strip(" |\t") for line in lines if line.lstrip().startswith("|"))
    return [[cell.strip() for cell in row.split("|")] for row in rows]


def without_block_quote(text: str) -> str:
    """Remove the quotation mark ">" from every line if all of `text` is a block quote; otherwise return it
    unchanged.
    """
    lines = text.split("\n")
    if all(line.startswith(">") or not line.strip() for line in lines):
        return "\n".join(re.sub(r"\A>[ \t]?", "", line) for line in lines)
    return text


def without_quoted_question(text: str) -> str:
    """Remove the block quote that `text` begins with if words of its own follow: it repeats what was asked."""
    return re.sub(r"\A(?:[ \t]*>[^\n]*\n|[ \t]*\n){1,99}(?=[ \t]*[^\s>])", "", text) if text.startswith(">") else text


_TRIES = 20
_LONGEST_LITERAL = 20_000
_MOST_BRACKETS = 60
"""Most brackets in a text that is read as a Python literal, {'answer': 'no'}."""


def json_in(text: str) -> dict[str, Any] | list[Any] | None:
    """Return the first JSON object or non-empty array in `text`, else None."""
    decoder = json.JSONDecoder()
    for start in islice(re.finditer(r"[{\[]", text), _TRIES):
        try:
            value, _ = decoder.raw_decode(text, start.start())
        except (ValueError, RecursionError):
            continue
        if value:
            return value  # type: ignore[no-any-return]
    found: dict[str, Any] | None = _literal(text.strip().removeprefix("```json").strip("`\n "))
    return found


def _literal(text: str) -> Any:
    """Parse JSON that breaks off, or an object as a Python literal, if `text` contains nothing else; None otherwise."""
    if not text.startswith(("{'", '{"', "{\n")) or len(text) > _LONGEST_LITERAL or text.count("{") > 9:
        return None
    for end in ("}", '"}', "]}"):
        with contextlib.suppress(ValueError, RecursionError):
            return json.loads(text + end)
    if not text.endswith("}") or text.count("[") + text.count("(") > _MOST_BRACKETS:
        return None
    with contextlib.suppress(ValueError, SyntaxError, RecursionError, MemoryError, TypeError):
        value = ast.literal_eval(text)
        return value if isinstance(value, dict) else None
    return None


def first_object(text: str) -> dict[str, Any] | None:
    """Return the JSON object that begins at the first brace of `text`; None if there is none, or not all of it."""
    try:
        found: dict[str, Any] = json.JSONDecoder().raw_decode(text, text.find("{"))[0]
    except (ValueError, RecursionError):
        return None
    return found


def fields(text: str) -> dict[str, Any]:
    """Return the first JSON object in `text`, alone or among other words, with its keys in lower case; {} if there is
    none.
    """
    entries = first_object(text) or _literal(text.strip()) or {}
    return {str(key).lower().replace(" ", "_").replace("-", "_"): value for key, value in entries.items()}


def keyed(text: str, keys: Iterable[str]) -> Any:
    """Return the value in the JSON object in `text` under the first of `keys` that it has; "" if it has none."""
    entries = fields(text)
    return next((entries[key] for key in keys if key in entries), "")


def storable(text: str) -> str:
    r"""Replace lone surrogates in `text`, which JSON can express (\\ud800) but no file can store."""
    return text.encode("utf-8", "replace").decode("utf-8")
