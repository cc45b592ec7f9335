"""What the page of an imported run says about its origin."""

from collections.abc import Callable

import pytest
from streamlit.testing.v1 import AppTest

from core import entry, home, journal
from core.events import Event, Scored
from core.journal import to_line
from core.runs import bundle

RECORDED = next(path for path in sorted(home.recordings().glob("*.jsonl")) if "-consistency-" in path.stem)


def better(event: Event) -> Event:
    return event.model_copy(update={"value": 0.99}) if isinstance(event, Scored) else event


@pytest.mark.parametrize("change", [None, better])
def test_an_imported_run_says_from_whom_and_whether_its_figures_are_so(
    change: Callable[[Event], Event] | None, page: Callable[..., AppTest]
) -> None:
    sent = home.home() / "sent.jsonl"
    events = [change(event) if change else event for event in journal.read(RECORDED).events]
    events = [event.model_copy(update={"run": "sent"}) for event in events]
    sent.write_bytes(b"".join(to_line(event, number) for number, event in enumerate(events, start=1)))
    taken = bundle.import_path(sent, [home.journals()], "Mallory")
    assert taken.runs == ["sent"] and entry.score_again(taken)
    at = page("results/case.py", run="sent")
    captions = [one.value for one in at.caption]
    assert any("Mallory" in one for one in captions)
    said = "figures and findings follow from them" in " ".join(captions)
    warned = [one.value for one in at.warning if "do not follow from them" in one.value]
    assert (said, len(warned)) == ((False, 1) if change else (True, 0))
