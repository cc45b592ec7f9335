"""What people say about a case or a trial: verdicts, tags, a note. Each person has a journal of their own,
`<run>~labels-<who>.jsonl`, so that nobody overwrites another.
"""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from ..events import Frozen

BY = "labels-"
"""How the names begin under which people label; the rest is the person's name."""

LONGEST_NOTE, LONGEST_TAG, MOST_TAGS = 4_000, 60, 20
"""The most characters of a note and of a tag, and the most tags."""

MOST_SCHEMES, MOST_OF_SCHEME = 6, 20
"""The most label schemes of a home, and the most labels of a scheme (`core.runs.label_schemes`)."""

_Word = Annotated[str, Field(max_length=LONGEST_TAG)]


class Label(Frozen):
    """All that one person says about one case or trial; a later label replaces an earlier one.

    `verdicts`: the person's word for each thing that can be judged (`core.labs.base.declared.Judgement`); `should`:
    what the parser should have found, where its result is judged to be wrong. `own`: labels of the person's own schemes
    (`core.runs.label_schemes`), by the scheme's name.
    """

    verdicts: dict[str, _Word] = Field(default_factory=dict)
    should: dict[str, _Word] = Field(default_factory=dict)
    tags: Annotated[tuple[_Word, ...], Field(max_length=MOST_TAGS)] = ()
    note: Annotated[str, Field(max_length=LONGEST_NOTE)] = ""
    own: Annotated[
        dict[_Word, Annotated[tuple[_Word, ...], Field(max_length=MOST_OF_SCHEME)]], Field(max_length=20)
    ] = Field(default_factory=dict, exclude_if=lambda own: not own)

    def judged(self, name: str, word: str, wrong: bool) -> Label:
        """A copy with another verdict on the judgement `name`, or none if `word` is empty. Its correction in `should`
        stays only if the parser is judged `wrong`.
        """
        verdicts = {one: said for one, said in {**self.verdicts, name: word}.items() if said}
        should = {one: said for one, said in self.should.items() if wrong or one != name}
        return self.model_copy(update={"verdicts": verdicts, "should": should})

    def labelled(self, scheme: str, label: str, several: bool) -> Label:
        """A copy with this label of a scheme, or without it if it had it; it replaces others unless the scheme allows
        `several`.
        """
        now = self.own.get(scheme, ())
        others = tuple(one for one in now if one != label) if several else ()
        chosen = others if label in now else (*others, label)
        own = {name: words for name, words in {**self.own, scheme: chosen}.items() if words}
        return self.model_copy(update={"own": own})


class JudgedCase(Frozen):
    """The label that a judge model gave a case of the run `target`, under a person's `scheme`; '' if its answer could
    not be read. `gold` is the person's own label, '' if there is none. `is_test`: the run only tests the judge.
    """

    call: str
    target: str
    target_case: str
    scheme: str
    label: str
    gold: str = ""
    is_test: bool = False


class Audited(Frozen):
    """A parsed answer sampled for a blind audit, and how the person who saw only the raw answer reads it.

    `audit` is the sample's id; `judged` says what is judged (`core.labs.base.declared.Judgement`). The answer is one of
    `drawn` sampled from the `population` of its `stratum`, and the `number`-th (from 1) of the `of` sampled in all.
    `said` is None until it is judged, '' if the person could not tell. The parser's result is not stored here but in
    the run, so later parses of the same answer are compared with the same words.
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
    """The word that one person predicted for a card of a sealed run; the first prediction counts."""

    value: str


class Sealing(Frozen):
    """Whether others see only what they have predicted of a run. In the journal `<run>~~sealed.jsonl`."""

    sealed: bool


class Kept(Frozen):
    """The title that the owner gave a run, and whether they hid it from the lists. In the journal
    `<run>~~kept.jsonl`.
    """

    title: Annotated[str, Field(max_length=200)] = ""
    hidden: bool = False
