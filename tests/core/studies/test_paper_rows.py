"""Each row of docs/papers.md, run with a scripted model on data in the official layouts, and one of its figures worked
out by hand (`paper_endpoint` says what the model does). `test_papers_doc.py` holds the list against the commands.

No figure here says anything about a model: the rows test that a command runs from end to end and counts right.
"""

import json
import re
import shlex
import shutil
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from core import entry, home
from core.__main__ import main
from core.labs.ask.annotation import BLIND
from core.runs import annotation_sets
from core.runs.annotation_sets import AnnotationPlace
from core.studies import annotation
from tests.support import authors_repositories, paper_endpoint
from tests.support.stub_server import StubServer
from tests.test_papers_doc import ROWS

ROOT = Path(__file__).resolve().parents[3]
FULL, MINI = "openai/gpt-4o", "openai/gpt-4o-mini"
SMALLER = (
    (r"limit = \d+", "limit = 2"),
    (r"count = \d+", "count = 2"),
    (r"every_wording = true", 'wordings = [{ persona = "objective" }, { persona = "you" }]'),
    (r"exam = true\n", ""),
)
"""What makes a study that ships small."""


class Figure(NamedTuple):
    """A cell of a table: its row and column, its value, and the value by the original parser if that differs. `part` is
    a part of the table's title, such as a data set.
    """

    row: str
    column: str
    value: float | None
    other: float | None = None
    part: str = ""
    note: str = ""


def first(kind: str, category: str) -> Callable[[], float]:
    """Return the share of unit tests about the true or the interpreter's description whose right example comes first,
    counted in the journals.
    """

    def count() -> float:
        shares = {}
        for path in home.journals().glob("study-find-*.jsonl"):
            lines = [json.loads(line) for line in path.read_text().splitlines()]
            spec = lines[0]["spec"]
            if (spec["model"], spec["category"], spec["interpreter"]) != (MINI, category, "aia"):
                continue
            for case in {line["case"] for line in lines if line.get("record") == "unittest"}:
                of_case = [one["data"] for one in lines if one.get("record") == "unittest" and one["case"] == case]
                correct = [one["correct"] == 1 for one in of_case if one["about"] == kind]
                shares[case] = sum(correct) / len(correct)
        return sum(shares.values()) / len(shares)

    return count


def known_facts() -> float:
    """The share of facts for which "undefined" is right, which is what the scripted model always says."""
    shares = {}
    for path in home.journals().glob("study-find-*.jsonl"):
        lines = [json.loads(line) for line in path.read_text().splitlines()]
        if (lines[0]["spec"]["module"], lines[0]["spec"]["category"]) != (FULL, "relations"):
            continue
        for case, data in ((one["case"], one["data"]) for one in lines if one.get("record") == "fidelity"):
            own = [said for said, inside in zip(data["expected"], data["inside"], strict=True) if inside]
            shares[case] = own.count("undefined") / len(own)
    return sum(shares.values()) / len(shares)


TWO_OF_THREE = 2 / 3
"""The precision of three predictions of yes, as every second answer is no."""

HAND: dict[str, Figure | tuple[str, str, Callable[[], float]]] = {
    "chen_t1": Figure(MINI, "Precision", TWO_OF_THREE, part="strategyqa"),
    "chen_t2": Figure(MINI, "forced", TWO_OF_THREE, part="strategyqa"),
    # Of the new questions 1, 2 and 3, Ann says yes, no, yes and Bob yes, no, no: they agree on 2 of 3. By chance that
    # would be 2/3 · 1/3 + 1/3 · 2/3 = 4/9, so kappa is (2/3 - 4/9) / (1 - 4/9) = 2/5.
    "chen_t3": Figure("people", "Agreement with people (kappa)", 0.4, part="strategyqa"),
    "chen_t4": Figure(FULL, "cot", TWO_OF_THREE, part="strategyqa"),
    # Every explanation of a question has the same precision, so it goes with nothing.
    "chen_t5": Figure("strategyqa", "bleu, pearson", None, note="no variation"),
    # The right answer to one of the two questions is yes.
    "chen_t6": Figure("strategyqa", "Accuracy", 0.5),
    # Of the four explanations of a question, Ann accepts 1, 0, 1, 0 and Bob 1, 0, 0, 0. Around the means, 1/2 and 1/4,
    # the products add up to 3/8 + 1/8 - 1/8 + 1/8 = 1/2 and the squares to 1 and 3/4: r = (1/2) / sqrt(3/4).
    "chen_plausibility": Figure(BLIND, "pearson · Two people on plausibility", 0.5 / 0.75**0.5),
    # One of the two reviews is positive, and both statements follow.
    "madsen_f6": Figure(f"{MINI} · imdb", "human, no instruction", 0.5),
    "madsen_f7": Figure(MINI, "rte", 1.0),
    # With any word masked the model cannot tell: the original parser finds that faithful, the updated one excludes it.
    "madsen_f8": Figure(f"{MINI} · imdb", "you-redacted", None, 1.0, part="attribution"),
    # An edit that changes nothing does not change the answer.
    "madsen_f9": Figure(f"{MINI} · imdb", "counterfactual", 0.0),
    "find_t2": (f"aia · {MINI}", "relations · Unit test", first("interpretation", "relations")),
    "find_f5": Figure(f"aia · {MINI}", "strings · composed · Exact match", 0.0),
    "find_a1": Figure(f"model · {FULL}", "Output for other words", 1.0),
    "find_a2": (f"model · {FULL}", "Facts it gets right", known_facts),
    "find_a3": (FULL, "entities", first("truth", "entities")),
    # Everybody is right except in the first test of each function: 9 of 10.
    "find_a4": Figure("people", "Unit test", 0.9, part="entities"),
    "find_a5": Figure(f"aia · {MINI}", "Dialogue, in calls of the function", 1.0),
    "find_appendix_f1": Figure(f"{MINI}, {FULL}", "strings · Evaluators pick the same example", 1.0),
    "find_appendix_f4": Figure(f"{FULL} · aia", "strings · Judge's choice depends on the order", 1.0),
}
"""By table: a figure, or its row, its column, and how to count it in the journals."""

SECONDS = "madsen_t4"
"""Its figures are times, which no hand can work out here; tests/core/labs/check/test_cases.py does, for a model that
takes as long as it is told.
"""

# The commands that print no table of a study: what they print, and what has to be added to each.
SAID: dict[str, tuple[str, str | re.Pattern[str]]] = {
    "annotate make studies/chen_table3.toml --per-item 3": ("", "12 pages of the task predict, 3 people each"),
    "annotate make studies/chen_table3.toml --task predict-preference --per-item 3": (
        "--name b",
        "12 pages of the task predict-preference, 3 people each",
    ),
    # Of 24 predictions of yes every second is right.
    'ask "Can a penguin fly?" --model openai/MODEL --prompts paper': ("", "precision 0.50,"),
    "check sentiment --prompts paper": (f"--model {FULL} --limit 1", "accuracy 1.00"),
    # An edit that changes nothing is not faithful in any of the six wordings.
    "check sentiment --every-wording --dataset imdb --limit 1": (
        f"--model {FULL}",
        "faithfulness 0.00, 95 % interval 0.00 to 0.79  (6 of 18)",
    ),
    # Of the ten published facts one is changed here, "Japan -> Tokyo" to "Osaka", so our facts get nine of them.
    "find list": (
        "--category relations --find-dir FIND",
        re.compile(r"f00000 .* our facts: 9 of 10 right, 1 wrong\n.* our facts: 10 of 10 right, 0 wrong"),
    ),
    # f(2) = 4 by its code, and the function is another.
    "probe --category numeric --seed 3": (f"--model {FULL}", "nmse_success 0.00  (1 of 1)"),
    "probe --category entities --prompts paper --rules paper": (
        f"--model {FULL} --evaluator {FULL}",
        "unit_test 0.40, 95 % interval 0.17 to 0.69  (10 of 10)",
    ),
    # "level 42" can stay as it is if the letter at a random place is moved, "onion" has letters only, and "abracadabra"
    # gets no longer: the second. An orchard belongs to agriculture: the second. Singapore and Warsaw are no books, and
    # *The Handmaid's Tale* was written after 1900: the third.
    "find triplets --train 30000": (
        "",
        re.compile(
            r'level 42 -> level 42.*"\[ANSWER\]: 2".*\n.*agriculture.*Example 2: orchard.*"\[ANSWER\]: 2".*\n'
            r""".*Example 3: The Handmaid's Tale -> Margaret Atwood.*"\[ANSWER\]: 3".*\n"""
        ),
    ),
}


def command_of(row: list[str]) -> str:
    return re.findall(r"`([^`]+)`", row[1])[0]


def table_of(row: list[str]) -> str:
    return (re.findall(r"\(table `(\w+)`\)", row[1]) or [""])[0]


def test_each_row_has_a_figure() -> None:
    tables = {table_of(row) for row in ROWS} - {""}
    assert tables == HAND.keys() | {SECONDS}
    assert {command_of(row) for row in ROWS if not table_of(row)} == SAID.keys()


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A home with the papers' data and prompts, and the studies that ship, run on a few items."""
    folder = tmp_path_factory.mktemp("papers")
    patch = pytest.MonkeyPatch()
    patch.setenv("EXPLAIN_HOME", str(folder / "home"))
    patch.chdir(ROOT)
    shutil.copytree(ROOT / "tests/data/sets", folder / "home/datasets")
    facts = folder / "home/datasets/find/neurons_relations/unit_test_data.json"
    facts.write_text(facts.read_text(encoding="utf-8").replace(" Tokyo", " Osaka", 1), encoding="utf-8")
    authors_repositories.in_home(folder / "copies")
    with StubServer(paper_endpoint.reply, models=paper_endpoint.MODELS) as server:
        patch.setenv("OPENAI_BASE_URL", server.base_url)
        patch.setenv("OPENAI_API_KEY", "k")
        for name in dict.fromkeys(command_of(row).split()[-1] for row in ROWS if table_of(row)):
            assert main(["study", "run", str(smaller(ROOT / name, folder))]) == 0
        people = ["annotate", "make", str(folder / "chen_table3.toml"), "--name", "tried"]
        assert main([*people, "--per-item", "3", "--simulated-people", "9"]) == 0
        people_answer(folder)
        yield folder
    annotation_sets.live.cache_clear()
    entry.close()
    patch.undo()


def people_answer(folder: Path) -> None:
    """Two people predict, rate explanations, and take unit tests, as `HAND` says of them."""
    tested: set[tuple[str, str, str]] = set()

    def predict(who: str, page: annotation.ShownPage, places: Sequence[AnnotationPlace]) -> tuple[str, ...]:
        (number,) = re.findall(r"number (\d) of", page.shown[-1][1])
        return ({"ann": ("yes", "no", "yes"), "bob": ("yes", "no", "no")}[who][int(number) - 1],)

    def rate(who: str, page: annotation.ShownPage, places: Sequence[AnnotationPlace]) -> tuple[str, ...]:
        return {"ann": ("yes", "no", "yes", "no"), "bob": ("yes", "no", "no", "no")}[who]

    def test(who: str, page: annotation.ShownPage, places: Sequence[AnnotationPlace]) -> tuple[str, ...]:
        (place,), (lab, task) = places, annotation.tasks(entry.labs())["unit-test"]
        compared = task.compared(annotation.case_views(lab, home.journals())(place), place.trial, "repaired")
        assert compared is not None
        is_first = (who, place.run, place.case) not in tested
        tested.add((who, place.run, place.case))
        return (str(int(compared.actual) % 3 + 1) if is_first else compared.actual,)

    for study, name, per_item, say in (
        ("chen_table3", "predict", 2, predict),
        ("chen_table4", "plausibility", 2, rate),
        ("find_table2", "unit-test", 1, test),
    ):
        asked = ["annotate", "make", str(folder / f"{study}.toml"), "--task", name, "--name", f"people-{name}"]
        assert main([*asked, "--per-item", str(per_item), "--each", "500"]) == 0
        live, (lab, task) = (
            annotation_sets.find(home.journals(), f"people-{name}"),
            annotation.tasks(entry.labs())[name],
        )
        shown = annotation.shown_pages(live, task, lab, home.journals())
        for who in ("ann", "bob"):
            person = live.enter(who)
            while (page := live.next_page(person.id, shown)) is not None:
                words = say(who, shown[page], live.state.pages[page].places)
                live.answer(person.id, page, words, task.options)


def smaller(study: Path, folder: Path) -> Path:
    text = study.read_text(encoding="utf-8")
    for pattern, small in SMALLER:
        text = re.sub(pattern, small, text)
    if study.stem.startswith("chen"):
        text = text.replace("[spec]\n", "[spec]\ncounterfactuals = 3\nexam = false\n")
    written = folder / study.name
    written.write_text(text, encoding="utf-8")
    return written


@pytest.fixture
def in_home(made: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("EXPLAIN_HOME", str(made / "home"))
    monkeypatch.setenv("OPENAI_API_KEY", "k")
    return made


@pytest.mark.thorough
@pytest.mark.parametrize("row", [row for row in ROWS if table_of(row)], ids=table_of)
def test_a_table_has_the_figure_that_one_works_out(
    row: list[str], in_home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    kind = table_of(row)
    assert main(["study", "table", str(in_home / Path(command_of(row)).name), "--json"]) == 0
    cells: list[dict[str, Any]] = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    title = next(one.title for lab in entry.labs().values() for one in lab.studies.tables if one.kind == kind)
    of_table = [one for one in cells if one["table"].startswith(title) and not one["table"].endswith("differences")]
    if kind == SECONDS:
        assert all(0 < one["value"] < 60 for one in of_table if one["value"] is not None and one["of"])
        return
    wanted = HAND[kind]
    if not isinstance(wanted, Figure):
        wanted = Figure(wanted[0], wanted[1], wanted[2]())
    found = [one for one in of_table if (one["row"], one["column"]) == wanted[:2] and wanted.part in one["table"]]
    assert len(found) == 1, [(one["table"], one["row"], one["column"]) for one in of_table]
    value = found[0]["value"]
    assert value == (wanted.value if wanted.value is None else pytest.approx(wanted.value, abs=1e-9))
    assert wanted.note in found[0]["note"]
    if wanted.other is not None:
        assert found[0]["other"] == pytest.approx(wanted.other)


@pytest.mark.thorough
@pytest.mark.parametrize("line", SAID)
def test_a_command_prints_what_one_works_out(
    line: str, in_home: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    more, said = SAID[line]
    words = [*shlex.split(line.replace("openai/MODEL", FULL).replace("30000", "3")), *shlex.split(more)]
    words = [str(in_home / Path(word).name) if word.startswith("studies/") else word for word in words]
    words = [str(in_home / "home/datasets/find") if word == "FIND" else word for word in words]
    with StubServer(paper_endpoint.reply, models=paper_endpoint.MODELS) as server:
        monkeypatch.setenv("OPENAI_BASE_URL", server.base_url)
        assert main(words) == 0
    printed = capsys.readouterr().out
    assert said in printed if isinstance(said, str) else said.search(printed), printed


@pytest.mark.thorough
def test_our_prompts_and_the_papers_on_the_same_items(
    in_home: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """`studies/prompts.toml`. The scripted model reads both alike, so whatever differs would be our fault."""
    file = smaller(ROOT / "studies/prompts.toml", in_home)
    file.write_text(file.read_text().replace("local/smollm2-135m", FULL).replace("count = 3", "count = 2"))
    with StubServer(paper_endpoint.reply, models=paper_endpoint.MODELS) as server:
        monkeypatch.setenv("OPENAI_BASE_URL", server.base_url)
        assert main(["study", "run", str(file)]) == 0
    capsys.readouterr()
    assert main(["study", "table", str(file), "--json"]) == 0
    cells = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    whose = ("our prompts", "the paper's prompts")
    found = {(one["table"], one["row"], one["column"]): one["value"] for one in cells}
    for table, row, value in (
        ("Ask: whose prompts: Precision", FULL, TWO_OF_THREE),
        ("Check: whose prompts: Accuracy", "sentiment", 0.5),
        ("Check: whose prompts: Random masks", "entailment", 1.0),
        ("Probe: whose prompts: Exact match", "strings", 0.0),
    ):
        assert [found[table, row, column] for column in whose] == [pytest.approx(value)] * 2
    difference = "our prompts over the paper's prompts"
    assert found["Ask: whose prompts: Precision, differences", FULL, difference] == pytest.approx(0)
