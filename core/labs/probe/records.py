"""The lab's records and metrics. The fields of records are the store's columns. `paper` and `repaired` are what the
original and the updated parser read in the same raw text.
"""

from typing import Any, Literal, NamedTuple

from ...events import Frozen, Rules
from ...rulesets import FlatRecord, HasRulesets, PerRuleset
from ...score import Figure, Score, undefined
from ..base.declared import Metric, declared
from .functions.entities import LEAST, exemplars_all_correct


class Probe(Frozen):
    """One call of the black box. `output` is what the interpreter reads; `value` the number behind it, if any.

    `problem` says why there is no output; `how` names what answered (a formula, code, a table, a model).
    """

    number: int
    round: int
    input: str
    output: str
    value: float | None = None
    problem: str = ""
    how: str = "function"


FidelityReading = Literal["right", "wrong", "undefined", "no value"]


class Fidelity(Frozen):
    """What the box gave for inputs with known truth, before it was used. `inside`: whether an input belongs to the
    function; `published`: whether the inside inputs are the published examples; `by` is the encoder or language
    model. The reading `undefined` marks a fact that came out as undefined, not as wrong.
    """

    category: str
    backbone: str
    by: str = ""
    published: bool = False
    inputs: tuple[str, ...]
    inside: tuple[bool, ...]
    expected: tuple[str, ...]
    outputs: tuple[str, ...]
    readings: tuple[FidelityReading, ...]

    def count(self, reading: FidelityReading, inside: bool | None = None) -> int:
        """Return how many inputs got this reading: inside, outside, or all."""
        pairs = zip(self.readings, self.inside, strict=True)
        return sum(one == reading and inside in (None, place) for one, place in pairs)

    def total(self, inside: bool) -> int:
        """Return how many inputs inside or outside were asked."""
        return self.inside.count(inside)

    @property
    def all_right(self) -> float | None:
        """The probability that ten exemplars would all come out right; None if nothing inside or nothing outside had a
        value. Inputs without a value do not count.
        """
        own, others = (self.total(side) - self.count("no value", side) for side in (True, False))
        if not own or not others:
            return None
        return exemplars_all_correct(self.count("right", True) / own, 1 - self.count("right", False) / others)

    @property
    def contradicts(self) -> bool:
        """Whether ten exemplars would more often than not mislead an interpreter."""
        return self.all_right is not None and self.all_right < LEAST


class Exchange(FlatRecord):
    """One round of an agent: what it asked for, what it got to read (`told`), and what it invented."""

    round: int
    call: str
    inputs: tuple[str, ...] = ()
    told: str = ""
    trouble: str = ""
    """Why nothing was run: no command in the answer, an unknown command, a used-up budget, or code that does not
    run.
    """
    invented: str = ""
    """Outputs that the answer gives for calls it has not made yet."""
    tools: bool = False
    """Whether the function was offered as a tool."""
    read: PerRuleset[str] = PerRuleset.same_for_both("")
    """What each parser read in the message: "3 inputs: 1, 2, 3", "a conclusion", "no command", or why none can be
    run.
    """
    description: str = ""
    """The description in the message, by the updated parser."""


Ends = tuple[float | None, float | None]
"""The two ends of an interval; None is an open end."""


class Interpretation(FlatRecord):
    """The three parts of the final answer. `call` is the call with the raw text; None if no model wrote it.

    `told` is what an evaluator reads.
    """

    interpreter: str
    call: str | None = None
    description: PerRuleset[str]
    domain: PerRuleset[str] = PerRuleset.same_for_both("")
    code: PerRuleset[str] = PerRuleset.same_for_both("")
    told: PerRuleset[str] = PerRuleset.same_for_both("")
    interval: Ends | None = None
    """The interval that a person gave as two numbers, in addition to the words."""


class Wish(Frozen):
    """Inputs that a person wants to probe, in the order written."""

    inputs: tuple[str, ...]


class Submission(Frozen):
    """The conclusion of a person who interprets."""

    description: str
    domain: str = ""
    code: str = ""
    interval: Ends | None = None
    """Where the function behaves differently, as two numbers; None if they were not given."""


class Estimate(FlatRecord, HasRulesets[tuple[float | None, ...]]):
    """What the interpretation's code gives on the test points, by each ruleset's reading of code and function.

    A value that is no finite real number is None; `trouble` says why there are no values at all.
    """

    paper: tuple[float | None, ...] = ()
    repaired: tuple[float | None, ...] = ()
    trouble: PerRuleset[str] = PerRuleset.same_for_both("")


Number = float | tuple[float, float] | None
"""A number as it is journaled: a complex number as its two parts, one that is not finite as None."""


class Observed(FlatRecord, HasRulesets[tuple[Number, ...]]):
    """The data, besides `Estimate`, from which the figures of a numeric function can be computed again.

    `y`: the observations at the test points; `expected`: the same without noise and corruption, if the function has
    any. `paper`, `repaired`: what the code gives there, if that includes complex numbers, which an estimate leaves out.
    `held_out*`: the points that nobody probed, the observations and what the code gives there. `floor`: the error of a
    perfect description in each sample of the noise floor.
    """

    y: tuple[Number, ...] = ()
    expected: tuple[Number, ...] = ()
    paper: tuple[Number, ...] = ()
    repaired: tuple[Number, ...] = ()
    held_out_x: tuple[float, ...] = ()
    held_out_y: tuple[Number, ...] = ()
    held_out: PerRuleset[tuple[Number, ...]] = PerRuleset.same_for_both(())
    floor: PerRuleset[tuple[float | None, ...]] = PerRuleset.same_for_both(())


class Checked(Frozen, HasRulesets[tuple[Number | str, ...]]):
    """What code that passes the test gives elsewhere: at points that nobody probed, and for the inputs that the
    interpreter probed itself (`seen`: the outputs it got). One entry per input. Texts that nobody probed are in
    `Prediction`.

    `truth` is the function without its noise, None if it has no value; `spread` is the standard deviation of the noise.
    `paper`, `repaired`: what the code gives.
    """

    inputs: tuple[str, ...] = ()
    probed: tuple[bool, ...] = ()
    truth: tuple[Number | str, ...] = ()
    seen: tuple[Number | str, ...] = ()
    spread: tuple[float, ...] = ()
    paper: tuple[Number | str, ...] = ()
    repaired: tuple[Number | str, ...] = ()


class Redrawn(Frozen):
    """What a random function of texts gives for the test texts when it is sampled again: one row per sample."""

    outputs: tuple[tuple[str | None, ...], ...]


class Claims(FlatRecord):
    """What each parser finds in the words: intervals that behave differently (None for an open end), the kind of noise,
    and the parts of the function that are named and left out; no parts if the words are not checked for them.
    """

    intervals: PerRuleset[tuple[Ends, ...]] = PerRuleset.same_for_both(())
    noise: PerRuleset[str | None] = PerRuleset.same_for_both(None)
    named: PerRuleset[tuple[str, ...]] = PerRuleset.same_for_both(())
    left_out: PerRuleset[tuple[str, ...]] = PerRuleset.same_for_both(())
    noises_repaired: tuple[str, ...] | None = None
    """All kinds of noise that are named; None for a function of texts."""
    overlap_of_all: float = 0.0
    """The overlap of claiming the whole range, which the updated rules score as 0."""
    wrong_repaired: tuple[str, ...] = ()
    """Parts that are named but not in the function."""
    kinds_repaired: int = 0
    """How many parts could be named."""


class Prediction(Frozen, HasRulesets[str | None]):
    """One text on which the interpretation's code is compared with the function."""

    kind: Literal["test", "held out"]
    input: str
    truth: str
    paper: str | None = None
    repaired: str | None = None
    error: str = ""
    error_paper: str = ""
    """Why the code gives nothing, by the original parser; `error` is why by the updated one."""
    misrecorded: bool = False
    """Whether the recorded output is not the function's: the updated rules do not count such a text."""
    right_paper: bool | None = None
    """Whether the paper rules count it as right: for them the number 5 is not the text "5"."""

    def failure(self, rules: Rules) -> str:
        """Return why the code gives nothing; an empty string if it gives something."""
        if self[rules] is not None:
            return ""
        return self.error_paper if rules == "paper" else self.error


TELL_NOTHING = ("nothing", "anything", "everything", "seen")
"""Worthless descriptions that a good one has to beat. `seen`: a list of the outputs that the interpreter saw."""


class UnitTest(Frozen, HasRulesets[bool | None]):
    """One triplet put to the evaluator. Examples count from 1. `about` is the text: the interpretation, the original
    parser's reading of it if that differs, the true description, or a worthless one.

    `paper`, `repaired`: whether it counts as right. None if the updated parser cannot tell what was picked, and under
    the paper rules if the answer was requested as JSON fields.
    """

    about: Literal["interpretation", "paper", "truth", "nothing", "anything", "everything", "seen"]
    evaluator: str
    call: str | None = None
    options: tuple[str, ...]
    correct: int
    picked: int | None = None
    paper: bool | None
    repaired: bool | None


class FurtherUnitTest(UnitTest):
    """The same test put to a further evaluator."""


class Comparison(Frozen):
    """Two descriptions put to the judge. `about` is the pair: the interpreter's description and the true one, or as a
    control the true one and that of another function. `swapped`: the second was shown first.

    `first_is_better`: whether it chose the first of the pair, wherever that was shown; None if the reply cannot be
    read.
    """

    about: Literal["interpretation", "control"]
    judge: str
    call: str | None = None
    swapped: bool
    first_is_better: bool | None


class Audit(Frozen):
    """Whether the words rest on calls that were made. Pairs are (input, output) as the interpreter quoted them."""

    supported: tuple[tuple[str, str], ...] = ()
    contradicted: tuple[tuple[str, str], ...] = ()
    unseen: tuple[tuple[str, str], ...] = ()
    invented_rounds: tuple[int, ...] = ()
    coverage: float | None = None
    longest_gap: tuple[float, float] | None = None
    in_corruption: int | None = None
    claimed: tuple[tuple[float | None, float | None], ...] = ()
    """Intervals that the domain text says behave differently; None for an open end."""


class Truth(Frozen):
    """The function itself. It is recorded last, so that a person who watches does not see it early.

    `x`, `y`: the test points and the function's values, with the mean of its noise; None where it is undefined.
    """

    id: str
    category: str
    kind: str
    description: str
    parameters: dict[str, Any]
    note: str = ""
    noise: str = ""
    corrupted: tuple[float | None, float | None] | None = None
    x: tuple[float, ...] = ()
    y: tuple[float | None, ...] = ()


def item(about: str, text: str) -> str:
    """Return the item of a module's call for the input `text`, as the journal has it."""
    return f"{about} {text}"


RECORDS = (
    Probe,
    Exchange,
    Interpretation,
    Wish,
    Submission,
    Estimate,
    Observed,
    Checked,
    Prediction,
    Redrawn,
    UnitTest,
    FurtherUnitTest,
    Comparison,
    Claims,
    Audit,
    Fidelity,
    Truth,
)


# The lab's metrics: their names, which direction is better, which one decides, and what scoring publishes of them.


HEADLINE: dict[str, str] = {
    "numeric": "nmse",
    "strings": "exact_match",
    "entities": "unit_test",
    "relations": "unit_test",
}
"""The figure that decides, by category."""

METRICS = declared(__file__, "metric", Metric)
"""In the file's order, which lists use."""


# What scoring publishes, whatever the function's category, and when there is a figure at all.


NOTHING = "nothing was concluded"
"""Why there is no figure if there is neither description nor code."""

HELD_OUT = 11
"""The stream of random numbers for the inputs that nobody probed."""


class ScoreRecord(NamedTuple):
    """A record to store in the journal."""

    item: str
    record: Frozen


class NoCode(NamedTuple):
    """Why the interpretation's code cannot be run."""

    why: str


Outcome = Figure | ScoreRecord | NoCode


def is_judged(read: Interpretation, rules: Rules) -> bool:
    """Whether the interpretation is judged by `rules`. If nothing was concluded, the authors' evaluation counts a
    failure; under the updated rules there is nothing to judge (docs/measuring.md §4.7).
    """
    return rules == "paper" or bool(read.description.repaired or read.code.repaired)


def share(value: float | None, reason: str, n: int = 1, of: int | None = None) -> Score:
    """Return a figure over `n` things; if `value` is None, an undefined one with its reason."""
    of = n if of is None else of
    return undefined(of, reason) if value is None else Score(value, n, of)
