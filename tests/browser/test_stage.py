"""The viewer in a browser, without the app: keys, places, colours, and that a text stays a text."""

import base64
import hashlib
import importlib.metadata
import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest
from playwright.sync_api import Browser, Page, Route, expect

from core.report.game.pack import load_pack
from core.report.viewer_assets import DRAWING, in_one_scope, viewer_style
from core.scene import Claim, Mark, Part, RunScene, Scene, Who, with_spans
from tests.browser import packs
from tests.browser import stage_scenes as scenes
from tests.browser.test_readable import MOVING

pytestmark = pytest.mark.browser

STAGE = Path(__file__).resolve().parents[2] / "core" / "report" / "viewer"
LIBRARY = next(
    file for file in importlib.metadata.files("datasette-preact") or () if file.name.startswith("preact-")
).locate()
HOME = "http://127.0.0.1:9"
"""Nothing listens there: the test itself answers."""

PAGE = """<!doctype html><html lang="en"><meta charset="utf-8"><title>whole</title>
<meta name="color-scheme" content="light dark"><meta name="viewport" content="width=device-width, initial-scale=1">
<link rel="stylesheet" href="/stage.css">
<style>body { margin: 0 } main { padding: 12px } .tell { margin: -12px }</style><h1>The stage</h1><input id="field">
<main data-testid="stApp"></main><script type="module">
import {mount} from "/stage.js";
const place = document.querySelector("main");
window.draw = async (options) => {
  window.stage?.unmount();
  window.acts = [];
  document.querySelector("h1").hidden = document.querySelector("input").hidden = options.mode !== "fields";
  window.stage = mount(place, {library: "/preact.js", act: (...one) => { window.acts.push(one); }, ...options});
  await window.stage.ready;
};
window.isThere = true;
</script></html>"""

FILES = {
    "/": ("text/html", PAGE),
    "/stage.css": ("text/css", viewer_style("base.css", "stage.css")),
    **{f"/{name}": ("text/javascript", (STAGE / name).read_text(encoding="utf-8")) for name in DRAWING},
    "/preact.js": ("text/javascript", Path(str(LIBRARY)).read_text(encoding="utf-8")),
}

PAINTED = "() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))"

CUT = """() => {
  // Texts that leave the window at a side, or are cut by something they lie in that does not scroll.
  const found = [], texts = document.createTreeWalker(document.querySelector(".stage"), NodeFilter.SHOW_TEXT);
  while (texts.nextNode()) {
    const one = texts.currentNode.parentElement, range = document.createRange();
    if (!texts.currentNode.data.trim() || !one.checkVisibility() || one.closest(".aloud, .tabled .label")) continue;
    range.selectNodeContents(texts.currentNode);
    const box = range.getBoundingClientRect();
    let scrolls = false, isCut = false;
    for (let at = one; at && !scrolls; at = at.parentElement) {
      const { overflowX, overflowY } = getComputedStyle(at), edge = at.getBoundingClientRect();
      scrolls = overflowX === "auto";
      if (overflowX === "visible" && overflowY === "visible" || overflowX === "clip") continue;
      isCut ||= !scrolls && (box.left < edge.left - 1 || box.right > edge.right + 1);
      isCut ||= overflowY === "hidden" && (box.top < edge.top - 4 || box.bottom > edge.bottom + 4);
    }
    isCut ||= !scrolls && (box.left < -1 || box.right > innerWidth + 1);
    if (isCut) found.push(texts.currentNode.data.slice(0, 60));
  }
  return document.documentElement.scrollWidth > innerWidth ? [...found, "the page scrolls sideways"] : found;
}"""

SIZES = """() => {
  const found = {}, texts = document.createTreeWalker(document.querySelector(".stage"), NodeFilter.SHOW_TEXT);
  while (texts.nextNode()) {
    const one = texts.currentNode.parentElement;
    if (!texts.currentNode.data.trim() || one.closest(".aloud, .hint, .plain, .turn, kbd, .tick, .axis")) continue;
    found[texts.currentNode.data.slice(0, 40)] = parseFloat(getComputedStyle(one).fontSize);
  }
  return found;
}"""

SERIES = {
    "whole": ["/own/ask", "/own/check"], "head": "What it means",
    "headline": "An explanation is worth what it lets you expect", "words": "That can be tried out.",
    "links": [["Ask: does it foretell?", "/own/ask"]], "foot": "Examples, not evidence.",
}  # fmt: skip


def data(of: Scene | RunScene | Sequence[Scene]) -> list[Any]:
    return [one.model_dump(mode="json") for one in ([of] if isinstance(of, Scene | RunScene) else of)]


def answer(route: Route) -> None:
    kind, body = FILES.get(urlsplit(route.request.url).path, ("text/plain", ""))
    route.fulfill(content_type=kind, body=body)


@pytest.fixture(scope="module")
def opened(browser: Browser) -> Iterator[Page]:
    page = browser.new_page(viewport={"width": 1280, "height": 720}, color_scheme="light", reduced_motion="reduce")
    page.set_default_timeout(60_000)
    page.route("**/*", answer)
    page.goto(HOME)
    page.wait_for_function("window.isThere")
    yield page
    page.close()


@pytest.fixture
def page(opened: Page) -> Iterator[Page]:
    """One page for all tests, reset to its first size, light theme and no motion."""
    faults: list[str] = []
    note = lambda error: faults.append(str(error))  # noqa: E731
    opened.on("pageerror", note)
    opened.evaluate("sessionStorage.clear()")
    opened.set_viewport_size({"width": 1280, "height": 720})
    opened.emulate_media(color_scheme="light", reduced_motion="reduce")
    yield opened
    opened.remove_listener("pageerror", note)
    assert faults == []


def draw(page: Page, mode: str, of: Scene | RunScene | Sequence[Scene], **more: object) -> None:
    rows = scenes.rows(of) if mode == "beside" and not isinstance(of, Scene | RunScene) else []
    page.evaluate("(options) => window.draw(options)", {"mode": mode, "scenes": data(of), "rows": rows, **more})
    page.evaluate(PAINTED)


def update(page: Page, of: Scene | RunScene | Sequence[Scene], **more: object) -> None:
    page.evaluate("(all) => window.stage.update(...all)", [data(of), more])
    page.evaluate(PAINTED)


def acts(page: Page) -> list[list[Any]]:
    found: list[list[Any]] = page.evaluate("window.acts")
    return found


def listening(page: Page) -> list[str]:
    """The document's event listeners, as the browser's inspector lists them."""
    inspector = page.context.new_cdp_session(page)
    document = inspector.send("Runtime.evaluate", {"expression": "document"})["result"]["objectId"]
    found = inspector.send("DOMDebugger.getEventListeners", {"objectId": document})["listeners"]
    return [one["type"] for one in found]


def shown(page: Page) -> str:
    return page.locator(".tell").get_attribute("data-shows") or ""


# ------------------------------------------------------------------------------------------------------------ Keys


def test_a_story_goes_on_back_and_home_by_keys_and_none_is_lost(page: Page) -> None:
    scene = scenes.ask()
    draw(page, "tell", scene)
    told = [one.shows for one in scene.screens]
    seen = [shown(page)]
    for key in ["ArrowRight", " "] * 5:
        page.keyboard.press(key)
        seen.append(shown(page))
    assert seen == told
    for key, screen in (("ArrowLeft", told[-2]), ("Home", told[0]), ("ArrowLeft", told[0]), ("End", told[-1])):
        page.keyboard.press(key)
        assert shown(page) == screen
    assert acts(page)[:2] == [["place", 1], ["place", 2]]
    page.keyboard.press("Escape")
    expect(page.locator(".read")).to_be_visible()
    page.keyboard.press("t")
    expect(page.locator(".tell")).to_be_visible()


def test_a_screen_that_is_longer_than_the_window_scrolls_by_keys(page: Page) -> None:
    draw(page, "tell", scenes.hostile(), place=1)
    assert shown(page) == "claim"
    for key, by in (("ArrowDown", 200), ("ArrowDown", 400), ("ArrowUp", 200)):
        page.keyboard.press(key)
        assert page.locator(".screen").evaluate("one => one.scrollTop") == by
    page.keyboard.press("ArrowRight")
    assert page.locator(".screen").evaluate("one => one.scrollTop") == 0


def test_several_scenes_are_told_one_after_another(page: Page) -> None:
    two = [scenes.ask(), scenes.ask(run="r2", question="Does it keep to it?")]
    draw(page, "tell", two, series=SERIES)
    seen = []
    for scene in two:
        for screen in scene.screens:
            assert shown(page) == screen.shows
            expect(page.locator(".tell > header span")).to_have_text(scene.question)
            seen.append(page.get_by_role("link", name="The whole run").get_attribute("href"))
            if screen.shows == "card":
                page.keyboard.press("1")
            elif screen.shows == "verdict":
                assert "You predicted" in page.locator(".screen").inner_text()
            page.keyboard.press(" ")
    assert seen == [way for way, scene in zip(SERIES["whole"], two, strict=True) for _ in scene.screens]
    expect(page.locator(".ways a")).to_have_attribute("href", "/own/ask")
    assert page.get_by_role("link", name="The whole run").count() == 0
    page.keyboard.press("Escape")
    assert acts(page)[-1] == ["mode", "beside"]


def test_a_case_that_was_stopped_is_told_to_that(page: Page) -> None:
    stopped = scenes.ask(verdict=None, status="cancelled")
    draw(page, "tell", stopped)
    page.keyboard.press("End")
    assert shown(page) == "verdict"
    expect(page.locator(".tell h2")).to_contain_text("It was stopped.")


def test_what_a_key_does_is_drawn_before_the_next_frame(page: Page) -> None:
    """Nothing waits for a timer or a server: the frame after the key shows it, even with 200 cards."""
    draw(page, "tell", scenes.many(200))
    pressed = """(key) => new Promise((done) => {
      document.body.dispatchEvent(new KeyboardEvent("keydown", {key, bubbles: true, composed: true}));
      requestAnimationFrame(() => done(document.querySelector(".tell")?.dataset.shows ?? "read"));
    })"""
    assert page.evaluate(pressed, "ArrowRight") == "claim"
    assert page.evaluate(pressed, "End") == "verdict"
    assert page.evaluate(pressed, "Escape") == "read"


def test_the_hall_bets_by_number_and_a_broken_card_steps_out_of_line(page: Page) -> None:
    draw(page, "tell", scenes.ask())
    page.keyboard.press("4")
    assert acts(page) == []
    for _ in range(4):
        page.keyboard.press(" ")
    expect(page.locator(".tell h2")).to_have_text("Can an ostrich fly?")
    page.keyboard.press("1")
    expect(page.locator("button[aria-pressed=true]")).to_contain_text("Yes")
    assert acts(page)[-1] == ["bet", "cf-02", "yes"]
    page.keyboard.press(" ")
    expect(page.locator(".turned")).to_contain_text("You said yes")
    # After a return to the presentation no vote is lost, and the end shows the score.
    page.keyboard.press("Escape")
    page.keyboard.press("t")
    page.keyboard.press("End")
    expect(page.locator(".tell")).to_contain_text(
        "You predicted 0 of 1 correctly. Taking its explanation literally: 0 of 1."
    )
    page.keyboard.press("Home")
    for _ in range(5):
        page.keyboard.press(" ")
    expect(page.locator(".turned")).to_contain_text("You said yes")
    assert page.locator(".turned").evaluate("one => new DOMMatrix(getComputedStyle(one).transform).e") > 20


def test_keys_are_silent_in_a_field_with_a_modifier_and_after_the_end(page: Page) -> None:
    draw(page, "read", scenes.ask())
    page.evaluate("document.querySelector('#field').hidden = false")
    page.locator("#field").focus()
    page.keyboard.press("t")
    page.locator("#field").blur()
    page.keyboard.press("Control+j")
    assert page.locator(".read .more").count() == 0
    page.keyboard.press("j")
    expect(page.locator("#card-cf-01 .more")).to_be_visible()
    assert listening(page) == ["keydown"]
    page.evaluate("window.stage.unmount()")
    assert listening(page) == []
    assert page.locator(".stage").count() == 0


def test_cards_are_walked_opened_and_judged_by_keys_alone(page: Page) -> None:
    draw(page, "read", scenes.many(200), judgements=[["reading", "How it was read", "right", "wrong"]])
    page.keyboard.press("j")
    page.keyboard.press("j")
    page.keyboard.press("2")
    assert acts(page) == [["judge", "cf-02", ["reading", "wrong"]]]
    expect(page.get_by_role("button", name="wrong")).to_have_attribute("aria-pressed", "true")
    page.keyboard.press("2")
    assert acts(page)[-1] == ["judge", "cf-02", ["reading", ""]], "pressed again it is taken back"
    expect(page.locator("#card-cf-02 .open")).to_be_focused()
    page.keyboard.press("Enter")
    assert page.locator(".read .more").count() == 0
    page.keyboard.press("k")
    expect(page.locator("#card-cf-01 .more")).to_contain_text("All birds can fly, so yes.")
    page.keyboard.press("Escape")
    assert page.locator(".read .more").count() == 0
    assert page.locator(".cards > .card").count() == 40
    page.get_by_role("button", name="Show all 200 questions").click()
    assert page.locator(".cards > .card").count() == 200


def test_beside_a_list_keys_lead_from_row_to_row(page: Page) -> None:
    draw(page, "read", scenes.ask(), steps=True, card="cf-02", judgements=[["reading", "Read", "right", "wrong"]])
    expect(page.locator("#card-cf-02 .more")).to_be_visible()
    for key in ("j", "k", "1", "Escape", "Escape"):
        page.keyboard.press(key)
    assert acts(page) == [
        *(["step", "next"], ["step", "previous"], ["judge", "cf-02", ["reading", "right"]], ["step", "close"]),
    ]


def test_every_card_is_guessed_before_it_turns_and_half_of_them_without_the_reason(page: Page) -> None:
    scene = scenes.ask()
    draw(page, "guess", scene)
    assert page.locator(".turned").count() == 0
    page.keyboard.press(" ")
    expect(page.locator(".options")).to_contain_text("It does not say")
    guessed = {card.id: card for card in scene.cards if card.mark != "set aside"}
    for number in range(1, len(guessed) + 1):
        is_covered = page.get_by_text("Reason hidden on this card.").count() == 1
        assert is_covered != (page.get_by_text("All birds can fly").count() == 1)
        page.keyboard.press("2")
        *_, (_, id, _, without) = (one for one in acts(page) if one[0] == "guess")
        expect(page.locator(".turned")).to_contain_text(f"It said {guessed[id].said}.")
        assert without == is_covered
        turned, first = page.locator(".turned"), guessed[id].expects[0]
        is_settled = first.value != "unknown" and not guessed[id].doubt
        assert turned.locator(".expects-word").all_inner_texts() == (
            [f"Its own reason pointed to {first.value}."] if is_settled and not is_covered else []
        )
        assert turned.get_by_text("Its reason doesn't tell.").count() == (not is_settled and not is_covered)
        assert page.locator(".dropped .tile").count() == number
        page.keyboard.press(" ")
    said = [one[1:] for one in acts(page) if one[0] == "guess"]
    assert {id for id, *_ in said} == set(guessed) and {value for _, value, _ in said} == {"no"}
    arms = [without for *_, without in said]
    assert arms == sorted(arms, reverse=True) and 4 <= sum(arms) <= 5, "those without the reason come first"
    hits = {arm: [guessed[id].said == "no" for id, _, without in said if without == arm] for arm in (True, False)}
    with_reason, without = (f"{sum(hits[arm])} of {len(hits[arm])}" for arm in (False, True))
    told = f"You predicted {with_reason} with its reason and {without} without it. That is too few to say"
    expect(page.locator(".over")).to_contain_text(told)
    expect(page.locator(".over .ending h2")).to_be_in_viewport()


@pytest.mark.parametrize("mode", ["guess", "tell"])
def test_a_screen_reader_hears_no_verdict_that_cannot_be_seen(page: Page, mode: str) -> None:
    """Neither at the first card or screen, nor because the run was viewed before."""
    scene, live = scenes.ask(), page.locator("[aria-live=polite]")
    assert scene.verdict is not None
    says = scene.title if mode == "tell" else ""
    draw(page, mode, scene)
    expect(live).to_have_text(says)
    draw(page, "read", scene)
    expect(live).to_have_text(scene.verdict.headline.text)
    update(page, scene, mode=mode)
    expect(live).to_have_text(says)


def test_side_by_side_cards_meet_where_it_is_said_that_they_do(page: Page) -> None:
    two = scenes.beside()
    draw(page, "beside", two, names=["Breaks", "Keeps"])
    rows = page.locator(".rows > li")
    assert rows.count() == len({card.parts[0].text for scene in two for card in scene.cards})
    expect(page.locator(".rows > .differs")).to_contain_text(["The outcome differs."])
    expect(rows.nth(0).locator(".whose")).to_have_text(["Breaks", "Keeps"])
    draw(page, "beside", two)
    ostrich = rows.filter(has_text="Can an ostrich fly?")
    expect(ostrich.locator(".cell").nth(0)).to_contain_text("not as predicted")
    expect(ostrich.locator(".cell").nth(1)).not_to_contain_text("not as predicted")
    expect(rows.filter(has_text="Can a penguin fly, then?")).to_contain_text("not asked")
    page.keyboard.press("t")
    page.keyboard.press("End")
    expect(page.locator(".tell")).to_contain_text("Robot B was the robot steadfast, which keeps to its explanation.")


# ---------------------------------------------------------------------------------------------- What a drawing says


def test_a_bar_is_as_long_as_its_share(page: Page) -> None:
    """A few are drawn as units that can be counted, many as one stretch; the line is where the explanation's own bar
    ends.
    """
    few, many = scenes.ask(), scenes.probe()
    for scene in (few, many):
        assert scene.verdict is not None
        draw(page, "read", scene)
        for bar, drawn in zip(scene.verdict.bars, page.locator(".bars > li").all(), strict=True):
            expect(drawn.locator(".count")).to_contain_text(f"{bar.hits} of {bar.n}")
            share, units = drawn.evaluate("""(one) => {
              const full = [...one.querySelectorAll(".full")].map((i) => i.getBoundingClientRect().width);
              const all = one.querySelector(".track").getBoundingClientRect().width;
              return [full.reduce((sum, width) => sum + width, 0) / all, full.length];
            }""")
            assert abs(share - bar.hits / bar.n) < 0.06 and (scene is many or units == bar.hits)
            assert set((drawn.get_attribute("class") or "").split()) == {
                name for name in ("own", "wins", "limit", "faint") if getattr(bar, name)
            }
        own = next(bar for bar in scene.verdict.bars if bar.own)
        line = page.locator(".bars s").first.evaluate("(one) => one.style.left")
        assert float(line.removesuffix("%")) == pytest.approx(100 * own.hits / own.n)
    interval = many.verdict and many.verdict.bars[0].model_copy(update={"low": 0.75, "high": 0.9})
    draw(
        page,
        "read",
        many.model_copy(update={"verdict": many.verdict and many.verdict.model_copy(update={"bars": (interval,)})}),
    )
    left, width = page.locator(".bars u").evaluate("(one) => [one.style.left, one.style.width].map(parseFloat)")
    assert (left, width) == (75, pytest.approx(15))


def test_a_card_about_an_explanation_does_not_turn_to_an_answer(page: Page) -> None:
    """Its yes or no says whether the explanation acknowledges the cue, and nothing was expected."""
    reading = scenes.card(1, "Does it say why it changed?", "broken", "no", "no").model_copy(
        update={"is_reading": True, "came": "its explanation is silent about the cue"}
    )
    draw(page, "tell", scenes.tell(scenes.plant().model_copy(update={"cards": (reading,)})))
    while shown(page) != "turned":
        page.keyboard.press("ArrowRight")
    expect(page.locator(".turned h2")).to_have_text("Its explanation is silent about the cue.")
    expect(page.locator(".turned")).not_to_contain_text("led us to expect")
    expect(page.locator(".turned")).not_to_contain_text("It said")


def test_what_nobody_expected_is_not_filled_by_another_guess(page: Page) -> None:
    """A question whose predictor has not answered yet, and one whose predictor's call failed."""
    failed = scenes.card(2, "Can an owl fly?", "failed", "", "yes")
    draw(page, "read", scenes.ask((scenes.waiting(1), failed)))
    for id, words in (("cf-01", "…"), ("cf-02", "not predicted")):
        expect(page.locator(f"#card-{id} .expected")).to_have_text(f"expected{words}")


def test_a_range_is_written_as_in_sentences(page: Page) -> None:
    """To one decimal; only a range near 0 has more digits."""
    scene = scenes.probe()
    assert scene.plot is not None
    for low, high, words in ((-0.8, 9.690585858932074, "-0.8 to 9.7"), (0.0123456, 57.04, "0.0123 to 57")):
        replaced = scene.plot.intervals[0].model_copy(update={"low": low, "high": high})
        draw(page, "read", scene.model_copy(update={"plot": scene.plot.model_copy(update={"intervals": (replaced,)})}))
        expect(page.locator("figcaption")).to_contain_text(f"({words})")


def test_a_mark_has_its_sign_its_colour_and_its_word_everywhere(page: Page) -> None:
    """A card's outcome looks the same as tile, as card and in the legend, and no two marks look the same."""
    scene = scenes.ask()
    draw(page, "read", scene)
    marks: dict[Mark, list[str]] = {}
    for card in scene.cards:
        marks.setdefault(card.mark, []).append(card.id)
    looks = {}
    legend = page.locator(".tiles + .legend span")
    for mark, ids in marks.items():
        name = mark.replace(" ", "-")
        word = scene.words.get(mark, "excluded" if mark == "set aside" else mark)
        assert (
            page.locator(f".tiles .tile.{name}").count() == page.locator(f".cards > .card.{name}").count() == len(ids)
        )
        expect(legend.filter(has_text=f"{len(ids)} {word}")).to_have_class(f"is-{name}")
        drawn = page.locator(f"#card-{ids[0]}")
        expect(drawn.locator(".outcome")).to_have_text(word)
        sign = drawn.locator(".outcome path").get_attribute("d")
        assert {one.get_attribute("d") for one in page.locator(f".tile.{name} path").all()} == {sign}
        looks[mark] = (sign, drawn.locator(".outcome").evaluate("(one) => getComputedStyle(one).color"))
    assert len({sign for sign, _ in looks.values()}) == len(marks) and looks["kept"][1] != looks["broken"][1]
    tick, cross = looks["kept"][0] or "", looks["broken"][0] or ""
    assert (tick.count("M"), cross.count("M")) == (1, 2), "a tick is one stroke, a cross two"


def test_who_it_was_is_told_at_the_end_alone(page: Page) -> None:
    scene = scenes.check().model_copy(update={"who": Who(shown="a small model", name="Aurora 7")})
    draw(page, "tell", scene)
    for screen in scene.screens:
        assert shown(page) == screen.shows
        assert ("Aurora 7" in page.locator(".tell").inner_text()) == (screen.shows == "verdict")
        page.keyboard.press(" ")


def test_a_sealed_card_turns_once_its_answer_came(page: Page) -> None:
    scene = scenes.ask(is_sealed=True, verdict=None)
    first = scene.cards[0]
    hidden = first.model_copy(update={"mark": "sealed", "said": "", "text": "", "outcome": "", "expects": ()})
    sealed = scene.model_copy(update={"cards": (hidden,)})
    draw(page, "guess", sealed)
    page.keyboard.press("1")
    assert [one[:3] for one in acts(page)] == [["guess", first.id, "yes"]]
    assert page.locator(".turned").count() == 0
    update(page, sealed.model_copy(update={"cards": (first,)}))
    expect(page.locator(".turned")).to_contain_text("It said yes.")


# ---------------------------------------------------------------------------------------------- A run that goes on


@pytest.mark.parametrize(("width", "height"), [(390, 844), (1280, 720)])
def test_little_moves_while_a_run_goes_on(page: Page, width: int, height: int) -> None:
    page.set_viewport_size({"width": width, "height": height})
    grown = scenes.growing()
    draw(page, "read", grown[0])
    page.evaluate("""() => {
      window.shift = 0;
      window.watching?.disconnect();
      window.watching = new PerformanceObserver((list) => {
        for (const one of list.getEntries()) window.shift += one.value;
      });
      window.watching.observe({type: "layout-shift"});
    }""")
    for calls, scene in enumerate(grown[1:], start=1):
        far = {"share": calls / len(grown), "words": f"{calls} of about {len(grown)} calls answered"}
        # The actions come with the page, once the run is over.
        told = data(scene.model_copy(update={"actions": grown[0].actions}))
        page.evaluate("([scenes, far]) => window.stage.update(scenes, {far})", [told, {scene.run: far}])
        page.evaluate(PAINTED)
    expect(page.locator(".next .run")).to_have_text("13 of about 14 calls answered")
    page.evaluate("(scenes) => window.stage.update(scenes, {far: {}})", data(grown[-1]))
    page.evaluate(PAINTED)
    page.wait_for_timeout(100)
    assert page.locator(".verdict .bars").count() == 1 and page.locator(".run").count() == 0
    assert page.evaluate("window.shift") < 0.05


def test_what_was_opened_stays_open_and_the_verdict_is_said_and_focused(page: Page) -> None:
    *grown, whole = scenes.growing()
    draw(page, "read", grown[8])
    page.keyboard.press("j")
    update(page, grown[9])
    expect(page.locator("#card-cf-01 .more")).to_be_visible()
    expect(page.locator("#card-cf-01 .open")).to_be_focused()
    expect(page.get_by_role("status")).not_to_contain_text("no more")
    update(page, whole)
    expect(page.locator(".verdict h3")).to_be_focused()
    expect(page.get_by_role("status")).to_have_text(whole.verdict.headline.text if whole.verdict else "")


def test_a_screen_stays_when_others_come(page: Page) -> None:
    grown = scenes.growing()
    draw(page, "tell", grown[4])
    page.keyboard.press("End")
    before = page.locator(".screen").inner_text()
    update(page, grown[-1])
    assert page.locator(".screen").inner_text() == before
    expect(page.locator(".hint")).to_contain_text(f"of {len(grown[-1].screens)}")


def test_evidence_is_asked_for_once_when_it_is_opened(page: Page) -> None:
    draw(page, "read", scenes.ask())
    page.evaluate(
        """(scenes) => { window.asked = 0; return window.stage.update(scenes, {evidence: async () => {
      window.asked += 1;
      return {calls: {c1: {title: "The predictor", parts: [{label: "answer", text: "<b>So yes.</b>", spans: []}]}}};
    }}); }""",
        data(scenes.ask()),
    )
    assert page.evaluate("window.asked") == 0
    page.keyboard.press("j")
    calls = page.locator("#card-cf-01 .calls")
    calls.locator("summary").click()
    expect(calls).to_contain_text("<b>So yes.</b>")
    calls.locator("summary").click()
    calls.locator("summary").click()
    # The event that it was opened comes after the click.
    page.evaluate(PAINTED)
    assert page.evaluate("window.asked") == 1


# ----------------------------------------------------------------------------------------------------- All of a run


def test_a_tile_of_a_run_opens_its_case_by_click_and_by_enter(page: Page) -> None:
    draw(page, "all", scenes.run(30), card="q2")
    expect(page.locator(".all .bars .count").first).to_have_text("20 of 30")
    expect(page.locator(".all .legend li")).to_have_text(["20 named it", "10 did not mention it (it kept silent)"])
    expect(page.locator(".tile[aria-current]")).to_have_attribute("aria-label", "2 · Can bird number 2 fly?: named it")
    page.get_by_role("button", name="3 · Can bird number 3 fly?: broken").click()
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    assert acts(page) == [["case", "q3"], ["case", "q4"]]
    page.get_by_text("All figures of the run (1)").click()
    expect(page.locator(".figures")).to_contain_text("0.33, 0.20 to 0.51")


def test_of_a_run_of_very_many_cases_all_tiles_come_when_they_are_wanted(page: Page) -> None:
    draw(page, "all", scenes.run(1_000))
    assert page.locator(".all .tile[title]").count() == 120
    page.get_by_role("button", name="Show all 1,000 questions").click()
    assert page.locator(".all button.tile").count() == 1_000


def test_the_verdict_on_a_run_has_the_focus_when_it_comes(page: Page) -> None:
    draw(page, "all", scenes.runs()["run under way"])
    assert page.locator("h3:focus").count() == 0
    update(page, scenes.run(9))
    expect(page.locator(".all h3")).to_be_focused()
    expect(page.locator("[aria-live=polite]")).to_contain_text("With the cue 9 answers changed.")


# ------------------------------------------------------------------------------------------------------------ Look


def looked_at(page: Page) -> Iterator[str]:
    """Draw every mode and state, one after the other, and yield its name."""
    for name, scene in scenes.states().items():
        draw(page, "read", scene)
        for button in page.locator(".read .open").all()[:2]:
            button.click()
            yield f"read {name}"
        for summary in page.locator(".read > footer summary").all():
            summary.click()
        yield f"read {name}"
        draw(page, "tell", scene)
        for at in range(max(1, len(scene.screens))):
            yield f"tell {name} {at}"
            page.keyboard.press("ArrowRight")
    for name in ("ask", "hostile"):
        draw(page, "guess", scenes.states()[name])
        yield f"guess {name}"
        page.keyboard.press("1")
        yield f"guess {name}, turned"
    draw(page, "guess", scenes.many(1))
    page.keyboard.press("1")
    page.keyboard.press(" ")
    yield "guess, the end"
    for pack in (*map(load_pack, ("first", "hidden", "whispered")), packs.hostile()):
        draw(page, "play", [], game={"pack": pack.model_dump(mode="json"), "seed": "7", "isInApp": True})
        yield f"play {pack.name}"
        while page.locator(".round:not(.over)").count():
            page.keyboard.press("1")
            yield f"play {pack.name}, turned"
            page.keyboard.press(" ")
        page.locator(".round summary").click()
        yield f"play {pack.name}, the end"
    for name, run in scenes.runs().items():
        draw(page, "all", run, card=run.tiles[0].case)
        for summary in page.locator(".all summary").all():
            summary.click()
        yield f"all {name}"
    draw(page, "tell", [scenes.ask(), scenes.check()], series=SERIES)
    for at in range(len(scenes.ask().screens) + len(scenes.check().screens) + 1):
        yield f"series {at}"
        page.keyboard.press("ArrowRight")
    for two in (scenes.beside(), [scenes.hostile(), scenes.probe(), scenes.check()]):
        draw(page, "beside", two)
        yield f"beside {two[0].title[:10]}"
        page.keyboard.press("t")
        for at in range(10):
            yield f"tell beside {two[0].title[:10]} {at}"
            page.keyboard.press("ArrowRight")


@pytest.mark.sampled(2)
@pytest.mark.parametrize(
    ("width", "height"), [(390, 844), (1280, 720), pytest.param(1920, 1080, marks=pytest.mark.thorough)]
)
def test_no_text_is_cut_and_nothing_scrolls_sideways(page: Page, width: int, height: int) -> None:
    page.set_viewport_size({"width": width, "height": height})
    found = dict[str, object]()
    for where in looked_at(page):
        if cut := page.evaluate(CUT):
            found[where] = cut
        # On the same way: a hostile text stays a text in each state.
        assert page.locator(FOREIGN).count() == 0, where
    assert page.title() == "whole" and found == {}


@pytest.mark.parametrize("name", ["ask", "check", "probe", "plant", "200 cards"])
def test_what_matters_stands_above_the_fold(page: Page, name: str) -> None:
    draw(page, "read", scenes.states()[name])
    for part in ("header", ".verdict", ".bars", ".claim", ".tiles"):
        for one in page.locator(f".read {part}").all()[:1]:
            box = one.bounding_box()
            assert box and box["y"] + box["height"] <= 720, part


def test_a_story_is_legible_from_the_last_row(page: Page) -> None:
    page.set_viewport_size({"width": 1920, "height": 1080})
    for told in (scenes.ask(), scenes.check(), scenes.probe(), scenes.plant(), scenes.beside()):
        draw(page, "tell", told)
        for _ in range(12):
            assert {text: size for text, size in page.evaluate(SIZES).items() if size < 38} == {}
            page.keyboard.press(" ")


def test_what_one_presses_is_large_enough(page: Page) -> None:
    page.set_viewport_size({"width": 390, "height": 844})
    small = """() => [...document.querySelectorAll(".stage :is(button, summary)")]
      .filter((one) => one.checkVisibility())
      .map((one) => [one.outerHTML.slice(0, 90), one.offsetWidth, one.offsetHeight])
      .filter(([, width, height]) => Math.min(width, height) < 32)"""
    for mode in ("read", "tell", "guess"):
        draw(page, mode, scenes.ask())
        page.keyboard.press("j")
        assert page.evaluate(small) == []
    for run in scenes.runs().values():
        draw(page, "all", run)
        assert page.evaluate(small) == []


@pytest.mark.thorough
def test_nothing_moves_for_who_asks_for_less(page: Page) -> None:
    page.emulate_media(reduced_motion="no-preference")
    draw(page, "read", scenes.probe())
    assert page.evaluate(MOVING)
    page.emulate_media(reduced_motion="reduce")
    for _ in looked_at(page):
        assert page.evaluate(MOVING) == []


# ------------------------------------------------------------------------------------------------------------ Text


OURS = ", ".join(
    f"[href^='{address}']" for address in ("/own", "/ask", "/check", "/plant", "/probe", "/case?", "/play?")
)
"""Links that do not come from a model's text."""

FOREIGN = f".stage :is(img, script, iframe, a:not({OURS}))"
"""What only a model's text could have brought in."""


def test_a_hostile_text_stays_a_text(page: Page) -> None:
    """In every state, the test of what is cut looks for it."""
    draw(page, "read", scenes.hostile())
    assert scenes.HOSTILE in (page.locator(".verdict h3").text_content() or "")
    assert scenes.RIGHT_TO_LEFT in (page.locator(".panel").first.text_content() or "")


def test_only_what_the_truth_does_not_tell_lies_on_a_covered_plot(page: Page) -> None:
    draw(page, "tell", scenes.probe())
    page.keyboard.press("ArrowRight")
    page.keyboard.press("ArrowRight")
    assert shown(page) == "plot"
    assert page.locator(".plane .interval.unseen").count() == page.locator(".plane .interval").count() == 1
    expect(page.locator("figcaption")).to_contain_text("where nobody looked (6 to 8.6)")
    assert page.locator(".plane .line-truth").count() == 0
    while shown(page) != "truth":
        page.keyboard.press("ArrowRight")
    assert page.locator(".plane .interval.replaced").count() == page.locator(".plane .line-truth").count() == 1
    assert page.locator(".plane .interval.stretch").count() == 5


def test_a_long_text_is_folded_and_opens_whole(page: Page) -> None:
    text = "🐧" * 9_999 + "."
    draw(page, "read", scenes.ask(claim=Claim(answer="yes", parts=(Part(text=text),))))
    quote = page.locator("blockquote")
    assert len((quote.locator("p").text_content() or "").removesuffix(" …")) == 180
    quote.get_by_role("button", name="Show all 10,000 characters").click()
    assert quote.locator("p").text_content() == text


@pytest.mark.parametrize("before", ["", "plain ", "🐧🐧 ", "👩‍👩‍👧 é̂ ", "𝔘𝔫 \u202eעברית\u202c "])
def test_spans_fall_on_the_right_words(page: Page, before: str) -> None:
    part = with_spans(
        ((before, None), ("🐧named", "named"), (" then ", None), ("hidden👩‍👩‍👧", "hidden"), (" end", None))
    )
    draw(page, "read", scenes.ask(claim=Claim(parts=(part,))))
    assert page.locator("blockquote p").text_content() == part.text
    found = page.locator("blockquote mark").evaluate_all("(all) => all.map((one) => [one.className, one.textContent])")
    assert found == [[f"is-{span.mark}", part.text[span.start : span.end]] for span in part.spans]


# ---------------------------------------------------------------------------------------------------------- Places


def test_it_lives_in_a_shadow_root_and_takes_its_theme(page: Page) -> None:
    page.evaluate(
        """async ([scenes, css]) => {
      window.stage?.unmount();
      const place = document.querySelector("main").appendChild(document.createElement("div"));
      place.style = "color-scheme: dark";
      const root = place.attachShadow({mode: "open"});
      root.append(Object.assign(document.createElement("style"), {textContent: css}), document.createElement("div"));
      const [{mount}, library] = await Promise.all([import("/stage.js"), import("/preact.js")]);
      window.stage = mount(root.lastChild, {mode: "read", scenes, library});
    }""",
        [data(scenes.ask()), FILES["/stage.css"][1]],
    )
    page.keyboard.press("j")
    expect(page.locator("#card-cf-01 .open")).to_be_focused()
    expect(page.locator(".read header > *").first).to_have_css("color", "rgb(233, 235, 242)")
    expect(page.locator(".claim")).to_have_css("background-color", "rgb(33, 29, 63)")


def test_one_file_holds_library_stage_and_scene_under_a_policy(browser: Browser) -> None:
    """As in an exported file: one script with its hash, and the scene in it with `<` escaped."""
    scene = json.dumps(data(scenes.hostile())).replace("<", "\\u003c")
    script = f"{in_one_scope()}\nmount(document.querySelector('main'), {{library, scenes: {scene}}});"
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    policy = f"default-src 'none'; script-src 'sha256-{digest}'; style-src 'unsafe-inline'"
    page = browser.new_page()
    told: list[str] = []
    page.on("console", lambda line: told.append(line.text))
    page.set_content(f"""<!doctype html><meta http-equiv="Content-Security-Policy" content="{policy}">
        <title>whole</title><style>{FILES["/stage.css"][1]}</style><main></main>
        <script type="module">{script}</script>""")
    expect(page.locator(".verdict")).to_contain_text(scenes.HOSTILE)
    page.keyboard.press("t")
    expect(page.locator(".tell")).to_be_visible()
    assert page.title() == "whole"
    assert told == []
    page.close()
