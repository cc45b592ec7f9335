"""What the app allows: everything for a person alone on their machine, much less when it serves others.

The app is hosted as soon as it can be reached from another machine: if its server listens beyond loopback, or answers
to a name that is not loopback's. Each setting can be changed by an environment variable, such as EXPLAIN_FILES=yes.
"""

import os
import subprocess
from collections.abc import Iterable, Sequence
from difflib import get_close_matches
from hmac import compare_digest
from ipaddress import IPv4Address
from typing import NamedTuple

from . import package_data
from .errors import ExplainError

ROLES = {"host": 12, "teacher": 12, "participant": 6}
"""The roles for signing in, from most to fewest rights, and the minimum length of each one's code (EXPLAIN_HOST_CODE
and so on). Shorter codes can be guessed. The participants' code is short because people read it off a board, and it
gives no access to other people's data.
"""

LOOPBACK = frozenset({"localhost", "127.0.0.1", "::1"})


class NotAllowedError(ExplainError, ValueError):
    """Something is not allowed here; the message says what, and what can be done instead."""


class Setting(NamedTuple):
    """One thing that is allowed or not, for a person `alone` and for the visitors of a `hosted` app."""

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
"""All settings, in the order in which they are shown."""


class Limit(NamedTuple):
    """How much of one thing the visitors of a `hosted` app may have, and a person `alone`; None means no limit."""

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
"""All limits, in the order in which they are shown."""

_served: set[str] = set()


def set_listen_address(address: str | None) -> None:
    """Record where the server listens: an address of this machine; empty or None means all of them."""
    _served.add((address or "0.0.0.0").strip("[]").lower())  # noqa: S104  the meaning of None, not an address to listen on


def allowed_hosts() -> frozenset[str]:
    """Return the host names to which the app answers: those of loopback and those in EXPLAIN_HOSTS, separated by
    commas.
    """
    named = os.environ.get("EXPLAIN_HOSTS", "").lower().split(",")
    return LOOPBACK | {name.strip() for name in named if name.strip()}


def models() -> frozenset[str]:
    """Return the ids of the models behind the host's keys that visitors may ask: those in EXPLAIN_MODELS, separated by
    commas.
    """
    return frozenset(name.strip() for name in os.environ.get("EXPLAIN_MODELS", "").split(",") if name.strip())


def is_hosted() -> bool:
    """Whether people on other machines can reach the app."""
    return not (_served | allowed_hosts()) <= LOOPBACK


def code_for(role: str) -> str:
    """Return the sign-in code for a host, teacher or participant; empty if none is set or it is too short, and then
    nobody can sign in with it. Raises KeyError for an unknown role.
    """
    code = _set_code(role)
    return code if len(code) >= ROLES[role] else ""


def role_by(code: str) -> str:
    """Return the role that `code` gives, the one with most rights if several match; empty for a wrong code."""
    given = code.strip().encode("utf-8", "surrogatepass")
    return next((role for role in ROLES if (right := code_for(role)) and compare_digest(given, right.encode())), "")


def requires_code() -> bool:
    """Whether a visitor must type a code to enter: true if a participants' code is set, even one that is too short."""
    return bool(_set_code("participant"))


def class_address() -> str:
    """Return the address of this machine at which phones may join a class while the app is not hosted, from
    EXPLAIN_CLASS_ADDRESS; empty if none is set.
    """
    return os.environ.get(_CLASS_ADDRESS, "").strip()


_CLASS_ADDRESS = "EXPLAIN_CLASS_ADDRESS"

_OTHERS = ("EXPLAIN_HOME", "EXPLAIN_HOSTS", "EXPLAIN_MODELS", "EXPLAIN_DATA_MIRROR", _CLASS_ADDRESS)
"""Variables that hold text."""


def faults() -> list[str]:
    """Return what is wrong with the EXPLAIN_… variables of the environment, one sentence each. The app does not start
    with a variable that it does not know or cannot read, because a limit that the host wanted would then not apply.
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
        elif name == _CLASS_ADDRESS and value and not _is_own_address(value):
            found.append(f"{name} has to be an IPv4 address of this machine, such as 192.168.1.20.")
        elif 0 < len(value) < codes.get(name, 0):
            found.append(f"{name} is too short and easily guessed: it needs {codes[name]} characters.")
    return found


def _is_own_address(text: str) -> bool:
    """Whether it may be the address of one network of this machine: 0.0.0.0 would be all of them."""
    try:
        return not (IPv4Address(text).is_unspecified or text in LOOPBACK)
    except ValueError:
        return False


def _set_code(role: str) -> str:
    return os.environ.get(_variable(role), "").strip()


def _variable(role: str) -> str:
    return f"EXPLAIN_{role.upper()}_CODE"


def allows(name: str) -> bool:
    """Whether the setting `name` allows its subject here. Raises KeyError for an unknown name."""
    setting = {setting.name: setting for setting in SETTINGS}[name]
    chosen = os.environ.get(setting.variable, "").strip().lower()
    if chosen in ("yes", "no"):
        return chosen == "yes"
    # Any other value is ignored: a typo must not open anything.
    return setting.hosted if is_hosted() else setting.alone


_INHERITED = (
    *("PATH", "HOME", "USER", "LOGNAME", "LANG", "LANGUAGE", "LC_", "TZ", "TMP", "TEMP", "TMPDIR", "XDG_"),
    *("VIRTUAL_ENV", "PYTHON", "LD_LIBRARY_PATH", "DYLD_", "OMP_", "MKL_", "OPENBLAS_", "CUDA_VISIBLE"),
    *("HF_HOME", "HF_HUB_CACHE", "TORCH_HOME", "SYSTEMROOT", "SYSTEMDRIVE", "WINDIR", "USERPROFILE"),
    *("APPDATA", "LOCALAPPDATA", "PROGRAMDATA", "COMSPEC"),
)
"""Prefixes of the variables that our child processes need."""


def limit(name: str) -> int | None:
    """Return the current value of the limit `name`; None if there is no limit. Raises KeyError for an unknown name."""
    one = {limit.name: limit for limit in LIMITS}[name]
    chosen = os.environ.get(one.variable, "").strip()
    if _is_whole(chosen):
        return int(chosen)
    return one.hosted if is_hosted() else one.alone


def _is_whole(text: str) -> bool:
    return text.isdecimal() and len(text) <= 9


def child_environment() -> dict[str, str]:
    """Return the environment for a process that we start: paths and the like, but no keys or passwords."""
    return {name: value for name, value in os.environ.items() if name.upper().startswith(_INHERITED)}


def start_process(
    command: Sequence[str], stderr: int | None = subprocess.DEVNULL, **more: str
) -> "subprocess.Popen[bytes]":
    """Start a process of ours in the app's folder, with `more` variables in its environment, and pipes to its standard
    input and from its output. It is in a group of its own, so that it can be ended with all it starts, and so that
    Ctrl+C reaches the app alone, which ends it.
    """
    return subprocess.Popen(  # noqa: S603  our own command
        command,
        cwd=package_data.ROOT,
        env={**child_environment(), **more},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=stderr,
        start_new_session=True,
    )


def table() -> Iterable[tuple[Setting, bool]]:
    """Return each setting, and whether it allows its subject here."""
    return [(setting, allows(setting.name)) for setting in SETTINGS]
