"""The form that writes a study's file; or the file as a text, or one that somebody has."""

from __future__ import annotations

from typing import Any

import streamlit as st

from core import entry, home
from core.events import CallFailed
from core.lab import Lab
from core.study import shelf
from core.study.compose import Composed, compose
from core.study.plan import LARGEST, BadStudy, Study, parse
from pages.parts import session
from pages.parts.pace import waits
from pages.parts.run import problems
from pages.parts.text import plain
from pages.parts.widgets import offered
from pages.study.settings import leads, values

WAYS = {"form": "With a form", "text": "As a text", "file": "From a file"}

EXAMPLE = """title = "Two robots"
lab = "ask"

[spec]
dataset = "world"

[grid]
model = ["control/steadfast", "control/fickle"]
"""


def draw() -> None:
    """How a new study is written, and the button that plans it."""
    way = st.segmented_control(
        "How do you want to write it?", list(WAYS), format_func=lambda one: WAYS[one], default="form", required=True,
        key="way", persist_state="session",
    )  # fmt: skip
    if way == "form":
        _form()
    elif way == "text":
        st.session_state.setdefault("study-text", EXAMPLE)
        text = st.text_area("The study, in TOML", key="study-text", height=320, max_chars=LARGEST,
                            persist_state="session")  # fmt: skip
        _offer(text)
    else:
        file = st.file_uploader("A study (.toml)", type=["toml"], max_upload_size=1, key="study-file")
        if file is not None:
            _offer(file.getvalue(), shelf.name_for(file.name.removesuffix(".toml")))


def edit(text: str) -> None:
    """Open that file as a text."""
    st.session_state["way"] = "text"
    st.session_state["study-text"] = text
    st.query_params.from_dict({"new": "1"})


def _form() -> None:
    labs = {lab.path: lab for lab in entry.labs().values() if not lab.hidden}
    with st.container(border=True, key="study-form"):
        title = st.text_input("What it is called", key="study-title", max_chars=120, persist_state="session",
                              placeholder="My first study")  # fmt: skip
        path = st.segmented_control(
            "What is measured", list(labs), format_func=lambda one: labs[one].title, default=next(iter(labs)),
            required=True, key="study-lab", persist_state="session",
        )  # fmt: skip
        lab = labs[path]
        st.caption(f"{lab.question} Choose several values of a setting, and each is tried with each other.")
        try:
            chosen = _settings(lab)
            general = _general(title)
            composed = compose(lab, chosen, {"title": title.strip() or "My first study", **general})
        except ValueError as error:
            problems(error)
            return
    _told(composed)
    _offer(composed.text)
    with st.expander("The file", icon=":material/description:", key="study-written"):
        st.code(composed.text, language="toml")
        st.button("Edit it as a text", icon=":material/edit:", key="study-edit", on_click=edit, args=[composed.text])


def _settings(lab: Lab) -> dict[str, list[Any]]:
    """What was chosen of each setting, where it is not what it would be anyway."""
    fields = offered(lab, frozenset())
    first = [name for name in fields if leads(name, fields[name])]
    rest = [name for name in fields if name not in first]
    # Who is asked comes first, and about what; whatever is only for repeats last.
    order = {"model": -4, "task": -3, "dataset": -2, "limit": -1, "seed": 1}
    first.sort(key=lambda name: order.get(name, 0))
    found: dict[str, list[Any]] = {}
    columns = st.columns(2)
    for number, name in enumerate(first):
        with columns[number % 2]:
            found[name] = values(lab, name, fields[name])
    with st.expander("More settings", icon=":material/tune:", key="study-more"):
        columns = st.columns(2)
        for number, name in enumerate(rest):
            with columns[number % 2]:
                found[name] = values(lab, name, fields[name])
    usual = {name: fields[name].get_default() for name in fields}
    return {
        name: list(dict.fromkeys(map(_kept, chosen)))
        for name, chosen in found.items()
        if chosen and [_kept(one) for one in chosen] != [_kept(usual[name])]
    }


def _kept(value: Any) -> Any:
    return tuple(value) if isinstance(value, list) else value


def _general(title: str) -> dict[str, Any]:
    """What holds for the whole study."""
    with st.expander("How it is run and read", icon=":material/speed:", key="study-general"):
        left, right = st.columns(2)
        with left:
            at_once = st.number_input("Runs at a time", 1, 64, 4, key="study-at-once", persist_state="session")
            budget = st.number_input(
                "Stop after so many calls", 1, None, None, step=100, key="study-budget", placeholder="no limit",
                help="Calls of models that are no robots; what was answered before counts too.",
                persist_state="session",
            )  # fmt: skip
        with right:
            rules = st.segmented_control(
                "Whose rules the tables follow", ["repaired", "paper"], default="repaired", required=True,
                key="study-rules", persist_state="session",
                help="Repaired: answers are read as today's models write. Paper: as the authors' own code read them.",
            )  # fmt: skip
            width = st.number_input(
                "Width of the interval that you want", 0.01, 0.99, None, step=0.05, key="study-width",
                placeholder="any", persist_state="session",
                help="The plan then says how many items it takes.",
            )  # fmt: skip
    return {"at_once": int(at_once), "rules": rules, "budget_calls": budget, "width": width}


def _told(composed: Composed) -> None:
    """How many runs it will be, and what is left out."""
    runs = composed.points - composed.left_out
    if composed.left_out:
        st.info(
            f"{composed.left_out} of {composed.points} combinations cannot be, and are left out: "
            + plain(" ".join(composed.why[:3])) + (" And more." if len(composed.why) > 3 else ""),
            icon=":material/grid_off:",
        )  # fmt: skip
    elif runs > 1:
        st.caption(f"{runs} combinations, a run for each.")


def parsed(name: str, content: bytes) -> Study:
    """The study of a file of that name and content. Raises BadStudy."""
    study = _parsed(name, content)
    if study.changed:
        _parsed.clear(name, content)
        study = _parsed(name, content)
    return study


@st.cache_resource(max_entries=64, show_spinner=False)
def _parsed(name: str, content: bytes) -> Study:
    return parse(name, content, entry.labs())


def _offer(content: str | bytes, name: str = "") -> None:
    """The buttons under a file that was written: it is looked at, and kept."""
    content = content if isinstance(content, bytes) else content.encode()
    try:
        with waits("Reading the file …"):
            study = parsed(f"{name or 'study'}.toml", content)
    except (BadStudy, CallFailed) as error:
        problems(error)
        return
    is_named = study.name != (name or "study")
    name = study.name if is_named else name or shelf.name_for(study.title) or "study"
    with st.container(horizontal=True, vertical_alignment="center"):
        keeps = session.runs().sees_all
        runs = len(study.all)
        if keeps and st.button(
            f"Plan it · {runs} runs", type="primary", icon=":material/checklist:", key="study-plan",
            help="The runs that you chose, and those of the controls. Nothing is asked yet.",
        ):  # fmt: skip
            _keep(name if is_named else shelf.free(home.home(), name, content), content)
        st.download_button(
            "Download the file", content, file_name=f"{name}.toml", mime="application/toml", icon=":material/download:",
            on_click="ignore", type="tertiary", key="study-download",
        )  # fmt: skip
        if not keeps:
            st.caption("Here only the host runs studies. Run the file on your own machine: "
                       "*python -m core study run FILE*.")  # fmt: skip


def _keep(name: str, content: bytes) -> None:
    try:
        with waits("Keeping the file …"):
            shelf.keep(home.home(), name, content, entry.labs())
    except (BadStudy, OSError) as error:
        problems(ValueError(str(error)))
        return
    st.query_params.from_dict({"study": name})
    st.rerun()
