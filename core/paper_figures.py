"""The figures that a lab's paper reported (`data/published/`), shown beside ours and marked as the paper's."""

from __future__ import annotations

import tomllib
from functools import cache
from typing import Any, NamedTuple

from .package_data import DATA

_PUBLISHED = DATA / "published"
_SCALE = {"share": 1.0, "percent": 100.0, "points": 100.0, "kappa": 1.0, "correlation": 1.0, "seconds": 1.0}


class Published(NamedTuple):
    """One figure of a paper. `value` is in our scale: shares and their differences from 0 or -1 to 1, kappas and
    correlations from -1 to 1, times in seconds. `n` things stand behind it, None where that is not known. `about` says
    what of: the entry's other keys, such as dataset, model, method. `source` names paper and place.
    """

    metric: str
    value: float
    n: int | None
    unit: str
    about: dict[str, str]
    source: str


@cache
def _file(lab: str) -> dict[str, Any]:
    path = _PUBLISHED / f"{lab}.toml"
    return tomllib.loads(path.read_text(encoding="utf-8")) if path.exists() else {"source": {}, "figure": []}


def source(lab: str) -> dict[str, str]:
    """The paper: authors, year, title, arxiv; empty for a lab without published figures."""
    return {key: str(value) for key, value in _file(lab)["source"].items()}


def figures(lab: str) -> list[dict[str, Any]]:
    """One entry a figure, as the paper prints it, with its place there (`where`); none for a lab without."""
    entries: list[dict[str, Any]] = _file(lab)["figure"]
    return entries


def published(lab: str, metric: str, **about: str) -> list[Published]:
    """The figures of one metric whose entries say all of `about`, such as `dataset="shp"`; none where none was printed.

    An entry that leaves a key open is an average over it, and is not among those that ask for one of its values.
    """
    paper = source(lab)
    given = {"metric", "value", "n", "unit", "where", "p_below"}
    return [
        Published(
            metric,
            entry["value"] / _SCALE[entry.get("unit", "share")],
            entry.get("n"),
            entry.get("unit", "share"),
            {key: value for key, value in entry.items() if key not in given},
            f"{paper['authors']} {paper['year']}, {entry['where']}",
        )
        for entry in figures(lab)
        if entry["metric"] == metric and all(entry.get(key) == value for key, value in about.items())
    ]
