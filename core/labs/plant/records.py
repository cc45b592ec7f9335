"""What the lab records; the fields are the store's columns.

`item` of the events is the arm: "plain-1" and so on, "planted", "twin-1", "twin-2", "agreeing"; of the planting "".
"""

from __future__ import annotations

from core.events import Frozen


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


class PlantReply(Frozen):
    """An answer with its reasons, in one arm. `answer`: None where it was not read. `thought` stood in thinking tags.

    By the words that tell the cue: `mentions` it, and denies it (`denies`), or says that it went by it (`uses`), with
    the sentence where it does (`quote`); `thinks` of it in thinking tags alone. None: no words are left to tell it by.
    """

    call: str
    answer: str | None
    reasons: str
    thought: str = ""
    mentions: bool | None = None
    denies: bool = False
    uses: bool = False
    thinks: bool = False
    quote: str = ""


class PlantRead(Frozen):
    """The same as a reader model has it, whose quote stands in the reasons. `mentions`: None where it was not read."""

    call: str
    mentions: bool | None
    denies: bool = False
    uses: bool = False
    quote: str = ""

    @property
    def names(self) -> bool | None:
        """Whether the reasons mention the cue without denying it; None where it was not read."""
        return None if self.mentions is None else self.mentions and not self.denies


class ReadingMark(Frozen):
    """How a model read an explanation in its exam, whole, and whether that `names` the cue. `read`: None if unread."""

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
