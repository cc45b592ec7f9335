"""What stands behind a case: each call with its prompt, its raw answer, and how either set of rules read it."""

from core.labs.ask.lab import LAB
from core.labs.ask.records import Simulation
from core.labs.ask.report import votes_read
from core.labs.ask.tasks import AskSpec
from core.report import evidence
from core.transcript import transcript
from tests.core.labs.ask.test_measure import play
from tests.core.labs.ask.test_scene import asked


def test_a_card_leads_to_its_prompts_raw_answers_and_readings() -> None:
    case = asked(counterfactuals=2)
    behind = evidence.of_case(LAB, transcript(case.events), "question").calls
    emu = list(case.view.cards())[1]
    assert emu.parts[0].text == "Can an emu fly?"
    by_role = {behind[call].role: {part.label: part.text for part in behind[call].parts} for call in emu.calls}
    said, wrote = by_role["answerer"], by_role["generator"]
    assert said["Raw answer"] == "An emu cannot fly. So the answer is no."
    assert said["Read as"] == "no (original parser), no (updated parser)"
    assert "Can an emu fly?" in said["The question itself"] and "[assistant]" not in said["The question itself"]
    assert said["Exact prompt"].startswith("[system]") and "Can an emu fly?" not in said["Exact prompt"]
    assert wrote["Read as"] == "a question (original parser), a question (updated parser)"
    first = behind["c0001"]
    assert {part.label: part.text for part in first.parts}["Read as"] == "yes (original parser), yes (updated parser)"


def test_each_vote_is_read_by_itself_and_so_is_what_stands_in_for_the_explanation() -> None:
    case = asked(counterfactuals=2, votes=3, arms=("none", "swapped", "question_only"))
    found, calls = case.view.readings(), case.view.log.calls
    row = case.view.rows["cf-01"]
    assert row.simulation is not None and len(row.simulation.calls) == 3
    for call, vote in zip(row.simulation.calls, row.simulation.votes, strict=True):
        assert found[call]["repaired"] == vote
    arms = {call for one in row.controls.values() for call in one.calls}
    assert len(arms) == 9 and all(found[call]["repaired"] for call in arms)
    assert case.view.other is not None and found[case.view.other.call]["repaired"] in ("yes", "no")
    assert found.keys() == calls.keys(), "every call was read"


def test_what_gave_no_question_says_so_and_two_responses_have_a_name() -> None:
    case = asked(counterfactuals=6)
    repeat = next(row for row in case.view.rows.values() if row.counterfactual is None)
    assert not any(call in case.view.readings() for call in repeat.calls), "it was read; it is a repeat"
    pair = play(
        AskSpec(
            task="shp", context="My bread is flat.", response_1="Let it rise 2 hours.", response_2="Baking is an art.",
            model="control/fickle", counterfactuals=1,
        )
    )  # fmt: skip
    assert pair.view.starter is not None
    assert pair.view.readings()[pair.view.starter.call]["repaired"].startswith("response ")


def test_a_vote_that_one_set_of_rules_did_not_read_has_a_reading_by_the_other() -> None:
    votes = Simulation(
        simulator="m", calls=("a", "b", "c"), votes=("yes", "no", "yes"), votes_paper=("no", "yes"), paper="no",
        repaired="yes",
    )  # fmt: skip
    assert list(votes_read(votes).items()) == [
        ("a", {"paper": "no", "repaired": "yes"}), ("b", {"paper": "yes", "repaired": "no"}), ("c", {"repaired": "yes"})
    ]  # fmt: skip
    alone = votes.model_copy(update={"calls": ("a",), "votes": ("yes",), "votes_paper": ("yes",)})
    assert list(votes_read(alone).items()) == [("a", {"paper": "no", "repaired": "yes"})], (
        "of one vote what was expected"
    )
