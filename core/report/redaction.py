"""A case as shown to people who may not see all of it: in a sealed run they see each card after they have predicted it,
and the end after they have predicted all. What is left out appears in no scene, no evidence and nothing else that is
sent to them.
"""

from collections.abc import Collection, Mapping

from ..labs.base.lab import Lab
from ..runs.library import RunNotFoundError
from ..scene import Card, Claim, Mark, Panel, Plot, Scene, Who, screens
from ..server.access import RunAccess, RunSealedError
from ..transcript import Transcript
from . import evidence, scenes
from .evidence import CallEvidence, Evidence

Opened = Mapping[str, str] | None
"""A person's predictions for the cards that they may see, by card; None if they may see all (`RunAccess.guesses_on`).
"""


def sealed(scene: Scene, opened: Collection[str]) -> Scene:
    """The parts of a scene that people may see who have predicted the cards `opened`: these cards whole, of the others
    the question, and of the rest what an audience knows before the first card. The whole scene once it has ended and
    every card that can be predicted is open. Anything not named here is left out.
    """
    if is_over(scene, opened):
        return scene
    claim = scene.claim
    shown = Scene(
        lab=scene.lab,
        run=scene.run,
        case=scene.case,
        title=scene.title,
        question=scene.question,
        # The model's name is part of the end.
        who=Who(shown=scene.who.shown, is_robot=scene.who.is_robot),
        method=scene.method,
        status=scene.status,
        one=scene.one,
        words=scene.words,
        parts=scene.parts,
        claim=claim and Claim(answer=claim.answer, parts=claim.parts, domain=claim.domain, code=claim.code),
        cards=tuple(card if card.id in opened else _closed(card) for card in scene.cards),
        panels=tuple(_before(scene)),
        plot=scene.plot and _covered(scene.plot),
        is_sealed=True,
        by_person=scene.by_person,
    )
    return shown.model_copy(update={"screens": screens(shown)})


def is_over(scene: Scene, opened: Collection[str]) -> bool:
    """Whether the case has ended and every card that can be predicted is open; False if no card can be predicted."""
    asked = [card.id for card in scene.cards if is_predictable(card)]
    return scene.status not in ("running", "waiting") and bool(asked) and set(asked) <= set(opened)


def is_predictable(card: Card) -> bool:
    """Whether there is something to predict: there is nothing on an excluded card or a person's own question, which are
    shown with the end.
    """
    return bool(card.options) and bool(card.said) and card.mark not in ("set aside", "waiting") and not card.by_hand


def _closed(card: Card) -> Card:
    mark: Mark = card.mark if card.mark in ("waiting", "stopped") else "sealed"
    options = card.options if card.mark == "waiting" or is_predictable(card) else {}
    return Card(
        id=card.id,
        number=card.number,
        mark=mark,
        parts=card.parts,
        options=options,
        by_hand=card.by_hand,
        guess=card.guess,
    )


def _before(scene: Scene) -> list[Panel]:
    """The panels shown before the first card, which give nothing away; empty if there is no card."""
    first = next((place for place, screen in enumerate(scene.screens) if screen.shows == "card"), 0)
    numbers = sorted({int(screen.of) for screen in scene.screens[:first] if screen.shows == "panel"})
    asked = (scene.panels[number] for number in numbers)
    return [Panel(title=one.title, parts=one.parts, answer=one.answer, note=one.note) for one in asked]


def _covered(plot: Plot) -> Plot:
    """The plot without the true function, and without intervals that follow from it."""
    return Plot(
        points=tuple(point for point in plot.points if point.number),
        curves=tuple(curve for curve in plot.curves if curve.kind == "claim"),
        intervals=tuple(one for one in plot.intervals if one.kind in ("unseen", "claimed")),
        x_label=plot.x_label,
        y_label=plot.y_label,
        x_ends=plot.x_ends,
    )


def redacted(scene: Scene, opened: Opened) -> Scene:
    """The scene for people who may see the cards `opened`."""
    if opened is None:
        return scene
    guesses = {card.id: opened.get(card.id, "") for card in scene.cards}
    cards = tuple(card.model_copy(update={"guess": guesses[card.id]}) for card in scene.cards)
    return sealed(scene.model_copy(update={"cards": cards}), opened)


def state_of(visit: RunAccess, labs: Mapping[str, Lab], run_id: str, case: str) -> tuple[Lab, Transcript, str]:
    """The run's lab, the run with that case whole, and the case; the run's first case if none is named. It may be shown
    only through `redacted`. Raises RunNotFoundError and AccessDeniedError.
    """
    run = visit.unredacted(run_id)
    state = run.case(case) if case else run.watch().transcript
    lab = labs.get(state.started.lab) if state.started else None
    if lab is None:
        raise RunNotFoundError(f"{run_id} contains no run of any lab in this app.")
    if case and case not in state.cases:
        raise RunNotFoundError(f"{run_id} has no case {case[:100]!r}.")
    return lab, state, case or state.only


def cases_of(visit: RunAccess, run_id: str) -> dict[str, str]:
    """The titles of the run's cases, by id, in order. Raises RunNotFoundError and AccessDeniedError."""
    cases = visit.unredacted(run_id).case("").cases
    return {case: cases[case].title for case in sorted(cases, key=lambda case: cases[case].number)}


def scene_for(visit: RunAccess, labs: Mapping[str, Lab], run_id: str, case: str) -> Scene:
    """The case as the visitor may see it. Raises RunNotFoundError and AccessDeniedError."""
    # Asked before the run is read: if it ends in between, it is only read once more.
    active = visit.unredacted(run_id).active()
    lab, state, case = state_of(visit, labs, run_id, case)
    return redacted(scenes.of_case(lab, state, case, active), visit.guesses_on(run_id, case))


def evidence_for(visit: RunAccess, labs: Mapping[str, Lab], run_id: str, case: str) -> Evidence:
    """The evidence behind the case, as far as the visitor may see it. For a sealed case these are the raw answers of
    the cards that they opened, without the model's name and without prompts, which may reveal other cards. Raises
    RunNotFoundError, AccessDeniedError, and RunSealedError before any card is opened.
    """
    lab, state, case = state_of(visit, labs, run_id, case)
    opened = visit.guesses_on(run_id, case)
    found = evidence.of_case(lab, state, case)
    if opened is None:
        return found
    scene = scenes.of_case(lab, state, case, visit.unredacted(run_id).active())
    if is_over(scene, opened):
        return found
    shown = [card for card in scene.cards if card.id in opened]
    known = {name for card in shown for name in (*card.calls, *(one.call for one in card.expects))}
    if not known:
        raise RunSealedError("The data behind a card appears with its answer: guess first.")
    return Evidence(calls={name: _raw(call) for name, call in found.calls.items() if name in known})


def _raw(call: CallEvidence) -> CallEvidence:
    return CallEvidence(
        title=call.role, parts=tuple(part for part in call.parts if part.label in ("Raw answer", "Read as"))
    )
