"""What the address of Browse holds: which list, filtered and ordered how, from where on, and which row is open. It is
the only place where that is kept, so that every state of the page is a link, and *back* brings it again.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import streamlit as st

from core.store import listing
from core.store.filters import Filter, as_query, from_query
from core.store.listing import Place

LISTS = {"cases": "Cases", "runs": "Runs", "pictures": "Pictures"}
"""What Browse shows, by the word in the address."""

_OPEN = ("run", "case", "trial")


def read() -> dict[str, list[str]]:
    """The address's query."""
    return as_query({name: st.query_params.get_all(name) for name in st.query_params})


def shown() -> str:
    """Which list is shown."""
    return _one_of(LISTS, "show")


def sort() -> str:
    """The order of the list."""
    return _one_of(listing.SORTS, "sort")


def wanted() -> Filter:
    """The filter of all lists."""
    return from_query(read())


def opened() -> Place | None:
    """The row that is open beside the list."""
    return Place(*(st.query_params.get(name, "") for name in _OPEN)) if "run" in st.query_params else None


def anchor(name: str) -> Place | None:
    """The row `after` or `before` which the page of the list begins or ends."""
    values = read().get(name, [])
    return Place(*values[:3]) if values else None


def go(
    show: str | None = None,
    filter: Filter | None = None,
    sort_by: str | None = None,
    page: Mapping[str, Place] | None = None,
    open: Place | None = None,
) -> None:
    """Change the address: what is not given stays, but another list, filter or order begins at its beginning."""
    to: dict[str, str | Sequence[str]] = {"show": show or shown(), "sort": sort_by or sort()}
    if to["show"] == "cases":
        del to["show"]
    if to["sort"] == "newest":
        del to["sort"]
    to |= (filter or wanted()).query()
    same = show is None and filter is None and sort_by is None
    anchors = page if page is not None else {name: at for name in ("after", "before") if (at := anchor(name))}
    if same:
        to |= {name: list(place) for name, place in anchors.items()}
    row = open if open is not None else (opened() if same and page is None else None)
    if row is not None and row.run:
        to |= {name: value for name, value in zip(_OPEN, row, strict=True) if value or name == "run"}
    st.query_params.from_dict(to)


def _one_of(known: Mapping[str, object], name: str) -> str:
    value = st.query_params.get(name, "")
    return value if value in known else next(iter(known))
