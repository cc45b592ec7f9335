"""Draws what a run of several checks has besides the one that stands on the stage."""

from __future__ import annotations

from collections.abc import Callable

import streamlit as st

from core.transcript import Transcript
from pages.components import plain_case
from pages.labs.check.form import EXPLANATIONS
from pages.labs.check.grid import grid


def choose(transcript: Transcript) -> str:
    """The paragraph, its explanation, the wording, and all its wordings at a glance."""
    cases = list(plain_case.by_number(transcript))
    if not cases:
        return ""
    run = transcript.started.run if transcript.started else ""
    known = st.query_params.get("case", "")
    shown = known if known in transcript.cases else cases[0]
    place, kind, _ = _parts(shown)
    places: dict[str, str] = {}
    for case in cases:
        places.setdefault(_parts(case)[0], _paragraph(transcript, case))
    _one_of(places, 0, shown, cases, st.selectbox, "Paragraph", f"shown-item-{run}")
    of_item = [case for case in cases if _parts(case)[0] == place]
    grid({case: transcript.cases[case] for case in of_item})
    kinds = {one: EXPLANATIONS.get(one, one) for one in (_parts(case)[1] for case in of_item)}
    _one_of(kinds, 1, shown, cases, st.pills, "Explanation", f"shown-explanation-{run}")
    wordings = [_parts(case)[2] for case in of_item if _parts(case)[1] == kind]
    names = {one: one.replace("-", ", ") for one in wordings}
    _one_of(names, 2, shown, cases, st.pills, "Wording", f"shown-wording-{run}")
    return shown


def _parts(case: str) -> tuple[str, str, str]:
    """Paragraph, explanation and wording of a case's id."""
    place, _, rest = case.partition("/")
    kind, _, wording = rest.partition("/")
    return place, kind, wording


def _paragraph(transcript: Transcript, case: str) -> str:
    return f"{_parts(case)[0]} · {transcript.cases[case].title.partition(' · ')[0]}"


def _one_of(
    titles: dict[str, str], at: int, shown: str, cases: list[str], draw: Callable[..., object], label: str, key: str
) -> None:
    """Lets the reader choose the part `at` of the id of the case that is `shown`; no choice where there is but one."""
    if len(titles) == 1:
        return
    # The address says which case is shown, whether it was chosen here, in the table, or by a link.
    st.session_state[key] = _parts(shown)[at]

    def choose() -> None:
        wanted = list(_parts(shown))
        wanted[at] = st.session_state[key]
        fit = [case for case in cases if _parts(case)[at] == wanted[at]]
        # As much of the rest as there is stays: the wordings of one explanation are not those of another.
        alike = {case: [one == other for one, other in zip(_parts(case), wanted, strict=True)] for case in fit}
        st.query_params["case"] = max(fit, key=lambda case: alike[case])

    more = {"required": True, "wrap": True} if draw is st.pills else {}
    draw(
        label, list(titles), format_func=lambda one: titles[one], key=key, label_visibility="collapsed",
        on_change=choose, **more,
    )  # fmt: skip
