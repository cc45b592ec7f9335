"""A specification with more items than a run takes is divided into runs automatically, and these count as one."""

import asyncio
import re
import shlex
from collections import Counter
from itertools import chain, product
from pathlib import Path
from typing import Any

import pytest

from core import entry, home
from core.__main__ import main
from core.datasets import registry
from core.datasets.registry import OnData
from core.labs.ask.tasks import AskSpec
from core.labs.base.spec import MOST_CASES
from core.labs.check.tasks import CheckSpec
from core.studies import estimate, plan, tables
from core.studies.estimate import Sizes
from core.studies.execute import Making
from core.studies.plan import Study, parse, run_id
from core.studies.run_status import StudyState, labels, progress
from tests.core.studies import full_sizes
from tests.support import authors_repositories

STUDIES = sorted(path for path in Path("studies").glob("*.toml"))

WORLD = """
lab = "plant"
spec = { dataset = "world", limit = 10, repeats = 1 }
grid = { model = ["control/admits", "control/silent"] }
"""


def study_of(text: str) -> Study:
    return parse("shards.toml", text.encode(), entry.labs())


def made(study: Study) -> list[dict[str, Any]]:
    outcome = asyncio.run(Making(study, entry.labs(), entry.catalog().get, home.journals()).run_all(study.runs))
    assert len(outcome.completed) == len(study.runs)
    return tables.rows(study, entry.labs(), tables.measured(study, entry.labs(), home.journals()))


def figures(rows: list[dict[str, Any]]) -> list[tuple[object, ...]]:
    return [tuple(row[name] for name in ("table", "row", "column", "value", "n", "of", "low", "high")) for row in rows]


def test_every_study_can_be_made_on_data_of_the_papers_sizes(tmp_path: Path) -> None:
    authors_repositories.in_home(tmp_path / "copies")
    full_sizes.write(home.home() / "datasets")
    assert len(STUDIES) >= 9
    for path, whole in product(STUDIES, (False, True)):
        text = path.read_text(encoding="utf-8")
        study = study_of(re.sub(r"(?m)^limit = \d+$", "", text) if whole else text)
        found = estimate.estimate(study, entry.labs(), entry.catalog().get, home.journals(), home.recordings())
        assert not found.missing, (path, whole)
        sizes = Sizes()
        assert all(0 < sizes.size_of(run).cases <= MOST_CASES for run in study.all), path
        assert found.cases == sum(sizes.size_of(run).cases for run in study.all)
        # The formula gives what a run would get.
        for run in (study.runs[0], study.runs[-1]):
            assert len(list(run.lab.cases(run.spec))) == sizes.size_of(run).cases
        if whole and path.stem == "madsen_fig9":
            counts = Counter[str]()
            for run in study.runs:
                counts[plan.dataset_of(run.spec)] += sizes.size_of(run).items
            assert counts == {name: full_sizes.SIZES[name] for name in ("imdb", "mctest", "babi-1", "rte")}
            of_controls = sum(sizes.size_of(run).cases for run in study.controls)
            assert found.calls["explainer"] == counts.total() * 18 + of_controls


def test_what_one_run_takes_is_one_run_of_the_same_name_as_ever() -> None:
    spec = AskSpec(dataset="world", limit=10, model="control/fickle")
    assert spec.shards() == (spec,) and spec.whole == spec
    assert "shard" not in spec.model_dump(mode="json")
    assert AskSpec(question="Is it?", model="control/fickle").shards()[0].shard is None


def test_shards_part_the_items_in_the_order_drawn(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "mine.csv").write_text("question,answer\n" + "".join(f"Is it {n}?,yes\n" for n in range(23)))
    for dataset in ("world", f"file:{tmp_path / 'mine.csv'}"):
        whole = AskSpec(dataset=dataset, limit=17, seed=3, model="control/fickle")
        monkeypatch.setattr(registry, "MOST_CASES", 5)
        parts = whole.shards()
        assert [one.shard for one in parts] == [(1, 4), (2, 4), (3, 4), (4, 4)]
        items = [[item.id for item in one.chosen_items()[0]] for one in parts]
        assert [*chain(*items)] == [item.id for item in whole.chosen_items()[0]] and len(set(chain(*items))) == 17
        assert [len(ids) for ids in items] == [4, 4, 4, 5]
        assert {one.whole for one in parts} == {whole} and parts[1].shards() == (parts[1],)
        # Fewer than the limit, as the data set shows.
        everything = whole.model_copy(update={"limit": 500})
        assert 23 <= everything.size() < 500 and len(everything.shards()) == -(-everything.size() // 5)
        monkeypatch.undo()


def test_a_shard_that_cannot_be_is_refused() -> None:
    for shard in ((0, 2), (3, 2), (1, 1)):
        with pytest.raises(ValueError, match=r"shard|greater than or equal"):
            AskSpec(dataset="world", shard=shard, model="control/fickle")
    with pytest.raises(ValueError, match="A shard is the number of a part"):
        AskSpec(question="Is it?", shard=(1, 2), model="control/fickle")


def test_without_the_data_the_limit_tells() -> None:
    spec = CheckSpec(task="sentiment", dataset="imdb", limit=100, every_wording=True, model="control/honest-lexicon")
    assert spec.cases_of_item == 18 and [one.shard for one in spec.shards()] == [(1, 2), (2, 2)]
    assert spec.model_copy(update={"limit": None}).shards() == (spec.model_copy(update={"limit": None}),)


def test_the_shards_of_a_cell_are_one_cell_of_every_table(monkeypatch: pytest.MonkeyPatch) -> None:
    alone = study_of(WORLD)
    before = figures(made(alone))
    monkeypatch.setattr(registry, "MOST_CASES", 3)
    study = study_of(WORLD)
    assert len(study.runs) == 2 * 4 and not {run.id for run in study.runs} & {run.id for run in alone.runs}
    # The task that a worker gets for a run names the same run.
    for run in study.runs:
        assert run_id(run.lab, run.lab.spec.model_validate(run.spec.model_dump(mode="json"))) == run.id
    planned = estimate.estimate(study, entry.labs(), entry.catalog().get, home.journals(), home.recordings())
    of_controls = sum(Sizes().size_of(run).cases for run in study.controls)
    assert planned.items == 10 and planned.cases == 20 + of_controls and planned.runs == 8 + len(study.controls)
    assert figures(made(study)) == before
    assert set(labels(study).values()) == {"Controls", "control/admits", "control/silent"}
    now = progress(StudyState(study, home.journals()))
    cells = {cell.cell: (cell.runs, cell.completed, cell.cases, cell.of) for cell in now.cells}
    assert cells["control/admits"] == (4, 4, 10, 10) and now.ended == len(study.runs)


def test_the_power_of_a_study_is_that_of_its_cells(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(registry, "MOST_CASES", 20)
    study = study_of(f"power = 0.8\n{WORLD.replace('limit = 10', 'limit = 60')}")
    made(study)
    found = estimate.estimate(study, entry.labs(), entry.catalog().get, home.journals(), home.recordings())
    assert list(found.power_items) == ["Plant, control/admits and control/silent"]


def test_a_command_makes_all_runs_and_goes_on_where_it_stopped(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(registry, "MOST_CASES", 3)
    command = shlex.split("plant strategyqa --dataset world --limit 8 --model control/admits --repeats 1")
    assert main(command) == 0
    told = capsys.readouterr().out
    assert "Run 1 of 3" in told and "Run 3 of 3" in told
    journals = {path: path.read_bytes() for path in home.journals().glob("study-*.jsonl")}
    assert len(journals) == 3
    # The figures of all runs, by item: 8 of them, though no run has more than three.
    assert re.search(r"Plant: .*\n.*\n.*control/admits .* of 8\b", told), told[-1500:]
    assert main(command) == 0
    assert {path: path.read_bytes() for path in journals} == journals


def test_every_lab_over_data_says_how_many_cases_it_makes_of_an_item() -> None:
    of_data = [lab for lab in entry.labs().values() if issubclass(lab.spec, OnData)]
    assert len(of_data) >= 3
    for lab in of_data:
        task = {"consistency": "entailment"}.get(lab.name, "strategyqa")
        dataset = {"entailment": "rte", "strategyqa": "strategyqa"}[task]
        place = Path("tests/data/sets") / dataset
        more = {"every_wording": True} if lab.name == "consistency" else {}
        spec = lab.spec.model_validate(
            {"task": task, "dataset": dataset, "path": str(place), "model": "control/x", "limit": 3, **more}
        )
        assert isinstance(spec, OnData)
        assert len(list(lab.cases(spec))) == spec.size() * spec.cases_of_item
