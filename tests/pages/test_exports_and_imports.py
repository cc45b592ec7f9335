"""What goes from home to home and from process to process: two apps on one home, imports, exports, whose a run is."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

from streamlit.testing.v1 import AppTest

from core import entry, home
from core.runs import bundle
from core.store import queries
from tests.pages.conftest import words
from tests.pages.test_others import ROOT, a_run
from tests.waiting import until

Page = Callable[..., AppTest]

OTHER = """
import sys
from core import entry
from core.labs.simulatability.tasks import AskSpec
entry.keeper()
run = entry.jobs().start(
    "simulatability", AskSpec(question="Can a penguin fly?", model="control/fickle", counterfactuals=2),
    resolve=lambda id: Held(entry.catalog().get(id)),
)
print(run, flush=True)
sys.stdin.readline()
HOLD.set()
entry.jobs().wait(run, 60)
print("over", flush=True)
sys.stdin.read()
entry.close()
"""
HELD = """
import asyncio, threading
HOLD = threading.Event()
class Held:
    def __init__(self, model): self.id, self._model = model.id, model
    async def answer(self, request, on_text):
        await asyncio.to_thread(HOLD.wait)
        return await self._model.answer(request, on_text)
"""


def test_a_second_process_lists_all_runs_and_says_what_it_cannot_do(page: Page) -> None:
    other = subprocess.Popen(
        [sys.executable, "-c", HELD + OTHER], cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    assert other.stdout is not None and other.stdin is not None
    try:
        theirs = other.stdout.readline().strip()
        page("results/browse.py", show="runs")
        entry.keeper().wake()
        until(lambda: not queries.runs(entry.keeper().store).empty)
        app = page("results/browse.py", show="runs")
        assert f"(process {other.pid}) works on the same runs" in words(app)
        assert list(app.dataframe[0].value["Status"]) == ["running"]
        assert "It goes on in another process; stop it there." in words(page("results/case.py", run=theirs))
        # What begins here goes on beside it.
        mine = a_run(model="control/vague")
        other.stdin.write("go on\n")
        other.stdin.flush()
        assert other.stdout.readline() == "over\n"
        until(lambda: list(queries.runs(entry.keeper().store)["status"]) == ["completed"] * 2)
        assert {*queries.runs(entry.keeper().store)["run"]} == {mine, theirs}
        asked = page("results/query.py", sql="select run from runs where not recording")
        asked.button(key="go").click().run()
        assert "works on the same runs" in words(asked) and "2 rows" in words(asked)
    finally:
        other.communicate("")


def test_the_end_of_a_run_wakes_the_keeper() -> None:
    keeper = entry.keeper()
    keeper._every = 600
    keeper.wake()  # out of a look of its own accord
    assert keeper.looked.wait(120)
    a_run(counterfactuals=1)
    until(lambda: list(queries.runs(keeper.store)["status"]) == ["completed"], 60)


def test_browse_takes_along_what_is_filtered_and_says_who_sent_it(page: Page, tmp_path: Path) -> None:
    run = a_run()
    file = tmp_path / "ann.zip"
    with file.open("wb") as target:
        bundle.write(target, [run], (home.journals(),), "Ann *and* <b>")
    home.journals().joinpath(f"{run}.jsonl").unlink()
    bundle.take(file, (home.journals(), home.recordings()))
    a_run(model="control/vague")
    page("results/browse.py")
    until(lambda: len(queries.runs(entry.keeper().store)) == 2 and bool(queries.senders(entry.keeper().store)))
    app = page("results/browse.py", show="runs", owner="Ann *and* <b>")
    assert list(app.dataframe[0].value["Sent by"]) == ["Ann *and* <b>"] and "1–1 of 1 runs" in words(app).replace(
        "*", ""
    )
    assert "As the file says, from Ann *and* <b>." in words(page("results/case.py", run=run))
    for key in ("export", "for-a-paper"):
        app.session_state[key] = True
    app.run()
    assert not app.exception
    assert {button.key for button in app.get("download_button")} >= {
        *("rows-csv", "rows-parquet", "rows-jsonl"), "page-cases", "bundle",
    }  # fmt: skip
    [text] = [one.value for one in app.code]
    assert text.startswith("1 run of Ask") and "Models: control/fickle (" in text
