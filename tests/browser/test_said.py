"""What a person says in the viewer is stored: with quick keys, over a lost connection, and only once."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Page, Route, expect

from core import home
from tests.browser.conftest import Server, settle
from tests.support.waiting import until

pytestmark = pytest.mark.browser

RUN = next(path.stem for path in sorted(home.recordings().glob("*-simulatability-*.jsonl")))


def judged(app: Server) -> dict[str, Any]:
    """The last verdict on each trial of the run."""

    def lines() -> Iterator[dict[str, Any]]:
        for path in Path(app._environment["EXPLAIN_HOME"], "journals").glob(f"{RUN}~labels-*.jsonl"):
            for line in path.read_text().splitlines():
                if '"record":"label"' in line:
                    yield json.loads(line)

    return {one["item"]: one["data"]["verdicts"].get("reading") for one in lines()}


@pytest.mark.thorough
def test_ten_keys_a_second_are_all_kept_over_a_lost_connection_too(app: Server, page: Page) -> None:
    lost: list[int] = []

    def now_and_then(route: Route) -> None:
        lost.append(1)
        # One batch is never sent; another arrives, but its acknowledgement is lost.
        if len(lost) == 2:
            route.abort()
        elif len(lost) == 3:
            route.fetch()
            route.abort()
        else:
            route.continue_()

    page.goto(f"{app.url}/case?run={RUN}")
    settle(page)
    cards = page.locator(".stage .cards > .card")
    cards.first.wait_for()
    page.route("**/said", now_and_then)
    ids = [str(one.get_attribute("id")).removeprefix("card-") for one in cards.all()]
    wanted = {}
    for number, id in enumerate(ids):
        page.keyboard.press("j")
        wanted[id] = ("right", "wrong")[number % 2]
        page.wait_for_timeout(100)
        page.keyboard.press("12"[number % 2])
        page.wait_for_timeout(100)
    expect(page.locator(".stage .saved")).to_contain_text(f"saved {len(ids)} of {len(ids)}")
    until(lambda: judged(app) == wanted)
    assert len(lost) > 3
    page.reload()
    settle(page)
    cards.first.wait_for()
    page.keyboard.press("j")
    expect(page.locator(".stage .judge [aria-pressed=true]").first).to_have_text("right1")


def test_what_the_app_does_not_take_is_sent_again_or_it_says_why(app: Server, page: Page) -> None:
    sent: list[int] = []
    refuses: list[tuple[int, str, int]] = [(429, "Too much was said.", 1)]

    def answered(route: Route) -> None:
        sent.append(len(json.loads(str(route.request.post_data))["said"]))
        status, why, least = refuses[-1]
        if sent[-1] >= least:
            route.fulfill(status=status, json={"title": "No", "why": why})
        else:
            route.continue_()

    page.goto(f"{app.url}/case?run={RUN}")
    settle(page)
    page.locator(".stage .cards > .card").first.wait_for()
    page.route("**/said", answered)
    saved = page.locator(".stage .saved")
    for key in "j121":
        page.keyboard.press(key)
    expect(saved).to_contain_text("not saved yet: Too much was said. (saved 0 of 3)")
    refuses.append((413, "Too long.", 2))
    expect(saved).to_contain_text("saved 3 of 3")
    assert 3 in sent and sent[-3:] == [1, 1, 1]
    refuses.append((403, "Cookies are needed to take part.", 1))
    page.keyboard.press("2")
    expect(saved).to_contain_text("Cookies are needed to take part. (saved 3 of 4)")
    before = len(sent)
    page.wait_for_timeout(1_500)
    assert len(sent) == before, "it is not sent again and again"
    refuses.append((413, "Too long.", 2))
    page.keyboard.press("1")
    expect(saved).to_contain_text("saved 5 of 5")
