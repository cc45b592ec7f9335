"""What there is to say of a study's data files: which rows are broken, and which runs were made of other content."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Iterable, Iterator
from itertools import islice
from pathlib import Path

from core import journal
from core.datasets.items import BROKEN, Loaded
from core.study.plan import Study, dataset_of

NAMED = 10
"""Broken rows that are named one by one; the journals have more."""

_SOON = 10
"""Lines of a journal among which is what the run's data set held."""


def held(study: Study, folder: Path) -> Iterator[Loaded]:
    """What the data sets of the study's runs held, as the journals in `folder` have it."""
    for run in study.runs:
        if not dataset_of(run.spec):
            continue
        with contextlib.suppress(OSError, ValueError), journal.at(folder, run.id).open("rb") as lines:
            line = next((one for one in islice(lines, _SOON) if b'"record":"loaded"' in one), b"{}")
            if (found := Loaded.of(json.loads(line).get("data"))) is not None:
                yield found


def broken(loaded: Iterable[Loaded]) -> list[str]:
    """The first broken rows by file and line, and how many there are; runs over one file name each row once."""
    rows: dict[str, None] = {}
    untold: dict[str, int] = {}
    for one in loaded:
        rows |= dict.fromkeys(one.broken)
        untold[one.dataset] = max(untold.get(one.dataset, 0), one.left_out.get(BROKEN, 0) - len(one.broken))
    count = len(rows) + sum(untold.values())
    if not count:
        return []
    named = [f"  {row}" for row in islice(rows, NAMED)]
    more = [f"  … and {count - len(named):,} more."] if count > len(named) else []
    return [f"Broken rows, each of which costs an item: {count:,}.", *named, *more]


def made_of_other(study: Study, folder: Path) -> int:
    """How many runs of this study that lie in `folder` were made when a data file of a person's own held something
    else: they have another name than the study's own of the same settings.
    """
    wanted = [run for run in study.runs if dataset_of(run.spec) in study.data]
    settings = {json.dumps(run.spec.model_dump(mode="json"), sort_keys=True) for run in wanted}
    names, found = {run.id for run in wanted}, 0
    for lab in {run.lab.name for run in wanted}:
        for path in journal.listed(folder, f"study-{lab}-*"):
            with contextlib.suppress(OSError, ValueError):
                begun = None if path.stem in names else journal.begun(path)
                found += (
                    begun is not None
                    and begun.study == study.name
                    and json.dumps(begun.spec, sort_keys=True) in settings
                )
    return found
