"""All known data sets by name: source, licence, file layout, and loader."""

import difflib
from collections.abc import Callable
from functools import partial
from pathlib import Path
from threading import Lock
from typing import NamedTuple

from .. import files, package_data
from ..home import home
from ..policy import NotAllowedError
from . import loaders
from .files import Stamp, noted, stamp
from .items import DatasetError, Item, LeftOut, Loaded, Read, Split, Task, left_out_words, loaded_record
from .sources import source_of


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


def load(
    name: str,
    path: str | Path | None = None,
    split: Split | None = None,
    limit: int | None = None,
    seed: int | None = 0,
) -> list[Item]:
    """Return at most `limit` items of a data set, in an order that depends only on `seed` (file order for None).

    `path` is a file, which is read whole, or a folder; the default is $EXPLAIN_HOME/datasets/<name>. Without `split`,
    the first available of test, valid and train is read. A broken row is left out alone. Raises DatasetError.
    """
    return read(name, path, split, limit, seed)[0]


def read(
    name: str, path: str | Path | None, split: Split | None, limit: int | None, seed: int | None
) -> tuple[list[Item], Loaded]:
    """Return the same items, with the record of what the data set contained. Raises DatasetError."""
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


def size(name: str, path: str | Path | None, split: Split | None) -> int:
    """Return the number of items in a data set. Raises DatasetError."""
    return len(read(name, path, split, None, None)[0])


class _Held(NamedTuple):
    """The content of a data set, and the state of its files and folders when they were read."""

    rows: Read
    files: dict[Path, Stamp]


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
        if held is None or any(stamp(path) != before for path, before in held.files.items()):
            with noted({place: stamp(place)}) as files:
                held = _Held(dataset.read(place, split), files)
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
        raise DatasetError(" ".join([f"{where} holds no items.", *why, first]).rstrip(" ."))
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
