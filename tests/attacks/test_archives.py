"""Whatever a server sends as an archive is unpacked inside its folder, or refused as a whole with a reason."""

import contextlib
import gc
import gzip
import io
import shutil
import stat
import struct
import tarfile
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.datasets import get
from core.datasets.get import ArchiveError, unpack

KEEP = ("set/*.txt",)


def tarred(*members: tuple[tarfile.TarInfo | str, bytes], format: int = tarfile.PAX_FORMAT) -> bytes:
    written = io.BytesIO()
    with tarfile.open(fileobj=written, mode="w:gz", format=format) as made:
        for one, data in members:
            info = tarfile.TarInfo(one) if isinstance(one, str) else one
            info.size = len(data)
            made.addfile(info, io.BytesIO(data))
    return written.getvalue()


def zipped(*members: tuple[zipfile.ZipInfo | str, bytes], how: int = zipfile.ZIP_DEFLATED) -> bytes:
    written = io.BytesIO()
    with zipfile.ZipFile(written, "w", how) as made:
        for one, data in members:
            made.writestr(one, data)
    return written.getvalue()


GOOD = ("set/a.txt", b"words")


def special(kind: bytes, name: str = "set/b.txt", to: str = "/etc/passwd") -> tarfile.TarInfo:
    info = tarfile.TarInfo(name)
    info.type, info.linkname = kind, to
    return info


def marked(kind: int) -> zipfile.ZipInfo:
    info = zipfile.ZipInfo("set/b.txt")
    info.external_attr = (kind | 0o777) << 16
    return info


def encrypted() -> bytes:
    made = bytearray(zipped(GOOD))
    for sign, at in ((b"PK\x03\x04", 6), (b"PK\x01\x02", 8)):
        place = made.index(sign) + at
        made[place : place + 2] = struct.pack("<H", 1)
    return bytes(made)


def before_its_start() -> bytes:
    """A zip whose directory is said to be 100 bytes further on, so that its files begin before the archive does."""
    made = bytearray(zipped(GOOD))
    place = made.rindex(b"PK\x05\x06") + 16
    made[place : place + 4] = struct.pack("<I", struct.unpack_from("<I", made, place)[0] + 100)
    return bytes(made)


NAMES = (
    "../set/b.txt",
    "set/../../set/b.txt",
    "/set/b.txt",
    "C:/set/b.txt",
    "..\\set\\b.txt",
    "x/" * 600 + "set/b.txt",
)

HOSTILE = {
    **{f"tar {name[:20]}": (tarred(GOOD, (name, b"evil")), "elsewhere|characters") for name in NAMES},
    **{f"zip {name[:20]}": (zipped(GOOD, (name, b"evil")), "elsewhere|characters") for name in NAMES},
    "a bell in a name": (tarred(("set/\x07.txt", b"evil")), "unprintable"),
    "a symbolic link": (tarred(GOOD, (special(tarfile.SYMTYPE), b"")), "a link or a device"),
    "a link to a folder": (tarred((special(tarfile.SYMTYPE, "set", "/tmp"), b""), GOOD), "a link or a device"),
    "a hard link": (tarred(GOOD, (special(tarfile.LNKTYPE), b"")), "a link or a device"),
    "a device": (tarred(GOOD, (special(tarfile.CHRTYPE), b"")), "a link or a device"),
    "a block device": (tarred(GOOD, (special(tarfile.BLKTYPE), b"")), "a link or a device"),
    "a pipe": (tarred(GOOD, (special(tarfile.FIFOTYPE), b"")), "a link or a device"),
    "a link in a zip": (zipped(GOOD, (marked(stat.S_IFLNK), b"/etc/passwd")), "a link or a device"),
    "a device in a zip": (zipped(GOOD, (marked(stat.S_IFCHR), b"")), "a link or a device"),
    "an encrypted zip": (encrypted(), "encrypted"),
    "a zip that begins before its start": (before_its_start(), "damaged or cut short"),
    "packed by bzip2": (zipped(GOOD, how=zipfile.ZIP_BZIP2), "packed in a way"),
    "one name twice": (tarred(GOOD, ("other/set/a.txt", b"evil")), "twice"),
    "one name in other letters": (zipped(GOOD, ("other/set/A.txt", b"evil")), "twice"),
    "nothing wanted": (zipped(("readme", b"words")), "holds no set"),
    "no archive": (b"<html>", "neither"),
    "nothing": (b"", "neither"),
    "only a sign": (b"PK\x03\x04", "damaged"),
    "gzip of no tar": (gzip.compress(b"words" * 1000), "damaged"),
}


@pytest.fixture
def here(tmp_path: Path) -> Callable[[bytes], Path]:
    """A function that unpacks an archive and returns the folder. Checks that nothing beside it has changed."""

    def opened(content: bytes) -> Path:
        (tmp_path / "archive").write_bytes(content)
        try:
            unpack(tmp_path / "archive", KEEP, tmp_path / "new")
        finally:
            assert {one.name for one in tmp_path.iterdir()} <= {"archive", "new"}
            assert not any(one.is_symlink() for one in tmp_path.rglob("*"))
        return tmp_path / "new"

    return opened


@pytest.mark.parametrize(
    "content", [tarred(GOOD, ("else", b"x")), zipped(("set/", b""), GOOD, ("else", b"x"))], ids=["tar", "zip"]
)
def test_what_is_wanted_is_unpacked_and_nothing_else(here: Callable[[bytes], Path], content: bytes) -> None:
    folder = here(content)
    assert [str(one.relative_to(folder)) for one in folder.rglob("*.*")] == ["set/a.txt"]
    assert (folder / "set" / "a.txt").read_bytes() == b"words"


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_archives_are_refused(here: Callable[[bytes], Path], name: str) -> None:
    content, words = HOSTILE[name]
    with pytest.raises(ArchiveError, match=words):
        here(content)


@pytest.mark.parametrize("made", [tarred, zipped])
def test_every_cut_is_noticed(here: Callable[[bytes], Path], made: Callable[..., bytes], tmp_path: Path) -> None:
    whole = made(GOOD, ("set/b.txt", bytes(range(256)) * 8))
    for length in range(0, len(whole), 7):
        with pytest.raises(ArchiveError):
            here(whole[:length])
        shutil.rmtree(tmp_path / "new", ignore_errors=True)


@given(st.binary(max_size=40), st.integers(0, 600), st.sampled_from([tarred, zipped]))
def test_no_damage_does_more_than_refuse(
    tmp_path_factory: pytest.TempPathFactory, noise: bytes, at: int, made: Callable[..., bytes]
) -> None:
    whole = bytearray(made(GOOD, ("set/b.txt", b"more")))
    whole[at : at + len(noise)] = noise
    folder = tmp_path_factory.mktemp("damaged")
    (folder / "archive").write_bytes(whole)
    with contextlib.suppress(ArchiveError):
        unpack(folder / "archive", KEEP, folder / "new")
    assert {one.name for one in folder.iterdir()} <= {"archive", "new"}


@pytest.mark.parametrize("made", [tarred, zipped])
def test_a_bomb_is_left_before_it_fills_the_disk(
    here: Callable[[bytes], Path], made: Callable[..., bytes], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(get, "MOST_BYTES", 3_000_000)
    bomb = made(GOOD, ("set/b.txt", bytes(9_000_000)))
    assert len(bomb) < 20_000
    with pytest.raises(ArchiveError, match="unpacks to more than"):
        here(bomb)
    written = sum(one.stat().st_size for one in (tmp_path / "new").rglob("*") if one.is_file())
    assert written <= 3_000_005
    shutil.rmtree(tmp_path / "new")
    # Many small files do the same, and so does one that no loader reads.
    many = [(f"set/{number}.txt", bytes(1_000_000)) for number in range(9)]
    with pytest.raises(ArchiveError, match="unpacks to more than"):
        here(made(*many))


def test_what_nobody_wants_is_bounded_too(here: Callable[[bytes], Path], monkeypatch: pytest.MonkeyPatch) -> None:
    """A tar has to be unpacked to reach its next member."""
    monkeypatch.setattr(get, "MOST_BYTES", 3_000_000)
    with pytest.raises(ArchiveError, match="unpacks to more than"):
        here(tarred(("unwanted", bytes(9_000_000)), GOOD))
    with pytest.raises(ArchiveError, match="unpacks to more than"):
        here(gzip.compress(gzip.decompress(tarred(GOOD)) + bytes(9_000_000)))


@pytest.mark.parametrize("made", [tarred, zipped])
def test_too_many_members(
    here: Callable[[bytes], Path], made: Callable[..., bytes], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(get, "MOST_MEMBERS", 20)
    with pytest.raises(ArchiveError, match="more than 20 files"):
        here(made(*((f"set/{number}.txt", b"") for number in range(21))))
    shutil.rmtree(tmp_path / "new", ignore_errors=True)
    assert here(made(*((f"set/{number}.txt", b"") for number in range(20))))


def test_a_header_of_any_size_is_not_held_in_memory(here: Callable[[bytes], Path]) -> None:
    long = tarfile.TarInfo("set/a.txt")
    long.pax_headers = {"comment": "x" * 50_000_000}
    content = tarred((long, b""))
    with pytest.raises(ArchiveError, match="a header that no data set has"):
        here(content)


def test_headers_upon_headers(here: Callable[[bytes], Path]) -> None:
    """A header that announces the next, some thousand times: tarfile reads each inside the one before."""
    info = tarfile.TarInfo("././@LongLink")
    info.type, info.size = tarfile.GNUTYPE_LONGNAME, 5
    block = info.tobuf(tarfile.GNU_FORMAT) + b"name\0".ljust(512, b"\0")
    with pytest.raises(ArchiveError):
        here(gzip.compress(block * 5_000))


def test_members_that_were_looked_at_are_not_held(tmp_path: Path) -> None:
    (tmp_path / "archive").write_bytes(tarred(*((f"set/{number}.txt", b"") for number in range(50))))
    with (tmp_path / "archive").open("rb") as file:
        for _ in get._of_tar(file):
            held = sum(type(one) is tarfile.TarInfo for one in gc.get_objects())
    assert held <= 4
