"""What a lab declares. Types only: the engine stands on them, and so does every lab.

Page, command line, store, Browse and replay read the declaration; none of them knows a lab by name.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any, Literal, NamedTuple

from ...events import Frozen, Model, Recorded, Rules
from ...scene import FigureLine, Mark, Scene, Verdict
from ...score import Figure
from ...transcript import CaseLog, Transcript
from .cases import Case, Playable
from .declared import READING, Judged, Judgement, Means, Metric, Otherwise, Picture, Table
from .spec import Spec


class DemoRun(NamedTuple):
    """The first minute: a run to press a button for, in words for a newcomer."""

    words: str
    help: str
    spec: Spec


class DemoComparison(NamedTuple):
    """Two or three runs to be seen side by side at the press of a button, in words for a newcomer."""

    words: str
    help: str
    specs: tuple[Spec, ...]


class Tools(NamedTuple):
    """Further commands of a lab (click.Command) in a group. Their context's object is a `ToolContext`."""

    name: str
    help: str
    commands: Sequence[Any]


Reads = Callable[[Transcript], Frozen | None]
"""What a run came to, as a record that later runs keep of it; None where it came to nothing."""


Made = Callable[["Lab", Reads], Iterable[tuple[Spec, Frozen]]]
"""Of all runs of a lab that are here or came with the app: each specification with what it came to."""


class Prerequisite(NamedTuple):
    """A run of another lab that should be made before: its lab and specification. `read(transcript)` gives the record
    that the later run keeps of it, None where it came to nothing. One that was made already serves; `wanted`: where
    there is none, it is made.
    """

    lab: Lab
    spec: Spec
    read: Reads
    wanted: bool


@dataclass(frozen=True, eq=False)
class Robots:
    """The models of known truth that a lab brings, and what is done with them.

    - `controls()` are listed, by id; `dials()` more of them, too many for a list: each is faithful on a known share of
      what it is asked.
    - `truth(view)` is what the figure that decides on a case must read by construction, None where that is not known;
      `decides(view)` names that figure, '' for the lab's headline.
    - `calibration(spec)` are runs of controls, which ask no model, that show whether the lab as `spec` uses it reads
      what it must.
    - `newcomer` is the model that a newcomer meets: a control that is not faithful, or sees less than there is. `first`
      is the run of the first minute; `sides` the runs that the front page sets side by side.
    """

    controls: Callable[[], Mapping[str, Model]] = lambda: {}
    dials: Callable[[], Mapping[str, Model]] = lambda: {}
    truth: Callable[[Any], float | None] = lambda view: None
    decides: Callable[[Any], str] = lambda view: ""
    calibration: Callable[[Any], Iterable[Spec]] = lambda spec: ()
    newcomer: str = ""
    first: Callable[[], DemoRun] | None = None
    sides: Callable[[], DemoComparison] | None = None

    @cached_property
    def by_id(self) -> Mapping[str, Model]:
        """All of them, those that are in no list too."""
        return {**self.controls(), **self.dials()}


@dataclass(frozen=True, eq=False)
class StudyTables:
    """What a lab adds where studies are tabled.

    - `tables` are what a study can ask for by name. `more(view, rules)` are figures of a case for them alone, which no
      run publishes, and `for_tables` says how these are shown; `traits(view)` are what else tells cases apart there.
    - `otherwise(view)` is what a case's figure would have been under other choices; without it by either rules.
      `choices` are settings and facets that are such choices too.
    """

    tables: tuple[Table, ...] = ()
    for_tables: tuple[Metric, ...] = ()
    more: Callable[[Any, Rules], Iterable[Figure]] = lambda view, rules: ()
    traits: Callable[[Any], Mapping[str, str]] = lambda view: {}
    otherwise: Callable[[Any], Iterable[Otherwise]] | None = None
    choices: tuple[str, ...] = ()


Labels = Mapping[tuple[str, str], Mapping[str, str]]
"""One person's verdicts by case and trial: by what is judged the word for it."""


@dataclass(frozen=True, eq=False)
class RunSummary:
    """What a lab tells of a run of several cases.

    - `mark(outcome, transcript)` is what an outcome means in that run, where its other cases have a say in that.
    - `verdict(transcript)` is the verdict on all of them, as a scene has it; without it the lab's summary.
    - `by_labels(transcript, labels)` is the verdict by one person's labels, where they have judged enough for one.
    - `figures(transcript)` are figures of it that stand in no other's place, before those that the lab publishes.
    - `why` says why an outcome decides nothing, by outcome; `one` is what a case is called, `words` what marks are.
    """

    mark: Callable[[str, Transcript], Means] | None = None
    verdict: Callable[[Transcript], Verdict] | None = None
    by_labels: Callable[[Transcript, Labels], Verdict | None] | None = None
    figures: Callable[[Transcript], Iterable[FigureLine]] = lambda transcript: ()
    why: Mapping[str, str] = field(default_factory=dict)
    one: str = "case"
    words: Mapping[Mark, str] = field(default_factory=dict)


@dataclass(frozen=True, eq=False)
class Command:
    """A lab's command, beside the options that its specification makes.

    - `parameters` are options that are no field of the spec (click.Parameter), and `from_options` makes the spec's
      fields of what was given; without them every field with a title is an option by itself.
    - `tools` are further commands, in a group of their own; `group` names the group that the lab's command stands in.
    """

    parameters: Sequence[Any] = ()
    from_options: Callable[[dict[str, Any]], dict[str, Any]] | None = None
    tools: Tools | None = None
    group: str = ""


@dataclass(frozen=True, eq=False)
class Lab:
    """One lab. `name` stands in journals, `title` on pages; the lower-case title is its command and its address.

    - `question`: what a person asks of it, in a sentence; `about` says more, as Markdown.
    - `cases(spec)` names the cases, lazily. Raises BadInput, or ValueError in words for the person.
    - `measure(spec, case, run)` does one, given a `core.runs.context.CaseContext`: asks, records, drops. Raises
      CallFailed where the case cannot be measured.
    - `view(log)` folds a case's records; `verdict(view)` gives its sentences, the headline first.
    - `summary(transcript)` is the sentence on a run of several cases; without one their outcomes are counted.
    - `scores(views)` gives the figures of one case or of many; heavy work belongs here, for it runs in a thread.
    - `records` are the types that it records, those of a trial in the order in which it is shown, what was expected
      before its outcome (the store's tables come from them, and a replay keeps to it, but does not stop at those
      among `asides`); `metrics` are the figures, `pictures` what Browse draws of many runs.
    - `robots`, `studies`, `command` and `in_runs` are what it brings of known truth, adds to studies, has on the
      command line, and tells of a run of several cases.
    - `prompts(spec)` gives the hash of each prompt template that a run may use, by id; `templates` is the folder where
      they lie, one file each (`core.text.templates.load(name, folder)`), for *Methods* to show. It may lie anywhere.
    - `priors(spec)` are the runs that should be made before, each in its place, or the record that is kept of one where
      that is known; None where there is none. `of_model(id)` is the specification of a run that
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
    - `asks(spec, cases)` is how many calls a run over so many cases makes at most, by the role of who is asked;
      `calls(spec, cases)` is their sum.
    - `warm(spec)` starts, in a thread, what takes long to start and will be needed.
    - `loaded(spec)` is the record of what the run's data set held and what of it was left out; None without one.
    - `is_input(record)` tells what a person, or chance, gave the run to go on with: a new reading of it must be given
      it too.
    - `check(spec)` finds out, before a run begins, what only a look at files can tell. Raises ValueError, CallFailed.
    - `scene(view)` is the case as it is told: what was asked, claimed, tested, came of it, and the verdict, as far as
      it has come; never raises. `core.report.scenes` adds what every case has, and makes one of the trials without it.
    - `readings(view)` is how each set of rules read a call's raw answer, in words: by call, then by the rules' name.
    - `cards(view, scene, seed)` are the tests of a case, told by `scene`, as cards of the game
      (`core.labs.base.cases`); by `seed` is drawn in which order a card shows things. None where it has no game.
    - `guessed(value, who, without)` is the record of what a reader expects of a trial; `without` the reason, where that
      was not shown. None where guesses are not kept.
    - `words` are what values and outcomes are called on every screen; `outcomes` what those of cases and trials mean
      for the explanation.
    - `before(spec)` is what to know of a run before it begins, such as who judges it; empty where there is nothing.
    - `longest`: by role the field of the specification that limits how long its answers may be.
    - `hidden`: a test of the instrument that has no page of its own.
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
    robots: Robots = Robots()
    studies: StudyTables = StudyTables()
    command: Command = Command()
    in_runs: RunSummary = RunSummary()
    asides: tuple[type[Frozen], ...] = ()
    pictures: tuple[Picture, ...] = ()
    prompts: Callable[[Any], dict[str, str]] = lambda spec: {}
    templates: Path | None = None
    summary: Callable[[Transcript], str] | None = None
    asks: Callable[[Any, int], Mapping[str, int]] | None = None
    loaded: Callable[[Any], Frozen | None] = lambda spec: None
    warm: Callable[[Any], None] | None = None
    priors: Callable[[Any], Sequence[Prerequisite | Frozen | None]] = lambda spec: ()
    of_model: Callable[[str], Spec | None] = lambda id: None
    settled: Callable[[Any, Collection[str], Callable[[str], bool], Made], Any] | None = None
    summed: Callable[[Callable[[str], bool], Made], str] | None = None
    how: str = ""
    item: Literal["case", "trial"] = "case"
    principal: str = ""
    facets: Callable[[Mapping[str, Any], str], dict[str, str]] = lambda spec, case: {}
    judged: Judged | None = None
    judgements: tuple[Judgement, ...] = (READING,)
    is_input: Callable[[Recorded], bool] = lambda record: False
    before: Callable[[Any], str] = lambda spec: ""
    longest: Mapping[str, str] = field(default_factory=dict)
    about: str = ""
    icon: str = ":material/science:"
    hidden: bool = False
    check: Callable[[Any], None] | None = None
    scene: Callable[[Any], Scene] | None = None
    readings: Callable[[Any], Mapping[str, Mapping[str, str]]] = lambda view: {}
    cards: Callable[[Any, Scene, int], Iterable[Playable]] | None = None
    guessed: Callable[[str, str, bool], Frozen] | None = None
    words: Mapping[str, str] = field(default_factory=dict)
    outcomes: Mapping[str, Means] = field(default_factory=dict)

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

    def means(self, outcome: str) -> Means:
        """What an outcome of a case or trial means; "failed" and "waiting" mean themselves in every lab."""
        of_all: dict[str, Means] = {"failed": "failed", "waiting": "waiting", "unread": "unread"}
        return self.outcomes.get(outcome) or of_all.get(outcome, "set aside")

    def mark(self, outcome: str, run: Transcript) -> Means:
        """What an outcome means in that run: where its other cases have a say in it, no more than they bear out."""
        return self.in_runs.mark(outcome, run) if self.in_runs.mark else self.means(outcome)

    def that_mean(self, means: Means) -> list[str]:
        """The outcomes that mean this."""
        return [outcome for outcome, meant in self.outcomes.items() if meant == means]

    def metric(self, name: str) -> Metric:
        """How the figure `name` is shown; by its own name where it is not declared."""
        return next(
            (one for one in (*self.metrics, *self.studies.for_tables) if one.name == name),
            Metric(name, name.replace("_", " "), "", "any"),
        )


@dataclass(frozen=True)
class ToolContext:
    """What a lab's further commands are given: the lab, and the catalog of models."""

    lab: Lab
    catalog: Callable[[], Any]


def counted(transcript: Transcript) -> str:
    """A run of several cases in a sentence: how often each outcome came."""
    outcomes = [str(one.result["outcome_repaired"]) for one in transcript.cases.values() if one.result]
    if not outcomes:
        return "Not judged yet."
    counts = sorted(((outcomes.count(one), one) for one in set(outcomes)), reverse=True)
    return f"Of {len(outcomes)} cases: " + ", ".join(f"{n} {outcome}" for n, outcome in counts) + "."
