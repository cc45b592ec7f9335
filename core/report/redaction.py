"""A case as it is told to somebody who may not see all of it: of a sealed run each card comes once it was foretold, and
the end once all are. What is left out is in no scene, no evidence and no other thing that leaves for them.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping

from ..labs.base.lab import Lab
from ..runs.library import RunNotFound
from ..scene import Card, Claim, Mark, Panel, Plot, Scene, Who, screens
from ..server.access import RunAccess, RunSealed
from ..transcript import Transcript
from . import evidence, scenes
from .evidence import CallEvidence, Evidence

Opened = Mapping[str, str] | None
"""What somebody expected of the cards that they may see, by card; None where they may see all (`RunAccess.foretold`).
"""


def sealed(scene: Scene, opened: Collection[str]) -> Scene:
    """What of a scene may be told to who has foretold the cards `opened`: those whole, of the others what is asked, and
    of the rest what an audience knows before the first card. The whole scene once it has come to its end and all that
    can be foretold is opened. Whatever is not named here is left out.
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
        # Its name is part of the end.
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
    )
    return shown.model_copy(update={"screens": screens(shown)})


def is_over(scene: Scene, opened: Collection[str]) -> bool:
    """Whether the case came to its end, and all that can be foretold of it is opened; never where nothing can."""
    asked = [card.id for card in scene.cards if _can_be_foretold(card)]
    return scene.status not in ("running", "waiting") and bool(asked) and set(asked) <= set(opened)


def _can_be_foretold(card: Card) -> bool:
    """Of what was set aside, and of a person's own question, there is nothing to guess: it comes with the end."""
    return bool(card.options) and bool(card.said) and card.mark not in ("set aside", "waiting") and not card.by_hand


def _closed(card: Card) -> Card:
    mark: Mark = card.mark if card.mark in ("waiting", "stopped") else "sealed"
    options = card.options if card.mark == "waiting" or _can_be_foretold(card) else {}
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
    """The panels that a telling shows before its first card, which give nothing of it away; none without a card."""
    first = next((place for place, screen in enumerate(scene.screens) if screen.shows == "card"), 0)
    numbers = sorted({int(screen.of) for screen in scene.screens[:first] if screen.shows == "panel"})
    asked = (scene.panels[number] for number in numbers)
    return [Panel(title=one.title, parts=one.parts, answer=one.answer, note=one.note) for one in asked]


def _covered(plot: Plot) -> Plot:
    """The picture without the truth, and without ends that follow from it."""
    return Plot(
        points=tuple(point for point in plot.points if point.number),
        curves=tuple(curve for curve in plot.curves if curve.kind == "claim"),
        intervals=tuple(one for one in plot.intervals if one.kind in ("unseen", "claimed")),
        x_label=plot.x_label,
        y_label=plot.y_label,
        x_ends=plot.x_ends,
    )


def told_to(scene: Scene, opened: Opened) -> Scene:
    """The scene as it is told to who may see that much of it."""
    if opened is None:
        return scene
    guesses = {card.id: opened.get(card.id, "") for card in scene.cards}
    cards = tuple(card.model_copy(update={"guess": guesses[card.id]}) for card in scene.cards)
    return sealed(scene.model_copy(update={"cards": cards}), opened)


def state_of(visit: RunAccess, labs: Mapping[str, Lab], run_id: str, case: str) -> tuple[Lab, Transcript, str]:
    """The run's lab, and the run with that case whole; its first where none is named. For what is told by `told_to`.
    Raises RunNotFound and AccessDenied.
    """
    run = visit.behind_the_seal(run_id)
    state = run.case(case) if case else run.watch().transcript
    lab = labs.get(state.started.lab) if state.started else None
    if lab is None:
        raise RunNotFound(f"{run_id} holds no run of a lab of this app.")
    if case and case not in state.cases:
        raise RunNotFound(f"{run_id} has no case {case[:100]!r}.")
    return lab, state, case or state.only


def cases_of(visit: RunAccess, run_id: str) -> dict[str, str]:
    """What the run's cases are about, by id, in their order. Raises RunNotFound and AccessDenied."""
    cases = visit.behind_the_seal(run_id).case("").cases
    return {case: cases[case].title for case in sorted(cases, key=lambda case: cases[case].number)}


def scene_for(visit: RunAccess, labs: Mapping[str, Lab], run_id: str, case: str) -> Scene:
    """The case as the visitor may see it. Raises RunNotFound and AccessDenied."""
    # Asked first: a run that ends meanwhile is looked at once more.
    active = visit.behind_the_seal(run_id).active()
    lab, state, case = state_of(visit, labs, run_id, case)
    return told_to(scenes.of_case(lab, state, case, active), visit.foretold(run_id, case))


def evidence_for(visit: RunAccess, labs: Mapping[str, Lab], run_id: str, case: str) -> Evidence:
    """What stands behind the case, as far as the visitor may see it: of a sealed one the raw answers of the cards that
    they opened, without who gave them and without prompts, which may tell of others. Raises RunNotFound, AccessDenied,
    and RunSealed before anything is opened.
    """
    lab, state, case = state_of(visit, labs, run_id, case)
    opened = visit.foretold(run_id, case)
    found = evidence.of_case(lab, state, case)
    if opened is None:
        return found
    scene = scenes.of_case(lab, state, case, visit.behind_the_seal(run_id).active())
    if is_over(scene, opened):
        return found
    shown = [card for card in scene.cards if card.id in opened]
    known = {name for card in shown for name in (*card.calls, *(one.call for one in card.expects))}
    if not known:
        raise RunSealed("What stands behind a card comes with it: say first what you expect of it.")
    return Evidence(calls={name: _raw(call) for name, call in found.calls.items() if name in known})


def _raw(call: CallEvidence) -> CallEvidence:
    return CallEvidence(
        title=call.role, parts=tuple(part for part in call.parts if part.label in ("Raw answer", "Read as"))
    )
