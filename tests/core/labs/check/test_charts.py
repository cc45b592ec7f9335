from typing import Any

import pandas as pd

from core.charts import marks
from core.events import Scored
from core.labs.check import pictures


def check(label: str | None, before: str | None, after: str | None, **more: Any) -> dict[str, Any]:
    return {"label": label, "before": before, "after": after} | more


def score(item: str, value: float | None = 0.5, metric: str = "faithfulness", **more: Any) -> Scored:
    about = {"value": value, "n": 8, "of": 10, "low": 0.2, "high": 0.9} | more
    return Scored(run="r", metric=metric, rules="repaired", item=item, **about)


def test_each_bar_is_a_label_and_first_answer_cut_by_the_second() -> None:
    rows = [
        check("positive", "positive", "negative"),
        check("positive", "positive", "negative"),
        check("positive", "positive", "positive"),
        check("negative", None, "unknown"),
    ]
    figure = pictures.chart_classes(pd.DataFrame(rows))
    bars = {trace.name: dict(zip(trace.y, trace.x, strict=True)) for trace in figure.data}
    assert bars["negative"]["label positive, answered positive"] == 2
    assert bars["positive"]["label positive, answered positive"] == 1
    assert bars["unknown"]["label negative, answered unread"] == 1
    assert sum(sum(trace.x) for trace in figure.data) == len(rows)
    assert [trace.name for trace in figure.data][-1] == "unknown"


def test_many_classes_are_shown_by_how_they_stand_to_the_label() -> None:
    rooms = ["attic", "barn", "cellar", "den", "eyrie", "foyer"]
    rows = [check(room, room, "unknown") for room in rooms] + [check("attic", "barn", "attic")]
    figure = pictures.chart_classes(pd.DataFrame(rows))
    bars = {trace.name: dict(zip(trace.y, trace.x, strict=True)) for trace in figure.data}
    assert bars["unknown"]["answered as labelled"] == 6
    assert bars["as labelled"]["answered another choice"] == 1
    free = pictures.chart_classes(pd.DataFrame([check(None, room, room) for room in rooms]))
    assert [trace.name for trace in free.data] == ["the first choice"]


def test_faithfulness_by_wording_has_a_line_for_each_with_its_interval_and_n() -> None:
    figure = pictures.chart_faithfulness(
        [
            score("redaction"),
            score("redaction/you-removed", n=6),
            score("redaction/human-removed", n=12, of=12),
            score("redaction/human-removed", 0.1, "faithfulness_control", n=12, of=12),
            score("attribution/human-removed", None, n=0, low=None, high=None),
        ]
    )
    assert figure is not None
    *traces, names = figure.data
    assert [(trace.name, list(trace.x), trace.opacity) for trace in traces] == [
        (pictures.EXPLANATIONS, [0.5], 1.0),
        (pictures.EXPLANATIONS, [0.5], marks.FAINT),
        (pictures.MASKS, [0.1], 1.0),
    ]
    assert (traces[0].error_x.array[0], traces[0].error_x.arrayminus[0]) == (0.4, 0.3)
    assert [name.partition("</b>")[2] for name in names.text] == [
        " · n 6 of 10",
        " · n 12 of 12",
        " · n 0 of 10 · undefined",
    ]
    assert pictures.chart_faithfulness([score("redaction")]) is None


def case(how: str, faithful: float, mask: float | None, **more: Any) -> list[dict[str, Any]]:
    row = {
        "lab": "consistency", "model": "m", "how": how, "wording": "you", "task": "sentiment", "dataset": "",
        "case": f"p1/{how}/you", "title": f"A film · {how}", "n": 1, "of": 1,
    } | more  # fmt: skip
    return [
        {**row, "metric": "faithfulness", "value": faithful},
        {**row, "metric": "faithfulness_control", "value": mask, "n": 1 if mask is not None else 0},
    ]


def test_random_masks_stand_beside_the_explanations_that_mask_and_no_others() -> None:
    frame = pd.DataFrame(
        [
            *case("counterfactual", 1.0, None),
            *case("redaction", 1.0, 0.25),
            *case("redaction", 0.0, 0.75, case="p2/redaction/you"),
            *case("attribution", 0.0, 0.5),
        ]
    )
    table = pictures.faithfulness(frame, "by explanation")
    assert table[["label", "series", "macro", "items"]].values.tolist() == [
        ["m, counterfactual", pictures.EXPLANATIONS, 1.0, 1],
        ["m, redaction", pictures.EXPLANATIONS, 0.5, 2],
        ["m, redaction", pictures.MASKS, 0.5, 2],
        ["m, attribution", pictures.EXPLANATIONS, 0.0, 1],
        ["m, attribution", pictures.MASKS, 0.5, 1],
    ]
    assert pictures.caption(table, "by explanation").endswith(
        "In 2 of 2 groups that have both, random masks did as much or more."
    )
    (line,) = pictures.faithfulness(frame, "by model").to_dict("records")
    assert (line["macro"], line["items"], line["series"]) == ((2 / 3 + 0) / 2, 2, pictures.EXPLANATIONS)


def test_every_check_is_in_the_picture_of_answers_or_said_to_be_left_out() -> None:
    rows = [
        check("positive", "positive", "negative", how="redaction"),
        check("positive", "positive", "positive", how="redaction"),
        check("positive", "positive", None, how="redaction"),
        check("positive", "positive", "negative", how="attribution"),
    ]
    table = pictures.classes(pd.DataFrame(rows), "redaction")
    assert pictures.said_of_classes(table, "redaction") == (
        "After the edit the answer was another in 1 of 2 checks. 1 more were not read, or not asked."
    )
    figure = pictures.draw_classes(table, "redaction", ())
    assert sum(sum(trace.x) for trace in figure.data) == 3 == table["checks"].sum()
    assert [trace.name for trace in figure.data] == ["negative", "positive", "unread"]


def test_names_are_shown_and_not_obeyed() -> None:
    figure = pictures.chart_classes(pd.DataFrame([check("<b>x</b>", "<b>x</b>", "<i>y</i>")]))
    assert "<b>" not in figure.to_json() and "&lt;i&gt;" in figure.to_json()
    figure = pictures.chart_faithfulness([score("redaction/<b>w")])
    assert figure is not None and figure.data[-1].text[0].startswith("<b>redaction, &lt;b&gt;w</b>")
