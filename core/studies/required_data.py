"""Reports on a study's data files: which rows are broken, and which runs were made from other content."""

import contextlib
import json
from collections.abc import Iterable, Iterator
from itertools import islice
from pathlib import Path

from .. import journal
from ..datasets import own, registry
from ..datasets.items import BROKEN, Loaded
from ..datasets.sources import Source, source_of
from .plan import Study, dataset_of

NAMED = 10
"""How many broken rows are named one by one; the journals have more."""

_SOON = 10
"""How many first lines of a journal to read; one of them says what the run's data set contains."""


def loaded_records(study: Study, folder: Path) -> Iterator[Loaded]:
    """What the data sets of the study's runs contain, according to the journals in `folder`."""
    for run in study.runs:
        if not dataset_of(run.spec):
            continue
        with contextlib.suppress(OSError, ValueError), journal.path_for(folder, run.id).open("rb") as lines:
            line = next((line for line in islice(lines, _SOON) if b'"record":"loaded"' in line), b"{}")
            if (loaded := Loaded.from_journal(json.loads(line).get("data"))) is not None:
                yield loaded


def absent(study: Study) -> list[Source]:
    """The download sources of the data sets that the study's runs look for in the home and that are missing."""
    names = dict.fromkeys(dataset_of(run.spec) for run in study.all if not getattr(run.spec, "path", None))
    missing = [name for name in names if name and not own.is_own(name) and not registry.is_here(name)]
    return list(dict.fromkeys(source for name in missing if (source := source_of(registry.find(name).name))))


def broken(loaded: Iterable[Loaded]) -> list[str]:
    """The first broken rows by file and line, and how many there are; if several runs use a file, each row is named
    once.
    """
    rows: dict[str, None] = {}
    unnamed: dict[str, int] = {}
    for data in loaded:
        rows |= dict.fromkeys(data.broken)
        unnamed[data.dataset] = max(unnamed.get(data.dataset, 0), data.left_out.get(BROKEN, 0) - len(data.broken))
    count = len(rows) + sum(unnamed.values())
    if not count:
        return []
    named = [f"  {row}" for row in islice(rows, NAMED)]
    more = [f"  … and {count - len(named):,} more."] if count > len(named) else []
    return [f"Broken rows, each of which costs an item: {count:,}.", *named, *more]


def made_of_other(study: Study, folder: Path) -> int:
    """How many runs in `folder` belong to an earlier content of one of the study's own data files: their settings are
    those of a run of the study, but their names are not.
    """
    wanted = [run for run in study.runs if dataset_of(run.spec) in study.data]
    settings = {json.dumps(run.spec.model_dump(mode="json"), sort_keys=True) for run in wanted}
    names, count = {run.id for run in wanted}, 0
    for lab in {run.lab.name for run in wanted}:
        for path in journal.list_journals(folder, f"study-{lab}-*"):
            with contextlib.suppress(OSError, ValueError):
                begun = None if path.stem in names else journal.first_event(path)
                count += (
                    begun is not None
                    and begun.study == study.name
                    and json.dumps(begun.spec, sort_keys=True) in settings
                )
    return count
