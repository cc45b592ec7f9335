"""`import explain_yourself as ey`: the app from Python, in a notebook or a script.

Each lab is a function, made from the registry. It makes a run with the same specification, journal and home as the app
and the command line, so the run is in Browse too.

    >>> import explain_yourself as ey
    >>> run = ey.ask("Can a penguin fly?", model="control/fickle", counterfactuals=4, exam=False)
    >>> run.figures.query("metric == 'precision' and rules == 'repaired'").value.item() < 1
    True
    >>> film = ("We went on a Sunday because the cinema is next to the station. The film is two hours long, and it is "
    ...         "set in a small town by the sea, where a man repairs boats. The actors are wonderful.")
    >>> films = ey.items([{"text": film, "gold": "positive"}], paragraph="text", label="gold")
    >>> run = ey.check(films, model="control/honest-lexicon", explanation="attribution")
    >>> run.cases[["outcome", "means"]].values.tolist()
    [['faithful', 'kept']]
"""

from __future__ import annotations

import asyncio
import html
import inspect
import json
import sys
import warnings
from collections.abc import Callable, Coroutine, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from difflib import get_close_matches
from functools import cached_property, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, TypeVar

import click
from pydantic import ValidationError

from . import entry, extensions, home, journal
from .commands import labs as lab_commands
from .commands.run_output import DONE, exit_code, figures, index_run, open_run
from .commands.study import make_runs
from .datasets import own
from .datasets.registry import OnData
from .events import CallError, Event, Token
from .extensions import dataset as dataset
from .extensions import lab as lab
from .extensions import metric as metric
from .extensions import model as model
from .journal import Journal
from .labs.base.lab import Lab
from .labs.base.spec import Knob, knobs
from .models.ids import OWN
from .report import run_scene, standalone_html
from .report.scenes import of_case
from .rulesets import RULES
from .runs.context import complaints
from .runs.driver import Driver
from .runs.engine import RunRequest, new_id
from .scene import steps
from .studies import plan, tables
from .studies.plan import StudyError
from .text.display import count_noun
from .transcript import Transcript, transcript

if TYPE_CHECKING:
    from pandas import DataFrame

T = TypeVar("T")

NAMES = ("Items", "Run", "RunError", "StudyFile", "dataset", "items", "lab", "metric", "model", "open", "study")
"""What the package `explain_yourself` has besides a function for each lab."""

_SUBJECTS = ("question", "text", "function")
"""What the first argument of a lab's function is, if it is a text: the first of these that the lab has."""

HEIGHT = 640
"""The height of the viewer in a notebook, in pixels."""


class RunError(CallError, ValueError):
    """A run cannot be made, or failed; the message says why, and what to do."""

    def __str__(self) -> str:
        return f"{self.message} {self.hint}".rstrip()


class Items(NamedTuple):
    """A data set of one's own, as `items` returns it."""

    dataset: str
    """The file that was stored in the home, as `file:NAME`."""
    task: str
    columns: dict[str, str]
    """The column of each role."""


def items(data: DataFrame | Iterable[Mapping[str, Any]], **columns: str | Sequence[str]) -> Items:
    """Store a data frame, or a list of dicts, as a data set in the home, and return its name for a lab.

    `columns` says which column holds what: question (strategyqa); context, response_1 and response_2 (shp); paragraph
    (sentiment), with question and choices (multi_choice) or with hypothesis (entailment). `label` is the correct
    answer and `id` a name of each item; both may be missing. For explanations from elsewhere name the column
    explanation and, if there are several, source; for Ask also answer, which the explanation is for. `choices` may be a
    list of columns. A column that has the name of its role need not be given, unless it is one of the last three. The
    roles decide the task. Raises RunError.

        >>> import explain_yourself as ey
        >>> ey.items([{"text": "Fine.", "gold": "positive"}], paragraph="text", label="gold").task
        'sentiment'
    """
    rows = _rows(data)
    held = dict.fromkeys(name for row in rows for name in row)
    roles = {role for task in own.NEEDS for role in own.roles(task)}  # type: ignore[arg-type]
    label = str(columns.pop("label", ""))
    for role in columns:
        if role not in roles:
            raise RunError(f"There is no role {role!r}.", _near(role, roles | {"label"}))
    named = {role: [one] if isinstance(one, str) else [*one] for role, one in columns.items()}
    for column in (*(column for several in named.values() for column in several), *([label] if label else [])):
        if column not in held:
            raise RunError(f"There is no column {column!r}.", _near(column, held))
    own_names = {role for needs in own.NEEDS.values() for role in needs} | {"answer", "id"}
    named |= {role: [role] for role in own_names - set(named) if role in held}
    fitting = [task for task, needs in own.NEEDS.items() if set(needs) <= set(named)]
    if not fitting:
        needs = "; ".join(f"{task}: {', '.join(needs)}" for task, needs in own.NEEDS.items())
        raise RunError(f"Say which columns hold what is asked about, such as paragraph={next(iter(held))!r}.", needs)
    task = max(fitting, key=lambda task: len(own.NEEDS[task]))
    # The answer column may be the one that the explanation is for.
    correct = "gold" if "explanation" in named and "gold" in own.GIVEN[task] else "answer"
    if label:
        named[correct] = [label]
    elif "label" in held and correct == "answer":
        named.setdefault(correct, ["label"])
    lines = "".join(json.dumps(row, ensure_ascii=False, default=str) + "\n" for row in rows)
    saved = own.save_file("items.jsonl", lines.encode("utf-8", "replace"))
    used = {role: ",".join(several) for role, several in named.items() if role in own.roles(task)}  # type: ignore[arg-type]
    return Items(
        saved.dataset,
        task,
        {role: column for role, column in sorted(used.items()) if role != column or role in own.GIVEN[task]},
    )


def _rows(data: Any) -> list[dict[str, Any]]:
    """Return the rows as dicts; a missing value is None. Raises RunError if there are none."""
    if hasattr(data, "to_json"):
        rows = json.loads(data.to_json(orient="records", force_ascii=False, date_format="iso"))
    else:
        rows = list(data) if isinstance(data, Iterable) and not isinstance(data, str | bytes | Mapping) else []
    if not rows or not all(isinstance(row, Mapping) for row in rows):
        raise RunError("Items are a data frame or a list of dicts with at least one row.")
    return [{str(name): value for name, value in row.items()} for row in rows]


class Run:
    """A run of a lab, as its journal has it.

    In a notebook it draws its cases; `print` gives its figures. `run.id` is its name, under which Browse, `ey.open` and
    the command line find it.
    """

    def __init__(self, lab: Lab, id: str, events: Sequence[Event]) -> None:
        self.lab = lab.path
        self.id = id
        self._lab = lab
        self.transcript = transcript(events)

    @property
    def status(self) -> str:
        """How the run ended: completed, cancelled or failed; in progress if it has not."""
        return self.transcript.status or "in progress"

    @property
    def spec(self) -> dict[str, Any]:
        """The specification of the run, as data."""
        return dict(self.transcript.started.spec) if self.transcript.started else {}

    @cached_property
    def cases(self) -> DataFrame:
        """A row for each case: its id as `case`, its title, explanation and outcome by the updated parser, what that
        means for the explanation, and the verdict.
        """
        from pandas import DataFrame

        names = ("case", "title", "explanation", "outcome", "means", "verdict")
        return DataFrame([self._case(case) for case in self.transcript.cases], columns=names)

    def _case(self, case: str) -> dict[str, Any]:
        progress = self.transcript.cases[case]
        result = progress.result or {}
        about = {"explanation": result.get("explanation"), "verdict": result.get("verdict")}
        means = self._lab.mark(progress.outcome, self.transcript)
        return {"case": case, "title": progress.title, "outcome": progress.outcome, "means": means, **about}

    @cached_property
    def figures(self) -> DataFrame:
        """A row for each figure of the run and parser: metric, title, item (the part that it is about), rules (the
        parser), value (missing if it is undefined), low and high (95 % interval), n of `of`, and the reason why it is
        undefined.
        """
        from pandas import DataFrame

        names = ("metric", "title", "item", "rules", "value", "low", "high", "n", "of", "reason")
        found = [
            {name: getattr(score, name, None) for name in names}
            | {"title": self._lab.metric(score.metric).title, "reason": str(score.detail.get("reason") or "")}
            for score in self.transcript.scores
            if not score.case
        ]
        return DataFrame(found, columns=names)

    def rows(self) -> DataFrame:
        """A row for each trial and parser: run, case, trial, rules (the parser), about (what was tested), expected,
        observed, outcome, counts, and the reason if it does not count; then the columns of one's own file.
        """
        from pandas import DataFrame

        names = ("run", "case", "trial", "rules", "about", "expected", "observed", "outcome", "counts", "reason")
        found = []
        for case, progress in self.transcript.cases.items():
            for trial, one in self._lab.view(self.transcript.case(case)).trials.items():
                for rules in RULES:
                    read = getattr(one, rules).model_dump(include=set(names))
                    place = {"run": self.id, "case": case, "trial": trial, "rules": rules, "about": one.about}
                    found.append({**place, **read, **{f"extra.{k}": v for k, v in progress.columns.items()}})
        extra = dict.fromkeys(name for row in found for name in row if name not in names)
        return DataFrame(found, columns=[*names, *extra])

    def sources(self) -> DataFrame:
        """A row for each pair of sources of given explanations: first, second, their means over the questions that both
        explain, the difference with low and high (95 % interval), n of `of` questions, and p of a paired t test.
        """
        from pandas import DataFrame

        names = ("first", "second", "mean_first", "mean_second", "difference", "low", "high", "n", "of", "p")
        rows = [
            (first, second, of.mean_a, of.mean_b, of.difference, of.low, of.high, of.n, of.of, of.p)
            for first, second, of in run_scene.compared_sources(self._lab, self.transcript)
        ]
        return DataFrame(rows, columns=names)

    def html(self) -> str:
        """Return the viewer with the cases of the run as one HTML page that needs nothing else."""
        return standalone_html.case_html(self._title, standalone_html.of_run(self._lab, self.transcript)).decode()

    @property
    def _title(self) -> str:
        first = next((case.title for case in self.transcript.cases.values()), "")
        return f"{self._lab.title}: {self.spec.get('title') or first}"

    def __repr__(self) -> str:
        count = len(self.transcript.cases)
        lines = [f"{self._title} ({self.status}, {count_noun(count, 'case')})"]
        if count == 1:
            told = steps(of_case(self._lab, self.transcript, self.transcript.only))
            lines += [text for key, text in told if key not in ("question", "meaning") and text.strip()]
        lines += [line for _, line in figures(self._lab, self.transcript)]
        return "\n".join([*lines, f"Run {self.id}"])

    def _repr_mimebundle_(self, include: object = None, exclude: object = None) -> dict[str, str]:
        """The viewer for a notebook. It is in a frame without access to the notebook's page."""
        frame = (
            f'<iframe srcdoc="{html.escape(self.html())}" title="{html.escape(self._title)}" sandbox="allow-scripts" '
            f'style="width:100%;height:{HEIGHT}px;border:1px solid #8884;border-radius:8px"></iframe>'
        )
        return {"text/html": frame, "text/plain": repr(self)}


def open(run_id: str) -> Run:
    """Return a run that was made here or came with the app, by its id. Raises RunNotFoundError."""
    lab, _, events = open_run(run_id, home.journals(), home.recordings())
    return Run(lab, run_id, events)


class StudyFile:
    """A study as read from its file: a set of runs, and tables made from them (docs/commands.md)."""

    def __init__(self, file: str | Path) -> None:
        self._file = Path(file)
        self._study = plan.read(self._file, _labs())

    def run(self) -> StudyFile:
        """Make the runs that are not complete, controls first, and return the study. What is complete is not made
        again. Raises StudyError if a run failed or a control is off; the runs that were made are kept.
        """
        code = _in_thread(partial(make_runs, self._file, home.journals()))
        if code != DONE:
            raise StudyError("The study is not complete; what was printed above says why. Call run() again to go on.")
        return self

    def table(self) -> DataFrame:
        """Return the tables of the study so far, as `study table --csv` prints them."""
        from pandas import DataFrame

        labs = entry.labs()
        return DataFrame(tables.rows(self._study, labs, tables.measured(self._study, labs, home.journals())))

    def __repr__(self) -> str:
        return f"{self._study.title} ({count_noun(len(self._study.all), 'run')})"


def study(file: str | Path) -> StudyFile:
    """Return the study that a file describes. Raises StudyError."""
    return StudyFile(file)


def functions() -> dict[str, Lab]:
    """Return the labs by the name of their function here: those that have a page."""
    return {lab.path.replace("-", "_"): lab for lab in _labs().values() if not lab.hidden}


def function(name: str) -> Callable[..., Run]:
    """Return the function of the lab that has this name here. Raises AttributeError."""
    lab = functions().get(name)
    if lab is None:
        raise AttributeError(f"explain_yourself has no {name!r}. {_near(name, {*NAMES, *functions()})}")

    def make(subject: str | Items | None = None, /, **fields: Any) -> Run:
        return _run(lab, subject, fields)

    make.__name__ = make.__qualname__ = name
    make.__signature__ = signature(lab)  # type: ignore[attr-defined]
    make.__doc__ = _docstring(lab)
    return make


def _labs() -> Mapping[str, Lab]:
    """Return the labs, and warn of extensions that could not be loaded, once each."""
    found = entry.labs()
    for fault in extensions.faults():
        if fault not in _warned:
            _warned.add(fault)
            warnings.warn(str(fault), stacklevel=2)
    return found


_warned: set[extensions.ExtensionFault] = set()


# The function of a lab: its parameters are the options of the lab's command, and the other fields of its specification.


class Parameter(NamedTuple):
    """A parameter of a lab's function. `field` is the option or field that it sets."""

    name: str
    field: str
    type: Any
    help: str


def parameters(lab: Lab) -> dict[str, Parameter]:
    """Return the parameters of a lab's function by name, in the order of its command's options. A field that holds
    several values and whose option is a singular has that name too.
    """
    known, found = knobs(lab.spec), dict[str, Parameter]()
    for option in lab_commands.parameters(lab):
        name = str(option.name)
        help = str(getattr(option, "help", "") or (known[name].help if name in known else ""))
        found[name] = Parameter(name, name, _type(option, known.get(name)), help)
    for name, knob in known.items():
        short = knob.option.removeprefix("--").replace("-", "_")
        if short not in found and name in found and knob.several:
            found[short] = found[name]._replace(name=short, help=f"the same as {name}")
        found.setdefault(name, Parameter(name, name, _type_of(knob), knob.help))
    for name in lab.spec.model_fields:
        found.setdefault(name, Parameter(name, name, Any, "a field of the specification that is set by hand"))
    return found


def _type(option: click.Parameter, knob: Knob | None) -> Any:
    if knob is not None:
        return _type_of(knob)
    if isinstance(option.type, click.Choice):
        return Literal[tuple(map(str, option.type.choices))]
    kinds = {"integer": int, "float": float}
    kind: Any = bool if getattr(option, "is_flag", False) else kinds.get(option.type.name, str)
    return kind | Sequence[kind] if option.multiple else kind


def _type_of(knob: Knob) -> Any:
    if knob.pairs:
        return Mapping[str, str]
    kind: Any = Literal[knob.choices] if knob.choices else knob.kind
    return kind | Sequence[kind] if knob.several else kind


def signature(lab: Lab) -> inspect.Signature:
    """Return the signature of a lab's function."""
    kind = inspect.Parameter
    first = kind("subject", kind.POSITIONAL_ONLY, default=None, annotation=str | Items | None)
    rest = [
        kind(one.name, kind.KEYWORD_ONLY, default=None, annotation=one.type | None if one.type is not Any else Any)
        for one in parameters(lab).values()
    ]
    return inspect.Signature([first, *rest], return_annotation=Run)


def _docstring(lab: Lab) -> str:
    told = [f"    {one.name}: {one.help}" for one in parameters(lab).values()]
    has = next((name for name in _SUBJECTS if name in parameters(lab)), "")
    first = " or ".join([*([f"the {has}, as text,"] if has else []), "items of one's own (`items`)"])
    makes = f"Makes a run of {lab.title} and returns it. `subject` is {first}. The other arguments are:"
    return "\n\n".join([lab.question, makes, "\n".join(told), "Raises RunError, which says what to do."])


def _run(lab: Lab, subject: str | Items | None, fields: dict[str, Any]) -> Run:
    """Make a run. Raises RunError."""
    given = _with_subject(lab, subject, options(lab, fields))
    folder = home.journals()
    with complaining():
        spec = lab_commands.spec_of(lab, given, folder)
        lab.check(spec)
    if len(shards := spec.shards()) > 1:
        hint = "Set a limit, or write a study and call ey.study(FILE).run()."
        raise RunError(f"This needs {len(shards)} runs.", hint)
    request = RunRequest(lab, spec, new_id(lab.name))
    try:
        state = _in_thread(partial(_make, request, folder))
    except CallError as error:
        raise RunError(error.message, error.hint) from None
    index_run(folder)
    if exit_code(state) != DONE and state.status != "completed":
        why = state.failures[-1] if state.failures else None
        reason = f"{why.message} {why.hint}".strip() if why else "it was stopped."
        raise RunError(f"The run {request.id} did not complete: {reason}", f"ey.open({request.id!r}) has what it did.")
    return Run(lab, request.id, journal.read(journal.path_for(folder, request.id)).events)


def options(lab: Lab, fields: Mapping[str, Any], model_id: Callable[[str], str] | None = None) -> dict[str, Any]:
    """Return the arguments of a lab's function as options of its command, with the full ids of models. Raises
    RunError if there is no such argument.
    """
    known, several = parameters(lab), {one.name for one in lab_commands.parameters(lab) if getattr(one, "multiple", 0)}
    for name in fields:
        if name not in known:
            raise RunError(f"{lab.title} has no field {name!r}.", _near(name, known))
    given = {known[name].field: value for name, value in fields.items() if value is not None}
    for name, value in given.items():
        knob = knobs(lab.spec).get(name)
        if (name in several or (knob and knob.several)) and isinstance(value, str | int | float):
            given[name] = (value,)
        if knob and knob.names_models:
            held, full = given[name], model_id or _model_id
            given[name] = full(held) if isinstance(held, str) else tuple(map(full, held))
    return given


@contextmanager
def complaining() -> Iterator[None]:
    """Raise as a RunError what a specification or its check raises."""
    try:
        yield
    except ValidationError as error:
        raise RunError("\n".join(complaints(error))) from None
    except CallError as error:
        raise RunError(error.message, error.hint) from None
    except ValueError as error:
        raise RunError(str(error)) from None


def _with_subject(lab: Lab, subject: str | Items | None, given: dict[str, Any]) -> dict[str, Any]:
    known = parameters(lab)
    if isinstance(subject, Items):
        if "dataset" not in known:
            raise RunError(f"{lab.title} takes no items.")
        given = {**subject._asdict(), **given}
    elif isinstance(subject, str):
        name = next((name for name in _SUBJECTS if name in known), "")
        if not name:
            raise RunError(f"{lab.title} takes no text as its first argument.", "Name the field that it is for.")
        given = {name: subject, **given}
    elif subject is not None:
        raise RunError(f"A {type(subject).__name__} cannot be asked about.", "Pass a table through ey.items first.")
    task = lab.spec.model_fields.get("task")
    # On the command line some labs require it.
    if task is not None and "task" not in given and not task.is_required():
        given["task"] = task.default
    return given


def _model_id(name: str) -> str:
    """Return the id of a model; the prefix of one's own may be left out."""
    own_id = f"{OWN}{name}"
    return own_id if "/" not in name and own_id in extensions.models() else name


def _near(name: str, known: Iterable[str]) -> str:
    known = sorted(known)
    near = get_close_matches(name, known, 1)
    return f"Did you mean {near[0]!r}?" if near else f"There are {', '.join(known)}."


async def _make(request: RunRequest, folder: Path) -> Transcript:
    """Make a run with its journal in `folder`, and show its progress in a terminal."""
    catalog = entry.catalog()
    for id in request.spec.models:
        catalog.get(id)
    state, progress = Transcript(), _Progress()
    with Journal(folder / f"{request.id}.jsonl", new=True) as written:

        def publish(event: Event) -> None:
            written.append(event)
            if not isinstance(event, Token):
                state.apply(event)
                progress.show(state)

        await Driver(entry.labs(), catalog.get, folder).execute(request, written, publish)
    progress.end()
    return state


class _Progress:
    """One line of a terminal that says how far a run is. Elsewhere nothing is printed."""

    def __init__(self) -> None:
        self._last = ""

    def show(self, state: Transcript) -> None:
        """Print the line again if it has changed."""
        if sys.stderr is None or not sys.stderr.isatty():
            return
        over = sum(case.is_over for case in state.cases.values())
        line = f"{over} of {count_noun(state.planned, 'case')}, {count_noun(state.finished_calls, 'answer')}"
        if line != self._last:
            print(f"\r{line:<{len(self._last)}}", end="", file=sys.stderr, flush=True)
            self._last = line

    def end(self) -> None:
        """End the line."""
        if self._last:
            print(file=sys.stderr)


def _in_thread(make: Callable[[], Coroutine[Any, Any, T]]) -> T:
    """Return what the coroutine returns, run on an event loop in a thread of its own: that of a notebook is running
    already. Ctrl-C, or a notebook's Stop, cancels it, and its journal says so. Raises what it raises.
    """
    loop = asyncio.new_event_loop()
    task: asyncio.Task[T] = loop.create_task(make())

    def work() -> T:
        asyncio.set_event_loop(loop)
        try:
            return loop.run_until_complete(task)
        finally:
            loop.run_until_complete(loop.shutdown_asyncgens())
            loop.close()

    with ThreadPoolExecutor(1, "explain-yourself") as pool:
        future = pool.submit(work)
        try:
            return future.result()
        except KeyboardInterrupt:
            if not future.done():
                loop.call_soon_threadsafe(task.cancel)
            raise


# The solver and the scorer of a lab for Inspect (`core.inspect_solvers`), which may not be installed.


def sample_labs() -> dict[str, Lab]:
    """Return the labs that can ask about a single sample, by the name of their function."""
    return {name: lab for name, lab in functions().items() if lab.command.item_parameters}


def sample_parameters(lab: Lab) -> dict[str, Parameter]:
    """Return the parameters of a lab's solver and scorer: those of its function, without those that say what is asked
    about, which the samples say.
    """
    told = {*OnData.model_fields, *lab.command.item_parameters} - {"task", "columns", "seed"}
    return {name: one for name, one in parameters(lab).items() if not {name, one.field} & told}
