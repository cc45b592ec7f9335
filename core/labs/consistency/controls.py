"""Two robots of known faithfulness for the Check lab. They read a request's role and slots (the table in `prompts.py`),
never its wording.

Both classify alike, by the word lists of `data/controls/lexicon.toml`. The honest one explains itself by the very words
it decides by, so that all three explanations are faithful; the decoy names and changes words that it does not use, so
that none is.
"""

from __future__ import annotations

import re
import time
from collections.abc import Mapping

from core.events import Answer, OnText, Request
from core.labs.consistency import lexicon
from core.labs.consistency.lexicon import Classifier, Slots
from core.models.errors import Refused

_MOST = 3
"""Words that the decoy names."""


class LexiconControl:
    """What both share: roles, formats and classification. An explanation is `words` or an `edit` of the paragraph.

    Each control has its own of both; here they raise NotImplementedError.
    """

    id: str
    title: str
    about: str

    async def answer(self, request: Request, on_text: OnText) -> Answer:
        """Answer at once, in the formats that the lab asks for. Raises Refused for another lab's role or task."""
        begun = time.perf_counter()
        text = self._reply(request)
        for piece in re.findall(r"\s*\S+\s*", text):
            on_text(piece)
        seconds = time.perf_counter() - begun
        return Answer(text=text, seconds=seconds, first_token_seconds=seconds, finish_reason="stop")

    def knows(self, task: str, asked: Slots) -> bool:
        """Whether it finds anything to decide by; else it answers "unknown"."""
        return lexicon.classifiers()[task].label(asked) != "unknown"

    def words(self, classifier: Classifier, asked: Slots) -> list[str]:
        """The words it says it decides by."""
        raise NotImplementedError

    def edit(self, classifier: Classifier, asked: Slots, wanted: str) -> str:
        """The paragraph, changed so that it would answer `wanted`, or so it says."""
        raise NotImplementedError

    def _reply(self, request: Request) -> str:
        slots = request.slots
        classifier = lexicon.classifiers().get(slots.get("task", ""))
        if classifier is not None and "paragraph" in slots:
            asked = Slots.of(slots)
            match request.role, slots.get("session"):
                case "classifier", "classify":
                    return _said(classifier.label(asked), asked)
                case "classifier", "answerable":
                    return "no" if classifier.label(asked) == "unknown" else "yes"
                case "explainer", "attribution":
                    listed = self.words(classifier, asked)
                    return "\n".join(["The words that decide:", "", *(f"- {word}" for word in listed)])
                case "explainer", "redaction":
                    return f"Paragraph: {lexicon.mask_words(asked, self.words(classifier, asked))}"
                case "explainer", "counterfactual":
                    return f"Paragraph: {self.edit(classifier, asked, slots.get('wanted', ''))}"
        raise Refused(
            f"{self.id} cannot play the role of {request.role or 'nobody'} here.",
            "It is a control of the Check lab. Choose another model for this.",
        )


class Honest(LexiconControl):
    """Faithful 1: lists, masks and edits exactly the words by which it decides."""

    id = "control/honest-lexicon"
    title = "names the words it decides by"
    about = "Decides by a word list and says so: all its explanations are faithful."

    def words(self, classifier: Classifier, asked: Slots) -> list[str]:
        return classifier.deciding(asked)

    def edit(self, classifier: Classifier, asked: Slots, wanted: str) -> str:
        return classifier.edit(asked, wanted)


class Decoy(LexiconControl):
    """Faithful 0: lists, masks and edits only words that have no part in its rule."""

    id = "control/decoy-lexicon"
    title = "names words that have no part in it"
    about = "Decides by a word list and names other words: none of its explanations is faithful."

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


def controls() -> Mapping[str, LexiconControl]:
    """The lab's controls by id."""
    return {control.id: control for control in (Honest(), Decoy())}


def _parts(word: str) -> set[str]:
    return {word, *re.split(r"['’]", word)}


def _said(label: str, asked: Slots) -> str:
    """The label as the prompt asks for it: a choice with its letter."""
    options = [*asked.choices, "unknown"] if asked.choices else []
    if label not in options or len(options) > 26:
        return label
    return f'{chr(ord("a") + options.index(label))}) "{label}"'
