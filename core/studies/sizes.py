"""How many items and cases the runs of a study have, by formula where a data set tells, so that none has to be made."""

from __future__ import annotations

from itertools import islice
from typing import NamedTuple

from ..datasets.on_data import OnData
from ..labs.base.spec import MOST_CASES, Spec
from .plan import Planned


class Size(NamedTuple):
    """The items that a run is about, and its cases, of which an item may have several."""

    items: int
    cases: int


class Sizes:
    """The sizes of runs. Each data set is looked at once, however many shards it is cut into."""

    def __init__(self) -> None:
        self._held: dict[Spec, int] = {}

    def of(self, run: Planned) -> Size:
        """The size of that run. Raises CallFailed, ValueError (DatasetError among them) or OSError where its items
        cannot be had.
        """
        spec = run.spec
        if isinstance(spec, OnData) and spec.dataset:
            if spec.whole not in self._held:
                size = spec.whole.size()
                # A lab may refuse a robot that knows none of the items.
                next(iter(run.lab.cases(spec)), None)
                self._held[spec.whole] = size
            items = len(spec.part(self._held[spec.whole]))
            return Size(items, items * spec.cases_of_item)
        cases = list(islice(run.lab.cases(spec), MOST_CASES + 1))
        return Size(len({case.id.partition("/")[0] for case in cases}), len(cases))
