"""Strips of marks: one mark for each test, with a legend below, and no more of them than fit."""

from streamlit.testing.v1 import AppTest

from pages.components.side_by_side import LOOKS, MOST_TILES


def few() -> None:
    from pages.components.side_by_side import strip

    strip(["kept", "broken", "kept"], "check", {"kept": "held"}, "few")


def many(number: int) -> None:
    from pages.components.side_by_side import strip

    strip(["kept"] * number, "question", {}, "many")


def none() -> None:
    from pages.components.side_by_side import strip

    strip([], "question", {}, "none")


def test_a_strip_numbers_its_tiles_and_says_what_they_mean() -> None:
    app = AppTest.from_function(few).run()
    kept, broken = LOOKS["kept"], LOOKS["broken"]
    marks = [kept.badge("1"), broken.badge("2"), kept.badge("3")]
    linked = [f"[{mark}](#row-{number})" for number, mark in enumerate(marks, start=1)]
    assert [one.value for one in app.markdown] == [" ".join(linked)]
    assert [one.value for one in app.caption] == [f"One tile per check: {kept.icon} 2 held · {broken.icon} 1 broken"]


def test_of_many_the_first_are_shown_and_it_is_said() -> None:
    for number in (MOST_TILES, MOST_TILES + 1):
        app = AppTest.from_function(many, args=(number,)).run()
        assert app.markdown[0].value.count("badge") == MOST_TILES == 60
        assert app.caption[0].value.endswith("the first 60 are shown") == (number > MOST_TILES)
    app = AppTest.from_function(none).run()
    assert not app.exception and not app.markdown and not app.caption


def test_a_mark_may_have_other_words() -> None:
    assert LOOKS["sealed"].badge() == ":gray-badge[:material/lock: sealed]"
    assert LOOKS["sealed"].badge("shut") == ":gray-badge[:material/lock: shut]"
