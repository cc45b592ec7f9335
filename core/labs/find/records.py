"""What the lab records; the fields are the store's columns. `paper` and `repaired` are two readings of one raw text."""

from __future__ import annotations

from typing import Any, Literal

from core.events import Frozen


class Probe(Frozen):
    """One call of the black box. `output` is what the interpreter reads; `value` the number behind it, if any.

    `problem` says why there is no output; `how` what answered (a formula, code, a table, a model).
    """

    number: int
    round: int
    input: str
    output: str
    value: float | None = None
    problem: str = ""
    how: str = "function"


class Exchange(Frozen):
    """One round of an agent: what it asked for, what it got to read (`told`), and what it made up."""

    round: int
    call: str
    inputs: tuple[str, ...] = ()
    told: str = ""
    trouble: str = ""
    """Why nothing was run: no command in the answer, an unknown command, a budget used up, code that does not run."""
    invented: str = ""
    """Outputs that the answer gives for calls it has not made yet."""
    tools: bool = False
    """Whether it was offered the function as a tool."""
    read_paper: str = ""
    read_repaired: str = ""
    """What either rules read in the message: "3 inputs: 1, 2, 3", "a conclusion", "no command", or why none can be run.
    """
    description: str = ""
    """The description that stands in the message, as repaired rules read it."""


class Interpretation(Frozen):
    """The three parts of the final answer. `call` leads to the raw text; None where no model wrote it.

    `told` is what an evaluator reads.
    """

    interpreter: str
    call: str | None = None
    description_paper: str
    description_repaired: str
    domain_paper: str = ""
    domain_repaired: str = ""
    code_paper: str = ""
    code_repaired: str = ""
    told_paper: str = ""
    told_repaired: str = ""


class Wish(Frozen):
    """Inputs that the reader wants to probe, in the order written."""

    inputs: tuple[str, ...]


class Submission(Frozen):
    """What the reader concludes."""

    description: str
    domain: str = ""
    code: str = ""


class Estimate(Frozen):
    """What the interpretation's code gives on the test points, by either rules' reading of code and function.

    Numbers that are no finite real ones are None; `trouble` says why there are no values at all.
    """

    paper: tuple[float | None, ...] = ()
    repaired: tuple[float | None, ...] = ()
    trouble_paper: str = ""
    trouble_repaired: str = ""


class Prediction(Frozen):
    """One text on which the interpretation's code is compared with the function."""

    kind: Literal["test", "held out"]
    input: str
    truth: str
    paper: str | None = None
    repaired: str | None = None
    error: str = ""
    right_paper: bool | None = None
    """Whether paper rules count it as right: to them the number 5 is not the text "5". Older journals do not say."""


class UnitTest(Frozen):
    """One triplet put to the evaluator. Examples count from 1. `about`: the interpretation, the same as paper rules
    read it where that is another text, or the true description.

    `paper`, `repaired`: whether it counts as right; None where repaired rules cannot tell what was picked.
    """

    about: Literal["interpretation", "paper", "truth"]
    evaluator: str
    call: str | None = None
    options: tuple[str, ...]
    correct: int
    picked: int | None = None
    paper: bool
    repaired: bool | None


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
    """Intervals that the domain text says behave otherwise; None for an open end."""


class Truth(Frozen):
    """The function itself. Recorded when everything else is, so that whoever watches can be kept in the dark.

    `x`, `y`: the test points and the function's values, with the mean of its noise; None where undefined.
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
