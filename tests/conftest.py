"""What every test stands on: a home of its own, so that no test meets another's runs or the person's."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import settings

# How long one example takes says nothing on a machine that is busy with others.
settings.register_profile("unhurried", deadline=None)
settings.load_profile("unhurried")

DATASETS = Path(__file__).resolve().parents[2] / "shared" / "datasets"


@pytest.fixture(autouse=True)
def own_home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """`$EXPLAIN_HOME` in the test's own folder, and no key or address from the outside."""
    monkeypatch.setenv("EXPLAIN_HOME", str(tmp_path / "home"))
    for name in ("OPENAI_API_KEY", "OPENAI_BASE_URL"):
        monkeypatch.delenv(name, raising=False)
    yield tmp_path / "home"


@pytest.fixture
def datasets() -> Path:
    """The folder of real datasets that may lie beside the project."""
    if not DATASETS.is_dir():
        pytest.skip(f"no real datasets at {DATASETS}")
    return DATASETS
