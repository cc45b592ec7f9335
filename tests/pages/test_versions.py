"""A run that was reparsed: its page says what changed, and which version counts."""

from collections.abc import Callable

from streamlit.testing.v1 import AppTest

from core import home
from tests.core.store.test_comparing import asked
from tests.core.store.test_rereadings import FIRST, SECOND, again
from tests.pages.conftest import words


def test_its_page_says_what_changed(page: Callable[..., AppTest]) -> None:
    asked(home.journals(), "20260101-000000-simulatability-0001", "m/x", FIRST)
    again(home.journals(), "20260101-000001-simulatability-0002", "20260101-000000-simulatability-0001", SECOND, 100)
    assert "1–3 of 3" in words(page("browse", show="cases")).replace("*", "")
    said = words(page("case", run="20260101-000001-simulatability-0002"))
    assert "1 of 3 outcomes changed: “a”: unread, now came true." in said
    assert "Of the 2 parses of these answers this one counts" in said
    said = words(page("case", run="20260101-000000-simulatability-0001"))
    assert "Its answers were parsed again later." in said and "outcomes changed" not in said
