"""The prompts for interpreters and evaluators: the templates of `data/prompts/find/`, turn by turn."""

import ast
import json
import re
from collections.abc import Callable, Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import Any, TypeVar

from ...events import Message, Prompt, Tool
from ...parsers import fields
from ...text import templates
from ...text.display import joined
from . import parse
from .functions.base import Category
from .functions.modules import REPOSITORY, template
from .parse import PARTS, TOOL
from .records import Probe
from .tasks import BY_MODEL, ProbeSpec

T = TypeVar("T")

FIRST_INPUTS = {
    "numeric": "-100 -10 -1 0 1 10 100",
    "strings": 'banana "Hello World" room101',
    "entities": "eagle violin Paris algebra",
    "relations": "France Mozart gold elephant",
}
"""Examples of the inputs of a first experiment."""

BY_FIELDS = "told-fields"
"""The template that asks an agent that has concluded for its conclusion as JSON fields."""

FOLLOW_UPS = ("told-outputs", "told-invented", "told-trouble", "told-mend", "told-conclude")
SHOWN = " -> "
"""The separator between the input and the output of an example."""

UNITS = {"entities": "unit-entities", "strings": "unit-pairs", "relations": "unit-pairs"}
MODULES = {"entities": ("entity", "entity-or"), "relations": ("relation", "relation-corrupted")}


_LLAMA_2 = re.compile(r"llama-?2", re.I)
"""The authors give Llama 2 a system prompt of its own (paper, appendix G)."""


def opening(
    spec: ProbeSpec,
    probes: Sequence[Probe],
    tools: bool = False,
    network: bool = False,
    exemplars: Sequence[str] = (),
) -> Prompt:
    """Return the task, with the outputs on the exemplars if the interpreter gets any.

    `tools`: it is to ask by tool calls, not by the text protocol. `network`: a network carries the function out. With
    the paper's prompts the interpreter gets the `exemplars` themselves, and none for a network.
    """
    task = template(_task(spec, network), spec.prompts)
    if spec.prompts:
        hints = template("hints", spec.prompts).user if exemplars and not network else ""
        advice = templates.fill(hints, {"exemplars": json.dumps(list(exemplars), ensure_ascii=False)})
        return task.render(how=template(_paper_manner(spec), spec.prompts).user, begin=advice)
    if spec.interpreter == "milan":
        return task.render(pairs=pairs(probes))
    how, begin = (templates.load(f"find/{name}").user for name in _manner(spec, tools))
    slots = {"pairs": pairs(probes), "inputs": FIRST_INPUTS[spec.category]}
    return task.render(how=how, begin=templates.fill(begin, slots))


def parts(spec: ProbeSpec) -> str:
    """Return the tags of a conclusion. The authors ask for no domain for texts (prompts/strings.txt)."""
    named = ("description", "code") if spec.category == "strings" and spec.rules == "paper" else PARTS[spec.category]
    return joined([f"[{name.upper()}]" for name in named])


def _task(spec: ProbeSpec, network: bool) -> str:
    """Return the template of the task. The paper rules follow the authors: the interpreter is told about a network
    (collect_interpretations.py:315-319), and asked for no domain for texts.
    """
    if spec.prompts:
        return f"agent-{spec.category}{'-network' if network and spec.category == 'numeric' else ''}"
    name = f"{'milan' if spec.interpreter == 'milan' else 'agent'}-{spec.category}"
    if spec.rules == "paper":
        name += {"numeric": "-network" if network else "", "strings": "-paper"}.get(spec.category, "")
    return name


def _manner(spec: ProbeSpec, tools: bool) -> tuple[str, str]:
    """Return the templates that say how an agent is to ask, and how it begins."""
    manner = "tools" if tools else "text"
    return f"how-{manner}", "begin-exemplars" if spec.interpreter == "aia+milan" else f"begin-{manner}"


def _paper_manner(spec: ProbeSpec) -> str:
    return "how-llama-2" if _LLAMA_2.search(spec.model) else "how"


def _unit(spec: ProbeSpec) -> str:
    """Return the template of a unit test; the authors have one for each category."""
    return f"unit-{spec.category}" if spec.evaluating else UNITS[spec.category]


def tool(category: Category) -> Tool:
    """Return the one tool of an agent, which calls the function."""
    kind = "number" if category == "numeric" else "string"
    inputs = {"type": "array", "items": {"type": kind}}
    schema = {"type": "object", "properties": {"inputs": inputs}, "required": ["inputs"]}
    return Tool(name=TOOL, description=templates.load("find/tool").user, parameters=schema)


def going_on(opening: Prompt, turns: Sequence[Message], slots: dict[str, str]) -> Prompt:
    """Return the dialogue so far. `slots` hold what a control needs to know; other models read the turns."""
    return opening.model_copy(update={"messages": (*opening.messages, *turns), "slots": {**opening.slots, **slots}})


def situation(
    spec: ProbeSpec, probes: Sequence[Probe], rounds_left: int, probes_left: int, trouble: str = ""
) -> dict[str, str]:
    """Return the state of the dialogue as slots."""
    return {
        "category": spec.category,
        "observations": json.dumps([[probe.input, None if probe.problem else probe.output] for probe in probes]),
        "rounds_left": str(rounds_left),
        "probes_left": str(probes_left),
        "trouble": trouble,
    }


def follow_up(name: str, **slots: str) -> str:
    """Return the text that follows the interpreter's message."""
    return templates.fill(templates.load(f"find/{name}").user, slots)


def pairs(probes: Sequence[Probe]) -> str:
    """Return the pairs as "(3, 9.5)", one per line; an input without an output has the reason instead."""
    return "\n".join(f"({probe.input}, {probe.output})" for probe in probes) or "(none)"


def unit_test(spec: ProbeSpec, description: str, options: Sequence[Sequence[str]]) -> Prompt:
    """Return the evaluator's prompt for one triplet: three examples, each an input, or an input and its output."""
    examples = {f"example{number}": SHOWN.join(option) for number, option in enumerate(options, start=1)}
    if spec.evaluating:
        for number, option in enumerate(options, start=1):
            examples |= {f"input{number}": option[0], f"output{number}": option[-1]}
    asked = template(_unit(spec), spec.evaluating)
    prompt = asked.render(category=spec.category, description=description, **examples)
    return fields.with_schema(prompt, parse.of_choice(spec, "1", "2", "3"))


def compare(spec: ProbeSpec, descriptions: Sequence[str], examples: Sequence[str]) -> Prompt:
    """Return the judge's prompt for two descriptions, with examples of the function as an evaluator reads them."""
    first, second = descriptions
    prompt = templates.load("find/compare").render(
        category=spec.category,
        description1=first,
        description2=second,
        examples="\n".join(f"- {text}" for text in examples),
    )
    prompt = prompt.model_copy(update={"slots": {**prompt.slots, "options": json.dumps(examples)}})
    return fields.with_schema(prompt, parse.of_choice(spec, "1", "2"))


def hashes(spec: ProbeSpec) -> dict[str, str]:
    """Return the hash of every template this run may send, by the template's id. Raises PaperPromptError if a prompt of
    the paper's is chosen and missing.
    """
    names: list[str] = []
    tasks = dict.fromkeys(_task(spec, network) for network in (False, True))
    if spec.prompts and spec.interpreter in BY_MODEL:
        names += [*tasks, _paper_manner(spec)]
        names += ["hints"] if spec.interpreter != "aia" else []
    elif spec.interpreter == "milan":
        names += [*tasks, "told-mend"]
    elif spec.interpreter in BY_MODEL:
        names += [*tasks, *_manner(spec, tools=False), *FOLLOW_UPS]
        names += [BY_FIELDS] if spec.answers == "schema" else []
        if spec.tools:
            names += [*_manner(spec, tools=True), "tool", "told-trouble-tools"]
    if spec.is_module and spec.backbone == "model":
        names += MODULES[spec.category]
    used = [template(name, spec.prompts) for name in names]
    if spec.evaluator and spec.category in UNITS:
        used.append(template(_unit(spec), spec.evaluating))
    if spec.judge and spec.category in UNITS:
        used.append(templates.load("find/compare"))
    asked = {one.id: one.hash for one in used} | templates.system_hashes(spec.system, spec.prompts)
    return asked | (fields.hashes() if spec.answers == "schema" and (spec.evaluator or spec.model) else {})


# The prompts of Schwettmann et al. 2023, read from a copy of their repository (FIND) without running its code.
#
# Where they are: tasks in src/run_interpretations/prompts, the system prompts and the advice of exemplars in
# collect_interpretations.py, unit tests in src/evaluate_interpretations, and what a module's model reads in each
# function's function_code.py of the data set.


_AGENTS = {
    "agent-numeric": "numeric.txt",
    "agent-numeric-network": "numeric_mlp.txt",
    "agent-strings": "strings.txt",
    "agent-entities": "neurons_entities.txt",
    "agent-relations": "neurons_relations.txt",
}
_INTERPRETING, _EVALUATING = "src/run_interpretations", "src/evaluate_interpretations"
_FILE = "function.py"
"""The name of the function's file in a prompt, as the paper prints it."""

_DATA = ("src/find-dataset", "find-dataset", ".")
_MODULES = {
    ("entities", 1): "entity",
    ("entities", 2): "entity-or",
    ("relations", 2): "relation",
    ("relations", 3): "relation-corrupted",
}
"""The template of a function's prompt, by category and by how many texts are filled in beside the input."""

_SLOTS = ("concept1", "concept2", "exception")
"""What is filled in beside the input, in the order of the text."""

_MOST_FUNCTIONS = 400
_EXAMPLE = re.compile(r"\b(IN|OUT)([012])\b")


def read(folder: Path) -> dict[str, dict[str, Any]]:
    """Return the templates in a copy of FIND, by name; those whose files it lacks are missing. Raises
    PaperPromptError.
    """
    found: dict[str, dict[str, Any]] = {}
    for name, role, system, user in (*_tasks(folder), *_tests(folder), *_modules(folder)):
        id = f"{templates.PREFIX}find-{name}"
        found[f"find/{name}"] = {"id": id, "version": 1, "role": role, "system": system, "user": user}
    return found


PromptText = tuple[str, str, str, str]
"""A template's name and role, with its system text and the user's."""


def _tasks(folder: Path) -> Iterator[PromptText]:
    for name, file in _AGENTS.items():
        if (path := templates.find(folder, f"{_INTERPRETING}/prompts/{file}")) is not None:
            task = templates.text_of_file(path).replace("{DIR2FUNC}", _FILE)
            yield name, "interpreter", "{how}", f"{task}{{begin}}"
    if (path := templates.find(folder, f"{_INTERPRETING}/collect_interpretations.py")) is not None:
        for name, text in _in_code(path, lambda tree: [*_systems(tree), ("hints", _advice(tree))]):
            yield name, "interpreter", "", text


def _in_code(path: Path, read: Callable[[ast.Module], T]) -> T:
    """Return what `read` finds in a Python file. Raises PaperPromptError with the file's name if there is no text."""
    source = templates.text_of_file(path)
    try:
        return read(templates.parse_python(source))
    except templates.NoTextError as error:
        raise templates.PaperPromptError(f"The prompts in {path} cannot be read: {error}.") from None


def _systems(tree: ast.Module) -> Iterator[tuple[str, str]]:
    """Yield the system prompts: that of Llama 2, in the branch for it, and the one of all other models. The first {} of
    each is the table of commands; the others are the commands alone, as the paper prints them (appendix G).
    """
    method = templates.functions(tree).get("return_sysPrompt")
    branches = [node for node in method.body if isinstance(node, ast.If)] if method else []
    if not branches:
        raise templates.NoTextError("there is no function return_sysPrompt with a branch for Llama 2")
    commands = _commands(tree)
    listed, alone = "".join(f"{name} - {told}\n" for name, told in commands), ", ".join(name for name, _ in commands)
    for name, body in (("how-llama-2", branches[0].body), ("how", branches[0].orelse)):
        texts = [_text(node.value) for node in body if isinstance(node, ast.Assign)]
        if not texts:
            raise templates.NoTextError("return_sysPrompt has a branch without a text")
        yield name, texts[0].replace("{}", listed, 1).replace("{}", alone)


def _commands(tree: ast.Module) -> list[tuple[str, str]]:
    """Return the commands, each with its explanation."""
    for node in tree.body:
        match node:
            case ast.Assign(
                targets=[ast.Name(id="commandTable")],
                value=ast.Call(args=[ast.Dict(values=[ast.List(elts=names), ast.List(elts=told), *_])]),
            ):
                return list(zip(map(_text, names), map(_text, told), strict=False))
    raise templates.NoTextError("there is no table of commands, commandTable")


def _text(node: ast.expr) -> str:
    return templates.text_of_expression(node, _none)


def _none(node: ast.expr) -> str:
    raise templates.NoTextError(f"line {node.lineno}: a part of the prompt is no text")


def _advice(tree: ast.Module) -> str:
    """Return the text that is added to a task if there are exemplars."""

    def exemplars(node: ast.expr) -> str:
        return "{exemplars}" if isinstance(node, ast.Name) and node.id == "initial" else _none(node)

    for node in ast.walk(templates.functions(tree).get("main", tree)):
        match node:
            case ast.AugAssign(target=ast.Name(id="prompt"), value=value):
                return templates.text_of_expression(value, exemplars)
    raise templates.NoTextError("main adds no exemplars to the prompt")


def _tests(folder: Path) -> Iterator[PromptText]:
    """Yield the unit tests."""
    code = templates.find(folder, f"{_EVALUATING}/unit_testing.py")
    if code is None:
        return
    system = _in_code(code, lambda tree: _assigned(tree, "sys_prompt"))
    for category in ("entities", "strings", "relations"):
        path = templates.find(folder, f"{_EVALUATING}/utils/prompt_eval_{category}.txt")
        if path is not None:
            text = templates.text_of_file(path).replace("DESC", "{description}", 1)
            yield f"unit-{category}", "evaluator", system, _EXAMPLE.sub(_numbered, text)


def _numbered(match: re.Match[str]) -> str:
    return f"{{{'input' if match[1] == 'IN' else 'output'}{int(match[2]) + 1}}}"


def _assigned(tree: ast.AST, variable: str) -> str:
    """Return the text that is assigned to a variable, wherever that is."""
    for node in ast.walk(tree):
        match node:
            case ast.Assign(targets=[ast.Name(id=name)], value=value) if name == variable:
                return _text(value)
    raise templates.NoTextError(f"no text is assigned to {variable}")


def _modules(folder: Path) -> Iterator[PromptText]:
    """Yield what a module's model reads, until there is one of each kind; a data set may have none of a kind."""
    for category in ("entities", "relations"):
        wanted = {name for (kind, _), name in _MODULES.items() if kind == category}
        for path in _functions(folder, f"neurons_{category}"):
            user, filled = _in_code(path, _asked)
            name = _MODULES.get((category, filled))
            if name in wanted:
                wanted.discard(name)
                yield name, "module", _in_code(path, lambda tree: _assigned(tree, "prompt")), user
            if not wanted:
                break


def _functions(folder: Path, category: str) -> Iterator[Path]:
    inside = [folder, *sorted(one for one in islice(folder.iterdir(), _MOST_FUNCTIONS) if one.is_dir())]
    data = (one / place / category for one in inside for place in _DATA)
    found = next((one for one in data if one.is_dir()), None)
    if found is not None:
        functions_of = (one / "function_code.py" for one in sorted(islice(found.iterdir(), _MOST_FUNCTIONS)))
        yield from (path for path in functions_of if path.is_file())


def _asked(tree: ast.Module) -> tuple[str, int]:
    """Return the user's turn of a function's code with slots, and how many texts are filled in beside the input."""
    filled: dict[str, str] = {}

    def slot(node: ast.expr) -> str:
        if not isinstance(node, ast.Name):
            return _none(node)
        if node.id == "input":
            return "{input}"
        if node.id not in filled and len(filled) < len(_SLOTS):
            filled[node.id] = f"{{{_SLOTS[len(filled)]}}}"
        return filled.get(node.id) or _none(node)

    for node in ast.walk(tree):
        match node:
            case ast.Dict(keys=[_, _], values=[ast.Constant(value="user"), content]):
                return templates.text_of_expression(content, slot), len(filled)
    raise templates.NoTextError("there is no message of the user")


PAPER_PROMPTS: templates.PaperPrompts = templates.PaperPrompts(
    REPOSITORY,
    {
        f"find/{name}": told
        for name, told in {
            **dict.fromkeys(_AGENTS, "a task"),
            "how": "the command",
            "how-llama-2": "the command, for Llama 2",
            "hints": "the exemplars",
            **{f"unit-{category}": "a unit test" for category in ("entities", "strings", "relations")},
            **dict.fromkeys(_MODULES.values(), "a module"),
        }.items()
    },
    read,
)
