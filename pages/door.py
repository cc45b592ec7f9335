"""Who may come in: requests under a name the app answers to, from pages of its own; and what every reply forbids.

Without this any page on the web that a person has open could drive an app on their machine.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, MutableMapping
from typing import Any
from urllib.parse import urlsplit

from core import policy

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
                kept = [(name, value) for name, value in message["headers"] if name.decode().lower() not in HEADERS]
                message["headers"] = [*kept, *((name.encode(), value.encode()) for name, value in HEADERS.items())]
            await send(message)

        await self._app(scope, receive, sealed)


def refusal(scope: Scope) -> str:
    """Why a request is not let in, for whoever sent it; empty where it is."""
    headers = {name.decode("latin-1").lower(): value.decode("latin-1") for name, value in scope["headers"]}
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
    return ""


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
