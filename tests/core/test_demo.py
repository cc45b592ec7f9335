"""A home filled with copies of robots' runs: whole journals without a fault."""

from pathlib import Path

import pytest

from core import home, journal
from core.__main__ import main
from core.commands import app
from core.events import Recorded
from core.store.event_rows import BEGUN
from core.transcript import transcript

SMALL = b"""
[[part]]
lab = "ask"
spec = { dataset = "world", limit = 2, counterfactuals = 3, model = "control/fickle" }
"""


def test_copies_are_whole_runs_with_items_of_their_own(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("EXPLAIN_HOME", str(tmp_path))
    monkeypatch.setattr(app, "STUDY", SMALL)
    assert main(["demo-home", "60"]) == 0
    files = sorted(home.journals().glob("*.jsonl"))
    (written, runs), copy = capsys.readouterr().out.split()[:4:3], home.journals() / f"{app.DEMO}000001.jsonl"
    assert int(written) >= 60 and int(runs) == len(files) > 3
    assert not journal.faults(copy)
    seeds, titles = set(), []
    for file in files:
        events = journal.read(file).events
        state = transcript(events)
        assert events[0].run == file.stem and state.status == "completed"
        seeds.add(getattr(events[0], "seed", None))
        titles += [event.data["title"] for event in events if isinstance(event, Recorded) and event.record == BEGUN]
    assert len(seeds) > 2 and len(set(titles)) > len(files)
    with pytest.raises(SystemExit):  # a home with runs is left alone
        main(["demo-home", "1"])
    assert len(list(home.journals().glob("*.jsonl"))) == len(files)
