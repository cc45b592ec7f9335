"""Probe: let an interpreter loose on a black box whose truth is known."""

from __future__ import annotations

from urllib.parse import urlencode

import streamlit as st
from pydantic import ValidationError

from core import entry
from core.events import CallFailed
from core.labs.find.case import Case, case
from core.labs.find.functions.entities import concepts
from core.labs.find.functions.source import CATEGORIES, difficulties
from core.labs.find.tasks import BY_MODEL, CAN, FIRST_BACKBONE, NAMES, PROBES, ROUNDS, ProbeSpec
from core.runs.jobs import NoSuchRun
from core.runs.transcript import Transcript, transcript
from pages.parts import models, probe_case, probe_turn, session
from pages.parts.live import answered, named_run, progress, watch
from pages.parts.run import actions, go_on, problems

LAB = "find"
TITLES = {"numeric": "Numbers", "strings": "Texts", "entities": "Subjects", "relations": "Facts"}
SOURCES = {"drawn": "Drawn for you", "published": "From the benchmark", "own": "Your own"}
SHAPES = {
    "numeric": {"easy": "one curve", "medium": "noisy or corrupted", "hard": "two curves, or a network"},
    "strings": {"easy": "one step", "medium": "two steps", "hard": "random, or two with settings"},
    "entities": {"easy": "one subject", "hard": "either of two"},
    "relations": {"easy": "one fact", "hard": "with an exception"},
}
BACKBONES = {"table": "our word lists and facts", "embedding": "sentence embeddings", "model": "a language model"}
LINKED = ("category", "seed", "difficulty", "interpreter")
"""Settings that an address may hold."""

FIRST_SEED = 1753
"""Of medium difficulty, a straight line with a corrupted interval that the first control does not think to look for."""


def begin(spec: ProbeSpec, hold: bool) -> None:
    """Start a run; its id in the address brings a reload back to it."""
    st.query_params.clear()
    st.query_params["run"] = entry.jobs().start(LAB, spec, session.catalog().get)
    if hold:
        st.query_params["hold"] = "1"
    st.rerun()


def function_fields(category: str) -> dict[str, object]:
    """Which black box, as fields of the specification."""
    source = st.segmented_control(
        "Function", list(SOURCES), default="drawn", format_func=SOURCES.get, required=True, key="source",
        persist_state="session",
    ) or "drawn"  # fmt: skip
    if source == "published":
        left, right = st.columns([2, 1])
        folder = left.text_input(
            "Folder of the published set", key="find-dir", persist_state="session", placeholder="path/to/find-dataset",
            help="The folder that holds numeric/, strings/, neurons_entities/ and neurons_relations/. The set does not "
            "come with this app; its authors keep it at zenodo.org, DOI 10.5281/zenodo.8034162.",
        )  # fmt: skip
        id = right.text_input("Function", key="function", persist_state="session", placeholder="f00012")
        return {"find_dir": folder or None, "function": id}
    if source == "own":
        return own_fields(category)
    left, right = st.columns(2, vertical_alignment="bottom")
    with left:
        shapes = SHAPES[category]
        known = [*difficulties(category), "any"]  # type: ignore[arg-type]
        chosen = st.selectbox(
            "Difficulty",
            known,
            index=known.index("medium") if category == "numeric" else 0,
            format_func=lambda one: f"{one}: {shapes[one]}" if one in shapes else one,
            key=f"difficulty-{category}",
            persist_state="session",
        )
    with right:
        st.session_state.setdefault("seed", FIRST_SEED)
        seed = st.number_input("Seed", 0, 10**9, key="seed", persist_state="session", help="Each seed is a function.")
    return {"difficulty": None if chosen == "any" else chosen, "seed": int(seed)}


def own_fields(category: str) -> dict[str, object]:
    """A formula, a few lines of Python, pairs, or a subject."""
    kinds = {"numeric": ["code", "pairs"], "strings": ["code", "pairs"], "entities": ["concept"]}.get(
        category, ["pairs"]
    )
    words = {"code": "A formula or Python", "pairs": "Pairs"}
    kind = kinds[0]
    if len(kinds) > 1:
        kind = st.segmented_control(
            "As", kinds, default=kinds[0], format_func=words.get, required=True, key="own-kind",
            label_visibility="collapsed",
        ) or kinds[0]  # fmt: skip
    examples = {
        "code": "3 * x^2 + sin(x)" if category == "numeric" else "def f(x):\n    return x[::-1].upper()",
        "pairs": "1 -> 1\n2 -> 4\n3 -> 9" if category == "numeric" else "red -> stop\ngreen -> go",
    }
    if kind == "concept":
        known = [name for name, one in concepts().items() if not one.sensitive]
        text = " or ".join(
            st.multiselect(
                "One subject or two", known, key="own-concept", max_selections=2, accept_new_options=True,
                placeholder="chess, or any word of yours",
                help="Of a subject that is not listed only the name is known: its description cannot be tested.",
            )
        )  # fmt: skip
    else:
        text = st.text_area(
            f"{words[kind]}, run in the sandbox" if kind == "code" else f"{words[kind]}, one a line",
            key=f"own-{category}-{kind}", placeholder=examples[kind], height=110, persist_state="session",
        )  # fmt: skip
    if kind == "pairs":
        st.caption("What is not among the pairs has no output. Facts of your own can be probed, but not tested.")
    return {"own": text, "own_kind": kind}


def settings(category: str, interpreter: str, model: str) -> dict[str, object]:
    """The finer settings, folded away."""
    fields: dict[str, object] = {}
    with st.expander("Settings", icon=":material/tune:", key="settings"):
        left, right = st.columns(2)
        with left:
            if interpreter in ("aia", "aia+milan", "you"):
                fields["rounds"] = st.slider("Rounds", 1, 40, ROUNDS, key="rounds", persist_state="session")
            if interpreter != "milan":
                fields["probes"] = st.slider(
                    "Calls of the function", 5, 1000, PROBES, step=5, key="probes", persist_state="session"
                )
        with right:
            if category != "numeric":
                fields["evaluator"] = models.pick_or_none(
                    "Who takes the unit tests",
                    "nobody" if category == "strings" else "sentence embeddings",
                    key=f"evaluator-{category}",
                    lab=LAB,
                )
            if category in ("entities", "relations"):
                known = list(BACKBONES)
                fields["backbone"] = st.selectbox(
                    "What carries the function out", known, index=known.index(FIRST_BACKBONE[category]),
                    format_func=lambda one: BACKBONES[one], key=f"backbone-{category}", persist_state="session",
                )  # fmt: skip
                if fields["backbone"] == "model":
                    fields["module"] = models.pick_or_none("Its model", "choose one", key="module", lab="reliability")
            fields["rules"] = st.selectbox(
                "Rules of the dialogue", ["repaired", "paper"], key="rules", persist_state="session",
                help="How commands are read, and how drawn functions behave. The conclusion is read by both.",
            )  # fmt: skip
            if interpreter in ("aia", "aia+milan"):
                fields["tools"] = st.toggle(
                    "Native tool calls", key="tools", persist_state="session",
                    help="Offer the function as a tool, not by the paper's text command. Where the model's server "
                    "takes no tools, the agent goes on in text.",
                )  # fmt: skip
    return fields


def linked() -> None:
    """Take the form's settings from the address, once: one link opens the same task for a whole class."""
    asked = {name: st.query_params[name] for name in LINKED if name in st.query_params}
    if not asked or st.session_state.get("linked") == asked:
        return
    st.session_state["linked"] = asked
    category = asked.get("category", "numeric")
    if category not in CATEGORIES:
        return
    st.session_state["category"], st.session_state["source"] = category, "drawn"
    if asked.get("seed", "").isdecimal():
        st.session_state["seed"] = min(int(asked["seed"]), 10**9)
    if asked.get("difficulty") in (*difficulties(category), "any"):
        st.session_state[f"difficulty-{category}"] = asked["difficulty"]
    interpreter = asked.get("interpreter")
    if interpreter in CAN and interpreter != "given" and category in CAN[interpreter]:
        st.session_state[f"interpreter-{category}"] = interpreter


def link_to(spec: ProbeSpec) -> None:
    """The address that opens this form with the same function and interpreter."""
    told = {
        "category": spec.category,
        "seed": spec.seed,
        "difficulty": spec.difficulty or "any",
        "interpreter": spec.interpreter,
    }
    with st.popover("Link to this task", icon=":material/link:", type="tertiary", key="task-link"):
        st.caption("Opens this page with the same function and interpreter, truth unseen, for a class for instance.")
        address = f"{(st.context.url or '').split('?')[0]}?{urlencode(told)}"
        st.code(address, language=None, wrap_lines=True)


def form() -> None:
    """Which function, who interprets it, with what budget. Starts the run."""
    linked()
    named = st.query_params.get("run")
    folded = st.expander("Probe another function", icon=":material/experiment:", key="another") if named else None
    with folded or st.container(border=True, key="form"):
        category = st.segmented_control(
            "Category", list(CATEGORIES), default="numeric", format_func=TITLES.get, required=True, key="category",
            label_visibility="collapsed", persist_state="session",
        ) or "numeric"  # fmt: skip
        fields = function_fields(category)
        left, right = st.columns(2)
        able = [one for one in CAN if category in CAN[one] and one != "given"]
        with left:
            interpreter = st.selectbox(
                "Interpreter", able, format_func=lambda one: NAMES[one][0].upper() + NAMES[one][1:],
                key=f"interpreter-{category}", persist_state="session",
            )  # fmt: skip
        model = ""
        if interpreter in BY_MODEL:
            with right:
                model = models.pick("Model", key="model-probe", lab=LAB)
        name = ""
        if interpreter == "you":
            with right:
                name = st.text_input("Your name, for the list of runs", key="name", placeholder="optional")
        chosen = settings(category, interpreter, model)
        spec = None
        try:
            if "own" in fields and not str(fields["own"]).strip():
                raise ValueError("Write your function first.")
            if "function" in fields and not str(fields["function"]).strip():
                raise ValueError("Name a function of the published set, such as f00012, and its folder.")
            spec = ProbeSpec.model_validate(
                {"category": category, "interpreter": interpreter, "model": model, **fields, **chosen}
            )
            if name.strip():
                spec = spec.model_copy(update={"title": f"{spec.title} · {name.strip()[:60]}"})
        except (ValidationError, ValueError) as error:
            problems(error)
        with st.container(horizontal=True, vertical_alignment="center"):
            pressed = st.button(
                _label(spec, interpreter), type="primary", icon=":material/experiment:", key="probe",
                disabled=spec is None,
            )  # fmt: skip
            hold = False
            if interpreter != "you":
                hold = st.checkbox(
                    "Let me try before I see the truth",
                    key="hold",
                    persist_state="session",
                    help="What the interpreter finds stays hidden until you have probed the function yourself.",
                )
            if spec is not None and not spec.own and not spec.function:
                link_to(spec)
        if pressed and spec is not None:
            start(spec, hold)


def _label(spec: ProbeSpec | None, interpreter: str) -> str:
    if interpreter == "you":
        return "Begin"
    if spec is None:
        return "Probe"
    if spec.is_module and spec.backbone == "model":
        return f"Probe · at most {spec.calls + spec.probes} model calls"
    if not spec.calls:
        return "Probe · no model calls"
    return f"Probe · at most {spec.calls} model calls" if spec.calls > 1 else "Probe · 1 model call"


def start(spec: ProbeSpec, hold: bool) -> None:
    """Begin a run, unless the function or a model cannot be had."""
    try:
        with st.spinner("Getting the function ready …"):
            spec.load()
        for asked in spec.models:
            session.catalog().get(asked)
    except (CallFailed, ValueError) as error:
        problems(error)
        return
    begin(spec, hold)


def show(run_id: str) -> None:
    """The run, live while it goes on; or the reader's turn."""

    def draw(told: Transcript, active: bool) -> None:
        current = case(told)
        spec = current.spec
        if active and spec:
            share = max(len(current.exchanges) / (spec.rounds + 1), len(current.probes) / spec.probes)
            progress(run_id, share, f"{len(current.probes)} calls of the function, {answered(told)} of models")
        if spec and spec.interpreter == "you" and current.interpretation is None and not active:
            if told.failures:
                probe_case.stopped(told)
            probe_turn.turn(run_id, current)
        else:
            probe_case.draw(current, active, held=bool(st.query_params.get("hold")))

    if told := watch(run_id, "find", draw):
        after(run_id, told)


def after(run_id: str, told: Transcript) -> None:
    """What can be done once a run is over: go on, try it oneself, let an agent try, compare, share."""
    current = case(told)
    spec = current.spec
    if spec is None:
        return
    yours = spec.interpreter == "you"
    if not (yours and told.status == "completed"):
        go_on(run_id, told)
    if spec.beside and current.truth is not None:
        other = _other(spec.beside)
        if other is not None:
            probe_turn.beside(current, other)
    if st.query_params.get("hold"):
        with st.container(horizontal=True):
            if st.button("Your turn", icon=":material/front_hand:", type="primary", key="turn"):
                begin(_yours(spec, run_id), hold=False)
            if st.button("Show me the truth", icon=":material/visibility:", key="reveal"):
                del st.query_params["hold"]
                st.rerun()
        return
    if told.status != "completed" or (yours and current.truth is None):
        return
    actions(run_id, told, here="probe")
    with st.container(horizontal=True):
        if yours and not spec.beside:
            if st.button(
                "Let a small local model try it", icon=":material/smart_toy:", key="agent", help="A minute or two."
            ):
                other = {"interpreter": "aia", "model": "local/smollm2-135m", "beside": run_id}
                start(spec.model_copy(update=other), hold=False)
            if st.button("Let a robot try it", icon=":material/precision_manufacturing:", key="robot"):
                other = {"interpreter": "aia", "model": "control/straight", "beside": run_id}
                start(spec.model_copy(update=other), hold=False)
        if not spec.own and st.button("Try the next function yourself", icon=":material/front_hand:", key="turn"):
            begin(_yours(spec.model_copy(update=_next(spec)), ""), hold=False)
        if spec.model.startswith("control/") and st.button(
            "Now a real language model", icon=":material/smart_toy:", key="real"
        ):
            start(spec.model_copy(update={"model": "local/smollm2-135m", "rounds": min(spec.rounds, 8)}), hold=False)


def _yours(spec: ProbeSpec, beside: str) -> ProbeSpec:
    return spec.model_copy(update={"interpreter": "you", "model": "", "beside": beside})


def _next(spec: ProbeSpec) -> dict[str, object]:
    """The truth of this one is out: the next seed, drawn like it."""
    seed = spec.seed + 1
    fresh = ProbeSpec(category=spec.category, seed=seed, difficulty=spec.difficulty, interpreter="you")
    return {"seed": seed, "function": "", "find_dir": None, "title": fresh.title}


def _other(run_id: str) -> Case | None:
    try:
        return case(transcript(*entry.jobs().events(run_id)))
    except NoSuchRun:
        return None


st.title("Probe", anchor=False)
st.markdown(
    "Here is a black box, and we know what is in it. **Can a model find out by experiment, and say what it does?** "
    "It may call the function and nothing else; then its words and its code are held against the truth."
)
form()
named_run(show)
