"""The scene of a Probe case, from runs of robots and from recordings, in every state and at any moment.

Each sentence and each bar is compared with the scene itself, or with the case's own records.
"""

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from core import home, journal
from core.events import Event, Started
from core.labs.probe.charts import STRETCHES
from core.labs.probe.evaluate import agreement
from core.labs.probe.lab import LAB
from core.labs.probe.records import Estimate, Submission, Wish
from core.labs.probe.report import ProbeReport
from core.labs.probe.tasks import ProbeSpec
from core.report.scenes import of_case, scene_of
from core.runs.engine import UserInput
from core.scene import MOST_SCREENS, Scene, Screen, steps
from core.score import Score
from core.transcript import transcript
from tests.core.labs.probe.playing import play, scripted, stub_catalog, stub_spec
from tests.core.labs.probe.test_verdict_properties import built
from tests.core.report.test_scenes import is_whole, of
from tests.support.chance import tenth
from tests.support.stub_server import Fault, StubServer

RECORDED = {
    started.spec["category"]: path
    for path in sorted(home.recordings().glob("*-find-*.jsonl"))
    if (started := journal.first_event(path)) is not None
}


def made(**fields: Any) -> tuple[ProbeReport, list[Event]]:
    return play(ProbeSpec.model_validate(fields))


def by_hand(own: str, description: str = "d", code: str = "", **fields: Any) -> dict[str, Any]:
    """A description made elsewhere, of a function of one's own."""
    body = f"def f(x):\n    return {code}" if code else ""
    return {"own": own, "interpreter": "given", "given": {"description": description, "code": body}, **fields}


WORD = "def f(x):\n    return x.upper() if len(x) % 2 else x + '!'"
TEXTS = {"category": "strings"}
NOISY = {"seed": 1753, "difficulty": "medium"}

DONE: dict[str, tuple[dict[str, Any], str, str]] = {
    "a line found": ({"own": "3*x - 4", "model": "control/straight"}, "found", "kept"),
    "made up": ({"own": "2*x", "model": "control/inventor"}, "missed", "broken"),
    "close": (by_hand("2*x", code="2*x if x < 120 else 0"), "close", "broken"),
    "two holes": (by_hand("2*x", code="0 if -10 < x < -5 or 20 < x < 25 else 2*x"), "close", "broken"),
    "no code": (by_hand("2*x"), "not tested", "set aside"),
    "no description": (by_hand("2*x", "", "2*x"), "found", "kept"),
    "nothing said": (by_hand("2*x", ""), "not answered", "set aside"),
    "not runnable": (by_hand("2*x", code="__import__('pandas').Series([x])[0]"), "not runnable here", "set aside"),
    "texts found": ({**TEXTS, "own": "def f(x):\n    return x[::-1]", "model": "control/straight"}, "found", "kept"),
    "texts in part": (by_hand(WORD, code="x.upper() if len(x) % 2 else x", **TEXTS), "close", "broken"),
    "texts missed": (by_hand(WORD, code="x * 2", **TEXTS), "missed", "broken"),
    "code that fails": (by_hand(WORD, code="x.nothing()", **TEXTS), "missed", "broken"),
    "a subject": (
        {"category": "entities", "seed": 1, "difficulty": "easy", "model": "control/straight"}, "found", "kept",
    ),
    "a relation": (
        {"category": "relations", "seed": 6, "difficulty": "easy", "model": "control/straight",
         "evaluator": "control/straight"}, "close", "broken",
    ),
}  # fmt: skip


@pytest.fixture(scope="module", params=DONE, ids=str)
def done(request: pytest.FixtureRequest) -> tuple[str, ProbeReport, list[Event]]:
    return (request.param, *made(**DONE[request.param][0]))


def code_points(told: Scene) -> list[tuple[float | None, float | None]]:
    """Function and code at each test point that the plot draws."""
    curves = {curve.kind: curve for curve in told.plot.curves} if told.plot else {}
    true, code = curves["truth"], curves["claim"]
    return list(zip(true.y, code.y, strict=True))


def is_true(told: Scene, view: ProbeReport) -> None:
    """What holds of every scene of this lab."""
    is_whole(told)
    if told.verdict is None:
        return
    assert told.verdict.mark == LAB.means(view.outcome)
    own = [bar for bar in told.verdict.bars if bar.own]
    assert len(own) == bool(told.verdict.bars)
    for bar in own:
        if told.plot is not None:
            assert (bar.hits, bar.n) == agreement(*zip(*code_points(told), strict=True))[:2]
        else:
            counts = [card for card in told.cards if not card.origin and card.mark in ("kept", "broken")]
            assert (bar.hits, bar.n) == (sum(card.mark == "kept" for card in counts), len(counts))
        if told.verdict.mark == "kept":
            # Zero everywhere is right where the function is zero.
            assert not any(other.wins for other in told.verdict.bars if other.hits < other.n)
        for other in told.verdict.bars:
            is_baseline = not other.own and not other.limit
            assert other.wins or not is_baseline or other.hits * bar.n < bar.hits * other.n


def test_of_every_outcome_the_scene_says_what_the_verdict_says(done: tuple[str, ProbeReport, list[Event]]) -> None:
    name, view, _ = done
    told = scene_of(LAB, view)
    is_true(told, view)
    assert (view.outcome, told.verdict and told.verdict.mark) == DONE[name][1:]
    assert told.verdict and told.verdict.headline.text.endswith(view.judgement.sentence)
    assert view.truth and view.truth.description in [part.text for part in told.verdict.more]
    assert told.screens[0] == Screen(shows="question") and told.screens[-1] == Screen(shows="verdict")


@pytest.mark.sampled(3)
def test_a_run_is_told_at_every_moment_and_what_was_told_stays(done: tuple[str, ProbeReport, list[Event]]) -> None:
    _, _, events = done
    before: dict[str, str] = {}
    for moment in range(0, len(events) + 1, max(1, len(events) // 60)):
        state = transcript(events[:moment])
        told = of_case(LAB, state, state.only, active=True)
        is_true(told, LAB.view(state.case(state.only)))
        now = dict(steps(told))
        if told.case:
            assert before.items() <= now.items()
            before = now
    assert before


@pytest.mark.parametrize("category", RECORDED)
def test_what_came_with_the_app_is_told(category: str) -> None:
    told = of(journal.read(RECORDED[category]).events)
    assert told.verdict is not None and told.claim is not None and told.claim.code
    shown = [screen.shows for screen in told.screens]
    if category == "numeric":
        assert shown == ["question", "plot", "claim", "truth", "verdict"]
        assert told.verdict.words == (
            "It said: The function computes the sum of the absolute values of the inputs. "
            "It said so before it saw a single output."
        )
        assert told.claim.note == "TypeError: 'float' object is not iterable"
        assert told.plot and [len(curve.x) for curve in told.plot.curves] == [256]
        assert {one.mark for one in told.plot.intervals if one.kind == "stretch"} == {"set aside"}
        holes = [(one.low, one.high) for one in told.plot.intervals if one.kind == "unseen"]
        assert holes == [(-100, -10), (10, 99)]
        assert len(told.plot.points) == 36 and told.plot.points[0].number == 1
        return
    assert shown == ["question", "panel", "claim", *["card", "turned"] * 3, "tiles", "bars", "verdict"]
    assert told.verdict.words == (
        "It said: The function takes a text and returns a text. It said so before it saw a single output. "
        "For “Seven” its code gives “sEVEN”; the function gives “Seaen”."
    )
    assert [(bar.hits, bar.n, bar.own, bar.wins) for bar in told.verdict.bars] == [
        (0, 10, True, False), (5, 10, False, True),
    ]  # fmt: skip
    first = told.cards[0]
    assert [part.text for part in first.parts] == ["Seven", "sEVEN"]
    assert (first.expects[0].quote, first.expects[0].value, first.said, first.text) == ("sEVEN", "yes", "no", "Seaen")
    assert [card.origin for card in told.cards] == [""] * 10 + ["not probed before"] * 10
    said = [[part.label for part in panel.parts].count("Description so far") for panel in told.panels]
    assert said[0] == 1 and sum(said) == 1, "it never changed what it said"
    change = told.panels[0].parts[-1]
    assert [(change.text[span.start : span.end], span.mark) for span in change.spans] == [
        ("m", "struck"), ("t", "added"),
    ]  # fmt: skip


def ending(name: str) -> Scene:
    return scene_of(LAB, made(**DONE[name][0])[0])


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("a line found", "code gives the function's value at all 256 test points."),
        ("made up", "The function gives something else at each of 256 test points."),
        ("close", "From 120.5 to 127.5 its code differs from the function."),
        ("two holes", "From -9.5 to -5.5 and from 20.5 to 24.5 its code differs from the function."),
        ("texts found", "Its code gives what the function gives, on all 10 test texts."),
        ("a subject", "guessing gets one in three."),
    ],
)
def test_the_verdict_is_told_in_what_was_said(name: str, words: str) -> None:
    told = ending(name)
    assert told.verdict and told.claim and told.verdict.words.endswith(words)
    assert told.verdict.words.startswith("It said: ")


@pytest.mark.parametrize("name", ["no code", "no description", "nothing said"])
def test_where_nothing_true_can_be_said_in_short_nothing_is(name: str) -> None:
    told = ending(name)
    assert told.verdict and told.verdict.words == ""


def test_where_the_two_part_stands_in_the_plot_and_is_what_one_bets_on() -> None:
    told = ending("close")
    assert told.plot is not None
    stretches = [one for one in told.plot.intervals if one.kind == "stretch"]
    assert [one.mark for one in stretches] == ["kept"] * (STRETCHES - 1) + ["broken"]
    assert stretches[-1].low <= 120.5 and stretches[-1].high == 127.5
    turned = [screen.of for screen in told.screens if screen.shows == "turned"]
    cards = {card.id: card for card in told.cards}
    assert [cards[id].mark for id in turned] == ["kept", "broken"]
    assert cards[turned[1]].parts[0].text == "x = 127.5" and cards[turned[1]].text == "255"
    assert [screen.shows for screen in told.screens][-3:] == ["truth", "bars", "verdict"]


def test_what_the_picture_leaves_out_is_said(done: tuple[str, ProbeReport, list[Event]]) -> None:
    """Each call is drawn, or told of."""
    told = scene_of(LAB, done[1])
    if told.plot is None or told.plot.x_ends is None or told.plot.y_ends is None:
        return
    (left, right), (low, high) = told.plot.x_ends, told.plot.y_ends
    drawn = sum(left <= point.x <= right and low <= point.y <= high for point in told.plot.points)
    assert bool(told.plot.left_out) or drawn == len(done[1].probes)


def test_calls_and_code_beyond_the_picture_are_listed() -> None:
    spec = ProbeSpec(own="1e30 if x == 2 else x / 10", interpreter="you", probes=60)
    inputs = ("1000000000", "2", "dog", *map(str, range(200, 209)), *map(str, range(-40, 0)))
    concluded = Submission(description="A line.", code="def f(x):\n    return x / 10 if x < 100 else -1e30")
    hand = [UserInput("own", Wish(inputs=inputs), "wish-{n}"), UserInput("own", concluded, "submission")]
    told = scene_of(LAB, play(spec, additions=hand)[0])
    assert told.plot and told.plot.y_ends and max(map(abs, told.plot.y_ends)) < 50
    lost, outside, beyond = told.plot.left_out
    assert lost == "1 of 52 calls gave no number."
    assert outside == (
        "10 of 52 calls lie outside of the tested range from -128 to 128: f(1e+09) = 1e+08, f(200) = 20, "
        "f(201) = 20.1, f(202) = 20.2, f(203) = 20.3, f(204) = 20.4, and 4 more."
    )
    assert beyond.startswith("The picture ends at -") and beyond.endswith(
        "Beyond it: 1 of 52 calls, f(2) = 1e+30; the code at 28 test points."
    )


def test_each_stretch_of_the_range_says_what_came_of_it() -> None:
    """The values between 57.9 and 75.8 are replaced, and the control does not think to look there."""
    told = scene_of(LAB, made(**NOISY, model="control/straight")[0])
    assert told.plot is not None
    stretches = [one for one in told.plot.intervals if one.kind == "stretch"]
    off = [one for one in stretches if one.high > 57.9 and one.low < 75.757]
    assert len(stretches) == 16 and len(off) == 2
    assert all((one.mark == "broken") == (one in off) for one in stretches)
    assert all(one.mark == "kept" for one in stretches if one not in off)


def test_what_cannot_be_run_here_is_said_and_not_called_wrong() -> None:
    told = of(made(seed=1, interpreter="given", given={"description": "a line", "code": LACKING})[1])
    assert told.verdict and "could not be run here at 256 of 256 test points" in told.verdict.headline.text
    assert not any("did not find" in part.text for part in (told.verdict.headline, *told.verdict.more))
    assert not any(card.mark == "broken" for card in told.cards)


LACKING = "import pandas\ndef f(x):\n    return x"


def test_a_test_says_what_the_function_gave() -> None:
    told = ending("close")
    assert all(card.came == f"the function gives {card.text}" for card in told.cards)
    subject = ending("a subject")
    assert all(card.came == f"the function's own is example {card.said}" for card in subject.cards)


def test_white_space_is_seen() -> None:
    spec = ProbeSpec(category="strings", own="def f(x):\n    return x.strip() + '  '", interpreter="you")
    hand = [
        UserInput("own", Wish(inputs=("room", " ", "two  words")), "wish-{n}"),
        UserInput("own", Submission(description="d", code="def f(x):\n    return ''"), "submission"),
    ]
    told = scene_of(LAB, play(spec, additions=hand)[0])
    made = told.panels[0].parts
    assert [(part.label, part.text) for part in made[::2]] == [
        ("room → room␠␠", "room␠␠"), ("two␠␠words → two␠␠words␠␠", "two␠␠words␠␠"),
    ]  # fmt: skip
    assert all("(empty)" in card.parts[1].text and card.text.endswith("␠␠") for card in told.cards)


def test_each_round_is_a_panel_with_what_it_made_up() -> None:
    told = ending("made up")
    first = told.panels[0]
    assert first.title == "Round 1" and first.note == "It made up outputs before it had them."
    assert first.parts[0].label == "Made up in its message" and first.calls
    assert ("f(1)", "2") in [(part.label, part.text) for part in first.parts]
    quoted = next(panel for panel in told.panels if panel.title == "Calls that its description quotes")
    assert quoted.answer == "0 of 2 quoted calls correct."
    assert {part.text for part in quoted.parts} == {"not what was observed", "never called"}


def test_noise_is_not_held_against_the_code() -> None:
    view, _ = play(ProbeSpec.model_validate({**NOISY, "interpreter": "fit"}))
    told = scene_of(LAB, view)
    is_true(told, view)
    assert view.value("noise_floor"), "this function is noisy"
    assert told.verdict and told.verdict.bars == ()
    if view.outcome == "within the noise":
        assert not any(card.mark == "broken" for card in told.cards)


def test_unit_tests_have_every_arm_and_the_true_description_is_the_limit() -> None:
    told = ending("a subject")
    assert told.verdict is not None
    assert [bar.label for bar in told.verdict.bars] == [
        "Its description", "Guessing", "An uninformative description", "A description that could mean anything",
        "A description that lists everything", "The true description",
    ]  # fmt: skip
    assert [bar.limit for bar in told.verdict.bars] == [False] * 5 + [True]
    for card in told.cards:
        assert list(card.options) == ["1", "2", "3"] and len(card.parts) == 3
        assert card.text == card.parts[int(card.said) - 1].text
        assert (card.expects[0].value == card.said) == (card.mark == "kept")
        arms = [one.arm for one in card.expects]
        assert arms[0] == "" and {bar.label for bar in told.verdict.bars[2:]} <= set(arms[1:])
    box = told.panels[0]
    assert box.title == "How well the box computes its function" and box.parts and box.answer.startswith("Measured")
    highest = told.panels[-1]
    values = [float(part.text) for part in highest.parts]
    assert values == sorted(values, reverse=True) and len(values) <= 12


def test_an_evaluators_pick_is_quoted_and_leads_to_its_call() -> None:
    view, _ = made(**DONE["a relation"][0])
    told = scene_of(LAB, view)
    calls = view.log.calls
    assert all(one.quote and one.call in calls for card in told.cards for one in card.expects)
    assert set(view.readings()) >= {one.call for card in told.cards for one in card.expects}


def test_what_paper_rules_come_to_is_said_where_it_is_something_else() -> None:
    view, _ = made(**by_hand("2*x", code="2*x", answers="schema"))
    told = scene_of(LAB, view)
    assert (view.outcome, view.by("paper").outcome) == ("found", "not tested")
    assert told.differs == view.by("paper").judgement.sentence and told.differs.startswith(
        "With the original parser nothing"
    )
    assert ending("close").differs == ""


def test_before_the_truth_is_out_nothing_gives_it_away() -> None:
    """What the function is, and how far the box keeps to it, input by input, comes with the truth."""
    view, events = made(**DONE["a subject"][0])
    assert view.truth is not None
    end = next(place for place, event in enumerate(events) if getattr(event, "record", "") == "truth")
    early = of(events[:end], active=True)
    assert early.verdict is None and early.panels[0].parts == () and early.cards
    assert view.truth.description not in early.model_copy(update={"cards": (), "claim": None}).model_dump_json()


# States


def test_nothing_has_come() -> None:
    assert of([], lab=LAB).status == "empty"
    _, events = made(**DONE["a line found"][0])
    begun = of(events[:2], active=True)
    assert begun.claim is None and begun.cards == () and begun.plot is None and begun.verdict is None
    assert [screen.shows for screen in begun.screens] == ["question"]


def test_a_run_that_failed() -> None:
    with StubServer(scripted("x"), faults={1: Fault("wrong_key")}) as server:
        view, events = play(stub_spec(), stub_catalog(server, retries=0))
    told = of(events)
    is_true(told, view)
    assert told.status == "failed" and told.failure and told.claim is None
    assert told.verdict and told.verdict.mark == "failed" and told.verdict.bars == ()


def test_a_damaged_journal_is_told_as_far_as_it_goes() -> None:
    for category, path in RECORDED.items():
        events = journal.read(path).events
        for lost in range(3):
            broken = [
                event.model_copy(update={"data": {"number": "?"}})
                if event.kind == "recorded" and place % 3 == lost
                else event
                for place, event in enumerate(events)
            ]
            told = of(broken)
            is_whole(told)
            assert told.unread, category
        is_whole(of([event for event in events if not isinstance(event, Started)], lab=LAB))


def test_a_thousand_calls_are_told() -> None:
    spec = ProbeSpec(own="2*x", interpreter="you", probes=1_000)
    inputs = tuple(str(place / 8) for place in range(-500, 500))
    concluded = Submission(description="It doubles.", code="def f(x):\n    return 2 * x", interval=(None, 3.0))
    # A round takes a hundred.
    wishes = [Wish(inputs=inputs[place : place + 100]) for place in range(0, 1_000, 100)]
    additions = [UserInput("own", wish, "wish-{n}") for wish in wishes]
    view, _ = play(spec, additions=[*additions, UserInput("own", concluded, "submission")])
    told = scene_of(LAB, view)
    is_true(told, view)
    assert told.plot and len(told.plot.points) == sum(len(panel.parts) for panel in told.panels) == 1_000
    assert told.verdict and told.verdict.words.startswith("You said: It doubles. Your code gives")
    assert told.claim and told.claim.note == "Exception, given as two numbers: below 3."
    claimed = [(one.low, one.high) for one in told.plot.intervals if one.kind == "claimed"]
    assert claimed == [(-128.0, 3.0)], "an open end is the picture's"


# Properties


values = st.one_of(st.none(), st.floats(-1e6, 1e6), st.sampled_from([0.0, 1.0]))


points = st.lists(st.tuples(values, values), min_size=1, max_size=40)


@settings(max_examples=tenth(150), deadline=None)
@given(points)
def test_scenes_of_any_numbers_are_true(pairs: list[tuple[float | None, float | None]]) -> None:
    y, code = [one for one, _ in pairs], [one for _, one in pairs]
    error = Score(1.0, len(y), len(y))
    scores = {(metric, rules): error for metric in ("nmse", "nmse_success") for rules in ("paper", "repaired")}
    truth = {"x": tuple(float(place) for place in range(len(y))), "y": tuple(y)}
    estimate = Estimate(paper=tuple(code), repaired=tuple(code))
    view = built("numeric", scores, estimate=estimate, truth=truth)  # type: ignore[arg-type]
    told = scene_of(LAB, view)
    is_true(told, view)
    assert told.verdict is not None and len(told.screens) <= MOST_SCREENS
    for card in told.cards:
        assert (card.mark == "kept") == (card.said == "yes")
        assert card.mark != "broken" or not card.expects or card.expects[0].quote != card.text
