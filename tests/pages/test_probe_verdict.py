"""The verdict's box on the Probe page: what its picture leaves out, and what could not be run."""

from __future__ import annotations

import re

import pandas as pd

from core import entry
from core.labs.find import charts
from core.labs.find.functions.numeric import PROBED
from pages.labs.find.pictures import not_drawn
from tests.pages.conftest import words
from tests.pages.test_probe import Page, run_of


def test_what_the_picture_leaves_out_is_listed_below_it() -> None:
    rows = [(1e9, 3.0), (2.0, 1e300), (0.0, 1.0), (1.0, 2.0), (3.0, 3.0)]
    points = pd.DataFrame([{"x": x, "y": y, "round": 1, "number": k} for k, (x, y) in enumerate(rows)])
    truth, code = [1.0, 2.0, 3.0] * 20, [1.0, -1e300, 3.0] * 20
    outside, beyond = not_drawn(charts.cut(points, truth, code, PROBED), 5, PROBED)
    assert outside == ("1 of 5 calls lies outside of the tested range from -128 to 128 and is not drawn: f(1e+09) = 3.")
    assert beyond.startswith("The picture ends at 0.84 and 3.16. Beyond it: 1 of 5 calls, f(2) = 1e+300; ")
    assert beyond.endswith("; the code at 20 test points.")
    assert not list(not_drawn(charts.cut(points[2:], truth, truth, PROBED), 3, PROBED))
    many = pd.DataFrame([{"x": 200.0 + k, "y": 1.0, "round": 1, "number": k} for k in range(9)])
    assert [one.endswith("f(205) = 1, and 3 more.") for one in not_drawn(charts.cut(many, within=PROBED), 9, PROBED)]


def test_what_cannot_be_run_here_is_said_and_not_called_wrong(page: Page) -> None:
    given = {"description": "a line", "code": "import pandas\ndef f(x):\n    return x"}
    app = page("probe", run=run_of(seed=1, model="", interpreter="given", given=given))
    told = words(app)
    assert "could not be run here at 256 of 256 test points" in told and "did not find" not in told
    tiles = {metric.label: metric.value for metric in app.metric}
    assert tiles["Not runnable here"] == "256 of 256" and tiles["Normalized error (NMSE)"] == "–"


def test_a_function_of_numbers_has_a_tile_for_each_stretch_of_its_range(page: Page) -> None:
    """The values between 57.9 and 75.757 are replaced, and the control does not think to look there."""
    run = run_of(seed=1753, difficulty="medium")
    state = entry.jobs().watch(run).transcript
    truth = entry.labs()["find"].view(state.case(state.only)).truth
    off = {number // 16 + 1 for number, x in enumerate(sorted(truth.x)) if 57.9 <= x <= 75.757}
    strip = next(one.value for one in page("probe", run=run).markdown if one.value.startswith("[:"))
    assert len(off) == 2 and strip.count("](#truth)") == 16
    assert {int(number) for number in re.findall(r"red-badge\[:material/cancel: (\d+)\]", strip)} == off
    assert len(re.findall(r"green-badge\[:material/check_circle: \d+\]", strip)) == 14
