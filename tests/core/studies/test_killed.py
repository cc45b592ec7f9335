"""kill -9 costs a study no answer, and changes no figure."""

from pathlib import Path

from tests.core.studies.killing import kill_again_and_again


def test_a_killed_study_asks_nothing_twice_and_finds_the_same(tmp_path: Path) -> None:
    kill_again_and_again(tmp_path, kills=1)
