from __future__ import annotations

from typing import Any

import pandas as pd

from core.labs.consistency import charts


def check(label: str | None, before: str | None, after: str | None, **more: Any) -> dict[str, Any]:
    return {"label": label, "before": before, "after": after} | more


def score(item: str, faithfulness: float | None = 0.5, **more: Any) -> dict[str, Any]:
    explanation, _, wording = item.partition("/")
    return {
        "run": "r", "model": "local/m", "task": "multi_choice", "title": "t", "item": item, "explanation": explanation,
        "wording": wording, "faithfulness": faithfulness, "low": 0.2, "high": 0.9, "n": 8, "of": 10, "control": 0.1,
    } | more  # fmt: skip


def test_each_bar_is_a_label_and_first_answer_cut_by_the_second() -> None:
    rows = [
        check("positive", "positive", "negative"),
        check("positive", "positive", "negative"),
        check("positive", "positive", "positive"),
        check("negative", None, "unknown"),
    ]
    figure = charts.classes(pd.DataFrame(rows))
    bars = {trace.name: dict(zip(trace.y, trace.x, strict=True)) for trace in figure.data}
    assert bars["negative"]["label positive, answered positive"] == 2
    assert bars["positive"]["label positive, answered positive"] == 1
    assert bars["unknown"]["label negative, answered unread"] == 1
    assert sum(sum(trace.x) for trace in figure.data) == len(rows)
    assert [trace.name for trace in figure.data][-1] == "unknown"


def test_many_classes_are_shown_by_how_they_stand_to_the_label() -> None:
    rooms = ["attic", "barn", "cellar", "den", "eyrie", "foyer"]
    rows = [check(room, room, "unknown") for room in rooms] + [check("attic", "barn", "attic")]
    figure = charts.classes(pd.DataFrame(rows))
    bars = {trace.name: dict(zip(trace.y, trace.x, strict=True)) for trace in figure.data}
    assert bars["unknown"]["answered as labelled"] == 6
    assert bars["as labelled"]["answered another choice"] == 1
    free = charts.classes(pd.DataFrame([check(None, room, room) for room in rooms]))
    assert [trace.name for trace in free.data] == ["the first choice"]


def test_faithfulness_by_model_draws_each_explanation_with_its_interval_and_n() -> None:
    rows = [score(""), score("redaction", 0.4), score("attribution", None), score("redaction/you-removed")]
    figure = charts.faithfulness(pd.DataFrame(rows), "model")
    (trace,) = figure.data
    assert (trace.name, list(trace.x), list(trace.text)) == ("redaction", [0.4], ["n 8"])
    assert (trace.error_x.array[0], trace.error_x.arrayminus[0]) == (0.5, 0.2)
    assert trace.customdata[0][0] == "r" and "random masks 0.10" in trace.hovertext[0]
    assert list(figure.layout.yaxis.ticktext) == ["local/m, multi choice"]
    assert "1 undefined" in figure.layout.xaxis.title.text


def test_faithfulness_by_wording_has_a_line_for_each() -> None:
    rows = [score("redaction"), score("redaction/you-removed", n=3), score("redaction/human-removed")]
    figure = charts.faithfulness(pd.DataFrame(rows), "wording")
    assert list(figure.layout.yaxis.ticktext) == ["you-removed", "human-removed"]
    (trace,) = figure.data
    assert list(trace.marker.opacity) == [charts.FAINT, 1.0]


def test_names_are_shown_and_not_obeyed() -> None:
    figure = charts.classes(pd.DataFrame([check("<b>x</b>", "<b>x</b>", "<i>y</i>")]))
    assert "<b>" not in figure.to_json() and "&lt;i&gt;" in figure.to_json()
    assert charts.faithfulness(pd.DataFrame([score("redaction", model="<b>m")]), "model").layout.yaxis.ticktext == (
        "&lt;b&gt;m, multi choice",
    )
