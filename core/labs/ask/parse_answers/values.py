"""The values of a parsed answer, simulation or counterfactual."""

import re

from ....events import Frozen

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
