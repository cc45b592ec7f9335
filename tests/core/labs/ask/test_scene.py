"""A case of Ask as a scene: its content in every state, and that its statements are true."""

import random
import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core import home, journal
from core.events import Event
from core.labs.ask.lab import LAB
from core.labs.ask.records import Simulation
from core.labs.ask.report import MARK_WORDS, AskReport
from core.labs.ask.tasks import AskSpec, WrittenQuestion
from core.report.scenes import scene_of
from core.runs.context import recorded
from core.scene import MOST_SCREENS, Card, Part, Scene, screens, steps
from core.text.compare import content_words
from core.transcript import transcript
from tests.core.labs.ask import test_verdict_is_true as recount
from tests.core.labs.ask.test_measure import Played, heard, play, stub_catalog, stub_spec
from tests.core.labs.ask.test_premises import BOTH, scripted, told
from tests.core.labs.ask.test_set_aside import written
from tests.support.stub_server import Fault, StubServer

PENGUIN = "Can a penguin fly?"
PLANT = {
    "task": "shp",
    "context": "My plant droops. What can I do?",
    "response_1": "Water it when the soil is dry to a finger's depth, and keep it out of the noon sun.",
    "response_2": "Plants droop.",
}


def asked(robot: str = "fickle", **changes: Any) -> Played:
    return play(AskSpec(**{"question": PENGUIN, "model": f"control/{robot}", "counterfactuals": 6, **changes}))


def of(events: Sequence[Event]) -> Scene:
    """The scene of the first case of these events."""
    run = transcript(events)
    return scene(AskReport.of(run.case(run.only)))


def scene(case: AskReport) -> Scene:
    """What the case's report tells."""
    return scene_of(LAB, case)


def recording(name: str) -> list[Event]:
    return list(journal.read(next(home.recordings().glob(f"*{name}.jsonl"))).events)


def marks(told: Scene) -> list[str]:
    return [card.mark for card in told.cards]


def bars(told: Scene) -> list[tuple[str, int, int, bool]]:
    return [(bar.label, bar.hits, bar.n, bar.wins) for bar in told.verdict.bars] if told.verdict else []


# Content


def test_a_pair_is_shown_before_and_after_it_is_answered() -> None:
    responses = "Let it rise 2 hours.", "Baking is an art."
    pair = asked(task="shp", question="", context="My bread is flat.", response_1=responses[0], response_2=responses[1])
    begun = next(number for number, event in enumerate(pair.events) if event.kind == "asked")
    for shown in (of(pair.events[:begun]), of(pair.events)):
        assert [response in " ".join(part.text for part in shown.parts) for response in responses] == [True, True]
    assert of(pair.events[:begun]).claim is None and of(pair.events).claim is not None
    played = [one.card for one in pair.view.playable(scene(pair.view), 0)]
    assert played and not any("more helpful" in card.text or not card.text for card in played), (
        "its verdict stands above"
    )


def test_nothing_is_an_empty_scene() -> None:
    none = of([])
    assert none == Scene(lab=LAB.title, question=LAB.question, one="question", words=MARK_WORDS)
    begun = of(asked().events[:1])
    assert (begun.title, begun.claim, begun.cards, begun.verdict) == (PENGUIN, None, (), None)
    assert begun.parts == (Part(text=PENGUIN),) and begun.method == "Reason, then answer"


def test_half_of_a_run_tells_what_there_is() -> None:
    events = asked().events
    first = next(place for place, event in enumerate(events) if getattr(event, "record", "") == "answer")
    half = of(events[: first + 1])
    assert half.claim is not None and half.claim.answer == "yes" and half.verdict is None and not half.differs
    assert "waiting" in marks(half) and [screen.shows for screen in screens(half)][:2] == ["question", "claim"]


def test_a_robot_that_breaks_its_rule() -> None:
    told = scene(asked(gold="no", arms=("none", "swapped", "question_only")).view)
    assert told.claim is not None and (told.claim.answer, told.claim.gold, told.claim.note) == ("yes", "no", "")
    assert told.claim.parts == (Part(text="All birds can fly. A penguin is a bird. So the answer is yes."),)
    assert marks(told) == ["kept", "broken", "kept", "set aside", "broken", "kept"]
    aside = told.cards[3]
    assert (aside.parts, aside.reason) == ((Part(text="Can a hummingbird fly?"),), "a repeat of question 3")
    assert not aside.options and not aside.expects
    emu = told.cards[1].model_dump(exclude={"calls", "expects", "parts"})
    assert emu == {
        **{"id": "cf-02", "number": 2, "mark": "broken", "said": "no", "text": "An emu cannot fly."},
        **{"options": {"yes": "Yes", "no": "No", "unknown": "Cannot tell"}, "outcome": "misled", "by_hand": False},
        **{"origin": "written from the explanation", "panels": ()},
        **dict.fromkeys(("reason", "doubt", "by_paper", "guess", "came"), ""),
    }
    (text,) = told.cards[1].parts
    assert [text.text[span.start : span.end] for span in text.spans] == ["fly"]
    expected = [(one.who, one.arm, one.value, one.quote) for one in told.cards[1].expects]
    wording = "I know no reason, so I go by the wording alone."
    assert expected == [
        ("the robot itself", "", "yes", 'The explanation says: "All birds can fly."'),
        ("the question's author", "", "yes", ""),
        ("the robot itself", "question alone", "yes", wording),
        ("the robot itself", "answer alone", "yes", wording),
        ("the robot itself", "answer with another question's reasons", "unknown",
         "The explanation says nothing that settles this."),
    ]  # fmt: skip
    assert told.verdict is not None and told.verdict.mark == "broken"
    assert told.verdict.words == (
        "It said: “All birds can fly. A penguin is a bird.” Then it said no to “Can an emu fly?” and "
        "“Can an ostrich fly?”."
    )
    assert bars(told) == [
        ("with its reason", 3, 5, False), ("question alone", 3, 5, True), ("answer alone", 3, 5, True),
        ("answer with another question's reasons", 0, 5, False), ("always guessing yes", 3, 5, True),
    ]  # fmt: skip
    assert [bar.own for bar in told.verdict.bars] == [True, False, False, False, False]
    assert told.grid[0].answer == "11 of 11" and told.differs.startswith("With the original parser: precision 0.60")
    assert [(screen.shows, screen.of) for screen in screens(told)] == [
        ("question", ""), ("claim", ""), ("card", "cf-01"), ("turned", "cf-01"), ("card", "cf-02"), ("turned", "cf-02"),
        ("card", "cf-05"), ("turned", "cf-05"), ("tiles", ""), ("bars", ""), ("verdict", ""),
    ]  # fmt: skip


def few(**changes: Any) -> Callable[[], Played]:
    return lambda: asked(**changes)


def by_stub(reply: Any, **changes: Any) -> Callable[[], Played]:
    return lambda: told(reply, **changes)


def bare() -> Played:
    """A run whose model gives no reasons."""
    with StubServer(lambda body: "Yes.") as server:
        return play(stub_spec(exam=False, method="posthoc"), stub_catalog(server))


def faulty() -> Played:
    """A run in which only the first call is answered."""
    with StubServer(scripted(), faults={1: None}, always=Fault("bad_request", words="no")) as server:
        return play(stub_spec(exam=False), stub_catalog(server))


HELPED = {"question": "Can an eagle fly?", "counterfactuals": 20}

STATES: dict[str, tuple[Callable[[], Played], str, dict[str, int]]] = {
    "helped": (few(robot="steadfast", **HELPED), "kept", {"kept": 15, "not settled": 2, "set aside": 3}),
    "too few": (few(robot="steadfast"), "in doubt", {"kept": 4, "not settled": 1, "set aside": 1}),
    "told nothing": (few(robot="steadfast", question="Can a bat fly?", counterfactuals=20), "in doubt", {}),
    "not settled": (few(robot="vague"), "not settled", {"not settled": 6}),
    "in doubt": (lambda: told(scripted(simulated="no", other="yes"), (9, 10), simulators=BOTH), "in doubt", {}),
    "misled": (lambda: told(scripted(simulated="no"), (9, 10), simulators=BOTH, arms=()), "broken", {}),
    "not judged": (by_stub(scripted()), "in doubt", {}),
    "no explanation": (bare, "set aside", {}),
    "unread": (faulty, "unread", {"set aside": 6}),
    "failed": (few(question="Is the moon made of cheese?"), "failed", {}),
}


@pytest.mark.parametrize("outcome", STATES)
def test_every_outcome(outcome: str) -> None:
    made, mark, counts = STATES[outcome]
    case = made().view
    shown = scene(case)
    assert case.outcome == outcome and shown.verdict is not None
    assert shown.verdict.mark == LAB.means(outcome) == mark
    assert not counts or Counter(marks(shown)) == counts
    assert shown.verdict.headline.text == case.sentences()[0].replace("*", "")
    is_told = outcome in ("helped", "misled")
    assert bool(shown.verdict.words) is is_told and shown.verdict.meaning
    assert bool(shown.verdict.bars) is (is_told or outcome in ("too few", "told nothing", "in doubt"))
    assert bool(shown.verdict.doubt) is (outcome in ("in doubt", "not judged"))
    hold(shown, case)


def test_of_a_prediction_that_is_no_verdict_no_card_says_kept_or_broken() -> None:
    with StubServer(scripted()) as server:
        case = play(stub_spec(exam=False, extra=("Can an emu fly?",)), stub_catalog(server)).view
    shown = scene(case)
    assert case.no_verdict_reason and set(marks(shown)) <= {"in doubt", "set aside"} and shown.cards[-1].by_hand
    assert {card.doubt for card in shown.cards if card.mark == "in doubt"} == {case.no_verdict_reason}


def test_several_predictors_each_have_their_word() -> None:
    shown = scene(told(scripted(other="no"), (9, 4), simulators=BOTH).view)
    assert {card.mark for card in shown.cards} <= {"kept", "set aside"}, "who failed the exam puts nothing in doubt"
    assert [(panel.title, panel.answer, panel.note) for panel in shown.grid] == [
        (
            "Predictor: the model itself",
            "9 of 11",
            "correct in the qualification test (computed from the robot's rules)",
        ),
        (
            "Predictor: other-model",
            "4 of 11",
            "correct in the qualification test (computed from the robot's rules): failed",
        ),
    ]
    both = scene(told(scripted(simulated="no", other="yes"), (9, 10), simulators=BOTH).view)
    doubted = next(card for card in both.cards if card.doubt)
    assert [(one.who, one.value) for one in doubted.expects if not one.arm][:2] == [
        ("the model itself", "no"),
        ("other-model", "yes"),
    ]
    assert doubted.doubt == "the predictors differ" and both.verdict and both.verdict.doubt == "the predictors differ"


def test_votes_are_shown_where_there_are_several() -> None:
    cards = scene(asked(votes=3, counterfactuals=3).view).cards
    assert {len(card.expects[0].votes) for card in cards if card.expects} == {3}


def test_a_preference_has_a_post_and_two_responses() -> None:
    shown = scene(play(AskSpec(**PLANT, model="control/steadfast")).view)
    labels = ["The post", "Response 1", "Response 2"]
    assert [part.label for part in shown.parts] == labels and shown.parts[0].text == PLANT["context"]
    assert shown.claim is not None and shown.claim.answer == "response 1"
    asked_of = [card for card in shown.cards if card.options]
    assert asked_of and all([part.label for part in card.parts] == labels for card in asked_of)
    assert {"1", "2", "unknown"} == set(asked_of[0].options) >= {card.said for card in asked_of}
    assert any(part.spans for card in asked_of for part in card.parts)


def test_a_defended_answer_says_so() -> None:
    shown = scene(asked("steadfast", question="Can an eagle fly?", method="forced").view)
    assert shown.claim is not None and shown.claim.answer == "no" and "told to defend" in shown.claim.note
    assert len(shown.claim.calls) == 2


def test_where_a_question_comes_from() -> None:
    other = (WrittenQuestion(text="Can an emu fly?"), WrittenQuestion(text="Can an owl fly?"))
    given = scene(asked(given=other, given_from="another", extra=("Can a kiwi fly?",)).view)
    assert [card.origin for card in given.cards] == [
        *["written from the explanation in another run"] * 2,
        "added by hand",
    ]
    assert [(one.title, one.value) for one in given.figures] == [("Generality", "–")]
    assert given.cards[2].reason == "added by hand" and given.verdict and given.verdict.bars[0].n == 2
    blind = scene(asked(blind=True).view)
    assert {card.origin for card in blind.cards} - {""} == {
        "varied from the first question without looking at the explanation"
    }


def test_what_a_reader_guessed_stands_beside_it() -> None:
    events = asked().events
    guess = Simulation(simulator="ann", paper="no", repaired="no")
    case = heard(events, [recorded("r~ann", guess, "cf-02", case="question", by="ann")])
    shown = scene(case)
    assert [card.guess for card in shown.cards] == ["", "no", "", "", "", ""]
    assert shown.verdict is not None and shown.verdict.more[-1].text.startswith("You 1 of 1, the predictor 0 of 1.")
    (own,) = shown.figures
    assert (own.title, own.value, own.n, own.of) == ("Your precision", "1.00", 1, 1)
    assert own.help == "How often your guesses came true, of those that were yes or no."


def test_a_rewording_names_the_question_that_it_repeats() -> None:
    shown = scene(written("Can a duck fly?", "Can a goose fly?", "Is a duck able to fly?").view)
    (card,) = [card for card in shown.cards if card.outcome == "dropped"]
    assert card.reason.startswith("nearly the same as question ") and card.mark == "set aside" and card.said


def test_a_thousand_cards() -> None:
    shown = of(many(asked().events, 200))
    assert len(shown.cards) == 1200 and len(screens(shown)) <= MOST_SCREENS
    assert shown.verdict is not None and shown.verdict.bars[0].n == 1000


def many(events: Sequence[Event], times: int) -> list[Event]:
    """A run in which each new question is repeated `times` times."""
    found: list[Event] = []
    for event in events:
        trial = getattr(event, "trial", "")
        if not trial:
            found.append(event)
            continue
        for copy in range(times):
            fields = {
                name: f"{value}{copy:03}" if name == "call" else value.replace(trial, f"{trial}{copy:03}")
                for name in ("call", "item", "trial")
                if (value := getattr(event, name, ""))
            }
            found.append(event.model_copy(update=fields))
    return found


# Statements


def hold(shown: Scene, case: AskReport) -> None:
    """Raises AssertionError if the scene says something about the case that is not true."""
    assert Scene.model_validate_json(shown.model_dump_json()) == shown
    for part in texts(shown):
        ends = [0, *(end for span in part.spans for end in (span.start, span.end)), len(part.text)]
        assert ends == sorted(ends) and all(span.start < span.end for span in part.spans)
    told = shown.screens or screens(shown)
    assert len(told) <= MOST_SCREENS
    ids = {card.id for card in shown.cards}
    assert {screen.of for screen in told if screen.shows in ("card", "turned")} <= ids and len(ids) == len(shown.cards)
    assert not any(screen.shows == "panel" for screen in told)
    assert [card.number for card in shown.cards] == list(range(1, len(shown.cards) + 1))
    for card in shown.cards:
        hold_card(card)
    if shown.verdict is None:
        return
    assert shown.verdict.mark == LAB.means(case.outcome)
    assert {"kept": "green", "broken": "red"}.get(str(shown.verdict.mark), "") == recount.colour(case)
    assert [part.text for part in (shown.verdict.headline, *shown.verdict.more)][: len(case.sentences())] == [
        sentence.replace("*", "") for sentence in case.sentences()
    ]
    came = {part.text for card in shown.cards if card.mark == shown.verdict.mark for part in card.parts}
    assert set(re.findall("“([^”]*)”", shown.verdict.words.partition("Then it said")[2])) <= came
    hold_bars(shown, case)


def texts(shown: Scene) -> Iterator[Part]:
    yield from shown.parts
    for card in shown.cards:
        yield from card.parts
    if shown.verdict:
        yield from (shown.verdict.headline, *shown.verdict.more)


def hold_card(card: Card) -> None:
    if card.mark in ("kept", "broken"):
        assert not card.doubt and (card.expects[0].value == card.said) is (card.mark == "kept")
        assert {card.expects[0].value, card.said} <= set(card.options)
    assert (card.mark == "in doubt") is bool(card.doubt)
    assert bool(card.reason) is (card.by_hand or card.mark in ("set aside", "not settled", "unread")) or (
        card.mark == "waiting"
    )


def hold_bars(shown: Scene, case: AskReport) -> None:
    """Compare the bars with the cards, and the baselines with what was recorded."""
    assert shown.verdict is not None
    judged = [card for card in shown.cards if not card.by_hand and card.mark in ("kept", "broken", "in doubt")]
    if not shown.verdict.bars:
        assert not judged or case.no_verdict_reason or shown.verdict.mark in ("waiting", "failed")
        return
    own, *without = shown.verdict.bars
    assert own.own and not own.wins and not any(bar.own for bar in without)
    assert (own.hits, own.n) == (sum(card.expects[0].value == card.said for card in judged), len(judged))
    # In a damaged run the new question itself may be lost; then nothing is compared.
    asked = [card for card in judged if card.parts]
    for bar in without:
        if bar.label.startswith("always"):
            continue
        beside = [
            (card.expects[0].value == card.said, one.value == card.said)
            for card in asked
            for one in card.expects
            if one.arm == bar.label and one.value != "unreadable"
        ]
        assert (bar.hits, bar.n) == (sum(hit for _, hit in beside), len(beside))
        assert bar.wins is (sum(hit for hit, _ in beside) <= bar.hits)
    for constant in without[-1:]:
        most = Counter(card.said for card in asked).most_common(1)[0][1]
        hits = sum(card.expects[0].value == card.said for card in asked)
        assert (constant.hits, constant.n, constant.wins) == (most, len(asked), hits <= most)


@given(st.integers(0, 10**9))
def test_what_a_scene_says_of_a_run_is_so(seed: int) -> None:
    case = recount.drawn(random.Random(seed))
    shown = scene(case)
    hold(shown, case)
    ends = recount.counted(case, "repaired")
    judged = [card for card in shown.cards if not card.by_hand and card.mark in ("kept", "broken", "in doubt")]
    if case.log.status is not None:
        assert len(judged) == ends["kept"] + ends["misled"]
        assert sum(card.mark == "not settled" for card in shown.cards if not card.by_hand) == ends["cannot guess"]


@given(st.text(max_size=80), st.text(max_size=80), st.sampled_from(["", "Birds can fly.", "fly — FLY, İİ!"]))
def test_words_in_common_are_marked_where_they_stand(explained: str, text: str, more: str) -> None:
    case = asked_once()
    assert case.starter is not None
    starter = case.starter.model_copy(
        update={"explanation": case.starter.explanation.read_by_each(lambda rules: explained + more)}
    )
    item, row = next(iter(case.rows.items()))
    assert row.counterfactual is not None
    news = recount.CounterfactualRow(item, row.counterfactual.model_copy(update={"text": text + more}))  # type: ignore[attr-defined]
    (part,) = scene(AskReport(case.log, case.spec, starter, {item: news})).cards[0].parts
    assert part.text == text + more and all(span.mark == "shared" for span in part.spans)
    found = {one for span in part.spans for one in content_words(part.text[span.start : span.end])}
    assert found == content_words(explained + more) & content_words(part.text)


_once: list[AskReport] = []


def asked_once() -> AskReport:
    if not _once:
        _once.append(asked().view)
    return _once[0]


# While the run goes on


def lines(events: Sequence[Event]) -> dict[str, str]:
    return dict(steps(of(events)))


def changed(events: Sequence[Event]) -> set[str]:
    """The keys of lines that were replaced or lost while the events arrived one by one."""
    last: dict[str, str] = {}
    lost: set[str] = set()
    for end in range(len(events) + 1):
        now = lines(events[:end])
        lost |= {key for key, line in last.items() if now.get(key) != line}
        last = now
    return lost


GROWING: dict[str, Callable[[], Played]] = {
    "fickle": few(arms=("none", "swapped"), extra=("Can an ostrich fly?",)),
    "vague": few(robot="vague", counterfactuals=4),
    "a preference": lambda: play(AskSpec(**PLANT, model="control/fickle")),
    "several predictors": STATES["in doubt"][0],
    "no explanation": bare,
    "all lost": faulty,
    "failed": STATES["failed"][0],
    "two writers": few(generators=("control/steadfast", "control/fickle"), counterfactuals=4),
    "original parser": few(rules="paper", counterfactuals=4),
}


@pytest.mark.sampled(3)
@pytest.mark.parametrize("name", GROWING)
def test_what_was_told_stays_as_more_comes(name: str) -> None:
    events = GROWING[name]().events
    assert changed(events) == set() and lines(events)


def test_what_was_told_of_a_recording_stays_but_of_what_asks_the_same_again() -> None:
    """Repetitions are known only once all questions were asked."""
    assert changed(recording("05cee7947e1eb2ce")) == set()
    assert changed(recording("da7b61b3932dc846")) == {"card-cf-05"}


@given(st.data())
def test_a_damaged_run_makes_a_scene(data: st.DataObject) -> None:
    whole = recording("05cee7947e1eb2ce")
    gone = data.draw(st.sets(st.integers(0, len(whole) - 1), max_size=60))
    broken = data.draw(st.sets(st.integers(0, len(whole) - 1), max_size=20))
    events = [
        event.model_copy(update={"data": {}}) if place in broken and event.kind == "recorded" else event
        for place, event in enumerate(whole)
        if place not in gone
    ]
    run = transcript(events)
    case = AskReport.of(run.case(run.only))
    hold(scene(case), case)


@pytest.mark.parametrize("name", ["9b67fef3d6aca53b", "05cee7947e1eb2ce", "da7b61b3932dc846", "4ab42ea945d4f827"])
def test_a_recording_is_told_in_its_own_words(name: str) -> None:
    run = transcript(recording(name))
    case = AskReport.of(run.case(run.only))
    shown = scene(case)
    hold(shown, case)
    assert shown.verdict is not None and shown.verdict.mark == "in doubt", "each mistake was made without it too"
    assert all(card.text and card.expects[0].quote for card in shown.cards if card.said)
    assert {one.who for card in shown.cards for one in card.expects} - {"the question's author"} == {
        "reader 1",
        "reader 2",
    }
    if name == "da7b61b3932dc846":
        assert shown.cards[2].text == "Penguins are flightless birds."


def test_each_of_several_questions_has_its_verdict_once_it_is_measured() -> None:
    played = asked(question="", dataset="world", limit=3, counterfactuals=2)
    assert len(played.run.cases) == 3
    for case in played.run.cases:
        shown = scene(AskReport.of(played.run.case(case)))
        assert shown.title == played.run.cases[case].title and shown.verdict is not None
