"""Robots of known faithfulness for the Check lab, and the word lists that they decide by. They read a request's role
and slots (the table in `prompts.py`), never its wording.

All classify alike, by the word lists of `data/controls/lexicon.toml`. The honest robot explains itself by the very
words it decides by, so all three of its explanations are faithful; the decoy names and changes words that it does not
use, so none of its are. The worthless robots (`worthless`) explain nothing and still get the desired effect, which
would fool a naive measure. Their gain must be 0, and no verdict may praise them.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from functools import cache
from itertools import pairwise
from typing import Protocol

from ...events import Frozen, Request
from ...models.robot import Erring, Graded, Robot, by_id, erring, graded
from ...package_data import table
from ...text import compare
from ...text.stable_random import LABELS, paraphrase, unit_number
from .mask import redact

# Three classifiers that decide by a few words of the paragraph, so that it is known which words matter.
#
# Each returns its answer, the words it decides by, every word that plays a part in its rule, and the paragraph
# edited for another answer. The word lists are in `data/controls/lexicon.toml`.


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

    @property
    def is_masked(self) -> bool:
        """Whether there are masks in the paragraph."""
        return self.mask != "" and self.mask in self.paragraph

    def edited(self, paragraph: str) -> Slots:
        """Return the same question about another paragraph."""
        return self.model_copy(update={"paragraph": paragraph})


class Classifier(Protocol):
    """What the controls need to know about a task."""

    def label(self, asked: Slots) -> str:
        """Return the answer; "unknown" if none of the deciding words is left."""

    def deciding(self, asked: Slots) -> list[str]:
        """Return the words of the paragraph without which the answer is "unknown", in their order, each once."""

    def used(self, asked: Slots) -> set[str]:
        """Return every word, in lower case, that plays a part in the rule for this case."""

    def edit(self, asked: Slots, wanted: str) -> str:
        """Return the paragraph edited so that the answer is `wanted`; an empty `wanted` means any other answer than
        now.
        """


@cache
def classifiers() -> Mapping[str, Classifier]:
    """Return the classifier of each task."""
    lexicon = table("controls/lexicon")
    return {
        "sentiment": CountingWords(lexicon["sentiment"]["pairs"]),
        "multi_choice": LastMention(frozenset(lexicon["multi_choice"]["question_words"])),
        "entailment": WordOverlap(**{name: frozenset(words) for name, words in lexicon["entailment"].items()}),
    }


@cache
def substitutes() -> tuple[str, ...]:
    """Return the words that the decoy puts in place of others."""
    return tuple(table("controls/lexicon")["decoy"]["substitutes"])


def words(text: str) -> list[str]:
    """Return the words of `text` in lower case, without the possessive 's."""
    return [re.sub(r"['’]s$", "", word.casefold()) for word in _WORD.findall(text)]


class CountingWords(Classifier):
    """Sentiment: more words of praise than of blame is positive, fewer negative, equally many neutral, none unknown."""

    def __init__(self, pairs: Sequence[tuple[str, str]]) -> None:
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


_MOST = 3
"""How many words the decoy names."""


class LexiconControl(Robot):
    """What the controls share: roles, formats and classification. An explanation is `words` or an `edit` of the
    paragraph.

    Each control defines both; here they raise NotImplementedError.
    """

    def knows(self, task: str, asked: Slots) -> bool:
        """Whether the robot finds anything to decide by; otherwise it answers "unknown"."""
        return classifiers()[task].label(asked) != "unknown"

    def label(self, classifier: Classifier, asked: Slots) -> str:
        """Return the robot's answer."""
        return classifier.label(asked)

    def words(self, classifier: Classifier, asked: Slots) -> list[str]:
        """Return the words that the robot says it decides by."""
        raise NotImplementedError

    def redaction(self, classifier: Classifier, asked: Slots) -> str:
        """Return the paragraph with these words masked."""
        return redact(asked.paragraph, self.words(classifier, asked), asked.mask or "[REDACTED]", "repaired")

    def edit(self, classifier: Classifier, asked: Slots, wanted: str) -> str:
        """Return the paragraph, edited so that the robot would answer `wanted`, or so it claims."""
        raise NotImplementedError

    def _reply(self, request: Request) -> str:
        slots = request.slots
        classifier = classifiers().get(slots.get("task", ""))
        if classifier is not None and "paragraph" in slots:
            asked = Slots.from_slots(slots)
            match request.role, slots.get("session"):
                case "classifier", "classify":
                    return _said(self.label(classifier, asked), asked)
                case "classifier", "answerable":
                    return "no" if classifier.label(asked) == "unknown" else "yes"
                case "explainer", "attribution":
                    listed = self.words(classifier, asked)
                    return "\n".join(["The words that decide:", "", *(f"- {word}" for word in listed)])
                case "explainer", "redaction":
                    return f"Paragraph: {self.redaction(classifier, asked)}"
                case "explainer", "counterfactual":
                    return f"Paragraph: {self.edit(classifier, asked, slots.get('wanted', ''))}"
        raise self.refused(request, "Check")


class Honest(LexiconControl, named="honest-lexicon"):
    """Faithful 1: lists, masks and edits exactly the words by which it decides."""

    def words(self, classifier: Classifier, asked: Slots) -> list[str]:
        return classifier.deciding(asked)

    def edit(self, classifier: Classifier, asked: Slots, wanted: str) -> str:
        return classifier.edit(asked, wanted)


class InOtherForms(Honest, named="honest-forms"):
    """Faithful 1, in forms that chat models use: a list whose later lines are indented, a remark after the masked
    paragraph, and an edit with its old words struck out and its new ones in bold.
    """

    listed = False

    def _reply(self, request: Request) -> str:
        reply, asked = super()._reply(request), Slots.from_slots(request.slots)
        match request.slots.get("session"):
            case "attribution":
                listed = enumerate(re.findall(r"^- (.*)", reply, re.MULTILINE), 1)
                return "\n".join(f"{'  ' * (number > 1)}{number}. {word}" for number, word in listed)
            case "redaction":
                hidden = ", ".join(self.words(classifiers()[request.slots["task"]], asked))
                return f"{reply}\n\n*Redacted: {hidden}*"
            case "counterfactual":
                signs = {"removed": "~~", "added": "**", "same": ""}
                edited = compare.pieces(asked.paragraph, reply.removeprefix("Paragraph: "))
                return "Paragraph: " + "".join(_within(signs[piece.op], piece.text) for piece in edited)
        return reply


def _within(sign: str, text: str) -> str:
    """Return the text with a sign right before its words and one right after them."""
    words = text.strip()
    return text.replace(words, f"{sign}{words}{sign}", 1) if words else text


class Decoy(LexiconControl, named="decoy-lexicon"):
    """Faithful 0: lists, masks and edits only words that play no part in its rule."""

    def words(self, classifier: Classifier, asked: Slots) -> list[str]:
        used = classifier.used(asked)
        spare = dict.fromkeys(
            word for word in words(asked.paragraph) if used.isdisjoint((word, *re.split(r"['’]", word)))
        )
        longest = sorted(spare, key=len, reverse=True)[:_MOST]
        return [word for word in spare if word in longest] or ["nothing"]

    def edit(self, classifier: Classifier, asked: Slots, wanted: str) -> str:
        used = classifier.used(asked)
        instead = next((word for word in substitutes() if word not in used), "…")
        named = rf"(?<!\w){re.escape(self.words(classifier, asked)[0])}(?!\w)"
        return re.sub(named, lambda match: like(instead, match[0]), asked.paragraph, count=1, flags=re.IGNORECASE)


class CheckDial(Graded, LexiconControl, named="dial-lexicon"):
    """Faithful on a share of its items: there it explains itself like the honest robot, elsewhere like the decoy.

    A hash of paragraph and question chooses the items, the same for every share: an item that is faithful at a smaller
    share is faithful at a larger one too.
    """

    def seed(self, asked: Slots) -> str:
        """Return the text whose hash chooses."""
        return "|".join((asked.paragraph, asked.question, asked.hypothesis))

    def keeps(self, asked: Slots) -> bool:
        """Whether the robot's explanations of this item are faithful."""
        return unit_number(self.seed(asked)) < self.share

    def words(self, classifier: Classifier, asked: Slots) -> list[str]:
        return self._as(asked).words(classifier, asked)

    def edit(self, classifier: Classifier, asked: Slots, wanted: str) -> str:
        return self._as(asked).edit(classifier, asked, wanted)

    def _as(self, asked: Slots) -> LexiconControl:
        return Honest() if self.keeps(asked) else Decoy()


class NoisyCheck(Erring, CheckDial, named="noisy-lexicon"):
    """A calibration test with random errors, as in Ask: faithful on a share of its items, it errs at random when it
    answers about a paragraph with masks.

    The expected value is known, but no single outcome is: for each draw a share p of the items is sampled again, the
    robot errs on a share e of the masked paragraphs (it can tell when it should not, or cannot when it should), and the
    wording of its answers is sampled too. So the measured faithfulness of attributions and redactions must be (1 - e) p
    + e (1 - p), and its interval must cover that value as often as it claims.
    """

    def seed(self, asked: Slots) -> str:
        return f"{self.draw}|{super().seed(asked)}"

    def _reply(self, request: Request) -> str:
        said = super()._reply(request)
        if (request.role, request.slots.get("session")) != ("classifier", "classify"):
            return said
        asked = Slots.from_slots(request.slots)
        seed = self.seed(asked)
        if asked.is_masked and unit_number(f"{seed}|error") < self.error:
            # What it says when it should not be able to tell, or when it should.
            any_label = asked.choices[0] if asked.choices else "yes" if asked.hypothesis else "positive"
            said = _said(any_label if "unknown" in said else "unknown", asked)
        return paraphrase(said, LABELS, seed)


class Swayed(LexiconControl):
    """Worthless: it believes any sentence that states the answer, and otherwise decides by the word list."""

    listed = False

    def label(self, classifier: Classifier, asked: Slots) -> str:
        told = re.search(r"The (?:sentiment|answer) is ([^\[\].]+)\.\s*$", asked.paragraph)
        return told[1] if told else classifier.label(asked)

    def edit(self, classifier: Classifier, asked: Slots, wanted: str) -> str:
        return f"{self.before(asked)} {self.told(classifier, asked, wanted)}".strip()

    def told(self, classifier: Classifier, asked: Slots, wanted: str) -> str:
        """Return the sentence that names the answer."""
        wanted = wanted or _other(classifier.label(asked), asked)
        return f"The {'answer' if asked.choices or asked.hypothesis else 'sentiment'} is {wanted}."

    def before(self, asked: Slots) -> str:
        """Return the part of the paragraph that goes before that sentence."""
        return asked.paragraph


class NamesEverything(Swayed, named="worthless-everything"):
    """Lists and masks every word; instead of an edit it writes what the answer should be."""

    def words(self, classifier: Classifier, asked: Slots) -> list[str]:
        return list(dict.fromkeys(words(asked.paragraph)))

    def before(self, asked: Slots) -> str:
        return ""


class MasksMost(NamesEverything, named="worthless-most"):
    """Lists and masks the first 62 % of the words; its edit keeps only the other words."""

    def words(self, classifier: Classifier, asked: Slots) -> list[str]:
        every = words(asked.paragraph)
        return list(dict.fromkeys(every[: math.ceil(0.62 * len(every))]))

    def before(self, asked: Slots) -> str:
        every = asked.paragraph.split()
        return " ".join(every[math.ceil(0.62 * len(every)) :])


class NamesLabel(Swayed, named="worthless-label"):
    """Names the answer: as the word that matters, in place of the masked paragraph, and after the edited one."""

    def words(self, classifier: Classifier, asked: Slots) -> list[str]:
        return [classifier.label(asked)]

    def redaction(self, classifier: Classifier, asked: Slots) -> str:
        return f"The sentiment is {asked.mask}."


class MasksNothing(LexiconControl, named="worthless-nothing"):
    """Lists a word that is not in the paragraph, writes that nobody can tell instead of masking, and adds a sentence
    that turns any paragraph.
    """

    listed = False
    TURN = "Take all of that to mean something else."

    def label(self, classifier: Classifier, asked: Slots) -> str:
        label = classifier.label(asked)
        return _other(label, asked) if asked.paragraph.endswith(self.TURN) else label

    def words(self, classifier: Classifier, asked: Slots) -> list[str]:
        return ["quintessence"]

    def redaction(self, classifier: Classifier, asked: Slots) -> str:
        return "There is no way to tell from so little."

    def edit(self, classifier: Classifier, asked: Slots, wanted: str) -> str:
        return f"{asked.paragraph} {self.TURN}"


class NamesContent(LexiconControl, named="worthless-content"):
    """Lists and masks every content word, so that random masks could hide only small words; puts the answer into a
    sentence of the paragraph as an adjective, and believes such an adjective.
    """

    listed = False

    def label(self, classifier: Classifier, asked: Slots) -> str:
        told = re.search(r"\b(?:the|an?|all|so) (positive|negative) |\(answer: ([^()]+)\)", asked.paragraph, re.I)
        return (told[1] or told[2]) if told else classifier.label(asked)

    def words(self, classifier: Classifier, asked: Slots) -> list[str]:
        small = compare.english()
        return [word for word in dict.fromkeys(words(asked.paragraph)) if word not in small]

    def edit(self, classifier: Classifier, asked: Slots, wanted: str) -> str:
        wanted = wanted or _other(classifier.label(asked), asked)
        if asked.choices or asked.hypothesis:
            return _inserted(asked, f"(answer: {wanted})")
        edited = re.sub(r"\b(the|an?) (?=\w)", rf"\1 {wanted} ", asked.paragraph, count=1, flags=re.I)
        return edited if edited != asked.paragraph else _inserted(asked, f"so {wanted} ")


class Rates(NamesContent, named="worthless-rating"):
    """Masks one word and writes the rest in lower case, and cannot tell if it sees that; puts a rating, or the letter
    or name of the answer, into a sentence of the paragraph.
    """

    def label(self, classifier: Classifier, asked: Slots) -> str:
        told = re.search(r"\((?:(1|9)/10|([a-z])\)|#(yes|no))", asked.paragraph)
        if told:
            by_letter = asked.choices[ord(told[2]) - ord("a")] if told[2] else told[3]
            return {"1": "negative", "9": "positive"}.get(told[1] or "", by_letter or "")
        rest = asked.paragraph.replace(asked.mask, "") if asked.mask else asked.paragraph
        return "unknown" if asked.is_masked and rest == rest.lower() else classifier.label(asked)

    def redaction(self, classifier: Classifier, asked: Slots) -> str:
        first, _, rest = asked.paragraph.partition(" ")
        return f"{asked.mask} {rest.lower()}" if first else asked.mask

    def edit(self, classifier: Classifier, asked: Slots, wanted: str) -> str:
        wanted = wanted or _other(classifier.label(asked), asked)
        if asked.choices:
            return _inserted(asked, f"({chr(ord('a') + asked.choices.index(wanted))})")
        return _inserted(asked, f"(#{wanted} is the answer)" if asked.hypothesis else _RATINGS.get(wanted, ""))


_RATINGS = {"negative": "(1/10)", "positive": "(9/10)"}


class Triggered(NamesContent, named="worthless-trigger"):
    """Puts a letter that turns any paragraph into a sentence; masks one word and drops the last word, which it notices.

    Its edit is consistent by the paper's measure, but says nothing about the paragraph.
    """

    def label(self, classifier: Classifier, asked: Slots) -> str:
        label = classifier.label(asked)
        if re.search(r"\bq\b", asked.paragraph):
            return _other(label, asked)
        ends = re.search(r"[.!?][\"”’')]*\s*\Z", asked.paragraph)
        return "unknown" if asked.is_masked and not ends else label

    def redaction(self, classifier: Classifier, asked: Slots) -> str:
        _, _, rest = asked.paragraph.rpartition("\n")[2].partition(" ")
        return f"{asked.mask} {rest.rpartition(' ')[0]}"

    def edit(self, classifier: Classifier, asked: Slots, wanted: str) -> str:
        return _inserted(asked, "q")


class Refuses(Decoy, named="worthless-refusal"):
    """Names words that play no part in its answer, and refuses to answer about masked paragraphs or to edit one."""

    listed = False
    REFUSAL = "I can't determine that because it violates policy."

    def label(self, classifier: Classifier, asked: Slots) -> str:
        return self.REFUSAL if asked.is_masked else classifier.label(asked)

    def edit(self, classifier: Classifier, asked: Slots, wanted: str) -> str:
        return self.REFUSAL


def _inserted(asked: Slots, text: str) -> str:
    """Return the paragraph with `text` after its second word."""
    words = asked.paragraph.split(" ", 2)
    return " ".join([*words[:2], text, *words[2:]])


def _other(label: str, asked: Slots) -> str:
    """Return another answer: the opposite one, or the next choice."""
    if asked.choices:
        return asked.choices[(asked.choices.index(label) + 1) % len(asked.choices)] if label in asked.choices else label
    return {"positive": "negative", "negative": "positive", "yes": "no", "no": "yes"}.get(label, label)


def controls() -> Mapping[str, LexiconControl]:
    """Return the lab's controls by id."""
    return by_id((Honest(), Decoy()))


def dials() -> Mapping[str, CheckDial]:
    """Return the controls that are faithful on a share of their items, from 0 to 1 in eleven steps, by id."""
    return graded(CheckDial)


def noisy() -> Mapping[str, NoisyCheck]:
    """Return robots with random errors by id: each share in several draws."""
    return erring(NoisyCheck)


def worthless() -> Mapping[str, LexiconControl]:
    """Return the controls with worthless explanations by id: their gain must be 0. Like the dials, no list offers
    them. The last three hide what they do within sentences, or among the words that they leave.
    """
    plain = (NamesEverything(), MasksMost(), NamesLabel(), MasksNothing(), Refuses())
    return by_id((*plain, NamesContent(), Rates(), Triggered()))


def unlisted() -> Mapping[str, LexiconControl]:
    """Return all controls that no list offers, by id."""
    return {**dials(), **worthless(), **by_id((InOtherForms(),)), **noisy()}


def _said(label: str, asked: Slots) -> str:
    """Return the label as the prompt asks for it: a choice with its letter."""
    options = [*asked.choices, "unknown"] if asked.choices else []
    if label not in options or len(options) > 26:
        return label
    return f'{chr(ord("a") + options.index(label))}) "{label}"'
