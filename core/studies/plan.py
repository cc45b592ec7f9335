"""Reads a study: a TOML file becomes runs, each named by a hash of its content, and a small file says whether and how
fast they are to be made.

So a completed run is recognised by its name, wherever it was made, and resuming a study means making the other runs.
docs/commands.md describes the file.
"""

import difflib
import hashlib
import json
import math
import re
import tomllib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, fields
from functools import cached_property
from itertools import product
from pathlib import Path, PurePath
from typing import Annotated, Any, NamedTuple

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, ValidationError
from pydantic.dataclasses import dataclass as pydantic_dataclass

from ..datasets import own
from ..errors import ExplainError
from ..events import CallError, Frozen, Rules
from ..home import write
from ..labs.base.declared import FACETS
from ..labs.base.lab import Lab
from ..labs.base.spec import Spec
from ..models.settings import MOST_THINKING_ROOM, price_of
from ..runs import labels
from ..runs.context import complaints
from ..statistics.groups import grouped
from ..text.templates import NoPaperPromptError

# Controls a running study: a small file that anybody may write, and the process that runs the study reads.


MOST_AT_ONCE = 64


class DesiredState(Frozen):
    """`paused`: no further call is sent, and runs end once their calls are answered. `at_once` overrides how many runs
    the study's file makes at a time; None leaves that as it is.
    """

    paused: bool = False
    at_once: Annotated[int, Field(ge=1, le=MOST_AT_ONCE)] | None = None


def wanted(home: Path, name: str) -> DesiredState:
    """The desired state of the study of that name; the defaults if its file is missing or unreadable."""
    try:
        return DesiredState.model_validate_json(_file(home, name).read_bytes())
    except (OSError, ValidationError):
        return DesiredState()


def want(home: Path, name: str, **changes: object) -> DesiredState:
    """Change some fields of the desired state. The change is atomic: a reader sees the old or the new file.

    Raises pydantic.ValidationError, and OSError if the file cannot be written.
    """
    now = DesiredState.model_validate({**wanted(home, name).model_dump(), **changes})
    write(_file(home, name), now.model_dump_json().encode())
    return now


def _file(home: Path, name: str) -> Path:
    return home / "studies" / f"{name}.json"


Key = tuple[str | int, ...]
"""A position in the file: names of tables and settings, and indices in arrays of tables."""


LARGEST = 256_000
"""The most bytes of a study's file."""

MOST_RUNS = 10_000
"""The most runs of one study, before exclusions."""

MOST_EXCLUDED = 500
"""The most points, or kinds of points, that one part may exclude."""

_DEEPEST = 1_000
"""The most dots between two equals signs or line ends: parsing a dotted key takes time by the square of its length."""


class StudyError(ExplainError, ValueError):
    """A study's file that cannot be used; the message names file, line and setting."""


class NeedsPromptsError(StudyError):
    """A study of that title needs the papers' prompts, and one of them is missing."""

    def __init__(self, message: str, title: str) -> None:
        super().__init__(message)
        self.title = title


class _Strict(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class _Part(_Strict):
    lab: str
    spec: dict[str, Any] = {}
    grid: dict[str, Annotated[list[Any], Field(min_length=1)]] = {}
    exclude: Annotated[list[dict[str, Any]], Field(max_length=MOST_EXCLUDED)] = []


EXTRA = "extra."
"""Begins the name of a column of a person's own file in a table."""

LABEL_PREFIX = "label."
"""Begins the name of a label scheme of people's own in a table."""


class TableOf(_Strict):
    """What a table shows: a row and a column for each combination of the values of those fields, which are settings of
    the runs, of core.labs.base.declared.FACETS, columns of a person's own file ("extra.domain"), or people's labels
    under a scheme of their own ("label.reason"). Without `metrics`, the lab's leading metrics. `kind` is a table that
    the lab knows by name (core.labs.base.declared.Table), such as one of its paper's, which has its own rows, columns
    and metrics.
    """

    kind: str = ""
    title: str = ""
    lab: str = ""
    rows: tuple[str, ...] = ("model",)
    columns: tuple[str, ...] = ()
    metrics: tuple[str, ...] = ()


Share = Annotated[float, Field(ge=0, le=1)]


class ClusterOf(_Strict):
    """The request to SLURM: `jobs` jobs of `cpus` processors and `memory` each, for at most `walltime`, each with
    `at_once` runs at a time. At most `in_hand` runs are given to workers; if it is not set, twice as many as run at
    a time. `directives` are further lines for #SBATCH, `setup` shell lines to run before a worker starts, `python`
    is the interpreter there, and `interface` the network by which workers and this machine reach each other.
    """

    jobs: Annotated[int, Field(ge=1)] = 1
    at_once: Annotated[int, Field(ge=1)] = 1
    in_hand: Annotated[int, Field(ge=1)] | None = None
    cpus: Annotated[int, Field(ge=1)] = 1
    memory: Annotated[str, Field(pattern=r"^\d+(\.\d+)? ?[KMGT]i?B$")] = "4GB"
    walltime: str = "04:00:00"
    queue: str | None = None
    account: str | None = None
    directives: tuple[str, ...] = ()
    setup: tuple[str, ...] = ()
    python: str = ""
    interface: str | None = None


@dataclass(frozen=True, kw_only=True)
class _Settings:
    """The settings of a study's file that apply to the whole study.

    `at_once` runs are made at a time. `budget_calls` and `budget_money` (US dollars), if set, limit all calls of models
    together. `width` is the wanted width of an interval, `power` the probability of detecting a difference, between two
    `rates` if these are stated. With `stop_width` a cell ends as soon as the always-valid interval of its headline
    figure is that narrow, which moves its mean away from one half by up to a tenth of that width
    (`core.studies.run_status`). The tables are by the parser `rules`. `cluster` is the request to SLURM.
    `thinking_room` are the tokens that models behind endpoints get for thinking, by id; for other models, what was
    learned about them applies.
    """

    at_once: Annotated[int, Field(ge=1, le=MOST_AT_ONCE)] = 4
    budget_calls: Annotated[int, Field(ge=1)] | None = None
    budget_money: Annotated[float, Field(gt=0)] | None = None
    width: Annotated[float, Field(gt=0, lt=1)] | None = None
    power: Annotated[float, Field(gt=0, lt=1)] | None = None
    rates: tuple[Share, Share] | None = None
    stop_width: Annotated[float, Field(gt=0, lt=1)] | None = None
    rules: Rules = "repaired"
    cluster: ClusterOf | None = None
    thinking_room: dict[str, Annotated[int, Field(ge=0, le=MOST_THINKING_ROOM)]] = field(default_factory=dict)


@pydantic_dataclass(frozen=True, kw_only=True, config=ConfigDict(extra="forbid"))
class _File(_Settings):
    part: Annotated[list[_Part], Field(min_length=1)]
    name: Annotated[str, Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9_-]{0,59}$")] = ""
    title: str = ""
    about: str = ""
    table: list[TableOf] = field(default_factory=list)


_FILE = TypeAdapter(_File)


class Planned(NamedTuple):
    """One run of a study: its name, its lab, and its specification."""

    id: str
    lab: Lab
    spec: Spec


@dataclass(frozen=True, kw_only=True)
class Study(_Settings):
    """A study as read from its file. `controls` come first, and show whether the instrument measures correctly; `runs`
    are the others. `data`: the digest of each data file of one's own, by data set.
    """

    name: str
    title: str
    about: str
    controls: tuple[Planned, ...]
    runs: tuple[Planned, ...]
    tables: tuple[TableOf, ...]
    data: Mapping[str, str] = field(default_factory=dict)

    @property
    def all(self) -> tuple[Planned, ...]:
        """Every run, those of the controls first."""
        return *self.controls, *self.runs

    @cached_property
    def cells(self) -> tuple[tuple[Planned, ...], ...]:
        """The runs, with the shards of one specification together, in order."""
        cells = grouped(((run.lab.name, run.spec.whole), run) for run in self.runs)
        return tuple(map(tuple, cells.values()))

    def stop_width_of(self, run: Planned) -> float | None:
        """The width of its cell's interval at which that run stops; None if it does not stop early, as for controls."""
        return None if run in self.controls else self.stop_width

    @property
    def changed(self) -> list[str]:
        """The data files whose content has changed since the study was read."""
        return [name for name, digest in self.data.items() if own.digest(name) != digest]


def run_id(lab: Lab, spec: Spec, prompts: Mapping[str, str] | None = None) -> str:
    """The run's name: a hash of only the lab, the specification, the prompts, and the content of a data file of one's
    own, whatever its path. `prompts` are the lab's for the specification, if they are already known.
    """
    made: dict[str, Any] = spec.model_dump(mode="json")
    content = {"lab": lab.name, "spec": made, "prompts": prompts or lab.prompts(spec)}
    dataset = dataset_of(spec)
    if held := own.digest(dataset):
        content["data"] = held
        # The end of the name says how the file is parsed.
        if "title" in made:
            made["title"] = str(made["title"]).removeprefix(dataset.removeprefix("file:"))
        made["dataset"] = f"file:{PurePath(dataset).suffix.lower()}"
    text = json.dumps(content, sort_keys=True, ensure_ascii=False)
    return f"study-{lab.name}-{hashlib.sha256(text.encode()).hexdigest()[:16]}"


def dataset_of(spec: Spec) -> str:
    """The data set that a run is about; an empty string if it has none."""
    return str(getattr(spec, "dataset", ""))


def read(path: Path, labs: Mapping[str, Lab]) -> Study:
    """The study that a file describes. Raises StudyError."""
    try:
        with path.open("rb") as file:
            content = file.read(LARGEST + 1)
    except OSError as error:
        raise StudyError(f"{path} cannot be read: {error.strerror or error}.") from None
    return parse(path.name, content, labs)


def parse(name: str, content: bytes, labs: Mapping[str, Lab]) -> Study:
    """The study that a file with this name and content describes, no matter who wrote it. Raises StudyError."""
    if len(content) > LARGEST:
        raise StudyError(f"{name} is larger than {LARGEST // 1000} kB, which is too large for a study.")
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = content[: error.start].count(b"\n") + 1
        raise StudyError(f"{name}, line {line}: this is not UTF-8 text.") from None
    if any(part.count(".") > _DEEPEST for part in re.split(r"[=\n]", text)):
        raise StudyError(f"{name}: its keys are nested too deeply.")
    try:
        return _Reader(name, text, labs).study(Path(name).stem)
    except RecursionError:
        raise StudyError(f"{name}: its values are nested too deeply.") from None


def unpriced(study: Study) -> list[str]:
    """The models whose prices are not in data/models.toml."""
    models = {model for run in study.all for model in run.spec.models}
    return sorted(model for model in models if price_of(model) is None)


_NO_SUCH = "a study has no such setting."
_WORDS = {"extra_forbidden": _NO_SUCH, "unexpected_keyword_argument": _NO_SUCH, "missing": "this has to be there."}
"""Our own words for kinds of errors that pydantic describes badly."""


class _Reader:
    """Reads one file, and knows the line of each setting."""

    def __init__(self, file: str, text: str, labs: Mapping[str, Lab]) -> None:
        self.file = file
        self.text = text
        self.labs = {**labs, **{lab.path: lab for lab in labs.values()}}
        try:
            data = tomllib.loads(text)
        except ValueError as error:
            # A number with thousands of digits raises a ValueError too.
            raise StudyError(f"{file}: this is not TOML: {error}.") from None
        self.is_one = "part" not in data
        if self.is_one:
            # A study with one part needs no heading for it.
            data["part"] = [{name: data.pop(name) for name in _Part.model_fields if name in data}]
        try:
            self.data = _FILE.validate_python(data)
        except ValidationError as error:
            first = error.errors()[0]
            raise self.fault(first["loc"], _WORDS.get(first["type"], f"{first['msg']}.")) from None

    def study(self, stem: str) -> Study:
        runs: dict[str, Planned] = {}
        controls: dict[str, Planned] = {}
        points = sum(math.prod(map(len, part.grid.values())) for part in self.data.part)
        if points > MOST_RUNS:
            raise self.fault((), f"its grid makes more than {MOST_RUNS:,} runs, the limit of a study.")
        for number, part in enumerate(self.data.part):
            lab = self.lab(part.lab, ("part", number, "lab"))
            for spec in self.specs(part, lab, ("part", number)):
                prompts = lab.prompts(spec)
                for shard in spec.shards():
                    planned = Planned(run_id(lab, shard, prompts), lab, shard)
                    runs.setdefault(planned.id, planned)
                for control in lab.robots.calibration(spec):
                    of_control = Planned(run_id(lab, control), lab, control)
                    controls.setdefault(of_control.id, of_control)
        if len(runs) > MOST_RUNS:
            raise self.fault((), f"its items take {len(runs):,} runs; a study has {MOST_RUNS:,} at most.")
        used = {run.lab.name: run.lab for run in runs.values()}
        for number, table in enumerate(self.data.table):
            self.check_table(table, used, ("table", number))
        for lab in used.values() if self.data.stop_width else ():
            if not lab.metric(lab.headline).is_mean:
                words = f"{lab.title} cannot stop early: {lab.metric(lab.headline).title} is no mean of shares."
                raise self.fault(("stop_width",), words)
        return Study(
            name=self.data.name or stem,
            title=self.data.title or self.data.name or stem,
            about=self.data.about,
            controls=tuple(run for id, run in controls.items() if id not in runs),
            runs=tuple(runs.values()),
            tables=tuple(self.data.table),
            data={name: own.digest(name) for run in runs.values() if own.is_own(name := dataset_of(run.spec))},
            **{setting.name: getattr(self.data, setting.name) for setting in fields(_Settings)},
        )

    def lab(self, name: str, key: Key) -> Lab:
        if name not in self.labs:
            known = [lab.path for lab in self.labs.values() if not lab.hidden]
            raise self.fault(key, f"there is no lab {name!r}. {_near(name, dict.fromkeys(known))}")
        return self.labs[name]

    def specs(self, part: _Part, lab: Lab, key: Key) -> Iterator[Spec]:
        """The specifications of a grid, in the order of its axes, the last changing fastest."""
        # An axis whose values are tables sets several settings at the same time.
        axes = [
            [(value if isinstance(value, dict) else {axis: value}) for value in values]
            for axis, values in part.grid.items()
        ]
        where: dict[str, Key] = {name: (*key, "spec", name) for name in part.spec}
        for axis, points in zip(part.grid, axes, strict=True):
            where |= {name: (*key, "grid", axis) for point in points for name in point}
        for name, place in where.items():
            if name not in lab.spec.model_fields:
                near = _near(name, lab.spec.model_fields)
                raise self.fault(place, f"{lab.title} has no setting {name!r}. {near}")
        varied = {name for points in axes for point in points for name in point}
        left_out = [0] * len(part.exclude)
        for number, excluded in enumerate(part.exclude):
            for name in excluded:
                if name not in varied:
                    place = (*key, "exclude", number, name)
                    raise self.fault(place, f"{name!r} is not in the grid. {_near(name, varied)}")
        for combined in product(*axes):
            point = {name: value for axis in combined for name, value in axis.items()}
            matching = [number for number, excluded in enumerate(part.exclude) if _matches(point, excluded)]
            for number in matching:
                left_out[number] += 1
            if not matching:
                yield self.spec(lab, {**part.spec, **point}, where, key)
        for number, count in enumerate(left_out):
            if not count:
                raise self.fault((*key, "exclude", number), "it excludes nothing: no point has these values.")

    def spec(self, lab: Lab, fields: dict[str, Any], where: Mapping[str, Key], key: Key) -> Spec:
        try:
            spec = lab.spec.model_validate(fields)
            lab.prompts(spec)
        except ValidationError as error:
            loc = error.errors()[0]["loc"]
            place = where.get(str(loc[0]), key) if loc else key
            raise self.fault(place, f"{complaints(error)[0]} ({_shown(fields)})") from None
        except (CallError, ValueError) as error:
            fault = self.fault(where.get("prompts", key), str(error))
            if isinstance(error, NoPaperPromptError):
                fault = NeedsPromptsError(str(fault), self.data.title or self.file.removesuffix(".toml"))
            raise fault from None
        return spec

    def check_table(self, table: TableOf, used: Mapping[str, Lab], key: Key) -> None:
        labs = [self.lab(table.lab, (*key, "lab"))] if table.lab else list(used.values())
        if table.kind:
            kinds = {declared.kind for lab in labs for declared in lab.studies.tables}
            if table.kind not in kinds:
                raise self.fault((*key, "kind"), f"there is no table {table.kind!r}. {_near(table.kind, kinds)}")
            for name in {"rows", "columns", "metrics"} & table.model_fields_set:
                raise self.fault((*key, name), f"the table {table.kind} has {name} of its own.")
            return
        fields = {name for lab in labs for name in lab.spec.model_fields} | FACETS.keys()
        metrics = {name for lab in labs for name in (*(one.name for one in lab.metrics), *lab.studies.across)}
        for kind, names, known in (
            ("rows", table.rows, fields),
            ("columns", table.columns, fields),
            ("metrics", table.metrics, metrics),
        ):
            for name in names:
                if name not in known and (kind == "metrics" or not name.startswith((EXTRA, LABEL_PREFIX))):
                    raise self.fault((*key, kind), f"there is no {name!r} to show. {_near(name, known)}")
                if name.startswith(LABEL_PREFIX) and name not in known:
                    self.check_scheme(name.removeprefix(LABEL_PREFIX), (*key, kind))

    def check_scheme(self, name: str, key: Key) -> None:
        """Refuse a label scheme that is not among those of this home. Any is taken if the home has none, because labels
        may come with imported runs.
        """
        try:
            schemes = {scheme.name for scheme in labels.schemes()}
        except ExplainError as error:
            raise self.fault(key, str(error)) from None
        if schemes and name not in schemes:
            raise self.fault(
                key,
                f"there is no label scheme {name!r} in {labels.path().name}. {_near(name, schemes)} Correct the name, "
                "or add the scheme (Browse, an open case, Label schemes).",
            )

    def fault(self, key: Key, words: str) -> StudyError:
        """The error for the setting at `key`."""
        shown = key[2:] if self.is_one and key[:1] == ("part",) else key
        named = ".".join(str(part + 1) if isinstance(part, int) else part for part in shown)
        return StudyError(f"{self.file}, line {line_of(self.text, shown)}{f', {named}' if named else ''}: {words}")


_HEADING = re.compile(r"\s*(\[\[?)([^\[\]]+)\]")


def line_of(text: str, key: Key) -> int:
    """The line, from 1, of a setting in a TOML file; else of the setting or table heading around it; else 1."""
    table: Key | None = ()
    counts: dict[tuple[str, ...], int] = {}
    wanted = tuple(part for part in key if isinstance(part, str))
    best, at = 0, 1
    for number, line in enumerate(text.splitlines(), start=1):
        if heading := _HEADING.match(line):
            names = tuple(part.strip().strip("\"'") for part in heading[2].split("."))
            if names != wanted[: len(names)]:
                # The setting is not in this table.
                table = None
                continue
            if heading[1] == "[[":
                counts[names] = counts.get(names, -1) + 1
                counts = {known: n for known, n in counts.items() if known == names or known[: len(names)] != names}
            table = ()
            for depth, name in enumerate(names, start=1):
                table += (name, counts[names[:depth]]) if names[:depth] in counts else (name,)
            here = table
        elif table is None:
            continue
        else:
            here = (*table, line.partition("=")[0].strip().strip("\"'")) if "=" in line else ()
        if here and len(here) > best and key[: len(here)] == here:
            best, at = len(here), number
    return at


def _matches(point: Mapping[str, Any], excluded: Mapping[str, Any]) -> bool:
    """Whether the point has all these values, or one of each list of values."""
    return all(
        name in point and (point[name] == value or (isinstance(value, list) and point[name] in value))
        for name, value in excluded.items()
    )


def _near(name: str, known: Iterable[str]) -> str:
    names = sorted(known)
    near = difflib.get_close_matches(name, names, n=1)
    return f"Did you mean {near[0]}?" if near else f"There are: {', '.join(names)}."


def _shown(fields: Mapping[str, Any]) -> str:
    return ", ".join(f"{name} = {str(value)[:40]}" for name, value in fields.items())
