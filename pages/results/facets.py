"""The filters beside the lists of Browse, with the number of rows that each choice would leave."""

import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import PurePath
from typing import Any

import streamlit as st

from core import entry
from core.charts.marks import EXTRA
from core.datasets.own import without_folder
from core.store import listing
from core.store.filters import KIND, LABEL, TITLES, Filter, Range
from pages.components import lab_page, labels, reader_accuracy
from pages.components.tables import button
from pages.components.text import plain, shortened
from pages.components.widgets import short
from pages.results import address

FIRST = ("lab", "outcome", "model", "how")
"""Filters that are always open; the others are counted only once somebody unfolds them."""

FEW = 6
"""Up to this many values of a facet are shown as buttons, more as a list."""


def draw(looked: listing.Selection) -> None:
    """Draw all filters; each choice changes the address."""
    wanted = looked.filter
    _search(wanted)
    for name in FIRST:
        _facet(looked, name, TITLES[name])
        if name == "outcome":
            reader_accuracy.below_outcomes(list(wanted.chosen.get("lab", entry.labs())))
    kinds = [name for name in wanted.chosen if name.startswith(KIND)]
    for name in kinds:
        _facet(looked, name, "Kind, by meaning")
    rest = [name for name in TITLES if name not in FIRST]
    begun = wanted.chosen.keys() - {*FIRST, "study", *kinds} or wanted.since or wanted.until or wanted.ranges
    more = st.expander(
        "More filters", icon=":material/filter_list:", key="more", expanded=bool(begun), on_change="rerun"
    )
    with more:
        if more.open:
            for name in rest:
                _facet(looked, name, TITLES[name])
            for column in looked.extra_columns():
                _facet(looked, f"{EXTRA}{column}", column)
            for labeller in labels.labellers():
                _facet(looked, labeller.facet, labeller.title)
            for role in listing.roles(looked.store):
                _facet(looked, f"as:{role}", f"Model as {role}")
            _days(wanted)
            _figure(wanted)
    _toggle(wanted, "recordings", "Recordings", "Only the runs that came with the app.")
    _toggle(wanted, "hidden", "Hidden", "Only hidden runs.")
    about = "Only runs whose answers were parsed again later."
    _toggle(wanted, "older", "Earlier parses", about)
    if not wanted.is_everything:
        clear = Filter(recordings=wanted.recordings)
        button("Clear all filters", "filter_list_off", "clear", lambda: address.open_list(filter=clear))


def words(facet: str, value: str) -> str:
    """Return the name of a facet's value on the screen."""
    labs = entry.labs()
    if facet.startswith((EXTRA, KIND, LABEL)):
        return value
    if facet == "lab":
        return labs[value].title if value in labs else value
    if facet == "dataset":
        return without_folder(value)
    if facet == "outcome" and not value:
        return "none yet"
    if facet == "reason":
        known = (lab.run_summary.reasons.get(value) for lab in labs.values())
        return next(filter(None, known), value.replace("_", " "))
    if facet == "doubt":
        return {"doubt": "in doubt", "sure": "not in doubt"}.get(value, value)
    if facet == "differs":
        return {"differ": "parsers differ", "agree": "parsers agree"}.get(value, value)
    if facet == "model" or facet.startswith("as:"):
        return short(value)
    if facet == "error":
        # The name of a class, such as RateLimited.
        return re.sub(r"(?<=[a-z])(?=[A-Z])", " ", value).lower()
    return lab_page.all_words().get(value) or value.replace("_", " ")


def filter_line(wanted: Filter) -> str:
    """Describe the filter in one line."""
    said = [
        f"{TITLES.get(name) or _title(name)}: {' or '.join(words(name, value) for value in values)}"
        for name, values in wanted.chosen.items()
    ]
    if wanted.text:
        said.append(f"holding “{wanted.text}”")
    if wanted.since or wanted.until:
        said.append(f"{wanted.since or '…'} to {wanted.until or '…'}")
    for one in wanted.ranges:
        said.append(f"{_titles().get(one.metric, one.metric)} {_bound(one.low, '−∞')} to {_bound(one.high, '∞')}")
    if wanted.runs:
        said.append(f"{len(wanted.runs)} chosen {'run' if len(wanted.runs) == 1 else 'runs'}")
    return " · ".join(said)


def _title(name: str) -> str:
    """Return the title of a facet that is not in TITLES."""
    if name.startswith(LABEL):
        known = {one.facet: one.title for one in labels.labellers()}
        return known.get(name, name.removeprefix(LABEL).partition("@")[0])
    if name.startswith(KIND):
        return "Kind"
    return name.removeprefix(EXTRA).replace("as:", "model as ")


def _facet(looked: listing.Selection, name: str, title: str) -> None:
    counts, now = looked.facet(name), list(looked.filter.chosen.get(name, ()))
    counts |= {value: 0 for value in now if value not in counts}
    # One study among runs of none is a choice too.
    if len(counts) < (1 if name == "study" else 2) and not now:
        return

    def take(values: list[str] | None) -> None:
        address.open_list(filter=looked.filter.choosing(name, values or ()))

    names = [words(name, value) for value in counts]

    def called(value: str) -> str:
        text = words(name, value)
        if name == "dataset" and names.count(text) > 1:
            # Two files of one name in different folders.
            text = f"{text} in {PurePath(value.removeprefix('file:')).parent.name or 'the data folder'}"
        said = f"{shortened(text, 40)} · {counts.get(value, 0):,}"
        # Only pills interpret labels as Markdown.
        return plain(said) if few else said

    few = len(counts) <= FEW
    draw: Callable[..., object] = st.multiselect
    more: dict[str, object] = {"placeholder": "Any"}
    if few:
        draw, more = st.pills, {"selection_mode": "multi"}
    draw(title, list(counts), format_func=called, **address.bound(f"facet-{name}", now, take), **more)


def _change(wanted: Filter, **news: Any) -> None:
    """List what the filter selects with these fields changed."""
    address.open_list(filter=replace(wanted, **news))


def _search(wanted: Filter) -> None:
    st.text_input(
        "Search",
        icon=":material/search:",
        placeholder="words, or “a phrase” in quotes",
        max_chars=200,
        help="Searches the question, the prediction, the answer and the explanation for all words.",
        **address.bound("text", wanted.text, lambda text: _change(wanted, text=str(text or "").strip())),
    )
    if wanted.text or wanted.deep:
        about = "Also searches all prompts and raw answers (slower)."
        _toggle(wanted, "deep", "Prompts and raw answers too", about)


def _toggle(wanted: Filter, flag: str, label: str, help: str) -> None:
    """Draw a switch for one of the filter's flags (`core.store.filters.FLAGS`)."""
    now = getattr(wanted, flag)
    st.toggle(label, help=help, **address.bound(f"only-{flag}", now, lambda on: _change(wanted, **{flag: bool(on)})))


def _days(wanted: Filter) -> None:
    left, right = st.columns(2)
    for side, title, name in ((left, "From", "since"), (right, "Until", "until")):
        key, change = f"day-{name}", lambda day, name=name: _change(wanted, **{name: day})
        side.date_input(title, value=None, **address.bound(key, getattr(wanted, name), change))


def _titles() -> dict[str, str]:
    """Return the titles of the figures that can be filtered by, by metric."""
    return {metric.name: metric.title for lab in entry.labs().values() for metric in lab.metrics if metric.leads}


def _figure(wanted: Filter) -> None:
    titles = _titles()
    one = wanted.ranges[0] if wanted.ranges else None

    def take(**news: Any) -> None:
        bounds = (one or Range("", None, None))._replace(**news)
        _change(wanted, ranges=(bounds,) if bounds.metric else ())

    st.selectbox(
        "Figure",
        list(titles),
        index=None,
        format_func=lambda one: titles.get(one, one),
        placeholder="Any",
        help="Of the case, or of its run if the case has none; updated parser.",
        **address.bound("figure", one and one.metric, lambda metric: take(metric=metric)),
    )
    if one:
        left, right = st.columns(2)
        for side, title, name in ((left, "At least", "low"), (right, "At most", "high")):
            key, change = f"figure-{name}", lambda value, name=name: take(**{name: value})
            side.number_input(title, value=None, **address.bound(key, getattr(one, name), change))


def _bound(value: float | None, none: str) -> str:
    return none if value is None else f"{value:g}"
