"""Where the person's own data lies: journals, store, response cache, downloaded models."""

from __future__ import annotations

import atexit
import hashlib
import hmac
import os
import secrets
import shutil
import tempfile
from contextlib import suppress
from functools import cache
from pathlib import Path

from .package_data import DATA

_KEY_BYTES = 32


class DataDirError(Exception):
    """The folder cannot be made, read or, where something is to be kept, written to; the message says what to do."""


def home() -> Path:
    """`$EXPLAIN_HOME`; by default `data/local/` beside the code where that is there, else the system's folder for the
    data of apps. Made if it is not there. Raises DataDirError.
    """
    path = Path(os.environ.get("EXPLAIN_HOME") or _default())
    try:
        return _made(path.expanduser())
    except RuntimeError:
        raise DataDirError(_words(path, "there is no such person on this machine")) from None


def _default() -> Path:
    if (beside := DATA / "local").is_dir():
        return beside
    from platformdirs import user_data_path

    return user_data_path("explain-yourself", appauthor=False)


def journals() -> Path:
    """The folder of journals, one file a run. Raises DataDirError."""
    return _made(home() / "journals")


def key() -> bytes:
    """32 random bytes of this home's own, made when they are first wanted: what they sign was made here. Where they
    cannot be kept they are this process's own.
    """
    with suppress(OSError, DataDirError):
        if len(kept := _key(home() / "cookies.key")) == _KEY_BYTES:
            return kept
    return _passing_key()


def signature(text: str) -> str:
    """The HMAC-SHA256 of `text` with this home's key, as 64 hexadecimal digits."""
    return hmac.new(key(), text.encode("utf-8", "replace"), hashlib.sha256).hexdigest()


def is_same(given: str, right: str) -> bool:
    """Whether the two texts are the same, in a time that does not tell how much of them is."""
    return hmac.compare_digest(given.encode("utf-8", "replace"), right.encode())


@cache
def _passing_key() -> bytes:
    return secrets.token_bytes(_KEY_BYTES)


@cache
def _key(path: Path) -> bytes:
    made = path.with_name(f".{path.name}.{secrets.token_hex(8)}")
    if not path.is_file():
        made.touch(0o600)
        made.write_bytes(secrets.token_bytes(_KEY_BYTES))
        # Whole from the first moment: another process may want it too, and the second one takes the first's.
        with suppress(FileExistsError):
            os.link(made, path)
        made.unlink()
    return path.read_bytes()


def answers() -> Path:
    """The file of the answers that were paid for. Raises DataDirError."""
    return home() / "answers.sqlite"


def recordings() -> Path:
    """The folder of the runs that come with the app, one file a run. They are read and never written."""
    return DATA / "recordings"


def priors() -> Path:
    """The folder of the runs that came with the app for others to stand on (`core.runs.prerequisites`): read, never
    written.
    """
    return recordings() / "priors"


def _made(path: Path) -> Path:
    try:
        path.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise DataDirError(_words(path, error.strerror or str(error))) from None
    if not os.access(path, os.R_OK):
        raise DataDirError(_words(path, "it may not be read"))
    return path


def must_write(folder: Path) -> None:
    """Raises DataDirError where nothing can be kept in the folder, which is there: it can be looked at all the same."""
    if folder.exists() and not os.access(folder, os.W_OK):
        raise DataDirError(_words(folder, "it may not be written to"))


def write(path: Path, content: bytes) -> None:
    """Write a small file, in a folder that is made if it is not there. A reader gets all of the old content or all of
    the new. Raises OSError.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    fresh = path.with_name(f".{path.name}.{secrets.token_hex(4)}")
    fresh.write_bytes(content)
    os.replace(fresh, path)


def index(name: str) -> Path:
    """Where the index of that name lies: in the home, or where that can only be read in a folder that goes with this
    process. Raises DataDirError.
    """
    return (home() if os.access(home(), os.W_OK) else _passing()) / name


@cache
def _passing() -> Path:
    path = Path(tempfile.mkdtemp(prefix="explain-"))
    atexit.register(shutil.rmtree, path, ignore_errors=True)
    return path


def _words(path: Path, why: str) -> str:
    return f"Runs cannot be kept in {path} ({why}). Set EXPLAIN_HOME to a folder that you can write to."
