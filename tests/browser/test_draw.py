"""Draw your guess: query and draw by pointer, keys and touch; the chart stays in place; then the truth appears."""

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, Page, ViewportSize, expect

from tests.browser.conftest import Server, settle

pytestmark = pytest.mark.browser

BOX = "20260314"


@pytest.fixture(params=["pointer", pytest.param("keys", marks=pytest.mark.thorough), "touch"])
def how(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture
def screen(browser: Browser, how: str) -> Iterator[Page]:
    size: ViewportSize = {"width": 390, "height": 844} if how == "touch" else {"width": 1280, "height": 900}
    context = browser.new_context(viewport=size, has_touch=how == "touch", reduced_motion="reduce")
    context.set_default_timeout(120_000)
    yield context.new_page()
    context.close()


def begin(page: Page, url: str) -> None:
    page.goto(f"{url}/probe?box={BOX}")
    settle(page)
    page.get_by_role("button", name="Guess the function of 14 March 2026").first.click()
    page.wait_for_url(re.compile("run="))
    expect(page.locator(".draw .lives")).to_have_text(" 10 calls left")
    expect(page.get_by_text("Function of 14 March 2026").first).to_be_visible()


def place_of(page: Page, x: float, y: float) -> tuple[float, float]:
    box = page.locator(".draw .plane").bounding_box()
    assert box is not None
    return box["x"] + x * box["width"], box["y"] + y * box["height"]


def stroke(page: Page, how: str, points: list[tuple[float, float]]) -> None:
    """Draw along these points of the chart, with the pointer or a finger."""
    places = [place_of(page, *point) for point in points]
    if how == "pointer":
        page.mouse.move(*places[0])
        page.mouse.down()
        for one in places[1:]:
            page.mouse.move(*one, steps=5)
        page.mouse.up()
        return
    finger = page.context.new_cdp_session(page)

    def touch(kind: str, at: tuple[float, float] | None) -> None:
        spots = [] if at is None else [{"x": at[0], "y": at[1]}]
        finger.send("Input.dispatchTouchEvent", {"type": kind, "touchPoints": spots})

    touch("touchStart", places[0])
    for one in places[1:]:
        touch("touchMove", one)
    touch("touchEnd", None)


def told(app: Server, run: str) -> list[dict[str, Any]]:
    path = Path(app.log.with_suffix("")) / "journals" / f"{run}.jsonl"
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def data(lines: list[dict[str, Any]], record: str) -> list[dict[str, Any]]:
    return [line["data"] for line in lines if line.get("record") == record]


@pytest.mark.sampled(2)
def test_a_function_is_asked_and_drawn_and_then_shown(app: Server, screen: Page, how: str) -> None:
    begin(screen, app.url)
    plane = screen.locator(".draw .plane")
    before = plane.bounding_box()
    plane.focus()
    for number, share in enumerate((0.25, 0.75), 1):
        if how == "pointer":
            screen.mouse.click(*place_of(screen, share, 0.5))
        elif how == "touch":
            screen.touchscreen.tap(*place_of(screen, share, 0.5))
        else:
            # Keys begin at 0, and continue from the last query.
            for _ in range(5):
                screen.keyboard.press("ArrowLeft" if number == 1 else "Shift+ArrowRight")
            screen.keyboard.press("Enter")
        expect(screen.locator(".draw .lives .gone")).to_have_count(number)
        expect(screen.locator(".draw .said-of")).to_contain_text("f(")
    expect(plane.locator(".point")).to_have_count(2)
    assert plane.bounding_box() == before, "the input stays where it is"
    screen.get_by_role("button", name="Draw", exact=True).click()
    level = plane.locator(".line-claim").get_attribute("d")
    if how == "keys":
        plane.focus()
        screen.keyboard.press("ArrowRight")
        for _ in range(4):
            screen.keyboard.press("Shift+ArrowUp")
        expect(screen.locator(".draw .said-of")).to_contain_text("x = 32:")
    else:
        stroke(screen, how, [(0.3, 0.9), (0.5, 0.2), (0.7, 0.6)])
    assert plane.locator(".line-claim").get_attribute("d") != level
    assert plane.bounding_box() == before
    assert screen.locator(".line-truth").count() == 0, "nothing is told before it was drawn"
    run = re.search(r"run=([^&]+)", screen.url)
    assert run
    screen.get_by_role("button", name="Submit").click()
    expect(screen.get_by_role("heading", name="The function and the drawings")).to_be_visible()
    expect(plane.locator(".line-truth, .line-claim, .line-reader")).to_have_count(3)
    expect(screen.locator(".draw .legend")).to_have_text("YouThe functionA robot")
    lines = told(app, run[1])
    wishes, [said] = data(lines, "wish"), data(lines, "submission")
    xs = [float(one) for wish in wishes for one in wish["inputs"]]
    assert xs == ([-5.0, 45.0] if how == "keys" else [pytest.approx(-64, abs=1), pytest.approx(64, abs=1)])
    assert said["description"] == "A curve drawn by hand."
    ys = json.loads(re.search(r"ys = (\[.*\])", said["code"])[1])  # type: ignore[index]
    assert len(ys) == 65 and len(set(ys)) > 5
    if how != "keys":
        highest = max(range(65), key=ys.__getitem__)
        assert abs(highest - 32) <= 1, "what was drawn highest in the middle is highest there"
    shown = screen.get_by_test_id("stCode").inner_text()
    assert "I drew the function of 14 March 2026" in shown and f"/probe?box={BOX}" in shown
    assert re.search(r"[■◧□]{16} \d+ of 16, 2 calls", shown)
    # The same after the page is reloaded.
    screen.reload()
    expect(plane.locator(".line-truth, .line-claim, .line-reader")).to_have_count(3)


@pytest.mark.thorough
def test_after_ten_calls_one_can_only_draw(app: Server, browser: Browser) -> None:
    page = browser.new_page(viewport={"width": 1280, "height": 900}, reduced_motion="reduce")
    page.set_default_timeout(120_000)
    begin(page, app.url)
    page.locator(".draw .plane").focus()
    for number in range(1, 11):
        page.keyboard.press("ArrowRight")
        page.keyboard.press("Enter")
        expect(page.locator(".draw .lives .gone")).to_have_count(number)
    expect(page.get_by_role("button", name="Ask", exact=True)).to_be_disabled()
    expect(page.get_by_role("button", name="Draw", exact=True)).to_have_attribute("aria-pressed", "true")
    page.mouse.click(*place_of(page, 0.5, 0.5))
    expect(page.locator(".draw .handle")).to_have_count(9)
    expect(page.locator(".draw .plane .point")).to_have_count(10)
    page.close()
