"""The Methods page's section on the Probe lab, with a test of what carries entity functions out."""

from __future__ import annotations

import streamlit as st

from core.labs.find.functions.modules import Backbone
from core.labs.find.lab import LAB as PROBE
from core.labs.find.reliability.lab import LAB
from core.labs.find.reliability.view import ReliabilitySpec
from core.labs.find.tasks import NAMES
from core.labs.find.worthless import worthless
from core.published import source
from core.text.templates import PROMPTS, load
from pages import lab as driver
from pages.labs.find.form import TITLES
from pages.parts import models
from pages.parts.live import Shown, look, named_run, watched
from pages.parts.run import actions, go_on, problems
from pages.parts.tables import published
from pages.parts.text import plain

BACKBONES: dict[Backbone, str] = {
    "embedding": "sentence embeddings",
    "model": "a language model",
    "table": "word lists",
}


def draw() -> None:
    """Procedure, figures, rules, prompts, backbones and what the paper reported."""
    paper = source("find")
    st.header("Probe: black boxes whose truth is known", anchor=False)
    st.markdown(
        f"After {plain(paper['authors'])} {paper['year']}, *{plain(paper['title'])}* "
        f"(arXiv {plain(paper['arxiv'])}).\n\n"
        "1. A **function** is drawn: of numbers (16 kinds of curve, sums and products of two, noise, a corrupted "
        "interval, a small network in its place), of texts (67 steps, or two of them), an **entity** function (how "
        "much a word has to do with one of 140 subjects), or a **relation** (from a thing to a fact about it).\n"
        "2. An **interpreter** calls it. The agent (**AIA**) chooses its own inputs, by a text command as in the "
        "paper or by native tool calls; either can call the function and nothing else. **MILAN** is shown exemplars; "
        "**AIA + MILAN** begins with them. Two baselines use no language model: *fit* tries curves and short "
        "compositions, *nearest* compares words. And you can try.\n"
        "3. It **concludes** with a description, a domain and code. The code runs in a sandbox without files, network "
        "or modules; code that fails is told to the agent, and counts as a failure. Code that wants what Python or a "
        "package of it has and the sandbox has not is **not runnable here**: neither right nor wrong, and counted "
        "apart.\n"
        "4. Both are held against the **truth**, which stays hidden until then."
    )
    st.markdown(
        "**NMSE**: squared error of the code on 256 points from -127.5 to 127.5, over the squared size of the "
        "function; success is below 0.1. **Exact match**: the share of ten texts. **Unit test**: an evaluator reads "
        "the description and picks which of three examples is the function's, twenty times (the paper: "
        "ten); guessing gives one third, and the **ceiling** is what the same evaluator makes of the true description. "
        "Without a model the nearest sentence vector decides (entities, relations).\n\n"
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
    with st.expander("Robots that explain nothing", icon=":material/smart_toy:", key="probe-worthless"):
        st.markdown(
            "They pass a naive test. Here nothing may be gained by them; of subjects and facts what they say shares no "
            "word with the descriptions that tell nothing, which they have to beat:\n\n"
            + "\n".join(f"- `{id}`: {robot.about} It fools {robot.fools}." for id, robot in worthless().items())
        )
    _prompts()
    _backbones()
    published(PROBE, dict([*NAMES.items(), *TITLES.items()]), "probe-published")


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
    """Table A1 and figure A4 of the paper, for any backbone."""
    st.subheader("Can the entity functions be trusted?", anchor=False)
    st.markdown(
        "An entity function should be high for the words of its own subject and low for the words of others. Test what "
        "carries the functions out: our word lists, sentence embeddings, or any language model. It is a run like any "
        "other: kept, and every number leads to the raw answer behind it."
    )
    with st.container(border=True, key="reliability"):
        backbone: Backbone = st.segmented_control(
            "Backbone", list(BACKBONES), default="embedding", format_func=BACKBONES.__getitem__, required=True,
            key="reliability-backbone",
        ) or "embedding"  # fmt: skip
        model = ""
        if backbone == "model":
            model = models.pick_or_none("Its model", "choose one", key="reliability-model", lab=LAB)
        left, right = st.columns(2)
        with left:
            many = st.slider(
                "Subjects", 2, 140, 16 if backbone != "model" else 6, key=f"reliability-{backbone}-concepts"
            )
            across = st.checkbox("Every function on all their words", value=True, key="reliability-across")
        with right:
            words = st.slider(
                "Words of each", 1, 10, 5 if backbone != "model" else 2, key=f"reliability-{backbone}-words"
            )
        spec = None
        try:
            if backbone == "model" and not model:
                raise ValueError("Choose the language model that is to carry the functions out.")
            spec = ReliabilitySpec(backbone=backbone, model=model, concepts=many, words=words, across=across)
        except ValueError as error:
            problems(error)
        outputs = spec.outputs if spec else 0
        label = f"Measure · {outputs} model calls" if backbone == "model" and spec else "Measure"
        if st.button(label, icon=":material/speed:", key="measure", disabled=spec is None) and spec is not None:
            driver.start(LAB, spec, {})
    named_run(_show)


def _show(run_id: str) -> None:
    """The test, live while it goes on."""
    state, active = look(run_id)
    if state.started and state.started.lab != LAB.name:
        return
    watched(Shown(LAB, run_id, state, active))
    if not active:
        go_on(run_id, state)
        if state.status == "completed":
            actions(run_id, state, here="methods")
