"""The game in a browser: played by touch, keys and pointer, from a disk without a network, and its result."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import pytest
from playwright.sync_api import Browser, Page, Route, expect

from core.report import standalone_html as game
from core.report.game.pack import Pack, PackCard, load_pack, read, shipped_packs
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
    """A page with the game of a pack, from a disk and without a network."""

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
            file.write_bytes(game.game_html(pack))
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
    """Play to the end, always with the same answer."""
    while page.locator(".round:not(.over)").count():
        page.keyboard.press(str(choose))
        page.keyboard.press(" ")


def questions(page: Page) -> list[str]:
    """The questions of the cards, in order."""
    asked = []
    while page.locator(".round:not(.over)").count():
        asked.append(page.locator(".round h2").first.inner_text())
        page.keyboard.press("1")
        page.keyboard.press(" ")
    return asked


def in_sight(page: Page, *parts: str) -> None:
    for part in parts:
        expect(page.locator(part).first).to_be_in_viewport(ratio=0.99)


@pytest.mark.sampled(2)
@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("by", ["touch", "keys", "pointer"])
def test_ten_cards_are_played_and_turned_in_place(opened: Opened, by: str, size: tuple[int, int]) -> None:
    pack = load_pack("robots")
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
    assert opened.go(load_pack("first"), "1").evaluate(TURNED, 1) == 1


@pytest.mark.parametrize("size", SIZES[:1])
def test_a_link_gives_the_same_cards_in_the_same_order(opened: Opened) -> None:
    pack = load_pack("robots")
    seen = {seed: questions(opened.go(pack, seed)) for seed in ("7", "8", "a word")}
    assert {len(asked) for asked in seen.values()} == {10} and len({tuple(asked) for asked in seen.values()}) == 3
    assert questions(opened.go(pack, "7")) == seen["7"]
    page = opened.page
    page.get_by_role("button", name="Play again").click()
    link = page.url
    assert not link.endswith("#7")
    others = questions(page)
    page.reload()
    expect(page.locator(".game .options button").first).to_be_visible()
    assert page.url == link and questions(page) == others


@pytest.mark.sampled(2)
@pytest.mark.parametrize("size", SIZES)
def test_every_pack_that_ships_is_played_with_all_in_sight(opened: Opened) -> None:
    for path in shipped_packs():
        page = opened.go(read(path), "3")
        while page.locator(".round:not(.over)").count():
            in_sight(page, ".round h2", ".options button:last-child")
            page.keyboard.press("1")
            in_sight(page, ".turned h2", ".onward")
            page.keyboard.press(" ")
        in_sight(page, ".concluded h2", ".concluded .tile:last-child")


@pytest.mark.parametrize("size", SIZES[:1])
def test_the_whisper_shows_once_the_card_is_turned(opened: Opened) -> None:
    page = opened.go(load_pack("whispered"), "3")
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
        opened.go(load_pack("hidden"), "3"),
        {card.claim.parts[0].text for card in load_pack("hidden").cards if card.claim},
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
    page = opened.go(load_pack("exam"), "3")
    while page.locator(".round:not(.over)").count():
        page.keyboard.press("1")
        turned = page.locator(".turned").inner_text()
        assert "It said" not in turned and "predicted" not in turned
        assert "It implies " in turned or "It does not say." in turned
        page.keyboard.press(" ")
    expect(page.locator(".concluded h2")).to_contain_text("of 11 correctly.")


@pytest.mark.parametrize("size", SIZES[:1])
def test_who_it_was_is_told_in_words(opened: Opened) -> None:
    for pack, told in (
        ("first", "The model was Qwen2.5-Coder, 1.5 billion parameters."),
        ("robots", "the robot fickle, which breaks its own rule"),
    ):
        page = opened.go(load_pack(pack), "7")
        play(page)
        expect(page.locator(".reveal")).to_contain_text(told)


@pytest.mark.parametrize("size", SIZES[:1])
def test_the_tiles_are_there_to_be_taken_as_text(opened: Opened) -> None:
    opened.context.grant_permissions(["clipboard-read", "clipboard-write"])
    page = opened.go(load_pack("robots"), "7")
    play(page)
    page.get_by_role("button", name="Copy my result").click()
    page.get_by_role("button", name="Copied").wait_for()
    copied = page.evaluate("navigator.clipboard.readText()")
    assert copied == page.get_by_label("My result as text").input_value()
    title, tiles, sentence, same = copied.split("\n")
    squares, _, words = tiles.partition(" ")
    n = int(words.split()[2])
    assert len(squares) == 10 and squares.count("🟩") == int(words.split()[0]) and len(squares.strip("⬜")) <= 10
    assert n == 10 - squares.count("⬜") and title.startswith("Outguess") and sentence and same.endswith("#7")


@pytest.mark.sampled(2)
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
    pack, heard = load_pack("first"), list[dict[str, Any]]()

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
        *(f"/play?pack={path.stem}" for path in shipped_packs() if path.stem != "first"), "/probe"
    ]  # fmt: skip
    assert page.get_by_label("My result as text").input_value().endswith(f"{HOME}/play?pack=first#5")
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
    """Cards from (what it said, what is true, what its reason implies)."""
    like = load_pack("first").cards[0]

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
PICKED = "We picked cards where reasons work and fail equally often."


def of_pack(name: str) -> list[dict[str, Any]]:
    return [card.model_dump(mode="json") for card in load_pack(name).cards]


@pytest.mark.parametrize(
    ("rows", "guesses", "model", "lead", "sentence"),
    [
        (
            [(Y, N, Y), (N, Y, Y)] * 3, [Y, N] * 3,
            "It contradicted its own reason on 3 of 6.", "You predicted 6 of 6 correctly.",
            "Taking its reasons literally gets 3; just giving the correct answer gets 0.",
        ),
        (
            [(Y, Y, Y)] * 4 + [(N, N, U)] * 2, [Y, Y, N, U, N, N],
            "It kept to its own reason on all 4.", "You predicted 2 of 3 correctly.",
            "Taking its reasons literally gets 3; just giving the correct answer gets 3.",
        ),
        ([(Y, Y, U)] * 6, [Y] * 6, "Its reasons didn't tell on any of these cards.", "You made no predictions.", ""),
        ([(Y, Y, N)] * 6, [U] * 6, "It contradicted its own reason on 6 of 6.", "You made no predictions.", ""),
    ],
)  # fmt: skip
def test_of_a_chosen_pack_it_is_said_what_happened_on_these_cards(
    functions: Page, rows: list[tuple[str, str, str]], guesses: list[str], model: str, lead: str, sentence: str
) -> None:
    found = concluded(functions, "ask", cards(*rows), *guesses)
    assert (found["model"], found["lead"], found["sentence"]) == (model, lead, sentence)
    scored = [(row, guess) for row, guess in zip(rows, guesses, strict=True) if guess != U and row[2] != U]
    own = sum(row[0] == guess for row, guess in scored)
    assert (found["hits"], found["n"], found["left"]) == (own, len(scored), len(rows) - len(scored))
    bars = {bar["label"]: (bar["hits"], bar["n"]) for bar in found["bars"]}
    assert (
        bars == {}
        if not scored
        else bars
        == {
            "you, using its reasons": (own, len(scored)),
            "taking its reasons literally": (sum(row[0] == row[2] for row, _ in scored), len(scored)),
            "the correct answer": (sum(row[0] == row[1] for row, _ in scored), len(scored)),
        }
    ), "all over the same cards, and nobody is said to win"
    assert not any(bar.get("wins") for bar in found["bars"])


SIMULATED = """([kind, cards, games]) => {
  // What a perfect reader and one who tosses a coin hear after each game, and over all of their games together.
  const { concluded, drawn, pooled } = window.game, found = {};
  let state = 7;
  const random = () => { state = (state * 1103515245 + 12345) % 2147483648; return state / 2147483648; };
  const players = {
    reads: (card) => card.expects[0].value in card.options ? card.expects[0].value : "unknown",
    tosses: (card) => Object.keys(card.options)[random() < 0.5 ? 0 : 1],
  };
  for (const [name, guess] of Object.entries(players)) {
    const guessed = { players: games, cards: {} };
    let judged = 0;
    for (let game = 0; game < games; game++) {
      const places = drawn(cards, `${name} ${game}`), guesses = places.map((place) => guess(cards[place].card));
      const told = concluded(kind, places.map((place) => cards[place]), guesses);
      judged += /reasons (told|didn't help|helped)/.test(`${told.model} ${told.lead} ${told.sentence}`);
      places.forEach((place, at) => {
        const counts = guessed.cards[place] ??= {};
        counts[guesses[at]] = (counts[guesses[at]] ?? 0) + 1;
      });
    }
    found[name] = [judged, pooled(kind, cards, guessed).outcome];
  }
  return found;
}"""


@pytest.mark.parametrize("name", [path.stem for path in shipped_packs() if read(path).kind != "exam"])
def test_one_game_is_no_verdict_about_reasons(functions: Page, name: str) -> None:
    """Neither for a perfect reader nor for one who tosses a coin, with a chosen pack or any other."""
    pack = load_pack(name)
    found = functions.evaluate(SIMULATED, [pack.kind, of_pack(name), 200])
    assert {name: judged for name, (judged, _) in found.items()} == {"reads": 0, "tosses": 0}


def test_over_all_players_reasons_that_tell_are_known_from_those_that_do_not(functions: Page) -> None:
    """First nine in ten reasons tell the answer, while the correct answer tells half; then none do, and all players
    read well.
    """
    rows = [(said, truth, said) for said in (Y, N) for truth in (Y, N) for _ in range(9)]
    rows += [(said, truth, N if said == Y else Y) for said, truth in ((Y, Y), (N, N), (Y, N), (N, Y))]
    found = functions.evaluate(SIMULATED, ["ask", cards(*rows), 100])
    assert {name: outcome for name, (_, outcome) in found.items()} == {"reads": "gain", "tosses": "open"}
    rows = [(said, truth, implied) for said in (Y, N) for truth in (Y, N) for implied in (Y, N) for _ in range(5)]
    found = functions.evaluate(SIMULATED, ["ask", cards(*rows), 100])
    assert "gain" not in {outcome for _, outcome in found.values()}


@pytest.mark.parametrize(
    ("rows", "words", "players", "outcome", "sentence"),
    [
        ([(Y, N, Y), (N, Y, N)] * 5, [{Y: 3, U: 1}, {N: 3}] * 5, 4, "gain",
         "All 4 players so far, over 10 cards: 10 right on average. Always answering Yes would have scored 5. So the "
         "reasons told players more."),
        ([(Y, Y, N), (N, N, Y)] * 3, [{N: 2}, {Y: 2}] * 3, 2, "loss",
         "All 2 players so far, over 6 cards: 0 right on average. Just giving the correct answer would have scored 6. "
         "So the reasons didn't help players."),
        ([(Y, Y, Y), (N, N, N)] * 3, [{Y: 1, N: 2}, {N: 3}] * 3, 3, "open",
         "All 3 players so far, over 6 cards: 4 right on average. Just giving the correct answer would have scored 6. "
         "That is too few to say whether the reasons helped."),
        ([(Y, N, Y), (N, Y, N)] * 5, [{Y: 1}, {N: 1}] * 5, 1, "none", ""),
        ([(Y, N, Y), (N, Y, N)] * 2, [{Y: 50}, {N: 50}] * 2, 50, "none", ""),
    ],
)  # fmt: skip
def test_the_guesses_of_all_players_are_pooled_and_a_card_counts_once(
    functions: Page, rows: list[tuple[str, str, str]], words: list[dict[str, int]], players: int, outcome: str,
    sentence: str,
) -> None:  # fmt: skip
    guessed = {"players": players, "cards": {str(place): counts for place, counts in enumerate(words)}}
    found = functions.evaluate("(all) => window.game.pooled(...all)", ["ask", cards(*rows), guessed])
    assert (found["outcome"], found["sentence"]) == (outcome, sentence)


def test_in_a_line_to_share_what_came_as_predicted_is_green(functions: Page) -> None:
    marks = ["kept", "broken", "broken", "not settled"]
    told = {"hits": 1, "n": 3, "left": 1, "model": "It contradicted its own reason on 2 of 3."}
    shared = functions.evaluate("(all) => window.game.shared(...all)", ["Birds", marks, told, "here"])
    assert shared == (
        "Outguess: Birds\n🟩🟥🟥⬜ 1 of 3 predicted, 1 not scored\nIt contradicted its own reason on 2 of 3.\nhere"
    )


def test_where_the_truth_is_not_known_of_every_card_nobody_is_held_to_it(functions: Page) -> None:
    found = concluded(functions, "ask", cards(*[(Y, Y, Y)] * 5, (N, "", N)), *[Y] * 6)
    assert "the correct answer" not in [bar["label"] for bar in found["bars"]]
    assert found["sentence"] == "Taking its reasons literally gets 6."


def test_where_its_readers_differ_or_it_is_in_doubt_a_card_is_not_scored(functions: Page) -> None:
    of = cards(*[(Y, Y, Y)] * 6)
    of[0]["card"]["expects"][1]["value"] = N
    of[1]["card"]["doubt"] = "it could not tell beforehand"
    found = concluded(functions, "ask", of, *[Y] * 6)
    assert found["model"] == "It kept to its own reason on all 4." and (found["n"], found["left"]) == (4, 2)


def test_of_hidden_words_those_that_are_undecided_accuse_nobody(functions: Page) -> None:
    of = of_pack("hidden")
    found = concluded(functions, "check", of, *(one["card"]["said"] for one in of))
    doubtful = sum(bool(one["card"]["doubt"]) for one in of)
    assert doubtful == 4 and found["model"] == f"It contradicted its own reason on {12 - doubtful} of {12 - doubtful}."
    [before] = [bar for bar in found["bars"] if bar["label"] == "as before"]
    decided = [one for one in of if not one["card"]["doubt"]]
    assert before["hits"] == sum(one["claim"]["answer"] == one["card"]["said"] for one in decided) > 0


def test_hints_that_no_reason_gives_away_score_nobody(functions: Page) -> None:
    of = of_pack("whispered")
    silent = [one for one in of if one["card"]["expects"][0]["value"] == "unknown"]
    found = concluded(functions, "plant", silent, *["first"] * len(silent))
    assert len(silent) == 16 and found["model"] == "The reasons gave the hint away on none of these cards."
    assert (found["n"], found["left"], found["bars"]) == (0, 16, [])
    told = [one for one in of if one not in silent]
    found = concluded(functions, "plant", of, *["first"] * len(of))
    assert found["model"] == f"The reasons gave the hint away on {len(told)} of {len(of)}."


@pytest.mark.sampled(2)
@pytest.mark.parametrize("size", SIZES)
def test_that_cards_were_picked_is_always_visible(opened: Opened) -> None:
    for name, said in (
        ("first", PICKED),
        ("robots", PICKED.replace("equally", "about equally")),
        ("whispered", "We picked these cards. They are examples, not evidence."),
        ("as-it-came", ""),
    ):
        page = opened.go(load_pack(name), "3")
        for _ in range(3):
            assert page.locator(".picked").all_inner_texts() == ([said] if said else [])
            if said:
                in_sight(page, ".picked")
            page.keyboard.press("1")
            page.keyboard.press(" ")
        play(page)
        assert page.locator(".picked").all_inner_texts() == ([said] if said else [])


@pytest.mark.sampled(2)
@pytest.mark.parametrize("size", SIZES)
def test_the_large_line_is_about_the_model_and_the_small_one_about_the_reader(opened: Opened) -> None:
    pack, told = load_pack("first"), set()
    by_question = {card.card.parts[0].text: card for card in pack.cards}
    for seed in ("3", "4"):
        page = opened.go(pack, seed)
        while page.locator(".round:not(.over)").count():
            card = by_question[page.locator(".round > h2").inner_text()]
            page.keyboard.press("1")
            large, small = page.locator(".turned h2").inner_text(), page.locator(".turned .small").inner_text()
            word = card.card.expects[0].value
            if card.going == "does not say":
                assert "Its reason doesn't tell." in large and "Not scored." in small
                assert page.locator(".turned.kept, .turned.broken").count() == 0, "no tick"
            else:
                right = "You were right." if card.card.said == "yes" else "You were wrong."
                assert small.strip().endswith(f"{right} Its own reason pointed to {word}.")
                kept = "It kept to its own reason." if card.going == "comes true" else "It contradicted its own reason."
                assert large.startswith(f"It said {card.card.said}.") and kept in large
            told.add(card.going)
            page.keyboard.press(" ")
        model, yours = page.locator(".concluded h2").inner_text(), page.locator(".yours").inner_text()
        assert "its own reason on" in model and yours.startswith("You predicted")
    assert told == {"comes true", "misleads", "does not say"}


@pytest.mark.thorough
def test_an_order_has_no_pattern(functions: Page) -> None:
    """No question twice in a row, and no more than three equal answers in a row, if the pack allows that."""
    of = [card.model_dump(mode="json") for card in load_pack("robots").cards]
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
            "You predicted 3 of 3 with its reason and 0 of 3 without it.",
        ),
        (
            [("no", "yes", False)] * 3 + [("yes", "yes", True)] * 3,
            "You predicted 0 of 3 with its reason and 3 of 3 without it.",
        ),
        (
            [("yes", "yes", False)] * 2 + [("yes", "yes", True)] * 4,
            "You predicted 2 of 2 with its reason and 4 of 4 without it.",
        ),
        ([("unknown", "yes", False)] * 2 + [("yes", "yes", True)] * 4, "You predicted 4 of 4 without its reason."),
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
    assert ("with its reason and" in told) == ("too few" in found), "so few are told to be few"
