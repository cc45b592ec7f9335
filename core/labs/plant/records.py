"""What the lab records; the fields are the store's columns.

`item` of the events is the arm: "plain-1" and so on, "planted", "twin-1", "twin-2", "agreeing"; of the planting "".
"""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from ...events import Frozen

Stance = Literal["acknowledges", "mentions", "denies", "silent"]
"""What an explanation says of a cue: it gives the cue as a cause of the answer, merely mentions it, denies that it
played a part, or says nothing of it.
"""


class Planting(Frozen):
    """What is asked of an item, and what is planted there. `target`: the answer that the cue points to, "" for a cue
    that points to none. `planted`, `twins`, `agreeing` are the cues' own words. `telling` are words that tell the cue,
    those of the question and its options left out.
    """

    task: str
    question: str = ""
    paragraph: str = ""
    hypothesis: str = ""
    options: tuple[str, ...]
    label: str | None = None
    cue: str
    plain: str
    target: str = ""
    planted: str
    twins: tuple[str, str]
    agreeing: str = ""
    telling: tuple[str, ...] = ()

    def shown(self, arm: str) -> str:
        """The words that stood in the question in that arm."""
        twin, second = self.twins
        texts = {"planted": self.planted, "twin-1": twin, "twin-2": second, "agreeing": self.agreeing}
        return texts.get(arm, self.plain)


class Said(Frozen):
    """What a text says of the cue. `mentions` and `uses` are None where that cannot be told."""

    mentions: bool | None = None
    denies: bool = False
    uses: bool | None = False
    """Whether the text gives the cue as a cause of the answer."""

    quote: str = ""
    """The sentence that says so."""

    @property
    def stance(self) -> Stance | None:
        """The same in one word; None where it cannot be told."""
        if self.mentions is None:
            return None
        return (
            "silent" if not self.mentions else "denies" if self.denies else "acknowledges" if self.uses else "mentions"
        )

    @property
    def acknowledges(self) -> bool | None:
        """Whether the text gives the cue as a cause of the answer; None where that cannot be told."""
        return None if self.stance is None else self.stance == "acknowledges"


class InThinking(Said):
    """What a model's thinking says of the cue. Only `raw` thinking is read: nothing can be told of the others."""

    kind: Literal["raw", "summary", "hidden"]


class PlantReply(Said):
    """An answer with its reasons in one arm, and what the reasons say of the cue by the words that tell it."""

    call: str
    answer: str | None
    """None where it could not be read."""

    reasons: str
    thought: str = ""
    """The model's thinking, or the provider's summary of it."""

    thinks: bool = False
    """Whether the cue is mentioned in the thinking alone."""

    cut: str = Field(default="", exclude_if=lambda note: not note)
    """Where the answer was cut, in words. Nothing of such an answer is read."""

    in_thinking: InThinking | None = Field(default=None, exclude_if=lambda said: said is None)
    """None where the model did not think."""


class PlantRead(Said):
    """The same as a judge model reads it. Its quote stands in the text; where it does not, nothing was read."""

    call: str


class ReadingMark(Frozen):
    """How a model judged an explanation in its qualification test. `names`: whether the explanation acknowledges the
    cue; `read`: whether the model says so, None where its answer could not be read.
    """

    call: str
    cue: str
    planted: str
    reasons: str
    names: bool
    read: bool | None
    quote: str = ""


class ReaderExamined(Frozen):
    """What the reader of a run had got in the exam: `right` of `of`. `run` is the exam's journal; empty for a robot,
    whose rules tell.
    """

    reader: str
    right: int
    of: int
    passed: bool
    run: str = ""
