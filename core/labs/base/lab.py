"""What a lab is: a class whose methods have defaults, with small optional parts. The engine and every lab depend on it.

Pages, command line, store, Browse and replay use a lab through this class; none of them knows a lab by name.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from functools import cached_property
from pathlib import Path
from types import MappingProxyType
from typing import Any, Literal, NamedTuple, Self

from ...events import Asked, Frozen, Model, Recorded, Rules
from ...scene import FigureLine, Mark, Plot, Scene, Verdict
from ...score import Figure
from ...text.templates import PaperPrompts
from ...transcript import CaseLog, Transcript
from .declared import (
    READING,
    AlternativeReading,
    AnnotationTask,
    CaseAnswers,
    Comparability,
    Judgement,
    Means,
    Metric,
    Picture,
    Table,
)
from .report import Case, Playable, Report
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


class ExtraCommands(NamedTuple):
    """Further commands of a lab (click.Command), in a group. The object of their context is a `ToolContext`."""

    name: str
    help: str
    commands: Sequence[Any]


ReadResult = Callable[[Transcript], Frozen | None]
"""Turns a run into its result, as a record that later runs save; None if the run has no result."""


PriorResults = Callable[["Lab", ReadResult], Iterable[tuple[Spec, Frozen]]]
"""Yields, for all runs of a lab that were made here or shipped with the app, each specification with its result."""


class Prerequisite(NamedTuple):
    """A run of another lab that should exist before a run begins: its lab and specification. `read(transcript)` returns
    the record that the later run saves, or None if there is no result. An existing run is reused; `wanted`: make the
    run if there is none.
    """

    lab: Lab
    spec: Spec
    read: ReadResult
    wanted: bool


class Declaration:
    """A lab or a part of one: attributes and methods with defaults. A subclass overrides what differs, or the arguments
    do: attributes, or functions in place of methods. Raises AttributeError for a name that it does not have.
    """

    def __init__(self, **changes: Any) -> None:
        self._changes = changes
        for name, value in changes.items():
            getattr(self, name)
            setattr(self, name, value)

    def with_changes(self, **changes: Any) -> Self:
        """Return a copy with these changes. Raises AttributeError for a name that it does not have."""
        return type(self)(**{**self._changes, **changes})


class Robots(Declaration):
    """The robots of a lab (models whose true result is known), and what is done with them."""

    default_model: str = ""
    """The robot that a new user meets first: one that is not faithful, or that sees less than there is."""

    def controls(self) -> Mapping[str, Model]:
        """Return the listed robots, by id."""
        return {}

    def dials(self) -> Mapping[str, Model]:
        """Return more robots, too many to list: each is faithful on a known share of its questions."""
        return {}

    def truth(self, view: Any) -> float | None:
        """Return the value that the deciding figure of a case must have by construction; None if it is not known."""
        return None

    def deciding_metric(self, view: Any) -> str:
        """Return the name of that figure; '' for the lab's headline."""
        return ""

    def calibration(self, spec: Any) -> Iterable[Spec]:
        """Return runs of controls, which ask no model, to check that the lab, used as in `spec`, gives the right
        results.
        """
        return ()

    def demo_run(self) -> DemoRun | None:
        """Return the demo run; None if there is none."""
        return None

    def demo_comparison(self) -> DemoComparison | None:
        """Return the runs that the front page compares; None if there are none."""
        return None

    @cached_property
    def by_id(self) -> Mapping[str, Model]:
        """All robots by id, including those that are not listed."""
        return {**self.controls(), **self.dials()}


class StudyTables(Declaration):
    """What a lab adds to the tables of studies."""

    tables: tuple[Table, ...] = ()
    """Tables that a study can request by name."""
    for_tables: tuple[Metric, ...] = ()
    """How the extra figures are shown."""
    across: tuple[str, ...] = ()
    """The names of the figures of `figures_across`."""
    choices: tuple[str, ...] = ()
    """Settings and facets that count as choices of the analysis, like those of `alternative_readings`."""

    def extra_figures(self, view: Any) -> Iterable[Figure]:
        """Return figures of a case, by the view's parser, that only these tables use."""
        return ()

    def further_figures(self, view: Any) -> Iterable[tuple[Mapping[str, str], Figure]]:
        """Return extra figures that belong to other values of some settings than those of the run, by setting: such as
        those of a second evaluator.
        """
        return ()

    def asked(self, view: Any) -> Any:
        """Return what `figures_across` needs to know of a case."""
        return None

    def figures_across(
        self, cases: Sequence[CaseAnswers], rules: Rules
    ) -> Iterable[tuple[int, Mapping[str, str], Figure]]:
        """Return figures of a study's cases, by that parser, that rest on the answers of its other cases: each with the
        number of its case, and further settings.
        """
        return ()

    def traits(self, view: Any) -> Mapping[str, str]:
        """Return further properties of a case by which the tables distinguish cases."""
        return {}

    def alternative_readings(self, view: Any) -> Iterable[AlternativeReading] | None:
        """Return the figure of a case under other choices; None if the only choice is between the parsers."""
        return None


class DrawnCurves(NamedTuple):
    """How a lab scores curves that people draw: `hits(xs, true, given)` is in how many parts of the range a curve is
    close to the function; both have a value at each of `xs`, None for a gap. `of_day(day)` is the title and the plot of
    the function that everybody draws on that day.
    """

    hits: Callable[[Sequence[float], Sequence[float | None], Sequence[float | None]], int]
    of_day: Callable[[date], tuple[str, Plot]]


Labels = Mapping[tuple[str, str], Mapping[str, str]]
"""One person's labels: by case and trial, and then by judgement, the chosen word."""


class RunSummary(Declaration):
    """What a lab says about a run of several cases."""

    case_noun: str = "case"
    """The word for a case."""
    words: Mapping[Mark, str] = MappingProxyType({})
    """The names of the marks."""
    reasons: Mapping[str, str] = MappingProxyType({})
    """By outcome, why it decides nothing; and by the reason for which a trial is excluded, what that is called."""
    last_step: str = ""
    """What a run does after the last answer, in words, if that takes seconds."""

    def mark(self, outcome: str, run: Transcript) -> Means | None:
        """Return what an outcome means in that run; None if that does not depend on the run's other cases."""
        return None

    def verdict(self, run: Transcript) -> Verdict | None:
        """Return the verdict on all cases, as a scene shows it; None to show the lab's summary and the outcomes."""
        return None

    def by_labels(self, run: Transcript, labels: Labels) -> Verdict | None:
        """Return the verdict by one person's labels; None if they have not judged enough cases."""
        return None

    def figures(self, run: Transcript) -> Iterable[FigureLine]:
        """Return additional figures of the run, shown before those that the lab publishes."""
        return ()


class Listing(NamedTuple):
    """How the results of a lab are listed, compared, judged and annotated."""

    row_unit: Literal["case", "trial"] = "case"
    """What has a row in a list of results: a case, or each of its trials."""
    takes_explanations: bool = False
    """Whether the lab's runs can test explanations from a file (the column `explanation`)."""
    main_trial: str = ""
    """The trial that represents a case in such a row."""
    method_field: str = ""
    """The field of the specification that a list of runs shows next to the model: the chosen method."""
    gold: tuple[type[Frozen], str] | None = None
    """The record and its field with the correct answer to the question of a case; None if there is none."""
    comparability: Comparability | None = None
    """How such rows are compared; None if they are not."""
    judgements: tuple[Judgement, ...] = (READING,)
    """What a person may judge about a case or a trial."""
    annotations: Sequence[AnnotationTask] = ()
    """What people annotate in the lab's runs."""
    pictures: tuple[Picture, ...] = ()
    """The charts that Browse draws of many runs."""


class Game(Declaration):
    """The trials of a lab as cards that people predict."""

    guess_record: Callable[[str, str, bool], Frozen] | None = None
    """`guess_record(value, who, without)` returns the record of a person's prediction for a trial; `without`: the
    explanation was hidden. Raises ValueError if the value is no possible prediction. None if predictions are not saved.
    """

    def cards(self, view: Any, scene: Scene, seed: int) -> Iterable[Playable]:
        """Return the trials of a case, told by `scene`, as cards (`core.labs.base.report`); `seed` decides the order in
        which a card shows things.
        """
        return list(view.playable(scene, seed))


class Command(Declaration):
    """A lab's command, apart from the options generated from its specification."""

    parameters: Sequence[Any] = ()
    """Options that are not fields of the specification (click.Parameter)."""
    tools: ExtraCommands | None = None
    """Further commands, in a group of their own."""
    group: str = ""
    """The group that contains the lab's own command; '' for none."""

    def from_options(self, given: dict[str, Any]) -> dict[str, Any]:
        """Turn the given options into fields of the specification. By default an option is a field."""
        return given

    item_parameters: tuple[str, ...] = ()
    """The options and fields that say what a single item is. Empty if the lab cannot ask about a single item."""

    def from_item(self, item: Any) -> dict[str, Any]:
        """Return the fields of a specification about this item (`core.datasets.items.Item`) alone. Raises
        NotImplementedError here.
        """
        raise NotImplementedError

    def with_output(self, item: Any, output: str) -> Any:
        """Return the item with the explanation that a model wrote about it, if the lab can test that; by default the
        item unchanged, so that the model is asked for an explanation. Raises ValueError if there is none in `output`.
        """
        return item


class Lab(Declaration):
    """A lab. A subclass names its specification, records and metrics, and defines the methods that raise
    NotImplementedError here; everything else has a default. What takes or returns `spec` and `view` gets those of the
    lab's own types.
    """

    name: str
    """Its name in journals."""
    title: str
    """Its name on pages; in lower case it is the lab's command and address."""
    question: str
    """The question that the lab answers, in a sentence."""
    about: str = ""
    """More about the question, in Markdown."""
    icon: str = ":material/science:"
    """The icon of its page."""
    hidden: bool = False
    """Whether it is a test of the instrument, which has no page of its own."""
    spec: type[Spec]
    """The type of its specifications."""
    records: tuple[type[Frozen], ...]
    """The types that the lab records. Those of a trial are in the order of display, the expectation before the outcome.
    The store's tables are made from them.
    """
    supporting_records: tuple[type[Frozen], ...] = ()
    """Records at which a replay does not stop if they differ."""
    metrics: tuple[Metric, ...] = ()
    """Its figures."""
    report: type[Report]
    """The type of what is said about a case, which also has the names of its values and outcomes, and their meaning."""
    templates: Path | None = None
    """The folder with its prompt templates, one file each (`core.text.templates.load(name, folder)`), for *Methods* to
    show. It may be anywhere.
    """
    paper_prompts: PaperPrompts | None = None
    """The prompts of its paper, which a user may have a copy of; None without any."""
    listing: Listing = Listing()
    """How its results are listed, compared, judged and annotated."""
    run_summary: RunSummary = RunSummary()
    """What it says about a run of several cases."""
    robots: Robots = Robots()
    """Its robots."""
    studies: StudyTables = StudyTables()
    """Its additions to studies."""
    command: Command = Command()
    """Its command line."""
    game: Game | None = None
    """Its cards for the game; None if it has none."""
    drawn_curves: DrawnCurves | None = None
    """How curves that people draw are scored, for a lab with functions of numbers."""

    # What every lab defines

    def cases(self, spec: Any) -> Iterable[Case]:
        """Yield the cases of a specification lazily. Raises BadInputError, or ValueError with a message for a user."""
        raise NotImplementedError

    async def measure(self, spec: Any, case: Case, run: Any) -> None:
        """Measure one case, given a `core.runs.context.CaseContext`: ask, record, drop. Raises CallError if the case
        cannot be measured.
        """
        raise NotImplementedError

    def scores(self, views: Sequence[Any], /) -> Iterator[Figure]:
        """Yield the figures of one or many cases. Heavy computations belong here, because it runs in a thread."""
        raise NotImplementedError

    # Before a run

    def prompts(self, spec: Any) -> dict[str, str]:
        """Return the hash of each prompt template that a run of the specification may use, by id."""
        return {}

    def count_calls(self, spec: Any, cases: int) -> Mapping[str, int] | None:
        """Return the maximum number of calls of a run over that number of cases, by role; None if it is not known."""
        return None

    def dataset_record(self, spec: Any) -> Frozen | None:
        """Return the record of what the run's data set held and what was left out; None without a data set. By default
        that of a specification that is `OnData`. Raises DatasetError.
        """
        return spec.chosen_items()[1] if getattr(spec, "dataset", "") else None

    def check(self, spec: Any) -> None:
        """Check what only reading files can reveal: by default, that there are prompts and a first case. Raises
        ValueError, CallError.
        """
        self.prompts(spec)
        next(iter(self.cases(spec)), None)

    def prerequisites(self, spec: Any) -> Sequence[Prerequisite | Frozen | None]:
        """Return the runs that should exist before a run begins. An entry may instead be the record of such a run, if
        the result is already known, or None if there is no such run; each has a fixed position.
        """
        return ()

    def choose_models(
        self, spec: Any, named: Collection[str], at_hand: Callable[[str], bool], results: PriorResults
    ) -> Any:
        """Return `spec` with the model fields that the user did not set (`named` are those that were set), chosen among
        models for which `at_hand` is true, by the `results`. Used by pages and command line; a study file is used
        as written.
        """
        return spec

    def advance_note(self, spec: Any) -> str:
        """Return what to know about a run before it begins, such as who judges it; '' if there is nothing."""
        return ""

    def preload(self, spec: Any) -> None:
        """Start what is slow to start and will be needed. Runs in a thread."""

    # What is shown

    def view(self, log: CaseLog) -> Any:
        """Build the report of a case from its records, by the updated parser; `view.by("paper")` is that by the
        original one. Never raises.
        """
        return self.report.of(log)

    def summary(self, run: Transcript, /) -> str:
        """Summarise a run of several cases in a sentence: by default, how often each outcome occurred."""
        counts = sorted(((n, outcome) for outcome, n in run.outcomes.items()), reverse=True)
        told = ", ".join(f"{n} {outcome}" for n, outcome in counts)
        return f"Of {run.outcomes.total()} cases: {told}." if told else "Not judged yet."

    def facets(self, spec: Mapping[str, Any], case: str) -> dict[str, str]:
        """Return the FACETS of a case, by its id and the run's specification, which may be damaged: by default its task
        and data set, if it has these fields.
        """
        return {name: str(spec.get(name) or "") for name in ("task", "dataset") if name in self.spec.model_fields}

    def is_input(self, record: Recorded) -> bool:
        """Whether a record was given to the run by a person or by chance, so that a repeated evaluation of the run must
        be given it too.
        """
        return False

    def needs_call(self, metric: str, asked: Asked) -> bool:
        """Whether a figure needs the answer to that call."""
        return True

    # What follows from the above

    def calls(self, spec: Any, cases: int) -> int | None:
        """Return the maximum number of calls of a run over that number of cases; None if it is not known."""
        by_role = self.count_calls(spec, cases)
        return None if by_role is None else sum(by_role.values())

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
        return self.report.means(outcome)

    def mark(self, outcome: str, run: Transcript) -> Means:
        """Return what an outcome means in that run, which may depend on the run's other cases."""
        return self.run_summary.mark(outcome, run) or self.means(outcome)

    def that_mean(self, means: Means) -> list[str]:
        """Return the outcomes with this meaning."""
        return [outcome for outcome, meant in self.report.outcomes.items() if meant == means]

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
