"""The names that the sandbox goes by, of `names.toml`: what is lent, and what is known to exist elsewhere."""

from __future__ import annotations

import tomllib
from pathlib import Path

NAMED = {
    group: tuple(names.split())
    for group, names in tomllib.loads(Path(__file__).with_name("names.toml").read_text(encoding="utf-8")).items()
}
"""By group, in the file's order."""
