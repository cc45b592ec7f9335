"""The front page: few words, few links, four pictures that are links; and the workbench in one menu."""

import re

import pytest
from playwright.sync_api import Browser, Locator, Page, expect

from tests.browser.conftest import Server, settle

pytestmark = pytest.mark.browser

LABS = ["Ask", "Check", "Probe", "Plant"]

SEEN = r"""() => {
  const words = [], ways = new Set(), icon = (one) => one.closest("[data-testid=stIconMaterial]");
  const isSeen = (one) => !one.closest("style, script, .stories, .round")
    && one.checkVisibility({ opacityProperty: true, visibilityProperty: true })
    && one.getBoundingClientRect().width > 1 && one.getBoundingClientRect().right > 0;
  const look = (root) => {
    for (const one of root.childNodes) {
      if (one.nodeType === 3 && root.nodeType === 1 && isSeen(root) && !icon(root))
        words.push(...one.data.split(/\s+/).filter((word) => /[\p{L}\d]/u.test(word)));
      if (one.nodeType !== 1) continue;
      if (one.matches("a[href]") && isSeen(one)) ways.add(new URL(one.href).pathname);
      if (one.shadowRoot) look(one.shadowRoot);
      look(one);
    }
  };
  look(document.body);
  return [words, [...ways]];
}"""
"""Returns the visible words, in any shadow root, and the targets of visible links. The stories and the card are left
out, because their texts differ.
"""


def drawn(page: Page) -> None:
    """Wait until the card, the pictures and the fonts are there."""
    expect(page.locator(".round .options button")).to_have_count(3)
    expect(doors(page)).to_have_count(4)
    page.evaluate("document.fonts.ready.then(() => null)")
    settle(page)


def doors(page: Page) -> Locator:
    return page.locator(".doors a")


@pytest.mark.sampled(2)
@pytest.mark.parametrize(("width", "height"), [(1280, 720), (390, 844)])
def test_it_has_few_words_and_few_ways_in_and_tells_no_end(
    app: Server, browser: Browser, width: int, height: int
) -> None:
    page = browser.new_page(viewport={"width": width, "height": height})
    page.goto(app.url)
    settle(page)
    expect(doors(page)).to_have_count(4)
    expect(page.get_by_role("link", name=re.compile("All .* stories"))).to_be_visible()
    words, ways = page.evaluate(SEEN)
    assert {"Explain", *LABS} <= set(words), "what stands in the pictures' own root is counted"
    assert len(words) < 100, words
    others = set(ways) - {"/"}
    # Plus the menu of the workbench, which is not a link.
    assert {"/ask", "/check", "/probe", "/plant", "/stories", "/lessons"} == others, ways
    assert not re.search("mislead|unfaithful|makes things up|wrong", " ".join(words))
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    page.close()


def test_card_buttons_and_pictures_stand_in_one_view_and_nothing_jumps_when_cards_turn(
    app: Server, browser: Browser
) -> None:
    page = browser.new_page(viewport={"width": 1280, "height": 720}, reduced_motion="reduce")
    page.goto(app.url)
    drawn(page)
    expect(page.get_by_text("Is its reason worth anything?")).to_be_in_viewport(ratio=1)
    for _ in range(10):
        for button in page.locator(".round .options button").all():
            expect(button).to_be_in_viewport(ratio=0.99)
        for door in doors(page).all():
            expect(door).to_be_in_viewport(ratio=0.99)
        before = [one.bounding_box() for one in (doors(page).first, page.locator(".round h2").first)]
        page.locator(".round .options button").nth(1).click()
        for part in (".turned", ".onward", ".game .dropped"):
            expect(page.locator(part)).to_be_in_viewport(ratio=0.99)
        assert [one.bounding_box() for one in (doors(page).first, page.locator(".round > h2").first)] == before
        page.locator(".onward").click()
    expect(page.locator(".concluded h2")).to_be_in_viewport(ratio=0.99)
    expect(page.get_by_role("navigation", name="Other games").get_by_role("link")).to_have_count(6)
    page.close()


@pytest.mark.thorough
def test_on_a_phone_what_stands_below_the_card_keeps_its_place(app: Server, browser: Browser) -> None:
    page = browser.new_page(viewport={"width": 390, "height": 844}, reduced_motion="reduce")
    page.goto(app.url)
    drawn(page)
    for _ in range(10):
        expect(page.locator(".round .options button").last).to_be_in_viewport(ratio=0.99)
        before = doors(page).first.bounding_box()
        page.locator(".round .options button").first.click()
        expect(page.locator(".onward")).to_be_in_viewport(ratio=0.99)
        assert doors(page).first.bounding_box() == before
        page.locator(".onward").click()
    page.close()


@pytest.mark.sampled(2)
@pytest.mark.parametrize(
    ("lab", "packs"), [("ask", ["first", "as-it-came"]), ("check", ["hidden"]), ("plant", ["whispered"])]
)
def test_each_lab_leads_to_its_games(app: Server, page: Page, lab: str, packs: list[str]) -> None:
    page.goto(f"{app.url}/{lab}")
    settle(page)
    for pack in packs:
        expect(page.locator(f".st-key-games-{lab} a[href='/play?pack={pack}']")).to_be_in_viewport()


@pytest.mark.sampled(2)
@pytest.mark.parametrize("how", ["pointer", "keys", pytest.param("touch", marks=pytest.mark.thorough)])
def test_each_picture_leads_to_its_lab_without_loading_the_app_anew(app: Server, browser: Browser, how: str) -> None:
    is_phone = how == "touch"
    context = browser.new_context(viewport={"width": 390 if is_phone else 1280, "height": 800}, has_touch=is_phone)
    page = context.new_page()
    for number, lab in enumerate(LABS):
        page.goto(app.url)
        settle(page)
        page.evaluate("window.mine = true")
        door = doors(page).nth(number)
        if how == "touch":
            door.tap()
        elif how == "keys":
            door.focus()
            page.keyboard.press("Enter")
        else:
            door.click()
        expect(page.get_by_role("heading", name=lab, exact=True)).to_be_visible()
        assert page.url == f"{app.url}/{lab.lower()}" and page.evaluate("window.mine")
    context.close()


@pytest.mark.thorough
def test_the_workbench_is_one_menu(app: Server, page: Page) -> None:
    page.goto(app.url)
    settle(page)
    names = ["Browse", "Compare", "Query", "Study", "Models", "Methods"]
    for name in names:
        expect(page.get_by_role("menuitem", name=name)).to_have_count(0)
    for name in names:
        page.get_by_text("Workbench").click()
        page.get_by_role("menuitem", name=name).click()
        page.wait_for_url(re.compile(f"/{name.lower()}"))
        settle(page)
