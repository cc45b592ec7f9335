"""The papers' tables on robots whose figures can be worked out by hand, the effect of choices, and the report."""

import json
import re
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from core import entry, home
from core.__main__ import main
from core.journal import read
from core.labs.ask.run_report import otherwise
from core.labs.base.declared import Metric
from core.score import Score, mean_of_cases
from core.statistics.intervals import Kind, difference_of_pairs, wilson
from core.studies import paper_tables, table_cells, tables
from core.studies.plan import StudyError, TableOf
from core.studies.plan import read as study_of
from core.studies.table_cells import cells
from core.text.embed import SMALL, encoder
from core.transcript import transcript
from tests.attacks.pages import ATTACKS
from tests.core.runs.test_document import Page

# "Can a penguin fly?" and the like: the steadfast robot is consistent with its explanation. The fickle one breaks it on
# the exceptions of its rule, and answers starters that are such exceptions wrongly.
ROBOTS = """
title = "Robots"
[[part]]
lab = "ask"
spec = { dataset = "world", limit = 6, counterfactuals = 4, arms = ["none", "question_only"] }
grid = { model = ["control/steadfast", "control/fickle"], method = ["posthoc", "forced"] }
[[part]]
lab = "check"
spec = { limit = 3, controls = 2, task = "sentiment", explanations = ["attribution"] }
grid = { model = ["control/honest-lexicon", "control/decoy-lexicon"] }
[[table]]
kind = "chen_t2"
[[table]]
kind = "chen_t6"
[[table]]
kind = "gain_by_arm"
[[table]]
kind = "other_models"
[[table]]
metrics = ["precision_words"]
[[table]]
lab = "ask"
rows = ["model"]
metrics = ["generality_cosine", "precision"]
[[table]]
kind = "excess"
[[table]]
kind = "madsen_f9"
"""

Cells = dict[tuple[str, str, str], dict[str, Any]]


@pytest.fixture
def robots(tmp_path: Path) -> Path:
    file = tmp_path / "robots.toml"
    file.write_text(ROBOTS, encoding="utf-8")
    assert main(["study", "run", str(file)]) == 0
    return file


def by_hand(model: str, method: str) -> dict[str, dict[str, Any]]:
    """For each starter question, from the lines of the journal: precision, and whether the own answer is right."""
    found: dict[str, dict[str, Any]] = {}
    for path in home.journals().glob("study-simulatability-*.jsonl"):
        lines = [json.loads(line) for line in path.read_text().splitlines()]
        spec = lines[0]["spec"]
        if (spec["model"], spec["method"], spec["limit"]) != (model, method, 6):
            continue
        for line in lines:
            case = found.setdefault(line.get("case") or "", {"guess": {}, "said": {}, "text": {}, "dropped": set()})
            if line["kind"] == "recorded" and line["record"] == "explanation":
                turned = {"yes": "no", "no": "yes"}
                own = line["data"]["answer_repaired"]
                case["right"] = (turned[own] if method == "forced" else own) == line["data"]["gold"]
            elif line["kind"] == "recorded" and line["record"] == "counterfactual":
                case["text"][line["item"]] = line["data"]["text"]
            elif line["kind"] == "dropped":
                case["dropped"].add(line["item"])
            elif line["kind"] == "recorded" and line["record"] in ("simulation", "answer"):
                case["guess" if line["record"] == "simulation" else "said"][line["item"]] = line["data"]["repaired"]
    found.pop("", None)
    for case in found.values():
        pairs = [(case["guess"][item], case["said"][item]) for item in case["guess"] if item in case["said"]]
        counted = [guess == said for guess, said in pairs if guess in ("yes", "no")]
        case["precision"] = sum(counted) / len(counted) if counted else None
    return found


def gains_over(model: str, other: str) -> dict[str, float]:
    """For each starter question: how much more often the predictions came true than the other model's answers to the
    same questions, the mean over both methods.
    """
    theirs: dict[tuple[str, str], set[str]] = {}
    methods = ("posthoc", "forced")
    for method in methods:
        for name, case in by_hand(other, method).items():
            for item in case["said"].keys() - case["dropped"]:
                theirs.setdefault((name, case["text"][item]), set()).add(case["said"][item])
    gains: dict[str, list[float]] = {}
    for method in methods:
        for name, case in by_hand(model, method).items():
            pairs = []
            for item in case["said"].keys() - case["dropped"]:
                answers = theirs.get((name, case["text"][item]), set())
                assert len(answers) < 2, "robots answer alike in both methods"
                if answers and case["guess"].get(item) in ("yes", "no"):
                    pairs.append((case["guess"][item] == case["said"][item]) - ({case["said"][item]} == answers))
            if pairs:
                gains.setdefault(name, []).append(sum(pairs) / len(pairs))
    return {name: sum(values) / len(values) for name, values in gains.items()}


def test_the_papers_tables_are_what_one_counts_by_hand(robots: Path, capsys: pytest.CaptureFixture[str]) -> None:
    capsys.readouterr()
    assert main(["study", "table", str(robots), "--json"]) == 0
    rows = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert all(
        {"table", "row", "column", "value", "n", "low", "high", "published", "source"} <= row.keys() for row in rows
    )
    cells: Cells = {(row["table"], row["row"], row["column"]): row for row in rows}

    settings = [
        (model, method) for model in ("control/steadfast", "control/fickle") for method in ("posthoc", "forced")
    ]
    counted = {setting: by_hand(*setting) for setting in settings}
    shared = [
        case
        for case in counted[settings[0]]
        if all(one[case]["right"] and one[case]["precision"] is not None for one in counted.values())
    ]
    # The fickle robot is wrong on some starter, so the table has fewer than all, and gives their number.
    assert 0 < len(shared) < 6
    made = "updated parser, our prompts"
    title = f"Own and forced explanations, where the own answer is right (Chen et al. 2023, Table 2), {made}: world"
    for model, method in settings:
        cell = cells[title, model, method]
        mean = sum(counted[model, method][case]["precision"] for case in shared) / len(shared)
        assert (cell["value"], cell["n"], cell["of"]) == (pytest.approx(mean), len(shared), 6)
        assert (cell["other_parser"], cell["other"]) == ("original parser", pytest.approx(mean)), (
            "robots write as asked"
        )
        # The paper printed this for StrategyQA, and these are other questions.
        assert cell["published"] is None
    difference = cells[f"{title}, differences", "control/steadfast", "posthoc over forced"]
    assert difference["value"] > 0.5 and difference["p"] < difference["p_holm"] < 0.05

    # The paper's encoder is not here, and a figure that hangs on it says so.
    assert encoder().name != SMALL or {table for table, *_ in cells if "sentence encoder" in table} == {
        "Ask: Generality, sentence encoder all-minilm-l6-v2 in place of all-mpnet-base-v2",
        "Ask: Generality, sentence encoder all-minilm-l6-v2 in place of all-mpnet-base-v2, differences",
    }

    accuracy = cells[f"Precision beside accuracy (Chen et al. 2023, Table 6), {made}", "world", "Accuracy"]
    own = [
        one["right"] for model in ("control/steadfast", "control/fickle") for one in by_hand(model, "posthoc").values()
    ]
    assert accuracy["value"] == pytest.approx(sum(own) / len(own))
    theirs = cells[
        f"Precision beside accuracy (Chen et al. 2023, Table 6), {made}", "strategyqa (Chen et al. 2023)", "Accuracy"
    ]
    assert (theirs["value"], theirs["n"], theirs["published"]) == (None, 0, 0.759)
    assert theirs["source"] == "Chen et al. 2023, Table 6, section 5.2.2"
    assert theirs["reading"] == "https://ar5iv.labs.arxiv.org/html/2307.08678#S5.SS2.SSS2"

    excess = f"Faithfulness beyond what random masks reach, {made}"
    assert cells[excess, "control/honest-lexicon · sentiment · attribution", "Faithfulness"]["value"] == 1
    assert cells[excess, "control/decoy-lexicon · sentiment · attribution", "Gain"]["value"] <= 0
    adds = f"What the explanation adds to what the predictor knows without it, {made}"
    arm = cells[adds, "control/steadfast · posthoc", "Gain over the question alone"]
    assert arm["value"] > 0
    assert (adds, "control/steadfast · posthoc", "Gain over word counts") in cells
    others = f"What the explanation adds to another model's answers to the same questions, {made}"
    for own, other in (("control/steadfast", "control/fickle"), ("control/fickle", "control/steadfast")):
        gains = gains_over(own, other)
        cell = cells[others, own, other]
        assert cell["value"] == pytest.approx(sum(gains.values()) / len(gains)) and cell["n"] == len(gains) > 3
    assert cell["value"] < 0, "the fickle robot answers as the steadfast one does, not as its explanation says"
    # Both parsers read what robots write alike, so the choice of parser changes nothing.
    spread = [row for row in rows if row["table"].startswith("Multiverse")]
    assert spread and all(row["low"] == row["high"] == row["value"] for row in spread if row["column"] == "range")


def test_what_a_paper_printed_stands_beside_its_own_setting() -> None:
    lab = entry.labs()["simulatability"]
    [table] = [one for one in lab.studies.tables if one.kind == "chen_t4"]
    values = {
        ("a", "cot"): (1.0, 0.5),
        ("a", "posthoc"): (1.0, 1.0),
        ("b", "cot"): (0.5, 0.0),
        ("b", "posthoc"): (0.0, None),
    }
    frame = pd.DataFrame(
        {
            **{"run": model, "case": str(item), "item": str(item), "model": model, "method": method},
            **{
                "dataset": "strategyqa",
                "metric": "precision",
                "value": value,
                "truth": None,
                "complete": True,
                "early": False,
                "applies": True,
            },
        }
        for (model, method), both in values.items()
        for item, value in enumerate(both)
    )
    cells: Cells = {
        (row["table"], row["row"], row["column"]): row for row in paper_tables.table_cells(table, lab, frame, "T")
    }
    # One item has no value in one of four cells, so it is in none of them.
    assert (cells["T: strategyqa", "a", "cot"]["value"], cells["T: strategyqa", "a", "cot"]["n"]) == (1.0, 1)
    assert cells["T: strategyqa", "a", "cot"]["of"] == 2
    of_paper = cells["T: strategyqa", "GPT-4 (Chen et al. 2023)", "posthoc"]
    assert of_paper["published"] == pytest.approx(0.839) and of_paper["value"] is None
    assert [of_paper[name] for name in ("n", "of", "trials", "thin", "complete")] == [0, 0, 0, False, True]
    together = cells["T: strategyqa, differences", "a over b", paper_tables.TOGETHER]
    assert (together["value"], together["n"]) == (pytest.approx(0.75), 1)
    gain = cells["T: strategyqa, differences", "GPT-4 over GPT-3 (Chen et al. 2023)", paper_tables.TOGETHER]
    assert gain["published"] == pytest.approx(0.055)


def test_prompts_are_never_pooled_and_ours_stands_beside_the_printed_figure() -> None:
    lab = entry.labs()["simulatability"]
    [table] = [one for one in lab.studies.tables if one.kind == "chen_t2"]
    known = {"run": "r", "model": "m", "dataset": "strategyqa", "metric": "precision", "truth": None, "complete": True}
    frame = pd.DataFrame(
        {**known, "early": False, "applies": True, "case": f"{item}", "item": f"{item}", "prompts": prompts}
        | {"method": method, "value": value, "other": None if item else 0.0}
        for prompts, method, value in (
            ("our prompts", "posthoc", 1.0),
            ("our prompts", "forced", 0.0),
            ("the paper's prompts", "posthoc", 0.5),
            ("the paper's prompts", "forced", 0.5),
        )
        for item in range(2)
    ).astype({"other": float})
    made = paper_tables.table_cells(table._replace(cases=lambda frame: frame), lab, frame, "T", "paper")
    cells: Cells = {(row["table"], row["row"], row["column"]): row for row in made}
    ours = cells["T, original parser, our prompts: strategyqa", "m", "posthoc"]
    theirs = cells["T, original parser, the paper's prompts: strategyqa", "m", "posthoc"]
    assert (ours["value"], ours["other"], ours["other_n"], ours["other_parser"]) == (1.0, 0.0, 1, "updated parser")
    assert ours["published"] == pytest.approx(0.834) and ours["difference"] == pytest.approx(1 - 0.834)
    assert theirs["difference"] == pytest.approx(0.5 - 0.834)
    why = "Ours and theirs may differ by the models"
    assert ours["why"] == f"{why}, the prompts (here our prompts), the items and their number."
    assert theirs["why"] == f"{why}, the items and their number."


def test_every_printed_figure_has_its_place(tmp_path: Path) -> None:
    """A table whose keys match no printed figure's would leave these out silently."""
    lost = []
    for lab in entry.labs().values():
        for table in lab.studies.tables:
            keys = {*table.apart, *table.their_rows, *table.their_columns}
            for name in table.metrics if table.their_rows or table.their_columns else ():
                about = [one.about.keys() - set(table.besides) for one in table.published(lab.name, name)]
                lost += [] if keys in about else [(table.kind, name)]
    # No paper prints precision by who wrote the questions, or how many dialogues made up outputs: these are ours alone.
    assert lost == [("chen_t1", "precision"), ("find_a5", "invented_outputs")]
    file = tmp_path / "wrong.toml"
    file.write_text(ROBOTS.replace("chen_t6", "chen_t66"), encoding="utf-8")
    with pytest.raises(StudyError, match=r"there is no table 'chen_t66'\. Did you mean chen_t6\?"):
        study_of(file, entry.labs())


def test_which_choice_moves_a_figure_and_which_items() -> None:
    lab = entry.labs()["simulatability"]
    one = {"metric": f"{table_cells.NAMED}precision", "model": "m", "how": "cot", "run": "r", "complete": True}
    told = {("paper", "1"): (1, 0), ("paper", "3"): (1, 0), ("repaired", "1"): (1, 1), ("repaired", "3"): (1, 0)}
    frame = pd.DataFrame(
        {**one, "rules": rules, "votes": votes, "item": f"q{item}", "value": float(value)}
        for (rules, votes), values in told.items()
        for item, value in enumerate(values)
    )
    cells = {row["column"]: row for row in table_cells.rows(lab, frame)}
    assert (cells["range"]["low"], cells["range"]["high"], cells["range"]["n"]) == (0.5, 1.0, 2)
    # Each of the two by itself moves the mean by a half if the other has one of its values, and otherwise not.
    assert cells["moved by votes (1, 3)"]["value"] == cells["moved by rules (paper, repaired)"]["value"] == 0.25
    assert cells["moved by votes (1, 3)"]["note"] == "items: q1"
    shown = table_cells.moved(table_cells.rows(lab, pd.concat([frame, frame[frame["votes"] == "3"].assign(model="n")])))
    assert {cell["row"] for cell in shown[0]} == {"m · cot"} and shown[1].startswith("1 of 2 are the same")


@pytest.mark.thorough
def test_fewer_votes_are_read_from_the_same_answers(tmp_path: Path) -> None:
    file = tmp_path / "votes.toml"
    file.write_text('lab = "ask"\nspec = { dataset = "world", limit = 2, votes = 5, model = "control/fickle" }\n')
    assert main(["study", "run", str(file)]) == 0
    study = study_of(file, entry.labs())
    state = transcript(read(home.journals() / f"{study.runs[0].id}.jsonl").events)
    case = next(iter(state.cases))
    log = state.case(case)
    made = {(one.choices["rules"], one.choices["votes"]): one.value for one in otherwise(study.runs[0].lab.view(log))}
    assert made.keys() == {(rules, votes) for rules in ("paper", "repaired") for votes in ("1", "3", "5")}
    score = log.score("precision", "repaired")
    assert score is not None and made["repaired", "5"] == score.value


def test_the_report_is_whole_and_what_is_hostile_is_text_in_it(
    robots: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "report.html"
    assert main(["study", "report", str(robots), "-o", str(out)]) == 0
    harmless = Page(out.read_text())
    for heading in ("Plan", "known value 1.00", "Methods", "Limits", "printed: 0.759"):
        assert heading in harmless.text
    assert "not finished" not in harmless.text and "Seeds: 0." in harmless.text
    cases, of = map(int, re.search(r"(\d+) of the (\d+) cases on which", harmless.text).groups())  # type: ignore[union-attr]
    assert cases == sum(("class", "case") in attributes.items() for _, attributes in harmless.tags) <= of
    # A model that answers in HTML, a study with HTML in its title, and runs that were never made.
    for path in home.journals().glob("study-*.jsonl"):
        path.write_text(path.read_text().replace("So the answer is", json.dumps(ATTACKS[0])[1:-1]))
    robots.write_text(ROBOTS.replace('"Robots"', json.dumps(f"{ATTACKS[0]}<script>")).replace("limit = 3", "limit = 2"))
    assert main(["study", "report", str(robots), "-o", str(out)]) == 0
    attacked = Page(out.read_text())
    assert ATTACKS[0] in attacked.text and {tag for tag, _ in attacked.tags} <= {tag for tag, _ in harmless.tags}
    assert attacked.kinds() <= harmless.kinds()
    scripts = [dict(given).get("type") for tag, given in attacked.tags if tag == "script"]
    assert scripts.count("module") == 1 and set(scripts) == {"module", "application/json"}
    policy = next(str(attributes["content"]) for _, attributes in attacked.tags if "http-equiv" in attributes)
    assert policy.startswith("default-src 'none'; style-src 'sha256-") and "unsafe" not in policy
    assert "This study is not finished. Completed runs: 4 of 6 (2 not begun)." in attacked.text
    assert "of its controls" not in attacked.text
    # As in an archive without the controls' runs: the study itself is finished.
    robots.write_text(ROBOTS)
    for run in study_of(robots, entry.labs()).controls:
        (home.journals() / f"{run.id}.jsonl").unlink()
    assert main(["study", "report", str(robots), "-o", str(out)]) == 0
    alone = Page(out.read_text())
    assert "not finished" not in alone.text and "All runs of this study are completed." in alone.text
    assert "whose faithfulness is known: none of 4 (4 not begun)" in alone.text


def test_as_it_was_read_a_recording_has_the_figure_that_it_published() -> None:
    seen = 0
    for path in sorted(home.recordings().glob("*.jsonl")):
        state = transcript(read(path).events)
        lab = entry.labs()[state.started.lab if state.started else ""]
        for case in state.cases:
            log = state.case(case)
            view = lab.view(log)
            assert all(
                figure.score.n <= figure.score.of for figure in lab.studies.extra_figures(view.by("repaired"))
            ), path.name
            for one in table_cells.otherwise(lab, view):
                score = log.score(one.metric, one.choices["rules"])  # type: ignore[arg-type]
                if score is not None and one.choices.get("votes", "1") == str(log.spec.get("votes", 1)):
                    assert one.value == pytest.approx(score.value), (path.name, case, one)
                    seen += 1
    assert seen > 10


def test_the_same_value_everywhere_has_the_interval_of_what_it_is() -> None:
    frame = pd.DataFrame(
        {
            "run": "r",
            "case": item,
            "item": item,
            "model": "m",
            "value": 0.0,
            "truth": None,
            "complete": True,
            "early": False,
            "applies": True,
        }
        for item in "abcd"
    )
    kinds: tuple[Kind, ...] = ("share", "difference", "positive")
    [share], [gain], [error] = (cells(frame, ["model"], [], "–", Metric("m", "M", "", kind)) for kind in kinds)
    assert (error["value"], error["low"], error["n"]) == (0, None, 4)
    assert (share["low"], share["high"]) == pytest.approx(wilson(0, 4)) and gain["n"] == 4
    assert (gain["low"], gain["high"]) == pytest.approx(difference_of_pairs(0, 0, 4)[1:])


def test_what_must_be_read_is_averaged_as_the_value_beside_it_is() -> None:
    """A robot that does not err was once shown as 0.50 beside 0.53: one was averaged by question, the other by case."""

    def of_robot(cases: list[tuple[str, float | None, float | None]]) -> tuple[float, float | None]:
        rows = pd.DataFrame(
            {"run": "r", "case": str(at), "item": item, "model": "m", "value": value, "truth": truth,
             "complete": True, "early": False, "applies": True}
            for at, (item, value, truth) in enumerate(cases)
        )  # fmt: skip
        (cell,) = cells(rows, ["model"], [], "–", Metric("m", "M", "", "share"))
        return cell["value"], cell["truth"]

    assert of_robot([("a", 1.0, 1.0)] * 3 + [("b", 0.0, 0.0)]) == (0.5, 0.5)
    assert of_robot([("a", 1.0, 1.0), ("b", 0.0, 0.0), ("c", None, 1.0)]) == (0.5, 0.5), "the same cases"
    assert of_robot([("a", 1.0, 1.0), ("b", 0.4, None)]) == (0.7, None), "not that of a part beside the whole"


def test_a_table_has_the_median_of_errors_that_the_page_has_and_calls_it_so() -> None:
    """Once, a single bad program made a study's NMSE 200 times that of the lab's page."""
    lab = entry.labs()["find"]
    metric, errors = lab.metric("nmse"), [0.1, 0.2, 0.25, 0.3, 0.4, 0.5, 1000.0]
    rows = pd.DataFrame(
        {"run": "r", "case": str(at), "item": str(at), "model": "m", "metric": "nmse", "value": error, "n": 1, "of": 1,
         "truth": error, "control": False, "lab": "find", "complete": True, "early": False, "applies": True}
        for at, error in enumerate(errors)
    )  # fmt: skip
    (cell,) = tables._table(TableOf(rows=("model",), metrics=("nmse",)), lab, rows)
    page = mean_of_cases([Score(error, 256, 256) for error in errors], metric.kind, metric.ends)
    assert (cell["value"], cell["low"], cell["high"]) == (page.value, page.low, page.high) == (0.3, 0.1, 1000.0)
    assert cell["truth"] == 0.3 and cell["table"].endswith(": Normalized error (NMSE), median")
    assert metric.title_with(page.detail) == metric.title_of_several == "Normalized error (NMSE), median"
    assert metric.title_with({}) == metric.title
