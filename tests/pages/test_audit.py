"""The page of the blind audit: only the raw answer, then the parsed value, and at the end how good the parsers are."""

from collections.abc import Callable

from streamlit.testing.v1 import AppTest

from core import entry, home
from core.labs.plant.tasks import PlantSpec
from core.store import audits, listing
from pages.results import lists
from tests.core.store.test_audits import READING, TRUTH, answers
from tests.pages.conftest import staged, turned, words
from tests.pages.test_labels import indexed

ROWS = [*[("Yes.", "yes")] * 8, ("Not so.", "yes"), ("No.", "no"), ("Yes indeed.", None)]


def test_an_audit_from_the_draw_to_the_figure(page: Callable[..., AppTest]) -> None:
    answers(home.journals(), "20260101-000000-simulatability-0001", ROWS)
    app = page("audit")
    assert "**11** answers can be sampled, of 3 kinds" in words(app) and "No audit yet." in words(app)
    app.number_input(key="audit-size").set_value(11)
    app.button(key="audit-draw").click().run()
    assert not app.exception
    indexed()
    browse = page("browse")
    browse.session_state["visitor"] = app.session_state["visitor"]
    listed = browse.run().dataframe[0].value
    assert set(listed["Outcome"]) == {listing.BLIND} and set(listed["It said"]) == {"–"}, "nor in a list"
    hidden_elsewhere(page, app.session_state["visitor"])
    titles: list[str] = []
    for number in range(11):
        answer = app.code[0].value
        shown = words(app)
        assert answer in TRUTH and "read as" not in shown.partition("Previous: ")[0], "no reading before the verdict"
        assert f"{number} of 11 sampled answers judged so far" in shown and "right in" not in shown
        buttons = {button.label: button for button in app.button if str(button.key).startswith("audit-")}
        titles = list(buttons)
        if number == 0:
            key = f"audit-other-{_open(app).id}-1"
            app.text_input(key=key).set_value(TRUTH[answer]).run()
        else:
            buttons[TRUTH[answer]].click().run()
        assert not app.exception and f"you read **{TRUTH[answer]}**; the parser read" in words(app)
    assert titles == ["no", "yes", "nothing readable", "I can't tell"]
    said = words(app)
    right = "**The updated parser** right in **82 %** (82 to 82) of a sample of 11, weighted back to 11 answers; kappa"
    assert right in said
    assert "**The original parser** right in **0 %**" in said and "No language model's answer is left" in said
    indexed()
    assert "by a blind audit: **The updated parser** right in **82 %**" in words(page("about/models.py"))
    assert "a parser reads the outcomes; by a blind audit **The updated parser**" in words(page("browse"))
    case = page("case", run="20260101-000000-simulatability-0001")
    assert not case.exception, "what was audited is no label"


def hidden_elsewhere(page: Callable[..., AppTest], visitor: str, hidden: bool = True) -> None:
    """Check that no other page shows the run to the visitor who has yet to judge it, or that all do."""
    run = "20260101-000000-simulatability-0001"
    for path, query in (
        ("browse", {"show": "runs"}),
        ("browse", {"run": run}),
        ("case", {"run": run}),
        ("ask", {"run": run}),
        ("query", {}),
    ):
        app = page("studies", **query)
        app.session_state["visitor"] = visitor
        app = turned(app, path)
        said = words(app)
        if "show" in query:
            assert ((app.dataframe[0].value == lists.BLIND).any(axis=None)) == hidden
        else:
            assert ("You have yet to judge" in said) == hidden, (path, query)
            assert bool(staged(app)) != hidden or path == "query", "nothing of it is drawn"


def test_an_audit_that_is_stopped_hides_nothing_any_more(page: Callable[..., AppTest]) -> None:
    answers(home.journals(), "20260101-000000-simulatability-0001", ROWS)
    app = page("audit")
    app.number_input(key="audit-size").set_value(10)
    app.button(key="audit-draw").click().run()
    app.button(key="stop-audit-now").click().run()
    assert not app.exception and "10 of the 10 could not be told" in words(app)
    indexed()
    hidden_elsewhere(page, app.session_state["visitor"], hidden=False)


def _open(app: AppTest) -> audits.AuditDraw:
    found = audits.audits(entry.keeper().store, entry.labs()["simulatability"], None, app.session_state["audit-said"])
    assert READING.raw == "answerer"
    return found[0]


def test_robots_are_drawn_where_they_are_chosen(page: Callable[..., AppTest]) -> None:
    answers(home.journals(), "20260101-000000-simulatability-0001", ROWS, "control/robot")
    assert "No language model's answer is left" in words(page("audit"))
    assert "**11** answers can be sampled" in words(page("audit", model="control/robot"))


def test_reasons_are_judged_beside_the_cue_and_blind_to_what_came_of_it(page: Callable[..., AppTest]) -> None:
    spec = PlantSpec(model="control/admits", cue="key", limit=12, repeats=1)
    assert entry.jobs().wait(entry.jobs().start("plant", spec), 120)
    indexed()
    app = page("audit", lab="plant", model="control/admits")
    assert "**24** answers can be sampled" in words(app)
    app.number_input(key="audit-size").set_value(10)
    app.button(key="audit-draw").click().run()
    for _ in range(10):
        assert not app.exception
        shown = words(app).partition("Previous: ")[0]
        assert "The question contained this: “[answer key: " in shown and "Answer:" not in app.code[0].value
        for outcome in ("moved", "agree", "planted", "twin", "silent", "acknowledged"):
            assert outcome not in shown, outcome
        buttons = {button.label: button for button in app.button if str(button.key).startswith("audit-")}
        assert list(buttons) == ["acknowledge the cue", "do not acknowledge it", "I can't tell"]
        buttons["acknowledge the cue" if "answer key" in app.code[0].value else "do not acknowledge it"].click().run()
    assert "**Words** right in **100 %**" in words(app) and "weighted back to 24 answers" in words(app)
