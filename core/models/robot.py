"""A model of known truth, which a lab brings: it answers at once, by the role and the slots of a request alone."""

from __future__ import annotations

import inspect
import re
import time
from collections.abc import Callable, Iterable
from typing import TypeVar

from ..events import ModelAnswer, OnText, Request, ToolCall
from ..package_data import beside
from .errors import Refused

R = TypeVar("R", bound="Robot")

ERROR = 0.1
"""The share of what it is asked on which a noisy one errs."""

SHARES, DRAWS = (0.3, 0.7, 0.9), 5


class Robot:
    """What all robots share. A class that is `named` has its id, and what the file robots.toml beside its module says
    of it: `title`, `about`, and what else its lab tells of a robot. `listed`: whether it is in lists to choose from.
    """

    id: str
    title: str
    about: str
    listed = True

    def __init_subclass__(cls, named: str = "") -> None:
        if named:
            cls.id = f"control/{named}"
            for name, value in beside(inspect.getfile(cls), "robots.toml")[named].items():
                setattr(cls, name, value)

    async def answer(self, request: Request, on_text: OnText) -> ModelAnswer:
        """Answer in the formats that the lab asks for. Raises CallFailed, such as Refused for another lab's role."""
        begun = time.perf_counter()
        text, calls = self._called(request, self._reply(request))
        for piece in re.findall(r"\s*\S+\s*", text):
            on_text(piece)
        seconds = time.perf_counter() - begun
        reason = "tool_calls" if calls else "stop"
        return ModelAnswer(
            text=text, seconds=seconds, first_token_seconds=seconds, finish_reason=reason, tool_calls=calls
        )

    def _reply(self, request: Request) -> str:
        raise NotImplementedError

    def _called(self, request: Request, text: str) -> tuple[str, tuple[ToolCall, ...]]:
        """What it says, and the tools that it calls: none, unless a lab's robots know any."""
        return text, ()

    def refused(self, request: Request, lab: str, what: str = "") -> Refused:
        """That it plays no such role: it is a robot of that `lab`, and `what` it does there follows that."""
        return Refused(
            f"{self.id} cannot play the role of {request.role or 'nobody'} here.",
            f"It is a control of the {lab} lab{what}. Choose another model for this.",
        )


class Graded(Robot):
    """Faithful on a known `share` (from 0 to 1) of what it is asked. Its words in robots.toml name {robot.share}.

    There are eleven: they are found by their ids, and in no list to choose from.
    """

    listed = False

    def __init__(self, share: float) -> None:
        super().__init__()
        self.share = share
        self.id = f"{self.id}-{share:.1f}"
        self.title, self.about = self.title.format(robot=self), self.about.format(robot=self)


class Erring(Graded):
    """A graded one that can fail: on which share it is faithful is drawn again by `draw`, and it errs on `error`."""

    def __init__(self, share: float, draw: int, error: float = ERROR) -> None:
        self.draw, self.error = draw, error
        super().__init__(share)
        self.id = f"{self.id}-{draw}"

    @property
    def must_read(self) -> float:
        """The figure that is to be expected, (1 - e) p + e (1 - p): either it is faithful, or it errs."""
        return (1 - self.error) * self.share + self.error * (1 - self.share)


def by_id(robots: Iterable[R]) -> dict[str, R]:
    """The robots by their ids."""
    return {robot.id: robot for robot in robots}


def graded(kind: Callable[[float], R]) -> dict[str, R]:
    """Those of a kind, from a share of 0 to one of 1 in eleven steps, by id."""
    return by_id(kind(step / 10) for step in range(11))


def erring(kind: Callable[[float, int], R]) -> dict[str, R]:
    """Some of a kind, by id: each of SHARES in several draws."""
    return by_id(kind(share, draw) for share in SHARES for draw in range(DRAWS))
