"""How to control a study that runs: a small file, written by anybody, read by the process that runs the study."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from pydantic import Field, ValidationError

from ..events import Frozen
from ..home import write

MOST_AT_ONCE = 64


class DesiredState(Frozen):
    """`paused`: no further call leaves, and what goes on ends once it is answered. `at_once` runs at a time, in place
    of what the study's file says; None leaves it as it stands there.
    """

    paused: bool = False
    at_once: Annotated[int, Field(ge=1, le=MOST_AT_ONCE)] | None = None


def wanted(home: Path, name: str) -> DesiredState:
    """What is wanted of the study of that name; the defaults where its file is missing or cannot be read."""
    try:
        return DesiredState.model_validate_json(_file(home, name).read_bytes())
    except (OSError, ValidationError):
        return DesiredState()


def want(home: Path, name: str, **changes: object) -> DesiredState:
    """Change what is wanted, and leave the rest as it was. Atomic: a reader sees the old or the new file.

    Raises pydantic.ValidationError, and OSError where the file cannot be written.
    """
    now = DesiredState.model_validate({**wanted(home, name).model_dump(), **changes})
    write(_file(home, name), now.model_dump_json().encode())
    return now


def _file(home: Path, name: str) -> Path:
    return home / "studies" / f"{name}.json"
