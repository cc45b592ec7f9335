"""Several evaluators of the same descriptions, and the judge that compares two."""

from typing import Any

import pytest

from core.labs.probe.lab import LAB
from core.labs.probe.report import ProbeReport
from core.labs.probe.tasks import ProbeSpec
from tests.core.labs.probe.playing import play, stub_catalog, stub_spec
from tests.support.stub_server import Fault, StubServer

STRAIGHT, FIRST = "control/straight", "control/picks-the-first"
SPEC = {"category": "entities", "seed": 2, "model": STRAIGHT, "evaluator": STRAIGHT, "triplets": 12}


def figures(view: ProbeReport) -> dict[str, float | None]:
    return {figure.metric: figure.score.value for figure in LAB.studies.extra_figures(view)}


def played(**changes: Any) -> ProbeReport:
    view, _ = play(ProbeSpec.model_validate({**SPEC, **changes}))
    return view


def test_evaluators_that_read_agree_and_one_that_goes_by_position_agrees_by_chance() -> None:
    """By hand: the straight robot knows every word, so it is always right. The other is right where the right word
    comes first, and only there do they agree.
    """
    view = played(evaluators=[FIRST])
    first = [test.correct == 1 for test in view.units.values() if test.about in ("interpretation", "truth")]
    assert len(first) == 24 and 0 < sum(first) < 24
    assert figures(view)["evaluators_agree"] == pytest.approx(sum(first) / 24)
    assert figures(view)["evaluators_kappa"] == pytest.approx(0), "one who always says the same"
    [(made, further)] = LAB.studies.further_figures(view)
    of_truth = [test.correct == 1 for test in view.units.values() if test.about == "truth"]
    assert made == {"evaluator": FIRST} and further.score.value == pytest.approx(sum(of_truth) / 12)
    assert view.value("unit_test_ceiling") == 1, "the first evaluator's figures are its own"
    assert "evaluators_agree" not in figures(played())


def test_a_judge_that_goes_by_position_comes_out_as_worthless_and_one_that_reads_does_not() -> None:
    worthless = figures(played(judge=FIRST, model="control/says-nothing"))
    assert (worthless["judge_control"], worthless["judge_by_order"], worthless["judge_prefers"]) == (0, 1, None)
    reads = played(judge=STRAIGHT, model="control/says-nothing")
    assert len(reads.comparisons) == 4
    assert [figures(reads)[name] for name in ("judge_control", "judge_by_order", "judge_prefers")] == [1, 0, 0]
    # Of two descriptions that fit equally well it takes the first, which is no preference.
    equal = figures(played(judge=STRAIGHT))
    assert (equal["judge_control"], equal["judge_by_order"], equal["judge_prefers"]) == (1, 0.5, None)


def test_a_judge_that_fails_or_cannot_be_read_gives_no_figure() -> None:
    def reply(body: dict[str, Any]) -> str | Fault:
        text = body["messages"][-1]["content"]
        if "Two descriptions" not in text:
            return "[DESCRIPTION]: words about something"
        return Fault(400) if text.index("Description 1") % 2 else "Neither, I would say."

    spec = stub_spec(**{**SPEC, "own": "", "model": "stub/stub-model", "judge": "stub/stub-model", "rounds": 1})
    with StubServer(reply) as server:
        view, _ = play(spec, stub_catalog(server))
    found = figures(view)
    assert found["judge_control"] is found["judge_by_order"] is found["judge_prefers"] is None
    assert {drop.reason for drop in view.log.drops if drop.item.startswith("compare-")} <= {"unparsed", "error"}
    assert view.value("unit_test") is not None


def test_old_specifications_keep_their_content_and_calls_are_counted() -> None:
    spec = ProbeSpec.model_validate(SPEC)
    assert not {"evaluators", "judge"} & spec.model_dump(mode="json").keys()
    more = ProbeSpec.model_validate({**SPEC, "evaluators": [FIRST], "judge": FIRST})
    assert LAB.calls(more, 1) == LAB.calls(spec, 1) + 2 * 12 + 4
    assert more.models == {STRAIGHT, FIRST}
    for wrong in ({"evaluators": [STRAIGHT]}, {"evaluators": [FIRST], "evaluator": ""}):
        with pytest.raises(ValueError, match="evaluator"):
            ProbeSpec.model_validate({**SPEC, **wrong})
