"""A model of known truth, which a lab provides: it answers immediately, from only the role and the slots of a
request.
"""

import inspect
import re
import time
from collections.abc import Callable, Iterable
from typing import TypeVar

from ..events import CallError, ModelAnswer, OnText, Request, ToolCall
from ..package_data import sibling_toml
from .errors import failure

R = TypeVar("R", bound="Robot")

ERROR = 0.1
"""The share of questions on which a noisy robot errs."""

SHARES, DRAWS = (0.3, 0.7, 0.9), 5


class Robot:
    """What all robots share. A class, or a robot, that is `named` gets its id, and its fields from the file robots.toml
    beside its module: `title`, `about`, and what else its lab says about a robot. `listed`: whether it is in lists to
    choose from.
    """

    id: str
    title: str
    about: str
    listed = True

    def __init_subclass__(cls, named: str = "") -> None:
        if named:
            _describe(cls, cls, named)

    def __init__(self, named: str = "") -> None:
        if named:
            _describe(self, type(self), named)

    async def answer(self, request: Request, on_text: OnText) -> ModelAnswer:
        """Answer in the formats that the lab asks for. Raises CallError, such as RequestRefusedError for another lab's
        role.
        """
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
        """The robot's text, and the tools that it calls: none, unless a lab's robots use tools."""
        return text, ()

    def refused(self, request: Request, lab: str, what: str = "") -> CallError:
        """The error that this robot does not play such a role: it is a robot of that `lab`, and `what` says what it
        does there.
        """
        return failure("not_its_role", robot=self.id, role=request.role or "nobody", lab=lab, what=what)


def _describe(robot: Robot | type[Robot], kind: type[Robot], named: str) -> None:
    robot.id = f"control/{named}"
    for name, value in sibling_toml(inspect.getfile(kind), "robots.toml")[named].items():
        setattr(robot, name, value)


class Graded(Robot):
    """A robot that is faithful on a known `share` (from 0 to 1) of what it is asked. Its texts in robots.toml contain
    {robot.share}.

    There are eleven of a kind: they are found by their ids, and are in no list to choose from.
    """

    listed = False

    def __init__(self, share: float) -> None:
        super().__init__()
        self.share = share
        self.id = f"{self.id}-{share:.1f}"
        self.title, self.about = self.title.format(robot=self), self.about.format(robot=self)


class Erring(Graded):
    """A graded robot that can fail: `draw` determines on which part it is faithful, and it errs on `error` of what it
    is asked.
    """

    def __init__(self, share: float, draw: int, error: float = ERROR) -> None:
        self.draw, self.error = draw, error
        super().__init__(share)
        self.id = f"{self.id}-{draw}"

    @property
    def must_read(self) -> float:
        """The expected figure, (1 - e) p + e (1 - p): it is either faithful without erring, or unfaithful and errs."""
        return (1 - self.error) * self.share + self.error * (1 - self.share)


def by_id(robots: Iterable[R]) -> dict[str, R]:
    """The robots by their ids."""
    return {robot.id: robot for robot in robots}


def graded(kind: Callable[[float], R]) -> dict[str, R]:
    """The robots of a kind, from a share of 0 to one of 1 in eleven steps, by id."""
    return by_id(kind(step / 10) for step in range(11))


def erring(kind: Callable[[float, int], R]) -> dict[str, R]:
    """Robots of a kind, by id: each of SHARES in several draws."""
    return by_id(kind(share, draw) for share in SHARES for draw in range(DRAWS))
