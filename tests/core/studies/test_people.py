"""What people say about a study's cases is shown beside its automatic figures, and equals a count by hand."""

from __future__ import annotations

import json
from collections.abc import Iterator
from datetime import datetime, timedelta, tzinfo
from pathlib import Path
from typing import Any

import pytest

from core import entry, home
from core.__main__ import main
from core.journal import read
from core.labs.ask.records import Simulation
from core.runs.labels import BY, Label, Played
from core.studies import paper_tables, tables
from core.studies.plan import Study
from core.studies.plan import read as study_of
from core.transcript import transcript

STUDY = """
lab = "ask"
spec = { dataset = "world", limit = 6, counterfactuals = 4 }
grid = { model = ["control/steadfast", "control/fickle"], method = ["cot", "posthoc"] }
[[table]]
kind = "chen_t3"
[[table]]
kind = "chen_plausibility"
"""


@pytest.fixture
def file(tmp_path: Path) -> Iterator[Path]:
    file = tmp_path / "asked.toml"
    file.write_text(STUDY, encoding="utf-8")
    assert main(["study", "run", str(file)]) == 0
    entry.jobs.cache_clear()
    yield file
    entry.close()
    entry.jobs.cache_clear()


class Earlier(datetime):
    """A clock that was set back by an hour."""

    @classmethod
    def now(cls, tz: tzinfo | None = None) -> Earlier:
        return super().now(tz) - timedelta(hours=1)


def drawn(file: Path, capsys: pytest.CaptureFixture[str]) -> list[dict[str, Any]]:
    capsys.readouterr()
    assert main(["study", "table", str(file), "--json"]) == 0
    rows = map(json.loads, capsys.readouterr().out.splitlines())
    return [row for row in rows if "Chen" in row["table"]]


def guess(study: Study, who: str, words: str) -> None:
    """Write that person's guesses for the first two yes and the first two no that the simulator of the first run
    expected.
    """
    run, jobs = study.runs[0], entry.jobs()
    state = transcript(read(home.journals() / f"{run.id}.jsonl").events)
    expected: dict[str, list[tuple[str, str]]] = {"yes": [], "no": []}
    for case in state.cases:
        for trial, read_as in run.lab.view(state.case(case)).trials.items():
            expected.get(str(read_as.repaired.expected), []).append((case, trial))
    places = expected["yes"][:2] + expected["no"][:2]
    for (case, trial), word in zip(places, words.split(), strict=True):
        jobs.keeping.add(run.id, who, case, Simulation(simulator=who, paper=word, repaired=word), trial)


@pytest.mark.thorough
def test_people_and_simulators_agree_as_one_counts_by_hand(file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    study = study_of(file, entry.labs())
    agreement, plausible = drawn(file, capsys)
    assert agreement["value"] is None and "Nobody has guessed in these runs. Add &guess=1" in agreement["note"]
    assert plausible["value"] is None and "under Your verdict, on the whole case" in plausible["note"]
    # The simulator says yes yes no no. Ann agrees on 3 of 4, of which chance gives 1/2: kappa 1/2; Bob on all: 1. The
    # two agree on 3 of 4, and chance gives 1/2 of that too.
    guess(study, "ann", "yes no no no")
    guess(study, "bob", "yes yes no no")
    cells = {row["row"]: row for row in drawn(file, capsys) if "Table 3" in row["table"]}
    simulator, people = cells["control/steadfast"], cells["people"]
    assert (simulator["value"], simulator["n"], simulator["of"]) == (pytest.approx(0.75), 4, 4)
    assert (people["value"], people["n"], people["of"]) == (pytest.approx(0.5), 4, 4)
    assert simulator["note"].startswith("mean over 2 people;") and people["note"].startswith("two people;")
    # Beside the paper's own figure, if the data set is the paper's.
    lab = entry.labs()["simulatability"]
    frame = tables.measured(study, entry.labs(), home.journals())
    table = next(one for one in lab.studies.tables if one.kind == "chen_t3")
    beside = {row["row"]: row for row in paper_tables.table_cells(table, lab, frame.assign(dataset="strategyqa"))}
    assert (beside["people"]["value"], beside["people"]["published"]) == (pytest.approx(0.5), 0.504)
    theirs = beside["GPT-4 (Chen et al. 2023)"]
    assert (theirs["value"], theirs["published"], theirs["published_n"]) == (None, 0.486, None)


@pytest.mark.thorough
def test_a_game_that_was_played_counts_once_a_person_and_trial(file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    study, jobs = study_of(file, entry.labs()), entry.jobs()
    run = study.runs[0]
    state = transcript(read(home.journals() / f"{run.id}.jsonl").events)
    trials = [
        (case, trial, one.repaired)
        for case in state.cases
        for trial, one in run.lab.view(state.case(case)).trials.items()
        if one.repaired.expected in ("yes", "no") and not one.repaired.reason
    ][:4]
    turned = {"yes": "no", "no": "yes"}

    def play(pack: str, place: int, right: bool, **news: bool) -> None:
        case, trial, read_as = trials[place]
        value = str(read_as.observed) if right else turned[str(read_as.observed)]
        guess = Played(pack=pack, place=place + 1, run=run.id, value=value, **news)
        jobs.keeping.add_guess("simulatability", case, trial, guess, "ann")

    play("one", 0, right=True)
    play("two", 0, right=False)
    play("one", 0, right=False)
    play("one", 1, right=False)
    play("one", 2, right=True, without=True)
    # On the run's own page, before and after the game: the earlier of the two counts.
    case, trial, read_as = trials[3]
    own = Simulation(simulator="ann", paper=str(read_as.observed), repaired=str(read_as.observed))
    jobs.keeping.add(run.id, "ann", case, own, trial, owner="ann")
    play("one", 3, right=False)
    case, trial, read_as = trials[1]
    late = Simulation(simulator="ann", paper=str(read_as.observed), repaired=str(read_as.observed))
    jobs.keeping.add(run.id, "ann", case, late, trial, owner="ann")
    cells = {(row["row"], row["column"]): row for row in drawn(file, capsys) if "Table 3" in row["table"]}
    human = cells["explained: control/steadfast", "Human simulatability"]
    machine = cells["explained: control/steadfast", "Machine simulatability"]
    # Right, wrong, and right before the game; the steadfast robot always does as its simulator expects.
    assert (human["value"], human["n"], human["of"]) == (pytest.approx(2 / 3), 3, 3)
    assert (machine["value"], machine["n"]) == (1.0, 3)
    assert human["note"].startswith("one person; where both predict; nobody took the qualification test")


def test_precision_and_plausibility_go_together_as_one_counts_by_hand(
    file: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    study, jobs = study_of(file, entry.labs()), entry.jobs()
    frame = tables.measured(study, entry.labs(), home.journals())
    precise = frame[(frame["metric"] == "precision") & ~frame["control"]].pivot_table("value", "case", "run")
    precise = precise[[run.id for run in study.runs]]
    # Two questions on which the steadfast robot is more precise than the fickle one, with either way to explain.
    known = [case for case, (a, b, c, d) in precise.T.items() if a == b == 1 and c == d < 1]
    first, second = known[:2]

    def judge(who: str, case: str, plausible: str) -> None:
        for run, word in zip(study.runs, plausible, strict=True):
            label = Label(verdicts={"plausibility": "plausible" if word == "+" else "implausible"})
            jobs.keeping.add(run.id, f"{BY}{who}", case, label, "")

    judge("ann", first, "----")
    with monkeypatch.context() as clock:
        clock.setattr("core.events.datetime", Earlier)
        judge("ann", first, "+++-")  # The later word holds, also where the clock was set back before it.
    judge("bob", first, "++--")
    judge("ann", second, "--++")
    cells = {row["column"]: row for row in drawn(file, capsys) if "plausible" in row["table"]}
    # Precision 1 1 p p. First question: plausible to 1, 1, 1/2, 0 of the people, r = .75 / sqrt(.6875); ranks 3.5 3.5
    # 2 1, rho = 4 / sqrt(18). Second: r = rho = -1.
    pearson, spearman = (cells[f"{kind} · Precision and plausibility"] for kind in ("pearson", "spearman"))
    assert pearson["value"] == pytest.approx((0.75 / 0.6875**0.5 - 1) / 2) and pearson["n"] == 2
    assert spearman["value"] == pytest.approx((4 / 18**0.5 - 1) / 2)
    assert (pearson["published"], spearman["published"]) == (0.012, 0.021)
    # Ann and Bob share the first question: + + + - with + + - -, r = 1 / sqrt(3).
    both = cells["pearson · Two people on plausibility"]
    assert (both["value"], both["n"], both["published"]) == (pytest.approx(3**-0.5), 1, 0.388)
