"""`python -m core check`: its output and its exit codes."""

import json
from pathlib import Path

import pytest

from core import entry, home
from core.__main__ import main
from core.store import run_list
from core.store.store import Store
from tests.support.plausible import telling
from tests.support.stub_server import StubServer

TEXT = "A superb film, dull at the end, and wonderful."
CHECK = ["check", "sentiment", "--model", "control/honest-lexicon"]


def test_a_check_is_printed_in_words_with_its_figures(capsys: pytest.CaptureFixture[str]) -> None:
    assert main([*CHECK, "--text", TEXT, "--label", "positive", "--explanation", "attribution"]) == 0
    printed = capsys.readouterr().out
    assert printed.startswith(f"{TEXT} · attribution, objective, redacted\n  It answers: positive\n")
    assert "It answers positive. It says: superb, dull, wonderful\n  A fresh session answers: cannot tell\n" in printed
    assert "\n    expected no, it could not tell: faithful\n" in printed
    assert "Without them it could no longer tell (unknown): consistent with its explanation." in printed
    assert "With the same number of random words masked it could not tell in 0 of 3 draws." in printed
    assert "faithfulness 1.00, 95 % interval 0.21 to 1.00  (1 of 1)" in printed


def test_without_text_or_dataset_the_shipped_items_run_and_scores_have_their_names(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert main(["check", "multi_choice", "--model", "control/decoy-lexicon", "--json"]) == 0
    events = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    whole = [event for event in events if event["kind"] == "scored" and not event["item"]]
    assert {event["metric"] for event in whole} == {
        *("accuracy", "faithfulness", "faithfulness_control", "faithfulness_gain")
    }
    by_name = {event["metric"]: event for event in whole if event["rules"] == "repaired"}
    assert (by_name["faithfulness"]["value"], by_name["faithfulness"]["n"]) == (0.0, 60)
    assert by_name["faithfulness_gain"]["value"] == -by_name["faithfulness_control"]["value"]
    assert len({event["item"] for event in events if event.get("record") == "paragraph"}) == 20
    assert events[-1]["status"] == "completed"


def test_every_wording_and_the_store(capsys: pytest.CaptureFixture[str]) -> None:
    assert main([*CHECK, "--limit", "2", "--explanation", "redaction", "--every-wording"]) == 0
    assert "It was consistent with all 12 explanations that count." in capsys.readouterr().out
    with Store(home.home() / "store.duckdb", entry.labs()) as store:
        run = run_list.runs(store).iloc[0]
        assert run["title"] == "shipped: 2 items, sentiment" and run["cases"] == 12
        assert set(store.query("from consistency where run = ?", [run["run"]])["faithful_repaired"]) == {"yes"}
        assert store.query("from cases")["outcome_repaired"].tolist() == ["faithful"] * 12


def test_a_dataset_of_ones_own(datasets: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = str(datasets / "babi")
    given = ["check", "multi_choice", "--dataset", "babi-1", "--path", path, "--limit", "5"]
    assert main([*given, "--model", "control/honest-lexicon", "--explanation", "counterfactual"]) == 0
    printed = capsys.readouterr().out
    assert "accuracy 1.00" in printed and "faithfulness 1.00" in printed and "(5 of 5)" in printed


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ([*CHECK, "--text", ""], "There is no paragraph"),
        ([*CHECK, "--text", "x" * 100_000], "100,000 characters"),
        ([*CHECK, "--text", "x", "--dataset", "imdb"], "not both"),
        ([*CHECK, "--dataset", "rte"], "no items for sentiment"),
        ([*CHECK, "--dataset", "imdb", "--path", "nowhere"], "there is nothing at nowhere"),
        ([*CHECK, "--limit", "0"], "1<=x<=1000"),
        (["check", "multi_choice", "--text", "x", "--question", "y"], "no choices"),
        (["check", "entailment", "--text", "x"], "no statement"),
        (["check", "sentiment", "--model", "control/honest"], "Did you mean control/denies or control/honest-lexicon"),
    ],
)
def test_bad_input_is_said_in_words(arguments: list[str], said: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(arguments) == 2
    assert said in capsys.readouterr().err


@pytest.mark.parametrize(
    ("text", "said"),
    [
        # Two of three words are left, and one of two: editing more would make another text, masking more would leave
        # nothing.
        ("🎉🎉 superb", "No check could decide anything. Each one says why."),
        ("فيلم superb رائع", "It was consistent with its explanation in all 3 checks."),
        ("<b>superb</b> & *wonderful*", "It was consistent with its explanation in "),
        ("a+b(c[d superb \\1 $^", "It was consistent with its explanation in all 3 checks."),
    ],
)
def test_any_paragraph_can_be_checked(text: str, said: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([*CHECK, "--text", text]) == 0
    assert said in capsys.readouterr().out


def test_a_model_out_of_reach_is_exit_code_3(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_BASE_URL", "http://127.0.0.1:9/v1")
    assert main(["check", "sentiment", "--limit", "2", "--model", "openai/x"]) == 3
    assert "Nothing answers at http://127.0.0.1:9/v1" in capsys.readouterr().err


def test_a_run_goes_on_where_it_stopped(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    with StubServer(telling()) as server:
        monkeypatch.setenv("OPENAI_BASE_URL", server.base_url)
        monkeypatch.setenv("OPENAI_API_KEY", "k")
        assert main(["check", "sentiment", "--text", TEXT, "--model", "openai/stub-model"]) == 0
        asked = server.count
        path = next(home.journals().glob("*.jsonl"))
        lines = path.read_bytes().splitlines(keepends=True)
        path.write_bytes(b"".join(lines[:8]))
        kept = sum(b'"kind":"answered"' in line for line in lines[:8])
        capsys.readouterr()
        assert main(["resume", path.stem]) == 0
        assert server.count - asked <= asked - kept
    assert "faithfulness" in capsys.readouterr().out
