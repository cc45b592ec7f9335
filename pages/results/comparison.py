"""Draws a comparison: what was found in words, item by item, and pair by pair."""

from __future__ import annotations

from collections.abc import Sequence
from zlib import crc32

import pandas as pd
import streamlit as st

from core.lab import Judged
from core.statistics import Pair
from core.store import listing, matching
from core.store.comparing import Compared
from core.store.matching import Asked
from core.store.store import Store
from core.telling import compared_in_words
from pages.parts import rooms
from pages.parts.models import short
from pages.parts.tables import as_csv
from pages.parts.text import plain
from pages.results import address, opened_case
from pages.results.facets import Looked, words


def draw(looked: Looked, compared: Compared, judged: Judged, names: list[str]) -> None:
    """What was found: in words, pair by pair, and item by item."""
    sentences = compared_in_words.sentences(compared, judged, names)
    with st.container(border=True, gap="xsmall", key="told"):
        st.markdown(f"#### {plain(sentences.headline)}", anchors=False)
        st.markdown(plain(" ".join(sentences.chance)))
        st.caption(plain(" ".join(sentences.left_out)))
    _matrix(looked, compared, judged, names)
    if compared.pairs:
        st.markdown("#### Pair by pair", anchors=False)
        st.table(_pairs(compared, judged, names))
        st.caption(_methods(compared.pairs, judged))


def _pairs(compared: Compared, judged: Judged, names: list[str]) -> pd.DataFrame:
    """A column for each two, a row for each figure, in words."""
    one = judged.whole if compared.asked.match == "whole" else judged.one
    found = {}
    for pair in compared.pairs:
        small, gap = pair.small, pair.difference
        found[" – ".join(names[int(str(place))] for place in (pair.first, pair.second))] = {
            f"{one.capitalize()}s with an outcome for both": f"{pair.n:,}",
            f"Both have, {compared_in_words.NOT_SETTLED}": f"{pair.undefined:,}",
            "Only the first has": f"{pair.only_first:,}",
            "Only the second has": f"{pair.only_second:,}",
            "Kept in one alone, first : second": _figures("{:,} : {:,}", pair.first_alone, pair.second_alone),
            "Kept: the first": _figures("{:.0%}", pair.mean_first),
            "Kept: the second": _figures("{:.0%}", pair.mean_second),
            "Difference": _figures("{:+.2f}", gap.value),
            "95 % interval": _figures("{:+.2f} to {:+.2f}", gap.low, gap.high),
            "p of this pair by itself": _p(pair.test.p if pair.test else None),
            "p, for all pairs that are compared": _p(pair.p_holm if len(compared.pairs) > 1 else None),
            "Probably better: the first": _figures("{:.0%}", small and small.first_is_better),
            "95 % interval, Beta-Binomial": _figures(
                "{:+.2f} to {:+.2f}", *((small.low, small.high) if small else (None,))
            ),
        }
    table = pd.DataFrame(found)
    return table[(table != "–").any(axis=1)]


def _methods(pairs: Sequence[Pair], judged: Judged) -> str:
    unit = judged.whole or judged.one
    tests = sorted({pair.test.name for pair in pairs if pair.test})
    how = sorted({pair.difference.how for pair in pairs})
    said = f"Kept: {judged.means}. Each {unit} counts alike. Interval of the difference: {'; '.join(how)}."
    if tests:
        said += f" Test: {'; '.join(tests)}, by {unit}; over several pairs Holm's correction."
    if any(pair.small for pair in pairs):
        said += " Beta-Binomial: for fewer than 100, with a flat prior."
    elif any(pair.n for pair in pairs):
        said += " Beta-Binomial figures need fewer than 100 that depend on nothing else, with one outcome each."
    return plain(said)


def _matrix(looked: Looked, compared: Compared, judged: Judged, names: list[str]) -> None:
    """One row an item, one column a subject; a click on a cell opens what is behind it."""
    total = sum(compared.items.values())
    if not total:
        return
    counts = ", ".join(f"{number:,} {agree}" for agree, number in compared.items.items())
    st.markdown("#### One by one", anchors=False)
    pages = -(-total // listing.PAGE)
    with st.container(horizontal=True, vertical_alignment="center", key="matrix-head"):
        key = f"page-{crc32(repr(compared.asked).encode())}"
        page = st.pagination(pages, key=key, max_visible_pages=5) if pages > 1 else 1
        first = (page - 1) * listing.PAGE + 1
        st.markdown(f"**{first:,}–{min(total, first + listing.PAGE - 1):,}** of {total:,}: {counts}.")
    found = matching.matrix(looked.store, compared.asked, compared.keys[first - 1 : first - 1 + listing.PAGE].tolist())
    one, whole = judged.one.capitalize(), judged.whole.capitalize() or "Title"
    shown = {one: list(found["about"])} if (found["about"] != "").any() else {whole: list(found["title"])}
    if (found["among"] != "").any():
        called = rooms.words()
        shown["All else"] = [
            " · ".join(called.get(part) or short(part) for part in among.split(" · ")) for among in found["among"]
        ]
    ahead = len(shown)
    for i, name in enumerate(names):
        shown[name] = [_cell(*row) for row in found[[f"value_{i}", f"times_{i}", f"said_{i}"]].itertuples(index=False)]
    shown[""] = list(found["agree"])
    shown.setdefault(whole, list(found["title"]))
    at = address.opened()
    key = f"matrix-{crc32(repr((compared.asked, page, at is None)).encode())}"

    def take() -> None:
        for row, column in st.session_state[key]["selection"]["cells"]:
            i = list(shown).index(column) - ahead
            if 0 <= i < len(names) and (place := found[f"place_{i}"].iloc[row]):
                address.open_at(place)

    table, beside_it = (st.container(), None) if at is None else st.columns(opened_case.WIDTHS, gap="medium")
    with table:
        st.dataframe(
            pd.DataFrame(shown), hide_index=True, on_select=take, selection_mode="single-cell", key=key, placeholder="",
            alt="Items by what is compared; a click on an outcome opens its case",
            height=opened_case.height(len(found)),
            column_config={
                one: st.column_config.TextColumn(width="medium" if at is None else 150),
                whole: st.column_config.TextColumn(width="medium"),
            },
        )  # fmt: skip
        st.caption("A click on an outcome opens its case, the newest where there are several.")
        as_csv(lambda: _whole(looked.store, compared.asked, names), "comparison")
    if at is not None and beside_it is not None:
        with beside_it:
            opened_case.close()
            opened_case.draw(looked, at)


def _cell(value: float | None, times: int, said: Sequence[str]) -> str:
    """What came of an item for one subject: came out well or not, how often, no outcome, or not there."""
    if not len(said):
        return "–"
    called = " or ".join(words("outcome", one) for one in said)
    if not times:
        return f"· {called}"
    if times > 1:
        return f"{value:.0%} of {times}"
    return f"{'✓' if value else '✕'} {called}"


def _whole(store: Store, asked: Asked, names: list[str]) -> pd.DataFrame:
    """The whole matrix, as a file holds it."""
    found = matching.matrix(store, asked)
    columns: dict[str, object] = {"agree": found["agree"], "title": found["title"], "about": found["about"]}
    columns["all else that is equal"] = found["among"]
    for i, name in enumerate(names):
        columns[name] = found[f"value_{i}"]
        columns[f"{name}: results with a value"] = found[f"times_{i}"]
        columns[f"{name}: outcomes"] = [", ".join(said) for said in found[f"said_{i}"]]
        for part in listing.Place._fields:
            columns[f"{name}: {part}"] = [getattr(place, part) if place else "" for place in found[f"place_{i}"]]
    return pd.DataFrame(columns)


def _figures(how: str, *values: float | None) -> str:
    """The values as a table has them; a dash where one is not known."""
    return "–" if None in values else how.format(*values).replace("-", "−")


def _p(value: float | None) -> str:
    return "–" if value is None else "< 0.001" if value < 0.001 else f"{value:.3f}"
