"""Annotation sets of a study from the command to the tables, with scripted people and people's answers from files."""

import csv
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from core import entry, home
from core.__main__ import main
from core.runs import annotation_sets
from core.runs.annotation_sets import LiveSet
from core.studies import annotation

STUDY = """
lab = "ask"
spec = { dataset = "world", limit = 3, counterfactuals = 3 }
grid = { model = ["control/steadfast", "control/fickle"], method = ["cot", "posthoc"] }
[[table]]
kind = "chen_t3"
[[table]]
kind = "chen_plausibility"
"""


@pytest.fixture
def file(tmp_path: Path) -> Iterator[Path]:
    file = tmp_path / "asked.toml"
    file.write_text(STUDY, encoding="utf-8")
    assert main(["study", "run", str(file)]) == 0
    yield file
    annotation_sets.live.cache_clear()
    entry.close()


def tables(file: Path, capsys: pytest.CaptureFixture[str]) -> dict[tuple[str, str], dict[str, Any]]:
    capsys.readouterr()
    assert main(["study", "table", str(file), "--json"]) == 0
    rows = map(json.loads, capsys.readouterr().out.splitlines())
    return {(row["row"], row["column"]): row for row in rows if "Chen" in row["table"]}


def find(name: str) -> LiveSet:
    return annotation_sets.find(home.journals(), name)


def test_predictions_of_people_and_of_simulated_people_have_rows_of_their_own(
    file: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    made = ["annotate", "make", str(file), "--name", "one", "--each", "50", "--per-item", "2"]
    assert main([*made, "--simulated-people", "9"]) == 0
    # Only careful people pass 9 of 11: always "yes" and answers at random do not.
    assert "admitted: 3 good, 0 random, 0 lazy" in capsys.readouterr().out
    assert main(made) == 2 and "named one already" in capsys.readouterr().err
    cells = tables(file, capsys)
    assert all("simulated people" in row for row, _ in cells if row != "–" and not row.endswith("2023)"))
    scripted = cells["control/steadfast (simulated people)", "Agreement with people (kappa)"]
    assert scripted["value"] > 0.7
    # Two people answer in Potato; both say yes to everything. No figure of simulated people changes.
    items, answers = tmp_path / "items.csv", tmp_path / "answers.tsv"
    assert main(["annotate", "export", "one", "--to", "potato-items", "-o", str(items)]) == 0
    with items.open(encoding="utf-8", newline="") as opened:
        pages = list(csv.DictReader(opened))
    assert "Follow-up question: " in pages[0]["text"] and "answer" in pages[0]["text"]
    columns = [f"predict:::{word}" for word in ("yes", "no", "unknown")]
    with answers.open("w", encoding="utf-8", newline="") as opened:
        written = csv.writer(opened, delimiter="\t")
        written.writerow(["user", "instance_id", "displayed_text", *columns])
        written.writerows([who, page["id"], "", "predict:::yes", "", ""] for page in pages for who in ("ann", "bob"))
        written.writerow(["ann", "nowhere-1", "", "predict:::yes", "", ""])
        written.writerow(["cleo", pages[0]["id"], "", "x", "x", ""])
    assert main(["annotate", "import", "one", str(answers)]) == 0
    told = capsys.readouterr()
    assert f"{2 * len(pages)} rows imported" in told.out
    assert "1 row left out: it is about no page of this set." in told.err and "several answers" in told.err
    after = tables(file, capsys)
    assert after["control/steadfast (simulated people)", "Agreement with people (kappa)"] == scripted
    people = after["explained: control/steadfast", "Human simulatability"]
    machine = after["explained: control/steadfast", "Machine simulatability"]
    # The robot always does as its simulator reads it, so its share of yes is what two people who say yes get.
    task = annotation.tasks(entry.labs())["predict"][1]
    views = annotation.case_views(entry.labs()["simulatability"], home.journals())
    places = [place for page in find("one").state.made.pages for place in page.places]
    compared = [
        (views(place), task.compared(views(place), place.trial, "repaired"))
        for place in places
        if "steadfast" in views(place).spec.model
    ]
    both = [one for _, one in compared if one and one.machine in ("yes", "no") and one.actual in ("yes", "no")]
    assert people["value"] == pytest.approx(sum(one.actual == "yes" for one in both) / len(both))
    assert people["n"] == machine["n"] == 2 * len(both) and machine["value"] == 1
    assert "nobody took the qualification test" in people["note"]


def test_plausibility_before_any_outcome_as_one_counts_by_hand(file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["annotate", "make", str(file), "--task", "plausibility", "--name", "two"]) == 0
    live, lab = find("two"), entry.labs()["simulatability"]
    task = annotation.task_of(live.state.made, entry.labs())
    shown = annotation.shown_pages(live, task, lab, home.journals())
    assert len(shown) == 3 and all(len(page.texts) == 4 for page in shown.values())
    page = next(iter(shown.values()))
    assert [label for label, _ in page.shown] == ["Question", "Correct answer"]
    assert len({tuple(page.order(who)) for who in "abcdefgh"}) > 3
    # Everybody rates by the model that explains: yes for the steadfast robot, no for the fickle one.
    views = annotation.case_views(lab, home.journals())
    for who in ("ann", "bob"):
        person = live.enter(who)
        while (next_one := live.next_page(person.id, shown)) is not None:
            models = [views(place).spec.model for place in live.state.pages[next_one].places]
            words = tuple("yes" if "steadfast" in model else "no" for model in models)
            live.answer(person.id, next_one, words, task.options)
    row = "all systems, rated before any outcome was visible"
    cells = tables(file, capsys)
    precise: dict[str, set[float]] = {}
    for place in (place for one in live.state.made.pages for place in one.places):
        precise.setdefault(place.case, set()).add(views(place).log.score("precision", "repaired").value)
    varied = sum(len(values) > 1 for values in precise.values())
    for kind in ("pearson", "spearman"):
        both = cells[row, f"{kind} · Precision and plausibility"]
        # Where the fickle robot was less precise, both go together exactly.
        assert both["n"] == varied and (both["value"] is None or both["value"] == pytest.approx(1))
        assert cells[row, f"{kind} · Two people on plausibility"]["value"] == pytest.approx(1)


def test_prolific_says_whose_answers_count(file: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    made = ["annotate", "make", str(file), "--task", "plausibility", "--name", "two", "--each", "1"]
    assert main([*made, "--completion", "C1OK"]) == 0
    live = find("two")
    options = annotation.task_of(live.state.made, entry.labs()).options
    for who in ("p1", "p2"):
        person = live.enter(f"prolific {who}", who, f"s-{who}")
        first = live.next_page(person.id, live.state.pages)
        assert first is not None
        live.answer(person.id, first, ("yes",) * 4, options)
    out, back = tmp_path / "out.csv", tmp_path / "back.csv"
    assert main(["annotate", "export", "two", "--to", "prolific", "-o", str(out)]) == 0
    rows = list(csv.DictReader(out.read_text(encoding="utf-8").splitlines()))
    assert [row["Status"] for row in rows] == ["AWAITING REVIEW"] * 2
    assert (rows[0]["Submission id"], rows[0]["Participant id"], rows[0]["Completion code"]) == ("s-p1", "p1", "C1OK")
    back.write_text("Submission id,Participant id,Status\ns-p1,p1,REJECTED\ns-p2,p2,APPROVED\ns-x,x,APPROVED\n")
    assert main(["annotate", "import", "two", str(back), "--from", "prolific"]) == 0
    assert "did not begin here" in capsys.readouterr().err
    assert {person.entered.participant for person, *_ in live.state.answers()} == {"p2"}
    assert main(["annotate", "import", "two", str(back)]) == 2
    assert "lacks the columns user, instance_id" in capsys.readouterr().err


def test_a_deleted_run_takes_its_pages_with_it(file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["annotate", "make", str(file), "--name", "one"]) == 0
    live = find("one")
    text = live.path.read_text(encoding="utf-8")
    assert "Because" not in text and "So the answer is" not in text, "a set holds no text of a run"
    run = live.state.made.pages[0].places[0].run
    (home.journals() / f"{run}.jsonl").unlink()
    assert main(["annotate", "progress", "one"]) == 0
    assert "a run was deleted or changed" in capsys.readouterr().out


TESTS = """
lab = "probe"
spec = { category = "relations", triplets = 10, model = "control/straight", evaluator = "control/straight" }
grid = { seed = [1, 2, 3] }
[[table]]
kind = "find_a4"
"""


def test_people_and_the_evaluator_take_the_same_tests_as_one_counts_by_hand(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    annotation_sets.live.cache_clear()
    file = tmp_path / "tests.toml"
    file.write_text(TESTS, encoding="utf-8")
    assert main(["study", "run", str(file)]) == 0
    made = ["annotate", "make", str(file), "--name", "units", "--each", "40", "--per-item", "1"]
    assert main([*made, "--simulated-people", "3"]) == 0
    live, lab = find("units"), entry.labs()["find"]
    task = annotation.task_of(live.state.made, entry.labs())
    shown = annotation.shown_pages(live, task, lab, home.journals())
    # Ten tests of each of the two descriptions of three functions.
    assert len(shown) == 60 and {page.arm for page in live.state.made.pages} == {"ground truth", "interpretation"}
    assert all(text for page in shown.values() for _, text in page.shown)
    # Two people always pick the first example. Nobody gets both descriptions of a function.
    right: dict[str, dict[str, list[bool]]] = {"ground truth": {}, "interpretation": {}}
    views = annotation.case_views(lab, home.journals())
    for who in ("ann", "bob"):
        person, arms = live.enter(who), {}
        while (next_one := live.next_page(person.id, shown)) is not None:
            page = live.state.pages[next_one]
            assert arms.setdefault(page.group, page.arm) == page.arm
            live.answer(person.id, next_one, ("1",), task.options)
            compared = task.compared(views(page.places[0]), page.places[0].trial, "repaired")
            assert compared is not None and compared.who == "control/straight"
            right[page.arm].setdefault(page.places[0].run, []).append(compared.actual == "1")
    capsys.readouterr()
    assert main(["study", "table", str(file), "--json"]) == 0
    rows = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    cells = {(row["row"], row["column"]): row for row in rows if "Table A4" in row["table"]}
    titles = {"ground truth": lab.metric("unit_test_ceiling").title, "interpretation": lab.metric("unit_test").title}
    for arm, title in titles.items():
        shares = [sum(one) / len(one) for one in right[arm].values()]
        assert len(shares) == 3 and cells["people", title]["n"] == 3
        assert cells["people", title]["value"] == pytest.approx(sum(shares) / 3)
        assert cells["control/straight", title]["value"] == 1
    assert any(row.startswith("people (simulated people)") for row, _ in cells)
    assert cells["people", titles["interpretation"]]["published"] == 0.7


def test_people_predict_preferences_on_pages_of_their_own(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """By hand: one who always says "Response 1" is right as often as that is what the model chose."""
    file = tmp_path / "preferences.toml"
    pair = 'context = "Which can fly?", response_1 = "A penguin.", response_2 = "A sparrow."'
    spec = f'spec = {{ task = "shp", {pair}, counterfactuals = 4, model = "control/steadfast" }}'
    file.write_text(f'lab = "ask"\n{spec}\n[[table]]\nkind = "chen_t3"\n')
    assert main(["study", "run", str(file)]) == 0
    assert main(["annotate", "make", str(file), "--task", "predict-preference", "--name", "three"]) == 0
    live, lab = find("three"), entry.labs()["simulatability"]
    task = annotation.task_of(live.state.made, entry.labs())
    shown = annotation.shown_pages(live, task, lab, home.journals())
    labels = [label for label, _ in next(iter(shown.values())).shown]
    assert labels[0] == "Starter post" and labels[-3:] == ["Follow-up post", "Response 1", "Response 2"]
    person = live.enter("ann")
    while (page := live.next_page(person.id, shown)) is not None:
        live.answer(person.id, page, ("1",), task.options)
    cells = tables(file, capsys)
    views = annotation.case_views(lab, home.journals())
    places = [place for page in live.state.made.pages for place in page.places]
    found = [task.compared(views(place), place.trial, "repaired") for place in places]
    settled = [one for one in found if one and one.machine in ("1", "2")]
    human = cells["explained: control/steadfast", "Human simulatability"]
    assert settled and human["n"] == len(settled)
    assert human["value"] == pytest.approx(sum(one.actual == "1" for one in settled) / len(settled))
