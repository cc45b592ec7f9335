"""Another predictor over a finished run: its questions and answers are reused, only the predictions are new; and the
range of the figure over predictors.
"""

from __future__ import annotations

from contextlib import suppress

import pandas as pd
import streamlit as st

from core import entry
from core.events import CallError
from core.labs.base.lab import Lab, Prerequisite
from core.models.prices import cost
from core.runs.driver import new_predictions
from core.runs.prerequisites import prerequisites_of
from core.server.quotas import QuotaExceededError
from core.store import predictors
from core.store.schema import table_of
from core.store.store import StoreError
from core.text.plurals import count_noun
from core.transcript import Transcript
from pages import addresses
from pages.components import models, session
from pages.components.run import problems
from pages.components.tables import table
from pages.components.text import plain

ROLE = "simulator"


def draw(lab: Lab, run_id: str, state: Transcript) -> None:
    """Draw the choice of another predictor beside a completed run of a lab in which a model predicts, and below it the
    figure by each predictor with the range.
    """
    is_done = state.status == "completed" and state.started is not None
    if not is_done or ROLE not in lab.spec.model_fields or not session.visitor().takes_part:
        return
    with st.popover("Another predictor", icon=":material/psychology:", key="predictor", on_change="rerun") as shown:
        if shown.open:
            _form(lab, run_id, state)
    _band(lab, run_id)


def _form(lab: Lab, run_id: str, state: Transcript) -> None:
    st.caption("Its questions and answers are reused. Only the predictions are asked for.")
    chosen = models.pick("Who predicts", "predictor-model", lab)
    if not chosen:
        return
    try:
        assert state.started is not None
        spec = lab.spec.model_validate(state.started.spec)
        going = new_predictions(lab, spec, run_id, (), chosen)
    except ValueError as error:
        problems(error)
        return
    calls = [call for call in state.calls.values() if call.asked.role == ROLE]
    again = [
        call.answered.usage for call in calls if call.answered is not None and call.asked.model == calls[0].asked.model
    ]
    price = cost((chosen, usage) for usage in again)
    paid = "The price is not known." if price is None else f"About ${price[0]:,.2f}." if price[1] else "No cost."
    st.markdown(
        f"About **{count_noun(len(again), 'call')}** of {plain(models.short(chosen))}, as many as before. {paid}"
    )
    for one in prerequisites_of(lab, going.spec).values():
        st.caption(plain(_test(one)))
    if st.button("Predict again", type="primary", key="predictor-begin"):
        try:
            st.query_params["run"] = session.runs().repredict(run_id, chosen, session.catalog().get)
        except (QuotaExceededError, CallError, ValueError) as error:
            problems(error)
        else:
            st.rerun()


def _test(one: object) -> str:
    """Say how the predictor did in its qualification test, or that it will take it first."""
    if isinstance(one, Prerequisite):
        found = entry.jobs().result_of(one, session.runs().visitor.name)
        if found is None:
            return "It takes its qualification test first." if one.wanted else "It has taken no qualification test."
        one = found
    right, of, passed = (getattr(one, name, None) for name in ("right", "of", "passed"))
    return f"Its qualification test: {'passed' if passed else 'failed'}, {right} of {of}."


def _band(lab: Lab, run_id: str) -> None:
    tests = [table_of(test.result) for test in entry.TESTS if test.spec.role == ROLE]
    with suppress(StoreError):
        found = predictors.predicted(entry.keeper().store, run_id, lab.headline, tests, session.viewer())
        if len(found) < 2:
            return
        title = lab.metric(lab.headline).title_of_several
        st.markdown(f"**{plain(title)} by predictor, from the same stored answers**")
        rows = [
            {
                "Predictor": models.short(one.predictor),
                title: one.value,
                "95 % interval": "" if one.low is None or one.high is None else f"{one.low:.2f} to {one.high:.2f}",
                "Cases": f"{one.n} of {one.of}",
                "Its test": {True: "passed", False: "failed", None: "not taken"}[one.passed],
                "Run": f"/{addresses.CASE.stem}?run={one.run}",
            }
            for one in found
        ]
        table(
            pd.DataFrame(rows),
            "predictors",
            f"Table of {title} by predictor",
            column_config={"Run": st.column_config.LinkColumn(display_text="open")},
        )
        if (over := predictors.band(found)) is not None:
            st.caption(
                f"From {over.low:.2f} to {over.high:.2f} over {over.predictors} predictors that did not fail "
                "their test. This range is no confidence interval: it shows how much depends on who predicts."
            )
