"""The runs that come with the app, as their list tells of them: `data/recordings/recordings.toml`."""

from __future__ import annotations

import tomllib
from functools import cache
from pathlib import Path

from ..events import Frozen


class Recording(Frozen):
    """One run, by its id. `words` say what it shows, which is the end of its story; it is `of` so many of its lab's
    that were begun. It is told by the trial `row`, where one is named, and by the `title`, where its own says little.
    """

    run: str
    words: str
    of: int
    row: str = ""
    title: str = ""


class Recordings(Frozen):
    """All of them, and the model that was asked: its weights' `size` in bytes, and the tokens that it wrote in a
    second, with its reading of prompts, on so many `cores` that had little else to do.
    """

    model: str
    quantisation: str
    licence: str
    size: int
    cores: int
    rate: float
    recording: tuple[Recording, ...]

    def of_lab(self, name: str) -> list[Recording]:
        """Those of one lab, in order."""
        return [one for one in self.recording if f"-{name}-" in one.run]

    def named(self, run: str) -> Recording | None:
        """The one of that run."""
        return next((one for one in self.recording if one.run == run), None)


@cache
def listed(folder: Path) -> Recordings:
    """The list in the folder of recordings."""
    return Recordings.model_validate(tomllib.loads((folder / "recordings.toml").read_text(encoding="utf-8")))
