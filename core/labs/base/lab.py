"""The declaration of a lab. Only types are defined here; the engine and every lab depend on them.

Pages, command line, store, Browse and replay read the declaration; none of them knows a lab by name.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date
from functools import cached_property
from pathlib import Path
from typing import Any, Literal, NamedTuple

from ...events import Asked, Frozen, Model, Recorded
from ...scene import FigureLine, Mark, Plot, Scene, Verdict
from ...score import Figure
from ...transcript import CaseLog, Transcript
from .cases import Case, Playable
from .declared import READING, Judged, Judgement, Means, Metric, Otherwise, Picture, Table
from .report import OF_ALL
from .spec import Spec


class DemoRun(NamedTuple):
    """A demo run that a new user starts with a button, and the words for it."""

    words: str
    help: str
    spec: Spec


class DemoComparison(NamedTuple):
    """Two or three demo runs that a new user can see side by side at the press of a button, and the words for it."""

    words: str
    help: str
    specs: tuple[Spec, ...]


class Tools(NamedTuple):
    """Further commands of a lab (click.Command), in a group. The object of their context is a `ToolContext`."""

    name: str
    help: str
    commands: Sequence[Any]


Reads = Callable[[Transcript], Frozen | None]
"""Turns a run into its result, as a record that later runs save; None if the run has no result."""


Made = Callable[["Lab", Reads], Iterable[tuple[Spec, Frozen]]]
"""Yields, for all runs of a lab that were made here or shipped with the app, each specification with its result."""


class Prerequisite(NamedTuple):
    """A run of another lab that should exist before a run begins: its lab and specification. `read(transcript)` returns
    the record that the later run saves, or None if there is no result. An existing run is reused; `wanted`: make the
    run if there is none.
    """

    lab: Lab
    spec: Spec
    read: Reads
    wanted: bool


@dataclass(frozen=True, eq=False)
class Robots:
    """The robots of a lab (models whose true result is known), and what is done with them.

    - `controls()` are the listed robots, by id. `dials()` are more, too many to list: each is faithful on a known share
      of its questions.
    - `truth(view)` is the value that the deciding figure of a case must have by construction, None if that is not
      known; `deciding_metric(view)` names that figure, '' for the lab's headline.
    - `calibration(spec)` are runs of controls, which ask no model, to check that the lab, used as in `spec`, gives the
      right results.
    - `default_model` is the robot that a new user meets first: one that is not faithful, or that sees less than there
      is. `demo_run` is the demo run; `demo_comparison` are the runs that the front page compares.
    """

    controls: Callable[[], Mapping[str, Model]] = lambda: {}
    dials: Callable[[], Mapping[str, Model]] = lambda: {}
    truth: Callable[[Any], float | None] = lambda view: None
    deciding_metric: Callable[[Any], str] = lambda view: ""
    calibration: Callable[[Any], Iterable[Spec]] = lambda spec: ()
    default_model: str = ""
    demo_run: Callable[[], DemoRun] | None = None
    demo_comparison: Callable[[], DemoComparison] | None = None

    @cached_property
    def by_id(self) -> Mapping[str, Model]:
        """All robots by id, including those that are not listed."""
        return {**self.controls(), **self.dials()}


@dataclass(frozen=True, eq=False)
class StudyTables:
    """What a lab adds to the tables of studies.

    - `tables` are those that a study can request by name. `extra_figures(view)` yields figures of a case, by the
      view's parser, that only these tables use, and `for_tables` says how they are shown; `traits(view)` are further
      properties by which the tables distinguish cases.
    - `alternative_readings(view)` yields the figure of a case under other choices; without it, the choice is between
      the parsers. `choices` are settings and facets that also count as such choices.
    """

    tables: tuple[Table, ...] = ()
    for_tables: tuple[Metric, ...] = ()
    extra_figures: Callable[[Any], Iterable[Figure]] = lambda view: ()
    traits: Callable[[Any], Mapping[str, str]] = lambda view: {}
    alternative_readings: Callable[[Any], Iterable[Otherwise]] | None = None
    choices: tuple[str, ...] = ()


class DrawnCurves(NamedTuple):
    """How a lab scores curves that people draw: `hits(xs, true, given)` is in how many parts of the range a curve is
    close to the function; both have a value at each of `xs`, None for a gap. `of_day(day)` is the title and the plot of
    the function that everybody draws on that day.
    """

    hits: Callable[[Sequence[float], Sequence[float | None], Sequence[float | None]], int]
    of_day: Callable[[date], tuple[str, Plot]]


Labels = Mapping[tuple[str, str], Mapping[str, str]]
"""One person's labels: by case and trial, and then by judgement, the chosen word."""


@dataclass(frozen=True, eq=False)
class RunSummary:
    """What a lab says about a run of several cases.

    - `mark(outcome, transcript)` is what an outcome means in that run, if that depends on the run's other cases.
    - `verdict(transcript)` is the verdict on all cases, as a scene shows it; without it the lab's summary is used.
    - `by_labels(transcript, labels)` is the verdict by one person's labels, if they have judged enough cases.
    - `figures(transcript)` are additional figures of the run, shown before those that the lab publishes.
    - `reasons` says, by outcome, why it decides nothing; `case_noun` is the word for a case, `words` are the names of
      the marks.
    """

    mark: Callable[[str, Transcript], Means] | None = None
    verdict: Callable[[Transcript], Verdict] | None = None
    by_labels: Callable[[Transcript, Labels], Verdict | None] | None = None
    figures: Callable[[Transcript], Iterable[FigureLine]] = lambda transcript: ()
    reasons: Mapping[str, str] = field(default_factory=dict)
    case_noun: str = "case"
    words: Mapping[Mark, str] = field(default_factory=dict)


@dataclass(frozen=True, eq=False)
class Command:
    """A lab's command, apart from the options generated from its specification.

    - `parameters` are options that are not fields of the spec (click.Parameter), and `from_options` turns the given
      options into fields of the spec. Without them every field with a title is an option.
    - `tools` are further commands, in a group of their own; `group` is the group that contains the lab's own command.
    """

    parameters: Sequence[Any] = ()
    from_options: Callable[[dict[str, Any]], dict[str, Any]] | None = None
    tools: Tools | None = None
    group: str = ""


@dataclass(frozen=True, eq=False)
class Lab:
    """One lab."""

    name: str
    """Its name in journals."""
    title: str
    """Its name on pages; in lower case it is the lab's command and address."""
    question: str
    """The question that the lab answers, in a sentence."""
    spec: type[Spec]
    """The type of its specifications."""
    cases: Callable[[Any], Iterable[Case]]
    """Yields the cases of a specification lazily. Raises BadInput, or ValueError with a message for the user."""
    measure: Callable[[Any, Case, Any], Awaitable[None]]
    """`measure(spec, case, run)` measures one case, given a `core.runs.context.CaseContext`: asks, records, drops.
    Raises CallError if the case cannot be measured.
    """
    view: Callable[[CaseLog], Any]
    """Builds the view of a case from its records, by the updated parser; `view.by("paper")` is that by the original
    one.
    """
    scores: Callable[[Sequence[Any]], Iterator[Figure]]
    """Yields the figures of one or many cases. Heavy computations belong here, because it runs in a thread."""
    records: tuple[type[Frozen], ...]
    """The types that the lab records. Those of a trial are in the order of display, the expectation before the outcome.
    The store's tables are made from them.
    """
    metrics: tuple[Metric, ...]
    """Its figures."""
    verdict: Callable[[Any], Sequence[str]] = lambda report: report.sentences()
    """The sentences of a view, the headline first."""
    robots: Robots = Robots()
    """Its robots."""
    studies: StudyTables = StudyTables()
    """Its additions to studies."""
    command: Command = Command()
    """Its command line."""
    run_summary: RunSummary = RunSummary()
    """What it says about a run of several cases."""
    supporting_records: tuple[type[Frozen], ...] = ()
    """Records at which a replay does not stop if they differ."""
    pictures: tuple[Picture, ...] = ()
    """The charts that Browse draws of many runs."""
    prompts: Callable[[Any], dict[str, str]] = lambda spec: {}
    """The hash of each prompt template that a run of the specification may use, by id."""
    templates: Path | None = None
    """The folder with its prompt templates, one file each (`core.text.templates.load(name, folder)`), for *Methods* to
    show. It may be anywhere.
    """
    summary: Callable[[Transcript], str] | None = None
    """Summarises a run of several cases; without it their outcomes are counted."""
    count_calls: Callable[[Any, int], Mapping[str, int]] | None = None
    """`count_calls(spec, cases)` is the maximum number of calls of a run over that number of cases, by role."""
    dataset_record: Callable[[Any], Frozen | None] = lambda spec: None
    """The record of what the run's data set held and what was left out; None without a data set."""
    preload: Callable[[Any], None] | None = None
    """Starts, in a thread, what is slow to start and will be needed."""
    last_step: str = ""
    """What a run does after the last answer, in words, if that takes seconds."""
    prerequisites: Callable[[Any], Sequence[Prerequisite | Frozen | None]] = lambda spec: ()
    """The runs that should exist before a run begins. An entry may instead be the record of such a run, if the result
    is already known, or None if there is no such run; each has a fixed position.
    """
    choose_models: Callable[[Any, Collection[str], Callable[[str], bool], Made], Any] | None = None
    """`choose_models(spec, named, at_hand, made)` fills in the model fields that the user did not set (`named` are
    those that were set), choosing among models for which `at_hand` is true by the results `made`. Used by pages and
    command line; a study file is used as written.
    """
    method_field: str = ""
    """The field of the specification that a list of runs shows next to the model: the chosen method."""
    row_unit: Literal["case", "trial"] = "case"
    """What has a row in a list of results: a case, or each of its trials."""
    gold: tuple[type[Frozen], str] | None = None
    """The record and its field with the correct answer to the question of a case; None if there is none."""
    takes_explanations: bool = False
    """Whether its runs can test explanations from a file (the column `explanation`)."""
    needs_call: Callable[[str, Asked], bool] = lambda metric, asked: True
    """Whether a figure needs the answer to that call."""
    main_trial: str = ""
    """The trial that represents a case in such a row."""
    facets: Callable[[Mapping[str, Any], str], dict[str, str]] = lambda spec, case: {}
    """`facets(spec, case)` gives the FACETS of a case, by its id and the run's specification, which may be damaged."""
    judged: Judged | None = None
    """How such rows are compared; None if they are not."""
    judgements: tuple[Judgement, ...] = (READING,)
    """What a person may judge about a case or a trial."""
    is_input: Callable[[Recorded], bool] = lambda record: False
    """Whether a record was given to the run by a person or by chance, so that a repeated evaluation of the run must be
    given it too.
    """
    advance_note: Callable[[Any], str] = lambda spec: ""
    """What to know about a run before it begins, such as who judges it; empty if there is nothing."""
    longest: Mapping[str, str] = field(default_factory=dict)
    """By role, the field of the specification that limits the length of its answers."""
    about: str = ""
    """More about the question, in Markdown."""
    icon: str = ":material/science:"
    """The icon of its page."""
    hidden: bool = False
    """Whether it is a test of the instrument, which has no page of its own."""
    check: Callable[[Any], None] | None = None
    """Checks, before a run begins, what only reading files can reveal. Raises ValueError, CallError."""
    scene: Callable[[Any], Scene] | None = None
    """Tells the case as a story, as far as it has been measured: the question, claim, tests, outcomes and verdict.
    Never raises. `core.report.scenes` adds what all cases have, and builds a scene from the trials if this is None.
    """
    readings: Callable[[Any], Mapping[str, Mapping[str, str]]] = lambda report: report.readings()
    """In words how each parser read a call's raw answer: by call, then by parser."""
    cards: Callable[[Any, Scene, int], Iterable[Playable]] | None = None
    """`cards(view, scene, seed)` yields the trials of a case, told by `scene`, as cards of the game
    (`core.labs.base.cases`); `seed` decides the order in which a card shows things. None if the lab has no game.
    """
    drawn_curves: DrawnCurves | None = None
    """How curves that people draw are scored, for a lab with functions of numbers."""
    guessed: Callable[[str, str, bool], Frozen] | None = None
    """`guessed(value, who, without)` is the record of a person's prediction for a trial; `without`: the explanation was
    hidden. None if predictions are not saved.
    """
    words: Mapping[str, str] = field(default_factory=dict)
    """The names of values and outcomes on screens."""
    outcomes: Mapping[str, Means] = field(default_factory=dict)
    """What outcomes of cases and trials mean for the explanation."""

    @property
    def calls(self) -> Callable[[Any, int], int] | None:
        """The maximum number of calls of a run, as a function of its specification and number of cases; None if not
        known.
        """
        asks = self.count_calls
        return None if asks is None else lambda spec, cases: sum(asks(spec, cases).values())

    @property
    def path(self) -> str:
        """The lab's command on the command line and its address."""
        return self.title.lower().replace(" ", "-")

    @property
    def headline(self) -> str:
        """The name of the first metric that leads; '' if none does."""
        return next((metric.name for metric in self.metrics if metric.leads), "")

    def means(self, outcome: str) -> Means:
        """Return what an outcome of a case or trial means; "failed", "waiting" and "unread" have the same meaning in
        every lab.
        """
        return self.outcomes.get(outcome) or OF_ALL.get(outcome, "set aside")

    def mark(self, outcome: str, run: Transcript) -> Means:
        """Return what an outcome means in that run, which may depend on the run's other cases."""
        return self.run_summary.mark(outcome, run) if self.run_summary.mark else self.means(outcome)

    def that_mean(self, means: Means) -> list[str]:
        """Return the outcomes with this meaning."""
        return [outcome for outcome, meant in self.outcomes.items() if meant == means]

    def metric(self, name: str) -> Metric:
        """Return how the figure `name` is shown; one that is not declared is shown under its own name."""
        return next(
            (one for one in (*self.metrics, *self.studies.for_tables) if one.name == name),
            Metric(name, name.replace("_", " "), "", "any"),
        )


@dataclass(frozen=True)
class ToolContext:
    """The context of a lab's further commands: the lab, and the catalog of models."""

    lab: Lab
    catalog: Callable[[], Any]


def counted(transcript: Transcript) -> str:
    """Summarise a run of several cases in a sentence: how often each outcome occurred."""
    outcomes = [str(one.result["outcome_repaired"]) for one in transcript.cases.values() if one.result]
    if not outcomes:
        return "Not judged yet."
    counts = sorted(((outcomes.count(one), one) for one in set(outcomes)), reverse=True)
    return f"Of {len(outcomes)} cases: " + ", ".join(f"{n} {outcome}" for n, outcome in counts) + "."
