"""Every dataset by name: where it can be had, under which licence, how its files lie, and how to load it."""

from __future__ import annotations

import difflib
from collections.abc import Callable
from functools import partial
from pathlib import Path
from threading import Lock
from typing import NamedTuple

from .. import files, package_data
from ..home import home
from ..policy import NotAllowed
from . import babi, glue, imdb, mctest, shp, strategyqa
from .files import Stamp, noted, stamp
from .items import DatasetError, Item, LeftOut, Loaded, Read, Split, Task, left_out_words, loaded
from .sources import source_of


class Dataset(NamedTuple):
    """What the Methods page says of a dataset, and its loader."""

    name: str
    title: str
    task: Task
    source: str
    licence: str
    layout: str
    read: Callable[[Path, Split | None], Read]


_READERS: dict[str, Callable[[Path, Split | None], Read]] = {
    "imdb": imdb.read,
    "sst-2": glue.read_sst2,
    **{f"babi-{number}": partial(babi.read, number=number) for number in (1, 2, 3)},
    "mctest": mctest.read,
    "rte": glue.read_rte,
    "strategyqa": strategyqa.read,
    "shp": shp.read,
    "world": strategyqa.read,
}

DATASETS = package_data.rows("datasets", "dataset", lambda **about: Dataset(**about, read=_READERS[about["name"]]))

_SHIPPED = package_data.DATA / "questions"

_OTHER_NAMES = {"babi": "babi-1", "aclimdb": "imdb"}


def ships(name: str) -> bool:
    """Whether the data set comes with the app."""
    return (_SHIPPED / f"{name}.json").is_file()


def is_here(name: str) -> bool:
    """Whether there is something where the data set is looked for. Raises DatasetError for one that is not known."""
    return _place(find(name).name).exists()


def describe() -> list[dict[str, str]]:
    """One row a dataset: name, title, task, source, licence, layout."""
    return [{field: str(value) for field, value in row._asdict().items() if field != "read"} for row in DATASETS]


def find(name: str) -> Dataset:
    """The dataset called `name`; case, hyphens and underscores do not matter. Raises DatasetError with near names."""
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
    """The items of a dataset in an order that depends on `seed` alone (file order for None), at most `limit` of them.

    `path` is a file, taken whole, or a folder; without it $EXPLAIN_HOME/datasets/<name>. Without `split`: test, else
    valid, else train, whichever is there. A broken row costs its own item. Raises DatasetError.
    """
    return read(name, path, split, limit, seed)[0]


def read(
    name: str, path: str | Path | None, split: Split | None, limit: int | None, seed: int | None
) -> tuple[list[Item], Loaded]:
    """The same with what the data set held. Raises DatasetError."""
    dataset = find(name)
    try:
        place = files.named(path) if path is not None else _place(dataset.name)
    except (files.BadFile, NotAllowed) as error:
        raise DatasetError(str(error)) from None
    if not place.exists():
        raise DatasetError(
            f"{dataset.title}: there is nothing at {path or place}. {_where_from(dataset)}"
            f"Expected there: {dataset.layout}"
        )
    rows = _rows(dataset, place, split)
    items = some(rows, f"{dataset.title}: {place}")
    return (items if seed is None else _shuffled(items, seed))[:limit], loaded(dataset.name, len(items), rows)


def size(name: str, path: str | Path | None, split: Split | None) -> int:
    """How many items a data set has. Raises DatasetError."""
    return len(read(name, path, split, None, None)[0])


class _Held(NamedTuple):
    """What a data set held, and in which state its files and folders were when they were read."""

    rows: Read
    files: dict[Path, Stamp]


_MOST_HELD = 8
"""Data sets that are held in memory."""

_held: dict[tuple[str, Path, Split | None], _Held] = {}
_reading = Lock()


def _rows(dataset: Dataset, place: Path, split: Split | None) -> Read:
    """What the data set holds now. The runs of a study ask again and again, many of them together: its files are read
    once, until one of them changes.
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


def some(rows: Read, where: str) -> list[Item]:
    """The items among the rows. Raises DatasetError where there are none."""
    items = [row for row in rows if isinstance(row, Item)]
    if not items:
        first = next((row.detail for row in rows if isinstance(row, LeftOut) and row.detail), "")
        left_out = loaded("", 0, rows).left_out
        why = [left_out_words(left_out, 0)] if left_out else []
        raise DatasetError(" ".join([f"{where} holds no items.", *why, first]).rstrip(" ."))
    return items


def _where_from(dataset: Dataset) -> str:
    source = source_of(dataset.name)
    command = f"Download it with “python -m core data get {source.name}”, or from " if source else "Get it from "
    return f"{command}{dataset.source}. "


def _folded(name: str) -> str:
    return name.lower().replace("-", "").replace("_", "").replace(" ", "")


def _place(name: str) -> Path:
    """$EXPLAIN_HOME/datasets/<name>; where that is not there what ships, or the folder of its family, such as babi."""
    folder = home() / "datasets"
    places = [
        *(folder / name, folder / _folded(name)),
        *(_SHIPPED / f"{name}.json", folder / name.partition("-")[0]),
    ]
    return next((place for place in places if place.exists()), places[0])


def _shuffled(items: list[Item], seed: int) -> list[Item]:
    """In the order of NumPy's permutation, as the authors' `shuffle(seed)` (dataset/_abstract_dataset.py)."""
    import numpy as np

    return [items[index] for index in np.random.default_rng(seed).permutation(len(items))]
