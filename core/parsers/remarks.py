"""What chat models write around a paragraph they edited: introductions, remarks on the edit, suggestions, refusals.

They are distinguished from the paragraph line by line. A line is a remark only if it is about editing, because a story
may well say "I changed my mind" or "Note: the key is under the mat".
"""

import re

from .phrases import RE

# Introductions.


_MOST_LINES = 4
_LONGEST_LINE = 200
"""In characters. A longer line that does not open like an introduction belongs to the paragraph."""


def introduction_end(text: str) -> int:
    """Return where the lines that introduce a paragraph end; 0 if there are none.

    A line introduces if it is about editing and ends with a colon, or if it says that here is the result. One that only
    opens like an introduction ("I suggest ..") counts if such a line follows.
    """
    at = end = 0
    for _ in range(_MOST_LINES):
        blank = re.compile(r"\s*").match(text, at)
        start = blank.end() if blank else at
        stop = text.find("\n", start)
        line = text[start : stop if stop >= 0 else len(text)]
        bare = line.rstrip(" \t*_")
        ends = stop + 1 if stop >= 0 else len(text)
        announces = bare.endswith((":", "：")) and (len(bare) <= _LONGEST_LINE or RE.remark_opens.match(bare))
        opening = bare[: 3 * _LONGEST_LINE]
        opens = RE.remark_opens.match(bare) and RE.talk.search(opening) and not RE.tells.search(opening)
        talks = opens or RE.surely_talk.search(opening)
        above = text[ends : ends + 1] == "\n" and not RE.list_line.match(text, ends + 1)
        title = above and RE.title.fullmatch(bare)
        agrees = RE.agrees.fullmatch(bare) and text[ends:].strip()
        if (announces and (talks or title)) or agrees or (end and re.fullmatch(r"[-*_=]{3,}[ \t]*", line)):
            end = ends
        elif opens and stop >= 0 and text[ends:].strip():
            if RE.presents.match(bare):
                end = ends
        else:
            break
        at = ends
    return end


# Remarks after the paragraph.


def without_remarks(text: str) -> str:
    """Return `text` up to the line from which only remarks on the edit follow."""
    lines = text.splitlines(keepends=True)
    lines = lines[: next((at for at in range(1, len(lines)) if _heads_remarks(lines, at)), len(lines))]
    cut = len(lines)
    for at in range(len(lines) - 1, 0, -1):
        line = lines[at].strip()
        if not line:
            continue
        if begins_remarks(line):
            cut = at
        elif not (RE.list_line.match(line) or RE.about_words.search(line)):
            break
    kept = ("".join(lines[:cut]) if "".join(lines[:cut]).strip() else text).rstrip()
    bracket = max(kept.rfind("("), kept.rfind("["))
    return kept[:bracket].rstrip() if bracket > 0 and RE.remark_aside.fullmatch(kept, bracket) else kept


def _heads_remarks(lines: list[str], at: int) -> bool:
    return _is_heading(lines[at].strip()) and not lines[at - 1].strip() and any(line.strip() for line in lines[:at])


def _is_heading(line: str) -> bool:
    found = RE.section.fullmatch(line)
    return found is not None and bool(found["colon"] or line[0] in "#*_")


def begins_remarks(line: str) -> bool:
    """Whether a line below an edited paragraph is a remark on the edit."""
    line = RE.remark_pictures.sub("", line)
    if any(begins.match(line) for begins in (RE.remark_reasons, RE.on_words, RE.offer)):
        return True
    if _is_heading(line) or RE.result_line.fullmatch(line):
        return True
    remark, perhaps = RE.remark_remark.match(line), RE.perhaps_remark.match(line)
    return bool(
        (remark and RE.about_words.search(line, remark.end()))
        or (perhaps and RE.surely_about_words.search(line, perhaps.end()))
    )


# No paragraph at all.


def asks_back(text: str) -> bool:
    """Whether the answer asks for the paragraph, or says in one line that no edit is needed."""
    return bool(RE.asks.match(text) or RE.nothing_given.match(text) or RE.nothing_to_do.fullmatch(text))


def is_suggestions(text: str) -> bool:
    """Whether the answer consists of several suggestions, or of one line of advice, without a paragraph."""
    lines = [line.strip() for line in text.splitlines() if line.strip() and not re.match(r"\s*</?[uo]l>", line)]
    if len(lines) == 1 and RE.advises.fullmatch(lines[0]):
        return True
    offered = bool(lines) and RE.suggests.fullmatch(lines[0]) is not None
    if offered or introduction_end(text) > text.find("\n"):
        lines = lines[1:]
    items = [line for line in lines if RE.list_line.match(line) or line.lower().startswith("<li>")]
    advice = sum(RE.advice.match(line) is not None for line in items)
    return len(items) >= 2 and len(items) == len(lines) and (offered or advice == len(items))
