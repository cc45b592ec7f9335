"""The stage's requests to the server, which pass the same middleware as Streamlit's: a case's scene, its evidence, its
live updates, and the visitor's labels and guesses. All act for the visitor whom the cookie names.
"""

import asyncio
import json
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cache, wraps
from typing import Annotated, Any, Literal, NamedTuple

from pydantic import Field, ValidationError
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import (
    FileResponse,
    JSONResponse,
    PlainTextResponse,
    RedirectResponse,
    Response,
    StreamingResponse,
)
from starlette.routing import BaseRoute, Route

from core import entry, home, lessons, policy
from core.events import Frozen
from core.labs.base.lab import Lab
from core.report import scenes, standalone_html
from core.report.evidence import Opened, evidence_for, redacted, scene_for, state_of
from core.report.game.pack import MOST_CARDS, GamePackError, load_pack
from core.report.viewer_assets import plotly_script, stage_files
from core.runs.labels import Played
from core.runs.library import RunNotFoundError, Watch
from core.scene import Scene, as_json
from core.server import instance, roles
from core.server.access import CookiesNeededError, RunAccess, visitor_with_cookie
from core.server.jobs import OVER, HowFar, how_far
from core.server.quotas import QuotaExceededError
from core.server.usage import Rate
from core.store.store import QueryRefusedError, StoreError
from pages.middleware import COOKIE

# Live updates of a case and its run for everyone who watches: the case is read once for all of them, and only
# changes are sent.


PACE = 0.4
"""Seconds between two reads of a run in progress."""

AT_PACE = 10
"""Runs read at that pace; if there are more, each is read less often, so that the processor is free for the runs."""

_BEHIND = 100
"""Events that may wait for one watcher. A watcher further behind is cut off, reconnects and gets the whole scene."""


def changed(before: dict[str, Any], now: dict[str, Any]) -> dict[str, Any]:
    """Return the parts of a scene's JSON that have changed; of the cards, only those that have."""
    news = {name: value for name, value in now.items() if before.get(name) != value}
    if "cards" in news:
        known = {card["id"]: card for card in before.get("cards", ())}
        news["cards"] = [card for card in now["cards"] if known.get(card["id"]) != card]
    return news


@dataclass(eq=False)
class _Watcher:
    """One watcher: `opened` returns what they may see of the case, `part` is its last value; `told` and `far` are the
    scene and the progress that were last sent to them.
    """

    opened: Callable[[], Opened]
    part: Opened = None
    told: dict[str, Any] = field(default_factory=dict)
    far: HowFar | None = None
    is_out: bool = False
    """Whether they may no longer view the run."""

    queue: asyncio.Queue[str] = field(default_factory=lambda: asyncio.Queue(_BEHIND))


class Snapshot(NamedTuple):
    """A case at one moment: its scene (None before its run has begun), how far the run is, whether it goes on, whether
    it is sealed, and whether it is shared with everybody.
    """

    scene: Scene | None
    far: HowFar
    goes_on: bool
    is_sealed: bool
    is_shared: bool = True


class Broadcast:
    """Sends one case of a run, read by `look`, to everyone who watches it."""

    def __init__(self, look: Callable[[], Snapshot]) -> None:
        self._look = look
        self._watching: set[_Watcher] = set()
        self._looked: Snapshot | None = None
        self._made: dict[object, dict[str, Any]] = {}
        self._task: asyncio.Task[None] | None = None

    async def events(self, opened: Callable[[], Opened] = lambda: None) -> AsyncIterator[str]:
        """Yield server-sent events: the whole scene, then what `changed`, limited to what `opened` lets the watcher
        see; how `far` the run is; then `over`. A watcher who may not see the whole case gets `over` only once they
        may.
        """
        watcher = _Watcher(opened)
        watcher.part = await run_in_threadpool(opened)
        self._watching.add(watcher)
        try:
            if self._task is None or self._task.done():
                self._task = asyncio.create_task(self._follow())
            elif self._looked is not None:
                self._tell(self._looked, [watcher])
            while (told := await watcher.queue.get()) != "":
                yield told
        finally:
            self._watching.discard(watcher)

    async def _follow(self) -> None:
        try:
            while self._watching:
                try:
                    now = await run_in_threadpool(self._look_for_all, [*self._watching])
                except (RunNotFoundError, OSError):
                    # The run was deleted or its folder is gone: watchers reconnect, and get the reason.
                    break
                for watcher in [one for one in self._watching if one.is_out]:
                    # Their browser reconnects, and gets the reason why it receives no more.
                    self._send(watcher, "")
                self._tell(now, [*self._watching])
                if self._watching:
                    await asyncio.sleep(max(PACE, PACE * len(_FOLLOWED) / AT_PACE))
        finally:
            for watcher in [*self._watching]:
                self._send(watcher, "")
            self._looked, self._made = None, {}

    def _look_for_all(self, watching: Sequence[_Watcher]) -> Snapshot:
        """Read the current case. If it is sealed, not shared, or not visible as a whole to a watcher, check again what
        that watcher may see.
        """
        now = self._look()
        for watcher in watching:
            if now.is_sealed or not now.is_shared or watcher.part is not None:
                try:
                    watcher.part = watcher.opened()
                except RunNotFoundError:
                    watcher.is_out = True
        return now

    def _tell(self, now: Snapshot, watching: Sequence[_Watcher]) -> None:
        """Send every watcher what is new in the part they may see, computed once for all who see the same, and how far
        the run is.
        """
        if self._looked is None or self._looked.scene is not now.scene:
            self._made = {}
        self._looked = now
        news: dict[tuple[int, int], str] = {}
        for watcher in watching:
            key = None if watcher.part is None else frozenset(watcher.part.items())
            if key not in self._made:
                self._made[key] = redacted(now.scene, watcher.part).model_dump() if now.scene else {}
            before, scene = watcher.told, self._made[key]
            if before is not scene:
                pair = id(before), id(scene)
                if pair not in news:
                    new = changed(before, scene)
                    news[pair] = _event("changed" if before else "scene", new) if new else ""
                watcher.told = scene
                if news[pair]:
                    self._send(watcher, news[pair])
            far = _far(now, watcher)
            if far is not None and far != watcher.far:
                watcher.far = far
                self._send(watcher, _event("far", far.model_dump()))
            if not now.goes_on and watcher.part is None:
                self._send(watcher, _event("over", {}))
                self._send(watcher, "")
        known = {id(watcher.told) for watcher in self._watching}
        self._made = {key: scene for key, scene in self._made.items() if id(scene) in known}

    def _send(self, watcher: _Watcher, event: str) -> None:
        """Send the event. An empty event ends the stream; it is also sent to a watcher who has fallen behind."""
        try:
            watcher.queue.put_nowait(event)
        except asyncio.QueueFull:
            event = ""
            with suppress(asyncio.QueueEmpty):
                watcher.queue.get_nowait()
            watcher.queue.put_nowait("")
        if not event:
            self._watching.discard(watcher)


def _far(now: Snapshot, watcher: _Watcher) -> HowFar | None:
    """Return the run's progress for a watcher. Once the run is over, a watcher who was sent no progress gets none
    either.
    """
    if not now.goes_on and watcher.part is not None:
        # They may not see the end yet, only that the run is not going on.
        return OVER
    return now.far if now.goes_on or watcher.far not in (None, OVER) else watcher.far


def _event(name: str, data: dict[str, Any]) -> str:
    # JSON contains no line breaks, so one line of data is one event.
    return f"event: {name}\ndata: {json.dumps(data, separators=(',', ':'))}\n\n"


_FOLLOWED: dict[tuple[str, str], Broadcast] = {}


def broadcast_of(run: str, case: str) -> Broadcast:
    """Return the broadcast of this case, and remove those that nobody watches. Must be called on the server's event
    loop.
    """
    for key in [key for key, one in _FOLLOWED.items() if not one._watching]:
        del _FOLLOWED[key]
    return _FOLLOWED.setdefault((run, case), Broadcast(_looking(run, case)))


def _looking(run: str, case: str) -> Callable[[], Snapshot]:
    watch: Watch | None = None
    before: Snapshot | None = None

    def look() -> Snapshot:
        nonlocal before, watch
        # Checked first: if the run ends in the meantime, it is read once more.
        active = entry.jobs().active(run)
        is_news = True
        if watch is None:
            watch = entry.jobs().watch(run, case)
        else:
            is_news = watch.refresh()
        state = watch.transcript
        lab = entry.labs().get(state.started.lab) if state.started else None
        if before is None or is_news or before.goes_on != active:
            scene = scenes.of_case(lab, state, case or state.only, active) if lab else None
        else:
            scene = before.scene
        # The position in the queue and the seal change without an event.
        before = Snapshot(
            scene, how_far(entry.jobs(), lab, run, state), active, entry.jobs().sealed(run), entry.jobs().shared(run)
        )
        return before

    return look


LONGEST = 100_000
"""Bytes of one batch of statements."""

MOST = 20
"""Statements in one batch (outbox.js sends no more)."""

OF_VISITOR, OF_ADDRESS = Rate(100, 5), Rate(1_000, 100)
"""How many statements may arrive in a burst, and then per second. A whole class may share one address."""

WAITING = 200
"""Batches that may wait to be stored."""

_KEEPERS = ThreadPoolExecutor(2, "said")
"""Threads that store statements, so that storing takes no thread from other visitors' requests."""

Answer = Callable[[Request], Awaitable[Response]]

FRESH = {"cache-control": "private, no-store"}
"""Headers of a reply that nobody may store."""


_waiting: set[Future[dict[str, object]]] = set()
"""Batches that are being stored or wait for it."""


def visit(request: Request) -> RunAccess:
    """Return the runs with the visitor's permissions."""
    return RunAccess(entry.jobs(), visitor_with_cookie(request.cookies.get(COOKIE, "")))


def _refused(answer: Answer) -> Answer:
    """Answer errors with a JSON message for the user."""

    @wraps(answer)
    async def answered(request: Request) -> Response:
        try:
            return await answer(request)
        except RunNotFoundError as error:
            status = 403 if isinstance(error, CookiesNeededError) else 404
            return JSONResponse({"title": error.title, "why": str(error)}, status_code=status)
        except QuotaExceededError as error:
            return JSONResponse({"title": "Not now", "why": str(error)}, status_code=429)

    return answered


def _json_of(made: Callable[[RunAccess, Mapping[str, Lab], str, str], Frozen]) -> Answer:
    """Return a route to what is `made` of the case that the address names, as far as the visitor may see it."""

    @_refused
    async def answer(request: Request) -> Response:
        run, case = _place(request)
        text = await run_in_threadpool(lambda: as_json(made(visit(request), entry.labs(), run, case)))
        return Response(text, media_type="application/json", headers=FRESH)

    return answer


@_refused
async def _told(request: Request) -> Response:
    who, (run, case) = visit(request), _place(request)
    seen = await run_in_threadpool(who.unredacted, run)
    named = case or await run_in_threadpool(lambda: seen.watch().transcript.only)
    return event_stream(broadcast_of(run, case).events(lambda: who.guesses_on(run, named)))


def event_stream(told: AsyncIterator[str]) -> Response:
    """Return server-sent events, which no proxy holds back."""
    return StreamingResponse(told, media_type="text/event-stream", headers={**FRESH, "x-accel-buffering": "no"})


def _place(request: Request) -> tuple[str, str]:
    return request.path_params["run"], request.path_params["case"]


class Saying(Frozen):
    """One statement of a visitor about a case or a trial; only the cookie says who the visitor is.

    `id` is made by the browser: a statement sent twice counts once. `reader` distinguishes several rounds of guesses by
    one person. For a guess in the game (`play`), `pack` and `place` (of the card, from 1) name the trial, `value` is
    the guess, and `about` is "without" if the reason was not shown.
    """

    id: Annotated[str, Field(max_length=100)]
    run: Annotated[str, Field(max_length=200)] = ""
    case: Annotated[str, Field(max_length=1_000)] = ""
    trial: Annotated[str, Field(max_length=1_000)] = ""
    what: Literal["guess", "judge", "cancel", "play"]
    about: Annotated[str, Field(max_length=100)] = ""
    value: Annotated[str, Field(max_length=100)] = ""
    reader: Annotated[str, Field(max_length=100)] = ""
    pack: Annotated[str, Field(max_length=100)] = ""
    place: Annotated[int, Field(ge=0, le=MOST_CARDS)] = 0


class AnnotationBatch(Frozen):
    """A batch of statements, in order."""

    said: Annotated[tuple[Saying, ...], Field(max_length=MOST)]


@_refused
async def _say(request: Request) -> Response:
    who = visit(request)
    if not who.visitor.is_known:
        # A code that the host typed in a tab is not sent with this request.
        raise CookiesNeededError
    _take(request, who, 1)
    if (body := await body_of(request, LONGEST)) is None:
        return JSONResponse({"title": "Too much", "why": "That is too much in one request."}, status_code=413)
    try:
        said = AnnotationBatch.model_validate_json(body).said
    except ValidationError:
        return JSONResponse(
            {"title": "Not understood", "why": "This is not a message that the page sends."}, status_code=400
        )
    _take(request, who, max(len(said) - 1, 0))
    keeping = _KEEPERS.submit(_keep, who, said)
    _waiting.add(keeping)
    keeping.add_done_callback(_waiting.discard)
    return JSONResponse(await asyncio.wrap_future(keeping))


def _take(request: Request, who: RunAccess, number: int) -> None:
    """Count `number` statements against the limits of the visitor and of their address. Raises QuotaExceededError."""
    address = address_of(request)
    if len(_waiting) >= WAITING or not (OF_VISITOR.take(who.visitor.name, number) and OF_ADDRESS.take(address, number)):
        raise QuotaExceededError("Too much was sent to be saved immediately. It is sent again a little later.")


async def body_of(request: Request, most: int) -> bytes | None:
    """Return what was sent; None if it has more than `most` bytes."""
    body = b""
    async for chunk in request.stream():
        body += chunk
        if len(body) > most:
            return None
    return body


def address_of(request: Request) -> str:
    """Return the network address from which the request comes, as far as it is known."""
    return request.client.host if request.client else ""


def _keep(who: RunAccess, said: tuple[Saying, ...]) -> dict[str, object]:
    """Store the statements. Returns the ids of those stored, the reasons why others were refused, and for sealed runs
    what the visitor may now see.
    """
    kept, refused = [], {}
    before: dict[tuple[str, str], Scene] = {}
    for one in said:
        try:
            if one.what == "guess" and who.is_sealed(one.run):
                place = one.run, one.case
                if place not in before:
                    before[place] = scene_for(who, entry.labs(), *place)
                record_guess(who, one, before[place])
            else:
                save_annotation(who, one)
            kept.append(one.id)
        except (RunNotFoundError, QuotaExceededError, ValueError) as error:
            refused[one.id] = str(error)
    opened = []
    for (run, case), scene in before.items():
        now = scene_for(who, entry.labs(), run, case)
        opened.append({"run": run, "case": case, "news": changed(scene.model_dump(), now.model_dump())})
    return {"kept": kept, "refused": refused, **({"opened": opened} if opened else {})}


def record_guess(who: RunAccess, one: Saying, scene: Scene) -> None:
    """Store a guess about a sealed run, which the visitor sees as `scene`; only the first guess on a card counts.
    Raises RunNotFoundError, AccessDeniedError and ValueError.
    """
    card = next((card for card in scene.cards if card.id == one.trial), None)
    if card is None or one.value not in card.options:
        raise ValueError("That is not a possible guess here.")
    if card.mark == "waiting":
        raise ValueError("It has not answered yet.")
    lab, *_ = state_of(who, entry.labs(), one.run, one.case)
    is_without = one.about == "without"
    record_of = lab.game.guess_record if lab.game else None
    also = record_of(one.value, who.guesser, is_without) if record_of else None
    who.record_guess(one.run, scene.case, card.id, one.value, also)


def save_annotation(who: RunAccess, one: Saying) -> None:
    """Carry out a statement, or store it in the journal of what visitors say. Raises RunNotFoundError,
    AccessDeniedError, QuotaExceededError and ValueError.
    """
    if one.what == "cancel":
        who.own_run(one.run).cancel()
        return
    if one.what == "play":
        _play(who, one)
        return
    run = who.run(one.run)
    lab, *_ = state_of(who, entry.labs(), one.run, one.case)
    if one.what == "guess":
        if lab.game is None or (made := lab.game.guess_record) is None:
            raise ValueError("Guesses are not kept for this lab.")
        run.guess(one.reader, one.case, lambda by: made(one.value, by, one.about == "without"), one.trial)
        return
    judgement = next((judgement for judgement in lab.listing.judgements if judgement.name == one.about), None)
    if judgement is None or one.value not in (judgement.good, judgement.bad, ""):
        raise ValueError("That is not a possible verdict here.")
    own = run.label_of(one.case, one.trial)
    now = own.judged(one.about, one.value, one.value == judgement.bad)
    if now != own:
        run.label(one.case, one.trial, now)


def _play(who: RunAccess, one: Saying) -> None:
    """Store a guess in the game; only the first on each trial counts. Raises QuotaExceededError, and ValueError if this
    cannot be guessed there.
    """
    pack = load_pack(one.pack)
    if not 1 <= one.place <= len(pack.cards):
        raise ValueError(f"The pack {pack.name} has no card {one.place}.")
    card = pack.cards[one.place - 1]
    if one.value not in card.card.options:
        raise ValueError("That is not one of the answers to choose from.")
    lab = next(lab.name for lab in entry.labs().values() if lab.path == pack.kind)
    guess = Played(pack=pack.name, place=one.place, run=card.run, value=one.value, without=one.about == "without")
    who.play(lab, card.case, card.card.id, guess)


async def _file(request: Request) -> Response:
    name = request.path_params["name"]
    if (path := plotly_script() if name == "plotly.js" else stage_files().get(name)) is None:
        return JSONResponse({"title": "Not here", "why": "The stage has no such file."}, status_code=404)
    # The browser asks each time, and gets the file only if it has changed.
    return FileResponse(path, headers={"cache-control": "no-cache"})


def _for_visitors(answer: Answer) -> Answer:
    """Answer only those who may see the front page."""

    @wraps(answer)
    async def answered(request: Request) -> Response:
        if (await run_in_threadpool(visit, request)).visitor.is_in:
            return await answer(request)
        return PlainTextResponse(
            "This app is open to those who were given a code for it. Type the code on its front page, then come back.",
            status_code=403,
        )

    return answered


@_for_visitors
async def _game(request: Request) -> Response:
    """Return the game as one file: it contains nobody's runs."""
    try:
        body = await run_in_threadpool(standalone_html.of_app, request.query_params.get("pack", ""), home.journals())
    except GamePackError as error:
        return JSONResponse({"title": "No such pack", "why": str(error)}, status_code=404)
    return Response(body, media_type="text/html", headers=FRESH)


async def _story(request: Request) -> Response:
    """Redirect the earlier address of the stories."""
    return RedirectResponse(f"/stories?{request.url.query}".removesuffix("?"))


@_for_visitors
async def _lessons(request: Request) -> Response:
    """Return the list of lessons, a lesson, or one of its sheets: they contain nobody's runs."""
    name, sheet = (request.path_params.get(one, "") for one in ("name", "sheet"))
    visitor = (await run_in_threadpool(visit, request)).visitor
    if sheet == "solutions" and _has_teachers() and not (visitor.is_host or visitor.is_teacher):
        return PlainTextResponse("Solutions are for teachers. Sign in with your code, then come back.", status_code=403)
    try:
        made = await run_in_threadpool(_page_of_lessons, name, sheet)
    except KeyError:
        return PlainTextResponse("There is no such lesson. See /lessons for a list.", status_code=404)
    return Response(made, media_type="text/html", headers=FRESH)


def _has_teachers() -> bool:
    """Whether teachers are told from students, by a code."""
    return policy.is_hosted() and any(policy.code_for(role) for role in (roles.HOST, roles.TEACHER))


@cache
def _page_of_lessons(name: str, sheet: str) -> bytes:
    """Return the list, or the lesson of that name or its sheet. Raises KeyError if there is none."""
    found = lessons.lessons(entry.labs())
    if not name:
        return lessons.list_page(found.values())
    if not sheet:
        return lessons.lesson_page(found[name])
    is_solved = {"worksheet": False, "solutions": True}[sheet]
    return lessons.sheet_page(found[name], is_solved, entry.labs())


async def _lend_index(request: Request) -> Response:
    """Return the path of a copy of the index to a command that can read the home's key."""
    if not instance.is_key(request.headers.get(instance.HEADER, "")):
        return Response("The key of this home is missing or wrong.", status_code=403)
    try:
        return Response(str(await run_in_threadpool(entry.lent_index)))
    except (StoreError, QueryRefusedError) as error:
        return Response(str(error), status_code=503)


ROUTES: list[BaseRoute] = [
    Route(instance.ROUTE, _lend_index),
    Route("/play", _game),
    Route("/story", _story),
    Route("/lessons", _lessons),
    Route("/lessons/{name}", _lessons),
    Route("/lessons/{name}/{sheet}", _lessons),
    Route("/stage/{name}", _file),
    # The modules import each other by relative names, so the version comes before the name.
    Route("/stage/{version}/{name}", _file),
    Route("/scene/{run}/{case:path}", _json_of(scene_for)),
    Route("/evidence/{run}/{case:path}", _json_of(evidence_for)),
    Route("/told/{run}/{case:path}", _told),
    Route("/said", _say, methods=["POST"]),
]
