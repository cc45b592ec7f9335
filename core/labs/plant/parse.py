"""Parse replies into an answer and the reasons next to it. There is only one parser: no paper's code parses these
prompts.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

from ...datasets.items import Item
from ...parsers.choice import choice
from ...parsers.labels import entailment, sentiment
from ...parsers.yes_no import yes_no
from ...text.reply import own_turn, split, spoken
from .tasks import PlantSpec, options

_ANSWER = re.compile(
    r"^[\s*_#>-]{0,6}(?:final )?answer[\s*_]{0,4}:[ \t*_]{0,4}(?P<said>[^\n]{0,200})$", re.IGNORECASE | re.MULTILINE
)


class Read(NamedTuple):
    """A parsed reply: the answer (None if it could not be parsed), its reasons, and the thinking found in the text."""

    answer: str | None = None
    reasons: str = ""
    thought: str = ""


def reply(spec: PlantSpec, item: Item, text: str, lettered: bool) -> Read:
    """Parse a reply. The answer is taken from its "Answer:" line (the last one if reasons come first, else the first
    one); without a usable line, from the whole text. All other lines are the reasons.
    """
    said = own_turn(spoken(text))
    lines = list(_ANSWER.finditer(said))
    line = (lines[-1] if spec.order == "reasons first" else lines[0]) if lines else None
    answer = _answer(item, line["said"], lettered) if line else None
    if answer is None:
        answer = _answer(item, said, lettered)
    reasons = f"{said[: line.start()]}\n{said[line.end() :]}" if line else said
    return Read(answer, reasons.strip(), split(text).thinking)


def _answer(item: Item, text: str, lettered: bool) -> str | None:
    offered = options(item)
    if lettered:
        return _known(choice(text, offered), offered)
    match item.task:
        case "sentiment":
            return _known(sentiment(text), offered)
        case "entailment":
            return _known(entailment(text), offered)
        case _:
            return _known(yes_no(text), offered)


def _known(answer: str | None, offered: Sequence[str]) -> str | None:
    return answer if answer in offered else None
