"""Three classifiers that decide by a few words of the paragraph, so that it is known which words matter.

Each returns its answer, the words it decides by, every word that plays a part in its rule, and the paragraph edited for
another answer. The word lists are in `data/controls/lexicon.toml`.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterable, Mapping
from functools import cache
from itertools import pairwise
from typing import Protocol

from ...events import Frozen
from ...package_data import DATA
from .mask import redact

LEXICON = DATA / "controls" / "lexicon.toml"

_WORD = re.compile(r"[^\W_]+(?:['’][^\W_]+)*")
_NOT_TRUE = "It is not true that "


class Slots(Frozen):
    """The slots that a classifier reads. It ignores masks in the paragraph."""

    paragraph: str
    mask: str = ""
    question: str = ""
    choices: tuple[str, ...] = ()
    hypothesis: str = ""

    @classmethod
    def from_slots(cls, slots: Mapping[str, str]) -> Slots:
        """Return the slots of a rendered prompt, in which `choices` has one choice per line. Raises pydantic's
        ValidationError if they do not fit.
        """
        choices = tuple(slots["choices"].split("\n")) if slots.get("choices") else ()
        return cls.model_validate({**slots, "choices": choices})

    def edited(self, paragraph: str) -> Slots:
        """Return the same question about another paragraph."""
        return self.model_copy(update={"paragraph": paragraph})


class Classifier(Protocol):
    """What the controls need to know about a task."""

    def label(self, asked: Slots) -> str:
        """Return the answer; "unknown" if none of the deciding words is left."""
        ...

    def deciding(self, asked: Slots) -> list[str]:
        """Return the words of the paragraph without which the answer is "unknown", in their order, each once."""
        ...

    def used(self, asked: Slots) -> set[str]:
        """Return every word, in lower case, that plays a part in the rule for this case."""
        ...

    def edit(self, asked: Slots, wanted: str) -> str:
        """Return the paragraph edited so that the answer is `wanted`; an empty `wanted` means any other answer than
        now.
        """
        ...


@cache
def classifiers() -> Mapping[str, Classifier]:
    """Return the classifier of each task."""
    data = tomllib.loads(LEXICON.read_text(encoding="utf-8"))
    return {
        "sentiment": CountingWords(tuple((good, bad) for good, bad in data["sentiment"]["pairs"])),
        "multi_choice": LastMention(frozenset(data["multi_choice"]["question_words"])),
        "entailment": WordOverlap(
            frozenset(data["entailment"]["negations"]), frozenset(data["entailment"]["small_words"])
        ),
    }


@cache
def substitutes() -> tuple[str, ...]:
    """Return the words that the decoy puts in place of others."""
    return tuple(tomllib.loads(LEXICON.read_text(encoding="utf-8"))["decoy"]["substitutes"])


def words(text: str) -> list[str]:
    """Return the words of `text` in lower case, without the possessive 's."""
    return [re.sub(r"['’]s$", "", word.casefold()) for word in _WORD.findall(text)]


class CountingWords(Classifier):
    """Sentiment: more words of praise than of blame is positive, fewer negative, equally many neutral, none unknown."""

    def __init__(self, pairs: tuple[tuple[str, str], ...]) -> None:
        self.swap = dict(pairs) | {bad: good for good, bad in pairs}
        self.side = {good: "positive" for good, _ in pairs} | {bad: "negative" for _, bad in pairs}
        longest_first = "|".join(sorted(self.swap, key=len, reverse=True))
        self.pattern = re.compile(rf"\b(?:(an?)(\s+))?({longest_first})\b", re.IGNORECASE)

    def label(self, asked: Slots) -> str:
        sides = [self.side[word] for word in self._listed(asked)]
        praise, blame = sides.count("positive"), sides.count("negative")
        if not sides:
            return "unknown"
        return "neutral" if praise == blame else "positive" if praise > blame else "negative"

    def deciding(self, asked: Slots) -> list[str]:
        return list(dict.fromkeys(self._listed(asked)))

    def used(self, asked: Slots) -> set[str]:
        return set(self.swap)

    def edit(self, asked: Slots, wanted: str) -> str:
        wanted = wanted or ("positive" if self.label(asked) == "negative" else "negative")
        edited = self.pattern.sub(lambda match: self._swapped(match, wanted), asked.paragraph)
        if self.label(asked.edited(edited)) == wanted:
            return edited
        return f"{edited} All in all it was {'good' if wanted == 'positive' else 'bad'}.".strip()

    def _listed(self, asked: Slots) -> list[str]:
        return [match[3].lower() for match in self.pattern.finditer(_unmasked(asked))]

    def _swapped(self, match: re.Match[str], wanted: str) -> str:
        article, space, word = match.groups()
        if self.side[word.lower()] == wanted:
            return match[0]
        other = like(self.swap[word.lower()], word)
        if not article:
            return other
        return like("an" if other[0].lower() in "aeiou" else "a", article) + space + other


class LastMention(Classifier):
    """Multi-choice, as in bAbI-1: the last choice mentioned in the last sentence about the question's subject.

    A sentence is about the subject if it has every word of the question that is not a mere question word.
    """

    def __init__(self, question_words: frozenset[str]) -> None:
        self.question_words = question_words

    def label(self, asked: Slots) -> str:
        mentions = self._mentions(asked)
        return mentions[-1][1] if mentions else "unknown"

    def deciding(self, asked: Slots) -> list[str]:
        return list(dict.fromkeys(_bare(choice) for _, choice in self._mentions(asked)))

    def used(self, asked: Slots) -> set[str]:
        return set(words(" ".join(asked.choices))) | set(self._subject(asked)) | self.question_words

    def edit(self, asked: Slots, wanted: str) -> str:
        if not wanted:
            others = [choice for choice in asked.choices if choice != self.label(asked)]
            if not others:
                return self._without_mentions(asked)
            wanted = others[0]
        mentions = self._mentions(asked)
        if not mentions:
            about = " ".join(self._subject(asked)) or "answer"
            return f"{asked.paragraph} {about.capitalize()}: {wanted}.".strip()
        start, choice = mentions[-1]
        return asked.paragraph[:start] + _bare(wanted) + asked.paragraph[start + len(_bare(choice)) :]

    def _without_mentions(self, asked: Slots) -> str:
        """Return the paragraph with each mention replaced by another word, so that the question cannot be answered."""
        instead = next(word for word in substitutes() if word not in self.used(asked))
        edited = asked.paragraph
        for start, choice in reversed(self._mentions(asked)):
            edited = edited[:start] + instead + edited[start + len(_bare(choice)) :]
        return edited

    def _subject(self, asked: Slots) -> list[str]:
        return [word for word in words(asked.question) if word not in self.question_words]

    def _mentions(self, asked: Slots) -> list[tuple[int, str]]:
        """Return each choice mentioned in a sentence about the subject with its position, in order."""
        named = {_bare(choice).casefold(): choice for choice in reversed(asked.choices) if _bare(choice)}
        if not named:
            return []
        longest_first = "|".join(re.escape(name) for name in sorted(named, key=len, reverse=True))
        choice = re.compile(rf"(?<!\w)(?:{longest_first})(?!\w)", re.IGNORECASE)
        subject = set(self._subject(asked))
        return [
            (start + match.start(), named[match[0].casefold()])
            for start, sentence in _sentences(asked.paragraph)
            if subject <= set(words(sentence))
            for match in choice.finditer(sentence)
            if match[0].casefold() in named
        ]


class WordOverlap(Classifier):
    """Entailment: the sentence that shares most words with the statement (the last of several) decides.

    Yes: all of the statement's words, and both have an even or both an odd number of negations. Unknown: fewer than
    half of the words. Otherwise: no.
    """

    def __init__(self, negations: frozenset[str], small_words: frozenset[str]) -> None:
        self.negations = negations
        self.small_words = small_words

    def label(self, asked: Slots) -> str:
        content = self._content(asked)
        _, sentence = self._deciding_sentence(asked)
        shared = len(content & set(words(sentence)))
        if not content or 2 * shared < len(content):
            return "unknown"
        agree = self._negations(sentence) % 2 == self._negations(asked.hypothesis) % 2
        return "yes" if shared == len(content) and agree else "no"

    def deciding(self, asked: Slots) -> list[str]:
        content = self._content(asked)
        return list(dict.fromkeys(word for word in words(_unmasked(asked)) if word in content))

    def used(self, asked: Slots) -> set[str]:
        return self._content(asked) | self.negations | self.small_words

    def edit(self, asked: Slots, wanted: str) -> str:
        now = self.label(asked)
        wanted = wanted or ("no" if now == "yes" else "yes")
        if now == wanted:
            return asked.paragraph
        start, sentence = self._deciding_sentence(asked)
        turned = self._turned(sentence)
        edited = asked.paragraph[:start] + turned + asked.paragraph[start + len(sentence) :]
        if self.label(asked.edited(edited)) == wanted:
            return edited
        said = asked.hypothesis if wanted == "yes" else self._turned(asked.hypothesis)
        return f"{asked.paragraph} {said}".strip()

    def _content(self, asked: Slots) -> set[str]:
        return {word for word in words(asked.hypothesis) if word not in self.small_words and not self._negates(word)}

    def _negates(self, word: str) -> bool:
        return word in self.negations or word.endswith(("n't", "n’t"))

    def _negations(self, text: str) -> int:
        return sum(self._negates(word) for word in words(text))

    def _deciding_sentence(self, asked: Slots) -> tuple[int, str]:
        """Return the position of the deciding sentence, and the sentence."""
        content = self._content(asked)
        best, most = (0, ""), 0
        for start, sentence in _sentences(asked.paragraph):
            shared = len(content & set(words(sentence.replace(asked.mask, " ") if asked.mask else sentence)))
            if shared and shared >= most:
                best, most = (start, sentence), shared
        return best

    def _turned(self, sentence: str) -> str:
        """Return the sentence with one negation fewer or, if it has none, with one more."""
        if sentence.startswith(_NOT_TRUE):
            rest = sentence[len(_NOT_TRUE) :]
            return rest[:1].upper() + rest[1:]
        for match in _WORD.finditer(sentence):
            if match[0].casefold() in self.negations:
                return sentence[: match.start()] + sentence[match.end() :].lstrip()
            if self._negates(match[0].casefold()):
                return sentence[: match.end() - 3] + sentence[match.end() :]
        first, _, rest = sentence.partition(" ")
        return (
            _NOT_TRUE + (first.lower() if first.lower() in self.small_words else first) + (" " + rest if rest else "")
        )


def mask_words(asked: Slots, listed: Iterable[str]) -> str:
    """Return the paragraph with `listed` masked."""
    return redact(asked.paragraph, list(listed), asked.mask or "[REDACTED]", "repaired")


def _unmasked(asked: Slots) -> str:
    return asked.paragraph.replace(asked.mask, " ") if asked.mask else asked.paragraph


def _sentences(text: str) -> list[tuple[int, str]]:
    """Return the sentences with their start positions."""
    ends = [match.end() for match in re.finditer(r"(?<![.!?])[.!?]+[\"”’')]*(?=\s)", text)]
    pieces = [(start, text[start:end]) for start, end in pairwise([0, *ends, len(text)])]
    return [(start + len(piece) - len(piece.lstrip()), piece.lstrip()) for start, piece in pieces if piece.strip()]


def _bare(choice: str) -> str:
    return choice.strip().strip('.,;:!?"“”').strip()


def like(word: str, model: str) -> str:
    """Return `word` capitalized or in capitals, as `model` is."""
    if len(model) > 1 and model.isupper():
        return word.upper()
    return word.capitalize() if model[:1].isupper() else word
