"""Ask a real model, from the front page: its answer is written before one's eyes, and one predicts the next four."""

import re
import threading
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from tests.browser.conftest import Server, settle
from tests.support.stub_server import StubServer

pytestmark = pytest.mark.browser

REASON = "Wood is lighter than water, and what is lighter than water floats on it."


def reply(body: dict[str, Any]) -> str:
    return f"{REASON} So the answer is no."


def connect(page: Page, app: Server, server: StubServer) -> None:
    """Connect the endpoint on the Models page, and go to the front page in the same session."""
    page.goto(f"{app.url}/models")
    settle(page)
    page.get_by_label("Name", exact=True).fill("mine")
    page.get_by_label("Address").fill(server.base_url)
    page.get_by_label("Address").press("Enter")
    settle(page)
    page.get_by_role("button", name="Connect", exact=True).click()
    expect(page.get_by_text("is connected: 1 model")).to_be_visible()
    page.get_by_test_id("stTopNavLink").first.click()
    settle(page)


def test_a_visitor_predicts_while_the_model_writes(app: Server, page: Page) -> None:
    goes_on = threading.Event()

    def held(body: dict[str, Any]) -> bool:
        return server.count > 1 and not goes_on.is_set()

    with StubServer(reply, pause=0.05, held=held) as server:
        connect(page, app, server)
        page.get_by_role("button", name=re.compile("Ask stub-model.*a few seconds")).click()
        expect(page.locator(".game .is-coming")).to_contain_text("Wood")
        expect(page.locator(".game .claim blockquote")).to_contain_text(REASON)
        # The first card can be guessed before its answer comes.
        expect(page.locator(".game .options button")).to_have_count(3)
        page.keyboard.press("2")
        expect(page.get_by_text("It is writing its answer…")).to_be_visible()
        expect(page.locator(".turned")).to_have_count(0)
        goes_on.set()
        expect(page.locator(".turned")).to_contain_text("It said no.")
        page.locator(".turned summary").click()
        expect(page.locator(".turned")).to_contain_text(f"{REASON} So the answer is no.")
        for key in ("2", "1", "2"):
            page.get_by_role("button", name="Next").click()
            page.keyboard.press(key)
            expect(page.locator(".turned")).to_be_visible()
        page.get_by_role("button", name="See your result").click()
        for _ in range(2):
            expect(page.locator(".over")).to_contain_text("You predicted 3 of 4 with its reason.")
            expect(page.locator(".over")).to_contain_text(
                "always answering no gets 4. 4 cards cannot show whether the reason helped you."
            )
            page.reload()
        page.get_by_role("button", name="See the full run").click()
        expect(page.locator(".verdict h3")).to_contain_text("You predicted 3 of 4 with its reason.")
        expect(page.locator(".cards > .card")).to_have_count(4)
        assert server.count == 5, "no call that could not count"
