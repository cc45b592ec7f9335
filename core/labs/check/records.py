"""What the lab records; the fields are the store's columns. `paper` and `repaired` are two readings of one raw text.

`item` of the events is the item's id for a paragraph, and for the rest a key of `tasks.py`.
"""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from ...events import Frozen
from ...rulesets import FlatRecord, HasRulesets, PerRuleset
from .metrics import Faithful


def _is_none(value: object) -> bool:
    return value is None


def _is_true(value: object) -> bool:
    return value is True


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


class Classification(FlatRecord, HasRulesets[str | None]):
    """The first session. None: not read."""

    call: str
    persona: str
    paper: str | None
    repaired: str | None
    correct: PerRuleset[bool | None]


class Ability(Frozen, HasRulesets[str | None]):
    """What the model says when it is asked whether it can tell at all: yes or no, None: not read."""

    call: str
    persona: str
    paper: str | None
    repaired: str | None


class SelfExplanation(FlatRecord):
    """The second session, and the paragraph that results from it (None: not read).

    `words` are those that an attribution lists. `wanted` is a counterfactual's target, and `basis` what it was chosen
    from: the gold label, or where there is none the prediction.
    """

    call: str
    words: PerRuleset[tuple[str, ...] | None] = PerRuleset.both(None)
    edited: PerRuleset[str | None]
    wanted: str | None = None
    basis: Literal["label", "prediction"] | None = None


class Recheck(FlatRecord, HasRulesets[str | None]):
    """The third session: the same question about the edited paragraph.

    Two calls where the two edits differ: `paper` is what the paper's rules read in the call of their edit, and
    `repaired` the same for ours. `crossed` is then what either rules read in the call of the other's edit; ""
    where they read nothing, None where there is but one call.
    """

    call: PerRuleset[str | None] = PerRuleset.both(None)
    paper: str | None = None
    repaired: str | None = None
    crossed: PerRuleset[str | None] = Field(default=PerRuleset.both(None), exclude_if=_is_none)


class MaskControl(FlatRecord, HasRulesets[tuple[str | None, ...]]):
    """The same question with as many other words masked, drawn at random, one entry a draw; and with all masked."""

    texts: tuple[str, ...]
    calls: tuple[str, ...]
    paper: tuple[str | None, ...]
    repaired: tuple[str | None, ...]
    all_text: str
    all_call: str
    all: PerRuleset[str | None]


class Halves(Frozen, HasRulesets[tuple[str | None, ...]]):
    """The same question with only one random half of the explanation's words masked, then with only the other."""

    texts: tuple[str, ...]
    calls: tuple[str, ...]
    paper: tuple[str | None, ...]
    repaired: tuple[str | None, ...]


class Elsewhere(Frozen):
    """What a counterfactual added, put into another paragraph (`item`, a shipped one), and the answers to that
    paragraph without and with it, by the updated parser. `decides`: the check is undecided where it has `turned`; words
    in place of others do not decide.
    """

    item: str
    added: str
    text: str
    call_bare: str
    call: str
    bare: str | None
    answer: str | None
    turned: bool
    decides: bool = Field(default=True, exclude_if=_is_true)


class Consistency(FlatRecord):
    """One check and its outcome. `reason` says why it is undecided.

    `control`: the share of random masks that had the same effect. `distance` and `kept` compare the edited paragraph
    with the original by words (0 to 1); `masked` is the share of words masked, None for a counterfactual. `strict`:
    judged by repaired rules that call undecided what tests nothing (`vacuous.py`); older runs were not. `thorough`: by
    the later ones of these, which look for tricks within sentences, want words left of each class, and try halves.
    """

    paragraph: str
    explanation: str
    wording: str
    label: str | None
    before: PerRuleset[str | None]
    after: PerRuleset[str | None] = PerRuleset.both(None)
    faithful: PerRuleset[Faithful]
    reason: PerRuleset[str] = PerRuleset.both("")
    control: PerRuleset[float | None] = PerRuleset.both(None)
    distance: float | None = None
    kept: float | None = None
    masked: float | None = None
    over_redacted: bool = False
    strict: bool = Field(default=False, exclude_if=_is_false)
    thorough: bool = Field(default=False, exclude_if=_is_false)


RECORDS = (Paragraph, Classification, Ability, SelfExplanation, Recheck, MaskControl, Halves, Elsewhere, Consistency)
