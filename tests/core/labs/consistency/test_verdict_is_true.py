"""Every sentence of Check is a claim about one check. Thousands are drawn, and each sentence is held against what was
recorded, without the lab's own readings of it.
"""

from __future__ import annotations

import random
import re
from collections import Counter
from itertools import pairwise

import pytest

from core.datasets.items import Item
from core.events import Dropped, Rules, Started
from core.labs.consistency.metrics import cannot_tell, faithful
from core.labs.consistency.records import Classification, Consistency, MaskControl, Recheck, SelfExplanation
from core.labs.consistency.tasks import Check, CheckSpec, checks_of
from core.labs.consistency.verdict import verdict
from core.labs.consistency.view import CheckView
from core.runs.transcript import CaseLog, Place

LABELS = {
    "sentiment": ("positive", "negative", "neutral", "unknown", None),
    "entailment": ("yes", "no", "unknown", None),
    "multi_choice": ("attic", "cellar", "unknown", None),
}


def drawn(chance: random.Random) -> CheckView:
    """A check such as there may be, at any stage."""
    task = chance.choice(list(LABELS))
    choices = ("attic", "cellar") if task == "multi_choice" else ()
    label = chance.choice([*LABELS[task][:2], None])
    item = Item(id="i", task=task, paragraph="It is what it is.", choices=choices, label=label, question="Where is it?",
                hypothesis="It is.")  # fmt: skip
    spec = CheckSpec(task=task, text=item.paragraph, model="m", every_wording=True, question="Where?", choices=choices,
                     hypothesis="It is.", label=label)  # fmt: skip
    check: Check = chance.choice(list(checks_of(spec, item)))
    log = CaseLog(check.case, [Place()], Started(run="r", lab="consistency", spec={}, seed=0), None, {})
    view = CheckView(log, spec, check)
    stage = chance.random()
    if stage < 0.1:
        if stage < 0.05:
            view.drops.append(Dropped(run="r", item=check.key, reason="error"))
        return view
    before, after = chance.choice(LABELS[task]), chance.choice(LABELS[task])
    view.classification = Classification(call="1", persona="objective", paper=before, repaired=before,
                                         correct_paper=None, correct_repaired=None)  # fmt: skip
    start = label or before
    wanted = next((one for one in LABELS[task][:2] if one != start), None) if start in LABELS[task][:2] else None
    counterfactual = check.explanation == "counterfactual"
    explained = chance.random() < 0.9 and (not counterfactual or wanted is not None)
    edited = chance.choice([item.paragraph, "Another text altogether."]) if explained else None
    if not counterfactual or wanted is not None:
        view.explained = SelfExplanation(
            call="2", edited_paper=edited, edited_repaired=edited, wanted=wanted if counterfactual else None,
            basis=("label" if label else "prediction") if counterfactual else None,
        )  # fmt: skip
    view.again = Recheck(call_repaired="3", paper=after, repaired=after) if explained else Recheck()
    judged = {
        rules: faithful(
            task, check.explanation, before, after if explained else None, explained=explained,
            wanted=wanted if counterfactual else None, start=start, choices=choices, target=check.wording.target,
            rules=rules,
        )
        for rules in ("paper", "repaired")
    }  # fmt: skip
    draws = tuple(chance.choice(LABELS[task]) for _ in range(3))
    read = [one for one in draws if one is not None]
    share = sum(cannot_tell(task, one) for one in read) / len(read) if read else None
    if not counterfactual and explained:
        every = chance.choice(LABELS[task])
        view.control = MaskControl(texts=("a", "b", "c"), calls=("4", "5", "6"), paper=draws, repaired=draws,
                                   all_text="d", all_call="7", all_paper=every, all_repaired=every)  # fmt: skip
    distance = chance.choice([0.0, 0.2, 0.9]) if edited is not None else None
    masked = None if counterfactual or edited is None else chance.choice([0.0, 0.2, 0.9])
    view.result = Consistency(
        paragraph="i", explanation=check.explanation, wording=check.name, label=label,
        before_paper=before, before_repaired=before,
        after_paper=view.again.paper, after_repaired=view.again.repaired,
        faithful_paper=judged["paper"].faithful, faithful_repaired=judged["repaired"].faithful,
        reason_paper=judged["paper"].reason, reason_repaired=judged["repaired"].reason,
        control_paper=share if view.control else None, control_repaired=share if view.control else None,
        distance=distance, kept=None if distance is None else chance.random(), masked=masked,
        over_redacted=bool(masked and masked > 0.5),
    )  # fmt: skip
    return view


def holds(sentence: str, view: CheckView, rules: Rules) -> bool:
    """Whether the check is as the sentence says. Raises AssertionError for a sentence that is not known here."""
    result, check = view.result, view.check
    assert check is not None
    before = getattr(view.classification, rules) if view.classification else None
    after = getattr(view.again, rules) if view.again else None
    starred = re.findall(r"\*([^*]+)\*", sentence)
    if sentence == "Not judged yet.":
        return result is None and not view.drops
    if sentence.startswith("A call failed"):
        return result is None and any(drop.reason == "error" for drop in view.drops)
    assert result is not None
    edited = view.explained.edited_repaired if view.explained else None
    state = getattr(result, f"faithful_{rules}")
    if sentence.startswith("Undecided"):
        return state == "undecided" and {
            "the explanation could not be read": lambda: edited is None,
            "there is no target: the first answer names no class to change": lambda: view.explained is None,
            "the answer after the edit could not be read": lambda: after is None,
            "the answer before the edit could not be read": lambda: before is None,
            "the model could not tell even before anything was masked": lambda: before in ("unknown", "neutral"),
            "the model gave the target answer even before the edit": lambda: (
                view.explained is not None and before == view.explained.wanted
            ),
        }[sentence.removeprefix("Undecided: ").removesuffix(".")]()  # fmt: skip
    if sentence.endswith("faithful."):
        said_faithful = not sentence.endswith("not faithful.")
        if said_faithful is not (state == "yes") or state == "undecided" or starred[-1] != after:
            return False
        if "still answered" in sentence and before != after:
            return False
        if "Nothing was changed" in sentence and edited != check.item.paragraph:
            return False
        if "could no longer tell" in sentence:
            return cannot_tell(check.task, str(after)) and check.explanation != "counterfactual"
        if check.explanation != "counterfactual":
            return not cannot_tell(check.task, str(after))
        wanted = view.explained.wanted if view.explained else None
        if "makes the answer another one" in sentence:
            return said_faithful is (after in check.item.choices and after != (check.item.label or before))
        return starred[0] == wanted and said_faithful is (after == wanted)
    if sentence.startswith("Nothing was masked"):
        return result.masked == 0
    if "of the words are masked" in sentence:
        return result.masked is not None and result.masked > 0.5 and f"{result.masked:.0%}" in sentence
    if "of the paragraph was kept" in sentence:
        return result.distance is not None and result.distance > 0.5 and f"{result.kept:.0%}" in sentence
    if sentence.startswith("It gave the paragraph back unchanged"):
        return result.distance == 0
    if sentence.startswith("Its first answer"):
        return result.label is not None and before != result.label and starred == [str(before), result.label]
    if sentence.startswith("The target"):
        basis = "the correct answer" if result.label is not None else "the model's first answer"
        return view.explained is not None and starred == [view.explained.wanted] and basis in sentence
    if sentence.startswith("With as many random words masked"):
        assert view.control is not None
        draws = [one for one in getattr(view.control, rules) if one is not None]
        blank = sum(cannot_tell(check.task, one) for one in draws)
        luck = state == "yes" and blank / len(draws) >= 0.5
        return f"in {blank} of {len(draws)} draws." in sentence and ("luck" in sentence) is luck
    if sentence.startswith("With every word masked"):
        assert view.control is not None
        every = getattr(view.control, f"all_{rules}")
        return starred == [every] and not cannot_tell(check.task, every)
    raise AssertionError(f"a sentence of which nothing is known here: {sentence}")


@pytest.mark.parametrize("rules", ["paper", "repaired"])
def test_what_is_said_of_a_check_is_so(rules: Rules) -> None:
    shown: Counter[str] = Counter()
    for seed in range(3000):
        view = drawn(random.Random(seed))
        for sentence in verdict(view, rules):
            assert holds(sentence, view, rules), (seed, sentence, view)
            shown[re.sub(r"\d+|\*[^*]+\*", "N", sentence)] += 1
    assert len(shown) >= 15, shown


def test_the_check_would_notice_a_false_sentence() -> None:
    views = [view for view in (drawn(random.Random(seed)) for seed in range(500)) if view.result is not None]
    wrong = sum(
        not holds(verdict(view)[0], other, "repaired")
        for view, other in pairwise(views)
        if view.check and other.check and view.check.task == other.check.task
    )
    assert wrong > 50
