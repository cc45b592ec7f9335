"""What the journals of runs contain, no matter who writes them: where each is, who owns it, what has happened in it;
and the runs that come with the app.
"""

import tomllib
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from functools import cache, lru_cache
from pathlib import Path
from typing import Literal

from pydantic import ValidationError

from .. import files, home, journal
from ..errors import ExplainError
from ..events import Event, Frozen, Recorded, Shared, Started
from ..journal import Fault, NewerSchemaError, Tail
from ..labs.base.lab import Lab
from ..labs.base.spec import Spec
from ..transcript import Transcript, ancestors
from .context import complaints

# The journals about a run, `<run>~….jsonl`: what people say about it, and whether it is shared, sealed, renamed or
# hidden.


def said_path(path: Path, who: str) -> Path:
    """The journal of what `who` says about the run of the journal `path`."""
    safe = "".join(letter if letter.isalnum() or letter in "-_" else "_" for letter in who)[:60] or "_"
    return path.with_name(f"{path.stem}~{safe}.jsonl")


def about_path(path: Path, what: Literal["shared", "kept", "sealed", "from"]) -> Path:
    """The journal about the run of the journal `path` that says whether it is shared or sealed, what the owner `kept`
    of its settings (title, hidden), or who sent it; no commenter's name begins with ~.
    """
    return path.with_name(f"{path.stem}~~{what}.jsonl")


def is_sealed(path: Path) -> bool:
    """Whether others see only what they have predicted of the run of the journal `path`; True if that cannot be
    read.
    """
    place = about_path(path, "sealed")
    said = [event.data.get("sealed") for event in events_in(place) if isinstance(event, Recorded)]
    return bool(said[-1]) if said else place.exists()


def is_shared(path: Path) -> bool:
    """Whether everyone may view the run of the journal `path`."""
    said = [event.shared for event in events_in(about_path(path, "shared")) if isinstance(event, Shared)]
    return bool(said) and said[-1]


def events_in(path: Path) -> tuple[Event, ...]:
    """The events of a small journal, read again only after it has changed; empty if there is no such file."""
    return _read(path, files.stamp(path))


@lru_cache(maxsize=2_048)
def _read(path: Path, stamp: tuple[int, int]) -> tuple[Event, ...]:
    return tuple(journal.read(path).events) if path.exists() else ()


# A run as a viewer sees it, whichever process writes its journal.


class Watch:
    """A run as someone views it: each call of `refresh` reads what is new, no matter who writes the journal.

    `case` is the case to follow in full; of the others only the progress is stored. "" stores everything.
    """

    def __init__(self, path: Path, partial: Callable[[], dict[str, str]], case: str) -> None:
        self._tail = Tail(path)
        self._partial = partial
        kept = {"", case, *ancestors(case)}
        self.transcript = Transcript(keep=lambda place: place in kept) if case else Transcript()

    def refresh(self) -> bool:
        """Read what is new; returns whether there was anything. Raises FileNotFoundError."""
        with journal.without_collections():
            news = self._tail.news().events
            for event in news:
                self.transcript.apply(event)
        partial = self._partial()
        self.transcript.set_partial(partial)
        return bool(news) or bool(partial)


IMPORTED = "imported"
"""The name of the record that says who sent an imported run."""


class RunNotFoundError(ExplainError, LookupError):
    """There is no journal of that name, or none that this app can read; the message says which."""

    title = "There is no such run"


class RunSealedError(RunNotFoundError):
    """The visitor sees only the parts of the run that they have predicted; the message says what to do."""

    title = "This run is sealed"


class RunInAuditError(RunSealedError):
    """Answers of the run were sampled for the visitor's blind audit and are not judged yet; the message says what to
    do.
    """

    title = "This run is part of your blind audit"


class NewerRunError(RunNotFoundError):
    """A newer version of the app wrote the journal."""

    title = "This run cannot be read here"


@contextmanager
def refusing_newer_journals() -> Iterator[None]:
    """Turn NewerSchemaError into NewerRunError, which means that a newer version of the app wrote the journal."""
    try:
        yield
    except NewerSchemaError as error:
        raise NewerRunError(str(error)) from None


class RunLibrary:
    """The journals of `folder`, and of `recordings`: a folder of further runs that are read-only and have no owner.
    What people say about recordings is stored in `folder`. Every method may be called from any thread.
    """

    def __init__(self, folder: Path, labs: Mapping[str, Lab], recordings: Path | None = None) -> None:
        self.folder = folder
        self.labs = labs
        self._recordings = recordings
        self._owners: dict[str, str] = {}

    def path(self, run_id: str) -> Path:
        """The path of the run's journal. Raises RunNotFoundError."""
        path = journal.find(run_id, self.folder, self._recordings, home.priors())
        if path is not None:
            return path
        raise RunNotFoundError(f"There is no run named {run_id!r} in {self.folder}.")

    def local_path(self, run_id: str) -> Path:
        """Where the run's journal would be if it were not a recording; journals about the run are stored beside it."""
        return self.folder / self.path(run_id).name

    def lab_and_spec(self, run_id: str, history: Iterable[Event]) -> tuple[Lab, Spec]:
        """The lab and the specification of the run with that history. Raises RunNotFoundError if this app cannot
        continue it.
        """
        started = next((event for event in history if isinstance(event, Started)), None)
        if started is None or started.lab not in self.labs or started.about:
            raise RunNotFoundError(f"{run_id} contains no run that this app can continue.")
        lab = self.labs[started.lab]
        try:
            return lab, lab.spec.model_validate(started.spec)
        except ValidationError as error:
            why = "; ".join(complaints(error)[:3])
            raise RunNotFoundError(
                f"The settings of {run_id} cannot be read by this version of the app: {why}"
            ) from None

    def changeable_path(self, run_id: str, words: str) -> Path:
        """The same for a run that can be changed. Raises RunNotFoundError, with these `words`, for a recording."""
        if self.is_recording(run_id):
            raise RunNotFoundError(f"{run_id} is a recording, which {words}.")
        return self.local_path(run_id)

    def owner(self, run_id: str) -> str:
        """The name of the run's owner; empty for a run of the command line. Raises RunNotFoundError."""
        if run_id not in self._owners:
            with refusing_newer_journals():
                begun = journal.first_event(self.path(run_id))
            if begun is None:
                # The first line is not written yet, or lost.
                return ""
            self._owners[run_id] = begun.owner
        return self._owners[run_id]

    def is_recording(self, run_id: str) -> bool:
        """Whether the run came with the app. Raises RunNotFoundError."""
        unpacked = home.unpacked_folder(self._recordings) if self._recordings else None
        return self.path(run_id).parent in (self._recordings, home.priors(), unpacked)

    def shared(self, run_id: str) -> bool:
        """Whether everyone may view the run. Raises RunNotFoundError."""
        return self.is_recording(run_id) or is_shared(self.local_path(run_id))

    def sealed(self, run_id: str) -> bool:
        """Whether others see only what they have predicted of the run. Raises RunNotFoundError."""
        with refusing_newer_journals():
            return not self.is_recording(run_id) and is_sealed(self.local_path(run_id))

    def events(self, run_id: str) -> list[Event]:
        """The events of a run so far. Raises RunNotFoundError."""
        with refusing_newer_journals():
            return journal.read(self.path(run_id)).events

    def faults(self, run_id: str) -> list[Fault]:
        """The lines of the run's journal that hold no event, are missing or were moved. Raises RunNotFoundError."""
        with refusing_newer_journals():
            return journal.faults(self.path(run_id))

    def case(self, run_id: str, case: str) -> Transcript:
        """One case of a run and how the others ended; the rest of the journal is not read. Raises RunNotFoundError."""
        path, kept = self.path(run_id), {"", case, *ancestors(case)}
        with refusing_newer_journals():
            part = journal.read_part(path, kept).events
        state = Transcript(keep=lambda place: place in kept)
        for event in part:
            state.apply(event)
        return state


# The runs that come with the app, as listed in `data/recordings/recordings.toml`.


EXAMPLE_STUDY = "example"
"""The study whose runs are in the archive `packs/example.zip`: `studies/example.toml`."""


class Recording(Frozen):
    """One recorded run, by its id. `quote` is something that the model wrote in it, and `twist` says in a line what
    became of that. It was chosen among `of` runs of its lab. Its story shows the trial `row` if one is named, and has
    the `title` if the run's own says too little.
    """

    run: str
    quote: str
    twist: str
    of: int
    row: str = ""
    title: str = ""


class Recordings(Frozen):
    """All recordings, and the model that was asked: the `size` of its weights in bytes, and its `rate` in tokens per
    second, with the time for reading prompts, on a machine with this number of mostly idle `cores`.
    """

    model: str
    quantisation: str
    licence: str
    size: int
    cores: int
    rate: float
    recording: tuple[Recording, ...]

    def of_lab(self, name: str) -> list[Recording]:
        """The recordings of one lab, in order."""
        return [one for one in self.recording if f"-{name}-" in one.run]

    def named(self, run: str) -> Recording | None:
        """The recording of that run; None if there is none."""
        return next((one for one in self.recording if one.run == run), None)


@cache
def list_recordings(folder: Path) -> Recordings:
    """The list in the folder of recordings."""
    return Recordings.model_validate(tomllib.loads((folder / "recordings.toml").read_text(encoding="utf-8")))
