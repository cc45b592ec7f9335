"""How far a run in progress is, in words: by its cases or its calls, and what it is waiting for."""

from pydantic import ValidationError

from .. import policy
from ..events import Frozen
from ..labs.base.lab import Lab
from ..server.jobs import JobRunner
from ..text.display import count_noun
from ..transcript import Transcript


class HowFar(Frozen):
    """A run's progress: the `share` that is done, from 0 to 1. If `around` changes, what is shown around the case (such
    as the list of cases) is outdated.
    """

    share: float
    words: str
    around: str


OVER = HowFar(share=1.0, words="", around="over")
"""The progress of a run that has ended, for people who may not see its end yet."""


def how_far(jobs: JobRunner, lab: Lab | None, run: str, state: Transcript) -> HowFar:
    """The progress of the run whose events so far are in `state`. Raises RunNotFoundError."""
    ended = sum(one.is_over for one in state.cases.values())
    around = (state.started is not None, state.planned, ended, bool(jobs.prior(run)))
    share, words = _done(lab, state, ended)
    if (others := jobs.in_line(run)) is not None:
        words = (
            f"The server is busy (limit: {policy.limit('runs_of_all')}), so this run waits in the queue: "
            f"{_first(others)}. It starts by itself; you can close this page."
        )
    elif others := jobs.people_ahead(run):
        words += f" · waiting for its turn: {_first(others)}"
    return HowFar(share=min(max(share, 0.0), 1.0), words=words, around=" ".join(map(str, around)))


def _first(others: int) -> str:
    return f"{others} {'other is' if others == 1 else 'others are'} ahead" if others else "it is next"


def _done(lab: Lab | None, state: Transcript, ended: int) -> tuple[float, str]:
    if lab and lab.run_summary.last_step and ended == state.planned > 0:
        return 1.0, lab.run_summary.last_step
    if state.planned > 1:
        calls = count_noun(state.finished_calls, "call")
        return (
            ended / state.planned,
            f"{ended} of {state.planned} {lab.run_summary.case_noun if lab else 'case'}s · {calls}",
        )
    most = _most(lab, state)
    return (
        state.finished_calls / most if most else 0.0,
        f"{state.finished_calls} of about {most} calls answered" if most else f"{state.finished_calls} calls answered",
    )


def _most(lab: Lab | None, state: Transcript) -> int:
    """The most calls that the run can make; 0 if that is not known."""
    if lab is None or state.started is None:
        return 0
    try:
        return lab.calls(lab.spec.model_validate(state.started.spec), 1) or 0
    except ValidationError:
        return 0
