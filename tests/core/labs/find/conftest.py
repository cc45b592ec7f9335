"""Settings of the tests of Probe."""

from __future__ import annotations

from hypothesis import settings

# A busy machine makes no property wrong.
settings.register_profile("unhurried", deadline=None)
settings.load_profile("unhurried")
