"""All checks of a run in one table, and the paper's pictures of them."""

from __future__ import annotations

import pandas as pd
import streamlit as st

from core.labs.check import charts
from core.labs.check.lab import LAB
from core.labs.check.records import Consistency
from core.labs.check.scene import WORDS
from core.transcript import Transcript
from core.transcript import name_of as record_name
from pages.components import plain_case, session, tables
from pages.components.run import size
from pages.components.throttle import waits
from pages.labs.check.form import EXPLANATIONS


@st.cache_data(max_entries=8, show_spinner=False)
def checks(run_id: str, size: int) -> pd.DataFrame:
    """One row a check that was judged: case, paragraph, explanation, wording, label, before, after, faithful, …"""
    state = session.run(run_id).watch().transcript
    rows = []
    for case in plain_case.by_number(state):
        for data in state.case(case).of(record_name(Consistency)).values():
            kept = ("paragraph", "explanation", "wording", "label", "distance", "kept", "masked")
            read = {name: data.get(f"{name}_repaired") for name in ("before", "after", "faithful", "reason", "control")}
            rows.append({"case": case, **{name: data.get(name) for name in kept}, **read})
    return pd.DataFrame(rows)


def draw(transcript: Transcript, run_id: str) -> None:
    """The table, where a selected check is shown above; over several paragraphs the pictures."""
    with waits("Reading the checks …"):
        frame = checks(run_id, size(run_id))
    if frame.empty:
        plain_case.table(transcript, run_id)
        return

    st.subheader("All checks", anchor=False)
    st.caption("Select one to see its sessions above.")
    words = {case: one.result["outcome_repaired"] for case, one in transcript.cases.items() if one.result}
    table = pd.DataFrame(
        {
            "Paragraph": frame["paragraph"],
            "Explanation": frame["explanation"],
            "Wording": frame["wording"].str.replace("-", ", "),
            "Correct": frame["label"],
            "First answer": frame["before"],
            "Asked afresh": frame["after"],
            "Verdict": [_word(words.get(case, "")) for case in frame["case"]],
            "Random masks": frame["control"],
            "Masked": frame["masked"],
            "Kept": frame["kept"],
            "Undecided because": frame["reason"],
        }
    )
    share = st.column_config.NumberColumn(format="percent")
    key, columns = f"checks-{run_id}", {"Random masks": share, "Masked": share, "Kept": share}
    about = "Table of all checks with both answers and the verdict"
    tables.table(table, key, about, column_config=columns, **tables.opens(list(frame["case"]), key))
    tables.as_csv(table, key)
    if frame["paragraph"].nunique() > 1:
        _pictures(transcript, frame)


def _word(outcome: str) -> str:
    """What a screen calls an outcome."""
    return WORDS.get(LAB.means(outcome), outcome) if outcome in ("faithful", "unfaithful") else outcome


def _pictures(transcript: Transcript, frame: pd.DataFrame) -> None:
    st.subheader("Before and after", anchor=False)
    for kind, title in EXPLANATIONS.items():
        of_kind = frame[frame["explanation"] == kind]
        if len(of_kind):
            st.markdown(title)
            st.plotly_chart(
                charts.classes(of_kind),
                key=f"classes-{kind}",
                alt=f"{kind}: for each label and first answer, the answers after the edit",
            )
    scores = _by_wording(transcript)
    if len(scores):
        st.subheader("By wording", anchor=False)
        st.plotly_chart(
            charts.faithfulness(scores), key="by-wording", alt="Faithfulness of each wording with intervals"
        )


def _by_wording(transcript: Transcript) -> pd.DataFrame:
    """The figures of each wording, as `core.labs.check.charts.faithfulness` takes them."""
    spec = transcript.started.spec if transcript.started else {}
    rows = []
    for score in transcript.scores:
        explanation, _, wording = score.item.partition("/")
        if score.metric == "faithfulness" and score.rules == "repaired" and wording and not score.case:
            control = transcript.score("faithfulness_control", "repaired", score.item)
            rows.append({
                **{name: spec.get(name) for name in ("model", "task", "title")}, "run": score.run,
                "explanation": explanation, "wording": wording, "faithfulness": score.value, "low": score.low,
                "high": score.high, "n": score.n, "of": score.of, "control": control.value if control else None,
            })  # fmt: skip
    return pd.DataFrame(rows)
