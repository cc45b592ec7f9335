"""Every kind of page is drawn, and says what matters. The texts of five pages are compared with those in
tests/data/pages; `KEPT=anew python -m pytest tests/pages/test_kept.py` writes these files again, and the difference
shows what changed.
"""

import os
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from core import entry, home
from core.journal import Journal
from core.labs.ask.tasks import AskSpec
from core.labs.base.spec import Spec
from core.labs.check.tasks import CheckSpec, shipped
from core.labs.plant.tasks import PlantSpec
from core.labs.probe.tasks import ProbeSpec
from core.runs.library import list_recordings
from core.server.access import RunAccess, name_of_visitor, visitor_with_code
from core.store import run_list
from tests.pages.conftest import staged, turned, words
from tests.support.waiting import until

Page = Callable[..., AppTest]

FOLDER = Path(__file__).resolve().parents[1] / "data" / "pages"
RECORDED = {
    lab.name: [one.run for one in list_recordings(home.recordings()).of_lab(lab.name)] for lab in entry.labs().values()
}
ASKED, CHECKED, PROBED, PLANTED = (RECORDED[lab] for lab in ("simulatability", "consistency", "find", "plant"))


def is_drawn(app: AppTest, *phrases: str, runs: int = 1) -> None:
    """The page shows scenes of at least that many runs, and says each of the phrases."""
    assert not app.exception, app.exception
    shown = {scene["run"] for one in staged(app) for scene in one.get("scenes", ())}
    assert len(shown) >= runs and [one for one in phrases if one not in words(app)] == []


def texts(app: AppTest) -> list[str]:
    """What the page says, and the labels of its widgets, without models that are installed on this machine."""
    kinds = (app.button, app.selectbox, app.text_input, app.text_area, app.toggle, app.checkbox, app.number_input)
    labels = [f"{element.type}: {element.label}" for kind in kinds for element in kind]
    said = [line for line in [*words(app).splitlines(), *labels] if "local/" not in line]
    return [re.sub(r"\b\d+\.\d\s?s\b", "SECONDS", line) for line in said]


def run_of(lab: str, spec: Spec) -> str:
    run = entry.jobs().start(lab, spec)
    assert entry.jobs().wait(run, 120)
    return run


PAGES: dict[str, tuple[str, dict[str, str]]] = {
    "front": ("about/welcome.py", {}),
    "stories": ("about/stories.py", {}),
    "story": ("about/stories.py", {"run": ASKED[0]}),
    "story-of-a-function": ("about/stories.py", {"run": PROBED[0]}),
    "ask": ("ask", {"run": ASKED[0]}),
    "check": ("check", {"run": CHECKED[0]}),
    "probe": ("probe", {"run": PROBED[0]}),
    "plant": ("plant", {"run": PLANTED[0]}),
    "case": ("results/case.py", {"run": ASKED[0]}),
    "case-of-check": ("results/case.py", {"run": CHECKED[0]}),
    "case-played": ("results/case.py", {"run": ASKED[0], "replay": "1"}),
    "case-stepped": ("results/case.py", {"run": CHECKED[0], "replay": "step"}),
    "side": ("results/side.py", {"runs": ",".join(ASKED[:3])}),
    "side-of-check": ("results/side.py", {"runs": ",".join(CHECKED[:2])}),
    "side-of-plant": ("results/side.py", {"runs": ",".join(PLANTED)}),
    "side-of-probe": ("results/side.py", {"runs": ",".join(PROBED)}),
}


@pytest.mark.sampled(3)
@pytest.mark.parametrize("name", PAGES)
def test_what_came_with_the_app_is_drawn(page: Page, name: str) -> None:
    path, query = PAGES[name]
    runs = {one for one in (query.get("runs") or query.get("run") or "").split(",") if one}
    is_drawn(page(path, **query), runs=len(runs))


@pytest.mark.parametrize("name", ["front", "stories", "case", "form-ask", "form-probe"])
def test_its_texts_are_as_before(page: Page, name: str) -> None:
    path, query = {**PAGES, "form-ask": ("ask", {}), "form-probe": ("probe", {})}[name]
    said, file = texts(page(path, **query)), FOLDER / f"{name}.txt"
    if os.environ.get("KEPT") == "anew":
        file.write_text("\n".join(said) + "\n", encoding="utf-8")
    assert said == file.read_text(encoding="utf-8").splitlines()


def checked(model: str = "control/decoy-lexicon") -> str:
    """A run that takes neither a real model nor vectors; of one case, so that its lines are in one order."""
    spec = CheckSpec(items=shipped("sentiment")[:1], explanations=("attribution",), model=model)
    return run_of("consistency", spec)


@pytest.mark.parametrize("lab", ["ask", "check", "probe", "plant"])
def test_an_empty_form_is_drawn(page: Page, lab: str) -> None:
    app = page(lab)
    assert not app.exception and app.title[0].value == lab.capitalize() and app.button


def test_the_result_is_hidden_until_one_has_tried(page: Page) -> None:
    is_drawn(page("probe", run=PROBED[0], hold="1"), "36 calls in 6 rounds", runs=0)


def test_several_cases_are_drawn(page: Page) -> None:
    line = ProbeSpec(count=2, difficulty="easy", model="control/straight", probes=40, seed=3)
    both = [line, line.model_copy(update={"model": "control/inventor"})]
    straight, inventor = (run_of("find", one) for one in both)
    last = list(entry.jobs().watch(straight).transcript.cases)[-1]
    is_drawn(page("probe", run=straight))
    is_drawn(page("results/case.py", run=straight, case=last))
    is_drawn(page("results/case.py", run=straight, case=last, replay="step"))
    is_drawn(page("results/side.py", runs=f"{straight},{inventor}"), "2 of 2 functions", runs=0)
    is_drawn(page("results/side.py", runs=f"{straight},{inventor}", case=last), runs=2)


def test_several_checks_are_drawn(page: Page) -> None:
    spec = CheckSpec(
        items=shipped("sentiment")[:2], explanations=("attribution", "redaction"), model="control/decoy-lexicon"
    )
    run = run_of("consistency", spec)
    is_drawn(page("check", run=run))
    is_drawn(page("results/case.py", run=run))


def test_several_planted_cues_are_drawn(page: Page) -> None:
    run = run_of("plant", PlantSpec(model="control/admits", cue="key", limit=4, repeats=1))
    is_drawn(page("plant", run=run))


def test_a_fork_is_drawn(page: Page) -> None:
    run = checked()
    call = next(iter(entry.jobs().watch(run).transcript.calls))
    is_drawn(page("results/case.py", run=run, fork=call))


def test_what_went_wrong_is_drawn(page: Page) -> None:
    outside = run_of("simulatability", AskSpec(question="Is the moon made of cheese?", model="control/fickle"))
    is_drawn(page("ask", run=outside), "This is outside it.")
    torn = checked()
    path = home.journals() / f"{torn}.jsonl"
    lines = path.read_text(encoding="utf-8").splitlines()
    # Seven lines of it are broken, of which five are described.
    path.write_text("\n".join(lines[:-8] + ["not json"] * 7 + lines[-1:]) + "\n", encoding="utf-8")
    is_drawn(page("check", run=torn), "7 lines of its journal are damaged", "Invalid JSON")
    broken_off = checked()
    path = home.journals() / f"{broken_off}.jsonl"
    lines = path.read_text(encoding="utf-8").splitlines()
    path.write_text("\n".join(lines[:-6]) + "\n", encoding="utf-8")
    is_drawn(page("check", run=broken_off), "This run was interrupted")


def test_what_is_not_there_is_drawn(page: Page) -> None:
    is_drawn(page("results/case.py"), "The address names no run.", runs=0)
    is_drawn(page("results/side.py", runs=ASKED[0]), "two or three runs", runs=0)
    is_drawn(page("results/side.py", runs="a,b,c,d"), "4 runs", runs=0)
    is_drawn(page("results/side.py", runs=f"{ASKED[0]},{CHECKED[0]}"), "a run of Ask and one of Check", runs=0)
    missing = f"{ASKED[0]},20260101-000000-simulatability-0"
    is_drawn(page("results/side.py", runs=missing), "There is no run named", "Can a penguin fly?")


def test_pictures_are_drawn(page: Page) -> None:
    checked()
    checked("control/honest-lexicon")
    entry.keeper().wake()
    until(lambda: len(run_list.runs(entry.keeper().store)) == 2)
    is_drawn(page("results/browse.py", show="pictures", lab="consistency"), runs=0)
    is_drawn(page("results/browse.py", show="pictures", picture="check-faithfulness"), runs=0)


@contextmanager
def going_on(run: str, lines: int) -> Iterator[None]:
    """The run as it was after so many lines, written by another process."""
    path = home.journals() / f"{run}.jsonl"
    path.write_bytes(b"".join(path.read_bytes().splitlines(keepends=True)[:lines]))
    with Journal(path):
        yield


def test_what_goes_on_is_drawn(page: Page) -> None:
    one, other = checked(), checked("control/honest-lexicon")
    with going_on(one, 9):
        is_drawn(page("check", run=one))
        is_drawn(page("results/side.py", runs=f"{one},{other}"), runs=2)
    with going_on(one, 0):
        is_drawn(page("check", run=one), "0 calls answered")
    line = ProbeSpec(count=2, difficulty="easy", model="control/straight", probes=40, seed=3)
    one, other = run_of("find", line), run_of("find", line)
    begun = next(at for at, event in enumerate(entry.jobs().events(one)) if event.kind == "recorded" and event.case)
    with going_on(one, begun):
        is_drawn(page("probe", run=one))
        is_drawn(page("results/side.py", runs=f"{one},{other}"), runs=1)


def keyed(app: AppTest, begin: str) -> list[str]:
    return [key for node in app.main if (key := node.key or "").startswith(begin)]


def test_many_rows_stand_on_pages(page: Page) -> None:
    spec = CheckSpec(limit=20, explanations=("attribution", "redaction"), model="control/decoy-lexicon")
    runs = [run_of("consistency", one) for one in (spec, spec.model_copy(update={"model": "control/honest-lexicon"}))]
    app = page("results/side.py", runs=",".join(runs))
    assert keyed(app, "pair-") == [f"pair-{number}" for number in range(1, 26)]
    pages = app.pagination(key="side-page")
    assert pages.proto.num_pages == 2
    pages.set_value(2).run()
    assert keyed(app, "pair-") == [f"pair-{number}" for number in range(26, 41)]


def test_many_calls_stand_on_pages(page: Page) -> None:
    asked = {"question": "Can a penguin fly?", "model": "control/fickle", "counterfactuals": 12}
    run = run_of("simulatability", AskSpec.model_validate(asked))
    calls = [f"call-{name}" for name in entry.jobs().watch(run).transcript.calls]
    app = page("results/case.py", run=run)
    assert len(calls) > 50 and keyed(app, "call-") == calls[:50]
    app.pagination(key="calls-page").set_value(2).run()
    assert keyed(app, "call-") == calls[50:]


def test_a_sealed_run_is_drawn(page: Page, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("EXPLAIN_OTHERS", "no")
    line = ProbeSpec(count=2, difficulty="easy", model="control/straight", probes=40, seed=3)
    run = entry.jobs().start("find", line, owner=name_of_visitor("ann"))
    assert entry.jobs().wait(run, 120)
    entry.jobs().keeping.share(run, True)
    RunAccess(entry.jobs(), visitor_with_code("ann", True)).seal(run, True)
    for who in ("ann", "bob"):
        app = page("models.py")
        app.query_params["run"] = run
        app.session_state["visitor"] = who
        turned(app, "results/case.py")
        is_drawn(app)
        assert ("the code gives" in words(app)) == ("Every call" in words(app)) == (who == "ann")
