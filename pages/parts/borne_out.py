"""Beside whoever reads automatically, rules or a model: how often it is right by people's labels so far."""

from __future__ import annotations

import streamlit as st

from core import entry
from core.lab import Judgement, Lab
from core.statistics import FEW
from core.store import labels, queries
from core.store.labels import BorneOut
from core.store.store import Store, StoreError
from pages.parts import session
from pages.parts.models import short
from pages.parts.text import plain


def of_lab(lab: Lab) -> dict[Judgement, list[BorneOut]]:
    """What labels say of each reader of the lab, for whoever looks; only what has a label."""
    try:
        keeper = entry.keeper()
    except StoreError:
        return {}
    found = _found(keeper.store, lab.name, session.viewer(), keeper.changes)
    return {one: readers for one in lab.judgements if (readers := found[one.name])}


@st.cache_data(max_entries=32, show_spinner=False)
def _found(_store: Store, lab: str, viewer: str | None, changes: int) -> dict[str, list[BorneOut]]:
    declared = entry.labs()[lab]
    return {one.name: labels.borne_out(_store, declared, one, viewer) for one in declared.judgements}


def beside(run_id: str, role: str, model: str, read: bool) -> None:
    """Below a call: how often the rules that `read` it, and the `model` that was asked as `role`, are right."""
    if not (of := _lab(run_id)):
        return
    for judged, readers in of_lab(of).items():
        here = read if not judged.role else judged.role == role
        readers = [one for one in readers if not judged.role or model in one.reader.split(", ")]
        if here and readers:
            st.caption(f"{judged.title}, by labels: {said_of(readers)}.")


def _lab(run_id: str) -> Lab | None:
    try:
        row = queries.run(entry.keeper().store, run_id)
    except StoreError:
        return None
    return entry.labs().get(row["lab"]) if row else None


def said_of(readers: list[BorneOut]) -> str:
    """The readers in a line; of fewer than ten labels only how many there are."""
    return "; ".join(
        said(one) if one.n >= FEW else f"**{plain(short(one.reader))}** {labelled(one.n)} so far; figures from {FEW} on"
        for one in readers
    )


def labelled(n: int) -> str:
    """So many labels."""
    return f"{n:,} label{'' if n == 1 else 's'}"


def said(found: BorneOut) -> str:
    """How often a reader is right, with what corrects for chance."""
    often = f"**{plain(short(found.reader))}** right in {found.right} of {found.n}"
    if found.balanced.value is None and found.kappa.value is None:
        return f"{often} (too few or too much alike for balanced accuracy and kappa)"
    few = ", for of the others nobody said what they should be" if found.balanced.n < found.n else ""
    figures = f"balanced accuracy {figure(found.balanced.value)}, kappa {figure(found.kappa.value)}"
    return f"{often} ({figures}, n {found.balanced.n}{few})"


def figure(value: float | None) -> str:
    """A figure between -1 and 1, or that there is none."""
    return "undefined" if value is None else f"{value:.2f}"


def below_outcomes(labs: list[str]) -> None:
    """Below the facet of outcomes, which were read automatically: how often that is right in these labs."""
    for name in labs:
        lab = entry.labs().get(name)
        for judged, readers in (of_lab(lab) if lab else {}).items():
            by_rules = [one for one in readers if one.reader == "repaired rules"]
            if lab and not judged.role and by_rules:
                st.caption(f"{plain(lab.title)}: outcomes are read by rules; by labels {said_of(by_rules)}.")


def everywhere() -> None:
    """All readers of all labs in a table; nothing where nobody labelled."""
    rows = [
        {
            "Lab": lab.title,
            "What is judged": judged.title,
            "Who read": short(one.reader),
            "Right by labels": f"{one.right:,} of {one.n:,}" if one.n >= FEW else f"{labelled(one.n)} so far",
            "Balanced accuracy": figure(one.balanced.value) if one.n >= FEW else "–",
            "Kappa": figure(one.kappa.value) if one.n >= FEW else "–",
            "n of these two": f"{one.balanced.n:,}",
        }
        for lab in entry.labs().values()
        for judged, readers in of_lab(lab).items()
        for one in readers
    ]
    if not rows:
        return
    st.header("How often readers are right", anchor=False)
    st.markdown(
        "What rules and models read automatically, held against the verdicts that people passed on single cases. "
        f"Figures come from {FEW} labels on. Who labels chooses which cases, so this is no rate over all of them."
    )
    st.table(rows, border="horizontal", hide_index=True, alt="How often each reader is right by people's labels")
