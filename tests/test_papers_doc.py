"""docs/papers.md: every command in it can be parsed, and every study asks for the table that its row names."""

import re
import shlex
from pathlib import Path

import click
import pytest

from core import entry
from core.__main__ import commands
from core.studies import plan

ROOT = Path(__file__).resolve().parents[1]
ROWS = [
    [cell.strip() for cell in line.strip("|").split("|")]
    for line in (ROOT / "docs" / "papers.md").read_text(encoding="utf-8").splitlines()
    if line.startswith("| ") and not line.startswith("| element")
]
RUN = [row for row in ROWS if row[1] != "no command yet"]


def test_every_row_has_a_command_or_says_that_there_is_none() -> None:
    assert len(ROWS) == 30 and len(RUN) == 30
    assert all(len(row) == 3 and row[2] for row in ROWS)
    assert all(re.fullmatch(r"`[^`]+`( \(table `\w+`\))?", row[1]) for row in RUN)


@pytest.mark.parametrize("row", RUN, ids=lambda row: row[0])
def test_the_command_can_be_parsed_and_makes_the_table(row: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)
    line, *table = re.findall(r"`([^`]+)`", row[1])
    command: click.Command = commands()
    arguments = shlex.split(line)
    while isinstance(command, click.Group):
        name = arguments.pop(0)
        assert name in command.commands, f"there is no command {name!r}"
        command = command.commands[name]
    command.make_context(str(command.name), arguments)
    if table:
        study = plan.read(ROOT / line.split()[-1], entry.labs())
        assert table[0] in {one.kind for one in study.tables}


def test_every_table_of_the_papers_is_in_a_row() -> None:
    """A new table of a paper gets a row; tables of our own have none."""
    named = set(re.findall(r"`((?:chen|madsen|find)_\w+)`", " ".join(cell for row in ROWS for cell in row)))
    made = {table.kind for lab in entry.labs().values() for table in lab.studies.tables}
    assert named == {name for name in made if re.match(r"(chen|madsen|find)_(t|f|a|p)", name)}
