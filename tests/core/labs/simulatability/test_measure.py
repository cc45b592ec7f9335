"""The whole lab: on controls, whose precision is known; on a scripted server with faults; on the real local model."""

from __future__ import annotations

import asyncio
import json
import time
from pathlib import Path

import pytest

from core import entry
from core.events import Event, Recorded, Resumed
from core.labs.simulatability import world
from core.labs.simulatability.case import Case, case, verdict
from core.labs.simulatability.controls import expected_precision
from core.labs.simulatability.measure import LAB, draws_of
from core.labs.simulatability.prompts import PackError, read_pack
from core.labs.simulatability.records import Counterfactual
from core.labs.simulatability.tasks import AskSpec
from core.models import local
from core.models.catalog import Catalog
from core.runs.run import execute, recorded
from core.runs.transcript import transcript
from tests.plausible import Plausible
from tests.stub_server import Fault, StubServer


def play(spec: AskSpec, catalog: Catalog | None = None, history: list[Event] | None = None) -> tuple[Case, list[Event]]:
    events: list[Event] = list(history or [])
    asyncio.run(
        execute(LAB, spec, "r", resolve=(catalog or entry.catalog()).get, publish=events.append, history=history or [])
    )
    kept = [event for event in events if event.kind != "token"]
    return case(transcript(kept)), kept


def stub_catalog(server: StubServer, **changes: object) -> Catalog:
    return Catalog(
        home=Path("unused"), journals=Path("unused"), read=lambda path: [], endpoints=[server.config(**changes)]
    )


def stub_spec(**changes: object) -> AskSpec:
    return AskSpec(**{"question": "Can a penguin fly?", "model": "stub/stub-model", "counterfactuals": 6, **changes})


@pytest.mark.parametrize("robot", ["control/steadfast", "control/fickle"])
@pytest.mark.parametrize("question", ["Can a penguin fly?", "Can an eagle fly?", "Can a whale breathe underwater?"])
@pytest.mark.parametrize("method", ["cot", "posthoc"])
def test_a_control_has_the_precision_that_its_world_says(robot: str, question: str, method: str) -> None:
    found, _ = play(AskSpec(question=question, model=robot, method=method))
    texts = [row.counterfactual.text for row in found.counted() if row.counterfactual]
    expected = expected_precision(robot, question, texts, world.load())
    for rules in ("paper", "repaired"):
        score = found.told.score("precision", rules)
        assert score is not None and score.of == 10
        assert (score.n, score.value) == (expected.simulatable, expected.matches / expected.simulatable)
        if robot == "control/steadfast":
            assert score.value == 1
    assert found.told.status == "completed" and found.told.failures == []


def test_fickle_is_betrayed_by_the_birds_that_cannot_fly() -> None:
    found, _ = play(AskSpec(question="Can a penguin fly?", model="control/fickle"))
    score = found.told.score("precision", "repaired")
    assert score is not None and score.value is not None and score.value < 1
    assert "misled you" in verdict(found)


def test_vague_leaves_everything_undefined_and_nothing_in_error() -> None:
    found, _ = play(AskSpec(question="Can a penguin fly?", model="control/vague"))
    for metric in ("precision", "generality_bleu", "generality_cosine", "generality_jaccard"):
        for rules in ("paper", "repaired"):
            score = found.told.score(metric, rules)
            assert score is not None and score.value is None and score.n == 0 and score.of == 10
    assert {row.outcome("repaired") for row in found.counted()} <= {"cannot guess", "dropped"}
    assert "explains nothing" in verdict(found)


def test_the_lab_runs_on_controls_in_under_a_second() -> None:
    play(AskSpec(question="Can a penguin fly?", model="control/fickle"))  # loads world, BLEU and encoder
    began = time.process_time()
    play(AskSpec(question="Can a penguin fly?", model="control/fickle"))
    assert time.process_time() - began < 1


def test_every_draw_is_accounted_for() -> None:
    found, _ = play(AskSpec(question="Can a penguin fly?", model="control/fickle", counterfactuals=20))
    score = found.told.score("precision", "repaired")
    assert score is not None
    outcomes = [row.outcome("repaired") for row in found.counted()]
    assert len(outcomes) == score.of == 20
    uncounted = [row for row in found.counted() if row.outcome("repaired") not in ("as expected", "misled")]
    assert all(row.dropped("repaired") for row in uncounted)
    assert score.n + len(uncounted) == score.of
    assert any(drop.reason == "duplicate" for drop in found.told.drops)


def test_calls_that_fail_are_no_verdict_on_the_explanation() -> None:
    with StubServer(Plausible(), faults={1: None}, always=Fault("bad_request", words="no")) as server:
        found, _ = play(stub_spec(), stub_catalog(server))
    score = found.told.score("precision", "repaired")
    assert score is not None and score.value is None
    assert "none of the 6 new questions could be written, asked and read" in verdict(found)
    assert "explains nothing" not in verdict(found)


def test_two_generators_take_turns_and_repeat_nothing() -> None:
    spec = AskSpec(
        question="Can a penguin fly?", model="control/fickle", generators=("control/steadfast", "control/fickle")
    )
    assert [draw.generator for draw in draws_of(spec).values()][:4] == ["control/steadfast", "control/fickle"] * 2
    found, _ = play(spec)
    kept = [row.counterfactual for row in found.counted() if row.counterfactual]
    assert len(kept) == 10, "with two pools there are spare draws for the duplicates"
    assert len({one.text for one in kept}) == 10
    assert {one.generator for one in kept} == {"control/steadfast", "control/fickle"}


def test_blind_generators_never_see_the_explanation() -> None:
    found, events = play(AskSpec(question="Can a penguin fly?", model="control/fickle", blind=True))
    rows = [row.counterfactual for row in found.counted() if row.counterfactual]
    assert {one.operation for one in rows} <= {"negation", "lexical", "resemantic", "insert"}
    asked = [event for event in events if event.kind == "asked" and event.role == "generator"]
    assert asked and all("All birds can fly" not in message.content for one in asked for message in one.messages)


def test_the_two_halves_of_a_row_never_share_a_conversation() -> None:
    _, events = play(AskSpec(question="Can a penguin fly?", model="control/fickle", counterfactuals=3))
    for event in events:
        if event.kind == "asked" and event.role == "answerer":
            assert all("penguin" not in message.content for message in event.messages[1:])


@pytest.mark.parametrize("method", ["cot", "posthoc", "forced"])
def test_preferences_run_on_controls(method: str) -> None:
    spec = AskSpec(
        task="shp",
        method=method,
        context="My plant droops. What can I do?",
        response_1="Water it when the soil is dry to a finger's depth, and keep it out of the noon sun.",
        response_2="Plants droop.",
        model="control/steadfast",
    )
    found, _ = play(spec)
    assert found.told.status == "completed"
    score = found.told.score("precision", "repaired")
    assert score is not None and score.of == 6 and score.n >= 4
    assert method == "forced" or score.value == 1


def test_forced_defends_the_answer_it_did_not_give() -> None:
    found, events = play(AskSpec(question="Can an eagle fly?", method="forced", model="control/steadfast"))
    assert found.starter is not None
    assert (found.starter.answer_paper, found.starter.answer_repaired) == ("no", "no")
    natural = next(event for event in events if event.kind == "answered")
    assert natural.text.startswith("yes")


def test_outside_its_world_a_control_offers_questions_that_it_knows() -> None:
    found, _ = play(AskSpec(question="Is the moon made of cheese?", model="control/fickle"))
    assert found.told.status == "failed"
    failure = found.told.failures[0]
    assert failure.error == "OutsideWorld" and failure.hint.count("?") == 3


def test_votes_are_taken_and_counted() -> None:
    found, _ = play(AskSpec(question="Can a penguin fly?", model="control/fickle", votes=3, counterfactuals=3))
    simulations = [row.simulation for row in found.counted() if row.simulation]
    assert simulations and all(len(one.calls) == len(one.votes) == 3 for one in simulations)


def test_counterfactuals_by_hand_are_tested_and_never_counted() -> None:
    spec = AskSpec(
        question="Can a penguin fly?", model="control/fickle", counterfactuals=3, extra=("Can an ostrich fly?",)
    )
    found, events = play(spec)
    row = found.rows["hand-01"]
    assert row.by_hand and row.outcome("repaired") == "misled"
    score = found.told.score("precision", "repaired")
    assert score is not None and score.of == 3

    later = recorded("r", Counterfactual(text="Can a kakapo fly?", origin="hand"), "hand-02")
    again, more = play(spec, history=[*events, later])
    assert again.rows["hand-02"].outcome("repaired") == "misled"
    asked = [event for event in more[len(events) + 1 :] if event.kind == "asked"]
    assert {event.item for event in asked} == {"hand-02"}, "nothing that was answered is asked again"


def test_a_server_with_faults_loses_nothing_and_every_reason_is_told() -> None:
    # Calls run side by side, so which call meets which fault is chance; that each is told is not.
    faults = {
        3: Fault("rate_limited", wait=0.05),
        5: Fault("server_error"),
        7: Fault("cut"),
        9: Fault("broken_json"),
        11: Fault("stall"),
        13: Fault("empty"),
        15: Fault("filtered"),
        17: Fault("too_long"),
    }
    with StubServer(Plausible(), faults=faults) as server:
        found, events = play(stub_spec(), stub_catalog(server, timeout=2.0, retries=1))
    assert found.told.status == "completed"
    errors = {event.error for event in events if event.kind == "failed"}
    assert errors >= {"EmptyAnswer", "ContentFiltered", "ContextTooLong"}
    score = found.told.score("precision", "repaired")
    assert score is not None and score.of == 6
    for row in found.counted():
        assert row.outcome("repaired") in ("as expected", "misled") or row.dropped("repaired")
    failed_items = {drop.item for drop in found.told.drops if drop.reason == "error"}
    assert failed_items and all(drop.detail for drop in found.told.drops if drop.reason == "error")

    with StubServer(Plausible()) as healthy:
        again, more = play(stub_spec(), stub_catalog(healthy), history=events)
    assert again.told.status == "completed" and not any(drop.reason == "error" for drop in again.told.drops)
    assert isinstance(more[len(events)], Resumed)


def test_the_same_seed_makes_the_same_run() -> None:
    def texts(seed: int) -> list[str]:
        found, _ = play(AskSpec(question="Can a penguin fly?", model="control/fickle", seed=seed))
        return [row.counterfactual.text for row in found.counted() if row.counterfactual]

    assert texts(1) == texts(1)
    assert texts(1) != texts(2)


def test_sampling_is_the_papers() -> None:
    with StubServer(Plausible()) as server:
        play(stub_spec(counterfactuals=2, seed=7), stub_catalog(server))
        bodies = [seen.body for seen in server.seen]
    by_role = {
        "simulator": [body for body in bodies if "Now it is asked:" in body["messages"][-1]["content"]],
        "generator": [body for body in bodies if body["temperature"] == 1],
    }
    assert {(body["temperature"], body["top_p"], body["max_tokens"]) for body in by_role["generator"]} == {(1, 1, 50)}
    assert sorted(body["seed"] for body in by_role["generator"]) == [7, 8], "each draw has a seed of its own"
    assert {(body["temperature"], body["max_tokens"], tuple(body["stop"])) for body in by_role["simulator"]} == {
        (0, 200, ("\n",))
    }
    rest = [body for body in bodies if body not in by_role["generator"] + by_role["simulator"]]
    assert {(body["temperature"], body["max_tokens"], tuple(body["stop"])) for body in rest} == {(0, 200, ("\n\n",))}


def test_a_prompt_pack_takes_the_place_of_the_prompts(datasets: Path) -> None:
    pack = str(datasets / "prompt_packs" / "counterfactual_simulatability_prompts.json")
    templates = read_pack(pack)
    assert len(templates) == 10
    assert len(templates["strategyqa-explain-cot"].demonstrations) == 6
    assert len(templates["strategyqa-counterfactual"].demonstrations) == 7
    shp = templates["shp-explain-cot"]
    own = json.loads(Path(pack).read_text(encoding="utf-8"))["shp-taskqa-cot"]["dem_examples"][0]
    assert own["response_0"] in shp.render(context="c", response_1="a", response_2="b").messages[1].content
    with StubServer("All birds fly. So the answer is yes.") as server:
        _, events = play(stub_spec(prompts=pack, counterfactuals=1), stub_catalog(server))
    started = events[0]
    assert started.kind == "started" and all(name.startswith("pack:") for name in started.prompts)
    first = server.seen[0].body["messages"]
    assert first[0]["role"] == "system" and "Human:" not in json.dumps(first)
    assert first[-1]["content"] == "Q: Yes or no: Can a penguin fly?\nA:"


@pytest.mark.parametrize(
    ("text", "words"),
    [("not json", "is not JSON"), ("{}", "none of the expected keys"), ('{"strategyqa-taskqa-cot": {}}', "lacks")],
)
def test_a_pack_that_cannot_be_used_says_why(tmp_path: Path, text: str, words: str) -> None:
    (tmp_path / "pack.json").write_text(text)
    with pytest.raises(PackError, match=words):
        read_pack(str(tmp_path / "pack.json"))
    (tmp_path / "pack.json").write_text("{")
    with pytest.raises(PackError, match="is not JSON"):
        read_pack(str(tmp_path / "pack.json"))
    with pytest.raises(PackError, match="cannot be opened"):
        read_pack(str(tmp_path / "missing.json"))


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"question": "   "}, "There is no question"),
        ({"task": "shp"}, "a post and two responses"),
        ({"generators": ("a", "b", "c")}, "At most two"),
        ({"counterfactuals": 21}, "20"),
    ],
)
def test_a_specification_that_cannot_run_says_why(changes: dict[str, object], words: str) -> None:
    with pytest.raises(ValueError, match=words):
        stub_spec(**changes)


@pytest.mark.local_model
def test_the_real_local_model_on_three_questions_of_strategyqa(datasets: Path) -> None:
    items = json.loads((datasets / "strategyqa" / "dev.json").read_text(encoding="utf-8"))[:3]
    try:
        for item in items:
            spec = AskSpec(
                question=item["question"],
                gold="yes" if item["answer"] else "no",
                model="local/smollm2-135m",
                counterfactuals=3,
            )
            found, events = play(spec)
            assert found.told.status == "completed"
            assert found.starter is not None and found.starter.answer_repaired in ("yes", "no", "neither")
            answered = [event for event in events if event.kind == "answered"]
            assert answered and all(event.text and event.usage.completion_tokens for event in answered)
            score = found.told.score("precision", "repaired")
            assert score is not None and score.of == 3
            print(f"{item['question']}: {verdict(found)} ({score.value}, {score.n} of {score.of})")
    finally:
        local.stop_all()


def test_what_is_recorded_names_the_calls_that_made_it() -> None:
    _, events = play(AskSpec(question="Can a penguin fly?", model="control/fickle", counterfactuals=4))
    calls = {event.call for event in events if event.kind == "answered"}
    for event in events:
        if isinstance(event, Recorded):
            named = event.data.get("calls") or [event.data["call"]]
            assert set(named) <= calls
