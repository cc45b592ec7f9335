"""While there are no runs of one's own, Browse, Compare and Query open on the example study that comes with the app."""

from collections.abc import Callable

import pytest
from streamlit.testing.v1 import AppTest

from core import entry, home
from core.labs.ask.tasks import AskSpec
from core.runs.library import EXAMPLE_STUDY
from core.server.access import name_of_visitor
from core.store import run_list
from core.store.listing import Selection
from pages.results.example import ABOUT, EXAMPLE
from tests.pages.conftest import turned, words
from tests.support.waiting import until

Page = Callable[..., AppTest]
PAGES = ("results/browse.py", "results/compare.py", "results/query.py")


def indexed_run(owner: str = "") -> str:
    spec = AskSpec(question="Can a penguin fly?", model="control/fickle", arms=["none"])
    run = entry.jobs().start("simulatability", spec, owner=owner)
    assert entry.jobs().wait(run, 120)
    store = entry.keeper().store
    until(lambda: Selection(store).count() > 0)
    return run


def test_the_archive_holds_only_the_example_study_and_is_small() -> None:
    packed = home.recordings() / home.UNPACKED / "example.zip"
    assert packed.stat().st_size < 6_000_000
    entry.keeper().looked.wait(60)
    store = entry.keeper().store
    rows = store.rows("select lab, count(*) from runs where study = ? and recording group by lab", [EXAMPLE_STUDY])
    assert {lab for lab, _ in rows} == {"simulatability", "consistency", "find", "plant"}
    assert Selection(store, EXAMPLE).count() > 50
    assert Selection(store).count() == 0 and run_list.runs(store).empty, "none of them counts as one's own"


def test_empty_pages_open_on_it_until_it_is_put_away_and_brought_back(page: Page) -> None:
    for path in PAGES:
        app = page(path)
        assert "Example study" in words(app) and ABOUT in words(app), path
    browse = page(PAGES[0], show="pictures")
    assert ABOUT in words(browse) and browse.get("plotly_chart")
    # Written follow-ups have no generality, so the picture of it would be empty.
    assert browse.subheader[0].value == "Ask: precision by model and method"
    compare = page(PAGES[1])
    assert "Study: example" in words(compare) and not compare.error
    assert "for “Reason, then answer” and" in words(compare), "two ways to explain, on the same questions"
    query = page(PAGES[2])
    query.button(key="example-1").click().run()
    assert "study = 'example'" in query.text_area(key="sql").value and len(query.dataframe[-1].value)

    browse.button(key="put-example").click().run()
    assert ABOUT not in words(browse) and "No runs yet" in words(browse)
    for path in PAGES:
        assert ABOUT not in words(page(path)), path
    browse.button(key="put-example").click().run()
    assert ABOUT in words(browse)
    assert all(ABOUT in words(page(path)) for path in PAGES)


def test_a_run_of_ones_own_takes_its_place_and_a_link_leads_back(page: Page) -> None:
    indexed_run()
    for path in PAGES:
        assert ABOUT not in words(page(path)), path
    app = page(PAGES[0])
    links = {link.proto.label: link.proto.query_string for link in app.get("page_link")}
    assert "study=example" in links["Example study"] and "recordings=1" in links["Example study"]
    app = page(PAGES[0], study="example", recordings="1")
    assert ABOUT in words(app) and "put-example" not in [button.key for button in app.button]


@pytest.mark.thorough
def test_each_visitor_of_a_hosted_app_puts_it_away_for_themselves(page: Page, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("EXPLAIN_OTHERS", "no")
    monkeypatch.setenv("EXPLAIN_HOST_CODE", "the code of the host")

    def opened(code: str) -> AppTest:
        app = page("about/models.py")
        app.session_state["visitor"] = code
        return turned(app, PAGES[0])

    ann, bob = opened("ann"), opened("bob")
    assert ABOUT in words(ann) and ABOUT in words(bob)
    ann.button(key="put-example").click().run()
    assert ABOUT not in words(opened("ann")) and ABOUT in words(opened("bob"))
    indexed_run(name_of_visitor("bob"))
    assert ABOUT not in words(opened("bob")) and "No runs yet" not in words(opened("bob"))
    assert "No runs yet" in words(opened("ann")), "somebody else's run changes nothing"
    assert ABOUT in words(opened("eve"))
