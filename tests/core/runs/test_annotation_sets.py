"""Annotation sets: each page goes to as many people as it needs, abandoned pages to others, and nobody counts twice."""

from datetime import datetime, timedelta
from pathlib import Path

import pytest

from core.events import now
from core.runs import annotation_sets, context
from core.runs.annotation_sets import AnnotationError, AnnotationPage, AnnotationPlace, LiveSet, SetMade

OPTIONS = {"yes": "Yes", "no": "No"}


def page(id: str, group: str = "", arm: str = "") -> AnnotationPage:
    places = (AnnotationPlace(run="run", case=id, trial="t1"),)
    return AnnotationPage(id=id, places=places, digest="0", group=group, arm=arm)


@pytest.fixture
def made(tmp_path: Path) -> LiveSet:
    pages = tuple(page(id) for id in "abcd")
    one = SetMade(study="s", lab="simulatability", task="predict", per_item=2, each=3, minutes=30, pages=pages)
    return annotation_sets.make(tmp_path / "journals", "one", one)


def work(live: LiveSet, who: str, most: int = 100, simulated: str = "") -> list[str]:
    """Let somebody answer at most so many pages; returns these."""
    person = live.enter(who, simulated=simulated)
    done: list[str] = []
    while len(done) < most and (next_one := live.next_page(person.id, live.state.pages)) is not None:
        live.answer(person.id, next_one, ("yes",), OPTIONS)
        done.append(next_one)
    return done


def test_each_page_gets_as_many_people_as_it_needs(made: LiveSet) -> None:
    counts = [work(made, who) for who in ("ann", "bob", "cleo", "dan")]
    # 4 pages for 2 people each are 8 answers: 3, 3, and the 2 that are left.
    assert [len(one) for one in counts] == [3, 3, 2, 0] and made.state.done() == 4
    assert all(len(set(one)) == len(one) for one in counts)
    assert sum(1 for _ in made.state.answers()) == 8
    assert made.state.people[made.person("ann")].status == "completed"


def test_abandoned_pages_go_to_others_and_late_answers_are_refused(
    made: LiveSet, monkeypatch: pytest.MonkeyPatch
) -> None:
    for who in ("ann", "bob"):
        work(made, who, most=1)
    # Both still hold two pages: only 2 of 8 places are free for a third.
    first = made.state.left(made.state.people[made.person("ann")], now())
    assert len(first) == 2 and len(work(made, "cleo")) == 2
    later = now() + timedelta(minutes=31)
    monkeypatch.setattr("core.runs.annotation_sets.now", lambda: later)
    real = context.recorded
    monkeypatch.setattr(
        "core.runs.annotation_sets.recorded", lambda *a, **b: real(*a, **b).model_copy(update={"at": later})
    )
    free = [page for page in made.state.pages if made.state.taken(later, simulated=False)[page] < 2]
    assert len(work(made, "dan")) == min(3, len(free)) >= 2
    with pytest.raises(AnnotationError, match="away for so long"):
        made.answer(made.person("ann"), first[0], ("yes",), OPTIONS)
    # Who comes back goes on with what is left, and everything is answered in the end.
    work(made, "ann")
    work(made, "bob")
    assert made.state.done() == 4 and sum(1 for _ in made.state.answers()) == 8


def test_simulated_people_take_no_place_and_count_for_nothing(made: LiveSet) -> None:
    for number in range(4):
        work(made, f"robot {number}", simulated="good")
    assert made.state.done(simulated=True) == 4 and made.state.done() == 0
    assert list(made.state.answers()) == [] and len(work(made, "ann")) == 3
    again = LiveSet(made.path)
    assert {one.entered.simulated for one in again.state.people.values()} == {"", "good"}
    assert again.state.done(simulated=True) == 4 and sum(1 for _ in again.state.answers()) == 3


def test_nobody_gets_both_arms_of_a_group_and_withdrawn_answers_do_not_count(tmp_path: Path) -> None:
    pages = tuple(page(f"{arm}{n}", f"g{n}", arm) for n in range(4) for arm in ("x", "y"))
    one = SetMade(study="s", lab="find", task="unit-test", per_item=1, each=8, pages=pages)
    live = annotation_sets.make(tmp_path / "journals", "two", one)
    ann, bob = work(live, "ann"), work(live, "bob")
    assert len(ann) == len(bob) == 4 and {name[1] for name in ann} == {name[1] for name in bob} == set("0123")
    live.end(live.person("ann"), "returned")
    assert sum(1 for _ in live.state.answers()) == 4 and sorted(work(live, "cleo")) == sorted(ann)


@pytest.mark.parametrize("words", [(), ("yes", "no"), ("perhaps",)])
def test_an_answer_that_is_none_is_refused(made: LiveSet, words: tuple[str, ...]) -> None:
    person = made.enter("ann")
    first = made.next_page(person.id, made.state.pages)
    assert first is not None
    with pytest.raises(AnnotationError, match="Choose an answer"):
        made.answer(person.id, first, words, OPTIONS)
    with pytest.raises(AnnotationError, match="no annotation set named"):
        annotation_sets.find(made.path.parent.parent / "journals", "../one")
    assert isinstance(person.began, datetime)
