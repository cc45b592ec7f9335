"""Dials that can fail are read as they must be, and robots that explain nothing gain nothing."""

import tomllib
from math import ceil
from pathlib import Path
from statistics import fmean, stdev
from typing import Any

import pandas as pd
import pytest

from benchmarks.dial import (
    BEGIN,
    CONTROLS,
    READ,
    SPLIT,
    TASKS,
    ask,
    chances_of,
    check,
    expected_coverage,
    explained_by,
    gains,
    helped,
    is_held,
    masks_with_effect,
    played,
    probe,
    seems_to_gain,
    unearned,
)
from core import entry
from core.events import Answered, Recorded
from core.labs.ask import lab as calibration
from core.labs.ask import parse
from core.labs.ask.controls import KINDS, NoisyAsk, WorthlessAsk, noisy, worthless
from core.labs.ask.lab import LAB
from core.labs.ask.tasks import AskSpec
from core.labs.check import controls as lexicon
from core.labs.check import parse as read_label
from core.labs.check.controls import controls
from core.labs.check.controls import worthless as worthless_lexicons
from core.labs.check.lab import LAB as CHECK_LAB
from core.labs.check.tasks import CheckSpec
from core.labs.probe import controls as of_probe
from core.models.robot import ERROR
from core.statistics.intervals import tail_of_binomial
from core.studies import tables
from core.text.stable_random import ANSWERS, GUESSES, LABELS, paraphrase
from core.transcript import transcript

ROOT = Path(__file__).resolve().parents[3]


def near(values: list[float], must: float) -> bool:
    return abs(fmean(values) - must) < 3 * stdev(values) / len(values) ** 0.5


@pytest.mark.thorough
def test_check_reads_what_it_must_read_give_or_take_chance() -> None:
    """Not to the last digit: else the dial could not fail."""
    every = [check(0.9, draw) for draw in range(BEGIN, BEGIN + 14)]
    values = [score.value or 0.0 for score, _ in every]
    assert every[0] != every[1] and every[0][1] == pytest.approx(0.9 * 0.9 + 0.1 * 0.1)
    assert len(set(values)) > 5 and near(values, 0.82) and not near(values, 0.9)
    assert sum(is_held(*one) for one in every) >= 12


def test_ask_reads_what_it_must_read_give_or_take_chance() -> None:
    every = [ask(0.7, draw, limit=20) for draw in range(BEGIN, BEGIN + 4)]
    values = [score.value or 0.0 for score, _ in every]
    assert len(set(values)) > 2 and near(values, 0.66) and sum(is_held(*one) for one in every) >= 3
    assert all(score.n >= 18 for score, _ in every), "hardly a question is lost"


@pytest.mark.parametrize("category", ["entities", "relations"])
def test_probe_reads_what_it_must_read_give_or_take_chance(category: str) -> None:
    """Twelve draws of a share of 0.9 are far from the dial's own share, from guessing, and from a predictor that does
    not err; and no draw is like the next.
    """
    every = [probe(0.9, draw, category) for draw in range(BEGIN, BEGIN + 12)]
    values = [score.value or 0.0 for score, _ in every]
    assert every[0][1] == pytest.approx(0.9 * 0.9 + 0.1 * 0.1 / 2)
    assert len(set(values)) > 3 and near(values, 0.815) and not near(values, 0.95) and not near(values, 1 / 3)
    assert sum(is_held(*one) for one in every) >= 10 and {score.n for score, _ in every} == {20}


@pytest.mark.thorough
@pytest.mark.parametrize("share", [0.3, 0.7, 0.9])
@pytest.mark.parametrize("lab", READ)
def test_its_interval_holds_that_as_often_as_it_says(lab: str, share: float) -> None:
    """In 200 draws of Ask, 2,000 of Check and of Probe.

    How many draws it takes: the exact coverage of these intervals is 0.943 to 0.967 (`expected_coverage`), because a
    share of 20 or 57 zeros and ones takes few values. In 200 draws a coverage of 0.943 to 0.951 comes out below 0.93 by
    chance with a probability of 7 to 17 % (Check at 0.3, 0.7 and 0.9: 7, 7 and 17 %; Probe at 0.3: 9 %), and in at
    least one of the nine cases with 38 %: Probe's 0.91 at 0.3 was such a result. In 2,000 draws it is at most 0.6 %,
    while a true coverage of 0.91 is found with 99.9 %. Ask's is 0.959 to 0.965, so 200 draws are enough (2 %).
    """
    read, robot, trials, times = READ[lab]
    every = [read(share, draw) for draw in range(BEGIN, BEGIN + 200 * times)]
    exact = expected_coverage(every[0][0].n, chances_of(robot(share, BEGIN), trials))
    assert exact > 0.94 and len({score.n for score, _ in every}) == 1
    by_chance = 1 - tail_of_binomial(ceil(0.93 * len(every)), len(every), exact)
    assert by_chance < 0.025, "so few draws cannot tell a correct interval from one that covers too seldom"
    assert fmean(is_held(*one) for one in every) >= 0.93
    assert near([score.value or 0.0 for score, _ in every], every[0][1])


@pytest.mark.sampled(3)
@pytest.mark.parametrize("robot", worthless_lexicons())
def test_in_check_whoever_explains_nothing_gains_nothing(robot: str) -> None:
    assert unearned(robot) == (False, False, False)


@pytest.mark.thorough
@pytest.mark.parametrize("robot", worthless_lexicons())
def test_in_check_whoever_explains_nothing_gains_nothing_whichever_masks_are_drawn(robot: str) -> None:
    """All outcomes of a draw instead of many draws: only the random masks depend on it, as the journals show."""
    for hits in range(CONTROLS + 1):
        with masks_with_effect(hits):
            assert unearned(robot) == (False, False, False), hits
    for task in TASKS:
        first, second = (of_draw(CheckSpec(task=task, model=robot, seed=draw)) for draw in (BEGIN, BEGIN + 1))
        assert first == second and len(first) > 100


def of_draw(spec: CheckSpec) -> dict[tuple[str, str], dict[str, Any]]:
    """What a run records, without the random masks, the shares of these that had the effect, and numbers of calls."""
    found = {}
    for event in played(CHECK_LAB, spec, worthless_lexicons()[spec.model]):
        if isinstance(event, Recorded) and event.record != "maskcontrol" and not event.item.startswith("random-"):
            data = {name: value for name, value in event.data.items() if "call" not in name and "control" not in name}
            found[event.record, event.item + event.case] = data
    return found


def test_who_does_explain_gains_and_is_praised_by_the_same_measure(monkeypatch: pytest.MonkeyPatch) -> None:
    """Else nothing would be shown of the others."""
    monkeypatch.setattr("benchmarks.dial.worthless_lexicons", controls)
    assert unearned("control/honest-lexicon") == (True, True, True)
    for hits, does in ((0, True), (CONTROLS, False)):
        with masks_with_effect(hits):
            assert unearned("control/honest-lexicon")[:2] == (does, does)


def test_it_errs_on_as_many_predictions_as_it_says_apart_with_an_explanation_and_without() -> None:
    robot = NoisyAsk(1.0, 3)
    wrong: dict[str, list[bool]] = {"with": [], "without": []}
    for starter in list(robot.world.known())[::3]:
        asked = {"counterfactual": robot.world.write(starter), "question": "Can a robin fly?", "answer": "yes"}
        told = f"{robot.world.one(starter.thing)} can {starter.ability}."
        with_it = robot._simulate_answer({**asked, "explanation": told[0].upper() + told[1:]})
        without = robot._simulate_answer(asked)
        wrong["with"].append(parse.simulation(with_it, task="strategyqa", rules="repaired") == "no")
        wrong["without"].append(parse.simulation(without, task="strategyqa", rules="repaired") == "no")
    assert len(wrong["with"]) > 400
    for of in wrong.values():
        assert abs(fmean(of) - ERROR) < 3 * (ERROR * (1 - ERROR) / len(of)) ** 0.5
    both = fmean(a and b for a, b in zip(wrong["with"], wrong["without"], strict=True))
    assert both < 0.5 * ERROR, "the same errors in both would cancel out"


def test_every_way_to_say_it_is_read() -> None:
    said = 'The explanation says: "No bird can fly." A robin is a bird. '
    for answer in ("yes", "no"):
        for way in ANSWERS:
            text = f"Birds can fly, except the penguin. A robin is a bird. {paraphrase(answer, [way], 'x')}"
            assert parse.answer(text, method="cot", task="strategyqa", rules="repaired") == answer, way
        for way in GUESSES:
            text = said + paraphrase(answer, [way], "x")
            assert parse.simulation(text, task="strategyqa", rules="repaired") == answer, way
    for way in LABELS:
        for label in ("positive", "negative", "unknown"):
            assert read_label.sentiment(paraphrase(label, [way], "x"), "repaired") == label, way
        for label in ("yes", "no", "unknown"):
            assert read_label.entailment(paraphrase(label, [way], "x"), "repaired") == label, way
        choice = paraphrase('b) "garden"', [way], "x")
        assert read_label.choice(choice, ["attic", "garden"], "repaired") == "garden", way


def test_ways_are_drawn() -> None:
    robot = NoisyAsk(0.7, 1)
    events = played(LAB, AskSpec(dataset="world", limit=6, counterfactuals=3, model=robot.id, exam=False), robot)
    ends = {one.text[-25:] for one in events if isinstance(one, Answered) and "answer" in one.text.lower()}
    assert len(ends) > 8


@pytest.mark.sampled(3)
@pytest.mark.parametrize("kind", KINDS)
def test_who_explains_nothing_gains_nothing_but_for_two_that_fool_this_measure_too(kind: type[WorthlessAsk]) -> None:
    of_one = explained_by(kind, BEGIN, SPLIT)
    state = transcript(of_one)
    assert helped(of_one) is kind.gains
    said = [sentence for case in state.cases for sentence in LAB.view(state.case(case)).sentences()]
    assert any("helped" in sentence for sentence in said) is kind.gains, said
    if not kind.gains:
        events = explained_by(kind, BEGIN)
        found = gains(events)
        assert found["precision"].n >= 10 and not seems_to_gain(found) and not helped(events)
        praised = found["precision"].value or 0.0
        assert praised > 0.6 if kind.id != "control/worthless-both" else praised < 0.6
        assert LAB.summary is not None and "helped" not in LAB.summary(transcript(events))


def test_they_come_with_the_app_in_no_list_and_off_says_nothing_of_a_dial_that_errs() -> None:
    models = entry.catalog().get
    for id in [*noisy(), *worthless(), *lexicon.noisy(), *of_probe.noisy()]:
        assert not getattr(models(id), "listed", True) and models(id).id == id
    frame = pd.DataFrame(
        {
            "lab": "simulatability",
            "model": model,
            "metric": "precision",
            "item": "q",
            "value": 0.5,
            "truth": 0.66,
            "complete": True,
        }
        for model in ("control/noisy-0.7-0", "control/dial-0.7")
    )
    labs = entry.labs()
    assert [sentence.split()[0] for sentence in tables.instrument_faults(labs, frame)] == ["control/dial-0.7"]


def test_the_study_of_the_dial_names_robots_that_there_are() -> None:
    study = tomllib.loads((ROOT / "studies" / "dial.toml").read_text(encoding="utf-8"))
    there = {model for lab in entry.labs().values() for model in (*lab.robots.controls(), *lab.robots.dials())}
    parts = [{"model": [part["spec"].get("model")], **part.get("grid", {})} for part in study["part"]]
    axes = [axis for part in parts for name, axis in part.items() if name in ("model", "who")]
    named = {one["model"] if isinstance(one, dict) else one for axis in axes for one in axis} - {None}
    assert named <= there and {"control/noisy-0.7-0", "control/noisy-lexicon-0.7-0", "control/worthless-yes-0"} <= named
    assert {"control/noisy-probe-0.7-0", "control/says-nothing"} <= named


def test_what_a_noisy_case_must_read_is_known_where_its_explanation_settles_something() -> None:
    robot = noisy()["control/noisy-0.9-0"]
    events = played(LAB, AskSpec(dataset="world", limit=6, counterfactuals=3, model=robot.id, exam=False), robot)
    state = transcript(events)
    truths = [calibration.truth(LAB.view(state.case(case))) for case in state.cases]
    assert truths.count(robot.must_read) >= 4 and set(truths) <= {robot.must_read, None}
