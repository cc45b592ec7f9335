"""A judge model for the filtered cases: one question, answered with the labels of the visitor's own scheme. It is
tested on the visitor's own labels first, and calls and price are shown before it runs.
"""

import streamlit as st

from core import entry
from core.events import CallError
from core.judging.lab import CASE, LAB, METRIC, ToAsk, to_ask
from core.runs.labels import Scheme
from core.runs.library import RunNotFoundError
from core.server.quotas import QuotaExceededError
from core.store.listing import Selection
from core.text.display import count_noun
from core.transcript import Transcript, transcript
from pages import addresses
from pages.components import labels, session, widgets
from pages.components.run import named_in_address
from pages.components.text import plain
from pages.components.throttle import waits


def draw(looked: Selection) -> None:
    """Draw the button with the form."""
    with st.popover("Judge", icon=":material/gavel:", type="tertiary", key="judge", on_change="rerun") as shown:
        if shown.open:
            _form(looked)


def _form(looked: Selection) -> None:
    known = [one for one in labels.schemes() if not one.several]
    st.markdown("**Let a model label these cases**")
    if not known:
        st.caption(
            "First make a label scheme with one label per case (next to an open case), and label at least 20 cases."
        )
        return
    scheme = st.selectbox("Label scheme", known, format_func=lambda one: one.shown, key="judge-scheme")
    question = st.text_input(
        "Question about each explanation", value=scheme.shown, max_chars=1_000, key="judge-question"
    ).strip()
    model = widgets.pick("Judge", "judge-model", LAB)
    if not question or not model:
        return
    try:
        session.catalog().get(model)
    except CallError as error:
        session.problems(error)
        return
    if (test := _counted(looked, scheme, model, question, is_test=True)) is None:
        return
    passed = _test(test)
    if passed is None:
        return
    # Cases are read from their journals, which may take seconds for many.
    if not st.toggle("Count the calls for the filtered cases", key="judge-count"):
        return
    if (whole := _counted(looked, scheme, model, question, is_test=False)) is None:
        return
    st.markdown(f"{_calls(whole)} {test.labelled} of them have already been answered.")
    for why, n in whole.left_out.items():
        st.caption(plain(f"{count_noun(n, 'case')} left out: {why}."))
    _begin(whole, "Judge them" if passed else "Judge them anyway", "judge-all")


def _counted(looked: Selection, scheme: Scheme, model: str, question: str, is_test: bool) -> ToAsk | None:
    """Return what will be asked; None, with the reason on the page, if nothing can be."""
    try:
        with waits("Reading the cases …"):
            return to_ask(looked, _read, scheme, session.runs().labeller, model, question, is_test)
    except ValueError as error:
        st.info(plain(str(error)), icon=":material/label:")
        return None


def _read(run_id: str) -> Transcript:
    return transcript(session.run(run_id).events())


def _test(test: ToAsk) -> bool | None:
    """Draw the judge's test, and return whether it passed; None while there is no result."""
    made = list(session.runs().runs_of_spec(LAB, test.spec))
    judged = [(run, state, score) for run, state in made if (score := state.score(METRIC, "repaired")) and score.n]
    if not judged:
        st.markdown(f"**Test on your own labels:** {_calls(test)}")
        if made:
            run_id, state = made[0]
            st.warning(plain(LAB.view(state.case(CASE)).sentences()[0]), icon=":material/error:")
            _to_run(run_id, "See the last test")
        _begin(test, "Test the judge", "judge-test")
        return None
    run_id, state, score = judged[0]
    passed = bool(score.detail.get("passed"))
    (st.success if passed else st.warning)(plain(LAB.view(state.case(CASE)).sentences()[0]), icon=LAB.icon)
    _to_run(run_id, "See each judgement of the test")
    return passed


def _calls(asked: ToAsk) -> str:
    """Say how many calls there are, and what they cost."""
    price = asked.price
    said = f"{count_noun(len(asked.cases), 'call')} to {plain(widgets.short(asked.spec.model))}."
    if price is None:
        return f"{said} The price is not known."
    return f"{said} About ${price[0]:,.2f} (prices of {price[1]:%d %B %Y})." if price[1] else f"{said} No cost."


def _begin(asked: ToAsk, words: str, key: str) -> None:
    if not st.button(words, type="primary", key=key):
        return
    try:
        run_id = session.runs().start(LAB.name, asked.spec, session.catalog().get, asked.inputs)
    except (QuotaExceededError, CallError) as error:
        session.problems(error)
        return
    if asked.spec.is_test:
        # A test is short: its result appears here.
        with waits("Testing the judge …"):
            entry.jobs().wait(run_id, 60)
        st.rerun()
    _to_run(run_id, "Follow the run")


def _to_run(run_id: str, words: str) -> None:
    try:
        st.page_link(addresses.CASE, label=words, icon=LAB.icon, query_params=named_in_address(run_id))
    except RunNotFoundError:
        st.caption("The run has not started yet.")
