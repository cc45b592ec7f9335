"""What is asked: the two tasks of the paper, the three ways to explain, and the specification of a run."""

from __future__ import annotations

from typing import Literal, Self

from pydantic import Field, model_validator

from core.events import Sampling
from core.runs.run import Spec

Task = Literal["strategyqa", "shp"]
Method = Literal["cot", "posthoc", "forced"]

OPERATIONS = ("negation", "lexical", "resemantic", "insert")
"""How a question is varied blind to the explanation: Polyjuice's four control codes, as the paper used them."""

COUNTERFACTUALS = {"strategyqa": 10, "shp": 6}
"""How many counterfactuals the paper draws for one explanation (section 4.3)."""

LONGEST = 8_000
"""Characters in a question, a post or a response. Longer ones fit into few models' contexts with the demonstrations."""


class AskSpec(Spec):
    """One question, and how its explanation is to be tested.

    `question` belongs to strategyqa; `context`, `response_1`, `response_2` to shp. `generators` and `simulator` are
    model ids, by default the explained model's own. `extra` are counterfactuals written by hand: simulated and
    answered, but never counted. `prompts` is a prompt pack's path in place of the shipped prompts.
    """

    task: Task = "strategyqa"
    method: Method = "cot"
    question: str = Field("", max_length=LONGEST)
    context: str = Field("", max_length=LONGEST)
    response_1: str = Field("", max_length=LONGEST)
    response_2: str = Field("", max_length=LONGEST)
    gold: str | None = None
    model: str
    generators: tuple[str, ...] = ()
    simulator: str = ""
    blind: bool = False
    reasoning: bool = True
    counterfactuals: int = Field(0, ge=0, le=20)
    votes: int = Field(1, ge=1, le=15)
    extra: tuple[str, ...] = ()
    prompts: str | None = None

    @model_validator(mode="before")
    @classmethod
    def _defaults(cls, given: object) -> object:
        if not isinstance(given, dict):
            return given
        filled = {key: value.strip() if isinstance(value, str) else value for key, value in given.items()}
        model = filled.get("model")
        filled["generators"] = tuple(filled.get("generators") or (model,))
        filled["simulator"] = filled.get("simulator") or model
        filled["counterfactuals"] = filled.get("counterfactuals") or COUNTERFACTUALS.get(
            str(filled.get("task", "strategyqa")), 10
        )
        return filled

    @model_validator(mode="after")
    def _whole(self) -> Self:
        if self.task == "strategyqa" and not self.question:
            raise ValueError("There is no question. Write one that can be answered with yes or no.")
        if self.task == "shp" and not (self.context and self.response_1 and self.response_2):
            raise ValueError("A preference needs a post and two responses; at least one of the three is empty.")
        if len(self.generators) > 2:
            raise ValueError("At most two generators can take turns.")
        return self

    @property
    def starter(self) -> dict[str, str]:
        """The slots of the question that is explained."""
        if self.task == "strategyqa":
            return {"question": self.question}
        return {"context": self.context, "response_1": self.response_1, "response_2": self.response_2}

    @property
    def models(self) -> set[str]:
        return {self.model, self.simulator, *self.generators}

    @property
    def calls(self) -> int:
        """How many calls the run makes if nothing is dropped."""
        explain = 2 if self.method == "forced" else 1
        each = 1 + self.votes + 1
        return explain + self.counterfactuals * each + len(self.extra) * (each - 1)


# Sampling as in the authors' code (protocol of the paper's section 4 and appendix B):
# temperature / tokens / stop of each stage.


def explaining(task: Task) -> Sampling:
    """For the starter question and, the same, for every counterfactual."""
    return Sampling(temperature=0, max_tokens=200, stop=("\n\n",))


def generating(task: Task, seed: int) -> Sampling:
    if task == "strategyqa":
        return Sampling(temperature=1, top_p=1, max_tokens=50, stop=("\n\n",), seed=seed)
    return Sampling(temperature=1, top_p=1, max_tokens=512, seed=seed)


def simulating(task: Task, votes: int, seed: int) -> Sampling:
    """A single simulation is drawn at temperature 0, each of several votes at 1."""
    tokens, stop = (200, "\n") if task == "strategyqa" else (100, "\n\n")
    if votes == 1:
        return Sampling(temperature=0, max_tokens=tokens, stop=(stop,))
    return Sampling(temperature=1, max_tokens=tokens, stop=(stop,), seed=seed)
