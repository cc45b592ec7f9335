"""Visitors of a hosted app see nothing of one another's runs until these are shared."""

from collections.abc import Callable
from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

from core import entry
from core.labs.ask.tasks import AskSpec
from core.runs.labels import Label
from core.server.access import AccessDeniedError, RunAccess, name_of_visitor, visitor_with_code
from pages.viewer.routes import Saying, save_annotation
from tests.pages.conftest import scenes, staged, turned, words
from tests.support.stub_server import StubServer
from tests.support.waiting import until

Page = Callable[..., AppTest]
CODE = "the code of whoever hosts"


@pytest.fixture(autouse=True)
def hosted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("EXPLAIN_OTHERS", "no")
    monkeypatch.setenv("EXPLAIN_HOST_CODE", CODE)


def as_visitor(app: AppTest, code: str, path: str) -> AppTest:
    """The page as a visitor sees it who has that code instead of a cookie."""
    app.session_state["visitor"] = code
    return turned(app, path)


def a_run(code: str, **changes: object) -> str:
    spec = AskSpec(**{"question": "Can a penguin fly?", "model": "control/fickle", **changes})
    run = entry.jobs().start("simulatability", spec, owner=name_of_visitor(code))
    assert entry.jobs().wait(run, 120)
    return run


@pytest.mark.sampled(3)
@pytest.mark.parametrize("path", ["ask", "results/case.py"])
@pytest.mark.parametrize("query", [{}, {"replay": "1"}, {"replay": "step"}, {"reader": "someone"}])
def test_a_run_opens_for_its_owner_only(page: Page, path: str, query: dict[str, str]) -> None:
    run = a_run("ann")
    app = page("models.py")
    app.query_params.update({"run": run, **query})
    app = as_visitor(app, "bob", path)
    assert "has not shared it" in words(app) and "penguin" not in words(app)
    app = as_visitor(app, "ann", path)
    assert "has not shared it" not in words(app) and "penguin" in words(app)


def test_its_owner_shares_it_and_takes_that_back(page: Page) -> None:
    run = a_run("ann")
    ann = as_visitor(page("results/case.py", run=run), "ann", "results/case.py")
    assert "for you and for the host" in words(ann)
    ann.toggle(key="shared").set_value(True).run()
    assert "for anyone who can reach this app" in words(ann) and entry.jobs().shared(run)
    bob = as_visitor(page("results/case.py", run=run), "bob", "results/case.py")
    assert "penguin" in words(bob) and not bob.toggle
    ann.toggle(key="shared").set_value(False).run()
    assert not entry.jobs().shared(run)
    bob.run()
    assert "has not shared it" in words(bob) and "penguin" not in words(bob)


def test_of_a_shared_run_others_are_offered_no_going_on(page: Page) -> None:
    with StubServer("Yes.", delay=30) as server:
        spec = AskSpec(question="Can a penguin fly?", model="openai/stub-model")
        run = entry.jobs().start("simulatability", spec, _resolving(server), owner=name_of_visitor("ann"))
        until(lambda: bool(entry.jobs().events(run)))
        entry.jobs().keeping.share(run, True)
        bob = as_visitor(page("ask", run=run), "bob", "ask")
        assert "The person who started it can stop it" in words(bob) and not scenes(bob)[0].actions
        ann = as_visitor(page("ask", run=run), "ann", "ask")
        assert [one.name for one in scenes(ann)[0].actions] == ["cancel"]
        saying = {"id": "1", "what": "cancel", "run": run}
        with pytest.raises(AccessDeniedError):
            save_annotation(RunAccess(entry.jobs(), visitor_with_code("bob", True)), Saying.model_validate(saying))
        save_annotation(RunAccess(entry.jobs(), visitor_with_code("ann", True)), Saying.model_validate(saying))
        until(lambda: not entry.jobs().active(run))
    assert "go-on" in {button.key for button in turned(ann, "ask").button}
    assert "go-on" not in {button.key for button in turned(bob, "ask").button}


def _resolving(server: StubServer, **changes: Any) -> Callable[[str], Any]:
    return entry.catalog((server.config(name="openai", timeout=60.0, **changes),)).get


def test_browse_lists_one_s_own_runs_and_those_that_are_shared(page: Page) -> None:
    a_run("bob", model="control/vague")
    shared, hidden = a_run("ann"), a_run("ann", question="Can an ostrich fly?")
    entry.jobs().keeping.share(shared, True)
    entry.keeper().wake()
    until(lambda: entry.keeper().changes >= 1)
    bob = as_visitor(page("results/browse.py", show="runs"), "bob", "results/browse.py")
    bob.query_params["show"] = "runs"
    until(lambda: len(bob.run().dataframe[0].value) == 2)
    assert sorted(bob.dataframe[0].value["Model"]) == ["fickle", "vague"]
    assert "Your runs and shared runs" in words(bob) and "ostrich" not in str(bob.dataframe[0].value)
    assert hidden


def sign_in(app: AppTest, code: str) -> AppTest:
    """Type a code where the page asks for one."""
    app.text_input(key="sign-in-code").set_value(code)
    app.button(key="sign-in-go").click().run()
    assert not app.exception, app.exception
    return app


def test_the_host_makes_themselves_known_and_sees_all(page: Page) -> None:
    run = a_run("ann")
    app = as_visitor(page("about/signin.py"), "carl", "about/signin.py")
    assert "not valid" in words(sign_in(app, "a code of somebody else"))
    assert "You are the host" in sign_in(app, CODE).success[0].value
    app.query_params["run"] = run
    assert "penguin" in words(turned(app, "results/case.py"))
    assert CODE not in entry.jobs().path(run).read_text(encoding="utf-8")


def test_alone_nobody_is_asked_for_a_code(page: Page, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("EXPLAIN_OTHERS")
    run = a_run("ann")
    app = as_visitor(page("results/case.py", run=run), "bob", "results/case.py")
    assert "penguin" in words(app) and "for anyone who can reach this app" in words(app)
    assert [one.label for one in app.toggle] == ["Hide it from the lists"], "there is nobody to share it with"
    assert not [one for one in page("about/signin.py").text_input if one.key == "sign-in-code"]


def test_who_waits_for_a_model_sees_how_many_come_first(page: Page) -> None:
    with StubServer("Yes.", delay=30) as server:
        resolve = _resolving(server, concurrency=1)
        runs = {}
        for code in ("ann", "bob", "cy"):
            spec = AskSpec(question="Can a penguin fly?", model="openai/stub-model", exam=False)
            runs[code] = entry.jobs().start("simulatability", spec, resolve, owner=name_of_visitor(code))
            until(lambda code=code: code == "ann" or entry.jobs().people_ahead_for_calls(runs[code]) is not None)
            until(lambda: server.count == 1)
        cy = as_visitor(page("ask", run=runs["cy"]), "cy", "ask")
        assert "waiting for its turn: 1 other is ahead" in staged(cy)[0]["follow"][0]["words"]
        for run in reversed(runs.values()):
            entry.jobs().cancel(run)


def test_who_waits_in_line_for_a_place_sees_where_they_stand(page: Page, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("EXPLAIN_RUNS_OF_ALL", "1")
    with StubServer("Yes.", delay=30) as server:
        runs = {}
        for code in ("ann", "bob", "cy"):
            spec = AskSpec(question="Can a penguin fly?", model="openai/stub-model", exam=False)
            runs[code] = entry.jobs().start("simulatability", spec, _resolving(server), owner=name_of_visitor(code))
            until(
                lambda code=code: (
                    server.count if code == "ann" else entry.jobs().people_ahead_in_queue(runs[code]) is not None
                )
            )
        first, second, third = (words(as_visitor(page("ask", run=runs[code]), code, "ask")) for code in runs)
        assert "waits in the queue" not in first
        assert "The server is busy (limit: 1), so this run waits in the queue: it is next." in second
        assert "this run waits in the queue: 1 other is ahead. It starts by itself" in third
        for run in reversed(runs.values()):
            entry.jobs().cancel(run)


def test_compare_query_labels_and_pictures_hold_only_what_the_visitor_may_see(page: Page) -> None:
    theirs = [a_run("ann", model=f"control/{model}") for model in ("fickle", "steadfast")]
    own = a_run("bob", question="Can a kiwi fly?", model="control/vague")
    trial = next(iter(entry.jobs().watch(theirs[0]).transcript.case("question").of_type("trial")))
    for run in theirs:
        label = Label(verdicts={"reading": "right"}, tags=("hush",), note="hush")
        ann = name_of_visitor("ann")
        entry.jobs().keeping.add(run, f"labels-{ann}", "question", label, trial, owner=ann)
    entry.keeper().looked.wait(30)
    entry.keeper().wake()
    labelled = "select count(distinct about) from labels where value = 'hush'"
    until(lambda: entry.keeper().store.query(labelled).iloc[0, 0] == 2)

    def seen(who: str, path: str, **query: str) -> str:
        app = page("about/methods.py")
        app.query_params.update(query)
        app = as_visitor(app, who, path)
        if "sql" in query:
            app.button(key="go").click().run()
        tables = [table.value.to_string() for table in (*app.dataframe, *app.table)]
        options = [str(one.options) for one in app.multiselect]
        return "\n".join([words(app), *tables, *options])

    models = {"by": "model", "match": "exact"}
    sql = "select r.run, l.value from runs r left join labels l on l.about = r.run where not r.recording"
    for query in ({**models}, {"runs": ",".join(theirs)}):
        assert "with an outcome for both" in seen("ann", "results/compare.py", **query)
        bobs = seen("bob", "results/compare.py", **query)
        assert "penguin" not in bobs and "fickle" not in bobs and "outcome for both" not in bobs
    anns, bobs = (seen(who, "results/query.py", sql=sql) for who in ("ann", "bob"))
    assert all(run in anns and run not in bobs for run in theirs) and "hush" in anns
    assert own in bobs and own not in anns and "hush" not in bobs
    anns, bobs = (seen(who, "results/case.py", run=run) for who, run in (("ann", theirs[0]), ("bob", own)))
    assert "hush" in anns and "by the labels in all runs" in anns
    assert "Your verdict" in bobs and "hush" not in bobs and "by the labels in all runs" not in bobs
    anns, bobs = (seen(who, "about/models.py") for who in ("ann", "bob"))
    assert "2 of 2 labels" in anns and "2 of 2 labels" not in bobs
    anns, bobs = (seen(who, "results/browse.py", show="pictures", picture="ask-leaderboard") for who in ("ann", "bob"))
    assert "none of 2 has" in anns and "none of 1 has" in bobs
