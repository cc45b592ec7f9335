"""The number of random runs in a test."""

import os

ALL = os.environ.get("ATTACKS") == "all"
"""Whether `make thorough` runs the tests."""


def tenth(runs: int) -> int:
    """The number of random runs to make: a tenth of `runs`, all of them in `make thorough`."""
    return runs if ALL else max(runs // 10, 1)
