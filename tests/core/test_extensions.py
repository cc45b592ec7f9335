"""Extensions as files in a home and as installed packages, each in a process of its own, which loads them."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
EXAMPLES = {path.stem: path for path in (ROOT / "examples" / "extensions").glob("*.py")}

GROUPS = {"robot": "models", "metric": "metrics", "dataset": "datasets", "lab": "labs"}

USES = {
    "robot": """
        run = ey.ask("Can a penguin fly?", model="overclaims", **FEW)
        found = [run.spec["model"], [one.kind for one in entry.catalog().offered() if one.id == "mine/overclaims"]]
    """,
    "metric": """
        run = ey.ask("Can a penguin fly?", model="control/fickle", **FEW)
        figures = run.figures.query("metric == 'explanation_words' and rules == 'repaired'")
        found = [len(run.cases.explanation[0].split()), figures.value.item()]
    """,
    "dataset": """
        run = ey.plant(dataset="primes", limit=3, repeats=1, model="control/silent")
        found = [len(run.cases), all("prime" in title for title in run.cases.title)]
    """,
    "lab": """
        ey.model("no")(lambda messages, sampling: "No.")
        run = ey.again("Can an emu fly?", model="no", times=2)
        with Store(home.home() / "again.duckdb", entry.labs()) as store:
            index(store, home.journals())
            found = [run.lab, run_list.runs(store).query("run == @run.id")["lab"].tolist()]
    """,
}
"""What is tried of each example; `found` is compared."""

FOUND = {
    "robot": ["mine/overclaims", ["own"]],
    "metric": [14, 14.0],
    "dataset": [3, True],
    "lab": ["again", ["again"]],
}

SCRIPT = """
import json, warnings
import explain_yourself as ey
from explain_yourself.core import entry, extensions, home
from explain_yourself.core.store import run_list
from explain_yourself.core.store.index import index
from explain_yourself.core.store.store import Store

warnings.simplefilter("ignore")
FEW = {"counterfactuals": 1, "exam": False, "generators": "control/fickle", "simulator": "control/fickle"}

def tried():
    {uses}
    return found

print(json.dumps([tried(), [str(fault) for fault in extensions.faults()]]))
"""


def run(script: str, home: Path, *folders: Path, **settings: str) -> list[object]:
    paths = os.pathsep.join(map(str, (ROOT, *folders)))
    environment = {**os.environ, "EXPLAIN_HOME": str(home), "PYTHONPATH": paths, **settings}
    done = subprocess.run([sys.executable, "-c", script], env=environment, cwd=home, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout.splitlines()[-1])


def test_the_examples_are_short():
    assert EXAMPLES.keys() == GROUPS.keys()
    for path in EXAMPLES.values():
        code = path.read_text().partition('"""\n\n')[2]
        assert sum(bool(line.strip()) for line in code.splitlines()) < 60, path.name


def test_all_examples_work_as_files_beside_a_broken_one(tmp_path: Path, with_encoder: str):
    folder = tmp_path / "extensions"
    shutil.copytree(ROOT / "examples" / "extensions", folder)
    (folder / "a_broken.py").write_text(
        "import explain_yourself as ey\n\n@ey.model('half')\ndef half(m, s): ...\n1 / 0\n"
    )
    (folder / "b_unread.py").write_text("def f(:\n")
    parts = (f"    def {name}():\n{_indented(text, 8)}        return found\n" for name, text in USES.items())
    uses = "".join(parts).lstrip() + "    found = {" + ", ".join(f"'{name}': {name}()" for name in USES) + "}"
    found, faults = run(SCRIPT.replace("{uses}", uses), tmp_path, Path(with_encoder))
    assert found == FOUND
    assert [fault.split(":")[0] for fault in faults] == [  # type: ignore[attr-defined]
        "The extension a_broken.py was not loaded, line 5",
        "The extension b_unread.py was not loaded, line 1",
    ]


def _indented(text: str, width: int) -> str:
    lines = [line[8:] for line in text.splitlines() if line.strip()]
    return "".join(f"{' ' * width}{line}\n" for line in lines)


def test_where_the_app_is_hosted_no_extension_runs(tmp_path: Path):
    (tmp_path / "extensions").mkdir()
    (tmp_path / "extensions" / "rude.py").write_text("raise SystemExit('it ran')\n")
    script = SCRIPT.replace("{uses}", "found = 'mine/overclaims' in extensions.models()")
    assert run(script, tmp_path, EXPLAIN_HOSTS="class.example.org") == [False, []]
    assert run(script, tmp_path)[1] == ["The extension rude.py was not loaded, line 1: SystemExit: it ran"]


@pytest.mark.thorough
@pytest.mark.parametrize("name", GROUPS)
def test_each_example_works_as_an_installed_package(tmp_path: Path, name: str):
    package = tmp_path / "package"
    package.mkdir()
    shutil.copy(EXAMPLES[name], package / f"explain_{name}.py")
    (package / "pyproject.toml").write_text(
        '[build-system]\nrequires = ["hatchling"]\nbuild-backend = "hatchling.build"\n'
        f'[project]\nname = "explain-{name}"\nversion = "1.0"\n'
        f'[project.entry-points."explain_yourself.{GROUPS[name]}"]\n{name} = "explain_{name}"\n'
        f'[tool.hatch.build.targets.wheel]\ninclude = ["explain_{name}.py"]\n'
    )
    pip = [sys.executable, "-m", "pip", "install", "-q", "--no-deps", "--no-build-isolation"]
    subprocess.run([*pip, "--target", tmp_path / "site", package], check=True, capture_output=True)
    script = SCRIPT.replace("{uses}", _indented(USES[name], 4).strip())
    assert run(script, tmp_path, tmp_path / "site") == [FOUND[name], []]
