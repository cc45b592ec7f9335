"""Whatever was written to a journal can be read again, however the writer was killed."""

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.events import (
    Answered,
    Dropped,
    Event,
    Finished,
    Message,
    Recorded,
    Request,
    Sampling,
    Scored,
    Started,
    Token,
    Tool,
    from_json,
    to_json,
)
from core.journal import Journal, JournalInUseError, Tail, is_written, read, read_part, to_line
from core.models.cache import key_of

RUN = "20260101-000000-test-0000"


def answered(call: str = "c0001", text: str = "yes") -> Answered:
    return Answered(run=RUN, call=call, role="explainer", model="m", text=text, seconds=0.1)


def test_what_is_appended_is_read_again(tmp_path: Path) -> None:
    events: list[Event] = [
        Started(run=RUN, lab="simulatability", spec={"question": "Ünïcode \u2028 line?"}, seed=3),
        answered(text='two\nlines and a "quote" \u2028 \x00'),
        Recorded(run=RUN, record="answer", item="cf-01", data={"paper": "neither"}),
        Dropped(run=RUN, item="cf-02", reason="duplicate"),
        Scored(run=RUN, metric="precision", value=None, n=0, of=2, rules="paper"),
        Finished(run=RUN, status="completed"),
    ]
    path = tmp_path / f"{RUN}.jsonl"
    with Journal(path) as journal:
        for event in events:
            journal.append(event)
    assert read(path).events == events
    assert read(path).faults == []


def test_every_event_bears_kind_run_and_time() -> None:
    line = to_json(Started(run=RUN, lab="x", spec={}, seed=0))
    assert '"kind":"started"' in line and f'"run":"{RUN}"' in line and '"at":"' in line and '"schema":3' in line


def test_tokens_are_not_kept(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    with Journal(path) as journal:
        journal.append(Token(run=RUN, call="c0001", text="y"))
        journal.append(answered())
    assert [event.kind for event in read(path).events] == ["answered"]


@given(cut=st.integers(min_value=0, max_value=10_000))
def test_a_torn_end_loses_only_the_torn_line(tmp_path_factory: pytest.TempPathFactory, cut: int) -> None:
    path = tmp_path_factory.mktemp("torn") / "a.jsonl"
    with Journal(path) as journal:
        for number in range(5):
            journal.append(answered(call=f"c{number}", text="ö" * 20))
    data = path.read_bytes()
    kept = data[: cut % (len(data) + 1)]
    path.write_bytes(kept)
    whole = kept.count(b"\n")
    assert len(read(path).events) == whole
    with Journal(path) as journal:
        journal.append(answered(call="after"))
    events = read(path)
    assert [event.call for event in events.events] == [f"c{n}" for n in range(whole)] + ["after"]
    assert events.faults == []


def test_a_broken_line_in_the_middle_is_named_and_passed_over(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    with Journal(path) as journal:
        journal.append(answered(call="c1"))
        journal.append(answered(call="c2"))
    first, second = path.read_bytes().splitlines(keepends=True)
    path.write_bytes(first + b'{"kind":"nonsense"}\n' + second)
    contents = read(path)
    assert [event.call for event in contents.events] == ["c1", "c2"]
    assert [fault.line for fault in contents.faults] == [2]


def test_one_writer_at_a_time(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    with Journal(path):
        assert is_written(path)
        with pytest.raises(JournalInUseError, match="still going on"):
            Journal(path)
    assert not is_written(path)
    Journal(path).close()


def test_a_new_journal_never_takes_another_s_name(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    Journal(path, new=True).close()
    with pytest.raises(FileExistsError):
        Journal(path, new=True)
    assert not is_written(path)


def test_who_waits_goes_on_when_it_is_on_the_disk_and_not_before(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A separate thread syncs to the disk, once for all that wait."""
    on_disk: list[int] = []
    threads: set[str] = set()
    go = threading.Event()
    fsync = os.fsync

    def slow(descriptor: int) -> None:
        threads.add(threading.current_thread().name)
        go.wait(5)
        fsync(descriptor)
        on_disk.append(os.fstat(descriptor).st_size)

    monkeypatch.setattr(os, "fsync", slow)
    path = tmp_path / "a.jsonl"
    journal = Journal(path)
    journal.append(answered())
    settled = [threading.Event() for _ in range(20)]
    for number, event in enumerate(settled):
        journal.append(answered(call=f"c{number}"))
        journal.settle(event.set)
    assert not any(event.wait(0.01) for event in settled), "nothing is on the disk yet"
    assert path.stat().st_size > 0, "whoever reads the file sees it at once"
    go.set()
    assert all(event.wait(5) for event in settled)
    assert max(on_disk) == path.stat().st_size
    assert len(on_disk) <= 3 and threads == {"journals"}
    journal.close()


@pytest.mark.parametrize(
    "event",
    [
        answered(),
        Started(run=RUN, lab="x", spec={}, seed=0),
        Recorded(run=RUN, record="answer", item="cf-01", data={}),
        Dropped(run=RUN, item="cf-02", reason="duplicate"),
        Finished(run=RUN, status="completed"),
    ],
)
def test_what_cost_something_is_forced_to_the_disk(
    event: Event, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    forced = threading.Event()
    journal = Journal(tmp_path / "a.jsonl")
    monkeypatch.setattr(os, "fsync", lambda descriptor: forced.set())
    journal.append(event)
    assert forced.wait(5)
    journal.close()


def test_closing_forces_the_rest(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    sizes: list[int] = []
    fsync = os.fsync
    monkeypatch.setattr(os, "fsync", lambda descriptor: (fsync(descriptor), sizes.append(os.fstat(descriptor).st_size)))
    path = tmp_path / "a.jsonl"
    with Journal(path) as journal:
        journal.append(Scored(run=RUN, metric="m", value=1, n=1, of=1, rules="paper"))
    assert sizes[-1] == path.stat().st_size


def test_threads_that_append_at_once_never_mix_their_lines(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    with Journal(path) as journal:
        # Written in pieces: only the lock keeps lines whole.
        write = journal._file.write
        journal._file = Halves(journal._file, write)
        threads = [
            threading.Thread(target=lambda n=n: [journal.append(answered(call=f"c{n}-{k}")) for k in range(30)])
            for n in range(4)
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        journal._file = journal._file.file  # type: ignore[attr-defined]
    contents = read(path)
    assert not contents.faults and len({event.call for event in contents.events}) == 120


class Halves:
    """A file that accepts only half of each write, as a file may, and takes a while for it."""

    def __init__(self, file: Any, write: Callable[[bytes], int]) -> None:
        self.file, self._write = file, write

    def write(self, data: bytes) -> int:
        time.sleep(0.0002)
        return self._write(data[: (len(data) + 1) // 2])

    def __getattr__(self, name: str) -> Any:
        return getattr(self.file, name)


def test_a_journal_that_was_taken_over_is_written_no_more(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    journal = Journal(path)
    journal._lease.lost = True
    with pytest.raises(JournalInUseError, match="taken over"):
        journal.append(answered())
    assert path.read_bytes() == b""
    journal.close()


def test_a_part_is_what_is_placed_there_and_how_the_run_and_its_cases_stand(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    cases = ["a", "a/b", "a/b/c", "a/b/c2", 'q"uote', "ünï"]
    events: list[Event] = [Started(run=RUN, lab="x", spec={"case": "a/b/c"}, seed=0)]
    for case in cases:
        events += [
            Recorded(run=RUN, case=case, record="begun", item="case", data={}),
            Answered(run=RUN, case=case, call=case, role="x", model="m", text='"case":"a/b/c"', seconds=0),
            Recorded(run=RUN, case=case, record="echo", item="1", data={"case": "none"}),
            Recorded(run=RUN, case=case, record="result", item="case", data={}),
            Dropped(run=RUN, case=case, item="x", reason="error"),
            Dropped(run=RUN, case=case, item="y", reason="duplicate"),
        ]
    events += [Scored(run=RUN, metric="m", value=1, n=1, of=1, rules="paper"), Finished(run=RUN, status="completed")]
    with Journal(path) as journal:
        for event in events:
            journal.append(event)
    for wanted in cases:
        part = read_part(path, [wanted]).events
        outlines = [event for event in events if getattr(event, "record", "") in ("begun", "result")]
        outlines += [event for event in events if getattr(event, "reason", "") == "error"]
        own = [event for event in events if getattr(event, "case", None) == wanted]
        assert part == [e for e in events if e in own or e in outlines or not getattr(e, "case", "")]


@given(cuts=st.lists(st.integers(min_value=1, max_value=400), max_size=30))
def test_a_tail_reads_every_event_once_however_it_comes(
    tmp_path_factory: pytest.TempPathFactory, cuts: list[int]
) -> None:
    path = tmp_path_factory.mktemp("tail") / "a.jsonl"
    data = b"".join(to_line(answered(call=f"c{n}", text="ö" * n), n + 1) for n in range(12))
    path.write_bytes(b"")
    tail, seen, at = Tail(path), [], 0
    for cut in [*cuts, len(data)]:
        with path.open("ab") as file:
            file.write(data[at : at + cut])
        at = min(at + cut, len(data))
        seen += [event.call for event in tail.news().events]
    assert seen == [f"c{n}" for n in range(12)]
    path.write_bytes(data[: data.find(b"\n") + 1])
    assert [event.call for event in tail.news().events] == ["c0"], "a file that shrank is another"


def test_a_killed_writer_leaves_what_it_acknowledged_and_no_lock(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    script = (
        "import sys, itertools\nfrom pathlib import Path\n"
        "from core.journal import Journal\nfrom core.events import Answered\n"
        "journal = Journal(Path(sys.argv[1]))\n"
        "for n in itertools.count():\n"
        "    journal.append(Answered(run='r', call=f'c{n}', role='x', model='m', text='t' * 500, seconds=0))\n"
        "    print(n, flush=True)\n"
    )
    writer = subprocess.Popen([sys.executable, "-c", script, str(path)], stdout=subprocess.PIPE, text=True)
    assert writer.stdout is not None
    acknowledged = -1
    for line in writer.stdout:
        acknowledged = int(line)
        if acknowledged >= 50:
            assert is_written(path)
            os.kill(writer.pid, signal.SIGKILL)
            break
    writer.wait()
    assert len(read(path).events) >= acknowledged + 1
    assert not is_written(path)


def test_a_fingerprint_tells_requests_apart_by_what_a_model_sees() -> None:
    one = Request(role="generator", model="m", messages=(), sampling=Sampling(temperature=1, seed=1))
    assert one.fingerprint() == one.model_copy(update={"slots": {"a": "b"}, "prompt": "x"}).fingerprint()
    for changed in (
        {"repeat": 1},
        {"model": "n"},
        {"role": "simulator"},
        {"sampling": Sampling(temperature=1, seed=2)},
        {"tools": (Tool(name="look", description="", parameters={}),)},
    ):
        assert one.fingerprint() != one.model_copy(update=changed).fingerprint()


def test_fingerprints_of_earlier_journals_still_hold() -> None:
    """A run that stopped under an earlier version continues without asking again; its cached answers are used."""
    one = Request(role="explainer", model="m/m", messages=(Message(role="user", content="Can owls fly?"),))
    assert one.fingerprint() == "5a7f61044cdd9cb18b46619d9ea40971236aec570675f1e5a2a1f1b2b93ee104"
    assert key_of(one, "m/m", "u") == "2ce6f81bab96a9166eccc11867e26e2f7922692d3701003b7b5ab7596462ff0a"


def test_what_is_not_an_event_is_refused() -> None:
    with pytest.raises(ValueError):
        from_json('{"kind": "answered"}')


def test_records_of_different_cases_people_and_items_never_replace_each_other() -> None:
    one = Recorded(run=RUN, case="a", record="answer", item="cf-01", data={"x": 1})
    assert one.key == one.model_copy(update={"data": {"x": 2}}).key
    for other in ({"case": "b"}, {"record": "guess"}, {"item": "cf-02"}, {"by": "ann"}):
        assert one.key != one.model_copy(update=other).key
