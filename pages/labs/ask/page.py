"""The hand-written parts of Ask's page."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from typing import Any

import streamlit as st

from core import entry
from core.events import CallError
from core.labs.ask import world
from core.labs.ask.lab import LAB
from core.labs.ask.null_controls import worthless
from core.labs.ask.parse import Pair, text_of
from core.labs.ask.records import Counterfactual
from core.labs.ask.tasks import ONE, AskSpec, WrittenQuestion, fewest
from core.labs.ask.view import AskView
from core.labs.ask.words import METHODS
from core.models.ids import is_control
from core.runs.engine import UserInput
from core.text.templates import PROMPTS
from core.transcript import Transcript
from pages import addresses
from pages import lab as driver
from pages.components import plain_case, plain_methods, session
from pages.components.lab_page import NextRun, Offer
from pages.components.models import short
from pages.components.run import go_on, link, resume
from pages.components.run_view import LEFT
from pages.components.tables import draw_published
from pages.components.text import plain
from pages.labs.ask import real_model
from pages.labs.ask.form import AskForm

WORDS = {**METHODS, "strategyqa": "StrategyQA", "shp": "SHP"}
"""The ways to explain, and the tasks."""


class AskPage(AskForm):
    """The page of Ask."""

    verb = "Predict answers"
    words = WORDS
    guess_param = "reader"
    compares_answers = True

    def ways(self, spec: AskSpec) -> dict[str, dict[str, Any]]:
        """Return the other ways to explain and, for the same answer, the other text that can be taken as its
        explanation.
        """
        other = {words: {"method": method} for method, words in METHODS.items() if method != spec.method}
        if is_control(spec.model):
            return other
        if spec.explained_by == "answer":
            return {**other, "Same run, explained by its thinking": {"explained_by": "reasoning"}}
        return {**other, "Same run, explained by its answer": {"explained_by": "answer"}}

    def other(self, spec: AskSpec, fields: dict[str, Any], run_id: str, view: AskView | None) -> AskSpec:
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
        return AskSpec.model_validate({**spec.model_dump(), **roles, **fields})

    def same(self, spec: AskSpec, run_id: str, view: AskView) -> AskSpec:
        """Return the specification with the new questions that were asked."""
        return AskSpec.model_validate({**spec.model_dump(), **_given(spec, run_id, view)})

    def note(self, specs: Mapping[str, AskSpec]) -> str:
        """Say where the new questions come from, who predicted, and whether the predictors differ."""
        sources = {spec.given_from for spec in specs.values() if spec.given}
        if sources:
            whose = "one of these explanations" if sources <= set(specs) else "the explanation in another run"
            sentences = [
                f"The new questions were written from {whose} and given to all. The paper's method writes new ones "
                "from each explanation, so this is not the paper's precision."
            ]
        else:
            sentences = [
                "As in the paper, the new questions were written for each explanation separately. Rows match where "
                "runs asked the same question."
            ]
        if len(predictors := list(dict.fromkeys(" and ".join(spec.roles["simulator"]) for spec in specs.values()))) > 1:
            sentences.append(f"The predictors differ ({plain(', '.join(predictors))}), so a difference may be theirs.")
        else:
            sentences.append(f"{plain(predictors[0])} made the predictions.")
        return " ".join(sentences)

    def methods(self) -> None:
        """Draw procedure, figures, rules, prompts and what the paper reported."""
        texts = plain_methods.method_texts(LAB)
        fooled, fool = (
            "\n".join(
                f"- `{robot.id}` {robot.title}. {robot.about} It fools {robot.fools}."
                for robot in worthless().values()
                if robot.id.endswith("-0") and robot.gains is gains
            )
            for gains in (False, True)
        )
        st.markdown("\n\n".join([texts["fooled"], fooled, texts["fool"], fool]))
        plain_methods.folded(plain_methods.RULES, "rule", "rules", texts["rules"])
        st.subheader("Prompts", anchor=False)
        plain_methods.prompts(PROMPTS / "simulatability", "template", bind="query-params")
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

    def offers(self, view: AskView) -> tuple[Offer, ...]:
        """Offer a question of one's own if there is an explanation to predict its answer from."""
        return ("question",) if view.log.status == "completed" and view.starter else ()

    def extra_panel(self, view: AskView, active: bool) -> None:
        """Draw a field for a question of one's own, and link to the qualification tests."""
        run_id = _run_id(view)
        if run_id and self.offers(view) and session.runs().owns(run_id):
            _add_by_hand(run_id, view, "" if view.log.case == ONE else f", of “{view.title}”")
        for exam in (one for one in view.exams.values() if one.run):
            st.page_link(
                addresses.CASE,
                label=f"Qualification test of {plain(short(exam.simulator))}, the predictor",
                icon=":material/school:",
                query_params={"run": exam.run},
            )

    def _you_predict(self, view: AskView, active: bool) -> None:
        """Offer to guess first while answers are still to come, if the predictor cannot give a verdict."""
        # Nothing is known about the predictor until the qualification test is over.
        if not active or (view.exam is None and not view.is_by_person) or not self.may_predict(view, active):
            return
        no_verdict = f"There is no verdict here: {view.no_verdict_reason}"
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

    def longer_run(self, spec: AskSpec, view: AskView) -> NextRun | None:
        """Return the run with as many new questions as a verdict on one explanation takes, if this one had fewer and
        showed nothing.
        """
        number = fewest()
        is_unclear = view.outcome in ("too few", "not shown")
        if view.is_by_person or spec.counterfactuals >= number or not is_unclear:
            return None
        more = {"counterfactuals": number, "given": (), "given_from": ""}
        return NextRun(f"Ask {number} new questions", spec.model_copy(update=more))

    def may_predict(self, view: AskView, active: bool = False) -> bool:
        """Whether there is something to predict, and nobody else's predictions give a verdict."""
        is_open = bool(view.no_verdict_reason) or view.is_by_person
        return is_open and bool(view.to_guess(active)) and "reader" not in st.query_params

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
        if "reader" not in st.query_params:
            plain_case.table(transcript, run_id)
            return
        st.page_link(
            addresses.of_lab(LAB),
            label="Stop guessing: show all outcomes",
            icon=":material/visibility:",
            query_params={name: value for name, value in st.query_params.to_dict().items() if name != "reader"},
        )

    def with_real_model(self, spec: AskSpec, view: AskView) -> NextRun | None:
        """Return the run that asks a real model the same question, and lets the visitor predict."""
        return real_model.after_robot(spec, _given(spec, _run_id(view), view))

    def welcome(self) -> None:
        """Offer to ask a real model."""
        real_model.welcome()


def _given(spec: AskSpec, run_id: str, view: AskView) -> dict[str, Any]:
    """Return a case's new questions, to be used in another run, and the run they come from."""
    asked = [
        row.counterfactual for row in view.counted_rows() if row.counterfactual and row.by(view.run_rules).is_question
    ]
    given = tuple(one.model_dump(include=set(WrittenQuestion.model_fields)) for one in asked)
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


def _suggest(spec: AskSpec, run_id: str) -> None:
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
            own["text"] = text_of(Pair(**own)) if all(own.values()) else ""
        if st.form_submit_button("Add", icon=":material/add:", key="add") and own["text"]:
            record = Counterfactual.model_validate({"origin": "hand", **own})
            if resume(run_id, UserInput(view.log.case, record, "hand-{n}")):
                st.rerun()


PAGE = AskPage
