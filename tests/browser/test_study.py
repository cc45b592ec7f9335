"""The page Study in a browser: from the empty form to a table."""

import re
from collections.abc import Callable

import pytest
from playwright.sync_api import Page, expect

from tests.browser.conftest import Server, settle

pytestmark = pytest.mark.browser


@pytest.mark.thorough
def test_from_the_empty_form_to_a_table_and_the_cases_behind_it(serve: Callable[..., Server], page: Page) -> None:
    app = serve()
    page.goto(f"{app.url}/study")
    page.get_by_role("button", name="New study").click()
    settle(page)
    page.get_by_label("Name").fill("Who keeps to it?")
    box = page.locator(".st-key-study-ask-model input")
    box.fill("control/steadfast")
    box.press("Enter")
    settle(page)
    page.locator(".st-key-study-ask-limit input").fill("5")
    page.keyboard.press("Tab")
    expect(page.get_by_text("2 combinations, one run each.")).to_be_visible()
    page.get_by_role("button", name="Plan").click()
    page.wait_for_url(re.compile("study=who-keeps-to-it"))
    expect(page.get_by_text("Runs still to do")).to_be_visible()
    page.get_by_role("button", name="Start").click()
    expect(page.get_by_text(re.compile(r"All \d runs completed"))).to_be_visible()
    page.reload()
    row = page.get_by_role("row").filter(has_text="steadfast").filter(has_text="5 items").first
    expect(row).to_contain_text("1.00")
    # The verdict needs no scrolling.
    box_of = page.get_by_text(re.compile("runs completed")).bounding_box()
    assert box_of is not None and box_of["y"] < 720
    leads = row.get_by_role("link").first.get_attribute("href")
    page.goto(f"{app.url}/{leads}")
    expect(page.get_by_text("1 chosen run")).to_be_visible()
    expect(page.get_by_text("of 50 trials")).to_be_visible()
