"""How the outcome of runs is shown, compared and judged."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Literal, NamedTuple, TypeVar

from ...events import Frozen
from ...package_data import beside
from ...paper_figures import Published, published
from ...statistics import MEDIAN, RANGES, Kind, Range

T = TypeVar("T")


def declared(
    module: str, part: str, kind: Callable[..., T], code: Mapping[str, Mapping[str, Any]] | None = None
) -> tuple[T, ...]:
    """What the file shown.toml beside a `module` (its `__file__`) declares under `part`, a table each: Metrics, Tables
    or Pictures by their names, in its order. `code` holds by name those of their fields that are functions.
    """
    return tuple(
        kind(
            name,
            **{field: tuple(value) if isinstance(value, list) else value for field, value in fields.items()},
            **(code or {}).get(name, {}),
        )
        for name, fields in beside(module, "shown.toml")[part].items()
    )


def words_of(module: str, part: str) -> Any:
    """What the file words.toml beside a `module` (its `__file__`) has as `part`: words by what they stand for, as a
    dict, or several texts, as a tuple.
    """
    words = beside(module, "words.toml")[part]
    return tuple(words) if isinstance(words, list) else words


class Metric(NamedTuple):
    """How a figure is shown: what it is called, in which unit and format (as Python's), which way is better, and what
    it means in a sentence. `kind` says what its values are, and with that how their interval is made; `range` is the
    least and the greatest value that it can have, where that is not the kind's. `leads`: whether it is one of the
    figures that a list of runs shows.
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
        """The least and the greatest value that it can have."""
        return self.range or RANGES[self.kind]

    @property
    def title_of_several(self) -> str:
        """What it is called where it is one figure for several cases."""
        return f"{self.title}, median" if self.kind in MEDIAN else self.title

    def title_with(self, detail: Mapping[str, Any]) -> str:
        """What a score with that `detail` (`core.score.Score`) is called, of one case or of several."""
        return self.title_of_several if detail.get("median_of") else self.title


class Cases(NamedTuple):
    """What is read of cases for a picture (`core.store.listing`): a row for each of `metrics` of a case, with columns
    beside it.

    - `fields`: a column for each of these fields of the run's specification, as a Python value.
    - `records`: columns by name. (record, field) is the field in the case's latest record of that type (JSON as a
      Python value); where the field is '', how many such records there are.
    - `held`: fields of records that are true or false, as (the record's name in the journal, the field). The column
      record_field says whether it is true wherever the run recorded it, null where it never did.
    - `observed`: a column of that name, how often each value was observed in the case's trials that count, by value.
    - `newest` limits the cases, and leaves out those without one of `records`.
    """

    metrics: tuple[str, ...]
    fields: tuple[str, ...] = ()
    records: Mapping[str, tuple[type[Frozen], str]] = {}
    held: tuple[tuple[str, str], ...] = ()
    observed: bool = False
    newest: int | None = None


class Picture(NamedTuple):
    """A picture of many cases, with its table and a sentence on what it shows.

    - `of` says what is read for it.
    - `table(frame, choice)` makes of that what is drawn, which is also what the table shows and a download holds; its
      column `link` is what a mark leads to (`core.charts.marks.link`). Without rows there is nothing to draw. Where it
      has a column `chosen`, the reader may choose which of its rows (by `label`) are in colour.
    - `draw(table, choice, published)` gives the Plotly figure. A mark's `customdata[0]` is its `link`.
    - `takeaway(table, choice)` is a sentence that is true of the table.
    - `choices` are what the reader may choose among, the first at first; `published(choice)` the paper's figures that
      may be laid under ours.
    """

    name: str
    title: str
    caption: str
    of: Cases
    table: Callable[[Any, str], Any]
    draw: Callable[[Any, str, Sequence[Published]], Any]
    takeaway: Callable[[Any, str], str]
    choices: tuple[str, ...] = ("",)
    published: Callable[[str], Sequence[Published]] = lambda choice: ()


class Table(NamedTuple):
    """A table that a study's file asks for by its `kind`, such as one that the lab's paper prints.

    - `rows`, `columns`: one for each combination of the values of these fields: settings, FACETS, and what `cases`
      adds. Several `metrics` (of `metrics` or `for_tables`) have a column each. Each value of `apart` has a table.
    - `cases(frame)` keeps what of `core.studies.tables.measured` the table is about, and may add columns.
    - `is_shared`: only items count that have a value in every cell. `differences`: whether rows and columns are then
      compared two by two over the items that both have.
    - `their_rows`, `their_columns`: the keys that name row and column of a figure that the paper printed. It must have
      these and those of `apart`, may have those `besides`, and no other. `renamed`: what the paper's values are called
      here. `published(lab, metric)` gives those figures; those of a comparison have `_gain` after the metric's name.
    - `figures(frame)` makes the cells of a table of another make: `row`, `column`, `value`, `n`, `of`, `low`, `high`,
      `note`, `behind`. `of_people`: whether the frame is to have what people said of the cases too, in rows of the
      metrics GUESS and VERDICT (`core.studies.human`).
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


def of_cases(frame: Any, some: Any) -> Any:
    """The rows of `frame` (`core.studies.tables.measured`) about the cases that `some` of its rows are about."""
    keys = set(zip(some["run"], some["case"], strict=True))
    return frame[[place in keys for place in zip(frame["run"], frame["case"], strict=True)]]


GUESS, VERDICT = "people: guess", "people: verdict on "
"""Metrics of what people said, for tables of studies; after the second stands what is judged (`Judgement.name`)."""


class Otherwise(NamedTuple):
    """What a case's figure would have been under other choices (`made`, by name), from the answers that there are."""

    metric: str
    made: Mapping[str, str]
    value: float | None


Means = Literal["kept", "broken", "not settled", "in doubt", "set aside", "unread", "failed", "waiting"]
"""What an outcome means for the explanation, in every lab: it was kept or broken; that is not settled, or in doubt; the
case or trial does not count, or its answer was not read; it failed, or has yet to come.
"""


class Judged(NamedTuple):
    """How what a list of results has a row for is compared with others of its kind.

    - An outcome in which the explanation was kept (`Lab.outcomes`) has the value 1, one in which it was broken 0; any
      other has none. `means` says what a kept one means, in the past tense.
    - `one` is what a row is called; `whole` what several of them belong to, such as the starter question, which their
      cases' titles name; '' where a title names the row itself. After the last `tail` of a title stands what belongs to
      the explanation alone; '' where nothing does.
    - `nameless` are titles that tell nothing from others, so that two of them need not be the same.
    - `guessed`: the explanation is kept where what was expected was observed, so that a fixed guess has a rate too.
    - `given`: the field of the specification in which the rows' tests themselves can be given, '' where there is none.
    """

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


class Detector(NamedTuple):
    """Who reads automatically whether the good word of a judgement holds of a trial, by name: it holds where a `record`
    there has a true `field`, null where it was not read, and its field `but` is not true.
    """

    name: str
    record: type[Frozen]
    field: str
    but: str


class Judgement(NamedTuple):
    """What a person may pass a verdict on, in one of two words, the `good` one or the `bad` one. `of`: which reading of
    a trial it is about, so that the verdicts tell how often its reader is right: the rules, or the model that
    the run asked as `role`. `whole`: it is about the case, and not about its trials. `raw`: the role whose answer in a
    trial is what was read, so that it can be judged without the reading; `unread` is what the reading of one is that
    could not be read, where it is a word.

    Where no reading of a trial tells, but records of it, `detectors` are who read it, the first of them everywhere.
    `text` is then the record and field that a person sees in place of the whole answer, beside what the trial is about;
    `trials` are those that can be drawn for a blind audit.
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
        """Whether it can be judged without sight of what was read."""
        return bool(self.raw and (self.of or self.detectors))


READING = Judgement("reading", "How the answer was read", "right", "wrong", "observed")
