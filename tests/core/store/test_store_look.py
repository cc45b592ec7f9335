import gc
import os
import tempfile
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from store_events import (
    LABS,
    asked,
    content,
    count,
    lines,
    one,
    started,
    whole_run,
    write,
)

from core.store import index as indexing
from core.store.index import Index, IndexWatcher, index, pause, rebuild
from core.store.store import Store
from tests.support.waiting import until

ROOT = Path(__file__).resolve().parents[3]


def test_an_index_kept_in_mind_sees_what_a_new_one_sees(store: Store, folder: Path, tmp_path: Path) -> None:
    """The same steps as above, one after the other, with an index that remembers its last check."""
    kept = Index(store, folder)
    assert kept.update() == []
    path = write(folder, "a", whole_run("a")[:3])
    write(folder, "b", whole_run("b"))
    assert (kept.update(), kept.update()) == (["a", "b"], [])
    with path.open("ab") as file:
        file.write(lines(whole_run("a")[3:], 4)[:-10])
    assert (kept.update(), kept.update()) == (["a"], [])
    assert one(store, "from runs where run = 'a'")["status"] == "running"
    write(folder, "a", whole_run("a"))
    assert (kept.update(), kept.update()) == (["a"], [])
    write(folder, "b", [started("b", title="Do ducks quack?"), *[asked("b", f"c{n}") for n in range(40)]])
    assert (kept.update(), kept.update()) == (["b"], [])
    assert one(store, "select count(*) as n from calls where run = 'b'")["n"] == 40
    write(folder, "b", whole_run("b")[:2])
    assert (kept.update(), kept.update()) == (["b"], [])
    before = content(store)
    (folder / "b.jsonl").unlink()
    assert (kept.update(), kept.update()) == (["b"], [])
    assert {row[0] for row in store.query("select run from runs").values} == {"a"}
    write(folder, "b", whole_run("b")[:2])
    assert (kept.update(), kept.update()) == (["b"], [])
    assert content(store) == before


def test_who_waits_for_the_first_look_can_see_how_far_it_is(
    store: Store, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in "abc":
        write(folder, name, whole_run(name))
    kept, seen, read = Index(store, folder), [], indexing._read
    monkeypatch.setattr(indexing, "_read", lambda *given: seen.append(kept.progress) or read(*given))
    assert kept.progress == (0, 0) and kept.update() == ["a", "b", "c"]
    assert [*seen, kept.progress] == [(0, 3), (1, 3), (2, 3), (3, 3)]
    assert gc.isenabled(), "rows are made without collections"


def test_somebody_stops_the_first_look_and_lets_it_go_on(
    store: Store, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in "abc":
        write(folder, name, whole_run(name))
    kept, read = Index(store, folder), indexing._read
    with monkeypatch.context() as stopped:
        stopped.setattr(indexing, "_read", lambda *given: kept.stop() or read(*given))
        assert (kept.update(), kept.postponed) == (["a"], 2)
    assert one(store, "from runs")["status"] == "completed", "what was read can be used"
    write(folder, "d", whole_run("d"))
    assert (kept.update(), kept.update(), kept.postponed) == (["d"], [], 2), "new runs are read all the same"
    with store.write():
        pass
    assert kept.update() == [], "also after somebody else wrote to the store"
    with (folder / "b.jsonl").open("ab") as file:
        file.write(lines(whole_run("b")[-1:], 20))
    assert (kept.update(), kept.postponed) == (["b"], 1), "a journal that changes is read"
    kept.resume()
    assert (kept.postponed, kept.update(), kept.update()) == (0, ["c"], [])
    with Store(folder.parent / "whole.duckdb", LABS) as whole:
        index(whole, folder)
        assert content(whole) == content(store)


def test_an_index_kept_in_mind_notices_that_others_wrote_to_the_store(store: Store, folder: Path) -> None:
    write(folder, "a", whole_run("a"))
    kept = Index(store, folder)
    kept.update()
    before = content(store)
    store.clear()
    assert kept.update() == ["a"]
    assert content(store) == before
    with Store(store.path, LABS) as other:
        write(folder, "b", whole_run("b"))
        assert index(other, folder) == ["b"]
        assert kept.update() == []
        (folder / "a.jsonl").unlink()
        assert index(other, folder) == ["a"]
        assert kept.update() == []
        assert rebuild(other, folder) == ["b"]
    assert kept.update() == []
    write(folder, "a", whole_run("a"))
    assert kept.update() == ["a"]


def test_a_link_that_leads_nowhere_any_more(store: Store, folder: Path, tmp_path: Path) -> None:
    target = write(tmp_path / "elsewhere", "a", whole_run("a"))
    (folder / "a.jsonl").symlink_to(target)
    kept = Index(store, folder)
    assert kept.update() == ["a"]
    target.rename(tmp_path / "away")
    assert (kept.update(), kept.update(), count(store, "runs")) == (["a"], [], 0)
    (tmp_path / "away").rename(target)
    assert kept.update() == ["a"]


def test_the_keeper_takes_up_what_comes(store: Store, folder: Path) -> None:
    write(folder, "a", whole_run("a")[:4])
    keeper = IndexWatcher(store, folder, every=600)
    try:
        assert keeper.looked.wait(120)
        assert (keeper.changes, one(store, "from runs")["status"]) == (1, "running")
        write(folder, "a", whole_run("a"))
        keeper.wake()
        until(lambda: keeper.changes >= 2)
        assert one(store, "from runs")["status"] == "completed"
        write(folder, "b", whole_run("b"))
        keeper.catch_up(120)
        assert keeper.changes == 3 and count(store, "runs") == 2
    finally:
        keeper.close()


STEPS = st.lists(
    st.tuples(
        st.sampled_from(["a", "b", "c"]),
        st.sampled_from(["write", "grow", "cut", "empty", "delete", "move away", "look", "look", "link"]),
        st.integers(0, 2_000),
    ),
    max_size=12,
)


@settings(max_examples=15, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(STEPS)
def test_whatever_happens_to_a_folder_the_last_look_shows_it_as_it_is(steps: list[tuple[str, str, int]]) -> None:
    with tempfile.TemporaryDirectory() as name:
        folder, away, linked = (Path(name) / part for part in ("journals", "away", "linked"))
        for one in (folder, away, linked):
            one.mkdir()
        with Store(Path(name) / "store.duckdb", LABS) as store:
            kept = Index(store, folder)
            for run, step, size in steps:
                path = folder / f"{run}.jsonl"
                data = lines(whole_run(run))
                if step == "look":
                    kept.update()
                elif step in ("write", "link"):
                    path.unlink(missing_ok=True)
                    place = path if step == "write" else linked / path.name
                    place.write_bytes(data[:size])
                    if step == "link":
                        path.symlink_to(place)
                elif not path.is_file():
                    (linked / path.name).unlink(missing_ok=True)
                elif step == "move away":
                    path.rename(away / path.name)
                elif step == "delete":
                    path.unlink()
                else:
                    old = path.read_bytes()
                    path.write_bytes(
                        {"grow": old + data[len(old) :][:size], "cut": old[: size // 4], "empty": b""}[step]
                    )
            kept.update()
            assert kept.update() == []
            seen = content(store)
            rebuild(store, folder)
            assert content(store) == seen


@pytest.mark.skipif(os.geteuid() == 0, reason="the superuser reads everything")
def test_a_journal_that_cannot_be_read_now_is_read_later(store: Store, folder: Path) -> None:
    path = write(folder, "a", whole_run("a"))
    kept = Index(store, folder)
    path.chmod(0)
    assert kept.update() == []
    path.chmod(0o600)
    assert kept.update() == ["a"]


def test_a_journal_that_fails_to_be_read_once_is_read_at_the_next_look(
    store: Store, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(folder, "a", whole_run("a"))
    write(folder, "b", whole_run("b"))
    kept = Index(store, folder)
    read = indexing._read

    def fail(batch: Any, file: Any, seen: Any) -> bool:
        if file.run == "a":
            raise OSError("the storage stalls")
        return read(batch, file, seen)

    with monkeypatch.context() as stalling:
        stalling.setattr(indexing, "_read", fail)
        assert kept.update() == ["b"]
    assert kept.update() == ["a"]


def test_looks_at_very_many_journals_leave_the_processor_to_others() -> None:
    assert pause(2.0, 0.001) == 2.0
    assert pause(2.0, 0.3) == pytest.approx(6.0), "a twentieth of the time"
