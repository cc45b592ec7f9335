"""The runs that another run needs (`core.labs.base.lab.Prerequisite`). Each was made here already, came with the app
(`home.priors`), or is made first.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from pathlib import Path

from .. import home, journal
from ..events import Event, Finished, Frozen, Recorded
from ..labs.base.lab import Lab, Prerequisite, Reads
from ..labs.base.spec import Spec
from ..transcript import Transcript, transcript
from .engine import PRIOR

Sees = Callable[[str], bool]
"""Whether a run, given by its id, may be viewed."""


def earlier_runs(lab: Lab, spec: Spec, folder: Path, sees: Sees) -> Iterator[tuple[str, Transcript]]:
    """The runs with exactly this specification and the current prompts, as id and transcript: the newest first, and
    last those that came with the app.
    """
    for path, begun in _begun(lab, folder, sees):
        if begun == spec:
            # A run that was deleted meanwhile, is of another version, or is damaged is skipped.
            with suppress(OSError, ValueError):
                yield path.stem, transcript(journal.read(path).events)


def _begun(lab: Lab, folder: Path, sees: Sees) -> Iterator[tuple[Path, Spec]]:
    shipped = home.priors()
    for place in (folder, shipped):
        for path in reversed(journal.list_journals(place, f"*-{lab.name}-*")):
            with suppress(OSError, ValueError):
                begun = journal.first_event(path)
                if begun is None or begun.about or begun.forked_from or begun.lab != lab.name:
                    continue
                spec = lab.spec.model_validate(begun.spec)
                if begun.prompts == lab.prompts(spec) and (place == shipped or sees(path.stem)):
                    yield path, spec


def record_of(prior: Prerequisite, folder: Path, sees: Sees) -> Frozen | None:
    """The result of the newest run of a prerequisite that has one; None if there is none."""
    return next(
        (found for _, state in earlier_runs(prior.lab, prior.spec, folder, sees) if (found := prior.read(state))), None
    )


def records(lab: Lab, read: Reads, folder: Path, sees: Sees) -> Iterator[tuple[Spec, Frozen]]:
    """The result of each of the lab's specifications that ran here or came with the app; see `Prerequisite.read`."""
    for spec in dict.fromkeys(spec for _, spec in _begun(lab, folder, sees)):
        if (found := record_of(Prerequisite(lab, spec, read, wanted=False), folder, sees)) is not None:
            yield spec, found


def prerequisites_of(lab: Lab, spec: Spec) -> dict[str, Prerequisite | Frozen]:
    """The prerequisites of a run with that specification, by the item of their record."""
    every = enumerate(lab.prerequisites(spec), start=1)
    return {PRIOR if number == 1 else f"{PRIOR}-{number}": one for number, one in every if one is not None}


def missing_prerequisites(lab: Lab, spec: Spec, history: Iterable[Event]) -> dict[str, Prerequisite | Frozen]:
    """The prerequisites that a run still needs, by item. A resumed run keeps those that it has recorded; one that
    completed needs none.
    """
    history = list(history)
    if not history:
        return prerequisites_of(lab, spec)
    over = any(isinstance(event, Finished) and event.status == "completed" for event in history)
    if over:
        return {}
    has = {event.item for event in history if isinstance(event, Recorded) and not event.case}
    return {
        item: one
        for item, one in prerequisites_of(lab, spec).items()
        if isinstance(one, Prerequisite) and one.wanted and item not in has
    }
