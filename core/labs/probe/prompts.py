"""The prompts for interpreters and evaluators: the templates of `data/prompts/find/`, turn by turn."""

import json
import re
from collections.abc import Sequence

from ...events import Message, Prompt, Tool
from ...parsers import fields
from ...text.templates import fill, load, system_hashes
from . import parse
from .functions.base import Category
from .functions.modules import template
from .parse import TOOL
from .records import Probe
from .tasks import BY_MODEL, ProbeSpec

PARTS = {
    "numeric": "[DESCRIPTION], [DOMAIN] and [CODE]",
    "strings": "[DESCRIPTION], [DOMAIN] and [CODE]",
    "entities": "[DESCRIPTION]",
    "relations": "[DESCRIPTION] and [DOMAIN]",
}
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
    if spec.prompts:
        task = template(_task(spec, network), spec.prompts)
        how = template(_paper_manner(spec), spec.prompts).user
        words = json.dumps(list(exemplars), ensure_ascii=False)
        advice = fill(template("hints", spec.prompts).user, {"exemplars": words}) if exemplars and not network else ""
        return task.render(how=how, begin=advice)
    task = load(f"find/{_task(spec, network)}")
    if spec.interpreter == "milan":
        return task.render(pairs=pairs(probes))
    how, begin = (load(f"find/{name}").user for name in _manner(spec, tools))
    slots = {"pairs": pairs(probes), "inputs": FIRST_INPUTS[spec.category]}
    return task.render(how=how, begin=fill(begin, slots))


def parts(spec: ProbeSpec) -> str:
    """Return the tags of a conclusion. The authors ask for no domain for texts (prompts/strings.txt)."""
    if spec.category == "strings" and spec.rules == "paper":
        return "[DESCRIPTION] and [CODE]"
    return PARTS[spec.category]


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
    return Tool(name=TOOL, description=load("find/tool").user, parameters=schema)


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
    return fill(load(f"find/{name}").user, slots)


def pairs(probes: Sequence[Probe]) -> str:
    """Return the pairs as "(3, 9.5)", one per line; an input without an output has the reason instead."""
    if not probes:
        return "(none)"
    return "\n".join(f"({probe.input}, {probe.output})" for probe in probes)


def unit_test(spec: ProbeSpec, description: str, options: Sequence[Sequence[str]]) -> Prompt:
    """Return the evaluator's prompt for one triplet: three examples, each an input, or an input and its output."""
    examples = {f"example{number}": SHOWN.join(option) for number, option in enumerate(options, start=1)}
    if spec.evaluating:
        for number, option in enumerate(options, start=1):
            examples |= {f"input{number}": option[0], f"output{number}": option[-1]}
    asked = template(_unit(spec), spec.evaluating)
    prompt = asked.render(category=spec.category, description=description, **examples)
    return fields.with_schema(prompt, parse.of_evaluator(spec))


def compare(spec: ProbeSpec, descriptions: Sequence[str], examples: Sequence[str]) -> Prompt:
    """Return the judge's prompt for two descriptions, with examples of the function as an evaluator reads them."""
    first, second = descriptions
    prompt = load("find/compare").render(
        category=spec.category,
        description1=first,
        description2=second,
        examples="\n".join(f"- {text}" for text in examples),
    )
    prompt = prompt.model_copy(update={"slots": {**prompt.slots, "options": json.dumps(examples)}})
    return fields.with_schema(prompt, parse.of_judge(spec))


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
    templates = [template(name, spec.prompts) for name in names]
    if spec.evaluator and spec.category in UNITS:
        templates.append(template(_unit(spec), spec.evaluating))
    if spec.judge and spec.category in UNITS:
        templates.append(load("find/compare"))
    asked = {one.id: one.hash for one in templates} | system_hashes(spec.system, spec.prompts)
    return asked | (fields.hashes() if spec.answers == "schema" and (spec.evaluator or spec.model) else {})
