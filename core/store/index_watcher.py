"""Keeps the store up to date with the journals, no matter who writes them, as long as the process lives."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from .index import Index, index
from .store import Store

log = logging.getLogger(__name__)


_SHARE = 20
"""While nothing is new, looking takes at most one second of processor time in every _SHARE seconds."""


def pause(every: float, took: float) -> float:
    """Seconds until the next look, after one that took `took` seconds of processor time and found nothing."""
    return max(every, _SHARE * took)


class IndexWatcher:
    """Indexes the folder's journals every few seconds (less often if there are so many that a look takes long) and
    immediately after `wake`. `changes` counts the looks that found something new.

    The folder `recordings` never changes, and is indexed only once.
    """

    def __init__(self, store: Store, journals: Path, every: float = 2.0, recordings: Path | None = None) -> None:
        self.store = store
        self.changes = 0
        self.looked = threading.Event()
        """Set once everything that was there at the start is indexed."""
        self._journals = journals
        self._recordings = recordings
        self._index = Index(store, journals)
        self._every = every
        self._woken = threading.Event()
        self._closed = False
        self._thread = threading.Thread(target=self._keep, name="store", daemon=True)
        self._thread.start()

    @property
    def progress(self) -> tuple[int, int]:
        """How many of how many changed journals the current look has read, or the last one."""
        return self._index.progress

    def wake(self) -> None:
        """Make the thread look now, for example because a run has ended."""
        self._woken.set()

    def update_now(self) -> None:
        """Look now, and return when it is done."""
        if self._index.update():
            self.changes += 1

    def close(self) -> None:
        """End the thread, waiting for it 5 seconds at most, and close the store."""
        self._closed = True
        self._woken.set()
        self._thread.join(timeout=5)
        self.store.close()

    def _keep(self) -> None:
        if self._recordings is not None:
            with self._reported(self._recordings):
                index(self.store, self._recordings, recordings=True)
        while not self._closed:
            rest = self._every
            with self._reported(self._journals):
                began = time.thread_time()
                if self._index.update():
                    self.changes += 1
                else:
                    rest = pause(self._every, time.thread_time() - began)
            self.looked.set()
            self._woken.wait(rest)
            self._woken.clear()

    @contextmanager
    def _reported(self, folder: Path) -> Iterator[None]:
        """Log any error: the journals are the source and stay untouched, and the next look may succeed."""
        try:
            yield
        except Exception:
            log.exception("indexing %s", folder)
