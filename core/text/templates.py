"""Prompts as texts: templates of ours or of a paper, chat turns with `{slots}`, and system prompts.

Ours are in `data/prompts/`, or in a folder that a lab names.

A template file is TOML::

    id = "strategyqa-explain-cot"
    version = 1
    role = "explainer"
    system = "What the model reads once."
    user = "Q: {question}"            # a user turn; the last one asks the real question
    assistant = "{explanation}"       # how a demonstration's reply is written

    [[demonstrations]]
    question = "..."
    explanation = "..."
"""

import ast
import hashlib
import json
import re
import tomllib
import warnings
from collections.abc import Callable, Mapping
from functools import cached_property, lru_cache
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple

from pydantic import ValidationError

from .. import files, home, policy
from ..errors import ExplainError
from ..events import CallError, Frozen, Message, Prompt
from ..package_data import COMMAND, DATA

PROMPTS = DATA / "prompts"

_SLOT = re.compile(r"\{([a-z][a-z0-9_]*)\}")


class TemplateError(ExplainError, ValueError):
    """A template file is invalid, or a slot has no value; the message names both."""


def fill(text: str, slots: Mapping[str, str]) -> str:
    """Replace each `{slot}` in `text`, in one pass: braces inside a value are left alone. Raises TemplateError for a
    slot without a value.
    """

    def value(match: re.Match[str]) -> str:
        try:
            return slots[match[1]]
        except KeyError:
            raise TemplateError(f"the prompt has a slot {{{match[1]}}} that was given no value") from None

    return _SLOT.sub(value, text)


class Template(Frozen):
    """A prompt with its demonstrations. `hash` changes whenever any word, or the order of demonstrations, changes."""

    id: str
    version: int
    role: str
    system: str = ""
    user: str
    assistant: str = ""
    ask: str = ""
    """The last user turn, if it differs from the demonstrations' turns."""
    demonstrations: tuple[dict[str, str], ...] = ()

    @cached_property
    def hash(self) -> str:
        """12 hexadecimal digits computed from everything that reaches the model."""
        content = self.model_dump(mode="json", exclude={"id", "version", "role"}, exclude_defaults=True)
        return hashlib.sha256(json.dumps(content, sort_keys=True, ensure_ascii=False).encode()).hexdigest()[:12]

    @cached_property
    def shown(self) -> list[Message]:
        """The turns of the demonstrations, which are the same in every prompt. Raises TemplateError."""
        turns = []
        for demonstration in self.demonstrations:
            turns.append(Message(role="user", content=fill(self.user, demonstration)))
            turns.append(Message(role="assistant", content=fill(self.assistant, demonstration)))
        return turns

    def render(self, **slots: str) -> Prompt:
        """Return the prompt: system turn, a user and an assistant turn per demonstration, then the question. Raises
        TemplateError.
        """
        turns = [Message(role="system", content=fill(self.system, slots))] if self.system else []
        turns += self.shown
        turns.append(Message(role="user", content=fill(self.ask or self.user, slots)))
        return Prompt(id=self.id, hash=self.hash, messages=tuple(turns), slots=slots)


@lru_cache(maxsize=256)
def load(name: str, folder: Path | None = None) -> Template:
    """Load the template `<name>.toml` from a folder. Without a folder it comes from `data/prompts`, with a `name` such
    as "simulatability/strategyqa-explain-cot".

    Raises TemplateError if the file is missing or is not a template.
    """
    folder = folder or PROMPTS
    path = folder / f"{name}.toml"
    try:
        return Template.model_validate(tomllib.loads(path.read_text(encoding="utf-8")))
    except FileNotFoundError:
        raise TemplateError(f"no prompt template {name!r} in {folder}") from None
    except (tomllib.TOMLDecodeError, ValidationError) as error:
        raise TemplateError(f"prompt template {path.name} cannot be used: {error}") from error


# The papers' own prompts: templates in a folder of the user's. None of them ship with this app.
#
# `$EXPLAIN_HOME/prompts/paper` has the layout of `data/prompts`, one TOML file for each template. `python -m core
# prompts read FOLDER` makes it from a copy of the authors' repositories.


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


class NoPaperPromptError(PaperPromptError):
    """A prompt of a paper is missing."""


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
    names. Its id begins with "paper:". Raises NoPaperPromptError if it is not there, PaperPromptError if it cannot be
    read, and NotAllowedError if visitors may not name folders.
    """
    try:
        folder = home_folder() if setting == PAPER else files.resolve_named(setting)
        path = folder / f"{name}.toml"
        changed = path.stat().st_mtime_ns
    except files.FileError as error:
        raise PaperPromptError(str(error)) from None
    except OSError:
        raise NoPaperPromptError(
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


def load_paper(setting: str, name: str, repository: str) -> Template:
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


# A system prompt as a setting of a run: a person's own words, or a text of a paper's authors.


ID = "system prompt"
"""The name of a person's system prompt where a run lists its prompts; the hash is of its text."""

REPOSITORY = "https://github.com/AndreasMadsen/llm-introspection"
"""The authors' code that has the usual system prompts of Falcon and Llama 2."""


def text_of(setting: str, prompts: str | None = None) -> str:
    """Return the system prompt: `setting` itself, or for "paper:NAME" the text `system/NAME` among the paper's prompts,
    which `prompts` may name the folder of. Raises PaperPromptError if it is missing there.
    """
    if not setting.startswith(PREFIX):
        return setting
    name = setting.removeprefix(PREFIX).strip()
    if not name.replace("-", "").replace("_", "").isalnum():
        raise PaperPromptError(
            f"“{setting[:100]}” names no system prompt of a paper. Write paper:falcon, or your own words."
        )
    folder = prompts if prompts and is_paper(prompts) else PAPER
    return load_paper(folder, f"system/{name}", REPOSITORY).user


def system_hashes(setting: str, prompts: str | None = None) -> dict[str, str]:
    """Return the hash of the system prompt by its name; empty without one. Raises PaperPromptError."""
    if not setting:
        return {}
    name = setting if setting.startswith(PREFIX) else ID
    return {name: hashlib.sha256(text_of(setting, prompts).encode()).hexdigest()[:12]}


def with_system(prompt: Prompt, system: str) -> Prompt:
    """Return the prompt with `system` as its system turn, or before the text of the system turn that it has."""
    if not system:
        return prompt
    first, *others = prompt.messages
    if first.role == "system":
        own = first.model_copy(update={"content": f"{system}\n\n{first.content}"})
        return prompt.model_copy(update={"messages": (own, *others)})
    return prompt.model_copy(update={"messages": (Message(role="system", content=system), *prompt.messages)})


# Texts in Python source, read without running it: literals, f-strings and sums of these.
#
# The authors of the papers keep their prompts in code. What a text takes from elsewhere is asked of the caller.


LONGEST = 10_000
"""The longest text that is put together, in characters."""

LARGEST_SOURCE, LONGEST_LINE = 64 * 1024, 4_000
"""The largest source and the longest line that are parsed, in characters: an f-string takes Python a time that grows
with the square of its length.
"""

Resolve = Callable[[ast.expr], str]
"""Returns the text that an expression stands for, other than a literal, an f-string or a sum. Raises NoTextError."""


Function = ast.FunctionDef | ast.AsyncFunctionDef


class NoTextError(ValueError):
    """The source cannot be parsed, or an expression is not a text that can be put together without running code."""


def parse_python(source: str) -> ast.Module:
    """Return the syntax tree. Raises NoTextError."""
    if len(source) > LARGEST_SOURCE or max(map(len, source.splitlines()), default=0) > LONGEST_LINE:
        raise NoTextError("it is larger, or has longer lines, than a program with prompts")
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return ast.parse(source)
    except SyntaxError as error:
        raise NoTextError(f"it is no Python 3 (line {error.lineno}: {error.msg})") from None
    except (ValueError, RecursionError, MemoryError):
        raise NoTextError("it is no Python 3, or is nested too deeply") from None


def text_of_expression(node: ast.expr, resolve: Resolve) -> str:
    """Return the text of an expression, at most LONGEST characters. Raises NoTextError."""
    try:
        parts: list[str] = []
        _collect(node, resolve, parts)
    except RecursionError:
        raise NoTextError("a text is nested too deeply") from None
    if sum(map(len, parts)) > LONGEST:
        raise NoTextError(f"a text is longer than {LONGEST:,} characters")
    return "".join(parts)


def _collect(node: ast.expr, resolve: Resolve, parts: list[str]) -> None:
    match node:
        case ast.Constant(value=str(text)):
            parts.append(text)
        case ast.JoinedStr(values=values):
            for value in values:
                _collect(value, resolve, parts)
        case ast.FormattedValue(value=value, conversion=-1, format_spec=None):
            _collect(value, resolve, parts)
        case ast.BinOp(left=left, op=ast.Add(), right=right):
            _collect(left, resolve, parts)
            _collect(right, resolve, parts)
        case _:
            parts.append(resolve(node))


def functions(tree: ast.AST) -> dict[str, Function]:
    """Return the functions of a module by name, those of classes as "Class.name"."""
    found: dict[str, Function] = {}
    for node in getattr(tree, "body", []):
        if isinstance(node, ast.ClassDef):
            found |= {f"{node.name}.{name}": inner for name, inner in functions(node).items()}
        elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            found[node.name] = node
    return found
