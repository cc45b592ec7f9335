"""A class under attack: strangers, other rooms' people, forged cookies, guessed codes, floods, and looks at what is not
revealed.
"""

import asyncio
import http.client
import json
import socket
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, suppress
from typing import Any

import pytest
import uvicorn
from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.testclient import TestClient

from core import entry, home, journal, policy
from core.rooms import room
from core.rooms.cards import CardSource
from core.rooms.rooms import LETTERS, Rooms
from core.rooms.sketches import SketchCard
from core.server import instance
from core.server.access import cookie_of, name_of_visitor
from core.server.usage import NoFreePlaceError, Rate
from pages import connections, middleware
from pages.middleware import ACCESS, COOKIE, Door
from pages.viewer import room_routes
from pages.viewer.room_routes import PHONE_ROUTES, ROOM_ROUTES
from pages.viewer.routes import ROUTES as OTHER_ROUTES
from tests.support.sealed_runs import laid

APP = Starlette(routes=ROOM_ROUTES, middleware=[Middleware(Door)])


@pytest.fixture(autouse=True)
def fresh(own_home: object, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Rooms of this test's home, and limits of which nothing is used up."""
    monkeypatch.setenv("EXPLAIN_TOKEN", "no")
    for name in ("JOINS", "WRONG_OF_ADDRESS", "WRONG_OF_VISITOR", "OPENINGS", "OF_VISITOR", "OF_ADDRESS"):
        limit: Rate = getattr(room_routes, name)
        monkeypatch.setattr(room_routes, name, Rate(limit._burst, limit._per_second))
    made = entry.rooms, entry.jobs
    for one in made:
        one.cache_clear()
    yield
    entry.rooms().close()
    entry.jobs().close()
    for one in made:
        one.cache_clear()


def client(name: str = "teacher", address: str = "10.0.0.1") -> TestClient:
    cookies = {COOKIE: cookie_of(name)} if name else {}
    return TestClient(APP, "http://127.0.0.1", cookies=cookies, client=(address, 5000))


def opened(teacher: TestClient, **wanted: Any) -> str:
    reply = teacher.post("/room/open", json=wanted or {"pack": "first"})
    assert reply.status_code == 200, reply.text
    return str(reply.json()["code"])


def go(teacher: TestClient, code: str, to: str = "next") -> Any:
    now = teacher.get(f"/room/now/wall/{code}").json()
    reply = teacher.post("/room/go", json={"code": code, "phase": now["phase"], "place": now["place"], "to": to})
    assert reply.status_code == 200, reply.text
    return reply.json()


def join(one: TestClient, code: str, nickname: str = "") -> Any:
    return one.post("/room/join", json={"code": code, "nickname": nickname})


def test_a_whole_class() -> None:
    teacher, phones = client(), [client(f"phone{number}") for number in range(3)]
    code = opened(teacher)
    for number, phone in enumerate(phones):
        assert join(phone, code.lower(), f"Nick{number}").json()["phase"] == "lobby"
        assert join(phone, code).status_code == 200, "twice is once"
    wall = teacher.get(f"/room/now/wall/{code}").json()
    assert (wall["run"], wall["pack"]) == ("", "first"), "by these the same cards are presented again"
    assert wall["joined"] == 3 and wall["names"] == ["Nick0", "Nick1", "Nick2"] and wall["qr"]["size"] > 20
    while wall["phase"] != "over":
        wall = go(teacher, code)
        if wall["phase"] == "voting":
            for phone in phones:
                value = next(iter(wall["round"]["card"]["options"]))
                assert phone.post("/room/vote", json={"code": code, "place": wall["place"], "value": value}).json()[
                    "vote"
                ]
    assert len(wall["score"]) >= 3 and wall["models"]
    for form, kind in (("html", "text/html"), ("csv", "text/csv")):
        kept = teacher.get(f"/room/kept/{code}.{form}")
        assert kept.headers["content-type"].startswith(kind) and kept.headers["content-disposition"].startswith(
            "attach"
        )
        assert "Nick" not in kept.text and len(kept.text) > 1000


ROUTES = [
    ("GET", "/room/now/wall/{code}", None),
    ("GET", "/room/now/phone/{code}", None),
    ("GET", "/room/events/wall/{code}", None),
    ("GET", "/room/events/phone/{code}", None),
    ("GET", "/room/kept/{code}.html", None),
    ("GET", "/room/kept/{code}.csv", None),
    ("POST", "/room/vote", {"place": 0, "value": "yes"}),
    ("POST", "/room/rate", {"place": 0, "value": 5}),
    ("POST", "/room/sketch", {"place": 0, "value": [500] * 33}),
    ("POST", "/room/go", {"phase": "voting", "place": 0}),
]


@pytest.mark.parametrize(("method", "path", "body"), ROUTES)
def test_strangers_people_of_other_rooms_and_forged_cookies_get_nothing(method: str, path: str, body: Any) -> None:
    teacher, other, member, stranger = client(), client("other teacher"), client("bo"), client("cy")
    code, theirs = opened(teacher), opened(other, pack="robots")
    join(member, theirs)
    go(teacher, code)
    before = teacher.get(f"/room/now/wall/{code}").json()
    forged = client("")
    forged.cookies.set(COOKIE, cookie_of("teacher").replace("teacher", "someone"))
    for one in (stranger, member, other, forged, client("")):
        sent = {"code": code, **body} if body else None
        reply = one.request(method, path.format(code=code), json=sent)
        is_vote = path in ("/room/vote", "/room/rate", "/room/sketch")
        assert reply.status_code in ((409,) if is_vote else (404,)) or reply.status_code == 403, (path, reply.text)
        assert set(reply.json()) == {"why"} and "round" not in reply.text
    assert teacher.get(f"/room/now/wall/{code}").json() == before


@pytest.mark.sampled(3)
@pytest.mark.parametrize(("method", "path", "body"), [*ROUTES, ("POST", "/room/join", {})])
@pytest.mark.parametrize("code", ["", "KTM", "KTMV1", "..%2f..", "AAAA", "🙂", "x" * 5000])
def test_without_a_right_code_nothing_is_told(method: str, path: str, body: Any, code: str) -> None:
    opened(client())
    reply = client("bo").request(
        method, path.format(code=code), json={"code": code, **body} if body is not None else None
    )
    assert reply.status_code in (400, 404, 429), reply.status_code
    assert "round" not in reply.text


def test_a_class_without_a_pack_has_the_cards_of_the_front_page() -> None:
    teacher = client()
    code = teacher.post("/room/open", json={}).json()["code"]
    assert entry.rooms().find(code).room.opened.pack == "first"
    assert opened(teacher, pack="first") == code, "it is the same class"


def test_a_member_is_not_the_teacher() -> None:
    teacher, member = client(), client("bo")
    code = opened(teacher)
    join(member, code)
    for path in (f"/room/now/wall/{code}", f"/room/kept/{code}.html", f"/room/events/wall/{code}"):
        assert member.get(path).status_code == 404
    going = {"code": code, "phase": "lobby", "place": -1}
    assert member.post("/room/go", json=going).status_code == 404
    assert teacher.get(f"/room/now/wall/{code}").json()["phase"] == "lobby"


async def first_event(code: str, visitor: str, screen: str) -> str:
    live = entry.rooms().find(code)
    make = (
        (lambda: room_routes._phone(live, visitor)) if screen == "phone" else (lambda: live.view(type(live.room).wall))
    )
    stream = room_routes._told(live, make, screen == "wall")
    try:
        return await anext(stream)
    finally:
        await stream.aclose()  # type: ignore[attr-defined]


def marked(found: CardSource) -> CardSource:
    """The same cards, whose answers hold a word of their own."""
    cards = (
        one.model_copy(update={"card": one.card.model_copy(update={"text": f"canary-{number}-", "came": ""})})
        for number, one in enumerate(found.cards)
    )
    return found._replace(cards=tuple(cards))


def test_nothing_tells_the_answer_or_a_vote_before_the_reveal(monkeypatch: pytest.MonkeyPatch) -> None:
    source = marked(entry.rooms().source("", "first"))
    monkeypatch.setattr(Rooms, "source", lambda self, run, pack: source)
    teacher, phones = client(), [client(f"phone{number}") for number in range(2)]
    code = opened(teacher)
    for phone in phones:
        join(phone, code)
    live = entry.rooms().find(code).room
    while live.phase != "over":
        wall = go(teacher, code)
        if wall["phase"] not in ("voting", "closed"):
            continue
        for phone in phones if wall["phase"] == "voting" else ():
            phone.post("/room/vote", json={"code": code, "place": wall["place"], "value": "yes"})
            phone.post("/room/rate", json={"code": code, "place": wall["place"], "value": 4})
        visitors = [name_of_visitor(f"phone{number}") for number in range(2)]
        told = [
            teacher.get(f"/room/now/wall/{code}").text,
            teacher.get(f"/room/kept/{code}.html").text,
            teacher.get(f"/room/kept/{code}.csv").text,
            *(phone.get(f"/room/now/phone/{code}").text for phone in phones),
            *(asyncio.run(first_event(code, visitor, "phone")) for visitor in visitors),
            asyncio.run(first_event(code, "", "wall")),
        ]
        for text in told:
            assert not any(card.card.text in text for card in live.cards[live.place :])
            assert all(card.card.text in told[1] for card in live.cards[: live.place])
            assert '"counts"' not in text and '"ratings"' not in text
            assert '"said": "' not in text.replace('"said": ""', "")


def test_nothing_tells_a_function_or_another_curve_before_the_reveal() -> None:
    teacher, phones = client(), [client(f"phone{number}") for number in range(2)]
    code = opened(teacher, pack="function-20261126")
    for phone in phones:
        join(phone, code)
    go(teacher, code)
    for number, phone in enumerate(phones):
        sent = {"code": code, "place": 0, "value": [700 + number] * 33}
        assert phone.post("/room/sketch", json=sent).status_code == 200
        for value in ([700] * 32, [1_001] * 33, [-1] * 33):
            assert phone.post("/room/sketch", json={**sent, "value": value}).status_code == 400
    [card] = entry.rooms().find(code).room.cards
    assert isinstance(card, SketchCard)
    secret = {str(y) for y in card.function.y if y is not None} - {str(point.y) for point in card.seen}
    for _ in range(2):
        told = [
            *(
                teacher.get(f"/room/{path}").text
                for path in (f"now/wall/{code}", f"kept/{code}.html", f"kept/{code}.csv")
            ),
            asyncio.run(first_event(code, "", "wall")),
            *(phone.get(f"/room/now/phone/{code}").text for phone in phones),
            *(asyncio.run(first_event(code, name_of_visitor(f"phone{number}"), "phone")) for number in range(2)),
        ]
        assert not any(value in text for value in secret for text in told)
        assert [("700,700" in text, "701,701" in text) for text in told] == [
            *[(False, False)] * 4,
            *[(True, False), (False, True)] * 2,
        ]
        wall = go(teacher, code)
    assert wall["phase"] == "revealed" and len(wall["sketches"]) == 2 and secret & set(json.dumps(wall).split(", "))


def test_a_sealed_run_is_presented_by_who_may_see_it_and_by_nobody_else() -> None:
    run = laid(home.journals(), "simulatability", name_of_visitor("teacher"))
    teacher, student = client(), client("student")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("EXPLAIN_OTHERS", "no")
        for _ in range(2):
            reply = student.post("/room/open", json={"run": run})
            assert reply.status_code == 404 and "code" not in reply.json()
            entry.jobs().keeping.share(run, True)
            entry.jobs().keeping.seal(run, True)
        assert opened(teacher, run=run)


def test_codes_are_not_guessed_and_a_right_one_costs_nothing() -> None:
    code = opened(client())
    for number in range(100):
        assert join(client(f"phone{number}"), code).status_code == 200
    guesser = client("guesser", "10.0.0.9")
    replies = [join(guesser, f"{LETTERS[n % 20]}{LETTERS[n // 20]}BB").status_code for n in range(12)]
    assert replies.count(404) <= 6 and replies[-1] == 429
    assert join(guesser, code).status_code == 429, "while wrong ones keep it waiting, a right one is not looked at"
    tried = [join(client(f"guesser{n}", "10.0.0.9"), f"{LETTERS[n % 20]}{LETTERS[n // 20]}CC") for n in range(60)]
    assert sum(reply.status_code == 404 for reply in tried) <= 40
    assert join(client("honest", "10.0.0.2"), code).status_code == 200


def test_a_flood_of_people_ends_at_the_room_and_names_stay_text(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(room, "MOST_PEOPLE", 60)
    code = opened(teacher := client())
    names = ["<img src=x onerror=alert(1)>", "\u202egnp.exe", "a" * 150, "\u0000\u2066\ufeff", "\u202e" * 3, "ok"]
    statuses = [
        join(client(f"flood{number}", f"10.0.{number % 20}.1"), code, names[number % len(names)]).status_code
        for number in range(80)
    ]
    assert statuses == [200] * 60 + [409] * 20
    wall = teacher.get(f"/room/now/wall/{code}").json()
    assert wall["joined"] == 60 and len(wall["names"]) <= 40
    assert all(
        len(name) <= 24 and not any(mark in name for mark in "\u202e\u2066\u0000\ufeff") for name in wall["names"]
    )


def test_a_flood_from_one_address_waits(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(room_routes, "JOINS", Rate(20, 0.001))
    code = opened(client())
    statuses = [join(client(f"flood{number}"), code).status_code for number in range(30)]
    assert statuses == [200] * 20 + [429] * 10
    assert join(client("elsewhere", "10.0.0.7"), code).status_code == 200


def test_ten_thousand_nicknames_are_each_cleaned_in_little_time() -> None:
    for number in range(10_000):
        made = room_routes.nickname(f"\u202e<b>{number}\u0301\u0301\u0301\u0301</b>\u2067" * 2)  # type: ignore[attr-defined]
        assert len(made) <= 24 and "\u202e" not in made


@pytest.mark.parametrize(
    ("path", "body", "status"),
    [
        ("/room/join", b"{", 400),
        ("/room/join", b'{"code": "KTMV", "nickname": "' + b"x" * 201 + b'"}', 400),
        ("/room/vote", b'{"code": "KTMV", "place": 1e99, "value": "yes"}', 400),
        ("/room/rate", b'{"code": "KTMV", "place": 0, "value": "5x"}', 400),
        ("/room/rate", b'{"code": "KTMV", "place": 0, "value": 1e99}', 400),
        ("/room/sketch", b'{"code": "KTMV", "place": 0, "value": [' + b"0," * 200 + b"0]}", 400),
        ("/room/sketch", b'{"code": "KTMV", "place": 0, "value": [NaN]}', 400),
        ("/room/vote", b" " * 2_001, 429),
        ("/room/open", b"[" * 1_500, 400),
        ("/room/go", b'{"code": "KTMV", "phase": "voting", "place": 0, "to": "start"}', 400),
    ],
)
def test_what_is_no_request_is_refused(path: str, body: bytes, status: int) -> None:
    assert client().post(path, content=body).status_code == status


def test_a_page_from_elsewhere_changes_nothing() -> None:
    code = opened(teacher := client())
    going = {"code": code, "phase": "lobby", "place": -1}
    for path, body in (("/room/go", going), ("/room/join", {"code": code}), ("/room/open", {"pack": "first"})):
        assert teacher.post(path, json=body, headers={"origin": "http://evil.example"}).status_code == 403


def test_votes_sent_at_the_same_time_are_each_counted_once() -> None:
    teacher, phones = client(), [client(f"phone{number}") for number in range(40)]
    code = opened(teacher)
    for phone in phones:
        join(phone, code)
    go(teacher, code)
    with ThreadPoolExecutor(8) as pool:
        sent = [*phones, *phones]
        replies = [*pool.map(lambda one: one.post("/room/vote", json={"code": code, "place": 0, "value": "yes"}), sent)]
    assert all(reply.status_code == 200 for reply in replies)
    go(teacher, code)
    assert sum(map(sum, go(teacher, code)["counts"].values())) == 40
    entry.rooms().close()
    again = Rooms(home.home() / "rooms", entry.labs(), (home.journals(), home.recordings())).find(code)
    assert sum(map(sum, again.room.counts(0).values())) == 40
    assert journal.read(again.path).faults == []


def test_the_page_of_a_phone_is_small_and_holds_no_room() -> None:
    opened(client())
    for path in ("/join", "/wall"):
        reply = client("").get(path, headers={"accept-encoding": "gzip"})
        assert reply.headers["content-encoding"] == "gzip" and int(reply.headers["content-length"]) < 60_000
        assert COOKIE in reply.headers["set-cookie"] and "default-src" in reply.headers["content-security-policy"]
        assert client("").get(path, headers={"accept-encoding": "identity"}).text == reply.text


@pytest.mark.parametrize(
    ("hosts", "asked", "shown"),
    [
        ("", "127.0.0.1:8501", ("127.0.0.1:8501/join", False)),
        ("class.example.org", "127.0.0.1:8501", ("class.example.org:8501/join", True)),
        ("class.example.org", "class.example.org", ("class.example.org/join", True)),
    ],
)
def test_the_wall_says_where_phones_join(
    hosts: str, asked: str, shown: tuple[str, bool], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("EXPLAIN_HOSTS", hosts)
    teacher = client()
    code = opened(teacher)
    wall = teacher.get(f"/room/now/wall/{code}", headers={"host": asked}).json()
    assert (wall["address"], wall["is_reached"]) == shown


def test_the_code_on_the_wall_lets_phones_in_where_others_need_the_hosts(monkeypatch: pytest.MonkeyPatch) -> None:
    teacher, phone = client(), client("phone")
    code = opened(teacher)
    monkeypatch.setenv("EXPLAIN_PARTICIPANT_CODE", "a long code")
    assert join(phone, code).json()["phase"] == "lobby"
    assert phone.get(f"/room/now/phone/{code}").status_code == 200
    assert phone.post("/room/open", json={"pack": "first"}).status_code == 404, "they open nothing themselves"


def test_a_visitor_holds_few_streams_of_a_class(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("EXPLAIN_TABS", "1")
    scope = {"type": "http", "path": "/room/events/phone/KTMV", "headers": [], "client": ("10.0.0.1", 1)}
    with ExitStack() as places:
        for _ in range(2):
            middleware._take_places(scope, places)
        with pytest.raises(NoFreePlaceError, match="too many runs"):
            middleware._take_places(scope, places)


OWN = "127.0.0.2"
"""Stands for the machine's address on the local network."""


class Own:
    """The app on a person's own machine, whose address has a token, and the port of its listener for phones."""

    def __init__(self, port: int, teacher: TestClient) -> None:
        self.port, self.teacher = port, teacher
        self.code = opened(teacher)

    def let_in(self) -> Any:
        return self.teacher.post("/room/let-in", json={"code": self.code})

    def phone(self, method: str, path: str, body: Any = None, **headers: str) -> tuple[int, str, dict[str, str]]:
        """The status, the text and the headers of what the listener for phones answers."""
        sent = json.dumps({"code": self.code, **body}) if body is not None else None
        connection = http.client.HTTPConnection(OWN, self.port, timeout=20)
        try:
            connection.request(method, path, sent, headers)
            reply = connection.getresponse()
            heard = {name.lower(): value for name, value in reply.getheaders()}
            return reply.status, reply.read().decode("utf-8", "replace"), heard
        finally:
            connection.close()


@pytest.fixture
def own(monkeypatch: pytest.MonkeyPatch) -> Iterator[Own]:
    monkeypatch.setenv("EXPLAIN_TOKEN", "yes")
    monkeypatch.setenv("EXPLAIN_CLASS_ADDRESS", OWN)
    for name in ("startup", "shutdown"):
        monkeypatch.setattr(uvicorn.Server, name, getattr(uvicorn.Server, name))
    monkeypatch.setattr(connections, "_files", None)
    monkeypatch.setattr(connections, "_raised", lambda: 4096)
    with socket.socket() as free:
        free.bind((OWN, 0))
        port = free.getsockname()[1]
    app = Starlette(routes=[*OTHER_ROUTES, *ROOM_ROUTES], middleware=[Middleware(Door)])
    cookies = {COOKIE: cookie_of("teacher"), f"{ACCESS}_{port - 1}": instance.cookie()}
    with TestClient(app, f"http://127.0.0.1:{port - 1}", cookies=cookies, client=("127.0.0.1", 5000)) as teacher:
        yield Own(port, teacher)
        assert teacher.portal is not None
        teacher.portal.call(room_routes.close)


def test_phones_join_a_class_on_ones_own_machine_once_they_are_let_in(own: Own) -> None:
    wall = own.teacher.get(f"/room/now/wall/{own.code}").json()
    assert (wall["is_reached"], wall["offer"]) == (False, f"{OWN}:{own.port}")
    with pytest.raises(ConnectionRefusedError):
        own.phone("GET", "/join")
    wall = own.let_in().json()
    assert (wall["is_reached"], wall["address"], wall["offer"]) == (True, f"{OWN}:{own.port}/join", "")
    assert own.let_in().status_code == 200, "twice is once"
    status, _, headers = own.phone("GET", "/join")
    cookie = headers["set-cookie"].partition(";")[0]
    assert status == 200 and cookie.startswith(COOKIE) and ACCESS not in headers["set-cookie"]
    assert own.phone("POST", "/room/join", {}, cookie=cookie)[0] == 200
    go(own.teacher, own.code)
    assert own.phone("POST", "/room/vote", {"place": 0, "value": "yes"}, cookie=cookie)[0] == 200
    assert own.phone("GET", f"/room/now/phone/{own.code}", cookie=cookie)[0] == 200
    assert own.teacher.get(f"/room/now/wall/{own.code}").json()["voted"] == 1
    assert not policy.is_hosted()


def test_the_listener_for_phones_serves_nothing_else_to_anybody(own: Own) -> None:
    own.let_in()
    for_phones = {route.path for route in PHONE_ROUTES}  # type: ignore[attr-defined]
    paths = {route.path for route in (*OTHER_ROUTES, *ROOM_ROUTES)} - for_phones  # type: ignore[attr-defined]
    assert "/wall" in paths and "/room/now/wall/{code:str}" in paths and len(paths) > 8
    of_streamlit = (
        "/",
        "/_stcore/stream",
        "/_stcore/health",
        "/_stcore/metrics",
        "/_stcore/upload_file/a/b",
        "/media/a",
    )
    tricks = (
        "/index",
        "/join/",
        "//join",
        "/join/../wall",
        "/JOIN",
        "/join%2f..%2fwall",
        "/static/../app.py",
        "/app/static/a",
    )
    known = "; ".join(f"{name}={value}" for name, value in own.teacher.cookies.items())
    for path in (*paths, *of_streamlit, *tricks):
        asked = path.replace("{code:str}", own.code).replace("{form:str}", "csv").replace("{", "").replace("}", "")
        for method in ("GET", "POST", "PUT", "DELETE"):
            for cookie in ("", known):
                status, words, headers = own.phone(method, asked, {} if method != "GET" else None, cookie=cookie)
                assert (status, words) == (404, "Not Found"), (method, asked)
                assert "set-cookie" not in headers and "location" not in headers and "server" not in headers


def test_the_listener_for_phones_answers_to_its_own_name_and_pages_alone(own: Own) -> None:
    own.let_in()
    for host in ("127.0.0.1", f"localhost:{own.port}", "evil.example", "", "[", f"{OWN}.evil.example"):
        status, _, headers = own.phone("GET", "/join", host=host)
        assert status in (400, 403) and "set-cookie" not in headers, host
    assert own.phone("POST", "/room/join", {}, origin="http://evil.example")[0] == 403
    assert own.phone("POST", "/room/join", {}, origin=f"http://127.0.0.1:{own.port - 1}")[0] == 403


def test_the_listener_for_phones_takes_no_token_and_gives_no_right_in_the_app(own: Own) -> None:
    own.let_in()
    token = instance.address("").partition("=")[2]
    status, _, headers = own.phone("GET", f"/join?token={token}")
    assert status == 200 and ACCESS not in headers["set-cookie"] and "location" not in headers
    name, _, value = headers["set-cookie"].partition(";")[0].partition("=")
    stranger = TestClient(own.teacher.app, f"http://127.0.0.1:{own.port - 1}", cookies={name: value})
    for path in ("/join", "/wall", f"/room/now/wall/{own.code}", "/play"):
        assert stranger.get(path).status_code == 403, path
    assert stranger.post("/room/let-in", json={"code": own.code}).status_code == 403


@pytest.mark.parametrize("path", ["/_stcore/stream", "/join"])
def test_the_listener_for_phones_opens_no_websocket(own: Own, path: str) -> None:
    own.let_in()
    upgrade = {"connection": "Upgrade", "upgrade": "websocket", "sec-websocket-version": "13"}
    status, _, _ = own.phone("GET", path, **upgrade, **{"sec-websocket-key": "dGhlIHNhbXBsZSBub25jZQ=="})
    assert status == (200 if path == "/join" else 404)


def test_phones_are_limited_by_their_own_address(own: Own, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(room_routes, "JOINS", Rate(1, 0.001))
    own.let_in()
    cookie = f"{COOKIE}={cookie_of('phone')}"
    replies = [
        own.phone("POST", "/room/join", {}, cookie=cookie, **{"x-forwarded-for": f"10.0.0.{n}"}) for n in range(2)
    ]
    assert [status for status, *_ in replies] == [200, 429]
    monkeypatch.setattr(middleware, "_NEW_COOKIES", Rate(1, 0.001))
    assert ["set-cookie" in own.phone("GET", "/join")[2] for _ in range(2)] == [True, False]


def test_a_phone_that_stalls_is_cut_off(own: Own, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(connections, "UNFINISHED_SECONDS", 0.1)
    monkeypatch.setattr(connections, "_PACE", 0.05)
    own.let_in()
    for part in (
        b"",
        b"GET /join HTTP/1.1\r\nHost:",
        b"POST /room/join HTTP/1.1\r\nHost: 127.0.0.2\r\nContent-Length: 90\r\n\r\n{",
    ):
        with socket.create_connection((OWN, own.port), timeout=20) as slow:
            slow.sendall(part)
            with suppress(ConnectionResetError):
                assert slow.recv(100) == b""


def test_phones_never_take_the_place_of_the_person_whose_machine_it_is(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(middleware, "STREAMS_OF_PHONE", 1)
    monkeypatch.setattr(connections, "_files", 8)
    page = {"type": "http", "path": "/", "headers": [], "client": ("127.0.0.1", 1)}
    with ExitStack() as places:
        for number in range(3):
            phone = {**page, "path": "/join", middleware.PHONES: OWN, "client": (f"10.0.0.{number}", 1)}
            middleware._take_places(phone, places)
        with pytest.raises(NoFreePlaceError):
            middleware._take_places({**phone, "path": "/_stcore/health", "client": ("10.0.0.9", 1)}, places)
        middleware._take_places(page, places)
    stream = {**phone, "path": "/room/events/phone/KTMV"}
    with ExitStack() as places:
        for _ in range(2):
            middleware._take_places(stream, places)
        with pytest.raises(NoFreePlaceError, match="too many runs"):
            middleware._take_places(stream, places)


def test_only_the_teacher_lets_phones_in_and_a_hosted_app_needs_no_listener(
    own: Own, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("EXPLAIN_TOKEN", "no")
    member = TestClient(own.teacher.app, f"http://127.0.0.1:{own.port - 1}", cookies={COOKIE: cookie_of("bo")})
    join(member, own.code)
    assert member.post("/room/let-in", json={"code": own.code}).status_code == 404
    monkeypatch.setenv("EXPLAIN_HOSTS", "class.example.org")
    assert own.let_in().status_code == 409
    assert own.teacher.get(f"/room/now/wall/{own.code}").json()["offer"] == ""
    with pytest.raises(ConnectionRefusedError):
        own.phone("GET", "/join")


def test_where_phones_cannot_be_let_in_the_wall_says_why(own: Own, monkeypatch: pytest.MonkeyPatch) -> None:
    with socket.socket() as other:
        other.bind((OWN, own.port))
        other.listen()
        reply = own.let_in()
    assert reply.status_code == 503 and "another program uses it" in reply.json()["why"]
    assert own.let_in().status_code == 200, "once the other program has ended"
    monkeypatch.setenv("EXPLAIN_CLASS_ADDRESS", "203.0.113.7")
    assert own.let_in().status_code == 503, "an address of another machine"
    assert own.phone("GET", "/join")[0] == 200
    monkeypatch.setattr(policy, "class_address", lambda: "127.0.0.1")
    assert "not on a network" in own.let_in().json()["why"]


def test_the_listener_for_phones_stops_with_the_app(own: Own) -> None:
    own.let_in()

    async def stop() -> None:
        server = uvicorn.Server(uvicorn.Config(APP, lifespan="off"))
        server.servers, server.force_exit = [], True
        await server.shutdown()

    with socket.create_connection((OWN, own.port), timeout=20) as waiting:
        cookie = f"{COOKIE}={cookie_of('phone')}"
        own.phone("POST", "/room/join", {}, cookie=cookie)
        waiting.sendall(
            f"GET /room/events/phone/{own.code} HTTP/1.1\r\nHost: {OWN}\r\nCookie: {cookie}\r\n\r\n".encode()
        )
        assert waiting.recv(10_000).startswith(b"HTTP/1.1 200")
        assert own.teacher.portal is not None
        own.teacher.portal.call(stop)
        with pytest.raises(ConnectionRefusedError):
            own.phone("GET", "/join")
        with suppress(ConnectionResetError):
            while waiting.recv(10_000):
                pass


def test_the_address_of_a_class_is_found_without_a_setting(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("EXPLAIN_CLASS_ADDRESS", raising=False)
    found = room_routes.phone_address(8501)
    assert (found == "" or found.endswith(":8502")) and not found.startswith(("127.", "0."))
