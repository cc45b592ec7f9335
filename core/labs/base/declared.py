"""Declarations of how the results of runs are shown, compared, judged and annotated."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cached_property
from typing import Any, Literal, NamedTuple, TypeVar

from pydantic import Field

from ...events import Frozen, Rules
from ...package_data import sibling_toml, table
from ...paper_figures import Published, published
from ...score import Score
from ...statistics.intervals import MEDIAN, RANGES, Interval, Kind, Range

T = TypeVar("T")


def declared(
    module: str, part: str, kind: Callable[..., T], code: Mapping[str, Mapping[str, Any]] | None = None
) -> tuple[T, ...]:
    """Return what the file shown.toml next to a `module` (its `__file__`) declares under `part`: Metrics, Tables or
    Pictures, one per TOML table, in the order of the file. `code` holds, by name, those of their fields that are
    functions.
    """
    return tuple(
        kind(
            name,
            **{field: tuple(value) if isinstance(value, list) else value for field, value in fields.items()},
            **(code or {}).get(name, {}),
        )
        for name, fields in sibling_toml(module, "shown.toml")[part].items()
    )


def words_of(module: str, part: str) -> Any:
    """Return `part` of the file words.toml next to a `module` (its `__file__`): a dict from values to their words, or a
    tuple of texts.
    """
    words = sibling_toml(module, "words.toml")[part]
    return tuple(words) if isinstance(words, list) else words


class Metric(NamedTuple):
    """How a figure is shown: its title, unit, format (as in Python), which direction is better, and its meaning in a
    sentence. `kind` is the type of its values, which determines its interval. `range` holds the smallest and the
    largest possible value, if they differ from those of the kind. `leads`: whether a list of runs shows it.
    """

    name: str
    title: str
    help: str
    kind: Kind
    unit: str = ""
    format: str = ".2f"
    better: Literal["higher", "lower", ""] = "higher"
    leads: bool = False
    is_mean: bool = False
    range: Range | None = None

    @property
    def ends(self) -> Range:
        """The smallest and the largest possible value."""
        return self.range or RANGES[self.kind]

    @property
    def title_of_several(self) -> str:
        """The title of a figure computed over several cases."""
        return f"{self.title}, median" if self.kind in MEDIAN else self.title

    def title_with(self, detail: Mapping[str, Any]) -> str:
        """Return the title of a score with that `detail` (`core.score.Score`), whether it is of one case or of
        several.
        """
        return self.title_of_several if detail.get("median_of") else self.title


class Cases(NamedTuple):
    """What to read about cases for a picture (`core.store.listing`): one row per case and metric in `metrics`, with
    extra columns.

    - `fields`: fields of the run's specification, a column each, as Python values.
    - `records`: columns by name. (record, field) is that field in the case's latest record of that type, as a Python
      value; if the field is '', the number of such records.
    - `held`: boolean fields of records, as (the record's name in the journal, the field). The column record_field is
      true if the field is true in every such record of the run, and null if there is none.
    - `observed`: adds a column of that name: how often each value was observed in the case's trials that count.
    - `newest` limits the number of cases, and leaves out cases that lack one of `records`.
    """

    metrics: tuple[str, ...]
    fields: tuple[str, ...] = ()
    records: Mapping[str, tuple[type[Frozen], str]] = {}
    held: tuple[tuple[str, str], ...] = ()
    observed: bool = False
    newest: int | None = None


class Picture(NamedTuple):
    """A picture of many cases, with its table and a sentence on what it shows.

    - `of` says what to read for it.
    - `table(frame, choice)` turns that into the table that is drawn, shown and downloaded. Its column `link` is the
      target of a mark (`core.charts.marks.link`). If it has no rows, there is nothing to draw. If it has a column
      `chosen`, the user may choose which of its rows (by `label`) are in colour.
    - `draw(table, choice, published)` returns the Plotly figure. `customdata[0]` of a mark is its `link`.
    - `code(table, choice, file)` returns the text of a Python program that draws the same from the table's CSV file of
      that name (`core.charts.printed`).
    - `takeaway(table, choice)` returns a sentence that is true of the table.
    - `choices` are the user's options, the first of which is the default; `published(choice)` returns the paper's
      figures that can be drawn behind ours.
    - `things` are what n counts; `baselines` says by choice what the marks are compared with (`core.charts.printed`).
    """

    name: str
    title: str
    caption: str
    of: Cases
    table: Callable[[Any, str], Any]
    draw: Callable[[Any, str, Sequence[Published]], Any]
    takeaway: Callable[[Any, str], str]
    code: Callable[[Any, str, str], str]
    choices: tuple[str, ...] = ("",)
    published: Callable[[str], Sequence[Published]] = lambda choice: ()
    things: str = "cases"
    baselines: Mapping[str, str] = {}


class Table(NamedTuple):
    """A table that a study file requests by its `kind`, for example one printed in the lab's paper.

    - `rows`, `columns`: one for each combination of the values of these fields: settings, FACETS, and columns added by
      `cases`. If there are several `metrics` (names in `metrics` or `for_tables`), each has its own column. Each value
      of `apart` gets its own table.
    - `cases(frame)` selects the rows of `core.studies.tables.measured` that the table is about, and may add columns.
    - `is_shared`: only items with a value in every cell count. `differences`: whether rows and columns are then also
      compared in pairs over the items that both have.
    - `their_rows`, `their_columns`: the keys that identify row and column of a figure printed in the paper. The figure
      must have these keys and those in `apart`, may have those in `besides`, and no others. `renamed` maps the paper's
      values to ours. `published(lab, metric)` returns those figures; for a comparison, `_gain` follows the metric's
      name.
    - `figures(frame)` yields the cells of a table that is built differently: `row`, `column`, `value`, `n`, `of`,
      `low`, `high`, `note`, `behind`. `of_people`: add rows to the frame for what people said about the cases, with the
      metrics GUESS and VERDICT (`core.studies.table_cells`).
    - `by_parser`: whether its figures depend on a parser.
    - `nothing` is the message if no case belongs in the table.
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
    by_parser: bool = True
    nothing: str = "No case of this study belongs here."


def of_cases(frame: Any, some: Any) -> Any:
    """Return the rows of `frame` (`core.studies.tables.measured`) about the same cases as the rows `some`."""
    keys = set(zip(some["run"], some["case"], strict=True))
    return frame[[place in keys for place in zip(frame["run"], frame["case"], strict=True)]]


def cell(row: str, column: str, part: Any, figure: Score | Interval, of: int, note: str | None) -> dict[str, Any]:
    """Return a cell of a study's table: a figure over `figure.n` of `of` things, made of the rows `part` of such a
    frame.
    """
    return {
        **{"row": row, "column": column, "value": figure.value, "low": figure.low, "high": figure.high},
        **{"n": figure.n, "of": of, "note": note, "complete": bool(part["complete"].all())},
        "behind": tuple(dict.fromkeys(zip(part["run"], part["case"], strict=True))),
    }


GUESS, VERDICT = "people: guess", "people: verdict on "
"""Metrics of people's predictions and verdicts, for tables of studies. VERDICT is a prefix of `Judgement.name`."""


class AlternativeReading(NamedTuple):
    """The figure of a case under other choices (by name), computed from the existing answers."""

    metric: str
    choices: Mapping[str, str]
    value: float | None


class CaseAnswers(NamedTuple):
    """What one case of a study was asked and answered, for figures that compare cases: its `model`, the number of its
    `cell` (runs with the same specification), whether its run is `complete`, and what the lab needs (`about`).
    """

    model: str
    cell: int
    complete: bool
    about: Any


Means = Literal["kept", "broken", "not settled", "in doubt", "set aside", "unread", "failed", "waiting"]
"""What an outcome means for the explanation, in every lab. "kept", "broken": consistent with it or not; "not settled":
not covered by the explanation, or no verdict; "in doubt": unclear; "set aside": excluded; "unread": the answer could
not be parsed.
"""


class Comparability(NamedTuple):
    """How the rows in a list of results are compared with each other. An outcome that means "kept" (`Report.outcomes`)
    has the value 1, one that means "broken" has 0; others have none.
    """

    means: str
    """What "kept" means here, in the past tense."""
    one: str = "test"
    """The word for a row."""
    whole: str = ""
    """The word for what several rows belong to, such as the starter question that their titles name; '' if a title
    names the row itself.
    """
    tail: str = ""
    """The part of a title after the last `tail` belongs to the explanation alone; '' if titles have no such part."""
    nameless: tuple[str, ...] = ()
    """Titles that identify nothing: two rows with the same such title need not be about the same thing."""
    guessed: bool = False
    """Whether "kept" means that the expected value was observed, so that a fixed guess has a rate too."""
    given: str = ""
    """The field of the specification in which a person can supply the tests themselves; '' if there is none."""


FACETS = {
    "how": "Method, explanation or interpreter",
    "task": "Task",
    "dataset": "Data set",
    "category": "Category",
    "difficulty": "Difficulty",
    "wording": "Wording",
}
"""Properties by which a lab may describe a case, so that results can be searched by them: name and title."""


class Detector(NamedTuple):
    """An automatic detector, called `name`, of whether a judgement's good word applies to a trial. It applies if in the
    trial's `record` the field `field` is true and the field `but` is not; `field` is null if nothing could be read.
    """

    name: str
    record: type[Frozen]
    field: str
    but: str


class Judgement(NamedTuple):
    """Something that a person can judge with one of two words, `good` or `bad`.

    `of`: which part of a trial's reading is judged, so that the labels measure how often its reader is right: the
    parser, or the model that the run asked as `role`. `whole`: the judgement is about the case, not its trials. `raw`:
    the role whose answer in a trial was read, so that a person can judge that answer without seeing the reading.
    `unread`: the word that a reading has if the answer could not be read, if it has one.

    If records of a trial decide instead of its reading, `detectors` name those who read it; the first one is always
    present. Then `text` is the record and field that a person sees instead of the whole answer, next to the trial's
    subject, and `trials` are those that a blind audit may sample.
    """

    name: str
    title: str
    good: str
    bad: str
    of: Literal["expected", "observed", ""] = ""
    role: str = ""
    whole: bool = False
    raw: str = ""
    unread: str = ""
    detectors: tuple[Detector, ...] = ()
    text: tuple[type[Frozen], str] | None = None
    trials: tuple[str, ...] = ()

    @property
    def is_audited(self) -> bool:
        """Whether a person can judge it without seeing what was read."""
        return bool(self.raw and (self.of or self.detectors))


READING = Judgement("reading", "How the answer was read", "right", "wrong", "observed")


# What people annotate: a lab names its tasks, each with instructions, options and perhaps a qualification test.


class AnnotationTexts(Frozen):
    """The words of a task, from `data/annotation/NAME.toml`. `options`: what people choose from, the words by value.
    `values`: the number of each option, if its answers are averaged. `instructions` is Markdown.
    """

    title: str
    about: str
    instructions: str
    question: str
    options: dict[str, str]
    values: dict[str, float] = Field(default_factory=dict)
    noun: str = "page"


class AnnotationQuestion(Frozen):
    """One thing to judge: a trial of a case, or the whole case if `trial` is ''. Questions with the same `key` are on
    one page. `shown` is what the page shows above them, as pairs of a label and a text; `text` is what is judged.
    Nobody gets two pages of one `group` with different `arm`, because one would give the other away.
    """

    key: str
    shown: tuple[tuple[str, str], ...]
    text: str = ""
    trial: str = ""
    group: str = ""
    arm: str = ""


class QualificationQuestion(NamedTuple):
    """A question of a qualification test, with its right option."""

    id: str
    shown: tuple[tuple[str, str], ...]
    right: str


class ReferenceAnswers(NamedTuple):
    """What people's answers are compared with: the run's own predictor or evaluator, who it is, and the actual
    answer. `case` is the part of the case that was judged, if it has several.
    """

    machine: str | None
    actual: str | None
    who: str = ""
    part: str = ""


class AnnotationTask:
    """A task for people. A subclass defines its questions."""

    name: str
    """Its name in files and on the command line; its words are in `data/annotation/NAME.toml`."""
    metric: str
    """The metric of its rows in tables of studies."""

    def questions(self, view: Any) -> Iterable[AnnotationQuestion]:
        """Yield the questions about a case. They never show an outcome. Raises NotImplementedError here; every task
        defines its own.
        """
        raise NotImplementedError

    def compared(self, view: Any, trial: str, rules: Rules) -> ReferenceAnswers | None:
        """Return what an answer about the trial is compared with; None if that trial is in no figure."""
        return ReferenceAnswers(None, None)

    def careful(self, view: Any, trial: str) -> str:
        """Return the option that a careful simulated person chooses. Raises NotImplementedError here; every task
        defines its own.
        """
        raise NotImplementedError

    def test(self) -> Sequence[QualificationQuestion]:
        """Return the qualification test; empty if there is none."""
        return ()

    def needed(self) -> int:
        """Return how many right answers pass the test."""
        return 0

    @cached_property
    def texts(self) -> AnnotationTexts:
        """The words of the task."""
        return AnnotationTexts.model_validate(table(f"annotation/{self.name}"))

    @property
    def options(self) -> Mapping[str, str]:
        """What people choose from, the words by value."""
        return self.texts.options
