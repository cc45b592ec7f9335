"""A calibration test with random errors, as in Ask: a robot that explains faithfully on a share of its items, and errs
at random when it answers about a paragraph with masks.

The expected value is known, but no single outcome is: for each draw a share p of the items is sampled again, the robot
errs on a share e of the masked paragraphs (it can tell when it should not, or cannot when it should), and the wording
of its answers is sampled too. So the measured faithfulness of attributions and redactions must be (1 - e) p + e (1 -
p), and its interval must cover that value as often as it claims.
"""

from __future__ import annotations

from ...events import Request
from ...models.robot import Erring, erring
from ...text.paraphrases import LABELS, paraphrase
from ...text.stable_random import unit_number
from .controls import CheckDial
from .lexicon import Slots


class NoisyCheck(Erring, CheckDial, named="noisy-lexicon"):
    """A robot that is faithful on `share` of its items, sampled by `draw`, and errs on `error` of the masked
    paragraphs. The measured faithfulness of its attributions and redactions must match that.
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


def noisy() -> dict[str, NoisyCheck]:
    """Return robots by id: each share in several draws."""
    return erring(NoisyCheck)
