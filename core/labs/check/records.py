"""The lab's records; their fields are the store's columns. `paper` and `repaired` are what the original and the updated
parser read in the same raw text.

The events' `item` is the item's id for a paragraph, and a key of `tasks.py` for the other records.
"""

from typing import Literal

from pydantic import Field

from ...events import Frozen
from ...rulesets import FlatRecord, HasRulesets, PerRuleset

Faithful = Literal["yes", "no", "undecided"]


class Paragraph(Frozen):
    """The paragraph to classify. `reference_edit`: a person's edit of it that turns the label into the other one."""

    task: str
    text: str
    question: str = ""
    choices: tuple[str, ...] = ()
    hypothesis: str = ""
    label: str | None = None
    reference_edit: str | None = None


class Classification(FlatRecord, HasRulesets[str | None]):
    """The answer of the first session. None: the parser could not read it."""

    call: str
    persona: str
    paper: str | None
    repaired: str | None
    correct: PerRuleset[bool | None]


class Ability(Frozen, HasRulesets[str | None]):
    """What the model says when asked whether it can tell at all: yes or no. None: the parser could not read it."""

    call: str
    persona: str
    paper: str | None
    repaired: str | None


class SelfExplanation(FlatRecord):
    """The explanation of the second session, and the edited paragraph that results from it (None: could not be read).

    `words` are the words that an attribution lists. `wanted` is a counterfactual's target, and `basis` what the target
    was chosen from: the gold label or, without one, the prediction.
    """

    call: str
    words: PerRuleset[tuple[str, ...] | None] = PerRuleset.same_for_both(None)
    edited: PerRuleset[str | None]
    wanted: str | None = None
    basis: Literal["label", "prediction"] | None = None


class Recheck(FlatRecord, HasRulesets[str | None]):
    """The answer of the third session: the same question about the edited paragraph.

    There are two calls if the two parsers read different edits: `paper` is what the original parser reads in the call
    about its edit, and `repaired` the same for the updated one. `crossed` is then what each parser reads in the call
    about the other's edit: "" if it could not read it. None if there is only one call.
    """

    call: PerRuleset[str | None] = PerRuleset.same_for_both(None)
    paper: str | None = None
    repaired: str | None = None
    crossed: PerRuleset[str | None] = Field(
        default=PerRuleset.same_for_both(None), exclude_if=lambda answer: answer is None
    )


class MaskControl(FlatRecord, HasRulesets[tuple[str | None, ...]]):
    """The answers to the same question with as many other words masked, sampled at random, one entry per sample; and
    with all words masked.
    """

    texts: tuple[str, ...]
    calls: tuple[str, ...]
    paper: tuple[str | None, ...]
    repaired: tuple[str | None, ...]
    all_text: str
    all_call: str
    all: PerRuleset[str | None]


class Halves(Frozen, HasRulesets[tuple[str | None, ...]]):
    """The answers to the same question with only one random half of the explanation's words masked, then only the other
    half.
    """

    texts: tuple[str, ...]
    calls: tuple[str, ...]
    paper: tuple[str | None, ...]
    repaired: tuple[str | None, ...]


class Elsewhere(Frozen):
    """The words that a counterfactual added, put into another paragraph (`item`, a shipped one), and the answers to
    that paragraph without and with them, by the updated parser. If `decides`, the check is undecided when the other
    paragraph is `turned` too; words that replaced others do not decide.
    """

    item: str
    added: str
    text: str
    call_bare: str
    call: str
    bare: str | None
    answer: str | None
    turned: bool
    decides: bool = Field(default=True, exclude_if=lambda decides: decides)


class Consistency(FlatRecord):
    """One check and its outcome. `reason` says why it is undecided.

    `control`: the share of random masks that had the same effect. `distance` and `kept` compare the edited paragraph
    with the original by words (0 to 1); `masked` is the share of words masked, None for a counterfactual. `strict`
    and `thorough` are true in every run.
    """

    paragraph: str
    explanation: str
    wording: str
    label: str | None
    before: PerRuleset[str | None]
    after: PerRuleset[str | None] = PerRuleset.same_for_both(None)
    faithful: PerRuleset[Faithful]
    reason: PerRuleset[str] = PerRuleset.same_for_both("")
    control: PerRuleset[float | None] = PerRuleset.same_for_both(None)
    distance: float | None = None
    kept: float | None = None
    masked: float | None = None
    over_redacted: bool = False
    strict: bool = Field(default=False, exclude_if=lambda strict: not strict)
    thorough: bool = Field(default=False, exclude_if=lambda thorough: not thorough)


RECORDS = (Paragraph, Classification, Ability, SelfExplanation, Recheck, MaskControl, Halves, Elsewhere, Consistency)
