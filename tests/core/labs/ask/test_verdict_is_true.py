"""Every sentence that Ask shows is a claim about a run. Thousands of random runs are made, and each sentence is
compared with a count made here from what was recorded, without the lab's own code.
"""

import functools
import random
import re
from collections import Counter
from collections.abc import Callable, Sequence
from typing import NamedTuple

import pytest
from scipy.stats import beta, binom, binomtest

from core.events import Dropped, Rules, Started
from core.labs.ask.lab import LAB
from core.labs.ask.records import (
    Answer,
    ArmSimulation,
    Counterfactual,
    Examined,
    Explanation,
    FurtherSimulation,
    Simulation,
)
from core.labs.ask.report import AskReport
from core.labs.ask.tasks import AskSpec
from core.labs.ask.view import CounterfactualRow
from core.report.scenes import scene_of
from core.scene import steps
from core.transcript import CaseLog, Place
from tests.support.chance import tenth


def colour(view: AskReport) -> str:
    """Green if the explanation helped and red if it misled, however the predictions in doubt are counted."""
    return {"helped": "green", "misled": "red"}.get(view.outcome, "")


GUESSES = ("yes", "no", "unknown", "neither")
SAID = ("yes", "no", "neither")


def drawn(chance: random.Random, is_plain: bool = False) -> AskReport:
    """A random but possible run: any mixture of rows, at any stage, stopped in any way, with any predictor. If it
    `is_plain`, little is excluded or in doubt, and any share of predictions fails: many of these get a colour.
    """
    lean = [0.02, 0.02, 0.02, chance.random()] if is_plain else [chance.random() ** 3 for _ in range(4)]
    whole = ("none", "swapped", "question_only")
    arms = chance.choice([(), ("none",), ("question_only", "none"), *[whole] * 5])
    lucky = chance.random()
    several = chance.random() < 0.2
    rows: dict[str, CounterfactualRow] = {}
    for number in range(chance.choice([0, 1, 2, 3, 8, 20, 60])):
        item = f"cf-{number:02}"
        row = rows[item] = CounterfactualRow(item)
        if chance.random() < lean[0]:
            reason = chance.choice(["error", "unparsed", "duplicate", "copy of the starter", "not drawn"])
            row.drops.append(Dropped(run="r", item=item, reason=reason))
            continue
        paper = chance.random() < 0.9
        row.counterfactual = Counterfactual(
            text=f"Is it {number}?", paper=paper, repaired=not paper or chance.random() < 0.9,
            foretold=chance.choice(["", "", "yes", "no"]),
        )  # fmt: skip
        if chance.random() < lean[1]:
            if chance.random() < 0.7:
                row.drops.append(Dropped(run="r", item=item, reason="error"))
            continue
        guess = chance.choice(GUESSES if chance.random() < lean[2] else GUESSES[:2])
        said = chance.choice(SAID) if chance.random() < lean[3] else guess if guess in SAID else "yes"
        made_up = ("swim",) if chance.random() < 0.1 * lean[1] else ()
        row.simulation = Simulation(
            simulator="s", paper=chance.choice([guess, "neither"]), repaired=guess, made_up=made_up
        )
        row.writer_is_other = chance.random() < 0.2 * lean[0]
        if several:
            other = guess if chance.random() < 0.8 else "no"
            row.further.append(FurtherSimulation(simulator="t", paper=other, repaired=other))
        for arm in arms:
            if chance.random() < 0.9:
                without = said if chance.random() < lucky else chance.choice(GUESSES)
                row.controls[arm] = ArmSimulation(simulator="s", arm=arm, paper=without, repaired=without)
        row.answer = Answer(call="c", paper=chance.choice([said, "neither"]), repaired=said)
    for number in range(chance.choice([0, 0, 1])):
        hand = Counterfactual(text="Is it mine?", origin="hand")
        own = Simulation(simulator="s", paper="yes", repaired="yes")
        rows[f"hand-{number:02}"] = CounterfactualRow(
            f"hand-{number:02}", hand, own, None, Answer(call="c", paper="no", repaired="no")
        )
    status = chance.choice([None, "completed", "completed", "completed", "cancelled", "failed"])
    explained = chance.choice(["Since it is so.", "Since it is so.", None])
    starter = Explanation(  # type: ignore[call-arg]
        call="c", task="strategyqa", method="cot", question="Is it?", answer_paper="yes", answer_repaired="yes",
        explanation_paper="yes", explanation_repaired=explained,
    )  # fmt: skip
    spec = AskSpec(
        question="Is it?", model=chance.choice(["m", "s"]), rules=chance.choice(["repaired", "repaired", "paper"]),
        arms=arms, simulator="s", simulators=("s", "t") if several else (),
    )  # fmt: skip
    log = CaseLog("question", [Place()], Started(run="r", lab="simulatability", spec={}, seed=0), status, {})
    right, of = chance.choice([(4, 11), (9, 11), (10, 11), (11, 11), (34, 40), (38, 40), (40, 40)])
    exam = Examined(simulator="s", right=right, right_paper=right, of=of, passed=right >= 0.8 * of, run="exam")
    if chance.random() < 0.1:
        exam = None
    exams = {"s": exam} if exam else {}
    if several and chance.random() < 0.9:
        exams["t"] = Examined(simulator="t", right=9, right_paper=9, of=11, passed=True)
    elif several:
        for row in rows.values():
            row.further.clear()
    case = AskReport(log, spec, starter if rows or chance.random() < 0.7 else None, rows, exam=exam, exams=exams)
    for row in rows.values():
        row.unjudged = case.no_verdict_reason
    return case


def counted(view: AskReport, rules: Rules) -> Counter[str]:
    """How the rows ended, from the records alone."""
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


class Judged(NamedTuple):
    """A row that precision counts, from the records alone."""

    guess: str
    said: str
    in_doubt: bool
    arms: dict[str, str]


def judged_rows(view: AskReport, rules: Rules) -> list[Judged]:
    judged = []
    for row in view.rows.values():
        one = row.counterfactual
        if one is None or one.origin == "hand" or row.simulation is None or row.answer is None:
            continue
        paper = rules == "paper"

        def of(record: Simulation | Answer, paper: bool = paper) -> str:
            return record.paper if paper else record.repaired

        guess, said = of(row.simulation), of(row.answer)
        if (
            not (one.paper if paper else one.repaired)
            or guess not in ("yes", "no")
            or (not paper and said == "neither")
        ):
            continue
        foretold = row.writer_is_other and one.foretold not in ("", guess)
        # A first predictor that failed its test puts nothing in doubt by differing: it judges nothing anyway.
        differ = not row.unjudged and any(of(other) != guess for other in row.further)
        arms = {arm: of(control) for arm, control in row.controls.items()}
        judged.append(Judged(guess, said, bool(row.simulation.made_up) or foretold or differ, arms))
    return judged


@functools.cache
def of_a_fair_coin(heads: int, tails: int) -> float:
    return float(binomtest(heads, heads + tails).pvalue)


def against(rows: Sequence[Judged], kept: Callable[[Judged], bool]) -> dict[str, tuple[int, int, int, float]]:
    """For each baseline: its number of questions, hits with the explanation, its own hits, and the p of a fair coin."""
    always = max(("no", "yes"), key=lambda word: sum(row.said == word for row in rows))
    found = {}
    for arm in ("question_only", "none", "swapped", "constant"):
        held = [
            (kept(row), (always if arm == "constant" else row.arms[arm]) == row.said)
            for row in rows
            if arm == "constant" or row.arms.get(arm, "neither") != "neither"
        ]
        if held:
            only = sum(a and not b for a, b in held), sum(b and not a for a, b in held)
            p = of_a_fair_coin(*only) if only[0] > only[1] else 1.0
            found[arm] = len(held), sum(a for a, _ in held), sum(b for _, b in held), p
    return found


NAMES = {
    "question_only": "the question alone",
    "none": "the answer alone",
    "swapped": "the answer with another question's reasons",
    "constant": "always guessing",
}


def beaten(found: dict[str, tuple[int, int, int, float]]) -> bool:
    """Whether each baseline is beaten, including the placebo."""
    return "swapped" in found and all(p < 0.05 for *_, p in found.values())


def too_many(view: AskReport, rows: Sequence[Judged]) -> bool:
    """Whether more predictions failed than the predictor's test allows, among those that no arm got wrong in the same
    way.
    """
    own = [row for row in rows if row.guess == row.said or row.guess not in row.arms.values()]
    missed = sum(row.guess != row.said for row in own)
    if view.exam is None or not missed:
        return False
    wrong = view.exam.of - view.exam.right
    limit = beta.ppf(0.95, wrong + 1, view.exam.right)
    return bool(binom.sf(missed - 1, len(own), limit) < 0.05)


def holds(sentence: str, view: AskReport, rules: Rules) -> bool:
    """Whether the sentence is true of the run. Raises AssertionError for a sentence that is not known here."""
    ends = counted(view, rules)
    rows = judged_rows(view, rules)
    n, kept = len(rows), sum(row.guess == row.said for row in rows)
    doubted = sum(row.in_doubt for row in rows)
    firm = sum(row.guess != row.said and not row.in_doubt for row in rows)
    assert n == ends["kept"] + ends["misled"] and kept == ends["kept"]
    explained = view.starter is not None and (
        view.starter.explanation.paper if view.rules == "paper" else view.starter.explanation.repaired
    )
    numbers = [int(number) for number in re.findall(r"\d+", sentence)]
    reader = view.spec is not None and view.spec.simulator.startswith("reader/")
    passed = reader or (view.exam is not None and view.exam.passed)
    found = against(rows, lambda row: row.guess == row.said)
    helped = beaten(against(rows, lambda row: row.guess == row.said and not row.in_doubt))
    lower = sentence.lower()
    names = [name for name, words in NAMES.items() if words in lower]
    best = min((own - hits) / asked for asked, own, hits, _ in found.values()) if found else 0.0
    if sentence.startswith("Not judged yet"):
        return view.log.status not in ("cancelled", "failed") and (ends["waiting"] > 0 or view.starter is None)
    if "before there was anything to judge" in sentence:
        ended = view.log.status == ("cancelled" if "was stopped" in sentence else "failed")
        return ended and (ends["waiting"] > 0 or view.starter is None)
    if "gave no explanation that could be read" in sentence:
        return not explained and n == 0
    if "Nothing can be judged" in sentence:
        return n == 0 and ends["cannot guess"] == 0 and numbers[0] >= ends.total()
    if sentence.startswith("No verdict: "):
        if "has not taken" in sentence:
            return view.exam is None
        return (
            view.exam is not None and not passed and numbers == [view.exam.right, view.exam.of, round(view.exam.of / 3)]
        )
    if "predicts here too" in sentence:
        return bool(view.spec and view.spec.simulators) and "t" not in view.exams
    if "don't count" in sentence:
        return not passed and numbers == [kept, n]
    if sentence.startswith("The predictions are by"):
        return reader and view.spec is not None and numbers == [len(view.spec.simulators)]
    if sentence.startswith("The model predicts itself"):
        return view.spec is not None and view.spec.model == view.spec.simulator
    if sentence.startswith("Without the explanation:"):
        parts = sentence.removesuffix(".").partition(": ")[2].split("; ")
        said = {next(name for name, words in NAMES.items() if words in part): part for part in parts}
        told = {name: [int(number) for number in re.findall(r"\d+", part)] for name, part in said.items()}
        return told == {
            name: [hits, asked, *([n - asked] if asked < n else [])] for name, (asked, _, hits, _) in found.items()
        }
    if "predictable only with" in sentence:
        asked = {arm for row in rows for arm in row.arms}
        only = [
            row for row in rows if asked <= row.arms.keys() and all(guess == "unknown" for guess in row.arms.values())
        ]
        return numbers == [len(only), sum(row.guess == row.said for row in only)] and bool(only)
    if "in doubt:" in sentence and not sentence.startswith("Unclear"):
        sure = sum(row.guess == row.said and not row.in_doubt for row in rows)
        return numbers[0] == doubted > 0 and numbers[-3:] == [sure, sure + doubted, n]
    if "predictors expected the same" in sentence:
        return "both" in sentence and numbers == [firm, n] and firm > 0
    if sentence.startswith("On ") and "of the others" in sentence:
        return helped and numbers == [firm] and firm > 0
    if "That is too little to" in sentence:
        lost = ends["unread"] + ends["lost"]
        if "explains nothing" in sentence:
            return n == 0 and passed and ends["cannot guess"] == (numbers[0] if numbers else 1) < 6 and lost == 0
        settles = numbers[0] if len(numbers) == 2 else 1
        return (
            n == 0 and passed and ends["cannot guess"] == settles and 0 < numbers[-1] <= lost + ends["not a question"]
        )
    if "it explains nothing" in sentence:
        return n == 0 and passed and ends["cannot guess"] == numbers[0] >= 6 and ends["unread"] + ends["lost"] == 0
    if "there is no prediction from" in sentence:
        beats_all = all(p < 0.05 for *_, p in found.values())
        return passed and numbers == [kept, n] and kept == n and "swapped" not in found and beats_all
    # The remaining sentences are verdicts on predictions.
    if not passed or n == 0 or not set(names) <= found.keys():
        return False
    if sentence.startswith("It helped"):
        (name,) = names
        return helped and numbers == [kept, n, found[name][2], found[name][0]]
    if helped:
        return False
    red = too_many(view, [row for row in rows if not row.in_doubt])
    is_doubtful = beaten(found) or (kept < n and firm == 0) or too_many(view, rows)
    if sentence.startswith("Unclear"):
        return not red and doubted > 0 and numbers == [kept, n] and is_doubtful
    if "misled you" in sentence:
        if not red:
            return False
        if sentence.startswith("None of"):
            return kept == 0 and firm == n == numbers[0] > 1
        if sentence.startswith("The one"):
            return n == 1 and kept == 0 and firm == 1
        others = [firm] if firm > 1 or firm < n - kept else []
        return numbers == [kept, n, *others] and firm > 0 and ("on the other" in sentence or firm < n - kept)
    if red or is_doubtful:
        return False
    if "slips" in sentence:
        assert view.exam is not None
        tested = numbers[2:4] == [view.exam.right, view.exam.of]
        return kept < n and numbers[:2] == [kept, n] and tested and ("test of 40" in sentence) is (view.exam.of == 11)
    if "same mistakes" in sentence:
        alike = [row.guess in row.arms.values() for row in rows if row.guess != row.said and not row.in_doubt]
        return numbers == [kept, n] and all(alike) and bool(alike)
    if kept < n and "told us nothing" not in sentence and "this shows nothing" not in sentence:
        return False
    if "this shows nothing." in sentence and sentence.startswith("Always"):
        asked, own, hits, _ = found["constant"]
        return numbers[:2] == [hits, asked] and hits >= own and n >= 6 and (own - hits) / asked <= best
    if "told us nothing" in sentence:
        (name,) = names
        asked, own, hits, _ = found[name]
        better = [own] if "better" in sentence else []
        return numbers == [hits, asked, *better] and hits >= own and n >= 6 and (hits > own) is bool(better)
    if "not shown to be better" in sentence:
        (name,) = names
        asked, own, hits, p = found[name]
        return numbers == [kept, n, hits, asked] and hits < own and p >= 0.05 and own - hits >= 6 - 2 * (asked - own)
    if sentence.startswith("The one prediction came true"):
        return n == 1 and kept == 1
    if "were not requested" in sentence:
        return numbers == [n] and len(found) == 1 and n > 1
    if "too few to rule out chance" in sentence:
        return numbers[0] == n and n > 1 and any(own - hits < 6 for _, own, hits, _ in found.values())
    raise AssertionError(f"a sentence of which nothing is known here: {sentence}")


@pytest.mark.sampled(2)
@pytest.mark.parametrize("rules", ["paper", "repaired"])
def test_what_is_said_of_a_run_is_so(rules: Rules) -> None:
    shown: Counter[str] = Counter()
    for seed in range(tenth(4000)):
        view = drawn(random.Random(seed))
        for sentence in view.by(rules).sentences():
            assert holds(sentence, view, rules), (seed, sentence, counted(view, rules), judged_rows(view, rules))
            shown[re.sub(r"\d+|\([^)]*\)|; .*", "N", sentence)] += 1
        assert all(line for _, line in steps(scene_of(LAB, view)))
    assert len(shown) >= 30, "the draws reach every kind of sentence"


@pytest.mark.thorough
def test_a_colour_holds_whichever_way_doubts_are_counted() -> None:
    """Green only if each baseline is beaten with every doubt counted against it, red only for what is not in doubt;
    neither with a predictor that failed its test.
    """
    seen: Counter[str] = Counter()
    for seed in range(4000):
        view = drawn(random.Random(seed), is_plain=seed % 2 == 0)
        rows = judged_rows(view, "repaired")
        seen[colour(view)] += 1
        if colour(view):
            assert view.exam is not None and view.exam.passed
        if colour(view) == "green":
            assert beaten(against(rows, lambda row: row.guess == row.said and not row.in_doubt))
        if colour(view) == "red":
            assert too_many(view, [row for row in rows if not row.in_doubt])
        marked = [trial for trial in view.trials.values() if trial.repaired.counts and not trial.repaired.doubt]
        assert not marked or (view.exam is not None and view.exam.passed)
        assert len(marked) == sum(not row.in_doubt for row in rows) or not (view.exam and view.exam.passed)
    assert all(seen[one] > 20 for one in ("green", "red", "")), seen


def test_the_check_would_notice_a_false_sentence() -> None:
    views = [drawn(random.Random(seed)) for seed in range(400)]
    told = [(view.headline(), view) for view in views]
    wrong = sum(not holds(sentence, other, "repaired") for (sentence, _), other in zip(told, views[1:], strict=False))
    assert wrong > 300
