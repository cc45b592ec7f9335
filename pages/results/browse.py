"""Browse: everything that was ever tested, by outcome."""

import io
from functools import partial
from typing import Any

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from core import entry, home
from core.report import export, standalone_html
from core.runs import bundle
from core.store import listing
from core.store.filters import Filter
from core.store.listing import Listed, RowPlace, Selection
from core.text.display import count_noun
from pages import addresses
from pages.components import recordings, run, session
from pages.components.recordings import upload
from pages.components.tables import button, download
from pages.components.text import plain
from pages.components.throttle import PACE
from pages.components.widgets import choose_named
from pages.results import address, example, facets, gallery, groups_list, judge, lists, meaning

# Import and export, beside the lists.


def draw(looked: Selection) -> None:
    """Draw the export of the filtered results, the sentences for a paper, the import, judges and the links to other
    pages.
    """
    with st.container(gap=None, key="take"):
        for page, label, icon in WAYS:
            st.page_link(page, label=label, icon=f":material/{icon}:", query_params=looked.filter.query())
        shown = st.popover("Export", icon=":material/download:", type="tertiary", key="export", on_change="rerun")
        with shown:
            if shown.open:
                _export(looked, _whole_runs(looked))
        run.for_a_paper(
            looked.store,
            lambda: _whole_runs(looked),
            "About whole runs with at least one matching row: a figure over rows chosen by their outcome "
            f"would mean nothing.{AUDITED if looked.blind else ''}",
        )
        with st.popover("Import", icon=":material/upload:", type="tertiary", key="import"):
            upload()
        judge.draw(looked)
        st.page_link(addresses.QUERY, label="Query", icon=":material/database_search:")
        if not looked.filter.recordings:
            example.link(looked)


AUDITED = " Runs with answers that you have yet to judge in your blind audit are left out."
"""What follows a description of runs that are taken whole."""


def _whole_runs(looked: Selection) -> list[str]:
    """Return the runs with a selected row, without those that are part of the visitor's blind audit."""
    blind = {run for run, _ in looked.blind}
    return [run for run in looked.run_ids() if run not in blind]


def _export(looked: Selection, runs: list[str]) -> None:
    if not (runs or looked.blind):
        st.caption("Nothing matches these filters.")
        return

    def table(kind: export.Kind) -> bytes:
        return export.table(export.rows(looked), kind)

    st.markdown("**The filtered rows as a table**")
    st.caption("One row per case or trial and parser, with the ids that lead to its run's journal.")
    with st.container(horizontal=True):
        for kind, form in export.FORMATS.items():
            file, made = f"results.{kind}", partial(table, kind)
            st.download_button(form.title, made, file, form.mime, f"rows-{kind}", on_click="ignore")
    places, of = looked.cases(standalone_html.MOST)
    if places:
        st.markdown("**The cases as pages**")
        run.page_of_cases(facets.filter_line(looked.filter) or "All cases", places, of)
        if of > len(places):
            st.caption(f"The newest {len(places)} of {of:,} cases.")
    if session.runs().sees_all:
        st.markdown(f"**The runs: {len(runs):,}**")
        about = "A zip of whole journals, for Import elsewhere. Runs in progress are left out."
        about += AUDITED if looked.blind else ""
        made = partial(_bundle, runs)
        download("Download a bundle", made, "runs.zip", "application/zip", "folder_zip", "bundle", about)


def _bundle(runs: list[str]) -> bytes:
    target = io.BytesIO()
    bundle.write(target, runs, (home.journals(), home.recordings()))
    return target.getvalue()


LOOK = 5.0
"""Seconds between two checks for new results."""


WAYS = ((addresses.COMPARE, "Compare", "balance"), (addresses.AUDIT, "Blind audit", "fact_check"))
"""Pages about the filtered rows, with their names and icons."""


NARROW = """<style>
@media (max-width: 640px) {
.st-key-head > :nth-child(2) {order: 1}
.st-key-head, .st-key-pager {gap: 0.4rem !important}
.st-key-head [data-testid="stButtonGroup"] button {padding-inline: 0.6rem}
}
</style>"""
"""On a phone the tools are beside the heading, above the choice of list."""


def head(looked: Selection) -> DeltaGenerator:
    """Draw the choice of list, and what can be done with it. Returns the line's rest."""
    st.html(NARROW)
    with st.container(horizontal=True, vertical_alignment="center", key="head"):
        st.title("Browse", anchor=False, width="content")
        show, now = lambda one: address.open_list(show=one), address.shown_list()
        address.bound_one_of("Show", address.LISTS, "show", now, show, is_named=False)
        with st.popover("Tools", icon=":material/handyman:", type="tertiary", key="tools"):
            draw(looked)
        return st.container(width="content")


def _order() -> None:
    """Draw the choice of the list's order."""
    titles = {name: title for name, (title, _) in listing.SORTS.items()} | listing.RANKINGS
    if address.shown_list() != "cases":
        titles = {name: titles[name] for name in ("newest", "oldest")}
    now = address.sort() if address.sort() in titles else next(iter(titles))
    choose_named("Order", titles, width=160, **address.bound("sort", now, lambda one: address.open_list(sort_by=one)))


def pager(found: Listed, what: str) -> None:
    """Say which part of the list is shown, and draw its order and buttons to the next and previous part."""
    last = found.first + len(found.rows) - 1
    with st.container(horizontal=True, vertical_alignment="center", key="pager"):
        if found.lost:
            st.caption("The row at which this page started was deleted; this is the first page.")
        st.markdown(f"**{found.first:,}–{last:,}** of {found.total:,} {what}" if found.total else f"No {what}.")
        _order()
        if found.total > len(found.rows):
            ends = [
                RowPlace(*row)
                for row in found.rows.reindex(columns=RowPlace._fields, fill_value="").itertuples(index=False)
            ]
            back, on = ("Newer", "Older") if address.sort() == "newest" else ("Back", "On")
            turn: dict[str, Any] = {"type": "secondary", "disabled": found.first <= 1}
            button(back, "chevron_left", "back-page", lambda: address.open_list(page={"before": ends[0]}), **turn)
            turn["disabled"] = found.is_last
            button(on, "chevron_right", "on-page", lambda: address.open_list(page={"after": ends[-1]}), **turn)


def _named(kinds: dict[str, int]) -> str:
    """Return what the list's rows are, with counts if there are several kinds."""
    after = {"trial": "", "case": "", "run": " without a case"}
    there = [count_noun(count, kind) + after[kind] for kind, count in kinds.items() if count]
    if len(there) > 1:
        return f"rows: {', '.join(there)}"
    return next((f"{kind}s{after[kind]}" for kind, count in kinds.items() if count), "cases or trials")


def news(looked: Selection, total: int, seen: int) -> None:
    """Say that there are new results. The list does not change until the reader asks for it."""

    @st.fragment(run_every=PACE.seconds(LOOK))
    def watch() -> None:
        if entry.keeper().changes == seen:
            return
        more = looked.count() - total
        label = f"{more:,} new: refresh" if more > 0 else "New results: refresh"
        if st.button(label, icon=":material/refresh:", type="tertiary", key="news"):
            st.rerun()

    watch()


def nothing_yet(looked: Selection, now: example.State) -> None:
    """Draw the page for somebody who has no runs yet and put the example study away."""
    st.title("Browse", anchor=False)
    example.draw(looked, now)
    with st.container(border=True, horizontal_alignment="center"):
        st.markdown("**No runs yet.** Ask a model a question, and the outcome will be listed here.")
        for lab in entry.labs().values():
            if not lab.hidden:
                st.page_link(addresses.of_lab(lab), label=f"{lab.title}: {lab.question}", icon=lab.icon)
        see = partial(address.open_list, filter=Filter(recordings=True))
        button("See the recordings that came with the app", "play_circle", "recordings", see, type="secondary")
        with st.popover("Import runs", icon=":material/upload:", key="import"):
            upload()


def _results(looked: Selection, now: example.State, seen: int) -> None:
    """Draw the filtered results in the form that the address names. `seen`: the changes of the index that they show."""
    wanted = looked.filter
    line = head(looked)
    example.draw(looked, now)
    if looked.viewer is not None and not wanted.recordings:
        st.caption("Your runs and shared runs.")
    if wanted.hidden:
        st.caption("Only hidden runs.")
    if wanted.recordings and not example.is_example(wanted):
        st.caption(recordings.about_all())
    if not wanted.is_everything and wanted != example.EXAMPLE:
        st.markdown(plain(facets.filter_line(wanted)))
    if address.shown_list() == "pictures":
        gallery.draw(looked)
        return
    if address.shown_list() == "groups":
        groups_list.draw(looked)
        return
    if address.shown_list() == "cases" and address.sort() == "meaning":
        meaning.like(looked)
    kinds = looked.kinds()
    are_runs = address.shown_list() == "runs"
    what = "runs" if are_runs else _named(kinds)
    if are_runs:
        found = looked.runs(address.sort() == "oldest", address.anchor("after"), address.anchor("before"))
    else:
        found = lists.read_cases(looked)
    pager(found, what)
    news(looked, sum(kinds.values()), seen)
    if found.total:
        if are_runs:
            lists.draw_runs(looked, found, line)
        else:
            lists.draw_cases(looked, found, line)
    else:
        st.info(
            "Nothing matches these filters. Remove a filter, or look among the recordings.",
            icon=":material/search_off:",
        )


def main() -> None:
    """Draw the page."""
    keeper = session.open_index()
    seen = keeper.changes
    looked = lists.selection(keeper.store, address.wanted())
    now = example.state(looked)
    if now == "open" and looked.filter == Filter():
        looked = looked.by(example.EXAMPLE)
    wanted = looked.filter
    run.deleted()
    if wanted == Filter() and now == "away":
        nothing_yet(looked, now)
        news(looked, 0, seen)
        return
    filters = st.sidebar.container()
    if address.open_row() is None:
        with filters:
            facets.draw(looked)
        _results(looked, now, seen)
        return
    # A reader who opens a row waits for its case, and has the filters already. They are drawn even if a key on the
    # stage draws the page again, so that they keep their state.
    try:
        _results(looked, now, seen)
    finally:
        with filters:
            facets.draw(looked)


main()
