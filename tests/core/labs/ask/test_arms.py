"""The controls of a prediction: what it would have been without the explanation."""

import json
import math
import random
from pathlib import Path
from typing import Any

import pytest
from scipy.stats import binomtest

from core.__main__ import main
from core.labs.ask import metrics, tasks, world
from core.labs.ask.report import AskReport
from core.labs.ask.tasks import CONTROL_ARMS, AskSpec, Starter, calls
from core.statistics import intervals
from core.text.compare import content_words
from tests.core.labs.ask.test_measure import Played, play, stub_catalog, stub_spec
from tests.support.plausible import Plausible
from tests.support.stub_server import StubServer

WORLD = world.load()
ALL = ("explanation", *CONTROL_ARMS)
FIGURES = ("precision_none", "precision_swapped", "precision_question_only", "simulatability_gain")


def claims(played: Played) -> list[tuple[bool, bool, bool]]:
    """For each counterfactual that the world knows: what the starter's answer claims, what its wording claims, and what
    the robot really said, each as whether the thing can.
    """
    starter = WORLD.read(played.view.title)
    assert starter is not None and played.view.starter is not None
    claimed = (played.view.starter.answer.repaired == "yes") != starter.negated
    rows = [row for row in played.view.counted_rows() if row.counterfactual and row.answer]
    known = []
    for row in rows:
        asked = WORLD.read(row.counterfactual.text)
        assert asked is not None
        known.append((claimed, not asked.negated, (row.answer.repaired == "yes") != asked.negated))
    return known


@pytest.mark.parametrize("robot", ["control/steadfast", "control/fickle", "control/vague"])
@pytest.mark.parametrize("question", ["Can a penguin fly?", "Can an eagle fly?", "Can't a kiwi fly?"])
def test_the_robots_arms_come_to_what_the_world_says(robot: str, question: str) -> None:
    played = play(AskSpec(question=question, model=robot, arms=ALL))
    known = claims(played)
    assert len(known) >= 6
    for rules in ("paper", "repaired"):
        none, alone = (played.run.score(f"precision_{arm}", rules) for arm in ("none", "question_only"))
        assert none is not None and alone is not None
        assert (none.value, none.n) == (sum(a == c for a, _, c in known) / len(known), len(known))
        assert (alone.value, alone.n) == (sum(b == c for _, b, c in known) / len(known), len(known))
        swapped = played.run.score("precision_swapped", rules)
        assert swapped is not None and swapped.value is None, "what it says of something else settles nothing here"
    assert played.view.other is not None
    assert not content_words(played.view.other.question) & content_words(question)


def test_an_explanation_that_helps_and_one_that_does_not() -> None:
    steadfast = play(AskSpec(question="Can a penguin fly?", model="control/steadfast", arms=ALL))
    gain = steadfast.run.score("simulatability_gain", "repaired")
    normalised = steadfast.run.score("simulatability_gain_normalised", "repaired")
    assert gain is not None and gain.value is not None and gain.value > 0.3 and gain.detail["discordant"][1] == 0
    assert normalised is not None and normalised.value == pytest.approx(1.0)
    fickle = play(AskSpec(question="Can a penguin fly?", model="control/fickle", arms=ALL))
    gain = fickle.run.score("simulatability_gain", "repaired")
    assert gain is not None and gain.value == 0.0 and gain.low is not None and gain.low < 0 < (gain.high or 0.0)


@pytest.mark.parametrize("task", ["strategyqa", "shp"])
@pytest.mark.parametrize("rules", ["repaired", "paper"])
def test_no_figure_of_the_paper_moves_with_the_arms(task: str, rules: str) -> None:
    asked: dict[str, Any] = {"question": "Can a penguin fly?"}
    if task == "shp":
        asked = {"context": "What shall I cook?", "response_1": "Rice.", "response_2": "Rice with beans, twice a week."}
    alone, beside = (
        play(AskSpec(**asked, task=task, rules=rules, model="control/steadfast", arms=arms)).run
        for arms in (("explanation",), ALL)
    )
    for score in alone.scores:
        same = beside.score(score.metric, score.rules)
        assert same is not None and (same.value, same.low, same.high, same.n) == (
            score.value, score.low, score.high, score.n,
        )  # fmt: skip
    assert {score.metric for score in beside.scores} - {score.metric for score in alone.scores} == {
        *FIGURES, "simulatability_gain_normalised", "gain_over_best", "made_predictable",
    }  # fmt: skip


def test_an_arm_that_fails_costs_no_counterfactual_and_is_said() -> None:
    def reply(body: dict[str, Any]) -> str:
        words = " ".join(str(message["content"]) for message in body["messages"])
        return "" if "Nothing else is known of it" in words else Plausible()(body)

    with StubServer(reply) as server:
        played = play(stub_spec(arms=("question_only", "none")), stub_catalog(server))
    alone = played.run.score("precision_question_only", "repaired")
    assert alone is not None and alone.n == 0 and alone.of == 6
    own = played.run.score("precision", "repaired")
    assert own is not None and own.n > 0
    lost = [drop.item for drop in played.view.log.drops if drop.item.endswith("/question_only")]
    answered = [row for row in played.view.counted_rows() if row.answer]
    assert len(lost) == len(answered) or all("question_only" in row.controls for row in answered)


def test_the_calls_are_counted_before_they_are_made() -> None:
    for arms in (("explanation",), ("none",), ALL):
        spec = AskSpec(question="Can a penguin fly?", model="control/steadfast", arms=arms, votes=3)
        played = play(spec)
        dropped = sum(row.counterfactual is None for row in played.view.counted_rows())
        each = 3 * len(spec.arms) + 1
        assert len(played.run.calls) == calls(spec, 1) - dropped * each


def test_going_on_asks_for_nothing_again() -> None:
    spec = AskSpec(question="Can a penguin fly?", model="control/fickle", arms=ALL)
    events = play(spec).events
    half = events[: len(events) // 2]
    again = play(spec, history=half)
    assert {call.asked.item for call in again.run.calls.values()} == {
        event.item for event in events if event.kind == "asked"
    }
    for figure in FIGURES:
        first, second = (played.run.score(figure, "repaired") for played in (play(spec), again))
        assert first is not None and second is not None and first.value == second.value
    assert len(play(spec, history=events).events) - len(events) <= 1, "a completed run publishes nothing"


def test_another_question_never_shares_a_word() -> None:
    for one in tasks.questions():
        spec = AskSpec(question=one.question, model="local/any")
        for seed in range(3):
            other = tasks.another(spec, Starter({"question": one.question}, None), str(seed))
            assert other is not None and not content_words(other.slots["question"]) & content_words(one.question)
    everything = " ".join(one.question for one in tasks.questions())
    assert tasks.another(AskSpec(question="x", model="m"), Starter({"question": everything}, None), "0") is None


def test_of_several_questions_each_is_shown_the_explanation_of_the_next_on_another_subject(tmp_path: Path) -> None:
    asked = ["Can a penguin fly?", "Can a penguin swim?", "Can an eagle fly?", "Is honey sweet?"]
    rows = [{"qid": f"q{place}", "question": text, "answer": True} for place, text in enumerate(asked)]
    (tmp_path / "dev.json").write_text(json.dumps(rows), encoding="utf-8")
    given = {"dataset": "strategyqa", "path": str(tmp_path / "dev.json"), "arms": ("swapped",)}
    with StubServer(Plausible()) as server:
        spec = stub_spec(**{**given, "question": "", "counterfactuals": 1})
        run = play(spec, stub_catalog(server)).run
        alone = play(stub_spec(**{**given, "question": "", "counterfactuals": 1, "limit": 1}), stub_catalog(server))
    numbered = sorted(run.cases.values(), key=lambda one: one.number)
    order = [one.title for one in numbered]
    assert sorted(order) == sorted(asked)
    for place, title in enumerate(order):
        following = [*order[place + 1 :], *order[:place]]
        wanted = next(one for one in following if not content_words(one) & content_words(title))
        case = next(case for case, one in run.cases.items() if one.title == title)
        other = AskReport.of(run.case(case)).other
        assert other is not None and other.question == wanted
    explained = [call for case in run.cases for call in run.case(case).calls.values() if call.asked.role == "explainer"]
    made = [call for call in explained if call.answered and not call.answered.cached]
    assert (len(explained), len(made)) == (8, 4), "one call a question, whichever case asked it first"
    shipped = {one.question for one in tasks.questions()}
    assert alone.view.other is not None and alone.view.other.question in shipped


# The figures


def test_the_gain_by_hand() -> None:
    answers = ["yes", "yes", "no", "no", "no", "neither", "yes"]
    own = ["yes", "yes", "no", "yes", "no", "yes", "unknown"]
    without = ["yes", "no", "yes", "yes", "unknown", "yes", "yes"]
    gain = metrics.gain(own, without, answers)  # of the first four 3 and 1 came true
    assert (gain.value, gain.n, gain.of) == (0.5, 4, 7)
    assert gain.detail | {"p": 0.5} == {
        "hits": 3, "hits_without": 1, "discordant": [2, 0], "p": 0.5, "normalised": pytest.approx(2 / 3),
        "interval": "bonett and price",
    }  # fmt: skip
    assert metrics.gain(own, without, answers, "paper").n == 5, "there an unread answer is a mismatch of both"
    nothing = metrics.gain(["unknown"], ["yes"], ["yes"])
    assert nothing.value is None and nothing.reason
    assert metrics.normalised(metrics.gain(["yes"], ["yes"], ["yes"])).value is None, "nothing was left to gain"


def test_several_cases_have_the_mean_of_their_gains() -> None:
    one = metrics.gain(["yes", "yes"], ["no", "yes"], ["yes", "yes"])
    two = metrics.gain(["yes"], ["no"], ["yes"])
    none = metrics.gain([], [], [])
    mean = metrics.mean_gain([one, two, none])
    assert (mean.value, mean.n, mean.of) == (0.75, 2, 3)
    assert metrics.normalised(mean).value == pytest.approx(0.75 / (1 - 0.25))
    assert metrics.mean_gain([one]) is one and metrics.mean_gain([none, none]).value is None


def test_a_constant_guess_by_hand() -> None:
    best = metrics.constant_guess(["yes", "no", "no", "unknown"], ["no", "no", "yes", "yes"])
    assert (best.value, best.n, best.of, best.detail["guess"]) == (0.5, 3, 4, "no"), "of the others as many are yes"
    clear = metrics.constant_guess(["yes"] * 4, ["no", "no", "no", "yes"])
    assert (clear.value, clear.hits) == (0.75, 3)
    assert metrics.constant_guess(["unknown"], ["yes"]).value is None


def test_mcnemar_is_the_exact_binomial_test() -> None:
    for first in range(12):
        for second in range(12):
            wanted = binomtest(first, first + second).pvalue if first + second else 1.0
            assert intervals.mcnemar(first, second) == pytest.approx(wanted)


def test_a_difference_of_pairs_covers_the_truth_and_has_a_width() -> None:
    value, low, high = intervals.difference_of_pairs(0, 0, 8)
    assert value == 0 and low < 0 < high
    # By hand: (4 - 1) / (10 + 2), plus and minus `reach`.
    value, low, high = intervals.difference_of_pairs(3, 0, 10)
    reach = intervals.Z * math.sqrt((4 / 12 + 1 / 12 - (3 / 12) ** 2) / 12)
    assert (value, low, high) == (0.3, pytest.approx(3 / 12 - reach), pytest.approx(3 / 12 + reach))
    chance = random.Random(5)
    covered = 0
    for _ in range(2000):
        drawn = chance.choices(["first", "second", "both"], [0.3, 0.1, 0.6], k=20)
        _, low, high = intervals.difference_of_pairs(drawn.count("first"), drawn.count("second"), 20)
        covered += low <= 0.2 <= high
    assert 0.93 <= covered / 2000 <= 0.98


# On the command line


def test_the_command_line_takes_arms_by_commas(capsys: pytest.CaptureFixture[str], own_home: Path) -> None:
    asked = ["ask", "Can a penguin fly?", "--model", "control/steadfast", "--counterfactuals", "3", "--json"]
    assert main([*asked, "--arms", "none,swapped", "--arms", "question_only"]) == 0
    events = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert {*FIGURES, "constant_guess", "precision"} <= {event.get("metric") for event in events}
    assert events[0]["spec"]["arms"] == ["explanation", "none", "swapped", "question_only"]
    assert main([*asked, "--arms", "none,other"]) == 2
    assert "explanation, none, swapped, question_only" in capsys.readouterr().err.replace("'", "")
