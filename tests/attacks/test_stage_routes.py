"""A program uses the viewer's routes: which runs it can follow, and what it may say."""

import http.client
import json
from collections.abc import Iterator
from typing import Any
from urllib.parse import quote

import pytest
from streamlit.proto.WidgetStates_pb2 import WidgetState

from core import home
from core.scene import Scene, as_json
from tests.attacks.wire import Reply, Tab, cookie, send
from tests.browser.conftest import Server
from tests.conftest import WITHOUT_ENCODER
from tests.support.waiting import PATIENCE, until

RECORDED = next(path.stem for path in sorted(home.recordings().glob("*-simulatability-*.jsonl")))


LEFT = ("incoming-0123456789abcdef", "journals/20261126-070000-find-0123456789abcdef.jsonl")
"""What an import and a run left behind that were killed before the app started."""


@pytest.fixture(scope="module")
def app(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    folder = tmp_path_factory.mktemp("staged") / "home"
    (folder / LEFT[0]).mkdir(parents=True)
    (folder / "journals").mkdir()
    (folder / LEFT[1]).touch()
    server = Server(folder, PYTHONPATH=WITHOUT_ENCODER, EXPLAIN_HOSTS="class.example.org")
    yield server
    server.stop()


def test_what_was_left_by_what_was_killed_is_removed_at_the_start(app: Server) -> None:
    until(lambda: not any((app.log.with_suffix("") / left).exists() for left in LEFT))


@pytest.fixture(scope="module")
def mine(app: Server) -> tuple[str, str]:
    """A visitor's cookie, and the run that they began."""
    own = cookie(app)
    folder = app.log.with_suffix("") / "journals"
    with Tab(app, own) as tab:
        press = next(one.button.id for one in tab.run("ask") if one.button.id.endswith("show-ask"))
        tab.run("ask", widgets=[WidgetState(id=press, trigger_value=True)])
    until(lambda: any(b"finished" in path.read_bytes() for path in folder.glob("*-simulatability-*.jsonl")))
    return own, next(path.stem for path in folder.glob("*-simulatability-*.jsonl") if "~" not in path.stem)


def say(app: Server, cookies: str, *said: dict[str, Any], **headers: str) -> Reply:
    return send(app, "POST", "/said", json.dumps({"said": said}).encode(), Cookie=cookies, **headers)


def heard(app: Server, cookies: str, path: str) -> list[tuple[str, Any]]:
    """The server-sent events of an address, to their end."""
    connection = http.client.HTTPConnection("127.0.0.1", app.port, timeout=PATIENCE)
    try:
        connection.request("GET", path, headers={"Cookie": cookies})
        lines = connection.getresponse().read().decode().split("\n\n")
    finally:
        connection.close()
    parts = [line.partition("\ndata: ") for line in lines if line]
    return [(name.removeprefix("event: "), json.loads(data)) for name, _, data in parts]


def test_a_recording_is_told_to_everybody_with_all_that_stands_behind_it(app: Server) -> None:
    scene = Scene.model_validate_json(send(app, "GET", f"/scene/{RECORDED}/").words)
    assert scene.run == RECORDED and scene.cards and scene.verdict
    assert send(app, "GET", f"/scene/{RECORDED}/{quote(scene.case)}").words == as_json(scene)
    behind = json.loads(send(app, "GET", f"/evidence/{RECORDED}/{quote(scene.case)}").words)
    assert {name for card in scene.cards for name in card.calls} <= set(behind["calls"])
    events = heard(app, "", f"/told/{RECORDED}/")
    assert [name for name, _ in events] == ["scene", "over"]
    assert Scene.model_validate(events[0][1]) == scene


def test_a_run_is_told_to_whose_it_is_and_to_nobody_else(app: Server, mine: tuple[str, str]) -> None:
    own, run = mine
    events = heard(app, own, f"/told/{run}/")
    assert events[-1] == ("over", {})
    whole = Scene.model_validate_json(send(app, "GET", f"/scene/{run}/", Cookie=own).words)
    told: dict[str, Any] = {}
    for news in [data for name, data in events if name in ("scene", "changed")]:
        cards = {card["id"]: card for card in told.get("cards", [])} | {
            card["id"]: card for card in news.get("cards", [])
        }
        told |= news | {"cards": list(cards.values())}
    assert Scene.model_validate(told) == whole and whole.status == "done"
    for other in ("", cookie(app)):
        for what in ("scene", "evidence", "told"):
            reply = send(app, "GET", f"/{what}/{run}/", Cookie=other)
            assert reply.status == 404 and "has not shared it" in reply.words, what
        judged = {"id": "1", "run": run, "case": whole.case, "what": "judge", "about": "reading", "value": "right"}
        reply = say(app, other, judged, {"id": "2", "run": run, "what": "cancel"})
        if other:
            assert json.loads(reply.words)["kept"] == [] and "has not shared it" in reply.words
        else:
            assert reply.status == 403 and json.loads(reply.words)["title"] == "Cookies are needed"


def labels(app: Server, run: str) -> list[str]:
    return [
        line
        for path in (app.log.with_suffix("") / "journals").glob(f"{run}~labels-*.jsonl")
        for line in path.read_text().splitlines()
        if '"record":"label"' in line
    ]


def test_what_is_said_stands_in_the_journal_and_twice_is_once(app: Server, mine: tuple[str, str]) -> None:
    own, run = mine
    scene = Scene.model_validate_json(send(app, "GET", f"/scene/{run}/", Cookie=own).words)
    first = {"run": run, "case": scene.case, "trial": scene.cards[0].id, "what": "judge", "about": "reading"}
    batch = [{**first, "id": f"{n}", "value": "wrong" if n % 2 else "right"} for n in range(10)]
    reply = json.loads(say(app, own, *batch).words)
    assert reply == {"kept": [str(n) for n in range(10)], "refused": {}}
    assert json.loads(labels(app, run)[-1])["data"]["verdicts"] == {"reading": "wrong"}
    before = len(labels(app, run))
    assert json.loads(say(app, own, batch[-1]).words)["kept"] == ["9"]
    assert len(labels(app, run)) == before
    assert json.loads(say(app, own, {**first, "id": "x", "value": ""}).words)["kept"] == ["x"]
    assert json.loads(labels(app, run)[-1])["data"]["verdicts"] == {}


ONE = {"id": "1", "run": RECORDED, "what": "judge", "about": "reading", "value": "right"}


def test_a_guess_of_a_game_is_kept_for_who_said_it_and_twice_is_once(app: Server) -> None:
    own = cookie(app)
    folder = app.log.with_suffix("") / "journals"
    before = set(folder.glob("pack-*~*.jsonl"))
    guess = {"id": "g1", "what": "play", "pack": "first", "place": 1, "value": "yes"}
    first = json.loads(say(app, own, guess, guess).words)
    again = json.loads(say(app, own, {**guess, "value": "no"}).words)
    assert first == {"kept": ["g1", "g1"], "refused": {}} and again["kept"] == ["g1"]
    [mine] = set(folder.glob("pack-*~*.jsonl")) - before
    lines = [json.loads(line) for line in mine.read_text(encoding="utf-8").splitlines()]
    assert [line["kind"] for line in lines] == ["started", "recorded"] and lines[1]["data"]["value"] == "yes"
    assert lines[0]["about"] == "pack-first" and lines[0]["owner"] == lines[1]["by"] != ""
    # Guesses of a visitor without a cookie cannot be distinguished from others'.
    refused = say(app, "", guess)
    assert refused.status == 403 and "This app needs cookies" in json.loads(refused.words)["why"]
    wrong: list[dict[str, Any]] = [{"pack": "../first"}, {"place": 77}, {"value": "<script>"}]
    for number, one in enumerate(wrong):
        assert list(json.loads(say(app, own, {**guess, **one, "id": str(number)}).words)["refused"]) == [str(number)]
    assert set(folder.glob("pack-*~*.jsonl")) - before == {mine}


@pytest.mark.parametrize(
    ("body", "status", "words"),
    [
        (b"", 400, "not a message that the page sends"),
        (b"{", 400, "not a message that the page sends"),
        (b"[" * 100_000, 400, "not a message that the page sends"),
        (b'{"said": "%s"}' % (b"x" * 110_000), 413, "too much in one request"),
        (json.dumps({"said": [ONE] * 21}).encode(), 400, "not a message that the page sends"),
        (json.dumps({"said": [{**ONE, "run": "../../x"}]}).encode(), 200, "There is no run"),
        (json.dumps({"said": [{**ONE, "value": "maybe"}]}).encode(), 200, "not a possible verdict"),
        (json.dumps({"said": [{**ONE, "case": "none"}]}).encode(), 200, "has no case"),
    ],
)
def test_what_is_no_saying_is_refused_kindly(app: Server, body: bytes, status: int, words: str) -> None:
    reply = send(app, "POST", "/said", body, Cookie=cookie(app))
    assert reply.status == status and words in reply.words


def test_other_pages_say_nothing_and_no_file_but_the_stages_own_is_given(app: Server) -> None:
    assert say(app, cookie(app), Origin="https://evil.example.org").status == 403
    assert send(app, "GET", "/stage/stage.js").status == 200
    for path in ("routes.py", "..%2Froutes.py", "%2e%2e/app.py", "mount.py"):
        assert send(app, "GET", f"/stage/{path}").status in (404, 400), path
    reply = send(app, "GET", f"/scene/{quote('../' * 9 + 'etc/passwd', safe='')}/")
    assert reply.status in (400, 404) and "root:" not in reply.words
    assert send(app, "GET", f"/scene/{RECORDED}/{'x' * 5_000}").status == 404


def test_whoever_sees_the_front_page_may_play_and_no_name_leads_out_of_the_packs(app: Server) -> None:
    played = send(app, "GET", "/play")
    assert played.status == 200 and "connect-src 'self'" in played.words
    assert send(app, "GET", "/play?pack=first").words == played.words
    for name in (
        "nothing",
        "../recordings/recordings",
        "%2e%2e%2fpolicy",
        "first.json",
        "x" * 5_000,
        "%00",
        "<script>",
    ):
        refused = send(app, "GET", f"/play?pack={name}")
        assert refused.status == 404 and json.loads(refused.words)["title"] == "No such pack", name
    assert send(app, "GET", "/stage/any/game.js").status == 200
    assert send(app, "GET", "/stage/any/../routes.py").status in (404, 400)
