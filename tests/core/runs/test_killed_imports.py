"""An import that is killed at any moment can be repeated, and its leftovers are removed."""

import os
import random
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from core import entry, home, journal
from core.__main__ import main
from core.events import Started
from core.journal import Journal, to_line
from core.lease import TTL, Lease
from core.runs import bundle, verify
from core.runs.bundle import BundleError
from core.runs.labels import Label
from core.server.access import RunAccess, Visitor
from core.server.jobs import JobRunner
from tests.support.chance import ALL
from tests.support.small_lab import LAB, Echoing, EchoSpec

ROOT = Path(__file__).resolve().parents[3]
KILLS = 60 if ALL else 3

IMPORTS = """
import os, signal, sys
from pathlib import Path
from core.runs import bundle

def kill():
    os.kill(os.getpid(), signal.SIGKILL)

def kill_before(number):
    replace, left = os.replace, [number]
    def counted(*paths):
        left[0] -= 1
        if left[0] == 0:
            kill()
        return replace(*paths)
    os.replace = counted

print("ready", flush=True)
for line in sys.stdin:
    sent, folder, number, seconds = line.rstrip("\\n").split("\\t")
    if not (pid := os.fork()):
        kill_before(int(number))
        if int(number) == -1:
            os.link = lambda *paths: kill()
        signal.setitimer(signal.ITIMER_REAL, float(seconds))
        try:
            bundle.import_path(Path(sent), [Path(folder)])
        finally:
            os._exit(0)
    print("killed" if os.WIFSIGNALED(os.waitpid(pid, 0)[1]) else "over", flush=True)
"""
"""A script that makes an import in a process of its own for each line of its input: the file, the folder of journals,
the number of the file before whose placing it is killed (0 for none, -1 for its lease), and the seconds until an
alarm kills it.
"""


class Importer:
    """Starts imports that are killed."""

    def __init__(self) -> None:
        self._process = subprocess.Popen(
            [sys.executable, "-c", IMPORTS], cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )
        assert self._said() == "ready"

    def _said(self) -> str:
        assert self._process.stdout is not None
        return self._process.stdout.readline().strip()

    def killed(self, sent: Path, folder: Path, number: int = 0, seconds: float = 0.0) -> bool:
        """Import, and kill the import before it places file `number`, or after `seconds`. Returns whether it was killed
        in time.
        """
        assert self._process.stdin is not None
        self._process.stdin.write(f"{sent}\t{folder}\t{number}\t{seconds}\n")
        self._process.stdin.flush()
        return self._said() == "killed"

    def close(self) -> None:
        self._process.communicate()


@pytest.fixture(scope="module")
def importer() -> Iterator[Importer]:
    made = Importer()
    yield made
    made.close()


def sent_runs(tmp_path: Path, number: int) -> tuple[Path, dict[str, bytes]]:
    """A bundle of `number` runs, each with a person's comments, and its journals by name."""
    made = tmp_path / "made"
    made.mkdir()
    for run in (f"2026-run-{one:02}" for one in range(number)):
        for name, about in ((run, ""), (f"{run}~ann", run)):
            begun = Started(run=name, lab="simulatability", spec={"title": "x" * 20_000}, seed=0, about=about)
            (made / f"{name}.jsonl").write_bytes(to_line(begun, 1))
    sent = tmp_path / "sent.zip"
    with sent.open("wb") as file:
        assert len(bundle.write(file, [f"2026-run-{one:02}" for one in range(number)], [made]).runs) == number
    return sent, {path.name: path.read_bytes() for path in made.iterdir()}


def home_at(path: Path) -> Path:
    """The folder of journals of a new home."""
    (path / "journals").mkdir(parents=True)
    return path / "journals"


def there(folder: Path) -> dict[str, bytes]:
    """The journals of the folder, without the marks that name the senders."""
    return {path.name: path.read_bytes() for path in folder.glob("*.jsonl") if "~~" not in path.name}


def left_over(folder: Path) -> list[str]:
    """Files that an import has put aside or left, runs without a mark, and marks without a run."""
    marks = {path.name.partition("~~")[0] for path in folder.glob("*~~from.jsonl")}
    runs = {path.stem for path in folder.glob("*.jsonl") if "~" not in path.name}
    # The file beside a lease, made while the lease is taken, stays if that process is killed, until the next start.
    aside = {path.name for name in ("incoming*", ".incoming") for path in folder.parent.glob(name)}
    return sorted(aside | (marks ^ runs))


@pytest.mark.parametrize("number", range(1, 7))
def test_an_import_killed_before_any_file_is_repeated(number: int, tmp_path: Path, importer: Importer) -> None:
    sent, journals = sent_runs(tmp_path, 2)
    for name, cleans in (("imported-again", False), ("cleaned-at-start", True)):
        folder = home_at(tmp_path / name)
        assert importer.killed(sent, folder, number)
        assert len(there(folder)) == max(0, number - 3), "it was killed half-way"
        if cleans:
            bundle.clean(folder)
            assert left_over(folder) == []
            assert there(folder).items() <= journals.items()
        taken = bundle.import_path(sent, [folder])
        assert {*taken.runs, *taken.said, *taken.same} == {name.removesuffix(".jsonl") for name in journals}
        assert there(folder) == journals and left_over(folder) == []


def test_what_an_import_killed_while_it_takes_its_lease_leaves_is_removed_at_a_later_start(
    tmp_path: Path, importer: Importer
) -> None:
    sent, journals = sent_runs(tmp_path, 1)
    folder = home_at(tmp_path / "another")
    assert importer.killed(sent, folder, -1)
    [left] = folder.parent.glob("*incoming*")
    assert bundle.import_path(sent, [folder]).runs == ["2026-run-00"] and there(folder) == journals and left.exists()
    other = folder / ".leases" / ".2026-run-00.json.0123456789abcdef"
    other.parent.mkdir()
    other.write_bytes(left.read_bytes())
    bundle.clean(folder)
    assert left.exists() and other.exists(), "another process may be about to take it"
    for one in (left, other):
        os.utime(one, (one.stat().st_mtime - TTL - 1,) * 2)
    bundle.clean(folder)
    assert not left.exists() and not other.exists() and there(folder) == journals


def test_imports_killed_at_random_moments_are_repeated(tmp_path: Path, importer: Importer) -> None:
    sent, journals = sent_runs(tmp_path, 30)
    began = time.monotonic()
    bundle.import_path(sent, [home_at(tmp_path / "whole")])
    took = time.monotonic() - began
    chance = random.Random(7)
    stuck, half_way, kills = [], 0, 0
    while kills < KILLS:
        folder = home_at(tmp_path / f"{kills}-{chance.random()}")
        if not importer.killed(sent, folder, seconds=chance.uniform(0, took)):
            continue
        kills += 1
        half_way += 0 < len(there(folder)) < len(journals)
        try:
            bundle.import_path(sent, [folder])
            assert there(folder) == journals and left_over(folder) == []
        except BundleError as refused:
            stuck.append(str(refused))
    print(f"{kills} kills within {took:.2f} s, {half_way} while journals were placed, {len(stuck)} stuck")
    assert stuck == []


def test_what_older_versions_left_stops_no_import(tmp_path: Path) -> None:
    sent, journals = sent_runs(tmp_path, 2)
    folder = home_at(tmp_path / "another")
    (folder.parent / "incoming-0123456789abcdef").mkdir()
    # An older version first made an empty file, then filled it.
    for name in ("2026-run-00~~from.jsonl", "2026-run-01~~from.jsonl", "2026-run-01.jsonl", "2026-run-01~ann.jsonl"):
        (folder / name).touch()
    assert sorted(bundle.import_path(sent, [folder]).runs) == ["2026-run-00", "2026-run-01"]
    assert there(folder) == journals and left_over(folder) == []
    assert verify.origin(folder, "2026-run-01") is not None


def test_imports_wait_for_one_another(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    sent, journals = sent_runs(tmp_path, 1)
    folder = home_at(tmp_path / "another")
    other = Lease(folder.parent / ".incoming")
    (folder.parent / "incoming-another").mkdir()
    bundle.clean(folder)
    assert (folder.parent / "incoming-another").exists(), "it is still being written"
    monkeypatch.setenv("EXPLAIN_BUNDLE_SECONDS", "0")
    with pytest.raises(BundleError, match="Another import is in progress"):
        bundle.import_path(sent, [folder])
    assert there(folder) == {}
    other.release()
    monkeypatch.delenv("EXPLAIN_BUNDLE_SECONDS")
    assert (
        bundle.import_path(sent, [folder]).runs == ["2026-run-00"]
        and there(folder) == journals
        and not left_over(folder)
    )


def test_a_second_import_verifies_what_the_first_had_no_time_for(tmp_path: Path) -> None:
    recorded = min(home.recordings().glob("*-find-*.jsonl"), key=lambda path: path.stat().st_size)
    bundle.import_path(recorded, [home.journals()], "Ann")
    again = bundle.import_path(recorded, [home.journals()], "Ann")
    assert again.runs == [] and set(entry.score_again(again)) == {recorded.stem}
    assert entry.score_again(again) == {}, "once is enough"


def test_a_run_killed_before_its_first_line_counts_as_nothing(tmp_path: Path) -> None:
    blank, torn, begins = (tmp_path / f"2026-{name}.jsonl" for name in ("blank", "torn", "begins"))
    blank.touch()
    torn.write_bytes(b'{"kind":"started","run":"2026-to')
    with Journal(begins):
        for path in (blank, torn):
            assert journal.find(path.stem, tmp_path) is None
        assert journal.find(begins.stem, tmp_path) == begins, "somebody is writing it"
        bundle.clean(tmp_path)
        assert [path.name for path in tmp_path.glob("*.jsonl")] == ["2026-begins.jsonl"]
    assert journal.find(begins.stem, tmp_path) is None


def test_who_was_killed_before_the_first_line_of_their_words_can_speak_again(tmp_path: Path) -> None:
    jobs = JobRunner(tmp_path, {"echo": LAB}, lambda id: Echoing())
    ann = RunAccess(jobs, Visitor("ann"))
    run = ann.start("echo", EchoSpec())
    assert jobs.wait(run, 120)
    (tmp_path / f"{run}~{ann.labeller}.jsonl").touch()
    ann.run(run).label("all/1-yes", "", Label(note="mine"))
    assert ann.run(run).label_of("all/1-yes", "").note == "mine"
    begun = journal.first_event(tmp_path / f"{run}~{ann.labeller}.jsonl")
    assert begun is not None and begun.owner == "ann"


def test_a_blank_journal_is_left_out_of_an_export_in_silence(capsys: pytest.CaptureFixture[str]) -> None:
    sent, _ = sent_runs(home.home(), 1)
    bundle.import_path(sent, [home.journals()])
    (home.journals() / "2026-blank.jsonl").touch()
    assert main(["export", str(home.home() / "out.zip")]) == 0
    said = capsys.readouterr()
    assert "1 run written" in said.out and "blank" not in said.err
    assert main(["export", str(home.home() / "one.zip"), "--run", "2026-blank"]) == 2
    assert "2026-blank: there is no such run" in capsys.readouterr().err
