"""Every value that the recordings show is as in the golden files; `kept.py` says how to rewrite these."""

from pathlib import Path

import pytest

from tests.core.report.kept import FOLDER, RUNS, kept_in, lines


@pytest.mark.parametrize("run", RUNS, ids=lambda path: path.stem.split("-", 2)[2])
def test_a_recording_is_told_as_it_was(run: Path) -> None:
    assert lines(run) == kept_in(run).read_text(encoding="utf-8").splitlines()


def test_nothing_is_kept_of_what_is_no_recording() -> None:
    assert sorted(FOLDER.iterdir()) == sorted(map(kept_in, RUNS))
