"""The one app that serves a home: its address, who may open it, and how a command gets a copy of its index."""

import json
import os
import secrets
from contextlib import suppress
from pathlib import Path

from .. import home, policy
from ..errors import ExplainError
from ..lease import Lease, LeaseHeldError

ROUTE = "/index"
"""Where the app gives a copy of its index to a command that can read the home's key."""

HEADER = "x-explain-key"

LONGEST_WAIT = 600.0
"""How many seconds a command waits: the app may still be reading the journals."""

_leases: dict[Path, Lease] = {}
"""The homes that this process serves."""


class HomeInUseError(ExplainError):
    """Another app serves this home; the message says where."""


class IndexNotLentError(ExplainError):
    """The app that serves this home gave no copy of its index; the message says why."""


def claim(url: str) -> None:
    """Serve this home from now on, at `url` on this machine. A read-only home is not claimed.

    Raises HomeInUseError if another app serves it, and DataDirError.
    """
    folder = home.home()
    if folder in _leases or not os.access(folder, os.W_OK):
        return
    try:
        _leases[folder] = Lease(folder / ".app")
    except LeaseHeldError as held:
        at = f"at {there}" if (there := _url()) else f"in {held.who}"
        raise HomeInUseError(
            f"Another copy of this app already serves {folder}, {at}. Use that one, or set EXPLAIN_HOME to another "
            "folder for this one."
        ) from None
    home.write(_file(folder), json.dumps({"url": url}).encode())


def release() -> None:
    """Stop serving any home."""
    for folder, lease in list(_leases.items()):
        with suppress(OSError):
            _file(folder).unlink(missing_ok=True)
        lease.release()
        del _leases[folder]


def key() -> str:
    """What a command sends to show that it may read this home. Raises nothing."""
    return home.signature("the index")


def is_key(given: str) -> bool:
    """Whether `given` is that key."""
    return home.secrets_match(given, key())


def borrow() -> Path:
    """The path of a copy of the running app's index, up to date with the journals. Raises IndexNotLentError."""
    import httpx2

    if not (url := _url()):
        raise IndexNotLentError("No app serves this home.")
    try:
        answer: httpx2.Response = httpx2.get(
            f"{url}{ROUTE}", headers={HEADER: key()}, timeout=LONGEST_WAIT, trust_env=False
        )
    except httpx2.HTTPError as error:
        raise IndexNotLentError(f"The app at {url} does not answer ({error}).") from None
    if answer.status_code != 200:
        raise IndexNotLentError(f"The app at {url} did not share its index: {answer.text.strip()[:300]}")
    return Path(answer.text)


def _url() -> str:
    """The address of the app that serves this home; an empty string if it is not known."""
    with suppress(OSError, ValueError, KeyError, TypeError):
        return str(json.loads(_file(home.home()).read_bytes())["url"])
    return ""


def _file(folder: Path) -> Path:
    return folder / "app.json"


# Who may open an app that serves one person. Every account on a machine can reach loopback, so the address has a
# token, which is new at each start. A browser that came with the token gets a cookie, which stays valid after a
# restart.


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
    return home.secrets_match(given, _TOKEN)


def cookie() -> str:
    """The value of the cookie for browsers that came with the token: signed with this home's key."""
    return home.signature("came with the token")


def is_cookie(given: str) -> bool:
    """Whether this home issued the cookie, at this start or an earlier one."""
    return home.secrets_match(given, cookie())
