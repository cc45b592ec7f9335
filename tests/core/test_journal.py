"""The journal: what was written is read again, whatever killed the writer."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

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
from core.journal import Journal, JournalInUse, is_written, read
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
    assert '"kind":"started"' in line and f'"run":"{RUN}"' in line and '"at":"' in line and '"schema":1' in line


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
        with pytest.raises(JournalInUse, match="still going on"):
            Journal(path)
    assert not is_written(path)
    Journal(path).close()


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
    """A run that stopped under an earlier version goes on without asking again; its cached answers are found."""
    one = Request(role="explainer", model="m/m", messages=(Message(role="user", content="Can owls fly?"),))
    assert one.fingerprint() == "5a7f61044cdd9cb18b46619d9ea40971236aec570675f1e5a2a1f1b2b93ee104"
    assert key_of(one, "m/m", "u") == "2ce6f81bab96a9166eccc11867e26e2f7922692d3701003b7b5ab7596462ff0a"


def test_what_is_not_an_event_is_refused() -> None:
    with pytest.raises(ValueError):
        from_json('{"kind": "answered"}')
