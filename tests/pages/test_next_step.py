"""After a verdict one next step is offered beside it, and everything else is in a menu."""

from collections.abc import Callable
from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

from core import entry
from core.events import Started
from core.labs.ask.tasks import AskSpec, fewest
from core.labs.base.spec import Spec
from core.labs.check.tasks import CheckSpec, shipped
from core.labs.plant.tasks import PlantSpec
from core.transcript import Transcript
from pages.components.lab_page import page_of
from pages.components.run_view import Shown, next_step
from pages.components.widgets import SHIPPED
from tests.pages.conftest import offered_steps, scenes

Page = Callable[..., AppTest]


@pytest.mark.parametrize(
    ("run", "step"),
    [
        ({"may_predict": True, "has_real": True, "is_short": True}, "predict"),
        ({"has_real": True, "is_short": True, "failures": 3}, "real"),
        ({"has_real": False, "failures": 3}, "failures"),
        ({"is_short": True, "failures": 3}, "longer"),
        ({"failures": 1}, "failures"),
        ({}, "compare"),
        ({"can_compare": False}, None),
    ],
)
def test_at_most_one_step_follows_from_what_the_run_is(run: dict[str, Any], step: str | None) -> None:
    usual = {"may_predict": False, "has_real": False, "is_short": False, "failures": 0, "can_compare": True}
    assert next_step(**usual | run) == step


def test_after_a_real_model_no_other_real_model_is_offered() -> None:
    lab, spec = entry.labs()["simulatability"], AskSpec(question="Can a penguin fly?", model=SHIPPED)
    started = Started(run="r", lab=lab.name, spec=spec.model_dump(mode="json"), seed=0)
    shown = Shown(lab, "r", Transcript(started=started), active=False)
    assert shown.spec == spec and shown.next_run("real") is None


def test_a_run_that_is_too_short_leads_to_one_that_is_not() -> None:
    spec = AskSpec(question="Can a penguin fly?", counterfactuals=1, model="control/steadfast")
    run = entry.jobs().start("simulatability", spec)
    assert entry.jobs().wait(run, 120)
    state, lab = entry.jobs().watch(run).transcript, entry.labs()["simulatability"]
    view = lab.view(state.case(state.only))
    ask, plant = page_of(lab), page_of(entry.labs()["plant"])
    longer = ask.longer_run(spec, view)
    assert longer and longer.spec == spec.model_copy(update={"counterfactuals": fewest()})
    assert longer.words == f"Ask {fewest()} new questions"
    assert ask.longer_run(longer.spec, view) is None, "more would not help"
    many = plant.longer_run(PlantSpec(question="Is a tomato a fruit?", cue="hint", model="control/admits"), None)
    assert (
        many
        and many.spec == PlantSpec(limit=20, cue="hint", model="control/admits")
        and plant.longer_run(many.spec, None) is None
    )


@pytest.mark.parametrize(
    ("path", "lab", "spec"),
    [
        ("ask", "simulatability", AskSpec(question="Can a penguin fly?", counterfactuals=2, model="control/fickle")),
        ("check", "consistency", CheckSpec(items=shipped("sentiment")[:2], model="control/decoy-lexicon")),
    ],
)
def test_beside_the_verdict_stands_one_step_and_the_rest_in_a_menu(page: Page, path: str, lab: str, spec: Spec) -> None:
    run = entry.jobs().start(lab, spec)
    assert entry.jobs().wait(run, 120)
    app = page(path, run=run)
    assert offered_steps(app) == ["real"] and scenes(app)
    (menu,) = [block for block in app.get("popover") if block.proto.popover.label == "More"]
    assert "Replay" in {link.proto.label for link in menu.get("page_link")}
    assert menu.get("download_button") and not [button for button in app.button if button.proto.type == "primary"]
