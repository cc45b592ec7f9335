"""Every sentence that Ask shows is a claim about a run. Thousands of runs are drawn, each sentence is held against
a count made here, from what was recorded and without the lab's own readings of it.
"""

from __future__ import annotations

import random
import re
from collections import Counter

import pytest
from scipy.stats import binomtest

from core.events import Dropped, Rules, Started
from core.labs.simulatability.lab import narrate
from core.labs.simulatability.records import Answer, ArmSimulation, Counterfactual, Explanation, Simulation
from core.labs.simulatability.tasks import AskSpec
from core.labs.simulatability.view import AskView, Row, controls, verdict
from core.runs.transcript import CaseLog, Place

GUESSES = ("yes", "no", "unknown", "neither")
SAID = ("yes", "no", "neither")


def drawn(chance: random.Random) -> AskView:
    """A run such as there may be: any mixture of rows, at any stage, stopped in any way."""
    lean = [chance.random() ** 3 for _ in range(4)]
    arms = ("explanation", "none") if chance.random() < 0.5 else ("explanation",)
    rows: dict[str, Row] = {}
    for number in range(chance.choice([0, 1, 2, 3, 8, 20])):
        item = f"cf-{number:02}"
        row = rows[item] = Row(item)
        if chance.random() < lean[0]:
            reason = chance.choice(["error", "unparsed", "duplicate", "copy of the starter", "not drawn"])
            row.drops.append(Dropped(run="r", item=item, reason=reason))
            continue
        paper = chance.random() < 0.9
        row.counterfactual = Counterfactual(
            text=f"Is it {number}?", paper=paper, repaired=not paper or chance.random() < 0.9
        )
        if chance.random() < lean[1]:
            if chance.random() < 0.7:
                row.drops.append(Dropped(run="r", item=item, reason="error"))
            continue
        guess = chance.choice(GUESSES if chance.random() < lean[2] else GUESSES[:2])
        said = chance.choice(SAID) if chance.random() < lean[3] else guess if guess in SAID else "yes"
        row.simulation = Simulation(simulator="s", paper=chance.choice([guess, "neither"]), repaired=guess)
        if arms and chance.random() < 0.9:
            lucky = chance.choice([guess, said, *GUESSES]) if lean[0] < 0.3 else said
            row.controls["none"] = ArmSimulation(simulator="s", arm="none", paper=lucky, repaired=lucky)
        row.answer = Answer(call="c", paper=chance.choice([said, "neither"]), repaired=said)
    for number in range(chance.choice([0, 0, 1])):
        hand = Counterfactual(text="Is it mine?", origin="hand")
        own = Simulation(simulator="s", paper="yes", repaired="yes")
        rows[f"hand-{number:02}"] = Row(
            f"hand-{number:02}", hand, own, None, Answer(call="c", paper="no", repaired="no")
        )
    status = chance.choice([None, "completed", "completed", "completed", "cancelled", "failed"])
    explained = chance.choice(["Since it is so.", "Since it is so.", None])
    starter = Explanation(
        call="c", task="strategyqa", method="cot", question="Is it?", answer_paper="yes", answer_repaired="yes",
        explanation_paper="yes", explanation_repaired=explained,
    )  # fmt: skip
    spec = AskSpec(question="Is it?", model="m", rules=chance.choice(["repaired", "repaired", "paper"]), arms=arms)
    log = CaseLog("question", [Place()], Started(run="r", lab="simulatability", spec={}, seed=0), status, {})
    return AskView(log, spec, starter if rows or chance.random() < 0.7 else None, rows)


def counted(view: AskView, rules: Rules) -> Counter[str]:
    """How the rows that were drawn ended, told from the records alone."""
    ends: Counter[str] = Counter()
    for row in view.rows.values():
        one = row.counterfactual
        if one is not None and one.origin == "hand":
            continue
        if one is None or row.simulation is None or row.answer is None:
            lost = any(drop.reason in ("error", "unparsed") for drop in row.drops)
            ends["lost" if lost else "set aside" if row.drops else "waiting"] += 1
            continue
        if not (one.paper if rules == "paper" else one.repaired):
            ends["not a question"] += 1
            continue
        guess = row.simulation.paper if rules == "paper" else row.simulation.repaired
        said = row.answer.paper if rules == "paper" else row.answer.repaired
        if guess == "unknown":
            ends["cannot guess"] += 1
        elif guess == "neither" or (said == "neither" and rules == "repaired"):
            ends["unread"] += 1
        else:
            ends["kept" if guess == said else "misled"] += 1
    return ends


def judged_rows(view: AskView, rules: Rules) -> list[tuple[str, str, str]]:
    """Expected, expected without the explanation, and said: of each row that precision counts, from the records."""
    judged = []
    for row in view.rows.values():
        one, without = row.counterfactual, row.controls.get("none")
        if one is None or one.origin == "hand" or row.simulation is None or row.answer is None:
            continue
        paper = rules == "paper"
        guess, said = (x.paper if paper else x.repaired for x in (row.simulation, row.answer))
        if (one.paper if paper else one.repaired) and guess in ("yes", "no") and (paper or said != "neither"):
            judged.append((guess, (without.paper if paper else without.repaired) if without else "", said))
    return judged


def about_the_control(sentence: str, view: AskView, rules: Rules) -> bool:
    """Whether the predictions without the explanation came out as the sentence says."""
    both = [row for row in judged_rows(view, rules) if row[1] in ("yes", "no")]
    if "nothing could be predicted" in sentence:
        return not both
    hits, without = sum(a == c for a, _, c in both), sum(b == c for _, b, c in both)
    numbers = [int(number) for number in re.findall(r"\d+", sentence)]
    if numbers != ([without, len(both)] if len(both) == len(judged_rows(view, rules)) else [without, len(both), hits]):
        return False
    only = sum(a == c != b for a, b, c in both), sum(b == c != a for a, b, c in both)
    surely = binomtest(only[0], sum(only)).pvalue < 0.05 if sum(only) else False
    if sentence.endswith("it did not help."):
        return hits == without or (hits < without and not surely)
    if sentence.endswith("it made them worse."):
        return hits < without and surely
    return hits > without and sentence.endswith("it helped." if surely else "so few may be chance.")


def holds(sentence: str, view: AskView, rules: Rules) -> bool:
    """Whether the run is as the sentence says. Raises AssertionError for a sentence that is not known here."""
    ends = counted(view, rules)
    judged = ends["kept"] + ends["misled"]
    explained = view.starter is not None and (
        view.starter.explanation_paper if view.rules == "paper" else view.starter.explanation_repaired
    )
    numbers = [int(number) for number in re.findall(r"\d+", sentence)]
    if sentence.startswith("Not judged yet"):
        return view.log.status not in ("cancelled", "failed") and (ends["waiting"] > 0 or view.starter is None)
    if "before there was anything to judge" in sentence:
        ended = view.log.status == ("cancelled" if "was stopped" in sentence else "failed")
        return ended and (ends["waiting"] > 0 or view.starter is None)
    if "gave no explanation that could be read" in sentence:
        return not explained and judged == 0
    if "Nothing can be judged" in sentence:
        return judged == 0 and ends["cannot guess"] == 0 and numbers[0] >= ends.total()
    if "That is too little to judge it by" in sentence:
        lost = ends["unread"] + ends["lost"]
        settles = numbers[0] if len(numbers) == 2 else 1
        return judged == 0 and ends["cannot guess"] == settles and 0 < numbers[-1] <= lost + ends["not a question"]
    if "it explains nothing" in sentence:
        settles = numbers[0] if numbers else 1
        return judged == 0 and ends["cannot guess"] == settles and ends["unread"] + ends["lost"] == 0
    if sentence.startswith("Without the explanation"):
        return about_the_control(sentence, view, rules)
    if sentence.startswith("Always guessing"):
        said = [answer for *_, answer in judged_rows(view, rules)]
        (guess,) = re.findall(r"\*(\w+)\*", sentence)
        most = max(said.count("yes"), said.count("no"))
        return numbers == [said.count(guess), len(said)] and said.count(guess) == most >= ends["kept"] > len(said) / 2
    n = judged
    if sentence.startswith("All "):
        return ends["misled"] == 0 and ends["kept"] == n == numbers[0] > 1
    if sentence.startswith("None of"):
        return ends["kept"] == 0 and ends["misled"] == n == numbers[0] > 1
    if sentence.startswith("The one prediction"):
        return n == 1 and (ends["kept"] == 1) is ("did not" not in sentence)
    if "predictions came true" in sentence:
        others = [ends["misled"]] if ends["misled"] > 1 else []
        return numbers == [ends["kept"], n, *others] and 0 < ends["kept"] < n
    raise AssertionError(f"a sentence of which nothing is known here: {sentence}")


@pytest.mark.parametrize("rules", ["paper", "repaired"])
def test_what_is_said_of_a_run_is_so(rules: Rules) -> None:
    shown: Counter[str] = Counter()
    for seed in range(3000):
        view = drawn(random.Random(seed))
        sentence = verdict(view, rules)
        assert holds(sentence, view, rules), (seed, sentence, counted(view, rules), view.log.status)
        shown[re.sub(r"\d+", "N", sentence)] += 1
        for more in controls(view, rules):
            assert holds(more, view, rules), (seed, more, judged_rows(view, rules))
            shown[re.sub(r"\d+", "N", more)] += 1
        for _, line in narrate(view):
            assert line
    assert len(shown) >= 16 and min(shown.values()) >= 1, "the draws reach every kind of sentence"


def test_the_check_would_notice_a_false_sentence() -> None:
    views = [drawn(random.Random(seed)) for seed in range(400)]
    told = [(verdict(view), view) for view in views]
    wrong = sum(not holds(sentence, other, "repaired") for (sentence, _), other in zip(told, views[1:], strict=False))
    assert wrong > 300
