"""Kinds: the rows of Browse grouped by meaning."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import streamlit as st

from core import entry
from core.events import CallError
from core.models.ids import is_control
from core.store import kind_names, kinds, vectors
from core.store.filters import KIND
from core.store.listing import Selection
from core.text.embed import Encoder
from pages.about.model_trial import may_try
from pages.components import session
from pages.components.models import chosen_models
from pages.components.run import problems
from pages.components.throttle import let_others_draw, waits
from pages.results import address, meaning


def draw(looked: Selection, clustering: str, tables: Callable[[str, str, Mapping[str, str]], None]) -> None:
    """Draw the grouping that the address names, with `tables(facet, title, names by a model)`, or the way to one."""
    stored = kinds.stored(looked, clustering) if clustering else None
    if clustering and stored is None:
        st.info("This grouping is no longer in the index, or none of its rows match. Group the rows again.")
    if stored is None:
        meaning.when_ready(looked, lambda by: _offer(looked, by))
        return
    named = kinds.titles(looked, clustering)
    st.caption(
        f"{stored.grouped:,} of {stored.rows:,} rows are like others: their questions and explanations are mutual "
        "nearest neighbours. Each kind is named by the words that tell it from the others. Rows in no kind are last."
    )
    tables(kinds.facet(clustering), "Kind", named)
    with st.container(horizontal=True, vertical_alignment="center"):
        st.button(
            "Group the filtered rows again",
            icon=":material/refresh:",
            type="tertiary",
            key="kinds-again",
            on_click=lambda: address.update(group=[KIND]),
        )
        if stored.grouped:
            with st.popover("Name them with a model", icon=":material/label:", type="tertiary", key="kinds-names"):
                _names(looked, clustering)


def _offer(looked: Selection, by: Encoder) -> None:
    rows = min(looked.count(), vectors.MOST)
    newest = f"the newest {rows:,} of {looked.count():,}" if looked.count() > rows else f"all {rows:,}"
    st.markdown(f"Groups {newest} filtered rows by what their questions and explanations mean.")
    if st.button(f"Group {rows:,} rows", icon=":material/workspaces:", type="primary", key="kinds-group"):
        with waits("Grouping …"):
            found = kinds.group(looked, by.name)
        if found.rows:
            address.update(group=[kinds.facet(found.clustering)])
            st.rerun()
        st.info("There are no rows of cases to group.")


def _names(looked: Selection, clustering: str) -> None:
    offered = [id for id in chosen_models() if not is_control(id) and may_try(id)]
    if not offered:
        st.caption("Choose a language model on the Models page first. Robots cannot name anything.")
        return
    examples = kind_names.examples(looked, clustering)
    id = st.selectbox("Model", offered, key="kinds-model")
    st.caption("One call a kind, with up to six of its questions and explanations. The words stay beside the name.")
    if st.button(f"Ask it · {len(examples)} calls", type="primary", icon=":material/bolt:", key="kinds-name"):
        try:
            model = session.catalog().get(id)

            async def name() -> None:
                kind_names.keep(looked.store, clustering, await kind_names.ask(model, examples), id)

            asked = entry.jobs().run_on_loop(name())
            with st.spinner("Asking …", show_time=True), let_others_draw():
                asked.result()
        except CallError as error:
            problems(error)
            return
        st.rerun()
