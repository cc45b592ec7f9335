"""Exchange between homes and processes: two apps on one home, imports, exports, and the owners of runs."""

from collections.abc import Callable
from pathlib import Path

from streamlit.testing.v1 import AppTest

from core import entry, home
from core.runs import bundle
from core.store import run_list
from tests.pages.conftest import words
from tests.pages.test_others import a_run
from tests.support.waiting import until

Page = Callable[..., AppTest]


def test_the_end_of_a_run_wakes_the_keeper() -> None:
    keeper = entry.keeper()
    keeper._every = 600
    keeper.wake()  # out of a look of its own accord
    assert keeper.looked.wait(120)
    a_run(counterfactuals=1)
    until(lambda: list(run_list.runs(keeper.store)["status"]) == ["completed"], 60)


def test_browse_takes_along_what_is_filtered_and_says_who_sent_it(page: Page, tmp_path: Path) -> None:
    run = a_run()
    file = tmp_path / "ann.zip"
    with file.open("wb") as target:
        bundle.write(target, [run], (home.journals(),), "Ann *and* <b>")
    home.journals().joinpath(f"{run}.jsonl").unlink()
    bundle.import_path(file, (home.journals(), home.recordings()))
    a_run(model="control/vague")
    page("results/browse.py")
    until(lambda: len(run_list.runs(entry.keeper().store)) == 2 and bool(run_list.senders(entry.keeper().store)))
    app = page("results/browse.py", show="runs", owner="Ann *and* <b>")
    assert list(app.dataframe[0].value["Sent by"]) == ["Ann *and* <b>"] and "1–1 of 1 runs" in words(app).replace(
        "*", ""
    )
    assert "Sender, according to the file: Ann *and* <b>." in words(page("results/case.py", run=run))
    for key in ("export", "for-a-paper"):
        app.session_state[key] = True
    app.run()
    assert not app.exception
    assert {button.key for button in app.get("download_button")} >= {
        *("rows-csv", "rows-parquet", "rows-jsonl"), "page-cases", "bundle",
    }  # fmt: skip
    [text] = [one.value for one in app.code]
    assert text.startswith("1 run of Ask") and "Models: control/fickle (" in text
