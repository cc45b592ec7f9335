"""Beside the lists of Browse: what comes in, and what of it one takes along."""

from __future__ import annotations

import io
from functools import partial

import streamlit as st

from core import home
from core.report import case_html, export
from core.runs import bundle
from core.store import listing
from core.store.filters import Filter
from pages import addresses
from pages.components import exports, session
from pages.components.tables import download
from pages.components.upload import upload
from pages.results import facets
from pages.results.facets import Looked


def draw(looked: Looked, wanted: Filter) -> None:
    """Import, export of what is filtered, the sentences for a paper, and the way to Query."""

    def runs() -> list[str]:
        return listing.runs_of(looked.store, wanted, looked.viewer, looked.stopped)

    with st.container(horizontal=True, vertical_alignment="center", gap="small", key="take"):
        shown = st.popover("Export", icon=":material/download:", type="tertiary", key="export", on_change="rerun")
        with shown:
            if shown.open:
                _export(looked, wanted, runs())
        exports.for_a_paper(
            looked.store, runs,
            "Of whole runs with at least one row that matches: a figure over rows that were chosen by their outcome "
            "would mean nothing.",
        )  # fmt: skip
        with st.popover("Import", icon=":material/upload:", type="tertiary", key="import"):
            upload()
        st.page_link(addresses.QUERY, label="Query", icon=":material/database_search:")


def _export(looked: Looked, wanted: Filter, runs: list[str]) -> None:
    if not runs:
        st.caption("Nothing matches these filters.")
        return

    def table(kind: export.Kind) -> bytes:
        return export.table(export.rows(looked.store, wanted, looked.viewer, looked.stopped), kind)

    st.markdown("**What is filtered, as a table**")
    st.caption("A row for each case or trial by each set of rules, with the ids that lead to its run's journal.")
    with st.container(horizontal=True):
        for kind, form in export.FORMATS.items():
            st.download_button(
                form.title, partial(table, kind),
                file_name=f"results.{kind}", mime=form.mime, on_click="ignore", key=f"rows-{kind}",
            )  # fmt: skip
    places, of = listing.cases(looked.store, wanted, case_html.MOST, looked.viewer, looked.stopped)
    if places:
        st.markdown("**Its cases, to be read**")
        exports.page_of_cases(facets.chosen(wanted) or "All cases", places, of)
        if of > len(places):
            st.caption(f"The newest {len(places)} of {of:,} cases.")
    if session.runs().sees_all:
        st.markdown(f"**Its runs: {len(runs):,}**")
        download(
            "Download a bundle", lambda: _bundle(runs), "runs.zip", "application/zip", "folder_zip", "bundle",
            "A zip of whole journals, for Import elsewhere. A run that still goes on is left out.",
        )  # fmt: skip


def _bundle(runs: list[str]) -> bytes:
    target = io.BytesIO()
    bundle.write(target, runs, (home.journals(), home.recordings()))
    return target.getvalue()
