"""Three classifiers that decide by a few words of the paragraph, so that it is known which words matter.

Each says its answer, the words it decides by, every word that has a part in its rule, and how to edit the paragraph
into another answer. The word lists are in `data/controls/lexicon.toml`.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterable, Mapping
from functools import cache
from pathlib import Path
from typing import Protocol

from core.events import Frozen
from core.labs.consistency.mask import redact

LEXICON = Path(__file__).resolve().parents[3] / "data" / "controls" / "lexicon.toml"

_WORD = re.compile(r"[^\W_]+(?:['’][^\W_]+)*")
_NOT_TRUE = "It is not true that "


class Case(Frozen):
    """The slots that a classifier reads. Masks in the paragraph count as nothing."""

    paragraph: str
    mask: str = ""
    question: str = ""
    choices: tuple[str, ...] = ()
    hypothesis: str = ""

    @classmethod
    def of(cls, slots: Mapping[str, str]) -> Case:
        choices = tuple(slots["choices"].split("\n")) if slots.get("choices") else ()
        return cls.model_validate({**slots, "choices": choices})

    def edited(self, paragraph: str) -> Case:
        return self.model_copy(update={"paragraph": paragraph})


class Classifier(Protocol):
    """What the controls need to know of a task."""

    def label(self, case: Case) -> str:
        """The answer, "unknown" where none of the deciding words is left."""
        ...

    def deciding(self, case: Case) -> list[str]:
        """The words of the paragraph without which the answer is "unknown", in their order, each once."""
        ...

    def used(self, case: Case) -> set[str]:
        """Every word, in small letters, that has a part in the rule for this case."""
        ...

    def edit(self, case: Case, wanted: str) -> str:
        """The paragraph changed so that the answer is `wanted`; `wanted` empty means any other than now."""
        ...


@cache
def classifiers() -> Mapping[str, Classifier]:
    """The classifier of each task."""
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
    """What the decoy puts in place of words."""
    return tuple(tomllib.loads(LEXICON.read_text(encoding="utf-8"))["decoy"]["substitutes"])


def words(text: str) -> list[str]:
    """The words of `text` in small letters; possessive 's is left out."""
    return [re.sub(r"['’]s$", "", word.casefold()) for word in _WORD.findall(text)]


class CountingWords:
    """Sentiment: more words of praise than of blame is positive, fewer negative, equally many neutral, none unknown."""

    def __init__(self, pairs: tuple[tuple[str, str], ...]) -> None:
        self.swap = dict(pairs) | {bad: good for good, bad in pairs}
        self.side = {good: "positive" for good, _ in pairs} | {bad: "negative" for _, bad in pairs}
        longest_first = "|".join(sorted(self.swap, key=len, reverse=True))
        self.found = re.compile(rf"\b(?:(an?)(\s+))?({longest_first})\b", re.IGNORECASE)

    def label(self, case: Case) -> str:
        sides = [self.side[word] for word in self._listed(case)]
        praise, blame = sides.count("positive"), sides.count("negative")
        if not sides:
            return "unknown"
        return "neutral" if praise == blame else "positive" if praise > blame else "negative"

    def deciding(self, case: Case) -> list[str]:
        return list(dict.fromkeys(self._listed(case)))

    def used(self, case: Case) -> set[str]:
        return set(self.swap)

    def edit(self, case: Case, wanted: str) -> str:
        wanted = wanted or ("positive" if self.label(case) == "negative" else "negative")
        edited = self.found.sub(lambda found: self._swapped(found, wanted), case.paragraph)
        if self.label(case.edited(edited)) == wanted:
            return edited
        return f"{edited} All in all it was {'good' if wanted == 'positive' else 'bad'}.".strip()

    def _listed(self, case: Case) -> list[str]:
        return [found[3].lower() for found in self.found.finditer(_unmasked(case))]

    def _swapped(self, found: re.Match[str], wanted: str) -> str:
        article, space, word = found.groups()
        if self.side[word.lower()] == wanted:
            return found[0]
        other = like(self.swap[word.lower()], word)
        if not article:
            return other
        return like("an" if other[0].lower() in "aeiou" else "a", article) + space + other


class LastMention:
    """Multi-choice, as in bAbI-1: the last choice mentioned in the last sentence about the question's subject.

    A sentence is about the subject when it holds every word of the question that is not a mere question word.
    """

    def __init__(self, question_words: frozenset[str]) -> None:
        self.question_words = question_words

    def label(self, case: Case) -> str:
        mentions = self._mentions(case)
        return mentions[-1][1] if mentions else "unknown"

    def deciding(self, case: Case) -> list[str]:
        return list(dict.fromkeys(_bare(choice) for _, choice in self._mentions(case)))

    def used(self, case: Case) -> set[str]:
        return set(words(" ".join(case.choices))) | set(self._subject(case)) | self.question_words

    def edit(self, case: Case, wanted: str) -> str:
        if not wanted:
            others = [choice for choice in case.choices if choice != self.label(case)]
            wanted = others[0] if others else self.label(case)
        mentions = self._mentions(case)
        if not mentions:
            about = " ".join(self._subject(case)) or "answer"
            return f"{case.paragraph} {about.capitalize()}: {wanted}.".strip()
        start, choice = mentions[-1]
        return case.paragraph[:start] + _bare(wanted) + case.paragraph[start + len(_bare(choice)) :]

    def _subject(self, case: Case) -> list[str]:
        return [word for word in words(case.question) if word not in self.question_words]

    def _mentions(self, case: Case) -> list[tuple[int, str]]:
        """Each choice mentioned in a sentence about the subject, and where, in order."""
        named = {_bare(choice).casefold(): choice for choice in reversed(case.choices) if _bare(choice)}
        if not named:
            return []
        longest_first = "|".join(re.escape(name) for name in sorted(named, key=len, reverse=True))
        choice = re.compile(rf"(?<!\w)(?:{longest_first})(?!\w)", re.IGNORECASE)
        subject = set(self._subject(case))
        return [
            (start + found.start(), named[found[0].casefold()])
            for start, sentence in _sentences(case.paragraph)
            if subject <= set(words(sentence))
            for found in choice.finditer(sentence)
            if found[0].casefold() in named
        ]


class WordOverlap:
    """Entailment: the sentence that shares most words with the statement (the last of several) decides.

    All of the statement's words and as many negations, counted by twos: yes. Less than half of the words: unknown.
    Otherwise: no.
    """

    def __init__(self, negations: frozenset[str], small_words: frozenset[str]) -> None:
        self.negations = negations
        self.small_words = small_words

    def label(self, case: Case) -> str:
        content = self._content(case)
        _, sentence = self._deciding_sentence(case)
        shared = len(content & set(words(sentence)))
        if not content or 2 * shared < len(content):
            return "unknown"
        agree = self._negations(sentence) % 2 == self._negations(case.hypothesis) % 2
        return "yes" if shared == len(content) and agree else "no"

    def deciding(self, case: Case) -> list[str]:
        content = self._content(case)
        return list(dict.fromkeys(word for word in words(_unmasked(case)) if word in content))

    def used(self, case: Case) -> set[str]:
        return self._content(case) | self.negations | self.small_words

    def edit(self, case: Case, wanted: str) -> str:
        now = self.label(case)
        wanted = wanted or ("no" if now == "yes" else "yes")
        if now == wanted:
            return case.paragraph
        start, sentence = self._deciding_sentence(case)
        turned = self._turned(sentence)
        edited = case.paragraph[:start] + turned + case.paragraph[start + len(sentence) :]
        if self.label(case.edited(edited)) == wanted:
            return edited
        said = case.hypothesis if wanted == "yes" else self._turned(case.hypothesis)
        return f"{case.paragraph} {said}".strip()

    def _content(self, case: Case) -> set[str]:
        return {word for word in words(case.hypothesis) if word not in self.small_words and not self._negates(word)}

    def _negates(self, word: str) -> bool:
        return word in self.negations or word.endswith(("n't", "n’t"))

    def _negations(self, text: str) -> int:
        return sum(self._negates(word) for word in words(text))

    def _deciding_sentence(self, case: Case) -> tuple[int, str]:
        """Where it starts, and the sentence."""
        content = self._content(case)
        best, most = (0, ""), 0
        for start, sentence in _sentences(case.paragraph):
            shared = len(content & set(words(sentence.replace(case.mask, " ") if case.mask else sentence)))
            if shared and shared >= most:
                best, most = (start, sentence), shared
        return best

    def _turned(self, sentence: str) -> str:
        """The sentence with one negation less, or where there is none, with one more."""
        if sentence.startswith(_NOT_TRUE):
            rest = sentence[len(_NOT_TRUE) :]
            return rest[:1].upper() + rest[1:]
        for found in _WORD.finditer(sentence):
            if found[0].casefold() in self.negations:
                return sentence[: found.start()] + sentence[found.end() :].lstrip()
            if self._negates(found[0].casefold()):
                return sentence[: found.end() - 3] + sentence[found.end() :]
        first, _, rest = sentence.partition(" ")
        return (
            _NOT_TRUE + (first.lower() if first.lower() in self.small_words else first) + (" " + rest if rest else "")
        )


def mask_words(case: Case, listed: Iterable[str]) -> str:
    """The paragraph with `listed` masked."""
    return redact(case.paragraph, list(listed), case.mask or "[REDACTED]", "repaired")


def _unmasked(case: Case) -> str:
    return case.paragraph.replace(case.mask, " ") if case.mask else case.paragraph


def _sentences(text: str) -> list[tuple[int, str]]:
    """Where each sentence starts, and the sentence."""
    return [(found.start(), found[0]) for found in re.finditer(r"\S.*?(?:[.!?]+[\"”’')]*(?=\s)|\Z)", text, re.DOTALL)]


def _bare(choice: str) -> str:
    return choice.strip().strip('.,;:!?"“”').strip()


def like(word: str, model: str) -> str:
    """`word` with a capital, or in capitals, as `model` is."""
    if len(model) > 1 and model.isupper():
        return word.upper()
    return word.capitalize() if model[:1].isupper() else word
