"""The rows of Browse in groups, by a facet or by meaning: how many each has, and how often explanations hold in it."""

from collections.abc import Mapping
from functools import partial

import pandas as pd
import streamlit as st

from core import entry
from core.charts.marks import EXTRA
from core.events import CallError
from core.labs.base.lab import Lab
from core.models.ids import is_control
from core.package_data import COMMAND
from core.report import export
from core.store import kinds, vectors
from core.store.filters import KIND, TITLES
from core.store.listing import Selection, groups, robots_and_models
from core.text.display import count_noun
from core.text.embed import Encoder
from pages.about.model_trial import may_try
from pages.components import labels, session, tables
from pages.components.text import plain
from pages.components.throttle import let_others_draw, waits
from pages.components.widgets import choose_named, chosen_models
from pages.results import address, meaning
from pages.results.facets import words

# Kinds: the rows of Browse grouped by meaning.


def _draw_kinds(looked: Selection, clustering: str) -> None:
    """Draw the grouping that the address names, or the way to one."""
    stored = kinds.stored(looked, clustering) if clustering else None
    if clustering and stored is None:
        st.info("This grouping is no longer in the index, or none of its rows match. Group the rows again.")
    if stored is None:
        if (by := meaning.when_ready(looked)) is not None:
            _offer(looked, by)
        return
    named = kinds.titles(looked, clustering)
    st.caption(
        f"{stored.grouped:,} of {stored.rows:,} rows are like others: their questions and explanations are mutual "
        "nearest neighbours. Each kind is named by the words that set it apart. Rows in no kind are last."
    )
    _tables(looked, kinds.facet(clustering), "Kind", named)
    with st.container(horizontal=True, vertical_alignment="center"):
        again = partial(address.update, group=[KIND])
        tables.button("Group the filtered rows again", "refresh", "kinds-again", again)
        if stored.grouped:
            _export(looked, clustering)
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


def _export(looked: Selection, clustering: str) -> None:
    with st.popover("Export", icon=":material/download:", type="tertiary", key="kinds-export"):
        st.caption(
            "The grouped rows, robots included: one per case or trial and parser. The column `kind` has the words of "
            "the kind, and is empty for a row in no kind. The column `grouping` names the grouping, and the encoder "
            "that made the sentence vectors."
        )
        for form in export.FORMATS:
            tables.as_file(partial(export.rows, looked, clustering), "kinds", form)
        st.caption("All rows of the grouping, on the command line:")
        st.code(f"{COMMAND} rows --kinds {clustering} -o kinds.csv", language="bash", wrap_lines=True)


def _names(looked: Selection, clustering: str) -> None:
    offered = [id for id in chosen_models() if not is_control(id) and may_try(id)]
    if not offered:
        st.caption("Choose a language model on the Models page first. Robots cannot name anything.")
        return
    examples = kinds.examples(looked, clustering)
    id = st.selectbox("Model", offered, key="kinds-model")
    st.caption("One call a kind, with up to six of its questions and explanations. The words stay next to the name.")
    if st.button(f"Ask it · {len(examples)} calls", type="primary", icon=":material/bolt:", key="kinds-name"):
        with session.reported(CallError):
            model = session.catalog().get(id)

            async def name() -> None:
                kinds.keep(looked.store, clustering, await kinds.ask(model, examples), id)

            asked = entry.jobs().run_on_loop(name())
            with st.spinner("Asking …", show_time=True), let_others_draw():
                asked.result()
            st.rerun()


ALIKE = ("lab", "outcome", "reason", "error", "doubt")
"""Facets that say how a row came out, or which table it is in, so that the share of a group tells nothing."""


def draw(looked: Selection) -> None:
    """Draw the choice of groups, and a table for each lab with selected rows."""
    titles = {name: title for name, title in TITLES.items() if name not in ALIKE}
    titles |= {f"{EXTRA}{column}": column for column in looked.extra_columns()}
    titles |= {one.facet: one.title for one in labels.labellers()}
    titles[KIND] = "Kind, by meaning"
    facet = st.query_params.get("group", "")
    by = KIND if facet.startswith(KIND) else address.group(list(titles))
    options = address.bound("group", by, lambda new: address.update(group=[new]))
    choose_named("Group by", titles, is_named=True, width=420, **options)
    if by == KIND:
        _draw_kinds(looked, facet.removeprefix(KIND))
    else:
        _tables(looked, by, titles[by], {})


def _tables(looked: Selection, by: str, title: str, named: Mapping[str, str]) -> None:
    present = looked.facet("lab")
    robots, models = (0, 0) if looked.filter.chosen.get("model") or looked.filter.runs else robots_and_models(looked)
    is_mixed = bool(robots and models)
    if is_mixed:
        help = "Robots are controls with known behaviour. They are no results, so they count only if you choose to."
        address.robots_too(count_noun(robots, "row"), "groups-robots", help)
    for name in looked.filter.chosen.get("lab", present):
        if name in present and (lab := entry.labs().get(name)) is not None and lab.listing.comparability is not None:
            if len(present) > 1:
                st.subheader(lab.title, anchor=False)
            _table(looked, lab, by, title, named, not is_mixed or address.robots())


def _table(looked: Selection, lab: Lab, by: str, title: str, named: Mapping[str, str], robots: bool) -> None:
    """Draw the groups of a lab's rows, with or without those of `robots`; `named` has the names that a model gave to
    some of the groups.
    """
    assert lab.listing.comparability is not None
    found = groups(looked, lab, by, robots=robots)
    if by.startswith(KIND):
        found = sorted(found, key=lambda one: not one.value)
    key = f"groups-{lab.name}-{by}"
    columns: dict[str, list[object]] = {
        title: [words(by, one.value) or "–" for one in found],
        **({"Named by a model": [named.get(one.value, "") for one in found]} if named else {}),
        "Rows": [one.rows for one in found],
        "Counted": [one.counted for one in found],
    }
    # Of rows that were chosen by how they came out, a share says only how they were chosen.
    has_share = not looked.filter.chosen.keys() & set(ALIKE[1:])
    if has_share:
        intervals = [one.kept for one in found]
        columns["Share"] = [one.value for one in intervals]
        columns["95 % interval"] = [
            "" if one.low is None or one.high is None else f"{one.low:.2f} to {one.high:.2f}" for one in intervals
        ]
    shown = pd.DataFrame(columns)

    def take() -> None:
        if rows := st.session_state[key]["selection"]["rows"]:
            address.open_list(show="cases", filter=looked.filter.choosing(by, [found[rows[0]].value]))

    terms = lab.listing.comparability
    what = f"Share: how often {plain(terms.means)}, of the rows that count."
    if terms.whole:
        what += f" The interval is over {terms.whole}s, because rows of the same {terms.whole} are not independent."
    if not has_share:
        what = "No share: the rows were filtered by their outcome, so it would only say how they were chosen."
    st.caption(f"{what} A click on a group lists its rows.")
    config = {"Share": st.column_config.ProgressColumn(min_value=0, max_value=1, format="%.2f")}
    more = {"on_select": take, "selection_mode": "single-row"}
    tables.table(shown, key, f"Groups by {title}", column_config=config, **more)
    tables.as_csv(shown, f"groups-{lab.title.lower()}")
