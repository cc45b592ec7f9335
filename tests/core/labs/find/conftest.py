"""Settings of the tests of Probe."""

from __future__ import annotations

import os

from hypothesis import settings

# A busy machine makes no property wrong.
settings.register_profile("unhurried", deadline=None, derandomize=os.environ.get("EXPLAIN_ATTACKS") != "all")
settings.load_profile("unhurried")
