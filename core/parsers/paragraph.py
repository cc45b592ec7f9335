"""Edited paragraphs as today's chat models write them.

The parsed paragraph is one contiguous piece of the answer: what comes before it (an introduction, a label) and after it
(remarks on the edit) is left out, and marks that enclose the whole are removed. Nothing is removed from the middle,
except for three matters of form: escapes in a JSON text are resolved, each line of a block quote loses its ">", and the
tags of HTML paragraphs become blank lines, those of line breaks within them line ends.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import islice, pairwise
from typing import Any, NamedTuple

from rapidfuzz.distance import LCSseq

from ..text.reply import STRUCK, cells_of, fenced, json_in, spoken, without_block_quote, without_echo
from .statements import RE, begins_as_refusal

# What chat models write around a paragraph they edited: introductions, remarks on the edit, suggestions, refusals.
#
# They are distinguished from the paragraph line by line. A line is a remark only if it is about editing, because a
# story may well say "I changed my mind" or "Note: the key is under the mat".


# Introductions.


_REMARKS_MOST_LINES = 4
_LONGEST_LINE = 200
"""In characters. A longer line that does not open like an introduction belongs to the paragraph."""


def introduction_end(text: str) -> int:
    """Return where the lines that introduce a paragraph end; 0 if there are none.

    A line introduces if it is about editing and ends with a colon, or if it says that here is the result. One that only
    opens like an introduction ("I suggest ..") counts if such a line follows.
    """
    at = end = 0
    for _ in range(_REMARKS_MOST_LINES):
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


# Locates an edited paragraph within an answer by aligning the answer with the original paragraph.
#
# An edit shares words with the original, in the same order; introductions, labels and remarks do not. So the part of
# the answer that is most similar to the original is the edit, whatever the wording of the rest.


LEAST = 0.3
"""Least similarity of an edit and its original, from 0 to 1; text that is less similar is not considered an edit
here.
"""

SURELY = 0.75
"""Least similarity of text that talks about words or editing: "The words to mask are clean and friendly" is not an
edit.
"""

_MOST_LINES, _MOST_PLACES = 40, 8
"""How many lines are compared, counted from the end, and how many places within a line at which the edit may begin or
end.
"""

_LABEL = 5
"""Most words of a label such as "Original paragraph:"."""

_PER_LINE = 0.05
"""Similarity that each line beyond the original's number must add; one that adds less is a list of the removed
words.
"""

_SHORT = 3
"""For an original of at most this many lines, every stretch of lines is compared."""


class _Token(NamedTuple):
    """A word in lower case, or None for a mask; where it begins, and whether a mark or a line end is before it, other
    than a comma.
    """

    word: str | None
    at: int
    is_apart: bool


def _tokens(text: str) -> list[_Token]:
    tokens, end = [], 0
    for one in RE.token.finditer(text):
        is_apart = not end or text[end : one.start()].strip(" ,;") != ""
        tokens.append(_Token(None if one["mask"] else one[0].casefold(), one.start(), is_apart))
        end = one.end()
    return tokens


class _Original:
    def __init__(self, text: str) -> None:
        self.words = [token.word for token in _tokens(text)]
        self.colons = text.count(":")
        self.lines = sum(bool(line.strip()) for line in text.splitlines())

    def shared(self, tokens: Sequence[_Token]) -> int:
        """Return the number of words shared with the original, in its order; each mask counts as one of the missing
        words.
        """
        words = [token.word for token in tokens if token.word is not None]
        shared = int(LCSseq.similarity(words, self.words))
        return shared + min(len(tokens) - len(words), len(self.words) - shared)

    def likeness(self, tokens: Sequence[_Token]) -> float:
        """Return the similarity to the original, from 0 to 1; 0 for a text that is far longer."""
        if not tokens or len(tokens) > 3 * len(self.words) + 30:
            return 0.0
        return 2 * self.shared(tokens) / (len(tokens) + len(self.words))

    def is_in(self, tokens: Sequence[_Token]) -> bool:
        """Whether the tokens are the original itself, possibly after a label ("It is not true that" is none)."""
        behind = len(tokens) - len(self.words)
        is_label = 0 <= behind <= _LABEL and (not self.words or tokens[behind].is_apart)
        return is_label and [token.word for token in tokens[behind:]] == self.words

    def share(self, tokens: Sequence[_Token]) -> float:
        """Return the share of the tokens that come from the original."""
        return self.shared(tokens) / len(tokens) if tokens else 0.0


def aligned_part(text: str, original: str) -> str | None:
    """Return the part of `text` that is the edit of `original`; None if no part is similar to it. The part consists of
    whole lines except for its first and last. The last of several versions counts, and a copy of the original itself
    is ignored if there is another version.
    """
    whole = _Original(original)
    lines = text.splitlines()
    others = [line for line in lines if not whole.is_in(_tokens(line))]
    if any(whole.likeness(_tokens(line)) >= SURELY / 2 for line in others[-_MOST_LINES:]):
        lines = others
    last = [at for at, line in enumerate(lines) if line.strip()][-_MOST_LINES:]
    filled = {at: _tokens(lines[at]) for at in last}
    found = _stretch(lines, filled, whole)
    if found is None:
        return None
    start, end = found[0], _continued(lines, filled, *found, whole)
    edit = "\n".join(lines[start : end + 1]).strip()
    edit = _trimmed(edit if RE.courtesy.match(original) else RE.courtesy.sub("", edit), whole)
    tokens = _tokens(edit)
    if all(token.word is not None for token in tokens):
        talks = RE.about_edits.search(edit) and not RE.about_edits.search(original)
        if 2 * len(tokens) < len(whole.words) or (talks and whole.likeness(tokens) < SURELY):
            return None
    return edit


def _stretch(lines: Sequence[str], filled: Mapping[int, list[_Token]], original: _Original) -> tuple[int, int] | None:
    """Return the first and last line of the stretch that is most similar to the original; None if none is similar
    enough.
    """
    found: list[tuple[float, int, int]] = []
    for start, end in _stretches(filled, original):
        tokens = [token for at in filled if start <= at <= end for token in filled[at]]
        more = max(sum(start <= at <= end for at in filled) - original.lines, 0)
        if all(token.word for token in tokens) and original.shared(tokens) == len(original.words):
            more = 0  # the original itself, with something put in, on lines of its own
        value = LEAST if original.is_in(tokens) else original.likeness(tokens) - _PER_LINE * more
        found.append((value, start, end))
    best = max(found, key=lambda one: (one[0], one[1]), default=(0.0, 0, 0))
    if best[0] < LEAST:
        return None
    # Prefer a later version that is nearly as similar and shares no line with the best one.
    later = [one for one in found if one[1] > best[2] and one[0] >= max(0.75 * best[0], LEAST)]
    _, start, end = max(later, default=best)
    return start, end


def _stretches(filled: Mapping[int, list[_Token]], original: _Original) -> Iterator[tuple[int, int]]:
    places = list(filled)
    if original.lines <= _SHORT:
        for place, start in enumerate(places):
            for end in places[place : place + 2 * original.lines + 2]:
                yield start, end
        return
    alike = [at for at in places if original.share(filled[at]) >= 0.5]
    if alike:
        yield alike[0], alike[-1]


def _continued(
    lines: Sequence[str], filled: Mapping[int, list[_Token]], start: int, end: int, original: _Original
) -> int:
    """Extend the stretch by lines below it that the edit changed beyond recognition, and return the last line: as many
    as the original has or, if no words are masked, those directly below. It stops at a remark.
    """
    here = [at for at in filled if start <= at <= end]
    adds = all(token.word is not None for at in here for token in filled[at])
    count = len(here)
    for at in (at for at in filled if at > end):
        is_next = adds and at == end + 1
        if begins_remarks(lines[at].strip()) or not (count < original.lines or is_next):
            break
        end, count = at, count + 1
    return end


def _trimmed(text: str, original: _Original) -> str:
    """Remove a label from the first line. If words are masked, also remove an introduction before the edit and what
    follows it in the last line, because masking adds no words.
    """
    tokens = _tokens(text)

    def between(start: int, end: int) -> list[_Token]:
        return [token for token in tokens if start <= token.at < end]

    masks = sum(token.word is None for token in tokens)
    line_end = text.find("\n") if "\n" in text else len(text)
    places = islice(RE.prefix.finditer(text, 0, line_end), _MOST_PLACES)
    starts = [0]
    for place in places:
        is_own = place["label"] == ":" and text.count(":", place.end()) < original.colons
        rest = between(place.end(), len(text))
        if not is_own and (masks or (place["label"] and original.shared(rest) >= original.shared(tokens))):
            starts.append(place.end())
    start = max(starts, key=lambda at: (original.likeness(between(at, len(text))), -at))
    ends = [len(text)]
    if masks:
        found = list(RE.edit_sentence_end.finditer(text, text.rfind("\n") + 1))[-_MOST_PLACES:]
        ends += [one.end() for one in found if all(token.word for token in between(one.end(), len(text)))]
    if not masks:
        start, ends = _between_remarks(text, start, original, ends)
    if text[start:].lstrip().startswith(('"', "“")):
        ends.append(max(text.rfind(mark, start + 1) for mark in '"”') + 1 or len(text))
    end = max(ends, key=lambda at: (original.likeness(between(start, at)), at))
    edit = text[start:end].strip()
    bracket = RE.bracket.search(edit)
    is_remark = bracket and (begins_remarks(bracket[0]) or RE.remark_aside.fullmatch(bracket[0]))
    return edit[: bracket.start()].rstrip() if bracket and is_remark else edit


def _between_remarks(text: str, start: int, original: _Original, ends: list[int]) -> tuple[int, list[int]]:
    """Leave out the first sentence if it announces the edit, and the last ones if they are remarks on it."""
    breaks = [one.end() for one in RE.edit_sentence_end.finditer(text, start)][: _MOST_PLACES * 4]
    opening = text[start : breaks[0]] if breaks else ""
    talks = RE.presents.match(opening) or RE.about_edits.search(opening)
    if opening and talks and original.share(_tokens(opening)) < 0.5:
        start = breaks[0]
    for at in reversed(breaks):
        remark = text[at:].strip()
        if at <= start or not begins_remarks(remark) or original.share(_tokens(remark)) >= 0.5:
            break
        if original.is_in(_tokens(text[start:at])):
            # A sentence that is all the difference from the original is the edit, not a remark on it.
            break
        ends = [at]
    return start, ends


# Marks of an edit.


def aligned_with_marks(text: str, original: str) -> str | None:
    """Return the edit in `text`, with its marks, if its struck-out and unmarked words together are exactly the
    original: then it is the edit, however much was changed. None otherwise. The last such line or paragraph counts.
    """
    if "~~" in original or "<" in original or not STRUCK.search(text):
        return None
    words = [token.word for token in _tokens(original)]
    for part in [text, *reversed([*text.split("\n\n"), *text.splitlines()][-_MOST_LINES:])]:
        old = re.sub(r"<ins\b[^<>\n]{0,100}>[^<>]{0,2000}</ins>", "", RE.edit_bold.sub("", part), flags=re.IGNORECASE)
        old = re.sub(r"~~|</?(?:del|s|strike)>", "", old, flags=re.IGNORECASE)
        if [token.word for token in _tokens(old)] == words and STRUCK.search(part):
            return part
    return None


def without_marks(text: str, original: str) -> str:
    """Remove from `text` what is struck out (~~old~~, <del>) and the marks around what is new (**new**, <ins>), unless
    the original has such marks itself.
    """
    if not RE.arrow.search(original):
        text = RE.replaced.sub(r"\2", text)
    text = RE.old_wording.sub(lambda old: "" if old[1] in original and old[0].strip() not in original else old[0], text)
    if "[" not in original:
        text = RE.written_mask.sub(r"[\1]", text)
    if "~~" not in original and "<" not in original:
        text = re.sub(r"\*\*(~~[^~\n]{1,2000}~~)\*\*", r"\1", text)
        text = re.sub(rf"(?:{STRUCK.pattern})[ \t]?(?:(?:→|[-=]>)[ \t])?", "", text, flags=re.IGNORECASE)
        text = RE.put_in.sub("", text)
        if RE.block.search(text):
            text = re.sub(r"\n{3,}", "\n\n", RE.block.sub("\n", text))
    old = [line[1:].strip() for line in text.splitlines() if line.startswith("-")]
    if old and "\n+" in text and all(line in original for line in old):
        text = "\n".join(line.removeprefix("+").strip() for line in text.splitlines() if not line.startswith("-"))
    put_in = RE.edit_bracketed.findall(text)
    if "[" not in original and len(set(put_in)) == len(put_in) and all(token.word for token in _tokens(text)):
        text = RE.edit_bracketed.sub(r"\1", text)
    for _ in range(2):
        text = RE.edit_marked.sub(
            lambda mark: mark[0] if (mark[1] or mark[3])[0] in original else mark[2] or mark[4], text
        )
    return text


_FIELDS = (
    "paragraph", "edited_paragraph", "redacted_paragraph", "revised_paragraph", "edited_text", "redacted_text",
    "edited", "redacted", "revised", "counterfactual", "redaction", "text", "output", "answer", "result",
)  # fmt: skip
# Repetitions are bounded, and what may start on any line also ends on it. Otherwise blank lines would take quadratic
# time.


def paragraph(text: str, original: str = "") -> str | None:
    """Return the last paragraph offered, without introduction, label, quotes and closing remarks; `original` is the
    paragraph to be edited, if it is known.

    None for a refusal, a counter-question, and suggestions of how one might edit. The sources, in this order: a JSON
    field, <paragraph> tags, a code fence, the column of a table, HTML paragraphs, a label ("Edited paragraph:"), the
    text.
    """
    text = without_echo(spoken(text))
    if finals := list(RE.final_edit.finditer(text)):
        text = text[finals[-1].end() :]
    if original:
        if not (RE.marked_old.search(original) or RE.marked_new.search(original)):
            text = RE.marked_new.sub(r"**\g<a>**", RE.marked_old.sub(r"~~\g<a>~~", text))
        if edit := aligned_with_marks(text, original):
            return _clean(without_marks(edit, original), original)
        text = without_marks(text, original)
        if "|" in text and "|" not in original and (cell := _tabled(text.splitlines())):
            return _clean(cell, original)
    parsed = json_in(text) if "{" in text or text.startswith(('["', "`")) else None
    for _ in range(4):
        if isinstance(parsed, list) and len(parsed) == 1:
            parsed = parsed[0]
        elif isinstance(parsed, dict) and len(parsed) == 1 and isinstance(next(iter(parsed.values())), dict):
            parsed = next(iter(parsed.values()))
    if isinstance(parsed, str) and text.startswith(("[", "`")):
        return _clean(parsed)
    if isinstance(parsed, dict):
        value = _of_field(parsed, whole=text.startswith(("{", "[", "`")))
        if value is not None:
            return _clean(value)
    tagged = _last_tagged(text)
    if tagged is not None:
        return _clean(tagged)
    blocks = [block for block in fenced(text) if block.strip()]
    if blocks:
        edit = aligned_part(blocks[-1], original) if original else None
        return _clean(_after_label(blocks[-1])) if edit is None else _clean(edit, original)
    edit = aligned_part(text, original) if original else None
    is_whole = edit is not None and edit == text.strip()
    is_none = begins_as_refusal(text) or asks_back(text) or is_suggestions(text)
    if RE.is_label.fullmatch(text) or (is_none and not is_whole):
        return None
    rest = _after_label(text)
    if original and _is_list(rest if edit is None else edit) and not _is_list(original):
        return None
    if edit is not None:
        return None if RE.unclear.search(edit) and not RE.unclear.search(original) else _clean(edit, original)
    if original and rest == text:
        return None
    found = _tabled(text.splitlines()) or _html(text) or without_remarks(rest)
    return _clean(found)


def _is_list(text: str) -> bool:
    """Whether most lines of `text` are items of a list."""
    lines = [line for line in text.splitlines() if line.strip()]
    items = sum(RE.list_line.match(line) is not None for line in lines)
    return items > 1 and 2 * items > len(lines)


def _last_tagged(text: str) -> str | None:
    """Return the text in the last pair of tags of one name; of nested pairs, the outer one counts. None if there is no
    pair.
    """
    tags = list(RE.paragraph_tag.finditer(text))
    # From the end, so that the nearest closing tag of each name is known when an opening one is found.
    closing: dict[str, re.Match[str]] = {}
    pairs: list[tuple[re.Match[str], re.Match[str]]] = []
    for tag in reversed(tags):
        name = tag[2].lower()
        if tag[1]:
            closing[name] = tag
        elif name in closing:
            pairs.append((tag, closing[name]))
    last, end = None, 0
    for opening, closed in reversed(pairs):
        if opening.start() >= end:
            last, end = text[opening.end() : closed.start()], closed.end()
    return last


def _of_field(parsed: dict[str, Any], whole: bool) -> str | None:
    """Return the text in a field with a fitting name. Without one, return its longest text if the JSON is the `whole`
    reply, else None.
    """
    texts = {str(key).lower().replace(" ", "_"): value for key, value in parsed.items() if isinstance(value, str)}
    named = [texts[name] for name in _FIELDS if name in texts]
    named += [text for key, text in texts.items() if RE.paragraph_field.search(key) and not RE.other_field.search(key)]
    return named[0] if named else max(texts.values(), key=len, default="") if whole else None


def _tabled(lines: Sequence[str]) -> str | None:
    """Return the cell below a heading such as "Edited" in a table with one row, or beside it; None if there is none."""
    rows = cells_of(lines)
    named = [row[-1] for row in rows if len(row) == 2 and RE.edited_column.match(row[0]) and len(row[1].split()) > 2]
    if len(rows) > 3 and len(named) == 1:
        return named[0]
    if len(rows) != 3 or any(set(cell) - set(":- ") for cell in rows[1]):
        return None
    for column, heading in enumerate(rows[0][: len(rows[2])]):
        if RE.edited_column.match(heading):
            return rows[2][column]
    return None


def _html(text: str) -> str | None:
    """Return the text from the first HTML paragraph that begins a line to the end of the last, with blank lines in
    between; None if there are no such paragraphs.
    """
    start = RE.block_start.search(text)
    tags = list(RE.block.finditer(text, start.start())) if start else []
    if len(tags) < 2 or "/" not in tags[-1][0][:4]:
        return None
    pieces = [text[before.end() : after.start()].strip() for before, after in pairwise(tags)]
    return "\n\n".join(RE.line_tag.sub("\n", piece) for piece in pieces if piece)


def _after_label(text: str) -> str:
    """Return what follows the last label that has something after it; without a label, what follows the
    introduction.
    """
    end = len(text)
    for label in reversed(list(RE.paragraph_label.finditer(text))):
        after = text[label.end() : end]
        bare = after.strip()
        if not (RE.change.fullmatch(bare) or RE.is_label.fullmatch(bare)) and without_remarks("\n" + after).strip(
            ' \n*_"“”'
        ):
            original = RE.original.search(after)
            return after[: original.start()] if original else after
        end = label.start()
    text = text[:end] if text[:end].strip() else text
    text = re.sub(r"\A(?:~~[^\n]{1,4000}~~\s{0,9}){1,9}", "", text[introduction_end(text) :])
    text = RE.foreign_label.sub("", text)
    for opening in (RE.before_quote, RE.courtesy, RE.in_line):
        match = opening.match(text)
        if match:
            text = text[match.end() :]
    return text


_QUOTES = (("“", "”"), ("„", "“”"), ("«", "»"), ("»", "«"), ("「", "」"), ("『", "』"), ("‘", "’"))
_EMPHASIS = ("**", "__", "*", "_", "``", "`")


def _clean(text: str, original: str = "") -> str | None:
    """Remove the marks that enclose the whole: rules, quotes, bold, block quotes, a single bullet; none of them if the
    original is enclosed in such marks. None if nothing is left.
    """
    if original and not RE.closing_picture.search(original):
        text = RE.closing_picture.sub("", text.rstrip())
    if original and _clean(original) != original.strip():
        return text.strip() or None
    text = re.sub(r"\A\\(?:boxed|text)\{(.*)\}\Z", r"\1", text.strip(), flags=re.DOTALL)
    for _ in range(4):
        before = text
        text = RE.rule.sub("", text).strip()
        text = without_block_quote(text).strip()
        if len(text.splitlines()) == 1:
            text = RE.paragraph_item.sub("", text, count=1) if RE.paragraph_item.match(text) else text
        text = RE.one_tag.sub(r"\2", _unquoted(_unmarked(text)))
        if text == before:
            break
    return text if re.search(r"\w", text) else None


def _unmarked(text: str) -> str:
    for mark in _EMPHASIS:
        inner = text[len(mark) : -len(mark)]
        if text.startswith(mark) and text.endswith(mark) and inner.strip(mark) and mark not in inner:
            return inner.strip()
    return text


def _unquoted(text: str) -> str:
    """Remove quotes around the whole. "Run," she said, "now." begins and ends with a quote, but they do not
    enclose it.
    """
    if len(text) < 3:
        return text
    inner = text[1:-1]
    if text[0] == text[-1] == '"':
        first = inner.find('"')
        opens = first == 0 or re.fullmatch(r"[^\w.!?][\"][\w(\[‘'$]", inner[first - 1 : first + 2])
        return inner.strip() if first < 0 or (opens and inner.count('"') % 2 == 0) else text
    for opening, closing in _QUOTES:
        if text[0] == opening and text[-1] in closing:
            depth = 0
            for mark in RE.letter_between.sub("", inner):
                depth += (mark == opening) - (mark in closing)
                if depth < 0:
                    return text
            return inner.strip()
    if text[0] == text[-1] == "'" and "'" not in RE.letter_between.sub("", inner):
        return inner.strip()
    return text
