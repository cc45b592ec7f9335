"""The game in a browser: played by touch, keys and pointer, from a disk without a network, and what it comes to."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import pytest
from playwright.sync_api import Browser, Page, Route, expect

from core.telling.game import page as game
from core.telling.game.pack import Pack, PackCard, named, read, shipped
from tests.browser import packs
from tests.browser.stage_scenes import HOSTILE
from tests.browser.test_stage import FILES, HOME, answer

pytestmark = pytest.mark.browser

SIZES = [(1280, 720), (390, 844)]

TURNED = """(place) => new Promise((done) => {
  const root = document.querySelector("main").shadowRoot;
  root.querySelectorAll(".options button")[place].click();
  requestAnimationFrame(() => done(root.querySelectorAll(".turned").length));
})"""


class Opened:
    """A page of its own with the game of a pack, from a disk and without a network."""

    def __init__(self, browser: Browser, folder: Path, width: int, height: int) -> None:
        self._folder = folder
        self.context = browser.new_context(
            viewport={"width": width, "height": height},
            has_touch=True,
            reduced_motion="reduce",
        )
        self.context.set_offline(True)
        self.page = self.context.new_page()
        self.faults: list[str] = []
        self.page.on("console", lambda line: self.faults.append(line.text))
        self.page.on("pageerror", lambda error: self.faults.append(str(error)))
        self.asked: list[str] = []
        self.page.on("request", lambda request: self.asked.append(request.url))

    def go(self, pack: Pack, seed: str) -> Page:
        file = self._folder / f"{pack.name}.html"
        if not file.exists():
            file.write_bytes(game.html(pack))
        self.page.goto("about:blank")
        self.asked.clear()
        self.page.goto(f"{file.as_uri()}#{seed}")
        expect(self.page.locator(".game .options button").first).to_be_visible()
        return self.page


@pytest.fixture
def opened(browser: Browser, tmp_path: Path, size: tuple[int, int]) -> Iterator[Opened]:
    one = Opened(browser, tmp_path, *size)
    yield one
    one.context.close()
    assert one.faults == []


def play(page: Page, choose: int = 1) -> None:
    """To the end, always with the same answer."""
    while page.locator(".round:not(.over)").count():
        page.keyboard.press(str(choose))
        page.keyboard.press(" ")


def questions(page: Page) -> list[str]:
    """What is asked, card by card, in order."""
    asked = []
    while page.locator(".round:not(.over)").count():
        asked.append(page.locator(".round h2").first.inner_text())
        page.keyboard.press("1")
        page.keyboard.press(" ")
    return asked


def in_sight(page: Page, *parts: str) -> None:
    for part in parts:
        expect(page.locator(part).first).to_be_in_viewport(ratio=0.99)


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("by", ["touch", "keys", "pointer"])
def test_ten_cards_are_played_and_turned_in_place(opened: Opened, by: str, size: tuple[int, int]) -> None:
    pack = named("robots")
    page = opened.go(pack, "7")
    for number in range(1, 11):
        in_sight(page, ".claim", ".round h2", ".options button:last-child", ".game > footer")
        told = page.locator("main").inner_text()
        assert not any(card.who.name in told.split() for card in pack.cards), "names come last"
        sizes = page.locator(".options button").evaluate_all("(all) => all.map((one) => one.offsetHeight)")
        assert len(sizes) == 3 and min(sizes) >= 44 and len(set(sizes)) == 1
        before = [page.locator(part).bounding_box() for part in (".claim", ".round > h2", ".game > footer")]
        button = page.locator(".options button").nth(number % 3)
        if by == "keys":
            page.keyboard.press(str(number % 3 + 1))
        elif by == "touch":
            button.tap()
        else:
            button.click()
        expect(page.locator(".turned h2")).to_contain_text("It said ")
        expect(page.locator("[role=status]")).to_contain_text("It said ")
        expect(page.locator(".onward")).to_be_focused()
        in_sight(page, ".turned", ".onward")
        assert page.locator(".dropped .tile").count() == number
        assert [page.locator(part).bounding_box() for part in (".claim", ".round > h2", ".game > footer")] == before
        if by == "keys":
            page.keyboard.press("Enter" if number % 2 else " ")
        elif by == "touch":
            page.locator(".onward").tap()
        else:
            page.locator(".onward").click()
    in_sight(page, ".concluded h2", ".concluded .tiles", ".bars")
    assert page.locator(".concluded .tile").count() == 10
    named_last = page.locator(".reveal").inner_text()
    assert any(card.who.name in named_last for card in pack.cards)
    assert opened.asked == [page.url.partition("#")[0]] or opened.asked == [page.url]


@pytest.mark.parametrize("size", SIZES[:1])
def test_a_tap_is_drawn_before_the_next_frame(opened: Opened) -> None:
    assert opened.go(named("first"), "1").evaluate(TURNED, 1) == 1


@pytest.mark.parametrize("size", SIZES[:1])
def test_a_link_gives_the_same_cards_in_the_same_order(opened: Opened) -> None:
    pack = named("robots")
    seen = {seed: questions(opened.go(pack, seed)) for seed in ("7", "8", "a word")}
    assert {len(asked) for asked in seen.values()} == {10} and len({tuple(asked) for asked in seen.values()}) == 3
    assert questions(opened.go(pack, "7")) == seen["7"]
    page = opened.page
    page.get_by_role("button", name="Other cards").click()
    link = page.url
    assert not link.endswith("#7")
    others = questions(page)
    page.reload()
    expect(page.locator(".game .options button").first).to_be_visible()
    assert page.url == link and questions(page) == others


@pytest.mark.parametrize("size", SIZES)
def test_every_pack_that_ships_is_played_with_all_in_sight(opened: Opened) -> None:
    for path in shipped():
        page = opened.go(read(path), "3")
        while page.locator(".round:not(.over)").count():
            in_sight(page, ".round h2", ".options button:last-child")
            page.keyboard.press("1")
            in_sight(page, ".turned h2", ".onward")
            page.keyboard.press(" ")
        in_sight(page, ".concluded h2", ".concluded .tile:last-child")


@pytest.mark.parametrize("size", SIZES[:1])
def test_the_whisper_shows_once_the_card_is_turned(opened: Opened) -> None:
    page = opened.go(named("whispered"), "3")
    assert "whispered" not in page.locator(".reasons").inner_text()
    assert page.locator(".is-cue").count() == 0
    expect(page.locator(".round .speaker")).to_contain_text("Once it said yes and once no.")
    page.keyboard.press("1")
    expect(page.locator(".turned")).to_contain_text("We slipped it an answer key that shows ")
    expect(page.locator(".turned h2")).to_contain_text("It was the ")
    cue = page.locator(".turned > p .is-cue").inner_text()
    page.locator(".turned summary").click()
    expect(page.locator(".turned details")).to_contain_text(cue)


@pytest.mark.parametrize("size", SIZES[:1])
def test_a_text_with_hidden_words_stands_there_once(opened: Opened) -> None:
    page, texts = (
        opened.go(named("hidden"), "3"),
        {card.claim.parts[0].text for card in named("hidden").cards if card.claim},
    )
    seen = set()
    while page.locator(".round:not(.over)").count():
        said = page.locator(".round").inner_text()
        [text] = [one for one in texts if one in said]
        assert said.count(text) == 1 and page.locator(".claim .is-hidden").count() > 0
        seen.add(text)
        page.keyboard.press("1")
        page.keyboard.press(" ")
    page.locator(".round summary").click()
    assert len(seen) == 10 and page.locator(".played b").all_inner_texts() != []
    assert {one.removesuffix("…").strip()[:60] for one in page.locator(".played b").all_inner_texts()} == {
        one[:60] for one in seen
    }


@pytest.mark.parametrize("size", SIZES[:1])
def test_in_the_exam_nobody_is_said_to_have_said_anything(opened: Opened) -> None:
    page = opened.go(named("exam"), "3")
    while page.locator(".round:not(.over)").count():
        page.keyboard.press("1")
        turned = page.locator(".turned").inner_text()
        assert "It said" not in turned and "predicted" not in turned
        assert "It implies " in turned or "It does not say." in turned
        page.keyboard.press(" ")
    expect(page.locator(".concluded h2")).to_contain_text("of 11 reasons as they are meant.")


@pytest.mark.parametrize("size", SIZES[:1])
def test_who_it_was_is_told_in_words(opened: Opened) -> None:
    for pack, told in (
        ("first", "It was Qwen2.5-Coder, 1.5 billion."),
        ("robots", "the robot fickle, which breaks its own rule"),
    ):
        page = opened.go(named(pack), "7")
        play(page)
        expect(page.locator(".reveal")).to_contain_text(told)


@pytest.mark.parametrize("size", SIZES[:1])
def test_the_tiles_are_there_to_be_taken_as_text(opened: Opened) -> None:
    opened.context.grant_permissions(["clipboard-read", "clipboard-write"])
    page = opened.go(named("robots"), "7")
    play(page)
    page.get_by_role("button", name="Copy my tiles").click()
    page.get_by_role("button", name="Copied").wait_for()
    copied = page.evaluate("navigator.clipboard.readText()")
    assert copied == page.get_by_label("My tiles as text").input_value()
    title, tiles, sentence, same = copied.split("\n")
    squares, _, words = tiles.partition(" ")
    n = int(words.split()[2])
    assert len(squares) == 10 and squares.count("🟩") == int(words.split()[0]) and len(squares.strip("⬜")) <= 10
    assert n == 10 - squares.count("⬜") and title.startswith("Outguess") and sentence and same.endswith("#7")


@pytest.mark.parametrize("size", SIZES)
def test_what_is_hostile_in_a_pack_is_drawn_as_text(opened: Opened) -> None:
    page = opened.go(packs.hostile(), "3")
    title = page.title()
    while page.locator(".round:not(.over)").count():
        assert HOSTILE in page.locator(".round").inner_text().replace("\n", "")
        page.keyboard.press("1")
        assert page.locator(".stage :is(img, script, iframe, a)").count() == 0
        page.keyboard.press(" ")
    page.locator(".round summary").click()
    assert page.locator(".stage :is(img, script, iframe, a)").count() == 0
    assert page.title() == title == HOSTILE


# -------------------------------------------------------------------------------------------------------- In an app


def test_in_an_app_guesses_are_said_and_a_refusal_stops_nobody(browser: Browser) -> None:
    pack, heard = named("first"), list[dict[str, Any]]()

    def app(route: Route) -> None:
        if route.request.method == "GET":
            route.fulfill(content_type="text/html", body=game.of_app("first"))
        elif not heard:
            heard.append({})
            route.abort()
        else:
            heard.extend(json.loads(route.request.post_data or "")["said"])
            route.fulfill(json={"kept": [one["id"] for one in heard if one], "refused": {}})

    page = browser.new_page(reduced_motion="reduce")
    page.route("**/*", app)
    page.goto(f"{HOME}/play?pack=first#5")
    with page.expect_response("**/said"):
        page.keyboard.press("2")
        expect(page.locator(".turned")).to_be_visible()
        assert "connection" not in page.locator("main").inner_text()
    play(page, 2)
    page.wait_for_function("localStorage.getItem('said') === '[]'")
    said = {one["id"]: one for one in heard if one}.values()
    assert {(one["what"], one["pack"], one["value"]) for one in said} == {("play", "first", "no")}
    places = [one["place"] for one in said]
    assert len(set(places)) == len(places) == 10 and set(places) <= set(range(1, len(pack.cards) + 1))
    page.locator(".round summary").click()
    ways = page.locator(".played a").evaluate_all("(all) => all.map((one) => one.getAttribute('href'))")
    cards = [pack.cards[place - 1] for place in places]
    assert ways == [f"/case?{urlencode({'run': card.run, 'case': card.case})}" for card in cards], "counted from 1"
    assert page.get_by_role("link", name="Now a question of your own").get_attribute("href") == "/ask"
    games = page.get_by_role("navigation", name="Other games").get_by_role("link")
    assert [link.get_attribute("href") for link in games.all()] == [
        *(f"/play?pack={path.stem}" for path in shipped() if path.stem != "first"), "/probe"
    ]  # fmt: skip
    assert page.get_by_label("My tiles as text").input_value().endswith(f"{HOME}/play?pack=first#5")
    page.close()


# ------------------------------------------------------------------------------------------------------- Conclusion


@pytest.fixture(scope="module")
def functions(browser: Browser) -> Iterator[Page]:
    page = browser.new_page()
    page.route("**/*", answer)
    page.goto(HOME)
    page.evaluate("import('/game.js').then((module) => { window.game = module; })")
    assert "/game.js" in FILES
    yield page
    page.close()


def cards(*rows: tuple[str, str, str]) -> list[dict[str, Any]]:
    """Cards of (what it said, what is true, what its reason implies)."""
    like = named("first").cards[0]

    def card(said: str, truth: str, implied: str) -> PackCard:
        expects = tuple(one.model_copy(update={"value": implied}) for one in like.card.expects)
        return like.model_copy(
            update={"truth": truth, "card": like.card.model_copy(update={"said": said, "expects": expects})}
        )

    return [card(*row).model_dump(mode="json") for row in rows]


def concluded(page: Page, kind: str, of: list[dict[str, Any]], *guesses: str) -> dict[str, Any]:
    found: dict[str, Any] = page.evaluate("(all) => window.game.concluded(...all)", [kind, of, list(guesses)])
    return found


Y, N, U = "yes", "no", "unknown"


@pytest.mark.parametrize(
    ("rows", "guesses", "outcome", "sentence"),
    [
        ([(Y, Y, Y)] * 4, [Y] * 4, "few", "That is too few to say what its reasons are worth."),
        ([(Y, Y, Y)] * 9, [U] * 9, "few", "That is too few to say what its reasons are worth."),
        (
            [(Y, N, Y), (N, Y, N)] * 3, [Y, N] * 3, "gain",
            "Whoever ignored them and always said “Yes” would have got 3: its reasons told you more than that.",
        ),
        (
            [(Y, Y, U), (N, N, U)] * 3, [Y, N] * 3, "none",
            "Whoever ignored them and answered what is true would have got as many: its reasons told you nothing "
            "beyond that.",
        ),
        (
            [(Y, Y, N), (N, N, Y)] * 3, [N, Y, Y, N, Y, N], "loss",
            "Whoever ignored them and answered what is true would have got 6: its reasons told you nothing.",
        ),
        (
            [(Y, N, Y), (N, Y, N)] * 3, [N, Y] * 3, "unsaid",
            "Whoever ignored them and always said “Yes” would have got 3. But taken word for word, its reasons "
            "foretell 6 of 6, where that gets 3: they say it, only not plainly.",
        ),
        (
            [(Y, N, N), (N, Y, Y)] * 3, [Y, N] * 3, "beside",
            "Whoever ignored them and always said “Yes” would have got 3. But taken word for word, its reasons "
            "foretell 0 of 6, where that gets 3: so it is not they that told you.",
        ),
    ],
)  # fmt: skip
def test_the_conclusion_is_true_in_each_case(
    functions: Page, rows: list[tuple[str, str, str]], guesses: list[str], outcome: str, sentence: str
) -> None:
    found = concluded(functions, "ask", cards(*rows), *guesses)
    assert (found["outcome"], found["sentence"]) == (outcome, sentence)
    foretold = [(row, guess) for row, guess in zip(rows, guesses, strict=True) if guess != U]
    hits = sum(row[0] == guess for row, guess in foretold)
    assert (found["hits"], found["n"], found["left"]) == (hits, len(foretold), len(rows) - len(foretold))
    if foretold:
        assert found["lead"] == f"Going by its reasons you predicted {hits} of {len(foretold)}."


def test_what_foretells_nothing_counts_for_nobody_and_all_are_held_to_the_same_cards(functions: Page) -> None:
    rows = [(Y, Y, Y)] * 5 + [(N, N, N)] * 3
    found = concluded(functions, "ask", cards(*rows), *[Y] * 5, *[U] * 3)
    assert {bar["label"]: (bar["hits"], bar["n"]) for bar in found["bars"]} == {
        "you, by its reasons": (5, 5),
        "what is true": (5, 5),
        "always “Yes”": (5, 5),
        "always “No”": (0, 5),
        "its reasons, word for word": (5, 5),
    }
    assert found["left"] == 3
    wins = [bar["label"] for bar in found["bars"] if bar.get("wins")]
    assert wins == ["what is true", "always “Yes”"], "who does as well without the reasons"


def test_in_a_line_to_share_what_came_as_predicted_is_green(functions: Page) -> None:
    marks, told = ["kept", "broken", "broken", "not settled"], {"hits": 1, "n": 3, "left": 1, "sentence": "So it is."}
    shared = functions.evaluate("(all) => window.game.shared(...all)", ["Birds", marks, told, "here"])
    assert shared == "Outguess: Birds\n🟩🟥🟥⬜ 1 of 3 predicted, 1 left open\nSo it is.\nhere"


def test_where_the_truth_is_not_known_of_every_card_nobody_is_held_to_it(functions: Page) -> None:
    found = concluded(functions, "ask", cards(*[(Y, Y, Y)] * 5, (N, "", N)), *[Y] * 6)
    assert "what is true" not in [bar["label"] for bar in found["bars"]]
    assert "always said “Yes”" in found["sentence"] and found["outcome"] == "unsaid"


def test_where_its_readers_differ_a_reason_foretells_nothing(functions: Page) -> None:
    of = cards(*[(Y, Y, Y)] * 6)
    of[0]["card"]["expects"][1]["value"] = N
    found = concluded(functions, "ask", of, *[Y] * 6)
    [strictly] = [bar for bar in found["bars"] if bar["label"] == "its reasons, word for word"]
    assert (strictly["hits"], strictly["n"]) == (5, 5)


def test_that_nothing_changes_is_held_against_whoever_goes_by_hidden_words(functions: Page) -> None:
    of = [card.model_dump(mode="json") for card in named("hidden").cards]
    found = concluded(functions, "check", of, *[one["card"]["said"] for one in of])
    [before] = [bar for bar in found["bars"] if bar["label"] == "as before"]
    assert before["hits"] == sum(one["claim"]["answer"] == one["card"]["said"] for one in of) > 0


def test_whispers_that_nobody_hears_are_given_away_by_nothing(functions: Page) -> None:
    like = [card.model_dump(mode="json") for card in named("whispered").cards]
    silent = [
        card | {"card": card["card"] | {"expects": [], "said": said}}
        for card, said in zip(like, ["first", "second"] * 3, strict=False)
    ]
    found = concluded(functions, "plant", silent, *["first"] * 5)
    assert found["lead"] == "By the reasons alone you found 3 of 5."
    assert found["sentence"].endswith("would have got as many: the reasons gave nothing away.")


def test_an_order_has_no_pattern(functions: Page) -> None:
    """No question twice in a row, and no more than three answers alike, of a pack that has neither too often."""
    of = [card.model_dump(mode="json") for card in named("robots").cards]
    said = [card["card"]["said"] for card in of]
    for seed in range(40):
        places = functions.evaluate("(all) => window.game.drawn(...all)", [of, str(seed)])
        assert len(places) == len(set(places)) == 10
        order = "".join("y" if said[place] == Y else "n" for place in places)
        assert "yyyy" not in order and "nnnn" not in order
    firsts = {functions.evaluate("(all) => window.game.drawn(...all)", [of, str(seed)])[0] for seed in range(40)}
    assert len(firsts) > 5


def test_half_of_a_run_s_cards_come_without_the_reason_whatever_else_is_known(functions: Page) -> None:
    drawn = {
        run: functions.evaluate("(run) => [1,2,3,4,5,6,7,8,9,10].map((n) => window.game.isCovered(run, n))", run)
        for run in ("one", "two", "three", "four")
    }
    assert {sum(covered) for covered in drawn.values()} == {5} and len({tuple(one) for one in drawn.values()}) > 1


@pytest.mark.parametrize(
    ("rounds", "told"),
    [
        (
            [("yes", "yes", False)] * 3 + [("no", "yes", True)] * 3,
            "With its reason you foretold 3 of 3, without it 0 of 3: more",
        ),
        (
            [("no", "yes", False)] * 3 + [("yes", "yes", True)] * 3,
            "With its reason you foretold 0 of 3, without it 3 of 3: fewer",
        ),
        (
            [("yes", "yes", False)] * 2 + [("yes", "yes", True)] * 4,
            "With its reason you foretold 2 of 2, without it 4 of 4: as many",
        ),
        ([("unknown", "yes", False)] * 2 + [("yes", "yes", True)] * 4, "Without its reason you foretold 4 of 4."),
        ([("unknown", "yes", False)] * 2, ""),
    ],
)
def test_with_and_without_the_reason_are_told_apart(
    functions: Page, rounds: list[tuple[str, str, bool]], told: str
) -> None:
    options = {"yes": "Yes", "no": "No", "unknown": "It does not say"}
    of = [
        {"id": str(n), "isCovered": covered, "card": {"said": said, "options": options}}
        for n, (_, said, covered) in enumerate(rounds)
    ]
    guesses = {str(n): guess for n, (guess, *_) in enumerate(rounds)}
    found = functions.evaluate("(all) => window.game.apart(...all)", [of, guesses])
    assert found.startswith(told) and bool(found) == bool(told)
    assert ("without it" in told) == ("do not show" in found), "so few are told to be few"
