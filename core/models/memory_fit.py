"""Which local model fits this machine, and how long it would take, judged by the speed of another."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

import psutil

from . import download, local

ROOM = 2.0
"""The memory that a model needs, as a multiple of its file's size: room for the context and for other programs."""


class Fitting(NamedTuple):
    """A local model's id, and the size of its file in bytes."""

    id: str
    size: int


def memory() -> int:
    """The bytes of memory of this machine."""
    return int(psutil.virtual_memory().total)


def largest_installed(folder: Path, has: int | None) -> Fitting | None:
    """The largest installed model that fits `has` bytes of memory; `folder` has the downloaded ones. The model that
    comes with the app always fits.
    """
    models = {f"local/{name}": path.stat().st_size for name, path in local.installed(folder).items()}
    return _largest((Fitting(*model) for model in models.items()), has)


def largest_downloadable(has: int | None) -> Fitting | None:
    """The largest model that could be downloaded and fits `has` bytes of memory."""
    return _largest((Fitting(f"local/{model.name}", model.size_bytes) for model in download.downloadable()), has)


def _largest(models: Iterable[Fitting], has: int | None) -> Fitting | None:
    def fits(model: Fitting) -> bool:
        return model.id == f"local/{local.SHIPPED}" or (has is not None and model.size * ROOM <= has)

    return max(filter(fits, models), key=lambda model: model.size, default=None)


def seconds(model: Fitting, tokens: int, rate: float, size: int) -> float:
    """The seconds that `model` may take for this number of tokens, if a model of `size` bytes wrote `rate` tokens a
    second on a similar machine: each token requires reading all weights once.
    """
    return tokens / rate * model.size / size
