"""Presenting a run to an audience, and the stories, by keyboard alone."""

from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, Page, expect

from core import home
from core.runs.library import list_recordings
from tests.browser.conftest import Server, settle

pytestmark = pytest.mark.browser

RUN = list_recordings(home.recordings()).of_lab("simulatability")[0].run


@pytest.fixture(params=["light", pytest.param("dark", marks=pytest.mark.thorough)])
def screen(browser: Browser, request: pytest.FixtureRequest) -> Iterator[Page]:
    page = browser.new_page(
        viewport={"width": 1280, "height": 720}, color_scheme=request.param, reduced_motion="reduce"
    )
    page.set_default_timeout(120_000)
    yield page
    page.close()


def press(page: Page, key: str, shows: str, place: str) -> None:
    """Press a key. It works immediately, because the viewer asks no server."""
    page.keyboard.press(key)
    expect(page.locator(".tell")).to_have_attribute("data-shows", shows)
    expect(page.locator(".hint")).to_contain_text(place)


def test_a_run_is_told_by_keyboard_alone(app: Server, screen: Page) -> None:
    heading = screen.locator(".tell h2")
    screen.goto(f"{app.url}/ask?run={RUN}&present=1")
    expect(heading).to_have_text("Can a penguin fly?")
    # The rest of the page is covered by the presentation.
    at_a_link = "(one) => document.elementFromPoint(one.getBoundingClientRect().x, one.getBoundingClientRect().y)"
    link = screen.get_by_role("link", name="Stories")
    assert not link.evaluate(f"(one) => one.contains(({at_a_link})(one))")
    press(screen, "ArrowRight", "claim", "2 of 11")
    expect(screen.locator(".claim")).to_contain_text("Birds can fly.")
    press(screen, " ", "card", "3 of 11")
    expect(heading).to_have_text("Could a penguin jump?")
    screen.keyboard.press("2")
    expect(screen.locator("button[aria-pressed=true]")).to_contain_text("No")
    press(screen, " ", "turned", "4 of 11")
    expect(screen.locator(".turned")).to_contain_text("You said no.")
    press(screen, "ArrowRight", "card", "5 of 11")
    screen.keyboard.press("2")
    press(screen, "ArrowLeft", "turned", "4 of 11")
    press(screen, "End", "verdict", "11 of 11")
    expect(heading).to_contain_text("0 of 2 predictions came true")
    told = screen.get_by_text(
        "You predicted 1 of 1 correctly. Taking its explanation literally: 0 of 1. Only questions"
    )
    expect(told).to_contain_text("1 guess is left out")
    assert screen.url.endswith("&at=11")
    # Votes are stored, and the address holds the current screen.
    screen.reload()
    expect(told).to_be_visible()
    press(screen, "Home", "question", "1 of 11")
    screen.keyboard.press("?")
    expect(screen.locator(".keys")).to_be_visible()
    screen.keyboard.press("Escape")
    screen.keyboard.press("Escape")
    expect(screen.locator(".read .verdict")).to_be_visible()
    assert "present" not in screen.url and "at=" not in screen.url and RUN in screen.url
    screen.keyboard.press("t")
    expect(screen.locator(".tell")).to_be_visible()
    assert "present=1" in screen.url


@pytest.mark.thorough
def test_any_place_in_the_address_is_a_screen(app: Server, page: Page) -> None:
    for at, place in {"end": "11 of 11", "9999": "11 of 11", "0": "1 of 11", "x": "1 of 11", "3": "3 of 11"}.items():
        page.goto(f"{app.url}/ask?run={RUN}&present=1&at={at}")
        expect(page.locator(".hint")).to_contain_text(place)


def test_a_story_is_opened_from_the_front_page_and_leads_on(app: Server, screen: Page) -> None:
    first, *others = list_recordings(home.recordings()).recording
    screen.goto(app.url)
    settle(screen)
    cards = screen.locator(".stories a")
    expect(cards).to_have_count(3)
    cards.filter(has_text=first.twist).click()
    hint = screen.locator(".hint")
    expect(hint).to_contain_text("1 of 5")
    for number in range(1, 5):
        expect(hint).to_contain_text(f"{number} of 5")
        longer = screen.locator(".screen").evaluate("(one) => one.scrollHeight - one.clientHeight")
        assert longer <= 2, f"screen {number} is longer than the window"
        if screen.locator(".tell[data-shows=card]").count():
            screen.keyboard.press("1")
        if number < 4:
            screen.keyboard.press(" ")
    expect(screen.get_by_text("You predicted ")).to_be_visible()
    press(screen, "End", "end", "5 of 5")
    expect(screen.get_by_text(first.twist).first).to_be_visible()
    expect(screen.get_by_role("link", name=f"Next: {others[0].title or 'We ate at the corner'}")).to_be_visible()
    screen.keyboard.press("Escape")
    expect(cards).to_have_count(len(others) + 1)
    screen.goto(f"{app.url}/story?run={others[0].run}")
    expect(screen.locator(".tell")).to_be_visible()
    assert screen.url.endswith(f"/stories?run={others[0].run}")


@pytest.mark.thorough
def test_a_story_of_a_hidden_function_has_a_title_of_its_own_and_tells_no_error_of_code(
    app: Server, page: Page
) -> None:
    for one in list_recordings(home.recordings()).of_lab("find"):
        page.goto(f"{app.url}/stories?run={one.run}")
        expect(page.locator(".tell .claim")).to_be_visible()
        told = page.locator(".tell").inner_text()
        assert one.title and one.title in told and "seed" not in told and "Error" not in told


@pytest.mark.thorough
def test_the_whole_run_is_one_link_away(app: Server, page: Page) -> None:
    page.goto(f"{app.url}/stories?run={RUN}")
    page.get_by_role("link", name="The whole run").click()
    expect(page.locator(".read .cards > .card")).to_have_count(6)
    assert page.url.endswith(f"/ask?run={RUN}")
