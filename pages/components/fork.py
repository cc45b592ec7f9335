"""A new run from a finished one: a person edits one answer of a case, sees what would be asked again, and continues
from there; or another predictor predicts the same answers.
"""

from contextlib import suppress

import pandas as pd
import streamlit as st
from pydantic import ValidationError

from core import entry
from core.errors import ExplainError
from core.events import LONGEST_ANSWER, Fork
from core.labs.base.lab import Lab, Prerequisite
from core.labs.base.spec import Spec
from core.models.settings import cost, price_of
from core.runs.driver import ForkPlan, new_predictions, prerequisites_of
from core.store import predictors
from core.store.schema import table_of
from core.store.store import StoreError
from core.text.display import count_noun
from core.transcript import Call, Transcript
from pages import addresses
from pages.components import lab_page, session, widgets
from pages.components.tables import table
from pages.components.text import plain
from pages.components.throttle import waits
from pages.components.widgets import short


def draw(run_id: str, state: Transcript, call: Call, case: str) -> None:
    """Draw an editor for the answer of one call, with what depends on it and the button that starts the new run."""
    asked, before = call.asked, call.answered.text if call.answered else ""
    with st.container(border=True, key="fork"):
        st.markdown("#### Edit one answer and continue from there", anchors=False)
        st.caption(
            f"The {plain(asked.role)}'s answer, call {plain(asked.call)} of {plain(short(asked.model))}. Everything "
            "before it stays. Calls that depend on it are made again in a new run; this run is not changed."
        )
        with st.expander("What it answers", type="compact"):
            st.code(asked.messages[-1].content if asked.messages else "", language=None, wrap_lines=True)
        text = st.text_area(
            "The answer", value=before, key=f"fork-{run_id}-{asked.call}", max_chars=LONGEST_ANSWER, height="content"
        )
        fork = Fork(run=run_id, case=asked.case, call=asked.call, text=text)
        spec = _same_tests(state, call, case)
        ready = (text != before or call.answered is None) and _told(fork, spec)
        if text == before and call.answered is not None:
            st.caption("Change it and press Ctrl+Enter to see which calls must be made again.")
        with st.container(horizontal=True, vertical_alignment="center"):
            if st.button(
                "Continue from here", type="primary", icon=":material/fork_right:", key="fork-begin", disabled=not ready
            ):
                _begin(fork, spec, case if state.planned > 1 else "")
            if st.button("Cancel", type="tertiary", key="fork-leave"):
                del st.query_params["fork"]
                st.rerun()


def _same_tests(state: Transcript, call: Call, case: str) -> Spec | None:
    """Return the specification that keeps the case's tests, if they were made from the edited answer and the user wants
    to keep them; None otherwise.
    """
    lab = entry.labs()[state.started.lab] if state.started else None
    if lab is None or state.started is None or state.planned > 1 or call.asked.trial:
        return None
    view = lab.view(state.case(case))
    one = lab.listing.comparability.one if lab.listing.comparability else "test"
    help = f"Else new {one}s are made from the edited answer, and the two runs share few of them."
    try:
        spec = lab.spec.model_validate(state.started.spec)
        same = lab_page.page_of(lab).same(spec, state.started.run, view) if view.trials else None
    except ValidationError:
        return None
    return same if same and st.checkbox(f"Keep the same {one}s", key="fork-same", help=help) else None


def _told(fork: Fork, spec: Spec | None) -> bool:
    """Say what the fork will ask, and return whether it can be started."""
    try:
        with waits("Counting the calls that depend on it …"):
            plan = _planned(fork, spec, session.run(fork.run).file().st_size)
    except (ExplainError, ValueError) as error:
        session.problems(error)
        return False
    if not plan.applies:
        st.warning(
            "This version of the app uses a different prompt than the run did, so the edited answer would not fit.",
            icon=":material/edit:",
        )
        return False
    least = plan.least.total()
    if not least and plan.most:
        words = f"No call is certain to depend on it; at most {plan.most:,} if it changes what follows."
    elif not least:
        words = "No call depends on it: only its parse changes."
    else:
        who = ", ".join(f"{plain(short(model))} {n:,}" for model, n in plan.least.most_common())
        most = f", at most {plan.most:,} if new answers change what follows" if (plan.most or 0) > least else ""
        words = f"**Asked again: {least:,} {'call' if least == 1 else 'calls'}** ({who}){most}."
    st.markdown(f"{words} Kept from this run: {plan.kept:,}.{_price(plan)}")
    return True


@st.cache_data(max_entries=16, show_spinner=False)
def _planned(fork: Fork, spec: Spec | None, size: int) -> ForkPlan:
    return session.runs().plan(fork, spec)


def _price(plan: ForkPlan) -> str:
    """Return the price of the calls as far as it is known; empty if there are no calls."""
    if not plan.least:
        return ""
    known = cost(plan.again)
    if known is None:
        paid = sorted(model for model in plan.least if price_of(model) is None) or sorted(plan.least)
        return f" Price: *unknown*; the person who runs {plain(', '.join(map(short, paid)))} may charge for it."
    dollars, day = known
    if day is None:
        return " Price: nothing, because these models run here."
    about = f"about {dollars:.2f}" if dollars >= 0.01 else "less than 0.01"
    return f" Price: {about} US dollars, with as many tokens as before (prices of {day})."


def _begin(fork: Fork, spec: Spec | None, case: str) -> None:
    with session.reported(ExplainError):
        run = session.runs().fork(fork, session.catalog().get, spec)
        named = {"runs": f"{fork.run},{run}", **({"case": case} if case else {})}
        st.switch_page(addresses.SIDE, query_params=named)


def note(state: Transcript) -> None:
    """Say that the run continues from an edited answer of another run, and link to it."""
    if state.started is None or (fork := state.started.forked_from) is None:
        return
    with st.container(horizontal=True, vertical_alignment="center", key="forked-from"):
        st.caption(
            f":material/fork_right: A fork: a person wrote the answer of call {plain(fork.call)}. Everything that does "
            "not depend on it comes from another run."
        )
        st.page_link(addresses.CASE, label="The original run", query_params={"run": fork.run})


# Another predictor over a finished run: its questions and answers are reused, only the predictions are new; and the
# range of the figure over predictors.


ROLE = "simulator"


def draw_predictors(lab: Lab, run_id: str, state: Transcript) -> None:
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
    chosen = widgets.pick("Who predicts", "predictor-model", lab)
    if not chosen:
        return
    try:
        assert state.started is not None
        spec = lab.spec.model_validate(state.started.spec)
        going = new_predictions(lab, spec, run_id, (), chosen)
    except ValueError as error:
        session.problems(error)
        return
    calls = [call for call in state.calls.values() if call.asked.role == ROLE]
    again = [
        call.answered.usage for call in calls if call.answered is not None and call.asked.model == calls[0].asked.model
    ]
    price = cost((chosen, usage) for usage in again)
    paid = "The price is not known." if price is None else f"About ${price[0]:,.2f}." if price[1] else "No cost."
    st.markdown(
        f"About **{count_noun(len(again), 'call')}** of {plain(widgets.short(chosen))}, as many as before. {paid}"
    )
    for one in prerequisites_of(lab, going.spec).values():
        st.caption(plain(_test(one)))
    if st.button("Predict again", type="primary", key="predictor-begin"):
        with session.reported(ExplainError, ValueError):
            st.query_params["run"] = session.runs().repredict(run_id, chosen, session.catalog().get)
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
        found = predictors.figures_by_predictor(entry.keeper().store, run_id, lab.headline, tests, session.viewer())
        if len(found) < 2:
            return
        title = lab.metric(lab.headline).title_of_several
        st.markdown(f"**{plain(title)} by predictor, from the same stored answers**")
        rows = [
            {
                "Predictor": widgets.short(one.predictor),
                title: one.value,
                "95 % interval": "" if one.low is None or one.high is None else f"{one.low:.2f} to {one.high:.2f}",
                "Cases": f"{one.n} of {one.of}",
                "Its test": {True: "passed", False: "failed", None: "not taken"}[one.passed],
                "Run": f"/{addresses.CASE.stem}?run={one.run}",
            }
            for one in found
        ]
        config = {"Run": st.column_config.LinkColumn(display_text="open")}
        table(pd.DataFrame(rows), "predictors", f"Table of {title} by predictor", column_config=config)
        if (over := predictors.predictor_range(found)) is not None:
            st.caption(
                f"From {over.low:.2f} to {over.high:.2f} over {over.predictors} predictors that did not fail "
                "their test. This range is no confidence interval: it shows how much depends on who predicts."
            )
