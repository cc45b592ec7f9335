"""The charts that Browse draws of many runs of the Ask lab: what each needs, and how it is drawn."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from ... import paper_figures
from ...charts import forest, scatter
from ...charts.labels import ReferenceLine
from ...charts.marks import link, safe
from ...charts.printed import script
from ...paper_figures import Published
from ...statistics.intervals import FEW, Kind
from ...transcript import name_of
from ..base.declared import FACETS, Cases, Picture, declared, words_of
from .records import Examined
from .view import METRICS

if TYPE_CHECKING:
    from pandas import DataFrame, Series
    from plotly.graph_objects import Figure


# Charts of the Ask lab. Data in, figure out: no colour of paper or font is set, so light and dark themes both fit.
#
# The colours are from Okabe and Ito's palette, distinguishable by colour-blind readers on white and on black.
# Whatever a colour means is also shown by a symbol or a word.


BASELINES: Mapping[str, str] = words_of(__file__, "baselines")
"""The baselines of precision: metrics and their names."""


def is_above(table: DataFrame) -> Series[bool]:
    """Return for each row of `pictures.compared` whether its whole interval of precision lies above its strongest
    baseline; False if either is not known, or if the predictor failed the qualification test.
    """
    # Both are means, so a difference from rounding does not count.
    over = table["precision_low"].astype(float) - table["baseline"].astype(float)
    return (over > 1e-9) & ~table["failed"].astype(bool)


def plane(table: DataFrame, similarity: str = "cosine", theirs: Sequence[Published] = ()) -> Figure:
    """Draw precision (x) against generality (y), both 0 to 1, one mark per model and method (`core.charts.scatter`).

    `table` is from `pictures.compared`. Rows in which either is undefined are not drawn; the axis says how many. The
    dashed line is the strongest baseline over all rows of a task. In `theirs`, the paper's figures, the precision and
    the generality of one data set form one open mark.
    """
    drawn = table.dropna(subset=["precision", "generality"])
    missing = len(table) - len(drawn)
    rows = drawn.to_dict("records")
    figure = scatter.plane(
        drawn.rename(columns={"how": "kind", "baseline": "own"})
        .rename(columns=lambda column: column.replace("precision", "x").replace("generality", "y"))
        .assign(
            name=_short([str(row["label"]) for row in rows]),
            open=~is_above(drawn),
            text=[_point(row, similarity) for row in rows],
        ),
        (
            "precision" + (f"<br>{missing} without a precision or a generality, not drawn" if missing else ""),
            f"generality ({similarity})",
        ),
        [ReferenceLine(*line) for line in _strongest(drawn)],
    )
    precision = {one.about["dataset"]: one for one in theirs if one.metric == "precision"}
    both = [(precision[one.about["dataset"]], one) for one in theirs if one.metric != "precision"]
    if both:
        points = [
            (
                one.value,
                other.value,
                one.about["dataset"],
                f"<b>{safe(one.about['dataset'])}</b>, both models and methods<br>precision {one.value:.2f}: "
                f"{safe(one.source)}<br>generality {other.value:.2f}: {safe(other.source)}",
            )
            for one, other in both
        ]
        scatter.add_published(figure, points)
    return figure


def code(table: DataFrame, similarity: str, file: str) -> str:
    """Return a program that draws the marks and the strongest baselines from the CSV file of `table`."""
    drawn = table.dropna(subset=["precision", "generality"])
    return script("plane", FILE=file, SIMILARITY=similarity, BASELINES=list(_strongest(drawn)))


def _short(labels: Sequence[str]) -> list[str]:
    """Shorten names by dropping the provider, if they remain distinct: "openai/gpt-5, cot" -> "gpt-5, cot"."""
    short = [label.rpartition("/")[2] for label in labels]
    return short if len(set(short)) == len(set(labels)) else list(labels)


def _strongest(drawn: DataFrame) -> Iterator[tuple[float, str]]:
    """Yield for each task the highest baseline over all questions of its rows, and its label. Baselines over fewer than
    ten questions are used only if there is no other.
    """
    for task, some in drawn.groupby("task", sort=True):
        over = {name: int(some[f"n_{name}"].sum()) for name in BASELINES}
        firm = [name for name, n in over.items() if n >= FEW] or [name for name, n in over.items() if n]
        means = {name: float((some[name].fillna(0) * some[f"n_{name}"]).sum() / over[name]) for name in firm}
        if means:
            name = max(means, key=lambda name: means[name])
            on = f" · {task}" if drawn["task"].nunique() > 1 else ""
            yield (
                means[name],
                f"strongest baseline: {BASELINES[name]}, {means[name]:.2f} over {over[name]} questions{on}",
            )


def _point(row: dict[Any, Any], similarity: str) -> str:
    """Return the hover text of a mark: both figures with intervals, the number of questions, and each baseline."""

    def figure(name: str) -> str:
        low, high = row[f"{name}_low"], row[f"{name}_high"]
        return f"{row[name]:.2f}" + (f" ({low:.2f} to {high:.2f})" if low == low and low is not None else "")

    return "<br>".join(
        [
            f"<b>{safe(str(row['label']))}</b>",
            f"precision {figure('precision')}, {row['n']} of {row['of']} questions",
            f"generality {figure('generality')} ({similarity})",
            *(
                f"{words}: {row[name]:.2f}, {row[f'n_{name}']} questions"
                for name, words in BASELINES.items()
                if row[f"n_{name}"]
            ),
            *(["the predictor failed the qualification test"] if row["failed"] else []),
        ]
    )


LAB = "simulatability"
PRECISION, GAIN = "precision", "what the explanation adds"
_METRIC = {PRECISION: "precision", GAIN: "simulatability_gain"}
_KIND: Mapping[str, Kind] = {PRECISION: "share", GAIN: "difference"}


SAME_GUESS = "constant_guess"
"""The only one of BASELINES computed over all cases of a row together; the others are means over cases."""

CHOSEN = 6
"""How many models and methods are in colour until the user chooses others."""

_BY = ("lab", "model", "how", "task")


def compared(frame: DataFrame, similarity: str) -> DataFrame:
    """Return one row per model and method; none if no row has both a precision and a generality. Columns:

    - `label`; precision and generality (by the chosen similarity), each the mean over questions with `_low` and `_high`
      of its 95 % interval (NaN without one);
    - `interval`: the method of precision's interval, or why there is none;
    - `n`: questions with a precision, of `of`;
    - each of BASELINES, and its number of questions (prefix `n_`); `baseline`, the strongest of these, and its name;
    - `failed`: whether a predictor took part that is known to have failed the qualification test;
    - `faint`: too little data; `chosen`: in colour, those that are not faint with the most questions.
    """
    import pandas as pd

    by = (*_BY, *forest.own_columns(frame))
    rows = frame[frame["given_from"].fillna("") == ""]
    rows = rows.assign(item=rows["title"].fillna(rows["case"]))
    several = [name for name in ("model", "how", "task") if rows[name].fillna("").nunique() > 1 or name == "model"]

    def label(row: dict[str, Any]) -> str:
        return ", ".join(row[name] for name in several if row[name]) or row["how"] or "unnamed"

    def lines(metric: str) -> DataFrame:
        chosen = rows[rows["metric"] == metric]
        some = forest.lines(chosen, _BY, label, kind=METRICS[metric].kind, ends=METRICS[metric].ends)
        return some.set_index("link")

    counted = {"how": "interval", "items": "n", "items_of": "of"}
    table = lines("precision").rename(columns=_ends("precision") | counted)
    generality = lines(f"generality_{similarity}").rename(columns=_ends("generality"))
    table = table.join(generality[[*_ends("generality").values()]])
    table["faint"] = table["faint"].astype(bool) | table["thin"].astype(bool)
    groups = list(rows[list(by)].astype(object).itertuples(index=False, name=None))
    links = {group: link({name: str(value) for name, value in zip(by, group, strict=True)}) for group in set(groups)}
    rows = rows.assign(link=[links[group] for group in groups])
    for name in BASELINES:
        of_name = _of_same_guess(rows) if name == SAME_GUESS else rows[rows["metric"] == name]
        defined = of_name[of_name["value"].notna()]
        by_item = defined.groupby(["link", "item"])["value"].mean().astype(float).groupby("link")
        table = table.assign(**{name: by_item.mean(), f"n_{name}": by_item.size()})
        table[f"n_{name}"] = table[f"n_{name}"].fillna(0).astype(int)
    known = table[list(BASELINES)].astype(float)
    strongest = [BASELINES[str(row.idxmax())] if row.notna().any() else "" for _, row in known.iterrows()]
    failed = rows["examined_passed"].eq(False).groupby(rows["link"]).any()
    table = table.assign(baseline=known.max(axis=1), baseline_name=strongest, failed=failed)
    table["how"] = rows.groupby("link")["how"].first().fillna("")
    table["task"] = rows.groupby("link")["task"].first().fillna("")
    drawn = table[table["precision"].notna() & table["generality"].notna()]
    order = drawn.sort_values(["faint", "n", "precision"], ascending=[True, False, False], kind="stable")
    table = table.assign(chosen=table.index.isin(order.index[:CHOSEN])).reset_index()
    columns = (
        *("label", "precision", "precision_low", "precision_high", "generality", "generality_low", "generality_high"),
        *("interval", "n", "of", "baseline", "baseline_name"),
        *(column for name in BASELINES for column in (name, f"n_{name}")),
        *("failed", "faint", "chosen", "how", "task", "link"),
    )
    table["link"] = [f"{one}&show=runs" for one in table["link"]]
    return table[list(columns)] if len(drawn) else pd.DataFrame(columns=list(columns))


def _ends(name: str) -> dict[str, str]:
    """Return what the columns of a mean and its interval are called for that figure."""
    return {"macro": name, "low": f"{name}_low", "high": f"{name}_high"}


def _of_same_guess(rows: DataFrame) -> DataFrame:
    """Return for each case the share that one fixed answer gets: the answer that is better over all questions of the
    case's model and method (`link`). Columns: link, item and value.
    """
    import pandas as pd

    cases = rows[(rows["metric"] == "precision") & rows["value"].notna()]
    cases = cases[[bool(told) for told in cases["observed"]]]
    if not len(cases):
        return pd.DataFrame(columns=["link", "item", "value"])
    counts = pd.DataFrame(list(cases["observed"]), index=cases.index).fillna(0.0).astype(float)
    shares = counts.div(counts.sum(axis=1), axis=0).assign(link=cases["link"], item=cases["item"])
    best = shares.groupby(["link", "item"]).mean().groupby("link").mean().idxmax(axis=1)
    values = [row[best[row["link"]]] for row in shares.to_dict("records")]
    return shares[["link", "item"]].assign(value=values)


def said_of_compared(table: DataFrame, similarity: str) -> str:
    """Say how many models and methods with enough data lie above their strongest baseline."""
    defined = table[table["precision"].notna()]
    failed = int(defined["failed"].astype(bool).sum())
    judged = defined[~defined["failed"].astype(bool)]
    thin = int(judged["faint"].astype(bool).sum())
    firm = judged[~judged["faint"].astype(bool)]
    above, undefined = int(is_above(firm).sum()), len(table) - len(defined)
    said = [
        f"Of the {len(firm)} with enough data, {above or 'none'} {_have(above)} a precision interval entirely above "
        f"{'their' if above > 1 else 'its'} strongest baseline."
        if len(firm)
        else "Nothing here has enough data to be compared with its baselines."
    ]
    if thin:
        said.append(f"{thin} {_have(thin)} fewer than ten questions, or less than 70 % of what should count.")
    if failed:
        said.append(f"Not counted: {failed}, because a predictor failed the qualification test.")
    if undefined:
        said.append(f"{undefined} of {len(table)} {_have(undefined)} no precision, because no question counts.")
    return " ".join(said)


def _have(number: int) -> str:
    return "has" if number < 2 else "have"


def counted(frame: DataFrame, choice: str) -> DataFrame:
    """Select the cases that a figure is made of. Runs on questions written for another explanation are measured
    differently and are left out.
    """
    rows = frame[(frame["metric"] == _METRIC[choice]) & (frame["given_from"].fillna("") == "")]
    if choice == GAIN:
        # A run without the arm must not count as undefined.
        rows = rows[rows["of"] > 0]
    return rows.assign(item=rows["title"].fillna(rows["case"]))


def pooled(frame: DataFrame, choice: str) -> DataFrame:
    """Return one line per model and method, over all questions of its runs."""
    rows = counted(frame, choice)
    several, kind = rows["task"].nunique() > 1, _KIND[choice]

    def label(row: dict[str, Any]) -> str:
        return ", ".join(word for word in (row["model"], row["how"], row["task"] if several else "") if word)

    by = ("lab", "model", "how", "task")
    return forest.paired(forest.lines(rows, by, label, kind=kind), rows, by, label, FACETS, kind)


def theirs(choice: str) -> list[Published]:
    """Return the figures of Chen et al. by model and method."""
    found = paper_figures.published(LAB, "precision") if choice == PRECISION else []
    return [one for one in found if {"model", "method"} <= set(one.about)]


def their_data_sets(similarity: str) -> list[Published]:
    """Return the figures of Chen et al. by data set: precision over the four explanation systems, and generality of the
    counterfactuals used for it. They print the two in separate tables.
    """
    precision = [one for one in paper_figures.published(LAB, "precision") if one.about.keys() == {"dataset"}]
    return precision + paper_figures.published(LAB, f"generality_{similarity}", generator="GPT-mix")


_COUNTED = Cases(tuple(_METRIC.values()), fields=("given_from",))

PICTURES = declared(
    __file__,
    "picture",
    Picture,
    {
        "models": {
            "of": Cases(
                (
                    *("precision", "generality_cosine", "generality_bleu", "generality_jaccard"),
                    *(name for name in BASELINES if name != SAME_GUESS),
                ),
                fields=("given_from",),
                held=((name_of(Examined), "passed"),),
                observed=True,
            ),
            "table": compared,
            "draw": plane,
            "code": code,
            "takeaway": said_of_compared,
            "published": their_data_sets,
        },
        "pooled": {
            "of": _COUNTED,
            "table": pooled,
            "published": theirs,
            **forest.drawing("questions", kind=_KIND.__getitem__),
        },
        "leaderboard": {
            "of": _COUNTED,
            "caption": forest.CAPTION.format("questions", "question"),
            "table": lambda frame, choice: forest.board(counted(frame, choice), ("task", "dataset"), _KIND[choice]),
            **forest.drawing("questions", kind=_KIND.__getitem__, say=forest.leader_takeaway),
        },
    },
)
