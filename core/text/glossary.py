"""What our screens call a thing and what the field calls it: `data/glossary.toml`."""

from __future__ import annotations

from functools import cache

from .. import package_data
from ..events import Frozen


class GlossaryEntry(Frozen):
    """The field's `term` for a thing of ours, and its `meaning` in a sentence."""

    term: str
    meaning: str


@cache
def entries() -> dict[str, GlossaryEntry]:
    """All entries by our names, in the file's order."""
    return {name: GlossaryEntry(**entry) for name, entry in package_data.table("glossary").items()}


def on_hover(name: str, more: str | None = None) -> str | None:
    """Markdown of the term and its meaning, then `more`; only that where the glossary does not know the name."""
    entry = entries().get(name)
    if entry is None:
        return more
    return "\n\n".join(filter(None, (f"**{entry.term}**  \n{entry.meaning}", more)))
