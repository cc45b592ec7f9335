"""Browse in a browser: a filter is a link, a click opens a case, keys lead through the list."""

from __future__ import annotations

import os
import re
import subprocess
import sys

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.browser.conftest import ROOT, Server, settle

pytestmark = pytest.mark.browser


@pytest.fixture(scope="module")
def full(request: pytest.FixtureRequest, app: Server) -> Server:
    """The app, in whose home two robots were asked by command line."""
    for model in ("steadfast", "fickle"):
        command = [sys.executable, "-m", "core", "ask", "Can a kiwi fly?", "--model", f"control/{model}"]
        subprocess.run(command, cwd=ROOT, env={**os.environ, **app._environment}, check=True, capture_output=True)
    return app


def cell(page: Page, row: int) -> None:
    """Click on a row of the table, on its question: the table is drawn on a canvas."""
    box = page.get_by_test_id("stDataFrame").first.bounding_box()
    assert box is not None
    page.mouse.click(box["x"] + 120, box["y"] + 36 * (row + 1) + 18)
    settle(page)


def test_a_filter_is_a_link_and_keys_lead_through_what_it_leaves(full: Server, page: Page, browser: Browser) -> None:
    page.goto(f"{full.url}/browse?text=kiwi")
    settle(page)
    page.get_by_text(re.compile("did not come true")).first.click()
    page.wait_for_url(re.compile("outcome=misled"))
    settle(page)
    told = page.locator(".st-key-pager").inner_text()
    assert re.search(r"1–\d+ of \d+ cases", told)
    cell(page, 0)
    page.wait_for_url(re.compile("trial="))
    expect(page.locator(".st-key-row")).to_contain_text("did not come true")
    first = page.url
    page.keyboard.press("j")
    page.wait_for_function("was => location.href !== was", arg=first)
    second = page.url
    settle(page)
    page.keyboard.press("k")
    page.wait_for_url(first)
    page.go_back()
    page.wait_for_url(second)
    other = browser.new_page()
    other.goto(second)
    settle(other)
    assert other.locator(".st-key-pager").inner_text() == told
    expect(other.locator(".st-key-row")).to_have_text(page.locator(".st-key-row").inner_text().replace("\n\n", ""))
    other.close()
