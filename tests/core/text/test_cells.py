"""No cell of a CSV file of ours is a formula, and nothing of a table is lost in it."""

import io

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.text.display import csv, harmless

FORMULAS = [
    "=1+1", "+1+1", "-1+1", "@SUM(A1)", "=HYPERLINK(\"http://x\")", "\t=1", "\r=1", " =1", "\n=1",
    "-2+3+cmd|' /C calc'!A0",
    "＝1+1", "\ufeff=1", "=", "-", "+", "@x", "-1e5x", "--1",
]  # fmt: skip


@pytest.mark.parametrize("cell", FORMULAS)
def test_what_begins_like_a_formula_gets_an_apostrophe(cell: str) -> None:
    safe = harmless(cell)
    assert isinstance(safe, str) and safe.startswith("'") and safe.replace("'", "") == cell.replace("'", "")


@pytest.mark.parametrize(
    ("cell", "safe"),
    [
        ('yes;=HYPERLINK("http://x")', 'yes;\'=HYPERLINK("http://x")'),
        ("yes\t=1+1", "yes\t'=1+1"),
        ("yes| @x|-5|--1", "yes|' @x|-5|'--1"),
        ("yes\n=1", "yes\n'=1"),
        (";=1;", ";'=1;"),
    ],
)
def test_a_formula_behind_another_separator_gets_an_apostrophe_too(cell: str, safe: str) -> None:
    assert harmless(cell) == safe


@pytest.mark.parametrize(
    "cell",
    ["", "a", "1;-5;+2", "a; b", "a\nb", "a=b", "1-2", "'=1", "-5", "+5", "-1.5e-3", -5, 1.5, None, True, "yes @ no"],
)
def test_all_else_stays_as_it_is(cell: object) -> None:
    assert harmless(cell) is cell


@given(st.lists(st.text(st.characters(codec="utf-8", exclude_characters="\r"), max_size=12), min_size=1, max_size=5))
def test_every_cell_comes_back_from_the_file(texts: list[str]) -> None:
    table = pd.DataFrame({"=name": texts, "n": range(len(texts))})
    read = pd.read_csv(io.BytesIO(csv(table)), dtype=str, keep_default_na=False)
    assert list(read.columns) == ["'=name", "n"] and list(read["n"]) == [str(n) for n in range(len(texts))]
    assert list(read["'=name"]) == [harmless(text) for text in texts]
    assert not any(str(cell).lstrip()[:1] in tuple("=+-@") and cell != harmless(cell) for cell in read["'=name"])
