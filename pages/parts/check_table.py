"""All checks of a run in one table, and the same as data for the pictures."""

from __future__ import annotations

import pandas as pd
import streamlit as st

from core.labs.consistency.case import Case
from pages.parts.check_case import shown_key
from pages.parts.check_grid import STATES


def frame(case: Case, explanation: str | None = None) -> pd.DataFrame:
    """One row a check that was judged, of one explanation or of all, as `core.store.queries.checks` gives them."""
    found = [
        {
            "item": row.key,
            "paragraph": row.check.item.id,
            "explanation": row.check.explanation,
            "wording": row.found.wording,
            "label": row.found.label,
            "before": row.found.before_repaired,
            "after": row.found.after_repaired,
            "faithful": row.found.faithful_repaired,
            "reason": row.found.reason_repaired,
            "control": row.found.control_repaired,
            "distance": row.found.distance,
            "kept": row.found.kept,
            "masked": row.found.masked,
        }
        for row in case.rows.values()
        if row.found is not None and explanation in (None, row.check.explanation)
    ]
    return pd.DataFrame(found)


def scores(case: Case) -> pd.DataFrame:
    """The figures of each wording, as `core.store.queries.check_scores` gives them."""
    told = case.told
    found = []
    for score in told.scores.values():
        explanation, _, wording = score.item.partition("/")
        if score.metric == "faithfulness" and score.rules == "repaired" and wording and case.spec:
            control = told.score("faithfulness_control", "repaired", score.item)
            found.append({
                **case.spec.model_dump(include={"model", "task", "title"}), "run": score.run,
                "explanation": explanation, "wording": wording, "faithfulness": score.value, "low": score.low,
                "high": score.high, "n": score.n, "of": score.of, "control": control.value if control else None,
            })  # fmt: skip
    return pd.DataFrame(found)


def draw(run_id: str, case: Case) -> None:
    """The table; a selected check is shown above with its three sessions."""
    checks = frame(case)
    if checks.empty:
        return

    def show() -> None:
        rows = st.session_state[f"checks-{run_id}"]["selection"]["rows"]
        if rows:
            one = checks.iloc[rows[0]]
            st.session_state[shown_key(case, "item")] = str(one["paragraph"])
            st.session_state[shown_key(case, "explanation")] = str(one["explanation"])
            st.session_state[shown_key(case, f"wording-{one['explanation']}")] = str(one["wording"])

    st.subheader("All checks", anchor=False)
    st.caption("Select one to see its three sessions above.")
    table = pd.DataFrame(
        {
            "Paragraph": checks["paragraph"],
            "Explanation": checks["explanation"],
            "Wording": checks["wording"].str.replace("-", ", "),
            "Correct": checks["label"],
            "First answer": checks["before"],
            "Asked afresh": checks["after"],
            "Verdict": [STATES[state].words for state in checks["faithful"]],
            "Random masks": checks["control"],
            "Masked": checks["masked"],
            "Kept": checks["kept"],
            "Undecided because": checks["reason"],
        }
    )
    share = st.column_config.NumberColumn(format="percent")
    st.dataframe(
        table,
        hide_index=True,
        on_select=show,
        selection_mode="single-row",
        key=f"checks-{run_id}",
        alt="Table of all checks with both answers and the verdict",
        column_config={"Random masks": share, "Masked": share, "Kept": share},
    )
