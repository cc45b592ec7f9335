from collections.abc import Iterator
from pathlib import Path

import pytest
from store_events import LABS

from core.store.store import Store


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with Store(tmp_path / "store.duckdb", LABS) as store:
        yield store


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    path = tmp_path / "journals"
    path.mkdir()
    return path
