"""Runs side by side in a browser: from the front page, from a run, and by a link."""

import re
from collections.abc import Callable
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import pytest
from playwright.sync_api import Browser, Page, expect

from core import journal
from core.events import Recorded, Started
from tests.browser.conftest import Scripted, Server, open_menu, settle
from tests.browser.test_browser import ask_model
from tests.support.plausible import Plausible

pytestmark = pytest.mark.browser

PARTING = "Their answers agree on 9 of 9 questions; what you could expect from their explanations differs on 7."


def test_the_three_robots_come_at_once_and_a_link_shows_the_same(
    serve: Callable[..., Server], page: Page, browser: Browser
) -> None:
    server = serve()
    page.goto(f"{server.url}/ask")
    settle(page)
    page.locator(".st-key-sides-ask button").first.click()
    page.wait_for_url(re.compile("/side"))
    expect(page.locator(".st-key-parting")).to_contain_text(PARTING)
    columns = page.locator(".stage .across").first.get_by_role("group")
    expect(columns).to_have_count(3)
    expect(columns.nth(0).locator(".verdict h3")).to_contain_text("7 of 10 came true.")
    expect(columns.nth(2).locator(".verdict h3")).to_contain_text("of 10 not covered.")
    expect(page.locator(".stage .meaning").first).to_contain_text("All 7 predictions came true")
    tops = [box["y"] for one in columns.all() if (box := one.bounding_box())]
    assert len(set(tops)) == 1, "beside each other"
    expect(page.locator(".stage .verdict.is-open")).to_have_count(0)
    other = browser.new_page()
    other.goto(page.url)
    expect(other.locator(".st-key-parting")).to_contain_text(PARTING)
    rows = other.locator(".stage .rows > li")
    expect(rows).to_have_count(10)
    expect(rows.filter(has_text="The predictions differ.")).to_have_count(7)
    expect(rows.first.locator(".whose")).to_have_text(["Robot A", "Robot B", "Robot C"])
    for one in (page, other):
        expect(one.get_by_text("Open this run")).to_have_count(3)
        settle(one)
    beside = other.locator(".stage .beside")
    expect(beside).to_have_text(page.locator(".stage .beside").text_content() or "")
    other.keyboard.press("t")
    expect(other.locator(".stage .tell")).to_be_visible()
    other.keyboard.press("Escape")
    expect(beside).to_be_visible()
    other.close()


@pytest.mark.thorough
def test_a_run_is_set_beside_another_model_and_another_way_on_its_own_questions(
    serve: Callable[..., Server], page: Page, tmp_path: Path
) -> None:
    server = serve()
    page.goto(f"{server.url}/ask")
    settle(page)
    page.locator(".st-key-show-ask button").first.click()
    page.wait_for_url(re.compile("run="))
    open_menu(page)
    page.locator(".st-key-side button").first.click()
    box = page.locator("[class*=st-key-side-models] input")
    box.fill("control/steadfast")
    box.press("Enter")
    box.press("Tab")
    expect(page.locator(".st-key-side-begin")).to_contain_text("Begin 1 run")
    page.locator(".st-key-side-ways").get_by_text("Answer, then justify").click()
    expect(page.locator(".st-key-side-begin")).to_contain_text("Begin 2 runs")
    page.locator(".st-key-side-begin button").first.click()
    page.wait_for_url(re.compile("/side"))
    expect(page.locator(".st-key-parting")).to_contain_text("written from one of these explanations and given to all")
    expect(page.locator(".stage .beside")).to_be_visible()
    expect(page.locator(".stage .verdict.is-open")).to_have_count(0)
    first, *others = parse_qs(urlsplit(page.url).query)["runs"][0].split(",")
    asked = questions(tmp_path, first)
    expect(page.locator(".st-key-parting")).to_contain_text(f"{len(asked)} shared by all runs")
    for run, model, method in zip(others, ("steadfast", "fickle"), ("cot", "posthoc"), strict=True):
        spec = begun(tmp_path, run).spec
        assert (spec["model"], spec["method"]) == (f"control/{model}", method)
        assert spec["given_from"] == first and [one["text"] for one in spec["given"]] == asked
        assert spec["simulator"] == "control/fickle", "one predictor reads all the explanations"
        assert questions(tmp_path, run) == asked
    assert "given" not in begun(tmp_path, first).spec, "journals of other runs are as they were"


@pytest.mark.thorough
def test_runs_that_go_on_are_followed_and_the_page_is_drawn_anew_once_all_are_over(
    app: Server, page: Page, scripted: Scripted
) -> None:
    first, second = (scripted.add(Plausible(), delay=0.1) for _ in range(2))
    ask_model(page, app.url, first)
    expect(page.locator(".st-key-actions")).to_be_visible()
    second.stop_after(0)
    sent: list[str | bytes] = []
    page.on("websocket", lambda socket: socket.on("framesent", lambda data: sent.append(data)))
    open_menu(page)
    page.locator(".st-key-side button").first.click()
    box = page.locator("[class*=st-key-side-models] input")
    for model in ("control/fickle", second.id):
        box.fill(model)
        box.press("Enter")
    box.press("Tab")
    page.locator(".st-key-side-begin button").first.click()
    page.wait_for_url(re.compile("/side"))
    columns = page.locator(".stage .across").first.get_by_role("group")
    expect(columns).to_have_count(3)
    # One of them has ended and shows its verdict; the other can be stopped.
    expect(columns.nth(1).locator(".verdict:not(.is-open)")).to_be_visible()
    expect(columns.nth(1).locator(".run")).to_have_count(0)
    expect(columns.nth(2).locator(".run")).to_contain_text("calls answered")
    expect(columns.nth(2).get_by_role("button", name="Stop")).to_be_visible()
    expect(page.locator(".st-key-parting")).to_contain_text("appears once all are done")
    settle(page)
    before = len(sent)
    second.go_on()
    expect(page.locator(".stage .run")).to_have_count(0)
    expect(page.locator(".st-key-parting")).not_to_contain_text("once all are done")
    expect(columns.nth(2).get_by_role("button", name="Stop")).to_have_count(0)
    assert len(sent) <= before + 2, "once it has begun, and once all are over"


def events(home: Path, run: str) -> list[object]:
    return list(journal.read(home / "home" / "journals" / f"{run}.jsonl").events)


def begun(home: Path, run: str) -> Started:
    return next(event for event in events(home, run) if isinstance(event, Started))


def questions(home: Path, run: str) -> list[str]:
    """The new questions of a run's only case, in order."""
    asked = {
        event.item: str(event.data["text"])
        for event in events(home, run)
        if isinstance(event, Recorded) and event.record == "counterfactual"
    }
    return [text for _, text in sorted(asked.items())]
