"""What people do with finished runs and say about them, in separate journals: a run's own journal has one writer."""

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
from ..runs import library
from ..runs.context import recorded
from ..runs.labels import ABOUT, BY, Kept, Played, Sealing, guesses, path_of
from .quotas import check_stored

_AWAY = 100
"""How many deleted runs can be restored; each is an open file."""


class _Away(NamedTuple):
    """A deleted run: who deleted it, and its journals as a zip in an unnamed file."""

    by: str
    file: IO[bytes]


class Annotations:
    """Shares, seals, titles, hides, labels and deletes the runs of `journals`. Every method may be called from any
    thread.

    `ended(run_id)` is called after each change, and `forget` with the events of a run that is deleted.
    """

    def __init__(
        self,
        journals: library.RunLibrary,
        ended: Callable[[str], None] = lambda run_id: None,
        forget: Callable[[Iterable[Event]], None] = lambda events: None,
    ) -> None:
        self._journals = journals
        self._ended = ended
        self._forget = forget
        self._away: dict[str, _Away] = {}
        self._playing = threading.Lock()

    def add(self, run_id: str, who: str, case: str, record: Frozen, item: str, owner: str = "", by: str = "") -> None:
        """Store what a person says about a run, such as a guess, in a journal of their own: so the run's journal has
        one writer, and no two people overwrite each other. The event is stored under the name `by`, or else `who`.
        Raises RunNotFoundError, and QuotaExceededError if the host's storage limit is reached.
        """
        check_stored(self._journals.folder)
        said = self._said(run_id, who)
        self._add(run_id, said, recorded(said.stem, record, item, case=case, trial=item, by=by or who), owner)

    def add_guess(self, lab: str, case: str, trial: str, guess: Played, who: str) -> bool:
        """Store a player's guess about a trial in the lab's game, in the journal of that pack and player. Returns
        whether it was the player's first guess about that trial; any other is ignored. Raises QuotaExceededError as
        `add` does.
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

    def events(self, run_id: str, who: str) -> list[Recorded]:
        """What that person said about the run. Raises RunNotFoundError."""
        return _recorded(self._said(run_id, who))

    def labels(self, run_id: str) -> dict[str, list[Recorded]]:
        """The labels of the run's cases and trials (`core.runs.labels`), by the name under which each person labels.
        Raises RunNotFoundError.
        """
        name = self._journals.path(run_id).stem
        paths = sorted(self._journals.folder.glob(f"{name}~{BY}*.jsonl"))
        return {path.stem.partition("~")[2]: _recorded(path) for path in paths}

    def share(self, run_id: str, shared: bool) -> None:
        """Let everyone view a run, or only its owner again. Raises RunNotFoundError."""
        path = library.about_path(self._journals.changeable_path(run_id, "everyone may open"), "shared")
        self._add(run_id, path, Shared(run=path.stem, shared=shared))

    def seal(self, run_id: str, sealed: bool) -> None:
        """Seal a run, so that others see only what they have predicted, or unseal it. Raises RunNotFoundError."""
        path = library.about_path(self._journals.changeable_path(run_id, "everyone may open"), "sealed")
        self._add(run_id, path, recorded(path.stem, Sealing(sealed=sealed), "run"))

    def save_run_settings(self, run_id: str, kept: Kept, owner: str = "") -> None:
        """Set the run's title and whether it is hidden. Raises RunNotFoundError."""
        path = library.about_path(self._journals.changeable_path(run_id, "cannot be changed"), "kept")
        self._add(run_id, path, recorded(path.stem, kept, "run"), owner)

    def run_settings(self, run_id: str) -> Kept:
        """The title that the owner gave the run, and whether they hid it. Raises RunNotFoundError."""
        said = _recorded(library.about_path(self._journals.local_path(run_id), "kept"))
        return Kept.model_validate(said[-1].data) if said else Kept()

    def delete(self, run_id: str, who: str = "") -> None:
        """Delete the run with all that was said about it, so that nothing of it is left in the home. `who` may restore
        it until this process ends or a hundred other runs were deleted. Raises RunNotFoundError, and JournalInUseError
        if the run is in progress.
        """
        path = self._journals.changeable_path(run_id, "cannot be deleted")
        # The lock keeps others from continuing the run meanwhile.
        with Journal(path):
            # The cached answers of a run that a later version wrote stay.
            with suppress(NewerSchemaError):
                self._forget(journal.read(path).events)
            file = TemporaryFile(dir=self._journals.folder)  # noqa: SIM115  open for as long as it can be restored
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
        """The runs that `who` deleted in this process and may restore, the latest last."""
        return [run for run, away in self._away.items() if away.by == who]

    def undo(self, run_id: str, who: str = "") -> None:
        """Restore a run that `who` deleted. Raises RunNotFoundError if there is none."""
        if run_id not in self.deleted(who):
            raise library.RunNotFoundError(f"{run_id} can no longer be restored.")
        # Extracted elsewhere first, so that a failure restores no half of a run.
        with TemporaryDirectory(prefix=".undone-", dir=self._journals.folder) as aside:
            with zipfile.ZipFile(self._away[run_id].file) as away:
                away.extractall(aside)
            for one in Path(aside).iterdir():
                one.rename(self._journals.folder / one.name)
        self._away.pop(run_id).file.close()
        self._ended(run_id)

    def _add(self, run_id: str, path: Path, event: Event, owner: str = "") -> None:
        """Append `event` to a journal about a run; begin the journal if it is new."""
        with Journal(path) as written:
            if written.is_new:
                with library.refusing_newer_journals():
                    begun = journal.first_event(self._journals.path(run_id))
                lab = begun.lab if begun else ""
                written.append(Started(run=path.stem, lab=lab, spec={}, seed=0, about=run_id, owner=owner))
            written.append(event)
        self._ended(path.stem)

    def _said(self, run_id: str, who: str) -> Path:
        return library.said_path(self._journals.local_path(run_id), who)


def _recorded(path: Path) -> list[Recorded]:
    """What is said in a journal about a run."""
    return [event for event in library.events_in(path) if isinstance(event, Recorded)]
