"""Every sentence of Check is a claim about one check, or about a run. Random checks and runs are made, small and large,
with ties, all excluded, or nothing parsed, and each sentence is compared with what was recorded, without the lab's
own code. `docs/measuring.md` §3.10 says for each sentence when it is shown.
"""

import random
import re
from collections import Counter
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from core.datasets.items import Item
from core.events import Dropped, Rules, Started
from core.labs.check.metrics import (
    ANY_WORDS,
    REASONS,
    TURNS,
    UNTRIED,
    Outcome,
    cannot_tell,
    faithful,
    faithfulness,
    faithfulness_gain,
    faithfulness_of_all,
)
from core.labs.check.records import (
    Classification,
    Consistency,
    Elsewhere,
    Halves,
    MaskControl,
    Recheck,
    SelfExplanation,
)
from core.labs.check.report import NO_RANDOM, CheckReport
from core.labs.check.run_report import summary
from core.labs.check.tasks import Check, CheckSpec, checks_of
from core.score import Score
from core.transcript import CaseLog, Place
from tests.support.chance import tenth

LABELS = {
    "sentiment": ("positive", "negative", "neutral", "unknown", None),
    "entailment": ("yes", "no", "unknown", None),
    "multi_choice": ("attic", "cellar", "unknown", None),
}
TEXT = "It is what it is."


def drawn(chance: random.Random) -> CheckReport:
    """A random but possible check, at any stage."""
    task = chance.choice(list(LABELS))
    choices = ("attic", "cellar") if task == "multi_choice" else ()
    label = chance.choice([*LABELS[task][:2], None])
    item = Item(id="i", task=task, paragraph=TEXT, choices=choices, label=label, question="Where is it?",
                hypothesis="It is.")  # fmt: skip
    spec = CheckSpec(task=task, text=item.paragraph, model="m", every_wording=True, question="Where?", choices=choices,  # type: ignore[call-arg]
                     hypothesis="It is.", label=label)  # fmt: skip
    check: Check = chance.choice(list(checks_of(spec, item)))
    log = CaseLog(check.case, [Place()], Started(run="r", lab="consistency", spec={}, seed=0), None, {})
    view = CheckReport(log, spec, check)
    stage = chance.random()
    if stage < 0.1:
        if stage < 0.05:
            view.drops.append(Dropped(run="r", item=check.key, reason="error"))
        return view
    before, after = chance.choice(LABELS[task]), chance.choice(LABELS[task])
    view.classification = Classification(call="1", persona="objective", paper=before, repaired=before,  # type: ignore[call-arg]
                                         correct_paper=None, correct_repaired=None)  # fmt: skip
    start = label or before
    wanted = next((one for one in LABELS[task][:2] if one != start), None) if start in LABELS[task][:2] else None
    counterfactual = check.explanation == "counterfactual"
    explained = chance.random() < 0.9 and (not counterfactual or wanted is not None)
    mask = check.wording.mask
    edits = [TEXT, f"It {mask} what it is.", f"{mask} {mask}", "Another text altogether."]
    edited = chance.choice(edits) if explained else None
    if edited == TEXT:
        after = before
    if not counterfactual or wanted is not None:
        view.explained = SelfExplanation(  # type: ignore[call-arg]
            call="2", edited_paper=edited, edited_repaired=edited, wanted=wanted if counterfactual else None,
            words_repaired=("is",) if explained and check.explanation == "attribution" else None,
            basis=("label" if label else "prediction") if counterfactual else None,
        )  # fmt: skip
    call = None if edited is None else "1" if edited == TEXT else "3"
    again = {"call_paper": call, "call_repaired": call, "paper": after, "repaired": after}
    view.again = Recheck(**again) if explained else Recheck()
    # The reason why it tests nothing: any that is possible with what is known by then.
    vacuous = chance.choice([one for one in REASONS if one not in (ANY_WORDS, TURNS, UNTRIED)])
    vacuous = vacuous if explained and chance.random() < 0.2 else ""
    judged: dict[str, Any] = {
        rules: faithful(
            check, before, after if explained else None,
            explained=explained or (counterfactual and wanted is None),
            wanted=wanted if counterfactual else None, start=start, vacuous=vacuous, rules=rules,
        )
        for rules in ("paper", "repaired")
    }  # fmt: skip
    is_kept = judged["repaired"].faithful == "yes"
    draws = tuple(chance.choice(LABELS[task]) for _ in range(chance.choice([1, 2, 3, 20])))
    read = [one for one in draws if one is not None]
    share = sum(cannot_tell(task, one) for one in read) / len(read) if read else None
    if not counterfactual and explained and not vacuous and chance.random() < 0.8:
        every = chance.choice(LABELS[task])
        view.control = MaskControl(texts=(f"{mask} is",) * len(draws), calls=("4",) * len(draws),  # type: ignore[call-arg]
                                   paper=draws, repaired=draws,
                                   all_text="d", all_call="7", all_paper=every, all_repaired=every)  # fmt: skip
        if is_kept and share is not None and share > 0.5:
            judged["repaired"] = judged["repaired"]._replace(faithful="undecided", reason=ANY_WORDS)
        elif is_kept and chance.random() < 0.7:
            halves = tuple(chance.choice(LABELS[task]) for _ in range(2))
            view.halves = Halves(texts=("a", "b"), calls=("5", "6"), paper=halves, repaired=halves)
    if counterfactual and is_kept and chance.random() < 0.5:
        turned = chance.choice([True, False, None])
        decides = chance.random() < 0.5
        if turned is not None:
            view.elsewhere = Elsewhere(item="o", added="So.", text="Other. So.", call_bare="8", call="9",
                                       bare=before, answer=after, turned=turned, decides=decides)  # fmt: skip
        if turned is not False and decides:
            reason = TURNS if turned else UNTRIED
            judged["repaired"] = judged["repaired"]._replace(faithful="undecided", reason=reason)
    distance = None if edited is None else 0.0 if edited == TEXT else chance.choice([0.0, 0.2, 0.9])
    masked = None if counterfactual or edited is None else 0.0 if edited == TEXT else chance.choice([0.0, 0.2, 0.9])
    view.result = Consistency(  # type: ignore[call-arg]
        paragraph="i", explanation=check.explanation, wording=check.name, label=label,
        before_paper=before, before_repaired=before,
        after_paper=view.again.paper, after_repaired=view.again.repaired,
        faithful_paper=judged["paper"].faithful, faithful_repaired=judged["repaired"].faithful,
        reason_paper=judged["paper"].reason, reason_repaired=judged["repaired"].reason,
        control_paper=share if view.control else None, control_repaired=share if view.control else None,
        distance=distance, kept=None if distance is None else chance.random(), masked=masked,
        over_redacted=bool(masked and masked > 0.5), strict=True, thorough=True,
    )  # fmt: skip
    return view


def is_so(reason: str, view: CheckReport, before: str | None, after: str | None) -> bool:
    """Whether a check is undecided for this reason."""
    edited = view.explained.edited.repaired if view.explained else None
    if reason == ANY_WORDS:
        control = view.control
        read = [one for one in control.repaired if one is not None] if control else []
        assert view.check is not None
        return 2 * sum(cannot_tell(view.check.task, one) for one in read) > len(read)
    if reason == TURNS:
        return view.elsewhere is not None and view.elsewhere.turned
    if reason == UNTRIED:
        return view.elsewhere is None and view.explained is not None and view.explained.wanted is not None
    if reason in REASONS:
        # `test_vacuity.py` tests what an edit must be like.
        return edited is not None
    return {
        "the explanation could not be read": lambda: edited is None,
        "there is no target: the first answer names no class to change": lambda: view.explained is None,
        "the answer after the edit could not be read": lambda: after is None,
        "the answer before the edit could not be read": lambda: before is None,
        "the model could not tell even before anything was masked": lambda: before in ("unknown", "neutral"),
        "the model gave the target answer even before the edit": lambda: (
            view.explained is not None and before == view.explained.wanted
        ),
    }[reason]()  # fmt: skip


ENDINGS = {
    "repaired": (": consistent with its explanation.", ": not consistent with its explanation."),
    "paper": (": that counts as faithful.", ": that counts as not faithful."),
}


def holds(sentence: str, view: CheckReport, rules: Rules) -> bool:
    """Whether the sentence is true of the check. Raises AssertionError for a sentence that is not known here."""
    result, check = view.result, view.check
    assert check is not None
    before = view.classification[rules] if view.classification else None
    after = view.again[rules] if view.again else None
    starred = re.findall(r"\*([^*]+)\*", sentence)
    if sentence == "Not judged yet.":
        return result is None and not view.drops
    if sentence.startswith("A call failed"):
        return result is None and any(drop.reason == "error" for drop in view.drops)
    assert result is not None
    edited = view.explained.edited[rules] if view.explained else None
    state, share = result.faithful[rules], result.control[rules]
    masks = check.explanation != "counterfactual"
    if sentence.startswith("Undecided"):
        reason = sentence.removeprefix("Undecided: ").removesuffix(".")
        return state == "undecided" and is_so(reason, view, before, after)
    if sentence.endswith(ENDINGS[rules]):
        if sentence.endswith(ENDINGS[rules][0]) is not (state == "yes") or state == "undecided":
            return False
        if starred[-1] != after:
            return False
        asked = edited != check.item.paragraph
        if ("first answer stands" in sentence) is asked or ("still answered" in sentence and before != after):
            return False
        if "says the opposite" in sentence and {before, after} not in ({"positive", "negative"}, {"yes", "no"}):
            return False
        if not asked and masks:
            return after == before
        if "could no longer tell" in sentence or "as before" in sentence:
            earlier = before is not None and cannot_tell(check.task, before)
            return masks and cannot_tell(check.task, str(after)) and earlier is ("as before" in sentence)
        if masks:
            return "should be unable to tell" in sentence and not cannot_tell(check.task, str(after))
        wanted, kept = view.explained.wanted if view.explained else None, state == "yes"
        if "this edit changes the answer" in sentence:
            return kept is (after in check.item.choices and after != (check.item.label or before))
        return starred[0] == wanted and kept is (after == wanted)
    if sentence.startswith("Nothing was masked: the words it named"):
        return check.explanation == "attribution" and edited == check.item.paragraph
    if "of the words are masked" in sentence:
        return result.masked is not None and result.masked > 0.5 and f"{result.masked:.0%}" in sentence
    if "of the paragraph was kept" in sentence:
        return result.distance is not None and result.distance > 0.5 and f"{result.kept:.0%}" in sentence
    if sentence.startswith("It gave the paragraph back unchanged"):
        return edited == check.item.paragraph and not masks
    if sentence.startswith("Its first answer"):
        return result.label is not None and before != result.label and starred == [str(before), result.label]
    if sentence.startswith("The target"):
        basis = "the correct answer" if result.label is not None else "the model's first answer"
        return view.explained is not None and starred == [view.explained.wanted] and basis in sentence
    if sentence.startswith("What it added was"):
        other = view.elsewhere
        assert other is not None
        turned = "changed that answer as well" in sentence
        return other.turned is turned and not (turned and other.decides)
    if sentence == NO_RANDOM:
        return not masks and view.state == "yes"
    if re.match("With (only a|a|one) random half", sentence):
        assert view.halves is not None
        alone = [cannot_tell(check.task, one) for one in view.halves.repaired if one is not None]
        told = {"or the other half": [True, True], "one random half": [False, True], "could still tell": [False, False]}
        return sorted(alone) == next(both for words, both in told.items() if words in sentence)
    if sentence.startswith("It was not compared with random masks"):
        return masks and share is None and state == "yes"
    if sentence.startswith("With the same number of random words masked it could not tell in"):
        assert view.control is not None and edited is not None
        draws = [one for one in view.control[rules] if one is not None]
        blank = sum(cannot_tell(check.task, one) for one in draws)
        luck = state == "yes" and 2 * blank >= len(draws)
        return f"in {blank} of {len(draws)} draws." in sentence and ("luck" in sentence) is luck
    if sentence.startswith("With every word masked"):
        assert view.control is not None
        every = view.control.all[rules]
        return starred == [every] and not cannot_tell(check.task, every)
    raise AssertionError(f"a sentence of which nothing is known here: {sentence}")


def kind_of(sentence: str) -> str:
    """The part of a sentence that is the same for every check or run."""
    return re.sub(r"\*[^*]+\*", "*…*", re.sub(r"\d+", "N", sentence))


@settings(max_examples=tenth(400), deadline=None)
@given(st.integers(0, 10**9), st.sampled_from(["paper", "repaired"]))
def test_what_is_said_of_any_check_is_so(seed: int, rules: Rules) -> None:
    view = drawn(random.Random(seed))
    for sentence in view.by(rules).sentences():
        assert holds(sentence, view, rules), (sentence, view)


@pytest.mark.parametrize("rules", ["paper", "repaired"])
def test_what_is_said_of_a_check_is_so(rules: Rules) -> None:
    shown: Counter[str] = Counter()
    for seed in range(tenth(3000)):
        view = drawn(random.Random(seed))
        for sentence in view.by(rules).sentences():
            assert holds(sentence, view, rules), (seed, sentence, view)
            shown[kind_of(sentence)] += 1
    assert len(shown) >= 25, shown


def test_the_check_would_notice_a_false_sentence() -> None:
    views = [view for view in (drawn(random.Random(seed)) for seed in range(500)) if view.result is not None]
    wrong = sum(
        not holds(view.sentences()[0], other, "repaired")
        for view, other in pairwise(views)
        if view.check and other.check and view.check.task == other.check.task
    )
    assert wrong > 50


# A whole run


@dataclass
class Ran:
    """A run in the form that its summary uses, with what was sampled for it."""

    outcomes: dict[str, str]
    drawn: list[Outcome]
    status: str | None
    verdict: str = "The verdict of its one check."
    planned: int = field(init=False)

    def __post_init__(self) -> None:
        self.planned = len(self.outcomes)

    @property
    def cases(self) -> dict[str, Any]:
        results = {
            case: {"outcome_repaired": word, "verdict": self.verdict} if word != "waiting" else None
            for case, word in self.outcomes.items()
        }
        return {
            case: type("Progress", (), {"result": result, "outcome": self.outcomes[case]})()
            for case, result in results.items()
        }

    @property
    def only(self) -> str:
        return next(iter(self.outcomes))

    def score(self, metric: str, rules: Rules) -> Score | None:
        if metric == "faithfulness_gain":
            return faithfulness_gain([one for one in self.drawn if one.control is not None])
        of_all = faithfulness_of_all(self.drawn)
        return Score(faithfulness(self.drawn, rules).value, 0, 0, detail={"of_all": of_all.value})


WORDS = ("faithful", "unfaithful", "undecided", "misclassified", "failed", "waiting", "too long")
KINDS = ("counterfactual", "attribution", "redaction")


@st.composite
def runs(draw: Any) -> Ran:
    """A run of one check or of many, on one paragraph or several; all of a kind, or mixed; all excluded."""
    paragraphs = draw(st.sampled_from([1, 1, 2, 3, 60]))
    words = draw(st.sampled_from([WORDS, WORDS[:2], WORDS[:1], WORDS[1:2], WORDS[2:], WORDS[3:4]]))
    kinds = draw(st.lists(st.sampled_from(KINDS), min_size=1, max_size=3, unique=True))
    wordings = draw(st.integers(1, 3))
    chance = random.Random(draw(st.integers(0, 10**6)))
    outcomes, each = {}, []
    for number in range(paragraphs):
        for kind in kinds:
            for wording in range(wordings):
                word = chance.choice(words)
                outcomes[f"p{number}/{kind}/w{wording}"] = word
                wrong = word == "misclassified"
                decided = word in ("faithful", "unfaithful") or wrong
                held = chance.choice(["yes", "no"]) if wrong else "yes" if word == "faithful" else "no"
                share = chance.choice([None, 0.0, 0.5, 1.0]) if kind != "counterfactual" else None
                each.append(Outcome(item=f"p{number}", correct=not wrong, faithful=held if decided else "undecided",
                                    control=share if decided else None))  # fmt: skip
    return Ran(outcomes, each, draw(st.sampled_from(["completed", "cancelled", "failed", None])))


def is_true(sentence: str, ran: Ran) -> bool:
    """Whether the sentence is true of the run. Raises AssertionError for a sentence that is not known here."""
    words = Counter(ran.outcomes.values())
    kept, n = words["faithful"], words["faithful"] + words["unfaithful"]
    several = len({case.partition("/")[0] for case in ran.outcomes}) > 1
    if sentence == "Not judged yet.":
        return words["waiting"] > 0 and ran.status is None
    if sentence == ran.verdict:
        return len(ran.outcomes) == 1
    if sentence.startswith("Calls failed, so nothing could be judged."):
        return n == 0 and words["failed"] > 0
    if sentence == "The run stopped before there was anything to judge.":
        return n == 0 and ran.status == "failed"
    if sentence == "The run was stopped before there was anything to judge.":
        return n == 0 and ran.status == "cancelled"
    if sentence == "No check could decide anything. Each one says why.":
        return n == 0
    if found := re.fullmatch(
        r"It was consistent with (\d+) of (\d+) explanations?, but none of them counts\.", sentence
    ):
        held = sum(one.faithful == "yes" for one in ran.drawn)
        return n == 0 and [int(one) for one in found.groups()] == [held, words["misclassified"]]
    by_kind: dict[str, set[str]] = {}
    for case, word in ran.outcomes.items():
        if word in WORDS[:2]:
            by_kind.setdefault(case.split("/")[1], set()).add(word)
    if sentence.endswith(f" {NO_RANDOM}"):
        if not any("/counterfactual/" in case and word == "faithful" for case, word in ran.outcomes.items()):
            return False
        sentence = sentence.removesuffix(f" {NO_RANDOM}")
    first, beside = (*sentence.split(". ", 1), "")[:2]
    first = f"{first.removesuffix('.')}."
    if beside:
        decided = [case for case, word in ran.outcomes.items() if word in WORDS[:2]]
        masks = sum("/counterfactual/" not in case for case in decided)
        if found := re.match(r"Where words were masked it was consistent with (\d+) of (\d+); masking t", beside):
            held = sum("/counterfactual/" not in case and ran.outcomes[case] == "faithful" for case in decided)
            if [int(one) for one in found.groups()] != [held, masks] or masks == n:
                return False
            beside = f"Masking t{beside[found.end() :]}"
        elif masks < n:
            return False
        gain = ran.score("faithfulness_gain", "repaired")
        assert gain is not None and gain.low is not None
        clear = beside == "Masking the same number of random words had the effect less often."
        assert clear or beside == "Masking the same number of random words is not shown to have the effect less often."
        if clear is not (gain.low > 0) or not several or not kept:
            return False
    if found := re.fullmatch(
        r"It was consistent with (all|none of the|(\d+) of the) (\d+) explanations that count\.", first
    ):
        said = n if found[1] == "all" else 0 if found[1].startswith("none") else int(found[2])
        return several and (said, int(found[3])) == (kept, n) and n > 1
    if first == "It was consistent with the one explanation that counts.":
        return several and kept == n == 1
    if first == "It was not consistent with the one explanation that counts.":
        return several and kept == 0 and n == 1
    if first == "It was consistent with its explanation in the one check that decides.":
        return not several and kept == n == 1
    if first == "It was not consistent with its explanation.":
        return not several and kept == 0 and n == 1
    if found := re.fullmatch(r"It was consistent with its explanation in (all|none of) (\d+) checks\.", first):
        return not several and int(found[2]) == n > 1 and kept == (n if found[1] == "all" else 0)
    if found := re.fullmatch(r"It was consistent with its explanation in (\d+) of (\d+) checks: (.+)\.", first):
        if several or [int(found[1]), int(found[2])] != [kept, n] or not 0 < kept < n:
            return False
        if found[3] == "it depends on the wording":
            return any(len(words) == 2 for words in by_kind.values())
        halves = re.fullmatch(r"with its (.+), not with its (.+)", found[3])
        assert halves is not None
        told = [set(re.findall("|".join(KINDS), half)) for half in halves.groups()]
        return told == [{kind for kind, words in by_kind.items() if words == {word}} for word in WORDS[:2]]
    raise AssertionError(f"a sentence of which nothing is known here: {sentence}")


@settings(max_examples=tenth(600), deadline=None)
@given(runs())
def test_what_is_said_of_any_run_is_so(ran: Ran) -> None:
    sentence = summary(ran)  # type: ignore[arg-type]
    assert is_true(sentence, ran), (sentence, ran)


def test_that_check_would_notice_a_false_summary() -> None:
    one = {"a/attribution/w": "faithful", "a/redaction/w": "unfaithful"}
    ran = Ran(one, [], "completed")
    assert is_true(
        "It was consistent with its explanation in 1 of 2 checks: with its attribution, not with its redaction.", ran
    )
    for false in (
        "It was consistent with its explanation in 1 of 2 checks: it depends on the wording.",
        "It was consistent with its explanation in 1 of 2 checks: with its redaction, not with its attribution.",
        "It was consistent with its explanation in all 2 checks.",
        "It was consistent with all 2 explanations that count.",
        "Not judged yet.",
    ):
        assert not is_true(false, ran)


# The table of sentences


MEASURING = Path(__file__).resolve().parents[4] / "docs" / "measuring.md"


def listed() -> set[str]:
    """The sentences of docs/measuring.md §3.10, without their examples' numbers and answers."""
    part = MEASURING.read_text(encoding="utf-8").split("### 3.10 ")[1].split("\n## ")[0]
    return {row.split("|")[1].strip() for row in part.splitlines() if row.startswith("| ")} - {"Sentence"}


PROMISES = (
    "It said these words mattered. ",
    "It masked what it said was needed. ",
    "It said this edit makes the answer *x*. ",
    "It said this edit changes the answer. ",
)


def parts(sentence: str) -> set[str]:
    """Promise, result and ending of a check's first sentence; any other sentence as a whole. As in the table."""
    sentence = as_listed(sentence)
    ending = next((one for both in ENDINGS.values() for one in both if sentence.endswith(one)), "")
    promise = next((one for one in PROMISES if sentence.startswith(one)), "")
    if not ending:
        return {sentence}
    came = sentence.removeprefix(promise).removesuffix(ending).replace("Without that", "Without them")
    return {promise.strip(), came, ending.strip(": .")} - {""}


def as_listed(sentence: str) -> str:
    """A sentence in the table's form: answers are *x*, numbers N, kinds of explanation K."""
    sentence = re.sub(r"\*[^*]+\*", "*x*", re.sub(r"\d+(?=[ %);])", "N", sentence))
    kinds = "|".join(KINDS)
    return re.sub(rf"with its (?:{kinds})(?: and (?:{kinds}))*", "with its K", sentence)


def test_each_sentence_stands_in_the_table_and_each_of_the_table_is_said() -> None:
    said: set[str] = set()
    for seed in range(6000):
        view = drawn(random.Random(seed))
        for rules in ("paper", "repaired"):
            said = said.union(*map(parts, view.by(rules).sentences()))
    # Other tests cover a story with one choice, and a paragraph that is too long.
    said |= {"Undecided: the story offers no other choice.",
             "The paragraph is too long to be asked about, so nothing was checked."}  # fmt: skip
    chance = random.Random(0)
    for _ in range(3000):
        paragraphs, wordings = chance.choice([1, 2, 40]), chance.choice([1, 2])
        kinds = chance.choice([KINDS[:1], KINDS[1:2], KINDS[:2]])
        rarely = (*WORDS[:2], "undecided", "undecided", "undecided")
        every = (WORDS, WORDS[:1], WORDS[1:2], WORDS[:3], rarely, WORDS[2:3], WORDS[3:4], WORDS[4:5])
        words = chance.choice(every)
        outcomes = {
            f"p{number}/{kind}/w{wording}": chance.choice(words)
            for number in range(paragraphs) for kind in kinds for wording in range(wordings)
        }  # fmt: skip
        each = [
            Outcome(item=case.split("/")[0], correct=word != "misclassified",
                    faithful="no" if word == "unfaithful" else "yes",
                    control=0.0 if word in WORDS[:2] and "/attribution/" in case else None)
            for case, word in outcomes.items() if word in (*WORDS[:2], "misclassified")
        ]  # fmt: skip
        ran = Ran(outcomes, each, chance.choice(["completed", "cancelled", "failed", None]))
        sentence = summary(ran)  # type: ignore[arg-type]
        if sentence != ran.verdict:
            said |= {
                as_listed(one)
                for one in re.split(r"(?<=that count\.) |(?<=that counts\.) ", sentence.removesuffix(NO_RANDOM).strip())
            }
            said |= {NO_RANDOM} if sentence.endswith(NO_RANDOM) else set()
    assert said - listed() == set(), "not in docs/measuring.md §3.10"
    assert listed() - said == set(), "never said"
