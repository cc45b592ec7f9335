"""Compare: two to five models, methods, runs, parsers or filters on the items that they share. The address names them:
`?by=model&of=a&of=b`, within the filter that it also contains, or `?runs=a,b`.
"""

from collections.abc import Collection, Sequence
from urllib.parse import parse_qs, urlencode
from zlib import crc32

import pandas as pd
import streamlit as st

from core import entry
from core.charts.marks import EXTRA
from core.charts.printed import METHODS
from core.labs.base.declared import Comparability
from core.models.ids import is_control
from core.report import comparison_text
from core.statistics.comparisons import MOST, Pair
from core.store import comparing, listing
from core.store.comparing import NO_VERDICT, Compared, ComparisonRequest, Match, NotComparableError
from core.store.filters import TITLES, Filter, from_query
from core.store.listing import RowPlace, Selection
from core.store.store import QueryRefusedError, Store
from pages import addresses
from pages.components import lab_page, session, tables
from pages.components.side_by_side import told_apart
from pages.components.text import plain, shortened
from pages.components.throttle import waits
from pages.components.widgets import choose_named, short
from pages.results import address, example, facets, lists
from pages.results.facets import words

WAYS = {
    "model": "Models",
    "how": "Methods, explanations, interpreters",
    "wording": "Wordings",
    "run": "Runs",
    "rules": "Original and updated parser",
    "filter": "Filters",
    "owner": "Owner",
}
"""What can be compared, with its name on the screen; columns of the person's own files are added."""


OFFERED = 20
"""Of how many of the most frequent two are chosen that share items."""


def change_query(**news: Sequence[str]) -> None:
    """Change the address; what is not given stays. If other things are compared, matching starts over."""
    changed: dict[str, Sequence[str]] = {"match": [], **address.opening(None), **({"runs": []} if "of" in news else {})}
    address.update(**(changed | news))


def choose(looked: Selection, by: str, now: list[str]) -> None:
    """Let the reader choose what to compare, and which of it; each choice changes the address."""
    ways = WAYS | {f"{EXTRA}{name}": f"{name} (your column)" for name in looked.extra_columns()}
    ways.setdefault(by, by.removeprefix(EXTRA))
    with st.container(horizontal=True, vertical_alignment="bottom", key="choose"):
        options = address.bound("by", by, lambda one: change_query(by=[one], of=[]))
        choose_named("Compare", ways, is_named=True, width=280, **options)
        if by == "filter":
            _filters(now)
        elif by != "rules":
            names = _names(looked, by, list(dict.fromkeys([*now, *_offered(looked, by)])))
            st.multiselect(
                f"Choose 2 to {MOST}",
                list(names),
                format_func=lambda one: shortened(names[one], 60),
                max_selections=MOST,
                **address.bound("of", now, lambda some: change_query(**looked.filter.query(), by=[by], of=some)),
            )
    if by == "run":
        st.caption(f"The newest {listing.PAGE} filtered runs can be chosen here; an address can name any run.")


def _filters(now: list[str]) -> None:
    """Draw a field for addresses copied from Browse, where filters are made."""

    def take(text: str) -> None:
        lines = [line.strip().rpartition("?")[2] for line in text.splitlines() if line.strip()]
        change_query(by=["filter"], of=[urlencode(from_query(parse_qs(line)).query(), doseq=True) for line in lines])

    st.text_area(
        "Addresses of Browse, one per line",
        height=100,
        placeholder="…/browse?model=control%2Ffickle&how=cot",
        help="Filter in Browse and paste the address here; two or more.",
        **address.bound("filters", "\n".join(now), take),
    )


def _offered(looked: Selection, by: str) -> list[str]:
    """Return what can be chosen, the most frequent first; for runs, the newest first."""
    return list(looked.runs().rows["run"] if by == "run" else looked.facet(by))


def _names(looked: Selection, by: str, values: Sequence[str]) -> dict[str, str]:
    """Return a unique name for each."""
    if by == "run":
        found = comparing.runs(looked.store, values, looked.viewer)
        lines = [["", "", run, ""] for run in values]
        for place, run in enumerate(values):
            if one := found.get(run):
                title, at = shortened(one.title, 40), f"{one.at:%d %b %H:%M}"
                lines[place] = [short(one.model), words("how", one.how), title, at]
    elif by == "filter":
        lines = [[facets.filter_line(from_query(parse_qs(one))) or "everything"] for one in values]
    else:
        lines = [[words(by, one)] for one in values]
    return dict(zip(values, told_apart(lines), strict=True)) if lines else {}


def draw_filter(wanted: Filter) -> None:
    """Say within which filter results are compared, and link to Browse to change it."""
    with st.container(horizontal=True, vertical_alignment="center", key="within"):
        said = facets.filter_line(wanted)
        st.markdown(f"Within: {plain(said)}" if said else "All results")
        words, query = "Change the filter in Browse", wanted.query()
        st.page_link(addresses.BROWSE, label=words, icon=":material/filter_list:", query_params=query)


def lab_and_match(labs: dict[str, int], compared: Compared, terms: Comparability) -> None:
    """Let the reader choose the lab, and which items count as the same, if there is a choice."""
    with st.container(horizontal=True, key="which"):
        if len(labs) > 1:
            titles = {lab: f"{entry.labs()[lab].title} · {count:,}" for lab, count in labs.items()}
            address.bound_one_of("Lab", titles, "lab", compared.asked.lab, lambda one: change_query(lab=[one]))
        if terms.whole and not compared.asked.same_rows:
            same: dict[Match, str] = {"whole": terms.whole, "exact": terms.one}
            ways = {way: f"the same {one} · {compared.meet[way]:,}" for way, one in same.items()}
            now = compared.asked.match
            address.bound_one_of("Match by", ways, "match", now, lambda one: change_query(match=[one]))


def doubt(compared: Compared) -> None:
    """Draw a switch that includes results without a verdict, if there are any."""
    if any(compared.doubtful):
        help = "If the predictor failed its test, or a prediction is in doubt, Ask gives no verdict."
        now, take = compared.asked.doubtful, lambda on: address.update(doubtful=["1"] if on else [])
        st.toggle("Count results without a verdict", help=help, **address.bound("doubtful", now, take))


def draw(looked: Selection, compared: Compared, terms: Comparability, names: list[str]) -> None:
    """Draw the result in words, pair by pair, and item by item."""
    sentences = comparison_text.sentences(compared, terms, names)
    with st.container(border=True, gap="xsmall", key="told"):
        st.markdown(f"#### {plain(sentences.headline)}", anchors=False)
        st.markdown(plain(" ".join(sentences.chance)))
        st.caption(plain(" ".join(sentences.left_out)))
    _matrix(looked, compared, terms, names)
    if compared.pairs:
        st.markdown("#### Pair by pair", anchors=False)
        st.table(_pairs(compared, terms, names))
        st.caption(_methods(compared.pairs, terms))


def _pairs(compared: Compared, terms: Comparability, names: list[str]) -> pd.DataFrame:
    """Return a table with a column for each pair and a row for each figure, as text."""
    one = terms.whole if compared.asked.match == "whole" else terms.one
    found = {}
    for pair in compared.pairs:
        small, gap = pair.small, pair.difference
        found[" – ".join(names[int(str(place))] for place in (pair.first, pair.second))] = {
            f"{one.capitalize()}s with an outcome for both": f"{pair.n:,}",
            f"Left out: {comparison_text.NOT_SETTLED}": f"{pair.undefined:,}",
            "With a result only for the first": f"{pair.only_first:,}",
            "With a result only for the second": f"{pair.only_second:,}",
            "Successes only of the first : second": _figures("{:,} : {:,}", pair.first_alone, pair.second_alone),
            "Success rate of the first": _figures("{:.0%}", pair.mean_first),
            "Success rate of the second": _figures("{:.0%}", pair.mean_second),
            "Difference": _figures("{:+.2f}", gap.value),
            "95 % interval": _figures("{:+.2f} to {:+.2f}", gap.low, gap.high),
            "p of this pair alone": _p(pair.test.p if pair.test else None),
            "p, corrected for all pairs": _p(pair.p_holm if len(compared.pairs) > 1 else None),
            "Probably better: the first": _figures("{:.0%}", small and small.first_is_better),
            "95 % interval, Beta-Binomial": _figures(
                "{:+.2f} to {:+.2f}", *((small.low, small.high) if small else (None,))
            ),
        }
    table = pd.DataFrame(found)
    return table[(table != "–").any(axis=1)]


def _methods(pairs: Sequence[Pair], terms: Comparability) -> str:
    unit = terms.whole or terms.one
    tests = sorted({pair.test.name for pair in pairs if pair.test})
    how = sorted({METHODS.get(pair.difference.how, pair.difference.how) for pair in pairs})
    said = f"Success: {terms.means}. Each {unit} counts the same. Interval of the difference: {'; '.join(how)}."
    if tests:
        said += f" Test: {'; '.join(tests)}, by {unit}; over several pairs Holm's correction."
        said += " Near p = 0.05 the interval and the test can disagree."
    if any(pair.small for pair in pairs):
        said += " Beta-Binomial: for fewer than 100, with a flat prior."
    elif any(pair.n for pair in pairs):
        said += " Beta-Binomial figures need fewer than 100 independent items, with one outcome each."
    return plain(said)


def _matrix(looked: Selection, compared: Compared, terms: Comparability, names: list[str]) -> None:
    """Draw a table with one row per item and one column per subject; a click on a cell opens its case."""
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
    found = comparing.matrix(looked.store, compared.asked, compared.keys[first - 1 : first - 1 + listing.PAGE].tolist())
    one, whole = terms.one.capitalize(), terms.whole.capitalize() or "Title"
    shown = {one: list(found["about"])} if (found["about"] != "").any() else {whole: list(found["title"])}
    if (found["among"] != "").any():
        called = lab_page.all_words()
        shown["All else"] = [
            " · ".join(called.get(part) or short(part) for part in among.split(" · ")) for among in found["among"]
        ]
    if address.open_row() is None:
        shown |= _own_columns(looked, found, len(names))
    ahead = len(shown)
    for i, name in enumerate(names):
        shown[name] = [_cell(*row) for row in found[[f"value_{i}", f"times_{i}", f"said_{i}"]].itertuples(index=False)]
    shown[""] = list(found["agree"])
    shown.setdefault(whole, list(found["title"]))
    at = address.open_row()
    key = f"matrix-{crc32(repr((compared.asked, page, at is None)).encode())}"

    def place(row: int, column: str) -> RowPlace | None:
        i = list(shown).index(column) - ahead
        return found[f"place_{i}"].iloc[row] if 0 <= i < len(names) else None

    table, beside_it = (st.container(), None) if at is None else st.columns(lists.WIDTHS, gap="medium")
    with table:
        about = "Items by what is compared; a click on an outcome opens its case"
        config = {name: st.column_config.TextColumn(width="medium") for name in (one, whole)}
        if at is not None:
            config[one] = st.column_config.TextColumn(width=150)
        options = lists.clickable(key, len(found), place)
        tables.table(pd.DataFrame(shown), key, about, column_config=config, **options)
        st.caption("Click an outcome to open its case (the newest if there are several).")
        tables.as_csv(lambda: _whole(looked, compared.asked, names), "comparison")
    if at is not None and beside_it is not None:
        with beside_it:
            lists.close()
            lists.draw_open_case(looked, at)


def _own_columns(looked: Selection, found: pd.DataFrame, subjects: int) -> dict[str, list[str]]:
    """Return the columns of people's own files: each item's value, that of the first subject that has the item."""
    places = [[row[f"place_{i}"] for i in range(subjects) if row[f"place_{i}"]] for _, row in found.iterrows()]
    first = [some[0] if some else RowPlace("", "", "") for some in places]
    values = looked.extra_values(first)
    names = dict.fromkeys(name for one in values for name in one)
    return {f"{name} (your column)": [one.get(name, "") for one in values] for name in names}


def _cell(value: float | None, times: int, said: Sequence[str]) -> str:
    """Return an item's result for one subject: kept or broken, how often, without an outcome, or absent."""
    if not len(said):
        return "–"
    called = " or ".join(one if one.startswith(NO_VERDICT) else words("outcome", one) for one in said)
    if not times:
        return f"· {called}"
    if times > 1:
        return f"{value:.0%} of {times}"
    return f"{'✓' if value else '✕'} {called}"


def _whole(looked: Selection, asked: ComparisonRequest, names: list[str]) -> pd.DataFrame:
    """Return the whole table for download."""
    found = comparing.matrix(looked.store, asked)
    columns: dict[str, object] = {"agree": found["agree"], "title": found["title"], "about": found["about"]}
    columns |= _own_columns(looked, found, len(names))
    columns["all else that is equal"] = found["among"]
    for i, name in enumerate(names):
        columns[name] = found[f"value_{i}"]
        columns[f"{name}: results with a value"] = found[f"times_{i}"]
        columns[f"{name}: outcomes"] = [", ".join(said) for said in found[f"said_{i}"]]
        for part in listing.RowPlace._fields:
            columns[f"{name}: {part}"] = [getattr(place, part) if place else "" for place in found[f"place_{i}"]]
    return pd.DataFrame(columns)


def _figures(how: str, *values: float | None) -> str:
    """Return the values as the table shows them; a dash if one is unknown."""
    return "–" if None in values else how.format(*values).replace("-", "−")


def _p(value: float | None) -> str:
    return "–" if value is None else "< 0.001" if value < 0.001 else f"{value:.3f}"


@st.cache_data(max_entries=16, show_spinner=False)
def _found(
    _store: Store,
    query: dict[str, list[str]],
    viewer: str | None,
    stopped: Sequence[str],
    blind: Collection[tuple[str, str]],
    changes: int,
) -> Compared:
    return comparing.compare_query(_store, query, viewer, stopped, blind)


def main() -> None:
    """Draw the page."""
    st.title("Compare", anchor=False)
    keeper = session.open_index()
    store, viewer = keeper.store, session.viewer()
    looked = lists.selection(store, address.wanted())
    # The row that is open beside the comparison does not change it.
    query = {name: values for name, values in address.read().items() if name not in listing.RowPlace._fields}
    now = example.state(looked)
    if now == "open" and looked.filter == Filter() and not {"of", "runs"} & query.keys():
        looked = looked.by(example.EXAMPLE)
        # It has only one model, which explains in several ways.
        query = {"by": ["how"], **query, **example.EXAMPLE.query()}
    example.draw(looked, now)
    try:
        by, subjects = comparing.subjects(store, query)
        if is_first := not subjects:
            query |= {"by": [by], "of": _first(looked, by)}
            by, subjects = comparing.subjects(store, query)
    except NotComparableError as error:
        st.error(plain(str(error)), icon=":material/error:")
        return
    choose(looked, by, [one.name for one in subjects])
    wanted = looked.filter
    draw_filter(wanted.without(by) if by in TITLES or by.startswith(EXTRA) else wanted)
    try:
        with waits("Comparing …"):
            compared = _found(store, query, viewer, looked.stopped, looked.blind, keeper.changes)
        terms = comparing.comparability_of(store, compared.asked.lab)
        lab_and_match(_labs(looked, query), compared, terms)
        doubt(compared)
        names = _names(looked, by, [one.name for one in subjects])
        if is_first and not compared.shared:
            st.info(
                "No two of these have results on the same items. Ask two of them the same questions, or compare "
                "something else.",
                icon=":material/balance:",
            )
        draw(looked, compared, terms, list(names.values()))
    except NotComparableError as error:
        st.info(plain(str(error)), icon=":material/balance:")
    except QueryRefusedError as error:
        st.error(plain(f"{error} Narrow the filter in Browse."), icon=":material/error:")


def _first(looked: Selection, by: str) -> list[str]:
    """Return what is compared before anything is chosen: of the most frequent the two that share the most items, or
    the first two if none do; nothing for filters and runs.
    """
    if by in ("filter", "run"):
        return []
    # Robots come last: they are compared if somebody chooses them, or if there is nothing else.
    offered = sorted(_offered(looked, by), key=lambda one: by == "model" and is_control(one))[:OFFERED]
    return comparing.most_shared(looked, by, offered) or offered[:2]


def _labs(looked: Selection, query: dict[str, list[str]]) -> dict[str, int]:
    """Return the labs that can be chosen, independently of the current choice."""
    _, subjects = comparing.subjects(looked.store, {name: values for name, values in query.items() if name != "lab"})
    return comparing.labs(looked.store, subjects, looked.viewer, looked.stopped)


main()
