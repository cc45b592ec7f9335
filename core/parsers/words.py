"""Lists of words as today's chat models write them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import Any

from ..text.patterns import anycase
from ..text.reply import STRUCK, cells_of, concluded, json_in, spoken, without_echo
from .cannot_tell import names_nothing
from .remarks import COURTESY, asks_back

_LONGEST_PHRASE = 12
"""In words. Anything longer is a sentence about the words."""

_BULLET = re.compile(
    r"^[ \t]*(?:(?!\*\*[^*\n]{1,60}[^:*\n]\*\*(?!:))[-*~•–—‑‒‣◦▪●·+✔✓☑✅❌➤▶🔹①-⑳](?=[ \t]|[\"“'‘*`\w])"
    r"|\(?\d+[.):](?!\d)|\d{1,2} [-–—](?= )|\(?[a-zA-Z][.)](?=[ \t]))[ \t]*(.+)$"
)
_QUOTED = re.compile(
    r"\"([^\"\n]+)\"|“([^“”\n]+)”|«([^«»\n]+)»|„([^„“”\n]+)[“”]|「([^「」\n]+)」|『([^『』\n]+)』|`([^`\n]+)`"
    r"|(?<!\w)['‘](?!n['’])([^'‘’\n]+(?:['’]\w+)*)['’](?!\w)"
)
_BOLD = re.compile(r"\*\*([^*\n]+)\*\*|__([^_\n]+)__|(?<![\w*])\*([^*\s][^*\n]*)\*(?![\w*])")
_NOTE = re.compile(r"\s+[(\[](?!REDACTED|REMOVED).*$|\s*(?:[–—]|(?<=\s)-(?=\s)|->|→|=>)\s.*$|:\s+\S.*$|:\s*$")
_CATEGORIES = (
    r"[^:]*\b(?:words?|terms?|phrases?|sentiments?|adjectives?|verbs?|nouns?|adverbs?|positive|negative"
    r"|neutral|keywords?|names?|objects|places|locations|list|answer)"
)
_CATEGORY = anycase(rf"^{_CATEGORIES}\W*:\s*(?=\S)")
_HEADING = anycase(rf"(?:{_CATEGORIES}(?:[ \t]*\([^()\n]*\))?|[^*\"“`]*)[*_]*:[*_ \t]*$")
_NONE = anycase(
    r"^\W*(?:none|etc|and so on|n/?a|nothing|there (?:are|is) no(?:ne)?\b.*"
    r"|nothing (?:to|in|here|else|stands|is|was|of)\b.*|no (?:important )?words?\b.*)\W*$"
)
_REMARK = anycase(
    r"[ \t]*(?:\([^()\n]*\)[ \t]*$|[*_(]{0,3}(?:notes?\b|explanation\b|why\b|reason\w*\b|rationale\b"
    r"|these\b|those\b|they\b|without (?:the|these|those|them|it|this)\b|let me know\b"
    r"|hope\b|i (?:chose|picked|selected|hope)\b|this is\b))"
)
_MARK = anycase(
    r"^(?P<indent>[ \t]*)(?:>[ \t]?){0,3}(?:(?:#{1,6}[ \t]+"
    r"|\*\*)(?=\d{1,2}[.)]))?(?P<mark>(?:[-*•][ \t]+)?\[[ xX]\][ \t]+|\[\d{1,2}\][ \t]*|\d\ufe0f?\u20e3[ \t]*"
    r"|\#\d{1,2}[:.)]?[ \t]+|(?:word|term|phrase)[ \t]?\#?\d{1,2}[ \t]?[:.)-][ \t]*|[ivx]{1,4}[.)][ \t]+"
    r"|[^\w\s\x00-\x7f“”„«»‘’「」『』…–—•]{1,3}[ \t]+)?"
)
"""Item marks that are turned into bullets: "#1", "[x]", "Word 1:", "iii.", a picture."""
_REMARK_BEHIND = anycase(
    r"[.!][ \t]+(?:these|those|they|this|both|all of|without"
    r"|i (?:chose|picked|left|omitted|skipped|excluded))\b.*$"
)
_SINGLE_BRACKETS = re.compile(r"^(?:\[(?!REDACTED|REMOVED)[^\[\]\n]{1,60}\][ ,]{0,9}){2,200}$", re.MULTILINE)
_CATEGORY_DASH = anycase(r"^((?:important |key ?)?words?|list) [-–—] ")
_HTML_ITEM = anycase(r"<(?:li|word|item|term|phrase)>[ \t]*")
_BREAK = anycase(r"<br[ \t]{0,4}/?>|(?<=[,;])\n(?![ \t]*(?:[-*•]|\d+[.)]))(?=[^\n]{1,60}(?:\n|\Z))")
_HTML_LIST = anycase(r"</?(?:ul|ol|li|p|words?|items?|terms?|phrases?|list)[ \t]{0,4}/?>")
_BRACKETED = re.compile(
    r"(^[^\n:\[\](){}]{0,60}: ?|^)[ \t]*[\[({]([^\[\](){}\"“'‘\n]*,[^\[\](){}\"“'‘\n]*)[\])}][ \t]*$",
    re.MULTILINE,
)
_NUMBERED_WITHIN = re.compile(r"(?:[^\n:]{0,80}:)?[ \t]*1[.)][ \t][^\n]*?[ \t]2[.)][ \t]")
_NEXT_NUMBER = re.compile(r"[ \t](?=\d{1,2}[.)][ \t])")
_CHOSEN = anycase(
    r"\W{0,9}(?:i|we|one|you)(?:['’](?:d|ll|ve)| would| will| could| can| have| should)?(?: \w{1,12}ly| first| also)?"
    r" (?:redact|mask|hide|remove|replace|pick|choose|chose|select|list|name|highlight|flag|mark|count|cite|keep)"
    r"(?:e?d)?(?: out)?(?: (?:the|these|those|following|important|key|words?|terms?|phrases?)){0,4}:? "
)
"""What precedes the words in a sentence about them: "I would redact"."""
_ARE_WORDS = anycase(
    r"\s(?:are|is) (?:the |some of the |among the )?(?:\w+ ){0,2}(?:words?|terms?|phrases?|adjectives)\b.*$"
)
_STRUCK_ITEM = anycase(r"(?m)^[ \t]*(?:[-*•]|\d{1,3}[.)])[ \t]*~~[^~\n]{1,200}~~[ \t]*(?:\([^\n]{0,300})?$\n?")
"""A struck-out item, with the note beside it."""
_ARE = anycase(r"\b(?:words?|terms?|phrases?)\b[^.:\n]{0,200}?\b(?:is|are|include|would be)\b\s*:?\s*(.+)$")


def word_list(text: str) -> list[str] | None:
    """Return the words listed in `text`: as JSON, bulleted or numbered lines, a table's first column, in quotes or
    bold, between commas or one per line.

    Notes in brackets or after a dash or colon are left out, as are repetitions and remarks beside the list. None for a
    refusal, a counter-question, and a text without words.
    """
    indent = re.match(r"\s*", text)[0].rpartition("\n")[2]  # type: ignore[index]
    text = indent + STRUCK.sub("", _STRUCK_ITEM.sub("", concluded(without_echo(spoken(text)), label="")))
    parsed = json_in(text)
    if parsed is not None and (text.startswith(("[]", "{}")) or _strings(parsed)):
        return _tidy(_strings(parsed))
    if re.fullmatch(r"(?i)[.?!…\s]*|(?:no|yes|not applicable)\W*", text) or names_nothing(text) or asks_back(text):
        return None
    lines = [line for line in _lines(text) if line.strip() and not re.match(r"\s*(?:```|~~~)", line)]
    without_remarks = [line for line in lines if not _REMARK.match(line)]
    return _tidy(_found(without_remarks)) or _tidy(_found(lines))


def _found(lines: list[str]) -> list[str]:
    return _listed(lines) or _tabled(lines) or _annotated(lines) or _running("\n".join(lines)) or _one_a_line(lines)


_SHORT_NOTE = re.compile(r"([^\s:|,\"“][^:|,\"“]{0,30}?)(?:(?::| [-–—=→]| [-=]>) \S.*| \([^()]{1,60}\))")


def _annotated(lines: list[str]) -> list[str]:
    """Return the words if all lines say "word: why" or "word - why"; a category ("Positive: ..") is not a word."""
    found = [_SHORT_NOTE.fullmatch(line.strip()) for line in lines]
    notes = [note[1] for note in found if note]
    categories = any(_CATEGORY.match(f"{note}: x") for note in notes)
    return notes if len(notes) == len(lines) > 1 and not categories else []


_MOST_LINES = 4_000
"""Lines beyond these are not read."""


def _lines(text: str) -> list[str]:
    """Split `text` into lines, putting HTML items and items numbered within a line on lines of their own."""
    lines: list[str] = []
    text = _SINGLE_BRACKETS.sub(lambda line: re.sub(r"\][ ,]{0,9}\[", ", ", line[0]).strip("[] "), text)
    text = _BRACKETED.sub(r"\1\2", _BREAK.sub(lambda gap: "\n" if "<" in gap[0] else " ", text.replace("：", ": ")))
    for line in _HTML_LIST.sub("", _HTML_ITEM.sub("\n- ", text)).splitlines()[:_MOST_LINES]:
        if not line.strip():
            continue
        line = _REMARK_BEHIND.sub("", COURTESY.sub("", line))
        line = _MARK.sub(lambda mark: mark["indent"] + ("- " if mark["mark"] else ""), line)
        line = _CATEGORY_DASH.sub(r"\1: ", line)
        if re.match(r"[ \t]*[•·]", line):
            lines += ["• " + part for part in re.split(r"[ \t]*[•·][ \t]+", line)[1:]]
            continue
        lines += _NEXT_NUMBER.split(line) if _NUMBERED_WITHIN.match(line) else [line]
    # The line below the heading of a table, which may have no outer lines.
    if any("|" in line and "--" in line and not set(line) - set("-:| \t") for line in lines):
        lines = [f"| {line} |" if "|" in line and not line.lstrip().startswith("|") else line for line in lines]
    return lines


_NUMBERED_KEY = anycase(r"(?:word|term|phrase)?[ _]?\d{1,2}")


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
        if len(texts) > 1 and all(_NUMBERED_KEY.fullmatch(str(name)) for name in parsed):
            return texts
        if len(texts) == 1 and "," in texts[0]:
            return texts[0].split(",")
        return texts[:1] if len(parsed) == 1 else [str(name) for name in parsed]
    return []


_SECOND = re.compile(r"[ \t]*\(?2[.):]")


def _listed(lines: Sequence[str]) -> list[str]:
    """Return the content of list lines. Deeper lines count only below a heading ("- Praise:"); below a word they
    explain it.
    """
    bullets = [(len(line) - len(line.lstrip()), bullet[1]) for line in lines if (bullet := _BULLET.match(line))]
    bullets = _one_level(bullets, any(_SECOND.match(line) for line in lines))
    outermost = min((indent for indent, _ in bullets), default=0)
    only_headings = _only_headings(bullets, outermost)
    below_heading = True
    words: list[str] = []
    for k, (indent, content) in enumerate(bullets):
        deeper = k + 1 < len(bullets) and bullets[k + 1][0] > indent
        heading = bool(_HEADING.match(content) or (deeper and _names_category(content)))
        heading = heading or (only_headings and indent <= outermost)
        if indent <= outermost:
            below_heading = heading
        if not heading and (indent <= outermost or below_heading):
            words += _entries(content)
    return words


def _names_category(content: str) -> bool:
    return _CATEGORY.match(f"{content.strip('*_ ')}: x") is not None


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
            and not _EXPLAINS.match(content)
            for content in below
        )
    )


_EXPLAINS = anycase(
    r"\W*(?:about|for|in|of|on|from|because|describ|refer|suggest|impl|express|shows?|says?|convey"
    r"|prais|blam|critic|complim)"
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
    is_heading = _HEADING.match(heading) or (not is_numbered and _names_category(heading))
    return [(first, content) for _, content in bullets] if is_flat and not is_heading else bullets


def _entries(content: str) -> list[str]:
    """Return the words of one list line: what comes before its note; several if they are quoted or separated by
    commas.
    """
    content = " ".join(content.split())
    category = _CATEGORY.match(content)
    if category:
        content = content[category.end() :]
    quoted = _marked(_QUOTED, _NOTE.sub("", content))
    if quoted and re.match(r"\W*[\"“«`'‘]", content):
        return quoted
    bold = _BOLD.match(content)
    if bold:
        return _split(bold[bold.lastindex or 0].rstrip(": "))
    return _split(_NOTE.sub("", content))


_WORDS_COLUMN = anycase(r"\W*(?:important |key )?(?:words?|phrases?|terms?|tokens?|features?|expressions?)\b")
_NUMBER_COLUMN = anycase(r"\W*(?:|no|nr|number|rank|index|\d+)\W*")


def _tabled(lines: Iterable[str]) -> list[str]:
    """Return the words of the column whose heading says that it contains words, else of the first column that is not a
    numbering.
    """
    rows = cells_of(lines)
    if len(rows) < 2:
        return [word for row in rows for cell in row for word in _entries(cell)]
    if not all(re.fullmatch(r":?-+:?", cell) for cell in rows[1]):
        return [word for row in rows for word in _entries(row[0])]  # a table without a heading
    numbered = [number for number, heading in enumerate(rows[0]) if not _NUMBER_COLUMN.fullmatch(heading)]
    column = next((number for number, heading in enumerate(rows[0]) if _WORDS_COLUMN.match(heading)), None)
    if column is None:
        column = numbered[0] if numbered else 0
    cells = [row[column] for row in rows[1:] if column < len(row)]
    return [word for cell in cells if not re.fullmatch(r":?-+:?", cell) for word in _entries(cell)]


_COLON = re.compile(r":(?![-'^o]?[()/\\|DPp](?!\w))")
"""A colon that is not the eyes of a :) or :-D."""


def _running(text: str) -> list[str]:
    """Return the words in running text: between commas if some are quoted; else quoted; else bold; else between commas
    after the colon of an introduction.
    """
    if words := _partly_quoted(text):
        return words
    for marks in (_QUOTED, _BOLD):
        if words := _marked(marks, _without_introduction(text, marks)):
            return words
    words = []
    for line in text.splitlines():
        if _ONLY_MARKS.fullmatch(line.strip()):
            continue
        colons = [match.end() for match in _COLON.finditer(line)]
        colon, after = bool(colons), line[colons[-1] :] if colons else ""
        said = after if colon else line
        are = _ARE.search(line)
        if not colon and are:
            said = are[1]
        if colon and not after.strip():
            continue
        chosen = None if colon or are else _CHOSEN.match(said)
        if chosen:
            colon, said = (
                True,
                re.sub(r"[,.]? ?\b(?:because|since|as they|which)\b.*|[.!]\W*$", "", said[chosen.end() :]),
            )
            said = re.sub(r"(?<=\w),? and ", ", ", said)
        said, are_words = _ARE_WORDS.subn("", said)
        said = re.sub(r",? and ", ", ", said) if are_words or (are and not colon) else said
        dashed = re.split(r" (?:[-–—·•>→]|[-=]>) ", said.strip())
        if len(dashed) > 2 and all(0 < len(part.split()) <= _SHORT for part in dashed):
            words += dashed
            continue
        parts = _split(said)
        if colon or are or (len(parts) > 1 and len(said.split()) <= _WORDS_A_PART * len(parts)):
            words += [_BRACKETS.sub("", part) for part in parts]
    return words


_SHORT = 3
_WORDS_A_PART = 3.5
"""Average length in words in a list between commas without an introduction. Clauses of a sentence are longer."""

_BRACKETS = re.compile(r"(?<=\w)[ \t]+\((?!REDACTED|REMOVED)[^()\n]*\)$")
_BETWEEN = anycase(r"[,;、，]|\s(?:and|or|&)\s")


def _partly_quoted(text: str) -> list[str]:
    """Return the words of the first line that lists some in quotes and some without: like, "crushing bore," and bad."""
    for line in text.splitlines():
        _, colon, after = line.partition(":")
        said = after if colon and after.strip() else line
        quoted = _marked(_QUOTED, said)
        parts = [part.strip(" .,") for part in _BETWEEN.split(_QUOTED.sub("\0", said))]
        parts = [re.sub(r"^(?:and|or|&)\s+", "", part) for part in parts if part]
        plain = [part for part in parts if "\0" not in part]
        short = all(len(part.split()) <= _SHORT for part in plain)
        if plain and quoted and short and parts.count("\0") == len(quoted):
            inserted = iter(quoted)
            return [next(inserted) if part == "\0" else part for part in parts]
    return []


def _without_introduction(text: str, marks: re.Pattern[str]) -> str:
    """Return `text` after its first colon if words are marked there, else all of it."""
    _, _, after = text.partition(":")
    return after if marks.search(after) else text


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
        return parts
    *rest, last = parts
    return [*rest, *re.split(r"^(?:and|or|&)\s+|\s+(?:and|or|&)\s+", last, flags=re.IGNORECASE)]


def _marked(marks: re.Pattern[str], text: str) -> list[str]:
    return [match[match.lastindex or 0] for match in marks.finditer(text)]


_EMOTICON = re.compile(r"[:;=8xX][-'^o]?[()\[\]DPpOo/\\|3*<>]+|[(\[]+[-'^o]?[:;=]|<3+|\^_?\^|\.\.\.|…")
_PICTURES = re.compile(r"(?<=[\w!?.]) [^\w\s\x00-\x7f]{1,8}$")
_ONLY_MARKS = re.compile(r"[\[\]{}()<>|/\\–—-]+")


def _tidy(words: Iterable[str]) -> list[str] | None:
    words = list(words)
    tidy: dict[str, str] = {}
    for word in words:
        word = _PICTURES.sub("", " ".join(word.split())).strip(" *_`\"“”„«»「」'‘’")
        if not _EMOTICON.fullmatch(word):
            word = word.strip(" *_`\"“”„«»「」'‘’.,;:")
        if _EMOTICON.fullmatch(word) or _is_word(word) or (word.lower() == "nothing" and len(words) > 1):
            tidy.setdefault(word.casefold(), word)
    return list(tidy.values()) or None


def _is_word(word: str) -> bool:
    return bool(word) and not (len(word.split()) > _LONGEST_PHRASE or _ONLY_MARKS.fullmatch(word) or _NONE.match(word))
