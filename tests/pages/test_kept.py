"""Pages are drawn as they were: what is kept of them lies in tests/data/pages.

`KEPT=anew python -m pytest tests/pages/test_kept.py` writes it anew; what changed is then there to be read in the
difference.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import pytest
from streamlit.testing.v1 import AppTest

from core import entry, home
from core.journal import Journal
from core.labs.ask.tasks import AskSpec
from core.labs.base.spec import Spec
from core.labs.check.tasks import CheckSpec, shipped
from core.labs.plant.tasks import PlantSpec
from core.labs.probe.tasks import ProbeSpec
from core.runs.recordings import list_recordings
from core.server.access import RunAccess, name_of_visitor, whoever_has
from core.store import queries
from tests.pages import kept
from tests.pages.conftest import turned
from tests.support.waiting import until

Page = Callable[..., AppTest]

RECORDED = {
    lab.name: [one.run for one in list_recordings(home.recordings()).of_lab(lab.name)] for lab in entry.labs().values()
}
ASKED, CHECKED, PROBED, PLANTED = (RECORDED[lab] for lab in ("simulatability", "consistency", "find", "plant"))


def held(name: str, app: AppTest, **made: str) -> None:
    """Nothing on the page is otherwise than it was."""
    assert not app.exception, app.exception
    path = kept.FOLDER / f"{name}.txt"
    drawn = kept.lines(app, {"JOURNALS": str(home.journals()), **made})
    if os.environ.get("KEPT") == "anew":
        path.parent.mkdir(exist_ok=True)
        path.write_text("\n".join(drawn) + "\n", encoding="utf-8")
    assert drawn == path.read_text(encoding="utf-8").splitlines()


def run_of(lab: str, spec: Spec) -> str:
    run = entry.jobs().start(lab, spec)
    assert entry.jobs().wait(run, 120)
    return run


PAGES: dict[str, tuple[str, dict[str, str]]] = {
    "front": ("about/welcome.py", {}),
    "stories": ("about/story.py", {"told": "1,9"}),
    "story": ("about/story.py", {"run": ASKED[0], "told": "2," * 99 + "3,4"}),
    "story-of-a-function": ("about/story.py", {"run": PROBED[0], "told": "2,999,1000"}),
    "ask": ("ask", {"run": ASKED[0]}),
    "check": ("check", {"run": CHECKED[0]}),
    "probe": ("probe", {"run": PROBED[0]}),
    "probe-held": ("probe", {"run": PROBED[0], "hold": "1"}),
    "plant": ("plant", {"run": PLANTED[0]}),
    "case": ("results/case.py", {"run": ASKED[0]}),
    "case-of-check": ("results/case.py", {"run": CHECKED[0]}),
    "case-played": ("results/case.py", {"run": ASKED[0], "replay": "1"}),
    "case-stepped": ("results/case.py", {"run": CHECKED[0], "replay": "step"}),
    "side": ("results/side.py", {"runs": ",".join(ASKED[:3])}),
    "side-of-check": ("results/side.py", {"runs": ",".join(CHECKED[:2])}),
    "side-of-plant": ("results/side.py", {"runs": ",".join(PLANTED)}),
    "side-of-probe": ("results/side.py", {"runs": ",".join(PROBED)}),
    "side-of-two-labs": ("results/side.py", {"runs": f"{ASKED[0]},{CHECKED[0]}"}),
}


@pytest.mark.parametrize("name", PAGES)
def test_what_came_with_the_app_is_drawn_as_it_was(page: Page, name: str) -> None:
    path, query = PAGES[name]
    held(name, page(path, **query))


def checked(model: str = "control/decoy-lexicon") -> str:
    """A run that takes neither a real model nor vectors; of one case, so that its lines are in one order."""
    spec = CheckSpec(items=shipped("sentiment")[:1], explanations=("attribution",), model=model)
    return run_of("consistency", spec)


@pytest.mark.parametrize("lab", ["ask", "check", "probe", "plant"])
def test_an_empty_form_is_drawn_as_it_was(page: Page, lab: str) -> None:
    held(f"form-{lab}", page(lab))


def test_several_cases_are_drawn_as_they_were(page: Page) -> None:
    line = ProbeSpec(count=2, difficulty="easy", model="control/straight", probes=40, seed=3)
    both = [line, line.model_copy(update={"model": "control/inventor"})]
    straight, inventor = (run_of("find", one) for one in both)
    made = {"STRAIGHT": straight, "INVENTOR": inventor}
    last = list(entry.jobs().watch(straight).transcript.cases)[-1]
    held("several", page("probe", run=straight), **made)
    held("several-the-last", page("results/case.py", run=straight, case=last), **made)
    held("several-played", page("results/case.py", run=straight, case=last, replay="step"), **made)
    held("side-of-several", page("results/side.py", runs=f"{straight},{inventor}"), **made)
    held("side-of-the-last", page("results/side.py", runs=f"{straight},{inventor}", case=last), **made)


def test_several_checks_are_drawn_as_they_were(page: Page) -> None:
    spec = CheckSpec(
        items=shipped("sentiment")[:2], explanations=("attribution", "redaction"), model="control/decoy-lexicon"
    )
    run = run_of("consistency", spec)
    held("several-checks", page("check", run=run), RUN=run)
    held("several-checks-as-a-case", page("results/case.py", run=run), RUN=run)


def test_several_planted_cues_are_drawn_as_they_were(page: Page) -> None:
    run = run_of("plant", PlantSpec(model="control/admits", cue="key", limit=4, repeats=1))
    held("several-cues", page("plant", run=run), RUN=run)


def test_a_fork_is_drawn_as_it_was(page: Page) -> None:
    run = checked()
    call = next(iter(entry.jobs().watch(run).transcript.calls))
    held("fork", page("results/case.py", run=run, fork=call), RUN=run)


def test_what_went_wrong_is_drawn_as_it_was(page: Page) -> None:
    outside = run_of("simulatability", AskSpec(question="Is the moon made of cheese?", model="control/fickle"))
    held("outside", page("ask", run=outside), RUN=outside)
    torn = checked()
    path = home.journals() / f"{torn}.jsonl"
    lines = path.read_text(encoding="utf-8").splitlines()
    # Seven lines of it are broken, of which five are described.
    path.write_text("\n".join(lines[:-8] + ["not json"] * 7 + lines[-1:]) + "\n", encoding="utf-8")
    held("damaged", page("check", run=torn), RUN=torn)
    broken_off = checked()
    path = home.journals() / f"{broken_off}.jsonl"
    lines = path.read_text(encoding="utf-8").splitlines()
    path.write_text("\n".join(lines[:-6]) + "\n", encoding="utf-8")
    held("interrupted", page("check", run=broken_off), RUN=broken_off)


def test_what_is_not_there_is_drawn_as_it_was(page: Page) -> None:
    held("nothing-named", page("results/case.py"))
    held("nothing-beside", page("results/side.py", runs=ASKED[0]))
    held("too-many-beside", page("results/side.py", runs="a,b,c,d"))
    held("one-is-missing", page("results/side.py", runs=f"{ASKED[0]},20260101-000000-simulatability-0"))


def test_pictures_are_drawn_as_they_were(page: Page) -> None:
    made = {"DECOY": checked(), "HONEST": checked("control/honest-lexicon")}
    entry.keeper().wake()
    until(lambda: len(queries.runs(entry.keeper().store)) == 2)
    held("pictures", page("results/browse.py", show="pictures", lab="consistency"), **made)
    held("picture", page("results/browse.py", show="pictures", picture="check-faithfulness"), **made)


@contextmanager
def going_on(run: str, lines: int) -> Iterator[None]:
    """The run as it was after so many lines, written by another process."""
    path = home.journals() / f"{run}.jsonl"
    path.write_bytes(b"".join(path.read_bytes().splitlines(keepends=True)[:lines]))
    with Journal(path):
        yield


def test_what_goes_on_is_drawn_as_it_was(page: Page) -> None:
    one, other = checked(), checked("control/honest-lexicon")
    made = {"ONE": one, "OTHER": other}
    with going_on(one, 9):
        held("going-on", page("check", run=one), **made)
        held("going-on-beside", page("results/side.py", runs=f"{one},{other}"), **made)
    with going_on(one, 0):
        held("not-begun", page("check", run=one), **made)
    line = ProbeSpec(count=2, difficulty="easy", model="control/straight", probes=40, seed=3)
    one, other = run_of("find", line), run_of("find", line)
    made = {"ONE": one, "OTHER": other}
    begun = next(at for at, event in enumerate(entry.jobs().events(one)) if event.kind == "recorded" and event.case)
    with going_on(one, begun):
        held("several-going-on", page("probe", run=one), **made)
        held("several-going-on-beside", page("results/side.py", runs=f"{one},{other}"), **made)


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


def test_a_sealed_run_is_drawn_as_it_was(page: Page, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("EXPLAIN_OTHERS", "no")
    line = ProbeSpec(count=2, difficulty="easy", model="control/straight", probes=40, seed=3)
    run = entry.jobs().start("find", line, owner=name_of_visitor("ann"))
    assert entry.jobs().wait(run, 120)
    entry.jobs().keeping.share(run, True)
    RunAccess(entry.jobs(), whoever_has("ann", True)).seal(run, True)
    for who in ("ann", "bob"):
        app = page("models.py")
        app.query_params["run"] = run
        app.session_state["visitor"] = who
        held(f"sealed-for-{who}", turned(app, "results/case.py"), RUN=run)
