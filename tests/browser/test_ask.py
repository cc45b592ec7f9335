"""Ask in a browser: predict a card before it turns, and continue from the viewer."""

import re
from urllib.parse import parse_qs, urlsplit

import pytest
from playwright.sync_api import Page, expect

from tests.browser.conftest import Server, begin, settle

pytestmark = pytest.mark.browser

ANSWERED = 9
"""New questions of the first robot's run that have an answer; the tenth repeats another."""

COUNTED = ".cards > .card:not(.set-aside)"


def named(page: Page, name: str) -> str:
    """The value of this name in the address."""
    return parse_qs(urlsplit(page.url).query).get(name, [""])[0]


def guess_on(page: Page, *keys: str) -> list[str]:
    """Predict the next cards with these keys, and open each. Returns their questions."""
    asked = []
    for key in keys:
        asked.append(page.locator(".game .round h2").first.inner_text())
        expect(page.locator(".game .options button").first).to_be_visible()
        expect(page.locator(".turned")).to_have_count(0)
        page.keyboard.press(key)
        expect(page.locator(".turned")).to_be_visible()
        page.keyboard.press(" ")
    return asked


def test_guess_first(app: Server, page: Page) -> None:
    page.goto(f"{app.url}/ask")
    settle(page)
    page.get_by_text("Let me guess first").click()
    settle(page)
    begin(page, "ask")
    expect(page.locator(".st-key-link")).to_be_visible()
    expect(page.locator(".st-key-actions, .st-key-own")).to_have_count(0)
    _, second, third = guess_on(page, "1", "2", "3")
    expect(page.locator(".game .hint")).to_have_text(f"4 of {ANSWERED}")
    # The browser stores what has not reached the app yet.
    page.reload()
    expect(page.locator(".game .hint")).to_have_text(f"4 of {ANSWERED}")
    guess_on(page, *"1" * (ANSWERED - 3))
    expect(page.locator(".over")).to_contain_text(
        re.compile(r"You predicted \d of \d with its reason and \d of \d without it\. That is too few to say")
    )
    page.keyboard.press("Escape")
    expect(page.locator(".st-key-own")).to_be_visible()
    # Only guesses made with the reason are compared with the predictor's.
    expect(page.locator(".left")).to_contain_text(re.compile(r"You \d of [1-5], the predictor \d of [1-5]\."))
    expect(page.locator(COUNTED, has_text=second)).to_contain_text("You said no: ")
    expect(page.locator(COUNTED, has_text=third)).to_contain_text("You said cannot tell.")
    expect(page.locator(".cards > .card", has_text="You said")).to_have_count(ANSWERED)
    run, reader = named(page, "run"), named(page, "reader")
    assert reader, "who guessed all of it is not forgotten"
    page.goto(f"{app.url}/ask?run={run}&guess=1")
    expect(page.locator(".game .hint")).to_have_text(f"1 of {ANSWERED}")
    assert named(page, "reader") not in ("", reader)
    (first,) = guess_on(page, "2")
    page.get_by_role("button", name="Stop guessing").click()
    expect(page.locator(".st-key-own")).to_be_visible()
    assert not named(page, "reader")
    expect(page.locator(COUNTED, has_text=first)).to_contain_text("it said")
    expect(page.locator(".cards > .card", has_text="You said")).to_have_count(0)


@pytest.mark.thorough
def test_an_answer_is_edited_from_where_it_stands(app: Server, page: Page) -> None:
    page.goto(f"{app.url}/ask")
    settle(page)
    begin(page, "ask")
    run = named(page, "run")
    for place in ("ask", "case"):
        page.goto(f"{app.url}/{place}?run={run}")
        page.get_by_role("button", name="Ask your own question").click()
        expect(page.locator(".st-key-own input")).to_be_focused()
        page.get_by_role("button", name="Open question 2").click()
        page.locator("#card-cf-02 .calls summary").click()
        said = page.locator("#card-cf-02 section", has_text=re.compile("^answerer"))
        expect(said).to_contain_text("no (original parser), no (updated parser)")
        said.get_by_role("button", name="Edit this answer and continue").click()
        expect(page.locator(".st-key-fork textarea").first).to_have_value(re.compile("An emu cannot fly"))
        assert named(page, "run") == run and re.fullmatch(r"c\d+", named(page, "fork"))
        page.reload()
        expect(page.locator(".st-key-fork textarea").first).to_have_value(re.compile("An emu cannot fly"))
    page.get_by_role("button", name="Cancel").click()
    expect(page.locator(".st-key-fork")).to_have_count(0)
    call = page.locator(".st-key-call-c0001")
    call.locator("summary").click()
    call.get_by_role("button", name="Edit this answer and continue").click()
    expect(page.locator(".st-key-fork textarea").first).to_have_value(re.compile("All birds can fly"))
    assert named(page, "fork") == "c0001"
