"""How texts and numbers are shown to people: one sentence of a longer text, numbers of things in words, signs for
invisible characters, the field's terms, and tables as CSV files.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from typing import TYPE_CHECKING, NamedTuple

from .. import package_data

if TYPE_CHECKING:
    from pandas import DataFrame


_END = re.compile(r"[.!?][\"')\]]*(?=\s)|\n")

FEWEST = 3
"""In words. A shorter sentence ("No.") says nothing by itself."""


def first_sentence(text: str, most: int = 160) -> str:
    """Return the first sentence of `text` in one line of at most `most` characters; if it has only a word or two, with
    the next one. Reads at most the first four times `most` characters.
    """
    begun = text.strip()[: 4 * most]
    for end in _END.finditer(begun):
        sentence = begun[: end.end()]
        if len(sentence.split()) >= FEWEST:
            break
    else:
        sentence = begun
    line = " ".join(sentence.split())
    return line if len(line) <= most else f"{line[: most - 1].rstrip()}…"


def one_line(text: str, most: int) -> str:
    """Return `text` in one line of at most `most` characters, without any that are not visible, such as marks that
    change the direction of writing.
    """
    return " ".join("".join(letter if letter.isprintable() else " " for letter in text).split())[:most]


# Numbers of things in words.


def count_noun(number: int, thing: str) -> str:
    """Return the number with its noun: "3 runs", "1 run"."""
    return f"{number:,} {thing}{'' if number == 1 else 's'}"


def joined(words: Sequence[str]) -> str:
    """Return words as a list in a sentence: "a, b and c"."""
    return " and ".join(filter(None, (", ".join(words[:-1]), *words[-1:])))


def numbers(ids: Iterable[str]) -> dict[str, int]:
    """Number the ids in their order, from 1, as rows are numbered on the screen."""
    return {id: number for number, id in enumerate(ids, start=1)}


def numbered(text: str, known: Mapping[str, int]) -> str:
    """Replace the ids in `text` that are `known` by their numbers."""
    return re.sub(r"[\w-]+", lambda one: f"number {known[one[0]]}" if one[0] in known else one[0], text)


# Visible signs for invisible characters: white space, and characters that change the direction of writing.


_UNSEEN = re.compile(r"^ +| +$| {2,}| (?=\n)|[\t\n\r\f\v\u00a0]+")
_SIGNS = str.maketrans({" ": "␠", "\u00a0": "⍽", "\t": "⇥", "\n": "↵", "\r": "␍", "\f": "␌", "\v": "␋"})


_DIRECTIONS = dict.fromkeys([0x061C, 0x200E, 0x200F, *range(0x202A, 0x202F), *range(0x2066, 0x206A)], "⇆")


def directed(text: str) -> str:
    """Replace each character that changes the direction of writing by a sign: such characters can make an answer look
    different from what it is. Letters of right-to-left languages keep their own direction.
    """
    return text.translate(_DIRECTIONS)


def visible(text: str, every: bool = False) -> str:
    """Replace white space that nobody would see by signs: at the ends of `text`, repeated spaces, tabs, line ends; with
    `every`, all white space. For texts that are compared letter by letter.
    """
    if every:
        return text.translate(_SIGNS)
    return _UNSEEN.sub(lambda found: found[0].translate(_SIGNS), text)


# What the screens call a thing, and what the field calls it: `data/glossary.toml`.


class GlossaryEntry(NamedTuple):
    """The field's `term` for one of our names, and its `meaning` in a sentence."""

    term: str
    meaning: str


@cache
def entries() -> dict[str, GlossaryEntry]:
    """Return all entries by our names, in the file's order."""
    return {name: GlossaryEntry(**entry) for name, entry in package_data.table("glossary").items()}


def on_hover(name: str, more: str | None = None) -> str | None:
    """Return Markdown of the term and its meaning, followed by `more`; only `more` if the name is not in the
    glossary.
    """
    entry = entries().get(name)
    if entry is None:
        return more
    return "\n\n".join(filter(None, (f"**{entry.term}**  \n{entry.meaning}", more)))


# Tables as CSV files whose cells a spreadsheet shows but never runs. A spreadsheet treats a cell that begins like a
# formula as one. Some spreadsheets split cells at a semicolon or a tab, so the text after these begins a cell too.


_FORMULA = re.compile(r"[\s\u200b\ufeff]*[=+\-@\uff1d\uff0b\uff0d\uff20]")
_SEPARATOR = re.compile(r"([;|\t\r\n])")
_NUMBER = re.compile(r"[+-]?\d+(?:\.\d*)?(?:[eE][+-]?\d+)?")


def harmless(cell: object) -> object:
    """Return `cell` with an apostrophe before each text that a spreadsheet would treat as a formula; numbers are not
    formulas.
    """
    if not isinstance(cell, str):
        return cell
    parts = _SEPARATOR.split(cell)
    safe = "".join(f"'{part}" if _FORMULA.match(part) and not _NUMBER.fullmatch(part) else part for part in parts)
    if cell[:1] in ("\t", "\r", "\n"):
        safe = f"'{safe}"
    return cell if safe == cell else safe


def csv(table: DataFrame) -> bytes:
    """Return the table as CSV in UTF-8, with column names and without the index; every cell is harmless."""
    safe = table.map(harmless).rename(columns=harmless)
    return str(safe.to_csv(index=False, lineterminator="\r\n")).encode()
