"""The parts around a run on its page: what its data set left out, and its list of cases."""

import pytest
from streamlit.testing.v1 import AppTest

from core import entry, home
from core.journal import read
from core.labs.plant.tasks import PlantSpec
from core.runs.library import list_recordings
from core.transcript import CaseProgress, Transcript, transcript
from pages.components import lab_page
from pages.components.lab_page import case_label
from pages.components.run_view import Shown


def left(named: int, more: int, others: int) -> None:
    from core.datasets.items import BROKEN, Loaded
    from core.transcript import Transcript
    from pages.components.run_view import left_out

    broken = [f"my.csv, line {number}: *empty*" for number in range(1, named + 1)]
    out = {"too long": others} | ({BROKEN: named + more} if named else {})
    counts = {reason: n for reason, n in out.items() if n}
    held = Loaded(dataset="my.csv", items=3, left_out=counts, broken=tuple(broken))
    left_out(Transcript(loaded=held.model_dump()))


@pytest.mark.parametrize(("named", "more", "others"), [(2, 0, 0), (2, 1, 0), (2, 1_000, 1), (0, 0, 2), (0, 0, 0)])
def test_rows_that_were_left_out_are_named_or_counted(named: int, more: int, others: int) -> None:
    app = AppTest.from_function(left, args=(named, more, others)).run()
    assert not app.exception
    rows = "".join(one.value for one in app.markdown).split("  \n") if app.markdown else []
    assert len(rows) == named and all(r"\*empty\*" in row for row in rows), "shown, not obeyed"
    captions = [one.value for one in app.caption]
    assert len(app.expander) == (1 if named else 0)
    if named:
        assert captions == ([f"And {more:,} more broken rows."] if more else [])
    else:
        assert len(captions) == (1 if others else 0) and all("too long" in one for one in captions)


def test_a_long_title_is_cut_in_a_list_and_a_short_one_is_not() -> None:
    assert case_label(CaseProgress(number=2, of=2, title="Is  it\nso?")) == "2 · Is it so?"
    assert case_label(CaseProgress(number=1, of=2, title="x" * 80)) == "1 · " + "x" * 80
    assert case_label(CaseProgress(number=1, of=2, title="x" * 81)) == "1 · " + "x" * 80 + "…"


def test_cases_stand_in_the_order_in_which_they_were_drawn() -> None:
    cases = {id: CaseProgress(number=number, of=3, title=id) for id, number in (("a", 3), ("b", 1), ("c", 2))}
    assert list(Transcript(cases=cases).in_order) == ["b", "c", "a"]


def test_what_a_run_was_started_with_is_nothing_where_it_cannot_be_read() -> None:
    path = home.recordings() / f"{list_recordings(home.recordings()).of_lab('simulatability')[0].run}.jsonl"
    state, lab = transcript(read(path).events), entry.labs()["simulatability"]
    assert state.started is not None
    shown = Shown(lab, path.stem, state, False)
    assert shown.spec == lab.spec.model_validate(state.started.spec)
    state.started = state.started.model_copy(update={"spec": {"question": 5}})
    assert shown.spec is None
    state.started = None
    assert shown.spec is None


def test_beside_a_planted_cue_stands_the_other_order() -> None:
    ways = lab_page.page_of(entry.labs()["plant"]).ways
    assert ways(PlantSpec(model="control/admits", order="reasons first")) == {"Answer first": {"order": "answer first"}}
    assert ways(PlantSpec(model="control/admits", order="answer first")) == {
        "Reasons first": {"order": "reasons first"}
    }
