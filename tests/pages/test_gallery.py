"""The runs that a picture is drawn from, and the choices in it."""

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pandas as pd
from streamlit.testing.v1 import AppTest

from core.labs.base.declared import Picture
from core.store.filters import Filter
from core.store.listing import EVERYTHING
from core.store.store import Writer
from pages.results.gallery import PictureData, first_table, robots, without_robots
from tests.pages.conftest import in_address


def of(*models: str | None) -> pd.DataFrame:
    return pd.DataFrame({"model": pd.Series(models, dtype=object), "value": range(len(models))})


def test_robots_among_models_are_left_out_and_among_themselves_are_not() -> None:
    both = of("control/fickle", "openai/one", None, "", "control/vague", "control/vague")
    assert without_robots(both)["value"].tolist() == [1, 2, 3], "who explains by no model is none"
    alone = of("control/fickle", None)
    assert without_robots(alone) is alone and without_robots(of(None, ""))["value"].tolist() == [0, 1]
    assert robots(both) == ["control/fickle", "control/vague"]
    assert robots(alone) == [] and robots(of("openai/one")) == []


def test_the_first_choice_with_rows_is_drawn() -> None:
    asked = []

    class Choices:
        choices = ("none", "some", "more")

        @staticmethod
        def table(rows: pd.DataFrame, choice: str) -> pd.DataFrame:
            asked.append(choice)
            return rows.head(0 if choice == "none" else 1)

    one: Picture = Choices()  # type: ignore[assignment]
    found = first_table(one, of("a"))
    assert list(found) == ["none", "some"] == asked and len(found["some"]) == 1
    assert first_table(one, of()) == {}


def test_tables_are_kept_until_the_index_is_written_and_no_longer(tmp_path: Path) -> None:
    read = []

    class Cases:
        def __init__(self, filter: Filter, writer: Writer, blind: tuple[tuple[str, str], ...]) -> None:
            self.filter, self.viewer, self.stopped, self.blind = filter, None, (), blind
            self.store = SimpleNamespace(path=tmp_path, writer=writer)

        def of_cases(self, lab: str, cases: object, own: str) -> pd.DataFrame:
            read.append(own)
            return of("control/vague", *["openai/one"] * self.store.writer.writes)

    lab: Any = SimpleNamespace(name="some lab")
    one: Any = SimpleNamespace(name="one", of=(), choices=("", "more"), table=lambda rows, choice: rows)
    writer = Writer()

    def drawn(
        filter: Filter = EVERYTHING, own: str = "", with_robots: bool = False, blind: tuple[tuple[str, str], ...] = ()
    ) -> tuple[list[int], list[str]]:
        looked: Any = Cases(filter, writer, blind)
        data = PictureData(looked, own, with_robots)
        first, controls = data.first(lab, one)
        return [len(first[""]), len(data.table(lab, one, "more"))], controls

    assert drawn() == drawn() == ([1, 1], []) and len(read) == 2
    writer.writes += 1
    assert drawn() == drawn() == ([1, 1], ["control/vague"]) and len(read) == 4
    writer.writes += 1
    assert drawn() == ([2, 2], ["control/vague"]) and drawn(with_robots=True)[0] == [3, 3]
    drawn(Filter(text="penguin"))
    drawn(own="domain")
    assert read[8:] == ["", "", "domain", "domain"]
    drawn(blind=(("run", "case"),))
    assert len(read) == 14, "who has yet to judge answers is shown no tables that were made with them"


def led(link: str) -> None:
    from urllib.parse import parse_qs

    import streamlit as st

    from core.store.filters import Filter
    from pages.results.gallery import _lead

    if not st.query_params:
        _lead([parse_qs(link), parse_qs("model=another")], Filter())
    _lead([], Filter())


def test_a_mark_leads_to_its_run_or_to_a_list_of_what_it_stands_for() -> None:
    app = AppTest.from_function(led, args=("model=one&nonsense=two&show=runs",)).run()
    assert not app.exception and in_address(app, "show") == "runs" and in_address(app, "model") == "one"
    assert len(app.query_params) == 2
    app = AppTest.from_function(led, args=("run=r&case=q",)).run()
    assert not app.exception and in_address(app, "run") == "r" and in_address(app, "case") == "q"
    assert in_address(app, "show") == "runs" and len(app.query_params) == 3
