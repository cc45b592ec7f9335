"""Robots with known truth: the worthless ones gain nothing and no sentence praises them; the dial's figure is its true
share.
"""

from pathlib import Path
from statistics import fmean

import pytest

from core.labs.probe import parse
from core.labs.probe.controls import PARTS, Mute, ProbeDial, WorthlessProbe, dials, noisy, words, worthless
from core.labs.probe.lab import LAB, calibration
from core.labs.probe.records import HEADLINE
from core.labs.probe.report import ProbeReport
from core.labs.probe.tasks import ProbeSpec
from core.labs.probe.units import telling_nothing
from core.models.catalog import Catalog
from core.statistics.intervals import wilson
from core.text.stable_random import EXAMPLES, paraphrase
from tests.core.labs.probe.playing import BOTH, play, run
from tests.support.chance import ALL, tenth

SEEDS = range(tenth(30))
PRAISE = ("found", "came close", "as much as the true", "more than guessing", "as good as", "was right")


def robots() -> Catalog:
    unused = Path("/dev/null/unused")
    return Catalog(
        home=unused, journals=unused, read=lambda path: [], controls={**LAB.robots.controls(), **LAB.robots.dials()}
    )


def played(**fields: object) -> ProbeReport:
    return play(ProbeSpec.model_validate(fields), robots())[0]


@pytest.mark.sampled(4)
@pytest.mark.parametrize("robot", list(worthless()))
@pytest.mark.parametrize(
    ("category", "judge"),
    [*((one, "") for one in ("numeric", "strings", "entities")), ("relations", "control/dial-probe-1.0")],
)
def test_what_tells_nothing_gains_nothing_and_is_not_praised(category: str, judge: str, robot: str) -> None:
    """In at most 2.5 % of cases, which of these few means in none. Of facts by one who knows them: sentence vectors do
    not keep to that for each text (docs/measuring.md §4.9).
    """
    for seed in SEEDS:
        difficulty = "medium" if category == "numeric" else "easy"
        asked = {"evaluator": judge, "triplets": 40} if judge else {}
        view = played(category=category, seed=seed, difficulty=difficulty, model=robot, **asked)
        assert view.outcome in ("missed", "not tested"), view.sentences()
        # A table of the test points passes the paper's test, and holds nowhere else.
        success = "success_confirmed" if robot == "control/parrot" else "nmse_success"
        for metric in ("components_identified", "interval_iou", "noise_identified", success):
            assert not view.value(metric), (metric, view.value(metric), view.sentences())
        said = " ".join(view.sentences())
        assert not [
            one for one in PRAISE if one in said.replace("did not find", "").replace("Its description names", "")
        ]


def test_sentence_vectors_seldom_take_what_tells_nothing_for_a_description_of_facts() -> None:
    """One of them beat the control on a tenth of the relations before an example had to be clearly the nearest. The
    parrot, which lists outputs that it saw, is still taken on up to 3 of 10: docs/measuring.md says so.
    """

    def taken(robot: str) -> int:
        views = [played(category="relations", seed=seed, model=robot) for seed in range(10 if ALL else 3)]
        return sum(view.outcome not in ("missed", "not tested") for view in views)

    assert sum(taken(robot) for robot in worthless() if robot != "control/parrot") <= 1
    if ALL:
        assert taken("control/parrot") <= 3


@pytest.mark.parametrize("robot", worthless().values(), ids=list(worthless()))
@pytest.mark.parametrize("category", ["entities", "relations"])
def test_none_is_judged_by_the_text_that_it_is_compared_with(category: str, robot: WorthlessProbe) -> None:
    read = parse.interpretation(robot.conclude(category), "repaired").told
    assert len(words(read)) > 5
    for about, text in telling_nothing(category).items():
        assert not words(read) & words(text), about


def test_the_lister_lists_every_part_that_there_is() -> None:
    from core.labs.probe.claim_extraction import components_identified
    from core.labs.probe.functions.source import generate

    for seed in range(80):
        function = generate("numeric", seed, "easy", "repaired")
        assert not components_identified(function, ", ".join(PARTS)).absent  # type: ignore[arg-type]


@pytest.mark.parametrize("share", [0.0, 0.3, 0.7, 1.0])
def test_the_dial_reads_what_it_must(share: float) -> None:
    for seed in (1, 4, 11):
        view = played(seed=seed, difficulty="easy", model=f"control/dial-probe-{share:.1f}", probes=300)
        must = LAB.robots.truth(view)
        assert must is not None and view.value("nmse") == pytest.approx(must, abs=1e-9)
        # Its code is a table of the test points: at 1.0 it passes the paper's test, and is wrong everywhere else.
        assert view.value("nmse_success") == (share == 1) and view.outcome == "missed"


def test_the_share_that_is_right_holds_what_the_dial_was_set_to() -> None:
    """Counted from what its code gave in the sandbox, over functions of their own: the intervals hold the share."""
    held = 0
    lines = [f"{slope} * x + {bias}" for slope in (1, 2, 3, 4) for bias in (1.1, 2.1, 3.1, 4.1, 5.1)]
    for own in lines:
        view = played(own=own, model="control/dial-probe-0.4", probes=300)
        assert view.truth is not None and view.estimate is not None
        right = [y == pytest.approx(g) for y, g in zip(view.truth.y, view.estimate.repaired, strict=True)]
        low, high = wilson(sum(right) / len(right), len(right))
        held += low <= 0.4 <= high
    assert held >= 17, f"of {len(lines)} intervals {held} hold the share"


def test_there_are_eleven_and_some_noisy_ones_and_none_is_listed() -> None:
    assert len(dials()) == 11 and {*LAB.robots.dials()} == {*dials(), *noisy()}
    assert not any(robot.listed for robot in (*dials().values(), *noisy().values()))
    assert LAB.robots.truth(played(own="2*x", model="control/straight")) is None
    assert LAB.robots.truth(played(own="2*x", model="control/dial-probe-0.5", probes=20)) is None, "it saw too little"
    kept = [ProbeDial(share).keeps("1", "2") for share in (0.0, 0.5, 1.0)]
    assert kept == sorted(kept) and kept[-1]


@pytest.mark.sampled(2)
@pytest.mark.parametrize("category", list(HEADLINE))
def test_calibration_reads_what_must_be_read_and_finds_who_knows(category: str) -> None:
    """What the figures must come to is counted here from the spread of the three: all, about half, nothing."""
    spec = ProbeSpec.model_validate({"category": category, "model": "a/model", "evaluator": "a/judge"})
    outcomes, values = {}, {}
    for control in calibration(spec):
        assert not {one for of in control.roles.values() for one in of} - {*LAB.robots.controls(), *LAB.robots.dials()}
        state, _ = run(control, robots())
        views = [LAB.view(state.case(case)) for case in state.cases]
        truths = [LAB.robots.truth(view) for view in views]
        assert len(views) == 3
        outcomes[control.model] = [view.outcome for view in views]
        values[control.model] = fmean(truth or 0 for truth in truths)
        if control.model == Mute.id and category in ("entities", "relations"):
            assert {view.value("unit_test") for view in views} == set(truths) == {None}
            continue
        for rules in BOTH:
            assert [view.by(rules).value(HEADLINE[category]) for view in views] == pytest.approx(truths, abs=1e-9)
    knows, half, nothing = outcomes
    # For numbers, the robot that knows the test points has a table of these, and nothing elsewhere.
    assert set(outcomes[knows]) <= {"missed" if category == "numeric" else "found"}
    assert set(outcomes[nothing]) <= {"missed", "not tested"}
    assert "found" not in outcomes[half]
    share = {name: 1 - value if category == "numeric" else value for name, value in values.items()}
    assert share[knows] == 1 and 0.2 < share[half] < 0.8 and share[nothing] < share[half]


@pytest.mark.parametrize("category", ["entities", "relations"])
def test_what_its_description_is_right_about_is_picked_and_nothing_else(category: str) -> None:
    for share in (0.0, 0.4, 1.0):
        robot = f"control/dial-probe-{share:.1f}"
        view = played(category=category, seed=3, difficulty="easy", model=robot, evaluator=robot, triplets=20)
        value = view.value("unit_test")
        assert value == LAB.robots.truth(view) and value in ((0,) if not share else (1,) if share == 1 else (value,))
        assert value is not None and abs(value - share) <= 0.35


def test_every_way_to_pick_an_example_is_read() -> None:
    for way in EXAMPLES:
        for number in (1, 2, 3):
            assert parse.choice(paraphrase(str(number), [way], "x")) == number, way
