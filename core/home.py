"""The location of the user's own data: journals, store, response cache, downloaded models."""

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

from .errors import ExplainError
from .package_data import DATA

_KEY_BYTES = 32


class DataDirError(ExplainError):
    """The folder cannot be created, read or, if something is to be saved, written to; the message says what to do."""


def home() -> Path:
    """Return `$EXPLAIN_HOME`; by default `data/local/` beside the code if it exists, else the system's folder for app
    data. Creates it if it is missing. Raises DataDirError.
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
    """Return the folder of journals, one file per run. Raises DataDirError."""
    return _made(home() / "journals")


def key() -> bytes:
    """Return this home's 32 random bytes, creating them at first use. A signature made with them proves that a text was
    made here. If they cannot be stored, they last only as long as this process.
    """
    with suppress(OSError, DataDirError):
        if len(kept := _key(home() / "cookies.key")) == _KEY_BYTES:
            return kept
    return _passing_key()


def signature(text: str) -> str:
    """Return the HMAC-SHA256 of `text` under this home's key, as 64 hexadecimal digits."""
    return hmac.new(key(), text.encode("utf-8", "replace"), hashlib.sha256).hexdigest()


def is_same(given: str, right: str) -> bool:
    """Whether two texts are equal, in a time that does not reveal how far they agree."""
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
        # The link makes the whole file appear in one step. If two processes do this at the same time, the second one
        # uses the first one's key.
        with suppress(FileExistsError):
            os.link(made, path)
        made.unlink()
    return path.read_bytes()


def answers() -> Path:
    """Return the file of answers already paid for. Raises DataDirError."""
    return home() / "answers.sqlite"


def recordings() -> Path:
    """Return the folder of the runs that come with the app, one file per run. They are never written."""
    return DATA / "recordings"


def priors() -> Path:
    """Return the folder of the runs that come with the app as prerequisites of others (`core.runs.driver`). They
    are never written.
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
    """Raise DataDirError if an existing folder is not writable; it may still be readable."""
    if folder.exists() and not os.access(folder, os.W_OK):
        raise DataDirError(_words(folder, "it may not be written to"))


def write(path: Path, content: bytes) -> None:
    """Write a small file, creating its folder if necessary. A reader sees either all of the old content or all of the
    new. Raises OSError.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    fresh = path.with_name(f".{path.name}.{secrets.token_hex(4)}")
    fresh.write_bytes(content)
    os.replace(fresh, path)


def index(name: str) -> Path:
    """Return the path of the index of that name: in the home or, if that is not writable, in a temporary folder of this
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
