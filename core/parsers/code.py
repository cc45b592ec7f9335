"""Description, domain and code of a function, as chat models write them."""

import re
import textwrap
from typing import NamedTuple

from ..text.reply import fields, spoken, without_block_quote
from .statements import RE


class FinalAnswer(NamedTuple):
    """The three parts of a final answer, empty if missing, and where the answer begins in the plain text (None:
    nowhere).
    """

    description: str
    domain: str
    code: str
    at: int | None


_PARTS = ("description", "domain", "code")
# Line by line, and with every repetition bounded, because an answer may be all white space.


_BRACKETS = str.maketrans("【】", "[]")


def plain(text: str) -> str:
    """Return what the model says, without block quotes and escaped brackets, and with plain line ends."""
    text = without_block_quote(spoken(text).replace("\r\n", "\n").replace("\r", "\n"))
    return re.sub(r"\\([\[\]])", r"\1", text).translate(_BRACKETS)


def conclusion(text: str) -> FinalAnswer:
    """Return the last text after each tag, up to the next tag; or the fields of a JSON object. Code is a fenced block
    that defines something, or lines after the code tag that look like code.
    """
    text = plain(text)
    entries = fields(text)
    if isinstance(entries.get("description"), str):
        parts = [entries[part] if isinstance(entries.get(part), str) else "" for part in _PARTS]
        return FinalAnswer(parts[0].strip(), parts[1].strip(), of_field(parts[2]), text.find("{"))
    sections, at = _sections(text)
    code = _code(sections.get("code", "")) or _code(text, fenced_only=True)
    return FinalAnswer(_unfenced(sections.get("description", "")), _unfenced(sections.get("domain", "")), code, at)


def of_field(text: str) -> str:
    """Return the code in a field, with or without a fence."""
    return _code(text) or text.strip("\n")


def _sections(text: str) -> tuple[dict[str, str], int | None]:
    pattern = next((tag for tag in (RE.bracket_tag, RE.xml_tag) if tag.search(text)), RE.code_tag)
    tags = list(pattern.finditer(text))
    sections: dict[str, str] = {}
    for k, tag in enumerate(tags):
        end = tags[k + 1].start() if k + 1 < len(tags) else len(text)
        content = text[tag.end() : end].strip("\n").rstrip()
        if tag[1] and content.strip():
            sections[tag[1].lower()] = content
    return sections, tags[0].start() if tags else None


def _unfenced(text: str) -> str:
    return re.sub(r"\n\s{0,9}(?:-{3,9}|\*{3,9})\s{0,9}\Z", "", RE.code_fence.sub("", text).strip())


def _code(text: str, fenced_only: bool = False) -> str:
    """Return the last fenced block that defines something; without a fence, the lines from the first import or def."""
    blocks = [textwrap.dedent(block[3]) if block[1] else block[3] for block in RE.code_fence.finditer(text)]
    defining = [block for block in [*RE.code_inline.findall(text), *blocks] if RE.defines.search(block)]
    if defining:
        return str(defining[-1]).strip("\n")
    text = textwrap.dedent(text).strip("`\n ")
    begin = RE.code_begins.search(text)
    if fenced_only or begin is None or not RE.defines.search(text):
        return ""
    lines = text[begin.start() :].split("\n")
    end = next((k for k, line in enumerate(lines) if not RE.code_goes_on.match(line)), len(lines))
    return "\n".join(lines[:end]).strip("`~\n ")
