"""What a model's id says about the model."""

import pytest

from core.models.ids import is_control, is_free


@pytest.mark.parametrize(
    ("model", "control", "free"),
    [
        ("control/fickle", True, True),
        ("replay/20260101-ask-1", False, True),
        ("local/smollm2-135m", False, False),
        ("openai/control/x", False, False),
        ("", False, False),
    ],
)
def test_robots_and_replays_are_told_by_their_id(model: str, control: bool, free: bool) -> None:
    assert (is_control(model), is_free(model)) == (control, free)
