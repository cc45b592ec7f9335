"""What the address of Browse holds: which list, filtered and ordered how, from where on, and which row is open. It is
the only place where that is kept, so that every state of the page is a link, and *back* brings it again.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import streamlit as st

from core.store import listing
from core.store.filters import Filter, from_query
from core.store.listing import RowPlace

LISTS = {"cases": "Cases and trials", "runs": "Runs", "pictures": "Pictures"}
"""What Browse shows, by the word in the address."""

_OPEN = ("run", "case", "trial")


def read() -> dict[str, list[str]]:
    """The address's query."""
    return {name: st.query_params.get_all(name) for name in st.query_params}


def shown() -> str:
    """Which list is shown."""
    return _one_of(LISTS, "show")


def sort() -> str:
    """The order of the list."""
    return _one_of(listing.SORTS, "sort")


def wanted() -> Filter:
    """The filter of all lists."""
    return from_query(read())


def opened() -> RowPlace | None:
    """The row that is open beside the list."""
    return RowPlace(*(st.query_params.get(name, "") for name in _OPEN)) if "run" in st.query_params else None


def anchor(name: str) -> RowPlace | None:
    """The row `after` or `before` which the page of the list begins or ends."""
    values = read().get(name, [])
    return RowPlace(*values[:3]) if values else None


def go(
    show: str | None = None,
    filter: Filter | None = None,
    sort_by: str | None = None,
    page: Mapping[str, RowPlace] | None = None,
    at: RowPlace | None = None,
) -> None:
    """Change the address to another list, filter, order or page of the list, and to the row `at`, or close what is
    open. What is not given stays; without a `page` it is the first.
    """
    to: dict[str, str | Sequence[str]] = {"show": show or shown(), "sort": sort_by or sort()}
    if to["show"] == "cases":
        del to["show"]
    if to["sort"] == "newest":
        del to["sort"]
    if to.get("show") == "pictures":
        to |= {name: values for name in ("picture", "choice", "robots") if (values := read().get(name))}
    to |= (filter or wanted()).query()
    to |= {name: list(place) for name, place in (page or {}).items()}
    to |= {name: values for name, values in opening(at).items() if values}
    st.query_params.from_dict(to)


def picture() -> str:
    """The only picture that is shown; '' for all."""
    return st.query_params.get("picture", "")


def choice(picture: str, choices: Sequence[str]) -> str:
    """What is chosen of a picture's `choices`: the first, unless the address says another."""
    said = dict(one.partition(":")[::2] for one in read().get("choice", ()))
    return said[picture] if said.get(picture) in choices else choices[0]


def choose(picture: str, choice: str) -> None:
    """Take a choice of a picture."""
    others = [one for one in read().get("choice", ()) if not one.startswith(f"{picture}:")]
    change(choice=[*others, f"{picture}:{choice}"])


def robots() -> bool:
    """Whether pictures show robots among language models."""
    return st.query_params.get("robots") == "1"


def show_robots(wanted: bool) -> None:
    """Show robots among language models, or leave them out."""
    change(robots=["1"] if wanted else [])


def open_at(place: RowPlace | None) -> None:
    """Open a row beside its list, or close what is open."""
    change(**opening(place))


def change(**news: Sequence[str]) -> None:
    """Change what stands in the address by name, and no more; nothing takes a name away."""
    st.query_params.from_dict({name: values for name, values in (read() | news).items() if values})


def opening(place: RowPlace | None) -> dict[str, Sequence[str]]:
    """What of the address opens a row, or closes what is open."""
    return {name: [value] if value else [] for name, value in zip(_OPEN, place or RowPlace(""), strict=True)}


def _one_of(known: Mapping[str, object], name: str) -> str:
    value = st.query_params.get(name, "")
    return value if value in known else next(iter(known))
