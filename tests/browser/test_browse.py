"""Browse in a browser: a filter is a link, a click opens a case, keys lead through the list."""

import re
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, WebSocketRoute, expect

from tests.browser.conftest import Server, settle
from tests.support import forked

pytestmark = pytest.mark.browser


@pytest.fixture(scope="module")
def full(request: pytest.FixtureRequest, app: Server) -> Server:
    """The app, with runs of two robots in its home, made on the command line."""
    for model in ("steadfast", "fickle"):
        forked.run("core", "ask", "Can a kiwi fly?", "--model", f"control/{model}", env=app._environment)
    return app


def cell(page: Page, row: int) -> None:
    """Click on the question of a table row. The table is drawn on a canvas."""
    box = page.get_by_test_id("stDataFrame").first.bounding_box()
    assert box is not None
    page.mouse.click(box["x"] + 120, box["y"] + 36 * (row + 1) + 18)
    settle(page)


def caught_up(page: Page) -> None:
    """Wait until the page has drawn the row to which the browser went ahead. It adds an address of its own if the
    reader goes on before.
    """
    page.locator(".st-key-labels:not([inert])").wait_for()
    settle(page)


def test_a_filter_is_a_link_and_keys_lead_through_what_it_leaves(full: Server, page: Page, browser: Browser) -> None:
    page.goto(f"{full.url}/browse?text=kiwi")
    settle(page)
    page.get_by_text(re.compile("^misled")).first.click()
    page.wait_for_url(re.compile("outcome=misled"))
    settle(page)
    told = re.compile(r"1–\d+ of \d+ trials").findall(page.locator(".st-key-pager").inner_text())
    assert len(told) == 1
    cell(page, 0)
    page.wait_for_url(re.compile("trial="))
    expect(page.locator(".stage .lead")).to_contain_text("misled")
    first = page.url
    page.locator(".stage .card").first.wait_for()
    page.keyboard.press("j")
    page.wait_for_function("was => location.href !== was", arg=first)
    second = page.url
    caught_up(page)
    page.keyboard.press("k")
    page.wait_for_url(first)
    caught_up(page)
    page.keyboard.press("2")
    expect(page.locator(".stage .saved")).to_contain_text("saved 1 of 1")
    expect(page.locator(".st-key-label-key-2").get_by_test_id("stBaseButton-primary")).to_be_visible()
    page.go_back()
    page.wait_for_url(second)
    other = browser.new_page()
    other.goto(second)
    settle(other)
    expect(other.locator(".st-key-pager")).to_contain_text(told[0])
    expect(other.locator(".stage .lead")).to_have_text(page.locator(".stage .lead").inner_text(), use_inner_text=True)
    other.close()


ROWS = "() => new URLSearchParams(location.search).get('run') + new URLSearchParams(location.search).get('trial')"


def test_no_key_is_lost_between_rows_and_a_label_goes_to_the_case_that_is_shown(full: Server, page: Page) -> None:
    (Path(full._environment["EXPLAIN_HOME"]) / "labels.toml").write_text(
        "[reason]\nlabels = {circular = 'x', vague = 'v'}\n", encoding="utf-8"
    )
    page.goto(f"{full.url}/browse?text=kiwi")
    settle(page)
    cell(page, 0)
    page.locator(".stage .lead").wait_for()
    settle(page)
    # A second press takes a label back, so a repetition of this test gives the other one.
    is_given = page.locator(".st-key-own-label-v").get_by_test_id("stBaseButton-primary").count()
    key = "x" if is_given else "v"
    given = page.locator(f".st-key-own-label-{key}").get_by_test_id("stBaseButton-primary")
    rows = [page.evaluate(ROWS)]
    for _ in range(6):
        page.keyboard.press("j")
        # The address may say for a moment which row the page has just drawn.
        row = page.wait_for_function(f"seen => seen.includes(({ROWS})()) ? null : ({ROWS})()", arg=rows)
        rows.append(row.json_value())
    for _ in range(6):
        page.keyboard.press("k")
    page.wait_for_function(f"row => ({ROWS})() === row", arg=rows[0])
    # The page still shows the first row here; the key waits until it shows the one before the eyes.
    for _ in range(3):
        page.keyboard.press("j")
    page.keyboard.press(key)
    expect(given).to_be_visible()
    page.wait_for_function(f"row => ({ROWS})() === row", arg=rows[3])
    settle(page)
    page.keyboard.press("k")
    page.keyboard.press("j")
    settle(page)
    expect(given).to_be_visible()


def test_a_click_on_a_row_shows_its_case_before_the_app_has_heard_of_it(full: Server, page: Page) -> None:
    held: list[str | bytes] = []
    is_held = False
    app: list[WebSocketRoute] = []

    def pass_on(said: str | bytes) -> None:
        held.append(said) if is_held else app[-1].send(said)

    def between(socket: WebSocketRoute) -> None:
        app.append(socket.connect_to_server())
        socket.on_message(pass_on)

    page.route_web_socket(re.compile("_stcore/stream"), between)
    page.goto(f"{full.url}/browse?text=kiwi")
    settle(page)
    before, stage, labels = page.url, page.locator(".stage"), page.locator(".st-key-labels")
    steps = page.locator(".st-key-step-through")
    expect(steps).to_be_hidden()
    stage.get_by_text("There is nothing to show.").wait_for(state="attached")

    # The browser reads the number of the row in what the table tells screen readers, which comes a little later.
    page.locator(".st-key-alone [role=grid] [role=row]").first.wait_for(state="attached")
    is_held = True
    cell(page, 1)
    expect(stage.locator(".card").first).to_be_visible()
    expect(stage.locator(".lead")).to_be_visible()
    place, lead = page.evaluate(ROWS), stage.locator(".lead").inner_text()
    page.keyboard.press("j")
    expect(stage.locator(".lead")).not_to_have_text(lead, use_inner_text=True)
    page.keyboard.press("k")
    expect(stage.locator(".lead")).to_have_text(lead, use_inner_text=True)
    assert page.evaluate(ROWS) == place and labels.count() == 0
    # A row of the same list, which has less room now.
    cell(page, 0)
    expect(stage.locator(".lead")).not_to_have_text(lead, use_inner_text=True)
    place, lead = page.evaluate(ROWS), stage.locator(".lead").inner_text()

    is_held = False
    while held:
        app[-1].send(held.pop(0))
    expect(labels).to_be_visible()
    settle(page)
    assert page.evaluate(ROWS) == place
    expect(stage.locator(".lead")).to_have_text(lead, use_inner_text=True)
    expect(steps.get_by_role("button", name="Next")).to_be_enabled()
    page.locator(".st-key-close button").click()
    page.wait_for_url(before)
    expect(stage).to_be_hidden()


def test_a_press_on_a_head_sorts_the_table_and_then_the_row_under_the_mouse_opens(full: Server, page: Page) -> None:
    """A table that got the focus once opened its first row, also where it had not told screen readers of its rows yet.
    The case is shown before the app has heard of the press."""
    is_held = False

    def between(socket: WebSocketRoute) -> None:
        app = socket.connect_to_server()
        socket.on_message(lambda said: held.append(said) if is_held else app.send(said))
        sockets.append(app)

    held: list[str | bytes] = []
    sockets: list[WebSocketRoute] = []
    page.route_web_socket(re.compile("_stcore/stream"), between)
    page.goto(f"{full.url}/browse?text=kiwi&outcome=misled")
    settle(page)
    page.locator(".stage").get_by_text("There is nothing to show.").wait_for(state="attached")
    table, lead = page.get_by_test_id("stDataFrame").first, page.locator(".stage .lead")
    questions = table.locator("tbody tr td:nth-child(2)")
    expect(questions).to_have_count(3)
    listed = questions.all_text_contents()
    table.locator("[role=grid]").evaluate("grid => grid.removeAttribute('role')")
    cell(page, -1)
    expect(table.locator("th", has_text="↑ Question")).to_be_attached()
    settle(page)
    assert listed != sorted(listed) == questions.all_text_contents() and lead.count() == 0
    table.locator("table").evaluate("grid => grid.setAttribute('role', 'grid')")
    page.wait_for_timeout(600)
    is_held = True
    cell(page, 1)
    lead.wait_for()
    assert lead.inner_text().startswith(sorted(listed)[1]) and page.locator(".st-key-labels").count() == 0
    is_held = False
    while held:
        sockets[-1].send(held.pop(0))
    page.locator(".st-key-labels").wait_for()
    assert lead.inner_text().startswith(sorted(listed)[1])


def test_keys_alone_open_a_row_and_go_on_in_the_table_beside_it(full: Server, page: Page) -> None:
    """The list alone, which has the focus, gives way to another table."""
    page.goto(f"{full.url}/browse?text=kiwi")
    settle(page)
    page.locator(".st-key-alone [role=grid] [role=row]").first.wait_for(state="attached")
    page.locator(".st-key-pager button").last.focus()
    for _ in range(8):
        page.keyboard.press("Tab")
        if page.evaluate("document.activeElement.matches('.st-key-alone canvas')"):
            break
    shown = page.locator(".stage .lead")
    expect(shown).to_be_visible()
    first, at_first = shown.inner_text(), page.url
    page.locator(".st-key-beside td:focus").wait_for(state="attached")
    settle(page)
    page.keyboard.press("ArrowDown")
    expect(shown).not_to_have_text(first, use_inner_text=True)
    settle(page)
    page.keyboard.press("ArrowUp")
    expect(shown).to_have_text(first, use_inner_text=True)
    settle(page)
    assert page.url == at_first


def test_a_row_that_keys_open_in_a_sorted_list_keeps_the_focus(full: Server, page: Page) -> None:
    """It went to the page's body, and the next Tab to the top of the page."""
    page.goto(f"{full.url}/browse?text=kiwi&outcome=misled")
    settle(page)
    page.locator(".st-key-alone [role=grid] [role=row]").first.wait_for(state="attached")
    cell(page, -1)
    expect(page.locator(".st-key-alone th", has_text="↑ Question")).to_be_attached()
    page.locator(".st-key-pager button, .st-key-pager input").last.focus()
    for _ in range(8):
        page.keyboard.press("Tab")
        if page.evaluate("document.activeElement.matches('.st-key-alone canvas')"):
            break
    page.locator(".st-key-labels").wait_for()
    settle(page)
    expect(page.locator(".stage .verdict h3")).to_be_focused()


def test_on_a_phone_the_list_begins_below_two_lines_of_tools(full: Server, page: Page) -> None:
    """Six lines of tools filled half of the screen."""
    page.set_viewport_size({"width": 390, "height": 844})
    page.goto(f"{full.url}/browse")
    settle(page)
    head, table = (page.locator(where).bounding_box() for where in (".st-key-head", ".st-key-alone"))
    assert head is not None and table is not None
    assert table["y"] - head["y"] < 200
    page.locator(".st-key-head").get_by_role("button", name="Tools").click()
    page.locator(".st-key-take").get_by_role("button", name="Export").click()
    expect(page.get_by_text("The filtered rows as a table")).to_be_visible()
    expect(page.locator(".st-key-rows-csv button")).to_be_in_viewport()


@pytest.mark.thorough
def test_an_outcome_of_a_comparison_opens_its_case_and_back_closes_it(full: Server, page: Page) -> None:
    page.goto(f"{full.url}/browse?text=kiwi")
    settle(page)
    page.locator(".st-key-head").get_by_role("button", name="Tools").click()
    page.locator(".st-key-take").get_by_role("link", name="Compare").click()
    page.wait_for_url(re.compile("/compare"))
    expect(page.locator(".st-key-told")).to_contain_text("with an outcome for both")
    settle(page)
    before = page.url
    box = page.get_by_test_id("stDataFrame").first.bounding_box()
    assert box is not None
    page.mouse.click(box["x"] + box["width"] * 0.35, box["y"] + 36 + 18)
    page.wait_for_url(re.compile("run=.*case="))
    expect(page.locator(".stage .claim")).to_be_visible()
    page.go_back()
    page.wait_for_url(before)
    expect(page.locator(".stage .claim")).to_be_hidden()


@pytest.mark.thorough
def test_a_click_on_a_mark_lists_the_runs_behind_it(full: Server, page: Page) -> None:
    page.goto(f"{full.url}/browse?show=pictures&lab=simulatability")
    settle(page)
    picture = page.locator(".st-key-picture-ask-models .js-plotly-plot")
    mark = picture.locator(".scatterlayer .points path").first
    expect(mark).to_be_visible()
    mark.scroll_into_view_if_needed()
    settle(page)
    box = mark.bounding_box()
    assert box is not None
    page.mouse.click(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
    page.wait_for_url(re.compile(r"/browse\?show=runs&lab=simulatability&model=[^&]+&how=cot&task=strategyqa$"))
    settle(page)
    page.go_back()
    page.wait_for_url(re.compile(r"/browse\?show=pictures&lab=simulatability$"))


def test_a_picture_is_saved_for_a_paper(full: Server, page: Page, tmp_path: Path) -> None:
    pytest.importorskip("svglib")
    page.goto(f"{full.url}/browse?show=pictures&lab=simulatability&picture=ask-models")
    page.get_by_text("Save for a paper").click()
    place = page.locator(".st-key-ask-models-paper")
    expect(place.locator(".printed img")).to_be_visible()
    place.locator(".st-key-ask-models-grey").get_by_text("Grey").click()
    for kind, start in (("PDF", b"%PDF-"), ("PNG", b"\x89PNG"), ("SVG", b"<?xml")):
        place.locator(".st-key-ask-models-file").get_by_text(kind, exact=True).click()
        with page.expect_download() as saved:
            place.get_by_role("button", name=f"Download {kind}").click()
        saved.value.save_as(tmp_path / "picture")
        content = (tmp_path / "picture").read_bytes()
        assert content.startswith(start) and saved.value.suggested_filename == f"ask-models.{kind.lower()}"
    assert b'width="17cm"' in content
    colours = {tuple(map(int, one)) for one in re.findall(rb"rgb\((\d+), (\d+), (\d+)\)", content)}
    assert all(max(one) - min(one) <= 14 for one in colours), "the template's grid is nearly grey"


@pytest.mark.thorough
def test_a_bundle_is_brought_in_and_asked_about(full: Server, page: Page, tmp_path: Path) -> None:
    bundle = tmp_path / "theirs.zip"
    elsewhere = {**full._environment, "EXPLAIN_HOME": str(tmp_path / "home")}
    for command in (["ask", "Can a trout swim?", "--model", "control/vague"], ["export", str(bundle)]):
        forked.run("core", *command, env=elsewhere)
    page.goto(f"{full.url}/browse")
    settle(page)
    page.locator(".st-key-head").get_by_role("button", name="Tools").click()
    page.locator(".st-key-import button").first.click()
    page.locator(".st-key-upload-file input[type=file]").set_input_files(bundle)
    page.locator(".st-key-upload-sender input").fill("Ann")
    page.locator(".st-key-upload-go button").click()
    expect(page.get_by_text("1 imported, 0 here already")).to_be_visible()
    page.goto(f"{full.url}/browse")
    settle(page)
    page.locator(".st-key-head").get_by_role("button", name="Tools").click()
    page.locator(".st-key-take").get_by_role("link", name="Query").click()
    page.wait_for_url(re.compile("/query"))
    settle(page)
    page.locator(".st-key-sql textarea").fill("select title, status from runs where title = 'Can a trout swim?'")
    page.locator(".st-key-go button").click()
    expect(page.get_by_text("1 row ·")).to_be_visible()
    page.locator(".st-key-sql textarea").fill("drop table runs")
    page.locator(".st-key-go button").click()
    expect(page.get_by_text("The query has no result")).to_be_visible()
