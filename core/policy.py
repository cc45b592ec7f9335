"""What the app allows: everything that a person alone on their machine may do, and much less where it serves others.

It is hosted as soon as it can be reached from another machine: when its server listens beyond loopback, or answers to a
name that is not loopback's. Each setting can be changed by itself, in the environment: EXPLAIN_FILES=yes, for instance.
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from difflib import get_close_matches
from hmac import compare_digest
from typing import NamedTuple

from . import package_data

ROLES = {"host": 12, "teacher": 12, "participant": 6}
"""Who may sign in, the mightiest first, and how many letters the code for it has at least: EXPLAIN_HOST_CODE and so on.
Shorter ones can be guessed; the participants' one is read off a board, and lets nobody at what is another's.
"""

LOOPBACK = frozenset({"localhost", "127.0.0.1", "::1"})


class NotAllowed(ValueError):
    """The message says what is not allowed here, and what may be done instead."""


class Setting(NamedTuple):
    """One thing that is allowed or not, for a person alone and for those whom a host serves."""

    name: str
    allows: str
    alone: bool
    hosted: bool
    why: str

    @property
    def variable(self) -> str:
        """The environment variable that changes it: yes or no."""
        return f"EXPLAIN_{self.name.upper()}"


SETTINGS = package_data.rows("policy", "setting", Setting)
"""In the order in which they are shown."""


class Limit(NamedTuple):
    """How much of one thing those whom a host serves may have, and a person `alone`: None is any amount."""

    name: str
    what: str
    hosted: int
    why: str
    alone: int | None = None

    @property
    def variable(self) -> str:
        """The environment variable that changes it: a whole number."""
        return f"EXPLAIN_{self.name.upper()}"


LIMITS = package_data.rows("policy", "limit", Limit)
"""In the order in which they are shown."""

_served: set[str] = set()


def serve(address: str | None) -> None:
    """Say where the server listens: an address of this machine, empty or None for all of them."""
    _served.add((address or "0.0.0.0").strip("[]").lower())  # noqa: S104  what None means, not a place to listen at


def hosts() -> frozenset[str]:
    """The names under which the app answers: loopback's, and those of EXPLAIN_HOSTS, apart by commas."""
    named = os.environ.get("EXPLAIN_HOSTS", "").lower().split(",")
    return LOOPBACK | {name.strip() for name in named if name.strip()}


def models() -> frozenset[str]:
    """The models behind the host's keys that visitors may ask, by id: those of EXPLAIN_MODELS, apart by commas."""
    return frozenset(name.strip() for name in os.environ.get("EXPLAIN_MODELS", "").split(",") if name.strip())


def hosted() -> bool:
    """Whether people on other machines may reach the app."""
    return not (_served | hosts()) <= LOOPBACK


def code_for(role: str) -> str:
    """The code by which one signs in as a host, teacher or participant; empty where none is set, or a short one, which
    opens nothing. Raises KeyError for a role that is none.
    """
    code = _set_code(role)
    return code if len(code) >= ROLES[role] else ""


def role_by(code: str) -> str:
    """As what `code` signs in, the mightiest first; empty for a wrong one."""
    given = code.strip().encode("utf-8", "surrogatepass")
    return next((role for role in ROLES if (right := code_for(role)) and compare_digest(given, right.encode())), "")


def by_code_alone() -> bool:
    """Whether only those come in who have typed a code: one for participants is set, be it as short as it may."""
    return bool(_set_code("participant"))


_OTHERS = ("EXPLAIN_HOME", "EXPLAIN_HOSTS", "EXPLAIN_MODELS", "EXPLAIN_DATA_MIRROR")
"""Variables that take any text."""


def faults() -> list[str]:
    """What is wrong with the variables EXPLAIN_… of the environment, a sentence each: nothing starts with one that is
    not known or cannot be read, as a limit that was meant would not hold.
    """
    settings = {one.variable for one in SETTINGS}
    limits = {one.variable for one in LIMITS}
    codes = {_variable(role): least for role, least in ROLES.items()}
    known = settings | limits | codes.keys() | set(_OTHERS)
    found = []
    for name, value in sorted(os.environ.items()):
        value = value.strip()
        if name.startswith("EXPLAIN_") and name not in known:
            near = get_close_matches(name, known, 1, 0.8)
            found.append(
                f"{name} is not a setting{f'; did you mean {near[0]}?' if near else ': docs/host.md lists them.'}"
            )
        elif name in settings and value.lower() not in ("", "yes", "no"):
            found.append(f"{name} has to be yes or no.")
        elif name in limits and value and not _is_whole(value):
            found.append(f"{name} has to be a whole number of at most nine digits.")
        elif 0 < len(value) < codes.get(name, 0):
            found.append(f"{name} is too short and easily guessed: it needs {codes[name]} characters.")
    return found


def _set_code(role: str) -> str:
    return os.environ.get(_variable(role), "").strip()


def _variable(role: str) -> str:
    return f"EXPLAIN_{role.upper()}_CODE"


def allows(name: str) -> bool:
    """Whether what the setting `name` speaks of is allowed here. Raises KeyError for a name that is none."""
    setting = {setting.name: setting for setting in SETTINGS}[name]
    chosen = os.environ.get(setting.variable, "").strip().lower()
    if chosen in ("yes", "no"):
        return chosen == "yes"
    # Anything else changes nothing: a slip of the pen opens no door.
    return setting.hosted if hosted() else setting.alone


_INHERITED = (
    *("PATH", "HOME", "USER", "LOGNAME", "LANG", "LANGUAGE", "LC_", "TZ", "TMP", "TEMP", "TMPDIR", "XDG_"),
    *("VIRTUAL_ENV", "PYTHON", "LD_LIBRARY_PATH", "DYLD_", "OMP_", "MKL_", "OPENBLAS_", "CUDA_VISIBLE"),
    *("HF_HOME", "HF_HUB_CACHE", "TORCH_HOME", "SYSTEMROOT", "SYSTEMDRIVE", "WINDIR", "USERPROFILE"),
    *("APPDATA", "LOCALAPPDATA", "PROGRAMDATA", "COMSPEC"),
)
"""What names of variables begin with that a process of ours needs."""


def limit(name: str) -> int | None:
    """The limit `name` as it holds here; None where there is none. Raises KeyError for a name that is none."""
    one = {limit.name: limit for limit in LIMITS}[name]
    chosen = os.environ.get(one.variable, "").strip()
    if _is_whole(chosen):
        return int(chosen)
    return one.hosted if hosted() else one.alone


def _is_whole(text: str) -> bool:
    return text.isdecimal() and len(text) <= 9


def child_environment() -> dict[str, str]:
    """What a process that we start finds in its environment: where things are, and no key or password of anybody's."""
    return {name: value for name, value in os.environ.items() if name.upper().startswith(_INHERITED)}


def table() -> Iterable[tuple[Setting, bool]]:
    """Each setting, and whether it allows what it speaks of here."""
    return [(setting, allows(setting.name)) for setting in SETTINGS]
