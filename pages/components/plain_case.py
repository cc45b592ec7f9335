"""The list of a run's cases, the same for every lab."""

from __future__ import annotations

from typing import Any

import pandas as pd
import streamlit as st

from core.transcript import CaseProgress, Transcript
from pages.components import tables


def case_label(progress: CaseProgress) -> str:
    """Return a case's name in a list: its number and title. It never changes, because a browser would mistake a changed
    name for another choice.
    """
    title = " ".join(progress.title.split())
    return f"{progress.number} · {title[:80]}{'…' if len(title) > 80 else ''}"


def choose(transcript: Transcript) -> str:
    """Let the reader choose a case."""
    names = {case: case_label(progress) for case, progress in by_number(transcript).items()}
    if not names:
        return ""
    known = st.query_params.get("case", "")
    key = f"chosen-case-{transcript.started.run if transcript.started else ''}"
    # The address says which case is shown, whether it was chosen here, in the table, or by a link.
    st.session_state[key] = known if known in names else next(iter(names))

    def chosen() -> None:
        st.query_params["case"] = st.session_state[key]

    return str(
        st.selectbox(
            "Case",
            list(names),
            format_func=lambda case: names[case],
            key=key,
            on_change=chosen,
            label_visibility="collapsed",
        )
    )


def by_number(transcript: Transcript) -> dict[str, CaseProgress]:
    """The cases of a run in the order in which they were begun."""
    return dict(sorted(transcript.cases.items(), key=lambda item: item[1].number))


def table(transcript: Transcript, run_id: str) -> None:
    """Draw a table of all cases; a click on one shows it above."""
    cases = by_number(transcript)
    rows: list[dict[str, Any]] = [
        {
            "": progress.number,
            "About": progress.title,
            "Outcome": (progress.result or {}).get("outcome_repaired", "not reached"),
            "Counted": f"{progress.result['counted']} of {progress.result['trials']}" if progress.result else "",
            "Verdict": str((progress.result or {}).get("verdict") or "").replace("*", ""),
            "Explanation": (progress.result or {}).get("explanation") or "",
            "With the original parser": (progress.result or {}).get("outcome_paper") or "",
        }
        for progress in cases.values()
    ]

    st.caption("Select a case to see it whole, above.")
    key, columns = f"cases-{run_id}", {"About": st.column_config.TextColumn(width="medium")}
    about = "Table of the run's cases with their outcomes"
    tables.table(pd.DataFrame(rows), key, about, column_config=columns, **tables.opens(list(cases), key))
