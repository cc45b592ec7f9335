"""Runs the tests nearest to what changed, for at most 80 seconds: `make quick`.

What changed is what differs from the last commit, or the last commit itself where nothing does. A test file is near if
few imports lead from it to a changed file. A changed file that is not Python counts as imported by each file that
mentions its name.
"""

import ast
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tools.sizes import ROOT, imported_modules, module_name

SECONDS = 80
MOST_FILES = 60
"""To import a test file takes about a quarter of a second."""


def git(*arguments: str) -> list[Path]:
    """The paths that a git command lists, those that exist."""
    listed = subprocess.run(["git", *arguments], cwd=ROOT, capture_output=True, text=True, check=True).stdout  # noqa: S607
    return [Path(line) for line in listed.splitlines() if (ROOT / line).is_file()]


def changed_files() -> list[Path]:
    """What was changed since the last commit, else by it."""
    return [*git("diff", "--name-only", "HEAD"), *git("ls-files", "--others", "--exclude-standard")] or git(
        "diff", "--name-only", "HEAD~1"
    )


def importers(changed: list[Path]) -> dict[Path, set[Path]]:
    """The Python files that import each file; of those changed, also the files that mention it."""
    files = git("ls-files", "--cached", "--others", "--exclude-standard", "core", "pages", "tests", "app.py")
    texts = {path: (ROOT / path).read_text(encoding="utf-8") for path in files if path.suffix == ".py"}
    by_name = {module_name(path): path for path in texts}
    found: dict[Path, set[Path]] = {}
    for path, text in texts.items():
        for name in imported_modules(ast.parse(text), module_name(path), path, set(by_name)):
            found.setdefault(by_name[name], set()).add(path)
    for path in changed:
        if path.suffix != ".py":
            found[path] = {other for other, text in texts.items() if path.name in text}
    return found


def distances(changed: list[Path]) -> dict[Path, int]:
    """How many imports lead from each file to the nearest changed one."""
    found, near = importers(changed), dict.fromkeys(changed, 0)
    waiting = list(changed)
    for path in waiting:
        for other in found.get(path, set()) - near.keys():
            near[other] = near[path] + 1
            waiting.append(other)
    return near


class Nearest:
    """Runs the nearest files first, and stops when the time is over."""

    def __init__(self, files: list[Path]) -> None:
        self._places = {ROOT / path: place for place, path in enumerate(files)}
        self._end = time.monotonic() + SECONDS
        self.failed = 0

    @pytest.hookimpl(trylast=True)
    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        items.sort(key=lambda item: self._places[item.path])

    @pytest.hookimpl(trylast=True)
    def pytest_runtest_teardown(self, item: pytest.Item, nextitem: pytest.Item | None) -> None:
        if time.monotonic() > self._end and nextitem:
            item.session.shouldstop = f"{SECONDS} seconds are over; the tests of nearer files ran"

    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        self.failed = int(session.testsfailed > 0)


def main() -> int:
    """Run them; pytest's exit code. That time ended the run is no failure."""
    near = distances(changed_files())
    files = sorted((path for path in near if path.name.startswith("test_")), key=lambda path: (near[path], path))
    files = [path for path in files if "browser" not in path.parts]
    if not files:
        print("No test is near what changed.")
        return 0
    print(f"The nearest {min(len(files), MOST_FILES)} of {len(files)} test files that what changed touches.")
    nearest = files[:MOST_FILES]
    plugin = Nearest(nearest)
    code = pytest.main(["-p", "no:randomly", "-m", "not browser and not thorough", *map(str, nearest)], [plugin])
    return plugin.failed if code == pytest.ExitCode.INTERRUPTED else int(code)


sys.exit(main())
