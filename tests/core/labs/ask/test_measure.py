"""The whole lab, with controls whose precision is known, with a scripted server with faults, and with the real local
model.
"""

import asyncio
import json
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

import pytest

from core import entry
from core.events import Event, Frozen, Recorded, Resumed
from core.labs.ask import world
from core.labs.ask.controls import expected_precision
from core.labs.ask.lab import LAB
from core.labs.ask.prompts import PromptPackError, read_pack
from core.labs.ask.records import Counterfactual, Examined, Simulation
from core.labs.ask.report import AskReport
from core.labs.ask.tasks import AskSpec, draws_of
from core.labs.base.lab import Prerequisite
from core.models import local
from core.models.catalog import Catalog
from core.runs import driver
from core.runs.context import recorded
from core.runs.engine import RunIO, RunRequest, UserInput, execute
from core.transcript import Transcript, transcript
from tests.support.plausible import Plausible
from tests.support.stub_server import Fault, StubServer


class Played(NamedTuple):
    """A run with its first case in the form in which it is shown."""

    run: Transcript
    view: AskReport
    events: list[Event]


def play(
    spec: AskSpec,
    catalog: Catalog | None = None,
    history: list[Event] | None = None,
    additions: Sequence[UserInput] = (),
    mend: bool = False,
    sat: Mapping[str, int] | None = None,
) -> Played:
    """Play a run. `sat` gives the scores out of 11 that models got in the qualification test."""
    events: list[Event] = list(history or [])
    resolve = (catalog or entry.catalog()).get

    async def known() -> dict[str, Frozen]:
        """A robot's result in the qualification test is known from its rules."""
        found: dict[str, Frozen] = {}
        for item, one in driver.prerequisites_of(LAB, spec).items():
            if not isinstance(one, Prerequisite):
                found[item] = one
            elif (right := (sat or {}).get(one.spec.model)) is not None:  # type: ignore[attr-defined]
                found[item] = Examined(
                    simulator=one.spec.model,  # type: ignore[attr-defined]
                    right=right,
                    right_paper=right,
                    of=11,
                    passed=right >= 9,  # type: ignore[attr-defined]
                )
        return found

    going = RunRequest(LAB, spec, "r", history=history or [], additions=additions, mend=mend)
    asyncio.run(execute(going, RunIO(resolve, events.append, prerequisites=None if history else known)))
    kept = [event for event in events if event.kind != "token"]
    run = transcript(kept)
    return Played(run, AskReport.of(run.case(run.only)), kept)


def stub_catalog(server: StubServer, **changes: object) -> Catalog:
    return Catalog(
        home=Path("/dev/null/unused"),
        journals=Path("/dev/null/unused"),
        read=lambda path: [],
        endpoints=[server.config(**changes)],
    )


def stub_spec(**changes: object) -> AskSpec:
    return AskSpec(**{"question": "Can a penguin fly?", "model": "stub/stub-model", "counterfactuals": 6, **changes})


@pytest.mark.parametrize("robot", ["control/steadfast", "control/fickle"])
@pytest.mark.parametrize("question", ["Can a penguin fly?", "Can an eagle fly?", "Can a whale breathe underwater?"])
@pytest.mark.parametrize("method", ["cot", "posthoc"])
def test_a_control_has_the_precision_that_its_world_says(robot: str, question: str, method: str) -> None:
    run, view, _ = play(AskSpec(question=question, model=robot, method=method))
    texts = [row.counterfactual.text for row in view.counted_rows() if row.counterfactual]
    matches, simulatable = expected_precision(robot, question, texts, world.load())
    for rules in ("paper", "repaired"):
        score = run.score("precision", rules)
        assert score is not None and score.of == 10
        assert (score.n, score.value) == (simulatable, matches / simulatable)
        if robot == "control/steadfast":
            assert score.value == 1
    assert run.status == "completed" and run.failures == []


def test_fickle_is_betrayed_by_the_birds_that_cannot_fly() -> None:
    run, view, _ = play(AskSpec(question="Can a penguin fly?", model="control/fickle"))
    score = run.score("precision", "repaired")
    assert score is not None and score.value is not None and score.value < 1
    assert "misled you" in view.headline()


def test_vague_leaves_everything_undefined_and_nothing_in_error() -> None:
    run, view, _ = play(AskSpec(question="Can a penguin fly?", model="control/vague"))
    for metric in ("precision", "generality_bleu", "generality_cosine", "generality_jaccard"):
        for rules in ("paper", "repaired"):
            score = run.score(metric, rules)
            assert score is not None and score.value is None and score.n == 0 and score.of == 10
    assert {row.outcome for row in view.counted_rows()} <= {"cannot guess", "dropped"}
    assert "explains nothing" in view.headline()


def test_the_lab_runs_on_controls_in_under_a_second() -> None:
    play(AskSpec(question="Can a penguin fly?", model="control/fickle"))  # loads world, BLEU and encoder
    began = time.process_time()
    play(AskSpec(question="Can a penguin fly?", model="control/fickle"))
    assert time.process_time() - began < 1


def test_every_draw_is_accounted_for() -> None:
    run, view, _ = play(AskSpec(question="Can a penguin fly?", model="control/fickle", counterfactuals=20))
    score = run.score("precision", "repaired")
    assert score is not None
    outcomes = [row.outcome for row in view.counted_rows()]
    assert len(outcomes) == score.of == 20
    uncounted = [row for row in view.counted_rows() if row.outcome not in ("as expected", "misled")]
    assert all(row.dropped for row in uncounted)
    assert score.n + len(uncounted) == score.of
    assert any(drop.reason == "duplicate" for drop in run.drops)


def test_calls_that_fail_are_no_verdict_on_the_explanation() -> None:
    with StubServer(Plausible(), faults={1: None}, always=Fault("bad_request", words="no")) as server:
        run, view, _ = play(stub_spec(), stub_catalog(server))
    score = run.score("precision", "repaired")
    assert score is not None and score.value is None
    assert "none of the 6 new questions could be written, asked and read" in view.headline()
    assert "explains nothing" not in view.headline()


def test_two_generators_take_turns_and_repeat_nothing() -> None:
    spec = AskSpec(
        question="Can a penguin fly?", model="control/fickle", generators=("control/steadfast", "control/fickle")
    )
    assert [draw.generator for draw in draws_of(spec).values()][:4] == ["control/steadfast", "control/fickle"] * 2
    _, view, _ = play(spec)
    kept = [row.counterfactual for row in view.counted_rows() if row.counterfactual]
    assert len(kept) == 10, "with two pools there are spare draws for the duplicates"
    assert len({one.text for one in kept}) == 10
    assert {one.generator for one in kept} == {"control/steadfast", "control/fickle"}


def test_blind_generators_never_see_the_explanation() -> None:
    _, view, events = play(AskSpec(question="Can a penguin fly?", model="control/fickle", blind=True))
    rows = [row.counterfactual for row in view.counted_rows() if row.counterfactual]
    assert {one.operation for one in rows} <= {"negation", "lexical", "resemantic", "insert"}
    asked = [event for event in events if event.kind == "asked" and event.role == "generator"]
    assert asked and all("All birds can fly" not in message.content for one in asked for message in one.messages)


def test_the_two_halves_of_a_row_never_share_a_conversation() -> None:
    *_, events = play(AskSpec(question="Can a penguin fly?", model="control/fickle", counterfactuals=3))
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
    run, _, _ = play(spec)
    assert run.status == "completed"
    score = run.score("precision", "repaired")
    assert score is not None and score.of == 6 and score.n >= 4
    assert method == "forced" or score.value == 1


def test_forced_defends_the_answer_it_did_not_give() -> None:
    _, view, events = play(AskSpec(question="Can an eagle fly?", method="forced", model="control/steadfast"))
    assert view.starter is not None
    assert (view.starter.answer.paper, view.starter.answer.repaired) == ("no", "no")
    natural = next(event for event in events if event.kind == "answered")
    assert natural.text.startswith("yes")


def test_outside_its_world_a_control_offers_questions_that_it_knows() -> None:
    run, _, _ = play(AskSpec(question="Is the moon made of cheese?", model="control/fickle"))
    assert run.status == "failed"
    failure = run.failures[0]
    assert failure.error == "OutsideWorld" and failure.hint.count("?") == 3


def test_votes_are_taken_and_counted() -> None:
    _, view, _ = play(AskSpec(question="Can a penguin fly?", model="control/fickle", votes=3, counterfactuals=3))
    simulations = [row.simulation for row in view.counted_rows() if row.simulation]
    assert simulations and all(len(one.calls) == len(one.votes) == 3 for one in simulations)


def test_counterfactuals_by_hand_are_tested_and_never_counted() -> None:
    spec = AskSpec(
        question="Can a penguin fly?", model="control/fickle", counterfactuals=3, extra=("Can an ostrich fly?",)
    )
    run, view, events = play(spec)
    row = view.rows["hand-01"]
    assert row.by_hand and row.outcome == "misled"
    score = run.score("precision", "repaired")
    assert score is not None and score.of == 3

    later = UserInput("question", Counterfactual(text="Can a kakapo fly?", origin="hand"), "hand-{n}")
    _, again, more = play(spec, history=events, additions=[later])
    assert again.rows["hand-02"].outcome == "misled"
    asked = [event for event in more[len(events) + 1 :] if event.kind == "asked"]
    assert {event.item.partition("/")[0] for event in asked} == {"hand-02"}, "nothing that was answered is asked again"


def test_the_readers_precision_is_about_the_drawn_rows_alone() -> None:
    """A person who adds a question by hand knows the explanation, so guessing it well or badly proves nothing."""
    by_hand = ("Can an ostrich fly?", "Can a kakapo fly?")
    spec = AskSpec(question="Can a penguin fly?", model="control/fickle", counterfactuals=3, extra=by_hand)
    _, view, events = play(spec)
    assert view.mine.n == 0, "nobody has guessed"

    def guesses(right: bool, items: list[str]) -> list[Event]:
        said = {item: row.answer.repaired for item, row in view.rows.items() if item in items and row.answer}
        other = {"yes": "no", "no": "yes"}
        made = [
            Simulation(simulator="ann", paper=guess, repaired=guess)
            for guess in (answer if right else other[answer] for answer in said.values())
        ]
        return [recorded("r~ann", one, item, case="question", by="ann") for item, one in zip(said, made, strict=True)]

    drawn = [item for item, row in view.rows.items() if not row.by_hand and row.answer]
    hand = [item for item, row in view.rows.items() if row.by_hand]
    assert len(hand) == 2 and drawn
    for right, value in ((True, 1.0), (False, 0.0)):
        said = [*guesses(right, drawn), *guesses(not right, hand)]
        case = heard(events, said)
        mine = case.mine
        assert (mine.value, mine.n, mine.of) == (value, len(drawn), len(drawn))
        counting = [row for row in case.counted_rows() if row.counts]
        mine, theirs = case.against_reader()
        assert counting and (mine.value, mine.n, theirs.n) == (value, len(counting), len(counting))
        assert theirs.hits == sum(row.outcome == "as expected" for row in counting)
    only_by_hand = heard(events, guesses(True, hand)).mine
    assert (only_by_hand.value, only_by_hand.n, only_by_hand.of) == (None, 0, 0)


def heard(events: list[Event], said: list[Event]) -> AskReport:
    """The case with a person's comments, from a journal of their own."""
    state = transcript(events)
    for event in said:
        state.apply_annotation(event)
    return AskReport.of(state.case(state.only))


def test_a_server_with_faults_loses_nothing_and_every_reason_is_reported() -> None:
    # Calls are concurrent, so chance decides which call meets which fault; each fault must be reported.
    faults = {
        # Six generators follow the starter, so the first of these faults can meet the calls in any order.
        2: Fault("empty"),
        3: Fault("filtered"),
        4: Fault("too_long"),
        5: Fault("rate_limited", wait=0.05),
        7: Fault("server_error"),
        9: Fault("cut"),
        11: Fault("broken_json"),
        13: Fault("stall"),
    }
    with StubServer(Plausible(), faults=faults) as server:
        run, view, events = play(stub_spec(), stub_catalog(server, timeout=4.0, retries=1))
    lost = {drop.item for drop in run.drops if drop.reason == "error"}
    assert run.status == ("failed" if {row.item for row in view.counted_rows()} <= lost else "completed")
    errors = {event.error for event in events if event.kind == "failed"}
    assert errors >= {"EmptyAnswer", "ContentFiltered", "ContextTooLong"}
    score = run.score("precision", "repaired")
    assert score is not None and score.of == 6
    for row in view.counted_rows():
        assert row.outcome in ("as expected", "misled") or row.dropped
    failed_items = {drop.item for drop in run.drops if drop.reason == "error"}
    assert failed_items and all(drop.detail for drop in run.drops if drop.reason == "error")

    with StubServer(Plausible()) as healthy:
        rerun, _, more = play(stub_spec(), stub_catalog(healthy), history=events, mend=True)
    assert rerun.status == "completed" and not any(drop.reason == "error" for drop in rerun.drops)
    assert isinstance(more[len(events)], Resumed)


def test_the_same_seed_makes_the_same_run() -> None:
    def texts(seed: int) -> list[str]:
        _, view, _ = play(AskSpec(question="Can a penguin fly?", model="control/fickle", seed=seed))
        return [row.counterfactual.text for row in view.counted_rows() if row.counterfactual]

    assert texts(1) == texts(1)
    assert texts(1) != texts(2)


def test_sampling_is_the_papers() -> None:
    with StubServer(Plausible()) as server:
        play(stub_spec(counterfactuals=2, seed=7, arms=()), stub_catalog(server))
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
    first, *rest = [body for body in bodies if body not in by_role["generator"] + by_role["simulator"]]
    # After the first answer the app knows whether the model thinks, and so that a stop can cut no thinking.
    assert first is bodies[0] and "stop" not in first and (first["temperature"], first["max_tokens"]) == (0, 200)
    assert {(body["temperature"], body["max_tokens"], tuple(body["stop"])) for body in rest} == {(0, 200, ("\n\n",))}


def test_a_model_that_reasons_in_paragraphs_may_finish() -> None:
    """Its answers may be as long as the setting says, and a blank line does not end them; the predictor is asked as
    usual.
    """
    whole = "Penguins are birds.\n\nAll birds can fly. So the answer is yes."
    with StubServer(whole) as server:
        spec = stub_spec(counterfactuals=2, arms=(), max_tokens=900)
        played = play(spec, stub_catalog(server))
        bodies = [seen.body for seen in server.seen]
    assert played.view.explanation == whole
    free = [body for body in bodies if "stop" not in body]
    assert free and {(body["temperature"], body["max_tokens"]) for body in free} == {(0, 900)}
    assert all(body["stop"] for body in bodies if body["max_tokens"] != 900)
    assert "max_tokens" not in stub_spec().model_dump(), "studies and journals of before keep their names"


def test_a_temperature_is_that_of_the_model_that_is_tested() -> None:
    """It uses the run's seed; generators and predictors are asked as usual."""
    with StubServer(Plausible()) as server:
        spec = stub_spec(counterfactuals=2, arms=(), seed=7, temperature=0.7, top_p=0.9)
        play(spec, stub_catalog(server))
        bodies = [seen.body for seen in server.seen]
    own = [body for body in bodies if body["temperature"] == 0.7]
    assert {(body["top_p"], body["max_tokens"], body["seed"]) for body in own} == {(0.9, 200, 7)}
    assert [body.get("stop") for body in own] == [None, ["\n\n"], ["\n\n"]], "none before it is known not to think"
    rest = sorted(body["temperature"] for body in bodies if body not in own)
    assert (len(own), rest) == (3, [0, 0, 1, 1]), "the starter and two answers; two predictions, two new questions"
    plain = stub_spec().model_dump()
    assert not {"temperature", "top_p"} & plain.keys(), "studies and journals of before keep their names"


def test_a_prompt_pack_takes_the_place_of_the_prompts(datasets: Path) -> None:
    pack = str(datasets / "prompt_packs" / "own.json")
    templates = read_pack(pack)
    assert len(templates) == 10
    assert len(templates["strategyqa-explain-cot"].demonstrations) == 2
    assert len(templates["strategyqa-counterfactual"].demonstrations) == 1
    shp = templates["shp-explain-cot"]
    own = json.loads(Path(pack).read_text(encoding="utf-8"))["shp-taskqa-cot"]["dem_examples"][0]
    assert own["response_0"] in shp.render(context="c", response_1="a", response_2="b").messages[1].content
    with StubServer("All birds fly. So the answer is yes.") as server:
        *_, events = play(stub_spec(prompts=pack, counterfactuals=1), stub_catalog(server))
    started = events[0]
    assert started.kind == "started"
    ours = {name for name in started.prompts if not name.startswith("pack:")}
    assert ours == {"strategyqa-simulate-none", "strategyqa-simulate-question-only"}, "packs have no such arms"
    first = server.seen[0].body["messages"]
    assert first[0]["role"] == "system" and "Human:" not in json.dumps(first)
    assert first[-1]["content"] == "Q: Yes or no: Can a penguin fly?\nA:"


@pytest.mark.outside_data
def test_the_authors_pack_can_be_read(outside: Path) -> None:
    templates = read_pack(str(outside / "prompt_packs" / "counterfactual_simulatability_prompts.json"))
    assert len(templates) == 10
    assert len(templates["strategyqa-explain-cot"].demonstrations) == 6
    assert len(templates["strategyqa-counterfactual"].demonstrations) == 7


@pytest.mark.parametrize(
    ("text", "words"),
    [("not json", "is not JSON"), ("{}", "none of the expected keys"), ('{"strategyqa-taskqa-cot": {}}', "lacks")],
)
def test_a_pack_that_cannot_be_used_says_why(tmp_path: Path, text: str, words: str) -> None:
    (tmp_path / "pack.json").write_text(text)
    with pytest.raises(PromptPackError, match=words):
        read_pack(str(tmp_path / "pack.json"))
    (tmp_path / "pack.json").write_text("{")
    with pytest.raises(PromptPackError, match="is not JSON"):
        read_pack(str(tmp_path / "pack.json"))
    with pytest.raises(PromptPackError, match="cannot be opened"):
        read_pack(str(tmp_path / "missing.json"))


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"question": "   "}, "There is no question"),
        ({"task": "shp"}, "a post and two responses"),
        ({"generators": ("a", "b", "c")}, "At most two"),
        ({"counterfactuals": 61}, "60"),
    ],
)
def test_a_specification_that_cannot_run_says_why(changes: dict[str, object], words: str) -> None:
    with pytest.raises(ValueError, match=words):
        stub_spec(**changes)


@pytest.mark.local_model
@pytest.mark.parametrize("others", ["control/fickle", pytest.param("local/smollm2-135m", marks=pytest.mark.thorough)])
def test_a_run_with_the_real_local_model_is_whole(others: str) -> None:
    """`others` write and simulate the counterfactual, with the longest of the prompts."""
    spec = AskSpec(
        question="Can a penguin fly?",
        gold="no",
        model="local/smollm2-135m",
        generators=(others,),
        simulator=others,
        counterfactuals=1,
    )
    try:
        run, view, events = play(spec)
    finally:
        local.stop_all()
    assert run.status == "completed"
    assert view.starter is not None and view.starter.answer.repaired in ("yes", "no", "neither")
    answered = [event for event in events if event.kind == "answered" and event.model == spec.model]
    assert len(answered) >= 2 and all(event.text and event.usage.completion_tokens for event in answered)
    score = run.score("precision", "repaired")
    assert score is not None and score.of == 1
    assert view.headline()


def test_what_is_recorded_names_the_calls_that_made_it() -> None:
    *_, events = play(AskSpec(question="Can a penguin fly?", model="control/fickle", counterfactuals=4))
    calls = {event.call for event in events if event.kind == "answered"}
    for event in events:
        if isinstance(event, Recorded) and event.record not in ("begun", "result", "examined"):
            named = event.data.get("calls") or [event.data["call"]]
            assert set(named) <= calls


def test_several_questions_are_several_cases_and_the_figures_their_means(tmp_path: Path) -> None:
    questions = ["Can a penguin fly?", "Can an eagle fly?", "Can a trout swim?"]
    entries = [{"qid": f"q/{n}", "question": text, "answer": n == 1} for n, text in enumerate(questions)]
    (tmp_path / "dev.json").write_text(json.dumps(entries))
    spec = AskSpec(dataset="strategyqa", path=str(tmp_path), model="control/fickle", counterfactuals=4)
    run, _, events = play(spec)
    assert run.status == "completed" and sorted(run.cases) == ["q-0", "q-1", "q-2"]
    views = {case: AskReport.of(run.case(case)) for case in run.cases}
    assert {one.title for one in views.values()} == set(questions)
    assert {one.starter.gold for one in views.values() if one.starter} == {"yes", "no"}
    own = {score.case: score.value for score in run.scores if score.metric == "precision" and score.rules == "paper"}
    whole = run.score("precision", "paper")
    values = [own[case] for case in run.cases if own[case] is not None]
    assert whole is not None and whole.value == pytest.approx(sum(values) / len(values))
    assert (whole.n, whole.of) == (len(values), 3)
    _, _, more = play(spec, history=events)
    assert more == events, "a completed run publishes nothing when it is resumed"


def test_a_question_of_a_data_set_is_measured_as_it_would_be_alone(tmp_path: Path) -> None:
    (tmp_path / "dev.json").write_text(json.dumps([{"qid": "a", "question": "Can a penguin fly?", "answer": False}]))
    one = AskSpec(dataset="strategyqa", path=str(tmp_path), model="control/fickle", counterfactuals=5)
    alone, among = (
        play(AskSpec(question="Can a penguin fly?", gold="no", model="control/fickle", counterfactuals=5)),
        play(one),
    )
    assert alone.view.trials == among.view.trials
    assert {(s.metric, s.rules): s.value for s in alone.run.scores} == {
        (s.metric, s.rules): s.value for s in among.run.scores
    }


def test_votes_are_read_by_both_rules() -> None:
    _, view, _ = play(AskSpec(question="Can a penguin fly?", model="control/fickle", votes=3, counterfactuals=2))
    simulations = [row.simulation for row in view.counted_rows() if row.simulation]
    assert simulations and all(len(one.votes_paper) == len(one.votes) == 3 for one in simulations)


def test_a_run_whose_questions_all_failed_is_not_completed_and_goes_on_once_that_is_mended() -> None:
    server = StubServer(Plausible(), always=Fault("server_error"))
    server.faults = {1: None}
    with server:
        failed = play(stub_spec(arms=("none",)), stub_catalog(server, retries=0))
        assert failed.run.status == "failed" and "all 6 questions failed" in failed.run.failures[0].message
        server.always = None
        mended = play(stub_spec(arms=("none",)), stub_catalog(server, retries=0), failed.events)
    assert mended.run.status == "completed" and mended.run.score("precision", "repaired").n > 0


def test_one_question_that_was_answered_makes_a_measurement() -> None:
    server = StubServer(Plausible(), always=Fault("server_error"))
    # The starter, then one generator, one simulator, one answerer.
    server.faults = dict.fromkeys((1, 2, 8, 9))  # type: ignore[assignment]
    with server:
        played = play(stub_spec(), stub_catalog(server, retries=0, concurrency=1))
    outcomes = {row.outcome for row in played.view.counted_rows()}
    assert (played.run.status == "completed") is bool(outcomes & {"as expected", "misled", "cannot guess", "unread"})
