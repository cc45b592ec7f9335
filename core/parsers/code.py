"""Description, domain and code of a function, as chat models write them."""

from __future__ import annotations

import re
import textwrap
from typing import NamedTuple

from ..text.patterns import anycase
from ..text.reply import fields, spoken, without_block_quote


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
_TAG = re.compile(
    r"^[ \t#*>_+•-]{0,40}(?:\d[.)] ?)?\[?[ \t]{0,9}(DESCRIPTION|DOMAIN|CODE)[ \t]{0,9}\]?[ \t*_]{0,20}(?::|$"
    r"|[ \t]=|[ \t][–—-](?:[ \t]|$))[*_ \t]*",
    re.IGNORECASE | re.MULTILINE,
)
_BRACKET_TAG = re.compile(
    r"(?:^(?:[ \t#>+•*-]|\d[.)]){1,20})?(?:[*_#]{1,9}\s{0,9})?[\[(]\s{0,9}(DESCRIPTION|DOMAIN"
    r"|CODE)\s{0,9}:?[\])][*_]{0,9}\s{0,9}:?[*_]{0,9}[ \t]*"
    r"|[*_]{0,3}[\[(](?:/|end (?:of )?)(?:DESCRIPTION|DOMAIN|CODE)[\])][*_]{0,3}",
    re.IGNORECASE | re.MULTILINE,
)
_XML_TAG = anycase(r"<(DESCRIPTION|DOMAIN|CODE)>|</(?:DESCRIPTION|DOMAIN|CODE)>")
_FENCE = re.compile(r"^([ \t]*)(```|~~~)[^\n`]*\n(.*?)(?:^[ \t]*\2|```|\Z)", re.DOTALL | re.MULTILINE)
_INLINE = re.compile(r"```(?:python|py)?[ \t]+([^`\n]*)```")
_DEFINES = re.compile(r"\bdef\s+\w+\s*\(|\blambda\b")
_BEGINS = re.compile(r"^(?:import|from|def|@|lambda|\w+\s*=\s*lambda)\b", re.MULTILINE)
_GOES_ON = re.compile(
    r"[ \t)\]}#@\"']|(?:import|from|def|class|if|else|elif|for|while|try|except|with|return|print)\b"
    r"|\w[\w.\[\]]*\s*[-+*/]?=|\Z|```|~~~"
)


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
    pattern = next((tag for tag in (_BRACKET_TAG, _XML_TAG) if tag.search(text)), _TAG)
    tags = list(pattern.finditer(text))
    sections: dict[str, str] = {}
    for k, tag in enumerate(tags):
        end = tags[k + 1].start() if k + 1 < len(tags) else len(text)
        content = text[tag.end() : end].strip("\n").rstrip()
        if tag[1] and content.strip():
            sections[tag[1].lower()] = content
    return sections, tags[0].start() if tags else None


def _unfenced(text: str) -> str:
    return re.sub(r"\n\s{0,9}(?:-{3,9}|\*{3,9})\s{0,9}\Z", "", _FENCE.sub("", text).strip())


def _code(text: str, fenced_only: bool = False) -> str:
    """Return the last fenced block that defines something; without a fence, the lines from the first import or def."""
    blocks = [textwrap.dedent(block[3]) if block[1] else block[3] for block in _FENCE.finditer(text)]
    defining = [block for block in [*_INLINE.findall(text), *blocks] if _DEFINES.search(block)]
    if defining:
        return str(defining[-1]).strip("\n")
    text = textwrap.dedent(text).strip("`\n ")
    begin = _BEGINS.search(text)
    if fenced_only or begin is None or not _DEFINES.search(text):
        return ""
    lines = text[begin.start() :].split("\n")
    end = next((k for k, line in enumerate(lines) if not _GOES_ON.match(line)), len(lines))
    return "\n".join(lines[:end]).strip("`~\n ")
