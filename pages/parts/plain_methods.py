"""A lab's section of the Methods page, drawn from what the lab declares."""

from __future__ import annotations

from pathlib import Path

import pandas as pd
import streamlit as st
from pydantic import ValidationError

from core.lab.lab import Lab
from core.text.templates import TemplateError, load
from pages.parts.text import plain


def draw(lab: Lab) -> None:
    """What it asks, its figures, and its prompts."""
    st.header(lab.title, anchor=False)
    st.markdown(f"{plain(lab.question)}\n\n{lab.about}")
    for metric in lab.metrics:
        st.markdown(f"**{plain(metric.title)}**: {plain(metric.help)}")
    st.subheader(f"Prompts of {lab.title}", anchor=False)
    if lab.templates is not None:
        _templates(lab, lab.templates)
    else:
        _listed(lab)


def _templates(lab: Lab, folder: Path) -> None:
    """One of the templates, turn by turn, as it lies in the lab's folder."""
    names = sorted(path.stem for path in folder.glob("*.toml"))
    if chosen := st.selectbox("Template", names, key=f"{lab.name}-template"):
        try:
            template = load(chosen, folder)
        except TemplateError as error:
            st.error(plain(str(error)), icon=":material/error:")
            return
        count = len(template.demonstrations)
        st.caption(
            f"{plain(template.role)} · version {template.version} · hash {template.hash} · {count} demonstrations"
        )
        turns = {"system": template.system, "user": template.user}
        turns |= {"assistant, as a demonstration": template.assistant, "user, at last": template.ask}
        text = "\n\n".join(f"[{role}]\n{turn}" for role, turn in turns.items() if turn)
        st.code(text, language=None, wrap_lines=True)


def _listed(lab: Lab) -> None:
    """Those of a run as it is by default, by their hashes."""
    try:
        hashes = lab.prompts(lab.spec())
    except ValidationError:
        hashes = {}
    if not hashes:
        st.caption("Each run says which prompts it sent, by their hashes; each call shows its own.")
        return
    st.dataframe(
        pd.DataFrame(hashes.items(), columns=["Prompt", "Hash"]),
        hide_index=True, placeholder="", key=f"{lab.name}-prompts",
        alt="The prompts of a run as it is by default, with their hashes",
    )  # fmt: skip
