"""Nothing moves for people who ask for less motion. Contrast is tested in test_axe.py."""

import pytest
from playwright.sync_api import Browser, expect

from tests.browser.conftest import Scripted, Server
from tests.browser.test_browser import ask_model
from tests.support.plausible import Plausible

pytestmark = pytest.mark.browser

MOVING = """() => [document, ...[...document.querySelectorAll("*")].map(one => one.shadowRoot).filter(Boolean)]
    .flatMap(root => root.getAnimations()).filter(one => one.effect.getComputedTiming().activeDuration > 10)
    .map(one => `${one.animationName ?? one.transitionProperty ?? one.constructor.name} ${one.effect.pseudoElement}
    ${one.effect.target.outerHTML.slice(0, 200)}`)"""
"""Returns the running and pending animations, also those in the viewer, which the document's own list leaves out."""


@pytest.mark.thorough
def test_nothing_moves_for_who_asks_for_less(app: Server, browser: Browser, scripted: Scripted) -> None:
    model = scripted.add(Plausible(), delay=0.1)
    # Of its 41 answers: otherwise the run might be over before the test looks, on a slow machine.
    model.stop_after(20)
    page = browser.new_page(viewport={"width": 1280, "height": 900})
    page.set_default_timeout(120_000)
    ask_model(page, app.url, model)
    expect(page.locator("#card-cf-02")).to_be_visible()
    # A run in progress has an animation that repeats.
    page.wait_for_function(f"({MOVING})().length > 0")
    page.emulate_media(reduced_motion="reduce")
    # A part that is drawn for the first time may move before the page's style is loaded. After that it is still.
    looks = []
    while not (is_still := len(looks) >= 10 and not any(looks[-10:])) and len(looks) < 100:
        page.wait_for_timeout(100)
        looks.append(page.evaluate(MOVING))
    assert is_still, looks[-10:]
    page.get_by_role("button", name="Stop").click()
    model.go_on()
    page.close()
