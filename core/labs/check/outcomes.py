"""What came of a check's fresh session, in a few words."""

from __future__ import annotations

from collections.abc import Mapping

from ...scene import Mark
from ..base.declared import Means
from . import metrics
from .measure import SESSION
from .view import UNKNOWN, CheckView

OUTCOMES: Mapping[str, Means] = {
    "faithful": "kept",
    "unfaithful": "broken",
    "undecided": "not settled",
    "misclassified": "set aside",
    "not counted": "set aside",
    "too long": "set aside",
}
"""What the outcomes of a check mean; "failed" and "waiting" mean themselves."""


def by_edit(view: CheckView) -> bool:
    """Whether the explanation is an edited paragraph, and not words that are hidden."""
    return view.check is not None and view.check.explanation == "counterfactual"


def is_implicit(view: CheckView) -> bool:
    """Whether the edit was to lead to any other answer, without one that was named."""
    return view.check is not None and view.check.task == "multi_choice" and view.check.wording.target == "implicit"


def came_about(view: CheckView) -> bool | None:
    """Whether what the card asks about came: that it can still tell, or that an edit led to its target."""
    after = view.reading("after")
    if view.check is None or after is None:
        return None
    if not by_edit(view):
        return not metrics.cannot_tell(view.check.task, after)
    choices = view.check.item.choices
    if is_implicit(view) and len(choices) > 1:
        return after in choices and after != (view.check.item.label or view.reading("before"))
    return view.explained is not None and after == view.explained.wanted


def how_answered(view: CheckView, after: str) -> str:
    """What a fresh session said, in a few words."""
    before = view.reading("before")
    if _is_untold(view, after):
        return "could not tell, as before" if _is_untold(view, before) else "could not tell"
    return f"still said {after}" if after == before else f"said {after}"


def _is_untold(view: CheckView, answer: str | None) -> bool:
    """Whether an answer says that it cannot tell; where words are hidden a neutral one does, too."""
    if view.check is None or answer is None or by_edit(view):
        return answer == UNKNOWN
    return metrics.cannot_tell(view.check.task, answer)


def mark_of(view: CheckView) -> Mark:
    """What the outcome of the check means."""
    outcome = view.outcome("repaired")
    return "failed" if outcome == "failed" else OUTCOMES.get(outcome, "waiting")


def as_shown(answer: str | None) -> str:
    """An answer as it is shown; empty where none was read."""
    return "cannot tell" if answer == UNKNOWN else answer or ""


def calls_again(view: CheckView) -> tuple[str, ...]:
    """The calls of the fresh session."""
    trial = view.trials.get(SESSION)
    return trial.calls if trial else ()
