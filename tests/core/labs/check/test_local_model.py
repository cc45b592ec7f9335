"""The real local model in Check: every session is held, whatever it says. Its table is benchmarks/check_local.py."""

import pytest

from core.datasets.items import Item
from core.labs.check.tasks import CheckSpec
from core.models import local
from tests.core.labs.check.played import play

ITEMS = {
    "sentiment": Item(id="s", task="sentiment", paragraph="A wonderful, warm film.", label="positive"),
    "multi_choice": Item(
        id="m",
        task="multi_choice",
        paragraph="Vera walked to the cellar.",
        question="Where is Vera?",
        choices=("attic", "cellar"),
        label="cellar",
    ),
    "entailment": Item(
        id="e", task="entailment", paragraph="The old bridge fell.", hypothesis="A bridge fell.", label="yes"
    ),
}


@pytest.mark.thorough
@pytest.mark.local_model
@pytest.mark.parametrize(
    "task", ["multi_choice", *(pytest.param(task, marks=pytest.mark.thorough) for task in ("sentiment", "entailment"))]
)
def test_a_check_with_the_real_local_model_is_whole(task: str) -> None:
    spec = CheckSpec(
        task=task,
        items=(ITEMS[task],),
        explanations=("attribution",),
        controls=1,
        max_tokens=16,
        model=f"local/{local.SHIPPED}",
    )
    try:
        played = play(spec)
    finally:
        local.stop_all()
    assert played.run.status == "completed" and len(played.views) == 1
    answered = [event for event in played.events if event.kind == "answered"]
    assert answered and all(event.text and event.usage.completion_tokens for event in answered)
    assert all(event.usage.completion_tokens <= 16 for event in answered)
    assert all(row.result is not None for row in played.views.values())
    for metric in ("accuracy", "faithfulness", "faithfulness_control", "faithfulness_gain"):
        score = played.run.score(metric, "repaired")
        assert score is not None and 0 <= score.n <= score.of <= 1
    assert all(view.sentences() for view in played.views.values())
