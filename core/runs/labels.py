"""What people say of a case or a trial: verdicts, tags, a note. Each person in a journal of their own,
`<run>~labels-<who>.jsonl`, so that nobody's words replace another's.
"""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from core.events import Frozen

BY = "labels-"
"""What the names begin with under which people label; the rest of it is the person's."""

LONGEST_NOTE, LONGEST_TAG, MOST_TAGS = 4_000, 60, 20
"""Characters of a note and of a tag, and tags."""

_Word = Annotated[str, Field(max_length=LONGEST_TAG)]


class Label(Frozen):
    """All that one person says of one case or trial; a later label replaces an earlier one.

    `verdicts`: by what is judged (`core.lab.Judgement`) the word for it; `should`: what a reading should have been
    that is judged to be wrong.
    """

    verdicts: dict[str, _Word] = Field(default_factory=dict)
    should: dict[str, _Word] = Field(default_factory=dict)
    tags: Annotated[tuple[_Word, ...], Field(max_length=MOST_TAGS)] = ()
    note: Annotated[str, Field(max_length=LONGEST_NOTE)] = ""


class Kept(Frozen):
    """How the owner keeps a run: by another title, and out of the lists. In the journal `<run>~~kept.jsonl`."""

    title: Annotated[str, Field(max_length=200)] = ""
    hidden: bool = False
