"""The three sessions of one check, side by side as in the paper's figures."""

from __future__ import annotations

import streamlit as st

from core.by_rules import RULES
from core.labs.consistency import metrics
from core.labs.consistency.scene import EXPLAINS, WANTED, pieces
from core.labs.consistency.view import CheckView, Sessions
from core.transcript import Call
from pages.parts.calls import details
from pages.parts.text import difference, masked, plain, tinted

LONG = 900
"""Characters. A longer paragraph scrolls in its box."""


def draw(view: CheckView, active: bool) -> None:
    """Classify, explain, classify again; below them what random masks do, and whether it thinks that it can tell."""
    first, second, third = st.columns(3)
    with first, st.container(border=True, key="session-1"):
        _classify(view, active)
    with second, st.container(border=True, key="session-2"):
        _explain(view, active)
    with third, st.container(border=True, key="session-3"):
        _again(view, active)
    if view.control is not None:
        _control(view)
    if view.elsewhere is not None:
        _elsewhere(view)
    if view.ability is not None:
        answer = view.reading("before")
        known = metrics.knows(metrics.Told("", view.ability.repaired, answer, None))
        fits = f"Its answer, *{plain(answer or '')}*, {'fits' if known else 'does not fit'} that."
        says = plain(view.ability.repaired or "something unreadable")
        st.markdown(f"Asked whether it can tell at all, it says **{says}**. {fits if known is not None else ''}")
        if call := view.log.calls.get(view.ability.call):
            read: dict[str, str] = {rules: str(view.ability[rules]) for rules in RULES}
            details(call, f"{view.log.case}-ability", read)


def _classify(view: CheckView, active: bool) -> None:
    assert view.item is not None
    st.markdown("**1 · It answers**")
    _text(plain(view.item.paragraph))
    _answer(view.reading("before"), view.classification is not None, view.call("first"), active)
    _details(view, "first")


def _explain(view: CheckView, active: bool) -> None:
    assert view.check is not None
    kind, original = view.check.explanation, view.check.item.paragraph
    st.markdown(f"**2 · {EXPLAINS[kind]}**")
    call = view.call("explanation")
    edited = view.explained.edited.repaired if view.explained else None
    if view.explained is None:
        _coming(call, active and view.result is None)
        if view.result is not None:
            st.caption("It was not asked: there is no answer to turn into another.")
    elif edited is None:
        _text(f"It replied: “{plain(call.text.strip() if call else '')}”")
        st.markdown(f":orange-badge[could not be read] {WANTED[kind]}")
    elif kind == "attribution":
        _text("".join(
            tinted(text, "orange") if op == "removed" else plain(text)
            for op, text in pieces(original, edited) if op != "added"
        ))  # fmt: skip
        named = view.explained.words.repaired or ()
        st.markdown(" ".join(f":orange-badge[{plain(word)}]" for word in named[:30]))
    else:
        _text(difference(pieces(original, edited)))
    if kind == "counterfactual" and view.explained is not None and view.explained.wanted:
        st.markdown(f"so that the answer is **{plain(view.explained.wanted)}**")
    _details(view, "explanation")


def _again(view: CheckView, active: bool) -> None:
    assert view.check is not None
    st.markdown("**3 · It answers again, asked afresh**")
    edited = view.explained.edited.repaired if view.explained else None
    if edited is not None:
        _text(masked(edited, view.check.wording.mask))
    if edited is None and view.result is not None:
        st.caption("There is no edited paragraph to ask about.")
        if view.call("again"):
            st.caption("The paper's rules read one, and this is the session about it. It decides nothing here.")
    else:
        _answer(view.reading("after"), view.again is not None, view.call("again"), active and view.result is None)
    if not view.was_asked_again:
        st.caption("Nothing was changed, so it was not asked again: its first answer stands.")
        return
    _details(view, "again")


def _control(view: CheckView) -> None:
    control = view.control
    assert control is not None and view.check is not None
    label = f"Random masks: {', '.join(plain(one or 'unread') for one in control.repaired)}"
    label += f" · every word masked: {plain(control.all.repaired or 'unread')}"
    shown = st.expander(label, icon=":material/casino:", key=f"control-{view.log.case}", on_change="rerun")
    with shown:
        if not shown.open:
            st.skeleton(60)
            return
        st.caption("As many other words masked, content words for content words, drawn at random; and all masked.")
        drawn = [*zip(control.texts, control.calls, control.paper, control.repaired, strict=True)]
        drawn.append((control.all_text, control.all_call, control.all.paper, control.all.repaired))
        for number, (text, name, paper, said) in enumerate(drawn):
            st.markdown(masked(text, view.check.wording.mask))
            st.markdown(f"It answers **{plain(said or 'something unreadable')}**")
            if call := view.log.calls.get(name):
                read = {"paper": paper or "nothing readable", "repaired": said or "nothing readable"}
                details(call, f"{view.log.case}-random-{number}", read)


def _elsewhere(view: CheckView) -> None:
    """Another paragraph with what a counterfactual added at its end."""
    other = view.elsewhere
    assert other is not None
    label = f"What it added, at the end of another paragraph: {plain(other.bare or 'unread')}, then "
    shown = st.expander(
        f"{label}{plain(other.answer or 'unread')}", icon=":material/content_copy:",
        key=f"elsewhere-{view.log.case}", on_change="rerun",
    )  # fmt: skip
    with shown:
        if not shown.open:
            st.skeleton(60)
            return
        st.caption("Whatever turns any paragraph says nothing of the one that it was written for.")
        st.markdown(plain(other.text))
        for name, call in (("without", other.call_bare), ("with", other.call)):
            if asked := view.log.calls.get(call):
                said = (other.bare if name == "without" else other.answer) or "nothing readable"
                details(asked, f"{view.log.case}-elsewhere-{name}", {"repaired": said})


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


def _details(view: CheckView, session: Sessions) -> None:
    """Prompt and raw answer of a session, and how each set of rules read it when it came."""
    if call := view.call(session):
        read: dict[str, str] = {rules: value or "nothing readable" for rules, value in view.read_as(session).items()}
        details(call, f"{view.log.case}-{session}", read)
