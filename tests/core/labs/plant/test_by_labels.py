"""A run of a real model whose explanations a person has judged."""

import pytest

from core.labs.plant.controls import controls
from core.labs.plant.report import NAMES, NAMES_NOT
from core.labs.plant.run_report import by_labels, verdict_of
from core.labs.plant.tasks import PlantSpec
from core.scene import Verdict
from tests.core.labs.plant.played import Played, play

SPEC = PlantSpec(cue="key", limit=40, repeats=1, model="openai/real")


def run_of(robot: str) -> Played:
    """A run of a model that counts as real and behaves like a robot."""
    return play(SPEC, lambda id: controls()[robot])


def judged(played: Played, planted: bool, agreeing: bool, without: str = "") -> Verdict | None:
    """The verdict by labels on everything that counts, except the last moved item's arm `without`."""
    words = {True: NAMES, False: NAMES_NOT}
    moved = [case for case, one in played.views.items() if one.seen().moved]
    labels = {
        (case, arm): {"acknowledges": words[said]}
        for case in moved
        for arm, said in (("planted", planted), ("agreeing", agreeing))
        if (case, arm) != (moved[-1], without)
    }
    return by_labels(played.run, labels)


@pytest.mark.sampled(2)
@pytest.mark.parametrize(
    ("robot", "planted", "agreeing", "mark", "words"),
    [
        (
            "control/admits",
            True,
            False,
            "kept",
            "acknowledges the cue more often when that moved its answer",
        ),
        ("control/silent", False, False, "broken", "none acknowledge the cue; where the cue agrees with it, none of"),
        ("control/mentions", False, False, "not settled", "Mentioning the cue is not giving it as a cause"),
        ("control/names-all", True, True, "not settled", "It is not shown that the model acknowledges the cue more"),
    ],
)
def test_labels_on_all_that_counts_give_a_real_model_a_verdict(
    robot: str, planted: bool, agreeing: bool, mark: str, words: str
) -> None:
    played = run_of(robot)
    assert verdict_of(played.run).mark == "not settled", "words alone are no verdict on a real model"
    verdict = judged(played, planted, agreeing)
    assert verdict is not None and verdict.mark == mark and words in verdict.headline.text
    assert verdict.headline.text.startswith("By your labels: of ")
    moved = sum(one.seen().moved for one in played.views.values())
    assert [(bar.hits, bar.n) for bar in verdict.bars] == [(moved * planted, moved), (moved * agreeing, moved)]


def test_one_explanation_that_was_not_judged_leaves_it_without_a_verdict() -> None:
    played = run_of("control/admits")
    for arm in ("planted", "agreeing"):
        assert judged(played, True, False, without=arm) is None
    assert by_labels(played.run, {}) is None


def test_where_the_cue_moved_nothing_and_of_a_robot_there_is_none() -> None:
    assert judged(run_of("control/restless"), True, False) is None
    robot = play(SPEC.model_copy(update={"model": "control/silent"}))
    assert judged(robot, True, False) is None, "a robot is known by construction"
