"""The cells of a study's tables: groups of cases with their figure, its n and its interval."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from ..labs.base.declared import Metric
from ..statistics import Kind, group_statistics, of_items
from ..text.display import count_noun
from ..text.embed import PAPER

if TYPE_CHECKING:
    from pandas import DataFrame

Row = dict[str, Any]
"""One cell: `table`, `row`, `column`, `value`; `n` items with a value, of `of`; `low` and `high` of its 95 % interval
(over items), `trials`, `truth` if the correct value is known, `thin` if less than 70 % counts, `complete`, whether
all of its runs are, and `stopped_early`, whether one of them ended at the study's `stop_width`.

`published`, `published_n`, `source`: the value that a paper printed there, its n, and where; a cell that only the
paper has lacks a value. `difference` is ours minus theirs, `reading` an address where the paper has it, and `why`
what may make them differ. `other` and `other_n` are the value and its items by the parser `other_parser`. `p`,
`p_holm`: p of a paired test, and corrected for all tests of the table. `note` says what else to know. `mixed`: its
table has several figures, which must not be compared with one another. `behind`: the (run, case) pairs of its cases,
which are not printed.
"""

BLANK: Row = {
    **{"value": None, "n": 0, "low": None, "high": None, "of": 0, "trials": 0, "thin": False, "truth": None},
    **{"complete": True, "published": None, "published_n": None, "source": None, "p": None, "p_holm": None},
    **{"difference": None, "reading": None, "why": "", "other": None, "other_n": 0, "other_parser": ""},
    **{"stopped_early": False, "mixed": False, "note": "", "behind": ()},
}


def cells(frame: DataFrame, rows: Sequence[str], columns: Sequence[str], otherwise: str, metric: Metric) -> list[Row]:
    """A cell for each combination of the values of `rows` and `columns`, which are columns of `frame`
    (`tables.measured`); `otherwise` is the name of a row or column without a value. Cases for which a lab gives no
    such figure at all (`applies`) have no cell. `metric` is the figure.
    """
    # Prefixed, since a group's statistic may have the same name as a field (how).
    by = {name: f"by {name}" for name in (*rows, *columns)}
    if not len(frame):
        return []
    keyed = {key: frame[name].astype(object).fillna("") for name, key in by.items()} or {"by all": ""}
    places = frame.assign(**keyed, place=list(zip(frame["run"], frame["case"], strict=True)))
    statistics = group_statistics(places, [*keyed], kind=metric.kind, ends=metric.ends)
    extra = places.groupby([*keyed]).agg(
        **{"complete": ("complete", "all"), "early": ("early", "any")},
        **{"applies": ("applies", "any"), "behind": ("place", lambda cases: tuple(dict.fromkeys(cases)))},
    )
    truths = {tuple(place): truth_of(some, metric.kind) for place, some in places.groupby([*keyed])}
    made = []
    for group in statistics.join(extra, on=[*keyed]).to_dict("records"):
        if not group["applies"]:
            continue
        named = {name: group[key] for name, key in by.items()}
        truth = truths[tuple(group[key] for key in keyed)]
        made.append(
            {
                **BLANK,
                **{"row": label(named, rows) or otherwise, "column": label(named, columns) or otherwise},
                **{"value": number(group["macro"]), "low": number(group["low"]), "high": number(group["high"])},
                **{"n": group["items"], "of": group["items_of"], "trials": group["trials"], "thin": group["thin"]},
                **{"truth": truth, "complete": group["complete"], "stopped_early": group["early"]},
                "behind": group["behind"],
            }
        )
    return made


def pivot(cells: Sequence[Row]) -> tuple[list[str], dict[str, dict[str, Row]]]:
    """The columns of a table, in order, and its cells by row and column."""
    rows: dict[str, dict[str, Row]] = {}
    for cell in cells:
        rows.setdefault(cell["row"], {})[cell["column"]] = cell
    return list(dict.fromkeys(cell["column"] for cell in cells)), rows


def has_figures(cells: Sequence[Row]) -> bool:
    """Whether a table has more than the note that says why it is empty."""
    return any(cell["of"] or cell["published"] is not None for cell in cells)


def truth_of(frame: DataFrame, kind: Kind = "share") -> float | None:
    """The correct value of the figure of this `kind` for the cases of `frame`: computed from their truths over the same
    cases and in the same way, each item counting equally. None if the truth of one is not known, or no case has a
    value.
    """
    defined = frame[frame["value"].notna()]
    if not len(defined) or defined["truth"].isna().any():
        return None
    return of_items(defined["truth"].astype(float).groupby(defined["item"]).mean().tolist(), kind)


def origins(frame: DataFrame) -> dict[str, str]:
    """Cautions about the runs, in words, by run: that it was imported, or that its journal is damaged."""
    told: dict[str, list[str]] = {}
    for run, *words in frame.reindex(columns=["run", "imported", "damaged"]).drop_duplicates().itertuples(index=False):
        imported, damaged = words
        told[run] = [imported] if isinstance(imported, str) and imported else []
        told[run] += [f"with {count_noun(int(damaged), 'damaged line')} in its journal"] if damaged > 0 else []
    return {run: ", ".join(words) for run, words in told.items()}


def with_origins(cell: Row, sent: Mapping[str, str]) -> Row:
    """The cell with a note on how many of its runs have which caution; `sent` has the cautions by run (`origins`)."""
    runs_from = Counter(words for words in sent.values() if words)
    told = (f"{count_noun(runs, 'run')} {words}" for words, runs in sorted(runs_from.items()))
    return {**cell, "note": "; ".join(filter(None, (cell["note"], *told)))}


def other_encoders(frame: DataFrame) -> str:
    """The sentence encoders behind the values of `frame` (`tables.measured`), for a heading; '' if there are none, or
    only that of Chen et al.
    """
    used = frame["by_encoder"].dropna().unique() if "by_encoder" in frame else []
    others = sorted(str(name) for name in used if name != PAPER)
    if not others:
        return ""
    also = f" and {PAPER}" if len(others) < len(used) else f" in place of {PAPER}"
    return f"sentence encoder {' and '.join(others)}{also}"


def label(values: Any, names: Sequence[str]) -> str:
    """The values of these names, as the label of a row or column."""
    return " · ".join(str(values[name]) for name in names if str(values.get(name, "")))


def number(value: Any) -> float | None:
    """The value as a float; None for pandas' NaN."""
    return None if value is None or value != value else float(value)
