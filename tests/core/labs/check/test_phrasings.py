"""The parsers on phrasings settled by hand (tests/data/phrasings): how many each of them gets right."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmarks.agreement import READERS, misread, phrasings, table
from core.labs.check import parse

FEWEST = 60
MISREAD = {
    "explanation": ["yes\nJustification: “Cats purr when they are hurt too.”"],
}
"""Everything that the updated parser misreads, so that any further misreading is noticed."""


@pytest.mark.parametrize("reader", READERS)
def test_there_are_enough_phrasings_and_none_twice(reader: str) -> None:
    entries = phrasings(reader)
    assert len(entries) >= FEWEST
    assert len({(entry["text"], *entry.get("choices", ())) for entry in entries}) == len(entries)


@pytest.mark.parametrize("reader", READERS)
def test_repaired_rules_read_all_phrasings_rightly_but_those_that_are_known(reader: str) -> None:
    assert misread(reader, "repaired") == MISREAD.get(reader, [])


@pytest.mark.parametrize("reader", READERS)
def test_repaired_rules_are_right_wherever_paper_rules_are(reader: str) -> None:
    assert set(misread(reader, "repaired")) <= set(misread(reader, "paper"))


def test_the_table_has_a_line_for_each_reader() -> None:
    rows = [line.split() for line in table().splitlines()[1:]]
    assert [row[0] for row in rows] == list(READERS)
    for reader, paper, repaired, n in rows:
        assert int(n) == len(phrasings(reader))
        assert int(repaired) == int(n) - len(misread(reader, "repaired")) >= int(paper)


PARTS = (
    "A dull film.", "Tom had a dog.", "I made a cake.", "I changed my mind about the words.", "Note: the key is here.",
    "Edited paragraph:", "Here is the edited paragraph:", "Original:", "**Changes made:**", "- one word", "---", "or",
    "Option 1:", '"Run," she said.', '"', "“", "”", "«", "»", "**", "*", "> ", "# ", "1. ", "(Changed “a” to “b”.)",
    "I replaced one word.", "Let me know if it fits.", "[REDACTED]", ":", "\n", "\n\n", " ", "```", "```\n", "|",
    "Sure!", "<p>", "</p>", "<br>", "<div>", "</div>", "<answer>", "</answer>", "<think>", "</think>", "Explanation:",
)  # fmt: skip


def in_one_piece(read: str, text: str) -> bool:
    """Whether the letters and digits of `read` are contiguous among those of `text`.

    White space and marks are ignored, and so are the tags of HTML paragraphs and line breaks.
    """

    def bare(piece: str) -> str:
        return re.sub(r"[\W_]", "", re.sub(r"</?(?:p|div|blockquote|section|article|br)\b[^<>\n]*>", "", piece))

    return bare(read) in bare(text)


@given(st.lists(st.one_of(st.sampled_from(PARTS), st.text(alphabet="ab .\n", max_size=8)), max_size=14).map("".join))
def test_a_paragraph_is_one_piece_of_the_answer(text: str) -> None:
    read = parse.paragraph(text, "repaired")
    assert read is None or in_one_piece(read, text)


@pytest.mark.parametrize("entry", phrasings("paragraph"), ids=lambda entry: entry["text"][:30])
def test_a_phrasing_is_read_in_one_piece(entry: dict[str, str]) -> None:
    read = parse.paragraph(entry["text"], "repaired")
    assert read is None or in_one_piece(read, entry["text"])


def test_a_gap_would_be_seen() -> None:
    assert in_one_piece("Tom ran.", "Here: <p>“Tom ran.”</p> It was late.")
    assert not in_one_piece("Tom late", "Tom ran late")
