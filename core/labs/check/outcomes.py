"""The outcome of a check's fresh session, in a few words."""

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
"""The mark of each outcome of a check; "failed" and "waiting" have their own."""


def by_edit(view: CheckView) -> bool:
    """Whether the explanation is an edited paragraph, not hidden words."""
    return view.check is not None and view.check.explanation == "counterfactual"


def is_implicit(view: CheckView) -> bool:
    """Whether the edit was to lead to any other answer, with no particular one requested."""
    return view.check is not None and view.check.task == "multi_choice" and view.check.wording.target == "implicit"


def edit_reached_target(view: CheckView) -> bool | None:
    """Whether the event that the card asks about happened: that the model can still tell, or that an edit led to its
    target. None if the answer could not be read.
    """
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
    """Return what a fresh session said, in a few words."""
    before = view.reading("before")
    if _is_untold(view, after):
        return "could not tell, as before" if _is_untold(view, before) else "could not tell"
    return f"still said {after}" if after == before else f"said {after}"


def _is_untold(view: CheckView, answer: str | None) -> bool:
    """Whether an answer says that it cannot tell; if words are hidden, a neutral answer means that too."""
    if view.check is None or answer is None or by_edit(view):
        return answer == UNKNOWN
    return metrics.cannot_tell(view.check.task, answer)


def mark_of(view: CheckView) -> Mark:
    """Return the mark of the check's outcome."""
    outcome = view.outcome
    return "failed" if outcome == "failed" else OUTCOMES.get(outcome, "waiting")


def as_shown(answer: str | None) -> str:
    """Return an answer as screens show it; an empty string if none was read."""
    return "cannot tell" if answer == UNKNOWN else answer or ""


def calls_again(view: CheckView) -> tuple[str, ...]:
    """Return the ids of the fresh session's calls."""
    trial = view.trials.get(SESSION)
    return trial.calls if trial else ()
