"""One table compares prose and schema on the same items: how answers are requested is a choice of measurement."""

from pathlib import Path

from core import entry, home
from core.__main__ import main
from core.studies import tables
from core.studies.plan import read as study_of
from tests.core.labs.ask.test_exam import stub
from tests.core.labs.ask.test_json_answers import ByFields

__all__ = ["stub"]

STUDY = """
lab = "ask"
spec = { counterfactuals = 3, arms = ["none"], exam = false, model = "openai/stub-model" }
grid = { question = ["Can a penguin fly?", "Can an eagle fly?"], answers = ["prose", "schema"] }
[[table]]
title = "Both"
columns = ["answers"]
metrics = ["precision"]
"""


def test_a_study_compares_the_two_and_counts_them_among_what_a_figure_hangs_on(tmp_path: Path, stub) -> None:  # type: ignore[no-untyped-def]
    stub(ByFields())
    file = tmp_path / "both.toml"
    file.write_text(STUDY, encoding="utf-8")
    assert main(["study", "run", str(file)]) == 0
    study = study_of(file, entry.labs())
    frame = tables.measured(study, entry.labs(), home.journals())
    rows = tables.rows(study, entry.labs(), frame)
    both = {row["column"]: row for row in rows if row["table"].startswith("Both")}
    assert {"prose", "schema"} <= both.keys() and both["prose"]["of"] == both["schema"]["of"] == 2
    (moved,) = (
        row for row in rows if row["column"] == "moved by answers (prose, schema)" and "Precision" in row["table"]
    )
    assert moved["of"] == 2
    # The original parser reads only prose: that combination is not possible.
    (span,) = (row for row in rows if row["column"] == "range" and "Precision" in row["table"])
    assert span["note"] == "3 ways; 1 more were not made"
