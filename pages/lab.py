"""The page of every lab: the form made from its specification, then the run on the stage."""

from typing import Any

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from core import entry
from core.events import CallError
from core.labs.base.lab import Lab
from core.labs.base.spec import Spec
from core.report.scenes import who
from core.runs.library import RunNotFoundError, RunSealedError
from core.scene import Step
from core.store.filters import Filter
from pages import addresses
from pages.components import lab_page, recordings, run_view, session, side_by_side
from pages.components.text import plain, shortened
from pages.components.throttle import waits
from pages.components.widgets import short

CHANGING = "changing"
"""Session key of the run whose form is open again."""


BEGUN = "begun"
"""Session key: whether a run was started just now."""

LINE = (5, 6, 4)
"""Relative widths of model, question and button."""

TO_THE_TOP = "<script>document.querySelector('[data-testid=stMain]').scrollTo(0, 0)</script>"
"""Scrolls up: the button may be far down the page, and its result appears at the top."""


def draw(lab: Lab) -> None:
    """Draw the page of `lab`: its introduction and form, or the run that the address names."""
    run_id = st.query_params.get("run", "")
    try:
        shown = run_view.Shown(lab, run_id, *run_view.load_run(run_id), take_step) if run_id else None
    except RunSealedError:
        st.switch_page(addresses.CASE, query_params=st.query_params.to_dict())
    except RunNotFoundError as error:
        st.error(plain(str(error)), title=error.title, icon=":material/error:")
        shown = None
    if shown is None:
        st.title(lab.title, anchor=False)
        st.markdown(lab.about or f"**{lab.question}**")
        recordings.links(lab)
        form(lab)
        first_runs(lab)
        return
    menu = draw_start_summary(shown)
    if st.session_state.get(CHANGING) == run_id:
        form(lab)
    run_view.page(shown, menu)
    if st.session_state.pop(BEGUN, False):
        st.html(TO_THE_TOP, unsafe_allow_javascript=True)


def first_runs(lab: Lab) -> None:
    """Draw the buttons that need no input: they run robots whose faithfulness is known, one or several side by side, or
    begin in the lab's own way.
    """
    first = lab.robots.demo_run()
    with st.container(horizontal=True, key=f"first-{lab.path}"):
        if first and st.button(first.words, icon=":material/play_arrow:", key=f"show-{lab.path}", help=first.help):
            start(lab, first.spec, {})
        side_by_side.first(lab)
        lab_page.page_of(lab).begin()


def draw_start_summary(shown: run_view.Shown) -> DeltaGenerator:
    """Summarise the run's settings in one line, with a button that opens the form filled in with the same settings.
    Returns a place in that line for the run's menu.
    """
    lab, run_id, spec = shown.lab, shown.run, shown.spec
    is_open = st.session_state.get(CHANGING) == run_id

    def turn() -> None:
        if is_open:
            del st.session_state[CHANGING]
        else:
            change(lab, run_id, spec)

    words, icon = ("Close", ":material/close:") if is_open else ("Change", ":material/edit:")
    with st.container(horizontal=True, vertical_alignment="center", gap="xsmall", key="line"):
        model = str(getattr(spec, "model", ""))
        about = shown.lab_page.line(spec)[1:] if spec else []
        about = [who(model).shown if one in (model, short(model)) else one for one in about]
        st.markdown(f":gray[{' · '.join(plain(shortened(one)) for one in (lab.title, *about) if one)}]")
        st.button(words, icon=icon, type="tertiary", key="change", on_click=turn)
        return st.container(width="content")


def change(lab: Lab, run_id: str, spec: Spec | None, **fields: Any) -> None:
    """Open the form of the run that is shown, filled in with its settings; `fields` replace some of them."""
    st.session_state[CHANGING] = run_id
    if spec is not None:
        st.session_state.update(lab_page.page_of(lab).fill(spec.model_copy(update=fields)))


def form(lab: Lab) -> None:
    """Draw the form: model, question and button in one line, and everything else folded. Starts the run when the button
    is pressed.
    """
    page = lab_page.page_of(lab)
    with st.container(border=True, gap="xsmall", key=f"{lab.path}-form"):
        model, question, last = st.columns(LINE, vertical_alignment="bottom")
        below, foot = st.container(), st.container(horizontal=True, vertical_alignment="center")
        more = st.expander("More options", icon=":material/tune:", type="compact", key="settings")
        spec: Spec | None = None
        try:
            fields = page.fields(lab_page.FormPlaces(model, question, below, more))
            spec = lab.spec.model_validate({name: value for name, value in fields.items() if value is not None})
            named = {name for name, value in fields.items() if value}
            spec = lab.choose_models(spec, named, session.catalog().is_at_hand, session.runs().results)
            with waits("Counting the calls …"):
                ready(lab.name, spec.model_dump_json())
        except (ValueError, CallError) as error:
            with below:
                session.problems(error)
            spec = None
        with last:
            pressed = st.button(
                page.button(spec), type="primary", icon=lab.icon, key=lab.path, disabled=spec is None, width="stretch"
            )
        with foot:
            query = page.beside(spec)
        if pressed and spec is not None:
            start(lab, spec, query)


@st.cache_data(max_entries=16, ttl=30, show_spinner=False)
def ready(name: str, spec: str) -> None:
    """Check a specification against the files that it names. Raises ValueError and CallError with messages for the
    user.
    """
    lab = entry.labs()[name]
    lab.check(lab.spec.model_validate_json(spec))


def start(lab: Lab, spec: Spec, query: dict[str, str]) -> None:
    """Start a run and put its id into the address, so that a reload shows it. Problems with a model or data set are
    reported instead.
    """
    if run_id := begin(lab, spec):
        st.query_params.clear()
        st.query_params.update({"run": run_id, **query})
        st.rerun()


def begin(lab: Lab, spec: Spec) -> str:
    """Start a run that this page will show from its top, and return its id; an empty string if there is a problem,
    which is reported.
    """
    run_id = session.begin(lab, spec)
    st.session_state[BEGUN] = bool(run_id)
    return run_id


def take_step(shown: run_view.Shown, step: Step) -> None:
    """Carry out the next step after a verdict."""
    lab, spec, page = shown.lab, shown.spec, shown.lab_page
    # Anyone who guessed first does so again.
    query = {page.guess_param: entry.new_reader()} if page.guess_param in st.query_params else {}
    match step:
        case "predict":
            st.query_params[page.guess_param] = entry.new_reader()
            st.rerun()
        case "real" | "longer" if (first := shown.next_run(step)) is not None:
            start(lab, first.spec, {**query, **first.query})
        case "failures":
            recordings = session.run(shown.run).is_recording()
            those = Filter({"outcome": tuple(lab.that_mean("broken"))}, runs=(shown.run,), recordings=recordings)
            st.switch_page(addresses.BROWSE, query_params=those.query())
        case "compare" if spec is not None:
            side_by_side.choose(lab, spec, shown.run, shown.state)
