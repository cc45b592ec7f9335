"""Who may come in: requests under a name the app answers to, from pages of its own; who may send files; what every
reply forbids; and the cookie by which a browser is known again.

Without this any page on the web that a person has open could drive an app on their machine.
"""

from __future__ import annotations

import re
import secrets
from collections import OrderedDict
from collections.abc import Awaitable, Callable, Mapping, MutableMapping
from http.cookies import CookieError, SimpleCookie
from typing import Any
from urllib.parse import urlsplit

from core import policy
from core.people.visit import code_in, cookie_of

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
"""Its value is the code of one visitor, signed: whoever has it has that person's runs. No script of a page reads it."""

_CODE = re.compile(r"[A-Za-z0-9_-]{32}")
"""A code as it has always been given."""

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

        async def sealed(message: Message) -> None:
            if message["type"] == "http.response.start":
                theirs = [(name.lower(), value) for name, value in message["headers"]]
                ours = {**HEADERS, **_introduced(scope, dict(theirs))}
                kept = [(name, value) for name, value in theirs if name == b"set-cookie" or name.decode() not in ours]
                message["headers"] = [*kept, *((name.encode(), value.encode()) for name, value in ours.items())]
            await send(message)

        await self._app(scope, receive, sealed)


def refusal(scope: Scope) -> str:
    """Why a request is not let in, for whoever sent it; empty where it is."""
    headers = _headers(scope)
    asked = headers.get("host", "")
    host = _name(f"//{asked}")
    if host not in policy.hosts():
        return (
            f"This app does not answer to the name {host[:100]!r}. If it should, whoever runs it starts it with that "
            "name in EXPLAIN_HOSTS."
        )
    origin = headers.get("origin", "")
    changes = scope["type"] == "websocket" or scope.get("method") not in ("GET", "HEAD", "OPTIONS")
    if changes and origin and urlsplit(origin).netloc.lower() != asked.lower():
        return "This app is driven by its own pages only, and this request comes from another."
    path = str(scope.get("path", ""))
    if _AGENTS in path:
        return "This app is driven by its own pages only."
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
        return f"A page takes {most // 1_000_000:,} MB of files altogether. Load it anew to send more."
    _sent[session] += int(length)
    return ""


def _headers(scope: Scope) -> dict[str, str]:
    return {name.decode("latin-1").lower(): value.decode("latin-1") for name, value in scope["headers"]}


def _introduced(scope: Scope, reply: dict[bytes, bytes]) -> dict[str, str]:
    """The headers that give a browser its cookie, with a page, where it has none."""
    if scope["type"] != "http" or not reply.get(b"content-type", b"").startswith(b"text/html"):
        return {}
    headers = _headers(scope)
    try:
        known = SimpleCookie(headers.get("cookie", "")).get(COOKIE)
    except CookieError:
        known = None
    given = known.value if known is not None else ""
    if code_in(given):
        return {}
    # Earlier versions signed nothing, and a key may be lost: whoever comes with a code keeps it, and so their runs.
    code = given.partition(".")[0]
    code = code if _CODE.fullmatch(code) else secrets.token_urlsafe(24)
    is_sealed = "https" in (scope.get("scheme"), headers.get("x-forwarded-proto"))
    # Lax: whoever follows a link from elsewhere stays who they are.
    rules = f"Path=/; Max-Age={_KEPT_SECONDS}; HttpOnly; SameSite=Lax{'; Secure' if is_sealed else ''}"
    # What stands between must not keep it for the next browser.
    return {"set-cookie": f"{COOKIE}={cookie_of(code)}; {rules}", "cache-control": "private, no-store"}


def _name(address: str) -> str:
    try:
        return (urlsplit(address).hostname or "").lower()
    except ValueError:
        return ""


async def _refuse(scope: Scope, receive: Receive, send: Send, words: str) -> None:
    if scope["type"] == "websocket":
        await receive()
        await send({"type": "websocket.close", "code": 1008, "reason": words[:100]})
        return
    plain = [(b"content-type", b"text/plain; charset=utf-8"), (b"x-content-type-options", b"nosniff")]
    await send({"type": "http.response.start", "status": 403, "headers": plain})
    await send({"type": "http.response.body", "body": f"{words}\n".encode()})
