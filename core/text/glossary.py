"""What the screens call a thing, and what the field calls it: `data/glossary.toml`."""

from __future__ import annotations

from functools import cache

from .. import package_data
from ..events import Frozen


class GlossaryEntry(Frozen):
    """The field's `term` for one of our names, and its `meaning` in a sentence."""

    term: str
    meaning: str


@cache
def entries() -> dict[str, GlossaryEntry]:
    """Return all entries by our names, in the file's order."""
    return {name: GlossaryEntry(**entry) for name, entry in package_data.table("glossary").items()}


def on_hover(name: str, more: str | None = None) -> str | None:
    """Return Markdown of the term and its meaning, followed by `more`; only `more` if the name is not in the
    glossary.
    """
    entry = entries().get(name)
    if entry is None:
        return more
    return "\n\n".join(filter(None, (f"**{entry.term}**  \n{entry.meaning}", more)))
