"""The lab's options on the command line."""

from pathlib import Path
from typing import Any

import click
import pytest

from core.commands.labs import parameters, spec_of
from core.labs.check.lab import LAB
from core.labs.check.tasks import CheckSpec, Wording
from tests.core.labs.check.played import DECOY, HONEST, REVIEW

ATTRIBUTION = ("--explanation", "attribution")


def given(*words: str) -> CheckSpec:
    """The specification that the command makes of these words."""
    made: list[Any] = []
    command = click.Command(
        "check", params=parameters(LAB), callback=lambda **given: made.append(spec_of(LAB, given, Path()))
    )
    command.main(list(words), standalone_mode=False)
    return made[0]


def test_options_make_the_specification() -> None:
    assert given("sentiment", "--model", HONEST) == CheckSpec(model=HONEST)
    spec = given("sentiment", "--text", REVIEW.paragraph, "--label", "positive", *ATTRIBUTION, "--model", DECOY)
    assert [item.model_copy(update={"id": "review"}) for item in spec.items] == [REVIEW]
    assert spec.explanations == ("attribution",)
    worded = given("sentiment", "--persona", "you", "--mask", "removed", "--no-mask-sentence", "--short")
    assert worded.wordings == (Wording(persona="you", mask="[REMOVED]", mask_sentence=False, short=True),)
    choices = given("multi_choice", "--text", "p", "--question", "q", "--choice", "a", "--choice", "b")
    assert choices.items[0].choices == ("a", "b") and choices.items[0].question == "q"


@pytest.mark.parametrize(
    ("words", "problem"),
    [
        (("sentiment", "--text", "x", "--dataset", "imdb"), "not both"),
        (("sentiment", "--label", "positive"), "--label goes with --text"),
        (("sentiment", "--controls", "21"), "0<=x<=20"),
        (("sentiment", "--limit", "1000001"), "1<=x<=1000000"),
        (("sentiment", "--max-tokens", "15"), "16<=x<=8192"),
        (("sentiment", "--seed", "-1"), "x>=0"),
        (("weather",), "weather"),
    ],
)
def test_what_cannot_be_run_is_refused(words: tuple[str, ...], problem: str) -> None:
    with pytest.raises((ValueError, click.UsageError)) as raised:
        given(*words)
    assert problem in getattr(raised.value, "message", str(raised.value))


def test_a_data_set_that_is_not_there_is_noticed_before_the_run(tmp_path: Any) -> None:
    assert LAB.check is not None
    LAB.check(CheckSpec(model=HONEST))
    with pytest.raises(ValueError, match="there is nothing at"):
        LAB.check(CheckSpec(model=HONEST, dataset="imdb", path=str(tmp_path / "none")))
