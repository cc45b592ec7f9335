from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from core.charts.marks import FAINT
from core.labs.simulatability import charts, pictures

ROOT = Path(__file__).resolve().parents[4]


def point(run: str, precision: float | None = 0.5, **more: Any) -> dict[str, Any]:
    return {
        "run": run,
        "model": "control/fickle",
        "method": "cot",
        "task": "strategyqa",
        "title": "Can penguins fly?",
        "precision": precision,
        "low": 0.1,
        "high": 0.9,
        "n": 8,
        "of": 10,
        "constant_guess": 0.5,
        "generality_bleu": 0.6,
        "generality_cosine": 0.7,
        "generality_jaccard": 0.8,
        "examined_passed": True,
    } | more


def row(item: str, expected: str | None, said: str | None, reason: str | None = None, text: str = "") -> dict[str, Any]:
    return {"item": item, "text": text or f"Question {item}?", "expected": expected, "said": said, "reason": reason}


CASE = pd.DataFrame(
    [
        row("cf-01", "yes", "yes"),
        row("cf-02", "yes", "no"),
        row("cf-03", "unknown", "yes", "not simulatable"),
        row("cf-04", "no", None),
        row("cf-05", None, None),
    ]
)


def scattered(runs: list[dict[str, Any]], similarity: str = "cosine") -> Any:
    return charts.scatter(pictures.runs(pd.DataFrame(runs), similarity), similarity)


def test_scatter_puts_a_run_where_its_numbers_are() -> None:
    figure = scattered([point("a", 0.25), point("b", 1.0, model="local/small", method="posthoc")], "jaccard")
    assert [trace.name for trace in figure.data] == ["control/fickle, cot", "local/small, posthoc"]
    assert [list(trace.x) for trace in figure.data] == [[0.25], [1.0]]
    assert [list(trace.y) for trace in figure.data] == [[0.8], [0.8]]
    assert [trace.customdata[0][0] for trace in figure.data] == ["run=a", "run=b"]
    assert figure.data[0].marker.color != figure.data[1].marker.color
    assert figure.data[0].marker.symbol != figure.data[1].marker.symbol
    assert figure.layout.yaxis.title.text == "generality (jaccard)"


def test_scatter_hover_tells_question_model_method_and_counts() -> None:
    text = scattered([point("a")]).data[0].text[0]
    for word in ("Can penguins fly?", "control/fickle", "cot", "0.50", "8 of 10", "0.10 to 0.90", "generality 0.70"):
        assert word in text


@pytest.mark.parametrize("missing", [None, float("nan")])
def test_scatter_hover_leaves_out_an_interval_that_there_is_not(missing: float | None) -> None:
    figure = scattered([point("a", low=missing, high=missing), point("b", 0.25, low=0.125, high=0.375)])
    texts = [text for trace in figure.data for text in trace.text]
    assert sorted(text.split("<br>")[-2] for text in texts) == [
        "precision 0.25 (8 of 10 count, 0.12 to 0.38)",
        "precision 0.50 (8 of 10 count)",
    ]


def test_scatter_says_how_many_runs_it_cannot_draw() -> None:
    runs = [point("a"), point("b", None, low=None, high=None), point("c", generality_cosine=None)]
    figure = scattered(runs)
    assert [list(trace.x) for trace in figure.data] == [[0.5]]
    assert "2 undefined, not drawn" in figure.layout.xaxis.title.text
    assert scattered(runs[:1]).layout.xaxis.title.text == "precision"


def test_scatter_is_faint_where_too_little_counts_and_larger_where_more_does() -> None:
    figure = scattered([point("a", n=9, of=9), point("b", n=60, of=100), point("c", n=10), point("d", n=90, of=90)])
    drawn = {
        data[0]: (trace.opacity, size)
        for trace in figure.data
        for data, size in zip(trace.customdata, trace.marker.size, strict=True)
    }
    assert {run: opacity for run, (opacity, _) in drawn.items()} == {
        "run=a": FAINT, "run=b": FAINT, "run=c": 1.0, "run=d": 1.0,
    }  # fmt: skip
    assert drawn["run=d"][1] > drawn["run=c"][1]
    assert sum(trace.showlegend for trace in figure.data) == 1


def test_scatter_greys_what_a_constant_guess_would_have_got_too_and_a_failed_predictor() -> None:
    runs = [
        point("a", 1.0, constant_guess=1.0),
        point("b", 1.0, constant_guess=0.6),
        point("c", 0.4, constant_guess=0.6),
        point("d", None),
        point("e", 1.0, examined_passed=False),
        point("f", 1.0, examined_passed=None),
    ]
    drawn = {
        data[0]: (trace.marker.color == charts.UNCOUNTED, "failed the exam" in text)
        for trace in scattered(runs).data
        for data, text in zip(trace.customdata, trace.text, strict=True)
    }
    assert drawn == {
        "run=a": (True, False), "run=b": (False, False), "run=c": (False, False), "run=e": (True, True),
        "run=f": (False, False),
    }, "low precision misleads: that is something"  # fmt: skip
    assert pictures.said_of_runs(pictures.runs(pd.DataFrame(runs[:4]), "bleu"), "bleu") == (
        "1 of 3 runs kept no more promises than always guessing the same would have. "
        "1 of 4 have no precision: none of their questions count."
    )


def test_scatter_of_nothing_and_of_the_unknown() -> None:
    assert len(charts.scatter(pictures.runs(pd.DataFrame([point("a")]).head(0), "cosine")).data) == 0
    figure = scattered([point("a", model=None, method=None, title=None, task=None, low=None, high=None)])
    assert figure.data[0].name == "unnamed"
    assert "nan" not in figure.data[0].text[0].lower()


def test_a_question_counts_once_however_many_runs_asked_it() -> None:
    """And a run on the questions of another explanation measures something else."""
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
    table = pictures.runs(pd.DataFrame([point("a")]), "bleu")
    figure = charts.scatter(table, "bleu", pictures.their_data_sets("bleu"))
    *_, theirs = figure.data
    assert dict(zip(theirs.text, zip(theirs.x, theirs.y, strict=True), strict=True)) == {
        "strategyqa": (pytest.approx(0.798), pytest.approx(0.729)),
        "shp": (pytest.approx(0.89), pytest.approx(0.93)),
    }
    assert theirs.marker.symbol == "diamond-open" and theirs.customdata is None and theirs.showlegend
    assert "Table 6" in theirs.hovertext[0] and "Table 1" in theirs.hovertext[0]


def test_a_model_s_words_are_shown_as_they_are() -> None:
    hostile = "<b>x</b> <a href='javascript:1'>y</a> & " + "long " * 500
    figure = scattered([point("a", title=hostile)])
    assert "&lt;b&gt;x&lt;/b&gt; &lt;a href=" in figure.data[0].text[0]
    assert len(figure.data[0].text[0]) < 700
    case = charts.expected_and_said(pd.DataFrame([row("i", "yes", "no", text=hostile)]))
    assert "<a" not in case.layout.yaxis.ticktext[0]
    assert "<a" not in case.data[1].text[0]


def test_precision_bar() -> None:
    figure = charts.precision_bar(0.4, 0.12, 0.77, 5, 6)
    assert [list(trace.x) for trace in figure.data] == [[0, 1], [0.12, 0.77], [0.4]]
    assert "5 of 6" in figure.data[2].hovertemplate
    assert figure.data[2].marker.opacity == 1.0
    assert charts.precision_bar(0.4, 0.12, 0.77, 2, 6).data[2].marker.opacity < 1.0
    assert len(charts.precision_bar(0.4, None, None, 5, 6).data) == 2


def test_an_undefined_precision_draws_nothing_and_says_so() -> None:
    figure = charts.precision_bar(None, None, None, 0, 6)
    assert [list(trace.x) for trace in figure.data] == [[0, 1]]
    assert "undefined" in figure.layout.annotations[0].text


def test_expected_and_said() -> None:
    figure = charts.expected_and_said(CASE)
    assert list(figure.layout.xaxis.ticktext) == ["yes", "no", "cannot<br>guess"]
    assert list(figure.layout.yaxis.ticktext) == [f"Question cf-0{n}?" for n in (1, 2, 3, 4)]
    places = {
        f"{trace.name}: {trace.meta}": [
            (x, y, data[0]) for x, y, data in zip(trace.x, trace.y, trace.customdata, strict=True)
        ]
        for trace in figure.data
        if trace.mode == "markers"
    }
    assert places == {
        "as expected: expected": [(0, 0, "cf-01")],
        "as expected: said": [(0, 0, "cf-01")],
        "misled: expected": [(0, 1, "cf-02")],
        "misled: said": [(1, 1, "cf-02")],
        "not counted: expected": [(2, 2, "cf-03"), (1, 3, "cf-04")],
        "not counted: said": [(0, 2, "cf-03")],
    }


@pytest.mark.parametrize(
    ("expected", "said", "words"),
    [
        ("1", "2", ["response<br>1", "response<br>2"]),
        ("unknown", "1", ["response<br>1", "response<br>2", "cannot<br>guess"]),
        ("yes", "neither", ["yes", "no", "unread"]),
        (None, "yes", ["yes", "no"]),
    ],
)
def test_the_axis_has_the_words_that_occur(expected: str | None, said: str, words: list[str]) -> None:
    figure = charts.expected_and_said(pd.DataFrame([row("i", expected, said)]))
    assert list(figure.layout.xaxis.ticktext) == words


def test_an_unread_answer_counts_against_the_explanation_only_if_it_was_not_dropped() -> None:
    """The authors' code keeps it in the denominator as a mismatch; the repaired rules drop it."""
    kept = charts.expected_and_said(pd.DataFrame([row("i", "yes", "neither")]))
    dropped = charts.expected_and_said(pd.DataFrame([row("i", "yes", "neither", "unparsed")]))
    assert kept.data[1].name == "misled"
    assert dropped.data[1].name == "not counted"


@pytest.mark.parametrize(
    "figure",
    [
        scattered([point("a"), point("b", None)]),
        charts.precision_bar(0.5, 0.1, 0.9, 5, 6),
        charts.precision_bar(None, None, None, 0, 6),
        charts.expected_and_said(CASE),
        charts.expected_and_said(CASE.head(0)),
    ],
)
def test_no_picture_fixes_a_background_or_a_font(figure: Any) -> None:
    layout = json.loads(figure.to_json())["layout"]
    layout.pop("template", None)
    for word in ("font", "paper_bgcolor", "plot_bgcolor", "bgcolor"):
        assert f'"{word}"' not in json.dumps(layout)


def test_importing_the_charts_is_cheap() -> None:
    script = "import sys, core.labs.simulatability.charts\nassert not {'plotly', 'pandas'} & set(sys.modules)"
    subprocess.run([sys.executable, "-c", script], cwd=ROOT, check=True)
