"""Archives of recordings are unpacked once into the home or, if the home is read-only, into a temporary folder."""

import os
import shutil
import time
import zipfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from core import home, journal


def archive(folder: Path, **journals: bytes) -> Path:
    """Write an archive with these journals, and with two files that are not journals."""
    (folder / "packs").mkdir(parents=True, exist_ok=True)
    path = folder / "packs" / "cards.zip"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as made:
        for name, data in journals.items():
            made.writestr(f"journals/{name}.jsonl", data)
        made.writestr("manifest.json", b"{}")
        made.writestr("journals/../../beside.jsonl", b"no journal")
    return path


def unpacked() -> list[str]:
    """The contents of the home's folder for unpacked archives."""
    return sorted(one.name for one in (home.home() / "unpacked").iterdir())


def test_an_archive_is_unpacked_once_and_again_when_it_holds_something_else(tmp_path: Path) -> None:
    path = archive(tmp_path / "came", a=b"one\n", b=b"two\n")
    there = home.unpacked_folder(tmp_path / "came")
    assert there is not None and there.parent == home.home() / "unpacked"
    assert sorted(one.name for one in there.iterdir()) == ["a.jsonl", "b.jsonl"]
    assert journal.find("b", tmp_path / "came") == there / "b.jsonl"
    assert journal.find("c", tmp_path / "came") is None
    # The same archive from a fresh installation.
    stayed = (there / "a.jsonl").stat().st_mtime_ns
    os.utime(path, (1, 1))
    assert home.unpacked_folder(tmp_path / "came") == there and (there / "a.jsonl").stat().st_mtime_ns == stayed
    archive(tmp_path / "came", a=b"three\n")
    again = home.unpacked_folder(tmp_path / "came")
    assert again is not None and (again / "a.jsonl").read_bytes() == b"three\n"
    assert unpacked() == sorted([there.name, again.name]), "another process may still read the other"
    shutil.rmtree(again)
    os.utime(there, (time.time() - 2 * home._OLD,) * 2)
    assert home.unpacked_folder(tmp_path / "came") == again and unpacked() == [again.name]


def test_of_several_at_once_one_unpacks_for_all(tmp_path: Path) -> None:
    archive(tmp_path / "came", **{f"run-{n}": b"line\n" * n for n in range(200)})
    with ThreadPoolExecutor(8) as threads:
        [there] = set(threads.map(home.unpacked_folder, [tmp_path / "came"] * 8))
    assert there is not None and len(list(there.iterdir())) == 200 and unpacked() == [there.name]


def test_where_the_home_cannot_be_written_to_it_is_unpacked_into_a_temporary_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    archive(tmp_path / "came", a=b"one\n")
    access = os.access
    monkeypatch.setattr(os, "access", lambda path, mode: mode != os.W_OK and access(path, mode))
    there = home.unpacked_folder(tmp_path / "came")
    assert there is not None and not there.is_relative_to(home.home()) and (there / "a.jsonl").is_file()


def test_where_there_is_no_room_runs_in_archives_are_not_found(tmp_path: Path) -> None:
    archive(tmp_path / "came", a=b"one\n")
    (home.home() / "unpacked").write_bytes(b"a file in the way")
    assert home.unpacked_folder(tmp_path / "came") is None and journal.find("a", tmp_path / "came") is None
    (home.home() / "unpacked").unlink()
    assert journal.find("a", tmp_path / "came") is not None


def test_archives_that_are_damaged_stop_nobody(tmp_path: Path) -> None:
    assert home.unpacked_folder(tmp_path) is None
    path = archive(tmp_path / "came", a=b"one\n" * 100)
    there = home.unpacked_folder(tmp_path / "came")
    whole = bytearray(path.read_bytes())
    # The directory is said to be further on, so the journal begins before the archive does.
    place = whole.rindex(b"PK\x05\x06") + 16
    whole[place : place + 4] = (int.from_bytes(whole[place : place + 4], "little") + 100).to_bytes(4, "little")
    path.write_bytes(whole)
    home.unpacked_folder(tmp_path / "came")
    assert journal.find("a", tmp_path / "came") is None
    path.write_bytes(whole[:60])
    cut = home.unpacked_folder(tmp_path / "came")
    assert cut not in (None, there) and journal.find("a", tmp_path / "came") is None
    shutil.rmtree(tmp_path / "came")
    assert home.unpacked_folder(tmp_path / "came") is None


def test_all_that_ships_in_archives_is_found() -> None:
    names = [
        Path(name).stem
        for path in sorted((home.recordings() / "packs").glob("*.zip"))
        for name in zipfile.ZipFile(path).namelist()
        if name.endswith(".jsonl")
    ]
    assert len(names) >= 127 and all(journal.find(name, home.recordings()) for name in names)
