"""Open pages notice by themselves a line to everybody, and that another tab is closed."""

from collections.abc import Callable

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.browser.conftest import Server

pytestmark = pytest.mark.browser

CODES = {"HOST": "the code of whoever hosts", "PARTICIPANT": "pinguin"}


def sign_in(page: Page, code: str) -> None:
    page.get_by_label("Code").fill(code)
    page.get_by_role("button", name="Sign in").click()


@pytest.mark.thorough
def test_open_pages_show_what_the_host_says_and_a_tab_opens_when_another_is_closed(
    browser: Browser, serve: Callable[..., Server]
) -> None:
    codes = {f"EXPLAIN_{role}_CODE": code for role, code in CODES.items()}
    server = serve(EXPLAIN_HOSTS="class.example.org", EXPLAIN_TABS="2", EXPLAIN_TEACHER_TIMES="1", **codes)
    host, ann = browser.new_context(), browser.new_context()
    try:
        first, said = ann.new_page(), host.new_page()
        for page, address, code in ((first, "methods", CODES["PARTICIPANT"]), (said, "", CODES["HOST"])):
            page.goto(f"{server.url}/{address}")
            sign_in(page, "pinguins")
            expect(page.get_by_text("This code is not valid")).to_be_visible()
            sign_in(page, code)
        expect(first.get_by_role("heading", name="Methods", exact=True)).to_be_visible()
        said.get_by_text("Workbench").click()
        said.get_by_role("menuitem", name="Host").click()
        said.get_by_placeholder("We continue at 14:30.").fill("**Five** minutes more")
        said.get_by_role("button", name="Show it on every page").click()
        expect(first.get_by_text("**Five** minutes more")).to_be_visible()
        said.get_by_role("button", name="Remove it").click()
        expect(first.get_by_text("**Five** minutes more")).to_have_count(0)
        second, third = ann.new_page(), ann.new_page()
        second.goto(f"{server.url}/methods")
        expect(second.get_by_role("heading", name="Methods", exact=True)).to_be_visible()
        third.goto(f"{server.url}/methods")
        expect(third.get_by_role("heading", name="One tab too many")).to_be_visible()
        first.close()
        expect(third.get_by_role("heading", name="Methods", exact=True)).to_be_visible()
    finally:
        host.close()
        ann.close()
