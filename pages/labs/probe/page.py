"""The hand-written parts of Probe's page, and its form."""

import asyncio
import json
from collections.abc import Mapping
from typing import Any
from urllib.parse import urlencode

import streamlit as st

from core import policy
from core.labs.base.spec import knobs
from core.labs.probe import box
from core.labs.probe.by_hand import is_drawn, spec_of_day
from core.labs.probe.controls import Straight, worthless
from core.labs.probe.functions.base import CATEGORIES, Category, difficulties
from core.labs.probe.functions.entities import EntityFunction, concepts, keeps
from core.labs.probe.functions.relations import RelationFunction
from core.labs.probe.functions.source import cases, load
from core.labs.probe.lab import LAB
from core.labs.probe.reliability.lab import LAB as RELIABILITY
from core.labs.probe.report import ProbeReport
from core.labs.probe.tasks import BY_MODEL, CAN, FIRST_BACKBONE, NAMES, ProbeSpec
from core.text.embed import NoEncoderError
from core.text.templates import PROMPTS
from core.transcript import Transcript
from pages import lab as driver
from pages.components import lab_page, widgets
from pages.components.lab_page import FormPlaces, LabPage, NextRun
from pages.components.tables import draw_published
from pages.components.throttle import waits
from pages.components.widgets import SHIPPED, one_of, widget
from pages.labs.probe import turn

# Which function, which interpreter, and with what budget: what only Probe's form has.


SOURCES = {"drawn": "Drawn for you", "published": "From the benchmark", "own": "Your own"}
SHAPES = {
    "numeric": {"easy": "one curve", "medium": "noisy or corrupted", "hard": "two curves, or a network"},
    "strings": {"easy": "one step", "medium": "two steps", "hard": "random, or two with settings"},
    "entities": {"easy": "one subject", "hard": "either of two"},
    "relations": {"easy": "one fact", "hard": "with an exception"},
}
LINKED = ("category", "seed", "difficulty", "interpreter")
"""Settings that an address may contain."""

SHOWN_KNOWN = 3

FIRST_SEED = 1753
"""A medium function: a straight line with a corrupted interval, which the first control does not look for."""

KNOBS = knobs(ProbeSpec)


def own_fields(category: str) -> dict[str, object]:
    """Draw the user's own function: a formula, a few lines of Python, pairs, or a subject."""
    if category == "entities":
        subjects = st.multiselect(
            "One subject or two",
            _listed(),
            key="own-concept",
            max_selections=2,
            accept_new_options=True,
            placeholder="chess, or any word of yours",
            help="We know only the name of a subject that is not listed, so its description cannot be tested.",
        )
        return {"own": " or ".join(subjects), "own_kind": "concept"}
    words = {"code": "A formula or Python", "pairs": "Pairs"}
    kind = "pairs" if category == "relations" else one_of("As", words, "own-kind")
    examples = {
        "code": "3 * x^2 + sin(x)" if category == "numeric" else "def f(x):\n    return x[::-1].upper()",
        "pairs": "1 -> 1\n2 -> 4\n3 -> 9" if category == "numeric" else "red -> stop\ngreen -> go",
    }
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


def _listed() -> list[str]:
    """Return the subjects of our own lists that can be chosen."""
    return [name for name, one in concepts().items() if not one.sensitive and keeps(one)]


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
            found.append(asyncio.run(box.measure_fidelity(case.about, function)))
    words = " ".join(box.fidelity_sentences(box.pooled_fidelity(found)))
    return f"Over {len(found)} functions: {words}" if len(found) > 1 else words


WORDS: Mapping[str, str] = dict([*KNOBS["category"].names.items(), *NAMES.items()])
"""The categories and the interpreters."""

OTHERS = (
    ("agent", SHIPPED, "small local model", "smart_toy", "A minute or two."),
    ("robot", turn.ROBOT, "robot", "precision_manufacturing", None),
)
"""Who else may try a function that a person tried: the button's key, the model, its name, an icon, and the time it
takes.
"""


def _yours(spec: ProbeSpec, beside: str) -> ProbeSpec:
    return spec.model_copy(update={"interpreter": "you", "model": "", "beside": beside})


def _next(spec: ProbeSpec) -> dict[str, object]:
    """Return the changes for the next function, because the truth about this one is known: the next seed, sampled in
    the same way.
    """
    seed = spec.seed + 1
    fresh = ProbeSpec(category=spec.category, seed=seed, difficulty=spec.difficulty, interpreter="you")
    return {"seed": seed, "function": "", "find_dir": None, "title": fresh.title}


class ProbePage(LabPage):
    """The page of Probe. The category and the interpreter determine which fields its form has."""

    verb = "Guess the function"
    guess_param = "hold"
    words = WORDS

    # The form

    def applies(self, name: str, given: Mapping[str, Any]) -> bool:
        """Whether the form has that field."""
        category, interpreter = given.get("category"), given.get("interpreter")
        is_agent, is_model = interpreter in ("aia", "aia+milan"), interpreter in BY_MODEL
        needs = {
            **dict.fromkeys(("temperature", "top_p", "tokens", "answers"), is_model),
            "rounds": is_agent or interpreter == "you",
            "probes": interpreter != "milan",
            "tools": is_agent,
            "evaluator": category != "numeric",
            "backbone": category in ("entities", "relations"),
            "module": given.get("backbone") == "model",
        }
        return needs.get(name, True)

    def field(self, name: str, given: Mapping[str, Any]) -> Any:
        """Draw a field; some differ from category to category."""
        knob = KNOBS[name]
        if name == "model" and given["interpreter"] not in BY_MODEL:
            if given["interpreter"] == "you":
                st.text_input("Your name for the list of runs", key="name", placeholder="optional")
            else:
                st.caption("This interpreter needs no model.")
            return ""
        if name == "module":
            return widgets.pick_or_none(knob.title, "choose one", key=self.key(name), lab=RELIABILITY)
        if name in ("interpreter", "evaluator", "backbone"):
            category = given["category"]
            knob = knob._replace(name=f"{name}-{category}")
            if name == "interpreter":
                able = [one for one in CAN if category in CAN[one] and one != "given"]
                named = {one: NAMES[one][0].upper() + NAMES[one][1:] for one in able}
                knob = knob._replace(names=named, first=able[0], look="select")
            elif name == "evaluator":
                knob = knob._replace(nobody="nobody" if category == "strings" else "sentence embeddings")
            else:
                knob = knob._replace(first=FIRST_BACKBONE[category])
        return widget(LAB, knob)

    def fields(self, places: FormPlaces) -> dict[str, Any]:
        """Draw the form, filled in from the address. Raises ValueError if no function is given yet."""
        self._linked()
        return super().fields(places)

    def subject(self, places: FormPlaces, given: Mapping[str, Any]) -> dict[str, Any]:
        """Draw the function. Raises ValueError if none is given yet."""
        category, model = given["category"], given["model"]
        function = self._function(category, places)
        own = str(function.get("own", "")).strip()
        if "own" in function and not own:
            raise ValueError("Write your function first.")
        if own and model == Straight.id:
            with places.below:
                self._outside(category, model, own)
        name = str(st.session_state.get("name") or "").strip() if given["interpreter"] == "you" else ""
        if name:
            function["title"] = f"{ProbeSpec.model_validate({**given, **function}).title} · {name[:60]}"
        return function

    def _outside(self, category: str, model: str, own: str) -> None:
        """Tell the user, before the run, that the control knows only other functions, not the user's own."""

        def subject(name: str) -> None:
            st.session_state["own-concept"] = [name]

        def drawn(source: str) -> None:
            st.session_state[self.key("source")] = source

        if category == "entities" and not set(own.split(" or ")) <= set(_listed()):
            said = f"{model} tries only the subjects in our own lists, and this is not one of them."
            widgets.outside(said, {name: name for name in _listed()[:SHOWN_KNOWN]}, subject, self.key("model"), LAB)
        elif category == "relations":
            said = f"{model} tries only the inputs of our own facts, so it sees hardly any of yours."
            widgets.outside(said, {"drawn": "One of our own facts"}, drawn, self.key("model"), LAB)

    def _function(self, category: Category, places: FormPlaces) -> dict[str, object]:
        """Draw the choice of the black box, and return it as fields of the specification."""
        sources = {one: words for one, words in SOURCES.items() if one != "published" or policy.allows("files")}
        with places.more:
            source = one_of("Function", sources, self.key("source"), is_named=True)
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
            seed = st.number_input(
                "Seed", 0, 10**9, key="seed", persist_state="session", help="Each seed is a function."
            )
            count = widget(LAB, KNOBS["count"])
        return {"difficulty": None if chosen == "any" else chosen, "seed": int(seed), "count": int(count)}

    def _linked(self) -> None:
        """Copy the settings in the address into the form, once: one link opens the same task for a whole class."""
        asked = {name: st.query_params[name] for name in LINKED if name in st.query_params}
        if not asked or st.session_state.get("linked") == asked:
            return
        st.session_state["linked"] = asked
        category = asked.get("category", "numeric")
        if category not in CATEGORIES:
            return
        st.session_state.update({self.key("category"): category, self.key("source"): "drawn"})
        if asked.get("seed", "").isdecimal():
            st.session_state["seed"] = min(int(asked["seed"]), 10**9)
        if asked.get("difficulty") in (*difficulties(category), "any"):
            st.session_state[f"difficulty-{category}"] = asked["difficulty"]
        interpreter = asked.get("interpreter")
        if interpreter in CAN and interpreter != "given" and category in CAN[interpreter]:
            st.session_state[self.key(f"interpreter-{category}")] = interpreter

    def line(self, spec: ProbeSpec) -> list[str]:
        """Return the function, the interpreter and its model."""
        return [spec.title, NAMES[spec.interpreter], widgets.short(spec.model)]

    def fill(self, spec: ProbeSpec) -> dict[str, Any]:
        """Return the widgets' values for a run that was started with `spec`."""
        category = spec.category
        held = super().fill(spec) | {
            self.key(f"evaluator-{category}"): spec.evaluator or None,
            self.key(f"backbone-{category}"): spec.backbone,
        }
        if spec.interpreter != "given":
            held[self.key(f"interpreter-{category}")] = spec.interpreter
        source = self.key("source")
        if spec.own and category == "entities":
            return {**held, source: "own", "own-concept": spec.own.split(" or ")}
        if spec.own:
            return {**held, source: "own", "own-kind": spec.own_kind, f"own-{category}-{spec.own_kind}": spec.own}
        if spec.find_dir:
            named = spec.functions or ((spec.function,) if spec.function else ())
            return {**held, source: "published", "find-dir": spec.find_dir, "function": "\n".join(named)}
        return {**held, source: "drawn", "seed": spec.seed, f"difficulty-{category}": spec.difficulty or "any"}

    def cases(self, spec: ProbeSpec) -> int:
        """Return the number of functions."""
        return spec.limit or len(spec.functions) or spec.count

    def button(self, spec: ProbeSpec | None) -> str:
        """Return the primary button's label with the number of calls to language models."""
        if spec is None:
            return "Probe"
        if spec.interpreter == "you":
            return "Begin"
        number = self.calls(spec)
        if not number:
            return "Probe · no model calls"
        return f"Probe · at most {number} model calls" if number > 1 else "Probe · 1 model call"

    def beside(self, spec: ProbeSpec | None) -> dict[str, str]:
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

    # A run

    def begin(self) -> None:
        """Offer to draw the function of the day."""
        turn.begin(lambda day: driver.start(LAB, spec_of_day(day), {}))

    def ways(self, spec: ProbeSpec) -> dict[str, dict[str, Any]]:
        """Return the other interpreters that fit the function and need no person; those that use a model only if the
        run has one.
        """
        return {
            NAMES[one]: {"interpreter": one} | ({} if one in BY_MODEL else {"model": ""})
            for one, categories in CAN.items()
            if spec.category in categories
            and one not in ("you", "given", spec.interpreter)
            and (spec.model or one not in BY_MODEL)
        }

    def other(self, spec: ProbeSpec, fields: dict[str, Any], run_id: str, view: ProbeReport | None) -> ProbeSpec:
        """Return the specification with the same function and budget. A model added to a run without one becomes an
        agent.
        """
        alone: dict[str, Any] = {"beside": "", "given": None}
        if fields.get("model") and spec.interpreter not in BY_MODEL:
            alone["interpreter"] = "aia"
        return ProbeSpec.model_validate({**spec.model_dump(), **alone, **fields})

    def methods(self) -> None:
        """Draw procedure, figures, rules, prompts, backbones and what the paper reported."""
        texts = lab_page.method_texts(LAB)
        lab_page.folded(lab_page.RULES, "rule", "probe-rules", texts["rules"])
        robots = (f"`{id}`: {robot.about} It fools {robot.fools}." for id, robot in worthless().items())
        lab_page.folded("Robots that explain nothing", "smart_toy", "probe-worthless", texts["robots"], robots)
        st.subheader("Prompts", anchor=False)
        lab_page.prompts(PROMPTS / "find", "probe-template")
        st.subheader("Can the entity functions be trusted?", anchor=False)
        st.markdown(texts["backbones"])
        draw_published(LAB, WORDS, "probe-published")

    def sealed(self, view: ProbeReport, active: bool) -> bool:
        """Whether the reader has yet to try the function."""
        return bool(st.query_params.get("hold"))

    def replacement(self, view: ProbeReport, active: bool) -> bool:
        """Draw what the reader does before the case is shown."""
        spec = view.spec
        if spec and spec.interpreter == "you" and view.interpretation is None and not active and view.log.started:
            turn.turn(view.log.started.run, view, spec)
            return True
        if active and spec and not view.probes and spec.is_module and spec.backbone == "embedding":
            st.caption("The sentence encoder is loaded on first use: this takes a few seconds, once.")
        if view.truth is not None and view.log.started and is_drawn(view.interpretation) and not active:
            turn.picture(view.log.started.run, view)
            return True
        if not active and turn.draw_end(view):
            return True
        if is_held := self.sealed(view, active):
            self._held(view, active)
        return is_held

    def _held(self, view: ProbeReport, active: bool) -> None:
        state = f"It is done: {len(view.probes)} calls in {len(view.exchanges)} rounds"
        with st.container(border=True, key="held"):
            st.markdown(
                f"**{'It is working' if active else state}.** Its findings and the function stay hidden until you "
                "have tried it yourself."
            )

    def follow_up(self, transcript: Transcript, view: ProbeReport, run_id: str) -> bool:
        """Draw what can be done after a run: try the function oneself, let an agent try it, compare."""
        spec = view.spec
        if spec is None:
            return True
        yours = spec.interpreter == "you"
        if (
            spec.beside
            and not is_drawn(view.interpretation)
            and view.truth is not None
            and (other := turn.report_of(spec.beside)) is not None
        ):
            turn.compare_figures(view, other)
        if self.sealed(view, False):
            with st.container(horizontal=True):
                if st.button("Your turn", icon=":material/front_hand:", type="primary", key="turn"):
                    driver.start(LAB, _yours(spec, run_id), {})
                if st.button("Show me the truth", icon=":material/visibility:", key="reveal"):
                    del st.query_params["hold"]
                    st.rerun()
            return False
        if transcript.status != "completed" or transcript.planned > 1:
            return not (yours and view.truth is None)
        if yours and view.truth is None:
            return False
        with st.container(horizontal=True):
            others = OTHERS if yours and not spec.beside and not is_drawn(view.interpretation) else ()
            for key, model, who, icon, takes in others:
                if st.button(f"Let a {who} try it", icon=f":material/{icon}:", key=key, help=takes):
                    agent = {"interpreter": "aia", "model": model, "beside": run_id}
                    driver.start(LAB, spec.model_copy(update=agent), {})
            if not spec.own and st.button("Try the next function yourself", icon=":material/front_hand:", key="turn"):
                driver.start(LAB, _yours(spec.model_copy(update=_next(spec)), ""), {})
        return True

    def with_real_model(self, spec: ProbeSpec, view: ProbeReport) -> NextRun:
        """Return the run of a real model, with a budget that it can use."""
        return NextRun("", spec.model_copy(update={"model": SHIPPED, "rounds": min(spec.rounds, 8)}))


PAGE = ProbePage
