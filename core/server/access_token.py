"""Who may open an app that serves one person. Every account on a machine can reach loopback, so the address has a
token, which is new at each start. A browser that came with the token gets a cookie, which stays valid after a
restart.
"""

from __future__ import annotations

import secrets

from .. import home, policy

_TOKEN = secrets.token_urlsafe(32)


def is_required() -> bool:
    """Whether the app opens only for browsers with the token, or with the cookie that they got for it."""
    return policy.allows("token")


def address(url: str, page: str = "") -> str:
    """The address to open: that of a `page` or of the front page. `url` is where the server listens, without a slash at
    its end.
    """
    if is_required():
        return f"{url}/{page}{'&' if '?' in page else '?'}token={_TOKEN}"
    return f"{url}/{page}" if page else url


def is_token(given: str) -> bool:
    """Whether `given` is the token of this start."""
    return home.is_same(given, _TOKEN)


def cookie() -> str:
    """The value of the cookie for browsers that came with the token: signed with this home's key."""
    return home.signature("came with the token")


def is_cookie(given: str) -> bool:
    """Whether this home issued the cookie, at this start or an earlier one."""
    return home.is_same(given, cookie())
