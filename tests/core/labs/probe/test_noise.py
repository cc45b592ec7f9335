"""If the noise is known, code is compared with the function without it; the noise floor is shown beside it."""

import numpy as np
import pytest

from core.labs.probe.evaluate import AS_GOOD, excess, nmse
from core.labs.probe.functions.numeric import GRID, Atom, Noise, NumericFunction
from core.labs.probe.functions.source import load
from core.labs.probe.report import ProbeReport
from core.labs.probe.tasks import ProbeSpec
from core.labs.probe.verdict import list_remarks
from tests.core.labs.probe.playing import play

NOISY = {"seed": 4, "difficulty": "medium"}
"""A step with Poisson noise."""


def told(change: str, **spec: object) -> ProbeReport:
    """The run whose code is the function's own formula, `change` behind it."""
    spec = {**NOISY, **spec}
    function = load(ProbeSpec.model_validate({**spec, "interpreter": "you"}))
    assert isinstance(function, NumericFunction) and function.noise is not None
    values = dict(zip(GRID.tolist(), function.expected(GRID).tolist(), strict=True))
    code = f"V = {values}\ndef f(x):\n    return V.get(math.floor(x) + 0.5, 0.0){change}"
    said = {"description": "It is told in code.", "code": code}
    return play(ProbeSpec.model_validate({**spec, "interpreter": "given", "given": said}))[0]


def test_excess_is_what_the_error_adds_to_the_floor() -> None:
    rng = np.random.default_rng(0)
    line = Atom(name="linear", parameters={"slope": 0.1, "bias": 1.0})
    function = NumericFunction(id="line", atoms=(line,), noise=Noise(kind="normal"))
    x = np.linspace(-128, 128, 40_000)
    observed, expected = function.observe(x, rng).tolist(), function.expected(x).tolist()
    estimate = [y + 0.5 for y in expected]
    floor, error = nmse(observed, expected).value, nmse(observed, estimate).value
    beyond = excess(observed, expected, estimate, "repaired").value
    assert floor is not None and error is not None and beyond is not None
    assert error == pytest.approx(floor + beyond, rel=0.02) and beyond == pytest.approx(floor * 0.25, rel=0.03)
    assert excess(observed, expected, expected, "repaired").value == 0
    assert excess(observed, expected, [None] * len(x), "repaired").value is None
    assert excess([1.0, -1.0], [0.0, 0.0], [0.0, 0.0], "repaired").value == 0, "a function of nothing but noise"


def test_the_truth_itself_has_found_it_although_it_errs() -> None:
    view = told("")
    floor, error = view.value("noise_floor"), view.value("nmse")
    assert floor is not None and error is not None and floor > 0 and error > 0.5 * floor
    assert view.value("excess") == 0 and view.judgement.outcome == "found"


@pytest.mark.parametrize(("share", "outcome"), [(0.5, "within the noise"), (2.0, "close"), (3_000.0, "missed")])
def test_what_the_code_adds_to_the_noise_decides(share: float, outcome: str) -> None:
    """`share`: of the largest addition that is as good as the noise allows."""
    function = load(ProbeSpec.model_validate({**NOISY, "interpreter": "you"}))
    assert isinstance(function, NumericFunction)
    power = float(np.mean(function.expected(GRID) ** 2))
    floor = told("").value("noise_floor")
    assert floor is not None
    view = told(f" + {(share * AS_GOOD * floor * power) ** 0.5}")
    added = view.value("excess")
    assert added == pytest.approx(share * AS_GOOD * floor, rel=0.1)
    judged = view.judgement
    assert judged.outcome == outcome
    if outcome == "within the noise":
        assert judged.sentence.startswith("Its code is as good as the noise allows: the noise alone makes an error of")
        assert view.is_solved and not any("Farthest" in line for line in list_remarks(view))
    else:
        assert "beyond the noise, the code's error is" in judged.sentence and not view.is_solved


def test_without_noise_there_is_nothing_beyond_it() -> None:
    said = {"description": "d", "code": "def f(x):\n    return 2 * x + 1"}
    view, _ = play(ProbeSpec.model_validate({"own": "2*x", "interpreter": "given", "given": said}))
    assert view.score("excess") is None and "noise" not in view.judgement.sentence


def test_a_fit_of_a_noisy_line_is_as_good_as_the_noise_allows() -> None:
    """Its error of 0.4 % is all noise: it did not just come close."""
    view, _ = play(ProbeSpec(seed=3, difficulty="medium", interpreter="fit"))
    assert view.judgement.outcome == "within the noise"
