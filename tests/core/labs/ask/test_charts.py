import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from core.charts.marks import FAINT, LIGHT
from core.labs.ask import pictures

ROOT = Path(__file__).resolve().parents[4]


def cases(
    model: str, values: list[float | None], how: str = "cot", n: int = 4, failed: bool | None = None, **baselines: float
) -> list[dict[str, Any]]:
    """The figures of a model's questions as `core.store.listing.of_cases` gives them, with `baselines` by name."""
    about = {
        **{"lab": "simulatability", "model": model, "how": how, "task": "strategyqa", "given_from": None},
        "examined_passed": None if failed is None else not failed,
    }
    figures: dict[str, list[float | None]] = {
        "precision": values,
        **{f"generality_{name}": [0.3] * len(values) for name in ("cosine", "bleu", "jaccard")},
        **{name: [baselines.get(name)] * len(values) for name in pictures.BASELINES if name != pictures.SAME_GUESS},
    }
    always = baselines.get(pictures.SAME_GUESS)
    about["observed"] = None if always is None else {"yes": round(100 * always), "no": round(100 * (1 - always))}
    return [
        {**about, "case": f"q{at}", "title": f"Question {at}?", "metric": metric, "value": value, "n": n, "of": n}
        for metric, column in figures.items()
        for at, value in enumerate(column)
    ]


def table(*models: list[dict[str, Any]], similarity: str = "cosine") -> pd.DataFrame:
    return pictures.compared(pd.DataFrame([row for one in models for row in one]), similarity)


def marks_of(figure: Any) -> dict[str, Any]:
    """The marks by name; strokes and the paper's points have none."""
    return {trace.name: trace for trace in figure.data if trace.customdata is not None and trace.name}


def test_a_model_and_method_is_one_mark_with_both_intervals_and_its_n() -> None:
    varied = cases("openai/gpt-5", [0.0, 0.5, 1.0] * 5, constant_guess=0.5)
    for row in varied:
        if row["metric"] == "generality_bleu":
            row["value"] = 0.2 if row["case"] < "q5" else 0.9
    other = cases("local/small", [1.0] * 12, how="posthoc", constant_guess=0.6)
    figure = pictures.plane(table(varied, other, similarity="bleu"), "bleu")
    drawn = marks_of(figure)
    assert set(drawn) == {"gpt-5, cot", "small, posthoc"}
    one = drawn["gpt-5, cot"]
    assert (one.x[0], one.customdata[0][0]) == (
        pytest.approx(0.5),
        "lab=simulatability&model=openai%2Fgpt-5&how=cot&task=strategyqa&show=runs",
    )
    assert 0.2 < one.y[0] < 0.9 and one.error_y.array[0] > 0 < one.error_y.arrayminus[0]
    assert one.error_x.array[0] > 0 < one.error_x.arrayminus[0]
    said = {note.text for note in figure.layout.annotations}
    assert {"<b>gpt-5, cot · 15</b>", "<b>small, posthoc · 12</b>"} <= said
    for word in ("openai/gpt-5, cot", "precision 0.50 (", "15 of 15 questions", "always guessing the same: 0.50"):
        assert word in one.hovertext[0]
    assert one.marker.symbol.removesuffix("-open") != drawn["small, posthoc"].marker.symbol.removesuffix("-open")
    assert not figure.layout.grid.rows and len({trace.xaxis for trace in figure.data}) <= 1, "one panel"


def test_open_are_marks_whose_interval_reaches_the_strongest_baseline_or_that_nobody_may_judge() -> None:
    told = {
        "above": cases("above", [1.0] * 40, constant_guess=0.5, precision_none=0.6, precision_question_only=0.7),
        "question": cases("question", [1.0] * 40, constant_guess=0.5, precision_question_only=0.95),
        "constant": cases("constant", [1.0] * 40, constant_guess=1.0, precision_none=0.0),
        "unknown": cases("unknown", [1.0] * 40),
        "failed": cases("failed", [1.0] * 40, failed=True, constant_guess=0.5),
        "passed": cases("passed", [1.0] * 40, failed=False, constant_guess=0.5),
        "few": cases("few", [1.0] * 9, constant_guess=0.5),
        "none": cases("none", [None] * 9),
    }
    made = table(*told.values())
    drawn = marks_of(pictures.plane(made.assign(generality=[0.1 * at for at in range(len(made))])))
    assert {name: mark.marker.symbol.endswith("-open") for name, mark in drawn.items()} == {
        "above": False, "question": True, "constant": True, "unknown": True, "failed": True, "passed": False,
        "few": False,
    }  # fmt: skip
    assert drawn["few"].opacity == FAINT and drawn["above"].opacity == 1.0
    by = made.set_index("label")
    assert by["baseline_name"].to_dict() == {
        **dict.fromkeys(("above", "question"), "the question alone"), "unknown": "", "none": "",
        **dict.fromkeys(("constant", "failed", "passed", "few"), "always guessing the same"),
    }  # fmt: skip
    assert (
        "failed the qualification test" in drawn["failed"].hovertext[0]
        and "failed the qualification test" not in drawn["passed"].hovertext[0]
    )
    assert pictures.said_of_compared(made, "cosine") == (
        "Of the 5 with enough data, 2 have a precision interval entirely above their strongest baseline. "
        "1 has fewer than ten questions, or less than 70 % of what should count. Not counted: 1, because a predictor "
        "failed the qualification test. 1 of 8 has no precision, because no question counts."
    )
    assert pictures.said_of_compared(table(told["none"]), "cosine").startswith("Nothing here has enough data")


def test_always_guessing_the_same_is_one_answer_for_all_questions_of_a_mark() -> None:
    """Once, each question's own better answer was right on 0.87 of them here, and one answer for all on 61 % in
    Compare.
    """
    rows = cases("a", [1.0] * 10, constant_guess=0.9)
    for row in rows:
        if int(row["case"][1:]) < 4:
            row["observed"] = {"yes": 2, "no": 8}
    made = table(rows).iloc[0]
    assert made["constant_guess"] == pytest.approx((6 * 0.9 + 4 * 0.2) / 10) and made["n_constant_guess"] == 10


def test_the_strongest_baseline_over_all_is_a_line_that_says_what_it_is() -> None:
    figure = pictures.plane(
        table(
            cases("a", [1.0] * 30, constant_guess=0.5, precision_question_only=0.8),
            cases("b", [1.0] * 10, constant_guess=0.9),
            cases("c", [1.0] * 3, precision_swapped=1.0),
        )
    )
    (line,) = figure.layout.shapes
    assert line.x0 == line.x1 == pytest.approx(0.8), "of 3 questions alone no line is made; the guess is 0.6 over all"
    assert "strongest baseline: the question alone, 0.80 over 30 questions" in {
        note.text for note in figure.layout.annotations
    }
    strokes = [trace.x[0] for trace in figure.data if trace.marker.symbol == "line-ns"]
    assert sorted(strokes) == pytest.approx([0.8, 0.9, 1.0]), "each has its own besides"
    only = pictures.plane(table(cases("c", [1.0] * 3, precision_swapped=0.5)))
    assert only.layout.shapes[0].x0 == 0.5, "where there is no other"
    assert not pictures.plane(table(cases("d", [1.0] * 12))).layout.shapes


def test_at_twenty_models_it_is_one_panel_and_only_the_chosen_are_in_colour() -> None:
    many = [
        cases(f"provider/model-{number}", [number / 20] * 6 + [1.0] * (6 + number % 3), constant_guess=0.4)
        for number in range(20)
    ]
    made = table(*many)
    assert made["chosen"].sum() == pictures.CHOSEN and set(made[made["chosen"]]["n"]) == {14}
    figure = pictures.plane(made)
    drawn = marks_of(figure)
    assert len(drawn) == 20 and len({trace.xaxis for trace in figure.data}) == 1
    colours = [mark.marker.color for mark in drawn.values()]
    assert colours.count(LIGHT) == 14 and len(set(colours)) == 7
    mine = pictures.plane(made.assign(chosen=made["label"].eq("provider/model-3")))
    coloured = [name for name, mark in marks_of(mine).items() if mark.marker.color != LIGHT]
    assert coloured == ["model-3"]
    low, high = figure.layout.yaxis.range
    assert -0.1 < low < high < 1.1 and tuple(figure.layout.xaxis.range) == (-0.03, 1.05)


@pytest.mark.parametrize("missing", [None, float("nan")])
def test_what_is_undefined_is_not_drawn_and_counted(missing: float | None) -> None:
    figure = pictures.plane(table(cases("a", [1.0] * 12), cases("b", [missing] * 12)))
    assert set(marks_of(figure)) == {"a"}
    assert "1 without a precision or a generality, not drawn" in figure.layout.xaxis.title.text
    assert figure.layout.xaxis.title.text.startswith("precision")
    assert pictures.plane(table(cases("a", [1.0] * 12))).layout.xaxis.title.text == "precision"


def test_a_plane_of_nothing_and_of_the_unknown() -> None:
    assert len(pictures.compared(pd.DataFrame(cases("a", [1.0])).head(0), "cosine")) == 0
    one = cases("", [1.0], how="")
    figure = pictures.plane(table([{**row, "title": None} for row in one]))
    assert list(marks_of(figure)) == ["unnamed"] and "nan" not in figure.to_json().lower().replace("finance", "")
    given = [{**row, "given_from": "a-run"} for row in cases("a", [0.0])]
    assert table(cases("a", [1.0]), given)["precision"].tolist() == [1.0], "asked what another was: another measure"


def test_a_question_counts_once_however_many_runs_asked_it() -> None:
    """A run on the questions of another explanation measures something else."""
    asked = {
        "lab": "simulatability", "model": "m", "how": "cot", "task": "strategyqa", "case": "question",
        "metric": "precision", "n": 4, "of": 4, "given_from": None,
    }  # fmt: skip
    told = [("q1", 0.0), ("q1", 0.5), ("q2", 1.0)]
    rows = [{**asked, "title": title, "value": value} for title, value in told]
    rows.append({**asked, "title": "q3", "value": 0.0, "given_from": "a-run"})
    (line,) = pictures.pooled(pd.DataFrame(rows), pictures.PRECISION).to_dict("records")
    assert (line["macro"], line["items"], line["trials"]) == (0.625, 2, 12)
    assert line["link"] == "lab=simulatability&model=m&how=cot&task=strategyqa"
    assert {"GPT-4"} <= {one.about["model"] for one in pictures.theirs(pictures.PRECISION)}


def test_the_paper_s_data_sets_are_open_marks_that_lead_nowhere() -> None:
    figure = pictures.plane(table(cases("a", [1.0]), similarity="bleu"), "bleu", pictures.their_data_sets("bleu"))
    *_, theirs = figure.data
    assert dict(zip(theirs.text, zip(theirs.x, theirs.y, strict=True), strict=True)) == {
        "strategyqa, published": (pytest.approx(0.798), pytest.approx(0.729)),
        "shp, published": (pytest.approx(0.89), pytest.approx(0.93)),
    }
    assert theirs.marker.symbol == "diamond-open" and theirs.customdata is None and "not measured" in theirs.name
    assert "Table 6" in theirs.hovertext[0] and "Table 1" in theirs.hovertext[0]


def test_a_model_s_words_are_shown_as_they_are() -> None:
    hostile = "<b>x</b> <a href='javascript:1'>y</a> & " + "long " * 500
    figure = pictures.plane(table(cases(f"<b>{hostile}", [1.0] * 12)))
    assert "<a" not in figure.to_json() and "<b>x" not in figure.to_json()


def test_no_picture_fixes_a_background_or_a_font() -> None:
    figure = pictures.plane(table(cases("a", [1.0, 0.0]), cases("b", [None])))
    layout = json.loads(figure.to_json())["layout"]
    layout.pop("template", None)
    for word in ("font", "paper_bgcolor", "plot_bgcolor", "bgcolor"):
        assert f'"{word}"' not in json.dumps(layout)


def test_importing_the_charts_is_cheap() -> None:
    script = "import sys, core.labs.ask.pictures\nassert not {'plotly', 'pandas'} & set(sys.modules)"
    subprocess.run([sys.executable, "-c", script], cwd=ROOT, check=True)
