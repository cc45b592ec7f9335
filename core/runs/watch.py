"""A run as someone looks at it, whoever writes its journal."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path

from core.events import Event, Started
from core.journal import Tail
from core.lab.lab import Lab
from core.runs.upgrade import upgraded
from core.transcript import Transcript, ancestors


class Watch:
    """A run as someone looks at it: each look takes in what is new, whoever writes the journal.

    `case` is the case that is looked at closely; of the others only how far they are is kept. "" keeps everything.
    """

    def __init__(self, path: Path, labs: Mapping[str, Lab], partial: Callable[[], dict[str, str]], case: str) -> None:
        self._tail = Tail(path)
        self._labs = labs
        self._partial = partial
        self._case = case
        self._events: list[Event] = []
        self.transcript = self._empty()

    def _empty(self) -> Transcript:
        if not self._case:
            return Transcript()
        kept = {"", self._case, *ancestors(self._case)}
        return Transcript(keep=lambda place: place in kept)

    def look(self) -> bool:
        """Take in what is new; whether anything was. Raises FileNotFoundError."""
        news = self._tail.news().events
        first = next(iter(self._events or news), None)
        is_old = isinstance(first, Started) and first.version == 1
        if is_old and news:
            # Of schema 1: short, made of one piece, and written no more.
            self._events += news
            self.transcript = self._empty()
            news = upgraded(self._events, self._labs)
        for event in news:
            self.transcript.apply(event)
        partial = self._partial()
        self.transcript.see(partial)
        return bool(news) or bool(partial)
