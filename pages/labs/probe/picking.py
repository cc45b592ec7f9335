"""Functions of texts: the person answers by choosing, for a few new texts, the output that the function gives."""

from __future__ import annotations

import streamlit as st

from core.labs.probe import output_quiz
from core.labs.probe.functions.base import FindFunction
from core.labs.probe.functions.source import load
from core.labs.probe.records import Submission
from core.labs.probe.report import ProbeReport
from core.labs.probe.tasks import ProbeSpec
from core.text.plurals import count_noun
from core.text.whitespace_marks import visible
from pages.components.text import plain


def function_of(spec: ProbeSpec) -> FindFunction | None:
    """Return the function if it was sampled and is deterministic; for any other function there is no quiz."""
    if spec.category != "strings" or spec.own or spec.function or spec.find_dir:
        return None
    function = load(spec)
    return None if function.is_stochastic else function


def form(case: ProbeReport) -> Submission | None:
    """Draw a few new texts with three outputs to choose from. Returns the person's answers, once; None otherwise."""
    spec = case.spec
    function = function_of(spec) if spec else None
    if spec is None or function is None or not case.probes:
        return None
    offered = output_quiz.quiz_items(function, spec.seed, {probe.input for probe in case.probes})
    with st.form("picking"):
        st.markdown("**What will it give for these?** Just pick; you need not state the rule.")
        given = {
            one.text: st.radio(
                plain(visible(one.text)),
                one.outputs,
                index=None,
                key=f"pick-{number}",
                format_func=lambda output: plain(visible(output)) or "(nothing)",
            )
            for number, one in enumerate(offered)
        }
        pressed = st.form_submit_button("Submit", type="primary", icon=":material/flag:", key="picked")
    if not pressed:
        return None
    if lacking := sum(output is None for output in given.values()):
        st.warning(f"Pick one for each: {count_noun(lacking, 'text')} to go.", icon=":material/edit:")
        return None
    return output_quiz.submission({text: output for text, output in given.items() if output is not None})


def is_picked(view: ProbeReport) -> bool:
    """Whether the person answered by choosing outputs, and the function can be loaded."""
    return bool(view.spec and output_quiz.picks(view.interpretation) and function_of(view.spec))


def draw_end(view: ProbeReport) -> None:
    """Draw the function, and each choice beside the right output."""
    assert view.spec is not None and view.truth is not None
    function = function_of(view.spec)
    assert function is not None
    rows = list(output_quiz.picked_outputs(function, output_quiz.picks(view.interpretation)))
    right = [one == given for _, one, given in rows]
    st.markdown(f"#### {sum(right)} of {len(rows)} picked right", anchors=False)
    st.markdown(f"**The function:** {plain(view.truth.description)}")
    shown = [
        {"Text": visible(text), "Picked": visible(one), "It gives": visible(given), "": "■" if hit else "□"}
        for (text, one, given), hit in zip(rows, right, strict=True)
    ]
    st.dataframe(shown, hide_index=True, key="picked-table", alt="What was picked, and what the function gives")
    st.caption("Guessing gets one in three.")
    tiles = "".join("■" if hit else "□" for hit in right)
    made = f"{tiles} {sum(right)} of {len(rows)}, {count_noun(len(view.probes), 'call')}"
    st.code(f"Explain Yourself: {view.spec.title}\n{made}", language=None, wrap_lines=True)
