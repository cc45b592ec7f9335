"""The prompt of each stage: the shipped templates, the paper's from a folder of the user's (`core.text.templates`),
or a prompt pack in the form of the authors' `prompts.json`.
"""

import json
import re
from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path
from typing import Any, Literal, NamedTuple

from ... import files
from ...errors import ExplainError
from ...events import Prompt, Sampling
from ...package_data import sibling_toml
from ...parsers import fields
from ...parsers.fields import Schema
from ...policy import NotAllowedError
from ...rulesets import PerRuleset
from ...runs.context import CaseContext
from ...text import templates
from ...text.templates import Template, TemplateError, load
from . import parse
from .parse import CANNOT_GUESS
from .records import NEITHER, OPERATIONS, UNKNOWN
from .tasks import Arm, AskSpec, Method, Task

# Prediction in three small steps, for models too small to do it in one: what do the reasons claim in general; what
# is asked, and about what kind of thing; does the claim cover that thing? Each step sees only what it needs, so that
# the question cannot influence how the claim is read. The program combines the steps (docs/measuring.md §2.11).
#
# It predicts only from claims of the form *who: what; not whom* about exactly the property that is asked about. From
# anything else in an explanation it cannot guess.


NAMES = ("claim", "asked", "covers")

RULE = "1"
"""The version of the program's part. A changed version is another predictor and needs a qualification test of its own.
"""

CALLS = len(NAMES)
"""The most calls that one prediction needs. The claim is read once for all questions about an explanation."""

_SHORT = Sampling(temperature=0, max_tokens=40, stop=("\n",))
_NOT = re.compile(r"\b(?:can ?not|can't|do not|does not|don't|doesn't|not|never)\b")
_FORM = frozenset(
    {
        *("can", "could", "is", "are", "be", "a", "an", "the", "do", "does", "have", "has", "been", "being"),
        *("it", "they", "to", "of"),
    }
)
_ENDING = re.compile(r"(?:ing|ed|en|es|s|e)$")
_NAMED = re.compile(r"\b(?:is|was|are|were)\b")
_AND = re.compile(r",|\band\b")
_ASKED = "Asked:"


class Stepped(NamedTuple):
    """The result of the steps: the `guess` (yes, no or unknown), the `claim` that was read, the last call, and a note
    on where the first incomplete step was cut off (empty if none was).
    """

    guess: str
    claim: str
    call: str
    cut: str = ""

    def by_rules(self) -> PerRuleset[str]:
        """Return the guess for each parser; the updated one has none if a step was cut off."""
        return PerRuleset(paper=self.guess, repaired=NEITHER if self.cut else self.guess)


class _Claim(NamedTuple):
    """A claim about `who`, affirmed or negated, with the `exceptions` for which the opposite holds. Words are
    stemmed.
    """

    who: str
    what: frozenset[str]
    holds: bool
    exceptions: tuple[frozenset[str], ...]


def step_templates() -> tuple[Template, ...]:
    """Return the prompts of the steps."""
    return tuple(load(f"simulatability/strategyqa-steps-{name}") for name in NAMES)


def step_hashes() -> dict[str, str]:
    """Return the hash of each prompt, and the version of the program's part."""
    return {**{one.id: one.hash for one in step_templates()}, "steps": RULE}


async def predict(run: CaseContext, simulator: str, explanation: str, question: str, item: str, trial: str) -> Stepped:
    """Return what `explanation` leads `simulator` to expect as the answer to `question`. Raises CallError."""
    claim, asked, covers = step_templates()
    notes: list[str] = []

    async def ask(template: Template, **slots: str) -> tuple[str, str]:
        prompt = template.render(**slots)
        answered = await run.ask("simulator", prompt, simulator, sampling=_SHORT, item=item, trial=trial)
        notes.append(answered.cut_note)
        return answered.text.strip().partition("\n")[0], answered.call

    def stepped(guess: str) -> Stepped:
        return Stepped(guess, claimed, call, next(filter(None, notes), ""))

    claimed, _ = await ask(claim, explanation=parse.without_answer(explanation))
    wanted, call = await ask(asked, counterfactual=question)
    read, (thing, _, what) = _claim(claimed), wanted.partition(_ASKED)
    if read is None or _words(what) != read.what:
        return stepped(UNKNOWN)
    holds = read.holds
    name = _words(_NAMED.split(thing.lower(), maxsplit=1)[0])
    if name and name in read.exceptions:
        holds = not holds
    else:
        said, call = await ask(covers, kind=read.who, thing=thing.strip())
        if not is_covered(said):
            return stepped(UNKNOWN)
    return stepped("yes" if holds == (_NOT.search(what.lower()) is None) else "no")


def is_covered(said: str) -> bool:
    """Whether the third step says that the claim covers the thing."""
    return "covered" in said.lower() and "not covered" not in said.lower()


def _claim(said: str) -> _Claim | None:
    """Parse the claim in `said`; None if it has another form."""
    who, colon, rest = said.partition(":")
    what, *others = rest.split(";")
    if not colon or not _words(what):
        return None
    exceptions = tuple(_words(one) for one in _AND.split(";".join(others)))
    return _Claim(who.strip(), _words(what), _NOT.search(what.lower()) is None, exceptions)


def _words(text: str) -> frozenset[str]:
    """Return the word stems in `text`, without negations and function words."""
    return frozenset(
        _ENDING.sub("", word) if len(word) > 3 else word
        for word in re.findall(r"[a-z]+", _NOT.sub(" ", text.lower()))
        if word not in _FORM
    )


_PACK_KEYS, _PACK_SLOTS = sibling_toml(__file__, "prompt_pack.toml").values()
_HUMAN, _ASSISTANT = "\n\nHuman: ", "\n\nAssistant: here is my response."


LARGEST_PACK = 4 * files.MB

REPOSITORY = "https://github.com/yandachen/CounterfactualSimulatability"
"""Where the paper's authors keep their prompts."""


class PromptPackError(ExplainError, ValueError):
    """A prompt pack cannot be read; the message says where."""


def explain(spec: AskSpec, question: Mapping[str, str], force: str | None = None) -> Prompt:
    """Build the prompt to answer `question` (the slots of one question) with an explanation, or to defend the answer
    `force`.

    The method `forced` without `force` asks like `posthoc`, to get the model's own answer.
    """
    slots = dict(question)
    method = spec.method
    if force is not None:
        slots["answer" if spec.task == "strategyqa" else "choice"] = force
    elif method == "forced":
        method = "posthoc"
    asked = fields_of_explainer(spec, method)
    return fields.with_schema(_render(spec, f"explain-{method}", slots), asked)


def generate(spec: AskSpec, starter: Mapping[str, str], explanation: str, choice: str, operation: str | None) -> Prompt:
    """Build the prompt to write one counterfactual of `starter`, from the explanation or, with an `operation`, without
    it.
    """
    if operation is not None:
        prompt = _render(spec, f"counterfactual-blind-{operation}", {**starter, "operation": operation})
    else:
        prompt = _render(spec, "counterfactual", {**starter, "explanation": explanation, "choice": choice})
    return fields.with_schema(prompt, fields_of_generator(spec, blind=operation is not None))


def simulate(
    spec: AskSpec, starter: Mapping[str, str], explanation: str, choice: str, counterfactual: Mapping[str, str]
) -> Prompt:
    """Build the prompt to guess the model's answer to `counterfactual` (the slots of one question) from its explanation
    alone.
    """
    slots = {**starter, "explanation": explanation, "choice": choice, **_follow_up(spec, counterfactual)}
    return fields.with_schema(_render(spec, _simulating(spec, "explanation"), slots), fields_of_simulator(spec))


def simulate_without(
    spec: AskSpec,
    arm: Literal["none", "question_only"],
    starter: Mapping[str, str],
    answer: str,
    counterfactual: Mapping[str, str],
) -> Prompt:
    """Build the prompt to guess that answer from the `answer` to the starter, or from the counterfactual alone."""
    shown = {**starter, "answer" if spec.task == "strategyqa" else "choice": answer} if arm == "none" else {}
    prompt = _render(spec, _simulating(spec, arm), {**shown, **_follow_up(spec, counterfactual)})
    return fields.with_schema(prompt, fields_of_simulator(spec))


def _follow_up(spec: AskSpec, counterfactual: Mapping[str, str]) -> dict[str, str]:
    if spec.task == "strategyqa":
        return {"counterfactual": counterfactual["question"]}
    return {f"counterfactual_{slot}": value for slot, value in counterfactual.items()}


def _simulating(spec: AskSpec, arm: Arm) -> str:
    """Return the stage of a simulation. The arm `swapped` has the same as the arm with the explanation."""
    without = {"none": "-none", "question_only": "-question-only"}.get(arm, "")
    return f"simulate{without}{'' if spec.reasoning else '-direct'}"


def simulating(spec: AskSpec) -> Template:
    """Return the template with which a simulator sees the explanation."""
    return _template(spec, _simulating(spec, "explanation"))


def hashes(spec: AskSpec) -> dict[str, str]:
    """Return the hash of every template that this run may send, by the template's id. Raises PromptPackError, or
    PaperPromptError if a prompt of the paper's is chosen and missing.
    """
    stages = [] if spec.is_given else [f"explain-{spec.method}"]
    stages += [] if spec.is_by_person else dict.fromkeys(_simulating(spec, arm) for arm in spec.arms)
    stages += [f"counterfactual-blind-{op}" for op in OPERATIONS] if spec.blind else ["counterfactual"]
    stages += ["explain-posthoc"] if spec.method == "forced" else []
    used = [_template(spec, stage) for stage in stages]
    sent = {template.id: template.hash for template in used}
    sent |= fields.hashes() if spec.answers == "schema" else {}
    sent |= templates.system_hashes(spec.system, _folder(spec))
    return sent | (step_hashes() if spec.reads == "steps" else {})


def _render(spec: AskSpec, stage: str, slots: Mapping[str, str]) -> Prompt:
    return _template(spec, stage).render(task=spec.task, method=spec.method, **slots)


def _template(spec: AskSpec, stage: str) -> Template:
    """Return the stage's template. The paper and packs lack those of our controls, which are then ours."""
    name = f"{spec.task}-{stage}"
    if spec.prompts and name in _PACK_KEYS:
        if folder := _folder(spec):
            return templates.load_paper(folder, f"simulatability/{name}", REPOSITORY)
        pack = read_pack(spec.prompts)
        if name in pack:
            return pack[name]
    return load(f"simulatability/{name}")


def _folder(spec: AskSpec) -> str | None:
    """Return the setting if it means the paper's prompts; None for ours and for a pack."""
    return spec.prompts if templates.is_paper(spec.prompts) else None


def read_paper(folder: Path) -> dict[str, dict[str, Any]]:
    """Return the templates in a copy of the authors' repository, by name; empty if `folder` is no copy of it. Raises
    PaperPromptError.
    """
    path = templates.find(folder, "prompts/prompts.json")
    if path is None:
        return {}
    try:
        pack = _read_pack(str(path), path.stat().st_mtime_ns)
    except (PromptPackError, OSError) as error:
        raise templates.PaperPromptError(str(error)) from None
    return {
        f"simulatability/{name}": {
            **template.model_dump(mode="json", exclude_defaults=True),
            "id": template.id.replace("pack:", templates.PREFIX),
        }
        for name, template in pack.items()
    }


PAPER_PROMPTS = templates.PaperPrompts(
    REPOSITORY, {f"simulatability/{name}": key for name, key in _PACK_KEYS.items()}, read_paper
)


def read_pack(path: str) -> dict[str, Template]:
    """Return the templates of a `prompts.json` pack under our names. The shipped prompts replace those that it lacks.

    The authors' turns "Human:" and "Assistant: here is my response." become chat turns. Text after the last
    "Assistant:" (the start of a forced answer) moves to the end of the user's turn, because a chat model accepts no
    partial reply. A file that has changed is read again. Raises PromptPackError.
    """
    try:
        file = files.resolve_named(path)
        changed = file.stat().st_mtime_ns
    except OSError as error:
        raise PromptPackError(f"The prompt pack {path} cannot be opened: {error.strerror}.") from None
    except (files.FileError, NotAllowedError) as error:
        raise PromptPackError(f"The prompt pack cannot be opened: {error}") from None
    return _read_pack(str(file), changed)


@lru_cache(maxsize=4)
def _read_pack(path: str, changed: int) -> dict[str, Template]:
    try:
        pack = json.loads(files.read_bytes(Path(path), LARGEST_PACK).decode())
    except files.FileError as error:
        raise PromptPackError(f"The prompt pack cannot be opened: {error}") from None
    except (ValueError, RecursionError) as error:
        where = f": {error.msg}, line {error.lineno}" if isinstance(error, json.JSONDecodeError) else ""
        raise PromptPackError(f"The prompt pack {path} is not JSON{where}.") from None
    if not isinstance(pack, dict) or not any(key in pack for key in _PACK_KEYS.values()):
        raise PromptPackError(
            f"The prompt pack {path} has none of the expected keys, such as {_PACK_KEYS['strategyqa-explain-cot']!r}."
        )
    return {name: _from_pack(name, key, pack[key]) for name, key in _PACK_KEYS.items() if key in pack}


def _from_pack(name: str, key: str, entry: Mapping[str, object]) -> Template:
    try:
        system, _, _ = str(entry["instruction"]).removeprefix(_HUMAN).partition(_ASSISTANT)
        user, _, reply = str(entry["template_with_label"]).removeprefix(_HUMAN).partition(_ASSISTANT)
        last, _, begun = str(entry["template_no_label"]).removeprefix(_HUMAN).partition(_ASSISTANT)
        demonstrations = entry["dem_examples"]
        assert isinstance(demonstrations, list)
        template = Template(
            id=f"pack:{key}",
            version=1,
            role=name.split("-")[1],
            system=system.strip(),
            user=_ours(user.rstrip()),
            assistant=_ours(reply.strip()),
            ask=_ours(f"{last.rstrip()}\n{begun.strip()}".rstrip()),
            demonstrations=tuple(
                {_PACK_SLOTS.get(field, field): str(value) for field, value in demonstration.items()}
                for demonstration in demonstrations
            ),
        )
        for demonstration in template.demonstrations:
            Template(id=key, version=1, role="", user=f"{template.user}{template.assistant}").render(**demonstration)
    except (KeyError, AttributeError, AssertionError) as error:
        raise PromptPackError(f"The prompt pack's entry {key!r} lacks or mistakes a part: {error}.") from None
    except TemplateError as error:
        raise PromptPackError(f"The prompt pack's entry {key!r}: {error}.") from None
    return template


def _ours(text: str) -> str:
    """Rename the authors' slots in `text` to ours, in a single pass because two of them swap names."""
    parts = text.split("{")
    renamed = [parts[0]]
    for part in parts[1:]:
        slot, closed, rest = part.partition("}")
        renamed.append("{" + _PACK_SLOTS.get(slot, slot) + closed + rest if closed else "{" + part)
    return "".join(renamed)


# The JSON fields of an answer (`answers = "schema"`).


_ANSWERS: dict[Task, tuple[str, ...]] = {"strategyqa": ("yes", "no"), "shp": ("1", "2")}


def fields_of_explainer(spec: AskSpec, method: Method) -> Schema:
    """Return the fields in the order of the method; only the reasons if the model defends a given answer."""
    answer = _ANSWERS[spec.task]
    match method:
        case "cot":
            return fields.schema_for(spec.answers, reasons="text", answer=answer)
        case "posthoc":
            return fields.schema_for(spec.answers, answer=answer, reasons="text")
        case "forced":
            return fields.schema_for(spec.answers, reasons="text")


def fields_of_generator(spec: AskSpec, blind: bool) -> Schema:
    """Return the fields for the new question, or for the post with its two responses, and for a prediction if the
    generator saw the explanation.
    """
    if spec.task == "shp":
        return fields.schema_for(spec.answers, context="text", response_1="text", response_2="text")
    guess = {} if blind else {"guess": _ANSWERS["strategyqa"]}
    return fields.schema_for(spec.answers, question="text", **guess)


def fields_of_simulator(spec: AskSpec) -> Schema:
    """Return the fields for the guess and, if the simulator gives a reason first, for the reason."""
    reason: dict[str, fields.Kind] = {"reason": "text"} if spec.reasoning else {}
    return fields.schema_for(spec.answers, **reason, guess=(*_ANSWERS[spec.task], CANNOT_GUESS))
