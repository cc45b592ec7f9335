"""Differences between the cells of a table, over the items that both have and with everything else equal."""

import re
from typing import Any

import pandas as pd
from pytest import MonkeyPatch, approx

from core.labs.ask.lab import LAB as ASK
from core.report import standalone_html
from core.studies import tables
from core.studies.table_cells import BLANK, cells
from core.studies.tables import DIFFERENCES, MOST, differences
from pages.study.progress_view import finding


def cases(model: str, values: dict[str, float | None], **settings: Any) -> list[dict[str, Any]]:
    about = {"model": model, "method": "cot", "simulator": model, "n": 1, "of": 1, "truth": None, "applies": True}
    about |= {"run": f"{model}-{settings}", "complete": True, "early": False} | settings
    return [{**about, "case": item, "item": item, "value": value} for item, value in values.items()]


def between(*several: list[dict[str, Any]], rows: tuple[str, ...] = ("model",)) -> list[dict[str, Any]]:
    return differences(ASK, pd.DataFrame([case for one in several for case in one]), rows, (), "Precision")


def of_items(share: float, number: int, start: int = 0) -> dict[str, float | None]:
    return {f"q{n}": float(n % 10 < share * 10) for n in range(start, start + number)}


def test_cells_differ_over_the_items_that_both_have() -> None:
    # b was asked only what a answered well, so their means differ and their items do not.
    (cell,) = between(
        cases("a", of_items(0.5, 40)), cases("b", {item: 1.0 for item, one in of_items(0.5, 40).items() if one})
    )
    assert (cell["row"], cell["column"], cell["value"], cell["n"], cell["of"]) == ("a over b", "Precision", 0, 20, 40)
    assert cell["p_holm"] == 1 and cell["low"] < 0 < cell["high"]
    (cell,) = between(cases("a", of_items(0.9, 40)), cases("b", of_items(0.4, 40)))
    assert (cell["value"], cell["n"]) == (approx(0.5), 40) and cell["p_holm"] < 0.001 < cell["low"]
    assert cell["note"] == "exact McNemar" and len(cell["behind"]) == 80
    (cell,) = between(cases("a", of_items(0.9, 5)), cases("b", of_items(0.4, 5)))
    assert cell["note"].endswith("fewer than 10 items")
    (cell,) = between(cases("a", of_items(0.9, 5)), cases("b", of_items(0.4, 5, start=10)))
    assert (cell["value"], cell["p_holm"], cell["n"], cell["of"]) == (None, None, 0, 10) and "no item" in cell["note"]


def test_all_else_is_equal_where_items_meet() -> None:
    # The strong model was asked by one method, and the weak one by the other; both methods share only ten items.
    strong, weak = of_items(1, 60), of_items(0, 60)
    mixed = [
        cases("strong", strong, method="cot"), cases("strong", of_items(1, 10), method="posthoc"),
        cases("weak", of_items(0, 10), method="cot"), cases("weak", weak, method="posthoc"),
    ]  # fmt: skip
    (cell,) = between(*mixed, rows=("method",))
    assert (cell["value"], cell["n"], cell["of"], cell["p"]) == (0, 10, 60, 1)
    by_model = between(*mixed)
    assert by_model[0]["value"] == 1 and by_model[0]["n"] == 10, "whoever simulates itself does as the other does"
    (one,) = between(cases("a", strong, simulator="x"), cases("a", weak, simulator="y"), rows=("method", "simulator"))
    assert one["n"] == 60
    apart = between(cases("a", strong, votes=1), cases("a", weak, votes=3), cases("b", strong, votes=5))
    assert apart[0]["n"] == 0, "no vote of one is one of the other"


def test_all_pairs_of_a_table_are_corrected_together(monkeypatch: MonkeyPatch) -> None:
    several = [cases(name, of_items(share, 20)) for name, share in (("a", 0.9), ("b", 0.4), ("c", 0.4))]
    found = between(*several)
    assert [cell["row"] for cell in found] == ["a over b", "a over c", "b over c"]
    assert found[0]["p_holm"] == approx(3 * found[0]["p"]) and found[2]["p_holm"] == 1
    (note,) = between(*[cases(f"m{n}", {"q": 1.0}) for n in range(30)])
    assert "435 pairs are too many" in note["note"] and MOST < 435
    monkeypatch.setattr(tables, "MOST", 3)
    assert len(between(*several)) == 3 and len(between(*several, cases("d", of_items(0.4, 20)))) == 1


def test_the_finding_is_of_pairs_and_not_of_intervals() -> None:
    frame = pd.DataFrame(cases("a", of_items(0.7, 40)) + cases("b", of_items(0.5, 40)))
    table = [{**cell, "table": "T"} for cell in cells(frame, ["model"], [], "Precision", ASK.metric("precision"))]
    assert table[0]["low"] < table[1]["high"], "the intervals overlap"
    beside = [{**cell, "table": f"T{DIFFERENCES}"} for cell in differences(ASK, frame, ["model"], [], "Precision")]
    said = finding([*table, *beside], str)
    assert said.startswith("T goes from 0.50 (b, 40 items) to 0.70 (a, 40 items). Over the 40 items that both have")
    assert "the difference is 0.20 (0.0" in said and "p 0.008)" in said and "overlap" not in said
    turned = [
        {**cell, "table": f"T{DIFFERENCES}"}
        for cell in between(cases("b", of_items(0.5, 40)), cases("a", of_items(0.7, 40)))
    ]
    assert finding([*table, *turned], str) == said, "whichever is named first"
    other = [
        {**BLANK, "table": f"T{DIFFERENCES}", "row": "x over y", "column": "z", "p_holm": p, "n": 20}
        for p in (0.01, 0.2)
    ]
    assert finding([*table, *other], str).endswith("Of 2 pairs over the same items 1 differs by more than chance.")
    assert finding([*table, {**other[0], "p_holm": None}], str).endswith("so no difference is given.")
    assert finding(table, str).endswith("40 items).")


def test_the_report_has_them_with_interval_and_holm() -> None:
    (cell,) = between(cases("a", of_items(0.7, 40)), cases("b", of_items(0.5, 40)))
    page = str(standalone_html.template("table.html").module.figure(cell, {}))  # type: ignore[attr-defined]
    assert "<strong>0.20</strong>" in page and "<span>0.0" in page and "<span>40 of 40 items</span>" in page
    assert re.findall("<small>(.*?)</small>", page) == ["p = 0.0078; 0.0078 by Holm", "exact McNemar"]
