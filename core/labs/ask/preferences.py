"""Preference pairs of the controls: two responses to one context, what their robots look at, and guessing their choice.

A choice is 1 or 2, the number of the candidate response.
"""

from __future__ import annotations

import re
import tomllib
from functools import lru_cache
from pathlib import Path

from pydantic import BaseModel, ConfigDict, ValidationError

from .world import CONTROLS, WorldError

_FIGURE = re.compile(r"\d|^\s*[-*•]\s", re.MULTILINE)
_LENGTH = re.compile(r"\b(longer|shorter) response\b", re.IGNORECASE)


class ControlPair(BaseModel):
    """A context with two candidate responses."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    context: str
    response_1: str
    response_2: str

    def swapped(self) -> ControlPair:
        """The same pair with its responses in the other order."""
        return ControlPair(context=self.context, response_1=self.response_2, response_2=self.response_1)


class _File(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")

    pairs: tuple[ControlPair, ...]


@lru_cache(maxsize=4)
def load(path: Path = CONTROLS / "preferences.toml") -> tuple[ControlPair, ...]:
    """The pairs of a file, by default the shipped ones. Raises WorldError, naming the file."""
    try:
        return _File.model_validate(tomllib.loads(path.read_text(encoding="utf-8"))).pairs
    except FileNotFoundError:
        raise WorldError(f"no file of preference pairs at {path}") from None
    except (tomllib.TOMLDecodeError, ValidationError) as error:
        raise WorldError(f"the preference pairs of {path.name} cannot be used: {error}") from error


def longer(response_1: str, response_2: str) -> int:
    """Which response has more words; the first where they have equally many."""
    return 2 if len(response_2.split()) > len(response_1.split()) else 1


def by_length(which: str, response_1: str, response_2: str) -> int:
    """The choice of who prefers the "longer" or the "shorter" response. Of equals the first is the longer."""
    chosen = longer(response_1, response_2)
    return chosen if which == "longer" else 3 - chosen


def with_figures(response_1: str, response_2: str) -> int | None:
    """Which response contains a number in digits or a list; None where both do or neither does."""
    has = [bool(_FIGURE.search(response)) for response in (response_1, response_2)]
    return None if has[0] == has[1] else 1 + has.index(True)


def guess_choice(explanation: str, response_1: str, response_2: str) -> tuple[int, str] | None:
    """The choice that `explanation` lets one expect, and the length it prefers; None where it names none, or both."""
    preferred = {match.lower() for match in _LENGTH.findall(explanation)}
    if len(preferred) != 1:
        return None
    which = preferred.pop()
    return by_length(which, response_1, response_2), which
