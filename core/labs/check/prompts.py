"""The prompts of the sessions, and the JSON fields that they may request: one function per session. Each returns a
single user turn, with no history from another.

`data/prompts/consistency/<task>-<session>.toml` holds a template and, under [wordings], the values of some of its
slots: a text, or a table from which the persona, target, mask or form chooses. The hash covers the words of the chosen
variant, and the id names the variant. With the setting `prompts` the templates are the paper's, from a folder of the
user's (`core.text.templates`).

Slots that the prompts carry, for control models to read:

| slot | sessions | value |
|---|---|---|
| task | all | sentiment, multi_choice, entailment |
| session | all | classify, answerable, counterfactual, redaction, attribution |
| persona | all | objective, human, you |
| mask | all | [REDACTED] or [REMOVED] |
| paragraph | all | the text to classify or to explain; edited or masked in the third session |
| question | all of multi_choice | the question |
| choices | all of multi_choice | the choices, one per line, in the order of a), b), … |
| options | some of multi_choice | the choices as the prompt lists them: a) "hall", or b) "attic" |
| hypothesis | all of entailment | the statement |
| target | counterfactual | explicit or implicit |
| wanted | counterfactual, explicit | the answer that the edit should lead to |
"""

import ast
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import suppress
from functools import cache, partial
from pathlib import Path
from typing import Any, Literal, NamedTuple, get_args

from pydantic import ValidationError

from ...datasets.items import Item
from ...events import Prompt, Rules
from ...package_data import table
from ...parsers import fields
from ...parsers.fields import Schema
from ...text import templates
from . import parse
from .tasks import LABELS, TASKS, CheckSpec, Explanation, Persona, Wording, wordings_of

Session = Literal["classify", "answerable", "counterfactual", "redaction", "attribution"]
SESSIONS: tuple[Session, ...] = get_args(Session)

REPOSITORY = "https://github.com/AndreasMadsen/llm-introspection"
"""Where the paper's authors keep their prompts."""

_STAND_INS = {task: Item(id="", task=task, choices=("x",) if task == "multi_choice" else ()) for task in TASKS}
"""Items that every template of a task can be rendered with."""

_SLOTS = ("paragraph", "question", "options", "hypothesis", "mask", "wanted")


def classify(item: Item, wording: Wording, paragraph: str | None = None, source: str | None = None) -> Prompt:
    """Return the prompt of the first session or, with the edited `paragraph`, of the third; the words around both are
    the same. `source`, here and below, is the setting `prompts`.
    """
    masks = wording.mask.strip("[]").lower() if wording.mask_sentence else "unmentioned"
    slots = _slots(item, "classify", wording, paragraph)
    if item.choices:
        slots["options"] = _options([*item.choices, "unknown"], "or")
    return _render(item, "classify", {wording.persona, masks}, slots, source)


def answerable(item: Item, wording: Wording, source: str | None = None) -> Prompt:
    """Return the prompt that asks whether the question can be answered at all."""
    slots = _slots(item, "answerable", wording)
    if item.choices:
        slots["options"] = _options(item.choices, "or")
    return _render(item, "answerable", {wording.persona, "listed" if wording.options else "open"}, slots, source)


def explain(
    item: Item, explanation: Explanation, wording: Wording, wanted: str = "", source: str | None = None
) -> Prompt:
    """Return the prompt that asks for an explanation: for a list of the words that matter, which are masked afterwards,
    without the model; for the paragraph with these words masked; or for an edit after which the answer is `wanted`,
    which an implicit target leaves open.
    """
    slots, chosen = _slots(item, explanation, wording), {str(wording.persona)}
    if explanation == "redaction":
        chosen.add("short" if wording.short else "long")
    elif explanation == "counterfactual":
        slots["target"] = wording.target
        if item.choices:
            # If there is a single choice, the only other answer that classification offers is "unknown".
            slots["options"] = _options(item.choices if len(item.choices) > 1 else (*item.choices, "unknown"), "and")
        if wording.target == "explicit":
            slots["wanted"] = wanted
        chosen.add(wording.target)
        if item.task == "entailment":
            chosen.add(wanted)
    return _render(item, explanation, chosen, slots, source)


def hashes(spec: CheckSpec) -> dict[str, str]:
    """Return the hash of every template this run may send, by the template's id. Raises PaperPromptError if a prompt of
    the paper's is chosen and missing.
    """
    item = _STAND_INS[spec.task]
    source = spec.prompts
    used: list[Prompt] = []
    for explanation in spec.explanations:
        targets = LABELS.get(spec.task, item.choices) if explanation == "counterfactual" else ("",)
        for wording in wordings_of(spec, explanation).values():
            used.append(classify(item, wording, source=source))
            if spec.answerable:
                used.append(answerable(item, wording, source))
            used += [explain(item, explanation, wording, wanted, source) for wanted in targets]
    sent = {prompt.id: prompt.hash for prompt in used}
    sent |= templates.system_hashes(spec.system, source)
    return sent | (fields.hashes() if spec.answers == "schema" else {})


def _slots(item: Item, session: Session, wording: Wording, paragraph: str | None = None) -> dict[str, str]:
    slots = {
        "task": item.task,
        "session": session,
        "persona": wording.persona,
        "mask": wording.mask,
        "paragraph": item.paragraph if paragraph is None else paragraph,
    }
    if item.task == "multi_choice":
        slots |= {"question": item.question, "choices": "\n".join(item.choices)}
    if item.task == "entailment":
        slots["hypothesis"] = item.hypothesis
    return slots


def _options(choices: list[str] | tuple[str, ...], joined_by: str) -> str:
    """Return the options in one line: `a) "hall", b) "attic", or c) "unknown"` (llm-introspection,
    tasks/multi_choice.py).
    """
    named = [f'{chr(ord("a") + number)}) "{choice}"' for number, choice in enumerate(choices)]
    return named[0] if len(named) == 1 else f"{', '.join(named[:-1])}, {joined_by} {named[-1]}"


def _render(item: Item, session: Session, chosen: set[str], slots: dict[str, str], source: str | None) -> Prompt:
    name = f"{item.task}-{session}"
    if source is None:
        return _variant(name, frozenset(chosen)).render(**slots)
    entry = templates.entry(source, f"consistency/{name}", REPOSITORY)
    try:
        return _worded(entry, chosen).render(**slots)
    except (AttributeError, KeyError, ValidationError, templates.TemplateError) as error:
        raise templates.PaperPromptError(
            f"The paper's prompt “consistency/{name}” lacks or mistakes a part: {str(error)[:200]}."
        ) from None


@cache
def _variant(name: str, chosen: frozenset[str]) -> templates.Template:
    return _worded(table(f"prompts/consistency/{name}"), chosen)


def _worded(entry: dict[str, Any], chosen: Collection[str]) -> templates.Template:
    """Return the template with the wordings for `chosen` filled in; its remaining slots are those of this module's
    table.
    """
    named: list[str] = []
    wordings = {slot: _pick(wording, chosen, named) for slot, wording in entry.get("wordings", {}).items()}
    user = templates.fill(entry["user"], {slot: f"{{{slot}}}" for slot in _SLOTS} | wordings)
    return templates.Template.model_validate(
        {**entry, "id": "+".join((entry["id"], *dict.fromkeys(named))), "user": user}
    )


def _pick(wording: Any, chosen: Collection[str], named: list[str]) -> str:
    """Follow the tables along `chosen` to a text, and add the names that decided to `named`. Raises TemplateError if
    not exactly one name fits.
    """
    while isinstance(wording, dict):
        fitting = [name for name in wording if name in chosen]
        if len(fitting) != 1:
            raise templates.TemplateError(
                f"of the wordings {', '.join(wording)} exactly one must fit {', '.join(sorted(chosen))}"
            )
        named.append(fitting[0])
        wording = wording[fitting[0]]
    return str(wording)


# Answers requested as JSON fields (`answers = "schema"`): the fields of each session, and the values read from them.
#
# An answer with the fields is read without guessing. One without them is parsed as prose, and the call says so. The
# original parser reads prose only, so it can read no answer of such a run.


_LABELS = {**LABELS, "sentiment": ("positive", "negative", "neutral")}
"""What a classification may say besides "unknown"; for multi_choice the item's choices."""


def of_classifier(spec: CheckSpec, item: Item) -> Schema:
    """Return the schema of a classification: one label."""
    labels = dict.fromkeys((*_LABELS.get(spec.task, item.choices), "unknown"))
    return fields.schema_for(spec.answers, label=tuple(labels))


def of_ability(spec: CheckSpec) -> Schema:
    """Return the schema of whether the model can tell at all."""
    return fields.schema_for(spec.answers, answer=("yes", "no"))


def of_explainer(spec: CheckSpec, explanation: Explanation) -> Schema:
    """Return the schema of an explanation: the words of an attribution, or the edited or masked paragraph."""
    asked: dict[str, fields.Kind] = {"words": "list"} if explanation == "attribution" else {"paragraph": "text"}
    return fields.schema_for(spec.answers, **asked)


def _value(text: str, asked: Schema) -> Any:
    """Return the value of the one field; None if the prompt asked for prose, or the model answered in prose."""
    found = None if asked is None else fields.read(text, asked)
    return None if found is None else next(iter(found.values()))


def label(item: Item, text: str, asked: Schema, rules: Rules) -> str | None:
    """Return the class in a classification's raw text; None if it cannot be read."""
    if (value := _value(text, asked)) is not None:
        return str(value)
    if item.task == "multi_choice":
        return parse.choice(text, item.choices, rules)
    return parse.sentiment(text, rules) if item.task == "sentiment" else parse.entailment(text, rules)


def ability(text: str, asked: Schema, rules: Rules) -> str | None:
    """Read the answer as `parse.ability` does, or from its field."""
    value = _value(text, asked)
    return parse.ability(text, rules) if value is None else str(value)


def word_list(text: str, asked: Schema, rules: Rules) -> tuple[str, ...] | None:
    """Read the answer as `parse.word_list` does, or from its field; None if the list has no word."""
    value = _value(text, asked)
    words = parse.word_list(text, rules) if value is None else [word for one in value if (word := one.strip())]
    return tuple(words) if words else None


def paragraph(text: str, asked: Schema, rules: Rules, original: str = "") -> str | None:
    """Read the answer as `parse.paragraph` does, or from its field."""
    value = _value(text, asked)
    if value is None:
        return parse.paragraph(text, rules, original)
    # A text field may hold a refusal or a bare label: the rules for prose recognize these.
    return None if parse.paragraph(value, rules) is None else str(value)


# The prompts of Madsen et al. 2024, read from a copy of the authors' code (llm-introspection).
#
# Their methods put each prompt together in one variable, `x_prompt += …`, with branches on the options that are
# enabled. This follows the branches for each wording without running the code
# (introspect/tasks/{sentiment,multi_choice, entailment}.py). The classification prompt is in the method `_query_…`,
# the others are in `_task` of a class for each.


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

_FORMS: Mapping[Session, Mapping[str, str]] = {
    "classify": {"redacted": "", "removed": "m-removed", "unmentioned": "c-no-redacted"},
    "answerable": {"open": "", "listed": "i-options"},
    "counterfactual": {"explicit": "", "implicit": "e-implcit-target"},
    "redaction": {"long": "", "short": "e-short"},
}
"""By session, our names of a prompt's forms, each with the authors' option that enables it; '' for the usual one."""

_SYSTEM = ("falcon", "llama2")
"""The models that have a system prompt in the authors' code. They send only Falcon's."""

_NO_TASK_PREFIX = ("Classify", "Answerable", "Counterfactual", "Redacted", "Importance")


class Variant(NamedTuple):
    """One wording: the names that choose it (`core.labs.check.prompts`) and the authors' options that it enables."""

    names: tuple[str, ...]
    options: frozenset[str]
    wanted: str = ""


def _variants(task: str, session: Session) -> Iterator[Variant]:
    for persona in get_args(Persona):
        as_whom = "" if persona == "objective" else f"{_LETTERS.get(session, 'e')}-persona-{persona}"
        for name, option in _FORMS.get(session, {"": ""}).items():
            for wanted in ("yes", "no") if task == "entailment" and name == "explicit" else ("",):
                names = tuple(filter(None, (persona, name, wanted)))
                yield Variant(names, frozenset(filter(None, (as_whom, option))), wanted)


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
                        self.text += templates.text_of_expression(value, self._resolved)
                        if len(self.text) > templates.LARGEST:
                            raise templates.NoTextError("a prompt is too long")
                case ast.Assign(targets=[ast.Name(id=name)], value=ast.Call() | ast.IfExp() as value):
                    # It may be a helper's text.
                    with suppress(templates.NoTextError):
                        self.helpers[name] = templates.text_of_expression(value, self._resolved)
                case ast.If(test=test, body=body, orelse=orelse):
                    chosen = self._is_enabled(test)
                    if chosen is not None:
                        self.follow(body if chosen else orelse)

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
                return templates.text_of_expression(
                    enabled if option in self.variant.options else otherwise, self._resolved
                )
            case ast.IfExp(
                test=ast.Compare(left=ast.Name(), ops=[ast.Eq()], comparators=[ast.Constant(value=value)]),
                body=body,
                orelse=orelse,
            ):
                return templates.text_of_expression(body if value == self.variant.wanted else orelse, self._resolved)
        raise templates.NoTextError(f"line {node.lineno}: a part of the prompt is no text")


def prompt_of(method: templates.Function, variant: Variant) -> str:
    """Return the prompt that a method puts together in that wording, with slots; empty if it puts none together. Raises
    NoTextError.
    """
    prompt = _Prompt(variant)
    try:
        prompt.follow(method.body)
    except RecursionError:
        raise templates.NoTextError("branches are nested too deeply") from None
    return prompt.text


def read(folder: Path) -> dict[str, dict[str, Any]]:
    """Return the templates in a copy of llm-introspection, by name; those whose methods it lacks are missing, and so
    are all if `folder` is no copy of it. Raises PaperPromptError.
    """
    found: dict[str, dict[str, Any]] = {}
    sources = {f"tasks/{task}": partial(_of_task, task) for task in TASKS}
    sources |= {f"model/{name}": partial(_of_model, name) for name in _SYSTEM}
    for name, templates_of in sources.items():
        path = templates.find(folder, f"introspect/{name}.py")
        if path is None:
            continue
        try:
            found |= templates_of(templates.parse_python(templates.text_of_file(path)))
        except templates.NoTextError as error:
            raise templates.PaperPromptError(f"The prompts in {path} cannot be read: {error}.") from None
    return found


def _of_task(task: str, tree: ast.Module) -> dict[str, dict[str, Any]]:
    methods = templates.functions(tree)
    entries = {f"consistency/{task}-{session}": _entry(task, session, methods) for session in SESSIONS}
    return {name: entry for name, entry in entries.items() if entry is not None}


def _of_model(name: str, tree: ast.Module) -> dict[str, dict[str, Any]]:
    """Return the usual system prompt of a model (`_default_system_message` of a class)."""
    found = {}
    for node in ast.walk(tree):
        match node:
            case ast.Assign(targets=[ast.Name(id="_default_system_message")], value=value):
                about = {"id": f"{templates.PREFIX}system-{name}", "version": 1, "role": "system"}
                found[f"system/{name}"] = {**about, "user": templates.text_of_expression(value, _no_text)}
    return found


def _no_text(node: ast.expr) -> str:
    raise templates.NoTextError(f"line {node.lineno}: a part of it is no text")


def _entry(task: str, session: Session, methods: Mapping[str, templates.Function]) -> dict[str, Any] | None:
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
            raise templates.NoTextError(f"no prompt is put together for {session}")
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


PAPER_PROMPTS = templates.PaperPrompts(
    REPOSITORY,
    {f"consistency/{task}-{session}": session for task in TASKS for session in SESSIONS}
    | {f"system/{name}": "a system prompt" for name in _SYSTEM},
    read,
)
