"""The prompts of Madsen et al. 2024, read from a copy of the authors' code (llm-introspection).

Their methods put each prompt together in one variable, `x_prompt += …`, with branches on the options that are enabled.
This follows the branches for each wording without running the code (introspect/tasks/{sentiment,multi_choice,
entailment}.py). The classification prompt is in the method `_query_…`, the others are in `_task` of a class for each.
"""

import ast
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple, get_args

from ...text import templates
from ...text.python_strings import Function, NoTextError, functions, parse, text_of
from ...text.templates import PaperPromptError, PaperPrompts
from .prompts import REPOSITORY, SESSIONS, Session
from .tasks import TASKS, Persona

_CLASSES: Mapping[Session, str] = {
    "classify": "Task._query_",
    "answerable": "AnswerableTask._task",
    "counterfactual": "CounterfactualTask._task",
    "redaction": "RedactedTask._task",
    "attribution": "ImportanceTask._task",
}
"""The part of a method's name by which the method that makes a prompt is found."""

_LETTERS: Mapping[Session, str] = {"classify": "c", "answerable": "i"}
"""The first letter of the options of a session; "e" for explanations."""

_SYSTEM = ("falcon", "llama2")
"""The models that have a system prompt in the authors' code. They send only Falcon's."""

_NO_TASK_PREFIX = ("Classify", "Answerable", "Counterfactual", "Redacted", "Importance")


class Variant(NamedTuple):
    """One wording: the names that choose it (`core.labs.check.prompts`) and the authors' options that it enables."""

    names: tuple[str, ...]
    options: frozenset[str]
    wanted: str = ""


def _variants(task: str, session: Session) -> Iterator[Variant]:
    letter = _LETTERS.get(session, "e")
    others: Sequence[tuple[str, tuple[str, ...]]]
    match session:
        case "classify":
            others = (("redacted", ()), ("removed", ("m-removed",)), ("unmentioned", ("c-no-redacted",)))
        case "answerable":
            others = (("open", ()), ("listed", ("i-options",)))
        case "counterfactual":
            others = (("explicit", ()), ("implicit", ("e-implcit-target",)))
        case "redaction":
            others = (("long", ()), ("short", ("e-short",)))
        case _:
            others = (("", ()),)
    for persona in get_args(Persona):
        as_whom = () if persona == "objective" else (f"{letter}-persona-{persona}",)
        for name, more in others:
            for wanted in ("yes", "no") if task == "entailment" and name == "explicit" else ("",):
                names = tuple(filter(None, (persona, name, wanted)))
                yield Variant(names, frozenset((*as_whom, *more)), wanted)


class _Prompt:
    """The prompt that a method makes with one variant's options."""

    def __init__(self, variant: Variant) -> None:
        self.variant = variant
        self.variable = ""
        self.text = ""
        self.helpers: dict[str, str] = {}

    def follow(self, statements: Sequence[ast.stmt]) -> None:
        """Add what the statements add, in the branches that the options choose. Raises NoTextError."""
        for statement in statements:
            match statement:
                case ast.AugAssign(target=ast.Name(id=name), op=ast.Add(), value=value) if name.endswith("_prompt"):
                    self.variable = self.variable or name
                    if name == self.variable:
                        self.text += text_of(value, self._resolved)
                        if len(self.text) > templates.LARGEST:
                            raise NoTextError("a prompt is too long")
                case ast.Assign(targets=[ast.Name(id=name)], value=ast.Call() | ast.IfExp() as value):
                    self._note(name, value)
                case ast.If(test=test, body=body, orelse=orelse):
                    chosen = self._is_enabled(test)
                    if chosen is not None:
                        self.follow(body if chosen else orelse)

    def _note(self, name: str, value: ast.expr) -> None:
        """Remember a helper's text, if the value is one."""
        try:
            self.helpers[name] = text_of(value, self._resolved)
        except NoTextError:
            return

    def _is_enabled(self, test: ast.expr) -> bool | None:
        """Whether the options fulfil a condition; None for a condition on something else."""
        match test:
            case ast.UnaryOp(op=ast.Not(), operand=operand):
                inner = self._is_enabled(operand)
                return None if inner is None else not inner
            case ast.Call(func=ast.Attribute(attr="_is_enabled"), args=[ast.Constant(value=str(option))]):
                return option in self.variant.options
        return None

    def _resolved(self, node: ast.expr) -> str:
        match node:
            case ast.Name(id=name) if name in self.helpers:
                return self.helpers[name]
            case ast.Name(id="paragraph" | "question" | "hypothesis" as name):
                return f"{{{name}}}"
            case ast.Name(id=name) if name.startswith(("opposite_", "alternative_")):
                return "{wanted}"
            case ast.Attribute(attr="_mask_special_token"):
                return "{mask}"
            case ast.Call(func=ast.Attribute(attr="_make_answer_choices")):
                return "{options}"
            case ast.Call(
                func=ast.Attribute(attr="_ifelse_enabled"), args=[ast.Constant(value=str(option)), enabled, otherwise]
            ):
                return text_of(enabled if option in self.variant.options else otherwise, self._resolved)
            case ast.IfExp(
                test=ast.Compare(left=ast.Name(), ops=[ast.Eq()], comparators=[ast.Constant(value=value)]),
                body=body,
                orelse=orelse,
            ):
                return text_of(body if value == self.variant.wanted else orelse, self._resolved)
        raise NoTextError(f"line {node.lineno}: a part of the prompt is no text")


def prompt_of(method: Function, variant: Variant) -> str:
    """Return the prompt that a method puts together in that wording, with slots; empty if it puts none together. Raises
    NoTextError.
    """
    prompt = _Prompt(variant)
    try:
        prompt.follow(method.body)
    except RecursionError:
        raise NoTextError("branches are nested too deeply") from None
    return prompt.text


def read(folder: Path) -> dict[str, dict[str, Any]]:
    """Return the templates in a copy of llm-introspection, by name; those whose methods it lacks are missing, and so
    are all if `folder` is no copy of it. Raises PaperPromptError.
    """
    found: dict[str, dict[str, Any]] = {}
    for task in TASKS:
        path = templates.find(folder, f"introspect/tasks/{task}.py")
        if path is None:
            continue
        try:
            methods = functions(parse(templates.text_of_file(path)))
            for session in SESSIONS:
                if (entry := _entry(task, session, methods)) is not None:
                    found[f"consistency/{task}-{session}"] = entry
        except NoTextError as error:
            raise PaperPromptError(f"The prompts in {path} cannot be read: {error}.") from None
    return found | _system_prompts(folder)


def _system_prompts(folder: Path) -> dict[str, dict[str, Any]]:
    """Return the usual system prompts of the models that have one (`_default_system_message` of a class)."""
    found = {}
    for name in _SYSTEM:
        path = templates.find(folder, f"introspect/model/{name}.py")
        if path is None:
            continue
        try:
            for node in ast.walk(parse(templates.text_of_file(path))):
                match node:
                    case ast.Assign(targets=[ast.Name(id="_default_system_message")], value=value):
                        text = text_of(value, _no_text)
                        about = {"id": f"{templates.PREFIX}system-{name}", "version": 1, "role": "system"}
                        found[f"system/{name}"] = {**about, "user": text}
        except NoTextError as error:
            raise PaperPromptError(f"The system prompt in {path} cannot be read: {error}.") from None
    return found


def _no_text(node: ast.expr) -> str:
    raise NoTextError(f"line {node.lineno}: a part of it is no text")


def _entry(task: str, session: Session, methods: Mapping[str, Function]) -> dict[str, Any] | None:
    """Return the template of a session in every wording; None if there is no method that makes it."""
    named = (name for name in methods if _CLASSES[session] in name)
    if session == "classify":
        named = (name for name in named if not name.partition("Task.")[0].endswith(_NO_TASK_PREFIX))
    method = next((methods[name] for name in named), None)
    if method is None:
        return None
    wordings: dict[str, Any] = {}
    for variant in _variants(task, session):
        prompt = prompt_of(method, variant)
        if not prompt:
            raise NoTextError(f"no prompt is put together for {session}")
        *outer, last = variant.names
        place = wordings
        for name in outer:
            place = place.setdefault(name, {})
        place[last] = prompt
    role = "classifier" if session in ("classify", "answerable") else "explainer"
    return {
        "id": f"{templates.PREFIX}{task}-{session}",
        "version": 1,
        "role": role,
        "user": "{text}",
        "wordings": {"text": wordings},
    }


PAPER_PROMPTS = PaperPrompts(
    REPOSITORY,
    {f"consistency/{task}-{session}": session for task in TASKS for session in SESSIONS}
    | {f"system/{name}": "a system prompt" for name in _SYSTEM},
    read,
)
