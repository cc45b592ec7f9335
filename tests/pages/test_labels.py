"""On the pages: labels and what they show, forks, and a run's name, visibility and deletion."""

from collections.abc import Callable

import pytest
from streamlit.testing.v1 import AppTest

from core import entry, journal
from core.labs.ask.tasks import AskSpec
from core.runs import labels
from core.runs.labels import Label
from pages.components import run_view
from tests.pages.conftest import in_address, scenes, staged, turned, words
from tests.support.waiting import until

Page = Callable[..., AppTest]
CASE = "results/case.py"


@pytest.fixture
def run() -> str:
    spec = AskSpec(question="Can a penguin fly?", model="control/fickle", arms=("none",))
    run = entry.jobs().start("simulatability", spec)
    assert entry.jobs().wait(run, 60)
    return run


def labelled(run: str) -> list[dict[str, object]]:
    """What the visitor has said so far."""
    labels = entry.jobs().keeping.labels(run)
    return [event.data for who, said in labels.items() if who != "labels-bob" for event in said]


def indexed() -> None:
    """Wait until everything that was said is in the store."""
    entry.keeper().looked.wait(30)
    entry.keeper().catch_up(30)


def test_where_the_host_has_no_more_room_the_page_says_that_a_verdict_is_not_kept(
    page: Page, run: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    app = page(CASE, run=run)
    monkeypatch.setenv("EXPLAIN_STORED_MB", "0")
    app.button(key="label-key-1").click().run()
    assert ["used up" in one.value for one in app.warning] == [True] and not app.exception and labelled(run) == []


def test_verdicts_by_buttons_are_kept_and_tell_how_far_readings_hold(page: Page, run: str) -> None:
    trials = entry.jobs().watch(run).transcript.case("question").of_type("trial")
    ids = [id for id, trial in trials.items() if trial["repaired"]["counts"]][:2]
    app = page(CASE, run=run)
    app.selectbox(key="label-about").set_value(ids[0]).run()
    app.button(key="label-key-1").click().run()
    assert labelled(run)[-1]["verdicts"] == {"reading": "right"}
    app.selectbox(key="label-about").set_value(ids[1]).run()
    app.button(key="label-key-2").click().run()
    should = f"label-should-reading-{run}-question-{ids[1]}"
    truth = next(value for value in app.selectbox(key=should).options if value in ("yes", "no"))
    app.selectbox(key=should).set_value(truth).run()
    app.button(key="label-key-3").click().run()
    app.multiselect(key=f"label-tags-{run}-question-{ids[1]}").set_value(["odd"]).run()
    assert labelled(run)[-1] == {
        "verdicts": {"reading": "wrong", "simulation": "good"},
        "should": {"reading": truth},
        "tags": ["odd"],
        "note": "",
    }
    indexed()
    app.run()
    said = words(app)
    assert "**updated parser** right by 1 of 2 labels" in said and "**original parser** right by 1 of 2 labels" in said
    assert "**fickle** right by 1 of 1 label" in said and "given while looking at chosen rows" in said
    assert "kappa" not in said.lower() and "%" not in said.partition("by the labels in all runs")[2], "counts alone"
    entry.jobs().keeping.add(run, "labels-bob", "question", Label(verdicts={"reading": "right"}, note="*Sure*"), ids[1])
    app.button(key="label-keys").click().run()
    indexed()
    said = words(app.run())
    assert "Another person (1): how the answer was read: right; “*Sure*”" in said and "**1** How the answer" in said
    assert "of 1 that two or more of 2 people judged, on 0 they agree" in said
    app.button(key="label-key-2").click().run()
    assert "reading" not in labelled(run)[-1]["verdicts"], "pressed again it is taken back"  # type: ignore[operator]


def test_labels_on_chosen_rows_are_counts_however_many(page: Page, run: str) -> None:
    trials = entry.jobs().watch(run).transcript.case("question").of_type("trial")
    id = next(id for id, one in trials.items() if one["repaired"]["counts"])
    right = Label(verdicts={"reading": "right", "simulation": "good"})
    assert "readers are right" not in str(page("about/models.py").header), "nobody labelled"
    for number in range(12):
        entry.jobs().keeping.add(run, f"labels-{number}", "question", right, id)
    indexed()
    case = page(CASE, run=run)
    calls = entry.jobs().watch(run).transcript.calls
    call = next(name for name in trials[id]["calls"] if calls[name].asked.role == "answerer")
    case.session_state[f"call-{call}"] = True
    models = page("about/models.py")
    tables = "".join(table.value.to_string() for table in models.table)
    assert "12 of 12 labels" in tables and "counts, and no rate" in words(models)
    browse = words(page("results/browse.py"))
    assert "**updated parser** right by 12 of 12 labels, given while looking at chosen rows" in browse
    case.run()
    assert "How the answer was read: **updated parser** right by 12 of 12 labels" in words(case)
    for said in (tables, browse, words(case)):
        assert "kappa" not in said.lower() and "100 %" not in said and "100%" not in said


def test_an_edited_explanation_goes_on_as_a_run_beside_the_first(page: Page, run: str) -> None:
    app = page(CASE, run=run, fork="c0001")
    assert app.button(key="fork-begin").disabled and "Price" not in words(app)
    app.text_area(key=f"fork-{run}-c0001").set_value("No bird can fly. A penguin is a bird. So the answer is no.").run()
    said = words(app)
    assert "Asked again: " in said and "(fickle " in said and "Price: nothing, because" in said
    app.button(key="fork-begin").click().run()
    first, second = in_address(app, "runs").split(",")
    assert first == run and entry.jobs().wait(second, 60)
    app = turned(app, "results/side.py")
    before, after = (scene.claim.parts[0] for scene in scenes(app) if scene.claim)
    assert before.text.startswith("All birds can fly") and not before.spans
    marked = {after.text[span.start : span.end].strip(): span.mark for span in after.spans}
    assert marked["No bird"] == "added" and marked["All birds"] == "struck"
    assert "with call c0001 edited" in staged(app)[0]["names"][1]
    assert "a person wrote the answer of call c0001" in words(page(CASE, run=second))


def test_a_run_is_renamed_hidden_deleted_and_brought_back(page: Page, run: str) -> None:
    app = page(CASE, run=run)
    app.text_input(key=f"title-{run}").set_value("My *penguin*").run()
    assert app.title[0].value.replace("\\", "") == "My *penguin*"
    app.toggle(key=f"hide-{run}").set_value(True).run()
    assert entry.jobs().keeping.run_settings(run).hidden
    entry.jobs().keeping.add(run, "labels-bob", "question", Label(note="mine"), "")
    app.run()
    assert app.button(key="delete").disabled, "another person's words are in it"
    app.checkbox(key="sure").set_value(True).run()
    app.button(key="delete").click().run()
    assert not list(entry.home.journals().glob(f"{run}*"))  # type: ignore[attr-defined]
    app = turned(app, "results/browse.py")
    app.button(key=f"undo-{run}").click().run()
    assert not app.exception and len(list(entry.home.journals().glob(f"{run}*"))) == 3  # type: ignore[attr-defined]


def test_own_labels_have_keys_and_hide_other_people_s_until_one_is_done(page: Page, run: str) -> None:
    labels.save(labels.EXAMPLE)
    bob = Label(own={"reason": ("vague",)}, note="circular!")
    entry.jobs().keeping.add(run, "labels-bob", "question", bob, "")
    indexed()
    app = page(CASE, run=run)
    said = words(app)
    assert "vague" not in said.replace("Your verdict", "") and "circular!" not in said, "blind"
    assert app.button(key="own-label-v").proto.shortcut == "v"
    app.button(key="own-label-f").click().run()
    app.button(key="own-label-x").click().run()
    assert labelled(run)[-1]["own"] == {"reason": ["circular"]}
    indexed()
    app.run()
    assert "(person 1): vague" in words(app) and "“circular!”" in words(app), "they labelled all that Bob did"
    browse = page("results/browse.py")
    browse.session_state["visitor"] = app.session_state["visitor"]
    table = browse.run().dataframe[0].value
    own = "What is wrong with the reason? (you)"
    assert set(table[own]) == {"circular"} and set(table["What is wrong with the reason? (person 1)"]) == {"vague"}
    (entry.home.home() / "labels.toml").write_text("[reason]\nlabels = {fine = 'j', bad = 'b'}\n")  # type: ignore[attr-defined]
    assert "own-label-f" not in [one.key for one in page(CASE, run=run).button]


def test_another_predictor_reuses_the_answers_and_the_range_is_shown(page: Page, run: str) -> None:
    app = page(CASE, run=run)
    app.session_state["predictor"] = True
    app.session_state["predictor-model"] = "control/steadfast"
    app.run()
    assert "as many as before" in words(app) and "Its qualification test" in words(app), words(app)
    app.button(key="predictor-begin").click().run()
    again = in_address(app, "run")
    assert again != run and entry.jobs().wait(again, 60)
    calls = entry.jobs().watch(again).transcript.calls.values()
    assert {call.asked.model for call in calls if call.asked.role == "simulator"} == {"control/steadfast"}
    assert all(call.answered.cached for call in calls if call.asked.role == "answerer")
    ended = "select run from runs where status = 'completed'"
    until(lambda: {run, again} <= {name for (name,) in entry.keeper().store.rows(ended)})
    app.run()
    tables = [one.value for one in app.dataframe if "Predictor" in one.value]
    assert [list(one["Predictor"]) for one in tables] == [["fickle", "steadfast"]]


def test_a_row_of_browse_is_opened_without_reading_the_other_cases_until_the_run_is_unfolded(
    page: Page, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each step with J read a run of 1,250 trials as a whole, which took 2 s."""
    spec = AskSpec(dataset="world", limit=4, counterfactuals=1, model="control/fickle", arms=("none",))
    run = entry.jobs().start("simulatability", spec)
    assert entry.jobs().wait(run, 60)
    entry.keeper().catch_up(60)
    lines, from_line = [], journal.from_line
    monkeypatch.setattr(journal, "from_line", lambda line: lines.append(line) or from_line(line))
    case = list(entry.jobs().case(run, "").cases)[1]
    lines.clear()
    app = page("browse", run=run, case=case)
    assert scenes(app)[0].case == case and len(staged(app)) == 1
    every = entry.jobs().path(run).read_bytes().count(b"\n")
    assert sum(run.encode() in line for line in lines) < 0.6 * every
    app.session_state[run_view.WHOLE] = True
    app.run()
    assert not app.exception and [one["mode"] for one in staged(app)] == ["read", "all"]
    assert sum(run.encode() in line for line in lines) > every
