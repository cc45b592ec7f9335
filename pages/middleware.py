"""Who may come in: requests under a name the app answers to, from pages of its own, with the token where one is needed;
who may send files; what every reply forbids; and the cookie by which a browser is known again.

Without this any page on the web that a person has open could drive an app on their machine.
"""

from __future__ import annotations

import asyncio
import re
import secrets
from collections import Counter, OrderedDict
from collections.abc import Awaitable, Callable, Mapping, MutableMapping
from contextlib import ExitStack, suppress
from http.cookies import CookieError, SimpleCookie
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl, quote, urlencode, urlsplit

from core import policy
from core.home import DataDirError
from core.server import access_token, instance, roles, usage
from core.server.access import code_in, cookie_of, name_of_visitor
from core.server.rate_limits import NoPlace, Places, Rate, network_of
from pages.connections import CONNECTIONS, FILES_OF_TAB, end_of

Scope = MutableMapping[str, Any]
Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
App = Callable[[Scope, Receive, Send], Awaitable[None]]

HEADERS = {
    # Streamlit's pages need inline styles and scripts, and make workers and pictures from memory; nothing needs
    # another machine.
    "content-security-policy": "; ".join(
        (
            "default-src 'self'",
            "script-src 'self' 'unsafe-inline' 'unsafe-eval' 'wasm-unsafe-eval' blob:",
            "style-src 'self' 'unsafe-inline'",
            "img-src 'self' data: blob:",
            "font-src 'self' data:",
            "connect-src 'self' blob: data:",
            "worker-src 'self' blob:",
            "object-src 'none'",
            "base-uri 'self'",
            "form-action 'self'",
            "frame-ancestors 'none'",
        )
    ),
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
    "referrer-policy": "same-origin",
    "cross-origin-opener-policy": "same-origin",
}

COOKIE = "explain_yourself_visitor"
"""Its value is the code of one visitor, signed: it opens that person's runs. No script of a page reads it."""

_CODE = re.compile(r"[A-Za-z0-9_-]{32}")
"""A code as it has always been given."""

ACCESS = "explain_yourself_access"
"""The cookie of a browser that came with the token. The port follows, as cookies go to all ports of a machine."""

_HEALTH = "/_stcore/health"
"""Says that the server runs and nothing else: open without the token, and answered where all places are taken."""

_NO_TOKEN = (Path(__file__).parent / "no_token.html").read_text(encoding="utf-8")

_KEPT_SECONDS = 400 * 24 * 3600
"""As long as browsers keep one at most."""


_UPLOADS = "/_stcore/upload_file/"
"""Streamlit takes files at any time, of every session, whether its page has a field for one or not."""

_AGENTS = "/_stcore/agent/"
"""Where Streamlit lets programs press and type, should its settings say so: what is allowed here is meant for pages."""

_SENDERS = 1_000
"""Sessions that may send files; of more, those that were shown a field for them last."""

_sent: OrderedDict[str, int] = OrderedDict()


def may_upload(session: str, may: bool) -> None:
    """Say whether that Streamlit session may send files from now on, as its page has a field for one."""
    if not may:
        _sent.pop(session, None)
        return
    _sent.setdefault(session, 0)
    _sent.move_to_end(session)
    if len(_sent) > _SENDERS:
        _sent.popitem(last=False)


TAB = "x-explain-tab"
"""The header by which the door tells a page which tab it stands in: a browser that sends it is not believed."""

_SURPLUS = 2
"""Of tabs over the limit a page can still say so; beyond so many times the limit none is opened. A visitor may hear as
many event streams.
"""

STREAM = "/told/"
"""In the addresses of event streams, which stay open."""

_METRICS = "/_stcore/metrics"
"""Where Streamlit says how much memory its caches take and how many sessions there are."""

MOST_STREAMS = 2_000
"""Event streams that are open at the same time."""

_TABS = Places(lambda: policy.limit("tabs_of_all"))
_STREAMS = Places(lambda: MOST_STREAMS)

_NEW_TABS, _NEW_COOKIES = Rate(600, 5), Rate(600, 5)
"""By network, where the app is hosted: two large classes come at the same time, and then five people a second."""

_streams: Counter[str] = Counter()
"""Open event streams by visitor."""

_tabs: dict[str, str] = {}
"""The tabs that are open in this process, and whose each is."""

_waiting: set[str] = set()
"""Those of them that were one too many when they were opened, and are not known to have a place since."""


def has_place(tab: str) -> bool:
    """Whether the tab is among as many as its visitor may have open: it has, once enough of the others are closed."""
    if tab in _waiting and (visitor := _tabs.get(tab)) is not None:
        most = roles.limit("tabs", visitor)
        # Where nothing can be counted any more, what is there can be looked at all the same.
        with suppress(DataDirError):
            if most is not None and usage.of_home().tab_opened(visitor, tab) > most:
                return False
        _waiting.discard(tab)
    return True


def _opened(visitor: str, tab: str) -> bool:
    """Count a tab. Whether there is room for it, be it to say that it is one too many."""
    most = roles.limit("tabs", visitor)
    _tabs[tab] = visitor
    if most is None:
        return True
    try:
        number = usage.of_home().tab_opened(visitor, tab)
    except DataDirError:
        return True
    if number > most:
        _waiting.add(tab)
    return number <= _SURPLUS * most


def _closed(tab: str) -> None:
    visitor = _tabs.pop(tab, "")
    _waiting.discard(tab)
    with suppress(DataDirError):
        usage.of_home().tab_closed(visitor, tab)


class Door:
    """ASGI middleware."""

    def __init__(self, app: App) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass the request on, or refuse it in words."""
        if scope["type"] not in ("http", "websocket"):
            await self._app(scope, receive, send)
            return
        if words := refusal(scope):
            await _refuse(scope, receive, send, words)
            return
        if not await _has_access(scope, receive, send):
            return
        with ExitStack() as places:
            try:
                _take_places(scope, places)
            except NoPlace as error:
                await _refuse(scope, receive, send, str(error), 429)
                return
            await self._pass(scope, receive, send)

    async def _pass(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "websocket":
            await self._stay(scope, receive, send)
            return

        async def sealed(message: Message) -> None:
            if message["type"] == "http.response.start":
                theirs = [(name.lower(), _secure(scope, name, value)) for name, value in message["headers"]]
                ours = {**HEADERS, **_introduced(scope, dict(theirs))}
                kept = [(name, value) for name, value in theirs if name == b"set-cookie" or name.decode() not in ours]
                message["headers"] = [*kept, *((name.encode(), value.encode()) for name, value in ours.items())]
            await send(message)

        await self._app(scope, receive, sealed)

    async def _stay(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Let a tab in for as long as it is open, if there is room for it."""
        tab, visitor = secrets.token_hex(8), _visitor(scope)
        try:
            if not await asyncio.to_thread(_opened, visitor, tab):
                await _refuse(scope, receive, send, "Too many tabs of this app are open.")
                return
            others = [(name, value) for name, value in scope["headers"] if name.lower() != TAB.encode()]
            scope["headers"] = [*others, (TAB.encode(), tab.encode())]
            await self._app(scope, receive, send)
        finally:
            await asyncio.to_thread(_closed, tab)


def _take_places(scope: Scope, places: ExitStack) -> None:
    """Take what the request needs for as long as it is open, and enter it in `places`. Raises NoPlace."""
    address, path = _address(scope), str(scope.get("path", ""))
    is_tab, is_stream = scope["type"] == "websocket", path.startswith(STREAM)

    def is_reserved() -> bool:
        return path == _HEALTH or roles.role_of(_visitor(scope)) in (roles.HOST, roles.TEACHER)

    if is_tab and policy.hosted() and not _NEW_TABS.take(address) and not is_reserved():
        raise NoPlace("Too many tabs were opened from your network. Try again in a minute.")
    if is_stream:
        visitor = _visitor(scope)
        most = roles.limit("tabs", visitor)
        if most is not None and _streams[visitor] >= _SURPLUS * most:
            raise NoPlace("You watch too many runs at the same time. Close some tabs of this app.")
    end, files = end_of(scope), FILES_OF_TAB if is_tab else 1
    places.enter_context(CONNECTIONS.held(address, end, is_reserved, files))
    for kind in ([_TABS] if is_tab else []) + ([_STREAMS] if is_stream else []):
        places.enter_context(kind.held(address, end, is_reserved))
    if is_stream:
        _streams[visitor] += 1
        places.callback(_stream_closed, visitor)


def _stream_closed(visitor: str) -> None:
    _streams[visitor] -= 1
    if not _streams[visitor]:
        del _streams[visitor]


async def _has_access(scope: Scope, receive: Receive, send: Send) -> bool:
    """Whether the request may go on. Otherwise it is answered: one with the right token gets the cookie and is sent to
    the same address without the token, which so stays out of links and histories.
    """
    if not access_token.is_required() or scope["path"] in (_HEALTH, instance.ROUTE):
        return True
    may = access_token.is_cookie(_cookie(scope, name := f"{ACCESS}_{_port(scope)}"))
    asked = parse_qsl(scope.get("query_string", b"").decode("latin-1"), keep_blank_values=True)
    given = [value for key, value in asked if key == "token"]
    if scope.get("method") in ("GET", "HEAD") and given and (may or access_token.is_token(given[0])):
        rest = urlencode([(key, value) for key, value in asked if key != "token"])
        # One slash: with two, the next word would be the name of another machine.
        place = f"/{quote(scope['path'].lstrip('/'))}{'?' if rest else ''}{rest}"
        headers = {"location": place, "cache-control": "no-store", "content-length": "0"}
        if not may:
            headers["set-cookie"] = f"{name}={access_token.cookie()}; {_rules(scope)}"
        await _reply(send, 303, {**HEADERS, **headers}, "")
    elif not may and "text/html" in _headers(scope).get("accept", ""):
        page = _NO_TOKEN.replace("{port}", str(_port(scope)))
        await _reply(send, 403, {**HEADERS, "content-type": "text/html; charset=utf-8"}, page)
    elif not may:
        await _refuse(scope, receive, send, "Open the address with the token, printed where this app was started.")
    return may and not given


def _port(scope: Scope) -> int:
    """The port at which the request came in."""
    return int((scope.get("server") or ("", 0))[1] or 0)


def refusal(scope: Scope) -> str:
    """Why a request is not let in, for the person who sent it; empty where it is."""
    headers = _headers(scope)
    asked = headers.get("host", "")
    host = _name(f"//{asked}")
    if host not in policy.hosts():
        return (
            f"This app does not answer to the name {host[:100]!r}. If it should, start it with that name in "
            "EXPLAIN_HOSTS."
        )
    origin = headers.get("origin", "")
    changes = scope["type"] == "websocket" or scope.get("method") not in ("GET", "HEAD", "OPTIONS")
    if changes and origin and urlsplit(origin).netloc.lower() != asked.lower():
        return "This app is driven by its own pages only, and this request comes from another."
    path = str(scope.get("path", ""))
    if _AGENTS in path:
        return "This app is driven by its own pages only."
    if path.endswith(_METRICS) and policy.hosted() and roles.role_of(_visitor(scope)) != roles.HOST:
        return "Only the host sees these figures."
    return _no_upload(path, headers) if changes and _UPLOADS in path else ""


def _no_upload(path: str, headers: Mapping[str, str]) -> str:
    """Why a file is not taken; empty where it is, and then it counts. One of no length might have no end."""
    session = path.partition(_UPLOADS)[2].partition("/")[0]
    if session not in _sent:
        return "This page takes no files: it has no field for one."
    length = headers.get("content-length", "0")
    if "transfer-encoding" in headers or not (length.isdecimal() and len(length) < 16):
        return "A file has to say how long it is."
    most = (policy.limit("bundle_mb") or 0) * 1_000_000
    if _sent[session] + int(length) > most:
        return f"A page takes {most // 1_000_000:,} MB of files altogether. Reload it to send more."
    _sent[session] += int(length)
    return ""


def _headers(scope: Scope) -> dict[str, str]:
    return {name.decode("latin-1").lower(): value.decode("latin-1") for name, value in scope["headers"]}


def _introduced(scope: Scope, reply: dict[bytes, bytes]) -> dict[str, str]:
    """The headers that give a browser its cookie, with a page, where it has none."""
    if scope["type"] != "http" or not reply.get(b"content-type", b"").startswith(b"text/html"):
        return {}
    given = _given(scope)
    if code_in(given) or (policy.hosted() and not _NEW_COOKIES.take(_address(scope))):
        return {}
    # Earlier versions signed nothing, and a key may be lost: a browser with a code keeps it, and so their runs.
    code = given.partition(".")[0]
    code = code if _CODE.fullmatch(code) else secrets.token_urlsafe(24)
    # What stands between must not keep it for the next browser.
    return {"set-cookie": f"{COOKIE}={cookie_of(code)}; {_rules(scope)}", "cache-control": "private, no-store"}


def _rules(scope: Scope) -> str:
    """What a browser is told of a cookie of ours."""
    # Lax: anyone who follows a link from elsewhere stays who they are.
    return f"Path=/; Max-Age={_KEPT_SECONDS}; HttpOnly; SameSite=Lax{'; Secure' if _is_sealed(scope) else ''}"


def _given(scope: Scope) -> str:
    """The value of the visitor's cookie, as the browser sent it; empty where it sent none."""
    return _cookie(scope, COOKIE)


def _cookie(scope: Scope, name: str) -> str:
    """The value of the cookie of that name, as the browser sent it; empty where it sent none."""
    try:
        known = SimpleCookie(_headers(scope).get("cookie", "")).get(name)
    except CookieError:
        known = None
    return known.value if known is not None else ""


def _visitor(scope: Scope) -> str:
    """Whose tab it is: the name of who has our cookie; those without one count together, by where they come from."""
    if code := code_in(_given(scope)):
        return name_of_visitor(code)
    return f"at {network_of(_address(scope))}"


def _address(scope: Scope) -> str:
    """From which network address a request comes. uvicorn has put there what a trusted proxy says."""
    return str((scope.get("client") or ("?",))[0])


def _is_sealed(scope: Scope) -> bool:
    """Whether the browser speaks TLS, to us or to what stands before us."""
    return "https" in (scope.get("scheme"), _headers(scope).get("x-forwarded-proto"))


def _secure(scope: Scope, name: bytes, value: bytes) -> bytes:
    """A header of Streamlit's; a cookie of its own stays within TLS too."""
    is_open = name.lower() == b"set-cookie" and _is_sealed(scope) and b"secure" not in value.lower()
    return value + b"; Secure" if is_open else value


def _name(address: str) -> str:
    try:
        return (urlsplit(address).hostname or "").lower()
    except ValueError:
        return ""


async def _refuse(scope: Scope, receive: Receive, send: Send, words: str, status: int = 403) -> None:
    if scope["type"] == "websocket":
        await receive()
        await send({"type": "websocket.close", "code": 1008, "reason": words[:100]})
        return
    plain = {"content-type": "text/plain; charset=utf-8", "x-content-type-options": "nosniff"}
    await _reply(send, status, plain, f"{words}\n")


async def _reply(send: Send, status: int, headers: Mapping[str, str], body: str) -> None:
    encoded = [(name.encode(), value.encode()) for name, value in headers.items()]
    await send({"type": "http.response.start", "status": status, "headers": encoded})
    await send({"type": "http.response.body", "body": body.encode()})
