"""The sentences for a paper: each number is counted here again from the journals, line by line."""

import hashlib
import json
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from core import entry, home
from core.report import methods
from core.store.index import index
from core.store.store import Store


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Store]:
    """The recordings that ship; one of them has lost its end and has a line that is no event."""
    folder = tmp_path_factory.mktemp("methods")
    journals = folder / "journals"
    journals.mkdir()
    for path in home.recordings().glob("*.jsonl"):
        (journals / path.name).write_bytes(path.read_bytes())
    broken = min(journals.glob("*-simulatability-*"))
    *kept, end = broken.read_text().splitlines()
    assert json.loads(end)["kind"] == "finished"
    broken.write_text("\n".join([*kept, "no event", ""]))
    with Store(folder / "store.duckdb", entry.labs()) as store:
        index(store, journals)
        yield store


def events(store: Store, run: str) -> list[dict[str, Any]]:
    path = store.path.parent / "journals" / f"{run}.jsonl"
    return [json.loads(line) for line in path.read_text().splitlines() if line.startswith("{")]


def runs(store: Store, lab: str = "") -> list[str]:
    return sorted(path.stem for path in (store.path.parent / "journals").glob("*.jsonl") if lab in path.stem)


def of(lines: list[dict[str, Any]], kind: str, **wanted: Any) -> list[dict[str, Any]]:
    return [
        one for one in lines if one["kind"] == kind and all(one.get(name) == value for name, value in wanted.items())
    ]


def test_every_number_of_a_run_is_the_journal_s(store: Store) -> None:
    for run in runs(store):
        lines = events(store, run)
        [text] = methods.sentences(store, [run])
        began, asked = lines[0], of(lines, "asked")
        lab = entry.labs()[began["lab"]]
        assert f"1 run of {lab.title} (“{lab.question}”), begun {began['at'][:10]} (UTC)" in text
        assert f"{began['app']} ({began['commit']})." in text and f"Seeds: {began['seed']}." in text
        assert f"{len(asked)} calls; 0 failed." in text or f"{len(asked)} calls, " in text
        for one in asked:
            assert one["model"] in text and one["role"] in text
            if one["prompt"] in began["prompts"]:
                assert f"{one['prompt']} {began['prompts'][one['prompt']]}" in text
        trials = [one["data"] for one in of(lines, "recorded", record="trial")]
        repaired, paper = (sum(one[rules]["counts"] for one in trials) for rules in ("repaired", "paper"))
        assert f"{len(trials)} trial" in text
        assert f"{repaired} count with the updated parser and {paper} with the original one" in text
        differ = sum(one["repaired"]["outcome"] != one["paper"]["outcome"] for one in trials)
        assert f"disagree on the outcome of {differ}." in text
        lost = {(one["case"], one["item"], one["reason"]) for one in of(lines, "dropped") if one["rules"] != "paper"}
        counts = Counter(reason for *_, reason in lost)
        told = text[text.index("Excluded with the updated parser: ") :].partition(": ")[2].partition(".")[0]
        assert told == (", ".join(f"{n} {reason}" for reason, n in counts.most_common()) or "nothing")
        for metric in (metric for metric in lab.metrics if metric.leads):
            found = of(lines, "scored", metric=metric.name, rules="repaired", item="", case="")
            if not found:
                assert metric.title not in text
                continue
            value, low = found[-1]["value"], found[-1]["low"]
            shown = "undefined" if value is None else f"{value:{metric.format}}{metric.unit}"
            assert f"{metric.title}: {shown} (n = {found[-1]['n']} of {found[-1]['of']}" in text
            if low is not None:
                assert f"95 % interval {low:{metric.format}} to {found[-1]['high']:{metric.format}}" in text


def test_several_runs_are_told_by_lab_with_what_to_beware_of(store: Store) -> None:
    found = methods.sentences(store, runs(store))
    assert [text.partition(" (")[0] for text in found] == [
        "4 runs of Ask",
        "3 runs of Check",
        "2 runs of Probe",
        "2 runs of Plant",
    ]
    assert "Not all runs were completed: 1 not finished." in found[0]
    assert "1 line of the journals could not be read" in found[0] and "could not be read" not in found[1]
    assert "Everything was sampled with one seed" in found[0] and "robots" not in found[0]
    values = {}
    for run in runs(store, "simulatability"):
        lines = events(store, run)
        title = of(lines, "recorded", record="begun")[0]["data"]["title"]
        score = of(lines, "scored", metric="precision", rules="repaired", case="", item="")[-1]
        values[title] = score["value"]
    defined = [value for value in values.values() if value is not None]
    assert f"{sum(defined) / len(defined):.2f} (n = {len(defined)} of {len(values)} items" in found[0]
    assert methods.sentences(store, ["none"]) == []


def test_robots_are_named_as_such(tmp_path: Path) -> None:
    from core.__main__ import main

    assert main(["ask", "Can a penguin fly?", "--model", "control/fickle", "--counterfactuals", "2"]) == 0
    with Store(home.home() / "store.duckdb", entry.labs()) as store:
        index(store, home.journals())
        [text] = methods.sentences(store, runs_of_home())
    assert "These are robots with known behaviour, not language models: control/fickle." in text


def runs_of_home() -> list[str]:
    return [path.stem for path in home.journals().glob("*.jsonl")]


def test_data_sets_are_described_by_digest_rows_seeds_and_items() -> None:
    from core.__main__ import main

    folder = home.home() / "elsewhere"
    folder.mkdir(parents=True)
    file = folder / "mine.csv"
    file.write_text(
        "q,gold\n" + "".join(f"Is {n} even?,yes\n" for n in range(6)) + "Is 5 even?,yes\nIs 7 even?,perhaps\n"
    )
    for seed in ("0", "1"):
        data = ["--dataset", f"file:{file}", "--column", "question=q", "--column", "answer=gold", "--limit", "4"]
        assert main(["plant", "strategyqa", *data, "--model", "control/admits", "--seed", seed]) == 0
    with Store(home.home() / "store.duckdb", entry.labs()) as store:
        index(store, home.journals())
        [text] = methods.sentences(store, runs_of_home())
        of_cases = store.rows('select run, "case" from cases')
    items = {seed: {case for run, case in of_cases if run in seeded} for seed, seeded in by_seed().items()}
    digest = hashlib.sha256(file.read_bytes()).hexdigest()
    assert f"Data set: mine.csv (SHA-256 {digest}), 8 rows; left out: " in text
    assert "1 the id or the words of another row" in text and str(folder) not in text
    sampled = (
        f"Sampled: {len(items[0])} by seed 0, {len(items[1])} by seed 1; {len(items[0] | items[1])} distinct items."
    )
    assert sampled in text and len(items[0]) in (3, 4)


def by_seed() -> dict[int, list[str]]:
    found: dict[int, list[str]] = {}
    for path in home.journals().glob("*.jsonl"):
        found.setdefault(json.loads(path.read_text().partition("\n")[0])["seed"], []).append(path.stem)
    return found
