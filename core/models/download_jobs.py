"""Downloads under way, each in a thread of its own, so that a page can come and go."""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Generic, Protocol, TypeVar

from ..events import CallFailed
from .download import Progress


class Named(Protocol):
    """What can be downloaded."""

    @property
    def name(self) -> str:
        """Its name; no other of its kind has it."""

    @property
    def title(self) -> str:
        """What people call it."""


What = TypeVar("What", bound=Named)


@dataclass
class Fetch:
    """One download. Bytes; `failure` and `downloaded` are set when it is over."""

    done: int = 0
    size: int = 0
    failure: CallFailed | None = None
    downloaded: Path | None = None
    stop: threading.Event = field(default_factory=threading.Event)

    @property
    def going(self) -> bool:
        """Whether the download has neither failed nor ended."""
        return self.failure is None and self.downloaded is None


class Fetches(Generic[What]):
    """The process's downloads of one kind, by name. `get` makes one of them, and gives the file or folder."""

    def __init__(self, get: Callable[[What, Progress, threading.Event], Path]) -> None:
        self._get = get
        self._by_name: dict[str, Fetch] = {}
        self._turn = threading.Lock()

    def start(self, what: What) -> Fetch:
        """Begin to download `what`, or resume where it stopped; the download under way if there is one."""
        with self._turn:
            fetch = self._by_name.get(what.name)
            if fetch is None or not fetch.going:
                fetch = self._by_name[what.name] = Fetch()
                threading.Thread(
                    target=self._run, args=[what, fetch], name=f"download {what.name}", daemon=True
                ).start()
        return fetch

    def get(self, name: str) -> Fetch | None:
        """The download of that name, under way or over; None where none was begun."""
        return self._by_name.get(name)

    def _run(self, what: What, fetch: Fetch) -> None:
        def progress(done: int, size: int) -> None:
            fetch.done, fetch.size = done, size

        try:
            fetch.downloaded = self._get(what, progress, fetch.stop)
        except CallFailed as failure:
            fetch.failure = failure
        except OSError as error:
            fetch.failure = CallFailed(f"{what.title} could not be written: {error.strerror}.")
