"""Qualification tests have no scene of their own: their trials show whether each question was answered correctly, and
the verdict.
"""

import asyncio
from collections import Counter

import pytest

from core import home, journal
from core.events import Event
from core.labs.plant.qualification import TEST, AlwaysNo, Perfect, ReadingExamSpec
from core.runs.engine import RunIO, RunRequest, execute
from core.scene import Scene
from core.transcript import transcript
from tests.core.report.test_scenes import is_whole, of

PRIORS = sorted((home.recordings() / "priors").glob("*-exam-*.jsonl"))


def is_told(scene: Scene) -> Counter[str]:
    """How often each mark occurs, in a scene whose marks and words agree."""
    is_whole(scene)
    for card in scene.cards:
        assert card.mark == {"right": "kept", "wrong": "broken", "unread": "unread"}[card.outcome]
    assert scene.verdict is not None
    assert scene.verdict.mark == ("kept" if "passed the" in scene.verdict.headline.text else "broken")
    return Counter(card.mark for card in scene.cards)


@pytest.mark.parametrize("path", PRIORS, ids=lambda path: path.stem[:15])
def test_an_exam_of_a_predictor_is_told_from_its_trials(path: object) -> None:
    scene = of(journal.read(path).events)  # type: ignore[arg-type]
    right = is_told(scene)["kept"]
    assert scene.verdict and f" {right} of {len(scene.cards)} guesses are right" in scene.verdict.headline.text


@pytest.mark.parametrize("reader", [Perfect(), AlwaysNo()], ids=lambda reader: reader.id)
def test_an_exam_of_a_reader_is_told_from_its_trials(reader: Perfect | AlwaysNo) -> None:
    events: list[Event] = []
    going = RunRequest(TEST, ReadingExamSpec(model=reader.id), "r")
    asyncio.run(execute(going, RunIO(lambda id: reader, events.append)))
    kept = [event for event in events if event.kind != "token"]
    assert transcript(kept).status == "completed"
    marks = is_told(of(kept, lab=TEST))
    assert (marks["broken"] == 0) == isinstance(reader, Perfect)
