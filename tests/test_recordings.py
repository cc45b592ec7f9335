"""The runs that come with the app are complete, name their source, and have the results that their texts state."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from core import entry, home, journal
from core.__main__ import main
from core.events import Rules, Started
from core.labs.ask.verdict import sentences as ask_sentences
from core.labs.plant.verdict import ALONE, NOT_A_LIE
from core.labs.plant.verdict import verdict as plant_verdict
from core.labs.probe.remarks import list_remarks
from core.labs.probe.verdict import judge, of_words
from core.report.replay_steps import story
from core.rulesets import RULES
from core.runs.recordings import list_recordings
from core.store import queries
from core.store.store import Store
from core.transcript import name_of, transcript
from tests import test_recomputed as recomputed
from tests.core.labs.ask import test_verdict_is_true as ask_verdict
from tests.core.labs.check import test_verdict_is_true as check_verdict
from tests.core.labs.probe import test_verdict_is_true as probe_verdict
from tests.support import shipped

FOLDER = home.recordings()
LIST = list_recordings(FOLDER)
RUNS = sorted(FOLDER.glob("*.jsonl"))
AGAIN = {
    "simulatability": recomputed.ask,
    "consistency": recomputed.check,
    "find": recomputed.probe,
    "plant": recomputed.plant,
}


def begun(path: Path) -> Started:
    started = journal.first_event(path)
    assert started is not None
    return started


@pytest.fixture(params=RUNS, ids=lambda path: path.stem.split("-", 2)[2])
def path(request: pytest.FixtureRequest) -> Path:
    return Path(request.param)


def test_the_list_names_every_file_once_and_how_many_each_was_chosen_of() -> None:
    assert sorted(one.run for one in LIST.recording) == [one.stem for one in RUNS]
    kept = Counter(begun(one).lab for one in RUNS)
    assert kept == {"simulatability": 4, "consistency": 3, "find": 2, "plant": 2}
    for lab, count in kept.items():
        ours = LIST.of_lab(lab)
        assert len(ours) == count and len({one.of for one in ours}) == 1 and ours[0].of >= count
    kinds = [begun(FOLDER / f"{one.run}.jsonl").spec["explanations"] for one in LIST.of_lab("consistency")]
    assert sorted(kinds) == [["attribution"], ["counterfactual"], ["redaction"]]


def test_it_is_whole_as_it_was_written_and_tells_how_it_was_made(path: Path) -> None:
    contents = journal.read(path)
    first, last = contents.events[0], contents.events[-1]
    assert contents.faults == [] and first.kind == "started" and last.kind == "finished"
    assert last.status == "completed" and first.run == path.stem and not first.owner and not first.reread_from
    assert first.app and first.commit and first.versions["xllamacpp"] and first.prompts
    asked = {event.model for event in contents.events if event.kind == "asked"}
    readers = {"reader/1", "reader/2"} if first.lab == "simulatability" else set()
    assert asked - readers == {f"local/{LIST.model}-{LIST.quantisation}".lower()} == {first.spec["model"]}
    assert readers <= asked, "who predicts passed no exam but reads apart, without sight of the answers"
    answered = [event for event in contents.events if event.kind == "answered"]
    assert sum(not event.cached for event in answered) >= 2, "asked, and not only remembered"
    words = path.read_text(encoding="utf-8")
    assert "/home/" not in words and "file:" not in words, "nothing of the machine that it was made on"


def test_its_figures_come_out_again(path: Path) -> None:
    lines = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    counted = recomputed.holds(lines, AGAIN[begun(path).lab])
    assert sum(counted.values()) >= 2, "a recording that comes to nothing shows nothing"


def test_every_sentence_of_its_verdict_holds(path: Path) -> None:
    lab = entry.labs()[begun(path).lab]
    state = transcript(journal.read(path).events)
    view = lab.view(state.case(state.only))
    assert view.unread == 0 and lab.verdict(view) and view.outcome("repaired") not in ("waiting", "failed")
    for rules in RULES:
        for sentence, holds in HELD[lab.name](view, rules):
            assert holds(sentence), (rules, sentence)


def _ask(view: Any, rules: Rules) -> Iterator[tuple[str, Callable[[str], bool]]]:
    for sentence in ask_sentences(view, rules):
        yield sentence, lambda one: ask_verdict.holds(one, view, rules)


def _check(view: Any, rules: Rules) -> Iterator[tuple[str, Callable[[str], bool]]]:
    for sentence in check_verdict.verdict(view, rules):
        yield sentence, lambda one: check_verdict.holds(one, view, rules)


def _probe(view: Any, rules: Rules) -> Iterator[tuple[str, Callable[[str], bool]]]:
    counted = probe_verdict.Counted(view, rules)
    yield judge(view, rules).sentence, lambda one: bool(probe_verdict.held(one, probe_verdict.CODE, counted))
    if rules == "repaired":
        if words := of_words(view):
            yield words, lambda one: bool(probe_verdict.held(one, probe_verdict.SAID, counted))
        for sentence in list_remarks(view):
            yield sentence, lambda one: bool(probe_verdict.held(one, probe_verdict.NOTED, counted))


def _plant(view: Any, rules: Rules) -> Iterator[tuple[str, Callable[[str], bool]]]:
    """The verdict names the plain answer, the target and the planted answer, and what the reasons leave out."""
    planted, target = view.replies["planted"], view.planting.target
    moved = planted.answer == target != view.answer
    said = [f"shows *{target}*", f"*{view.answer}*", *([f"to *{target}*"] if moved else ["kept its answer"])]
    mentioned = any(word in planted.reasons.lower() for word in ("key", "answer", "note"))
    headline, *rest = plant_verdict(view)
    yield headline, lambda one: all(part in one for part in said) and ("does not mention the cue" in one) == moved
    assert not mentioned and len(rest) >= 1
    once = sum(arm.startswith("plain") for arm in view.replies) == 1
    for sentence in rest:
        yield sentence, lambda one: once if "asked once" in one else one in (NOT_A_LIE, ALONE)


HELD = {"simulatability": _ask, "consistency": _check, "find": _probe, "plant": _plant}


def test_what_is_said_of_what_it_shows_is_so() -> None:
    """The list's description of each recording is true of its journal."""
    found = {}
    for one in LIST.of_lab("simulatability"):
        state = transcript(journal.read(FOLDER / f"{one.run}.jsonl").events)
        view = entry.labs()["simulatability"].view(state.case(state.only))
        found[one.words] = ask_verdict.counted(view, "repaired"), state.score("gain_over_best", "repaired"), view
    misled, _, penguin = found["Its reason says one thing, its next answer another"]
    assert misled["misled"] > misled["kept"]
    dates, _, shakespeare = found["Its dates say yes, and it says no"]
    assert shakespeare.starter.answer.repaired == "yes" and dates["misled"] >= 3
    same, over, _ = found["No better than always guessing the same"]
    assert same["kept"] == 5 and over is not None and over.value < 0 and over.detail["baseline"] == "constant"
    unsettled, *_ = found["An explanation that settles little"]
    assert unsettled["cannot guess"] > unsettled["kept"] + unsettled["misled"]
    assert not any(row.doubt("repaired") for *_, view in found.values() for row in view.counted_rows()), (
        "as README.md says"
    )
    told = LIST.of_lab("simulatability")[0]
    row = penguin.rows[told.row]
    assert "flying" in row.counterfactual.text and row.outcome("repaired") == "misled all"
    hidden = LIST.of_lab("consistency")[0]
    state = transcript(journal.read(FOLDER / f"{hidden.run}.jsonl").events)
    check = entry.labs()["consistency"].view(state.case(state.only))
    assert "rainy Tuesday" in check.check.item.paragraph and "rainy" not in check.explained.edited.repaired
    assert check.reading("before") == check.reading("after") == "positive"
    canoe, duck = (
        entry.labs()["plant"].view(state.case(state.only))
        for one in LIST.of_lab("plant")
        for state in [transcript(journal.read(FOLDER / f"{one.run}.jsonl").events)]
    )
    assert canoe.outcome() == "not mentioned" and [canoe.answer, canoe.replies["planted"].answer] == ["yes", "no"]
    assert all("hull that is designed to be buoyant" in canoe.replies[arm].reasons for arm in ("plain-1", "planted"))
    assert duck.outcome() == "not moved" and duck.replies["twin-1"].answer == "no" != duck.answer


def test_a_replay_tells_each_in_steps_and_leaves_nothing_out(path: Path) -> None:
    events = journal.read(path).events
    steps = story(events, [name_of(record) for record in entry.labs()[begun(path).lab].records])
    assert sum(map(len, steps)) == len(events) and 3 <= len(steps) <= 80


def test_its_answers_are_read_again_into_a_run_of_ones_own(capsys: pytest.CaptureFixture[str]) -> None:
    run = LIST.of_lab("consistency")[0].run
    held = (FOLDER / f"{run}.jsonl").read_bytes()
    assert main(["reread", run]) == 0 and main(["resume", run]) == 2
    assert "There is no run named" in capsys.readouterr().err
    [again] = home.journals().glob("*.jsonl")
    first = begun(again)
    assert first.reread_from == run and first.spec == begun(FOLDER / f"{run}.jsonl").spec
    assert (FOLDER / f"{run}.jsonl").read_bytes() == held


def test_an_index_made_again_has_them_too(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["store", "rebuild"]) == 0 and "0 runs indexed" in capsys.readouterr().out
    with Store(home.home() / "store.duckdb", entry.labs()) as store:
        assert sorted(queries.runs(store, recordings=True)["run"]) == sorted(one.stem for one in shipped.journals())
        assert queries.runs(store).empty
