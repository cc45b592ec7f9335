"""The state of Browse, stored in the address: which list, its filter, order and position, and which row is open. It is
stored nowhere else, so every state of the page is a link, and the browser's *back* restores it.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import streamlit as st

from core.store import filters, listing
from core.store.filters import Filter, from_query
from core.store.listing import RowPlace
from pages.components import widgets
from pages.components.widgets import T

LISTS = {"cases": "Cases and trials", "groups": "Groups", "runs": "Runs", "pictures": "Pictures"}
"""What Browse shows, by the value in the address."""

_OPEN = ("run", "case", "trial")


def read() -> dict[str, list[str]]:
    """Return the address's query."""
    return {name: st.query_params.get_all(name) for name in st.query_params}


def shown_list() -> str:
    """Return which list is shown."""
    return _one_of(LISTS, "show")


def sort() -> str:
    """Return the order of the list."""
    return _one_of({**listing.SORTS, **listing.RANKINGS}, "sort")


def like() -> RowPlace | str:
    """Return the text or the row that a list by meaning is compared with; '' if the address has none."""
    values = read().get("like", [])
    return RowPlace(*values[:3]) if len(values) > 1 else "".join(values)[: filters.LONGEST]


def columns(known: Sequence[str]) -> list[str]:
    """Return which of these columns a list shows, in the order of the address; empty for all."""
    return [name for name in dict.fromkeys(read().get("columns", ())) if name in known]


def wanted() -> Filter:
    """Return the filter of all lists."""
    return from_query(read())


def open_row() -> RowPlace | None:
    """Return the row that is open beside the list; None if none is."""
    return RowPlace(*(st.query_params.get(name, "") for name in _OPEN)) if "run" in st.query_params else None


def anchor(name: str) -> RowPlace | None:
    """Return the row `after` which the page of the list begins, or `before` which it ends; None if the address has
    none.
    """
    values = read().get(name, [])
    return RowPlace(*values[:3]) if values else None


def open_list(
    show: str | None = None,
    filter: Filter | None = None,
    sort_by: str | None = None,
    page: Mapping[str, RowPlace] | None = None,
    at: RowPlace | None = None,
    like: Sequence[str] | None = None,
) -> None:
    """Change the address to another list, filter, order or page of the list, and open the row `at`; `like` is what a
    list by meaning is compared with. What is not given stays as it is, except that without a `page` the list starts
    over, and without `at` the open row is closed.
    """
    to: dict[str, str | Sequence[str]] = {"show": show or shown_list(), "sort": sort_by or sort()}
    if to["show"] == "cases":
        del to["show"]
    if to["sort"] == "newest":
        del to["sort"]
    own = {"pictures": ("picture", "choice", "robots", "group"), "groups": ("group", "robots")}.get(
        str(to.get("show")), ()
    )
    to |= {name: values for name in (*own, "columns") if (values := read().get(name))}
    if to.get("sort") == "meaning" and (compared := read().get("like") if like is None else like):
        to["like"] = compared
    to |= (filter or wanted()).query()
    to |= {name: list(place) for name, place in (page or {}).items()}
    to |= {name: values for name, values in opening(at).items() if values}
    st.query_params.from_dict(to)


def group(known: Sequence[str], otherwise: str = "model") -> str:
    """Return the facet by which rows are grouped: the one in the address if it is `known`, or else the other."""
    return by if (by := st.query_params.get("group", "")) in known else otherwise


def grouped() -> dict[str, list[str]]:
    """Return the grouping in the address, as a part of a query."""
    return {"group": [by]} if (by := st.query_params.get("group", "")) else {}


def picture() -> str:
    """Return the only picture that is shown; '' for all."""
    return st.query_params.get("picture", "")


def choice(picture: str, choices: Sequence[str]) -> str:
    """Return the selected one of a picture's `choices`: the one in the address, or else the first."""
    said = dict(one.partition(":")[::2] for one in read().get("choice", ()))
    return said[picture] if said.get(picture) in choices else choices[0]


def choose(picture: str, choice: str) -> None:
    """Select a choice of a picture."""
    others = [one for one in read().get("choice", ()) if not one.startswith(f"{picture}:")]
    update(choice=[*others, f"{picture}:{choice}"])


def robots() -> bool:
    """Whether pictures and groups count robots among language models."""
    return st.query_params.get("robots") == "1"


def robots_too(number: str, key: str, help: str) -> None:
    """Draw the switch that counts robots, of which there is that number, among language models."""
    options = bound(key, robots(), lambda wanted: update(robots=["1"] if wanted else []))
    st.toggle(f"Robots too ({number})", help=help, **options)


def open_at(place: RowPlace | None) -> None:
    """Open a row beside its list, or close the open one."""
    update(**opening(place))


def update(**news: Sequence[str]) -> None:
    """Change only these parameters of the address; an empty value removes one."""
    st.query_params.from_dict({name: values for name, values in (read() | news).items() if values})


def bound(key: str, now: object, change: Callable[[Any], None]) -> dict[str, Any]:
    """Return the options of a widget with that key: it shows `now`, as the address says, whether that was chosen here,
    by a link, or by going back; and calls `change` with what the reader chooses.
    """
    st.session_state[key] = now
    return {"key": key, "on_change": lambda: change(st.session_state[key])}


def bound_one_of(
    title: str, names: Mapping[T, str], key: str, now: T, change: Callable[[T], None], is_named: bool = True
) -> T:
    """Draw `widgets.one_of` as a widget that is `bound`, and return what is chosen."""
    return widgets.one_of(title, names, is_named=is_named, default=None, persist_state=None, **bound(key, now, change))


def opening(place: RowPlace | None) -> dict[str, Sequence[str]]:
    """Return the parameters that open a row, or close the open one."""
    return {name: [value] if value else [] for name, value in zip(_OPEN, place or RowPlace(""), strict=True)}


def _one_of(known: Mapping[str, object], name: str) -> str:
    value = st.query_params.get(name, "")
    return value if value in known else next(iter(known))
