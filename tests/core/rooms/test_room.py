"""A room as a state: what may happen, what each screen holds, what the class scored, and what a replay gives."""

import json
import re
from collections import Counter
from collections.abc import Iterator
from typing import Any

import pytest

from core.rooms import cards, rooms
from core.rooms.events import LONGEST_NICKNAME, Joined, Rated, RoomEnded, Sketched, Voted, nickname
from core.rooms.room import ARMS, LEAST_FOR_THREE, MOST_CHANGES, MOST_PEOPLE, SHOWN_NAMES, Room, RoomStateError
from core.scene import Part, Span, Who
from tests.core.rooms.classes import card, curve, do, event, lesson, move, room, to_draw


def views(one: Room) -> dict[str, Any]:
    return {"wall": one.wall(), **{person: one.phone(person) for person in one.people}}


@pytest.mark.sampled(10)
@pytest.mark.parametrize("seed", range(20))
def test_a_replay_gives_the_same_as_the_live_room_whatever_people_tried(seed: int) -> None:
    found = card(1), card(2, said="no"), card(3, implied="no") if seed % 2 else to_draw(3)
    live, again = room(*found, seed=seed, argued=(0, 1)), room(*found, seed=seed, argued=(0, 1))
    for happened in lesson(live, seed):
        again.apply(happened)
        assert views(again) == views(live)
    assert again.phase == "over" and len(again.turned) == 3


def hidden(one: Room, numbers: dict[str, str]) -> Iterator[tuple[str, str, str]]:
    """Of each screen and file the words that may not be in it now."""
    told = {name: json.dumps(view) for name, view in views(one).items()}
    told |= {"page": rooms.to_keep(one).decode(), "table": rooms.table(one).decode()}
    for name, text in told.items():
        for place, made in enumerate(one.cards):
            if place not in one.turned:
                yield name, text, f"answer-{made.card.number}"
            is_here = one.phase != "lobby" and made.case == one.cards[one.place].case
            may = name in one.people and is_here and one.has_reason(name, place)
            if not may and not one.is_reason_out(place):
                yield name, text, f"reason-{made.case}"
        for place in one.opened.arguments:
            is_here = one.phase != "lobby" and one.cards[place].case == one.cards[one.place].case
            is_file = name in ("page", "table") and one.is_reason_out(place)
            if not is_file and not (name in one.people and is_here and one.arm(name, place) == "arguments"):
                yield name, text, f"pro-{place}"
                yield name, text, f"con-{place}"
        if one.phase != "over":
            yield name, text, "Qwen"
        for person, nick in numbers.items():
            if name in ("page", "table"):
                yield name, text, nick
                yield name, text, person


@pytest.mark.parametrize(("has_arms", "argued"), [(True, (0, 2)), (True, ()), (False, ())])
def test_no_screen_and_no_file_holds_what_is_not_revealed(has_arms: bool, argued: tuple[int, ...]) -> None:
    one = room(card(1, "a"), card(2, "a", said="no"), card(3, "b"), has_arms=has_arms, argued=argued)
    people = {f"person{number}": f"Nick{number}" for number in range(LEAST_FOR_THREE)}
    for person, nick in people.items():
        do(one, Joined(nickname=nick), person)
    looked = 0
    while one.phase != "over":
        move(one)
        for person in people if one.phase == "voting" else ():
            do(one, Voted(place=one.place, value="yes"), person)
        for name, text, word in hidden(one, people):
            looked += 1
            assert word not in text, f"{word} in {name} in phase {one.phase} of card {one.place + 1}"
    assert looked > 50
    whole = json.dumps(views(one)) + rooms.to_keep(one).decode()
    assert "Qwen" in whole and "answer-3" in whole and (not has_arms or "reason-b" in rooms.to_keep(one).decode())


def test_a_revealed_card_shows_its_answer_and_the_reason_once_no_card_shares_it() -> None:
    one = room(card(1, "a"), card(2, "a"))
    for person in ("p", "q"):
        do(one, Joined(), person)
    assert one.has_reason("p", 0) != one.has_reason("q", 0) and one.has_reason("p", 0) == one.has_reason("p", 1)
    move(one, 3)
    assert "answer-1" in json.dumps(one.wall()) and "reason-a" not in json.dumps(one.wall())
    assert [row.label for row in one.score()] == []
    move(one, 3)
    assert "reason-a" in json.dumps(one.wall())
    assert all("reason-a" in json.dumps(one.phone(person)) for person in ("p", "q"))


@pytest.mark.parametrize("seed", range(5))
def test_of_each_two_who_join_one_sees_the_reason_and_cards_differ(seed: int) -> None:
    one = room(*(card(number) for number in range(10)), seed=seed)
    for number in range(40):
        do(one, Joined(), f"p{number}")
    for place in range(10):
        seen = [one.has_reason(f"p{number}", place) for number in range(40)]
        assert all(seen[number] != seen[number + 1] for number in range(0, 40, 2))
    assert 1 < sum(one.has_reason("p0", place) for place in range(10)) < 9


def test_of_each_three_who_join_each_has_another_arm_where_there_are_arguments_and_enough_people() -> None:
    one = room(*(card(number, f"c{number // 2}") for number in range(20)), argued=range(0, 20, 4))
    for number in range(LEAST_FOR_THREE - 1):
        do(one, Joined(), f"p{number}")
    move(one, 3)
    assert one.wall()["arms"] == 2 and {one.arm(f"p{number}", 0) for number in range(5)} == {"reason", "none"}
    for number in range(5, 30):
        do(one, Joined(), f"p{number}")
    # The second card of the first explanation, whose arms are drawn already, then an explanation without arguments.
    for _ in range(2):
        move(one)
        assert one.wall()["arms"] == 2 and one.arguments(one.place) is None
        move(one, 2)
    seen = []
    for place in range(3, 20):
        move(one)
        arms = [one.arm(f"p{number}", place) for number in range(30)]
        is_argued = place // 2 % 2 == 0
        assert one.wall()["arms"] == (3 if is_argued else 2) and ("arguments" in arms) == is_argued
        if is_argued:
            assert all({*arms[first : first + 3]} == {*ARMS} for first in range(0, 30, 3))
            seen.append(tuple(arms))
            told = {name: json.dumps(one.phone(name)) for name in one.people}
            first = place - place % 2
            assert all(
                (f"pro-{first}" in told[f"p{number}"]) == (arm == "arguments") for number, arm in enumerate(arms)
            )
        move(one, 2)
    assert seen[::2] == seen[1::2], "an explanation has one arm for a person" and len({*seen}) > 2


def test_the_score_has_three_arms_over_the_same_cards_where_enough_cards_have_them() -> None:
    one = room(*(card(number, said="yes" if number < 3 else "no") for number in range(1, 5)), argued=(0, 1, 2, 3))
    for number in range(LEAST_FOR_THREE):
        do(one, Joined(), f"p{number}")
    # The reason is right on two of four cards; those with arguments are always right, those with nothing never.
    right = ["yes", "yes", "no", "no"]
    for place in range(4):
        move(one)
        for number in range(LEAST_FOR_THREE):
            answers = {"reason": "yes", "arguments": right[place], "none": {"yes": "no", "no": "yes"}[right[place]]}
            do(one, Voted(place=place, value=answers[one.arm(f"p{number}", place)]), f"p{number}")
        move(one, 2)
    assert [(row.label, row.share, row.n, row.votes) for row in one.score()][:4] == [
        ("You, with its reasons", 0.5, 4, 8),
        ("You, without them", 0.0, 4, 8),
        ("You, with for and against", 1.0, 4, 8),
        ("Taking its reasons literally", 0.5, 4, 0),
    ]
    assert one.counts(0) == {"yes": [2, 0, 2], "no": [0, 2, 0]}
    do(one, RoomEnded())
    kept, rows = rooms.to_keep(one).decode(), rooms.table(one).decode()
    assert ">For and against</th>" in kept and "For: For it: pro-3. Against: Against it: con-3." in kept
    assert ",for and against,Yes,2,yes," in rows


def test_the_third_arm_is_left_out_of_the_score_where_few_cards_have_it() -> None:
    one = room(*(card(number) for number in range(3)), argued=(0,))
    for number in range(LEAST_FOR_THREE):
        do(one, Joined(), f"p{number}")
    for _ in range(3):
        vote(one, dict.fromkeys(one.people, "yes"))
    assert [(row.label, row.n) for row in one.score()][:3] == [
        ("You, with its reasons", 3),
        ("You, without them", 3),
        ("Taking its reasons literally", 3),
    ]


def test_words_that_the_reason_shares_with_the_question_are_marked_for_those_alone_who_see_it() -> None:
    marked = Part(text="New question?", spans=(Span(start=0, end=3, mark="shared"), Span(start=4, end=5, mark="cue")))
    plain = card(1)
    one = room(plain.model_copy(update={"card": plain.card.model_copy(update={"parts": (marked,)})}), argued=(0,))
    for number in range(LEAST_FOR_THREE):
        do(one, Joined(), f"p{number}")
    move(one)
    for view, arm in [(one.wall(), "none"), *((one.phone(person), one.arm(person, 0)) for person in one.people)]:
        spans = [span["mark"] for span in view["round"]["card"]["parts"][0]["spans"]]
        assert spans == (["shared", "cue"] if arm == "reason" else ["cue"])


def test_a_vote_counts_once_and_may_be_changed_until_the_vote_is_closed() -> None:
    one = room(card(1), has_arms=False)
    do(one, Joined(), "p")
    with pytest.raises(RoomStateError, match="closed"):
        do(one, Voted(place=0, value="yes"), "p")
    move(one)
    for number in range(MOST_CHANGES):
        do(one, Voted(place=0, value="yes" if number % 2 else "no"), "p")
    for vote, who, why in (
        (Voted(place=0, value="no"), "p", "too often"),
        (Voted(place=0, value="maybe"), "p", "not one of the answers"),
        (Voted(place=1, value="yes"), "p", "closed"),
        (Voted(place=0, value="yes"), "stranger", "Join"),
    ):
        with pytest.raises(RoomStateError, match=why):
            do(one, vote, who)
    with pytest.raises(RoomStateError, match="not revealed"):
        one.counts(0)
    move(one)
    with pytest.raises(RoomStateError, match="closed"):
        do(one, Voted(place=0, value="no"), "p")
    move(one)
    assert one.counts(0) == {"yes": [1], "no": [0]} and one.phone("p")["vote"] == "yes"


def test_people_come_late_and_a_full_or_finished_class_takes_nobody() -> None:
    one = room(card(1), card(2))
    do(one, Joined(), "early")
    move(one, 4)
    do(one, Joined(nickname="Late"), "late")
    assert one.phone("late")["place"] == 1 and one.phone("late")["is_first"]
    with pytest.raises(RoomStateError, match="already"):
        do(one, Joined(), "late")
    for number in range(MOST_PEOPLE - 2):
        do(one, Joined(nickname="n"), str(number))
    with pytest.raises(RoomStateError, match="full"):
        do(one, Joined(), "one more")
    move(one, 2)
    do(one, RoomEnded())
    with pytest.raises(RoomStateError):
        do(one, Joined(), "too late")
    with pytest.raises(RoomStateError):
        one.phone("too late")


def test_the_lobby_says_what_gave_the_answers() -> None:
    robot = card(2).model_copy(update={"who": Who(shown="a robot", name="R", is_robot=True)})
    of_robot, of_both = room(robot), room(card(1), robot)
    assert [one.wall()["it"] for one in (of_robot, of_both)] == ["a robot", "a model or a robot"]


def test_the_lobby_shows_the_latest_names_and_counts_the_others() -> None:
    one = room(card(1))
    for number in range(SHOWN_NAMES + 5):
        do(one, Joined(nickname=f"n{number}" if number else ""), str(number))
    wall = one.wall()
    assert len(wall["names"]) == SHOWN_NAMES and wall["names"][-1] == f"n{SHOWN_NAMES + 4}" and wall["unnamed"] == 5
    move(one)
    assert "names" not in one.wall()


def test_a_teacher_may_end_at_any_revealed_card_and_nowhere_else() -> None:
    one = room(card(1), card(2))
    for _ in range(3):
        with pytest.raises(RoomStateError):
            do(one, RoomEnded())
        move(one)
    do(one, RoomEnded())
    assert one.phase == "over" and one.next_move() is None and len(one.turned) == 1


def vote(one: Room, values: dict[str, str], ratings: dict[str, int] | None = None) -> None:
    move(one)
    for person, value in values.items():
        do(one, Voted(place=one.place, value=value), person)
    for person, given in (ratings or {}).items():
        do(one, Rated(place=one.place, value=given), person)
    move(one, 2)


def test_a_rating_is_asked_of_those_who_see_the_explanation_before_a_card_of_it_is_revealed() -> None:
    one = room(card(1, "a"), card(2, "a"))
    for person in "pq":
        do(one, Joined(), person)
    move(one)
    sees, blind = sorted("pq", key=lambda person: not one.has_reason(person, 0))
    assert one.phone(sees)["can_rate"] and not one.phone(blind)["can_rate"]
    for _ in range(2):
        for value in range(1, MOST_CHANGES // 2 + 1):
            do(one, Rated(place=0, value=1 + value % 5), sees)
        if one.phase == "voting":
            move(one)
    for rating, who, why in (
        (Rated(place=0, value=5), sees, "too often"),
        (Rated(place=0, value=5), blind, "no explanation"),
        (Rated(place=1, value=5), sees, "no longer"),
        (Rated(place=0, value=5), "stranger", "Join"),
    ):
        with pytest.raises(RoomStateError, match=why):
            do(one, rating, who)
    move(one)
    with pytest.raises(RoomStateError, match="no longer"):
        do(one, Rated(place=0, value=1), sees)
    with pytest.raises(RoomStateError, match="not revealed"):
        one.ratings(0)
    assert one.wall()["ratings"] == []
    move(one)
    assert not one.phone(sees)["can_rate"] and one.phone(sees)["rating"] == 1
    with pytest.raises(RoomStateError, match="no explanation to rate"):
        do(one, Rated(place=1, value=5), sees)
    move(one, 2)
    assert one.wall()["ratings"] == [1, 0, 0, 0, 0] == one.ratings(0)


def drawn(one: Room, **curves: tuple[int, ...]) -> None:
    move(one)
    for person, ys in curves.items():
        do(one, Sketched(place=one.place, ys=ys), person)


def test_a_function_is_drawn_and_told_once_the_card_is_revealed() -> None:
    one = room(to_draw(1), to_draw(2), has_arms=False)
    for person in "pqr":
        do(one, Joined(nickname=f"Nick-{person}"), person)
    drawn(one, q=curve(333, 333), p=curve(0, 999))
    for _ in range(2):
        for name, view in (views(one) | {"page": rooms.to_keep(one).decode(), "table": str(rooms.table(one))}).items():
            text = json.dumps(view)
            assert not any(secret in text for secret in ("3.14159", "2.71828", "9.87654", "0.25", "a note", "Qwen"))
            assert ("333" in text, "999" in text) == (name == "q", name == "p"), "a curve is on its own phone alone"
        assert one.wall()["round"]["plot"]["curves"] == [] and one.wall()["voted"] == 2
        with pytest.raises(RoomStateError, match="not revealed"):
            one.sketches(0)
        if one.phase == "voting":
            move(one)
    move(one)
    wall = one.wall()
    assert wall["sketches"] == sorted(wall["sketches"]) and len(wall["sketches"]) == 2
    assert "3.14159" in json.dumps(wall) and not any(name in json.dumps(wall) for name in ("Nick", "def f"))
    assert [curve["kind"] for curve in one.phone("r")["round"]["plot"]["curves"]] == ["truth", "claim"]


def test_curves_are_scored_as_the_lab_scores_them_beside_its_code_and_a_line_through_the_points() -> None:
    card = to_draw(1)
    # The axis goes from -0.4 to 1.4: 222 is nearly 0, and the step of the function lies far above it.
    assert card.y_ends == (-0.4, 1.4) and card.parts == 16
    assert card.hits((card.function.x, card.function.y)) == 16
    assert card.hits(card.line(curve(222, 1000))) == 8 == card.hits(card.line(curve(222, 222)))
    assert card.hits(([0.0], [None])) == 0
    assert card.baselines() == {"Joining the points": 8, "Its own code": 8}
    one = room(card, to_draw(2, code=None), has_arms=False)
    for person in "pqr":
        do(one, Joined(), person)
    for _ in range(2):
        drawn(one, p=curve(222, 0), q=curve(1000, 1000))
        move(one, 2)
    assert one.hits(0) == {"p": 8, "q": 0} and one.phone("p")["sketch_hits"] == 8
    rows = [(row.label, row.share, row.n, row.votes) for row in one.score()]
    assert rows == [("You, on average", 0.25, 2, 4), ("Joining the points", 0.5, 2, 0)]
    do(one, RoomEnded())
    assert one.phone("p")["drawn"] == [(8, 16), (8, 16)] and one.phone("r")["drawn"] == []
    assert (
        "close on 8 of 16 parts,1" in rooms.table(one).decode() and "To draw: Function 2" in rooms.to_keep(one).decode()
    )


def test_only_a_curve_of_the_open_card_is_taken() -> None:
    one = room(to_draw(1), card(2), has_arms=False)
    do(one, Joined(), "p")
    for ys in ((), (1,) * 32, (1,) * 34, (1001,) * 33, (-1,) * 33, (0.5,) * 33, ("x",) * 33):
        with pytest.raises(ValueError, match="ys"):
            Sketched.model_validate({"place": 0, "ys": ys})
    move(one)
    for _ in range(MOST_CHANGES):
        do(one, Sketched(place=0, ys=curve(1, 2)), "p")
    for record, who, why in (
        (Sketched(place=0, ys=curve(1, 2)), "p", "too often"),
        (Sketched(place=1, ys=curve(1, 2)), "p", "closed"),
        (Sketched(place=0, ys=curve(1, 2)), "stranger", "Join"),
        (Voted(place=0, value="yes"), "p", "not one of the answers"),
    ):
        with pytest.raises(RoomStateError, match=why):
            do(one, record, who)
    move(one, 3)
    with pytest.raises(RoomStateError, match="nothing to draw"):
        do(one, Sketched(place=1, ys=curve(1, 2)), "p")


def test_a_rating_changes_no_screen_and_no_file_but_the_own_phone_before_the_reveal() -> None:
    one = room(card(1, said="no"), has_arms=False)
    for person in "pqr":
        do(one, Joined(), person)

    def told() -> dict[str, Any]:
        return views(one) | {"page": rooms.to_keep(one), "table": rooms.table(one)}

    for _ in range(2):
        move(one)
        before = told()
        do(one, Rated(place=0, value=5), "p")
        do(one, Rated(place=0, value=4), "q")
        assert {name for name, view in told().items() if view != before[name]} <= {"p", "q"}
    move(one)
    assert one.wall()["ratings"] == [0, 0, 0, 1, 1]
    assert [one.phone(person)["rating"] for person in "pqr"] == [5, 4, 0]


def test_no_rating_is_asked_of_an_exam_and_of_a_card_without_a_claim() -> None:
    bare = room(card(1).model_copy(update={"claim": None}), has_arms=False)
    exam = room(card(1), has_arms=False)
    exam.opened = exam.opened.model_copy(update={"kind": "exam"})
    for one in (bare, exam):
        do(one, Joined(), "p")
        move(one)
        with pytest.raises(RoomStateError, match="no explanation to rate"):
            do(one, Rated(place=0, value=3), "p")


def test_the_end_has_how_convincing_explanations_were_that_misled_beside_the_others() -> None:
    found = card(1, "a", said="no"), card(2, "a"), card(3, "b"), card(4, "c", implied="unknown"), card(5, "d")
    one = room(*found, has_arms=False)
    for person in "pqr":
        do(one, Joined(), person)
    given: list[dict[str, int]] = [{"p": 5, "q": 4}, {}, {"p": 2, "q": 2, "r": 5}, {"p": 5}, {}]
    for ratings in given:
        vote(one, {"p": "yes"}, ratings)
    do(one, RoomEnded())
    assert [tuple(row.values()) for row in one.wall()["convincing"]] == [
        ("Explanations that misled", 4.5, 1, 2),
        ("Explanations that predicted the answer", 3.0, 1, 3),
    ]
    kept = rooms.to_keep(one).decode()
    assert 'Explanations that misled</td><td class="n">4.5</td><td class="n">1</td><td class="n">2' in kept
    assert "4 of 5: 1, 5 of 5: 1. It misled." in kept and "cannot show" in kept
    rows = [row.split(",") for row in rooms.table(one).decode().splitlines()]
    assert rows[0][-6:] == ["explanation", *(f"rated_{value}" for value in range(1, 6))]
    assert rows[1][-6:] == ["misleads", "0", "0", "0", "1", "1"]


def test_the_score_has_both_halves_and_both_rules_over_the_same_cards() -> None:
    # The reason decides three cards: right, wrong, right. On the fourth nobody knows what it implies.
    open_card = card(4, implied="unknown")
    one = room(card(1), card(2, said="no"), card(3), open_card, seed=3)
    for person in "abcd":
        do(one, Joined(), person)
    for place in range(4):
        informed = {person: one.has_reason(person, place) for person in "abcd"}
        # With the reason they take it literally; without it they say what is true, which is no.
        vote(one, {person: "yes" if seen else "no" for person, seen in informed.items()})
    shares = {row.label: (round(row.share, 3), row.n, row.votes) for row in one.score()}
    assert shares == {
        "You, with its reasons": (0.667, 3, 6),
        "You, without them": (0.333, 3, 6),
        "Taking its reasons literally": (0.667, 3, 0),
        "The correct answer": (0.333, 3, 0),
    }


def test_a_class_of_one_has_one_bar() -> None:
    one = room(card(1), card(2, said="no"))
    do(one, Joined(), "only")
    for _ in range(2):
        vote(one, {"only": "yes"})
    assert [(row.label, row.share, row.n) for row in one.score()][:2] == [
        ("You", 0.5, 2),
        ("Taking its reasons literally", 0.5, 2),
    ]


def test_events_that_are_unknown_or_altered_change_nothing() -> None:
    one = room(card(1))
    before = views(one)
    good = event(Joined(nickname="n"), "p")
    for bad in (
        good.model_copy(update={"record": "unheard"}),
        good.model_copy(update={"data": {"nickname": "n" * 1000}}),
        good.model_copy(update={"record": "voted", "data": {"place": "x"}}),
        good.model_copy(update={"record": "cardopened", "data": {"place": 7}}),
    ):
        one.apply(bad)
    assert views(one) == before


@pytest.mark.parametrize(
    ("typed", "kept"),
    [
        ("  Ada \n Lovelace ", "Ada Lovelace"),
        ("<b onclick=x>&amp;", "<b onclick=x>&amp;"),
        ("\u202eevil\u2066\u200b\x00", "evil"),
        ("عمر", "عمر"),
        ("e" + "\u0301" * 50, "é\u0301\u0301"),
        ("x" * 10_000, "x" * LONGEST_NICKNAME),
        ("\ud800", ""),
    ],
)
def test_a_nickname_is_one_short_line_without_unseen_marks(typed: str, kept: str) -> None:
    assert nickname(typed) == kept


def test_the_page_to_keep_and_the_table_hold_counts_and_run_nothing() -> None:
    evil = card(1).model_copy(update={"title": "=HYPERLINK('x')<script>alert(1)</script>"})
    one = room(evil)
    for person in "ab":
        do(one, Joined(nickname="Ada"), person)
    vote(one, dict.fromkeys("ab", "yes"))
    do(one, RoomEnded())
    kept = rooms.to_keep(one).decode()
    assert "<script" not in kept and "&lt;script&gt;" in kept and "default-src" in kept and "Ada" not in kept
    rows = rooms.table(one).decode().splitlines()
    assert rows[0].startswith("card,question,asked") and len(rows) == 5
    assert all("'=HYPERLINK" in row for row in rows[1:]) and sum(int(row.split(",")[5]) for row in rows[1:]) == 2


@pytest.mark.parametrize("is_selected", [True, False])
@pytest.mark.parametrize("seed", range(5))
def test_cards_are_sampled_from_many_explanations_and_keep_those_of_one_together(seed: int, is_selected: bool) -> None:
    few = [card(number, f"c{number // 5}", said="yes" if number % 2 else "no") for number in range(20)]
    taken = cards.sampled(cards.CardSource("t", "ask", tuple(few), True, is_selected), seed)
    cases = [one.case for one in taken]
    assert len(set(cases)) == 4 and len(set(cards.refs(taken))) == len(taken) <= 10
    assert is_selected or len(taken) == 10
    assert sum(here != before for here, before in zip(cases, ["", *cases], strict=False)) == 4
    many = cards.CardSource("t", "ask", tuple(card(number) for number in range(30)), True)
    assert len({one.case for one in cards.sampled(many, seed)}) == 10
    taken = cards.sampled(many, seed)
    assert cards.found_again(many, cards.refs(taken)) == taken


def test_no_two_scripts_of_a_page_have_the_same_name_for_different_things() -> None:
    script = rooms.of_app(True).plain.decode().partition('<script type="module">')[2].partition("return Drawing;")[::2]
    outside = script[0].partition("const Drawing = ")[0] + script[1]
    found = re.findall(r"^(?:async )?(?:const|let|function|class) (\w+)", outside, re.M)
    assert len(found) > 100 and [name for name, n in Counter(found).items() if n > 1] == []
