"""The scene of a function of words: each word as a card, the means beside the paper's."""

import pytest

from core.events import Event
from core.labs.probe.reliability.lab import LAB, ReliabilityReport, ReliabilitySpec
from core.report.scenes import of_case
from core.scene import Scene, steps
from core.transcript import transcript
from tests.core.labs.probe.test_reliability import play, stub_catalog
from tests.core.report.test_scenes import is_whole
from tests.support.stub_server import Fault, StubServer


def told(events: list[Event], active: bool = False) -> Scene:
    state = transcript(events)
    return of_case(LAB, state, state.only, active)


@pytest.mark.parametrize("across", [True, False])
def test_each_word_is_a_card_and_its_own_come_first(across: bool) -> None:
    _, events = play(ReliabilitySpec(concepts=10, words=4, across=across))
    scene = told(events)
    is_whole(scene)
    state = transcript(events)
    one = ReliabilityReport.of(state.case(state.only)).reliability
    assert one is not None and len(scene.cards) == len(one.words) == (40 if across else 8)
    own = [card for card in scene.cards if card.origin == f"a word of {one.concept}"]
    assert [card.number for card in own] == [1, 2, 3, 4] and all(card.expects[0].value == "1" for card in own)
    assert [card.parts[0].text for card in own] == [
        word for word, of in zip(one.words, one.of, strict=True) if of == one.concept
    ]
    for card in scene.cards:
        assert (card.mark == "kept") == (card.said == card.expects[0].value)
        assert (float(card.text) >= 0.5) == (card.said == "1")
    assert [panel.answer for panel in scene.panels] == [
        f"{sum(values) / len(values):.2f} on average" for values in (one.outputs("same"), one.outputs("random"))
    ]
    assert scene.verdict and scene.verdict.mark is None and scene.verdict.bars == ()
    assert [screen.shows for screen in scene.screens][-4:] == ["tiles", "panel", "panel", "verdict"]


def test_it_is_told_at_every_moment() -> None:
    _, events = play(ReliabilitySpec(concepts=2, words=2))
    before: dict[str, str] = {}
    for moment in range(len(events) + 1):
        scene = told(events[:moment], active=True)
        is_whole(scene)
        now = dict(steps(scene))
        assert not scene.case or before.items() <= now.items()
        before = now if scene.case else {}
    assert before


def test_what_failed_says_so() -> None:
    spec = ReliabilitySpec(backbone="model", model="stub/stub-model", concepts=2, words=1)
    with StubServer(always=Fault("wrong_key")) as server:
        _, events = play(spec, stub_catalog(server))
    scene = told(events)
    is_whole(scene)
    assert scene.status == "failed" and scene.cards == () and scene.verdict and scene.failure


def test_a_record_without_one_value_a_word_is_not_read() -> None:
    _, events = play(ReliabilitySpec(concepts=2, words=2))
    broken = [
        event.model_copy(update={"data": {**event.data, "values": (1.0,)}})
        if event.kind == "recorded" and event.record == "reliability"
        else event
        for event in events
    ]
    scene = told(broken)
    is_whole(scene)
    assert scene.unread == 1 and scene.cards == ()
