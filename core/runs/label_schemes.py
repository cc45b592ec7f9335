"""A person's own label schemes: what cases are labelled with, in the file `labels.toml` of the home.

[reason]
title = "What is wrong with the reason?"
several = false                               # true: a case may have several of the labels
labels = {circular = "x", vague = "v", fine = "f"}    # each label and its key
"""

from __future__ import annotations

import os
import re
import string
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any

from pydantic import Field, TypeAdapter, ValidationError, model_validator

from .. import home
from ..errors import ExplainError
from ..events import Frozen
from .labels import LONGEST_TAG, MOST_OF_SCHEME, MOST_SCHEMES

TAKEN = frozenset("jktcr")
"""Keys that the app uses already: J, K and T while a case is open, C and R in every Streamlit app."""

FREE = "".join(letter for letter in string.ascii_lowercase if letter not in TAKEN)

LONGEST_FILE = 64_000
"""The most bytes of the file."""

EXAMPLE = """[reason]
title = "What is wrong with the reason?"
several = false
labels = {circular = "x", vague = "v", fine = "f"}
"""

_NAME = re.compile(rf"\w(?:[\w '-]{{0,{LONGEST_TAG - 2}}}\w)?")


class SchemeError(ExplainError, ValueError):
    """The file of label schemes is invalid; the message names the file and the line."""


def _is_named(name: str) -> bool:
    return bool(_NAME.fullmatch(name))


class Scheme(Frozen):
    """A label scheme. `labels` has the key of each label; `several`: a case may have more than one of them."""

    name: str
    title: Annotated[str, Field(max_length=200)] = ""
    several: bool = False
    labels: dict[str, str] = Field(min_length=2, max_length=MOST_OF_SCHEME)

    @model_validator(mode="after")
    def _check(self) -> Scheme:
        for name in (self.name, *self.labels):
            if not _is_named(name):
                raise ValueError(f"{name!r} is no name: use letters, digits, spaces, hyphens, at most {LONGEST_TAG}.")
        for label, key in self.labels.items():
            if key.lower() in TAKEN:
                raise ValueError(f"{label!r} has the key {key!r}, which the app uses. Free keys: {FREE}.")
            if key not in FREE or len(key) != 1:
                raise ValueError(f"{label!r} has the key {key!r}: choose one lower-case letter. Free keys: {FREE}.")
        return self

    @property
    def shown(self) -> str:
        """The title, or the name if there is none."""
        return self.title or self.name


_Given = TypeAdapter(dict[str, dict[str, Any]])


def path() -> Path:
    """The file of the label schemes. Raises DataDirError."""
    return home.home() / "labels.toml"


def schemes() -> tuple[Scheme, ...]:
    """The label schemes of this home; none if it has no such file. Raises SchemeError and DataDirError."""
    file = path()
    try:
        with file.open("rb") as opened:
            content = opened.read(LONGEST_FILE + 1)
    except FileNotFoundError:
        return ()
    except OSError as error:
        raise SchemeError(f"{file} cannot be read: {error.strerror or error}.") from None
    try:
        return read(content.decode("utf-8-sig"), file.name)
    except UnicodeDecodeError:
        raise SchemeError(f"{file.name} is not UTF-8 text. Save it as UTF-8.") from None


def read(text: str, file: str = "labels.toml") -> tuple[Scheme, ...]:
    """The label schemes that the text of a file defines. Raises SchemeError."""
    if len(text) > LONGEST_FILE:
        raise SchemeError(f"{file} is too long: at most {LONGEST_FILE:,} characters.")
    try:
        given = _Given.validate_python(tomllib.loads(text))
    except tomllib.TOMLDecodeError as error:
        raise SchemeError(f"{file} is not TOML: {error}.") from None
    except (ValidationError, RecursionError):
        raise SchemeError(f"{file}, line 1: each scheme begins with its name in brackets, such as [reason].") from None
    if len(given) > MOST_SCHEMES:
        raise SchemeError(f"{file} has {len(given)} schemes: at most {MOST_SCHEMES} fit on the screen.")
    made: list[Scheme] = []
    keys: dict[str, str] = {}
    for name, fields in given.items():
        if unknown := sorted(fields.keys() - {"title", "several", "labels"}):
            raise SchemeError(
                f"{_at(file, text, name, unknown[0])}: {unknown[0]!r} is unknown. Use title, several, labels."
            )
        try:
            scheme = Scheme.model_validate({**fields, "name": name})
        except ValidationError as error:
            raise SchemeError(_complaint(error, file, text, name, fields)) from None
        for label, key in scheme.labels.items():
            if key in keys:
                words = f"the key {key!r} of {label!r} is already that of {keys[key]!r}. Choose another"
                raise SchemeError(f"{_at(file, text, name, label)}: {words}.")
            keys[key] = label
        made.append(scheme)
    return tuple(made)


def save(text: str) -> tuple[Scheme, ...]:
    """Store the text as the file of label schemes, once it is valid. Raises SchemeError and DataDirError."""
    found = read(text)
    file = path()
    aside = file.with_name(f".{file.name}.part")
    try:
        aside.write_text(text, encoding="utf-8")
        os.replace(aside, file)
    except OSError as error:
        raise SchemeError(f"{file} cannot be written: {error.strerror or error}.") from None
    return found


def _complaint(error: ValidationError, file: str, text: str, name: str, fields: Mapping[str, Any]) -> str:
    """What is wrong with a scheme, with the file and the line."""
    fault = error.errors()[0]
    words = fault["msg"].removeprefix("Value error, ").rstrip(".")
    named = [str(part) for part in fault["loc"]]
    labels = fields.get("labels")
    known = labels if isinstance(labels, dict) else {}
    # Our own messages name the label first, in quotes.
    about = named[-1] if named else next((label for label in known if words.startswith(repr(label))), name)
    return f"{_at(file, text, name, about)}: {': '.join([*named, words])}."


def _at(file: str, text: str, name: str, about: str) -> str:
    """The place in the file where a scheme has a word: file and line."""
    lines = text.splitlines() or [""]
    quoted = re.escape(name)
    head = re.compile(rf"""\s*\[\s*["']?{quoted}["']?\s*[\].]|\s*["']?{quoted}["']?\s*[.=]""")
    begins = next((number for number, line in enumerate(lines) if head.match(line)), 0)
    line = next((at for at in range(begins, len(lines)) if about in lines[at]), begins)
    return f"{file}, line {line + 1}"
