"""The run that another one stands on (`core.lab.Prior`): one that was made already, or else made first."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterable, Iterator
from pathlib import Path

from core import journal
from core.events import Event, Finished, Frozen, Recorded
from core.lab import Lab, Prior, Spec
from core.runs.engine import PRIOR, new_id
from core.runs.transcript import Transcript, transcript

Sees = Callable[[str], bool]
"""Whether a run may be looked at, by its id."""


def like(lab: Lab, spec: Spec, folder: Path, sees: Sees) -> Iterator[tuple[str, Transcript]]:
    """The runs of that very specification with prompts as they are now, the newest first: id and transcript."""
    prompts = lab.prompts(spec)
    for path in reversed(journal.listed(folder, f"*-{lab.name}-*")):
        try:
            begun = journal.begun(path)
            same = (
                begun is not None
                and not begun.about
                and not begun.forked_from
                and begun.lab == lab.name
                and begun.prompts == prompts
            )
            if same and begun and lab.spec.model_validate(begun.spec) == spec and sees(path.stem):
                yield path.stem, transcript(journal.read(path).events)
        except (OSError, ValueError):
            # Deleted meanwhile, of another version, or damaged: it tells nothing.
            continue


def record_of(prior: Prior, folder: Path, sees: Sees) -> Frozen | None:
    """What the newest such run came to; None where there is none that came to something."""
    return next((found for _, state in like(prior.lab, prior.spec, folder, sees) if (found := prior.read(state))), None)


def due(lab: Lab, spec: Spec, history: Iterable[Event]) -> Prior | Frozen | None:
    """What a run has to stand on. One that goes on keeps what it has; an older one, without any, gets none."""
    prior = lab.prior(spec)
    history = list(history)
    if not history:
        return prior
    has = any(isinstance(event, Recorded) and event.item == PRIOR and not event.case for event in history)
    over = any(isinstance(event, Finished) and event.status == "completed" for event in history)
    return prior if isinstance(prior, Prior) and prior.wanted and not has and not over else None


async def stand_on(
    prior: Prior | Frozen, folder: Path, sees: Sees, make: Callable[[Prior, str], Awaitable[None]]
) -> Frozen | None:
    """The record of what stands before. Where it is wanted and was never made, `make(prior, run_id)` makes it now."""
    if not isinstance(prior, Prior):
        return prior
    known = await asyncio.to_thread(record_of, prior, folder, sees)
    if known is not None or not prior.wanted:
        return known
    run_id = new_id(prior.lab.name)
    await make(prior, run_id)
    return prior.read(transcript(journal.read(folder / f"{run_id}.jsonl").events))
