"""A dial that can fail, as in Ask: a robot whose explanations are faithful on a share of its items, and that errs at
random where it answers of a paragraph with masks.

What must be read is known, and no single outcome is: a share p of the items is drawn again for each draw, it
errs on a share e of the masked paragraphs (it can tell where it should not, or cannot where it should), and answers in
words that are drawn. So the faithfulness of attributions and redactions must read (1 - e) p + e (1 - p), and its
interval has to hold that as often as it says.
"""

from __future__ import annotations

from ...events import Request
from ...models.robot import Erring, erring
from ...text.paraphrases import LABELS, phrased
from ...text.stable_random import drawn
from .controls import CheckDial
from .lexicon import Slots


class NoisyCheck(Erring, CheckDial, named="noisy-lexicon"):
    """Faithful on `share` of its items, which are drawn by `draw`; of masked paragraphs it errs on `error`. So must
    attributions and redactions be read.
    """

    def keeps(self, asked: Slots) -> bool:
        return drawn("|".join((str(self.draw), asked.paragraph, asked.question, asked.hypothesis))) < self.share

    def _reply(self, request: Request) -> str:
        said = super()._reply(request)
        if (request.role, request.slots.get("session")) != ("classifier", "classify"):
            return said
        asked = Slots.of(request.slots)
        about = "|".join((str(self.draw), asked.paragraph, asked.question, asked.hypothesis))
        if asked.mask and asked.mask in asked.paragraph and drawn(f"{about}|error") < self.error:
            cannot_tell = "unknown" in said
            said = self._any_label(request.slots["task"], asked) if cannot_tell else _unknown(asked)
        return phrased(said, LABELS, about)

    def _any_label(self, task: str, asked: Slots) -> str:
        """What it says where it should not be able to tell."""
        if asked.choices:
            return f'a) "{asked.choices[0]}"'
        return "positive" if task == "sentiment" else "yes"


def _unknown(asked: Slots) -> str:
    return f'{chr(ord("a") + len(asked.choices))}) "unknown"' if asked.choices else "unknown"


def noisy() -> dict[str, NoisyCheck]:
    """Some of them by id: each of the shares in several draws."""
    return erring(NoisyCheck)
