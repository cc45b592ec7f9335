"""Jobs in odd situations: old journals, empty ones, a limit exactly reached, a journal that another process has taken
over.
"""

import json
import shutil
from pathlib import Path

import pytest

from core import entry, home, journal
from core.events import SCHEMA, Shared, Started, Token
from core.journal import Journal, JournalFullError, JournalInUseError
from core.runs import driver
from core.runs.library import NewerRunError, RunNotFoundError, about_path, said_path
from core.server import jobs
from core.server.jobs import JobRunner
from core.server.quotas import QuotaExceededError
from core.transcript import Transcript, transcript
from tests.support.small_lab import LAB, Echoing, EchoSpec, Promise
from tests.support.waiting import until

ONE_OF_EACH_LAB = sorted({path.stem.split("-")[2]: path for path in home.recordings().glob("*.jsonl")}.values())
SLOW = EchoSpec(words=("a", "b"), times=1)


@pytest.fixture
def going(tmp_path: Path) -> JobRunner:
    return JobRunner(tmp_path, {"echo": LAB}, lambda id: Echoing(wait=30))


def looks(state: Transcript) -> object:
    return (
        {case: one.result for case, one in state.cases.items()},
        {place: list(one.records) for place, one in state.places.items() if one.records},
    )


@pytest.mark.parametrize("kept", ONE_OF_EACH_LAB, ids=lambda kept: kept.stem.split("-")[2])
def test_a_journal_is_looked_at_case_by_case_as_it_is_read_whole(kept: Path, tmp_path: Path) -> None:
    shutil.copy(kept, tmp_path / kept.name)
    jobs = JobRunner(tmp_path, entry.labs(), entry.catalog().get)
    whole = transcript(jobs.events(kept.stem))
    assert whole.cases and all(one.result for one in whole.cases.values())
    for case in whole.cases:
        for state in (jobs.case(kept.stem, case), jobs.watch(kept.stem, case).transcript):
            results, places = looks(state)
            assert results == looks(whole)[0]
            assert places[case] == list(whole.places[case].records)
    assert looks(jobs.watch(kept.stem).transcript) == looks(whole)


def test_a_journal_that_grows_is_followed(tmp_path: Path) -> None:
    """It comes from another app's folder, copied while someone watches."""
    kept = ONE_OF_EACH_LAB[0]
    lines = kept.read_bytes().splitlines(keepends=True)
    path = tmp_path / kept.name
    path.write_bytes(lines[0])
    jobs = JobRunner(tmp_path, entry.labs(), entry.catalog().get)
    watch = jobs.watch(kept.stem)
    assert not watch.refresh()
    with path.open("ab") as file:
        file.writelines(lines[1:])
    assert watch.refresh() and not watch.refresh()
    assert looks(watch.transcript) == looks(transcript(jobs.events(kept.stem)))


def test_a_run_whose_first_line_is_not_written_yet_can_be_looked_at(going: JobRunner, tmp_path: Path) -> None:
    with Journal(tmp_path / "empty.jsonl"):
        assert not going.case("empty", "all/1-a").cases and not going.watch("empty", "all/1-a").transcript.cases
        assert going.owner("empty") == "" and going.events("empty") == []
    with pytest.raises(RunNotFoundError, match="There is no run named 'empty'"):
        going.resume("empty")
    assert not going.here("empty"), "what was refused holds nothing"
    Journal(tmp_path / "empty.jsonl").close()


def test_why_a_run_could_not_write_its_first_line_is_said(going: JobRunner, monkeypatch: pytest.MonkeyPatch) -> None:
    def append(written: Journal, event: object) -> bytes:
        raise JournalFullError("There is no room left on the disk.")

    monkeypatch.setattr(Journal, "append", append)
    run = going.start("echo", SLOW)
    assert going.wait(run, 60)
    with pytest.raises(RunNotFoundError, match="no room left on the disk"):
        going.watch(run)


def test_whose_a_run_is_is_known_before_its_first_line_is_there(going: JobRunner, tmp_path: Path) -> None:
    run = going.start("echo", SLOW, owner="ann")
    path = tmp_path / f"{run}.jsonl"
    until(lambda: path.stat().st_size > 0)
    written = path.read_bytes()
    path.write_bytes(b"")
    other = JobRunner(tmp_path, {"echo": LAB}, lambda id: Echoing())
    assert (going.owner(run), other.owner(run)) == ("ann", "")
    path.write_bytes(written)
    assert other.owner(run) == "ann", "a name that was not there yet is looked for again"
    going.cancel(run)


def test_a_new_run_never_writes_into_another_s_journal(
    going: JobRunner, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for module in (jobs, driver):
        monkeypatch.setattr(module, "new_id", lambda lab: "taken")
    (tmp_path / "taken.jsonl").write_bytes(b"what another machine wrote\n")
    with pytest.raises(FileExistsError):
        going.start("echo", SLOW)
    old = journal.to_line(Started(run="old", lab="echo", spec=SLOW.model_dump(mode="json"), seed=0), 1)
    (tmp_path / "old.jsonl").write_bytes(old)
    with pytest.raises(FileExistsError):
        going.reread("old", lambda run, events: Echoing())
    assert (tmp_path / "taken.jsonl").read_bytes() == b"what another machine wrote\n"
    assert not going.here("taken")


def test_what_keeps_a_run_from_going_on_is_named_and_no_more_than_three_things(
    going: JobRunner, tmp_path: Path
) -> None:
    spec = {"words": 5, "times": 9, "voice": "whispered", "model": 3}
    line = journal.to_line(Started(run="odd", lab="echo", spec=spec, seed=0), 1)
    (tmp_path / "odd.jsonl").write_bytes(line)
    with pytest.raises(RunNotFoundError) as caught:
        going.resume("odd")
    complaints = str(caught.value).split("this version of the app: ")[1].split("; ")
    assert len(complaints) == 3
    assert [complaint.split(":")[0] for complaint in complaints] == ["words", "times", "voice"]
    assert not going.active("odd")


def test_of_a_lab_that_is_not_there_or_of_somebody_s_words_nothing_goes_on(going: JobRunner, tmp_path: Path) -> None:
    for name, changes in (("elsewhere", {"lab": "other"}), ("words", {"about": "run"})):
        started = Started(run=name, lab="echo", spec={}, seed=0).model_copy(update=changes)
        (tmp_path / f"{name}.jsonl").write_bytes(journal.to_line(started, 1))
        with pytest.raises(RunNotFoundError, match="no run that this app can continue"):
            going.resume(name)
        assert not going.active(name)


def test_every_look_at_a_run_of_a_newer_version_says_so(going: JobRunner, tmp_path: Path) -> None:
    started = Started(run="new", lab="echo", spec={}, seed=0).model_copy(update={"version": SCHEMA + 1})
    (tmp_path / "new.jsonl").write_bytes(journal.to_line(started, 1))
    for look in (going.events, going.faults, going.watch, going.owner, lambda run: going.case(run, "all/1-a")):
        with pytest.raises(NewerRunError, match="newer version"):
            look("new")


def limited(jobs: JobRunner, monkeypatch: pytest.MonkeyPatch, name: str, most: int, owner: str) -> bool:
    """Whether a run is refused under this limit."""
    monkeypatch.setenv(f"EXPLAIN_{name}", str(most))
    try:
        jobs.cancel(jobs.start("echo", SLOW, owner=owner))
    except QuotaExceededError:
        return True
    finally:
        monkeypatch.delenv(f"EXPLAIN_{name}")
    return False


def test_as_many_runs_as_are_allowed_and_none_more_also_where_fewer_became_allowed(
    going: JobRunner, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Runs are counted only if something is limited.
    monkeypatch.setenv("EXPLAIN_CALLS_A_DAY", "1000000")
    begun = [going.start("echo", SLOW, owner=owner) for owner in ("ann", "ann", "bob")]
    for most in range(6):
        assert limited(going, monkeypatch, "RUNS_AT_ONCE", most, "ann") == (most <= 2), most
        assert limited(going, monkeypatch, "RUNS_AT_ONCE", most, "bob") == (most <= 1), most
        with monkeypatch.context() as only:
            only.setenv("EXPLAIN_RUNS_IN_LINE", "0")
            assert limited(going, monkeypatch, "RUNS_OF_ALL", most, "cy") == (most <= 3), most
    for run in begun:
        going.cancel(run)
    assert not limited(going, monkeypatch, "RUNS_AT_ONCE", 1, "ann"), "those that are over leave room"


def test_one_run_may_make_as_many_calls_as_are_allowed(going: JobRunner, monkeypatch: pytest.MonkeyPatch) -> None:
    calls = LAB.calls(SLOW, 2)
    for most in range(calls - 2, calls + 2):
        assert limited(going, monkeypatch, "CALLS_A_RUN", most, "ann") == (most < calls), most


def test_a_lab_that_cannot_tell_its_calls_runs_under_limits_too(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    jobs = JobRunner(tmp_path, {"echo": LAB.with_changes(count_calls=lambda spec, cases: None)}, lambda id: Echoing())
    monkeypatch.setenv("EXPLAIN_CALLS_A_RUN", "1")
    run = jobs.start("echo", SLOW)
    assert jobs.wait(run, 5) and transcript(jobs.events(run)).status == "completed"


@pytest.mark.parametrize("stored", [999_999, 1_000_000])
def test_a_megabyte_is_a_million_bytes(
    going: JobRunner, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, stored: int
) -> None:
    (tmp_path / "large.jsonl").write_bytes(b"\n" * stored)
    assert limited(going, monkeypatch, "STORED_MB", 1, "ann") == (stored == 1_000_000)


def test_a_run_that_asks_nothing_takes_a_call_of_the_day_and_one_that_is_resumed_too(
    going: JobRunner, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    started = Started(run="old", lab="echo", spec=SLOW.model_dump(mode="json"), seed=0, owner="ann")
    (tmp_path / "old.jsonl").write_bytes(journal.to_line(started, 1))
    monkeypatch.setenv("EXPLAIN_CALLS_A_DAY", "0")
    with pytest.raises(QuotaExceededError, match="Here you may make 0 calls a day, and 0 have been made"):
        going.resume("old", owner="ann")
    monkeypatch.setenv("EXPLAIN_CALLS_A_DAY", "1")
    going.resume("old", owner="ann")
    going.cancel("old")


def test_calls_on_their_way_become_calls_that_were_made(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A call counts once, either as planned or as made."""
    needs = LAB.calls(SLOW, 2)
    monkeypatch.setenv("EXPLAIN_CALLS_A_DAY", str(2 * needs))
    monkeypatch.setenv("EXPLAIN_CALLS_OF_ALL_A_DAY", str(3 * needs))
    model = Echoing(wait=0.1)
    jobs = JobRunner(tmp_path, {"echo": LAB}, lambda id: model)
    first = jobs.start("echo", SLOW, owner="ann")
    until(lambda: bool(model.asked))
    second = jobs.start("echo", SLOW, owner="ann")
    for owner in ("ann", "ann"):
        with pytest.raises(QuotaExceededError, match=f"{2 * needs:,} have been made or reserved"):
            jobs.start("echo", SLOW, owner=owner)
    third = jobs.start("echo", SLOW, owner="bob")
    with pytest.raises(QuotaExceededError, match=f"all people together may make {3 * needs:,}"):
        jobs.start("echo", SLOW, owner="bob")
    for run in (first, second, third):
        assert jobs.wait(run, 120)


def test_a_run_that_was_taken_over_says_so_and_leaves_its_place(going: JobRunner, tmp_path: Path) -> None:
    model = Echoing(wait=0.5)
    ended: list[str] = []
    jobs = JobRunner(tmp_path, {"echo": LAB}, lambda id: model, ended.append)
    run = jobs.start("echo", SLOW)
    until(lambda: bool(model.asked))
    # The state after this process slept and another one took the journal over.
    lease = tmp_path / ".leases" / f"{run}.json"
    lease.write_text(json.dumps(["token", "elsewhere boot", 1234, 1.0]))
    jobs._jobs[run].journal._lease.renew()
    assert jobs.wait(run, 5) and ended == [run]
    assert "taken over by another process" in jobs.write_error(run) and not jobs.here(run)
    assert jobs.active(run), "the other one goes on with it"
    with pytest.raises(JournalInUseError):
        jobs.resume(run)
    lease.unlink()
    model.wait = 0
    jobs.resume(run)
    assert jobs.wait(run, 5) and jobs.write_error(run) == "", "what is over is not said any more"
    assert transcript(jobs.events(run)).status == "completed"


def test_of_a_run_that_ended_well_or_was_stopped_there_is_no_trouble(going: JobRunner, tmp_path: Path) -> None:
    quick = JobRunner(tmp_path, {"echo": LAB}, lambda id: Echoing())
    run = quick.start("echo", SLOW)
    assert quick.wait(run, 5) and quick.write_error(run) == ""
    stopped = going.start("echo", SLOW)
    until(lambda: (tmp_path / f"{stopped}.jsonl").stat().st_size > 0)
    going.cancel(stopped)
    assert going.write_error(stopped) == "" and not going.active(stopped)
    assert going.wait("unknown", 0) and going.people_ahead_for_calls("unknown") is None


def test_a_wait_has_an_end(going: JobRunner) -> None:
    run = going.start("echo", SLOW)
    assert not going.wait(run, 0.01)
    going.cancel(run)
    assert going.wait(run, 0.01)


def test_pieces_of_an_answer_are_seen_until_it_is_there(going: JobRunner) -> None:
    run = going.start("echo", SLOW)
    watch = going.watch(run)
    until(lambda: watch.refresh() and bool(going._unfinished(run)))
    assert watch.refresh(), "an unfinished answer is news, as long as it is there"
    job = going._jobs[run]
    call = next(iter(job.partial))
    for piece in ("h", "at"):
        job.publish(Token(run=run, call=call, text=piece))
    watch.refresh()
    assert watch.transcript.calls[call].partial == "What"
    going.cancel(run)


def test_who_shares_and_who_speaks_is_kept_beside_the_run(tmp_path: Path) -> None:
    jobs = JobRunner(tmp_path, {"echo": LAB}, lambda id: Echoing())
    run = jobs.start("echo", SLOW, owner="ann")
    assert jobs.wait(run, 5)
    assert jobs.keeping.events(run, "reader") == [] and not jobs.shared(run)
    jobs.keeping.add(run, "reader", "all/1-a", Promise(call="", text="one"), "1", "bob")
    jobs.keeping.add(run, "reader", "all/1-a", Promise(call="", text="two"), "2", "bob")
    assert jobs.owner(f"{run}~reader") == "bob" and len(jobs.keeping.events(run, "reader")) == 2
    jobs.keeping.share(run, True)
    assert jobs.shared(run) and not jobs.shared(f"{run}~reader")
    kept = journal.read(said_path(tmp_path / f"{run}.jsonl", "reader")).events
    assert [event.kind for event in kept] == ["started", "recorded", "recorded"]
    started = kept[0]
    assert isinstance(started, Started) and (started.lab, started.about, started.owner) == ("echo", run, "bob")
    assert isinstance(journal.read(about_path(tmp_path / f"{run}.jsonl", "shared")).events[1], Shared)


def test_names_of_people_become_names_of_files() -> None:
    run = Path("/runs/run.jsonl")
    assert said_path(run, "ann_b-1").name == "run~ann_b-1.jsonl"
    assert said_path(run, "a n/n").name == "run~a_n_n.jsonl"
    assert said_path(run, "").name == "run~_.jsonl"
    assert said_path(run, "x" * 70).name == f"run~{'x' * 60}.jsonl"


def test_an_unfinished_journal_has_no_status() -> None:
    assert transcript([Started(run="r", lab="echo", spec={}, seed=0)]).status is None and transcript([]).status is None
