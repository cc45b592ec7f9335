"""Masking: replace words of a paragraph by mask tokens; and the controls that tell whether it matters which words are
masked.
"""

import math
import random
import re
import unicodedata
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

import regex

from ...events import Rules
from ...text import compare
from ...text.compare import pieces

OVER_REDACTED = 0.5
"""With more than half of the words masked, "cannot tell" follows nearly by itself, whichever words they are."""

_WORD = r"\w+(?:[’'-]\w+)*"
_UNSPACED = r"[\p{Han}\p{Hiragana}\p{Katakana}\p{Thai}\p{Lao}\p{Khmer}\p{Myanmar}]"

_TAG = re.compile(r"</?[a-zA-Z][^<>]{0,99}>")

Span = tuple[int, int]


def redact(text: str, words: Sequence[str], token: str, rules: Rules) -> str:
    """Return `text` with every occurrence of `words` replaced by `token`, ignoring case.

    Paper: one regular expression of the words in the given order, between word boundaries (llm-introspection,
    tasks/_common_process.py). So if "great" and "great movie" are listed, the first one wins; "10%" and "wow!" are
    matched only before a letter or digit; and an empty list masks every word boundary. Repaired: the longest word
    first, punctuation belongs to the word, and masks that are already in the text are left alone.
    """
    if rules == "paper":
        alternatives = "|".join(re.escape(word) for word in words)
        return re.sub(rf"\b(?:{alternatives})\b", lambda _: token, text, flags=re.IGNORECASE)
    return _masked(text, occurrences(text, words, token), token)


class Words(NamedTuple):
    """Where the words of a text are: the words that an explanation named, and all words that it did not name."""

    named: list[Span]
    others: list[Span]

    @property
    def leave_enough(self) -> bool:
        """Whether there are at least as many other words as named ones. Otherwise there is nothing to compare with."""
        return len(self.others) >= len(self.named)

    def leave_enough_of_each(self, text: str) -> bool:
        """Whether `leave_enough` holds and, of each class that is named (content words, and the small words of
        `core.text.compare`), at least one other word and at most one fewer than are named is left.
        """
        named, others = (Counter(_is_content(text, span) for span in spans) for spans in self)
        return self.leave_enough and all(others[kind] >= max(named[kind] - 1, 1) for kind in named)


def named_by(text: str, words: Sequence[str], token: str) -> Words:
    """Return the words of `text` that an attribution's list `words` names, with all their occurrences."""
    return _parted(text, occurrences(text, words, token), token)


def taken_by(text: str, redacted: str, token: str) -> Words:
    """Return the words of `text` that are missing from `redacted`, the model's own version of it."""
    return _parted(text, _taken_out(text, redacted, token), token)


def random_masks(text: str, words: Words, token: str, n: int, seed: int) -> list[str]:
    """Return at most `n` different texts, each with as many words masked as are named, but no named one.

    Content words are sampled to match content words, and small words (`core.text.compare`) to match small ones:
    otherwise most samples would mask "the", and naming any noun would look informative. If a class has too few words,
    the rest comes from the other class. All choices are equally likely; if there are fewer than `n`, all of them are
    returned. Empty if nothing is named or fewer other words than named ones are left.
    """
    if not words.named or not words.leave_enough:
        return []
    content = [span for span in words.others if _is_content(text, span)]
    small = [span for span in words.others if not _is_content(text, span)]
    wanted = sum(_is_content(text, span) for span in words.named)
    of_content = max(min(wanted, len(content)), len(words.named) - len(small))
    of_small = len(words.named) - of_content
    draw = random.Random(seed)
    chosen: dict[tuple[Span, ...], None] = {}
    while len(chosen) < min(n, math.comb(len(content), of_content) * math.comb(len(small), of_small)):
        chosen[tuple(sorted(draw.sample(content, of_content) + draw.sample(small, of_small)))] = None
    return [_masked(text, one, token) for one in chosen]


def halves(text: str, words: Words, token: str, seed: int) -> tuple[str, ...]:
    """Return two texts, each with all occurrences of one random half of the named words masked; empty for fewer than
    two words.
    """
    distinct = list(dict.fromkeys(text[slice(*span)].casefold() for span in words.named))
    random.Random(seed).shuffle(distinct)
    middle = len(distinct) // 2
    texts = []
    for half in (set(distinct[:middle]), set(distinct[middle:])):
        texts.append(_masked(text, [span for span in words.named if text[slice(*span)].casefold() in half], token))
    return tuple(texts) if middle else ()


def leaves_the_rest(text: str, redacted: str, token: str) -> bool:
    """Whether `redacted` is `text` with masks in place of words: the remaining words and marks .,!?:; must be those of
    the original, in its order and case. A mask may also replace marks. Other signs, white space and HTML tags are
    not compared.
    """
    rest = "".join(_tokens(text, ""))
    first, *segments = "".join(_tokens(redacted, token)).split(_GAP)
    if not segments:
        return first == rest
    last, at = segments.pop(), len(first)
    end = len(rest) - len(last)
    if not rest.startswith(first) or not rest.endswith(last):
        return False
    for segment in segments:
        # A mask replaces at least one word or mark.
        found_at = rest.find(segment, rest.find(_END, at) + 1, end)
        if found_at < 0:
            return False
        at = found_at + len(segment)
    return at < end


_START, _END, _GAP = "\2", "\0", "\1"


def _tokens(text: str, token: str) -> Iterator[str]:
    """Yield the word parts and marks of `text` in order, each between `_START` and `_END`; `_GAP` for a mask."""
    plain = unicodedata.normalize("NFC", _TAG.sub(" ", text).replace("…", "..."))
    for part in regex.finditer(rf"({_mask(token)})|\w+|[.,!?:;]", plain):
        yield _GAP if part[1] is not None else _START + part[0] + _END


# Brackets around a few words, a sign that no sentence needs, a row of one sign, a row of the letter x.
_OTHER_MASK = re.compile(
    r"(?:[\[(<{【][^\[\](){}<>【】\n]{0,30}[\])>}】]|(?:[^\w\s.,;:!?'\"“”‘’()-]|_)+|([.*-])\1\1+|\b[Xx]{3,}\b)+"
)


def as_asked(original: str, edited: str, token: str) -> str:
    """Return an edit of `original` without characters that nobody can see or tell from others, unless the original has
    them, and with `token` for each mask, also if all are in another shape ("███", "[MASK]"). A fresh session should not
    know the edit by these.
    """
    known = {char: char for char in original}
    edited = "".join(known.get(char, _plain(char)) for char in edited)
    if not token:
        return edited
    if masks(edited, token) > masks(original, token):
        return str(regex.sub(_mask(token), token, edited))
    return _OTHER_MASK.sub(lambda mark: mark[0] if mark[0] in original else token, edited)


def _plain(char: str) -> str:
    plain = unicodedata.normalize("NFKC", char)
    return "" if unicodedata.category(char) == "Cf" else plain if len(plain) == 1 else char


def mask_spans(text: str, token: str) -> list[Span]:
    """Return where masks are in `text`."""
    return [match.span() for match in regex.finditer(_mask(token), text)]


def masks(text: str, token: str) -> int:
    """Return the number of masks in `text`."""
    return len(mask_spans(text, token))


def added_words(text: str, edited: str, token: str) -> list[str]:
    """Return the words of `edited` that do not come from `text`, without masks; case and order are ignored. "movie's"
    and "well-made" are compared part by part, because a model may mask only one part.
    """
    return list((Counter(_parts(edited, token)) - Counter(_parts(text, token))).elements())


def mask_all(text: str, token: str) -> str:
    """Return `text` with every word masked; punctuation and spaces stay. A model that still answers does so without the
    paragraph.
    """
    return _masked(text, [span for span, _ in _words(text, token)], token)


def masked_share(text: str, token: str) -> float:
    """Return masks ÷ (masks + words), from 0 to 1; 0 for a text with neither."""
    masked, words = masks(text, token), len(_words(text, token))
    return masked / (masked + words) if masked + words else 0.0


def over_redacted(text: str, token: str) -> bool:
    """Whether more than `OVER_REDACTED` of the text is masked."""
    return masked_share(text, token) > OVER_REDACTED


def _words(text: str, token: str) -> list[tuple[Span, str]]:
    """Return the words of `text` with their positions, without the masks."""
    matches = regex.finditer(rf"({_mask(token)})|{_WORD}", text)
    return [(word.span(), word[0]) for word in matches if word[1] is None]


def _parts(text: str, token: str) -> list[str]:
    return [part for _, word in _words(text, token) for part in re.split("[’'-]", word.casefold())]


def _mask(token: str) -> str:
    """Return the pattern of a mask; one that matches nothing if there is no token.

    Models also write [Redacted], [REDACTED 1], or REDACTED without its brackets.
    """
    if not token:
        return "(?!)"
    bare = token.strip("[]")
    numbered = rf"(?i:\[{regex.escape(bare)}[ _-]?\d{{1,3}}\])|" if token == f"[{bare}]" else ""
    return rf"{numbered}(?i:{regex.escape(token)})" + (rf"|(?<!\w){regex.escape(bare)}(?!\w)" if bare.isupper() else "")


def occurrences(text: str, words: Sequence[str], token: str) -> list[Span]:
    """Return where `words` are in `text`; if several begin at one place, the longest."""
    # With composed and with combining accents, because texts use both; as written, and without invisible characters.
    can_be = [word for word in words if len(word) <= 2 * len(text)]
    written = {*can_be, *("".join(map(_plain, word)) for word in can_be)}
    forms = {unicodedata.normalize(form, word).strip() for word in written for form in ("NFC", "NFD")}
    alternatives = set(map(_as_pattern, forms - {""}))
    if not alternatives:
        return []
    longest_first = "|".join(sorted(alternatives, key=lambda pattern: (-len(pattern), pattern)))
    matches = regex.finditer(rf"({_mask(token)})|(?i:{longest_first})", text)
    return [match.span() for match in matches if match[1] is None]


def _as_pattern(word: str) -> str:
    """Return the pattern of `word` as a whole word: no letter, digit or accent may touch it, nor n't ("can" is not in
    "can't").

    Scripts written without spaces have no such boundary. Any white space matches any other, and so do apostrophes and
    hyphens.
    """
    inner: str = r"\s+".join(regex.escape(part, literal_spaces=True) for part in word.split())
    inner = regex.sub(r"\\?[-‐‑]", "[-‐‑]", regex.sub(r"\\?['’]", "['’]", inner))
    before = r"(?<!\w)" if regex.match(rf"(?!{_UNSPACED})\w", word) else ""
    after = r"(?!\w|['’]t\b)" if regex.search(rf"(?!{_UNSPACED})\w$", word) else ""
    return before + inner + after


def _taken_out(text: str, redacted: str, token: str) -> list[Span]:
    """Return where the words of `text` are that `redacted` no longer has, ignoring case; a word that only moved is not
    gone.
    """
    gone = Counter(word.casefold() for _, word in _words(text, token))
    gone -= Counter(word.casefold() for _, word in _words(redacted, token))
    spans, at = [], 0
    for piece in pieces(text, redacted):
        for (start, end), word in _words(piece.text, token) if piece.op == "removed" else ():
            if gone[word.casefold()] > 0:
                gone[word.casefold()] -= 1
                spans.append((at + start, at + end))
        if piece.op != "added":
            at += len(piece.text)
    return spans


def _parted(text: str, spans: Sequence[Span], token: str) -> Words:
    """Split the words into those within `spans` and the others; a word that is named anywhere is not among the
    others.
    """
    words = _words(text, token)
    covered = {place for span in spans for place in range(*span)}
    named = {span: word.casefold() for span, word in words if not covered.isdisjoint(range(*span))}
    listed = set(named.values())
    return Words(list(named), [span for span, word in words if word.casefold() not in listed])


def _is_content(text: str, span: Span) -> bool:
    return text[slice(*span)].casefold().replace("’", "'") not in compare.english()


def _masked(text: str, spans: Iterable[Span], token: str) -> str:
    for start, end in sorted(spans, reverse=True):
        text = text[:start] + token + text[end:]
    return text
