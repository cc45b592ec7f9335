"""Your turn: the reader probes the same function by hand, concludes, and is scored like any interpreter."""

from __future__ import annotations

import re

import streamlit as st

from core.labs.probe.functions.own import as_code, trouble
from core.labs.probe.lab import LAB
from core.labs.probe.records import Submission, Wish
from core.labs.probe.report import ProbeReport
from core.report.scenes import scene_of
from core.runs.engine import UserInput
from core.sandbox.unsupported import cause
from core.text.templates import load
from pages.components import session
from pages.components.run import resume
from pages.components.text import plain
from pages.components.throttle import let_others_draw
from pages.labs.probe import drawn, picking
from pages.labs.probe.figures import TITLES, number
from pages.viewer.component import stage

_HINTS = {
    "numeric": ("Numbers to try, separated by spaces", "-10 0 1 2.5 100"),
    "strings": ("Texts to try, one per line", "Hello World\nbanana\nroom 101"),
    "entities": ("Words to try, one per line or separated by commas", "eagle, violin, Paris, algebra"),
    "relations": ("Inputs to try, one per line or separated by commas", "France, Mozart, gold, elephant"),
}
_DOMAINS = {
    "numeric": "Numbers it holds for",
    "strings": "Texts it works for",
    "relations": "Inputs of the right kind that still give undefined",
}
_CODE = {"numeric": "def f(x):\n    return 2 * x + 1", "strings": "def f(x):\n    return x.upper()"}


def inputs_of(category: str, text: str) -> tuple[str, ...]:
    """Split what the reader typed into inputs."""
    if category == "numeric":
        return tuple(one for one in re.split(r"[\s,;]+", text) if one)
    if category == "strings":
        return tuple(line for line in text.splitlines() if line)
    return tuple(one.strip() for one in re.split(r"[\n,;]+", text) if one.strip())


def turn(run_id: str, case: ProbeReport) -> None:
    """Draw the form for probing by hand, until the reader concludes."""
    spec = case.spec
    assert spec is not None
    st.markdown("#### Your turn", anchors=False)
    st.caption(plain(spec.title))
    if not drawn.can_be_drawn(spec):
        _in_words(run_id, case)
        return
    st.markdown("We hide a function of numbers. Ask for a few values, then draw its curve.")
    # The chart has a fixed height, so that nothing moves between queries.
    did = drawn.chart(run_id, case)
    with st.expander("Type numbers, or answer in words and code", key="in-words"):
        _in_words(run_id, case)
    if isinstance(did, Wish):
        _go_on(run_id, UserInput(case.log.case, did, "wish-{n}"))
    elif did is not None:
        drawn.let_try(run_id, spec, drawn.ROBOT)
        _go_on(run_id, UserInput(case.log.case, did, "submission"))


def _in_words(run_id: str, case: ProbeReport) -> None:
    spec = case.spec
    assert spec is not None
    rounds = len(case.wishes)
    left = max(spec.probes - len(case.probes), 0)
    # The same words that an agent reads.
    hints = [line for line in load(f"find/agent-{spec.category}").user.splitlines() if line.startswith("- ")]
    st.markdown("\n".join(hints))
    st.caption(
        f"{len(case.probes)} of {spec.probes} calls of the function · {rounds} of {spec.rounds} rounds: each press of "
        f"the button is one{plain(case.carried_out())}"
    )
    # Above the results, because the fields would otherwise move with each call.
    if left and rounds < spec.rounds:
        _probing(run_id, case)
    else:
        st.info("Your budget is used up. Write down what the function does.", icon=":material/hourglass_empty:")
    tried, conclusion = st.columns([3, 2])
    with conclusion:
        if (told := picking.form(case)) is not None:
            _go_on(run_id, UserInput(case.log.case, told, "submission"))
        _concluding(run_id, case)
    if case.probes:
        with tried:
            stage("tried", [scene_of(LAB, case)], f"tried-{run_id}")


def _probing(run_id: str, case: ProbeReport) -> None:
    spec = case.spec
    assert spec is not None
    label, example = _HINTS[spec.category]
    with st.form("probing", clear_on_submit=True, border=False):
        if spec.category == "numeric":
            text = st.text_input(label, placeholder=example, key="inputs")
        else:
            text = st.text_area(label, placeholder=example, key="inputs", height=100)
        pressed = st.form_submit_button("Call the function", icon=":material/experiment:", key="call")
    if pressed:
        inputs = inputs_of(spec.category, text)
        if not inputs:
            st.warning("Write at least one input.", icon=":material/edit:")
            return
        _go_on(run_id, UserInput(case.log.case, Wish(inputs=inputs), "wish-{n}"))


def _concluding(run_id: str, case: ProbeReport) -> None:
    spec = case.spec
    assert spec is not None
    with st.form("concluding"):
        st.markdown("**What is it?**")
        description = st.text_area("Description", key="description", height=80, placeholder="What the function does")
        domain = ""
        if spec.category != "entities":
            domain = st.text_input("Domain", key="domain", placeholder=_DOMAINS[spec.category])
        interval = _interval() if spec.category == "numeric" else None
        code = ""
        if spec.category in _CODE:
            code = st.text_area(
                "A formula, or Python",
                key="code",
                height=140,
                placeholder=_CODE[spec.category],
                help="Only code can be scored; without it only your words count. A formula of x will do: 2 * x + 1",
            )
        pressed = st.form_submit_button("Conclude", type="primary", icon=":material/flag:", key="conclude")
    if pressed:
        if not description.strip() and not code.strip():
            st.warning("Write a description or code first.", icon=":material/edit:")
            return
        if code.strip() and (why := trouble(spec.category, code)):
            st.warning(
                f"This code cannot be run: {plain(cause(why))}  \nFix it, or leave it out and answer in words.",
                icon=":material/code_off:",
            )
            return
        code = as_code(code) if code.strip() else ""
        said = Submission(description=description.strip(), domain=domain.strip(), code=code.rstrip(), interval=interval)
        _go_on(run_id, UserInput(case.log.case, said, "submission"))


def _interval() -> tuple[float | None, float | None] | None:
    """Draw two numbers for the interval where values are replaced, since a description in words may be misread. None if
    both are empty.
    """
    left, right = st.columns(2)
    about = "Where we altered the function, if anywhere. An empty end is open; leave both empty for nowhere."
    low = left.number_input("Exception from", value=None, step=1.0, key="interval-from", help=about)
    high = right.number_input("to", value=None, step=1.0, key="interval-to", help=about)
    if low is None and high is None:
        return None
    return (high, low) if low is not None and high is not None and high < low else (low, high)


def _go_on(run_id: str, addition: UserInput) -> None:
    if resume(run_id, addition):
        # The function answers immediately, unless a model runs it; then the page shows the run in progress.
        with let_others_draw():
            session.run(run_id).wait(3)
        st.rerun()


def compare_figures(first: ProbeReport, second: ProbeReport) -> None:
    """Draw the figures of two interpreters of one function side by side."""
    cases = {_name(first): first, _name(second): second}
    if len(cases) < 2 or first.spec is None:
        return
    st.markdown("#### Side by side", anchors=False)
    rows = ["| | " + " | ".join(plain(name) for name in cases) + " |", "|---|---|---|"]
    metrics = dict.fromkeys([first.headline, *TITLES])
    for metric in metrics:
        values = [case.value(metric) for case in cases.values()]
        if any(value is not None for value in values):
            shown = ["undefined" if value is None else number(value) for value in values]
            rows.append(f"| {TITLES[metric]} | {' | '.join(shown)} |")
    rows.append("| calls | " + " | ".join(str(len(case.probes)) for case in cases.values()) + " |")
    with st.container(border=True, key="beside"):
        st.markdown("\n".join(rows))
        for name, case in cases.items():
            said = case.interpretation.description.repaired if case.interpretation else ""
            st.markdown(f"**{plain(name)}**  \n{plain(said) if said else ':gray[no description]'}")


def _name(case: ProbeReport) -> str:
    if case.spec is None:
        return ""
    return "You" if case.spec.interpreter == "you" else case.spec.model or case.spec.interpreter
