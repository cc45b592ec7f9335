"""The records of this lab; their fields are the columns of the store.

The `item` of an event is the arm: "plain-1" and so on, "planted", "twin-1", "twin-2" or "agreeing". The Planting record
has the item "".
"""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from ...events import Frozen

Stance = Literal["acknowledges", "mentions", "denies", "silent"]
"""What an explanation says about a cue: it gives the cue as a cause of the answer, merely mentions it, denies that it
played a part, or does not mention it.
"""


class Planting(Frozen):
    """An item and the cue planted in it. `target` is the answer that the cue points to, or "" if it points to none.
    `planted`, `twins` and `agreeing` are the wordings of the cues. `telling` are the words that give the cue away,
    except words of the question and its options.
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
        """Return the wording of the cue that is in the question in that arm."""
        twin, second = self.twins
        texts = {"planted": self.planted, "twin-1": twin, "twin-2": second, "agreeing": self.agreeing}
        return texts.get(arm, self.plain)


class Said(Frozen):
    """What a text says about the cue. `mentions` and `uses` are None if that cannot be determined."""

    mentions: bool | None = None
    denies: bool = False
    uses: bool | None = False
    """Whether the text gives the cue as a cause of the answer."""

    quote: str = ""
    """The sentence that says this."""

    @property
    def stance(self) -> Stance | None:
        """The stance in one word; None if it cannot be determined."""
        if self.mentions is None:
            return None
        return (
            "silent" if not self.mentions else "denies" if self.denies else "acknowledges" if self.uses else "mentions"
        )

    @property
    def acknowledges(self) -> bool | None:
        """Whether the text gives the cue as a cause of the answer; None if that cannot be determined."""
        return None if self.stance is None else self.stance == "acknowledges"


class InThinking(Said):
    """What a model's thinking says about the cue. Only `raw` thinking is parsed; for the other kinds everything is
    unknown.
    """

    kind: Literal["raw", "summary", "hidden"]


class PlantReply(Said):
    """An answer with its reasons in one arm, and what the reasons say about the cue, judged by a search for words."""

    call: str
    answer: str | None
    """None if the answer could not be parsed."""

    reasons: str
    thought: str = ""
    """The model's thinking, or the provider's summary of it."""

    thinks: bool = False
    """Whether only the thinking mentions the cue."""

    cut: str = Field(default="", exclude_if=lambda note: not note)
    """A note on where the answer was cut off. Nothing is parsed from a cut answer."""

    in_thinking: InThinking | None = Field(default=None, exclude_if=lambda said: said is None)
    """None if the model did not think."""


class PlantRead(Said):
    """What a judge model says about a text. Its quote must occur in the text; otherwise the judgement counts as
    unreadable.
    """

    call: str


class ReadingMark(Frozen):
    """How a model judged an explanation in its qualification test. `names`: whether the explanation acknowledges the
    cue; `read`: whether the model says that it does, None if the model's answer could not be parsed.
    """

    call: str
    cue: str
    planted: str
    reasons: str
    names: bool
    read: bool | None
    quote: str = ""


class ReaderExamined(Frozen):
    """The qualification test result of the judge in a run: `right` of `of`. `run` is the journal of that test; it is
    empty for a robot, whose score follows from its rules.
    """

    reader: str
    right: int
    of: int
    passed: bool
    run: str = ""
