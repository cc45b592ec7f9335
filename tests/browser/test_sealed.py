"""Two browsers on one sealed case: each sees what it has guessed, and both see everything once its owner reveals it."""

import re
from collections.abc import Callable
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, WebSocketRoute, expect

from core import entry
from core.runs.library import RunLibrary
from core.scene import Scene
from core.server.access import name_of_visitor
from core.server.annotations import Annotations
from tests.attacks.wire import cookie, send
from tests.browser.conftest import Server, settle
from tests.support.sealed_runs import CANARY, laid

pytestmark = pytest.mark.browser


def heard(page: Page) -> list[bytes]:
    """Everything that the app sends over the page's socket from now on."""
    frames: list[bytes] = []

    def take(frame: str | bytes) -> None:
        frames.append(frame.encode() if isinstance(frame, str) else frame)

    page.on("websocket", lambda socket: socket.on("framereceived", take))
    return frames


def test_two_browsers_on_one_sealed_case(browser: Browser, serve: Callable[..., Server]) -> None:
    server = serve(EXPLAIN_HOSTS="class.example.org")
    given = cookie(server)
    name, _, value = given.partition("=")
    folder = Path(server._environment["EXPLAIN_HOME"], "journals")
    run = laid(folder, "simulatability", name_of_visitor(value.rpartition(".")[0]))
    Annotations(RunLibrary(folder, entry.labs())).share(run, True)
    owner, *others = contexts = [browser.new_context() for _ in range(3)]
    try:
        owner.add_cookies([{"name": name, "value": value, "url": server.url}])
        host = owner.new_page()
        host.goto(f"{server.url}/case?run={run}")
        settle(host)
        host.locator(".st-key-actions button").first.click()
        # By key: the help of the entry under the pointer covers its neighbours.
        host.get_by_role("button", name="Make others guess first").press("Enter")
        expect(host.get_by_role("button", name="Reveal to all")).to_be_visible()
        whole = Scene.model_validate_json(send(server, "GET", f"/scene/{run}/", Cookie=given).words)
        assert whole.verdict is not None
        ann, bob = (context.new_page() for context in others)
        frames = heard(bob)
        for page in (ann, bob):
            page.goto(f"{server.url}/case?run={run}")
            page.locator(".stage .game .options button").first.wait_for()
            assert whole.verdict.headline.text not in page.locator(".stage").inner_text()
            first = page.locator(".stage .round")
            expect(first).to_contain_text("“It” is a small model")
            expect(first).to_contain_text("guess what happened; then the card turns")
            expect(first).to_contain_text("Reason hidden on this card. At the end you can compare")
        ann.keyboard.press("Escape")
        expect(ann.locator(".stage .cards .card.sealed")).to_have_count(len(whole.cards))
        ann.get_by_role("button", name="Your turn: guess").click()
        ann.locator(".stage .game .options button").first.wait_for()
        ann.keyboard.press("1")
        turned = ann.locator(".stage .turned")
        expect(turned).to_be_visible()
        expect(turned).to_contain_text("You were ")
        expect(ann.locator(".stage .dropped .tile")).to_have_count(1)
        ann.reload()
        expect(ann.locator(".stage .hint")).to_contain_text(f"2 of {len(whole.cards)}")
        expect(ann.locator(".stage .dropped .tile")).to_have_count(1)
        expect(bob.locator(".stage .hint")).to_contain_text(f"1 of {len(whole.cards)}")
        expect(bob.locator(".stage .turned")).to_have_count(0)
        bob.reload()
        expect(bob.locator(".stage .game .options button").first).to_be_visible()
        expect(bob.locator(".stage .dropped .tile")).to_have_count(0)
        said = b"".join(frames)
        assert frames and CANARY.encode() not in said and whole.verdict.headline.text.encode() not in said
        host.get_by_role("button", name="Reveal to all").press("Enter")
        for page in (ann, bob):
            expect(page.locator(".stage .verdict h3")).to_contain_text(whole.verdict.headline.text)
            expect(page.locator(".stage .game")).to_have_count(0)
    finally:
        for context in contexts:
            context.close()


def test_a_press_on_a_sealed_row_shows_nothing_before_the_app_has_heard_of_it(
    page: Page, serve: Callable[..., Server]
) -> None:
    """Neither of a case with an answer that was drawn for a blind audit, nor where the address says to guess first."""
    server, is_held, asked = serve(), False, list[str]()
    laid(Path(server._environment["EXPLAIN_HOME"], "journals"), "simulatability", "")

    def between(socket: WebSocketRoute) -> None:
        app = socket.connect_to_server()
        socket.on_message(lambda said: None if is_held else app.send(said))

    def press() -> None:
        table = page.get_by_test_id("stDataFrame").first
        # The browser reads the number of the row in what the table tells screen readers.
        table.locator("[role=grid] [role=row]").nth(1).wait_for(state="attached")
        box = table.bounding_box()
        assert box is not None
        page.mouse.click(box["x"] + 120, box["y"] + 36 + 18)

    page.on("request", lambda request: asked.append(request.url) if "/scene/" in request.url else None)
    page.route_web_socket(re.compile("_stcore/stream"), between)
    page.goto(f"{server.url}/browse?reader=ann")
    settle(page)
    stage = page.locator(".stage")
    is_held = True
    press()
    page.wait_for_timeout(1_000)
    expect(page.locator(".stage .card, .stage .lead")).to_have_count(0)
    assert not asked and "run=" not in page.url

    is_held = False
    page.goto(f"{server.url}/audit?lab=simulatability")
    page.get_by_role("button", name="Draw").click()
    page.locator(".st-key-audit-answer").wait_for()
    page.goto(f"{server.url}/browse")
    settle(page)
    stage.get_by_text("There is nothing to show.").wait_for(state="attached")
    is_held = True
    with page.expect_response(re.compile("/scene/")) as answer:
        press()
    scene = Scene.model_validate_json(answer.value.text())
    assert scene.is_sealed and scene.verdict is None and not any(card.said or card.expects for card in scene.cards)
    page.wait_for_timeout(1_000)
    expect(page.locator(".stage .card, .stage .lead")).to_have_count(0)
    expect(stage).to_be_hidden()
