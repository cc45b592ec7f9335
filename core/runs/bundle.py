"""Bundles: runs that are moved from one home to another, as a zip of journals and a manifest.

A bundle may come from anybody. It is read completely, within limits (`core.policy`), before anything of it is stored,
so a faulty bundle changes nothing. Journals stay the same, byte for byte. A journal about each run,
`<run>~~from.jsonl`, says who sent it and who signed the manifest, which has all checksums. A run that is here already
stays: an identical one is skipped, a different one refused. An import that was killed can be repeated.
"""

import errno
import hashlib
import os
import re
import secrets
import shutil
import stat
import time
import unicodedata
import zipfile
import zlib
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from datetime import datetime
from pathlib import Path
from typing import IO, Literal, NamedTuple

from pydantic import Field, ValidationError

from .. import files, journal, lease, policy
from ..errors import ExplainError
from ..events import SCHEMA, Frozen, Recorded, Started, now
from ..journal import NewerSchemaError
from ..lease import Lease, LeaseHeldError
from ..text.display import one_line
from .engine import app_version, commit
from .library import IMPORTED, about_path
from .signatures import LONGEST_SIGNATURE, Signature, SignatureError, sign, verify

MANIFEST = "manifest.json"
SIGNATURE = f"{MANIFEST}.sig"
ALLOWED = "allowed_signers"
"""The home's file that says whose key is whose, in the format of ssh-keygen."""

_FOLDER = "journals/"
_ENDING = ".jsonl"

_ASIDE = "incoming"
"""How the names of folders begin that hold journals during an import."""

_PAUSE = 0.1
"""Seconds between two checks whether another import is over."""

_NAME = re.compile(r"(?!(?i:con|prn|aux|nul|com\d|lpt\d)(?:~|\Z))[A-Za-z0-9][A-Za-z0-9_-]{0,119}(~[\w-]{1,60})?")
"""What a journal may be called: a run, or a run and who comments on it. Journals with ~~ are not accepted: that a run
is shared on one host says nothing elsewhere. Names of Windows devices, with any ending, are not accepted either.
"""

_SENDER = 80
"""The most characters of the sender's name."""

_ENTRY = 400
"""The most bytes of the zip's directory and of the manifest for each journal."""


class BundleError(ExplainError, ValueError):
    """Nothing was stored or written; the message says why."""


class BundleEntry(Frozen):
    """One journal of a bundle; `bytes` and `sha256` are the file's. `about`: the run that the journal comments on."""

    name: str
    bytes: int
    sha256: str
    lab: str = ""
    seed: int = 0
    version: int = Field(default=SCHEMA, alias="schema")
    about: str = ""
    versions: dict[str, str] = Field(default_factory=dict)
    prompts: dict[str, str] = Field(default_factory=dict)


class Manifest(Frozen):
    """What is in a bundle, who sent it, and which version of the app made it."""

    bundle: Literal[1] = 1
    sender: str = ""
    app: str = ""
    commit: str = ""
    made: datetime = Field(default_factory=now)
    journals: tuple[BundleEntry, ...] = ()


class Written(NamedTuple):
    """The runs in a bundle, and the reasons why others are not in it."""

    runs: list[str]
    left_out: dict[str, str]


class ImportResult(NamedTuple):
    """The runs that are new here, those that were here already, and journals that were skipped, with the reason.
    `said`: new journals of what people say about runs. `signed`: who signed the bundle.
    """

    runs: list[str]
    same: list[str]
    said: list[str]
    passed_over: dict[str, str]
    signed: Signature


def write(
    target: IO[bytes],
    runs: Iterable[str],
    folders: Sequence[Path],
    sender: str = "",
    with_words: bool = True,
    key: Path | None = None,
) -> Written:
    """Write a bundle of `runs` into `target`, with what people said about them unless `with_words` is False. `folders`
    hold the journals; people's comments are in the first. A run that is in progress is left out. `key` is the file
    of the key that signs the bundle. Raises NotSignedError.
    """
    entries: list[BundleEntry] = []
    written, left_out = [], {}
    with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED, compresslevel=6) as bundle:
        for run in dict.fromkeys(runs):
            path = journal.find(run, *folders)
            if path is None:
                left_out[run] = "there is no such run"
                continue
            if why := _unfit(path):
                left_out[run] = why
                continue
            written.append(run)
            said = sorted(folders[0].glob(f"{run}~*{_ENDING}")) if with_words else []
            for one in (path, *said):
                if _NAME.fullmatch(one.stem) and not (one != path and _unfit(one)):
                    data = one.read_bytes()
                    bundle.writestr(f"{_FOLDER}{one.name}", data)
                    entries.append(_entry(one.stem, data, journal.first_event(one)))
        manifest = Manifest(
            sender=one_line(sender, _SENDER), app=app_version(), commit=commit(), journals=tuple(entries)
        )
        told = manifest.model_dump_json(by_alias=True, indent=1).encode()
        bundle.writestr(MANIFEST, told)
        if key is not None:
            bundle.writestr(SIGNATURE, sign(told, key))
    return Written(written, left_out)


def import_path(path: Path, folders: Sequence[Path], sender: str = "") -> ImportResult:
    """Import the runs of a bundle, of a journal, or of a folder of journals into the first of `folders`; a run in any
    of these folders counts as here already. `sender` says whose the runs are; if it is empty, the manifest or the
    file's name does.

    Raises BundleError, in which case nothing is stored.
    """
    if path.is_dir():
        return _Import(folders, sender or path.resolve().name).keep_files(sorted(path.glob(f"*{_ENDING}")))
    try:
        with files.open_file(path) as file:
            return import_file(file, path.name, folders, sender)
    except files.FileError as error:
        raise BundleError(str(error)) from None


def import_file(file: IO[bytes], name: str, folders: Sequence[Path], sender: str = "") -> ImportResult:
    """Import from an open file called `name`, as `import_path` does. Raises BundleError."""
    if not name.lower().endswith(".zip"):
        return _Import(folders, sender or name).keep_stream(file, name)
    try:
        with _opened(file) as bundle:
            manifest, signed = _manifest(bundle, folders[0].parent / ALLOWED)
            return _Import(folders, sender or manifest.sender or name, signed).keep_zip(bundle, manifest)
    except BundleError:
        raise
    # All errors that zipfile is known to raise for files that are not zips.
    except (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, RuntimeError, OSError, ValueError) as error:
        raise BundleError(f"{_shown(name)} is damaged, or is not a zip file ({error}).") from None


def clean(folder: Path) -> None:
    """Remove what killed imports and killed runs left in a home, whose journals are in `folder`: folders of imports,
    marks of runs that were never stored, and blank journals. Raises nothing: what cannot be removed stays.
    """
    journal.remove_blank(folder)
    for leases in (folder.parent, folder / ".leases"):
        lease.clean(leases)
    # The files of an import in another process are not leftovers.
    with suppress(OSError, LeaseHeldError), _alone(folder.parent):
        for mark in folder.glob(f"*~~from{_ENDING}"):
            if journal.find(mark.stem.partition("~")[0], folder) is None:
                mark.unlink()


@contextmanager
def _alone(home: Path, until: float = 0.0) -> Iterator[None]:
    """Keep other imports out of this home, and remove what earlier ones left. Waits until the time `until` of the
    monotonic clock at most, and then raises LeaseHeldError.
    """
    while True:
        try:
            alone = Lease(home / f".{_ASIDE}")
            break
        except LeaseHeldError:
            if time.monotonic() > until:
                raise
            time.sleep(_PAUSE)
    try:
        for left in home.glob(f"{_ASIDE}-*"):
            shutil.rmtree(left, ignore_errors=True)
        yield
    finally:
        alone.release()


def _unfit(path: Path) -> str:
    """Why a journal cannot be put into a bundle; an empty string if it can."""
    if journal.is_written(path):
        return "the run is still in progress"
    try:
        return "" if journal.first_event(path) else "its first line is missing"
    except NewerSchemaError as error:
        return str(error)


def _entry(name: str, data: bytes, begun: Started | None) -> BundleEntry:
    fields = begun.model_dump(by_alias=True, include={"lab", "seed", "version", "about", "versions", "prompts"})  # type: ignore[union-attr]
    return BundleEntry(name=name, bytes=len(data), sha256=hashlib.sha256(data).hexdigest(), **fields)


def _shown(name: str) -> str:
    return repr(name if len(name) <= _SENDER else f"{name[:_SENDER]}…")


# Reading


def _most(name: str) -> int:
    return policy.limit(name) or 0


def _opened(file: IO[bytes]) -> zipfile.ZipFile:
    """The zip, once its directory is known to be short: reading a long one would take all memory. Raises
    BundleError.
    """
    end = zipfile._EndRecData(file)  # type: ignore[attr-defined]
    most = _most("bundle_journals")
    if end is None:
        raise zipfile.BadZipFile("its end is missing")
    if end[4] > most + 2 or end[5] > (most + 2) * _ENTRY:
        raise BundleError(f"The bundle contains more than {most:,} journals (EXPLAIN_BUNDLE_JOURNALS).")
    bundle = zipfile.ZipFile(file)
    names = set()
    for one in bundle.infolist():
        kind = stat.S_IFMT(one.external_attr >> 16)
        name = one.filename.removeprefix(_FOLDER).removesuffix(_ENDING)
        shown = _shown(one.filename)
        if one.filename not in (MANIFEST, SIGNATURE) and (
            one.orig_filename != f"{_FOLDER}{name}{_ENDING}"
            or not _NAME.fullmatch(name)
            or kind not in (0, stat.S_IFREG)
        ):
            raise BundleError(f"The bundle contains {shown}, which is neither {MANIFEST} nor a journal in {_FOLDER}.")
        if one.flag_bits & 1 or one.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
            raise BundleError(
                f"{shown} in the bundle is encrypted, or compressed by a method that this app cannot read."
            )
        if _alike(one.filename) in names:
            raise BundleError(f"The bundle contains {shown} twice.")
        names.add(_alike(one.filename))
    if sum(one.file_size for one in bundle.infolist()) > _most("bundle_mb") * files.MB:
        raise _too_large()
    return bundle


def _alike(name: str) -> str:
    """A form that is equal for names which some file system treats as the same."""
    return unicodedata.normalize("NFKC", name).casefold()


def _too_large() -> BundleError:
    return BundleError(f"Unpacked, it is larger than {_most('bundle_mb'):,} MB (EXPLAIN_BUNDLE_MB).")


def _manifest(bundle: zipfile.ZipFile, allowed: Path) -> tuple[Manifest, Signature]:
    """The bundle's manifest, and who signed it. Raises BundleError."""
    most = files.MB + _ENTRY * 10 * len(bundle.infolist())
    if MANIFEST not in bundle.namelist():
        raise BundleError(f"It is not a bundle: it contains no {MANIFEST}.")
    with bundle.open(MANIFEST) as file:
        data = file.read(most + 1)
    try:
        manifest = Manifest.model_validate_json(data if len(data) <= most else b"")
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        where = ".".join(map(str, first["loc"]))
        raise BundleError(f"Its {MANIFEST} cannot be read: {where or 'it'}: {first['msg']}.") from None
    listed = [f"{_FOLDER}{one.name}{_ENDING}" for one in manifest.journals]
    there = [name for name in bundle.namelist() if name not in (MANIFEST, SIGNATURE)]
    if sorted(listed) != sorted(there):
        other = min(set(listed) ^ set(there), default=min(there, default=""))
        raise BundleError(f"Its {MANIFEST} does not match its contents: {_shown(other)}.")
    return manifest, _signed(bundle, data, allowed)


def _signed(bundle: zipfile.ZipFile, manifest: bytes, allowed: Path) -> Signature:
    """Who signed the manifest. Raises BundleError if the signature does not belong to it."""
    if SIGNATURE not in bundle.namelist():
        return Signature()
    with bundle.open(SIGNATURE) as file:
        signature = file.read(LONGEST_SIGNATURE + 1)
    try:
        return verify(manifest, signature, allowed)
    except SignatureError as error:
        raise BundleError(
            f"Its signature is not valid: {error}. The bundle was altered, or the signature belongs to another one."
        ) from None


class _Import:
    """One import: journals are copied to a temporary folder, checked, and stored only if all of them are right."""

    def __init__(self, folders: Sequence[Path], sender: str, signed: Signature | None = None) -> None:
        self._folders = folders
        self._signed = signed or Signature()
        self._sender = one_line(sender, _SENDER)
        self._aside = folders[0].parent / f"incoming-{secrets.token_hex(8)}"
        self._until = time.monotonic() + _most("bundle_seconds")
        self._left = _most("bundle_mb") * files.MB
        self._about: dict[str, str] = {}
        """The copied journals, and the run that each comments on; an empty string for a run's own journal."""
        self._passed_over: dict[str, str] = {}

    def keep_zip(self, bundle: zipfile.ZipFile, manifest: Manifest) -> ImportResult:
        """Import a bundle whose manifest was checked. Raises BundleError."""
        with self._put_away():
            for one in manifest.journals:
                with bundle.open(f"{_FOLDER}{one.name}{_ENDING}") as source:
                    copied = self._copy(one.name, source)
                if copied != (one.sha256, one.bytes):
                    raise BundleError(
                        f"{one.name} does not match the manifest: it was altered after the bundle was made."
                    )
                if (name := self._look_at(one.name, one.name)) != one.name:
                    raise BundleError(f"{one.name} contains another run: {_shown(name)}.")
            return self._keep()

    def keep_files(self, found: Iterable[Path]) -> ImportResult:
        """Import the journals of a folder, under any file names. Raises BundleError."""
        most = _most("bundle_journals")
        with self._put_away():
            for number, path in enumerate(found):
                if number >= most:
                    raise BundleError(f"There are more than {most:,} journals (EXPLAIN_BUNDLE_JOURNALS).")
                if "~~" in path.stem:
                    self._passed_over[path.name] = "it applies only where it was made"
                    continue
                try:
                    with files.open_file(path) as source:
                        self._put_aside(source, path.name)
                except files.FileError as error:
                    raise BundleError(str(error)) from None
            return self._keep()

    def keep_stream(self, source: IO[bytes], shown: str) -> ImportResult:
        """Import one journal, under any file name. Raises BundleError."""
        with self._put_away():
            self._put_aside(source, shown)
            return self._keep()

    def _put_aside(self, source: IO[bytes], shown: str) -> None:
        held = "file"
        self._copy(held, source)
        os.replace(self._aside / held, self._aside / self._look_at(held, shown))

    @contextmanager
    def _put_away(self) -> Iterator[None]:
        """Make the temporary folder, once other imports into this home are over; it is removed in any case."""
        try:
            with _alone(self._aside.parent, self._until):
                self._aside.mkdir()
                try:
                    yield
                finally:
                    shutil.rmtree(self._aside, ignore_errors=True)
        except OSError as error:
            if isinstance(error, zipfile.BadZipFile):
                raise
            raise BundleError(f"It could not be stored ({error.strerror or error}).") from None
        except LeaseHeldError as held:
            raise BundleError(f"Another import is in progress ({held.who}). Try again when it has finished.") from None

    def _copy(self, name: str, source: IO[bytes]) -> tuple[str, int]:
        """Copy a journal to the temporary folder; returns its checksum and its size in bytes."""
        checksum, size = hashlib.sha256(), 0
        with (self._aside / name).open("xb") as target:
            while piece := source.read(files.MB):
                self._left -= len(piece)
                if self._left < 0:
                    raise _too_large()
                if time.monotonic() > self._until:
                    raise BundleError(
                        f"The import took more than {_most('bundle_seconds')} seconds (EXPLAIN_BUNDLE_SECONDS)."
                    )
                checksum.update(piece)
                size += len(piece)
                target.write(piece)
        return checksum.hexdigest(), size

    def _look_at(self, held: str, shown: str) -> str:
        """The name of a copied journal. Raises BundleError if it cannot be read as a journal."""
        path, shown = self._aside / held, _shown(shown)
        with path.open("rb") as file:
            whole = file.readline(journal.LONGEST_LINE).endswith(b"\n")
        try:
            begun = journal.first_event(path) if whole else None
        except NewerSchemaError as error:
            raise BundleError(f"{shown}: {error}") from None
        if begun is None:
            raise BundleError(f"{shown} is not a journal: its first line does not begin a run.")
        if not _NAME.fullmatch(begun.run) or begun.run.partition("~")[0] != (begun.about or begun.run):
            raise BundleError(f"{shown} contains a run with an invalid name: {_shown(begun.run)}.")
        if _alike(begun.run) in map(_alike, self._about):
            raise BundleError(f"{shown} contains {begun.run}, and so does another journal.")
        self._about[begun.run] = begun.about
        return begun.run

    def _keep(self) -> ImportResult:
        """Move the new journals to their folder. Raises BundleError."""
        taken = ImportResult([], [], [], self._passed_over, self._signed)
        for name, about in self._about.items():
            here = journal.find(name, *self._folders)
            if here is not None:
                if here.read_bytes() != (self._aside / name).read_bytes():
                    raise BundleError(
                        f"{name} already exists here, with other contents. The app cannot tell which one is right, "
                        "so nothing was imported."
                    )
                taken.same.append(name)
            elif about and about not in self._about and journal.find(about, *self._folders) is None:
                taken.passed_over[name] = "the run that it is about is not here"
            else:
                (taken.said if about else taken.runs).append(name)
        if not self._about:
            raise BundleError("It contains no journal.")
        placed: list[Path] = []
        try:
            for run in taken.runs:
                # The sender is stored first, so that no stored run lacks it. An existing mark comes from an earlier
                # import, which was killed before it stored the run.
                mark = about_path(self._folders[0] / f"{run}{_ENDING}", "from")
                os.replace(self._mark(run), mark)
                placed.append(mark)
            for name in (*taken.runs, *taken.said):
                target = self._folders[0] / f"{name}{_ENDING}"
                if target.exists() and not journal.is_blank(target):  # it has appeared meanwhile
                    raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST), target.name)
                os.replace(self._aside / name, target)
                placed.append(target)
        except BaseException:
            for path in placed:
                path.unlink(missing_ok=True)
            raise
        return taken

    def _mark(self, run: str) -> Path:
        """Write the journal that says who sent the run."""
        path = about_path(self._aside / f"{run}{_ENDING}", "from")
        begun = Started(run=path.stem, lab="", spec={}, seed=0, about=run)
        data = {"sender": self._sender} | ({"signed": self._signed.by} if self._signed.key else {})
        said = Recorded(run=path.stem, record=IMPORTED, item="run", data=data)
        path.write_bytes(journal.to_line(begun, 1) + journal.to_line(said, 2))
        return path
