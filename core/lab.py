"""What a lab declares. Types only: the engine stands on them, and so does every lab.

Page, command line, store, Browse and replay read the declaration; none of them knows a lab by name.
"""

from __future__ import annotations

import math
from collections.abc import Awaitable, Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, NamedTuple, Protocol, TypeVar

from pydantic import Field
from pydantic.fields import FieldInfo

from core.events import CallFailed, Event, Frozen, Model, Recorded, Rules
from core.published import Published, published
from core.score import Figure
from core.transcript import CaseLog, Transcript

RULES: tuple[Rules, ...] = ("paper", "repaired")

Number = TypeVar("Number", int, float)

MOST_CASES = 1_000
"""Cases in one run. What needs more is a study of several runs."""


class BadInput(CallFailed):
    """What a run is to be about cannot be had: a data set, a function, a question outside a control's world."""

    bad_input = True


class Spec(Frozen):
    """What a run is to measure. Each lab has its own; all have a seed, and name the models they will ask.

    A field's title, description, bounds and choices make its widget on the page and its option on the command line.
    """

    seed: int = 0

    def __hash__(self) -> int:
        # A field may hold a table, which has no hash of its own.
        return hash(self.model_dump_json())

    @property
    def roles(self) -> dict[str, tuple[str, ...]]:
        """The ids of the models that the run asks, by role; several take turns."""
        return {}

    @property
    def models(self) -> set[str]:
        """The ids of all models that the run asks."""
        return {model for models in self.roles.values() for model in models}


class Case(NamedTuple):
    """One explanation to be held to account: its id, unique in the run, and what it is about, as its lab has it.

    Cases of one item share what is placed at the item: the case "q7/redaction/you" shares what stands at "q7".
    """

    id: str
    about: Any
    title: str


class Reading(Frozen):
    """What came of a trial by one set of rules. `counts`: whether a figure rests on it; `reason` says why not. `doubt`
    says why what counts is no verdict all the same: it then has no mark anywhere.
    """

    expected: str | None = None
    observed: str | None = None
    outcome: str
    counts: bool
    reason: str = ""
    doubt: str = Field(default="", exclude_if=lambda why: not why)


class Trial(Frozen):
    """One expectation and what came of it. `about` is what was put to the test: a new question, an edited text, an
    input. `calls` lead to the raw answers.
    """

    about: str
    paper: Reading
    repaired: Reading
    calls: tuple[str, ...] = ()


class Begun(Frozen):
    """A case that has begun: the `number`-th (from 1) of `of`."""

    title: str
    number: int
    of: int


class Result(Frozen):
    """What came of a case. `outcome` is one word of the lab's, by each set of rules; `verdict` a sentence."""

    title: str
    model: str = ""
    explanation: str | None = None
    outcome_paper: str
    outcome_repaired: str
    verdict: str
    trials: int
    counted: int


class View(Protocol):
    """A case as it is shown, folded from its records; labs add what they need. Never raises: what a damaged journal
    lacks is missing from it.
    """

    log: CaseLog
    unread: int
    """Entries that could not be read."""

    @property
    def title(self) -> str:
        """What the case is about, for a list."""

    @property
    def explanation(self) -> str | None:
        """The explanation held to account, as repaired rules read it; None where none was read."""

    @property
    def trials(self) -> Mapping[str, Trial]:
        """The trials by id, in order, as far as they have come."""

    def outcome(self, rules: Rules) -> str:
        """What came of the case, in one word of the lab's; "waiting" and "failed" mean the same in every lab."""


class Metric(NamedTuple):
    """How a figure is shown: what it is called, in which unit and format (as Python's), which way is better, and what
    it means in a sentence. `leads`: whether it is one of the figures that a list of runs shows. `is_share`: whether it
    lies between 0 and 1 by what it is.
    """

    name: str
    title: str
    help: str
    unit: str = ""
    format: str = ".2f"
    better: Literal["higher", "lower", ""] = "higher"
    leads: bool = False
    is_mean: bool = False
    is_share: bool = True


class Picture(NamedTuple):
    """A picture of many runs or cases, with its table and a sentence on what it shows.

    - `of` says what `core.store.figures` reads for it: `of_runs` or `of_cases`, with the `metrics`, the `fields` of the
      specification, the `records` and the `newest` that are given here.
    - `table(frame, choice)` makes of that what is drawn, which is also what the table shows and a download holds; its
      column `link` is what a mark leads to (`core.charts.marks.link`). Without rows there is nothing to draw. Where it
      has a column `chosen`, the reader may choose which of its rows (by `label`) are in colour.
    - `draw(table, choice, published)` gives the Plotly figure. A mark's `customdata[0]` is its `link`.
    - `takeaway(table, choice)` is a sentence that is true of the table.
    - `held` names fields of records that are true or false, as (the record's name in the journal, the field): whether
      it holds throughout a run is the column record_field.
    - `choices` are what the reader may choose among, the first at first; `published(choice)` the paper's figures that
      may be laid under ours.
    """

    name: str
    title: str
    caption: str
    of: Literal["runs", "cases"]
    metrics: tuple[str, ...]
    table: Callable[[Any, str], Any]
    draw: Callable[[Any, str, Sequence[Published]], Any]
    takeaway: Callable[[Any, str], str]
    fields: tuple[str, ...] = ()
    held: tuple[tuple[str, str], ...] = ()
    records: Mapping[str, tuple[type[Frozen], str]] = {}
    newest: int | None = None
    choices: tuple[str, ...] = ("",)
    published: Callable[[str], Sequence[Published]] = lambda choice: ()


class Table(NamedTuple):
    """A table that a study's file asks for by its `kind`, such as one that the lab's paper prints.

    - `rows`, `columns`: one for each combination of the values of these fields: settings, FACETS, and what `cases`
      adds. Several `metrics` (of `metrics` or `for_tables`) have a column each. Each value of `apart` has a table.
    - `cases(frame)` keeps what of `core.study.tables.measured` the table is about, and may add columns.
    - `is_shared`: only items count that have a value in every cell. `differences`: whether rows and columns are then
      compared two by two over the items that both have.
    - `their_rows`, `their_columns`: the keys that name row and column of a figure that the paper printed. It must have
      these and those of `apart`, may have those `besides`, and no other. `renamed`: what the paper's values are called
      here. `published(lab, metric)` gives those figures; those of a comparison have `_gain` after the metric's name.
    - `figures(frame)` makes the cells of a table of another make: `row`, `column`, `value`, `n`, `of`, `low`, `high`,
      `note`, `behind`. `of_people`: whether the frame is to have what people said of the cases too, in rows of the
      metrics GUESS and VERDICT (`core.study.people`).
    - `nothing` is said where no case belongs into the table.
    """

    kind: str
    title: str
    metrics: tuple[str, ...]
    rows: tuple[str, ...]
    columns: tuple[str, ...] = ()
    apart: tuple[str, ...] = ()
    cases: Callable[[Any], Any] = lambda frame: frame
    is_shared: bool = False
    differences: tuple[Literal["rows", "columns"], ...] = ()
    their_rows: tuple[str, ...] = ()
    their_columns: tuple[str, ...] = ()
    besides: tuple[str, ...] = ()
    renamed: Mapping[str, str] = {}
    published: Callable[[str, str], Sequence[Published]] = published
    figures: Callable[[Any], Iterable[dict[str, Any]]] | None = None
    of_people: bool = False
    nothing: str = "No case of this study belongs here."


GUESS, VERDICT = "people: guess", "people: verdict on "
"""Metrics of what people said, for tables of studies; after the second stands what is judged (`Judgement.name`)."""


class Otherwise(NamedTuple):
    """What a case's figure would have been under other choices (`made`, by name), from the answers that there are."""

    metric: str
    made: Mapping[str, str]
    value: float | None


class Judged(NamedTuple):
    """How what a list of results has a row for is compared with others of its kind.

    - `good` and `bad` are the outcomes that speak for the explanation (value 1) and against it (0); any other has no
      value. `means` says what a good one means, in the past tense.
    - `one` is what a row is called; `whole` what several of them belong to, such as the starter question, which their
      cases' titles name; '' where a title names the row itself. After the last `tail` of a title stands what belongs to
      the explanation alone; '' where nothing does.
    - `nameless` are titles that tell nothing from others, so that two of them need not be the same.
    - `guessed`: an outcome is good where what was expected was observed, so that a fixed guess has a rate too.
    - `given`: the field of the specification in which the rows' tests themselves can be given, '' where there is none.
    """

    good: tuple[str, ...]
    bad: tuple[str, ...]
    means: str
    one: str = "test"
    whole: str = ""
    tail: str = ""
    nameless: tuple[str, ...] = ()
    guessed: bool = False
    given: str = ""


FACETS = {
    "how": "Method, explanation or interpreter",
    "task": "Task",
    "dataset": "Data set",
    "category": "Category",
    "difficulty": "Difficulty",
    "wording": "Wording",
}
"""What a lab may say of a case, for results to be found by: name and title."""


class Judgement(NamedTuple):
    """What a person may pass a verdict on, in one of two words, the `good` one or the `bad` one. `of`: which reading of
    a trial it is about, so that the verdicts tell how often whoever read that is right: the rules, or the model that
    the run asked as `role`. `whole`: it is about the case, and not about its trials. `raw`: the role whose answer in a
    trial is what was read, so that it can be judged without the reading.
    """

    name: str
    title: str
    good: str
    bad: str
    of: Literal["expected", "observed", ""] = ""
    role: str = ""
    whole: bool = False
    raw: str = ""


READING = Judgement("reading", "How the answer was read", "right", "wrong", "observed")


class First(NamedTuple):
    """The first minute: a run to press a button for, in words for a newcomer."""

    words: str
    help: str
    spec: Spec


class Sides(NamedTuple):
    """Two or three runs to be seen side by side at the press of a button, in words for a newcomer."""

    words: str
    help: str
    specs: tuple[Spec, ...]


class Note(NamedTuple):
    """What a reader of a case has to know beside its explanation and its trials: a text under a label, before them, or
    `late`, after them.
    """

    label: str
    text: str
    late: bool = False


class Tools(NamedTuple):
    """Further commands of a lab (click.Command) in a group. Their context's object is a `ToolContext`."""

    name: str
    help: str
    commands: Sequence[Any]


Reads = Callable[[Transcript], Frozen | None]
"""What a run came to, as a record that later runs keep of it; None where it came to nothing."""

Made = Callable[["Lab", Reads], Iterable[tuple[Spec, Frozen]]]
"""Of all runs of a lab that are here or came with the app: each specification with what it came to."""


class Prior(NamedTuple):
    """A run of another lab that should be made before: its lab and specification. `read(transcript)` gives the record
    that the later run keeps of it, None where it came to nothing. One that was made already serves; `wanted`: where
    there is none, it is made. `field` of the later run's specification says so: a run that was begun before there was
    such a field wants none.
    """

    lab: Lab
    spec: Spec
    read: Reads
    wanted: bool
    field: str = ""


def _nothing(spec: Any) -> dict[str, str]:
    return {}


def _no_facets(spec: Mapping[str, Any], case: str) -> dict[str, str]:
    return {}


def _no_notes(view: Any) -> Iterable[Note]:
    return ()


def _no_controls() -> Mapping[str, Model]:
    return {}


def _no_specs(spec: Any) -> Iterable[Spec]:
    return ()


def _unknown(view: Any) -> float | None:
    return None


def _as_it_is(event: Event, spec: Mapping[str, Any]) -> Event:
    return event


@dataclass(frozen=True, eq=False)
class Lab:
    """One lab. `name` stands in journals, `title` on pages; the lower-case title is its command and its address.

    - `question`: what a person asks of it, in a sentence; `about` says more, as Markdown.
    - `cases(spec)` names the cases, lazily. Raises BadInput, or ValueError in words for the person.
    - `measure(spec, case, run)` does one, given a `core.runs.run.Run`: asks, records, drops. Raises CallFailed where
      the case cannot be measured.
    - `view(log)` folds a case's records; `verdict(view)` gives its sentences, the headline first.
    - `summary(transcript)` is the sentence on a run of several cases; without one their outcomes are counted.
    - `scores(views)` gives the figures of one case or of many; heavy work belongs here, for it runs in a thread.
    - `records` are the types that it records, those of a trial in the order in which it is shown, what was expected
      before what came of it (the store's tables come from them, and a replay keeps to it, but does not stop at those
      among `asides`); `metrics` are the figures, `pictures` what Browse draws of many runs.
    - `tables` are what studies can ask for by name. `more(view, rules)` are figures of a case for them alone, which
      no run publishes, and `for_tables` says how these are shown; `traits(view)` are what else tells cases apart there.
      `otherwise(view)` is what a case's figure would have
      been under other choices; without it by either rules. `choices` are settings and facets that are such choices too.
    - `prompts(spec)` gives the hash of each prompt template that a run may use, by id.
    - `controls()` are models of known truth, by id; `dials()` more of them, too many for a list: each is faithful on a
      known share of what it is asked. `truth(view)` is what the headline figure of a case must read by construction,
      None where that is not known; `decides(view)` names that figure where it is another one in some cases.
      `calibration(spec)` are runs of controls, which ask no model, that show whether the
      lab as `spec` uses it reads what it must. `first` is the run of the first minute; `sides` the runs that the front
      page sets side by side.
    - `prior(spec)` is the run that should be made before, or the record that is kept of it where that is known; None
      where there is none; `priors(spec)` are further ones beside it. `of_model(id)` is the specification of a run that
      puts one model to the test, for a lab that is such a test; None for a model that it does not fit.
    - `settled(spec, named, at_hand, made)` is that specification with what nobody named (`named` are the fields that
      were given) chosen among the models that are `at_hand`, by what runs `made` came to. Asked by page and command
      line; a study's file stands as it is written.
    - `summed(at_hand, made)` says of a lab that puts models to a test what that comes to, of those that are at hand.
    - `how` is the field of the spec that a list of runs shows beside the model: the way that was chosen.
    - `item` is what a list of results has a row for: a case, or each of its trials; `principal` is the trial that
      stands for a case in such a row. `facets(spec, case)` gives what of FACETS the case of that id has in a run of
      that specification, which may be damaged. `judged` is how such rows are compared; None where they are not.
    - `judgements` is what a person may pass a verdict on, of a case or a trial.
    - `newcomer` is the model that a newcomer meets: a control that is not faithful, or sees less than there is.
    - `asks(spec, cases)` is how many calls a run over so many cases makes at most, by the role of who is asked;
      `calls(spec, cases)` is their sum.
    - `warm(spec)` starts, in a thread, what takes long to start and will be needed.
    - `upgrade(event, spec)` places an event of schema 1: sets `case` and `trial`, and `by` where a person spoke.
    - `loaded(spec)` is the record of what the run's data set held and what of it was left out; None without one.
    - `is_input(record)` tells what a person, or chance, gave the run to go on with: a new reading of it must be given
      it too.
    - `parameters` are options of its command that are no field of the spec (click.Parameter), and `from_options` makes
      the spec's fields of what was given; without them every field with a title is an option by itself.
    - `check(spec)` finds out, before a run begins, what only a look at files can tell. Raises ValueError, CallFailed.
    - `narrate(view)` tells a case on the command line as (key, line), as far as it has come.
    - `notes(view)` is what a reader of a case needs beside its explanation and trials; `words` are what values and
      outcomes are called on every screen; `marks` the outcomes of a trial in which the explanation was kept or broken.
    - `tools` are further commands, in a group of their own; `group` names the group that its own command stands in.
    - `hidden`: a test of the instrument that has no page of its own; `wide`: its runs hold things side by side.
    """

    name: str
    title: str
    question: str
    spec: type[Spec]
    cases: Callable[[Any], Iterable[Case]]
    measure: Callable[[Any, Case, Any], Awaitable[None]]
    view: Callable[[CaseLog], Any]
    verdict: Callable[[Any], Sequence[str]]
    scores: Callable[[Sequence[Any]], Iterator[Figure]]
    records: tuple[type[Frozen], ...]
    metrics: tuple[Metric, ...]
    asides: tuple[type[Frozen], ...] = ()
    pictures: tuple[Picture, ...] = ()
    tables: tuple[Table, ...] = ()
    for_tables: tuple[Metric, ...] = ()
    more: Callable[[Any, Rules], Iterable[Figure]] = lambda view, rules: ()
    traits: Callable[[Any], Mapping[str, str]] = _nothing
    otherwise: Callable[[Any], Iterable[Otherwise]] | None = None
    choices: tuple[str, ...] = ()
    prompts: Callable[[Any], dict[str, str]] = _nothing
    controls: Callable[[], Mapping[str, Model]] = _no_controls
    dials: Callable[[], Mapping[str, Model]] = _no_controls
    truth: Callable[[Any], float | None] = _unknown
    decides: Callable[[Any], str] | None = None
    calibration: Callable[[Any], Iterable[Spec]] = _no_specs
    first: Callable[[], First] | None = None
    sides: Callable[[], Sides] | None = None
    summary: Callable[[Transcript], str] | None = None
    asks: Callable[[Any, int], Mapping[str, int]] | None = None
    loaded: Callable[[Any], Frozen | None] = lambda spec: None
    warm: Callable[[Any], None] | None = None
    upgrade: Callable[[Event, Mapping[str, Any]], Event] = _as_it_is
    prior: Callable[[Any], Prior | Frozen | None] = lambda spec: None
    priors: Callable[[Any], Sequence[Prior | Frozen | None]] = lambda spec: ()
    of_model: Callable[[str], Spec | None] = lambda id: None
    settled: Callable[[Any, Collection[str], Callable[[str], bool], Made], Any] | None = None
    summed: Callable[[Callable[[str], bool], Made], str] | None = None
    how: str = ""
    item: Literal["case", "trial"] = "case"
    principal: str = ""
    facets: Callable[[Mapping[str, Any], str], dict[str, str]] = _no_facets
    judged: Judged | None = None
    judgements: tuple[Judgement, ...] = (READING,)
    newcomer: str = ""
    is_input: Callable[[Recorded], bool] = lambda record: False
    about: str = ""
    icon: str = ":material/science:"
    hidden: bool = False
    wide: bool = False
    parameters: Sequence[Any] = ()
    from_options: Callable[[dict[str, Any]], dict[str, Any]] | None = None
    check: Callable[[Any], None] | None = None
    tools: Tools | None = None
    group: str = ""
    narrate: Callable[[Any], Iterable[tuple[str, str]]] | None = None
    notes: Callable[[Any], Iterable[Note]] = _no_notes
    words: Mapping[str, str] = field(default_factory=dict)
    marks: Mapping[str, Literal["kept", "broken"]] = field(default_factory=dict)

    @property
    def calls(self) -> Callable[[Any, int], int] | None:
        """How many calls a run over so many cases makes at most, by its specification; None where none can tell."""
        asks = self.asks
        return None if asks is None else lambda spec, cases: sum(asks(spec, cases).values())

    @property
    def path(self) -> str:
        """Its command on the command line and its address."""
        return self.title.lower().replace(" ", "-")

    @property
    def headline(self) -> str:
        """The first of its leading figures."""
        return next((metric.name for metric in self.metrics if metric.leads), "")

    def metric(self, name: str) -> Metric:
        """How the figure `name` is shown; by its own name where it is not declared."""
        return next(
            (one for one in (*self.metrics, *self.for_tables) if one.name == name),
            Metric(name, name.replace("_", " "), ""),
        )


@dataclass(frozen=True)
class ToolContext:
    """What a lab's further commands are given: the lab, and the catalog of models."""

    lab: Lab
    catalog: Callable[[], Any]


# What stands in where a lab declares nothing of its own


def is_offered(name: str, field: FieldInfo) -> bool:
    """Whether a person may set the field: it has a title, or is the seed, unless that is titled ""."""
    return bool(field.title) or (name == "seed" and field.title is None)


def bounds(field: FieldInfo, kind: type[Number]) -> tuple[Number | None, Number | None]:
    """The smallest and the largest number of the `kind` that the field takes; None where there is no bound."""
    low: Number | None = None
    high: Number | None = None
    for rule in field.metadata:
        if (least := getattr(rule, "ge", None)) is not None:
            low = kind(least)
        if (above := getattr(rule, "gt", None)) is not None:
            low = kind(above + 1 if kind is int else math.nextafter(above, math.inf))
        if (most := getattr(rule, "le", None)) is not None:
            high = kind(most)
        if (below := getattr(rule, "lt", None)) is not None:
            high = kind(below - 1 if kind is int else math.nextafter(below, -math.inf))
    return low, high


def counted(transcript: Transcript) -> str:
    """A run of several cases in a sentence: how often each outcome came."""
    outcomes = [str(one.result["outcome_repaired"]) for one in transcript.cases.values() if one.result]
    if not outcomes:
        return "Not judged yet."
    counts = sorted(((outcomes.count(one), one) for one in set(outcomes)), reverse=True)
    return f"Of {len(outcomes)} cases: " + ", ".join(f"{n} {outcome}" for n, outcome in counts) + "."


def narrated(view: View) -> Iterator[tuple[str, str]]:
    """A case in lines: the explanation, then each trial as its outcome is known."""
    if view.explanation is not None:
        yield "explanation", f"It says: {view.explanation}\n"
    for id, trial in view.trials.items():
        reading = trial.repaired
        if reading.outcome != "waiting":
            line = f"expected {reading.expected}, observed {reading.observed}: {reading.outcome}"
            yield id, f"  {id}  {' '.join(trial.about.split())}\n         {line}"
