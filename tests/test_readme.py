"""Every command in README.md and docs/commands.md is run. Names in capitals are filled in, a scripted server answers
for models, a local one serves the hub's files, studies are made small, and 20 questions become 3. Except in `make
thorough`, the runs that `demo-home` copies are made small too, and 30,000 triplets become 300. Nothing else is changed.
"""

import re
import shlex
import shutil
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import duckdb
import pytest

from core import entry, home, journal
from core.__main__ import main
from core.commands import app
from core.events import Dropped, Started
from core.journal import Journal
from core.runs.context import recorded
from core.runs.labels import Label
from core.transcript import transcript
from tests.conftest import SETS
from tests.support.chance import ALL
from tests.support.plausible import Plausible
from tests.support.stub_server import Calls, StubServer

ROOT = Path(__file__).resolve().parents[1]
README = (ROOT / "README.md").read_text(encoding="utf-8")
COMMANDS = README + (ROOT / "docs" / "commands.md").read_text(encoding="utf-8")
MODEL = "openai/stub-model"

CONCLUSION = "[DESCRIPTION]: a line\n[CODE]:\n```python\ndef f(x):\n    return x\n```"


def examples() -> Iterator[str]:
    """Yield the lines of all code blocks that call the command line."""
    for block in re.findall(r"^```[^\n]*\n(.*?)^```", COMMANDS, re.DOTALL | re.MULTILINE):
        yield from (line for line in block.splitlines() if line.startswith("python -m core "))


def arguments(line: str) -> list[str]:
    """The arguments of an example after `python -m core`, without the comment at its end."""
    return shlex.split(line, comments=True)[3:]


class Answering(Plausible):
    """Answers the prompts of all labs: if it has tools it makes one experiment, then concludes."""

    def __call__(self, body: dict[str, Any]) -> Any:
        asked = str(body["messages"])
        if body.get("tools"):
            looked = any(message["role"] == "tool" for message in body["messages"])
            return CONCLUSION if looked else Calls((("call_function", '{"inputs": [1, 2]}'),))
        if "[CODE]" in asked or "PYTHON" in asked:
            return CONCLUSION
        return super().__call__(body)


@pytest.fixture(scope="module")
def server() -> Iterator[StubServer]:
    with StubServer(Answering()) as server:
        yield server


@pytest.fixture(scope="module")
def hub(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """A hub at which every file is the same small table."""
    file = tmp_path_factory.mktemp("hub") / "data.parquet"
    texts = "(values ('A superb film.', 'positive'), ('A dull film.', 'negative')) as t(text, label)"
    duckdb.connect().execute(f"copy (select * from {texts}) to '{file}' (format parquet)")
    content = file.read_bytes()

    class Handler(BaseHTTPRequestHandler):
        def do_HEAD(self) -> None:
            self.send_response(200)
            for name, value in (("ETag", '"a"'), ("X-Repo-Commit", "c" * 40), ("Content-Length", str(len(content)))):
                self.send_header(name, value)
            self.end_headers()

        def do_GET(self) -> None:
            self.do_HEAD()
            self.wfile.write(content)

        def log_message(self, *args: Any) -> None:
            pass

    served = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=served.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{served.server_port}"
    served.shutdown()
    served.server_close()


def small(text: str) -> str:
    """The study with one item for each run and, except in `make thorough`, with the first and the last of each list in
    its grid: each cell brings an examination of all robots of its lab.
    """
    text = re.sub(r"\b(limit|counterfactuals|count|rounds) = \d+", r"\1 = 1", text)
    text = re.sub(r"^spec = \{ (?!.*\blimit\b)(?=controls|task)", "spec = { limit = 1, ", text, flags=re.MULTILINE)
    # Only the first and the last of the dial's eleven steps.
    text = re.sub(r'"control/dial-(lexicon-)?0\.[1-9]",\s*', "", text)
    if ALL:
        return text
    between = re.compile(r'^((?:grid = \{ )?\w+ = \[\s*"[^"]*"),\s*(?:"[^"]*",\s*)+("[^"]*",?\s*\])', re.MULTILINE)
    return between.sub(r"\1, \2", text)


@pytest.fixture(autouse=True)
def place(tmp_path: Path, server: StubServer, hub: str, opened_before: None, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder in which an example is run: empty but for the studies that ship, made small."""
    for name, value in (("OPENAI_BASE_URL", server.base_url), ("OPENAI_API_KEY", "none"), ("HF_ENDPOINT", hub)):
        monkeypatch.setenv(name, value)
    monkeypatch.chdir(tmp_path)
    entry.answers.cache_clear()
    shutil.copytree(ROOT / "studies", tmp_path / "studies")
    for study in (tmp_path / "studies").glob("*.toml"):
        text = small(study.read_text(encoding="utf-8").replace("local/smollm2-135m", MODEL))
        study.write_text(text, encoding="utf-8")
    if not ALL:
        monkeypatch.setattr(app, "STUDY", small(app.STUDY.decode()).encode())
    return tmp_path


def label_cases() -> None:
    """A person's label scheme, and their labels of the cases of one run: what a judge is tested on."""
    scheme = 'title = "What is wrong?"\nseveral = false\nlabels = {circular = "x", fine = "f"}\n'
    (home.home() / "labels.toml").write_text(f"[reason]\n{scheme}", encoding="utf-8")
    world = ["ask", "--dataset", "world", "--limit", "24", "--counterfactuals", "1", "--arms", "none"]
    assert main([*world, "--model", "control/fickle"]) == 0
    [run] = home.journals().glob("*.jsonl")
    name = f"{run.stem}~labels-me"
    with Journal(home.journals() / f"{name}.jsonl", new=True) as written:
        written.append(Started(run=name, lab="simulatability", spec={}, seed=0, about=run.stem, owner="me"))
        for number, case in enumerate(transcript(journal.read(run).events).cases):
            label = Label(own={"reason": ("circular" if number % 2 else "fine",)})
            written.append(recorded(name, label, "", case=case, by="labels-me"))


def put_in(given: list[str], folder: Path) -> list[str]:
    """The example's arguments, with its names in capitals filled in."""
    told = " ".join(given)
    if any(word in given for word in ("RUN", "compare", "FILE.zip", "export")):
        for robot in ("fickle", "steadfast"):
            assert main(["ask", "Can a penguin fly?", "--model", f"control/{robot}", "--counterfactuals", "2"]) == 0
    if given[0] == "judge":
        label_cases()
    if given[:2] == ["import", "FILE.zip"]:
        assert main(["export", "FILE.zip", "--where", "model like 'control/%'"]) == 0
    if "file:ITEMS.csv" in given:
        there = home.home() / "datasets"
        there.mkdir(parents=True)
        (there / "ITEMS.csv").write_text("q,gold\nCan a penguin fly?,no\n", encoding="utf-8")
    if "LABELLED.csv" in given:
        row = "Can a penguin fly?,Birds can fly except the penguin.,no,faithful"
        (folder / "LABELLED.csv").write_text(f"question,explanation,answer,label\n{row}\n", encoding="utf-8")
    named = next((name for name in ("babi", "strategyqa") if name in told), "")
    instead = {
        "FOLDER": str(SETS / named),
        "FILE.eval": "FILE.eval" if given[0] == "export" else str(ROOT / "tests" / "data" / "inspect.eval"),
        "RUN": next((path.stem for path in sorted(home.journals().glob("*.jsonl"))), ""),
        "openai/MODEL": MODEL,
        "local/smollm2-135m": MODEL,
        "hf://OWNER/NAME/FILE.parquet": "hf://ann/films/data.parquet",
        "model like 'local/%'": "model like 'control/%'",
    }
    few = {"20": "3"} if ALL else {"20": "3", "30000": "300"}
    made = [instead.get(one, few.get(one, one)) for one in given]
    asks_default = given[0] in ("ask", "check", "probe") and not {"--model", "--interpreter"} & set(given)
    # A judge that fails its test asks before it goes on. If no model is named, it is the one that ships.
    made += ["--yes"] if given[0] == "judge" else []
    return [*made, "--model", MODEL] if asks_default else made


@pytest.mark.parametrize("line", list(examples()), ids=lambda line: " ".join(line.partition("#")[0].split()[3:]))
def test_the_example_does_what_it_says(line: str, place: Path, capfd: pytest.CaptureFixture[str]) -> None:
    given = put_in(arguments(line), place)
    left = [one for one in given if re.search(r"\b(?!ITEMS|LABELLED|FILE\.zip|FILE\.eval)[A-Z]{3,}\b", one)]
    assert not left, f"this test does not know what stands for {left}"
    capfd.readouterr()
    code = main(given)
    printed = capfd.readouterr()
    assert code == 0, printed.err
    assert printed.out.strip() or given[:2] == ["study", "pause"]
    assert "Traceback" not in printed.out + printed.err
    for file in home.journals().glob("*.jsonl"):
        failed = [one.detail for one in journal.read(file).events if isinstance(one, Dropped) and one.reason == "error"]
        assert not failed, f"{file.name}: {failed[0]}"
    if "-o" in given:
        assert (place / given[given.index("-o") + 1]).stat().st_size > 1000


def test_every_example_is_found() -> None:
    """Each call in the document is in a code block, and would be run."""
    assert len(list(examples())) == COMMANDS.count("\npython -m core ") > 25


def test_the_readme_stays_short_and_its_links_lead_somewhere() -> None:
    assert README.count("\n") <= 130
    links = re.findall(r"\]\(([^)#]+)", README + "".join(path.read_text() for path in ROOT.glob("*.md")))
    missing = [link for link in links if "://" not in link and not (ROOT / link).exists()]
    assert len(links) > 10 and missing == []
