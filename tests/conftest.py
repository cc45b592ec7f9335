"""Fixtures for every test. Each test has a home of its own, so it never meets another test's runs or your own."""

import gc
import itertools
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

# The matrices here are small. A second NumPy thread would spin while it waits, at the cost of the other workers.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import pytest
from hypothesis import settings

from core.text import embed
from tests.support import shared_encoder
from tests.support.chance import ALL, tenth

# Hardly anything becomes garbage before all tests are collected.
gc.disable()

# asyncio.run gets the handler of Ctrl-C, and Python 3.11 first tries to convert it as a number. The error message of
# that attempt contains everything its task was given, here whole transcripts. Later versions check the type first, as
# we do here.
_as_enum = signal._int_to_enum  # type: ignore[attr-defined]
signal._int_to_enum = lambda value, kind: _as_enum(value, kind) if isinstance(value, int) else value  # type: ignore[attr-defined]

# The duration of one example says nothing on a busy machine. By default the examples are few and the same each time, so
# that a result does not depend on the draw. `make thorough` draws new ones, and ten times as many.
settings.register_profile("chosen", deadline=None, max_examples=tenth(200), derandomize=not ALL)
settings.load_profile("chosen")

SETS = Path(__file__).resolve().parent / "data" / "sets"
"""Small data of our own in the official formats."""

WITHOUT_ENCODER = str(Path(__file__).resolve().parent / "support" / "without_encoder")
"""In `PYTHONPATH`: an installation without the sentence encoder, for processes whose test needs no vectors."""

OUTSIDE = Path(__file__).resolve().parents[2] / "shared" / "datasets"
"""Where published data may be, outside the project."""

_NEEDS = f"needs published data, which may not be shipped and is not at {OUTSIDE}"


_folders = itertools.count()
_MAIN = sys.modules["__main__"]


@pytest.fixture
def tmp_path(tmp_path_factory: pytest.TempPathFactory, request: pytest.FixtureRequest) -> Iterator[Path]:
    """A folder for this test, deleted after it: thousands of homes with an index take gigabytes. pytest's own fixture
    of this name searches all earlier folders each time.
    """
    path = tmp_path_factory.getbasetemp() / f"{next(_folders)}-{request.function.__name__[:30]}"
    path.mkdir()
    yield path
    shutil.rmtree(path, ignore_errors=True)


@pytest.fixture(autouse=True)
def own_home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """Set `$EXPLAIN_HOME` to a folder of the test, and remove keys and addresses from the environment."""
    monkeypatch.setenv("EXPLAIN_HOME", str(tmp_path / "home"))
    for name in ("OPENAI_API_KEY", "OPENAI_BASE_URL"):
        monkeypatch.delenv(name, raising=False)
    yield tmp_path / "home"
    # The response cache of this home would answer in the next one, and estimates would search all of it.
    if entry := sys.modules.get("core.entry"):
        entry.answers.cache_clear()


@pytest.fixture(autouse=True)
def own_main() -> Iterator[None]:
    """Restore `__main__` after each test. Streamlit's AppTest leaves its script there, and a process that a later test
    spawns would run that script.
    """
    yield
    sys.modules["__main__"] = _MAIN


@pytest.fixture(scope="session")
def recorded(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A home whose index holds only the runs that come with the app."""
    from core import entry, home
    from core.store.index import index
    from core.store.store import Store

    path = tmp_path_factory.mktemp("recorded")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("EXPLAIN_HOME", str(path))
        with Store(path / "store.duckdb", entry.labs()) as store:
            assert index(store, home.recordings(), recordings=True)
    return path


def open_before(path: Path, recorded: Path) -> None:
    """Make `path` a home that was opened before: its index holds the runs that come with the app. Indexing them takes
    longer than most tests.
    """
    path.mkdir(parents=True, exist_ok=True)
    shutil.copyfile(recorded / "store.duckdb", path / "store.duckdb")
    # The index stores the real paths of journals, so those from archives stay where they were indexed.
    (path / "unpacked").symlink_to(recorded / "unpacked")


@pytest.fixture
def opened_before(own_home: Path, recorded: Path) -> None:
    """Give the test a home that was opened before."""
    open_before(own_home, recorded)


def encoder_port(config: Any) -> int:
    """The port of the sentence encoder. Starting it takes seconds of processor time and half a gigabyte, so all
    workers, and the apps in browser tests, share one.
    """
    if hasattr(config, "workerinput"):
        return int(config.workerinput["encoder_port"])
    if not hasattr(config, "encoder_port"):
        config.encoder_port = shared_encoder.serve()
    return int(config.encoder_port)


@pytest.fixture(scope="session")
def with_encoder(tmp_path_factory: pytest.TempPathFactory, pytestconfig: pytest.Config) -> str:
    """In `PYTHONPATH`: the shared sentence encoder, for processes whose test needs vectors."""
    return shared_encoder.installed(tmp_path_factory.mktemp("encoder"), encoder_port(pytestconfig))


@pytest.hookimpl(optionalhook=True)
def pytest_configure_node(node: Any) -> None:
    node.workerinput["encoder_port"] = encoder_port(node.config)


@pytest.hookimpl(tryfirst=True)
def pytest_configure(config: pytest.Config) -> None:
    """Run the tests in a random order that is the same for the same commit: its tree is the seed unless the option
    `--randomly-seed` gives another. Random number generators are not reseeded for each test.
    """
    if hasattr(config, "workerinput"):
        embed.COMMAND = [sys.executable, shared_encoder.__file__, str(encoder_port(config))]
    elif config.getoption("randomly_seed", None) == "default":
        tree = subprocess.run(["git", "rev-parse", "HEAD^{tree}"], cwd=config.rootpath, capture_output=True, text=True)
        config.option.randomly_seed = int(tree.stdout[:8] or "0", 16)
        config.option.randomly_reset_seed = False


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> Any:
    """Keep each file in one process, because of its module fixtures. The browser files are divided between two
    processes in turn: each process needs an app and a Chromium of its own, and the browser tests take longest.
    """
    from xdist.scheduler import LoadFileScheduling

    files = sorted(path.name for path in (Path(__file__).parent / "browser").glob("test_*.py"))

    class ByFile(LoadFileScheduling):
        def _split_scope(self, nodeid: str) -> str:
            file = str(super()._split_scope(nodeid))
            folder, _, name = file.rpartition("/")
            return f"{folder} {files.index(name) % 2}" if folder == "tests/browser" else file

    return ByFile(config, log) if config.getvalue("dist") == "loadfile" else None


def sample(items: list[pytest.Item]) -> list[pytest.Item]:
    """Return the items without those that only `make thorough` runs: of a test marked `sampled(n)`, all but each n-th
    set of parameters, in the order of their names.
    """
    names: dict[str, list[str]] = {}
    for item in items:
        if item.get_closest_marker("sampled"):
            names.setdefault(item.nodeid.partition("[")[0], []).append(item.nodeid)
    every = {item.nodeid: mark.args[0] for item in items if (mark := item.get_closest_marker("sampled"))}
    left_out = {name for group in names.values() for at, name in enumerate(sorted(group)) if at % every[name]}
    return [item for item in items if item.nodeid not in left_out]


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Put the slowest tests first, in random order within each kind, so that no process is left with them at the end:
    the browser tests, then the files in this folder, which run commands and recompute whole runs. A failed browser
    test is repeated once and reported as a rerun, because a page that is being drawn on a busy machine can miss a
    click or a key.
    """
    if not ALL:
        kept = sample(items)
        config.hook.pytest_deselected(items=list(set(items) - set(kept)))
        items[:] = kept
    items.sort(
        key=lambda item: (not item.nodeid.startswith("tests/browser/"), item.nodeid.partition("::")[0].count("/"))
    )
    for item in items:
        if item.get_closest_marker("browser"):
            item.add_marker(pytest.mark.flaky(reruns=1))


def pytest_collection_finish() -> None:
    """Let the garbage collector scan the 6,000 collected tests and their imports once, not at every full collection,
    and treat later imports in the same way.
    """
    gc.freeze()
    gc.enable()
    gc.callbacks.append(lambda phase, info: gc.freeze() if phase == "stop" and info["generation"] == 2 else None)


def pytest_runtest_setup(item: pytest.Item) -> None:
    if item.get_closest_marker("outside_data") and not OUTSIDE.is_dir():
        pytest.skip(_NEEDS)


def pytest_terminal_summary(terminalreporter: Any) -> None:
    """Print the order, so that it can be repeated, and say which tests a clean clone skips."""
    terminalreporter.write_line(f"Order: --randomly-seed={terminalreporter.config.getoption('randomly_seed', None)}")
    skipped = [report for report in terminalreporter.stats.get("skipped", []) if _NEEDS in str(report.longrepr)]
    if skipped:
        terminalreporter.section("held against published data elsewhere")
        terminalreporter.write_line(f"{len(skipped)} tests skipped: each {_NEEDS}.")
        terminalreporter.write_line(
            "Loaders and rebuilt functions are tested on tests/data/sets as well; "
            "what is left is agreement with those data."
        )


@pytest.fixture(scope="session")
def datasets() -> Path:
    """Small data of our own in the official formats, one folder for each data set."""
    return SETS


@pytest.fixture(scope="session")
def find_dir() -> Path:
    """A small set of our own in the layout of the published FIND set."""
    return SETS / "find"


@pytest.fixture(scope="session")
def outside() -> Path:
    """The published data, for tests marked `outside_data`."""
    return OUTSIDE
