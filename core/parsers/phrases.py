"""The phrases by which the updated parsers recognise what chat models write (phrases.toml)."""

from ..package_data import sibling_toml
from ..text.patterns import Patterns

RE = Patterns(sibling_toml(__file__, "phrases.toml"))
