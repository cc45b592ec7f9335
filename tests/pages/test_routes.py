"""The viewer's requests to the server, within one process: the replies and their words."""

import json
import threading
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from starlette.applications import Starlette
from starlette.testclient import TestClient

from core import entry, home, policy
from core.report.game.pack import load_pack
from core.runs.labels import Foretold, journals
from core.runs.labels import guesses as guesses_of
from core.server.access import RunAccess, cookie_of, name_of_visitor, visitor_with_code
from core.server.usage import Rate
from pages.middleware import COOKIE
from pages.viewer import routes
from pages.viewer.routes import ROUTES, Saying
from tests.support.sealed_runs import laid
from tests.support.waiting import until


@pytest.fixture
def run() -> str:
    return laid(home.journals(), "simulatability", name_of_visitor("ann"))


def client(code: str = "ann") -> TestClient:
    return TestClient(Starlette(routes=ROUTES), cookies={COOKIE: cookie_of(code)})


def say(by: TestClient, *said: dict[str, Any]) -> dict[str, Any]:
    numbered = [{"id": str(number), **one} for number, one in enumerate(said, start=1)]
    answered: dict[str, Any] = by.post("/said", json={"said": numbered}).json()
    return answered


def test_what_is_asked_for_is_given_or_it_is_said_why_not(run: str) -> None:
    ann = client()
    given = ann.get(f"/scene/{run}/")
    assert given.status_code == 200 and given.headers["cache-control"] == "private, no-store"
    assert given.headers["content-type"] == "application/json" and given.json()["case"] == "question"
    assert set(ann.get(f"/evidence/{run}/question").json()["calls"]) >= {"c0001"}
    told = ann.get(f"/told/{run}/")
    assert told.text.startswith("event: scene\n") and told.text.endswith("event: over\ndata: {}\n\n")
    assert told.headers["x-accel-buffering"] == "no" and told.headers["cache-control"] == "private, no-store"
    missing = ann.get(f"/scene/{run}/none")
    assert missing.status_code == 404 and "has no case 'none'" in missing.json()["why"]


def test_files_of_the_stage_and_the_game_are_given_and_no_others() -> None:
    anybody = TestClient(Starlette(routes=ROUTES))
    for path in ("/stage/stage.js", "/stage/any/stage.js"):
        given = anybody.get(path)
        assert given.status_code == 200 and given.headers["cache-control"] == "no-cache" and given.text
    assert anybody.get("/stage/routes.py").status_code == 404
    game = anybody.get("/play")
    assert game.status_code == 200 and game.headers["cache-control"] == "private, no-store"
    assert game.headers["content-type"].startswith("text/html") and anybody.get("/play?pack=first").text == game.text
    assert anybody.get("/play?pack=none").status_code == 404
    for path in ("/lessons", "/lessons/10-minutes", "/lessons/10-minutes/worksheet", "/lessons/10-minutes/solutions"):
        given = anybody.get(path)
        assert given.status_code == 200 and given.headers["content-type"].startswith("text/html"), path
    for path in ("/lessons/none", "/lessons/none/solutions", "/lessons/10-minutes/answers"):
        assert anybody.get(path).status_code == 404, path


@pytest.mark.parametrize(
    ("body", "status", "title"),
    [
        (b"{", 400, "Not understood"),
        (b" " * 100_000, 400, "Not understood"),
        (b" " * 100_001, 413, "Too much"),
        (json.dumps({"said": [{"id": "1", "what": "cancel"}] * 21}).encode(), 400, "Not understood"),
        (json.dumps({"said": [{"id": "1", "what": "cancel"}] * 20}).encode(), 200, ""),
        (json.dumps({"said": []}).encode(), 200, ""),
    ],
)
def test_so_much_is_taken_and_no_more(body: bytes, status: int, title: str) -> None:
    answered = client().post("/said", content=body)
    assert (answered.status_code, answered.json().get("title", "")) == (status, title)


def test_a_saying_names_no_place_if_it_is_not_said() -> None:
    one = Saying(id="1", what="cancel")
    assert (one.run, one.case, one.trial, one.about, one.value, one.reader, one.pack, one.place) == ("",) * 7 + (0,)


def test_verdicts_and_guesses_are_kept_and_what_is_none_is_refused(run: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("EXPLAIN_OTHERS", "no")
    ann, bob = client(), client("bob")
    judged = {"run": run, "case": "question", "trial": "cf-01", "what": "judge", "about": "reading", "value": "wrong"}
    answered = say(ann, judged, {**judged, "value": "maybe"}, {**judged, "about": "nothing"}, {**judged, "case": "no"})
    assert answered["kept"] == ["1"] and set(answered["refused"]) == {"2", "3", "4"} and "opened" not in answered

    def labels() -> list[Any]:
        return [event.data["verdicts"] for said in entry.jobs().keeping.labels(run).values() for event in said]

    assert labels() == [{"reading": "wrong"}]
    assert say(ann, judged)["kept"] == ["1"] and labels() == [{"reading": "wrong"}], "twice is once"
    assert say(ann, {**judged, "value": "right"}, {**judged, "value": ""})["kept"] == ["1", "2"]
    assert labels() == [{"reading": "wrong"}, {"reading": "right"}, {}]
    guess = {"run": run, "case": "question", "trial": "cf-01", "what": "guess", "value": "yes", "reader": "ada"}
    other = {**guess, "trial": "cf-02"}
    assert say(ann, guess, guess, other, guess, {**guess, "value": "no"})["kept"] == list("12345")
    said = [one.item for one in guesses(run)]
    assert said == ["cf-01", "cf-02", "cf-01"], "twice is once, and another one is another"
    assert "not shared it" in say(bob, judged)["refused"]["1"] and "not shared" in say(bob, guess)["refused"]["1"]
    assert say(bob, {"run": run, "what": "cancel"})["kept"] == []


def guesses(run: str) -> list[Any]:
    return RunAccess(entry.jobs(), visitor_with_code("ann", True)).run(run).guesses("ada")


def test_of_a_sealed_run_a_guess_opens_its_card(run: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("EXPLAIN_OTHERS", "no")
    entry.jobs().keeping.share(run, True)
    entry.jobs().keeping.seal(run, True)
    bob = client("bob")
    cards = {card["id"]: card for card in bob.get(f"/scene/{run}/question").json()["cards"]}
    whole = {card["id"]: card for card in client().get(f"/scene/{run}/question").json()["cards"]}
    first = next(id for id, card in cards.items() if card["mark"] == "sealed" and card["options"])
    guess = {"run": run, "case": "question", "what": "guess", "trial": first, "value": "yes", "about": "without"}
    answered = say(bob, {**guess, "value": "maybe"}, {**guess, "trial": "none"}, guess)
    assert answered["kept"] == ["3"] and list(answered["refused"]) == ["1", "2"]
    [opened] = answered["opened"]
    assert (opened["run"], opened["case"]) == (run, "question")
    assert [card["id"] for card in opened["news"]["cards"]] == [first]
    assert opened["news"]["cards"][0]["said"] == whole[first]["said"] != ""
    told = {event.record: event.data for event in entry.jobs().keeping.events(run, guesser(run)) if event.item == first}
    assert set(told) == {"foretold", "simulation"} and told["foretold"]["value"] == "yes"


def guesser(run: str) -> str:
    return RunAccess(entry.jobs(), visitor_with_code("bob", True)).guesser


def test_the_first_and_the_last_card_of_a_pack_can_be_guessed_and_none_beside() -> None:
    cards = load_pack("first").cards
    ann = client()
    for place, expected in ((0, "has no card 0"), (len(cards) + 1, "has no card"), (1, ""), (len(cards), "")):
        card = cards[max(0, min(place, len(cards)) - 1)]
        value = next(iter(card.card.options))
        answered = say(ann, {"what": "play", "pack": "first", "place": place, "value": value, "about": "without"})
        assert (answered["kept"] == ["1"]) == (not expected) and expected in answered["refused"].get("1", "")
    [path] = journals(home.journals())
    kept = [(one.played.place, one.played.run) for one in guesses_of(path)]
    assert kept == [(place, cards[place - 1].run) for place in (1, len(cards))]


@pytest.fixture
def hosted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(policy, "_served", {"0.0.0.0"})


def stranger() -> TestClient:
    return TestClient(Starlette(routes=ROUTES))


def test_without_a_cookie_nothing_is_kept_where_others_are_served(run: str, hosted: None) -> None:
    entry.jobs().keeping.share(run, True)
    before = sorted(home.journals().iterdir())
    guess = {"run": run, "case": "question", "trial": "cf-01", "what": "guess", "value": "yes", "reader": "ada"}
    for cookies in ({}, {COOKIE: "made elsewhere"}, {COOKIE: f"x{cookie_of('ann')}"}):
        by = TestClient(Starlette(routes=ROUTES), cookies=cookies)
        answered = by.post("/said", json={"said": [{"id": "1", **guess}]})
        assert answered.status_code == 403 and answered.json()["title"] == "Cookies are needed"
        assert answered.json()["why"].startswith("This app needs cookies")
    assert sorted(home.journals().iterdir()) == before


def test_what_one_without_a_cookie_guessed_opens_nothing_for_another(run: str, hosted: None) -> None:
    entry.jobs().keeping.share(run, True)
    entry.jobs().keeping.seal(run, True)
    covered = stranger().get(f"/scene/{run}/question").json()
    card = next(card["id"] for card in covered["cards"] if card["mark"] == "sealed" and card["options"])
    # Where earlier versions stored the guesses of all visitors together.
    everybody = f"guesses-{name_of_visitor('')}"
    entry.jobs().keeping.add(run, everybody, "question", Foretold(value="yes"), card, name_of_visitor(""))
    assert stranger().get(f"/scene/{run}/question").json() == covered
    guess = {"run": run, "case": "question", "what": "guess", "trial": card, "value": "yes"}
    assert say(client("bob"), guess)["kept"] == ["1"]
    assert stranger().get(f"/scene/{run}/question").json() == covered


def test_the_author_is_who_the_cookie_names(run: str, hosted: None) -> None:
    entry.jobs().keeping.share(run, True)
    ann, bob = (RunAccess(entry.jobs(), visitor_with_code(code, True)) for code in ("ann", "bob"))
    guess = {"run": run, "case": "question", "trial": "cf-01", "what": "guess", "value": "yes"}
    for reader in (ann.labeller, ann.guesser, "ada"):
        assert say(client("bob"), {**guess, "reader": reader})["kept"] == ["1"]
    judged = {"run": run, "case": "question", "trial": "cf-01", "what": "judge", "about": "reading", "value": "wrong"}
    assert say(client("ann"), judged)["kept"] == ["1"], "nobody took the name of the owner's labels"
    said = {path.stem.partition("~")[2] for path in home.journals().glob(f"{run}~[!~]*.jsonl")}
    assert said == {ann.labeller, bob.guesser}, "one journal for each person"


def test_who_says_too_much_waits_and_others_do_not(run: str, hosted: None, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(routes, "OF_VISITOR", Rate(30, 0.001))
    monkeypatch.setattr(routes, "OF_ADDRESS", Rate(65, 0.001))
    ann, bob, carl = client(), client("bob"), client("carl")
    batch = {"said": [{"id": str(one), "what": "cancel"} for one in range(20)]}
    assert ann.post("/said", json=batch).status_code == 200
    refused = ann.post("/said", json=batch)
    assert refused.status_code == 429 and "to be saved immediately" in refused.json()["why"]
    assert bob.post("/said", json=batch).status_code == 200
    assert carl.post("/said", json=batch).status_code == 200
    assert client("dora").post("/said", json=batch).status_code == 429, "new cookies come from one address"


def test_where_the_host_has_no_more_room_nothing_more_is_kept(run: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("EXPLAIN_STORED_MB", "0")
    verdict = {"run": run, "case": "question", "what": "judge", "about": "reading", "value": "right"}
    guess = {"what": "play", "pack": "first", "place": 1, "value": next(iter(load_pack("first").cards[0].card.options))}
    answered = say(client(), verdict, guess)
    assert answered["kept"] == [] and all("used up" in answered["refused"][id] for id in "12")
    assert not entry.jobs().keeping.labels(run) and not journals(home.journals())


def test_those_who_look_do_not_wait_for_what_is_said(run: str, monkeypatch: pytest.MonkeyPatch) -> None:
    at_work, go_on = [], threading.Event()

    def slow(who: RunAccess, said: object) -> dict[str, object]:
        at_work.append(1)
        assert go_on.wait(60)
        return {"kept": [], "refused": {}}

    monkeypatch.setattr(routes, "_keep", slow)
    monkeypatch.setattr(routes, "WAITING", 50)

    def post(_: int) -> int:
        return ann.post("/said", json={"said": []}).status_code

    with client() as ann, ThreadPoolExecutor(61) as browsers:
        saying = [browsers.submit(post, number) for number in range(60)]
        try:
            until(lambda: sum(one.done() for one in saying) == 10)
            looked = browsers.submit(lambda: ann.get(f"/scene/{run}/").status_code)
            assert looked.result(30) == 200 and len(at_work) == 2
        finally:
            go_on.set()
        codes = [one.result() for one in saying]
    assert codes.count(200) == 50 and codes.count(429) == 10, "no more than so many wait"
