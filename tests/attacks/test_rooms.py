"""A class under attack: strangers, other rooms' people, forged cookies, guessed codes, floods, and looks at what is not
revealed.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from typing import Any

import pytest
from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.testclient import TestClient

from core import entry, home, journal
from core.rooms import room
from core.rooms.cards import Source
from core.rooms.rooms import LETTERS, Rooms
from core.server.access import cookie_of, name_of_visitor
from core.server.rate_limits import NoFreePlaceError, Rate
from pages import middleware
from pages.middleware import COOKIE, Door
from pages.viewer import room_routes
from pages.viewer.room_routes import ROOM_ROUTES
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
        is_vote = path == "/room/vote"
        assert reply.status_code in ((409,) if is_vote else (404,)) or reply.status_code == 403, (path, reply.text)
        assert set(reply.json()) == {"why"} and "round" not in reply.text
    assert teacher.get(f"/room/now/wall/{code}").json() == before


@pytest.mark.parametrize(("method", "path", "body"), [*ROUTES, ("POST", "/room/join", {})])
@pytest.mark.parametrize("code", ["", "KTM", "KTMV1", "..%2f..", "AAAA", "🙂", "x" * 5000])
def test_without_a_right_code_nothing_is_told(method: str, path: str, body: Any, code: str) -> None:
    opened(client())
    reply = client("bo").request(
        method, path.format(code=code), json={"code": code, **body} if body is not None else None
    )
    assert reply.status_code in (400, 404, 429), reply.status_code
    assert "round" not in reply.text


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
        await stream.aclose()


def marked(found: Source) -> Source:
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
            assert '"counts"' not in text and '"said": "' not in text.replace('"said": ""', "")


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
        made = room_routes.nickname(f"\u202e<b>{number}\u0301\u0301\u0301\u0301</b>\u2067" * 2)
        assert len(made) <= 24 and "\u202e" not in made


@pytest.mark.parametrize(
    ("path", "body", "status"),
    [
        ("/room/join", b"{", 400),
        ("/room/join", b'{"code": "KTMV", "nickname": "' + b"x" * 201 + b'"}', 400),
        ("/room/vote", b'{"code": "KTMV", "place": 1e99, "value": "yes"}', 400),
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
