"""Lists of words as today's chat models write them."""

import re
from collections.abc import Iterable, Sequence
from itertools import islice
from typing import Any

from ..text.reply import STRUCK, cells_of, concluded, json_in, spoken, without_echo
from .paragraph import asks_back
from .statements import RE, begins_as_refusal

_LONGEST_PHRASE = 12
"""In words. Anything longer is a sentence about the words."""

_WITHIN = tuple(
    (RE("item_within", mark=mark), firsts)
    for mark, firsts in (
        (r"\(?(?P<n>\d{1,2})[).:]", "1 2"),
        (r"\[(?P<n>\d{1,2})\]", "1 2"),
        (r"#(?P<n>\d{1,2})[.:)]?", "1 2"),
        (r"\(?(?P<n>[a-z])\)", "a b"),
        (r"\(?(?P<n>[ivx]{1,4})\)", "i ii"),
        (r"(?<![\w\"'] )(?P<n>first|second|third|fourth|fifth|sixth|last)(?:ly)?[:,]", "first second"),
    )
)
"""Marks of items within a line, and the first two of each kind."""


def _items_within(line: str) -> list[str]:
    """Return the items of a line that numbers them, "(1) odd (2) sad", each as a line with a bullet; else the line."""
    for mark, firsts in _WITHIN:
        marks = list(islice(mark.finditer(line), _MOST_ITEMS))
        if " ".join(one["n"].lower() for one in marks[:2]) == firsts:
            ends = [*(one.start() for one in marks[1:]), len(line)]
            return ["- " + line[one.end() : end].strip(" \t,;.") for one, end in zip(marks, ends, strict=True)]
    return [line]


_MOST_ITEMS = 400

# Words that the reply names and does not choose.


def _without_dropped(text: str) -> str:
    """Remove the words that a reply calls unimportant, with their heading or their clause."""
    lines: list[str] = []
    drops = False
    for line in text.split("\n"):
        dropped = RE.dropped.search(line)
        if dropped and not RE.bullet.match(line):
            drops = not dropped["same"].strip("*_ ")
            line = line[: dropped.start()]
        elif drops and (RE.any_heading.match(line) or (not line.strip() and lines and lines[-1].strip())):
            drops = not line.strip()
        elif drops:
            continue
        lines.append(
            line
            if RE.bullet.match(line) and not RE.list_bold.match(line)
            else RE.rest.sub("", RE.none_here.sub("", _without_denied(line)))
        )
    return "\n".join(lines)


def _without_denied(line: str) -> str:
    """Remove the clauses of a line that say of marked words that they do not count."""
    if not (RE.list_quoted.search(line) or RE.list_bold.search(line)) or len(line) > _LONGEST_LINE:
        return line
    at, kept = 0, []
    for end in [*(gap.start() for gap in RE.clauses.finditer(line)), len(line)]:
        clause = line[at:end]
        bare = RE.list_bold.sub("\0", RE.list_quoted.sub("\0", clause))
        kept.append("" if "\0" in bare and RE.denies.search(bare.strip()) else clause)
        at = end
    return "".join(kept)


_LONGEST_LINE, _LONGEST_SENTENCE = 4_000, 400


def _last_list(text: str) -> str:
    """Return the list that a reply ends with after it has weighed words or taken back an earlier list."""
    for last in (RE.last_list, RE.revises):
        ends = [found.end() for found in islice(last.finditer(text), _MOST_ITEMS)]
        if ends and len(re.findall(r"\w+", text[ends[-1] :])) > 1:
            text = text[ends[-1] :].strip()
    return text


def word_list(text: str) -> list[str] | None:
    """Return the words listed in `text`: as JSON, bulleted or numbered lines, a table's first column, in quotes or
    bold, between commas or one per line.

    Notes in brackets or after a dash or colon are left out, as are repetitions and remarks beside the list. None for a
    refusal, a counter-question, and a text without words.
    """
    indent = re.match(r"\s*", text)[0].rpartition("\n")[2]  # type: ignore[index]
    text = indent + STRUCK.sub("", RE.struck_item.sub("", concluded(without_echo(spoken(text)), label="")))
    text = RE.list_tex.sub(r"\1", text)
    parsed = json_in(text)
    if parsed is not None and (text.startswith(("[]", "{")) or _strings(parsed)):
        return _tidy(_strings(parsed))
    if re.fullmatch(r"(?i)[.?!…\s]*|(?:no|yes|not applicable)\W*", text) or RE.no_list.match(text):
        return None
    if begins_as_refusal(text) or asks_back(text):
        return None
    if RE.undecided.search(text) or RE.list_label_only.fullmatch(text):
        return None
    if RE.breaks_off.search(text) and not re.search(r'[,"\n]', text):
        return None
    text = _without_dropped(_last_list(RE.echoed_text.sub("", text)))
    lines = [line for line in _lines(text) if line.strip() and not re.match(r"\s*(?:```|~~~)", line)]
    without_remarks = [line for line in lines if not RE.list_remark.match(line)]
    return _tidy(_found(without_remarks)) or _tidy(_found(lines))


def _found(lines: list[str]) -> list[str]:
    return _listed(lines) or _tabled(lines) or _annotated(lines) or _running("\n".join(lines)) or _one_a_line(lines)


def _annotated(lines: list[str]) -> list[str]:
    """Return the words if all lines say "word: why" or "word - why"; a category ("Positive: ..") is not a word."""
    found = [RE.short_note.fullmatch(line.strip()) for line in lines]
    notes = [note[1] for note in found if note]
    lists = [RE.short_list.search(line[:_LONGEST_SENTENCE]) for line in lines]
    categories = any(RE.category.match(f"{note}: x") for note in notes) or (
        any(lists) and all(": " in x for x in lines)
    )
    return notes if len(notes) == len(lines) > 1 and not categories else []


_MOST_LINES = 4_000
"""Lines beyond these are not read."""


def _lines(text: str) -> list[str]:
    """Split `text` into lines, putting HTML items and items numbered within a line on lines of their own."""
    lines: list[str] = []
    text = _numbered(text)
    text = RE.single_brackets.sub(lambda line: re.sub(r"\][ ,]{0,9}\[", ", ", line[0]).strip("[] "), text)
    text = RE.list_bracketed.sub(
        r"\1\2", RE.line_break.sub(lambda gap: "\n" if "<" in gap[0] else " ", text.replace("：", ": "))
    )
    for line in RE.html_list.sub("", RE.html_item.sub("\n- ", text)).splitlines()[:_MOST_LINES]:
        if not line.strip():
            continue
        line = RE.remark_behind.sub("", RE.courtesy.sub("", line))
        if len(items := _items_within(line)) > 1:
            lines += items
            continue
        if len(parts := re.split(r"(?<=[.;])\s+(?=[A-Z]\w{2,20}(?: \w{2,15})?: )", line)) > 1 and all(
            RE.category.match(part) for part in parts
        ):
            lines += [part.rstrip(".;") for part in parts]
            continue
        line = RE.item_mark.sub(lambda mark: mark["indent"] + ("- " if mark["mark"] else ""), line)
        line = RE.category_dash.sub(r"\1: ", line)
        lines.append(line)
    # The line below the heading of a table, which may have no outer lines.
    if any("|" in line and "--" in line and not set(line) - set("-:| \t") for line in lines):
        lines = [f"| {line} |" if "|" in line and not line.lstrip().startswith("|") else line for line in lines]
    return lines


def _numbered(text: str) -> str:
    """Put a full stop behind the numbers of lines that begin with 1, 2, 3 and so on without a mark."""
    found = list(islice(re.finditer(r"^\d{1,2}(?= [^\W\d])", text, re.MULTILINE), _MOST_ITEMS))
    if len(found) < 2 or [one[0] for one in found] != [str(number + 1) for number in range(len(found))]:
        return text
    return re.sub(r"^\d{1,2}(?= [^\W\d])", r"\g<0>.", text, flags=re.MULTILINE)


def _strings(parsed: Any) -> list[str]:
    """Return the strings in JSON: array items, the "word" field of objects, else every array in an object."""
    if isinstance(parsed, str):
        return [parsed]
    if isinstance(parsed, list):
        return [string for entry in parsed for string in _strings(entry)]
    if isinstance(parsed, dict):
        for name in ("word", "phrase", "token", "term", "text"):
            if isinstance(parsed.get(name), str):
                return [parsed[name]]
        inner = [value for value in parsed.values() if isinstance(value, list | dict)]
        if inner:
            return [string for value in inner for string in _strings(value)]
        texts = [value for value in parsed.values() if isinstance(value, str)]
        if len(texts) > 1 and all(RE.numbered_key.fullmatch(str(name)) for name in parsed):
            return texts
        if len(texts) == 1 and "," in texts[0]:
            return texts[0].split(",")
        return texts[:1] if len(parsed) == 1 else [str(name) for name in parsed]
    return []


def _listed(lines: Sequence[str]) -> list[str]:
    """Return the content of list lines. Deeper lines count only below a heading ("- Praise:"); below a word they
    explain it.
    """
    bullets = [(len(line) - len(line.lstrip()), bullet[1]) for line in lines if (bullet := RE.bullet.match(line))]
    bullets = _one_level(bullets, any(RE.second.match(line) for line in lines))
    outermost = min((indent for indent, _ in bullets), default=0)
    only_headings = _only_headings(bullets, outermost)
    if not only_headings and len(bullets) > 2 and all(re.fullmatch(r"[^\W\d_]+", content) for _, content in bullets):
        return [content for _, content in bullets]  # single words, however deep
    below_heading = True
    words: list[str] = []
    for k, (indent, content) in enumerate(bullets):
        deeper = k + 1 < len(bullets) and bullets[k + 1][0] > indent
        heading = bool(RE.heading.match(content) or (deeper and _names_category(content)))
        heading = heading or (only_headings and indent <= outermost)
        if indent <= outermost:
            below_heading = heading
        if not heading and (indent <= outermost or below_heading):
            words += _entries(content)
    return words


def _names_category(content: str) -> bool:
    return RE.category.match(f"{content.strip('*_ ')}: x") is not None


def _only_headings(bullets: Sequence[tuple[int, str]], outermost: int) -> bool:
    """Whether every outer line ("Editing") is a heading: the lines below it are all as short as words and not
    capitalised.
    """
    below = [content for indent, content in bullets if indent > outermost]
    follow = [*(indent for indent, _ in bullets[1:]), outermost]
    outer = [
        (content, after > outermost)
        for (indent, content), after in zip(bullets, follow, strict=False)
        if indent <= outermost
    ]
    return len(below) > 1 and (
        all(deeper and content.strip("*_ ")[:1].isupper() for content, deeper in outer)
        and all(
            len(content.split()) <= _MOST_WORDS
            and not content.strip("*_\"“' ")[:1].isupper()
            and not _names_category(content)
            and not RE.explains.match(content)
            for content in below
        )
    )


_MOST_WORDS = 3
"""Most words in a deeper entry; a longer one explains the word above it."""


def _one_level(bullets: list[tuple[int, str]], is_numbered: bool) -> list[tuple[int, str]]:
    """Put the list lines on one level if only the first is less indented and is not a heading, and the others are short
    like words and either several or continue its numbering.
    """
    (first, heading), rest = (bullets[0], bullets[1:]) if bullets else ((0, ":"), [])
    is_flat = all(indent > first and len(content.split()) <= _MOST_WORDS for indent, content in rest)
    is_flat = is_flat and (len(rest) > 1 or is_numbered)
    is_heading = RE.heading.match(heading) or (not is_numbered and _names_category(heading))
    return [(first, content) for _, content in bullets] if is_flat and not is_heading else bullets


def _entries(content: str) -> list[str]:
    """Return the words of one list line: what comes before its note; several if they are quoted or separated by
    commas.
    """
    content = " ".join(content.split())
    category = RE.category.match(content)
    if category:
        content = content[category.end() :]
    quoted = _marked(RE.list_quoted, RE.item_note.sub("", content))
    if quoted and re.match(r"\W*[\"“«`'‘]", content):
        return quoted
    bold = RE.list_bold.match(content)
    if bold:
        return _split(bold[bold.lastindex or 0].rstrip(": "))
    return _split(RE.item_note.sub("", content))


def _tabled(lines: Iterable[str]) -> list[str]:
    """Return the words of the column whose heading says that it contains words, else of the first column that is not a
    numbering.
    """
    rows = cells_of(lines)
    if len(rows) < 2:
        return [word for row in rows for cell in row for word in _entries(cell)]
    if not all(re.fullmatch(r":?-+:?", cell) for cell in rows[1]):
        return [word for row in rows for word in _entries(row[0])]  # a table without a heading
    numbered = [number for number, heading in enumerate(rows[0]) if not RE.number_column.fullmatch(heading)]
    column = next((number for number, heading in enumerate(rows[0]) if RE.words_column.match(heading)), None)
    if column is None:
        column = numbered[0] if numbered else 0
    cells = [row[column] for row in rows[1:] if column < len(row)]
    return [word for cell in cells if not re.fullmatch(r":?-+:?", cell) for word in _entries(cell)]


def _in_sentence(sentence: str) -> list[str]:
    """Return the words that a sentence lists: "It hinges on odd, sad and cold", "Two words (odd, sad) decide"."""
    inserted = RE.inserted.search(sentence)
    if len(sentence) > _LONGEST_SENTENCE or not (inserted or RE.weighs.search(sentence)):
        return []
    listed = inserted[inserted.lastgroup or "a"] if inserted else sentence
    first, *others = re.split(r"\s*,\s*(?:and\s+)?|\s+(?:and|&)\s+", listed.strip(" .!"))
    if not others:
        return []
    if len(first.split()) > _SHORT or RE.list_opens.match(first):
        first = RE.leads.sub("", first)
    middle = [RE.between_words.sub("", part) for part in others[:-1]]
    last = RE.follows.sub("", RE.brackets.sub("", RE.between_words.sub("", others[-1])))
    words = [*(RE.brackets.sub("", word) for word in (first, *middle)), last]
    return words if all(0 < len(word.split()) <= _SHORT and not RE.pronoun.search(word) for word in words) else []


def _running(text: str) -> list[str]:
    """Return the words in running text: between commas if some are quoted; else quoted; else bold; else between commas
    after the colon of an introduction.
    """
    if words := _partly_quoted(text):
        return words
    for marks in (RE.list_quoted, RE.list_bold):
        if words := _marked(marks, _without_introduction(text, marks)):
            return _split(words[0]) if len(words) == 1 and marks is RE.list_bold else words
    words = []
    for line in text.splitlines():
        colons = [match.end() for match in RE.colon.finditer(line)]
        colon, after = bool(colons), line[colons[-1] :] if colons else ""
        said = after if colon else line
        are = RE.are.search(line)
        if not colon and are:
            said = are[1]
        if colon and not after.strip():
            continue
        listed = [] if colon else [word for one in re.split(r"(?<=[.!?]) ", line) for word in _in_sentence(one)]
        if len(listed) > 1:
            words += listed
            continue
        chosen = None if colon or are else RE.chosen.match(said)
        if chosen:
            colon, said = (
                True,
                re.sub(r"[,.]? ?\b(?:because|since|as they|which)\b.*|[.!]\W*$", "", said[chosen.end() :]),
            )
        said, are_words = RE.are_words.subn("", said)
        said = re.sub(r",? and ", ", ", said) if are_words or (are and not colon) else said
        dashed = re.split(r" (?:[-–—·•>→]|[-=]>) ", said.strip())
        if len(dashed) > 2 and all(0 < len(part.split()) <= _SHORT for part in dashed):
            words += dashed
            continue
        parts = _split(said)
        if colon or are or (len(parts) > 1 and len(said.split()) <= _WORDS_A_PART * len(parts)):
            words += [RE.brackets.sub("", part.rstrip(" .")) for part in parts]
    return words


_SHORT = 3
_WORDS_A_PART = 3.5
"""Average length in words in a list between commas without an introduction. Clauses of a sentence are longer."""


def _partly_quoted(text: str) -> list[str]:
    """Return the words of the first line that lists some in quotes and some without: like, "crushing bore," and bad."""
    for line in text.splitlines():
        _, colon, after = line.partition(":")
        said = after if colon and after.strip() else line
        quoted = _marked(RE.list_quoted, said)
        parts = [part for one in RE.between.split(RE.list_quoted.sub("\0", said)) if (part := one.strip(" .,"))]
        plain = [part for part in parts if "\0" not in part]
        short = all(len(part.split()) <= _SHORT for part in plain)
        if plain and quoted and short and parts.count("\0") == len(quoted):
            inserted = iter(quoted)
            return [next(inserted) if part == "\0" else part for part in parts]
    return []


def _without_introduction(text: str, marks: re.Pattern[str]) -> str:
    """Return `text` after its first colon if words are marked there, else all of it."""
    before, _, after = text.partition(":")
    return after if marks.search(after) and not marks.match(before.strip()) else text


def _one_a_line(lines: list[str]) -> list[str]:
    below = [line for line in lines if not line.rstrip(" *_").endswith(":")]
    if len(below) == 1:
        pair = below[0].split()
        stopped = [part for part in below[0].split(". ") if part]
        if len(pair) == 3 and pair[1].lower() in ("and", "&"):
            return [pair[0], pair[2]]
        if len(stopped) > 1 and all(len(part.split()) <= 2 for part in stopped):
            return stopped
    lengths = [len(line.split()) for line in below]
    few = sum(lengths) <= _WORDS_A_PART * len(below) > 1 and not any(
        line.rstrip().endswith((".", "!")) for line in below
    )
    return below if few or max(lengths, default=0) <= 4 else []


def _split(text: str) -> list[str]:
    """Split at commas, semicolons and spaced slashes; in such a list, "and" or "or" separates the last two words."""
    parts = re.split(r"\s*[,;、，；]\s*|\s+[/|&+·•]\s+", re.sub(r"\s+", " ", text.strip().replace("\t", ", ")))
    if len(parts) == 1:
        return parts[0].split("/") if re.fullmatch(r"[^\W\d_]{2,}(?:/[^\W\d_]{2,}){2,}", parts[0]) else parts
    *rest, last = parts
    return [*rest, *re.split(r"^(?:and|or|&)\s+|\s+(?:and|or|&)\s+", last, flags=re.IGNORECASE)]


def _marked(marks: re.Pattern[str], text: str) -> list[str]:
    return [match[match.lastindex or 0] for match in marks.finditer(text)]


def _tidy(words: Iterable[str]) -> list[str] | None:
    words = list(words)
    tidy: dict[str, str] = {}
    for word in words:
        word = re.sub(r"(?<=\w) ?= ?[+-]?[\d.]{1,9}%?$", "", RE.list_pictures.sub("", " ".join(word.split()))).strip(
            " *_`\"“”„«»「」'‘’"
        )
        if not RE.emoticon.fullmatch(word):
            word = word.strip(" *_`\"“”„«»「」'‘’.,;:。，；：")
        if RE.emoticon.fullmatch(word) or _is_word(word) or (word.lower() == "nothing" and len(words) > 1):
            tidy.setdefault(word.casefold(), word)
    return list(tidy.values()) or None


def _is_word(word: str) -> bool:
    return bool(word) and not (
        len(word.split()) > _LONGEST_PHRASE or RE.only_marks.fullmatch(word) or RE.no_words.match(word)
    )
