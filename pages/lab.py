"""The one page of every lab: the form made from its specification, then the run as a stage."""

from __future__ import annotations

from collections.abc import Callable
from itertools import islice

import streamlit as st
from pydantic import ValidationError

from core import entry
from core.events import CallFailed
from core.lab import MOST_CASES, Lab, Spec
from core.runs.allowance import TooMuch
from pages.parts import rooms, session
from pages.parts.live import named_run, stage
from pages.parts.pace import aside
from pages.parts.run import problems
from pages.parts.widgets import offered, widget


def draw(lab: Lab) -> None:
    """The page of `lab`: what it shows, what to ask, and the run that the address names."""
    st.title(lab.title, anchor=False)
    st.markdown(lab.about or f"**{lab.question}**")
    form(lab)
    named_run(lambda run_id: stage(lab, run_id))


def form(lab: Lab) -> None:
    """What is measured, of whom, and how. Starts the run. It folds away while a run is shown."""
    room = rooms.of(lab)
    named = st.query_params.get("run")
    folded = st.expander(f"{lab.title} again", icon=lab.icon, key="another") if named and lab.folds else None
    with folded or st.container(border=True, key=f"{lab.path}-form"):
        spec: Spec | None = None
        try:
            fields = room.fields()
            with st.expander("Settings", icon=":material/tune:", key="settings"):
                fields |= room.settings(fields)
                left, right = st.columns(2)
                for number, (name, field) in enumerate(offered(lab, room.drawn).items()):
                    with (left, right)[number % 2]:
                        fields[name] = widget(lab, name, field)
            spec = lab.spec.model_validate({name: value for name, value in fields.items() if value is not None})
            ready(lab.name, spec.model_dump_json())
        except (ValidationError, ValueError, CallFailed) as error:
            problems(error)
            spec = None
        with st.container(horizontal=True, vertical_alignment="center"):
            label = (room.button or _button(lab))(spec)
            pressed = st.button(label, type="primary", icon=lab.icon, key=lab.path, disabled=spec is None)
            query = room.beside(spec)
        if pressed and spec is not None:
            start(lab, spec, query)


@st.cache_data(max_entries=16, ttl=30, show_spinner="Looking at the files …")
def ready(name: str, spec: str) -> None:
    """What only a look at files can tell of a specification. Raises ValueError and CallFailed in words."""
    lab = entry.labs()[name]
    if lab.check is not None:
        lab.check(lab.spec.model_validate_json(spec))


def start(lab: Lab, spec: Spec, query: dict[str, str]) -> None:
    """Begin a run, unless a model or what it is about cannot be had; its id in the address brings a reload back."""
    try:
        with st.spinner("Getting ready …"), aside():
            if lab.check is not None:
                lab.check(spec)
        for model in spec.models:
            session.catalog().get(model)
        run_id = session.runs().start(lab.name, spec, session.catalog().get)
    except (CallFailed, ValueError, TooMuch) as error:
        problems(error)
        return
    st.query_params.clear()
    st.query_params.update({"run": run_id, **query})
    st.rerun()


@st.cache_data(max_entries=16, ttl=30, show_spinner=False)
def cases(name: str, spec: str) -> int:
    """How many cases a run would have. Raises ValueError and CallFailed in words."""
    lab = entry.labs()[name]
    return sum(1 for _ in islice(lab.cases(lab.spec.model_validate_json(spec)), MOST_CASES))


def _button(lab: Lab) -> Callable[[Spec | None], str]:
    def named(spec: Spec | None) -> str:
        if spec is None or lab.calls is None:
            return lab.title
        try:
            calls = lab.calls(spec, cases(lab.name, spec.model_dump_json()))
        except (ValueError, CallFailed):
            # What keeps the cases from being named is reported when the run begins.
            return lab.title
        return f"{lab.title} · {calls} {'call' if calls == 1 else 'calls'}"

    return named
