"""Who is a host, a teacher or a participant: people who typed the code for that role, as long as the code is unchanged.

The home stores what a browser signed in as, under the visitor's name from its cookie, so that it holds in every process
and after a reload. The file holds one number, which only the code and the home's key can produce for that name. So no
code and no role is stored anywhere, a changed code ends all sessions that used the old one, and a file copied to
another name is worthless.
"""

import hashlib
import hmac
import math
import os
import re
import time
from contextlib import suppress
from functools import lru_cache
from pathlib import Path

from .. import home, policy
from ..errors import ExplainError
from . import usage
from .usage import network_of

HOST, TEACHER, PARTICIPANT = policy.ROLES

LASTS = 30 * 24 * 3600
"""Seconds after which people have to type the code again."""

_NAME = re.compile(r"[0-9a-f]{16}")
"""A visitor's name, as `core.server.access` makes it."""

_LETTERS = 64
"""The length of the number in a file, in hexadecimal digits."""


class SignInError(ExplainError):
    """The code was not accepted; the message says why, and what to do."""


def enter(visitor: str, code: str, address: str) -> str:
    """Sign in the visitor, who typed `code` at that network address, and return their role. Raises SignInError for a
    wrong code, and for any code while that address has to wait after wrong ones; and DataDirError.
    """
    role, who = policy.role_by(code), network_of(address)
    counts = usage.of_home()
    if wait := counts.code_typed(who, bool(role)):
        raise SignInError(f"After several wrong codes, this one was not checked. Try again in {_time(wait)}.")
    if not role:
        more = f" You can try again in {_time(wait)}." if (wait := counts.wait(who)) else ""
        raise SignInError(f"This code is not valid.{more}")
    sign_in(visitor, role)
    return role


def _time(seconds: float) -> str:
    number, unit = (math.ceil(seconds), "second") if seconds <= 90 else (math.ceil(seconds / 60), "minute")
    return f"{number} {unit}{'' if number == 1 else 's'}"


def sign_in(visitor: str, role: str) -> None:
    """Store that the visitor of that name typed the code for `role`. Raises DataDirError if the home cannot be
    written.
    """
    home.must_write(home.home())
    home.write(_file(visitor), _number(visitor, role).encode())


def sign_out(visitor: str) -> None:
    """Forget the visitor's role."""
    _file(visitor).unlink(missing_ok=True)


def role_of(visitor: str) -> str:
    """The visitor's role: HOST, TEACHER or PARTICIPANT. Without a code everybody is a participant, or, if the app opens
    only with a code, nothing (an empty string).
    """
    kept = _kept(visitor)
    for role in policy.ROLES if kept else ():
        if policy.code_for(role) and hmac.compare_digest(kept, _number(visitor, role).encode()):
            return role
    return "" if policy.requires_code() else PARTICIPANT


def limit(name: str, visitor: str) -> int | None:
    """The per-visitor limit `name` (`core.policy.LIMITS`) for this visitor; teachers and hosts get a multiple of it."""
    most = policy.limit(name)
    if most is None or role_of(visitor) not in (HOST, TEACHER):
        return most
    return most * (policy.limit("teacher_times") or 1)


def purge_expired() -> None:
    """Delete sign-ins that have expired."""
    for path in _folder().glob("*"):
        with suppress(OSError):
            if not _lasts(path.stat().st_mtime):
                path.unlink()


def _kept(visitor: str) -> bytes:
    """The number stored for the visitor; empty if there is none or it has expired."""
    if not _NAME.fullmatch(visitor):
        # The command line's runs have no owner's name, and a journal may name anybody as its owner.
        return b""
    with suppress(OSError), _file(visitor).open("rb") as file:
        if _lasts(os.fstat(file.fileno()).st_mtime):
            return file.read(_LETTERS + 1)
    return b""


def _lasts(since: float) -> bool:
    return time.time() - since < LASTS


def _number(visitor: str, role: str) -> str:
    key = _key(policy.code_for(role), home.key())
    return hmac.new(key, f"{role} {visitor}".encode(), hashlib.sha256).hexdigest()


@lru_cache(maxsize=8)
def _key(code: str, salt: bytes) -> bytes:
    """A key from the code, slow to compute, once per process: someone who obtained a home could not try codes
    quickly.
    """
    return hashlib.scrypt(code.encode(), salt=salt, n=2**14, r=8, p=1)


def _file(visitor: str) -> Path:
    return _folder() / visitor


def _folder() -> Path:
    return home.home() / "signed-in"
