"""The files of the published benchmark (the folder `find-dataset` of FIND).

Its contents: docs/measuring.md §4.1, §4.2 and §4.3.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

from .... import files
from ....errors import ExplainError

LARGEST = 256 * files.MB

T = TypeVar("T")


class BenchmarkError(ExplainError, ValueError):
    """A folder or file that is not the published benchmark; the message names it and says what is expected."""


def read_json(path: Path) -> Any:
    """Read a JSON file. Raises BenchmarkError if the file is absent or broken."""
    try:
        if not path.exists():
            raise BenchmarkError(f"{path} is missing; give the folder that holds numeric/ and strings/")
        return json.loads(files.read_bytes(path, LARGEST))
    except files.FileError as error:
        raise BenchmarkError(str(error)) from None
    except json.JSONDecodeError as error:
        raise BenchmarkError(f"{path} cannot be read: {error.msg}, line {error.lineno}") from None
    except (ValueError, OSError, RecursionError) as error:
        if isinstance(error, BenchmarkError):
            raise
        raise BenchmarkError(f"{path} cannot be read") from None


def rebuilt(entries: Any, file: str, build: Callable[[Any], tuple[str, T]]) -> dict[str, T]:
    """Return what `build` makes of each of the `entries` of `file`, by id. Raises BenchmarkError with the name of an
    entry that does not have the published layout.
    """
    made = {}
    for entry in entries:
        try:
            id, thing = build(entry)
        except (KeyError, TypeError, ValueError, AttributeError, IndexError) as error:
            name = (entry.get("dir") or entry.get("name") or "?") if isinstance(entry, dict) else "?"
            raise BenchmarkError(f"{file}: the entry of {name} cannot be read ({error!r})") from error
        made[id] = thing
    return made
