"""The lines of a journal: their numbers, missing or moved lines, and the remains of a failed write."""

import asyncio
import errno
import os
from pathlib import Path
from typing import Any

import pytest

from core import journal as module
from core.events import SCHEMA, Answered, Event, Scored, Shared, Started, to_json
from core.journal import (
    MOST_MISSING,
    Fault,
    Journal,
    JournalFullError,
    NewerSchemaError,
    Tail,
    faults,
    first_event,
    is_written,
    read,
    read_part,
    to_line,
    whole_lines,
)
from core.runs.library import about_path, is_shared

RUN = "20260101-000000-test-0000"
BEGUN = Started(run=RUN, lab="x", spec={}, seed=0, owner="ann")


def answered(call: str) -> Answered:
    return Answered(run=RUN, call=call, role="explainer", model="m", text="yes", seconds=0.1)


def lines(*numbers: int) -> list[bytes]:
    return [to_line(BEGUN if number == 1 else answered(f"c{number}"), number) for number in numbers]


def written(path: Path, *given: bytes) -> Path:
    path.write_bytes(b"".join(given))
    return path


def bare(event: Event) -> bytes:
    """A line without its number and checksum."""
    return to_json(event).encode() + b"\n"


def both(path: Path) -> list[tuple[int, str]]:
    """The faults, after checking that the quick check finds them as well."""
    assert faults(path) == read(path).faults
    return [tuple(fault) for fault in faults(path)]


def calls(path: Path) -> list[str]:
    return [event.call for event in read(path).events if isinstance(event, Answered)]


@pytest.mark.parametrize(
    ("numbers", "wrong", "told"),
    [
        ((1, 2, 3), [], "23"),
        ((1, 3), [(2, "it is missing")], "3"),
        ((2, 3), [(1, "it is missing")], "23"),
        ((1, 2, 2, 3), [(3, "it stands there twice")], "23"),
        ((1, 3, 2, 4), [(3, "it stood in another place")], "234"),
        ((1, 4), [(2, "it is missing"), (3, "it is missing")], "4"),
        ((), [], ""),
        ((1,), [], ""),
    ],
)
def test_lines_tell_what_is_missing_doubled_or_moved(
    tmp_path: Path, numbers: tuple[int, ...], wrong: list[tuple[int, str]], told: str
) -> None:
    path = written(tmp_path / "a.jsonl", *lines(*numbers))
    assert both(path) == wrong
    assert calls(path) == [f"c{number}" for number in told], "in the order in which they were written"


def test_of_many_missing_lines_a_thousand_are_named(tmp_path: Path) -> None:
    path = written(tmp_path / "a.jsonl", *lines(1, 1_002))
    assert len(both(path)) == 1_000 == MOST_MISSING
    path = written(tmp_path / "a.jsonl", *lines(1, 1_003))
    assert len(both(path)) == 1_000


def test_an_altered_line_is_one_fault_and_not_two(tmp_path: Path) -> None:
    first, second, third = lines(1, 2, 3)
    path = written(tmp_path / "a.jsonl", first, second.replace(b"yes", b"no!"), third)
    assert both(path) == [(2, "it was altered: its checksum does not fit")]
    path = written(tmp_path / "a.jsonl", first, bare(answered("c2")), third)
    assert both(path) == [(2, "it was altered: its checksum is gone")]
    path = written(tmp_path / "a.jsonl", bare(BEGUN), second)
    assert both(path)[0] == (1, "it was altered: its checksum is gone")
    path = written(tmp_path / "a.jsonl", first, b"nonsense\n", third)
    assert [line for line, _ in both(path)] == [2]


def test_who_goes_on_after_a_lost_line_gives_no_number_twice(tmp_path: Path) -> None:
    for kept, next_number in (((1, 2, 3), 4), ((1, 3), 4), ((1,), 2), ((), 1)):
        whole = lines(*kept)
        path = written(tmp_path / "a.jsonl", *whole, b'{"torn')
        with Journal(path) as journal:
            line = journal.append(answered("after"))
        assert path.read_bytes() == b"".join(whole) + line
        assert module.from_line(line.rstrip(b"\n")) == (read(path).events[-1], next_number)


def test_the_first_event_is_had_without_the_rest(tmp_path: Path) -> None:
    [first, second] = lines(1, 2)
    for given, event in (
        ((first, b"nonsense"), BEGUN),
        ((first[:-1],), None),
        ((), None),
        ((second, first), None),
        ((first.replace(b"ann", b"bob"), second), None),
        ((b"nonsense\n", first), None),
    ):
        assert first_event(written(tmp_path / "a.jsonl", *given)) == event
    future = to_line(BEGUN.model_copy(update={"version": SCHEMA + 1}), 1)
    for look in (first_event, read, faults, lambda path: read_part(path, []), lambda path: Tail(path).news()):
        with pytest.raises(NewerSchemaError, match=f"schema {SCHEMA + 1}; this one knows {SCHEMA}"):
            look(written(tmp_path / "a.jsonl", future, second))


def test_the_last_word_decides_whether_a_run_is_shared(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    assert not is_shared(path)
    for shared in (True, False, True):
        with Journal(about_path(path, "shared")) as journal:
            journal.append(Shared(run="a", shared=shared))
        assert is_shared(path) is shared
    written(about_path(path, "shared"), to_line(BEGUN, 1))
    assert not is_shared(path)


class Full:
    """A file on a disk with room for this number of bytes, or one that fails otherwise."""

    def __init__(self, file: Any, room: int, fault: int) -> None:
        self.file, self.room, self.fault = file, room, fault

    def write(self, data: bytes) -> int:
        if not self.room:
            raise OSError(self.fault, os.strerror(self.fault))
        done = self.file.write(data[: self.room])
        self.room -= done
        return int(done)

    def __getattr__(self, name: str) -> Any:
        return getattr(self.file, name)


@pytest.mark.parametrize("room", [0, 1, 30])
def test_a_line_that_found_no_room_leaves_nothing_and_the_next_one_can_be_written(tmp_path: Path, room: int) -> None:
    path = tmp_path / "a.jsonl"
    with Journal(path) as journal:
        journal.append(BEGUN)
        before = path.read_bytes()
        journal._file = Full(journal._file, room, errno.ENOSPC)
        with pytest.raises(JournalFullError, match=r"a.jsonl could not be written \(No space left on device\)"):
            journal.append(answered("c2"))
        assert path.read_bytes() == before
        journal._file = journal._file.file  # type: ignore[attr-defined]
        journal.append(answered("c3"))
    assert both(path) == [] and calls(path) == ["c3"]


def test_what_cannot_be_opened_is_held_by_nobody(tmp_path: Path) -> None:
    (tmp_path / "a.jsonl").mkdir()
    with pytest.raises(OSError):
        Journal(tmp_path / "a.jsonl")
    assert not is_written(tmp_path / "a.jsonl")


def test_a_journal_is_held_until_it_is_closed_even_where_that_fails(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    journal = Journal(tmp_path / "deep" / "a.jsonl")
    journal.append(Scored(run=RUN, metric="m", value=1, n=1, of=1, rules="paper"))

    def broken(descriptor: int) -> None:
        raise OSError(errno.EIO, "broken")

    monkeypatch.setattr(os, "fsync", broken)
    with pytest.raises(OSError, match="broken"):
        journal.close()
    assert not is_written(journal.path)
    monkeypatch.undo()
    journal.close()
    journal.sync()
    assert is_written(journal.path) is False and len(read(journal.path).events) == 1


def test_who_waits_for_a_broken_disk_waits_not_for_ever(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(descriptor: int) -> None:
        raise OSError(errno.EIO, "broken")

    journal = Journal(tmp_path / "a.jsonl")
    with monkeypatch.context() as patched:
        patched.setattr(os, "fsync", broken)
        journal.append(answered("c1"))
        asyncio.run(asyncio.wait_for(journal.settled(), 5))
    asyncio.run(asyncio.wait_for(journal.settled(), 5))
    journal.close()


def test_lines_are_whole_and_not_empty() -> None:
    assert list(whole_lines(b"a\n\nb\r\nc")) == [b"a", b"b\r"]
    assert list(whole_lines(b"torn")) == [] == list(whole_lines(b""))


def test_a_tail_looks_on_from_where_it_was_and_anew_where_the_file_shrank(tmp_path: Path) -> None:
    path = written(tmp_path / "a.jsonl", *lines(1, 2))
    tail = Tail(path)
    assert len(tail.news().events) == 2 and tail.news() == ([], [])
    written(path, *lines(1, 2), lines(3)[0][:-1])
    assert tail.news().events == []
    written(path, *lines(1, 2, 3), b"nonsense\n")
    news = tail.news()
    assert [event.call for event in news.events] == ["c3"] and [type(fault) for fault in news.faults] == [Fault]
    written(path, *lines(1))
    assert tail.news().events == [BEGUN]
    path.unlink()
    with pytest.raises(FileNotFoundError):
        tail.news()


def test_a_part_is_read_once_until_its_journal_grows(tmp_path: Path) -> None:
    first, second = (to_line(answered(f"c{n}").model_copy(update={"case": "a"}), n) for n in (1, 2))
    path = written(tmp_path / "a.jsonl", first)
    part = read_part(path, ["a"])
    assert [event.call for event in part.events] == ["c1"]
    assert read_part(path, ["a"]) is part and read_part(path, ["b"]).events == []
    with path.open("ab") as file:
        file.write(second)
    assert [event.call for event in read_part(path, ["a"]).events] == ["c1", "c2"]


def test_a_part_passes_over_what_is_torn_or_altered(tmp_path: Path) -> None:
    first, second, third = (to_line(answered(f"c{n}").model_copy(update={"case": "a"}), n) for n in (1, 2, 3))
    path = written(tmp_path / "a.jsonl", first, second.replace(b"yes", b"no!"), third, b'{"kind":"started"')
    part = read_part(path, ["a"])
    assert [event.call for event in part.events] == ["c1", "c3"]
    assert [fault.reason for fault in part.faults] == ["it was altered: its checksum does not fit"]
    assert read_part(path, ["b"]).events == [] == read_part(written(path, b'{"kind":"started"'), ["a"]).events
