"""A person who may not see a whole case sees not a word of what is withheld."""

from collections.abc import Iterable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core import entry, home, journal
from core.report import scenes
from core.report.evidence import is_over, redacted, sealed
from core.scene import (
    AxisInterval,
    Bar,
    Card,
    Claim,
    Curve,
    Drop,
    Expect,
    FigureLine,
    Panel,
    Part,
    Plot,
    Point,
    Scene,
    Screen,
    Verdict,
    Who,
    as_json,
)
from core.transcript import transcript
from tests.core.report.test_scenes import is_whole
from tests.support.sealed_runs import CANARY, LABS

NUMBER = 98765432.0
PANEL = Panel(
    title=CANARY, parts=(Part(text=CANARY, label=CANARY),), answer=CANARY, mark="kept", note=CANARY, calls=(CANARY,),
    run=CANARY,
)  # fmt: skip
OF_SCENE = {
    "verdict": Verdict(
        headline=Part(text=CANARY), more=(Part(text=CANARY),), words=CANARY, mark="kept", doubt=CANARY, meaning=CANARY,
        bars=(Bar(label=CANARY, hits=int(NUMBER), n=int(NUMBER)),),
    ),
    "grid": (PANEL,),
    "coming": (Part(text=CANARY, label=CANARY),),
    "ledger": (Drop(about=CANARY, reason=CANARY, detail=CANARY),),
    "figures": (FigureLine(title=CANARY, value=CANARY, help=CANARY, n=int(NUMBER), of=int(NUMBER)),),
    "unread": int(NUMBER),
    "differs": CANARY,
    "failure": (Part(text=CANARY, label=CANARY),),
}  # fmt: skip
OF_CARD = {
    "expects": (Expect(who=CANARY, value=CANARY, arm=CANARY, quote=CANARY, votes=(CANARY,), call=CANARY),),
    **dict.fromkeys(("said", "text", "came", "outcome", "reason", "doubt", "origin", "by_paper"), CANARY),
    "columns": (Part(text=CANARY, label=CANARY),),
    "is_reading": True,
    "panels": (PANEL,),
    "calls": (CANARY,),
}
OF_CLAIM = {"gold": CANARY, "note": CANARY, "calls": (CANARY,), "thinking": (Part(text=CANARY, label=CANARY),)}
OF_PLOT = {"y_ends": (-NUMBER, NUMBER), "left_out": (CANARY,)}
KEPT = {
    Scene: {"schema_version", "lab", "run", "case", "title", "question", "who", "method", "status", "one", "words"}
    | {"parts", "claim", "cards", "panels", "plot", "actions", "screens", "is_sealed", "by_person"},
    Card: {"id", "number", "mark", "parts", "options", "by_hand", "guess"},
    Claim: {"answer", "parts", "domain", "code"},
    Plot: {"points", "curves", "intervals", "x_label", "y_label", "x_ends"},
}
"""Fields that may be shown, or whose parts are checked below."""


def test_each_field_is_either_told_or_withheld_here() -> None:
    for kind, withheld in ((Scene, OF_SCENE), (Card, OF_CARD), (Claim, OF_CLAIM), (Plot, OF_PLOT)):
        assert KEPT[kind] | withheld.keys() == kind.model_fields.keys() and not KEPT[kind] & withheld.keys()


def told_in_full(lab: str) -> Scene:
    """The case with the most cards of a run that comes with the app."""
    made = []
    for path in sorted(home.recordings().glob(f"*-{lab}-*.jsonl")):
        state = transcript(journal.read(path).events)
        made += list(scenes.of_run(entry.labs()[lab], state))
    return max(made, key=lambda scene: len(scene.cards))


def poisoned(scene: Scene, opened: Iterable[str] = ()) -> Scene:
    """The scene with the word and the number in everything that is withheld from a person who opened these cards."""
    first = next(place for place, screen in enumerate(scene.screens) if screen.shows == "card")
    before = {int(screen.of) for screen in scene.screens[:first] if screen.shows == "panel"}
    plot = scene.plot or Plot()
    withheld = {
        **OF_PLOT,
        "points": (*plot.points, Point(x=NUMBER, y=NUMBER)),
        "curves": tuple(Curve(label=CANARY, kind=kind, x=(1.0,), y=(NUMBER,)) for kind in ("truth", "baseline")),
        "intervals": tuple(
            AxisInterval(low=1, high=NUMBER, label=CANARY, kind=kind) for kind in ("stretch", "replaced")
        ),
    }
    return scene.model_copy(
        update={
            **OF_SCENE,
            "who": Who(shown=scene.who.shown, name=CANARY, is_robot=scene.who.is_robot),
            "claim": scene.claim and scene.claim.model_copy(update=OF_CLAIM),
            "cards": tuple(
                one if one.id in opened else one.model_copy(update={**OF_CARD, "mark": one.mark}) for one in scene.cards
            ),
            "panels": (
                *(
                    one.model_copy(update={"calls": (CANARY,), "run": CANARY}) if place in before else PANEL
                    for place, one in enumerate(scene.panels)
                ),
                PANEL,
            ),
            "plot": plot.model_copy(update=withheld),
        }
    )


@pytest.mark.parametrize("lab", LABS)
def test_what_is_withheld_is_nowhere_before_all_is_opened(lab: str) -> None:
    scene = told_in_full(lab)
    asked = [card.id for card in scene.cards if card.options]
    assert asked
    for opened in ([], asked[:-1], asked[1:]):
        whole = poisoned(scene, opened)
        shown = sealed(whole, opened)
        text = as_json(shown)
        assert CANARY not in text and str(int(NUMBER)) not in text and shown.is_sealed
        is_whole(shown)
        for card in shown.cards:
            assert (card.mark == "sealed") == (card.id not in opened), "what came is on no other card"
    whole = poisoned(scene)
    assert sealed(whole, [card.id for card in scene.cards]) == whole and CANARY in as_json(whole)


@pytest.mark.parametrize("lab", LABS)
@given(data=st.data())
def test_a_card_comes_whole_and_no_other(lab: str, data: st.DataObject) -> None:
    scene = _MADE.setdefault(lab, told_in_full(lab))
    opened = data.draw(st.sets(st.sampled_from([card.id for card in scene.cards]) | st.just("none")))
    shown = sealed(scene, opened)
    if is_over(scene, opened):
        assert shown == scene
        return
    assert [card for card in shown.cards if card.id in opened] == [card for card in scene.cards if card.id in opened]
    assert shown.verdict is None and not shown.figures and not shown.ledger and not shown.grid
    for card in shown.cards:
        assert card.id in opened or not (card.said or card.text or card.came or card.outcome or card.expects)


_MADE: dict[str, Scene] = {}


def test_the_end_waits_for_the_run_and_for_what_can_be_foretold() -> None:
    scene = told_in_full("simulatability")
    ids = {card.id for card in scene.cards}
    assert not is_over(scene.model_copy(update={"status": "running"}), ids)
    assert is_over(scene, ids) and not is_over(scene.model_copy(update={"cards": ()}), ids), "nothing to foretell"
    set_aside = scene.cards[0].model_copy(update={"mark": "set aside"})
    by_hand = scene.cards[1].model_copy(update={"by_hand": True})
    some = scene.model_copy(update={"cards": (set_aside, by_hand, *scene.cards[2:])})
    assert is_over(some, {card.id for card in scene.cards[2:]})
    assert [card.options for card in sealed(some, ()).cards[:2]] == [{}, {}], "these are no guesses"


def test_without_a_card_no_panel_is_told() -> None:
    panels = (Panel(title="First", answer="yes"), Panel(title="Then", answer="no"))
    screens = (Screen(shows="panel", of="0"), Screen(shows="panel", of="1"))
    scene = Scene(lab="x", status="done", panels=panels, screens=screens)
    assert sealed(scene, ()).panels == ()
    card = Card(id="a", number=1, mark="kept", options={"yes": "Yes"}, said="yes")
    before = scene.model_copy(
        update={"cards": (card,), "screens": (screens[0], Screen(shows="card", of="a"), screens[1])}
    )
    assert [one.title for one in sealed(before, ()).panels] == ["First"]


def test_a_guess_stands_on_its_card() -> None:
    scene = told_in_full("simulatability")
    first, second, *_ = scene.cards
    shown = redacted(scene, {first.id: "no"})
    assert shown.cards[0].guess == "no" and shown.cards[0].said == first.said
    assert shown.cards[1].guess == "" == shown.cards[1].said and shown.cards[1].parts == second.parts
    assert redacted(scene, None) == scene
