"""How people keep runs, and what they say of them: in journals of their own beside a run's, which has one writer."""

from __future__ import annotations

import threading
import zipfile
from collections.abc import Callable, Iterable
from contextlib import suppress
from pathlib import Path
from tempfile import TemporaryDirectory, TemporaryFile
from typing import IO, NamedTuple

from .. import journal
from ..events import Event, Frozen, Recorded, Shared, Started
from ..journal import Journal, NewerSchemaError
from ..runs.context import recorded
from ..runs.guesses import ABOUT, Played, guesses, path_of
from ..runs.labels import BY, Kept, Sealing
from ..runs.library import RunLibrary, RunNotFound, events_in, kept_path, of_today, said_path, sealed_path, shared_path
from .quotas import check_stored

_AWAY = 100
"""How many deleted runs can be brought back; each is an open file."""


class _Away(NamedTuple):
    """A deleted run: who deleted it, and its journals as a zip in a file without a name."""

    by: str
    file: IO[bytes]


class Annotations:
    """Shares, seals, titles, hides, labels and deletes the runs of `journals`; every method may be called from any
    thread.

    `ended(run_id)` is called after each change, `forget` with what happened in a run that is deleted.
    """

    def __init__(
        self,
        journals: RunLibrary,
        ended: Callable[[str], None] = lambda run_id: None,
        forget: Callable[[Iterable[Event]], None] = lambda events: None,
    ) -> None:
        self._journals = journals
        self._ended = ended
        self._forget = forget
        self._away: dict[str, _Away] = {}
        self._playing = threading.Lock()

    def say(self, run_id: str, who: str, case: str, record: Frozen, item: str, owner: str = "", by: str = "") -> None:
        """Keep what a person says about a run, such as a guess: in a journal of their own, so that the run's has one
        writer and no two people's words replace each other. What is said bears the name `by`, or the journal's. Raises
        RunNotFound, and QuotaExceeded where the host's room for journals is full.
        """
        check_stored(self._journals.folder)
        said = self._said(run_id, who)
        self._add(run_id, said, recorded(said.stem, record, item, case=case, trial=item, by=by or who), owner)

    def play(self, lab: str, case: str, trial: str, guess: Played, who: str) -> bool:
        """Keep what `who` guesses of a trial in the game of that lab, in the journal of the pack and the player.
        Whether it was the first guess of that trial; any other changes nothing. Raises QuotaExceeded as `say` does.
        """
        check_stored(self._journals.folder)
        path = path_of(self._journals.folder, guess.pack, who)
        place = guess.run, case, trial
        with self._playing:
            if any((one.played.run, one.case, one.trial) == place for one in guesses(path)):
                return False
            with Journal(path) as written:
                if written.is_new:
                    about = f"{ABOUT}{guess.pack}"
                    written.append(Started(run=path.stem, lab=lab, spec={}, seed=0, about=about, owner=who))
                written.append(recorded(path.stem, guess, guess.item(trial), case=case, trial=trial, by=who))
        self._ended(path.stem)
        return True

    def speaker(self, run_id: str, who: str) -> str | None:
        """The name of the person who speaks of the run as `who`; None where nobody has. Raises RunNotFound."""
        said = self._said(run_id, who)
        return self._journals.owner(said.stem) if said.exists() and not journal.is_blank(said) else None

    def said(self, run_id: str, who: str) -> list[Event]:
        """What that person said about the run. Raises RunNotFound."""
        said = self._said(run_id, who)
        return [event for event in journal.read(said).events if event.kind == "recorded"] if said.exists() else []

    def told(self, run_id: str, who: str) -> tuple[Recorded, ...]:
        """The same, kept in memory as long as it does not change. Raises RunNotFound."""
        return tuple(event for event in events_in(self._said(run_id, who)) if isinstance(event, Recorded))

    def labels(self, run_id: str) -> dict[str, list[Recorded]]:
        """What people say of the run's cases and trials (`core.runs.labels`), by the name each says it under. Raises
        RunNotFound.
        """
        name = self._journals.path(run_id).stem
        said = {path: journal.read(path).events for path in sorted(self._journals.folder.glob(f"{name}~{BY}*.jsonl"))}
        return {
            path.stem.partition("~")[2]: [event for event in events if isinstance(event, Recorded)]
            for path, events in said.items()
        }

    def share(self, run_id: str, shared: bool) -> None:
        """Let everyone look at a run, or nobody but its owner any more. Raises RunNotFound."""
        if self._journals.is_recording(run_id):
            raise RunNotFound(f"{run_id} is a recording: everyone may look at it.")
        path = shared_path(self._journals.place(run_id))
        self._add(run_id, path, Shared(run=path.stem, shared=shared))

    def seal(self, run_id: str, sealed: bool) -> None:
        """Let others see of a run what they have foretold, or all of it again. Raises RunNotFound."""
        if self._journals.is_recording(run_id):
            raise RunNotFound(f"{run_id} is a recording: everyone may look at it.")
        path = sealed_path(self._journals.place(run_id))
        self._add(run_id, path, recorded(path.stem, Sealing(sealed=sealed), "run"))

    def keep(self, run_id: str, kept: Kept, owner: str = "") -> None:
        """Keep the run so from now on. Raises RunNotFound."""
        if self._journals.is_recording(run_id):
            raise RunNotFound(f"{run_id} is a recording: it stays as it is.")
        path = kept_path(self._journals.place(run_id))
        self._add(run_id, path, recorded(path.stem, kept, "run"), owner)

    def kept(self, run_id: str) -> Kept:
        """How its owner keeps the run. Raises RunNotFound."""
        path = kept_path(self._journals.place(run_id))
        said = journal.read(path).events if path.exists() else []
        return Kept.model_validate(said[-1].data) if said and isinstance(said[-1], Recorded) else Kept()

    def delete(self, run_id: str, who: str = "") -> None:
        """Delete the run, with what was said about it: nothing of it stands in the home any more. `who` may bring it
        back until this process ends, or a hundred others were deleted. Raises RunNotFound, and JournalInUse where it
        goes on.
        """
        path = self._journals.path(run_id)
        if self._journals.is_recording(run_id):
            raise RunNotFound(f"{run_id} is a recording: it stays where it is.")
        # Nobody goes on with it meanwhile.
        with Journal(self._journals.place(run_id)):
            # Of what a later version wrote the answers stay that were kept.
            with suppress(NewerSchemaError):
                self._forget(journal.read(path).events)
            file = TemporaryFile(dir=self._journals.folder)  # noqa: SIM115  it is open as long as it can be brought back
            journals = [*self._journals.folder.glob(f"{run_id}~*.jsonl"), path]
            with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as away:
                for one in journals:
                    away.write(one, one.name)
            for one in journals:
                one.unlink()
            self._away[run_id] = _Away(who, file)
        for oldest in list(self._away)[:-_AWAY]:
            self._away.pop(oldest).file.close()
        self._ended(run_id)

    def deleted(self, who: str = "") -> list[str]:
        """The runs that `who` deleted in this process and may bring back, the latest last."""
        return [run for run, away in self._away.items() if away.by == who]

    def undo(self, run_id: str, who: str = "") -> None:
        """Bring back a run that `who` deleted. Raises RunNotFound where there is none."""
        if run_id not in self.deleted(who):
            raise RunNotFound(f"{run_id} can no longer be brought back.")
        # Not in pieces, whatever happens meanwhile.
        with TemporaryDirectory(prefix=".undone-", dir=self._journals.folder) as aside:
            with zipfile.ZipFile(self._away[run_id].file) as away:
                away.extractall(aside)
            for one in Path(aside).iterdir():
                one.rename(self._journals.folder / one.name)
        self._away.pop(run_id).file.close()
        self._ended(run_id)

    def _add(self, run_id: str, path: Path, event: Event, owner: str = "") -> None:
        """Write `event` into the journal of what somebody says about a run; begin it where there is none."""
        with Journal(path) as written:
            if written.is_new:
                with of_today():
                    begun = journal.begun(self._journals.path(run_id))
                lab = begun.lab if begun else ""
                written.append(Started(run=path.stem, lab=lab, spec={}, seed=0, about=run_id, owner=owner))
            written.append(event)
        self._ended(path.stem)

    def _said(self, run_id: str, who: str) -> Path:
        return said_path(self._journals.place(run_id), who)
