"""A sealed run of a class, queried in every way there is: by its owner, by someone who guesses, by someone who only
looks.
"""

import http.client
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import quote

import pytest
from streamlit.proto.WidgetStates_pb2 import WidgetState

from core import entry
from core.runs.library import RunLibrary
from core.scene import Card, Scene
from core.server.access import name_of_visitor
from core.server.annotations import Annotations
from core.server.jobs import OVER
from tests.attacks.wire import Reply, Tab, cookie, send
from tests.browser.conftest import Server
from tests.conftest import WITHOUT_ENCODER
from tests.support.sealed_runs import CANARY, LABS, laid
from tests.support.waiting import PATIENCE, until


class Class(NamedTuple):
    """An app with a sealed run of each lab, by lab; the owner's cookie, and another person's."""

    app: Server
    runs: dict[str, str]
    ann: str
    bob: str

    @property
    def folder(self) -> Path:
        return self.app.log.with_suffix("") / "journals"

    @property
    def keeping(self) -> Annotations:
        return Annotations(RunLibrary(self.folder, entry.labs()))


@pytest.fixture(scope="module")
def taught(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Class]:
    app = Server(
        tmp_path_factory.mktemp("sealed") / "home", PYTHONPATH=WITHOUT_ENCODER, EXPLAIN_HOSTS="class.example.org"
    )
    ann = cookie(app)
    owner = name_of_visitor(ann.partition("=")[2].rpartition(".")[0])
    folder = app.log.with_suffix("") / "journals"
    made = Class(app, {lab: laid(folder, lab, owner) for lab in LABS}, ann, cookie(app))
    for run in made.runs.values():
        made.keeping.share(run, True)
        press(made, run, "Make others guess first")
    yield made
    app.stop()


def press(taught: Class, run: str, label: str) -> None:
    """Press the button of that name on the owner's page of the run."""
    with Tab(taught.app, taught.ann) as tab:
        button = next(one.button for one in tab.run("case", f"run={run}") if one.button.id.endswith("-seal"))
        assert button.label == label
        tab.run("case", f"run={run}", [WidgetState(id=button.id, trigger_value=True)])


def scene_of(taught: Class, run: str, cookies: str, case: str = "") -> Scene:
    reply = send(taught.app, "GET", f"/scene/{run}/{quote(case)}", Cookie=cookies)
    assert reply.status == 200, reply.words
    return Scene.model_validate_json(reply.words)


def guess(taught: Class, cookies: str, scene: Scene, card: str, value: str) -> Reply:
    said = {"id": card, "run": scene.run, "case": scene.case, "trial": card, "what": "guess", "value": value}
    return send(taught.app, "POST", "/said", json.dumps({"said": [said]}).encode(), Cookie=cookies)


def secrets(taught: Class, run: str) -> list[str]:
    """Words that reveal the result of a run: the word in its raw answers, and the sentence of its verdict."""
    whole = scene_of(taught, run, taught.ann)
    assert whole.verdict is not None and not whole.is_sealed
    return [CANARY, whole.verdict.headline.text]


def tells(text: str | bytes, secrets: list[str]) -> list[str]:
    """The secrets that a text contains, however they are escaped there."""
    data = text.encode() if isinstance(text, str) else text
    return [one for one in secrets if one.encode() in data or json.dumps(one)[1:-1].encode() in data]


OVER_FOR_NOW = f"event: far\ndata: {OVER.model_dump_json()}\n\n".encode()
"""An event saying that a run is not going on and its result is still to come."""


def first_events(app: Server, cookies: str, path: str) -> tuple[http.client.HTTPResponse, bytes]:
    """The event stream of an address, and its first event."""
    connection = http.client.HTTPConnection("127.0.0.1", app.port, timeout=PATIENCE)
    connection.request("GET", path, headers={"Cookie": cookies})
    reply = connection.getresponse()
    return reply, next_event(reply)


def next_event(reply: http.client.HTTPResponse) -> bytes:
    lines = b""
    while not lines.endswith(b"\n\n"):
        line = reply.readline()
        assert line, "the stream ended"
        lines += line
    return lines


@pytest.mark.parametrize("lab", LABS)
def test_no_address_tells_what_is_sealed(taught: Class, lab: str) -> None:
    run, hidden = taught.runs[lab], secrets(taught, taught.runs[lab])
    case = scene_of(taught, run, taught.ann).case
    behind = send(taught.app, "GET", f"/evidence/{run}/{quote(case)}", Cookie=taught.ann).words
    assert tells(behind, hidden), "its owner sees all of it"
    for cookies in ("", taught.bob):
        for place in ("", quote(case)):
            reply = send(taught.app, "GET", f"/scene/{run}/{place}", Cookie=cookies)
            assert reply.status == 200 and not tells(reply.words, hidden)
            reply = send(taught.app, "GET", f"/evidence/{run}/{place}", Cookie=cookies)
            assert reply.status == 404 and "guess first" in reply.words
            stream, event = first_events(taught.app, cookies, f"/told/{run}/{place}")
            stream.close()
            assert b"event: scene" in event and not tells(event, hidden)
        said = {"id": "1", "run": run, "case": case, "what": "judge", "about": "reading", "value": "right"}
        reply = send(taught.app, "POST", "/said", json.dumps({"said": [said]}).encode(), Cookie=cookies)
        assert json.loads(reply.words).get("kept", []) == [] and reply.status == (200 if cookies else 403)


WAYS = ("", "replay=1", "replay=step", "reader=x", "guess=1", "present=1&at=end", "fork=c0001", "hold=1", "trial=1")


@pytest.mark.parametrize("lab", LABS)
def test_no_page_tells_what_is_sealed(taught: Class, lab: str) -> None:
    run, hidden = taught.runs[lab], secrets(taught, taught.runs[lab])
    others = ",".join(taught.runs.values())
    page = entry.labs()[lab].path
    with Tab(taught.app, taught.bob) as tab:
        for at in ("case", page):
            for named in WAYS:
                drawn = tab.run(at, f"run={run}&{named}")
                assert told_by(drawn, ["This run is sealed"]) and not told_by(drawn, hidden), (at, named)
        for at, named in (
            ("browse", f"show=cases&run={run}"), ("browse", f"show=runs&run={run}"), ("browse", f"at={run}"),
            ("side", f"runs={others}"), ("side", f"runs={run},{run}x"),
            ("compare", f"runs={others}"), ("audit", f"lab={lab}"),
            ("query", ""), ("models", ""), ("methods", ""), ("study", ""), ("", ""),
        ):  # fmt: skip
            assert not told_by(tab.run(at, named), hidden), (at, named)


def told_by(drawn: list[Any], hidden: list[str]) -> list[str]:
    return tells(b"".join(one.SerializeToString() for one in drawn), hidden)


def asked_of_the_store(taught: Class, cookies: str, sql: str) -> bytes:
    """The output of the Query page."""
    with Tab(taught.app, cookies) as tab:
        drawn = tab.run("query")
        field = next(one.text_area.id for one in drawn if one.text_area.id.endswith("-sql"))
        button = next(one.button.id for one in drawn if one.button.id.endswith("-go"))
        typed = [WidgetState(id=field, string_value=sql), WidgetState(id=button, trigger_value=True)]
        return b"".join(one.SerializeToString() for one in tab.run("query", widgets=typed))


def test_the_store_has_nothing_of_it_for_others(taught: Class) -> None:
    run = taught.runs["simulatability"]
    texts = f"select text from calls where run = '{run}'"
    until(lambda: CANARY.encode() in asked_of_the_store(taught, taught.ann, texts))
    runs, sealed = "select run from items union from runs select run", "select about from labels where kind = 'sealed'"
    assert CANARY.encode() not in asked_of_the_store(taught, taught.bob, texts)
    assert run.encode() not in asked_of_the_store(taught, taught.bob, runs)
    assert run.encode() not in asked_of_the_store(taught, taught.bob, sealed)


def unopened(scene: Scene) -> list[Card]:
    return [card for card in scene.cards if card.mark == "sealed" and card.options]


def test_a_guess_opens_its_card_to_who_guessed_and_the_first_one_holds(taught: Class) -> None:
    run, carl, eve = taught.runs["simulatability"], cookie(taught.app), cookie(taught.app)
    scene = scene_of(taught, run, carl)
    whole = {card.id: card for card in scene_of(taught, run, taught.ann).cards}
    first, second, *rest = unopened(scene)
    for value in ("nonsense", ""):
        assert json.loads(guess(taught, carl, scene, first.id, value).words)["kept"] == []
    assert json.loads(guess(taught, carl, scene, "no-such-card", "yes").words)["kept"] == []
    wrong, right = sorted(("yes", "no"), key=lambda value: value == whole[first.id].said)
    answer = json.loads(guess(taught, carl, scene, first.id, wrong).words)
    (opened,) = answer["opened"]
    assert answer["kept"] == [first.id] and [card["id"] for card in opened["news"]["cards"]] == [first.id]
    assert opened["news"]["cards"][0]["said"] == whole[first.id].said and "verdict" not in opened["news"]
    journal = next(taught.folder.glob(f"{run}~guesses-*.jsonl"))
    said = journal.read_text()
    assert said.count('"record":"foretold"') == said.count('"record":"simulation"') == 1, "and what the lab makes of it"
    guess(taught, carl, scene, first.id, right)
    now = scene_of(taught, run, carl)
    assert now.cards[first.number - 1] == whole[first.id].model_copy(update={"guess": wrong}), "after a reload too"
    assert [card.id for card in unopened(now)] == [second.id, *(card.id for card in rest)]
    behind = json.loads(send(taught.app, "GET", f"/evidence/{run}/{quote(scene.case)}", Cookie=carl).words)
    assert behind["calls"] and set(behind["calls"]) <= {
        *whole[first.id].calls, *(one.call for one in whole[first.id].expects)
    }  # fmt: skip
    assert behind["made_with"] == {} and not behind["figures"] and "Exact prompt" not in json.dumps(behind)
    assert unopened(scene_of(taught, run, eve)) == unopened(scene), "nobody else sees it"
    for card in (second, *rest):
        answer = json.loads(guess(taught, carl, scene, card.id, "yes").words)
    assert (
        answer["opened"][0]["news"]["verdict"] == scene_of(taught, run, taught.ann).model_dump(mode="json")["verdict"]
    )
    assert not scene_of(taught, run, carl).is_sealed and scene_of(taught, run, eve).is_sealed


def test_it_is_revealed_to_all_who_watch_and_sealed_again(taught: Class) -> None:
    run = taught.runs["plant"]
    whole = scene_of(taught, run, taught.ann)
    stream, event = first_events(taught.app, taught.bob, f"/told/{run}/")
    other, _ = first_events(taught.app, "", f"/told/{run}/")
    assert not tells(event, secrets(taught, run))
    assert [next_event(one) for one in (stream, other)] == [OVER_FOR_NOW] * 2
    press(taught, run, "Reveal to all")
    for one in (stream, other):
        told = next_event(one)
        assert b"event: changed" in told
        news = json.loads(told.partition(b"data: ")[2])
        assert news["verdict"] == whole.model_dump(mode="json")["verdict"] and not news["is_sealed"]
        assert b"event: over" in next_event(one) and one.read() == b""
    assert scene_of(taught, run, taught.bob) == whole
    press(taught, run, "Make others guess first")
    assert scene_of(taught, run, taught.bob).is_sealed
