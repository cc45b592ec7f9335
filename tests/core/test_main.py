"""The command line: its output, its exit codes, and that a stopped run can be continued."""

import json
import os
import re
import signal
import subprocess
import sys
from datetime import UTC, datetime
from pathlib import Path

import pytest

from core import entry, home
from core.__main__ import main
from core.commands.run_output import figures
from core.events import Rules, Scored, from_json
from core.journal import read
from core.labs.ask.lab import LAB
from core.rulesets import RULES
from core.store.store import Store
from core.transcript import Place, transcript
from tests.conftest import WITHOUT_ENCODER
from tests.support.plausible import Plausible
from tests.support.stub_server import Fault, StubServer
from tests.support.waiting import until

ROOT = Path(__file__).resolve().parents[2]
ASK = ["ask", "Can a penguin fly?", "--model", "control/fickle"]


def journals() -> list[Path]:
    return sorted(home.journals().glob("*.jsonl"))


def test_ask_tells_the_run_and_ends_with_a_verdict(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(ASK) == 0
    printed = capsys.readouterr().out
    assert printed.startswith("Can a penguin fly?\nIt answers yes. It says: All birds can fly.")
    assert "\n  Can an emu fly?\n    expected yes, it said no: misled\n" in printed
    assert "\n  Can a hummingbird fly?\n    set aside: a repeat of question 3\n" in printed
    assert "4 of 8 predictions came true: on the other 4 its own explanation would have misled you." in printed
    assert "precision 0.50, 95 % interval 0.22 to 0.78  (8 of 10)" in printed
    assert f"Run {journals()[0].stem}" in printed


def test_json_prints_the_journal(capsys: pytest.CaptureFixture[str]) -> None:
    assert main([*ASK, "--counterfactuals", "2", "--json"]) == 0
    printed = capsys.readouterr().out.splitlines()
    assert printed == journals()[0].read_text(encoding="utf-8").splitlines()
    events = [json.loads(line) for line in printed]
    assert events[0]["kind"] == "started" and events[-1] == {**events[-1], "kind": "finished", "status": "completed"}
    assert all({"kind", "run", "at"} <= set(event) for event in events)
    call = next(event for event in events if event["kind"] == "answered")
    assert {"call", "role", "model", "text", "seconds", "cached"} <= set(call)
    asked = next(event for event in events if event["kind"] == "asked")
    assert {"call", "role", "model", "messages"} <= set(asked)
    scores = [event for event in events if event["kind"] == "scored"]
    assert {event["metric"] for event in scores} == {
        *("precision", "constant_guess", "generality_bleu", "generality_cosine", "generality_jaccard"),
        *("precision_none", "precision_question_only", "simulatability_gain", "simulatability_gain_normalised"),
        *("gain_over_best", "made_predictable", "precision_swapped"),
    }
    assert all({"metric", "value", "n", "of", "low", "high", "rules"} <= set(event) for event in scores)


def test_a_figure_that_nothing_defines_is_not_printed(capsys: pytest.CaptureFixture[str]) -> None:
    assert main([*ASK, "--counterfactuals", "2"]) == 0
    out = capsys.readouterr().out
    assert "precision 1.00" in out or "precision 0." in out
    assert not [line for line in out.splitlines() if re.search(r"undefined  \(0 of \d+\)$", line)], "without a reason"


def test_figures_lead_with_the_headline_and_come_once_unless_the_parsers_differ() -> None:
    """Once, a run of sixty questions ended with "made_predictable undefined (0 of 60)", and each figure was there
    twice.
    """

    def scored(metric: str, rules: Rules, value: float | None, n: int = 4, **detail: str) -> Scored:
        return Scored(run="r", at=datetime.now(UTC), metric=metric, value=value, n=n, of=60, rules=rules, detail=detail)

    state = transcript([])
    state.places[""] = Place(scores={
        (one.metric, one.rules, ""): one for rules in RULES for one in (
            scored("made_predictable", rules, None, 0, reason="it is defined in none of the cases"),
            scored("constant_guess", rules, 0.75),
            scored("generality_cosine", rules, None, 0, reason="there is no encoder"),
            scored("precision", rules, 0.5 if rules == "repaired" else 0.25),
        )
    })  # fmt: skip
    assert [line.strip() for _, line in figures(LAB, state)] == [
        "precision 0.50  (4 of 60)",
        "precision, original parser: 0.25  (4 of 60)",
        "generality_cosine undefined  (0 of 60): there is no encoder",
        "constant_guess 0.75  (4 of 60)",
    ]


def test_undefined_is_null_and_never_zero(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["ask", "Can a penguin fly?", "--model", "control/vague", "--counterfactuals", "2", "--json"]) == 0
    scores = [json.loads(line) for line in capsys.readouterr().out.splitlines() if '"scored"' in line]
    # Predictions are also made without the explanation.
    of_it = [score for score in scores if score["metric"] not in ("precision_none", "precision_question_only")]
    assert of_it and all(score["value"] is None and score["n"] == 0 for score in of_it)


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["ask", "", "--model", "control/fickle"], "There is no question"),
        (["ask", "Can a penguin fly?", "--model", "control/fikle"], "Did you mean control/fickle"),
        (["ask", "Is the moon cheese?", "--model", "control/fickle"], "small world"),
        ([*ASK, "--counterfactuals", "61"], "0<=x<=60"),
        ([*ASK, "--votes", "0"], "1<=x<=15"),
        ([*ASK, "--prompts", "no-such-file.json"], "cannot be opened"),
        (["ask", "post", "--task", "shp", "--model", "control/fickle"], "two responses"),
        (["resume", "nothing"], "no run named"),
        (["resume", "../../etc/passwd"], "no run named"),
    ],
)
def test_bad_input_is_exit_code_2_and_words(
    arguments: list[str], said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(arguments) == 2
    assert said in capsys.readouterr().err


def test_unknown_options_are_exit_code_2() -> None:
    with pytest.raises(SystemExit) as ended:
        main(["ask", "--no-such-option"])
    assert ended.value.code == 2


def test_a_model_out_of_reach_is_exit_code_3(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_BASE_URL", "http://127.0.0.1:9/v1")
    assert main(["ask", "Is it so?", "--model", "openai/x"]) == 3
    assert "Nothing answers at http://127.0.0.1:9/v1" in capsys.readouterr().err
    with StubServer(always=Fault("wrong_key")) as server:
        monkeypatch.setenv("OPENAI_BASE_URL", server.base_url)
        monkeypatch.setenv("OPENAI_API_KEY", "sk-wrong-and-secret")
        assert main(["ask", "Is it so?", "--model", "openai/stub-model"]) == 3
    printed = capsys.readouterr()
    assert "key" in printed.err and "sk-wrong-and-secret" not in printed.err + printed.out


def test_a_model_that_only_answers_the_first_call_is_exit_code_3_and_can_be_asked_again(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    with StubServer(Plausible(), faults={1: None}, always=Fault("bad_request", words="no")) as server:
        monkeypatch.setenv("OPENAI_BASE_URL", server.base_url)
        assert main(["ask", "Is it so?", "--model", "openai/stub-model", "--counterfactuals", "2", "--no-exam"]) == 3
        printed = capsys.readouterr().out
        assert "Nothing can be judged" in printed and "explains nothing" not in printed
        server.always = None
        assert main(["resume", journals()[0].stem]) == 0


def test_what_failed_in_a_run_that_completed_is_asked_again_where_one_says_so(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    with StubServer(Plausible(), faults={7: Fault("bad_request", words="no")}) as server:
        monkeypatch.setenv("OPENAI_BASE_URL", server.base_url)
        assert main(["ask", "Is it so?", "--model", "openai/stub-model", "--counterfactuals", "4", "--no-exam"]) == 0
        [path] = journals()
        held, asked = path.read_bytes(), server.count
        assert transcript(read(path).events).failed_items
        assert main(["resume", path.stem]) == 0
        assert path.read_bytes() == held and server.count == asked
        assert main(["resume", path.stem, "--failed"]) == 0
        assert path.read_bytes().startswith(held) and server.count > asked
        assert not transcript(read(path).events).failed_items
        held, asked = path.read_bytes(), server.count
        assert main(["resume", path.stem, "--failed"]) == 0
        assert path.read_bytes() == held and server.count == asked, "nothing failed any more"


def test_a_home_that_cannot_be_had_is_said(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").touch()
    monkeypatch.setenv("EXPLAIN_HOME", str(tmp_path / "file" / "home"))
    assert main(ASK) == 2
    assert "Set EXPLAIN_HOME" in capsys.readouterr().err


def test_a_broken_store_takes_nothing_from_a_run(own_home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    home.home().joinpath("store.duckdb").write_text("no database", encoding="utf-8")
    assert main([*ASK, "--counterfactuals", "2"]) == 0
    printed = capsys.readouterr()
    assert f"Run {journals()[0].stem}" in printed.out
    assert "store rebuild" in printed.err


def test_an_interrupted_run_is_exit_code_4_and_resume_asks_only_the_rest(own_home: Path) -> None:
    with StubServer(Plausible(), delay=0.3) as server:
        environment = {
            **os.environ, "EXPLAIN_HOME": str(own_home), "OPENAI_BASE_URL": server.base_url, "OPENAI_API_KEY": "k",
            "PYTHONPATH": WITHOUT_ENCODER,
        }  # fmt: skip
        command = [
            sys.executable,
            "-m",
            "core",
            "ask",
            "Can a penguin fly?",
            "--model",
            "openai/stub-model",
            "--no-exam",
            "--counterfactuals",
            "10",
        ]
        going = subprocess.Popen(command, cwd=ROOT, env=environment, stdout=subprocess.PIPE, text=True)
        until(lambda: server.count >= 8)
        going.send_signal(signal.SIGINT)
        printed, _ = going.communicate(timeout=120)
        assert going.returncode == 4
        run = journals()[0].stem
        assert f"python -m core resume {run}" in printed
        kept = sum(event.kind == "answered" for event in read(journals()[0]).events)
        before = server.count
        again = subprocess.run(
            [sys.executable, "-m", "core", "resume", run], cwd=ROOT, env=environment, capture_output=True, text=True
        )
        assert again.returncode == 0, again.stderr
        assert 0 < server.count - before <= 62 - kept
        assert "precision" in again.stdout


def test_journals_can_lie_elsewhere(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    elsewhere = tmp_path / "elsewhere"
    assert main([*ASK, "--counterfactuals", "1", "--journals", str(elsewhere)]) == 0
    assert len(list(elsewhere.glob("*.jsonl"))) == 1 and journals() == []


def test_models_lists_what_can_be_asked(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["models"]) == 0
    printed = capsys.readouterr().out
    assert "control/fickle" in printed and "local/smollm2-135m" in printed
    assert main(["models", "--json"]) == 0
    ids = [json.loads(line)["id"] for line in capsys.readouterr().out.splitlines()]
    assert {"control/steadfast", "control/vague", "local/smollm2-135m"} <= set(ids)


def test_the_store_is_made_again_from_the_journals(capsys: pytest.CaptureFixture[str]) -> None:
    assert main([*ASK, "--counterfactuals", "2"]) == 0
    path = home.home() / "store.duckdb"
    path.unlink()
    assert main(["store", "rebuild"]) == 0
    assert "1 run indexed" in capsys.readouterr().out
    path.write_bytes(b"no database at all")
    assert main(["store", "rebuild"]) == 0
    with Store(path, entry.labs()) as store:
        scores = store.query(
            'select metric, value, n, "of", low, high, rules from scores where run = ?', [journals()[0].stem]
        )
        calls = store.query(
            "select run, call, role, model, text, seconds, cached from calls where run = ?", [journals()[0].stem]
        )
    assert len(scores) == 24
    answered = [from_json(line) for line in journals()[0].read_bytes().splitlines()]
    assert len(calls) == sum(event.kind == "answered" for event in answered)


@pytest.mark.thorough
def test_a_reader_that_goes_away_does_not_end_the_run(own_home: Path) -> None:
    command = f"{sys.executable} -m core ask 'Can a penguin fly?' --model control/fickle --json | head -n 1"
    subprocess.run(
        command,
        shell=True,
        cwd=ROOT,
        env={**os.environ, "EXPLAIN_HOME": str(own_home), "PYTHONPATH": WITHOUT_ENCODER},
        check=True,
        capture_output=True,
    )
    assert read(journals()[0]).events[-1].kind == "finished"
