"""Downloads under way, each in a thread of its own, so that a page can come and go."""

from __future__ import annotations

import threading
from dataclasses import dataclass, field
from pathlib import Path

from core.events import CallFailed
from core.models.download import HubModel, download


@dataclass
class Fetch:
    """One download. Bytes; `failure` and `downloaded` are set when it is over."""

    model: HubModel
    done: int = 0
    size: int = 0
    failure: CallFailed | None = None
    downloaded: Path | None = None
    stop: threading.Event = field(default_factory=threading.Event)

    @property
    def going(self) -> bool:
        """Whether the download has neither failed nor ended."""
        return self.failure is None and self.downloaded is None


class Fetches:
    """The process's downloads by model name."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._by_name: dict[str, Fetch] = {}
        self._turn = threading.Lock()

    def start(self, model: HubModel) -> Fetch:
        """Begin to download `model`, or go on where it stopped; the one that is going if there is one."""
        with self._turn:
            fetch = self._by_name.get(model.name)
            if fetch is None or not fetch.going:
                fetch = self._by_name[model.name] = Fetch(model, size=model.size_bytes)
                threading.Thread(target=self._run, args=[fetch], name=f"download {model.name}", daemon=True).start()
        return fetch

    def get(self, name: str) -> Fetch | None:
        """The download of the model `name`, going or over; None where none was begun."""
        return self._by_name.get(name)

    def _run(self, fetch: Fetch) -> None:
        def progress(done: int, size: int) -> None:
            fetch.done, fetch.size = done, size

        try:
            fetch.downloaded = download(fetch.model, self._folder, progress, fetch.stop)
        except CallFailed as failure:
            fetch.failure = failure
        except OSError as error:
            fetch.failure = CallFailed(f"{fetch.model.title} could not be written: {error.strerror}.")
