"""Claims are parsed where they are made, and judged by what they say, not by what they might have said."""

from typing import Any

import pytest

from core.labs.probe.claim_extraction import (
    components_identified,
    intervals_told,
    noise_identified,
    noise_told,
    speaks_of,
)
from core.labs.probe.functions.numeric import Corruption, Noise
from core.labs.probe.functions.source import generate, names_of
from core.labs.probe.records import Submission, Wish
from core.labs.probe.report import ProbeReport
from core.labs.probe.tasks import ProbeSpec
from core.labs.probe.verdict import list_remarks, of_words
from core.runs.engine import UserInput
from tests.core.labs.probe.playing import play, scripted, stub_catalog, stub_spec
from tests.core.labs.probe.test_evaluate import line
from tests.support.stub_server import StubServer

CORRUPTED = {"seed": 1753, "difficulty": "medium"}  # a line whose values are replaced between 57.9 and 75.757

EVERYTHING = (
    "It is linear, a polynomial, an absolute value, a root, a logarithm, a step, a ReLU, a hyperbolic tangent, a "
    "constant, a sine, a cosine, a reciprocal, a Gaussian bell, rational, a rectangle, a square wave, the sign of x, "
    "rounded up and rounded down. It carries normal noise, uniform noise and Poisson noise."
)


def concluded(description: str, domain: str = "", **fields: Any) -> ProbeReport:
    """A case of a model that probes where the values are replaced, and then concludes with the given words."""
    said = f"[DESCRIPTION]: {description}\n[DOMAIN]: {domain}\n[CODE]:\n```python\ndef f(x):\n    return 2 * x\n```"
    with StubServer(scripted("PYTHON(function.py 0 1 60 70)", said)) as server:
        return play(stub_spec(**{"own": "", **CORRUPTED, **fields}), stub_catalog(server))[0]


def by_hand(description: str, interval: tuple[float | None, float | None] | None = None, **fields: Any) -> ProbeReport:
    """The same by a person."""
    spec = ProbeSpec.model_validate({**CORRUPTED, "interpreter": "you", **fields})
    case = next(names_of(spec))
    said = Submission(description=description, code="def f(x):\n    return 2 * x", interval=interval)
    given = [UserInput(case, Wish(inputs=("60", "70")), "wish-{n}"), UserInput(case, said, "submission")]
    return play(spec, additions=given)[0]


@pytest.mark.parametrize(
    "said",
    [
        "A straight line, but for x between 57.9 and 75.757 the values are about -3.",
        "It is -3 if 57.9 <= x <= 75.757, else a line.",
        "Between 57.9 and 75.757 it is flat; elsewhere a line.",
        "A line. In [57.9, 75.757] the values are random.",
    ],
)
def test_an_interval_in_the_description_is_read_there(said: str) -> None:
    view = concluded(said)
    assert view.value("interval_iou") == pytest.approx(1, abs=1e-3)
    assert not [one for one in list_remarks(view) if "still does not say" in one or one.startswith("Claims")]
    assert view.by("paper").value("interval_iou") == 0, "by paper rules the domain alone is read"


def test_who_says_nothing_of_it_is_told_so() -> None:
    assert any("still does not say" in one for one in list_remarks(concluded("A straight line.")))
    denied = concluded("A straight line.", "Not corrupted between 57.9 and 75.757.")
    assert any("still does not say" in one for one in list_remarks(denied))
    assert any("still does not say" in one for one in list_remarks(concluded("A line with constant slope.")))


@pytest.mark.parametrize(
    ("text", "intervals"),
    [
        ("A line with a constant slope between 3 and 9.", ()),
        ("A wave with values between -1 and 1.", ()),
        ("Random noise between -1 and 1 is added.", ()),
        ("I tested x between -100 and 100.", ()),
        ("It does not change for x between 3 and 9.", ()),
        ("For x from 3 to 9 it is 5.", ((3.0, 9.0),)),
        ("A line, and in (3, 9) random.", ((3.0, 9.0),)),
    ],
)
def test_what_is_an_interval_of_x_and_what_is_not(text: str, intervals: tuple[object, ...]) -> None:
    assert intervals_told(text, "") == intervals == intervals_told("", text)


def test_both_ends_by_their_numbers_say_enough() -> None:
    assert speaks_of("It breaks at 4.1 and is itself again from 18.96 on.", 4.1, 18.9615)
    assert not speaks_of("It is 4.1 at 0.", 4.1, 18.9615) and speaks_of("It breaks at 4.1.", 4.1, None)


@pytest.mark.parametrize(
    ("said", "part", "named"),
    [
        ("It is no logarithm.", "logarithm", False),
        ("It is a root rather than a logarithm.", "logarithm", False),
        ("Neither a sine nor a logarithm.", "logarithm", False),
        ("Not a root but a logarithm.", "logarithm", True),
        ("It has a constant slope.", "constant", False),
        ("It is constant.", "constant", True),
        ("A black box that gives a signal.", "rectangle", False),
        ("Gaussian noise on a line.", "gaussian", False),
    ],
)
def test_what_is_denied_is_not_named(said: str, part: str, named: bool) -> None:
    atom = line().atoms[0].model_copy(update={"name": part})
    f = line().model_copy(update={"atoms": (atom,)})
    assert bool(components_identified(f, said).present) == named


def test_who_names_all_parts_gains_nothing() -> None:
    for category in ("numeric", "strings"):
        for seed in range(40):
            f: Any = generate(category, seed, "easy", "repaired")  # type: ignore[arg-type]
            said = EVERYTHING if category == "numeric" else _all_steps()
            found = components_identified(f, said)
            assert found.score < 0.02 and found.wrong, f.describe()
            assert components_identified(f, "Nothing can be said.").score == 0
    both = components_identified(line(), "A line plus a sine.")
    assert 0 < both.score < 0.5 and both.wrong == ("sine",)


def _all_steps() -> str:
    from core.labs.probe.functions.strings import STRING_ATOMS

    return "".join(f" It {kind.description}." for kind in STRING_ATOMS.values())


@pytest.mark.parametrize("category", ["numeric", "strings"])
def test_the_true_description_names_nothing_that_is_not_there(category: str) -> None:
    for seed in range(120):
        f: Any = generate(category, seed, None, "repaired")  # type: ignore[arg-type]
        assert components_identified(f, f.describe()).wrong == (), f.describe()


def test_who_names_all_noises_has_named_none() -> None:
    noisy = line(noise=Noise(kind="uniform"))
    assert noise_identified(noisy, "uniform noise") is True
    assert noise_identified(noisy, "normal noise, uniform noise or Poisson noise") is False
    assert noise_identified(noisy, EVERYTHING) is False
    assert noise_identified(noisy, "normal noise, uniform noise or Poisson noise", "paper") is False
    assert noise_identified(line(), "free of noise") is None and noise_identified(line(), "Poisson noise") is False
    replaced = line(corruption=Corruption(low=3.0, high=9.0, mean=1.0))
    assert noise_identified(replaced, "Between 3 and 9 normal noise around 1.") is None
    assert noise_told("a noise-free line").any is False and noise_told("a noisy line").any is True


def test_what_is_named_and_not_there_is_said() -> None:
    view = concluded("A straight line plus a sine, with uniform noise.", own="", seed=1753)
    assert "Named but not there: sine." in of_words(view)
    assert "Names uniform noise; the function has none." in list_remarks(view)
    listed = concluded(EVERYTHING, "Random between -90 and -80, and between 1 and 20.")
    assert listed.value("components_identified") == 0 and listed.value("interval_iou") == 0
    assert "Named but not there" in of_words(listed) and any("Claims" in one for one in list_remarks(listed))


def test_the_words_of_a_person_are_never_missing() -> None:
    """What a person leaves out may be our reading; the interval is asked for in two numbers."""
    view = by_hand("It goes up steadily.")
    assert not [one for one in list_remarks(view) if one.startswith(("Looked", "Does not", "Says that"))]
    assert "Left out" not in of_words(view) and "may have missed some" in of_words(view)
    told = by_hand("It goes up steadily.", (57.9, 75.757))
    assert told.value("interval_iou") == pytest.approx(1, abs=1e-3)
    wrong = by_hand("It goes up steadily.", (0, None))
    assert (wrong.value("interval_iou") or 0) < 0.5
    assert any(one.startswith("Claims above 0 for the corrupted part") for one in list_remarks(wrong))
