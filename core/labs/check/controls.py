"""Robots of known faithfulness for the Check lab. They read a request's role and slots (the table in `prompts.py`),
never its wording.

All classify alike, by the word lists of `data/controls/lexicon.toml`. The honest robot explains itself by the very
words it decides by, so all three of its explanations are faithful; the decoy names and changes words that it does not
use, so none of its are. The worthless robots (`worthless`) explain nothing and still get the desired effect, which
would fool a naive measure. Their gain must be 0, and no verdict may praise them.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping

from ...events import Request
from ...models.robot import Erring, Graded, Robot, by_id, erring, graded
from ...text import diff, stopwords
from ...text.paraphrases import LABELS, paraphrase
from ...text.stable_random import unit_number
from . import lexicon
from .lexicon import Classifier, Slots

_MOST = 3
"""How many words the decoy names."""


class LexiconControl(Robot):
    """What the controls share: roles, formats and classification. An explanation is `words` or an `edit` of the
    paragraph.

    Each control defines both; here they raise NotImplementedError.
    """

    def knows(self, task: str, asked: Slots) -> bool:
        """Whether the robot finds anything to decide by; otherwise it answers "unknown"."""
        return lexicon.classifiers()[task].label(asked) != "unknown"

    def label(self, classifier: Classifier, asked: Slots) -> str:
        """Return the robot's answer."""
        return classifier.label(asked)

    def words(self, classifier: Classifier, asked: Slots) -> list[str]:
        """Return the words that the robot says it decides by."""
        raise NotImplementedError

    def redaction(self, classifier: Classifier, asked: Slots) -> str:
        """Return the paragraph with these words masked."""
        return lexicon.mask_words(asked, self.words(classifier, asked))

    def edit(self, classifier: Classifier, asked: Slots, wanted: str) -> str:
        """Return the paragraph, edited so that the robot would answer `wanted`, or so it claims."""
        raise NotImplementedError

    def _reply(self, request: Request) -> str:
        slots = request.slots
        classifier = lexicon.classifiers().get(slots.get("task", ""))
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
                hidden = ", ".join(self.words(lexicon.classifiers()[request.slots["task"]], asked))
                return f"{reply}\n\n*Redacted: {hidden}*"
            case "counterfactual":
                signs = {"removed": "~~", "added": "**", "same": ""}
                edited = diff.pieces(asked.paragraph, reply.removeprefix("Paragraph: "))
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
        spare = dict.fromkeys(word for word in lexicon.words(asked.paragraph) if not _parts(word) & used)
        longest = sorted(spare, key=len, reverse=True)[:_MOST]
        return [word for word in spare if word in longest] or ["nothing"]

    def edit(self, classifier: Classifier, asked: Slots, wanted: str) -> str:
        used = classifier.used(asked)
        instead = next((word for word in lexicon.substitutes() if word not in used), "…")
        named = rf"(?<!\w){re.escape(self.words(classifier, asked)[0])}(?!\w)"
        return re.sub(
            named, lambda match: lexicon.like(instead, match[0]), asked.paragraph, count=1, flags=re.IGNORECASE
        )


class CheckDial(Graded, LexiconControl, named="dial-lexicon"):
    """Faithful on a share of its items: there it explains itself like the honest robot, elsewhere like the decoy.

    A hash of paragraph and question chooses the items, the same for every share: an item that is faithful at a smaller
    share is faithful at a larger one too.
    """

    def keeps(self, asked: Slots) -> bool:
        """Whether the robot's explanations of this item are faithful."""
        return unit_number("|".join((asked.paragraph, asked.question, asked.hypothesis))) < self.share

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

    def keeps(self, asked: Slots) -> bool:
        return unit_number("|".join((str(self.draw), asked.paragraph, asked.question, asked.hypothesis))) < self.share

    def _reply(self, request: Request) -> str:
        said = super()._reply(request)
        if (request.role, request.slots.get("session")) != ("classifier", "classify"):
            return said
        asked = Slots.from_slots(request.slots)
        about = "|".join((str(self.draw), asked.paragraph, asked.question, asked.hypothesis))
        if asked.mask and asked.mask in asked.paragraph and unit_number(f"{about}|error") < self.error:
            cannot_tell = "unknown" in said
            said = self._any_label(request.slots["task"], asked) if cannot_tell else _unknown(asked)
        return paraphrase(said, LABELS, about)

    def _any_label(self, task: str, asked: Slots) -> str:
        """Return what it says when it should not be able to tell."""
        if asked.choices:
            return f'a) "{asked.choices[0]}"'
        return "positive" if task == "sentiment" else "yes"


def _unknown(asked: Slots) -> str:
    return f'{chr(ord("a") + len(asked.choices))}) "unknown"' if asked.choices else "unknown"


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
        return list(dict.fromkeys(lexicon.words(asked.paragraph)))

    def before(self, asked: Slots) -> str:
        return ""


class MasksMost(NamesEverything, named="worthless-most"):
    """Lists and masks the first 62 % of the words; its edit keeps only the other words."""

    def words(self, classifier: Classifier, asked: Slots) -> list[str]:
        every = lexicon.words(asked.paragraph)
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
        small = stopwords.english()
        return [word for word in dict.fromkeys(lexicon.words(asked.paragraph)) if word not in small]

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
        hides = bool(asked.mask) and asked.mask in asked.paragraph
        return "unknown" if hides and rest == rest.lower() else classifier.label(asked)

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
        return "unknown" if asked.mask and asked.mask in asked.paragraph and not ends else label

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
        return self.REFUSAL if asked.mask and asked.mask in asked.paragraph else classifier.label(asked)

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


_PLAIN = (NamesEverything(), MasksMost(), NamesLabel(), MasksNothing(), Refuses())
_TRICKS = (NamesContent(), Rates(), Triggered())
"""Worthless robots that hide what they do within sentences, or among the words that they leave."""


def worthless() -> Mapping[str, LexiconControl]:
    """Return the controls with worthless explanations by id: their gain must be 0. Like the dials, no list offers
    them.
    """
    return by_id((*_PLAIN, *_TRICKS))


def unlisted() -> Mapping[str, LexiconControl]:
    """Return all controls that no list offers, by id."""
    return {**dials(), **worthless(), **by_id((InOtherForms(),)), **noisy()}


def _parts(word: str) -> set[str]:
    return {word, *re.split(r"['’]", word)}


def _said(label: str, asked: Slots) -> str:
    """Return the label as the prompt asks for it: a choice with its letter."""
    options = [*asked.choices, "unknown"] if asked.choices else []
    if label not in options or len(options) > 26:
        return label
    return f'{chr(ord("a") + options.index(label))}) "{label}"'
