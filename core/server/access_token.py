"""Who may open an app that serves one person. Every account of a machine reaches loopback, so the address has a token,
which is new at each start. A browser that came with the token gets a cookie, which lasts and holds after a restart.
"""

from __future__ import annotations

import secrets

from .. import home, policy

_TOKEN = secrets.token_urlsafe(32)


def is_required() -> bool:
    """Whether only those come in who have the token, or a cookie that was given for it."""
    return policy.allows("token")


def address(url: str) -> str:
    """The address to open; `url`, without a slash at its end, is where the server listens."""
    return f"{url}/?token={_TOKEN}" if is_required() else url


def is_token(given: str) -> bool:
    """Whether it is the token of this start."""
    return home.is_same(given, _TOKEN)


def cookie() -> str:
    """The value of the cookie for browsers that came with the token: signed with the key of this home."""
    return home.signature("came with the token")


def is_cookie(given: str) -> bool:
    """Whether the cookie was given here, at this start or an earlier one."""
    return home.is_same(given, cookie())
