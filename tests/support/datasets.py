"""The items of a data set alone, as most tests of loaders want them."""

from pathlib import Path

from core.datasets.items import Item, Split
from core.datasets.registry import read


def load(
    name: str,
    path: str | Path | None = None,
    split: Split | None = None,
    limit: int | None = None,
    seed: int | None = 0,
) -> list[Item]:
    """Return the items that `read` gives."""
    return read(name, path, split, limit, seed)[0]
