"""Files that a person names: only regular files, only up to a size limit, and none for visitors of a hosted app.

Errors name the path that the person wrote, never the content of a file or folder, which may be somebody's secret.
"""

import os
import stat
from contextlib import suppress
from pathlib import Path
from typing import BinaryIO

from . import home, policy
from .errors import ExplainError

MB = 1024 * 1024
_DEVICES = ("/proc", "/sys", "/dev")


class FileError(ExplainError, ValueError):
    """The file cannot be used; the message can be shown to the user."""


def stamp(path: Path) -> tuple[int, int]:
    """The size and the time of the last change of a file or folder, which show whether it has changed; (0, 0) if it
    does not exist.
    """
    with suppress(OSError):
        about = path.stat()
        return about.st_size, about.st_mtime_ns
    return 0, 0


def resolve_named(path: str | Path) -> Path:
    """Resolve the file or folder that a person named. Raises FileError, and NotAllowedError if visitors may not name
    files.
    """
    try:
        resolved = Path(path).expanduser().resolve()
        # The system rejects names that are too long for any file here.
        resolved.exists()
    except (OSError, RuntimeError, ValueError):
        raise FileError(f"There is nothing at {str(path)[:200]!r}.") from None
    own = home.home().resolve()
    inside = any(resolved.is_relative_to(own / part) for part in ("datasets", "models", "prompts"))
    if not policy.allows("files") and not inside:
        raise policy.NotAllowedError(
            "This app serves several people, so visitors cannot name files. Ask the host to put the data set "
            "into $EXPLAIN_HOME/datasets, and choose it there by its name."
        )
    _no_device(path)
    return resolved


def _no_device(path: str | Path) -> None:
    if os.path.realpath(path).startswith(tuple(f"{device}/" for device in _DEVICES)):
        raise FileError(f"{path} is a device, not a file with data.")


def open_file(path: Path) -> BinaryIO:
    """Open a file for reading. Raises FileError if it is missing or not a regular file."""
    _no_device(path)
    try:
        # Does not block on a pipe that nobody writes to.
        descriptor = os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0))
    except (OSError, ValueError) as error:
        why = os.strerror(error.errno) if isinstance(error, OSError) and error.errno else "no such name"
        raise FileError(f"{path} cannot be read: {why}.") from None
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        os.close(descriptor)
        raise FileError(f"{path} is no file.")
    return os.fdopen(descriptor, "rb")


def read_bytes(path: Path, limit: int) -> bytes:
    """Return the content of a file of at most `limit` bytes. Raises FileError if it is missing, larger, or not a
    regular file.
    """
    with open_file(path) as file:
        try:
            # `read(limit)` would allocate a buffer of that size, however small the file is.
            size = min(os.fstat(file.fileno()).st_size, limit)
            data = file.read(size + 1)
            if len(data) > size:
                data += file.read(limit + 1 - len(data))
        except OSError as error:
            raise FileError(f"{path} cannot be read: {error.strerror}.") from None
    if len(data) > limit:
        raise FileError(f"{path} is larger than {limit // MB} MB.")
    return data
