"""Code is found where it is right everywhere: at the test points, where nobody looked, and at its own calls."""

import re
from collections.abc import Iterator

import pytest

from core.labs.probe.controls import worthless
from core.labs.probe.functions.numeric import GRID, Atom, Corruption, NumericFunction, interval
from core.labs.probe.functions.source import load
from core.labs.probe.lab import LAB
from core.labs.probe.records import Submission, Wish
from core.labs.probe.report import ProbeReport
from core.labs.probe.tasks import ProbeSpec
from core.labs.probe.verdict import list_remarks
from core.report.scenes import scene_of
from core.runs.engine import UserInput
from core.scene import steps
from tests.core.labs.probe.playing import play, scripted, stub_catalog, stub_spec, with_controls
from tests.support.stub_server import StubServer

LINES = [f"{slope} * x + {bias}" for slope in (-30, -2.5, 0.5, 3, 17) for bias in (-20, -1, 4, 29)]
CURVES = ("3*x^2+sin(x)", "abs(x) + 2", "1/(x^2+1)", "x^3 - 5*x")
POINTS_ALONE = "def f(x):\n    return {} if x % 1 == 0.5 else 0.0"


def given(own: str, code: str, **fields: object) -> ProbeReport:
    said = {"description": "A curve.", "code": code}
    return play(ProbeSpec.model_validate({"own": own, "interpreter": "given", "given": said, **fields}))[0]


def robot(name: str, **fields: object) -> ProbeReport:
    spec = ProbeSpec.model_validate({"model": f"control/{name}", "probes": 300, **fields})
    return play(spec, with_controls())[0]


@pytest.mark.parametrize("own", CURVES)
def test_code_that_is_right_at_the_test_points_alone_is_not_found(own: str) -> None:
    formula = own.replace("^", "**")
    code = f"from math import sin\n{POINTS_ALONE.format(formula)}"
    view = given(own, code)
    assert view.value("nmse") == pytest.approx(0) and view.value("nmse_success") == 1, "the paper's test is passed"
    assert view.value("held_out_nmse") == pytest.approx(1) and view.value("success_confirmed") == 0
    assert view.outcome == "missed"
    assert (
        "at all 256 test points" in view.judgement.sentence
        and "at unprobed points its error is 100%" in view.judgement.sentence
    )
    assert any("nobody had looked there" in one for one in list_remarks(view))
    right = given(own, f"from math import sin\ndef f(x):\n    return {formula}")
    assert right.outcome == "found" and right.value("success_confirmed") == 1


@pytest.mark.parametrize("seed", range(6))
def test_that_holds_of_functions_with_noise_and_corruption_too(seed: int) -> None:
    """A table of the function at the test points; beside it the function itself."""
    function = load(ProbeSpec(seed=seed, difficulty="medium", interpreter="you"))
    assert isinstance(function, NumericFunction)
    values = [y if y == y else 0.0 for y in function.expected(GRID).real.tolist()]
    table = f"def f(x):\n    return {dict(zip(GRID.tolist(), values, strict=True))!r}.get(x, 0.0)"
    view = given("", table, seed=seed, difficulty="medium")
    if view.value("nmse_success"):
        assert view.outcome in ("missed", "not tested") and not view.value("success_confirmed")


def test_code_that_contradicts_its_own_calls_is_not_found() -> None:
    tried = ("-100", "-1", "0", "1", "2", "100")
    code = f"def f(x):\n    return 3 * x + (16 if x in ({', '.join(tried)}) else 7)"
    said = Submission(description="A line.", code=code)
    additions = [UserInput("own", Wish(inputs=tried), "wish-{n}"), UserInput("own", said, "submission")]
    view, _ = play(ProbeSpec(own="3*x + 7", interpreter="you"), additions=additions)
    assert view.value("nmse_success") == 1 and view.value("held_out_nmse") == pytest.approx(0)
    assert view.outcome == "missed"
    assert "it contradicts 6 of 6 calls that you made" in view.judgement.sentence
    assert any(one.startswith("Saw f(-100) = -293, and the code gives -284") for one in list_remarks(view))


@pytest.mark.parametrize("name", sorted(worthless()))
@pytest.mark.parametrize("own", [*CURVES, LINES[3]])
def test_no_worthless_robot_finds_a_function_of_numbers(name: str, own: str) -> None:
    view = robot(name.removeprefix("control/"), own=own)
    assert view.outcome in ("missed", "close"), view.judgement.sentence
    assert not view.value("success_confirmed")


def test_a_parrot_of_the_test_points_passes_the_papers_test_alone() -> None:
    views = [robot("parrot", own=own) for own in (*CURVES, *LINES)]
    assert {view.value("nmse_success") for view in views} == {1}
    assert {view.outcome for view in views} == {"missed"}


def test_an_honest_robot_is_recognised() -> None:
    views = [robot("straight", own=own, probes=20) for own in LINES]
    assert sum(view.outcome == "found" for view in views) >= 0.9 * len(views)


def strings(name: str) -> Iterator[ProbeReport]:
    for seed in (1, 7, 8, 11, 12):
        yield robot(name, category="strings", function=f"strings-{seed}-easy")


def test_of_texts_a_table_of_what_was_seen_finds_nothing() -> None:
    assert {view.outcome for view in strings("parrot")} <= {"missed", "close", "not tested"}


def test_code_of_texts_that_denies_what_it_saw_is_not_found() -> None:
    own = "x.upper()"
    said = "[DESCRIPTION]: upper case\n[CODE]:\n```python\ndef f(x):\n    return 'no' if x == 'abc' else x.upper()\n```"
    with StubServer(scripted("COMMAND: PYTHON(function.py abc de f)", said)) as server:
        view, _ = play(stub_spec(category="strings", own=own), stub_catalog(server))
    assert view.value("exact_match") == 1 and view.outcome == "close"
    assert "it contradicts 1 of 3 calls that it made" in view.judgement.sentence
    assert "Saw f('abc') = 'ABC', and the code gives 'no'." in list_remarks(view)


def test_cards_show_what_the_code_gives_beside_what_the_function_gives() -> None:
    view = given("3*x^2+sin(x)", "def f(x):\n    return 3 * x ** 2")
    cards = tuple(view.cards())
    assert cards and all([part.label for part in card.columns] == ["Its code", "The function"] for card in cards)
    wrong = [card for card in cards if card.mark == "broken"]
    assert wrong and all(card.columns[0].text != card.columns[1].text for card in wrong), "enough digits to see it"
    lines = [text for key, text in steps(scene_of(LAB, view)) if key.startswith("card-")]
    assert all(re.search(r"\n  Its code: \S+, The function: \S+: (right|wrong)$", line) for line in lines)


def test_a_range_is_written_in_one_rounding() -> None:
    assert interval(57.9, 75.757) == "between 57.9 and 75.8" and interval(8.0, 18.0) == "between 8 and 18"
    assert (interval(None, 3.14159), interval(2.05, None), interval(None, None)) == (
        "below 3.1",
        "above 2",
        "everywhere",
    )
    corruption = Corruption(low=57.9, high=75.757, mean=1)
    corrupted = NumericFunction(id="x", atoms=(Atom(name="ceil"),), corruption=corruption)
    assert "The values between 57.9 and 75.8 are random" in corrupted.describe()
