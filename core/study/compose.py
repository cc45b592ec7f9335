"""A study's file, written from what somebody chose: each setting with one value, or with several, which make a grid."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations, islice, product
from typing import Any

import tomli_w
from pydantic import ValidationError

from core.lab.lab import Lab
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


Chosen = Mapping[str, Sequence[Any]]
"""The values of each setting of a lab's specification that were chosen for one part of a study."""


def compose(parts: Sequence[tuple[Lab, Chosen]], general: Mapping[str, Any]) -> Composed:
    """A study of these parts, each a grid of one lab. `general` is what the file holds beside them, as core.study.plan
    reads it; what is None or empty there is left out.

    Raises BadStudy where a part has too many combinations, or none that can be.
    """
    made = []
    for number, (lab, chosen) in enumerate(parts, 1):
        try:
            made.append(_part(lab, chosen))
        except BadStudy as error:
            raise BadStudy(f"Part {number}: {error}") if len(parts) > 1 else error from None
    by_lab: dict[str, tuple[Lab, list[Chosen]]] = {}
    for lab, chosen in parts:
        by_lab.setdefault(lab.path, (lab, []))[1].append(chosen)
    tables = [
        {"title": lab.title, **({"lab": lab.path} if len(by_lab) > 1 else {}), **_table(lab, several)}
        for lab, several in by_lab.values()
    ]
    file = {name: value for name, value in general.items() if value not in (None, "")}
    file |= {"part": [part for part, *_ in made]} if len(made) > 1 else made[0][0]
    return Composed(
        tomli_w.dumps({**file, "table": tables}),
        sum(points for _, points, _ in made),
        sum(sum(map(bool, faults)) for *_, faults in made),
        tuple(dict.fromkeys(fault for *_, faults in made for fault in faults if fault)),
    )


def _part(lab: Lab, chosen: Chosen) -> tuple[dict[str, Any], int, list[str]]:
    """A part as the file has it, how many points its grid has, and what is wrong with each, "" where nothing is."""
    spec = {name: values[0] for name, values in chosen.items() if len(values) == 1}
    grid = {name: list(values) for name, values in chosen.items() if len(values) > 1}
    points = [dict(zip(grid, values, strict=True)) for values in islice(product(*grid.values()), MOST_POINTS + 1)]
    if len(points) > MOST_POINTS:
        raise BadStudy(f"These are more than {MOST_POINTS:,} combinations. Choose fewer, or write the file by hand.")
    faults = [_fault(lab, {**spec, **point}) for point in points]
    if all(faults):
        raise BadStudy(faults[0])
    exclude = _excluded(points, [bool(fault) for fault in faults])
    if len(exclude) > MOST_EXCLUDED:
        raise BadStudy(f"Too many of these combinations cannot be. The first: {next(filter(None, faults))}")
    part = {"lab": lab.path, "spec": spec, "grid": grid, "exclude": exclude}
    return {name: value for name, value in part.items() if value}, len(points), faults


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


def _table(lab: Lab, parts: Sequence[Chosen]) -> dict[str, Any]:
    """A row for each combination of what varies within a part or between parts, a column for each way to explain; seeds
    are only repeats.
    """
    names = dict.fromkeys(name for chosen in parts for name in chosen)
    varied = [
        name
        for name in names
        if any(len(one.get(name, ())) > 1 or one.get(name) != parts[0].get(name) for one in parts)
    ]
    rows = [name for name in ("model", *varied) if name in lab.spec.model_fields and name not in (lab.how, "seed")]
    return {"rows": list(dict.fromkeys(rows)), "columns": ["how"]}
