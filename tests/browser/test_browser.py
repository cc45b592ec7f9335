"""The app in a browser, as a person meets it."""

import re
import signal
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, Route, expect

from core import entry
from tests.browser.conftest import Scripted, ScriptedModel, Server, begin, settle
from tests.conftest import WITHOUT_ENCODER
from tests.support import forked
from tests.support.plausible import Plausible
from tests.support.waiting import until

pytestmark = pytest.mark.browser
Serve = Callable[..., Server]

PAGES = ["stories", "browse", "compare", "query", "study", "study?new=1", "models", "methods", "audit", "side"]

VERDICT = ".stage .verdict:not(.is-open)"
"""The result of a run; while the run goes on something else is in its place."""


@pytest.fixture
def slow(scripted: Scripted) -> ScriptedModel:
    """A model that takes a moment for each answer."""
    return scripted.add(Plausible(), delay=0.2)


def ask(page: Page, url: str) -> str:
    """Press Ask with the default settings. Returns the run's id from the address."""
    page.goto(f"{url}/ask")
    settle(page)
    begin(page, "ask")
    page.wait_for_url(re.compile("run="))
    return page.url.split("run=")[1].split("&")[0]


def ask_model(page: Page, url: str, model: ScriptedModel, exam: bool = False) -> str:
    """Ask a scripted model ten new questions without other reasons. All its calls are those of one run, unless there is
    an `exam` before it.
    """
    page.goto(f"{url}/ask")
    settle(page)
    box = page.locator(".st-key-ask-model input")
    box.fill(model.id)
    box.press("Enter")
    settle(page)
    expect(page.locator(".st-key-ask button")).to_contain_text("157 calls")
    page.locator(".st-key-settings summary").click()
    number = page.get_by_role("slider", name="New questions")
    for _ in range(24 - 10):
        number.press("ArrowLeft")
    page.get_by_role("button", name="From a placebo: another question's reasons").click()
    expect(page.locator(".st-key-ask button")).to_contain_text("62 calls")
    if not exam:
        page.locator(".st-key-ask-exam label").click()
        expect(page.locator(".st-key-ask button")).to_contain_text("51 calls")
    begin(page, "ask")
    page.wait_for_url(re.compile("run="))
    return page.url.split("run=")[1].split("&")[0]


def answered(page: Page) -> int:
    found = re.search(r"(\d+) of about", page.locator(".stage .run").inner_text())
    return int(found[1]) if found else 0


@pytest.fixture(scope="module")
def empty(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """A server on which nobody runs anything."""
    server = Server(tmp_path_factory.mktemp("empty"), PYTHONPATH=WITHOUT_ENCODER)
    yield server
    server.stop()


@pytest.mark.thorough
def test_a_first_request_to_any_page_of_a_cold_server_gets_that_page(empty: Server, page: Page) -> None:
    page.goto(f"{empty.url}/browse")
    settle(page)
    expect(page.get_by_role("heading", name="Browse")).to_be_visible()
    expect(page.get_by_text("Page not found")).to_have_count(0)
    expect(page.get_by_test_id("stTopNavLink").filter(has_text="Ask")).to_be_visible()
    empty.stop()
    empty.start()
    page.goto(f"{empty.url}/ask?run=nothing")
    settle(page)
    expect(page.get_by_text("There is no such run")).to_be_visible()
    expect(page.get_by_text("Page not found")).to_have_count(0)


@pytest.mark.parametrize("path", ["", *(one.path for one in entry.labs().values() if not one.hidden), *PAGES])
def test_a_page_logs_no_error_and_has_our_icon(app: Server, page: Page, path: str) -> None:
    told: list[str] = []
    page.on("console", lambda line: told.append(line.text) if line.type == "error" else None)
    page.goto(f"{app.url}/{path}")
    settle(page)
    expect(page.get_by_test_id("stTopNavLink").filter(has_text="Ask")).to_be_visible()
    assert told == []
    assert str(page.locator("link[rel~=icon]").get_attribute("href")).startswith("data:image/svg+xml")


def test_ask_a_control_and_read_why(app: Server, page: Page) -> None:
    ask(page, app.url)
    expect(page.locator(VERDICT)).to_contain_text("its own explanation would have misled you")
    expect(page.locator(".st-key-actions")).to_be_visible()
    row = page.locator("#card-cf-02")
    row.get_by_role("button", name="Open").click()
    expect(row.get_by_text("An emu cannot fly.", exact=False).first).to_be_visible()
    row.get_by_text("Prompts and replies").click()
    expect(row.get_by_text("An emu cannot fly. So the answer is no.").first).to_be_visible()
    expect(row.get_by_text("Exact prompt").first).to_be_visible()
    expect(row.get_by_text("So the robot will likely answer yes.").first).to_be_visible()
    page.locator(".left").get_by_text("More", exact=True).click()
    expect(page.get_by_text("What this says, and what it does not")).to_be_visible()


def test_a_run_survives_page_switch_reload_and_closed_tab(
    app: Server, page: Page, browser: Browser, slow: ScriptedModel
) -> None:
    slow.stop_after(5)
    run = ask_model(page, app.url, slow)
    expect(page.locator(".stage .run")).to_contain_text(re.compile(r"[1-9]\d* of about"))
    page.get_by_text("Workbench").click()
    page.get_by_role("menuitem", name="Methods").click()
    expect(page.get_by_role("heading", name="Methods")).to_be_visible()
    page.go_back()
    expect(page.locator(f".stage .run, {VERDICT}").first).to_be_visible()
    page.reload()
    settle(page)
    expect(page.locator(".stage .claim")).to_contain_text("says yes")
    page.close()
    slow.go_on()
    until(lambda: slow.count == 51)
    again = browser.new_page()
    again.goto(f"{app.url}/ask?run={run}")
    expect(again.locator(VERDICT)).to_contain_text("has not taken the qualification test")
    expect(again.locator(".st-key-actions")).to_be_visible()
    assert slow.count == 51, "nothing was asked twice"
    again.close()


@pytest.mark.thorough
def test_an_edited_explanation_asks_what_depends_on_it_and_stands_beside_the_first(
    app: Server, page: Page, scripted: Scripted
) -> None:
    model = scripted.add(Plausible(), delay=0.0)
    run = ask_model(page, app.url, model)
    expect(page.locator(".st-key-actions")).to_be_visible()
    assert model.count == 51
    page.goto(f"{app.url}/case?run={run}&fork=c0001")
    settle(page)
    expect(page.locator(".st-key-fork-begin button")).to_be_disabled()
    box = page.locator(".st-key-fork textarea").first
    box.fill("No bird can fly. A penguin is a bird. So the answer is no.")
    box.press("Control+Enter")
    told = page.locator(".st-key-fork")
    expect(told).to_contain_text(re.compile(r"Asked again: .* Price: unknown"))
    [(least, most)] = re.findall(r"Asked again: (\d+) calls.* at most (\d+) ", told.inner_text())
    expect(page.locator(".st-key-fork-begin button")).to_be_enabled()
    page.locator(".st-key-fork-begin button").click()
    page.wait_for_url(re.compile("/side"))
    expect(page.locator(".stage .beside .claim")).to_have_count(2)
    expect(page.get_by_text("Open this run")).to_have_count(2)
    # Both are listed before the second has made all its calls.
    end = time.monotonic() + 60
    while model.count - 51 < int(least) and time.monotonic() < end:
        page.wait_for_timeout(100)
    assert 0 < int(least) <= model.count - 51 <= int(most) < 51, "as many as was said before"


@pytest.mark.thorough
def test_the_exam_comes_first_and_can_be_watched(app: Server, page: Page, slow: ScriptedModel) -> None:
    slow.stop_after(3)
    ask_model(page, app.url, slow, exam=True)
    expect(page.get_by_text("First the predictor's qualification test")).to_be_visible()
    slow.go_on()
    verdict = page.locator(VERDICT)
    expect(verdict).to_contain_text(
        "made the predictions, and it failed the qualification test (4 of 11; guessing gets 4)."
    )
    assert slow.count == 51 + 11
    expect(page.locator(".st-key-actions")).to_be_visible()
    page.locator(".stage .read > footer").get_by_role("button", name="Open").click()
    expect(page.locator(VERDICT)).to_contain_text("It failed the qualification test: 4 of 11 guesses are right")


@pytest.mark.thorough
def test_rows_fill_in_while_the_run_goes_on(app: Server, page: Page, slow: ScriptedModel) -> None:
    slow.stop_after(44)
    ask_model(page, app.url, slow)
    page.locator(".stage .card.in-doubt").first.wait_for()
    assert page.locator(".stage .run").count() == 1, "the first outcome shows before the run is over"
    slow.go_on()
    expect(page.locator(VERDICT)).to_be_visible()


@pytest.mark.thorough
def test_the_page_is_drawn_anew_once_when_the_run_is_over(app: Server, page: Page, slow: ScriptedModel) -> None:
    slow.stop_after(20)
    sent: list[str | bytes] = []
    page.on("websocket", lambda socket: socket.on("framesent", lambda data: sent.append(data)))
    ask_model(page, app.url, slow)
    expect(page.locator(".stage .run")).to_contain_text("20 of about 51 calls answered")
    page.locator(".stage .card").first.wait_for()
    settle(page)
    before = len(sent)
    assert before, "what leaves this page is heard"
    slow.go_on()
    expect(page.locator(".st-key-actions")).to_be_visible()
    expect(page.locator(".stage .run")).to_have_count(0)
    assert len(sent) == before + 1


@pytest.mark.thorough
def test_no_call_leaves_after_a_cancel(app: Server, page: Page, slow: ScriptedModel) -> None:
    slow.stop_after(8)
    ask_model(page, app.url, slow)
    expect(page.locator(".stage .run")).to_contain_text(re.compile(r"[2-9] of about"))
    page.get_by_role("button", name="Stop").click()
    expect(page.get_by_text("You stopped this run")).to_be_visible()
    asked = slow.count
    assert 2 < asked < 41
    slow.go_on()
    slow.answered()
    page.reload()
    settle(page)
    assert slow.count == asked
    page.locator(".st-key-go-on button").first.click()
    expect(page.locator(VERDICT)).to_be_visible()
    expect(page.get_by_text("You stopped this run")).to_have_count(0)


@pytest.mark.thorough
def test_a_page_drawn_anew_while_its_stage_is_loaded_keeps_it(app: Server, page: Page, slow: ScriptedModel) -> None:
    slow.stop_after(4)
    ask_model(page, app.url, slow)
    page.get_by_role("button", name="Stop").click()
    expect(page.get_by_text("You stopped this run")).to_be_visible()
    held: list[Route] = []
    page.route("**/stage.js", lambda route: held.append(route))
    page.reload()
    expect(page.locator(".st-key-go-on")).to_be_visible()
    until(lambda: page.wait_for_timeout(50) or bool(held))
    page.locator(".st-key-go-on button").first.click()
    expect(page.locator(".st-key-go-on")).to_have_count(0)
    held[0].continue_()
    expect(page.locator(".stage .run")).to_be_visible()
    page.wait_for_timeout(500)
    expect(page.locator(".stage .run")).to_be_visible()
    page.get_by_role("button", name="Stop").click()


@pytest.mark.thorough
def test_after_kill_9_a_run_goes_on_and_asks_nothing_twice(
    serve: Serve, page: Page, scripted: Scripted, slow: ScriptedModel
) -> None:
    server = serve(**scripted.variables)
    slow.stop_after(12)
    run = ask_model(page, server.url, slow)
    expect(page.locator(".stage .run")).to_contain_text(re.compile(r"[4-9] of about|1\d of about"))
    server.stop(signal.SIGKILL)
    journal = next(Path(server._environment["EXPLAIN_HOME"]).glob("journals/*.jsonl")).read_text(encoding="utf-8")
    kept = journal.count('"kind":"answered"')
    before = slow.count
    slow.go_on()
    assert 4 <= kept < 51
    server.start()
    page.goto(f"{server.url}/ask?run={run}")
    expect(page.get_by_text("This run was interrupted")).to_be_visible()
    page.locator(".st-key-go-on button").first.click()
    expect(page.locator(".st-key-actions")).to_be_visible()
    expect(page.locator(VERDICT)).to_be_visible()
    # At most, because the response cache may hold an answer that did not reach the journal in time.
    assert 0 < slow.count - before <= 51 - kept, "only what was not answered is asked"


@pytest.mark.thorough
def test_a_run_of_the_command_line_shows_up_while_one_looks(empty: Server, page: Page) -> None:
    page.goto(f"{empty.url}/browse")
    example = page.get_by_text("Example study.")
    expect(example).to_be_visible()
    forked.run("core", "ask", "Can a penguin fly?", "--model", "control/vague", env=empty._environment)
    page.locator(".st-key-news button").click(timeout=20_000)
    expect(example).to_be_hidden()
    expect(page.get_by_test_id("stDataFrame")).to_be_visible()


def test_what_a_model_writes_stays_text(app: Server, page: Page, scripted: Scripted) -> None:
    hostile = (
        "<img src=x onerror=\"document.title='taken'\"> **bold** :red[red] :smile: $x^2$ www.example.com "
        "[link](https://example.com). So the answer is yes."
    )
    ask_model(page, app.url, scripted.add(lambda body: hostile, delay=0.0))
    expect(page.locator(".stage .claim")).to_contain_text("<img src=x onerror=")
    text = page.locator(".stage .claim").inner_text()
    assert "<img src=x onerror=" in text and "**bold** :red[red] :smile: $x^2$ www.example.com" in text
    assert page.locator(".stage .claim").locator("img, a, .katex").count() == 0
    assert page.title() != "taken"


def test_the_verdict_is_above_the_fold_and_its_tiles_lead_to_their_cards(app: Server, page: Page) -> None:
    page.set_viewport_size({"width": 1280, "height": 720})
    ask(page, app.url)
    expect(page.locator(".st-key-actions")).to_be_visible()
    tiles = page.locator(".stage .right .tiles button")
    assert tiles.count() == 10
    for shown in (page.locator(VERDICT), page.locator(".stage .claim"), tiles.last):
        box = shown.bounding_box()
        assert box is not None and box["y"] > 0 and box["y"] + box["height"] < 720
    claim, cards = (page.locator(f".stage {name}").bounding_box() for name in (".claim", ".cards"))
    assert cards["x"] > claim["x"] + claim["width"], "side by side"
    tiles.nth(7).click()
    expect(page.locator("#card-cf-08 .more")).to_be_in_viewport()


@pytest.mark.sampled(3)
@pytest.mark.parametrize("path", ["check", "probe", "plant"])
def test_the_verdict_of_every_lab_is_above_the_fold(app: Server, page: Page, path: str) -> None:
    page.set_viewport_size({"width": 1280, "height": 720})
    page.goto(f"{app.url}/{path}")
    settle(page)
    # With the settings open the button is far down; the run is still shown from its top.
    page.locator(".st-key-settings summary").click()
    begin(page, path)
    expect(page.locator(".st-key-actions")).to_be_visible()
    box = page.locator(VERDICT).bounding_box()
    assert box is not None and box["y"] > 0 and box["y"] + box["height"] < 720


@pytest.mark.sampled(2)
@pytest.mark.parametrize("path", ["", "ask", "browse", "models", "methods"])
def test_nothing_runs_off_a_phone_screen(app: Server, page: Page, path: str) -> None:
    page.set_viewport_size({"width": 390, "height": 844})
    page.goto(f"{app.url}/{path}")
    settle(page)
    page.wait_for_selector("h1")
    overflow = page.evaluate("document.querySelector('[data-testid=stMain]').scrollWidth - window.innerWidth")
    assert overflow <= 0


@pytest.mark.thorough
def test_a_replay_needs_no_model(app: Server, page: Page) -> None:
    run = ask(page, app.url)
    expect(page.locator(".st-key-actions")).to_be_visible()
    page.goto(f"{app.url}/case?run={run}&replay=1")
    expect(page.get_by_text("No model is asked")).to_be_visible()
    # The replay of a recording shows that a replay ends by itself; at this pace it takes a minute.
    expect(page.locator(".st-key-replay")).to_contain_text("step 2 of")
    page.locator(".st-key-speed").get_by_text("Instant").click()
    expect(page.locator(".st-key-actions")).to_be_visible()
    expect(page.get_by_text("Every call")).to_be_visible()
