"""The runs that come with the app, as listed in `data/recordings/recordings.toml`."""

from __future__ import annotations

import tomllib
from functools import cache
from pathlib import Path

from ..events import Frozen

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
