"""A class in a browser: wall and phones through a whole lesson, with a late phone, reloads and a server that dies."""

import re
import signal
from collections.abc import Callable, Iterator

import pytest
from playwright.sync_api import Browser, Locator, Page, expect

from tests.browser.conftest import Server, open_menu
from tests.browser.test_axe import COLOURS, lasting

pytestmark = pytest.mark.browser

WALL, PHONES = (1920, 1080), [(390, 844), (360, 740)]


@pytest.fixture
def screens(browser: Browser) -> Iterator[Callable[..., Page]]:
    """`screens(size, dark)` opens a browser of its own, in which no script may fail and no rule of a page be broken."""
    faults: list[str] = []
    contexts = []

    def opened(size: tuple[int, int], dark: bool = False) -> Page:
        width, height = size
        scheme = "dark" if dark else "light"
        contexts.append(
            browser.new_context(
                viewport={"width": width, "height": height}, color_scheme=scheme, reduced_motion="reduce"
            )
        )
        page = contexts[-1].new_page()
        page.on("pageerror", lambda error: faults.append(str(error)))
        page.on("console", lambda line: faults.append(line.text) if "Content Security" in line.text else None)
        return page

    yield opened
    for context in contexts:
        context.close()
    assert faults == []


def join(phone: Page, address: str, name: str = "") -> None:
    phone.goto(address)
    if not phone.url.partition("#")[2]:
        phone.get_by_label("Code on the screen").fill("")
    phone.get_by_label("Nickname").fill(name)
    phone.get_by_role("button", name="Join").click()


def whole(page: Page) -> None:
    """All of it is in sight across, and what can be pressed is large enough."""
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    heights = page.locator(".options button").evaluate_all("(all) => all.map((one) => one.offsetHeight)")
    assert all(height >= 44 for height in heights)


def options(phone: Page) -> Locator:
    return phone.locator(".options button")


def test_a_lesson_from_the_code_to_the_result(serve: Callable[..., Server], screens: Callable[..., Page]) -> None:
    server = serve(EXPLAIN_HOSTS="class.example.org")
    wall, (ada, noor) = screens(WALL), [screens(size, dark) for size, dark in zip(PHONES, (False, True), strict=True)]
    wall.goto(f"{server.url}/wall?pack=first")
    code = wall.locator(".code").inner_text()
    expect(wall.locator(".where")).to_have_text(f"On your phone: class.example.org:{server.port}/join")
    expect(wall.get_by_role("img", name="QR code")).to_be_visible()
    assert wall.url == f"{server.url}/wall#{code}", "a reload resumes the class"

    ada.goto(f"{server.url}/join")
    ada.get_by_label("Code on the screen").fill("zzzz")
    ada.get_by_role("button", name="Join").click()
    expect(ada.get_by_role("alert")).to_contain_text("No class has this code")
    ada.get_by_label("Code on the screen").fill(code.lower())
    ada.get_by_label("Nickname").fill("Ada <b>")
    ada.get_by_role("button", name="Join").click()
    expect(ada.locator("h1")).to_have_text("You are in, Ada <b>.")
    join(noor, f"{server.url}/join#{code}")
    expect(wall.locator(".people li")).to_have_text(["Ada <b>", "+ 1"])
    for page in (wall, ada, noor):
        assert lasting(page) == [] and lasting(page, COLOURS) == []

    wall.keyboard.press(" ")
    for phone in (ada, noor):
        expect(options(phone)).to_have_count(2)
        expect(phone.locator(".phone")).to_contain_text("“It” is a small model (Qwen, 1.5 billion).")
        whole(phone)
        assert lasting(phone) == []
    seen = [phone.get_by_text("Reason hidden on this card.").count() for phone in (ada, noor)]
    assert sorted(seen) == [0, 1], "one of the two sees the reason"
    expect(wall.get_by_text("Half of you see its reason")).to_be_visible()
    options(ada).nth(0).click()
    expect(wall.locator(".voted")).to_contain_text("1 of 2")
    options(ada).nth(1).click()
    options(noor).nth(1).click()
    expect(wall.locator(".voted")).to_contain_text("2 of 2")

    # Who sees the reason may rate it, and does so with one tap.
    [rater] = [phone for phone in (ada, noor) if phone.locator(".rate").count()]
    rater.locator(".rate").get_by_role("button", name="4").click()
    expect(rater.locator(".rate [aria-pressed=true]")).to_have_text("4")
    whole(rater)

    # A phone that reloads keeps its place, and one that joins late starts at the current card.
    ada.reload()
    expect(options(ada).nth(1)).to_have_attribute("aria-pressed", "true")
    wall.reload()
    expect(wall.locator(".voted")).to_contain_text("2 of 2")
    late = screens(PHONES[0])
    join(late, f"{server.url}/join#{code}", "Late")
    expect(options(late)).to_have_count(2)
    expect(wall.locator(".voted")).to_contain_text("2 of 3")

    # A phone that lost its cookies joins again, at the same code.
    late.context.clear_cookies()
    late.reload()
    expect(late.get_by_label("Code on the screen")).to_have_value(code)
    late.get_by_role("button", name="Join").click()
    expect(options(late)).to_have_count(2)

    wall.get_by_role("button", name="Close the vote").click()
    for phone in (ada, late):
        expect(options(phone)).to_have_count(0)
    expect(late.get_by_text("You did not vote.")).to_be_visible()

    # The server is killed and started again: everybody comes back without doing anything.
    server.stop(signal.SIGKILL)
    expect(wall.get_by_text("The connection is lost")).to_be_visible()
    expect(ada.get_by_text("The connection is lost")).to_be_visible()
    server.start()
    expect(wall.get_by_text("The connection is lost")).to_have_count(0)
    wall.keyboard.press(" ")
    for page in (wall, ada, noor, late):
        expect(page.locator(".turned h2")).to_have_text(re.compile("It said (yes|no)"))
    assert sorted(wall.locator(".votes .count").all_inner_texts()) == ["0", "2"]
    expect(rater.get_by_text("You gave its explanation 4 of 5.")).to_be_visible()
    for page in (wall, ada):
        assert lasting(page) == [] and lasting(page, COLOURS) == []

    for number in range(2, 4):
        wall.keyboard.press(" ")
        expect(wall.locator("header")).to_contain_text(f"Card {number} of 10")
        for phone in (ada, noor, late):
            expect(phone.locator("header")).to_contain_text(f"{number} of 10")
            options(phone).first.click()
        expect(wall.locator(".voted")).to_contain_text("3 of 4")
        wall.keyboard.press(" ")
        expect(wall.get_by_role("button", name="Reveal")).to_be_visible()
        wall.keyboard.press(" ")
        expect(wall.locator(".turned h2")).to_be_visible()
        assert wall.evaluate("document.documentElement.scrollHeight <= innerHeight"), "a revealed card fits on the wall"
    wall.get_by_role("button", name="End here").click()
    expect(wall.locator("header")).to_contain_text("Result")
    expect(wall.locator(".votes li")).not_to_have_count(0)
    expect(ada.locator("h1")).to_have_text(re.compile(r"You predicted \d of 3 correctly"))
    expect(late.locator("h1")).to_have_text(re.compile(r"You predicted \d of 2 correctly"))
    for page in (wall, ada):
        assert lasting(page) == [] and lasting(page, COLOURS) == []
    with wall.expect_download() as kept:
        wall.get_by_role("link", name="Save as a page").click()
    saved = kept.value.path().read_text(encoding="utf-8")
    assert "Ada" not in saved and "Card 3" in saved and "Card 4" not in saved
    wall.get_by_role("button", name="New class").click()
    expect(wall.locator(".code")).to_have_text(re.compile(r"^[A-Z]{4}$"))
    assert wall.locator(".code").inner_text() != code


def test_a_function_is_drawn_by_finger_and_by_keys(serve: Callable[..., Server], screens: Callable[..., Page]) -> None:
    server = serve(EXPLAIN_HOSTS="class.example.org")
    wall, finger, keys = screens((1280, 720)), screens(PHONES[1]), screens(PHONES[0], dark=True)
    wall.goto(f"{server.url}/wall?pack=function-20261126")
    expect(wall.locator("header")).to_contain_text("Function of 26 November 2026")
    code = wall.locator(".code").inner_text()
    for phone in (finger, keys):
        join(phone, f"{server.url}/join#{code}")
    wall.keyboard.press(" ")
    plane = finger.locator(".draw .plane")
    expect(plane.locator(".point")).to_have_count(3)
    box = plane.bounding_box()
    assert box is not None
    finger.mouse.move(box["x"] + 5, box["y"] + 50)
    finger.mouse.down()
    finger.mouse.move(box["x"] + box["width"] - 5, box["y"] + 200, steps=8)
    finger.mouse.up()
    finger.get_by_role("button", name="Submit").click()
    expect(finger.get_by_text("Your curve is in.")).to_be_visible()
    keys.locator(".draw .plane").focus()
    for key in ("ArrowUp", "ArrowRight", "Shift+ArrowDown"):
        keys.keyboard.press(key)
    keys.get_by_role("button", name="Submit").click()
    expect(wall.locator(".voted")).to_contain_text("2 of 2")
    for page in (wall, finger, keys):
        assert lasting(page) == [] and lasting(page, COLOURS) == []
    for phone in (finger, keys):
        whole(phone)
    drawn = plane.locator(".line-claim").get_attribute("d")
    finger.reload()
    expect(plane.locator(".line-claim")).to_have_attribute("d", re.compile(drawn[:20] if drawn else "-"))
    assert wall.locator(".plane path").count() == 0, "nothing is drawn on the wall before the reveal"
    wall.keyboard.press(" ")
    expect(wall.get_by_role("button", name="Reveal")).to_be_visible()
    wall.keyboard.press(" ")
    expect(wall.locator(".plane .line-sketch")).to_have_count(2)
    expect(wall.locator("h1")).to_have_text(re.compile(r"You are close on \d\.\d of 8 parts\."))
    for phone in (finger, keys):
        expect(phone.locator("h2")).to_have_text(re.compile(r"You are close on \d of 8 parts\."))
        expect(phone.locator(".plane .line-truth")).to_have_count(1)
    for page in (wall, finger, keys):
        assert lasting(page) == [] and lasting(page, COLOURS) == []
    for phone in (finger, keys):
        whole(phone)
    wall.keyboard.press(" ")
    expect(wall.locator("h1")).to_have_text(re.compile(r"Your curves were close on \d+\u202f% of the range\."))


def test_a_run_is_presented_from_its_page(serve: Callable[..., Server], screens: Callable[..., Page]) -> None:
    server = serve(EXPLAIN_HOSTS="class.example.org")
    teacher = screens((1280, 800))
    teacher.goto(f"{server.url}/case?run=20261123-091758-simulatability-da7b61b3932dc846")
    open_menu(teacher)
    link = teacher.get_by_role("link", name="Present to a class")
    assert (link.get_attribute("href") or "").endswith("/wall?run=20261123-091758-simulatability-da7b61b3932dc846")
    with teacher.expect_popup() as popup:
        link.click()
    expect(popup.value.locator(".code")).to_be_visible()
    expect(popup.value.locator("header")).to_contain_text("Can a penguin fly?")


def test_a_class_on_ones_own_machine(serve: Callable[..., Server], screens: Callable[..., Page]) -> None:
    server = serve(EXPLAIN_CLASS_ADDRESS="127.0.0.2")
    place = f"127.0.0.2:{server.port + 1}"
    teacher, phone = screens((1280, 800)), screens(PHONES[0])
    teacher.goto(f"{server.url}/case?run=20261123-091758-simulatability-da7b61b3932dc846")
    open_menu(teacher)
    with teacher.expect_popup() as popup:
        teacher.get_by_role("link", name="Present to a class").click()
    wall = popup.value
    expect(wall.locator(".where")).to_contain_text(
        f"Phones on this network will reach the class page at {place}, and nothing"
    )
    expect(wall.get_by_role("img", name="QR code")).to_have_count(0)
    assert lasting(wall) == [] and lasting(wall, COLOURS) == []
    wall.get_by_role("button", name="Open it for phones").click()
    expect(wall.locator(".where")).to_have_text(f"On your phone: {place}/join")
    expect(wall.get_by_role("img", name="QR code")).to_be_visible()
    join(phone, f"http://{place}/join#{wall.locator('.code').inner_text()}")
    expect(wall.locator("footer")).to_contain_text("1 joined")
    wall.keyboard.press(" ")
    options(phone).first.click()
    expect(wall.locator(".voted")).to_contain_text("1 of 1")

    # After a restart phones stay out until they are let in again.
    server.stop(signal.SIGKILL)
    server.start()
    expect(phone.get_by_text("The connection is lost")).to_be_visible()
    wall.get_by_role("button", name=f"Let phones in at {place}").click()
    expect(phone.get_by_text("The connection is lost")).to_have_count(0)
    options(phone).last.click()
    wall.keyboard.press(" ")
    expect(wall.get_by_role("button", name="Reveal")).to_be_visible()
    wall.keyboard.press(" ")
    expect(phone.locator(".turned h2")).to_be_visible()
