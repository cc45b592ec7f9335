"""Robots of known truth: the worthless ones gain nothing and are praised by no sentence; the dial reads what is so."""

from __future__ import annotations

from pathlib import Path

import pytest

from core.labs.find.lab import LAB
from core.labs.find.robots import PARTS, Dial, dials, worthless
from core.labs.find.tasks import ProbeSpec
from core.labs.find.view import ProbeView, verdict
from core.models.catalog import Catalog
from core.statistics import wilson
from tests.core.labs.find.playing import play

SEEDS = range(8)
PRAISE = ("found", "came close", "as much as the true", "more than guessing", "as good as", "was right")


def played(**fields: object) -> ProbeView:
    unused = Path("unused")
    robots = {**LAB.controls(), **LAB.dials()}
    catalog = Catalog(home=unused, journals=unused, read=lambda path: [], controls=robots)
    return play(ProbeSpec.model_validate(fields), catalog)[0]


@pytest.mark.parametrize("robot", list(worthless()))
@pytest.mark.parametrize("category", ["numeric", "strings", "entities", "relations"])
def test_what_tells_nothing_gains_nothing_and_is_not_praised(category: str, robot: str) -> None:
    """In at most 2.5 % of cases, which of these few means in none."""
    for seed in SEEDS:
        difficulty = "medium" if category == "numeric" else "easy"
        view = played(category=category, seed=seed, difficulty=difficulty, model=robot)
        assert view.outcome("repaired") in ("missed", "not tested"), verdict(view)
        for metric in ("components_identified", "interval_iou", "noise_identified", "nmse_success"):
            assert not view.value(metric), (metric, view.value(metric), verdict(view))
        words = " ".join(verdict(view))
        assert not [one for one in PRAISE if one in words.replace("did not find", "").replace("Its words name", "")]


def test_the_lister_lists_every_part_that_there_is() -> None:
    from core.labs.find.functions.source import drawn
    from core.labs.find.named import components_identified

    for seed in range(80):
        function = drawn("numeric", seed, "easy", "repaired")
        assert not components_identified(function, ", ".join(PARTS)).absent  # type: ignore[arg-type]


@pytest.mark.parametrize("share", [0.0, 0.3, 0.7, 1.0])
def test_the_dial_reads_what_it_must(share: float) -> None:
    for seed in (1, 4, 11):
        view = played(seed=seed, difficulty="easy", model=f"control/dial-probe-{share:.1f}", probes=300)
        must = LAB.truth(view)
        assert must is not None and view.value("nmse") == pytest.approx(must, abs=1e-9)
        assert (view.outcome("repaired") == "found") == (share == 1)


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


def test_there_are_eleven_and_none_is_listed() -> None:
    assert len(dials()) == 11 and not any(robot.listed for robot in dials().values())
    assert LAB.truth(played(own="2*x", model="control/straight")) is None
    assert LAB.truth(played(own="2*x", model="control/dial-probe-0.5", probes=20)) is None, "it saw too little"
    kept = [Dial(share).keeps("1", "2") for share in (0.0, 0.5, 1.0)]
    assert kept == sorted(kept) and kept[-1]
