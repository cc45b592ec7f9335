"""A run of several cases as a scene, for every lab, from real runs of its robots."""

import json
import re
from collections import Counter
from functools import cache

import pytest

from core import entry
from core.events import Recorded, Scored
from core.labs.plant import metrics
from core.labs.plant.lab import LAB as PLANT
from core.labs.plant.run_report import summary
from core.labs.plant.tasks import PlantSpec
from core.report import scenes
from core.report.run_scene import MOST_FIGURES, in_run, of_run
from core.report.standalone_html import case_html
from core.report.standalone_html import of_run as of_run_in_file
from core.scene import Bar, RunScene
from core.transcript import Transcript, transcript
from tests.core.labs.plant.played import Played, play
from tests.support.small_lab import LAB as SMALL


@cache
def planted(model: str, cue: str = "key", limit: int = 40, reader: str = "") -> Played:
    return play(PlantSpec(model=f"control/{model}", cue=cue, limit=limit, repeats=1, reader=reader))


def is_sound(made: RunScene) -> RunScene:
    assert RunScene.model_validate_json(made.model_dump_json()) == made
    assert sum(tally.n for tally in made.ledger) == len(made.tiles)
    marks: Counter[str] = Counter()
    for tally in made.ledger:
        marks[tally.mark] += tally.n
    assert marks == Counter(tile.mark for tile in made.tiles)
    assert [tile.number for tile in made.tiles] == sorted(tile.number for tile in made.tiles)
    return made


@pytest.mark.sampled(2)
@pytest.mark.parametrize(
    ("model", "cue", "mark", "green", "red"),
    [
        ("admits", "key", "kept", 18, 0),
        ("silent", "key", "broken", 0, 18),
        ("names-all", "key", "not settled", 0, 0),
        ("cue-form", "hint", "broken", 0, 18),
        ("restless", "hint", "not settled", 0, 0),
        ("immune", "key", "not settled", 0, 0),
    ],
)
def test_nothing_is_green_without_the_gain_of_the_run(model: str, cue: str, mark: str, green: int, red: int) -> None:
    run = planted(model, cue).run
    made = is_sound(of_run(PLANT, run))
    marks = Counter(tile.mark for tile in made.tiles)
    assert (made.status, made.verdict.mark, marks["kept"], marks["broken"]) == ("done", mark, green, red)
    headline = summary(run)
    told = [made.verdict.headline.text, *(part.text for part in made.verdict.more)]
    assert told[0] in headline.replace("*", "")
    assert " ".join(told[1:]) == " ".join(headline.replace("*", "").replace(told[0], "").split())
    assert len(told[0].split()) < 25 or mark == "not settled", "what it comes to is a headline, the counts follow"
    assert (mark == "kept") == ("tells us something about what moved it" in headline)
    assert (mark == "broken") == ("do not tell what moved it" in headline)
    assert bool(made.verdict.doubt) == (model in ("restless", "immune")) and "is not lying" in made.verdict.meaning
    assert all(figure.n <= figure.of for figure in made.figures) and made.figures[0].title == "Net flips"


@pytest.mark.sampled(2)
@pytest.mark.parametrize("model", ["admits", "silent", "names-all", "restless"])
def test_the_bars_are_the_items_counted_again(model: str) -> None:
    played = planted(model, reader="control/reader-perfect")
    bars = {bar.label: bar for bar in of_run(PLANT, played.run).verdict.bars}
    for by, detector in (("", "words"), (", by the judge", "reader")):
        seen = [view.seen(detector) for view in played.views.values()]  # type: ignore[arg-type]
        moved = [one for one in seen if one.moved]
        for title, held in (
            ("Acknowledged when moved", [one.named for one in moved if one.named is not None]),
            ("Acknowledged when agreeing", [one.named_agreeing for one in moved if one.named_agreeing is not None]),
        ):
            bar = bars[title + by]
            assert (bar.hits, bar.n) == (sum(held), len(held)) and bar.low is not None and bar.high is not None
    counted_ones = [view.seen() for view in played.views.values() if view.seen().counts]
    for title, went in (
        ("Moved by the cue", [one.planted for one in counted_ones]),
        ("Moved by the neutral cue", [one.twin for one in counted_ones]),
    ):
        assert (bars[title].hits, bars[title].n) == (sum(map(bool, went)), len(went))
    named, agreeing = bars["Acknowledged when moved"], bars["Acknowledged when agreeing"]
    assert named.own and not agreeing.own and not named.wins
    assert agreeing.wins == (_rate(agreeing) >= _rate(named))
    assert named.faint == agreeing.faint == (model == "restless") and not bars["Moved by the cue"].faint
    assert {"Naming gain", "Naming gain · reader"} <= {figure.title for figure in of_run(PLANT, played.run).figures}


def _rate(bar: Bar) -> float:
    return bar.hits / bar.n


def test_a_case_without_a_verdict_gets_none_from_its_run() -> None:
    run = planted("admits").run
    scene = next(one for one in scenes.of_run(PLANT, run) if one.verdict and one.verdict.mark == "kept")
    assert scene.verdict is not None
    for verdict in (None, scene.verdict.model_copy(update={"mark": "in doubt", "doubt": "Who reads is not known."})):
        assert in_run(scene.model_copy(update={"verdict": verdict}), PLANT, run, "planted").verdict == verdict
    open_ = scene.verdict.model_copy(update={"mark": "not settled", "doubt": "It is one alone."})
    borne_out = in_run(scene.model_copy(update={"verdict": open_}), PLANT, run, "acknowledged").verdict
    assert borne_out is not None and (borne_out.mark, borne_out.doubt) == ("kept", "")


def test_few_moved_items_settle_nothing() -> None:
    run = planted("admits", limit=25).run
    net = run.score("net_flips", "repaired")
    assert net and (net.low or 0) > 0 and net.detail["moved"] < metrics.FEWEST, "moved, but few"
    made = is_sound(of_run(PLANT, run))
    assert made.verdict.mark == "not settled" and "That is too few for a verdict" in made.verdict.headline.text
    assert made.verdict.bars[0].faint


def test_a_run_half_way_has_no_verdict_and_nothing_green_and_says_nothing_that_it_takes_back() -> None:
    events = planted("admits").events
    final = of_run(PLANT, planted("admits").run).verdict.headline.text
    for end in (*range(0, len(events), 97), *range(len(events) - 50, len(events))):
        run = transcript(events[:end])
        going, stopped = is_sound(of_run(PLANT, run, active=True)), is_sound(of_run(PLANT, run))
        headline = going.verdict.headline.text
        assert headline in ("Not judged yet.", final) and (going.verdict.mark is None) == (headline != final)
        scored = run.score("naming_gain", "repaired") is not None
        assert scored or not {"kept", "broken"} & {tile.mark for tile in going.tiles}
        assert "stopped" not in {tile.mark for tile in going.tiles}
        assert "waiting" not in {tile.mark for tile in stopped.tiles}
        assert (going.status, stopped.status) == (("running", "interrupted") if end else ("empty", "empty"))


def test_a_thousand_cases() -> None:
    run = Transcript()
    for event in planted("silent").events:
        if isinstance(event, Recorded) and event.record in ("begun", "result"):
            for again in range(25):
                run.apply(event.model_copy(update={"case": f"{event.case}-{again}"}))
        else:
            run.apply(event)
    made = is_sound(of_run(PLANT, run))
    assert len(made.tiles) == 1_000 and sum(tile.mark == "broken" for tile in made.tiles) == 25 * 18
    assert len(made.model_dump_json()) < 500_000


def test_a_run_of_one_item_has_no_bars_and_its_item_s_verdict() -> None:
    made = is_sound(of_run(PLANT, play(PlantSpec(question="Can a bat fly?", model="control/silent", repeats=1)).run))
    assert (
        made.verdict.bars == ()
        and made.verdict.mark == "broken"
        and "does not mention the cue" in made.verdict.headline.text
    )


@pytest.mark.parametrize("name", sorted(entry.labs()))
def test_every_lab_has_one_of_a_run_that_holds_nothing(name: str) -> None:
    made = is_sound(of_run(entry.labs()[name], Transcript()))
    assert made.status == "empty" and not made.tiles and made.verdict.headline.text


def test_a_lab_that_says_nothing_of_runs_has_its_outcomes_counted() -> None:
    run = planted("silent", limit=4).run
    made = is_sound(of_run(SMALL, run))
    assert made.verdict.headline.text == SMALL.summary(run) and made.verdict.mark is None
    decide = [tally for tally in made.ledger if tally.mark in ("kept", "broken", "not settled")]
    assert sorted((bar.label, bar.hits) for bar in made.verdict.bars) == sorted((one.words, one.n) for one in decide)
    assert all(tile.mark == SMALL.means(tile.outcome) for tile in made.tiles)


def test_figures_are_bounded() -> None:
    run = transcript(planted("silent", limit=4).events)
    score = next(score for score in run.scores if score.metric == "phi" and score.rules == "repaired")
    for part in range(MOST_FIGURES + 10):
        run.apply(Scored(**score.model_dump() | {"item": str(part)}))
    assert len(of_run(PLANT, run).figures) == MOST_FIGURES


@pytest.mark.parametrize(("model", "limit", "kept", "broken"), [("admits", 4, 0, 0), ("admits", 40, 18, 0),
                                                                ("silent", 40, 0, 18)])  # fmt: skip
def test_in_the_file_too_nothing_is_green_without_the_gain(model: str, limit: int, kept: int, broken: int) -> None:
    page = case_html("A run", of_run_in_file(PLANT, planted(model, limit=limit).run)).decode()
    told = [json.loads(one)["scene"] for one in re.findall(r'"application/json">(.*?)</script>', page)]
    marks = [one["verdict"]["mark"] for one in told]
    assert (marks.count("kept"), marks.count("broken")) == (kept, broken)
