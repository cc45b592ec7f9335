"""The three sessions of one check, side by side as in the paper's figures."""

from __future__ import annotations

from functools import lru_cache

import streamlit as st

from core.events import Rules
from core.labs.consistency import parse
from core.labs.consistency.case import Case, Row
from core.labs.consistency.measure import label
from core.runs.transcript import Call
from core.text import diff
from pages.parts.calls import details
from pages.parts.text import difference, masked, plain, tinted

LONG = 900
"""Characters. A longer paragraph scrolls in its box."""

RULES: tuple[Rules, Rules] = ("paper", "repaired")

_EXPLAINS = {
    "counterfactual": "It edits the paragraph so that the answer changes",
    "attribution": "It lists the words that matter",
    "redaction": "It masks the words that matter",
}


@lru_cache(maxsize=256)
def pieces(original: str, edited: str) -> list[diff.Piece]:
    """The word-level difference; the same while a run is watched."""
    return diff.pieces(original, edited)


def draw(case: Case, row: Row, active: bool) -> None:
    """Classify, explain, classify again; below them what random masks do, and whether it thinks that it can tell."""
    first, second, third = st.columns(3)
    with first, st.container(border=True, key="session-1"):
        _classify(case, row, active)
    with second, st.container(border=True, key="session-2"):
        _explain(case, row, active)
    with third, st.container(border=True, key="session-3"):
        _again(case, row, active)
    if row.control is not None:
        _control(case, row)
    if row.ability is not None:
        st.markdown(
            f"Asked whether it can tell at all, it says **{plain(row.ability.repaired or 'something unreadable')}**."
        )
        if call := case.told.calls.get(row.ability.call):
            details(
                call, f"{row.key}-ability", {"paper": str(row.ability.paper), "repaired": str(row.ability.repaired)}
            )


def _classify(case: Case, row: Row, active: bool) -> None:
    st.markdown("**1 · It answers**")
    _text(plain(row.check.item.paragraph))
    call = _call(case, row, row.classification.call if row.classification else None, "classifier", 0)
    _answer(row.reading("before"), row.classification is not None, call, active)
    _details(row, call, "before")


def _explain(case: Case, row: Row, active: bool) -> None:
    kind = row.check.explanation
    st.markdown(f"**2 · {_EXPLAINS[kind]}**")
    call = _call(case, row, row.explained.call if row.explained else None, "explainer", 0)
    edited = row.edited()
    if row.explained is None:
        _coming(call, active and row.found is None)
        if row.found is not None:
            st.caption("It was not asked: there is no answer to turn into another.")
    elif edited is None:
        st.markdown(":orange-badge[could not be read]")
        _text(plain(call.text if call else ""))
    elif kind == "attribution":
        original = row.check.item.paragraph
        _text("".join(
            tinted(text, "orange") if op == "removed" else plain(text)
            for op, text in pieces(original, edited) if op != "added"
        ))  # fmt: skip
        named = row.explained.words_repaired or row.explained.words_paper or ()
        st.markdown(" ".join(f":orange-badge[{plain(word)}]" for word in named[:30]))
    else:
        _text(difference(pieces(row.check.item.paragraph, edited)))
    if kind == "counterfactual" and row.explained is not None and row.explained.wanted:
        st.markdown(f"so that the answer is **{plain(row.explained.wanted)}**")
    _details(row, call, "explain")


def _again(case: Case, row: Row, active: bool) -> None:
    st.markdown("**3 · It answers again, asked afresh**")
    edited = row.edited()
    if edited is not None:
        _text(masked(edited, row.check.wording.mask))
    name = (row.again.call_repaired or row.again.call_paper) if row.again else None
    call = _call(case, row, name, "classifier", 1)
    if edited is None and row.found is not None:
        st.caption("There is no edited paragraph to ask about.")
    else:
        _answer(row.reading("after"), row.again is not None, call, active and row.found is None)
    _details(row, call, "after")


def _control(case: Case, row: Row) -> None:
    control = row.control
    assert control is not None
    label = f"Random masks: {', '.join(plain(one or 'unread') for one in control.repaired)}"
    label += f" · every word masked: {plain(control.all_repaired or 'unread')}"
    shown = st.expander(label, icon=":material/casino:", key=f"control-{row.key}", on_change="rerun")
    with shown:
        if not shown.open:
            st.skeleton(60)
            return
        st.caption("As many words of like length masked at random, one draw a seed; and every word masked.")
        drawn = [*zip(control.texts, control.calls, control.repaired, strict=True)]
        drawn.append((control.all_text, control.all_call, control.all_repaired))
        for number, (text, name, said) in enumerate(drawn):
            st.markdown(masked(text, row.check.wording.mask))
            st.markdown(f"It answers **{plain(said or 'something unreadable')}**")
            if call := case.told.calls.get(name):
                details(call, f"{row.key}-random-{number}")


def _text(markdown: str) -> None:
    """A paragraph; a long one scrolls."""
    with st.container(height=300 if len(markdown) > LONG else "content", border=False):
        st.markdown(markdown)


def _answer(said: str | None, known: bool, call: Call | None, active: bool) -> None:
    if not known:
        _coming(call, active)
    elif said is None:
        st.markdown("Its answer :orange-badge[could not be read]")
    else:
        st.markdown(f"It answers **{plain(said)}**")


def _coming(call: Call | None, active: bool) -> None:
    """An answer that is not there yet."""
    if call is not None and call.failed is not None:
        st.error(plain(call.failed.message), icon=":material/error:")
    elif call is not None and call.text:
        st.markdown(plain(call.text))
    elif active:
        st.skeleton(60)
    else:
        st.caption("No answer.")


def _call(case: Case, row: Row, name: str | None, role: str, which: int) -> Call | None:
    """The call of that name, or while it is not known the one under way."""
    if name is not None:
        return case.told.calls.get(name)
    of_role = [call for call in row.calls if call.asked.role == role]
    if role == "classifier":
        of_role = [call for call in of_role if (call.asked.item == row.key) == bool(which)]
    return of_role[0] if of_role else None


def _details(row: Row, call: Call | None, session: str) -> None:
    """Prompt and raw answer of a session, and how each set of rules read it."""
    if call is None:
        return
    readings: dict[str, str] = {}
    if call.answered is not None:
        for rules in RULES:
            if session != "explain":
                readings[rules] = label(row.check.item, call.text, rules) or "nothing readable"
            elif row.check.explanation == "attribution":
                readings[rules] = ", ".join(parse.word_list(call.text, rules) or ["nothing readable"])
            else:
                readings[rules] = "a paragraph" if parse.paragraph(call.text, rules) is not None else "nothing readable"
    details(call, f"{row.key}-{session}", readings)
