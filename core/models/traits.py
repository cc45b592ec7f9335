"""What has been learned of a model by asking it: whether it thinks, what it refuses. Stored in the home, by address."""

from __future__ import annotations

import json
import logging
import threading
from contextlib import suppress
from pathlib import Path
from typing import Any, Literal

from pydantic import ValidationError

from .. import home
from ..events import Frozen

log = logging.getLogger(__name__)

MOST_ROOM = 32_000
"""The most tokens of room for thinking that are learned automatically."""

FIRST_ROOM = 4_000
"""Tokens of room that a model gets after an answer was all thinking, if nothing is known of how much it needs."""

ROOM_TO_TELL = 2_000
"""Tokens of room for one call whose text was cut before it showed whether it was thinking or an answer."""

_MOST_MODELS = 1_000
"""The most models in the file, since a server may name as many as it likes."""

Thinks = Literal["unknown", "no", "inline", "field", "hidden"]
"""Whether and where a model thinks before it answers: in its text (`inline`), in a field of its own, or hidden."""


class Traits(Frozen):
    """What is known of one model at one address."""

    thinks: Thinks = "unknown"
    refused: frozenset[str] = frozenset()
    """Parameters that the server refused; "blank stops" stands for stop sequences of only white space."""

    room: int = 0
    """Tokens for thinking that each call gets in addition to those of its answer."""

    system_role: bool = True
    """Whether it accepts a system turn. If not, that text is put before the first user turn."""


class TraitsFile:
    """The traits of all models of a home, in one JSON file. If the file cannot be read or written, the app works
    without it.
    """

    def __init__(self, path: Path | None) -> None:
        self._path = path
        self._lock = threading.Lock()
        self._known: dict[str, Traits] = {}
        self._read()

    def get(self, key: str) -> Traits:
        """What is known under `key`, the address and the model."""
        return self._known.get(key, Traits())

    def learn(self, key: str, **news: Any) -> Traits:
        """Store what is new about a model; returns its updated traits."""
        with self._lock:
            self._read()
            before = self.get(key)
            after = before.model_copy(update=news)
            if after != before and (key in self._known or len(self._known) < _MOST_MODELS):
                self._known[key] = after
                self._write()
            return after

    def _read(self) -> None:
        """Read what another process has learned."""
        if self._path is None:
            return
        with suppress(OSError, ValueError, ValidationError, AttributeError, RecursionError):
            kept = json.loads(self._path.read_text(encoding="utf-8"))
            self._known |= {str(key): Traits.model_validate(one) for key, one in kept.items()}

    def _write(self) -> None:
        if self._path is None or not self._path.parent.is_dir():
            return
        kept = {key: one.model_dump(mode="json", exclude_defaults=True) for key, one in self._known.items()}
        try:
            home.write(self._path, json.dumps(kept, indent=1, sort_keys=True).encode())
        except OSError as error:
            log.warning("%s cannot be written: %s", self._path, error)
