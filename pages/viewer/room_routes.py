"""What the wall and the phones of a class ask the server for, without a Streamlit session, and the listener for phones
on the local network. A phone is known by the visitor's signed cookie; who has joined a room is in the room's journal.
Only its owner sees a room's wall.
"""

import asyncio
import json
import os
import socket
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from functools import wraps
from typing import Annotated, Any, Literal, TypeVar
from urllib.parse import urlsplit

import uvicorn
from pydantic import Field, ValidationError
from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import BaseRoute, Route

from core import entry, home, policy
from core.errors import ExplainError
from core.events import Frozen
from core.journal import JournalFullError, JournalInUseError
from core.report.game.pack import GamePackError
from core.report.standalone_html import FIRST
from core.rooms import rooms
from core.rooms.events import Rated, Sketched, Voted, nickname
from core.rooms.room import Room, RoomStateError
from core.rooms.rooms import LiveRoom, RoomNotFoundError
from core.runs.library import RunNotFoundError
from core.server.access import CookiesNeededError, code_in, name_of_visitor
from core.server.quotas import QuotaExceededError, check_stored
from core.server.usage import Rate
from pages import connections
from pages.middleware import COOKIE, Door, is_sealed, port
from pages.viewer.routes import FRESH, OF_ADDRESS, OF_VISITOR, Answer, address_of, body_of, event_stream, visit

# The listener for the phones of a class on a person's own machine: on the local network it serves what a phone
# needs, and nothing else. The app itself stays on loopback and is not hosted.


class NotOpenedError(ExplainError):
    """Phones cannot be let in; the message says why, and what to do."""


class _Server(uvicorn.Server):
    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Leave signals to the app's server."""
        yield


_shutdown = uvicorn.Server.shutdown


async def _stopped(server: uvicorn.Server, sockets: list[socket.socket] | None = None) -> None:
    """Close the listener as soon as the app's server begins to stop, which may then wait for open pages."""
    if not isinstance(server, _Server):
        await close()
    await _shutdown(server, sockets)


_listening: dict[str, tuple[_Server, asyncio.Task[None]]] = {}
"""The listener by its address; at most one."""


def phone_address(port: int) -> str:
    """Return where phones may reach a class, as `host:port`: on the port after the app's own `port`. An empty string if
    the app is hosted, or if this machine is in no network.
    """
    if policy.is_hosted():
        return ""
    host = policy.class_address()
    if not host:
        # Connecting a UDP socket sends nothing: the system only chooses the address from which it would send.
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as unsent, suppress(OSError):
            unsent.connect(("192.0.2.1", 9))
            host = unsent.getsockname()[0]
    return f"{host}:{port + 1}" if host and host not in policy.LOOPBACK else ""


def is_open(place: str) -> bool:
    """Whether phones reach a class at that `host:port`."""
    return place in _listening


async def let_in(place: str, routes: Sequence[BaseRoute]) -> None:
    """Serve `routes` at that `host:port`, and nowhere else from now on. Raises NotOpenedError."""
    if is_open(place):
        return
    host, _, port = place.rpartition(":")
    if not host:
        raise NotOpenedError(
            "This computer is not on a network. Connect it to the network that the phones use, then try again."
        )
    listener = socket.socket(socket.AF_INET)
    try:
        if os.name == "posix":
            listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind((host, int(port)))
        listener.listen()
    except (OSError, OverflowError):
        listener.close()
        raise NotOpenedError(
            f"Phones cannot be let in at {place}: another program uses it, or this computer does not have this "
            "address. Close the other program, or start the app on another port, then try again."
        ) from None
    connections.bound()
    app = Starlette(routes=[*routes], middleware=[Middleware(Door, phones_at=host)])
    app.router.redirect_slashes = False
    server = _Server(
        uvicorn.Config(
            app,
            lifespan="off",
            ws="none",
            proxy_headers=False,
            server_header=False,
            access_log=False,
            log_config=None,
        )
    )
    uvicorn.Server.shutdown = _stopped  # type: ignore[method-assign, assignment]
    _listening[place] = server, asyncio.create_task(server.serve([listener]))
    await close(but=place)


async def close(but: str = "") -> None:
    """Close the listener, unless it is the one at that place."""
    for place in {*_listening} - {but}:
        server, serving = _listening.pop(place)
        # Phones hold streams that end only with their connection.
        server.should_exit = server.force_exit = True
        await asyncio.wait([serving])
        for one in [*server.server_state.connections]:
            one.transport.abort()


LONGEST = 2_000
"""Bytes of a request."""

JOINS = Rate(600, 5)
"""People who join from one address: two large classes at the same time, and then five people a second."""

WRONG_OF_ADDRESS, WRONG_OF_VISITOR = Rate(40, 0.1), Rate(6, 0.1)
"""Wrong codes, of which there are 160,000 in all. While one has none left, right codes are not looked at either."""

OPENINGS = Rate(10, 1 / 60)
"""Rooms that a visitor opens."""

WAITING = 1_000
"""Votes and other changes that may wait to be kept."""

HEARTBEAT = 15.0
"""Seconds after which a stream says that it is still there."""

CALM = 0.2
"""Seconds between two pictures of the wall, however many people vote meanwhile."""

_WRITER = ThreadPoolExecutor(1, "rooms")
"""Changes rooms, one after the other. It takes no thread from those who look."""


_STATUS: dict[type[Exception], int] = {
    CookiesNeededError: 403,
    RunNotFoundError: 404,
    RoomNotFoundError: 404,
    GamePackError: 404,
    RoomStateError: 409,
    QuotaExceededError: 429,
    JournalInUseError: 503,
    JournalFullError: 503,
    home.DataDirError: 503,
    NotOpenedError: 503,
}

T = TypeVar("T")
_waiting = 0


class Opening(Frozen):
    """A class is to be opened with cards of a run or of a pack, or with those of the front page if neither is named;
    `again`: a new one, also where one is going on.
    """

    run: Annotated[str, Field(max_length=200)] = ""
    pack: Annotated[str, Field(max_length=100)] = ""
    again: bool = False


class InRoom(Frozen):
    """What is said to the room with that code."""

    code: Annotated[str, Field(max_length=20)]


class Joining(InRoom):
    """Somebody joins."""

    nickname: Annotated[str, Field(max_length=200)] = ""


class OnCard(InRoom):
    """What is said about the card at that place, from 0: a value that one of the records in `core.rooms.events` has."""

    place: int
    value: Any


class Going(InRoom):
    """The teacher goes on from there, or to the result."""

    phase: Annotated[str, Field(max_length=20)]
    place: int
    to: Literal["next", "end"] = "next"


def _refused(answer: Answer) -> Answer:
    """Say what is not possible in words, as JSON."""

    @wraps(answer)
    async def answered(request: Request) -> Response:
        try:
            return await answer(request)
        except tuple(_STATUS) as error:
            status = next(status for kind, status in _STATUS.items() if isinstance(error, kind))
            return JSONResponse({"why": str(error)}, status_code=status, headers=FRESH)
        except ValidationError:
            return JSONResponse({"why": "This is not what the page of a class sends."}, status_code=400)

    return answered


def _visitor(request: Request) -> str:
    """The name of the visitor. Raises CookiesNeededError."""
    if not (code := code_in(request.cookies.get(COOKIE, ""))):
        raise CookiesNeededError
    return name_of_visitor(code)


async def _body(request: Request, kind: type[T]) -> T:
    """What was sent. Raises ValidationError, and QuotaExceededError where it is too long."""
    if (body := await body_of(request, LONGEST)) is None:
        raise QuotaExceededError("This is more than the page of a class sends.")
    made: T = kind.model_validate_json(body)  # type: ignore[attr-defined]
    return made


async def _in_turn(does: Callable[[], T]) -> T:
    """Do it after what came before. Raises QuotaExceededError where too much waits, and what it raises."""
    global _waiting
    if _waiting >= WAITING:
        raise QuotaExceededError("Too many people vote at the same moment. Try again.")
    _waiting += 1
    try:
        return await asyncio.get_running_loop().run_in_executor(_WRITER, does)
    finally:
        _waiting -= 1


async def _room(request: Request, code: str) -> LiveRoom:
    """The room with that code, which is looked at only while few wrong ones came from there. Raises RoomNotFoundError,
    QuotaExceededError and GamePackError.
    """
    visitor, address = _visitor(request), address_of(request)
    limits = (WRONG_OF_VISITOR, visitor), (WRONG_OF_ADDRESS, address)
    if not all(limit.take(who) for limit, who in limits):
        raise QuotaExceededError("Too many wrong codes came from here. Wait a minute, then try again.")
    if not entry.rooms().knows(code):
        raise RoomNotFoundError
    # At once: a whole class may come from one address at the same moment.
    for limit, who in limits:
        limit.take(who, -1)
    live = entry.rooms().in_memory(code)
    return live if live else await _in_turn(lambda: entry.rooms().find(code))


async def _own_room(request: Request, code: str) -> LiveRoom:
    """The same where the visitor opened it. Raises RoomNotFoundError for others, and what `_room` raises."""
    live = await _room(request, code)
    if live.owner != _visitor(request):
        raise RoomNotFoundError
    return live


@_refused
async def _open(request: Request) -> Response:
    wanted, who = await _body(request, Opening), visit(request)
    visitor = _visitor(request)
    pack = wanted.pack or ("" if wanted.run else FIRST)
    who.must_take_part()
    if not OPENINGS.take(visitor):
        raise QuotaExceededError("You opened many classes in a short time. Wait a minute, then try again.")

    def found() -> Any:
        check_stored(home.journals())
        if wanted.run:
            who.run(wanted.run)
        return entry.rooms().source(wanted.run, pack)

    source = await run_in_threadpool(found)
    live = await _in_turn(lambda: entry.rooms().open(visitor, wanted.run, pack, source, wanted.again))
    return JSONResponse({"code": live.room.opened.code}, headers=FRESH)


@_refused
async def _join(request: Request) -> Response:
    wanted, visitor = await _body(request, Joining), _visitor(request)
    if not JOINS.take(address_of(request)):
        raise QuotaExceededError("Many people join from your network right now. Try again in a few seconds.")
    live = await _room(request, wanted.code)
    await _in_turn(lambda: live.join(visitor, nickname(wanted.nickname)))
    live.notify()
    return JSONResponse(_phone(live, visitor), headers=FRESH)


def _keeping(name: str, record: type[Voted | Sketched | Rated], field: str = "value") -> Answer:
    """A route that keeps what a visitor says about a card, not too often, and answers with it under that name."""

    @_refused
    async def answer(request: Request) -> Response:
        wanted, visitor = await _body(request, OnCard), _visitor(request)
        given = record.model_validate({"place": wanted.place, field: wanted.value})
        if not (OF_VISITOR.take(visitor) and OF_ADDRESS.take(address_of(request))):
            raise QuotaExceededError("Too many votes came from here. Try again in a few seconds.")
        live = await _room(request, wanted.code)
        await _in_turn(lambda: live.give(visitor, given))
        live.notify()
        return JSONResponse({name: wanted.value, "place": wanted.place}, headers=FRESH)

    return answer


@_refused
async def _go(request: Request) -> Response:
    wanted = await _body(request, Going)
    live = await _own_room(request, wanted.code)
    if await _in_turn(lambda: live.move(wanted.phase, wanted.place, wanted.to == "end")):
        live.notify(is_move=True)
    return JSONResponse(_wall(live, request), headers=FRESH)


@_refused
async def _let_in(request: Request) -> Response:
    live = await _own_room(request, (await _body(request, InRoom)).code)
    if policy.is_hosted():
        raise RoomStateError("Phones reach this app already.")
    await let_in(phone_address(port(request.scope)), PHONE_ROUTES)
    live.notify()
    return JSONResponse(_wall(live, request), headers=FRESH)


@_refused
async def _now(request: Request) -> Response:
    return JSONResponse((await _view(request))[1](), headers=FRESH)


@_refused
async def _events(request: Request) -> Response:
    live, view, is_wall = await _view(request)
    return event_stream(_told(live, view, is_wall))


async def _view(request: Request) -> tuple[LiveRoom, Callable[[], dict[str, Any]], bool]:
    """The room that the address names, what makes the visitor's picture of it, and whether that is the wall. Raises
    RoomNotFoundError for who may not see it, and what `_room` raises.
    """
    code, visitor = request.path_params["code"], _visitor(request)
    if request.url.path.split("/")[3] == "wall":
        live = await _own_room(request, code)
        return live, lambda: _wall(live, request), True
    live = await _room(request, code)
    if live.person(visitor) not in live.room.people:
        raise RoomNotFoundError
    return live, lambda: _phone(live, visitor), False


async def _told(live: LiveRoom, view: Callable[[], dict[str, Any]], is_wall: bool) -> AsyncIterator[str]:
    """The picture as server-sent events, whole whenever it has changed. Phones are told when the class moves on."""
    changed, told = asyncio.Event(), ""

    def notice(is_move: bool) -> None:
        if is_wall or is_move:
            changed.set()

    live.watchers.add(notice)
    try:
        while True:
            changed.clear()
            if (now := json.dumps(view(), separators=(",", ":"))) != told:
                told = now
                yield f"data: {now}\n\n"
            if is_wall:
                await asyncio.sleep(CALM)
            try:
                await asyncio.wait_for(changed.wait(), HEARTBEAT)
            except TimeoutError:
                yield ": still here\n\n"
    finally:
        live.watchers.discard(notice)


def _phone(live: LiveRoom, visitor: str) -> dict[str, Any]:
    return live.view(lambda room: room.phone(live.person(visitor)))


def _wall(live: LiveRoom, request: Request) -> dict[str, Any]:
    """The wall, with where people join."""
    now = live.view(Room.wall)
    address, is_reached = _address(request)
    offer = "" if is_reached else phone_address(port(request.scope))
    now |= {"address": address.partition("://")[2], "is_reached": is_reached, "offer": offer}
    return now | {"qr": rooms.qr(f"{address}#{now['code']}")} if now["phase"] == "lobby" else now


def _address(request: Request) -> tuple[str, bool]:
    """Where people join, and whether other machines reach that address. Somebody who opened the app under a name of
    loopback is given the name under which others reach it.
    """
    if is_open(place := phone_address(port(request.scope))):
        return f"http://{place}/join", True
    asked = urlsplit(f"//{request.headers.get('host', '')}")
    name, suffix = asked.hostname or "localhost", f":{asked.port}" if asked.port else ""
    if name in policy.LOOPBACK and (public := sorted(policy.allowed_hosts() - policy.LOOPBACK)):
        name = public[0]
    shown = f"[{name}]" if ":" in name else name
    scheme = "https" if is_sealed(request.scope) else "http"
    return f"{scheme}://{shown}{suffix}/join", name not in policy.LOOPBACK


@_refused
async def _kept(request: Request) -> Response:
    """What the class predicted, to keep: the revealed cards alone."""
    live = await _own_room(request, request.path_params["code"])
    is_table = request.path_params["form"] == "csv"
    made = await _in_turn(lambda: (rooms.table if is_table else rooms.to_keep)(live.room))
    name = f"class-{live.room.opened.code}.{'csv' if is_table else 'html'}"
    headers = {**FRESH, "content-disposition": f'attachment; filename="{name}"'}
    return Response(made, media_type="text/csv" if is_table else "text/html", headers=headers)


async def _page(request: Request) -> Response:
    """The page of the wall or of a phone, for everybody: it holds nothing of any room."""
    made = await run_in_threadpool(rooms.of_app, request.url.path == "/wall")
    headers = {**FRESH, "vary": "accept-encoding"}
    if "gzip" in request.headers.get("accept-encoding", ""):
        return Response(made.compressed, media_type="text/html", headers={**headers, "content-encoding": "gzip"})
    return Response(made.plain, media_type="text/html", headers=headers)


PHONE_ROUTES: list[BaseRoute] = [
    Route("/join", _page),
    Route("/room/join", _join, methods=["POST"]),
    Route("/room/vote", _keeping("vote", Voted), methods=["POST"]),
    Route("/room/sketch", _keeping("sketch", Sketched, "ys"), methods=["POST"]),
    Route("/room/rate", _keeping("rating", Rated), methods=["POST"]),
    Route("/room/now/phone/{code:str}", _now),
    Route("/room/events/phone/{code:str}", _events),
]
"""What a phone needs; the listener for phones serves nothing else."""

ROOM_ROUTES: list[BaseRoute] = [
    *PHONE_ROUTES,
    Route("/wall", _page),
    Route("/room/open", _open, methods=["POST"]),
    Route("/room/let-in", _let_in, methods=["POST"]),
    Route("/room/go", _go, methods=["POST"]),
    Route("/room/now/wall/{code:str}", _now),
    Route("/room/events/wall/{code:str}", _events),
    Route("/room/kept/{code:str}.{form:str}", _kept),
]
"""These, and what a teacher needs."""
