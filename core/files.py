"""Files that a person names: only what is a file like any other, no more of it than was meant, and none for a visitor.

Errors name the path that the person wrote, never what a file or folder holds: that may be somebody's secret.
"""

from __future__ import annotations

import os
import stat
from pathlib import Path

from core import home, policy

MB = 1024 * 1024
_DEVICES = ("/proc", "/sys", "/dev")


class BadFile(ValueError):
    """The file cannot be had; the message is fit for the person."""


def named(path: str | Path) -> Path:
    """The file or folder that a person named, resolved. Raises BadFile, and NotAllowed where visitors name none."""
    try:
        resolved = Path(path).expanduser().resolve()
    except (OSError, RuntimeError, ValueError):
        raise BadFile(f"There is nothing at {str(path)[:200]!r}.") from None
    own = home.home().resolve()
    inside = any(resolved.is_relative_to(own / part) for part in ("datasets", "models", "prompts"))
    if not policy.allows("files") and not inside:
        raise policy.NotAllowed(
            "This app serves several people, and reads no files that a visitor names. Whoever runs it can put data "
            "sets into $EXPLAIN_HOME/datasets, where they are found by name."
        )
    if str(resolved).startswith(tuple(f"{device}/" for device in _DEVICES)):
        raise BadFile(f"{path} is no file of data.")
    return resolved


def read_bytes(path: Path, limit: int) -> bytes:
    """What a file holds, at most `limit` bytes. Raises BadFile: missing, no plain file, or larger."""
    try:
        # Without waiting for whoever might write into a pipe.
        descriptor = os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0))
    except (OSError, ValueError) as error:
        raise BadFile(f"{path} cannot be read: {getattr(error, 'strerror', None) or 'no such name'}.") from None
    with os.fdopen(descriptor, "rb") as file:
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            raise BadFile(f"{path} is no file.")
        try:
            data = file.read(limit + 1)
        except OSError as error:
            raise BadFile(f"{path} cannot be read: {error.strerror}.") from None
    if len(data) > limit:
        raise BadFile(f"{path} is larger than {limit // MB} MB.")
    return data
