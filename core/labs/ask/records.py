"""The records of this lab; their fields are the columns of the store. `paper` and `repaired` are the results of the two
parsers on the same raw text.
"""

import re
from typing import Literal

from pydantic import Field

from ...events import Frozen
from ...rulesets import FlatRecord, HasRulesets, PerRuleset


class Explanation(FlatRecord):
    """The model's answer to the starter question, and its explanation. `call` is the call with the raw text."""

    call: str
    task: str
    method: str
    question: str = ""
    context: str = ""
    response_1: str = ""
    response_2: str = ""
    answer: PerRuleset[str]
    explanation: PerRuleset[str | None]
    """None if the reply contains no explanation."""
    gold: str | None = None


class OtherExplanation(Explanation):
    """The model's explanation of another question, which the simulator sees in the arm `swapped`."""


OPERATIONS = ("negation", "lexical", "resemantic", "insert")
"""How a question is varied without seeing the explanation: Polyjuice's four control codes, as the paper used them."""


class Counterfactual(Frozen, HasRulesets[bool]):
    """A new question. `call` is None if no call produced it: it was written by hand, or given with the specification.
    `paper`, `repaired`: whether that parser counts it.
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
    """The answer that the author of the question predicted, as the updated parser read it; empty if it could not be
    parsed.
    """


class Simulation(Frozen, HasRulesets[str]):
    """What `simulator` (a model's id, or "reader") expects the model to answer, from one vote or several. Each vote is
    one call; `votes` are parsed by the updated parser, `votes_paper` by the original one.
    """

    simulator: str
    calls: tuple[str, ...] = ()
    votes: tuple[str, ...] = ()
    votes_paper: tuple[str, ...] = ()
    paper: str
    repaired: str
    made_up: tuple[str, ...] = Field(default=(), exclude_if=lambda words: not words)
    """Words of the new question that the simulator attributes to the explanation but that do not occur in it
    (`trial.invented_premises`).
    """
    without: bool = Field(default=False, exclude_if=lambda was: not was)
    """Whether the reason was hidden from a reader; their guess then says nothing about the explanation."""


class ArmSimulation(Simulation):
    """A prediction without the explanation, in a control arm."""

    arm: str


class FurtherSimulation(Simulation):
    """A prediction from the explanation by another predictor than the first."""


class Answer(Frozen, HasRulesets[str]):
    """What the model actually answered."""

    call: str
    paper: str
    repaired: str
    explanation: str | None = None


class ExamGuess(Frozen, HasRulesets[str]):
    """A model's guess in the qualification test, with the whole question and the `right` guess."""

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
    """The qualification test result of a run's simulator: `right` guesses of `of`, and `right_paper` by the original
    parser. `run` is the journal of the test; empty for a control, whose score follows from its rules.
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
"""The records of Ask itself; the qualification test has its own lab."""


# The values of a parsed answer, simulation or counterfactual.


GUESSES = frozenset({"yes", "no", "1", "2"})
"""The values that commit to an answer, of strategyqa and of shp."""

UNKNOWN = "unknown"
"""The simulator says that it cannot guess."""

NEITHER = "neither"
"""The authors' word for a reply that could not be parsed."""

OPPOSITE = {"yes": "no", "no": "yes", "1": "2", "2": "1"}
"""The other answer."""

SENTENCE_END = re.compile(r"(?<=[.!?])\s+|\n+")


class CounterfactualPair(Frozen):
    """A counterfactual of shp: a post and the two responses to choose from."""

    context: str
    response_1: str
    response_2: str


PAIR = set(CounterfactualPair.model_fields)
"""The slots of a question of shp."""
