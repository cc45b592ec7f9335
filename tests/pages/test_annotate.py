"""The page of an annotation set: the test first, then page after page without an outcome, then the code."""

from collections.abc import Callable
from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from core import home
from core.__main__ import main
from core.labs.ask.qualification import questions
from core.runs import annotation_sets
from tests.pages.conftest import words

STUDY = """
lab = "ask"
spec = { dataset = "world", limit = 1, counterfactuals = 2 }
grid = { model = ["control/steadfast", "control/fickle"] }
"""


@pytest.fixture(autouse=True)
def file(tmp_path: Path) -> Path:
    annotation_sets.live.cache_clear()
    file = tmp_path / "asked.toml"
    file.write_text(STUDY, encoding="utf-8")
    assert main(["study", "run", str(file)]) == 0
    return file


def submit(app: AppTest, answers: list[str]) -> None:
    for radio, answer in zip(app.radio, answers, strict=True):
        radio.set_value(answer)
    sends = [button for button in app.button if button.label in ("Submit the test", "Next")]
    assert len(sends) == 1
    sends[0].click().run()
    assert not app.exception


def test_a_person_takes_the_test_and_answers_every_page(page: Callable[..., AppTest], file: Path) -> None:
    assert main(["annotate", "make", str(file), "--name", "one", "--completion", "CODE1"]) == 0
    app = page("annotate", set="one", PROLIFIC_PID="p1", SESSION_ID="s1")
    assert "9 must be right" in words(app) and "Keep to what the robot claims" in words(app)
    app.button(key="annotate-start").click().run()
    assert len(app.radio) == 11
    app.button[0].click().run()
    assert "Answer all questions first: 11 of 11 are left." in words(app)
    submit(app, [one.right for one in questions()])
    live = annotation_sets.find(home.journals(), "one")
    of, seen = len(live.state.made.pages), 0
    while app.radio:
        seen += 1
        assert "came true" not in words(app) and "precision" not in words(app).lower()
        submit(app, ["yes"])
    assert seen == of and "CODE1" in [code.value for code in app.code]
    person = live.state.people[live.person("prolific p1")]
    assert person.status == "completed" and (person.entered.participant, person.entered.session) == ("p1", "s1")
    assert person.tested is not None and person.tested.right == 11
    assert "1 completed" in words(page("annotate"))


def test_whoever_fails_the_test_sees_no_page_also_later(page: Callable[..., AppTest], file: Path) -> None:
    assert main(["annotate", "make", str(file), "--name", "one"]) == 0
    app = page("annotate", set="one", PROLIFIC_PID="p2")
    app.button(key="annotate-start").click().run()
    submit(app, ["yes"] * 11)
    assert "9 are needed" in words(app) and not app.radio
    assert "9 are needed" in words(page("annotate", set="one", PROLIFIC_PID="p2"))
    assert "There is no annotation set named" in words(page("annotate", set="../one"))


def test_explanations_of_one_question_are_rated_on_one_page(page: Callable[..., AppTest], file: Path) -> None:
    assert main(["annotate", "make", str(file), "--name", "two", "--task", "plausibility"]) == 0
    app = page("annotate", set="two")
    app.button(key="annotate-start").click().run()
    assert len(app.radio) == 2 and app.radio[0].options == ["Yes", "Moderate", "No"]
    assert "**Correct answer**" in words(app) and "**Explanation 2**" in words(app)
    submit(app, ["yes", "no"])
    assert "You have answered 1 page." in app.success[0].value
