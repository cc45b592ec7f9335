"""Recorded runs in a browser: presented and played, at a pace, without a model and a network."""

import os
import re
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path
from statistics import median
from urllib.parse import urlsplit

import pytest
from playwright.sync_api import Browser, Page, ProxySettings, expect

from core import home
from core.entry import LABS
from core.runs.library import list_recordings
from tests.browser.conftest import ROOT, Server
from tests.support.chance import ALL

pytestmark = pytest.mark.browser

LIST = list_recordings(home.recordings())
WITHOUT_NETWORK = (
    f"{ROOT / 'tests' / 'support' / 'without_network'}{os.pathsep}{ROOT / 'tests' / 'support' / 'without_encoder'}"
)


def test_each_is_told_and_plays_with_no_model_and_no_network(
    browser: Browser, serve: Callable[..., Server], tmp_path: Path
) -> None:
    server = serve(forked=False, PYTHONPATH=WITHOUT_NETWORK, HF_HUB_OFFLINE="1")
    # A proxy that does not answer, for every request to another machine.
    nowhere: ProxySettings = {"server": "http://127.0.0.1:9", "bypass": "127.0.0.1"}
    context = browser.new_context(viewport={"width": 1280, "height": 720}, proxy=nowhere)
    asked: list[str] = []
    context.on("request", lambda one: asked.append(one.url))
    page = context.new_page()
    for one in LIST.recording if ALL else [one for lab in LABS for one in LIST.of_lab(lab.name)[:1]]:
        page.goto(f"{server.url}/stories?run={one.run}&at=end")
        expect(page.get_by_role("heading", name=one.twist)).to_be_visible()
        page.get_by_role("link", name="Step by step").click()
        expect(page.get_by_text("No model is asked")).to_be_visible()
        expect(page.get_by_text(f"A recording. {one.twist}")).to_be_visible()
        expect(page.get_by_text(f" {one.of} such runs")).to_be_visible()
        page.locator(".st-key-speed").get_by_text("Instant").click()
        expect(page.locator(".st-key-actions")).to_be_visible()
        expect(page.locator(".st-key-ask-it-yourself")).to_contain_text("the largest on this machine")
        assert page.get_by_text("Traceback").count() == 0 and "replay" not in page.url
    context.close()
    assert not list((tmp_path / "home" / "journals").glob("*.jsonl")), "nothing was begun, and nothing copied"
    hosts = {urlsplit(address).hostname for address in asked if address.startswith("http")}
    assert hosts == {"127.0.0.1"}


@pytest.mark.thorough
def test_a_replay_goes_step_by_step_and_quicker_where_one_likes(app: Server, page: Page) -> None:
    one = LIST.of_lab("simulatability")[0]
    page.goto(f"{app.url}/case?run={one.run}&replay=1")
    bar = page.locator(".st-key-replay")
    seen: list[int] = []
    told: list[str] = []
    page.on("request", lambda asked: told.append(asked.url))
    expect(bar).to_contain_text("step 1 of")
    page.locator(".stage").evaluate("(one) => { one.dataset.mine = 'yes'; }")
    page.locator(".st-key-speed").get_by_text("4×").click()
    while page.locator(".st-key-replay").count():
        found = re.search(r"step (\d+) of (\d+)", " ".join(bar.all_inner_texts()))
        if found and (not seen or seen[-1] != int(found[1])):
            seen.append(int(found[1]))
            if 2 * seen[-1] < int(found[2]):
                assert page.locator(".stage[data-mine]").count() == 1, "each step is drawn by the same stage"
        page.wait_for_timeout(40)
    assert seen == sorted(seen) and len(seen) > 5, seen
    # On a busy machine some steps pass between two checks.
    assert median(after - before for before, after in pairwise(seen)) <= 2, seen
    # For a moment the previous content is still beside it.
    expect(page.locator(".read .verdict .bars")).to_have_count(1)
    assert one.run in page.url
    assert not [asked for asked in told if "/told/" in asked], "who hears of the run itself is told its end"


def test_recordings_are_listed_apart_and_open(app: Server, page: Page) -> None:
    page.goto(f"{app.url}/browse?recordings=1&show=runs")
    expect(page.get_by_text("examples, not evidence")).to_be_visible()
