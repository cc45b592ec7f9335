"""Checks as cards of the game: the text after the explanation's edit, and the fresh session's answer to it."""

from __future__ import annotations

from collections.abc import Iterator

from ...scene import Part, Scene
from ..base.cases import Playable
from . import metrics
from .outcomes import OUTCOMES
from .tasks import LABELS, Check
from .view import UNKNOWN, CheckView

BET = "A fresh session sees only this text. What will it say?"
CANNOT_TELL = {"cannot tell": "It cannot tell"}
"""What hiding the important words implies: this is a prediction, unlike "it does not say"."""


def cards(view: CheckView, scene: Scene, seed: int) -> Iterator[Playable]:
    """Yield the check as one card if the fresh session was asked. `scene` is the case's scene; `seed` is not used. The
    card's `why` keeps it out of chosen packs if the check is undecided or the first answer was wrong.
    """
    check, after = view.check, view.reading("after")
    if check is None or view.explained is None or not scene.cards or not view.was_asked:
        return
    told = scene.cards[0]
    labels = check.item.choices if check.task == "multi_choice" else LABELS[check.task]
    is_edit = check.explanation == "counterfactual"
    [untold] = CANNOT_TELL
    implied = view.explained.wanted or untold if is_edit else untold
    is_decided = OUTCOMES.get(view.outcome) in ("kept", "broken")
    said = untold if _is_untold(check, after, is_edit) else after or ""
    yield Playable(
        card=told.model_copy(
            update={
                "parts": (Part(text=BET), *scene.parts[:1], *told.parts[1:]),
                "options": {**{label: label[:1].upper() + label[1:] for label in labels}, **CANNOT_TELL},
                "expects": tuple(one.model_copy(update={"value": implied}) for one in told.expects[:1]),
                "said": said,
            }
        ),
        claim=scene.claim,
        asked=check.item.paragraph,
        annotated=is_decided,
        why="" if is_decided else told.reason or "its outcome is no verdict",
        is_open=said not in (*labels, untold),
    )


def _is_untold(check: Check, after: str | None, is_edit: bool) -> bool:
    """Whether the session said that it cannot tell; if words are hidden, a neutral answer means that too."""
    return after == UNKNOWN or (after is not None and not is_edit and metrics.cannot_tell(check.task, after))
