import os
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from store_events import (
    LABS,
    asked,
    at,
    content,
    lines,
    started,
    whole_run,
    write,
)

from core.events import Answered, Asked, Dropped, Event, Failed, Finished, Recorded, Resumed, Sampling, Scored
from core.store import index as indexing
from core.store.index import index, rebuild
from core.store.store import Store

ROOT = Path(__file__).resolve().parents[3]


@pytest.mark.thorough
def test_large_journals_are_written_in_blocks(store: Store, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for run in ("a", "b", "c"):
        write(folder, run, [*whole_run(run)[:-1], *[asked(run, f"d{n}") for n in range(5)], *whole_run(run)[-1:]])
    rebuild(store, folder)
    whole = content(store)
    monkeypatch.setattr(indexing, "BLOCK", 3)
    rebuild(store, folder)
    assert content(store) == whole


def test_the_store_heals_from_rows_written_by_hand(store: Store, folder: Path) -> None:
    write(folder, "a", whole_run("a"))
    index(store, folder)
    before = content(store)
    with store.write() as cursor:
        cursor.execute("delete from calls")
        cursor.execute("insert into faults values ('a', 1, 'made up')")
    assert rebuild(store, folder) == ["a"]
    assert content(store) == before


CALLS = st.sampled_from(["c1", "c2", "c3"])
CASES = st.sampled_from(["", "q1", "q1/you"])
ITEMS = st.sampled_from(["starter", "cf-01", "cf-02"])
TEXTS = st.text(st.characters(codec="utf-8"), max_size=20)
TIMES = st.integers(-5, 500).map(lambda tenths: at(tenths / 10))
RULES = st.sampled_from(["paper", "repaired"])
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | TEXTS,
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(TEXTS, inner, max_size=2),
    max_leaves=3,
)
DATA = st.dictionaries(
    st.sampled_from(
        [
            "call",
            "simulator",
            "votes",
            "paper",
            "text",
            "item",
            "title",
            "extra",
            "mood",
            "number",
            "of",
            "trials",
            "begun",
        ]
    ),
    VALUES,
)
NAMES = st.fixed_dictionaries({"run": st.just("r"), "at": TIMES})
EVENTS: st.SearchStrategy[Event] = st.one_of(
    NAMES.map(lambda names: started("r").model_copy(update=names)),
    NAMES.map(lambda names: Resumed(**names)),
    st.builds(
        lambda names, call, item, n: Asked(
            **names, call=call, item=item, role="x", model="m", messages=(), sampling=Sampling(), repeat=n
        ),
        NAMES,
        CALLS,
        ITEMS,
        st.integers(-(2**65), 2**65),
    ),
    st.builds(
        lambda names, call, text: Answered(**names, call=call, role="x", model="m", text=text, seconds=1),
        NAMES,
        CALLS,
        TEXTS,
    ),
    st.builds(lambda names, call: Failed(**names, call=call, error="E", message="m"), NAMES, st.none() | CALLS),
    st.builds(
        lambda names, case, by, record, item, data: Recorded(
            **names, case=case, by=by, record=record, item=item, data=data
        ),
        NAMES,
        CASES,
        st.sampled_from(["", "", "ann"]),
        st.sampled_from(["answer", "simulation", "counterfactual", "longwalk", "session", "begun", "result", "trial"]),
        ITEMS,
        DATA,
    ),
    st.builds(
        lambda names, case, item, reason, rules: Dropped(**names, case=case, item=item, reason=reason, rules=rules),
        NAMES,
        CASES,
        ITEMS,
        st.sampled_from(["error", "unparsed"]),
        st.none() | RULES,
    ),
    st.builds(
        lambda names, item, value, rules: Scored(
            **names, metric="m", item=item, value=value, n=1, of=1, rules=rules, detail={"a": value}
        ),
        NAMES,
        st.sampled_from(["", "cf-01"]),
        st.none() | st.floats(0, 1),
        RULES,
    ),
    st.builds(
        lambda names, case, value: Scored(
            **names, case=case, metric="m", item="", value=value, n=1, of=1, rules="paper", detail={}
        ),
        NAMES,
        CASES,
        st.floats(0, 1),
    ),
    st.builds(lambda names, status: Finished(**names, status=status), NAMES, st.sampled_from(["completed", "failed"])),
)


@settings(max_examples=10, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.lists(EVENTS, max_size=25), st.lists(st.floats(0, 1), max_size=4), st.booleans())
def test_indexed_in_pieces_or_at_once_is_the_same(events: list[Event], cuts: list[float], broken: bool) -> None:
    """Whatever happens in a run, and wherever the file ends when it is indexed, even within a character."""
    data = lines(events)
    if broken:
        data = data.replace(b'"kind":"scored"', b'"kind":"score\xff"')
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name) / "journals"
        folder.mkdir()
        with Store(Path(name) / "store.duckdb", LABS) as store:
            for cut in [*sorted(int(cut * len(data)) for cut in cuts), len(data)]:
                (folder / "r.jsonl").write_bytes(data[:cut])
                index(store, folder)
            pieces = content(store)
            rebuild(store, folder)
            assert content(store) == pieces


DYING = """
import os, pathlib, signal, sys
import duckdb, pandas, pyarrow.dataset  # once for all children
from core.store import index as indexing
from core.store.store import Store
from store_events import LABS

folder, journals, deaths = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2]), int(sys.argv[3])
indexing.BLOCK = 40
insert, left = indexing._Batch._insert, 0

def insert_or_die(*args):
    global left
    if left == 0:
        os.kill(os.getpid(), signal.SIGKILL)
    left -= 1
    insert(*args)

indexing._Batch._insert = insert_or_die
for left in range(deaths):
    child = os.fork()
    if child == 0:
        indexing.index(Store(folder / f"{left}.duckdb", LABS), journals)
        os._exit(0)
    _, status = os.waitpid(child, 0)
    assert os.WIFSIGNALED(status), left
"""


PATHS = {**os.environ, "PYTHONPATH": os.pathsep.join((str(ROOT), str(Path(__file__).parent)))}


@pytest.mark.thorough
def test_killed_between_any_two_inserts_rows_and_bytes_agree(folder: Path, tmp_path: Path) -> None:
    deaths = 12
    runs = {name: [*whole_run(name)[:-1], *[asked(name, f"d{n}") for n in range(40)]] for name in ("a", "b", "c")}
    for name, events in runs.items():
        write(folder, name, events)
    subprocess.run([sys.executable, "-c", DYING, str(tmp_path), str(folder), str(deaths)], env=PATHS, check=True)
    with Store(tmp_path / "whole.duckdb", LABS) as whole:
        index(whole, folder)
        expected = content(whole)
    counts = []
    for death in range(deaths):
        with Store(tmp_path / f"{death}.duckdb", LABS) as store:
            indexed = store.query("select run, bytes, lines from runs").set_index("run")
            for run, events in runs.items():
                size, count = indexed.loc[run] if run in indexed.index else (0, 0)
                assert size == len(lines(events[:count]))
                calls = sum(event.kind == "asked" for event in events[:count])
                assert len(store.query("select call from calls where run = ?", [run])) == calls
            counts.append(int(indexed.lines.sum()))
            index(store, folder)
            assert content(store) == expected
    assert counts == sorted(counts)
    assert len(set(counts)) > 1
