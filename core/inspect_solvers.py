"""`explain_yourself.inspect`: a solver and a scorer for Inspect, made from the registry for each lab that can ask about
a single item. An evaluation that has the scorer gains the lab's figures.

Each sample is a run of its own, with its journal in the home; the evaluated model is asked through Inspect, so its
limits, cache and log hold. inspect_ai is needed here alone.
"""

import asyncio
import inspect
import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any
from weakref import WeakKeyDictionary

from . import entry, home, notebook
from .commands.run_output import open_run
from .datasets import own
from .datasets.items import Item, Task
from .events import CallError, ModelAnswer, OnText, OutOfReachError, Request, Thinking, Usage, ending_of
from .labs.base.lab import Lab
from .models.ids import CONTROL, OWN
from .notebook import Run, RunError
from .report import scenes
from .report.export import said
from .runs.driver import Driver
from .runs.engine import RunRequest, new_id
from .scene import Claim
from .transcript import transcript

try:
    from inspect_ai import model as ai
    from inspect_ai.scorer import SampleScore, Score, Value, metric, scorer
    from inspect_ai.solver import TaskState, solver
    from inspect_ai.util import LimitExceededError
except ModuleNotFoundError as error:
    if (error.name or "").partition(".")[0] != "inspect_ai":
        raise
    raise ImportError("explain_yourself.inspect needs Inspect. Install it: pip install inspect_ai") from None

_OURS = (CONTROL, OWN, "local/", "replay/")
"""Models with these prefixes are asked by the app; all others are Inspect's."""
_THEIRS = "inspect/"
"""The prefix of Inspect's models in journals."""
_RULES = "repaired"
"""The parser whose figures are scores."""
_RUN = "run"
"""The key of a run's id in the metadata of a score."""


class _InspectModel:
    """A model of Inspect as one of ours. A limit of the evaluation that it reaches is added to `limits`."""

    def __init__(self, id: str, model: Any, limits: list[LimitExceededError]) -> None:
        self.id = id
        self._model = model
        self._limits = limits

    async def answer(self, request: Request, on_text: OnText) -> ModelAnswer:
        """Return the model's answer. Raises CallError if it gives none, and OutOfReachError at a limit of Inspect's."""
        if request.tools:
            raise CallError(f"{self.id} cannot be given tools here.", "Ask it without Inspect, through an endpoint.")
        turn = {"system": ai.ChatMessageSystem, "user": ai.ChatMessageUser, "assistant": ai.ChatMessageAssistant}
        turns = [turn[one.role](content=one.content) for one in request.messages]
        # An answer from Inspect's cache would make all samples of one prompt the same.
        cache = {"cache": False} if request.repeat else {}
        try:
            output = await self._model.generate(turns, config=_config(request), **cache)
        except LimitExceededError as error:
            self._limits.append(error)
            raise OutOfReachError(CallError(str(error), "Raise the limit of the evaluation.")) from error
        except Exception as error:
            raise CallError(f"{self.id} failed: {type(error).__name__}: {error}"[:1000]) from error
        return _answer(self.id, output, request.sampling.stop, on_text)


def _config(request: Request) -> Any:
    sampling = request.sampling
    schema = request.json_schema
    return ai.GenerateConfig(
        temperature=sampling.temperature,
        top_p=sampling.top_p,
        top_k=sampling.top_k,
        max_tokens=sampling.max_tokens,
        stop_seqs=list(sampling.stop) or None,
        seed=sampling.seed,
        response_schema=ai.ResponseSchema(name="answer", json_schema=schema) if schema else None,
    )


def _answer(id: str, output: Any, stop: Sequence[str], on_text: OnText) -> ModelAnswer:
    """Return what the model wrote, cut at the stop sequences. Raises CallError if it was withheld or broke off."""
    reason = str(output.stop_reason)
    if output.error or ending_of(reason) in ("filtered", "failed"):
        raise CallError(f"{id} gave no answer: {output.error or reason}"[:1000])
    message, usage = output.message, output.usage
    text = message.text
    for end in stop:
        text = text.partition(end)[0]
    on_text(text)
    return ModelAnswer(
        text=text,
        seconds=output.time or 0.0,
        finish_reason=reason,
        usage=Usage(prompt_tokens=usage.input_tokens, completion_tokens=usage.output_tokens) if usage else Usage(),
        thinking=_thinking(message.content, usage),
    )


def _thinking(content: Any, usage: Any) -> Thinking | None:
    parts = [] if isinstance(content, str) else [part for part in content if part.type == "reasoning"]
    tokens = getattr(usage, "reasoning_tokens", None)
    if raw := "\n".join(part.reasoning for part in parts if not part.redacted):
        return Thinking(kind="raw", text=raw, tokens=tokens)
    if summary := "\n".join(part.summary for part in parts if part.summary):
        return Thinking(kind="summary", text=summary, tokens=tokens)
    return Thinking(kind="hidden", tokens=tokens) if parts or tokens else None


class _Session:
    """The runs of one event loop. They share their prerequisites, such as a qualification test of the predictor."""

    def __init__(self) -> None:
        self._catalog = entry.catalog()
        self._models: dict[str, Any] = {}
        self._driver = Driver(entry.labs(), self._catalog.get, home.journals())

    def _id(self, name: str) -> str:
        """Return our id of a model, and remember it if it is Inspect's."""
        return name if name.startswith(_OURS) else self._add(ai.get_model(name.removeprefix(_THEIRS)))

    def _add(self, model: Any) -> str:
        id = f"{_THEIRS}{model}"
        self._models[id] = model
        return id

    async def make(self, lab: Lab, item: Item, fields: Mapping[str, Any]) -> Run:
        """Make a run about one item. Raises RunError, and LimitExceededError at a limit of the evaluation."""
        given = {"model": self._add(ai.get_model()), **notebook.options(lab, fields, self._id)}
        with notebook.complaining():
            spec = lab.spec.model_validate({**lab.command.from_options(given), **lab.command.from_item(item)})
            lab.check(spec)
        limits: list[LimitExceededError] = []

        def resolve(id: str) -> Any:
            return _InspectModel(id, self._models[id], limits) if id in self._models else self._catalog.get(id)

        driver, request = replace(self._driver, resolve=resolve), RunRequest(lab, spec, new_id(lab.name))
        state = await driver.execute_new(request)
        if limits:
            raise limits[0]
        if state.status != "completed":
            why = state.failures[-1] if state.failures else None
            raise RunError(f"The run {request.id} did not complete: {why.message if why else 'it was stopped.'}")
        return notebook.open(request.id)


_sessions: WeakKeyDictionary[asyncio.AbstractEventLoop, _Session] = WeakKeyDictionary()


def _session() -> _Session:
    try:
        loop = asyncio.get_running_loop()
    except RuntimeError:
        raise RunError("Runs are made with asyncio.", "Start Inspect without INSPECT_ASYNC_BACKEND=trio.") from None
    if loop not in _sessions:
        _sessions[loop] = _Session()
    return _sessions[loop]


def item_of(task: Task, state: TaskState, columns: Mapping[str, str]) -> Item:
    """Return a sample as an item. `columns` says where each role of the task is (`core.datasets.own.roles`): input,
    target, choices, or a key of the sample's metadata. Without it a role is where the metadata has its name; else one
    role is the input, the choices are the choices, and the answer is the target. Raises RunError.
    """
    parts: dict[str, list[str | None]] = {
        "input": [state.input_text],
        "target": [state.target.text],
        "choices": [one.value for one in sorted(state.choices, key=lambda one: one.original_position)],
    }
    usual = {own.INPUT[task]: "input", "answer": "target", "choices": "choices"}

    def cells(role: str) -> list[str | None]:
        name = columns.get(role) or (role if role in state.metadata else usual.get(role, role))
        if name not in parts and name not in state.metadata:
            raise ValueError(f"it has no {role}; say where it is, as columns={{{role!r}: KEY}}")
        held = parts[name] if name in parts else state.metadata[name]
        return [None if one is None else str(one) for one in (held if isinstance(held, list | tuple) else [held])]

    try:
        own.check_columns(task, columns)
        return own.item_of(task, str(state.sample_id), {role: cells(role) for role in (*own.NEEDS[task], "answer")})
    except ValueError as error:
        raise RunError(f"The sample {state.sample_id} cannot be used: {error}.") from None


def _item(lab: Lab, fields: dict[str, Any], state: TaskState) -> tuple[Item, dict[str, Any]]:
    """Return the sample as an item of the task, and the other fields."""
    task = fields.get("task") or lab.spec.model_fields["task"].default
    rest = {name: value for name, value in fields.items() if name != "columns"}
    return item_of(task, state, fields.get("columns") or {}), {**rest, "task": task}


def _make_solver(lab: Lab) -> Any:
    def make(**fields: Any) -> Any:
        async def solve(state: TaskState, generate: Any) -> TaskState:
            # A limit of the evaluation may end the run; then the scorer makes no other.
            state.store.set(_key(lab), "")
            item, rest = _item(lab, fields, state)
            run = await _session().make(lab, item, rest)
            state.store.set(_key(lab), run.id)
            claim = _claim(lab, run)
            state.output = ai.ModelOutput.from_content(str(run.spec["model"]).removeprefix(_THEIRS), said(claim))
            state.messages.append(state.output.message)
            return state

        return solve

    return _declared(
        make,
        lab,
        "solver",
        f"Has the model explain itself about each sample and tests the explanation: {lab.question} Its output is the "
        f"explanation, which ends with the answer. {lab.path}_scorer gives the figures.",
    )


def _make_scorer(lab: Lab) -> Any:
    def make(**fields: Any) -> Any:
        async def score(state: TaskState, target: Any) -> Score:
            made = state.store.get(_key(lab))
            if made:
                return _score(lab, notebook.open(made))
            if made is not None:
                return _unscored("The run of the solver did not come to its end.")
            item, rest = _item(lab, fields, state)
            try:
                item = lab.command.with_output(item, state.output.completion)
            except ValueError as error:
                return _unscored(f"The output cannot be tested: {error}.")
            return _score(lab, await _session().make(lab, item, rest))

        return score

    return _declared(
        make,
        lab,
        "scorer",
        f"{lab.question} After {lab.path}_solver it gives the figures of its runs. After any other solver it makes the "
        "runs itself, with the explanation in the output if the lab can test that.",
    )


def _declared(make: Callable[..., Any], lab: Lab, kind: str, about: str) -> Any:
    """Return the function with the name, signature and docstring that Inspect registers and logs."""
    known = notebook.sample_parameters(lab)
    make.__name__ = make.__qualname__ = f"{lab.path.replace('-', '_')}_{kind}"
    make.__signature__ = inspect.Signature(  # type: ignore[attr-defined]
        [inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=None) for name in known]
    )
    make.__doc__ = "\n".join([about, "", *(f"    {one.name}: {one.help}" for one in known.values())])
    return solver(name=make.__name__)(make) if kind == "solver" else scorer(metrics=[figures()])(make)


def _key(lab: Lab) -> str:
    return f"explain_yourself:{lab.path}"


def _claim(lab: Lab, run: Run) -> Claim:
    first = next(iter(run.transcript.cases))
    return scenes.of_case(lab, run.transcript, first).claim or Claim()


def _unscored(why: str) -> Score:
    """Return what Inspect counts as unscored."""
    return Score(value=math.nan, explanation=why, metadata={"reason": why})


def _score(lab: Lab, run: Run) -> Score:
    """Return the figures of a run as a score, undefined ones as NaN, which Inspect counts as unscored."""
    found = {one.metric: one for one in run.transcript.scores if not (one.case or one.item or one.rules != _RULES)}
    value = {one.name: found[one.name].value if one.name in found else None for one in lab.metrics}
    reasons = {name: one.detail["reason"] for name, one in found.items() if one.detail.get("reason")}
    cases = run.cases
    return Score(
        value={name: math.nan if figure is None else figure for name, figure in value.items()},
        answer=_claim(lab, run).answer,
        explanation="\n\n".join(filter(None, cases.verdict)),
        metadata={_RUN: run.id, "outcomes": dict(zip(cases.case, cases.outcome, strict=True)), "undefined": reasons},
    )


def _figures() -> Any:
    def measured(scores: list[SampleScore]) -> Value:
        runs = [str(one.score.metadata[_RUN]) for one in scores if one.score.metadata and _RUN in one.score.metadata]
        return of_runs(sorted(runs))

    return measured


def of_runs(ids: Iterable[str]) -> dict[str, float]:
    """Return the figures of all runs together, as one run over the same items has them, and the ends of the 95 %
    intervals of the leading ones as NAME_low and NAME_high. Raises RunNotFoundError.
    """
    views: dict[str, list[Any]] = {}
    for id in ids:
        lab, _, events = open_run(id, home.journals())
        held = transcript(events)
        views.setdefault(lab.name, []).extend(lab.view(held.case(case)) for case in held.cases)
    found: dict[str, float] = {}
    for name, of_lab in views.items():
        lab = entry.labs()[name]
        leading = {one.name for one in lab.metrics if one.leads}
        for figure in lab.scores(of_lab):
            if figure.rules != _RULES or figure.item or figure.score.value is None:
                continue
            found[figure.metric] = figure.score.value
            ends = {"low": figure.score.low, "high": figure.score.high} if figure.metric in leading else {}
            found |= {f"{figure.metric}_{end}": value for end, value in ends.items() if value is not None}
    return found


figures = metric(name="figures", scores="unreduced")(_figures)


for _name, _lab in notebook.sample_labs().items():
    globals()[f"{_name}_solver"] = _make_solver(_lab)
    globals()[f"{_name}_scorer"] = _make_scorer(_lab)
