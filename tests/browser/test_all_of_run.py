"""A run of several cases in a browser: their outcomes are shown above, and a tile opens its case."""

import re

import pytest
from playwright.sync_api import Page, expect

from tests.browser.conftest import Server, settle
from tests.support import forked

pytestmark = pytest.mark.browser


@pytest.fixture(scope="module")
def address(app: Server) -> str:
    """The address of a run of thirty questions, made on the command line in the app's home."""
    command = ["plant", "strategyqa", "--limit", "30", "--model", "control/admits"]
    (run,) = re.findall(r"Run (\S+)", forked.run("core", *command, env=app._environment))
    return f"{app.url}/plant?run={run}"


@pytest.mark.sampled(2)
@pytest.mark.parametrize(
    ("width", "height"), [(1280, 720), (390, 844), pytest.param(1920, 1080, marks=pytest.mark.thorough)]
)
def test_a_tile_opens_its_case_which_has_the_focus(address: str, page: Page, width: int, height: int) -> None:
    page.set_viewport_size({"width": width, "height": height})
    page.goto(address)
    tiles = page.locator(".stage .all .tiles .tile")
    expect(tiles).to_have_count(30)
    expect(page.locator(".stage .all .bars li")).to_have_count(4)
    settle(page)
    shown = page.locator(".stage .all .tile[aria-current]").get_attribute("aria-label") or ""
    expect(page.locator(".stage .read:not(.all) > header")).to_contain_text(
        shown.partition(" · ")[2].rpartition(":")[0]
    )
    for number, opens in ((5, "click"), (9, "Enter")):
        tile = page.locator(f".stage .all .tile[aria-label^='{number} · ']")
        title = (tile.get_attribute("aria-label") or "").removeprefix(f"{number} · ").rpartition(":")[0]
        tile.click() if opens == "click" else tile.press("Enter")
        case = page.locator(".stage .read:not(.all)")
        expect(case.locator("> header")).to_contain_text(title)
        expect(case.locator(".verdict h3")).to_be_focused()
        expect(case.locator(".verdict h3")).to_be_in_viewport()
        expect(tile).to_have_attribute("aria-current", "true")
    assert "case=" in page.url
    assert page.evaluate("document.querySelector('[data-testid=stMain]').scrollWidth - window.innerWidth") <= 0
