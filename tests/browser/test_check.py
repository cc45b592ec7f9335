"""The Check page in a browser, as a person meets it."""

import re
from contextlib import suppress

import pytest
from playwright.sync_api import Locator, Page, TimeoutError, expect

from tests.browser.conftest import Scripted, ScriptedModel, Server, begin, settle
from tests.support.plausible import telling

pytestmark = pytest.mark.browser

RECORDED = "20261123-091534-consistency-220d234af59acc7e"

HEIGHTS = """() => {
  // How high the stage is, whenever the browser draws.
  window.heights = [];
  const holds = [...document.querySelectorAll("*")].find((one) => one.shadowRoot?.querySelector(".read:not(.all)"));
  const look = () => { window.heights.push(holds.isConnected ? holds.offsetHeight : 0); requestAnimationFrame(look); };
  look();
}"""


@pytest.fixture
def slow(scripted: Scripted) -> ScriptedModel:
    """A model that takes half a second for each answer."""
    return scripted.add(telling(), delay=0.5)


def opened(page: Page, url: str, model: str = "") -> None:
    page.goto(f"{url}/check")
    settle(page)
    if model:
        box = page.locator(".st-key-check-model input")
        box.fill(model)
        box.press("Enter")
        settle(page)


def choose(page: Page, option: str) -> None:
    """Choose an option in the folded section *More options*."""
    page.locator(".st-key-settings summary").click()
    page.get_by_text(option, exact=True).click()
    settle(page)


def press(page: Page) -> str:
    """Press Check with the default settings. Returns the run's id from the address."""
    begin(page, "check")
    page.wait_for_url(re.compile("run="))
    return page.url.split("run=")[1].split("&")[0]


def session(page: Page, number: int) -> Locator:
    """One of the viewer's panels: the three sessions, then those with random masks."""
    return page.locator(".stage .right > .panels > .panel").nth(number - 1)


def test_check_a_control_and_read_why(app: Server, page: Page) -> None:
    opened(page, app.url)
    press(page)
    expect(page.locator(".stage .verdict h3")).to_contain_text(
        "still answered positive: not consistent with its explanation"
    )
    expect(page.locator(".st-key-actions")).to_be_visible()
    third = session(page, 3)
    expect(third.locator(".is-hidden").first).to_have_text("[REDACTED]")
    third.locator("summary").click()
    expect(third.get_by_text("Exact prompt")).to_be_visible()
    expect(third.get_by_text("Words in it may have been redacted")).to_be_visible()
    expect(third.get_by_text("(updated parser)")).to_be_visible()
    boxes = [session(page, number).bounding_box() for number in (1, 2, 3)]
    assert boxes[0]["x"] < boxes[1]["x"] < boxes[2]["x"] and abs(boxes[0]["y"] - boxes[2]["y"]) < 2, "side by side"


def test_question_verdict_and_all_three_answers_stand_above_the_fold(app: Server, page: Page) -> None:
    page.set_viewport_size({"width": 1280, "height": 720})
    page.goto(f"{app.url}/check?run={RECORDED}")
    settle(page)
    expect(page.locator(".stage .read h2")).to_have_text("Is this text positive or negative?")
    answers = page.locator(".stage .panel .answer")
    expect(answers.first).to_be_visible()
    for shown in (page.locator(".stage .verdict .bars"), page.locator(".stage .claim"), *answers.all()[:2]):
        box = shown.bounding_box()
        assert box is not None and box["y"] + box["height"] <= 720


@pytest.mark.thorough
def test_another_wording_takes_the_place_of_the_last_one_without_a_jump(app: Server, page: Page) -> None:
    opened(page, app.url)
    choose(page, "Try every wording")
    press(page)
    expect(page.locator(".st-key-actions")).to_be_visible()
    third = session(page, 3)
    expect(third).to_contain_text("[REDACTED]")
    third.locator("summary").click()
    expect(third.get_by_text("Exact prompt")).to_be_visible()
    page.evaluate(HEIGHTS)
    page.locator("[class*=st-key-shown-wording] button", has_text="human, removed").click()
    expect(third).to_contain_text("[REMOVED]")
    expect(third.locator("details[open]")).to_have_count(0)
    assert min(page.evaluate("window.heights")) > 300


@pytest.mark.thorough
def test_every_wording_fills_in_while_the_run_goes_on(app: Server, page: Page, slow: ScriptedModel) -> None:
    opened(page, app.url, slow.id)
    choose(page, "Try every wording")
    press(page)
    grid = page.locator("table").first
    expect(grid.get_by_text("…").first).to_be_visible()
    expect(grid.get_by_text("yes").first).to_be_visible()
    expect(page.locator(".stage .verdict.kept h3")).to_be_visible()
    expect(page.get_by_text("It was consistent with 6 of 6 that count.")).to_be_visible()


@pytest.mark.thorough
def test_a_run_survives_a_reload_and_a_cancel_stops_the_spending(app: Server, page: Page, slow: ScriptedModel) -> None:
    slow.stop_after(6)
    opened(page, app.url, slow.id)
    choose(page, "Built-in examples")
    press(page)
    expect(page.locator(".stage .run")).to_contain_text(re.compile(r"[1-9]\d* calls"))
    page.reload()
    page.wait_for_selector(".stage .run")
    page.get_by_role("button", name="Stop").click()
    expect(page.get_by_text("You stopped this run")).to_be_visible()
    asked = slow.count
    slow.go_on()
    slow.answered()
    page.reload()
    settle(page)
    assert slow.count == asked
    page.locator(".st-key-go-on button").first.click()
    expect(page.get_by_text("You stopped this run")).to_have_count(0)
    expect(page.locator(".stage .verdict.kept h3")).to_be_visible()


@pytest.mark.thorough
def test_what_a_model_and_a_person_write_stays_text(app: Server, page: Page, scripted: Scripted) -> None:
    hostile = (
        "<img src=x onerror=\"document.title='taken'\"> **bold** :red[red] $x^2$ www.example.com [link](https://e.com)"
    )
    opened(page, app.url, scripted.add(telling(explain=f"- superb\n- {hostile}"), delay=0.0).id)
    box = page.locator(".st-key-paragraph-sentiment textarea")
    box.fill(f"A superb film.\n\n    {hostile}")
    box.press("Control+Enter")
    settle(page)
    press(page)
    expect(page.locator(".st-key-actions")).to_be_visible()
    shown = session(page, 1)
    expect(shown.locator(".answer")).to_have_text("positive")
    text = shown.inner_text()
    assert "<img src=x onerror=" in text and "**bold** :red[red] $x^2$ www.example.com [link]" in text
    assert page.locator(".stage").locator("img, a, .katex, code").count() == 0
    assert page.title() != "taken"


@pytest.mark.thorough
def test_a_selected_check_of_many_is_shown(app: Server, page: Page) -> None:
    opened(page, app.url, "control/honest-lexicon")
    choose(page, "Built-in examples")
    press(page)
    expect(page.locator(".st-key-actions")).to_be_visible()
    # The viewer pushes the table down when it is drawn.
    expect(session(page, 3).locator(".answer")).to_be_visible()
    table = page.get_by_test_id("stDataFrame").first
    for _ in range(5):
        # A table that was just drawn misses clicks.
        table.scroll_into_view_if_needed()
        box = table.bounding_box()
        page.mouse.click(box["x"] + 15, box["y"] + 52 + 35)
        with suppress(TimeoutError):
            page.wait_for_url(re.compile("case="), timeout=10_000)
            break
    expect(session(page, 1)).to_contain_text("Two hours of spaceships")


@pytest.mark.thorough
def test_a_finished_check_fits_a_phone(app: Server, page: Page) -> None:
    page.set_viewport_size({"width": 390, "height": 844})
    opened(page, app.url)
    choose(page, "Try every wording")
    press(page)
    page.wait_for_selector(".st-key-actions")
    assert page.evaluate("document.querySelector('[data-testid=stMain]').scrollWidth - window.innerWidth") <= 0
    expect(session(page, 3)).to_be_visible()
    first, third = (session(page, number).bounding_box() for number in (1, 3))
    assert third["y"] > first["y"] + first["height"], "stacked"
    grid = page.locator("table").first
    assert grid.evaluate("table => table.scrollWidth <= table.parentElement.clientWidth + 1"), "the grid fits"
