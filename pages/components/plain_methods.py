"""A lab's section of the Methods page, drawn from what the lab declares, and parts for labs that say more."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pandas as pd
import streamlit as st
from pydantic import ValidationError

from core import package_data
from core.labs.base.lab import Lab
from core.paper_figures import source
from core.text.templates import TemplateError, load
from pages.components.tables import table
from pages.components.text import plain

RULES = "Original parser and updated parser"


def method_texts(lab: Lab) -> dict[str, str]:
    """Draw title, paper, procedure and figures of the lab from `data/methods.toml`, and return all its texts by
    name.
    """
    texts: dict[str, str] = package_data.table("methods")[lab.name]
    paper = source(lab.name)
    authors = plain(texts.get("authors", paper["authors"]))
    st.header(texts["title"], anchor=False)
    after = f"After {authors} {paper['year']}, *{plain(paper['title'])}* (arXiv {plain(paper['arxiv'])})."
    st.markdown(f"{after}\n\n{texts['procedure']}")
    st.markdown(texts["figures"])
    return texts


def folded(title: str, icon: str, key: str, text: str, lines: Iterable[str] = ()) -> None:
    """Draw a text that unfolds on a click, with a list below it."""
    with st.expander(title, icon=f":material/{icon}:", key=key):
        st.markdown("\n\n".join(filter(None, (text, "\n".join(f"- {line}" for line in lines)))))


def draw(lab: Lab) -> None:
    """Draw the lab's question, its figures, and its prompts."""
    st.header(lab.title, anchor=False)
    st.markdown(f"{plain(lab.question)}\n\n{lab.about}")
    for metric in lab.metrics:
        st.markdown(f"**{plain(metric.title)}**: {plain(metric.help)}")
    st.subheader(f"Prompts of {lab.title}", anchor=False)
    if lab.templates is not None:
        prompts(lab.templates, f"{lab.name}-template")
    else:
        _listed(lab)


def prompts(folder: Path, key: str, **more: Any) -> None:
    """Let the reader choose a template of a folder, and show it turn by turn with its demonstrations. `more` goes to
    the selectbox.
    """
    names = sorted(path.stem for path in folder.glob("*.toml"))
    if chosen := st.selectbox("Template", names, key=key, **more):
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
        if count:
            table(pd.DataFrame(template.demonstrations), f"{key}-demonstrations", "The template's demonstrations")


def _listed(lab: Lab) -> None:
    """List the prompts of a run with default settings, with their hashes."""
    try:
        hashes = lab.prompts(lab.spec())
    except ValidationError:
        hashes = {}
    if not hashes:
        st.caption("Each run says which prompts it sent, by their hashes; each call shows its own.")
        return
    rows = pd.DataFrame(hashes.items(), columns=["Prompt", "Hash"])
    table(rows, f"{lab.name}-prompts", "The prompts of a run as it is by default, with their hashes")
