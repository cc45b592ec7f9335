"""Who may come in: only requests to a name that the app answers to, from its own pages, and with the token if one is
required. Also: who may upload files, the headers that restrict every reply, and the cookie that identifies a
browser.

Without this, any web page that a person has open could control an app on their machine.
"""

import asyncio
import re
import secrets
from collections import Counter, OrderedDict
from collections.abc import Mapping
from contextlib import ExitStack, suppress
from pathlib import Path
from urllib.parse import parse_qsl, quote, urlencode, urlsplit

from starlette.datastructures import Headers
from starlette.requests import HTTPConnection
from starlette.responses import HTMLResponse, PlainTextResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from core import policy
from core.home import DataDirError
from core.server import instance, roles, usage
from core.server.access import code_in, cookie_of, name_of_visitor
from core.server.usage import NoFreePlaceError, Places, Rate, network_of
from pages.connections import CONNECTIONS, FILES_OF_TAB, end_of

HEADERS = {
    # Streamlit's pages need inline styles and scripts, and create workers and images from memory. Nothing needs another
    # machine.
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
"""The cookie with the signed code of one visitor, which gives access to that person's runs. Scripts cannot read it."""

_CODE = re.compile(r"[A-Za-z0-9_-]{32}")
"""The form of every code, in this version and earlier ones."""

ACCESS = "explain_yourself_access"
"""The cookie of a browser that came with the token. The port is appended, because a cookie is sent to all ports of a
machine.
"""

_HEALTH = "/_stcore/health"
"""Says only that the server runs: open without the token, and answered even if all places are taken."""

_NO_TOKEN = (Path(__file__).parent / "no_token.html").read_text(encoding="utf-8")

_KEPT_SECONDS = 400 * 24 * 3600
"""The longest time for which browsers keep a cookie."""


_UPLOADS = "/_stcore/upload_file/"
"""Streamlit accepts files here at any time from any session, whether or not its page has a field for them."""

_AGENTS = "/_stcore/agent/"
"""Where Streamlit, if its settings allow it, lets programs press buttons and type. Our rules are made for pages, so it
is closed.
"""

_SENDERS = 1_000
"""Sessions that may send files; if there are more, those that were last shown a field for one."""

_sent: OrderedDict[str, int] = OrderedDict()


def may_upload(session: str, may: bool) -> None:
    """Set whether a Streamlit session may send files from now on, because its page has a field for one."""
    if not may:
        _sent.pop(session, None)
        return
    _sent.setdefault(session, 0)
    _sent.move_to_end(session)
    if len(_sent) > _SENDERS:
        _sent.popitem(last=False)


TAB = "x-explain-tab"
"""The header that tells a page which tab it is in. It is set here; a value sent by the browser is discarded."""

_SURPLUS = 2
"""How many times its limit of tabs a visitor may open: a surplus tab can still show a page that says why. Beyond that,
tabs are refused. The same limit applies to a visitor's event streams.
"""

STREAMS = ("/told/", "/room/events/")
"""Starts of the addresses of event streams, which stay open."""

_METRICS = "/_stcore/metrics"
"""Where Streamlit reports the memory of its caches and the number of sessions."""

MOST_STREAMS = 2_000
"""Event streams that may be open at the same time."""

STREAMS_OF_PHONE = 20
"""Event streams that one visitor may have open where phones reach a class on a person's own machine."""

PHONES = "explain_phones_at"
"""Key in the scope of a request from the listener for phones (`pages.viewer.room_routes`): the name it answers to."""

_TABS = Places(lambda: policy.limit("tabs_of_all"))
_STREAMS = Places(lambda: MOST_STREAMS)

_NEW_TABS, _NEW_COOKIES = Rate(600, 5), Rate(600, 5)
"""Per network of a hosted app: two large classes may arrive at the same time, and then five people a second."""

_streams: Counter[str] = Counter()
"""Open event streams by visitor."""

_tabs: dict[str, str] = {}
"""The tabs that are open in this process, with the visitor of each."""

_waiting: set[str] = set()
"""Tabs that were over the limit when they were opened and, as far as is known, still are."""


def has_place(tab: str) -> bool:
    """Whether the tab is within the number that its visitor may have open. A surplus tab is, once enough others are
    closed.
    """
    if tab in _waiting and (visitor := _tabs.get(tab)) is not None:
        most = roles.limit("tabs", visitor)
        # If tabs can no longer be counted, let the visitor view what is there.
        with suppress(DataDirError):
            if most is not None and usage.of_home().tab_opened(visitor, tab) > most:
                return False
        _waiting.discard(tab)
    return True


def _opened(visitor: str, tab: str) -> bool:
    """Count a tab as open, and return whether to let it in, be it only to say that it is one too many."""
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
    """The ASGI middleware that applies these rules to every request. With `phones_at` it guards the listener for
    phones: that one answers to this name alone, and takes and gives no token.
    """

    def __init__(self, app: ASGIApp, phones_at: str = "") -> None:
        self._app, self._phones_at = app, phones_at

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass the request on, or refuse it with a message."""
        if scope["type"] not in ("http", "websocket"):
            await self._app(scope, receive, send)
            return
        if self._phones_at:
            scope[PHONES] = self._phones_at
        if words := refusal(scope):
            await _refuse(scope, receive, send, words)
            return
        if not self._phones_at and not await _has_access(scope, receive, send):
            return
        with ExitStack() as places:
            try:
                _take_places(scope, places)
            except NoFreePlaceError as error:
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
    """Take the places that the request needs while it is open, and enter them in `places`. Raises NoFreePlaceError."""
    address, path = _address(scope), str(scope.get("path", ""))
    is_tab, is_stream = scope["type"] == "websocket", path.startswith(STREAMS)

    def is_reserved() -> bool:
        if PHONES in scope or not policy.is_hosted():
            # Phones never take the place of the person whose machine it is.
            return PHONES not in scope
        return path == _HEALTH or roles.role_of(_visitor(scope)) in (roles.HOST, roles.TEACHER)

    if is_tab and policy.is_hosted() and not _NEW_TABS.take(address) and not is_reserved():
        raise NoFreePlaceError("Too many tabs were opened from your network. Try again in a minute.")
    if is_stream:
        visitor = _visitor(scope)
        most = STREAMS_OF_PHONE if PHONES in scope else roles.limit("tabs", visitor)
        if most is not None and _streams[visitor] >= _SURPLUS * most:
            raise NoFreePlaceError("You are watching too many runs at once. Close some tabs of this app.")
    end, files = end_of(scope), FILES_OF_TAB if is_tab else 1
    places.enter_context(CONNECTIONS.reserve(address, end, is_reserved, files))
    for kind in ([_TABS] if is_tab else []) + ([_STREAMS] if is_stream else []):
        places.enter_context(kind.reserve(address, end, is_reserved))
    if is_stream:
        _streams[visitor] += 1
        places.callback(_stream_closed, visitor)


def _stream_closed(visitor: str) -> None:
    _streams[visitor] -= 1
    if not _streams[visitor]:
        del _streams[visitor]


async def _has_access(scope: Scope, receive: Receive, send: Send) -> bool:
    """Whether the request may go on. If not, it is answered here. A request with the right token gets the cookie and is
    redirected to the same address without the token, so that the token stays out of links and histories.
    """
    if not instance.is_required() or scope["path"] in (_HEALTH, instance.ROUTE):
        return True
    may = instance.is_cookie(_cookie(scope, name := f"{ACCESS}_{port(scope)}"))
    asked = parse_qsl(scope.get("query_string", b"").decode("latin-1"), keep_blank_values=True)
    given = [value for key, value in asked if key == "token"]
    if scope.get("method") in ("GET", "HEAD") and given and (may or instance.is_token(given[0])):
        rest = urlencode([(key, value) for key, value in asked if key != "token"])
        # Only one slash: after two, the next word would be read as the name of another machine.
        place = f"/{quote(scope['path'].lstrip('/'))}{'?' if rest else ''}{rest}"
        headers = {**HEADERS, "location": place, "cache-control": "no-store"}
        if not may:
            headers["set-cookie"] = f"{name}={instance.cookie()}; {_rules(scope)}"
        await Response("", 303, headers)(scope, receive, send)
    elif not may and "text/html" in Headers(scope=scope).get("accept", ""):
        await HTMLResponse(_NO_TOKEN.replace("{port}", str(port(scope))), 403, HEADERS)(scope, receive, send)
    elif not may:
        await _refuse(scope, receive, send, "Open the address with the token, printed where this app was started.")
    return may and not given


def port(scope: Scope) -> int:
    """Return the port on which the request arrived."""
    return int((scope.get("server") or ("", 0))[1] or 0)


def refusal(scope: Scope) -> str:
    """Return why a request is refused, in words for its sender; empty if it is let in."""
    headers = Headers(scope=scope)
    asked = headers.get("host", "")
    host = _name(f"//{asked}")
    if PHONES in scope and host != scope[PHONES]:
        return "This page has another address: the one on the screen."
    if PHONES not in scope and host not in policy.allowed_hosts():
        return (
            f"This app is not served under the name {host[:100]!r}. If it should, start it with that name in "
            "EXPLAIN_HOSTS."
        )
    origin = headers.get("origin", "")
    changes = scope["type"] == "websocket" or scope.get("method") not in ("GET", "HEAD", "OPTIONS")
    if changes and origin and urlsplit(origin).netloc.lower() != asked.lower():
        return "Only this app's own pages may use it, and this request comes from another page."
    if PHONES in scope:
        return ""  # The listener has routes for phones alone.
    path = str(scope.get("path", ""))
    if _AGENTS in path:
        return "Only this app's own pages may use it."
    if path.endswith(_METRICS) and policy.is_hosted() and roles.role_of(_visitor(scope)) != roles.HOST:
        return "Only the host can see these figures."
    return _no_upload(path, headers) if changes and _UPLOADS in path else ""


def _no_upload(path: str, headers: Mapping[str, str]) -> str:
    """Return why an upload is refused; empty if it is accepted, and then its size is counted. An upload without a
    length is refused, because it might never end.
    """
    session = path.partition(_UPLOADS)[2].partition("/")[0]
    if session not in _sent:
        return "This page does not accept files."
    length = headers.get("content-length", "0")
    if "transfer-encoding" in headers or not (length.isdecimal() and len(length) < 16):
        return "An upload must give its length."
    most = (policy.limit("bundle_mb") or 0) * 1_000_000
    if _sent[session] + int(length) > most:
        return f"A page accepts {most // 1_000_000:,} MB of files in total. Reload it to send more."
    _sent[session] += int(length)
    return ""


def _introduced(scope: Scope, reply: dict[bytes, bytes]) -> dict[str, str]:
    """Return the headers that give a browser its cookie, if the reply is a page and the browser has no valid cookie
    yet.
    """
    if scope["type"] != "http" or not reply.get(b"content-type", b"").startswith(b"text/html"):
        return {}
    given = _cookie(scope, COOKIE)
    if code_in(given) or ((policy.is_hosted() or PHONES in scope) and not _NEW_COOKIES.take(_address(scope))):
        return {}
    # Earlier versions did not sign the code, and a key may be lost. A browser keeps its code, and with it the person's
    # runs.
    code = given.partition(".")[0]
    code = code if _CODE.fullmatch(code) else secrets.token_urlsafe(24)
    # A proxy must not store this reply and give the cookie to the next browser.
    return {"set-cookie": f"{COOKIE}={cookie_of(code)}; {_rules(scope)}", "cache-control": "private, no-store"}


def _rules(scope: Scope) -> str:
    """Return the attributes of our cookies."""
    # Lax: visitors who follow a link from another site are still recognised.
    return f"Path=/; Max-Age={_KEPT_SECONDS}; HttpOnly; SameSite=Lax{'; Secure' if is_sealed(scope) else ''}"


def _cookie(scope: Scope, name: str) -> str:
    """Return the cookie of that name as the browser sent it; empty if it sent none."""
    return HTTPConnection(scope).cookies.get(name, "")


def _visitor(scope: Scope) -> str:
    """Return the name of the visitor who sent the request. Those without our cookie share one name per network."""
    if code := code_in(_cookie(scope, COOKIE)):
        return name_of_visitor(code)
    return f"at {network_of(_address(scope))}"


def _address(scope: Scope) -> str:
    """Return the network address from which the request comes. Behind a trusted proxy, uvicorn has set it to what the
    proxy reports.
    """
    return str((scope.get("client") or ("?",))[0])


def is_sealed(scope: Scope) -> bool:
    """Whether the browser uses TLS, to us or to a proxy in front of us."""
    return "https" in (scope.get("scheme"), Headers(scope=scope).get("x-forwarded-proto"))


def _secure(scope: Scope, name: bytes, value: bytes) -> bytes:
    """Return the value of one of Streamlit's headers; under TLS its cookies are marked Secure."""
    is_open = name.lower() == b"set-cookie" and is_sealed(scope) and b"secure" not in value.lower()
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
    await PlainTextResponse(f"{words}\n", status, {"x-content-type-options": "nosniff"})(scope, receive, send)
