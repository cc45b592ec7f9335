"""Where the published benchmark lies, for the tests that compare with it."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import settings

# A busy machine makes no property wrong.
settings.register_profile("unhurried", deadline=None)
settings.load_profile("unhurried")

FIND_DIR = Path(__file__).resolve().parents[4] / "../shared/datasets/find"


@pytest.fixture(scope="session")
def find_dir() -> Path:
    if not FIND_DIR.is_dir():
        pytest.skip("the published FIND metadata are not here (../shared/datasets/find)")
    return FIND_DIR
