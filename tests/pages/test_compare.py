"""The page Compare: its sentences about a comparison, and that its address holds everything that is chosen."""

from collections.abc import Callable
from typing import get_args

from streamlit.testing.v1 import AppTest

from core import entry, home
from core.labs.ask.view import Outcome
from core.store import comparing
from core.store.comparing import By
from core.store.listing import Selection
from tests.core.store.test_comparing import FAILED, A, B, asked, same
from tests.pages.conftest import in_address, words

OF = ["control/a", "control/b"]


def test_what_differs_comes_first_and_what_is_left_out_is_said(page: Callable[..., AppTest]) -> None:
    asked(home.journals(), "run-a", "a", A)
    asked(home.journals(), "run-b", "b", B)
    app = page("compare", by="model", of=OF)
    assert app.get("button_group")[0].options == ["the same starter question · 4", "the same new question · 7"]
    assert "4 starter questions with an outcome for both" in words(app) and "match" not in app.query_params
    app = page("compare", by="model", of=OF, match="exact")
    assert "came true 6 times for a and 3 times for b" in words(app) and "1–10 of 10" in words(app).replace("*", "")
    matrix = app.dataframe[0].value
    assert list(matrix.columns) == ["New question", "a", "b", "", "Starter question"]
    assert list(matrix.iloc[0]) == ["a", "✓ came true", "✕ misled", "differ", "S1"]
    assert set(matrix["b"]) >= {"–"} and "· unread" in set(matrix["a"]), "not asked, and without an outcome"
    opened = page("compare", by="model", of=OF, match="exact", run="run-a", case="q1", trial="cf-01")
    assert "came true 6 times for a and 3 times for b" in words(opened)
    opened.button(key="close").click().run()
    assert not opened.exception and "run" not in opened.query_params and in_address(opened, "by") == "model"
    pairs = app.table[0].value["a – b"]
    assert pairs["New questions with an outcome for both"] == "7" and pairs["Difference"] == "+0.38"
    assert pairs["With a result only for the first"] == pairs["With a result only for the second"] == "1"
    app.get("button_group")[0].set_value("whole").run()
    assert not app.exception and in_address(app, "match") == "whole"
    assert "4 starter questions with an outcome" in words(app)
    app.selectbox(key="by").set_value("rules").run()
    assert not app.exception and "match" not in app.query_params and "of" not in app.query_params
    assert "Only robots have results here" in words(app), "whom nobody chose"
    assert "Nothing was asked again" in words(page("compare", by="rules", model=OF))


def test_what_is_no_verdict_counts_only_where_somebody_switches_it_on(page: Callable[..., AppTest]) -> None:
    asked(home.journals(), "run-a", "a", A)
    asked(home.journals(), "run-b", "b", B, doubt=FAILED)
    app = page("compare", by="model", of=OF, match="exact")
    assert "has an outcome for both" in words(app) and f"· no verdict: {FAILED}" in set(app.dataframe[0].value["b"])
    app.toggle(key="doubtful").set_value(True).run()
    assert not app.exception and in_address(app, "doubtful") == "1"
    assert "came true 6 times for a and 3 times for b" in words(app)


def test_before_anything_is_chosen_and_where_nothing_can_be(page: Callable[..., AppTest]) -> None:
    app = page("compare")
    assert "Original and updated parser" in app.selectbox(key="by").options and "Study: example" in words(app)
    app.button(key="put-example").click().run()
    assert "two to 5" in words(app)
    for by in get_args(By):
        assert not page("compare", by=by, recordings="1").exception
    assert "cannot be compared by" in words(page("compare", by="outcome"))


def test_it_opens_with_two_that_share_items_or_says_that_none_do(page: Callable[..., AppTest]) -> None:
    of = {name: {f"{name}{n}": same(a="as expected", b="misled") for n in range(9)} for name in "xyz"}
    asked(home.journals(), "run-x", "m/x", of["x"])
    asked(home.journals(), "run-y", "m/y", of["y"])
    app = page("compare")
    assert "No two of these have results on the same items" in words(app)
    asked(home.journals(), "run-robot", "control/robot", of["x"] | of["y"] | of["z"])
    asked(home.journals(), "run-z", "m/z", {"y0": same(a="misled")})
    app = page("compare")
    assert app.multiselect(key="of").value == ["m/y", "m/z"], "robots only if nobody else shares anything"
    assert "1 starter question with an outcome for both" in words(app)
    asked(home.journals(), "run-z2", "m/z", {name: same(a="misled") for name in ("x0", "x1")})
    assert page("compare").multiselect(key="of").value == ["m/x", "m/z"], "the most items first"
    asked(home.journals(), "run-robot-2", "control/robot", of["x"], method="posthoc")
    assert not page("compare", by="how").exception
    shared = comparing.most_shared(Selection(entry.keeper().store), "how", ["cot", "posthoc"])
    assert shared == [], "only a robot explained in both ways, and robots do not count there"


def test_what_a_lab_compares_by_is_kept_or_broken() -> None:
    for lab in entry.LABS:
        if lab.listing.comparability:
            assert lab.that_mean("kept") and lab.that_mean("broken"), lab.name
        if lab.listing.comparability and lab.listing.row_unit == "trial":
            assert {"as expected", "misled", "misled all"} <= set(get_args(Outcome)) & set(lab.report.outcomes)
