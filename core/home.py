"""The location of the user's own data: journals, store, response cache, downloaded models, and the recordings that come
with the app, unpacked.
"""

import atexit
import hashlib
import hmac
import logging
import os
import secrets
import shutil
import tempfile
import time
import zipfile
import zlib
from collections.abc import Sequence
from contextlib import suppress
from functools import cache, lru_cache
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


def secrets_match(given: str, right: str) -> bool:
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


# Recordings that come with the app as archives, unpacked at first use.
#
# An archive is a bundle (`core.runs.bundle`) in the `packs` folder of the recordings. Its journals are unpacked into
# a folder of the home, or into a temporary folder of this process if the home is not writable, and read from there.


log = logging.getLogger(__name__)

UNPACKED = "packs"
"""The name of the archives' folder inside the folder of recordings."""

DAMAGED_ARCHIVE = (zipfile.BadZipFile, zlib.error, EOFError, RuntimeError)
"""What zipfile raises while reading a file that is damaged, encrypted or not an archive."""

_WITHIN = "journals/"
_OLD = 24 * 3600
"""Age in seconds after which the folder of another version of the archives is removed."""


def unpacked_folder(recordings: Path) -> Path | None:
    """Return the folder with the unpacked journals of the archives in `recordings`, unpacking them if necessary. None
    if there is no archive, or if it cannot be unpacked.
    """
    try:
        entries = [one for one in os.scandir(recordings / UNPACKED) if one.name.endswith(".zip")]
        archives = tuple(sorted((one.path, one.stat().st_mtime_ns, one.stat().st_size) for one in entries))
    except OSError:
        return None
    if not archives:
        return None
    try:
        target = index("unpacked") / _digest(archives)
        if not target.is_dir():
            _unpack([path for path, _, _ in archives], target)
    except (OSError, DataDirError) as error:
        log.warning("%s cannot be unpacked: %s", recordings / UNPACKED, error)
        return None
    return target


def archived_journals(archive: zipfile.ZipFile) -> dict[str, zipfile.ZipInfo]:
    """Return the journals in an archive by file name, leaving out names that lead to another folder."""
    named = {one.filename.removeprefix(_WITHIN): one for one in archive.infolist()}
    return {
        name: one
        for name, one in named.items()
        if one.filename == _WITHIN + name and name.endswith(".jsonl") and Path(name).name == name
    }


@lru_cache(maxsize=8)
def _digest(archives: tuple[tuple[str, int, int], ...]) -> str:
    """Return a digest of what the archives contain. Times and sizes are part of the cache key, so that a changed
    archive is read again.
    """
    return hashlib.sha256(b"".join(Path(path).read_bytes() for path, _, _ in archives)).hexdigest()[:16]


def _unpack(archives: Sequence[str], target: Path) -> None:
    """Unpack the journals of the archives into a new folder, which appears in one step. Raises OSError."""
    target.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=target.parent, ignore_cleanup_errors=True) as beside:
        fresh = Path(beside) / target.name
        fresh.mkdir()
        for archive in archives:
            _unpack_one(archive, fresh)
        try:
            fresh.rename(target)
        except OSError:
            # Another process or thread may have created it first.
            if not target.is_dir():
                raise
    for other in target.parent.iterdir():
        with suppress(OSError):
            if other != target and time.time() - other.stat().st_mtime > _OLD:
                shutil.rmtree(other)


def _unpack_one(archive: str, target: Path) -> None:
    """Unpack one archive's journals into the folder; from a damaged archive, those before the damage. Raises
    OSError.
    """
    try:
        with zipfile.ZipFile(archive) as opened:
            for name, one in archived_journals(opened).items():
                (target / name).write_bytes(opened.read(one))
    except DAMAGED_ARCHIVE as error:
        log.warning("%s is damaged: %s", archive, error)
