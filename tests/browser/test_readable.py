"""What can be read, by whoever sees poorly or is made sick by what moves: contrast on every page, reduced motion."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.browser.conftest import Scripted, Server, begin, settle
from tests.browser.test_browser import ask_model
from tests.plausible import Plausible

pytestmark = pytest.mark.browser

TOO_FAINT = (Path(__file__).parent / "contrast.js").read_text(encoding="utf-8")

SCHEMES: tuple[Literal["light", "dark"], ...] = ("light", "dark")

MOVING = """() => [document, ...[...document.querySelectorAll("*")].map(one => one.shadowRoot).filter(Boolean)]
    .flatMap(root => root.getAnimations()).filter(one => one.effect.getComputedTiming().activeDuration > 10)
    .map(one => `${one.animationName ?? one.transitionProperty ?? one.constructor.name} ${one.effect.pseudoElement}
    ${one.effect.target.outerHTML.slice(0, 200)}`)"""
"""What moves, or is about to; on the stage too, whose elements the document's own list leaves out."""


def faint(page: Page) -> dict[str, str]:
    """The texts that do not stand out enough, with their contrast; what is being drawn anew is faint for a moment."""
    settle(page)
    if page.evaluate(TOO_FAINT):
        page.wait_for_timeout(1500)
    found: dict[str, str] = page.evaluate(TOO_FAINT)
    return found


def test_every_text_stands_out_from_its_ground_in_light_and_in_dark(app: Server, page: Page) -> None:
    found = {}

    def look(where: str) -> None:
        for scheme in SCHEMES:
            page.emulate_media(color_scheme=scheme, reduced_motion="reduce")
            expect(page.locator("[data-testid=stApp]")).to_have_css("color-scheme", scheme)
            found[f"{where}, {scheme}"] = faint(page)

    for path in ("", "models", "methods", "browse", "study", "probe", "check", "plant", "ask"):
        page.goto(f"{app.url}/{path}")
        settle(page)
        page.wait_for_selector("h1")
        look(path)
        if path in ("probe", "check", "plant", "ask"):
            begin(page, path)
            expect(page.locator(".st-key-actions")).to_be_visible()
            look(f"{path}, a run")
    page.get_by_role("link", name="Open as case").click()
    expect(page.get_by_role("heading", name="Every call")).to_be_visible()
    look("case")
    assert {where: texts for where, texts in found.items() if texts} == {}


def test_nothing_moves_for_who_asks_for_less(app: Server, browser: Browser, scripted: Scripted) -> None:
    model = scripted.add(Plausible(), delay=0.1)
    # Of its 41 answers: on a slow machine the run would else be over before anybody looks.
    model.stop_after(20)
    page = browser.new_page(viewport={"width": 1280, "height": 900})
    page.set_default_timeout(120_000)
    ask_model(page, app.url, model)
    expect(page.locator("#card-cf-02")).to_be_visible()
    # A run that goes on shows that it does, again and again.
    page.wait_for_function(f"({MOVING})().length > 0")
    page.emulate_media(reduced_motion="reduce")
    # A part that is drawn for the first time may shimmer before the style of the page is there. Then it is still.
    looks = []
    while not (is_still := len(looks) >= 10 and not any(looks[-10:])) and len(looks) < 100:
        page.wait_for_timeout(100)
        looks.append(page.evaluate(MOVING))
    assert is_still, looks[-10:]
    page.get_by_role("button", name="Stop it").click()
    model.go_on()
    page.close()
