"""Signing in, and the host's page: who runs what, the day's costs, stopping, a line to everybody."""

from collections.abc import Callable, Iterator

import pytest
from streamlit.testing.v1 import AppTest

from core import entry, home, policy
from core.labs.ask.tasks import AskSpec
from core.server import admin, roles
from core.server.access import name_of_visitor
from pages import middleware
from pages.components import session
from tests.pages.conftest import scenes, staged, turned, words
from tests.pages.test_people import as_visitor, sign_in
from tests.support.plausible import Plausible
from tests.support.sealed_runs import laid
from tests.support.stub_server import StubServer
from tests.support.waiting import until

Page = Callable[..., AppTest]
CODES = {"host": "the code of whoever hosts", "teacher": "the code of a teacher", "participant": "pinguin"}
LINE = "We go on at **14:30** <b>:smile: [x](http://x)"


@pytest.fixture(autouse=True)
def hosted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(policy, "_served", {"0.0.0.0"})
    for role in ("host", "teacher"):
        monkeypatch.setenv(f"EXPLAIN_{role.upper()}_CODE", CODES[role])


@pytest.fixture
def going(monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[[str], str]]:
    """`going("ann")` begins a run of Ann's that does not end by itself, and returns its id once it has asked."""
    with StubServer("Yes.", delay=600) as server:
        resolve = entry.catalog((server.config(name="openai", timeout=600.0),)).get

        def begin(who: str) -> str:
            spec = AskSpec(question="Can a penguin fly?", model="openai/stub-model", exam=False)
            run = entry.jobs().start("simulatability", spec, resolve, owner=name_of_visitor(who))
            until(lambda: any(one.run == run and one.calls for one in admin.going_on(entry.jobs())))
            return run

        yield begin
        for one in admin.going_on(entry.jobs()):
            entry.jobs().cancel(one.run)


def as_host(page: Page) -> AppTest:
    roles.sign_in(name_of_visitor("carl"), roles.HOST)
    return as_visitor(page("about/welcome.py"), "carl", "about/host.py")


def test_nobody_but_the_host_is_led_to_the_page(page: Page, going: Callable[[str], str]) -> None:
    going("ann")
    assert "Visitor" in words(as_host(page))
    for who, role in (("dora", roles.TEACHER), ("bob", "")):
        if role:
            roles.sign_in(name_of_visitor(who), role)
        app = as_visitor(page("about/welcome.py"), who, "about/host.py")
        assert app.title[0].value == "Explain Yourself" and "Visitor" not in words(app)


def test_who_runs_what_and_since_when_and_stops_when_the_host_says(page: Page, going: Callable[[str], str]) -> None:
    ann, bob = going("ann"), going("bob")
    app = as_host(page)
    assert [one.value for one in app.header][1] == "Running now: 2"
    assert f"Visitor {name_of_visitor('ann')[:8]}" in words(app) and "openai/stub-model" in words(app)
    assert "1 call so far · since" in words(app)
    app.button(key=f"stop-{ann}").click().run()
    assert [one.run for one in admin.going_on(entry.jobs())] == [bob]
    app.button(key="stop-all-sure").click().run()
    assert "No run in progress" in words(app) and not admin.going_on(entry.jobs())


def test_who_is_no_host_any_more_stops_nothing(page: Page, going: Callable[[str], str]) -> None:
    run = going("ann")
    app = as_host(page)
    roles.sign_out(name_of_visitor("carl"))
    app.button(key=f"stop-{run}").click().run()
    assert entry.jobs().here(run)


def test_what_was_spent_today_by_whom(page: Page, monkeypatch: pytest.MonkeyPatch) -> None:
    with StubServer(Plausible()) as server:
        resolve = entry.catalog((server.config(name="openai"),)).get
        spec = AskSpec(question="Can a penguin fly?", model="openai/stub-model", counterfactuals=1, exam=False)
        run = entry.jobs().start("simulatability", spec, resolve, owner=name_of_visitor("ann"))
        assert entry.jobs().wait(run, 120)
        asked = server.count
    app = as_host(page)
    [row] = app.dataframe[0].value.to_dict("records")
    assert row["Who"] == f"Visitor {name_of_visitor('ann')[:8]}" and row["Calls"] == asked > 1
    assert app.metric[0].value == f"{asked:,}"


def test_the_line_stands_on_every_page_until_it_is_taken_back(page: Page) -> None:
    app = as_host(page)
    app.text_input(key="line-words").set_value(LINE)
    app.button(key="line-say").click().run()
    for path in ("about/welcome.py", "ask", "results/browse.py", "about/methods.py"):
        assert LINE in words(as_visitor(page(path), "bob", path)), path
    shown = as_visitor(page("about/welcome.py"), "bob", "about/welcome.py").info[0].value
    assert "**" not in shown and "<b>" not in shown and "](" not in shown, "it is text"
    app.button(key="line-back").click().run()
    assert LINE not in words(turned(app, "about/welcome.py")) and admin.announcement() == ""


def test_without_the_participants_code_one_sees_the_page_that_asks_for_it_alone(
    page: Page, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("EXPLAIN_PARTICIPANT_CODE", CODES["participant"])
    for path in ("about/welcome.py", "ask", "results/browse.py", "about/models.py", "study/study.py", "about/host.py"):
        app = page(path)
        assert [one.key for one in app.text_input] == ["sign-in-code"], path
        assert [one.key for one in app.button] == ["sign-in-go"], path
    assert not app.dataframe and "you need a code" in words(app)
    assert "Can a penguin fly?" in words(page("about/stories.py")), "what came with the app is for everybody"
    app = as_visitor(page("ask"), "bob", "ask")
    assert "not valid" in words(sign_in(app, "penguins"))
    assert "you need a code" not in words(sign_in(app, CODES["participant"])) and app.title[0].value == "Ask"
    assert as_visitor(page("ask"), "bob", "ask").title[0].value == "Ask", "in another tab of that browser"
    assert as_visitor(page("ask"), "cy", "ask").title[0].value == "Explain Yourself"


def test_a_teacher_sees_and_shares_what_the_class_ran_and_may_not_stop_it(
    page: Page, going: Callable[[str], str]
) -> None:
    run = going("ann")
    app = as_visitor(page("about/signin.py"), "dora", "about/signin.py")
    assert "You are a teacher" in sign_in(app, CODES["teacher"]).success[0].value
    app = page("ask", run=run)
    app = as_visitor(app, "dora", "ask")
    assert "penguin" in words(app) and "The person who started it can stop it" in words(app)
    assert not scenes(app)[0].actions
    entry.jobs().cancel(run)
    app = turned(app, "ask")
    assert "for the person who started it, for teachers and for the host" in words(app)
    assert not {"go-on", "delete"} & {button.key for button in app.button}
    app.toggle(key="shared").set_value(True).run()
    assert entry.jobs().shared(run)


def test_who_signs_out_is_what_they_were_before(page: Page) -> None:
    app = sign_in(as_visitor(page("about/signin.py"), "carl", "about/signin.py"), CODES["host"])
    assert roles.role_of(name_of_visitor("carl")) == roles.HOST
    app.button(key="sign-out").click().run()
    assert roles.role_of(name_of_visitor("carl")) == roles.PARTICIPANT and not app.success
    assert app.text_input(key="sign-in-code").value == "", "the code is kept nowhere"


def test_a_tab_too_many_says_so_and_opens_once_another_is_closed(page: Page, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("EXPLAIN_TABS", "1")
    visitor = name_of_visitor("bob")
    assert all(middleware._opened(visitor, tab) for tab in ("first", "second"))
    assert not middleware._opened(visitor, "third"), "none is opened to say it beyond twice as many"
    assert [middleware.has_place(tab) for tab in ("first", "second", "third", "")] == [True, False, False, True]
    middleware._closed("first")
    assert [middleware.has_place(tab) for tab in ("second", "third")] == [True, False]
    for tab in ("second", "third"):
        middleware._closed(tab)


def test_without_a_cookie_one_looks_and_says_nothing(page: Page, monkeypatch: pytest.MonkeyPatch) -> None:
    run = laid(home.journals(), "simulatability", name_of_visitor("ann"))
    entry.jobs().keeping.share(run, True)
    warned = "This app needs cookies"
    bob = as_visitor(page("results/case.py", run=run), "bob", "results/case.py")
    assert [warned in one.value for one in bob.warning] == [True] and scenes(bob)[0].verdict
    assert not [one for one in bob.button if one.key and one.key.startswith("label-")]
    assert not staged(bob)[0]["judgements"]
    entry.jobs().keeping.seal(run, True)
    assert staged(turned(bob, "results/case.py"))[0]["mode"] == "read" and scenes(bob)[0].verdict is None
    assert all(card.mark == "sealed" for card in scenes(bob)[0].cards if card.options)
    # A browser with a cookie of ours.
    monkeypatch.setattr(session, "code_in", lambda cookie: "bob")
    known = page("results/case.py", run=run)
    assert not known.warning and staged(known)[0]["mode"] == "guess"
    entry.jobs().keeping.seal(run, False)
    assert [one for one in turned(known, "results/case.py").button if one.key and one.key.startswith("label-")]


def test_sign_in_is_a_page_of_the_menu_where_a_code_is_set(page: Page, monkeypatch: pytest.MonkeyPatch) -> None:
    drawn = page("about/signin.py")
    assert drawn.title[0].value == "Sign in" and drawn.text_input(key="sign-in-code") and not drawn.expander
    assert "sign-in-code" not in [one.key for one in page("about/models.py").text_input]
    monkeypatch.delenv("EXPLAIN_HOST_CODE")
    monkeypatch.delenv("EXPLAIN_TEACHER_CODE")
    assert page("about/signin.py").title[0].value == "Explain Yourself", "nobody could sign in"
