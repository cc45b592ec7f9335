"""Read interpretations from elsewhere, in the published set's result layout or as JSON (collect_interpretations.py).

`<category>/<function>/` holds description.txt and, if there are such parts, domain.txt and code.py. The authors' names
of the categories (neurons_entities, neurons_relations, with or without _hints or _single_round) are understood.
"""

import json
from pathlib import Path
from typing import Any, NamedTuple

from ...errors import ExplainError
from .functions.base import CATEGORIES, Category
from .tasks import Given


class InterpretationsError(ExplainError, ValueError):
    """A file or folder that holds no interpretations; the message says what was expected."""


class NamedInterpretation(NamedTuple):
    """One interpretation of the function `name`."""

    name: str
    category: Category
    given: Given


def read(path: Path, category: Category | None = None) -> list[NamedInterpretation]:
    """Return all interpretations in `path`: a folder of functions, one function's folder, or a .json or .jsonl file.

    In JSON each has `name` (or `function`, `dir`), `description`, `domain`, `code`, and `category` unless the argument
    gives it. Raises InterpretationsError if there are none or they cannot be read.
    """
    if path.is_file():
        return _from_json(path, category)
    if not path.is_dir():
        raise InterpretationsError(f"{path} is neither a folder of interpretations nor a JSON file.")
    folders = [path] if (path / "description.txt").exists() or (path / "code.py").exists() else sorted(path.iterdir())
    interpretations = []
    for folder in folders:
        if any((folder / name).is_file() for name in ("description.txt", "code.py")):
            parts = {
                "description": _text(folder / "description.txt"),
                "domain": _text(folder / "domain.txt"),
                "code": _text(folder / "code.py"),
            }
            chosen = category or _category_of(folder.parent)
            interpretations.append(NamedInterpretation(folder.name, chosen, Given(**parts)))
    if not interpretations:
        raise InterpretationsError(f"{path} holds no folder with a description.txt or a code.py in it.")
    return interpretations


def _text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8").strip() if path.is_file() else ""
    except (OSError, UnicodeDecodeError) as error:
        raise InterpretationsError(f"{path} cannot be read: {error}") from error


def _category_of(folder: Path) -> Category:
    name = folder.resolve().name.removesuffix("_hints").removesuffix("_single_round").removeprefix("neurons_")
    if name not in CATEGORIES:
        raise InterpretationsError(
            f"The name of the folder {folder.name!r} is not a category. Name one with --category."
        )
    return name


def _from_json(path: Path, category: Category | None) -> list[NamedInterpretation]:
    try:
        text = path.read_text(encoding="utf-8")
        if path.suffix == ".jsonl":
            entries: Any = [json.loads(line) for line in text.splitlines() if line.strip()]
        else:
            entries = json.loads(text)
    except (OSError, ValueError) as error:
        raise InterpretationsError(f"{path} cannot be read: {error}") from error
    if isinstance(entries, dict):
        named = all(isinstance(entry, dict) for entry in entries.values())
        entries = [{"name": name, **entry} for name, entry in entries.items()] if named else [entries]
    interpretations = []
    for number, entry in enumerate(entries, start=1):
        if not isinstance(entry, dict):
            raise InterpretationsError(
                f"{path}: entry {number} is not an object with name, description, domain and code."
            )
        name = entry.get("name") or entry.get("function") or entry.get("dir")
        own = str(entry.get("category") or "").removeprefix("neurons_")
        chosen = category or (own if own in CATEGORIES else None)
        if not isinstance(name, str) or chosen is None:
            raise InterpretationsError(f"{path}: entry {number} needs a name, and a category (or give --category).")
        parts = {part: str(entry.get(part) or "") for part in ("description", "domain", "code")}
        interpretations.append(NamedInterpretation(Path(name).name, chosen, Given(**parts)))
    if not interpretations:
        raise InterpretationsError(f"{path} holds no interpretation.")
    return interpretations
