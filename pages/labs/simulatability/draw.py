"""Draws one case of the Ask lab, while it runs and after: verdict and tiles, then the explanation beside the rows."""

from __future__ import annotations

import streamlit as st

from core.labs.simulatability.records import Simulation
from core.labs.simulatability.verdict import against_reader, by_reader, colour, headline, lost, notes
from core.labs.simulatability.view import COUNTED, AskView
from core.labs.simulatability.words import DEFENDED, MARK_WORDS, METHODS, REASONS, said
from pages.labs.simulatability import rows
from pages.labs.simulatability.figures import meaning, researchers
from pages.labs.simulatability.rows import Guess
from pages.parts.calls import details
from pages.parts.text import large, plain
from pages.parts.tiles import LOOKS, State, strip

WORDS = {**METHODS, "strategyqa": "StrategyQA", "shp": "SHP"}
"""The same, and the tasks."""

NARROWEST = 462
"""Pixels of a column: from 1,100 pixels of the window on, two stand side by side."""

TILES: dict[State, str] = dict(MARK_WORDS.items())
"""What the states of a new question are called."""
_COLOURS = {"green": LOOKS["kept"].badge("it helped"), "red": LOOKS["broken"].badge("it misled"), "": ""}
"""What stands before a verdict; without a colour it is none."""
_GUESSING: dict[State, str] = {"waiting": "to guess"}


def draw(case: AskView, active: bool, guess: Guess | None = None) -> None:
    """Draw `case`. With `guess`, the reader says first what they expect, of all questions; `guess(item, value)` keeps
    it. Nothing that tells the answers is shown before.
    """
    sealed = is_sealed(case, active, guess is not None)
    _top(case, active, sealed)
    columns = st.grid(2, min_column_width=NARROWEST)
    with columns.cell():
        _asked(case)
        _step_answer(case, active)
    with columns.cell(), st.container(key="rows"):
        if case.starter is not None or case.rows:
            _step_questions(case, active, sealed)
            rows.draw(case, active, sealed, guess)
    if not sealed and case.log.score("precision", "repaired") is not None:
        researchers(case)
        meaning()


def is_sealed(case: AskView, active: bool, guessing: bool) -> bool:
    """Whether the reader has yet to guess."""
    return guessing and (active or any(row.guess is None for row in case.to_guess(active)))


def _top(case: AskView, active: bool, sealed: bool) -> None:
    """The sentence to take away, and one tile a question."""
    marks = rows.tiles(case, active, sealed)
    if sealed:
        left = sum(row.guess is None for row in case.to_guess(active))
        with st.container(border=True, key="guessing"):
            waiting = "More are being written." if active and not left else "The answers show once all are guessed."
            st.markdown(f"##### {left} left to guess" if left or not active else "##### Guess first", anchors=False)
            st.caption(f"From the explanation alone, what will the model say? {waiting}")
            strip(marks, "question", _GUESSING)
        return
    if case.log.score("precision", "repaired") is None:
        if marks:
            strip(marks, "question", TILES)
        return
    with st.container(border=True, key="verdict"):
        st.markdown(f"#### {_COLOURS[colour(case)]} {plain(headline(case))}", anchors=False)
        for sentence in (by_reader(case), *notes(case), against_reader(case)):
            if sentence:
                st.markdown(sentence)
        strip(marks, "question", TILES)
        if sentence := lost(case):
            st.warning(sentence, icon=":material/warning:")


def _asked(case: AskView) -> None:
    """What was asked, and whom: the form above may have moved on, and a link opens without it."""
    spec = case.spec
    if spec is None:
        return
    with st.container(key="asked", gap="small"):
        given = " · the new questions are those of another run" if spec.given else ""
        st.caption(f"Asked of {plain(spec.model)} · {METHODS[spec.method].lower()}{given}")
        # Of a data set the specification does not hold what is asked; the first record of the case does.
        asked = case.starter or spec
        if spec.task == "strategyqa" or not asked.response_1:
            st.markdown(f"**{plain(case.title)}**")
            return
        st.markdown(plain(asked.context))
        for column, name, response in zip(
            st.columns(2), ("Response 1", "Response 2"), (asked.response_1, asked.response_2), strict=True
        ):
            with column.container(border=True):
                st.markdown(f"**{name}**\n\n{plain(response)}")


def _step_answer(case: AskView, active: bool) -> None:
    starter = case.starter
    calls = [call for call in case.log.calls.values() if call.asked.role == "explainer"]
    with st.container(border=True, key="step-answer"):
        if starter is None:
            if calls and calls[-1].text:
                st.markdown(plain(calls[-1].text))
            elif active:
                st.skeleton(60)
            else:
                st.caption("No answer.")
            return
        if starter.method == "forced":
            st.caption(DEFENDED)
        gold = f" :gray[(correct: {said(starter.gold)})]" if starter.gold else ""
        st.markdown(f"It answers **{said(starter.answer[case.rules])}**{gold}")
        with st.container(key="explanation"):
            st.markdown(large(case.explanation or "(no explanation could be read)"), anchors=False)
        if call := case.log.calls.get(starter.call):
            details(call, "starter", dict(starter.answer))


def _step_questions(case: AskView, active: bool, sealed: bool) -> None:
    """How many questions there are. That the explanation should settle them is said of those that it does settle."""
    counted = case.counted()
    dropped = [row for row in counted if row.outcome("repaired") == "dropped"]
    asked = [row for row in counted if row.counterfactual and row not in dropped]
    settled = sum(row.outcome("repaired") in COUNTED for row in asked)
    unsettled = sum(row.outcome("repaired") == "cannot guess" for row in asked)
    of = f"{settled} {'question' if settled == 1 else 'questions'}"
    if sealed or not settled:
        parts = [f"{len(asked)} new {'question' if len(asked) == 1 else 'questions'}"]
    elif case.spec and case.spec.given:
        parts = [f"{of} that the explanation settles, of those written from the explanation in another run"]
    elif case.spec and case.spec.blind:
        parts = [f"{of} that the explanation settles, varied from the first question without looking at it"]
    else:
        parts = [
            f"{of} that the explanation settles, which is what {'it was' if settled == 1 else 'they were'} written for"
        ]
    if unsettled and not sealed:
        parts.append(f"{unsettled} that it does not settle")
    if under_way := 0 if sealed or not settled else len(asked) - settled - unsettled:
        parts.append(f"{under_way} {'under way' if active else 'not reached or not read'}")
    reasons: dict[str, int] = {}
    for row in dropped:
        if drop := row.dropped("repaired"):
            reasons[drop.reason] = reasons.get(drop.reason, 0) + 1
    aside = ", ".join(f"{n} × {REASONS.get(reason, reason)}" for reason, n in reasons.items())
    line = f"{'; '.join(parts)}.{f' Set aside: {aside}.' if aside else ''}"
    st.markdown("#### New questions", anchors=False)
    st.markdown(line if asked or reasons or not active else ":shimmer[writing questions …]")


def reader_says(value: str, who: str) -> Simulation:
    """The record of a reader's guess."""
    return Simulation(simulator=who, paper=value, repaired=value)
