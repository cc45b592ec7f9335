"""A teacher goes through a lesson in a browser, and prints its sheets on one page each."""

import re
from collections.abc import Callable

import pytest
from playwright.sync_api import Browser, Page, expect

from core import entry, lessons
from tests.browser.conftest import Server
from tests.browser.test_axe import COLOURS, lasting

pytestmark = pytest.mark.browser


def pages_of(pdf: bytes) -> int:
    return len(re.findall(rb"/Type\s*/Page\b", pdf))


def test_a_teacher_goes_through_a_lesson_and_prints_its_sheets(browser: Browser, serve: Callable[..., Server]) -> None:
    server, lesson = serve(), lessons.lessons(entry.labs())["45-minutes"]
    context = browser.new_context(viewport={"width": 1280, "height": 720}, reduced_motion="reduce")
    page, faults = context.new_page(), []
    page.on("pageerror", lambda error: faults.append(str(error)))
    page.on("console", lambda line: faults.append(line.text) if "Content Security" in line.text else None)
    try:
        page.clock.install()
        page.goto(f"{server.url}/lessons")
        assert lasting(page) == [] and lasting(page, COLOURS) == []
        page.get_by_role("link", name=lesson.title).click()
        clock = page.locator("#clock")
        expect(clock).to_have_text("45 minutes in all")
        page.get_by_role("button", name="Start").click()
        expect(page.get_by_role("heading", level=1)).to_have_text(lesson.steps[0].title)
        expect(clock).to_have_text("0 of 45 minutes used · this step ends at minute 4")
        assert lasting(page) == [] and lasting(page, COLOURS) == []
        page.clock.run_for(6 * 60_000)
        expect(clock).to_have_text("6 of 45 minutes used · 2 minutes late")
        page.keyboard.press("ArrowRight")
        expect(clock).to_have_text("6 of 45 minutes used · this step ends at minute 7")
        page.reload()
        expect(page.get_by_role("heading", level=1)).to_have_text(lesson.steps[1].title)
        expect(clock).to_contain_text("6 of 45 minutes used")
        with context.expect_page() as opened:
            page.get_by_role("link", name="Open the wall").click()
        expect(opened.value.locator(".code")).to_have_text(re.compile("^[A-Z]{4}$"))
        opened.value.close()
        for _ in lesson.steps:
            page.keyboard.press("ArrowRight")
        expect(page.get_by_role("button", name="Next")).to_be_disabled()
        page.keyboard.press("ArrowLeft")
        expect(page.get_by_role("heading", level=1)).to_have_text(lesson.steps[-2].title)
        for name in lessons.lessons(entry.labs()):
            for sheet in lessons.SHEETS:
                page.goto(f"{server.url}/lessons/{name}/{sheet}")
                assert pages_of(page.pdf(prefer_css_page_size=True)) == 1, f"{sheet} of {name}"
        assert lasting(page) == []
        whole(page, server)
    finally:
        context.close()
    assert faults == []


def whole(page: Page, server: Server) -> None:
    """On a phone nothing is cut off, and every step can be read without scripts."""
    page.set_viewport_size({"width": 390, "height": 844})
    page.goto(f"{server.url}/lessons/45-minutes#3")
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
