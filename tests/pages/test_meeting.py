"""The form refuses a data set about which the chosen robot knows nothing, before anything is asked."""

import json
from collections.abc import Callable
from pathlib import Path

from streamlit.testing.v1 import AppTest

from core import home
from tests.pages.conftest import words


def test_the_form_says_which_data_set_the_robot_can_take(page: Callable[..., AppTest], tmp_path: Path) -> None:
    path = tmp_path / "dev.json"
    path.write_text(json.dumps([{"qid": "a", "question": "Did Einstein use Wikipedia?", "answer": False}]))
    app = page("ask")
    app.segmented_control(key="ask-source").set_value("dataset").run()
    app.text_input(key="ask-path-strategyqa").set_value(str(path)).run()
    assert "It can take the data set world." in words(app) and app.button(key="ask").disabled
    assert not list(home.journals().glob("*.jsonl"))
