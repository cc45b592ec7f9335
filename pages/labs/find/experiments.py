"""The first step: what the interpreter asked, round by round, and what the function gave."""

from __future__ import annotations

import streamlit as st

from core.labs.find.asked import budget, refusal
from core.labs.find.module_calls import item
from core.labs.find.records import Exchange, Probe
from core.labs.find.tasks import BY_MODEL
from core.labs.find.view import ProbeView
from core.transcript import Call
from pages.labs.find.calls import calls_made
from pages.labs.find.pictures import bars, picture
from pages.parts.calls import inspector
from pages.parts.text import plain

_TAIL = 900
"""Characters shown of a message that is still being written."""


def experiments(case: ProbeView, active: bool) -> None:
    spec = case.spec
    assert spec is not None
    who = {"you": "You experiment", "milan": "It is shown examples", "given": "Made elsewhere"}.get(
        spec.interpreter, "It experiments"
    )
    st.markdown(f"#### 1 · {who}", anchors=False)
    st.caption(plain(budget(case)))
    if why := refusal(case):
        st.caption(f":material/swap_horiz: It went on in plain text. {plain(why)}")
    if spec.category == "numeric" and case.truth is None and case.probes:
        picture(case)
    elif spec.category == "entities" and case.probes:
        bars(case)
    if spec.interpreter in BY_MODEL:
        _rounds(case, active)
    elif case.probes:
        shown = st.expander(f"{len(case.probes)} calls", icon=":material/list:", key="calls", on_change="rerun")
        with shown:
            if shown.open:
                calls_made(case.probes, spec.category)
            else:
                st.skeleton(120)
    elif spec.interpreter != "given":
        st.markdown(":shimmer[looking at the function …]" if active else ":gray[Nothing was called.]")
    if active and not case.probes and spec.is_module and spec.backbone == "embedding":
        st.caption("The sentence encoder is loaded on first use: this takes a few seconds, once.")


def _rounds(case: ProbeView, active: bool) -> None:
    """One step a round: what was asked, what came back, and behind a click the message itself."""
    given = case.of_round(0)
    if given:
        shown = st.expander(
            f"It is shown {len(given)} exemplars", icon=":material/list:", type="step", key="round-0", on_change="rerun"
        )
        with shown:
            if shown.open:
                calls_made(given, case.spec.category if case.spec else "")
            else:
                st.skeleton(60)
    messages = [call for call in case.log.calls.values() if call.asked.role == "interpreter"]
    known = {exchange.call for exchange in case.exchanges.values()}
    for exchange in sorted(case.exchanges.values(), key=lambda one: one.round):
        _round(case, exchange, active)
    waiting = [call for call in messages if call.asked.call not in known and call.failed is None]
    if active and waiting:
        text = waiting[-1].text
        with st.expander("…", icon="spinner", type="step", expanded=True, key="round-now"):
            st.markdown(plain(text[-_TAIL:]) if text else ":shimmer[thinking …]")


def _round(case: ProbeView, exchange: Exchange, active: bool) -> None:
    made = case.of_round(exchange.round)
    call = case.log.calls.get(exchange.call)
    if made:
        first = ", ".join(f"f({probe.input}) = {probe.output}" for probe in made[:3])
        label = f"Round {exchange.round} · {len(made)} {'call' if len(made) == 1 else 'calls'}: {first}"
        label += " …" if len(made) > 3 else ""
        label = plain(label if len(label) < 160 else label[:159] + "…")
        icon = ":material/experiment:"
    elif exchange.trouble:
        label, icon = f"Round {exchange.round} · {plain(exchange.trouble[:160])}", ":material/warning:"
    else:
        label, icon = f"Round {exchange.round} · it concludes", ":material/flag:"
    if exchange.invented:
        label += "  \n:red-badge[:material/auto_fix_high: made up outputs before it had them]"
    shown = st.expander(label, icon=icon, type="step", key=f"round-{exchange.round}", on_change="rerun")
    with shown:
        if shown.open:
            _round_details(case, exchange, made, call, active)
        else:
            st.skeleton(120)


def _round_details(case: ProbeView, exchange: Exchange, made: list[Probe], call: Call | None, active: bool) -> None:
    if exchange.invented:
        st.markdown("**Made up in its message**")
        st.code(exchange.invented, language=None, wrap_lines=True)
    if made:
        st.markdown("**What the function really gave**")
        calls_made(made, case.spec.category if case.spec else "")
    # The function's own prompts name the answer: they are shown once it is out.
    modules = [
        one
        for one in case.log.calls.values()
        if one.asked.role == "module" and one.asked.item in {item("input", probe.input) for probe in made}
    ]
    tabs = ["The interpreter's message"] + (["The calls behind the function"] if modules and case.truth else [])
    for tab, name in zip(st.tabs(tabs), tabs, strict=True):
        with tab:
            if name == tabs[0] and call is not None:
                inspector(call, _commands(exchange))
            elif name != tabs[0]:
                for one in modules[:20]:
                    inspector(one)


def _commands(exchange: Exchange) -> dict[str, str]:
    """How each set of rules read a message, as it was written down when the message came."""
    return {rules: words for rules, words in exchange.read if words}
