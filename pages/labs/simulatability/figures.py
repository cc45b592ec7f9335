"""Ask's figures, for who wants more than the sentence; and what all of it means."""

from __future__ import annotations

import streamlit as st

from core.events import Scored
from core.labs.simulatability.lab import LAB
from core.labs.simulatability.scene import differs
from core.labs.simulatability.view import AskView
from core.labs.simulatability.words import MEANS, MEANS_NOT
from core.text.glossary import on_hover
from pages import addresses
from pages.parts.text import plain

_BESIDE = {
    "gain_over_best": "more than by the best without it",
    "made_predictable": "of what only it made predictable",
    "precision_none": "from the answer alone",
    "precision_swapped": "with other reasons for the answer",
    "precision_question_only": "from the new question alone",
    "constant_guess": "by always guessing the same",
}
"""What stands beside precision, in small."""


def researchers(case: AskView) -> None:
    """Every figure with its count and interval, and what the paper's own rules read."""
    with st.expander("For researchers", icon=":material/monitoring:", key="researchers"):
        _figures(case)
        _exam(case)


def _exam(case: AskView) -> None:
    """What the run says of who predicted, each of several, and the way to that exam."""
    for number, exam in enumerate(case.exams.values(), start=1):
        known = f"{exam.right} of {exam.of} right in the exam"
        if not exam.run:
            st.caption(f"Who predicted: {plain(exam.simulator)}, by its rules {known}.")
            continue
        key = "that-exam" if number == 1 else f"that-exam-{number}"
        with st.container(horizontal=True, vertical_alignment="center", key=key):
            st.caption(f"Who predicted: {plain(exam.simulator)}, {known}.")
            st.page_link(addresses.CASE, label="That exam", icon=":material/school:", query_params={"run": exam.run})


def _figures(case: AskView) -> None:
    log = case.log
    left, right = st.columns(2)
    with left:
        _figure(log.score("precision", "repaired"), "Precision", "How often it did what its explanation led to expect.")
        for name, words in _BESIDE.items():
            if score := log.score(name, "repaired"):
                value = "undefined" if score.value is None else f"**{score.value:.2f}**"
                st.markdown(f":small[{value} :gray[{words}, {score.n} of {score.of}]]", help=LAB.metric(name).help)
        if any(row.guess for row in case.rows.values()):
            mine = case.reader_precision()
            value = "undefined" if mine.value is None else f"{mine.value:.2f}"
            chose = "yes or no" if case.spec is None or case.spec.task == "strategyqa" else "one of the two"
            st.markdown(f"**Your precision {value}** :gray[({mine.n} of your guesses were {chose})]")
    with right:
        if case.spec and case.spec.given:
            st.caption("No generality: the questions were written from the explanation in another run.")
        similarities = {"cosine": "by meaning", "bleu": "BLEU", "jaccard": "shared words, Jaccard"}
        scores = {name: log.score(f"generality_{name}", "repaired") for name in similarities}
        # Not one similarity now and another in a second: the headline waits for the encoder, unless there is none.
        headline = next((name for name in similarities if _defined(scores[name])), "cosine")
        if scores["cosine"] is not None:
            _figure(scores[headline], "Generality", f"How different the questions are that it settles ({headline}).")
        for name, words in {} if case.spec and case.spec.given else similarities.items():
            _generality(words, scores[name])
    if sentence := differs(case):
        st.caption(sentence)


def _defined(score: Scored | None) -> bool:
    return score is not None and score.value is not None


def _figure(score: Scored | None, name: str, help: str) -> None:
    """A headline figure with its count and interval."""
    if score is None:
        return
    value = "undefined" if score.value is None else f"{score.value:.2f}"
    st.metric(name, value, help=on_hover(name, help))
    known = score.low is not None and score.high is not None
    interval = f" · 95 % interval {score.low:.2f} to {score.high:.2f}" if known else ""
    st.caption(f"{score.n} of {score.of} questions {'counts' if score.n == 1 else 'count'}{interval}")


def _generality(words: str, score: Scored | None) -> None:
    if score is None:
        st.markdown(f":small[:gray[{words}] :shimmer[loading the sentence encoder …]]")
        return
    value = "undefined" if score.value is None else f"**{score.value:.2f}**"
    encoder = f", {plain(str(score.detail['encoder']))}" if "encoder" in score.detail else ""
    made_with = "; ".join(f"{key}: {what}" for key, what in score.detail.items())
    st.markdown(f":small[{value} :gray[{words}{encoder}]]", help=plain(made_with) or None)


def meaning() -> None:
    with st.expander("What this means", icon=":material/lightbulb:", key="meaning"):
        first, *further = MEANS
        st.markdown("\n".join((f"{first}\n", *(f"- {sentence}" for sentence in further))))
    with st.expander("What it does not mean", icon=":material/block:", key="no-meaning"):
        st.markdown("\n".join(f"- {sentence}" for sentence in MEANS_NOT))
