"""All known data sets by name: source, licence, files, loader and download addresses; and the part of a specification
that selects items from one.
"""

import difflib
import os
from collections.abc import Callable
from functools import cache, partial
from pathlib import Path
from threading import Lock
from typing import Annotated, Any, ClassVar, NamedTuple, Self

from pydantic import Field, model_validator

from .. import files, package_data
from ..events import CallError
from ..home import home
from ..labs.base.spec import MOST_CASES, Spec
from ..policy import NotAllowedError
from . import loaders, own
from .items import NOT_UTF8, DatasetError, Item, LeftOut, Loaded, Read, Split, Task, left_out_words, loaded_record

# The download addresses of each data set (`sources.toml`), and whether it is already here.


UNKNOWN = "unknown: recorded at the first download"
"""Shown in place of a size or digest that could not be computed from the official file."""


class SourceFile(NamedTuple):
    """One file to download. For an archive, `keep` lists the endings of the member paths to keep; any other file is
    saved as `to`. `bytes` and `sha256` were computed from the official file.
    """

    url: str
    to: str = ""
    keep: tuple[str, ...] = ()
    bytes: int | None = None
    sha256: str | None = None


class Source(NamedTuple):
    """The source of a download. `datasets` are the data sets of the registry that its files contain; `address` says how
    the addresses are known, `tried` whether they were tested.
    """

    name: str
    title: str
    datasets: tuple[str, ...]
    page: str
    licence: str
    address: str
    files: tuple[SourceFile, ...]
    tried: bool = False
    note: str = ""

    @property
    def folder(self) -> Path:
        """The folder where the loaders look for it. Raises DataDirError."""
        return home() / "datasets" / self.name

    @property
    def is_here(self) -> bool:
        """Whether the folder exists."""
        return self.folder.exists()

    @property
    def about_address(self) -> str:
        """How far the addresses can be relied on, in a few words."""
        return self.address if self.tried else f"{self.address}; not verified"


@cache
def sources() -> tuple[Source, ...]:
    """Return all sources, in the order of the file."""
    licences = {row["name"]: row["licence"] for row in package_data.table("datasets")["dataset"]}
    return tuple(_source(entry, licences) for entry in package_data.sibling_toml(__file__, "sources.toml")["source"])


def source_of(dataset: str) -> Source | None:
    """Return the source of the data set called `dataset` in the registry; None if there is none."""
    return next((source for source in sources() if dataset in source.datasets), None)


def mirrored(source: Source, file: SourceFile) -> str:
    """Return the address to use: `<mirror>/<name of the source>/<name of the file>` if $EXPLAIN_DATA_MIRROR is set; for
    files on the hub, the address on $HF_ENDPOINT; otherwise the official one.
    """
    hub = "https://huggingface.co/"
    if mirror := os.environ.get("EXPLAIN_DATA_MIRROR", "").rstrip("/"):
        return f"{mirror}/{source.name}/{file.to or file.url.rpartition('/')[2]}"
    if file.url.startswith(hub) and (endpoint := os.environ.get("HF_ENDPOINT", "").rstrip("/")):
        return f"{endpoint}/{file.url.removeprefix(hub)}"
    return file.url


def _source(entry: dict[str, Any], licences: dict[str, str]) -> Source:
    files: list[SourceFile] = []
    for given in entry["file"]:
        keep = tuple(given.get("keep", ()))
        for each in given.get("each", [""]):
            url, to = given["url"].replace("{each}", each), given.get("to", "").replace("{each}", each)
            files.append(SourceFile(url, to, keep, given.get("bytes"), given.get("sha256")))
    about = {name: value for name, value in entry.items() if name != "file"}
    licence = entry.get("licence") or licences[entry["datasets"][0]]
    return Source(**{**about, "licence": licence, "datasets": tuple(entry["datasets"]), "files": tuple(files)})


class Dataset(NamedTuple):
    """A data set: what the Methods page says about it, and its loader."""

    name: str
    title: str
    task: Task
    source: str
    licence: str
    layout: str
    read: Callable[[Path, Split | None], Read]
    file: Path | None = None
    """The file whose code makes the items, for a data set of an extension."""


_READERS: dict[str, Callable[[Path, Split | None], Read]] = {
    "imdb": loaders.read_imdb,
    "sst-2": loaders.read_sst2,
    **{f"babi-{number}": partial(loaders.read_babi, number=number) for number in (1, 2, 3)},
    "mctest": loaders.read_mctest,
    "rte": loaders.read_rte,
    "strategyqa": loaders.read_strategyqa,
    "shp": loaders.read_shp,
    "world": loaders.read_strategyqa,
}

DATASETS = package_data.rows("datasets", "dataset", lambda **about: Dataset(**about, read=_READERS[about["name"]]))

_SHIPPED = package_data.DATA / "questions"

_OTHER_NAMES = {"babi": "babi-1", "aclimdb": "imdb"}


def add(dataset: Dataset) -> None:
    """Add a data set, in place of one that was added under the same name. Raises DatasetError for the name of a data
    set that comes with the app.
    """
    global DATASETS
    if _folded(dataset.name) in {_folded(one.name) for one in DATASETS if one.file is None}:
        raise DatasetError(f"There is a data set called {dataset.name} already. Choose another name.")
    DATASETS = (*(one for one in DATASETS if one.name != dataset.name), dataset)


def ships(name: str) -> bool:
    """Whether the data set is shipped with the app."""
    return (_SHIPPED / f"{name}.json").is_file()


def is_here(name: str) -> bool:
    """Whether something exists where the data set is looked for. Raises DatasetError for an unknown data set."""
    return _place(find(name).name).exists()


def describe() -> list[dict[str, str]]:
    """Return one row per data set: name, title, task, source, licence, layout."""
    return [{field: str(value) for field, value in row._asdict().items() if field != "read"} for row in DATASETS]


def find(name: str) -> Dataset:
    """Return the data set called `name`, ignoring case, hyphens and underscores. Raises DatasetError, suggesting
    similar names.
    """
    wanted = _folded(_OTHER_NAMES.get(_folded(name), name))
    for dataset in DATASETS:
        if _folded(dataset.name) == wanted:
            return dataset
    names = [dataset.name for dataset in DATASETS]
    near = difflib.get_close_matches(name.lower(), names, n=1)
    hint = f"Did you mean {near[0]}? " if near else ""
    raise DatasetError(f"there is no dataset called “{name}”. {hint}Available: {', '.join(names)}")


def read(
    name: str, path: str | Path | None, split: Split | None, limit: int | None, seed: int | None
) -> tuple[list[Item], Loaded]:
    """Return at most `limit` items of a data set, in an order that depends only on `seed` (file order for None), and
    the record of what it contained.

    `path` is a file, which is read whole, or a folder; the default is $EXPLAIN_HOME/datasets/<name>. Without `split`,
    the first available of test, valid and train is read. A broken row is left out alone. Raises DatasetError.
    """
    dataset = find(name)
    try:
        place = files.resolve_named(path) if path is not None else _place(dataset.name)
    except (files.FileError, NotAllowedError) as error:
        raise DatasetError(str(error)) from None
    if not place.exists():
        raise DatasetError(
            f"{dataset.title}: there is nothing at {path or place}. {_where_from(dataset)}"
            f"Expected there: {dataset.layout}"
        )
    rows = _rows(dataset, place, split)
    items = require_items(rows, f"{dataset.title}: {place}")
    return (items if seed is None else _shuffled(items, seed))[:limit], loaded_record(dataset.name, len(items), rows)


class _Held(NamedTuple):
    """The content of a data set, and the state of its files and folders when they were read."""

    rows: Read
    stamps: dict[Path, tuple[int, int]]


_MOST_HELD = 8
"""Maximum number of data sets held in memory."""

_held: dict[tuple[str, Path, Split | None], _Held] = {}
_reading = Lock()


def _rows(dataset: Dataset, place: Path, split: Split | None) -> Read:
    """Return the current content of the data set. The runs of a study ask for it again and again, many concurrently, so
    its files are read only once, until one of them changes.
    """
    key = dataset.name, place, split
    with _reading:
        held = _held.pop(key, None)
        if held is None or any(files.stamp(path) != before for path, before in held.stamps.items()):
            with loaders.noted({place: files.stamp(place)}) as stamps:
                held = _Held(dataset.read(place, split), stamps)
        _held[key] = held
        while len(_held) > _MOST_HELD:
            del _held[next(iter(_held))]
        return held.rows


def require_items(rows: Read, where: str) -> list[Item]:
    """Return the items among the rows. Raises DatasetError if there are none."""
    items = [row for row in rows if isinstance(row, Item)]
    if not items:
        first = next((row.detail for row in rows if isinstance(row, LeftOut) and row.detail), "")
        left_out = loaded_record("", 0, rows).left_out
        why = [left_out_words(left_out, 0)] if left_out else []
        hint = ". Save it as UTF-8, or upload it in the form" if first.endswith(NOT_UTF8) else ""
        raise DatasetError(" ".join([f"{where} holds no items.", *why, first]).rstrip(" .") + hint)
    return items


def _where_from(dataset: Dataset) -> str:
    source = source_of(dataset.name)
    command = f"{package_data.COMMAND} data get {source.name}" if source else ""
    return f"{f'Download it with “{command}”, or' if command else 'Get it'} from {dataset.source}. "


def _folded(name: str) -> str:
    return name.lower().replace("-", "").replace("_", "").replace(" ", "")


def _place(name: str) -> Path:
    """Return $EXPLAIN_HOME/datasets/<name>; if it does not exist, the shipped file or the folder of the data set's
    family, such as babi.
    """
    if (file := find(name).file) is not None:
        return file
    folder = home() / "datasets"
    places = [
        *(folder / name, folder / _folded(name)),
        *(_SHIPPED / f"{name}.json", folder / name.partition("-")[0]),
    ]
    return next((place for place in places if place.exists()), places[0])


def _shuffled(items: list[Item], seed: int) -> list[Item]:
    """Shuffle by NumPy's permutation, like the authors' `shuffle(seed)` (dataset/_abstract_dataset.py)."""
    import numpy as np

    return [items[index] for index in np.random.default_rng(seed).permutation(len(items))]


# The part of a specification, in any lab, that selects items from a data set.


MOST_ITEMS = 1_000_000
"""The largest limit that a specification may set."""


class OnData(Spec):
    """A specification about `limit` items of `dataset`, drawn by the seed, for the `task`.

    The data set is in `path`, or in the usual folder; `split` is a part of it. A person's own file has `columns`
    instead of these two. `counted` is the plural word for its items. `shard` (number, count) selects one of `count`
    parts of the items in the order drawn; parts are numbered from 1 and their sizes differ by at most one.
    """

    counted: ClassVar[str] = "items"

    task: Task
    title: str = ""
    dataset: str = ""
    path: str | None = None
    split: Split | None = None
    limit: int | None = Field(default=None, ge=1, le=MOST_ITEMS)
    shard: tuple[Annotated[int, Field(ge=1)], Annotated[int, Field(ge=2)]] | None = Field(
        default=None, exclude_if=lambda shard: shard is None
    )
    columns: dict[str, str] = Field(default_factory=dict, exclude_if=lambda columns: not columns)
    """The column of each of `own.roles`."""
    keep: tuple[Annotated[str, Field(max_length=own.LONGEST_NAME)], ...] = Field(
        default=(), exclude_if=lambda names: not names
    )
    """Columns without a role. They never enter a prompt."""

    @model_validator(mode="before")
    @classmethod
    def _entitled(cls, given: Any) -> Any:
        if not isinstance(given, dict) or given.get("title") or not given.get("dataset"):
            return given
        many = f"{given['limit']} {cls.counted}" if given.get("limit") else f"all {cls.counted}"
        return {**given, "title": own.title(str(given["dataset"]), many)}

    @model_validator(mode="after")
    def _is_there(self) -> Self:
        """Raises ValueError if the data set has no items for the task, or cannot have these columns."""
        if own.is_own(self.dataset):
            own.check_columns(self.task, self.columns)
            if self.path or self.split:
                raise ValueError(
                    "Name your own file as `--dataset file:NAME`; `--path` and `--split` are for known data sets."
                )
        elif self.dataset and (self.columns or self.keep):
            raise ValueError("`--column` and `--keep` are for your own files only: file:NAME or hf://OWNER/NAME/FILE.")
        elif self.dataset and find(self.dataset).task != self.task:
            fit = [dataset.name for dataset in DATASETS if dataset.task == self.task]
            raise ValueError(f"{self.dataset} has no items for {self.task}. Choose one of {', '.join(fit)}.")
        return self

    @model_validator(mode="after")
    def _is_shard(self) -> Self:
        if self.shard is not None and (self.shard[0] > self.shard[1] or not self.dataset):
            raise ValueError("A shard is the number of a part of a data set and how many parts there are, as [1, 4].")
        return self

    @property
    def cases_of_item(self) -> int:
        """How many cases a run makes from each item."""
        return 1

    @property
    def whole(self) -> Self:
        return self.model_copy(update={"shard": None})

    def shards(self) -> tuple[Self, ...]:
        """Return the specifications of the runs that are needed, as few as possible. The number of items in the data
        set counts if it is available here, otherwise only the limit.
        """
        most = max(1, MOST_CASES // self.cases_of_item)
        if not self.dataset or self.shard or (self.limit and self.limit <= most):
            return (self,)
        try:
            items = self.size()
        except (CallError, ValueError, OSError):
            items = self.limit or 0
        count = -(-items // most)
        of = range(1, count + 1)
        return tuple(self.model_copy(update={"shard": (number, count)}) for number in of) if count > 1 else (self,)

    def size(self) -> int:
        """Return the number of items, over all shards. Raises DatasetError."""
        if own.is_own(self.dataset):
            held = own.size(self.dataset, self.task, self.columns)
        else:
            held = len(read(self.dataset, self.path, self.split, None, None)[0])
        return held if self.limit is None else min(held, self.limit)

    def part(self, size: int) -> range:
        """Return the positions of this shard's items among `size` in the order drawn; all of them if it is not a
        shard.
        """
        number, count = self.shard or (1, 1)
        return range(size * (number - 1) // count, size * number // count)

    def chosen_items(self) -> tuple[list[Item], Loaded]:
        """Return the items, and the record of what the data set contained. Raises DatasetError."""
        if not own.is_own(self.dataset):
            items, held = read(self.dataset, self.path, self.split, self.limit, self.seed)
            part = self.part(len(items))
            return items[part.start : part.stop], held
        if self.shard is None:
            drawn = own.read(self.dataset, self.task, self.columns, self.limit, self.seed, 0, self.keep)
        else:
            part = self.part(self.size())
            drawn = own.read(self.dataset, self.task, self.columns, len(part), self.seed, part.start, self.keep)
        loaded = loaded_record(self.dataset, drawn.of, drawn.rows, drawn.dropped)
        loaded = loaded.model_copy(update={"digest": own.digest_of_content(self.dataset)})
        return require_items(drawn.rows, self.dataset), loaded
