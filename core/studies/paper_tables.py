"""Tables that a lab declares by name (`core.labs.base.declared.Table`), such as its paper's, beside the values that the
paper printed.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from itertools import combinations
from typing import TYPE_CHECKING

from .. import paper_figures
from ..events import Rules
from ..labs.base.declared import Table
from ..labs.base.lab import Lab
from ..rulesets import PARSER_NAMES, other_parser
from ..statistics.comparisons import compare, holm
from ..statistics.intervals import Kind
from ..text import templates
from .table_cells import BLANK, Row, cells, label, number, other_encoders

if TYPE_CHECKING:
    from pandas import DataFrame

TOGETHER = "all columns together"
"""The column for comparing rows in which each item has the mean of its columns."""


def table_cells(table: Table, lab: Lab, frame: DataFrame, title: str = "", rules: Rules | None = None) -> list[Row]:
    """The table's cells over the cases of `frame` (`tables.measured`), under `title` or else its own. If no case
    belongs in it, one cell without a value that says so.

    With `rules`, the parser of the values in `frame`, the title says which parser and whose prompts, each cell also has
    the value by the other parser, and cases with other prompts are in a table of their own.
    """
    if rules is None:
        return _cells(table, lab, frame, title or table.title)
    whose = frame["prompts"].fillna("") if "prompts" in frame else None
    parts = [("", frame)] if whose is None else list(frame.groupby(whose, sort=False))
    return [
        cell for prompts, part in parts for cell in _by_both(table, lab, part, title or table.title, rules, prompts)
    ]


def _by_both(table: Table, lab: Lab, frame: DataFrame, title: str, rules: Rules, prompts: str) -> list[Row]:
    """The table's cells over cases with the same `prompts`, in words, by both parsers."""
    parser = PARSER_NAMES[rules] if table.by_parser else ""
    encoders = other_encoders(frame[frame["metric"].isin(table.metrics)])
    heading = ", ".join(filter(None, (title, parser, prompts, encoders)))
    made = _cells(table, lab, frame, heading)
    if table.by_parser and not table.of_people and "other" in frame:
        others = _cells(table, lab, frame.assign(value=frame["other"]), heading)
        beside = {_place_of(cell): cell for cell in others}
        for cell in made:
            if (other := beside.get(_place_of(cell))) is not None and cell["of"]:
                name = PARSER_NAMES[other_parser(rules)]
                cell |= {"other": other["value"], "other_n": other["n"], "other_parser": name}
    for cell in made:
        if cell["published"] is not None and cell["value"] is not None:
            cell["why"] = _why(table, rules, prompts)
    return made


def _place_of(cell: Row) -> tuple[str, str, str]:
    return cell["table"], cell["row"], cell["column"]


def _why(table: Table, rules: Rules, prompts: str) -> str:
    """What may make a printed figure and ours differ, in a sentence."""
    parts = ["" if "model" in table.their_rows else "the models"]
    parts += ["" if prompts == templates.THEIRS else f"the prompts (here {prompts})" if prompts else "the prompts"]
    parts += ["the parser (here the updated one)" if table.by_parser and rules == "repaired" else ""]
    return f"Ours and theirs may differ by {', '.join(filter(None, [*parts, 'the items and their number']))}."


def _cells(table: Table, lab: Lab, frame: DataFrame, title: str) -> list[Row]:
    chosen = table.cases(frame)
    if not len(chosen):
        return [{**BLANK, "table": title, "row": "–", "column": "–", "note": table.nothing}]
    made: list[Row] = []
    apart = list(table.apart)
    for key, part in chosen.groupby(apart, sort=False) if apart else [((), chosen)]:
        where = dict(zip(apart, key, strict=True))
        named = ": ".join(filter(None, (title, label(where, apart))))
        ours = _one(table, lab, part)
        if table.is_shared:
            # The items that the table leaves out still count in the `of` of its n.
            met = frame.loc[(frame[apart] == list(where.values())).all(axis=1), "item"].nunique()
            ours = [{**cell, "of": met} for cell in ours]
        rows, columns = table.their_rows, table.their_columns
        whole = _beside(ours, table, lab, where, table.metrics, (*rows, *columns))
        mixed = len(table.metrics) > 1 or table.figures is not None
        made += [{**cell, "table": named, "mixed": mixed} for cell in whole]
        if table.differences:
            gains = [f"{name}_gain" for name in table.metrics]
            found = _differences(table, lab, part)
            compared = _beside(found, table, lab, where, gains, rows)
            made += [{**cell, "table": f"{named}, differences"} for cell in compared]
    return made


def _one(table: Table, lab: Lab, frame: DataFrame) -> list[Row]:
    if table.figures is not None:
        return [{**BLANK, **cell} for cell in table.figures(frame)]
    made: list[Row] = []
    for name in table.metrics:
        rows = frame[frame["metric"] == name]
        if table.is_shared:
            rows = _shared(rows, [*table.rows, *table.columns])
        for cell in cells(rows, table.rows, table.columns, "", lab.metric(name)):
            made.append({**cell, **_place(table, lab, name, cell["row"], cell["column"])})
    return made


def _place(table: Table, lab: Lab, metric: str, row: str, column: str) -> dict[str, str]:
    """The names of row and column: each of several metrics has a column; a single one names the row or column that has
    no name.
    """
    title = lab.metric(metric).title_of_several
    if len(table.metrics) > 1:
        return {"row": row or "all", "column": " · ".join(filter(None, (column, title)))}
    return {"row": row or title, "column": column or title}


def _shared(frame: DataFrame, by: Sequence[str]) -> DataFrame:
    """The rows of items that have a value in every cell; if there are none, all rows without their values."""
    defined = frame[frame["value"].notna()]
    settings = len(frame[[*by]].drop_duplicates())
    met = defined[["item", *by]].drop_duplicates().groupby("item").size()
    kept = frame[frame["item"].isin(met[met == settings].index)]
    return kept if len(kept) else frame.assign(value=float("nan"))


def _differences(table: Table, lab: Lab, frame: DataFrame) -> list[Row]:
    """Compare rows in each column and over all columns together, and columns in each row, two by two over the items
    that both have: a paired t test, as in the papers, and its p corrected by Holm for all tests of the table.
    """
    cells: list[Row] = []
    for name in table.metrics:
        title = lab.metric(name).title_of_several if len(table.metrics) > 1 else ""
        for cell in _differences_of(table, frame[frame["metric"] == name], lab.metric(name).kind):
            cells.append({**cell, "column": " · ".join(filter(None, (cell["column"], title)))})
    for cell, p in zip(cells, holm([cell["p"] for cell in cells]), strict=True):
        cell["p_holm"] = p
    return cells


def _differences_of(table: Table, frame: DataFrame, kind: Kind) -> Iterator[Row]:
    """Yield the comparisons of one figure, whose cases `frame` has."""
    rows = frame.assign(row=_labels(frame, table.rows), column=_labels(frame, table.columns))
    columns, names = list(dict.fromkeys(rows["column"])), list(dict.fromkeys(rows["row"]))
    compared = partial(_compared, kind=kind)
    if "columns" in table.differences:
        for name in names:
            parts = dict(list(rows[rows["row"] == name].groupby("column", sort=False)))
            yield from (compared(parts[a], parts[b], name, f"{a} over {b}") for a, b in combinations(parts, 2))
    if "rows" in table.differences:
        for a, b in combinations(names, 2):
            first, second = rows[rows["row"] == a], rows[rows["row"] == b]
            for column in columns:
                of_column = first[first["column"] == column], second[second["column"] == column]
                yield compared(*of_column, f"{a} over {b}", column)
            if len(columns) > 1:
                yield compared(_in_all(first, columns), _in_all(second, columns), f"{a} over {b}", TOGETHER)


def _compared(first: DataFrame, second: DataFrame, row: str, column: str, kind: Kind) -> Row:
    pair = compare(_by_item(first), _by_item(second), kind)
    both = [*zip(first["run"], first["case"], strict=True), *zip(second["run"], second["case"], strict=True)]
    return {
        **BLANK,
        **{"row": row, "column": column, "value": pair.difference, "low": pair.low, "high": pair.high},
        **{"n": pair.n, "of": pair.of, "p": pair.p, "note": pair.detail.get("test") or pair.detail.get("reason")},
        "complete": bool(first["complete"].all() and second["complete"].all()),
        "behind": tuple(dict.fromkeys(both)),
    }


def _labels(frame: DataFrame, names: Sequence[str]) -> list[str]:
    return [label(values, names) for values in frame[[*names]].astype(object).fillna("").to_dict("records")]


def _in_all(frame: DataFrame, columns: Sequence[str]) -> DataFrame:
    """One row for each item that has a value in each of the columns, with the unweighted mean over them."""
    defined = frame[frame["value"].notna()]
    wide = defined.pivot_table("value", "item", "column", aggfunc="mean").reindex(columns=columns).dropna()
    of_item = frame.drop_duplicates("item").set_index("item")
    whole = of_item.assign(value=wide.mean(axis=1)).reset_index()
    whole["complete"] = bool(frame["complete"].all())
    return whole


def _by_item(frame: DataFrame) -> dict[str, float | None]:
    return {str(item): number(value) for item, value in frame.groupby("item")["value"].mean().items()}


def _beside(
    ours: list[Row], table: Table, lab: Lab, where: Mapping[str, str], metrics: Sequence[str], needed: Sequence[str]
) -> list[Row]:
    """Our cells, each with the value that the paper printed for the same row and column, followed by rows named after
    the paper for the values that it printed for others. A printed figure that names no row belongs to all rows.
    """
    paper = paper_figures.source(lab.name)
    keys = {*table.apart, *needed}
    left: list[Row] = []
    for name in metrics:
        for figure in table.published(lab.name, name):
            about = {key: table.renamed.get(value, value) for key, value in figure.about.items()}
            axes = about.keys() - set(table.besides)
            fits = keys <= axes <= keys | {*table.their_columns}
            if not fits or any(about[key] != where[key] for key in table.apart):
                continue
            row = label(about, table.their_rows)
            column = label(about, [key for key in table.their_columns if key in about])
            column = _place(table, lab, name, row, column)["column"] if name in table.metrics else column or TOGETHER
            printed = {"published": figure.value, "published_n": figure.n, "source": figure.source}
            printed["reading"] = paper_figures.address(lab.name, figure.source)
            same = [cell for cell in ours if cell["column"] == column and row in ("", cell["row"])]
            for cell in same:
                cell.update(printed)
                cell["difference"] = None if cell["value"] is None else cell["value"] - figure.value
            if not same:
                cited = f"{row or 'as printed'} ({paper['authors']} {paper['year']})"
                who = about.get("model") or label(about, [*table.their_rows, *table.their_columns]) or "it"
                note = f"no row of ours is {who}"
                left.append({**BLANK, "row": cited, "column": column, **printed, "note": note})
    return ours + left
