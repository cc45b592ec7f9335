"""A newcomer's first window, 1280 × 720: the form is one line, and the next step stands beside the verdict."""

import re

import pytest
from playwright.sync_api import Locator, Page, expect

from core import entry
from tests.browser.conftest import Server, open_menu, settle

pytestmark = pytest.mark.browser

SMALL = """() => {
  const found = [];
  const look = (root) => {
    for (const one of root.querySelectorAll("*")) {
      if (one.shadowRoot) look(one.shadowRoot);
      const said = [...one.childNodes].filter((node) => node.nodeType === 3).map((node) => node.textContent).join("");
      const { top, bottom, width, height } = one.getBoundingClientRect(), { fontSize } = getComputedStyle(one);
      const isSeen = top < innerHeight && bottom > 0 && width > 1 && height > 1
        && one.checkVisibility({ visibilityProperty: true }) && !one.closest("style, script, .aloud, .tabled .label");
      if (said.trim() && isSeen && parseFloat(fontSize) < 16) found.push(`${fontSize} ${said.trim().slice(0, 60)}`);
    }
  };
  look(document.body);
  return found;
}"""
"""Returns the texts in sight that are smaller than 16 pixels."""


def middle(one: Locator) -> float:
    box = one.bounding_box()
    assert box is not None
    return box["y"] + box["height"] / 2


def bottom(one: Locator) -> float:
    box = one.bounding_box()
    assert box is not None
    return box["y"] + box["height"]


def test_each_form_is_one_line_with_a_demo_in_sight(app: Server, page: Page) -> None:
    page.set_viewport_size({"width": 1280, "height": 720})
    for lab in [lab for lab in entry.labs().values() if not lab.hidden]:
        page.goto(f"{app.url}/{lab.path}")
        settle(page)
        button = page.locator(f".st-key-{lab.path} button")
        row = page.locator(f".st-key-{lab.path}-form [data-testid=stHorizontalBlock]").first
        expect(row.locator("input, textarea").nth(1)).to_be_visible()
        places = [row.locator("input").first, row.locator("input, textarea").nth(1), button]
        assert max(map(middle, places)) - min(map(middle, places)) < 40, lab.path
        expect(page.locator(".st-key-settings details")).not_to_have_attribute("open", "")
        assert bottom(page.locator(f".st-key-show-{lab.path} button").first) < 720, lab.path
        assert page.evaluate(SMALL) == [], lab.path


def test_the_next_step_stands_beside_the_verdict_and_the_cards_are_one_table(app: Server, page: Page) -> None:
    page.set_viewport_size({"width": 1280, "height": 720})
    page.goto(f"{app.url}/ask")
    settle(page)
    page.locator(".st-key-show-ask button").first.click()
    step = page.locator(".stage .step")
    expect(step).to_have_text(re.compile(r"^Ask SmolLM2 135M · about \d+ s$"))
    assert bottom(step) < 720
    expect(page.locator(".stage .head")).to_contain_text("Expected with its reason")
    expect(page.locator(".cards .label").first).to_have_css("clip-path", "inset(50%)")
    before = page.locator(".stage .left").inner_text().partition("\nMore")[0]
    assert 10 < len(before.split()) <= 60, before
    assert page.evaluate(SMALL) == []
    open_menu(page)
    page.keyboard.press("Escape")
    page.locator(".stage .left").get_by_text("More", exact=True).click()
    expect(page.locator(".stage .left")).to_contain_text("It was")
    page.locator(".cards button.open").first.click()
    expect(page.locator(".cards .more dl").first).to_be_visible()
    page.set_viewport_size({"width": 390, "height": 844})
    expect(page.locator(".stage .head")).to_be_hidden()
    expect(page.locator(".cards .label").first).to_have_css("clip-path", "none")
