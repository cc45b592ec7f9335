"""A model of known truth, which a lab brings: it answers at once, by the role and the slots of a request alone."""

from __future__ import annotations

import inspect
import re
import time
import tomllib
from functools import cache
from pathlib import Path
from typing import Any

from core.events import Answer, OnText, Request
from core.models.errors import Refused


class Robot:
    """What all robots share. A class that is `named` has its id, and what the file robots.toml beside its module says
    of it: `title`, `about`, and what else its lab tells of a robot.
    """

    id: str
    title: str
    about: str

    def __init_subclass__(cls, named: str = "") -> None:
        if named:
            cls.id = f"control/{named}"
            for name, value in _robots(Path(inspect.getfile(cls)).with_name("robots.toml"))[named].items():
                setattr(cls, name, value)

    async def answer(self, request: Request, on_text: OnText) -> Answer:
        """Answer in the formats that the lab asks for. Raises CallFailed, such as Refused for another lab's role."""
        begun = time.perf_counter()
        text = self._reply(request)
        for piece in re.findall(r"\s*\S+\s*", text):
            on_text(piece)
        seconds = time.perf_counter() - begun
        return Answer(text=text, seconds=seconds, first_token_seconds=seconds, finish_reason="stop")

    def _reply(self, request: Request) -> str:
        raise NotImplementedError

    def refused(self, request: Request, lab: str) -> Refused:
        """That it plays no such role: it is a robot of that `lab`."""
        return Refused(
            f"{self.id} cannot play the role of {request.role or 'nobody'} here.",
            f"It is a control of the {lab} lab. Choose another model for this.",
        )


@cache
def _robots(file: Path) -> dict[str, dict[str, Any]]:
    return tomllib.loads(file.read_text(encoding="utf-8"))
