"""Draws what a run of several checks has besides the one that stands on the stage."""

from __future__ import annotations

from collections.abc import Callable

import streamlit as st

from core.events import Scored
from core.labs.consistency import verdict as words
from core.labs.consistency.lab import LAB
from core.score import is_thin
from core.transcript import Transcript
from pages.labs.consistency import table
from pages.labs.consistency.form import EXPLANATIONS
from pages.labs.consistency.grid import WORDS, grid
from pages.parts import plain_case
from pages.parts.text import emphasised
from pages.parts.tiles import Tile, strip


def several(transcript: Transcript, run_id: str) -> None:
    """The run's figures, all its checks, and over several paragraphs the paper's pictures."""
    results = [one.result for one in transcript.cases.values() if one.result]
    differing = sum(result["outcome_paper"] != result["outcome_repaired"] for result in results)
    with st.expander("For researchers: all checks", icon=":material/monitoring:", key="figures-of-all"):
        figures(transcript, f"{differing} of {len(transcript.cases)} outcomes depend on which rules read the answers.")
    table.draw(transcript, run_id)


def choose(transcript: Transcript) -> str:
    """First what came of all; then the paragraph, its explanation, the wording, and all its wordings at a glance."""
    cases = list(plain_case.by_number(transcript))
    if not cases:
        return ""
    _verdict_on_all(transcript)
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


def _verdict_on_all(transcript: Transcript) -> None:
    """The run's sentence, and one tile a check."""
    results = [one.result for one in plain_case.by_number(transcript).values()]
    marks = [Tile(LAB.means(str(result["outcome_repaired"])) if result else "waiting") for result in results]
    with st.container(border=True, key="verdict-of-all"):
        st.markdown(f"#### {emphasised(words.summary(transcript))}", anchors=False)
        strip(marks, "check", WORDS)
        _thin(transcript.score("faithfulness", "repaired"))


def _thin(score: Scored | None) -> None:
    if score is not None and score.of and is_thin(score.n, score.of):
        st.warning(
            f"Only {score.n} of {score.of} checks could be decided. Do not lean on the figures.",
            icon=":material/warning:",
        )


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


def figures(state: Transcript, depend: str) -> None:
    """The figures of a run. `depend` says how many verdicts depend on the rules."""
    shown = {metric.name: state.score(metric.name, "repaired") for metric in LAB.metrics}
    if shown["faithfulness"] is None:
        return
    there = [(metric, score) for metric in LAB.metrics if (score := shown[metric.name]) is not None]
    for column, (metric, score) in zip(st.columns(len(there)), there, strict=True):
        always = score.detail.get("always_yes")
        with column:
            plain_case.figure(metric, score, "" if always is None else f" · always saying *yes*: {always:.2f}")
    faithfulness = shown["faithfulness"]
    _by_rules(faithfulness, state.score("faithfulness", "paper"), depend)


def _by_rules(faithfulness: Scored, paper: Scored | None, depend: str) -> None:
    """The other ways to count: all checks, and the paper's own reading."""
    lines = []
    of_all = faithfulness.detail.get("of_all")
    if of_all is not None:
        n = faithfulness.detail.get("of_all_n")
        lines.append(
            f"Counting wrong first answers too: faithfulness {of_all:.2f} ({n} {'check' if n == 1 else 'checks'})."
        )
    if paper is not None:
        value = "undefined" if paper.value is None else f"{paper.value:.2f} ({paper.n} of {paper.of})"
        lines.append(f"Read by the paper's own rules: faithfulness {value}. {depend}")
    lines.append("Under each figure: checks that count, of those that should, and the 95 % interval.")
    st.caption("  \n".join(lines))
