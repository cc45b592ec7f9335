"""Draws a case of the Check lab, while it runs and after: three sessions, the verdict, the figures."""

from __future__ import annotations

import streamlit as st

from core.datasets.items import Item
from core.events import Scored
from core.labs.consistency import words
from core.labs.consistency.case import Case, Row
from pages.parts import check_sessions
from pages.parts.check_grid import STATES, grid
from pages.parts.run import stopped
from pages.parts.text import difference, emphasised, plain

EXPLANATIONS = {"counterfactual": "Counterfactual", "attribution": "Feature attribution", "redaction": "Redaction"}


def draw(case: Case, active: bool) -> None:
    """Draw `case`. Of several checks one is shown whole; the reader chooses which."""
    stopped(case.told, case.unread)
    if not case.rows:
        if active:
            st.skeleton(120)
        return
    item = _chosen_item(case)
    rows = case.of(item.id)
    _asked(case, item)
    if len(rows) > 1:
        grid(rows)
    if rows:
        row = _chosen_row(case, rows)
        check_sessions.draw(case, row, active)
        if len(case.rows) == 1:
            st.markdown("#### Verdict", anchors=False)
        _row_verdict(row, several=len(case.rows) > 1)
        if item.reference_edit:
            _by_a_person(item)
    _verdict(case)


def shown_key(case: Case, what: str) -> str:
    """The widget's key that holds which item, explanation or wording is shown; each run has its own."""
    return f"shown-{what}-{case.told.started.run if case.told.started else ''}"


def _chosen_item(case: Case) -> Item:
    if len(case.items) == 1:
        return next(iter(case.items.values()))
    labels = {id: f"{id} · {item.paragraph[:60]}…" for id, item in case.items.items()}
    chosen = st.selectbox("Paragraph", list(labels), format_func=lambda id: labels[id], key=shown_key(case, "item"))
    return case.items[chosen]


def _chosen_row(case: Case, rows: list[Row]) -> Row:
    """The check to show: first its explanation, then its wording."""
    kinds = list(dict.fromkeys(row.check.explanation for row in rows))
    kind = _one_of("Explanation", {kind: EXPLANATIONS[kind] for kind in kinds}, shown_key(case, "explanation"))
    of_kind = {row.key.rpartition("/")[2]: row for row in rows if row.check.explanation == kind}
    name = _one_of("Wording", {name: name.replace("-", ", ") for name in of_kind}, shown_key(case, f"wording-{kind}"))
    return of_kind[name]


def _one_of(label: str, titles: dict[str, str], key: str) -> str:
    """One of several by its title; without a choice where there is but one. Titles must not change in a run."""
    first = next(iter(titles))
    if len(titles) == 1:
        return first
    chosen = st.pills(
        label,
        list(titles),
        default=first,
        required=True,
        format_func=lambda one: titles[one],
        key=key,
        label_visibility="collapsed",
        wrap=True,
    )
    return chosen or first


def _asked(case: Case, item: Item) -> None:
    """What was asked, and whom: the form above may have moved on, and a link opens without it."""
    about = item.question or item.hypothesis
    if about:
        st.markdown(f"{'Question' if item.question else 'Statement'}: **{plain(about)}**")
    facts = [f"asked of {case.spec.model}"] if case.spec else []
    if item.choices:
        facts.append(f"answers: {', '.join(item.choices)}")
    facts.append(f"correct: {item.label}" if item.label else "no correct answer is known")
    st.caption(plain(" · ".join(facts)))


def _row_verdict(row: Row, several: bool) -> None:
    state = STATES[row.state()]
    with st.container(border=True, key="row-verdict"):
        st.markdown(f"##### :{state.colour}[{state.icon}] {emphasised(words.row_verdict(row))}", anchors=False)
        for caveat in words.caveats(row):
            st.markdown(f"- {emphasised(caveat)}")
        if row.found is not None and row.found.kept is not None:
            masks = f"{row.found.masked:.0%} of the words masked · " if row.found.masked is not None else ""
            st.caption(f"{masks}{row.found.kept:.0%} of the words kept · word distance {row.found.distance:.2f}")
        drop = row.dropped()
        if drop is not None and several:
            st.caption(f"Not counted: {plain(drop.reason)}. {plain(drop.detail)}")
        if row.found is not None and row.state("paper") != row.state("repaired"):
            st.caption(f"By the paper's own rules: {emphasised(words.row_verdict(row, 'paper'))}")


def _by_a_person(item: Item) -> None:
    with st.expander("How a person edited it", icon=":material/edit:", key="by-a-person"):
        st.caption("The data set holds this edit, made by hand so that the correct answer turns into the other one.")
        st.markdown(difference(check_sessions.pieces(item.paragraph, item.reference_edit or "")))


def _verdict(case: Case) -> None:
    score = case.told.score("faithfulness", "repaired")
    if score is None:
        return
    if len(case.rows) > 1:
        st.markdown("#### Verdict", anchors=False)
    with st.container(border=True, key="verdict"):
        if len(case.rows) > 1:
            st.markdown(f"##### {emphasised(words.verdict(case))}", anchors=False)
        _figures(case)
    _meaning()


def _figures(case: Case) -> None:
    told = case.told
    names = {
        "faithfulness": (
            "Faithfulness",
            "How often it kept to its explanation, where its first answer was right.",
        ),
        "faithfulness_control": ("Random masks", "How often as many random words masked had the same effect."),
        "faithfulness_gain": ("Gain", "Faithfulness of attributions and redactions minus that of random masks."),
        "accuracy": ("Accuracy", "How often the first answer was right."),
    }
    shown = {name: told.score(name, "repaired") for name in names}
    for column, (name, score) in zip(st.columns(len(names)), shown.items(), strict=True):
        if score is not None:
            with column:
                _figure(score, *names[name])
    faithfulness = shown["faithfulness"]
    if faithfulness is None:
        return
    if faithfulness.of and faithfulness.n < 0.7 * faithfulness.of:
        st.warning(
            f"Only {faithfulness.n} of {faithfulness.of} checks could be decided. Do not lean on these figures.",
            icon=":material/warning:",
        )
    _by_rules(case, faithfulness)


def _figure(score: Scored, name: str, help: str) -> None:
    """A headline figure with its count and interval; grey where less than 70 % of what should count does."""
    faint = score.n < 0.7 * score.of
    value = "undefined" if score.value is None else f"{score.value:.2f}"
    st.metric(f":gray[{name}]" if faint else name, value, help=help)
    known = score.low is not None and score.high is not None
    interval = f" · {score.low:.2f} to {score.high:.2f}" if known else ""
    st.caption(f"{score.n} of {score.of}{interval}")


def _by_rules(case: Case, faithfulness: Scored) -> None:
    """The other ways to count: all checks, and the paper's own reading."""
    lines = []
    of_all = faithfulness.detail.get("of_all")
    if of_all is not None:
        n = faithfulness.detail.get("of_all_n")
        lines.append(
            f"Counting wrong first answers too: faithfulness {of_all:.2f} ({n} {'check' if n == 1 else 'checks'})."
        )
    paper = case.told.score("faithfulness", "paper")
    if paper is not None:
        value = "undefined" if paper.value is None else f"{paper.value:.2f} ({paper.n} of {paper.of})"
        differing = len(case.differing())
        lines.append(
            f"Read by the paper's own rules: faithfulness {value}. {differing} of {len(case.rows)} verdicts depend on "
            "which rules read the answers."
        )
    lines.append("Under each figure: checks that count, of those that should, and the 95 % interval.")
    st.caption("  \n".join(lines))


def _meaning() -> None:
    with st.expander("What this means", icon=":material/lightbulb:", key="meaning"):
        st.markdown(
            "The model explained its answer by something one can try out. A fresh session, which knows nothing of the "
            "explanation, tried it out.\n\n"
            "- A **counterfactual** promises: with this edit the answer changes. An **attribution** or a **redaction** "
            "promises: without these words nobody can tell.\n"
            "- **Faithfulness** is the share of promises kept, where the first answer was right.\n"
            "- **Random masks** show what luck does: as many words of like length masked at random. Only the **gain** "
            "over them is the explanation's own.\n"
            "- One unfaithful wording is enough to doubt an explanation: people ask in many ways, and each of them "
            "should get the truth. That is how the paper argues."
        )
    with st.expander("What it does not mean", icon=":material/block:", key="no-meaning"):
        st.markdown(
            "- Not whether the answer is *right*, nor whether the explanation sounds good.\n"
            "- *Not faithful* is the weaker finding: another prompt or another draw may do better. Try every wording.\n"
            "- *Faithful* says that the words matter to the answer, not that nothing else does.\n"
            "- A model that masks nearly everything is faithful at no cost. Look at how much it masked."
        )
