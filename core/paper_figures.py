"""Figures reported by a lab's paper (`data/published/`), shown beside ours and marked as the paper's."""

import re
import tomllib
from functools import cache
from typing import Any, NamedTuple

from .package_data import DATA

_PUBLISHED = DATA / "published"
_SCALE = {
    "share": 1.0,
    "percent": 100.0,
    "points": 100.0,
    "kappa": 1.0,
    "correlation": 1.0,
    "seconds": 1.0,
    "calls": 1.0,
}


class Published(NamedTuple):
    """One figure of a paper. `value` is on our scale: shares from 0 to 1, their differences, kappas and correlations
    from -1 to 1, times in seconds. `n` is the sample size, None if it is not known. `about` has the entry's other
    keys, such as dataset, model, method. `source` names the paper and the place in it.
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
    """Return the paper's authors, year, title, arxiv and, as BibTeX lists them, all authors (`bibtex`); empty for a lab
    without published figures.
    """
    return {key: str(value) for key, value in _file(lab)["source"].items()}


_PLACE = re.compile(r"\b(section|appendix) (\d+|[A-Z])((?:\.?\d+)*)")


def address(lab: str, where: str) -> str:
    """Return the web address of the section that a place in a lab's paper names, such as "Table 4, section 5.2.1"; of
    the whole paper if it names none.
    """
    page = f"https://ar5iv.labs.arxiv.org/html/{source(lab).get('arxiv', '')}"
    if (place := _PLACE.search(where)) is None:
        return page
    kind, first, further = place.groups()
    levels = re.findall(r"\d", further)
    inner = "".join(f".{'S' * depth}S{number}" for depth, number in enumerate(levels, start=1))
    outer = f"S{first}" if kind == "section" else f"A{ord(first) - ord('A') + 1}"
    return f"{page}#{outer}{inner}"


def figures(lab: str) -> list[dict[str, Any]]:
    """Return one entry per figure, as printed in the paper, with its place there (`where`); empty for a lab without
    any.
    """
    entries: list[dict[str, Any]] = _file(lab)["figure"]
    return entries


def published(lab: str, metric: str, **about: str) -> list[Published]:
    """Return the figures of one metric whose entries match all of `about`, such as `dataset="shp"`; empty if the paper
    has none. An entry without a key is an average over that key, and does not match a request for one of its values.
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
