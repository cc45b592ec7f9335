"""A run as someone looks at it, no matter who writes its journal."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from ..journal import Tail
from ..transcript import Transcript, ancestors


class Watch:
    """A run as someone looks at it: each look takes in what is new, no matter who writes the journal.

    `case` is the case that is looked at closely; of the others only how far they are is kept. "" keeps everything.
    """

    def __init__(self, path: Path, partial: Callable[[], dict[str, str]], case: str) -> None:
        self._tail = Tail(path)
        self._partial = partial
        self._case = case
        self.transcript = self._empty()

    def _empty(self) -> Transcript:
        if not self._case:
            return Transcript()
        kept = {"", self._case, *ancestors(self._case)}
        return Transcript(keep=lambda place: place in kept)

    def look(self) -> bool:
        """Take in what is new; whether anything was. Raises FileNotFoundError."""
        news = self._tail.news().events
        for event in news:
            self.transcript.apply(event)
        partial = self._partial()
        self.transcript.see(partial)
        return bool(news) or bool(partial)
