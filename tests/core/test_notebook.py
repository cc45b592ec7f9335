"""The app from Python: every function of `explain_yourself`, in a script and inside a running event loop."""

import asyncio
import doctest
import html
import inspect
import json
import subprocess
import sys
from pathlib import Path

import pandas as pd
import pytest

import explain_yourself as ey
from core import entry, extensions, home, notebook
from core.labs.base.spec import knobs
from core.store import run_list
from core.store.index import index
from core.store.store import Store
from tools.stubs import STUBS

FEW = {"counterfactuals": 2, "exam": False, "arms": ("explanation",)}
ROBOTS = {"generators": "control/fickle", "simulator": "control/fickle"}
FILM = "The actors try hard, and the sea looks fine on a big screen, but the plot is dull."


@pytest.fixture(autouse=True)
def nothing_registered(monkeypatch: pytest.MonkeyPatch):
    """What a test registers is gone after it."""
    monkeypatch.setattr(extensions, "_here", extensions._Registered())


@pytest.mark.parametrize("module", [notebook, extensions], ids=lambda module: module.__name__)
def test_the_examples_in_docstrings_do_what_they_say(module):
    done = doctest.testmod(module)
    assert done.attempted >= 3 and not done.failed


def test_a_run_from_python_is_in_browse():
    run = ey.ask("Can a penguin fly?", model="control/fickle", **FEW)
    with Store(home.home() / "again.duckdb", entry.labs()) as store:
        index(store, home.journals())
        assert run.id in set(run_list.runs(store)["run"])
    again = ey.open(run.id)
    assert again.status == "completed" and again.figures.equals(run.figures)
    assert run.rows().query("rules == 'repaired'").trial.is_unique and len(run.rows()) == 4
    assert "Can a penguin fly?" in repr(run) and run.id in repr(run)


def test_inside_a_running_event_loop_an_async_model_is_asked():
    asked = []

    @ey.model("mine")
    async def mine(messages, sampling):
        asked.append((messages[-1]["role"], sampling.max_tokens))
        return "No. A penguin cannot fly.\n\nQ: and more"

    async def cell():
        return ey.ask(
            "Can a penguin fly?", model="mine", generators="control/fickle", simulator="control/fickle", **FEW
        )

    run = asyncio.run(cell())
    assert run.spec["model"] == "mine/mine" and asked[0] == ("user", 200)
    assert run.cases.explanation.tolist() == ["No. A penguin cannot fly."], "it is cut at the stop sequence"


def test_a_function_that_fails_is_no_answer_and_says_where():
    @ey.model("broken")
    def broken(messages, sampling):
        return {}["weights"]

    with pytest.raises(ey.RunError, match=r"mine/broken failed: KeyError: 'weights'.*line \d+") as caught:
        run = ey.ask("Can a penguin fly?", model="broken", **FEW)
        raise ey.RunError(str(run.figures.reason.tolist()) + repr(run))
    assert caught.value


def test_own_rows_come_from_pandas_with_their_columns():
    frame = pd.DataFrame({"review": [FILM, FILM.upper()], "gold": ["negative", None], "source": ["a", "b"]})
    films = ey.items(frame, paragraph="review", label="gold")
    assert films.task == "sentiment" and films == ey.items(frame, paragraph="review", label="gold"), "stored once"
    run = ey.check(films, model="control/honest-lexicon", explanation="attribution", controls=0)
    assert len(run.cases) == 2 and set(run.rows()["extra.source"]) == {"a", "b"}


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: ey.ask("Can a penguin fly?", model="control/fickl"), "no model 'control/fickl'.*control/fickle"),
        (lambda: ey.ask("Can a penguin fly?", modell="x"), "no field 'modell'. Did you mean 'model'?"),  # type: ignore[call-arg]
        (lambda: ey.ask(7), "A int cannot be asked about"),
        (lambda: ey.ask("Can it?", model="control/fickle", counterfactuals=400), "counterfactuals: .*60"),
        (lambda: ey.items([]), "at least one row"),
        (lambda: ey.items([{"text": "a"}], paragraph="txt"), "no column 'txt'. Did you mean 'text'?"),
        (lambda: ey.items([{"text": "a"}], paragrap="text"), "no role 'paragrap'. Did you mean 'paragraph'?"),
        (lambda: ey.items([{"text": "a"}]), "paragraph='text'"),
        (lambda: ey.probe(ey.items([{"question": "Can it?"}])), "Probe takes no items"),
        (lambda: ey.chek, "Did you mean 'check'?"),  # type: ignore[attr-defined]
    ],
)
def test_what_is_wrong_is_said_kindly(call, words):
    with pytest.raises((ey.RunError, AttributeError), match=words):
        call()


def test_a_notebook_draws_the_viewer_in_a_frame_and_cannot_be_broken_out_of():
    @ey.model("rude")
    def rude(messages, sampling):
        return 'No. "></iframe><script>alert(1)</script>'

    run = ey.ask("Can a penguin fly?", model="rude", **ROBOTS, **FEW)
    shown = run._repr_mimebundle_()
    frame = shown["text/html"]
    assert frame.count("<") == 2 and 'sandbox="allow-scripts"' in frame and "allow-same-origin" not in frame
    assert "Content-Security-Policy" in html.unescape(frame) and shown["text/plain"] == repr(run)


def test_a_study_runs_and_gives_its_table(tmp_path: Path):
    file = tmp_path / "two.toml"
    file.write_text(
        'lab = "plant"\n[spec]\nlimit = 2\nrepeats = 1\n[grid]\nmodel = ["control/admits", "control/silent"]\n'
    )
    table = ey.study(file).run().table()
    assert not table.empty and {"control/admits", "control/silent"} <= {str(cell) for cell in table.to_numpy().flat}


def test_every_option_of_a_lab_is_a_parameter_and_the_stub_is_the_registry_s():
    for name, lab in notebook.functions().items():
        parameters = inspect.signature(getattr(ey, name)).parameters
        assert knobs(lab.spec).keys() <= parameters.keys()
    for path, lines in STUBS.items():
        assert "".join(lines()) == path.read_text(), "run python -m tools.stubs"
        compile(path.read_text(), str(path), "exec")


def test_the_import_is_quick_and_loads_nothing():
    code = (
        "import sys, time; begun = time.process_time(); import explain_yourself\n"
        "took = time.process_time() - begun\n"
        "import json; print(json.dumps([took, 'pandas' in sys.modules, 'pydantic' in sys.modules]))"
    )
    root = Path(ey.__file__).parents[1]
    took, *loaded = json.loads(subprocess.check_output([sys.executable, "-c", code], cwd=root))
    assert took < 0.3 and loaded == [False, False]
