"""Everybody can view the runs that come with the app, and nobody can change them."""

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from core import policy
from core.labs.base.declared import Cases
from core.models.cache import Replay
from core.models.catalog import Catalog
from core.runs.library import RunNotFoundError
from core.server.access import AccessDeniedError, RunAccess, Visitor
from core.server.jobs import JobRunner
from core.server.quotas import Quotas, delete_old_runs, stored_bytes
from core.store import run_list
from core.store.index import IndexWatcher, index
from core.store.listing import Selection
from core.store.store import Store
from core.studies import study_files
from tests.support.small_lab import LAB, Echoing, EchoSpec, Promise

LABS = {"echo": LAB}
ANN, HOST = Visitor("ann"), Visitor("carl", is_host=True)
SAID = Promise(call="", text="It repeats.")


@pytest.fixture
def recorded(tmp_path: Path) -> tuple[JobRunner, str]:
    """Jobs with one run, which is the only recording."""
    (tmp_path / "recordings").mkdir()
    maker = JobRunner(tmp_path / "recordings", LABS, lambda id: Echoing())
    run = maker.start("echo", EchoSpec())
    assert maker.wait(run, 120)
    for file in (tmp_path / "recordings").glob("*.jsonl"):
        file.chmod(0o444)
    (tmp_path / "journals").mkdir()
    jobs = JobRunner(tmp_path / "journals", LABS, lambda id: Echoing(), recordings=tmp_path / "recordings")
    return jobs, run


@pytest.fixture(params=["alone", "hosted"])
def _where(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    if request.param == "hosted":
        monkeypatch.setattr(policy, "_served", {"0.0.0.0"})


@pytest.mark.usefixtures("_where")
@pytest.mark.parametrize("visitor", [ANN, HOST])
def test_everybody_looks_and_nobody_owns(recorded: tuple[JobRunner, str], visitor: Visitor) -> None:
    jobs, run = recorded
    visit = RunAccess(jobs, visitor)
    seen = visit.run(run)
    assert seen.is_recording() and visit.sees(run) and seen.shared() and not visit.owns(run)
    assert seen.watch().transcript.status == "completed" and not seen.active() and seen.faults() == []
    assert seen.file().st_size == len(seen.journal())
    deeds: list[Callable[[], object]] = [
        lambda: visit.own_run(run).resume(), lambda: visit.own_run(run).cancel(), lambda: visit.share(run, True)
    ]  # fmt: skip
    for deed in deeds:
        with pytest.raises(AccessDeniedError):
            deed()


def test_it_is_never_written(recorded: tuple[JobRunner, str], tmp_path: Path) -> None:
    jobs, run = recorded
    path = tmp_path / "recordings" / f"{run}.jsonl"
    held, there = path.read_bytes(), sorted(path.parent.rglob("*"))
    for deed in (lambda: jobs.resume(run), lambda: jobs.keeping.share(run, False)):
        with pytest.raises(RunNotFoundError, match="is a recording"):
            deed()
    visit = RunAccess(jobs, ANN)
    visit.run(run).guess("ann", "all/1-a", lambda by: SAID, "1")
    assert [event.kind for event in jobs.keeping.events(run, "ann")] == ["recorded"]
    assert jobs.owner(f"{run}~ann") == "ann"
    again = visit.run(run).reread(Replay)
    assert visit.run(again).wait(120) and visit.owns(again) and not visit.run(again).is_recording()
    assert path.read_bytes() == held and sorted(path.parent.rglob("*")) == there
    assert {one.stem for one in (tmp_path / "journals").glob("*.jsonl")} == {f"{run}~ann", again}


def test_it_takes_nothing_from_what_people_may_have(recorded: tuple[JobRunner, str], tmp_path: Path) -> None:
    _, run = recorded
    os.utime(tmp_path / "recordings" / f"{run}.jsonl", (0, 0))
    assert Quotas(tmp_path / "journals").usage_of(None).calls == 0 and stored_bytes(tmp_path / "journals") == 0
    assert delete_old_runs(tmp_path / "journals", 1) == [] and (tmp_path / "recordings" / f"{run}.jsonl").exists()


def test_what_visitors_said_of_one_is_kept_no_longer_than_their_runs(
    recorded: tuple[JobRunner, str], tmp_path: Path
) -> None:
    jobs, run = recorded
    for who in ("ann", "bob"):
        RunAccess(jobs, Visitor(who)).run(run).guess(who, "all/1-a", lambda by: SAID, "1")
    jobs.keeping.add(run, "the-command-line", "all/1-a", SAID, "1")
    for who in ("ann", "the-command-line"):
        os.utime(tmp_path / "journals" / f"{run}~{who}.jsonl", (0, 0))
    assert delete_old_runs(tmp_path / "journals", 1) == []
    kept = {path.stem for path in (tmp_path / "journals").glob("*.jsonl")}
    assert kept == {f"{run}~bob", f"{run}~the-command-line"}


def test_a_run_of_ones_own_goes_before_a_recording_of_its_name(recorded: tuple[JobRunner, str], tmp_path: Path) -> None:
    jobs, run = recorded
    (tmp_path / "journals" / f"{run}.jsonl").write_bytes((tmp_path / "recordings" / f"{run}.jsonl").read_bytes())
    assert not jobs.is_recording(run)


def test_in_a_pack_it_is_one_too_and_is_no_model_on_offer(recorded: tuple[JobRunner, str], tmp_path: Path) -> None:
    jobs, run = recorded
    folder = tmp_path / "recordings"
    (folder / "packs").mkdir()
    assert study_files.write_archive(folder / "packs" / "cards.zip", [run], folder) == {}
    (folder / f"{run}.jsonl").unlink()
    visit = RunAccess(jobs, ANN)
    seen = visit.run(run)
    assert seen.is_recording() and seen.shared() and visit.sees(run) and not visit.owns(run)
    assert seen.watch().transcript.status == "completed" and seen.faults() == []
    seen.guess("ann", "all/1-a", lambda by: SAID, "1")
    assert {one.stem for one in (tmp_path / "journals").glob("*.jsonl")} == {f"{run}~ann"}
    with pytest.raises(RunNotFoundError, match="is a recording"):
        jobs.resume(run)
    catalog = Catalog(
        home=tmp_path, journals=tmp_path / "journals", read=lambda path: jobs.events(path.stem), recordings=folder
    )
    assert catalog.get(f"replay/{run}").id == f"replay/{run}" not in [info.id for info in catalog.describe()]
    with Store(tmp_path / "store.duckdb", LABS) as store:
        assert index(store, folder, recordings=True) == [run] and len(run_list.runs(store, recordings=True)) == 1


@pytest.mark.parametrize("name", ["../recordings/{run}", "x/../{run}", "", "\0", "a" * 5000])
def test_no_name_leads_elsewhere(recorded: tuple[JobRunner, str], name: str) -> None:
    jobs, run = recorded
    with pytest.raises(RunNotFoundError):
        jobs.events(name.format(run=run))


def test_its_answers_can_be_asked_again(recorded: tuple[JobRunner, str], tmp_path: Path) -> None:
    jobs, run = recorded
    catalog = Catalog(
        home=tmp_path, journals=tmp_path / "journals", read=lambda path: jobs.events(path.stem),
        recordings=tmp_path / "recordings",
    )  # fmt: skip
    assert catalog.get(f"replay/{run}").id == f"replay/{run}"
    assert f"replay/{run}" in [info.id for info in catalog.describe()]


def test_lists_keep_it_apart_from_what_people_ran(recorded: tuple[JobRunner, str], tmp_path: Path) -> None:
    jobs, run = recorded
    own = jobs.start("echo", EchoSpec(), owner="ann")
    assert jobs.wait(own, 120)
    with Store(tmp_path / "store.duckdb", LABS) as store:
        keeper = IndexWatcher(store, tmp_path / "journals", recordings=tmp_path / "recordings")
        try:
            assert keeper.looked.wait(120)
            for viewer in (None, "ann", "bob"):
                assert list(run_list.runs(store, viewer=viewer, recordings=True)["run"]) == [run]
            assert list(run_list.runs(store)["run"]) == [own] == list(run_list.runs(store, viewer="ann")["run"])
            assert run_list.runs(store, viewer="bob").empty
            evidence = Selection(store).of_cases("echo", Cases((LAB.headline,)))
            assert set(evidence["run"]) == {own}, "chosen runs are no evidence"
            keeper.index.update()
            assert len(run_list.runs(store, recordings=True)) == 1, "it is not gone because it lies elsewhere"
        finally:
            keeper.close()
