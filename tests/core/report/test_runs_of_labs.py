"""The result of a run of several questions or checks, counted again from its cases."""

import json
from pathlib import Path

import pytest

from core.labs.ask.lab import LAB as ASK
from core.labs.ask.tasks import AskSpec
from core.labs.check.lab import LAB as CHECK
from core.labs.check.tasks import CheckSpec
from core.report import scenes
from core.report.run_scene import of_run
from tests.core.labs.ask.test_measure import play as play_ask
from tests.core.labs.check.played import play as play_check

ARMS = ("explanation", "question_only", "none")


@pytest.mark.parametrize(("robot", "mark"), [("fickle", "in doubt"), ("steadfast", "in doubt"), ("vague", None)])
def test_the_bars_of_ask_are_its_new_questions_counted_again(tmp_path: Path, robot: str, mark: str | None) -> None:
    animals = ("penguin", "bat", "eagle")
    rows = [{"qid": one, "question": f"Can a {one} fly?", "answer": one != "penguin", "facts": []} for one in animals]
    (tmp_path / "dev.json").write_text(json.dumps(rows), encoding="utf-8")
    spec = AskSpec(
        model=f"control/{robot}", dataset="strategyqa", path=str(tmp_path), counterfactuals=6, arms=ARMS, exam=False
    )
    run = play_ask(spec).run
    made = of_run(ASK, run)
    cases = [ASK.view(run.case(case)) for case in run.cases]
    rows_of = [[row for row in one.counted_rows() if row.counts] for one in cases]
    hits = sum(row.outcome == "as expected" for rows in rows_of for row in rows)
    assert made.verdict.mark == mark and len(made.tiles) == 3 and made.one == "question"
    if robot == "vague":
        assert made.verdict.bars == () and not any(rows_of)
        return
    own, *others = made.verdict.bars
    assert (own.own, own.hits, own.n) == (True, hits, sum(map(len, rows_of)))
    assert [bar.label for bar in others] == ["question alone", "answer alone", "best fixed guess"]
    against = [one for case in cases for one in case.compared_with_baselines() if one.name == "none"]
    assert (others[1].hits, others[1].n) == (sum(one.hits for one in against), sum(one.n for one in against))


@pytest.mark.parametrize(("robot", "mark"), [("honest-lexicon", "kept"), ("decoy-lexicon", "broken")])
def test_the_bars_of_check_are_its_checks_and_masks_counted_again(robot: str, mark: str) -> None:
    spec = CheckSpec(task="sentiment", model=f"control/{robot}", limit=8, explanations=("redaction",), controls=2)
    run = play_check(spec).run
    made = of_run(CHECK, run)
    views = [CHECK.view(run.case(case)) for case in run.cases]
    kept = sum(one.outcome == "faithful" for one in views)
    own, at_random = made.verdict.bars
    assert (own.own, own.hits, own.n) == (True, kept, len(views)) and made.verdict.mark == mark
    shares = [one.contribution.control or 0.0 for one in views]
    assert (at_random.hits, at_random.n) == (round(2 * sum(shares)), 2 * len(views))
    assert at_random.wins == (sum(shares) >= kept)
    titles = {figure.title: figure for figure in made.figures}
    assert titles["Faithfulness with the original parser"].help.endswith("which parser reads the answers.")


def test_a_run_of_one_question_has_the_bars_of_its_question() -> None:
    """It is listed among runs of several questions in a comparison side by side."""
    run = play_ask(AskSpec(question="Can a penguin fly?", model="control/fickle", arms=ARMS, exam=False)).run
    scene = next(scenes.of_run(ASK, run))
    assert run.planned == 1 and scene.verdict is not None
    alone, together = scene.verdict.bars, of_run(ASK, run).verdict.bars
    assert len(together) > 1 and any(bar.wins for bar in together)
    assert [(bar.hits, bar.n, bar.wins) for bar in together] == [(bar.hits, bar.n, bar.wins) for bar in alone]
