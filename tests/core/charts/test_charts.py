"""What the pictures of all labs share: room for each mark, lines with their intervals, sentences that are true."""

import re
from typing import Any
from urllib.parse import parse_qsl

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as some

from core.charts import forest, marks, printed, scatter
from core.paper_figures import Published
from core.statistics.intervals import difference_of_pairs, wilson
from tests.support.chance import tenth

VALUES = some.sampled_from([0.0, 0.25, 0.5, 1.0, None])


def cases(groups: list[list[float | None]]) -> pd.DataFrame:
    """A group a model, a case an item."""
    return pd.DataFrame(
        [
            {"model": f"m{number}", "item": f"q{place}", "value": value, "n": 0 if value is None else 1, "of": 1}
            for number, values in enumerate(groups)
            for place, value in enumerate(values)
        ]
    )


def lines(groups: list[list[float | None]]) -> pd.DataFrame:
    def label(row: dict[str, Any]) -> str:
        return str(row["model"])

    return forest.paired(forest.lines(cases(groups), ["model"], label), cases(groups), ["model"], label, ())


def place(x: float, y: float, name: str, **more: Any) -> dict[str, Any]:
    return {"x": x, "y": y, "text": name, "name": name, "link": f"model={name}&how=cot", **more}


@given(some.lists(some.tuples(some.sampled_from([0.0, 0.5]), some.sampled_from([0.0, 1.0])), max_size=40))
def test_each_place_is_one_mark_that_knows_how_many_are_there(chosen: list[tuple[float, float]]) -> None:
    found = scatter.one_a_place(pd.DataFrame([place(x, y, "m") for x, y in chosen], columns=list(place(0, 0, ""))))
    assert [(one["x"], one["y"]) for one in found] == list(dict.fromkeys(chosen))
    assert [len(one["there"]) for one in found] == [chosen.count(at) for at in dict.fromkeys(chosen)]
    assert [scatter.number_on(one) for one in found] == [
        str(number) if (number := chosen.count(at)) > 1 else "" for at in dict.fromkeys(chosen)
    ]


def test_a_mark_of_several_tells_of_all_and_leads_to_all() -> None:
    ends = ((0.2, 0.6), (0.3, 0.9), (float("nan"), float("nan")))
    rows = [place(0.5, 0.5, name, low=low, high=high, faint=name == "a")
            for name, (low, high) in zip("abc", ends, strict=True)]  # fmt: skip
    (one,) = scatter.one_a_place(pd.DataFrame(rows))
    assert (one["low"], one["high"], one["faint"]) == (0.2, 0.9, False)
    assert one["text"] == "<b>3 at this place</b><br>a<br>b<br>c"
    assert parse_qsl(one["link"]) == [("model", "a"), ("model", "b"), ("model", "c"), ("how", "cot")]
    many = [place(0, 0, f"m{n}", link=f"run={n}") for n in range(9)]
    (one,) = scatter.one_a_place(pd.DataFrame(many))
    assert one["link"] == "run=0" and one["text"].endswith("m5<br>and 3 more")


def test_a_line_is_the_group_s_statistics_and_leads_to_its_cases() -> None:
    table = lines([[0.0, 1.0] * 5, [1.0] * 9 + [None], [None]])
    assert table["label"].tolist() == ["m1", "m0", "m2"], "the highest first, the undefined last"
    assert table[["items", "items_of", "dropped"]].values.tolist() == [[9, 10, 1], [10, 10, 0], [0, 1, 1]]
    assert table["faint"].tolist() == [True, False, True]
    assert table["link"].tolist() == ["model=m1", "model=m0", "model=m2"]
    figure = forest.forest(table, "precision", "questions")
    drawn = {trace.customdata[0][0]: trace for trace in figure.data if trace.mode == "markers"}
    assert {link: trace.opacity for link, trace in drawn.items()} == {"model=m0": 1.0, "model=m1": marks.FAINT}
    half = drawn["model=m0"]
    assert half.x[0] + half.error_x.array[0] == pytest.approx(table["high"][1])
    assert half.x[0] - half.error_x.arrayminus[0] == pytest.approx(table["low"][1])
    (words,) = [trace.text for trace in figure.data if trace.mode == "text"]
    assert words[0] == "<b>m1</b> · n 9 of 10 · 10 % undefined · 10 % not counted"
    assert words[2] == "<b>m2</b> · n 0 of 1 · undefined"


def test_gains_that_are_all_the_same_have_the_interval_of_a_difference() -> None:
    table = forest.lines(cases([[0.0] * 12]), ["model"], lambda row: "m", kind="difference")
    assert table.loc[0, ["low", "high"]].tolist() == pytest.approx(difference_of_pairs(0, 0, 12)[1:])
    assert lines([[0.0] * 12]).loc[0, ["low", "high"]].tolist() == pytest.approx(wilson(0, 12))


def test_published_figures_are_open_named_and_apart_from_ours() -> None:
    theirs = [Published("precision", 0.8, None, "share", {"model": "GPT-4"}, "Chen et al. 2023, Table 4")]
    figure = forest.forest(lines([[0.5, 1.0]]), "precision", "questions", theirs)
    (trace,) = [trace for trace in figure.data if trace.marker.symbol == "diamond-open"]
    assert (list(trace.x), list(trace.y)) == ([0.8], [-1]) and trace.customdata is None
    assert "not measured here" in trace.name and "Chen et al. 2023, Table 4" in trace.text[0]
    assert figure.layout.showlegend and not forest.forest(lines([[0.5]]), "p", "q").layout.showlegend


def test_of_too_many_groups_those_over_the_most_are_drawn_and_it_says_so() -> None:
    figure = forest.forest(lines([[0.5] * (1 + number % 2) for number in range(60)]), "precision", "questions")
    assert sum(len(trace.x) for trace in figure.data if trace.mode == "markers") == forest.MOST
    assert "40 of 60 groups drawn" in figure.layout.xaxis.title.text


@settings(max_examples=tenth(60), deadline=None)
@given(some.lists(some.lists(VALUES, min_size=1, max_size=16), min_size=1, max_size=4))
def test_the_sentence_on_a_forest_is_true(groups: list[list[float | None]]) -> None:
    """Held against means computed here, from the cases themselves."""
    table = lines(groups)
    said = forest.takeaway(table, "precision", "questions")
    firm = {}
    for number, values in enumerate(groups):
        known = [value for value in values if value is not None]
        if len(known) >= 10 and len(known) >= 0.7 * len(values):
            firm[f"m{number}"] = float(np.mean(known))
    if not firm:
        assert said.startswith("Too little")
        return
    assert "overlap" not in said, "the items are the same: what counts is what they differ by, pair by pair"
    if found := re.search(r"highest for (m\d).*? \(.*and lowest for (m\d)", said):
        assert firm[found[1]] == max(firm.values()) > min(firm.values()) == firm[found[2]]
        pairs = zip(groups[int(found[1][1:])], groups[int(found[2][1:])], strict=False)
        gaps = [a - b for a, b in pairs if a is not None and b is not None]
        if gaps:
            value = f"{float(np.mean(gaps)):.2f}".replace("-0.00", "0.00")
            told = re.search(r"Over the (\d+) questions that (m\d) and (m\d) share they differ by (-?\d\.\d\d)", said)
            assert told and told.groups() == (str(len(gaps)), found[1], found[2], value)
            three = len(firm) * (len(firm) - 1) // 2
            assert ("Holm's method" in said) == (three > 1) and (three == 1 or f"for {three} pairs" in said)
        else:
            assert "No questions are shared" in said
        assert ("and 1 more (" in said or "and 2 more (" in said) == (
            list(firm.values()).count(max(firm.values())) > 1 or list(firm.values()).count(min(firm.values())) > 1
        )
    elif len(firm) == 1:
        assert f"Precision of {next(iter(firm))} is {next(iter(firm.values())):.2f}" in said
    else:
        assert len(set(firm.values())) == 1 and f"in all of {len(firm)} groups" in said
    assert ("rest on too little" in said) == (len(firm) < len(groups))


def test_a_difference_of_pairs_is_told_where_intervals_would_hide_it() -> None:
    """Each of 40 questions but ten comes out alike, and those ten all one way."""
    shared: list[float | None] = [1.0] * 20 + [0.0] * 10
    table = lines([[*shared, *[1.0] * 10], [*shared, *[0.0] * 10]])
    assert table["low"][0] < table["high"][1], "the intervals overlap"
    said = forest.takeaway(table, "precision", "questions")
    assert "Over the 40 questions that m0 and m1 share they differ by 0.25 (0.0" in said
    assert "which chance alone seldom does (p 0.002)" in said
    other = lines([[*shared, *[1.0, 0.0] * 5], [*shared, *[0.0, 1.0] * 4, 0.0, 0.0]])
    assert "which may be chance (p 1)" in forest.takeaway(other, "precision", "questions")
    alone = cases([[1.0] * 12, [0.5] * 12])
    alone["item"] = alone["model"] + alone["item"]
    apart = forest.lines(alone, ["model"], lambda row: str(row["model"]))
    said = forest.takeaway(forest.paired(apart, alone, ["model"], lambda row: str(row["model"]), ()), "p", "questions")
    assert said.endswith("No questions are shared by m0 and m1, so nothing is said of their difference.")


def test_an_item_meets_itself_where_all_else_is_equal() -> None:
    easy = [{"model": m, "wording": "a", "item": f"q{n}", "value": 1.0} for m in ("x", "y") for n in range(12)]
    hard = [{"model": "y", "wording": "b", "item": f"q{n}", "value": 0.0} for n in range(12)]
    rows = pd.DataFrame(easy + hard)
    table = forest.paired(
        forest.lines(rows, ["model"], lambda r: r["model"]), rows, ["model"], lambda r: r["model"], ["wording"]
    )
    assert table["macro"].tolist() == [1.0, 0.5]
    assert "differ by 0.00" in forest.takeaway(table, "precision", "questions"), "y alone was asked the harder wording"


def dots(names: list[str]) -> pd.DataFrame:
    places = enumerate(names)
    return pd.DataFrame([place(at, 0.5, name, kind="cot", link=f"run={name}") for at, name in places])


def test_more_models_than_colours_have_a_picture_each_and_no_colour_comes_twice() -> None:
    few = scatter.points(dots(list("abcdef")), ("x", "y"))
    assert len({trace.marker.color for trace in few.data}) == 6
    many = scatter.points(dots(list("abcdefghi")), ("x", "y"))
    assert {trace.marker.color for trace in many.data} == {marks.OURS}
    assert [note.text for note in many.layout.annotations] == list("abcdefghi")
    assert len({trace.xaxis for trace in many.data}) == 9
    assert (few.layout.clickmode, few.data[0].customdata[0][0]) == ("event+select", "run=a")


def test_points_at_one_place_are_one_mark_at_their_values_with_their_number() -> None:
    rows = dots(["a", "a", "b", "a"]).assign(x=[1.0, 1.0, 1.0, 2.0])
    figure = scatter.points(rows, ("x", "y"))
    drawn = {(x, y): (trace.name, trace.marker.color, text) for trace in figure.data
             for x, y, text in zip(trace.x, trace.y, trace.text, strict=True)}  # fmt: skip
    assert drawn == {(1.0, 0.5): ("several, cot", marks.LIGHT, "3"), (2.0, 0.5): ("a, cot", marks.PALETTE[0], "")}


def test_what_was_measured_stands_over_what_is_so_with_its_interval() -> None:
    row = {"table": "Ask", "row": "r", "truth": 0.5, "value": 0.6, "low": 0.2, "high": 0.9, "n": 8}
    others = [{"truth": None}, {"value": None}, {"table": "Controls"}, {"table": "Power", "truth": None}]
    _, known, power = scatter.draw(
        [row, *(row | other for other in others), row | {"truth": 0.1, "low": None, "high": None}]
    ).data
    assert (list(known.x), list(known.y), known.name) == ([0.1, 0.5], [0.6, 0.6], "Ask")
    assert list(known.error_y.array) == pytest.approx([0, 0.3])
    assert list(known.error_y.arrayminus) == pytest.approx([0, 0.4])
    assert (list(power.x), list(power.y)) == ([8], [0.6])


def test_an_undefined_line_is_never_the_head_of_a_board() -> None:
    """Not even where its task comes first by name, and nobody else has a value there."""
    nobody = cases([[None]]).assign(lab="ask", how="cot", task="a task of its own")
    rows = cases([[0.5] * 12, [1.0] * 12]).assign(lab="ask", how="cot", task="world")
    table = forest.board(pd.concat([nobody, rows, nobody.assign(model="m9", task="world")]), ["task"])
    assert table["macro"].isna().tolist() == [False, False, True, True]
    assert table["label"].iloc[0] == "1. m1, cot · world"
    few = cases([[0.9] * 3]).assign(lab="ask", how="cot", task="a task of its own")
    second = forest.board(pd.concat([few, rows]), ["task"])
    assert second["label"].iloc[0] == "1. m1, cot · world", "who has no place does not stand above who has one"
    assert forest.leader_takeaway(table, "precision", "questions").startswith(
        "On world m1, cot has the highest precision"
    )


def test_a_plane_s_marks_stand_at_their_values_and_bars_end_where_the_intervals_do() -> None:
    row = {
        **{"x": 0.5, "x_low": 0.2, "x_high": 1.0, "y": 0.4, "y_low": 0.3, "y_high": float("nan"), "name": "m", "n": 3},
        **{"kind": "", "chosen": True, "open": False, "faint": False, "own": float("nan"), "text": "", "link": "run=a"},
    }
    # Two runs with the same figures were drawn 0.009 and 0.013 away from them.
    (trace,) = scatter.plane(pd.DataFrame([row, row]), ("x", "y")).data
    assert (trace.x[0], trace.y[0], trace.text[0]) == (0.5, 0.4, "2")
    assert trace.x[0] + trace.error_x.array[0] == pytest.approx(1.0)
    assert trace.x[0] - trace.error_x.arrayminus[0] == pytest.approx(0.2)
    assert trace.error_y.array[0] == 0 and trace.y[0] - trace.error_y.arrayminus[0] == pytest.approx(0.3)
    near = scatter.plane(pd.DataFrame([row, {**row, "x": 0.505}, {**row, "y": 1.2}]), ("x", "y"))
    assert {(one.x[0], one.y[0], one.text[0]) for one in near.data} == {
        (0.5, 0.4, ""),
        (0.505, 0.4, ""),
        (0.5, 1.2, ""),
    }
    assert near.layout.yaxis.range[1] > 1.2, "generality by cosine may be above 1"
    for ends in ((0.0, 0.02), (0.97, 1.0), (0.2, 0.9)):
        one = {**row, "y": ends[0], "y_low": ends[0], "y_high": ends[1]}
        low, high = scatter.plane(pd.DataFrame([one]), ("x", "y")).layout.yaxis.range
        assert -0.05 < low <= ends[0] and ends[1] <= high < 1.05 and high - low >= 0.3


def test_names_are_shown_and_not_obeyed() -> None:
    hostile = dots(["<b>x</b>", *"abcdefg"])
    assert "<b>" not in scatter.points(hostile.assign(text=""), ("x", "y")).to_json()
    table = forest.lines(cases([[1.0]]), ["model"], lambda row: "<i>m</i>")
    assert "<i>" not in forest.forest(table, "x", "things").to_json()


def test_a_place_is_lost_to_whoever_s_interval_lies_wholly_above() -> None:
    rows = cases([[1.0] * 40, [1.0] * 38 + [0.0] * 2, [0.0] * 30 + [1.0] * 10, [1.0] * 3])
    rows = rows.assign(lab="ask", how="cot", task="world")
    rows = rows[(rows["model"] != "m2") | (rows["item"] != "q0")]
    table = forest.board(rows, ["task"])
    assert table["label"].tolist() == ["1–2. m0, cot", "1–2. m1, cot", "3. m2, cot", "m3, cot"]
    assert table["shared"].tolist() == [2] * 4 and table["placed"].tolist() == [3] * 4, "the last rests on three"
    said = forest.leader_takeaway(table, "precision", "questions")
    assert said.startswith(
        "On world m0, cot has the highest precision, 1.00 (0.91 to 1.00); by intervals 1 more may be"
    )
    assert said.endswith("2 questions have a value for all 4.")
    two = forest.board(pd.concat([rows, rows[rows["model"] == "m2"].assign(task="shp")]), ["task"])
    assert two["label"].tolist()[:2] == ["1. m2, cot · shp", "1–2. m0, cot · world"]
    assert "On shp only m2, cot has a place" in forest.leader_takeaway(two, "precision", "questions")
    assert dict(parse_qsl(two["link"][0])) == {"lab": "ask", "task": "shp", "model": "m2", "how": "cot"}
    assert forest.leader_takeaway(forest.board(rows[rows["model"] == "m3"], ["task"]), "p", "questions") == (
        "On world nobody has a place yet: none of 1 has an interval over enough questions."
    )
    assert forest.board(rows[:0], ["task"]).empty


def test_a_caption_names_n_the_interval_and_the_baseline() -> None:
    some = lines([[0.0, 1.0] * 5, [1.0] * 9 + [None], [None]])
    assert printed.caption(some, "questions", "random words (crosses)") == (
        "n = 0 to 10 (questions behind each mark). Bars: 95 % intervals over questions (Wilson's score interval). "
        "1 of 3 marks has no interval. Baseline: random words (crosses)."
    )
    spread = printed.caption(lines([[0.25, 0.5] * 5]), "questions", "")
    assert spread.startswith("n = 10 (questions behind each mark).") and spread.endswith("Baseline: none is drawn.")
    assert "Wilson's score interval with n adjusted to the spread" in spread
    gain = forest.lines(cases([[0.0] * 12]), ["model"], lambda row: "m", kind="difference")
    assert "Bonett and Price" in printed.caption(gain, "questions", "")
    assert printed.caption(lines([[None]]), "questions", "") == (
        "n = 0 (questions behind each mark). No mark has an interval. Baseline: none is drawn."
    )
    assert printed.caption(pd.DataFrame({"checks": [3, 4]}), "checks", "").startswith("n = 7 (checks). No intervals.")
    assert printed.caption(pd.DataFrame({"nmse": [0.1]}), "cases", "a line").startswith("n = 1 (cases). No intervals.")


def test_lines_are_grouped_by_an_own_column_too() -> None:
    rows = cases([[1.0, 0.0], [1.0, 1.0]]).assign(**{"extra:domain": ["birds", "", "birds", "birds"]})
    table = forest.lines(rows, ["model"], lambda row: str(row["model"]))
    found = {row["label"]: (row["macro"], dict(parse_qsl(row["link"]))) for row in table.to_dict("records")}
    assert found == {
        "m0 · birds": (1.0, {"model": "m0", "extra:domain": "birds"}),
        "m0 · –": (0.0, {"model": "m0"}),
        "m1 · birds": (1.0, {"model": "m1", "extra:domain": "birds"}),
    }
    told = forest.board(rows.assign(lab="ask", how="cot", task="world"), ["task"])
    assert set(told["task"]) == {"world, birds", "world"} and len(told) == 3
