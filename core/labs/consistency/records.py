"""What the lab records; the fields are the store's columns. `paper` and `repaired` are two readings of one raw text.

`item` of the events is the item's id for a paragraph, and for the rest a key of `tasks.py`.
"""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from core.events import Frozen
from core.labs.consistency.metrics import Faithful


def _is_none(value: object) -> bool:
    return value is None


def _is_false(value: object) -> bool:
    return value is False


class Paragraph(Frozen):
    """What is classified. `reference_edit`: how a person changed it so that the label turns into the other one."""

    task: str
    text: str
    question: str = ""
    choices: tuple[str, ...] = ()
    hypothesis: str = ""
    label: str | None = None
    reference_edit: str | None = None


class Classification(Frozen):
    """The first session. None: not read."""

    call: str
    persona: str
    paper: str | None
    repaired: str | None
    correct_paper: bool | None
    correct_repaired: bool | None


class Ability(Frozen):
    """What the model says when it is asked whether it can tell at all: yes or no, None: not read."""

    call: str
    persona: str
    paper: str | None
    repaired: str | None


class SelfExplanation(Frozen):
    """The second session, and the paragraph that comes of it (None: not read).

    `words` are those that an attribution lists. `wanted` is a counterfactual's target, and `basis` what it was chosen
    from: the gold label, or where there is none the prediction.
    """

    call: str
    words_paper: tuple[str, ...] | None = None
    words_repaired: tuple[str, ...] | None = None
    edited_paper: str | None
    edited_repaired: str | None
    wanted: str | None = None
    basis: Literal["label", "prediction"] | None = None


class Recheck(Frozen):
    """The third session: the same question about the edited paragraph.

    Two calls where the two edits differ: `paper` is what the paper's rules read in the call of their edit, and
    `repaired` the same for ours. `crossed_paper` is then what the paper's rules read in `call_repaired`, and
    `crossed_repaired` what ours read in `call_paper`; "" where they read nothing, None where there is but one call.
    """

    call_paper: str | None = None
    call_repaired: str | None = None
    paper: str | None = None
    repaired: str | None = None
    crossed_paper: str | None = Field(default=None, exclude_if=_is_none)
    crossed_repaired: str | None = Field(default=None, exclude_if=_is_none)


class MaskControl(Frozen):
    """The same question with as many other words masked, drawn at random, one entry a draw; and with all masked."""

    texts: tuple[str, ...]
    calls: tuple[str, ...]
    paper: tuple[str | None, ...]
    repaired: tuple[str | None, ...]
    all_text: str
    all_call: str
    all_paper: str | None
    all_repaired: str | None


class Elsewhere(Frozen):
    """What a counterfactual added, appended to another paragraph (`item`, a shipped one), and the answers to that
    paragraph without and with it, as repaired rules read them.
    """

    item: str
    added: str
    text: str
    call_bare: str
    call: str
    bare: str | None
    answer: str | None
    turned: bool


class Consistency(Frozen):
    """One check and what came of it. `reason` says why it is undecided.

    `control`: the share of random masks that had the same effect. `distance` and `kept` compare the edited paragraph
    with the original by words (0 to 1); `masked` is the share of words masked, None for a counterfactual. `strict`:
    judged by repaired rules that call undecided what tests nothing (`vacuous.py`); older runs were not.
    """

    paragraph: str
    explanation: str
    wording: str
    label: str | None
    before_paper: str | None
    before_repaired: str | None
    after_paper: str | None = None
    after_repaired: str | None = None
    faithful_paper: Faithful
    faithful_repaired: Faithful
    reason_paper: str = ""
    reason_repaired: str = ""
    control_paper: float | None = None
    control_repaired: float | None = None
    distance: float | None = None
    kept: float | None = None
    masked: float | None = None
    over_redacted: bool = False
    strict: bool = Field(default=False, exclude_if=_is_false)
