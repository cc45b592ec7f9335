"""Every wording of one paragraph's explanations at a glance."""

from __future__ import annotations

from collections.abc import Mapping

import streamlit as st

from core.labs.check.lab import LAB
from core.labs.check.tasks import in_words
from core.labs.check.view import agreement, name_of
from core.scene import Mark
from core.transcript import Progress
from pages.components.tiles import LOOKS

PERSONAS = ("objective", "human", "you")

_CELLS = {"faithful": "yes", "unfaithful": "no", "undecided": "open", "misclassified": "wrong at first", "waiting": "…"}
_MEANS: dict[str, Mark] = {**LAB.outcomes, "failed": "failed", "waiting": "waiting"}

OUTCOMES = {outcome: LOOKS[mark]._replace(words=_CELLS.get(outcome, outcome)) for outcome, mark in _MEANS.items()}
"""What a cell says of a case's outcome; a phone is narrow."""


def grid(cases: Mapping[str, Progress]) -> None:
    """Explanation and target or mask down, persona across; then how many agree, and one that was not kept to."""
    if len(cases) < 2:
        return
    outcomes = {
        case: str(progress.result["outcome_repaired"]) if progress.result else "waiting"
        for case, progress in cases.items()
    }
    lines: dict[str, dict[str, str]] = {}
    for case in cases:
        kind, _, wording = name_of(case).partition("/")
        persona, _, rest = wording.partition("-")
        lines.setdefault(f"{kind}, {rest.replace('-', ', ')}", {})[persona] = case
    personas = [persona for persona in PERSONAS if any(persona in line for line in lines.values())]
    several = len(cases) > len({name_of(case).partition("/")[0] for case in cases})
    agree = agreement(outcomes)
    flagged = agree.unfaithful if several else None
    cells = [f"| Kept to it? | {' | '.join(personas)} |", "|" + "---|" * (len(personas) + 1)]
    for name, line in lines.items():
        shown = [_cell(line.get(persona), outcomes, flagged) for persona in personas]
        cells.append(f"| {name} | {' | '.join(shown)} |")
    st.markdown("\n".join(cells))
    if not agree.decided:
        return
    pending = agree.planned - agree.decided
    rest = f"; {pending} of {agree.planned} decide nothing, do not count, or are under way" if pending else ""
    st.markdown(f"It kept to **{agree.faithful} of {agree.decided}** that count{rest}.")
    if flagged is not None:
        st.warning(
            f"{in_words(name_of(flagged))}, flagged above, is one that it was not consistent with. The paper "
            "considers a single such wording a problem: people who ask that way get a wrong explanation.",
            icon=":material/flag:",
        )


def _cell(case: str | None, outcomes: Mapping[str, str], flagged: str | None) -> str:
    if case is None:
        return ""
    look = OUTCOMES.get(outcomes[case], OUTCOMES["waiting"])
    icon = ":material/flag:" if case == flagged else look.icon
    return look._replace(icon=icon).badge()
