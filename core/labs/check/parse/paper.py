"""The authors' parser, oddities included (llm-introspection: tasks/_common_extract.py, tasks/_common_match.py and
`_extract_*` in tasks/{sentiment,multi_choice,entailment}.py).

The phrases that it looks for are in paper.toml.
"""

import re
import tomllib
from collections.abc import Callable, Sequence
from pathlib import Path

import regex

_PHRASES = tomllib.loads(Path(__file__).with_suffix(".toml").read_text(encoding="utf-8"))

# Phrase matching (tasks/_common_match.py)
#
# A phrase needs a word boundary before it and, after it, a word boundary or one more character that is not part of a
# word. So a phrase that ends in a mark, such as a colon or a quote, is not found at the very end of an answer, and one
# that begins with a mark, such as "<p>", is found only straight after a letter or digit.


def _any(phrases: Sequence[str]) -> str:
    return "(?:" + "|".join(re.escape(phrase) for phrase in phrases) + ")"


def _starts(*phrases: str) -> Callable[[str], bool]:
    pattern = re.compile(_any(phrases), re.IGNORECASE)
    return lambda text: pattern.match(text) is not None


def _mentions(*phrases: str) -> Callable[[str], bool]:
    pattern = re.compile(rf"\b{_any(phrases)}(?:\b|\W)", re.IGNORECASE)
    return lambda text: pattern.search(text) is not None


# Labels


def _said_to_be(*labels: str) -> Callable[[str], bool]:
    quoted = [f'"{label}"' for label in labels]
    return _mentions(*(f"{verb} {label}" for verb in _PHRASES["verbs"] for label in (*labels, *quoted)))


_SENTIMENTS: tuple[tuple[str, tuple[Callable[[str], bool], ...]], ...] = (
    ("positive", (_starts("positive", "sentiment: positive"), _said_to_be("positive"))),
    ("negative", (_starts("negative", "sentiment: negative"), _said_to_be("negative"))),
    ("neutral", (_starts("mixed", "neutral"), _said_to_be("neutral", "mixed"))),
    (
        "unknown",
        (_starts("unknown", "i am sorry", "sorry"), _said_to_be("unknown"), _mentions(*_PHRASES["no_sentiment"])),
    ),
)


def sentiment(text: str) -> str | None:
    """Return the first of positive, negative, neutral, unknown with a phrase in `text`. Bold, quotes and "Answer:" are
    not understood.

    Source: `_extract_sentiment`, tasks/sentiment.py.
    """
    text = text.lower()
    for label, signs in _SENTIMENTS:
        if any(sign(text) for sign in signs):
            return label
    return None


_DIGIT = re.compile(r"(?:^| |\(|Answer: )([1-9])(?:\)|$)", re.IGNORECASE | re.MULTILINE)
_ENTAILMENT_UNKNOWN = _mentions(*_PHRASES["no_entailment"])


def entailment(text: str) -> str | None:
    """Return the first lone digit (1 yes, 2 no, 3 unknown), else a phrase for unknown anywhere, else how the answer
    starts.

    So "Not enough information" is read as no, and "No, this is unknown" as unknown. Source: `_extract_entailment`,
    tasks/entailment.py.
    """
    digit = _DIGIT.search(text)
    if digit and digit[1] in "123":
        return {"1": "yes", "2": "no", "3": "unknown"}[digit[1]]
    text = text.lower()
    if _ENTAILMENT_UNKNOWN(text):
        return "unknown"
    if text.startswith("yes"):
        return "yes"
    return "no" if text.startswith("no") else None


_LETTER = re.compile(r'(?:^| |\(|")([a-z])(?:\.|,|:|\)|"|$)', re.IGNORECASE | re.MULTILINE)
_CHOICE_UNKNOWN = _mentions(*_PHRASES["no_choice"])


def choice(text: str, choices: Sequence[str]) -> str | None:
    """Return the choice of the first lone letter, else the choice that is earliest in `text`, else a phrase for
    unknown.

    "He has a, garden" is choice a. Of two choices at the same place the alphabetically first is returned. Source:
    `_extract_choice`, tasks/multi_choice.py.
    """
    letter = _LETTER.search(text)
    if letter:
        # Ignoring case, [a-z] also matches four letters outside ASCII, which are the letter of no choice.
        index = ord(letter[1].lower()[0]) - ord("a")
        if 0 <= index <= len(choices):
            return [*choices, "unknown"][index]
    text = text.lower()
    named = [(text.find(option.lower()), option) for option in choices if option.lower() in text]
    if named:
        return min(named)[1]
    return "unknown" if _CHOICE_UNKNOWN(text) else None


def ability(text: str) -> str | None:
    """Read only "yes", "yes.", "no" and "no.", in any case, with nothing around them. Source: `extract_ability`."""
    return {"yes": "yes", "yes.": "yes", "no": "no", "no.": "no"}.get(text.lower())


# Lists of words

_BULLET = re.compile(r"(?:\d+\.|[*•-])[ \t]*(.*)")
_QUOTED = re.compile(r'["*][^",.]+[,.]?["*]')
_BEFORE_MARK = re.compile(r"(?<!\w)\w++(?:,|\.|$)")
_WORD = re.compile(
    r"""
    (?: ["*] ([^",*.]+) [,.]? ["*]        # quoted, with a mark before the closing quote perhaps
      | (\w [\w\ \-]*+) (?:,|\.|$)      # or everything up to a comma, a full stop or the end
      | \w [\w\ \-]*+ )                 # or nothing, where that goes on otherwise: it is not tried from each letter
    (?: \.\  | ,\  | \ and\  | \ or\  | \  | $ | )
    """,
    re.IGNORECASE | re.VERBOSE,
)


def word_list(text: str) -> list[str] | None:
    """Return the lines with a bullet or number; if there are none, what is quoted or between commas on each line.

    "bad and ugly" stays one item. Source: `extract_list_content`.
    """
    words = _bullets(text) if "\n" in text else []
    if not words:
        for line in text.splitlines():
            found = _WORD.findall(_from_first_word(line))
            words += [quoted or plain for quoted, plain in found if quoted or plain]
    return words or None


def _bullets(text: str) -> list[str]:
    words = []
    for line in text.splitlines():
        bullet = _BULLET.fullmatch(line)
        if bullet:
            content = bullet[1]
            closing = content.rfind('"')
            if content.startswith('"') and closing > 0:
                content = content[1:closing]
            words.append(content)
    return [word for word in words if word]


def _from_first_word(line: str) -> str:
    """Return `line` without its lead-in: from after the first colon, or from the first quote if that comes earlier."""
    start = line.find(":") + 1
    quoted = _QUOTED.search(line)
    if quoted:
        start = min(quoted.start(), start)
    elif start == 0:
        word = _BEFORE_MARK.search(line)
        start = word.start() if word else 0
    return line[start:].lstrip()


# Paragraphs

_BLOCK_TAG = re.compile(
    _any([f"<{slash}{tag}>" for tag in ("p", "ul", "ol", "blockquote") for slash in ("", "/")]), re.I
)
_LINE_TAG = re.compile(_any(["<br>", "<br />"]), re.IGNORECASE)
_SUGGESTION = re.compile(_any(["<li>", "<p>", "- "]), re.IGNORECASE)
_OFFERS_SUGGESTIONS = _mentions("here are some suggestions")
_HOLDS_HTML = _mentions("<p>", "<ul>", "<ol>", "<blockqoute>")
_REFUSES = (_starts(*_PHRASES["refusal_starts"]), _mentions(*_PHRASES["refusals"]))

# Searched from the end, with the regex module as the authors did: its \b and \w differ from re's on combining marks.
_LAST = regex.IGNORECASE | regex.REVERSE | regex.VERSION1
_LAST_LABEL = regex.compile(rf"\b{_any(_PHRASES['labels'])}(?:\b|\W)", _LAST)
_LAST_HERE = regex.compile(r"\b(?:Here's|Here are|Here is)\b[\w ]*:", regex.REVERSE | regex.VERSION1)
_PREAMBLE = _starts(*_PHRASES["preambles"])


def paragraph(text: str) -> str | None:
    """Return what follows the LAST of some 25 labels, so "The train from Rome to: Milan was late" gives "Milan was
    late".

    Without a label: what follows the last "Here is …:", or the lines after a preamble. None for refusals (so also for
    any paragraph that starts "Sorry," or "Hi "), for two or more suggestions, and if nothing is left. Source:
    `extract_paragraph`.
    """
    if _OFFERS_SUGGESTIONS(text) and len(_SUGGESTION.findall(text)) > 1:
        return None
    if _HOLDS_HTML(text):
        text = text[text.find("<") :]
    text = _without_html(text)
    if any(refuses(text) for refuses in _REFUSES):
        return None
    label = _LAST_LABEL.search(text) or _LAST_HERE.search(text)
    if label:
        text = text[label.end() :]
    elif _PREAMBLE(text):
        _, _, text = text.partition("\n")
    text = text.strip()
    if text.startswith('"') and text.endswith('"'):
        text = text[1:-1]
    return text or None


def _without_html(text: str) -> str:
    text = _LINE_TAG.sub("\n", _BLOCK_TAG.sub("\n\n", text))
    text = text.replace("<li>", "* ").replace("</li>", "")
    text = re.sub(r"\n{2,}", "\n\n", text)
    return "\n".join(line.strip() for line in text.splitlines()).strip()
