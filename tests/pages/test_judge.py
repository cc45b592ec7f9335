"""The form for a judge model in Browse: its test comes first, and calls and price before each run."""

from collections.abc import Callable

import pytest
from streamlit.testing.v1 import AppTest

from core import entry
from core.judging.lab import NamedLabel
from core.labs.ask.tasks import AskSpec
from core.runs import labels
from core.runs.labels import Label
from core.server.access import visitor_with_code
from tests.pages.conftest import words
from tests.pages.test_labels import indexed

Page = Callable[..., AppTest]


def test_a_judge_is_tested_on_the_visitor_s_labels_before_it_labels(
    page: Page, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(NamedLabel, "listed", True)
    labels.save("[form]\ntitle = 'Of all, or of none?'\nlabels = {all = 'a', no = 'n'}\n")
    spec = AskSpec(model="control/fickle", dataset="world", limit=30, counterfactuals=1, seed=2)
    run = entry.jobs().start("simulatability", spec)
    assert entry.jobs().wait(run, 60)
    me = f"labels-{visitor_with_code('me', True).name}"
    cases = entry.jobs().watch(run).transcript.cases

    def label(names: list[str]) -> None:
        for case in names:
            said = "all" if str((cases[case].result or {})["explanation"]).startswith("All") else "no"
            entry.jobs().keeping.add(run, me, case, Label(own={"form": (said,)}), "")
        indexed()

    label(list(cases)[:5])
    app = page("results/browse.py")
    app.session_state["visitor"] = "me"
    app.session_state["judge"] = True
    app.session_state["judge-model"] = "control/judge-named-label"
    app.run()
    assert "You have labelled 5" in words(app) and not app.exception
    label(list(cases)[5:24])
    app.run()
    assert "**Test on your own labels:** 24 calls to judge" in words(app)
    misnamed = page("results/browse.py")
    for name, value in {"visitor": "me", "judge": True, "judge-model": "no-such-model"}.items():
        misnamed.session_state[name] = value
    misnamed.run()
    assert "There is no model" in misnamed.warning[0].value and "judge-test" not in {one.key for one in misnamed.button}
    app.button(key="judge-test").click().run()
    app.session_state["judge"] = True
    app.run()
    assert "The judge agrees with the person: kappa 1.00" in app.success[0].value.replace("\\", "")
    app.session_state["judge"] = True
    app.toggle(key="judge-count").set_value(True).run()
    assert "30 calls to judge" in words(app) and "24 of them have already been answered" in words(app)
    app.session_state["judge"] = True
    app.button(key="judge-all").click().run()
    assert not app.exception
