"""The papers' own prompts: templates in a folder of the user's. None of them ship with this app.

`$EXPLAIN_HOME/prompts/paper` has the layout of `data/prompts`, one TOML file for each template. `python -m core prompts
read FOLDER` makes it from a copy of the authors' repositories.
"""

from __future__ import annotations

import tomllib
from collections.abc import Callable, Mapping
from functools import lru_cache
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple

from pydantic import ValidationError

from .. import files, home, policy
from ..events import CallError
from ..package_data import COMMAND
from .templates import Template

PAPER = "paper"
"""The setting `prompts` that takes the prompts from the home."""

PREFIX = "paper:"
"""How the ids of these templates begin."""

PROSE_ONLY = "The papers' prompts ask for prose. Choose prose for the answers, or our prompts."
"""Why they cannot be combined with answers as JSON fields."""

LARGEST = 256 * 1024
"""The largest file of a template, or of an author's texts, in bytes."""

_MOST_FOLDERS = 200


class PaperPromptError(CallError, ValueError):
    """A prompt of a paper is missing or cannot be used; the message says what to do."""

    bad_input = True


class PaperPrompts(NamedTuple):
    """The prompts of a lab's paper. `names` are its templates, such as "find/agent-numeric", each with what it is for.
    `read(folder)` returns those that it finds in a copy of the authors' `repository`, as they are written to files;
    it raises PaperPromptError for a file of theirs that it cannot parse.
    """

    repository: str
    names: Mapping[str, str]
    read: Callable[[Path], Mapping[str, dict[str, Any]]]


def home_folder() -> Path:
    """Return the folder in the home. Raises DataDirError."""
    return home.home() / "prompts" / PAPER


def entry(setting: str, name: str, repository: str) -> dict[str, Any]:
    """Return the content of the template `name`, from the home if `setting` is "paper", else from the folder that it
    names. Its id begins with "paper:". Raises PaperPromptError, and NotAllowedError if visitors may not name folders.
    """
    try:
        folder = home_folder() if setting == PAPER else files.resolve_named(setting)
        path = folder / f"{name}.toml"
        changed = path.stat().st_mtime_ns
    except files.FileError as error:
        raise PaperPromptError(str(error)) from None
    except OSError:
        raise PaperPromptError(
            f"The paper's prompt “{name}” is not in {folder}. The papers' texts do not ship with this app: get a copy "
            f"of {repository} and run `{COMMAND} prompts read FOLDER`, or choose our prompts."
        ) from None
    return _entry(path, changed)


@lru_cache(maxsize=128)
def _entry(path: Path, changed: int) -> dict[str, Any]:
    try:
        content = tomllib.loads(files.read_bytes(path, LARGEST).decode())
    except files.FileError as error:
        raise PaperPromptError(str(error)) from None
    except (ValueError, RecursionError) as error:
        words = str(error) or "it is nested too deeply"
        raise PaperPromptError(f"The paper's prompt {path} is no TOML file: {words[:200]}.") from None
    id = str(content.get("id", path.stem))
    return {**content, "id": id if id.startswith(PREFIX) else f"{PREFIX}{id}"}


def load(setting: str, name: str, repository: str) -> Template:
    """Return the template `name` (`entry`). Raises PaperPromptError, and NotAllowedError if visitors may not name
    folders.
    """
    content = entry(setting, name, repository)
    try:
        return Template.model_validate(content)
    except ValidationError as error:
        raise PaperPromptError(f"The paper's prompt “{name}” lacks or mistakes a part: {_first(error)}.") from None


def _first(error: ValidationError) -> str:
    problem = error.errors()[0]
    return f"{'.'.join(map(str, problem['loc']))}: {problem['msg']}"


def is_paper(setting: str | None) -> bool:
    """Whether the setting `prompts` means the paper's prompts: "paper", or a folder of them."""
    if not setting or setting == PAPER:
        return bool(setting)
    try:
        return files.resolve_named(setting).is_dir()
    except (files.FileError, policy.NotAllowedError):
        return False


THEIRS = "the paper's prompts"


def in_words(setting: str | None) -> str:
    """Return whose prompts the setting `prompts` means, for tables."""
    if not setting:
        return "our prompts"
    return "a prompt pack" if setting.lower().endswith(".json") else THEIRS


# Files of the authors


def find(folder: Path, path: str) -> Path | None:
    """Return the file `path` of a copy of the authors' repository: in `folder`, or in a folder directly inside it."""
    try:
        inside = sorted(one for one in islice(folder.iterdir(), _MOST_FOLDERS) if one.is_dir())
    except OSError:
        return None
    return next((one / path for one in (folder, *inside) if (one / path).is_file()), None)


def text_of_file(path: Path) -> str:
    """Return the text of an authors' file. Raises PaperPromptError if it cannot be read, or is larger than LARGEST."""
    try:
        return files.read_bytes(path, LARGEST).decode()
    except files.FileError as error:
        raise PaperPromptError(str(error)) from None
    except UnicodeDecodeError:
        raise PaperPromptError(f"{path} is no text in UTF-8.") from None
