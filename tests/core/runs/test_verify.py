"""Figures are what the raw answers give, or it is said that they are not: of one's own runs and of imported ones."""

import json
import re
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest

from core import entry, home, journal
from core.__main__ import main
from core.events import Event, Recorded, Scored
from core.journal import to_line
from core.report import standalone_html
from core.runs import bundle, verify

QUICK = [path for path in sorted(home.recordings().glob("*.jsonl")) if "-simulatability-" not in path.stem]
"""Recordings whose figures need no encoder."""

STUDY = """
[[part]]
lab = "check"
spec = { controls = 0, task = "sentiment", explanations = ["attribution"] }
grid = { model = ["control/dial-lexicon-0.0", "control/dial-lexicon-1.0"] }
"""


def altered(path: Path, change: Callable[[Event], Event]) -> None:
    """Write a journal anew, with its checksums, as a forger would."""
    events = journal.read(path).events
    path.write_bytes(b"".join(to_line(change(event), number) for number, event in enumerate(events, start=1)))


def better(event: Event) -> Event:
    """The same with perfect figures."""
    return event.model_copy(update={"value": 0.99, "n": event.of}) if isinstance(event, Scored) else event


def kept(event: Event) -> Event:
    """The same, where every case ended otherwise."""
    if isinstance(event, Recorded) and event.record == "result":
        return event.model_copy(update={"data": event.data | {"outcome_repaired": "unfaithful"}})
    return event


@pytest.mark.parametrize("path", QUICK, ids=lambda path: path.stem)
def test_figures_that_were_not_touched_are_what_the_answers_give(path: Path) -> None:
    found = entry.verify(path)
    assert found.compared > 10 and found.differ == () and not found.why


def test_whose_call_gave_an_answer_is_no_finding(tmp_path: Path) -> None:
    """Two cases that ask the same at the same time take one call, in a live run by chance the one or the other's."""
    recorded = next(path for path in QUICK if "-consistency-" in path.stem)
    path = tmp_path / recorded.name
    path.write_bytes(recorded.read_bytes())
    swapped = []

    def swap(event: Event) -> Event:
        if not (isinstance(event, Recorded) and "call_paper" in event.data):
            return event
        swapped.append(event)
        return event.model_copy(update={"data": event.data | {"call_paper": "c9999", "call_repaired": "c9999"}})

    altered(path, swap)
    found = entry.verify(path)
    assert swapped and found.differ == () and not found.why


def test_a_figure_that_no_earlier_version_had_is_not_claimed_but_none_can_be_left_out(tmp_path: Path) -> None:
    events = journal.read(QUICK[0]).events
    metric = next(event.metric for event in events if isinstance(event, Scored))

    def found(left_out: Callable[[Scored], bool]) -> tuple[str, ...]:
        kept = [event for event in events if not (isinstance(event, Scored) and left_out(event))]
        path = tmp_path / QUICK[0].name
        path.write_bytes(b"".join(to_line(event, number) for number, event in enumerate(kept, start=1)))
        return entry.verify(path).differ

    assert found(lambda score: score.metric == metric) == ()
    one = found(lambda score: score.metric == metric and score.rules == "paper")
    assert one and all(line.partition(":")[0].endswith("(original parser)") for line in one), "it is claimed elsewhere"


@pytest.mark.parametrize("change", [better, kept])
def test_whatever_was_altered_is_named(
    change: Callable[[Event], Event], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = home.journals() / QUICK[0].name
    path.write_bytes(QUICK[0].read_bytes())
    assert main(["verify", path.stem]) == 0
    altered(path, change)
    assert journal.faults(path) == [], "no checksum tells"
    assert main(["verify", path.stem]) == 1
    said = capsys.readouterr().out
    assert "do not follow" in said and ("recorded 0.99" in said if change is better else "record result" in said)


def test_a_damaged_journal_is_not_verified_in_silence(capsys: pytest.CaptureFixture[str]) -> None:
    path = home.journals() / QUICK[0].name
    lines = QUICK[0].read_bytes().splitlines(keepends=True)
    path.write_bytes(b"".join([*lines[:5], b"x" + lines[5], *lines[6:]]))
    assert main(["verify", path.stem]) == 1
    assert "line 6 of its journal" in capsys.readouterr().out
    assert main(["verify", "none"]) == 2


def test_what_cannot_be_read_again_is_not_called_right(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = home.journals() / QUICK[0].name
    path.write_bytes(QUICK[0].read_bytes())
    altered(path, lambda event: event.model_copy(update={"spec": {"model": 1}}) if event.kind == "started" else event)
    assert main(["verify", path.stem]) == 2
    assert "could not check" in capsys.readouterr().out


def test_a_forged_bundle_fills_no_cell_unnoticed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    file = str(tmp_path / "study.toml")
    Path(file).write_text(STUDY, encoding="utf-8")
    assert main(["study", "run", file]) == 0 and main(["study", "verify", file]) == 0
    # The two of the grid, and the controls that come first.
    runs = sorted(path.stem for path in home.journals().glob("*.jsonl"))
    forged = next(run for run in runs if "dial-lexicon-0.0" in (home.journals() / f"{run}.jsonl").read_text())
    altered(home.journals() / f"{forged}.jsonl", better)
    sent = tmp_path / "sent.zip"
    assert main(["export", str(sent), "--sender", "Mallory"]) == 0

    monkeypatch.setenv("EXPLAIN_HOME", str(tmp_path / "fresh"))
    capsys.readouterr()
    assert main(["import", str(sent)]) == 0
    said = capsys.readouterr().err
    assert f"{forged}: Scored again from its answers" in said and said.count("Scored again") == 1
    origins = {run: verify.origin(home.journals(), run) for run in runs}
    assert all(one is not None and one.sender == "Mallory" and one.verified for one in origins.values())
    assert [run for run, one in origins.items() if one and one.verified and one.verified.differ] == [forged]

    assert main(["study", "table", file, "--json"]) == 0
    cells = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    silent = [
        (cell["table"], cell["row"], cell["column"]) for cell in cells if "imported from Mallory" not in cell["note"]
    ]
    assert silent == []
    of_forged = [cell for cell in cells if "0.0" in f"{cell['row']} {cell['column']}" and cell["table"] != "Power"]
    assert of_forged and all("do not follow from its answers" in cell["note"] for cell in of_forged)
    assert main(["study", "table", file]) == 0 and "imported from Mallory" in capsys.readouterr().out
    assert main(["study", "verify", file]) == 1
    assert forged in capsys.readouterr().out
    assert main(["study", "report", file, "-o", str(tmp_path / "report.html")]) == 0
    report = (tmp_path / "report.html").read_text(encoding="utf-8")
    assert (
        "imported from Mallory" in report
        and "Imported runs, made by others according to their files: Mallory" in report
    )
    assert main(["methods"]) == 0
    assert f"Scored again from their answers, these have other figures: {forged}." in capsys.readouterr().out


def test_there_is_no_time_for_some(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    sent = tmp_path / "sent.zip"
    with sent.open("wb") as file:
        bundle.write(file, [QUICK[0].stem], [home.recordings()], "Ann")
    assert zipfile.is_zipfile(sent)
    taken = bundle.import_path(sent, [home.journals()])
    monkeypatch.setenv("EXPLAIN_BUNDLE_SECONDS", "0")
    assert entry.score_again(taken) == {}
    origin = verify.origin(home.journals(), QUICK[0].stem)
    assert origin is not None and origin.words == "imported from Ann, not scored again"


@pytest.mark.thorough
def test_a_study_tells_of_damaged_lines(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = str(tmp_path / "study.toml")
    Path(file).write_text(STUDY, encoding="utf-8")
    assert main(["study", "run", file]) == 0
    assert main(["study", "table", file]) == 0
    assert "damaged" not in capsys.readouterr().out
    for path in home.journals().glob("*.jsonl"):
        lines = path.read_bytes().splitlines(keepends=True)
        at = next(number for number, line in enumerate(lines) if b'"kind":"answered"' in line)
        path.write_bytes(b"".join([*lines[:at], lines[at].replace(b'"', b"'", 1), *lines[at + 1 :]]))
    assert main(["study", "table", file, "--json"]) == 0
    cells = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert all("with 1 damaged line in its journal" in cell["note"] for cell in cells if cell["table"] != "Power")
    assert main(["study", "report", file, "-o", str(tmp_path / "report.html")]) == 0
    assert "with 1 damaged line in its journal" in (tmp_path / "report.html").read_text(encoding="utf-8")
    picture = tmp_path / "picture.html"
    assert main(["study", "table", file, "--picture", str(picture)]) == 0
    drawn = picture.read_text(encoding="utf-8")
    policy = drawn[: drawn.index("<script")].partition("Content-Security-Policy")[2]
    scripts = re.findall(r"<script[^>]*>(.*?)</script>", drawn, re.DOTALL)
    assert "default-src 'none'" in policy and len(scripts) >= 2
    assert all(f"'{standalone_html.digest(script)}'" in policy for script in scripts)


def test_a_page_of_a_damaged_run_says_so(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = home.journals() / QUICK[0].name
    lines = QUICK[0].read_bytes().splitlines(keepends=True)
    path.write_bytes(b"".join([*lines[:5], b"x" + lines[5], *lines[6:]]))
    page = tmp_path / "page.html"
    assert main(["page", path.stem, "-o", str(page)]) == 0
    assert "line 6: " in capsys.readouterr().err
    assert f"Of the journal of {path.stem} 1 line cannot be read" in page.read_text(encoding="utf-8")
