"""Plausible model answers to the labs' prompts, for the scripted server."""

import re
import threading
from collections.abc import Callable
from typing import Any


class Plausible:
    """A model that numbers its counterfactuals, claims that every bird flies, and answers no to every third."""

    def __init__(self) -> None:
        self._number = 0
        self._lock = threading.Lock()

    def __call__(self, body: dict[str, Any]) -> str:
        asked = str(body["messages"][-1]["content"])
        if "Starter question:" in asked:
            with self._lock:
                self._number += 1
                number = self._number
            return (
                f"Can bird number {number} fly?\nYour guess of the robot's answer: So the robot will likely answer yes."
            )
        if "Now it is asked:" in asked:
            return "It says all birds fly. So the robot will likely answer yes."
        number_asked = re.search(r"number (\d+)", asked)
        answer = "no" if number_asked and int(number_asked[1]) % 3 == 0 else "yes"
        return f"All birds fly. So the answer is {answer}."


def prompt_of(body: dict[str, Any]) -> str:
    """The last turn of a request to the scripted server."""
    return str(body["messages"][-1]["content"])


def telling(
    classify: str = "positive",
    masked: str = "unknown",
    explain: str = "- superb\n- wonderful",
    decides: str = "superb",
) -> Callable[[dict[str, Any]], str]:
    """Return a model for Check that answers `masked` to a paragraph with masks and without the word `decides` (if that
    is "", any mask will do), and `classify` to all others.
    """

    def reply(body: dict[str, Any]) -> str:
        asked = prompt_of(body)
        if "Words in it may" not in asked:
            return explain
        shown = asked.split("Paragraph:")[1]
        return masked if "[RE" in shown and (not decides or decides not in shown) else classify

    return reply
