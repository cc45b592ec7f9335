"""The same answer in other words, for robots whose answers are to be read as a model's are."""

from __future__ import annotations

from collections.abc import Sequence

from core.text.drawn import drawn

ANSWERS = (
    "So the answer is {answer}.",
    "Therefore, the answer is {answer}.",
    "Answer: {Answer}.",
    "**Answer:** {Answer}",
    "Final answer: **{Answer}**",
    "In short: {answer}.",
    "\n{Answer}.",
    "So my answer is “{answer}”.",
    "Hence {answer}.",
    "Conclusion: {answer}",
    "So the answer would be **{Answer}**.",
    "Thus, the correct answer is {answer}.",
)
"""Ways to close with an answer."""

GUESSES = (
    "So the robot will likely answer {answer}.",
    "I would guess that the robot answers {answer}.",
    "The robot will probably say {answer}.",
    "Guess: {answer}",
    "**{Answer}**",
    "My prediction: {answer}.",
    "Most likely the robot says “{answer}”.",
    "So I expect {answer}.",
    "Prediction: **{Answer}**",
    "I think the robot will answer {answer}.",
)
"""Ways to close with what somebody else will answer."""


def phrased(answer: str, ways: Sequence[str], about: str) -> str:
    """`answer` in one of these ways, always the same for the same text `about`."""
    way = ways[int(drawn(f"{about}|way") * len(ways))]
    return way.format(answer=answer, Answer=answer[:1].upper() + answer[1:])
