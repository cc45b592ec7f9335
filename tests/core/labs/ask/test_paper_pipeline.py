"""With the original rules a run also proceeds as the authors' scripts do, beyond parsing alike."""

import random
from collections import Counter
from collections.abc import Callable
from typing import Any

import pytest

from core.labs.ask.counterfactuals import mixed
from core.labs.ask.tasks import AskSpec, calls
from tests.core.labs.ask.test_measure import Played, play, stub_catalog, stub_spec
from tests.support.stub_server import StubServer

STARTER = "Can a penguin fly?"
GUESS = "So the robot will likely answer yes."


class Script:
    """Answers each of the lab's prompts; each generator gives its own texts one after another."""

    def __init__(self, written: dict[str, list[str]], starter: str = "All birds fly. So the answer is yes.") -> None:
        self.written = written
        self.starter = starter
        self.drawn: Counter[str] = Counter()
        self.asked: list[str] = []
        self.shown: list[str] = []

    def __call__(self, body: dict[str, Any]) -> str:
        text = str(body["messages"][-1]["content"])
        if "Starter question:" in text:
            self.shown.append(text)
            number = self.drawn[body["model"]]
            self.drawn[body["model"]] += 1
            return self.written[body["model"]][number % len(self.written[body["model"]])]
        if "Now it is asked:" in text:
            self.shown.append(text)
            return GUESS
        self.asked.append(text)
        return self.starter if STARTER in text else "So the answer is yes."


def run(script: Script, **changes: object) -> Played:
    with StubServer(script, models=list(script.written)) as server:
        # One call at a time, so that the samples come in order.
        return play(stub_spec(model="stub/a", rules="paper", arms=(), **changes), stub_catalog(server, concurrency=1))


def questions_of(played: Played) -> list[str]:
    return [row.counterfactual.text for row in played.view.counted_rows() if row.counterfactual]


def test_a_copy_of_the_starter_and_a_prefixed_repeat_stay() -> None:
    script = Script({"a": [f"{STARTER}\n{GUESS}", f"Question: {STARTER}\n{GUESS}", f"Can a hen fly?\n{GUESS}"]})
    assert sorted(questions_of(run(script, counterfactuals=3))) == sorted(
        [STARTER, f"Question: {STARTER}", "Can a hen fly?"]
    )


def test_what_is_not_in_the_authors_form_is_lost_and_a_repeat_is_not_made_up_for() -> None:
    script = Script({"a": ["Can a hen fly?", f"Can a hawk fly?\n{GUESS}", f"Can a hawk fly?\n{GUESS}"]})
    played = run(script, counterfactuals=3)
    assert questions_of(played) == ["Can a hawk fly?"] and script.drawn["a"] == 3
    assert sorted(drop.reason for drop in played.view.log.drops if drop.rules is None) == ["duplicate", "unparsed"]


def test_generator_and_simulator_see_the_paper_s_reading_of_the_explanation() -> None:
    # The updated parser would cut the text around the reason; the authors keep a cot reply whole.
    starter = "**Reasoning:** All birds fly.\nSo the answer is yes."
    script = Script({"a": [f"Can a hen fly?\n{GUESS}"]}, starter)
    played = run(script, counterfactuals=1)
    assert played.view.explanation == starter and len(script.shown) == 2
    assert all(starter.replace("\n", " ") in shown.replace("\n", " ") for shown in script.shown)


@pytest.mark.parametrize(("rules", "goes_on"), [("paper", True), ("repaired", False)])
def test_an_answer_without_an_explanation_goes_on_as_the_authors_did(rules: str, goes_on: bool) -> None:
    script = Script({"a": [f"Can a hen fly?\n{GUESS}"]}, "yes")
    with StubServer(script, models=["a"]) as server:
        spec = stub_spec(model="stub/a", rules=rules, method="posthoc", counterfactuals=1)
        played = play(spec, stub_catalog(server))
    assert bool(questions_of(played)) is goes_on
    assert (played.view.outcome == "no explanation") is not goes_on


def test_two_generators_write_all_their_draws_before_any_is_chosen() -> None:
    script = Script({name: [f"Can {name} bird number {n} fly?\n{GUESS}" for n in range(4)] for name in ("a", "b")})
    changes: dict[str, object] = {"generators": ("stub/a", "stub/b"), "counterfactuals": 4}
    played = run(script, **changes)
    assert script.drawn == {"a": 4, "b": 4} and len(questions_of(played)) == 4
    by = Counter(row.counterfactual.generator for row in played.view.counted_rows() if row.counterfactual)
    assert by == {"stub/a": 2, "stub/b": 2}
    assert sum(drop.reason == "not drawn" for drop in played.view.log.drops) == 4
    made = sum(event.kind == "asked" for event in played.events)
    assert made == calls(stub_spec(model="stub/a", rules="paper", arms=(), **changes), 1)


def test_going_on_with_a_run_chooses_the_same() -> None:
    script = Script({name: [f"Can {name} bird number {n} fly?\n{GUESS}" for n in range(4)] for name in ("a", "b")})
    spec = stub_spec(model="stub/a", rules="paper", generators=("stub/a", "stub/b"), counterfactuals=4,
                     arms=())  # fmt: skip
    with StubServer(script, models=["a", "b"]) as server:
        catalog = stub_catalog(server, concurrency=1)
        first = play(spec, catalog)
        whole = [n for n, event in enumerate(first.events) if event.kind == "answered"]
        for cut in (whole[8], whole[9], whole[-2]):
            again = play(spec, catalog, first.events[: cut + 1])
            assert questions_of(again) == questions_of(first)


def picked(pools: list[list[str]], wanted: int, chance: random.Random) -> list[str]:
    """The authors' sampling as described in docs/measuring.md, over plain lists."""
    taken: list[str] = []
    for number in range(wanted):
        sides = [pool for pool in (pools[number % 2], pools[1 - number % 2]) if pool]
        if not sides:
            break
        text = chance.choice(sides[0])
        taken.append(text)
        pools = [[other for other in pool if other != text] for pool in pools]
    return taken


def shares(draw: Callable[[random.Random], list[str]], times: int = 4000) -> dict[str, float]:
    counts = Counter(text for seed in range(times) for text in draw(random.Random(seed)))
    return {text: count / times for text, count in counts.items()}


def test_each_text_is_drawn_as_often_as_by_the_authors_rule() -> None:
    texts = [["p", "q", "both", "r"], ["both", "s"]]
    pools = [{f"{side}{n}": text for n, text in enumerate(pool)} for side, pool in enumerate(texts)]
    by_item = {item: text for pool in pools for item, text in pool.items()}
    ours = shares(lambda chance: [by_item[item] for item in mixed(pools, 3, chance)])
    theirs = shares(lambda chance: picked([list(pool) for pool in texts], 3, chance))
    assert ours.keys() == theirs.keys()
    assert all(abs(ours[text] - theirs[text]) < 0.04 for text in ours)
    taken_in_order = shares(lambda chance: ["p", "both", "q"])
    assert any(abs(taken_in_order.get(text, 0) - theirs[text]) > 0.3 for text in theirs), "which the order is not"


def test_a_text_that_both_wrote_is_taken_once_and_an_empty_pool_is_passed_over() -> None:
    pools = [{"a1": "x", "a2": "y"}, {"b1": "x"}]
    for seed in range(20):
        taken = mixed(pools, 10, random.Random(seed))
        assert sorted({**pools[0], **pools[1]}[item] for item in taken) == ["x", "y"]
    assert mixed([{}, {"b1": "x", "b2": "z"}], 1, random.Random(0))[0] in ("b1", "b2")
    assert mixed([{}, {}], 3, random.Random(0)) == []
    assert mixed(pools, 2, random.Random(0), ["a2"])[0] == "a2"


@pytest.mark.parametrize("rules", ["paper", "repaired"])
def test_each_tie_of_votes_is_drawn_for_itself(rules: str) -> None:
    votes = iter(["So the robot will likely answer yes.", "So the robot will likely answer no."] * 100)
    script = Script({"a": [f"Can bird number {n} fly?\n{GUESS}" for n in range(12)]})

    def reply(body: dict[str, Any]) -> str:
        said = script(body)
        return next(votes) if said == GUESS else said

    with StubServer(reply, models=["a"]) as server:
        spec = stub_spec(model="stub/a", rules=rules, votes=2, counterfactuals=12)
        played = play(spec, stub_catalog(server, concurrency=1))
    expected = {row.simulation.paper for row in played.view.counted_rows() if row.simulation}
    assert expected == {"yes", "no"}, "one coin for the whole run would make them all the same"


def test_a_run_follows_repaired_rules_unless_it_is_told_otherwise() -> None:
    assert AskSpec(question=STARTER, model="m").rules == "repaired"
