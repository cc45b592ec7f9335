"""`query`, `export` and `import` through the command line."""

import json
import zipfile
from pathlib import Path

import pytest

from core import entry, home
from core.__main__ import main
from core.store.store import Store
from tests.support.plausible import Plausible
from tests.support.stub_server import StubServer

ROOT = Path(__file__).resolve().parents[2]
SECRET = "sk-of-the-environment-0123456789"
FIGURES = 'select run, "case", metric, rules, item, value, n, "of", low, high from scores order by all'

pytestmark = pytest.mark.usefixtures("opened_before")


def asked(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, list[str], str]:
    capsys.readouterr()
    code = main(list(arguments))
    said = capsys.readouterr()
    return code, said.out.splitlines(), said.err


def test_a_run_goes_to_another_home_with_its_scores_and_no_key(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", SECRET)
    with StubServer(Plausible()) as server:
        monkeypatch.setenv("OPENAI_BASE_URL", server.base_url)
        assert main(["ask", "Is it so?", "--model", "openai/stub-model", "--counterfactuals", "2", "--no-exam"]) == 0
    assert main(["ask", "Can a penguin fly?", "--model", "control/fickle", "--counterfactuals", "2"]) == 0
    code, here, _ = asked(capsys, "query", FIGURES, "--json")
    assert code == 0 and len(here) >= 20 and all(isinstance(json.loads(line), dict) for line in here)

    some, every = tmp_path / "some.zip", tmp_path / "every.zip"
    code, told, _ = asked(capsys, "export", str(some), "--where", "model = 'openai/stub-model' --", "--json")
    assert code == 0 and json.loads(told[0])["runs"] == 1
    assert asked(capsys, "export", str(every), "--sender", "Ann")[:2] == (0, [f"2 runs written to {every}"])
    with zipfile.ZipFile(every) as bundle:
        assert not [name for name in bundle.namelist() if SECRET.encode() in bundle.read(name)]
        assert "openai/stub-model" in str([bundle.read(name) for name in bundle.namelist()])

    monkeypatch.setenv("EXPLAIN_HOME", str(tmp_path / "fresh"))
    assert asked(capsys, "import", str(every))[:2] == (0, ["2 runs imported, not signed"])
    assert asked(capsys, "query", FIGURES, "--json")[1] == here
    code, told, _ = asked(capsys, "import", str(some), "--json")
    assert code == 0 and json.loads(told[0])["runs"] == 0 and len(json.loads(told[0])["same"]) == 1
    with Store(home.home() / "store.duckdb", entry.labs()) as store:
        from core.store import run_list

        assert set(run_list.senders(store).values()) == {"Ann"} and len(run_list.runs(store)) == 2


def test_what_is_refused_is_a_sentence_and_code_2(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "there.zip").write_bytes(b"no zip")
    for arguments, why in (
        (["query", "delete from runs"], "The store is read-only"),
        (["query", "selec 1"], "Parser Error"),
        (["export", str(tmp_path / "a.zip")], "there is no run to write"),
        (["export", str(tmp_path / "a.zip"), "--run", "none"], "none: there is no such run"),
        (["export", str(tmp_path / "a.zip"), "--where", "nothing = 1"], "Binder Error"),
        (["export", str(tmp_path / "there.zip")], "already exists"),
        (["import", str(tmp_path / "there.zip")], "damaged, or is not a zip file"),
    ):
        code, said, told = asked(capsys, *arguments)
        assert (code, said) == (2, []) and why in told and "Traceback" not in told, arguments
    assert sorted(path.name for path in tmp_path.iterdir()) == ["home", "there.zip"]


def test_a_query_is_a_table_on_the_terminal(capsys: pytest.CaptureFixture[str]) -> None:
    code, said, _ = asked(capsys, "query", "select 'a' || chr(27) || '[31m' as x, repeat('y', 99) as y, null as z")
    assert code == 0 and len(said) == 3 and "\x1b" not in said[2] and said[2].endswith("y…")


def test_a_run_and_a_filter_become_a_page_and_sentences(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    run = min(home.recordings().glob("*-simulatability-*")).stem
    one, some = tmp_path / "case.html", tmp_path / "some.html"
    assert asked(capsys, "page", run, "--case", "question", "-o", str(one))[:2] == (0, [f"1 case written to {one}"])
    code, said, _ = asked(
        capsys,
        "page",
        "--where",
        "run < '20261123-17' and (outcome like 'misled%' or lab = 'find') --",
        "-o",
        str(some),
    )
    assert code == 0 and said == [f"6 cases written to {some}"]
    assert one.read_bytes().startswith(b"<!doctype html>") and b"Could a penguin jump?" in some.read_bytes()
    code, told, _ = asked(capsys, "methods", run)
    assert code == 0 and len(told) == 1 and "1 run of Ask" in told[0] and "6 trials" in told[0]
    probes = "lab = 'find' and run not like 'study-%' and not starts_with(model, 'control/')"
    assert "2 runs of Probe" in asked(capsys, "methods", "--where", probes)[1][0]
    for arguments, why in (
        (["page", "-o", "a.html"], "Name a run"),
        (["page", "none", "-o", "a.html"], "There is no run named 'none'"),
        (["page", run, "--case", "none", "-o", "a.html"], "has no case 'none'"),
        (["page", run, "-o", str(one)], "already exists"),
        (["page", "--where", "outcome = 'nothing'", "-o", "a.html"], "No case matches the condition"),
        (["page", "--where", "1 = 1); drop table runs; --", "-o", "a.html"], "Error"),
        (["methods", "none"], "There is no run named 'none'"),
    ):
        code, said, told = asked(capsys, *arguments)
        assert (code, said) == (2, []) and why in told, (arguments, told)
