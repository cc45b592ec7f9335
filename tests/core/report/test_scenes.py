"""Scenes of all runs that come with the app, at every moment, and their evidence."""

import json
import math
import re
from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import pytest

from core import entry, home, journal
from core.__main__ import main
from core.events import LONGEST_ANSWER, Asked, Dropped, Event, Failed, Finished, Recorded, Started, Usage
from core.labs.base.lab import Lab
from core.labs.base.report import Reading, Trial
from core.report import evidence, scenes
from core.scene import (
    MOST_SCREENS,
    Card,
    Claim,
    Expect,
    Panel,
    Part,
    Scene,
    Screen,
    Verdict,
    as_json,
    from_emphasis,
    in_short,
    pick_cards,
    steps,
)
from core.transcript import CaseLog, Place, Transcript, transcript
from tests.attacks.pages import run_of
from tests.support.small_lab import LAB, EchoView

RUNS = sorted(home.recordings().glob("*.jsonl"))
OLDER = sorted((Path(__file__).parents[2] / "data").glob("journals_*/*.jsonl"))


def of(events: Sequence[Event], active: bool = False, lab: Lab | None = None) -> Scene:
    """The scene of the first case of a run, as far as these events go."""
    state = transcript(events)
    started = next((one for one in events if isinstance(one, Started)), None)
    lab = lab or entry.labs()[started.lab if started else "simulatability"]
    return scenes.of_case(lab, state, state.only, active)


@pytest.fixture(params=RUNS, ids=lambda path: path.stem.split("-", 2)[2])
def events(request: pytest.FixtureRequest) -> list[Event]:
    return journal.read(request.param).events


def parts_of(scene: Scene) -> list[Part]:
    """Every text of a scene that may have spans."""
    found = [*scene.parts, *scene.coming, *(scene.claim.parts if scene.claim else ())]
    for panel in (*scene.panels, *(panel for card in scene.cards for panel in card.panels)):
        found += panel.parts
    for card in scene.cards:
        found += card.parts
    return [*found, *((scene.verdict.headline, *scene.verdict.more) if scene.verdict else ())]


def is_whole(scene: Scene) -> None:
    """Check what is true of every scene, finished or not."""
    assert Scene.model_validate_json(as_json(scene)) == scene
    ids = [card.id for card in scene.cards]
    assert len(ids) == len(set(ids)) and [card.number for card in scene.cards] == list(range(1, len(ids) + 1))
    for screen in scene.screens:
        assert screen.shows not in ("card", "turned") or screen.of in ids
        assert screen.shows != "panel" or int(screen.of) < len(scene.panels)
        assert screen.shows not in ("bars", "verdict", "tiles", "truth") or scene.verdict is not None
    assert len(scene.screens) <= MOST_SCREENS
    for part in parts_of(scene):
        ends = [0, *(place for span in part.spans for place in (span.start, span.end)), len(part.text)]
        assert ends == sorted(ends), part
    for bar in scene.verdict.bars if scene.verdict else ():
        assert 0 <= bar.hits <= bar.n


def is_not_told_too_early(scene: Scene) -> None:
    """Check that a test's result appears only when it exists, right after the test was asked, and that no ending
    appears while the case goes on.
    """
    cards = {card.id: card for card in scene.cards}
    for before, screen in pairwise(scene.screens):
        if screen.shows == "turned":
            assert before == Screen(shows="card", of=screen.of)
            assert cards[screen.of].said or cards[screen.of].mark not in ("waiting", "stopped")
    asked = [screen.of for screen in scene.screens if screen.shows == "card"]
    assert len(set(asked)) == len(asked)
    for card in (cards[id] for id in asked):
        assert not card.by_hand
        assert {card.said, *(one.value for one in card.expects[:1])} - {""} <= set(card.options)


@pytest.mark.parametrize("path", OLDER, ids=lambda path: path.stem)
def test_every_case_of_an_older_journal_is_told_to_its_end(path: Path) -> None:
    state = transcript(journal.read(path).events)
    lab = next(lab for lab in entry.labs().values() if f"-{lab.name}-" in path.stem)
    for scene in scenes.of_run(lab, state):
        is_whole(scene)
        is_not_told_too_early(scene)
        if scene.status == "done":
            assert scene.screens[-1] == Screen(shows="verdict") and scene.verdict and scene.verdict.headline.text


def test_in_short_a_card_that_is_voted_on_is_turned(events: list[Event]) -> None:
    scene = of(events)
    cards = {card.id: card for card in scene.cards}
    *opening, verdict = in_short(scene)
    card = next((cards[screen.of] for screen in opening if screen.shows == "card"), None)
    turns = ["card", "turned"] if card else []
    # Without a card a third panel is the story.
    begins = ["panel"] * (2 if card else 3) if scene.lab in ("Check", "Plant") else ["claim"]
    assert [screen.shows for screen in opening] == [*begins, *turns] and verdict == Screen(shows="verdict")
    told = [cards[screen.of].mark for screen in scene.screens if screen.shows == "card"]
    assert (card.mark if card else None) == ("broken" if "broken" in told else next(iter(told), None))
    for id in cards:
        assert Screen(shows="card", of=id) in in_short(scene, id)
    assert in_short(scene, "no such card") == in_short(scene)


def test_every_recording_is_told_whole(events: list[Event]) -> None:
    scene = of(events)
    is_whole(scene)
    assert scene.status == "done" and scene.claim and scene.verdict and scene.who.shown and scene.question
    assert scene.screens[0] == Screen(shows="question") and scene.screens[-1] == Screen(shows="verdict")
    assert not any(card.mark in ("waiting", "stopped") for card in scene.cards)
    assert scene.who.name not in " ".join((scene.who.shown, scene.question)), "its name is part of the end"


@pytest.mark.sampled(3)
def test_a_run_is_told_at_every_moment_and_what_was_told_stays(events: list[Event]) -> None:
    moments = range(0, len(events), max(1, len(events) // 40))
    before: dict[str, str] = {}
    for moment in moments:
        scene = of(events[:moment], active=True)
        is_whole(scene)
        is_whole(of(events[:moment]))
        is_not_told_too_early(scene)
        is_over = any(_is_result(event) for event in events[:moment])
        assert is_over or (scene.verdict is None and scene.status in ("waiting", "running"))
        now = dict(steps(scene))
        # Before the case begins nobody knows what it is about.
        assert not scene.case or before.keys() <= now.keys()
        before = now if scene.case else {}


def test_a_claim_is_told_after_the_session_in_which_it_was_made_and_remarks_wait_for_the_verdict() -> None:
    panels = (
        Panel(title="First", answer="yes", calls=("1",)),
        Panel(title="Why", note="Could not be read.", mark="unread", calls=("2",)),
        Panel(title="Again", answer="no", note="as before", calls=("3",)),
        Panel(title="Late", note="A call failed.", mark="failed"),
    )
    made = Scene(lab="x", title="Is it?", claim=Claim(note="Short.", domain="here", calls=("2",)), panels=panels)
    assert list(steps(made)) == [
        ("question", "Is it?"),
        ("panel-0", "First: yes"),
        ("panel-1", "Why: no answer that could be read"),
        ("claim", "It gives no explanation."),
        ("domain", "Where it holds: here"),
        ("panel-2", "Again: no"),
    ]
    more = (Part(label="The function", text="f\nof x"), Part(text="Too few."))
    verdict = Verdict(headline=Part(text="So it is."), more=more, doubt="Too few", meaning="Little.")
    ended = made.model_copy(update={"verdict": verdict})
    assert list(steps(ended))[6:] == [
        ("remark-1", "Why: Could not be read."),
        ("remark-2", "Again: as before"),
        ("remark-3", "Late: A call failed."),
        ("note", "Short."),
        ("headline", "So it is."),
        ("more-0", "The function: f of x"),
        ("more-1", "Too few."),
        ("meaning", "What this says, and what it does not:\nLittle."),
    ]
    doubted = verdict.model_copy(update={"doubt": "Nobody knows."})
    assert ("doubt", "Nobody knows.") in steps(ended.model_copy(update={"verdict": doubted}))


def test_a_test_is_told_with_what_was_expected_what_came_and_why_that_means_nothing() -> None:
    options = {"yes": "Yes", "unknown": "Cannot tell"}
    asked = Card(id="a", number=1, mark="kept", parts=(Part(text="Can it?"),), options=options)
    expects = (Expect(who="", value="unknown"),)
    for changes, line in (
        ({"said": "yes", "outcome": "open", "reason": "not settled"}, "it said yes: open: not settled"),
        ({"expects": expects, "said": "no", "outcome": "wrong"}, "expected cannot tell, it said no: wrong"),
        ({"expects": expects, "came": "it ran", "outcome": "right"}, "expected cannot tell, it ran: right"),
        ({"mark": "set aside", "outcome": "dropped", "reason": "twice"}, "set aside: twice"),
        (
            {"mark": "in doubt", "said": "yes", "outcome": "right", "doubt": "who knows"},
            "it said yes: right: who knows",
        ),
    ):
        card = asked.model_copy(update=changes)
        assert list(steps(Scene(lab="x", cards=(card,)))) == [("card-a", f"Can it?\n  {line}")]
    for mark in ("waiting", "stopped"):
        assert not list(steps(Scene(lab="x", cards=(asked.model_copy(update={"mark": mark}),))))


def test_what_stands_behind_a_case_is_every_call_with_its_prompt_and_answer(events: list[Event]) -> None:
    state = transcript(events)
    lab = entry.labs()[state.started.lab] if state.started else None
    assert lab is not None
    behind = evidence.of_case(lab, state, state.only)
    calls = state.case(state.only).calls
    assert list(behind.calls) == list(calls)
    for name, call in calls.items():
        texts = [part.text for part in behind.calls[name].parts]
        assert (
            call.answered
            and call.answered.text.strip() in " ".join(texts)
            and call.asked.model in behind.calls[name].title
        )
        assert all(any(message.content in text for text in texts) for message in call.asked.messages)
    said = [(one.title, one.about, one.value, one.n, one.of) for one in behind.figures]
    assert len(said) == len(set(said)) > 3, "no figure is there twice"
    by_both = {one.title for one in behind.figures if not one.rules}
    assert by_both and not by_both & {one.title for one in behind.figures if one.rules}
    assert behind.made_with["spec"]
    named = {name for card in of(events).cards for name in card.calls}
    assert named <= set(calls), "what a card names can be looked at"


def test_how_an_answer_came_stands_above_it(events: list[Event]) -> None:
    state = transcript(events)
    call = next(iter(state.case(state.only).calls.values()))
    assert call.answered is not None

    def told(**news: object) -> list[str]:
        plain = {"cached": False, "seconds": 1.25, "usage": Usage(), "edited": False, "ended": "complete"}
        answered = call.answered and call.answered.model_copy(update={**plain, **news})
        return list(evidence.notes(replace(call, answered=answered)))

    assert told() == ["1.2\u00a0s"] and told(cached=True) == ["from the cache"]
    assert [told(usage=Usage(completion_tokens=n))[1:] for n in (0, 1, 2)] == [[], ["1 token"], ["2 tokens"]]
    assert told(edited=True)[1:] == ["written by a person"]
    assert told(ended="cut", usage=Usage(completion_tokens=9))[2:] == ["cut at 9 tokens"]
    assert told(ended="cut", text="a" * LONGEST_ANSWER)[1:] == [f"cut at {LONGEST_ANSWER:,} characters"]
    assert told(ended="unknown")[1:] == ["end of the answer not reported"]
    assert list(evidence.notes(replace(call, answered=None))) == []


def test_of_a_first_token_the_likeliest_are_told_and_the_digits_always() -> None:
    def one(token: str, logprob: object, *rivals: tuple[str, float]) -> dict[str, object]:
        top = [{"token": token, "logprob": logprob} for token, logprob in rivals]
        return {"token": token, "logprob": logprob, **({"top_logprobs": top} if rivals else {})}

    half, tenth = math.log(0.5), math.log(0.1)
    assert evidence.likeliest([one(" \n", 0.0), one("yes", half), one("no", half)]) == "'yes' 0.500"
    assert evidence.likeliest([one(" ", half)]) == "' ' 0.500" and evidence.likeliest([one("yes", "likely")]) == ""
    rivals = [(" 1", tenth / 2), *((word, tenth) for word in "abcdef"), ("x", 2 * tenth), ("0", 3 * tenth)]
    told = "' 1' 0.316, 'a' 0.100, 'b' 0.100, 'c' 0.100, 'd' 0.100, '0' 0.001"
    assert evidence.likeliest([one("a", tenth, *rivals)]) == told, "five, and the digits"


def test_a_call_that_failed_or_has_not_ended_is_told_as_that(events: list[Event]) -> None:
    state = transcript(events)
    lab = entry.labs()[state.started.lab] if state.started else None
    place = next(place for place in state.case(state.only)._places if place.calls)
    name, call = next(iter(place.calls.items()))

    def told(partial: str = "", failed: Failed | None = None) -> dict[str, str]:
        assert lab is not None
        place.calls[name] = replace(call, answered=None, partial=partial, failed=failed)
        return {part.label: part.text for part in evidence.of_case(lab, state, state.only).calls[name].parts}

    assert told()["Raw answer"] == "(nothing yet)" and told(partial="It is")["Raw answer"] == "It is"
    failed = told(failed=Failed(run="r", error="TimeoutError", message="It took too long.", hint="Ask again."))
    assert failed["It failed"] == "TimeoutError It took too long. Ask again." and "Raw answer" not in failed
    assert (
        "First token" not in failed
        and failed["The question itself" if "The question itself" in failed else "Exact prompt"]
    )


def test_where_a_journal_lost_which_cases_it_has_all_calls_stand_behind_it(events: list[Event]) -> None:
    state = transcript(events)
    lost = transcript([one for one in events if isinstance(one, Asked)])
    lab = entry.labs()[state.started.lab if state.started else ""]
    assert lost.planned == 0 and list(evidence.of_case(lab, lost, "").calls) == list(state.calls)


def test_what_a_figure_was_made_with_is_told_in_words() -> None:
    made = {"n": 2, "by_hand": True, "seen": False, "low": None, "of": {"last_one": "two_words"}}
    told = {name: evidence.readable(value) for name, value in made.items()}
    assert told == {"n": "2", "by_hand": "yes", "seen": "no", "low": "undefined", "of": "(last one two words)"}


def test_who_explains_is_told_by_its_kind_until_the_end() -> None:
    for id, shown, name in (
        ("control/overgeneralizes", "a robot", "overgeneralizes"),
        (
            "local/qwen2.5-coder-1.5b-instruct-q4_k_m",
            "a small model (Qwen, 1.5 billion)",
            "Qwen2.5-Coder, 1.5 billion parameters",
        ),
        (
            "local/SmolLM2-135M-Instruct-Q4_K_M.gguf",
            "a small model (SmolLM, 135 million)",
            "SmolLM2, 135 million parameters",
        ),
        ("local/smollm2-135m", "a small model (SmolLM, 135 million)", "SmolLM2, 135 million parameters"),
        ("hub/meta-llama/Llama-3.1-70B-Instruct", "a model (Llama, 70 billion)", "Llama-3.1, 70 billion parameters"),
        ("ollama/llama3.2:3b", "a small model (Llama, 3 billion)", "Llama3.2, 3 billion parameters"),
        ("openai/gpt-4o-mini", "a model (gpt-4o-mini)", "gpt-4o-mini"),
        ("", "", ""),
    ):
        assert (scenes.who(id).shown, scenes.who(id).name) == (shown, name)


def test_a_sentence_of_a_lab_becomes_a_text_with_what_it_stresses() -> None:
    part = from_emphasis("It answers *no*, and then *no* 😀 *again*.")
    assert part.text == "It answers no, and then no 😀 again."
    assert [part.text[span.start : span.end] for span in part.spans] == ["no", "no", "again"]


def card(id: str, number: int, mark: str, **more: object) -> Card:
    return Card.model_validate({"id": id, "number": number, "mark": mark, **more})


def test_a_telling_shows_one_that_came_true_the_surest_miss_and_one_to_bet_on() -> None:
    cards = [
        card("a", 1, "broken"),
        card("b", 2, "broken", text="“An ostrich cannot fly.”"),
        card("c", 3, "set aside"),
        card("d", 4, "kept", doubt="the predictors differ"),
        card("e", 5, "kept"),
        card("f", 6, "kept", by_hand=True),
    ]
    assert [one.id for one in pick_cards(cards)] == ["a", "b", "e"]
    assert pick_cards(cards[2:4]) == []


def test_a_report_without_tests_of_its_own_is_told_from_its_trials() -> None:
    state = run_of(("yes", "no"))
    scene = scenes.of_case(LAB, state, state.only)
    is_whole(scene)
    assert scene.claim and scene.verdict and scene.cards and scene.cards[0].expects


def test_a_card_of_a_trial_says_what_came_of_it_by_either_rules() -> None:
    kept = Reading(expected="no", observed="no", outcome="kept", counts=True)
    broken = Reading(expected="no", observed="yes", outcome="broken", counts=True)
    report = EchoView(Transcript().case(""), None, {})
    of_paper = {}
    for paper in (kept, broken):
        card = report.card_of("a", Trial(about="no?", paper=paper, repaired=kept, calls=("c1",)), 3)
        of_paper[paper.outcome] = card.by_paper
        assert (card.number, card.mark, card.said, card.calls) == (3, "kept", "no", ("c1",))
        assert card.parts == (Part(text="no?"),) and card.expects == (Expect(who="", value="no"),)
    assert of_paper == {"kept": "", "broken": LAB.report.words.get("broken", "broken")}
    unsaid = Reading(outcome="broken", counts=False, reason="too short", doubt="who knows")
    card = report.card_of("a", Trial(about="", paper=unsaid, repaired=unsaid), 1)
    assert (card.mark, card.expects, card.options, card.said) == ("in doubt", (), {}, "")
    assert (card.reason, card.doubt) == ("too short", "who knows")


def test_the_command_prints_the_json(capsys: pytest.CaptureFixture[str]) -> None:
    run = RUNS[0].stem
    assert main(["scene", run]) == 0
    assert Scene.model_validate_json(capsys.readouterr().out).run == run
    assert main(["scene", run, "--evidence"]) == 0
    assert json.loads(capsys.readouterr().out)["calls"]
    assert main(["scene", run, "--case", "none"]) == 2
    assert "has no case 'none'" in capsys.readouterr().err


def test_what_failed_or_was_never_begun_is_told_as_that() -> None:
    assert of([]).status == "empty"
    begun = journal.read(RUNS[0]).events
    stopped = [one for one in begun if not isinstance(one, Finished) and not _is_result(one)][:9]
    assert of(stopped).status == "interrupted" and of(stopped, active=True).status in ("running", "waiting")


def test_a_case_that_could_not_be_measured_says_why() -> None:
    begun = journal.read(RUNS[0]).events
    case = transcript(begun).only
    drops = [
        Dropped(run="r", case=case, item="", reason="error", detail="It has no words."),
        Dropped(run="r", case=case, item="", reason="too long", detail="It is no fault."),
        Dropped(run="r", case=case, item="one", reason="error", detail="It is no case."),
    ]
    told = [(part.label, part.text) for part in of([*begun, *drops]).failure]
    assert told == [("This case could not be measured", "It has no words.")]


def test_a_case_waits_until_it_was_asked_or_recorded_anything(events: list[Event]) -> None:
    state = transcript([one for one in events if isinstance(one, Started)])
    place = Place()
    log = CaseLog("q", [place], state.started, None, {})
    assert scenes._status(state, log, True) == "waiting"
    call = next(iter(transcript(events).case(transcript(events).only).calls.values()))
    assert scenes._status(state, replace(log, _places=[Place(calls={"c": call})]), True) == "running"
    record = next(one for one in events if isinstance(one, Recorded))
    place.records["", "", "", ""] = record
    assert scenes._status(state, log, True) == "running"


def _is_result(event: Event) -> bool:
    return isinstance(event, Recorded) and event.record == "result"


def test_what_does_not_count_is_told_by_the_numbers_of_its_tests(events: list[Event]) -> None:
    scene = of(events)
    ids = {*(card.id for card in scene.cards), *scene.case.split("/")}
    said = " ".join(f"{drop.about} {drop.detail}" for drop in scene.ledger)
    assert not ids & set(re.findall(r"[\w-]+", said))
    assert all(drop.about for drop in scene.ledger)
