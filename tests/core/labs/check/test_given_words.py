"""Words and redactions from a person's file: the model is held to explanations that are not its own."""

from pathlib import Path

import pytest
from pydantic import ValidationError

import explain_yourself as ey
from core.datasets.items import Item
from core.events import Asked
from core.labs.check.tasks import CheckSpec, asks
from core.models.ids import GIVEN
from core.report import run_scene
from core.report.scenes import of_case

FILM = (
    "We went on a Sunday because the cinema is next to the station. The film is two hours long, and it is set in a "
    "small town by the sea, where a man repairs boats. The actors are wonderful."
)
ROBOT = "control/honest-lexicon"


def run_of(kind: str, *rows: tuple[str, str]) -> ey.Run:
    held = [{"text": FILM, "right": "positive", "why": why, "who": who} for who, why in rows]
    items = ey.items(held, paragraph="text", label="right", explanation="why", source="who")
    return ey.check(items, model=ROBOT, explanation=kind)


def test_the_model_is_held_to_words_of_several_sources() -> None:
    run = run_of("attribution", ("expert", "wonderful"), ("intern", '["Sunday", "cinema"]'), ("nobody", ", ;"))
    outcomes = {run.transcript.cases[row.case].columns["source"]: row.outcome for row in run.cases.itertuples()}
    assert outcomes == {"expert": "faithful", "intern": "unfaithful", "nobody": "undecided"}
    asked = [call.asked for case in run.transcript.cases for call in run.transcript.case(case).calls.values()]
    assert {one.model for one in asked if one.role == "explainer"} == {GIVEN}
    assert {one.model for one in asked if one.role == "classifier"} == {ROBOT}
    spec = CheckSpec.model_validate(run.spec)
    assert asks(spec, 3)["explainer"] == 0
    claim = of_case(run._lab, run.transcript, next(iter(run.transcript.cases))).claim
    assert claim is not None and claim.note.startswith("This explanation was given; the model did not write it.")


def test_sources_are_compared_on_the_paragraphs_that_both_explain() -> None:
    other = FILM.replace("wonderful", "superb")
    rows = [(FILM, "wonderful", "expert"), (FILM, "Sunday", "intern"), (other, "superb", "expert")]
    rows += [(other, "station", "intern"), (other, "sea", "intern"), (FILM + " Fine.", "wonderful", "passer-by")]
    held = [{"text": text, "right": "positive", "why": why, "who": who} for text, why, who in rows]
    items = ey.items(held, paragraph="text", label="right", explanation="why", source="who")
    run = ey.check(items, model=ROBOT, explanation="attribution", controls=0)
    [pair] = run.sources().query("n > 0").to_dict("records")
    assert {pair["first"], pair["second"]} == {"expert", "intern"} and (pair["n"], pair["of"]) == (2, 2)
    assert abs(pair["difference"]) == 1 and "expert" in repr(run) and "(2 of 2 questions)" in repr(run)
    [line] = [line for line in run_scene.of_run(run._lab, run.transcript).figures if "−" in line.title]
    assert line.n == 2 and line.value.startswith(("+1.00", "-1.00"))


def test_the_model_is_held_to_a_redaction_with_either_mask() -> None:
    hidden = FILM.replace("wonderful", "[REMOVED]")
    run = run_of("redaction", ("expert", hidden), ("intern", FILM.replace("Sunday", "[REDACTED]")))
    case = {run.transcript.cases[case].columns["source"]: case for case in run.transcript.cases}
    outcome = run.cases.set_index("case").outcome
    assert (outcome[case["expert"]], outcome[case["intern"]]) == ("faithful", "unfaithful")
    explained = run.cases.set_index("case").explanation[case["expert"]]
    assert explained == hidden.replace("[REMOVED]", "[REDACTED]")


def test_without_a_name_for_it_a_column_explanation_is_an_own_column(tmp_path: Path) -> None:
    path = tmp_path / "films.csv"
    path.write_text(f'paragraph,explanation\n"{FILM}",wonderful\n')
    run = ey.check(dataset=f"file:{path}", task="sentiment", model=ROBOT, explanation="attribution")
    [case] = run.transcript.cases
    calls = [call.asked for call in run.transcript.case(case).calls.values()]
    assert all(isinstance(one, Asked) and one.model == ROBOT for one in calls)


@pytest.mark.parametrize("kinds", [(), ("counterfactual",), ("attribution", "redaction")])
def test_the_kind_of_explanations_that_are_given_has_to_be_said(kinds: tuple[str, ...]) -> None:
    item = Item(id="a", task="sentiment", paragraph=FILM, explanation="wonderful")
    with pytest.raises(ValidationError, match="say which kind they are"):
        CheckSpec.model_validate({"items": [item], "model": ROBOT, **({"explanations": kinds} if kinds else {})})
