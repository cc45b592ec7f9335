"""Tables of a study as CSV, Markdown and LaTeX, and in a narrow terminal."""

import csv
import io
import os
from pathlib import Path

import pytest

from core import entry, home
from core.__main__ import main
from core.commands.study import as_text
from core.studies import plan, tables
from core.studies.table_cells import Row

STUDY = """
[[part]]
lab = "check"
spec = { model = "control/honest-lexicon", limit = 2, controls = 0 }
grid = { explanations = [["counterfactual"], ["redaction"]] }
[[table]]
title = "100 % & more"
rows = ["model"]
columns = ["how"]
"""


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "study.toml"
    path.write_text(STUDY, encoding="utf-8")
    assert main(["study", "run", str(path)]) == 0
    return path


def rows_of(file: Path) -> list[Row]:
    study = plan.read(file, entry.labs())
    # A robot's runs are controls, which only the first table shows.
    frame = tables.measured(study, entry.labs(), home.journals()).assign(control=False)
    return [
        row
        for row in tables.rows(study, entry.labs(), frame)
        if row["table"].startswith("100 %") and "differences" not in row["table"]
    ]


def test_each_form_has_every_cell_and_hides_no_special_letter(
    file: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    rows = rows_of(file)
    columns = list(dict.fromkeys(row["column"] for row in rows))
    assert len(columns) == 2
    values = [f"{row['value']:.2f} ({row['low']:.2f} to {row['high']:.2f})" for row in rows if row["low"] is not None]
    assert values
    markdown, latex = ("\n".join(as_text(rows, form)) for form in ("github", "latex_booktabs"))
    for text in (markdown, latex):
        assert all(value in text for value in values)
    assert "\n% 100 % & more" in latex and "\n### 100 % & more" in markdown
    assert "\\toprule" in latex and "\\bottomrule" in latex and markdown.count("|---") >= 1
    piped = [{**row, "column": "a | b_c"} for row in rows]
    assert "a \\| b_c" in "\n".join(as_text(piped, "github")) and "b\\_c" in "\n".join(as_text(piped, "latex_booktabs"))
    # In a terminal that is too narrow, each cell has a line.
    monkeypatch.setattr("sys.stdout.isatty", lambda: True, raising=False)
    monkeypatch.setattr("shutil.get_terminal_size", lambda: os.terminal_size((60, 24)))
    narrow = list(as_text(rows))
    assert all(any(line.strip().startswith(column) for line in narrow) for column in columns)
    capsys.readouterr()
    assert main(["study", "table", str(file), "--csv"]) == 0
    printed = list(csv.DictReader(io.StringIO(capsys.readouterr().out)))
    assert {"table", "row", "column", "value", "low", "high", "n"} <= printed[0].keys()
