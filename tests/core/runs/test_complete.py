"""A complete run asks nothing and adds nothing, whatever version made it and whatever machine opens it."""

import asyncio
import json
import re
import shutil
import zlib
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from core import entry, home, journal
from core.__main__ import main
from core.events import Event, Model, Recorded
from core.labs.ask.records import Counterfactual
from core.labs.ask.tasks import AskSpec
from core.labs.base.spec import Spec
from core.labs.probe.functions import modules
from core.labs.probe.interpreters import nearest
from core.labs.probe.tasks import ProbeSpec
from core.models.cache import Replay
from core.runs.context import nearly_equal
from core.runs.engine import RunIO, RunRequest, UserInput, execute
from core.server.jobs import JobRunner
from core.store.index import index
from core.store.store import Store
from core.text import embed

DATA = Path(__file__).resolve().parents[2] / "data"
APART = 2e-6
"""The most by which a number of a vector is changed. This is more than machines differ by (1e-7), so some of the six
decimals of a similarity must change, and too little for a result to count as different (`core.runs.context`).
"""


def is_complete(path: Path) -> bool:
    last = journal.read(path).events[-1]
    return last.kind == "finished" and last.status == "completed"


KEPT = [path for path in sorted(home.recordings().glob("*.jsonl")) if is_complete(path)]


class _Elsewhere:
    """The encoder as on another machine: each number of a vector is slightly different, and texts come in another
    order.
    """

    alive = True

    def __init__(self, real: embed.Encoder) -> None:
        self._real = real
        self.encoded = 0
        """The number of texts so far."""

    def encode(self, texts: Sequence[str]) -> NDArray[np.float32]:
        self.encoded += len(texts)
        vectors = self._real.encode(texts[::-1])[::-1]
        off = [
            np.random.default_rng(zlib.crc32(text.encode())).uniform(-APART, APART, len(vectors[0])) for text in texts
        ]
        return (vectors + np.array(off)).astype(np.float32)


def _forget() -> None:
    modules.direction.cache_clear()
    nearest._hypotheses.cache_clear()


@pytest.fixture
def elsewhere(monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[[], _Elsewhere]]:
    """After it is called, the test runs as on another machine."""
    here = embed.encoder()

    def move() -> _Elsewhere:
        _forget()
        there = _Elsewhere(here)
        monkeypatch.setattr(
            embed, "_started", dict.fromkeys((embed.AUTO, embed.SMALL), embed.Encoder(here.name, there))
        )
        return there

    yield move
    _forget()


def nobody(id: str) -> Model:
    raise AssertionError(f"{id} is wanted")


def made(spec: Spec, history: Sequence[Event] = (), **more: Any) -> list[Event]:
    lab = next(lab for lab in entry.labs().values() if isinstance(spec, lab.spec))
    news: list[Event] = []
    asyncio.run(
        execute(
            RunRequest(lab, spec, "r", history=history, **more), RunIO(entry.catalog().get, news.append, live=False)
        )
    )
    return news


ASK = AskSpec(dataset="world", limit=3, counterfactuals=5, model="control/fickle")
PROBE = ProbeSpec(category="entities", backbone="embedding", interpreter="nearest", seed=3)


@pytest.mark.sampled(3)
@pytest.mark.parametrize("path", KEPT, ids=lambda path: path.stem.split("-", 2)[2])
def test_a_complete_journal_gains_nothing_by_being_gone_on_with_or_indexed(
    path: Path, tmp_path: Path, elsewhere: Callable[[], _Elsewhere]
) -> None:
    elsewhere()
    folder = tmp_path / "journals"
    folder.mkdir()
    shutil.copy(path, folder)
    jobs = JobRunner(folder, entry.labs(), nobody)
    for _ in range(2):
        jobs.resume(path.stem)
        assert jobs.wait(path.stem, 60)
        with Store(tmp_path / "store.duckdb", entry.labs()) as store:
            assert index(store, folder) in ([], [path.stem])
    assert (folder / path.name).read_bytes() == path.read_bytes()
    assert [one.name for one in folder.glob("*.jsonl")] == [path.name]


@pytest.mark.parametrize("spec", [ASK, PROBE], ids=lambda spec: type(spec).__name__)
def test_on_another_machine_nothing_is_found_that_the_journal_does_not_say(
    spec: Spec, elsewhere: Callable[[], _Elsewhere]
) -> None:
    """The run is worked through from beginning to end, which happens to a complete run only if something has to be
    repaired.
    """
    events = made(spec)
    texts = ["Can a penguin fly?", "Can an eagle fly?", "rivers", "The old man and the sea"]
    here = embed.encoder().encode(texts)
    elsewhere()
    there = embed.encoder().encode(texts)
    assert 0 < np.abs(there - here).max() < 2 * APART and not np.array_equal(here @ here.T, there @ there.T)
    assert made(spec, events) == [] == made(spec, events, mend=True)


def test_what_a_person_adds_on_another_machine_is_all_that_is_added(elsewhere: Callable[[], _Elsewhere]) -> None:
    spec = AskSpec(question="Can a penguin fly?", model="control/fickle", counterfactuals=5)
    events = made(spec)
    [case] = {event.case for event in events if isinstance(event, Recorded) and event.record == "begun"}
    elsewhere()
    text = "Can a penguin jump over a fence?"
    own = Counterfactual(origin="hand", text=text)
    more = made(spec, events, additions=[UserInput(case, own, "hand-{n}")])
    assert [event.kind for event in more].count("asked") >= 2 and more[-1].kind == "finished"
    items = {event.item for event in more if isinstance(event, Recorded) and event.record != "result"}
    assert {item.partition("/")[0] for item in items} == {"hand-01"} and not [
        event for event in more if event.kind == "scored"
    ]


STUDY = """
title = "Two machines"
[[part]]
lab = "ask"
spec = { dataset = "world", limit = 3, counterfactuals = 4 }
grid = { model = ["control/steadfast", "control/fickle"] }
[[table]]
lab = "ask"
metrics = ["precision", "generality_cosine", "generality_bleu"]
rows = ["model"]
"""


def printed(capsys: pytest.CaptureFixture[str], *arguments: str) -> list[Any]:
    capsys.readouterr()
    assert main(list(arguments)) == 0
    return [json.loads(line) for line in capsys.readouterr().out.splitlines() if line.startswith("{")]


def journals() -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in home.journals().glob("*.jsonl")}


@pytest.mark.thorough
def test_a_study_s_table_says_the_same_on_another_machine(
    tmp_path: Path,
    elsewhere: Callable[[], _Elsewhere],
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    file = tmp_path / "two.toml"
    file.write_text(STUDY, encoding="utf-8")
    assert main(["study", "run", str(file)]) == 0
    table, held = printed(capsys, "study", "table", str(file), "--json"), journals()
    assert {row["table"] for row in table if row["value"] is not None} >= {"Ask: Generality", "Ask: Precision"}
    elsewhere()
    assert main(["study", "run", str(file)]) == 0
    assert journals() == held
    assert printed(capsys, "study", "table", str(file), "--json") == table
    monkeypatch.setenv("EXPLAIN_HOME", str(tmp_path / "there"))
    assert main(["study", "run", str(file)]) == 0
    assert nearly_equal(printed(capsys, "study", "table", str(file), "--json"), table)


def told(path: Path) -> list[tuple[str, dict[str, Any]]]:
    """What a run recorded, dropped and scored, without the times and the numbers of its calls."""
    found = []
    for event in journal.read(path).events:
        if event.kind in ("recorded", "dropped", "scored"):
            said = event.model_dump(mode="json", exclude={"at", "run"})
            said["data"] = {name: _read(value) for name, value in said.get("data", {}).items() if "call" not in name}
            found.append((event.kind, said))
    return sorted(found, key=_place)


def _read(value: Any) -> Any:
    """Turn printed numbers, such as a function's outputs, into numbers."""
    if isinstance(value, list):
        return [_read(one) for one in value]
    return float(value) if isinstance(value, str) and re.fullmatch(r"\d\.\d{4}", value) else value


@pytest.mark.sampled(2)
@pytest.mark.parametrize("spec", [ASK, PROBE], ids=lambda spec: type(spec).__name__)
def test_a_reread_on_another_machine_finds_the_same(
    spec: Spec, tmp_path: Path, elsewhere: Callable[[], _Elsewhere]
) -> None:
    jobs = JobRunner(tmp_path, entry.labs(), entry.catalog().get)
    run = jobs.start("find" if spec is PROBE else "simulatability", spec)
    assert jobs.wait(run, 120)
    there = elsewhere()
    again = jobs.reread(run, Replay)
    assert jobs.wait(again, 120) and jobs.watch(again).transcript.status == "completed"
    first, second = (told(tmp_path / f"{name}.jsonl") for name in (run, again))
    assert there.encoded and len(first) >= 20
    # The four decimals of a function's outputs may all stay the same; the six of a similarity cannot.
    assert spec is PROBE or first != second
    for one, other in zip(first, second, strict=True):
        # A function's output may be rounded to the next of its four decimals.
        assert nearly_equal(one, other, 1.01e-4 if one[0] == "recorded" else 1e-5), (one, other)


def _place(one: tuple[str, Any]) -> str:
    kind, said = one
    return f"{kind} {said['case']} {said.get('record') or said.get('metric')} {said['item']} {said.get('rules')}"


@pytest.mark.thorough
def test_a_bundle_from_another_machine_stays_as_it_is(
    tmp_path: Path,
    elsewhere: Callable[[], _Elsewhere],
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    figures = 'select run, "case", metric, rules, item, value, n, "of", low, high from scores order by all'
    ask = ["ask", "--dataset", "world", "--limit", "2", "--model", "control/fickle", "--counterfactuals", "4"]
    assert main(ask) == 0
    held, here = journals(), printed(capsys, "query", figures, "--json")
    assert len(here) >= 20 and main(["export", str(tmp_path / "all.zip")]) == 0
    monkeypatch.setenv("EXPLAIN_HOME", str(tmp_path / "there"))
    elsewhere()
    assert main(["import", str(tmp_path / "all.zip")]) == 0
    for name in held:
        assert main(["resume", name.removesuffix(".jsonl")]) == 0
    kept = journals()
    assert {name: kept[name] for name in held} == held
    assert printed(capsys, "query", figures, "--json") == here
