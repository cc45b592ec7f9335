"""What people add to the app without changing it: models, labs, metrics and data sets.

Every file in `$EXPLAIN_HOME/extensions` is run once, and every entry point of an installed package in one of GROUPS is
loaded, when the registry is first used. A broken one is reported and stops nothing else. Where the app is hosted none
is loaded (`core.policy`).
"""

import asyncio
import importlib.util
import inspect
import sys
import threading
import time
import traceback
from collections.abc import Awaitable, Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from importlib import metadata
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

from . import home, policy
from .datasets import registry
from .datasets.items import BROKEN, Item, LeftOut, Read, Task
from .events import CallError, Model, ModelAnswer, OnText, Request, Sampling
from .home import DataDirError
from .labs.base.declared import Metric
from .labs.base.lab import Lab
from .models.ids import OWN
from .rulesets import RULES
from .score import Figure, Score
from .statistics.intervals import Kind
from .store.schema import record_tables

T = TypeVar("T")

GROUPS = tuple(f"explain_yourself.{what}" for what in ("labs", "models", "metrics", "datasets"))
"""The groups of entry points. Loading one runs its module, which registers what it has."""

LONGEST_NAME = 100

Answers = Callable[[list[dict[str, str]], Sampling], "str | Awaitable[str]"]
"""A function that answers: from the chat turns (`role` and `content`) and the sampling settings to a text."""


class ExtensionError(CallError, ValueError):
    """Something cannot be registered; the message says why."""

    bad_input = True


class ExtensionFault(NamedTuple):
    """An extension that could not be loaded: its name, the line of its file (0 if unknown), and the reason."""

    name: str
    line: int
    reason: str

    def __str__(self) -> str:
        where = f", line {self.line}" if self.line else ""
        return f"The extension {self.name} was not loaded{where}: {self.reason}"


class _OwnMetric(NamedTuple):
    lab: str
    metric: Metric
    score: Callable[[Sequence[Any]], Score]


@dataclass
class _Registered:
    """What was registered so far."""

    models: dict[str, Model] = field(default_factory=dict)
    labs: dict[str, Lab] = field(default_factory=dict)
    metrics: dict[str, _OwnMetric] = field(default_factory=dict)
    datasets: dict[str, registry.Dataset] = field(default_factory=dict)


_here = _Registered()
_faults: list[ExtensionFault] = []
on_change: list[Callable[[], object]] = []
"""Called when a lab or a metric was registered."""

_loading = threading.RLock()
_is_loaded = False


class FunctionModel:
    """A function as a model, with the id `mine/<name>`. A function that is not async is called in a thread of its own,
    once at a time, because few models on a graphics card can be called twice. The text is cut at the stop sequences
    that are asked for, as a server would.
    """

    def __init__(self, name: str, function: Answers) -> None:
        self.id = f"{OWN}{name}"
        self.title = name
        self.about = (inspect.getdoc(function) or "").partition("\n")[0] or "A function of your own."
        self._function = function
        self._thread = ThreadPoolExecutor(1, thread_name_prefix=f"model-{name}")

    async def answer(self, request: Request, on_text: OnText) -> ModelAnswer:
        """Return what the function answers. Raises CallError if it fails or returns something other than a text."""
        turns = [{"role": turn.role, "content": turn.content} for turn in request.messages]
        begun = time.perf_counter()
        try:
            if inspect.iscoroutinefunction(self._function):
                text = await self._function(turns, request.sampling)
            else:
                loop = asyncio.get_running_loop()
                text = await loop.run_in_executor(self._thread, self._function, turns, request.sampling)
                if inspect.isawaitable(text):
                    text = await text
        except CallError:
            raise
        except Exception as error:
            line = traceback.extract_tb(error.__traceback__)[-1]
            raise CallError(
                f"{self.id} failed: {type(error).__name__}: {error}", f"It happened in {line.name}, line {line.lineno}."
            ) from error
        if not isinstance(text, str):
            raise CallError(f"{self.id} returned {type(text).__name__} where a text (str) is needed.")
        for stop in request.sampling.stop:
            text = text.partition(stop)[0]
        on_text(text)
        return ModelAnswer(text=text, seconds=time.perf_counter() - begun, finish_reason="stop")


def model(name: str) -> Callable[[T], T]:
    """Register a function as the model `mine/<name>`, which every lab, study and form then offers.

    The function takes the chat turns, a list of `{"role": …, "content": …}`, and the sampling settings (`temperature`,
    `max_tokens`, `stop`, `seed`, …), and returns a text; it may be async. An object, or a class of objects, with a
    method `answer(request, on_text)` is asked with the whole request (`core.events.Request`) instead: a robot, for
    example. A name that is registered again is replaced. Raises ExtensionError.

        >>> import explain_yourself as ey
        >>> @ey.model("always-no")
        ... def always_no(messages, sampling):
        ...     return "No. I always say no."
        >>> robot = {"generators": "control/fickle", "simulator": "control/fickle"}
        >>> run = ey.ask("Can a penguin fly?", model="always-no", counterfactuals=2, exam=False, **robot)
        >>> run.status
        'completed'
    """
    _check_name("model", name)

    def register(function: T) -> T:
        made: Any = function() if inspect.isclass(function) else function
        if hasattr(made, "answer"):
            made.id = f"{OWN}{name}"
        elif callable(made):
            made = FunctionModel(name, made)
        else:
            raise ExtensionError(f"The model {name} has to be a function, or an object with a method answer.")
        _here.models[made.id] = made
        return function

    return register


def lab(declaration: T) -> T:
    """Register a lab: a `core.labs.base.lab.Lab`, or a class of them that takes no arguments. It gets a page, a
    command, tables of the index and a place in Browse. Raises ExtensionError.
    """
    made: Any = declaration() if inspect.isclass(declaration) else declaration
    if not isinstance(made, Lab):
        raise ExtensionError(f"A lab has to be a Lab, and {type(made).__name__} is not one.")
    _here.labs[made.name] = made
    _changed()
    return declaration


def metric(of: str, title: str = "", *, kind: Kind = "share", help: str = "") -> Callable[[T], T]:
    """Register a figure of the lab with that name or command. The function takes the views of one or many cases, each
    by one parser, and returns a `core.score.Score`. Its name is the figure's. If it fails, the figure is undefined and
    says why. Raises ExtensionError.
    """

    def register(function: T) -> T:
        name = str(getattr(function, "__name__", ""))
        _check_name("metric", name)
        words = help or (inspect.getdoc(function) or "").partition("\n\n")[0]
        shown = Metric(name, title or name.replace("_", " ").capitalize(), words, kind)
        _here.metrics[name] = _OwnMetric(of, shown, function)  # type: ignore[arg-type]
        _changed()
        return function

    return register


def dataset(
    name: str, task: Task, *, title: str = "", source: str = "", licence: str = ""
) -> Callable[[Callable[[], Iterable[Mapping[str, Any]]]], Callable[[], Iterable[Mapping[str, Any]]]]:
    """Register a data set for a `task` (strategyqa, shp, sentiment, multi_choice or entailment). The function yields
    its items as dicts with an `id`, what the task needs (docs/data.md), and the correct answer as `label`, if it is
    known. An item that does not fit is left out, with the reason. Raises ExtensionError.
    """
    _check_name("data set", name)

    def register(rows: Callable[[], Iterable[Mapping[str, Any]]]) -> Callable[[], Iterable[Mapping[str, Any]]]:
        _here.datasets[name] = registry.Dataset(
            name=name,
            title=title or name,
            task=task,
            source=source or "an extension",
            licence=licence or "not known",
            layout="a function",
            read=lambda path, split: items_of(task, rows()),
            file=Path(inspect.getfile(rows)),
        )
        registry.add(_here.datasets[name])
        return rows

    return register


def items_of(task: Task, rows: Iterable[Mapping[str, Any]]) -> Read:
    """Return the items that an extension yields; one that does not fit is left out, with the reason."""
    found: list[Item | LeftOut] = []
    for number, row in enumerate(rows, start=1):
        try:
            found.append(Item.model_validate({"id": str(number), **row, "task": task}))
        except (ValueError, TypeError) as error:
            found.append(LeftOut(BROKEN, f"item {number}: {error}"))
    return found


def _changed() -> None:
    for call in on_change:
        call()


def _check_name(what: str, name: str) -> None:
    if not name.replace("-", "").replace("_", "").replace(".", "").isalnum() or len(name) > LONGEST_NAME:
        shown = repr(name[:LONGEST_NAME])
        raise ExtensionError(f"{shown} cannot be the name of a {what}: use letters, digits, “-”, “_” and “.”.")


def models() -> Mapping[str, Model]:
    """Return the models that extensions and notebooks registered, by id."""
    load()
    return _here.models


def faults() -> Sequence[ExtensionFault]:
    """Return which extensions could not be loaded, and why."""
    load()
    return _faults


def completed(labs: Sequence[Lab]) -> dict[str, Lab]:
    """Return the labs by name: those given, with the metrics that were registered for them, then the labs that were
    registered. One that does not fit beside the others is reported and left out.
    """
    load()
    found = {lab.name: lab for lab in labs}
    for name, own in _here.labs.items():
        if why := _clash(found, own):
            _report(ExtensionFault(f"lab {name}", 0, why))
        else:
            found[name] = own
    for name, one in _here.metrics.items():
        whose = next((lab for lab in found.values() if one.lab in (lab.name, lab.path)), None)
        if whose is None:
            names = ", ".join(lab.path for lab in found.values() if not lab.hidden)
            _report(ExtensionFault(f"metric {name}", 0, f"There is no lab {one.lab!r}. The labs are {names}."))
        elif any(metric.name == name for metric in whose.metrics):
            _report(ExtensionFault(f"metric {name}", 0, f"{whose.title} has a figure of that name already."))
        else:
            found[whose.name] = _with_metric(whose, one)
    return found


def _clash(labs: Mapping[str, Lab], own: Lab) -> str:
    """Return why the lab does not fit beside the others; an empty string if it does."""
    if {own.name, own.path} & {word for one in labs.values() for word in (one.name, one.path)}:
        return "Another lab has its name or its title."
    try:
        record_tables({**labs, own.name: own})
    except ValueError as error:
        return str(error)
    return ""


def _report(fault: ExtensionFault) -> None:
    if fault not in _faults:
        _faults.append(fault)


def _with_metric(lab: Lab, own: _OwnMetric) -> Lab:
    """Return a copy of the lab that also has that figure."""
    before = lab.scores

    def scores(views: Sequence[Any]) -> Iterator[Figure]:
        yield from before(views)
        for rules in RULES:
            try:
                score = own.score([view.by(rules) for view in views])
                if not isinstance(score, Score):
                    raise TypeError(f"it returned {type(score).__name__}, not a Score")
            except Exception as error:
                score = Score(None, 0, len(views), detail={"reason": f"{type(error).__name__}: {error}"})
            yield Figure(own.metric.name, rules, score)

    return lab.with_changes(metrics=(*lab.metrics, own.metric), scores=scores)


def load() -> None:
    """Load all extensions, once in a process."""
    global _is_loaded
    with _loading:
        # An extension may use the registry, which would load it again.
        if _is_loaded:
            return
        _is_loaded = True
        if not policy.allows("extensions"):
            return
        try:
            paths = sorted((home.home() / "extensions").glob("*.py"))
        except (DataDirError, OSError):
            paths = []
        for path in paths:
            _try(path.name, lambda path=path: _run(path), str(path))  # type: ignore[misc]
        for group in GROUPS:
            for point in metadata.entry_points(group=group):
                _try(f"{point.name} ({point.value})", lambda point=point: _take(point.load()))  # type: ignore[misc]


def _take(loaded: object) -> None:
    """Register what an entry point names, unless its module did so."""
    if isinstance(loaded, Lab):
        lab(loaded)


def _run(path: Path) -> None:
    name = f"explain_yourself_extensions.{path.stem}"
    spec = importlib.util.spec_from_file_location(name, path)
    assert spec is not None and spec.loader is not None
    module = sys.modules[name] = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)


def _try(name: str, run: Callable[[], None], file: str = "") -> None:
    """Run an extension. If it fails, nothing that it registered stays."""
    before = {part: dict(held) for part, held in vars(_here).items()}
    listed = registry.DATASETS
    try:
        run()
    except (Exception, SystemExit) as error:
        for part, held in before.items():
            getattr(_here, part).clear()
            getattr(_here, part).update(held)
        registry.DATASETS = listed
        _faults.append(fault_of(name, error, file))


def fault_of(name: str, error: BaseException, file: str = "") -> ExtensionFault:
    """Return why an extension could not be loaded; `file` is its own, if it is one."""
    return ExtensionFault(name[:LONGEST_NAME], _line(error, file), f"{type(error).__name__}: {error}"[:500])


def _line(error: BaseException, file: str) -> int:
    """Return the line of the file, or of the innermost file if none is given, at which it failed."""
    if isinstance(error, SyntaxError) and error.filename == file:
        return error.lineno or 0
    frames = traceback.extract_tb(error.__traceback__)
    lines = [frame.lineno for frame in frames if not file or frame.filename == file]
    return (lines[-1] or 0) if lines else 0
