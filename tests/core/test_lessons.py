"""Lessons: every file is complete and true of the packs and recordings, worksheets hold no answer, and solutions are
what the cards say.
"""

import re
from collections.abc import Mapping
from html import unescape
from pathlib import Path
from typing import Any

import pytest

from core import entry, lessons
from core.lessons import CardChoice, Lesson, LessonError, facts_of
from core.report.game.pack import PackCard, load_pack
from core.rooms import cards

LABS = entry.labs()
ALL = lessons.lessons(LABS)


def text(page: bytes) -> str:
    """What a person reads on the page."""
    body = page.decode().partition("<body")[2].partition("<script")[0]
    return " ".join(unescape(re.sub(r"<[^>]*>", " ", body)).split())


def said(lesson: Lesson) -> str:
    """All that a teacher may say, do or read of it."""
    return lesson.model_dump_json()


def test_three_lessons_ship_for_ten_forty_five_and_ninety_minutes() -> None:
    assert [one.minutes for one in ALL.values()] == [10, 45, 90]
    for lesson in ALL.values():
        assert "{" not in " ".join(re.findall(r'"(?:happens|good|say)":"?([^"]*)', said(lesson)))
        links = [link.to for step in lesson.steps for link in step.links]
        assert "/wall?pack=first" in links, "a class plays in each"
        assert any(step.questions for step in lesson.steps) and all(step.say for step in lesson.steps)


def test_what_is_called_a_button_of_a_lab_is_one() -> None:
    """Where a step opens a lab, what it tells the teacher to press is there."""
    steps = [step for lesson in ALL.values() for step in lesson.steps]
    tried = 0
    for step in steps:
        for lab in LABS.values():
            if f"/{lab.path}" not in [link.to for link in step.links]:
                continue
            demos = [lab.robots.demo_run, lab.robots.demo_comparison]
            known = {lab.title, *(demo().words for demo in demos if demo)}
            pressed = set(re.findall("“([^”]+)”", " ".join(step.act)))
            assert pressed and pressed <= known, step.title
            tried += 1
    assert tried == 3


FILE = """
title = "T"
minutes = 3
about = "A {game.cards}."
learns = ["l"]
prepare = ["p"]
[facts]
game = { pack = "first" }
[[steps]]
title = "S"
minutes = 3
act = ["a"]
links = [{ words = "w", to = "/wall?pack=first" }]
[worksheet]
title = "W"
[[worksheet.parts]]
title = "P"
task = "t"
pack = "first"
places = [1, 48]
"""


def test_a_file_is_read_with_its_numbers(tmp_path: Path) -> None:
    (path := tmp_path / "own.toml").write_text(FILE, encoding="utf-8")
    lesson = lessons.read(path, LABS)
    assert (lesson.name, lesson.about) == ("own", "A 48.")


@pytest.mark.parametrize(
    ("old", "new", "why"),
    [
        ('title = "T"', 'title = "T"\nfoo = 1', "foo"),
        ('act = ["a"]', 'act = ["a"]\nsays = "b"', "says"),
        ("minutes = 3\nabout", "minutes = 4\nabout", "3 minutes"),
        ("/wall?pack=first", "/wall?pack=none", "none"),
        ("/wall?pack=first", "/walls?pack=first", "no page"),
        ("/wall?pack=first", "/play?run=first", "no page"),
        ("/wall?pack=first", "/case?run=20261123-000000-plant-0", "no run"),
        ("/wall?pack=first", "https://example.org", "no page"),
        ("/wall?pack=first", "//example.org/ask", "no page"),
        ("/wall?pack=first", "/probes", "no page"),
        ("/wall?pack=first", "/ask?model=control/fickle", "no page"),
        ('game = { pack = "first" }', 'game = { pack = "second" }', "second"),
        ("{game.cards}", "{game.misses}", "misses"),
        ("{game.cards}", "{games.cards}", "games"),
        ("[1, 48]", "[1, 49]", "49"),
        ("[1, 48]", "[0]", "greater"),
        ('pack = "first"\nplaces = [1, 48]', 'pack = "as-it-came"\nplaces = [1]', "differently"),
        ('pack = "first"\nplaces = [1, 48]', 'pack = "whispered"\nplaces = [1]', "without a reason"),
        ("places = [1, 48]", "own = 4", "one explanation"),
        ("[[steps]]", "[[step]]", "steps"),
        ('title = "W"', "title = ", "own.toml"),
    ],
)
def test_a_file_with_a_fault_is_refused_with_the_reason(tmp_path: Path, old: str, new: str, why: str) -> None:
    assert old in FILE
    (path := tmp_path / "own.toml").write_text(FILE.replace(old, new), encoding="utf-8")
    with pytest.raises(LessonError, match=re.escape(why)) as error:
        lessons.read(path, LABS)
    assert str(error.value).startswith("own.toml: ")


def predicted(lesson: Lesson) -> list[list[PackCard]]:
    return [lessons._predicted(part, LABS) for part in lesson.worksheet.parts]


@pytest.mark.parametrize("lesson", ALL.values(), ids=list(ALL))
def test_a_worksheet_holds_no_answer(lesson: Lesson, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever the model said, meant, or is true, the worksheet is the same to the byte; the solutions are not."""
    sheet, solved = (lessons.sheet_page(lesson, is_solved, LABS) for is_solved in (False, True))
    for one in (card for part in predicted(lesson) for card in part):
        assert one.card.text not in text(sheet) and one.card.text
        assert all(expected.quote not in text(sheet) for expected in one.card.expects if expected.quote)
    assert all(one.good not in text(sheet) for one in lesson.worksheet.questions)

    def turned(part: Any, labs: Any) -> list[PackCard]:
        return [
            one.model_copy(
                update={
                    "truth": "never",
                    "card": one.card.model_copy(
                        update={"said": "no" if one.card.said == "yes" else "yes", "text": "never", "mark": "waiting"}
                    ),
                }
            )
            for one in found(part, labs)
        ]

    found = lessons._predicted
    monkeypatch.setattr(lessons, "_predicted", turned)
    assert lessons.sheet_page(lesson, False, LABS) == sheet
    assert lessons.sheet_page(lesson, True, LABS) != solved


@pytest.mark.parametrize("lesson", ALL.values(), ids=list(ALL))
def test_solutions_are_what_the_cards_say(lesson: Lesson) -> None:
    read = text(lessons.sheet_page(lesson, True, LABS))
    for part, found in zip(lesson.worksheet.parts, predicted(lesson), strict=True):
        for one in found:
            implied = one.card.expects[0].value
            about = read.partition(one.card.parts[0].text)[2]
            if part.own:
                assert about.startswith(f" {implied if implied != 'unknown' else 'it doesn' + chr(39) + 't tell'} ")
                continue
            ticked = {"yes": "× yes", "no": "× no", "unknown": "× it doesn't tell"}
            first, _, rest = about.partition("It really said: ")
            assert [value for value, box in ticked.items() if box in first] == [implied]
            assert rest.startswith(one.card.said) and one.card.text in " ".join(rest.split())
    assert all(one.good in read for one in lesson.worksheet.questions)


def expected_facts(found: list[PackCard]) -> Mapping[str, int]:
    """The same numbers by the first reader's words alone."""
    rows = [(one.card.expects[0].value if one.card.expects else "", one.card.said, one.card.doubt) for one in found]
    decided = [(implied, said) for implied, said, doubt in rows if implied in ("yes", "no") and not doubt]
    kept = sum(implied == said for implied, said in decided)
    return {
        "cards": len(found),
        "decided": len(decided),
        "kept": kept,
        "misled": len(decided) - kept,
        "open": len(found) - len(decided),
        "yes": sum(said == "yes" for _, said in decided),
    }


@pytest.mark.parametrize("name", ["first", "as-it-came", "robots"])
def test_the_numbers_are_those_of_the_pack(name: str) -> None:
    found, pack = facts_of(CardChoice(pack=name), LABS)._asdict(), load_pack(name)
    assert expected_facts(list(pack.cards)).items() <= found.items()
    assert f"On {found['kept']} the reason predicts the answer, on {found['misled']} it misleads, on " in pack.chosen
    assert (found["annotated"], found["differed"]) == (pack.annotated, pack.differed)


def test_a_room_of_the_game_is_as_balanced_as_the_lessons_say() -> None:
    """“The wall shows ten of them”, about a third of each kind."""
    source = cards.source("", "first", LABS, ())
    for seed in range(3):
        goings = [one.going for one in cards.sampled(source, seed)]
        assert len(goings) == 10 and all(
            3 <= goings.count(kind) <= 4 for kind in ("comes true", "misleads", "does not say")
        )


def test_what_the_lessons_tell_of_the_canoe_and_the_hints_is_so() -> None:
    [story] = [step for step in ALL["45-minutes"].steps if any(link.to.startswith("/stories") for link in step.links)]
    run = story.links[0].to.partition("run=")[2]
    [card] = cards.source(run, "", LABS, (lessons.home.recordings(),)).cards  # type: ignore[attr-defined]
    assert card.card.parts[0].label == "Once it said yes and once no." and card.title == "Can a canoe float?"
    assert "answer key that shows no" in card.after[0].text and "key" not in card.card.parts[1].text.lower()
    hints = facts_of(CardChoice(pack="whispered"), LABS)
    assert f"{hints.real} such pairs" in story.happens and f"in {hints.real_kept} of them" in story.happens
    robots = [one for one in load_pack("whispered").cards if one.who.is_robot]
    assert all(one.going == "comes true" for one in robots), "“robots that name the hint”"


def test_the_recorded_questions_all_point_to_yes_as_the_lesson_says() -> None:
    found = predicted(ALL["90-minutes"])[1]
    assert {one.card.expects[0].value for one in found if one.going != "does not say"} == {"yes"}
    assert all(one.card.said == "no" for one in found if one.going == "misleads")


def test_the_robots_explain_themselves_as_the_lessons_say() -> None:
    """“Steadfast names the rule with its exceptions, Fickle says that all birds can fly, Vague says nothing”."""
    robots: Mapping[str, Any] = LABS["simulatability"].robots.controls()
    question = robots["control/fickle"].world.read("Can a penguin fly?")
    told = {name: robots[f"control/{name}"].explain(question, False).words for name in ("steadfast", "fickle", "vague")}
    assert "except" in told["steadfast"] and "All birds can fly" in told["fickle"] and "bird" not in told["vague"]
    assert all(name.title() in said(ALL["45-minutes"]) for name in told)


def test_the_page_of_a_lesson_holds_all_of_it_and_escapes_it() -> None:
    for lesson in ALL.values():
        page = lessons.lesson_page(lesson)
        read = text(page)
        for step in lesson.steps:
            assert all(one in read for one in (*step.act, *step.say, step.happens, *(q.good for q in step.questions)))
            assert all(f'href="{link.to}"' in page.decode() for link in step.links if link.to.startswith("/"))
    lesson = ALL["10-minutes"].model_copy(update={"title": "<script>alert(1)</script>"})
    assert b"<script>alert" not in lessons.lesson_page(lesson) + lessons.list_page([lesson])
