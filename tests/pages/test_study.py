"""The page Study in each of its states: from the empty form to a table, and its obstacles."""

from collections import Counter
from collections.abc import Callable
from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

from core import entry, home, policy
from core.studies import execute, plan, study_files
from core.studies.execute import UnderWay
from core.studies.run_status import RunStatus, StudyState, progress
from core.studies.table_cells import BLANK
from pages.study.progress_view import finding, state_of, status
from tests.conftest import SETS
from tests.core.studies.killing import steady
from tests.pages.conftest import in_address, words
from tests.support.file_server import FileServer, zipped
from tests.support.stub_server import Fault, StubServer
from tests.support.waiting import until

ROBOTS = """title = "Two robots"
lab = "ask"
spec = { dataset = "world", limit = 4, counterfactuals = 2 }
grid = { model = ["control/steadfast", "control/fickle"] }
"""

REAL = """at_once = 2
lab = "check"
spec = { limit = 2, controls = 0, model = "openai/stub-model", explanations = ["attribution"] }
grid = { task = ["sentiment", "entailment"] }
"""


def kept(text: str, name: str = "mine") -> plan.Study:
    return study_files.save_study(home.home(), name, text.encode(), entry.labs())


def over(name: str = "mine") -> UnderWay:
    going = entry.studies().started(name)
    assert going is not None and going.over.wait(120)
    return going


def alerts(app: AppTest) -> str:
    """Titles and texts of the coloured boxes."""
    boxes: list[Any] = [*app.error, *app.warning, *app.info, *app.success]
    return "\n".join(f"{box.proto.title}: {box.value}" for box in boxes).replace("\\", "").replace("\u2060", "")


def test_from_the_empty_form_to_a_table(page: Callable[..., AppTest]) -> None:
    app = page("study")
    assert "robots only, no key" in words(app) and "asks openai/gpt-4o-mini" in words(app)
    app.button(key="study-new").click().run()
    app.text_input(key="study-title").set_value("Two Robots!")
    app.multiselect(key="study-ask-model").set_value(["control/steadfast", "control/fickle"])
    app.text_input(key="study-ask-counterfactuals").set_value("2")
    app.text_input(key="study-ask-limit").set_value("4, x").run()
    assert "Items: x is not a whole number" in words(app) and not any(b.key == "study-plan" for b in app.button)
    app.text_input(key="study-ask-limit").set_value("0").run()
    assert "Items: 0 is not possible. Choose a value from 1 to 1,000,000." in words(app)
    app.text_input(key="study-ask-limit").set_value("16").run()
    assert "2 combinations, one run each." in words(app)
    app.button(key="study-plan").click().run()
    assert not app.exception and in_address(app, "study") == "two-robots"
    # The controls ask the same robots about all of the world's questions, which makes another run each.
    assert "Nothing was asked yet." in words(app) and "Runs still to do 4" in words(app)
    assert "Price $0.00" in words(app) and "robots, which answer immediately and cost nothing" in words(app)
    app.button(key="study-go").click().run()
    over("two-robots")
    app.run()
    assert not app.exception
    assert "Done: All 4 runs completed." in alerts(app)
    # The table contains what the field says about these robots.
    cells = {row[0]: row[-1] for table in app.table[:2] for row in table.value.itertuples(index=False)}
    assert cells["steadfast"].startswith("[**1.00**](browse?") and " items" in cells["steadfast"]
    assert "Controls passed" in words(app)
    first = "Ask: Precision goes from "
    assert first in alerts(app) and "to 1.00 (steadfast" in alerts(app)
    listed = page("study")
    assert "2 of 2 runs completed · 2 controls" in words(listed)


def test_what_cannot_be_is_left_out_and_said(page: Callable[..., AppTest]) -> None:
    app = page("study", new="1")
    app.segmented_control(key="study-lab").set_value("probe").run()
    app.get("button_group")
    app.pills(key="study-probe-category").set_value(["numeric", "entities"])
    app.pills(key="study-probe-interpreter").set_value(["aia", "fit"]).run()
    assert not app.exception
    assert "1 of 4 combinations are not possible and are left out" in alerts(app) and "fit baseline" in alerts(app)
    assert "exclude = [" in app.code[0].value
    app.button(key="study-edit").click().run()
    assert "exclude" in app.text_area(key="study-text").value
    app.text_area(key="study-text").set_value('lab = "../ask"').run()
    assert "there is no lab" in alerts(app) and not any(one.key == "study-plan" for one in app.button)


def test_a_study_of_the_papers_prompts_says_where_to_get_them(page: Callable[..., AppTest]) -> None:
    assert page("study").button(key="study-open-prompts").label.startswith("Our prompts and the papers")
    app = page("study", study="prompts")
    assert not app.error and app.title[0].value.startswith("Our prompts and the papers")
    assert "Get the papers' prompts first" in alerts(app) and "prompts read FOLDER" in alerts(app)
    for lab in entry.LABS:
        assert not lab.paper_prompts or f"{lab.title}: {lab.paper_prompts.repository}" in alerts(app)
    assert "[grid]" not in app.code[0].value and "prompts" in app.code[0].value


PARTS = """title = "Three parts"
at_once = 2
budget_calls = 500
budget_money = 1.5
stop_width = 0.2
power = 0.8
[[part]]
lab = "ask"
spec = { model = "control/steadfast", dataset = "world", limit = 4 }
[[part]]
lab = "check"
spec = { model = "control/decoy-lexicon", limit = 3 }
grid = { task = ["sentiment", "entailment"] }
[[part]]
lab = "ask"
spec = { model = "control/fickle", dataset = "world", limit = 6 }
[[table]]
title = "Ask"
lab = "ask"
rows = ["model", "limit"]
columns = ["how"]
[[table]]
title = "Check"
lab = "check"
rows = ["model", "task"]
columns = ["how"]
"""


def test_a_form_of_several_parts_writes_one_plan(page: Callable[..., AppTest]) -> None:
    app = page("study", new="1")
    for _ in range(3):
        app.button(key="study-add").click().run()
    app.button(key="study-2-remove").click().run()
    app.segmented_control(key="study-1-lab").set_value("check").run()
    app.text_input(key="study-title").set_value("Three parts")
    app.multiselect(key="study-ask-model").set_value(["control/steadfast"])
    app.text_input(key="study-ask-limit").set_value("4")
    app.text_input(key="study-1-check-limit").set_value("0")
    app.pills(key="study-1-check-task").set_value(["sentiment", "entailment"])
    app.text_input(key="study-3-ask-limit").set_value("6")
    for key, value in (("at-once", 2), ("budget", 500), ("money", 1.5), ("stop-width", 0.2), ("power", 0.8)):
        app.number_input(key=f"study-{key}").set_value(value)
    app.run()
    assert "Items: 0 is not possible." in words(app) and not any(b.key == "study-plan" for b in app.button)
    app.text_input(key="study-1-check-limit").set_value("3").run()
    assert not app.exception and "4 combinations, one run each; combinations in two" in words(app)
    written, meant = (plan.parse("mine.toml", text.encode(), entry.labs()) for text in (app.code[0].value, PARTS))
    assert written == meant and len(written.runs) == 4 and written.stop_width == 0.2


def test_a_hostile_file_is_refused_in_words(page: Callable[..., AppTest]) -> None:
    app = page("study", new="1")
    app.segmented_control(key="way").set_value("file").run()
    app.get("file_uploader")[0].upload("../../x.toml", b"a = " + b"[" * 50_000, "application/toml").run()
    assert not app.exception and "nested too deeply" in alerts(app)
    assert not page("study", study="../../etc/passwd").exception
    assert "There is no study named" in alerts(page("study", study="../../etc/passwd"))


def test_a_study_is_paused_and_goes_on(page: Callable[..., AppTest], monkeypatch: pytest.MonkeyPatch) -> None:
    """After the app was stopped, or after a pause, nothing answered is asked again."""
    left = [4]

    def held(body: dict[str, Any]) -> bool:
        """Three answers arrive; the others wait until they are released."""
        left[0] -= left[0] > 0
        return left[0] == 0

    with StubServer(steady, held=held) as server:
        monkeypatch.setenv("OPENAI_BASE_URL", server.base_url)
        monkeypatch.setenv("OPENAI_API_KEY", "none")
        entry.answers.cache_clear()
        looks: list[plan.DesiredState] = []
        monkeypatch.setattr(execute, "wanted", lambda *of: looks.append(plan.wanted(*of)) or looks[-1])
        study = kept(REAL)
        app = page("study", study="mine")
        assert "Price unknown" in words(app)
        app.button(key="study-go").click().run()
        until(lambda: len(server.seen) > 4)
        app.run()
        assert "Running: " in alerts(app) and "of 6 runs completed" in alerts(app)
        assert "Calls a minute" in words(app)
        second = page("study", study="mine")
        second.button(key="study-pause").click().run()
        until(lambda: looks[-1].paused)
        left[0] = -1
        assert over().outcome.paused and plan.wanted(home.home(), "mine").paused
        app.run()
        assert "Paused: No calls are made now" in alerts(app)
        asked = len(server.seen)
        # Another process would know nothing of the first.
        entry.studies.cache_clear()
        app.number_input(key="study-at-once-now").set_value(1).run()
        assert plan.wanted(home.home(), "mine").at_once == 1
        app.button(key="study-go").click().run()
        over()
        app.run()
        assert f"Done: All {len(study.all)} runs completed." in alerts(app)
        bodies = [str(seen.body["messages"]) for seen in server.seen]
        assert len(bodies) > asked and len(bodies) == len(set(bodies))


def test_what_stops_a_study_is_said(page: Callable[..., AppTest], monkeypatch: pytest.MonkeyPatch) -> None:
    kept(REAL.replace("openai/", "nowhere/"), "lost")
    app = page("study", study="lost")
    app.button(key="study-go").click().run()
    assert "Nothing was asked yet." in words(app) and "nowhere" in alerts(app)
    kept(f"budget_money = 2.0\n{REAL}", "dear")
    assert "It cannot start: the price of openai/stub-model is unknown" in alerts(page("study", study="dear"))
    kept(REAL)
    with StubServer("no", always=Fault("wrong_key")) as server:
        monkeypatch.setenv("OPENAI_BASE_URL", server.base_url)
        monkeypatch.setenv("OPENAI_API_KEY", "none")
        app = page("study", study="mine")
        app.button(key="study-go").click().run()
        over()
        app.run()
    assert not app.exception and "Stopped on an error: 2 runs failed" in alerts(app)
    assert app.button(key="study-go").label == "Try again" and "Failed" in words(app)


@pytest.mark.parametrize(
    ("standings", "off", "state", "told"),
    [
        ([], [], "new", "Nothing was asked yet."),
        ([RunStatus("completed")] * 6, [], "done", "All 6 runs completed."),
        (
            [RunStatus("completed", failures=Counter(RequestRefusedError=2))] * 6,
            [],
            "done",
            "12 calls failed on the way",
        ),
        ([RunStatus("completed")] * 6, ["It reads 0.2."], "off", "no figure of this study is reliable. It reads 0.2."),
        ([RunStatus("completed")] * 5 + [RunStatus("failed", message="No key.")], [], "failed", "1 run failed; 5 of 6"),
        (
            [RunStatus("completed", paid=9)] * 2,
            [],
            "spent",
            "The budget of 10 calls is used up; 2 of 6 runs completed.",
        ),
        ([RunStatus("running")], [], "running", "0 of 6 runs completed."),
    ],
)
def test_every_state_has_its_sentence(standings: list[RunStatus], off: list[str], state: str, told: str) -> None:
    study = kept(f"budget_calls = 10\n{REAL}")
    stand = dict(zip((run.id for run in study.all), standings + [RunStatus()] * 6, strict=False))
    seen = StudyState(study, home.journals())
    vars(seen)["runs"] = stand
    now = progress(seen)
    assert state_of(now, None, off) == state
    assert told in status(state_of(now, None, off), study, now, None, off)


def test_only_figures_of_one_kind_are_summed_up() -> None:
    both = [{**BLANK, "table": "A", "mixed": True, "row": "r", "column": c, "value": 0.5, "n": 9} for c in ("x", "y")]
    one = [
        {**BLANK, "table": "B", "row": row, "column": "c", "value": value, "n": 9}
        for row, value in (("p", 0.2), ("q", 0.7))
    ]
    assert finding(both, str) == ""
    assert finding([*both, *one], str) == "B goes from 0.20 (p, 9 items) to 0.70 (q, 9 items)."


def test_an_interrupted_study_goes_on(page: Callable[..., AppTest]) -> None:
    study = kept(ROBOTS)
    entry.studies().start(study, entry.catalog().get)
    over()
    entry.studies.cache_clear()
    last = home.journals() / f"{study.runs[-1].id}.jsonl"
    lines = last.read_bytes().splitlines(keepends=True)
    last.write_bytes(b"".join(lines[: len(lines) // 2]))
    app = page("study", study="mine")
    assert "Interrupted: " in alerts(app) and "3 of 4 runs completed" in alerts(app)
    app.button(key="study-go").click().run()
    over()
    app.run()
    assert "Done: " in alerts(app)


def test_an_instrument_that_is_off_is_tried_again(page: Callable[..., AppTest]) -> None:
    study = kept(ROBOTS)
    entry.studies().start(study, entry.catalog().get)
    over()
    control = home.journals() / f"{study.controls[0].id}.jsonl"
    lines = control.read_text(encoding="utf-8").splitlines(keepends=True)
    control.write_text("".join(line for line in lines if '"metric":"precision"' not in line), encoding="utf-8")
    app = page("study", study="mine")
    assert "Controls failed: A robot" in alerts(app) and "without a figure" in alerts(app)
    assert "One was measured wrongly, so no figure below is reliable" in words(app)
    app.button(key="study-go").click().run()
    over()
    app.run()
    assert "Done: All 4 runs completed." in alerts(app) and "Controls passed" in words(app)


def test_visitors_of_a_host_plan_and_do_not_run(page: Callable[..., AppTest], monkeypatch: pytest.MonkeyPatch) -> None:
    kept(ROBOTS)
    monkeypatch.setattr(policy, "_served", {"0.0.0.0"})
    app = page("study")
    assert "Two robots" not in words(app) and not any(one.label == "Two robots" for one in app.button)
    assert "write your own, and download its file" in alerts(app)
    app.button(key="study-new").click().run()
    assert "Only the host runs studies here; the file runs" in words(app)
    assert not any(one.key == "study-plan" for one in app.button)
    assert "Download the file · " in str(app.get("download_button"))
    assert "There is no study named" in alerts(page("study", study="mine"))
    app = page("study", study="dial")
    assert "Only the host runs studies" in alerts(app) and not any(one.key == "study-go" for one in app.button)
    assert "Runs still to do 99" in words(app)


def test_a_data_set_that_is_missing_is_downloaded(
    page: Callable[..., AppTest], monkeypatch: pytest.MonkeyPatch
) -> None:
    server = FileServer()
    monkeypatch.setenv("EXPLAIN_DATA_MIRROR", server.url)
    kept(
        ROBOTS.replace('"world"', '"rte"')
        .replace('"ask"', '"check"')
        .replace("counterfactuals = 2", 'task = "entailment"')
    )
    app = page("study", study="mine")
    assert "cannot be made yet" in alerts(app) and "python -m core data get rte" in alerts(app)
    assert "no licence stated" in words(app)
    app.button(key="study-data-look-rte").click().run()
    assert "has no file rte/RTE.zip (HTTP 404)" in alerts(app), "what is wrong is said, and it may be tried again"

    rows = (SETS / "rte" / "dev.tsv").read_bytes()
    server.files["/rte/RTE.zip"] = zipped({"RTE/train.tsv": rows, "RTE/dev.tsv": rows})
    app.button(key="study-data-look-rte").click().run()
    shown = words(app)
    assert f"{server.url}/rte/RTE.zip" in shown and "unknown: recorded at the first download" in shown
    assert "not verified" in shown and server.gets() == []
    app.button(key="study-data-get-rte").click().run()
    until(lambda: (fetch := entry.dataset_fetches().get("rte")) is not None and not fetch.going)
    app.run()
    assert not app.exception and "cannot be made yet" not in alerts(app)
    assert not any(one.key and one.key.startswith("study-data") for one in app.button)
    server.close()


def test_where_a_host_serves_nobody_downloads_data(
    page: Callable[..., AppTest], monkeypatch: pytest.MonkeyPatch
) -> None:
    kept(ROBOTS.replace('"world"', '"strategyqa"'))
    monkeypatch.setenv("EXPLAIN_DOWNLOADS", "no")
    app = page("study", study="mine")
    assert "cannot be made yet" in alerts(app)
    assert not any(one.key and one.key.startswith("study-data") for one in app.button)
