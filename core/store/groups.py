"""How often explanations hold, by group: the selected rows grouped by the values of a facet."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from ..labs.base.lab import Lab
from ..statistics import Interval, interval_of_trials
from .filters import ROBOT, Values, facet_of
from .listing import Selection
from .schema import quoted


class Group(NamedTuple):
    """The rows with one value of the facet. `kept` is the share of the `counted` rows whose outcome means that the
    explanation holds, with the interval of their items; rows in doubt do not count.
    """

    value: str
    rows: int
    counted: int
    kept: Interval


def robots_and_models(selected: Selection) -> tuple[int, int]:
    """How many of the selected rows are a robot's, and how many are not."""
    ((robots, others),) = selected.found(
        f"select count(*) filter ({ROBOT}), count(*) filter (not coalesce({ROBOT}, false)) from wanted items"  # noqa: S608  our own names
    )
    return robots, others


def groups(selected: Selection, lab: Lab, name: str, limit: int = 1_000, robots: bool = True) -> list[Group]:
    """The largest groups of a lab's selected rows by the facet of that name, at most `limit`, with or without the rows
    of `robots`. Raises ValueError if there is no such facet.
    """
    values = Values()
    facet = facet_of(name, values)
    if facet is None:
        raise ValueError(f"Results cannot be grouped by {name!r}.")
    joined = f"join {facet.source} using ({facet.key})" if facet.key else ""
    kept, broken = quoted(*lab.that_mean("kept")), quoted(*lab.that_mean("broken"))
    counts = "coalesce(items.counts, false) and coalesce(items.doubt, '') = ''"
    only = "true" if robots else f"not coalesce({ROBOT}, false)"
    rows = selected.found(
        f"""
        , grouped as (
            select coalesce({facet.value}::varchar, '') as value, items.title as item, count(*) as n,
                   count(*) filter ({counts} and items.outcome in ({kept})) as kept,
                   count(*) filter ({counts} and items.outcome in ({broken})) as broken
            from wanted items {joined} where items.lab = {values(lab.name)} and {only} group by 1, 2
        ), largest as (
            select value, sum(n)::bigint as total from grouped group by value order by total desc, value limit {limit}
        )
        select value, total, list((item, kept, broken)) from grouped join largest using (value)
        group by value, total order by total desc, value
        """,  # noqa: S608  our own names
        **values,
    )
    return [_group(str(value), total, items) for value, total, items in rows]


def _group(value: str, rows: int, items: list[tuple[str, int, int]]) -> Group:
    def trials() -> Iterator[tuple[float, str]]:
        for item, kept, broken in items:
            yield from [(1.0, item)] * kept + [(0.0, item)] * broken

    found = list(trials())
    return Group(value, rows, len(found), interval_of_trials([one for one, _ in found], [item for _, item in found]))
