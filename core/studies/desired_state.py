"""Controls a running study: a small file that anybody may write, and the process that runs the study reads."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from pydantic import Field, ValidationError

from ..events import Frozen
from ..home import write

MOST_AT_ONCE = 64


class DesiredState(Frozen):
    """`paused`: no further call is sent, and runs end once their calls are answered. `at_once` overrides how many runs
    the study's file makes at a time; None leaves that as it is.
    """

    paused: bool = False
    at_once: Annotated[int, Field(ge=1, le=MOST_AT_ONCE)] | None = None


def wanted(home: Path, name: str) -> DesiredState:
    """The desired state of the study of that name; the defaults if its file is missing or unreadable."""
    try:
        return DesiredState.model_validate_json(_file(home, name).read_bytes())
    except (OSError, ValidationError):
        return DesiredState()


def want(home: Path, name: str, **changes: object) -> DesiredState:
    """Change some fields of the desired state. The change is atomic: a reader sees the old or the new file.

    Raises pydantic.ValidationError, and OSError if the file cannot be written.
    """
    now = DesiredState.model_validate({**wanted(home, name).model_dump(), **changes})
    write(_file(home, name), now.model_dump_json().encode())
    return now


def _file(home: Path, name: str) -> Path:
    return home / "studies" / f"{name}.json"
