"""A blind audit measures how good a parser is; labels on rows that people chose do not."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from pytest import approx

from core.events import Answered, Asked, Event, Message, Recorded, Sampling, Started, Usage
from core.labs.ask.lab import LAB as ASK
from core.labs.base.declared import Cases
from core.report import export
from core.runs.context import recorded
from core.runs.labels import Audited, Label
from core.store import audits, comparing, listing, run_list
from core.store.audits import AuditDraw
from core.store.filters import Filter
from core.store.index import index
from core.store.listing import BLIND, RowPlace, Selection
from core.store.store import Store
from tests.core.store.store_events import CASE, LABS, at, begun, ended, started, write

READING = next(one for one in ASK.listing.judgements if one.raw)
ANN = "labels-ann"


def answers(folder: Path, run: str, rows: list[tuple[str, str | None]], model: str = "m/x", **about: Any) -> None:
    """Write a run with one answer a row: its text, and the updated parser's value; the original parser has none."""
    events: list[Event] = [started(run, model=model).model_copy(update=about), begun(run)]
    for number, (text, read) in enumerate(rows):
        trial, call = f"t{number}", f"c{number}"
        where = {"run": run, "case": CASE, "call": call, "role": "answerer", "model": model}
        events += [
            Asked(**where, at=at(1), trial=trial, item=trial, prompt="answer", sampling=Sampling(max_tokens=9),
                  messages=(Message(role="user", content="?"),)),
            Answered(**where, at=at(2), text=text, seconds=1, usage=Usage(prompt_tokens=1, completion_tokens=1)),
        ]  # fmt: skip
        reading = {"expected": "yes", "outcome": "as expected" if read == "yes" else "misled" if read else "unread"}
        reading |= {"counts": bool(read), "reason": ""}
        data = {"about": "?", "calls": [call], "paper": {**reading, "observed": None}}
        data["repaired"] = {**reading, "observed": read}
        events.append(Recorded(run=run, at=at(3), case=CASE, trial=trial, record="trial", item=trial, data=data))
    done = ended(run)
    write(folder, run, [*events, done.model_copy(update={"data": {**done.data, "model": model}})])


# Of 200 answers 160 say yes and 40 no. The parser gets 150 of the former right and 10 as nothing; of the latter it
# takes half for yes.
ROWS: list[tuple[str, str | None]] = [
    *[("Yes.", "yes")] * 150, *[("Yes indeed.", None)] * 10, *[("No.", "no")] * 20, *[("Not so.", "yes")] * 20,
]  # fmt: skip
TRUTH = {"Yes.": "yes", "Yes indeed.": "yes", "No.": "no", "Not so.": "no"}


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    answers(tmp_path, "run", ROWS)
    answers(tmp_path, "robot", [("yes", "yes")] * 300, "control/robot")
    with Store(tmp_path / "store.duckdb", LABS) as store:
        index(store, tmp_path)
        yield store


def population(store: Store, **chosen: tuple[str, ...]) -> list[audits.SampledReading]:
    return audits.population(Selection(store, Filter(chosen=chosen)), ASK, READING, ANN)


def kept(folder: Path, store: Store, entries: dict[RowPlace, Audited], who: str = "ann") -> None:
    """Write what was sampled or said into the person's journals."""
    by_run: dict[str, list[Event]] = {}
    for place, one in entries.items():
        name = f"{place.run}~labels-{who}"
        about = Started(run=name, lab=ASK.name, spec={}, seed=0, about=place.run, owner=who)
        by_run.setdefault(name, [about]).append(
            recorded(name, one, place.trial, place.case, place.trial, f"labels-{who}")
        )
    for name, events in by_run.items():
        write(folder, name, events)
    index(store, folder)


def judged(store: Store, entries: dict[RowPlace, Audited]) -> dict[RowPlace, Audited]:
    """The judgements of somebody who understands the raw answers correctly."""
    return {
        place: one.model_copy(update={"said": TRUTH[audits.raw(store, place, READING) or ""]})
        for place, one in entries.items()
    }


def audited(store: Store, size: int, seed: int) -> AuditDraw:
    drawn = audits.draw_sample(population(store), READING.name, size, seed, "a")
    said = {(ANN, place): one for place, one in judged(store, drawn).items()}
    (found,) = audits.audits(store, ASK, None, said)
    return found


@pytest.mark.thorough
def test_it_finds_how_often_rules_are_right(store: Store) -> None:
    """The parser is right in 170 of 200, 85 %."""
    means = []
    for seed in range(20):
        found = audited(store, 50, seed)
        repaired, paper = found.readers
        assert (found.of, found.population, repaired.n) == (50, 200, 50)
        assert paper.name == "paper" and paper.share.value == 0, "they read nothing in any"
        means.append(repaired.share.value)
    assert sum(filter(None, means)) / len(means) == approx(0.85, abs=0.02)
    assert repaired.share.low is not None and repaired.share.low < 0.85 < (repaired.share.high or 0)
    every = audited(store, 200, 0).readers[0]
    assert every.share[:3] == approx((0.85, 0.85, 0.85)) and every.right == 170
    # Said yes 160 and no 40; parsed yes 170, no 20, nothing 10: by chance 0.8 x 0.85 + 0.2 x 0.1.
    assert every.kappa.value == approx((0.85 - 0.7) / (1 - 0.7))


def test_each_answer_weighs_as_many_as_it_stands_for(store: Store) -> None:
    # Of 210 answers 180 are like the first (yes, parsed as yes), 10 like the second (yes, not parsed), 20 like the
    # third.
    of = {"t0": (180, "yes"), "t155": (10, "yes"), "t165": (20, "no")}
    said = {
        (ANN, RowPlace("run", CASE, trial)): Audited(
            audit="a", judged="reading", stratum=trial, population=n, drawn=1, number=number, of=3, said=word
        )
        for number, (trial, (n, word)) in enumerate(of.items(), start=1)
    }
    (found,) = audits.audits(store, ASK, None, said)
    assert found.readers[0].share.value == approx(200 / 210) and found.readers[0].right == 2
    by_chance = 190 / 210 * 180 / 210 + 20 / 210 * 20 / 210
    assert found.readers[0].kappa.value == approx((200 / 210 - by_chance) / (1 - by_chance))


def test_what_is_still_to_be_judged_is_hidden_in_every_list_and_count(store: Store, tmp_path: Path) -> None:
    drawn = audits.draw_sample(population(store), READING.name, 20, 0, "a")
    kept(tmp_path, store, drawn)
    blind = audits.unjudged(store, ANN)
    assert blind == [("run", CASE)] and not audits.unjudged(store, "labels-bob")
    everything = Selection(store, Filter(runs=("run",)))
    seen = replace(everything, blind=blind)
    assert seen.facet("outcome") == {BLIND: 200} and everything.facet("outcome")["misled"] == 20
    assert seen.facet("doubt") == seen.facet("reason") == {} and seen.count() == 200
    for wanted in ({"chosen": {"outcome": ("misled",)}}, {"text": "no"}):
        filter = replace(everything.filter, **wanted)
        assert seen.by(filter).count() == 0 < everything.by(filter).count(), "nor is it found by what was parsed"
    place = next(iter(drawn))
    for rows in (
        seen.items("outcome").rows,
        seen.items("outcome", after=place).rows,
        seen.row(place),
        seen.rows_at([place]),
    ):
        assert set(rows["outcome"]) == {BLIND} and rows["observed"].isna().all() and not rows["counts"].any()
    (group,) = listing.groups(seen, ASK, "model")
    assert (group.rows, group.counted) == (200, 0)
    assert seen.of_cases(ASK.name, Cases(("precision",))).empty
    assert not everything.of_cases(ASK.name, Cases(("precision",))).empty
    query = {"by": ["model"], "of": ["m/x", "control/robot"]}
    hidden = comparing.compare_query(store, query, blind=blind)
    assert hidden.shared == 0 < comparing.compare_query(store, query).shared
    assert set(comparing.matrix(store, hidden.asked)["said_0"].explode()) == {BLIND}
    with store.cursor() as cursor:
        scored = ("run", "", "", "precision", "repaired", 0.9, 0.8, 1.0, 170, 200)
        names = 'run, "case", item, metric, rules, value, low, high, n, "of"'
        cursor.execute(f"insert into scores ({names}) values {scored}")
    taken, whole = export.rows(seen), export.rows(everything)
    parsed = ["observed", "reason", "doubt", "counts", "value", "low", "high", "n", "of"]
    assert taken[parsed].isna().all(axis=None) and whole[["observed", "value", "n"]].notna().any().all()
    assert set(taken["outcome"]) == {BLIND} and len(taken) == len(whole) and taken["calls"].isna().all()
    shown, without = (run_list.runs(store, only=["run"], blind=blind) for blind in ((), ("run",)))
    assert shown.loc[0, ["n", "precision"]].notna().all() and without.loc[0, ["n", "precision"]].isna().all()
    assert audits.population(seen, ASK, READING, ANN) == population(store), "the kinds of a second sample stay the same"
    kept(tmp_path, store, judged(store, drawn))
    assert not audits.unjudged(store, ANN)


def test_clicks_on_chosen_rows_find_no_rate(store: Store, tmp_path: Path) -> None:
    """41 labels on what looked right say nothing about the 30 answers that were misread."""
    name = "run~labels-ann"
    events: list[Event] = [Started(run=name, lab=ASK.name, spec={}, seed=0, about="run", owner="ann")]
    right = Label(verdicts={"reading": "right"})
    events += [recorded(name, right, f"t{n}", CASE, f"t{n}", ANN) for n in range(41)]
    write(tmp_path, name, events)
    index(store, tmp_path)
    found = audits.labelled_right(store, ASK, READING)[0]
    assert found == ("updated parser", 41, 41) and found._fields == ("reader", "right", "n"), "counts alone"
    assert audits.audits(store, ASK) == []
    assert len(population(store)) == 200 - 41, "what she saw the reading of cannot be drawn"


def test_what_can_be_drawn(store: Store) -> None:
    assert {one.stratum for one in population(store)} == {
        "as expected, read as yes", "misled, read as no", "unread, read as nothing",
    }  # fmt: skip
    assert len(population(store, model=("control/robot",))) == 300, "robots where they are chosen"
    drawn = audits.draw_sample(population(store), "reading", 30, 7, "a")
    assert (
        drawn
        == audits.draw_sample(population(store), "reading", 30, 7, "a")
        != audits.draw_sample(population(store), "reading", 30, 8, "a")
    )
    assert sorted(one.number for one in drawn.values()) == list(range(1, 31))
    rare = [one for one in drawn.values() if one.stratum == "unread, read as nothing"]
    assert [(one.population, one.drawn) for one in rare] == [(10, len(rare))] * len(rare) and len(rare) >= 2
    strata = [one.stratum for one in sorted(drawn.values(), key=lambda one: one.number)]
    assert strata != sorted(strata), "their order tells nothing"
    many = [audits.SampledReading(RowPlace("r", str(n), ""), str(n % 40)) for n in range(400)]
    assert audits.STRATA == 12 and len(audits.draw_sample(many, "reading", 400, 1, "a")) == 400


def test_no_figure_before_the_last_and_none_goes_missing(store: Store, tmp_path: Path) -> None:
    drawn = audits.draw_sample(population(store), READING.name, 30, 1, "a")
    kept(tmp_path, store, drawn)
    (found,) = audits.audits(store, ASK)
    assert [one.entry.number for one in found.remaining] == list(range(1, 31)) and found.readers == ()
    assert len(population(store)) == 170, "nothing is drawn twice by one person"
    said = judged(store, drawn)
    first, *others = said
    kept(tmp_path, store, {first: drawn[first], **{place: said[place] for place in others}})
    (found,) = audits.audits(store, ASK)
    assert [one.place for one in found.remaining] == [first] and found.readers == ()
    kept(tmp_path, store, {**said, first: said[first].model_copy(update={"said": ""})})
    (found,) = audits.audits(store, ASK)
    assert (found.unsure, found.remaining, found.readers[0].n) == (1, [], 29)
    assert audits.audits(store, ASK, viewer="bob") == [], "another's run"


def test_later_readings_are_held_against_the_same_words(store: Store, tmp_path: Path) -> None:
    drawn = audits.draw_sample(population(store), READING.name, 200, 1, "a")
    kept(tmp_path, store, judged(store, drawn))
    answers(tmp_path, "again", [(text, TRUTH[text]) for text, _ in ROWS], reread_from="run", at=at(50))
    index(store, tmp_path)
    assert population(store) == [], "the person saw all of them, in the run of before"
    (found,) = audits.audits(store, ASK)
    assert found.readers[0].share.value == 1 and len(found.drawn) == 200, "rules that read all of them rightly"


def test_what_can_be_said(store: Store) -> None:
    place = RowPlace("run", CASE, "t0")
    assert audits.choices(store, place, READING) == ["no", "yes", "nothing"]
    unread = RowPlace("run", CASE, "t155")
    assert audits.readings(store, [unread], READING) == {unread: {"paper": "nothing", "repaired": "nothing"}}
    assert audits.raw(store, RowPlace("run", CASE, "nowhere"), READING) is None
