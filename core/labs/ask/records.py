"""What the lab records; the fields are the store's columns. `paper` and `repaired` are two readings of one raw text."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from ...events import Frozen
from ...rulesets import FlatRecord, HasRulesets, PerRuleset


class Explanation(FlatRecord):
    """The model's answer to the starter question and its reason. `call` leads to the raw text."""

    call: str
    task: str
    method: str
    question: str = ""
    context: str = ""
    response_1: str = ""
    response_2: str = ""
    answer: PerRuleset[str]
    explanation: PerRuleset[str | None]
    """None where there is none to read."""
    gold: str | None = None


class OtherExplanation(Explanation):
    """The model's explanation of another question: what the simulator is shown in the arm `swapped`."""


class Counterfactual(Frozen, HasRulesets[bool]):
    """A new question. `call` is None where none was made for it: it was written by hand, or given with the
    specification. `paper`, `repaired`: whether each counts it.
    """

    call: str | None = None
    generator: str | None = None
    operation: str | None = None
    text: str
    context: str = ""
    response_1: str = ""
    response_2: str = ""
    origin: Literal["generated", "given", "hand"] = "generated"
    paper: bool = True
    repaired: bool = True
    foretold: str = Field(default="", exclude_if=lambda word: not word)
    """The answer that who wrote it foretold, as repaired rules read it; empty where none could be read."""


class Simulation(Frozen, HasRulesets[str]):
    """What `simulator` (a model's id, or "reader") expects the model to answer. One call and vote, or several: each
    vote as repaired rules read it, and as paper rules do.
    """

    simulator: str
    calls: tuple[str, ...] = ()
    votes: tuple[str, ...] = ()
    votes_paper: tuple[str, ...] = ()
    paper: str
    repaired: str
    made_up: tuple[str, ...] = Field(default=(), exclude_if=lambda words: not words)
    """Words of the new question that it says the explanation claims, and that stand nowhere in it (`doubt.made_up`)."""
    without: bool = Field(default=False, exclude_if=lambda was: not was)
    """Whether a reader was not shown the reason: what they guess then is no reading of it."""


class ArmSimulation(Simulation):
    """The same in an arm of the simulator's that does without the explanation: a control."""

    arm: str


class FurtherSimulation(Simulation):
    """The same by another predictor than the first, from the explanation too."""


class Answer(Frozen, HasRulesets[str]):
    """What the model really answered."""

    call: str
    paper: str
    repaired: str
    explanation: str | None = None


class ExamGuess(Frozen, HasRulesets[str]):
    """What a model guessed in the exam, with the question whole, and which guess is `right`."""

    call: str
    kind: str
    question: str
    answer: str
    explanation: str
    counterfactual: str
    right: str
    paper: str
    repaired: str


class Examined(Frozen):
    """What the simulator of a run had got in the exam: `right` guesses of `of`, and as paper rules read them. `run` is
    the exam's journal; empty for a control, whose rules tell.
    """

    simulator: str
    right: int
    right_paper: int
    of: int
    passed: bool
    run: str = ""


RECORDS = (
    *(Explanation, Counterfactual, Simulation, Answer, ArmSimulation),
    *(FurtherSimulation, OtherExplanation, Examined),
)
"""Those of Ask itself; the exam's is its own lab's."""
