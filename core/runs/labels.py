"""What people say of a case or a trial: verdicts, tags, a note. Each person in a journal of their own,
`<run>~labels-<who>.jsonl`, so that nobody's words replace another's.
"""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from ..events import Frozen

BY = "labels-"
"""What the names begin with under which people label; the rest of it is the person's."""

LONGEST_NOTE, LONGEST_TAG, MOST_TAGS = 4_000, 60, 20
"""Characters of a note and of a tag, and tags."""

_Word = Annotated[str, Field(max_length=LONGEST_TAG)]


class Label(Frozen):
    """All that one person says of one case or trial; a later label replaces an earlier one.

    `verdicts`: by what is judged (`core.labs.base.declared.Judgement`) the word for it; `should`: what a reading should
    have been that is judged to be wrong.
    """

    verdicts: dict[str, _Word] = Field(default_factory=dict)
    should: dict[str, _Word] = Field(default_factory=dict)
    tags: Annotated[tuple[_Word, ...], Field(max_length=MOST_TAGS)] = ()
    note: Annotated[str, Field(max_length=LONGEST_NOTE)] = ""

    def judged(self, name: str, word: str, wrong: bool) -> Label:
        """The same with another verdict on what is judged under `name`, or none where `word` is empty. What should have
        been read stays only where it was read `wrong`.
        """
        verdicts = {one: said for one, said in {**self.verdicts, name: word}.items() if said}
        should = {one: said for one, said in self.should.items() if wrong or one != name}
        return self.model_copy(update={"verdicts": verdicts, "should": should})


class Audited(Frozen):
    """A reading that was drawn for a blind audit, and what the person who saw the raw answer alone reads in it.

    `audit` is the draw's id; `judged` what is judged (`core.labs.base.declared.Judgement`); the reading was one of
    `drawn` that were drawn of the `population` of its `stratum`, and the `number`-th (from 1) of `of` that were drawn
    in all. `said` is None until it was judged, '' where the person could not tell. What the rules read there is not in
    it: that stands in the run, and later readings of the same answer are held against the same words.
    """

    audit: str
    judged: str
    stratum: str
    population: int = Field(ge=1)
    drawn: int = Field(ge=1)
    number: int = Field(ge=1)
    of: int = Field(ge=1)
    said: _Word | None = None


class Foretold(Frozen):
    """What one person expected of a card of a sealed run, by the word of it; the first is the one that holds."""

    value: str


class Sealing(Frozen):
    """Whether others see of a run only what they have predicted. In the journal `<run>~~sealed.jsonl`."""

    sealed: bool


class Kept(Frozen):
    """How the owner keeps a run: by another title, and out of the lists. In the journal `<run>~~kept.jsonl`."""

    title: Annotated[str, Field(max_length=200)] = ""
    hidden: bool = False
