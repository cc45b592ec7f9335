"""The state of a study in a sentence or two."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any, Literal, NamedTuple

from core.statistics import FEW
from core.studies.background import UnderWay
from core.studies.plan import Study
from core.studies.progress import CONTROLS, StudyProgress
from core.studies.tables import DIFFERENCES
from core.text.display import count_noun

State = Literal["new", "running", "pausing", "paused", "interrupted", "spent", "off", "failed", "done"]


class Badge(NamedTuple):
    """A badge's colour and word, and what it means."""

    colour: str
    badge: str
    words: str


def state_of(now: StudyProgress, going: UnderWay | None, off: Sequence[str]) -> State:
    """Return the state of the study, from its journals, from what this process knows, and from the results of its
    controls.
    """
    goes_on = going is not None and not going.over.is_set()
    if goes_on or now.status.get("running"):
        return "pausing" if now.paused else "running"
    if off:
        return "off"
    if now.ended == now.runs:
        return "done"
    begun = any(cell.answered or cell.completed for cell in now.cells if cell.cell != CONTROLS)
    if is_spent(now) or (going is not None and going.outcome.spent):
        return "spent"
    if now.paused and begun:
        return "paused"
    if now.status.get("failed") or (going is not None and (going.fault or going.outcome.failed)):
        return "failed"
    return "interrupted" if begun or now.status.get("interrupted") or now.status.get("cancelled") else "new"


def is_spent(now: StudyProgress) -> bool:
    """Whether a budget is used up."""
    calls = now.budget_calls is not None and now.paid >= now.budget_calls
    return calls or (now.budget_money is not None and now.money >= now.budget_money)


def status_badge(state: State, study: Study, now: StudyProgress, going: UnderWay | None, off: Sequence[str]) -> Badge:
    """Return the sentence under the title."""
    completed, kept = (
        f"{now.ended} of {count_noun(now.runs, 'run')} completed",
        "What was answered is kept",
    )
    match state:
        case "running":
            left = "" if now.minutes is None else f", about {minutes(now.minutes)} left"
            return Badge("blue", "running", f"{completed}{left}.")
        case "pausing":
            return Badge("orange", "pausing", f"No new calls; it waits for those under way. {completed}.")
        case "paused":
            return Badge("orange", "paused", f"No calls are made now; {completed}. {kept}.")
        case "interrupted":
            return Badge(
                "orange",
                "interrupted",
                f"It stopped early, for example because the app was closed; {completed}. {kept}, and not asked again.",
            )
        case "spent":
            return Badge("orange", "budget spent", f"The budget of {budget(study)} is used up; {completed}. {kept}.")
        case "off":
            why = "A robot with known behaviour was not measured as it must be, so no figure of this study is reliable."
            return Badge("red", "controls failed", " ".join([why, *off]))
        case "failed":
            reasons = dict.fromkeys([*now.stopped.values(), *(_of(going))])
            failed = now.status.get("failed", 0)
            of = f"{count_noun(failed, 'run')} failed; " if failed else ""
            return Badge("red", "stopped on an error", f"{of}{completed}. {' '.join(filter(None, reasons))}")
        case "done":
            lost = sum(now.failures.values())
            but = f" {count_noun(lost, 'call')} failed on the way; no figure counts them as answers." if lost else ""
            early = len(now.stopped_early)
            enough = f", {early} of them early: their intervals were narrow enough" if early else ""
            return Badge("green", "done", f"All {count_noun(now.runs, 'run')} completed{enough}.{but}")
    there = f"{completed} already, as controls or for other studies" if now.status.get("completed") else ""
    return Badge("gray", "planned", f"Not begun; {there}." if there else "Nothing was asked yet.")


def _of(going: UnderWay | None) -> list[str]:
    return [going.fault, *going.outcome.failed.values()] if going is not None else []


def finding(cells: Sequence[Mapping[str, Any]], called: Callable[[str], str]) -> str:
    """Return a sentence on the highest and lowest value of the first table of one figure; empty if there are not two
    values to compare. `called` returns the names of rows and columns.
    """
    own = [cell for cell in cells if cell["table"] not in ("Controls", "Power") and not cell["mixed"]]
    first = [cell for cell in own if cell["table"] == own[0]["table"] and cell["value"] is not None] if own else []
    if len(first) < 2:
        return ""
    low, high = min(first, key=lambda cell: float(cell["value"])), max(first, key=lambda cell: float(cell["value"]))
    if low["value"] == high["value"]:
        return f"{first[0]['table']}: {low['value']:.2f} for each of the {len(first)} compared."
    # What both have in common, such as the way to explain, does not distinguish them.
    alike = {low["row"], low["column"]} & {high["row"], high["column"]}
    ends = f"from {_figure(low, called, alike)} to {_figure(high, called, alike)}"
    return f"{first[0]['table']} goes {ends}.{_apart(cells, high, low)}"


def _apart(cells: Sequence[Mapping[str, Any]], high: Mapping[str, Any], low: Mapping[str, Any]) -> str:
    """Return how much the highest and the lowest value differ over the items that both have or, if this pair was not
    tested, how many pairs of the table differ. The overlap of two cells' intervals would not answer that.
    """
    pairs = [cell for cell in cells if cell["table"] == f"{high['table']}{DIFFERENCES}"]
    tested = [cell for cell in pairs if cell["p_holm"] is not None]
    for same, other in (("row", "column"), ("column", "row")):
        for cell in tested if high[same] == low[same] else ():
            ways = {f"{high[other]} over {low[other]}": 1, f"{low[other]} over {high[other]}": -1}
            if cell[same] == high[same] and (sign := ways.get(cell[other])):
                return _difference(cell, sign, len(tested))
    if not tested:
        return " They share no item on which all else is equal, so no difference is given." if pairs else ""
    far = sum(cell["p_holm"] <= LIKELY and cell["n"] >= FEW for cell in tested)
    return (
        f" Of {count_noun(len(tested), 'pair')} over the same items {far or 'none'} differ{'' if far > 1 else 's'} by "
        "more than chance."
    )


def _difference(cell: Mapping[str, Any], sign: int, tests: int) -> str:
    over = f" Over the {count_noun(cell['n'], 'item')} that both have the difference is {sign * cell['value']:.2f}"
    if cell["n"] < FEW:
        return f"{over}: fewer than {FEW}, an example and not a finding."
    known = None not in (cell["low"], cell["high"])
    low, high = sorted((sign * cell["low"], sign * cell["high"])) if known else (0.0, 0.0)
    between = f"{low:.2f} to {high:.2f}; " if known else ""
    p = "below 0.001" if cell["p_holm"] < 0.001 else f"{cell['p_holm']:.3f}"
    return f"{over} ({between}p {p}{f', for all {tests} pairs' if tests > 1 else ''})."


LIKELY = 0.05
"""A difference counts as more than chance if its corrected p is at most this."""


def _figure(cell: Mapping[str, Any], called: Callable[[str], str], alike: Collection[str]) -> str:
    names = " · ".join(called(name) for name in (cell["row"], cell["column"]) if name not in alike)
    return f"{cell['value']:.2f} ({names}, {count_noun(cell['n'], 'item')})"


def budget(study: Study) -> str:
    """Return the study's budget in words."""
    calls = [count_noun(study.budget_calls, "call")] if study.budget_calls else []
    return " or ".join(calls + ([f"{study.budget_money:.2f} US dollars"] if study.budget_money else []))


def minutes(number: float) -> str:
    """Return a time in words."""
    if number < 1:
        return "a minute"
    return f"{number:.0f} minutes" if number < 90 else f"{number / 60:.0f} hours"
