"""Writes a study's file from a person's choices: each setting has one value, or several, which make a grid."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations, islice, product
from typing import Any

import tomli_w
from pydantic import ValidationError

from ..labs.base.lab import Lab
from ..runs.context import complaints
from .plan import MOST_EXCLUDED, StudyError

Point = dict[str, Any]

MOST_POINTS = 2_000
"""The most combinations of a part, each of which is checked; for more, write the file by hand."""


@dataclass(frozen=True)
class Composed:
    """The file's text. Of the `points` of its grid, `left_out` are impossible and excluded; `why` has each reason
    once.
    """

    text: str
    points: int
    left_out: int
    why: tuple[str, ...]


Chosen = Mapping[str, Sequence[Any]]
"""The chosen values of each setting of a lab's specification, for one part of a study."""


def compose(parts: Sequence[tuple[Lab, Chosen]], general: Mapping[str, Any]) -> Composed:
    """Write a study of these parts, each a grid of one lab. `general` has the file's other fields, as core.studies.plan
    reads them; None and empty values are left out.

    Raises StudyError if a part has too many combinations, or no possible one.
    """
    made = []
    for number, (lab, chosen) in enumerate(parts, 1):
        try:
            made.append(_part(lab, chosen))
        except StudyError as error:
            raise StudyError(f"Part {number}: {error}") if len(parts) > 1 else error from None
    faults = [fault for _, of_part in made for fault in of_part]
    file = {name: value for name, value in general.items() if value not in (None, "")}
    file |= {"part": [part for part, _ in made]} if len(made) > 1 else made[0][0]
    text = tomli_w.dumps({**file, "table": _tables(parts)})
    why = dict.fromkeys(fault for fault in faults if fault)
    return Composed(text, len(faults), sum(map(bool, faults)), tuple(why))


def _part(lab: Lab, chosen: Chosen) -> tuple[dict[str, Any], list[str]]:
    """A part as it is in the file, and what is wrong with each point of its grid, "" if nothing is."""
    spec = {name: values[0] for name, values in chosen.items() if len(values) == 1}
    grid = {name: list(values) for name, values in chosen.items() if len(values) > 1}
    points = [dict(zip(grid, values, strict=True)) for values in islice(product(*grid.values()), MOST_POINTS + 1)]
    if len(points) > MOST_POINTS:
        raise StudyError(f"These are more than {MOST_POINTS:,} combinations. Choose fewer, or write the file by hand.")
    faults = [_fault(lab, {**spec, **point}) for point in points]
    if all(faults):
        raise StudyError(faults[0])
    exclude = _excluded(points, [bool(fault) for fault in faults])
    if len(exclude) > MOST_EXCLUDED:
        raise StudyError(f"Too many of these combinations are not possible. The first: {next(filter(None, faults))}")
    part = {"lab": lab.path, "spec": spec, "grid": grid, "exclude": exclude}
    return {name: value for name, value in part.items() if value}, faults


def _fault(lab: Lab, fields: Point) -> str:
    try:
        lab.spec.model_validate(fields)
    except ValidationError as error:
        return complaints(error)[0]
    return ""


def _excluded(points: Sequence[Point], wrong: Sequence[bool]) -> list[Point]:
    """The wrong points, described as briefly as possible: values that no possible point has, then pairs of them, then
    single points.
    """
    excluded: list[Point] = []
    bad = [point for point, is_wrong in zip(points, wrong, strict=True) if is_wrong]
    good = [point for point, is_wrong in zip(points, wrong, strict=True) if not is_wrong]
    for size in (1, 2, len(points[0])):
        for point in bad:
            for axes in combinations(point, size):
                values = {axis: point[axis] for axis in axes}
                if not any(_has(point, known) for known in excluded) and not any(_has(kept, values) for kept in good):
                    excluded.append(values)
    return excluded


def _has(point: Point, values: Point) -> bool:
    return all(point[name] == value for name, value in values.items())


def _tables(parts: Sequence[tuple[Lab, Chosen]]) -> list[dict[str, Any]]:
    labs = {lab.path: lab for lab, _ in parts}
    return [
        {"title": lab.title, **({"lab": path} if len(labs) > 1 else {})}
        | _table(lab, [chosen for other, chosen in parts if other.path == path])
        for path, lab in labs.items()
    ]


def _table(lab: Lab, parts: Sequence[Chosen]) -> dict[str, Any]:
    """A row for each combination of what varies within a part or between parts, and a column for each way to explain;
    seeds are only repeats.
    """
    names = dict.fromkeys(name for chosen in parts for name in chosen)
    varied = [
        name
        for name in names
        if any(len(chosen.get(name, ())) > 1 or chosen.get(name) != parts[0].get(name) for chosen in parts)
    ]
    rows = [
        name
        for name in ("model", *varied)
        if name in lab.spec.model_fields and name not in (lab.listing.method_field, "seed")
    ]
    return {"rows": list(dict.fromkeys(rows)), "columns": ["how"]}
