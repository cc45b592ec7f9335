"""A study's file, written from what somebody chose: each setting with one value, or with several, which make a grid."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations, islice, product
from typing import Any

import tomli_w
from pydantic import ValidationError

from core.lab import Lab
from core.runs.run import complaints
from core.study.plan import MOST_EXCLUDED, BadStudy

Point = dict[str, Any]

MOST_POINTS = 2_000
"""Combinations that are tried one by one; whoever wants more writes the file by hand."""


@dataclass(frozen=True)
class Composed:
    """The file's text, and what of the grid it leaves out because it cannot be: the points, and why, each reason once.
    `points` there were.
    """

    text: str
    points: int
    left_out: int
    why: tuple[str, ...]


def compose(lab: Lab, chosen: Mapping[str, Sequence[Any]], general: Mapping[str, Any]) -> Composed:
    """A study of one lab. `chosen` are the values of each setting of the lab's specification, `general` what the file
    holds beside them, as core.study.plan reads it; what is None or empty there is left out.

    Raises BadStudy where there are too many combinations, or none that can be.
    """
    spec = {name: values[0] for name, values in chosen.items() if len(values) == 1}
    grid = {name: list(values) for name, values in chosen.items() if len(values) > 1}
    points = [dict(zip(grid, values, strict=True)) for values in islice(product(*grid.values()), MOST_POINTS + 1)]
    if len(points) > MOST_POINTS:
        raise BadStudy(f"These are more than {MOST_POINTS:,} combinations. Choose fewer, or write the file by hand.")
    faults = [_fault(lab, {**spec, **point}) for point in points]
    why = tuple(dict.fromkeys(filter(None, faults)))
    if all(faults):
        raise BadStudy(why[0])
    exclude = _excluded(points, [bool(fault) for fault in faults])
    if len(exclude) > MOST_EXCLUDED:
        raise BadStudy(f"Too many of these combinations cannot be. The first: {why[0]}")
    file = {
        **{name: value for name, value in general.items() if value not in (None, "")},
        **{"lab": lab.path, "spec": spec, "grid": grid, "exclude": exclude, "table": [_table(lab, grid)]},
    }
    text = tomli_w.dumps({name: value for name, value in file.items() if value != {} and value != []})
    return Composed(text, len(points), len(list(filter(None, faults))), why)


def _fault(lab: Lab, fields: Point) -> str:
    try:
        lab.spec.model_validate(fields)
    except ValidationError as error:
        return complaints(error)[0]
    return ""


def _excluded(points: Sequence[Point], wrong: Sequence[bool]) -> list[Point]:
    """The wrong points in as few words as can be: values that no point can have, pairs of them, then single points."""
    found: list[Point] = []
    left = [point for point, is_wrong in zip(points, wrong, strict=True) if is_wrong]
    right = [point for point, is_wrong in zip(points, wrong, strict=True) if not is_wrong]
    for many in (1, 2, len(points[0])):
        for point in left:
            for axes in combinations(point, many):
                kind = {axis: point[axis] for axis in axes}
                if not any(_has(point, known) for known in found) and not any(_has(one, kind) for one in right):
                    found.append(kind)
    return found


def _has(point: Point, kind: Point) -> bool:
    return all(point[name] == value for name, value in kind.items())


def _table(lab: Lab, grid: Mapping[str, Sequence[Any]]) -> dict[str, Any]:
    """A row for each combination of what varies, a column for each way to explain; seeds are only repeats."""
    rows = [name for name in ("model", *grid) if name in lab.spec.model_fields and name not in (lab.how, "seed")]
    return {"title": lab.title, "rows": list(dict.fromkeys(rows)), "columns": ["how"]}
