"""A read-only home can be viewed: a copy on a write-protected disk, or somebody else's."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from core import home

ROOT = Path(__file__).resolve().parents[2]
RUN = next(path for path in sorted(home.recordings().glob("*.jsonl")) if "-find-" in path.stem)

LOOK = """
import os
import sys
from streamlit.testing.v1 import AppTest
from core import home
from core.__main__ import main

run, page = sys.argv[1:]
for command in (["verify", run], ["query", "select run from runs where not recording"], ["methods", run]):
    assert main(command) == 0, command
assert main(["page", run, "-o", page]) == 0
assert main(["reread", run]) == 2
assert main(["store", "rebuild"]) == 2
for address, file, asked in (("case", "results/case.py", {"run": run}), ("browse", "results/browse.py", {})):
    at = AppTest.from_file(sys.path[1] + "/app.py", default_timeout=120)
    for name, value in asked.items():
        at.query_params[name] = value
    at.run()
    at.switch_page(f"pages/{file}").run()
    assert not at.exception, (address, at.exception)
    assert at.markdown, address
# The app's threads may still be indexing; Python would abort them in the middle of DuckDB.
sys.stdout.flush()
sys.stderr.flush()
os._exit(0)
"""


@pytest.mark.skipif(sys.platform != "linux" or shutil.which("unshare") is None, reason="mounts a folder read-only")
def test_a_read_only_home_can_be_looked_at(tmp_path: Path) -> None:
    journals = home.journals()
    shutil.copy(RUN, journals / f"x{RUN.name}")
    shutil.copy(RUN, journals / RUN.name)
    before = {path: path.read_bytes() for path in home.home().rglob("*") if path.is_file()}
    script = tmp_path / "look.py"
    script.write_text(LOOK, encoding="utf-8")
    mount = 'mount --bind "$0" "$0" && mount -o remount,bind,ro "$0" || exit 99; exec "$@"'
    look = [sys.executable, str(script), RUN.stem, str(tmp_path / "page.html")]
    command = ["unshare", "--map-root-user", "--mount", "sh", "-c", mount, str(home.home()), *look]
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, timeout=300, check=False)
    if done.returncode == 99 or "unshare failed" in done.stderr:
        pytest.skip(f"no folder can be mounted here: {done.stderr}")
    assert done.returncode == 0, done.stderr[-3000:]
    assert RUN.stem in done.stdout and "may not be written to" in done.stderr
    assert "The index cannot be rebuilt" in done.stderr and "Traceback" not in done.stderr
    assert (tmp_path / "page.html").stat().st_size > 10_000
    assert {path: path.read_bytes() for path in home.home().rglob("*") if path.is_file()} == before


def test_a_small_file_is_replaced_whole_and_nothing_is_left_beside_it(tmp_path: Path) -> None:
    path = tmp_path / "new" / "line"
    home.write(path, b"as it was")
    with path.open("rb") as reader:
        home.write(path, b"as it is")
        assert reader.read() == b"as it was"
    assert path.read_bytes() == b"as it is"
    assert list(path.parent.iterdir()) == [path]


def test_the_home_is_beside_the_code_where_one_is_and_else_where_the_system_keeps_data(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "share"))
    monkeypatch.setattr(home, "DATA", tmp_path / "data")
    monkeypatch.setenv("EXPLAIN_HOME", str(tmp_path / "named"))
    assert home.home() == tmp_path / "named"
    monkeypatch.delenv("EXPLAIN_HOME")
    if sys.platform == "linux":
        assert home.home() == tmp_path / "share" / "explain-yourself" and home.home().is_dir()
    (tmp_path / "data" / "local").mkdir(parents=True)
    assert home.home() == tmp_path / "data" / "local"
