"""The Methods page's section on the Probe lab, with a test of what carries entity functions out."""

from __future__ import annotations

import asyncio

import pandas as pd
import streamlit as st

from core.charts import find as charts
from core.labs.find.functions.entities import EntityFunction, concepts
from core.labs.find.functions.modules import Backbone, Module, module
from core.labs.find.functions.reliability import reliability, selectivity
from core.labs.find.published import figures, source
from core.text.embed import NoEncoder
from core.text.templates import PROMPTS, load
from pages.parts.text import plain

_CONCEPTS = 16
"""So many concepts, one in nine, make a picture that can be read."""


def draw() -> None:
    """Procedure, figures, rules, prompts, backbones and what the paper reported."""
    paper = source()
    st.header("Probe: black boxes whose truth is known", anchor=False)
    st.markdown(
        f"After {plain(paper['authors'])} {paper['year']}, *{plain(paper['title'])}* "
        f"(arXiv {plain(paper['arxiv'])}).\n\n"
        "1. A **function** is drawn: of numbers (16 kinds of curve, sums and products of two, noise, a corrupted "
        "interval, a small network in its place), of texts (67 steps, or two of them), an **entity** function (how "
        "much a word has to do with one of 140 subjects), or a **relation** (from a thing to a fact about it).\n"
        "2. An **interpreter** calls it. The agent (**AIA**) chooses its own inputs by a command that can do nothing "
        "else; **MILAN** is shown exemplars; **AIA + MILAN** begins with them. Two baselines use no language model: "
        "*fit* tries curves and short compositions, *nearest* compares words. And you can try.\n"
        "3. It **concludes** with a description, a domain and code. The code runs in a sandbox without files, network "
        "or modules; what cannot be run is told to the agent, and counts as a failure.\n"
        "4. Both are held against the **truth**, which stays hidden until then."
    )
    st.markdown(
        "**NMSE**: squared error of the code on 256 points from -127.5 to 127.5, over the squared size of the "
        "function; success is below 0.1. **Exact match**: the share of ten texts. **Unit test**: an evaluator reads "
        "the description and picks which of three examples is the function's, ten times; guessing gives one third, and "
        "the **ceiling** is what the same evaluator makes of the true description. Without a model the nearest "
        "sentence vector decides (entities, relations).\n\n"
        "Ours, beyond the paper: the **noise floor** (what a perfect description would get), the **overlap** of "
        "claimed and real corrupted interval, whether noise and parts are named, the error **where nobody looked**, "
        "and an **audit** of the outputs that the interpreter quotes against the calls it made."
    )
    with st.expander("Paper rules and repaired rules", icon=":material/rule:", key="probe-rules"):
        st.markdown(
            "**Paper rules** read as the authors' code does: the first capitals with parentheses are the command, only "
            "what stands before the first comma is run, a conclusion ends the run even where its outputs are made up, "
            "a message without a command starts the dialogue anew, and a digit anywhere in the evaluator's reply "
            "counts. Drawn functions keep the quirks of the published scripts. **Repaired rules** take several "
            "inputs a call, run the command before a premature conclusion, answer made-up outputs with the real ones, "
            "tell the agent to conclude when its budget is used up, and leave out what cannot be read. The final "
            "answer is read by both, from the same text."
        )
    _prompts()
    _backbones()
    st.subheader("What the paper reported", anchor=False)
    st.dataframe(
        pd.DataFrame(figures()), hide_index=True, key="probe-published", alt="Published figures with their place"
    )


def _prompts() -> None:
    st.subheader("Prompts", anchor=False)
    names = sorted(path.stem for path in (PROMPTS / "find").glob("*.toml"))
    chosen = st.selectbox("Template", names, key="probe-template")
    if chosen:
        template = load(f"find/{chosen}")
        st.caption(f"{template.role} · version {template.version} · hash {template.hash}")
        system = f"[system]\n{template.system}\n\n" if template.system else ""
        st.code(f"{system}[user]\n{template.user}", language=None, wrap_lines=True)


def _backbones() -> None:
    """Table A1 and figure A4 of the paper, for the backbones that need no model."""
    st.subheader("Can the entity functions be trusted?", anchor=False)
    st.markdown(
        "An entity function should be high for its own words and low for the words of others. The paper's module "
        "(Vicuna-13b) has means of 0.846 and 0.079. Each row is a function, each column the words of one concept."
    )
    with st.container(horizontal=True, vertical_alignment="bottom"):
        backbone = st.segmented_control(
            "Backbone", ["table", "embedding"], default="table", required=True, key="reliability-backbone",
            label_visibility="collapsed",
        )  # fmt: skip
        if st.button("Measure", icon=":material/speed:", key="measure"):
            st.session_state["measured"] = backbone
    if not (measured := st.session_state.get("measured")):
        return
    try:
        with st.spinner("Asking every function about every word …"):
            means, matrix = _measured(measured)
    except NoEncoder as missing:
        st.warning(plain(str(missing)), icon=":material/extension_off:")
        return
    st.markdown(
        f"**{measured}**: own words **{means['same'].mean():.2f}**, words of other concepts "
        f"**{means['random'].mean():.2f}**, over {len(means)} concepts."
    )
    st.plotly_chart(
        charts.heat_map(matrix), key="selectivity", alt="Mean value of each function for each concept's words"
    )


@st.cache_data(max_entries=4, show_spinner=False)
def _measured(backbone: Backbone) -> tuple[pd.DataFrame, pd.DataFrame]:
    names = [name for name, concept in concepts().items() if not concept.sensitive][::9][:_CONCEPTS]

    def make(function: EntityFunction) -> Module:
        return module(function, backbone)

    async def both() -> tuple[pd.DataFrame, pd.DataFrame]:
        return await reliability(make, names), await selectivity(make, names)

    return asyncio.run(both())
