"""The scene of a check: golden scenes of real runs in every state, and what must be true of all of them."""

import random
import re
import time
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from core import journal
from core.datasets.items import Item
from core.events import Asked, Event, Finished, Started
from core.labs.check import metrics
from core.labs.check.controls import controls, dials, noisy, worthless
from core.labs.check.lab import LAB
from core.labs.check.metrics import cannot_tell
from core.labs.check.report import CheckReport
from core.labs.check.tasks import EXPLANATIONS, LONGEST, TASKS, CheckSpec, Wording, shipped
from core.report import evidence
from core.report.scenes import scene_of
from core.scene import MOST_SCREENS, Panel, Part, Scene, steps
from core.transcript import CaseLog, Transcript
from tests.core.labs.check.played import DECOY, HONEST, REVIEW, Played, play, stub_catalog, stub_spec, viewed
from tests.core.labs.check.test_verdict_is_true import drawn
from tests.support.chance import tenth
from tests.support.plausible import prompt_of, telling
from tests.support.stub_server import StubServer

DATA = Path(__file__).resolve().parents[4]
RECORDED = sorted((DATA / "data" / "recordings").glob("*-consistency-*.jsonl"))
ROBOTS = {**controls(), **dials(), **worthless(), **noisy()}


def by(robot: str, **changes: Any) -> Played:
    spec = CheckSpec(**{"items": (REVIEW,), "explanations": ("attribution",), "model": robot, **changes})
    return play(spec, resolve=ROBOTS.__getitem__)


def asked(reply: str | Callable[[dict[str, Any]], str], **changes: Any) -> Played:
    with StubServer(reply) as server:
        return play(stub_spec(**changes), stub_catalog(server, retries=0))


def of_file(path: Path) -> list[Event]:
    return journal.read(path).events


@cache
def every() -> Mapping[str, Sequence[Event]]:
    """The events of runs with every kind of ending, on every task, and those that ship."""
    made = {
        "honest": by(HONEST, explanations=EXPLANATIONS, answerable=True),
        "decoy": by(DECOY, explanations=EXPLANATIONS, every_wording=True),
        "unheld": by(HONEST, controls=0),
        "misclassified": by(HONEST, items=(REVIEW.model_copy(update={"label": "negative"}),)),
        "unlabelled": by(HONEST, items=(REVIEW.model_copy(update={"label": None}),), explanations=EXPLANATIONS),
        "turned": by("control/worthless-nothing", items=shipped("sentiment")[:1], explanations=("counterfactual",)),
        "lucky": asked(_lucky, controls=2),
        "unread": asked(telling(explain="I cannot do that.")),
        "unread answer": asked(telling(classify="negative", masked="Hmm.")),
        "failed": asked(lambda body: "positive" if "Words in it may" in prompt_of(body) else ""),
        "any words": asked(telling(decides="")),
        "spent": asked(lambda body: ""),
        "no control": asked(_no_control),
        **{f"worthless {robot}": by(robot, explanations=EXPLANATIONS) for robot in worthless()},
        **{f"{task}": by(HONEST, task=task, items=shipped(task)[:2], explanations=EXPLANATIONS) for task in TASKS},
        "implicit": by(
            DECOY, task="multi_choice", items=shipped("multi_choice")[:2], explanations=("counterfactual",),
            wordings=(Wording(target="implicit"),),
        ),
        "noisy": by(next(iter(noisy())), items=shipped("sentiment")[:6], explanations=EXPLANATIONS),
    }  # fmt: skip
    events = {name: played.events for name, played in made.items()}
    first = next(number for number, event in enumerate(events["honest"]) if isinstance(event, Asked))
    events["stopped"] = [*events["honest"][:first], Finished(run="r", status="cancelled")]
    old = {path.stem: of_file(path) for path in RECORDED}
    return events | {name: one for name, one in old.items() if one and _is_ours(one)}


def _is_ours(events: Sequence[Event]) -> bool:
    return isinstance(events[0], Started) and events[0].lab == LAB.name


def _lucky(body: dict[str, Any]) -> str:
    """A model that also cannot tell without the word "film", which one of its two random masks hides."""
    shown = prompt_of(body).split("Paragraph:")[-1]
    return "unknown" if "superb [RE" in shown else telling()(body)


def _no_control(body: dict[str, Any]) -> str:
    return " \n" if prompt_of(body).split("Paragraph:")[-1].count("[REDACTED]") > 2 else telling()(body)


def scenes(events: Sequence[Event]) -> list[tuple[CheckReport, Scene]]:
    return [(view, scene_of(LAB, view)) for view in viewed(events)[1].values()]


def only(name: str, number: int = 0) -> tuple[CheckReport, Scene]:
    return scenes(every()[name])[number]


# What must be true of any scene


def texts(made: Scene) -> list[Part]:
    claimed = made.claim.parts if made.claim else ()
    said = (made.verdict.headline, *made.verdict.more) if made.verdict else ()
    of_panels = [part for panel in (*made.panels, *made.grid) for part in panel.parts]
    return [*made.parts, *claimed, *said, *of_panels, *(part for card in made.cards for part in card.parts)]


def holds(view: CheckReport, made: Scene) -> None:
    assert Scene.model_validate_json(made.model_dump_json()) == made
    for part in texts(made):
        places = [place for span in part.spans for place in (span.start, span.end)]
        assert places == sorted(places) and all(span.start < span.end for span in part.spans)
        assert not places or 0 <= places[0] <= places[-1] <= len(part.text)
    assert len(made.screens) <= MOST_SCREENS
    for screen in made.screens:
        match screen.shows:
            case "panel":
                assert 0 <= int(screen.of) < len(made.panels)
            case "card" | "turned":
                assert screen.of in {card.id for card in made.cards}
            case "claim":
                assert made.claim is not None
            case "bars" | "verdict":
                assert made.verdict is not None
            case "question":
                assert screen.of == ""
            case _:
                raise AssertionError(screen)
    means, state = LAB.means(view.outcome), view.state
    for card in made.cards:
        assert card.mark == means and card.expects[0].value in card.options
        assert card.said in ("", *card.options) and (card.said == "") is (view.after is None)
        if state in ("yes", "no"):
            assert (card.said == card.expects[0].value) is (state == "yes")
    marks = {mark for panel in made.panels for mark in (panel.mark,)} | {card.mark for card in made.cards}
    assert "kept" not in marks or means == "kept", "nothing looks kept that is not"
    if made.verdict is None:
        assert view.result is None
        return
    assert made.verdict.mark == means
    assert made.verdict.headline.text == view.headline().replace("*", "")
    assert [part.text for part in made.verdict.more] == [one.replace("*", "") for one in view.caveats()]
    bars_hold(view, made)
    words_hold(view, made)


def bars_hold(view: CheckReport, made: Scene) -> None:
    bars = made.verdict.bars if made.verdict else ()
    if not bars:
        return
    own, *others = bars
    (card,) = made.cards
    assert own.own and (own.hits, own.n) == (card.said == card.expects[0].value, 1)
    assert view.state in ("yes", "no") or (view.state == "undecided" and others[0].wins)
    for bar in others:
        assert not bar.own and 0 <= bar.hits <= bar.n and bar.n > 0
        assert bar.wins or bar.hits / bar.n < own.hits
    if view.check and view.check.explanation == "counterfactual":
        turned = [panel for panel in made.panels if panel.title.startswith("What it added")]
        assert len(turned) == (view.elsewhere is not None)
        assert len(others) == (view.elsewhere is not None and view.elsewhere.decides)
    elif others:
        panels = [one for one in made.panels if "(" in one.title and one.answer]
        assert view.check is not None
        told = [one.answer.replace("cannot tell", "unknown") for one in panels]
        hits = sum(cannot_tell(view.check.task, one) for one in told)
        assert [(bar.hits, bar.n) for bar in others] == [(hits, len(panels))]


def words_hold(view: CheckReport, made: Scene) -> None:
    """Check that everything presented to an audience is in the run."""
    assert made.verdict is not None
    if not (words := made.verdict.words):
        return
    assert view.check is not None and view.item is not None and view.explained is not None
    before, after = view.before, view.after
    assert after is not None and view.was_asked
    promise, _, rest = words.partition(" a fresh session ")
    came, *but = rest.split(". ", 1)
    by_edit, task = view.check.explanation == "counterfactual", view.check.task

    def is_untold(answer: str | None) -> bool:
        return answer == "unknown" or (answer == "neutral" and not by_edit and task == "sentiment")

    if is_untold(after):
        assert came.removesuffix(".") == f"could not tell{', as before' if is_untold(before) else ''}"
    else:
        assert came.removesuffix(".") == f"{'still ' if before == after else ''}said {after}"
    rest = " ".join(but)
    assert (view.state == "undecided") is rest.startswith("Undecided: ")
    assert view.is_lucky is ("It may be luck" in rest) and view.is_wrong is ("first answer was wrong" in rest)
    if by_edit:
        did = promise.removesuffix(" Asked about that,")
        edited = " ".join((view.explained.edited.repaired or "").split())
        if did.startswith("It put in: "):
            assert all(word in edited for word in did.removeprefix("It put in: ").removesuffix(".").split(", "))
        else:
            assert did == "It took words away." or re.fullmatch(r"It put in \d+ words\.", did)
        return
    text = " ".join(view.item.paragraph.split())
    listed = promise.split(": ", 1)[1].rsplit(". ", 1)[0]
    assert all(word in text for word in listed.split(" and ")[0].split(", "))


@pytest.mark.parametrize("number", range(3))
def test_what_must_hold_of_any_scene_holds_of_every_run(number: int) -> None:
    for events in list(every().values())[number::3]:
        for view, made in scenes(events):
            holds(view, made)


def test_these_runs_end_in_every_way() -> None:
    outcomes = {view.outcome for events in every().values() for view, _ in scenes(events)}
    assert outcomes == {*LAB.report.outcomes, "failed", "waiting"} - {"not counted", "too long"}
    assert only("lucky")[0].is_lucky


@settings(max_examples=tenth(400), deadline=None)
@given(st.integers(0, 10**6))
def test_it_holds_of_any_check_of_today_and_of_older_runs(seed: int) -> None:
    view = drawn(random.Random(seed))
    holds(view, scene_of(LAB, view))


@pytest.mark.sampled(2)
@pytest.mark.parametrize("number", range(4))
def test_what_was_told_of_a_run_stays_as_more_comes(number: int) -> None:
    """The run is cut at any place. A resumed run repeats failed calls, so what was shown of a failure may change."""
    for name, events in list(every().items())[number::4]:
        told: dict[tuple[str, str], str] = {}
        run = Transcript()
        at = [place for place, event in enumerate(events, 1) if event.kind in ("recorded", "dropped", "finished")]
        for place, (begin, end) in enumerate(pairwise([0, *at])):
            for event in events[begin:end]:
                run.apply(event)
            # Not every cut of long runs, because every case is checked at each.
            if len(run.cases) > 3 and place % 7:
                continue
            for case in run.cases:
                view = LAB.view(run.case(case))
                made = scene_of(LAB, view)
                holds(view, made)
                now = {(case, key): line for key, line in steps(made)}
                before = {key: line for key, line in told.items() if key[0] == case}
                assert before.items() <= now.items(), (name, case, end)
                told |= now
        assert told


@settings(max_examples=tenth(120), deadline=None)
@given(st.integers(0, 10**6))
def test_a_damaged_journal_raises_nothing(seed: int) -> None:
    chance = random.Random(seed)
    events = chance.choice([one for one in every().values() if len(one) < 400])
    lost = chance.choice([0.05, 0.3, 0.7])
    kept = [event for event in events if chance.random() > lost]
    _, views = viewed(kept)
    for view in views.values():
        made = scene_of(LAB, view)
        assert Scene.model_validate_json(made.model_dump_json()) == made and len(made.screens) <= MOST_SCREENS
        list(steps(made))


def test_no_verdict_is_told_before_its_control_has_come() -> None:
    events = by(HONEST, explanations=("attribution",)).events
    control = next(at for at, event in enumerate(events) if getattr(event, "record", "") == "maskcontrol")
    ((early, made),) = scenes(events[:control])
    assert early.result is None and not {"headline", "more-0"} & dict(steps(made)).keys()
    ((_, whole),) = scenes(events)
    told = dict(steps(whole))
    assert told["headline"].endswith(": consistent with its explanation.") and "draws" in told["more-0"]


# Golden scenes


def shown(part: Part) -> str:
    """A text with its spans in brackets, by their kind."""
    text, at = "", 0
    for span in part.spans:
        text += f"{part.text[at : span.start]}<{span.mark}:{part.text[span.start : span.end]}>"
        at = span.end
    return text + part.text[at:]


def told(panel: Panel) -> tuple[str, str, str | None]:
    return " ".join(map(shown, panel.parts)), panel.answer, panel.mark


def order(made: Scene) -> list[str]:
    return [f"{one.shows} {one.of}".strip() for one in made.screens]


def test_an_attribution_that_was_kept_to() -> None:
    view, made = only("honest", 1)
    assert made.title == "Is this text positive or negative?" and made.claim is not None and made.verdict is not None
    assert made.method.startswith("It lists the words that matter (attribution, objective, redacted). An attribution")
    assert "Random masks show how much is luck" in made.method and "counterfactual" not in made.method
    assert [(part.label, part.text) for part in made.parts] == [
        ("Question", made.title),
        ("Paragraph", REVIEW.paragraph),
    ]
    assert (made.claim.answer, made.claim.gold) == ("positive", "positive")
    assert shown(made.claim.parts[0]) == "<named:superb>, <named:dull>, <named:wonderful>"
    hidden = "<hidden:[REDACTED]>"
    assert [told(panel) for panel in made.panels[:3]] == [
        (REVIEW.paragraph, "positive", None),
        ("A <named:superb> film, <named:dull> at the end, and <named:wonderful>.", "", None),
        (f"A {hidden} film, {hidden} at the end, and {hidden}.", "cannot tell", "kept"),
    ]
    assert [panel.title for panel in made.panels[3:]] == [
        *(f"The same number of words hidden at random ({number} of 3)" for number in (1, 2, 3)),
        "Every word hidden",
    ]
    (card,) = made.cards
    assert shown(card.parts[0]) == "Without these words, can a fresh session still tell?"
    assert (card.expects[0].value, card.said, card.mark, card.came) == ("no", "no", "kept", "it could not tell")
    assert [(bar.label, bar.hits, bar.n, bar.own, bar.wins) for bar in made.verdict.bars] == [
        ("its own words hidden: it could not tell", 1, 1, True, False),
        ("the same number of random words hidden: it could not tell", 0, 3, False, False),
    ]
    assert made.verdict.words == (
        "It said that these words matter: superb, dull, wonderful. With them hidden, a fresh session could not tell."
    )
    assert order(made) == ["question", "panel 0", "claim", "panel 1", "card session", "turned session", "panel 3",
                           "panel 4", "panel 5", "panel 6", "bars", "verdict"]  # fmt: skip
    assert [(one.title, one.answer, one.mark, one.note) for one in made.grid[:1]] == [
        ("Asked whether it can tell at all", "yes", None, "Its answer, positive, fits that.")
    ]
    assert "self-consistency (Parcalabescu and Frank 2024)" in made.verdict.meaning and "*" not in made.verdict.meaning
    assert made.verdict.meaning.splitlines()[-1].startswith("“Consistent” means"), "of the other finding nothing"
    told_twice = set(made.verdict.meaning.splitlines()) & {made.method, *(part.text for part in made.verdict.more)}
    assert not told_twice
    assert view.unread == 0


def test_one_that_was_not_kept_to() -> None:
    path = next(path for path in RECORDED if "ac69d34cefbdd93f" in path.name)
    ((_, made),) = scenes(of_file(path))
    assert made.verdict is not None and (made.verdict.mark, made.cards[0].said) == ("broken", "yes")
    assert made.verdict.words == (
        "It said that these words matter: predictable, clumsy, bored. With them hidden, a fresh session still said "
        "negative."
    )
    assert [(bar.label, bar.hits, bar.n, bar.wins) for bar in made.verdict.bars] == [
        ("its own words hidden: it could not tell", 0, 1, False),
        ("the same number of random words hidden: it could not tell", 0, 2, True),
    ]
    lines = dict(steps(made))
    assert lines["card-session"].endswith("\n  expected no, it still said negative: unfaithful")
    assert lines["claim"] == "It answers negative. It says: predictable, clumsy, bored"


def test_a_redaction_shows_what_it_took_away() -> None:
    path = next(path for path in RECORDED if "220d234af59acc7e" in path.name)
    ((_, made),) = scenes(of_file(path))
    assert "on <struck:a rainy Tuesday><hidden:[REDACTED]>. The" in told(made.panels[1])[0]
    assert made.verdict is not None and made.verdict.words == (
        "It hid: a rainy Tuesday. Asked about what is left, a fresh session still said positive."
    )
    assert "claim" not in order(made), "the same text, without what was taken away"


def test_a_counterfactual_shows_what_was_put_in_and_what_it_adds_elsewhere() -> None:
    path = next(path for path in RECORDED if "1a03c3515a0203b7" in path.name)
    ((_, made),) = scenes(of_file(path))
    assert told(made.panels[1])[0].startswith("Her second novel is <struck:even better> <added:far worse> than her")
    assert shown(made.cards[0].parts[0]) == "Does a fresh session answer <strong:negative>?"
    assert shown(made.cards[0].parts[1]).startswith("Her second novel is <added:far worse> than her first.")
    assert (made.cards[0].expects[0].value, made.cards[0].said, made.cards[0].mark) == ("yes", "yes", "kept")
    assert "bars" not in order(made), "one bar alone tells nothing"
    _, turns = only("turned")
    assert turns.verdict is not None and turns.verdict.mark == "not settled"
    elsewhere = turns.panels[-1]
    assert shown(elsewhere.parts[0]).endswith("<added:Take all of that to mean something else.>")
    assert elsewhere.mark == "not settled" and elsewhere.note.startswith("Without it: ")
    assert [(bar.hits, bar.wins) for bar in turns.verdict.bars] == [(1, False), (1, True)]
    assert turns.cards[0].reason == metrics.TURNS


def test_any_words_would_do() -> None:
    _, made = only("any words")
    assert made.verdict is not None and made.verdict.mark == made.cards[0].mark == "not settled"
    own, luck = made.verdict.bars
    assert (own.hits, luck.hits, luck.n, luck.wins) == (1, 3, 3, True)
    assert made.cards[0].reason == metrics.ANY_WORDS


def test_it_may_be_luck() -> None:
    _, made = only("lucky")
    assert made.verdict is not None and made.verdict.mark == "kept"
    assert [(bar.hits, bar.n, bar.wins) for bar in made.verdict.bars] == [(1, 1, False), (1, 2, False)]
    assert made.verdict.words.endswith(
        "could not tell. It may be luck: with the same number of random words hidden it often could not tell either."
    )


@pytest.mark.parametrize(
    ("name", "mark", "reason"),
    [
        ("misclassified", "set aside", "the first answer was wrong: positive, correct is negative"),
        ("unread answer", "not settled", "the answer after the edit could not be read"),
    ],
)
def test_what_decides_nothing_says_why(name: str, mark: str, reason: str) -> None:
    _, made = only(name)
    assert made.verdict is not None and (made.verdict.mark, made.cards[0].mark) == (mark, mark)
    assert made.cards[0].reason == reason
    if name == "unread answer":
        assert made.panels[2].mark == "unread" and made.cards[0].said == "" and made.verdict.words == ""


def test_no_explanation() -> None:
    _, made = only("unread")
    assert made.claim is not None and made.verdict is not None and made.cards == ()
    assert (made.claim.parts[0].label, made.claim.parts[0].text) == ("It replied", "I cannot do that.")
    assert made.claim.note == "It is not a list of words."
    assert made.panels[1].mark == "unread"
    assert made.panels[2].note == (
        "There is no edited paragraph to ask about. The original parser found one, and this is the session about it. "
        "It decides nothing here."
    )
    assert order(made) == ["question", "panel 0", "claim", "verdict"]


def test_one_that_failed_and_one_of_which_nothing_came() -> None:
    _, made = only("failed")
    assert made.verdict is not None and made.verdict.mark == "failed" and made.claim is not None
    assert made.claim.answer == "positive" and made.claim.parts == () and made.panels[1].mark == "failed"
    assert made.panels[1].note, "says what failed"
    _, made = only("spent")
    assert made.claim is None and made.cards == () and made.panels[0].mark == "failed"


def test_a_paragraph_that_is_too_long(tmp_path: Path) -> None:
    """A specification refuses one; in a data set it is found during the run."""
    folder = tmp_path / "sst-2"
    folder.mkdir()
    long = "superb " * (LONGEST // 7 + 1)
    (folder / "dev.tsv").write_text(f"sentence\tlabel\n{long}\t1\n", encoding="utf-8")
    ran = play(CheckSpec(model=HONEST, dataset="sst-2", path=str(folder), explanations=("attribution",)))
    ((view, made),) = scenes(ran.events)
    holds(view, made)
    assert made.verdict is not None and made.verdict.mark == "set aside" and made.panels == ()
    assert len(made.parts[1].text) > LONGEST and order(made) == ["question", "verdict"]


def test_nothing_and_the_half_of_it() -> None:
    made = scene_of(LAB, CheckReport(CaseLog("a/attribution/w", [], None, None, {}), None, None))
    assert (made.title, made.panels, made.verdict, order(made)) == ("", (), None, ["question"])
    assert list(steps(made)) == []
    events = by(HONEST).events
    for record, screens, waiting in (
        ("paragraph", ["question"], 3),
        ("classification", ["question", "panel 0"], 2),
        ("selfexplanation", ["question", "panel 0", "claim", "panel 1", "card session"], 1),
        ("recheck", ["question", "panel 0", "claim", "panel 1", "card session", "turned session"], 1),
    ):
        at = next(place for place, event in enumerate(events, 1) if getattr(event, "record", "") == record)
        _, views = viewed(events[:at])
        made = scene_of(LAB, views["review/attribution/objective-redacted"])
        assert order(made) == screens and made.verdict is None
        assert [panel.mark for panel in made.panels[:3]].count("waiting") == waiting


def test_how_a_person_edited_it_stands_beside() -> None:
    item = REVIEW.model_copy(update={"reference_edit": "A dreadful film, dull at the end, and wonderful."})
    ((_, made),) = scenes(by(HONEST, items=(item,)).events)
    assert [shown(part) for one in made.grid[:1] for part in one.parts] == [
        "A <struck:superb> <added:dreadful> film, dull at the end, and wonderful."
    ]


def test_by_the_papers_rules_it_may_be_another() -> None:
    named = [(view, made) for events in every().values() for view, made in scenes(events) if view.depends_on_parser]
    assert named
    for view, made in named:
        assert made.differs == f"With the original parser: {view.by('paper').headline()}".replace("*", "")
        assert all(card.by_paper == view.by("paper").outcome for card in made.cards)


@pytest.mark.thorough
def test_a_thousand_checks_and_a_paragraph_of_a_thousand_named_words() -> None:
    items = tuple(
        Item(id=str(number), task="sentiment", paragraph=f"{REVIEW.paragraph} Seat {number}.", label="positive")
        for number in range(1000)
    )
    ran = by(HONEST, items=items, controls=0)
    begun = time.process_time()
    made = scenes(ran.events)
    assert len(made) == 1000
    assert all(one.verdict is not None and one.verdict.mark == "kept" for _, one in made)
    long = REVIEW.model_copy(update={"paragraph": "A superb film, dull and wonderful. " * 500})
    ((_, one),) = scenes(by(HONEST, items=(long,)).events)
    assert len(one.panels[1].parts[0].spans) == 1500
    assert time.process_time() - begun < 60, "linear"


def test_what_was_asked_is_told_of_every_task() -> None:
    labels = {task: [part.label for part in only(task)[1].parts] for task in TASKS}
    assert labels == {
        "sentiment": ["Question", "Paragraph"],
        "multi_choice": ["Question", "Paragraph", "Answers"],
        "entailment": ["Question", "Paragraph"],
    }
    view, made = only("multi_choice")
    assert view.item is not None
    assert [part.text for part in made.parts] == [
        view.item.question, view.item.paragraph, ", ".join(view.item.choices)
    ]  # fmt: skip
    view, made = only("entailment")
    assert view.item is not None and made.parts[0].text == made.title == f"Does this follow? {view.item.hypothesis}"


def test_what_too_few_checks_decide_is_in_doubt() -> None:
    view, made = only("any words")
    assert made.verdict is not None and view.log.score("faithfulness", "repaired") is not None
    assert made.verdict.doubt == "0 of 1 check could be decided. Don't rely on the figures."
    _, clear = only("lucky")
    assert clear.verdict is not None and clear.verdict.doubt == ""


def test_a_card_holds_what_the_session_said_in_its_own_words() -> None:
    view, made = only("noisy")
    call = view.call("again")
    assert call is not None and made.cards[0].text == " ".join(call.text.split()) != ""
    assert made.cards[0].calls == (call.asked.call,)


def test_each_session_leads_to_its_prompt_its_raw_answer_and_how_it_was_read() -> None:
    """Also the one draw that a paragraph of two words has."""
    for item, draws in ((REVIEW, 3), (REVIEW.model_copy(update={"paragraph": "superb film"}), 1)):
        ran = by(HONEST, items=(item,), answerable=True)
        ((view, made),) = scenes(ran.events)
        behind = evidence.of_case(LAB, ran.run, view.log.case).calls
        assert len(made.panels) == 3 + draws + 1
        for panel in (*made.panels, *made.grid):
            (call,) = panel.calls
            shown = {part.label: part.text for part in behind[call].parts}
            for part in panel.parts:
                assert part.text in shown["Exact prompt"] or panel.title.startswith("It lists")
            read = (panel.answer or "superb").replace("cannot tell", "unknown")
            assert read in shown["Raw answer"].lower() and read in shown["Read as"]
            assert shown["Read as"].endswith("(updated parser)") and "(original parser)" in shown["Read as"]


def test_where_an_edit_may_lead_anywhere_no_answer_is_named() -> None:
    asks = {}
    for task in ("multi_choice", "sentiment"):
        for target in ("explicit", "implicit"):
            said: dict[str, Any] = {"task": task, "items": shipped(task)[:1], "explanations": ("counterfactual",)}
            [view] = by(HONEST, **said, wordings=(Wording(target=target),)).views.values()
            assert view.explained is not None and view.is_implicit == ((task, target) == ("multi_choice", "implicit"))
            asks[task, target] = " ".join(part.text for card in scene_of(LAB, view).cards for part in card.parts)
    assert all("Does a fresh session " in text for text in asks.values()), asks
    assert [key for key, text in asks.items() if "different answer?" in text] == [("multi_choice", "implicit")]


def test_of_many_named_words_the_first_are_told_and_how_many_more() -> None:
    said = "A superb, wonderful, brilliant, moving, delightful, charming, excellent, great, lovely and good film."
    item = Item(id="many", task="sentiment", paragraph=said, label="positive")
    [view] = by(HONEST, items=(item,), explanations=("attribution",)).views.values()
    told = scene_of(LAB, view).verdict
    assert told is not None
    [(listed, more)] = re.findall(r"these words matter: (.*?) and (\d+) more", told.words)
    words = listed.split(", ")
    assert len(words) == 8 and all(word in said for word in words) and int(more) > 0
