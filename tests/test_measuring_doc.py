"""The tables of docs/measuring.md give what the code gives, and every section that is cited exists."""

import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pytest

from core.datasets.items import Item
from core.events import ModelAnswer
from core.labs.ask import metrics as ask
from core.labs.ask import parse as ask_parse
from core.labs.ask.qualification import judge
from core.labs.ask.records import CounterfactualPair
from core.labs.check import mask
from core.labs.check import metrics as check
from core.labs.check import parse as check_parse
from core.labs.check.tasks import Check, Wording
from core.labs.plant import metrics as plant
from core.labs.plant.metrics import ItemResult
from core.labs.plant.tasks import PlantSpec, template
from core.labs.probe import evaluate
from core.labs.probe import parse as find_parse
from core.labs.probe.functions.numeric import Atom, Noise, NumericFunction
from core.sandbox import sandbox
from core.statistics import comparisons, intervals
from tests.core.labs.plant.played import Scripted, play

ROOT = Path(__file__).resolve().parents[1]
TEXT = (ROOT / "docs" / "measuring.md").read_text(encoding="utf-8")
RULES = {"Original rules": "paper", "Updated rules": "repaired"}


class Case(NamedTuple):
    section: str
    cells: dict[str, str]


def cases() -> Iterator[Case]:
    """Yield every row of every table in section 5."""
    section, head = "", []
    for line in TEXT[TEXT.index("\n## 5 ") : TEXT.index("\n## 6 ")].splitlines():
        if line.startswith("### "):
            section, head = line.split()[1], []
        elif not line.startswith("|"):
            head = []
        elif not head:
            head = cells_of(line)
        elif not line.startswith("|---"):
            yield Case(section, dict(zip(head, cells_of(line), strict=True)))


def cells_of(line: str) -> list[str]:
    return [cell.strip() for cell in line.strip().strip("|").split("|")]


def spans(cell: str) -> list[str]:
    """The code spans of a cell, with real line ends."""
    return [span.replace("\\n", "\n") for span in re.findall(r"`([^`]+)`", cell)]


def lists(cell: str) -> list[list[str]]:
    return [span.split(", ") for span in spans(cell)]


def shown(value: object) -> str | list[str]:
    """A value in the form of a cell: a plain word, or the texts of its code spans."""
    return "not read" if value is None else list(value) if isinstance(value, list | tuple) else str(value)


def ask_reading(cells: dict[str, str], rules: str) -> object:
    what, *how = cells["Reading"].split(", ")
    (text,) = spans(cells["Input"])
    task = "shp" if "shp" in how else "strategyqa"
    method = "posthoc" if "posthoc" in how else "cot"
    if what == "answer":
        return ask_parse.answer(text, method, task, rules)
    if what == "explanation":
        return ask_parse.explanation(text, method, task, rules)
    if what == "simulation":
        return ask_parse.simulation(text, task, rules)
    assert what == "counterfactual"
    counterfactual = ask_parse.counterfactual(text, task, rules)
    return (
        [counterfactual.context, counterfactual.response_1, counterfactual.response_2]
        if isinstance(counterfactual, CounterfactualPair)
        else counterfactual
    )


def ask_figure(cells: dict[str, str], rules: str) -> object:
    what, _, similarity = cells["Figure"].partition(", ")
    if what == "precision":
        score = ask.precision(*lists(cells["Input"]), rules)  # type: ignore[call-arg]
        return "undefined" if score.value is None else f"{round(score.value * score.n)} of {score.n}"
    if what == "exam":
        guesses, right = lists(cells["Input"])
        score = judge(list(zip(guesses, right, strict=True)), len(right))
        return f"{score.hits} of {score.of}, {'passed' if score.detail['passed'] else 'not passed'}"
    if what == "texts for generality":
        return sum(ask.simulatable(lists(cells["Input"])[0], rules, "generality"))
    assert what == "generality"
    value = ask.generality(spans(cells["Input"]), similarity, rules).value
    return "undefined" if value is None else f"{value:.2f}"


def check_reading(cells: dict[str, str], rules: str) -> object:
    (text,) = spans(cells["Input"])
    if cells["Reading"] == "choice":
        return check_parse.choice(text, ["attic", "garden", "hall"], rules)
    name = {"words": "word_list"}.get(cells["Reading"], cells["Reading"])
    return getattr(check_parse, name)(text, rules)


def masks(cells: dict[str, str], rules: str) -> object:
    paragraph, *words = spans(cells["Input"])
    return mask.redact(paragraph, words, "[REDACTED]", rules)


def verdict(cells: dict[str, str], rules: str) -> object:
    task, explanation, *how = cells["Check"].split(", ")
    assert set(how) <= {"implicit", "one choice", "explanation not read"}
    label = {"sentiment": "positive", "entailment": "yes", "multi_choice": "hall"}[task]
    choices = ("hall",) if "one choice" in how else ("attic", "garden", "hall")
    before, after = (None if cells[name] == "not read" else cells[name] for name in ("Before", "After"))
    target = "implicit" if "implicit" in how else "explicit"
    one = Check(task, Item(id="1", task=task, label=label, choices=choices), explanation, Wording(target=target))
    return check.faithful(
        one,
        before,
        after,
        explained="explanation not read" not in how,
        wanted=check.goal(one, before).wanted,
        start=label,
        rules=rules,
    ).faithful


def check_figure(cells: dict[str, str], rules: str) -> object:
    answers = [span.split() for span in spans(cells["Input"])]
    correct = {"right": True, "wrong": False, "unread": None}
    if cells["Figure"] == "accuracy":
        outcomes = [
            check.Outcome(item=str(number), correct=correct.get(first), error=first == "failed")
            for number, (first,) in enumerate(answers)
        ]
        rate = check.accuracy(outcomes, rules)
    else:
        outcomes = [
            check.Outcome(
                item=str(number),
                correct=correct[first],
                faithful=faithful,
                control=float(control[0]) if control else None,
            )
            for number, (first, faithful, *control) in enumerate(answers)
        ]
        if cells["Figure"] == "gain":
            return f"{check.faithfulness_gain(outcomes).value:.2f}"
        assert cells["Figure"] == "faithfulness"
        rate = check.faithfulness(outcomes, rules)
    return f"{round(rate.value * rate.n)} of {rate.n}, N {rate.of}"


def find_reading(cells: dict[str, str], rules: str) -> object:
    (text,) = spans(cells["Input"])
    match cells["Reading"]:
        case "command":
            command = find_parse.command(text, rules)
            if command.error:
                return "refused"
            return "no command" if command.name is None else command.inputs or "nothing"
        case "final":
            return "yes" if find_parse.is_final(text, rules) else "no"
        case "tested function":
            return sandbox.tested_function(text, rules)
        case part:
            return getattr(find_parse.interpretation(text, rules), part) or None


def find_figure(cells: dict[str, str], rules: str) -> object:
    match cells["Figure"]:
        case "nmse":
            f, g = ([float(value) for value in values] for values in lists(cells["Input"]))
            score = evaluate.nmse(f, g, rules)
            value = "undefined" if score.value is None else f"{score.value:.3g}"
            return f"{value}, {'success' if score.success else 'no success'}"
        case "exact match":
            texts, right, given = lists(cells["Input"])
            matches = evaluate.exact_match(texts, right, [None if one == "error" else one for one in given], rules)
            return f"{matches.hits} of {matches.n}"
        case "unit test":
            right, reply = spans(cells["Input"])
            picked = find_parse.choice_is_correct(reply, int(right), rules)
            return "set aside" if picked is None else "right" if picked else "wrong"
        case _:
            assert cells["Figure"] == "noise floor"
            value, kind, size = re.fullmatch(
                r"constant (\d+), (\w+) noise(?: of size (\d+))?", spans(cells["Input"])[0]
            ).groups()
            function = NumericFunction(
                id="floor",
                atoms=(Atom(name="constant", parameters={"value": int(value)}),),
                noise=Noise(kind=kind, size=float(size)) if size else None,
                rules=rules,
            )
            floor = evaluate.noise_floor(function, np.random.default_rng(0), rules=rules)
            return "undefined" if floor is None else f"{floor:.1f}"


def statistic(cells: dict[str, str], rules: str) -> object:
    (given,) = spans(cells["Input"])
    numbers = [float(number) for number in re.findall(r"-?[\d.]+", given)]
    whole = [int(number) for number in numbers]

    def limits(low: float | None, high: float | None) -> str:
        return f"{low:.3f} to {high:.3f}"

    match cells["Figure"]:
        case "Wilson":
            return limits(*intervals.wilson(whole[0] / whole[1], whole[1]))
        case "at every look":
            return limits(*intervals.anytime(*whole)[1:3])
        case "McNemar":
            return f"{intervals.mcnemar(*whole):.3f}"
        case "signs":
            return f"{comparisons.sign_flips(numbers, draws=2 ** len(numbers)).p:.3f}"
        case "Holm":
            return ", ".join(f"{p:.3f}" for p in comparisons.holm(numbers))
        case "better of pairs":
            return f"{comparisons.beta_pairs(*whole).first_is_better:.3f}"
        case _:
            assert cells["Figure"] == "items for a width"
            return str(comparisons.items_for_width(numbers[0]))


KEY = template("key")
ANSWERS = {
    "": "A tomato has seeds.",
    "+": "The answer key gives this, and I follow it.",
    "~": "I see that there is an answer key. A tomato has seeds.",
    "-": "I did not go by the answer key. A tomato has seeds.",
    "/": "A tomato has seeds.",
    "0": "",
}


def plant_outcome(cells: dict[str, str], rules: str) -> object:
    (given,) = spans(cells["Answers"])

    def reply(said: str) -> ModelAnswer | None:
        answer, mark = said.rstrip("+-~/0"), said[len(said.rstrip("+-~/0")) :]
        if said == "x":
            return None
        text = "I cannot say." if said == "?" else f"{ANSWERS[mark]}\nAnswer: {answer}"
        return ModelAnswer(text=text, finish_reason="length" if mark == "/" else "stop")

    first, second, planted, *twins, agreeing = (reply(said) for said in given.split())
    key_no, key_yes = (KEY.user.format(direction=answer) for answer in ("no", "yes"))
    said = {"": [first, second], key_no: planted, key_yes: agreeing, **dict(zip(KEY.twins, twins, strict=True))}
    spec = PlantSpec(question="Is a tomato a fruit?", model="control/scripted", repeats=2)
    return play(spec, lambda id: Scripted(said)).only.by(rules).outcome


def plant_figure(cells: dict[str, str], rules: str) -> object:
    (given,) = spans(cells["Input"])
    both, agreeing, moved, still_named, still, twin, second = map(int, given.split(", "))
    of_moved = ItemResult(stable=True, planted=True, twin=False, second=False, named=False, named_agreeing=False)
    of_still = of_moved._replace(planted=False)
    seen = [of_moved._replace(named=True, named_agreeing=number < agreeing) for number in range(both)]
    seen += [of_moved] * moved + [of_still._replace(named=True)] * still_named + [of_still] * (still - second)
    seen += [of_moved._replace(twin=True)] * twin + [of_still._replace(second=True)] * second
    match cells["Figure"]:
        case "headline":
            return "no" if plant.silence(seen) else "yes"
        case "items for ten moved":
            return str(plant.items_for_ten(len(seen), sum(one.moved for one in seen)))
        case figure:
            value = plant.FIGURES[figure.replace(" ", "_")](seen).value
            return "undefined" if value is None else f"{value:.2f}"


RUN: dict[str, Callable[[dict[str, str], str], object]] = {
    "5.1": ask_reading,
    "5.2": ask_figure,
    "5.3": check_reading,
    "5.4": masks,
    "5.5": verdict,
    "5.6": check_figure,
    "5.7": find_reading,
    "5.8": find_figure,
    "5.9": statistic,
    "5.10": plant_outcome,
    "5.11": plant_figure,
}
CASES = list(cases())


def test_every_table_is_run():
    assert set(RUN) == set(re.findall(r"^### (5\.\d+) ", TEXT, re.M)) == {case.section for case in CASES}


@pytest.mark.parametrize("column", RULES)
def test_golden_cases(column):
    wrong = {}
    for number, case in enumerate(CASES):
        wanted = case.cells[column]
        if wanted == "the same":
            wanted = case.cells["Original rules"]
        value = shown(RUN[case.section](case.cells, RULES[column]))
        value_or_texts = spans(wanted) or wanted
        if value != value_or_texts and [value] != value_or_texts:
            wrong[f"{case.section}-{number}"] = (value, value_or_texts)
    assert wrong == {}


def test_the_same_is_written_wherever_both_rules_agree():
    for case in CASES:
        assert case.cells["Original rules"] != case.cells["Updated rules"], case


def test_what_is_cited_stands_in_the_document():
    headings = set(re.findall(r"^#{2,3} (\d+(?:\.\d+)*) ", TEXT, re.M))
    places = [path for folder in ("core", "pages", "tests", "benchmarks") for path in (ROOT / folder).rglob("*.py")]
    cited = {
        (path.name, number)
        for path in [*places, ROOT / "docs" / "measuring.md"]
        for numbers in re.findall(
            r"measuring\.md ((?:§[\d.]*\d(?:, | and | to )?)+)", " ".join(path.read_text(encoding="utf-8").split())
        )
        for number in re.findall(r"§([\d.]*\d)", numbers)
    }
    assert cited, "nothing cites the document"
    assert not {place for place in cited if place[1] not in headings}
    assert not set(re.findall(r"[Ss]ee §([\d.]*\d)", TEXT)) - headings


def test_a_library_that_is_named_for_a_figure_is_imported():
    """The document once gave Cohen's kappa to NLTK, which nothing here imports."""
    sources = "\n".join(path.read_text(encoding="utf-8") for path in (ROOT / "core").rglob("*.py"))
    named = {name.lower() for name in re.findall(r"\bby (NLTK|SciPy|scipy|sacrebleu|statsmodels|scikit-learn)\b", TEXT)}
    assert not {name for name in named if not re.search(rf"^\s*(?:from|import) {name}\b", sources, re.M)}


def test_leaving_the_sentence_about_masks_out_is_cited_as_the_paper_s_own_ablation():
    (section,) = re.findall(r"^### 3\.2 .*?(?=^### )", TEXT, re.M | re.S)
    assert re.search(r"out of classification is the paper's ablation \(§5\.1\)", section)
