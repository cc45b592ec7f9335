"""What the app allows: everything that a person alone on their machine may do, and much less where it serves others.

It is hosted as soon as it can be reached from another machine: when its server listens beyond loopback, or answers to a
name that is not loopback's. Each setting can be changed by itself, in the environment: EXPLAIN_FILES=yes, for instance.
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from hmac import compare_digest
from typing import NamedTuple

SHORTEST_CODE = 12
"""Letters of the host's code: shorter ones can be guessed."""

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


SETTINGS = (
    Setting(
        "files",
        "Fields take paths of this machine: data sets, prompt packs, GGUF and FIND folders anywhere on it.",
        True,
        False,
        "A visitor could read whatever the app can read. What lies in $EXPLAIN_HOME/datasets and /models stays usable.",
    ),
    Setting(
        "endpoints",
        "People add endpoints of their own on the Models page, with their own keys.",
        True,
        False,
        "The app would ask any address that a visitor names, from inside the host's network.",
    ),
    Setting(
        "downloads",
        "People download local models onto this machine.",
        True,
        False,
        "Each takes up to 2.4 GB of the host's disk.",
    ),
    Setting(
        "others",
        "People open, go on with, stop and download the runs of others, and speak in their name.",
        True,
        False,
        "A run holds what somebody asked. Its owner can share it; whoever has the host's code sees all.",
    ),
)
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


LIMITS = (
    Limit("runs_at_once", "Runs that one visitor has going on at once.", 3, "Others wait for the same models."),
    Limit(
        "runs_of_all", "Runs that all visitors together have going on at once.", 60, "Each takes memory and threads."
    ),
    Limit("calls_a_run", "Calls that one run may make.", 500, "One form could ask for 171,000, with the host's key."),
    Limit(
        "calls_a_day", "Calls that the runs of one visitor may make a day.", 5_000, "Many small runs are a large one."
    ),
    Limit(
        "calls_of_all_a_day",
        "Calls that the runs of all visitors together may make a day.",
        50_000,
        "Whoever comes back without a cookie is a new visitor.",
    ),
    Limit("stored_mb", "Megabytes of runs, from which on none is begun.", 2_000, "A full disk stops everyone's runs."),
    Limit(
        "days_kept",
        "Days after which a visitor's run is deleted, unless it is shared.",
        180,
        "What people asked is not kept longer than they need it.",
    ),
    Limit("query_seconds", "Seconds that an SQL query may take.", 5, "It may ask for more than there is.", 20),
    Limit("query_rows", "Rows that an SQL query gives.", 10_000, "No page shows more.", 10_000),
    Limit("query_mb", "Megabytes of memory that an SQL query may take.", 300, "Two run at once.", 1_000),
    Limit(
        "bundle_mb", "Megabytes of runs that are imported at once.", 200, "A small file may hold a large one.", 2_000
    ),
    Limit("bundle_journals", "Journals that are imported at once.", 2_000, "Each is a file.", 20_000),
    Limit("bundle_seconds", "Seconds that an import may take.", 60, "Nothing else may wait for it.", 600),
)
"""In the order in which they are shown."""

_served: set[str] = set()


def serve(address: str | None) -> None:
    """Say where the server listens: an address of this machine, empty or None for all of them."""
    _served.add((address or "0.0.0.0").strip("[]").lower())  # noqa: S104  what None means, not a place to listen at


def hosts() -> frozenset[str]:
    """The names under which the app answers: loopback's, and those of EXPLAIN_HOSTS, apart by commas."""
    named = os.environ.get("EXPLAIN_HOSTS", "").lower().split(",")
    return LOOPBACK | {name.strip() for name in named if name.strip()}


def hosted() -> bool:
    """Whether people on other machines may reach the app."""
    return not (_served | hosts()) <= LOOPBACK


def is_host_code(code: str) -> bool:
    """Whether `code` is that of whoever hosts the app: EXPLAIN_HOST_CODE, which opens nothing where it is short."""
    set_code = os.environ.get("EXPLAIN_HOST_CODE", "").strip()
    return len(set_code) >= SHORTEST_CODE and compare_digest(
        *(one.strip().encode("utf-8", "surrogatepass") for one in (code, set_code))
    )


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
    if chosen.isdecimal() and len(chosen) <= 9:
        return int(chosen)
    return one.hosted if hosted() else one.alone


def child_environment() -> dict[str, str]:
    """What a process that we start finds in its environment: where things are, and no key or password of anybody's."""
    return {name: value for name, value in os.environ.items() if name.upper().startswith(_INHERITED)}


def table() -> Iterable[tuple[Setting, bool]]:
    """Each setting, and whether it allows what it speaks of here."""
    return [(setting, allows(setting.name)) for setting in SETTINGS]
