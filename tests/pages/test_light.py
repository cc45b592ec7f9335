"""Opening a page loads none of the heavy libraries."""

import os
import subprocess
import sys
from pathlib import Path

from core.__main__ import main

ROOT = Path(__file__).resolve().parents[2]

HEAVY = {"torch", "nltk", "scipy", "sklearn", "sentence_transformers", "xllamacpp"}

OPEN = f"""
import sys
from pathlib import Path
from streamlit.testing.v1 import AppTest
from streamlit.util import calc_hash
from core import entry
entry.keeper().looked.wait(120)
labs = [lab.path for lab in entry.labs().values() if not lab.hidden]
files = [page.stem for room in ("about", "results") for page in sorted(Path("pages", room).glob("*.py"))]
app = AppTest.from_file("app.py", default_timeout=120)
for page in labs + files:
    app.query_params["run"] = sys.argv[1]
    app._page_hash = calc_hash(page)
    app.run()
    assert not app.exception, (page, app.exception)
    assert app.title or app.get('bidi_component'), page
    assert not {HEAVY!r} & set(sys.modules), (page, {HEAVY!r} & set(sys.modules))
entry.close()
print("light")
"""


def test_no_page_loads_torch_nltk_or_scipy(own_home: Path) -> None:
    assert main(["ask", "Can a penguin fly?", "--model", "control/fickle", "--counterfactuals", "3"]) == 0
    run = next((own_home / "journals").glob("*.jsonl")).stem
    done = subprocess.run(
        [sys.executable, "-c", OPEN, run],
        cwd=ROOT, env={**os.environ, "EXPLAIN_HOME": str(own_home)}, capture_output=True, text=True,
    )  # fmt: skip
    assert done.stdout.endswith("light\n"), done.stderr[-2000:]
