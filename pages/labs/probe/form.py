"""Which function, which interpreter, and with what budget: the hand-written parts of Probe's form."""

from __future__ import annotations

import asyncio
import json
from typing import Any
from urllib.parse import urlencode

import streamlit as st

from core import policy
from core.labs.probe import fidelity
from core.labs.probe.controls import Straight
from core.labs.probe.functions.entities import EntityFunction, concepts, keeps
from core.labs.probe.functions.names import CATEGORIES, Category, difficulties
from core.labs.probe.functions.relations import RelationFunction
from core.labs.probe.functions.source import cases, load
from core.labs.probe.lab import LAB
from core.labs.probe.reliability.lab import LAB as RELIABILITY
from core.labs.probe.tasks import BY_MODEL, CAN, FIRST_BACKBONE, NAMES, ProbeSpec, calls
from core.text.embed import NoEncoderError
from core.text.glossary import on_hover
from pages.components import models
from pages.components.lab_page import FormPlaces
from pages.components.throttle import waits
from pages.components.widgets import one_of, widget

TITLES: dict[Category, str] = {"numeric": "Numbers", "strings": "Texts", "entities": "Subjects", "relations": "Facts"}
SOURCES = {"drawn": "Drawn for you", "published": "From the benchmark", "own": "Your own"}
SHAPES = {
    "numeric": {"easy": "one curve", "medium": "noisy or corrupted", "hard": "two curves, or a network"},
    "strings": {"easy": "one step", "medium": "two steps", "hard": "random, or two with settings"},
    "entities": {"easy": "one subject", "hard": "either of two"},
    "relations": {"easy": "one fact", "hard": "with an exception"},
}
BACKBONES = {"table": "our word lists and facts", "embedding": "sentence embeddings", "model": "a language model"}
LINKED = ("category", "seed", "difficulty", "interpreter")
"""Settings that an address may contain."""

SHOWN_KNOWN = 3

FIRST_SEED = 1753
"""A medium function: a straight line with a corrupted interval, which the first control does not look for."""

WIDGETS = ("rounds", "probes", "temperature", "top_p", "tokens", "rules", "tools", "answers")
"""Settings whose widgets are drawn from the specification."""

DRAWN = frozenset(ProbeSpec.model_fields)
"""All fields, because the category and the interpreter determine which of them exist."""


def fields(places: FormPlaces) -> dict[str, Any]:
    """Draw the model, the function and the interpreter. Raises ValueError if no function is given yet."""
    linked()
    with places.below:
        category = one_of("Category", TITLES, "category")
    able = [one for one in CAN if category in CAN[one] and one != "given"]
    with places.more:
        interpreter = st.selectbox(
            "Interpreter",
            able,
            format_func=lambda one: NAMES[one][0].upper() + NAMES[one][1:],
            key=f"interpreter-{category}",
            persist_state="session",
            help=on_hover("Interpreter"),
        )
    model = name = ""
    with places.model:
        if interpreter in BY_MODEL:
            model = models.pick("Model", key="model-probe", lab=LAB)
        elif interpreter == "you":
            name = st.text_input("Your name for the list of runs", key="name", placeholder="optional")
        else:
            st.caption("This interpreter needs no model.")
    function = function_fields(category, places)
    own = str(function.get("own", "")).strip()
    if "own" in function and not own:
        raise ValueError("Write your function first.")
    if own and model == Straight.id:
        with places.below:
            _outside(category, model, own)
    given = {"category": category, "interpreter": interpreter, "model": model, **function}
    if name.strip():
        given["title"] = f"{ProbeSpec.model_validate(given).title} · {name.strip()[:60]}"
    return given


def _listed() -> list[str]:
    """Return the subjects of our own lists that can be chosen."""
    return [name for name, one in concepts().items() if not one.sensitive and keeps(one)]


def _outside(category: str, model: str, own: str) -> None:
    """Tell the user, before the run, that the control knows only other functions, not the user's own."""

    def subject(name: str) -> None:
        st.session_state["own-concept"] = [name]

    def drawn(source: str) -> None:
        st.session_state["source"] = source

    if category == "entities" and not set(own.split(" or ")) <= set(_listed()):
        said = f"{model} tries only the subjects in our own lists, and this is not one of them."
        models.outside(said, {name: name for name in _listed()[:SHOWN_KNOWN]}, subject, "model-probe", LAB)
    elif category == "relations":
        said = f"{model} tries only the inputs of our own facts, so it sees hardly any of yours."
        models.outside(said, {"drawn": "One of our own facts"}, drawn, "model-probe", LAB)


def function_fields(category: Category, places: FormPlaces) -> dict[str, object]:
    """Draw the choice of the black box, and return it as fields of the specification."""
    sources = {one: words for one, words in SOURCES.items() if one != "published" or policy.allows("files")}
    with places.more:
        source = one_of("Function", sources, "source", is_named=True)
    if source == "published":
        folder = places.question.text_input(
            "Folder of the published set",
            key="find-dir",
            persist_state="session",
            placeholder="path/to/find-dataset",
            help="The folder with numeric/, strings/, neurons_entities/ and neurons_relations/. The set does not "
            "come with this app; its authors keep it at zenodo.org, DOI 10.5281/zenodo.8034162.",
        )
        names = places.below.text_area(
            "Functions, one per line",
            key="function",
            persist_state="session",
            placeholder="f00012",
            height=68,
            help="Several make a run of several cases.",
        )
        listed = tuple(line.strip() for line in names.splitlines() if line.strip())
        if not listed or not folder.strip():
            raise ValueError("Name a function of the published set, such as f00012, and its folder.")
        return {"find_dir": folder, "functions": listed}
    if source == "own":
        with places.question:
            return own_fields(category)
    with places.question:
        shapes = SHAPES[category]
        known = [*difficulties(category), "any"]
        chosen = st.selectbox(
            "Hidden function",
            known,
            index=known.index("medium") if category == "numeric" else 0,
            format_func=lambda one: f"{one}: {shapes[one]}" if one in shapes else one,
            key=f"difficulty-{category}",
            persist_state="session",
        )
    with places.more:
        st.session_state.setdefault("seed", FIRST_SEED)
        seed = st.number_input("Seed", 0, 10**9, key="seed", persist_state="session", help="Each seed is a function.")
        count = widget(LAB, "count")
    return {"difficulty": None if chosen == "any" else chosen, "seed": int(seed), "count": int(count)}


def own_fields(category: str) -> dict[str, object]:
    """Draw the user's own function: a formula, a few lines of Python, pairs, or a subject."""
    kinds = {"numeric": ["code", "pairs"], "strings": ["code", "pairs"], "entities": ["concept"]}.get(
        category, ["pairs"]
    )
    words = {"code": "A formula or Python", "pairs": "Pairs"}
    kind = kinds[0]
    if len(kinds) > 1:
        kind = (
            st.segmented_control(
                "As",
                kinds,
                default=kinds[0],
                format_func=words.__getitem__,
                required=True,
                key="own-kind",
                label_visibility="collapsed",
            )
            or kinds[0]
        )
    examples = {
        "code": "3 * x^2 + sin(x)" if category == "numeric" else "def f(x):\n    return x[::-1].upper()",
        "pairs": "1 -> 1\n2 -> 4\n3 -> 9" if category == "numeric" else "red -> stop\ngreen -> go",
    }
    if kind == "concept":
        text = " or ".join(
            st.multiselect(
                "One subject or two",
                _listed(),
                key="own-concept",
                max_selections=2,
                accept_new_options=True,
                placeholder="chess, or any word of yours",
                help="For a subject that is not listed only the name is known, so its description cannot be tested.",
            )
        )
    else:
        text = st.text_area(
            f"{words[kind]}, run in the sandbox" if kind == "code" else f"{words[kind]}, one per line",
            key=f"own-{category}-{kind}",
            placeholder=examples[kind],
            height=110,
            persist_state="session",
        )
    if kind == "pairs":
        st.caption(
            "Inputs that are not among the pairs have no output. Facts of your own can be probed, but not tested."
        )
    return {"own": text, "own_kind": kind}


def settings(given: dict[str, Any]) -> dict[str, Any]:
    """Draw the budget, the evaluator and the backbone that runs the function, as far as they apply."""
    category, interpreter = given["category"], given["interpreter"]
    agent = interpreter in ("aia", "aia+milan")
    there = {
        "rounds": agent or interpreter == "you",
        "probes": interpreter != "milan",
        "temperature": interpreter in BY_MODEL,
        "top_p": interpreter in BY_MODEL,
        "tokens": interpreter in BY_MODEL,
        "rules": True,
        "tools": agent,
        "answers": interpreter in BY_MODEL,
    }
    left, right = st.columns(2)
    chosen: dict[str, Any] = {}
    for number, name in enumerate(name for name, wanted in there.items() if wanted):
        with (left, right)[number % 2]:
            chosen[name] = widget(LAB, name)
    with left:
        if category != "numeric":
            chosen["evaluator"] = models.pick_or_none(
                "Evaluator",
                "nobody" if category == "strings" else "sentence embeddings",
                key=f"evaluator-{category}",
                lab=LAB,
                help=on_hover("Evaluator"),
            )
    with right:
        if category in ("entities", "relations"):
            known = list(BACKBONES)
            chosen["backbone"] = st.selectbox(
                "Runs on",
                known,
                index=known.index(FIRST_BACKBONE[category]),
                format_func=lambda one: BACKBONES[one],
                key=f"backbone-{category}",
                persist_state="session",
                help=on_hover("Runs on"),
            )
            if chosen["backbone"] == "model":
                chosen["module"] = models.pick_or_none(
                    "Model that runs it", "choose one", key="module", lab=RELIABILITY
                )
    return chosen


def linked() -> None:
    """Copy the settings in the address into the form, once, so that one link opens the same task for a whole class."""
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
    """Show the address that opens this form with the same function and interpreter."""
    query = {
        "category": spec.category,
        "seed": spec.seed,
        "difficulty": spec.difficulty or "any",
        "interpreter": spec.interpreter,
    }
    with st.popover("Link to this task", icon=":material/link:", type="tertiary", key="task-link"):
        st.caption("Opens this page with the same function and interpreter, truth hidden: for a class, for example.")
        address = f"{(st.context.url or '').split('?')[0]}?{urlencode(query)}"
        st.code(address, language=None, wrap_lines=True)


def line(spec: ProbeSpec) -> list[str]:
    """Return the function, the interpreter and its model."""
    return [spec.title, NAMES[spec.interpreter], models.short(spec.model)]


def fill(spec: ProbeSpec) -> dict[str, Any]:
    """Return the widgets' values for a run that was started with `spec`."""
    category = spec.category
    held: dict[str, Any] = {
        "category": category,
        f"evaluator-{category}": spec.evaluator or None,
        f"backbone-{category}": spec.backbone,
        "module": spec.module or None,
        **{f"{LAB.path}-{name}": getattr(spec, name) for name in WIDGETS},
    }
    if spec.interpreter != "given":
        held[f"interpreter-{category}"] = spec.interpreter
    if spec.model:
        held["model-probe"] = spec.model
    if spec.own and category == "entities":
        return {**held, "source": "own", "own-concept": spec.own.split(" or ")}
    if spec.own:
        return {**held, "source": "own", "own-kind": spec.own_kind, f"own-{category}-{spec.own_kind}": spec.own}
    if spec.find_dir:
        named = spec.functions or ((spec.function,) if spec.function else ())
        return {**held, "source": "published", "find-dir": spec.find_dir, "function": "\n".join(named)}
    drawn = {"source": "drawn", "seed": spec.seed, f"{LAB.path}-count": spec.count}
    return {**held, **drawn, f"difficulty-{category}": spec.difficulty or "any"}


def button(spec: ProbeSpec | None) -> str:
    """Return the primary button's label with the number of calls to language models."""
    if spec is None:
        return "Probe"
    if spec.interpreter == "you":
        return "Begin"
    number = calls(spec, spec.limit or len(spec.functions) or spec.count)
    if not number:
        return "Probe · no model calls"
    return f"Probe · at most {number} model calls" if number > 1 else "Probe · 1 model call"


def beside(spec: ProbeSpec | None) -> dict[str, str]:
    """Let the reader choose to try first, with the findings hidden, and show the link to this task for a class."""
    hold = False
    if spec is None or (spec.interpreter != "you" and not spec.is_several):
        hold = st.checkbox(
            "Let me try first",
            key="hold",
            persist_state="session",
            help="What the interpreter finds stays hidden until you have probed the function yourself.",
        )
    if spec is not None and not (spec.own or spec.function or spec.is_several):
        link_to(spec)
    if spec is not None and (words := trust(spec)):
        st.caption(words)
    return {"hold": "1"} if hold else {}


def trust(spec: ProbeSpec) -> str:
    """Return how closely the backbone follows the function's definition; empty if that would take model calls. For
    several functions, only tables are measured.
    """
    if not spec.is_module or spec.backbone == "model" or (spec.is_several and spec.backbone != "table"):
        return ""
    asked = {"category", "seed", "difficulty", "function", "functions", "count", "limit", "find_dir", "own", "own_kind"}
    with waits("Testing the black box …"):
        try:
            return _trust(spec.model_dump_json(include={*asked, "backbone", "rules"}))
        except (ValueError, NoEncoderError):
            # The run reports it if it matters.
            return ""


@st.cache_data(ttl=3600, max_entries=200, show_spinner=False)
def _trust(fields: str) -> str:
    spec = ProbeSpec.model_validate({**json.loads(fields), "interpreter": "you"})
    found = []
    for case in cases(spec):
        function = load(case.about)
        if isinstance(function, EntityFunction | RelationFunction):
            found.append(asyncio.run(fidelity.measure(case.about, function)))
    words = " ".join(fidelity.sentences(fidelity.together(found)))
    return f"Over {len(found)} functions: {words}" if len(found) > 1 else words
