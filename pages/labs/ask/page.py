"""The hand-written parts of Ask's page, and its form."""

import math
import random
from collections.abc import Mapping
from contextlib import suppress
from types import MappingProxyType
from typing import Any, Literal, NamedTuple

import streamlit as st

from core import entry, policy
from core.datasets import own
from core.events import CallError
from core.labs.ask import qualification, tasks, world
from core.labs.ask.baselines import AnsweredQuestions, OtherModel, other_models
from core.labs.ask.controls import AskRobot, worthless
from core.labs.ask.lab import LAB
from core.labs.ask.parse import text_of
from core.labs.ask.records import Counterfactual, CounterfactualPair, Examined
from core.labs.ask.view import METHODS, AskView
from core.labs.base.lab import Prerequisite
from core.labs.base.qualification import QualificationSpec
from core.labs.base.spec import knobs
from core.models import local
from core.models.errors import UnknownQuestionError
from core.models.ids import is_control, is_free
from core.models.settings import PRESETS
from core.runs.engine import UserInput
from core.store.listing import Selection
from core.store.store import QueryRefusedError, Store, StoreError
from core.text.display import count_noun
from core.text.templates import PROMPTS
from core.transcript import Transcript
from pages import addresses
from pages import lab as driver
from pages.components import lab_page, session, widgets
from pages.components.lab_page import FormPlaces, LabPage, NextRun
from pages.components.run import go_on, link, resume
from pages.components.run_view import LEFT
from pages.components.tables import draw_published
from pages.components.text import plain
from pages.components.widgets import choose_named, short, widget

# Ask a real model: it answers a question, says why, and the visitor predicts its next answers.


LOADING, BYTES_A_SECOND = 5, 50e6
"""Seconds until a local model begins, and how many bytes of weights it has for each second until the first card after
that, on two processors (`benchmarks/real_model.py`).
"""

DRAWN = "real-model-question"
"""Session key of the question that was drawn for this visit."""


class RealModelOffer(NamedTuple):
    """A model that can be asked now: its id, what it is called, and how long the first card takes."""

    id: str
    name: str
    time: str

    @property
    def label(self) -> str:
        """The label of the button that asks it."""
        return f"Ask {self.name} · {self.time}"


def best() -> RealModelOffer | None:
    """Return the best real model that can be asked now: one chosen on the Models page, else the first of a connected
    endpoint, else the largest on this machine. None if there is none.
    """
    catalog = session.catalog()
    titles = {info.id: info.title for info in catalog.offered() if not info.needs and not is_free(info.id)}
    chosen = [id for id in reversed(widgets.chosen_models()) if not is_free(id)]
    # A provider's list has more than chat models, in no order that helps: its example comes first.
    examples = {f"{one.name}/{PRESETS[one.preset].model}" for one in session.endpoints().values() if one.preset}
    endpoints = [id for id in titles if not id.startswith("local/") and not id.endswith("/…")]
    endpoints.sort(key=lambda id: id not in examples)
    sizes = {id: _size(id) for id in (*chosen, *titles) if id.startswith("local/")}
    here = sorted(sizes.keys() & titles.keys(), key=sizes.__getitem__, reverse=True)
    for id in (*chosen, *endpoints, *here):
        if sizes[id] if id in sizes else catalog.is_at_hand(id):
            seconds = 5 * math.ceil((LOADING + sizes.get(id, 0) / BYTES_A_SECOND) / 5)
            time = f"about {seconds} s" if id in sizes else "a few seconds"
            return RealModelOffer(id, titles.get(id, id).removesuffix(" Instruct"), time)
    return None


def _size(id: str) -> int:
    """Return the size of a local model's file in bytes; 0 if it is not there."""
    try:
        return local.weights(id.removeprefix("local/"), session.catalog().models_folder).stat().st_size
    except (CallError, OSError):
        return 0


# What to ask, which model, and how: what only Ask's form has.


FIRST_QUESTION = "Can a penguin fly?"
SHOWN_EXAMPLES = 3

LOCAL_SECONDS = 3
"""About how many seconds a call of a local model takes (`benchmarks/local.py`)."""

TEXTS = ("context", "response_1", "response_2")
"""The fields of a preference."""


def _number(task: str, single: bool, model: str) -> str:
    """Return the name of the slider for new questions, one per default value."""
    return f"number-{task}-{tasks.usual(task, single, model)}"


def _minutes(task: str, model: str, number: int) -> str:
    """Estimate how long a local model takes for that many questions; empty for any other model."""
    if not model.startswith("local/"):
        return ""
    asked = dict.fromkeys(("question", *TEXTS), "?")
    spec = tasks.AskSpec.model_validate({**asked, "task": task, "model": model, "counterfactuals": number})
    takes = count_noun(max(1, round(tasks.calls(spec, 1) * LOCAL_SECONDS / 60)), "minute")
    longer = f" More than {number} questions take longer and show more." if number < tasks.fewest() else ""
    return f"On this computer that takes about {takes}.{longer}"


def _known(spec: tasks.AskSpec) -> Examined | None:
    """Return the predictor's result in the qualification test; None if it is not known yet."""
    first = qualification.prerequisites(spec)[0]
    found = session.runs().result_of(first) if isinstance(first, Prerequisite) else first
    return found if isinstance(found, Examined) else None


WORDS = {**METHODS, "strategyqa": "StrategyQA", "shp": "SHP"}
"""The ways to explain, and the tasks."""


class AskPage(LabPage):
    """The page of Ask."""

    verb = "Predict answers"
    words = WORDS
    guess_param = "reader"
    compares_answers = True
    sources = MappingProxyType({"own": "One question", "dataset": "A data set"})
    source_title = "What it is asked"

    # The form

    def applies(self, name: str, given: Mapping[str, Any]) -> bool:
        """Whether the form has that field: some are for yes-or-no questions only."""
        needs = {"extra": "question" in given, "exam": given.get("task") == "strategyqa"}
        return needs.get(name, True)

    def field(self, name: str, given: Mapping[str, Any]) -> Any:
        """Draw a field. The default number of new questions depends on the other fields, and so does its key."""
        knob = knobs(tasks.AskSpec)[name]
        if name == "simulator":
            help = (
                "Nobody: another available model that passed the qualification test. "
                "If there is none, and for robots, the model itself."
            )
            nobody = "one that passed the qualification test, else the model itself"
            return widget(LAB, knob._replace(nobody=nobody, help=help))
        if name != "counterfactuals":
            return widget(LAB, knob)
        task, single, model = given["task"], "dataset" not in given, given["model"]
        named, first = _number(task, single, model), tasks.usual(task, single, model)
        number: int = widget(LAB, knob._replace(name=named, help=knob.title, low=1, first=first))
        if single:
            st.caption(" ".join((tasks.sample_size_note(number), _minutes(task, model, number))).strip())
        return number

    def own(self, places: FormPlaces, given: Mapping[str, Any]) -> dict[str, Any]:
        """Draw the question or pair, and return it."""
        return self._question(places, given["model"]) if given["task"] == "strategyqa" else self._pair(places)

    def _question(self, places: FormPlaces, model: str) -> dict[str, Any]:
        key = self.key("question")
        st.session_state.setdefault(key, FIRST_QUESTION)
        question = places.question.text_input(
            "Your question",
            key=key,
            placeholder="Can a penguin fly?",
            persist_state="session",
            max_chars=2000,
            live=model in LAB.robots.controls(),
        )
        # For a control, only the examples of its own world.
        known = [one.question for one in tasks.questions() if one.world or not is_control(model)]
        with places.below:
            self._outside(model, question)
            self.examples(lambda turn: random.Random(turn).sample(known, min(SHOWN_EXAMPLES, len(known))), self._ask)
        gold = next((one.answer for one in tasks.questions() if one.question == question.strip()), None)
        return {"question": question, "gold": gold}

    def _ask(self, question: str) -> None:
        st.session_state[self.key("question")] = question

    def _outside(self, model: str, question: str) -> None:
        """Tell the user, while typing, that a question is outside a control's world."""
        control = LAB.robots.controls().get(model)
        if not isinstance(control, AskRobot) or not question.strip():
            return
        try:
            control.read(question)
        except UnknownQuestionError as error:
            widgets.outside(error.message, {one: one for one in error.questions}, self._ask, self.key("model"), LAB)

    def _pair(self, places: FormPlaces) -> dict[str, Any]:
        pairs = {pair.id: pair for pair in tasks.pairs()}

        def use(id: str) -> None:
            st.session_state.update({self.key(name): getattr(pairs[id], name) for name in TEXTS})

        if self.key("context") not in st.session_state:
            use(next(iter(pairs)))
        titles = {id: f"{pair.topic}: {pair.context[:70]}…" for id, pair in pairs.items()}
        with places.question:
            choose_named("Examples", titles, "pair", is_named=True, on_change=lambda: use(st.session_state["pair"]))
        kept: dict[str, Any] = {"persist_state": "session"}
        context = places.below.text_area("The post", key=self.key("context"), **kept)
        left, right = places.below.columns(2)
        first = left.text_area("Response 1", key=self.key("response_1"), height=150, **kept)
        second = right.text_area("Response 2", key=self.key("response_2"), height=150, **kept)
        asked = dict(zip(TEXTS, (context, first, second), strict=True))
        given = [text.strip() for text in asked.values()]
        known = [one.preferred for one in pairs.values() if [getattr(one, name) for name in TEXTS] == given]
        return {**asked, "gold": next(iter(known), None)}

    def line(self, spec: tasks.AskSpec) -> list[str]:
        """Return what was asked, the model, and how it explains."""
        about = spec.title if spec.dataset else spec.question or spec.context
        return [about, widgets.short(spec.model), METHODS[spec.method].lower()]

    def fill(self, spec: tasks.AskSpec) -> dict[str, Any]:
        """Return the widgets' values for a run that was started with `spec`."""
        single = not spec.dataset
        held = super().fill(spec) | {self.key(_number(spec.task, single, spec.model)): max(spec.counterfactuals, 1)}
        if spec.is_by_person:
            arms = tasks.AskSpec.model_fields["arms"].default[1:]
            held |= {self.key("arms"): list(arms), self.key("simulator"): None}
        return held

    def cases(self, spec: tasks.AskSpec) -> int:
        """Return the number of questions, at most; the number of rows in the user's own file is not known until it is
        read.
        """
        return (spec.limit or 1) if spec.dataset else 1

    def calls(self, spec: tasks.AskSpec) -> int:
        """Return the number of calls, including those of the qualification test if it is needed."""
        number = sum(LAB.count_calls(spec, self.cases(spec)).values())
        for one in qualification.prerequisites(spec):
            if isinstance(one, Prerequisite) and session.runs().is_missing(one):
                number += len(one.spec.questions) if isinstance(one.spec, QualificationSpec) else 0
        return number

    def is_at_most(self, spec: tasks.AskSpec) -> bool:
        """Whether the number of questions is only known as a limit."""
        return own.is_own(spec.dataset)

    def beside(self, spec: tasks.AskSpec | None) -> dict[str, str]:
        """Say who predicts, and let the reader choose to guess first; then return the name under which guesses are
        stored.
        """
        if spec is not None:
            named = ("simulator",) if st.session_state.get(self.key("simulator")) else ()
            chosen = qualification.choose_predictor(spec, named, session.catalog().is_at_hand, session.runs().results)
            itself = " (the model itself)" if chosen.simulator == spec.model else ""
            st.caption(f"Predictor: {plain(widgets.short(chosen.simulator))}{itself}.")
            known = _known(spec)
            if known is not None and not known.passed:
                st.markdown(
                    f":orange[:material/person_raised_hand:] **You predict**: {plain(widgets.short(known.simulator))} "
                    f"failed the qualification test ({known.right} of {known.of}; guessing gets "
                    f"{round(known.of / 3)}), so its predictions get no verdict. Yours do."
                )
        guess = st.checkbox(
            "Let me guess first",
            key="guess",
            persist_state="session",
            help="Predict each answer before it is shown, and get your own precision.",
        )
        return {"reader": entry.new_reader()} if guess else {}

    # A run

    def ways(self, spec: tasks.AskSpec) -> dict[str, dict[str, Any]]:
        """Return the other ways to explain and, for the same answer, the other text that can be taken as its
        explanation.
        """
        other = {words: {"method": method} for method, words in METHODS.items() if method != spec.method}
        if is_control(spec.model):
            return other
        if spec.explained_by == "answer":
            return {**other, "Same run, explained by its thinking": {"explained_by": "reasoning"}}
        return {**other, "Same run, explained by its answer": {"explained_by": "answer"}}

    def other(self, spec: tasks.AskSpec, fields: dict[str, Any], run_id: str, view: AskView | None) -> tasks.AskSpec:
        """Return the specification of the same run with another explanation: with the same new questions and, if
        possible, the same predictor. A robot can predict only robots, because it knows only their wording.
        """
        model = fields.get("model", spec.model)
        roles: dict[str, Any] = {
            "simulator": _kept(spec.simulator, model),
            "generators": tuple(dict.fromkeys(_kept(one, model) for one in spec.generators)),
        }
        if view is not None:
            by_hand = [row.counterfactual.text for row in view.rows.values() if row.counterfactual and row.by_hand]
            roles |= _given(spec, run_id, view)
            roles["extra"] = tuple(by_hand) if spec.task == "strategyqa" else spec.extra
        return tasks.AskSpec.model_validate({**spec.model_dump(), **roles, **fields})

    def same(self, spec: tasks.AskSpec, run_id: str, view: AskView) -> tasks.AskSpec:
        """Return the specification with the new questions that were asked."""
        return tasks.AskSpec.model_validate({**spec.model_dump(), **_given(spec, run_id, view)})

    def note(self, specs: Mapping[str, tasks.AskSpec]) -> str:
        """Say where the new questions come from, who predicted, and whether the predictors differ."""
        sources = {spec.given_from for spec in specs.values() if spec.given}
        said = (
            "As in the paper, the new questions were written for each explanation separately. Rows match where runs "
            "asked the same question."
        )
        if sources:
            whose = "one of these explanations" if sources <= set(specs) else "the explanation in another run"
            said = (
                f"The new questions were written from {whose} and given to all. The paper's method writes new ones "
                "from each explanation, so this is not the paper's precision."
            )
        predictors = list(dict.fromkeys(" and ".join(spec.roles["simulator"]) for spec in specs.values()))
        if len(predictors) > 1:
            return f"{said} The predictors differ ({plain(', '.join(predictors))}), so a difference may be theirs."
        return f"{said} {plain(predictors[0])} made the predictions."

    def methods(self) -> None:
        """Draw procedure, figures, rules, prompts and what the paper reported."""
        texts = lab_page.method_texts(LAB)
        fooled, fool = (
            "\n".join(
                f"- `{robot.id}` {robot.title}. {robot.about} It fools {robot.fools}."
                for robot in worthless().values()
                if robot.id.endswith("-0") and robot.gains is gains
            )
            for gains in (False, True)
        )
        st.markdown("\n\n".join([texts["fooled"], fooled, texts["fool"], fool]))
        lab_page.folded(lab_page.RULES, "rule", "rules", texts["rules"])
        st.subheader("Prompts", anchor=False)
        lab_page.prompts(PROMPTS / "simulatability", "template", bind="query-params")
        draw_published(LAB, WORDS, "published")

    def replacement(self, view: AskView, active: bool) -> bool:
        """Let anyone who follows a link to guess first begin, and offer to predict."""
        if st.query_params.pop("guess", ""):
            # A link to guess first: those who follow it make guesses of their own.
            st.query_params["reader"] = entry.new_reader()
            st.rerun()
        if not st.query_params.get("reader"):
            self._you_predict(view, active)
        return False

    def may_ask(self, view: AskView) -> bool:
        """Whether there is an explanation to predict the answer to a question of one's own from."""
        return view.log.status == "completed" and bool(view.starter)

    def extra_panel(self, view: AskView, active: bool) -> None:
        """Draw a field for a question of one's own, and link to the qualification tests."""
        run_id = _run_id(view)
        if run_id and self.may_ask(view) and session.runs().owns(run_id):
            _add_by_hand(run_id, view, "" if view.log.case == tasks.ONE else f", of “{view.title}”")
        for exam in (one for one in view.exams.values() if one.run):
            words, query = f"Qualification test of {plain(short(exam.simulator))}, the predictor", {"run": exam.run}
            st.page_link(addresses.CASE, label=words, icon=":material/school:", query_params=query)

    def _you_predict(self, view: AskView, active: bool) -> None:
        """Offer to guess first while answers are still to come, if the predictor cannot give a verdict."""
        # Nothing is known about the predictor until the qualification test is over.
        if not active or (view.exam is None and not view.is_by_person) or not self.may_predict(view, active):
            return
        no_verdict = f"No verdict: {view.no_verdict_reason}"
        why = "Nobody has predicted here" if view.is_by_person else no_verdict
        with st.container(border=True, horizontal=True, vertical_alignment="center", key="you-predict"):
            st.markdown(
                f"**You predict.** {why}. Read the explanation, make your predictions, and see how many come true."
            )
            if st.button("Predict yourself", type="primary", icon=":material/person_raised_hand:", key="predict"):
                st.query_params["reader"] = entry.new_reader()
                st.rerun()

    def follow_up(self, transcript: Transcript, view: AskView, run_id: str) -> bool:
        """Suggest questions to a control that did not know the one it was asked."""
        if self.sealed(view, False):
            go_on(run_id, transcript)
            link(run_id)
            return False
        if view.spec is None:
            return True
        if not view.spec.dataset and any(failure.error == "OutsideWorld" for failure in transcript.failures):
            _suggest(view.spec, run_id)
        return True

    def longer_run(self, spec: tasks.AskSpec, view: AskView) -> NextRun | None:
        """Return the run with as many new questions as a verdict on one explanation takes, if this one had fewer and
        showed nothing.
        """
        number = tasks.fewest()
        is_unclear = view.outcome in ("too few", "not shown")
        if view.is_by_person or spec.counterfactuals >= number or not is_unclear:
            return None
        more = {"counterfactuals": number, "given": (), "given_from": ""}
        return NextRun(f"Ask {number} new questions", spec.model_copy(update=more))

    def may_predict(self, view: AskView, active: bool = False) -> bool:
        """Whether there is something to predict, and nobody else's predictions give a verdict."""
        is_open = bool(view.no_verdict_reason) or view.is_by_person
        return is_open and bool(view.to_guess(active)) and "reader" not in st.query_params

    def further_baselines(self, transcript: Transcript, run_id: str) -> None:
        """Draw how well the answers of another model to the same questions predict this one, if there are any."""
        try:
            keeper = entry.keeper()
            found = _other_models(keeper.store, session.viewer(), run_id, keeper.changes)
        except (StoreError, QueryRefusedError):
            return
        if not found:
            return
        st.markdown("**Another model as the baseline**")
        by_model = {one.model: one for one in found}
        model = found[0].model
        if len(found) > 1:
            names = {one: short(one) for one in by_model}
            model = choose_named("Another model", names, f"other-model-{run_id}", width=360)
        st.markdown(plain(by_model[model].sentence(short(model))), help=OTHER_MODEL)

    def sealed(self, view: AskView, active: bool) -> bool:
        """Whether the reader has yet to guess, or to see what the guesses were worth."""
        if "reader" not in st.query_params:
            return False
        asked = view.to_guess(active)
        # Where nobody else predicts, the cards end with what the visitor's predictions were worth.
        is_at_end = view.is_by_person and bool(asked) and st.session_state.get(LEFT) != _run_id(view)
        return active or is_at_end or any(row.guess is None for row in asked)

    def run_table(self, transcript: Transcript, run_id: str) -> None:
        """Draw all cases, without their outcomes for a reader who guesses first."""
        query = st.query_params.to_dict()
        if "reader" not in query:
            super().run_table(transcript, run_id)
            return
        del query["reader"]
        words = "Stop guessing: show all outcomes"
        st.page_link(addresses.of_lab(LAB), label=words, icon=":material/visibility:", query_params=query)

    def with_real_model(self, spec: tasks.AskSpec, view: AskView) -> NextRun | None:
        """Return the run that asks a real model what a robot was asked, with the robot's first new questions; or a
        question of ours, if the robot had fewer. The visitor predicts. None if there is no real model.
        """
        if (offer := best()) is None:
            return None
        given = _given(spec, _run_id(view), view)
        few = given["given"][: tasks.CARDS]
        if spec.task == "strategyqa" and spec.question and len(few) == tasks.CARDS:
            asked = {**given, "question": spec.question, "gold": spec.gold, "given": few}
        else:
            asked = dict(tasks.with_follow_ups()[0])
        return NextRun(offer.label, tasks.predicted_by_person(offer.id, **asked), {"reader": entry.new_reader()})

    def welcome(self) -> None:
        """Offer to ask a real model: a button that names the model, and the question. In a hosted app without a model
        it is left out, since visitors cannot change that.
        """
        offer = best()
        if offer is None and policy.is_hosted():
            return
        known = tasks.with_follow_ups()
        drawn = st.session_state.setdefault(DRAWN, random.randrange(len(known)))
        with st.container(border=True, key="real-model"):
            st.markdown(f"**Ask a real model**, live. Read its reason, and predict its next {tasks.CARDS} answers.")
            with st.container(horizontal=True, vertical_alignment="bottom"):
                named = {number: one.question for number, one in enumerate(known)}
                asked = dict(known[choose_named("Question", named, "real-question", index=drawn)])
                words = plain(offer.label) if offer else "Ask a real model"
                kind: Literal["primary", "secondary"] = "primary" if offer else "secondary"
                pressed = st.button(words, type=kind, icon=":material/smart_toy:", key="real", disabled=not offer)
                if offer is None:
                    st.page_link(addresses.MODELS, label="Connect one first", icon=":material/memory:")
                elif pressed and (run_id := driver.begin(LAB, tasks.predicted_by_person(offer.id, **asked))):
                    st.switch_page(addresses.of_lab(LAB), query_params={"run": run_id, "reader": entry.new_reader()})


def _given(spec: tasks.AskSpec, run_id: str, view: AskView) -> dict[str, Any]:
    """Return a case's new questions, to be used in another run, and the run they come from."""
    asked = [
        row.counterfactual for row in view.counted_rows() if row.counterfactual and row.by(view.run_rules).is_question
    ]
    given = tuple(one.model_dump(include=set(tasks.WrittenQuestion.model_fields)) for one in asked)
    return {"given": given, "given_from": (spec.given_from or run_id) if asked else ""}


def _kept(role: str, model: str) -> str:
    """Return who plays a role beside `model`: the same model as before if it can be asked, else `model` itself."""
    if is_control(role) and not is_control(model):
        return model
    with suppress(CallError):
        session.catalog().get(role)
        return role
    return model


def _run_id(view: AskView) -> str:
    return view.log.started.run if view.log.started else ""


def _suggest(spec: tasks.AskSpec, run_id: str) -> None:
    """Suggest questions that a control knows, after one that it did not."""

    def take() -> None:
        driver.change(LAB, run_id, spec, question=st.session_state["suggestion"] or spec.question)

    st.pills("It can answer these", world.load().suggestions(spec.question), key="suggestion", on_change=take)


def _add_by_hand(run_id: str, view: AskView, of: str) -> None:
    """Draw a field for the reader's own counterfactual: predicted and answered like the others, but never counted."""
    with st.container(key="act-question"), st.form("by-hand", border=False, clear_on_submit=True):
        st.markdown(f"**Ask something else** that its explanation{plain(of)} should cover")
        if view.spec is None or view.spec.task == "strategyqa":
            own = {"text": st.text_input("Your question", key="own", label_visibility="collapsed").strip()}
        else:
            parts = {"context": "The post", "response_1": "Response 1", "response_2": "Response 2"}
            own = {field: st.text_area(name, key=f"own-{field}").strip() for field, name in parts.items()}
            own["text"] = text_of(CounterfactualPair(**own)) if all(own.values()) else ""
        if st.form_submit_button("Add", icon=":material/add:", key="add") and own["text"]:
            record = Counterfactual.model_validate({"origin": "hand", **own})
            if resume(run_id, UserInput(view.log.case, record, "hand-{n}")):
                st.rerun()


OTHER_MODEL = (
    "The other model's answers to the same questions are taken as predictions, without any explanation; its most "
    "frequent answer if it answered several times. Two models that both answer correctly predict each other well, "
    "whatever the explanation says. The verdict does not rest on this."
)


@st.cache_data(max_entries=64, show_spinner=False)
def _other_models(_store: Store, viewer: str | None, run_id: str, changes: int) -> list[OtherModel]:
    answers = Selection(_store, viewer=viewer).answers_of_others(run_id)
    return other_models([AnsweredQuestions(title, tuple(tested)) for title, tested in answers.cases], answers.others)


PAGE = AskPage
