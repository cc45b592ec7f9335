"""Every wording of one paragraph's explanations at a glance."""

from __future__ import annotations

from typing import NamedTuple

import streamlit as st

from core.labs.consistency.case import Row, State, agreement

PERSONAS = ("objective", "human", "you")

SHORT: dict[State, str] = {"yes": "yes", "no": "no", "undecided": "open", "failed": "failed", "waiting": "…"}
"""What a cell says; a phone is narrow."""


class Look(NamedTuple):
    """How a state looks: words, colour and icon."""

    words: str
    colour: str
    icon: str


STATES: dict[State, Look] = {
    "yes": Look("faithful", "green", ":material/check_circle:"),
    "no": Look("not faithful", "red", ":material/cancel:"),
    "undecided": Look("undecided", "gray", ":material/help:"),
    "failed": Look("failed", "orange", ":material/error:"),
    "waiting": Look("under way", "gray", ":material/hourglass_empty:"),
}


def grid(rows: list[Row]) -> None:
    """Explanation and target or mask down, persona across; then how many agree, and one wording that is unfaithful."""
    lines: dict[str, dict[str, Row]] = {}
    for row in rows:
        persona, _, rest = row.key.rpartition("/")[2].partition("-")
        lines.setdefault(f"{row.check.explanation}, {rest.replace('-', ', ')}", {})[persona] = row
    personas = [persona for persona in PERSONAS if any(persona in line for line in lines.values())]
    several = len(rows) > len({row.check.explanation for row in rows})
    agree = agreement(rows)
    cells = [f"| Faithful? | {' | '.join(personas)} |", "|" + "---|" * (len(personas) + 1)]
    for name, line in lines.items():
        shown = [_cell(line.get(persona), agree.unfaithful if several else None) for persona in personas]
        cells.append(f"| {name} | {' | '.join(shown)} |")
    st.markdown("\n".join(cells))
    if not agree.decided:
        return
    pending = agree.planned - agree.decided
    rest = f"; {pending} of {agree.planned} decide nothing or are under way" if pending else ""
    st.markdown(f"**{agree.faithful} of {agree.decided}** that are decided are faithful{rest}.")
    if several and agree.unfaithful is not None:
        st.warning(
            f"{agree.unfaithful.name}, flagged above, is not faithful. The paper holds one such wording to be a "
            "problem in itself: whoever asks in that way is told what is not so.",
            icon=":material/flag:",
        )


def _cell(row: Row | None, flagged: Row | None) -> str:
    if row is None:
        return ""
    look = STATES[row.state()]
    icon = ":material/flag:" if row is flagged else look.icon
    return f":{look.colour}-badge[{icon} {SHORT[row.state()]}]"
